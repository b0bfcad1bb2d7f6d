# SPDX-License-Identifier: Apache-2.0
"""Literals: values as they are written in SQL, and what they mean for a column of some kind."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal, InvalidOperation
from math import isinf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from glasshouse.analyst.sql_parsing import bare, shown
from glasshouse.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Callable

    from glasshouse.analyst.clocks import Clock

__all__ = ["WRITTEN", "Value", "fitting", "literal"]

_LARGEST_EXPONENT = 400  # beyond every float, and small enough to be written out

# What a column of each kind holds, and how its values are written.
WRITTEN = {
    "integer": ("whole numbers", "write a number, as in 30"),
    "float": ("numbers", "write a number, as in 2.5"),
    "category": ("texts", "write a text in single quotes, as in 'flu'"),
    "boolean": ("true or false", "write TRUE or FALSE"),
    "date": ("dates", "write a date, as in DATE '2024-05-01'"),
    "timestamp": ("times", "write a time, as in TIMESTAMP '2024-05-01 12:30:00'"),
}


class Value(NamedTuple):
    """A literal: what it was written as, and its text; SQL's NULL is a value too."""

    written: Literal["number", "text", "date", "timestamp", "boolean", "null"]
    text: str

    def __str__(self) -> str:
        article = {"text": "the text ", "number": "the number "}.get(self.written, "")
        return article + (shown(self.text) if self.written != "boolean" else self.text)


def literal(node: Any) -> Value | None:
    """A value as it is written; None if it is none."""
    sign = ""
    while node.key == "neg":
        sign = "" if sign else "-"
        node = bare(node.this)
    if node.key == "literal":
        if not node.is_string:
            return Value("number", sign + node.name)
        return None if sign else Value("text", node.name)
    if sign:
        return None
    if node.key == "boolean":
        return Value("boolean", "TRUE" if node.this else "FALSE")
    if node.key == "null":
        return Value("null", "NULL")
    if node.key == "cast" and node.this.key == "literal" and node.this.is_string:
        to = str(node.args["to"].this.name)
        if to == "DATE":
            return Value("date", node.this.name)
        if to.startswith(("TIMESTAMP", "DATETIME")):
            return Value("timestamp", node.this.name)
    return None


def fitting(value: Value, name: str, kind: str, clock: Callable[[str], Clock]) -> Any:
    """A literal as a value of a column; ``clock`` tells by which clock the column's times are shown."""
    found: Any = None
    if value.written == "number" and kind in ("integer", "float"):
        found = _number(value.text, name, kind)
    elif value.written == "text" and kind == "category":
        found = value.text
    elif value.written == "boolean" and kind == "boolean":
        found = value.text == "TRUE"
    elif value.written in ("text", "date") and kind == "date":
        found = _date(value.text)
    elif value.written in ("text", "date", "timestamp") and kind == "timestamp":
        found = _time(value.text)
        found = None if found is None else clock(name).moment(found)
    if found is None:
        holds, write = WRITTEN[kind]
        raise DomainError(
            f"column {name!r} holds {holds} and cannot be compared with {value}: {write}",
            column=name,
            values=[value.text],
        )
    return found


def _number(text: str, name: str, kind: str) -> Decimal | float:
    """A number, exactly where whole numbers are compared with it."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise DomainError(f"column {name!r}: {shown(text)} is not a number", column=name, values=[text]) from None
    if (number and abs(number.adjusted()) > _LARGEST_EXPONENT) or (kind == "float" and isinf(float(number))):
        raise DomainError(
            f"column {name!r} is compared with a number beyond all bounds, {shown(text)}", column=name, values=[text]
        )
    return number if kind == "integer" else float(number)


def _date(text: str) -> dt.date | None:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
        return None
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return None


def _time(text: str) -> dt.datetime | None:
    """A time by the clock that the release shows, or with an offset."""
    if not re.fullmatch(
        r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?", text, re.ASCII
    ):
        return None
    try:
        found = dt.datetime.fromisoformat(text)
        return found if found.tzinfo is None else found.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None
