# SPDX-License-Identifier: Apache-2.0
"""Truth: the true answers, from the original table, to questions that were asked of a release.

It belongs inside, as everything where truth and release meet: shown to others, it would tell what the release hides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.analyst.questions.question import And, Like, Measure, Not, Question, Test
from glasshouse.microdata.domains import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.questions.question import Condition
    from glasshouse.microdata import Column, Microdata

__all__ = ["true_answer"]


def true_answer(
    table: Microdata, question: Question, keys: Sequence[tuple[Any, ...]]
) -> list[tuple[int | float | None, ...]]:
    """Count exactly, in the table, what a question asks for.

    Parameters
    ----------
    table
        The table that the release was made of, read as it was published.
    question
        What was asked, as `Answer.question` has it.
    keys
        The rows that are wanted, by their values of the grouping columns, as `Answer.keys` has them.

    Returns
    -------
    list of tuple
        For each key a number for every measure; None for an average or a quantile of nobody. Missing values are not
        averaged, and add nothing to a sum.

    Examples
    --------
    >>> import glasshouse as gh
    >>> patients = gh.examples.anatomy_table1()
    >>> release = gh.publish(patients, principle=gh.LDiversity(ell=2), method=gh.Separate(), recoding=gh.Anatomy())
    >>> answer = gh.query(release, "SELECT Sex, COUNT(*), AVG(Age) WHERE Disease = 'flu' GROUP BY Sex")
    >>> true_answer(patients, answer.question, answer.keys)
    [(2, 63.0), (0, None)]
    """
    if question.cases or not all(measure.is_plain for measure in question.measures):
        return [_composite(table, question, key) for key in keys]
    inside = _holds(table, question.where)
    rows = np.flatnonzero(inside)
    columns = [table.column(name) for name in question.group_by]
    rows, codes = _apart(columns, rows)
    numbers: NDArray[np.int64] = np.zeros(len(rows), np.int64)
    for column, own in zip(columns, codes, strict=True):  # people in equal groups get equal numbers, which stay small
        numbers = numbers * column.domain.singles.size + own
        numbers = np.unique(numbers, return_inverse=True)[1].reshape(-1).astype(np.int64)
    n_groups = int(numbers.max()) + 1 if len(numbers) else 0
    example: NDArray[np.int64] = np.zeros(n_groups, np.int64)
    example[numbers] = np.arange(len(rows))
    listed = [column.domain.singles.listed() for column in columns]
    place = {
        tuple(_key(values[own[at]]) for values, own in zip(listed, codes, strict=True)): group
        for group, at in enumerate(example.tolist())
    }
    found = [_measured(table, measure, rows, numbers, n_groups) for measure in question.measures]
    nobody = tuple(None if measure.kind == "avg" else 0 for measure in question.measures)
    answers = []
    for key in keys:
        group = place.get(tuple(map(_key, key)))
        answers.append(nobody if group is None else tuple(values[group] for values in found))
    return answers


def _composite(table: Microdata, question: Question, key: tuple[Any, ...]) -> tuple[int | float | None, ...]:
    """One row of a question with CASE, FILTER, shares or quantiles."""
    parts = {case.name: case.parts() for case in question.cases}
    of = dict(zip(question.group_by, key, strict=True))
    where = And((question.where, *(parts[name][of[name]] for name in parts)))
    columns = tuple(name for name in question.group_by if name not in parts)
    own = tuple(of[name] for name in columns)

    def one(measure: Measure, where: Condition) -> Any:
        return true_answer(table, Question((measure,), where, columns), [own])[0][0]

    found: list[int | float | None] = []
    for measure in question.measures:
        inside = where if measure.among is None else And((where, measure.among))
        if measure.kind == "quantile":
            found.append(_quantile(table, measure, inside, columns, own))
        elif measure.kind == "share":
            count = Measure("count", None, "count")
            everybody = one(count, where)
            found.append(one(count, inside) / everybody if everybody else None)
        else:
            found.append(one(replace(measure, among=None), inside))
    return tuple(found)


def _quantile(
    table: Microdata, measure: Measure, where: Condition, columns: tuple[str, ...], key: tuple[Any, ...]
) -> float | None:
    """The value at a rank among the people who have one, as SQL defines it."""
    assert measure.column is not None
    assert measure.at is not None
    inside = _holds(table, where)
    for name, wanted in zip(columns, key, strict=True):
        column = table.column(name)
        same = np.array([_key(value) == _key(wanted) for value in column.domain.listed()], bool)
        inside = inside & same[column.codes]
    column = table.column(measure.column)
    listed = column.domain.listed()
    values = sorted(float(listed[code]) for code in column.codes[inside].tolist() if listed[code] is not None)
    if not values:
        return None
    if measure.between:
        return float(np.quantile(values, measure.at))
    return float(np.quantile(values, measure.at, method="inverted_cdf"))


def _apart(columns: Sequence[Column], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[NDArray[np.int32]]]:
    """The rows of everybody in each group, and their codes of these columns: those of a set once for each value."""
    for column in columns:
        members = column.domain.members
        if members is not None:
            owner, values = members.values_of(column.codes[rows])
            rows = rows[owner]
            return rows, [values if own is column else own.codes[rows] for own in columns]
    return rows, [column.codes[rows] for column in columns]


def _measured(
    table: Microdata, measure: Measure, rows: NDArray[np.int64], numbers: NDArray[np.int64], n_groups: int
) -> list[Any]:
    """One measure in every group."""
    if measure.column is None:
        return list(np.bincount(numbers, minlength=n_groups).tolist())
    column = table.column(measure.column)
    size, values = column.domain.size, column.domain.listed()
    pairs, times = np.unique(numbers * size + column.codes[rows], return_counts=True)
    totals, people = [0] * n_groups, [0] * n_groups
    for group, code, count in zip((pairs // size).tolist(), (pairs % size).tolist(), times.tolist(), strict=True):
        if values[code] is not None:
            totals[group] += count * values[code]
            people[group] += count
    if measure.kind == "sum":
        return totals
    return [total / of if of else None for total, of in zip(totals, people, strict=True)]


def _holds(table: Microdata, condition: Condition) -> NDArray[np.bool_]:
    """Which records satisfy a condition."""
    if isinstance(condition, Test):
        column = table.column(condition.column)
        wanted = np.array([value in condition.values for value in column.domain.listed()], bool)
        return np.asarray(wanted[column.codes])
    if isinstance(condition, Like):
        column = table.column(condition.column)
        wanted = np.array([_fits(condition, value) for value in column.domain.listed()], bool)
        return np.asarray(wanted[column.codes])
    if isinstance(condition, Not):
        return ~_holds(table, condition.part)
    every = isinstance(condition, And)
    found = np.full(table.n_tuples, every)
    for part in condition.parts:
        found = found & _holds(table, part) if every else found | _holds(table, part)
    return found


def _fits(asked: Like, value: Any) -> bool:
    return value is not None and asked.fits(text_of(value)) != asked.negated


def _key(value: Any) -> tuple[bool, str]:
    return (value is None, "" if value is None else text_of(value))
