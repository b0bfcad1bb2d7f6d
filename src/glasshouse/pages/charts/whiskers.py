# SPDX-License-Identifier: Apache-2.0
"""Whiskers: estimates as dots with their 95 % intervals, and beside them the truth, where it is known."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING

from glasshouse.pages.svg import Part, Plane, drawing, element, label, line, short

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["whisker_figure"]

_WIDTH, _ROW, _LEFT = 680, 26, 190
_LONGEST = 24  # letters of a row's name
_END = 5  # half the height of the end of a whisker


def whisker_figure(
    rows: Sequence[tuple[str, float, float, float]],
    truths: Sequence[float | None] | None = None,
    *,
    title: str,
    name: str,
) -> Part:
    """Draw an interval for each row: its name, the estimate, the lower and the upper end.

    A true value is a diamond, so that it is told from the dot of an estimate by its form.
    """
    truths = truths or [None] * len(rows)
    numbers = [number for _, *three in rows for number in three] + [true for true in truths if true is not None]
    ticks = _ticks(min([0.0, *numbers]), max(numbers, default=1.0))
    height = _ROW * len(rows) + (74 if any(true is not None for true in truths) else 54)
    plane = Plane(left=_LEFT, right=_WIDTH - 30, top=8, floor=8 + _ROW * len(rows), across=(ticks[0], ticks[-1]))
    parts = [*plane.columns({tick: f"{tick:,.10g}" for tick in ticks}, class_="grid")]
    for i, ((words, estimate, low, high), true) in enumerate(zip(rows, truths, strict=True)):
        y = plane.top + _ROW * i + _ROW / 2
        left, right = plane.x(low), plane.x(high)
        parts += [
            label(_LEFT - 10, y + 4, short(words, _LONGEST), anchor="end"),
            line(left, y, right, y, class_="whisker"),
            line(left, y - _END, left, y + _END, class_="whisker"),
            line(right, y - _END, right, y + _END, class_="whisker"),
            element("circle", class_="dot", cx=plane.x(estimate), cy=y, r=4.5),
        ]
        if true is not None:
            parts.append(_diamond(plane.x(true), y))
    parts.append(plane.named(title))
    if any(true is not None for true in truths):
        y = plane.floor + 56
        parts += [
            element("circle", class_="dot", cx=_LEFT, cy=y, r=4.5),
            label(_LEFT + 10, y + 4, "from the release, with its 95 % interval"),
            _diamond(_LEFT + 270.0, y),
            label(_LEFT + 280, y + 4, "the true value (confidential: do not publish)"),
        ]
    said = "; ".join(
        f"{short(words, _LONGEST)}: {estimate:,.4g}, from {low:,.4g} to {high:,.4g}"
        + ("" if true is None else f", truly {true:,.4g}")
        for (words, estimate, low, high), true in zip(rows, truths, strict=True)
    )
    return drawing(_WIDTH, height, f"Estimates with 95 % intervals: {title}", f"{said}.", parts, name=name)


def _diamond(x: float, y: float) -> Part:
    corners = ((x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y))
    return element("polygon", class_="true", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in corners))


def _ticks(low: float, high: float) -> list[float]:
    """Some four to seven round numbers that enclose all values.

    >>> _ticks(0.0, 37.0), _ticks(-0.3, 0.5), _ticks(0.0, 0.0)
    ([0.0, 10.0, 20.0, 30.0, 40.0], [-0.4, -0.2, 0.0, 0.2, 0.4, 0.6], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    """
    if high <= low:
        high = low + 1.0
    unit = 10.0 ** floor(log10((high - low) / 3))
    step = next(unit * times for times in (1, 2, 5, 10, 20) if (high - low) / (unit * times) <= 5)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [round(step * i, 12) for i in range(first, last + 1)]
