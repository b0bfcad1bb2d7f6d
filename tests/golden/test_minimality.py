# SPDX-License-Identifier: Apache-2.0
"""MINIMALITY as printed: Figure 6, and the closed forms of its theorems, from the product's runs over all worlds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import e, prod
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.microdata import Column
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.doors import people
from tests.tables import partition
from tests.twins import attack, by_force
from tests.twins.mondrian import Partition

POSITIVE = "s00001"
CERTAIN_OF_TWO = [1, 1, 0, 0]


def binary(ell: int) -> gh.DesignatedLDiversity:
    return gh.DesignatedLDiversity(ell=ell, values=(POSITIVE,))


def on_one_table(method: Any, principle: Any, codes: by_force.Codes, values: Sequence[int]) -> by_force.Method:
    """A method of the product on worlds that differ in who has which value; the table is read once."""
    table = people(codes, sorted(values))
    domain = table.sensitive[0].domain
    code = {value: domain.code_of(f"s{value:05}") for value in set(values)}

    def run(_: by_force.Codes, sensitive: Sequence[int], draws: Any) -> Partition:
        column = Column(domain, np.array([code[value] for value in sensitive], np.int32))
        world = replace(table, sensitive=(column,))
        requirement = Requirement.of(principle, world)
        return partition(method.divide(world, requirement, source=draws, engine=Memory(threads=1)))

    return run


def beliefs(method: Any, principle: Any, codes: by_force.Codes, values: Sequence[int]) -> attack.Beliefs:
    """After everybody is published as one group: who is believed to have what."""
    case = by_force.Case(tuple(codes), (), tuple(values), 2)
    door = on_one_table(method, principle, codes, values)
    evidence = by_force.evidence_of(door, case.codes, by_force.worlds_of(case))
    together = frozenset({(frozenset(range(len(values))), tuple(sorted(values)))})
    return by_force.beliefs_after(evidence.releases[together])


def positive(found: attack.Beliefs, n: int) -> list[Fraction]:
    return [found.get((person, 1), Fraction(0)) for person in range(n)]


def line(n: int) -> list[tuple[int, ...]]:
    return [(i,) for i in range(n)]


# Figure 6


@pytest.mark.parametrize(
    ("figure", "method"), [("minimality_figure6a", gh.Greedy(last="drop")), ("minimality_figure6b", gh.Mondrian())]
)
def test_the_tables_behind_figure_6_become_the_group_that_is_printed(figure: str, method: Any) -> None:
    table = getattr(gh.examples, figure)()
    shown = getattr(gh.examples, f"{figure}_published")()
    principle = gh.DesignatedLDiversity(ell=2, values=("Positive",))
    groups = method.divide(table, Requirement.of(principle, table), source=gh.Source.seeded(0))

    assert partition(groups) == {frozenset(range(table.n_tuples))}
    for column in (*table.quasi, *table.sensitive):
        assert sorted(column.domain.decode(column.codes).to_pylist()) == sorted(shown[column.name].to_pylist())


def test_in_figure_6a_a_and_b_are_positive() -> None:
    """Had a and b been diverse, greed would have published them by themselves."""
    found = beliefs(gh.Greedy(last="drop"), binary(2), line(4), (0, 0, 1, 1))

    assert positive(found, 4) == CERTAIN_OF_TWO


def test_in_figure_6b_a_and_b_are_positive() -> None:
    """The cut that was tried is between {a, b} and {c, c, c, d}; only the former can have failed."""
    codes = [(0,), (1,), (2,), (2,), (2,), (3,)]
    found = beliefs(gh.Mondrian(), binary(2), codes, (0, 0, 0, 0, 1, 1))

    assert positive(found, 6) == [*CERTAIN_OF_TWO, 0, 0]


# Equation 7 and Theorems 6 and 8


def closed_form(ell: int, m: int) -> Fraction:
    """The belief in the first of m buckets, before the estimate by e."""
    factors = (Fraction(m * ell - 1 - j, m * ell - m - j) for j in range(1, ell))
    return Fraction(1, ell) * prod(factors, start=Fraction(1))


@pytest.mark.parametrize(
    ("ell", "m", "expected"),
    [
        (2, 2, Fraction(2, 2)),
        (3, 2, Fraction(2, 3)),
        (5, 2, Fraction(2, 5)),
        (3, 3, Fraction(7, 10)),
        (4, 3, Fraction(15, 28)),
        (6, 4, Fraction(77, 204)),
    ],
)
def test_the_belief_in_a_greedy_group_is_the_closed_form_and_falls_from_bucket_to_bucket(
    ell: int, m: int, expected: Fraction
) -> None:
    values = [0] * (m * ell - m) + [1] * m
    found = positive(beliefs(gh.Greedy(last="drop"), binary(ell), line(m * ell), values), m * ell)
    buckets = [found[ell * j : ell * (j + 1)] for j in range(m)]

    assert expected == closed_form(ell, m) == found[0]
    assert all(len(set(bucket)) == 1 for bucket in buckets)
    assert all(one[0] >= other[0] for one, other in pairwise(buckets))  # Theorem 8
    assert found[0] < e / ell  # Theorem 6


# Appendix C.4, and what is right beyond two buckets


def weighed(ell: int, m: int, weight: Callable[[list[int]], Fraction]) -> Fraction:
    """The belief in the first person, from worlds that are weighed by the positives of their buckets."""
    total = joint = Fraction(0)
    for chosen in combinations(range(m * ell), m):
        counts = [sum(1 for i in chosen if i // ell == bucket) for bucket in range(m)]
        total += weight(counts)
        joint += weight(counts) * (0 in chosen)
    return joint / total


@pytest.mark.parametrize("p", ["0", "1/5", "3/5"])
@pytest.mark.parametrize(("ell", "m"), [(2, 2), (3, 2), (4, 2), (2, 3)])
def test_in_a_randomised_group_a_world_weighs_p_to_the_number_of_its_diverse_proper_prefixes(
    ell: int, m: int, p: str
) -> None:
    method = gh.RandomisedGreedy(p=p, last="drop")
    found = beliefs(method, binary(ell), line(m * ell), [0] * (m * ell - m) + [1] * m)

    def weight(counts: list[int]) -> Fraction:
        return Fraction(p) ** sum(sum(counts[:j]) <= j for j in range(1, m))

    assert found[0, 1] == weighed(ell, m, weight)
    if m == 2:
        assert found[0, 1] == weighed(ell, m, lambda counts: Fraction(p) if counts[0] <= 1 else Fraction(1))


# Theorem 5, with the bound of its proof


@pytest.mark.parametrize("method", [gh.EvenSplit(extra=0), gh.Symmetric(extra=0)], ids=repr)
def test_even_splits_reach_exactly_two_in_2l_minus_1_at_seven_people(method: Any) -> None:
    """A child of three people allows 4 / (3 l). Two share a value; by symmetry one order of the others will do."""
    worlds = []
    for pair in combinations(range(7), 2):
        others = iter(range(1, 6))
        worlds.append({person: 0 if person in pair else next(others) for person in range(7)})
    door = on_one_table(method, gh.LDiversity(ell=2), line(7), (0, 0, 1, 2, 3, 4, 5))
    together = frozenset({(frozenset(range(7)), (0, 0, 1, 2, 3, 4, 5))})
    found = by_force.beliefs_after(by_force.evidence_of(door, line(7), worlds).releases[together])

    assert (
        max(belief for (_, value), belief in found.items() if value == 0)
        == Fraction(2, 2 * 2 - 1)
        == Fraction(4, 3 * 2)
    )


@pytest.mark.parametrize(("ell", "n", "values"), [(2, 5, (0, 0, 1, 2, 3)), (3, 7, (0, 0, 1, 2, 3, 4, 5))])
def test_halves_with_a_second_dimension_to_fall_back_on_give_people_away(
    ell: int, n: int, values: tuple[int, ...]
) -> None:
    """Outside the theorem: relaxed Mondrian on a line whose second attribute falls as the first rises.

    The person in the middle is in the larger half of both cuts: if the second one was made, this person shares a value.
    """
    codes = [(i, n - 1 - i) for i in range(n)]
    door = on_one_table(gh.Mondrian(partitioning="relaxed"), gh.LDiversity(ell=ell), codes, values)
    worlds = []  # by symmetry one order of the values that occur once will do
    for pair in combinations(range(n), 2):
        others = iter(values[2:])
        worlds.append({person: 0 if person in pair else next(others) for person in range(n)})
    releases = by_force.evidence_of(door, codes, worlds).releases.values()
    shared = [by_force.beliefs_after(weights).get((n // 2, 0), 0) for weights in releases]

    assert max(shared) == 1
