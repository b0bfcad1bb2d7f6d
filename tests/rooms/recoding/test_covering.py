"""Read back from its text alone, every published cell covers the values that it stands for, and hides which."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from tests.laws.people import people
from tests.laws.publishing import examples
from tests.rooms.recoding.reading import covers, labels, split


def test_the_reader_of_cells_reads_the_grammar() -> None:
    assert covers("[1, 5]", 3, 0)
    assert not covers("[1, 5]", 6, 0)
    assert covers('{"a, b", c}', "a, b", "")
    assert not covers('{"a, b", c}', "b", "")
    assert covers("[1, 5] or missing", None, 0)
    assert not covers("[1, 5]", None, 0)
    assert covers('"missing"', "missing", "")
    assert covers("north", "Oslo", "", tree={"north": {"Oslo"}})
    assert split('"say ""so"", then", b') == ['"say ""so"", then"', "b"]


@pytest.mark.parametrize("recoding", [gh.Boxes(), gh.Taxonomies()], ids=repr)
@examples(150)
@given(data=st.data())
def test_every_cell_covers_the_values_of_its_group(recoding: Any, data: st.DataObject) -> None:
    table = data.draw(people(tree=True, sensitive=0))
    labels_of = data.draw(st.lists(st.integers(0, 3), min_size=table.n, max_size=table.n))
    dense = {label: i for i, label in enumerate(sorted(set(labels_of)))}
    microdata = table.read()

    for group in dense:
        members = [row for row, label in enumerate(labels_of) if label == group]
        alone = np.full(table.n, -1, np.int32)
        alone[members] = 0
        published = recoding.recode(microdata, gh.Groups(alone, 1))["data"]

        assert published.num_rows == len(members)
        for name in table.quasi:
            (cell,) = set(published[name].to_pylist())
            example = table.natural_order(name)[0]
            order = list(table.orders[name]) if name in table.orders else None
            tree = labels(table.trees[name]) if name in table.trees else None
            for row in members:
                assert covers(cell, table.columns[name][row], example, order, tree), (name, cell)


@examples(80)
@given(data=st.data())
def test_a_box_is_the_smallest_and_a_set_has_no_value_too_many(data: st.DataObject) -> None:
    table = data.draw(people(sensitive=0))
    published = gh.Boxes().recode(table.read(), gh.Groups(np.zeros(table.n, np.int32), 1))["data"]

    for name in table.quasi:
        (cell,) = set(published[name].to_pylist())
        example, values = table.natural_order(name)[0], table.columns[name]
        assert covers(cell, None, example) == (None in values)
        text = cell.removesuffix(" or missing")
        if table.is_ordered(name):
            ends = split(text[1:-1]) if text.startswith("[") else [text]
        else:
            ends = split(text[1:-1]) if text.startswith("{") else [text]
            assert len(ends) == len(set(values) - {None})
        order = list(table.orders[name]) if name in table.orders else None
        assert all(any(covers(end, value, example, order) for value in values) for end in ends)
