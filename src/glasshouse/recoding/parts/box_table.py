# SPDX-License-Identifier: Apache-2.0
"""Tables in which everybody shows the cells of a group: boxes, and nodes of taxonomies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.microdata import Column
from glasshouse.microdata.kinds import distinct_rows
from glasshouse.recoding.generalization import ValueColumn
from glasshouse.recoding.parts.cell_keys import cell_keys, joined_keys, key_texts, ranks_among
from glasshouse.recoding.parts.table_in_parts import Summary, parts_for
from glasshouse.recoding.parts.word_fields import WordFields, bits_of, sort_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.kinds import Kinds
    from glasshouse.randomness import Draws
    from glasshouse.recoding.parts.members import Piece
    from glasshouse.recoding.parts.table_in_parts import OfKinds, Rows

__all__ = ["BoxTable", "SettledBoxTable", "borders_of", "combined", "sample_of"]

_SAMPLE = 256  # rows of a part that are sampled, about: its size is then right to a few hundredths


@dataclass(frozen=True, eq=False, kw_only=True)
class BoxTable:
    """A row for each person: the cells of the group, and the person's sensitive values, sorted by these in turn.

    Parameters
    ----------
    name
        The table's name.
    quasi
        The quasi-identifiers, with a code for each kind.
    sensitive, of_kind
        The sensitive columns, with a code for each different combination of values, ascending; and the combination of
        each kind.
    n_people
        How many people there are of all kinds.
    nodes
        Whether cells are nodes of taxonomies, where there are some.
    part_rows
        A table of more rows has several parts.
    """

    name: str
    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    of_kind: NDArray[np.int32]
    n_people: int
    nodes: bool
    part_rows: int

    @classmethod
    def of(cls, name: str, kinds: Kinds, *, nodes: bool, part_rows: int) -> BoxTable:
        """Number the combinations of sensitive values, and define the layout of the table."""
        sensitive, of_kind = combined(kinds)
        return cls(
            name=name,
            quasi=kinds.table.quasi,
            sensitive=sensitive,
            of_kind=of_kind,
            n_people=kinds.n_people,
            nodes=nodes,
            part_rows=part_rows,
        )

    @property
    def of_kinds(self) -> OfKinds:
        """The quasi-identifiers of each kind, and its combination of sensitive values."""
        return (*(column.codes for column in self.quasi), self.of_kind)

    def for_kinds(self, known: OfKinds) -> BoxTable:
        """The same table for other kinds."""
        *codes, of_kind = known
        quasi = tuple(Column(column.domain, own) for column, own in zip(self.quasi, codes, strict=True))
        return replace(self, quasi=quasi, of_kind=of_kind)

    @property
    def n_values(self) -> int:
        """How many combinations of sensitive values there are."""
        return len(self.sensitive[0].codes) if self.sensitive else 1

    def cells(self, piece: Piece) -> tuple[tuple[Any, ...], list[NDArray[np.int32]]]:
        """For each quasi-identifier the keys of the cells that occur, and which of them each group shows."""
        groups = piece.groups
        found = [cell_keys(piece.column(column), groups, nodes=self.nodes) for column in self.quasi]
        return tuple(keys for keys, _ in found), [of_group for _, of_group in found]

    def summary(self, piece: Piece) -> Summary:
        """Which cells occur; and where there are several parts, a sample of the rows in their order."""
        keys, of_group = self.cells(piece)
        n_people = len(piece)
        if self.n_people <= self.part_rows or not n_people:
            return Summary(n_people, keys)
        columns = [shown[piece.labels] for shown in of_group]
        columns.append(self.of_kind[piece.kinds])
        sizes = [*(len(own) for own in keys), self.n_values]
        return Summary(n_people, keys, sample_of(columns, sizes, self.part_rows))

    def settle(self, n_groups: int, summaries: Iterable[Summary]) -> SettledBoxTable:
        """Put all cells together, and part the table at rows of the samples."""
        everything = [summary for summary in summaries if summary.n_rows]
        keys = tuple(joined_keys([summary.cells[i] for summary in everything]) for i in range(len(self.quasi)))
        fields = WordFields((*(bits_of(len(own)) for own in keys), bits_of(self.n_values)))
        n_rows = sum(summary.n_rows for summary in everything)
        borders = np.zeros(0, np.uint64)
        if n_rows > self.part_rows:
            borders = borders_of(everything, keys, fields, parts_for(n_rows, self.part_rows, n_rows))
        texts = tuple(
            pa.array(key_texts(column, own, nodes=self.nodes), pa.string())
            for column, own in zip(self.quasi, keys, strict=True)
        )
        shown = tuple(ValueColumn.of(column.domain, column.codes) for column in self.sensitive)
        return SettledBoxTable(plan=self, fields=fields, keys=keys, texts=texts, shown=shown, borders=borders)


@dataclass(frozen=True, eq=False, kw_only=True)
class SettledBoxTable:
    """A `BoxTable` with its parts: a row is the cells of a group, and a combination of sensitive values."""

    plan: BoxTable
    fields: WordFields
    keys: tuple[Any, ...]
    texts: tuple[pa.Array, ...]
    shown: tuple[ValueColumn, ...]
    borders: NDArray[np.uint64]

    @property
    def name(self) -> str:
        """The table's name in the release."""
        return self.plan.name

    @property
    def n_words(self) -> int:
        """The number of words in a row."""
        return self.fields.n_words

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return len(self.borders) + 1

    def for_kinds(self, known: OfKinds) -> SettledBoxTable:
        """The same table for other kinds."""
        return replace(self, plan=self.plan.for_kinds(known))

    def rows(self, piece: Piece) -> Rows:
        """A row for each person."""
        keys, of_group = self.plan.cells(piece)
        ranks = [ranks_among(own, every)[shown] for own, every, shown in zip(keys, self.keys, of_group, strict=True)]
        cells = self.fields.packed([*ranks, np.zeros(piece.n_groups, np.int64)])
        words = cells[piece.labels]
        word, shift = self.fields.places[-1]
        words[:, word] |= self.plan.of_kind[piece.kinds].astype(np.uint64) << np.uint64(shift)
        return np.searchsorted(self.borders, words[:, 0], side="right").astype(np.int32), words

    def table(self, part: int, words: NDArray[np.uint64], source: Draws) -> pa.Table:
        """Sort the rows by cells and sensitive values; nothing is random."""
        words = sort_rows(words, self.fields)
        columns: dict[str, pa.Array] = {}
        for i, (column, texts) in enumerate(zip(self.plan.quasi, self.texts, strict=True)):
            indices = self.fields.numbers(words, i, np.int32)
            columns[column.name] = pa.DictionaryArray.from_arrays(pa.array(indices), texts)
        which = self.fields.numbers(words, len(self.texts), np.int32)
        for column, shown in zip(self.plan.sensitive, self.shown, strict=True):
            columns[column.name] = shown.array(column.codes[which])
        return pa.table(columns)


def combined(kinds: Kinds) -> tuple[tuple[Column, ...], NDArray[np.int32]]:
    """The sensitive columns with a code for each different combination of values; and the combination of each kind."""
    columns = kinds.table.sensitive
    if not columns:
        return (), np.zeros(len(kinds), np.int32)
    distinct, of_kind, _ = distinct_rows(columns)
    return tuple(Column(column.domain, own) for column, own in zip(columns, distinct, strict=True)), of_kind


def sample_of(columns: Sequence[NDArray[np.integer]], sizes: Sequence[int], part_rows: int) -> NDArray[np.int64]:
    """The first of some rows in their order, and then a sample at regular distances; all numbers are below their size.

    >>> sample_of([np.array([3, 1, 2, 0])], [4], 256 * 2).tolist()
    [[0], [1], [3]]
    """
    fields = WordFields(tuple(map(bits_of, sizes)))
    rows = sort_rows(fields.packed(columns), fields)
    n_sampled = max(1, len(rows) // max(1, part_rows // _SAMPLE))
    places = (2 * np.arange(n_sampled) + 1) * len(rows) // (2 * n_sampled)
    some = rows[np.append(0, places)]
    return np.stack([fields.numbers(some, i) for i in range(len(columns))], axis=1)


def borders_of(
    summaries: Sequence[Summary], keys: Sequence[Any], fields: WordFields, n_parts: int
) -> NDArray[np.uint64]:
    """The first rows, as words, of all parts except the first, from the samples of all pieces.

    A sample has the cells, and the numbers of any other fields behind them.
    """
    least: list[np.uint64] = []
    words: list[NDArray[np.uint64]] = []
    weights: list[NDArray[np.float64]] = []
    for summary in summaries:
        assert summary.sample is not None
        ranks = [ranks_among(own, every) for own, every in zip(summary.cells, keys, strict=True)]
        cells = [rank[summary.sample[:, i]] for i, rank in enumerate(ranks)]
        others = [summary.sample[:, i] for i in range(len(cells), summary.sample.shape[1])]
        unknown = [np.zeros(len(summary.sample), np.int64)] * (len(fields.bits) - summary.sample.shape[1])
        first_words = fields.packed([*cells, *others, *unknown])[:, 0]
        least.append(first_words[0])
        words.append(first_words[1:])
        weights.append(np.full(len(first_words) - 1, summary.n_rows / (len(first_words) - 1)))
    found, weight = np.concatenate(words), np.concatenate(weights)
    order = np.lexsort([weight, found])
    reached = np.cumsum(weight[order])  # summed in order, so that no order of the pieces shows
    wanted = np.searchsorted(reached - weight[order] / 2, reached[-1] / n_parts * np.arange(1, n_parts))
    borders = np.unique(found[order][np.minimum(wanted, len(order) - 1)])
    return np.asarray(borders[borders > np.array(least).min()])
