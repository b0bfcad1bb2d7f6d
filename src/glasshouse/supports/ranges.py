# SPDX-License-Identifier: Apache-2.0
"""Ranges: a sensitive column whose values are ranges of numbers, such as ``[30, 40)``, and the ends of these ranges."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from glasshouse.cells.parsing import Interval, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Range", "ranges_in"]


class Range(NamedTuple):
    """The lower and the upper end of a range, which are infinite if the range is open there."""

    low: float
    high: float


def ranges_in(values: Sequence[Any]) -> tuple[Range | None, ...]:
    """The range that each value is, None for a missing value; nothing if some value is no range of numbers.

    >>> ranges_in(["[30, 40)", "(-inf, 30)", None])
    (Range(low=30.0, high=40.0), Range(low=-inf, high=30.0), None)
    >>> ranges_in(["20-29", "30"]), ranges_in([None])
    ((), ())
    """
    found: list[Range | None] = []
    for value in values:
        cell = None if value is None else parse(str(value), kind="float")
        if not isinstance(cell, Interval | None):
            return ()
        found.append(
            None
            if cell is None
            else Range(-inf if cell.low is None else cell.low, inf if cell.high is None else cell.high)
        )
    return tuple(found) if any(found) else ()
