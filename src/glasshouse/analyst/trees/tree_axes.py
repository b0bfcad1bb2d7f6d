# SPDX-License-Identifier: Apache-2.0
"""Axes: the attributes of records that are sorted into a tree, where a record may lie anywhere in a published cell.

On a *line* (numbers, dates, ordered categories) a cell runs from one edge to another. Edges are the ends of all cells,
in order: between two neighbouring edges lies a section, and a cell covers whole sections, each by its width. Whole
numbers and days reach half a step to either side, so that widths count them. A single point of a measured line has a
section of its own, of no width, which holds all of it. On a line, missing comes last.

*Categories* have no order: a cell is a set of them, each as likely as the others; missing is one of them.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.errors import InputError, NotSupported
from glasshouse.microdata.domains import kind_of, text_of
from glasshouse.supports.supports import CellSupports, Listed, OrMissing, Span
from glasshouse.supports.value_sets import ValueSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.supports.supports import Support

__all__ = ["Axis", "Categories", "Line", "axes_of_columns", "axes_of_seats", "axes_of_values"]

_YEAR_1 = {"date": dt.date(1970, 1, 1).toordinal(), "timestamp": (dt.date(1970, 1, 1).toordinal() - 1) * 86_400_000_000}
_MISSING = ValueSet.of([None])


@dataclass(frozen=True, eq=False, kw_only=True)
class Line:
    """An ordered attribute."""

    name: str  # of the attribute
    kind: str
    at: NDArray[np.float64]  # the edges, ascending; two at the same point have a single value between them
    start: NDArray[np.int32]  # every row's cell, as places of edges
    stop: NDArray[np.int32]
    counted: bool = False  # whether values are counted by halves of steps, so that no edge is a value
    # the place of every category in the declared order, where that is what the line is made of
    order: Mapping[str, int] | None = None

    @classmethod
    def of(
        cls, name: str, low: NDArray[np.float64], high: NDArray[np.float64], *, kind: str = "float", **more: Any
    ) -> Line:
        """Make a line from the ends of cells; infinite where the value is missing.

        >>> line = Line.of("age", np.array([1.0, 2.0, np.inf]), np.array([2.0, 2.0, np.inf]), counted=True)
        >>> line.at.tolist(), line.start.tolist(), line.stop.tolist()
        ([0.5, 1.5, 2.5, inf, inf], [0, 1, 3], [2, 2, 4])
        """
        missing = np.isinf(low)
        known_low, known_high = low[~missing], high[~missing]
        start, stop = np.empty(len(low), np.int32), np.empty(len(low), np.int32)
        if more.get("counted"):
            at = np.unique(np.concatenate([known_low - 0.5, known_high + 0.5]))
            start[~missing] = np.searchsorted(at, known_low - 0.5)
            stop[~missing] = np.searchsorted(at, known_high + 0.5)
        else:
            values = np.unique(np.concatenate([known_low, known_high]))
            at = np.repeat(values, 2)  # before and after every value
            start[~missing] = 2 * np.searchsorted(values, known_low)
            stop[~missing] = 2 * np.searchsorted(values, known_high) + 1
        if missing.any():
            start[missing], stop[missing] = len(at), len(at) + 1
            at = np.concatenate([at, [np.inf, np.inf]])
        return cls(name=name, kind=kind, at=at, start=start, stop=stop, **more)

    def take(self, rows: NDArray[np.int64]) -> Line:
        """The line with other rows."""
        return replace(self, start=self.start[rows], stop=self.stop[rows])

    def threshold(self, edge: int, following: int) -> float:
        """The largest value that is left of an edge, or of the empty space up to the following edge, by halves."""
        here, there = float(self.at[edge]), float(self.at[following])
        if following > edge and there > here:
            middle = here / 2 + there / 2
            return middle if middle < there or np.isinf(there) else here
        before_a_value = not self.counted and edge % 2 == 0
        return float(np.nextafter(here, -np.inf)) if before_a_value else here

    def places(self, column: Any) -> NDArray[np.float64]:
        """Where the values of a column lie; NaN for missing ones, and for categories outside the order."""
        if isinstance(column, np.ndarray) and column.dtype.kind in "fiub":
            return column.astype(np.float64)
        if self.order is None:
            return _numbers(column, self.name, self.kind)
        texts, codes = _texts(column)
        ranks = np.array([np.nan if text is None else self.order.get(text, np.nan) for text in texts], np.float64)
        return np.asarray(ranks[codes])

    def written(self, threshold: float) -> str:
        """A threshold as text for a reader."""
        if np.isinf(threshold):
            return "any value"
        if self.order is not None:
            names = list(self.order)
            return names[min(max(int(np.floor(threshold)), 0), len(names) - 1)]
        if self.kind == "date":
            return dt.date.fromordinal(int(np.floor(threshold))).isoformat()
        if self.kind == "timestamp":
            return (dt.datetime(1, 1, 1) + dt.timedelta(microseconds=int(threshold))).isoformat()
        return f"{threshold:g}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Categories:
    """An attribute without an order."""

    name: str  # of the attribute
    keys: Mapping[Any, int]  # the code of every category; None stands for missing
    members: NDArray[np.bool_]  # which categories every different cell has: cells x categories
    cell: NDArray[np.int32]  # every row's cell
    kind: str = field(default="category")

    @property
    def size(self) -> int:
        """How many categories there are."""
        return int(self.members.shape[1])

    def take(self, rows: NDArray[np.int64]) -> Categories:
        """The attribute with other rows."""
        return replace(self, cell=self.cell[rows])

    def places(self, column: Any) -> NDArray[np.int64]:
        """The codes of the values of a column; the number of categories for values that were never seen."""
        if isinstance(column, np.ndarray) and column.dtype.kind == "f":
            values, codes = np.unique(column, return_inverse=True)
            found = [self.keys.get(value, self.size) for value in values.tolist()]
            return np.array(found, np.int64)[codes]
        texts, codes = _texts(column)
        return np.array([self.keys.get(text, self.size) for text in texts], np.int64)[codes]


Axis = Line | Categories


# --- from a plain table -----------------------------------------------------------------------------------------------


def axes_of_values(matrix: NDArray[np.float64], names: Sequence[str], categorical: Sequence[int] = ()) -> list[Axis]:
    """Make axes from exact numbers, in a matrix without gaps; some columns may be codes of categories."""
    axes: list[Axis] = []
    for i, (name, column) in enumerate(zip(names, matrix.T, strict=True)):
        if i in categorical:
            values, cell = np.unique(column, return_inverse=True)
            keys = {value: code for code, value in enumerate(values.tolist())}
            members = np.eye(len(values), dtype=bool)
            axes.append(Categories(name=name, keys=keys, members=members, cell=cell.astype(np.int32)))
        else:
            axes.append(Line.of(name, column, column))
    return axes


def axes_of_columns(table: pa.Table, categorical: Sequence[int] = ()) -> list[Axis]:
    """Make axes from exact values, of any type that can be coded; texts and truth values are categories."""
    axes: list[Axis] = []
    for i, (name, chunks) in enumerate(zip(table.column_names, table.columns, strict=True)):
        column = _array(chunks)
        kind = kind_of(column.type, name)
        if kind in ("category", "boolean") or i in categorical:
            texts, cell = _texts(column)
            keys = {text: code for code, text in enumerate(sorted(set(texts), key=lambda t: (t is None, t)))}
            codes = np.array([keys[text] for text in texts], np.int32)
            axes.append(Categories(name=name, keys=keys, members=np.eye(len(keys), dtype=bool), cell=codes[cell]))
        else:
            numbers = _numbers(column, name, kind)
            places = np.where(np.isnan(numbers), np.inf, numbers)
            axes.append(Line.of(name, places, places, kind=kind))
    return axes


# --- from a release ---------------------------------------------------------------------------------------------------


def axes_of_seats(
    seats: Any, kinds: Mapping[str, str], ordered: Mapping[str, Sequence[Any]]
) -> tuple[list[Axis], NDArray[np.int64], NDArray[np.float64]]:
    """Make axes from published cells; also the record of every row, and which share of the record the row is.

    A record whose cell on a line may be missing is two rows: what is on the line, and what is not.
    """
    axes: list[Axis] = []
    tuples, shares = np.arange(len(seats)), np.ones(len(seats))
    for name, cells, of_seat in zip(seats.quasi, seats.cells, seats.of_seat, strict=True):
        order = ordered.get(name)
        reader = CellSupports(name=name, kind=kinds[name], order=order, cells=cells, foreign=seats.foreign)
        supports = list(reader.of_all(seats))
        ranks = None if order is None else {text_of(value): rank for rank, value in enumerate(order)}
        ends = [_ends(support, ranks) for support in supports]
        if any(end is None for end in ends):
            axes.append(_categories(name, kinds[name], supports, of_seat[tuples]))
            continue
        low, high, gap = np.array(ends, np.float64).reshape(-1, 3).T
        split = np.flatnonzero((gap > 0) & (gap < 1))
        rows = np.arange(len(tuples))
        if len(split):
            rows = np.flatnonzero(np.isin(of_seat[tuples], split))
            shares = np.concatenate([shares, shares[rows] * gap[of_seat[tuples[rows]]]])
            shares[rows] *= 1 - gap[of_seat[tuples[rows]]]
            rows = np.concatenate([np.arange(len(tuples)), rows])
        absent = np.arange(len(rows)) >= len(tuples)
        axes = [axis.take(rows) for axis in axes]
        tuples = tuples[rows]
        low_of_row = np.where(absent, np.inf, low[of_seat[tuples]])
        high_of_row = np.where(absent, np.inf, high[of_seat[tuples]])
        kind = kinds[name]
        counted = kind in ("integer", "date") or ranks is not None
        axes.append(Line.of(name, low_of_row, high_of_row, kind=kind, counted=counted, order=ranks))
    return axes, tuples, shares


def _ends(support: Support, ranks: Mapping[str, int] | None) -> tuple[float, float, float] | None:
    """From where to where a cell goes on a line, and how likely it is missing; None if it is not on a line."""
    if isinstance(support, OrMissing):
        inner = _ends(support.support, ranks)
        return None if inner is None else (inner[0], inner[1], support.share(_MISSING))
    if isinstance(support, Span):
        return float(support.low), float(support.high), 0.0
    if support.listed() == (None,):
        return np.inf, np.inf, 1.0
    if ranks is None:
        return None
    found = [ranks.get(text_of(value), -1) for value in support.listed() or ()]
    contiguous = bool(found) and found == list(range(found[0], found[0] + len(found)))
    return (float(found[0]), float(found[-1]), 0.0) if contiguous and found[0] >= 0 else None


def _categories(name: str, kind: str, supports: list[Support], cell: NDArray[np.int32]) -> Categories:
    listed: list[list[Any]] = []
    for support in supports:
        if not isinstance(support, Listed | OrMissing | Span) or support.listed() is None:
            raise NotSupported(
                f"a tree cannot use column {name!r}, because its cells do not list their values",
                instead="leave the column out",
            )
        listed.append([None if value is None else text_of(value) for value in support.listed() or ()])
    found = sorted({text for texts in listed for text in texts}, key=lambda t: (t is None, t))
    keys = {text: code for code, text in enumerate(found)}
    members = np.zeros((len(listed), len(keys)), bool)
    for i, texts in enumerate(listed):
        members[i, [keys[text] for text in texts]] = True
    return Categories(name=name, kind=kind, keys=keys, members=members, cell=cell.astype(np.int32))


# --- reading columns --------------------------------------------------------------------------------------------------


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _array(column: Any) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not isinstance(column, pa.Array):
        values = np.asarray(column)
        column = pa.array(values.tolist(), from_pandas=True)
    return column


def _numbers(column: Any, name: str, kind: str) -> NDArray[np.float64]:
    """The values of an ordered column as numbers, in the way of `Span`; NaN for missing ones."""
    array = _array(column)
    array = array.cast(_plain_type(array.type))
    try:
        if kind == "date":
            days = array.cast(pa.date32()).cast(pa.int32()).cast(pa.float64())
            return np.asarray(days.to_numpy(zero_copy_only=False)) + _YEAR_1[kind]
        if kind == "timestamp":
            moments = array.cast(pa.timestamp("us")).cast(pa.int64()).cast(pa.float64(), safe=False)
            return np.asarray(moments.to_numpy(zero_copy_only=False)) + _YEAR_1[kind]
        return np.asarray(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(f"column {name!r} should have values of the kind {kind}, and has {array.type}") from None


def _texts(column: Any) -> tuple[list[str | None], NDArray[np.int64]]:
    """The different values of a column as texts, None for missing, and which each row has."""
    array = _array(column)
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    texts: list[str | None] = [None if value is None else text_of(value) for value in encoded.dictionary.to_pylist()]
    if encoded.indices.null_count:
        return [*texts, None], np.asarray(encoded.indices.fill_null(len(texts))).astype(np.int64)
    return texts, np.asarray(encoded.indices).astype(np.int64)
