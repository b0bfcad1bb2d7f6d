"""Cells of many groups at once: the same as group by group; and one tuple of each group, by its place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.kernels import compiled, interpreted
from glasshouse.recoding import perturbed as bounding
from glasshouse.recoding.generalization import box_cells
from glasshouse.recoding.perturbed import bounding_cells

SORTS: list[tuple[Any, dict[str, Any]]] = [
    (st.integers(-3, 12), {}),
    (st.floats(-2, 2, allow_nan=False).map(lambda x: round(x, 1)), {}),
    (st.sampled_from(["a", "b, c", "missing", "*", "d"]), {}),
    (st.sampled_from(["low", "high", "middle"]), {"ordered": {"q": ["low", "middle", "high"]}}),
    (st.booleans(), {}),
    (st.integers(0, 200), {"categorical": ["q"]}),
]


@pytest.mark.parametrize("load", [compiled, interpreted], ids=["compiled", "interpreted"])
@given(data=st.data(), words=st.sampled_from([0, 1, 4]))
def test_cells_are_those_of_boxes_and_lie_between_their_ends(load: Any, data: st.DataObject, words: int) -> None:
    values, options = data.draw(st.sampled_from(SORTS))
    column = data.draw(st.lists(st.one_of(values, st.none()), min_size=1, max_size=40))
    if all(value is None for value in column):
        column[0] = data.draw(values)
    table = gh.read({"q": column}, quasi=["q"], missing="category", **options)
    labels = np.array([data.draw(st.integers(-1, 3)) for _ in column], np.int32)
    present, numbers = np.unique(labels[labels >= 0], return_inverse=True)
    labels[labels >= 0] = numbers
    groups, attribute = gh.Groups(labels, len(present)), table.quasi[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounding, "compiled", load)
        found = bounding_cells(attribute, groups, words=words)
    expected = box_cells(attribute, groups)

    assert list(expected.texts) == found.texts.to_pylist()
    assert expected.of_group.tolist() == found.of_group.tolist()
    for g in range(groups.n_groups):
        codes = attribute.codes[labels == g]
        assert (codes.min(), codes.max()) == (found.low[g], found.high[g])


@pytest.mark.parametrize("load", [compiled, interpreted], ids=["compiled", "interpreted"])
@given(runs=st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=60), min_size=1, max_size=8), data=st.data())
def test_the_code_at_a_place_of_the_sorted_run_is_picked(load: Any, runs: list[list[int]], data: st.DataObject) -> None:
    places = [data.draw(st.integers(0, len(run) - 1)) for run in runs]
    codes = np.array([code for run in runs for code in run], np.int32)
    picked = np.empty(len(runs), np.int32)
    offsets = np.cumsum([0, *map(len, runs)])
    load("glasshouse.recoding._kernels").pick_smallest(codes, offsets, np.array(places), picked)

    assert [sorted(run)[place] for run, place in zip(runs, places, strict=True)] == picked.tolist()
