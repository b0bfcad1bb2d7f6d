# SPDX-License-Identifier: Apache-2.0
"""Counting worlds in which some cuts all fail, for a few groups that the cuts separate.

A cut fails unless both its parts are safe. So the worlds in which every cut fails are counted by inclusion and
exclusion over sets of cuts that all succeed: in those no value may have more records in a part than its cap, which
leaves few ways, and these are counted value by value over how many people of each cell still have none. People of one
group whom no cut tells apart are one *cell*; values with equal counts and equal caps are one *type*; values that cannot
exceed a cap are dealt out at the end, in as many ways whatever went before.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, factorial, lgamma, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glasshouse.kernels import compiled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from glasshouse.randomness import Source

__all__ = ["Cell", "Profile", "TooManyStates", "Type", "beliefs_of", "drawn_beliefs", "exact_beliefs"]


_WORD = 64  # bits of a packed state
_EACH = 2_000  # moves that take as long as looking at one more set of cuts
_MANY = 50  # moves that take as long as listing one of the ways to deal a value out
_STATES = 1 << 15  # states that are held at once
_SLOWER = 20  # times that whole numbers take
_TELLING = 1e-5  # probabilities are then good to nine digits
_FEW = 12
_MOST_STEPS = 50_000_000  # of draws: each puts every value into a part of every cut; under a second
_FIRST_DRAWS = 512  # worlds in which every cut fails, before errors are looked at


_Ways = dict[int, list[tuple[int, ...]]]  # by type, how the records of a value may be shared out over the cells


class TooManyStates(Exception):
    """More states are needed than allowed."""


class Cell(NamedTuple):
    """People of one group on the same side of every cut: 0 left, 1 right, -1 if the cut is elsewhere."""

    group: int
    sides: tuple[int, ...]
    people: int


class Type(NamedTuple):
    """Values that are alike: how many records each group has, how many more each part may have, how many such values.

    ``room`` has two entries a cut, for its left and its right part.
    """

    counts: tuple[int, ...]
    room: tuple[int, ...]
    n_values: int


@dataclass(frozen=True)
class Profile:
    """Groups that cuts separate, up to the names of people, groups and values."""

    n_cuts: int
    cells: tuple[Cell, ...]
    types: tuple[Type, ...]


def exact_beliefs(profile: Profile, most_states: int) -> list[list[Fraction]] | None:
    """For every cell and type, how likely a person of the cell has one certain value of the type.

    None if no world makes every cut fail. All in whole numbers.
    """
    total = Fraction(0)
    joint = [[Fraction(0)] * len(profile.types) for _ in profile.cells]
    for k in range(profile.n_cuts + 1):
        for cuts in combinations(range(profile.n_cuts), k):
            found = _Successes(profile, cuts, most_states).count()
            if found is None:
                continue
            share, likely = found
            total += (-1) ** k * share
            for i, row in enumerate(likely):
                for j, belief in enumerate(row):
                    joint[i][j] += (-1) ** k * belief
    if total == 0:
        return None
    return [[belief / total for belief in row] for row in joint]


class _Successes:
    """The worlds in which certain cuts all succeed, as a share of all worlds."""

    def __init__(self, profile: Profile, cuts: Sequence[int], most_states: int) -> None:
        self.profile = profile
        self.cuts = cuts
        self.most_states = most_states
        self.moves = 1
        self.n_groups = 1 + max(cell.group for cell in profile.cells)
        numbers: dict[tuple[int, tuple[int, ...]], int] = {}
        self.merged = [
            numbers.setdefault((cell.group, tuple(cell.sides[c] for c in cuts)), len(numbers)) for cell in profile.cells
        ]
        self.keys = list(numbers)
        self.people = [0] * len(numbers)
        for cell, place in zip(profile.cells, self.merged, strict=True):
            self.people[place] += cell.people
        self.of_group = [[i for i, (g, _) in enumerate(self.keys) if g == group] for group in range(self.n_groups)]
        self.sizes = [sum(self.people[i] for i in cells) for cells in self.of_group]

    def count(self) -> tuple[Fraction, list[list[Fraction]]] | None:
        """Their share, and for every cell and type how likely they are and a person there has one such value."""
        heavy = self._heavy()
        if heavy is None:
            return None
        steps = [number for number in heavy for _ in range(self.profile.types[number].n_values)]
        ways = {number: self._placements(self.profile.types[number]) for number in heavy}

        layers = self._forwards(steps, ways)
        if not layers[-1]:
            return None
        left = list(self.sizes)
        for number in steps:
            left = [n - t for n, t in zip(left, self.profile.types[number].counts, strict=True)]
        everything = prod(factorial(n) for n in self.sizes)
        rest = prod(factorial(n) for n in left)
        for number in steps:
            everything //= prod(factorial(t) for t in self.profile.types[number].counts)
        share = Fraction(sum(layers[-1].values()) * rest, everything)

        inside = self._backwards(steps, ways, layers)
        unused = [0] * len(self.people)
        for state, n in layers[-1].items():
            for i, r in enumerate(state):
                unused[i] += n * r
        likely = []
        for cell, place in zip(self.profile.cells, self.merged, strict=True):
            row = []
            for number, kind in enumerate(self.profile.types):
                if number in inside:
                    found = Fraction(inside[number][place] * rest, everything)
                elif kind.counts[cell.group]:
                    found = Fraction(unused[place] * rest * kind.counts[cell.group], everything * left[cell.group])
                else:
                    found = Fraction(0)
                row.append(found / self.people[place])
            likely.append(row)
        return share, likely

    def _forwards(self, steps: list[int], ways: _Ways) -> list[dict[tuple[int, ...], int]]:
        """How many ways lead to each state, step by step; a state says how many people of each cell have no value."""
        layers: list[dict[tuple[int, ...], int]] = [{tuple(self.people): 1}]
        for number in steps:
            after: dict[tuple[int, ...], int] = defaultdict(int)
            for state, n in layers[-1].items():
                for _, remaining, chosen in self._after(state, ways[number]):
                    after[remaining] += n * chosen
            self.moves += len(layers[-1]) * len(ways[number])
            if self.moves > self.most_states:
                raise TooManyStates
            layers.append(after)
        return layers

    def _backwards(
        self, steps: list[int], ways: _Ways, layers: list[dict[tuple[int, ...], int]]
    ) -> dict[int, list[int]]:
        """In how many ways one value of each heavy type is in every cell."""
        inside: dict[int, list[int]] = {}
        onwards: dict[tuple[int, ...], int] = dict.fromkeys(layers[-1], 1)
        for k in range(len(steps) - 1, -1, -1):
            number = steps[k]
            before: dict[tuple[int, ...], int] = {}
            tally = [0] * len(self.people)
            for state, n in layers[k].items():
                total = 0
                for placement, after_state, chosen in self._after(state, ways[number]):
                    there = chosen * onwards[after_state] if after_state in onwards else 0
                    total += there
                    for i, x in enumerate(placement):
                        tally[i] += n * there * x
                before[state] = total
            inside[number] = tally
            onwards = before
        return inside

    def _heavy(self) -> list[int] | None:
        """The types of values of which a part may have too many records; None if a value always has too many."""
        heavy = []
        parts = range(2 * len(self.cuts))
        inside = [[self._inside(g, part) for g in range(self.n_groups)] for part in parts]
        for number, kind in enumerate(self.profile.types):
            room = [kind.room[2 * c + side] for c in self.cuts for side in (0, 1)]
            if min(room, default=0) < 0:
                return None
            for part in parts:
                if sum(map(min, kind.counts, inside[part])) > room[part]:
                    heavy.append(number)
                    break
        return heavy

    def estimate(self) -> tuple[float, NDArray[np.float64]] | None:
        """The same in floating point, by compiled loops: only positive numbers are added."""
        cells, types = self.profile.cells, self.profile.types
        heavy = self._heavy()
        if heavy is None:
            return None
        people = np.array(self.people)
        group = np.array([g for g, _ in self.keys])
        sizes = np.array(self.sizes)
        counts = np.array([kind.counts for kind in types]).reshape(len(types), self.n_groups)
        n_values = np.array([kind.n_values for kind in types])
        left = sizes - (counts[heavy] * n_values[heavy, np.newaxis]).sum(axis=0)
        if not heavy:
            # nothing stands in the way: every person has every value as often as the group has it
            return 1.0, counts[:, [cell.group for cell in cells]].T / sizes[[cell.group for cell in cells], np.newaxis]

        widths = [int(n).bit_length() + 1 for n in self.people]
        if sum(widths) > _WORD:
            raise TooManyStates
        shifts = np.append(0, np.cumsum(widths))[:-1].astype(np.uint64)
        guards = sum(1 << (int(shift) + width - 1) for shift, width in zip(shifts, widths, strict=True))
        spread = [zip(types[number].counts, self.of_group, strict=True) for number in heavy]
        most = max(comb(t + len(places), t) for pairs in spread for t, places in pairs)
        if most * _MANY > self.most_states:  # listing them would take longer than the moves that are left
            raise TooManyStates
        placements = [np.array(self._placements(types[number]), np.int64).reshape(-1, len(people)) for number in heavy]
        first = np.cumsum([0, *map(len, placements)])
        ways_to = np.concatenate(placements)
        dealt = (ways_to.astype(np.uint64) << shifts).sum(axis=1, dtype=np.uint64)
        log_share = np.log(people / sizes[group])
        logs = ways_to @ log_share - _log_factorial(ways_to).sum(axis=1)
        logs += np.repeat(_log_factorial(counts[heavy]).sum(axis=1), np.diff(first))
        weights = np.exp(logs)
        steps = np.repeat(np.arange(len(heavy)), n_values[heavy]).astype(np.int32)
        table, keys, ways, onwards = _pool(_STATES)
        keys[0] = np.uint64(guards + sum(int(n) << int(shift) for n, shift in zip(people, shifts, strict=True)))
        layers = np.zeros(len(steps) + 2, np.int64)
        kernels = compiled("glasshouse.adversary.reverse_engineering.cuts._counting_kernels")
        dealing = kernels.Layers(guards, steps, first, dealt, weights, table, keys, ways, onwards, layers)
        moves = kernels.forwards(dealing, self.most_states)
        if moves < 0:
            raise TooManyStates
        self.moves = 1 + moves

        # dealt out as if people could be dealt to twice; the last states make up for it
        last = slice(int(layers[-2]), int(layers[-1]))
        masks = np.array([(1 << (width - 1)) - 1 for width in widths], np.uint64)
        state = ((keys[last, np.newaxis] >> shifts) & masks).astype(np.int64)
        if not len(state):
            return None
        logs = (_log_factorial(people) - _log_factorial(state) - (people - state) * log_share).sum(axis=1)
        onwards[last] = np.exp(logs + (_log_factorial(left) - _log_factorial(sizes)).sum())
        flow = np.zeros(len(dealt))
        chances = ways[last] * onwards[last]
        share = float(chances.sum())
        remaining = chances @ state
        kernels.backwards(dealing, flow)
        merged = np.array(self.merged)
        rest = counts[:, group] / np.maximum(left[group], 1) * remaining  # types x merged cells
        for place, number in enumerate(heavy):
            mine = slice(first[place], first[place + 1])
            rest[number] = flow[mine] @ ways_to[mine]
        return share, (rest / people).T[merged]

    def _inside(self, group: int, part: int) -> int:
        """How many people of a group a part has."""
        return sum(self.people[i] for i in self.of_group[group] if self.keys[i][1][part // 2] == part % 2)

    def _after(
        self, state: tuple[int, ...], ways: list[tuple[int, ...]]
    ) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], int]]:
        for placement in ways:
            left = tuple(r - x for r, x in zip(state, placement, strict=True))
            if min(left) >= 0:
                yield placement, left, prod(comb(r, x) for r, x in zip(state, placement, strict=True) if x)

    def _placements(self, kind: Type) -> list[tuple[int, ...]]:
        """Every way to share the records of one value out over the cells so that no part has too many."""
        room = [kind.room[2 * c + side] for c in self.cuts for side in (0, 1)]
        parts = [[2 * j + side for j, side in enumerate(sides) if side >= 0] for _, sides in self.keys]
        cells = [i for group in self.of_group for i in group]
        ends = {group[-1]: g for g, group in enumerate(self.of_group) if group}
        found: list[tuple[int, ...]] = []
        chosen = [0] * len(self.people)

        def place(at: int, still: int) -> None:
            if at == len(cells):
                found.append(tuple(chosen))
                return
            self.listed += 1
            if self.listed * _MANY > self.most_states:
                raise TooManyStates
            cell = cells[at]
            last = cell in ends
            following = (kind.counts[self.keys[cells[at + 1]][0]] if at + 1 < len(cells) else 0) if last else None
            most = min([still, self.people[cell], *(room[p] for p in parts[cell])])
            for x in range(still if last else 0, most + 1):
                chosen[cell] = x
                for p in parts[cell]:
                    room[p] -= x
                place(at + 1, still - x if following is None else following)
                for p in parts[cell]:
                    room[p] += x
            chosen[cell] = 0

        self.listed = 0
        place(0, kind.counts[self.keys[cells[0]][0]] if cells else 0)
        return found


def beliefs_of(
    profile: Profile, most_states: int, *, telling: float = _TELLING, few: int = _FEW
) -> list[list[float]] | None:
    """The results of `exact_beliefs` in floating point; in whole numbers where floating point would lose too much.

    That is so if all cuts fail in less than the share ``telling`` of all worlds; and for ``few`` people whole numbers
    cost little. `TooManyStates` if more than ``most_states`` moves from one state to another would be made.
    """
    if sum(cell.people for cell in profile.cells) <= few and 2**profile.n_cuts <= most_states // _SLOWER:
        try:
            exact = exact_beliefs(profile, most_states // _SLOWER)
            return None if exact is None else [[float(belief) for belief in row] for row in exact]
        except TooManyStates:
            pass
    if _EACH * 2**profile.n_cuts > most_states:
        raise TooManyStates
    total = 0.0
    joint = np.zeros((len(profile.cells), len(profile.types)))
    left = most_states
    for k in range(profile.n_cuts, -1, -1):  # the hardest first
        for cuts in combinations(range(profile.n_cuts), k):
            successes = _Successes(profile, cuts, left)
            found = successes.estimate()
            left -= successes.moves + _EACH
            if found is not None:
                total += (-1) ** k * found[0]
                joint += (-1) ** k * found[1]
    if total < telling * 2**profile.n_cuts:
        exact = exact_beliefs(profile, most_states // _SLOWER)
        return None if exact is None else [[float(belief) for belief in row] for row in exact]
    beliefs: list[list[float]] = np.clip(joint / total, 0.0, 1.0).tolist()
    return beliefs


def drawn_beliefs(
    profile: Profile, error: float, source: Source, most_draws: int
) -> tuple[list[list[float]], list[list[float]]]:
    """The same from independent draws: worlds are drawn, and those in which every cut fails are kept.

    Returns probabilities, and half the width of a 95 % interval around each. `TooManyStates` if ``most_draws`` worlds
    are not enough for the error that is asked for. Only values that can have too many records in a part are dealt out;
    what is left of a cell is shared by the others as in their group.
    """
    successes = _Successes(profile, range(profile.n_cuts), 0)
    heavy = successes._heavy()
    if not heavy:
        raise TooManyStates
    kinds = [profile.types[number] for number in heavy]
    people = np.array([cell.people for cell in profile.cells])
    group = np.array([cell.group for cell in profile.cells])
    sizes = np.bincount(group, weights=people).astype(np.int64)
    order = np.argsort(group, kind="stable")
    types = np.repeat(np.arange(len(kinds)), [kind.n_values for kind in kinds]).astype(np.int32)
    counts = np.array([kinds[t].counts for t in types.tolist()]).reshape(len(types), len(sizes))
    n_parts = 2 * profile.n_cuts
    parts = np.array([[2 * j + side if side >= 0 else -1 for j, side in enumerate(c.sides)] for c in profile.cells])
    shape = (len(kinds) + 1, len(people))
    sums, squares, tally = np.zeros(shape), np.zeros(shape), np.zeros(2, np.int64)
    state = np.array([1 + source.below(2**62)], np.uint64)
    kernels = compiled("glasshouse.adversary.reverse_engineering.cuts._counting_kernels")
    worlds = kernels.Worlds(
        np.repeat(order, people[order]).astype(np.int32),
        np.append(0, np.cumsum(sizes)),
        np.concatenate([np.repeat(np.arange(len(types)), column) for column in counts.T]).astype(np.int32),
        np.append(0, np.cumsum(counts.sum(axis=0))).astype(np.int64),
        types,
        parts.astype(np.int32).reshape(len(people), profile.n_cuts),
        np.array([kinds[t].room for t in types.tolist()], np.int32).reshape(len(types), n_parts),
        np.zeros((len(types), n_parts), np.int32),
        np.zeros(profile.n_cuts, np.uint8),
        np.zeros(shape, np.int32),
        sums,
        squares,
    )
    left = (sizes - counts.sum(axis=0))[group]
    wanted = _FIRST_DRAWS
    most_draws = min(most_draws, _MOST_STEPS // max(1, int(counts.sum()) * profile.n_cuts))
    while True:
        kernels.draw(worlds, state, wanted, most_draws, tally)
        n = int(tally[0])
        if n < wanted:
            raise TooManyStates
        mean = sums / n
        spread = np.sqrt(np.maximum(squares / n - mean**2, 0.0) / (n - 1))
        # wider than 1.96: drawing ends when errors look small, and rare values are not normal
        half = np.maximum(2.2 * spread + 1.0 / n, np.where(spread == 0, 3.0 / n, 0.0))
        beliefs, errors = np.zeros((2, len(people), len(profile.types)))
        for number, kind in enumerate(profile.types):
            if number in heavy:
                place = heavy.index(number)
                beliefs[:, number] = mean[place] / (people * kind.n_values)
                errors[:, number] = half[place] / (people * kind.n_values)
            else:
                share = np.array(kind.counts)[group] / np.maximum(left, 1) / people
                beliefs[:, number] = (people - mean[-1]) * share
                errors[:, number] = half[-1] * share
        largest = float(errors.max())
        if largest <= error:
            return beliefs.tolist(), errors.tolist()
        wanted = int(n * min((largest / error) ** 2, 8.0) * 1.05) + 16  # as many as should do


def _log_factorial(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    known = _scratch.get("logs")
    if known is None or len(known) <= numbers.max(initial=0):
        known = _scratch["logs"] = np.array([lgamma(n + 1) for n in range(2 * int(numbers.max(initial=0)) + 64)])
    found: NDArray[np.float64] = known[numbers]
    return found


_scratch: dict[str, Any] = {}


def _pool(states: int) -> tuple[Any, ...]:
    """Memory for states, reused from call to call: a hash table, keys, and two weights for each state."""
    if _scratch.get("states", 0) < states:
        size = 1 << (2 * states - 1).bit_length()
        _scratch.update(
            states=states,
            table=np.full(size, -1, np.int32),
            arrays=(np.empty(states, np.uint64), np.empty(states), np.empty(states)),
        )
    return _scratch["table"], *_scratch["arrays"]
