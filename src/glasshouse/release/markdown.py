# SPDX-License-Identifier: Apache-2.0
"""Texts of other people in Markdown: as words to read, never as a link, a picture, markup or the end of a table cell.

Names of columns and values come from the table. Whoever reads a README in a browser must not be led anywhere by them.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["code", "prose"]

_MARKUP = re.compile(r"[\\`*_\[\]<>|~&#!@]|(?<=:)/(?=/)|(?<=www)\.|(?<!\S)[-+](?!\w)")


def prose(text: str) -> str:
    """A text on one line, with a backslash before whatever Markdown would make something of.

    >>> print(prose("see [here](https://example.org) <b>R&D</b>"))
    see \\[here\\](https:\\//example.org) \\<b\\>R\\&D\\</b\\>
    """
    return _MARKUP.sub(lambda found: f"\\{found[0]}", _line(text))


def code(text: str) -> str:
    """A text on one line, in a type of its own, exactly as it is.

    >>> print(code("a`b"), code("age"))
    `` a`b `` `age`
    """
    line = _line(text)
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    if not longest and line.strip():
        return f"`{line}`"
    fence = "`" * (longest + 1)
    return f"{fence} {line} {fence}"


def _line(text: str) -> str:
    """A text on one line, without characters that nobody can see or that turn the direction of writing."""
    shown = "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs") and not c.isspace() else c for c in text)
    return " ".join(shown.split())
