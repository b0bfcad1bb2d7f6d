# SPDX-License-Identifier: Apache-2.0
"""Cells: what is published in place of a value, as text that a person reads and a program parses.

::

    23    2024-05-01    flu       one value
    [21, 60]                      an ordered attribute: every value from 21 to 60, both included
    {F, M}                        an unordered category: one of these
    respiratory                   a node of a taxonomy
    missing                       no value
    [21, 60] or missing           any of these, or no value

A text value that could be mistaken for something else is in double quotes, with inner quotes doubled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshouse.microdata.domains import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["MISSING", "interval", "label", "members", "quoted", "unquoted", "value_set", "with_missing"]

MISSING = "missing"
OR_MISSING = f" or {MISSING}"
SUPPRESSED = "*"


def quoted(value: Any) -> str:
    """Give a value's text, in quotes where it could be mistaken for an interval, a set or a word of the grammar.

    >>> quoted(23), quoted("flu"), quoted("a, b"), quoted("missing")
    ('23', 'flu', '"a, b"', '"missing"')
    """
    text = text_of(value)
    if not isinstance(value, str):
        return text
    plain = not set(text) & set(',{}[]"') and text == text.strip() and text not in ("", MISSING, SUPPRESSED)
    if plain and not text.endswith(OR_MISSING):
        return text
    return '"' + text.replace('"', '""') + '"'


def unquoted(text: str) -> str:
    """Take the quotes off again.

    >>> unquoted('"a, b"'), unquoted("flu")
    ('a, b', 'flu')
    """
    return text[1:-1].replace('""', '"') if len(text) > 1 and text.startswith('"') and text.endswith('"') else text


def label(text: str) -> str:
    """Write the label of a taxonomy's node as it is, in quotes only where it could be mistaken for a missing value.

    >>> label("[20, 30)"), label("missing")
    ('[20, 30)', '"missing"')
    """
    return f'"{text}"' if text == MISSING or text.endswith(OR_MISSING) else text


def interval(low: Any, high: Any) -> str:
    """Write a closed interval, or the one value.

    >>> interval(21, 60), interval(21, 21)
    ('[21, 60]', '21')
    """
    return quoted(low) if low == high else f"[{quoted(low)}, {quoted(high)}]"


def value_set(values: Sequence[Any]) -> str:
    """Write a set of values in the given order, or the one value.

    >>> value_set(["F", "M"]), value_set(["F"])
    ('{F, M}', 'F')
    """
    return quoted(values[0]) if len(values) == 1 else "{" + ", ".join(map(quoted, values)) + "}"


def members(text: str) -> list[str]:
    """Cut what stands between the braces of a set at the commas that are not in quotes; quotes come off.

    >>> members('F, "a, b"')
    ['F', 'a, b']
    """
    parts, in_quotes, start = [], False, 0
    for i, mark in enumerate(text):
        in_quotes ^= mark == '"'
        if mark == "," and not in_quotes:
            parts.append(text[start:i])
            start = i + 1
    return [unquoted(part.strip()) for part in (*parts, text[start:])]


def with_missing(cell: str | None) -> str:
    """Add that the value may be missing; nothing but missing if there is no cell.

    >>> with_missing("[21, 60]"), with_missing(None)
    ('[21, 60] or missing', 'missing')
    """
    return MISSING if cell is None else cell + OR_MISSING
