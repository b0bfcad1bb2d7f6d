# SPDX-License-Identifier: Apache-2.0
"""The orders along which groups are grown and halved."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.grouping.along_order.orderings import arranged, canonical, check_ordering, hilbert, lexicographic
from glasshouse.microdata.groups import canonical_order
from tests.rooms.grouping.doors import rows_of, run_interpreted
from tests.rooms.grouping.schedules import in_pieces, ways
from tests.tables import Plain, plain_tables
from tests.tiers import examples
from tests.twins import enumerating
from tests.twins import greedy as naive


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


@settings(max_examples=examples(100), deadline=None)
@given(columns=grids(), data=st.data())
def test_both_orders_are_those_of_the_slow_twin_and_ties_keep_their_order(
    columns: list[list[int]], data: st.DataObject
) -> None:
    ties = data.draw(st.permutations(range(len(columns[0]))))
    rows = as_rows(columns)
    shuffled = [rows[i] for i in ties]
    order = np.array(ties, np.int32)
    with ways(data.draw) as engine:
        found = [way(as_arrays(columns), order, engine).tolist() for way in (lexicographic, hilbert)]

    assert [[ties[i] for i in naive.lexicographic(shuffled)], [ties[i] for i in naive.hilbert(shuffled)]] == found
    assert ties == order.tolist()


@settings(max_examples=25, deadline=None)
@given(columns=grids(), data=st.data())
def test_with_no_order_of_ties_they_stay_as_they_are(columns: list[list[int]], data: st.DataObject) -> None:
    with ways(data.draw) as engine:
        found = [way(as_arrays(columns), None, engine).tolist() for way in (lexicographic, hilbert)]

    assert [naive.lexicographic(as_rows(columns)), naive.hilbert(as_rows(columns))] == found


def test_codes_of_all_32_bits_are_sorted() -> None:
    top = 2**31 - 1
    columns = [[top, 0, top, 1, top], [3, top, 2, 2, top - 1]]

    assert naive.lexicographic(as_rows(columns)) == lexicographic(as_arrays(columns)).tolist()
    assert naive.hilbert(as_rows(columns)) == hilbert(as_arrays(columns)).tolist()


@settings(max_examples=examples(60), deadline=None)
@given(columns=grids(most=12), data=st.data())
def test_interpreted_kernels_give_the_same_orders(columns: list[list[int]], data: st.DataObject) -> None:
    arrays, ties = as_arrays(columns), np.arange(len(columns[0]), dtype=np.int32)
    expected = lexicographic(arrays, ties).tolist(), hilbert(arrays, ties).tolist()
    with (
        ways(data.draw) as engine,
        run_interpreted("glasshouse.grouping.along_order.orderings", "glasshouse.engines.sorting"),
    ):
        assert expected == (lexicographic(arrays, ties, engine).tolist(), hilbert(arrays, ties, engine).tolist())


@pytest.mark.parametrize("identifier", [None, "id"])
@settings(max_examples=examples(100), deadline=None)
@given(plain=plain_tables(most=20, missing=True), data=st.data())
def test_the_canonical_order_is_the_one_that_seeded_ties_are_drawn_over(
    identifier: str | None, plain: Plain, data: st.DataObject
) -> None:
    ids = data.draw(st.permutations(range(len(plain.sensitive))))
    options = {"identifier": identifier, "quasi": list(plain.quasi), "sensitive": "sensitive", "missing": "category"}
    table = gh.read({"id": ids, **plain.columns}, **options)
    with ways(data.draw) as engine:
        assert canonical_order(table).tolist() == canonical(table, gh.Source.seeded(0), engine).tolist()


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

    assert naive.lexicographic(rows) == arranged(table, "lexicographic", (), source, Memory()).tolist()
    assert naive.lexicographic(rows, [2, 0, 1]) == arranged(table, "lexicographic", ("c",), source, Memory()).tolist()
    assert (
        naive.lexicographic(rows, [1, 2, 0]) == arranged(table, "lexicographic", ("b", "c"), source, Memory()).tolist()
    )
    with pytest.raises(gh.SchemaError, match="no column 'd'"):
        arranged(table, "lexicographic", ("d",), source, Memory())


def test_ties_are_broken_by_identifier_and_never_by_the_order_of_rows() -> None:
    table = gh.read(
        {"id": [3, 1, 2], "a": [5, 5, 5], "s": ["x", "y", "z"]}, identifier="id", quasi=["a"], sensitive="s"
    )

    assert [1, 2, 0] == arranged(table, "hilbert", (), gh.Source.seeded(0), Memory()).tolist()
    assert rows_of(table)[0] == ((0,), 0)


@pytest.mark.parametrize("ordering", ["lexicographic", "hilbert"])
@pytest.mark.parametrize("tuples", [1, 2, 100])
def test_without_identifiers_every_order_of_ties_is_equally_likely(ordering: str, tuples: int) -> None:
    table = gh.read({"a": [2, 1, 2, 2, 0, 1], "s": list("uvwxyz")}, quasi=["a"], sensitive="s")
    with in_pieces(tuples):
        likely = enumerating.distribution(
            lambda draws: tuple(arranged(table, ordering, (), draws, Memory(threads=1)).tolist())  # type: ignore[arg-type]
        )

    assert set(likely) == {(4, *b, *c) for b in permutations((1, 5)) for c in permutations((0, 2, 3))}
    assert len(set(likely.values())) == 1


@pytest.mark.parametrize("ordering", ["lexicographic", "hilbert"])
@pytest.mark.parametrize("tuples", [1, 4, 1 << 18])
@settings(max_examples=examples(60), deadline=None)
@given(plain=plain_tables(most=30, missing=True), data=st.data(), seed=st.integers(0, 3))
def test_a_seeded_order_is_one_of_content_on_any_number_of_threads_and_for_any_order_of_rows(
    ordering: str, tuples: int, plain: Plain, data: st.DataObject, seed: int
) -> None:
    def said(some: Plain, threads: int, *, backwards: bool = False) -> list[Any]:
        table = some.microdata(missing="category")
        rows = rows_of(table)
        with in_pieces(tuples, backwards=backwards):
            order = arranged(table, ordering, (), gh.Source.seeded(seed), Memory(threads=threads)).tolist()
        cells = [rows[i] for i in getattr(naive, ordering)(rows)]
        assert [cell for cell, _ in cells] == [rows[i][0] for i in order]
        assert sorted(order) == list(range(len(rows)))
        return [rows[i] for i in order]

    expected = said(plain, 1)
    permuted = plain.permuted(list(data.draw(st.permutations(range(len(plain.sensitive))))))

    assert expected == said(plain, 2) == said(permuted, 5) == said(permuted, 2, backwards=True)


def test_seeded_ties_are_as_likely_one_way_as_the_other() -> None:
    """The first person in the canonical order, by sensitive value, is no likelier to stay first: 4000 runs."""
    table = gh.read({"a": [1, 1, 1], "s": list("xyz")}, quasi=["a"], sensitive="s")
    seen = Counter(
        tuple(arranged(table, "lexicographic", (), gh.Source.seeded(seed), Memory(threads=1)).tolist())
        for seed in range(4000)
    )

    assert len(seen) == 6
    assert sum((count - 4000 / 6) ** 2 / (4000 / 6) for count in seen.values()) < 25


def test_an_order_or_a_priority_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(gh.ParameterError, match="ordering must be 'lexicographic' or 'hilbert'"):
        check_ordering("Greedy", "peano", ())
    for priority in ("age,", "age,age", ("age", "age"), (1,), ("",)):
        with pytest.raises(gh.ParameterError, match="priority must be names of different quasi-identifiers"):
            check_ordering("Greedy", "hilbert", priority)  # type: ignore[arg-type]
    assert check_ordering("Greedy", "hilbert", ["age", "sex"]) == ("age", "sex")
