# SPDX-License-Identifier: Apache-2.0
"""The frontier: what is believed against what is lost, a mark for each way to publish.

Privacy is from left to right: the largest belief about anybody that an attacker who knows the algorithm can have.
Utility is upwards: the mean error of answers. Ways on the frontier are those that no other one beats in both.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from glasshouse.pages.svg import Part, Plane, drawing, element, label, line, polyline, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["ALONE", "MARKS", "frontier"]

MARKS = """
svg .mark { fill: var(--bar); stroke: var(--paper); stroke-width: 1; }
svg .mark.linking { fill: var(--stop); }
svg .mark.bound { fill: var(--paper); stroke: var(--bar); stroke-width: 2; }
svg .best { fill: none; stroke: var(--ink); stroke-width: 1.5; }
svg .frontier { fill: none; stroke: var(--leaf); stroke-width: 1.5; stroke-linejoin: miter; }
svg .leader { stroke: var(--soft); stroke-width: .6; }
"""
ALONE = (
    """
svg { --paper: #fff; --wash: #f4f7f5; --line: #d3ddd7; --ink: #17211c; --soft: #4c5a53; --leaf: #1f6b4a;
  --bar: #4a9472; --stop: #a3201c; --other: #6a6f8f; background: #fff; font-family: system-ui, sans-serif; }
svg text { fill: var(--ink); font-size: 12px; } svg text.axis { fill: var(--soft); }
svg .grid { stroke: var(--line); } svg .limit { stroke: var(--stop); stroke-dasharray: 5 4; }
svg text.limit { fill: var(--stop); stroke: none; } svg .no-link { stroke: var(--other); stroke-dasharray: 3 4; }
"""
    + MARKS
)
"""The style of a picture that stands by itself."""

_WIDTH, _HEIGHT = 720, 440
_UNKNOWN = 1.12  # where beliefs that are not known are drawn
_SPAN = 1.2  # of the axis, with them
_APART = 15  # pixels between labels
_LEAST = 1e-4  # smaller errors are drawn like this one
_LONGEST = 30  # letters of a label


def frontier(
    rows: Sequence[Mapping[str, Any]], *, style: str | None = None, links: Sequence[str] | None = None
) -> Part:
    """Draw the rows of a comparison, as `Comparison.shown` gives them.

    A picture by itself has a ``style``; inside a page that has `MARKS` in its own, it is None. With ``links``, an
    address for each row, every mark leads to what the page says of its row.
    """
    linked = dict(zip(map(id, rows), links or (), strict=False))
    drawn = [row for row in rows if not row["failed"] and row["error"] is not None]
    best = next((row for row in drawn if row["chosen"]), None)
    edge = sorted((row for row in drawn if row["on_edge"]), key=lambda row: (row["belief"], row["error"]))
    errors = [max(row["error"], _LEAST) for row in drawn] or [0.1]
    ticks = _ticks(min(errors), max(errors))
    plane = Plane(
        left=64,
        right=_WIDTH - 210,
        top=40,
        floor=380,
        across=(0.0, _SPAN),
        up=(ticks[0], ticks[-1]),
        powers="y",
    )
    parts = [
        *plane.rows({tick: f"{tick * 100:g}\u202f%" for tick in ticks}, class_="grid"),
        *plane.columns({i / 5: f"{i / 5:g}" for i in range(6)}),
        label(plane.x(_UNKNOWN), plane.floor + 16, "not known", anchor="middle", class_="axis"),
        label(
            plane.x(0.5),
            plane.floor + 36,
            "the most that an attacker who knows the algorithm believes of anybody",
            anchor="middle",
            class_="axis",
        ),
        label(plane.left, 16, "mean error of answers", class_="axis"),
        *_lines(plane, drawn),
    ]
    if edge:
        parts.append(polyline(_steps(plane, edge), class_="frontier"))
    parts += [_mark(plane, row, linked.get(id(row))) for row in sorted(drawn, key=lambda row: row is best)]
    if best is not None:
        x, y = _at(plane, best)
        parts.append(element("circle", class_="best", cx=x, cy=y, r=10))
    parts += _labels(plane, [*edge, *([best] if best is not None and best not in edge else [])])
    chosen = next((row for row in rows if row["chosen"]), None)
    said = (
        f"{len(drawn)} ways by the largest belief of an attacker who knows the algorithm and by the mean error of "
        "answers. "
        + (f"Recommended: {chosen['way']}. " if chosen is not None else "")
        + f"On the frontier: {', '.join(row['way'] for row in edge) or 'none'}."
    )
    role = "group" if linked else "img"  # what is inside of an image cannot be reached
    return drawing(_WIDTH, _HEIGHT, "Privacy and utility", said, parts, name="frontier", style=style, role=role)


def _ticks(least: float, most: float) -> list[float]:
    """Values that are easily read, from below the least error to above the largest.

    >>> _ticks(0.13, 0.48), _ticks(0.004, 0.04)
    ([0.1, 0.2, 0.5], [0.002, 0.005, 0.01, 0.02, 0.05])
    """
    powers = range(floor(log10(least)) - 1, ceil(log10(most)) + 2)
    steps = [float(f"{step}e{power}") for power in powers for step in (1, 2, 5)]
    low = max(i for i, step in enumerate(steps) if step <= least)
    high = min(i for i, step in enumerate(steps) if step >= most and i > low)
    return steps[low : high + 1]


def _at(plane: Plane, row: Mapping[str, Any]) -> tuple[float, float]:
    return plane.x(_UNKNOWN if row["belief"] is None else row["belief"]), plane.y(row["error"])


def _lines(plane: Plane, rows: Sequence[Mapping[str, Any]]) -> Iterator[Part]:
    """What was promised, and what no link at all would give."""
    limit = next((row["limit"] for row in rows if row["limit"] is not None), None)
    if limit is not None:
        x = plane.x(float(Fraction(limit)))
        yield line(x, plane.top - 8, x, plane.floor, class_="limit")
        yield label(x + 6, plane.top - 10, f"promised: {limit}", class_="limit")
    baseline = next((row["baseline"] for row in rows if row["baseline"] is not None), None)
    if baseline:
        y = plane.y(baseline)
        yield line(plane.left, y, plane.right, y, class_="no-link")
        yield label(plane.right + 6, y + 4, f"no link: {baseline:.1%}", class_="axis")


def _mark(plane: Plane, row: Mapping[str, Any], link: str | None) -> Part:
    """A circle, full if it was measured and empty if it is a bound; a square if it holds against linking alone."""
    x, y = _at(plane, row)
    belief = "belief not known" if row["belief"] is None else f"belief {row['belief']:.4f} ({row['how']})"
    told = element("title", f"{row['way']}: error {row['error']:.2%}, {belief}, {row['adversary']}")
    if row["adversary"] == "linking":
        mark = element("rect", told, class_="mark linking", x=x - 4.5, y=y - 4.5, width=9, height=9)
    else:
        mark = element("circle", told, class_="mark bound" if row["how"] == "bound" else "mark", cx=x, cy=y, r=5)
    return mark if link is None else element("a", mark, href=link, aria_label=row["way"])


def _steps(plane: Plane, edge: Sequence[Mapping[str, Any]]) -> list[tuple[float, float]]:
    """The border of what can be had: to the right of a way and above it nothing is better."""
    places = [_at(plane, row) for row in edge]
    corners = [places[0]]
    for (_, before), (x, y) in pairwise(places):
        corners += [(x, before), (x, y)]
    return [*corners, (plane.x(1.0), places[-1][1])]


def _labels(plane: Plane, rows: Sequence[Mapping[str, Any]]) -> Iterator[Part]:
    """Names beside the picture, at the height of their marks or as near as there is room."""
    right, last = plane.right + 6, float("-inf")
    ordered = sorted(rows, key=lambda row: _at(plane, row)[1])
    baseline = next((plane.y(row["baseline"]) for row in ordered if row["baseline"]), None)
    for row in ordered:
        x, y = _at(plane, row)
        place = max(y, last + _APART)
        if baseline is not None and abs(place - baseline) < _APART:
            place = baseline + _APART
        last = place
        yield line(x + 6, y, right - 3, place, class_="leader")
        weight = "600" if row["chosen"] else None
        yield label(right, place + 4, short(row["way"], _LONGEST), font_weight=weight)
