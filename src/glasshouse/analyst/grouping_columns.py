# SPDX-License-Identifier: Apache-2.0
"""Grouping columns: the values for which a question is answered apart, and which cells can hold each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.analyst.supports import OrMissing, Span, number_of, value_at
from glasshouse.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.supports import Support

__all__ = ["GroupingColumn"]


@dataclass(frozen=True, eq=False)
class GroupingColumn:
    """One quasi-identifier of a GROUP BY: its values, and every cell as runs of their places.

    Attributes
    ----------
    values
        What a cell may stand for, in order; None, a missing value, comes last.
    lows, highs, cells
        Every run: the places from one up to, not including, the other, and the cell that has it.
    sizes
        How many values each cell stands for.
    """

    values: tuple[Any, ...]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    cells: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, name: str, kind: str, supports: Sequence[Support], most: int) -> GroupingColumn:
        """Read the cells of an attribute; refused if there are more than ``most`` values, or they cannot be listed.

        Whole numbers and days are handled as ranges, so that wide cells cost no more than narrow ones.
        """
        spans = [_span(support, kind) for support in supports]
        listed = [() if span else tuple(s.listed() or ()) for span, s in zip(spans, supports, strict=True)]
        gaps = [isinstance(s, OrMissing) if span else None in own for s, span, own in
                zip(supports, spans, listed, strict=True)]  # fmt: skip
        for support, span in zip(supports, spans, strict=True):
            values = None if span else support.listed()
            if (span is None and values is None) or (span and span[1] - span[0] >= most) or len(values or ()) > most:
                raise InputError(f"GROUP BY {name}: its cells hold too many values to list; ask with BETWEEN")
        place: dict[Any, int]
        if any(spans):
            others = {int(number_of(value, kind)) for own in listed for value in own if value is not None}
            numbers = _union([*filter(None, spans), *((number, number) for number in others)], most, name)
            place = {number: i for i, number in enumerate(numbers)}
            found = [value_at(number, kind) for number in numbers]
            keyed = [[int(number_of(value, kind)) for value in own if value is not None] for own in listed]
        else:
            known = dict.fromkeys(value for own in listed for value in own if value is not None)
            found = sorted(known, key=lambda value: (str(type(value)), value))
            place = {value: i for i, value in enumerate(found)}
            keyed = [[value for value in own if value is not None] for own in listed]
        last = len(found)
        runs: list[tuple[int, int, int]] = []
        sizes = np.zeros(len(supports), np.int64)
        for cell, (span, own, gap) in enumerate(zip(spans, keyed, gaps, strict=True)):
            own_runs = [(place[span[0]], place[span[1]] + 1)] if span else _runs(sorted(place[key] for key in own))
            own_runs += [(last, last + 1)] if gap else []
            runs += [(low, high, cell) for low, high in own_runs]
            sizes[cell] = sum(high - low for low, high in own_runs)
        lows, highs, cells = np.array(runs, np.int64).reshape(-1, 3).T
        return cls((*found, *([None] if any(gaps) else [])), lows.copy(), highs.copy(), cells.copy(), sizes)

    def shares(self, place: int) -> NDArray[np.float64]:
        """How likely each cell stands for one of the values."""
        found = np.zeros(len(self.sizes))
        inside = self.cells[(self.lows <= place) & (place < self.highs)]
        found[inside] = 1 / self.sizes[inside]
        return found


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


def _runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Put neighbouring places together: the first of every run, and the one after its last."""
    found: list[tuple[int, int]] = []
    for place in places:
        if found and found[-1][1] == place:
            found[-1] = (found[-1][0], place + 1)
        else:
            found.append((place, place + 1))
    return found
