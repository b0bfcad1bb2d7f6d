# SPDX-License-Identifier: Apache-2.0
"""ANATOMY as printed: Tables 3 and 4 from Table 1, and Properties 1 to 3 and Theorem 4 on what Anatomize makes."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.doors import people
from tests.tables import partition
from tests.twins import enumerating

TABLE_2 = gh.Groups(np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32), 2)  # tuples 1 to 4 and 5 to 8


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def test_the_groups_of_table_2_are_published_as_tables_3a_and_3b() -> None:
    tables = gh.Anatomy().recode(gh.examples.anatomy_table1(), TABLE_2)

    assert rows(gh.examples.anatomy_table3a().drop_columns(["row #"])) == rows(tables["qit"])
    assert rows(gh.examples.anatomy_table3b()) == rows(tables["st"])


def test_the_natural_join_of_the_published_tables_is_table_4() -> None:
    tables = gh.Anatomy().recode(gh.examples.anatomy_table1(), TABLE_2)
    joined = [
        (*quasi, number, value, count)
        for *quasi, number in rows(tables["qit"])
        for group, value, count in rows(tables["st"])
        if group == number
    ]

    assert rows(gh.examples.anatomy_table4()) == [row for row in joined if row[3] == 1]


def divided(table: gh.Microdata, ell: int, draws: Any) -> Any:
    return partition(gh.Anatomize().divide(table, Requirement.of(gh.LDiversity(ell=ell), table), source=draws))


def diseases(table: gh.Microdata) -> list[str]:
    (column,) = table.sensitive
    return list(column.domain.decode(column.codes).to_pylist())


def reconstruction_error(values: list[Any], groups: Any) -> Fraction:
    """Equations 12 and 13, tuple by tuple."""
    total = Fraction(0)
    for group in groups:
        shares = {value: Fraction(n, len(group)) for value, n in Counter(values[i] for i in group).items()}
        for i in group:
            total += sum((share - (value == values[i])) ** 2 for value, share in shares.items())
    return total


def test_table_1_is_divided_into_pairs_of_the_most_frequent_diseases_that_are_left() -> None:
    """Figure 3 at l = 2, over all random choices; equally large buckets come in the order of their values."""
    table = gh.examples.anatomy_table1()
    values = diseases(table)
    outcomes = enumerating.distribution(lambda draws: frozenset(divided(table, 2, draws)))

    for groups in outcomes:
        assert sorted(sorted(values[i] for i in group) for group in groups) == [
            ["bronchitis", "pneumonia"],
            ["dyspepsia", "flu"],
            ["dyspepsia", "flu"],
            ["gastritis", "pneumonia"],
        ]
        assert reconstruction_error(values, groups) == 8 * (1 - Fraction(1, 2))  # Theorems 2 and 4: the least there is
    assert set(outcomes.values()) == {Fraction(1, 4)}


@pytest.mark.parametrize(
    ("sensitive", "ell"),
    [([0, 0, 1, 1, 2], 2), ([0, 0, 1, 1, 2, 2, 3], 2), ([0, 1, 2, 3, 3], 2), ([0, 0, 1, 1, 2, 2, 3, 4], 3)],
)
def test_properties_1_to_3_hold_for_every_random_choice(sensitive: list[int], ell: int) -> None:
    """Residues are single tuples (Property 1), each finds a group (2), and groups keep different values (3)."""
    table = people([(i,) for i in range(len(sensitive))], sensitive)
    n, residues = len(sensitive), len(sensitive) % ell
    for groups in enumerating.distribution(lambda draws: frozenset(divided(table, ell, draws))):
        assert len(groups) == n // ell
        assert sum(len(group) - ell for group in groups) == residues
        for group in groups:
            assert len(group) >= ell
            assert len({sensitive[i] for i in group}) == len(group)
        assert (
            reconstruction_error(sensitive, groups) == (n - residues) * (1 - Fraction(1, ell)) + residues
        )  # Theorem 4
