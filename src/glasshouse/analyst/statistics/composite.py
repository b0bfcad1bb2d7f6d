# SPDX-License-Identifier: Apache-2.0
"""Composite answers: a question with CASE, FILTER, shares or quantiles is asked as several, and answered as one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from glasshouse.analyst.answers.answer_rows import Answer
from glasshouse.analyst.answers.estimates import Estimate
from glasshouse.analyst.questions.question import And, Measure, Not, Question, Test
from glasshouse.analyst.statistics.quantile import quantile
from glasshouse.analyst.statistics.range_measure import OPEN, RANGES, between_ends, check_summed, quantile_of_ranges
from glasshouse.analyst.statistics.row_choice import chosen_rows
from glasshouse.errors import InputError, NotSupported
from glasshouse.supports.value_sets import ValueSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from glasshouse.analyst.questions.question import Condition
    from glasshouse.supports.evidence import Evidence

    Ask = Callable[[Question], Answer]
    Rows = dict[tuple[Any, ...], Estimate]

__all__ = ["composite_answer"]

_COUNT = Measure("count", None, "count")
_MOST_QUANTILES = 200
_MOST_COMBINATIONS = 1_000
_NOBODY = Estimate(0.0, 0.0, 0.0, 0.0)


def composite_answer(evidence: Evidence, question: Question, ask: Ask) -> Answer:
    """Answer any question by ``ask``, which answers counts, sums and averages by columns of the release."""
    if question.is_plain:
        return ask(question)
    for order in question.order:
        if order.of == "key" and question.group_by[order.place] in evidence.declared.unordered:
            raise evidence.without_order(question.group_by[order.place])
    places = {  # of ranges and of values with an order, which are not ordered as texts
        at: {
            label: place for place, label in enumerate(evidence.labelled_ranges(name) or evidence.order_of(name) or ())
        }
        for at, name in enumerate(question.group_by)
        if evidence.asked_kinds.get(name) == "category"
    }
    return chosen_rows(_Composite(evidence, question, ask).answer(), question, places)


@dataclass(eq=False)
class _Composite:
    evidence: Evidence
    question: Question
    ask: Ask
    _notes: dict[str, None] = field(default_factory=dict)
    _models: set[str] = field(default_factory=set)
    _weight: str | None = None

    def answer(self) -> Answer:
        question = self.question
        parts = [list(case.parts().items()) for case in question.cases]
        names = [case.name for case in question.cases]
        columns = [name for name in question.group_by if name not in names]
        places = [*columns, *names]
        if _n_combinations(parts) > _MOST_COMBINATIONS:
            raise InputError(
                f"the CASEs make more than {_MOST_COMBINATIONS:,} combinations: ask several smaller questions"
            )
        keys: list[tuple[Any, ...]] = []
        estimates: list[tuple[Estimate, ...]] = []
        for combination in product(*parts):
            where = And((question.where, *(condition for _, condition in combination)))
            made = tuple(value for value, _ in combination)
            for key, row in self._rows(where, tuple(columns)).items():
                of = dict(zip(places, (*key, *made), strict=True))
                keys.append(tuple(of[name] for name in question.group_by))
                estimates.append(row)
        model = next((name for name in ("learned", "cells") if name in self._models), "uniform")
        return Answer(
            question=question,
            keys=tuple(keys),
            estimates=tuple(estimates),
            notes=tuple(self._notes),
            model=model,
            weight=self._weight,
        )

    def _rows(self, where: Condition, columns: tuple[str, ...]) -> dict[tuple[Any, ...], tuple[Estimate, ...]]:
        """The estimates of every measure, by the values of the grouping columns."""
        plain = tuple(measure for measure in self.question.measures if measure.is_plain)
        asked = (*plain, replace(_COUNT, name="people"))
        base = self._asked(asked, where, columns)
        counts = {key: row[-1] for key, row in zip(base.keys, base.estimates, strict=True)}
        if self.question.cases:  # nobody may be of a case
            counts = {key: count for key, count in counts.items() if count.value > 0 or count.error > 0}
        of_plain = {
            measure: {key: row[i] for key, row in zip(base.keys, base.estimates, strict=True)}
            for i, measure in enumerate(plain)
        }
        found = [
            of_plain[measure] if measure.is_plain else self._measured(measure, where, columns, counts)
            for measure in self.question.measures
        ]
        return {key: tuple(own[key] for own in found) for key in counts}

    def _measured(self, measure: Measure, where: Condition, columns: tuple[str, ...], counts: Rows) -> Rows:
        if measure.kind == "quantile":
            return self._quantiles(measure, where, columns, counts)
        if measure.of_ranges:
            return self._of_ranges(measure, where, columns, counts)
        assert measure.among is not None
        inside = self._one(measure, And((where, measure.among)), columns)
        if measure.kind != "share":
            nobody = Estimate.normal(float("nan"), float("nan")) if measure.kind == "avg" else _NOBODY
            return {key: inside.get(key, nobody) for key in counts}
        outside = self._one(measure, And((where, Not(measure.among))), columns)
        return {key: _share(inside.get(key, _NOBODY), outside.get(key, _NOBODY), own) for key, own in counts.items()}

    def _of_ranges(self, measure: Measure, where: Condition, columns: tuple[str, ...], counts: Rows) -> Rows:
        """A sum or an average of a column of ranges, from those of their lower and of their upper ends."""
        column = measure.column
        assert column is not None
        check_summed(self.evidence, column)
        inside = [where, *([] if measure.among is None else [measure.among])]
        if measure.kind == "avg":
            inside.append(Test(column, ~ValueSet.of([None])))
        own = (replace(measure, column=end, among=None, of_ranges=False) for end in self.evidence.ends_of(column))
        found = self._asked(tuple(own), And(tuple(inside)), columns)
        self._notes[RANGES.format(column=repr(column))] = None
        nobody = Estimate.normal(float("nan"), float("nan")) if measure.kind == "avg" else _NOBODY
        rows = {key: between_ends(*row) for key, row in zip(found.keys, found.estimates, strict=True)}
        return {key: rows.get(key, nobody) for key in counts}

    def _one(self, measure: Measure, where: Condition, columns: tuple[str, ...]) -> Rows:
        """One measure over the people who satisfy a condition."""
        own = _COUNT if measure.column is None else replace(measure, among=None)
        found = self._asked((own,), where, columns)
        return {key: row[0] for key, row in zip(found.keys, found.estimates, strict=True)}

    def _quantiles(self, measure: Measure, where: Condition, columns: tuple[str, ...], counts: Rows) -> Rows:
        sets = next((name for name in columns if name in self.evidence.release.sets), None)
        if sets is not None:
            raise NotSupported(
                (
                    f"a separate quantile for each value of {sets!r} is not supported, because this column contains "
                    "sets of values"
                ),
                instead="ask with WHERE",
            )
        if len(counts) > _MOST_QUANTILES:
            raise InputError(
                f"a quantile for each of {len(counts):,} rows takes too long (at most {_MOST_QUANTILES} rows are "
                "allowed): ask for fewer groups, with WHERE"
            )
        if measure.among is not None:
            where = And((where, measure.among))

        def asked(question: Question) -> Answer:
            return self._asked(question.measures, question.where, ())

        estimate = quantile_of_ranges if measure.of_ranges else quantile
        if measure.of_ranges:
            self._notes[RANGES.format(column=repr(measure.column))] = None
        rows = {key: estimate(self.evidence, And((where, *_fixed(columns, key))), measure, asked) for key in counts}
        if any(row.is_bound for row in rows.values()):
            self._notes[OPEN.format(column=repr(measure.column))] = None
        return rows

    def _asked(self, measures: tuple[Measure, ...], where: Condition, columns: tuple[str, ...]) -> Answer:
        found = self.ask(Question(measures, where, columns))
        self._notes.update(dict.fromkeys(found.notes))
        self._models.add(found.model)
        self._weight = found.weight
        return found


def _fixed(columns: tuple[str, ...], key: tuple[Any, ...]) -> list[Test]:
    return [Test(name, ValueSet.of([value])) for name, value in zip(columns, key, strict=True)]


def _share(inside: Estimate, outside: Estimate, everybody: Estimate) -> Estimate:
    """The share of those inside, with its variance to first order, from the variances of both parts and the whole.

    The three answers may come from different models, for the whole may ask for nothing that has to be learned. So that
    both parts err in the same direction, which would make the share more certain, is not concluded from them.
    """
    if everybody.value <= 0:
        return Estimate.normal(float("nan"), float("nan"))
    value = inside.value / everybody.value
    one, other = inside.error**2, outside.error**2
    together = min((everybody.error**2 - one - other) / 2, 0.0)
    variance = (1 - value) ** 2 * one + value**2 * other - 2 * value * (1 - value) * together
    return Estimate.normal(value, variance / everybody.value**2, least=0.0, most=1.0)


def _n_combinations(parts: list[list[tuple[Any, Condition]]]) -> int:
    found = 1
    for own in parts:
        found *= len(own)
    return found
