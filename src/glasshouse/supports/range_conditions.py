# SPDX-License-Identifier: Apache-2.0
"""Conditions on a column of ranges: which ranges lie in a set of numbers or days, if none lies only partly in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshouse.errors import DomainError
from glasshouse.supports.value_sets import ValueSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.cells.ranges import Range

__all__ = ["ranges_within"]


def ranges_within(name: str, ranges: Mapping[str, Range], wanted: ValueSet) -> ValueSet:
    """The ranges of a column that are in a set; refused if some range is only partly in it.

    >>> from glasshouse.cells.ranges import Range
    >>> print(ranges_within("age", {"[30, 40)": Range(30, 40), "[40, 50)": Range(40, 50)}, ValueSet.below(40)))
    {"[30, 40)"}
    """
    found: list[str | None] = [None] if None in wanted else []
    for label, one in ranges.items():
        inside = ValueSet.between(one.low, one.high, closed=(one.closed_low, one.closed_high), whole=one.kind == "date")
        if not (inside & wanted).is_empty:
            if not (inside & ~wanted).is_empty:
                raise DomainError(
                    f"column {name!r} contains ranges, and the condition divides the range {label!r}: the "
                    "release does not show where in a range people are. Write the condition with an end of the range, "
                    f"as in {one.told_apart(name)}",
                    column=name,
                    values=[label],
                )
            found.append(label)
    return ValueSet.of(found)
