# SPDX-License-Identifier: Apache-2.0
"""Axes: the cells of one attribute as sets of points, which can be counted, found again and drawn from.

`glasshouse.supports.supports` tells what a cell stands for. Here the values of an attribute are points on an
axis: a cell is a range of whole numbers or days, a list of values, or a stretch of what is measured rather than counted
(other numbers, times), which has points only where somebody says which values there are.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.cells import MISSING, OR_MISSING, SUPPRESSED, Value, bare, zoned
from glasshouse.errors import InputError, NotSupported
from glasshouse.microdata.domains import text_of
from glasshouse.plural import counted
from glasshouse.supports.proportions import Places
from glasshouse.supports.supports import Endless, Listed, OrMissing, Prefix, Span, Support, number_of
from glasshouse.supports.value_sets import Listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.declarations import Nodes
    from glasshouse.randomness import Source
    from glasshouse.supports.supports import CellSupports
    from glasshouse.supports.value_sets import ValueSet

__all__ = ["Axis", "CellPoints", "NodeSupport", "node_supports", "position"]

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

    Nobody says which values an ``unlisted`` cell has: it has no end, or stars.
    """

    low: Any = None
    high: Any = None
    values: tuple[Any, ...] | None = None
    missing: bool = False
    counted: bool = True
    zoned: bool = False
    unlisted: bool = False

    @property
    def size(self) -> int:
        """How many points there are; 0 for a stretch that is measured."""
        if self.unlisted:
            return 0
        if self.values is not None:
            return len(self.values) + self.missing
        return int(self.high - self.low) + 1 + self.missing if self.counted or self.low == self.high else 0


@dataclass(frozen=True, eq=False)
class Axis:
    """One attribute of a release."""

    name: str  # of the attribute, as the release says
    kind: str
    supports: tuple[Support, ...]  # what each of its different cells stands for

    @classmethod
    def of(cls, name: str, kind: str, supports: Sequence[Support], points: Sequence[Any] | None = None) -> Axis:
        """Convert supports to points; ``points``, if given, are all values that the attribute can have."""
        axis = cls(name, kind, tuple(support.spelled_out for support in supports))
        if points is None:
            endless = sum(cell.unlisted for cell in axis.cells)
            if endless:
                raise InputError(
                    f"{counted(endless, 'cell')} of {name!r} {'is' if endless == 1 else 'are'} open at one end "
                    f"or {'contains' if endless == 1 else 'contain'} stars, and nothing says "
                    "which values they cover: give all values of the column in their order "
                    f"(ordered={{{name!r}: [...]}})"
                )
            return axis
        known = [value for value in points if value is not None]
        offsets = {zoned(value) for value in known} | {cell.zoned for cell in axis.cells if cell.low is not None}
        if kind == "timestamp" and len(offsets) > 1:
            raise InputError(
                f"some times of {name!r} have an offset from UTC and others have none: write all with an "
                "offset, or all without"
            )
        places = Places(known, kind)
        chosen = []
        for support, cell in zip(axis.supports, axis.cells, strict=True):
            inside = [known[place] for run in places.inside(support) for place in run]
            chosen.append(Listed((*inside, *([None] if cell.missing else []))))
        empty = sum(not support.values for support in chosen)
        if empty:
            raise InputError(
                f"{counted(empty, 'cell')} of {name!r} {'contains' if empty == 1 else 'contain'} none of the "
                "values that were given for the column: give "
                "all values that it can have"
            )
        return cls(name, kind, tuple(chosen))

    @cached_property
    def cells(self) -> tuple[CellPoints, ...]:
        """The points of each of the different cells."""
        return tuple(_points_of(support, self.kind) for support in self.supports)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many points every cell has."""
        for cell in self.cells:
            if not cell.size:
                raise NotSupported(
                    (
                        f"column {self.name!r} is continuous, so people with one exact value cannot be counted: ask "
                        "for a range of values"
                    ),
                    instead=f"give the values that it can have: points={{{self.name!r}: [...]}}",
                )
        return tuple(cell.size for cell in self.cells)

    def ranges(self, values: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Which of some values every cell has, as ranges of their places.

        Cell ``c`` has the places ``low[i]`` to ``high[i]`` for ``offsets[c] <= i < offsets[c + 1]``. Values are all
        different; None, a missing one, comes last.
        """
        places = Places(values, self.kind)
        runs = [places.inside(support) for support in self.supports]
        low = np.array([run.start for inside in runs for run in inside], np.int64)
        high = np.array([run.stop - 1 for inside in runs for run in inside], np.int64)
        return np.cumsum([0, *map(len, runs)], dtype=np.int64), low, high

    def covers(self, value: Any) -> NDArray[np.bool_]:
        """Which cells may contain a value."""
        places = Places([value], self.kind)
        return np.array([bool(places.inside(support)) for support in self.supports], bool)

    def draw(self, cell: NDArray[np.int32], source: Source) -> pa.Array:
        """Draw a value of each of these cells, with equal probability for every point."""
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
        return CellPoints(support.low, support.high, counted=kind in _COUNTED, zoned=support.zoned)
    if isinstance(support, Endless | Prefix):
        return CellPoints(values=(), unlisted=True)
    values = tuple(support.listed() or ())
    missing = isinstance(support, Listed) and None in values
    return CellPoints(values=tuple(value for value in values if value is not None), missing=missing)


@dataclass(frozen=True, slots=True)
class NodeSupport(Support):
    """A published node of a taxonomy that is only partly known; it is a value if it is a leaf.

    Which values a node covers is not told, nor how many. What is told is which published nodes lie within which. So a
    question is answered where that decides it: a node that is asked for, or lies within one, is in the answer as a
    whole; one that has nothing to do with what is asked for is not in it. Any other question is refused.

    >>> from glasshouse.supports.value_sets import ValueSet
    >>> from glasshouse.declarations import Nodes
    >>> nodes = Nodes("state", {"South": None, "West": None, "Texas": "South"}, frozenset({"Texas"}))
    >>> south = NodeSupport("South", nodes, None)
    >>> south.share(ValueSet.of(["South"])), south.share(ValueSet.of(["West"]))
    (1.0, 0.0)
    >>> south.share(ValueSet.of(["Texas"]))
    Traceback (most recent call last):
    glasshouse.errors.InputError: column 'state' shows nodes of a taxonomy that the release does not contain, such ...
    """

    label: str
    nodes: Nodes
    value: Support | None
    """The value that the cell shows, if it shows a single value."""

    def share(self, values: ValueSet) -> float:
        """The share of the node in a set: 1 or 0, where the known part decides that."""
        if values.cuts and self.nodes.told:
            pieces = values.pieces()
            if isinstance(pieces, Listing):
                return self._listed_share({text_of(value) for value in pieces.values}, cofinite=pieces.cofinite)
        if self.value is not None:
            return self.value.share(values)
        if values.cuts:
            raise self.nodes.refusal(self.label)
        return float(values.starts)

    def _listed_share(self, asked: set[str], *, cofinite: bool) -> float:
        if asked & self.nodes.above[self.label]:
            return 1.0 - cofinite
        if self.value is None:
            for text in asked:
                if text not in self.nodes.above or self.label in self.nodes.above[text]:
                    raise self.nodes.refusal(self.label)
        return float(cofinite)

    def moments(self, values: ValueSet) -> tuple[float, float]:
        """Mean and mean square, if the node is a value."""
        if self.value is None:
            raise self.nodes.refusal(self.label)
        return self.value.moments(values)

    def listed(self) -> Sequence[Any] | None:
        """The value, if it is one."""
        if self.value is None:
            raise self.nodes.refusal(self.label)
        return self.value.listed()


def node_supports(reader: CellSupports, cells: Sequence[str], nodes: Nodes) -> tuple[Support, ...]:
    """What the cells of a column stand for if its taxonomy is only partly known."""
    if nodes.told:
        return tuple(_told(reader, cell, nodes) for cell in cells)
    bare_cells = (cell.removesuffix(OR_MISSING) for cell in cells)
    masked = any(cell.endswith(SUPPRESSED) and cell != SUPPRESSED for cell in bare_cells)  # such a cell explains itself
    return tuple(reader.of(cell) if masked else _untold(reader, cell, nodes) for cell in cells)


def _told(reader: CellSupports, cell: str, nodes: Nodes) -> Support:
    if cell == MISSING:
        return Listed((None,))
    if cell.endswith(OR_MISSING):
        return OrMissing(_told(reader, cell.removesuffix(OR_MISSING), nodes))
    label = cell if cell in nodes.within else bare(cell)
    if label not in nodes.within:
        raise InputError(f"column {nodes.column!r} has a cell that is not in its taxonomy: {cell}")
    return NodeSupport(label, nodes, reader.support(Value(reader.value(label))) if label in nodes.leaves else None)


def _untold(reader: CellSupports, cell: str, nodes: Nodes) -> Support:
    """In older formats a text may be a value or a node; cells of another form are unambiguous."""
    if cell.endswith(OR_MISSING):
        return OrMissing(_untold(reader, cell.removesuffix(OR_MISSING), nodes))
    if reader.kind != "category" or cell == MISSING:
        return reader.of(cell)
    return NodeSupport(cell, nodes, None)
