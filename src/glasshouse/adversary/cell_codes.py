# SPDX-License-Identifier: Apache-2.0
"""Codes of cells: which values of the attacker's list a published cell may stand for.

Cells are read by `glasshouse.cells`. One that cannot be read is not one that fits nobody: the attack is refused, for a
group that cannot be read might hold anybody.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.cells import (
    Anything,
    Cell,
    Grammar,
    Interval,
    Missing,
    Node,
    OrMissing,
    Period,
    Prefix,
    Set,
    Unreadable,
    Value,
    key_of,
    place_of,
    zoned,
)
from glasshouse.cells.values import LINE
from glasshouse.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.domains import Domain
    from glasshouse.release.contents import Seats

__all__ = ["CellReader", "codes_of_cells"]


def codes_of_cells(domain: Domain, seats: Seats, name: str) -> list[range | NDArray[np.int32]]:
    """The codes that every different cell of an attribute may stand for; a cell that cannot be read is refused."""
    place = seats.quasi.index(name)
    reader = CellReader(domain, foreign=seats.foreign)
    read = [reader.read(text) for text in seats.cells[place]]
    wrong = {i: cell for i, cell in enumerate(read) if isinstance(cell, Unreadable)}
    if wrong:
        shown = np.isin(seats.of_seat[place], list(wrong))
        raise DomainError.unreadable(
            name,
            [cell.text for cell in wrong.values()],
            n_records=int(seats.count[shown].sum()),
            reason=next(iter(wrong.values())).reason,
            consequence="The attack would leave out the people in these records: read the external table with the "
            "taxonomy or the order of the column (taxonomies=, ordered=)",
        )
    return [reader.codes_of(cell) for cell in read]


@dataclass(eq=False)
class CellReader:
    """Reads the cells of one attribute, against the values on the attacker's list, with their order or taxonomy.

    If they are ``foreign``, another tool may have written them, so that ``a|b`` and ``a,b`` are sets.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from glasshouse.microdata.domains import code
    >>> ages = CellReader(code(pa.array([21, 35, 40, 60]), name="age").domain)
    >>> ages.codes("[21, 40]").tolist(), ages.codes("[21, 40)").tolist(), ages.codes("*").tolist()
    ([0, 1, 2], [0, 1], [0, 1, 2, 3])
    >>> sexes = CellReader(code(pa.array(["F", "M"]), name="sex").domain)
    >>> sexes.codes("{F, M}").tolist(), sexes.codes("M").tolist(), sexes.codes("X").tolist()
    ([0, 1], [1], [])
    """

    domain: Domain
    foreign: bool = True

    def codes(self, cell: str) -> NDArray[np.int32]:
        """The codes of the values that the cell stands for, ascending; empty if the list has none."""
        read = self.read(cell)
        if isinstance(read, Unreadable):
            name = self.domain.name
            raise DomainError(
                f"column {name!r} has a cell that cannot be read, {read.text}: {read.reason}",
                column=name,
                values=[read.text],
            )
        return _array(self.codes_of(read))

    def read(self, text: str) -> Cell:
        """What a cell stands for, whatever values are on the list."""
        cell = self._grammar.parse(text)
        inner = cell.cell if isinstance(cell, OrMissing) else cell
        ends: tuple[Any, ...] = ()
        match inner:
            case Value(value):
                ends = (value,)
            case Set(values):
                ends = values
            case Interval(low, high):
                ends = tuple(end for end in (low, high) if end is not None)
        moments = [end for end in ends if isinstance(end, dt.datetime)]
        if moments and any(zoned(moment) != (self._zone is not None) for moment in moments):
            return Unreadable(
                text,
                "its times have an offset from UTC and the times in the external table have none, or the "
                "other way round",
            )
        return cell

    def codes_of(self, cell: Cell) -> range | NDArray[np.int32]:
        """The codes of what a cell stands for; consecutive codes are given as a range, which saves memory."""
        match cell:
            case OrMissing(inner):
                found = _array(self.codes_of(inner))
                gap = self._missing()
                return found if len(gap) and len(found) and found[-1] == gap[0] else np.concatenate([found, gap])
            case Missing():
                return self._missing()
            case Anything():
                return range(self.domain.size)
            case Value(value):
                return self._known([value])
            case Set(values):
                return self._known(values)
            case Node(label):
                first, last = self._ranges[label]
                return range(first, last + 1)
            case Prefix(start, _):
                return self._beginning(start, cell)
            case Interval(low, high, closed_low, closed_high):
                return self._between(low, high, closed=(closed_low, closed_high))
            case Period(start, stop):
                return self._between(self._on_clock(start), self._on_clock(stop), closed=(True, False))
        raise AssertionError(cell)

    @cached_property
    def _grammar(self) -> Grammar:
        return Grammar(
            kind=self.domain.kind,
            order=self.domain.order,
            taxonomy=self._ranges,
            known=dict(zip(self.domain.texts, self._values, strict=True)),
            joined=self.foreign,
        )

    @cached_property
    def _values(self) -> list[Any]:
        return list(self.domain.values.to_pylist())

    @cached_property
    def _ranges(self) -> dict[str, tuple[int, int]]:
        """The first and last code of each node of the taxonomy, by the node's label."""
        tree = self.domain.taxonomy
        if tree is None:
            return {}
        return {label: (first, last) for label, (first, last) in zip(tree.labels, tree.ranges.tolist(), strict=True)}

    @cached_property
    def _zone(self) -> dt.tzinfo | None:
        """The zone of the times on the list."""
        example = self._values[0] if self.domain.kind == "timestamp" and self._values else None
        return example.tzinfo if isinstance(example, dt.datetime) else None

    def _on_clock(self, end: Any) -> Any:
        """The beginning of a period by the clock that the times on the list are of."""
        if self._zone is None or zoned(end):
            return end
        at = end if isinstance(end, dt.datetime) else dt.datetime.combine(end, dt.time.min)
        return at.replace(tzinfo=self._zone)

    def _missing(self) -> NDArray[np.int32]:
        return np.array([self.domain.missing_code] if self.domain.missing else [], np.int32)

    def _known(self, values: Sequence[Any]) -> NDArray[np.int32]:
        found = {self._codes.get(self._key(value)) for value in values}
        return np.array(sorted(code for code in found if code is not None), np.int32)

    @cached_property
    def _codes(self) -> dict[Any, int]:
        return {self._key(value): code for code, value in enumerate(self._values)}

    def _key(self, value: Any) -> Any:
        """The key by which two values are compared: their position on the line, or their text."""
        return place_of(value, self.domain.kind) if self.domain.kind in LINE else key_of(value)

    @cached_property
    def _texts(self) -> tuple[list[str], NDArray[np.int32]]:
        """All texts in their order, and their codes."""
        order = sorted(range(len(self._values)), key=self.domain.texts.__getitem__)
        return [self.domain.texts[code] for code in order], np.array(order, np.int32)

    def _beginning(self, start: str, prefix: Prefix) -> NDArray[np.int32]:
        texts, codes = self._texts
        first, last = bisect_left(texts, start), bisect_right(texts, start + chr(0x10FFFF))
        return np.sort(codes[[i for i in range(first, last) if prefix.covers(texts[i])]])

    @cached_property
    def _line(self) -> tuple[list[Any], NDArray[np.int32], bool]:
        """The positions of all values, ascending, with their codes; and whether the codes ascend too.

        Values lie as they were declared to, or in their own order.
        """
        at = [self._at(value) for value in self._values]
        order = sorted(range(len(at)), key=at.__getitem__)
        return [at[code] for code in order], np.array(order, np.int32), order == list(range(len(at)))

    def _at(self, value: Any) -> Any:
        if self.domain.order is None:
            return place_of(value, self.domain.kind)
        return self._grammar.rank_of(value)

    def _between(self, low: Any, high: Any, *, closed: tuple[bool, bool]) -> range | NDArray[np.int32]:
        places, codes, follow = self._line
        start = 0 if low is None else (bisect_left if closed[0] else bisect_right)(places, self._at(low))
        stop = len(places) if high is None else (bisect_right if closed[1] else bisect_left)(places, self._at(high))
        return range(start, max(start, stop)) if follow else np.sort(codes[start : max(start, stop)])


def _array(codes: range | NDArray[np.int32]) -> NDArray[np.int32]:
    return np.arange(codes.start, codes.stop, dtype=np.int32) if isinstance(codes, range) else codes
