# SPDX-License-Identifier: Apache-2.0
"""The patients of the tour, for every picture alike: 900 people who do not exist."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

import glasshouse as gh
from glasshouse.principles.principle import Requirement
from tools.pictures.drawing import line, marks, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from glasshouse.pages.svg import Part
    from tools.pictures.drawing import Plane

__all__ = ["ages", "ground", "groups", "patients"]


def patients(*quasi: str) -> gh.Microdata:
    """The tour's table with these quasi-identifiers; age, sex and zip code unless told otherwise."""
    return gh.read(
        gh.synthetic.hospital_table(n=900, seed=1),
        identifier="patient",
        quasi=list(quasi or ("age", "sex", "zipcode")),
        sensitive="disease",
        taxonomies={"zipcode": gh.Taxonomy.prefix(length=5)},
    )


def groups(table: gh.Microdata, method: gh.Mirror | gh.Mondrian, principle: object) -> list[NDArray]:
    """The rows of each group, as the method divides the table with a fixed seed."""
    found = method.divide(table, Requirement.of(principle, table), source=gh.Source.seeded(1))
    return [found.order[a:b] for a, b in zip(found.offsets, found.offsets[1:], strict=False)]


def ages(table: gh.Microdata) -> NDArray:
    """Everybody's age."""
    column = table.column("age")
    return np.array(column.domain.values.to_pylist())[column.codes]


def ground(plane: Plane, table: gh.Microdata, *, ticks: bool) -> Iterator[Part]:
    """Age across and zip codes upwards, a line where their first three digits change, and everybody as a point."""
    codes = table.column("zipcode").domain.values.to_pylist()
    starts = [i for i, code in enumerate(codes) if i == 0 or code[:3] != codes[i - 1][:3]]
    for low, high in pairwise([*starts, len(codes)]):
        yield line(plane.left, plane.y(low - 0.5), plane.right, plane.y(low - 0.5), "grid")
        if ticks:
            yield text(plane.left - 6, plane.y((low + high - 1) / 2) + 4, f"{codes[low][:3]}**", "soft", anchor="end")
    yield plane.frame()
    for age in range(0, 91, 15):
        yield text(plane.x(age), plane.floor + 16, f"{age}", "soft", anchor="middle")
    yield text((plane.left + plane.right) / 2, plane.floor + 33, "age", "soft", anchor="middle")
    jitter = np.random.default_rng(1).uniform(-0.35, 0.35, (2, table.n_tuples))
    places = zip(ages(table) + jitter[0], table.column("zipcode").codes + jitter[1], strict=True)
    yield marks([(plane.x(a), plane.y(b)) for a, b in places], "dot", 1.1, "quiet")
