# SPDX-License-Identifier: Apache-2.0
"""Slopes, fits and posterior draws of the model, where all of it can be worked out in full."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from glasshouse.population.ascent import ascend
from glasshouse.population.features import Attribute, Features
from glasshouse.population.observations import Grouped, Shown
from glasshouse.population.regression import Regression
from tests.rooms.population.doors import Tiny
from tests.twins import population as twin

KINDS = ("exact", "mixture", "perturbed", "perturbed mixture")
N_VALUES = 3


def regression(kind: str, seed: int = 0) -> Regression:
    """Six points of two attributes; the places are the points, or four cells that stand for two or three of them."""
    rng = np.random.default_rng(seed)
    codes = [np.array([0, 0, 0, 1, 1, 1], np.int32), np.array([0, 1, 2, 0, 1, 2], np.int32)]
    attributes = [Attribute("a", codes[0], ordered=False), Attribute("b", codes[1], ordered=True)]
    features = Features.of(attributes, np.ones(6)).combined(attributes, np.ones(6), np.ones(2), order=2, most=9)
    features = replace(features, number=np.float64)  # differences of single precision would be noise
    mixture, n_places = None, 6
    if kind.endswith("mixture"):
        shares = rng.random((4, 6)) * (rng.random((4, 6)) < 0.5) + 0.1 * np.eye(4, 6)
        mixture, n_places = sp.csr_matrix(shares / shares.sum(axis=1, keepdims=True)), 4
    base = np.log(np.array([0.5, 0.3, 0.2]))
    if kind.startswith("perturbed"):
        place, code = rng.integers(0, n_places, 15), rng.integers(0, N_VALUES, 15)
        seen: Any = Shown(place.astype(np.int32), code.astype(np.int32), rng.integers(1, 4, 15), 0.6)
    else:
        seen = Grouped(Tiny.random(seed, n_groups=12, most=5, n_values=N_VALUES, n_places=n_places).deals)
    return Regression(features, mixture, base, seen)


def slope(model: Regression, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return model._back(model.seen.slopes(model.chances(weights))[0], model.at_points(weights))


def scores(model: Regression, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The derivative of every group's log-likelihood, by finite differences: groups x weights."""
    found = []
    for k in range(weights.size):
        move = np.zeros(weights.size)
        move[k] = 1e-5
        ends = [model.score(weights + sign * move.reshape(weights.shape)) for sign in (1, -1)]
        found.append((ends[0] - ends[1]) / 2e-5)
    return np.array(found).T


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_slopes_are_finite_differences(kind: str, seed: int) -> None:
    model = regression(kind, seed)
    weights = np.random.default_rng(9).normal(0, 0.7, model.shape)
    wanted = scores(model, weights).sum(axis=0)
    assert slope(model, weights).reshape(-1).tolist() == pytest.approx(wanted.tolist(), abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_is_the_top(kind: str) -> None:
    model = regression(kind)
    ridges = np.array([0.3, 1.0, 2.0, 4.0])[: len(model.features.blocks)]
    ridge = ridges[model.block_of_level][:, np.newaxis]
    weights = model.fit(ridges, tolerance=1e-12)

    def value(own: NDArray[np.float64]) -> float:
        return float(model.score(own).sum() - 0.5 * (ridge * own**2).sum())

    assert np.abs(slope(model, weights) - ridge * weights).max() < 1e-4
    rng = np.random.default_rng(2)
    assert all(value(weights) >= value(weights + rng.normal(0, 0.05, weights.shape)) for _ in range(50))
    assert value(weights) > value(np.zeros(model.shape)) + 0.1


class Units:
    """In place of random numbers, an identity matrix: the draws are then the columns of the map that makes them."""

    def __init__(self, n: int) -> None:
        self._left = np.eye(n).reshape(-1)

    def standard_normal(self, size: Any) -> NDArray[np.float64]:
        n = int(np.prod(size))
        taken, self._left = self._left[:n], self._left[n:]
        return taken.reshape(size)


@pytest.mark.parametrize("kind", KINDS)
def test_draws_have_the_covariance_of_the_posterior_distribution(kind: str) -> None:
    model = regression(kind)
    ridges = np.array([0.3, 1.0, 2.0, 4.0])[: len(model.features.blocks)]
    weights = model.fit(ridges)
    own = scores(model, weights)
    diagonal = np.repeat(ridges[model.block_of_level], N_VALUES)
    covariance = np.linalg.inv(own.T @ own + np.diag(diagonal))

    n = weights.size + model.seen.n_groups
    random: Any = Units(n)
    draws = model.draws(weights, ridges, n, random, accuracy=1e-12, most=1000)

    columns = draws.deviations.reshape(n, -1)
    assert np.abs(columns.T @ columns - covariance).max() < 1e-5
    free = 1 - diagonal * np.diag(covariance)
    wanted = np.bincount(np.repeat(model.block_of_level, N_VALUES), weights=free)
    assert (draws.determined * n).tolist() == pytest.approx(wanted.tolist(), abs=1e-5)


def test_few_steps_are_nearly_as_good() -> None:
    model = regression("exact")
    ridges = np.ones(len(model.features.blocks))
    weights = model.fit(ridges)
    rough, fine = (
        model.draws(weights, ridges, 5, np.random.default_rng(1), accuracy=accuracy, most=500).deviations
        for accuracy in (0.05, 1e-10)
    )
    assert np.abs(rough - fine).max() < 0.1 * np.abs(fine).max()


def test_shown_values_are_weighed_as_the_twin_says() -> None:
    tiny = Tiny.random(4, n_groups=1, most=2, n_values=4, n_places=3)
    place, code, size = np.array([0, 1, 1, 2]), np.array([3, 0, 2, 1]), np.array([1, 3, 2, 1])
    seen, values = Shown(place.astype(np.int32), code.astype(np.int32), size, 0.25), ["0", "1", "2", "3"]
    wanted = np.zeros((3, 4))
    logs = []
    for p, c, n in zip(place.tolist(), code.tolist(), size.tolist(), strict=True):
        chances = tiny.fractions(p)
        known = twin.truth_given_shown(chances, str(c), Fraction(1, 4), values)
        wanted[p] += [float(known[v] + (n - 1) * chances[v]) for v in values]
        logs.append(float(np.log(float(twin.chances_shown(chances, Fraction(1, 4), values)[str(c)]))))

    found = np.zeros((3, 4))
    where, what, amount = seen.expected(tiny.chances)
    found[where, what] = amount
    assert found.reshape(-1).tolist() == pytest.approx(wanted.reshape(-1).tolist(), abs=1e-12)
    assert seen.slopes(tiny.chances)[1].tolist() == pytest.approx(logs, abs=1e-12)

    n = 4000
    total = np.zeros((3, 4))
    random = np.random.default_rng(8)
    for _ in range(n):
        at, drawn = seen.draw(tiny.chances, random)
        np.add.at(total, (at, drawn), 1 / n)
    assert np.abs(total - wanted).max() < 5 * (3 / n) ** 0.5


def test_ascent_finds_the_top_of_a_narrow_ridge() -> None:
    def function(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:  # Rosenbrock's, upside down
        a, b = 1 - x[0], x[1] - x[0] ** 2
        return -float(a**2 + 100 * b**2), np.array([2 * a + 400 * x[0] * b, -200 * b])

    top = ascend(function, np.array([-1.2, 1.0]), tolerance=1e-14, most=300)
    assert top.tolist() == pytest.approx([1, 1], abs=1e-5)
    stays = ascend(function, np.array([1.0, 1.0]), tolerance=1e-9, most=10)
    assert stays.tolist() == [1, 1]


def test_ascent_never_goes_down() -> None:
    rng = np.random.default_rng(1)
    spread = rng.normal(0, 1, (8, 8))
    curved = spread @ spread.T + 0.01 * np.eye(8)
    seen: list[float] = []

    def function(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        return float(-0.5 * x @ curved @ x + x.sum()), 1 - curved @ x

    last = -np.inf
    for most in range(1, 40):
        at = ascend(function, np.zeros(8), tolerance=0.0, most=most)
        assert function(at)[0] >= last - 1e-12
        last = function(at)[0]
        seen.append(last)
    assert seen[-1] == pytest.approx(float(0.5 * np.linalg.inv(curved).sum()), rel=1e-6)
