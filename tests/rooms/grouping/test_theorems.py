# SPDX-License-Identifier: Apache-2.0
"""The conditions of TRANSPARENT's Theorems 1 and 2 as laws of their own, on the product: by force, and at size.

Theorem 1 asks that every table with an isomorphic partition is divided alike; Theorem 2 that Assign gives symmetric
bucket partitions equal chances (Lemma 6), and that Slice makes symmetric groups of symmetric buckets (Lemma 5). From
these the beliefs follow, which tests/rooms/grouping/test_transparency.py computes; a method might keep its beliefs low
by luck, on the tables that are tried, and these laws would still find it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.grouping.perimeter import weighted_places
from glasshouse.grouping.transparent import ace
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.doors import LastChoice, forced, people
from tests.tables import partition
from tests.tiers import tables
from tests.twins import by_force
from tests.twins.mondrian import Partition
from tests.twins.transparent import Bucket


def divided(method: Any, table: gh.Microdata, ell: int) -> Partition:
    requirement = Requirement.of(gh.LDiversity(ell=ell), table)
    return partition(method.divide(table, requirement, source=gh.Source.seeded(1), engine=Memory(threads=1)))


def unequal(method: Any, case: by_force.Case) -> Any:
    return by_force.unequal_likelihood(forced(method, partial(gh.LDiversity, ell=case.ell), case.positions), case)


# Theorem 1


@pytest.mark.parametrize("method", [gh.Tailor(), gh.Tailor(penalty="discernibility"), gh.Anatomize()], ids=repr)
def test_every_table_with_an_isomorphic_partition_gives_this_partition_equally_often(method: Any) -> None:
    """Deterministic methods: always or never. Anatomize meets the condition in probability."""
    n_divided = 0
    for case in by_force.random_cases(5, tables(120), people=(4, 5, 6), ells=(2,), n_values=(5, 6, 30), max_worlds=200):
        assert unequal(method, case) is None, case
        door = forced(method, partial(gh.LDiversity, ell=case.ell), case.positions)
        n_divided += by_force.evidence_of(door, case.codes, [dict(enumerate(case.values))]).n_divided > 0
    assert n_divided > 3


@pytest.mark.parametrize(
    "method",
    [gh.Mondrian(), gh.Mondrian(partitioning="relaxed"), gh.Greedy(), gh.EvenSplit(extra=0), gh.OptGen(), gh.Ace()],
    ids=lambda method: method.name,
)
def test_methods_that_do_not_meet_the_condition_are_found_out(method: Any) -> None:
    """Ace is among them: it needs Theorem 2."""
    cases = by_force.random_cases(6, 200, people=(4, 5, 6), ells=(2,), n_values=(3, 4), max_worlds=200)

    assert any(unequal(method, case) is not None for case in cases)


@pytest.mark.parametrize("penalty", ["perimeter", "discernibility"])
@pytest.mark.parametrize("seed", range(3))
def test_a_large_table_is_divided_alike_when_values_change_places_inside_groups(seed: int, penalty: str) -> None:
    random, n, ell = Random(seed), 3_000, 2 + seed
    codes = [(random.randrange(9), random.randrange(1_000), random.randrange(2)) for _ in range(n)]
    sensitive = [min(random.randrange(30), random.randrange(30)) for _ in range(n)]
    method = gh.Tailor(penalty=penalty)
    groups = divided(method, people(codes, sensitive), ell)
    for _ in range(3):
        for group in map(sorted, groups):
            values = [sensitive[i] for i in group]
            random.shuffle(values)
            for i, value in zip(group, values, strict=True):
                sensitive[i] = value

        assert groups == divided(method, people(codes, sensitive), ell)
    assert len(groups) > 10


# Theorem 2, its first part: Assign


def assign(ell: int, values: Sequence[int], draws: Any) -> list[Bucket]:
    """The buckets of the product, by sensitive value."""
    table = people([(i,) for i in range(len(values))], values)
    names = sorted(set(values))
    rows = ace.packed_rows(table, table.sensitive[0], np.arange(len(values), dtype=np.int32))
    run = ace._Run(rows, weighted_places(table), ell, gh.Ace().penalty, ace.Thresholds())
    _, starts, lengths, widths = run._assign(np.array([0, len(values)]), draws, ace._Room(), run.placed)
    buckets = []
    for start, length, width in zip(starts.tolist(), lengths.tolist(), widths.tolist(), strict=True):
        columns = run.placed[start : start + length * width].reshape(width, length).tolist()
        buckets.append({names[int(table.sensitive[0].codes[column[0]])]: column for column in columns})
    return buckets


@pytest.mark.parametrize(
    ("sensitive", "ell"),
    [
        ((0, 0, 1, 1), 2),
        ((0, 0, 1, 2), 2),
        ((0, 0, 1, 1, 2), 2),
        ((2, 0, 0, 1, 1, 3), 2),
        ((0, 0, 1, 1, 2, 3), 2),
        ((0, 1, 2, 2, 3, 3), 2),
        ((0, 0, 1, 1, 2, 2), 3),
        ((0, 1, 2, 3, 4), 3),
    ],
)
def test_assign_gives_symmetric_bucket_partitions_equal_chances(sensitive: tuple[int, ...], ell: int) -> None:
    assert by_force.unequal_symmetry(partial(assign, ell), sensitive) is None


def test_an_assign_that_takes_tuples_in_their_order_breaks_the_law() -> None:
    def in_order(values: Sequence[int], _: Any) -> list[Bucket]:
        return assign(2, values, LastChoice())

    assert by_force.unequal_symmetry(in_order, (0, 0, 1, 2)) is not None


# Theorem 2, its second part: Slice. A table of l values, each as often, is one bucket of l columns: Ace slices it.


@pytest.mark.parametrize("penalty", ["perimeter", "discernibility"])
def test_slice_makes_symmetric_groups_of_symmetric_buckets(penalty: str) -> None:
    random, method = Random(8), gh.Ace(penalty=penalty)
    for _ in range(40):
        (width, length), d = random.choice([(2, 2), (2, 3), (3, 2), (2, 4), (3, 3)]), random.choice([1, 2, 5])
        codes = [tuple(random.randrange(4) for _ in range(d)) for _ in range(width * length)]
        order = random.sample(range(len(codes)), len(codes))
        columns = [order[length * j : length * (j + 1)] for j in range(width)]

        def sliced(sensitive: Sequence[int], _: Bucket, codes: by_force.Codes = codes, width: int = width) -> Partition:
            return divided(method, people(codes, sensitive), width)

        (groups,) = by_force.slices_of_symmetric(sliced, columns)
        assert len(groups) == length
        assert all(len(group & set(column)) == 1 for group in groups for column in columns)


@pytest.mark.parametrize("width", [2, 5, 70])
def test_a_large_bucket_is_sliced_alike_when_columns_exchange_their_values(width: int) -> None:
    random, n = Random(width), width * 140
    codes = [(random.randrange(12), random.randrange(500), random.randrange(3)) for _ in range(n)]
    sensitive = random.sample([i % width for i in range(n)], n)
    groups = divided(gh.Ace(), people(codes, sensitive), width)
    for _ in range(2):
        names = random.sample(range(width), width)

        assert groups == divided(gh.Ace(), people(codes, [names[value] for value in sensitive]), width)
    assert len(groups) == 140
