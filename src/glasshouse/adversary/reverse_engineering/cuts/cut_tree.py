# SPDX-License-Identifier: Apache-2.0
"""The tree of decisions of a dividing algorithm, rebuilt from what is public: which cuts were tried and not made.

Such an algorithm tries cuts in an order that quasi-identifiers alone decide, and makes the first whose parts are both
safe. An attacker who knows everybody's quasi-identifiers and the published groups sees which cut was made: the first
that has no group on both sides, for its parts are then unions of safe groups, and a union of safe groups is safe. Every
cut that was tried before it failed (MINIMALITY 2.4, Appendix C). So the tree is rebuilt level by level, as the
algorithm built it, with "parts no group" in place of "both parts are safe".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.knowledge import key_of
from glasshouse.adversary.posterior import entries_of
from glasshouse.adversary.reverse_engineering.cuts.cut_failures import FailedCuts
from glasshouse.adversary.reverse_engineering.strategies import SMALL, reversing
from glasshouse.engines import Cuts, Memory, Nodes, Rows
from glasshouse.errors import InputError, NotSupported
from glasshouse.grouping.along_order.orderings import arranged
from glasshouse.grouping.along_order.symmetric import Symmetric
from glasshouse.grouping.cuts.even_split import EvenSplit
from glasshouse.grouping.cuts.mondrian import Mondrian, widest_first
from glasshouse.grouping.perimeter import weighted_places
from glasshouse.microdata.groups import tie_order
from glasshouse.plural import counted
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from glasshouse.adversary.matching import Matches
    from glasshouse.adversary.task import Task
    from glasshouse.microdata import Microdata
    from glasshouse.release.contents import Seats

__all__ = ["METHODS", "Caps", "DecisionTree", "TriedCuts", "tells_ties"]

METHODS = (Mondrian, EvenSplit, Symmetric)
"""The methods that divide by cuts."""


def tells_ties(task: Task) -> bool:
    """Whether an order of people with equal quasi-identifiers, which nobody knows, may decide who is in which group."""
    return task.secret_ties and task.method != Mondrian(partitioning="strict")


@dataclass(frozen=True, eq=False)
class Caps:
    """When a part breaks the principle: it is too small, or too large a share of it has some value."""

    least: int
    numerators: NDArray[np.int64]
    denominators: NDArray[np.int64]

    @classmethod
    def of(cls, task: Task) -> Caps:
        """The caps of the task's principle; refused where it has none."""
        principle, published = task.principle, task.contents
        if principle is None:
            raise NotSupported(f"{reversing(task)} does not support several sensitive columns", instead=SMALL)
        terms = principle.terms
        if terms.one_in is not None and not terms.named:
            terms = replace(terms, one_in=terms.one_in + getattr(task.method, "extra", 0))
        if terms.caps is None:
            one = next(one for one in principle.singles() if one.terms.caps is None)
            raise NotSupported(
                f"{reversing(task)} does not support {one.title}, which sets no largest share of a value",
                instead=SMALL,
            )
        shares = [Fraction(1)] * len(published.values)
        for cap in terms.caps:
            capped = None if cap.values is None else set(map(key_of, cap.values))
            for i, value in enumerate(published.values):
                if capped is None or key_of(value) in capped:
                    shares[i] = min(shares[i], cap.share)
        least = max([1, *(cap.least for cap in terms.caps)])
        parts = [(share.numerator, share.denominator) for share in shares]
        numerators, denominators = np.array(parts, np.int64).reshape(-1, 2).T
        return cls(least, numerators.copy(), denominators.copy())

    def hopeless(self, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which parts break the principle by their size alone, for any values of their people."""
        distinct, place = np.unique(sizes, return_inverse=True)
        broken = [
            size < self.least or int((size * self.numerators // self.denominators).sum()) < size
            for size in distinct.tolist()
        ]
        return np.array(broken, bool)[place.reshape(-1)] if len(sizes) else np.zeros(0, bool)

    def smallest(self, most: int) -> int:
        """The least number of records of a safe part; one more than ``most`` if no part of up to so many is safe."""
        for size in range(self.least, most + 1):
            if not self.hopeless(np.array([size]))[0]:
                return size
        return most + 1


@dataclass(frozen=True, kw_only=True, eq=False)
class TriedCuts(FailedCuts):
    """The cuts that must have been tried and not made; ``dims``, ``low``, ``high``: between which codes each lay."""

    dims: NDArray[np.int64]
    low: NDArray[np.int32]
    high: NDArray[np.int32]


class _Laid(Rows):
    """The people, arranged for cutting, so that the sides of a cut can be read off."""

    def sides(self, nodes: Nodes, cuts: Cuts) -> NDArray[np.int32]:
        """The people of both parts of every cut, the left ones before the right ones."""
        people = np.empty(int(nodes.sizes.sum()), np.int32)
        self._kernels.gather_sides(self.index, nodes.starts, nodes.stops, cuts.left, self._is_left, people)
        return people


class _ByAttribute:
    """Mondrian and even splits: cuts on attributes, the widest first."""

    def __init__(self, people: Microdata, *, strict: bool, even: bool, secret: bool) -> None:
        self.strict, self.even = strict, even
        order = None if self.strict or secret else tie_order(people, Source.secure())
        self.rows = _Laid(people, (), order)
        self.whole, self.sides, self.split = self.rows.whole, self.rows.sides, self.rows.split
        self.places = weighted_places(people)
        self.attempts = 1 if self.even else len(people.quasi)

    def tries(self, nodes: Nodes) -> Iterator[Callable[[NDArray[np.intp]], tuple[NDArray[np.intp], Cuts]]]:
        """For every attempt a function of the nodes that are still whole: those that are tried, with their cuts."""
        low, high = self.rows.extents(nodes)
        by_width = widest_first(low, high, self.places)
        for attempt in range(self.attempts):

            def cut(whole: NDArray[np.intp], attempt: int = attempt) -> tuple[NDArray[np.intp], Cuts]:
                dims = by_width[whole, attempt]
                tried = whole if self.even else whole[high[whole, dims] > low[whole, dims]]
                find = self.rows.median_cuts if self.strict else self.rows.half_cuts
                return tried, find(nodes[tried], by_width[tried, attempt])

            yield cut

    def people(self, nodes: Nodes) -> NDArray[np.int32]:
        return np.asarray(self.rows.index[_places(nodes)])


class _AlongOrder:
    """Symmetric Grouping: halves along one order."""

    def __init__(self, people: Microdata, method: Symmetric, *, secret: bool) -> None:
        # a secret order among people with equal values may be any: they are alike
        source = Source.seeded(0) if secret else Source.secure()
        self.order = arranged(people, method.ordering, method.priority, source, Memory(threads=1))

    def whole(self) -> Nodes:
        return Nodes(np.array([0]), np.array([len(self.order)]))

    def tries(self, nodes: Nodes) -> Iterator[Callable[[NDArray[np.intp]], tuple[NDArray[np.intp], Cuts]]]:
        def cut(whole: NDArray[np.intp]) -> tuple[NDArray[np.intp], Cuts]:
            tried = whole[nodes.sizes[whole] > 1]
            return tried, Cuts(np.full(len(tried), -1), (nodes.sizes[tried] + 1) // 2)

        yield cut

    def people(self, nodes: Nodes) -> NDArray[np.int32]:
        return np.asarray(self.order[_places(nodes)])

    def sides(self, nodes: Nodes, cuts: Cuts) -> NDArray[np.int32]:
        return self.people(nodes)

    def split(self, nodes: Nodes, cuts: Cuts) -> Nodes:
        middle = nodes.starts + cuts.left
        return Nodes(np.stack([nodes.starts, middle], axis=1).ravel(), np.stack([middle, nodes.stops], axis=1).ravel())


class DecisionTree:
    """Rebuilds the decisions of an algorithm from what is public."""

    def __init__(self, task: Task) -> None:
        self.task, self.caps = task, Caps.of(task)
        self.people, self.published = task.people, task.contents
        self.secret = task.secret_ties
        self.strict = task.method == Mondrian(partitioning="strict")
        self.dividing: _ByAttribute | _AlongOrder
        self.order: NDArray[np.int32] | None = None
        if type(task.method) is Symmetric:
            self.dividing = _AlongOrder(task.people, task.made_by(Symmetric), secret=self.secret)
            self.order = self.dividing.order
        else:
            even = type(task.method) is EvenSplit
            self.dividing = _ByAttribute(task.people, strict=self.strict, even=even, secret=self.secret)
        self.who, self.label = self._candidates()

    def rebuilt(self) -> TriedCuts:
        """Follow the algorithm down its tree, and collect the cuts that failed and may reveal something."""
        nodes = self.dividing.whole()
        group = np.full(self.people.n_tuples, -1, np.int32)
        failed: list[tuple[Any, ...]] = []
        while len(nodes):
            whole = np.arange(len(nodes))
            parts = []
            for cut in self.dividing.tries(nodes):
                tried, cuts = cut(whole)
                tried, cuts = tried[cuts.possible], cuts[cuts.possible]
                if not len(tried):
                    continue
                people = self.dividing.sides(nodes[tried], cuts)
                made = self._made(nodes[tried], cuts, people)
                failed.append(self._failure(nodes[tried], cuts, people, ~made))
                if made.any():
                    parts.append(self.dividing.split(nodes[tried[made]], cuts[made]))
                whole = np.setdiff1d(whole, tried[made], assume_unique=True)
            self._seat(nodes[whole], group)
            nodes = Nodes.join(parts)
        return self._joined(group, failed)

    def _candidates(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of a person and a group where the person may be."""
        published, kinds = self.published, self.task.kinds
        names = {column.name for column in self.people.quasi}
        seats = [seats for seats in published.seats if set(seats.quasi) == names]
        if len(seats) != 1 or len(published.seats) != 1:
            raise _unknown_seats("the release shows quasi-identifiers in several tables")
        matches = self.task.fits(seats[0])
        if len(matches.unmatched):
            lost = int(kinds.n_alike[matches.unmatched].sum())
            raise NotSupported(
                f"{reversing(self.task)} needs exactly the people of the published table, and "
                f"{counted(lost, 'person in the external table fits', 'people in the external table fit')} no "
                "published record",
                instead="give an external table with exactly the people of the published table, or use linking",
            )
        keys = np.unique(matches.of_match * published.n_groups + seats[0].group[matches.seats])
        of_kind, label = keys // published.n_groups, keys % published.n_groups
        if published.kind in ("anatomy", "permutation", "angel") and self.order is not None:
            ordered = self._along_order(seats[0], matches, self.order)
            if ordered is not None:
                return np.arange(self.people.n_tuples), ordered
        who, entries = entries_of(np.searchsorted(of_kind, np.arange(kinds.n_kinds + 1)), kinds.of_person)
        return who, label[entries]

    def _along_order(self, seats: Seats, matches: Matches, order: NDArray[np.int32]) -> NDArray[np.int64] | None:
        """Order groups of exact values along the order: each is a run, from its first to its last kind of people."""
        if (np.diff(matches.offsets) == 0).any():
            return None
        kinds, of_kind = self.task.kinds, matches.of_match
        rank = np.empty(kinds.n_kinds, np.int64)  # of every kind along the order
        by_place = kinds.of_person[order]
        firsts = np.flatnonzero(np.diff(by_place, prepend=-1))
        if len(firsts) != kinds.n_kinds:
            return None
        rank[by_place[firsts]] = np.arange(len(firsts))
        n_groups = self.published.n_groups
        group = seats.group[matches.seats]
        first, last = np.full(n_groups, len(firsts)), np.full(n_groups, -1)
        np.minimum.at(first, group, rank[of_kind])
        np.maximum.at(last, group, rank[of_kind])
        row = np.lexsort((last, first))
        same = (np.diff(first[row]) == 0) & (np.diff(last[row]) == 0)
        if same.any() and not self.secret:
            raise _unknown_seats("several groups contain only people with the same quasi-identifiers")
        labels = np.empty(self.people.n_tuples, np.int64)
        labels[order] = np.repeat(row, self.published.sizes[row])
        return labels

    def _made(self, nodes: Nodes, cuts: Cuts, people: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which cuts were made: those without a group on both sides; refused where that cannot be decided."""
        n_groups, sizes = self.published.n_groups, self.published.sizes
        starts = np.append(0, np.cumsum(nodes.sizes))
        node = np.full(self.people.n_tuples, -1)
        node[people] = np.repeat(np.arange(len(nodes)), nodes.sizes)
        side = np.zeros(self.people.n_tuples, np.int8)
        side[people] = np.arange(len(people)) >= np.repeat(starts[:-1] + cuts.left, nodes.sizes)
        if self.secret and self.order is None and not self.strict:
            self._refuse_secret(nodes, cuts, people, node)

        mine = node[self.who] >= 0
        who, label = self.who[mine], self.label[mine]
        n_ways = np.bincount(self.who, minlength=self.people.n_tuples)
        may = np.stack([np.bincount(label[side[who] == s], minlength=n_groups) for s in (0, 1)], axis=1)
        sure = n_ways[who] == 1
        must = np.stack([np.bincount(label[sure & (side[who] == s)], minlength=n_groups) > 0 for s in (0, 1)], axis=1)
        must |= may[:, ::-1] < sizes[:, np.newaxis]
        here = np.flatnonzero(may.sum(axis=1) > 0)
        place = np.full(n_groups, -1)
        place[label] = node[who]
        both, open_ = must[here].all(axis=1), (may[here] > 0).all(axis=1)
        parted = np.bincount(place[here][both], minlength=len(nodes)) > 0
        unsure = np.bincount(place[here][open_ & ~both], minlength=len(nodes)) > 0
        if (unsure & ~parted).any():
            raise _unknown_seats("some people fit the published cells of several groups")
        if self.published.kind == "boxes" and not self.strict and parted.any():
            self._refuse_twins(here[both], place, parted, who, label, side)
        return ~parted

    def _refuse_secret(self, nodes: Nodes, cuts: Cuts, people: NDArray[np.int32], node: NDArray[np.int64]) -> None:
        """Refuse where a secret order decided on which side of a cut different people are."""
        low, high = self._border(nodes, cuts, people)
        tied = low == high
        codes = np.stack([column.codes for column in self.people.quasi])
        of = np.repeat(np.arange(len(nodes)), nodes.sizes)
        on = tied[of] & (codes[cuts.dims[of], people] == low[of])
        kinds = self.task.kinds
        kind = kinds.of_person[people[on]]
        least, most = np.full(len(nodes), kinds.n_kinds), np.full(len(nodes), -1)
        np.minimum.at(least, of[on], kind)
        np.maximum.at(most, of[on], kind)
        if (most > least).any():
            raise NotSupported(
                "reverse engineering is not possible here, because people with equal values were put into a secret "
                "order, which decided on which side of a cut they are",
                instead="use linking; releases made with strict cuts, and releases whose publisher named an "
                "identifier, can be analysed",
            )

    def _refuse_twins(
        self,
        both: NDArray[np.int64],
        place: NDArray[np.int64],
        parted: NDArray[np.bool_],
        who: NDArray[np.int64],
        label: NDArray[np.int64],
        side: NDArray[np.int8],
    ) -> None:
        """Refuse where what looks like one group may be two with the same box, on both sides of a cut that was made."""
        sizes = self.published.sizes
        twins = sizes[both] >= 2 * self.caps.smallest(int(sizes.max(initial=0)))
        for column in self.people.quasi:
            ends = []
            for s in (0, 1):
                mine = side[who] == s
                low = np.full(self.published.n_groups, column.domain.size)
                high = np.full(self.published.n_groups, -1)
                np.minimum.at(low, label[mine], column.codes[who[mine]])
                np.maximum.at(high, label[mine], column.codes[who[mine]])
                ends.append((low[both], high[both]))
            twins &= (ends[0][0] == ends[1][0]) & (ends[0][1] == ends[1][1])
        single = np.bincount(place[both][~twins], minlength=len(parted)) > 0
        if (parted & ~single).any():
            raise _unknown_seats("two groups may show the same cells")

    def _border(
        self, nodes: Nodes, cuts: Cuts, people: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The largest code on the left of every cut, and the smallest on the right."""
        if self.order is not None:
            return np.full(len(nodes), -1, np.int32), np.full(len(nodes), -1, np.int32)
        codes = np.stack([column.codes for column in self.people.quasi])
        found = codes[np.repeat(cuts.dims, nodes.sizes), people]
        starts = np.append(0, np.cumsum(nodes.sizes))[:-1]
        ends = np.stack([starts, starts + cuts.left], axis=1).ravel()
        low: NDArray[np.int32] = np.maximum.reduceat(found, ends)[0::2]
        high: NDArray[np.int32] = np.minimum.reduceat(found, ends)[1::2]
        return low, high

    def _failure(
        self, nodes: Nodes, cuts: Cuts, people: NDArray[np.int32], failed: NDArray[np.bool_]
    ) -> tuple[Any, ...]:
        """The failed cuts of which no part was too small anyway: their people, sizes, and where they lay."""
        right = nodes.sizes - cuts.left
        telling = failed & ~self.caps.hopeless(cuts.left) & ~self.caps.hopeless(right)
        kept = people[np.repeat(telling, nodes.sizes)]
        nodes, cuts, right = nodes[telling], cuts[telling], right[telling]
        if not len(nodes):
            return (kept, kept, cuts.left, right, cuts.dims, cuts.dims, cuts.dims)
        is_left = np.arange(len(kept)) < np.repeat(np.append(0, np.cumsum(nodes.sizes))[:-1] + cuts.left, nodes.sizes)
        low, high = self._border(nodes, cuts, kept)
        return (kept[is_left], kept[~is_left], cuts.left, right, cuts.dims, low, high)

    def _seat(self, leaves: Nodes, group: NDArray[np.int32]) -> None:
        """Everybody in a leaf is in its one group."""
        if not len(leaves):
            return
        people = self.dividing.people(leaves)
        leaf = np.full(self.people.n_tuples, -1)
        leaf[people] = np.repeat(np.arange(len(leaves)), leaves.sizes)
        mine = leaf[self.who] >= 0
        who, label = self.who[mine], self.label[mine]
        fitting = np.bincount(label, minlength=self.published.n_groups)
        first = np.full(len(leaves), -1)
        first[leaf[who]] = label
        if (first[leaf[who]] != label).any():
            raise _unknown_seats("people whom the method puts into one group fit the published cells of several groups")
        if (fitting[first] != self.published.sizes[first]).any() or (leaves.sizes != self.published.sizes[first]).any():
            raise InputError(
                "the method divides these people into other groups than those of the release: check that the "
                "people, the principle, the method and its parameters are those of the release"
            )
        group[people] = first[leaf[people]]

    def _joined(self, group: NDArray[np.int32], failed: list[tuple[Any, ...]]) -> TriedCuts:
        columns = [np.concatenate([np.empty(0, np.int64), *found]) for found in zip(*failed, strict=True)]
        left, right, n_left, n_right, dims, low, high = columns or [np.empty(0, np.int64)] * 7
        left = left[np.lexsort((left, np.repeat(np.arange(len(dims)), n_left)))]
        right = right[np.lexsort((right, np.repeat(np.arange(len(dims)), n_right)))]
        published, caps = self.published, self.caps
        return TriedCuts(
            group=group,
            offsets=published.offsets,
            codes=published.codes,
            counts=published.counts,
            n_values=len(published.values),
            numerators=caps.numerators,
            denominators=caps.denominators,
            fixed=self.task.known().astype(np.int32),
            left_offsets=np.append(0, np.cumsum(n_left)).astype(np.int64),
            left=left.astype(np.int32),
            right_offsets=np.append(0, np.cumsum(n_right)).astype(np.int64),
            right=right.astype(np.int32),
            dims=dims,
            low=low.astype(np.int32),
            high=high.astype(np.int32),
        )


def _places(nodes: Nodes) -> NDArray[np.int64]:
    """All indices that belong to the nodes, one node after another."""
    before = np.append(0, np.cumsum(nodes.sizes))
    return np.repeat(nodes.starts - before[:-1], nodes.sizes) + np.arange(before[-1])


def _unknown_seats(why: str) -> NotSupported:
    return NotSupported(
        f"the release does not show who is in which group: {why}",
        instead=SMALL,
    )
