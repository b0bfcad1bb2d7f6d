# SPDX-License-Identifier: Apache-2.0
"""Quantiles of a column, found by counting: the value at or below which a given share of the people lie.

How many people have at most a value is a count, which every model answers with an error bar. The estimate is the value
at which the expected count passes the share. The ends of the interval are the values at which the count, more or less
two standard errors, passes it (Woodruff 1952): so whatever makes counts uncertain makes the quantile uncertain. With
``A`` people at most ``v`` and ``C`` above it, the question is whether ``D = (1 - q) A - q C`` is at least zero; its
variance follows from those of ``A``, ``C`` and ``A + C``.

Errors need not grow evenly from value to value. So an interval begins at the first value at which ``D`` may be at least
zero, and ends after the last at which it may not be; and it is not narrower than those of other shares demand, so that
the interval of a larger share never begins or ends below that of a smaller one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
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
_GRID = 16  # into so many parts values are divided, in which the ends of an interval are looked for
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
        value = self._value(n_people, share, between=between)
        last, near = len(self._grid) - 1, -_NEAR * n_people

        def is_near(at: int) -> bool:
            return self._bands(at, share, everybody)[1] >= near

        def is_passed(at: int) -> bool:
            return self._bands(at, share, everybody)[0] >= near

        near_from = next((i for i, at in enumerate(self._grid) if is_near(at)), last)
        passed_from = next((i + 1 for i in reversed(range(last)) if not is_passed(self._grid[i])), 0)
        low, high = self._between_grid(near_from, is_near), self._between_grid(passed_from, is_passed)
        if self._certain:
            return Estimate(value, 0.0, value, value)
        ends = min(float(self.values[low]), value), max(float(self.values[high]), value)
        return Estimate(value, (ends[1] - ends[0]) / (2 * _WIDTH), *ends)

    @cached_property
    def _grid(self) -> list[int]:
        """Places of some values: all of them if they are few, and always the first and the last."""
        last = len(self.values) - 1
        return sorted({last * i // _GRID for i in range(_GRID + 1)})

    def _between_grid(self, place: int, holds: Callable[[int], bool]) -> int:
        """The first index from which on a condition holds, after the place before and up to this one of the grid."""
        return self._first(holds, self._grid[place - 1] + 1, self._grid[place]) if place else 0

    def _bands(self, at: int, share: float, everybody: Estimate) -> tuple[float, float]:
        """``D``, less and more two standard errors; both are at least zero for every smaller share if they are for one.

        So quantiles of several shares agree. For ``D`` is a straight line in the share, its standard error is a convex
        function of it, and the extremes that smaller or larger shares can reach are those at the share and at 0 or 1.
        """
        below, one = self._at(at)
        other, both = self._above_error(at), everybody.error
        # errors of two numbers and of their sum satisfy the triangle inequality: where models differ, the larger counts
        one, other = max(one, other - both), max(other, one - both)
        both = min(both, one + other)

        def side(share: float, sign: float) -> float:
            own = (1 - share) * one**2 + share * other**2 - share * (1 - share) * both**2
            return float(below - share * everybody.value + sign * _WIDTH * max(own, 0.0) ** 0.5)

        return min(side(share, -1.0), side(0.0, -1.0)), max(side(share, 1.0), side(1.0, 1.0))

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

    def _first(self, holds: Callable[[int], bool], low: int = 0, high: int | None = None) -> int:
        """The first index from which on a condition holds, of those in between; the last of them if it never does."""
        high = len(self.values) - 1 if high is None else high
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
            self._known[at] = found.value, found.error
        return self._known[at]

    def _above_error(self, at: int) -> float:
        if -1 - at not in self._known:
            found = self._count(self.above(self.values[at]))
            self._known[-1 - at] = found.value, found.error
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
