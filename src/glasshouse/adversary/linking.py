# SPDX-License-Identifier: Apache-2.0
"""Linking: she finds people in the release by their quasi-identifiers; every way to fit them is equally likely to her.

She uses the release alone, and not how it was made: what any analyst with a list of people would believe. ANATOMY 3.2
and 3.3, ANGEL Equation 2, CORRUPTION Equations 9 to 19 with nobody corrupted.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse.adversary.matching import match
from glasshouse.adversary.posterior import Posterior
from glasshouse.adversary.published import Published
from glasshouse.errors import NotSupported
from glasshouse.microdata.groups import alike

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.adversary.matching import Matches
    from glasshouse.adversary.published import Seats
    from glasshouse.release import Release

__all__ = ["Linking"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Linking:
    """Look people up by their quasi-identifiers (random worlds, given the release alone).

    Parameters
    ----------
    column
        The sensitive column, where the release has several.

    Notes
    -----
    Tuples that show the same cells are shared out alike among the people who fit these cells: presence is the number of
    such tuples over the number of such people (ANATOMY 3.3), and beliefs are those of the tuples' groups, each weighted
    by how many of the tuples it has (ANATOMY 3.2, ANGEL Equation 2; a single group for boxes). That is exact as long as
    nobody fits two combinations of cells. Where cells overlap the exact belief is a permanent; the same weights are
    then added up over all that fit, and the result is called a mixture. With several marginals each table is used by
    itself, and the most telling counts. *Perturbed samples*: CORRUPTION Equations 9 to 19.
    """

    name: ClassVar[str] = "linking"

    column: str | None = None

    def attack(self, release: Release, knowledge: Knowledge) -> Posterior:
        """Believe what the release and the quasi-identifiers say."""
        if knowledge.corrupted or (knowledge.prior is not None and release.recipe.recoding.get("name") != "perturbed"):
            raise NotSupported(
                "linking with corrupted people or a prior of her own",
                instead="leave them out: linking counts what the release says, alike for everybody",
            )
        published = Published.of(release, self.column)
        people = knowledge.external
        kinds = alike([people.column(name) for name in release.recipe.quasi])
        examples = np.empty(kinds.n_groups, np.int64)
        examples[kinds.labels[::-1]] = np.arange(people.n_tuples)[::-1]

        found: Posterior | None = None
        for seats in published.seats:
            matches = match(people, examples, seats)
            one = self._with(published, seats, matches, kinds.sizes, release, knowledge, kinds.labels)
            found = one if found is None or one.largest.max(initial=0) > found.largest.max(initial=0) else found
        assert found is not None
        return found

    def _with(
        self,
        published: Published,
        seats: Seats,
        matches: Matches,
        n_alike: NDArray[np.int64],
        release: Release,
        knowledge: Knowledge,
        kind: NDArray[np.int32],
    ) -> Posterior:
        """Her beliefs by one table of seats."""
        of_kind = np.repeat(np.arange(len(n_alike)), np.diff(matches.offsets))
        place = seats.place[matches.seats]
        first = np.unique(of_kind * (len(seats) + 1) + place, return_index=True)[1]  # each kind once at each place
        rivals = np.bincount(place[first], weights=n_alike[of_kind[first]].astype(float), minlength=len(seats))

        # a seat's tuples are shared out among all who fit its place
        share = seats.count[matches.seats] / rivals[place]
        total = np.bincount(of_kind, weights=share, minlength=len(n_alike)).astype(np.float64)
        presence = np.minimum(1.0, total)
        weight = share / total[of_kind] * presence[of_kind]
        how = "exact" if len(first) == len(np.unique(of_kind)) else "mixture"
        notes = []
        tuples = np.bincount(seats.place, weights=seats.count, minlength=len(seats))
        strangers = int(np.maximum(tuples - rivals, 0).sum()) if how == "exact" else 0
        if strangers:
            notes.append(f"{strangers:,} tuples are of people whom the external table lacks")
        lost = int(n_alike[matches.unmatched].sum())
        if lost:
            notes.append(f"{lost:,} people fit nothing in the release: they are not in the table")
        if len(published.seats) > 1:
            notes.append(f"each of {len(published.seats)} generalized tables by itself; the most telling is shown")
        if published.kind == "sample":
            offsets, codes, beliefs = _sampled(published, seats, matches, release, knowledge)
            values = _domain(release, published)
        else:
            offsets, codes, beliefs = _mixed(published, seats, matches, of_kind, weight)
            values = published.values
        return Posterior(
            attack=self.name,
            column=published.column,
            how=how,
            knowledge=knowledge,
            values=values,
            kind=kind.astype(np.int64),
            offsets=offsets,
            codes=codes,
            beliefs=beliefs,
            presence=presence,
            limit=promised_limit(release, published.column),
            notes=tuple(notes),
        )


def promised_limit(release: Release, column: str) -> Fraction | None:
    """The belief that a release promises not to be exceeded: 1/l of frequency l-diversity."""
    principle = release.recipe.principle
    if principle.get("name") == "by-column":
        principle = principle["columns"].get(column, {})
    return Fraction(1, int(principle["ell"])) if principle.get("name") == "l-diversity" else None


def _mixed(
    published: Published,
    seats: Seats,
    matches: Matches,
    of_kind: NDArray[np.int64],
    weight: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Mix the distributions of the groups of all seats that cover a kind."""
    group = seats.group[matches.seats].astype(np.int64)
    lengths = np.diff(published.offsets)[group]
    before = np.append(0, np.cumsum(lengths))
    places = np.repeat(published.offsets[group] - before[:-1], lengths) + np.arange(before[-1])
    n_values = len(published.values)
    keys = np.repeat(of_kind, lengths) * n_values + published.codes[places]
    share = published.counts[places] / published.sizes[np.repeat(group, lengths)]
    distinct, number = np.unique(keys, return_inverse=True)
    mixed = np.repeat(weight, lengths) * share
    beliefs = np.bincount(number.reshape(-1), weights=mixed, minlength=len(distinct)).astype(np.float64)
    offsets = np.searchsorted(distinct // n_values, np.arange(len(matches.offsets)))
    return offsets.astype(np.int64), (distinct % n_values).astype(np.int32), beliefs


def _domain(release: Release, published: Published) -> tuple[object, ...]:
    declared = release.recipe.recoding.get("domain")
    if declared is None:
        return published.values
    by_text = {str(value): value for value in published.values}
    return tuple(by_text.get(str(text), text) for text in declared)


def _sampled(
    published: Published,
    seats: Seats,
    matches: Matches,
    release: Release,
    knowledge: Knowledge,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Perturbed samples, nobody corrupted: the crucial tuple belongs to each of its candidates alike."""
    values = _domain(release, published)
    prior = np.array([float(w) for w in knowledge.weights(list(values))])
    p, n = float(Fraction(str(release.recipe.recoding["p"]))), len(values)
    place = {value: i for i, value in enumerate(values)}
    observed = np.array([place[published.values[code]] for code in published.codes], np.int64)
    n_kinds = len(matches.offsets) - 1
    beliefs = np.zeros((n_kinds, n))
    for kind in range(n_kinds):
        start, stop = matches.offsets[kind], matches.offsets[kind + 1]
        if start == stop:
            continue
        seat = int(matches.seats[start])
        y, h = int(observed[seats.group[seat]]), 1.0 / float(seats.count[seat])  # Eq. 13 to 19 for equal priors
        given = prior * np.where(np.arange(n) == y, p + (1 - p) / n, (1 - p) / n)
        given /= given.sum()
        beliefs[kind] = h * given + (1 - h) * prior
    offsets = np.arange(n_kinds + 1, dtype=np.int64) * n
    return offsets, np.tile(np.arange(n, dtype=np.int32), n_kinds), beliefs.reshape(-1)
