# SPDX-License-Identifier: Apache-2.0
"""Points: the combinations of quasi-identifiers that the people of a release may have.

Where quasi-identifiers are published exactly, every place is a point. Where cells are published, a place stands for a
few points, drawn evenly from the distribution of people in its cells, attribute by attribute
(`glasshouse.population.cell_shares`). The draw is the same every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import scipy.sparse as sp

from glasshouse import catalog
from glasshouse.population.cell_shares import CellShares, domain_of
from glasshouse.population.doubt import requirement_of
from glasshouse.population.features import Attribute
from glasshouse.release.layout import ANGEL, BOXES, PERTURBED
from glasshouse.supports.proportions import Places
from glasshouse.supports.supports import Span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.release.contents import Seats
    from glasshouse.supports.evidence import Evidence

__all__ = ["Points", "points_of"]

_LINE: Final = ("integer", "float", "date", "timestamp")
_LEAST_POINTS, _MOST_POINTS, _ALL_POINTS = 4, 1024, 80_000  # that stand for the cells of a place, and of all places
_ENOUGH_POINTS, _FOR_EVERY_PERSON = 32, 4  # for a place, however few people it has; and for each of its people
_SEED: Final = 20090629


@dataclass(frozen=True, eq=False)
class Points:
    """Distinct combinations of values, and which of them every place of the release stands for."""

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]  # of every attribute, in their order
    ordered: tuple[bool, ...]
    codes: NDArray[np.int32]  # attributes x points
    mixture: sp.csr_matrix | None  # places x points; None if every place is the point of the same number
    place_of_seat: NDArray[np.int64]
    # of the logarithms of the shares of every attribute's values, where cells are published: see `CellShares`
    deviations: tuple[NDArray[np.float64], ...] = ()

    def tilted(self, random: np.random.Generator, scale: float) -> NDArray[np.float64]:
        """By how much every point is more or less frequent, if the shares of values in cells are a bit others.

        The standard deviation of what they are is measured on the release; it is multiplied by ``scale``.
        """
        logs = np.zeros(self.n_points)
        for codes, deviations in zip(self.codes, self.deviations, strict=True):
            logs += (random.standard_normal(len(deviations)) @ deviations * scale)[codes]
        return np.asarray(np.exp(logs), np.float64)

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return int(self.codes.shape[1])

    @property
    def n_places(self) -> int:
        """How many places there are."""
        return self.n_points if self.mixture is None else int(self.mixture.shape[0])

    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes in the form that features use."""
        return tuple(
            Attribute(name, codes, ordered)
            for name, codes, ordered in zip(self.names, self.codes, self.ordered, strict=True)
        )


def points_of(evidence: Evidence, seats: Seats) -> Points:
    """Read the points of one table of seats; `InputError` where cells do not say which values they stand for."""
    place, first = _first_of(seats.place)
    people = np.bincount(place, weights=seats.count).astype(np.int64)
    supports = [evidence.supports(seats, name) for name in seats.quasi]
    kinds = [evidence.kinds[name] for name in seats.quasi]
    spelled = [tuple(support.spelled_out for support in own) for own in supports]
    domains = [domain_of(name, kind, own) for name, kind, own in zip(seats.quasi, kinds, spelled, strict=True)]
    cells = [codes[first].astype(np.int64) for codes in seats.of_seat]
    exact = evidence.is_exact
    random = np.random.Generator(np.random.PCG64(_SEED))
    n_points = 1 if exact else _points_for(people)
    columns, deviations = [], []
    for name, kind, own, domain, cell in zip(seats.quasi, kinds, spelled, domains, cells, strict=True):
        places = Places(domain, kind)
        if exact:
            where = np.array([places.inside(support)[0].start for support in own], np.int64)
            columns.append(where[cell])
            continue
        shares = CellShares.of(
            own,
            places,
            len(domain),
            attained=_attained(evidence, name),
            mixed=_are_mixed(evidence),
            disjoint=_are_disjoint(evidence),
            cells=cell,
            people=people,
        )
        deviations.append(shares.deviations)
        parts = _spread(len(cell), n_points, random)
        columns.append(shares.quantiles(np.repeat(cell, n_points), np.repeat(people, n_points), parts))
    ordered = tuple(
        kind in _LINE or name in evidence.ordered or any(isinstance(support, Span) for support in own)
        for name, kind, own in zip(seats.quasi, kinds, spelled, strict=True)
    )
    codes = np.stack(columns).astype(np.int32) if columns else np.zeros((0, len(first) * n_points), np.int32)
    values = tuple(domains)
    if exact:
        return Points(seats.quasi, values, ordered, codes, None, place)
    distinct, number = np.unique(codes, axis=1, return_inverse=True)
    shape = (len(first), distinct.shape[1])
    rows = np.repeat(np.arange(len(first)), n_points)
    weights = np.full(len(rows), 1 / n_points)
    mixture = sp.csr_matrix((weights, (rows, number.reshape(-1))), shape=shape)
    mixture.sum_duplicates()
    return Points(seats.quasi, values, ordered, np.ascontiguousarray(distinct), mixture, place, tuple(deviations))


def _points_for(people: NDArray[np.int64]) -> int:
    """How many points stand for a place: more where places have many people, as few as must be where there are many."""
    n_places = max(len(people), 1)
    wanted = np.clip(_FOR_EVERY_PERSON * int(people.sum()) // n_places, _ENOUGH_POINTS, _MOST_POINTS)
    return int(np.clip(wanted, _LEAST_POINTS, max(_ALL_POINTS // n_places, _LEAST_POINTS)))


def _spread(n_places: int, n_points: int, random: np.random.Generator) -> NDArray[np.float64]:
    """For every place as many numbers between 0 and 1 as it has points, evenly spread, in random order."""
    order = np.argsort(random.random((n_places, n_points)), axis=1)
    return np.asarray(((order + random.random((n_places, 1))) / n_points).reshape(-1), np.float64)


def _attained(evidence: Evidence, name: str) -> bool:
    """Whether the cells of a column are as small as possible, so that some person is at every end."""
    recoding = evidence.release.recipe.recoding
    shown = str(recoding.get("cells", BOXES.name)) if evidence.release.layout is ANGEL else str(recoding.get("name"))
    return shown in (BOXES.name, PERTURBED.name) and name not in evidence.declared.nodes


def _are_mixed(evidence: Evidence) -> bool:
    """Whether people may have been put together for their sensitive values, and boxes put around them."""
    release = evidence.release
    return release.layout is BOXES and (not release.recipe.method or bool(requirement_of(release).columns))


def _are_disjoint(evidence: Evidence) -> bool:
    """Whether the method of a release makes boxes that have no point in common."""
    recipe = evidence.release.recipe
    return evidence.release.layout is BOXES and bool(recipe.method) and catalog.method_of(recipe).disjoint


def _first_of(number: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the different items from 0, and return the first of each."""
    _, first, place = np.unique(number, return_index=True, return_inverse=True)
    return place.reshape(-1).astype(np.int64), first.astype(np.int64)
