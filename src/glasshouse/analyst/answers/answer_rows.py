# SPDX-License-Identifier: Apache-2.0
"""The rows of an answer: an estimate for every measure, for every combination of the grouping columns."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from glasshouse.errors import InputError
from glasshouse.microdata.domains import text_of
from glasshouse.release.release import frame_of
from glasshouse.visible import visible

if TYPE_CHECKING:
    from glasshouse.analyst.answers.estimates import Estimate
    from glasshouse.analyst.questions.question import Question

__all__ = ["Answer"]

_SAID = {
    "learned": "learned from the release",
    "cells": "the papers' estimator, with what the cells of the release tell of quasi-identifiers",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """What a release says to a question: a row for every combination of the grouping columns, or one row alone.

    Where a single estimate was asked for, `value`, `error` and `interval` are its parts.

    Attributes
    ----------
    question
        What was asked.
    keys
        For every row the values of the grouping columns.
    estimates
        For every row an `Estimate` for each measure.
    notes
        What the reader should know of the values that were asked for, such as one that no published cell has.
    model
        Which model gave the estimates: ``learned``, ``cells`` or ``uniform``.
    weight
        The survey weight by which people were counted; None if every record counts once.
    """

    question: Question
    keys: tuple[tuple[Any, ...], ...]
    estimates: tuple[tuple[Estimate, ...], ...]
    notes: tuple[str, ...] = ()
    model: str = "uniform"
    weight: str | None = None

    def __float__(self) -> float:
        return self.value

    @property
    def only(self) -> Estimate:
        """The estimate, where a single one was asked for."""
        if len(self.estimates) != 1 or len(self.estimates[0]) != 1:
            raise InputError(
                f"the answer has {sum(map(len, self.estimates)):,} estimates, and only a single one has a value, an "
                "error and an interval: take them from to_pandas(), to_table() or estimates"
            )
        return self.estimates[0][0]

    @property
    def value(self) -> float:
        """What is expected, where a single estimate was asked for."""
        return self.only.value

    @property
    def error(self) -> float:
        """The standard error of `value`."""
        return self.only.error

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval around `value`: its lower and its upper end."""
        return self.only.low, self.only.high

    def to_table(self) -> pa.Table:
        """The grouping columns; for every measure its estimate, standard error and 95 % interval."""
        columns: dict[str, Any] = {name: [key[i] for key in self.keys] for i, name in enumerate(self.question.headings)}
        for i, measure in enumerate(self.question.measures):
            found = [row[i] for row in self.estimates]
            columns[measure.name] = [estimate.value for estimate in found]
            columns[f"{measure.name} error"] = [estimate.error for estimate in found]
            columns[f"{measure.name} low"] = [estimate.low for estimate in found]
            columns[f"{measure.name} high"] = [estimate.high for estimate in found]
        return pa.table(columns)

    def to_pandas(self) -> Any:
        """As `to_table`, as a pandas frame."""
        return frame_of(self.to_table(), "pandas")

    def to_polars(self) -> Any:
        """As `to_table`, as a polars frame."""
        return frame_of(self.to_table(), "polars")

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        rows = [{k: _plain(v) for k, v in row.items()} for row in self.to_table().to_pylist()]
        return {
            "group_by": list(self.question.headings),
            "rows": rows,
            "notes": list(self.notes),
            "model": self.model,
            "weighted_by": self.weight,
        }

    def _rows(self) -> list[list[str]]:
        """The headings, and a row of cells for every row of the answer."""
        heads = [visible(name) for name in (*self.question.headings, *(m.name for m in self.question.measures))]
        body = (
            [*("missing" if key is None else visible(text_of(key)) for key in keys), *map(str, row)]
            for keys, row in zip(self.keys, self.estimates, strict=True)
        )
        return [heads, *body]

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        heads, *body = ([escape(cell) for cell in row] for row in self._rows())
        rows = [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in body]
        notes = [f"<p>note: {escape(note)}</p>" for note in self.notes]
        return f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{''.join(rows)}</table>{''.join(notes)}"

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        said = [f"note: {note}" for note in self.notes]
        if self.model != "uniform":
            said.append(f"model: {_SAID[self.model]}")
        return "\n".join([*(line.rstrip() for line in lines), *said])


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str | bool) else text_of(value)
