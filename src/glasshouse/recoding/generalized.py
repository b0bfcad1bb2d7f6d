# SPDX-License-Identifier: Apache-2.0
"""What every generalization shares: cells per group in, one published table out, ordered by published content only.

Rows are not moved: groups with equal cells are put together, their sensitive values are counted, and the table is
written out from the counts. So nothing of the input's order, nor of the groups' numbering, can survive.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from glasshouse.kernels import compiled
from glasshouse.microdata.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata import Column, Groups, Microdata

__all__ = ["CellColumn", "generalized_table", "group_ranges", "group_sets"]


@dataclass(frozen=True, eq=False)
class CellColumn:
    """The cells of one attribute: distinct texts in their natural order, and which of them each group shows."""

    texts: Sequence[str]
    of_group: NDArray[np.int64]


def group_ranges(column: Column, groups: Groups) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Smallest and largest code of every group, and whether a value is missing in it (low > high: all are missing)."""
    low = np.empty(groups.n_groups, np.int32)
    high = np.empty(groups.n_groups, np.int32)
    kernels = compiled("glasshouse.recoding._generalizing_kernels")
    past = column.domain.missing_code if column.domain.missing else column.domain.size
    missing = np.zeros(groups.n_groups, np.uint8)
    kernels.label_ranges(groups.labels, column.codes, past, low, high, missing)
    return low.astype(np.int64), high.astype(np.int64), missing.astype(np.int64)


def group_sets(column: Column, groups: Groups) -> tuple[list[tuple[int, ...]], NDArray[np.int64]]:
    """The set of codes of every group: distinct sets in order, and which of them each group has."""
    offsets, codes, _ = groups.counts(column).histogram
    packed = codes.tobytes()
    width = codes.itemsize
    bounds = (offsets * width).tolist()
    keys = [packed[a:b] for a, b in itertools.pairwise(bounds)]
    sets = sorted((tuple(np.frombuffer(key, np.int32).tolist()), key) for key in set(keys))
    rank = {key: i for i, (_, key) in enumerate(sets)}
    return [codes_ for codes_, _ in sets], np.fromiter((rank[key] for key in keys), np.int64, len(keys))


def generalized_table(table: Microdata, groups: Groups, cells: Sequence[CellColumn]) -> pa.Table:
    """Write the published table: a row per published tuple, sorted by cells, then by sensitive values."""
    box_of_group, representative = _number_boxes(cells)
    n_boxes = len(representative)
    joint, combinations = _joint_codes(table.sensitive, table.n_tuples)
    sizes = np.bincount(box_of_group, weights=groups.sizes, minlength=n_boxes).astype(np.int64)

    # counts: per box, how many published tuples have each (combination of) sensitive value
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    kernels = compiled("glasshouse.recoding._generalizing_kernels")
    by_box = np.empty(int(offsets[-1]), np.int32)
    kernels.gather_by_box(groups.labels, box_of_group.astype(np.int32), joint, offsets[:-1].copy(), by_box)
    _, values, counts = Counts(by_box, offsets, len(combinations)).histogram

    columns: dict[str, pa.Array] = {}
    for column, cell in zip(table.quasi, cells, strict=True):
        indices = np.repeat(cell.of_group[representative].astype(np.int32), sizes)
        columns[column.name] = _dictionary(indices, cell.texts)
    shown = np.repeat(values, counts)
    for i, column in enumerate(table.sensitive):
        columns[column.name] = published_values(column, combinations[:, i][shown])
    return pa.table(columns)


def published_values(column: Column, codes: NDArray[np.int32]) -> pa.Array:
    """Values of a published column: text as a dictionary of the values that occur, anything else as it is."""
    if pa.types.is_string(column.domain.values.type) and not column.domain.missing:
        present = (
            np.unique(codes)
            if len(codes) < column.domain.size
            else np.flatnonzero(np.bincount(codes, minlength=column.domain.size))
        )
        rank = np.zeros(column.domain.size, np.int32)
        rank[present] = np.arange(len(present), dtype=np.int32)
        return _dictionary(rank[codes], column.domain.values.take(pa.array(present)))
    return column.domain.decode(codes)


def _dictionary(indices: NDArray[np.int32], texts: Sequence[str] | pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(texts, pa.string()))


def _number_boxes(cells: Sequence[CellColumn]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the different boxes in the order of their cells; per group its box, per box one of its groups."""
    keys = [cell.of_group for cell in cells]
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(order), bool)
    new[:1] = True
    for key in keys:
        new[1:] |= np.diff(key[order]) != 0
    box_of_group = np.empty(len(order), np.int64)
    box_of_group[order] = np.cumsum(new) - 1
    return box_of_group, order[new]


def _joint_codes(sensitive: Sequence[Column], n_tuples: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """One code per tuple for the combination of its sensitive values, in their order; and each combination's codes."""
    if len(sensitive) == 1:
        return sensitive[0].codes, np.arange(sensitive[0].domain.size, dtype=np.int32)[:, np.newaxis]
    if not sensitive:
        return np.zeros(n_tuples, np.int32), np.empty((1, 0), np.int32)
    matrix = np.stack([column.codes for column in sensitive], axis=1)
    combinations, joint = np.unique(matrix, axis=0, return_inverse=True)
    return joint.reshape(-1).astype(np.int32), combinations
