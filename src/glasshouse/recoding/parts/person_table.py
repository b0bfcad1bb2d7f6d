# SPDX-License-Identifier: Apache-2.0
"""Tables of exact quasi-identifiers with the number of everybody's group: ANATOMY's QIT, and permuted tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from glasshouse.recoding.generalization import ValueColumn
from glasshouse.recoding.parts.box_table import combined
from glasshouse.recoding.parts.members import Points
from glasshouse.recoding.parts.table_in_parts import Summary, number_type, part_of_numbers, parts_for
from glasshouse.recoding.parts.word_fields import WordFields, bits_of, sort_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from glasshouse.microdata import Column
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.randomness import Draws
    from glasshouse.recoding.parts.members import Piece
    from glasshouse.recoding.parts.table_in_parts import OfKinds, Rows

__all__ = ["PersonTable", "SettledPersonTable"]


@dataclass(frozen=True, eq=False, kw_only=True)
class PersonTable:
    """A row for each person: exact quasi-identifiers and the number of the group, sorted by number, then by values.

    Parameters
    ----------
    name, number
        The table's name, and that of the column with the numbers.
    quasi
        The quasi-identifiers, with a code for each point.
    sensitive
        The sensitive columns, with a code for each different combination of values, where values stand in the same
        rows, and both sides of a group have changed places at random; none otherwise.
    of_kind
        The point of each kind; and its combination of sensitive values, where these stand in the same rows.
    part_rows
        A table of more rows has several parts.
    """

    name: str
    number: str
    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    of_kind: tuple[NDArray[np.int32], ...]
    part_rows: int

    @classmethod
    def of(cls, name: str, number: str, kinds: Kinds, *, part_rows: int, permuted: bool = False) -> PersonTable:
        """Number the points, and the combinations of sensitive values of a permuted table."""
        points = Points.of(kinds)
        sensitive, of_kind = combined(kinds) if permuted else ((), None)
        return cls(
            name=name,
            number=number,
            quasi=tuple(points.column(column) for column in kinds.table.quasi),
            sensitive=sensitive,
            of_kind=(points.of_kind,) if of_kind is None else (points.of_kind, of_kind),
            part_rows=part_rows,
        )

    @property
    def of_kinds(self) -> OfKinds:
        """The point of each kind, and its combination of sensitive values."""
        return self.of_kind

    def for_kinds(self, known: OfKinds) -> PersonTable:
        """The same table for other kinds."""
        return replace(self, of_kind=known)

    def summary(self, piece: Piece) -> Summary:
        """Nothing but the number of people."""
        return Summary(len(piece))

    def settle(self, n_groups: int, summaries: Iterable[Summary]) -> SettledPersonTable:
        """Give every part the same number of groups, or one more."""
        n_parts = parts_for(sum(summary.n_rows for summary in summaries), self.part_rows, n_groups)
        sides = (self.quasi, self.sensitive) if len(self.of_kind) > 1 else (self.quasi,)
        sizes = (len(side[0].codes) if side else 1 for side in sides)
        return SettledPersonTable(
            plan=self,
            fields=WordFields((bits_of(n_groups), *map(bits_of, sizes))),
            n_groups=n_groups,
            n_parts=n_parts,
            quasi=tuple(ValueColumn.of(column.domain, column.codes) for column in self.quasi),
            sensitive=tuple(ValueColumn.of(column.domain, column.codes) for column in self.sensitive),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class SettledPersonTable:
    """A `PersonTable` with its parts: a row is the number of a group and a point, and values if it is permuted."""

    plan: PersonTable
    fields: WordFields
    n_groups: int
    n_parts: int
    quasi: tuple[ValueColumn, ...]
    sensitive: tuple[ValueColumn, ...]

    @property
    def name(self) -> str:
        """The table's name in the release."""
        return self.plan.name

    @property
    def n_words(self) -> int:
        """The number of words in a row."""
        return self.fields.n_words

    def for_kinds(self, known: OfKinds) -> SettledPersonTable:
        """The same table for other kinds."""
        return replace(self, plan=self.plan.for_kinds(known))

    def rows(self, piece: Piece) -> Rows:
        """A row for each person."""
        assert piece.numbers is not None, "groups are numbered before rows are made"
        which = [own[piece.kinds] for own in self.plan.of_kind]
        parts = part_of_numbers(piece.numbers, self.n_groups, self.n_parts)
        return parts[piece.labels], self.fields.packed([piece.numbers[piece.labels], *which])

    def table(self, part: int, words: NDArray[np.uint64], source: Draws) -> pa.Table:
        """Sort the rows by group, then by values; of a permuted table, shuffle both sides of each group."""
        words = sort_rows(words, self.fields)
        numbers = self.fields.numbers(words, 0, number_type(self.n_groups), plus=1)
        points = self.fields.numbers(words, 1, np.int32)
        numbered = pa.array(numbers)
        if len(self.fields.bits) == 2:
            return pa.table({**self._shown(points), self.plan.number: numbered})
        offsets = np.concatenate([[0], np.flatnonzero(np.diff(numbers)) + 1, [len(numbers)]] if len(numbers) else [[0]])
        draws = source.child("part", part)
        draws.shuffle_runs(points, offsets)
        columns = {**self._shown(points), self.plan.number: numbered}
        which = self.fields.numbers(words, 2, np.int32)
        group = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        for column, shown in zip(self.plan.sensitive, self.sensitive, strict=True):
            keys = group * max(column.domain.size, 1) + column.codes[which]
            keys.sort()
            codes = (keys - group * max(column.domain.size, 1)).astype(np.int32)
            draws.shuffle_runs(codes, offsets)
            columns[column.name] = shown.array(codes)
        return pa.table(columns)

    def _shown(self, points: NDArray[np.integer]) -> dict[str, pa.Array]:
        """The quasi-identifiers of some points."""
        return {
            column.name: shown.array(column.codes[points])
            for column, shown in zip(self.plan.quasi, self.quasi, strict=True)
        }
