# SPDX-License-Identifier: Apache-2.0
"""Counted nouns: a number with its noun, which is in the singular after one; and ordinal numbers."""

from __future__ import annotations

__all__ = ["counted", "ordinal"]

_IRREGULAR = {"person": "people", "class": "classes", "query": "queries", "entry": "entries", "leaf": "leaves"}


def counted(n: float, one: str, many: str | None = None) -> str:
    """Write a number with its noun; ``many`` is the noun for every number except one.

    >>> counted(1, "record"), counted(2_000, "record"), counted(0, "person"), counted(2, "other person")
    ('1 record', '2,000 records', '0 people', '2 other people')
    >>> counted(1, "person fits", "people fit"), counted(1.0, "second"), counted(2.5, "second")
    ('1 person fits', '1 second', '2.5 seconds')
    """
    if n == 1:
        return f"1 {one}"
    if many is None:
        before, blank, noun = one.rpartition(" ")
        many = f"{before}{blank}{_IRREGULAR.get(noun, f'{noun}s')}"
    return f"{n:,.10g} {many}" if isinstance(n, float) else f"{n:,} {many}"


def ordinal(n: int) -> str:
    """Write an ordinal number.

    >>> [ordinal(n) for n in (1, 2, 3, 11, 22)]
    ['1st', '2nd', '3rd', '11th', '22nd']
    """
    last = n % 10 if n % 10 < 4 and n % 100 not in (11, 12, 13) else 0
    return f"{n}{'thstndrd'[2 * last : 2 * last + 2]}"
