"""Boxes, cell by cell."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest

import glasshouse as gh


def boxes(values: list[Any], labels: list[int] | None = None, **options: Any) -> list[str]:
    """The cells of one quasi-identifier, in the order of publication."""
    labels = labels or [0] * len(values)
    table = gh.read({"q": values}, quasi=["q"], missing="category", **options)
    groups = gh.Groups(np.array(labels, np.int32), max(labels) + 1)
    cells: list[str] = gh.Boxes().recode(table, groups)["data"]["q"].to_pylist()
    return cells


@pytest.mark.parametrize(
    ("values", "cell"),
    [
        ([21, 60, 30], "[21, 60]"),
        ([21, 21], "21"),
        ([-3, -40], "[-40, -3]"),
        ([2**40, -(2**40)], "[-1099511627776, 1099511627776]"),
        ([1.5, 0.1], "[0.1, 1.5]"),
        ([1e22, 5e-324], "[5e-324, 1e+22]"),
        ([dt.date(2024, 5, 1), dt.date(2023, 12, 31)], "[2023-12-31, 2024-05-01]"),
        ([dt.datetime(2024, 5, 1, 8, 30), dt.datetime(2024, 5, 1)], "[2024-05-01T00:00:00, 2024-05-01T08:30:00]"),
        ([dt.time(8, 30), dt.time(7)], "[07:00:00, 08:30:00]"),
        ([True, False], "{false, true}"),
        ([True, True], "true"),
        (["M", "F", "M"], "{F, M}"),
        (["b", "a", "C"], "{C, a, b}"),
        (["F"], "F"),
        (["a, b", "c"], '{"a, b", c}'),
        (["missing", "*"], '{"*", "missing"}'),
        ([""], '""'),
        (['say "so"'], '"say ""so"""'),
        (["x or missing"], '"x or missing"'),
        ([21, None, 60], "[21, 60] or missing"),
        ([21, None], "21 or missing"),
        (["F", None, "M"], "{F, M} or missing"),
        ([True, None], "true or missing"),
        ([float("nan"), 2.5], "2.5 or missing"),
    ],
    ids=repr,
)
def test_a_group_shows_its_smallest_box(values: list[Any], cell: str) -> None:
    assert [cell] * len(values) == boxes(values)


def test_a_group_in_which_all_are_missing_shows_missing() -> None:
    assert ["30", "missing", "missing"] == sorted(boxes([30, None, None], [0, 1, 1]))


def test_a_declared_order_makes_intervals_in_that_order() -> None:
    order = ["poor", "fair", "good", "very good"]

    assert ["[fair, very good]"] * 2 == boxes(["very good", "fair"], ordered={"q": order})


def test_numbers_that_are_names_make_sets() -> None:
    assert ["{10, 9}"] * 2 == boxes([10, 9], categorical=["q"])


def test_numbers_whose_taxonomy_breaks_their_order_make_sets_for_an_interval_would_lie() -> None:
    parity = gh.Taxonomy.from_nested({"any": {"odd": ["1", "3"], "even": ["2", "4"]}})

    assert ["4"] + ["{1, 3, 2}"] * 3 == sorted(boxes([1, 3, 2, 4], [0, 0, 0, 1], taxonomies={"q": parity}))


def test_numbers_whose_taxonomy_keeps_their_order_make_intervals() -> None:
    halves = gh.Taxonomy.from_nested({"any": {"low": ["1", "2"], "high": ["3", "4"]}})

    assert ["[1, 3]"] * 3 == boxes([1, 3, 2], taxonomies={"q": halves})


def test_bottom_and_top_codes_stand_in_the_box() -> None:
    assert ["[18, 90]"] * 3 == boxes([3, 104, 40], bottom={"q": 18}, top={"q": 90})


def test_rows_come_in_the_order_of_values_not_of_texts() -> None:
    assert ["9", "10", "[100, 1000]", "[100, 1000]"] == boxes([100, 10, 1000, 9], [0, 1, 0, 2])
