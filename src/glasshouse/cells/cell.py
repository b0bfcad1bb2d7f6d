# SPDX-License-Identifier: Apache-2.0
"""Cells: what a published cell stands for, once its text was read.

Values are those of the column's kind: whole numbers, floats, dates, times, truth values and texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = [
    "Anything",
    "Cell",
    "Interval",
    "Missing",
    "Node",
    "OrMissing",
    "Period",
    "Prefix",
    "Set",
    "Unreadable",
    "Value",
]


@dataclass(frozen=True, slots=True)
class Value:
    """One value."""

    value: Any


@dataclass(frozen=True, slots=True)
class Interval:
    """Everything from one value to another, in the order of the values or in the declared one.

    An end that is None is no end at all. Among whole numbers and days both ends are always in it.
    """

    low: Any
    high: Any
    closed_low: bool = True
    closed_high: bool = True


@dataclass(frozen=True, slots=True)
class Set:
    """One of these values, which are all different."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the column's taxonomy, by its label."""

    label: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """Texts that begin alike and are no longer than the cell: the other characters were replaced by stars."""

    start: str
    stars: int

    def covers(self, text: str) -> bool:
        """Whether a text may stand behind the stars."""
        return text.startswith(self.start) and len(text) <= len(self.start) + self.stars


@dataclass(frozen=True, slots=True)
class Period:
    """A day, month, quarter, year or decade, or several: from its first moment up to, and without, another.

    Among days, the second is the first day that is no longer in it.
    """

    start: Any
    stop: Any


@dataclass(frozen=True, slots=True)
class Missing:
    """No value."""


@dataclass(frozen=True, slots=True)
class Anything:
    """Any value of the column: it was suppressed."""


@dataclass(frozen=True, slots=True)
class OrMissing:
    """What a cell stands for, or no value."""

    cell: Value | Interval | Set | Node | Prefix | Period | Anything


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A text that is no cell of the column, or may be one of several, and why."""

    text: str
    reason: str


Cell = Value | Interval | Set | Node | Prefix | Period | Missing | Anything | OrMissing | Unreadable
