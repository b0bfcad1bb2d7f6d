# SPDX-License-Identifier: Apache-2.0
"""The slow model of a population against cases that can be done by hand, and against tables drawn by every world."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from math import prod

import pytest

from tests.twins import population as twin

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
ALICE = {"flu": Fraction(2, 3), "gout": Fraction(1, 3)}
BOB = {"flu": Fraction(1, 4), "gout": Fraction(3, 4)}
CAROL = {"flu": HALF, "gout": HALF}


def test_two_people_and_two_values() -> None:
    # Alice flu and Bob gout: 2/3 * 3/4 = 1/2. Alice gout and Bob flu: 1/3 * 1/4 = 1/12.
    assert twin.probability([ALICE, BOB], ["flu", "gout"]) == Fraction(7, 12)
    assert twin.distribution([ALICE, BOB], ["gout", "flu"]) == {
        ("flu", "gout"): Fraction(6, 7),
        ("gout", "flu"): Fraction(1, 7),
    }
    assert twin.marginals([ALICE, BOB], ["flu", "gout"])[1] == {"flu": Fraction(1, 7), "gout": Fraction(6, 7)}


def test_equal_values_are_not_told_apart() -> None:
    assert list(twin.deals(["flu", "gout", "flu"])) == [
        ("flu", "flu", "gout"),
        ("flu", "gout", "flu"),
        ("gout", "flu", "flu"),
    ]
    assert twin.probability([CAROL, CAROL, CAROL], ["flu", "gout", "flu"]) == Fraction(3, 8)


@pytest.mark.parametrize("people", [[ALICE, BOB], [ALICE, BOB, CAROL], [BOB, CAROL, BOB, ALICE]])
def test_what_is_published_is_conditioned_on_in_every_world(people: list[dict[str, Fraction]]) -> None:
    worlds: dict[tuple[str, ...], Fraction] = {
        world: prod((person[value] for person, value in zip(people, world, strict=True)), start=Fraction(1))
        for world in product(["flu", "gout"], repeat=len(people))
    }
    by_values: dict[tuple[str, ...], dict[tuple[str, ...], Fraction]] = defaultdict(dict)
    for world, chance in worlds.items():
        by_values[tuple(sorted(world))][world] = chance
    assert sum(twin.probability(people, values) for values in by_values) == 1
    for values, own in by_values.items():
        whole = sum(own.values())
        assert twin.probability(people, values) == whole
        assert twin.distribution(people, values) == {world: chance / whole for world, chance in own.items()}


def test_marginals_add_up_to_people_and_to_values() -> None:
    values = ["flu", "flu", "gout"]
    found = twin.marginals([ALICE, BOB, CAROL], values)
    assert all(sum(person.values()) == 1 for person in found)
    assert {v: sum(person[v] for person in found) for v in set(values)} == Counter(values)


def test_a_person_in_a_cell_is_at_one_of_its_points() -> None:
    shares, at = {"young": Fraction(1, 4), "old": Fraction(3, 4)}, {"young": ALICE, "old": BOB}
    # 1/4 * 2/3 + 3/4 * 1/4 = 1/6 + 3/16 = 17/48
    assert twin.chances_in_cell(shares, at) == {"flu": Fraction(17, 48), "gout": Fraction(31, 48)}
    assert twin.point_given_value(shares, at, "flu") == {"young": Fraction(8, 17), "old": Fraction(9, 17)}


def test_a_shown_value_is_the_true_one_or_any() -> None:
    values = ["flu", "gout", "none"]
    # Kept half the time: flu is shown with 1/2 * 2/3 + 1/2 * 1/3 = 1/2.
    assert twin.chances_shown(ALICE, HALF, values) == {"flu": HALF, "gout": THIRD, "none": Fraction(1, 6)}
    assert twin.truth_given_shown(ALICE, "flu", HALF, values) == {
        "flu": Fraction(8, 9),  # 2/3 * (1/2 + 1/6) of 1/2
        "gout": Fraction(1, 9),  # 1/3 * 1/6 of 1/2
        "none": 0,
    }
    assert twin.truth_given_shown(ALICE, "none", HALF, values) == {"flu": Fraction(2, 3), "gout": THIRD, "none": 0}


def test_somebody_has_each_end_and_the_others_follow_the_marginal() -> None:
    marginal = {age: Fraction(share, 10) for age, share in {30: 1, 31: 2, 32: 3, 33: 4}.items()}
    # Of four people two are at the ends; the other two are at 30, 31 and 32 as 1 : 2 : 3.
    found = twin.shares_in_cell(4, [30, 31, 32], [30, 32], marginal)
    assert found == {30: (1 + 2 * Fraction(1, 6)) / 4, 31: 2 * THIRD / 4, 32: (1 + 2 * HALF) / 4}
    assert sum(found.values()) == 1
    assert twin.shares_in_cell(3, [30, 31], [], marginal) == {30: THIRD, 31: 2 * THIRD}  # a label of a taxonomy


def test_the_marginal_is_estimated_again_from_all_cells() -> None:
    even = dict.fromkeys([1, 2, 3], THIRD)
    cells = [(2, [1, 2, 3], [1, 3]), (4, [1, 2], [1, 2]), (1, [2], [2])]
    # 1: 1 + (1 + 2/2), 2: 0 + (1 + 2/2) + 1, 3: 1; seven people.
    assert twin.reestimated(cells, even) == {1: Fraction(3, 7), 2: Fraction(3, 7), 3: Fraction(1, 7)}
