# SPDX-License-Identifier: Apache-2.0
"""What an attacker who knows the algorithm finds, after Mondrian and after Mirror."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

import glasshouse as gh
from glasshouse.pages.svg import element
from tools.pictures.drawing import Plane, line, svg, text
from tools.pictures.hospital import patients

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["picture"]

_ELL = 3


def picture() -> str:
    """Three curves, and the line that was promised."""
    table = patients()
    mondrian = _published(table, gh.Mondrian(), gh.Boxes())
    curves = [
        (
            "Mondrian, known to the attacker",
            "two thick",
            _beliefs(mondrian, gh.ReverseEngineering(source=gh.Source.seeded(1)), table),
        ),
        ("Mondrian, not known", "quiet dotted thick", _beliefs(mondrian, gh.Linking(), table)),
        (
            "Mirror, known to the attacker",
            "one thick",
            _beliefs(_published(table, gh.Mirror(), gh.Anatomy()), gh.ReverseEngineering(), table),
        ),
    ]
    limit = float(Fraction(1, _ELL))
    plane = Plane(left=52, right=700, top=20, floor=292, across=(0, table.n_tuples), up=(0, 0.8))
    parts = []
    for i in range(9):
        parts += [
            line(plane.left, plane.y(i / 10), plane.right, plane.y(i / 10), "grid"),
            text(plane.left - 8, plane.y(i / 10) + 4, f"{i / 10:g}", "soft", anchor="end"),
        ]
    for people in range(0, table.n_tuples + 1, 100):
        parts.append(text(plane.x(people), plane.floor + 17, f"{people}", "soft", anchor="middle"))
    parts += [
        text(plane.x(450), plane.floor + 36, "people, the most exposed first", "soft", anchor="middle"),
        plane.frame(),
    ]
    above = int(np.sum(curves[0][2] > limit * (1 + 1e-9)))
    corners = [(0, limit), *_steps(curves[0][2][:above]), (above, limit)]
    parts.append(element("polygon", class_="fill-two pale", points=plane.points(corners)))
    for _, kind, beliefs in curves:
        parts.append(element("polyline", class_=kind, points=plane.points(_steps(beliefs))))
    parts.append(line(plane.left, plane.y(limit), plane.right, plane.y(limit), "axis dashed"))
    parts.append(text(plane.right, plane.y(limit) - 6, f"promised: at most 1/{_ELL}", "soft", anchor="end"))
    parts.append(text(plane.x(above) + 8, plane.y(0.46), f"{above} people are more exposed than promised", "fill-two"))
    for i, (words, kind, _) in enumerate(curves):
        y = plane.y(0.74) + 19 * i
        parts += [line(plane.x(450), y, plane.x(500), y, kind), text(plane.x(510), y + 4, words)]
    third = f"1/{_ELL}"
    said = (
        f"900 patients, {_ELL}-diversity. After Mondrian, an attacker who knows the algorithm gives a disease of "
        f"{above} of them a probability above {third}, at most {curves[0][2][0]:.2f}. An attacker who does not know it "
        f"finds nothing above {third}. After Mirror, nothing is above {third} to an attacker who knows the algorithm."
    )
    return svg(720, 336, "Probabilities after Mondrian and after Mirror", said, parts)


def _published(table: gh.Microdata, method: object, recoding: object) -> gh.Release:
    return gh.publish(
        table, principle=gh.LDiversity(ell=_ELL), method=method, recoding=recoding, source=gh.Source.seeded(1)
    )


def _beliefs(release: gh.Release, attack: object, table: gh.Microdata) -> NDArray:
    """The belief in everybody's likeliest value, the largest first."""
    found = gh.attack(release, attack, knowledge=gh.Knowledge(external=table))
    return np.sort(found.largest[found.kind])[::-1]


def _steps(beliefs: NDArray) -> list[tuple[float, float]]:
    """A corner wherever the curve changes."""
    ends = np.flatnonzero(np.diff(np.round(beliefs, 4), append=-1.0)) + 1
    starts = np.concatenate([[0], ends[:-1]])
    return [
        corner
        for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
        for corner in ((a, beliefs[a]), (b, beliefs[a]))
    ]
