# SPDX-License-Identifier: Apache-2.0
"""A patient's group as boxes publish it, and the batch of the same patient by ANGEL: smaller cells."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

import glasshouse as gh
from tools.pictures.drawing import Plane, box, marks, svg, text
from tools.pictures.hospital import ages, ground, groups, patients

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.pages.svg import Part

__all__ = ["picture"]

_ELL = 5
_PERSON = "P000004"  # the fourth patient of the tour


def picture() -> str:
    """Left, the box; right, the cells."""
    table = patients("age", "zipcode")
    names = table.identifier.to_pylist()
    person = names.index(_PERSON)
    planes = [
        Plane(left=58 + 342 * i, right=376 + 342 * i, top=34, floor=352, across=(-2, 97), up=(-1, 36)) for i in range(2)
    ]
    parts = [part for i, plane in enumerate(planes) for part in ground(plane, table, ticks=i == 0)]

    rows = next(rows for rows in groups(table, gh.Mirror(), gh.LDiversity(ell=_ELL)) if person in rows)
    own, zips = ages(table), table.column("zipcode").codes
    parts.append(_box(planes[0], own[rows].min(), own[rows].max(), zips[rows].min(), zips[rows].max()))
    parts += _people(planes[0], table, rows, person)

    with tempfile.TemporaryDirectory() as folder:
        seeded = gh.Source.seeded(1)
        angel = gh.publish(table, out=folder, principle=gh.LDiversity(ell=_ELL), source=seeded, allow_seed=True)
        kept = pq.read_table(Path(folder) / "audit" / "partition.parquet")
    batches = dict(zip(kept["identifier"].to_pylist(), kept["group"].to_pylist(), strict=True))
    shown, counted = (
        angel.tables[name].filter(pc.equal(angel.tables[name]["Batch-ID"], batches[_PERSON])).to_pylist()
        for name in ("gt", "bt")
    )
    codes = table.column("zipcode").domain.values.to_pylist()
    for row in shown:
        (youngest, *_, oldest), places = _numbers(row["age"]), [codes.index(code) for code in _codes(row["zipcode"])]
        parts.append(_box(planes[1], youngest, oldest, min(places), max(places)))
    batch = np.array([i for i, name in enumerate(names) if batches[name] == batches[_PERSON]])
    parts += _people(planes[1], table, batch, person)

    boxed = gh.publish(table, principle=gh.LDiversity(ell=_ELL), recoding=gh.Boxes(), source=gh.Source.seeded(1))
    widths = [float(gh.losses(release).ncp) for release in (boxed, angel)]
    values = table.column("disease").domain.values.to_pylist()
    diseases = [
        sorted(values[code] for code in table.column("disease").codes[rows]),
        [entry["disease"] for entry in counted],
    ]
    for plane, title, kind, names_of, width in zip(
        planes,
        ("Boxes: one box a group", "ANGEL: a cell for each person"),
        ("group", "batch"),
        diseases,
        widths,
        strict=True,
    ):
        parts.append(text(plane.left, 20, title, "strong"))
        words = f"{', '.join(names_of[:3])},", ", ".join(names_of[3:]) + f": one each in this {kind}"
        parts += [text(plane.left, 404 + 17 * j, said, "soft") for j, said in enumerate(words)]
        parts.append(text(plane.left, 440, f"all cells: {width:.0%} of the range on average", "fill-two"))
    said = (
        f"The group of patient {_PERSON} at ell = {_ELL}: boxes publish one box around its {len(rows)} people. The "
        f"batch of the same patient: ANGEL publishes {len(shown)} small cells far from each other, one for each of its "
        f"people. Over all patients cells are {widths[0]:.0%} as wide as the attributes' ranges as boxes, and "
        f"{widths[1]:.0%} as ANGEL."
    )
    return svg(720, 452, "Boxes beside the cells of ANGEL", said, parts)


def _box(plane: Plane, youngest: float, oldest: float, low: float, high: float) -> Part:
    sides = plane.x(youngest - 0.7), plane.y(high + 0.55), plane.x(oldest + 0.7), plane.y(low - 0.55)
    return box(*sides, "two thick fill-two pale")


def _people(plane: Plane, table: gh.Microdata, rows: NDArray, person: int) -> list[Part]:
    own, zips = ages(table), table.column("zipcode").codes
    places = {int(i): (plane.x(own[i]), plane.y(zips[i])) for i in rows}
    here = places.pop(person)
    return [marks(places.values(), "triangle", 3.4, "fill-one"), marks([here], "diamond", 4, "fill-two")]


def _numbers(cell: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", cell)] * (1 if "," in cell else 2)


def _codes(cell: str) -> list[str]:
    return re.findall(r"\d+", cell)
