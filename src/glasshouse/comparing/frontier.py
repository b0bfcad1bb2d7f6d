# SPDX-License-Identifier: Apache-2.0
"""The frontier: what is believed against what is lost, a mark for each way, drawn as SVG.

Privacy is from left to right: the most that whoever knows the algorithm believes of anybody. Utility is upwards: the
mean error of answers. Ways on the frontier are those that no other one beats in both.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from glasshouse.report.page import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from glasshouse.comparing.comparison import Comparison
    from glasshouse.comparing.row import Row

__all__ = ["ALONE", "MARKS", "frontier", "undominated"]

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

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _FLOOR = 720, 440, 64, 210, 40, 380
_UNKNOWN = 1.12  # where beliefs that are not known are drawn
_SPAN = 1.2  # of the axis, with them
_APART = 15  # pixels between labels


def undominated(rows: Sequence[Row]) -> list[Row]:
    """The rows that no other row beats: as low a belief and as small an error, and one of them lower."""
    known = sorted((r for r in rows if r.belief is not None and r.error is not None), key=_pair)
    found: list[Row] = []
    for row in known:
        if not found or _pair(row)[1] < _pair(found[-1])[1]:
            found.append(row)
    return found


def frontier(found: Comparison, *, style: str = "") -> str:
    """Draw the rows of a comparison.

    Parameters
    ----------
    style
        For a picture by itself; inside a page that has `MARKS` in its style, none.
    """
    rows = [row for row in found.rows if not row.failed and row.error is not None]
    best, edge = found.recommended, undominated(rows)
    drawn = [row for row in rows if row.error is not None]
    errors = [max(row.error or 0.0, 1e-4) for row in drawn] or [0.1]
    plane = _Plane(floor(log10(min(errors))), ceil(log10(max(errors)) + 1e-9))
    parts = [*_axes(plane), *_lines(plane, drawn)]
    if edge:
        parts.append(f'<polyline class="frontier" points="{_steps(plane, edge)}"/>')
    parts += [_mark(plane, row) for row in sorted(drawn, key=lambda row: row is best)]
    if best is not None and best in drawn:
        x, y = plane.at(best)
        parts.append(f'<circle class="best" cx="{x:.1f}" cy="{y:.1f}" r="10"/>')
    parts += _labels(plane, [*edge, *([best] if best is not None and best in drawn and best not in edge else [])], best)
    said = (
        f"{len(drawn)} ways by the largest belief of whoever knows the algorithm and by the mean error of answers. "
        + (f"Recommended: {best.way}. " if best is not None else "")
        + f"On the frontier: {', '.join(row.way for row in edge) or 'none'}."
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            'aria-labelledby="frontier-title frontier-desc">',
            '<title id="frontier-title">Privacy and utility</title>',
            f'<desc id="frontier-desc">{text(said)}</desc>',
            *([f"<style>{style}</style>"] if style else []),
            *parts,
            "</svg>",
        ]
    )


class _Plane:
    """Beliefs from 0 to 1 and beyond, errors on a logarithmic scale between two powers of ten."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, max(high, low + 1)

    def x(self, belief: float | None) -> float:
        share = _UNKNOWN if belief is None else belief
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * share / _SPAN

    def y(self, error: float) -> float:
        share = (log10(max(error, 10.0**self.low)) - self.low) / (self.high - self.low)
        return _FLOOR - (_FLOOR - _TOP) * min(1.0, share)

    def at(self, row: Row) -> tuple[float, float]:
        return self.x(row.belief), self.y(row.error or 0.0)


def _pair(row: Row) -> tuple[float, float]:
    return round(row.belief or 0.0, 9), row.error or 0.0


def _axes(plane: _Plane) -> Iterator[str]:
    right = plane.x(_SPAN)
    for power in range(plane.low, plane.high + 1):
        y = plane.y(10.0**power)
        yield f'<line class="grid" x1="{_LEFT}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power * 100:g}&#8239;%</text>'
    for i in range(6):
        x = plane.x(i / 5)
        yield f'<text x="{x:.1f}" y="{_FLOOR + 16}" text-anchor="middle">{i / 5:g}</text>'
    yield f'<text class="axis" x="{plane.x(_UNKNOWN):.1f}" y="{_FLOOR + 16}" text-anchor="middle">not known</text>'
    middle = plane.x(0.5)
    said = "the most that whoever knows the algorithm believes of anybody"
    yield f'<text class="axis" x="{middle:.1f}" y="{_FLOOR + 36}" text-anchor="middle">{said}</text>'
    yield f'<text class="axis" x="{_LEFT}" y="16">mean error of answers</text>'


def _lines(plane: _Plane, rows: Sequence[Row]) -> Iterator[str]:
    """What was promised, and what no link at all would give."""
    limit = next((row.limit for row in rows if row.limit is not None), None)
    if limit is not None:
        x = plane.x(float(Fraction(limit)))
        yield f'<line class="limit" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 8}" y2="{_FLOOR}"/>'
        yield f'<text class="limit" x="{x + 6:.1f}" y="{_TOP - 10}">promised: {text(limit)}</text>'
    baseline = next((row.baseline for row in rows if row.baseline is not None), None)
    if baseline:
        y, right = plane.y(baseline), plane.x(_SPAN)
        yield f'<line class="no-link" x1="{_LEFT}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="axis" x="{right + 6:.1f}" y="{y + 4:.1f}">no link: {baseline:.1%}</text>'


def _mark(plane: _Plane, row: Row) -> str:
    """A circle: full if it was measured, empty if it is a bound; red if it does not hold against her."""
    x, y = plane.at(row)
    kind = " linking" if row.adversary == "linking" else " bound" if row.how == "bound" else ""
    belief = "belief not known" if row.belief is None else f"belief {row.belief:.4f} ({row.how})"
    told = f"{row.way}: error {row.error or 0.0:.2%}, {belief}, {row.adversary}"
    return f'<circle class="mark{kind}" cx="{x:.1f}" cy="{y:.1f}" r="5"><title>{text(told)}</title></circle>'


def _steps(plane: _Plane, edge: Sequence[Row]) -> str:
    """The border of what can be had: to the right of a way and above it nothing is better."""
    places = [plane.at(row) for row in edge]
    corners = [places[0]]
    for (_, before), (x, y) in pairwise(places):
        corners += [(x, before), (x, y)]
    corners.append((plane.x(1.0), places[-1][1]))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)


def _labels(plane: _Plane, rows: Iterable[Row], best: Row | None) -> Iterator[str]:
    """Names beside the picture, at the height of their marks or as near as there is room."""
    right, last = plane.x(_SPAN) + 6, float("-inf")
    ordered = sorted(rows, key=lambda row: plane.at(row)[1])
    baseline = next((plane.y(row.baseline) for row in ordered if row.baseline), None)
    for row in ordered:
        x, y = plane.at(row)
        place = max(y, last + _APART)
        if baseline is not None and abs(place - baseline) < _APART:
            place = baseline + _APART
        last = place
        bold = ' font-weight="600"' if row is best else ""
        yield f'<line class="leader" x1="{x + 6:.1f}" x2="{right - 3:.1f}" y1="{y:.1f}" y2="{place:.1f}"/>'
        yield f'<text x="{right:.1f}" y="{place + 4:.1f}"{bold}>{text(_short(row.way))}</text>'


def _short(words: str, most: int = 30) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"
