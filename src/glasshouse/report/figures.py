# SPDX-License-Identifier: Apache-2.0
"""Figures: drawn as SVG inside the page, in its colours. Each has a title and says in words what it shows."""

from __future__ import annotations

from fractions import Fraction
from math import floor, log10
from typing import TYPE_CHECKING, Any

from glasshouse.report.usefulness import PERCENTILES
from glasshouse.visible import in_markup

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["belief_figure", "error_figure", "width_figure"]

_WIDTH = 680
_LEAST = 2.0  # pixels of a bar that stands for somebody: a single person must be seen
_LOWEST, _HIGHEST = -3.0, 1.0  # relative errors that are drawn, as powers of ten: 0.1 % to 1000 %


def belief_figure(found: Mapping[str, Any], name: str) -> str:
    """How firmly something is believed of how many people, with the promise as a line."""
    edges, people = found["histogram"]["edges"], found["histogram"]["people"]
    limit = None if found["limit"] is None else float(Fraction(found["limit"]))
    plane = _Plane(height=216, top=26, left=64, bottom=46)
    n, highest = max(1, sum(people)), max(1, *people)
    top = _round_up(highest / n)
    parts = [*_share_axis(plane, top), *_belief_axis(plane)]
    for low, high, count in zip(edges, edges[1:], people, strict=False):
        if count:
            tall = max(_LEAST, plane.high * count / n / top)
            above = " above" if limit is not None and low >= limit * (1 - 1e-9) else ""
            x, wide = plane.x(low), max(1.0, plane.x(high) - plane.x(low) - 1)
            parts.append(
                f'<rect class="bar{above}" x="{x + 0.5:.1f}" y="{plane.floor - tall:.1f}" width="{wide:.1f}" '
                f'height="{tall:.1f}"/>'
            )
    if limit is not None:
        x = plane.x(limit)
        side, anchor = (x + 6, "start") if limit < 0.7 else (x - 6, "end")
        parts += [
            f'<line class="limit" x1="{x:.1f}" x2="{x:.1f}" y1="{plane.top - 12}" y2="{plane.floor:.1f}"/>',
            f'<text class="limit" x="{side:.1f}" y="{plane.top - 3}" text-anchor="{anchor}">'
            f"promised: at most {in_markup(found['limit'])}</text>",
        ]
    above = "" if found["people_above"] is None else f" {found['people_above']:,} are above {found['limit']}."
    said = (
        f"Of {sum(people):,} people, the value believed most is believed with {found['median']:.4f} in the middle "
        f"and with {found['largest']:.4f} at most.{above}"
    )
    return _svg(name, plane.height, f"How firmly something is believed of people: {found['adversary']}", said, parts)


def error_figure(found: Mapping[str, Any], name: str) -> str:
    """The share of questions that are answered with at most a given error: release, and no link."""
    plane = _Plane(height=236, top=16, left=64, bottom=46)
    parts = [*_share_axis(plane, 1.0)]
    for power in range(int(_LOWEST), int(_HIGHEST) + 1):
        x = plane.x(_error_place(10.0**power))
        parts += [
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{plane.top}" y2="{plane.floor:.1f}"/>',
            f'<text x="{x:.1f}" y="{plane.floor + 16:.1f}" text-anchor="middle">{10.0**power * 100:g}&#8239;%</text>',
        ]
    parts.append(_below(plane, "relative error of an answer, at most"))
    for which, of in (("no-link", "no_link"), ("release", "release")):
        parts.append(f'<polyline class="{which}" points="{_curve(plane, found[of]["percentiles"])}"/>')
    words = {"release": "from the release", "no-link": "without a link"}
    for i, (which, text) in enumerate(words.items()):
        y = plane.top + 14 + 18 * i
        parts += [
            f'<line class="{which}" x1="{plane.left + 12}" x2="{plane.left + 40}" y1="{y}" y2="{y}"/>',
            f'<text x="{plane.left + 47}" y="{y + 4}">{text}</text>',
        ]
    said = (
        f"Half of the questions are answered with an error of at most {found['release']['median']:.2%} from the "
        f"release, and {found['no_link']['median']:.2%} without a link."
    )
    return _svg(name, plane.height, f"Errors of answers: {found['workload']}", said, parts)


def width_figure(widths: Mapping[str, float], name: str) -> str:
    """How wide the cells of each attribute are on average, as a share of its range."""
    row, left = 26, 190
    height = row * len(widths) + 34
    plane = _Plane(height=height, top=4, left=left, bottom=30, right=64)
    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = plane.x(tick)
        parts += [
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{plane.top}" y2="{plane.floor:.1f}"/>',
            f'<text x="{x:.1f}" y="{plane.floor + 16:.1f}" text-anchor="middle">{tick:.0%}</text>',
        ]
    for i, (column, width) in enumerate(widths.items()):
        y, wide = plane.top + row * i, max(_LEAST if width else 0.0, plane.x(width) - plane.left)
        parts += [
            f'<text x="{left - 10}" y="{y + 17}" text-anchor="end">{in_markup(_short(column))}</text>',
            f'<rect class="bar" x="{left}" y="{y + 4}" width="{wide:.1f}" height="{row - 8}"/>',
            f'<text x="{left + wide + 6:.1f}" y="{y + 17}">{width:.1%}</text>',
        ]
    said = "; ".join(f"{_short(column)} {width:.1%}" for column, width in widths.items())
    return _svg(name, height, "Average width of cells, as a share of the attribute's range", said, parts)


# --- axes -------------------------------------------------------------------------------------------------------------


class _Plane:
    """Where things are drawn: x from 0 to 1 between left and right, y upwards from the floor."""

    def __init__(self, *, height: int, top: int, left: int, bottom: int, right: int = 26) -> None:
        self.height, self.top, self.left = height, top, left
        self.floor = float(height - bottom)
        self.high = self.floor - top
        self._wide = _WIDTH - left - right

    def x(self, share: float) -> float:
        """Where a share lies from left to right."""
        return self.left + share * self._wide

    def y(self, share: float) -> float:
        """Where a share lies from the floor upwards."""
        return self.floor - share * self.high


def _share_axis(plane: _Plane, top: float) -> Iterable[str]:
    """Shares of people or questions, from below to ``top``."""
    for i in range(5):
        y = plane.y(i / 4)
        text = f"{top * i / 4 * 100:.3g}&#8239;%"
        yield f'<line class="grid" x1="{plane.left}" x2="{plane.x(1):.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{plane.left - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'


def _belief_axis(plane: _Plane) -> Iterable[str]:
    for i in range(6):
        x = plane.x(i / 5)
        yield f'<text x="{x:.1f}" y="{plane.floor + 16:.1f}" text-anchor="middle">{i / 5:g}</text>'
    yield _below(plane, "how firmly the likeliest value of a person is believed; height: share of people")


def _below(plane: _Plane, text: str) -> str:
    return f'<text class="axis" x="{plane.x(0.5):.1f}" y="{plane.floor + 36:.1f}" text-anchor="middle">{text}</text>'


def _error_place(error: float) -> float:
    power = log10(max(error, 10.0**_LOWEST))
    return min(1.0, (power - _LOWEST) / (_HIGHEST - _LOWEST))


def _curve(plane: _Plane, percentiles: Sequence[float]) -> str:
    return " ".join(
        f"{plane.x(_error_place(error)):.1f},{plane.y(percent / 100):.1f}"
        for error, percent in zip(percentiles, PERCENTILES, strict=True)
    )


def _round_up(share: float) -> float:
    """The next share that is easily read: a few times a power of ten."""
    unit = 10.0 ** floor(log10(share))
    return min(1.0, next(unit * step for step in (1, 2, 4, 5, 6, 8, 10) if unit * step >= share * (1 - 1e-9)))


def _short(text: str, most: int = 24) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _svg(name: str, height: int, title: str, said: str, parts: Iterable[str]) -> str:
    return "\n".join(
        [
            f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-labelledby="{name}-title {name}-desc">',
            f'<title id="{name}-title">{in_markup(title)}</title>',
            f'<desc id="{name}-desc">{in_markup(said)}</desc>',
            *parts,
            "</svg>",
        ]
    )
