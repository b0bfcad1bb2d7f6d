# SPDX-License-Identifier: Apache-2.0
"""Covering: for many points at once, what is added up over all places whose cells cover them.

Points are put into a tree, one level an attribute, and places walk down it together: at every level a place goes to the
children that its cell covers, and places that differ no more from there on are added up. The tree branches first by a
label (a sensitive value) where there is one, then by the attributes with the fewest values, so what no point has is
lost early. Only additions are made: there is nothing to cancel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.microdata.domains import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from glasshouse.supports.axes import Axis

__all__ = ["AT_ONCE", "Points", "numbered", "same_values", "sums_over_covering"]

AT_ONCE = 1 << 20  # steps down the tree that are held at once


@dataclass(frozen=True, eq=False)
class Points:
    """Points: the different values of every attribute (None, a missing one, is the last), and a code for each point."""

    values: Sequence[Sequence[Any]]
    codes: Sequence[NDArray[np.int64]]

    def __len__(self) -> int:
        return len(self.codes[0]) if self.codes else 0

    def distinct(self) -> tuple[Points, NDArray[np.int64]]:
        """The different points, and the number of the one that each point is."""
        columns = [(codes, len(own)) for own, codes in zip(self.values, self.codes, strict=True)]
        number, first = numbered(columns, len(self))
        return Points(self.values, [codes[first] for codes in self.codes]), number


def numbered(columns: Iterable[tuple[NDArray[Any], int]], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the different combinations of codes, each below its size: every item's number, and an item for each."""
    number = np.zeros(n, np.int64)
    for codes, size in columns:
        _, number = np.unique(number * size + codes, return_inverse=True)
        number = number.reshape(-1)
    _, first = np.unique(number, return_index=True)
    return number, first


def same_values(values: Sequence[Any], others: Sequence[Any]) -> NDArray[np.int64]:
    """The index of each value among other values, by its text; -1 if it is not among them."""
    known = {None if v is None else text_of(v): i for i, v in enumerate(others)}
    return np.array([known.get(None if v is None else text_of(v), -1) for v in values], np.int64)


def sums_over_covering(
    points: Points,
    axes: Sequence[Axis],
    of_place: Sequence[NDArray[np.int32]],
    place: NDArray[np.int64],
    amount: NDArray[np.float64],
    *,
    label: NDArray[np.int64] | None = None,
    at_once: int = AT_ONCE,
) -> NDArray[np.float64]:
    """Add up, for every point, the amounts that lie at places whose cells cover it.

    Points are different, and have a value for every axis, in their order; after these a label, if amounts have labels.
    ``of_place`` tells which cell of each axis every place shows. An amount lies at a place, and counts for one label
    alone, by the label's code (-1 for none of them).
    """
    order = sorted(range(len(axes)), key=lambda i: len(points.values[i]))
    columns = order if label is None else [len(axes), *order]
    sort = np.lexsort([points.codes[c] for c in reversed(columns)])
    node = np.zeros(len(sort), np.int64)
    keys = []
    for c in columns:
        distinct, node = np.unique(node * len(points.values[c]) + points.codes[c][sort], return_inverse=True)
        node = node.reshape(-1)
        keys.append(distinct)

    # what is left of a place, from the last attribute back to the first
    levels: list[_Level] = []
    n_places = len(of_place[0]) if of_place else 1
    rest, n_rest = np.zeros(n_places, np.int64), 1
    for i, own in zip(reversed(order), reversed(keys[len(keys) - len(order) :]), strict=True):
        rests, here = np.unique(of_place[i] * np.int64(n_rest) + rest, return_inverse=True)
        cell, after = np.divmod(rests, n_rest)
        levels.append(_Level(own, len(points.values[i]), *axes[i].ranges(points.values[i]), cell, after, n_rest))
        rest, n_rest = here.reshape(-1), len(rests)
    levels.reverse()

    walkers = _Walkers(np.zeros(len(place), np.int64), rest[place], amount)
    if label is not None:
        start = np.minimum(np.searchsorted(keys[0], label), len(keys[0]) - 1)
        walkers = _Walkers(start, walkers.rest, amount).part(keys[0][start] == label)
    total = np.zeros(len(sort))
    _walk(walkers, levels, 0, total, at_once)
    found = np.empty(len(sort))
    found[sort] = total
    return found


@dataclass(frozen=True, eq=False)
class _Level:
    """One level of the tree, and what is left of places that reach it.

    The child of node ``keys[i] // n_codes`` for the value of code ``keys[i] % n_codes`` is node i of the next level.
    What is left of a place is a *rest*: a cell of this level's attribute, and the rest after it.
    """

    keys: NDArray[np.int64]
    n_codes: int
    offsets: NDArray[np.int64]  # ranges of codes of every cell
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    cell_of_rest: NDArray[np.int64]
    next_rest: NDArray[np.int64]
    n_next: int

    @property
    def merges(self) -> bool:
        """Whether different rests can become one; at the end, where none is left, they are added up anyway."""
        return len(self.cell_of_rest) > self.n_next > 1

    def steps(self, rest: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many ranges of codes every rest has on this level."""
        cell = self.cell_of_rest[rest]
        return self.offsets[cell + 1] - self.offsets[cell]


@dataclass(frozen=True, eq=False)
class _Walkers:
    """Parts of D* on their way down the tree: their node, what remains of their place, and their amount."""

    node: NDArray[np.int64]
    rest: NDArray[np.int64]
    amount: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.node)

    def part(self, which: Any) -> _Walkers:
        return _Walkers(self.node[which], self.rest[which], self.amount[which])


def _walk(walkers: _Walkers, levels: Sequence[_Level], depth: int, total: NDArray[np.float64], at_once: int) -> None:
    """Let walkers go down to the points, not too many at a time."""
    if depth == len(levels):
        total += np.bincount(walkers.node, weights=walkers.amount, minlength=len(total))
        return
    level = levels[depth]
    for some in _slices(level.steps(walkers.rest), at_once):
        standing = walkers.part(some)
        steps = level.steps(standing.rest)
        who = np.repeat(np.arange(len(standing)), steps)
        which = level.offsets[level.cell_of_rest[standing.rest]][who] + _within(steps)
        base = standing.node[who] * level.n_codes
        start = np.searchsorted(level.keys, base + level.low[which])
        n_children = np.searchsorted(level.keys, base + level.high[which], side="right") - start
        for part in _slices(n_children, at_once):
            children = n_children[part]
            child = np.repeat(start[part], children) + _within(children)
            parent = np.repeat(who[part], children)
            arrived = _Walkers(child, level.next_rest[standing.rest[parent]], standing.amount[parent])
            _walk(_merged(arrived, level) if level.merges else arrived, levels, depth + 1, total, at_once)


def _merged(walkers: _Walkers, level: _Level) -> _Walkers:
    """Add up those that are at the same node with the same rest."""
    keys, number = np.unique(walkers.node * level.n_next + walkers.rest, return_inverse=True)
    node, rest = np.divmod(keys, level.n_next)
    amount: NDArray[np.float64] = np.bincount(number.reshape(-1), weights=walkers.amount).astype(np.float64)
    return _Walkers(node, rest, amount)


def _slices(lengths: NDArray[np.int64], at_once: int) -> list[slice]:
    """Cut items into slices of at most so many steps together (or of one item)."""
    ends = np.cumsum(lengths)
    slices, start, before = [], 0, 0
    while start < len(ends):
        stop = max(start + 1, int(np.searchsorted(ends, before + at_once, side="right")))
        slices.append(slice(start, stop))
        start, before = stop, int(ends[stop - 1])
    return slices


def _within(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, 2 ... for every run of these lengths."""
    starts = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) - np.repeat(starts, lengths)
