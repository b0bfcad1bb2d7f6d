# SPDX-License-Identifier: Apache-2.0
"""The rows of an answer: an estimate for every measure, for every combination of the grouping columns."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from html import escape
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from glasshouse.errors import InputError, OutputError, ParameterError
from glasshouse.microdata.domains import text_of
from glasshouse.plural import counted
from glasshouse.release.package.listing import write_whole
from glasshouse.release.package.tables import csv_of, missing_marks
from glasshouse.release.release import frame_of
from glasshouse.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from glasshouse.analyst.answers.estimates import Estimate
    from glasshouse.analyst.questions.question import Question

__all__ = ["Answer"]

_FORMATS: Final = ("text", "csv", "json", "arrow")
_MANY = 1_000  # rows: of more, those that nobody is likely to be in are not shown
_NOBODY = 0.5  # a count below it is nearer to no record than to one

_SAID = {
    "learned": "learned from the release",
    "cells": (
        "sensitive values are assumed to be spread evenly within each group, and quasi-identifiers to be distributed "
        "as the cells of the release show"
    ),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """The answer to a question: a row for every combination of the grouping columns, or a single row.

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
                f"the answer has {counted(sum(map(len, self.estimates)), 'estimate')}, and value, error and interval "
                "exist only for an answer with one estimate: take the estimates from to_pandas(), to_table() "
                "or estimates"
            )
        return self.estimates[0][0]

    @property
    def value(self) -> float:
        """The estimated number, if a single one was asked for."""
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
        """The grouping columns; for every measure its estimate, standard error and 95 % interval.

        A number that is undefined, such as the average of nobody, is missing: null in Arrow and polars, NaN in pandas.
        """
        columns: dict[str, Any] = {name: [key[i] for key in self.keys] for i, name in enumerate(self.question.headings)}
        for i, measure in enumerate(self.question.measures):
            found = [row[i] for row in self.estimates]
            columns[measure.name] = _numbers(estimate.value for estimate in found)
            columns[f"{measure.name} error"] = _numbers(estimate.error for estimate in found)
            columns[f"{measure.name} low"] = _numbers(estimate.low for estimate in found)
            columns[f"{measure.name} high"] = _numbers(estimate.high for estimate in found)
        return pa.table(columns)

    def to_pandas(self) -> Any:
        """The table of `to_table` as a pandas frame."""
        return frame_of(self.to_table(), "pandas")

    def to_polars(self) -> Any:
        """The table of `to_table` as a polars frame."""
        return frame_of(self.to_table(), "polars")

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON; a number that is undefined, such as the average of nobody, is None."""
        rows = [{k: _finite(_plain(v)) for k, v in row.items()} for row in self.to_table().to_pylist()]
        return {
            "group_by": list(self.question.headings),
            "rows": rows,
            "notes": list(self.notes),
            "model": self.model,
            "weighted_by": self.weight,
        }

    def to_arrow(self) -> pa.Table:
        """The table of `to_table` as Arrow; its schema's metadata have the model, the survey weight and the notes."""
        told = {"glasshouse.model": self.model, "glasshouse.weighted_by": self.weight or ""}
        return self.to_table().replace_schema_metadata({**told, "glasshouse.notes": "\n".join(self.notes)})

    def to_csv(self) -> str:
        """The table of `to_table` as the text of a CSV file.

        A text that a spreadsheet would run as a formula gets an apostrophe, as in a published CSV file; a missing value
        is an empty cell, or a word where the column has empty texts too, and a number that is undefined is an empty
        cell. Notes do not fit into it.
        """
        table = self.to_table()
        return csv_of(table, missing_marks(table)).decode()

    def to_json(self) -> str:
        """The data of `to_dict` as JSON text; a value that is undefined, such as the average of no records, is null."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def save(self, path: str | Path, *, format: str | None = None, force: bool = False) -> None:
        """Write the answer to a file; if that fails, no part of it is left.

        Parameters
        ----------
        path
            The file.
        format
            ``csv``, ``json``, ``arrow`` (an IPC file) or ``text`` (as it is printed); by default what the name of the
            file ends in.
        force
            Replace a file that is there.
        """
        target = Path(path)
        form = target.suffix.removeprefix(".") if format is None else format
        if form not in _FORMATS:
            raise ParameterError(
                "save",
                "format",
                "'csv', 'json', 'arrow' or 'text', or a file name that ends in .csv, .json, .arrow or .text",
                form,
            )
        if not force and os.path.lexists(target):
            raise OutputError(
                f"{target} exists already: choose another name, or replace it with force=True", path=target
            )
        write_whole(target, self._bytes(form), private=False)

    def _bytes(self, form: str) -> bytes:
        if form == "text":
            return f"{self}\n".encode()
        if form != "arrow":
            return (self.to_csv() if form == "csv" else self.to_json()).encode()
        table, sink = self.to_arrow(), pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue())

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

    @property
    def _worth_showing(self) -> list[int]:
        """The places of the rows to show: of very many, not those whose intervals of counts end below 0.5."""
        counts = [i for i, measure in enumerate(self.question.measures) if measure.kind == "count"]
        every = range(len(self.estimates))
        if len(every) <= _MANY or not counts:
            return list(every)
        return [place for place in every if not all(self.estimates[place][i].high < _NOBODY for i in counts)]

    def __str__(self) -> str:
        shown = self._worth_showing
        head, *every = self._rows()
        rows = [head, *(every[place] for place in shown)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        said = [f"note: {note}" for note in self.notes]
        if len(shown) < len(every):
            said.append(
                f"note: {counted(len(every) - len(shown), 'row')} of {len(every):,} are not shown, because the "
                f"intervals of their counts end below {_NOBODY}: to get all rows, write the answer to a file (--out in "
                "the command line, save() in Python)"
            )
        if self.model != "uniform":
            said.append(f"model: {_SAID[self.model]}")
        return "\n".join([*(line.rstrip() for line in lines), *said])


def _numbers(found: Iterable[float]) -> pa.Array:
    """Numbers as a column, in which those that are undefined are missing."""
    return pa.array(found, pa.float64(), from_pandas=True)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str | bool) else text_of(value)
