# SPDX-License-Identifier: Apache-2.0
"""Overlapping cells, exactly: all ways in which people may sit on the seats of a small release.

Corrupted people sit down first, each choice with its weight (`left_over.choices`); then everybody else, kind by kind,
until every tuple is somebody's. Tuples are told apart, and so are people.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb, factorial, perm, prod
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.adversary.fitting import contradiction
from glasshouse.adversary.left_over import Left, TooMany, choices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from glasshouse.adversary.fitting import Fitting
    from glasshouse.adversary.left_over import Sparse

__all__ = ["Seating"]

_MOST_PEOPLE = 64  # beyond, counting would end in too many ways after a long time


class Seating:
    """All ways to fit people in; `TooMany` if there are more than ``most_ways`` to go through."""

    def __init__(self, fitting: Fitting, most_ways: int) -> None:
        self.fitting = fitting
        self.most_ways = most_ways
        self.ways: dict[tuple[int, tuple[int, ...]], int] = {}
        self.kinds = [kind for kind in np.flatnonzero(fitting.unknown).tolist() if fitting.seats_of(kind)]
        self.n_of = [int(fitting.unknown[kind]) for kind in self.kinds]
        self.seats_of = [fitting.seats_of(kind) for kind in self.kinds]
        tuples = int(fitting.seats.count.sum())
        inside = int((fitting.known >= 0).sum())
        too_few = sum(self.n_of) + inside < tuples  # somebody is not on her list, and may sit anywhere
        if too_few or sum(self.n_of) + inside > _MOST_PEOPLE or len(self.kinds) * len(fitting.seats) > most_ways:
            raise TooMany

    def beliefs(self) -> tuple[Sparse, NDArray[np.float64]]:
        """Everybody's beliefs and presence, from the number of ways in which they sit on each seat."""
        fitting = self.fitting
        left = Left(fitting)
        joint: dict[tuple[int, int], Fraction] = {}  # by kind and value
        here = [Fraction(0)] * len(fitting.n_alike)
        total = Fraction(0)
        for choice, weight in choices(left, fitting.corrupted(), self.most_ways).items():
            room = left.seat.astype(np.int64)
            entry, group = left.entry.copy(), left.group.copy()
            for (seat, own), n in choice:
                room[seat] -= n
                entry[own] -= n
                group[fitting.seats.group[seat]] -= n
            start = tuple(room.tolist())
            total += weight * self._count(0, start)
            for i, seat, ways in self._sitting(start):
                kind, number = self.kinds[i], int(fitting.seats.group[seat])
                share = weight * ways / self.n_of[i]
                here[kind] += share
                for own in range(int(fitting.published.offsets[number]), int(fitting.published.offsets[number + 1])):
                    if entry[own]:
                        having = Fraction(int(entry[own]), int(group[number]))
                        key = (kind, int(fitting.published.codes[own]))
                        joint[key] = joint.get(key, Fraction(0)) + share * having
        if not total:
            raise contradiction()
        presence = np.array([float(share / total) for share in here])
        keys = sorted(joint)
        return (
            np.array([kind for kind, _ in keys], np.int64),
            np.array([code for _, code in keys], np.int64),
            np.array([float(joint[key] / total) for key in keys]),
        ), presence

    def _count(self, i: int, room: tuple[int, ...]) -> int:
        """In how many ways the kinds of people from ``i`` on fill all tuples that are left."""
        if i == len(self.kinds):
            return int(not any(room))
        state = (i, room)
        if state not in self.ways:
            if len(self.ways) >= self.most_ways:
                raise TooMany
            self.ways[state] = 0
            self.ways[state] = sum(ways * self._count(i + 1, then) for _, ways, then in self._seated(i, room))
        return self.ways[state]

    def _seated(self, i: int, room: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], int, tuple[int, ...]]]:
        """How many of a kind sit on each of their seats: the numbers, in how many ways, and what is left then."""
        seats = self.seats_of[i]

        def numbers(at: int, people: int) -> Iterator[tuple[int, ...]]:
            if at == len(seats):
                yield ()
                return
            for n in range(min(people, room[seats[at]]) + 1):
                for rest in numbers(at + 1, people - n):
                    yield (n, *rest)

        for chosen in numbers(0, self.n_of[i]):
            then = list(room)
            for seat, n in zip(seats, chosen, strict=True):
                then[seat] -= n
            people = comb(self.n_of[i], sum(chosen)) * factorial(sum(chosen)) // prod(map(factorial, chosen))
            yield chosen, people * prod(perm(room[s], n) for s, n in zip(seats, chosen, strict=True)), tuple(then)

    def _sitting(self, start: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
        """Kind, seat, and people of the kind on the seat, summed over all ways."""
        before: dict[tuple[int, ...], int] = {start: 1}
        for i, seats in enumerate(self.seats_of):
            sums = Counter[int]()
            after: dict[tuple[int, ...], int] = {}
            for room, times in before.items():
                for chosen, ways, then in self._seated(i, room):
                    onward = self._count(i + 1, then)
                    if onward:
                        after[then] = after.get(then, 0) + times * ways
                        for seat, n in zip(seats, chosen, strict=True):
                            sums[seat] += times * ways * onward * n
            yield from ((i, seat, n) for seat, n in sums.items() if n)
            before = after
