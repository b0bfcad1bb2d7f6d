# SPDX-License-Identifier: Apache-2.0
"""Nodes of Tailor as counts: canonical l-cuts (TRANSPARENT Figure 3) until nodes are small enough to become rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.grouping.top.nodes import Bag, drawn_counts
from glasshouse.grouping.top.piece import Piece
from glasshouse.grouping.transparent.bucket_counts import CountedBucket, places_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.kinds import Kinds
    from glasshouse.randomness import Draws

__all__ = ["CountedNode", "cut_nodes", "offsets_of", "pieces_of_nodes"]


@dataclass(frozen=True, eq=False)
class CountedNode:
    """A node: numbers of people of some kinds.

    Parameters
    ----------
    bag
        The people.
    start
        How many people all cuts so far leave on its left. Together with its size it names the node: no two nodes of a
        division have both in common.
    whole
        Whether it has too many people to become rows and is not 2l-diverse, so that it is not cut any more.
    """

    bag: Bag
    start: int
    whole: bool = False

    @property
    def place(self) -> tuple[int, int]:
        """The position of the node in the tree, by which its random choices are labelled."""
        return self.start, self.bag.size


def cut_nodes(
    kinds: Kinds, values: NDArray[np.int32], ell: int, source: Draws, most: int, *, halves: bool
) -> list[CountedNode]:
    """Cut nodes of more than ``most`` people while they are 2l-diverse; return what is left, from left to right.

    Parameters
    ----------
    kinds, values
        How many people there are of each kind, and the sensitive value of each kind.
    ell
        The l of l-diversity.
    source
        Of random choices: which people of a point that is parted go left.
    most
        How many people a node has at most that is not looked at.
    halves
        Whether the penalty is discernibility, under which the canonical cut takes the first half along the first
        attribute; it is the perimeter otherwise.
    """
    cutter = _Cutter(kinds, values, ell, source, halves=halves)
    waiting = [CountedNode(Bag(np.arange(len(kinds), dtype=np.int32), kinds.counts), 0)]
    found: list[CountedNode] = []
    while waiting:
        node = waiting.pop()
        if node.bag.size <= most:
            found.append(node)
            continue
        parts = cutter.cut(node)
        if parts is None:
            found.append(CountedNode(node.bag, node.start, whole=True))
        else:
            waiting += parts[::-1]
    return found


def pieces_of_nodes(nodes: Sequence[CountedNode], most: int) -> list[Piece]:
    """Make pieces of nodes: small neighbours share one, as sections; a node that is not cut any more is one by itself.

    Cuts may take off a few people at a time, and a piece for each few would take longer to begin than to finish.
    """
    pieces: list[Piece] = []
    held: list[CountedNode] = []
    for node in nodes:
        if held and (node.whole or sum(own.bag.size for own in held) + node.bag.size > most):
            pieces.append(_piece(held, "divide"))
            held = []
        if node.whole:
            pieces.append(_piece([node], "whole"))
        else:
            held.append(node)
    return [*pieces, _piece(held, "divide")] if held else pieces


def offsets_of(sections: NDArray[np.int32]) -> NDArray[np.int64]:
    """Where each section begins, and the number of people; ``sections`` has the section of each person, ascending.

    >>> offsets_of(np.array([0, 0, 1], np.int32)).tolist()
    [0, 2, 3]
    """
    return np.append(np.flatnonzero(np.diff(sections, prepend=-1)), len(sections))


def _piece(nodes: Sequence[CountedNode], task: str) -> Piece:
    bags = [node.bag for node in nodes]
    return Piece(
        labels=("nodes", nodes[0].start, sum(bag.size for bag in bags)),
        kinds=np.concatenate([bag.kinds for bag in bags]),
        counts=np.concatenate([bag.counts for bag in bags]),
        sections=tuple(np.cumsum([0, *(len(bag.kinds) for bag in bags)]).tolist()),
        task=(task,),
    )


class _Cutter:
    """Makes the canonical l-cut of nodes."""

    def __init__(self, kinds: Kinds, values: NDArray[np.int32], ell: int, source: Draws, *, halves: bool) -> None:
        self._point = kinds.points().labels
        first = np.flatnonzero(np.diff(self._point, prepend=-1))
        self._codes = np.stack([column.codes[first] for column in kinds.table.quasi])  # attributes x points
        self._places = places_for(kinds.table, kinds.n_people)
        self._values, self._ell, self._source, self._halves = values, ell, source, halves

    def cut(self, node: CountedNode) -> list[CountedNode] | None:
        """Both parts of a node; None if it is not 2l-diverse."""
        bag, size = node.bag, node.bag.size
        least = self._ell * int(np.bincount(self._values[bag.kinds], weights=bag.counts).max())
        if size < 2 * least:
            return None
        of_kind = self._point[bag.kinds]
        first = np.flatnonzero(np.diff(of_kind, prepend=-1))  # of the kinds of every point
        points = CountedBucket(
            self._codes[:, of_kind[first]], np.add.reduceat(bag.counts, first), np.array([0, len(first)])
        )
        dim, left = (0, size // 2) if self._halves else points.cheapest(least, self._places)
        taken = points.first_part(dim, left)
        lengths = np.diff(first, append=len(of_kind))
        found = np.where(np.repeat(taken == points.counts, lengths), bag.counts, 0)
        for point in np.flatnonzero((taken > 0) & (taken < points.counts)).tolist():  # one at most
            own = slice(int(first[point]), int(first[point] + lengths[point]))
            found[own] = drawn_counts(bag.counts[own], int(taken[point]), self._source.child("node", *node.place))
        before, after = bag.parted(found)
        return [CountedNode(before, node.start), CountedNode(after, node.start + left)]
