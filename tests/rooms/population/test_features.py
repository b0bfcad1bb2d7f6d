# SPDX-License-Identifier: Apache-2.0
"""Levels: what of a person's quasi-identifiers the model looks at, for known points and for new ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from glasshouse.population.features import Attribute, Block, Features

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

A = np.array([0, 0, 1, 1, 2, 2], np.int32)
B = np.array([0, 1, 0, 1, 0, 2], np.int32)
ATTRIBUTES = (Attribute("a", A, ordered=True), Attribute("b", B, ordered=False))


def features_of(attributes: Sequence[Attribute], people: NDArray[np.float64], order: int) -> Features:
    """All blocks of up to so many attributes."""
    strengths = np.array([float(own.codes.min() != own.codes.max()) for own in attributes])
    return Features.of(attributes, people).combined(attributes, people, strengths, order=order, most=99)


def test_every_point_has_one_level_in_every_block() -> None:
    features = features_of(ATTRIBUTES, np.ones(6), 3)
    assert [block.attributes for block in features.blocks] == [(), (0,), (1,), (0, 1)]
    assert [block.n_levels for block in features.blocks] == [1, 3, 3, 6]
    assert features.matrix.toarray().sum(axis=1).tolist() == [4.0] * 6
    assert np.abs(features.transposed.toarray() - features.matrix.toarray().T).max() == 0


def test_a_new_point_has_the_levels_that_it_shares_and_no_others() -> None:
    features = features_of(ATTRIBUTES, np.ones(6), 2)
    # (1, 2) never occurred together; 7 and -1 are no values of a.
    new = np.array([[1, 0, 7, -1], [2, 1, 0, 0]], np.int32)
    levels = np.stack([block.levels(new) for block in features.blocks])
    assert levels[0].tolist() == [0, 0, 0, 0]
    assert levels[1].tolist() == [1, 0, -1, -1]
    assert levels[2].tolist() == [2, 1, 0, 0]
    assert levels[3].tolist() == [-1, 1, -1, -1]
    rows = features.rows(new).toarray()
    assert rows.sum(axis=1).tolist() == [3, 4, 2, 2]
    assert rows[1].tolist() == features.matrix.toarray()[1].tolist()


def test_known_points_keep_their_rows_in_any_order() -> None:
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, n, 200).astype(np.int32) for n in (40, 9, 3, 20)]
    features = features_of([Attribute(str(i), own, ordered=i % 2 == 0) for i, own in enumerate(codes)], np.ones(200), 3)
    order = rng.permutation(200)
    again = features.rows(features.codes[:, order]).toarray()
    assert np.abs(again - features.matrix.toarray()[order]).max() == 0


@pytest.mark.parametrize("ordered", [True, False])
def test_coarse_levels_are_few_and_keep_an_order(ordered: bool) -> None:
    rng = np.random.default_rng(2)
    codes = np.minimum(rng.geometric(0.05, 3000) - 1, 59).astype(np.int32)
    level = Attribute("x", codes, ordered=ordered).coarse(np.ones(3000), 10)
    assert level.min() >= 0
    assert level.max() <= 9
    people = np.bincount(level[codes], minlength=10)
    if ordered:
        assert (np.diff(level) >= 0).all()
        assert people.max() < 3 * 300
    else:
        counts = np.bincount(codes, minlength=60)
        frequent = np.argsort(-counts, kind="stable")[:9]
        assert level[frequent].tolist() == list(range(9))
        assert set(np.delete(level, frequent).tolist()) == {9}


def test_values_that_nobody_has_take_no_level_of_their_own() -> None:
    level = Attribute("x", np.array([0, 2, 2, 5], np.int32), ordered=False).coarse(np.array([1.0, 1, 1, 0]), 3)
    assert level[[0, 2]].tolist() == [0, 1]
    assert level.max() <= 1


def test_a_constant_attribute_has_no_block_and_wide_ordered_ones_have_bins_too() -> None:
    wide = np.arange(60).astype(np.int32)
    features = features_of(
        [Attribute("c", np.zeros(60, np.int32), ordered=True), Attribute("w", wide, ordered=True)], np.ones(60), 3
    )
    assert [(block.attributes, block.n_levels) for block in features.blocks] == [((), 1), ((1,), 60), ((1,), 10)]


def test_blocks_survive_plain_data() -> None:
    features = features_of(ATTRIBUTES, np.ones(6), 2)
    for block in features.blocks:
        again = Block.from_data(json.loads(json.dumps(block.to_data())))
        new = np.array([[0, 1, 2, 9], [2, 1, 2, 0]], np.int32)
        assert again.levels(new).tolist() == block.levels(new).tolist()
        assert again.attributes == block.attributes


def test_the_strongest_attributes_are_combined_first() -> None:
    rng = np.random.default_rng(3)
    attributes = [Attribute(str(i), rng.integers(0, 4, 100).astype(np.int32), ordered=False) for i in range(5)]
    strengths = np.array([1.0, 5.0, 0.0, 3.0, 2.0])
    found = Features.of(attributes, np.ones(100)).combined(attributes, np.ones(100), strengths, order=3, most=4)
    assert [block.attributes for block in found.blocks if block.order > 1] == [(1, 3), (1, 4), (1, 3, 4), (0, 1, 3)]
