# SPDX-License-Identifier: Apache-2.0
"""The slow anatomy against ANATOMY's tables, its query and its theorems, and the permutation of MINIMALITY."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import inf, prod
from random import Random
from typing import Any

import pytest

from tests.twins import enumerating
from tests.twins.anatomize import anatomize
from tests.twins.anatomy import (
    actual_pdf,
    anatomized_pdf,
    error,
    generalized_pdf,
    individual_breach,
    individual_distribution,
    least_error,
    natural_join,
    permuted,
    qit,
    query_anatomized,
    query_generalized,
    reconstruction_error,
    st,
    theorem_4,
    tuple_breach,
    tuple_distribution,
)
from tests.twins.transparent import diverse

HALF = Fraction(1, 2)

# Table 1, tuples 1 to 8: Age, Sex, Zipcode, Disease. Bob is tuple 1, Alice tuple 7.
TABLE_1 = [
    ((23, "M", 11000), "pneumonia"),
    ((27, "M", 13000), "dyspepsia"),
    ((35, "M", 59000), "dyspepsia"),
    ((59, "M", 12000), "pneumonia"),
    ((61, "F", 54000), "flu"),
    ((65, "F", 25000), "gastritis"),
    ((65, "F", 25000), "flu"),
    ((70, "F", 30000), "bronchitis"),
]
GROUPS = [range(4), range(4, 8)]
BOB, ALICE = 0, 6

# Table 2: boxes of Age, Sex and Zipcode that are not the smallest
MEN, WOMEN = ((21, 60), ("M", "M"), (10001, 60000)), ((61, 70), ("F", "F"), (10001, 60000))
TABLE_2 = [(MEN if i < 4 else WOMEN, disease) for i, (_, disease) in enumerate(TABLE_1)]

TABLE_3A = [
    ((23, "M", 11000), 1),
    ((27, "M", 13000), 1),
    ((35, "M", 59000), 1),
    ((59, "M", 12000), 1),
    ((61, "F", 54000), 2),
    ((65, "F", 25000), 2),
    ((65, "F", 25000), 2),
    ((70, "F", 30000), 2),
]
TABLE_3B = [(1, "dyspepsia", 2), (1, "pneumonia", 2), (2, "bronchitis", 1), (2, "flu", 2), (2, "gastritis", 1)]
TABLE_4 = [
    ((23, "M", 11000), 1, "dyspepsia", 2),
    ((23, "M", 11000), 1, "pneumonia", 2),
    ((27, "M", 13000), 1, "dyspepsia", 2),
    ((27, "M", 13000), 1, "pneumonia", 2),
    ((35, "M", 59000), 1, "dyspepsia", 2),
    ((35, "M", 59000), 1, "pneumonia", 2),
    ((59, "M", 12000), 1, "dyspepsia", 2),
    ((59, "M", 12000), 1, "pneumonia", 2),
]


def smallest_box(group: Any) -> tuple[Any, ...]:
    return tuple((min(axis), max(axis)) for axis in zip(*(TABLE_1[i][0] for i in group), strict=True))


def diverse_partitions(seed: int, ell: int, n_partitions: int) -> Iterator[tuple[list[Any], list[list[int]]]]:
    """Small tables in which people share quasi-identifiers, each with an l-diverse partition into one or two groups."""
    source = Random(seed)
    while n_partitions:
        tuples = [((source.randrange(3),), source.randrange(6)) for _ in range(source.randrange(ell, 10))]
        numbers = [source.randrange(2) for _ in tuples]
        groups = [[i for i, number in enumerate(numbers) if number == j] for j in sorted(set(numbers))]
        if all(diverse(tuples, group, ell) for group in groups):
            n_partitions -= 1
            yield tuples, groups


# Tables 3 and 4


def test_table_1_is_anatomized_into_tables_3a_and_3b() -> None:
    assert TABLE_3A == qit(TABLE_1, GROUPS)
    assert TABLE_3B == st(TABLE_1, GROUPS)


def test_the_natural_join_of_group_1_is_table_4_and_that_of_group_2_has_twelve_records() -> None:
    joined = natural_join(TABLE_3A, TABLE_3B)

    assert TABLE_4 == [record for record in joined if record[1] == 1]
    assert Counter(record[1] for record in joined) == {1: 4 * 2, 2: 4 * 3}


def test_the_tables_depend_on_the_multisets_of_the_groups_alone() -> None:
    exchanged = [(cells, TABLE_1[{0: 1, 1: 0}.get(i, i)][1]) for i, (cells, _) in enumerate(TABLE_1)]

    assert qit(exchanged, GROUPS) == TABLE_3A
    assert st(exchanged, GROUPS) == TABLE_3B


# Privacy (Section 3.2)


def test_bob_has_either_disease_of_his_group_with_one_half_and_no_other() -> None:
    assert tuple_distribution(TABLE_3A, TABLE_3B, BOB) == {"dyspepsia": HALF, "pneumonia": HALF}


def test_alice_is_tuple_6_or_7_and_has_flu_with_one_half_either_way() -> None:
    cells, disease = TABLE_1[ALICE]

    assert individual_breach(TABLE_3A, TABLE_3B, cells, disease) == HALF * HALF + HALF * HALF
    assert tuple_breach(TABLE_3A, TABLE_3B, ALICE, disease) == HALF


def test_a_person_whose_quasi_identifiers_are_in_two_groups_has_the_average_of_them() -> None:
    tuples = [((0,), "a"), ((1,), "b"), ((0,), "a"), ((1,), "b"), ((1,), "c")]
    tables = qit(tuples, [[0, 1], [2, 3, 4]]), st(tuples, [[0, 1], [2, 3, 4]])

    assert individual_breach(*tables, (0,), "a") == (HALF + Fraction(1, 3)) / 2
    assert individual_distribution(*tables, (0,)) == {"a": Fraction(5, 12), "b": Fraction(5, 12), "c": Fraction(1, 6)}
    assert individual_distribution(*tables, (7,)) == {}  # nobody with these values is in the table, and this shows


@pytest.mark.parametrize("ell", [2, 3])
def test_no_tuple_and_no_person_of_an_l_diverse_partition_is_inferred_with_more_than_one_in_l(ell: int) -> None:
    highest = Fraction(0)
    for tuples, groups in diverse_partitions(ell, ell, 60):
        tables = qit(tuples, groups), st(tuples, groups)
        members = sorted((j, tuples[i]) for j, group in enumerate(groups, 1) for i in group)
        for row, (_, (cells, value)) in enumerate(members):
            at_tuple = tuple_breach(*tables, row, value)
            at_person = individual_breach(*tables, cells, value)
            highest = max(highest, at_tuple, at_person)
            assert at_tuple <= Fraction(1, ell)  # Corollary 1
            assert at_person <= Fraction(1, ell)  # Theorem 1
            assert sum(individual_distribution(*tables, cells).values()) == 1
    assert highest == Fraction(1, ell)


# Query A: pneumonia, age up to 30, zip code from 10001 to 20000

QUERY_A = ((-inf, 30), ("F", "M"), (10001, 20000))


def without_sex(box: tuple[Any, ...]) -> tuple[Any, ...]:
    return box[0], box[2]


def test_query_a_is_a_tenth_by_the_boxes_of_table_2() -> None:
    rows = [(without_sex(box), disease) for box, disease in TABLE_2]
    asked = ((0, 30), (10001, 20000))

    assert query_generalized(rows, asked, "pneumonia") == Fraction(1, 10)


def test_query_a_is_eight_hundredths_by_the_smallest_boxes_of_the_same_groups() -> None:
    rows = [(without_sex(smallest_box(GROUPS[i // 4])), disease) for i, (_, disease) in enumerate(TABLE_1)]
    answer = query_generalized(rows, ((0, 30), (10001, 20000)), "pneumonia")

    # 8 of the 37 ages 23 to 59, and 9001 of the 48001 zip codes 11000 to 59000
    assert answer == 2 * Fraction(8, 37) * Fraction(9001, 48001)
    assert f"{float(answer):.2f}" == "0.08"


def test_query_a_is_exactly_one_by_anatomy_and_on_the_microdata() -> None:
    in_query = [disease for (age, _, zipcode), disease in TABLE_1 if age <= 30 and 10001 <= zipcode <= 20000]

    assert query_anatomized(TABLE_3A, TABLE_3B, QUERY_A, "pneumonia") == 1 == in_query.count("pneumonia")


# Reconstruction (Section 4)

AGES = list(range(18, 100))


def test_tuple_1_is_at_distance_0_975_from_what_table_2_says_and_0_5_from_what_table_3_says() -> None:
    # In the plane of Age and Disease, as in Equations 5 to 8; the paper prints 22.5 for the first.
    age_and_disease = actual_pdf(((23,), "pneumonia"))
    generalized = generalized_pdf([(21, 60)], "pneumonia", [AGES])
    anatomized = anatomized_pdf([((age,), j) for (age, _, _), j in TABLE_3A], TABLE_3B, BOB)

    assert set(generalized.values()) == {Fraction(1, 40)}
    assert sum(generalized.values()) == sum(anatomized.values()) == 1
    assert error(generalized, age_and_disease) == Fraction(39, 40) ** 2 + 39 * Fraction(1, 40) ** 2 == Fraction("0.975")
    assert anatomized == {((23,), "pneumonia"): HALF, ((23,), "dyspepsia"): HALF}
    assert error(anatomized, age_and_disease) == HALF


def test_every_tuple_of_table_1_is_rebuilt_better_from_table_3_than_from_table_2() -> None:
    for row, (cells, disease) in enumerate(TABLE_1):
        box = TABLE_2[row][0]
        anatomized = anatomized_pdf(TABLE_3A, TABLE_3B, row)
        plane = error(generalized_pdf(box[:1], disease, [AGES]), actual_pdf((cells[:1], disease)))

        # In all dimensions a box of V points is at distance 1 - 1/V, even further.
        volume = prod(high - low + 1 for low, high in without_sex(box))
        assert error(anatomized, actual_pdf((cells, disease))) < plane < 1 - Fraction(1, volume)


def test_a_box_of_v_points_is_at_distance_one_minus_one_in_v() -> None:
    for width, height in [(1, 1), (3, 1), (4, 5)]:
        pdf = generalized_pdf([(0, width - 1), (0, height - 1)], "x", [range(9), range(9)])

        assert error(pdf, actual_pdf(((0, 0), "x"))) == 1 - Fraction(1, width * height)


def test_a_tuple_whose_value_is_not_what_was_smeared_would_be_further_off() -> None:
    spread = generalized_pdf([(0, 3)], "y", [range(9)])

    assert error(spread, actual_pdf(((0,), "x"))) == 1 + Fraction(1, 4)


def test_the_error_of_table_3_is_above_the_bound_of_theorem_2() -> None:
    # Group 1: four tuples at 1/2. Group 2: flu twice of four at (1/2)^2 + 2 (1/4)^2, the others at (3/4)^2 + ...
    flu, other = Fraction(1, 4) + 2 * Fraction(1, 16), Fraction(9, 16) + Fraction(1, 4) + Fraction(1, 16)

    assert reconstruction_error(TABLE_1, GROUPS) == 4 * HALF + 2 * flu + 2 * other == Fraction(9, 2)
    assert least_error(8, 2) == 4


@pytest.mark.parametrize(
    ("sensitive", "ell"),
    [
        ("abab", 2),
        ("aabbc", 2),
        ("abc", 2),
        ("aabbccd", 2),
        ("aabbcc", 3),
        ("aabbccd", 3),
        ("aabbccde", 3),
        ("abcde", 4),
        ("abcdeabf", 4),
    ],
)
def test_the_error_of_anatomize_is_that_of_theorem_4_and_the_bound_where_l_divides_n(sensitive: str, ell: int) -> None:
    n = len(sensitive)
    rows = [((i % 3,), ord(value)) for i, value in enumerate(sensitive)]
    partitions = enumerating.distribution(lambda draws: frozenset(anatomize(rows, ell, draws)))

    for partition in partitions:
        found = reconstruction_error(rows, sorted(partition, key=sorted))
        assert found == theorem_4(n, ell)
        assert (found == least_error(n, ell)) == (n % ell == 0)
        assert found <= least_error(n, ell) * (1 + Fraction(1, n))


def test_no_l_diverse_partition_is_below_the_bound_of_theorem_2() -> None:
    equal = 0
    for ell in (2, 3):
        for tuples, groups in diverse_partitions(7, ell, 100):
            found = reconstruction_error(tuples, groups)
            equal += found == least_error(len(tuples), ell)
            assert found >= least_error(len(tuples), ell)
    assert equal > 10


# Permutation (MINIMALITY 2.1)


def test_a_permutation_publishes_both_sides_of_each_group_in_full() -> None:
    class Last:
        def below(self, n: int, /) -> int:
            return n - 1

    rows = permuted(TABLE_1, GROUPS, Last())

    assert sorted((cells, j) for cells, j, _ in rows) == sorted(TABLE_3A)
    assert Counter((j, value) for _, j, value in rows) == {(j, value): count for j, value, count in TABLE_3B}


def test_every_order_of_either_side_is_equally_likely_and_independent_of_the_other_whatever_the_mapping_was() -> None:
    def chances(values: str) -> dict[Any, Fraction]:
        tuples = [((i,), value) for i, value in enumerate(values)]
        return enumerating.distribution(lambda draws: tuple(permuted(tuples, [range(3)], draws)))

    assert set(chances("abc").values()) == {Fraction(1, 36)}
    assert chances("abc") == chances("cab")
    assert chances("aab") == chances("aba") == chances("baa")
