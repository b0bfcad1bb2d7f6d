# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison: one HTML file that needs nothing else, in the style of the steward's report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse.pages.charts.frontier import MARKS, frontier
from glasshouse.pages.html import render
from glasshouse.pages.svg import Part

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["page"]


def page(found: Mapping[str, Any]) -> str:
    """Render the page from the result of `Comparison.shown`."""
    notices = [{"level": "stop" if found["used_truth"] else "note", "text": found["caution"]}]
    notices += [{"level": "note", "text": note} for note in found["notes"]]
    return render(
        "comparison.html",
        found=found,
        notices=notices,
        rows=[_row(row) for row in found["rows"] if not row["failed"]],
        drawing=frontier(found["rows"]),
        marks=Part(MARKS),
    )


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    memory = None if row["memory"] is None else row["memory"] / (1 << 20)
    numbers = [
        (row["cost"], 3),
        (row["error"], 4),
        (row["kl"], 3),
        (row["average_size"], 1),
        (row["seconds"], 2),
        (memory, 0),
    ]
    return {**row, "belief": _number(row["belief"], 4), "numbers": [_number(*each) for each in numbers]}


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"
