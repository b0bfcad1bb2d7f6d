# SPDX-License-Identifier: Apache-2.0
"""Large leaves of Mirror: their tuples lie in a random order before they are sliced, and small ones as they were."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.engines import Nodes
from glasshouse.grouping.mirror import halves as halving
from glasshouse.grouping.mirror.halves import HalvedRows
from glasshouse.grouping.perimeter import weighted_places
from glasshouse.grouping.transparent.packed_rows import packed_rows


def halved(n: int) -> tuple[gh.Microdata, HalvedRows]:
    columns: dict[str, Any] = {"x": list(range(n)), "s": [f"s{i % 3}" for i in range(n)]}
    table = gh.read(columns, quasi=["x"], sensitive="s")
    rows = packed_rows(table, table.sensitive[0], np.arange(n, dtype=np.int32))
    return table, HalvedRows(rows, weighted_places(table), [0])


def taken(rows: HalvedRows, nodes: Nodes, seed: int) -> list[tuple[int, ...]]:
    """The row numbers of every node, in the order in which they are taken."""
    _, numbers, offsets = rows.taken(nodes, gh.Source.seeded(seed))
    return [tuple(numbers[a:b].tolist()) for a, b in pairwise(offsets)]


def test_every_order_of_a_large_leaf_is_as_likely_and_small_leaves_stay_as_they_lie(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(halving, "LARGE", 3)
    _, rows = halved(8)
    nodes = Nodes(np.array([0, 3, 5]), np.array([3, 5, 8]))
    n = 3_600
    found = [taken(rows, nodes, seed) for seed in range(n)]

    assert {orders[0] for orders in found} == {(3, 4)}  # small leaves come first
    seen = Counter((orders[1], orders[2]) for orders in found)
    assert len(seen) == 36
    expected = n / 36
    assert sum((count - expected) ** 2 / expected for count in seen.values()) < 73  # 35 degrees of freedom: 1 in 5,000
    assert {tuple(sorted(first)) + tuple(sorted(second)) for first, second in seen} == {(0, 1, 2, 5, 6, 7)}


@pytest.mark.parametrize("large", [2, 5, 6, 100])
def test_tuples_that_are_taken_keep_their_codes_whatever_their_order(
    large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(halving, "LARGE", large)
    table, rows = halved(20)
    nodes = Nodes(np.array([0, 5, 11]), np.array([5, 11, 20]))
    part, numbers, offsets = rows.taken(nodes, gh.Source.seeded(1))

    sizes = nodes.sizes
    assert np.diff(offsets).tolist() == sorted(sizes[sizes < large]) + sizes[sizes >= large].tolist()
    last = part.tuples.reshape(20, -1)[:, -1]
    assert ((last >> np.uint64(32)).astype(int) == table.sensitive[0].codes[numbers]).all()
    assert ((last & np.uint64(0xFFFFFFFF)).astype(int) == np.arange(20)).all()  # numbered anew
    assert sorted(numbers.tolist()) == list(range(20))
