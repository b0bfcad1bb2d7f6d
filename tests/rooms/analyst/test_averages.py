"""An average is one of those who have a value, as in SQL."""

from __future__ import annotations

import math
from typing import Any

import pytest

import glasshouse as gh

AGES = [None if i % 5 == 0 else 20 + i % 30 for i in range(300)]
DOSES = [None if i % 7 == 0 else i % 6 for i in range(300)]


def release(recoding: Any) -> gh.Release:
    table = gh.read(
        {"age": AGES, "sex": ["FM"[i % 2] for i in range(300)], "dose": DOSES},
        quasi=["age", "sex"],
        sensitive="dose",
        categorical=["dose"],
        missing="category",
    )
    return gh.publish(table, principle=gh.LDiversity(ell=3), recoding=recoding, source=gh.Source.seeded(1))


def mean(values: list[int | None]) -> float:
    there = [value for value in values if value is not None]
    return sum(there) / len(there)


def test_people_who_miss_a_value_are_not_divided_by() -> None:
    made = release(gh.Anatomy())

    found = gh.query(made, "SELECT AVG(age), COUNT(*), SUM(age)", model="uniform")

    ((average, count, total),) = found.estimates
    assert average.value == pytest.approx(mean(AGES))
    assert average.error == pytest.approx(0, abs=1e-9)
    assert count.value == 300
    assert total.value == sum(age for age in AGES if age is not None)


def test_each_row_of_a_grouping_leaves_out_its_own() -> None:
    made = release(gh.Anatomy())

    found = gh.query(made, "SELECT sex, AVG(age) GROUP BY sex", model="uniform")

    for (sex,), (average,) in zip(found.keys, found.estimates, strict=True):
        own = [age for i, age in enumerate(AGES) if "FM"[i % 2] == sex]
        assert average.value == pytest.approx(mean(own))


def test_nobody_has_no_average() -> None:
    found = gh.query(release(gh.Anatomy()), "SELECT AVG(age) WHERE age IS NULL", model="uniform")

    assert math.isnan(found.value)


@pytest.mark.parametrize("model", ["uniform", "learned"])
def test_boxes_are_near(model: str) -> None:
    found = gh.query(release(gh.Boxes()), "SELECT AVG(age)", model=model)

    assert found.value == pytest.approx(mean(AGES), rel=0.1)  # divided by everybody it would be a fifth less
