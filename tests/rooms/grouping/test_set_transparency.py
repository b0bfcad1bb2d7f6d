# SPDX-License-Identifier: Apache-2.0
"""Where values are sets, nobody is believed to have one above 1/l: by force, on every world and every coin."""

from __future__ import annotations

from fractions import Fraction

import pytest

import glasshouse as gh
from tests.rooms.grouping.set_search import SetCase, product, set_cases, slow, try_sets, whole_sets
from tests.tiers import tables
from tests.twins import by_force
from tests.twins.member_sets import member_beliefs

FLU, GOUT, ULCER = 0, 1, 2


@pytest.mark.parametrize("floor", [1, 2])
def test_the_product_lets_nobody_believe_a_value_above_its_share_of_people(floor: int) -> None:
    cases = set_cases(61, tables(500), people=(4, 5, 6), ells=(2,), n_values=(3, 4, 5, 6), max_worlds=25)

    found = try_sets("Mirror, sets", lambda one: product(one, floor=floor), cases)

    assert (found.n_unequal, found.n_above) == (0, 0)
    assert 0 < found.n_divided < found.n_runs, "a method that never divides proves nothing, nor one that always does"


def test_people_outside_the_table_do_not_change_that() -> None:
    cases = set_cases(62, tables(100), people=(4,), extra=(1,), ells=(2,), n_values=(3, 4), max_worlds=60)

    assert try_sets("Mirror, sets, people outside", lambda one: product(one, floor=1), cases).n_above == 0


def test_the_twin_agrees_with_more_people_and_larger_l() -> None:
    cases = set_cases(63, tables(6000), people=(4, 5, 6, 8), ells=(2, 3), n_values=(4, 5, 6), max_worlds=60)

    found = try_sets("Mirror's twin, sets", lambda one: slow(one, floor=1), cases)

    assert (found.n_unequal, found.n_above) == (0, 0)
    assert found.n_divided > 0


def test_a_share_of_people_is_kept_too() -> None:
    cases = set_cases(64, tables(150), people=(4, 5, 6), ells=(2,), n_values=(3, 4, 5), max_worlds=25)
    principle = gh.AlphaKAnonymity(alpha="1/2", k=2)

    assert try_sets("Mirror, (alpha, k)", lambda one: product(one, principle, floor=1), cases).n_above == 0


# --- without it -------------------------------------------------------------------------------------------------------


def test_sets_that_differ_as_a_whole_leave_a_value_certain() -> None:
    """Two people with {flu, gout} and {flu, ulcer} are 2-diverse as sets, and both have the flu."""
    people = by_force.Case(((0,), (1,)), ((0, 1),), (0, 1), 2)
    pair = SetCase(people, [frozenset({FLU, GOUT}), frozenset({FLU, ULCER})])

    (weights,) = by_force.evidence_of(
        whole_sets(pair, floor=2), people.codes, by_force.worlds_of(people)
    ).releases.values()
    believed = member_beliefs(by_force.beliefs_after(weights), pair.sets)

    assert believed[0, FLU] == believed[1, FLU] == 1
    assert believed[0, GOUT] == Fraction(1, 2)
    table = gh.read(
        {"id": [0, 0, 1, 1], "q": [0, 0, 1, 1], "s": ["s0", "s1", "s0", "s2"]},
        identifier="id",
        repeated="together",
        quasi=["q"],
        sensitive="s",
    )
    with pytest.raises(gh.Infeasible, match="'s0' has 2 of 2 records"):
        gh.publish(table, principle="2-diversity")


def test_the_search_finds_it_out() -> None:
    cases = set_cases(65, 200, people=(4, 5, 6), ells=(2,), n_values=(3, 4, 5, 6), max_worlds=25)

    assert try_sets("whole sets", lambda one: whole_sets(one, floor=1), cases, until_above=True).n_above > 0
