# SPDX-License-Identifier: Apache-2.0
"""How values are dealt to people: expected numbers, probabilities and random deals against the slow twin."""

from __future__ import annotations

from collections import Counter
from math import factorial, log, prod

import numpy as np
import pytest

from glasshouse.population import deals as module
from glasshouse.population.deals import Deals
from tests.rooms.grouping.doors import run_interpreted
from tests.rooms.population.doors import Tiny
from tests.tiers import tables
from tests.twins import population as twin

DEALS = "glasshouse.population.deals"


def by_twin(tiny: Tiny, deals: Deals) -> tuple[list[float], list[float]]:
    """What `Deals.expected` should give: by entry, and by group up to the number of orders of equal values."""
    expected = np.zeros(int(deals.entries[-1]))
    logs = []
    for g, (places, values) in enumerate(tiny.groups):
        people, words = [tiny.fractions(place) for place in places], [str(value) for value in values]
        found = twin.marginals(people, words)
        orders = prod(factorial(n) for n in Counter(values).values())
        logs.append(log(twin.probability(people, words) * orders))
        for entry in range(int(deals.entries[g]), int(deals.entries[g + 1])):
            value = str(int(deals.code_of_entry[entry]))
            here = [i for i, place in enumerate(places) if place == deals.place_of_entry[entry]]
            expected[entry] = float(sum(found[i][value] for i in here))
    return expected.tolist(), logs


def slot_logs(tiny: Tiny) -> list[float]:
    """What the logarithm of a probability leaves out: in how many orders a state is reached by equal slots."""
    return [sum(log(factorial(n)) for n in Counter(values).values()) for _, values in tiny.groups]


@pytest.mark.parametrize("seed", range(tables(40)))
def test_expected_numbers_and_probabilities_are_the_twins(seed: int) -> None:
    tiny = Tiny.random(seed, n_groups=25, most=6)
    expected, logs = tiny.deals.expected(tiny.chances)
    wanted, wanted_logs = by_twin(tiny, tiny.deals)

    assert expected == pytest.approx(wanted, abs=1e-10)
    # Up to a constant of each group: other chances move both by the same.
    other = Tiny(tiny.groups, np.roll(tiny.parts, 1, axis=1))
    moved = np.array(other.deals.expected(other.chances)[1]) - logs
    assert moved.tolist() == pytest.approx((np.array(by_twin(other, other.deals)[1]) - wanted_logs).tolist(), abs=1e-9)


def test_the_logarithm_is_that_of_the_probability_itself_where_people_differ() -> None:
    tiny = Tiny(
        [([0, 1, 2], [0, 1, 1]), ([3, 1], [2, 3]), ([0, 1, 2, 3, 4], [0, 0, 1, 1, 3])],
        Tiny.random(1, n_groups=1, most=2).parts,
    )
    wanted = np.array(by_twin(tiny, tiny.deals)[1]) - slot_logs(tiny)
    assert tiny.deals.expected(tiny.chances)[1].tolist() == pytest.approx(wanted.tolist(), abs=1e-10)


@pytest.mark.parametrize("seed", range(tables(30)))
def test_every_group_is_gone_through_alike_wherever_it_stands(seed: int) -> None:
    """Eight groups of a kind are done side by side, and the last ones are fewer."""
    tiny = Tiny.random(seed, n_groups=3, most=4)
    repeated = Tiny(tiny.groups * 7, tiny.parts)
    expected, logs = repeated.deals.expected(tiny.chances)
    alone, alone_logs = tiny.deals.expected(tiny.chances)
    assert expected.tolist() == pytest.approx(np.tile(alone, 7).tolist(), abs=1e-12)
    assert logs.tolist() == pytest.approx(np.tile(alone_logs, 7).tolist(), abs=1e-12)
    some = repeated.deals.some(np.array([20, 1, 4]))
    parts = [alone[tiny.deals.entries[g] : tiny.deals.entries[g + 1]] for g in (2, 1, 1)]
    assert some.expected(tiny.chances)[0].tolist() == pytest.approx(np.concatenate(parts).tolist(), abs=1e-12)


def deal_frequencies(deals: Deals, tiny: Tiny, n: int) -> Counter[tuple[int, ...]]:
    """How often the people of the only group get each deal: the group is there ``n`` times."""
    drawn = deals.draw(tiny.chances, np.random.default_rng(3)).reshape(n, -1)
    return Counter(map(tuple, drawn.tolist()))


def compare(found: Counter[tuple[int, ...]], tiny: Tiny, n: int) -> None:
    places, values = tiny.groups[0]
    wanted = twin.distribution([tiny.fractions(place) for place in sorted(places)], [str(v) for v in values])
    assert set(found) <= {tuple(map(int, deal)) for deal in wanted}
    for deal, chance in wanted.items():
        error = (float(chance) * (1 - float(chance)) / n) ** 0.5
        assert abs(found[tuple(map(int, deal))] / n - float(chance)) < 5 * error + 1e-9, deal


@pytest.mark.parametrize("seed", range(tables(40)))
def test_random_deals_are_as_frequent_as_the_twin_says(seed: int) -> None:
    tiny, n = Tiny.random(seed, n_groups=1, most=5), 4000
    compare(deal_frequencies(Tiny(tiny.groups * n, tiny.parts).deals, tiny, n), tiny, n)


@pytest.mark.parametrize("seed", range(tables(30)))
def test_exchanges_draw_deals_as_frequently(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_STATES", 0.5)
    tiny, n = Tiny.random(seed, n_groups=1, most=5), 3000
    deals = Tiny(tiny.groups * n, tiny.parts).deals
    assert len(deals._large) == n
    compare(deal_frequencies(deals, tiny, n), tiny, n)


def test_a_draw_depends_on_its_random_numbers_alone() -> None:
    tiny = Tiny.random(5, n_groups=60, most=6)
    one, same, other = (tiny.deals.draw(tiny.chances, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one.tolist() == same.tolist()
    assert one.tolist() != other.tolist()


@pytest.mark.parametrize("seed", range(tables(30)))
def test_kernels_are_the_same_interpreted(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = Tiny.random(100 + seed, n_groups=20, most=5)

    def everything() -> list[list[float]]:
        found = []
        for states in (4096, 6):
            monkeypatch.setattr(module, "MOST_STATES", states)
            found += [part.tolist() for part in tiny.deals.expected(tiny.chances)]
            found.append(tiny.deals.draw(tiny.chances, np.random.default_rng(1)).tolist())
        return found

    fast = everything()
    with run_interpreted(DEALS):
        slow = everything()
    for one, other in zip(fast, slow, strict=True):
        assert one == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize("seed", range(tables(30)))
def test_scaling_adds_up_and_is_near_the_twin(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sinkhorn is exact where people are alike, adds up always, and is close in groups of up to eight."""
    tiny = Tiny.random(200 + seed, n_groups=8, most=8)
    monkeypatch.setattr(module, "MOST_STATES", 0.5)
    deals = tiny.deals
    assert len(deals._large) == deals.n_groups
    expected, _ = deals.expected(tiny.chances)
    wanted, _ = by_twin(tiny, deals)

    seats = np.bincount(deals.seat_of_entry, weights=expected)
    assert seats.tolist() == pytest.approx(deals.people.tolist(), abs=1e-6)
    key = deals.group_of_entry * 10 + deals.code_of_entry
    own = np.repeat(np.arange(deals.n_groups), np.diff(deals.offsets)) * 10 + deals.codes
    found = np.bincount(key, weights=expected)[own]
    assert found.tolist() == pytest.approx(deals.counts.tolist(), rel=1e-6)
    # Scaling is less sure than it could be (of two people the odds are the square root), most in the smallest groups.
    people = deals.people[deals.seat_of_entry]
    even, _ = deals.expected(np.full_like(tiny.chances, 0.25))
    error = np.abs(expected - wanted) / people
    assert error.max() < 0.2
    assert error.mean() < 0.05
    assert error.mean() < 0.3 * (np.abs(even - wanted) / people).mean()


def test_the_slope_of_scaling_is_that_of_its_logarithm(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = Tiny.random(7, n_groups=4, most=8)
    monkeypatch.setattr(module, "MOST_STATES", 0.5)
    chances, deals = tiny.chances, tiny.deals
    expected, _ = deals.expected(chances)
    for entry in range(0, len(expected), 5):
        place, code, step = deals.place_of_entry[entry], deals.code_of_entry[entry], 1e-6
        logs = []
        for sign in (-1, 1):
            moved = chances.copy()
            moved[place, code] *= np.exp(sign * step)
            logs.append(deals.expected(moved)[1][deals.group_of_entry[entry]])
        assert (logs[1] - logs[0]) / (2 * step) == pytest.approx(expected[entry], abs=1e-5)


def test_people_who_are_alike_have_exact_logarithms_by_scaling() -> None:
    """Up to a constant: a group of one kind of people is scaled, whatever its size."""
    parts = Tiny.random(3, n_groups=1, most=2).parts
    tiny = Tiny([([2] * 5, [0, 0, 1, 3, 3])], parts)
    other = Tiny(tiny.groups, np.roll(parts, 2, axis=1))
    moved = other.deals.expected(other.chances)[1] - tiny.deals.expected(tiny.chances)[1]
    wanted = by_twin(other, other.deals)[1][0] - by_twin(tiny, tiny.deals)[1][0]
    assert moved.tolist() == pytest.approx([wanted], abs=1e-8)


def test_a_group_with_too_many_states_is_near_what_all_states_give(monkeypatch: pytest.MonkeyPatch) -> None:
    n, copies = 13, 1500
    parts = np.random.default_rng(11).integers(1, 30, (n, n))
    tiny = Tiny([(list(range(n)), list(range(n)))], parts)
    assert len(tiny.deals._large) == 1
    scaled, _ = tiny.deals.expected(tiny.chances)
    drawn = Tiny(tiny.groups * copies, parts).deals.draw(tiny.chances, np.random.default_rng(2)).reshape(copies, n)
    monkeypatch.setattr(module, "MOST_STATES", 1 << n)
    exact, _ = tiny.deals.expected(tiny.chances)

    assert exact.reshape(n, n).sum(axis=0).tolist() == pytest.approx([1.0] * n, abs=1e-9)
    assert np.abs(scaled - exact).max() < 0.04
    found = np.stack([np.bincount(drawn[:, i], minlength=n) / copies for i in range(n)])
    assert np.abs(found.reshape(-1) - exact).max() < 5 * (0.25 / copies) ** 0.5
    assert np.abs(found.reshape(-1) - exact).mean() < 1.5 * np.sqrt(exact * (1 - exact) / copies).mean()
