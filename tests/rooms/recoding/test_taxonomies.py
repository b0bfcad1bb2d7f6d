"""Taxonomy nodes, cell by cell."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.principles.principle import Requirement

DISEASES = {"illness": {"lungs": ["flu", "asthma"], "stomach": {"acid": ["ulcer", "gastritis"], "other": ["nausea"]}}}


def nodes(values: list[Any], labels: list[int] | None = None, *, tree: Any = DISEASES) -> list[str]:
    """The cells of one quasi-identifier, in the order of publication."""
    labels = labels or [0] * len(values)
    taxonomy = gh.Taxonomy.from_nested(tree) if isinstance(tree, dict) else tree
    table = gh.read({"q": values}, quasi=["q"], missing="category", taxonomies={"q": taxonomy})
    groups = gh.Groups(np.array(labels, np.int32), max(labels) + 1)
    cells: list[str] = gh.Taxonomies().recode(table, groups)["data"]["q"].to_pylist()
    return cells


@pytest.mark.parametrize(
    ("values", "cell"),
    [
        (["flu", "asthma"], "lungs"),
        (["flu", "flu"], "flu"),
        (["ulcer", "gastritis"], "acid"),
        (["ulcer", "nausea"], "stomach"),
        (["flu", "nausea"], "illness"),
        (["flu", "asthma", None], "lungs or missing"),
        (["flu", None], "flu or missing"),
        (["nausea"], "nausea"),
    ],
    ids=repr,
)
def test_a_group_shows_the_lowest_node_above_its_values(values: list[Any], cell: str) -> None:
    assert [cell] * len(values) == nodes(values)


def test_the_node_does_not_hang_on_values_outside_the_group() -> None:
    assert ["acid", "acid", "flu"] == sorted(nodes(["ulcer", "flu", "gastritis"], [0, 1, 0]))
    assert ["acid", "acid"] == nodes(["ulcer", "gastritis"])


def test_a_group_in_which_all_are_missing_shows_missing() -> None:
    assert ["lungs", "lungs", "missing"] == sorted(nodes(["flu", "asthma", None], [0, 0, 1]))


@pytest.mark.parametrize(
    ("tree", "values", "cell"),
    [
        (gh.Taxonomy.intervals(width=5), [31, 34], "[30, 35)"),
        (gh.Taxonomy.intervals(width=5), [31, 36], "[30, 40)"),
        (gh.Taxonomy.prefix(length=5), ["13053", "13058"], "1305*"),
        (gh.Taxonomy.prefix(length=5), ["13053", "93053"], "*"),
        (gh.Taxonomy.dates(), [dt.date(2024, 5, 1), dt.date(2024, 5, 31)], "2024-05"),
        (gh.Taxonomy.dates(), [dt.date(2024, 5, 1), dt.date(2024, 12, 31)], "2024"),
    ],
    ids=repr,
)
def test_rules_make_nodes_too(tree: Any, values: list[Any], cell: str) -> None:
    assert [cell] * 2 == nodes(values, tree=tree)


def test_a_leaf_that_could_mislead_is_quoted_and_a_node_is_not() -> None:
    tree = {"any": {"a, b": ["missing", "x"], "c": ["y"]}}

    assert ['"missing"'] == nodes(["missing"], tree=tree)
    assert ["a, b", "a, b"] == nodes(["missing", "x"], tree=tree)


def test_columns_without_a_taxonomy_are_boxes_beside_it() -> None:
    table = gh.read(
        {"q": ["flu", "asthma"], "age": [3, 9]},
        quasi=["q", "age"],
        taxonomies={"q": gh.Taxonomy.from_nested(DISEASES)},
    )

    data = gh.Taxonomies().recode(table, gh.Groups(np.zeros(2, np.int32), 1))["data"]

    assert [{"q": "lungs", "age": "[3, 9]"}] * 2 == data.to_pylist()


def test_a_table_without_any_taxonomy_is_refused_with_what_would_work() -> None:
    table = gh.read({"age": [3, 9]}, quasi=["age"])

    with pytest.raises(gh.NotSupported, match="read the table with taxonomies"):
        gh.Taxonomies().check(table, Requirement.of(gh.KAnonymity(k=2), table))


def test_a_sensitive_taxonomy_alone_is_not_enough() -> None:
    table = gh.read(
        {"age": [3, 9], "s": ["flu", "asthma"]},
        quasi=["age"],
        sensitive="s",
        taxonomies={"s": gh.Taxonomy.from_nested(DISEASES)},
    )

    with pytest.raises(gh.NotSupported):
        gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Taxonomies())


def test_a_node_labelled_missing_is_not_taken_for_a_missing_value() -> None:
    tree = {"any": {"missing": ["a", "b"], "known": ["c"]}}

    assert len(set(nodes(["a", "b", None], [0, 0, 1], tree=tree))) == 2
