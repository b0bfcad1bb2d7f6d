"""What all generalizations share: one table, ordered by what it shows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import glasshouse as gh
from glasshouse.recoding.generalization import box_cells, generalized_table


def recode(table: gh.Microdata, labels: list[int]) -> pa.Table:
    groups = gh.Groups(np.array(labels, np.int32), max(labels) + 1)
    return generalized_table(table, groups, [box_cells(column, groups) for column in table.quasi])


def test_rows_are_ordered_by_cells_then_by_sensitive_values_whatever_the_labels() -> None:
    columns = {"age": [9, 10, 9, 10], "sex": ["M", "F", "M", "F"], "s": ["z", "b", "a", "a"]}
    table = gh.read(columns, quasi=["age", "sex"], sensitive="s")
    expected = [("9", "M", "a"), ("9", "M", "z"), ("10", "F", "a"), ("10", "F", "b")]

    for labels in ([0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 2, 3], [3, 2, 1, 0]):
        assert expected == [tuple(row.values()) for row in recode(table, labels).to_pylist()]


def test_sensitive_values_come_in_their_declared_order() -> None:
    table = gh.read(
        {"q": [1, 1, 1], "s": ["high", "low", "middle"]},
        quasi=["q"],
        sensitive="s",
        ordered={"s": ["low", "middle", "high"]},
    )

    assert ["low", "middle", "high"] == recode(table, [0, 0, 0])["s"].to_pylist()


def test_groups_with_equal_cells_cannot_be_told_apart() -> None:
    table = gh.read({"q": [1, 1, 1, 1], "s": ["a", "b", "b", "a"]}, quasi=["q"], sensitive="s")

    assert recode(table, [0, 0, 0, 0]).equals(recode(table, [0, 1, 1, 0]))


def test_several_sensitive_columns_stay_together() -> None:
    columns = {"q": [1, 2, 3], "s": ["b", "a", "a"], "t": ["x", "z", "y"]}
    table = gh.read(columns, quasi=["q"], sensitive=["s", "t"])

    data = recode(table, [0, 0, 0])

    assert [("a", "y"), ("a", "z"), ("b", "x")] == list(zip(data["s"].to_pylist(), data["t"].to_pylist(), strict=True))


def test_a_table_without_sensitive_columns_keeps_one_row_a_tuple() -> None:
    table = gh.read({"q": [1, 2, 3]}, quasi=["q"])

    assert [{"q": "1"}, {"q": "[2, 3]"}, {"q": "[2, 3]"}] == recode(table, [0, 1, 1]).to_pylist()


def test_tuples_without_a_group_are_not_published_and_their_values_are_in_no_dictionary() -> None:
    columns = {"q": ["a", "b", "hidden"], "s": ["x", "y", "hidden"]}
    table = gh.read(columns, quasi=["q"], sensitive="s")

    data = recode(table, [0, 0, -1])

    assert [{"q": "{a, b}", "s": "x"}, {"q": "{a, b}", "s": "y"}] == data.to_pylist()
    for column in data.columns:
        assert "hidden" not in column.chunk(0).dictionary.to_pylist()


def test_missing_sensitive_values_are_published_as_missing_and_come_last() -> None:
    table = gh.read({"q": [1, 1, 1], "s": [None, "b", "a"]}, quasi=["q"], sensitive="s", missing="category")

    assert ["a", "b", None] == recode(table, [0, 0, 0])["s"].to_pylist()


def test_sensitive_numbers_that_are_names_stay_numbers() -> None:
    table = gh.read({"q": [1, 1, 1], "s": [30, 4, 30]}, quasi=["q"], sensitive="s", categorical=["s"])

    data = recode(table, [0, 0, 0])

    assert [4, 30, 30] == data["s"].to_pylist()
    assert pa.int64() == data.schema.field("s").type


def test_sensitive_bins_are_published_by_their_labels_in_their_order() -> None:
    table = gh.read(
        {"q": [1, 1, 1], "pay": [950, 70, 1_200]},
        quasi=["q"],
        sensitive="pay",
        bins={"pay": gh.Taxonomy.intervals(width=500)},
    )

    assert ["[0, 500)", "[500, 1000)", "[1000, 1500)"] == recode(table, [0, 0, 0])["pay"].to_pylist()
