# SPDX-License-Identifier: Apache-2.0
"""Values and their texts: how values are written throughout the package, and their positions on a column's line.

What is not certainly a value of the kind is refused: underscores or other scripts in numbers, dates whose day and month
could be exchanged, times finer than a microsecond. A cell, which is published in place of a value, is text that a
person reads and a program parses::

    23    2024-05-01    flu       one value
    [21, 60]                      an ordered attribute: every value from 21 to 60, both included
    {F, M}                        an unordered category: one of these
    respiratory                   a node of a taxonomy
    missing                       no value
    [21, 60] or missing           any of these, or no value

A text value that looks like a cell, of ours or of another tool, is in double quotes, with inner quotes doubled.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = [
    "EN_DASH",
    "LINE",
    "MISSING",
    "OR_MISSING",
    "SUPPRESSED",
    "Ambiguous",
    "NotAValue",
    "interval",
    "key_of",
    "label",
    "looks_like_a_cell",
    "number_in",
    "period_of",
    "place_of",
    "quoted",
    "settled",
    "text_of",
    "value_of",
    "value_set",
    "with_missing",
    "zoned",
]

LINE = ("integer", "float", "date", "timestamp")
"""The kinds whose values have an order of their own."""

_LONGEST = 400  # characters of a number or a date
_MOST_DIGITS = 300  # of a number written out: floats hold hardly more
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,6})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})", re.ASCII)
_CLOCK = r"\d{2}:\d{2}(?::\d{2}(?:\.(\d{1,9}))?)?"
_MOMENT = re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}[ T]{_CLOCK}(?:Z|[+-]\d{{2}}:?\d{{2}}(?::\d{{2}})?)?", re.ASCII)
_TIME = re.compile(_CLOCK, re.ASCII)
_PERIOD = re.compile(r"(\d{4})(?:-(\d{2})|-?Q([1-4])|(s))?", re.ASCII)
_MONTH = re.compile(r"(\d{1,2})/(\d{4})", re.ASCII)
_YEAR_1 = dt.datetime(1, 1, 1)
_WORDS = {
    "integer": "a whole number",
    "float": "a number",
    "date": "a date, as in 2024-05-01",
    "timestamp": "a time, as in 2024-05-01T12:30:00",
    "boolean": "true or false",
}


class NotAValue(ValueError):
    """A text is no value of its column; the message is the reason."""


class Ambiguous(NotAValue):
    """A text may be one of two values."""


def text_of(value: Any) -> str:
    """The one text of a value: numbers in their shortest exact form, dates in ISO form, ``true`` and ``false``.

    >>> text_of(True), text_of(2.50), text_of("a b")
    ('true', '2.5', 'a b')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return str(value)


def key_of(value: Any) -> str:
    """The text by which values are distinguished: a moment has the same key for every offset with which it is written.

    >>> berlin = dt.timezone(dt.timedelta(hours=2))
    >>> key_of(dt.datetime(2024, 5, 1, 14, tzinfo=berlin)) == key_of(dt.datetime(2024, 5, 1, 12, tzinfo=dt.UTC))
    True
    """
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return text_of(value.astimezone(dt.UTC))
    return text_of(value)


def settled(value: Any) -> Any:
    """Replace the zone of a time by its offset, so that different moments are different values.

    When clocks go back, an hour comes twice. Python takes two times of one zone for equal if their clocks show the
    same, although the offsets differ.

    >>> from zoneinfo import ZoneInfo
    >>> first = dt.datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    >>> first == first.replace(fold=1), settled(first) == settled(first.replace(fold=1))
    (True, False)
    """
    if isinstance(value, dt.datetime) and value.tzinfo is not None and not isinstance(value.tzinfo, dt.timezone):
        return value.replace(tzinfo=dt.timezone(value.utcoffset() or dt.timedelta(0)), fold=0)
    return value


def value_of(text: str, kind: str) -> Any:
    """The value that a text is in a column of a kind; `NotAValue` if it is not one.

    >>> value_of("1e5", "integer"), value_of("-0.0", "float"), value_of("True", "boolean"), value_of("1e5", "category")
    (100000, 0.0, True, '1e5')
    """
    if kind == "category":
        return text
    if len(text) > _LONGEST:
        raise NotAValue(f"it has more than {_LONGEST} characters, so it is no number, date or truth value")
    if kind == "boolean":
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
    elif kind == "date":
        return _date(text)
    elif kind == "timestamp":
        return _moment(text)
    elif kind == "float" and text in ("inf", "-inf"):
        return float(text)
    else:
        number = number_in(text, whole=kind == "integer")
        if kind == "float":
            return _finite(number)
        if number == number.to_integral_value():
            return int(number)
    raise NotAValue(f"it is not {_WORDS[kind]}")


def number_in(text: str, *, whole: bool) -> Decimal:
    """Read a number exactly from its text; a whole number must not be too large for a float."""
    if len(text) > _LONGEST or _NUMBER.fullmatch(text) is None:
        thousands = "," in text and any(mark.isdigit() for mark in text)
        raise NotAValue(
            "its comma may be a thousands separator or a decimal comma" if thousands else "it is not a number"
        )
    number = Decimal(text)
    if number and abs(number.adjusted()) > (_MOST_DIGITS if whole else _LONGEST):
        raise NotAValue("it is an infinite number")
    return number


def _finite(number: Decimal) -> float:
    value = float(number) + 0.0  # -0.0 is 0.0
    if math.isinf(value):
        raise NotAValue("it is an infinite number")
    return value


def _date(text: str) -> dt.date:
    if _DATE.fullmatch(text):
        year, month, day = map(int, text.split("-"))
        readings = [(year, month, day)]
    elif slashed := _SLASHED.fullmatch(text):
        first, second, year = map(int, slashed.groups())
        readings = [(year, second, first), (year, first, second)]
    else:
        raise NotAValue(f"it is not {_WORDS['date']}")
    found = set()
    for reading in readings:
        with suppress(ValueError):
            found.add(dt.date(*reading))
    if len(found) > 1:
        raise Ambiguous("its day and month could be swapped: write dates as in 2024-05-01")
    if not found:
        raise NotAValue("there is no such day")
    return found.pop()


def _moment(text: str) -> dt.datetime | dt.time:
    match = _MOMENT.fullmatch(text)
    of_day = _TIME.fullmatch(text) if match is None else match
    if of_day is None:
        raise NotAValue(f"it is not {_WORDS['timestamp']}")
    if (of_day[1] or "")[6:].strip("0"):
        raise NotAValue("it is more precise than a microsecond")
    try:
        if match is None:
            return dt.time.fromisoformat(text)
        found = dt.datetime.fromisoformat(text)
        place_of(found, "timestamp")  # with its offset it must lie in the years 1 to 9999
    except (ValueError, OverflowError):
        raise NotAValue("there is no such time") from None
    return found


def period_of(text: str) -> tuple[dt.date, dt.date] | None:
    """The first day of a month, quarter, year or decade, and the first day after it; None if the text is no period.

    >>> period_of("2024-Q1"), period_of("1990s")
    ((datetime.date(2024, 1, 1), datetime.date(2024, 4, 1)), (datetime.date(1990, 1, 1), datetime.date(2000, 1, 1)))
    """
    slashed = _MONTH.fullmatch(text) if len(text) <= _LONGEST else None
    match = _PERIOD.fullmatch(f"{slashed[2]}-{slashed[1]:0>2}" if slashed else text[:_LONGEST])
    if match is None:
        return None
    year, month, quarter, decade = match.groups()
    if decade and not year.endswith("0"):
        return None
    first = int(month) if month else 3 * int(quarter) - 2 if quarter else 1
    length = 1 if month else 3 if quarter else 120 if decade else 12
    months = 12 * int(year) + first - 1 + length
    try:
        return dt.date(int(year), first, 1), dt.date(months // 12, months % 12 + 1, 1)
    except ValueError:  # no such month, or the end of the calendar
        return None


def zoned(value: Any) -> bool:
    """Whether a value is a time with an offset: a moment, not the reading of an unspecified clock."""
    return isinstance(value, dt.datetime) and value.tzinfo is not None


def place_of(value: Any, kind: str) -> Any:
    """Where a value lies on its column's line: itself, or days or microseconds since the year 1.

    A time with an offset is a moment, and lies where the clock of offset 0 has it. One without lies where its own
    clock has it; the two must not be compared.

    >>> place_of(dt.date(1, 1, 2), "date"), place_of(dt.date(1, 1, 2), "timestamp")
    (2, 86400000000)
    """
    if kind == "integer":
        return value
    if isinstance(value, dt.datetime):
        plain = value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo is not None else value
        ticks = (plain - _YEAR_1) // dt.timedelta(microseconds=1)
        finer = getattr(value, "nanosecond", 0)  # pandas counts them
        return ticks + Decimal(finer) / 1000 if finer else ticks
    if isinstance(value, dt.date):
        days = value.toordinal()
        return days if kind == "date" else (days - 1) * 86_400_000_000
    if isinstance(value, dt.time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    if isinstance(value, Decimal) and kind == "float":
        return float(value)
    return value


# --- writing cells ----------------------------------------------------------------------------------------------------


MISSING = "missing"
OR_MISSING = f" or {MISSING}"
SUPPRESSED = "*"
EN_DASH = "\N{EN DASH}"
_MARKS = frozenset(',{}[]"|*')
_SHOWN_NUMBER = r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
_SHOWN_DATE = r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}"
_END = rf"(?:{_SHOWN_DATE}|{_SHOWN_NUMBER})"
_LOOKS = re.compile(
    rf"[(]?{_END}\s*(?:-|{EN_DASH}|~|\.\.|to)\s*{_END}[)]?"  # a range
    rf"|(?:<=?|>=?|≤|≥)\s*{_END}|{_END}\s*\+"  # no end on one side
    r"|\d{4}-?Q[1-4]|\d{4}-\d{2}|\d{3}0s",  # a quarter, a month, a decade
    re.ASCII,
)
_LONGEST_LOOK = 100  # a longer text is no range of numbers or dates


def quoted(value: Any) -> str:
    """Give a value's text, in quotes if it is a text that looks like an interval, a set or a word of the grammar.

    >>> quoted(23), quoted("flu"), quoted("a, b"), quoted("missing"), quoted("20-40"), quoted("Never-married")
    ('23', 'flu', '"a, b"', '"missing"', '"20-40"', 'Never-married')
    """
    text = text_of(value)
    if not isinstance(value, str) or not looks_like_a_cell(text):
        return text
    return '"' + text.replace('"', '""') + '"'


def looks_like_a_cell(text: str) -> bool:
    """Whether some reader may take a text for something other than itself.

    >>> looks_like_a_cell("476**"), looks_like_a_cell("<40"), looks_like_a_cell("<=50K")
    (True, True, False)
    """
    if not _MARKS.isdisjoint(text) or text != text.strip() or text in ("", MISSING) or text.endswith(OR_MISSING):
        return True
    return len(text) <= _LONGEST_LOOK and _LOOKS.fullmatch(text) is not None


def label(text: str) -> str:
    """Write the label of a taxonomy's node as it is, in quotes only where it could be mistaken for a missing value.

    >>> label("[20, 30)"), label("missing")
    ('[20, 30)', '"missing"')
    """
    return f'"{text}"' if text == MISSING or text.endswith(OR_MISSING) else text


def interval(low: Any, high: Any) -> str:
    """Write a closed interval, or a single value if both ends are equal.

    Ends are compared by their texts: two moments are not one value because clocks, set back, show the same.

    >>> interval(21, 60), interval(21, 21)
    ('[21, 60]', '21')
    """
    first, last = quoted(low), quoted(high)
    return first if first == last else f"[{first}, {last}]"


def value_set(values: Sequence[Any]) -> str:
    """Write a set of values in the given order, or the one value.

    >>> value_set(["F", "M"]), value_set(["F"])
    ('{F, M}', 'F')
    """
    return quoted(values[0]) if len(values) == 1 else "{" + ", ".join(map(quoted, values)) + "}"


def with_missing(cell: str | None) -> str:
    """Add to a cell that the value may be missing; if there is no cell, write a missing value.

    >>> with_missing("[21, 60]"), with_missing(None)
    ('[21, 60] or missing', 'missing')
    """
    return MISSING if cell is None else cell + OR_MISSING
