# SPDX-License-Identifier: Apache-2.0
"""Nodes of a division, as counts: halved at medians, parted at random, and tested by their histograms.

People of one point (equal in all quasi-identifiers) lie side by side in the order of kinds. Where a median falls inside
a value, its points go left one after another in the order of all quasi-identifiers, and of the one point that must be
parted a uniformly random part goes left. That is what a secret order of all people with equal quasi-identifiers does,
so halves have the same distribution as those of rows (`glasshouse.grouping.mirror.halves`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.grouping.top.piece import Piece
from glasshouse.microdata.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.grouping.perimeter import Places
    from glasshouse.microdata import Column
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Draws

__all__ = ["Bag", "CountedBag", "Halver", "Node", "histograms"]


@dataclass(frozen=True, eq=False)
class Bag:
    """A bag: numbers of people of some kinds, with ascending kinds."""

    kinds: NDArray[np.int32]
    counts: NDArray[np.int64]

    @property
    def size(self) -> int:
        """The number of people in it."""
        return int(self.counts.sum())

    def parted(self, taken: NDArray[np.int64]) -> tuple[Bag, Bag]:
        """Take so many people of each kind: those who are taken, and the others."""
        return self._with(taken), self._with(self.counts - taken)

    def drawn(self, n: int, source: Draws) -> tuple[Bag, Bag]:
        """Take ``n`` people, uniformly at random: those who are taken, and the others."""
        return self.parted(drawn_counts(self.counts, n, source))

    def drawn_by_value(self, values: NDArray[np.int32], taken: NDArray[np.int64], source: Draws) -> tuple[Bag, Bag]:
        """Take ``taken[v]`` people with each value v, uniformly at random: those who are taken, and the others.

        ``values`` is the value of every kind of the bag.
        """
        found = np.zeros(len(self.counts), np.int64)
        order = np.argsort(values, kind="stable")
        borders = np.searchsorted(values[order], np.arange(len(taken) + 1))
        for value in np.flatnonzero(taken).tolist():
            own = order[borders[value] : borders[value + 1]]
            found[own] = drawn_counts(self.counts[own], int(taken[value]), source.child("value", value))
        return self.parted(found)

    def _with(self, counts: NDArray[np.int64]) -> Bag:
        there = counts > 0
        return Bag(self.kinds[there], counts[there])


def drawn_counts(counts: NDArray[np.int64], n: int, source: Draws) -> NDArray[np.int64]:
    """How many of each kind there are among ``n`` people who are drawn uniformly at random from so many of each.

    >>> from glasshouse.randomness import Source
    >>> drawn_counts(np.array([3, 0, 2]), 5, Source.seeded(1)).tolist()
    [3, 0, 2]
    """
    ends = np.cumsum(counts)
    if n == int(ends[-1]):
        return counts.copy()
    places = source.choose(int(ends[-1]), n)
    found: NDArray[np.int64] = np.diff(np.searchsorted(places, ends, side="left"), prepend=0)
    return found


@dataclass(frozen=True, eq=False)
class Node:
    """A node: its faces, equally large bags that are halved together, and its place in the tree.

    The root has depth 0 and number 0; the halves of a node have the numbers ``2 i`` and ``2 i + 1``, one deeper. A node
    that is looked at again with twice as many faces counts its tests.
    """

    faces: tuple[Bag, ...]
    depth: int = 0
    number: int = 0
    block: int = 0

    @property
    def size(self) -> int:
        """The number of people in it."""
        return sum(face.size for face in self.faces)

    @property
    def place(self) -> tuple[int, ...]:
        """The position of the node in the tree, by which its random choices are labelled."""
        return (self.block, self.depth, self.number, len(self.faces))

    def half(self, faces: Sequence[Bag], side: int) -> Node:
        """The left (0) or right (1) half of the node."""
        return Node(tuple(faces), self.depth + 1, 2 * self.number + side, self.block)

    def piece(self, *task: Any) -> Piece:
        """The node as a piece."""
        sections = np.cumsum([0, *(len(face.kinds) for face in self.faces)]).tolist()
        return Piece(
            labels=("piece", *self.place, str(task[0])),
            kinds=np.concatenate([face.kinds for face in self.faces]),
            counts=np.concatenate([face.counts for face in self.faces]),
            sections=tuple(sections),
            task=task,
        )


@dataclass(frozen=True, eq=False)
class CountedBag:
    """A bag that can be divided at random so that both parts are safe; its columns hold the codes of kinds."""

    bag: Bag
    requirement: Requirement

    @property
    def size(self) -> int:
        """How many people there are."""
        return self.bag.size

    @property
    def most_frequent(self) -> int:
        """How many people have the most frequent value of the first sensitive column."""
        return int(histograms([Node((self.bag,))], self.requirement.columns)[0].largest[0])

    @property
    def enough(self) -> int:
        """The number of people from which on every part of it is safe."""
        return self.requirement.enough(histograms([Node((self.bag,))], self.requirement.columns))

    def drawn(self, n: int, source: Draws) -> tuple[CountedBag, CountedBag]:
        """Draw n people: all others, and those drawn."""
        drawn, rest = self.bag.drawn(n, source)
        return CountedBag(rest, self.requirement), CountedBag(drawn, self.requirement)

    def parted(self, n: int, source: Draws) -> tuple[CountedBag, CountedBag] | None:
        """Draw n people: all others, and those drawn; None if one of the two parts breaks the requirement."""
        rest, drawn = self.drawn(n, source)
        counts = histograms([Node((drawn.bag,)), Node((rest.bag,))], self.requirement.columns)
        return (rest, drawn) if self.requirement.holds(counts).all() else None


class Halver:
    """Halves nodes of some kinds by quasi-identifiers.

    Parameters
    ----------
    kinds
        The kinds of all people.
    places
        Where the codes lie.
    dims
        The attributes that may be halved, in the order that breaks ties.
    """

    def __init__(self, kinds: Kinds, places: Places, dims: Sequence[int]) -> None:
        self._point = kinds.points().labels
        first = np.flatnonzero(np.diff(self._point, prepend=-1))
        self._codes = np.stack([column.codes[first] for column in kinds.table.quasi])  # attributes x points
        self._places = places.tables
        self._dims = list(dims)

    def halve(self, node: Node, source: Draws) -> tuple[Node, Node]:
        """Halve a node along the attribute whose halves have the smallest total width; the first of several such.

        All faces are halved along the same attribute, each in its own middle.
        """
        faces = [_Face(self, face) for face in node.faces]
        best = min(range(len(self._dims)), key=lambda t: (self._cost(faces, self._dims[t]), t))
        own = source.child("node", *node.place)
        halves = [face.split(self._dims[best], own.child("face", f)) for f, face in enumerate(faces)]
        return node.half([left for left, _ in halves], 0), node.half([right for _, right in halves], 1)

    def _cost(self, faces: Sequence[_Face], dim: int) -> int:
        """The widths of both halves if every face is halved along an attribute."""
        if len(self._dims) == 1:
            return 0
        cost = 0
        sides = [face.sides(dim) for face in faces]
        for side in (0, 1):
            boxes = [side_of[side] for side_of in sides]
            low, high = (np.stack([box[end] for box in boxes]) for end in (0, 1))
            for places, a, b in zip(self._places, low.min(axis=0).tolist(), high.max(axis=0).tolist(), strict=True):
                cost += int(places[b]) - int(places[a])
        return cost


class _Face:
    """The points of a bag, with the people of each."""

    def __init__(self, halver: Halver, bag: Bag) -> None:
        self._bag = bag
        of_kind = halver._point[bag.kinds]
        fresh = np.ones(len(of_kind), bool)
        fresh[1:] = of_kind[1:] != of_kind[:-1]
        self._first = np.flatnonzero(fresh)  # of the kinds of every point
        self._weights = np.add.reduceat(bag.counts, self._first)
        self._codes = halver._codes[:, of_kind[self._first]]
        self._half = bag.size // 2

    def _middle(self, dim: int) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64], int]:
        """Which points are below the median; where those at the median begin and end; how many of them go left."""
        codes = self._codes[dim]
        low = int(codes.min())
        ends = np.cumsum(np.bincount(codes - low, weights=self._weights).astype(np.int64))
        middle = int(np.searchsorted(ends, self._half, side="right"))
        before = int(ends[middle - 1]) if middle else 0
        has = codes == middle + low
        stops = np.cumsum(np.where(has, self._weights, 0))
        return codes < middle + low, np.where(has, stops - self._weights, -1), stops, self._half - before

    def sides(self, dim: int) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """The boxes of both halves: for all attributes the least and the largest code."""
        less, starts, stops, ties = self._middle(dim)
        has = starts >= 0
        left = less | (has & (starts < ties))
        right = ~less & (~has | (stops > ties))
        return [(own.min(axis=1), own.max(axis=1)) for own in (self._codes[:, left], self._codes[:, right])]

    def split(self, dim: int, source: Draws) -> tuple[Bag, Bag]:
        """Both halves along an attribute."""
        less, starts, stops, ties = self._middle(dim)
        has = starts >= 0
        lengths = np.diff(self._first, append=len(self._bag.kinds))
        taken = np.where(np.repeat(less | (has & (stops <= ties)), lengths), self._bag.counts, 0)
        for point in np.flatnonzero(has & (starts < ties) & (stops > ties)).tolist():  # one at most
            own = slice(int(self._first[point]), int(self._first[point] + lengths[point]))
            taken[own] = drawn_counts(self._bag.counts[own], ties - int(starts[point]), source)
        return self._bag.parted(taken)


def histograms(nodes: Sequence[Node], columns: Sequence[Column]) -> list[Counts]:
    """Count some nodes, per sensitive column; ``columns`` hold the codes of kinds."""
    bags = [face for node in nodes for face in node.faces]
    kinds = np.concatenate([bag.kinds for bag in bags])
    weights = np.concatenate([bag.counts for bag in bags])
    entries = np.cumsum([0, *(sum(len(face.kinds) for face in node.faces) for node in nodes)])
    return [_counted(column.codes[kinds], weights, entries, column.domain.size) for column in columns] or [
        _counted(np.zeros(len(kinds), np.int32), weights, entries, 1)
    ]


def _counted(codes: NDArray[np.int32], weights: NDArray[np.int64], entries: NDArray[np.int64], n_values: int) -> Counts:
    tables = [
        np.bincount(codes[a:b], weights=weights[a:b], minlength=n_values).astype(np.int64)
        for a, b in zip(entries[:-1].tolist(), entries[1:].tolist(), strict=True)
    ]
    values = [np.flatnonzero(table).astype(np.int32) for table in tables]
    return Counts(
        np.concatenate(values),
        np.cumsum([0, *map(len, values)]),
        n_values,
        np.concatenate([table[own] for table, own in zip(tables, values, strict=True)]).astype(np.int32),
    )
