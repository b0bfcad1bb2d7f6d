"""A recoding shows groups and nothing more: the same for isomorphic groups (TRANSPARENT Definition 1)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.release.storage import write_table
from tests.conformance.people import People, people
from tests.conformance.publishing import examples, rows_of
from tests.conformance.samples import RECODINGS, RecodingSample


def bytes_of(table: gh.Microdata, groups: gh.Groups, recoding: Any) -> dict[tuple[str, str], bytes]:
    """Every published table as the bytes of its files."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, data in recoding.recode(table, groups).items():
            for format in ("parquet", "csv"):
                path = Path(folder) / f"{name}.{format}"
                write_table(data, path, format)
                found[name, format] = path.read_bytes()
    return found


@st.composite
def divided(draw: st.DrawFn, recoding: RecodingSample) -> tuple[People, list[int]]:
    """A table and any partition of it: groups of any size and place, and tuples that are not published."""
    table = draw(people(tree=recoding.tree, sensitive=draw(st.integers(1, 2))))
    raw = draw(st.lists(st.integers(-1, 4), min_size=table.n, max_size=table.n))
    dense = {label: i for i, label in enumerate(sorted(set(raw) - {-1}))}
    return table, [dense.get(label, -1) for label in raw]


def groups_of(labels: list[int]) -> gh.Groups:
    return gh.Groups(np.array(labels, np.int32), max(labels, default=-1) + 1)


def members_of(labels: list[int]) -> list[list[int]]:
    return [[row for row, label in enumerate(labels) if label == group] for group in range(max(labels) + 1)]


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(120)
@given(data=st.data())
def test_any_groups_are_rewritten_as_the_slow_twin_says(recoding: RecodingSample, data: st.DataObject) -> None:
    table, labels = data.draw(divided(recoding))
    tables = recoding.recoding.recode(table.read(), groups_of(labels))

    assert recoding.twin(table, members_of(labels)) == {name: rows_of(rows) for name, rows in tables.items()}


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(60)
@given(data=st.data())
def test_permuting_sensitive_values_inside_groups_changes_no_byte(
    recoding: RecodingSample, data: st.DataObject
) -> None:
    table, labels = data.draw(divided(recoding))
    place = list(range(table.n))
    for group in members_of(labels):
        for row, other in zip(group, data.draw(st.permutations(group)), strict=True):
            place[row] = other
    moved = {name: [table.columns[name][row] for row in place] for name in table.sensitive}

    assert bytes_of(table.read(), groups_of(labels), recoding.recoding) == bytes_of(
        table.with_columns(moved).read(), groups_of(labels), recoding.recoding
    )


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(60)
@given(data=st.data())
def test_permuting_group_labels_and_rows_changes_no_byte(recoding: RecodingSample, data: st.DataObject) -> None:
    table, labels = data.draw(divided(recoding))
    names = data.draw(st.permutations(range(max(labels, default=-1) + 1)))
    order = data.draw(st.permutations(range(table.n)))
    renamed = [-1 if labels[row] < 0 else names[labels[row]] for row in order]

    assert bytes_of(table.read(), groups_of(labels), recoding.recoding) == bytes_of(
        table.permuted(order).read(), groups_of(renamed), recoding.recoding
    )


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(40)
@given(data=st.data())
def test_tuples_that_are_not_published_leave_no_trace(recoding: RecodingSample, data: st.DataObject) -> None:
    table, labels = data.draw(divided(recoding))
    microdata = table.read()
    kept = np.flatnonzero(np.array(labels) >= 0)

    assert bytes_of(microdata, groups_of(labels), recoding.recoding) == bytes_of(
        microdata.take(kept), groups_of([labels[row] for row in kept]), recoding.recoding
    )


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(25)
@given(data=st.data())
def test_members_of_a_group_cannot_be_told_apart(recoding: RecodingSample, data: st.DataObject) -> None:
    table, labels = data.draw(divided(recoding))
    swapped = dict(table.columns)
    for group in members_of(labels):
        order = data.draw(st.permutations(group))
        for name in table.quasi:  # whole people change places, as seen by whoever knows the quasi-identifiers
            moved = list(swapped[name])
            for row, other in zip(group, order, strict=True):
                moved[row] = table.columns[name][other]
            swapped[name] = moved

    assert bytes_of(table.read(), groups_of(labels), recoding.recoding) == bytes_of(
        table.with_columns(swapped).read(), groups_of(labels), recoding.recoding
    )


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_every_recoding_says_what_its_cells_mean(recoding: RecodingSample) -> None:
    table = gh.read(
        {"age": [1, 2, None], "sex": ["F", "M", "F"], "s": ["a", "b", "c"]},
        quasi=["age", "sex"],
        sensitive="s",
        missing="category",
    )

    meanings = [recoding.recoding.meaning(column.domain) for column in table.quasi]

    assert meanings[0].endswith(", or missing")
    assert "missing" not in meanings[1]
