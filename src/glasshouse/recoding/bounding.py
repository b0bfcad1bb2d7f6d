# SPDX-License-Identifier: Apache-2.0
"""Bounding boxes of a great many groups: the cells that `Boxes` would write, and the codes between which they lie.

Where one tuple a group is published there are as many boxes as rows, so nothing is done for each box in turn: texts are
written column by column, and sets of codes are gathered as bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.cells import MISSING, quoted, value_set, with_missing
from glasshouse.kernels import compiled
from glasshouse.recoding.generalized import group_ranges, group_sets, numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.microdata import Column, Groups
    from glasshouse.recoding.generalized import Ranges

__all__ = ["BoundingCells", "bounding_cells"]

_BITS = 63  # codes in a word of marks
_WORDS = 4  # attributes of more codes than these words mark are left to `group_sets`


@dataclass(frozen=True, eq=False)
class BoundingCells:
    """One attribute of all boxes: distinct cells in their natural order, and per group its cell and its end codes.

    A cell lies between ``low`` and ``high`` in the order in which the attribute may be cut, where missing comes last.
    """

    texts: pa.Array
    of_group: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]


def bounding_cells(column: Column, groups: Groups, *, words: int = _WORDS) -> BoundingCells:
    """One attribute's cell for every group: an interval of an ordered attribute, a set of an unordered one.

    Parameters
    ----------
    column
        The attribute.
    groups
        The groups; none is empty.
    words
        Attributes of more than so many times 63 codes are done in another way, with the same result.

    Examples
    --------
    >>> from glasshouse.microdata import Groups, examples
    >>> table = examples.transparent_t1()
    >>> cells = bounding_cells(table.quasi[0], Groups(np.array([0, 0, 1, 1, 2, 2, 2, 2], np.int32), 3))
    >>> cells.texts.to_pylist(), cells.low.tolist(), cells.high.tolist()
    (['[21, 27]', '32', '[54, 60]'], [0, 2, 3], [1, 2, 4])
    """
    if column.domain.ordered:
        ranges = group_ranges(column, groups)
        past = column.domain.missing_code
        low = np.where(ranges.low <= ranges.high, ranges.low, past)
        high = np.where(ranges.missing == 1, past, ranges.high)
        return _of_kinds(_interval_texts(column, ranges), ranges.of_group, low, high)
    marked = column.domain.size <= words * _BITS
    sets, of_group = _marked_sets(column, groups) if marked else group_sets(column, groups)
    ends = np.array([(codes[0], codes[-1]) for codes in sets], np.int32).reshape(-1, 2)
    return _of_kinds(_set_texts(column, sets), of_group, ends[:, 0], ends[:, 1])


def _of_kinds(
    texts: pa.Array, of_group: NDArray[np.int32], low: NDArray[np.integer], high: NDArray[np.integer]
) -> BoundingCells:
    return BoundingCells(texts, of_group, low.astype(np.int32)[of_group], high.astype(np.int32)[of_group])


def _interval_texts(column: Column, ranges: Ranges) -> pa.Array:
    """Write every range as `interval` and `with_missing` do."""
    known = ranges.low <= ranges.high
    values = pa.array([quoted(value) for value in column.domain.values.to_pylist()] or [MISSING], pa.string())
    low, high = (values.take(pa.array(np.where(known, ends, 0))) for ends in (ranges.low, ranges.high))
    texts = pc.if_else(pa.array(ranges.low == ranges.high), low, _joined("[", low, ", ", high, "]"))
    if ranges.missing.any():
        gaps = pc.if_else(pa.array(known), _joined(texts, with_missing("")), pa.scalar(with_missing(None)))
        texts = pc.if_else(pa.array(ranges.missing == 1), gaps, texts)
    return texts


def _joined(*parts: pa.Array | str) -> pa.Array:
    return pc.binary_join_element_wise(*parts, "")


def _set_texts(column: Column, sets: list[tuple[int, ...]]) -> pa.Array:
    values = column.domain.values.to_pylist()
    missing_code = column.domain.missing_code
    texts = []
    for codes in sets:
        present = [values[code] for code in codes if code != missing_code]
        cell = value_set(present) if present else None
        texts.append(str(cell) if len(present) == len(codes) else with_missing(cell))
    return pa.array(texts, pa.string())


def _marked_sets(column: Column, groups: Groups) -> tuple[list[tuple[int, ...]], NDArray[np.int32]]:
    """Do as `group_sets` does, with a bit for every code."""
    kernels = compiled("glasshouse.recoding._kernels")
    firsts = range(0, column.domain.size, _BITS)
    marks = np.zeros((len(firsts), groups.n_groups), np.int64)
    number, n_numbers = np.zeros(groups.n_groups, np.int32), 1
    for mask, first in zip(marks, firsts, strict=True):
        kernels.label_masks(groups.labels, column.codes, first, mask)
        kinds, of_group = numbered(mask, 2 ** min(column.domain.size - first, _BITS))
        distinct, number = numbered(number.astype(np.int64) * len(kinds) + of_group, n_numbers * len(kinds))
        n_numbers = len(distinct)
    example = np.empty(n_numbers, np.int64)  # a group of each kind
    example[number] = np.arange(groups.n_groups)
    found = [_codes_of(masks) for masks in marks[:, example].T.tolist()]
    order = sorted(range(n_numbers), key=found.__getitem__)
    rank = np.empty(n_numbers, np.int32)
    rank[order] = np.arange(n_numbers, dtype=np.int32)
    return [found[i] for i in order], rank[number]


def _codes_of(masks: list[int]) -> tuple[int, ...]:
    return tuple(_BITS * word + bit for word, mask in enumerate(masks) for bit in range(_BITS) if mask >> bit & 1)
