# SPDX-License-Identifier: Apache-2.0
"""Beliefs: the probabilities of each attacker, who gets the release and the steward's own table as list of people.

Counts and shares of people only; nobody is named, and no value.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.corruption.corruption import Corruption
from glasshouse.adversary.knowledge import Knowledge
from glasshouse.adversary.linking import Linking
from glasshouse.adversary.matching import match
from glasshouse.adversary.reverse_engineering.reverse_engineering import ReverseEngineering
from glasshouse.adversary.task import promised_limit
from glasshouse.errors import GlasshouseError, NotSupported
from glasshouse.journeys.attack import attack
from glasshouse.microdata.groups import alike
from glasshouse.pages.report.effort import OutOfTime, deadline
from glasshouse.pages.report.words import ADVERSARIES
from glasshouse.plural import counted
from glasshouse.release.contents import Published

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from glasshouse.adversary.posterior import Posterior
    from glasshouse.microdata import Microdata
    from glasshouse.pages.report.effort import Budget, Effort, Sizes
    from glasshouse.randomness import Source
    from glasshouse.release import Release

__all__ = ["beliefs_of", "but_for_dropped", "estimated_fits", "histogram", "not_attacked", "summary_of"]

_STEP = 0.025  # a bar of the histogram, about
_SAMPLE = 20_000  # rows of a published table from which the number of fits is estimated
_SMALL_SAMPLE = 2_000  # the same where there is little time
_KINDS = 64  # people who are looked up for it
_DENSE = 1 << 24  # so many combinations of values may be held in a table
_MOST_IMAGINED = 64  # people of whom reverse engineering tries every world, if there are few enough
_STRENGTH = {"linking": 0, "algorithm-aware": 1, "corrupting": 2}


def beliefs_of(
    release: Release,
    table: Microdata,
    effort: Effort,
    budget: Budget,
    sizes: Sizes,
    source: Source | None,
    tell: Callable[[], None],
) -> list[dict[str, Any]]:
    """Run every applicable attack for every sensitive column; for each attack that is not run, say why."""
    knowledge = Knowledge(external=table)
    found = []
    for column in release.recipe.sensitive:
        run = _Run(release, knowledge, column, budget)
        crowded, cost = budget.refusal(sizes.linking(0)), 0.0  # counting who fits where is part of the work
        if not crowded:
            sample = _SAMPLE if budget.seconds is None else _SMALL_SAMPLE
            n_fits = estimated_fits(release, table, column, sample=sample)
            crowded, cost = _crowded(table, n_fits, effort), sizes.linking(n_fits)
        linking = Linking(column=column, most_states=effort.most_states)
        not_linked = crowded or _more_than(effort.most_linked, table) or budget.refusal(cost)
        found.append(run("linking", linking, not_run=not_linked))
        tell()
        too_much = crowded or _more_than(effort.most_rows, table)
        aware = too_much or budget.refusal(2 * cost)
        found.append(run.by_theorem(aware) if aware else run.reverse_engineered(effort, source))
        tell()
        chosen = Corruption(column=column, most_corrupted=1)
        found.append(run("corrupting", chosen, not_run=too_much or budget.refusal(cost)))
        tell()
    return found


def but_for_dropped(n_dropped: int) -> str:
    """A note on the people who were dropped, to whom a bound for published people does not apply.

    >>> but_for_dropped(0), but_for_dropped(12)
    ('', ', for people who are known to be published, not for the 12 who were left out')
    """
    if not n_dropped:
        return ""
    return f", for people who are known to be published, not for the {n_dropped:,} who were left out"


def _more_than(rows: int, table: Microdata) -> str:
    return f"the table has more than {counted(rows, 'row')}" if table.n_tuples > rows else ""


class _Run:
    """One release and one sensitive column, to be attacked in several ways."""

    def __init__(self, release: Release, knowledge: Knowledge, column: str, budget: Budget) -> None:
        self.release = release
        self.knowledge = knowledge
        self.column = column
        self.budget = budget

    def __call__(self, adversary: str, chosen: Any, *, not_run: str = "") -> dict[str, Any]:
        """Run an attack; or say why not."""
        if not_run:
            return {**self._entry(adversary, not_run), "bounded": True}
        try:
            return {**self._entry(adversary), **summary_of(attack(self.release, chosen, knowledge=self.knowledge))}
        except OutOfTime:
            return {**self._entry(adversary, "it takes longer than is allowed for a report"), "bounded": True}
        except GlasshouseError as error:
            return self._entry(adversary, str(error))

    def reverse_engineered(self, effort: Effort, source: Source | None) -> dict[str, Any]:
        """Attack as exactly as the time allows; otherwise use the theorem."""
        if len(self.release.recipe.sensitive) > 1:
            return self._entry("algorithm-aware", "there is no attack yet on several sensitive columns together")
        chosen = ReverseEngineering(
            most_worlds=effort.most_worlds,
            most_runs=effort.most_runs,
            source=source,
            progress=deadline(effort.seconds, self.budget),
        )
        if self._bound is not None and effort.most_tried < self.knowledge.external.n_tuples <= _MOST_IMAGINED:
            return self("algorithm-aware", replace(chosen, how="bound"))
        entry = self("algorithm-aware", chosen)
        if entry["ran"] or self._bound is None:
            return entry
        if self.budget.left <= 0:
            return self.by_theorem(entry["why_not"])
        return self("algorithm-aware", replace(chosen, how="bound"))

    def by_theorem(self, why: str) -> dict[str, Any]:
        """Do not go through the people; where the method has a theorem, it bounds the probabilities of each of them."""
        entry = {**self._entry("algorithm-aware", why), "bounded": True}
        because = "a theorem about the method proves it" + but_for_dropped(self.release.n_dropped)
        return entry if self._bound is None else {**entry, "bound": str(self._bound), "because": because}

    @property
    def _bound(self) -> Fraction | None:
        aware = _STRENGTH.get(self.release.guarantee.adversary, 0) >= _STRENGTH["algorithm-aware"]
        return promised_limit(self.release, self.column) if aware else None

    def _entry(self, adversary: str, not_run: str = "") -> dict[str, Any]:
        limit = promised_limit(self.release, self.column)
        return {
            "adversary": adversary,
            "column": self.column,
            "knows": ADVERSARIES[adversary],
            "promised": _STRENGTH.get(self.release.guarantee.adversary, 0) >= _STRENGTH[adversary],
            "limit": None if limit is None else str(limit),
            "ran": not not_run,
            "why_not": not_run or None,
            "bounded": False,
            "bound": None,
            "because": None,
        }


def summary_of(posterior: Posterior) -> dict[str, Any]:
    """The summary of an attack, a histogram, and how many people are above the promise.

    An attacker who knows which value was too frequent is counted; ``unless_known`` is without that knowledge.
    """
    people, most = posterior.reached, posterior.once_known or posterior
    silent = (np.diff(most.offsets) == 0)[posterior.kind]
    edges, counts = histogram(people[~silent], posterior.limit)
    found = {
        **posterior.to_dict(),
        "histogram": {"edges": edges.tolist(), "people": counts.tolist()},
        "people_unknown": int(silent.sum()),
        "people_above": _n_above(posterior),
        "limit": None if posterior.limit is None else str(posterior.limit),
    }
    if posterior.once_known is not None:
        found["unless_known"] |= {"people_above": _n_above(posterior.unless_known)}
    return found


def _n_above(posterior: Posterior) -> int | None:
    if posterior.limit is None:
        return None
    return round(posterior.share_above() * posterior.n_people)


def histogram(
    people: NDArray[np.float64], limit: Fraction | None, *, step: float = _STEP
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Count probabilities in parts of 0 to 1, each with its upper end; a limit is where a part ends.

    >>> from fractions import Fraction
    >>> edges, counts = histogram(np.array([0.1, 0.25, 0.26, 1.0]), Fraction(1, 4), step=0.25)
    >>> edges.tolist(), counts.tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [2, 1, 0, 1])
    """
    width = step if limit is None else float(limit) / max(1, round(float(limit) / step))
    n_parts = int(np.ceil(1 / width - 1e-9))
    edges = np.minimum(np.arange(n_parts + 1) * width, 1.0)
    place = np.searchsorted(edges[1:] * (1 + 1e-9), people, side="left")
    return edges, np.bincount(np.minimum(place, n_parts - 1), minlength=n_parts).astype(np.int64)


# --- how much work it would be ----------------------------------------------------------------------------------------


def _crowded(table: Microdata, n_fits: int, effort: Effort) -> str:
    """The reason why there are too many pairs to go through; None if there are not."""
    most = max(effort.most_fits, 2 * table.n_tuples)
    if n_fits <= most:
        return ""
    return (
        f"people fit so many records of the release that about {float(f'{n_fits:.1g}'):,.0f} pairs of a person and "
        f"a record would have to be checked, and at most {most:,} are allowed"
    )


def not_attacked(
    release: Release,
    table: Microdata,
    column: str | None,
    effort: Effort,
    budget: Budget,
    cost: Callable[[int], float],
) -> str:
    """The reason why a part that looks up everybody is left out; ``cost`` predicts its cost from the number of fits."""
    refused = _more_than(effort.most_rows, table) or budget.refusal(cost(0))
    if refused:
        return refused
    n_fits = estimated_fits(release, table, column, sample=_SAMPLE if budget.seconds is None else _SMALL_SAMPLE)
    return _crowded(table, n_fits, effort) or budget.refusal(cost(n_fits))


def estimated_fits(release: Release, table: Microdata, column: str | None, *, sample: int = _SAMPLE) -> int:
    """An estimate of the number of pairs of a person and a fitting place; people who are alike count once.

    Some people are looked up in some rows of each published table.
    """
    try:
        shown, times = _thinned(release, sample)
        published = Published.of(shown, column)
    except (NotSupported, StopIteration):
        return 0
    kinds = _kinds(table, release.recipe.quasi)
    step = max(1, len(kinds) // _KINDS)
    some = kinds[step // 2 :: step][: 2 * _KINDS]
    most = 0.0
    for seats in published.seats:
        matches = match(table, some, seats)
        most = max(most, len(matches.seats) / max(1, len(some)) * times * len(kinds))
    return int(most)


def _kinds(table: Microdata, names: Sequence[str], *, dense: int = _DENSE) -> NDArray[np.int64]:
    """A row number for each kind of people who are alike."""
    columns = [table.column(name) for name in names]
    if prod(column.domain.size for column in columns) > dense:
        groups = alike(columns)
        rows = np.empty(groups.n_groups, np.int64)
        rows[groups.labels] = np.arange(table.n_tuples)
        return rows
    key = np.zeros(table.n_tuples, np.int64)
    for column in columns:
        key *= column.domain.size
        key += column.codes
    last = np.full(prod(column.domain.size for column in columns), -1, np.int64)
    last[key] = np.arange(table.n_tuples)
    return last[last >= 0]


def _thinned(release: Release, sample: int) -> tuple[Release, float]:
    """A release with only every n-th row, and the factor by which it has fewer places."""
    longest = max(table.num_rows for table in release.tables.values())
    if longest <= sample:
        return release, 1.0
    step = -(-longest // sample)
    tables = {}
    for name, table in release.tables.items():
        tables[name] = table.take(np.arange(step // 2, table.num_rows, step)) if table.num_rows > sample else table
    return replace(release, tables=tables), float(step)
