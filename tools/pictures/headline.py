# SPDX-License-Identifier: Apache-2.0
"""The picture of the README: how sure an attacker can be about a patient's disease, four ways to publish one table."""

from __future__ import annotations

import glasshouse as gh
from glasshouse.pages.svg import element
from tools.pictures.drawing import line, svg, text
from tools.pictures.hospital import patients

__all__ = ["picture"]

_ELL = 3
_LEFT, _RIGHT, _TOP, _STEP = 268, 640, 66, 52


def picture() -> str:
    """A bar for each way, and a line at what was promised."""
    found = _found()
    parts = [text(20, 26, "How sure can an attacker be about one patient's disease?", "strong")]
    parts.append(
        text(
            20,
            45,
            "The most exposed of 900 patients. The attacker knows the method, and everybody's age, sex and zip code.",
            "soft",
        )
    )
    floor = _TOP + _STEP * len(found)
    promised = _LEFT + (_RIGHT - _LEFT) / _ELL
    for i, (name, how, probability) in enumerate(found):
        y = _TOP + _STEP * i
        kept = probability <= 1 / _ELL * (1 + 1e-9)
        end = _LEFT + (_RIGHT - _LEFT) * probability
        parts += [
            text(20, y + 20, name, "strong"),
            text(20, y + 37, how, "soft"),
            element(
                "rect",
                class_="fill-three" if kept else "fill-two",
                x=_LEFT,
                y=y + 8,
                width=end - _LEFT,
                height=26,
                rx=3,
            ),
            text(end + 8, y + 26, f"{probability:.0%}", "fill-three" if kept else "fill-two"),
        ]
    parts += [
        line(promised, _TOP - 6, promised, floor + 4, "axis dashed"),
        text(promised, floor + 20, f"promised with {_ELL}-diversity: at most 33 %", "soft", anchor="middle"),
    ]
    said = "The highest probability for a disease of anybody, in one table of 900 patients. " + "; ".join(
        f"{name}, {how}: {probability:.0%}" for name, how, probability in found
    )
    return svg(720, floor + 34, "How sure can an attacker be about one patient's disease?", f"{said}.", parts)


def _found() -> list[tuple[str, str, float]]:
    """What each way is called, and the highest probability that an attack on it finds."""
    table, diverse = patients(), gh.LDiversity(ell=_ELL)
    groups = gh.publish(table, principle=gh.KAnonymity(k=5), recoding=gh.Boxes(), source=gh.Source.seeded(1))
    mondrian = gh.publish(
        table, principle=diverse, method=gh.Mondrian(), recoding=gh.Boxes(), source=gh.Source.seeded(1)
    )
    default = gh.publish(table, principle=diverse, source=gh.Source.seeded(1))
    return [
        ("Names removed", "nothing else changed", _names_removed(table)),
        ("5-anonymity", "at least 5 people in a group", _highest(groups, table)),
        (f"Mondrian, {_ELL}-diversity", "a method that many tools use", _highest(mondrian, table)),
        (f"Glasshouse, {_ELL}-diversity", "the default", _highest(default, table)),
    ]


def _names_removed(table: gh.Microdata) -> float:
    """The largest share of one disease among people with the same age, sex and zip code."""
    rows = zip(*(column.codes.tolist() for column in (*table.quasi, *table.sensitive)), strict=True)
    ill: dict[tuple[int, ...], list[int]] = {}
    for *person, disease in rows:
        ill.setdefault(tuple(person), []).append(disease)
    return max(max(map(values.count, values)) / len(values) for values in ill.values())


def _highest(release: gh.Release, table: gh.Microdata) -> float:
    """What an attacker finds who knows the method, too."""
    attack = gh.ReverseEngineering(source=gh.Source.seeded(1))
    return float(gh.attack(release, attack, knowledge=gh.Knowledge(external=table)).worst().belief)
