# SPDX-License-Identifier: Apache-2.0
"""Value sets: some values of one attribute, closed under union, intersection and complement.

A set is kept as the *cuts* at which its membership changes along the order of the values. A cut is a value and a side:
just before the value, or just after it. Then one value, a list of categories, all but some, and any union of open or
closed intervals are the same thing, complements cost nothing, and equal sets look equal. Whether a missing value
belongs is kept beside, for missing has no place in the order.

Among whole numbers and days nothing lies between neighbours, so a set that is told so (``whole=True``) has its cuts
only before values: more than 30 is at least 31, and what has no whole number in it is empty.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from math import ceil, floor, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from glasshouse.cells import MISSING, quoted
from glasshouse.errors import DomainError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Clock", "Interval", "Listing", "ValueSet", "common_parts"]

_BEFORE, _AFTER = 0, 1
_DAY = dt.timedelta(days=1)

Cut = tuple[Any, int]


class Interval(NamedTuple):
    """Everything between two ends, each included or not; None for an open end."""

    low: Any
    high: Any
    closed_low: bool
    closed_high: bool

    @property
    def is_point(self) -> bool:
        """Whether it is a single value."""
        return self.low is not None and self.low == self.high

    def __str__(self) -> str:
        low = "-inf" if self.low is None else quoted(self.low)
        high = "inf" if self.high is None else quoted(self.high)
        return f"{'[' if self.closed_low else '('}{low}, {high}{']' if self.closed_high else ')'}"


class Listing(NamedTuple):
    """The listed values, or all values except these."""

    values: tuple[Any, ...]
    cofinite: bool


@dataclass(frozen=True, slots=True, repr=False)
class ValueSet:
    """Some values of one attribute, and perhaps missing.

    Made by `everything`, `nothing`, `of`, `between`, `above` and `below`, and from other sets by ``&``, ``|`` and
    ``~``. Numbers compare as floats (whole numbers exactly), texts by code points, times without an offset by the clock
    they show, times with an offset as moments.

    Examples
    --------
    >>> thirties = ValueSet.between(30, 39)
    >>> 30 in thirties, 40 in thirties, None in thirties, None in ~thirties
    (True, False, False, True)
    >>> print(~thirties & ValueSet.above(20))
    (20, 30) or (39, inf)
    >>> print(ValueSet.of(["flu", None]) | ValueSet.of(["cold"]))
    {cold, flu} or missing
    """

    starts: bool  # whether values before the first cut are in it
    cuts: tuple[Cut, ...]  # where membership changes, ascending
    missing: bool  # whether a missing value is in it
    # whether it is a set of whole numbers or of days; then only these may be asked for
    whole: bool = field(default=False, compare=False)

    @classmethod
    def everything(cls) -> ValueSet:
        """All values, including missing."""
        return cls(True, (), True)

    @classmethod
    def nothing(cls) -> ValueSet:
        """The empty set."""
        return cls(False, (), False)

    @classmethod
    def of(cls, values: Iterable[Any], *, whole: bool = False) -> ValueSet:
        """These values; None is missing.

        >>> ValueSet.of([]).is_empty, None in ValueSet.of([None])
        (True, True)
        """
        listed = list(values)
        cuts: list[Cut] = []
        with _comparable():
            ascending = sorted({_plain(value, whole=whole) for value in listed if value is not None})
        for value in ascending:
            first, last = _before(value, whole=whole), _after(value, whole=whole)
            if first == last:  # a fraction among whole numbers
                continue
            if cuts and cuts[-1] == first:
                cuts.pop()
            else:
                cuts.append(first)
            cuts.append(last)
        return cls(False, tuple(cuts), None in listed, whole)

    @classmethod
    def between(cls, low: Any, high: Any, *, closed: tuple[bool, bool] = (True, True), whole: bool = False) -> ValueSet:
        """All values from one to another, without missing; None for an open end.

        >>> print(ValueSet.between(30, 40, closed=(False, False), whole=True))
        [31, 39]
        """
        cuts = []
        if low is not None:
            cuts.append((_before if closed[0] else _after)(_plain(low, whole=whole), whole=whole))
        if high is not None:
            cuts.append((_after if closed[1] else _before)(_plain(high, whole=whole), whole=whole))
        with _comparable():
            if len(cuts) == 2 and cuts[0] >= cuts[1]:
                return cls(False, (), False, whole)
        return cls(low is None, tuple(cuts), False, whole)

    @classmethod
    def above(cls, low: Any, *, closed: bool = False, whole: bool = False) -> ValueSet:
        """All values above a value, including it if closed."""
        return cls.between(low, None, closed=(closed, False), whole=whole)

    @classmethod
    def below(cls, high: Any, *, closed: bool = False, whole: bool = False) -> ValueSet:
        """All values below a value, including it if closed."""
        return cls.between(None, high, closed=(False, closed), whole=whole)

    @classmethod
    def any_of(cls, sets: Sequence[ValueSet]) -> ValueSet:
        """The union of several sets, in one pass."""
        return _in_so_many(sets, 1)

    @classmethod
    def all_of(cls, sets: Sequence[ValueSet]) -> ValueSet:
        """The intersection of several sets, in one pass."""
        return _in_so_many(sets, len(sets))

    def __or__(self, other: ValueSet) -> ValueSet:
        return _in_so_many((self, other), 1)

    def __and__(self, other: ValueSet) -> ValueSet:
        return _in_so_many((self, other), 2)

    def __invert__(self) -> ValueSet:
        return ValueSet(not self.starts, self.cuts, not self.missing, self.whole)

    def __contains__(self, value: Any) -> bool:
        if value is None:
            return self.missing
        with _comparable():
            passed = bisect_left(self.cuts, (_plain(value, whole=self.whole), _AFTER))
        return self.starts != (passed % 2 == 1)

    @property
    def is_empty(self) -> bool:
        """Whether it contains nothing, not even missing."""
        return not (self.starts or self.cuts or self.missing)

    @property
    def has_values(self) -> bool:
        """Whether it contains some value other than missing."""
        return self.starts or bool(self.cuts)

    @property
    def is_everything(self) -> bool:
        """Whether it contains every value, and missing too."""
        return self.starts and not self.cuts and self.missing

    def intervals(self) -> tuple[Interval, ...]:
        """Its values as disjoint intervals, ascending; single values are intervals too. Missing is ignored.

        >>> ValueSet.of([3]).intervals()
        (Interval(low=3, high=3, closed_low=True, closed_high=True),)
        """
        edges: list[Cut | None] = [None, *self.cuts] if self.starts else [*self.cuts]
        edges += [None] * (len(edges) % 2)
        return tuple(self._interval(low, high) for low, high in zip(edges[::2], edges[1::2], strict=True))

    def _interval(self, low: Cut | None, high: Cut | None) -> Interval:
        if high is not None and self.whole and high[1] == _BEFORE:
            high = _last_before(high)
        return Interval(
            None if low is None else low[0],
            None if high is None else high[0],
            low is not None and low[1] == _BEFORE,
            high is not None and high[1] == _AFTER,
        )

    def pieces(self) -> Listing | tuple[Interval, ...]:
        """Its values as a list, or as all but a list, where that is what they are; otherwise as intervals.

        >>> ValueSet.of(["b", "a"]).pieces()
        Listing(values=('a', 'b'), cofinite=False)
        >>> (~ValueSet.of(["a"])).pieces()
        Listing(values=('a',), cofinite=True)
        >>> len(ValueSet.between("a", "b").pieces())
        1
        """
        points = (~self if self.starts else self).intervals()
        if all(interval.is_point for interval in points):
            return Listing(tuple(interval.low for interval in points), self.starts)
        return self.intervals()

    def finite(self) -> Listing:
        """Its values as a list, or as all but a list; `InputError` if it is neither."""
        pieces = self.pieces()
        if not isinstance(pieces, Listing):
            raise InputError(f"the values {self} cannot be listed")
        return pieces

    def __str__(self) -> str:
        return " or ".join(self._words()) or "nothing"

    def _words(self) -> Iterator[str]:
        pieces = self.pieces()
        if not isinstance(pieces, Listing):
            yield from map(str, pieces)
        elif pieces.values:
            yield f"{'all but ' if pieces.cofinite else ''}{{{', '.join(map(quoted, pieces.values))}}}"
        elif pieces.cofinite:
            yield "anything"
        if self.missing:
            yield MISSING

    def __repr__(self) -> str:
        return f"<ValueSet {self}>"


def common_parts(sets: Sequence[ValueSet]) -> dict[int, ValueSet]:
    """Divide all values, missing among them, into the fewest parts of which every set is a union.

    A part's key has bit ``i`` where it belongs to ``sets[i]``.

    >>> young, old = ValueSet.below(30), ValueSet.above(20)
    >>> {key: str(part) for key, part in common_parts([young, old]).items()}
    {1: '(-inf, 20]', 3: '(20, 30)', 2: '[30, inf)', 0: 'missing'}
    """
    flips: dict[Cut, int] = defaultdict(int)
    for i, some in enumerate(sets):
        for cut in some.cuts:
            flips[cut] ^= 1 << i
    first = key = _key(some.starts for some in sets)
    cuts: dict[int, list[Cut]] = {first: []}
    with _comparable():
        ascending = sorted(flips)
    for cut in ascending:
        cuts[key].append(cut)
        key ^= flips[cut]
        cuts.setdefault(key, []).append(cut)
    missing = _key(some.missing for some in sets)
    cuts.setdefault(missing, [])
    whole = any(some.whole for some in sets)
    return {key: ValueSet(key == first, tuple(own), key == missing, whole) for key, own in cuts.items()}


def _key(bits: Iterable[bool]) -> int:
    return sum(bit << i for i, bit in enumerate(bits))


def _in_so_many(sets: Sequence[ValueSet], enough: int) -> ValueSet:
    """The values that are in at least a given number of the sets: go over all cuts and count."""
    changes: dict[Cut, int] = defaultdict(int)
    for some in sets:
        change = -1 if some.starts else 1
        for cut in some.cuts:
            changes[cut] += change
            change = -change
    count = sum(some.starts for some in sets)
    starts = inside = count >= enough
    cuts = []
    with _comparable():
        ascending = sorted(changes)
    for cut in ascending:
        count += changes[cut]
        if (count >= enough) != inside:
            inside = not inside
            cuts.append(cut)
    missing = sum(some.missing for some in sets) >= enough
    return ValueSet(starts, tuple(cuts), missing, any(some.whole for some in sets))


@contextmanager
def _comparable() -> Iterator[None]:
    try:
        yield
    except TypeError:
        raise InputError(
            "the question compares values that have no common order, such as times with an offset from UTC "
            "and times without: write all with an offset, or all without"
        ) from None


def _plain(value: Any, *, whole: bool = False) -> Any:
    """A value in comparable form: decimals as floats (exact among whole numbers), moments in one zone."""
    if isinstance(value, float | Decimal) and isnan(value):
        raise InputError(
            "NaN (not a number) cannot be compared with other values: it counts as missing, so ask with IS NULL"
        )
    if isinstance(value, dt.datetime):
        if whole:
            raise InputError("the column contains dates, and the question names a time of day: write a date")
        return value if value.tzinfo is None else value.astimezone(dt.UTC)
    return float(value) if isinstance(value, Decimal) and not whole else value


def _before(value: Any, *, whole: bool) -> Cut:
    if not whole or isinstance(value, dt.date):
        return value, _BEFORE
    return ceil(value), _BEFORE


def _after(value: Any, *, whole: bool) -> Cut:
    if not whole or value == dt.date.max:
        return value, _AFTER
    if isinstance(value, dt.date):
        return value + _DAY, _BEFORE
    return floor(value) + 1, _BEFORE


def _last_before(cut: Cut) -> Cut:
    """The same cut, just after the whole number or day before it; nothing is before the first day."""
    value = cut[0]
    if isinstance(value, dt.date):
        return cut if value == dt.date.min else (value - _DAY, _AFTER)
    return value - 1, _AFTER


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock by which the times of a column are shown.

    A time without an offset is what the column's clock shows. Where the column's times have different offsets, as they
    do when clocks are set back in autumn, such a time may be two moments: the question must say which.

    >>> utc = Clock("seen", frozenset({dt.timedelta(0)}))
    >>> utc.moment(dt.datetime(2024, 5, 1)).isoformat()
    '2024-05-01T00:00:00+00:00'
    """

    column: str
    offsets: frozenset[dt.timedelta | None]  # the offsets of its times; None for times without one

    def moment(self, time: dt.datetime) -> dt.datetime:
        """A time in a question, converted to the form of the column's times; refused if that is impossible."""
        shown = self.offsets - {None}
        if time.tzinfo is not None and not shown:
            raise self._refused(time, "contains times without an offset from UTC: write the time without an offset too")
        if time.tzinfo is not None or not shown:
            return time
        if len(shown) > 1:
            raise self._refused(
                time,
                f"contains times with {len(shown)} different offsets from UTC: write the time with one, as in "
                "TIMESTAMP '2024-10-27 02:30:00+02:00'",
            )
        (offset,) = shown
        return time.replace(tzinfo=dt.timezone(offset or dt.timedelta(0)))

    def _refused(self, time: dt.datetime, why: str) -> DomainError:
        return DomainError(f"column {self.column!r} {why}", column=self.column, values=[time])
