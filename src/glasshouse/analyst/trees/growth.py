# SPDX-License-Identifier: Apache-2.0
"""Growing a tree on reconstructed classes, from records of which only cells and perturbed classes are known.

A node is a box. A record is in it with the share of its cell that lies in the box, so one whose cell straddles a cut
goes to both sides, in pieces; of a piece nothing is assumed but that every value in it is as likely as any other. All
counts of a node are sums over its pieces:

    O   weight of the pieces that show each class;  W  weight of all;  V  weight, each piece's times its record's

*Which cut.* The one with the largest gain ``I(t) - sum W_side / W * I(t_side)``, where I is an impurity and t the most
likely distribution of the true classes: see `glasshouse.analyst.trees.reconstruction`. On a line, cuts are tried at the
ends of cells. Categories are put in the order of the share that shows a class, for every class in turn, and cut in that
order. Where no inverted count is negative this is enough: between two ends counts change linearly, and the weighted
impurity of a side is a concave function of them, so no cut inside gains more; and of two classes no other set gains
more (Breiman et al. 1984).

*How much a node knows.* ``n = W^2 / V`` is the number of equally heavy records that would be as sharp (Kish). By the
standard error above, its information is ``p^2 n``: a leaf below ``min_information_leaf`` is not made.

*Noise.* Noise, too, has a gain, and the more the smaller p is. A cut is considered only if its sides differ by more
than chance. If they do not differ, the difference ``D = O_left / W_left - O_right / W_right`` of a class has variance
``q (1 - q) (1 / n_left + 1 / n_right)``, with q the share that shows it in the node, and so

    sum over classes of  D^2 / q / (1 / n_left + 1 / n_right)  is about chi-squared, with a freedom less than classes.

Inverting would multiply differences and their errors by 1/p alike: what is tested is whether the *true* classes differ,
and it is as hard as with p^2 times the records. (For whole records of equal weight this is Pearson's test; a piece
counts as a record whose side is drawn by its shares, which errs towards caution.) As the best of many cuts is chosen,
the level is divided by the number of attributes and, on a line, by the number of its cuts. The best set of K categories
is held against the chi-squared distribution of the whole table of categories and classes, which no set can exceed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import chdtri

from glasshouse.analyst.trees.reconstruction import entropy, gini, likeliest
from glasshouse.analyst.trees.tree_axes import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.trees.tree_axes import Axis, Categories

__all__ = ["Cut", "Growth", "Node", "Pieces", "grow"]

_SAME = 1e-10  # gains that differ by less are equal: the first attribute and the first cut are taken
_DIGITS = 12  # shares that agree so far are equal
_IMPURITIES = {"entropy": entropy, "gini": gini}


@dataclass(frozen=True, eq=False)
class Pieces:
    """The rows of a table in the form that tree growing uses."""

    axes: Sequence[Axis]  # the attributes, with a cell for every row
    shown: NDArray[np.int64]  # the class that every row shows
    weight: NDArray[np.float64]  # how many people a row stands for
    # what a record weighs: a row of weight 6 is one record that stands for 6 people, or 6 records of one person each
    each: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Growth:
    """The parameters of growing; see `glasshouse.analyst.trees.classifier.PerturbedTreeClassifier`."""

    retention: float
    shares: NDArray[np.float64]
    criterion: str = "entropy"
    significance: float = 0.05
    min_information_leaf: float = 1.0
    max_depth: int | None = None


@dataclass(frozen=True, eq=False)
class Cut:
    """A cut of a node in two."""

    axis: int  # number of the attribute
    gain: float
    statistic: float  # how far beyond chance its sides differ
    edge: int = -1  # on a line: left is what lies before it
    threshold: float = np.nan  # that is, what lies up to this
    left: NDArray[np.bool_] | None = None  # of categories: those on the left
    present: NDArray[np.bool_] | None = None  # of categories: those that some piece of the node may have


@dataclass(eq=False)
class Node:
    """A box of the tree: the classes that it shows, the reconstructed classes of its records, and its cut."""

    shown: NDArray[np.float64]
    weight: float
    n: float
    distribution: NDArray[np.float64]
    depth: int
    cut: Cut | None = None
    children: tuple[int, int] | None = None
    heavier: int = field(default=0)

    @property
    def is_leaf(self) -> bool:
        """Whether it is not cut."""
        return self.cut is None


@dataclass(frozen=True, eq=False)
class _Place:
    """A node that is being looked at: its pieces, and its bounds on every axis."""

    rows: NDArray[np.int64]
    weight: NDArray[np.float64]
    bounds: tuple[Any, ...]  # (first edge, last edge) on a line; a truth value for every category


def grow(pieces: Pieces, how: Growth) -> list[Node]:
    """Grow a tree; its nodes in preorder, the root first."""
    growing = _Growing(pieces, how)
    rows = np.flatnonzero(pieces.weight > 0)
    bounds = tuple((0, len(a.at) - 1) if isinstance(a, Line) else np.ones(a.size, bool) for a in pieces.axes)
    nodes: list[Node] = []
    waiting: list[tuple[_Place, int, int]] = [(_Place(rows, pieces.weight[rows], bounds), -1, 0)]
    while waiting:
        place, parent, side = waiting.pop()
        depth = nodes[parent].depth + 1 if parent >= 0 else 0
        node = growing.node(place, depth)
        if parent >= 0:
            first = nodes[parent].children or (0, 0)
            nodes[parent].children = (len(nodes), first[1]) if side == 0 else (first[0], len(nodes))
        number = len(nodes)
        nodes.append(node)
        if node.cut is not None:
            left, right = growing.divided(place, node.cut)
            node.heavier = int(right.weight.sum() > left.weight.sum())
            waiting += [(right, number, 1), (left, number, 0)]
    return nodes


class _Growing:
    """Finds cuts and divides nodes by them."""

    def __init__(self, pieces: Pieces, how: Growth) -> None:
        self.pieces = pieces
        self.how = how
        self.impurity = _IMPURITIES[how.criterion]
        self.n_classes = len(how.shares)

    def node(self, place: _Place, depth: int) -> Node:
        """Count a node, and find its cut if it has one."""
        shown: NDArray[np.float64] = self._summed(
            np.zeros(len(place.rows), np.int64), self.pieces.shown[place.rows], place.weight, place.rows, 1
        )[0]
        shown, spread = shown[:-1], float(shown[-1])
        weight = float(shown.sum())
        distribution = likeliest(shown, self.how.retention, self.how.shares)
        node = Node(shown, weight, weight**2 / spread, distribution, depth)
        may_be_cut = self.how.max_depth is None or depth < self.how.max_depth
        if may_be_cut and distribution.max() < 1 - _SAME:
            node.cut = self._best(place, np.append(shown, spread))
        return node

    # --- finding ------------------------------------------------------------------------------------------------------

    def _best(self, place: _Place, whole: NDArray[np.float64]) -> Cut | None:
        best: Cut | None = None
        for number, axis in enumerate(self.pieces.axes):
            if isinstance(axis, Line):
                found = self._on_line(number, axis, place, whole)
            else:
                found = self._of_categories(number, axis, place, whole)
            if found is not None and (best is None or found.gain > best.gain + _SAME):
                best = found
        return best

    def _on_line(self, number: int, line: Line, place: _Place, whole: NDArray[np.float64]) -> Cut | None:
        """The best cut at an edge."""
        edges, start, stop = _edges(line, place, number)
        if len(edges) < 3:
            return None
        sums, covered = self._sections(line.at[edges], start, stop, place)
        # before the first edge after covered space, and then not again until more is covered
        tried = np.flatnonzero(covered[:-1]) + 1
        before = np.cumsum(sums, axis=0)[tried - 1]
        gains, statistics = self._judged(before, whole)
        level = self.how.significance / (len(self.pieces.axes) * max(len(tried), 1))
        chosen = self._chosen(gains, statistics, level, freedoms=self.n_classes - 1)
        if chosen is None:
            return None
        at = int(tried[chosen])
        following = at if covered[at] else at + 1
        threshold = line.threshold(int(edges[at]), int(edges[following]))
        return Cut(number, float(gains[chosen]), float(statistics[chosen]), edge=int(edges[at]), threshold=threshold)

    def _sections(
        self, at: NDArray[np.float64], start: NDArray[np.int64], stop: NDArray[np.int64], place: _Place
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """What the pieces in each section sum up to (classes, then V), and which sections some piece covers."""
        n_sections, shown = len(at) - 1, self.pieces.shown[place.rows]
        within = stop == start + 1
        sums = self._summed(start[within], shown[within], place.weight[within], place.rows[within], n_sections)
        steps = np.bincount(start, minlength=n_sections + 1) - np.bincount(stop, minlength=n_sections + 1)
        covered = np.cumsum(steps)[:-1] > 0
        across = ~within
        if across.any():
            width = at[stop[across]] - at[start[across]]
            density = np.divide(place.weight[across], width, out=np.zeros(len(width)), where=width > 0)
            rows = place.rows[across]
            rising = self._summed(start[across], shown[across], density, rows, n_sections + 1)
            falling = self._summed(stop[across], shown[across], density, rows, n_sections + 1)
            reach = np.bincount(start[across], minlength=n_sections + 1)
            reach = np.cumsum(reach - np.bincount(stop[across], minlength=n_sections + 1))[:-1]
            widths = np.where(reach > 0, at[1:], 0.0) - np.where(reach > 0, at[:-1], 0.0)
            densities = np.maximum(np.cumsum(rising - falling, axis=0)[:-1], 0.0)
            sums += densities * widths[:, np.newaxis]
        return sums, covered

    def _of_categories(self, number: int, axis: Categories, place: _Place, whole: NDArray[np.float64]) -> Cut | None:
        """The best set of categories, of those that begin an order by the share of a class."""
        cells, code = np.unique(axis.cell[place.rows], return_inverse=True)
        members = axis.members[cells] & place.bounds[number]
        in_cell = self._summed(code, self.pieces.shown[place.rows], place.weight, place.rows, len(cells))
        in_category = members.T.astype(np.float64) @ (in_cell / members.sum(axis=1, keepdims=True))
        present = members.any(axis=0)
        codes = np.flatnonzero(present)
        if len(codes) < 2:
            return None
        sums = in_category[codes]
        weight = sums[:, :-1].sum(axis=1)
        orders = [
            np.argsort(-sums[:, c] / weight, kind="stable") for c in range(1 if self.n_classes == 2 else self.n_classes)
        ]
        before = np.concatenate([np.cumsum(sums[order], axis=0)[:-1] for order in orders])
        gains, statistics = self._judged(before, whole)
        level = self.how.significance / len(self.pieces.axes)
        freedoms = (len(codes) - 1) * (self.n_classes - 1)
        chosen = self._chosen(gains, statistics, level, freedoms=freedoms)
        if chosen is None:
            return None
        order, last = divmod(chosen, len(codes) - 1)
        left = np.zeros(axis.size, bool)
        left[codes[orders[order][: last + 1]]] = True
        return Cut(number, float(gains[chosen]), float(statistics[chosen]), left=left, present=present)

    def _summed(
        self,
        places: NDArray[Any],
        shown: NDArray[np.int64],
        weight: NDArray[np.float64],
        rows: NDArray[np.int64],
        size: int,
    ) -> NDArray[np.float64]:
        """Sums by place: a column for each class, and one for V."""
        n = self.n_classes
        found = np.empty((size, n + 1))
        found[:, :n] = np.bincount(places * n + shown, weights=weight, minlength=size * n).reshape(size, n)
        found[:, n] = np.bincount(places, weights=weight * self.pieces.each[rows], minlength=size)
        return found

    def _judged(
        self, before: NDArray[np.float64], whole: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The gain and the statistic of every cut, by its left side; a gain of -infinity if a side has too few data."""
        p, shares = self.how.retention, self.how.shares
        sides = np.stack([before, np.maximum(whole - before, 0.0)])  # sides x cuts x (classes, V)
        shown, spread = sides[..., :-1], sides[..., -1]
        weight = shown.sum(axis=-1)
        n = np.divide(weight**2, spread, out=np.zeros_like(weight), where=spread > 0)
        enough = (p**2 * n >= self.how.min_information_leaf * (1 - _SAME)).all(axis=0) & (weight > 0).all(axis=0)
        gains, statistics = np.full(len(before), -np.inf), np.zeros(len(before))
        if not enough.any():
            return gains, statistics
        shown, weight, n = shown[:, enough], weight[:, enough], n[:, enough]
        total = whole[:-1].sum()
        mixed = (weight * self.impurity(likeliest(shown, p, shares))).sum(axis=0) / total
        gains[enough] = self.impurity(likeliest(whole[:-1], p, shares)) - mixed
        observed = np.divide(shown, weight[..., np.newaxis])
        q = whole[:-1] / total
        squares = np.divide((observed[0] - observed[1]) ** 2, q, out=np.zeros_like(observed[0]), where=q > 0)
        statistics[enough] = squares.sum(axis=-1) / (1 / n).sum(axis=0)
        return gains, statistics

    def _chosen(
        self, gains: NDArray[np.float64], statistics: NDArray[np.float64], level: float, *, freedoms: int
    ) -> int | None:
        """The first cut of the largest gain, of those that differ by more than chance."""
        if self.how.significance < 1 and len(gains):
            gains = np.where(statistics >= chdtri(max(freedoms, 1), level), gains, -np.inf)
        if not len(gains) or gains.max() < -_SAME:
            return None
        return int(np.argmax(gains >= gains.max() - _SAME))

    # --- dividing -----------------------------------------------------------------------------------------------------

    def divided(self, place: _Place, cut: Cut) -> tuple[_Place, _Place]:
        """The two sides of a cut, each with its pieces."""
        axis = self.pieces.axes[cut.axis]
        bound = place.bounds[cut.axis]
        if isinstance(axis, Line):
            start = np.maximum(axis.start[place.rows], bound[0])
            stop = np.minimum(axis.stop[place.rows], bound[1])
            share = np.where(stop <= cut.edge, 1.0, 0.0)
            across = (start < cut.edge) & (cut.edge < stop)
            low, high = axis.at[start[across]], axis.at[stop[across]]
            share[across] = (axis.at[cut.edge] - low) / (high - low)
            bounds: tuple[Any, Any] = (bound[0], cut.edge), (cut.edge, bound[1])
        else:
            assert cut.left is not None
            cells, code = np.unique(axis.cell[place.rows], return_inverse=True)
            members = axis.members[cells] & bound
            share = ((members & cut.left).sum(axis=1) / members.sum(axis=1))[code]
            bounds = bound & cut.left, bound & ~cut.left
        sides = []
        for part, own in zip((share, 1 - share), bounds, strict=True):
            kept = part > 0
            around = (*place.bounds[: cut.axis], own, *place.bounds[cut.axis + 1 :])
            sides.append(_Place(place.rows[kept], place.weight[kept] * part[kept], around))
        return sides[0], sides[1]


def _edges(line: Line, place: _Place, number: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The edges at which pieces of a node begin or end, and between which of these each lies."""
    first, last = place.bounds[number]
    start = np.maximum(line.start[place.rows], first)
    stop = np.minimum(line.stop[place.rows], last)
    if len(line.at) > 4 * len(start):  # a small node on a long line: sort its own edges
        edges, found = np.unique(np.concatenate([start, stop]), return_inverse=True)
        return edges.astype(np.int64), found[: len(start)].astype(np.int64), found[len(start) :].astype(np.int64)
    present = np.zeros(len(line.at), bool)
    present[start] = present[stop] = True
    rank = np.cumsum(present) - 1
    return np.flatnonzero(present), rank[start], rank[stop]
