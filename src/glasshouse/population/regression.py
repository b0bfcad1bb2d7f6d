# SPDX-License-Identifier: Apache-2.0
"""Regression: chances of sensitive values by quasi-identifiers, with weights that are fitted to a release.

The chance of the value v at a point q is ``softmax(log base + x(q) W)``: ``base`` is how often values occur in the
release, ``x(q)`` are the levels of the point (`glasshouse.population.features`), and ``W`` has a row of weights for
every level. A *place* is what a release shows of people: a point, or cells that stand for several points with known
shares; its chances are the mixture of theirs.

Fitting maximises the log-likelihood of what is observed minus ``ridge / 2`` times the squared weights, with a ridge for
every block. The result is the mode of a posterior distribution, whose covariance is about ``(J + ridges)^-1``, where J
is the sum over groups of the squared derivative of the group's log-likelihood. `Regression.draws` draws from this
distribution without ever making the matrix: with standard normal e and h, ``(J + ridges) d = sum of e_g u_g +
sqrt(ridges) h`` has a solution d with just this covariance, and conjugate gradients find it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.population.ascent import ascend

if TYPE_CHECKING:
    from collections.abc import Callable

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from glasshouse.population.features import Features
    from glasshouse.population.observations import Observations

__all__ = ["Draws", "Regression"]

_INFORMATION = 0.3  # how much of what people would tell a group tells, roughly; it sets the scale of steps alone
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Draws:
    """Deviations from the fitted weights (draws x levels x values), and what they tell of every block."""

    deviations: NDArray[np.float64]
    determined: NDArray[np.float64]  # how many weights of each block the release determines, and not the ridge


@dataclass(frozen=True, eq=False)
class Regression:
    """A model of the values that a release shows, ready to be fitted."""

    features: Features
    mixture: sp.csr_matrix | None  # places x points: the shares of points; None if every place is a point
    base: NDArray[np.float64]  # logarithms of how often values occur
    seen: Observations

    def some(self, groups: NDArray[np.int64]) -> Regression:
        """The same model for some groups only, with only their places and points."""
        seen = self.seen.some(groups)
        used = np.unique(seen.place_of_entry).astype(np.int64)
        number = np.zeros(self.n_places, np.int32)
        number[used] = np.arange(len(used), dtype=np.int32)
        if self.mixture is None:
            return replace(self, features=self.features.at(used), seen=seen.renumbered(number))
        rows = self.mixture[used]
        points = np.unique(rows.indices)
        return replace(self, features=self.features.at(points), mixture=rows[:, points], seen=seen.renumbered(number))

    @property
    def _x(self) -> sp.csr_matrix:
        return self.features.matrix

    @property
    def _x_back(self) -> sp.csr_matrix:
        return self.features.transposed

    @cached_property
    def _mixture_back(self) -> sp.csr_matrix:
        assert self.mixture is not None
        return self.mixture.T.tocsr()

    @property
    def n_places(self) -> int:
        """How many places there are."""
        return int(self._x.shape[0] if self.mixture is None else self.mixture.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the weights: levels and values."""
        return self.features.n_levels, len(self.base)

    @cached_property
    def block_of_level(self) -> NDArray[np.int64]:
        """The block of every level."""
        return np.repeat(np.arange(len(self.features.blocks)), np.diff(self.features.starts))

    def at_points(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The chances of every value at every point."""
        chances = np.asarray(self._x @ weights.astype(self.features.number))
        chances += self.base.astype(self.features.number)
        chances -= chances.max(axis=1, keepdims=True)
        np.exp(chances, out=chances)
        chances /= chances.sum(axis=1, keepdims=True)
        return chances.astype(np.float64)

    def mixed(self, at_points: NDArray[np.float64]) -> NDArray[np.float64]:
        """The chances at every place, by those at points."""
        return at_points if self.mixture is None else np.asarray(self.mixture @ at_points)

    def chances(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The chances of every value at every place."""
        return self.mixed(self.at_points(weights))

    def score(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The log-likelihood of every group."""
        return self.seen.slopes(self.chances(weights))[1]

    def fit(
        self,
        ridges: NDArray[np.float64],
        start: NDArray[np.float64] | None = None,
        *,
        tolerance: float = 0.1,
        most: int = 200,
    ) -> NDArray[np.float64]:
        """The weights that maximise the log-likelihood minus the ridges' part, to within about ``tolerance``."""
        ridge = ridges[self.block_of_level][:, np.newaxis]
        people = self.seen.people_at(self.n_places)
        at_points = people if self.mixture is None else self._mixture_back @ people
        information = _INFORMATION * np.outer(self._x_back @ at_points, np.exp(self.base))
        scale = 1 / np.sqrt(ridge + information)

        def value_and_slope(scaled: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            weights = scaled * scale
            points = self.at_points(weights)
            slopes, logs = self.seen.slopes(self.mixed(points))
            value = float(logs.sum() - 0.5 * (ridge * weights * weights).sum())
            return value, (self._back(slopes, points) - ridge * weights) * scale

        start = np.zeros(self.shape) if start is None else start
        return ascend(value_and_slope, start / scale, tolerance=tolerance, most=most) * scale

    def draws(
        self,
        weights: NDArray[np.float64],
        ridges: NDArray[np.float64],
        n: int,
        random: np.random.Generator,
        *,
        accuracy: float = 0.05,
        most: int = 60,
    ) -> Draws:
        """Draw deviations from the posterior distribution around fitted weights."""
        ridge = ridges[self.block_of_level][:, np.newaxis]
        points = self.at_points(weights)
        chances = self.mixed(points)
        slopes, _ = self.seen.slopes(chances)
        place, code, group = self.seen.place_of_entry, self.seen.code_of_entry, self.seen.group_of_entry
        starts, key = self.seen.starts, place.astype(np.int64) * len(self.base) + code

        def curvature(direction: NDArray[np.float64]) -> NDArray[np.float64]:
            along = np.asarray(self._x @ direction.astype(self.features.number))
            moved = self.mixed(light * (along - np.einsum("pv,pv->p", light, along)[:, np.newaxis]))
            by_group = np.add.reduceat(slopes * moved.reshape(-1)[key], starts)
            return np.asarray(self._back(slopes * by_group[group], light) + ridge * direction)

        surprise = (slopes - 1) * chances.reshape(-1)[key]
        squares = self._by_place(surprise**2)
        squares = squares if self.mixture is None else self._mixture_back @ squares
        conditioner = 1 / (np.asarray(self._x_back @ squares) + ridge + 1e-9)
        light = points.astype(self.features.number)
        found, determined = [], np.zeros(len(ridges))
        for _ in range(n):
            noise = random.standard_normal(self.shape)
            pushed = self._back(slopes * random.standard_normal(self.seen.n_groups)[group], points)
            solution = _conjugate_gradients(
                curvature, pushed + np.sqrt(ridge) * noise, conditioner, accuracy=accuracy, most=most
            )
            found.append(solution)
            left = (noise * (noise - np.sqrt(ridge) * solution)).sum(axis=1)
            determined += np.bincount(self.block_of_level, weights=left, minlength=len(ridges)) / n
        return Draws(np.array(found), determined)

    def _by_place(self, entries: NDArray[np.float64]) -> NDArray[np.float64]:
        n_values = len(self.base)
        key = self.seen.place_of_entry.astype(np.int64) * n_values + self.seen.code_of_entry
        found = np.bincount(key, weights=entries, minlength=self.n_places * n_values)
        return found.reshape(self.n_places, n_values).astype(np.float64, copy=False)

    def _back(self, slopes: NDArray[np.float64], points: NDArray[Any]) -> NDArray[np.float64]:
        """The derivative by the weights, from that by the chances at entries."""
        by_chance = self._by_place(slopes)
        by_chance = by_chance if self.mixture is None else np.asarray(self._mixture_back @ by_chance)
        light, own = points.astype(self.features.number, copy=False), by_chance.astype(self.features.number)
        centred = light * (own - np.einsum("pv,pv->p", light, own)[:, np.newaxis])
        return np.asarray(self._x_back @ centred, np.float64)


def _conjugate_gradients(
    curvature: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    wanted: NDArray[np.float64],
    conditioner: NDArray[np.float64],
    *,
    accuracy: float,
    most: int,
) -> NDArray[np.float64]:
    """Solve ``curvature(x) = wanted`` by conjugate gradients."""
    found = np.zeros_like(wanted)
    rest = wanted.copy()
    step = conditioner * rest
    squared = float((rest * step).sum())
    enough = accuracy**2 * squared
    for _ in range(most):
        bent = curvature(step)
        length = squared / float((step * bent).sum())
        found += length * step
        rest -= length * bent
        next_step = conditioner * rest
        next_squared = float((rest * next_step).sum())
        if next_squared <= enough:
            break
        step = next_step + next_squared / squared * step
        squared = next_squared
    return found
