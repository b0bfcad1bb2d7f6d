# SPDX-License-Identifier: Apache-2.0
"""Seating: which people may own which records of a release, and which records are left when some have an owner."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.adversary.knowledge import ABSENT, key_of
from glasshouse.adversary.permanents import connected
from glasshouse.adversary.posterior import entries_of
from glasshouse.adversary.task import DROPPED, GONE, UNKNOWN
from glasshouse.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from glasshouse.adversary.matching import Matches
    from glasshouse.adversary.task import Task
    from glasshouse.release.contents import Published, Seats

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

__all__ = ["Fitting", "Left", "TooMany", "choices", "components", "contradiction", "expanded"]

Choice = tuple[tuple[tuple[int, int], int], ...]  # how many corrupted people took (seat, entry of the histograms)


class TooMany(Exception):
    """More assignments are possible than may be tried."""


@dataclass(frozen=True, eq=False)
class Fitting:
    """One table of seats, and what is known of the people who fit them."""

    task: Task
    seats: Seats
    matches: Matches
    known: Integers  # for every person the code of the value that the attacker knows, `UNKNOWN`, `GONE` or `DROPPED`
    notes: tuple[str, ...]  # what was assumed

    @classmethod
    def of(cls, task: Task, seats: Seats) -> Fitting:
        """Match everybody on the attacker's list."""
        matches = task.fits(seats)
        known, notes = _known(task, np.diff(matches.offsets)[task.kinds.of_person] > 0)
        return cls(task, seats, matches, known, (*notes, *task.by_itself))

    @property
    def published(self) -> Published:
        """What the release says, as its tables are read."""
        return self.task.contents

    @property
    def kind(self) -> Integers:
        """For every person the number of their kind: people with equal quasi-identifiers."""
        return self.task.kinds.of_person

    @property
    def n_alike(self) -> Integers:
        """How many people every kind has."""
        return self.task.kinds.n_alike

    @cached_property
    def of_match(self) -> Integers:
        """The kind of people of every match."""
        return self.matches.of_match

    @cached_property
    def pairs(self) -> tuple[Integers, Integers]:
        """Every pair of a kind of people and a place that they fit, once."""
        place = self.seats.place[self.matches.seats]
        first = np.unique(self.of_match * (len(self.seats) + 1) + place, return_index=True)[1]
        return self.of_match[first], place[first]

    @cached_property
    def overlap(self) -> bool:
        """Whether some person fits two places."""
        return len(self.pairs[0]) > len(np.unique(self.pairs[0]))

    @cached_property
    def unknown(self) -> Integers:
        """The number of people of each kind of whom nothing is known."""
        return np.bincount(self.kind[self.known == UNKNOWN], minlength=len(self.n_alike)).astype(np.int64)

    @cached_property
    def of_value(self) -> dict[tuple[int, int], int]:
        """How many corrupted people in the table there are, by kind and value."""
        inside = self.known >= 0
        return dict(Counter(zip(self.kind[inside].tolist(), self.known[inside].tolist(), strict=True)))

    @cached_property
    def keys(self) -> Integers:
        """Group and value of every entry of the histograms, as one ascending number."""
        group = np.repeat(np.arange(self.published.n_groups), np.diff(self.published.offsets))
        return group * len(self.published.values) + self.published.codes

    def entry(self, group: int, code: int) -> int:
        """The place of a value in the histogram of a group, -1 if the group lacks it."""
        key = group * len(self.published.values) + code
        at = int(np.searchsorted(self.keys, key))
        return at if at < len(self.keys) and self.keys[at] == key else -1

    @cached_property
    def _by_group(self) -> tuple[Integers, Integers]:
        order = np.argsort(self.seats.group, kind="stable")
        return order, np.searchsorted(self.seats.group[order], np.arange(self.published.n_groups + 1))

    def seats_in(self, group: int) -> Integers:
        """The seats of a group, ascending."""
        order, starts = self._by_group
        return order[starts[group] : starts[group + 1]]

    def seats_of(self, kind: int) -> list[int]:
        """The seats that cover a kind of people."""
        return list(map(int, self.matches.seats[self.matches.offsets[kind] : self.matches.offsets[kind + 1]]))

    def options(self, kind: int, code: int) -> list[tuple[int, int]]:
        """Where a person of a kind who has a value may be: seats, with the entries of the value in their groups."""
        found = ((seat, self.entry(int(self.seats.group[seat]), code)) for seat in self.seats_of(kind))
        return [(seat, entry) for seat, entry in found if entry >= 0]

    @cached_property
    def inside(self) -> Integers:
        """Corrupted people in the table, of each kind."""
        return np.bincount(self.kind[self.known >= 0], minlength=len(self.n_alike)).astype(np.int64)

    def corrupted(self) -> list[tuple[int, int, int]]:
        """Kind, value and number of the corrupted people who are in the table."""
        return [(kind, code, n) for (kind, code), n in self.of_value.items()]


def _known(task: Task, fits: NDArray[np.bool_]) -> tuple[Integers, list[str]]:
    """What the attacker knows of every person."""
    known = np.full(len(fits), UNKNOWN, np.int64)
    for row, value in task.told:
        if value is ABSENT:
            known[row] = GONE
        elif fits[row] and key_of(value) in task.place:
            known[row] = task.place[key_of(value)]
        elif task.release.n_dropped:
            known[row] = DROPPED
        else:
            raise contradiction()
    if not task.release.n_dropped or not (known >= 0).any():
        return known, []
    unpublished = np.count_nonzero(known == DROPPED)
    said = f"; {unpublished:,} of them fit no published record" if unpublished else ""
    return known, [
        "some records were left out: people whose values the attacker knows count as published if they fit a "
        f"published record{said}"
    ]


def contradiction() -> InputError:
    """The error for knowledge that contradicts the release."""
    return InputError(
        "what the attacker knows about other people (corrupted=) contradicts the release: no group that fits these "
        "people has enough records with their values. Check the values; for people who are not in the table, give "
        "ABSENT (in a file, an empty value)"
    )


# --- what is left ----------------------------------------------------------------------------------------------------


class Left:
    """Records that are left: on every seat, in every entry of the histograms, in every group."""

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

    def weigh(self, people: Sequence[tuple[int, int, int]], most_ways: int) -> dict[int, Floats]:
        """Weigh every choice of records for corrupted people; give the records expected by group, seat and value."""
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

    def masses(self, weighed: dict[int, Floats]) -> tuple[Integers, Integers, Floats]:
        """Records that are left, expected for every seat and value: seat, value, number."""
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
    """Every choice of records for these people, weighted by the number of ways to make it, up to a common factor."""
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
    """The sets of corrupted people who may share a group, directly or through others."""
    pairs = [(i, int(g)) for i, (kind, _, _) in enumerate(people) for g in fitting.seats.group[fitting.seats_of(kind)]]
    who, group = np.array(pairs, np.int64).reshape(-1, 2).T
    label = connected(len(people) + fitting.published.n_groups, who, len(people) + group)
    found: dict[int, list[tuple[int, int, int]]] = {}
    for person, number in zip(people, label.tolist(), strict=False):
        found.setdefault(number, []).append(person)
    yield from found.values()


def expanded(published: Published, seats: Seats) -> tuple[Integers, Integers, Integers]:
    """Every seat with every value of its group: seat, value, entry of the histograms."""
    seat, entry = entries_of(published.offsets, seats.group)
    return seat, published.codes[entry].astype(np.int64), entry
