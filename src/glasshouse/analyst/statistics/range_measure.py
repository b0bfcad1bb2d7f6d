# SPDX-License-Identifier: Apache-2.0
"""Measures of ranges: sums, averages and quantiles of a column whose values are ranges of numbers, such as [30, 40).

The release does not show where in their ranges people are. So the answer lies between two others: if everybody is at
the lower end of the range, and if everybody is at the upper end. Both have error bars of their own, and the interval
goes from the lower end of the first to the upper end of the second. The estimate is the middle between both answers.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, isinf, isnan, nan
from typing import TYPE_CHECKING, Final

from glasshouse.analyst.answers.estimates import Estimate
from glasshouse.analyst.statistics.quantile import Counts
from glasshouse.errors import InputError, NotSupported
from glasshouse.microdata.domains import few
from glasshouse.supports.value_sets import ValueSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from glasshouse.analyst.answers.answer_rows import Answer
    from glasshouse.analyst.questions.question import Condition, Measure, Question
    from glasshouse.supports.evidence import Evidence

__all__ = ["OPEN", "RANGES", "between_ends", "check_summed", "quantile_of_ranges"]

_WIDTH: Final = 1.959963984540054
RANGES: Final = (
    "{column} contains ranges of numbers: an interval goes from the answer if everybody is at the lower end of the "
    "range to the answer if everybody is at the upper end, and the estimate is the middle"
)


OPEN: Final = (
    "{column} contains ranges that are open at one end: a quantile that may lie in one of them has only a bound, at "
    "most or at least"
)


def check_summed(evidence: Evidence, column: str) -> None:
    """Refuse a sum or an average of ranges of which some have no end, or of a quasi-identifier."""
    if evidence.home_of(column) not in evidence.release.recipe.sensitive:
        raise NotSupported(
            f"a sum or an average of {column!r} is not supported, because this quasi-identifier contains ranges",
            instead="ask for MEDIAN, or count the people in each range with COUNT(*) and GROUP BY",
        )
    endless = [label for label, one in evidence.labelled_ranges(column).items() if one.low is None or one.high is None]
    if endless:
        raise InputError(
            f"a sum or an average of {column!r} is not possible, because it contains ranges that are open at one end: "
            f"{few(endless)}. Ask for MEDIAN, or count the people in each range with COUNT(*) and GROUP BY"
        )


def between_ends(low: Estimate, high: Estimate) -> Estimate:
    """The estimate of a measure from those for the lower ends and for the upper ends."""
    least, most = min(low.low, high.low), max(low.high, high.high)
    return Estimate((low.value + high.value) / 2, (most - least) / (2 * _WIDTH), least, most)


def quantile_of_ranges(
    evidence: Evidence, where: Condition, measure: Measure, ask: Callable[[Question], Answer]
) -> Estimate:
    """Estimate a quantile of a column of ranges over the people who satisfy a condition."""
    assert measure.column is not None
    assert measure.at is not None
    found = []
    for end in (0, 1):
        ends = {label: one.ends[end] for label, one in evidence.labelled_ranges(measure.column).items()}
        counts = Counts(
            measure.column,
            sorted(set(ends.values())),
            where,
            ask,
            lambda most, ends=ends: ValueSet.of([value for value, own in ends.items() if own <= most]),  # type: ignore[misc]
            lambda most, ends=ends: ValueSet.of([value for value, own in ends.items() if own > most]),  # type: ignore[misc]
        )
        found.append(counts.quantile(measure.at, between=measure.between))
    estimate = between_ends(*found)
    somebody = not isnan(found[0].value)
    is_open = somebody and (isinf(estimate.low) or isinf(estimate.high))
    return replace(estimate, value=nan, error=inf) if is_open else estimate
