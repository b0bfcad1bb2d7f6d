# SPDX-License-Identifier: Apache-2.0
"""Line charts: every measured point is marked, nothing is smoothed, and no script or outside file is needed.

A vertical axis that is not logarithmic begins at 0, so that heights compare. A place where nothing could be measured is
a gap in its line. Curves differ in colour, in the shape of their marks and in their dashes, for not everybody sees all
three.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil, floor, log10

from glasshouse.pages.numbers import number
from glasshouse.pages.svg import Part, Plane, drawing, element, label, line, polyline

__all__ = ["Curve", "line_chart"]

Curve = Mapping[float, float | None]
"""What was measured at each place on the horizontal axis; None where nothing could be."""

_WIDTH, _HEIGHT = 640, 360
_LEFT, _TOP, _BOTTOM = 70, 44, 52
_KEY = 168  # width of the list of curves, at the right
_MARGIN = 12  # between the ends of the vertical axis and the outermost points
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5c00", "#56b4e9", "#555555", "#e69f00")
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4", "12 4", "1 4", "6 2 1 2")
_SHAPES = ("circle", "square", "triangle", "diamond", "cross")
_TICKS = 5


def line_chart(title: str, x: str, y: str, curves: Mapping[str, Curve], *, log: bool = False) -> Part:
    """Draw one panel.

    >>> drawn = str(line_chart("A", "l", "%", {"ours": {2: 1.5, 4: None, 6: 9.0}}))
    >>> drawn.startswith("<svg"), drawn.count("<circle"), "<polyline" in drawn      # two points, the key, and no line
    (True, 3, False)
    """
    places = sorted({place for curve in curves.values() for place in curve})
    values = [v for curve in curves.values() for v in curve.values() if v is not None and (v > 0 or not log)]
    ticks = _powers(values) if log else _steps(max(values, default=1.0))
    plane = Plane(
        left=_LEFT,
        right=_WIDTH - _KEY,
        top=_TOP,
        floor=_HEIGHT - _BOTTOM,
        up=(ticks[0], ticks[-1]),
        powers="y" if log else "",
    )
    within = Plane(
        left=plane.left + _MARGIN,
        right=plane.right - _MARGIN,
        top=plane.top,
        floor=plane.floor,
        across=(places[0], places[-1] if places[-1] > places[0] else places[0] + 1) if places else (0, 1),
    )
    parts = [
        element("rect", width=_WIDTH, height=_HEIGHT, fill="white"),
        label(_LEFT, 22, title, font_size=14),
        *plane.rows({tick: number(tick) for tick in ticks}, stroke="#ddd"),
        *within.columns({place: number(place) for place in _few(places)}, below=18),
        label((plane.left + plane.right) / 2, _HEIGHT - 12, x, anchor="middle"),
        label(16, (plane.top + plane.floor) / 2, y, anchor="middle", turned=True),
    ]
    for i, (name, curve) in enumerate(curves.items()):
        colour, shape = _COLOURS[i % len(_COLOURS)], _SHAPES[i % len(_SHAPES)]
        how = {"stroke": colour, "stroke_width": "2", "stroke_dasharray": _DASHES[i % len(_DASHES)]}
        for run in _runs(places, curve, log=log):
            points = [(within.x(place), plane.y(value)) for place, value in run]
            if len(points) > 1:
                parts.append(polyline(points, fill="none", **how))
            parts += [_mark(shape, *point, colour) for point in points]
        left, middle = int(plane.right) + 16, _TOP + 10 + 20 * i
        parts += [
            line(left, middle, left + 26, middle, **how),
            _mark(shape, left + 13, middle, colour),
            label(left + 33, middle + 4, name),
        ]
    said = _in_words(x, y, curves)
    return drawing(_WIDTH, _HEIGHT, title, said, parts, style="", font_family="sans-serif", font_size=12)


def _runs(places: Sequence[float], curve: Curve, *, log: bool) -> Iterator[list[tuple[float, float]]]:
    """The points of a curve without a gap between them; a logarithmic axis has no 0."""
    run: list[tuple[float, float]] = []
    for place in places:
        value = curve.get(place)
        if value is not None and (value > 0 or not log):
            run.append((place, value))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _in_words(x: str, y: str, curves: Mapping[str, Curve]) -> str:
    said = []
    for name, curve in curves.items():
        known = [(place, value) for place, value in sorted(curve.items()) if value is not None]
        if known:
            (a, first), (b, last) = known[0], known[-1]
            said.append(f"{name}: {number(first)} at {number(a)}, {number(last)} at {number(b)}")
    return f"{y} against {x}. " + "; ".join(said)


def _steps(top: float) -> list[float]:
    """Ticks from 0 to a round number that is not below ``top``.

    >>> _steps(23.3)
    [0.0, 5.0, 10.0, 15.0, 20.0, 25.0]
    """
    if top <= 0:
        return [0.0, 1.0]
    unit = 10.0 ** floor(log10(top / _TICKS))
    step = next(unit * times for times in (1, 2, 2.5, 5, 10) if unit * times * _TICKS >= top * (1 - 1e-9))
    return [i * step for i in range(ceil(top / step * (1 - 1e-9)) + 1)]


def _powers(values: Sequence[float]) -> list[float]:
    """Powers of ten around all values.

    >>> _powers([0.5, 70])
    [0.1, 1.0, 10.0, 100.0]
    """
    low = floor(log10(min(values, default=1.0)))
    top = max(low + 1, ceil(log10(max(values, default=1.0))))
    return [10.0**power for power in range(low, top + 1)]


def _few(places: Sequence[float], most: int = 10) -> list[float]:
    """The places to label, far enough from each other."""
    if not places:
        return []
    least = (places[-1] - places[0]) / (most * 1.2)
    named = [places[0]]
    for _, place in pairwise(places):
        if place - named[-1] >= least:
            named.append(place)
    return named


def _mark(shape: str, x: float, y: float, colour: str) -> Part:
    if shape == "circle":
        return element("circle", cx=float(x), cy=float(y), r=3.5, fill=colour)
    if shape == "square":
        return element("rect", x=x - 3.5, y=y - 3.5, width=7, height=7, fill=colour)
    if shape == "triangle":
        return element("path", d=f"M{x:.1f} {y - 4.5:.1f} l4.5 8 h-9 z", fill=colour)
    if shape == "diamond":
        return element("path", d=f"M{x:.1f} {y - 5:.1f} l5 5 l-5 5 l-5 -5 z", fill=colour)
    return element("path", d=f"M{x - 4:.1f} {y - 4:.1f} l8 8 m0 -8 l-8 8", stroke=colour, stroke_width="2")
