# SPDX-License-Identifier: Apache-2.0
"""Parsing cells: what the text of a published cell stands for, for the cells of any tool.

The attacker and the analyst both read through this parser. It knows the cells that Glasshouse writes
(`glasshouse.cells.values`) and those of other tools; docs/cells.md has the table of all notations. What is no cell of
the column, or may be read in two ways, is `Unreadable`, with a reason. Values are those of the column's kind: whole
numbers, floats, dates, times, truth values and texts.

Time and memory are linear in the length of the text: no interval, prefix or set of stars is ever listed.
"""

from __future__ import annotations

import datetime as dt
import math
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from glasshouse.cells.values import (
    EN_DASH,
    LINE,
    MISSING,
    OR_MISSING,
    SUPPRESSED,
    Ambiguous,
    NotAValue,
    key_of,
    number_in,
    period_of,
    place_of,
    value_of,
    zoned,
)

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence


__all__ = [
    "Anything",
    "Cell",
    "Grammar",
    "Interval",
    "Missing",
    "Node",
    "OrMissing",
    "Period",
    "Prefix",
    "Set",
    "Unreadable",
    "Value",
    "bare",
    "parse",
    "parts_of",
    "unquoted",
]


@dataclass(frozen=True, slots=True)
class Value:
    """A single value."""

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
    """One of several different values."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the column's taxonomy, by its label."""

    label: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """Texts with the same beginning that are no longer than the cell; stars replace their other characters."""

    start: str
    stars: int

    def covers(self, text: str) -> bool:
        """Whether the stars may stand for the end of this text."""
        return text.startswith(self.start) and len(text) <= len(self.start) + self.stars


@dataclass(frozen=True, slots=True)
class Period:
    """One or several days, months, quarters, years or decades: from the first moment up to, but not including, another.

    Among days, the second is the first day that is no longer in it.
    """

    start: Any
    stop: Any


@dataclass(frozen=True, slots=True)
class Missing:
    """A missing value."""


@dataclass(frozen=True, slots=True)
class Anything:
    """Any value of the column: it was suppressed."""


@dataclass(frozen=True, slots=True)
class OrMissing:
    """What a cell stands for, or no value."""

    cell: Value | Interval | Set | Node | Prefix | Period | Anything


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A text that is no cell of the column, or that can be read in several ways, with the reason."""

    text: str
    reason: str


Cell = Value | Interval | Set | Node | Prefix | Period | Missing | Anything | OrMissing | Unreadable


MOST_CHARACTERS = 1 << 20
_SHORT = 19  # digits that are a whole number at first sight
_MOST_IN_A_RANGE = 100  # characters of a range without brackets, in which every hyphen may be the one between the ends
_SUPPRESSED_NUMBER = ("", "NA", "N/A", "<NA>", "NaN", "nan", "None", "NULL", "null")
_INFINITE = {"-inf": None, "-Inf": None, "-∞": None, "inf": None, "Inf": None, "+inf": None, "∞": None}
_BOUNDS = (
    ("<=", "high", True),
    (">=", "low", True),
    ("≤", "high", True),
    ("≥", "low", True),
    ("<", "high", False),
    (">", "low", False),
)
_ALWAYS_QUOTED = frozenset(',{}[]"')  # by every version of Glasshouse, in a text value
_RESOLUTION = dt.timedelta(microseconds=1)
_COUNTED = ("integer", "date")


def parse(text: str, *, kind: str, order: Sequence[Any] | None = None, taxonomy: Container[str] | None = None) -> Cell:
    """Read one cell; `Grammar` reads many of one column.

    ``kind`` is that of the column: ``integer``, ``float``, ``date``, ``timestamp``, ``boolean`` or ``category``. With a
    declared ``order`` cells are intervals of it; ``taxonomy`` has the labels of nodes, if cells are nodes.

    >>> parse("[20, 40)", kind="integer"), parse("20-40", kind="float"), parse("20-40", kind="category")
    (Interval(low=20, high=39, ...), Interval(low=20.0, high=40.0, ...), Value(value='20-40'))
    >>> parse("40-20", kind="integer").reason
    'its low end is above its high end'
    """
    return Grammar(kind=kind, order=order, taxonomy=taxonomy).parse(text)


@dataclass(frozen=True, eq=False, kw_only=True)
class Grammar:
    """Reads the cells of one column."""

    kind: str  # as for `parse`
    order: Sequence[Any] | None = None
    taxonomy: Container[str] | None = None
    # values of the column that are known by their texts; such a text is the value, whatever it looks like
    known: Mapping[str, Any] = field(default_factory=dict)
    # whether ``a|b`` and ``a,b`` are sets of texts, as other tools write them. Glasshouse never does
    joined: bool = True

    def parse(self, text: str) -> Cell:
        """Read a cell."""
        if len(text) > MOST_CHARACTERS:
            return Unreadable(text[:50] + "...", f"it has more than {MOST_CHARACTERS:,} characters")
        try:
            return self._cell(text)
        except NotAValue as reason:
            return Unreadable(text, str(reason))

    def _cell(self, text: str) -> Cell:
        if text == MISSING:
            return Missing()
        if text.endswith(OR_MISSING):
            inner = self._without_missing(text.removesuffix(OR_MISSING))
            if isinstance(inner, Missing | OrMissing | Unreadable):
                raise NotAValue("it says twice that the value may be missing")
            return OrMissing(inner)
        return self._without_missing(text)

    def _without_missing(self, text: str) -> Cell:
        if self.taxonomy is not None and text in self.taxonomy:
            return Node(text)
        if text == MISSING or text.endswith(OR_MISSING):
            return Missing()  # for the caller to refuse
        bare = text.strip()
        for form in (text, bare):
            # Glasshouse itself puts values in quotes that look like cells
            if form in self.known and (self.joined or (_ALWAYS_QUOTED.isdisjoint(form) and form != SUPPRESSED)):
                return Value(self.known[form])
        if text.startswith('"'):
            return self._quoted(text)
        if not bare.strip(SUPPRESSED):
            return Anything()
        if bare[0] == "{":
            return self._set(bare)
        if bare[0] in "[(]" and bare[-1] in "])[" and len(bare) > 1:
            found = self._bracketed(bare)
            if found is not None:
                return found
        if self._on_a_line:
            return self._of_a_line(bare)
        return self._of_categories(text, bare)

    # ---------------------------------------------------------------------------------------- one value

    def _quoted(self, text: str) -> Value | Node:
        inner = _inside(text)
        hidden = inner == MISSING or inner.endswith(OR_MISSING)
        if hidden and self.taxonomy is not None and inner in self.taxonomy and inner not in self.known:
            return Node(inner)
        return Value(self._value(inner))

    def _value(self, text: str) -> Any:
        return self.known[text] if text in self.known else value_of(text, self.kind)

    @property
    def _on_a_line(self) -> bool:
        return self.kind in LINE and self.order is None

    # ---------------------------------------------------------------------------------------- sets

    def _set(self, text: str) -> Value | Set:
        if not text.endswith("}") or len(text) < 2:
            raise NotAValue("its braces do not match")
        return self._members(parts_of(text[1:-1], ","))

    def _members(self, parts: Sequence[str]) -> Value | Set:
        found: dict[str, Any] = {}
        for part in parts:
            member = part.strip()
            if member.startswith('"'):
                value = self._value(_inside(member))
            elif member in self.known:
                value = self.known[member]
            elif not member:
                raise NotAValue("one of its values is empty" if len(parts) > 1 else "it is an empty set")
            elif member == MISSING:
                raise NotAValue("it is a set that contains a missing value: write the text {a, b} or missing")
            elif not set(member).isdisjoint('{}[]"'):
                raise NotAValue("it is a set with a member that is not a value")
            else:
                value = self._value(member)
            found[key_of(value)] = value
        values = tuple(found.values())
        return Value(values[0]) if len(values) == 1 else Set(values)

    # ---------------------------------------------------------------------------------------- intervals

    def _bracketed(self, text: str) -> Interval | Period | Value | None:
        """An interval in brackets; None for a text in brackets that need not be one."""
        closed = text[0] == "[", text[-1] == "]"
        parts = parts_of(text[1:-1], ",")
        if len(parts) == 1 and self._has_an_order:
            found = self._range(text[1:-1], closed)
            if found is not None:
                return found
        if len(parts) == 2 and self._has_an_order:
            return self._between(parts[0].strip(), parts[1].strip(), closed)
        if len(parts) == 2:
            raise NotAValue("it is an interval of categories: declare the order of the categories (ordered=)")
        if len(parts) > 2:
            raise NotAValue("it has more than one comma: is it a number with thousands grouped?")
        if text[0] == "[" or self._on_a_line:
            raise NotAValue("it is in brackets but is not an interval")
        return None

    @property
    def _has_an_order(self) -> bool:
        return self.order is not None or self.kind in LINE

    def _range(self, text: str, closed: tuple[bool, bool] = (True, True)) -> Interval | Period | Value | None:
        """A range without a comma, where there is one way to divide it into two ends."""
        if len(text) > _MOST_IN_A_RANGE:
            return None
        for mark in ("..", "~", EN_DASH, "to" if self._on_a_line else " to "):
            if text.count(mark) == 1:
                low, _, high = text.partition(mark)
                if self._is_an_end(low.strip()) and self._is_an_end(high.strip()):
                    return self._between(low.strip(), high.strip(), closed)
        found = []
        marks = "-/" if self.kind in ("date", "timestamp") else "-"
        for i, mark in enumerate(text):
            low, high = text[:i].strip(), text[i + 1 :].strip()
            if mark in marks and low and high and self._is_an_end(low) and self._is_an_end(high):
                found.append((low, high))
        if len(found) > 1:
            raise NotAValue(
                "it looks like an interval, but it is not clear where its low end stops and its high end begins"
            )
        return self._between(*found[0], closed) if found else None

    def _is_an_end(self, text: str) -> bool:
        """Whether a text can be an end: in a declared order, one that is in it."""
        if self.order is not None:
            return self._ranked(text) is not None
        try:
            return text not in _INFINITE and self._end(text) is not None
        except Ambiguous:  # `_between` will refuse it
            return True
        except NotAValue:
            return False

    def _between(self, low: str, high: str, closed: tuple[bool, bool]) -> Interval | Period | Value:
        first, last = self._end(low), self._end(high)
        if self.order is not None:
            return self._ordered(first, last, closed)
        if isinstance(first, Period) or isinstance(last, Period):
            return self._period(first, last, closed)
        return self._interval(first, last, closed)

    def _end(self, text: str) -> Any:
        """An end of an interval: a value, a period, or None where there is no end."""
        if text.startswith('"'):
            inner = _inside(text)
            if self.order is not None or inner in self.known:
                return self._value(inner)
            text = inner
        if text in self.known:
            return self.known[text]
        if text in _INFINITE or not text:
            return None
        if self.order is not None:
            return text
        if self.kind == "integer":
            return (
                int(text) if len(text) < _SHORT and text.isascii() and text.isdigit() else number_in(text, whole=True)
            )
        if self.kind in ("date", "timestamp"):
            period = period_of(text)
            if period is None and self.kind == "timestamp" and ":" not in text:
                day = value_of(text, "date")
                period = day, _next_day(day)
            if period is not None:
                return Period(*period)
        return value_of(text, self.kind)

    def _interval(self, low: Any, high: Any, closed: tuple[bool, bool]) -> Interval | Value:
        if self.kind == "timestamp" and low is not None and high is not None and zoned(low) != zoned(high):
            raise NotAValue("one of its ends has a time zone offset and the other has none")
        if low is not None and high is not None and place_of(low, self.kind) > place_of(high, self.kind):
            raise NotAValue("its low end is above its high end")
        if self.kind in _COUNTED:
            low = None if low is None else _counted(low, up=True, closed=closed[0])
            high = None if high is None else _counted(high, up=False, closed=closed[1])
            closed = True, True
        if low is not None and high is not None:
            first, last = place_of(low, self.kind), place_of(high, self.kind)
            if first > last or (first == last and closed != (True, True)):
                raise NotAValue("there is no value between its ends")
            if first == last:
                return Value(low)
        return Interval(low, high, closed[0] or low is None, closed[1] or high is None)

    def _period(self, low: Any, high: Any, closed: tuple[bool, bool]) -> Period | Interval | Value:
        """From the first moment of a period to the last of another; an end that is left out leaves its period out."""
        if isinstance(low, Period):
            low, closed = low.start if closed[0] else low.stop, (True, closed[1])
        if isinstance(high, Period):
            high, closed = high.stop if closed[1] else high.start, (closed[0], False)
        elif high is not None and closed[1]:
            high, closed = self._after(high), (closed[0], False)
        if low is None or high is None:
            return self._interval(low, high, closed)
        start, stop = low if closed[0] else self._after(low), high
        if zoned(start) or zoned(stop):
            raise NotAValue(
                "one of its ends is a period of time (such as a month), which has no time zone, and the other end "
                "has a time zone"
            )
        if place_of(start, self.kind) >= place_of(stop, self.kind):
            raise NotAValue("its low end is above its high end")
        return Period(start, stop)

    def _after(self, end: Any) -> Any:
        return _next_day(end) if self.kind == "date" else end + _RESOLUTION

    def _ordered(self, low: Any, high: Any, closed: tuple[bool, bool]) -> Interval | Value:
        """From one place of the declared order to another."""
        first = 0 if low is None else self._rank(low) + (not closed[0])
        last = len(self._ranks) - 1 if high is None else self._rank(high) - (not closed[1])
        if first > last:
            raise NotAValue("its low end comes after its high end in the declared order")
        ends = [self._of_rank(rank) for rank in (first, last)]
        return Value(ends[0]) if first == last else Interval(*ends)

    def _rank(self, text: str) -> int:
        rank = self._ranked(text)
        if rank is None:
            raise NotAValue("one of its ends is not in the declared order")
        return rank

    def _ranked(self, text: Any) -> int | None:
        """The place of a value in the declared order, by its text; None if it has none."""
        try:
            return self.rank_of(self._value(text) if isinstance(text, str) else text)
        except NotAValue:
            return None

    def rank_of(self, value: Any) -> int | None:
        """The place of a value in the declared order; None if it has none."""
        return self._ranks.get(key_of(value))

    def _of_rank(self, rank: int) -> Any:
        assert self.order is not None
        return self._typed(self.order[rank])

    def _typed(self, value: Any) -> Any:
        """A value of the declared order, which may give its text."""
        return self._value(value) if isinstance(value, str) else value

    @cached_property
    def _ranks(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for rank, value in enumerate(self.order or ()):
            with suppress(NotAValue):  # what is no value of the column stands in no cell
                found[key_of(self._typed(value))] = rank
        return found

    # ---------------------------------------------------------------------------------------- by kind

    def _of_a_line(self, text: str) -> Cell:
        """A cell of numbers, dates or times."""
        if text in _SUPPRESSED_NUMBER:
            return Anything()
        if self.kind in ("date", "timestamp"):
            period = period_of(text)
            if period is not None:
                return Period(*period)
            if self.kind == "timestamp" and ":" not in text and text.count("-") == 2:
                day = value_of(text, "date")
                return Period(day, _next_day(day))
        try:
            return Value(value_of(text, self.kind))
        except NotAValue as reason:
            for found in (self._bound(text), self._range(text), self._starred(text)):
                if found is not None:
                    return found
            if "|" in text:
                return self._members(text.split("|"))
            raise reason from None

    def _of_categories(self, text: str, bare: str) -> Cell:
        """A cell of texts, of truth values, or of values in a declared order."""
        if self.order is not None:
            rank = self._ranked(bare)
            if rank is not None:
                return Value(self._of_rank(rank))
            for found in (self._bound(bare), self._range(bare)):
                if found is not None:
                    return found
        starred = self._starred(bare)
        if starred is not None:
            return starred
        if self.joined and "|" in bare:
            return self._members(bare.split("|"))
        if "," in bare:
            if not self.joined or not set(bare).isdisjoint("()[]{}"):
                raise NotAValue("it has a comma but is not an interval, a set in braces, or a text in quotes")
            return self._members(parts_of(bare, ","))
        return Value(self._value(text if self.kind == "category" else bare))

    def _bound(self, text: str) -> Interval | Period | Value | None:
        """What has an end on one side only: ``<40``, ``>=40``, ``40+``."""
        found = next((bound for bound in _BOUNDS if text.startswith(bound[0])), None)
        if found is None and not text.endswith("+"):
            return None
        mark, side, closed = found or ("+", "low", True)
        end = (text.removesuffix(mark) if found is None else text.removeprefix(mark)).strip()
        if not end or not self._is_an_end(end):
            return None
        low, high = (end, "") if side == "low" else ("", end)
        return self._between(low, high, (closed, closed))

    def _starred(self, text: str) -> Prefix | Interval | Value | None:
        """A beginning whose other characters are stars; of whole numbers, all that begin so, with leading zeros."""
        if SUPPRESSED not in text:
            return None
        start = text.rstrip(SUPPRESSED)
        stars = len(text) - len(start)
        if SUPPRESSED in start or not stars:
            raise NotAValue("it has stars that are not at its end")
        if self.kind == "category":
            return Prefix(start, stars)
        if self.kind == "integer" and start.isascii() and start.isdigit() and len(text) <= _MOST_IN_A_RANGE:
            return Interval(int(start) * 10**stars, (int(start) + 1) * 10**stars - 1)
        raise NotAValue("it has stars, which are only for texts and whole numbers")


def parts_of(text: str, mark: str) -> list[str]:
    """Cut a text at the marks that are not in quotes.

    >>> parts_of('F, "a, b"', ",")
    ['F', ' "a, b"']
    """
    if '"' not in text:
        return text.split(mark)
    parts, in_quotes, start = [], False, 0
    for i, character in enumerate(text):
        in_quotes ^= character == '"'
        if character == mark and not in_quotes:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def unquoted(text: str) -> str | None:
    """The text without its quotes; None if they do not match.

    >>> unquoted('"a, b"'), unquoted('"a "" b"'), unquoted('"a" b"')
    ('a, b', 'a " b', None)
    """
    inner = text[1:-1]
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')) or '"' in inner.replace('""', ""):
        return None
    return inner.replace('""', '"')


def _inside(text: str) -> str:
    inner = unquoted(text)
    if inner is None:
        raise NotAValue("its quotes do not match")
    return inner


def bare(text: str) -> str:
    """The text without its quotes, if it has some that match; else as it is.

    >>> bare('"a, b"'), bare("a")
    ('a, b', 'a')
    """
    inner = unquoted(text)
    return text if inner is None else inner


def _counted(end: Any, *, up: bool, closed: bool) -> Any:
    """An end among whole numbers or days, as the outermost that is in the interval."""
    if closed and isinstance(end, int | dt.date):
        return end
    if isinstance(end, dt.date):
        return _next_day(end) if up else _day_before(end)
    whole = math.ceil(end) if up else math.floor(end)
    return whole if closed or whole != end else whole + (1 if up else -1)


def _next_day(day: dt.date) -> dt.date:
    if day == dt.date.max:
        raise NotAValue("it ends after 9999-12-31, the last date that can be read")
    return day + dt.timedelta(days=1)


def _day_before(day: dt.date) -> dt.date:
    if day == dt.date.min:
        raise NotAValue("it ends before 0001-01-01, the first date that can be read")
    return day - dt.timedelta(days=1)
