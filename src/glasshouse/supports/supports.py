# SPDX-License-Identifier: Apache-2.0
"""Supports: which values a published cell stands for, all equally likely to an analyst.

A cell hides where in it a record lies. An analyst assumes what the papers assume: every value in the cell is as likely
as any other (LeFevre et al. 2006; ANATOMY 4). Whole numbers and days are counted; other numbers and times are measured.
"""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.cells import (
    Anything,
    Cell,
    Grammar,
    Interval,
    Missing,
    Node,
    Period,
    Set,
    Unreadable,
    Value,
    place_of,
    text_of,
    zoned,
)
from glasshouse.cells import OrMissing as MissingToo
from glasshouse.cells import Prefix as Starred
from glasshouse.cells.values import LINE, OR_MISSING, NotAValue, value_of
from glasshouse.errors import DomainError, InputError, NotSupported
from glasshouse.supports.value_sets import Listing, ValueSet

if TYPE_CHECKING:
    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.release.contents import Seats

__all__ = ["CellSupports", "Endless", "Listed", "OrMissing", "Prefix", "Span", "Support", "number_of", "value_at"]

_MOST_STARS = 300  # beyond it nobody lists all that the stars stand for
_MOST_LISTED_STARS = 5
_CONSEQUENCE = (
    "The answer would leave out these records: give the taxonomy or the order of the column (taxonomies=, "
    "ordered=), or leave the column out of the question"
)


class Support(ABC):
    """The values that a cell stands for."""

    @abstractmethod
    def share(self, values: ValueSet) -> float:
        """The probability that the value is in a set of values."""

    @abstractmethod
    def moments(self, values: ValueSet) -> tuple[float, float]:
        """Mean of the value, and of its square, counted as 0 where it is not in the set or is missing."""

    @abstractmethod
    def listed(self) -> Sequence[Any] | None:
        """The values one by one, where they can be listed."""

    def extremes(self, values: ValueSet) -> tuple[float, float]:
        """The least and the largest share that may be in a set; they differ where nobody knows which values exist."""
        share = self.share(values)
        return share, share

    @property
    def is_open(self) -> bool:
        """Whether nobody knows which of the values exist, so that the share of some of them may be anything."""
        return False

    def unknown(self) -> InputError:
        """The error if a question depends on which of the values exist."""
        raise AssertionError(self)

    @property
    def spelled_out(self) -> Support:
        """The same, with all digits in the place of stars, where these can be listed."""
        return self


@dataclass(frozen=True, slots=True)
class Listed(Support):
    """Some values, all equally likely; None is a missing value.

    >>> from glasshouse.supports.value_sets import ValueSet
    >>> Listed(("F", "M")).share(ValueSet.of(["F"]))
    0.5
    """

    values: tuple[Any, ...]

    def share(self, values: ValueSet) -> float:
        """The share of the values in a set, by counting."""
        return sum(value in values for value in self.values) / len(self.values)

    def moments(self, values: ValueSet) -> tuple[float, float]:
        """The mean and mean square over a set, by summing."""
        found = [float(value) for value in self.values if value is not None and value in values]
        return sum(found) / len(self.values), sum(v * v for v in found) / len(self.values)

    def listed(self) -> Sequence[Any]:
        """The values."""
        return self.values


@dataclass(frozen=True, slots=True)
class Span(Support):
    """Everything from one number, day or moment to another; the ends are included by default.

    Ends are numbers: days of dates since the year 1, microseconds of timestamps. Whole numbers and days are counted,
    and then both ends are in it.

    >>> from glasshouse.supports.value_sets import ValueSet
    >>> Span(21, 60, "integer").share(ValueSet.between(21, 24)), Span(0, 10, "float").share(ValueSet.between(0, 4))
    (0.1, 0.4)
    """

    low: Any
    high: Any
    kind: str
    closed_low: bool = True
    closed_high: bool = True
    zoned: bool = False

    @property
    def _counted(self) -> bool:
        return self.kind in ("integer", "date")

    def share(self, values: ValueSet) -> float:
        """The share in a set, by counting or measuring."""
        return self._bounded(values, 0)

    def moments(self, values: ValueSet) -> tuple[float, float]:
        """The mean and mean square over a set, by summing or integrating."""
        return self._bounded(values, 1), self._bounded(values, 2)

    def _bounded(self, values: ValueSet, power: int) -> float:
        try:
            return self._moment(values, power)
        except OverflowError:
            raise InputError(
                "a cell of the release has numbers that are too large to calculate with: leave its column out of the "
                "question"
            ) from None

    def _moment(self, values: ValueSet, power: int) -> float:
        if self.low == self.high:
            return float(self.low) ** power if value_at(self.low, self.kind, zoned=self.zoned) in values else 0.0
        total = 0.0
        for low, high, closed_low, closed_high in values.intervals():
            start = self.low if low is None else number_of(low, self.kind)
            stop = self.high if high is None else number_of(high, self.kind)
            if self._counted:
                first = max(self.low, ceil(start) + (low is not None and not closed_low and start == ceil(start)))
                last = min(self.high, floor(stop) - (high is not None and not closed_high and stop == floor(stop)))
                total += _sum_of_powers(int(first), int(last), power) if first <= last else 0.0
            else:
                start, stop = max(self.low, start), min(self.high, stop)
                if start < stop:
                    total += (float(stop) ** (power + 1) - float(start) ** (power + 1)) / (power + 1)
        return total / (float(self.high - self.low) + self._counted)

    def listed(self) -> Sequence[Any] | None:
        """Every whole number or day; nothing for what is measured."""
        if not self._counted:
            point = [value_at(self.low, self.kind, zoned=self.zoned)]
            return point if self.low == self.high else None
        return _Steps(int(self.low), int(self.high), self.kind)


@dataclass(frozen=True, slots=True)
class _Steps(Sequence[Any]):
    """Whole numbers or days from one to another."""

    first: int
    last: int
    kind: str

    def __len__(self) -> int:
        return self.last - self.first + 1

    def __getitem__(self, place: Any) -> Any:
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return value_at(self.first + place % len(self), self.kind)


@dataclass(frozen=True, slots=True)
class Endless(Support):
    """Everything above or below a value, or everything: the ends are unknown.

    A question is answered if it asks for all of it or for nothing of it, and refused otherwise.

    >>> from glasshouse.supports.value_sets import ValueSet
    >>> Endless("age", 80, None).share(ValueSet.above(60)), Endless("age", 80, None).share(ValueSet.below(80))
    (1.0, 0.0)
    """

    name: str
    low: Any = None
    high: Any = None
    closed_low: bool = True
    closed_high: bool = True

    def share(self, values: ValueSet) -> float:
        """1 or 0 if the set contains all or none of it; refused otherwise."""
        extent = self.extent(whole=values.whole)
        if not (extent & values).has_values:
            return 0.0
        if (extent & ~values).has_values:
            raise self._unknown()
        return 1.0

    def moments(self, values: ValueSet) -> tuple[float, float]:
        """0 if the set contains nothing of it; refused otherwise."""
        if (self.extent(whole=values.whole) & values).has_values:
            raise self._unknown()
        return 0.0, 0.0

    def extent(self, *, whole: bool = False) -> ValueSet:
        """The set of its values."""
        return ValueSet.between(self.low, self.high, closed=(self.closed_low, self.closed_high), whole=whole)

    def listed(self) -> None:
        """Nothing: the values cannot be listed."""
        return

    def _unknown(self) -> InputError:
        return InputError(
            f"column {self.name!r} has cells that are open at one end or fully suppressed, and nothing says "
            "where its values end: ask a question that includes either all values of such a cell or "
            f"none of them, or give all values of the column in their order (ordered={{{self.name!r}: [...]}})"
        )


@dataclass(frozen=True, slots=True)
class Prefix(Support):
    """Texts with the same beginning, followed by a given number of digits or other characters: ``476**``.

    Nobody says which of them exist, so the share of some of them may be anything: a question is answered if it includes
    all of them or none of them. `extremes` says what is possible.

    >>> from glasshouse.supports.value_sets import ValueSet
    >>> Prefix("476", 2).extremes(ValueSet.of(["47601", "10001"])), Prefix("476", 2).share(ValueSet.of(["10001"]))
    ((0.0, 1.0), 0.0)
    """

    start: str
    stars: int
    digits: bool = True
    name: str = ""
    shown: tuple[Support, ...] | None = None  # what other cells stand for, if this one is ``*`` and stands for them all

    @property
    def is_open(self) -> bool:
        """Always: of the texts with one beginning some may not exist."""
        return True

    def share(self, values: ValueSet) -> float:
        """1 or 0 if the set contains all or none of the texts; refused otherwise."""
        least, most = self.extremes(values)
        if least < most:
            raise self.unknown()
        return least

    def extremes(self, values: ValueSet) -> tuple[float, float]:
        """1 and 1, or 0 and 0, if the set contains all or none of the texts; 0 and 1 otherwise."""
        pieces = values.pieces()
        if isinstance(pieces, Listing):
            inside = {text for text in map(text_of, pieces.values) if self.covers(text)}
            full = sum(
                len(text) == len(self.start) + self.stars and text[len(self.start) :].isdigit() for text in inside
            )
            every = self.digits and self.stars <= _MOST_STARS and full == 10**self.stars
            least, most = float(every), float(bool(inside))
            return (1 - most, 1 - least) if pieces.cofinite else (least, most)
        extent = ValueSet.between(self.start, self.start + chr(0x10FFFF))
        return float(not (extent & ~values).has_values), float((extent & values).has_values)

    def moments(self, values: ValueSet) -> tuple[float, float]:
        """Nothing: texts have no moments."""
        raise InputError("a sum is only possible for a column of numbers")

    def covers(self, text: str) -> bool:
        """Whether a text begins so and is no longer than the cell."""
        return text.startswith(self.start) and len(text) <= len(self.start) + self.stars

    def listed(self) -> None:
        """Nothing: nobody knows which of the texts exist."""
        return

    @property
    def spelled_out(self) -> Support:
        """All that begin so and go on with digits; the same where there are too many, or other characters."""
        if self.shown is not None:
            found = [support.spelled_out.listed() for support in self.shown]
            known = dict.fromkeys(value for own in found for value in own or () if value is not None)
            return self if any(own is None for own in found) else Listed(tuple(known))
        if not self.digits or self.stars > _MOST_LISTED_STARS:
            return self
        return Listed(tuple(f"{self.start}{number:0{self.stars}}" for number in range(10**self.stars)))

    def unknown(self) -> InputError:
        """The error if it matters which texts exist."""
        return InputError(
            f"column {self.name!r} has cells that end in stars, and the release does not say which texts they stand "
            "for: ask a question that includes either all texts of such a cell or none of them, or give all values of "
            f"the column in their order (ordered={{{self.name!r}: [...]}})"
        )


@dataclass(frozen=True, slots=True)
class OrMissing(Support):
    """A support, or a missing value, which counts as one value more; beside what is measured, as half."""

    support: Support

    @property
    def is_open(self) -> bool:
        """Whether nobody knows which values other than missing exist."""
        return self.support.is_open

    @property
    def _weight(self) -> float:
        values = self.support.listed()
        return 0.5 if values is None else 1 / (len(values) + 1)

    def share(self, values: ValueSet) -> float:
        """The share in a set, with the missing value included."""
        share, missing = self.support.share(values), float(None in values)
        if self.is_open and share != missing:
            raise self.support.unknown()
        return (1 - self._weight) * share + self._weight * missing

    def extremes(self, values: ValueSet) -> tuple[float, float]:
        """The least and the largest share that may be in a set; missing is one more value that may or may not occur."""
        shares = (*self.support.extremes(values), float(None in values)) if self.is_open else (self.share(values),)
        return min(shares), max(shares)

    def moments(self, values: ValueSet) -> tuple[float, float]:
        """The moments over a set; a missing value contributes 0."""
        mean, square = self.support.moments(values)
        return (1 - self._weight) * mean, (1 - self._weight) * square

    def listed(self) -> Sequence[Any] | None:
        """The values, and a missing one."""
        values = self.support.listed()
        return None if values is None else [*values, None]

    @property
    def spelled_out(self) -> Support:
        """The support spelled out, or a missing value."""
        return OrMissing(self.support.spelled_out)


@dataclass(frozen=True, kw_only=True)
class CellSupports:
    """Reads the cells of one published column."""

    name: str  # of the column, as the release says
    kind: str
    order: Sequence[Any] | None = None  # the declared order of its categories, if cells are intervals of them
    taxonomy: Taxonomy | None = None  # the taxonomy that its cells are nodes of, if they are
    cells: Sequence[str] = ()  # all cells of the column, which ``*`` stands for
    foreign: bool = True  # whether another tool may have written the cells, so that ``a|b`` and ``a,b`` are sets

    def of(self, cell: str) -> Support:
        """What a cell stands for; refused if it cannot be read."""
        read = self.read(cell)
        if isinstance(read, Unreadable):
            raise DomainError.unreadable(
                self.name, [read.text], n_records=1, reason=read.reason, consequence=_CONSEQUENCE
            )
        return self.support(read)

    def of_all(self, seats: Seats) -> tuple[Support, ...]:
        """What every different cell of the column stands for; refused, with a count, if some cannot be read."""
        place = seats.quasi.index(self.name)
        read = [self.read(text) for text in seats.cells[place]]
        wrong = {i: cell for i, cell in enumerate(read) if isinstance(cell, Unreadable)}
        if wrong:
            raise DomainError.unreadable(
                self.name,
                [cell.text for cell in wrong.values()],
                n_records=int(seats.count[np.isin(seats.of_seat[place], list(wrong))].sum()),
                reason=next(iter(wrong.values())).reason,
                consequence=_CONSEQUENCE,
            )
        return tuple(map(self.support, read))

    def read(self, text: str) -> Cell:
        """Parse a cell."""
        return self._grammar.parse(text)

    def value(self, text: str) -> Any:
        """A value of the column by its text."""
        try:
            return value_of(text, self.kind)
        except NotAValue as reason:
            raise DomainError(
                f"column {self.name!r} has a value that cannot be read, {text}: {reason}",
                column=self.name,
                values=[text],
            ) from None

    def support(self, cell: Cell) -> Support:
        """What a cell that was read stands for."""
        match cell:
            case Missing():
                return Listed((None,))
            case MissingToo(inner):
                return OrMissing(self.support(inner))
            case Anything():
                return self._anything
            case Node(label):
                return Listed(tuple(self.value(leaf) for leaf in self._leaves[label]))
            case Set(values):
                return Listed(values)
            case Value(value):
                return self._span(value, value) if self._is_measured else Listed((value,))
            case Period(start, stop):
                return self._of_period(start, stop)
            case Starred(start, stars):
                if self.order is not None:
                    return Listed(tuple(value for value in self._ordered if cell.covers(text_of(value))))
                return Prefix(start, stars, self._shows_digits, self.name)
            case Interval(low, high, closed_low, closed_high):
                if self.order is not None:
                    first, last = (self._grammar.rank_of(end) for end in (low, high))
                    assert first is not None
                    assert last is not None
                    return Listed(tuple(self._ordered[first : last + 1]))
                if low is None or high is None:
                    return Endless(self.name, low, high, closed_low, closed_high)
                return self._span(low, high, closed_low, closed_high)
        raise AssertionError(cell)

    @cached_property
    def offsets(self) -> frozenset[dt.timedelta | None]:
        """The offsets of the column's times; None for times without offsets."""
        found: set[dt.timedelta | None] = set()
        for cell in self._read_cells:
            found.update(end.utcoffset() for end in _ends_of(cell) if isinstance(end, dt.datetime))
        return frozenset(found)

    @cached_property
    def _read_cells(self) -> tuple[Cell, ...]:
        read = (self.read(text) for text in self.cells)
        return tuple(cell.cell if isinstance(cell, MissingToo) else cell for cell in read)

    @cached_property
    def _grammar(self) -> Grammar:
        return Grammar(kind=self.kind, order=self.order, taxonomy=self._leaves, known=self._known, joined=self.foreign)

    @cached_property
    def _known(self) -> dict[str, Any]:
        """Texts that are certainly values, because they are in a set of the column."""
        if self.kind != "category":
            return {}
        alone = Grammar(kind=self.kind, joined=self.foreign)
        sets = (alone.parse(text.removesuffix(OR_MISSING)) for text in self.cells if text.startswith("{"))
        return {value: value for found in sets if isinstance(found, Set) for value in found.values}

    @property
    def _is_measured(self) -> bool:
        return self.kind in LINE and self.order is None

    @cached_property
    def _ordered(self) -> list[Any]:
        return [self.value(value) if isinstance(value, str) else value for value in self.order or ()]

    def _span(self, low: Any, high: Any, closed_low: bool = True, closed_high: bool = True) -> Support:  # noqa: FBT001, FBT002
        if isinstance(low, dt.time):
            raise NotSupported(
                f"questions about column {self.name!r} are not supported, because its values are times of day",
                instead="publish it as a number of minutes or seconds",
            )
        at, to = place_of(low, self.kind), place_of(high, self.kind)
        return Span(at, to, self.kind, closed_low, closed_high, zoned(low))

    def _of_period(self, start: Any, stop: Any) -> Support:
        """A period, by the clock of the column."""
        if self.kind == "date":
            return self._span(start, stop - dt.timedelta(days=1))
        shown = self.offsets - {None}
        if len(shown) > 1:
            raise DomainError(
                f"column {self.name!r} has periods, such as months, and times with {len(shown)} different "
                "offsets from UTC, so it is not certain when a period begins: publish the times of the column "
                "with one offset",
                column=self.name,
            )
        zone = None if not shown else dt.timezone(next(iter(shown)) or dt.timedelta(0))
        ends = [at if isinstance(at, dt.datetime) else dt.datetime.combine(at, dt.time.min) for at in (start, stop)]
        first, last = (at.replace(tzinfo=zone) for at in ends)
        return self._span(first, last, True, False)

    @cached_property
    def _shows_digits(self) -> bool:
        """Whether the column's codes are made of digits, as far as they are shown."""
        shown = [cell.start for cell in self._read_cells if isinstance(cell, Starred)]
        shown += [cell.value for cell in self._read_cells if isinstance(cell, Value)]
        return all(mark.isdigit() for text in shown for mark in str(text))

    @cached_property
    def _anything(self) -> Support:
        """Every value that some cell of the column stands for."""
        others = [cell for cell in self._read_cells if not isinstance(cell, Anything | Unreadable)]
        supports = [self.support(cell) for cell in others]
        if self.order is not None:
            return Listed(tuple(self._ordered))
        if self._is_measured:
            return self._all_of(supports)
        if any(support.is_open for support in supports):
            return self._any_text(supports)
        found: dict[Any, None] = {}
        for support in supports:
            values = support.listed()
            if values is None:
                return Endless(self.name)
            found.update(dict.fromkeys(values))
        return Listed(tuple(found)) if found else Endless(self.name)

    def _any_text(self, supports: Sequence[Support]) -> Support:
        """All texts that are no longer than those of the column, which ends some of its cells in stars."""
        stars = max(len(cell.start) + cell.stars for cell in self._read_cells if isinstance(cell, Starred))
        every = Prefix("", stars, self._shows_digits, self.name, tuple(supports))
        gaps = any(support.extremes(ValueSet.of([None]))[1] for support in supports)
        return OrMissing(every) if gaps else every

    def _all_of(self, supports: Sequence[Support]) -> Support:
        """From the least to the most of some cells of numbers, dates or times."""
        lows: list[Any] = []
        highs: list[Any] = []
        has_ends = [True, True]
        for support in supports:
            if isinstance(support, Span):
                lows.append(support.low)
                highs.append(support.high)
            elif isinstance(support, Endless):
                for i, (end, found) in enumerate(((support.low, lows), (support.high, highs))):
                    has_ends[i] &= end is not None
                    found.extend([] if end is None else [place_of(end, self.kind)])
            else:
                places = [place_of(value, self.kind) for value in support.listed() or () if value is not None]
                lows.extend(places)
                highs.extend(places)
        aware = bool(self.offsets - {None})
        low = min(lows) if lows and has_ends[0] else None
        high = max(highs) if highs and has_ends[1] else None
        if low is not None and high is not None:
            return Span(low, high, self.kind, zoned=aware)
        first, last = (None if at is None else value_at(at, self.kind, zoned=aware) for at in (low, high))
        return Endless(self.name, first, last)

    @cached_property
    def _leaves(self) -> Mapping[str, tuple[str, ...]]:
        return {} if self.taxonomy is None else self.taxonomy.leaves_below


def _ends_of(cell: Cell) -> tuple[Any, ...]:
    """The values named in a cell."""
    match cell:
        case Value(value):
            return (value,)
        case Set(values):
            return values
        case Interval(low, high):
            return tuple(end for end in (low, high) if end is not None)
    return ()


def number_of(value: Any, kind: str) -> Any:
    """The position of a value on its column's line; for a moment with a zone, the one in UTC."""
    if isinstance(value, str):
        try:
            return Decimal(value)
        except InvalidOperation:
            raise InputError(f"{value!r} is not a number") from None
    return place_of(value, kind) if not isinstance(value, Decimal) else value


def value_at(number: Any, kind: str, *, zoned: bool = False) -> Any:
    """The value at a place of the line."""
    if kind == "date":
        return dt.date.fromordinal(int(number))
    if kind == "timestamp":
        found = dt.datetime(1, 1, 1) + dt.timedelta(microseconds=int(number))
        return found.replace(tzinfo=dt.UTC) if zoned else found
    return number


def _sum_of_powers(first: int, last: int, power: int) -> float:
    """The sum of the whole numbers from first to last, each to a power of 0, 1 or 2."""
    n = last - first + 1
    if power == 0:
        return float(n)
    if power == 1:
        return (first + last) * n / 2
    below = [m * (m + 1) * (2 * m + 1) // 6 for m in (last, first - 1)]
    return float(below[0] - below[1])
