# SPDX-License-Identifier: Apache-2.0
"""A sensitive column whose cells are sets: JSON lists of all values of a person, read here once more by other code.

A group is counted by single values: a record counts once under every value in its cell, and the size of the group stays
the number of its records. So the largest count over the size is the largest share of people who have the same value.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.errors import GuaranteeBroken
from glasshouse.verification.columns import Coded

if TYPE_CHECKING:
    from glasshouse.verification.groups import Division

__all__ = ["single_values"]


def single_values(column: Coded, division: Division) -> tuple[Coded, Division]:
    """The single values in the cells of a column, and the group of each: more than one for most records.

    The groups stay as they are, with the sizes that they have in records. A cell that is no set is `GuaranteeBroken`.

    >>> from glasshouse.verification.groups import divide, histograms
    >>> sets = Coded("ill", np.array([0, 1], np.int32), pa.array(['["flu", "gout"]', '["flu"]']))
    >>> singles, groups = single_values(sets, divide([Coded("age", np.zeros(2, np.int32), pa.array([30]))]))
    >>> seen = histograms(groups, singles)
    >>> seen.sizes.tolist(), seen.counts.tolist()
    ([2], [2, 1])
    """
    if column.missing.any():
        raise GuaranteeBroken(
            f"a cell of {column.name!r} is empty, and every cell of this column must be a set of values"
        )
    cells = [_cell(column.name, text) for text in column.values.to_pylist()]
    known: dict[str, int] = {}
    numbers = [[-1 if one is None else known.setdefault(one, len(known)) for one in cell] for cell in cells]
    flat = np.array([number for cell in numbers for number in cell], np.int32)
    flat[flat < 0] = len(known)  # a missing value has the last code
    ends = np.cumsum([0, *map(len, numbers)])
    lengths = np.diff(ends)[column.codes]
    rows = np.repeat(np.arange(len(column.codes)), lengths)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + ends[column.codes][rows]
    singles = Coded(column.name, flat[places], pa.array(list(known), pa.string()))
    return singles, replace(division, labels=division.labels[rows])


def _cell(name: str, text: Any) -> list[str | None]:
    """The values in a cell, each once."""
    try:
        values = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        values = None
    fits = isinstance(values, list) and bool(values) and all(v is None or isinstance(v, str) for v in values)
    if not fits or len(set(values)) < len(values):
        raise GuaranteeBroken(f"a cell of {name!r} is not a set of values written as a JSON list")
    return list(values)
