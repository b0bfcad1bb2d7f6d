# SPDX-License-Identifier: Apache-2.0
"""The text of a value: how numbers, dates, times and truth values are written, here and everywhere else."""

from __future__ import annotations

import datetime as dt
from typing import Any

__all__ = ["key_of", "settled", "text_of"]


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
    """The text by which values are told apart: a moment has the same key whichever offset it is written with.

    >>> berlin = dt.timezone(dt.timedelta(hours=2))
    >>> key_of(dt.datetime(2024, 5, 1, 14, tzinfo=berlin)) == key_of(dt.datetime(2024, 5, 1, 12, tzinfo=dt.UTC))
    True
    """
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return text_of(value.astimezone(dt.UTC))
    return text_of(value)


def settled(value: Any) -> Any:
    """Give a time of a zone its offset instead of the zone, so that different moments are different values.

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
