# SPDX-License-Identifier: Apache-2.0
"""SVG: the one kit that all figures are drawn with: elements, a plane with scales and axes, the frame of a drawing.

Text and attributes are escaped here, in `element`, and nowhere else: what is not a `Part` is text, whatever stands in
it. A template lets a `Part` through as it is (by ``__html__``), and escapes everything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING

from glasshouse.visible import in_markup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["Part", "Plane", "drawing", "element", "label", "line", "percents", "polyline", "round_up", "short"]

_LANGUAGE = "http://www.w3.org/2000/svg"
_LETTER = 6.6  # pixels of a letter of half-bold text of 12 pixels, about


@dataclass(frozen=True, slots=True)
class Part:
    """An element that is already written, with its content escaped."""

    markup: str

    def __str__(self) -> str:
        return self.markup

    def __html__(self) -> str:
        """The element itself, as template engines expect it."""
        return self.markup


def element(tag: str, *inside: Part | str, **attributes: str | float | None) -> Part:
    """Write an element: texts and attributes are escaped, an attribute that is None is left out.

    >>> print(element("text", "<b>", class_="soft", x=1.25, y=3, text_anchor=None))
    <text class="soft" x="1.2" y="3">&lt;b&gt;</text>
    """
    said = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_number(value) if isinstance(value, float) else in_markup(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    if not inside:
        return Part(f"<{tag}{said}/>")
    content = "".join(part.markup if isinstance(part, Part) else in_markup(part) for part in inside)
    return Part(f"<{tag}{said}>{content}</{tag}>")


def line(x1: float, y1: float, x2: float, y2: float, **how: str | float | None) -> Part:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **how)


def polyline(places: Iterable[tuple[float, float]], **how: str | float | None) -> Part:
    """A line through several places."""
    return element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places), **how)


def label(
    x: float, y: float, words: str, *, anchor: str | None = None, turned: bool = False, **how: str | float | None
) -> Part:
    """Words at a place, from there on unless an anchor says otherwise; ``turned`` words are read upwards."""
    turn = f"rotate(-90 {_number(x)} {_number(y)})" if turned else None
    return element("text", words, x=x, y=y, text_anchor=anchor, transform=turn, **how)


@dataclass(frozen=True, kw_only=True)
class Plane:
    """A rectangle to draw in, with a scale for each direction.

    A scale goes from one value to another, evenly, or by powers of ten; what lies beyond the ends of a scale of powers
    is drawn at its end.

    >>> plane = Plane(left=10, right=110, top=0, floor=50, up=(1, 100), powers="y")
    >>> plane.x(0.5), plane.y(10), plane.y(0)
    (60.0, 25.0, 50.0)
    """

    left: float
    right: float
    top: float
    floor: float
    across: tuple[float, float] = (0.0, 1.0)
    up: tuple[float, float] = (0.0, 1.0)
    powers: str = ""

    def x(self, value: float) -> float:
        """The horizontal position of a value."""
        return self.left + (self.right - self.left) * _share(value, self.across, powers="x" in self.powers)

    def y(self, value: float) -> float:
        """The vertical position of a value."""
        return self.floor - (self.floor - self.top) * _share(value, self.up, powers="y" in self.powers)

    def rows(self, ticks: Mapping[float, str], **grid: str | float | None) -> Iterator[Part]:
        """The vertical axis: a text at the left for each value, and a line across."""
        for value, words in ticks.items():
            y = self.y(value)
            yield line(self.left, y, self.right, y, **grid)
            yield label(self.left - 8, y + 4, words, anchor="end")

    def columns(self, ticks: Mapping[float, str], *, below: float = 16, **grid: str | float | None) -> Iterator[Part]:
        """The horizontal axis: for each value a text below, and a vertical line if a style is given."""
        for value, words in ticks.items():
            x = self.x(value)
            if grid:
                yield line(x, self.top, x, self.floor, **grid)
            yield label(x, self.floor + below, words, anchor="middle")

    def limit(self, value: float, words: str, *, height: float, most: float, kind: str = "limit") -> Iterator[Part]:
        """A vertical line at a value, and words beside it, where there is room before ``most``."""
        x = self.x(value)
        fits = x + 6 + _LETTER * len(words) <= most
        yield line(x, self.top - 12, x, self.floor, class_=kind)
        yield label(x + 6 if fits else x - 6, height, words, anchor="start" if fits else "end", class_=kind)

    def named(self, words: str) -> Part:
        """The title of the horizontal axis."""
        return label((self.left + self.right) / 2, self.floor + 36, words, anchor="middle", class_="axis")


def drawing(
    width: int,
    height: int,
    title: str,
    said: str | None,
    parts: Iterable[Part],
    *,
    name: str | None = None,
    style: str | None = None,
    role: str = "img",
    **root: str | float | None,
) -> Part:
    """The complete drawing, with its title and a description for readers who cannot see it.

    ``said`` is None if the title says it. Identifiers in a page begin with ``name``; without one nothing refers to
    them. ``style`` is the style sheet of a drawing that stands by itself, and None for one inside a page.
    The ``role`` of one that has links in it is ``group``.
    """
    known = {"title": title, "desc": said}
    head = [
        element(tag, words, id=None if name is None else f"{name}-{tag}")
        for tag, words in known.items()
        if words is not None
    ]
    if style:
        head.append(Part(f"<style>{style}</style>"))  # ours, never a text from outside
    return element(
        "svg",
        Part("\n" + "\n".join(part.markup for part in (*head, *parts)) + "\n"),
        xmlns=None if style is None else _LANGUAGE,
        viewBox=f"0 0 {width} {height}",
        role=role,
        aria_labelledby=None if name is None else f"{name}-title {name}-desc",
        **root,
    )


def percents(shares: Iterable[float]) -> dict[float, str]:
    """Ticks for shares: each with its text in percent.

    >>> percents([0, 0.5])
    {0: '0\\u202f%', 0.5: '50\\u202f%'}
    """
    return {share: f"{share * 100:.3g}\u202f%" for share in shares}


def round_up(value: float) -> float:
    """The next larger round number: a few times a power of ten.

    >>> round_up(0.033), round_up(7.0)
    (0.04, 8.0)
    """
    unit = 10.0 ** floor(log10(value))
    return next(unit * step for step in (1, 2, 4, 5, 6, 8, 10) if unit * step >= value * (1 - 1e-9))


def short(words: str, most: int) -> str:
    """A text of at most so many letters, with dots at the end if it was cut."""
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _share(value: float, ends: tuple[float, float], *, powers: bool) -> float:
    low, high = ends
    if powers:
        return (log10(min(max(value, low), high)) - log10(low)) / (log10(high) - log10(low))
    return (value - low) / (high - low)


def _number(value: float) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)
