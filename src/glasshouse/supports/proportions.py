# SPDX-License-Identifier: Apache-2.0
"""Proportions: the values of a known domain that every published cell stands for, and the share in a question.

A domain is a list of values that everybody knows. A cell stands for those of them that lie in it, each as likely as any
other: a question covers the part of a cell whose values it asks for. Where it asks for every value apart (GROUP BY),
the domain is what some cell stands for: a `GroupingColumn`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.cells import key_of, zoned
from glasshouse.errors import InputError
from glasshouse.supports.supports import Endless, OrMissing, Prefix, Span, number_of, value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from glasshouse.supports.supports import Support

__all__ = ["GroupingColumn", "Places", "Proportions"]


class Places:
    """The positions of values in a domain, by their texts; a missing value has none of these texts.

    >>> Places(["a", "b", None], "category").of("b")
    1
    """

    def __init__(self, values: Sequence[Any], kind: str) -> None:
        self._values = values
        self._kind = kind
        self._zoned = {zoned(value) for value in values if value is not None and kind == "timestamp"}

    @cached_property
    def _by_text(self) -> dict[str | None, int]:
        return {None if value is None else key_of(value): place for place, value in enumerate(self._values)}

    @cached_property
    def _on_line(self) -> tuple[list[Any], list[int]]:
        """Where the values lie on their line, ascending, and the place of each."""
        numbered = sorted((number_of(v, self._kind), i) for i, v in enumerate(self._values) if v is not None)
        return [number for number, _ in numbered], [place for _, place in numbered]

    @cached_property
    def _ascend(self) -> bool:
        return self._on_line[1] == list(range(len(self._on_line[1])))

    def of(self, value: Any) -> int | None:
        """The place of one value; nothing if the domain lacks it."""
        return self._by_text.get(None if value is None else key_of(value))

    def inside(self, support: Support) -> list[range]:
        """The positions of the values that a cell stands for, as ascending runs."""
        if isinstance(support, OrMissing):
            missing = self.of(None)
            runs = self.inside(support.support)
            return runs if missing is None else [*runs, range(missing, missing + 1)]  # missing is the last value
        if isinstance(support, Span):
            return self._within(support)
        if isinstance(support, Endless):
            extent = support.extent()
            return _runs([i for i, value in enumerate(self._values) if value is not None and value in extent])
        if isinstance(support, Prefix):
            return _runs([place for text, place in self._by_text.items() if text is not None and support.covers(text)])
        return _runs(sorted(place for value in support.listed() or () if (place := self.of(value)) is not None))

    def _within(self, span: Span) -> list[range]:
        if self._zoned and self._zoned != {span.zoned}:
            raise InputError(
                "the times of the release have an offset from UTC and the times in the question have none, or "
                "the other way round: write them in the same way"
            )
        numbers, places = self._on_line
        first = (bisect_left if span.closed_low else bisect_right)(numbers, span.low)
        last = (bisect_right if span.closed_high else bisect_left)(numbers, span.high)
        if self._ascend:
            return [range(first, last)] if first < last else []
        return _runs(sorted(places[first:last]))


def _runs(places: Sequence[int]) -> list[range]:
    """Merge neighbouring positions."""
    found: list[range] = []
    for place in places:
        if found and found[-1].stop == place:
            found[-1] = range(found[-1].start, place + 1)
        else:
            found.append(range(place, place + 1))
    return found


@dataclass(frozen=True, eq=False)
class Proportions:
    """The values of each cell of one attribute as runs of places in its domain."""

    lows: NDArray[np.int64]  # every run: the places from one up to, not including, the other
    highs: NDArray[np.int64]
    firsts: NDArray[np.int64]  # the first run of every cell
    sizes: NDArray[np.int64]  # how many values every cell stands for

    @classmethod
    def of(cls, supports: Iterable[Support], places: Places) -> Proportions:
        """Determine what cells stand for; refused if a cell stands for no value of the domain."""
        runs = [places.inside(support) for support in supports]
        if not all(runs):
            raise InputError(
                "a cell of the release contains none of the values that the list of questions (workload) was made "
                "for: check that it was made for this table"
            )
        firsts = np.cumsum([0, *map(len, runs)])[:-1]
        sizes = [sum(map(len, inside)) for inside in runs]
        ends = [[getattr(run, end) for inside in runs for run in inside] for end in ("start", "stop")]
        return cls(*(np.array(numbers, np.int64) for numbers in (*ends, firsts, sizes)))

    def __len__(self) -> int:
        return len(self.firsts)

    @cached_property
    def _cells(self) -> NDArray[np.intp]:
        """The cell of every run."""
        return np.repeat(np.arange(len(self)), np.diff(self.firsts, append=len(self.lows)))

    def covered(self, wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The part of every cell that every question covers (cells x questions); ``wanted`` is questions x values."""
        before = np.zeros((wanted.shape[1] + 1, wanted.shape[0]))
        np.cumsum(wanted.T, axis=0, out=before[1:])
        found = before[self.highs]
        found -= before[self.lows]
        if len(self.lows) > len(self.firsts):
            found = np.add.reduceat(found, self.firsts, axis=0)
        found /= self.sizes[:, np.newaxis]
        return found

    def shares(self, place: int) -> NDArray[np.float64]:
        """The probability that each cell stands for the value at one position."""
        found = np.zeros(len(self))
        inside = self._cells[(self.lows <= place) & (place < self.highs)]
        found[inside] = 1 / self.sizes[inside]
        return found


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
        if any(support.is_open for support in supports):
            raise InputError(
                f"GROUP BY {name} is not possible, because some of its cells end in stars, and the release does not "
                "say which texts they stand for: ask for one published cell at a time, as it is written, with WHERE, "
                f"or give all values of the column in their order (ordered={{{name!r}: [...]}})"
            )
        spans = [span for support in supports if (span := _span(support, kind)) is not None]
        listed = [support.listed() for support in supports if _span(support, kind) is None]
        if any(high - low >= most for low, high in spans) or any(own is None or len(own) > most for own in listed):
            raise InputError(
                f"GROUP BY {name} is not possible, because its cells contain too many values to list: ask with BETWEEN"
            )
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
