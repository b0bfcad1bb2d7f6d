# SPDX-License-Identifier: Apache-2.0
"""Failed cuts: what a dividing algorithm reveals beyond its groups, and the probabilities that follow.

MINIMALITY 2.4: a cut that was tried and not made tells that one of its parts would have broken the principle. Under a
principle that caps how many records of a part may share a value, that is a condition on who has which value, and worlds
that meet all such conditions are equally likely.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.permanents import connected
from glasshouse.adversary.posterior import Beliefs, entries_of
from glasshouse.adversary.reverse_engineering.cuts.cut_walk import Rest, sample_failed_cuts
from glasshouse.adversary.reverse_engineering.cuts.cut_worlds import (
    Cell,
    Profile,
    TooManyStates,
    Type,
    beliefs_of,
    drawn_beliefs,
)
from glasshouse.errors import InputError, NotSupported
from glasshouse.plural import counted
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.adversary.reverse_engineering.cuts.decisions import CutsNotMade

__all__ = ["Believing", "CutBeliefs", "FailedCuts"]

_CHAINS, _LEAST_SWEEPS, _SHARES = 4, 200, 8  # walks, moves per person at least; a component gets so small a share
_KEPT = 10_000  # counted profiles that are kept for others alike

_Table = list[list[float]]  # kinds of people x values


@dataclass(frozen=True, kw_only=True, eq=False)
class FailedCuts:
    """Published groups, and the cuts that must have failed.

    A world gives every group's published values to its people. It is possible if every listed cut has a part that
    breaks the principle: some value ``v`` has more than ``size * numerators[v] // denominators[v]`` records there. Cuts
    that fail in every world, for a part is too small, are not listed.
    """

    group: NDArray[np.int32]  # the published group of every person
    # offsets, codes, counts: group ``g`` has ``counts[i]`` records with value ``codes[i]`` for ``offsets[g] <= i <
    # offsets[g + 1]``
    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    n_values: int  # how many sensitive values there are
    # numerators, denominators: for every value the largest share of a part that may have it; 1 / 1 for a value that
    # the principle ignores
    numerators: NDArray[np.int64]
    denominators: NDArray[np.int64]
    # left_offsets, left, right_offsets, right: cut ``c`` separates ``left[left_offsets[c]:left_offsets[c + 1]]`` from
    # ``right[...]``: row numbers, ascending
    left_offsets: NDArray[np.int64]
    left: NDArray[np.int32]
    right_offsets: NDArray[np.int64]
    right: NDArray[np.int32]
    fixed: NDArray[np.int32]  # for every person the value that the attacker knows of them, or -1

    @property
    def n_cuts(self) -> int:
        """How many cuts are known to have failed."""
        return len(self.left_offsets) - 1

    @property
    def n_groups(self) -> int:
        """How many groups were published."""
        return len(self.offsets) - 1

    def parts(self, cut: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The people of both parts of a cut."""
        return (
            self.left[self.left_offsets[cut] : self.left_offsets[cut + 1]],
            self.right[self.right_offsets[cut] : self.right_offsets[cut + 1]],
        )

    def caps(self, size: int) -> NDArray[np.int64]:
        """How many records of a part of this size may have each value."""
        return size * self.numerators // self.denominators

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Records in each group."""
        return np.bincount(self.group, minlength=self.n_groups).astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class CutBeliefs:
    """The probabilities for people who are alike: of one group, and on the same side of every cut that separates it."""

    kind: NDArray[np.int64]  # for every person the number of their kind
    of: Beliefs  # the probabilities for every kind, with errors
    # of how many people nothing is said, because it could not be sampled with the error that was asked for
    n_refused: int
    # n_components, n_sampled, n_walked, n_coupled: how many sets of groups were counted by themselves; how many of
    # them were sampled, how many of these by a chain; how many have several groups
    n_components: int
    n_sampled: int
    n_walked: int
    n_coupled: int


class Believing:
    """Computes everybody's probabilities, given that every listed cut failed, within the limits of the strategy."""

    def __init__(self, cuts: FailedCuts, limits: CutsNotMade) -> None:
        self.cuts, self.limits, self.progress = cuts, limits, limits.progress
        self.draws = limits.source or Source.secure()
        self._counted: dict[Profile, _Table] = {}
        self._read_cuts()
        self.rest = Rest(cuts)
        self._tell_people_apart()

    def _read_cuts(self) -> None:
        """Find which groups each cut separates; all others, and people with known values, are the same in any world."""
        cuts = self.cuts
        self.part_sizes = np.stack([np.diff(cuts.left_offsets), np.diff(cuts.right_offsets)], axis=1)
        number = np.concatenate([np.repeat(np.arange(cuts.n_cuts), sizes) for sizes in self.part_sizes.T])
        side = np.repeat(np.array([0, 1]), [len(cuts.left), len(cuts.right)])
        person = np.concatenate([cuts.left, cuts.right]).astype(np.int64)
        free = cuts.fixed[person] < 0
        pair = number * cuts.n_groups + cuts.group[person]
        there, place = np.unique(pair, return_inverse=True)
        place = place.reshape(-1)
        inside = np.stack([np.bincount(place[free & (side == s)], minlength=len(there)) for s in (0, 1)], axis=1)
        separated: NDArray[np.bool_] = np.asarray((inside > 0).all(axis=1))
        order = np.argsort(number[separated[place] & free], kind="stable")
        kept = np.flatnonzero(separated[place] & free)[order]
        self.person, self.side, self.number = person[kept], side[kept], number[kept]
        pairs = there[separated]
        self.pair_cut, self.pair_group = pairs // cuts.n_groups, pairs % cuts.n_groups
        # groups on one side, and how many of their free people that are: all of their values are in that part
        whole = ~separated & (inside.sum(axis=1) > 0)
        self.wholes = _listed(2 * (there[whole] // cuts.n_groups) + (inside[whole, 1] > 0), 2 * cuts.n_cuts)
        self.whole_group = there[whole] % cuts.n_groups
        known = ~free
        self.knowns = _listed(2 * number[known] + side[known], 2 * cuts.n_cuts)
        self.known_value = cuts.fixed[person[known]].astype(np.int64)

    def _tell_people_apart(self) -> None:
        """Number the kinds of people: of one group, on the same side of every cut that separates it, value unknown."""
        cuts = self.cuts
        kind = cuts.group.astype(np.int64)
        rank = np.zeros(len(self.pair_cut), np.int64)  # of the cut among those that separate the group
        order = np.argsort(self.pair_group, kind="stable")
        sorted_groups = self.pair_group[order]
        first = np.searchsorted(sorted_groups, sorted_groups)
        rank[order] = np.arange(len(order)) - first
        pair = np.searchsorted(
            self.pair_cut * cuts.n_groups + self.pair_group, self.number * cuts.n_groups + cuts.group[self.person]
        )
        by_rank = rank[pair]
        for r in range(int(rank.max(initial=-1)) + 1):
            mine = by_rank == r
            kind *= 3
            kind[self.person[mine]] += 1 + self.side[mine]
            kind = np.unique(kind, return_inverse=True)[1].reshape(-1).astype(np.int64)
        known = cuts.fixed >= 0
        kind[known] = kind.max(initial=0) + 1 + np.cumsum(known)[known]
        distinct, example, numbers = np.unique(kind, return_index=True, return_inverse=True)
        self.kind, self.example = numbers.reshape(-1).astype(np.int64), example
        self.n_alike = np.bincount(self.kind, minlength=len(distinct))
        # the cuts and sides of every kind, from its example
        is_example = np.zeros(len(kind), bool)
        is_example[example] = True
        mine = is_example[self.person]
        kinds = self.kind[self.person[mine]]
        order = np.argsort(kinds, kind="stable")
        self.cut_of_kind, self.side_of_kind = self.number[mine][order], self.side[mine][order]
        self.cuts_of_kind = np.searchsorted(kinds[order], np.arange(len(distinct) + 1))

    def run(self) -> CutBeliefs:
        """Count or sample every set of groups that cuts couple."""
        cuts = self.cuts
        offsets, codes, beliefs = self._by_counts()
        errors = np.zeros(len(beliefs))
        components = _components(self.pair_cut, self.pair_group, cuts.n_cuts)
        kinds_of = _listed(cuts.group[self.example], cuts.n_groups)
        unseparated = np.setdiff1d(np.arange(cuts.n_cuts), self.pair_cut)
        for cut in unseparated.tolist():  # it fails in every world, or in none
            if not (self._rooms(cut) < 0).any():
                raise _impossible()
        beyond, drawn = [], 0
        for done, (numbers, groups) in enumerate(components):
            kinds = [int(k) for g in groups for k in kinds_of(g) if cuts.fixed[self.example[k]] < 0]
            found = self._count(numbers, groups, kinds)
            if found is None:
                beyond.append((numbers, groups, kinds))
                continue
            for place, kind in enumerate(kinds):
                mine = slice(offsets[kind], offsets[kind + 1])
                beliefs[mine] = found[0][place]
                if found[1] is not None:
                    errors[mine] = found[1][place]
            drawn += found[1] is not None
            if self.progress is not None and done % 256 == 0:
                self.progress(done / len(components))
        refused = self._sample(beyond, offsets, codes, beliefs, errors)
        if refused:
            kept = np.ones(len(self.n_alike), bool)
            kept[refused] = False
            lengths = np.diff(offsets)
            inside = np.repeat(kept, lengths)
            codes, beliefs, errors = codes[inside], beliefs[inside], errors[inside]
            offsets = np.append(0, np.cumsum(np.where(kept, lengths, 0)))
        return CutBeliefs(
            kind=self.kind,
            of=Beliefs(offsets, codes, beliefs, errors),
            n_refused=int(self.n_alike[refused].sum()),
            n_components=len(components),
            n_sampled=len(beyond) + drawn,
            n_walked=len(beyond),
            n_coupled=sum(len(groups) > 1 for _, groups in components),
        )

    def _by_counts(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """The probabilities if no cut had failed: a value's share among the people whose value is not known.

        The values listed here are those that anybody of the kind may have.
        """
        rest, group, known = self.rest, self.cuts.group[self.example], self.cuts.fixed[self.example]
        lengths = np.where(known >= 0, 1, np.diff(rest.offsets)[group])
        offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
        is_known = np.repeat(known >= 0, lengths)
        codes, beliefs = np.repeat(known, lengths), np.ones(len(is_known))
        kind, entry = entries_of(rest.offsets, group[known < 0])
        codes[~is_known] = rest.codes[entry]
        beliefs[~is_known] = rest.counts[entry] / rest.sizes[group[known < 0]][kind]
        return offsets, codes.astype(np.int32), beliefs

    def _rooms(self, cut: int) -> NDArray[np.int64]:
        """How many records with each value the separated groups may have in each part (parts x values)."""
        rooms = np.stack([self.cuts.caps(int(size)) for size in self.part_sizes[cut]])
        for side in (0, 1):
            for entry in self.wholes(2 * cut + side):
                group = self.whole_group[entry]
                mine = slice(self.rest.offsets[group], self.rest.offsets[group + 1])
                rooms[side, self.rest.codes[mine]] -= self.rest.counts[mine]
            known = self.knowns(2 * cut + side)
            if len(known):
                rooms[side] -= np.bincount(self.known_value[known], minlength=self.cuts.n_values)
        return rooms

    def _count(self, numbers: list[int], groups: list[int], kinds: list[int]) -> tuple[_Table, _Table | None] | None:
        """Probabilities for the kinds of people of groups that some cuts couple; None if that takes too many states."""
        sides = [self._sides_of(kind) for kind in kinds]
        counts = self._values_of(groups)
        telling, rooms = self._telling(numbers, groups, kinds, sides, counts)
        local = {g: i for i, g in enumerate(groups)}
        cells = [
            Cell(
                local[int(self.cuts.group[self.example[kind]])],
                tuple(on.get(cut, -1) for cut in telling),
                int(self.n_alike[kind]),
            )
            for kind, on in zip(kinds, sides, strict=True)
        ]
        keys = {v: (tuple(counts[v]), tuple(r for here in rooms for r in here[j])) for j, v in enumerate(counts)}
        tally = Counter(keys.values())
        types = sorted(tally)
        order = sorted(range(len(cells)), key=lambda i: cells[i])
        profile = Profile(len(telling), tuple(cells[i] for i in order), tuple(Type(*key, tally[key]) for key in types))
        counted = self._solved(profile, numbers[0])
        if counted is None:
            return None
        number_of = {key: i for i, key in enumerate(types)}
        type_of = {v: number_of[key] for v, key in keys.items()}
        listed = [[v for v in sorted(counts) if counts[v][i]] for i in range(len(groups))]
        places = {i: place for place, i in enumerate(order)}

        def named(table: _Table) -> _Table:
            return [[table[places[i]][type_of[v]] for v in listed[cell.group]] for i, cell in enumerate(cells)]

        found, spread = counted
        return named(found), None if spread is None else named(spread)

    def _sides_of(self, kind: int) -> dict[int, int]:
        """On which side of each cut that separates their group a kind of people is."""
        mine = slice(self.cuts_of_kind[kind], self.cuts_of_kind[kind + 1])
        return dict(zip(self.cut_of_kind[mine].tolist(), self.side_of_kind[mine].tolist(), strict=True))

    def _values_of(self, groups: list[int]) -> dict[int, list[int]]:
        """How many records each of these groups has of every value that is not known."""
        counts = dict[int, list[int]]()
        owner, entry = entries_of(self.rest.offsets, np.array(groups))
        numbers = owner.tolist(), self.rest.codes[entry].tolist(), self.rest.counts[entry].tolist()
        for i, code, n in zip(*numbers, strict=True):
            counts.setdefault(code, [0] * len(groups))[i] = n
        return counts

    def _telling(
        self,
        numbers: list[int],
        groups: list[int],
        kinds: list[int],
        sides: list[dict[int, int]],
        counts: dict[int, list[int]],
    ) -> tuple[list[int], list[list[list[int]]]]:
        """The cuts that rule out worlds, and the number of records with each value that their parts may have.

        A cut that fails in every world tells nothing, and neither does one like another.
        """
        n_unknown = dict.fromkeys(groups, 0)
        inside = {(cut, side, g): 0 for cut in numbers for side in (0, 1) for g in groups}
        for kind, on in zip(kinds, sides, strict=True):
            group, n = int(self.cuts.group[self.example[kind]]), int(self.n_alike[kind])
            n_unknown[group] += n
            for cut, side in on.items():
                inside[cut, side, group] += n

        def must(cut: int, side: int, value: int) -> int:
            """The least number of records with a value that a part has in any world."""
            return sum(
                max(0, t - (n_unknown[g] - inside[cut, side, g]))
                for g, t in zip(groups, counts[value], strict=True)
                if inside[cut, side, g]
            )

        telling, rooms, seen = [], [], set[Any]()
        for cut in numbers:
            room = self._rooms(cut)
            here = room[:, list(counts)].T.tolist()
            surely = bool((room < 0).any()) or any(
                must(cut, side, v) > here[j][side] for j, v in enumerate(counts) for side in (0, 1)
            )
            looks = (tuple(on.get(cut, -1) for on in sides), tuple(map(tuple, here)))
            if not surely and looks not in seen:
                seen.add(looks)
                seen.add((tuple(1 - s if s >= 0 else s for s in looks[0]), tuple(r[::-1] for r in looks[1])))
                telling.append(cut)
                rooms.append(here)
        return telling, rooms

    def _solved(self, profile: Profile, cut: int) -> tuple[_Table, _Table | None] | None:
        """Count worlds, or else draw them, in a stream named by ``cut``; None if neither can be done."""
        if profile in self._counted:
            return self._counted[profile], None
        try:
            found = beliefs_of(profile, self.limits.most_states)
        except TooManyStates:
            found = None
        else:
            if found is None:
                raise _impossible()
            if len(self._counted) < _KEPT:
                self._counted[profile] = found
            return found, None
        if self.limits.error <= 0:
            raise NotSupported(
                f"the values in several groups cannot be considered separately, because the method rejected "
                f"{counted(profile.n_cuts, 'cut')} between them, and counting the possible tables takes more than the "
                f"{self.limits.most_states:,} steps that are allowed",
                instead="allow an error above 0 (error=, --error): the probabilities are then estimated by sampling",
            )
        try:
            return drawn_beliefs(profile, self.limits.error, self.draws.child("cut", cut), self.limits.most_draws)
        except TooManyStates:
            return None

    def _sample(
        self,
        beyond: list[tuple[list[int], list[int], list[int]]],
        offsets: NDArray[np.int64],
        codes: NDArray[np.int32],
        beliefs: NDArray[np.float64],
        errors: NDArray[np.float64],
    ) -> list[int]:
        """Sample the components that cannot be counted; return the kinds for which nothing was found.

        A chain that does not reach the error that was asked for gives no probability at all.
        """
        refused: list[int] = []
        left = self.limits.most_moves
        for done, (numbers, groups, kinds) in enumerate(sorted(beyond, key=lambda some: self.n_alike[some[2]].sum())):
            n_people = int(self.n_alike[kinds].sum())
            most_sweeps = left // (min(len(beyond) - done, _SHARES) * _CHAINS * n_people)
            if most_sweeps < _LEAST_SWEEPS:
                refused += kinds
                continue
            some, now = self._only(numbers, groups)
            try:
                found = sample_failed_cuts(
                    some,
                    source=self.draws.child("chain", numbers[0]),
                    error=self.limits.error,
                    most_sweeps=most_sweeps,
                    chains=_CHAINS,
                    progress=self._told_from(done / len(beyond), 1 / len(beyond)),
                )
            except NotSupported:
                refused += kinds
                left -= most_sweeps * _CHAINS * n_people
                continue
            finally:
                if self.progress is not None:
                    self.progress((done + 1) / len(beyond))
            left -= found.n_sweeps * _CHAINS * n_people
            for kind in kinds:
                theirs = int(found.kind[now[self.example[kind]]])
                entries = slice(found.offsets[theirs], found.offsets[theirs + 1])
                mine = slice(offsets[kind], offsets[kind + 1])
                place = np.searchsorted(codes[mine], found.codes[entries])
                beliefs[mine] = 0.0
                beliefs[mine][place] = found.beliefs[entries]
                assert found.errors is not None
                errors[mine][place] = found.errors[entries]
        return refused

    def _told_from(self, done: float, share: float) -> Callable[[float], None] | None:
        """The progress of a part of the work: so much is done before it, and so large is its share."""
        progress = self.progress
        return None if progress is None else lambda part: progress(done + part * share)

    def _only(self, numbers: list[int], groups: list[int]) -> tuple[FailedCuts, NDArray[np.int64]]:
        """These cuts, the people whom they divide and those of these groups, with the new index of each person."""
        cuts = self.cuts
        parts = [cuts.parts(cut) for cut in sorted(numbers)]
        involved = np.zeros(len(cuts.group), bool)
        for part in (part for pair in parts for part in pair):
            involved[part] = True
        there = np.zeros(cuts.n_groups, bool)
        there[cuts.group[involved]] = True
        there[groups] = True
        people = np.flatnonzero(there[cuts.group])
        place = np.full(len(cuts.group), -1, np.int64)
        place[people] = np.arange(len(people))
        number = np.cumsum(there) - 1
        entry = np.repeat(there, np.diff(cuts.offsets))
        some = replace(
            cuts,
            group=number[cuts.group[people]].astype(np.int32),
            offsets=np.append(0, np.cumsum(np.diff(cuts.offsets)[there])),
            codes=cuts.codes[entry],
            counts=cuts.counts[entry],
            left_offsets=np.append(0, np.cumsum([len(left) for left, _ in parts])).astype(np.int64),
            left=place[np.concatenate([left for left, _ in parts])].astype(cuts.left.dtype),
            right_offsets=np.append(0, np.cumsum([len(right) for _, right in parts])).astype(np.int64),
            right=place[np.concatenate([right for _, right in parts])].astype(cuts.right.dtype),
            fixed=cuts.fixed[people],
        )
        return some, place


def _components(pair_cut: NDArray[Any], pair_group: NDArray[Any], n_cuts: int) -> list[tuple[list[int], list[int]]]:
    """The connected components of cuts and groups: a list of cuts and a list of groups for each."""
    label = connected(n_cuts + int(pair_group.max(initial=-1)) + 1, pair_cut, n_cuts + pair_group)[pair_cut]
    together: dict[int, tuple[set[int], set[int]]] = {}
    for one, cut, group in zip(label.tolist(), pair_cut.tolist(), pair_group.tolist(), strict=True):
        numbers, groups = together.setdefault(one, (set(), set()))
        numbers.add(cut)
        groups.add(group)
    return [(sorted(numbers), sorted(groups)) for numbers, groups in together.values()]


def _listed(keys: NDArray[Any], n: int) -> Callable[[int], NDArray[np.int64]]:
    """Look up the places of a key."""
    order = np.argsort(keys, kind="stable")
    starts = np.searchsorted(keys[order], np.arange(n + 1))
    return lambda key: order[starts[key] : starts[key + 1]]


def _impossible() -> InputError:
    return InputError(
        "no table of these people can have produced this release: the method would have made a cut that is "
        "missing; check that the people, the principle, the method and its parameters are those of the release"
    )
