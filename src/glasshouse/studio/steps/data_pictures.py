# SPDX-License-Identifier: Apache-2.0
"""Small pictures of how the values of a column are distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse.pages.svg import Part, drawing, element, line
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["picture"]

_WIDTH, _HEIGHT, _FLOOR = 240, 56, 52
_LEAST = 1.5  # pixels of a bar that stands for somebody


def picture(column: Mapping[str, Any], number: int) -> Part | None:
    """Draw bars: of ranges from the smallest value to the largest, or of values, the most frequent first."""
    bars = column["bars"]
    if not bars or not bars["counts"] or column["unique_share"] == 1:  # nothing can be seen where all are alone
        return None
    counts = [*bars["counts"], *([bars["others"]] if bars.get("others") else [])]
    most = max(counts)
    wide = min((_WIDTH - 8) / len(counts), 28)
    parts = [line(4, _FLOOR, _WIDTH - 4, _FLOOR, class_="grid")]
    for i, count in enumerate(counts):
        if count:
            tall = max(_LEAST, (_FLOOR - 4) * count / most)
            others = bool(bars.get("others")) and i == len(counts) - 1
            parts.append(
                element(
                    "rect",
                    class_="bar others" if others else "bar",
                    x=4 + wide * i + 0.5,
                    y=_FLOOR - tall,
                    width=max(wide - 1, 1.0),
                    height=tall,
                )
            )
    return drawing(
        _WIDTH, _HEIGHT, "How its values are distributed", _said(column, counts), parts, name=f"spread-{number}"
    )


def _said(column: Mapping[str, Any], counts: list[int]) -> str:
    if column["ends"]:
        low, high = column["ends"]
        ranges, fullest = counted(len(counts), "range"), counted(max(counts), "row")
        return f"{ranges} of equal width from {low} to {high}; the fullest has {fullest}."
    values = list(zip(column["bars"]["values"], column["bars"]["counts"], strict=True))[:3]
    first = ", ".join(f"{value} ({count:,})" for value, count in values)
    others = column["bars"]["others"]
    more = f" The last bar is all other values: {counted(others, 'row')}." if others else ""
    return f"Rows of each value, the most frequent first: {first}.{more}"
