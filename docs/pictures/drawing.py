# SPDX-License-Identifier: Apache-2.0
"""What all pictures share: colours that serve by day and by night, axes, and a title and a description for each.

The colours keep apart for colour-blind eyes, and nothing is told by colour alone: lines differ in their dashes, marks
in their shapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Plane", "box", "line", "marks", "svg", "text"]

_STYLE = """
svg { --ink: #1d2521; --soft: #59645e; --line: #d5dcd8; --one: #0b6fa8; --two: #b93d08; --three: #00795a;
  --quiet: #8b968f; --wash: #eef3f0; font: 13px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e6ebe8; --soft: #a7b2ac; --line: #3a433e; --one: #62bdf0; --two: #ff9068; --three: #45c99d;
    --quiet: #78837d; --wash: #1c2420; }
}
text { fill: var(--ink); } text.soft { fill: var(--soft); font-size: 12px; } text.strong { font-weight: 600; }
line, polyline, path, rect, circle { fill: none; stroke: none; }
.grid { stroke: var(--line); } .axis { stroke: var(--soft); }
.one { stroke: var(--one); } .two { stroke: var(--two); } .three { stroke: var(--three); }
.quiet { stroke: var(--quiet); } .thick { stroke-width: 2.2; } .thin { stroke-width: .7; }
.dashed { stroke-dasharray: 6 4; } .dotted { stroke-dasharray: 2 3; }
.fill-one { fill: var(--one); } .fill-two { fill: var(--two); } .fill-three { fill: var(--three); }
.fill-quiet { fill: var(--quiet); } .wash { fill: var(--wash); }
.pale { fill-opacity: .16; } .half { fill-opacity: .55; }
.head { fill: var(--soft); } text.small { font-size: 11px; }
text.fill-one, text.fill-two, text.fill-three { font-weight: 600; }
"""


@dataclass(frozen=True, kw_only=True)
class Plane:
    """A rectangle to draw in, with a scale for each direction; ``logarithmic`` ones take powers of ten."""

    left: float
    right: float
    top: float
    floor: float
    across: tuple[float, float] = (0.0, 1.0)
    up: tuple[float, float] = (0.0, 1.0)
    logarithmic: bool = False

    def x(self, value: float) -> float:
        """Where a value lies from left to right."""
        return self.left + (self.right - self.left) * self._share(value, self.across)

    def y(self, value: float) -> float:
        """Where a value lies from the floor upwards."""
        return self.floor - (self.floor - self.top) * self._share(value, self.up)

    def _share(self, value: float, ends: tuple[float, float]) -> float:
        if self.logarithmic:
            return (log10(value) - log10(ends[0])) / (log10(ends[1]) - log10(ends[0]))
        return (value - ends[0]) / (ends[1] - ends[0])

    def points(self, places: Iterable[tuple[float, float]]) -> str:
        """Corners of a line, as SVG has them."""
        return " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in places)

    def frame(self) -> str:
        """The floor and the left wall."""
        return f'<path class="axis" d="M{self.left:.1f} {self.top:.1f}V{self.floor:.1f}H{self.right:.1f}"/>'


def text(x: float, y: float, words: str, kind: str = "", *, anchor: str = "start", turned: bool = False) -> str:
    """Words at a place."""
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def box(left: float, top: float, right: float, floor: float, kind: str) -> str:
    """A rectangle by its sides, with slightly round corners."""
    size = f'width="{right - left:.1f}" height="{floor - top:.1f}"'
    return f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" {size} rx="1.5"/>'


def marks(places: Iterable[tuple[float, float]], shape: str, size: float, kind: str) -> str:
    """Many marks of one kind and one shape, each at a place of the picture: dot, triangle or diamond."""
    s, r = size, f"{1.3 * size:.2f}"
    drawn = {
        "dot": "h0",  # a line of no length with round ends
        "triangle": f"m0 -{1.2 * s:.2f}l{1.1 * s:.2f} {2 * s:.2f}h-{2.2 * s:.2f}z",
        "diamond": f"m0 -{r}l{r} {r}l-{r} {r}l-{r} -{r}z",
    }[shape]
    width = f' stroke-linecap="round" stroke-width="{2 * s:g}"' if shape == "dot" else ""
    return f'<path class="{kind}"{width} d="{"".join(f"M{x:.1f} {y:.1f}{drawn}" for x, y in places)}"/>'


def svg(width: int, height: int, title: str, said: str, parts: Iterable[str]) -> str:
    """A picture that stands by itself, and says in words what it shows."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            'aria-labelledby="title desc">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="desc">{escape(said)}</desc>',
            f"<style>{_STYLE}</style>",
            *parts,
            "</svg>\n",
        ]
    )
