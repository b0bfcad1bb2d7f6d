# SPDX-License-Identifier: Apache-2.0
"""The enumerating twin of the source of randomness: all runs, each with its exact probability."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from glasshouse.randomness import Draws
from tests.twins import enumerating


def test_all_draws_of_the_protocol_can_be_enumerated() -> None:
    def run(draws: Draws) -> tuple[Any, ...]:
        array = np.array([7, 8], np.int64)
        draws.shuffle(array)
        leaf = draws.child("leaf")
        return (*array.tolist(), *draws.belows(2, 1), *draws.belows(np.array([1, 2])), draws.coin(), leaf.below(3))

    probabilities = enumerating.distribution(run)

    assert len(probabilities) == 2 * 2 * 2 * 2 * 3
    assert set(probabilities.values()) == {Fraction(1, 48)}


def test_runs_of_different_length_have_exact_probabilities_that_sum_to_one() -> None:
    def run(draws: Draws) -> int:
        return draws.below(3) if draws.coin() else 10 + draws.below(1)

    assert [(Fraction(1, 2), 10), *[(Fraction(1, 6), i) for i in range(3)]] == enumerating.enumerate_runs(run)
    assert sum(probability for probability, _ in enumerating.enumerate_runs(lambda draws: draws.choose(6, 3))) == 1


def test_a_child_that_is_taken_twice_gives_the_same_choices_in_every_run() -> None:
    def run(draws: Draws) -> tuple[int, ...]:
        first = draws.child("a", 1).below(3)
        between = draws.below(2)
        return first, draws.child("a", 1).below(3), between, draws.child("a", "1").below(1)

    expected = {(i, i, j, 0): Fraction(1, 6) for i in range(3) for j in range(2)}
    assert expected == enumerating.distribution(run)


def test_too_many_runs_are_an_error_that_says_what_to_do() -> None:
    with pytest.raises(enumerating.TooManyRuns, match=r"more than 23 runs.*smaller table"):
        enumerating.enumerate_runs(lambda draws: draws.permutation(4), limit=23)
    assert len(enumerating.enumerate_runs(lambda draws: draws.permutation(4), limit=24)) == 24


def test_a_function_that_has_randomness_of_its_own_is_noticed() -> None:
    calls = itertools.count()

    with pytest.raises(RuntimeError, match="more than draws decides it"):
        enumerating.enumerate_runs(lambda draws: (draws.below(2), draws.below(2 + next(calls))))
    with pytest.raises(RuntimeError, match="not independent"):
        enumerating.enumerate_runs(lambda draws: (draws.child(1).below(2), draws.child(1).below(3)))
