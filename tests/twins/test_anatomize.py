# SPDX-License-Identifier: Apache-2.0
"""The slow Anatomize against ANATOMY's table, properties and theorems, and what its shortcuts cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from tests.twins import by_force, enumerating
from tests.twins.anatomize import anatomize, places, varied
from tests.twins.mondrian import Partition, Row
from tests.twins.transparent import Draws

# ANATOMY Table 1: bronchitis 0, dyspepsia 1, flu 2, gastritis 3, pneumonia 4
TABLE_1 = [4, 1, 1, 4, 2, 3, 2, 0]


def people(sensitive: Sequence[int]) -> list[Row]:
    return [((i,), value) for i, value in enumerate(sensitive)]


def every(sensitive: Sequence[int], ell: int) -> dict[Any, Fraction]:
    rows = people(sensitive)
    return enumerating.distribution(lambda draws: frozenset(anatomize(rows, ell, draws)))


def reconstruction_error(sensitive: Sequence[int], partition: Partition) -> Fraction:
    """Equations 12 and 13, tuple by tuple."""
    total = Fraction(0)
    for group in partition:
        shares = {v: Fraction(n, len(group)) for v, n in Counter(sensitive[i] for i in group).items()}
        for i in group:
            total += sum((share - (value == sensitive[i])) ** 2 for value, share in shares.items())
    return total


def test_table_1_is_divided_into_pairs_of_different_values() -> None:
    # Frequencies: dyspepsia 2, flu 2, pneumonia 2, bronchitis 1, gastritis 1. Dyspepsia and flu are taken first, by the
    # order of values; then pneumonia (2 left) with bronchitis, dyspepsia with flu, gastritis with pneumonia.
    found = every(TABLE_1, 2)

    for partition in found:
        assert sorted(sorted(TABLE_1[i] for i in group) for group in partition) == [[0, 4], [1, 2], [1, 2], [3, 4]]
        assert reconstruction_error(TABLE_1, set(partition)) == 8 * (1 - Fraction(1, 2))
    # Which pneumonia goes with bronchitis, and which dyspepsia goes with which flu.
    assert set(found.values()) == {Fraction(1, 4)}


@pytest.mark.parametrize(
    ("sensitive", "ell"),
    [
        ([0, 0, 1, 1, 2], 2),
        ([0, 0, 1, 1, 2, 2, 3], 2),
        ([0, 1, 2, 3, 3], 2),
        ([0, 0, 1, 1, 2, 2, 3, 4], 3),
        ([0, 1, 2], 2),
    ],
)
def test_residues_make_some_groups_larger_by_one_and_the_error_as_in_theorem_4(sensitive: list[int], ell: int) -> None:
    n, r = len(sensitive), len(sensitive) % ell
    for partition in every(sensitive, ell):
        assert len(partition) == n // ell
        for group in partition:  # Property 3
            assert len(group) >= ell
            assert len({sensitive[i] for i in group}) == len(group)
        assert reconstruction_error(sensitive, set(partition)) == (n - r) * (1 - Fraction(1, ell)) + r


def test_a_residue_goes_to_every_group_that_lacks_its_value_equally_often() -> None:
    # Values 0 0 1 1 2: two pairs of 0 and 1, and the 2 joins either.
    sizes = Counter[tuple[int, ...]]()
    for partition, probability in every([0, 0, 1, 1, 2], 2).items():
        home = next(group for group in partition if 4 in group)
        sizes[tuple(sorted(home))] += probability  # type: ignore[assignment]

    assert {(0, 2, 4), (0, 3, 4), (1, 2, 4), (1, 3, 4)} == set(sizes)
    assert set(sizes.values()) == {Fraction(1, 4)}


@pytest.mark.parametrize(
    ("sensitive", "ell"),
    [([0, 0, 1, 1], 2), ([0, 0, 1, 1, 2], 2), ([0, 0, 0, 1, 1, 2, 2], 2), ([0, 0, 1, 1, 2, 2, 3], 3), ([0, 1, 2], 2)],
)
def test_dealt_in_turn_groups_have_different_values_and_sizes_that_differ_by_one(
    sensitive: list[int], ell: int
) -> None:
    rows = people(sensitive)
    for partition in enumerating.distribution(lambda draws: frozenset(varied(rows, ell, draws))):
        sizes = {len(group) for group in partition}
        assert len(partition) == len(sensitive) // ell
        assert min(sizes) >= ell
        assert max(sizes) - min(sizes) <= 1
        assert all(len({sensitive[i] for i in group}) == len(group) for group in partition)


def test_blocks_keep_what_they_were_dealt_and_vary_how_values_are_combined() -> None:
    # twelve people with three values are six groups in two blocks, of every second group each
    class Seeded:
        def __init__(self, seed: int) -> None:
            self.below = Random(seed).randrange

    counts, seen = Counter({0: 4, 1: 4, 2: 4}), set()
    for seed in range(60):
        dealt: dict[int, list[int]] = {}
        for value, group in places(counts, 2, Seeded(seed)):
            dealt.setdefault(group, []).append(value)
        assert sorted(dealt) == list(range(6))
        for block in (dealt[0] + dealt[2] + dealt[4], dealt[1] + dealt[3] + dealt[5]):
            assert Counter(block) == {0: 2, 1: 2, 2: 2}
        assert all(len(set(values)) == len(values) == 2 for values in dealt.values())
        seen.add(frozenset(Counter(tuple(sorted(values)) for values in dealt.values()).items()))
    assert len(seen) == 1
    assert {tuple(sorted(values)) for values in dealt.values()} == {(0, 1), (0, 2), (1, 2)}


def test_what_is_not_eligible_is_not_published() -> None:
    assert enumerating.distribution(lambda draws: frozenset(varied(people([0, 0, 1]), 2, draws))) == {frozenset(): 1}
    assert every([0, 0, 1], 2) == {frozenset(): 1}
    assert every([], 2) == {frozenset(): 1}


# By force: everybody on a line, identifiers and quasi-identifiers in the same order


def on_a_line(values: Sequence[int], ell: int) -> by_force.Case:
    n = len(values)
    return by_force.Case(tuple((i,) for i in range(n)), (tuple(range(n)),), tuple(values), ell)


@pytest.mark.parametrize(
    ("values", "ell"), [((0, 0, 1, 1), 2), ((0, 0, 1, 1, 2), 2), ((0, 0, 1, 1, 2, 3), 2), ((0, 1, 2, 3, 4), 3)]
)
def test_the_belief_is_one_over_the_size_of_the_group_and_theorem_1_holds(values: tuple[int, ...], ell: int) -> None:
    def method(_: by_force.Codes, sensitive: Sequence[int], draws: Draws) -> Partition:
        return anatomize(people(sensitive), ell, draws)

    case = on_a_line(values, ell)

    assert by_force.unequal_likelihood(method, case) is None
    for release, weights in by_force.evidence_of(method, case.codes, by_force.worlds_of(case)).releases.items():
        beliefs = by_force.beliefs_after(weights)
        for group, found in release:
            assert all(beliefs[person, value] == Fraction(1, len(group)) for person in group for value in found)


def picking_in_file_order(_: by_force.Codes, sensitive: Sequence[int], draws: Draws) -> Partition:
    return anatomize(people(sensitive), 2, draws, pick=lambda rows, _: rows[0])


def ordering_buckets_by_first_appearance(_: by_force.Codes, sensitive: Sequence[int], draws: Draws) -> Partition:
    return anatomize(people(sensitive), 2, draws, rank=list(sensitive).index)


def settling_with_the_nearest(codes: by_force.Codes, sensitive: Sequence[int], draws: Draws) -> Partition:
    def nearest(row: int, groups: list[list[int]], _: Draws) -> list[int]:
        return min(groups, key=lambda group: (min(abs(codes[i][0] - codes[row][0]) for i in group), group))

    return anatomize(people(sensitive), 2, draws, settle=nearest)


def test_picking_in_file_order_gives_four_people_away() -> None:
    assert by_force.worst_belief(picking_in_file_order, on_a_line((0, 0, 1, 2), 2)).belief == 1


@pytest.mark.parametrize("method", [ordering_buckets_by_first_appearance, settling_with_the_nearest])
def test_other_shortcuts_give_five_people_away(method: by_force.Method) -> None:
    multisets = [(0, 0, 1, 1, 2), (0, 0, 1, 2, 2), (0, 1, 1, 2, 2), (0, 0, 1, 2, 3), (0, 1, 1, 2, 3), (0, 1, 2, 3, 4)]

    assert max(by_force.worst_belief(method, on_a_line(values, 2)).belief for values in multisets) == 1
