# SPDX-License-Identifier: Apache-2.0
"""Tables of other tools: their cells are read as an adversary reads them, their groups attacked as our own."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.adversary.foreign_groups import restated
from glasshouse.adversary.task import Task

PEOPLE = {"age": [21, 25, 33, 38, 44, 59], "zip": ["47601", "47602", "47610", "48001", "48002", "48010"]}
QUASI = ["age", "zip"]


def attacked(cells: dict[str, list[str]], **given: object) -> gh.Posterior:
    release = gh.foreign_release(cells, quasi=QUASI, sensitive="ill", principle=gh.LDiversity(ell=2), **given)
    return gh.attack(release, knowledge=gh.Knowledge(external=gh.read(PEOPLE, quasi=QUASI)))


@pytest.mark.parametrize(
    ("ages", "zips"),
    [
        (["[20, 40)"] * 4 + ["[40, 60)"] * 2, ["476**"] * 3 + ["480**"] * 3),  # ARX
        (["20-39"] * 4 + ["40-60"] * 2, ["47601,47602,47610"] * 3 + ["48001,48002,48010"] * 3),  # anonypy
        (["(20, 40]"] * 4 + ["(40, 60]"] * 2, ["{47601, 47602, 47610}"] * 3 + ["{48001,48002,48010}"] * 3),
        (["[21, 38]"] * 4 + ["[44, 59]"] * 2, ["47601|47602|47610"] * 3 + ["48***"] * 3),
    ],
)
def test_cells_of_other_tools_stand_for_the_same_people(ages: list[str], zips: list[str]) -> None:
    beliefs = attacked({"age": ages, "zip": zips, "ill": ["flu", "flu", "gout", "gout", "flu", "gout"]})

    assert beliefs.of(0) == pytest.approx({"flu": 2 / 3, "gout": 1 / 3})
    assert beliefs.of(3) == pytest.approx({"gout": 1.0})
    assert beliefs.of(4) == pytest.approx({"flu": 0.5, "gout": 0.5})
    assert beliefs.how == "exact"


def test_reverse_engineering_needs_to_be_told_how_the_table_was_made() -> None:
    cells = {"age": ["*"] * 6, "zip": ["*"] * 6, "ill": list("aabbcc")}
    release = gh.foreign_release(cells, quasi=QUASI, sensitive="ill", principle=gh.LDiversity(ell=2))
    knowledge = gh.Knowledge(external=gh.read(PEOPLE, quasi=QUASI))
    with pytest.raises(gh.InputError, match="needs the method"):
        gh.attack(release, gh.ReverseEngineering(), knowledge=knowledge)


def test_a_person_who_does_not_fit_one_group_stops_reverse_engineering() -> None:
    cells = {"age": ["*"] * 6, "zip": ["476**"] * 3 + ["4****"] * 3, "ill": list("abcabc")}
    release = gh.foreign_release(
        cells, quasi=QUASI, sensitive="ill", principle=gh.LDiversity(ell=2), method=gh.Mondrian()
    )
    with pytest.raises(gh.NotSupported, match="fit no group or several"):
        gh.attack(release, gh.ReverseEngineering(), knowledge=gh.Knowledge(external=gh.read(PEOPLE, quasi=QUASI)))


@pytest.mark.parametrize("seed", range(30))
def test_our_own_table_written_as_another_tool_would_is_believed_alike(seed: int) -> None:
    draw = Random(seed)
    n = draw.randrange(4, 9)
    people = {"age": [draw.randrange(20, 60) for _ in range(n)], "zip": [draw.choice("abc") for _ in range(n)]}
    values = ["xyz"[i % 3] for i in range(n)]
    draw.shuffle(values)
    table = gh.read({**people, "ill": values}, quasi=QUASI, sensitive="ill")
    ours = gh.publish(table, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Boxes())
    rows = ours.data.to_pylist()
    draw.shuffle(rows)
    theirs = {
        "age": [row["age"].replace(", ", "-").strip("[]") for row in rows],
        "zip": [row["zip"].replace(", ", "|").strip("{}") for row in rows],
        "ill": [row["ill"] for row in rows],
    }
    knowledge = gh.Knowledge(external=gh.read(people, quasi=QUASI))
    foreign = gh.foreign_release(
        theirs, quasi=QUASI, sensitive="ill", principle=gh.LDiversity(ell=2), method=gh.Mondrian()
    )

    assert restated(Task.of(gh.Linking(), foreign, knowledge)).data.equals(ours.data)
    for attack in (gh.Linking(), gh.ReverseEngineering()):
        one, other = (gh.attack(release, attack, knowledge=knowledge) for release in (ours, foreign))
        np.testing.assert_allclose(one.to_table()["belief"], other.to_table()["belief"])
