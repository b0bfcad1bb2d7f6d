# SPDX-License-Identifier: Apache-2.0
"""ANGEL: sensitive values counted in batches, quasi-identifiers generalized in buckets, linked by the batch alone.

Tao, Chen, Xiao, Zhou, Zhang, "ANGEL: Enhancing the Utility of Generalization for Privacy Preserving Publication", IEEE
TKDE (ANGEL), Definition 8 and Section 4. Batches keep the principle; buckets are k-anonymous and look at
quasi-identifiers alone, so they can be much smaller. One batch table serves any number of marginals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import pyarrow as pa

from glasshouse.errors import NotSupported, ParameterError, SchemaError
from glasshouse.microdata.domains import Column, Domain
from glasshouse.microdata.groups import Groups, alike
from glasshouse.microdata.kinds import kinds_of
from glasshouse.plural import counted
from glasshouse.principles.k_anonymity import KAnonymity
from glasshouse.principles.parameters import integer
from glasshouse.principles.principle import Requirement
from glasshouse.recoding.generalization import (
    Boxes,
    Taxonomies,
    box_cells,
    generalized_table,
    node_cells,
    order_by_box,
    sensitive_tables,
)
from glasshouse.recoding.parts.bucket_table import BucketTable
from glasshouse.recoding.parts.count_table import count_tables
from glasshouse.recoding.parts.members import Points
from glasshouse.recoding.recoding import EXACT, PeopleTable, Recoding, check_names, check_sensitive
from glasshouse.release.layout import ANGEL, BATCH, BOXES, COUNT, PART_ROWS, TAXONOMIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.microdata import Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.randomness import Source
    from glasshouse.recoding.parts.table_in_parts import TableInParts
    from glasshouse.recoding.recoding import Divide, DivideKinds
    from glasshouse.release.layout import Layout

__all__ = ["Angel", "Marginal"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Marginal:
    """One generalized table: its name, its quasi-identifiers, and whether it shows the batch of every record."""

    name: str
    quasi: tuple[str, ...]
    batched: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Angel(Recoding):
    """Publish a batch table (BT) and a generalized table (GT) for every marginal.

    The groups are the batches. The BT has how often each sensitive value occurs in each batch (one BT for each
    sensitive column); a GT has every record's generalized quasi-identifiers and the number of its batch.

    Parameters
    ----------
    k
        How many records at least share the cells of a GT; by default the principle's l, or its k. With 1 the values
        are exact and this is anatomy.
    marginals
        Lists of attributes, a GT each; by default one list of all. A list without any sensitive column is published as
        a k-anonymous table without batch numbers.
    cells
        ``boxes``, or ``taxonomies`` for the labels of the attributes' taxonomies.

    Guarantee
    ---------
    However many GTs are published, now or later, an attacker's probability for a person's value is an average of the
    shares in the batches (ANGEL Theorem 1), so a monotonic principle that each batch satisfies limits it too. Buckets
    are functions of quasi-identifiers, so batches that hold against an attacker who knows the algorithm (`Mirror`,
    `Hybrid`, `Ace`) still do, with any number of marginals. k protects each GT by itself, not the GTs jointly.

    Cost
    ----
    A strict QI-only `Mondrian` for every marginal, and O(n) to write each table.

    Examples
    --------
    ANGEL Tables 3a and 3b; the buckets come from the quasi-identifiers alone:

    >>> from glasshouse.grouping.cuts.mondrian import Mondrian
    >>> from glasshouse.microdata import Groups, examples
    >>> from glasshouse.principles.k_anonymity import KAnonymity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.angel_table1()
    >>> batches = Groups(np.array([0, 1, 0, 1, 2, 3, 2, 3], np.int32), 4)
    >>> buckets = Groups(np.array([0, 0, 1, 1, 2, 2, 3, 3], np.int32), 4)
    >>> published = Angel(k=2).recode(table, batches, buckets=[buckets])
    >>> published["gt"].slice(0, 2).to_pylist()
    [{'Age': '[21, 23]', 'Sex': 'M', 'Batch-ID': 1}, {'Age': '[21, 23]', 'Sex': 'M', 'Batch-ID': 2}]
    >>> published["bt"].slice(0, 2).to_pylist()
    [{'Batch-ID': 1, 'Disease': 'bronchitis', 'Count': 1}, {'Batch-ID': 1, 'Disease': 'pneumonia', 'Count': 1}]
    """

    name: ClassVar[str] = ANGEL.name
    in_words: ClassVar[str] = (
        "The quasi-identifiers of each person are replaced by the range, or the set, of the values in a bucket of "
        "similar people. A second table counts how often each sensitive value occurs in each batch of people; the "
        "number of the batch links the two tables."
    )
    layout: ClassVar[Layout] = ANGEL

    k: int | None = None
    marginals: Sequence[Sequence[str]] = ()
    cells: str = BOXES.name

    def __post_init__(self) -> None:
        if self.k is not None:
            object.__setattr__(self, "k", integer("Angel", "k", self.k, least=1))
        if self.cells not in (BOXES.name, TAXONOMIES.name):
            raise ParameterError("Angel", "cells", "'boxes' or 'taxonomies'", self.cells)
        if isinstance(self.marginals, str) or any(isinstance(names, str) for names in self.marginals):
            raise ParameterError("Angel", "marginals", "a list of lists of attributes", self.marginals)
        lists = tuple(tuple(str(name) for name in names) for names in self.marginals)
        for i, names in enumerate(lists):
            if not names or len(set(names)) < len(names):
                raise ParameterError("Angel", "marginals", "lists of different attributes, none empty", list(names))
            if set(names) in map(set, lists[:i]):
                raise ParameterError("Angel", "marginals", "different lists", list(names))
        object.__setattr__(self, "marginals", lists)

    def resolved(self, requirement: Requirement) -> Self:
        """Fix k where it was not given: the l of the principle, or its k, whichever is larger."""
        if self.k is not None:
            return self
        terms = [one.terms for part in requirement.parts for one in part.principle.singles()]
        k = max([requirement.anonymity, *(one.one_in or 0 for one in terms if not one.named)])
        if not k:
            raise ParameterError(
                "Angel", "k", "a whole number, because the principle has no l or k to use instead", None
            )
        return replace(self, k=k)

    def check(self, table: Microdata, requirement: Requirement) -> None:
        """Refuse principles that are not monotonic or ask for a larger k, and attributes that do not exist."""
        check_sensitive(table, "ANGEL")
        check_names(table, self.added(), "ANGEL")
        if not requirement.monotone:
            raise NotSupported(
                "the recoding 'angel' does not support a principle that is not monotonic (a union of two safe "
                "groups may be unsafe)",
                instead="use the recoding 'boxes' or 'anatomy', or a monotonic principle",
            )
        if self.k is not None and self.k < requirement.anonymity:
            raise NotSupported(
                f"k-anonymity with k = {requirement.anonymity} cannot be guaranteed in buckets of k = {self.k}",
                instead=f"give the recoding 'angel' a k of at least {requirement.anonymity}",
            )
        self._of_cells.check(table, requirement)
        self.tables(table)

    @property
    def shows_nodes(self) -> bool:
        """Whether taxonomy nodes were chosen as cells."""
        return self._of_cells.shows_nodes

    @property
    def _of_cells(self) -> Recoding:
        return Boxes() if self.cells == BOXES.name else Taxonomies()

    def tables(self, table: Microdata) -> tuple[Marginal, ...]:
        """The generalized tables that will be published: one a marginal."""
        quasi = [column.name for column in table.quasi]
        sensitive = [column.name for column in table.sensitive]
        lists = self.marginals or ((*quasi, *sensitive),)
        found = []
        for i, names in enumerate(lists, 1):
            for name in names:
                if name not in quasi and name not in sensitive:
                    raise SchemaError.unknown(name, [*quasi, *sensitive], role="an attribute of a marginal")
            own = tuple(name for name in quasi if name in names)
            if not own:
                raise SchemaError(
                    "a marginal has no quasi-identifier, so it would show no more than the batch table: add a "
                    "quasi-identifier to it, or leave it out"
                )
            batched = any(name in names for name in sensitive)
            found.append(Marginal(name=self.layout.people_table(i), quasi=own, batched=batched))
        return tuple(found)

    def meaning(self, domain: Domain) -> str:
        """Say what a cell of a quasi-identifier means, for people who read the release."""
        return self._of_cells.meaning(domain)

    def added(self) -> dict[str, str]:
        """The names of the columns that are not in the table, with their meanings."""
        return {
            BATCH: (
                "number of the batch, drawn at random; the person has one of the values that the batch table counts "
                "for it"
            ),
            COUNT: "how many people of the batch have the value",
        }

    def theorem(self) -> str:
        """Say why the guarantee for the groups holds for the published tables."""
        return (
            "for any number of generalized tables, the attacker's probability is an average of the shares in the "
            "batches (ANGEL Theorem 1), and the buckets depend on quasi-identifiers alone"
        )

    def limits(self) -> tuple[str, ...]:
        """Say what this form of publication does not guarantee."""
        if self.k == 1:
            return (EXACT,)
        what = (
            "the generalized table"
            if len(self.marginals) <= 1
            else "each generalized table by itself, but not several together"
        )
        return (f"who is in the table is hidden only by k-anonymity with k = {self.k}, which protects {what}",)

    def buckets(self, table: Microdata, divide: Divide | None) -> list[Groups]:
        """The buckets of every marginal: k-anonymous, by the marginal's quasi-identifiers alone.

        With k = 1 a bucket is the people with equal values, which is as far as strict cuts can go.
        """
        assert self.k is not None
        found = []
        for marginal in self.tables(table):
            quasi = tuple(table.column(name) for name in marginal.quasi)
            if self.k == 1:
                found.append(alike(quasi))
                continue
            view = replace(table, quasi=quasi, sensitive=(), identifier=None)
            requirement = Requirement.of(KAnonymity(k=self.k), view)
            requirement.check_eligible()
            assert divide is not None, "buckets of several people need a method that makes them"
            found.append(divide(view, requirement))
        return found

    def recode(
        self,
        table: Microdata,
        groups: Groups,
        *,
        buckets: Sequence[Groups] | None = None,
        source: Source | None = None,
        divide: Divide | None = None,
    ) -> dict[str, pa.Table]:
        """Rewrite ``groups`` (the batches) of ``table``; nothing is random.

        The ``buckets`` of every marginal are made by ``divide``, which looks at quasi-identifiers alone, unless they
        are given.
        """
        if buckets is None:
            if groups.n_dropped:  # buckets must hide people among those who are published
                kept = np.flatnonzero(groups.labels >= 0)
                table, groups = table.take(kept), Groups(groups.labels[kept], groups.n_groups)
            buckets = self.buckets(table, divide)
        published = sensitive_tables(table.sensitive, groups, self.layout)
        cells_of = node_cells if self.shows_nodes else box_cells
        batch = Column(_batch_domain(groups.n_groups), groups.labels)
        absent = groups.labels < 0
        for marginal, bucketed in zip(self.tables(table), buckets, strict=True):
            own = bucketed
            if groups.n_dropped:  # people in no batch are not published; buckets should not have counted them
                own = Groups(np.where(absent, np.int32(-1), bucketed.labels), bucketed.n_groups)
            view = replace(
                table,
                quasi=tuple(table.column(name) for name in marginal.quasi),
                sensitive=(batch,) if marginal.batched else (),
            )
            published[marginal.name] = generalized_table(view, own, [cells_of(column, own) for column in view.quasi])
        return published

    def of_people(self, table: Microdata, groups: Groups, divide: Divide | None = None) -> tuple[PeopleTable, ...]:
        """The generalized tables, with the buckets of everybody who is published."""
        kept = np.flatnonzero(groups.labels >= 0)
        buckets = self.buckets(table.take(kept) if groups.n_dropped else table, divide)
        return tuple(
            PeopleTable(
                name=marginal.name,
                quasi=marginal.quasi,
                groups=own.spread(kept, table.n_tuples) if groups.n_dropped else own,
                numbered=marginal.batched,
            )
            for marginal, own in zip(self.tables(table), buckets, strict=True)
        )

    def buckets_of_points(self, kinds: Kinds, divide: DivideKinds) -> list[Groups]:
        """The buckets of every marginal, as a label for each point of ``kinds``: what `buckets` finds for people."""
        assert self.k is not None
        points = Points.of(kinds)
        found = []
        for marginal in self.tables(kinds.table):
            columns = [points.column(kinds.table.column(name)) for name in marginal.quasi]
            if self.k == 1:
                found.append(alike(columns))
                continue
            own, number = kinds_of(
                replace(kinds.table, quasi=tuple(columns), sensitive=(), n_tuples=len(points)), points.counts
            )
            requirement = Requirement.of(KAnonymity(k=self.k), own.table, counts=own.counts)
            requirement.check_eligible()
            buckets = divide(own, requirement)
            found.append(Groups(buckets.labels[number], buckets.n_groups))
        return found

    def in_parts(
        self, kinds: Kinds, *, part_rows: int = PART_ROWS, buckets: Sequence[Groups] | None = None
    ) -> tuple[TableInParts, ...]:
        """BT in parts of consecutive batches, and every GT in parts of consecutive buckets.

        `buckets_of_points` makes ``buckets``; they may be left out where k is 1.
        """
        if buckets is None:
            if self.k != 1:
                raise ParameterError("Angel.in_parts", "buckets", "those of every marginal, unless k is 1", None)
            buckets = self.buckets_of_points(kinds, lambda *_: alike(()))
        points = Points.of(kinds)
        if any(len(own.labels) != len(points) for own in buckets):
            sizes = [len(own.labels) for own in buckets]
            raise ParameterError("Angel.in_parts", "buckets", f"labels for {counted(len(points), 'point')}", sizes)
        cells_of = node_cells if self.shows_nodes else box_cells
        people = []
        for marginal, own in zip(self.tables(kinds.table), buckets, strict=True):
            columns = [points.column(kinds.table.column(name)) for name in marginal.quasi]
            cells = [cells_of(column, own) for column in columns]
            order, is_first = order_by_box(cells)
            rank = np.empty(own.n_groups, np.int32)  # buckets with equal cells are one
            rank[order] = np.cumsum(is_first, dtype=np.int32) - np.int32(1)
            of_point = rank[own.labels]
            counts = np.bincount(of_point, weights=points.counts, minlength=int(is_first.sum())).astype(np.int64)
            people.append(
                BucketTable(
                    name=marginal.name,
                    number=BATCH if marginal.batched else None,
                    columns=tuple(
                        (column.name, pa.array(cell.texts, pa.string()), cell.of_group[order[is_first]])
                        for column, cell in zip(columns, cells, strict=True)
                    ),
                    of_kind=of_point[points.of_kind],
                    counts=counts,
                    part_rows=part_rows,
                )
            )
        return (*count_tables(kinds, self.layout, part_rows), *people)


def _batch_domain(n_batches: int) -> Domain:
    numbers = pa.array(np.arange(1, n_batches + 1, dtype=np.int32))
    return Domain(name=BATCH, kind="integer", values=numbers, ordered=True)
