# SPDX-License-Identifier: Apache-2.0
"""Remainders: a table parted at random into blocks whose sizes can be halved again and again.

A block has ``2^h k`` tuples. What is left over, a uniformly random subset, is a table of its own, and is parted in the
same way. A draw counts only if the subset and the rest both obey the principle, and is repeated otherwise: how likely
that is depends on the histogram of the whole table alone, so that it tells nothing about anybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.kernels import compiled
from glasshouse.microdata.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.principles.requirement import Requirement
    from glasshouse.randomness import Draws

__all__ = ["Block", "blocks_of", "shape_of"]

# How often a remainder is drawn before a larger one is tried.
ATTEMPTS = 100


@dataclass(frozen=True, eq=False)
class Block:
    """Tuples (row numbers) in tie order, ``2^h`` times ``k`` of them; nodes of k tuples are not halved."""

    order: NDArray[np.int32]
    k: int


def shape_of(n: int, floor: int, step: int, least: int) -> tuple[int, int]:
    """Choose (h, k) for n tuples: ``2^h k`` of them are halved, and r are left over.

    Of all multiples k of ``step`` from ``floor`` to n / 2 that leave nothing over or at least ``least`` tuples, the one
    with the smallest ``k (n + 4 r)``, of several the smallest: larger nodes and more tuples left over are both worse.
    If there is none, the table is a single node: h = 0, k = n.

    >>> shape_of(100, 8, 2, 8), shape_of(96, 8, 2, 8), shape_of(100, 8, 2, 9), shape_of(15, 8, 2, 8)
    ((3, 10), (3, 12), (3, 10), (0, 15))
    """
    low = -(-floor // step) * step
    while 2 * low <= n:
        high = min(3 * low, n // 2)  # r is below n / 2, so that no k beyond can be better than one at the lower end
        k = np.arange(low, high + 1, step, dtype=np.int64)
        h = np.frexp((n // k).astype(np.float64))[1].astype(np.int64) - 1
        over = n - (k << h)
        allowed = np.flatnonzero((over == 0) | (over >= least))
        if len(allowed) and allowed[0] == 0:
            best = allowed[np.argmin(k[allowed] * (n + 4 * over[allowed]))]
            return int(h[best]), int(k[best])
        low = int(k[allowed[0]]) if len(allowed) else (high // step + 1) * step
    return 0, n


def blocks_of(
    order: NDArray[np.int32],
    requirement: Requirement,
    floor: int,
    step: int,
    source: Draws,
    worth: Callable[[int, int], bool] | None = None,
) -> list[Block]:
    """Part a table into blocks.

    Parameters
    ----------
    order
        All tuples of the table in tie order.
    requirement
        What every block must satisfy; the table does.
    floor
        The least size of a node; remainders of fewer tuples are not even tried.
    step
        A block's k is a multiple of it, unless the block is a single node.
    source
        Of the remainders.
    worth
        Whether a table of so many tuples, of which so many have the most frequent value, would be halved at all; if it
        would not, it is one block, and nobody is left over.
    """
    table = _Histograms(order, requirement)
    blocks: list[Block] = []
    while True:
        if worth is not None and not worth(len(table.order), table.most_frequent):
            return [*blocks, Block(table.order, len(table.order))]
        h, k, chosen = _drawn(table, floor, step, source.child("remainder", len(blocks)))
        if chosen is None:
            return [*blocks, Block(table.order, k)]
        marks = np.zeros(len(table.order), np.uint8)
        marks[chosen] = 1
        rest, remainder = np.empty(k << h, np.int32), np.empty(len(chosen), np.int32)
        compiled("glasshouse.grouping._mirror_kernels").part_order(table.order, marks, rest, remainder)
        blocks.append(Block(rest, k))
        table = _Histograms(remainder, requirement)


def _drawn(table: _Histograms, floor: int, step: int, source: Draws) -> tuple[int, int, NDArray[np.int64] | None]:
    """A shape that works, with the places of the remainder in the table; None if nothing is left over."""
    n, least = len(table.order), floor
    while True:
        h, k = shape_of(n, floor, step, least)
        over = n - (k << h)
        if over == 0:
            return h, k, None
        for _ in range(ATTEMPTS):
            chosen = source.choose(n, over)
            if table.both_obey(chosen):
                return h, k, chosen
        least = 2 * over  # a larger sample is more like the table


class _Histograms:
    """A table's histograms, to judge a part of it and the rest by counting the part alone."""

    def __init__(self, order: NDArray[np.int32], requirement: Requirement) -> None:
        self.order = order
        self._requirement = requirement
        self._columns = [(column.codes, column.domain.size) for column in requirement.columns]
        self._whole = self._count(order)

    @property
    def most_frequent(self) -> int:
        """How many tuples have the most frequent value of the first sensitive column."""
        return int(self._whole[0].max())

    def both_obey(self, chosen: NDArray[np.int64]) -> bool:
        """Whether the tuples at these places and all others, as two groups, satisfy the requirement."""
        part = self._count(self.order[chosen])
        counts = [_two_groups(mine, whole - mine) for mine, whole in zip(part, self._whole, strict=True)]
        return bool(self._requirement.holds(counts).all())

    def _count(self, rows: NDArray[np.int32]) -> list[NDArray[np.int64]]:
        if not self._columns:
            return [np.array([len(rows)])]
        return [np.bincount(codes[rows], minlength=size) for codes, size in self._columns]


def _two_groups(first: NDArray[np.int64], second: NDArray[np.int64]) -> Counts:
    values = [np.flatnonzero(histogram).astype(np.int32) for histogram in (first, second)]
    weights = np.concatenate([first[values[0]], second[values[1]]]).astype(np.int32)
    return Counts(np.concatenate(values), np.cumsum([0, *map(len, values)]), len(first), weights)
