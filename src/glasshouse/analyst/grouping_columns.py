# SPDX-License-Identifier: Apache-2.0
"""Grouping columns: the values for which a question is answered apart, and which cells can hold each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from glasshouse.analyst.proportions import Places, Proportions
from glasshouse.analyst.supports import OrMissing, Span, number_of, value_at
from glasshouse.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.analyst.supports import Support

__all__ = ["GroupingColumn"]


@dataclass(frozen=True, eq=False)
class GroupingColumn:
    """One quasi-identifier of a GROUP BY: its values in order, None (a missing one) last, and what cells stand for."""

    values: tuple[Any, ...]
    proportions: Proportions

    @classmethod
    def of(cls, name: str, kind: str, supports: Sequence[Support], most: int) -> GroupingColumn:
        """Read the cells of an attribute; refused if there are more than ``most`` values, or they cannot be listed.

        Whole numbers and days are handled as ranges, so that wide cells cost no more than narrow ones.
        """
        supports = [support.spelled_out for support in supports]
        spans = [span for support in supports if (span := _span(support, kind)) is not None]
        listed = [support.listed() for support in supports if _span(support, kind) is None]
        if any(high - low >= most for low, high in spans) or any(own is None or len(own) > most for own in listed):
            raise InputError(f"GROUP BY {name}: its cells hold too many values to list; ask with BETWEEN")
        known = {value: None for own in listed for value in own or ()}
        gaps = None in known or any(isinstance(support, OrMissing) for support in supports)
        known.pop(None, None)
        if spans:
            numbers = (int(number_of(value, kind)) for value in known)
            spans += [(number, number) for number in numbers]
            found = [value_at(number, kind) for number in _union(spans, most, name)]
        else:
            found = sorted(known, key=lambda value: (str(type(value)), value))
        values = (*found, *([None] if gaps else []))
        return cls(values, Proportions.of(supports, Places(values, kind)))


def _span(support: Support, kind: str) -> tuple[int, int] | None:
    """The first and last whole number of a cell that is a range of them."""
    inner = support.support if isinstance(support, OrMissing) else support
    if not isinstance(inner, Span) or kind not in ("integer", "date"):
        return None
    return int(inner.low), int(inner.high)


def _union(spans: Sequence[tuple[int, int]], most: int, name: str) -> list[int]:
    """All whole numbers that lie in some range, ascending."""
    numbers: list[int] = []
    for low, high in sorted(spans):
        first = low if not numbers else max(low, numbers[-1] + 1)
        if high - first + 1 + len(numbers) > most:
            raise InputError(f"GROUP BY {name} would give more than {most:,} rows: ask with BETWEEN")
        numbers.extend(range(first, high + 1))
    return numbers
