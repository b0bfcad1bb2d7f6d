# SPDX-License-Identifier: Apache-2.0
"""Robust transparency by force: what is proved in docs/methods/mirror.md, on every world of some hundred tiny tables.

L1 and L2 are about beliefs inside a set; M3 and its like say that told worlds are a product over sets.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import chain, combinations
from math import exp
from random import Random
from typing import Any

import pytest

import glasshouse as gh
from glasshouse import catalog
from glasshouse.grouping.independence import belief_bound
from glasshouse.principles.principle import Adversary, Requirement
from tests.rooms.grouping import mirror_search, sift_search
from tests.rooms.grouping.doors import forced
from tests.rooms.grouping.robust_search import (
    CONTROLS,
    METHODS,
    bound_of,
    cases_of,
    mirror_product,
    mirror_twin,
    sampled,
    telling_for,
    tied_groups,
    try_classes,
    try_leaves,
    try_tables,
    worst_in_leaf,
)
from tests.tiers import tables
from tests.twins import anatomize, by_force, mirror, robust

# --- one set ---------------------------------------------------------------------------------------------------------


def test_l1_no_prior_of_a_class_leads_above_the_bound_and_one_reaches_it() -> None:
    random = Random(1)
    odds = Fraction(9, 4)
    for _ in range(tables(400)):
        size, n_values = random.randrange(2, 6), random.randrange(2, 4)
        values = tuple(sorted(random.randrange(n_values) for _ in range(size)))
        prior = robust.prior_of_class(random, size, n_values, (2, 3))
        found = robust.beliefs_in_set(frozenset(range(size)), values, prior)
        assert robust.odds_of(prior) <= odds
        for (_, value), belief in found.items():
            assert belief <= robust.bound_in_set(values.count(value), size, odds)

        person, value = random.randrange(size), random.choice(values)
        leaning = robust.leaning_prior([person], value, size, n_values, odds)
        assert robust.odds_of(leaning) in (1, odds)
        reached = robust.beliefs_in_set(frozenset(range(size)), values, leaning)[person, value]
        assert reached == robust.bound_in_set(values.count(value), size, odds)


def test_the_product_computes_the_same_bound() -> None:
    for size in range(1, 7):
        for times in range(size + 1):
            for odds in (Fraction(1), Fraction(5, 4), Fraction(9, 4)):
                expected = robust.bound_in_set(times, size, odds)
                assert belief_bound(Fraction(times, size), odds) == expected
    for wrong in ({"share": "3/2", "odds": 2}, {"share": -1, "odds": 2}, {"share": "1/2", "odds": "1/2"}):
        with pytest.raises(gh.ParameterError, match="belief_bound"):
            belief_bound(**wrong)


# --- what methods say of themselves ----------------------------------------------------------------------------------

SETS = {
    "hybrid": "buckets",
    "tailor": "groups",
    "ace": "buckets",
    "anatomize": "groups",
    "mirror": "half-groups",
    "sift": "groups",
    "even-split": "half-groups",
    "symmetric": "half-groups",
    "separate": "groups",
    "snug": "none",
    "mondrian": "none",
    "greedy": "none",
    "randomised-greedy": "none",
    "refined": "groups",
    "opt-gen": "none",
}


def test_every_method_of_the_catalogue_says_over_which_sets_worlds_are_a_product() -> None:
    asked = Requirement.in_words(gh.LDiversity(ell=3), ["s"])
    made = {name: catalog.METHODS[name].usual()[0] for name in catalog.METHODS}

    assert {name: method.independent(asked) for name, method in made.items()} == SETS
    for name, method in made.items():
        if method.believed_at_most(asked, 2) is None:
            assert SETS[name] in ("buckets", "none")
        else:
            assert method.claim(asked).adversary is Adversary.ALGORITHM_AWARE


@pytest.mark.parametrize(
    ("method", "principle", "sets", "share"),
    [
        (gh.Anatomize(), gh.LDiversity(ell=4), "groups", "1/4"),
        (gh.Mirror(inner="anatomize", slack=2), gh.LDiversity(ell=2), "groups", "1/2"),
        (gh.Mirror(inner="anatomize"), gh.LDiversity(ell=2), "half-groups", None),
        (gh.Mirror(inner="anatomize"), gh.LDiversity(ell=5), "half-groups", "2/5"),
        (gh.Mirror(inner="ace", slack=2), gh.LDiversity(ell=5), "buckets", None),
        (gh.Mirror(inner="none", slack=2), gh.LDiversity(ell=5), "faces", None),
        (gh.Mirror(inner="anatomize"), gh.TCloseness(t="1/3"), "faces", None),
        (gh.Mirror(), gh.KAnonymity(k=3), "groups", None),
        (gh.EvenSplit(), gh.LDiversity(ell=2), "half-groups", "2/3"),
        (gh.EvenSplit(extra=0), gh.LDiversity(ell=2), "half-groups", None),
        (gh.Symmetric(extra=3), gh.LDiversity(ell=2), "half-groups", "2/5"),
        (gh.EvenSplit(), gh.TCloseness(t="1/3"), "faces", None),
        (gh.Mondrian(), gh.KAnonymity(k=3), "groups", None),
        (gh.Snug(), gh.AllOf(principles=(gh.KAnonymity(k=3), gh.LDiversity(ell=2))), "none", None),
        (gh.Refined(coarse=gh.Symmetric()), gh.LDiversity(ell=2), "none", None),
        (gh.Refined(coarse=gh.Tailor(), inner="ace"), gh.LDiversity(ell=2), "buckets", None),
        (gh.Separate(), gh.TCloseness(t="1/3"), "groups", None),
    ],
    ids=repr,
)
def test_they_say_it_of_what_they_are_asked_for(method: Any, principle: Any, sets: str, share: str | None) -> None:
    asked = Requirement.in_words(principle, ["s"])

    assert method.independent(asked) == sets
    assert method.largest_share(asked) == (None if share is None else Fraction(share))
    assert method.believed_at_most(asked, 3) == (None if share is None else belief_bound(share, 3))


# --- told worlds are a product ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
def test_told_worlds_are_a_product_and_nothing_is_believed_above_the_bound(name: str) -> None:
    method = METHODS[name]

    found = try_tables(name, partial(telling_for, method), cases_of(method, 31, tables(40)), partial(bound_of, method))

    assert found.n_ties == found.n_unequal == found.n_above == 0
    assert found.n_divided > 0 or name == "Separate", "a method that never divides proves nothing"
    sets = method.independent(Requirement.in_words(gh.LDiversity(ell=2), ["s"]))
    assert (found.n_classes > found.n_releases) == (sets == "half-groups"), "a test that never fails proves nothing"


@pytest.mark.parametrize("name", mirror_search.PRINCIPLES)
def test_told_the_values_of_all_faces_worlds_are_a_product_over_faces(name: str) -> None:
    principle, holds = mirror_search.PRINCIPLES[name]
    few: dict[str, Any] = {"people": (4, 5, 6), "ells": (2,), "n_values": (2, 3, 4), "max_worlds": 30}
    cases = [case for case in by_force.random_cases(32, tables(50), **few) if 0 in case.values]  # the designated one
    product = partial(mirror_product, method=gh.Mirror(inner="none", floor=1), principle=principle)
    twin = partial(mirror_twin, sets="faces", ell=None, holds=holds, mirrors=3)

    for which, make in (("product", product), ("twin", twin)):
        found = try_tables(f"{name}, {which}", make, cases)
        assert found.n_ties == found.n_unequal == found.n_above == 0
        assert found.n_classes > found.n_releases


def test_the_twin_of_mirror_is_told_as_the_product_is() -> None:
    method = gh.Mirror(inner="anatomize", slack=1, start=1)
    for case in by_force.random_cases(33, tables(40), people=(4, 6), ells=(2,), n_values=(3, 4), max_worlds=30):
        slow = robust.evidence_of(mirror_twin(case, "half-groups", attempts=1), case)
        assert robust.evidence_of(telling_for(method, case), case).releases == slow.releases


@pytest.mark.parametrize(("ell", "n_people", "n_values"), [(4, 8, (6, 7, 8)), (3, 6, (4, 5)), (2, 8, (3, 4))])
def test_so_are_told_classes_of_tables_with_too_many_worlds_to_try_them_all(
    ell: int, n_people: int, n_values: Any
) -> None:
    method = gh.Mirror(inner="anatomize", slack=1, start=1)

    n_classes, n_parted, n_ties = try_classes(
        f"Mirror, l = {ell}",
        partial(telling_for, method),
        sampled(34, tables(40 if ell == 3 else 120), ell, n_people, n_values),
        34,
        parted=ell != 3,  # six people are one node at l = 3
    )

    assert n_ties == 0
    assert (n_parted > 0) == (ell != 3)
    assert n_classes > 0


def test_so_are_those_of_seven_people_of_whom_three_are_left_over() -> None:
    cases = sampled(39, tables(60), 2, 7, (3, 4))

    n_classes, n_parted, n_ties = try_classes(
        "seven", partial(mirror_twin, sets="half-groups"), cases, 39, parted=False
    )

    assert n_ties == 0
    assert 0 < n_parted < n_classes


def test_so_are_those_of_sift_where_people_are_set_aside() -> None:
    cases = sift_search.sifted(sampled(40, tables(100), 2, 6, (4, 5, 6)))

    n_classes, _, n_ties = try_classes("Sift", partial(telling_for, gh.Sift()), cases, 40, parted=False)

    assert n_ties == 0
    assert n_classes > 1


def test_so_are_those_of_the_twin_of_sift_where_three_of_seven_are_set_aside() -> None:
    cases = sift_search.sifted(sampled(40, tables(100), 2, 7, (4, 5)))

    n_classes, _, n_ties = try_classes(
        "Sift's twin", lambda case: robust.told_by_groups(sift_search.twin(case)), cases, 40, parted=False
    )

    assert n_ties == 0
    assert n_classes > 0


@pytest.mark.parametrize("shape", [(4, 2), (3, 2)], ids=["l = 4", "l = 3"])
def test_so_are_failed_leaves_of_more_people(shape: tuple[int, int]) -> None:
    found = try_leaves(f"failed leaves, {shape}", mirror_search.failed_leaves(35, tables(40), [shape]), 35, n_worlds=4)

    assert found.n_ties == 0
    assert found.n_worlds > 4 * found.n_classes, "a class of one world proves nothing"


# --- controls --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONTROLS)
def test_methods_that_tie_groups_to_each_other_are_found_out(name: str) -> None:
    method = CONTROLS[name]
    cases = by_force.random_cases(36, 100, people=(5, 6), ells=(2,), n_values=(2, 3), max_worlds=60)

    found = try_tables(name, partial(telling_for, method), cases, until_tied=True)

    assert found.n_ties > 0
    assert found.n_unequal > 0


@pytest.mark.parametrize("method", [gh.Ace(), gh.Hybrid(), gh.Mirror(inner="ace")], ids=lambda method: method.name)
def test_slices_exceed_the_bound_the_more_the_more_groups_a_bucket_has(method: Any) -> None:
    odds = Fraction(exp(0.5)).limit_denominator(1000)
    for n_groups in (2, 3):
        found = tied_groups(method, n_groups, odds)
        assert found == odds**n_groups / (1 + odds**n_groups) > belief_bound("1/2", odds)
    assert tied_groups(gh.Anatomize(), 3, odds) == belief_bound("1/2", odds)


@pytest.mark.parametrize("fault", ["people dealt by row order", "Anatomize that takes people by row order"])
def test_dealing_that_is_not_uniform_is_found_out(fault: str) -> None:
    def first(rows: list[int], times: int, draws: Any) -> list[int]:
        return rows[:times]

    def by_order(codes: by_force.Codes, sensitive: Any, draws: Any) -> by_force.Groups:
        rows = by_force.rows_of(codes, sensitive)
        return anatomize.anatomize(rows, 2, draws, pick=lambda among, draws: among[0])

    if fault.startswith("Anatomize"):
        found = try_tables(fault, lambda case: robust.told_by_groups(by_order), [mirror_search.ROW])
        assert found.n_ties > 0
    else:
        cases = [*sampled(38, 12, 4, 8, (6, 7, 8))]
        assert try_classes("uniform", partial(mirror_twin, sets="half-groups"), cases, 38)[2] == 0
        assert try_classes(fault, partial(mirror_twin, sets="half-groups", deal=first), cases, 38)[2] > 0


def test_what_is_told_of_even_splits_and_of_mirror_is_needed() -> None:
    for method in (gh.EvenSplit(extra=0), gh.Symmetric(extra=0), gh.Mirror(inner="anatomize", slack=1, start=1)):

        def untold(case: by_force.Case, method: Any = method) -> robust.Telling:
            return robust.told_by_groups(forced(method, partial(gh.LDiversity, ell=case.ell), case.positions))

        cases = chain([mirror_search.ROW], cases_of(method, 37, 50))
        assert try_tables(f"{method.name}, untold", untold, cases, until_tied=True).n_ties > 0


def test_telling_the_values_of_the_halves_and_the_coin_is_not_enough() -> None:
    # groups with equal values stay tied: if of two of them the one takes a value from the left, the other does not
    halves = ((0, 1, 5), (2, 3, 4))
    groups = frozenset(map(frozenset, ((0, 3), (1, 4), (2, 5))))
    shown = {frozenset((0, 3)): (1, 3), frozenset((1, 4)): (2, 3), frozenset((2, 5)): (2, 3)}
    classes: dict[Any, dict[Any, Fraction]] = {}
    told: dict[Any, dict[Any, Fraction]] = {}
    for world in by_force.arrangements((1, 2, 2, 3, 3, 3)):
        if any(tuple(sorted(world[i] for i in group)) != values for group, values in shown.items()):
            continue
        sides = tuple(tuple(sorted(world[i] for i in half)) for half in halves)
        if all(max(side.count(v) for v in side) * 2 <= len(side) for side in sides):
            continue  # it would have been halved
        parts = frozenset((group & set(half), tuple(sorted(world[i] for i in group & set(half))))
                          for group in groups for half in halves)  # fmt: skip
        for coin, order in (("left", halves), ("right", halves[::-1])):
            chance = mirror.chance(world, order, set(groups), 2, fair=False)
            if chance:
                classes.setdefault((coin, sides), {})[world] = chance
                told.setdefault((coin, parts), {})[world] = chance
    assert all(robust.is_product(key, weights) for key, weights in told.items())
    tied = 0
    for weights in classes.values():
        patterns = [{tuple(world[i] for i in sorted(group)) for world in weights} for group in groups]
        n = 1
        for pattern in patterns:
            n *= len(pattern)
        tied += n > len(weights)
    assert tied > 0


# --- the figures -----------------------------------------------------------------------------------------------------


def _logistic(odds: Fraction, times: int) -> Fraction:
    return odds**times / (1 + odds**times)


@pytest.mark.parametrize(("n", "eps", "belief"), [(8, 0.1, 0.574), (32, 0.1, 0.711), (100, 0.1, 0.931), (100, 0.3, 1)])
def test_at_l_2_little_knowledge_of_the_people_of_a_failed_leaf_adds_up(n: int, eps: float, belief: float) -> None:
    # of a value that n / 4 + 1 people have, the test fails only if they are all in one half; the half leans to it
    odds = Fraction(exp(eps))

    assert round(float(_logistic(odds, n // 4 + 1)), 3) == belief
    if n == 8:
        assert worst_in_leaf(2, n, odds, everybody=True) == _logistic(odds, 3)


@pytest.mark.parametrize(("n", "all_lean", "one_leans"), [(8, 0.366, 0.427), (16, 0.409, 0.487), (24, 0.440, 0.533)])
def test_at_l_4_it_adds_up_to_the_bound_of_half_groups(n: int, all_lean: float, one_leans: float) -> None:
    # a group's two people of the half: both lean, or the one who is asked about; in all other groups both
    odds, times = Fraction(exp(0.5)), n // 8 + 1
    both = _logistic(odds, times) / 2
    half = (1 + odds) / 2 * odds ** (times - 1)
    one = half / (1 + half) * odds / (1 + odds)

    assert (round(float(both), 3), round(float(one), 3)) == (all_lean, one_leans)
    assert one < gh.Mirror(inner="anatomize").believed_at_most(Requirement.in_words(gh.LDiversity(ell=4), ["s"]), odds)
    if n == 8:
        assert worst_in_leaf(4, n, odds, everybody=True) == both
        assert worst_in_leaf(4, n, odds, everybody=False) == one


@pytest.mark.parametrize("n_failures", [1, 2, 3])
def test_told_a_face_may_have_all_people_with_a_value(n_failures: int) -> None:
    n = 2 ** (n_failures + 1)
    case = by_force.Case(tuple((i,) for i in range(n)), (tuple(range(n)),), (0, 0, *[1] * (n - 2)), 2)
    method = gh.Mirror(inner="none", floor=1, mirrors=n_failures)
    whole: Callable[..., robust.Telling] = partial(mirror_product, principle=gh.DistinctLDiversity(ell=2))

    evidence = robust.evidence_of(whole(case, method), case)

    (classes,) = (classes for release, classes in evidence.releases.items() if len(release) == 1)
    equal = [[1, 1]] * n
    most = max(robust.beliefs(weights.items(), equal, range(n)).get((0, 0), 0) for weights in classes.values())
    assert most == 2**n_failures * Fraction(2, n) == 1


def test_untold_the_failure_of_a_large_leaf_adds_up_too() -> None:
    # of 64 people 17 have a value; their test fails if they are all in one half, which leans to it
    odds = Fraction(exp(0.1))
    assert round(float(_logistic(odds, 17) * Fraction(17, 32)), 3) == 0.449
    assert round(17 / 64, 3) == 0.266


def test_even_splits_at_l_plus_1_are_bounded_by_halves_and_not_by_groups() -> None:
    # eleven people, halves of five and six, run at 3: left whole only if both people with a value are among the five
    odds = Fraction(exp(0.5)).limit_denominator(1000)
    codes = tuple((i,) for i in range(11))
    run = forced(gh.EvenSplit(), lambda: gh.LDiversity(ell=2), [range(11)])
    whole: list[tuple[robust.World, int]] = []
    for pair in combinations(range(11), 2):
        others = iter(range(1, 10))
        world = tuple(0 if i in pair else next(others) for i in range(11))
        if len(list(run(codes, world, None))) == 1:
            whole.append((tuple(int(i not in pair) for i in range(11)), 1))
    asked = Requirement.in_words(gh.LDiversity(ell=2), ["s"])
    bound = gh.EvenSplit().believed_at_most(asked, odds)

    found = robust.beliefs(whole, robust.leaning_prior([0], 0, 11, 2, odds), range(11))[0, 0]

    assert len(whole) == 10
    assert bound is not None
    assert belief_bound("1/3", odds) < found == belief_bound("2/5", odds) < bound
    assert round(float(found), 3) == 0.524
