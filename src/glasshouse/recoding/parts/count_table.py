# SPDX-License-Identifier: Apache-2.0
"""Tables that count the sensitive values of groups: ANATOMY's ST, ANGEL's BT."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from glasshouse.microdata import Column
from glasshouse.recoding.generalization import ValueColumn
from glasshouse.recoding.parts.table_in_parts import Summary, number_type, part_of_numbers, parts_for
from glasshouse.recoding.parts.word_fields import WordFields, bits_of, sort_rows
from glasshouse.release.layout import COUNT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from glasshouse.microdata.kinds import Kinds
    from glasshouse.randomness import Draws
    from glasshouse.recoding.parts.members import Piece
    from glasshouse.recoding.parts.table_in_parts import OfKinds, Rows
    from glasshouse.release.layout import Layout

__all__ = ["CountTable", "SettledCountTable", "count_tables"]


def count_tables(kinds: Kinds, layout: Layout, part_rows: int) -> tuple[CountTable, ...]:
    """The tables that count each sensitive column."""
    columns = kinds.table.sensitive
    return tuple(
        CountTable(
            name=layout.counted_table(i, len(columns)),
            number=str(layout.number),
            column=column,
            most=int(np.bincount(column.codes, weights=kinds.counts, minlength=1).max()),
            part_rows=part_rows,
        )
        for i, column in enumerate(columns, 1)
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class CountTable:
    """How often each value of a sensitive column occurs in each group, sorted by the group's number, then by value.

    Parameters
    ----------
    name, number
        The table's name, and that of the column with the numbers.
    column
        The sensitive column, with the value of each kind.
    most
        How many people have the most frequent value.
    part_rows
        A table of more rows has several parts.
    """

    name: str
    number: str
    column: Column
    most: int
    part_rows: int

    @property
    def of_kinds(self) -> OfKinds:
        """The value of each kind."""
        return (self.column.codes,)

    def for_kinds(self, known: OfKinds) -> CountTable:
        """The same table for other kinds."""
        return replace(self, column=Column(self.column.domain, *known))

    def summary(self, piece: Piece) -> Summary:
        """How many values occur in the groups, each counted once in every group that has it."""
        offsets, _, _ = piece.groups.counts(piece.column(self.column)).histogram
        return Summary(int(offsets[-1]))

    def settle(self, n_groups: int, summaries: Iterable[Summary]) -> SettledCountTable:
        """Give every part the same number of groups, or one more."""
        n_rows = sum(summary.n_rows for summary in summaries)
        return SettledCountTable(
            plan=self,
            fields=WordFields((bits_of(n_groups), bits_of(self.column.domain.size), bits_of(self.most + 1))),
            n_groups=n_groups,
            n_parts=parts_for(n_rows, self.part_rows, n_groups),
            shown=ValueColumn.of(self.column.domain, self.column.codes),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class SettledCountTable:
    """A `CountTable` whose parts are decided: a row is the number of a group, a value, and its count."""

    plan: CountTable
    fields: WordFields
    n_groups: int
    n_parts: int
    shown: ValueColumn

    @property
    def name(self) -> str:
        """The table's name in the release."""
        return self.plan.name

    @property
    def n_words(self) -> int:
        """The number of words in a row."""
        return self.fields.n_words

    def for_kinds(self, known: OfKinds) -> SettledCountTable:
        """The same table for other kinds."""
        return replace(self, plan=self.plan.for_kinds(known))

    def rows(self, piece: Piece) -> Rows:
        """A row for each value of each group."""
        assert piece.numbers is not None, "groups are numbered before rows are made"
        offsets, values, counts = piece.groups.counts(piece.column(self.plan.column)).histogram
        times = np.diff(offsets)
        parts = part_of_numbers(piece.numbers, self.n_groups, self.n_parts)
        return np.repeat(parts, times), self.fields.packed([np.repeat(piece.numbers, times), values, counts])

    def table(self, part: int, words: NDArray[np.uint64], source: Draws) -> pa.Table:
        """Sort the rows by group and value; nothing is random."""
        words = sort_rows(words, self.fields, 2)
        return pa.table(
            {
                self.plan.number: self.fields.numbers(words, 0, number_type(self.n_groups), plus=1),
                self.plan.column.name: self.shown.array(self.fields.numbers(words, 1, np.int32)),
                COUNT: self.fields.numbers(words, 2, number_type(self.plan.most)),
            }
        )
