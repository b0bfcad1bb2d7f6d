# SPDX-License-Identifier: Apache-2.0
"""Ace as counts: Assign (TRANSPARENT Figure 6) from a histogram, and Slice (Figure 8) until buckets become rows.

Which buckets there are follows from how many people have each sensitive value. People with a value go to its columns
uniformly at random. From then on nothing is random: the people of a column share their sensitive value, so those of one
entry of a column are of one kind, and it does not matter which of them a division takes.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.grouping.top.nodes import Bag
from glasshouse.grouping.top.piece import Piece
from glasshouse.grouping.transparent.bucket_counts import CountedBucket, places_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.grouping.perimeter import Places
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.randomness import Draws

__all__ = ["ace_pieces", "bucket_plan", "dealt_buckets"]

Labels = tuple[str | int, ...]


def bucket_plan(sizes: Sequence[int], ell: int) -> list[tuple[int, list[int]]]:
    """The buckets of Figure 6, in their order: the people of a column, and the value of each column.

    ``sizes`` is how many people have each value; together they must be l-diverse. Why alpha is found in closed form is
    said at `glasshouse.grouping.transparent._assign_kernels.plan`.

    >>> bucket_plan([3, 1, 2, 2], 2)
    [(2, [0, 2]), (1, [3, 0]), (1, [1, 3])]
    """
    left = sum(sizes)
    waiting = sorted((-size, value) for value, size in enumerate(sizes) if size)  # the most frequent value first
    found = []
    while waiting:
        alpha, beta = 0, ell - 1
        while alpha < 1:
            beta += 1
            assert beta <= len(waiting), "the values are not l-diverse"
            after = -waiting[beta][0] if beta < len(waiting) else 0
            alpha = min(-waiting[beta - 1][0], (left - ell * after) // beta)
        chosen = waiting[:beta]
        del waiting[:beta]
        for size, value in chosen:
            if size + alpha:
                insort(waiting, (size + alpha, value))
        found.append((alpha, [value for _, value in chosen]))
        left -= alpha * beta
    return found


@dataclass(frozen=True, eq=False)
class KindBucket:
    """So many people of some kinds in each column; kinds ascend inside of every column, which ``starts`` separate."""

    kinds: NDArray[np.int32]
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.starts) - 1

    @property
    def size(self) -> int:
        """The number of people in it."""
        return int(self.counts.sum())

    def divided(self, taken: NDArray[np.int64]) -> list[KindBucket]:
        """Take a number of people of each kind of each column: returns those taken, and the others."""
        return [self._with(taken), self._with(self.counts - taken)]

    def _with(self, counts: NDArray[np.int64]) -> KindBucket:
        there = counts > 0
        starts = np.concatenate([[0], np.cumsum(there)])[self.starts]
        return KindBucket(self.kinds[there], counts[there], starts)


def dealt_buckets(bag: Bag, values: NDArray[np.int32], ell: int, source: Draws) -> list[KindBucket]:
    """Assign: deal the people of a bag into buckets; ``values`` is the sensitive value of every kind in it."""
    plan = bucket_plan(np.bincount(values, weights=bag.counts).astype(np.int64).tolist(), ell)
    order = np.argsort(values, kind="stable")
    borders = np.searchsorted(values[order], np.arange(int(values.max()) + 2))
    left = {}  # the people with each value who are left, and how many they are
    buckets = []
    for number, (alpha, chosen) in enumerate(plan):
        columns = []
        for value in chosen:
            if value not in left:
                own = order[borders[value] : borders[value + 1]]
                left[value] = Bag(bag.kinds[own], bag.counts[own])
            drawn, left[value] = left[value].drawn(alpha, source.child("column", number, value))
            columns.append(drawn)
        buckets.append(
            KindBucket(
                np.concatenate([column.kinds for column in columns]),
                np.concatenate([column.counts for column in columns]),
                np.cumsum([0, *(len(column.kinds) for column in columns)]),
            )
        )
    return buckets


def ace_pieces(
    kinds: Kinds,
    bag: Bag,
    values: NDArray[np.int32],
    ell: int,
    source: Draws,
    labels: Labels,
    most: int,
    *,
    halves: bool,
) -> list[Piece]:
    """Divide the people of a bag as Ace does, as counts, into pieces of whole buckets with at most ``most`` people.

    Parameters
    ----------
    kinds, bag, values
        All kinds, some people who are l-diverse among themselves, and the sensitive value of every kind.
    ell
        The l of l-diversity.
    source, labels
        Of random choices, and by what they and the pieces are named.
    most
        How many people a piece has at most, unless they are one group.
    halves
        Whether the penalty is discernibility; it is the perimeter otherwise.
    """
    places = places_for(kinds.table, bag.size)
    codes = np.stack([column.codes for column in kinds.table.quasi])
    small: list[KindBucket] = []
    waiting = dealt_buckets(bag, values[bag.kinds], ell, source.child(*labels, "assign"))[::-1]
    while waiting:
        bucket = waiting.pop()
        if bucket.size <= max(most, bucket.n_columns):  # one person in each column is a group
            small.append(bucket)
        else:
            waiting += bucket.divided(_taken(bucket, codes, places, halves=halves))[::-1]
    return _pieces(small, labels, most)


def _taken(bucket: KindBucket, codes: NDArray[np.int32], places: Places, *, halves: bool) -> NDArray[np.int64]:
    """How many people of each kind of each column the first part of the canonical division has."""
    counted = CountedBucket(codes[:, bucket.kinds], bucket.counts, bucket.starts)
    return counted.first_part(*((0, counted.length // 2) if halves else counted.cheapest(1, places)))


def _pieces(buckets: Sequence[KindBucket], labels: Labels, most: int) -> list[Piece]:
    """Make pieces of buckets, neighbours together, with a section for each column."""
    pieces: list[Piece] = []
    held: list[KindBucket] = []
    size = 0
    for bucket in buckets:
        if held and size + bucket.size > most:
            pieces.append(_piece(held, (*labels, "buckets", len(pieces))))
            held, size = [], 0
        held.append(bucket)
        size += bucket.size
    return [*pieces, _piece(held, (*labels, "buckets", len(pieces)))]


def _piece(buckets: Sequence[KindBucket], labels: Labels) -> Piece:
    before = np.cumsum([0, *(len(bucket.kinds) for bucket in buckets)]).tolist()
    starts = [bucket.starts[:-1] + first for bucket, first in zip(buckets, before, strict=False)]
    return Piece(
        labels=labels,
        kinds=np.concatenate([bucket.kinds for bucket in buckets]),
        counts=np.concatenate([bucket.counts for bucket in buckets]),
        sections=(*np.concatenate(starts).tolist(), before[-1]),
        task=("slice", [bucket.size // bucket.n_columns for bucket in buckets], [b.n_columns for b in buckets]),
    )
