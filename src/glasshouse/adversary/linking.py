# SPDX-License-Identifier: Apache-2.0
"""Linking: people are found in the release by their quasi-identifiers; every way to fit them is equally likely.

The release alone is used, and not how it was made: what any analyst with a list of people would compute. ANATOMY 3.2
and 3.3, ANGEL Equation 2, CORRUPTION Equations 9 to 19 with nobody corrupted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse.adversary.dropped_people import count_dropped
from glasshouse.adversary.knowledge import key_of
from glasshouse.adversary.other_columns import in_own_groups, refuse_rows
from glasshouse.adversary.permanents import exact_shares
from glasshouse.adversary.perturbed_sample import PerturbedSample
from glasshouse.adversary.posterior import Beliefs, entries_of
from glasshouse.adversary.task import Attack
from glasshouse.errors import NotSupported
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from glasshouse.adversary.matching import Matches
    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.task import Task
    from glasshouse.release.contents import Seats

__all__ = ["Linking", "Sitting", "most_telling"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Linking(Attack):
    """Look people up by their quasi-identifiers (random worlds, given the release alone).

    Parameters
    ----------
    column
        The sensitive column, where the release has several.
    most_states
        How much counting is done where cells overlap, before probabilities are approximated.

    Notes
    -----
    Records that show the same cells are shared out among the people who fit these cells, every way being equally
    likely: where nobody has a choice, presence is the number of such records over the number of such people (ANATOMY
    3.3), and where cells overlap it is counted (see `glasshouse.adversary.permanents`). Probabilities are those of the
    records' groups, each weighted by how many of the records it has (ANATOMY 3.2, ANGEL Equation 2; a single group for
    boxes). Where too many cells overlap to be counted, every place's records are shared out alike among all who fit it;
    the result is called a mixture, and a note gives the largest possible probability. With several marginals
    each table is used separately, and the one with the largest probability counts. *Perturbed samples*: CORRUPTION
    Equations 9 to 19.

    *Other columns.* An attacker who knows other sensitive columns of everybody, or how often values occur together,
    learns nothing from it if each column is published separately. An attacker who knows both uses them inside a
    person's own group: see `glasshouse.adversary.other_columns`.

    *Dropped people.* If records were dropped, people who are not published may be among those: see
    `glasshouse.adversary.dropped_people`.
    """

    name: ClassVar[str] = "linking"
    takes_sets: ClassVar[bool] = True
    takes_columns: ClassVar[bool] = True

    column: str | None = None
    most_states: int = 1_000_000

    def believe(self, task: Task) -> Posterior:
        """Compute the probabilities from the release and the quasi-identifiers."""
        found = self.published(task)
        return found if task.contents.kind == "sample" else count_dropped(found, task)

    def published(self, task: Task) -> Posterior:
        """Compute the probabilities for people who are published; see `count_dropped` for the others."""
        is_sample = task.contents.kind == "sample"
        if task.knowledge.corrupted or (task.knowledge.prior is not None and not is_sample):
            raise NotSupported(
                "the attack linking does not use people whose values are known (corrupted=) or a prior",
                instead="leave them out, or use corruption or reverse engineering: linking counts only what the "
                "release shows",
            )
        if task.knowledge.looks_beside:
            refuse_rows(task)
        if task.knowledge.knows_both:
            return in_own_groups(task)
        if is_sample:
            return PerturbedSample.of(task).posterior()
        return most_telling(self._with(task, seats) for seats in task.contents.seats)

    def _with(self, task: Task, seats: Seats) -> Posterior:
        """The probabilities by one table of seats."""
        published, found = task.contents, Sitting.of(task, seats, most_states=self.most_states)
        matches, n_kinds = found.matches, task.kinds.n_kinds
        row, one = _alike(found.kinds, found.places, found.sits, n_kinds)
        numbers = np.full(n_kinds, -1)
        numbers[one] = np.arange(len(one))
        shown = np.flatnonzero(numbers[matches.of_match] >= 0)
        groups = seats.group[matches.seats[shown]].astype(np.int64)
        of_pair, entry = entries_of(published.offsets, groups)  # the distributions of groups are mixed
        mass = found.weight[shown][of_pair] * (published.counts[entry] / published.sizes[groups[of_pair]])
        who, n_values = numbers[matches.of_match[shown]][of_pair], len(published.values)
        beliefs = Beliefs.joined(who, published.codes[entry], mass, n_kinds=len(one), n_values=n_values)
        rest = ""
        if found.how == "mixture":
            most = _most(task, seats, matches, ~found.is_exact)
            of = "no probability of a protected value" if task.protected else "no probability"
            rest = f"; {of} can be above {most:.4f}{' for those who are published' if task.release.n_dropped else ''}"
        notes = [*found.notes(task.kinds.n_alike, rest), *task.by_itself]
        return task.posterior(found.how, row[task.kinds.of_person], beliefs, found.presence[one], notes=notes)


@dataclass(frozen=True, eq=False)
class Sitting:
    """The probability that people of every kind sit on each seat that covers them, judging by cells alone."""

    matches: Matches
    weight: NDArray[np.float64]  # of every match: how likely a person of the kind sits there
    presence: NDArray[np.float64]  # of every kind: how likely such a person sits anywhere
    # kinds, places, sits: every kind once at each place that covers it, and how likely such a person sits there
    kinds: NDArray[np.int64]
    places: NDArray[np.int64]
    sits: NDArray[np.float64]
    is_exact: NDArray[np.bool_]  # of every kind: whether this is exact
    n_strangers: int  # records of people who are not on the list; 0 where it is not exact

    @classmethod
    def of(cls, task: Task, seats: Seats, *, most_states: int) -> Sitting:
        """Share the records of every place among all who fit it: exactly where possible, else place by place."""
        matches, n_alike = task.fits(seats), task.kinds.n_alike
        place = seats.place[matches.seats]
        pairs, pair = np.unique(matches.of_match * (len(seats) + 1) + place, return_inverse=True)
        kinds, places = pairs // (len(seats) + 1), pairs % (len(seats) + 1)
        tuples = np.bincount(seats.place, weights=seats.count, minlength=len(seats))
        rivals = np.bincount(places, weights=n_alike[kinds].astype(float), minlength=len(seats))
        starts = np.searchsorted(kinds, np.arange(len(n_alike) + 1))
        exact = exact_shares(n_alike, starts, places, tuples.astype(np.int64), most_states=most_states)
        share = tuples[places] / rivals[places]
        total = np.bincount(kinds, weights=share, minlength=len(n_alike)).astype(np.float64)
        mixed = share / total[kinds] * np.minimum(1.0, total)[kinds]
        sits = np.where(exact.is_exact[kinds], exact.probability, mixed)
        presence = np.minimum(1.0, np.bincount(kinds, weights=sits, minlength=len(n_alike)))
        weight = sits[pair.reshape(-1)] * seats.count[matches.seats] / tuples[place]
        strangers = int(np.maximum(tuples - rivals, 0).sum()) if exact.is_exact.all() else 0
        return cls(matches, weight, presence, kinds, places, sits, exact.is_exact, strangers)

    @property
    def how(self) -> str:
        """``exact``, or ``mixture`` where cells overlap too often for the ways to be counted."""
        return "exact" if self.is_exact.all() else "mixture"

    def notes(self, n_alike: NDArray[np.int64], rest: str = "") -> list[str]:
        """Notes on what was approximated and for how many people, and on people who are not on the list."""
        if self.how == "mixture":
            rough = int(n_alike[~self.is_exact].sum())
            who = (
                f"for {counted(rough, 'person')} the probabilities are approximate: their published cells "
                "overlap with those of "
                "so many other people that not all possibilities could be counted"
            )
            return [f"{who}{rest}"]
        strangers = counted(self.n_strangers, "record belongs", "records belong")
        return [f"{strangers} to people who are not in the external table"] if self.n_strangers else []


def most_telling(found: Iterable[Posterior]) -> Posterior:
    """Of the results for several tables the one with the largest probability; the first of several.

    The largest one counts an attacker who knows which value was too frequent, if values were trimmed.
    """
    return max(found, key=lambda one: (float(one.reached.max(initial=0)), float(one.largest.max(initial=0))))


def _most(task: Task, seats: Seats, matches: Matches, rough: NDArray[np.bool_]) -> float:
    """The largest share of a (protected) value in any group that some of the people may be in."""
    published = task.contents
    groups = np.unique(seats.group[matches.seats[rough[matches.of_match]]])
    protected = set(map(key_of, task.protected or published.values))
    counts = np.array([key_of(value) in protected for value in published.values], bool)
    largest = np.maximum.reduceat(np.where(counts[published.codes], published.counts, 0), published.offsets[:-1])
    return float((largest[groups] / published.sizes[groups]).max())


def _alike(
    kinds: NDArray[np.int64], places: NDArray[np.int64], sits: NDArray[np.float64], n_kinds: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the kinds again, so that those with the same probabilities have one number; and a kind for each number.

    Of people who fit a single place, and are as likely to sit there, the probabilities are the same: a large group is
    not written down again for everybody in it. Pairs of a kind and a place ascend by kind.
    """
    single = np.bincount(kinds, minlength=n_kinds) == 1
    own = single[kinds]
    key = np.stack([np.full(n_kinds, -1.0), np.arange(n_kinds, dtype=np.float64)], axis=1)  # others stay apart
    key[kinds[own]] = np.stack([places[own].astype(np.float64), sits[own]], axis=1)
    _, one, row = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return row.reshape(-1).astype(np.int64), one
