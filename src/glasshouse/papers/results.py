# SPDX-License-Identifier: Apache-2.0
"""What an experiment gives: figures of curves and tables of cells, each as CSV and as Markdown.

CSV holds every number in full, so that what was written can be read and shown again.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from glasshouse.pages.charts.lines import Curve, line_chart
from glasshouse.pages.numbers import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Curve", "Figure", "Table", "as_csv", "as_markdown", "cells_of_csv", "curves_of", "figure_of", "number"]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One panel of a figure."""

    name: str  # the paper's number, which is also the name of the files: ``figure-11a``
    title: str  # what it shows
    # x, y: what the axes stand for
    x: str
    y: str
    curves: Mapping[str, Curve]  # by name; all over the same places
    log: bool = False  # whether the vertical axis is logarithmic

    @property
    def places(self) -> list[float]:
        """All x at which something was to be measured, ascending."""
        return sorted({place for curve in self.curves.values() for place in curve})

    def cells(self) -> list[list[str | float | None]]:
        """One row for each x: x, and each curve there."""
        return [[place, *(curve.get(place) for curve in self.curves.values())] for place in self.places]

    @property
    def columns(self) -> list[str]:
        """The headings of the cells."""
        return [self.x, *self.curves]

    def drawn(self) -> str:
        """The drawing, as SVG."""
        return f"{line_chart(self.title, self.x, self.y, self.curves, log=self.log)}\n"


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the paper, with new measurements."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]

    def cells(self) -> Sequence[Sequence[str | float | None]]:
        """The rows."""
        return self.rows


def figure_of(
    name: str,
    title: str,
    x: str,
    by_place: Mapping[float, Mapping[str, float | None]],
    *,
    y: str = "average relative error (%)",
    log: bool = True,
) -> Figure:
    """A panel made from the results at each x."""
    return Figure(name=name, title=title, x=x, y=y, curves=curves_of(by_place), log=log)


def curves_of(by_place: Mapping[float, Mapping[str, float | None]]) -> dict[str, Curve]:
    """Turn the results at each x into one curve for each name.

    >>> curves_of({6: {"ours": 1.0, "theirs": 2.0}, 8: {"ours": 3.0, "theirs": None}})
    {'ours': {6.0: 1.0, 8.0: 3.0}, 'theirs': {6.0: 2.0, 8.0: None}}
    """
    names = next(iter(by_place.values()), {})
    return {name: {float(place): found[name] for place, found in by_place.items()} for name in names}


def as_csv(shown: Figure | Table) -> str:
    """Every number in full; an empty field where nothing could be measured."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(shown.columns)
    writer.writerows(shown.cells())
    return written.getvalue()


def cells_of_csv(text: str) -> tuple[list[str], list[list[str | float | None]]]:
    """Read columns and cells from CSV: texts that look like numbers are numbers, empty fields were not measured.

    >>> cells_of_csv("l,ours,theirs\\n6.0,1.5,\\n")
    (['l', 'ours', 'theirs'], [[6.0, 1.5, None]])
    """
    columns, *rows = csv.reader(io.StringIO(text))
    return columns, [[_cell(field) for field in row] for row in rows]


def _cell(field: str) -> str | float | None:
    try:
        return float(field) if field else None
    except ValueError:
        return field


def as_markdown(shown: Figure | Table) -> str:
    """The same as a Markdown table, with three digits."""
    rows = [shown.columns, ["---", *["--:"] * (len(shown.columns) - 1)]]
    rows += [[cell if isinstance(cell, str) else number(cell) for cell in row] for row in shown.cells()]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)
