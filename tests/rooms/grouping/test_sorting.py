# SPDX-License-Identifier: Apache-2.0
"""Sorting tuples and following an order; sorts by several columns are tested as orderings."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.engines.sorting import along, joined, label_along, runs, spread, together
from tests.rooms.grouping.schedules import ways
from tests.tiers import examples


@settings(max_examples=examples(200), deadline=None)
@given(labels=st.lists(st.integers(-1, 4), min_size=1, max_size=25), given_ties=st.booleans(), data=st.data())
def test_tuples_come_group_after_group_each_in_tie_order_and_dropped_ones_not_at_all(
    labels: list[int], given_ties: bool, data: st.DataObject
) -> None:
    ties = data.draw(st.permutations(range(len(labels)))) if given_ties else list(range(len(labels)))
    groups = [[i for i in ties if labels[i] == label] for label in sorted(set(labels) - {-1})]
    with ways(data.draw) as engine:
        order, offsets = together(np.array(labels, np.int32), np.array(ties, np.int32) if given_ties else None, engine)

    assert groups == [order[a:b].tolist() for a, b in pairwise(offsets.tolist())]
    assert sum(map(len, groups)) == len(order)


@settings(max_examples=examples(100), deadline=None)
@given(sizes=st.lists(st.integers(0, 6), min_size=1, max_size=12), data=st.data())
def test_columns_follow_an_order_and_labels_come_back_from_it(sizes: list[int], data: st.DataObject) -> None:
    n, offsets = sum(sizes), np.cumsum([0, *sizes])
    order = np.array(data.draw(st.permutations(range(n))), np.int32)
    codes = np.array(data.draw(st.lists(st.integers(0, 99), min_size=n, max_size=n)), np.int32)
    published = data.draw(st.integers(0, len(sizes)))
    by_run = np.repeat(np.arange(len(sizes)), sizes)
    with ways(data.draw) as engine:
        followed = along(codes, order, engine)
        back = spread(followed[: n // 2], order[: n // 2], n, engine)
        labels = label_along(order, offsets, engine)
        some = label_along(order, offsets, engine, n_published=published)
        all_back = spread(followed, order, n, engine)

    assert codes[order].tolist() == followed.tolist()
    assert codes.tolist() == all_back.tolist()
    assert [code if i in order[: n // 2] else -1 for i, code in enumerate(codes.tolist())] == back.tolist()
    assert by_run.tolist() == labels[order].tolist()
    assert [run if run < published else -1 for run in by_run.tolist()] == some[order].tolist()


@settings(max_examples=examples(200), deadline=None)
@given(tuples=st.lists(st.tuples(*[st.sampled_from([0, 1, 2, 70_000])] * 3), min_size=1, max_size=25), data=st.data())
def test_a_run_is_all_tuples_that_are_equal_in_every_column(
    tuples: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    columns = [np.array(column, np.int32) for column in zip(*tuples, strict=True)]
    expected = [[i for i, other in enumerate(tuples) if other == one] for one in sorted(set(tuples))]
    with ways(data.draw) as engine:
        order, offsets = runs(joined(columns, engine), None, engine)

    assert expected == [order[a:b].tolist() for a, b in pairwise(offsets.tolist())]
