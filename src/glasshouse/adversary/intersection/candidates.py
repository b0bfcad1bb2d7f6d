# SPDX-License-Identifier: Apache-2.0
"""Candidates: what people may have by several releases of one table, and what that leaves for the others.

In a world every person has a sensitive value and, in every release, a seat in a group that has the value. An *option*
is all of these together. It takes one unit of several *things*: a record of the value in the group of each release, and
a seat at each place. In the end everything is taken, and nobody takes two options. Whatever follows from this by
looking at one person or at one thing at a time is drawn here, for any number of people; the rest is counted or sampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glasshouse.adversary.knowledge import ABSENT
from glasshouse.adversary.matching import match
from glasshouse.adversary.permanents import connected
from glasshouse.adversary.posterior import entries_of
from glasshouse.errors import InputError, NotSupported
from glasshouse.microdata.domains import text_of
from glasshouse.microdata.groups import alike
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.release.contents import Published

__all__ = ["Candidates", "Component", "Narrowed", "TooManyOptions", "candidate_values", "candidates", "narrowed"]


class TooManyOptions(Exception):
    """People have more options than may be written down."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The options of every kind of people."""

    kind: NDArray[np.int64]  # for every person the number of their kind
    n_alike: NDArray[np.int64]  # how many people every kind has
    must: NDArray[np.bool_]  # whether everybody of a kind is in the table in any case
    values: tuple[Any, ...]  # the sensitive values of all releases
    offsets: NDArray[np.int64]  # kind ``i`` has the options ``offsets[i]`` to ``offsets[i + 1]``
    # value, takes: the value of every option, and the things that it takes (options x things)
    value: NDArray[np.int32]
    takes: NDArray[np.int64]
    capacity: NDArray[np.int64]  # how many units there are of everything

    @property
    def of_option(self) -> NDArray[np.int64]:
        """The kind of every option."""
        return np.repeat(np.arange(len(self.n_alike)), np.diff(self.offsets))


def candidates(published: Sequence[Published], knowledge: Knowledge, *, most_options: int) -> Candidates:
    """List everybody's options: all that the releases say, for one person or one item at a time."""
    values, codes = _all_values(published)
    kind, examples, n_alike, known = _kinds(published, knowledge, values)
    capacity: list[NDArray[np.int64]] = []
    n_things = 0
    keys = takes = np.empty(0, np.int64)
    for i, release in enumerate(published):
        who, group, seats = _sittings(release, knowledge, examples, most_options)
        columns = []
        for seat, table in zip(seats, release.seats, strict=True):
            shared = np.bincount(table.group, minlength=release.n_groups)[group] > 1
            if shared.any():  # the only seat of a group is full when the group is
                columns.append(np.where(shared, n_things + seat, -1))
                capacity.append(np.where(np.bincount(table.group)[table.group] > 1, table.count, 0))
                n_things += len(table)
        row, entry = entries_of(release.offsets, group)
        mine = codes[i][release.codes[entry]]
        wanted = (known[who[row]] < 0) | (known[who[row]] == mine)
        row, entry, mine = row[wanted], entry[wanted], mine[wanted]
        things = np.stack([*(column[row] for column in columns), n_things + entry], axis=1)
        capacity.append(release.counts)
        n_things += len(release.counts)
        own = who[row] * len(values) + mine
        if i == 0:
            keys, takes = own, things
            continue
        left, right = _joined(keys, own, most_options)
        keys, takes = keys[left], np.concatenate([takes[left], things[right]], axis=1)
    order = np.argsort(keys, kind="stable")
    keys, takes = keys[order], takes[order]
    value = (keys % len(values)).astype(np.int32)
    n_people = int(n_alike.sum())
    n_tuples = int(published[0].counts.sum())
    if n_people < n_tuples:
        raise NotSupported(
            "intersection needs everybody who is in the published table, and the external table has only "
            f"{counted(n_people, 'person')} for {counted(n_tuples, 'published record')}",
            instead="give an external table with all of them; it may have other people too",
        )
    offsets = np.searchsorted(keys // len(values), np.arange(len(n_alike) + 1))
    must = (known < 0) & (n_people == n_tuples) | (known >= 0) & (known < len(values))
    return Candidates(kind, n_alike, must, values, offsets.astype(np.int64), value, takes, np.concatenate(capacity))


def candidate_values(
    published: Sequence[Published], knowledge: Knowledge
) -> tuple[NDArray[np.int64], tuple[Any, ...], NDArray[np.int64], NDArray[np.int32]]:
    """The kind of every person, the values, and for every kind those that every single release leaves: a quick look."""
    values, codes = _all_values(published)
    kind, examples, _, known = _kinds(published, knowledge, values)
    keys = np.empty(0, np.int64)
    for i, release in enumerate(published):
        own = None
        for table in release.seats:  # a group at a time, so that large cells do no harm
            matches = match(knowledge.external, examples, table)
            pairs = np.unique(matches.of_match * release.n_groups + table.group[matches.seats])
            own = pairs if own is None else np.intersect1d(own, pairs, assume_unique=True)
        assert own is not None
        who, group = own // release.n_groups, own % release.n_groups
        row, entry = entries_of(release.offsets, group)
        mine = codes[i][release.codes[entry]]
        found = np.unique((who[row] * len(values) + mine)[(known[who[row]] < 0) | (known[who[row]] == mine)])
        keys = found if i == 0 else np.intersect1d(keys, found, assume_unique=True)
    offsets = np.searchsorted(keys // len(values), np.arange(len(examples) + 1)).astype(np.int64)
    return kind, values, offsets, (keys % len(values)).astype(np.int32)


def _all_values(published: Sequence[Published]) -> tuple[tuple[Any, ...], list[NDArray[np.int32]]]:
    """The values of all releases, and for each release the numbers of its own among them."""
    totals = []
    for release in published:
        sums = np.bincount(release.codes, weights=release.counts, minlength=len(release.values)).astype(np.int64)
        totals.append({text_of(value): int(n) for value, n in zip(release.values, sums, strict=True)})
    if any(total != totals[0] for total in totals):
        raise InputError(
            "the releases do not contain the same sensitive values with the same frequencies, so they were "
            "not made from the same table: give releases of one table"
        )
    number = {text: i for i, text in enumerate(map(text_of, published[0].values))}
    codes = [np.array([number[text_of(value)] for value in release.values], np.int32) for release in published]
    return published[0].values, codes


def _kinds(
    published: Sequence[Published], knowledge: Knowledge, values: tuple[Any, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Everybody's kind, an example and the number of people of every kind, and the value that is known of it, or -1."""
    people = knowledge.external
    names = dict.fromkeys(name for release in published for table in release.seats for name in table.quasi)
    label = alike([people.column(name) for name in names]).labels.astype(np.int64)
    known = np.full(people.n_tuples, -1, np.int64)  # for who is absent a number that is no value's
    number = {text_of(value): i for i, value in enumerate(values)}
    for row, value in zip(knowledge.corrupted_rows(), knowledge.corrupted.values(), strict=True):
        if value is not ABSENT and text_of(value) not in number:
            raise InputError(
                "the value given for a person (corrupted=, --corrupted) is in none of the releases: check the value"
            )
        known[row] = len(values) if value is ABSENT else number[text_of(value)]
    distinct, first, kind = np.unique(label * (len(values) + 2) + known + 1, return_index=True, return_inverse=True)
    n_alike = np.bincount(kind.reshape(-1), minlength=len(distinct))
    n_alike[known[first] == len(values)] = 0
    return kind.reshape(-1).astype(np.int64), first.astype(np.int64), n_alike, known[first]


def _sittings(
    release: Published, knowledge: Knowledge, examples: NDArray[np.int64], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[NDArray[np.int64]]]:
    """Every way in which a kind may sit in all tables of a release: kind, group, and the seat in each table."""
    who = group = np.empty(0, np.int64)
    seats: list[NDArray[np.int64]] = []
    for table in release.seats:
        matches = match(knowledge.external, examples, table)
        own, at = matches.of_match, matches.seats.astype(np.int64)
        if not seats:
            who, group, seats = own, table.group[at].astype(np.int64), [at]
            continue
        left, right = _joined(who * release.n_groups + group, own * release.n_groups + table.group[at], most)
        who, group, seats = who[left], group[left], [*(seat[left] for seat in seats), at[right]]
    return who, group, seats


def _joined(
    left: NDArray[np.int64], right: NDArray[np.int64], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of places with equal keys."""
    order = np.argsort(right, kind="stable")
    low = np.searchsorted(right[order], left, side="left")
    lengths = np.searchsorted(right[order], left, side="right") - low
    if int(lengths.sum()) > most:
        raise TooManyOptions
    i = np.repeat(np.arange(len(left)), lengths)
    return i, order[low[i] + np.arange(len(i)) - (np.cumsum(lengths) - lengths)[i]]


# --- what follows ----------------------------------------------------------------------------------------------------


class Component(NamedTuple):
    """Kinds of people who compete for the same things, with what is left of these; each is counted separately."""

    kinds: list[int]
    n_alike: list[int]
    options: list[list[int]]  # of each kind: their numbers
    takes: list[list[tuple[int, ...]]]
    capacity: list[int]
    stays: list[bool]  # whether everybody of the kind takes an option


@dataclass(frozen=True, eq=False)
class Narrowed:
    """What is left after drawing every conclusion about a single person or thing."""

    of: Candidates  # the options
    alive: NDArray[np.bool_]  # whether anybody may take an option
    must: NDArray[np.bool_]  # whether everybody of a kind is in the table
    # whether an option takes a thing that all options of its kind take, so that it is known who has it (as
    # ``of.takes``)
    forced: NDArray[np.bool_]
    n_rounds: int  # how often everything was gone through

    def settled(self) -> NDArray[np.bool_]:
        """The kinds of whom all is known: those whose only option is certain, and those who have none."""
        n_left = np.bincount(self.of.of_option[self.alive], minlength=len(self.of.n_alike))
        return np.asarray((n_left == 0) | ((n_left == 1) & self.must))

    def components(self) -> Iterator[Component]:
        """The kinds whose options are not settled, as connected components."""
        kind, settled = self.of.of_option, self.settled()
        rows = np.flatnonzero(self.alive & ~settled[kind])
        free = ~self.forced[rows] & (self.of.takes[rows] >= 0)
        n_kinds = len(self.of.n_alike)
        who, thing = kind[rows][np.nonzero(free)[0]], self.of.takes[rows][free]
        label = connected(n_kinds + len(self.of.capacity), who, thing + n_kinds)[:n_kinds]
        left = self.left()
        order = np.argsort(label[kind[rows]], kind="stable")
        rows, free = rows[order], free[order]
        bounds = np.flatnonzero(np.diff(label[kind[rows]], prepend=-1, append=-2))
        for start, stop in pairwise(bounds.tolist()):
            number: dict[int, int] = {}
            options: dict[int, list[int]] = {}
            takes: dict[int, list[tuple[int, ...]]] = {}
            for row, is_free in zip(rows[start:stop].tolist(), free[start:stop], strict=True):
                things = self.of.takes[row][is_free].tolist()
                taken = tuple(sorted(number.setdefault(thing, len(number)) for thing in things))
                options.setdefault(int(kind[row]), []).append(row)
                takes.setdefault(int(kind[row]), []).append(taken)
            yield Component(
                list(options),
                [int(self.of.n_alike[k]) for k in options],
                list(options.values()),
                list(takes.values()),
                [int(left[thing]) for thing in number],
                [bool(self.must[k]) for k in options],
            )

    def most(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """An upper bound on the probability of every cell, which is a kind times the number of values, plus a value.

        A cell takes a thing from each table, or one of several. People of a kind are alike: each of them has the cell
        with the same probability, so it is at most the number of these things over the number of these people. Things
        that all of a kind take in any case say nothing.
        """
        own = (self.of.of_option * len(self.of.values) + self.of.value)[self.alive]
        cell, left, found = np.searchsorted(cells, own), self.left(), np.ones(len(cells))
        n_alike = np.maximum(self.of.n_alike[cells // len(self.of.values)], 1)
        for thing, forced in zip(self.of.takes[self.alive].T, self.forced[self.alive].T, strict=True):
            pairs = np.unique((cell * len(left) + thing)[thing >= 0])
            n_things = np.bincount(pairs // len(left), weights=left[pairs % len(left)], minlength=len(cells))
            open_ = np.bincount(cell, weights=forced | (thing < 0), minlength=len(cells)) > 0
            found = np.where(open_, found, np.minimum(found, n_things / n_alike))
        return found

    def left(self) -> NDArray[np.int64]:
        """How much is left of everything, without what people take in any case."""
        pairs, kind, thing = _pairs(self.of)
        taken = np.zeros(len(kind), bool)
        taken[pairs[self.forced & self.alive[:, np.newaxis]]] = True
        sure = np.bincount(thing[taken], weights=self.of.n_alike[kind[taken]], minlength=len(self.of.capacity))
        return self.of.capacity - sure.astype(np.int64)


def narrowed(of: Candidates, *, most_rounds: int = 1000) -> Narrowed:
    """Remove every option that is impossible, drawing conclusions about one person or item at a time.

    People who can take something that would else be left over must take it. What people must take, others cannot have.
    """
    pairs, kind_of_pair, thing_of_pair = _pairs(of)
    kind = of.of_option
    real = pairs >= 0
    alive = np.ones(len(kind), bool)
    must = of.must.copy()
    weight = of.n_alike[kind_of_pair]
    rounds = 0
    while True:
        rounds += 1
        n_left = np.bincount(kind[alive], minlength=len(of.n_alike))
        uses = np.bincount(pairs[alive][real[alive]], minlength=len(kind_of_pair))
        possible = uses > 0
        supply = _sums(thing_of_pair[possible], weight[possible], len(of.capacity))
        if (supply < of.capacity).any() or (must & (n_left == 0) & (of.n_alike > 0)).any():
            raise _impossible()
        tight = (supply == of.capacity)[thing_of_pair] & possible  # who can take it, must
        must[kind_of_pair[tight]] = True
        forced = possible & (uses == n_left[kind_of_pair]) & must[kind_of_pair]
        demand = _sums(thing_of_pair[forced], weight[forced], len(of.capacity))
        if (demand > of.capacity).any():
            raise _impossible()
        gone = (demand == of.capacity)[thing_of_pair] & ~forced  # others have it all
        n_tight = np.bincount(kind_of_pair[tight], minlength=len(of.n_alike))
        takes_tight = (np.append(tight, False)[pairs] & real).sum(axis=1)
        takes_gone = (np.append(gone, False)[pairs] & real).any(axis=1)
        now = alive & (takes_tight == n_tight[kind]) & ~takes_gone
        if np.array_equal(now, alive) or rounds >= most_rounds:
            marks = np.append(forced, False)[pairs] & real
            return Narrowed(of, alive, must, marks, rounds)
        alive = now


def _pairs(of: Candidates) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Number the pairs of a kind and a thing that occur: for each of ``takes`` (or -1), then both of each pair."""
    real = of.takes >= 0
    keys = (of.of_option[:, np.newaxis] * len(of.capacity) + of.takes)[real]
    distinct, number = np.unique(keys, return_inverse=True)
    pairs = np.full(of.takes.shape, -1, np.int64)
    pairs[real] = number.reshape(-1)
    return pairs, distinct // len(of.capacity), distinct % len(of.capacity)


def _sums(of: NDArray[np.int64], weights: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    return np.bincount(of, weights=weights, minlength=n).astype(np.int64)


def _impossible() -> InputError:
    return InputError(
        "no table of the people in the external table could have produced all of these releases: the releases "
        "were not made from the same table, or people are missing from the external table, or a value given "
        "for a person (corrupted=, --corrupted) is wrong"
    )
