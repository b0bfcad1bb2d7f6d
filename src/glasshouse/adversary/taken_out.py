# SPDX-License-Identifier: Apache-2.0
"""Taken out: what groups that keep their sensitive values tell, when some people's values are known (CORRUPTION III-B).

She holds all worlds that agree with the release and with what she knows equally likely: every way in which published
tuples may be people's, and in which the tuples of a group may have its values. Somebody known to be in the table takes
a tuple and a value with him; somebody known to be absent makes one candidate fewer. With everybody else corrupted one
tuple and one value are left, and belief is 1 (Lemma 2).

*One group at each place.* Say m tuples show some cells, c people fit them, and they are of a group of s tuples, n of
which have value v. Of those people a are corrupted, b of them in the table; k members of the group are, h of whom have
v. Of the others at that place each is alike, and so is each tuple that is left: the belief that one of them is in the
table with value v is ``(m - b) / (c - a) * (n - h) / (s - k)``.

*Several groups at one place* (equal quasi-identifiers in two anatomized groups, the buckets of ANGEL): in which group a
corrupted person is must be weighed. A choice of tuples for all of them is possible in so many ways: the product, one
person after the other, of the tuples left at that place in that group, times the group's tuples left with that value,
over all its tuples left. The ways for everybody else are as many for every choice, so these products are the weights.

*Cells that overlap.* There the others' ways differ, and are counted if the table is small. Else the answer is a
mixture, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.dropped import count_dropped
from glasshouse.adversary.fitting import GONE, UNKNOWN, Fitting
from glasshouse.adversary.left_over import Left, TooMany, components, expanded, joined
from glasshouse.adversary.linking import promised_limit
from glasshouse.adversary.overlapping import Seating
from glasshouse.adversary.posterior import Posterior
from glasshouse.errors import NotSupported
from glasshouse.microdata.domains import text_of
from glasshouse.published import Published

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.adversary.left_over import Sparse
    from glasshouse.release import Release

__all__ = ["MOST_WAYS", "taken_out"]

MOST_WAYS = 4_000
"""So many ways to seat corrupted people, or the others where cells overlap, are gone through."""


def taken_out(
    release: Release,
    knowledge: Knowledge,
    *,
    attack: str,
    column: str | None = None,
    in_table: bool = False,
    most_corrupted: int = 0,
    qualifies: Callable[[Any], bool] | None = None,
    most_ways: int = MOST_WAYS,
) -> Posterior:
    """Take corrupted people out of a release's groups, and share out what is left among the others.

    Parameters
    ----------
    release, knowledge
        What was published, and what she holds.
    attack
        Name of the attack.
    column
        The sensitive column.
    in_table
        Whether everybody who is attacked is known to be in the table.
    most_corrupted
        So many more people she may corrupt: no belief can be larger than what is given then.
    qualifies
        A predicate on values: then there is one belief, in that.
    most_ways
        How many ways to seat people are gone through where they must be.
    """
    if knowledge.is_personal:
        raise NotSupported(
            "a prior by person on a release that keeps the values of its groups",
            instead="leave it out, or attack a small table by reverse engineering",
        )
    published = Published.of(release, column)
    found: Posterior | None = None
    for seats in published.seats:
        taken = _TakenOut(release, Fitting.of(release, knowledge, published, seats))
        one = taken.posterior(
            attack, in_table=in_table, most_corrupted=most_corrupted, qualifies=qualifies, most_ways=most_ways
        )
        found = one if found is None or one.largest.max(initial=0) > found.largest.max(initial=0) else found
    assert found is not None
    return found


@dataclass(frozen=True, eq=False)
class _TakenOut:
    """The attack by one table of seats."""

    release: Release
    fit: Fitting

    # --- beliefs ----------------------------------------------------------------------------------------------------

    def posterior(
        self,
        attack: str,
        *,
        in_table: bool,
        most_corrupted: int,
        qualifies: Callable[[Any], bool] | None,
        most_ways: int,
    ) -> Posterior:
        values: tuple[Any, ...] = self.fit.published.values
        chosen = None if qualifies is None else np.array([bool(qualifies(value)) for value in values])
        notes = list(self.fit.notes)
        if self.fit.knowledge.prior is not None:
            notes.append("a prior for everybody changes nothing here: every world has the same values")
        if most_corrupted:
            sparse, presence = self._worst(most_corrupted, chosen, in_table=in_table)
            how = "bound"
        else:
            sparse, presence, how, more = self._beliefs(most_ways)
            notes += more
            if chosen is not None:
                sparse = joined(sparse[0][chosen[sparse[1]]], None, sparse[2][chosen[sparse[1]]], 1)
        if chosen is not None:
            values = (True,)
        n_kinds = len(self.fit.n_alike)
        kind = np.where(
            self.fit.known == UNKNOWN, self.fit.kind, np.where(self.fit.known == GONE, n_kinds, n_kinds + 1)
        )
        found = Posterior(
            attack=attack,
            column=self.fit.published.column,
            how=how,
            knowledge=self.fit.knowledge,
            values=values,
            kind=kind,
            offsets=np.searchsorted(sparse[0], np.arange(n_kinds + 3)).astype(np.int64),
            codes=sparse[1].astype(np.int32),
            beliefs=sparse[2],
            presence=np.concatenate([presence, [0.0, 1.0]]),
            limit=promised_limit(self.release, self.fit.published.column),
            because=self._because if chosen is None else None,
            notes=tuple(notes),
        )
        found = count_dropped(found, self.release, self.fit.published, chosen=chosen, more_corrupted=most_corrupted)
        return _in_table(found) if in_table and not most_corrupted else found

    def _because(self, kind: int, code: int) -> str:
        value = text_of(self.fit.published.values[code])
        seats = self.fit.seats_of(kind) if kind < len(self.fit.n_alike) else []
        if not seats:
            return "she knew it before"
        cells = zip(self.fit.seats.quasi, self.fit.seats.cells, self.fit.seats.of_seat, strict=True)
        shown = ", ".join(f"{name} {texts[codes[seats[0]]]}" for name, texts, codes in cells)
        groups = {int(self.fit.seats.group[seat]) for seat in seats}
        entries = [entry for group in groups if (entry := self.fit.entry(group, code)) >= 0]
        having = int(self.fit.published.counts[entries].sum())
        of = int(self.fit.published.sizes[list(groups)].sum())
        # whoever fits one of these groups may be in it
        near = np.isin(self.fit.seats.group[self.fit.matches.seats], list(groups))
        fitting = np.unique(self.fit.of_match[near])
        inside = [(own, n) for (who, own), n in self.fit.of_value.items() if who in fitting]
        others = sum(n for own, n in inside if own != code)
        return (
            f"{having:,} of {of:,} tuples of the groups at {shown} have {value}; of the people who may be there she "
            f"has corrupted {sum(n for _, n in inside):,} who are in the table, {others:,} of them with another value"
        )

    def _beliefs(self, most_ways: int) -> tuple[Sparse, NDArray[np.float64], str, list[str]]:
        left = Left(self.fit)
        if not self.fit.overlap:
            unsure = left.take_out_sure()
            return self._apart(left, unsure, most_ways)
        try:
            sparse, presence = Seating(self.fit, most_ways).beliefs()
        except TooMany:
            return self._mixture(left)
        return sparse, presence, "exact", []

    def _apart(
        self, left: Left, unsure: list[tuple[int, int, int]], most_ways: int
    ) -> tuple[Sparse, NDArray[np.float64], str, list[str]]:
        """Nobody fits two places: see the head of this file."""
        weighed: dict[int, NDArray[np.float64]] = {}  # of a group: tuples expected for each of its seats and values
        vague = 0
        for people in components(self.fit, unsure):
            try:
                weighed |= left.weigh(people, most_ways)
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
        rivals = np.maximum(unknown, room)  # whoever is not on her list sits on what they leave
        notes = []
        strangers = int(np.maximum(room - unknown, 0).sum())
        if strangers:
            notes.append(f"{strangers:,} tuples are of people whom the external table lacks")
        if vague:
            notes.append(
                f"which group {vague:,} corrupted people are in was weighed for each of them by itself: beliefs near "
                "them are approximate"
            )
        shared = np.divide(room, rivals, out=np.zeros(n_places), where=rivals > 0)
        by_place = joined(place[seat], code, mass / np.maximum(rivals[place[seat]], 1), len(self.fit.published.values))
        presence = np.zeros(len(self.fit.n_alike))
        presence[of_kind] = shared[at]
        return self._per_kind(by_place), presence, "mixture" if vague else "exact", notes

    def _per_kind(self, by_place: Sparse) -> Sparse:
        """Give every kind of people what is believed at their place, if there is somebody to believe it of."""
        of_kind, at = self.fit.pairs
        somebody = self.fit.unknown[of_kind] > 0
        of_kind, at = of_kind[somebody], at[somebody]
        starts = np.searchsorted(by_place[0], np.arange(len(self.fit.seats) + 1))
        lengths = np.diff(starts)[at]
        before = np.append(0, np.cumsum(lengths))
        places = np.repeat(starts[at] - before[:-1], lengths) + np.arange(before[-1])
        positive = by_place[2][places] > 0
        return np.repeat(of_kind, lengths)[positive], by_place[1][places][positive], by_place[2][places][positive]

    def _mixture(self, left: Left) -> tuple[Sparse, NDArray[np.float64], str, list[str]]:
        """Cells overlap: a seat's tuples are shared out among all who fit them, corrupted people first."""
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
        lengths = np.diff(starts)[self.fit.matches.seats]
        before = np.append(0, np.cumsum(lengths))
        places = np.repeat(starts[self.fit.matches.seats] - before[:-1], lengths) + np.arange(before[-1])
        per_tuple = np.divide(mass, left.seat[seat], out=np.zeros(len(mass)), where=left.seat[seat] > 0)
        beliefs = np.repeat(weight, lengths) * per_tuple[places]
        sparse = joined(np.repeat(self.fit.of_match, lengths), code[places], beliefs, len(self.fit.published.values))
        notes = ["cells overlap, and there are too many ways to fit people in: groups were mixed by their shares"]
        return self._last_one(sparse, presence), presence, "mixture", notes

    def _last_one(self, sparse: Sparse, presence: NDArray[np.float64]) -> Sparse:
        """Where one person and one tuple are left, what is left is known, however cells overlap (Lemma 2)."""
        fitting = np.diff(self.fit.matches.offsets) > 0
        (last,) = np.nonzero(self.fit.unknown * fitting)
        totals = np.bincount(
            self.fit.published.codes, weights=self.fit.published.counts, minlength=len(self.fit.published.values)
        )
        totals -= np.bincount(self.fit.known[self.fit.known >= 0], minlength=len(totals))
        if len(last) != 1 or self.fit.unknown[last[0]] != 1 or totals.sum() != 1 or totals.min() < 0:
            return sparse
        presence[last] = 1.0
        return last.astype(np.int64), np.flatnonzero(totals).astype(np.int64), np.ones(1)

    # --- whomever else she may corrupt ------------------------------------------------------------------------------

    def _worst(
        self, most: int, chosen: NDArray[np.bool_] | None, *, in_table: bool
    ) -> tuple[Sparse, NDArray[np.float64]]:
        """The largest beliefs after at most ``most`` more people are corrupted, whatever they turn out to have.

        *One group at each place*, with what was known before taken out: m tuples at the place, for c people; s tuples
        in the group, n of them with v. Say i corrupted people are of the group elsewhere, j of it at the place, and a
        at the place are not in the table. None has v, or there would be a smaller n. By the formula at the head of
        this file the belief is ``(m - j) / (c - j - a) * n / (s - i - j)``. The first factor falls with j, for
        m <= c - a, and the second sees only i + j: so j is 0 as long as there is somebody elsewhere. Both grow with
        a and with i. So the largest is found by trying every a, with ``i + j = min(most - a, s - n)``: there are s - n
        tuples of other values, and each of these numbers occurs in some world. With one place for the group this is
        ``n / (c - min(most, c - n))``; with presence known, ``n / (s - min(most, s - n))``.

        *Otherwise* somebody who also knew who is in which group would believe at most ``n / (s - min(most, s - n))``
        in one of the groups that the person fits, ``most`` counting those corrupted before too. What she believes is
        an average of such beliefs, so it is no larger than the largest.
        """
        published, seats = self.fit.published, self.fit.seats
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
            seat, _, n = joined(seat, None, n, 1)
            first = np.searchsorted(expanded(published, seats)[0], seat)
            code, group, plain, s = np.zeros(len(seat), np.int64), seats.group[seat], plain[first], s[first]
        of_kind, at = self.fit.pairs
        unknown = np.bincount(at, weights=self.fit.unknown[of_kind], minlength=len(seats))[seats.place[seat]]
        m = left.seat[seat].astype(np.float64)
        absent = np.maximum(unknown - m, 0)
        worst = n / np.maximum(s - np.minimum(np.where(plain, most, more), s - n), 1)
        if not in_table:
            tried = np.zeros(len(worst))
            for a in range(int(min(most, absent[plain].max(initial=0))) + 1):
                taken = np.minimum(most - a, s - n)
                j = np.maximum(taken - (s - m), 0)
                now = (m - j) / np.maximum(m + absent - j - a, 1) * n / np.maximum(s - taken, 1)
                tried = np.maximum(tried, np.where(a <= absent, now, 0))
            worst = np.where(plain, tried, worst)
        presence = np.zeros(len(self.fit.n_alike))
        presence[of_kind] = 1.0
        starts = np.searchsorted(seat, np.arange(len(seats) + 1))
        lengths = np.diff(starts)[self.fit.matches.seats]
        before = np.append(0, np.cumsum(lengths))
        places = np.repeat(starts[self.fit.matches.seats] - before[:-1], lengths) + np.arange(before[-1])
        who = np.repeat(self.fit.of_match, lengths)
        keep = (self.fit.unknown[who] > 0) & (worst[places] > 0)
        sparse = joined(who[keep], code[places][keep], worst[places][keep], len(published.values), np.maximum)
        return sparse, presence


def _in_table(found: Posterior) -> Posterior:
    """Beliefs of people who are known to be in the table."""
    who = np.repeat(np.arange(len(found.presence)), np.diff(found.offsets))
    return replace(found, beliefs=found.beliefs / found.presence[who], presence=np.where(found.presence > 0, 1.0, 0.0))
