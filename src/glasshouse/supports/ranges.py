# SPDX-License-Identifier: Apache-2.0
"""Ranges: a sensitive column whose values are ranges of numbers, such as ``[30, 40)``, and the ends of these ranges."""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from glasshouse.cells.parsing import Interval, parse
from glasshouse.errors import DomainError
from glasshouse.supports.value_sets import ValueSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Range", "ranges_in", "ranges_within"]


class Range(NamedTuple):
    """A range of numbers; an end is infinite if the range is open there."""

    low: float
    high: float
    closed_low: bool = True  # whether the lower end itself is in the range
    closed_high: bool = False

    @property
    def numbers(self) -> ValueSet:
        """The numbers in the range."""
        low, high = (end if isfinite(end) else None for end in (self.low, self.high))
        return ValueSet.between(low, high, closed=(self.closed_low, self.closed_high))

    def told_apart(self, name: str) -> str:
        """Two conditions that do not divide the range.

        >>> Range(30, 40).told_apart("age"), Range(-inf, 30).told_apart("age")
        ('age < 30 or age >= 30', 'age < 30 or age >= 30')
        """
        end, before = (self.low, self.closed_low) if isfinite(self.low) else (self.high, not self.closed_high)
        below, above = ("<", ">=") if before else ("<=", ">")
        return f"{name} {below} {end:g} or {name} {above} {end:g}"


def ranges_in(values: Sequence[Any]) -> tuple[Range | None, ...]:
    """The range that each value is, None for a missing value; nothing if some value is no range of numbers.

    >>> [one and one[:2] for one in ranges_in(["[30, 40)", "(-inf, 30)", None])]
    [(30.0, 40.0), (-inf, 30.0), None]
    >>> ranges_in(["20-29", "30"]), ranges_in([None])
    ((), ())
    """
    found: list[Range | None] = []
    for value in values:
        cell = None if value is None else parse(str(value), kind="float")
        if not isinstance(cell, Interval | None):
            return ()
        if cell is not None:
            low, high = -inf if cell.low is None else cell.low, inf if cell.high is None else cell.high
            found.append(Range(low, high, cell.closed_low, cell.closed_high))
        else:
            found.append(None)
    return tuple(found) if any(found) else ()


def ranges_within(name: str, ranges: Mapping[str, Range], wanted: ValueSet) -> ValueSet:
    """The ranges of a column whose numbers are in a set; refused if some range is only partly in it.

    >>> print(ranges_within("age", {"[30, 40)": Range(30, 40), "[40, 50)": Range(40, 50)}, ValueSet.below(40)))
    {"[30, 40)"}
    """
    found: list[str | None] = [None] if None in wanted else []
    for label, one in ranges.items():
        if not (one.numbers & wanted).is_empty:
            if not (one.numbers & ~wanted).is_empty:
                raise DomainError(
                    f"column {name!r} contains ranges of numbers, and the condition divides the range {label!r}: the "
                    "release does not show where in a range people are. Write the condition with ends of ranges, such "
                    f"as {one.told_apart(name)}",
                    column=name,
                    values=[label],
                )
            found.append(label)
    return ValueSet.of(found)
