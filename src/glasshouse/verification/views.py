# SPDX-License-Identifier: Apache-2.0
"""Views: the published tables of a release as tables that `verify_table` can count.

Each view is a table whose rows are tuples, with the columns in which the rows of a group agree. Where a release is
several tables, it is first checked that they tell the same: as many tuples in every group, whichever table is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import GuaranteeBroken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["View", "views_of"]

_COUNT = "Count"


@dataclass(frozen=True, eq=False)
class View:
    """Rows that are tuples; those that agree in all of ``quasi`` are a group."""

    table: pa.Table
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]


def views_of(tables: Mapping[str, pa.Table], quasi: Sequence[str], sensitive: Sequence[str]) -> list[View]:
    """Find out from the tables' names and columns how a release is laid out, and give its views.

    >>> st = pa.table({"Group-ID": [1, 1], "ill": ["flu", "none"], "Count": [2, 1]})
    >>> qit = pa.table({"age": [30, 31, 40], "Group-ID": [1, 1, 1]})
    >>> [view.table.num_rows for view in views_of({"qit": qit, "st": st}, ["age"], ["ill"])]
    [3]
    """
    own = (*quasi, *sensitive)
    counted = {name: t for name, t in tables.items() if _COUNT in t.column_names and _COUNT not in own}
    if counted:
        return _apart(tables, counted, sensitive)
    (data,) = tables.values()
    if "Group-ID" in data.column_names and "Group-ID" not in own:
        return [View(data, ("Group-ID",), tuple(sensitive))]
    return [View(data, tuple(quasi), tuple(sensitive))]


def _apart(tables: Mapping[str, pa.Table], counted: Mapping[str, pa.Table], sensitive: Sequence[str]) -> list[View]:
    """Sensitive values counted by group in tables of their own (anatomy, ANGEL)."""
    views: list[View] = []
    sizes: NDArray[np.float64] | None = None
    for name, table in counted.items():
        number, column, _ = table.column_names
        if column not in sensitive:
            raise GuaranteeBroken(f"the table {name!r} counts a column that is not a sensitive one")
        counts = np.asarray(table[_COUNT])
        if counts.min(initial=1) < 1:
            raise GuaranteeBroken(f"the table {name!r} has counts below 1")
        own = _totals(table[number], counts)
        if sizes is not None and not np.array_equal(own, sizes):
            raise GuaranteeBroken("two tables of sensitive values do not tell the same sizes of groups")
        sizes = own
        rows = table.select([number, column])
        if counts.max(initial=1) > 1:
            rows = rows.take(pa.array(np.repeat(np.arange(len(counts)), counts)))
        views.append(View(rows, (number,), (column,)))
    for name, table in tables.items():
        if name in counted or number not in table.column_names:
            continue
        if sizes is None or not np.array_equal(_totals(table[number], None), sizes):
            raise GuaranteeBroken(f"the table {name!r} does not have as many tuples in every group as are counted")
    return views


def _totals(numbers: pa.ChunkedArray, counts: NDArray[np.int32] | None) -> NDArray[np.float64]:
    """How many tuples each group has, by its number."""
    if pc.min(numbers).as_py() is not None and pc.min(numbers).as_py() < 1:
        raise GuaranteeBroken("a group has a number below 1")
    found = np.bincount(np.asarray(numbers), weights=counts)
    return found.astype(np.float64)
