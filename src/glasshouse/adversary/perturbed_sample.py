# SPDX-License-Identifier: Apache-2.0
"""Perturbed samples: what one published record says of the people who may own it (CORRUPTION Sections V and VI).

Everybody fits at most one published record, the *crucial* one. It is of a group of G people, all of whom are on the
list: the *candidates*, of whom there may be more than G. The attacker knows of some candidates their values, or that
they are not in the table. One of the G owns the record, each alike; its value was retained with probability p, and
otherwise drawn from the domain of n values, so that a value x shows as y with probability ``u = (1 - p) / n``, plus p
if x is y.

With ``w = p * prior(y) + u``, how likely somebody's record shows y (Eq. 15), the candidates weigh (Eq. 17 to 19)

    w(victim)  +  sum over corrupted candidates in the table of P[x_i -> y]  +  g * sum over all others of w

and the victim owns the record with the share h of the first term. Here g (Eq. 13) is the probability that one of the
others is in the group, given that the victim is. The paper's victim is known to be in the table. Where that is not
taken for granted, the same worlds also tell how likely it is, and a probability is the product of the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from glasshouse import bounds
from glasshouse.adversary.knowledge import ABSENT, key_of
from glasshouse.adversary.matching import seats_in_words
from glasshouse.adversary.posterior import Beliefs
from glasshouse.adversary.task import GONE, UNKNOWN
from glasshouse.errors import InputError, NotSupported
from glasshouse.microdata.domains import text_of
from glasshouse.plural import counted
from glasshouse.principles.background_sensitive import transition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.task import Task
    from glasshouse.release.contents import Seats

__all__ = ["Owned", "PerturbedSample", "owned"]

_FEW = 10_000  # of so many published records each is put into words


class Owned(NamedTuple):
    """The probability that a person is in the table, and that, if so, the crucial record is the person's."""

    presence: Fraction
    h: Fraction


def owned(own: Fraction, room: int, corrupted: Fraction, others: Sequence[Fraction], stranger: Fraction) -> Owned:
    """Weigh the candidates for a published record (CORRUPTION Eq. 13 to 19), exactly.

    ``own`` is how likely the victim's record shows the published value; ``corrupted`` is the sum of the same over all
    corrupted candidates who are in the table, ``P[x_i -> y]``; ``others`` have it for every other candidate, and
    ``stranger`` for people of the group who are not on the list, where it has more people than there are candidates. Of
    the victim, the others and strangers, ``room`` are in the table.

    Examples
    --------
    A group of two among three candidates, one of whom is corrupted and does not have the published value:

    >>> owned(Fraction(1, 2), 1, Fraction(1, 4), [Fraction(1, 2)], Fraction(0))
    Owned(presence=Fraction(1, 2), h=Fraction(2, 3))
    """
    if room <= 0:
        return Owned(Fraction(0), Fraction(0))
    n_others, weight = len(others), sum(others, Fraction(0))
    seated = min(room, n_others + 1)
    unseen = (room - seated) * stranger
    g = Fraction(seated - 1, n_others) if n_others else Fraction(0)  # Eq. 13
    beforehand = Fraction(seated, n_others + 1)
    if_present = own + corrupted + g * weight + unseen  # Eq. 17, but for 1 / G
    in_all = corrupted + beforehand * (own + weight) + unseen
    if not in_all:
        raise InputError(
            "nobody who fits a published record can have its value: what the attacker is said to know "
            "(corrupted=, prior=) contradicts the release"
        )
    if not if_present:
        return Owned(Fraction(0), Fraction(0))
    return Owned(beforehand * if_present / in_all, own / if_present)  # Eq. 14


@dataclass(frozen=True, eq=False)
class PerturbedSample:
    """A perturbed sample together with what the attacker knows."""

    task: Task
    values: tuple[Any, ...]  # the sensitive domain
    p: Fraction  # the retention
    # observed, size: for every published record the number of its value, and G
    observed: NDArray[np.int64]
    size: NDArray[np.int64]
    crucial: NDArray[np.int64]  # for every person the number of their record, -1 if they fit none
    # for every person the number of the value that is known, -1 if none is, -2 if not in the table
    known: NDArray[np.int64]
    # priors, prior_of: the different priors, the common one first; which of them is that of every person
    priors: tuple[tuple[Fraction, ...], ...]
    prior_of: NDArray[np.int64]
    shown: tuple[str, ...]  # gives a published record in words
    notes: tuple[str, ...]  # what was assumed

    @classmethod
    def of(cls, task: Task) -> PerturbedSample:
        """Find everybody's crucial record, and put down what the attacker knows of them."""
        published, knowledge = task.contents, task.knowledge
        if published.kind != "sample":
            raise NotSupported(
                "this calculation is defined only for a perturbed sample, and the release is not one",
                instead="use another attack, such as linking",
            )
        values, notes = _domain(task)
        place = {key_of(value): i for i, value in enumerate(values)}
        (seats,) = published.seats
        observed = np.array([place[key_of(published.values[code])] for code in published.codes], np.int64)
        crucial = _crucial(task, seats)
        priors, prior_of = _priors(knowledge, values)
        made = cls(
            task=task,
            values=values,
            p=bounds.exact(task.release.recipe.recoding["p"]),
            observed=observed[seats.group],
            size=seats.count,
            crucial=crucial,
            known=_known(task, place, crucial),
            priors=priors,
            prior_of=prior_of,
            shown=tuple(seats_in_words(seats, i) for i in range(len(seats))) if len(seats) <= _FEW else (),
            notes=notes,
        )
        if (made.n_in_table > made.size).any():
            raise InputError(
                "the values of more people are given (corrupted=, --corrupted) than the group has records "
                "that fit them: one of these people is not in the table, or the values come from another table"
            )
        return made

    # --- counts for every published record -------------------------------------------------------------------------

    @cached_property
    def n_unknown(self) -> NDArray[np.int64]:
        """The number of candidates of whom nothing is known, for every published record."""
        return self._count(self.known == UNKNOWN)

    @cached_property
    def n_in_table(self) -> NDArray[np.int64]:
        """The number of corrupted candidates who are in the table (beta), for every published record."""
        return self._count(self.known >= 0)

    @cached_property
    def n_same(self) -> NDArray[np.int64]:
        """The number of corrupted candidates who have the published value, for every published record."""
        return self._count((self.known >= 0) & (self.known == self.observed[self.crucial]))

    def _count(self, people: NDArray[np.bool_]) -> NDArray[np.int64]:
        chosen = self.crucial[people & (self.crucial >= 0)]
        return np.bincount(chosen, minlength=len(self.size)).astype(np.int64)

    @cached_property
    def _rows_of(self) -> dict[int, list[int]]:
        """The candidates of whom nothing is known, record by record; needed only if priors differ."""
        found: dict[int, list[int]] = {}
        for row in np.flatnonzero((self.known == UNKNOWN) & (self.crucial >= 0)).tolist():
            found.setdefault(int(self.crucial[row]), []).append(row)
        return found

    # --- one person, exactly --------------------------------------------------------------------------------------

    def weight(self, prior: int, number: int) -> Fraction:
        """The probability that the record of a person with this prior shows the value of record ``number`` (Eq. 15)."""
        return self.p * self.priors[prior][int(self.observed[number])] + self._u

    @property
    def _u(self) -> Fraction:
        return transition(self.p, len(self.values), same=False)

    def _others(self, number: int, row: int | None) -> list[Fraction]:
        """The weights of all candidates of whom nothing is known, except one."""
        if len(self.priors) == 1:
            return [self.weight(0, number)] * (int(self.n_unknown[number]) - 1)
        rows = self._rows_of[number]
        return [self.weight(int(self.prior_of[other]), number) for other in rows if other != row]

    def owned(self, row: int, *, most_corrupted: int = 0, rising: bool = True) -> Owned:
        """The probability that an unknown person is in the table, and that such a person owns the crucial record.

        The attacker may corrupt ``most_corrupted`` more candidates, any of them, whatever they then have: the largest h
        that can come of it, or the smallest. See `_corrupted_more`.
        """
        number = int(self.crucial[row])
        if number < 0:
            return Owned(Fraction(0), Fraction(0))
        own = self.weight(int(self.prior_of[row]), number)
        others = self._others(number, row)
        same, beta = int(self.n_same[number]), int(self.n_in_table[number])
        room = int(self.size[number]) - beta
        given = same * (self.p + self._u) + (beta - same) * self._u  # Eq. 18
        if most_corrupted and room > 0:
            room, given, others = self._corrupted_more(most_corrupted, room, given, others, rising=rising)
        return owned(own, room, given, others, self.weight(0, number))

    def _corrupted_more(
        self, most: int, room: int, given: Fraction, others: list[Fraction], *, rising: bool
    ) -> tuple[int, Fraction, list[Fraction]]:
        """Choose more corrupted candidates, and their values, such that h becomes largest (or smallest).

        *The largest.* What is added to the victim's weight is ``beta * u + (G - 1 - beta) * mean(w of the others)``,
        where beta counts corrupted people in the table, none of whom has y, and every w is at least u. Each who is
        corrupted leaves the mean: so take those of largest w, and as many as allowed. Of a given number, each who
        turns out to be in the table replaces a mean by u: so let them be in the table as long as the group has room,
        and the rest not. The smallest h comes in the same way from people with the smallest w, who all have y.
        """
        others = sorted(others, reverse=rising)
        n = min(most, len(others))
        present = min(n, room - 1)
        answer = self._u if rising and len(self.values) > 1 else self.p + self._u
        return room - present, given + present * answer, others[n:]

    def belief(self, row: int, *, h: Fraction) -> dict[Any, Fraction]:
        """The posterior pdf of a person who is in the table and owns the crucial record with probability h (Eq. 9)."""
        prior = self.priors[self.prior_of[row]]
        number = int(self.crucial[row])
        y, own = int(self.observed[number]), self.weight(int(self.prior_of[row]), number)
        if not own:
            return dict(zip(self.values, prior, strict=True))
        becomes = [transition(self.p, len(self.values), same=x == y) for x in range(len(self.values))]  # Eq. 11
        return {
            value: h * prior[x] * becomes[x] / own + (1 - h) * prior[x]  # Eq. 9 and 12
            for x, value in enumerate(self.values)
        }

    # --- everybody ------------------------------------------------------------------------------------------------

    @cached_property
    def kinds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """A number for every person, and one person of each: people of a kind have the same probabilities.

        People are alike if their records show the same value, are of groups of one size and have as many candidates,
        corrupted and not, and if the prior of them is the same. With priors by person every record stands alone.
        """
        n = len(self.size)
        columns = [self.observed, self.size, self.n_unknown, self.n_in_table, self.n_same]
        columns += [np.arange(n)] if len(self.priors) > 1 else []
        _, alike_tuple = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        alike_tuple = alike_tuple.reshape(-1)
        keys = np.where(self.crucial >= 0, alike_tuple[self.crucial] * len(self.priors) + self.prior_of, -1)
        keys = np.where(self.known == UNKNOWN, keys, np.where(self.known == GONE, -3, -2))
        _, examples, kind = np.unique(keys, return_index=True, return_inverse=True)
        return kind.reshape(-1).astype(np.int64), examples.astype(np.int64)

    def posterior(
        self,
        *,
        in_table: bool = False,
        most_corrupted: int = 0,
        qualified: NDArray[np.bool_] | None = None,
        notes: tuple[str, ...] = (),
    ) -> Posterior:
        """The probabilities for everybody of whom nothing is known yet.

        The choices are those of `Corruption`; ``qualified`` says for every value whether it satisfies the predicate.
        """
        kind, examples = self.kinds
        h, presence = self._owned_by_kind(examples, most_corrupted)
        n, n_kinds = len(self.values), len(examples)
        rows = np.flatnonzero(presence > 0)
        number = self.crucial[examples[rows]]
        y = self.observed[number]
        priors = np.array([[float(w) for w in prior] for prior in self.priors])[self.prior_of[examples[rows]]]
        at_y = np.arange(n) == y[:, np.newaxis]
        weights = priors * np.where(at_y, float(self.p + self._u), float(self._u))
        total = weights.sum(axis=1, keepdims=True)
        updated = np.divide(weights, total, out=priors.copy(), where=total > 0)
        rising, falling = (part[rows, np.newaxis] for part in h)
        raised = rising * updated + (1 - rising) * priors
        lowered = falling * updated + (1 - falling) * priors
        values = self.values
        beliefs = np.where(at_y, raised, lowered)
        if qualified is not None:
            values = (True,)
            chosen = np.where(qualified[y], (raised * qualified).sum(axis=1), (lowered * qualified).sum(axis=1))
            beliefs = chosen[:, np.newaxis]
        if in_table or most_corrupted:
            presence = np.where(presence > 0, 1.0, 0.0)
        beliefs = beliefs * presence[rows, np.newaxis]
        offsets = np.zeros(n_kinds + 1, np.int64)
        offsets[1:][rows] = len(values)
        codes = np.tile(np.arange(len(values), dtype=np.int32), len(rows))
        return self.task.posterior(
            "bound" if most_corrupted else "exact",
            kind,
            Beliefs(np.cumsum(offsets), codes, beliefs.reshape(-1)),
            np.where(self.known[examples] >= 0, 1.0, presence),
            values=values,
            because=self._because(examples, h[0]) if qualified is None else None,
            notes=(*self.notes, *self._said(), *notes),
        )

    def _owned_by_kind(
        self, examples: NDArray[np.int64], most_corrupted: int
    ) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]:
        """The largest and the smallest h of each kind of people, and presence; 0 where there are no probabilities."""
        found = np.zeros((len(examples), 3))
        for i, row in enumerate(examples.tolist()):
            if self.known[row] == UNKNOWN and self.crucial[row] >= 0:
                now = self.owned(row)
                high = self.owned(row, most_corrupted=most_corrupted) if most_corrupted else now
                low = self.owned(row, most_corrupted=most_corrupted, rising=False) if most_corrupted else now
                found[i] = float(high.h), float(low.h), float(now.presence)
        return (found[:, 0], found[:, 1]), found[:, 2]

    def _because(self, examples: NDArray[np.int64], h: NDArray[np.float64]) -> Any:
        def sentence(kind: int, code: int) -> str:
            row = int(examples[kind])
            number = int(self.crucial[row])
            if self.known[row] != UNKNOWN or number < 0:
                return "the attacker knew this value before seeing the release"
            shown = f" ({self.shown[number]})" if self.shown else ""
            return (
                f"the only published record that fits{shown} shows "
                f"{text_of(self.values[self.observed[number]])}; its group has "
                f"{counted(int(self.size[number]), 'record')}, "
                f"the attacker knows the values of {counted(int(self.n_in_table[number]), 'person')} in it, "
                "and the record "
                f"belongs to this person with probability {h[kind]:.4f}"
            )

        return sentence

    def _said(self) -> tuple[str, ...]:
        notes = []
        strangers = int(np.maximum(self.size - self.n_in_table - self.n_unknown, 0).sum())
        if strangers:
            notes.append(
                f"{counted(strangers, 'record belongs', 'records belong')} to people who are not in the external table"
            )
        lost = int(np.count_nonzero((self.crucial < 0) & (self.known == UNKNOWN)))
        if lost:
            notes.append(f"{counted(lost, 'person fits', 'people fit')} no published record: they are not in the table")
        return tuple(notes)


# --- what the release and the attacker say ---------------------------------------------------------------------------


def _domain(task: Task) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """The sensitive domain: as declared; else the published values and all others that the attacker knows of."""
    release, published, knowledge = task.release, task.contents, task.knowledge
    declared = release.recipe.recoding.get("domain")
    if declared is not None:
        by_key = {key_of(value): value for value in published.values}
        kind = release.data[published.column].type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        return tuple(by_key[key_of(t)] if key_of(t) in by_key else _read(t, kind) for t in declared), ()
    found = {key_of(value): value for value in published.values}
    for value in knowledge.corrupted.values():
        if value is not ABSENT:
            found.setdefault(key_of(value), value)
    priors: Sequence[Any] = () if knowledge.prior is None else (knowledge.prior,)
    if knowledge.prior is not None and knowledge.is_personal:
        priors = list(knowledge.prior.values())
    for prior in priors:
        for value in prior:
            found.setdefault(key_of(value), value)
    note = (
        "the domain of the sensitive column was not declared when the release was made: the attack assumes that it "
        f"consists of the {counted(len(found), 'value that is', 'values that are')} published or that the attacker "
        "knows of"
    )
    return tuple(found.values()), (note,)


def _read(text: Any, kind: pa.DataType) -> Any:
    """A declared value with the type of its column."""
    if text is None:
        return None
    try:
        return pa.scalar(text).cast(kind).as_py()
    except (pa.ArrowException, OverflowError):
        return text


def _crucial(task: Task, seats: Seats) -> NDArray[np.int64]:
    """The published record of every person (A1), -1 for none."""
    matches = task.fits(seats)
    fitting = np.diff(matches.offsets)
    if (fitting > 1).any():
        raise NotSupported(
            "some people fit two records of the perturbed sample",
            instead="every person must fit at most one record, so the groups must not overlap; publish it again "
            "with groups that do not overlap",
        )
    of_kind = np.full(task.kinds.n_kinds, -1, np.int64)
    of_kind[fitting > 0] = matches.seats
    return of_kind[task.kinds.of_person]


def _known(task: Task, place: dict[str, int], crucial: NDArray[np.int64]) -> NDArray[np.int64]:
    """What the attacker knows of every person."""
    known = np.full(len(crucial), UNKNOWN, np.int64)
    for row, value in task.told:
        if value is ABSENT:
            known[row] = GONE
        elif key_of(value) not in place:
            raise InputError(
                f"the value {value!r} is given for a person (corrupted=, --corrupted), and it is not in the "
                "domain of the sensitive column: check the value"
            )
        elif crucial[row] < 0:
            raise InputError(
                "a person whose value is given (corrupted=, --corrupted) fits no published record: check the "
                "person, or give ABSENT (an empty value in the file) if the person is not in the table"
            )
        else:
            known[row] = place[key_of(value)]
    return known


def _priors(
    knowledge: Knowledge, values: tuple[Any, ...]
) -> tuple[tuple[tuple[Fraction, ...], ...], NDArray[np.int64]]:
    """The different priors over the domain, and which prior each person has."""
    found: dict[tuple[Fraction, ...], int] = {tuple(knowledge.weights(list(values))): 0}
    prior_of = np.zeros(knowledge.external.n_tuples, np.int64)
    if knowledge.prior is not None and knowledge.is_personal:
        for name in knowledge.prior:
            row = knowledge.person(name)
            prior_of[row] = found.setdefault(tuple(knowledge.weights(list(values), row)), len(found))
    return tuple(found), prior_of
