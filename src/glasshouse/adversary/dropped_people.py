# SPDX-License-Identifier: Apache-2.0
"""Probabilities for people who are in the table but were dropped from the release.

A person who fits no published cell is not in the release. If records were dropped, that person may be one of those
who were, and why they were dropped tells something of their sensitive value. So somebody who is left out is not safe
because of it.

*How likely a person was dropped.* Suppression does not look at quasi-identifiers. Say the release has n records, d were
dropped, and N people are on the list, with everybody who is in the table among them. Every way to choose n people for
the published records can be completed in equally many ways by d of the other N - n. So a person who is not published
was dropped with probability d / (N - n). That is certainty if the list has nobody who is not in the table.

*What a dropped person has.* `keep_eligible` trims the values that are too frequent to one common cap. Afterwards each
of them is published exactly cap times, which no other value that the principle looks at exceeds. So the values that may
have been trimmed are those that are published most often. Say value v lost e(v) records. The d dropped people can have
such values in d! / prod e(v)! ways, and such a table keeps the same cap records of each value with probability
prod cap! e(v)! / (cap + e(v))!. The weight of e is thus proportional to prod 1 / (cap + e(v))!, over all e with sum d
that the rule trims to the same cap. This is symmetric in the values, so a dropped person has each of the m values that
are published most often with probability 1/m: with certainty, if there is one. A prior p for everybody adds the factor
prod p(v)^e(v).

*An attacker who knows which value was too frequent.* That takes little: anybody who can tell which of the m values is
the commonest knows it. Such an attacker may be certain of a dropped person's value, although 1/m is exact if all tables
are equally likely. So where m is above 1, the result also has that bound (`Posterior.once_known`).

*People who were left out at random* have each value with its prior probability. How many there were follows from the
number of people and from the counts of the whole table, theirs among them: so that holds if it would be the same number
for any values that they have, and otherwise nothing is known of them.

*Where that is not known.* If a method leaves records out because of their values, if several columns or principles were
trimmed for, or if the list lacks people, what remains is a bound: a person who was dropped may have any value that is
still possible.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import comb, factorial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse import catalog
from glasshouse.adversary.knowledge import ABSENT, key_of
from glasshouse.adversary.permanents import connected, shared_out
from glasshouse.adversary.posterior import Beliefs
from glasshouse.adversary.task import stated_principle
from glasshouse.errors import DomainError
from glasshouse.grouping.suppression import common_cap
from glasshouse.microdata.counts import Counts
from glasshouse.microdata.domains import code
from glasshouse.plural import counted
from glasshouse.principles.principle import Requirement
from glasshouse.release.contents import Published

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.task import Task
    from glasshouse.grouping.method import LeavesOut
    from glasshouse.principles.principle import Principle
    from glasshouse.release import Release

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["UNPUBLISHED", "count_dropped", "held_possible", "once_known", "trimmed_shares"]

UNPUBLISHED = "a value that is not published"
"""The value of a dropped person that is none of the published values, where nothing says which other values exist."""

_MOST_TRIMMINGS = 5_000  # so many ways in which values may have been trimmed are gone through
_SURE = 1e-12  # a person who is published with a probability nearer to 1 than this is published


def _left_out_by_method(release: Release) -> LeavesOut:
    """Whom the method of a release left out, beside those who were suppressed."""
    if not release.recipe.method or release.n_dropped == 0:
        return "nobody"
    how = catalog.method_of(release.recipe).leaves_out
    return "nobody" if how == "by lot" and release.n_dropped == release.n_suppressed else how


def held_possible(task: Task) -> Published:
    """What is published, and in addition the values that only people whom the method dropped may have.

    These are the values that a prior names, that the principle designates, or that corrupted people are known to have,
    and that are published nowhere. Where people were dropped because of their values, and without a prior, also
    `UNPUBLISHED`, which stands for one more value. Suppression drops nobody whose value is not published too, so there
    only published values are possible.
    """
    published, knowledge = task.contents, task.knowledge
    left_out = _left_out_by_method(task.release)
    if left_out == "nobody":
        return published
    named: list[Any] = [value for value in knowledge.corrupted.values() if value is not ABSENT]
    named += [value for one in task.principles for inner in one.singles() for value in inner.terms.named]
    if knowledge.prior is not None:
        weights = list(knowledge.prior.values()) if knowledge.is_personal else [knowledge.prior]
        named += [value for own in weights for value in own]
    elif left_out == "by values":
        named.append(UNPUBLISHED)
    shown = {key_of(value) for value in published.values}
    more = {key_of(value): value for value in named if key_of(value) not in shown}
    return replace(published, values=(*published.values, *more.values()))


def count_dropped(found: Posterior, task: Task, *, chosen: Flags | None = None, more_corrupted: int = 0) -> Posterior:
    """Add to probabilities from the published records the probabilities for people who may have been dropped.

    ``found`` has probabilities of being published with a value, and its presence is that of being published. Where
    there is one probability a person, in a property, ``chosen`` are the values that have it. If ``more_corrupted``
    people may be corrupted, and it is open who they are, ``found`` is a bound.

    In a bound the presence may be larger than it is, and the probabilities with it. The probability is linear in the
    presence, so it is largest at one of the two ends: at the stated presence, or where the person is not published at
    all.
    """
    release = task.release
    known = np.zeros(len(found.presence), bool)  # kinds of people without probabilities: their values are known
    known[found.kind[found.knowledge.corrupted_rows()]] = True
    n_alike = np.bincount(found.kind, minlength=len(known))
    nowhere = (np.diff(found.offsets) == 0) & (found.presence < _SURE) & ~known
    lost = int(n_alike[nowhere].sum())
    if not release.n_dropped:
        note = f"{counted(lost, 'person fits', 'people fit')} no published record: they are not in the table"
        return replace(found, notes=(note, *found.notes)) if lost else found
    out = _LeftOut.of(task)
    chance, shares, is_exact = out.chance(more_corrupted), *out.shares(task, more_corrupted)
    if chosen is not None:
        shares = np.array([min(1.0, float(shares[chosen].sum()))])
    surely = shares if out.by_lot else (shares > 0).astype(np.float64)  # once it is known which value was too frequent
    weight = np.where(known, 0.0, (1 - np.minimum(found.presence, 1.0)) * chance)
    least = np.zeros(len(known))  # for people who are published with a smaller probability than stated
    if found.how == "bound":
        least[~known & (np.bincount(found.kind[~out.published], minlength=len(known)) > 0)] = chance
    may = np.maximum(weight, least) > _SURE
    if not may.any():
        return found
    is_exact = is_exact and out.complete
    notes = [out.note(lost, is_exact=is_exact), *found.notes]

    def merged(shares: Floats) -> Posterior:
        both = _merged(_merged(found, may, weight, shares, np.add), may, least, shares, np.maximum)
        return replace(both, presence=np.maximum(found.presence + weight, least))

    together = replace(
        merged(shares),
        how="bound" if not is_exact and found.how == "exact" else found.how,
        bounded=may if found.how == "exact" else None if found.bounded is None else found.bounded | may,
        because=_because(found, nowhere, np.maximum(weight, least), shares, out.sentence(is_exact=is_exact)),
        notes=tuple(notes),
    )
    return together if (surely == shares).all() else _with_bound(together, merged(surely))


def once_known(found: Posterior, task: Task) -> Posterior:
    """Add the bound for an attacker who knows which value was too frequent, if ``found`` counts dropped people itself.

    Everybody who is not certainly published may have been dropped, and may then have any of the values that are
    published most often.
    """
    if found.once_known is not None or not task.release.n_suppressed:
        return found
    out = _LeftOut.of(task)
    shares = (out.shares(task, 0)[0] > 0).astype(np.float64)
    may = np.bincount(found.kind[~out.published], minlength=len(found.presence)) > 0
    may[found.kind[found.knowledge.corrupted_rows()]] = False
    chance = np.full(len(may), out.chance(0))
    bound = _merged(found, may, chance, shares, np.maximum)
    return found if (bound.largest <= found.largest).all() else _with_bound(found, bound)


def _with_bound(found: Posterior, bound: Posterior) -> Posterior:
    """Keep a bound for an attacker who knows which value was too frequent; `Posterior.with_note` says what it is."""
    return replace(found, once_known=replace(bound, how="bound", because=_once_known, bounded=None))


def _once_known(_kind: int, _code: int) -> str:
    return "no probability is larger, even if the attacker knows which value was too frequent for the principle"


def _merged(found: Posterior, may: Flags, weights: Floats, shares: Floats, how: np.ufunc) -> Posterior:
    """Probabilities with those of dropped people added, or taken as the larger of the two."""
    kinds, weight, codes = np.flatnonzero(may), weights[may], np.flatnonzero(shares > 0)
    own = Beliefs(found.offsets, found.codes, found.beliefs)
    who = np.concatenate([own.owner, np.repeat(kinds, len(codes))])
    values = np.concatenate([own.codes, np.tile(codes, len(kinds))]).astype(np.int64)

    def both(one: Floats, other: Floats, how: np.ufunc = np.add) -> Beliefs:
        weights = np.concatenate([one, other])
        return Beliefs.joined(who, values, weights, n_kinds=len(found.presence), n_values=len(found.values), how=how)

    more = np.outer(weight, shares[codes]).reshape(-1)
    together = both(found.beliefs, more, how)
    return replace(
        found,
        offsets=together.offsets,
        codes=together.codes,
        beliefs=np.minimum(together.beliefs, 1.0),
        errors=None if found.errors is None else both(found.errors, np.zeros(len(more))).beliefs,
    )


def _because(
    found: Posterior, nowhere: Flags, weight: Floats, shares: Floats, sentence: str
) -> Callable[[int, int], str] | None:
    """The explanation of a probability; for people who may have been dropped, with that fact."""

    def reason(kind: int, code: int) -> str:
        if nowhere[kind]:
            return f"no published cell covers such a person, and {sentence}"
        own = found.reason(kind, code)
        if weight[kind] * shares[code] > _SURE:
            return f"{own}; or such a person was left out, and {sentence}"
        return own

    return reason


# --- who may have been dropped ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """Who may have been dropped, and what is known of them."""

    release: Release
    n_free: int  # people on the list who are not published, and of whom nothing is known
    n_dropped: int  # records that were dropped of people of whom nothing is known
    complete: bool  # whether everybody who is in the table can be on the list
    values: Counter[str]  # what people have of whom it is known that they were dropped
    published: Flags  # for every person on the list, whether they must be published

    @classmethod
    def of(cls, task: Task) -> _LeftOut:
        release, published, people = task.release, task.contents, task.knowledge.external
        kinds, told = task.kinds, dict(task.told)
        absent = np.zeros(people.n_tuples, bool)
        absent[[row for row, value in told.items() if value is ABSENT]] = True
        n_alike = np.bincount(kinds.of_person[~absent], minlength=kinds.n_kinds)
        fits, must, complete = np.ones(kinds.n_kinds, bool), np.zeros(kinds.n_kinds, bool), True
        for seats in published.seats:
            matches = task.fits(seats)
            fits &= np.diff(matches.offsets) > 0
            label = connected(
                kinds.n_kinds + len(seats), matches.of_match, kinds.n_kinds + matches.seats.astype(np.int64)
            )
            n_people = np.bincount(label[: kinds.n_kinds], weights=n_alike, minlength=len(label))
            n_tuples = np.bincount(label[kinds.n_kinds :], weights=seats.count, minlength=len(label))
            must |= (n_people == n_tuples)[label[: kinds.n_kinds]]  # as many people as records: all of them are there
            complete = complete and bool((n_people >= n_tuples)[label[kinds.n_kinds :]].all())
        shown = {key_of(value) for value in published.values}
        inside = {row: value for row, value in told.items() if value is not ABSENT}
        dropped = {row: v for row, v in inside.items() if not fits[kinds.of_person[row]] or key_of(v) not in shown}
        n_unknown = people.n_tuples - len(told)
        n_left = release.n_dropped - len(dropped)
        n_free = n_unknown - (release.n_tuples - (len(inside) - len(dropped)))
        return cls(
            release=release,
            n_free=n_free,
            n_dropped=max(0, n_left),
            complete=complete and n_free >= n_left,
            values=Counter(key_of(value) for value in dropped.values()),
            published=must[kinds.of_person],
        )

    def chance(self, more_corrupted: int) -> float:
        """The probability that an unpublished person was dropped; the largest one if more people may be corrupted."""
        if not self.complete:
            return 1.0 if self.n_dropped else 0.0
        others = max(self.n_dropped, self.n_free - more_corrupted)  # some may be found not to be in the table
        return self.n_dropped / others if others else 0.0

    @cached_property
    def by_lot(self) -> bool:
        """Whether all dropped people were left out at random, in a number that does not depend on their values."""
        release = self.release
        return not release.n_suppressed and _left_out_by_method(release) == "by lot" and _blindly(release)

    def shares(self, task: Task, more_corrupted: int) -> tuple[Floats, bool]:
        """The probability of each value for a dropped person, and True; or the largest that it can be, and False."""
        published = task.contents
        every = np.ones(len(published.values)), False
        if self.by_lot and not task.knowledge.is_personal:
            return np.array([float(weight) for weight in task.knowledge.weights(list(published.values))]), True
        principle = stated_principle(self.release, published.column)
        if (
            principle is None
            or published.column in self.release.sets
            or len(self.release.recipe.sensitive) > 1
            or _left_out_by_method(self.release) != "nobody"
            or self.release.recipe.suppress == "0"
        ):
            return every
        totals = np.bincount(published.codes, weights=published.counts, minlength=len(published.values))
        knowledge, values = task.knowledge, list(published.values)
        prior = None if knowledge.prior is None or knowledge.is_personal else knowledge.weights(values)
        found = trimmed_shares(
            principle, published, totals.astype(np.int64), self.release.n_dropped, self.values, prior=prior
        )
        if found is None:
            return every
        shares, is_exact = found
        if (more_corrupted or knowledge.is_personal) and np.count_nonzero(shares) > 1:  # others may leave one value
            return (shares > 0).astype(np.float64), False
        return shares, is_exact

    def note(self, lost: int, *, is_exact: bool) -> str:
        """What was assumed of people who are not in the release."""
        n, recipe = self.release.n_dropped, self.release.recipe
        fit = f"{counted(lost, 'person fits', 'people fit')} no published record; " if lost else ""
        if not self.complete:
            return (
                f"{fit}{counted(n, 'record was', 'records were')} left out, and the external table does not list "
                "everybody: anybody who is not published may be one of the people who were left out"
            )
        chance = f"a person who is not published was left out with probability {self.chance(0):.4f}"
        if is_exact and self.by_lot:
            return (
                f"{fit}{counted(n, 'person was', 'people were')} left out at random: {chance}; the "
                "probabilities of their values are those "
                "from before the release"
            )
        if is_exact:
            left_out = counted(n, "record was", "records were")
            return f"{fit}{left_out} left out: {chance}, and then has one of the most frequent published values"
        why = "by the method" if recipe.suppress == "0" else "in a way that does not show which values they had"
        return f"{fit}{counted(n, 'record was', 'records were')} left out {why}: {chance}, and may then have any value"

    def sentence(self, *, is_exact: bool) -> str:
        """Explains the probability of a value for a dropped person."""
        n = f"{counted(self.release.n_dropped, 'record was', 'records were')} left out"
        if is_exact and self.by_lot:
            people = counted(self.release.n_dropped, "person was", "people were")
            return f"{people} left out at random, independently of their values"
        if is_exact:
            return f"{n}, all of them with the most frequent values, which are the values published most often"
        return f"{n}, and the guarantee covers only the values of published groups"


def _blindly(release: Release) -> bool:
    """Whether as many people would have been left out at random if they had any other values.

    The number depends on the size from which on every part of the whole table obeys. That lies between what the
    published people need by themselves, and what all would need if those left out had the most frequent value of each
    column; a number that is the same at both ends is the same in between (docs/several-columns.md).
    """
    n, d = release.n_tuples, release.n_dropped
    requirement = Requirement.in_words(catalog.principle_of(release.recipe), release.recipe.sensitive)
    sizes = []
    for more in (0, d):
        needed = []
        for part in requirement.parts:
            published = Published.of(release, None if part.column is None else part.column.name)
            values = list(published.values)
            column = code(pa.array(values), name=published.column, missing=None in values)
            weights = np.bincount(published.codes, weights=published.counts, minlength=len(values)).astype(np.int32)
            counts = Counts(column.codes, np.array([0, len(values)]), column.domain.size, weights + np.int32(more))
            try:
                needed.append(part.principle.enough(counts, column.domain))
            except DomainError:  # a value that the principle names is published nowhere
                return False
        sizes.append(max(needed))
    method = catalog.method_of(release.recipe)
    return all(method.n_by_lot(requirement, enough, n + d) == d for enough in sizes)


# --- what they have ---------------------------------------------------------------------------------------------------


def trimmed_shares(
    principle: Principle,
    published: Published,
    totals: NDArray[np.int64],
    n_dropped: int,
    known: Counter[str],
    *,
    prior: Sequence[Fraction] | None = None,
) -> tuple[Floats, bool] | None:
    """The probability of each published value for a record that `keep_eligible` dropped, and whether it is exact.

    The table was trimmed for the principle; ``totals`` says how often each value is published, ``known`` the values of
    dropped people that the attacker has found out, by text, and ``prior`` how probable each published value was before
    the release: equally, by default.
    """
    values = list(published.values)
    column = code(pa.array(values), name=published.column, missing=None in values)
    try:
        masks = [one.concerned(column.domain.size, column.domain) for one in principle.singles() if one.needs_sensitive]
        concerned = principle.concerned(column.domain.size, column.domain)[column.codes]
    except DomainError:  # a value that the principle names is published nowhere
        return None
    if not concerned.any():
        return None
    cap = int(totals[concerned].max())
    may = concerned & (totals == cap)
    among = np.flatnonzero(may)
    shares = may / len(among)
    alike_all = all(bool((mask == masks[0]).all()) for mask in masks)
    before = [Fraction(1)] * len(values) if prior is None else list(prior)
    if len(among) == 1 or (alike_all and not known and len({before[i] for i in among.tolist()}) == 1):
        return shares, True
    spent = [known.get(key_of(values[i]), 0) for i in among.tolist()]
    n_ways = comb(n_dropped + len(among) - 1, len(among) - 1)
    if sum(spent) != sum(known.values()) or n_ways > _MOST_TRIMMINGS or n_dropped == sum(spent):
        return may.astype(np.float64), False
    order = np.argsort(column.codes)  # the published values in the order of their domain
    weights, total = [Fraction(0)] * len(among), Fraction(0)
    for extra in shared_out(n_dropped, len(among)):
        if any(e < n for e, n in zip(extra, spent, strict=True)):
            continue
        whole = totals.copy()
        whole[among] += np.array(extra, np.int64)
        if common_cap(whole[order], principle, column.domain) != cap:
            continue
        ways = _weight_of(extra, cap, spent, [before[i] for i in among.tolist()])
        total += ways
        for i, (e, n) in enumerate(zip(extra, spent, strict=True)):
            weights[i] += ways * (e - n)
    if not total:
        return may.astype(np.float64), False
    found = np.zeros(len(values))
    found[among] = [float(w / total / (n_dropped - sum(spent))) for w in weights]
    return found, True


def _weight_of(extra: Sequence[int], cap: int, spent: Sequence[int], before: Sequence[Fraction]) -> Fraction:
    """How probable it is, up to a factor, that so many records of each value were dropped; see the head of this file.

    ``spent`` of them are known, and ``before`` is the prior of each value.
    """
    ways = Fraction(1)
    for e, n, p in zip(extra, spent, before, strict=True):
        ways *= p**e * Fraction(factorial(e), factorial(e - n) * factorial(cap + e))
    return ways
