# SPDX-License-Identifier: Apache-2.0
"""Which rows of an answer are shown, and in which order: HAVING, ORDER BY and LIMIT, by the estimates.

The table that was published is not there to decide. So rows are kept and ordered by what is expected, and the answer
says for how many rows the interval leaves open what the table itself would decide.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from itertools import pairwise
from math import isnan
from typing import TYPE_CHECKING, Any

from glasshouse.analyst.questions.question import Bound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.analyst.answers.answer_rows import Answer
    from glasshouse.analyst.answers.estimates import Estimate
    from glasshouse.analyst.questions.question import Having, Order, Question

__all__ = ["chosen_rows"]

_COMPARED = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def chosen_rows(answer: Answer, question: Question, places: Mapping[int, Mapping[Any, int]]) -> Answer:
    """The answer with the rows and measures that its question shows.

    ``places`` are those of values in their order, by the place of their grouping column, where that is not the order of
    the values themselves.
    """
    rows = list(zip(answer.keys, answer.estimates, strict=True))
    notes = list(answer.notes)
    if question.having is not None:
        open_rows = sum(_is_open(question.having, row) for _, row in rows)
        rows = [(key, row) for key, row in rows if _holds(question.having, row)]
        if open_rows:
            notes.append(
                f"HAVING keeps rows by their estimates. For {open_rows:,} of the rows the interval contains the "
                "limit in HAVING, so the true value may be on the other side of it"
            )
    for order in reversed(question.order):
        rows = _sorted(rows, order, places.get(order.place) if order.of == "key" else None)
    if any(order.of == "measure" for order in question.order) and _overlap(rows, question.order):
        notes.append(
            "rows are ordered by their estimates: where the intervals of two rows overlap, their order in the "
            "original table may be different"
        )
    stop = None if question.limit is None else question.offset + question.limit
    rows = rows[question.offset : stop]
    n_shown = len(question.measures) - question.n_hidden
    shown = replace(question, measures=question.measures[:n_shown], n_hidden=0)
    return replace(
        answer,
        question=shown,
        keys=tuple(key for key, _ in rows),
        estimates=tuple(row[:n_shown] for _, row in rows),
        notes=tuple(dict.fromkeys(notes)),
    )


def _holds(having: Having | Bound, row: tuple[Estimate, ...]) -> bool | None:
    """Whether a row is kept; None, which keeps it out, where SQL would compare with NULL."""
    if isinstance(having, Bound):
        value = row[having.measure].value
        return None if isnan(value) else bool(_COMPARED[having.how](value, having.value))
    found = [_holds(part, row) for part in having.parts]
    if having.kind == "not":
        return None if found[0] is None else not found[0]
    decisive = having.kind == "or"
    if decisive in found:
        return decisive
    return None if None in found else not decisive


def _is_open(having: Having | Bound, row: tuple[Estimate, ...]) -> bool:
    """Whether the bound lies inside the interval of a measure."""
    if isinstance(having, Bound):
        estimate = row[having.measure]
        return estimate.low < estimate.high and estimate.low <= having.value <= estimate.high
    return any(_is_open(part, row) for part in having.parts)


_Row = tuple[tuple[Any, ...], tuple["Estimate", ...]]


def _sorted(rows: list[_Row], order: Order, places: Mapping[Any, int] | None) -> list[_Row]:
    """Order rows by one column or measure; rows that are equal there keep their places."""

    def value(row: _Row) -> Any:
        found = row[0][order.place] if order.of == "key" else row[1][order.place].value
        if found is None or (isinstance(found, float) and isnan(found)):
            return None
        return places[found] if places else found

    there = sorted((row for row in rows if value(row) is not None), key=value, reverse=order.descending)
    missing = [row for row in rows if value(row) is None]
    return [*missing, *there] if order.missing_first else [*there, *missing]


def _overlap(rows: list[_Row], orders: tuple[Order, ...]) -> bool:
    """Whether two rows that follow each other have intervals that overlap, in a measure by which they are ordered."""
    for order in (order for order in orders if order.of == "measure"):
        found = [row[order.place] for _, row in rows]
        for one, other in pairwise(found):
            uncertain = one.error > 0 or other.error > 0
            if uncertain and one.low <= other.high and other.low <= one.high:
                return True
    return False
