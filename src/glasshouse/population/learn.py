# SPDX-License-Identifier: Apache-2.0
"""Learn: fit the model of the population to a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from glasshouse import bounds
from glasshouse.errors import NotSupported
from glasshouse.population.deals import Deals
from glasshouse.population.doubt import doubt_of
from glasshouse.population.features import Features
from glasshouse.population.fit import fitted
from glasshouse.population.observations import Grouped, Shown
from glasshouse.population.points import points_of
from glasshouse.population.population import Population
from glasshouse.population.regression import Regression
from glasshouse.supports.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.population.observations import Observations
    from glasshouse.population.points import Points
    from glasshouse.release import Release
    from glasshouse.release.contents import Published, Seats

__all__ = ["learn", "learned_from"]

_DRAWS: Final = 24
_SEED: Final = 1
_IN_CELLS, _EXACT = 2, 3  # attributes that a feature combines
_FEWEST: Final = 200  # people; of fewer nothing is learned
_MOST_PEOPLE: Final = 200_000  # whose groups the weights are fitted to

_kept: WeakKeyDictionary[Release, dict[tuple[Any, ...], Population]] = WeakKeyDictionary()


def learn(
    release: Release,
    column: str | None = None,
    *,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    ordered: Mapping[str, Sequence[Any]] | None = None,
    report: Callable[[float], None] = lambda _: None,
) -> Population:
    """Learn from a release alone how a sensitive value depends on quasi-identifiers."""
    evidence = Evidence(release=release, taxonomies=taxonomies or {}, ordered=ordered or {})
    published = evidence.published(column)
    seats = max(published.seats, key=lambda own: len(own.quasi))
    found = learned_from(evidence, published, seats, report)
    if found is None:
        raise NotSupported(
            f"learning from a release of {release.n_tuples:,} people",
            instead=f"it takes {_FEWEST} at least; questions are answered without a model",
        )
    return found


def learned_from(
    evidence: Evidence, published: Published, seats: Seats, report: Callable[[float], None] = lambda _: None
) -> Population | None:
    """Learn from one table of seats, once for every release; None if it has too few people for that."""
    if int(seats.count.sum()) < _FEWEST:
        return None
    kept = _kept.setdefault(evidence.release, {})
    orders = tuple((name, tuple(order)) for name, order in evidence.ordered.items())
    key = (published.column, seats.quasi, tuple(evidence.taxonomies.items()), orders)
    if key not in kept:
        kept[key] = _learned(evidence, published, seats, report)
    return kept[key]


def _learned(evidence: Evidence, published: Published, seats: Seats, report: Callable[[float], None]) -> Population:
    random = np.random.Generator(np.random.PCG64(_SEED))
    points = points_of(evidence, seats)
    values = evidence.domain_of(published)
    seen = _observations(evidence, published, seats, points, values)
    people = seen.people_at(points.n_places)
    at_points = people if points.mixture is None else np.asarray(points.mixture.T @ people)
    features = Features.of(points.attributes(), at_points, _EXACT if points.mixture is None else _IN_CELLS)
    base = np.bincount(
        seen.code_of_entry, weights=seen.slopes(np.ones((points.n_places, len(values))))[0], minlength=len(values)
    )
    regression = Regression(features, points.mixture, np.log(np.maximum(base / base.sum(), 1e-12)), seen)
    sample = regression
    n_people = float(people.sum())
    if n_people > _MOST_PEOPLE:
        chosen = random.permutation(seen.n_groups)[: int(seen.n_groups * _MOST_PEOPLE / n_people)]
        sample = regression.with_observations(seen.some(np.sort(chosen)))
    found = fitted(sample, random, report)
    deviations = np.zeros((_DRAWS, *regression.shape))
    if found.is_used:
        deviations = sample.draws(found.weights, found.ridges, _DRAWS, random).deviations
    return Population(published.column, values, points, regression, found, seen, deviations, doubt_of(evidence.release))


def _observations(
    evidence: Evidence, published: Published, seats: Seats, points: Points, values: Sequence[Any]
) -> Observations:
    if published.kind == "sample":
        place = {value: i for i, value in enumerate(values)}
        codes = np.array([place[value] for value in published.values], np.int32)
        kept = float(bounds.exact(evidence.release.recipe.recoding["p"]))
        shown = codes[published.codes[seats.group]]
        return Shown(points.place_of_seat.astype(np.int32), shown, seats.count, kept)
    slots = (published.offsets, published.codes, published.counts)
    return Grouped(Deals.of(seats.group, points.place_of_seat, seats.count, slots))
