"""Transparency by force, the small tier: the product's methods on every world of some hundred tiny tables."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.prove import ATTACKABLE, DEALT, FEW, RECODINGS, SAFE, VALUES, tally
from tests.rooms.grouping import sift_search
from tests.tiers import tables
from tests.twins import by_force


@pytest.mark.parametrize("name", SAFE)
def test_knowing_the_algorithm_lifts_no_belief_above_one_in_l(name: str) -> None:
    found = tally(name, SAFE[name], by_force.random_cases(1, tables(50, 5), people=(4, 5, 6), **VALUES))

    assert found.n_above == 0
    assert found.n_divided > 0, "a method that never divides proves nothing"


@pytest.mark.parametrize("recode", RECODINGS.values(), ids=RECODINGS)
@pytest.mark.parametrize("name", ["Tailor", "Ace", "Hybrid", "Anatomize"])
def test_people_outside_the_table_do_not_help_the_attacker(name: str, recode: Any) -> None:
    cases = by_force.random_cases(2, tables(20), people=(4, 5), extra=(1, 2), **VALUES)

    assert tally(name, SAFE[name], cases, recode).n_above == 0


@pytest.mark.parametrize("recode", RECODINGS.values(), ids=RECODINGS)
@pytest.mark.parametrize("name", DEALT)
def test_nor_do_they_where_people_are_dealt_in_turn(name: str, recode: Any) -> None:
    cases = by_force.random_cases(2, tables(20), people=(4, 5), extra=(1, 2), ells=(2,), **FEW)

    found = by_force.try_cases(name, partial(sift_search.product, method=DEALT[name]), cases, recode)

    assert found.n_above == 0
    assert found.n_divided > 0


@pytest.mark.parametrize("name", ATTACKABLE)
def test_the_search_finds_a_table_where_an_attackable_method_falls(name: str) -> None:
    cases = by_force.random_cases(3, 200, people=(4, 5, 6), ells=(2,), n_values=(3, 4, 5), max_worlds=400)

    assert tally(name, ATTACKABLE[name], cases, until_above=True).n_above == 1
