# SPDX-License-Identifier: Apache-2.0
"""Left over: the tuples of a release that are not yet somebody's, when corrupted people are taken out."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.adversary.fitting import contradiction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from glasshouse.adversary.fitting import Fitting
    from glasshouse.published import Published, Seats

__all__ = ["Left", "Sparse", "TooMany", "choices", "components", "expanded", "joined"]

Choice = tuple[tuple[tuple[int, int], int], ...]  # how many corrupted people took (seat, entry of the histograms)
Sparse = tuple["NDArray[np.int64]", "NDArray[np.int64]", "NDArray[np.float64]"]
"""Beliefs: kind of people, code of a value, belief; in ascending order."""


class TooMany(Exception):
    """There are more ways than may be gone through."""


class Left:
    """Tuples that are left: on every seat, in every entry of the histograms, in every group."""

    def __init__(self, fitting: Fitting) -> None:
        self.fitting = fitting
        self.seat = fitting.seats.count.astype(np.float64)
        self.entry = fitting.published.counts.astype(np.float64)
        self.group = fitting.published.sizes.astype(np.float64)

    def take_out_sure(self) -> list[tuple[int, int, int]]:
        """Take out everybody whose group is certain; give the others (kind, value, number)."""
        fitting = self.fitting
        unsure, seats, entries, numbers = [], [], [], []
        for (kind, code), n in fitting.of_value.items():
            options = fitting.seats_of(kind)
            if len(options) > 1:
                unsure.append((kind, code, n))
                continue
            seats.append(options[0])
            entries.append(fitting.entry(int(fitting.seats.group[options[0]]), code))
            numbers.append(n)
        if -1 in entries:
            raise contradiction()
        np.subtract.at(self.seat, seats, numbers)
        np.subtract.at(self.entry, entries, numbers)
        np.subtract.at(self.group, fitting.seats.group[seats], numbers)
        if min(self.seat.min(initial=0), self.entry.min(initial=0)) < 0:
            raise contradiction()
        return unsure

    def weigh(self, people: Sequence[tuple[int, int, int]], most_ways: int) -> dict[int, NDArray[np.float64]]:
        """Weigh every choice of tuples for corrupted people; give the tuples expected by group, seat and value."""
        fitting = self.fitting
        weights = choices(self, people, most_ways)
        total = sum(weights.values())
        if not total:
            raise contradiction()
        groups = sorted({int(g) for kind, _, _ in people for g in fitting.seats.group[fitting.seats_of(kind)]})
        found = {}
        for group in groups:
            seats = fitting.seats_in(group)
            first, last = fitting.published.offsets[group : group + 2].tolist()
            expected = np.zeros((len(seats), last - first))
            for choice, weight in weights.items():
                on_seat, of_entry = self.seat[seats].copy(), self.entry[first:last].copy()
                for (seat, entry), n in choice:
                    if first <= entry < last:
                        on_seat[np.searchsorted(seats, seat)] -= n
                        of_entry[entry - first] -= n
                expected += float(weight / total) * np.outer(on_seat, of_entry) / max(of_entry.sum(), 1)
            found[group] = expected
        return found

    def expect(self, people: Iterable[tuple[int, int, int]]) -> None:
        """Take corrupted people out of all places where they may be, by how likely each is for them alone."""
        fitting = self.fitting
        at = np.bincount(fitting.pairs[1], weights=fitting.n_alike[fitting.pairs[0]], minlength=len(fitting.seats))
        seat, entry, group = self.seat.copy(), self.entry.copy(), self.group.copy()
        for kind, code, n in people:
            options = np.array(fitting.options(kind, code), np.int64).reshape(-1, 2)
            seats, entries = options[:, 0], options[:, 1]
            groups = fitting.seats.group[seats]
            weights = seat[seats] / at[fitting.seats.place[seats]] * entry[entries] / np.maximum(group[groups], 1)
            if not np.sum(weights) > 0:
                raise contradiction()
            weights *= n / np.sum(weights)
            np.subtract.at(self.seat, seats, weights)
            np.subtract.at(self.entry, entries, weights)
            np.subtract.at(self.group, groups, weights)
        # expectations of people taken one by one may take more than there is: what is left still sums up
        place = fitting.seats.place
        room = np.bincount(place, weights=self.seat)
        np.maximum(self.seat, 0, out=self.seat)
        np.maximum(self.entry, 0, out=self.entry)
        filled = np.bincount(place, weights=self.seat)
        self.seat *= np.divide(np.maximum(room, 0), filled, out=np.zeros(len(room)), where=filled > 0)[place]
        owner = np.repeat(np.arange(fitting.published.n_groups), np.diff(fitting.published.offsets))
        self.group = np.bincount(owner, weights=self.entry, minlength=len(self.group)).astype(np.float64)

    def masses(
        self, weighed: dict[int, NDArray[np.float64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Tuples that are left, expected for every seat and value: seat, value, number."""
        published, seats = self.fitting.published, self.fitting.seats
        seat, code, entry = expanded(published, seats)
        group = seats.group[seat]
        mass = self.seat[seat] * self.entry[entry] / np.maximum(self.group[group], 1e-300)
        starts = np.searchsorted(seat, np.arange(len(seats) + 1))
        for number, expected in weighed.items():
            for row, own in zip(expected, self.fitting.seats_in(number), strict=True):
                mass[starts[own] : starts[own + 1]] = row
        return seat, code, mass


def choices(left: Left, people: Sequence[tuple[int, int, int]], most_ways: int) -> dict[Choice, Fraction]:
    """Every choice of tuples for these people with its weight: the number of its ways, up to a common factor."""
    fitting = left.fitting
    found: dict[Choice, Fraction] = {(): Fraction(1)}
    for kind, code, n in people:
        options = fitting.options(kind, code)
        for _ in range(n):
            after: dict[Choice, Fraction] = {}
            for choice, weight in found.items():
                taken = dict(choice)
                for seat, entry in options:
                    group = fitting.seats.group[seat]
                    on_seat = int(left.seat[seat]) - sum(k for (s, _), k in choice if s == seat)
                    of_entry = int(left.entry[entry]) - sum(k for (_, e), k in choice if e == entry)
                    of_group = int(left.group[group]) - sum(
                        k for (s, _), k in choice if fitting.seats.group[s] == group
                    )
                    if on_seat > 0 and of_entry > 0:
                        own = tuple(sorted({**taken, (seat, entry): taken.get((seat, entry), 0) + 1}.items()))
                        more = weight * on_seat * of_entry / of_group
                        after[own] = after.get(own, Fraction(0)) + more
            if len(after) > most_ways:
                raise TooMany
            found = after
    return found


def components(fitting: Fitting, people: list[tuple[int, int, int]]) -> Iterator[list[tuple[int, int, int]]]:
    """Corrupted people who may be in one group, directly or through others, belong together."""
    parent: dict[int, int] = {}

    def root(group: int) -> int:
        while parent.setdefault(group, group) != group:
            parent[group] = group = parent[parent[group]]
        return group

    of_person = [[int(g) for g in fitting.seats.group[fitting.seats_of(kind)]] for kind, _, _ in people]
    for groups in of_person:
        for group in groups[1:]:
            parent[root(group)] = root(groups[0])
    found: dict[int, list[tuple[int, int, int]]] = {}
    for person, groups in zip(people, of_person, strict=True):
        found.setdefault(root(groups[0]), []).append(person)
    yield from found.values()


def expanded(published: Published, seats: Seats) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Every seat with every value of its group: seat, value, entry of the histograms."""
    lengths = np.diff(published.offsets)[seats.group]
    before = np.append(0, np.cumsum(lengths))
    entry = np.repeat(published.offsets[seats.group] - before[:-1], lengths) + np.arange(before[-1])
    return np.repeat(np.arange(len(seats)), lengths), published.codes[entry].astype(np.int64), entry


def joined(
    who: NDArray[np.int64],
    code: NDArray[np.int64] | None,
    weight: NDArray[np.float64],
    n_values: int,
    how: np.ufunc = np.add,
) -> Sparse:
    """Add up (or otherwise join) weights of the same person and value; in ascending order."""
    n_values = max(n_values, 1)
    keys, number = np.unique(who * n_values + (0 if code is None else code), return_inverse=True)
    total = np.zeros(len(keys))
    how.at(total, number.reshape(-1), weight)
    return keys // n_values, keys % n_values, total
