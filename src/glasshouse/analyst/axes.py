# SPDX-License-Identifier: Apache-2.0
"""Axes: the cells of one attribute as sets of points, which can be counted, found again and drawn from.

`glasshouse.analyst.supports` tells what a cell stands for. Here the values of an attribute are points on an axis: a
cell is a range of whole numbers or days, a list of values, or a stretch of what is measured rather than counted
(other numbers, times), which has points only where somebody says which values there are.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.analyst.supports import Endless, Listed, OrMissing, Prefix, Span, number_of
from glasshouse.cells import key_of, zoned
from glasshouse.errors import InputError, NotSupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.supports import Support
    from glasshouse.randomness import Source

__all__ = ["Axis", "CellPoints", "position"]

_COUNTED = ("integer", "date")
_ON_A_LINE = ("integer", "float", "date", "timestamp")
_EPOCH = dt.date(1970, 1, 1)
_STEPS = 2**53  # a measured value is drawn at one of so many places, evenly spaced, of its cell
_TYPES = {
    "integer": pa.int64(),
    "float": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "boolean": pa.bool_(),
    "category": pa.string(),
}


@dataclass(frozen=True, slots=True)
class CellPoints:
    """The points of one cell: a range of positions, or some values; and perhaps missing, which is a point too.

    Where nobody says which values a cell has (it has no end, or stars), ``unlisted`` tells which may be among them.
    """

    low: Any = None
    high: Any = None
    values: tuple[Any, ...] | None = None
    missing: bool = False
    counted: bool = True
    closed: tuple[bool, bool] = (True, True)
    zoned: bool = False
    unlisted: Support | None = None

    @property
    def size(self) -> int:
        """How many points there are; 0 for a stretch that is measured."""
        if self.unlisted is not None:
            return 0
        if self.values is not None:
            return len(self.values) + self.missing
        return int(self.high - self.low) + 1 + self.missing if self.counted or self.low == self.high else 0


@dataclass(frozen=True, eq=False)
class Axis:
    """One attribute of a release.

    Attributes
    ----------
    name, kind
        Of the attribute, as the release says.
    cells
        The points of each of its different cells.
    """

    name: str
    kind: str
    cells: tuple[CellPoints, ...]

    @classmethod
    def of(cls, name: str, kind: str, supports: Sequence[Support], points: Sequence[Any] | None = None) -> Axis:
        """Take supports as points; with ``points`` these are all the values that the attribute can have."""
        cells = tuple(_points_of(support, kind) for support in supports)
        if points is None:
            endless = sum(cell.unlisted is not None for cell in cells)
            if endless:
                raise InputError(
                    f"{endless:,} cells of {name!r} have no end, or stars, and nothing says which values they stand "
                    f"for: say which values there are, in their order (ordered={{{name!r}: [...]}})"
                )
            return cls(name, kind, cells)
        known = [value for value in points if value is not None]
        offsets = {zoned(value) for value in known} | {cell.zoned for cell in cells if cell.low is not None}
        if kind == "timestamp" and len(offsets) > 1:
            raise InputError(f"some times of {name!r} have an offset, and others have none")
        covered = cls(name, kind, cells)._covered(known)
        chosen = tuple(
            CellPoints(values=tuple(known[i] for i in codes), missing=cell.missing)
            for cell, codes in zip(cells, covered, strict=True)
        )
        empty = sum(not cell.size for cell in chosen)
        if empty:
            raise InputError(f"{empty:,} cells of {name!r} have none of the values that it is said to have")
        return cls(name, kind, chosen)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many points every cell has."""
        for cell in self.cells:
            if not cell.size:
                raise NotSupported(
                    f"the share of one value of {self.name!r}, which is measured, not counted",
                    instead=f"say which values it can have: points={{{self.name!r}: [...]}}",
                )
        return tuple(cell.size for cell in self.cells)

    def ranges(self, values: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Which of some values every cell has, as ranges of their places.

        Cell ``c`` has the places ``low[i]`` to ``high[i]`` for ``offsets[c] <= i < offsets[c + 1]``. Values are all
        different; None, a missing one, comes last.
        """
        last = len(values) - 1
        gap = last >= 0 and values[last] is None
        counts: list[int] = []
        low: list[int] = []
        high: list[int] = []
        for cell, codes in zip(self.cells, self._covered(values[:last] if gap else values), strict=True):
            runs = _runs(codes) + ([(last, last)] if gap and cell.missing else [])
            counts.append(len(runs))
            low.extend(first for first, _ in runs)
            high.extend(final for _, final in runs)
        return np.append(0, np.cumsum(counts, dtype=np.int64)), np.array(low, np.int64), np.array(high, np.int64)

    def covers(self, value: Any) -> NDArray[np.bool_]:
        """Which cells a value may stand in."""
        if value is None:
            return np.array([cell.missing for cell in self.cells], bool)
        return np.array([len(codes) > 0 for codes in self._covered([value])], bool)

    def _covered(self, values: Sequence[Any]) -> list[Sequence[int]]:
        """For every cell the places of the values that it stands for, ascending; no value is missing."""
        by_text: dict[str, int] | None = None
        line: list[Any] | None = None
        ascending = True
        found: list[Sequence[int]] = []
        for cell in self.cells:
            if cell.unlisted is not None:
                found.append([i for i, value in enumerate(values) if _may_have(cell.unlisted, value)])
                continue
            if cell.values is not None:
                by_text = {key_of(v): i for i, v in enumerate(values)} if by_text is None else by_text
                places = (by_text.get(key_of(value)) for value in cell.values)
                found.append(sorted(place for place in places if place is not None))
                continue
            if line is None:
                line = [position(value, self.kind) for value in values]
                ascending = all(a < b for a, b in pairwise(line))
            if ascending:
                first = (bisect_left if cell.closed[0] else bisect_right)(line, cell.low)
                last = (bisect_right if cell.closed[1] else bisect_left)(line, cell.high)
                found.append(range(first, max(first, last)))
            else:
                found.append([i for i, at in enumerate(line) if _between(cell, at)])
        return found

    def draw(self, cell: NDArray[np.int32], source: Source) -> pa.Array:
        """Draw a value of each of these cells, every point as likely as any other."""
        missing = np.array([c.missing for c in self.cells], bool)[cell]
        sizes = np.array([c.size for c in self.cells], np.int64)[cell]
        measured = sizes == 0
        # a missing value beside what is measured is as likely as all the rest
        place = source.belows(np.where(measured, np.where(missing, 2, 1), sizes))
        gone = missing & (place == np.where(measured, 1, sizes - 1))
        if self.kind not in _ON_A_LINE or all(c.values is not None for c in self.cells):
            values = pa.array([v for c in self.cells for v in c.values or ()], _TYPES[self.kind])
            starts = np.cumsum([0, *(len(c.values or ()) for c in self.cells)])[:-1]
            places = pa.array(np.where(gone, 0, starts[cell] + place), mask=gone)
            return values.take(places) if len(values) else pa.nulls(len(cell), _TYPES[self.kind])
        return self._on_a_line(cell, np.where(gone, 0, place), gone, measured, source)

    def _on_a_line(
        self,
        cell: NDArray[np.int32],
        place: NDArray[np.int64],
        gone: NDArray[np.bool_],
        measured: NDArray[np.bool_],
        source: Source,
    ) -> pa.Array:
        """Values by their positions: so far from the low end of a range, or so far along a list."""
        exact = np.float64 if self.kind == "float" else np.int64
        listed = np.array([position(v, self.kind) for c in self.cells for v in c.values or ()], exact)
        starts = np.cumsum([0, *(len(c.values or ()) for c in self.cells)])[:-1][cell]
        low = np.array([c.low if c.values is None else 0 for c in self.cells], exact)[cell]
        at = low + place
        if len(listed):
            in_list = np.array([c.values is not None for c in self.cells], bool)[cell]
            at = np.where(in_list & ~gone, listed[np.where(in_list & ~gone, starts + place, 0)], at)
        if measured.any():
            high = np.array([c.high if c.values is None else 0 for c in self.cells], exact)[cell]
            width = np.where(measured, high - low, 0)
            steps = source.belows(width + 1) if exact is np.int64 else source.belows(_STEPS, len(cell)) / _STEPS * width
            at = np.where(measured, low + steps, at)
        kind = _TYPES[self.kind]
        if self.kind == "date":
            at = (at - _EPOCH.toordinal()).astype(np.int32)
        elif self.kind == "timestamp":
            at = at - number_of(dt.datetime(1970, 1, 1), self.kind)
            kind = pa.timestamp("us", "UTC") if any(c.zoned for c in self.cells) else kind
        return pa.array(at, mask=gone).cast(kind)


def position(value: Any, kind: str) -> Any:
    """Where a value lies on its axis: a number where it is, a day or a moment by its count since the year 1."""
    return float(value) if kind == "float" else number_of(value, kind)


def _points_of(support: Support, kind: str) -> CellPoints:
    if isinstance(support, OrMissing):
        inner = _points_of(support.support, kind)
        return replace(inner, missing=True)
    if isinstance(support, Span):
        closed = support.closed_low, support.closed_high
        return CellPoints(support.low, support.high, counted=kind in _COUNTED, closed=closed, zoned=support.zoned)
    if isinstance(support, Endless) or (isinstance(support, Prefix) and support.listed() is None):
        return CellPoints(values=(), unlisted=support)
    values = tuple(support.listed() or ())
    missing = isinstance(support, Listed) and None in values
    return CellPoints(values=tuple(value for value in values if value is not None), missing=missing)


def _between(cell: CellPoints, at: Any) -> bool:
    above = cell.low <= at if cell.closed[0] else cell.low < at
    return bool(above and (at <= cell.high if cell.closed[1] else at < cell.high))


def _may_have(support: Support, value: Any) -> bool:
    return support.covers(str(value)) if isinstance(support, Prefix) else value in support.extent()  # type: ignore[attr-defined]


def _runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Put neighbouring places together: first and last of every run."""
    if isinstance(places, range) or not places:
        return [(places[0], places[-1])] if len(places) else []
    at = np.asarray(places)
    cuts = np.flatnonzero(np.diff(at) != 1)
    firsts, lasts = at[np.append(0, cuts + 1)], at[np.append(cuts, len(at) - 1)]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))
