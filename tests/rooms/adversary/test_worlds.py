# SPDX-License-Identifier: Apache-2.0
"""Counting worlds: no further than the limit that is asked about, and never for long."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.adversary.reverse_engineering.worlds import worlds as module
from glasshouse.adversary.reverse_engineering.worlds.worlds import Worlds


def crowd(n: int, n_values: int, n_more: int, seed: int, **more: Any) -> Worlds:
    """People who may each have their own value, or one of some others."""
    rng = random.Random(seed)
    own = rng.sample([i % n_values for i in range(n)], n)
    may = {row: {value, *rng.sample(range(n_values), n_more)} for row, value in enumerate(own)}
    return Worlds(n_people=n, values={value: own.count(value) for value in range(n_values)}, may=may, **more)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many values were tried so far; a few millions are too many for any test."""
    tried = [0]
    usual = module._without

    def counted(*given: Any) -> Any:
        tried[0] += 1
        assert tried[0] < 3_000_000, "this takes too long"
        return usual(*given)

    monkeypatch.setattr(module, "_without", counted)
    return lambda: tried[0]


def some(seed: int) -> Worlds:
    """Few people, some of whose values are published; one of them may be known to be absent."""
    n = 4 + seed % 4
    everybody = crowd(n, 3, 1, seed)
    counts = {value: max(0, count - 1) for value, count in everybody.least.items()}
    more: dict[str, Any] = {"n": (n - 2, n - 1), "absent": [0]} if seed % 3 == 0 else {"n": n}
    return Worlds(n_people=n, values=counts, may=everybody.may, **more)


@pytest.mark.parametrize("seed", range(20))
def test_a_count_that_goes_no_further_than_a_limit_keeps_it_exactly(seed: int) -> None:
    there = len(list(some(seed)))
    assert there == some(seed).count > 1

    for limit in {0, 1, there // 2, there - 1}:
        with pytest.raises(gh.NotSupported, match=f"more possible tables than the {limit:,} that are allowed"):
            some(seed).check(limit)
    for limit in {there, there + 1, 10 * there}:
        some(seed).check(limit)


def test_of_48_people_with_very_many_worlds_a_few_are_counted(steps: Callable[[], int]) -> None:
    with pytest.raises(gh.NotSupported, match="more possible tables than the 1,000 that are allowed"):
        crowd(48, 10, 3, seed=1).check(1_000)

    assert steps() < 20_000


@pytest.mark.parametrize(("n", "n_values", "n_more"), [(48, 10, 1), (48, 48, 3), (400, 8, 2)])
def test_where_worlds_are_hard_to_find_it_gives_up_after_the_steps_that_it_names(
    n: int, n_values: int, n_more: int, steps: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_STEPS", 50_000)
    for ask in (lambda worlds: worlds.count, lambda worlds: worlds.check(10**9)):
        before = steps()
        with pytest.raises(gh.NotSupported, match="counted in 50,000 steps"):
            ask(crowd(n, n_values, n_more, seed=1))
        assert 0 < steps() - before <= 50_000


def test_what_was_counted_for_a_limit_is_not_counted_again(steps: Callable[[], int]) -> None:
    worlds = crowd(12, 4, 1, seed=2)
    worlds.check(10**9)
    counted = steps()

    assert worlds.count > 0
    assert steps() == counted
