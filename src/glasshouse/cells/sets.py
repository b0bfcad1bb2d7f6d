# SPDX-License-Identifier: Apache-2.0
"""Sets of values: how all values of a person are written as one text, and how that text is read.

A set is a JSON list of texts, as in ``["flu", "gout"]``: each value once, in the order of the column, and at the end
``null`` for a missing one. Whatever a value holds, commas, quotes, brackets or line breaks, it is read as it was.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from glasshouse.cells.values import NotAValue

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["members_in", "set_text"]


def set_text(members: Sequence[str | None]) -> str:
    """Write a set of values, given as their texts; None is a missing value.

    >>> set_text(["flu", "a, b", 'say "ah"', None])
    '["flu", "a, b", "say \\\\"ah\\\\"", null]'
    """
    return json.dumps(list(members), ensure_ascii=False)


def members_in(text: object) -> tuple[str | None, ...]:
    """Read a set of values; `NotAValue` if the text is not a set.

    >>> members_in('["flu", null]')
    ('flu', None)
    >>> members_in("flu")
    Traceback (most recent call last):
    glasshouse.cells.values.NotAValue: a set must be written as a JSON list of different texts, such as ["flu", "gout"]
    """
    try:
        found = json.loads(text) if isinstance(text, str) else None
        "".join(member for member in found or () if member is not None).encode()  # half a character is no text
    except (ValueError, TypeError, RecursionError):
        found = None
    if not isinstance(found, list) or not found or len(set(found)) < len(found):
        raise NotAValue('a set must be written as a JSON list of different texts, such as ["flu", "gout"]')
    return tuple(found)
