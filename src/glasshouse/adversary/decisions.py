# SPDX-License-Identifier: Apache-2.0
"""What a dividing algorithm tells by the cuts that it did not make: Mondrian, even splits and Symmetric Grouping.

Such an algorithm tries cuts in an order that quasi-identifiers alone decide, and makes the first whose parts are both
safe. Whoever knows everybody's quasi-identifiers and the published groups sees which cut was made: the first that has
no group on both sides, for its parts are then unions of safe groups, and a union of safe groups is safe. Every cut that
was tried before it failed (MINIMALITY 2.4, Appendix C). So the tree of decisions is rebuilt level by level, as the
algorithm built it, with "parts no group" in place of "both parts are safe".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.cut_chain import ISLANDS
from glasshouse.adversary.failed_cuts import MOST_DRAWS, MOST_MOVES, MOST_STATES, FailedCuts, believe
from glasshouse.adversary.knowledge import ABSENT
from glasshouse.adversary.linking import promised_limit
from glasshouse.adversary.matching import match
from glasshouse.adversary.posterior import Posterior
from glasshouse.engines import Cuts, Memory, Nodes, Rows
from glasshouse.errors import InputError, NotSupported
from glasshouse.grouping import EvenSplit, Mondrian, Symmetric
from glasshouse.grouping.mondrian import widest_first
from glasshouse.grouping.orderings import arranged
from glasshouse.grouping.perimeter import weighted_places
from glasshouse.microdata.domains import text_of
from glasshouse.microdata.groups import alike, tie_order
from glasshouse.principles import AllOf, AlphaKAnonymity, DesignatedLDiversity, KAnonymity, LDiversity
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from glasshouse.adversary.failed_cuts import CutBeliefs
    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.microdata import Groups, Microdata
    from glasshouse.published import Published
    from glasshouse.release import Release

__all__ = ["attack_decisions"]

_METHODS = (Mondrian, EvenSplit, Symmetric)
_SMALL = "take few people: small tables are attacked by trying every world"


def attack_decisions(
    release: Release,
    published: Published,
    knowledge: Knowledge,
    algorithm: tuple[Any, Any, Any],
    *,
    most_states: int = MOST_STATES,
    most_draws: int = MOST_DRAWS,
    most_moves: int = MOST_MOVES,
    error: float = 0.02,
    source: Source | None = None,
    progress: Callable[[float], None] | None = None,
) -> Posterior:
    """Compute what she believes of everybody in the table, who knows that the table was divided by cuts.

    Parameters
    ----------
    release, published, knowledge
        What was published, as it stands and as she reads it, and what she holds beside it: everybody in the table must
        be on her list, and nobody else.
    algorithm
        Principle, method (`Mondrian`, `EvenSplit` or `Symmetric`) and recoding.
    most_states
        Groups that failed cuts couple are counted exactly if that takes at most so many states, and sampled otherwise.
    most_draws
        What is sampled is drawn independently if so many worlds are enough, and else left to a Markov chain.
    most_moves
        How many moves the chains may make in all; of people whom they do not settle then, nothing is said.
    error, source
        For what is sampled: the largest error that is allowed, and where random choices come from.
    progress
        Is told the share of the work done.

    Examples
    --------
    Five people on a line; strict Mondrian gives the third away:

    >>> import warnings
    >>> import glasshouse as gh
    >>> from glasshouse.published import Published
    >>> people = {"x": [1, 2, 3, 4, 5], "y": [5, 4, 3, 2, 1]}
    >>> table = gh.read({**people, "s": list("bcaad")}, quasi=["x", "y"], sensitive="s")
    >>> steps = gh.LDiversity(ell=2), gh.Mondrian(), gh.Boxes()
    >>> with warnings.catch_warnings(action="ignore"):
    ...     release = gh.publish(table, principle=steps[0], method=steps[1], recoding=steps[2])
    >>> knowledge = gh.Knowledge(external=gh.read(people, quasi=["x", "y"]))
    >>> found = attack_decisions(release, Published.of(release), knowledge, steps)
    >>> found.of(2)["a"], found.because(found.kind[2], 0)
    (1.0, 'the cut between x 2 and 3 was not made: one of its parts would have held too many of one value')
    """
    principle, method, _ = algorithm
    if not isinstance(method, _METHODS):
        raise NotSupported(f"rebuilding the decisions of {method!r}", instead="attack a method that divides by cuts")
    caps = _Caps.of(principle, method, published)
    people, secret = _people(release, published, knowledge)
    fixed = _fixed(published, knowledge)
    found = _Tree(people, published, method, caps, secret=secret).rebuilt()
    cuts = FailedCuts(
        group=found.group,
        offsets=published.offsets,
        codes=published.codes,
        counts=published.counts,
        n_values=len(published.values),
        numerators=caps.numerators,
        denominators=caps.denominators,
        left_offsets=found.left_offsets,
        left=found.left,
        right_offsets=found.right_offsets,
        right=found.right,
        fixed=fixed,
    )
    beliefs = believe(
        cuts,
        most_states=most_states,
        most_draws=most_draws,
        most_moves=most_moves,
        error=error,
        source=source,
        progress=progress,
    )
    return _posterior(release, published, knowledge, people, method, cuts, found, beliefs, secret=secret)


# --- what she knows ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Caps:
    """When a part breaks the principle: it is too small, or too large a share of it has some value."""

    least: int
    numerators: NDArray[np.int64]
    denominators: NDArray[np.int64]

    @classmethod
    def of(cls, principle: Any, method: Any, published: Published) -> _Caps:
        if isinstance(principle, Mapping):
            if len(principle) > 1:
                raise NotSupported("failed cuts of a table with several sensitive columns", instead=_SMALL)
            (principle,) = principle.values()
        if isinstance(principle, LDiversity) and not isinstance(method, Mondrian):
            principle = replace(principle, ell=principle.ell + method.extra)
        shares = [Fraction(1)] * len(published.values)
        least = 1
        listed = [principle]
        while listed:
            one = listed.pop()
            if isinstance(one, AllOf):
                listed += one.principles
            elif isinstance(one, KAnonymity):
                least = max(least, one.k)
            elif isinstance(one, LDiversity):
                shares = [min(share, Fraction(1, one.ell)) for share in shares]
            elif isinstance(one, AlphaKAnonymity):
                least = max(least, one.k)
                shares = [min(share, one.alpha) for share in shares]
            elif isinstance(one, DesignatedLDiversity):
                designated = {None if value is None else text_of(value) for value in one.values}
                for i, value in enumerate(published.values):
                    if (None if value is None else text_of(value)) in designated:
                        shares[i] = min(shares[i], Fraction(1, one.ell))
            else:
                raise NotSupported(f"failed cuts under {one!r}, which does not cap shares of values", instead=_SMALL)
        parts = [(share.numerator, share.denominator) for share in shares]
        numerators, denominators = np.array(parts, np.int64).reshape(-1, 2).T
        return cls(least, numerators.copy(), denominators.copy())

    def hopeless(self, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which parts break the principle by their size alone, whatever the values of their people."""
        distinct, place = np.unique(sizes, return_inverse=True)
        broken = [
            size < self.least or int((size * self.numerators // self.denominators).sum()) < size
            for size in distinct.tolist()
        ]
        return np.array(broken, bool)[place.reshape(-1)] if len(sizes) else np.zeros(0, bool)

    def smallest(self, most: int) -> int:
        """How many tuples a safe part has at least; one more than ``most`` if none of up to so many is safe."""
        for size in range(self.least, most + 1):
            if not self.hopeless(np.array([size]))[0]:
                return size
        return most + 1


def _people(release: Release, published: Published, knowledge: Knowledge) -> tuple[Microdata, bool]:
    """Everybody in the table, with the quasi-identifiers in the publisher's order; and whether ties were secret."""
    if len(release.recipe.sensitive) > 1:
        raise NotSupported("failed cuts of a table with several sensitive columns", instead=_SMALL)
    external, n = knowledge.external, int(published.sizes.sum())
    if release.n_dropped:
        raise NotSupported("failed cuts of a table some of whose tuples were dropped", instead=_SMALL)
    if external.n_tuples != n:
        raise NotSupported(
            f"failed cuts of {n:,} tuples, as seen by somebody who knows of {external.n_tuples:,} people",
            instead="give exactly the people in the table, or use linking",
        )
    if knowledge.is_personal:
        raise NotSupported("failed cuts with a prior by person", instead=_SMALL)
    secret = release.guarantee.ties_are_secret or external.identifier is None
    quasi = tuple(external.column(name) for name in release.recipe.quasi)
    return replace(external, quasi=quasi, sensitive=(), identifier=None if secret else external.identifier), secret


def _fixed(published: Published, knowledge: Knowledge) -> NDArray[np.int32]:
    """The values of the people whom she has corrupted; -1 for others."""
    fixed = np.full(knowledge.external.n_tuples, -1, np.int32)
    codes = {None if value is None else text_of(value): code for code, value in enumerate(published.values)}
    for name, value in knowledge.corrupted.items():
        if value is ABSENT:
            raise NotSupported("failed cuts with somebody who is not in the table", instead="leave them off the list")
        key = None if value is None else text_of(value)
        if key not in codes:
            raise InputError(f"{name!r} is said to have {value!r}, which nobody in the release has")
        fixed[knowledge.person(name)] = codes[key]
    return fixed


# --- the tree ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Failed:
    """Who is in which group, and the cuts that failed; ``dims``, ``low``, ``high``: between which codes each lay."""

    group: NDArray[np.int32]
    left_offsets: NDArray[np.int64]
    left: NDArray[np.int32]
    right_offsets: NDArray[np.int64]
    right: NDArray[np.int32]
    dims: NDArray[np.int64]
    low: NDArray[np.int32]
    high: NDArray[np.int32]


class _Laid(Rows):
    """The people, laid out for cutting, whose sides can be read."""

    def sides(self, nodes: Nodes, cuts: Cuts) -> NDArray[np.int32]:
        """The people of both parts of every cut, the left ones before the right ones."""
        people = np.empty(int(nodes.sizes.sum()), np.int32)
        self._kernels.gather_sides(self.index, nodes.starts, nodes.stops, cuts.left, self._is_left, people)
        return people


class _ByAttribute:
    """Mondrian and even splits: cuts on attributes, the widest first."""

    def __init__(self, people: Microdata, method: Any, *, secret: bool) -> None:
        self.strict = isinstance(method, Mondrian) and method.partitioning == "strict"
        self.even = isinstance(method, EvenSplit)
        order = None if self.strict or secret else tie_order(people, Source.secure())
        self.rows = _Laid(people, (), order)
        self.places = weighted_places(people)
        self.attempts = 1 if self.even else len(people.quasi)

    def whole(self) -> Nodes:
        return self.rows.whole()

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

    def sides(self, nodes: Nodes, cuts: Cuts) -> NDArray[np.int32]:
        return self.rows.sides(nodes, cuts)

    def split(self, nodes: Nodes, cuts: Cuts) -> Nodes:
        return self.rows.split(nodes, cuts)


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

    def sides(self, nodes: Nodes, cuts: Cuts) -> NDArray[np.int32]:
        people: NDArray[np.int32] = self.order[_places(nodes)]
        return people

    def split(self, nodes: Nodes, cuts: Cuts) -> Nodes:
        middle = nodes.starts + cuts.left
        return Nodes(np.stack([nodes.starts, middle], axis=1).ravel(), np.stack([middle, nodes.stops], axis=1).ravel())


class _Tree:
    """Rebuilds the decisions of an algorithm from what is public."""

    def __init__(self, people: Microdata, published: Published, method: Any, caps: _Caps, *, secret: bool) -> None:
        self.people, self.published, self.method, self.caps = people, published, method, caps
        self.secret = secret
        self.strict = isinstance(method, Mondrian) and method.partitioning == "strict"
        self.kinds = alike(people.quasi)
        self.dividing: _ByAttribute | _AlongOrder
        if isinstance(method, Symmetric):
            self.dividing = _AlongOrder(people, method, secret=secret)
        else:
            self.dividing = _ByAttribute(people, method, secret=secret)
        self.who, self.label = self._candidates()

    def rebuilt(self) -> _Failed:
        """Descend as the algorithm did; collect the cuts that failed and can tell something."""
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
        published, kinds = self.published, self.kinds
        names = {column.name for column in self.people.quasi}
        seats = [seats for seats in published.seats if set(seats.quasi) == names]
        if len(seats) != 1 or len(published.seats) != 1:
            raise _unknown_seats("the release shows quasi-identifiers in several tables")
        examples = np.empty(kinds.n_groups, np.int64)
        examples[kinds.labels[::-1]] = np.arange(self.people.n_tuples)[::-1]
        matches = match(self.people, examples, seats[0])
        if len(matches.unmatched):
            raise NotSupported(
                f"failed cuts with {int(kinds.sizes[matches.unmatched].sum()):,} people who fit nothing in the release",
                instead="give exactly the people in the table, or use linking",
            )
        of_kind = np.repeat(np.arange(kinds.n_groups), np.diff(matches.offsets))
        keys = np.unique(of_kind * published.n_groups + seats[0].group[matches.seats])
        of_kind, label = keys // published.n_groups, keys % published.n_groups
        starts = np.searchsorted(of_kind, np.arange(kinds.n_groups + 1))
        if published.kind in ("anatomy", "permutation", "angel") and isinstance(self.dividing, _AlongOrder):
            ordered = self._along_order(seats[0], matches, self.dividing.order)
            if ordered is not None:
                return np.arange(self.people.n_tuples), ordered
        lengths = np.diff(starts)[kinds.labels]
        before = np.append(0, np.cumsum(lengths))
        entries = np.repeat(starts[kinds.labels] - before[:-1], lengths) + np.arange(before[-1])
        return np.repeat(np.arange(self.people.n_tuples), lengths), label[entries]

    def _along_order(self, seats: Any, matches: Any, order: NDArray[np.int32]) -> NDArray[np.int64] | None:
        """Groups of exact values are runs of the order: their first and last kinds of people put them in a row."""
        if (np.diff(matches.offsets) == 0).any():
            return None
        of_kind = np.repeat(np.arange(self.kinds.n_groups), np.diff(matches.offsets))
        rank = np.empty(self.kinds.n_groups, np.int64)  # of every kind along the order
        by_place = self.kinds.labels[order]
        firsts = np.flatnonzero(np.diff(by_place, prepend=-1))
        if len(firsts) != self.kinds.n_groups:
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
            raise _unknown_seats("several groups hold people with the same values only")
        labels = np.empty(self.people.n_tuples, np.int64)
        labels[order] = np.repeat(row, self.published.sizes[row])
        return labels

    def _made(self, nodes: Nodes, cuts: Cuts, people: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which cuts have no group on both sides; refuses if that cannot be told."""
        n_groups, sizes = self.published.n_groups, self.published.sizes
        starts = np.append(0, np.cumsum(nodes.sizes))
        node = np.full(self.people.n_tuples, -1)
        node[people] = np.repeat(np.arange(len(nodes)), nodes.sizes)
        side = np.zeros(self.people.n_tuples, np.int8)
        side[people] = np.arange(len(people)) >= np.repeat(starts[:-1] + cuts.left, nodes.sizes)
        if self.secret and isinstance(self.dividing, _ByAttribute) and not self.strict:
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
            raise _unknown_seats("people whom the algorithm may have parted fit the same groups")
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
        kind = self.kinds.labels[people[on]]
        least, most = np.full(len(nodes), self.kinds.n_groups), np.full(len(nodes), -1)
        np.minimum.at(least, of[on], kind)
        np.maximum.at(most, of[on], kind)
        if (most > least).any():
            raise NotSupported(
                "failed cuts where a secret order of ties decided who was on which side",
                instead="strict cuts do not depend on it; so does a release whose publisher named an identifier",
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
            raise _unknown_seats("two groups may show the same box")

    def _border(
        self, nodes: Nodes, cuts: Cuts, people: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The largest code on the left of every cut, and the smallest on the right."""
        if isinstance(self.dividing, _AlongOrder):
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
        index = self.dividing.order if isinstance(self.dividing, _AlongOrder) else self.dividing.rows.index
        people = index[_places(leaves)]
        leaf = np.full(self.people.n_tuples, -1)
        leaf[people] = np.repeat(np.arange(len(leaves)), leaves.sizes)
        mine = leaf[self.who] >= 0
        who, label = self.who[mine], self.label[mine]
        fitting = np.bincount(label, minlength=self.published.n_groups)
        first = np.full(len(leaves), -1)
        first[leaf[who]] = label
        if (first[leaf[who]] != label).any():
            raise _unknown_seats("people who were not parted fit several groups")
        if (fitting[first] != self.published.sizes[first]).any() or (leaves.sizes != self.published.sizes[first]).any():
            raise InputError(
                "these people, divided so, do not give the groups of the release: the people, the algorithm or its "
                "parameters are others"
            )
        group[people] = first[leaf[people]]

    def _joined(self, group: NDArray[np.int32], failed: list[tuple[Any, ...]]) -> _Failed:
        columns = [np.concatenate([np.empty(0, np.int64), *found]) for found in zip(*failed, strict=True)]
        left, right, n_left, n_right, dims, low, high = columns or [np.empty(0, np.int64)] * 7
        left = left[np.lexsort((left, np.repeat(np.arange(len(dims)), n_left)))]
        right = right[np.lexsort((right, np.repeat(np.arange(len(dims)), n_right)))]
        return _Failed(
            group=group,
            left_offsets=np.append(0, np.cumsum(n_left)).astype(np.int64),
            left=left.astype(np.int32),
            right_offsets=np.append(0, np.cumsum(n_right)).astype(np.int64),
            right=right.astype(np.int32),
            dims=dims,
            low=low.astype(np.int32),
            high=high.astype(np.int32),
        )


def _places(nodes: Nodes) -> NDArray[np.int64]:
    """The places of all nodes, one node after another."""
    before = np.append(0, np.cumsum(nodes.sizes))
    return np.repeat(nodes.starts - before[:-1], nodes.sizes) + np.arange(before[-1])


def _unknown_seats(why: str) -> NotSupported:
    return NotSupported(f"failed cuts of a release that does not tell who is in which group: {why}", instead=_SMALL)


# --- what she then believes -------------------------------------------------------------------------------------------


def _posterior(
    release: Release,
    published: Published,
    knowledge: Knowledge,
    people: Microdata,
    method: Any,
    cuts: FailedCuts,
    found: _Failed,
    beliefs: CutBeliefs,
    *,
    secret: bool,
) -> Posterior:
    kind, offsets, codes, shares, errors = (
        beliefs.kind,
        beliefs.offsets,
        beliefs.codes,
        beliefs.beliefs,
        beliefs.errors,
    )
    example = np.empty(len(offsets) - 1, np.int64)
    example[kind[::-1]] = np.arange(len(kind))[::-1]
    if secret and not (isinstance(method, Mondrian) and method.partitioning == "strict"):
        kind, example, (offsets, codes, shares, errors) = _averaged(alike(people.quasi), cuts, beliefs)
    notes = [
        f"{cuts.n_cuts:,} cuts that could have been made were not; they tell of {beliefs.n_components:,} sets of "
        f"groups, {beliefs.n_coupled:,} of them of several groups",
    ]
    if beliefs.n_sampled:
        notes.append(f"{beliefs.n_sampled:,} sets of groups have too many worlds to count, and were sampled")
    if beliefs.n_walked:
        notes.append(ISLANDS)
    if beliefs.n_refused:
        notes.append(
            f"of {beliefs.n_refused:,} people nothing is said: cuts couple them with so many others that no belief "
            "could be had with the error that was asked for"
        )
    if knowledge.prior is not None:
        notes.append("her prior changes nothing: every possible table has the same values")
    return Posterior(
        attack="reverse engineering",
        column=published.column,
        how="sampled" if beliefs.n_sampled else "exact",
        knowledge=knowledge,
        values=published.values,
        kind=kind,
        offsets=offsets,
        codes=codes,
        beliefs=shares,
        presence=np.ones(len(example)),
        limit=promised_limit(release, published.column),
        errors=errors if beliefs.n_sampled else None,
        because=_Because(people, published, cuts, found, example),
        notes=tuple(notes),
    )


def _averaged(
    kinds: Groups, cuts: FailedCuts, beliefs: CutBeliefs
) -> tuple[
    NDArray[np.int64], NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any], NDArray[Any]]
]:
    """People with equal values whom a secret order parted are alike to her: each is any of them, equally likely."""
    known = np.flatnonzero(cuts.fixed >= 0)
    place = beliefs.kind.copy()
    place[known] = -1  # of others
    for kind in np.unique(kinds.labels[known]).tolist():
        alike_people = np.flatnonzero(kinds.labels == kind)
        others = alike_people[cuts.fixed[alike_people] < 0]
        if len(np.unique(cuts.group[alike_people])) > 1 or len(np.unique(place[others])) > 1:
            raise NotSupported(
                "failed cuts with a corrupted person who shares all values with others whom a secret order parted",
                instead="leave the person out",
            )
    own = kinds.labels.astype(np.int64)
    own[known] = kinds.n_groups + np.arange(len(known))
    distinct, example, merged = np.unique(own, return_index=True, return_inverse=True)
    merged = merged.reshape(-1).astype(np.int64)
    pairs, times = np.unique(merged * (len(beliefs.offsets) - 1) + beliefs.kind, return_counts=True)
    new, old = pairs // (len(beliefs.offsets) - 1), pairs % (len(beliefs.offsets) - 1)
    weight = times / np.bincount(merged)[new]
    lengths = np.diff(beliefs.offsets)[old]
    before = np.append(0, np.cumsum(lengths))
    entries = np.repeat(beliefs.offsets[old] - before[:-1], lengths) + np.arange(before[-1])
    keys = np.repeat(new, lengths) * cuts.n_values + beliefs.codes[entries]
    listed, number = np.unique(keys, return_inverse=True)
    weights = np.repeat(weight, lengths)
    shares = np.bincount(number.reshape(-1), weights * beliefs.beliefs[entries], len(listed))
    errors = np.bincount(number.reshape(-1), weights * beliefs.errors[entries], len(listed))
    offsets = np.searchsorted(listed // cuts.n_values, np.arange(len(distinct) + 1)).astype(np.int64)
    return merged, example, (offsets, (listed % cuts.n_values).astype(np.int32), shares, errors)


@dataclass(frozen=True, eq=False)
class _Because:
    """Says why a kind of people is believed to have a value, in terms of public values only."""

    people: Microdata
    published: Published
    cuts: FailedCuts
    found: _Failed
    example: NDArray[np.int64]

    def __call__(self, kind: int, code: int) -> str:
        person = int(self.example[kind])
        if self.cuts.fixed[person] >= 0:
            return "she has found it out"
        group = int(self.cuts.group[person])
        best = int(self._smallest[group])
        if best < 0:
            start, stop = self.published.offsets[group], self.published.offsets[group + 1]
            here = self.published.counts[start:stop][self.published.codes[start:stop] == code].sum()
            return f"{here:,} of {self.published.sizes[group]:,} tuples of the group have the value"
        return f"{self._cut(best)} was not made: one of its parts would have held too many of one value"

    @cached_property
    def _smallest(self) -> NDArray[np.int64]:
        """For every group the cut of the fewest people that would have parted it; -1 if there is none."""
        cuts, sides = self.cuts, []
        n_left, n_right = np.diff(cuts.left_offsets), np.diff(cuts.right_offsets)
        for people, sizes in ((cuts.left, n_left), (cuts.right, n_right)):
            number = np.repeat(np.arange(cuts.n_cuts), sizes)
            sides.append(np.unique(number * cuts.n_groups + cuts.group[people]))
        number, group = np.divmod(np.intersect1d(sides[0], sides[1]), cuts.n_groups)
        order = np.lexsort((number, n_left[number] + n_right[number]))[::-1]
        found = np.full(cuts.n_groups, -1)
        found[group[order]] = number[order]
        return found

    def _cut(self, cut: int) -> str:
        left, right = self.cuts.parts(cut)
        dim = int(self.found.dims[cut])
        if dim < 0:
            return f"the cut after the first {len(left):,} of {len(left) + len(right):,} people along the order"
        domain = self.people.quasi[dim].domain
        low, high = (self._text(domain, int(end[cut])) for end in (self.found.low, self.found.high))
        if low == high:
            return f"the cut of {len(left) + len(right):,} people into halves at {domain.name} {low}"
        return f"the cut between {domain.name} {low} and {high}"

    def _text(self, domain: Any, code: int) -> str:
        return "missing" if code == domain.missing_code else str(domain.texts[code])
