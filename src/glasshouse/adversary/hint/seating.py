# SPDX-License-Identifier: Apache-2.0
"""Seating: who is in which group, for an attacker who has everybody in the table on the list, and nobody else.

Published quasi-identifiers say it themselves, but for people who are alike. Boxes that overlap seem to hide it. But a
box is the smallest one around its people: somebody is at either end of each of its intervals, and somebody has each
value of its sets. Where only people with the same quasi-identifiers can be that somebody, one of them is in the box;
and if as many people are known to be in a box as it has records, nobody else is. That goes on until nothing new is
found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from glasshouse.adversary.cell_codes import codes_of_cells
from glasshouse.adversary.learning.even_seating import evenly_seated
from glasshouse.adversary.learning.group_beliefs import LEAST, Seating
from glasshouse.adversary.linking import Sitting
from glasshouse.adversary.matching import Matches
from glasshouse.plural import counted
from glasshouse.population.deals import Deals
from glasshouse.release.layout import BOXES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.adversary.task import Task
    from glasshouse.release.contents import Seats

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["SeatedPeople"]

_MOST_MATCHES: Final = 4_000_000  # pairs of a kind of people and a box in which ends are looked at


@dataclass(frozen=True, eq=False)
class SeatedPeople:
    """Seats of a release; in boxes whose people are all known, these people have seats of their own."""

    group: Integers  # of every seat
    place: Integers  # of every seat
    count: Integers  # people of every seat
    kind: Integers  # the kind of the people of every seat, if that is certain; else -1
    seating: Seating
    # mixtures, of_match, at: how many people of a kind are expected at a place where it is not certain who sits; the
    # kind, and the place
    mixtures: Floats
    of_match: Integers
    at: Integers
    n_places: int
    known: NDArray[np.bool_]  # of every kind: whether it is certain in which group such people are
    notes: tuple[str, ...]

    @classmethod
    def of(cls, task: Task, seats: Seats, *, most_states: int) -> SeatedPeople:
        """Seat people by the cells, and by the ends of boxes."""
        has_ends = _has_ends(task, seats)
        sitting = Sitting.of(task, seats, most_states=0 if has_ends else most_states)  # ends tell more, and sooner
        notes = sitting.notes(task.kinds.n_alike)
        sitting = evenly_seated(sitting, seats, task.kinds.n_alike)
        kind = _alone(sitting, seats) if task.release.layout.exact else np.full(len(seats), -1)
        matches, weight = sitting.matches, sitting.weight
        if has_ends and len(matches.seats) <= _MOST_MATCHES:
            return cls._divided(task, seats, sitting, _sure(task, seats, matches))
        people = weight * task.kinds.n_alike[matches.of_match]
        known = np.zeros(task.kinds.n_kinds, bool)
        if task.release.layout.exact:  # people who are alike may be in several groups
            n_groups = np.diff(matches.offsets)
            known = (n_groups == 1) & (sitting.presence > 1 - 1e-12)
        return cls(
            seats.group.astype(np.int64), seats.place, seats.count, kind,
            Seating(seats.group, matches, weight, sitting.presence),
            people, matches.of_match, seats.place[matches.seats], len(seats), known, tuple(notes),
        )  # fmt: skip

    @classmethod
    def _divided(cls, task: Task, seats: Seats, sitting: Sitting, sure: Floats) -> SeatedPeople:
        """Give people seats of their own in boxes whose people are all known.

        ``sure`` says of every match how many people of the kind are in the box at least; -1 for nobody.
        """
        matches, n_alike = sitting.matches, task.kinds.n_alike
        of_match, n_kinds = matches.of_match, task.kinds.n_kinds
        full = np.bincount(matches.seats, weights=np.maximum(sure, 0), minlength=len(seats)) == seats.count
        own = np.flatnonzero(full[matches.seats] & (sure > 0))  # matches that get a seat
        settled = np.bincount(of_match[own], weights=sure[own], minlength=n_kinds)
        stays = np.flatnonzero(~full[matches.seats] & (sure >= 0) & (settled < n_alike)[of_match])
        keep = np.flatnonzero(~full)
        number = np.full(len(seats), -1)
        number[keep] = np.arange(len(keep))
        weight = np.maximum(sitting.weight[stays], LEAST)
        rest = np.bincount(of_match[stays], weights=weight, minlength=n_kinds)
        weight *= ((1 - settled / n_alike) / np.maximum(rest, LEAST))[of_match[stays]]
        kind = np.concatenate([of_match[stays], of_match[own]])
        seat = np.concatenate([number[matches.seats[stays]], len(keep) + np.arange(len(own))])
        weight = np.concatenate([weight, sure[own] / n_alike[of_match[own]]])
        order = np.lexsort((seat, kind))
        kind, seat, weight = kind[order], seat[order], weight[order]
        offsets = np.searchsorted(kind, np.arange(n_kinds + 1)).astype(np.int64)
        group = np.concatenate([seats.group[keep], seats.group[matches.seats[own]]]).astype(np.int64)
        place = np.concatenate([seats.place[keep], len(seats) + np.arange(len(own))])
        count = np.concatenate([seats.count[keep], sure[own].astype(np.int64)])
        mixed = seat < len(keep)
        presence = np.minimum(np.bincount(kind, weights=weight, minlength=n_kinds), 1.0)
        known = (settled == n_alike) & (np.bincount(of_match[own], minlength=n_kinds) == 1)
        n_settled = int(settled.sum())
        notes = [f"for {counted(n_settled, 'person')} the ends of the intervals show in which group they are"]
        if n_settled < n_alike.sum():
            notes.append(
                f"for {counted(int(n_alike.sum()) - n_settled, 'other person, who fits', 'other people, who fit')} "
                "several groups, the probabilities are approximate"
            )
        return cls(
            group, place, count, np.concatenate([np.full(len(keep), -1), of_match[own]]),
            Seating(group, Matches(offsets, seat.astype(np.int32)), weight, presence),
            (weight * n_alike[kind])[mixed], kind[mixed], place[seat[mixed]],
            len(seats) + len(own), known, tuple(notes),
        )  # fmt: skip

    def deals(self, task: Task) -> Deals:
        """The groups, with their people on these seats."""
        contents = task.contents
        return Deals.of(self.group, self.place, self.count, (contents.offsets, contents.codes, contents.counts))

    @cached_property
    def in_order(self) -> Integers:
        """The seats in the order in which deals have them."""
        return np.argsort(self.group, kind="stable").astype(np.int64)

    def at_places(self, chances: Floats, base: Floats) -> Floats:
        """The chances of values at every place: a mixture over people who may be there; base rates for strangers."""
        found = np.empty((self.n_places, len(base)))
        total = np.bincount(self.at, weights=self.mixtures, minlength=self.n_places)
        for code in range(len(base)):
            mass = np.bincount(self.at, weights=self.mixtures * chances[self.of_match, code], minlength=self.n_places)
            found[:, code] = np.where(total > 0, mass / np.maximum(total, 1e-300), base[code])
        sure = self.kind >= 0
        found[self.place[sure]] = chances[self.kind[sure]]
        return np.maximum(found, LEAST)


def _alone(sitting: Sitting, seats: Seats) -> Integers:
    """The one kind of people that fits each seat, if there is one, and takes all of its records."""
    kind = np.full(len(seats), -1)
    n_fit = np.bincount(sitting.matches.seats, minlength=len(seats))
    kind[sitting.matches.seats] = sitting.matches.of_match
    return np.where(n_fit == 1, kind, -1)


def _has_ends(task: Task, seats: Seats) -> bool:
    """Whether boxes are published, and everybody on the list is in one of them."""
    everybody = int(seats.count.sum()) == task.knowledge.external.n_tuples
    return task.release.layout is BOXES and everybody and not task.release.n_dropped


def _sure(task: Task, seats: Seats, matches: Matches) -> Floats:
    """For every match, the least number of people of the kind in the box; -1 if there can be none."""
    n_alike, of_match, seat = task.kinds.n_alike, matches.of_match, matches.seats.astype(np.int64)
    match, end, n_ends = _at_ends(task, seats, matches)
    alive, sure = np.ones(len(seat), bool), np.zeros(len(seat))

    def of_kinds(numbers: NDArray[Any]) -> Floats:
        return np.asarray(np.bincount(of_match, weights=numbers, minlength=len(n_alike))[of_match], np.float64)

    def of_boxes(numbers: NDArray[Any]) -> Floats:
        return np.asarray(np.bincount(seat, weights=numbers, minlength=len(seats))[seat], np.float64)

    while True:
        before = int(alive.sum()), float(sure.sum())
        fits = np.bincount(end, weights=alive[match], minlength=n_ends)
        only = match[alive[match] & (fits[end] == 1)]  # the only people who can be at an end
        sure[only] = np.maximum(sure[only], 1)
        most = np.where(alive, np.minimum(n_alike[of_match] - of_kinds(sure) + sure, seats.count[seat]), 0.0)
        needed = alive & (of_kinds(alive) == 1)  # nowhere else to be
        sure[needed] = n_alike[of_match[needed]]
        filled = alive & (of_boxes(most) == seats.count[seat])  # all who can be in a box are
        sure[filled] = most[filled]
        done = (of_kinds(sure) >= n_alike[of_match]) | (of_boxes(sure) >= seats.count[seat])
        alive &= (sure > 0) | ~done
        if (int(alive.sum()), float(sure.sum())) == before:
            return np.where(alive, sure, -1.0)


def _at_ends(task: Task, seats: Seats, matches: Matches) -> tuple[Integers, Integers, int]:
    """The pairs of a match and an end of its box at which the person is; and the number of ends."""
    examples, of_match = task.kinds.examples, matches.of_match
    found: list[tuple[Integers, Integers]] = []
    n_ends = 0
    for dim, name in enumerate(seats.quasi):
        column = task.knowledge.external.column(name)
        covered = [np.asarray(codes) for codes in codes_of_cells(column.domain, seats, name)]
        own = column.codes[examples][of_match]
        cell = seats.of_seat[dim][matches.seats]
        starts, ends = _needed(covered, ordered=column.domain.ordered)
        width = np.diff(starts)
        key = np.repeat(np.arange(len(covered)), width) * (column.domain.size + 1) + ends
        wanted = cell.astype(np.int64) * (column.domain.size + 1) + own
        place = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
        fits = np.flatnonzero(key[place] == wanted) if len(key) else np.empty(0, np.int64)
        first = np.append(0, np.cumsum(width[seats.of_seat[dim]]))  # of every seat, its ends
        rank = place[fits] - starts[cell[fits]]
        found.append((fits, n_ends + first[matches.seats[fits]] + rank))
        n_ends += int(first[-1])
    return np.concatenate([one for one, _ in found]), np.concatenate([end for _, end in found]), n_ends


def _needed(covered: list[NDArray[np.int32]], *, ordered: bool) -> tuple[Integers, Integers]:
    """For every cell the codes that a person in it must have, ascending: the ends of an interval, all of a set."""
    own = [np.unique(codes[[0, -1]]) if ordered and len(codes) else np.sort(codes) for codes in covered]
    starts = np.cumsum([0, *map(len, own)]).astype(np.int64)
    return starts, np.concatenate([np.empty(0, np.int64), *own]).astype(np.int64)
