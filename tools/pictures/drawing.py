# SPDX-License-Identifier: Apache-2.0
"""What all pictures share beyond the kit that figures are drawn with: colours by day and by night, and marks.

The colours keep apart for colour-blind eyes, and nothing is told by colour alone: lines differ in their dashes, marks
in their shapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshouse.pages import svg as kit
from glasshouse.pages.svg import Part, element

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


class Plane(kit.Plane):
    """A rectangle to draw in, with its left wall and its floor."""

    def points(self, places: Iterable[tuple[float, float]]) -> str:
        """Corners of a line, as SVG has them."""
        return " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in places)

    def frame(self) -> Part:
        """The floor and the left wall."""
        return element("path", class_="axis", d=f"M{self.left:.1f} {self.top:.1f}V{self.floor:.1f}H{self.right:.1f}")


def text(x: float, y: float, words: str, kind: str = "", *, anchor: str = "start", turned: bool = False) -> Part:
    """Words at a place."""
    return kit.label(x, y, words, anchor=anchor, turned=turned, class_=kind)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Part:
    """A straight line."""
    return kit.line(x1, y1, x2, y2, class_=kind)


def box(left: float, top: float, right: float, floor: float, kind: str) -> Part:
    """A rectangle by its sides, with slightly round corners."""
    return element("rect", class_=kind, x=left, y=top, width=right - left, height=floor - top, rx=1.5)


def marks(places: Iterable[tuple[float, float]], shape: str, size: float, kind: str) -> Part:
    """Many marks of one kind and one shape, each at a place of the picture: dot, triangle or diamond."""
    s, r = size, f"{1.3 * size:.2f}"
    drawn = {
        "dot": "h0",  # a line of no length with round ends
        "triangle": f"m0 -{1.2 * s:.2f}l{1.1 * s:.2f} {2 * s:.2f}h-{2.2 * s:.2f}z",
        "diamond": f"m0 -{r}l{r} {r}l-{r} {r}l-{r} -{r}z",
    }[shape]
    round_ends = {"stroke_linecap": "round", "stroke_width": f"{2 * s:g}"} if shape == "dot" else {}
    return element("path", class_=kind, **round_ends, d="".join(f"M{x:.1f} {y:.1f}{drawn}" for x, y in places))


def svg(width: int, height: int, title: str, said: str, parts: Iterable[Part]) -> str:
    """A picture that stands by itself, and says in words what it shows."""
    return f"{kit.drawing(width, height, title, said, parts, name='picture', style=_STYLE)}\n"
