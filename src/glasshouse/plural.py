# SPDX-License-Identifier: Apache-2.0
"""Counted nouns: a number with its noun, which is in the singular after one."""

from __future__ import annotations

__all__ = ["counted"]

_IRREGULAR = {"person": "people", "other person": "other people", "class": "classes", "query": "queries"}


def counted(n: int, one: str, many: str | None = None) -> str:
    """Write a number and what is counted; ``many`` is what stands after every number but one.

    >>> counted(1, "record"), counted(2_000, "record"), counted(0, "person")
    ('1 record', '2,000 records', '0 people')
    >>> counted(1, "person fits", "people fit")
    '1 person fits'
    """
    if n == 1:
        return f"1 {one}"
    return f"{n:,} {many if many is not None else _IRREGULAR.get(one, f'{one}s')}"
