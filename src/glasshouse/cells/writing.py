# SPDX-License-Identifier: Apache-2.0
"""Writing cells: what is published in place of a value, as text that a person reads and a program parses.

::

    23    2024-05-01    flu       one value
    [21, 60]                      an ordered attribute: every value from 21 to 60, both included
    {F, M}                        an unordered category: one of these
    respiratory                   a node of a taxonomy
    missing                       no value
    [21, 60] or missing           any of these, or no value

A text value that looks like a cell, of ours or of another tool, is in double quotes, with inner quotes doubled.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from glasshouse.cells.values import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = [
    "EN_DASH",
    "MISSING",
    "OR_MISSING",
    "SUPPRESSED",
    "interval",
    "label",
    "looks_like_a_cell",
    "quoted",
    "value_set",
    "with_missing",
]

MISSING = "missing"
OR_MISSING = f" or {MISSING}"
SUPPRESSED = "*"
EN_DASH = "\N{EN DASH}"
_MARKS = frozenset(',{}[]"|*')
_NUMBER = r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
_DATE = r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}"
_END = rf"(?:{_DATE}|{_NUMBER})"
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
    """Whether a text would not be read as itself everywhere.

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
    """Write a closed interval, or the one value.

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
    """Add that the value may be missing; nothing but missing if there is no cell.

    >>> with_missing("[21, 60]"), with_missing(None)
    ('[21, 60] or missing', 'missing')
    """
    return MISSING if cell is None else cell + OR_MISSING
