# SPDX-License-Identifier: Apache-2.0
"""Amounts: how a column of numbers or dates can be read as a sensitive column.

Different amounts satisfy l-diversity and protect nothing, so they are read as intervals, or as names where they are
codes. The widths of intervals are round numbers. They are chosen by where most of the values lie, so a published width
tells the order of magnitude of the column, and no value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.microdata.inspection.role_words import AMOUNTS, CODES, SENSITIVE, first_match
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MOST_CODES", "Reading", "readings_of"]

MOST_CODES = 12  # different whole numbers up to which they are probably codes, as 0 and 1 for no and yes
_MOST_LISTED = (
    1_000  # different whole numbers up to which they may be the codes of a list, as of diseases or occupations
)
_INTERVALS = 8  # that most of the values should fall into
_MOST = (5, 95)  # percentiles between which most values lie
_YEARS = 3 * 365  # days from which on dates are read as years
_LEVELS = ("year", "quarter", "month")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """A way to read a column: the choices that say so, by column, and what it means.

    ``bins`` is the text of a taxonomy, as `glasshouse.Taxonomy` reads it; ``categorical`` says that numbers are names.
    ``finer`` are readings of the same kind that may allow more, the coarsest first.
    """

    words: str
    bins: str | None = None
    categorical: bool = False
    finer: tuple[Reading, ...] = ()

    def named(self, column: str) -> str:
        """The words, with the column's name before them.

        >>> Reading(words="Its dates are read as years.").named("born")
        'born: its dates are read as years.'
        """
        return f"{column}: {self.words[0].lower()}{self.words[1:]}"


def readings_of(values: pa.Array | pa.ChunkedArray, name: str) -> tuple[Reading, ...]:
    """How a sensitive column of this name can be read, the best first; empty if it is no column of amounts.

    >>> [reading.bins or "categorical" for reading in readings_of(pa.array([0, 1, 1, 0]), "ill")]
    ['categorical']
    >>> [reading.bins or "categorical" for reading in readings_of(pa.array([0.0, 1.0, None]), "ill")]
    ['categorical']
    >>> [reading.bins for reading in readings_of(pa.array([21_400.5, 38_000, 45_000, 90_100]), "income")]
    ['intervals:10000', 'quantiles:5']
    >>> [reading.bins or "categorical" for reading in readings_of(pa.array([*range(110, 510, 10)] * 3), "occupation")]
    ['intervals:50', 'quantiles:5', 'categorical']
    >>> readings_of(pa.array(["flu", "gout"]), "disease")
    ()
    """
    there = pc.drop_null(values)
    kind = values.type
    if pa.types.is_dictionary(kind) or not len(there):
        return ()
    if pa.types.is_temporal(kind) and not pa.types.is_time(kind) and not pa.types.is_duration(kind):
        return tuple(_of_dates(there))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return tuple(_of_numbers(there, name))
    return ()


def _of_numbers(values: Any, name: str) -> Iterator[Reading]:
    """Whole numbers are told by the values: with gaps, programs write them as 0.0 and 1.0."""
    numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    amounts = numbers[np.isfinite(numbers)]
    whole = len(amounts) == len(numbers) and bool((amounts == np.floor(amounts)).all())
    distinct = len(pc.unique(values))
    words = f"Its {counted(distinct, 'number is', 'different numbers are')} treated as codes, not as amounts."
    if whole and distinct <= MOST_CODES:
        yield Reading(words=words, categorical=True)
        return
    if len(amounts):
        low, high = np.percentile(amounts, _MOST).tolist()
        if high <= low:
            low, high = float(amounts.min()), float(amounts.max())
        step = float(np.diff(np.unique(amounts)).min(initial=np.inf)) if whole else 0.0
        width = _round_number((high - low) / _INTERVALS, above=step)
        if width is not None:
            yield Reading(words=f"Its amounts are read as intervals of {width}.", bins=f"intervals:{width}")
    yield from _of_quantiles()
    if whole and distinct <= _MOST_LISTED and _may_be_codes(values, name):
        only = (
            "Choose this only if the numbers stand for things, such as diseases or occupations: numbers that are close "
            "to each other count as different values."
        )
        yield Reading(words=f"{words} {only}", categorical=True)


def _may_be_codes(values: Any, name: str) -> bool:
    """Whether whole numbers may be codes: most of them repeat, and the column's name does not mean an amount."""
    counts = pc.value_counts(values).field("counts")
    if 2 * pc.sum(pc.greater(counts, 1)).as_py() < len(counts):
        return False
    amounts = (AMOUNTS, SENSITIVE["money"], SENSITIVE["test result"])
    return first_match(name, CODES) is not None or not any(first_match(name, words) for words in amounts)


def _of_dates(values: Any) -> Iterator[Reading]:
    days = pc.cast(pc.cast(values, pa.timestamp("s")), pa.int64()).to_numpy(zero_copy_only=False) // 86_400
    long = int(days.max()) - int(days.min()) >= _YEARS
    coarse, *finer = (
        Reading(words=f"Its dates are read as {level}s.", bins=f"dates:{level}")
        for level in _LEVELS[0 if long else -1 :]
    )
    yield replace(coarse, finer=tuple(finer))
    yield from _of_quantiles()


def _of_quantiles() -> Iterator[Reading]:
    words = (
        "It is read as up to five intervals with about the same number of records each, as far as equal values "
        "allow. The borders of the intervals come from the table, and are published."
    )
    yield Reading(words=words, bins="quantiles:5")


def _round_number(width: float, *, above: float) -> str | None:
    """The nearest 1, 2 or 5 times a power of ten, as a decimal; None where there is no width.

    It is larger than ``above``: whole numbers in intervals of 1 would be as different as before.

    >>> _round_number(4300.0, above=1), _round_number(0.034, above=0), _round_number(0.3, above=1)
    ('5000', '0.05', '2')
    """
    if not 1e-9 < width < 1e15:
        return None
    power = Fraction(10) ** floor(log10(max(width, above)))
    large = [step * power for step in (1, 2, 5, 10) if step * power > above]
    near = min(large, key=lambda one: abs(log10(float(one)) - log10(width)))
    return f"{near.numerator}" if near.denominator == 1 else f"{float(near):.10f}".rstrip("0")
