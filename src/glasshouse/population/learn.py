# SPDX-License-Identifier: Apache-2.0
"""Learn: fit the model of the population to a release."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from glasshouse import bounds
from glasshouse.errors import InputError, NotSupported
from glasshouse.plural import counted
from glasshouse.population.combinations import with_combinations
from glasshouse.population.deals import Deals
from glasshouse.population.doubt import doubt_of
from glasshouse.population.features import Features
from glasshouse.population.fit import fitted
from glasshouse.population.observations import Grouped, Shown
from glasshouse.population.points import points_of
from glasshouse.population.population import Population
from glasshouse.population.population_file import PopulationFile, digest_of
from glasshouse.population.regression import Regression
from glasshouse.release.layout import PART_ROWS
from glasshouse.supports.evidence import Evidence
from glasshouse.unpacking.headroom import refuse_without_room

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.population.fit import Fitted
    from glasshouse.population.observations import Observations
    from glasshouse.population.points import Points
    from glasshouse.release import Release
    from glasshouse.release.contents import Published, Seats

__all__ = ["learn", "learned_from", "restored", "too_little"]

_DRAWS: Final = 20
_SEED: Final = 1
_DRAWS_SEED: Final = 2  # of the draws alone, so that they can be made again from the weights
_DIGITS: Final = 6  # behind the point of a weight
_IN_CELLS, _EXACT = 2, 3  # attributes that a feature combines
_FEWEST: Final = 200  # people to learn from
_FEWEST_EACH: Final = 5  # people for every value, on average
_MOST_CHANCES: Final = 30_000_000  # people times values: with more, learning would take many minutes
_LEARNED: Final = 350  # bytes that learning takes for a seat, at least
_FOR_RIDGES, _FOR_WEIGHTS = 60_000, 200_000  # people whose groups they are learned from

_kept: WeakKeyDictionary[Release, dict[tuple[Any, ...], Population]] = WeakKeyDictionary()


def learn(
    release: Release,
    column: str | None = None,
    *,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    ordered: Mapping[str, Sequence[Any]] | None = None,
    keep: str | Path | None = None,
    report: Callable[[float], None] = lambda _: None,
) -> Population:
    """Learn from a release alone how a sensitive value depends on quasi-identifiers.

    Parameters
    ----------
    release
        What was published.
    column
        The sensitive column; the first of the release if none is named.
    taxonomies, ordered
        Public knowledge that the cells of the release refer to, as for `query`.
    keep
        A file. If it exists, what was learned is read from it; otherwise what is learned is written to it.
        A file that belongs to another release, or is damaged, is refused with a `SourceError`.
    report
        Is told how much of the work is done, from 0 to 1.

    Examples
    --------
    >>> import glasshouse as gh
    >>> patients = gh.synthetic.hospital(3_000)
    >>> release = gh.publish(patients, principle=gh.LDiversity(ell=3), method=gh.Anatomize(), recoding=gh.Anatomy(),
    ...                      source=gh.Source.seeded(1))
    >>> population = learn(release)
    >>> population.model, population.influences()[0].name
    ('learned', 'age')
    """
    if keep is not None and os.path.lexists(keep):
        return restored(keep, release, column, taxonomies=taxonomies, ordered=ordered)
    evidence = Evidence(release=release, taxonomies=taxonomies or {}, ordered=ordered or {})
    published = evidence.published(column)
    seats = published.widest
    found = learned_from(evidence, published, seats, report)
    if found is None:
        raise NotSupported(
            f"nothing can be learned from this release: {too_little(published, seats)}",
            instead="questions are answered without a model",
        )
    if keep is not None:
        found.save(keep)
    return found


def restored(
    path: str | Path,
    release: Release,
    column: str | None = None,
    *,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    ordered: Mapping[str, Sequence[Any]] | None = None,
) -> Population:
    """What was learned from a release before and kept in a file; questions are then answered by it."""
    file = PopulationFile.read(path)
    file.check_release(digest_of(release))
    if column is not None and column != file.column:
        raise InputError(
            f"{file.path} contains what was learned about {file.column!r}, and not about {column!r}: name another file"
        )
    evidence = Evidence(release=release, taxonomies=taxonomies or {}, ordered=ordered or {})
    published = evidence.published(file.column or None)
    seats = next((own for own in published.seats if own.quasi == file.quasi), None)
    if seats is None:
        file.refuse("no table of the release has the quasi-identifiers of the model")
    ready = _Ready.of(evidence, published, seats)
    found = ready.population(file.fitted(ready.values, ready.points, ready.regression))
    if found.model != file.data["model"]:
        file.refuse("the kind of model that it names does not agree with its numbers")
    return _kept.setdefault(release, {}).setdefault(_key(evidence, published, seats), found)


def learned_from(
    evidence: Evidence, published: Published, seats: Seats, report: Callable[[float], None] = lambda _: None
) -> Population | None:
    """Learn from one table of seats, once for every release; None if `too_little` gives a reason not to."""
    if too_little(published, seats):
        return None
    kept, key = _kept.setdefault(evidence.release, {}), _key(evidence, published, seats)
    if key not in kept:
        if len(seats) > PART_ROWS:
            refuse_without_room(
                len(seats) * _LEARNED,
                f"learning from a release of {evidence.release.n_tuples:,} people",
                instead="questions can be asked with model='uniform', which learns nothing",
            )
        ready = _Ready.of(evidence, published, seats)
        found = fitted(_sampled(ready.regression, _FOR_RIDGES, ready.random), ready.random, report)
        if found.is_used:
            found = replace(found, weights=ready.sample.fit(found.ridges, found.weights))
        kept[key] = ready.population(replace(found, weights=found.weights.round(_DIGITS)))
    return kept[key]


def too_little(published: Published, seats: Seats) -> str:
    """Why nothing is learned from a table of seats: too few people, or too many values; or an empty text."""
    n_people, n_values = int(seats.count.sum()), len(published.values)
    if n_people < _FEWEST:
        return f"the release has fewer than {_FEWEST} people"
    column = f"the column {published.column!r} has {counted(n_values, 'different value')}"
    if len(published.columns) > 1:
        names = " and ".join(map(repr, published.columns))
        column = f"the columns {names} have {counted(n_values, 'different combination')} of values"
    if n_people < _FEWEST_EACH * n_values:
        return f"{column}, and fewer than {_FEWEST_EACH} people on average have the same one"
    if min(n_people, _FOR_RIDGES) * n_values > _MOST_CHANCES:
        return f"{column}, which are too many to learn from in reasonable time"
    return ""


def _key(evidence: Evidence, published: Published, seats: Seats) -> tuple[Any, ...]:
    """The key by which a model of a release is cached."""
    orders = tuple((name, tuple(order)) for name, order in evidence.ordered.items())
    return published.columns, seats.quasi, tuple(evidence.taxonomies.items()), orders


@dataclass(frozen=True, eq=False)
class _Ready:
    """Everything that is read from a release before weights are fitted; the same every time."""

    release: Release
    column: str
    values: tuple[Any, ...]
    points: Points
    regression: Regression  # of all groups
    sample: Regression  # of those that weights are fitted to
    random: np.random.Generator

    @classmethod
    def of(cls, evidence: Evidence, published: Published, seats: Seats) -> _Ready:
        random = np.random.Generator(np.random.PCG64(_SEED))
        points = points_of(evidence, seats)
        values = evidence.domain_of(published)
        seen = _observations(evidence, published, seats, points, values)
        amounts = _values(seen, points.n_places, len(values))
        base = np.bincount(seen.code_of_entry, weights=amounts, minlength=len(values))
        logs = np.log(np.maximum(base / base.sum(), 1e-12))
        people = _people(seen, points)
        plain = Regression(Features.of(points.attributes(), people), points.mixture, logs, seen)
        order = _EXACT if points.mixture is None else _IN_CELLS
        some = _sampled(plain, _FOR_RIDGES, random)
        regression = with_combinations(plain, some, points.attributes(), people, order)
        sample = _sampled(regression, _FOR_WEIGHTS, random)
        return cls(evidence.release, published.column, values, points, regression, sample, random)

    def population(self, found: Fitted) -> Population:
        """The population according to these weights."""
        random = np.random.Generator(np.random.PCG64(_DRAWS_SEED))
        weights = found.weights if found.is_used else self.sample.fit(found.ridges)
        draws = self.sample.draws(weights, found.ridges, _DRAWS, random, accuracy=0.2)
        deviations = weights - found.weights + draws.deviations
        determined = draws.determined if found.is_used else np.zeros(len(found.ridges))
        return Population(
            self.column,
            self.values,
            self.points,
            self.regression,
            found,
            self.regression.seen,
            deviations,
            doubt_of(self.release),
            self.sample,
            determined,
            digest_of(self.release),
        )


def _values(seen: Observations, n_places: int, n_values: int) -> NDArray[np.float64]:
    """How many people have the value of every entry, if nothing is known of them."""
    return seen.slopes(np.full((n_places, n_values), 1 / n_values))[0]


def _sampled(regression: Regression, most: int, random: np.random.Generator) -> Regression:
    """The model of a sample of the groups with about ``most`` people."""
    n_groups, n_people = regression.seen.n_groups, float(regression.seen.people_at(regression.n_places).sum())
    if n_people <= most:
        return regression
    return regression.some(np.sort(random.permutation(n_groups)[: int(n_groups * most / n_people)]))


def _people(seen: Observations, points: Points) -> NDArray[np.float64]:
    """How many people are at every point."""
    people = seen.people_at(points.n_places)
    return people if points.mixture is None else np.asarray(points.mixture.T @ people)


def _observations(
    evidence: Evidence, published: Published, seats: Seats, points: Points, values: Sequence[Any]
) -> Observations:
    if published.kind == "sample":
        place = {value: i for i, value in enumerate(values)}
        codes = np.array([place[value] for value in published.values], np.int32)
        kept = float(bounds.exact(evidence.release.recipe.recoding["p"]))
        shown = codes[published.codes[seats.group]]
        return Shown(points.place_of_seat.astype(np.int32), shown, seats.count, kept)
    people = np.bincount(seats.group, weights=seats.count, minlength=published.n_groups)
    if not np.array_equal(people, published.sizes):
        raise InputError(
            "the tables of the release contradict each other: a group does not have as many people as sensitive values"
        )
    slots = (published.offsets, published.codes, published.counts)
    return Grouped(Deals.of(seats.group, points.place_of_seat, seats.count, slots))
