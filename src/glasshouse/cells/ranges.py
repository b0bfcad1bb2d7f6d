# SPDX-License-Identifier: Apache-2.0
"""Ranges: a column whose values are ranges of numbers, days or times, such as ``[30, 40)`` or ``2024-05``."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from glasshouse.cells.parsing import Interval, Period, bare, parse, parts_of
from glasshouse.cells.values import MISSING, OR_MISSING, SUPPRESSED, text_of
from glasshouse.sql_names import sql_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Range", "ranges_in", "ranges_of_cells", "without_gaps"]

_MOST: Final = 10_000  # ranges that are written between two others


class Range(NamedTuple):
    """A range of numbers, days or times; an end is None if the range is open there."""

    low: Any
    high: Any
    closed_low: bool = True  # whether the lower end itself is in the range
    closed_high: bool = False

    @property
    def kind(self) -> str:
        """The kind of what is in it: ``float``, ``date`` or ``timestamp``."""
        end = self.high if self.low is None else self.low
        return "timestamp" if isinstance(end, dt.datetime) else "date" if isinstance(end, dt.date) else "float"

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of a range of numbers, infinite where it is open."""
        return -inf if self.low is None else self.low, inf if self.high is None else self.high

    @property
    def place(self) -> tuple[Any, ...]:
        """By what ranges of one column are put in order."""
        return self.low is not None, self.low, self.high is None, self.high

    def holds(self, value: Any) -> bool:
        """Whether a number, a day or a time is in it."""
        above = self.low is None or self.low < value or (self.closed_low and self.low == value)
        return above and (self.high is None or value < self.high or (self.closed_high and self.high == value))

    def overlaps(self, other: Range) -> bool:
        """Whether some value between the ends of both may be in both."""
        before = (self.high is not None and other.low is not None and self.high <= other.low) or (
            other.high is not None and self.low is not None and other.high <= self.low
        )
        return not before

    def told_apart(self, name: str) -> str:
        """Two conditions in SQL that do not divide the range.

        >>> Range(30, 40).told_apart("age"), Range(None, 30, closed_high=True).told_apart("age")
        ('age >= 30 or age < 40', 'age <= 30 or age > 30')
        """
        name = sql_name(name)
        low, high = ("" if end is None else self._border(end) for end in (self.low, self.high))
        above, below = (">=" if self.closed_low else ">"), ("<=" if self.closed_high else "<")
        if not low:
            return f"{name} {below} {high} or {name} {'>' if self.closed_high else '>='} {high}"
        if not high:
            return f"{name} {above} {low} or {name} {'<' if self.closed_low else '<='} {low}"
        return f"{name} {above} {low} or {name} {below} {high}"

    def _border(self, end: Any) -> str:
        return f"{end:.15g}" if self.kind == "float" else f"'{text_of(end)}'"


def ranges_in(values: Sequence[Any]) -> tuple[Range | None, ...]:
    """The range that each value is, None for a missing value; nothing if some value is no such range.

    >>> [one and one[:2] for one in ranges_in(["[30, 40)", "(-inf, 30)", None])]
    [(30.0, 40.0), (None, 30.0), None]
    >>> [str(one.high) for one in ranges_in(["2024-05", "2024-Q3"])]
    ['2024-06-01', '2024-10-01']
    >>> ranges_in(["20-29", "30"]), ranges_in([None])
    ((), ())
    """
    return _of_kind(values, "float") or _of_kind(values, "date") or _of_kind(values, "timestamp")


def _of_kind(values: Sequence[Any], kind: str) -> tuple[Range | None, ...]:
    found: list[Range | None] = []
    for value in values:
        match parse(value, kind=kind) if isinstance(value, str) else value:
            case None:
                found.append(None)
            case Interval(low, high, closed_low, closed_high) if (low, high) != (None, None):
                found.append(Range(low, high, closed_low, closed_high))
            case Period(start, stop):
                found.append(Range(start, stop))
            case _:
                return ()
    return tuple(found) if any(found) else ()


def ranges_of_cells(cells: Iterable[str]) -> dict[str, Range]:
    """The ranges that cells of a quasi-identifier are made of, in their order; nothing if some part is no range.

    >>> list(ranges_of_cells(['["[20, 30)", "[30, 40)"]', '"[0, 10)"', "missing"]))
    ['[0, 10)', '[20, 30)', '[30, 40)']
    """
    labels: set[str] = set()
    for cell in cells:
        text = cell.removesuffix(OR_MISSING)
        if text in (MISSING, SUPPRESSED):
            continue
        several = (text[:1], text[-1:]) in (("[", "]"), ("{", "}"))
        labels.update(bare(part.strip()) for part in (parts_of(text[1:-1], ",") if several else [text]))
    listed = sorted(labels)
    found = [(label, one) for label, one in zip(listed, ranges_in(listed), strict=False) if one is not None]
    return dict(sorted(found, key=lambda pair: pair[1].place))


def without_gaps(ranges: Mapping[str, Range]) -> list[str]:
    """The texts of ranges that are in order, with texts for the numbers between them that no range has.

    Between ranges of one width stand ranges of this width, as they would be written.

    >>> without_gaps(ranges_of_cells(['"[0, 10)"', '"[30, 40)"', '"[45, 90)"']))
    ['[0, 10)', '[10, 20)', '[20, 30)', '[30, 40)', '[40, 45)', '[45, 90)']
    """
    found: list[str] = []
    before: Range | None = None
    for label, one in ranges.items():
        if before is not None and one.kind == "float" and before.high is not None and before.high < one.low:
            low, high, width = (Decimal(f"{end:.15g}") for end in (before.high, one.low, before.high - before.low))
            steps = (high - low) / width if width else Decimal(1)
            n = int(steps) if steps == int(steps) and steps <= _MOST else 1
            borders = [low + (high - low) * i / n for i in range(n + 1)]
            found += [f"[{a.normalize():f}, {b.normalize():f})" for a, b in pairwise(borders)]
        found.append(label)
        before = one
    return found
