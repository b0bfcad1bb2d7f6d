# SPDX-License-Identifier: Apache-2.0
"""Theorem E1 by force, and every trap of docs/editions.md as a table that falls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from math import prod
from random import Random
from typing import Any

import pytest

from tests import tiers
from tests.twins import by_force, editions
from tests.twins.anatomize import anatomize
from tests.twins.mirror import Mirror
from tests.twins.sift import Sift
from tests.twins.transparent import tailor

POSITIONS = (tuple(range(8)),)
X, Y, Z = 0, 1, 2


def _tailor(ell: int) -> by_force.Method:
    return lambda codes, sensitive, draws: tailor(by_force.rows_of(codes, sensitive), POSITIONS, ell)


def _anatomize(ell: int) -> by_force.Method:
    return lambda codes, sensitive, draws: anatomize(by_force.rows_of(codes, sensitive), ell, draws)


def _mirror(ell: int) -> by_force.Method:
    def run(codes: Any, sensitive: Any, draws: Any) -> Any:
        rows = by_force.rows_of(codes, sensitive)

        def holds(values: list[int]) -> bool:
            return max(Counter(values).values(), default=0) * ell <= len(values)

        return Mirror(rows=rows, positions=POSITIONS, holds=holds, floor=ell, ell=ell, inner="anatomize").groups(draws)

    return run


def _sift(ell: int) -> by_force.Method:
    def run(codes: Any, sensitive: Any, draws: Any) -> Any:
        return Sift(rows=by_force.rows_of(codes, sensitive), positions=POSITIONS, ell=ell).groups(draws)

    return run


METHODS = {"Tailor": _tailor, "Anatomize": _anatomize, "Mirror": _mirror, "Sift": _sift}


def _histories(seed: int, n: int) -> Iterator[tuple[Any, Any, Any]]:
    """Two or three years in which a few people come; a prior leaves each of them two or three of four values."""
    source = Random(seed)
    for _ in range(n):
        sizes = source.choice([(2, 2), (2, 3), (3, 2), (2, 2, 2), (2, 4), (4, 2)])
        codes = [(source.randrange(4),) for _ in range(sum(sizes))]
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        years = [list(range(start, start + size)) for start, size in zip(starts, sizes, strict=True)]
        n_able = 3 if len(codes) < 6 else 2
        able = [source.sample(range(4), n_able) for _ in codes]
        prior = [[source.randint(1, 3) if value in own else 0 for value in range(4)] for own in able]
        yield codes, years, prior


def _compared(history: editions.History, method: by_force.Method, codes: Any, years: Any, prior: Any) -> Counter[bool]:
    """Beliefs after all years beside those of the own edition: how many are the same, and how many are not."""
    compared: Counter[bool] = Counter()
    alone = [editions.beliefs(editions.of_one_year(method, codes, came), prior) for came in years]
    for public, found in editions.beliefs(history, prior).items():
        for own, came, seen in zip(alone, years, public, strict=True):  # type: ignore[arg-type]
            if seen in own:
                compared.update(
                    found.get((person, value), 0) == own[seen].get((person, value), 0)
                    for person in came
                    for value in range(len(prior[person]))
                )
    return compared


@pytest.mark.parametrize("name", METHODS)
def test_beliefs_after_all_editions_are_those_of_the_own_edition(name: str) -> None:
    """For every product prior, everything that can become public, every person and value."""
    method, compared = METHODS[name](2), Counter[bool]()
    for codes, years, prior in _histories(1, tiers.tables(1000)):
        compared += _compared(editions.editions(method, codes, years), method, codes, years, prior)
    by_force.say(f"{name}: {compared[True]:,} beliefs the same, {compared[False]:,} different")
    assert compared[True] > 1000
    assert not compared[False]


FAULTS = {"waiting": editions.waiting, "anew": editions.anew, "peeking": editions.peeking}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_comparison_finds_every_fault(fault: str) -> None:
    method, compared = _anatomize(2), Counter[bool]()
    for codes, years, prior in _histories(3, 20):
        compared += _compared(FAULTS[fault](method, codes, years), method, codes, years, prior)
    assert compared[False]


@pytest.mark.parametrize("name", METHODS)
def test_nobody_who_is_published_is_believed_above_one_in_l(name: str) -> None:
    """An even prior; people of an edition that is missing are promised nothing."""
    method = METHODS[name](2)
    for codes, years, _ in _histories(2, tiers.tables(300)):
        prior = [[1, 1, 1][: 3 if len(codes) < 6 else 2] for _ in codes]
        for public, found in editions.beliefs(editions.editions(method, codes, years), prior).items():
            for came, seen in zip(years, public, strict=True):  # type: ignore[arg-type]
                if seen is not None:
                    assert max(found.get((p, v), Fraction(0)) for p in came for v in range(3)) <= Fraction(1, 2)


# --- the traps -------------------------------------------------------------------------------------------------------


def test_a_table_that_is_divided_anew_can_be_intersected() -> None:
    codes, even = [(0,), (1,), (2,), (3,)], [[1, 1, 1]] * 4
    found = editions.beliefs(editions.anew(_anatomize(2), codes, [[0, 1, 2, 3], []]), even)
    first = frozenset({(frozenset({0, 3}), (X, Z)), (frozenset({1, 2}), (X, Y))})
    second = frozenset({(frozenset({0, 2}), (X, Y)), (frozenset({1, 3}), (X, Z))})
    assert found[first, second] == {(0, X): 1, (1, X): 1, (2, Y): 1, (3, Z): 1}


@pytest.mark.parametrize("name", ["Tailor", "Anatomize", "Mirror"])
def test_people_who_wait_are_found_out(name: str) -> None:
    codes, even = [(0,), (1,), (2,), (3,)], [[1, 1, 1]] * 4
    years = [[0, 1], [2, 3]]
    assert editions.worst(editions.waiting(METHODS[name](2), codes, years), even) == 1
    kept_out = editions.beliefs(editions.editions(METHODS[name](2), codes, years), even)
    published = [found for public, found in kept_out.items() if None not in public]  # type: ignore[operator]
    assert max(belief for found in published for belief in found.values()) == Fraction(1, 2)


def test_a_missing_edition_tells_a_little_of_its_people() -> None:
    found = editions.beliefs(editions.editions(_anatomize(2), [(0,), (1,)], [[0, 1]]), [[6, 4]] * 2)
    assert found[None,][0, X] == Fraction(36, 52)
    assert round(float(Fraction(36, 52)), 3) == 0.692


def test_the_trimmed_who_come_back_give_an_innocent_newcomer_away() -> None:
    codes, prior = [(0,), (1,), (2,), (3,)], [[1, 1, 1]] * 4
    back = editions.trimmed_come_back(_anatomize(2), codes, [[0, 1, 2], [3]], 2)
    assert editions.worst(back, prior, people=[3]) == 1


def test_leavers_who_are_taken_out_of_the_counts_are_found_out_at_any_l() -> None:
    for ell in (2, 3):
        codes = [(i,) for i in range(ell)]
        method = _anatomize(ell)
        left = list(range(1, ell))
        assert editions.worst(editions.without_leavers(method, codes, range(ell), left), [[1] * ell] * ell) == 1


@pytest.mark.parametrize("ell", [2, 3, 4])
def test_one_changed_person_is_believed_as_the_formula_says(ell: int) -> None:
    """P(old = u) = s1(u) (1 - s2(u)) / (1 - sum s1 s2), at worst l / (l^2 - l + 1)."""
    values = "abcdefgh"[:ell]
    others = [f"o{i}" for i in range(ell - 1)]
    news = [f"n{i}" for i in range(ell - 1)]
    worst = Fraction(0)
    for shared in range(ell + 1):
        second = [*values[:shared], *(f"z{i}" for i in range(ell - shared))]
        if shared == ell == 1:
            continue
        found = editions.after_changes([(["p", *others], [*values]), (["p", *news], second)], {"p"})
        overlap = Fraction(shared, ell * ell)
        for value in values:
            said = Fraction(1, ell) * (1 - Fraction(value in second, ell)) / (1 - overlap)
            assert found[0, "p", value] == said
            worst = max(worst, said)
    assert worst == Fraction(ell, ell * ell - ell + 1)


@pytest.mark.parametrize("ell", [2, 3])
def test_a_whole_group_that_changed_is_believed_above_any_formula_for_one(ell: int) -> None:
    values = "abc"[:ell]
    people = "pqr"[:ell]
    groups: list[Any] = [([*people], [*values])]
    for person in people:  # the target's new group has the others' values, and theirs have the target's
        own = [*values[1:], "z"] if person == "p" else [values[0], *(f"{person}{i}" for i in range(ell - 1))]
        groups.append(([person, *(f"{person}-{i}" for i in range(ell - 1))], own))
    found = editions.after_changes(groups, set(people))
    assert found[0, "p", values[0]] == Fraction(ell**2, (ell - 1) ** 3 + ell**2)
    assert found[0, "p", values[0]] > Fraction(ell, ell * ell - ell + 1)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_a_path_of_changed_people_goes_to_certainty(d: int) -> None:
    groups = [([f"c{i}", f"c{i + 1}"], ["v", f"o{i}"]) for i in range(d + 1)]
    found = editions.after_changes(groups, {f"c{i}" for i in range(1, d + 1)})
    assert max(found.values()) == Fraction(d + 1, d + 2)


def test_leaving_that_depends_on_the_value_tilts_beliefs_by_its_odds() -> None:
    """Hazards .1 and .01 at l = 4: one of a group left, and is believed to have the value of the large one with .79."""
    hazards = [Fraction(1, 10), *[Fraction(1, 100)] * 3]
    chances = Counter[int]()
    for order in permutations(range(4)):  # the first person left, and the others stayed
        stayed = prod(1 - hazards[value] for value in order[1:])
        chances[order[0]] += hazards[order[0]] * stayed  # type: ignore[assignment]
    odds = hazards[0] / (1 - hazards[0]) * (1 - hazards[1]) / hazards[1]
    belief = Fraction(chances[0], chances.total())
    assert belief == odds / (odds + 3)
    assert round(float(belief), 2) == 0.79
