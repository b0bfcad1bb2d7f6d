# SPDX-License-Identifier: Apache-2.0
"""An answer: the estimate from a release for a question in SQL, and the true answer, if the table is available."""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from glasshouse.studio.tasks.equivalents import question_equivalents
from glasshouse.studio.tasks.people import steward_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from glasshouse.analyst.answers.query import Answer
    from glasshouse.release import Release
    from glasshouse.studio.job import Tell

__all__ = ["ask"]

_MOST_SHOWN = 500  # rows of an answer in the page; the files have all
_MOST_DRAWN = 40  # rows of a picture
_CLOSE = 1e-9  # of a number: what rounding may do


def ask(
    *, tell: Tell, release: str, sql: str, model: str, keep: str, table: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Answer a question from the release alone; then count the truth in the table, if there is one."""
    tell.progress("reading the release", 0, 0)
    from glasshouse.analyst.answers.query import query
    from glasshouse.journeys.load import load
    from glasshouse.journeys.truth import true_answer
    from glasshouse.release.package.tables import csv_of
    from glasshouse.visible import json_text

    loaded = load(release)
    if model == "learned":
        _learn(loaded, keep, tell)
    tell.progress("answering", 0, 0)
    answer = query(loaded, sql, model=model)
    truths: list[tuple[Any, ...]] | None = None
    if table is not None:
        tell.progress("counting the true values", 0, 0)
        truths = true_answer(steward_table(table, release), answer.question, answer.keys)
    measures = [measure.name for measure in answer.question.measures]
    return {
        "headings": list(answer.question.headings),
        "measures": measures,
        "rows": _rows(answer, truths)[:_MOST_SHOWN],
        "n_rows": len(answer.keys),
        "has_truth": truths is not None,
        "notes": list(answer.notes),
        "model": answer.model,
        "figures": [_figure(answer, truths, place) for place in range(len(measures))],
        "n_drawn": min(len(answer.keys), _MOST_DRAWN),
        "covered": _covered(answer, truths),
        "csv": csv_of(answer.to_table()),
        "same": question_equivalents(release, sql, model),
        "json": json_text({"question": sql, **answer.to_dict()}) + "\n",
    }


def _learn(release: Release, keep: str, tell: Tell) -> None:
    """Learn once, and keep it in the workspace; where nothing can be learned, the answer says so itself."""
    from glasshouse.errors import InputError, NotSupported
    from glasshouse.population.learn import learn

    if len(release.recipe.sensitive) != 1:
        return
    tell.progress("learning a model from the release", 0, 100)
    try:
        learn(release, keep=keep, report=lambda share: tell.progress("learning", int(100 * share), 100))
    except (InputError, NotSupported):
        return


def _rows(answer: Answer, truths: Sequence[tuple[Any, ...]] | None) -> list[dict[str, Any]]:
    from glasshouse.microdata.domains import text_of

    found = []
    for place, (keys, estimates) in enumerate(zip(answer.keys, answer.estimates, strict=True)):
        cells = [
            {
                "estimate": "no value" if isnan(estimate.value) else f"{estimate.value:,.6g}",
                "interval": _interval(estimate),
                "true": None if truths is None else _written(truths[place][i]),
                "inside": None if truths is None else _inside(estimate, truths[place][i]),
            }
            for i, estimate in enumerate(estimates)
        ]
        found.append({"keys": [None if key is None else text_of(key) for key in keys], "cells": cells})
    return found


def _interval(estimate: Any) -> str:
    """The interval in words; an undefined number has none, and some have one end only."""
    low, high = (f"{end:,.6g}" if isfinite(end) else "" for end in (estimate.low, estimate.high))
    if low and high:
        return f"{low} to {high}"
    return f"at least {low}" if low else f"at most {high}" if high else "none"


def _written(true: float | None) -> str:
    return "nobody fits" if true is None else f"{true:,.10g}"


def _inside(estimate: Any, true: float | None) -> bool | None:
    """Whether the interval contains the true answer."""
    if true is None:
        return None
    room = _CLOSE * max(1.0, abs(true))
    return bool(estimate.low - room <= true <= estimate.high + room)


def _covered(answer: Answer, truths: Sequence[tuple[Any, ...]] | None) -> tuple[int, int] | None:
    """How many intervals contain the true answer, of how many."""
    if truths is None:
        return None
    judged = [
        _inside(estimate, true)
        for row, own in zip(answer.estimates, truths, strict=True)
        for estimate, true in zip(row, own, strict=True)
    ]
    return sum(one is True for one in judged), sum(one is not None for one in judged)


def _figure(answer: Answer, truths: Sequence[tuple[Any, ...]] | None, measure: int) -> Any:
    """Dots and whiskers of one measure; None where there is nothing to draw."""
    from glasshouse.microdata.domains import text_of
    from glasshouse.pages.charts.whiskers import whisker_figure
    from glasshouse.visible import visible

    name = answer.question.measures[measure].name
    rows: list[tuple[str, float, float, float]] = []
    true: list[float | None] = []
    for place, (keys, estimates) in enumerate(zip(answer.keys, answer.estimates, strict=True)):
        one = estimates[measure]
        if len(rows) < _MOST_DRAWN and all(map(isfinite, (one.value, one.low, one.high))):
            words = ", ".join("missing" if key is None else text_of(key) for key in keys)
            rows.append((visible(words or name), one.value, one.low, one.high))
            true.append(None if truths is None else truths[place][measure])
    if not rows:
        return None
    return whisker_figure(rows, true, title=name, name=f"measure-{measure}")
