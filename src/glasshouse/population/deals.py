# SPDX-License-Identifier: Apache-2.0
"""Deals: the probabilities of the ways to deal a group's values to its people, given every person's chances.

A group of n people has n values, and who has which is not published. If person i has the value v with the chance
``P(v | q_i)``, independently of others, then the probability of the group's values is the sum over all ways to deal
them of the product of the chances: the permanent of the n x n matrix of chances. With it come the expected number of
people of each kind who have each value, and random deals. All three are exact as long as a group has few states (up to
`MOST_STATES`: twelve different values, or more people with equal ones). For larger groups the matrix is scaled until
its rows and columns add up (Sinkhorn), and random deals are drawn by exchanging values between two people.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from glasshouse.kernels import compiled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["MOST_STATES", "Deals"]

MOST_STATES: Final = 4096
"""Groups with more states than this are not computed exactly."""

_KERNELS = "glasshouse.population._permanent_kernels"
_LANES = 8
_ROUNDS, _EXCHANGES = 200, 40
_AT_ONCE = 64  # rows of eight groups that a thread does at once


@dataclass(frozen=True, eq=False)
class Deals:
    """The groups of a release: their people by place, and their values with how often each occurs."""

    group: NDArray[np.int64]  # of every seat, in ascending order
    place: NDArray[np.int32]  # of every seat: which row of the chances is its people's
    people: NDArray[np.int32]  # of every seat
    offsets: NDArray[np.int64]  # where each group's slots begin, and where the last one's end
    codes: NDArray[np.int32]  # the value of every slot
    counts: NDArray[np.int32]  # how often it occurs in its group

    @classmethod
    def of(
        cls,
        group: NDArray[Any],
        place: NDArray[Any],
        people: NDArray[Any],
        slots: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    ) -> Deals:
        """Put seats into the order of their groups; ``slots`` are offsets, codes and counts."""
        order = np.argsort(group, kind="stable")
        offsets, codes, counts = slots
        return cls(
            group[order].astype(np.int64),
            place[order].astype(np.int32),
            people[order].astype(np.int32),
            offsets.astype(np.int64),
            codes.astype(np.int32),
            counts.astype(np.int32),
        )

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.offsets) - 1

    @property
    def n_people(self) -> int:
        """How many people there are."""
        return int(self.people.sum())

    @cached_property
    def seats(self) -> NDArray[np.int64]:
        """Where each group's seats begin."""
        return np.searchsorted(self.group, np.arange(self.n_groups + 1)).astype(np.int64)

    @cached_property
    def entries(self) -> NDArray[np.int64]:
        """Where each group's entries begin: an entry is a seat with a slot of its group, seat by seat."""
        return np.append(0, np.cumsum(np.diff(self.seats) * np.diff(self.offsets))).astype(np.int64)

    @cached_property
    def persons(self) -> NDArray[np.int64]:
        """Where each group's people begin, if everybody is listed seat by seat."""
        return np.append(0, np.cumsum(self.people, dtype=np.int64))[self.seats]

    @cached_property
    def group_of_entry(self) -> NDArray[np.int64]:
        """The group of every entry."""
        return np.repeat(np.arange(self.n_groups), np.diff(self.entries))

    @cached_property
    def seat_of_entry(self) -> NDArray[np.int64]:
        """The seat of every entry."""
        return np.repeat(np.arange(len(self.group)), np.diff(self.offsets)[self.group])

    @cached_property
    def place_of_entry(self) -> NDArray[np.int32]:
        """The place of every entry."""
        return self.place[self.seat_of_entry]

    @cached_property
    def code_of_entry(self) -> NDArray[np.int32]:
        """The value of every entry."""
        width = np.diff(self.offsets)[self.group]
        starts = np.cumsum(width) - width
        within = np.arange(int(width.sum())) - np.repeat(starts, width)
        return np.asarray(self.codes[np.repeat(self.offsets[:-1][self.group], width) + within], np.int32)

    @cached_property
    def place_of_person(self) -> NDArray[np.int32]:
        """The place of everybody."""
        return np.repeat(self.place, self.people)

    def some(self, groups: NDArray[np.int64]) -> Deals:
        """The deals of some groups only, in this order."""
        seats = _ranges(self.seats[groups], self.seats[groups + 1])
        slots = _ranges(self.offsets[groups], self.offsets[groups + 1])
        return Deals(
            np.repeat(np.arange(len(groups)), np.diff(self.seats)[groups]),
            self.place[seats],
            self.people[seats],
            np.append(0, np.cumsum(np.diff(self.offsets)[groups])).astype(np.int64),
            self.codes[slots],
            self.counts[slots],
        )

    def expected(self, chances: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The expected number of people for every entry; the log probability of its values for every group.

        ``chances`` has a row for every place and a column for every value. The logarithm is up to a constant that does
        not depend on the chances.
        """
        kernels = compiled(_KERNELS)
        chances = np.ascontiguousarray(chances, np.float64)
        expected, logs = np.zeros(int(self.entries[-1])), np.zeros(self.n_groups)

        def exact(stack: _Stack, rows: NDArray[np.int64]) -> None:
            weights = np.empty((2 * stack.n_rows, _LANES))
            before, after = np.empty((2, stack.n_states, _LANES))
            kernels.expected_deals(self._deck, rows, stack.steps, chances, weights, before, after, expected, logs)

        def rest(groups: NDArray[np.int64]) -> None:
            scale, totals = np.empty((2, int(np.diff(self.offsets).max())))
            kernels.balance(self._deck, groups, chances, scale, totals, expected, logs, _ROUNDS)

        self._in_threads(exact, rest)
        return expected, logs

    def draw(self, chances: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.int32]:
        """Deal every group's values at random: the value of everybody, seat by seat."""
        kernels = compiled(_KERNELS)
        chances = np.ascontiguousarray(chances, np.float64)
        drawn = np.zeros(int(self.persons[-1]), np.int32)
        numbers = random.random(len(drawn))
        large = self._large
        if len(large):
            starts = _ranges(self.persons[large], self.persons[large + 1])
            own = self.some(large)
            drawn[starts] = np.repeat(own.codes, own.counts)
            sizes = np.diff(own.persons)
            for _ in range(2):  # shuffled, so that the exchanges do not begin in the order of the values
                key = np.repeat(np.arange(len(large)), sizes) + random.random(len(starts))
                drawn[starts] = drawn[starts][np.argsort(key, kind="stable")]
            triples = random.random(3 * len(starts) * _EXCHANGES)
            kernels.exchange(self._deck, large, chances, self.persons, self.place_of_person, triples, drawn, _EXCHANGES)

        def exact(stack: _Stack, rows: NDArray[np.int64]) -> None:
            weights, after = np.empty((stack.n_rows, _LANES)), np.empty((stack.n_states, _LANES))
            kernels.draw_deals(
                self._deck, rows, stack.steps, stack.following, chances, weights, after, self.persons, numbers, drawn
            )

        self._in_threads(exact, lambda _: None)
        return drawn

    def _in_threads(
        self, exact: Callable[[_Stack, NDArray[np.int64]], None], rest: Callable[[NDArray[np.int64]], None]
    ) -> None:
        """Go through groups with few states, eight at a time, and through the others."""
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            jobs = [
                pool.submit(exact, stack, stack.rows[start : start + _AT_ONCE * 64])
                for stack in self._stacks
                for start in range(0, len(stack.rows), _AT_ONCE * 64)
            ]
            large = self._large
            jobs += [pool.submit(rest, large[start : start + 4096]) for start in range(0, len(large), 4096)]
            for job in jobs:
                job.result()

    @cached_property
    def _deck(self) -> Any:
        kernels = compiled(_KERNELS)
        return kernels.Deck(self.place, self.people, self.codes, self.counts, self.seats, self.offsets, self.entries)

    @cached_property
    def _states(self) -> NDArray[np.float64]:
        """How many states each group has."""
        logs = np.append(0.0, np.cumsum(np.log2(self.counts + 1.0)))
        return np.asarray(logs[self.offsets[1:]] - logs[self.offsets[:-1]], np.float64)

    @cached_property
    def _is_large(self) -> NDArray[np.bool_]:
        one_seat = np.diff(self.seats) == 1  # people who are alike: scaling is exact
        return np.asarray((self._states > np.log2(MOST_STATES) + 1e-9) | one_seat, bool)

    @cached_property
    def _large(self) -> NDArray[np.int64]:
        return np.flatnonzero(self._is_large).astype(np.int64)

    @cached_property
    def _stacks(self) -> list[_Stack]:
        """Groups with few states, arranged by the counts of their slots."""
        small = np.flatnonzero(~self._is_large)
        width = np.diff(self.offsets)[small]
        found = []
        for n_slots in np.unique(width).tolist():
            some = small[width == n_slots]
            shape = self.counts[self.offsets[some][:, np.newaxis] + np.arange(n_slots)]
            shapes, kind = np.unique(shape, axis=0, return_inverse=True)
            for number, own in enumerate(shapes.tolist()):
                found.append(_Stack.of(tuple(own), some[kind.reshape(-1) == number]))
        return found


@dataclass(frozen=True, eq=False)
class _Stack:
    """Groups with the same states, eight in a row; a row that is not full repeats its last group."""

    rows: NDArray[np.int64]
    steps: NDArray[np.int32]
    following: NDArray[np.int32]
    n_states: int
    n_rows: int

    @classmethod
    def of(cls, counts: tuple[int, ...], groups: NDArray[np.int64]) -> _Stack:
        full = np.resize(groups, -(-len(groups) // _LANES) * _LANES)
        full[len(groups) :] = groups[-1]
        steps, following = _steps(counts)
        return cls(
            np.ascontiguousarray(full.reshape(-1, _LANES)), steps, following, len(following), sum(counts) * len(counts)
        )


@lru_cache(maxsize=1024)
def _steps(counts: tuple[int, ...]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The steps from state to state, and the state that follows if a slot is taken; -1 if no such slot is free."""
    radix = np.array(counts) + 1
    strides = np.append(1, np.cumprod(radix)[:-1])
    states = np.arange(int(np.prod(radix)))
    taken = states[:, np.newaxis] // strides % radix
    free = taken < counts
    following = np.where(free, states[:, np.newaxis] + strides, -1).astype(np.int32)
    before, slot = np.nonzero(free)
    person = taken.sum(axis=1)[before]
    steps = np.stack([before, following[before, slot], person * len(counts) + slot], axis=1)
    return np.ascontiguousarray(steps, np.int32), np.ascontiguousarray(following)


def _ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """All numbers from each start to before its end, one range after the other."""
    lengths = ends - starts
    return np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(int(lengths.sum()))
