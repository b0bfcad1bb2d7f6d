# SPDX-License-Identifier: Apache-2.0
"""TRANSPARENT as printed: Tables III, IX and X, Examples 2 to 6, and what its lemmas say of them, from the product."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.grouping.perimeter import weighted_places
from glasshouse.grouping.transparent import ace
from glasshouse.principles.principle import Requirement
from tests.tables import partition
from tests.twins import enumerating
from tests.twins.mondrian import Partition

PAIRS = gh.LDiversity(ell=2)
ANN, BOB, CATE, DON, ED, FRED, GILL, HERA = range(8)


def groups(*members: list[int]) -> Partition:
    return {frozenset(group) for group in members}


def divided(table: gh.Microdata, method: Any, source: Any = None) -> Partition:
    return partition(method.divide(table, Requirement.of(PAIRS, table), source=source, engine=Memory(threads=1)))


def printed(table: pa.Table) -> Counter[tuple[str, ...]]:
    """Rows in any order, with thousands written out."""
    return Counter(tuple(str(cell).replace("k", "000") for cell in row.values()) for row in table.to_pylist())


def published(table: gh.Microdata, method: Any, seed: int = 0) -> Counter[tuple[str, ...]]:
    """As the paper publishes it, which breaks ties by identifier."""
    groups = method.divide(table, Requirement.of(PAIRS, table), source=gh.Source.seeded(seed))
    return printed(gh.Boxes().recode(table, groups)["data"])


# Tables


def test_opt_gen_publishes_table_iii_of_t1() -> None:
    assert printed(gh.examples.transparent_t2()) == published(gh.examples.transparent_t1(), gh.OptGen())


@pytest.mark.parametrize("microdata", ["transparent_t5", "transparent_t3"])
def test_tailor_publishes_table_ix_of_t5_and_of_t3(microdata: str) -> None:
    """T5 in Example 4; T3 after Lemma 3."""
    assert printed(gh.examples.transparent_t6()) == published(getattr(gh.examples, microdata)(), gh.Tailor())


@pytest.mark.parametrize("microdata", ["transparent_t5", "transparent_t8"])
def test_ace_publishes_table_x_of_t5_and_of_t8_whatever_it_draws(microdata: str) -> None:
    """Cate and Don, between whom chance decides, have the same values. T8 is symmetric to T5 (Figure 9)."""
    for seed in range(20):
        assert printed(gh.examples.transparent_t7()) == published(getattr(gh.examples, microdata)(), gh.Ace(), seed)


# Example 4


def test_example_4_ends_in_the_groups_g2_g4_and_g5() -> None:
    assert groups([ANN, BOB, CATE, DON], [ED, FRED], [GILL, HERA]) == divided(gh.examples.transparent_t5(), gh.Tailor())


def test_example_4_cuts_g3_and_not_g2() -> None:
    """A part of a table keeps the table's ranges, so it is cut as inside the table."""
    table = gh.examples.transparent_t5()
    g2, g3 = np.array([ANN, BOB, CATE, DON]), np.array([ED, FRED, GILL, HERA])

    assert divided(table.take(g2), gh.Tailor()) == groups([0, 1, 2, 3])
    assert divided(table.take(g3), gh.Tailor()) == groups([0, 1], [2, 3])


def test_example_5_exchanges_two_diseases_and_lemma_3_keeps_the_partition() -> None:
    """Ed and Fred change places in the group G4, which turns T5 into T3."""
    t5, t3 = gh.examples.transparent_t5(), gh.examples.transparent_t3()
    diseases = [column.domain.decode(column.codes).to_pylist() for table in (t5, t3) for column in table.sensitive]

    assert [i for i in range(8) if diseases[0][i] != diseases[1][i]] == [ED, FRED]
    assert divided(t5, gh.Tailor()) == divided(t3, gh.Tailor())


# Example 6


def buckets_of(table: gh.Microdata, draws: Any) -> list[dict[str, list[int]]]:
    """What Assign makes, in its order: the rows of each disease of each bucket."""
    column = table.sensitive[0]
    rows = ace.packed_rows(table, column, np.arange(table.n_tuples, dtype=np.int32))
    run = ace._Run(rows, weighted_places(table), 2, gh.Ace().penalty, ace.Thresholds())
    _, starts, lengths, widths = run._assign(np.array([0, table.n_tuples]), draws, ace._Room(), run.placed)
    diseases = column.domain.decode(column.codes).to_pylist()
    buckets = []
    for start, length, width in zip(starts.tolist(), lengths.tolist(), widths.tolist(), strict=True):
        columns = run.placed[start : start + length * width].reshape(width, length).tolist()
        buckets.append({diseases[rows[0]]: rows for rows in columns})
    return buckets


def test_assign_makes_the_buckets_of_figure_4_and_draws_once() -> None:
    runs = enumerating.enumerate_runs(lambda draws: buckets_of(gh.examples.transparent_t5(), draws))

    for _, (first, second, third) in runs:
        assert first == {"dyspepsia": [ANN, GILL], "flu": [BOB, ED]}
        assert list(second) == ["gastritis", "bronchitis"]
        assert sorted(third) == ["diabetes", "gastritis"]
        assert (second["bronchitis"], third["diabetes"]) == ([FRED], [HERA])
        assert sorted(second["gastritis"] + third["gastritis"]) == [CATE, DON]
    don_first = sum(probability for probability, (_, second, _) in runs if second["gastritis"] == [DON])
    assert don_first == Fraction(1, 2)


def test_example_6_ends_in_the_groups_of_table_x_with_one_fair_choice() -> None:
    outcomes = enumerating.distribution(lambda draws: frozenset(divided(gh.examples.transparent_t5(), gh.Ace(), draws)))
    always = ([ANN, BOB], [GILL, ED])

    assert outcomes == {
        frozenset(groups(*always, [DON, FRED], [HERA, CATE])): Fraction(1, 2),
        frozenset(groups(*always, [CATE, FRED], [HERA, DON])): Fraction(1, 2),
    }


def test_assign_gives_the_symmetric_buckets_of_t5_and_t8_equal_chances() -> None:
    """Lemma 6 on Figures 4 and 9: the diseases of the two columns of the first bucket are exchanged."""

    def chances(table: gh.Microdata) -> dict[Any, Fraction]:
        return enumerating.distribution(
            lambda draws: frozenset(
                frozenset((value, tuple(rows)) for value, rows in bucket.items()) for bucket in buckets_of(table, draws)
            )
        )

    exchanged = {"dyspepsia": "flu", "flu": "dyspepsia"}
    symmetric = {
        frozenset(
            frozenset((exchanged.get(value, value), rows) for value, rows in bucket) for bucket in buckets
        ): chance
        for buckets, chance in chances(gh.examples.transparent_t5()).items()
    }

    assert symmetric == chances(gh.examples.transparent_t8())


# Section 3.3


def test_hybrid_splits_the_group_that_tailor_leaves_as_the_text_says() -> None:
    outcomes = enumerating.distribution(
        lambda draws: frozenset(divided(gh.examples.transparent_t5(), gh.Hybrid(), draws))
    )

    assert frozenset(groups([ANN, CATE], [BOB, DON], [ED, FRED], [GILL, HERA])) in outcomes
