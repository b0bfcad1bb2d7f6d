# SPDX-License-Identifier: Apache-2.0
"""Where in their cells a person is, by what the model says of their value: expected numbers and complete tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import glasshouse as gh
from tests.rooms.population.known import people, released
from tests.twins import population as twin


@pytest.fixture(scope="module")
def population() -> gh.Population:
    found = gh.learn(released(people(1500, strength=1.5), gh.Angel(k=4), gh.Mirror()))
    assert found.model == "learned"
    return found


def test_a_person_is_at_the_points_of_their_cells_as_the_twin_says(population: gh.Population) -> None:
    chances, mixture = population.chances(), population.points.mixture
    assert mixture is not None
    for place in range(0, mixture.shape[0], 37):
        own = mixture[place]
        shares = {int(p): Fraction(float(s)) for p, s in zip(own.indices, own.data, strict=True)}
        at = {p: {str(v): Fraction(float(chances[p, v])) for v in range(chances.shape[1])} for p in shares}
        in_cell = twin.chances_in_cell(shares, at)
        assert population.regression.mixed(chances)[place].tolist() == pytest.approx(
            [float(in_cell[str(v)]) for v in range(chances.shape[1])], abs=1e-12
        )
        for value in (0, 3):
            _, points, weights = population._shares(chances, np.array([place]), np.array([value]))
            wanted = twin.point_given_value(shares, at, str(value))
            assert dict(zip(points.tolist(), weights.tolist(), strict=True)) == pytest.approx(
                {point: float(share) for point, share in wanted.items()}, abs=1e-12
            )


def test_complete_tables_are_as_expected_on_average(population: gh.Population) -> None:
    n_values, n = len(population.values), 300
    found = population.expected()
    expected = np.zeros((population.points.n_points, n_values))
    expected[found.point, found.code] = found.amount
    total, random = np.zeros_like(expected), np.random.default_rng(5)
    for _ in range(n):
        drawn = population.drawn(random, population.fitted.weights)
        np.add.at(total, (drawn.point, drawn.code), 1 / n)
    assert total.sum() == pytest.approx(1500)
    assert not total[expected == 0].any()
    # A count of people has at most the variance of a Poisson one.
    assert np.abs(total - expected).max() < 6 * (expected.max() / n) ** 0.5
    assert (np.abs(total - expected) / np.sqrt(np.maximum(expected, 0.05) / n)).mean() < 1


def test_every_complete_table_agrees_with_what_was_published(population: gh.Population) -> None:
    seen = population.seen
    _, _, amount = seen.expected(population.regression.mixed(population.chances()))
    totals = np.bincount(seen.code_of_entry, weights=amount)
    for drawn in population.draws():
        assert np.bincount(drawn.code).tolist() == pytest.approx(totals.tolist(), abs=1e-6)
    assert len({tuple(drawn.code.tolist()) for drawn in population.draws()}) == len(population.draws())
    assert population.draws() is population.draws()
