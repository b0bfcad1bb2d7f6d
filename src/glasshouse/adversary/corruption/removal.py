# SPDX-License-Identifier: Apache-2.0
"""Removal: what groups that keep their sensitive values tell, when some people's values are known (CORRUPTION III-B).

All worlds that agree with the release and with what the attacker knows are equally likely: every way in which published
records may be people's, and in which the records of a group may have its values. Somebody known to be in the table
takes a record and a value; somebody known to be absent makes one candidate fewer. With everybody else
corrupted one record and one value are left, and the probability is 1 (Lemma 2).

*One group at each place.* Say m records show some cells, c people fit them, and they are of a group of s records, n of
which have value v. Of those people a are corrupted, b of them in the table; k members of the group are, h of whom have
v. Of the others at that place each is alike, and so is each record that is left: the probability that one of them is in
the table with value v is ``(m - b) / (c - a) * (n - h) / (s - k)``.

*Several groups at one place* (equal quasi-identifiers in two anatomized groups, the buckets of ANGEL): in which group a
corrupted person is must be weighed. A choice of records for all of them is possible in so many ways: the product, one
person after the other, of the records left at that place in that group, times the group's records left with that value,
over all its records left. The ways for everybody else are as many for every choice, so these products are the weights.

*Cells that overlap.* There the others' ways differ, and are counted if the table is small: corrupted people sit down
first, each choice with its weight, then everybody else, kind by kind, until every record is somebody's. Records are
told apart, and so are people. Else the answer is a mixture, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import factorial, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glasshouse.adversary.corruption.seats import Fitting, Left, TooMany, choices, components, contradiction, expanded
from glasshouse.adversary.dropped_people import count_dropped
from glasshouse.adversary.linking import most_telling
from glasshouse.adversary.matching import seats_in_words
from glasshouse.adversary.permanents import count_ways
from glasshouse.adversary.posterior import Beliefs, entries_of
from glasshouse.adversary.task import GONE, UNKNOWN
from glasshouse.errors import NotSupported
from glasshouse.microdata.domains import text_of
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.task import Task

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Found = tuple[Beliefs, Floats, str, list[str]]  # probabilities, presence, how they were had, and what is to be said

__all__ = ["MOST_WAYS", "Removal"]

MOST_WAYS = 4_000
"""The largest number of ways to assign people to groups that the attack goes through, where groups are not certain."""

_STATES = 100  # of counting, for each way that may be gone through
_SURE = 1e-9
_KNOWN_BEFORE = "the attacker knew this value before seeing the release"
_MOST_PEOPLE = 64  # who are seated in every way; beyond, counting would end in too many ways after a long time


@dataclass(frozen=True, kw_only=True)
class Removal:
    """Take corrupted people out of a release's groups, and share out what is left among the others.

    The choices are those of `Corruption`; ``qualifies`` is its predicate.
    """

    in_table: bool = False
    most_corrupted: int = 0
    qualifies: Callable[[Any], bool] | None = None
    most_ways: int = MOST_WAYS

    def believe(self, task: Task) -> Posterior:
        """Compute the probabilities for everybody else."""
        if task.knowledge.is_personal:
            raise NotSupported(
                "the attack corruption cannot use a prior for single people on a release that publishes "
                "groups with their true values",
                instead="leave out the prior, or attack a small table with reverse engineering",
            )
        return most_telling(_OneTable(task, Fitting.of(task, seats), self).posterior() for seats in task.contents.seats)


class _Worst(NamedTuple):
    """The largest probabilities if more people are corrupted: of every seat and value of its group."""

    seat: Integers
    code: Integers
    n: Floats  # records of the group with the value
    s: Floats  # records of the group
    out: Floats  # records of the group that are of corrupted people, with other values
    belief: Floats


@dataclass(frozen=True, eq=False)
class _OneTable:
    """The attack by one table of seats."""

    task: Task
    fit: Fitting
    given: Removal

    # --- probabilities ------------------------------------------------------------------------------------------------

    def posterior(self) -> Posterior:
        fit, given, values = self.fit, self.given, self.task.contents.values
        chosen = None if given.qualifies is None else np.array([bool(given.qualifies(value)) for value in values])
        notes = list(fit.notes)
        if self.task.knowledge.prior is not None:
            notes.append(
                "the prior changes nothing for published people: it is the same for everybody, and all possible tables "
                "have the published values"
            )
        because: Callable[[int, int], str] | None = self._because if chosen is None else None
        bounded: Flags | None = None
        if given.most_corrupted:
            beliefs, presence, because, bounded = self._worst(chosen)
            how = "bound"
        else:
            beliefs, presence, how, more = self._beliefs()
            notes += more
            if chosen is not None:
                own = chosen[beliefs.codes]
                beliefs = self._joined(beliefs.owner[own], 0, beliefs.beliefs[own], n_values=1)
        n_kinds = len(fit.n_alike)
        found = self.task.posterior(
            how,
            np.where(fit.known == UNKNOWN, fit.kind, np.where(fit.known == GONE, n_kinds, n_kinds + 1)),
            beliefs.among(2),
            np.concatenate([presence, [0.0, 1.0]]),
            values=values if chosen is None else (True,),
            because=because,
            bounded=bounded,
            notes=notes,
        )
        found = count_dropped(found, self.task, chosen=chosen, more_corrupted=given.most_corrupted)
        return _in_table(found) if given.in_table and not given.most_corrupted else found

    def _joined(
        self,
        who: Integers,
        codes: NDArray[Any] | int,
        weights: Floats,
        n_values: int | None = None,
        how: np.ufunc = np.add,
    ) -> Beliefs:
        n_values = len(self.task.contents.values) if n_values is None else n_values
        codes = np.zeros(len(who), np.int64) + codes
        return Beliefs.joined(who, codes, weights, n_kinds=len(self.fit.n_alike), n_values=n_values, how=how)

    def _because(self, kind: int, code: int) -> str:
        value = text_of(self.fit.published.values[code])
        seats = self.fit.seats_of(kind) if kind < len(self.fit.n_alike) else []
        if not seats:
            return _KNOWN_BEFORE
        shown = seats_in_words(self.fit.seats, seats[0])
        groups = {int(self.fit.seats.group[seat]) for seat in seats}
        entries = [entry for group in groups if (entry := self.fit.entry(group, code)) >= 0]
        having = int(self.fit.published.counts[entries].sum())
        of = int(self.fit.published.sizes[list(groups)].sum())
        # people who fit one of these groups may be in it
        near = np.isin(self.fit.seats.group[self.fit.matches.seats], list(groups))
        fitting = np.unique(self.fit.of_match[near])
        inside = [(own, n) for (who, own), n in self.fit.of_value.items() if who in fitting]
        others = sum(n for own, n in inside if own != code)
        return (
            f"{having:,} of {counted(of, 'record')} in the groups with the cells {shown} "
            f"{'has' if having == 1 else 'have'} {value}. The attacker already knows the values of "
            f"{counted(sum(n for _, n in inside), 'person')} in the table who may be in these groups, and {others:,} "
            f"of them {'has' if others == 1 else 'have'} another value"
        )

    def _beliefs(self) -> Found:
        left = Left(self.fit)
        if not self.fit.overlap:
            return self._apart(left, left.take_out_sure())
        try:
            beliefs, presence = _every_way(self.fit, self.given.most_ways)
        except TooMany:
            return self._mixture(left)
        return beliefs, presence, "exact", []

    def _apart(self, left: Left, unsure: list[tuple[int, int, int]]) -> Found:
        """The probabilities where nobody fits two places: see the head of this file."""
        weighed: dict[int, NDArray[np.float64]] = {}  # of a group: records expected for each of its seats and values
        vague = 0
        for people in components(self.fit, unsure):
            try:
                weighed |= left.weigh(people, self.given.most_ways)
            except TooMany:
                vague += sum(n for _, _, n in people)
                left.expect(people)
        seat, code, mass = left.masses(weighed)
        place = self.fit.seats.place
        n_places = len(self.fit.seats)
        of_kind, at = self.fit.pairs
        unknown = np.bincount(at, weights=self.fit.unknown[of_kind], minlength=n_places)
        tuples = np.bincount(place, weights=self.fit.seats.count, minlength=n_places)
        inside = np.bincount(at, weights=self.fit.inside[of_kind], minlength=n_places)
        room = tuples - inside
        rivals = np.maximum(unknown, room)  # people who are not on the list sit on what they leave
        notes = []
        strangers = int(np.maximum(room - unknown, 0).sum())
        if strangers:
            notes.append(
                f"{counted(strangers, 'record belongs', 'records belong')} to people who are not in the external table"
            )
        if vague:
            notes.append(
                f"for {counted(vague, 'person whose value', 'people whose values')} the attacker knows, it is not "
                "certain in which group they are; each of them was considered separately, so the probabilities for "
                "people in these groups are approximate"
            )
        shared = np.divide(room, rivals, out=np.zeros(n_places), where=rivals > 0)
        by_place = Beliefs.joined(
            place[seat],
            code,
            mass / np.maximum(rivals[place[seat]], 1),
            n_kinds=n_places,
            n_values=len(self.fit.published.values),
        )
        presence = np.zeros(len(self.fit.n_alike))
        presence[of_kind] = shared[at]
        return self._per_kind(by_place), presence, "mixture" if vague else "exact", notes

    def _per_kind(self, by_place: Beliefs) -> Beliefs:
        """Give every kind of people the probabilities at their place, if anybody is of that kind."""
        of_kind, at = self.fit.pairs
        somebody = self.fit.unknown[of_kind] > 0
        pair, entry = entries_of(by_place.offsets, at[somebody])
        positive = by_place.beliefs[entry] > 0
        pair, entry = pair[positive], entry[positive]
        return self._joined(of_kind[somebody][pair], by_place.codes[entry], by_place.beliefs[entry])

    def _mixture(self, left: Left) -> Found:
        """Cells overlap: a seat's records are shared out among all who fit them, corrupted people first."""
        left.expect(self.fit.corrupted())
        of_kind, at = self.fit.pairs
        rivals = np.bincount(at, weights=self.fit.unknown[of_kind], minlength=len(self.fit.seats))
        place = self.fit.seats.place[self.fit.matches.seats]
        somebody = self.fit.unknown[self.fit.of_match] > 0
        share = np.where(somebody, left.seat[self.fit.matches.seats] / np.maximum(rivals[place], 1), 0.0)
        total = np.bincount(self.fit.of_match, weights=share, minlength=len(self.fit.n_alike)).astype(np.float64)
        presence = np.minimum(1.0, total)
        weight = np.divide(
            share * presence[self.fit.of_match], total[self.fit.of_match], out=np.zeros(len(share)), where=share > 0
        )
        seat, code, mass = left.masses({})
        starts = np.searchsorted(seat, np.arange(len(self.fit.seats) + 1))
        pair, places = entries_of(starts, self.fit.matches.seats)
        per_tuple = np.divide(mass, left.seat[seat], out=np.zeros(len(mass)), where=left.seat[seat] > 0)
        beliefs = self._joined(self.fit.of_match[pair], code[places], weight[pair] * per_tuple[places])
        notes = [
            "cells overlap, and there are too many ways to assign people to groups: the probabilities are "
            "averages over the groups that fit a person"
        ]
        return self._last_one(beliefs, presence), presence, "mixture", notes

    def _last_one(self, beliefs: Beliefs, presence: Floats) -> Beliefs:
        """If one person and one record are left, make that record the person's, however cells overlap (Lemma 2)."""
        fitting = np.diff(self.fit.matches.offsets) > 0
        (last,) = np.nonzero(self.fit.unknown * fitting)
        totals = np.bincount(
            self.fit.published.codes, weights=self.fit.published.counts, minlength=len(self.fit.published.values)
        )
        totals -= np.bincount(self.fit.known[self.fit.known >= 0], minlength=len(totals))
        if len(last) != 1 or self.fit.unknown[last[0]] != 1 or totals.sum() != 1 or totals.min() < 0:
            return beliefs
        presence[last] = 1.0
        return self._joined(last.astype(np.int64), np.flatnonzero(totals), np.ones(1))

    # --- people whom the attacker may corrupt too ---------------------------------------------------------------------

    def _worst(self, chosen: NDArray[np.bool_] | None) -> tuple[Beliefs, Floats, Callable[[int, int], str], Flags]:
        """The largest probabilities after at most ``most`` more people are corrupted, whatever values they have.

        *One group at each place*, with what was known before taken out: m records at the place, for c people; s records
        in the group, n of them with v. Say i corrupted people are of the group elsewhere, j of it at the place, and a
        at the place are not in the table. None has v, or there would be a smaller n. By the formula at the head of
        this file the probability is ``(m - j) / (c - j - a) * n / (s - i - j)``. The first factor falls with j, for
        m <= c - a, and the second sees only i + j: so j is 0 as long as there is somebody elsewhere. Both grow with
        a and with i. So the largest is found by trying every a, with ``i + j = min(most - a, s - n)``: there are s - n
        records of other values, and each of these numbers occurs in some world. With one place for the group this is
        ``n / (c - min(most, c - n))``; with presence known, ``n / (s - min(most, s - n))``.

        *Otherwise* somebody who also knew who is in which group would have a probability of at most ``n / (s -
        min(most, s - n))`` in one of the groups that the person fits, ``most`` counting those corrupted before too. The
        probability is an average of such probabilities, so it is no larger than the largest; it may not reach it, and
        the last that is returned says for which kinds.
        """
        published, seats, most = self.fit.published, self.fit.seats, self.given.most_corrupted
        left = Left(self.fit)
        unsure = [(0, 0, int((self.fit.known >= 0).sum()))] if self.fit.overlap else left.take_out_sure()
        more = most + sum(n for _, _, n in unsure)
        n_seats_at = np.bincount(seats.place, minlength=len(seats))
        doubtful = np.zeros(published.n_groups, bool)
        if self.fit.overlap:
            doubtful[:] = True
        else:
            for kind, _, _ in unsure:
                doubtful[seats.group[self.fit.seats_of(kind)]] = True
        seat, code, entry = expanded(published, seats)
        group = seats.group[seat]
        plain = (n_seats_at[seats.place[seat]] == 1) & ~doubtful[group]
        n = np.where(plain, left.entry[entry], published.counts[entry]).astype(np.float64)
        s = np.where(plain, left.group[group], published.sizes[group]).astype(np.float64)
        if chosen is not None:
            n = np.where(chosen[code], n, 0.0)
            whole = Beliefs.joined(seat, np.zeros(len(seat), np.int64), n, n_kinds=len(seats), n_values=1)
            first = np.searchsorted(seat, whole.owner)
            seat, n = whole.owner, whole.beliefs
            code, group, plain, s = np.zeros(len(seat), np.int64), seats.group[seat], plain[first], s[first]
        of_kind, at = self.fit.pairs
        unknown = np.bincount(at, weights=self.fit.unknown[of_kind], minlength=len(seats))[seats.place[seat]]
        m = left.seat[seat].astype(np.float64)
        absent = np.maximum(unknown - m, 0)
        out = np.minimum(np.where(plain, most, more), s - n)  # of the group's records: those of corrupted people
        worst = n / np.maximum(s - out, 1)
        if not self.given.in_table:
            tried, tried_out = np.zeros(len(worst)), out.copy()
            for a in range(int(min(most, absent[plain].max(initial=0))) + 1):
                taken = np.minimum(most - a, s - n)
                j = np.maximum(taken - (s - m), 0)
                now = (m - j) / np.maximum(m + absent - j - a, 1) * n / np.maximum(s - taken, 1)
                better = (a <= absent) & (now > tried)
                tried, tried_out = np.where(better, now, tried), np.where(better, taken, tried_out)
            worst, out = np.where(plain, tried, worst), np.where(plain, tried_out, out)
        presence = np.zeros(len(self.fit.n_alike))
        presence[of_kind] = 1.0
        pair, places = entries_of(np.searchsorted(seat, np.arange(len(seats) + 1)), self.fit.matches.seats)
        who = self.fit.of_match[pair]
        keep = (self.fit.unknown[who] > 0) & (worst[places] > 0)
        found = self._joined(who[keep], code[places][keep], worst[places][keep], how=np.maximum)
        unsure_where = (n_seats_at[seats.place] > 1) | doubtful[seats.group]
        bounded = np.zeros(len(presence) + 2, bool)
        bounded[self.fit.of_match[unsure_where[self.fit.matches.seats]]] = True
        return found, presence, self._because_worst(_Worst(seat, code, n, s, out, worst), named=chosen is None), bounded

    def _because_worst(self, worst: _Worst, *, named: bool) -> Callable[[int, int], str]:
        """Explain a largest probability by the group in which it is reached."""

        def sentence(kind: int, code: int) -> str:
            if kind >= len(self.fit.n_alike):
                return _KNOWN_BEFORE
            rows = np.flatnonzero(np.isin(worst.seat, self.fit.seats_of(kind)) & (worst.code == code))
            row = rows[np.argmax(worst.belief[rows])]
            n, s, out = (round(float(numbers[row])) for numbers in (worst.n, worst.s, worst.out))
            value = text_of(self.fit.published.values[code]) if named else "one of the given values"
            shown = seats_in_words(self.fit.seats, int(worst.seat[row]))
            have = "has" if n == 1 else "have"
            told = (
                f"in one of the groups that such a person may be in, with the cells {shown}, {n:,} of "
                f"{counted(s, 'record')} {have} {value}"
            )
            if out:
                others = (
                    "the value of 1 other person in this group, which is a different value"
                    if out == 1
                    else f"the values of {counted(out, 'other person', 'other people')} in this group, which all are "
                    "different values"
                )
                told += (
                    f". If the attacker knows {others}, {n:,} of {counted(s - out, 'remaining record')} {have} {value}"
                )
            share = float(worst.belief[row]) * (s - out) / n
            if share < 1 - _SURE:
                told += f"; and such a person is in the table with a probability of at most {share:.4f}"
            return told

        return sentence


def _in_table(found: Posterior) -> Posterior:
    """Probabilities of people who are known to be in the table."""
    who = Beliefs(found.offsets, found.codes, found.beliefs).owner
    return replace(
        found,
        beliefs=found.beliefs / found.presence[who],
        presence=np.where(found.presence > 0, 1.0, 0.0),
        once_known=None if found.once_known is None else _in_table(found.once_known),
    )


# --- overlapping cells, exactly --------------------------------------------------------------------------------------


def _every_way(fitting: Fitting, most_ways: int) -> tuple[Beliefs, Floats]:
    """Probabilities and presence of everybody, by counting all ways to fit people in; `TooMany` if there are too many.

    For every choice of records for corrupted people the others are seated by `count_ways`, which does not tell the
    records of a seat apart: those that are left there can be handed out in any order.
    """
    kinds = [kind for kind in np.flatnonzero(fitting.unknown).tolist() if fitting.seats_of(kind)]
    people, seats_of = fitting.unknown[kinds].tolist(), [fitting.seats_of(kind) for kind in kinds]
    tuples, inside = int(fitting.seats.count.sum()), int((fitting.known >= 0).sum())
    too_few = sum(people) + inside < tuples  # somebody is not on the list, and may sit anywhere
    if too_few or sum(people) + inside > _MOST_PEOPLE or len(kinds) * len(fitting.seats) > most_ways:
        raise TooMany
    left, most_states = Left(fitting), _STATES * most_ways
    options = [[(seat,) for seat in seats] for seats in seats_of]
    joint: dict[tuple[int, int], Fraction] = {}  # by kind and value
    here = [Fraction(0)] * len(fitting.n_alike)
    total = Fraction(0)
    for choice, weight in choices(left, fitting.corrupted(), most_ways).items():
        room = left.seat.astype(np.int64)
        entry, group = left.entry.copy(), left.group.copy()
        for (seat, own), n in choice:
            room[seat] -= n
            entry[own] -= n
            group[fitting.seats.group[seat]] -= n
        counted = count_ways(people, options, room.tolist(), most_states=most_states)
        if counted.n_states > most_states:
            raise TooMany
        most_states -= counted.n_states
        ways = weight * counted.n_ways * prod(map(factorial, room.tolist()))
        total += ways
        for kind, seats, parts in zip(kinds, seats_of, counted.shares or (), strict=bool(counted.shares)):
            for seat, part in zip(seats, parts, strict=True):
                here[kind] += ways * part
                number = int(fitting.seats.group[seat])
                for own in range(int(fitting.published.offsets[number]), int(fitting.published.offsets[number + 1])):
                    if part and entry[own]:
                        having = Fraction(int(entry[own]), int(group[number]))
                        key = (kind, int(fitting.published.codes[own]))
                        joint[key] = joint.get(key, Fraction(0)) + ways * part * having
    if not total:
        raise contradiction()
    presence = np.array([float(share / total) for share in here])
    who, codes = np.array(sorted(joint), np.int64).reshape(-1, 2).T
    weights = np.array([float(joint[key] / total) for key in sorted(joint)])
    n_values = len(fitting.published.values)
    return Beliefs.joined(who, codes, weights, n_kinds=len(fitting.n_alike), n_values=n_values), presence
