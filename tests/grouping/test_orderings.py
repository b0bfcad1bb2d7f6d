# SPDX-License-Identifier: Apache-2.0
"""The orders along which groups are grown and halved."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.grouping import orderings
from glasshouse.grouping.orderings import arranged, check_ordering, hilbert, lexicographic
from tests.grouping.doors import rows_of, run_interpreted
from tests.naive import greedy as naive


@st.composite
def grids(draw: st.DrawFn, *, most: int = 25) -> list[list[int]]:
    """Columns of codes: one to twelve, from one value to a hundred thousand, with many equal tuples."""
    n, d = draw(st.integers(1, most)), draw(st.integers(1, 12))
    widest = [draw(st.sampled_from([0, 1, 3, 20, 100_000])) for _ in range(d)]
    return [draw(st.lists(st.integers(0, w), min_size=n, max_size=n)) for w in widest]


def as_arrays(columns: list[list[int]]) -> list[Any]:
    return [np.array(column, np.int32) for column in columns]


def as_rows(columns: list[list[int]]) -> list[Any]:
    return [(cell, 0) for cell in zip(*columns, strict=True)]


@settings(max_examples=500, deadline=None)
@given(columns=grids(), data=st.data())
def test_both_orders_are_those_of_the_slow_twin_and_ties_keep_their_order(
    columns: list[list[int]], data: st.DataObject
) -> None:
    ties = data.draw(st.permutations(range(len(columns[0]))))
    rows = as_rows(columns)
    shuffled = [rows[i] for i in ties]
    order = np.array(ties, np.int32)

    assert [ties[i] for i in naive.lexicographic(shuffled)] == lexicographic(as_arrays(columns), order).tolist()
    assert [ties[i] for i in naive.hilbert(shuffled)] == hilbert(as_arrays(columns), order).tolist()
    assert ties == order.tolist()


@pytest.mark.parametrize("digit", [1, 2, 3, 7, 16])
@settings(max_examples=60, deadline=None)
@given(columns=grids(most=12))
def test_digits_of_any_width_give_the_same_order(digit: int, columns: list[list[int]]) -> None:
    ties = np.arange(len(columns[0]), dtype=np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(orderings, "DIGIT", digit)

        assert naive.hilbert(as_rows(columns)) == hilbert(as_arrays(columns), ties).tolist()


@settings(max_examples=60, deadline=None)
@given(columns=grids(most=12))
def test_interpreted_kernels_give_the_same_orders(columns: list[list[int]]) -> None:
    arrays, ties = as_arrays(columns), np.arange(len(columns[0]), dtype=np.int32)
    expected = lexicographic(arrays, ties).tolist(), hilbert(arrays, ties).tolist()
    with run_interpreted("glasshouse.grouping.orderings"):
        assert expected == (lexicographic(arrays, ties).tolist(), hilbert(arrays, ties).tolist())


@pytest.mark.parametrize(("d", "side"), [(1, 8), (2, 16), (3, 8), (4, 4)])
def test_the_curve_visits_every_cell_and_moves_to_a_neighbour_each_time(d: int, side: int) -> None:
    cells = list(product(range(side), repeat=d))
    columns = as_arrays([list(axis) for axis in zip(*cells, strict=True)])
    walk = [cells[i] for i in hilbert(columns, np.arange(len(cells), dtype=np.int32))]

    assert all(sum(abs(a - b) for a, b in zip(one, other, strict=True)) == 1 for one, other in pairwise(walk))


def test_named_attributes_come_first_and_the_others_in_their_order() -> None:
    columns = {"id": range(6), "a": [0, 1, 0, 1, 0, 1], "b": [2, 1, 0, 2, 1, 0], "c": [0, 0, 1, 1, 1, 0]}
    table = gh.read({k: list(v) for k, v in columns.items()}, identifier="id", quasi=["a", "b", "c"])
    rows = [(codes, 0) for codes in zip(*(c.codes.tolist() for c in table.quasi), strict=True)]
    source = gh.Source.seeded(1)

    assert naive.lexicographic(rows) == arranged(table, "lexicographic", (), source).tolist()
    assert naive.lexicographic(rows, [2, 0, 1]) == arranged(table, "lexicographic", ("c",), source).tolist()
    assert naive.lexicographic(rows, [1, 2, 0]) == arranged(table, "lexicographic", ("b", "c"), source).tolist()
    with pytest.raises(gh.SchemaError, match="no column 'd'"):
        arranged(table, "lexicographic", ("d",), source)


def test_ties_are_broken_by_identifier_and_never_by_the_order_of_rows() -> None:
    table = gh.read(
        {"id": [3, 1, 2], "a": [5, 5, 5], "s": ["x", "y", "z"]}, identifier="id", quasi=["a"], sensitive="s"
    )

    assert [1, 2, 0] == arranged(table, "hilbert", (), gh.Source.seeded(0)).tolist()
    assert rows_of(table)[0] == ((0,), 0)


def test_an_order_or_a_priority_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(gh.ParameterError, match="ordering must be 'lexicographic' or 'hilbert'"):
        check_ordering("Greedy", "peano", ())
    for priority in ("age", ("age", "age"), (1,)):
        with pytest.raises(gh.ParameterError, match="priority must be names of different quasi-identifiers"):
            check_ordering("Greedy", "hilbert", priority)  # type: ignore[arg-type]
    assert check_ordering("Greedy", "hilbert", ["age", "sex"]) == ("age", "sex")
