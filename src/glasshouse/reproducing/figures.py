# SPDX-License-Identifier: Apache-2.0
"""Line charts as SVG: every point that was measured is marked, and nothing is smoothed, scripted or fetched.

A vertical axis that is not logarithmic begins at 0, so that heights compare. A place where nothing could be measured is
a gap in its line. Curves differ in colour, in the shape of their marks and in their dashes, for not everybody sees all
three.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from glasshouse.reproducing.results import number
from glasshouse.visible import in_markup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from glasshouse.reproducing.results import Curve, Figure

__all__ = ["line_chart"]

_WIDTH, _HEIGHT = 640, 360
_LEFT, _TOP, _BOTTOM = 70, 44, 52
_KEY = 168  # width of the list of curves, at the right
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5c00", "#56b4e9", "#555555", "#e69f00")
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4", "12 4", "1 4", "6 2 1 2")
_TICKS = 5


def line_chart(figure: Figure) -> str:
    """Draw one panel.

    >>> from glasshouse.reproducing.results import Figure
    >>> drawn = line_chart(Figure(name="f", title="A", x="l", y="%", curves={"ours": {2: 1.5, 4: None, 6: 9.0}}))
    >>> drawn.startswith("<svg"), drawn.count("<circle"), "<polyline" in drawn      # two points, the key, and no line
    (True, 3, False)
    """
    places = figure.places
    values = [y for curve in figure.curves.values() for y in curve.values() if y is not None and _shown(figure, y)]
    ticks = _powers(values) if figure.log else _steps(max(values, default=1.0))
    wide, high = _WIDTH - _LEFT - _KEY, _HEIGHT - _TOP - _BOTTOM
    span = (places[-1] - places[0] or 1.0) if places else 1.0

    def across(place: float) -> float:
        return _LEFT + 12 + (place - places[0]) / span * (wide - 24)

    def up(value: float) -> float:
        if figure.log:
            low, top = log10(ticks[0]), log10(ticks[-1])
            return _TOP + high - (log10(value) - low) / (top - low) * high
        return _TOP + high - value / ticks[-1] * high

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{in_markup(figure.title)}</title>",
        f"<desc>{in_markup(_in_words(figure))}</desc>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="22" font-size="14">{in_markup(figure.title)}</text>',
    ]
    for tick in ticks:
        y = up(tick)
        parts += [
            f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + wide}" y2="{y:.1f}" stroke="#ddd"/>',
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number(tick)}</text>',
        ]
    for place in _few(places):
        parts.append(
            f'<text x="{across(place):.1f}" y="{_TOP + high + 18}" text-anchor="middle">{number(place)}</text>'
        )
    middle = _TOP + high / 2
    parts += [
        f'<text x="{_LEFT + wide / 2:.1f}" y="{_HEIGHT - 12}" text-anchor="middle">{in_markup(figure.x)}</text>',
        f'<text x="16" y="{middle:.1f}" text-anchor="middle" transform="rotate(-90 16 {middle:.1f})">'
        f"{in_markup(figure.y)}</text>",
    ]
    for i, (name, curve) in enumerate(figure.curves.items()):
        colour, dash = _COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)]
        for run in _runs(figure, curve):
            points = [(across(place), up(value)) for place, value in run]
            if len(points) > 1:
                corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
                parts.append(
                    f'<polyline points="{corners}" fill="none" stroke="{colour}" stroke-width="2" '
                    f'stroke-dasharray="{dash}"/>'
                )
            parts += [_MARKS[i % len(_MARKS)](x, y, colour) for x, y in points]
        x, y = _LEFT + wide + 16, _TOP + 10 + 20 * i
        parts += [
            f'<line x1="{x}" y1="{y}" x2="{x + 26}" y2="{y}" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dash}"/>',
            _MARKS[i % len(_MARKS)](x + 13, y, colour),
            f'<text x="{x + 33}" y="{y + 4}">{in_markup(name)}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _shown(figure: Figure, value: float) -> bool:
    return value > 0 or not figure.log  # a logarithmic axis has no 0


def _runs(figure: Figure, curve: Curve) -> Iterator[list[tuple[float, float]]]:
    """The points of a curve without a gap between them."""
    run: list[tuple[float, float]] = []
    for place in figure.places:
        value = curve.get(place)
        if value is not None and _shown(figure, value):
            run.append((place, value))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _in_words(figure: Figure) -> str:
    said = []
    for name, curve in figure.curves.items():
        known = [(place, value) for place, value in sorted(curve.items()) if value is not None]
        if known:
            (a, first), (b, last) = known[0], known[-1]
            said.append(f"{name}: {number(first)} at {number(a)}, {number(last)} at {number(b)}")
    return f"{figure.y} against {figure.x}. " + "; ".join(said)


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
    """Places to name: those that do not crowd each other."""
    if not places:
        return []
    least = (places[-1] - places[0]) / (most * 1.2)
    named = [places[0]]
    for _, place in pairwise(places):
        if place - named[-1] >= least:
            named.append(place)
    return named


def _circle(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'


def _square(x: float, y: float, colour: str) -> str:
    return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'


def _triangle(x: float, y: float, colour: str) -> str:
    return f'<path d="M{x:.1f} {y - 4.5:.1f} l4.5 8 h-9 z" fill="{colour}"/>'


def _diamond(x: float, y: float, colour: str) -> str:
    return f'<path d="M{x:.1f} {y - 5:.1f} l5 5 l-5 5 l-5 -5 z" fill="{colour}"/>'


def _cross(x: float, y: float, colour: str) -> str:
    return f'<path d="M{x - 4:.1f} {y - 4:.1f} l8 8 m0 -8 l-8 8" stroke="{colour}" stroke-width="2"/>'


_MARKS: tuple[Callable[[float, float, str], str], ...] = (_circle, _square, _triangle, _diamond, _cross)
