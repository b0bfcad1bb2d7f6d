# SPDX-License-Identifier: Apache-2.0
"""Supports: which values a published cell stands for, all equally likely to an analyst.

A cell hides where in it a tuple lies. What he assumes is what the papers assume: every value in the cell is as likely
as any other (LeFevre et al. 2006; ANATOMY 4). Whole numbers and days are counted; other numbers and times are measured.
"""

from __future__ import annotations

import datetime as dt
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from glasshouse.analyst.value_sets import Listing
from glasshouse.errors import InputError
from glasshouse.microdata.cells import MISSING, OR_MISSING, SUPPRESSED, members, unquoted
from glasshouse.microdata.domains import text_of

if TYPE_CHECKING:
    from glasshouse.analyst.value_sets import ValueSet
    from glasshouse.microdata.taxonomy import Taxonomy

__all__ = ["CellSupports", "Listed", "OrMissing", "Prefix", "Span", "Support", "number_of", "value_at"]


class Support(ABC):
    """The values that a cell stands for."""

    @abstractmethod
    def share(self, values: ValueSet) -> float:
        """How likely one of them is in a set of values."""

    @abstractmethod
    def moments(self, values: ValueSet) -> tuple[float, float]:
        """Mean of the value, and of its square, counted as 0 where it is not in the set or is missing."""

    @abstractmethod
    def listed(self) -> Sequence[Any] | None:
        """The values one by one, where they can be listed."""


@dataclass(frozen=True, slots=True)
class Listed(Support):
    """Some values, each as likely as any other; None is a missing one.

    >>> from glasshouse.analyst.value_sets import ValueSet
    >>> Listed(("F", "M")).share(ValueSet.of(["F"]))
    0.5
    """

    values: tuple[Any, ...]

    def share(self, values: ValueSet) -> float:
        """Count them."""
        return sum(value in values for value in self.values) / len(self.values)

    def moments(self, values: ValueSet) -> tuple[float, float]:
        """Add them up."""
        found = [float(value) for value in self.values if value is not None and value in values]
        return sum(found) / len(self.values), sum(v * v for v in found) / len(self.values)

    def listed(self) -> Sequence[Any]:
        """The values."""
        return self.values


@dataclass(frozen=True, slots=True)
class Span(Support):
    """Everything from one number, day or moment to another; both ends are in it.

    Ends are numbers: days of dates since the year 1, microseconds of timestamps. Whole numbers and days are counted.

    >>> from glasshouse.analyst.value_sets import ValueSet
    >>> Span(21, 60, "integer").share(ValueSet.between(21, 24)), Span(0, 10, "float").share(ValueSet.between(0, 4))
    (0.1, 0.4)
    """

    low: Any
    high: Any
    kind: str

    @property
    def _counted(self) -> bool:
        return self.kind in ("integer", "date")

    def share(self, values: ValueSet) -> float:
        """Count or measure what is in the set."""
        return self._moment(values, 0)

    def moments(self, values: ValueSet) -> tuple[float, float]:
        """Sum or integrate over what is in the set."""
        return self._moment(values, 1), self._moment(values, 2)

    def _moment(self, values: ValueSet, power: int) -> float:
        if self.low == self.high:
            return float(self.low) ** power if value_at(self.low, self.kind) in values else 0.0
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
                total += _integral(float(start), float(stop), power) if start < stop else 0.0
        return total / (float(self.high - self.low) + self._counted)

    def listed(self) -> Sequence[Any] | None:
        """Every whole number or day; nothing for what is measured."""
        if not self._counted:
            return [value_at(self.low, self.kind)] if self.low == self.high else None
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
class Prefix(Support):
    """Texts that begin alike, the rest being so many digits: ``476**``.

    >>> from glasshouse.analyst.value_sets import ValueSet
    >>> Prefix("476", 2).share(ValueSet.of(["47601", "47602", "10001"]))
    0.02
    """

    start: str
    stars: int

    def share(self, values: ValueSet) -> float:
        """Count the listed ones among all that begin so."""
        pieces = values.pieces()
        if not isinstance(pieces, Listing):  # a range of texts
            return float(sum(text in values for text in self.listed()) / 10**self.stars)
        inside = {text for text in map(text_of, pieces.values) if self.covers(text)}
        share = float(len(inside) / 10**self.stars)
        return 1 - share if pieces.cofinite else share

    def moments(self, values: ValueSet) -> tuple[float, float]:
        """Texts have none."""
        raise InputError("a sum needs a column of numbers")

    def covers(self, text: str) -> bool:
        """Whether a text begins so and goes on with so many digits."""
        rest = text[len(self.start) :]
        return text.startswith(self.start) and len(rest) == self.stars and rest.isdigit()

    def listed(self) -> Sequence[Any]:
        """All that begin so."""
        return [f"{self.start}{number:0{self.stars}}" for number in range(10**self.stars)]


@dataclass(frozen=True, slots=True)
class OrMissing(Support):
    """A support, or a missing value, which counts as one value more; beside what is measured, as half."""

    support: Support

    @property
    def _weight(self) -> float:
        values = self.support.listed()
        return 0.5 if values is None else 1 / (len(values) + 1)

    def share(self, values: ValueSet) -> float:
        """Mix the two."""
        return (1 - self._weight) * self.support.share(values) + self._weight * (None in values)

    def moments(self, values: ValueSet) -> tuple[float, float]:
        """A missing value adds nothing."""
        mean, square = self.support.moments(values)
        return (1 - self._weight) * mean, (1 - self._weight) * square

    def listed(self) -> Sequence[Any] | None:
        """The values, and a missing one."""
        values = self.support.listed()
        return None if values is None else [*values, None]


_BRACKETS = re.compile(r"^([\[(])(.*?), ?(.*)([\])])$", re.DOTALL)
_RANGE = re.compile(r"^()(-?[\d.]*\d)\s*(?:-|\.\.|to)\s*(-?[\d.]+)()$")  # of other tools: both ends are in it
_PREFIX = re.compile(r"^([^*]*?)(\*+)$")
_MONTH = re.compile(r"^(\d{4})(?:-(\d{2})|-?Q([1-4]))?$")


@dataclass(frozen=True, kw_only=True)
class CellSupports:
    """Reads the cells of one published column.

    Parameters
    ----------
    name, kind
        Of the column, as the release says.
    order
        The declared order of its categories, if cells are intervals of them.
    taxonomy
        The taxonomy that its cells are nodes of, if they are.
    cells
        All cells of the column, which ``*`` stands for.
    """

    name: str
    kind: str
    order: Sequence[Any] | None = None
    taxonomy: Taxonomy | None = None
    cells: Sequence[str] = ()

    def of(self, cell: str) -> Support:
        """What a cell stands for."""
        if cell == MISSING:
            return Listed((None,))
        if cell.endswith(OR_MISSING):
            return OrMissing(self.of(cell.removesuffix(OR_MISSING)))
        if self.taxonomy is not None and cell in self._leaves:
            return Listed(tuple(map(self._read, self._leaves[cell])))
        if cell == SUPPRESSED:
            return self._anything()
        for rule in (self._interval, self._set, self._unit, self._prefix):
            found = rule(cell)
            if found is not None:
                return found
        return self._one(unquoted(cell))

    def exact(self, text: str) -> Support:
        """What a value stands for that is published as it is: itself."""
        return Listed((None,)) if text == MISSING else self._one(text)

    def value(self, text: str) -> Any:
        """A value of the column by its text."""
        return self._read(text)

    def _one(self, text: str) -> Support:
        value = self._read(text)
        if not self._is_measured:
            return Listed((value,))
        return Span(number_of(value, self.kind), number_of(value, self.kind), self.kind)

    @property
    def _is_measured(self) -> bool:
        return self.kind in ("integer", "float", "date", "timestamp") and self.order is None

    def _interval(self, cell: str) -> Support | None:
        match = _BRACKETS.match(cell) or (_RANGE.match(cell) if self.kind in ("integer", "float") else None)
        if match is None:
            return None
        opening, low, high, closing = match.groups()
        if self._is_measured:
            start, stop = (number_of(self._read(unquoted(text)), self.kind) for text in (low, high))
            if self.kind in ("integer", "date"):
                start, stop = start + (opening == "("), stop - (closing == ")")
            return Span(start, stop, self.kind)
        if self.order is None:
            raise InputError(
                f"column {self.name!r} has intervals of categories, {cell}: say in which order they are (ordered=)"
            )
        first, last = (self._ranks.get(unquoted(text)) for text in (low, high))
        if first is None or last is None:
            raise InputError(f"the order given for column {self.name!r} lacks an end of {cell}")
        return Listed(self._in_order[first : last + 1])

    def _set(self, cell: str) -> Support | None:
        if not (cell.startswith("{") and cell.endswith("}")):
            return None
        return Listed(tuple(self._read(part) for part in members(cell[1:-1])))

    def _unit(self, cell: str) -> Support | None:
        """A month, a quarter or a year of dates."""
        match = _MONTH.match(cell) if self.kind in ("date", "timestamp") else None
        if match is None:
            return None
        year, month, quarter = match.groups()
        first, length = (int(month), 1) if month else (3 * int(quarter) - 2, 3) if quarter else (1, 12)
        start = dt.date(int(year), first, 1)
        stop = dt.date(int(year) + (first + length > 12), (first + length - 1) % 12 + 1, 1)
        if self.kind == "date":
            return Span(start.toordinal(), stop.toordinal() - 1, self.kind)
        return Span(number_of(start, self.kind), number_of(stop, self.kind), self.kind)

    def _prefix(self, cell: str) -> Support | None:
        match = _PREFIX.match(cell)
        return None if match is None or self.kind != "category" else Prefix(match[1], len(match[2]))

    def _anything(self) -> Support:
        """Every value that some cell of the column stands for."""
        if self._is_measured:
            spans = [self.of(cell) for cell in self.cells if cell not in (SUPPRESSED, MISSING)]
            bounds = [span for span in spans if isinstance(span, Span)]
            return Span(min(span.low for span in bounds), max(span.high for span in bounds), self.kind)
        found: dict[Any, None] = {}
        for cell in self.cells:
            if cell != SUPPRESSED:
                found.update(dict.fromkeys(self.of(cell).listed() or ()))
        return Listed(tuple(found))

    @cached_property
    def _ranks(self) -> dict[str, int]:
        """Where every category of the declared order stands, by its text."""
        return {text_of(value): i for i, value in reversed(list(enumerate(self.order or ())))}

    @cached_property
    def _in_order(self) -> tuple[Any, ...]:
        return tuple(self._read(text_of(value)) for value in self.order or ())

    @cached_property
    def _leaves(self) -> Mapping[str, tuple[str, ...]]:
        leaves: Mapping[str, tuple[str, ...]] = _leaves_of(self.taxonomy)
        return leaves

    def _read(self, text: Any) -> Any:
        """A value of the column by its text."""
        if not isinstance(text, str) or self.kind == "category":
            return text
        try:
            if self.kind == "boolean":
                return {"true": True, "false": False}[text]
            if self.kind == "date":
                return dt.date.fromisoformat(text)
            if self.kind == "timestamp":
                return dt.datetime.fromisoformat(text)
            return int(text) if self.kind == "integer" else float(text)
        except (KeyError, ValueError):
            raise InputError(f"column {self.name!r} has a cell that is not understood: {text}") from None


def _leaves_of(taxonomy: Taxonomy | None) -> Mapping[str, tuple[str, ...]]:
    """For every node that is not a leaf, the texts of its leaves; nothing for rules, whose labels say it themselves."""
    data = {} if taxonomy is None else taxonomy.to_data()
    found: dict[str, tuple[str, ...]] = {}

    def visit(node: Any) -> tuple[str, ...]:
        if not isinstance(node, list):
            return (text_of(node),)
        leaves = tuple(leaf for child in node[1:] for leaf in visit(child))
        found[text_of(node[0])] = leaves
        return leaves

    if data.get("kind") == "tree":
        visit(data["tree"])
    return found


def number_of(value: Any, kind: str) -> Any:
    """Where a value lies on its column's line."""
    if isinstance(value, dt.datetime):
        return (value.replace(tzinfo=None) - dt.datetime(1, 1, 1)) // dt.timedelta(microseconds=1)
    if isinstance(value, dt.date):
        days = value.toordinal()
        return days if kind == "date" else (days - 1) * 86_400_000_000
    if isinstance(value, str):
        try:
            return Decimal(value)
        except InvalidOperation:
            raise InputError(f"{value!r} is not a number") from None
    return value


def value_at(number: Any, kind: str) -> Any:
    """The value at a place of the line."""
    if kind == "date":
        return dt.date.fromordinal(int(number))
    if kind == "timestamp":
        return dt.datetime(1, 1, 1) + dt.timedelta(microseconds=int(number))
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


def _integral(start: float, stop: float, power: int) -> float:
    return float((stop ** (power + 1) - start ** (power + 1)) / (power + 1))
