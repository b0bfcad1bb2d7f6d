# SPDX-License-Identifier: Apache-2.0
"""Proportions: how much of every published cell the questions of a workload cover.

A workload's domains are lists of values that everybody knows. A cell stands for those of them that lie in it, each as
likely as any other: a question covers the part of a cell whose values it asks for.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.analyst.supports import Endless, OrMissing, Prefix, Span, number_of
from glasshouse.cells import key_of, zoned
from glasshouse.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.supports import Support

__all__ = ["Places", "Proportions"]


class Places:
    """Where the values of a domain stand in it, by their texts; a missing value is none of these texts.

    >>> Places(["a", "b", None], "category").of("b")
    1
    """

    def __init__(self, values: Sequence[Any], kind: str) -> None:
        self._by_text = {_key(value): place for place, value in enumerate(values)}
        on_line = kind not in ("category", "boolean")
        numbered = [(number_of(v, kind), i) for i, v in enumerate(values) if v is not None] if on_line else []
        numbered.sort()
        self._numbers = [number for number, _ in numbered]
        self._in_order = [place for _, place in numbered]
        self._values = values
        self._zoned = {zoned(value) for value in values if value is not None and kind == "timestamp"}
        self._ascending = self._in_order == list(range(len(numbered)))

    def of(self, value: Any) -> int | None:
        """The place of one value; nothing if the domain lacks it."""
        return self._by_text.get(_key(value))

    def inside(self, support: Support) -> list[range]:
        """The places of the values that a cell stands for: ascending runs of them."""
        if isinstance(support, OrMissing):
            missing = self.of(None)
            runs = self.inside(support.support)
            return runs if missing is None else [*runs, range(missing, missing + 1)]  # missing is the last value
        if isinstance(support, Span):
            if self._zoned and self._zoned != {support.zoned}:
                raise InputError(
                    "the times of the release have offsets and those of the workload have none, or the reverse"
                )
            first = (bisect_left if support.closed_low else bisect_right)(self._numbers, support.low)
            last = (bisect_right if support.closed_high else bisect_left)(self._numbers, support.high)
            if self._ascending:
                return [range(first, last)] if first < last else []
            return _runs(sorted(self._in_order[first:last]))
        if isinstance(support, Endless):
            extent = support.extent()
            return _runs([i for i, value in enumerate(self._values) if value is not None and value in extent])
        if isinstance(support, Prefix):
            return _runs([place for text, place in self._by_text.items() if text is not None and support.covers(text)])
        return _runs(sorted(place for value in support.listed() or () if (place := self.of(value)) is not None))


def _runs(places: Sequence[int]) -> list[range]:
    """Put neighbouring places together."""
    found: list[range] = []
    for place in places:
        if found and found[-1].stop == place:
            found[-1] = range(found[-1].start, place + 1)
        else:
            found.append(range(place, place + 1))
    return found


def _key(value: Any) -> str | None:
    return None if value is None else key_of(value)


@dataclass(frozen=True, eq=False)
class Proportions:
    """The values of each cell of one attribute as runs of places in its domain.

    Attributes
    ----------
    lows, highs
        Every run: the places from one up to, not including, the other.
    firsts
        The first run of every cell.
    sizes
        How many values every cell stands for.
    """

    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    firsts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, supports: Iterable[Support], places: Places) -> Proportions:
        """Read what cells stand for; one that stands for no value of the domain is refused."""
        lows: list[int] = []
        highs: list[int] = []
        firsts: list[int] = []
        sizes: list[int] = []
        for support in supports:
            inside = places.inside(support)
            if not inside:
                raise InputError("a cell of the release has no value of the workload's domain: is it another table's?")
            firsts.append(len(lows))
            sizes.append(sum(map(len, inside)))
            lows.extend(run.start for run in inside)
            highs.extend(run.stop for run in inside)
        return cls(*(np.array(numbers, np.int64) for numbers in (lows, highs, firsts, sizes)))

    def __len__(self) -> int:
        return len(self.firsts)

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
