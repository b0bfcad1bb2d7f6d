"""Views: a release of any layout as tables to count, and tables that contradict each other are noticed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.verification import verify_table
from glasshouse.verification.verify_table import views_of

QIT = pa.table({"age": [30, 31, 40, 41], "Group-ID": [1, 1, 2, 2]})
ST = pa.table({"Group-ID": [1, 1, 2], "ill": ["flu", "gout", "flu"], "Count": [1, 1, 2]})
WARDS = pa.table({"Group-ID": [1, 2, 2], "ward": ["a", "a", "b"], "Count": [2, 1, 1]})
BT = ST.rename_columns(["Batch-ID", "ill", "Count"])
GT = pa.table({"age": ["[30, 41]"] * 4, "Batch-ID": [1, 1, 2, 2]})
PLAIN = pa.table({"age": ["[30, 41]"] * 4})


def counted(view: Any) -> Counter[Any]:
    columns = [view.table[name].to_pylist() for name in (*view.quasi, *view.sensitive)]
    return Counter(zip(*columns, strict=True))


def test_one_table_is_seen_as_it_is() -> None:
    data = pa.table({"age": ["30", "31"], "ill": ["flu", "gout"]})

    (view,) = views_of({"data": data}, ["age"], ["ill"])

    assert (view.table, view.quasi, view.sensitive) == (data, ("age",), ("ill",))


def test_groups_of_a_permutation_are_those_of_its_number() -> None:
    data = pa.table({"age": [30, 31], "Group-ID": [1, 1], "ill": ["flu", "gout"]})

    (view,) = views_of({"data": data}, ["age"], ["ill"])

    assert (view.quasi, view.sensitive) == (("Group-ID",), ("ill",))


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
@pytest.mark.parametrize("name", ["Group-ID", "Batch-ID", "Count"])
def test_a_column_of_the_table_may_be_called_like_one_that_others_add(name: str, role: str) -> None:
    data = pa.table({name: ["1", "2"], "other": ["flu", "gout"]})
    quasi, sensitive = ([name], ["other"]) if role == "quasi" else (["other"], [name])

    (view,) = views_of({"data": data}, quasi, sensitive)

    assert (view.table, view.quasi, view.sensitive) == (data, tuple(quasi), tuple(sensitive))


@pytest.mark.parametrize("tables", [{"qit": QIT, "st": ST}, {"bt": BT, "gt": GT, "gt_2": PLAIN}], ids=list)
def test_values_that_are_counted_apart_become_a_row_each(tables: dict[str, pa.Table]) -> None:
    (view,) = views_of(tables, ["age"], ["ill"])

    assert view.sensitive == ("ill",)
    assert counted(view) == {(1, "flu"): 1, (1, "gout"): 1, (2, "flu"): 2}
    assert verify_table(view.table, quasi=view.quasi, sensitive=view.sensitive).columns["ill"].ell == 1


def test_every_sensitive_column_that_is_counted_has_a_view() -> None:
    views = views_of({"qit": QIT, "st_1": ST, "st_2": WARDS}, ["age"], ["ill", "ward"])

    assert [("ill",), ("ward",)] == [view.sensitive for view in views]
    assert counted(views[1]) == {(1, "a"): 2, (2, "a"): 1, (2, "b"): 1}


def test_missing_values_are_counted_like_others() -> None:
    st = pa.table({"Group-ID": [1, 1], "ill": pa.array(["flu", None]), "Count": [1, 3]})

    (view,) = views_of({"st": st}, ["age"], ["ill"])

    assert counted(view) == {(1, "flu"): 1, (1, None): 3}


def with_cell(table: pa.Table, name: str, row: int, value: Any) -> pa.Table:
    cells = table[name].to_pylist()
    cells[row] = value
    return table.set_column(table.column_names.index(name), name, [cells])


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        ({"qit": QIT, "st": with_cell(ST, "Count", 0, 2)}, "as many records in every group"),
        ({"qit": QIT, "st": with_cell(ST, "Count", 0, 0)}, "counts below 1"),
        ({"qit": QIT, "st": with_cell(ST, "Count", 0, -1)}, "counts below 1"),
        ({"qit": QIT, "st": with_cell(ST, "Group-ID", 0, 0)}, "number below 1"),
        ({"qit": QIT, "st": with_cell(ST, "Group-ID", 0, 2)}, "as many records in every group"),
        ({"qit": with_cell(QIT, "Group-ID", 0, 2), "st": ST}, "as many records in every group"),
        ({"qit": with_cell(QIT, "Group-ID", 0, 3), "st": ST}, "as many records in every group"),
        ({"qit": with_cell(QIT, "Group-ID", 0, 0), "st": ST}, "number below 1"),
        ({"qit": QIT.slice(1), "st": ST}, "as many records in every group"),
        ({"qit": QIT.slice(0, 0), "st": ST}, "as many records in every group"),
        ({"qit": QIT, "st_1": ST, "st_2": with_cell(WARDS, "Count", 0, 1)}, "the same sizes of groups"),
        ({"qit": QIT, "st": ST.rename_columns(["Group-ID", "age", "Count"])}, "not a sensitive one"),
        ({"bt": BT, "gt": with_cell(GT, "Batch-ID", 3, 1)}, "'gt' does not have as many"),
        ({"bt": BT, "gt": GT, "gt_2": with_cell(GT, "Batch-ID", 0, 2)}, "'gt_2' does not have as many"),
    ],
)
def test_tables_that_contradict_each_other_are_noticed(tables: dict[str, pa.Table], says: str) -> None:
    with pytest.raises(gh.GuaranteeBroken, match=says):
        views_of(tables, ["age"], ["ill", "ward"])
