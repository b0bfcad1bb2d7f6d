# SPDX-License-Identifier: Apache-2.0
"""The frontier: what an attacker can learn against how wrong answers are, a mark for each way to publish.

A line for each method, those that protect against an attacker who knows the algorithm above the others. Within a line
each recoding has a mark of its own shape at the mean error of answers, on a scale of powers of ten that is as wide as
the errors are. A bar through a mark goes from the least to the largest error of its runs. The highest probability that
an attacker found, or can find by the theorem, stands at the end of the line. Ways on the frontier, which no other way
beats in both, have full marks.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from glasshouse.pages.svg import Part, Plane, drawing, element, label, line, short
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Row = Mapping[str, Any]

__all__ = ["ALONE", "MARKS", "frontier"]

MARKS = """
svg .mark { fill: var(--paper); stroke: var(--bar); stroke-width: 1.6; }
svg .mark.edge { fill: var(--bar); }
svg .mark.linking { stroke: var(--stop); } svg .mark.linking.edge { fill: var(--stop); }
svg .runs { stroke: var(--bar); stroke-width: 1.2; } svg .runs.linking { stroke: var(--stop); }
svg .best { fill: none; stroke: var(--ink); stroke-width: 1.5; }
svg .strong { font-weight: 600; } svg text.above { fill: var(--stop); font-weight: 600; }
"""
ALONE = (
    """
svg { --paper: #fff; --wash: #f4f7f5; --line: #d3ddd7; --ink: #17211c; --soft: #4c5a53; --leaf: #1f6b4a;
  --bar: #4a9472; --stop: #a3201c; --other: #6a6f8f; background: #fff; font-family: system-ui, sans-serif; }
svg text { fill: var(--ink); font-size: 12px; } svg text.axis { fill: var(--soft); }
svg .grid { stroke: var(--line); } svg .no-link { stroke: var(--other); stroke-dasharray: 3 4; }
"""
    + MARKS
)
"""The style of a picture that stands by itself."""

_WIDTH, _LEFT, _RIGHT = 720, 176, 584
_TOP = 62  # where the first line begins, below the legend and the names of the columns
_LANE = 8  # pixels for each recoding of a method
_HEAD = 24  # pixels for a heading
_LABEL = 44  # pixels for the name of a tick
_LEAST = 1e-4  # smaller errors are drawn like this one
_LONGEST = 26  # letters of the name of a method
_SHAPES = ("circle", "square", "triangle", "diamond", "bar", "plus")
_HEADS = {
    True: "Protects against an attacker who knows the algorithm",
    False: "Protects only against an attacker who does not know the algorithm",
}


def frontier(
    rows: Sequence[Mapping[str, Any]], *, style: str | None = None, links: Sequence[str] | None = None
) -> Part:
    """Draw the rows of a comparison, as `Comparison.shown` gives them.

    A picture by itself has a ``style``; inside a page that has `MARKS` in its own, it is None. With ``links``, an
    address for each row, every mark leads to what the page says of its row.
    """
    linked = dict(zip(map(id, rows), links or (), strict=False))
    drawn = [row for row in rows if not row["failed"] and row["error"] is not None]
    recodings = list(dict.fromkeys(row["recoding"] for row in drawn))
    lines, floor_ = _laid_out(drawn, len(recodings))
    least = min((_runs(row)[0] for row in drawn), default=0.05)
    most = max((_runs(row)[1] for row in drawn), default=0.2)
    baseline = next((row["baseline"] for row in drawn if row["baseline"]), None)
    if baseline is not None:
        least, most = min(least, max(baseline, _LEAST)), max(most, baseline)
    beside = max(1.02, (most / least) ** 0.04)  # a little room at both ends
    across = (least / beside, most * beside)
    plane = Plane(left=_LEFT, right=_RIGHT, top=_TOP, floor=floor_, across=across, powers="x")
    ticks = {tick: f"{tick * 100:g}\u202f%" for tick in _ticks(*across, width=plane.right - plane.left)}
    parts = [
        *plane.columns(ticks, class_="grid"),
        plane.named(
            "mean error of answers (smaller is better, logarithmic scale); bars: smallest and largest of the runs"
        ),
        label(_RIGHT + 10, _TOP - 8, "highest probability", class_="axis"),
        *_legend(recodings),
        *_baseline(plane, baseline),
    ]
    for protects, words in _HEADS.items():
        tops = [place.top for place in lines if place.protects == protects]
        if tops:
            parts.append(label(12, min(tops) - 7, words, class_="strong"))
    for place in lines:
        parts += place.drawn(plane, recodings, linked)
    chosen = next((row for row in rows if row["chosen"]), None)
    edge = [row["way"] for row in drawn if row["on_edge"]]
    said = (
        f"{counted(len(drawn), 'way')} to publish, each with the highest probability that an attacker who knows the "
        "algorithm finds, and with the mean error of answers. "
        + (f"Recommended: {chosen['way']}. " if chosen is not None else "")
        + f"No other way is better in both privacy and error than these: {', '.join(edge) or 'none'}."
    )
    role = "group" if linked else "img"  # what is inside of an image cannot be reached
    height = round(floor_) + 48
    return drawing(_WIDTH, height, "Privacy and utility", said, parts, name="frontier", style=style, role=role)


class _Line:
    """The ways of one method: their names, marks and probabilities, from a height down."""

    def __init__(self, rows: Sequence[Row], top: float, height: float) -> None:
        self.rows, self.top, self.height = rows, top, height
        self.protects = rows[0]["adversary"] != "linking"

    def drawn(self, plane: Plane, recodings: Sequence[str], linked: Mapping[int, str]) -> Iterator[Part]:
        middle = self.top + self.height / 2
        chosen = any(row["chosen"] for row in self.rows)
        yield line(12, self.top, _WIDTH - 12, self.top, class_="grid")
        name = short(self.rows[0]["method"], _LONGEST)
        yield label(12, middle + 4, name, class_="strong" if chosen else None)
        yield self._probability(middle + 4)
        for row in self.rows:
            y = self.top + self.height / 2 + (recodings.index(row["recoding"]) - (len(recodings) - 1) / 2) * _LANE
            low, high = _runs(row)
            kind = "" if self.protects else " linking"
            if high > low:
                yield line(plane.x(low), y, plane.x(high), y, class_=f"runs{kind}")
            mark = _mark(row, plane.x(max(row["error"], _LEAST)), y, recodings, kind)
            link = linked.get(id(row))
            yield mark if link is None else element("a", mark, href=link, aria_label=row["way"])
            if row["chosen"]:
                yield element("circle", class_="best", cx=plane.x(max(row["error"], _LEAST)), cy=y, r=8)

    def _probability(self, y: float) -> Part:
        known = [row for row in self.rows if row["belief"] is not None]
        if not known:
            return label(_RIGHT + 10, y, "not known", class_="axis")
        worst = max(known, key=lambda row: row["belief"])
        limit = None if worst["limit"] is None else float(Fraction(worst["limit"]))
        above = limit is not None and worst["belief"] > limit * (1 + 1e-9) + worst["belief_error"]
        words = f"≤ {worst['belief']:.2f}, proved" if worst["how"] == "bound" else f"{worst['belief']:.2f}, found"
        return label(_RIGHT + 10, y, words, class_="above" if above else None)


def _laid_out(drawn: Sequence[Row], lanes: int) -> tuple[list[_Line], float]:
    """The lines from the top, protecting ways first and smallest errors first, and where the last one ends."""
    methods: dict[tuple[bool, str], list[Row]] = {}
    for row in drawn:
        methods.setdefault((row["adversary"] == "linking", row["method"]), []).append(row)
    order = sorted(methods, key=lambda key: (key[0], min(row["error"] for row in methods[key])))
    height = max(20.0, lanes * _LANE + 8.0)
    lines, y, before = [], float(_TOP), None
    for key in order:
        y += _HEAD * (key[0] != before)
        before = key[0]
        lines.append(_Line(methods[key], y, height))
        y += height
    return lines, max(y, _TOP + 40.0)


def _runs(row: Row) -> tuple[float, float]:
    """The least and the largest error of the runs of a way."""
    errors = [*(row.get("errors") or ()), row["error"]]
    return max(min(errors), _LEAST), max(*errors, _LEAST)


def _ticks(least: float, most: float, *, width: float = _RIGHT - _LEFT) -> list[float]:
    """Round values between two limits, few enough to fit side by side on a logarithmic scale of this width.

    >>> _ticks(0.013, 0.48), _ticks(0.04, 0.09), _ticks(0.14, 0.9)
    ([0.02, 0.05, 0.1, 0.2], [0.04, 0.05, 0.06, 0.08], [0.15, 0.2, 0.3, 0.4, 0.5, 0.8])
    """
    apart = (most / least) ** (_LABEL / width)  # neighbours whose names do not touch
    powers = range(floor(log10(least)) - 1, ceil(log10(most)) + 1)
    for steps in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8)):
        found = [tick for p in powers for s in steps if least <= (tick := float(f"{s}e{p}")) <= most]
        if len(found) >= 4:
            break
    kept: list[float] = []
    for tick in found:
        if not kept or tick >= kept[-1] * apart:
            kept.append(tick)
    return kept


def _mark(row: Row, x: float, y: float, recodings: Sequence[str], kind: str) -> Part:
    """A mark with the shape of its recoding, filled on the frontier; its title gives the numbers."""
    low, high = _runs(row)
    spread = f" ({low:.2%} to {high:.2%} in the runs)" if high > low else ""
    belief = "not known" if row["belief"] is None else f"{row['belief']:.4f} ({row['how']})"
    told = element("title", f"{row['way']}: error {row['error']:.2%}{spread}, highest probability {belief}")
    full = " edge" if row["on_edge"] else ""
    return _shape(recodings.index(row["recoding"]), x, y, f"mark{full}{kind}", told)


def _shape(number: int, x: float, y: float, kind: str, *inside: Part) -> Part:
    shape = _SHAPES[number % len(_SHAPES)]
    if shape == "circle":
        return element("circle", *inside, class_=kind, cx=x, cy=y, r=4)
    path = {
        "square": "m-3.6 -3.6h7.2v7.2h-7.2z",
        "triangle": "m0 -4.6l4.4 7.8h-8.8z",
        "diamond": "m0 -5l4.6 5l-4.6 5l-4.6 -5z",
        "bar": "m-1.8 -4.6h3.6v9.2h-3.6z",
        "plus": "m-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    }[shape]
    return element("path", *inside, class_=kind, d=f"M{x:.1f} {y:.1f}{path}")


def _legend(recodings: Sequence[str]) -> Iterator[Part]:
    """The legend: the shape of each recoding, and the meaning of filled marks and of the ring."""
    x = 18.0
    for number, recoding in enumerate(recodings):
        name = short(recoding, 18)
        if x + 7 * len(name) > _WIDTH - 20:
            break  # the marks tell their names by themselves
        yield _shape(number, x, 14, "mark")
        yield label(x + 9, 18, name, class_="axis")
        x += 26 + 6.6 * len(name)
    yield label(
        12, 36, ("Filled marks: no other way is better in both privacy and error. Ring: recommended."), class_="axis"
    )


def _baseline(plane: Plane, baseline: float | None) -> Iterator[Part]:
    """The line for the error of two tables without any link."""
    if baseline:
        x = plane.x(max(baseline, _LEAST))
        yield line(x, plane.top - 4, x, plane.floor, class_="no-link")
        beside = min(x, plane.right - 45)  # the name of the next column begins at the right
        yield label(beside, plane.top - 8, f"no link: {baseline:.1%}", anchor="middle", class_="axis")
