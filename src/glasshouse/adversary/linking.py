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

from glasshouse.adversary.dropped import count_dropped
from glasshouse.adversary.matching import match
from glasshouse.adversary.permanents import exact_shares
from glasshouse.adversary.perturbed_sample import sampled_posterior
from glasshouse.adversary.posterior import Posterior
from glasshouse.errors import NotSupported
from glasshouse.microdata.groups import alike
from glasshouse.published import Published

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.adversary.matching import Matches
    from glasshouse.published import Seats
    from glasshouse.release import Release

__all__ = ["Linking"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Linking:
    """Look people up by their quasi-identifiers (random worlds, given the release alone).

    Parameters
    ----------
    column
        The sensitive column, where the release has several.
    most_states
        How much counting is done where cells overlap, before beliefs are approximated.

    Notes
    -----
    Tuples that show the same cells are shared out among the people who fit these cells, every way being equally likely:
    where nobody has a choice, presence is the number of such tuples over the number of such people (ANATOMY 3.3), and
    where cells overlap it is counted (see `glasshouse.adversary.permanents`). Beliefs are those of the tuples' groups,
    each weighted by how many of the tuples it has (ANATOMY 3.2, ANGEL Equation 2; a single group for boxes). Where too
    many cells overlap to be counted, every place's tuples are shared out alike among all who fit it; the result is
    called a mixture, and a note gives the largest belief that there can be. With several marginals each table is used
    by itself, and the most telling counts. *Perturbed samples*: CORRUPTION Equations 9 to 19.

    *Dropped people.* If tuples were dropped, whoever is not published may be one of those: see
    `glasshouse.adversary.dropped`.
    """

    name: ClassVar[str] = "linking"
    runs_method: ClassVar[bool] = False

    column: str | None = None
    most_states: int = 1_000_000

    def attack(self, release: Release, knowledge: Knowledge) -> Posterior:
        """Believe what the release and the quasi-identifiers say."""
        found = self.published(release, knowledge)
        if release.recipe.recoding.get("name") == "perturbed":
            return found
        return count_dropped(found, release, Published.of(release, self.column))

    def published(self, release: Release, knowledge: Knowledge) -> Posterior:
        """Believe what published tuples say of people who are published; see `count_dropped` for the others."""
        if knowledge.corrupted or (knowledge.prior is not None and release.recipe.recoding.get("name") != "perturbed"):
            raise NotSupported(
                "linking with corrupted people or a prior of her own",
                instead="leave them out: linking counts what the release says, alike for everybody",
            )
        if release.recipe.recoding.get("name") == "perturbed":
            return sampled_posterior(release, knowledge, attack=self.name, column=self.column)
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
        pairs, pair = np.unique(of_kind * (len(seats) + 1) + place, return_inverse=True)  # each kind once at each place
        kinds, places = pairs // (len(seats) + 1), pairs % (len(seats) + 1)
        tuples = np.bincount(seats.place, weights=seats.count, minlength=len(seats))
        rivals = np.bincount(places, weights=n_alike[kinds].astype(float), minlength=len(seats))

        # a seat's tuples are shared out among all who fit its place: exactly, or as if nobody had a choice
        starts = np.searchsorted(kinds, np.arange(len(n_alike) + 1))
        exact = exact_shares(n_alike, starts, places, tuples.astype(np.int64), most_states=self.most_states)
        share = tuples[places] / rivals[places]
        total = np.bincount(kinds, weights=share, minlength=len(n_alike)).astype(np.float64)
        mixed = share / total[kinds] * np.minimum(1.0, total)[kinds]
        sits = np.where(exact.is_exact[kinds], exact.probability, mixed)
        presence = np.minimum(1.0, np.bincount(kinds, weights=sits, minlength=len(n_alike)))
        weight = sits[pair.reshape(-1)] * seats.count[matches.seats] / tuples[place]
        how = "exact" if exact.is_exact.all() else "mixture"
        notes = []
        if how == "mixture":
            rough = int(n_alike[~exact.is_exact].sum())
            notes.append(
                f"of {rough:,} people, who fit cells that overlap too often to be counted, beliefs are approximate; "
                f"none can be above {self._most(published, seats, matches, ~exact.is_exact):.4f}"
                f"{' for those who are published' if release.n_dropped else ''}"
            )
        strangers = int(np.maximum(tuples - rivals, 0).sum()) if how == "exact" else 0
        if strangers:
            notes.append(f"{strangers:,} tuples are of people whom the external table lacks")
        if len(published.seats) > 1:
            notes.append(f"each of {len(published.seats)} generalized tables by itself; the most telling is shown")
        row, one = _alike(kinds, places, sits, len(n_alike))
        numbers = np.full(len(n_alike), -1)
        numbers[one] = np.arange(len(one))
        shown = np.flatnonzero(numbers[of_kind] >= 0)
        offsets, codes, beliefs = _mixed(
            published, seats.group[matches.seats[shown]], numbers[of_kind[shown]], weight[shown], len(one)
        )
        return Posterior(
            attack=self.name,
            column=published.column,
            how=how,
            knowledge=knowledge,
            values=published.values,
            kind=row[kind],
            offsets=offsets,
            codes=codes,
            beliefs=beliefs,
            presence=presence[one],
            limit=promised_limit(release, published.column),
            notes=tuple(notes),
        )

    def _most(self, published: Published, seats: Seats, matches: Matches, rough: NDArray[np.bool_]) -> float:
        """The largest share of a value in any group that some of the people may be in."""
        of_kind = np.repeat(np.arange(len(rough)), np.diff(matches.offsets))
        groups = np.unique(seats.group[matches.seats[rough[of_kind]]])
        largest = np.maximum.reduceat(published.counts, published.offsets[:-1])
        return float((largest[groups] / published.sizes[groups]).max())


def promised_limit(release: Release, column: str) -> Fraction | None:
    """The belief that a release promises not to be exceeded: 1/l of frequency l-diversity."""
    principle = release.recipe.principle
    if principle.get("name") == "by-column":
        principle = principle["columns"].get(column, {})
    return Fraction(1, int(principle["ell"])) if principle.get("name") == "l-diversity" else None


def _alike(
    kinds: NDArray[np.int64], places: NDArray[np.int64], sits: NDArray[np.float64], n_kinds: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the kinds anew, so that those of whom the same is believed have one number; and a kind for each number.

    Of people who fit a single place, and are as likely to sit there, the same is believed: a large group is not written
    down again for everybody in it. Pairs of a kind and a place ascend by kind.
    """
    single = np.bincount(kinds, minlength=n_kinds) == 1
    own = single[kinds]
    key = np.stack([np.full(n_kinds, -1.0), np.arange(n_kinds, dtype=np.float64)], axis=1)  # others stay apart
    key[kinds[own]] = np.stack([places[own].astype(np.float64), sits[own]], axis=1)
    _, one, row = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return row.reshape(-1).astype(np.int64), one


def _mixed(
    published: Published,
    groups: NDArray[np.int32],
    of_kind: NDArray[np.int64],
    weight: NDArray[np.float64],
    n_kinds: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Mix the distributions of the groups of all seats that cover a kind."""
    group = groups.astype(np.int64)
    lengths = np.diff(published.offsets)[group]
    before = np.append(0, np.cumsum(lengths))
    places = np.repeat(published.offsets[group] - before[:-1], lengths) + np.arange(before[-1])
    n_values = len(published.values)
    keys = np.repeat(of_kind, lengths) * n_values + published.codes[places]
    share = published.counts[places] / published.sizes[np.repeat(group, lengths)]
    distinct, number = np.unique(keys, return_inverse=True)
    mixed = np.repeat(weight, lengths) * share
    beliefs = np.bincount(number.reshape(-1), weights=mixed, minlength=len(distinct)).astype(np.float64)
    offsets = np.searchsorted(distinct // n_values, np.arange(n_kinds + 1))
    return offsets.astype(np.int64), (distinct % n_values).astype(np.int32), beliefs
