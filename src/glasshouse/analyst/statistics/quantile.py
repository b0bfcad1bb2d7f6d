# SPDX-License-Identifier: Apache-2.0
"""Quantiles of a column, found by counting: the value at or below which a given share of the people lie.

How many people have at most a value is a count, which every model answers with an error bar. The estimate is the value
at which the expected count passes the share. The ends of the interval are the values at which the count, more or less
two standard errors, passes it (Woodruff 1952): so whatever makes counts uncertain makes the quantile uncertain. With
``A`` people at most ``v`` and ``C`` above it, the question is whether ``D = (1 - q) A - q C`` is at least zero; its
variance follows from those of ``A``, ``C`` and ``A + C``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor, isfinite
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from glasshouse.analyst.answers.estimates import Estimate
from glasshouse.analyst.questions.question import And, Measure, Question, Test
from glasshouse.errors import InputError
from glasshouse.supports.evidence import seats_of
from glasshouse.supports.supports import OrMissing, Span
from glasshouse.supports.value_sets import ValueSet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from glasshouse.analyst.answers.answer_rows import Answer
    from glasshouse.analyst.questions.question import Condition
    from glasshouse.supports.evidence import Evidence

    Ask = Callable[[Question], Answer]

__all__ = ["Counts", "quantile"]

_WIDTH = 1.959963984540054
_NEAR = 1e-9
_STEPS = 1 << 20  # into which the range of a measured column is divided
_COUNT = (Measure("count", None, "count"),)


def quantile(evidence: Evidence, where: Condition, measure: Measure, ask: Ask) -> Estimate:
    """Estimate a quantile of a column over the people who satisfy a condition."""
    assert measure.column is not None
    assert measure.at is not None
    whole = evidence.asked_kinds[measure.column] == "integer"
    counts = Counts(
        measure.column,
        _candidates(evidence, measure.column),
        where,
        ask,
        lambda value: ValueSet.below(value, closed=True, whole=whole),
        lambda value: ValueSet.above(value, closed=False, whole=whole),
    )
    return counts.quantile(measure.at, between=measure.between)


@dataclass(eq=False)
class Counts:
    """How many people have at most each of some values, which are in order."""

    column: str
    values: Sequence[Any]
    where: Condition
    ask: Ask
    at_most: Callable[[Any], ValueSet]  # what the column contains for people with at most a value
    above: Callable[[Any], ValueSet]  # and for people with more
    _known: dict[int, tuple[float, float]] = field(default_factory=dict)
    _certain: bool = True

    def quantile(self, share: float, *, between: bool) -> Estimate:
        """Estimate the value at a rank."""
        everybody = self._count(~ValueSet.of([None]))
        n_people = everybody.value
        if not len(self.values) or not isfinite(n_people) or n_people <= _NEAR:
            return Estimate.normal(float("nan"), float("nan"))
        spread = everybody.error**2

        def balance(at: int, side: float) -> float:
            below, variance = self._at(at)
            above, above_variance = n_people - below, self._above_variance(at)
            together = (spread - variance - above_variance) / 2
            own = (1 - share) ** 2 * variance + share**2 * above_variance - 2 * share * (1 - share) * together
            return float((1 - share) * below - share * above + side * _WIDTH * max(own, 0.0) ** 0.5)

        value = self._value(n_people, share, between=between)
        low = float(self.values[self._first(lambda at: balance(at, 1.0) >= -_NEAR * n_people)])
        high = float(self.values[self._first(lambda at: balance(at, -1.0) >= -_NEAR * n_people)])
        if self._certain:
            return Estimate(value, 0.0, value, value)
        low, high = min(low, value), max(high, value)
        return Estimate(value, (high - low) / (2 * _WIDTH), low, high)

    def _value(self, n_people: float, share: float, *, between: bool) -> float:
        """The value at a rank; between two of them where the rank is, and where that is asked for."""
        if not between:
            wanted = max(share * n_people, min(1.0, n_people))
            return float(self.values[self._first(lambda at: self._at(at)[0] >= wanted * (1 - _NEAR))])
        rank = max(share * (n_people - 1), 0.0)
        rank = round(rank) if abs(rank - round(rank)) < 1e-6 else rank
        before = floor(rank)
        ends = [
            float(self.values[self._first(lambda at, r=r: self._at(at)[0] >= min(r, n_people) * (1 - _NEAR))])  # type: ignore[misc]
            for r in ((before + 1,) if rank == before else (before + 1, before + 2))
        ]
        return ends[0] if ends[0] == ends[-1] else ends[0] + (rank - before) * (ends[-1] - ends[0])

    def _first(self, holds: Callable[[int], bool]) -> int:
        """The first index from which on a condition holds; the last index if it never does."""
        low, high = 0, len(self.values) - 1
        while low < high:
            middle = (low + high) // 2
            if holds(middle):
                high = middle
            else:
                low = middle + 1
        return low

    def _at(self, at: int) -> tuple[float, float]:
        if at not in self._known:
            found = self._count(self.at_most(self.values[at]))
            self._known[at] = found.value, found.error**2
        return self._known[at]

    def _above_variance(self, at: int) -> float:
        if -1 - at not in self._known:
            found = self._count(self.above(self.values[at]))
            self._known[-1 - at] = found.value, found.error**2
        return self._known[-1 - at][1]

    def _count(self, values: ValueSet) -> Estimate:
        found = self.ask(Question(_COUNT, And((self.where, Test(self.column, values))))).only
        self._certain &= found.error == 0
        return found


def _candidates(evidence: Evidence, column: str) -> Sequence[Any]:
    """The values among which a quantile is looked for, in order, by what is published of a column."""
    if evidence.home_of(column) in evidence.release.recipe.sensitive:
        return sorted({value for value in evidence.sensitive_values(column) if value is not None})
    _, seats = seats_of(evidence, [column])
    supports = [
        support.support if isinstance(support, OrMissing) else support for support in evidence.supports(seats, column)
    ]
    listed = [support.listed() for support in supports]
    if all(values is not None for values in listed):
        return sorted({value for values in listed for value in values or () if value is not None})
    ends = [float(value) for values in listed for value in values or () if value is not None]
    for support, values in zip(supports, listed, strict=True):
        if values is None:
            if not isinstance(support, Span):
                raise InputError(
                    f"a quantile of column {column!r} cannot be calculated: its cells are not intervals of numbers. "
                    "Count the people with certain values instead (COUNT with WHERE)"
                )
            ends += [support.low, support.high]
    if not all(map(isfinite, ends)):
        raise InputError(
            f"a quantile of column {column!r} cannot be calculated: one of its published intervals is open at one end. "
            "Count the people in ranges that do not divide this interval instead (COUNT with WHERE)"
        )
    low, high = min(ends), max(ends)
    if evidence.asked_kinds[column] == "integer":
        return range(int(low), int(high) + 1)
    return cast(
        "Sequence[Any]", np.union1d(np.linspace(low, high, _STEPS + 1), ends)
    )  # nobody is between single values
