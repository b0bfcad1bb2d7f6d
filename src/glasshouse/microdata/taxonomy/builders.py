# SPDX-License-Identifier: Apache-2.0
"""Builders: taxonomies made from the values of a column by a rule, and bins for amounts.

Each says, for some values, into which group of the first level each one falls, and which labels lie above each group;
the rest is common to all.
"""

from __future__ import annotations

import numbers
import warnings
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse import bounds
from glasshouse.errors import DisclosureWarning, DomainError, InputError, ParameterError
from glasshouse.microdata.domains import few, text_of
from glasshouse.microdata.notation import HOW_AMOUNTS_ARE_WRITTEN, HOW_DATES_ARE_WRITTEN, count_amounts, count_dates
from glasshouse.microdata.taxonomy.tree import ANY, Tree
from glasshouse.plural import counted
from glasshouse.unpacking.budget import is_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.taxonomy.bound_taxonomy import BoundTaxonomy

__all__ = ["BUILDERS", "FORMS", "Builder", "Dates", "Intervals", "Prefix", "Quantiles", "builder_of"]

_LARGEST_GUESS = 2.0**50  # below, an interval's number guessed in floating point is off by one at most
_LARGEST_WHOLE = 2**62  # below, differences fit into 64 bits
_LONGEST = 200  # characters of the text of a builder
_DEEPEST = 100  # levels of intervals: the deepest tree that a release tells
_LARGEST_AMOUNT = 1e300  # below, no border overflows

Paths = list[tuple[str, ...]]  # for every group its label, then those above it; the root last


class Builder:
    """What all builders share; a subclass is a frozen dataclass with a `kind` and `groups`."""

    kind: ClassVar[str]
    form: ClassVar[str]
    """How it is written as a text."""
    looks_at_table: ClassVar[bool] = False
    """Whether the labels depend on the values that come, and not on the rule and one value alone."""

    @classmethod
    def of_text(cls, argument: str) -> Builder:
        """Make a builder from the text after the colon; `ValueError` if it is not of the right form."""
        raise NotImplementedError

    def groups(self, name: str, values: pa.Array, counts: NDArray[np.int64] | None) -> tuple[NDArray[Any], Paths]:
        """Find the first-level group of each value, and the labels from each group up to the root."""
        raise NotImplementedError

    def texts(self, values: pa.Array) -> list[str]:
        """Label each value as a leaf."""
        return [text_of(value) for value in values.to_pylist()]

    def order(self, values: pa.Array) -> NDArray[np.int64]:
        """Sort the values: the places of the smallest, the next, and so on."""
        return np.asarray(pc.array_sort_indices(values).to_numpy(), np.int64)

    def bind(self, name: str, values: pa.Array, counts: NDArray[np.int64] | None = None) -> BoundTaxonomy:
        """Make the tree for ``values``."""
        order = self.order(values)
        groups, paths = self.groups(name, values, counts)
        texts = self.texts(values)
        tree = Tree.grown([texts[index] for index in order], groups[order].tolist(), paths)
        return tree.cut(tree.nodes_of(texts))

    def bins(
        self, name: str, values: pa.Array, counts: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], list[str]]:
        """Code the first-level label of each value, and list the labels in their natural order."""
        groups, paths = self.groups(name, values, counts)
        natural, first = np.unique(groups[self.order(values)], return_index=True)
        labels = list(dict.fromkeys(paths[group][0] for group in natural[np.argsort(first)].tolist()))
        place = {label: index for index, label in enumerate(labels)}
        return np.array([place[path[0]] for path in paths], np.int64)[groups], labels

    def to_data(self) -> dict[str, Any]:
        """The builder's name and parameters as plain data."""
        parameters = {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]
        return {"kind": self.kind} | {key: list(v) if isinstance(v, tuple) else v for key, v in parameters.items()}

    def __repr__(self) -> str:
        default = {item.name: item.default for item in fields(self)}  # type: ignore[arg-type]
        given = [(key, getattr(self, key)) for key in default if getattr(self, key) != default[key]]
        return f"Taxonomy.{self.kind}({', '.join(f'{key}={value!r}' for key, value in given)})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Intervals(Builder):
    """Equal-width intervals of numbers; see `Taxonomy.intervals`."""

    kind: ClassVar[str] = "intervals"
    form: ClassVar[str] = "intervals:WIDTH"

    width: float
    start: float = 0
    fanout: int = 2
    levels: int | None = None

    @classmethod
    def of_text(cls, argument: str) -> Intervals:
        """Read the width."""
        return cls(width=int(argument) if argument.strip().lstrip("+-").isdecimal() else float(argument))

    def __post_init__(self) -> None:
        owner = "Taxonomy.intervals"
        width = _number(owner, "width", self.width, "a number above 0")
        if width <= 0:
            raise ParameterError(owner, "width", "a number above 0", self.width)
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "start", _number(owner, "start", self.start, "a finite number"))
        object.__setattr__(self, "fanout", _whole(owner, "fanout", self.fanout, 2))
        if self.levels is not None:
            object.__setattr__(self, "levels", _whole(owner, "levels", self.levels, 1, most=_DEEPEST))

    def groups(self, name: str, values: pa.Array, counts: NDArray[np.int64] | None) -> tuple[NDArray[Any], Paths]:
        """Put value ``v`` into the interval with number ``floor((v - start) / width)``."""
        _require(name, values, _is_number(values.type), "Taxonomy.intervals", "numbers")
        distinct, groups = np.unique(self._numbers(name, values), return_inverse=True)
        numbers = distinct.tolist()
        levels, topped = self._levels(numbers[0], numbers[-1])
        top = (ANY,) if topped else ()
        return groups, [tuple(self._label(number, level) for level in range(levels)) + top for number in numbers]

    def _numbers(self, name: str, values: pa.Array) -> NDArray[Any]:
        start, width = _exact(self.start), _exact(self.width)
        amounts = values.to_numpy(zero_copy_only=False)
        if pa.types.is_floating(values.type):
            if not np.isfinite(amounts).all():
                raise DomainError(
                    f"{_column(name)} has infinite values, which belong to no interval: give a smallest or largest "
                    "value (bottom=, top=)",
                    column=name or None,
                )
            with np.errstate(over="ignore"):
                guess = np.floor((amounts.astype(np.float64) - float(start)) / float(width))
            if np.abs(guess).max() < _LARGEST_GUESS and float(np.abs(amounts).max()) < _LARGEST_AMOUNT:
                return _corrected(guess, amounts, start, width)
        if pa.types.is_integer(values.type) and isinstance(start, int) and isinstance(width, int):
            ends = int(amounts.min()), int(amounts.max()), start, width
            if max(map(abs, ends)) < _LARGEST_WHOLE:
                return np.asarray((amounts.astype(np.int64) - start) // width)
        exact = [value if isinstance(value, int) else Fraction(text_of(value)) for value in values.to_pylist()]
        return np.array([(value - start) // width for value in exact], object)

    def _levels(self, low: int, high: int) -> tuple[int, bool]:
        """Count the levels of intervals, and tell whether they need a root of its own above them."""
        if self.levels is not None:
            return self.levels, True
        levels = 1
        while low != high and (low, high) != (-1, 0):  # the two sides of start never meet
            low, high, levels = low // self.fanout, high // self.fanout, levels + 1
        return levels, low != high

    def _label(self, number: int, level: int) -> str:
        wide = _exact(self.width) * self.fanout**level
        low = _exact(self.start) + number // self.fanout**level * wide
        return f"[{_decimal(low)}, {_decimal(low + wide)})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Quantiles(Builder):
    """Intervals that hold about equally many records; see `Taxonomy.quantiles`."""

    kind: ClassVar[str] = "quantiles"
    form: ClassVar[str] = "quantiles:N"
    looks_at_table: ClassVar[bool] = True

    n: int
    fanout: int = 2

    @classmethod
    def of_text(cls, argument: str) -> Quantiles:
        """Read the number of intervals."""
        return cls(n=int(argument))

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", _whole("Taxonomy.quantiles", "n", self.n, 2))
        object.__setattr__(self, "fanout", _whole("Taxonomy.quantiles", "fanout", self.fanout, 2))

    def groups(self, name: str, values: pa.Array, counts: NDArray[np.int64] | None) -> tuple[NDArray[Any], Paths]:
        """Put value ``v`` into group ``floor(n * share of records below v)``; empty groups are left out."""
        fits = _is_number(values.type) or _is_date(values.type)
        _require(name, values, fits, "Taxonomy.quantiles", "numbers or dates")
        warnings.warn(
            f"Taxonomy.quantiles takes the borders of its intervals from the values of {_column(name)}, and published "
            "labels show these borders. Taxonomy.intervals makes borders that do not depend on the values",
            DisclosureWarning,
            stacklevel=4,
        )
        order = self.order(values)
        weights = np.ones(len(values), np.int64) if counts is None else np.asarray(counts, np.int64)[order]
        below = np.cumsum(weights) - weights
        distinct, first, index = np.unique(self.n * below // weights.sum(), return_index=True, return_inverse=True)
        borders = [text_of(value) for value in values.take(pa.array(order[first])).to_pylist()]
        groups = np.empty(len(values), np.int64)
        groups[order] = index
        return groups, [self._path(group, borders) for group in range(len(distinct))]

    def _path(self, group: int, borders: Sequence[str]) -> tuple[str, ...]:
        """Label a group and those above it; the outermost are open, for an extreme is one person's value."""
        path, span = [], 1
        while span < len(borders):
            low = group // span * span
            high = low + span
            left = f"[{borders[low]}" if low else "(-inf"
            path.append(f"{left}, {borders[high] if high < len(borders) else 'inf'})")
            span *= self.fanout
        return *path, ANY


@dataclass(frozen=True, kw_only=True, repr=False)
class Prefix(Builder):
    """Codes that lose one character after another, from the end; see `Taxonomy.prefix`."""

    kind: ClassVar[str] = "prefix"
    form: ClassVar[str] = "prefix:LENGTH"

    length: int

    @classmethod
    def of_text(cls, argument: str) -> Prefix:
        """Take the length of a code."""
        return cls(length=int(argument))

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", _whole("Taxonomy.prefix", "length", self.length, 1))

    def texts(self, values: pa.Array) -> list[str]:
        """Write the codes; numbers get back their lost leading zeros."""
        if pa.types.is_integer(values.type):
            return [f"{value:0{self.length}d}" for value in values.to_pylist()]
        return [str(value) for value in values.to_pylist()]

    def order(self, values: pa.Array) -> NDArray[np.int64]:
        """Sort the codes as text."""
        texts = self.texts(values)
        return np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)

    def groups(self, name: str, values: pa.Array, counts: NDArray[np.int64] | None) -> tuple[NDArray[Any], Paths]:
        """Show the first ``length - i`` characters on level ``i``."""
        del counts
        fits = is_text(values.type) or pa.types.is_integer(values.type)
        _require(name, values, fits, "Taxonomy.prefix", "text or whole numbers")
        texts = self.texts(values)
        whole = not is_text(values.type)
        unfit = [text for text in texts if len(text) > self.length or (whole and text.startswith("-"))]
        if unfit:
            verb = "is" if len(unfit) == 1 else "are"
            what = f"{counted(len(unfit), 'code')} of {_column(name)} {verb} longer, or negative"
            raise DomainError(
                f"Taxonomy.prefix(length={self.length}): {what}: {few(unfit)}. The length must be that of the longest "
                "code",
                column=name or None,
                values=unfit,
            )
        place: dict[str, int] = {}
        groups = [place.setdefault(text[: self.length - 1], len(place)) for text in texts]
        keep = range(self.length - 1, 0, -1)
        return np.array(groups), [(*(head[:n].ljust(self.length, "*") for n in keep), ANY) for head in place]


@dataclass(frozen=True, kw_only=True, repr=False)
class Dates(Builder):
    """Dates cut to months, quarters, years; see `Taxonomy.dates`."""

    kind: ClassVar[str] = "dates"
    form: ClassVar[str] = "dates:LEVELS"

    levels: tuple[str, ...] = ("month", "quarter", "year")

    @classmethod
    def of_text(cls, argument: str) -> Dates:
        """Read the levels, separated by commas; without any, the default levels."""
        levels = tuple(level.strip() for level in argument.split(",") if level.strip())
        return cls(levels=levels) if levels else cls()

    def __post_init__(self) -> None:
        levels = tuple(self.levels)
        if not levels or list(levels) != [unit for unit in _UNITS if unit in levels]:
            raise ParameterError("Taxonomy.dates", "levels", f"some of {tuple(_UNITS)}, in this order", self.levels)
        object.__setattr__(self, "levels", levels)

    def groups(self, name: str, values: pa.Array, counts: NDArray[np.int64] | None) -> tuple[NDArray[Any], Paths]:
        """Make a group of each unit of the first level."""
        del counts
        _require(name, values, _is_date(values.type), "Taxonomy.dates", "dates or timestamps")
        days = list(zip(*(part(values).to_pylist() for part in (pc.year, pc.month, pc.day)), strict=True))
        labels = [_UNITS[self.levels[0]](*day) for day in days]
        example = dict(zip(labels, days, strict=True))  # any day of a unit tells the units above it
        place = {label: index for index, label in enumerate(example)}
        paths = [(*(_UNITS[unit](*day) for unit in self.levels), ANY) for day in example.values()]
        return np.array([place[label] for label in labels]), paths


BUILDERS: dict[str, type[Builder]] = {builder.kind: builder for builder in (Intervals, Quantiles, Prefix, Dates)}
FORMS = ", ".join(builder.form for builder in BUILDERS.values())
"""How builders are written as texts, for messages."""


def builder_of(text: str) -> Builder:
    """Make the builder that a text such as ``prefix:5`` stands for.

    >>> builder_of("prefix:5"), builder_of("dates:month,year")
    (Taxonomy.prefix(length=5), Taxonomy.dates(levels=('month', 'year')))
    """
    kind, _, argument = text.partition(":")
    if kind not in BUILDERS or len(text) > _LONGEST:
        raise InputError(f"a taxonomy by name is one of {FORMS}, got {text[:_LONGEST]!r}")
    try:
        return BUILDERS[kind].of_text(argument)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"write {BUILDERS[kind].form}, got {text!r}") from None


_UNITS: dict[str, Callable[[int, int, int], str]] = {
    "day": lambda year, month, day: f"{year:04d}-{month:02d}-{day:02d}",
    "month": lambda year, month, _: f"{year:04d}-{month:02d}",
    "quarter": lambda year, month, _: f"{year:04d}-Q{(month + 2) // 3}",
    "year": lambda year, *_: f"{year:04d}",
    "decade": lambda year, *_: f"{year // 10 * 10:04d}s",
}


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_date(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _require(name: str, values: pa.Array, fits: bool, owner: str, what: str) -> None:  # noqa: FBT001
    if not fits:
        raise DomainError(
            f"{owner} needs {what}; {_column(name)} has type {values.type}{_read_as_text(values)}", column=name or None
        )


def _read_as_text(values: pa.Array) -> str:
    """What to do about a column of texts that look like dates or amounts."""
    texts = values.drop_null().unique()
    if pa.types.is_dictionary(texts.type):
        texts = texts.cast(texts.type.value_type)
    if count_dates(texts):
        return f", and looks like dates that are read as text: {HOW_DATES_ARE_WRITTEN}"
    if count_amounts(texts):
        return f", and looks like amounts that are read as text: {HOW_AMOUNTS_ARE_WRITTEN}"
    return ""


def _column(name: str) -> str:
    return f"column {name!r}" if name else "the column"


def _whole(owner: str, name: str, value: Any, least: int, most: int = bounds.MOST_WHOLE) -> int:
    allowed = f"an integer >= {least}"
    try:
        number = bounds.whole(value)
    except TypeError:
        raise ParameterError(owner, name, allowed, value) from None
    except bounds.OutOfBounds:
        number = most + 1
    if number < least:
        raise ParameterError(owner, name, allowed, value)
    if number > most:
        raise ParameterError(owner, name, f"{allowed} and at most {most:,}", value)
    return number


def _number(owner: str, name: str, value: Any, allowed: str) -> int | float:
    """Check a number and convert it to one that JSON can represent, so that a recipe can hold it."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ParameterError(owner, name, allowed, value)
    try:
        number = int(value) if isinstance(value, numbers.Integral) else float(value)
        bounds.exact(number)
    except ValueError as error:
        digits = f", of at most {bounds.MOST_DIGITS} digits" if isinstance(error, bounds.OutOfBounds) else ""
        raise ParameterError(owner, name, f"{allowed}{digits}", value) from None
    except OverflowError:
        raise ParameterError(owner, name, f"{allowed}, of at most {bounds.MOST_DIGITS} digits", value) from None
    return number


def _corrected(
    guess: NDArray[Any], amounts: NDArray[Any], start: int | Fraction, width: int | Fraction
) -> NDArray[Any]:
    """Correct interval numbers that were guessed in floating point: 0.3 begins [0.3, 0.4), as it is written."""
    distinct, index = np.unique(guess, return_inverse=True)
    guesses = [int(number) for number in distinct]
    lower = np.array([float(start + number * width) for number in guesses], amounts.dtype)[index]
    upper = np.array([float(start + (number + 1) * width) for number in guesses], amounts.dtype)[index]
    shift = (amounts >= upper).astype(np.int64) - (amounts < lower)
    return guess.astype(np.int64) + shift


def _exact(number: float) -> int | Fraction:
    """Take a number as the decimal that it prints as."""
    return number if isinstance(number, int) else Fraction(repr(number))


def _decimal(number: int | Fraction) -> str:
    """Write a border out in full; it is a whole number or a finite decimal, for start and width are."""
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    scaled = str(abs(int(number * 10**digits))).rjust(digits + 1, "0")
    whole, rest = scaled[: len(scaled) - digits], scaled[len(scaled) - digits :]
    return f"{'-' * (number < 0)}{whole}{'.' * (digits > 0)}{rest}"
