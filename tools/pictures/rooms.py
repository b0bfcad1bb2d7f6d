# SPDX-License-Identifier: Apache-2.0
"""The rooms of the house: the way of a table from microdata to its release, and to those who attack and use that."""

from __future__ import annotations

from glasshouse.pages.svg import Part, element
from tools.pictures.drawing import box, line, svg, text

__all__ = ["picture"]

_ROOMS = {  # left, top, right, floor; what it is for
    "principles": (140, 16, 250, 72, ("what safe means",)),
    "microdata": (8, 116, 108, 180, ("what comes in",)),
    "grouping": (140, 116, 250, 180, ("how it is divided",)),
    "recoding": (282, 116, 392, 180, ("how it is rewritten",)),
    "release": (424, 116, 524, 180, ("what goes out",)),
    "adversary": (564, 72, 712, 136, ("what can be learned", "about a person")),
    "analyst": (564, 160, 712, 224, ("what can be learned", "about the population")),
    "engines": (126, 224, 264, 280, ("where the work runs",)),
    "verification": (424, 224, 524, 280, ("counts again",)),
}


def picture() -> str:
    """Boxes and arrows."""
    parts = []
    for name, (left, top, right, floor, words) in _ROOMS.items():
        kind = "two" if name == "adversary" else "three" if name == "analyst" else "one"
        parts.append(box(left, top, right, floor, f"wash {kind}"))
        middle = (left + right) / 2
        first = (top + floor) / 2 - (4 if len(words) == 1 else 12)
        parts.append(text(middle, first, name, f"fill-{kind}", anchor="middle"))
        parts += [
            text(middle, first + 18 + 15 * i, said, "soft small", anchor="middle") for i, said in enumerate(words)
        ]
    for start, end in ((108, 140), (250, 282), (392, 424)):
        parts += _arrow((start, 148), (end, 148))
    parts += [*_arrow((195, 72), (195, 116)), text(203, 98, "under a principle", "soft small")]
    parts += [line(524, 148, 544, 148, "axis"), line(544, 104, 544, 192, "axis")]
    parts += [*_arrow((544, 104), (564, 104)), *_arrow((544, 192), (564, 192))]
    parts.append(line(195, 180, 195, 224, "axis dotted"))
    parts += _arrow((474, 180), (474, 224))
    said = (
        "Microdata are divided into groups under a principle; a recoding rewrites the groups; what goes out is a "
        "release. An attacker attacks it: what can be learned about a person? An analyst uses it: what can be learned "
        "about the population? Engines run the work, and verification counts again what was published."
    )
    return svg(720, 296, "The rooms of Glasshouse", said, parts)


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> tuple[Part, Part]:
    """A line from one room to the next, with a head."""
    (x1, y1), (x2, y2) = start, end
    head = f"M{x2} {y2}l-8 -4v8z" if y1 == y2 else f"M{x2} {y2}l-4 -8h8z"
    return line(x1, y1, x2, y2, "axis"), element("path", class_="head", d=head)
