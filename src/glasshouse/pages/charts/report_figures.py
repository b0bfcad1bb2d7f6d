# SPDX-License-Identifier: Apache-2.0
"""Figures of the steward's report, in the colours of its page. Each has a title and says in words what it shows."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from glasshouse.pages.charts.person_beliefs import limit_words
from glasshouse.pages.report.usefulness import PERCENTILES
from glasshouse.pages.svg import Part, Plane, drawing, element, label, line, percents, polyline, round_up, short
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["belief_figure", "error_figure", "width_figure"]

_WIDTH = 680
_LEFT, _RIGHT, _BOTTOM = 64, _WIDTH - 26, 46
_LEAST = 2.0  # pixels of a bar that stands for somebody: a single person must be seen
_ERRORS = (0.001, 0.01, 0.1, 1.0, 10.0)  # relative errors that are named; smaller and larger ones are drawn at the ends
_LONGEST = 24  # letters of a column's name


def belief_figure(found: Mapping[str, Any], name: str, *, style: str | None = None) -> Part:
    """How many people have a most probable value of each probability, with the guarantee as a line."""
    edges, people = found["histogram"]["edges"], found["histogram"]["people"]
    limit = None if found["limit"] is None else float(Fraction(found["limit"]))
    n, height = max(1, sum(people)), 216
    most = min(1.0, round_up(max(1, *people) / n))
    plane = Plane(left=_LEFT, right=_RIGHT, top=26, floor=height - _BOTTOM, up=(0.0, most))
    words, kind, beyond = limit_words(found["limit"], promised=found["promised"])
    parts = [
        *plane.rows(percents(most * i / 4 for i in range(5)), class_="grid"),
        *plane.columns({i / 5: f"{i / 5:g}" for i in range(6)}),
        plane.named("probability of a person's most probable value; height: share of people"),
    ]
    for low, high, count in zip(edges, edges[1:], people, strict=False):
        if count:
            tall = max(_LEAST, plane.floor - plane.y(count / n))
            above = beyond if limit is not None and low >= limit * (1 - 1e-9) else ""
            place = {"x": plane.x(low) + 0.5, "y": plane.floor - tall}
            wide = max(1.0, plane.x(high) - plane.x(low) - 1)
            parts.append(element("rect", class_=f"bar{above}", **place, width=wide, height=tall))
    if limit is not None:
        parts += plane.limit(limit, words, height=plane.top - 3, most=_WIDTH - 4, kind=kind)
    above = (
        ""
        if found["people_above"] is None
        else f" {counted(found['people_above'], 'is', 'are')} above {found['limit']}"
        + ("." if found["promised"] else ", which is not guaranteed against this attacker.")
    )
    protected = "protected " if "unprotected" in found else ""
    said = (
        f"{counted(sum(people), 'person')}: the {protected}value that the attacker finds most probable for a person "
        f"has a probability of {found['median']:.4f} in the median, and of {found['largest']:.4f} at most.{above}"
    )
    title = f"The attacker's probabilities, by people: {found['adversary']}"
    return drawing(_WIDTH, height, title, said, parts, name=name, style=style)


def error_figure(found: Mapping[str, Any], name: str) -> Part:
    """The share of questions that are answered with at most a given error: release, and no link."""
    height = 254
    plane = Plane(
        left=_LEFT, right=_RIGHT, top=34, floor=height - _BOTTOM, across=(_ERRORS[0], _ERRORS[-1]), powers="x"
    )
    parts = [
        *plane.rows(percents(i / 4 for i in range(5)), class_="grid"),
        *plane.columns({error: f"{error * 100:g}\u202f%" for error in _ERRORS}, class_="grid"),
        plane.named("relative error of an answer is at most (logarithmic scale)"),
    ]
    for kind, of in (("no-link", "no_link"), ("release", "release")):
        places = zip(found[of]["percentiles"], PERCENTILES, strict=True)
        parts.append(polyline([(plane.x(error), plane.y(percent / 100)) for error, percent in places], class_=kind))
    legend = {"release": "from the release", "no-link": "from two tables without a link between them"}
    for x, (kind, words) in zip((plane.left, plane.left + 180), legend.items(), strict=True):
        parts += [line(x, 16, x + 28, 16, class_=kind), label(x + 35, 20, words)]  # above the curves
    said = (
        f"Half of the answers from the release have an error of at most {found['release']['median']:.2%}. If "
        "quasi-identifiers and sensitive values were published as two tables without a link, it would be "
        f"{found['no_link']['median']:.2%}."
    )
    return drawing(_WIDTH, height, f"Errors of answers: {found['workload']}", said, parts, name=name)


def width_figure(widths: Mapping[str, float], name: str) -> Part:
    """How wide the cells of each attribute are on average, as a share of its range."""
    row, left = 26, 190
    height = row * len(widths) + 34
    plane = Plane(left=left, right=_WIDTH - 64, top=4, floor=height - 30)
    parts = [*plane.columns({i / 4: f"{i / 4:.0%}" for i in range(5)}, class_="grid")]
    for i, (column, width) in enumerate(widths.items()):
        y, wide = plane.top + row * i, max(_LEAST if width else 0.0, plane.x(width) - left)
        parts += [
            label(left - 10, y + 17, short(column, _LONGEST), anchor="end"),
            element("rect", class_="bar", x=left, y=y + 4, width=wide, height=row - 8),
            label(left + wide + 6, y + 17, f"{width:.1%}"),
        ]
    said = "; ".join(f"{short(column, _LONGEST)} {width:.1%}" for column, width in widths.items())
    title = "Average width of cells, as a share of the attribute's range"
    return drawing(_WIDTH, height, title, said, parts, name=name)
