# SPDX-License-Identifier: Apache-2.0
"""Probabilities after many failed cuts, sampled by a Markov chain that exchanges values within groups.

All worlds that give every group its published values, and in which every cut fails, are equally likely. The walk holds
such a world. A move exchanges the values of two people of a group whose values are not known, or of several pairs
near a cut at once, or takes several records with one value elsewhere, and is made if every cut then still fails. It is
as likely as the move that undoes it, so that the walk comes to see every world that it can reach equally often.

**What need not be walked over.** A group that lies on one side of a cut adds a constant to it. A cut that fails
whatever the groups do, because of constants and of what must be on a side, tells nothing. In a group that no other cut
divides, everybody has every value as often as the group has it, exactly.

**What is averaged.** People of a group on the same side of every cut are alike, and share their probabilities. Not the
values that they have are averaged, but how likely they have each after one move more (Rao-Blackwell).

**Where it begins.** Every walk starts from a random world of its own that was repaired until every cut failed. How far
it can be trusted: see `sampling`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.posterior import Beliefs, entries_of
from glasshouse.adversary.sampling import NotReached, Sampled, sample
from glasshouse.errors import InputError, NotSupported, ParameterError
from glasshouse.kernels import compiled
from glasshouse.plural import counted
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.adversary.reverse_engineering.cuts.cut_failures import FailedCuts

__all__ = ["Rest", "SampledKinds", "sample_failed_cuts"]

_BLOCK = 1 << 18  # people of cuts that are sorted at a time; a block is some hundred bytes for each
_NEVER = 1 << 30  # a cap that no count exceeds
_MANY = 64  # in 256 moves, those of several exchanges at once
_FEW = 16  # of these, those that exchange any pairs
_MOST_PARTNERS = 64  # over whom a person's next move is averaged
_WARM_UP, _FIRST_DRAWS = 64, 128  # sweeps
_RESTARTS = 20
_LEAST_SWEEPS, _MOST_SWEEPS, _MOST_MOVES = 200, 100_000, 400_000_000
_NOISE = 8  # in 256 steps of a repair, those that are not the best
_TRIES = 24

ISLANDS = (
    "the probabilities come from sampling, which may have missed some of the possible tables: it moves "
    "between tables by exchanging a few values at a time, and no check can show whether this reaches all of "
    "them"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledKinds(Beliefs):
    """What was found by walking, once for people who are alike."""

    # for every person the number of their kind; people of one kind are in one group and on the same side of all cuts,
    # or their value is known
    kind: NDArray[np.int64]
    # ess, r_hat: effective sample size and R-hat of each probability; infinite and nan where it is exact, nan where
    # nothing changed
    ess: NDArray[np.float64]
    r_hat: NDArray[np.float64]
    acceptance: float  # the share of moves that were made, of those that would have changed something
    n_people: int  # how many people were walked over; the probabilities of all others are exact
    n_sweeps: int  # moves per person and chain, those before the last round included
    notes: tuple[str, ...] = ()  # what could not be excluded, in sentences

    def of(self, person: int) -> dict[int, float]:
        """The probabilities of the values of one person, by code."""
        start, stop = self.offsets[self.kind[person]], self.offsets[self.kind[person] + 1]
        return dict(zip(self.codes[start:stop].tolist(), self.beliefs[start:stop].tolist(), strict=True))


def sample_failed_cuts(
    cuts: FailedCuts,
    *,
    source: Source | None = None,
    chains: int = 4,
    error: float = 0.02,
    most_sweeps: int | None = None,
    start: NDArray[np.int32] | None = None,
    progress: Callable[[float], None] | None = None,
) -> SampledKinds:
    """Estimate the probabilities of everybody's values, given that every cut failed.

    Limits are as for `sample`; by default as many sweeps are made as take some minutes. ``start`` is a possible world,
    by code, from which the first walk starts: the truth, where that is had. What is seen before the last round counts
    for nothing, there as elsewhere.
    """
    if chains < 2:
        raise ParameterError("sample_failed_cuts", "chains", "an integer of at least 2", chains)
    if not 0 < error < 1:
        raise ParameterError("sample_failed_cuts", "error", "between 0 and 1", error)
    layout = _Layout(cuts)
    if not layout.n_places:
        return layout.result(Sampled.nothing(), 0.0)
    source = source or Source.secure()
    if most_sweeps is None:
        most_sweeps = max(_LEAST_SWEEPS, min(_MOST_SWEEPS, _MOST_MOVES // (chains * layout.n_places)))
    walks = [
        _Walk(layout, source.child("chain", i), start if i == 0 else None, f"chain {i + 1} of {chains}")
        for i in range(chains)
    ]
    try:
        found = sample(
            walks,
            error=error,
            most_sweeps=most_sweeps,
            warm_up=_WARM_UP,
            first_draws=_FIRST_DRAWS,
            progress=progress,
        )
    except NotReached as reason:
        last = reason.found
        done = "there are too few draws to estimate the error"
        if last is not None:
            done = f"after {last.n_sweeps:,} rounds of {chains} independent samplings the error was {last.figures()}"
        raise NotSupported(
            f"sampling did not reach an error of {error:g} for "
            f"{counted(layout.n_places, 'person')}, whose values cannot be "
            f"considered separately because of {counted(layout.n_cuts, 'rejected cut')}: {done}",
            instead="allow a larger error (error=, --error), or publish a smaller table in the same way, and attack it",
        ) from None
    tally = np.sum([walk.tally for walk in walks], axis=0)
    return layout.result(found, float(tally[1] / max(1, tally[0])))


# --- what is walked over ---------------------------------------------------------------------------------------------


class _Layout:
    """Which people can exchange values, and which cuts an exchange may change; the same for all chains."""

    def __init__(self, cuts: FailedCuts) -> None:
        self.cuts = cuts
        self.unknown = cuts.fixed < 0
        self.rest = Rest(cuts)
        self._sort_cuts()
        self._sort_people()
        self._sort_values()

    @property
    def n_places(self) -> int:
        return len(self.people)

    def _sort_cuts(self) -> None:
        """Find the cuts that tell something, with constants, caps, and who may change them; some cuts at a time."""
        cuts = self.cuts
        sizes = np.diff(cuts.left_offsets) + np.diff(cuts.right_offsets)
        block = np.cumsum(sizes) // _BLOCK
        begins = np.flatnonzero(np.diff(block, prepend=-1)) if cuts.n_cuts else np.empty(0, np.int64)
        parts = [
            _Part(cuts, self.rest, first, last)
            for first, last in zip(begins.tolist(), [*begins[1:].tolist(), cuts.n_cuts], strict=True)
        ]
        telling = np.concatenate([part.telling for part in parts]) if parts else np.zeros(0, bool)
        self.n_cuts = int(telling.sum())
        self.number = np.cumsum(telling) - 1
        self._number_slots(parts)
        self.constants = np.zeros(2 * len(self._slots), np.int32)
        for part in parts:
            self._add_constants(part)
        nobody = [np.empty(0, np.int64)]
        self.member = np.concatenate([*nobody, *(part.member for part in parts)])
        self.member_key = np.concatenate([*nobody, *(part.member_key for part in parts)])

    def _number_slots(self, parts: list[_Part]) -> None:
        """Number the values that may break the principle, for every cut that reveals something."""
        none = [np.empty(0, np.int64)]
        key, value, cap = (
            np.concatenate([*none, *(getattr(part, name) for part in parts)]) for name in ("key", "value", "cap")
        )
        joint = self.number[key >> 1] * self.cuts.n_values + value
        self._slots = np.unique(joint)
        self.slot_values = (self._slots % self.cuts.n_values).astype(np.int32)
        self.slot_offsets = np.searchsorted(self._slots, np.arange(self.n_cuts + 1) * self.cuts.n_values)
        self.caps = np.full(2 * len(self._slots), _NEVER, np.int32)
        self.caps[2 * np.searchsorted(self._slots, joint) + (key & 1)] = cap

    def _add_constants(self, part: _Part) -> None:
        """Count what is on a side in every world, where it matters."""
        joint = self.number[part.constant_key >> 1] * self.cuts.n_values + part.constant_value
        slot = np.searchsorted(self._slots, joint)
        here = slot < len(self._slots)
        here[here] = self._slots[slot[here]] == joint[here]
        np.add.at(self.constants, 2 * slot[here] + (part.constant_key[here] & 1), part.constant_count[here])

    def _sort_people(self) -> None:
        """Put people whose value may move into places: by group, and by cell within it."""
        cuts = self.cuts
        key = 2 * self.number[self.member_key >> 1] + (self.member_key & 1)
        # Cells are told apart by two sums of 64 pseudo-random bits for each key, rather than by lists of keys: that two
        # different lists agree in both has probability 2^-128 for each pair of people.
        marks = np.zeros((len(cuts.group), 2), np.uint64)
        for i, multiplier in enumerate((0x9E3779B97F4A7C15, 0xD1342543DE82EF95)):
            np.add.at(marks[:, i], self.member, _mixed(key, multiplier))
        moving = np.zeros(cuts.n_groups, bool)
        moving[cuts.group[self.member]] = True
        people = np.flatnonzero(self.unknown & moving[cuts.group])
        order = np.lexsort((people, marks[people, 1], marks[people, 0], cuts.group[people]))
        self.people = people[order]
        group = cuts.group[self.people]
        mark = marks[self.people]
        new = np.ones(len(self.people), bool)
        new[1:] = (np.diff(group) != 0) | (mark[1:] != mark[:-1]).any(axis=1)
        self.cell_of = (np.cumsum(new) - 1).astype(np.int32)
        self.cell_places = np.append(np.flatnonzero(new), len(self.people)).astype(np.int64)
        self.groups, first = np.unique(group, return_index=True)
        self.places = np.append(first, len(self.people)).astype(np.int64)
        self.group_of = np.repeat(np.arange(len(self.groups), dtype=np.int32), np.diff(self.places))

        place = np.full(len(cuts.group), -1, np.int64)
        place[self.people] = np.arange(len(self.people))
        at = place[self.member]
        first_of_cell = np.zeros(len(self.people), bool)
        first_of_cell[self.cell_places[:-1]] = True
        chosen = first_of_cell[at]
        cell, mine = self.cell_of[at[chosen]], key[chosen]
        order = np.lexsort((mine, cell))
        self.keys = mine[order].astype(np.int32)
        self.cell_offsets = np.searchsorted(cell[order], np.arange(len(self.cell_places)))
        order = np.lexsort((at, key >> 1))
        self.cut_places = at[order].astype(np.int32)
        self.cut_offsets = np.searchsorted((key >> 1)[order], np.arange(self.n_cuts + 1))
        del self.member, self.member_key

    def _sort_values(self) -> None:
        """Number the entries of each group's list of values, and the pairs of a cell and an entry."""
        rest = self.rest
        owner, entry = entries_of(rest.offsets, self.groups)
        self.value_of = rest.codes[entry].astype(np.int32)
        self.held = np.repeat(np.arange(len(entry), dtype=np.int32), rest.counts[entry])  # groups are in order
        self.firsts = first = np.searchsorted(owner, np.arange(len(self.groups) + 1))
        of_cell = self.group_of[self.cell_places[:-1]]
        self.pair_offsets = np.append(0, np.cumsum(np.diff(first)[of_cell])).astype(np.int64)
        self.shifts = self.pair_offsets[:-1] - first[of_cell]

    @cached_property
    def structure(self) -> tuple[NDArray[Any], ...]:
        """What the kernels need to know of the groups, cells, cuts and slots of a world."""
        return (
            self.group_of,
            self.places,
            self.cell_of,
            self.value_of,
            self.cell_offsets,
            self.keys,
            self.slot_offsets,
            self.slot_values,
            self.caps,
            self.cut_offsets,
            self.cut_places,
        )

    def result(self, found: Sampled, acceptance: float) -> SampledKinds:
        """Everybody's probabilities: known ones, those of groups that nothing divides, and sampled ones."""
        cuts, rest = self.cuts, self.rest
        n_cells = len(self.cell_places) - 1
        kind = np.full(len(cuts.group), -1, np.int64)
        kind[self.people] = self.cell_of
        known = np.flatnonzero(~self.unknown)
        left = np.flatnonzero((kind < 0) & self.unknown)
        groups, of_group = np.unique(cuts.group[left], return_inverse=True)
        kind[left] = n_cells + of_group
        kind[known] = n_cells + len(groups) + np.arange(len(known))
        owner, entry = entries_of(rest.offsets, groups)
        shares = rest.counts[entry] / np.maximum(1, rest.sizes[groups])[owner]
        exact = np.concatenate([shares, np.ones(len(known))])
        lengths = [np.diff(self.pair_offsets), np.bincount(owner, minlength=len(groups)), np.ones(len(known), np.int64)]
        in_pairs = np.arange(self.pair_offsets[-1]) - np.repeat(self.shifts, np.diff(self.pair_offsets))
        return SampledKinds(
            kind=kind,
            offsets=np.append(0, np.cumsum(np.concatenate(lengths))).astype(np.int64),
            codes=np.concatenate([self.value_of[in_pairs], rest.codes[entry], cuts.fixed[known]]).astype(np.int32),
            beliefs=np.concatenate([found.mean, exact]),
            errors=np.concatenate([found.error, np.zeros(len(exact))]),
            ess=np.concatenate([found.ess, np.full(len(exact), np.inf)]),
            r_hat=np.concatenate([found.r_hat, np.full(len(exact), np.nan)]),
            acceptance=acceptance,
            n_people=self.n_places,
            n_sweeps=found.n_sweeps,
            notes=(ISLANDS,) if self.n_places else (),
        )


class Rest:
    """The values of each group that are left for the people whose value is not known."""

    def __init__(self, cuts: FailedCuts) -> None:
        n_groups = cuts.n_groups
        owner = np.repeat(np.arange(n_groups), np.diff(cuts.offsets))
        key = owner * cuts.n_values + cuts.codes
        counts = cuts.counts.astype(np.int64)
        order = np.argsort(key, kind="stable")
        key, counts, owner = key[order], counts[order], owner[order]
        known = np.flatnonzero(cuts.fixed >= 0)
        wanted = cuts.group[known].astype(np.int64) * cuts.n_values + cuts.fixed[known]
        at = np.minimum(np.searchsorted(key, wanted), max(0, len(key) - 1))
        if len(known) and not (len(key) and np.array_equal(key[at], wanted)):
            raise InputError(
                "the value given for a person (corrupted=, --corrupted) is not published in the person's "
                "group: check the value"
            )
        np.subtract.at(counts, at, 1)
        if counts.size and counts.min() < 0:
            raise InputError(
                "more people of a group are given a value (corrupted=, --corrupted) than the group has "
                "records with this value: check the values"
            )
        left = counts > 0
        self.codes, self.counts = (key[left] % cuts.n_values), counts[left]
        self.offsets = np.searchsorted(owner[left], np.arange(n_groups + 1))
        self.sizes = np.bincount(cuts.group[cuts.fixed < 0], minlength=n_groups).astype(np.int64)
        total = np.bincount(owner[left], weights=self.counts, minlength=n_groups).astype(np.int64)
        if not np.array_equal(total, self.sizes):
            wrong = int(np.argmax(total != self.sizes))
            raise InputError(
                f"group {wrong} has "
                f"{counted(self.sizes[wrong], 'person whose value is', 'people whose values are')} not "
                f"known, and {counted(total[wrong], 'value')} for them: these numbers must be equal"
            )


class _Part:
    """Some of the cuts: which tell something, what is constant in them, who and what may change them.

    A cut is *telling* if it may fail and need not. ``key``, ``value`` and ``cap`` are sides of telling cuts, with the
    values of which more than the cap may be there. Constant are records that are on a side of a telling cut in every
    world: of known people, and of groups that are all there. Members are the other people on these sides.
    """

    def __init__(self, cuts: FailedCuts, rest: Rest, first: int, last: int) -> None:
        numbers = np.arange(first, last, dtype=np.int64)
        left, right = cuts.left_offsets[first : last + 1], cuts.right_offsets[first : last + 1]
        person = np.concatenate([cuts.left[left[0] : left[-1]], cuts.right[right[0] : right[-1]]])
        key = np.concatenate([2 * numbers.repeat(np.diff(left)), 2 * numbers.repeat(np.diff(right)) + 1])
        sizes = np.bincount(key - 2 * first, minlength=2 * (last - first))

        known = cuts.fixed[person] >= 0
        known_key, known_value = key[known], cuts.fixed[person[known]].astype(np.int64)
        person, key = person[~known], key[~known]
        met, place, members = np.unique(
            key * cuts.n_groups + cuts.group[person], return_inverse=True, return_counts=True
        )
        met_key, group = met // cuts.n_groups, met % cuts.n_groups
        whole = members == rest.sizes[group]  # the group is all on that side
        owner, entry = entries_of(rest.offsets, group)
        held, outside = rest.counts[entry], (rest.sizes[group] - members)[owner]

        joint, at = np.unique(
            np.concatenate(
                [known_key * cuts.n_values + known_value, met_key[owner] * cuts.n_values + rest.codes[entry]]
            ),
            return_inverse=True,
        )
        ones = np.ones(len(known_key), np.int64)
        side, value = joint // cuts.n_values, joint % cuts.n_values
        least = _summed(at, np.concatenate([ones, np.maximum(0, held - outside)]), len(joint))
        most = _summed(at, np.concatenate([ones, np.minimum(held, members[owner])]), len(joint))
        cap = sizes[side - 2 * first] * cuts.numerators[value] // cuts.denominators[value]
        possible, always = np.zeros(last - first, bool), np.zeros(last - first, bool)
        possible[(side[most > cap] >> 1) - first] = True
        always[(side[least > cap] >> 1) - first] = True
        if not possible.all():
            raise InputError(
                f"cut {first + int(np.argmin(possible))} was rejected, but the method would have made it in "
                "every possible table: check that the groups, the people, the principle, the method and its "
                "parameters are those of the release"
            )
        self.telling = ~always

        matters = (most > cap) & self._tells(side, first)
        self.key, self.value, self.cap = side[matters], value[matters], cap[matters]
        constant = whole[owner] & self._tells(met_key[owner], first)
        known = self._tells(known_key, first)
        self.constant_key = np.concatenate([known_key[known], met_key[owner[constant]]])
        self.constant_value = np.concatenate([known_value[known], rest.codes[entry[constant]]])
        self.constant_count = np.concatenate([ones[known], held[constant]]).astype(np.int32)
        changes = ~whole[place] & self._tells(key, first)
        self.member, self.member_key = person[changes].astype(np.int64), key[changes]

    def _tells(self, key: NDArray[np.int64], first: int) -> NDArray[np.bool_]:
        tells: NDArray[np.bool_] = self.telling[(key >> 1) - first]
        return tells


def _summed(place: NDArray[np.int64], counts: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    return np.bincount(place, weights=counts, minlength=n).astype(np.int64)  # counts: exact in a float


def _mixed(key: NDArray[np.int64], multiplier: int) -> NDArray[np.uint64]:
    """Pseudo-random bits for each key (the finalizer of splitmix64)."""
    x = (key.astype(np.uint64) + np.uint64(1)) * np.uint64(multiplier)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = x ^ (x >> np.uint64(31))
    return mixed


# --- walking ---------------------------------------------------------------------------------------------------------


class _Walk:
    """One Markov chain: a world in which every cut fails, and a random number generator of its own."""

    def __init__(self, layout: _Layout, source: Source, start: NDArray[np.int32] | None, name: str) -> None:
        self.layout = layout
        self.kernels = compiled("glasshouse.adversary.reverse_engineering.cuts._sampling_kernels")
        self.state = np.array([1 + source.below(2**62)], np.uint64)
        self.tally = np.zeros(3, np.int64)
        self.pairs = np.zeros(8, np.int64)
        self.violators = np.zeros(layout.n_cuts, np.int32)
        self._begin(source, start, name)

    def _begin(self, source: Source, start: NDArray[np.int32] | None, name: str) -> None:
        layout = self.layout
        if start is not None:
            self._set(self._given(start))
            if not self.violators.all():
                raise InputError(
                    f"the method would have made cut {int(np.argmin(self.violators))} in the table to start "
                    "from: give a table in which every rejected cut violates the principle"
                )
            return
        whole, where = np.zeros(layout.n_cuts, np.int32), np.zeros(layout.n_cuts, np.int32)
        left = 0
        for attempt in range(_RESTARTS):
            held = layout.held.copy()
            source.shuffle_runs(held, layout.places)
            self._set(held)
            n_steps = (layout.n_places + 1000) << min(attempt, 6)
            left = self.kernels.repair(self.world, _NEVER, _NOISE, _TRIES, n_steps, whole, where)
            if not left:
                return
        raise NotSupported(
            f"no possible table was found to start the sampling from: the method rejected {layout.n_cuts:,} cuts, "
            f"but in the last table that was tried it would have made {left:,} of them ({_RESTARTS} attempts, "
            f"{name})",
            instead="publish a smaller table in the same way, and attack it",
        )

    def _given(self, start: NDArray[np.int32]) -> NDArray[np.int32]:
        """A world given by code, as entries of the groups' lists."""
        layout, rest = self.layout, self.layout.rest
        owner, entry = entries_of(rest.offsets, layout.groups)
        keys = owner * layout.cuts.n_values + rest.codes[entry]
        held = np.searchsorted(keys, layout.group_of * np.int64(layout.cuts.n_values) + start[layout.people])
        if not np.array_equal(np.bincount(held, minlength=len(keys))[: len(keys)], rest.counts[entry]):
            raise InputError("the table to start from does not have the published values in every group")
        return held.astype(np.int32)

    def _set(self, held: NDArray[np.int32]) -> None:
        layout = self.layout
        self.held, self.counts = held, layout.constants.copy()
        self.world = self.kernels.World(*layout.structure, self.held, self.counts, self.violators, self.state)
        self.kernels.count(self.world)

    @property
    def n_changes(self) -> float:
        """How often everybody was moved, on average."""
        return float(self.tally[2] / self.layout.n_places)

    def sweep(self, n: int) -> NDArray[np.float64]:
        """Make ``n`` moves per person; then give how likely each cell's people have each value after one more move."""
        layout = self.layout
        self.walk(n * layout.n_places)
        looked, shares, squares = np.zeros((3, int(layout.pair_offsets[-1])))
        self.kernels.record(
            self.world, layout.cell_places, layout.shifts, layout.pair_offsets, _MOST_PARTNERS, shares, looked, squares
        )
        return looked

    def walk(self, n_moves: int) -> None:
        """Make so many moves."""
        self.kernels.walk(self.world, self.layout.firsts, _MANY, _FEW, n_moves, self.pairs, self.tally)
