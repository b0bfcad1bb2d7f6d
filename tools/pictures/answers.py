# SPDX-License-Identifier: Apache-2.0
"""The analyst's answers against the truth: counts from the release with their intervals, and without a link."""

from __future__ import annotations

import numpy as np

import glasshouse as gh
from glasshouse.analyst.answers.workload_answers import count, independent
from tools.pictures.drawing import Plane, line, marks, svg, text
from tools.pictures.hospital import patients

__all__ = ["picture"]

_QUESTIONS, _LEAST, _MOST = 160, 15, 100


def picture() -> str:
    """A mark for every question."""
    table = patients()
    release = gh.publish(table, principle=gh.LDiversity(ell=3), source=gh.Source.seeded(1))
    asked = gh.Workload.transparent(table, qd=3, n=_QUESTIONS, seed=1)
    true = count(table, asked)
    asked = asked.take(np.flatnonzero((true >= _LEAST) & (true <= _MOST)))
    true, found, plain = count(table, asked), gh.answer(release, asked), independent(table, asked)
    plane = Plane(left=58, right=470, top=16, floor=372, across=(18, 110), up=(13, 130), powers="xy")
    parts = []
    for tick in (20, 30, 50, 70, 100):
        parts += [
            line(plane.left, plane.y(tick), plane.right, plane.y(tick), "grid"),
            text(plane.left - 8, plane.y(tick) + 4, f"{tick}", "soft", anchor="end"),
        ]
        parts += [
            line(plane.x(tick), plane.top, plane.x(tick), plane.floor, "grid"),
            text(plane.x(tick), plane.floor + 17, f"{tick}", "soft", anchor="middle"),
        ]
    parts += [
        plane.frame(),
        text((plane.left + plane.right) / 2, plane.floor + 36, "true number of people", "soft", anchor="middle"),
    ]
    parts.append(text(16, (plane.top + plane.floor) / 2, "answer", "soft", anchor="middle", turned=True))
    ends = plane.across
    parts.append(line(plane.x(ends[0]), plane.y(ends[0]), plane.x(ends[1]), plane.y(ends[1]), "axis dashed"))
    half = 1.96 * found.errors
    for t, v, h in zip(true, found.values, half, strict=True):
        if v - h > plane.up[0]:
            parts.append(line(plane.x(t), plane.y(v - h), plane.x(t), plane.y(v + h), "one thin"))
    parts.append(
        marks(
            [(plane.x(t), plane.y(max(v, plane.up[0]))) for t, v in zip(true, plain, strict=True)],
            "triangle",
            2.6,
            "fill-quiet half",
        )
    )
    parts.append(marks([(plane.x(t), plane.y(v)) for t, v in zip(true, found.values, strict=True)], "dot", 2.6, "one"))
    covered = int(found.covers(true).sum())
    errors = [float(np.mean(np.abs(v - true) / true)) for v in (found.values, plain)]
    words = [
        ("dot", "one", "from the release, with", "its 95 % interval:", f"mean error {errors[0]:.0%}"),
        ("triangle", "fill-quiet half", "without a link:", f"mean error {errors[1]:.0%}", ""),
    ]
    for i, (shape, kind, *lines) in enumerate(words):
        y = 60 + 74 * i
        parts.append(marks([(496, y - 4)], shape, 4, kind))
        parts += [text(510, y + 18 * j, said, "strong" if j == 0 else "soft") for j, said in enumerate(lines) if said]
    parts += [line(488, 204, 504, 204, "axis dashed"), text(510, 208, "the truth", "strong")]
    parts.append(text(488, 244, f"{covered} of {len(true)} intervals cover it", "soft"))
    said = (
        f"{len(true)} questions how many people of some ages, or some zip codes or a sex, have some diseases. "
        f"The release, 3-diverse as ANGEL, answers with a mean relative error of {errors[0]:.0%}; two tables without "
        f"a link with {errors[1]:.0%}."
    )
    return svg(720, 418, "The analyst's answers against the truth", said, parts)
