# SPDX-License-Identifier: Apache-2.0
"""How the people of a cell are distributed over its values: the two parts of the rule, and the estimate behind it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from glasshouse.errors import InputError
from glasshouse.population import cell_shares
from glasshouse.population.cell_shares import CellShares, domain_of
from glasshouse.population.points import Points
from glasshouse.supports.proportions import Places
from glasshouse.supports.supports import Endless, Listed, OrMissing, Span, Support
from glasshouse.supports.value_sets import ValueSet
from tests.twins import population as twin

DOMAIN = (30, 31, 32, 33, 34, None)
SUPPORTS: tuple[Support, ...] = (
    Span(30, 34, "integer"),
    Span(31, 33, "integer"),
    Listed((32,)),
    OrMissing(Span(33, 34, "integer")),
    Listed((30, 33)),
)
INSIDE: list[list[Any]] = [[30, 31, 32, 33, 34], [31, 32, 33], [32], [33, 34, None], [30, 33]]
ATTAINED: list[list[Any]] = [[30, 34], [31, 33], [32], [33, 34, None], [30, 33]]
# Places of the release: which cell each shows, and how many people it has.
CELLS, PEOPLE = [0, 1, 0, 2, 3, 4, 1, 3], [5, 2, 3, 4, 3, 6, 7, 9]


def shares(*, attained: bool) -> CellShares:
    return CellShares.of(
        SUPPORTS,
        Places(DOMAIN, "integer"),
        len(DOMAIN),
        attained=attained,
        mixed=False,
        disjoint=True,
        cells=np.array(CELLS),
        people=np.array(PEOPLE),
    )


def of_twin(*, attained: bool) -> list[tuple[int, list[Any], list[Any]]]:
    return [(n, INSIDE[c], ATTAINED[c] if attained else []) for c, n in zip(CELLS, PEOPLE, strict=True)]


@pytest.mark.parametrize("attained", [True, False])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_the_marginal_is_the_twins_after_every_round(
    attained: bool, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cell_shares, "_ROUNDS", rounds)
    wanted: dict[Any, Fraction] = dict.fromkeys(DOMAIN, Fraction(1, len(DOMAIN)))
    for _ in range(rounds):
        wanted = twin.reestimated(of_twin(attained=attained), wanted)
    found = shares(attained=attained).shares
    assert found.tolist() == pytest.approx([float(wanted[value]) for value in DOMAIN], abs=1e-12)


@pytest.mark.parametrize("attained", [True, False])
def test_people_in_a_cell_are_as_the_twin_says(attained: bool) -> None:
    known = shares(attained=attained)
    marginal = {value: Fraction(share) for value, share in zip(DOMAIN, known.shares.tolist(), strict=True)}
    n = 3000
    for cell, inside in enumerate(INSIDE):
        people = 7
        at = (np.arange(n) + 0.5) / n
        drawn = known.quantiles(np.full(n, cell), np.full(n, people), at)
        found = np.bincount(drawn, minlength=len(DOMAIN)) / n
        wanted = twin.shares_in_cell(people, inside, ATTAINED[cell] if attained else [], marginal)
        assert found.tolist() == pytest.approx([float(wanted.get(value, 0)) for value in DOMAIN], abs=2 / n + 1e-9)


def test_where_people_are_fewer_than_ends_every_end_is_as_likely() -> None:
    """That is no smallest box, but a release may say anything."""
    at = (np.arange(900) + 0.5) / 900
    drawn = shares(attained=True).quantiles(np.full(900, 3), np.full(900, 2), at)
    assert np.bincount(drawn, minlength=6).tolist() == pytest.approx([0, 0, 0, 300, 300, 300], abs=2)


def test_cells_that_nobody_would_be_in_have_their_values_evenly() -> None:
    known = shares(attained=False)
    none = CellShares(known.proportions, known.sure, known.first_sure, np.array([1.0, 0, 0, 0, 0, 0]), np.zeros((0, 6)))
    drawn = none.quantiles(np.full(600, 1), np.full(600, 6), (np.arange(600) + 0.5) / 600)
    assert np.bincount(drawn, minlength=6).tolist() == pytest.approx([0, 200, 200, 200, 0, 0], abs=2)


def test_the_domain_is_what_cells_stand_for() -> None:
    assert domain_of("age", "integer", SUPPORTS) == DOMAIN
    assert domain_of("sex", "category", (Listed(("M", "F")), Listed((None,)))) == ("F", "M", None)
    wide = domain_of("income", "integer", (Span(0, 100_000, "integer"), Span(40_000, 40_002, "integer")))
    assert (
        wide == (0, 10_000, 20_000, 30_000, 40_000, 40_001, 40_002, 54_999, 69_998, 84_997, 100_000) or len(wide) < 12
    )
    assert {0, 40_000, 40_002, 100_000} <= set(wide)
    assert list(wide) == sorted(wide)
    with pytest.raises(InputError, match="'name' has cells that are open at one end"):
        domain_of("name", "category", (Endless(ValueSet.everything()),))


def test_cells_that_overlap_do_not_draw_everybody_into_what_they_share() -> None:
    """The most likely marginal of {D, E} and {E, F} has everybody at E, which no cell says."""
    supports = (Listed(("D", "E")), Listed(("E", "F")))
    known = CellShares.of(
        supports,
        Places(("D", "E", "F"), "category"),
        3,
        attained=True,
        mixed=False,
        disjoint=True,
        cells=np.array([0, 1]),
        people=np.array([1000, 1000]),
    )
    assert known.shares[0] > 0.05
    assert known.shares[2] > 0.05


def of_groups(chances: list[float], *, disjoint: bool, seed: int = 1) -> CellShares:
    """Cells that list what groups of five people have, who are neighbours in an order of their values."""
    rng = np.random.default_rng(seed)
    values = "ABCDEF"
    groups = np.concatenate([np.sort(rng.choice(6, 60, p=chances)).reshape(-1, 5) for _ in range(80)])
    sets = sorted({tuple(values[i] for i in sorted(set(group))) for group in groups.tolist()})
    cells = [sets.index(tuple(values[i] for i in sorted(set(group)))) for group in groups.tolist()]
    return CellShares.of(
        [Listed(own) for own in sets],
        Places(tuple(values), "category"),
        6,
        attained=True,
        mixed=False,
        disjoint=disjoint,
        cells=np.array(cells),
        people=np.full(len(cells), 5),
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_shares_that_differ_only_by_how_groups_were_cut_are_drawn_together(seed: int) -> None:
    spread = [float(np.std(np.log(of_groups([1 / 6] * 6, disjoint=own, seed=seed).shares))) for own in (False, True)]
    assert spread[0] < spread[1]
    skewed = [0.4, 0.25, 0.15, 0.1, 0.06, 0.04]
    found = of_groups(skewed, disjoint=False, seed=seed).shares
    assert (found / found.sum()).tolist() == pytest.approx(skewed, abs=0.05)


def test_the_deviations_are_at_least_as_large_as_estimates_from_other_groups_differ() -> None:
    chances = [0.4, 0.25, 0.15, 0.1, 0.06, 0.04]
    all_of_them = [of_groups(chances, disjoint=True, seed=seed) for seed in range(20)]
    seen = np.std([np.log(own.shares) for own in all_of_them], axis=0)
    said = np.sqrt(np.mean([(own.deviations**2).sum(axis=0) for own in all_of_them], axis=0))
    assert ((said > seen) & (said < 4 * seen)).all()


@pytest.mark.parametrize("seed", range(20))
def test_no_share_is_negative(seed: int) -> None:
    """Sums of what cells add and take away again are off by rounding, also below 0."""
    rng = np.random.default_rng(seed)
    lows = rng.integers(0, 150, 40)
    widths = rng.integers(1, 40, 40)
    spans = [Span(int(low), int(low + width), "integer") for low, width in zip(lows, widths, strict=True)]
    spans.append(Span(199, 199, "integer"))  # between 190 and it, there is nobody
    known = CellShares.of(
        spans,
        Places(tuple(range(200)), "integer"),
        200,
        attained=True,
        mixed=False,
        disjoint=False,
        cells=rng.integers(0, 41, 300),
        people=rng.integers(2, 9, 300),
    )
    assert (known.shares >= 0).all()
    assert np.isfinite(known.deviations).all()


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_points_are_tilted_by_the_deviations_of_their_values(scale: float) -> None:
    """The logarithm at a point has the sum of what its values deviate, which is independent in every column."""
    first, second = np.array([[0.3, 0.0, -0.3]]), np.array([[0.2, 0.0], [0.0, 0.4]])
    codes = np.array([[0, 1, 2, 0, 1], [0, 0, 0, 1, 1]], np.int32)
    points = Points(("a", "b"), ((1, 2, 3), (1, 2)), (True, True), codes, None, np.arange(5), (first, second))
    random = np.random.default_rng(1)
    logs = np.log([points.tilted(random, scale) for _ in range(4_000)])

    expected = np.array([0.3**2 + 0.2**2, 0.2**2, 0.3**2 + 0.2**2, 0.3**2 + 0.4**2, 0.4**2])
    assert logs.mean(axis=0) == pytest.approx(np.zeros(5), abs=0.04)
    assert logs.var(axis=0) == pytest.approx(scale**2 * expected, rel=0.1)
    together = np.cov(logs[:, 0], logs[:, 2])[0, 1]
    assert together == pytest.approx(scale**2 * (0.2**2 - 0.3**2), rel=0.2)
