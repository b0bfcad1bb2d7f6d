# SPDX-License-Identifier: Apache-2.0
"""The tour's patients by age and zip code, under the boxes of Mirror and of Mondrian."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import glasshouse as gh
from tools.pictures.drawing import Plane, box, marks, svg, text
from tools.pictures.hospital import ages, ground, groups, patients

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from glasshouse.pages.svg import Part

__all__ = ["picture"]

_ELL = 3
_PERSON = "P000001"  # the first patient of the tour


def picture() -> str:
    """Two panels, and in each the group of one patient."""
    table = patients("age", "zipcode")
    person = next(i for i, name in enumerate(table.identifier.to_pylist()) if name == _PERSON)
    parts, told = [], []
    for i, (method, about) in enumerate(((gh.Mirror(), "Mirror"), (gh.Mondrian(), "Mondrian"))):
        found = groups(table, method, gh.LDiversity(ell=_ELL))
        plane = Plane(left=58 + 342 * i, right=376 + 342 * i, top=34, floor=352, across=(-2, 97), up=(-1, 36))
        parts += [*ground(plane, table, ticks=i == 0), *_boxes(plane, table, found, person)]
        parts.append(text(plane.left, 20, f"{about}, {len(found)} groups", "strong"))
        group = next(rows for rows in found if person in rows)
        words = _told(table, group)
        told.append(f"by {method.name} {'; '.join(words)}")
        parts += [
            text(plane.left, 404 + 17 * j, said, "fill-two" if j == 0 else "soft") for j, said in enumerate(words)
        ]
    said = (
        f"900 patients as points, and the box of every group at ell = {_ELL}. The patient {_PERSON}, 63 years old, "
        f"of zip code 10541, shares a box {' and '.join(told)}."
    )
    return svg(720, 446, "The groups of 900 patients by age and zip code", said, parts)


def _boxes(plane: Plane, table: gh.Microdata, found: list[NDArray], person: int) -> Iterator[Part]:
    own, codes = ages(table), table.column("zipcode").codes
    for rows in sorted(found, key=lambda rows: person in rows):
        sides = plane.x(own[rows].min() - 0.5), plane.y(codes[rows].max() + 0.45)
        ends = plane.x(own[rows].max() + 0.5), plane.y(codes[rows].min() - 0.45)
        yield box(*sides, *ends, "two thick fill-two pale" if person in rows else "one thin")
    yield marks([(plane.x(own[person]), plane.y(codes[person]))], "diamond", 4, "fill-two")


def _told(table: gh.Microdata, rows: NDArray) -> list[str]:
    """What the release tells of a group, in three lines."""
    own, codes = ages(table)[rows], table.column("zipcode").codes[rows]
    values = table.column("disease").domain.values.to_pylist()
    counted = Counter(values[code] for code in table.column("disease").codes[rows])
    diseases = ", ".join(f"{n} {name}" if n > 1 else name for name, n in sorted(counted.items()))
    zips = table.column("zipcode").domain.values.to_pylist()
    return [
        f"{len(rows)} patients, one is {_PERSON}",
        f"age [{own.min()}, {own.max()}], zip code {zips[codes.min()]} to {zips[codes.max()]}",
        diseases,
    ]
