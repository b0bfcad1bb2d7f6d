# SPDX-License-Identifier: Apache-2.0
"""Permanents: exact probabilities where cells overlap, by counting every way to share records out among people.

All records of a release belong to different people. Where somebody fits two combinations of cells, how likely they are
at either depends on everybody else who fits: in a world every record is given to somebody who fits it, and no person
has two; every world is equally likely. Counting them is counting perfect matchings, the permanent of a matrix of zeros
and ones, which is hard in general (Valiant, "The complexity of computing the permanent", Theoretical Computer Science
8, 1979). It is easy for many that occur, since

* what no chain of people and records connects is counted by itself;
* people who fit the same are counted once, with how many they are, and so are places that the same people fit;
* people are gone through in an order in which few places are open (begun and not yet full) at any time, and ways that
  leave the same room at these places are counted once.

The last is done for anything that people may take: a place, or several things at once (see `count_ways`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from math import comb, log2
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glasshouse.adversary.posterior import Beliefs, entries_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = [
    "Counted",
    "ExactShares",
    "connected",
    "count_ways",
    "easy_first",
    "exact_shares",
    "largest_shares",
    "shared_out",
]

_STATES = 4_000_000  # some seconds, and some hundred megabytes
_FIRST_TRY, _HARDER = 1 << 10, 8  # the hard components wait until the easy ones are done


# --- people who fit places -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ExactShares:
    """The probabilities of who sits where, counted exactly as far as that is possible."""

    component: NDArray[np.int64]  # for every kind of people which component it is in; -1 for those who fit nothing
    is_exact: NDArray[np.bool_]  # for every kind whether its probabilities are exact; those of others are 0
    # how likely a given person of the kind sits at the place: aligned with the ``places`` that were given
    probability: NDArray[np.float64]
    presence: NDArray[np.float64]  # for every kind how likely a given person sits anywhere
    n_states: int  # how often one state led to another: what the counting cost


def exact_shares(
    n_alike: NDArray[np.int64],
    offsets: NDArray[np.int64],
    places: NDArray[np.int64],
    capacity: NDArray[np.int64],
    *,
    most_states: int = _STATES,
) -> ExactShares:
    """Share the records of all places out among the people who fit them, every way being equally likely.

    There are ``n_alike[i]`` people of kind ``i``, who fit the places ``places[offsets[i]:offsets[i + 1]]``, each named
    once; ``capacity`` says how many records every place has. One state may lead to another ``most_states`` times over
    all components, the easy ones first; what is left then is not exact.

    Notes
    -----
    At a single place that nobody can avoid, and nobody else can fill, people are alike: ``min(1, records / people)``. A
    larger component whose records cannot all be given to people on the list is not exact.

    Examples
    --------
    Ann fits the first place alone, Bob both, Carl the second alone; there is one record at either:

    >>> found = exact_shares(np.array([1, 1, 1]), np.array([0, 1, 3, 4]), np.array([0, 0, 1, 1]), np.array([1, 1]))
    >>> found.presence.round(4).tolist(), found.probability.round(4).tolist()
    ([0.6667, 0.6667, 0.6667], [0.6667, 0.3333, 0.3333, 0.6667])
    """
    n_kinds = len(n_alike)
    kind = np.repeat(np.arange(n_kinds), np.diff(offsets))
    label = connected(n_kinds + len(capacity), kind, places + n_kinds)
    roots, component = np.unique(label[:n_kinds][np.diff(offsets) > 0], return_inverse=True)
    of_kind = np.full(n_kinds, -1, np.int64)
    of_kind[np.diff(offsets) > 0] = component.reshape(-1)
    is_exact = of_kind < 0
    probability = np.zeros(len(places))

    keys = np.unique(of_kind[kind] * len(capacity) + places)
    n_places = np.bincount(keys // max(len(capacity), 1), minlength=len(roots))  # of every component
    alone = n_places[of_kind[kind]] == 1
    rivals = np.bincount(places, weights=n_alike[kind], minlength=len(capacity))
    probability[alone] = np.minimum(1.0, capacity[places[alone]] / rivals[places[alone]])
    is_exact[kind[alone]] = True

    order = np.argsort(of_kind[kind], kind="stable")
    bounds = np.searchsorted(of_kind[kind][order], np.arange(len(roots) + 1))
    work = _least_states(kind, places, of_kind, len(roots))

    def attempt(c: int, most: int) -> tuple[bool, int]:
        pairs = order[bounds[c] : bounds[c + 1]]
        shares, n_states = _component(n_alike, kind[pairs], places[pairs], capacity, most)
        if shares is not None:
            probability[pairs] = shares
            is_exact[kind[pairs]] = True
        return shares is not None, n_states

    spent = easy_first({c: int(work[c]) for c in np.flatnonzero(n_places > 1).tolist()}, attempt, most_states)
    presence = np.bincount(kind, weights=probability, minlength=n_kinds).astype(np.float64)
    return ExactShares(of_kind, is_exact, probability, np.minimum(presence, 1.0), spent)


def easy_first(work: Mapping[int, int], attempt: Callable[[int, int], tuple[bool, int]], most_states: int) -> int:
    """Count every component within a limit of states, easy ones first, then harder ones, until all states are used up.

    ``work`` says how many states every component takes at least. ``attempt`` counts a component with so many states at
    most; it returns whether it succeeded, and how many it took: more than were allowed, if these did not do. Returns
    how many states were gone through in all.
    """
    waiting = sorted(work, key=lambda c: (work[c], c))
    tried = dict.fromkeys(waiting, 0)  # with how many states at most: no fewer would do
    spent, most = 0, _FIRST_TRY
    while any(max(work[c], tried[c] + 1) <= most_states - spent for c in waiting):
        left = []
        for c in waiting:
            allowed = min(most, most_states - spent)
            if max(work[c], tried[c] + 1) > allowed:
                left.append(c)
                continue
            done, taken = attempt(c, allowed)
            tried[c] = allowed
            spent += taken
            if not done and taken > allowed:  # else there is no way at all
                left.append(c)
        waiting, most = left, most * _HARDER
    return spent


def _least_states(
    kind: NDArray[np.int64], places: NDArray[np.int64], of_kind: NDArray[np.int64], n: int
) -> NDArray[np.int64]:
    """About how many states every component takes at least, so that hopeless components are not begun.

    What is alike is put together first, told by hashes. Somebody who may take any of d places is, before the i-th of
    them is looked at, at one of the earlier ones or still free: i states, and d (d + 1) / 2 for all of them. That
    others leave a person no choice is not considered.
    """
    if not len(kind):
        return np.zeros(n, np.int64)
    by_kind = _hash_sums(kind, places)
    by_place = _hash_sums(places, by_kind[kind].astype(np.int64))
    both = _hashes(by_kind)[kind] + by_place[places]
    _, one = np.unique(both, return_index=True)  # a pair of a class of people and a class of places
    classes, of_pair = np.unique(by_kind[kind[one]], return_inverse=True)
    n_options = np.bincount(of_pair.reshape(-1), minlength=len(classes))
    component = np.empty(len(classes), np.int64)
    component[of_pair.reshape(-1)] = of_kind[kind[one]]
    return np.bincount(component, weights=n_options * (n_options + 1) // 2, minlength=n).astype(np.int64)


def _hash_sums(of: NDArray[np.int64], what: NDArray[np.int64]) -> NDArray[np.uint64]:
    """For each of ``of`` the sum of the hashes of its members; equal sets have equal sums, different ones may too."""
    sums = np.zeros(int(of.max()) + 1, np.uint64)
    np.add.at(sums, of, _hashes(what))
    return sums


def _hashes(what: NDArray[Any]) -> NDArray[np.uint64]:
    """A hash of every number (splitmix64)."""
    x = what.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def _component(
    n_alike: NDArray[np.int64],
    kind: NDArray[np.int64],
    places: NDArray[np.int64],
    capacity: NDArray[np.int64],
    most_states: int,
) -> tuple[list[float] | None, int]:
    """Count one component: put together what is alike, count, and give every pair its part of it; and the cost."""
    fits: dict[int, list[int]] = defaultdict(list)
    for k, p in zip(kind.tolist(), places.tolist(), strict=True):
        fits[k].append(p)
    classes: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for k, mine in fits.items():
        classes[tuple(sorted(mine))].append(k)
    fitted: dict[int, list[int]] = defaultdict(list)  # classes of people, by place
    for i, mine_ in enumerate(classes):
        for p in mine_:
            fitted[p].append(i)
    joined: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for p, by in fitted.items():
        joined[tuple(by)].append(p)
    join_of = {p: j for j, some in enumerate(joined.values()) for p in some}
    rooms = [sum(int(capacity[p]) for p in some) for some in joined.values()]
    options = [[(j,) for j in sorted({join_of[p] for p in mine})] for mine in classes]
    people = [sum(int(n_alike[k]) for k in some) for some in classes.values()]

    counted = count_ways(people, options, rooms, leaving=sum(people) - sum(rooms), most_states=most_states)
    if counted.shares is None:
        return None, counted.n_states
    share = {
        (k, taken[0]): float(part)
        for some, mine, parts in zip(classes.values(), options, counted.shares, strict=True)
        for taken, part in zip(mine, parts, strict=True)
        for k in some
    }
    of_room = [int(capacity[p]) / rooms[join_of[p]] if rooms[join_of[p]] else 0.0 for p in places.tolist()]
    shares = [share[k, join_of[p]] * part for k, p, part in zip(kind.tolist(), places.tolist(), of_room, strict=True)]
    return shares, counted.n_states


def largest_shares(offsets: NDArray[np.int64], places: NDArray[np.int64], shares: Beliefs, n_values: int) -> Beliefs:
    """A bound on every probability that needs no counting: the largest share that a value has at any place one fits.

    Whatever the weights of the places, which add up to 1 at most, no mixture of their shares is larger. Kind ``i`` fits
    the places ``places[offsets[i]:offsets[i + 1]]``, and ``shares`` says how the records of every place are
    distributed.

    Examples
    --------
    >>> shares = Beliefs(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32), np.array([0.25, 0.75, 1.0]))
    >>> found = largest_shares(np.array([0, 1, 3]), np.array([0, 0, 1]), shares, 2)
    >>> found.offsets.tolist(), found.codes.tolist(), found.beliefs.tolist()
    ([0, 2, 4], [0, 1, 0, 1], [0.25, 0.75, 0.25, 1.0])
    """
    kind = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    pair, at = entries_of(shares.offsets, places)
    n_kinds = len(offsets) - 1
    return Beliefs.joined(
        kind[pair], shares.codes[at], shares.beliefs[at], n_kinds=n_kinds, n_values=n_values, how=np.maximum
    )


def shared_out(n: int, places: int) -> Iterator[tuple[int, ...]]:
    """Every way to divide ``n`` identical items among so many places, in ascending order.

    >>> list(shared_out(2, 2))
    [(0, 2), (1, 1), (2, 0)]
    """
    if places <= 1:
        if places or not n:
            yield (n,) * places
        return
    for here in range(n + 1):
        for others in shared_out(n - here, places - 1):
            yield (here, *others)


def connected(n: int, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Label the connected components of the pairs ``a[i], b[i]``, each by the smallest number in it.

    >>> connected(5, np.array([0, 3]), np.array([2, 2])).tolist()
    [0, 1, 0, 0, 4]
    """
    label = np.arange(n)
    while True:
        low = np.minimum(label[a], label[b])
        new = label.copy()
        for ends in (a, b):
            np.minimum.at(new, label[ends], low)
            np.minimum.at(new, ends, low)
        while not np.array_equal(new, new[new]):
            new = new[new]
        if np.array_equal(new, label):
            return label
        label = new


# --- counting --------------------------------------------------------------------------------------------------------


class Counted(NamedTuple):
    """For every kind and option a person's probability to take it (None if not counted); the cost; how many ways."""

    shares: list[list[Fraction]] | None
    n_states: int
    n_ways: int = 0


def count_ways(
    n_alike: Sequence[int],
    options: Sequence[Sequence[Sequence[int]]],
    capacity: Sequence[int],
    *,
    leaving: int | None = None,
    staying: Sequence[bool] | None = None,
    most_states: int = _STATES,
) -> Counted:
    """Count the ways to choose options until everything is used up, and how many people take which option.

    Everybody takes one of the options of their kind, or none at all. An option takes one unit of each of some different
    things, and in the end nothing of anything may be left. Every way to do so, told apart by who takes what, counts
    alike. If it is known how many people take nothing, ``leaving``, fewer states are gone through; ``staying`` says for
    every kind whether all of its people take an option. Counting is given up if one state would lead to another more
    than ``most_states`` times, summed over all steps.

    Notes
    -----
    A state is what is left of everything that is open, in the bits of one number. Forwards, states are given the number
    of ways that lead to them, option after option; backwards, the number of ways that lead on from them to the end.
    The product of both, summed over a step, counts who took the option.

    Examples
    --------
    Two people may take the first thing or the second, a third the second alone; there is one of the first and two of
    the second: the third always gets one.

    >>> count_ways([2, 1], [[(0,), (1,)], [(1,)]], [1, 2]).shares
    [[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 1)]]
    """
    wanted = {thing for mine in options for taken in mine for thing in taken}
    if (leaving is not None and leaving < 0) or any(n and thing not in wanted for thing, n in enumerate(capacity)):
        return Counted(None, 0)
    if staying is not None and any(stays and not mine for stays, mine in zip(staying, options, strict=True)):
        return Counted(None, 0)
    steps: list[_Step] = []
    layers: list[dict[int, int]] = []
    layer = {0: 1}
    n_states = 0
    n_left = sum(len(mine) for n, mine in zip(n_alike, options, strict=True) if n)  # steps: each takes a state at least
    for step in _steps(n_alike, options, capacity, leaving, staying or [False] * len(n_alike)):
        layer = {key + step.opening: ways for key, ways in layer.items()}
        steps.append(step)
        layers.append(layer)
        n_left -= 1
        layer, spent = _forwards(step, layer, most_states - n_states - n_left)
        n_states += spent
        if n_states + n_left > most_states:
            return Counted(None, n_states + n_left)
        if not layer:
            return Counted(None, n_states)
    total = sum(layer.values())
    if total == 0:
        return Counted(None, n_states)
    shares = [[Fraction(0)] * len(mine) for mine in options]
    after = dict.fromkeys(layer, 1)
    while steps:
        step = steps.pop()
        after, taken = _backwards(step, layers.pop(), after)
        shares[step.kind][step.option] = Fraction(taken, total * n_alike[step.kind])
    return Counted(shares, n_states, total)


class _Taken(NamedTuple):
    """Something that an option takes: where a state has it, and how many people may still take it afterwards."""

    shift: int
    mask: int
    later_people: int  # of the kinds that come later
    later_options: bool  # whether a later option of the same kind takes it too


class _Step(NamedTuple):
    """People of a kind take an option, or not. The lowest bits of a state are those of the kind who took none yet."""

    kind: int
    option: int
    opening: int  # what is added to every state before
    things: tuple[_Taken, ...]
    unit: int  # what one person takes from a state
    people: int  # the mask of the lowest bits
    is_last: bool  # of its kind: those who are left take nothing
    stays: bool  # nobody may be left
    leaving: tuple[int, int] | None  # how many may do so in all; where a state has how many did


def _choices(step: _Step, key: int) -> tuple[int, range]:
    """How many people of the kind are left, and how many of them may take the option."""
    m = key & step.people
    low, high = 0, m
    for shift, mask, later_people, later_options in step.things:
        room = key >> shift & mask
        high = min(high, room)
        if not later_options:
            low = max(low, room - later_people)
        elif room > later_people + m:
            return m, range(0)
    if step.is_last and step.stays:
        low = max(low, m)
    elif step.is_last and step.leaving is not None:
        low = max(low, m - step.leaving[0] + (key >> step.leaving[1]))
    return m, range(low, high + 1)


def _reached(step: _Step, key: int, m: int, x: int) -> int:
    """The state after x people took the option."""
    key -= x * step.unit
    if step.is_last:
        key -= m - x
        if step.leaving is not None:
            key += m - x << step.leaving[1]
    return key


def _forwards(step: _Step, layer: dict[int, int], most: int) -> tuple[dict[int, int], int]:
    """The number of ways to every state after the step, and between states; at most ``most`` transitions."""
    found: dict[int, int] = defaultdict(int)
    spent = 0
    for key, ways in layer.items():
        m, choices = _choices(step, key)
        spent += len(choices)
        if spent > most:
            break
        for x in choices:
            found[_reached(step, key, m, x)] += ways * comb(m, x)
    return found, spent


def _backwards(step: _Step, layer: dict[int, int], after: dict[int, int]) -> tuple[dict[int, int], int]:
    """The ways on from every state before the step, and how many took the option, summed over all ways."""
    found: dict[int, int] = {}
    taken = 0
    for key, ways in layer.items():
        m, choices = _choices(step, key)
        onwards = by_number = 0
        for x in choices:
            part = comb(m, x) * after.get(_reached(step, key, m, x), 0)
            onwards += part
            by_number += x * part
        if onwards:
            found[key - step.opening] = onwards
            taken += ways * by_number
    return found, taken


def _steps(
    n_alike: Sequence[int],
    options: Sequence[Sequence[Sequence[int]]],
    capacity: Sequence[int],
    leaving: int | None,
    staying: Sequence[bool],
) -> Iterator[_Step]:
    """Every option of every kind, ordered so that few things are open at any time."""
    people = (1 << max(n_alike, default=0).bit_length()) - 1
    slots = _Slots(people.bit_length())
    takers: dict[int, set[int]] = defaultdict(set)
    for k, mine in enumerate(options):
        for taken in mine:
            for thing in taken:
                takers[thing].add(k)
    demand = {thing: sum(n_alike[k] for k in some) for thing, some in takers.items()}
    # how many left is kept above everything else, where it has all the room it needs
    width = sum(capacity[thing].bit_length() for thing in takers) + people.bit_length()
    may_leave = None if leaving is None else (leaving, width)
    for k in _order(n_alike, options, capacity, takers):
        last = {thing: i for i, taken in enumerate(options[k]) for thing in taken}
        for thing in last:
            demand[thing] -= n_alike[k]
        for i, taken in enumerate(options[k]):
            opening = n_alike[k] if i == 0 else 0
            for thing in taken:
                if thing not in slots.at:
                    opening += capacity[thing] << slots.open(thing, capacity[thing].bit_length())
            things = tuple(
                _Taken(slots.at[thing], (1 << capacity[thing].bit_length()) - 1, demand[thing], i < last[thing])
                for thing in taken
            )
            unit = 1 + sum(1 << slots.at[thing] for thing in taken)
            yield _Step(k, i, opening, things, unit, people, i == len(options[k]) - 1, staying[k], may_leave)
            for thing in taken:
                if i == last[thing] and demand[thing] == 0:
                    slots.close(thing, capacity[thing].bit_length())


class _Slots:
    """Where in a state everything open is kept: the bits of what is full are used again."""

    def __init__(self, first: int) -> None:
        self.at: dict[int, int] = {}
        self.free: dict[int, list[int]] = defaultdict(list)
        self.top = first

    def open(self, thing: int, width: int) -> int:
        if self.free[width]:
            self.at[thing] = self.free[width].pop()
        else:
            self.at[thing] = self.top
            self.top += width
        return self.at[thing]

    def close(self, thing: int, width: int) -> None:
        self.free[width].append(self.at.pop(thing))


def _order(
    n_alike: Sequence[int],
    options: Sequence[Sequence[Sequence[int]]],
    capacity: Sequence[int],
    takers: dict[int, set[int]],
) -> Iterator[int]:
    """The order of kinds: each next kind opens few things and closes many; kinds that can take nothing are left out."""
    things = [sorted({thing for taken in mine for thing in taken}) for mine in options]
    left = {thing: len(some) for thing, some in takers.items()}
    waiting = {k for k, mine in enumerate(options) if mine and n_alike[k]}
    opened: set[int] = set()
    near: set[int] = set()

    def growth(k: int) -> tuple[float, int]:
        bits = 0.0
        for thing in things[k]:
            if thing not in opened:
                bits += log2(capacity[thing] + 1) if left[thing] > 1 else 0.0
            elif left[thing] == 1:
                bits -= log2(capacity[thing] + 1)
        return bits, k

    while waiting:
        k = min(near or waiting, key=growth)
        waiting.remove(k)
        near.discard(k)
        yield k
        for thing in things[k]:
            left[thing] -= 1
            if thing not in opened:
                opened.add(thing)
                near |= takers[thing] & waiting
