# SPDX-License-Identifier: Apache-2.0
"""Visible text: names and values are shown so that all characters are visible and none has an effect.

A column name or a value may hold what a terminal obeys (escape sequences, control characters), what turns the reading
direction around, what has no width, and what begins a new line. Shown as it is, it could hide words, or look like words
of Glasshouse. Every text that is shown passes through here, and such characters are written as Python escapes them.
"""

from __future__ import annotations

import json
import unicodedata
from html import escape
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["in_lines", "in_markup", "is_shown", "json_text", "visible"]

_LINE = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_WIDTHLESS: Final = frozenset(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0x180B, 0x1810)))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Characters that count as printable and show nothing."""


def visible(text: object, *, lines: bool = False) -> str:
    r"""Write a text on one line, with all its characters visible.

    Parameters
    ----------
    text
        A text, or something that has one.
    lines
        Whether line ends are line ends; otherwise they are written out too.

    Examples
    --------
    >>> print(visible("red \x1b[31m, turned \u202e, wide\u200b"), visible("two\nlines"))
    red \x1b[31m, turned \u202e, wide\u200b two\nlines
    """
    shown = str(text)
    if shown.isprintable() and _WIDTHLESS.isdisjoint(shown):
        return shown
    return "".join(one if is_shown(one) or (lines and one == "\n") else _escaped(one) for one in shown)


def in_lines(lines: Iterable[str]) -> str:
    """Join lines, each of which stays one.

    >>> print(in_lines(["a\\n  holds  k = 9", "b"]))
    a\\n  holds  k = 9
    b
    """
    return "\n".join(map(visible, lines))


def in_markup(text: object) -> str:
    """Write a text into HTML or SVG: visible, and no markup.

    >>> in_markup("<b>\\u202e")
    '&lt;b&gt;\\\\u202e'
    """
    return escape(visible(text), quote=True)


def json_text(data: Any, *, ascii_only: bool = False) -> str:
    r"""Write plain data as JSON in which every character can be seen.

    >>> print(json_text({"a": "é\u202e"}))
    {
      "a": "é\u202e"
    }
    """
    text = json.dumps(data, indent=2, ensure_ascii=ascii_only, allow_nan=False)
    if text.replace("\n", "").isprintable() and _WIDTHLESS.isdisjoint(text):
        return text
    return "".join(one if one == "\n" or is_shown(one) else json.dumps(one)[1:-1] for one in text)


def is_shown(character: str) -> bool:
    """Whether a character is visible when printed, and has no other effect."""
    if character.isprintable():
        return character not in _WIDTHLESS
    return unicodedata.category(character) == "Zs"  # a space of another width


def _escaped(character: str) -> str:
    if character in _LINE:
        return _LINE[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
