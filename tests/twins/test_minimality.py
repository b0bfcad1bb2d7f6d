# SPDX-License-Identifier: Apache-2.0
"""The slow GG, RGG, SG and even splits against MINIMALITY's examples, closed forms and bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import prod
from typing import Any

import pytest

from tests.twins import attack, by_force, enumerating, mondrian
from tests.twins.greedy import (
    binary_diverse,
    close,
    even_split,
    frequency_diverse,
    gg,
    hilbert,
    hilbert_index,
    lexicographic,
    rgg,
    sg,
)
from tests.twins.mondrian import Partition, Row
from tests.twins.transparent import Draws

HALF = Fraction(1, 2)
NEGATIVE, POSITIVE = 0, 1


def groups(*members: Sequence[int]) -> Partition:
    return {frozenset(group) for group in members}


def line(sensitive: Sequence[int]) -> list[Row]:
    return [((i,), value) for i, value in enumerate(sensitive)]


def on_a_line(values: Sequence[int], ell: int) -> by_force.Case:
    n = len(values)
    return by_force.Case(tuple((i,) for i in range(n)), (tuple(range(n)),), tuple(values), ell)


def one_group(values: Sequence[int]) -> Any:
    return frozenset({(frozenset(range(len(values))), tuple(sorted(values)))})


def beliefs(method: by_force.Method, values: Sequence[int], release: Any = None) -> attack.Beliefs:
    """After this release (None: everybody in one group), by people on a line with this multiset of values."""
    case = on_a_line(values, 2)
    evidence = by_force.evidence_of(method, case.codes, by_force.worlds_of(case))
    return by_force.beliefs_after(evidence.releases[one_group(values) if release is None else release])


def positives(m: int, ell: int) -> list[int]:
    """The multiset of the only GG groups of m > 1 buckets: exactly m positives (MINIMALITY Theorem 8)."""
    return [NEGATIVE] * (m * ell - m) + [POSITIVE] * m


# Greedy Grouping


def test_a_group_is_closed_at_the_first_bucket_where_it_is_diverse() -> None:
    sensitive = [0, 1, 2, 2, 1, 1, 2, 1, 0, 1]
    # ab | cc: no; cc bb: yes, two of four | cb | ab

    assert groups([0, 1], [2, 3, 4, 5], [6, 7], [8, 9]) == gg(line(sensitive), 2, frequency_diverse(2))


@pytest.mark.parametrize("ell", [2, 3])
def test_row_by_row_gives_the_groups_of_whole_buckets(ell: int) -> None:
    # MINIMALITY 4.1: a diverse group of c*l + j rows has a diverse prefix of c*l rows.
    for sensitive in product(range(3), repeat=7):
        rows, holds = line(sensitive), frequency_diverse(ell)
        assert gg(rows, 1, holds, leftover="drop") == gg(rows, ell, holds, leftover="drop")


def test_an_incomplete_last_group_is_merged_until_it_holds_or_dropped() -> None:
    ab_cc, ab_ab_cc = line([0, 1, 2, 2]), line([0, 1, 0, 1, 2, 2])
    far = line([0, 1, 2, 3, 4, 4, 4, 4])  # needs more than its neighbour

    assert groups([0, 1, 2, 3]) == gg(ab_cc, 2, frequency_diverse(2))
    assert groups([0, 1], [2, 3, 4, 5]) == gg(ab_ab_cc, 2, frequency_diverse(2))
    assert groups(range(8)) == gg(far, 2, frequency_diverse(2))
    assert groups([0, 1]) == gg(ab_cc, 2, frequency_diverse(2), leftover="drop")
    assert groups([0, 1], [2, 3, 4]) == gg(line([0, 1, 2, 3, 4]), 2, frequency_diverse(2))
    assert groups([0, 1], [2, 3]) == gg(line([0, 1, 2, 3, 4]), 2, frequency_diverse(2), leftover="drop")


def test_a_table_that_is_not_eligible_gives_nothing() -> None:
    assert gg(line([0, 0, 0, 1]), 2, frequency_diverse(2)) == set()
    assert sg(line([0, 0, 0, 1]), frequency_diverse(2)) == set()
    assert even_split(line([0, 0, 0, 1]), [range(4)], frequency_diverse(2)) == set()


def greedy(ell: int, leftover: str = "drop") -> by_force.Method:
    return lambda codes, sensitive, _: gg(
        by_force.rows_of(codes, sensitive), ell, binary_diverse(ell, POSITIVE), leftover=leftover
    )


def test_greedy_grouping_falls_as_in_figure_6a() -> None:
    # Negative, negative, positive, positive: a and b must both be positive, or {a, b} would have been released.
    found = beliefs(greedy(2), [NEGATIVE, NEGATIVE, POSITIVE, POSITIVE])

    assert [1, 1, 0, 0] == [found.get((person, POSITIVE), 0) for person in range(4)]


def test_figure_6a_over_all_worlds_is_the_same() -> None:
    def algorithm(world: attack.World) -> Any:
        partition = gg(line(list(world.values())), 2, binary_diverse(2, POSITIVE), leftover="drop")
        return frozenset((group, tuple(sorted(world[i] for i in group))) for group in partition)

    found = attack.posterior(one_group([0, 0, 1, 1]), algorithm, range(4), [NEGATIVE, POSITIVE])

    assert [1, 1, 0, 0] == [found[person, POSITIVE] for person in range(4)]


def test_merging_the_incomplete_rest_hides_the_last_group_of_figure_6a_but_not_an_earlier_one() -> None:
    # Alone: negatives first, and positives that no bucket follows, merge into the same group. With another bucket
    # behind it, only greed can have made the group.
    alone = beliefs(greedy(2, "merge"), [0, 0, 1, 1])
    before = frozenset({(frozenset(range(4)), (0, 0, 1, 1)), (frozenset({4, 5}), (0, 0))})
    followed = beliefs(greedy(2, "merge"), [0, 0, 0, 0, 1, 1], before)

    assert [HALF] * 4 == [alone[person, POSITIVE] for person in range(4)]
    assert [1, 1, 0, 0] == [followed.get((person, POSITIVE), 0) for person in range(4)]


@pytest.mark.parametrize(
    ("ell", "m", "expected"),
    [
        (2, 2, Fraction(1)),
        (3, 2, Fraction(2, 3)),
        (5, 2, Fraction(2, 5)),
        (3, 3, Fraction(7, 10)),
        (4, 3, Fraction(15, 28)),
        (6, 4, Fraction(77, 204)),
    ],
)
def test_beliefs_in_a_greedy_group_are_the_closed_form_and_fall_from_bucket_to_bucket(
    ell: int, m: int, expected: Fraction
) -> None:
    found = beliefs(greedy(ell), positives(m, ell))
    buckets = [[found.get((ell * j + i, POSITIVE), Fraction(0)) for i in range(ell)] for j in range(m)]

    assert expected == closed_form(ell, m) == buckets[0][0]
    assert all(len(set(bucket)) == 1 for bucket in buckets)
    assert all(one[0] >= other[0] for one, other in pairwise(buckets))  # Theorem 8
    assert buckets[0][0] < Fraction(2718282, 1000000) / ell  # Theorem 6


def worst_in_a_greedy_group(ell: int, m: int) -> tuple[Fraction, int]:
    """The worst belief under frequency l-diversity in one group of m buckets, and the number of worlds."""

    def method(codes: by_force.Codes, sensitive: Sequence[int], _: object) -> Partition:
        return gg(by_force.rows_of(codes, sensitive), ell, frequency_diverse(ell), leftover="drop")

    worst, n_worlds = Fraction(0), 0
    for values in multisets(m * ell, ell):
        case = on_a_line(values, ell)
        evidence = by_force.evidence_of(method, case.codes, by_force.worlds_of(case))
        n_worlds += evidence.n_worlds
        if one_group(values) in evidence.releases:
            worst = max(worst, *by_force.beliefs_after(evidence.releases[one_group(values)]).values())
    return worst, n_worlds


def closed_form(ell: int, m: int) -> Fraction:
    """MINIMALITY Theorem 6, before the estimate by e: the belief for the first of m buckets."""
    factors = (Fraction(m * ell - 1 - j, m * ell - m - j) for j in range(1, ell))
    return Fraction(1, ell) * prod(factors, start=Fraction(1))


@pytest.mark.parametrize(("ell", "m"), [(2, 2), (2, 3), (3, 2)])
def test_under_frequency_diversity_the_worst_belief_in_a_greedy_group_is_the_same(ell: int, m: int) -> None:
    assert worst_in_a_greedy_group(ell, m)[0] == closed_form(ell, m)


def multisets(n: int, ell: int) -> Iterator[tuple[int, ...]]:
    """Every l-eligible multiset of n values, up to their names."""

    def counts(left: int, most: int) -> Iterator[tuple[int, ...]]:
        if left == 0:
            yield ()
        for first in range(min(left, most), 0, -1):
            for rest in counts(left - first, first):
                yield (first, *rest)

    for frequencies in counts(n, n // ell):
        yield tuple(value for value, count in enumerate(frequencies) for _ in range(count))


def test_greedy_grouping_under_t_closeness_gives_three_people_away() -> None:
    # Values 0 0 1, t = 1/4: {0} and {1} are too far, 0 1 is close enough; only 0 0 1 in this order stays together.
    def method(codes: by_force.Codes, sensitive: Sequence[int], _: object) -> Partition:
        rows = by_force.rows_of(codes, sensitive)
        return gg(rows, 1, close(sensitive, Fraction(1, 4)), leftover="drop")

    found = beliefs(method, [0, 0, 1])

    assert [found.get((person, 1), 0) for person in range(3)] == [0, 0, 1]


# Randomized Greedy Grouping


def random_greedy(ell: int, p: Fraction) -> by_force.Method:
    return lambda codes, sensitive, draws: rgg(
        by_force.rows_of(codes, sensitive), ell, binary_diverse(ell, POSITIVE), p, draws, leftover="drop"
    )


def test_a_complete_group_takes_another_bucket_with_probability_p_each_time() -> None:
    found = enumerating.distribution(
        lambda draws: frozenset(rgg(line([0, 1, 0, 1, 0, 1]), 2, frequency_diverse(2), Fraction(1, 3), draws))
    )

    assert {
        frozenset(groups([0, 1], [2, 3], [4, 5])): Fraction(4, 9),
        frozenset(groups([0, 1, 2, 3], [4, 5])): Fraction(2, 9),
        frozenset(groups([0, 1], [2, 3, 4, 5])): Fraction(2, 9),
        frozenset(groups([0, 1, 2, 3, 4, 5])): Fraction(1, 9),
    } == found


def test_without_randomness_it_is_greedy_grouping_and_with_certainty_it_is_one_group() -> None:
    rows = line([0, 1, 2, 2, 1, 1, 2, 1])
    holds = frequency_diverse(2)

    assert enumerating.enumerate_runs(lambda draws: rgg(rows, 2, holds, Fraction(0), draws)) == [
        (1, gg(rows, 2, holds))
    ]
    assert enumerating.enumerate_runs(lambda draws: rgg(rows, 2, holds, Fraction(1), draws)) == [(1, groups(range(8)))]


def two_classes(ell: int, m: int, p: Fraction, weight: Callable[[list[int]], Fraction]) -> Fraction:
    """Belief in the first person's being positive, from worlds that are weighed by the positives of their buckets."""
    total = joint = Fraction(0)
    for chosen in combinations(range(m * ell), m):
        counts = [sum(1 for i in chosen if i // ell == bucket) for bucket in range(m)]
        total += weight(counts)
        joint += weight(counts) * (0 in chosen)
    return joint / total


def diverse_prefixes(counts: list[int]) -> list[bool]:
    """Whether the first j buckets hold at most j positives, for j below the number of buckets."""
    return [sum(counts[:j]) <= j for j in range(1, len(counts))]


@pytest.mark.parametrize("p", [Fraction(0), Fraction(1, 5), Fraction(3, 5), Fraction(1)])
@pytest.mark.parametrize("ell", [2, 3, 4])
def test_for_two_buckets_the_belief_is_that_of_appendix_c4(ell: int, p: Fraction) -> None:
    def forced_or_voluntary(counts: list[int]) -> Fraction:
        return p if counts[0] <= 1 else Fraction(1)

    found = beliefs(random_greedy(ell, p), positives(2, ell))

    assert found[0, POSITIVE] == two_classes(ell, 2, p, forced_or_voluntary)
    assert Fraction(1, ell) <= found[0, POSITIVE] <= Fraction(2, ell)


def test_for_three_buckets_a_world_weighs_p_to_the_number_of_its_diverse_proper_prefixes() -> None:
    p = Fraction(2, 5)

    found = beliefs(random_greedy(3, p), positives(3, 3))

    assert found[0, POSITIVE] == two_classes(3, 3, p, lambda counts: p ** sum(diverse_prefixes(counts)))
    assert found[0, POSITIVE] != two_classes(3, 3, p, lambda counts: p if counts[0] <= 1 else Fraction(1))


# Symmetric Grouping and even splits


def test_symmetric_grouping_halves_while_both_halves_hold_and_puts_the_larger_one_left() -> None:
    assert groups([0, 1], [2, 3], [4, 5, 6]) == sg(line([0, 1, 2, 3, 4, 5, 6]), frequency_diverse(2))
    assert groups([0, 1, 2, 3]) == sg(line([0, 0, 1, 1]), frequency_diverse(2))
    assert groups([0, 1, 2], [3, 4]) == sg(line([0, 1, 2, 0, 1]), frequency_diverse(2))


def test_symmetric_grouping_follows_the_order_it_is_given() -> None:
    assert groups([0, 2], [1, 3]) == sg(line([0, 0, 1, 1]), frequency_diverse(2), order=[0, 2, 1, 3])
    assert groups([0, 2], [1, 3]) == gg(line([0, 0, 1, 1]), 2, frequency_diverse(2), order=[0, 2, 1, 3])


def test_even_splits_try_the_widest_dimension_and_no_second() -> None:
    # The first dimension is tried (equal shares) and fails, 0 0 against 1 1. The second would do.
    rows: list[Row] = [((0, 0), 0), ((0, 1), 0), ((1, 0), 1), ((1, 1), 1)]

    assert groups(range(4)) == even_split(rows, [[0, 1], [0, 1]], frequency_diverse(2))
    assert groups([0, 2], [1, 3]) == mondrian.relaxed(rows, [[0, 1], [0, 1]], frequency_diverse(2), range(4))


def test_even_splits_put_the_smaller_half_left_and_split_equal_rows_in_tie_order() -> None:
    rows: list[Row] = [((0,), value) for value in (0, 1, 2, 3, 4)]

    assert groups([0, 1], [2, 3, 4]) == even_split(rows, [[0]], frequency_diverse(2))


def test_even_splits_measure_width_as_a_share_of_the_whole_table() -> None:
    # Left half: 1 of 10 along the first dimension, all of the second.
    codes = [(0, 0), (1, 1), (0, 1), (1, 0), (2, 0), (2, 0), (2, 1), (2, 1)]
    rows: list[Row] = [(c, i) for i, c in enumerate(codes)]

    assert groups([0, 3], [1, 2], [4, 5], [6, 7]) == even_split(rows, [[0, 1, 10], [0, 1]], frequency_diverse(2))


def even(ell: int) -> by_force.Method:
    return lambda codes, sensitive, _: even_split(
        by_force.rows_of(codes, sensitive), [range(len(codes))], frequency_diverse(ell)
    )


def worst_even_split(n: int, ell: int) -> tuple[Fraction, int]:
    """The worst belief for n people, over all l-eligible multisets, and the number of worlds.

    A line is enough: with one split per node only the sizes of the halves matter.
    """
    findings = [by_force.worst_belief(even(ell), on_a_line(values, ell)) for values in multisets(n, ell)]
    return max(finding.belief for finding in findings), sum(finding.evidence.n_worlds for finding in findings)


def test_even_splits_keep_the_bound_of_theorem_5_and_seven_people_reach_two_thirds() -> None:
    worst = {n: worst_even_split(n, 2) for n in range(4, 8)}
    by_force.say(f"even splits, l = 2: (worst belief, worlds) per number of people {worst}")

    assert {4: HALF, 5: HALF, 6: HALF, 7: Fraction(2, 3)} == {n: belief for n, (belief, _) in worst.items()}
    # A child of s - 1 people gives at most s / ((s - 1) * l): here s - 1 is 3.
    assert worst[7][0] == Fraction(4, 3 * 2)


def test_even_splits_at_l_plus_one_stay_below_one_over_l() -> None:
    worst = {n: worst_even_split(n, 3) for n in range(6, 8)}
    by_force.say(f"even splits, l = 3: (worst belief, worlds) per number of people {worst}")

    assert all(belief < HALF for belief, _ in worst.values())


def full() -> None:
    """What is too slow for every day: ``python -m tests.twins.test_minimality``."""
    for ell, sizes in ((2, range(4, 10)), (3, range(6, 9))):
        for n in sizes:
            belief, n_worlds = worst_even_split(n, ell)
            by_force.say(f"even splits, l = {ell}, {n} people: worst belief {belief} over {n_worlds} worlds")
            assert belief <= Fraction(2, 2 * ell - 1)
    for ell, m in ((2, 4), (3, 3)):
        belief, n_worlds = worst_in_a_greedy_group(ell, m)
        by_force.say(f"GG, l = {ell}, {m} buckets: worst belief {belief} over {n_worlds} worlds")
        assert belief == closed_form(ell, m)


# Figure 6(b)


def test_strict_mondrian_falls_as_in_figure_6b() -> None:
    codes = ((0,), (1,), (2,), (2,), (2,), (3,))
    values = (NEGATIVE,) * 4 + (POSITIVE,) * 2

    def method(present: by_force.Codes, sensitive: Sequence[int], _: Draws) -> Partition:
        return mondrian.strict(by_force.rows_of(present, sensitive), [range(4)], binary_diverse(2, POSITIVE))

    case = by_force.Case(codes, (tuple(range(4)),), values, 2)
    evidence = by_force.evidence_of(method, case.codes, by_force.worlds_of(case))
    found = by_force.beliefs_after(evidence.releases[one_group(values)])

    assert [1, 1, 0, 0, 0, 0] == [found.get((person, POSITIVE), 0) for person in range(6)]


# Orders


def test_the_lexicographic_order_follows_the_priority_and_breaks_ties_by_row() -> None:
    rows: list[Row] = [((1, 0), 0), ((0, 1), 0), ((0, 0), 0), ((0, 1), 0)]

    assert [2, 1, 3, 0] == lexicographic(rows)
    assert [2, 0, 1, 3] == lexicographic(rows, priority=[1, 0])


@pytest.mark.parametrize(("n_dimensions", "bits"), [(1, 3), (2, 1), (2, 2), (2, 4), (3, 1), (3, 3), (4, 2)])
def test_the_hilbert_curve_visits_every_cell_once_and_moves_to_a_neighbour_each_time(
    n_dimensions: int, bits: int
) -> None:
    cells = sorted(product(range(2**bits), repeat=n_dimensions), key=lambda cell: hilbert_index(cell, bits))

    assert [hilbert_index(cell, bits) for cell in cells] == list(range(len(cells)))
    assert all(sum(abs(a - b) for a, b in zip(one, other, strict=True)) == 1 for one, other in pairwise(cells))
    # Every aligned cube is left only when all its cells have been visited.
    for level in range(1, bits):
        cubes = [tuple(c >> level for c in cell) for cell in cells]
        assert len({i for i, (one, other) in enumerate(pairwise(cubes)) if one != other}) == len(set(cubes)) - 1


def test_rows_are_ordered_along_the_hilbert_curve_and_ties_by_row() -> None:
    rows: list[Row] = [((1, 0), 0), ((0, 0), 0), ((1, 1), 0), ((0, 1), 0), ((0, 0), 0)]

    assert hilbert(rows) in ([1, 4, 0, 2, 3], [1, 4, 3, 2, 0])


if __name__ == "__main__":
    full()
