# SPDX-License-Identifier: Apache-2.0
"""Perturbed samples: of each group the cells, the perturbed value of one person, and how many people there are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.microdata import Column
from glasshouse.recoding.parts.box_table import borders_of, sample_of
from glasshouse.recoding.parts.cell_keys import cell_keys, joined_keys, key_texts, ranks_among
from glasshouse.recoding.parts.table_in_parts import Summary, number_type, parts_for
from glasshouse.recoding.parts.word_fields import WordFields, bits_of, sort_rows
from glasshouse.recoding.perturbed import OWNER, end_codes, perturb, refuse_overlap, sampled_values
from glasshouse.release.layout import SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from numpy.typing import NDArray

    from glasshouse.microdata import Domain
    from glasshouse.randomness import Draws
    from glasshouse.recoding.parts.members import Piece
    from glasshouse.recoding.parts.table_in_parts import OfKinds, Rows

__all__ = ["SampleTable", "SettledSampleTable"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SampleTable:
    """A row for each group, sorted by its cells, which are different for all groups.

    Parameters
    ----------
    name
        The table's name.
    quasi, sensitive
        The quasi-identifiers and the sensitive column, with a code for each kind.
    n_people
        How many people there are of all kinds, of whom some are sampled.
    domain, code_in_domain
        The domain from which values are replaced, and the place in it of each code of the sensitive column.
    p
        The retention.
    part_rows
        A table of more rows has several parts.
    """

    name: str
    quasi: tuple[Column, ...]
    sensitive: Column
    n_people: int
    domain: Domain
    code_in_domain: NDArray[np.int32]
    p: Fraction
    part_rows: int

    @property
    def of_kinds(self) -> OfKinds:
        """The quasi-identifiers and the sensitive value of each kind."""
        return tuple(column.codes for column in (*self.quasi, self.sensitive))

    def for_kinds(self, known: OfKinds) -> SampleTable:
        """The same table for other kinds."""
        columns = (*self.quasi, self.sensitive)
        *quasi, sensitive = (Column(column.domain, own) for column, own in zip(columns, known, strict=True))
        return replace(self, quasi=tuple(quasi), sensitive=sensitive)

    def cells(self, piece: Piece) -> tuple[tuple[Any, ...], list[NDArray[np.int32]]]:
        """For each quasi-identifier the keys of the cells that occur, and which of them each group shows."""
        groups = piece.groups
        found = [cell_keys(piece.column(column), groups, nodes=False) for column in self.quasi]
        return tuple(keys for keys, _ in found), [of_group for _, of_group in found]

    def summary(self, piece: Piece) -> Summary:
        """Which cells occur, a sample of them, and the boxes of all groups."""
        if not piece.n_groups:
            return Summary(0)
        keys, of_group = self.cells(piece)
        ends = [end_codes(piece.column(column), piece.groups) for column in self.quasi]
        boxes = np.stack([low for low, _ in ends] + [high for _, high in ends], axis=1)
        sample = sample_of(of_group, [len(own) for own in keys], self.part_rows)
        return Summary(piece.n_groups, keys, sample, boxes)

    def settle(self, n_groups: int, summaries: Iterable[Summary]) -> SettledSampleTable:
        """Refuse overlapping boxes, combine all cells, and divide the table at cells of the samples."""
        everything = [summary for summary in summaries if summary.n_rows]
        quasi = self.quasi
        if everything:
            boxes = np.concatenate([summary.boxes for summary in everything if summary.boxes is not None])
            refuse_overlap(boxes[:, : len(quasi)], boxes[:, len(quasi) :], OWNER)
        keys = tuple(joined_keys([summary.cells[i] for summary in everything]) for i in range(len(quasi)))
        largest = self.n_people
        fields = WordFields(
            (*(bits_of(len(own)) for own in keys), bits_of(self.sensitive.domain.size), bits_of(largest + 1))
        )
        borders = np.zeros(0, np.uint64)
        if n_groups > self.part_rows:
            borders = borders_of(everything, keys, fields, parts_for(n_groups, self.part_rows, n_groups))
        texts = tuple(
            pa.array(key_texts(column, own, nodes=False), pa.string()) for column, own in zip(quasi, keys, strict=True)
        )
        return SettledSampleTable(
            plan=self, fields=fields, keys=keys, texts=texts, borders=borders, size_type=number_type(largest)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class SettledSampleTable:
    """A `SampleTable` whose parts are decided: a row is the cells of a group, a sensitive value, and its count."""

    plan: SampleTable
    fields: WordFields
    keys: tuple[Any, ...]
    texts: tuple[pa.Array, ...]
    borders: NDArray[np.uint64]
    size_type: type[np.int32] | type[np.int64]

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

    def for_kinds(self, known: OfKinds) -> SettledSampleTable:
        """The same table for other kinds."""
        return replace(self, plan=self.plan.for_kinds(known))

    def rows(self, piece: Piece) -> Rows:
        """A row for each value of each group."""
        keys, of_group = self.plan.cells(piece)
        ranks = [ranks_among(own, every)[shown] for own, every, shown in zip(keys, self.keys, of_group, strict=True)]
        offsets, values, counts = piece.groups.counts(piece.column(self.plan.sensitive)).histogram
        times = np.diff(offsets)
        nothing = np.zeros(piece.n_groups, np.int64)
        cells = self.fields.packed([*ranks, nothing, nothing])
        parts = np.searchsorted(self.borders, cells[:, 0], side="right").astype(np.int32)
        words = np.repeat(cells, times, axis=0)
        for field, numbers in ((len(ranks), values), (len(ranks) + 1, counts)):
            word, shift = self.fields.places[field]
            words[:, word] |= numbers.astype(np.uint64) << np.uint64(shift)
        return np.repeat(parts, times), words

    def table(self, part: int, words: NDArray[np.uint64], source: Draws) -> pa.Table:
        """Sort the rows by cells and value, sample a person of each group, and perturb the value.

        Text is published as a dictionary of the values of the part: which others there are is known when all parts
        are drawn.
        """
        words = sort_rows(words, self.fields)
        draws = source.child("part", part)
        cells = [self.fields.numbers(words, i, np.int32) for i in range(len(self.texts))]
        is_first = np.zeros(len(words), bool)
        is_first[:1] = True
        for shown in cells:
            is_first[1:] |= shown[1:] != shown[:-1]
        starts = np.flatnonzero(is_first)
        values, counts = (self.fields.numbers(words, len(cells) + i) for i in range(2))
        reached = np.cumsum(counts)
        before = reached[starts] - counts[starts]
        sizes = np.diff(np.append(before, reached[-1:]))
        picked = values[np.searchsorted(reached, before + draws.belows(sizes), side="right")]
        published = perturb(self.plan.code_in_domain[picked], self.plan.p, self.plan.domain.size, draws)
        columns: dict[str, pa.Array] = {}
        for column, texts, shown in zip(self.plan.quasi, self.texts, cells, strict=True):
            columns[column.name] = pa.DictionaryArray.from_arrays(pa.array(shown[starts]), texts)
        columns[self.plan.sensitive.name] = sampled_values(self.plan.domain, published)
        columns[SIZE] = pa.array(sizes.astype(self.size_type))
        return pa.table(columns)
