# SPDX-License-Identifier: Apache-2.0
"""What every generalization shares: cells per group in, one published table out, ordered by published content only.

Rows are not moved: groups with equal cells are put together, and their sensitive values are sorted. So nothing of the
input's order, nor of the groups' numbering, can survive.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.kernels import compiled
from glasshouse.release.layout import COUNT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata import Column, Groups, Microdata
    from glasshouse.release.layout import Layout

__all__ = ["CellColumn", "Ranges", "generalized_table", "group_ranges", "group_sets", "numbered", "sensitive_tables"]

_SHORT = 24  # the values of so few tuples are sorted by insertion
_SPARSE = 16  # with more possible values than so many for each tuple they are sorted by NumPy, else by counting


@dataclass(frozen=True, eq=False)
class CellColumn:
    """The cells of one attribute: distinct texts in their natural order, and which of them each group shows."""

    texts: Sequence[str]
    of_group: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Ranges:
    """The different ranges of codes among groups, ascending, and which of them each group has (low > high: no code)."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    missing: NDArray[np.int64]  # whether a value is missing: 0 or 1
    of_group: NDArray[np.int32]


def group_ranges(column: Column, groups: Groups) -> Ranges:
    """Smallest and largest code of every group, and whether a value is missing in it."""
    ends = np.empty((groups.n_groups, 2), np.int32)
    missing = np.zeros(groups.n_groups, np.uint8)
    past = column.domain.missing_code if column.domain.missing else column.domain.size
    _kernels().label_ranges(groups.labels, column.codes, past, ends, missing)
    keys = ends[:, 0] * np.int64(past + 1)
    keys += ends[:, 1]
    keys += 1
    keys *= 2
    keys += missing
    distinct, of_group = numbered(keys, 2 * (past + 1) ** 2)
    low, high = np.divmod(distinct // 2, past + 1)
    return Ranges(low, high - 1, distinct % 2, of_group)


def numbered(keys: NDArray[np.int64], n_keys: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Number the keys that occur in their order: the keys, all below ``n_keys``, and the number of each item's key.

    >>> keys, numbers = numbered(np.array([7, 3, 7]), 8)
    >>> keys.tolist(), numbers.tolist()
    ([3, 7], [1, 0, 1])
    """
    if n_keys > 4 * len(keys) + 1024:  # few keys of many: sorting them is cheaper than a place for each
        distinct, number = np.unique(keys, return_inverse=True)
        return distinct, number.astype(np.int32)
    occurs = np.zeros(n_keys, bool)
    occurs[keys] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs, dtype=np.int32) - np.int32(1))[keys]


def group_sets(column: Column, groups: Groups) -> tuple[list[tuple[int, ...]], NDArray[np.int32]]:
    """The set of codes of every group: distinct sets in order, and which of them each group has."""
    offsets, codes, _ = groups.counts(column).histogram
    packed = codes.tobytes()
    width = codes.itemsize
    bounds = (offsets * width).tolist()
    keys = [packed[a:b] for a, b in itertools.pairwise(bounds)]
    sets = sorted((tuple(np.frombuffer(key, np.int32).tolist()), key) for key in set(keys))
    rank = {key: i for i, (_, key) in enumerate(sets)}
    return [codes_ for codes_, _ in sets], np.fromiter((rank[key] for key in keys), np.int32, len(keys))


def generalized_table(table: Microdata, groups: Groups, cells: Sequence[CellColumn]) -> pa.Table:
    """Write the published table: a row per published tuple, sorted by cells, then by sensitive values."""
    by_box, is_first = _order_by_box(cells)
    starts = np.append(0, np.cumsum(groups.sizes[by_box]))
    joint, combinations = _joint_codes(table.sensitive, table.n_tuples)

    # every published tuple's (combination of) sensitive value, box after box, ascending in each
    places = np.empty(groups.n_groups, np.int64)
    places[by_box] = starts[:-1]
    shown = np.empty(int(starts[-1]), np.int32)
    compiled("glasshouse.microdata._counting_kernels").gather_codes(groups.labels, joint, places, shown)
    boxes = np.append(starts[:-1][is_first], starts[-1])
    _sort_runs(shown, boxes, len(combinations))

    columns: dict[str, pa.Array] = {}
    sizes, examples = np.diff(boxes), by_box[is_first]
    for column, cell in zip(table.quasi, cells, strict=True):
        columns[column.name] = _dictionary(np.repeat(cell.of_group[examples], sizes), cell.texts)
    for i, column in enumerate(table.sensitive):
        codes = shown if len(table.sensitive) == 1 else combinations[:, i][shown]
        columns[column.name] = published_values(column, codes)
    return pa.table(columns)


def _sort_runs(
    codes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_codes: int,
    *,
    short: int = _SHORT,
    sparse: int = _SPARSE,
) -> None:
    """Sort every run of codes in place, in the way that is cheapest for its length."""
    _kernels().sort_runs(codes, offsets, short, sparse, np.zeros(n_codes, np.int64))
    lengths = np.diff(offsets)
    for run in np.flatnonzero((lengths > short) & (lengths * sparse < n_codes)):
        codes[offsets[run] : offsets[run + 1]].sort()


def published_values(column: Column, codes: NDArray[np.int32]) -> pa.Array:
    """Values of a published column: text as a dictionary of the values that occur, anything else as it is."""
    gaps = column.domain.missing and bool((codes == column.domain.missing_code).any())  # among those who are shown
    if pa.types.is_string(column.domain.values.type) and not gaps:
        present = (
            np.unique(codes)
            if len(codes) < column.domain.size
            else np.flatnonzero(np.bincount(codes, minlength=column.domain.size))
        )
        rank = np.zeros(column.domain.size, np.int32)
        rank[present] = np.arange(len(present), dtype=np.int32)
        return _dictionary(rank[codes], column.domain.values.take(pa.array(present)))
    return column.domain.decode(codes)


def sensitive_tables(columns: Sequence[Column], groups: Groups, layout: Layout) -> dict[str, pa.Table]:
    """How often each sensitive value occurs in each group, a table for each column: ANATOMY's ST, ANGEL's BT."""
    published = {}
    for i, column in enumerate(columns, 1):
        offsets, values, counts = groups.counts(column).histogram
        published[layout.counted_table(i, len(columns))] = pa.table(
            {
                str(layout.number): np.repeat(np.arange(1, groups.n_groups + 1, dtype=np.int32), np.diff(offsets)),
                column.name: published_values(column, values),
                COUNT: counts.astype(np.int32),
            }
        )
    return published


def _dictionary(indices: NDArray[np.int32], texts: Sequence[str] | pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(texts, pa.string()))


def _order_by_box(cells: Sequence[CellColumn]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Give the groups in the order of their cells, and which of them are the first with theirs."""
    # of at most 16 bits where that does: NumPy sorts those by radix
    keys = [cell.of_group.astype(np.min_scalar_type(len(cell.texts)), copy=False) for cell in cells]
    order = np.lexsort(keys[::-1])
    is_first = np.zeros(len(order), bool)
    is_first[:1] = True
    for key in keys:
        in_order = key[order]
        is_first[1:] |= in_order[1:] != in_order[:-1]
    return order, is_first


def _joint_codes(sensitive: Sequence[Column], n_tuples: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """One code per tuple for the combination of its sensitive values, in their order; and each combination's codes."""
    if len(sensitive) == 1:
        return sensitive[0].codes, np.arange(sensitive[0].domain.size, dtype=np.int32)[:, np.newaxis]
    if not sensitive:
        return np.zeros(n_tuples, np.int32), np.empty((1, 0), np.int32)
    matrix = np.stack([column.codes for column in sensitive], axis=1)
    combinations, joint = np.unique(matrix, axis=0, return_inverse=True)
    return joint.reshape(-1).astype(np.int32), combinations


def _kernels() -> Any:
    return compiled("glasshouse.recoding._kernels")
