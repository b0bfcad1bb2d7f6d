# SPDX-License-Identifier: Apache-2.0
"""Theorems M1 and M2 by force: the product on every world of hundreds of tiny tables; and what happens without them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import chain, permutations
from typing import Any

import pytest

import glasshouse as gh
from tests.prove import RECODINGS
from tests.rooms.grouping.mirror_search import (
    COLUMNS,
    CROSSED,
    FAULTS,
    PRINCIPLES,
    ROW,
    Leaf,
    failed_leaves,
    product,
    try_failed_leaves,
    try_shares,
    twin,
    two_columns,
)
from tests.tiers import tables
from tests.twins import by_force, enumerating, greedy, mirror

# --- M1 --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRINCIPLES)
def test_where_leaves_are_groups_beliefs_are_the_published_shares(name: str) -> None:
    principle, _ = PRINCIPLES[name]
    cases = by_force.random_cases(
        11, tables(140, 14), people=(4, 5, 6, 8), ells=(2,), n_values=(2, 3, 4), max_worlds=50
    )
    some = [case for case in cases if 0 in case.values]  # the designated one

    found = try_shares(name, lambda case: product(case, principle, inner="none", floor=1), some)

    assert found.n_unequal == 0
    assert 0 < found.n_divided < found.n_runs, "a method that never divides proves nothing, nor one that always does"


@pytest.mark.parametrize("name", ["t-closeness", "not monotone"])
def test_people_outside_the_table_do_not_change_that(name: str) -> None:
    principle, _ = PRINCIPLES[name]
    cases = by_force.random_cases(
        12, tables(30), people=(4, 5), extra=(1, 2), ells=(2,), n_values=(2, 3), max_worlds=150
    )

    found = try_shares(name, lambda case: product(case, principle, inner="none", floor=1), cases)

    assert found.n_unequal == 0


def test_the_twin_agrees_where_remainders_are_drawn_until_they_work() -> None:
    for name, (_, holds) in PRINCIPLES.items():
        cases = by_force.random_cases(13, tables(40), people=(4, 5, 6, 7, 8), ells=(2,), n_values=(2, 3), max_worlds=36)
        assert try_shares(name, lambda case, holds=holds: twin(case, ell=None, holds=holds), cases).n_unequal == 0


@pytest.mark.parametrize("name", ["l-diversity", "t-closeness", "not monotone"])
def test_weights_that_are_public_change_nothing_of_that(name: str) -> None:
    principle, _ = PRINCIPLES[name]
    cases = by_force.random_cases(22, tables(120), people=(4, 5, 6, 8), ells=(2,), n_values=(2, 3, 4), max_worlds=50)
    several = [case for case in cases if len(case.positions) > 1]

    for weights in ({"q1": 1}, {"q0": 1, "q1": 5}):
        found = try_shares(
            f"{name}, {weights}",
            lambda case, w=weights: product(case, principle, inner="none", floor=1, weights=w),
            several,
        )
        assert found.n_unequal == 0
        assert 0 < found.n_divided < found.n_runs


# --- M2 --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inner", ["ace", "anatomize"])
def test_where_leaves_are_refined_no_belief_is_above_one_in_l(inner: str) -> None:
    cases = by_force.random_cases(14, tables(40), people=(4, 5, 6), ells=(2,), n_values=(3, 4), max_worlds=60)

    found = by_force.try_cases(f"Mirror, {inner}", lambda case: product(case, inner=inner), [ROW, *cases])

    assert found.n_above == 0
    assert found.n_divided > 0


@pytest.mark.parametrize("slack", ["6/5", 2])
def test_nor_where_only_nodes_with_slack_are_tested(slack: Any) -> None:
    cases = by_force.random_cases(14, tables(40), people=(4, 5, 6), ells=(2,), n_values=(3, 4), max_worlds=60)

    found = by_force.try_cases(
        f"Mirror, slack {slack}", lambda case: product(case, inner="anatomize", slack=slack), [ROW, *cases]
    )

    assert found.n_above == 0
    assert found.n_divided > 0


@pytest.mark.parametrize("inner", ["ace", "anatomize"])
def test_nor_where_halvings_follow_public_weights(inner: str) -> None:
    cases = by_force.random_cases(23, tables(80), people=(4, 5, 6), ells=(2,), n_values=(3, 4), max_worlds=60)
    several = [case for case in cases if len(case.positions) > 1]

    found = by_force.try_cases(
        f"Mirror, {inner}, weights", lambda case: product(case, inner=inner, weights={"q1": 1}), [*several]
    )

    assert found.n_above == 0
    assert found.n_divided > 0


@pytest.mark.parametrize("recode", RECODINGS.values(), ids=RECODINGS)
def test_nor_do_people_outside_the_table_help_the_attacker(recode: Any) -> None:
    cases = by_force.random_cases(15, tables(20), people=(4,), extra=(1, 2), ells=(2,), n_values=(3, 4), max_worlds=100)

    assert by_force.try_cases("Mirror, people outside", product, cases, recode).n_above == 0


@pytest.mark.parametrize(
    ("shapes", "n_leaves"), [([(2, 3), (2, 4), (2, 5)], 750), ([(4, 2)], 200), ([(3, 2)], 10)], ids=["2", "4", "3"]
)
def test_the_balanced_groups_of_failed_leaves_give_nobody_away(shapes: Any, n_leaves: int) -> None:
    source = gh.Source.seeded(16)

    assert try_failed_leaves("Mirror", failed_leaves(16, tables(n_leaves), shapes), source) == 1


@pytest.mark.parametrize("leaf", [*failed_leaves(17, 12, [(2, 2), (2, 3), (3, 1)])], ids=repr)
def test_the_product_gives_groups_as_often_as_the_exact_formula_says(leaf: Leaf) -> None:
    chances = enumerating.distribution(lambda draws: frozenset(leaf.refined(draws)))

    for groups, probability in chances.items():
        assert probability == mirror.chance(leaf.values, leaf.halves, set(groups), leaf.ell)


def test_it_does_so_where_the_coin_decides_which_groups_there_can_be() -> None:
    n_decided = 0
    for leaf in failed_leaves(20, 12, [(4, 2)]):
        chances = enumerating.distribution(lambda draws, leaf=leaf: frozenset(leaf.refined(draws)))
        given = {groups: (leaf.values, leaf.halves, set(groups), leaf.ell) for groups in chances}
        assert chances == {groups: mirror.chance(*of) for groups, of in given.items()}
        n_decided += chances != {groups: mirror.chance(*of, fair=False) for groups, of in given.items()}
    assert n_decided > 0, "a coin that fell on one side would not have been noticed"


# --- what the theorems rest on ---------------------------------------------------------------------------------------


def test_halves_that_differ_by_one_are_found_out() -> None:
    cases = by_force.random_cases(18, 100, people=(5, 7), ells=(2,), n_values=(3, 4), max_worlds=250)

    found = try_shares(
        "uneven", lambda case: twin(case, **FAULTS["halves that differ by one"]), cases, until_unequal=True
    )

    assert found.n_unequal > 0


def test_a_second_dimension_after_a_failure_is_found_out() -> None:
    for mirrors in (1, 2, 3):  # in halves of both halves, it is sound
        assert try_shares("sound", lambda case, n=mirrors: twin(case, ell=None, mirrors=n), [CROSSED]).n_unequal == 0
    assert try_shares(
        "faulty", lambda case: twin(case, **FAULTS["a second dimension after a failure"]), [CROSSED]
    ).n_unequal


def test_weights_that_look_at_sensitive_values_are_found_out() -> None:
    # the attribute whose halving gives more groups is given all the weight: who stays whole tells that neither could
    case = replace(CROSSED, values=(0, 0, 0, 1, 1, 1, 2, 2))
    methods = [twin(case, ell=None, weights=weights) for weights in ((1, 0), (0, 1))]

    def looking(codes: by_force.Codes, sensitive: Any, draws: Any) -> by_force.Groups:
        return max(([*method(codes, sensitive, draws)] for method in methods), key=len)

    for method in methods:
        assert try_shares("public", lambda case, method=method: method, [case]).n_unequal == 0
    assert try_shares("looking", lambda case: looking, [case]).n_unequal > 0


def test_a_certificate_that_is_refused_tells_that_it_was() -> None:
    # Eight people; the halves along the second attribute share one or three people with those along the first. After a
    # failure the second attribute is tried, and its halves are published if what is then believed, exactly, is at most
    # 1/2: if not, all eight are one group.
    holds = greedy.frequency_diverse(2)
    halves = [(range(4), range(4, 8)), ((0, 4, 5, 6), (1, 2, 3, 7))]

    def obeys(world: Any, half: int) -> bool:
        return all(holds([world[i] for i in part]) for part in halves[half])

    def shown(world: Any) -> Any:
        return tuple(tuple(sorted(world[i] for i in part)) for part in halves[1])

    tempted: dict[Any, list[Any]] = {}
    for world in set(permutations((0, 0, 0, 1, 1, 1, 2, 3))):
        if not obeys(world, 0) and obeys(world, 1):
            tempted.setdefault(shown(world), []).append((dict(enumerate(world)), Fraction(1)))
    certified = {
        histograms
        for histograms, worlds in tempted.items()
        if max(by_force.beliefs_after(worlds).values()) <= Fraction(1, 2)
    }
    assert 0 < len(certified) < len(tempted)

    def run(codes: by_force.Codes, sensitive: Any, draws: Any) -> by_force.Groups:
        if obeys(sensitive, 0):
            return [frozenset(part) for part in halves[0]]
        certain = obeys(sensitive, 1) and shown(sensitive) in certified
        return [frozenset(part) for part in halves[1]] if certain else [frozenset(range(8))]

    case = by_force.Case(tuple((i,) for i in range(8)), (tuple(range(8)),), (0, 0, 0, 1, 1, 1, 2, 3), 2)
    evidence = by_force.evidence_of(run, case.codes, by_force.worlds_of(case))
    whole = next(weights for release, weights in evidence.releases.items() if len(release) == 1)
    assert max(by_force.beliefs_after(whole).values()) == Fraction(9, 23)  # and 3 of 8 have the value


@pytest.mark.parametrize("fault", ["groups that are not balanced", "dealing by row order"])
def test_so_are(fault: str) -> None:
    assert by_force.worst_belief(twin(ROW, inner="anatomize"), ROW).belief == Fraction(1, 2)
    assert by_force.worst_belief(twin(ROW, **FAULTS[fault]), ROW).belief > Fraction(1, 2)


def test_so_is_slack_that_is_judged_of_a_half() -> None:
    cases = by_force.random_cases(21, 60, people=(6, 8), ells=(2,), n_values=(3, 4), max_worlds=120)
    fault = FAULTS["slack that is judged of a half"]

    assert by_force.try_cases("faulty", lambda case: twin(case, **fault), cases, until_above=True).n_above > 0


def test_so_is_a_coin_that_always_falls_on_one_side() -> None:
    leaves = [*failed_leaves(19, 20, [(4, 2), (2, 5)])]

    assert try_failed_leaves("fair", leaves, gh.Source.seeded(19)) == 1
    assert max(leaf.worst(leaf.refined(_OneSided(leaf)), fair=False) for leaf in leaves) > 1


class _OneSided:
    """Draws of a source, except that every coin says 1."""

    def __init__(self, leaf: Leaf) -> None:
        self.source = gh.Source.seeded(len(leaf.values))

    def child(self, *labels: Any) -> Any:
        self.source = self.source.child(*labels)
        return self

    def belows(self, bounds: Any, size: int) -> Any:
        return self.source.belows(1, size) + 1

    def shuffle_runs(self, array: Any, offsets: Any) -> None:
        self.source.shuffle_runs(array, offsets)


@pytest.mark.parametrize("name", COLUMNS)
def test_of_two_columns_vectors_are_believed_with_their_shares(name: str) -> None:
    asked, holds = COLUMNS[name]
    few: dict[str, Any] = {"ells": (2,), "n_values": (3, 4), "max_worlds": 30}
    cases = [
        *by_force.random_cases(7, tables(40), people=(4, 5, 6), **few),
        *by_force.random_cases(8, 2, people=(4,), extra=(1,), **few),
    ]
    found = try_shares(name, lambda case: two_columns(case, asked, floor=1), cases)
    assert found.n_unequal == 0
    assert found.n_divided
    slow = try_shares(name, lambda case: twin(case, ell=None, holds=holds), cases[:4])
    assert slow.n_unequal == 0


@pytest.mark.parametrize("name", ["l-diversity of two columns", "a rule that is not monotone beside entropy"])
def test_of_two_columns_what_breaks_the_theorem_is_found(name: str) -> None:
    _, holds = COLUMNS[name]
    fault = FAULTS["halves that differ by one"]
    drawn = by_force.random_cases(404, 60, people=(5, 6, 7), ells=(2,), n_values=(3, 4), max_worlds=250)
    cases = chain([ROW, CROSSED], drawn)
    assert try_shares(name, lambda case: twin(case, holds=holds, **fault), cases, until_unequal=True).n_unequal
