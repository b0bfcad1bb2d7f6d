# SPDX-License-Identifier: Apache-2.0
"""Opt-Gen: the l-diverse global recoding of least discernibility, exactly; an optimum that gives people away.

Xiao, Tao, Koudas, "Transparent Anonymization: Thwarting Adversaries Who Know the Algorithm", ACM TODS 35(2), 2010
(TRANSPARENT): Figure 2, Examples 2 and 3, Lemma 1. How we read what the paper leaves open:

* *Global recoding.* The paper asks that records with equal quasi-identifiers share a group. Taken alone this allows
  boxes that overlap, and then {Ann, Cate, Don}, {Bob, Ed}, {Fred, Gill, Hera} is 2-diverse and costs 22, less than the
  24 of Table III, which Example 2 calls the optimum. A recoding of the *domain* sends every place to one box, so here
  no two boxes share a place, and Example 2 is right as printed.
* *Ties.* Figure 2 selects "the one" that is cheapest. Of several we take the first: number the distinct combinations of
  quasi-identifiers in ascending order, write a group as the list of its numbers and a partition as the list of its
  groups, both sorted, and compare lists item by item. This sees neither the order of rows nor identifiers nor who has
  which sensitive value.
* *No partition* (line 2) is `Infeasible`: a table that is not l-diverse as a whole has none, any other has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse.errors import NotSupported
from glasshouse.grouping.method import Method, frequency_ell, linking_claim
from glasshouse.microdata.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Claim, Requirement
    from glasshouse.randomness import Source

__all__ = ["OptGen"]


@dataclass(frozen=True, kw_only=True, slots=True)
class OptGen(Method):
    """Of all l-diverse partitions into boxes that do not overlap, take the one with the least sum of squared sizes.

    ``sum(|G| ** 2)`` is the discernibility of a partition (TRANSPARENT Figure 2, line 3). A box is an interval of codes
    on every attribute: of values where they have an order, of taxonomy leaves, else of names in alphabetic order.

    It is these boxes that do not overlap; nor do the intervals and sets of values that `glasshouse.Boxes` publishes.
    With `glasshouse.Taxonomies` a group shows the lowest node above its box, which covers the box and perhaps more: the
    nodes of two groups may overlap, one may lie inside the other, and if they are the same on every attribute the two
    groups are published as one, which is l-diverse as both are. What is published is then no global recoding, and may
    have a higher discernibility than the partition. Equal quasi-identifiers still show equal nodes.

    Guarantee
    ---------
    Every group is l-diverse, so a *linking* attacker, who knows the quasi-identifiers, gives no sensitive value of a
    person a probability above ``1 / ell``. Against an attacker who also knows this algorithm nothing is guaranteed:
    this attacker keeps only the possible tables (worlds) whose optimum is the release. In Example 2 all of them give Ed
    gastritis (probability 1), where credibility, which counts worlds of which the release is *minimal*, says 1/4
    (Example 3). The method is included only to show this.

    Cost
    ----
    Exponential in the number of distinct combinations of quasi-identifiers, however many records share them; tables
    with more than `MOST_POINTS` are refused. At the limit, random tables take well under a second with up to four
    attributes; the slowest we found, with twelve attributes, took six.

    Examples
    --------
    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.transparent_t1()
    >>> groups = OptGen().divide(table, Requirement.of(LDiversity(ell=2), table))
    >>> groups.labels.tolist()  # Ann, Bob | Cate, Don | Ed, Fred, Gill, Hera: Table III
    [0, 0, 1, 1, 2, 2, 2, 2]

    No leaf is in two of these four groups, but the node of the two in the middle lies above all leaves.

    >>> import glasshouse as gh
    >>> tree = gh.Taxonomy.from_nested({"any": {"A": ["a1", "a2"], "B": ["b1", "b2"], "C": ["c1", "c2"]}})
    >>> leaves = ["a1", "a1", "a2", "b1", "b2", "c1", "c2", "c2"]
    >>> table = gh.read({"q": leaves, "s": list("xyxyxyxy")}, quasi=["q"], sensitive="s", taxonomies={"q": tree})
    >>> groups = OptGen().divide(table, Requirement.of(LDiversity(ell=2), table))
    >>> groups.labels.tolist(), gh.Taxonomies().recode(table, groups)["data"]["q"].to_pylist()
    ([0, 0, 1, 1, 2, 2, 3, 3], ['any', 'any', 'any', 'any', 'a1', 'a1', 'c2', 'c2'])
    """

    name: ClassVar[str] = "opt-gen"
    in_words: ClassVar[str] = (
        "Of all safe divisions into boxes that do not overlap, the one with the smallest groups is taken."
    )

    MOST_POINTS: ClassVar[int] = 16
    """Distinct combinations of quasi-identifiers in the largest table that is not refused."""

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups guarantee, against which attacker, and why."""
        frequency_ell(requirement, "Opt-Gen")
        return linking_claim(
            "an attacker who knows that Opt-Gen was used can learn values with certainty: the attacker keeps only "
            "the tables for which this release would be the best one (reverse engineering attack; see Example 2 of "
            "TRANSPARENT)"
        )

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide ``table`` into the cheapest groups that satisfy ``requirement``; not random, and on one thread."""
        ell, column = frequency_ell(requirement, "Opt-Gen")
        requirement.check_eligible()
        point_of, codes = self._points(table)
        histograms = np.zeros((len(codes), column.domain.size), np.int64)
        np.add.at(histograms, (point_of, column.codes), 1)
        groups = cheapest_partition(Points(codes, histograms, ell))
        label = np.empty(len(codes), np.int32)
        for group, points in enumerate(groups):
            label[list(members(points))] = group
        return Groups(label[point_of], len(groups))

    def _points(self, table: Microdata) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Number the distinct combinations of codes in ascending order: each record's number, each number's codes."""
        point_of = np.zeros(table.n_tuples, np.int64)
        for column in table.quasi:
            keys = point_of * column.domain.size + column.codes
            _, first, point_of = np.unique(keys, return_index=True, return_inverse=True)
            if len(first) > self.MOST_POINTS:  # one more attribute can only add to them
                raise NotSupported(
                    f"Opt-Gen does not support more than {self.MOST_POINTS} different combinations of "
                    "quasi-identifiers",
                    instead="use the method 'mirror', which takes tables of any size and protects also against an "
                    "attacker who knows the method, or make the quasi-identifiers coarser",
                )
        return point_of, np.stack([column.codes[first] for column in table.quasi], axis=1)


def members(points: int) -> Iterator[int]:
    """The numbers of the points in a set, ascending; bit ``i`` stands for point ``i``."""
    while points:
        lowest = points & -points
        yield lowest.bit_length() - 1
        points ^= lowest


@dataclass(frozen=True, slots=True, order=True)
class Candidate:
    """A group that a partition might have: all points in a box."""

    size: int
    points: int
    low: tuple[int, ...]
    high: tuple[int, ...]


class Points:
    """The distinct combinations of quasi-identifiers, in ascending order, and the people at each.

    Parameters
    ----------
    codes
        Points x attributes.
    histograms
        Points x sensitive values: how many records.
    ell
        At most one record in ``ell`` of a group may have the same value.
    """

    def __init__(self, codes: NDArray[np.int32], histograms: NDArray[np.int64], ell: int) -> None:
        self.ell = ell
        self.weights: list[int] = histograms.sum(axis=1).tolist()
        self.whole = (1 << len(codes)) - 1
        ranks = [np.unique(axis, return_inverse=True)[1] for axis in codes.T]
        self.ranks: list[tuple[int, ...]] = list(map(tuple, np.stack(ranks, axis=1).tolist()))
        # below[dim][rank]: the points whose rank is less
        self.below = [[_bits(axis < rank) for rank in range(int(axis.max()) + 2)] for axis in ranks]
        # A histogram is one integer, a field per value, so that adding two adds all counts. The top bit of a field is
        # out of reach for counts: it shows a carry when a count exceeds a cap.
        field = sum(self.weights).bit_length() + 1
        self._histograms = [sum(n << field * value for value, n in enumerate(row)) for row in histograms.tolist()]
        self._ones = sum(1 << field * value for value in range(histograms.shape[1]))
        self._top = 1 << field - 1
        self._safe: dict[int, bool] = {}

    def size(self, points: int) -> int:
        """The number of records at these points."""
        return sum(self.weights[p] for p in members(points))

    def safe(self, points: int) -> bool:
        """Whether these points make an l-diverse group."""
        known = self._safe.get(points)
        if known is None:
            counts = sum(self._histograms[p] for p in members(points))
            cap = self.size(points) // self.ell
            carries = counts + self._ones * (self._top - 1 - cap) & self._ones * self._top
            known = self._safe[points] = not carries
        return known

    def inside(self, low: Sequence[int], high: Sequence[int]) -> int:
        """All points in a box."""
        points = self.whole
        for below, first, last in zip(self.below, low, high, strict=True):
            points &= below[last + 1] & ~below[first]
        return points

    def safe_cuts(self, points: int) -> Iterator[tuple[int, int]]:
        """The ways to cut between two values of an attribute that leave two safe parts."""
        for below in self.below:
            for left in map(points.__and__, below):
                if left and left != points and self.safe(left) and self.safe(points ^ left):
                    yield left, points ^ left

    def cut_down(self, points: int) -> list[int]:
        """A good partition, by cutting off the smallest safe part as long as there is one."""
        cuts = min(self.safe_cuts(points), key=lambda parts: min(map(self.size, parts)), default=None)
        return [points] if cuts is None else [group for part in cuts for group in self.cut_down(part)]

    def candidates(self, limit: int) -> list[Candidate]:
        """Every group, by size, of all partitions that cost at most ``limit`` and are not worse than another one.

        The groups of a partition without overlaps are all points of their boxes. One that a cut divides into safe parts
        is in no optimum: the parts lie in its box, and their squares are less. Boxes are grown point by point, in order
        of size. A record pays the size of its group, so everybody with ``p`` in the group pays at least the size of the
        first safe box that reached ``p`` (or the present size, if none has), and a safe group that contains a box of
        size ``s`` makes each record of that box pay ``s``: more than ``limit`` in all, and the box is grown no further.
        """
        boxes = [Candidate(weight, 1 << p, self.ranks[p], self.ranks[p]) for p, weight in enumerate(self.weights)]
        heapify(boxes)
        seen = {box.points for box in boxes}
        least: dict[int, int] = {}  # what a tuple of a point pays at least
        found = []
        while boxes:
            box = heappop(boxes)
            if self._cost_with(box, least) > limit:
                continue
            if self.safe(box.points):
                for p in members(box.points):
                    least.setdefault(p, box.size)
                if next(self.safe_cuts(box.points), None) is None:
                    found.append(box)
            for p in members(self.whole & ~box.points):
                if box.points | 1 << p in seen:  # it fills its box already: nothing to compute
                    continue
                low = tuple(map(min, box.low, self.ranks[p]))
                high = tuple(map(max, box.high, self.ranks[p]))
                points = self.inside(low, high)
                if points not in seen:
                    seen.add(points)
                    heappush(boxes, Candidate(self.size(points), points, low, high))
        return [box for box in found if self._cost_with(box, least) <= limit]

    def _cost_with(self, box: Candidate, least: dict[int, int]) -> int:
        """A lower bound on the cost of a partition with a group that contains this box."""
        return sum(
            weight * (box.size if box.points >> p & 1 else least.get(p, box.size))
            for p, weight in enumerate(self.weights)
        )


class Cover:
    """Ways to choose candidates that cover every point once, with boxes that do not overlap.

    Sets of candidates are integers too: bit ``i`` stands for candidate ``i``, and candidates are sorted by size.
    """

    def __init__(self, points: Points, candidates: Sequence[Candidate]) -> None:
        self.points = points
        self.candidates = candidates
        self.all = (1 << len(candidates)) - 1
        self.holding = [
            _bits(np.array([box.points >> p & 1 for box in candidates], bool)) for p in range(len(points.weights))
        ]
        self._low = np.array([box.low for box in candidates])  # candidates x attributes
        self._high = np.array([box.high for box in candidates])
        self._apart: dict[int, int] = {}

    def apart(self, i: int) -> int:
        """The candidates whose boxes are disjoint from that of candidate ``i``."""
        if i not in self._apart:
            self._apart[i] = _bits(((self._low > self._high[i]) | (self._high < self._low[i])).any(axis=1))
        return self._apart[i]

    def least(self, available: int, uncovered: int, limit: int, *, enough: int) -> int | None:
        """The least cost of covering these points by these candidates; None if it is above ``limit``.

        Branches over the candidates of the point that has the fewest. Stops at a cost of ``enough`` or less, even if
        there is a lower one.
        """
        best = limit + 1

        def visit(available: int, uncovered: int, spent: int) -> None:
            nonlocal best
            if not uncovered:
                best = min(best, spent)
                return
            choice = self._fewest(available, uncovered, best - spent)
            for i in members(choice):
                if best > enough:
                    box = self.candidates[i]
                    visit(available & self.apart(i), uncovered & ~box.points, spent + box.size**2)

        visit(available, uncovered, 0)
        return best if best <= limit else None

    def _fewest(self, available: int, uncovered: int, below: int) -> int:
        """The candidates of the point that has the fewest; none if these points cannot be covered for less than this.

        Two bounds. A record pays the size of its group, at least that of the smallest candidate of its point. And it
        has a share of 1 / size in the number of groups: there are at most so many, and even sizes are the cheapest.
        """
        choice, fewest = 0, len(self.candidates) + 1
        tuples = bound = shares = 0
        for p in members(uncovered):
            mine = available & self.holding[p]
            if not mine:
                return 0
            weight, size = self.points.weights[p], self.candidates[(mine & -mine).bit_length() - 1].size
            tuples += weight
            bound += weight * size
            shares += -(-weight * _UNIT // size)
            count = mine.bit_count()
            if count < fewest:
                choice, fewest = mine, count
        hopeless = bound >= below or even_squares(tuples, shares // _UNIT) >= below
        return 0 if hopeless or not self.points.safe(uncovered) else choice

    def first(self, available: int, uncovered: int, cost: int) -> list[int]:
        """The first covering of exactly this least cost, groups and points being compared as sorted lists."""
        if not uncovered:
            return []
        lowest = next(members(uncovered))
        choices = sorted(members(available & self.holding[lowest]), key=lambda i: list(members(self._points_of(i))))
        for i in choices:
            box = self.candidates[i]
            rest = available & self.apart(i), uncovered & ~box.points, cost - box.size**2
            if self.least(*rest, enough=rest[-1]) is not None:
                return [box.points, *self.first(*rest)]
        raise AssertionError("a least cost that no covering has")

    def _points_of(self, i: int) -> int:
        return self.candidates[i].points


_UNIT = 1 << 40  # shares are counted in this part of a group and rounded up, so that the bound stays a bound


def even_squares(n_tuples: int, n_groups: int) -> int:
    """The least sum of squares of so many sizes with this total.

    >>> even_squares(8, 3)  # 3, 3, 2
    22
    """
    size, larger = divmod(n_tuples, n_groups)
    return n_groups * size**2 + larger * (2 * size + 1)


def cheapest_partition(points: Points) -> list[int]:
    """The first of the cheapest partitions, as sets of points; the whole must be safe.

    Few groups fit into a cheap partition, so we look for one that is close to the lower bound, and step by step further
    away, up to the cost of a partition that we have.
    """
    tuples = sum(points.weights)
    low = even_squares(tuples, tuples // points.ell)  # no safe group is smaller than ell
    high = sum(points.size(group) ** 2 for group in points.cut_down(points.whole))
    for share in (8, 2, 1):
        limit = low + (high - low) // share
        cover = Cover(points, points.candidates(limit))
        cost = cover.least(cover.all, points.whole, limit, enough=low)
        if cost is not None:
            return cover.first(cover.all, points.whole, cost)
    raise AssertionError("a partition that is no partition")


def _bits(flags: NDArray[np.bool_]) -> int:
    """A set as an integer: bit ``i`` is flag ``i``."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
