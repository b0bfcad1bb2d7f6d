# SPDX-License-Identifier: Apache-2.0
"""Scales: the values of a quasi-identifier that a model knows, and how the values of new rows are placed among them.

On an ordered scale of numbers, dates or times a new value is taken for the nearest that is known. A category that is
not known has no place (-1), and neither has a missing value where none was known: such a row is judged by its other
attributes.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.cells import key_of
from glasshouse.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Scale", "arrow_of", "distinct", "has_other_kinds"]

_DAY_0 = dt.datetime(1970, 1, 1)


@dataclass(frozen=True, eq=False)
class Scale:
    """One attribute: its known values by their codes."""

    name: str
    codes: Mapping[str, int]  # of known values, by their texts
    numbers: NDArray[np.float64] | None  # of the codes from 0 on, ascending, where the nearest value serves
    missing: int  # the code of a missing value; -1 if there is none
    n_values: int

    @classmethod
    def of(cls, name: str, values: Sequence[Any], *, ordered: bool) -> Scale:
        """The scale of values in their order, a missing one last if there is one.

        >>> scale = Scale.of("age", [20, 30, 50], ordered=True)
        >>> scale.places([19, 24, 26, 30, None, 99]).tolist()
        [0, 0, 1, 1, -1, 2]
        >>> Scale.of("town", ["x", "y", None], ordered=False).places(["y", "z", None]).tolist()
        [1, -1, 2]
        """
        known = [value for value in values if value is not None]
        missing = len(known) if len(known) < len(values) else -1
        numbers = np.array([_number(value) for value in known]) if ordered and all(map(_is_number, known)) else None
        return cls(name, {key_of(value): i for i, value in enumerate(known)}, numbers, missing, len(values))

    @property
    def is_ordered(self) -> bool:
        """Whether the nearest known value may be used."""
        return self.numbers is not None and len(self.numbers) > 0

    def places(self, column: Any) -> NDArray[np.int32]:
        """The code of every value of a column: an array, an Arrow column or a list."""
        values, number = distinct(column)
        return np.array([self._place(value) for value in values], np.int32)[number]

    def _place(self, value: Any) -> int:
        if value is None:
            return self.missing
        if self.is_ordered:
            assert self.numbers is not None
            return _nearest(self.numbers, self._located(value))
        code = self.codes.get(key_of(value))
        if code is None and isinstance(value, float) and value.is_integer():
            code = self.codes.get(str(int(value)))  # a category that is a number, in a matrix of measured ones
        return -1 if code is None else code

    def _located(self, value: Any) -> float:
        if isinstance(value, str):
            try:
                return float(value)
            except ValueError:
                pass
        if not _is_number(value):
            raise InputError(
                f"column {self.name!r} contains numbers, dates or times, and {value!r} is not one of these"
            )
        return _number(value)


def distinct(column: Any) -> tuple[list[Any], NDArray[np.int64]]:
    """The different values of a column, missing ones as None, and the number of every row's.

    >>> values, number = distinct([2.0, None, 2.0, float("nan")])
    >>> [values[i] for i in number]
    [2.0, None, 2.0, None]
    """
    if isinstance(column, pa.ChunkedArray | pa.Array):
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        values = [*map(_plain, encoded.dictionary.to_pylist()), None]
        return values, np.asarray(encoded.indices.fill_null(len(values) - 1)).astype(np.int64)
    array = np.asarray(column)
    if array.dtype.kind in "fiub":
        found, number = np.unique(array, return_inverse=True)
        return [_plain(value) for value in found.tolist()], number.reshape(-1)
    rows = list(map(_plain, array.tolist()))
    keys = {(type(value), key_of(value)): value for value in rows}
    places = {key: i for i, key in enumerate(keys)}
    return list(keys.values()), np.array([places[type(value), key_of(value)] for value in rows], np.int64)


def _plain(value: Any) -> Any:
    """A value without the wrapper types of libraries; None if it is missing."""
    try:
        if value is None or value != value:  # NaN, and what pandas has for a missing time
            return None
    except TypeError:  # pandas.NA, which is not even equal or unequal to itself
        return None
    if isinstance(value, np.generic):
        return value.item()
    return value.to_pydatetime() if hasattr(value, "to_pydatetime") else value


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real | Decimal | dt.date)


def _number(value: Any) -> float:
    """The position of a number, a date or a time; days since 1970 for dates and times."""
    if isinstance(value, dt.datetime):
        plain = value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
        return (plain - _DAY_0) / dt.timedelta(days=1)
    if isinstance(value, dt.date):
        return float((value - _DAY_0.date()).days)
    return float(value)


def _nearest(numbers: NDArray[np.float64], wanted: float) -> int:
    at = int(np.searchsorted(numbers, wanted))
    if at == 0 or (at < len(numbers) and numbers[at] - wanted < wanted - numbers[at - 1]):
        return at
    return at - 1


def has_other_kinds(X: Any) -> bool:  # noqa: N803
    """Whether a table is a frame with non-numeric columns, or an Arrow table."""
    if isinstance(X, pa.Table):
        return True
    if not hasattr(X, "__arrow_c_stream__") or not hasattr(X, "columns"):
        return False
    kinds = [field.type for field in arrow_of(X[:0]).schema]
    return not all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds)


def arrow_of(X: Any) -> pa.Table:  # noqa: N803
    """A frame as an Arrow table; the index of pandas, which numbers rows, is no column."""
    return pa.Table.from_pandas(X, preserve_index=False) if hasattr(X, "iloc") else pa.table(X)
