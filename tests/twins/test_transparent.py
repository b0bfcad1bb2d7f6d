# SPDX-License-Identifier: Apache-2.0
"""The slow Tailor, Ace and Hybrid against TRANSPARENT's examples and the conditions of its theorems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random

import pytest

from tests.twins import by_force, enumerating
from tests.twins.mondrian import Partition, Row
from tests.twins.recoding import published
from tests.twins.transparent import (
    Bucket,
    ace,
    assign,
    canonical_cut,
    canonical_division,
    diverse,
    hybrid,
    perimeter,
    sliced,
    tailor,
)

HALF = Fraction(1, 2)

# TRANSPARENT Tables I, VIII, IV and XI: Ann, Bob, Cate, Don, Ed, Fred, Gill, Hera
AGES = [21, 27, 32, 54, 60]
ZIPCODES = [10000, 18000, 35000, 60000, 63000]
DISEASES = ["bronchitis", "diabetes", "dyspepsia", "flu", "gastritis"]
PLACES = [AGES, ZIPCODES]
QUASI = [(0, 0), (1, 1), (2, 2), (2, 2), (3, 3), (4, 4), (4, 4), (4, 4)]
ANN, BOB, CATE, DON, ED, FRED, GILL, HERA = range(8)


def hospital(*diseases: str) -> list[Row]:
    return [(codes, DISEASES.index(disease)) for codes, disease in zip(QUASI, diseases, strict=True)]


T3 = hospital("dyspepsia", "flu", "gastritis", "gastritis", "bronchitis", "flu", "dyspepsia", "diabetes")
T5 = hospital("dyspepsia", "flu", "gastritis", "gastritis", "flu", "bronchitis", "dyspepsia", "diabetes")
T8 = hospital("flu", "dyspepsia", "gastritis", "gastritis", "dyspepsia", "bronchitis", "flu", "diabetes")


def groups(*members: Sequence[int]) -> Partition:
    return {frozenset(group) for group in members}


def table(rows: list[Row], partition: Partition) -> Counter[tuple[str, ...]]:
    return published(rows, partition, [AGES, ZIPCODES], ["ordered", "ordered"], DISEASES)


def points(*codes: tuple[int, ...], sensitive: Sequence[int] | None = None) -> list[Row]:
    """All sensitive values different, unless given."""
    return list(zip(codes, sensitive or range(len(codes)), strict=True))


# Tailor


def test_tailor_turns_t5_into_table_ix() -> None:
    young, ed_and_fred, old = ("[21, 32]", "[10000, 35000]"), ("[54, 60]", "[60000, 63000]"), ("60", "63000")
    table_ix = Counter(
        {
            (*young, "dyspepsia"): 1,
            (*young, "flu"): 1,
            (*young, "gastritis"): 2,
            (*ed_and_fred, "flu"): 1,
            (*ed_and_fred, "bronchitis"): 1,
            (*old, "dyspepsia"): 1,
            (*old, "diabetes"): 1,
        }
    )

    partition = tailor(T5, PLACES, 2)

    assert groups([ANN, BOB, CATE, DON], [ED, FRED], [GILL, HERA]) == partition
    assert table_ix == table(T5, partition)


def test_tailor_turns_t3_into_the_same_table_because_the_partitions_are_isomorphic() -> None:
    assert tailor(T3, PLACES, 2) == tailor(T5, PLACES, 2)
    assert table(T3, tailor(T3, PLACES, 2)) == table(T5, tailor(T5, PLACES, 2))


def test_a_cut_leaves_l_times_the_largest_count_on_both_sides() -> None:
    # Six different values on a line: 2-cuts leave 2 to 4 on the left. The gap is after the fifth, out of reach.
    rows = points((0,), (1,), (2,), (3,), (4,), (5,))
    positions = [[0, 1, 2, 3, 4, 100]]

    # 2: 2*1 + 4*98, 3: 3*2 + 3*97, 4: 4*3 + 2*96
    assert canonical_cut(rows, list(range(6)), 2, perimeter(rows, positions)) == ([0, 1, 2, 3], [4, 5])

    # Nine people, four values twice and one once: 4 or 5 on the left, although 3 and 6 different ones lie together.
    rows = points(*[(0,)] * 3, *[(1,)] * 6, sensitive=[0, 1, 2, 3, 0, 1, 2, 3, 4])
    assert canonical_cut(rows, list(range(9)), 2, perimeter(rows, [[0, 1]])) == ([0, 1, 2, 3], [4, 5, 6, 7, 8])


def test_of_equally_cheap_cuts_the_first_dimension_and_then_the_smaller_left_part_is_taken() -> None:
    square = points((0, 0), (0, 1), (1, 0), (1, 1))
    places = [[0, 1], [0, 1]]
    same = points(*[(0,)] * 6)

    assert canonical_cut(square, [0, 1, 2, 3], 2, perimeter(square, places)) == ([0, 1], [2, 3])
    assert canonical_cut(same, list(range(6)), 2, perimeter(same, [[0]])) == ([0, 1], [2, 3, 4, 5])


def test_equal_values_are_cut_in_the_order_of_identifiers() -> None:
    rows = points((1,), (0,), (1,), (0,), (1,), (1,))

    # Two zeros and two ones left, or two zeros alone: the latter has perimeter 0.
    assert canonical_cut(rows, list(range(6)), 2, perimeter(rows, [[0, 1]])) == ([1, 3], [0, 2, 4, 5])
    assert canonical_cut(rows, [0, 1, 2, 4, 5], 2, perimeter(rows, [[0, 1]])) == ([1, 0], [2, 4, 5])


def test_widths_count_as_shares_of_the_whole_table_and_an_attribute_of_one_value_adds_nothing() -> None:
    rows = points((0, 0, 0), (1, 1, 0), (0, 2, 0))
    penalty = perimeter(rows, [[0, 10], [0, 1, 4], [7]])

    assert penalty(rows) == 3 * (1 + 1)
    assert penalty(rows[:2]) == 2 * (1 + Fraction(1, 4))
    assert penalty(rows[2:]) == 0


def test_tailor_takes_any_penalty() -> None:
    # Discernibility makes even cuts, whatever the values.
    rows = points((0,), (1,), (2,), (3,), (4,), (5,), (6,))

    assert groups([0, 1, 2], [3, 4], [5, 6]) == tailor(
        rows, [[0, 1, 2, 3, 4, 5, 60]], 2, penalty=lambda group: Fraction(len(group) ** 2)
    )


def test_what_is_not_eligible_is_not_published() -> None:
    rows = points((0,), (1,), (2,), sensitive=[0, 0, 1])

    assert tailor(rows, [range(3)], 2) == set()
    assert tailor([], [range(3)], 2) == set()
    for method in (ace, hybrid):
        assert enumerating.enumerate_runs(lambda draws, run=method: run(rows, [range(3)], 2, draws)) == [(1, set())]


# Ace


def chances(rows: list[Row], ell: int, method: object = ace) -> dict[frozenset[frozenset[int]], Fraction]:
    return enumerating.distribution(lambda draws: frozenset(method(rows, PLACES, ell, draws)))  # type: ignore[operator]


def test_assign_makes_the_buckets_of_example_6() -> None:
    every = enumerating.enumerate_runs(lambda draws: assign(T5, 2, draws))
    names = [[[DISEASES[value] for value in bucket] for bucket in buckets] for _, buckets in every]

    assert [[["dyspepsia", "flu"], ["gastritis", "bronchitis"], ["diabetes", "gastritis"]]] * 2 == names
    assert [(HALF, [[CATE], [FRED]]), (HALF, [[DON], [FRED]])] == [
        (probability, list(buckets[1].values())) for probability, buckets in every
    ]
    assert all(buckets[0] == {2: [ANN, GILL], 3: [BOB, ED]} for _, buckets in every)


def test_ace_turns_t5_into_table_x_with_one_fair_choice() -> None:
    young, older, wide = ("[21, 27]", "[10000, 18000]"), ("[54, 60]", "[60000, 63000]"), ("[32, 60]", "[35000, 63000]")
    table_x = Counter(
        {
            (*young, "dyspepsia"): 1,
            (*young, "flu"): 1,
            (*older, "dyspepsia"): 1,
            (*older, "flu"): 1,
            (*wide, "gastritis"): 2,
            (*wide, "bronchitis"): 1,
            (*wide, "diabetes"): 1,
        }
    )
    always = ([ANN, BOB], [ED, GILL])

    found = chances(T5, 2)

    assert {
        frozenset(groups(*always, [DON, FRED], [CATE, HERA])): HALF,
        frozenset(groups(*always, [CATE, FRED], [DON, HERA])): HALF,
    } == found
    assert all(table_x == table(T5, set(partition)) for partition in found)


def test_assign_gives_symmetric_buckets_of_t5_and_t8_equal_chances() -> None:
    assert chances(T5, 2) == chances(T8, 2)


def frequencies(n: int, largest: int) -> Iterator[tuple[int, ...]]:
    """All ways to write n as a sum, largest first."""
    if n == 0:
        yield ()
    for first in range(min(n, largest), 0, -1):
        for rest in frequencies(n - first, first):
            yield (first, *rest)


class First:
    """Makes the first choice each time."""

    def below(self, n: int, /) -> int:
        return 0


def test_assign_ends_in_l_diverse_buckets_for_every_eligible_multiset() -> None:
    tables = 0
    for ell in (2, 3, 4):
        for n in range(1, 16):
            for counts in frequencies(n, n // ell):
                rows = [((0,), value) for value, count in enumerate(counts) for _ in range(count)]
                buckets = assign(rows, ell, First())
                tables += 1

                assert sorted(i for bucket in buckets for column in bucket.values() for i in column) == list(range(n))
                for bucket in buckets:
                    assert len(bucket) >= ell
                    assert len({len(column) for column in bucket.values()}) == 1
                    assert all(rows[i][1] == value for value, column in bucket.items() for i in column)
    by_force.say(f"Assign: {tables} multisets")


def test_assign_chooses_uniformly_among_the_tuples_of_a_value() -> None:
    # Frequencies 3, 2, 1 at l = 2: alpha is 2 ... of 3, then 1 of what is left.
    rows = [((0,), value) for value in (0, 0, 0, 1, 1, 2)]
    columns = Counter[tuple[int, ...]]()
    for probability, buckets in enumerating.enumerate_runs(lambda draws: assign(rows, 2, draws)):
        columns[tuple(buckets[0][0])] += probability  # type: ignore[assignment]

    assert {(0, 1): Fraction(1, 3), (0, 2): Fraction(1, 3), (1, 2): Fraction(1, 3)} == columns


def test_a_division_takes_equally_many_from_the_top_of_every_column() -> None:
    # Columns 0, 2, 4 and 1, 3, 5 along a line with the gap after the first pair.
    rows = points((0,), (1,), (3,), (2,), (4,), (5,), sensitive=[0, 1, 0, 1, 0, 1])
    penalty = perimeter(rows, [[0, 1, 10, 11, 12, 13]])

    assert canonical_division(rows, {0: [0, 2, 4], 1: [1, 3, 5]}, penalty) == (
        {0: [0], 1: [1]},
        {0: [2, 4], 1: [3, 5]},
    )
    assert groups([0, 1], [2, 3], [4, 5]) == sliced(rows, {0: [0, 2, 4], 1: [1, 3, 5]}, penalty)


def test_of_equally_cheap_divisions_the_first_dimension_and_then_the_smaller_first_part_is_taken() -> None:
    square = points((0, 0), (0, 0), (1, 1), (1, 1), sensitive=[0, 1, 0, 1])
    crossed = points((0, 1), (0, 1), (1, 0), (1, 0), sensitive=[0, 1, 0, 1])
    same = points(*[(0,)] * 6, sensitive=[0, 1, 0, 1, 0, 1])
    places = [[0, 1], [0, 1]]

    assert canonical_division(square, {0: [0, 2], 1: [1, 3]}, perimeter(square, places))[0] == {0: [0], 1: [1]}
    assert canonical_division(crossed, {0: [0, 2], 1: [1, 3]}, perimeter(crossed, places))[0] == {0: [0], 1: [1]}
    assert canonical_division(same, {0: [0, 2, 4], 1: [1, 3, 5]}, perimeter(same, [[0]]))[0] == {0: [0], 1: [1]}


# Hybrid


def test_hybrid_splits_the_group_that_tailor_leaves_in_example_4() -> None:
    # TRANSPARENT 3.3: {Ann, Bob, Cate, Don} can be split further, into {Ann, Cate} and {Bob, Don}.
    always = ([ED, FRED], [GILL, HERA])

    assert {
        frozenset(groups(*always, [ANN, CATE], [BOB, DON])): HALF,
        frozenset(groups(*always, [ANN, DON], [BOB, CATE])): HALF,
    } == chances(T5, 2, hybrid)


def test_groups_of_every_method_are_l_diverse_and_those_of_hybrid_lie_inside_those_of_tailor() -> None:
    for case in by_force.random_cases(3, 60, people=(4, 5, 6, 7, 8), max_worlds=100_000):
        rows = by_force.rows_of(case.codes, case.values)
        coarse = tailor(rows, case.positions, case.ell)
        fine = [
            set(partition)
            for _, partition in enumerating.enumerate_runs(
                lambda draws, case=case, rows=rows: hybrid(rows, case.positions, case.ell, draws)
            )
        ]
        divided = enumerating.enumerate_runs(
            lambda draws, case=case, rows=rows: ace(rows, case.positions, case.ell, draws)
        )

        for partition in [coarse, *fine, *(partition for _, partition in divided)]:
            assert sorted(i for group in partition for i in group) == list(range(len(rows)))
            assert all(diverse(rows, sorted(group), case.ell) for group in partition)
        assert all(any(group <= larger for larger in coarse) for partition in fine for group in partition)


# What the theorems ask


def test_tailor_meets_the_condition_of_theorem_1() -> None:
    cut = 0
    for case in by_force.random_cases(5, 40, people=(4, 5, 6), ells=(2,), n_values=(6, 30)):

        def method(codes: by_force.Codes, sensitive: Sequence[int], _: object, case: by_force.Case = case) -> Partition:
            return tailor(by_force.rows_of(codes, sensitive), case.positions, case.ell)

        assert by_force.unequal_likelihood(method, case) is None
        cut += len(method(case.codes, case.values, None)) > 1
    assert cut > 5


def test_ace_does_not_meet_the_condition_of_theorem_1_and_needs_theorem_2() -> None:
    # Values a a b b on a line: one bucket of two columns, sliced. a a b b gives {0, 2} and {1, 3}, and so does b b a a;
    # but a b b a, which has the same multisets in these groups, gives {0, 1} and {2, 3}.
    case = by_force.Case(((0,), (1,), (2,), (3,)), ((0, 1, 2, 3),), (0, 0, 1, 1), 2)

    found = by_force.unequal_likelihood(
        lambda codes, sensitive, draws: ace(by_force.rows_of(codes, sensitive), case.positions, 2, draws), case
    )

    crossed = frozenset({(frozenset({0, 2}), (0, 1)), (frozenset({1, 3}), (0, 1))})
    assert (crossed, 4, 2, {1}) == found


@pytest.mark.parametrize("sensitive", [(0, 0, 1, 1), (0, 0, 1, 1, 2), (0, 0, 1, 1, 2, 3), (0, 1, 2, 2, 3, 3)])
def test_assign_meets_lemma_6_symmetric_bucket_partitions_are_equally_likely(sensitive: tuple[int, ...]) -> None:
    def buckets(values: Sequence[int], draws: object) -> list[Bucket]:
        return assign([((0,), value) for value in values], 2, draws)  # type: ignore[arg-type]

    assert by_force.unequal_symmetry(buckets, sensitive) is None


def test_an_assign_that_takes_the_first_tuples_breaks_lemma_6() -> None:
    def buckets(values: Sequence[int], _: object) -> list[Bucket]:
        return assign([((0,), value) for value in values], 2, First())

    assert by_force.unequal_symmetry(buckets, (0, 0, 1, 2)) is not None


def test_slice_meets_lemma_5_symmetric_buckets_give_symmetric_groups() -> None:
    source = Random(8)
    for _ in range(100):
        (n_columns, length), n_dimensions = source.choice([(2, 2), (2, 3), (3, 2), (2, 4)]), source.choice([1, 2])
        codes = [tuple(source.randrange(4) for _ in range(n_dimensions)) for _ in range(n_columns * length)]
        positions = [sorted(source.sample(range(9), 4)) for _ in range(n_dimensions)]
        order = source.sample(range(len(codes)), len(codes))
        columns = [order[length * j : length * (j + 1)] for j in range(n_columns)]

        def method(
            sensitive: Sequence[int],
            bucket: Bucket,
            codes: by_force.Codes = codes,
            positions: Sequence[Sequence[int]] = positions,
        ) -> Partition:
            rows = by_force.rows_of(codes, sensitive)
            return sliced(rows, bucket, perimeter(rows, positions))

        (partition,) = by_force.slices_of_symmetric(method, columns)
        assert len(partition) == length
        assert all(len(group & set(column)) == 1 for group in partition for column in columns)
