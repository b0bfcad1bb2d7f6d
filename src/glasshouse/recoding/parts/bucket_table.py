# SPDX-License-Identifier: Apache-2.0
"""ANGEL's generalized tables: the cells of everybody's bucket, and the number of everybody's batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from glasshouse.recoding.parts.table_in_parts import Summary, number_type
from glasshouse.recoding.parts.word_fields import WordFields, bits_of, sort_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from glasshouse.randomness import Draws
    from glasshouse.recoding.parts.members import Piece
    from glasshouse.recoding.parts.table_in_parts import OfKinds, Rows

__all__ = ["BucketTable", "SettledBucketTable"]


@dataclass(frozen=True, eq=False, kw_only=True)
class BucketTable:
    """A row for each person: the cells of the bucket and the number of the batch, sorted by cells, then by number.

    Parameters
    ----------
    name
        The table's name.
    number
        The name of the column with the numbers; None for a table without.
    columns
        For each quasi-identifier its name, the texts of its cells, and which of them each bucket shows. Buckets are in
        the order of their cells, and all different.
    of_kind
        The bucket of each kind.
    counts
        How many people are in each bucket.
    part_rows
        A table of more rows has several parts.
    """

    name: str
    number: str | None
    columns: tuple[tuple[str, pa.Array, NDArray[np.int32]], ...]
    of_kind: NDArray[np.int32]
    counts: NDArray[np.int64]
    part_rows: int

    @property
    def of_kinds(self) -> OfKinds:
        """The bucket of each kind."""
        return (self.of_kind,)

    def for_kinds(self, known: OfKinds) -> BucketTable:
        """The same table for other kinds."""
        (of_kind,) = known
        return replace(self, of_kind=of_kind)

    def summary(self, piece: Piece) -> Summary:
        """Nothing: the buckets say everything that is needed."""
        return Summary(len(piece))

    def settle(self, n_groups: int, summaries: Iterable[Summary]) -> SettledBucketTable:
        """Fill parts with bucket after bucket; a bucket that is too large for a part has some of its own.

        These share its people by the numbers of their batches.
        """
        shares = np.ones(len(self.counts), np.int64)
        large = self.counts > self.part_rows
        if self.number is not None:
            shares[large] = np.minimum(-(-self.counts[large] // self.part_rows), max(n_groups, 1))
        place = (np.cumsum(self.counts) - 1) // self.part_rows  # of the last person of each bucket
        begins = np.zeros(len(shares), bool)  # whether a bucket begins a part
        begins[1:] = (place[1:] != place[:-1]) | large[1:] | large[:-1]
        # a bucket's first part: one after the last of those before, or else the same
        passed = np.concatenate([[0], np.cumsum(shares[:-1] - 1)]) if len(shares) else np.zeros(0, np.int64)
        first = np.cumsum(begins) + passed
        n_parts = int(first[-1] + shares[-1]) if len(shares) else 1
        second = n_groups if self.number is not None else int(self.counts.max(initial=0)) + 1
        return SettledBucketTable(
            plan=self,
            fields=WordFields((bits_of(len(self.counts)), bits_of(second))),
            n_groups=n_groups,
            n_parts=n_parts,
            first=first.astype(np.int32),
            shares=shares if bool((shares > 1).any()) else None,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class SettledBucketTable:
    """A `BucketTable` with its parts: a row is a bucket and the number of a batch.

    Where no numbers are published it is a bucket, and how many people it has.
    """

    plan: BucketTable
    fields: WordFields
    n_groups: int
    n_parts: int
    first: NDArray[np.int32]  # the first part of each bucket
    shares: NDArray[np.int64] | None  # how many parts each bucket has; None if one each

    @property
    def name(self) -> str:
        """The table's name in the release."""
        return self.plan.name

    @property
    def n_words(self) -> int:
        """The number of words in a row."""
        return self.fields.n_words

    def for_kinds(self, known: OfKinds) -> SettledBucketTable:
        """The same table for other kinds."""
        return replace(self, plan=self.plan.for_kinds(known))

    def rows(self, piece: Piece) -> Rows:
        """A row for each person, or for each bucket where numbers are not published."""
        buckets = self.plan.of_kind[piece.kinds]
        if self.plan.number is None:
            occurs, counts = np.unique(buckets, return_counts=True)
            return self.first[occurs], self.fields.packed([occurs, counts])
        assert piece.numbers is not None, "groups are numbered before rows are made"
        numbers = piece.numbers[piece.labels]
        parts = self.first[buckets]
        if self.shares is not None:
            parts += (numbers * self.shares[buckets] // self.n_groups).astype(np.int32)
        return parts, self.fields.packed([buckets, numbers])

    def table(self, part: int, words: NDArray[np.uint64], source: Draws) -> pa.Table:
        """Sort the rows by bucket and number; nothing is random."""
        words = sort_rows(words, self.fields)
        buckets = self.fields.numbers(words, 0, np.int32)
        if self.plan.number is None:
            buckets = np.repeat(buckets, self.fields.numbers(words, 1))
        columns = {
            name: pa.DictionaryArray.from_arrays(pa.array(shown[buckets]), texts)
            for name, texts, shown in self.plan.columns
        }
        if self.plan.number is not None:
            columns[self.plan.number] = pa.array(self.fields.numbers(words, 1, number_type(self.n_groups), plus=1))
        return pa.table(columns)
