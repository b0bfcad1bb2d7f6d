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
from glasshouse.principles.k_anonymity import KAnonymity
from glasshouse.principles.parameters import integer
from glasshouse.principles.principle import Requirement
from glasshouse.recoding.generalization import (
    Boxes,
    Taxonomies,
    box_cells,
    generalized_table,
    node_cells,
    sensitive_tables,
)
from glasshouse.recoding.recoding import EXACT, Recoding, check_names, check_sensitive
from glasshouse.release.layout import ANGEL, BATCH, BOXES, COUNT, TAXONOMIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.microdata import Microdata
    from glasshouse.randomness import Source
    from glasshouse.recoding.recoding import Divide
    from glasshouse.release.layout import Layout

__all__ = ["Angel", "Marginal"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Marginal:
    """One generalized table: its name, its quasi-identifiers, and whether it shows the batch of every tuple."""

    name: str
    quasi: tuple[str, ...]
    batched: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Angel(Recoding):
    """Publish a batch table (BT) and a generalized table (GT) for every marginal.

    The groups are the batches. The BT has how often each sensitive value occurs in each batch (one BT for each
    sensitive column); a GT has every tuple's generalized quasi-identifiers and the number of its batch.

    Parameters
    ----------
    k
        How many tuples at least share the cells of a GT; by default the l of the principle, or its k. With 1 the values
        are exact and this is anatomy.
    marginals
        Lists of attributes, a GT each; by default one list of all. A list without any sensitive column is published as
        a k-anonymous table without batch numbers.
    cells
        ``boxes``, or ``taxonomies`` for the labels of the attributes' taxonomies.

    Guarantee
    ---------
    Whatever GTs are published, now or later, an adversary's belief about a person is a mixture of the distributions of
    batches (ANGEL Theorem 1), so a monotonic principle that holds for each batch holds for her belief. Buckets are
    functions of quasi-identifiers, so batches that hold against an attacker who knows the algorithm (`Mirror`,
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
        "Quasi-identifiers are replaced by the range, or the set, of the values of a bucket of similar people. "
        "How often each sensitive value occurs stands in a table of its own, by batch; the number of the batch "
        "links the two."
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
            raise ParameterError("Angel", "k", "a whole number, for the principle has no l or k to take", None)
        return replace(self, k=k)

    def check(self, table: Microdata, requirement: Requirement) -> None:
        """Refuse principles that are not monotonic or ask for a larger k, and attributes that do not exist."""
        check_sensitive(table, "ANGEL")
        check_names(table, self.added(), "ANGEL")
        if not requirement.monotone:
            raise NotSupported(
                "ANGEL under a principle that is not monotonic",
                instead="use the recoding 'boxes' or 'anatomy', or a principle that is",
            )
        if self.k is not None and self.k < requirement.anonymity:
            raise NotSupported(
                f"k-anonymity with k = {requirement.anonymity} in buckets of k = {self.k}",
                instead=f"give ANGEL a k of at least {requirement.anonymity}",
            )
        self._of_cells.check(table, requirement)
        self.tables(table)

    @property
    def shows_nodes(self) -> bool:
        """Whether cells are nodes was asked for."""
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
                raise SchemaError("a marginal without any quasi-identifier says no more than the batch table")
            batched = any(name in names for name in sensitive)
            found.append(Marginal(name=self.layout.people_table(i), quasi=own, batched=batched))
        return tuple(found)

    def meaning(self, domain: Domain) -> str:
        """Say what a cell of a quasi-identifier means, for people who read the release."""
        return self._of_cells.meaning(domain)

    def added(self) -> dict[str, str]:
        """Name the columns that are not the table's own, with what they mean."""
        return {
            BATCH: "number of the batch, drawn at random: the tuple has one of the values that the batch table counts",
            COUNT: "how many tuples of the batch have the value",
        }

    def theorem(self) -> str:
        """Say why what holds for the groups holds for what is published."""
        return (
            "whatever generalized tables are published, a belief is a mixture of the distributions of batches "
            "(ANGEL Theorem 1), and buckets look at quasi-identifiers alone"
        )

    def limits(self) -> tuple[str, ...]:
        """Say what publishing in this way does not promise."""
        if self.k == 1:
            return (EXACT,)
        what = "the generalized table" if len(self.marginals) <= 1 else "each generalized table by itself, not jointly"
        return (f"who is in the table is hidden by k = {self.k} alone, which protects {what}",)

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
            assert divide is not None, "buckets of several people need somebody who makes them"
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


def _batch_domain(n_batches: int) -> Domain:
    numbers = pa.array(np.arange(1, n_batches + 1, dtype=np.int32))
    return Domain(name=BATCH, kind="integer", values=numbers, ordered=True)
