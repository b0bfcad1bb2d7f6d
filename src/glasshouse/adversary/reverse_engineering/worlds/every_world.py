# SPDX-License-Identifier: Apache-2.0
"""Every world: the algorithm is run on all tables that an attacker can imagine, or on those that a walk comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.dropped_people import UNPUBLISHED
from glasshouse.adversary.knowledge import ABSENT
from glasshouse.adversary.matching import match
from glasshouse.adversary.other_columns import columns_beside
from glasshouse.adversary.posterior import Beliefs
from glasshouse.adversary.reverse_engineering.strategies import MOST_UNKNOWN, SMALL, Strategy
from glasshouse.adversary.reverse_engineering.worlds.enumeration import ExactBeliefs, exact_posterior
from glasshouse.adversary.reverse_engineering.worlds.replay import Rerun
from glasshouse.adversary.reverse_engineering.worlds.walk import SampledBeliefs, sampled_posterior
from glasshouse.errors import InputError, NotSupported
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.task import Task

__all__ = ["EveryWorld", "SampledWorlds"]


@dataclass(frozen=True, kw_only=True)
class SampledWorlds(Strategy):
    """Walk over worlds by a Markov chain, running the algorithm on each; at most ``most_runs`` times over all."""

    most_runs: int = 1_000_000

    def refuses(self, task: Task) -> NotSupported | None:
        """The reason to refuse: a Markov chain fills one column only."""
        if len(task.release.recipe.sensitive) > 1:
            return NotSupported("sampling of possible tables does not support several sensitive columns", instead=SMALL)
        return super().refuses(task)

    def believe(self, task: Task) -> Posterior:
        """Compute the probabilities as several chains find them."""
        given = _given(task)
        values = given.pop("values")
        unnamed = _stand_ins(list(values), 1 if UNPUBLISHED in task.contents.values else 0)
        found = sampled_posterior(
            task.people,
            Rerun.of(task),
            task.release.tables,
            **given,
            values={**values, **dict.fromkeys(unnamed, 0)},
            error=self.error,
            most_runs=self.most_runs,
            source=self.source,
            progress=self.progress,
        )
        return _posterior(task, found, found.notes, errors=found.errors)


@dataclass(frozen=True, kw_only=True)
class EveryWorld(SampledWorlds):
    """Try every world and every random choice (TRANSPARENT Proposition 1); at most ``most_worlds``."""

    takes_columns = True

    most_worlds: int = 100_000

    def refuses(self, task: Task) -> NotSupported | None:
        """The reason to refuse: too many people have unknown values; even counting the worlds would take too long."""
        unknown = task.knowledge.external.n_tuples - len(task.knowledge.corrupted)
        if unknown > MOST_UNKNOWN:
            return NotSupported(
                f"{unknown:,} people whose values are not known are too many to try every possible table",
                instead=SMALL,
            )
        return Strategy.refuses(self, task)

    def believe(self, task: Task) -> Posterior:
        """The share of the worlds, each weighed by how likely it gives the release."""
        n_dropped = task.release.n_dropped
        others = UNPUBLISHED in task.contents.values
        found, n_others = self._tried(task, range(1, n_dropped + 1) if others else range(1))
        notes = [
            f"{counted(found.n_worlds, 'table was', 'tables were')} possible before the release, and "
            f"{found.n_possible:,} of them could have produced it; the algorithm was run "
            f"{counted(found.n_runs, 'time')}"
        ]
        if others:
            notes.append(
                f"{counted(n_dropped, 'person who was', 'people who were')} left out by the method "
                f"{'is' if n_dropped == 1 else 'are'} assumed to have published values, or one of "
                f"{counted(n_others, 'other value')}; a prior (prior=, --prior) can name the values that exist"
            )
        elif n_dropped:
            notes.append(f"{counted(n_dropped, 'person is', 'people are')} in the table and not in the release")
        return _posterior(task, found, notes)

    def _tried(self, task: Task, numbers: range) -> tuple[ExactBeliefs, int]:
        """Try the worlds with as many additional values as there must be; also returns their number."""
        given = _given(task)
        values, beside = given.pop("values"), columns_beside(task, self.most_worlds)
        for n_others in numbers:
            try:
                found = exact_posterior(
                    task.people,
                    Rerun.of(task),
                    task.release.tables,
                    **given,
                    values={**values, **dict.fromkeys(_stand_ins(list(values), n_others), 0)},
                    order=task.release.recipe.sensitive,
                    beside=beside,
                    limit_worlds=self.most_worlds,
                    limit_runs=self.most_runs,
                    progress=self.progress,
                )
                break
            except InputError:  # people who were dropped may have several values that are not published
                if n_others == numbers[-1]:
                    raise
        return found, n_others


def _given(task: Task) -> dict[str, Any]:
    """What is known of the worlds before the release."""
    release, contents, knowledge = task.release, task.contents, task.knowledge
    totals = np.bincount(contents.codes, weights=contents.counts, minlength=len(contents.values))
    prior = knowledge.prior
    if prior is not None and knowledge.is_personal:
        prior = {knowledge.person(name): weights for name, weights in prior.items()}
    return {
        "values": {v: int(n) for v, n in zip(contents.values, totals, strict=True) if v is not UNPUBLISHED},
        "sensitive": contents.column,
        "prior": prior,
        "corrupted": {row: value for row, value in task.told if value is not ABSENT},
        "absent": [row for row, value in task.told if value is ABSENT],
        "n": release.n_tuples + release.n_dropped,
        "may": None if release.n_dropped else _may(task),  # of a dropped record nothing is published
    }


def _posterior(
    task: Task,
    found: ExactBeliefs | SampledBeliefs,
    notes: Sequence[str],
    errors: Mapping[int, Mapping[Any, float]] | None = None,
) -> Posterior:
    n, place = task.people.n_tuples, {value: i for i, value in enumerate(task.contents.values)}
    unnamed = len(place) - 1  # where several values are not published, which one it is is not known
    known = {row for row, _ in task.told}  # there are no probabilities for them: their values are known
    lists: list[list[tuple[int, Any, float]]] = []
    for row in range(n):
        own: dict[int, tuple[Any, float]] = {}
        for value, belief in found.of[row].items() if row not in known else ():
            code = place.get(value, unnamed)
            own[code] = value, float(belief) + (own[code][1] if code in own else 0.0)
        lists.append([(code, *own[code]) for code in sorted(own)])
    flat = [(row, *entry) for row, entries in enumerate(lists) for entry in entries]
    beliefs = Beliefs(
        np.cumsum([0, *map(len, lists)]).astype(np.int64),
        np.array([code for _, code, _, _ in flat], np.int32),
        np.array([belief for *_, belief in flat], np.float64),
        None if errors is None else np.array([errors[row][value] for row, _, value, _ in flat], np.float64),
    )
    presence = np.array([float(found.presence[row]) for row in range(n)])
    how = "exact" if errors is None else "sampled"
    return task.posterior(how, np.arange(n, dtype=np.int64), beliefs, presence, notes=notes)


def _stand_ins(values: list[Any], n: int) -> list[Any]:
    """Values of the same type that are published nowhere, for those that nobody has named."""
    found: list[Any] = []
    known = [value for value in values if value is not None]
    for i in range(n):
        if all(isinstance(value, bool) for value in known):
            found += [value for value in (False, True) if value not in known][i : i + 1]
        elif all(isinstance(value, int | float) for value in known):
            found.append(max(known) + 1 + i)
        elif all(isinstance(value, str) for value in known):
            found.append(f"{UNPUBLISHED} ({i + 1})")
    return found


def _may(task: Task) -> dict[int, set[Any]]:
    """The values that each person may have: those of the groups that they fit, in every table."""
    published, people = task.contents, task.people
    rows = np.arange(people.n_tuples)
    may: dict[int, set[Any]] = {}
    for seats in published.seats:
        matches = match(people, rows, seats)
        for row in range(people.n_tuples):
            groups = set(seats.group[matches.seats[matches.offsets[row] : matches.offsets[row + 1]]].tolist())
            found = {
                published.values[code]
                for group in groups
                for code in published.codes[published.offsets[group] : published.offsets[group + 1]].tolist()
            }
            may[row] = may[row] & found if row in may else found
    return may
