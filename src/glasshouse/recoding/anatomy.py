# SPDX-License-Identifier: Apache-2.0
"""Anatomy: exact quasi-identifiers and sensitive values apart from each other, linked by the group number alone.

`Anatomy` writes them into two tables: Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006
(ANATOMY), Definition 3. `Permutation` writes them into one, in which the sensitive values of a group have changed
places at random (MINIMALITY 2.1).

A group has two sides: the quasi-identifiers of its records, and the multiset of its sensitive values. Both come out
group after group and sorted by value, so that no order of the input, and no link between the two sides, can survive.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from glasshouse.errors import NotSupported
from glasshouse.kernels import compiled
from glasshouse.randomness import Source
from glasshouse.recoding.generalization import published_values, sensitive_tables
from glasshouse.recoding.parts.count_table import count_tables
from glasshouse.recoding.parts.person_table import PersonTable
from glasshouse.recoding.parts.table_in_parts import first_numbers, parts_for
from glasshouse.recoding.recoding import EXACT, Recoding, check_names, check_sensitive
from glasshouse.release.layout import ANATOMY, COUNT, GROUP, PART_ROWS, PERMUTATION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata import Column, Domain, Groups, Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Draws
    from glasshouse.recoding.parts.table_in_parts import TableInParts
    from glasshouse.release.layout import Layout

__all__ = ["Anatomy", "Permutation", "Separated", "Side", "numbers"]

_BITS = 63  # of a key that packs all codes of a record
_SMALL = 48  # keys that are sorted by insertion; longer runs by numpy


class Separated(Recoding):
    """What recodings share that publish exact quasi-identifiers, apart from the sensitive values of their groups."""

    __slots__ = ()

    def check(self, table: Microdata, requirement: Requirement) -> None:
        """Refuse tables without a sensitive column, names that collide, and any promise of k-anonymity."""
        check_sensitive(table, self.name)
        check_names(table, self.added(), self.name)
        if requirement.anonymity:
            raise NotSupported(
                f"k-anonymity cannot be guaranteed with the recoding {self.name!r}, which publishes exact "
                "quasi-identifiers",
                instead="use the recoding 'angel' or 'boxes', or ask for a principle on the sensitive values alone",
            )

    def meaning(self, domain: Domain) -> str:
        """Say what a cell of a quasi-identifier means, for people who read the release."""
        return "exact value; empty if missing" if domain.missing else "exact value"

    def limits(self) -> tuple[str, ...]:
        """Say what this form of publication does not guarantee."""
        return (EXACT,)


@dataclass(frozen=True, kw_only=True, slots=True)
class Anatomy(Separated):
    """Publish a quasi-identifier table (QIT) and a sensitive table (ST) for each sensitive column.

    The QIT has the exact quasi-identifiers of every record and the number of its group. The ST counts how often each
    sensitive value occurs in each group. Rows are sorted by group number, then by value.

    Guarantee
    ---------
    What the grouping guarantees for sensitive values: a record of a group has a value with the frequency that the ST
    shows (ANATOMY Corollary 1), for a person as for a record (Theorem 1). Exact quasi-identifiers tell who is in the
    table and who is not (Section 3.3), so k-anonymity is refused.

    Cost
    ----
    O(n) and a sort inside every group; 20 bytes a record.

    Examples
    --------
    ANATOMY Tables 3a and 3b:

    >>> import numpy as np
    >>> from glasshouse.microdata import Groups, examples
    >>> table = examples.anatomy_table1()
    >>> published = Anatomy().recode(table, Groups(np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32), 2))
    >>> published["qit"].slice(0, 2).to_pylist()
    [{'Age': 23, 'Sex': 'M', 'Zipcode': 11000, 'Group-ID': 1}, {'Age': 27, 'Sex': 'M', 'Zipcode': 13000, 'Group-ID': 1}]
    >>> published["st"].slice(0, 2).to_pylist()
    [{'Group-ID': 1, 'Disease': 'dyspepsia', 'Count': 2}, {'Group-ID': 1, 'Disease': 'pneumonia', 'Count': 2}]
    """

    name: ClassVar[str] = ANATOMY.name
    in_words: ClassVar[str] = (
        "The exact quasi-identifiers of each person are published with the number of the person's group. A second "
        "table counts how often each sensitive value occurs in each group."
    )
    layout: ClassVar[Layout] = ANATOMY

    def added(self) -> dict[str, str]:
        """The names of the columns that are not in the table, with their meanings."""
        return {
            GROUP: "number of the group, drawn at random; each person of a group has one of the values of that group",
            COUNT: "how many people of the group have the value",
        }

    def theorem(self) -> str:
        """Say why the guarantee for the groups holds for the published tables."""
        return (
            "of the sensitive values, the published tables show only how often each occurs in a group "
            "(ANATOMY Theorem 1)"
        )

    def recode(self, table: Microdata, groups: Groups, **_unused: object) -> dict[str, pa.Table]:
        """Rewrite ``groups`` of ``table`` as QIT and ST; nothing is random, group numbers are taken as they come."""
        people = pa.table({**Side(table.quasi, groups).published(), GROUP: numbers(groups)})
        return {self.layout.people: people, **sensitive_tables(table.sensitive, groups, self.layout)}

    def in_parts(self, kinds: Kinds, *, part_rows: int = PART_ROWS, **_unused: object) -> tuple[TableInParts, ...]:
        """QIT and ST in parts: consecutive groups."""
        people = PersonTable.of(self.layout.people, GROUP, kinds, part_rows=part_rows)
        return (people, *count_tables(kinds, self.layout, part_rows))


@dataclass(frozen=True, kw_only=True, slots=True)
class Permutation(Separated):
    """Publish one table of quasi-identifiers, group number and sensitive values, permuted inside every group.

    The two sides of a group are each put into a fresh uniformly random order: sorting both would invent a correlation.
    Of several sensitive columns each is permuted by itself. The table looks like the original one, and any tool reads
    it, but a row is not a person: only counts of a group mean something.

    Guarantee
    ---------
    As `Anatomy`, of which it is another writing: the same counts can be read from both.

    Cost
    ----
    O(n) and a sort inside every group; two draws a record.

    Examples
    --------
    >>> import numpy as np
    >>> from glasshouse.microdata import Groups, examples
    >>> table = examples.anatomy_table1()
    >>> published = Permutation().recode(table, Groups(np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32), 2))["data"]
    >>> published.column_names, published["Group-ID"].to_pylist()
    (['Age', 'Sex', 'Zipcode', 'Group-ID', 'Disease'], [1, 1, 1, 1, 2, 2, 2, 2])
    """

    name: ClassVar[str] = PERMUTATION.name
    in_words: ClassVar[str] = (
        "The exact quasi-identifiers of each person are published. The sensitive values are in the same rows, but "
        "they were shuffled at random within each group."
    )
    layout: ClassVar[Layout] = PERMUTATION

    def added(self) -> dict[str, str]:
        """The names of the columns that are not in the table, with their meanings."""
        return {
            GROUP: "number of the group, drawn at random; within a group, the sensitive values were shuffled at random",
        }

    def theorem(self) -> str:
        """Say why the guarantee for the groups holds for the published tables."""
        return (
            "within a group, every way to match the people with the sensitive values is equally probable (MINIMALITY "
            "2.1)"
        )

    def recode(
        self,
        table: Microdata,
        groups: Groups,
        *,
        source: Source | None = None,
        part_rows: int = PART_ROWS,
        **_unused: object,
    ) -> dict[str, pa.Table]:
        """Rewrite ``groups`` of ``table`` as one table; both sides of each group are shuffled by ``source``.

        A table of more than ``part_rows`` rows is shuffled part by part, each with a child of its own; see `in_parts`.
        """
        source = source or Source.secure()
        n_parts = parts_for(int(groups.offsets[-1]), part_rows, groups.n_groups)
        borders = groups.offsets[first_numbers(groups.n_groups, n_parts)].tolist()
        streams = [(source.child("part", part), *ends) for part, ends in enumerate(pairwise(borders))]
        people = Side(table.quasi, groups)
        people.shuffle(streams)
        shown = {**people.published(), GROUP: pa.array(numbers(groups))}
        for column in table.sensitive:
            values = Side([column], groups)
            values.shuffle(streams)
            shown |= values.published()
        return {self.layout.people: pa.table(shown)}

    def in_parts(self, kinds: Kinds, *, part_rows: int = PART_ROWS, **_unused: object) -> tuple[TableInParts, ...]:
        """One table in parts: consecutive groups, both sides of each shuffled by a child that belongs to the part."""
        return (PersonTable.of(self.layout.people, GROUP, kinds, part_rows=part_rows, permuted=True),)


class Side:
    """Some columns of the published records, group after group, sorted inside every group by their codes.

    Parameters
    ----------
    columns
        The columns that stay together.
    groups
        Which records are together.
    bits, small
        Widest key, and longest run that is sorted by insertion: tests force the other paths.
    """

    def __init__(self, columns: Sequence[Column], groups: Groups, *, bits: int = _BITS, small: int = _SMALL) -> None:
        self._columns = columns
        self._offsets = groups.offsets
        self._widths = [max(column.domain.size - 1, 0).bit_length() for column in columns]
        self._distinct: NDArray[np.int32] | None = None
        if sum(self._widths) > bits:
            self._distinct, keys = _ranked(columns)
        else:
            keys = self._packed()
        self._keys = np.empty(int(groups.offsets[-1]), np.int64)
        kernels = compiled("glasshouse.recoding._kernels")
        kernels.gather(groups.labels, keys, groups.offsets[:-1].copy(), self._keys)
        kernels.sort_small_runs(self._keys, self._offsets, small)
        for g in np.flatnonzero(groups.sizes > small):
            self._keys[self._offsets[g] : self._offsets[g + 1]].sort()

    def _packed(self) -> NDArray[np.int64]:
        keys = self._columns[0].codes.astype(np.int64)
        for column, width in zip(self._columns[1:], self._widths[1:], strict=True):
            keys <<= width
            keys |= column.codes
        return keys

    def shuffle(self, streams: Sequence[tuple[Draws, int, int]]) -> None:
        """Put the records of every group into a fresh uniformly random order.

        ``streams`` has the random choices for all records from one place to another, where whole groups lie.
        """
        for draws, start, stop in streams:
            first, last = np.searchsorted(self._offsets, start), np.searchsorted(self._offsets, stop, side="right")
            draws.shuffle_runs(self._keys[start:stop], self._offsets[first:last] - start)

    def published(self) -> dict[str, pa.Array]:
        """The columns of the published records, with the table's own values."""
        shown: dict[str, pa.Array] = {}
        shift = sum(self._widths)
        for i, (column, width) in enumerate(zip(self._columns, self._widths, strict=True)):
            shift -= width
            if self._distinct is None:
                codes = ((self._keys >> shift) & ((1 << width) - 1)).astype(np.int32)
            else:
                codes = self._distinct[self._keys, i]
            shown[column.name] = published_values(column, codes)
        return shown


def _ranked(columns: Sequence[Column]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Where codes are too wide for one key: the different combinations in their order, and each record's rank."""
    combinations, ranks = np.unique(np.stack([c.codes for c in columns], axis=1), axis=0, return_inverse=True)
    return combinations, ranks.reshape(-1).astype(np.int64)


def numbers(groups: Groups) -> NDArray[np.int32]:
    """The published group number of every record, group after group, counted from 1."""
    return np.repeat(np.arange(1, groups.n_groups + 1, dtype=np.int32), groups.sizes)
