# SPDX-License-Identifier: Apache-2.0
"""The slow ANGEL against the paper's tables and examples, its random worlds and its guarantee."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product
from random import Random
from typing import Any

import pytest

from tests.twins import anatomy, attack, principles
from tests.twins.angel import (
    batch_beliefs,
    batch_table,
    classes_of_angelization,
    classes_of_generalization,
    counted,
    density,
    distribution,
    generalized_table,
    generalized_without_sensitive,
    linked_beliefs,
    random_worlds,
    reconstructed,
    sensitive_beliefs,
    world_density,
)
from tests.twins.recoding import published

HALF = Fraction(1, 2)
DISEASES = ("bronchitis", "flu", "pneumonia")
ALAN, BOB, CARRIE, DAISY, EDDY, FRANK, GLORIA, HELENA = range(8)

# Table 1a: Age, Sex, Disease
TABLE_1A = [
    ((21, "M"), "pneumonia"),
    ((23, "M"), "pneumonia"),
    ((38, "F"), "bronchitis"),
    ((40, "F"), "bronchitis"),
    ((41, "M"), "pneumonia"),
    ((43, "M"), "pneumonia"),
    ((58, "F"), "bronchitis"),
    ((60, "F"), "bronchitis"),
]
AGES, SEXES = range(18, 80), ("F", "M")
ANY = ("F", "M")  # printed as *
TABLE_1B = [
    (((21, 40), ANY), "pneumonia"),
    (((21, 40), ANY), "pneumonia"),
    (((21, 40), ANY), "bronchitis"),
    (((21, 40), ANY), "bronchitis"),
    (((41, 60), ANY), "pneumonia"),
    (((41, 60), ANY), "pneumonia"),
    (((41, 60), ANY), "bronchitis"),
    (((41, 60), ANY), "bronchitis"),
]
BATCHES = [[ALAN, CARRIE], [BOB, DAISY], [EDDY, GLORIA], [FRANK, HELENA]]
BUCKETS = [[ALAN, BOB], [CARRIE, DAISY], [EDDY, FRANK], [GLORIA, HELENA]]
QI_GROUPS = [[ALAN, BOB, CARRIE, DAISY], [EDDY, FRANK, GLORIA, HELENA]]

# Table 2a: Age, Sex, Zipcode in thousands, Disease
TABLE_2A = [
    ((21, "M", 10), "pneumonia"),
    ((23, "M", 58), "flu"),
    ((58, "F", 12), "bronchitis"),
    ((60, "F", 60), "pneumonia"),
    ((70, "M", 78), "flu"),
    ((72, "M", 80), "bronchitis"),
]
MEN, WOMEN = ("M", "M"), ("F", "F")
TABLE_2B = [
    (((21, 23), MEN, (10, 58)), "pneumonia"),
    (((21, 23), MEN, (10, 58)), "flu"),
    (((58, 60), WOMEN, (12, 60)), "bronchitis"),
    (((58, 60), WOMEN, (12, 60)), "pneumonia"),
    (((70, 72), MEN, (78, 80)), "flu"),
    (((70, 72), MEN, (78, 80)), "bronchitis"),
]
TABLE_2C = [
    (((10, 12),), "pneumonia"),
    (((10, 12),), "bronchitis"),
    (((58, 60),), "flu"),
    (((58, 60),), "pneumonia"),
    (((78, 80),), "flu"),
    (((78, 80),), "bronchitis"),
]
TABLE_8 = [(cells, TABLE_2A[{EDDY: FRANK, FRANK: EDDY}.get(i, i)][1]) for i, (cells, _) in enumerate(TABLE_2A)]
ALL, ZIPCODE = (0, 1, 2), (2,)
SPACE_2 = [range(21, 73), SEXES, range(10, 81)]
BATCHES_2 = FIRST_BUCKETS = [[ALAN, BOB], [CARRIE, DAISY], [EDDY, FRANK]]
SECOND_BUCKETS = [[ALAN, CARRIE], [BOB, DAISY], [EDDY, FRANK]]


# What is published


def test_the_batches_and_buckets_of_section_3_1_give_tables_3a_and_3b() -> None:
    table_3a = [(i, disease, 1) for i in (1, 2, 3, 4) for disease in ("bronchitis", "pneumonia")]
    table_3b = [
        (((21, 23), MEN), 1),
        (((21, 23), MEN), 2),
        (((38, 40), WOMEN), 1),
        (((38, 40), WOMEN), 2),
        (((41, 43), MEN), 3),
        (((41, 43), MEN), 4),
        (((58, 60), WOMEN), 3),
        (((58, 60), WOMEN), 4),
    ]

    assert table_3a == batch_table(TABLE_1A, BATCHES)
    assert table_3b == generalized_table(TABLE_1A, BATCHES, BUCKETS)


def test_the_partitions_of_tables_5a_and_5b_are_2_diverse_and_2_anonymous() -> None:
    # Neither is published. Table 5a overlaps, which batches may.
    table_5a = [((21, 38), ANY), ((23, 40), ANY), ((41, 58), ANY), ((43, 60), ANY)]
    table_5b = [((21, 23), MEN), ((38, 40), WOMEN), ((41, 43), MEN), ((58, 60), WOMEN)]

    assert sorted({cells for cells, _ in generalized_table(TABLE_1A, BATCHES, BATCHES)}) == table_5a
    assert sorted(set(generalized_without_sensitive(TABLE_1A, BUCKETS))) == table_5b
    assert all(diverse([TABLE_1A[i][1] for i in batch], 2) for batch in BATCHES)
    assert all(len(bucket) >= 2 for bucket in BUCKETS)
    assert not any(diverse([TABLE_1A[i][1] for i in bucket], 2) for bucket in BUCKETS)


def test_with_buckets_equal_to_batches_it_is_simple_generalization_as_tables_4a_and_4b_say_table_1b() -> None:
    table_4a = [(1, "bronchitis", 2), (1, "pneumonia", 2), (2, "bronchitis", 2), (2, "pneumonia", 2)]
    table_4b = [(((21, 40), ANY), 1)] * 4 + [(((41, 60), ANY), 2)] * 4

    assert table_4a == batch_table(TABLE_1A, QI_GROUPS)
    assert table_4b == generalized_table(TABLE_1A, QI_GROUPS, QI_GROUPS)
    assert classes_of_angelization(table_4a, table_4b) == classes_of_generalization(TABLE_1B)


def test_table_1b_has_the_smallest_boxes_of_its_groups() -> None:
    codes = [((age, SEXES.index(sex)), DISEASES.index(disease)) for (age, sex), disease in TABLE_1A]
    rows = published(codes, QI_GROUPS, [range(100), SEXES], ["ordered", "unordered"], DISEASES)
    printed = [(f"[{low}, {high}]", "{F, M}", disease) for ((low, high), _), disease in TABLE_1B]

    assert sorted(printed) == sorted(rows.elements())


def test_with_buckets_of_one_value_it_is_anatomy_as_in_tables_6a_and_6b() -> None:
    gt = generalized_table(TABLE_1A, QI_GROUPS, [[i] for i in range(8)])
    exact = sorted((tuple(low for low, _ in cells), i) for cells, i in gt)
    table_6a = [(cells, 1 + (i > DAISY)) for i, (cells, _) in enumerate(TABLE_1A)]

    assert all(low == high for cells, _ in gt for low, high in cells)
    assert exact == table_6a == sorted(anatomy.qit(TABLE_1A, QI_GROUPS))
    assert batch_table(TABLE_1A, QI_GROUPS) == anatomy.st(TABLE_1A, QI_GROUPS)


def test_both_marginals_of_example_3_share_one_batch_table_as_in_table_7() -> None:
    table_7a = [
        (1, "flu", 1),
        (1, "pneumonia", 1),
        (2, "bronchitis", 1),
        (2, "pneumonia", 1),
        (3, "bronchitis", 1),
        (3, "flu", 1),
    ]
    table_7b = [
        (((21, 23), MEN, (10, 58)), 1),
        (((21, 23), MEN, (10, 58)), 1),
        (((58, 60), WOMEN, (12, 60)), 2),
        (((58, 60), WOMEN, (12, 60)), 2),
        (((70, 72), MEN, (78, 80)), 3),
        (((70, 72), MEN, (78, 80)), 3),
    ]
    table_7c = [
        (((10, 12),), 1),
        (((10, 12),), 2),
        (((58, 60),), 1),
        (((58, 60),), 2),
        (((78, 80),), 3),
        (((78, 80),), 3),
    ]

    assert table_7a == batch_table(TABLE_2A, BATCHES_2)
    assert table_7b == generalized_table(TABLE_2A, BATCHES_2, FIRST_BUCKETS)
    assert table_7c == generalized_table(TABLE_2A, BATCHES_2, SECOND_BUCKETS, ZIPCODE)


def test_a_marginal_without_the_sensitive_attribute_shows_boxes_and_no_batch() -> None:
    assert generalized_without_sensitive(TABLE_2A, SECOND_BUCKETS, ZIPCODE) == [
        ((low, high),) for low, high in [(10, 12), (10, 12), (58, 60), (58, 60), (78, 80), (78, 80)]
    ]


def test_exchanging_values_inside_batches_changes_no_table() -> None:
    exchanged = list(TABLE_1A)
    exchanged[ALAN], exchanged[CARRIE] = ((21, "M"), "bronchitis"), ((38, "F"), "pneumonia")

    assert batch_table(exchanged, BATCHES) == batch_table(TABLE_1A, BATCHES)
    assert generalized_table(exchanged, BATCHES, BUCKETS) == generalized_table(TABLE_1A, BATCHES, BUCKETS)


# What follows for one person


def test_example_1_both_classes_of_table_1b_have_both_diseases_equally() -> None:
    even = {"pneumonia": HALF, "bronchitis": HALF}

    assert classes_of_generalization(TABLE_1B) == [(((21, 40), ANY), 4, even), (((41, 60), ANY), 4, even)]


def test_example_2_alan_is_in_batch_1_or_2_and_has_either_disease_with_one_half() -> None:
    tables = batch_table(TABLE_1A, BATCHES), generalized_table(TABLE_1A, BATCHES, BUCKETS)

    assert [i for cells, i in tables[1] if cells == ((21, 23), MEN)] == [1, 2]
    assert linked_beliefs(classes_of_angelization(*tables), (21, "M")) == {"pneumonia": HALF, "bronchitis": HALF}


def test_equation_2_weighs_batches_by_the_rows_of_the_bucket() -> None:
    # Two of the bucket's three rows are of batch 1 (a, a, b, c), one is of batch 2 (b, d).
    tuples = [((0,), "a"), ((1,), "a"), ((5,), "b"), ((6,), "c"), ((2,), "b"), ((7,), "d")]
    batches, buckets = [[0, 1, 2, 3], [4, 5]], [[0, 1, 4], [2, 3, 5]]
    found = linked_beliefs(
        classes_of_angelization(batch_table(tuples, batches), generalized_table(tuples, batches, buckets)), (1,)
    )

    a, b = Fraction(2, 3), Fraction(1, 3)
    assert found == {"a": a * HALF, "b": a / 4 + b * HALF, "c": a / 4, "d": b * HALF}


# The leak of Tables 2b and 2c, and how ANGEL avoids it


def test_either_of_tables_2b_and_2c_leaves_alan_two_diseases_and_both_leave_him_one() -> None:
    alan = TABLE_2A[ALAN][0]

    assert sensitive_beliefs([(ALL, TABLE_2B)], SPACE_2, alan) == {"pneumonia": HALF, "flu": HALF}
    assert sensitive_beliefs([(ZIPCODE, TABLE_2C)], SPACE_2, alan) == {"pneumonia": HALF, "bronchitis": HALF}
    assert sensitive_beliefs([(ALL, TABLE_2B), (ZIPCODE, TABLE_2C)], SPACE_2, alan) == {"pneumonia": 1}


def test_in_random_worlds_tables_2b_and_2c_give_four_people_away_as_good_as_certainly() -> None:
    # The two tables match in two ways, by the two rows of pneumonia in each. In the real way these people's zip codes
    # have 3 * 3 choices, in the other one 1 * 1 (58 and 12, which are Bob's and Carrie's own); hence 1 in 9 + 1 + 1.
    both = [(ALL, TABLE_2B), (ZIPCODE, TABLE_2C)]
    either, real, other = {"bronchitis": HALF, "flu": HALF}, Fraction(10, 11), Fraction(1, 11)
    expected = {
        ALAN: {"pneumonia": 1},
        BOB: {"flu": real, "pneumonia": other},
        CARRIE: {"bronchitis": real, "pneumonia": other},
        DAISY: {"pneumonia": 1},
        EDDY: either,
        FRANK: either,
    }

    assert len(list(random_worlds(both, SPACE_2))) == 2
    assert expected == {i: sensitive_beliefs(both, SPACE_2, cells) for i, (cells, _) in enumerate(TABLE_2A)}


def test_knowing_everyones_quasi_identifiers_leaves_tables_2a_and_8_and_no_other() -> None:
    def groups_of(values: dict[Any, Any]) -> Any:
        return [[sorted(values[i] for i in group) for group in groups] for groups in (FIRST_BUCKETS, SECOND_BUCKETS)]

    real = groups_of({i: disease for i, (_, disease) in enumerate(TABLE_2A)})
    fitting = [world for world in attack.worlds(range(6), DISEASES) if groups_of(world) == real]

    assert sorted([[*world.values()] for world in fitting]) == sorted(
        [disease for _, disease in table] for table in (TABLE_2A, TABLE_8)
    )


def test_example_4_is_a_world_and_its_table_is_table_8() -> None:
    # h_1 and h_2 count rows from 1. Alan to Frank are rows 1, 2, 3, 4, 6, 5 of Table 2b: named by these rows, the world
    # has Frank before Eddy.
    h_1 = [1, 2, 3, 4, 6, 5]
    h_2 = [1, 3, 2, 4, 6, 5]
    worlds = list(random_worlds([(ALL, TABLE_2B), (ZIPCODE, TABLE_2C)], SPACE_2))
    named = sorted((first - 1, second - 1) for first, second in zip(h_1, h_2, strict=True))

    assert named in worlds
    assert [TABLE_2B[row - 1][1] for row in h_1] == [TABLE_2C[row - 1][1] for row in h_2]
    assert [TABLE_2B[row - 1][1] for row in h_1] == [disease for _, disease in TABLE_8]
    for (cells, _), first, second in zip(TABLE_8, h_1, h_2, strict=True):
        assert covered(TABLE_2B[first - 1][0], cells)
        assert covered(TABLE_2C[second - 1][0], cells[2:])


def covered(box: Sequence[Any], point: Sequence[Any]) -> bool:
    return all(low <= x <= high for (low, high), x in zip(box, point, strict=True))


def test_from_the_angelization_of_table_7_everyone_has_two_diseases_with_one_half() -> None:
    bt = batch_table(TABLE_2A, BATCHES_2)
    gts = [
        (ALL, generalized_table(TABLE_2A, BATCHES_2, FIRST_BUCKETS)),
        (ZIPCODE, generalized_table(TABLE_2A, BATCHES_2, SECOND_BUCKETS, ZIPCODE)),
    ]

    assert batch_beliefs(bt, gts, SPACE_2, TABLE_2A[ALAN][0]) == {"pneumonia": HALF, "flu": HALF}
    for cells, _ in TABLE_2A:
        assert set(batch_beliefs(bt, gts, SPACE_2, cells).values()) == {HALF}


# Random worlds, against their plain definition


def plain_worlds(marginals: Any, space: Any) -> list[tuple[Any, ...]]:
    """Section 4.2.1: all functions q, h_1, ..., h_g of people that are consistent."""
    n = len(marginals[0][1])
    points = list(product(*space))
    found = []
    for q in product(points, repeat=n):
        for hs in product(permutations(range(n)), repeat=len(marginals)):
            pairs = list(zip(marginals, hs, strict=True))
            rows = [
                [(tuple(q[o][a] for a in attributes), table[h[o]]) for (attributes, table), h in pairs]
                for o in range(n)
            ]
            if all(covered(cells, place) for mine in rows for place, (cells, _) in mine) and all(
                len({value for _, (_, value) in mine}) == 1 for mine in rows
            ):
                found.append((q, [mine[0][1][1] for mine in rows]))
    return found


@pytest.mark.parametrize(
    "second",
    [
        [(((0, 1),), "a"), (((0, 1),), "a"), (((1, 2),), "b")],
        [(((0, 0),), "a"), (((1, 2),), "a"), (((0, 2),), "b")],
    ],
)
def test_beliefs_are_those_of_the_plain_definition_over_all_people_points_and_tuples(second: Any) -> None:
    first = [(((0, 0), (0, 2)), "a"), (((0, 1), (1, 1)), "a"), (((0, 1), (0, 1)), "b")]
    space = [range(2), range(3)]
    marginals = [((0, 1), first), ((1,), second)]
    worlds = plain_worlds(marginals, space)

    assert len(worlds) > 20
    for point in product(*space):
        for value in "ab":
            for person in range(3):
                alpha = sum(1 for q, values in worlds if q[person] == point and values[person] == value)
                assert world_density(marginals, space, point, value) == Fraction(alpha, len(worlds))


def test_of_a_single_table_random_worlds_give_what_equation_7_gives() -> None:
    space = [range(21, 73), SEXES, range(10, 81)]
    classes = classes_of_generalization(TABLE_2B)
    for point in [(21, "M", 10), (22, "M", 30), (58, "F", 60), (70, "M", 79), (70, "F", 79), (40, "M", 40)]:
        for disease in DISEASES:
            expected = reconstructed(classes, space, point, disease)
            assert world_density([(ALL, TABLE_2B)], space, point, disease) == expected


def test_densities_sum_to_one() -> None:
    space = [range(20, 62), SEXES]
    classes = classes_of_angelization(batch_table(TABLE_1A, BATCHES), generalized_table(TABLE_1A, BATCHES, BUCKETS))
    points = list(product(product(*space), DISEASES))

    assert sum(reconstructed(classes, space, *at) for at in points) == 1
    assert sum(density(TABLE_1A, *at) for at in points) == 1


# The guarantee (Lemma 1, Theorem 1)


def diverse(values: Sequence[Any], ell: int) -> bool:
    return bool(principles.l_diversity([values.count(x) for x in set(values)], ell))


@pytest.mark.parametrize("ell", [2, 3])
def test_whatever_the_buckets_and_marginals_a_belief_is_l_diverse_if_the_batches_are(ell: int) -> None:
    source = Random(ell)
    tried = 0
    while tried < 8:
        n = 6
        tuples = [((source.randrange(3), source.randrange(3)), source.randrange(5)) for _ in range(n)]
        numbers = [source.randrange(2) for _ in tuples]
        batches = [[i for i in range(n) if numbers[i] == j] for j in sorted(set(numbers))]
        if not all(diverse([tuples[i][1] for i in batch], ell) for batch in batches):
            continue
        tried += 1
        bt = batch_table(tuples, batches)
        gts: list[Any] = []
        for attributes in ([0, 1], [1]):
            order = source.sample(range(n), n)
            gts.append((attributes, generalized_table(tuples, batches, [order[:2], order[2:4], order[4:]], attributes)))
        for cells, size, beliefs in classes_of_angelization(bt, gts[0][1]):
            assert size >= 2, cells
            assert max(beliefs.values()) <= Fraction(1, ell)  # Lemma 1
        for cells, _ in tuples:
            beliefs = batch_beliefs(bt, gts, [range(3), range(3)], cells)
            assert sum(beliefs.values()) == 1
            assert max(beliefs.values()) <= Fraction(1, ell)  # Theorem 1


def test_a_distribution_is_counts_over_their_sum() -> None:
    assert distribution(["a", "b", "a", "c"]) == {"a": HALF, "b": Fraction(1, 4), "c": Fraction(1, 4)}


# Analysis (Section 5)


def on_age(rows: Any) -> Any:
    """Tables of Age alone: the subspace of Example 6."""
    return [((cells[0],), other) for cells, other in rows]


def asked(point: tuple[Any, ...], disease: str) -> bool:
    return 35 <= point[0] <= 45 and disease == "pneumonia"


def test_example_6_is_1_1_of_8_tuples_by_table_1b_and_2_by_tables_3a_and_3b() -> None:
    simple = classes_of_generalization(on_age(TABLE_1B))
    angelized = classes_of_angelization(
        batch_table(TABLE_1A, BATCHES), on_age(generalized_table(TABLE_1A, BATCHES, BUCKETS))
    )
    answer = counted(simple, [AGES], DISEASES, asked)

    assert answer == 11 * Fraction(8, 80) == Fraction("1.1")
    assert f"{float(answer / 8):.2f}" == "0.14"  # as printed: Formula 8 without |T|
    assert counted(angelized, [AGES], DISEASES, asked) == 2
    assert len([t for t in TABLE_1A if asked(*t)]) == 2


def test_figure_3_the_reconstruction_of_age_and_disease() -> None:
    angelized = classes_of_angelization(
        batch_table(TABLE_1A, BATCHES), on_age(generalized_table(TABLE_1A, BATCHES, BUCKETS))
    )
    simple = classes_of_generalization(on_age(TABLE_1B))

    assert {reconstructed(simple, [AGES], (age,), "pneumonia") for age in range(21, 61)} == {Fraction(1, 80)}
    assert reconstructed(angelized, [AGES], (39,), "pneumonia") == Fraction(2, 8) * Fraction(1, 3) * HALF
    assert reconstructed(angelized, [AGES], (30,), "pneumonia") == 0
