# SPDX-License-Identifier: Apache-2.0
"""Possible counts: answers that depend on which values exist behind the stars of cells such as ``476**``.

The release does not say which texts begin so, and how many people have each. A count of people with one of them lies
between two others: if nobody of such a cell is counted, and if everybody is. What other cells decide is the same in
both. The interval goes from the one to the other, and the estimate is the middle. Both are by the papers' estimator:
what is learned of a release knows no more of the texts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from glasshouse.analyst.answers.estimates import Estimate
from glasshouse.analyst.answers.population_answers import EVEN
from glasshouse.analyst.questions.question import Test, reduced
from glasshouse.analyst.statistics.range_measure import between_ends
from glasshouse.errors import InputError
from glasshouse.supports.evidence import seats_of
from glasshouse.supports.value_sets import ValueSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from glasshouse.analyst.answers.answer_rows import Answer
    from glasshouse.analyst.questions.question import Condition, Question
    from glasshouse.supports.evidence import Evidence

__all__ = ["check_sums", "possible_counts"]

_NOBODY: Final = Estimate(0.0, 0.0, 0.0, 0.0)
_OPEN: Final = (
    "cells of {column!r} end in stars, and the release does not say which texts they stand for. The condition is true "
    "for only some of these texts, so the interval goes from the count without the people of such cells to the count "
    "with all of them, and the estimate is the middle. {advice}"
)


def check_sums(evidence: Evidence, question: Question) -> None:
    """Refuse sums, averages and quantiles of people of whom the release does not say which they are."""
    summed = [measure for measure in question.measures if measure.kind not in ("count", "share")]
    if not summed:
        return
    among = (measure.among for measure in summed if measure.among is not None)
    branches = (condition for case in question.cases for condition, _ in case.branches)
    column = next(_divided_columns(evidence, question.where, *among, *branches), None)
    if column is not None:
        raise InputError(
            f"cells of {column!r} end in stars, and the release does not say which texts they stand for. The condition "
            "is true for only some of these texts, so sums, averages and quantiles are not known. Ask for COUNT(*). "
            f"{_advice(evidence, column)}"
        )


def possible_counts(
    evidence: Evidence, question: Question, model: str, ask: Callable[[Evidence, Question, str], Answer]
) -> Answer:
    """Answer a question by ``ask``, which takes a release, a question and the model to use."""
    columns = list(_divided_columns(evidence, question.where))
    if not columns:
        return ask(evidence, question, model)
    column, divided = columns[0], frozenset(columns)
    low, high = (ask(replace(evidence, extreme=extreme, divided=divided), question, "uniform") for extreme in (0, 1))
    least = dict(zip(low.keys, low.estimates, strict=True))
    nobody = (_NOBODY,) * len(question.measures)
    rows = tuple(
        tuple(between_ends(*ends) for ends in zip(least.get(key, nobody), row, strict=True))
        for key, row in zip(high.keys, high.estimates, strict=True)
    )
    notes = [_OPEN.format(column=column, advice=_advice(evidence, column)), *low.notes, *high.notes]
    uncertain = any(own.error for answer in (low, high) for row in answer.estimates for own in row)
    if model == "learned" and uncertain and _has_wide_cells(evidence, question, divided):
        notes.append(EVEN)
    return replace(high, estimates=rows, notes=tuple(dict.fromkeys(notes)))


def _divided_columns(evidence: Evidence, *conditions: Condition) -> Iterator[str]:
    """The columns of which a condition asks for some of the texts behind the stars of a cell, and not for all."""
    for test in (test for condition in conditions for test in _tests(reduced(condition))):
        if evidence.home_of(test.column) in evidence.release.recipe.quasi and test.values.cuts:
            _, seats = seats_of(evidence, [test.column])
            shares = (support.extremes(test.values) for support in evidence.supports(seats, test.column))
            if any(least < most for least, most in shares):
                yield test.column


def _has_wide_cells(evidence: Evidence, question: Question, divided: frozenset[str]) -> bool:
    """Whether the question depends on quasi-identifiers whose cells are not exact, beside the divided columns."""
    asked = {*(test.column for test in _tests(reduced(question.where))), *question.group_by} - divided
    return not evidence.is_exact and any(evidence.home_of(name) in evidence.release.recipe.quasi for name in asked)


def _tests(condition: Condition) -> Iterator[Test]:
    """The tests of a reduced condition."""
    if isinstance(condition, Test):
        yield condition
        return
    for part in getattr(condition, "parts", ()):
        yield from _tests(part)


def _advice(evidence: Evidence, column: str) -> str:
    """How to ask so that the answer is known: for a cell, if no other cell has only some of its texts."""
    _, seats = seats_of(evidence, [column])
    supports = evidence.supports(seats, column)
    known = []
    for cell in seats.cells[seats.quasi.index(column)]:
        start = cell.rstrip("*")
        texts = ValueSet.between(start, start + chr(0x10FFFF))
        if start not in ("", cell) and all(len(set(support.extremes(texts))) == 1 for support in supports):
            known.append(cell)
    if not known:
        return f"Give all values of the column in their order (ordered={{{column!r}: [...]}})"
    example = min(known, key=lambda cell: (-cell.count("*"), cell))
    return (
        f"Ask for cells as they are published, such as {example!r}, or give all values of the column in their order "
        f"(ordered={{{column!r}: [...]}})"
    )
