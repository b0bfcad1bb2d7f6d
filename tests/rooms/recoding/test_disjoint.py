"""Do boxes overlap? The answer for many boxes against every pair, on every path."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import NotSupported
from glasshouse.kernels import interpreted
from glasshouse.recoding import perturbed as disjoint
from glasshouse.recoding.perturbed import find_overlap, refuse_overlap

Box = list[tuple[int, int]]


def shares_a_point(a: Box, b: Box) -> bool:
    return all(
        low <= other_high and other_low <= high for (low, high), (other_low, other_high) in zip(a, b, strict=True)
    )


def ends(boxes: list[Box]) -> tuple[Any, Any]:
    array = np.array(boxes, np.int32)
    return array[:, :, 0], array[:, :, 1]


@st.composite
def cut_apart(draw: st.DrawFn) -> list[Box]:
    """Boxes that come from cuts, each shrunk a little; perhaps one of them grown again."""
    boxes: list[Box] = [[(0, draw(st.integers(0, 40))) for _ in range(draw(st.integers(1, 3)))]]
    for _ in range(draw(st.integers(0, 25))):
        box = boxes.pop(draw(st.integers(0, len(boxes) - 1)))
        dim = draw(st.integers(0, len(box) - 1))
        low, high = box[dim]
        if low < high:
            middle = draw(st.integers(low, high - 1))
            boxes.append([*box[:dim], (middle + 1, high), *box[dim + 1 :]])
            box = [*box[:dim], (low, middle), *box[dim + 1 :]]
        boxes.append(box)
    if draw(st.booleans()):
        box = boxes[draw(st.integers(0, len(boxes) - 1))]
        dim = draw(st.integers(0, len(box) - 1))
        box[dim] = (max(0, box[dim][0] - draw(st.integers(0, 2))), box[dim][1] + draw(st.integers(0, 2)))
    return draw(st.permutations(boxes))


any_boxes = st.integers(1, 3).flatmap(
    lambda d: st.lists(
        st.lists(
            st.tuples(st.integers(0, 12), st.integers(0, 5)).map(lambda e: (e[0], sum(e))), min_size=d, max_size=d
        ),
        min_size=1,
        max_size=12,
    )
)


@given(boxes=st.one_of(cut_apart(), any_boxes), few=st.sampled_from([1, 3, 8]), dense=st.sampled_from([0, 1, 100]))
def test_an_overlap_is_found_where_a_pair_overlaps(boxes: list[Box], few: int, dense: int) -> None:
    overlapping = {(i, j) for (i, a), (j, b) in combinations(enumerate(boxes), 2) if shares_a_point(a, b)}
    found = find_overlap(*ends(boxes), few=few, dense=dense)

    assert found in overlapping if overlapping else found is False


@given(boxes=cut_apart(), dense=st.sampled_from([0, 100]))
def test_beyond_the_limit_it_may_not_know_but_is_never_wrong(boxes: list[Box], dense: int) -> None:
    overlaps = any(shares_a_point(a, b) for a, b in combinations(boxes, 2))
    found = find_overlap(*ends(boxes), few=1, limit=1, dense=dense)

    assert (found is not False) == overlaps  # boxes of cuts come apart by cuts


def test_boxes_that_no_cut_divides_are_compared_in_pairs() -> None:
    wheel: list[Box] = [[(0, 1), (0, 0)], [(2, 2), (0, 1)], [(1, 2), (2, 2)], [(0, 0), (1, 2)], [(1, 1), (1, 1)]]

    assert find_overlap(*ends(wheel), few=1) is False
    assert find_overlap(*ends(wheel), few=1, limit=1) is True
    with pytest.raises(NotSupported, match="strict cuts"):
        refuse_overlap(*ends([*wheel, [(1, 1), (0, 1)]]), "publication")


@given(boxes=st.one_of(cut_apart(), any_boxes), few=st.sampled_from([1, 8]), dense=st.sampled_from([0, 100]))
def test_the_interpreted_kernel_gives_the_same(boxes: list[Box], few: int, dense: int) -> None:
    def run(load: Callable[[str], Any] | None) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            if load is not None:
                patch.setattr(disjoint, "compiled", load)
            return find_overlap(*ends(boxes), few=few, dense=dense)

    assert run(None) == run(interpreted)


def test_many_boxes_of_a_grid_are_told_apart() -> None:
    side = np.arange(0, 120, 3, np.int32)
    low = np.stack(np.meshgrid(side, side, side), axis=-1).reshape(-1, 3)
    high = low + 2
    assert find_overlap(low, high) is False
    high[777, 1] += 1

    assert find_overlap(low, high) is not False
    assert find_overlap(low[:0], high[:0]) is False
