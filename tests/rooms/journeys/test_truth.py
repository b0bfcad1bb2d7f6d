"""What a question is truly answered by the table, and whether a release was made of it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.journeys.republication import is_newest
from glasshouse.journeys.truth import true_answer

AGES, SEXES, DISEASES = [20, 31, 40, None, 55], ["F", "M", None], ["flu", "HIV", "ulcer", "gout"]


@pytest.fixture(scope="module")
def people() -> list[dict[str, Any]]:
    drawn = random.Random(3)
    return [
        {"age": drawn.choice(AGES), "sex": drawn.choice(SEXES), "disease": DISEASES[i % 4]}
        for i in range(120)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def table(people: list[dict[str, Any]]) -> gh.Microdata:
    columns = {name: [one[name] for one in people] for name in ("age", "sex", "disease")}
    return gh.read(columns, quasi=["age", "sex"], sensitive="disease", missing="category")


@pytest.fixture(scope="module")
def release(table: gh.Microdata) -> gh.Release:
    return gh.publish(
        table, principle=gh.LDiversity(2), method=gh.Mirror(), recoding=gh.Anatomy(), source=gh.Source.seeded(1)
    )


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("age > 30", lambda one: one["age"] is not None and one["age"] > 30),
        ("NOT age > 30", lambda one: one["age"] is not None and one["age"] <= 30),
        ("sex IS NULL OR disease = 'flu'", lambda one: one["sex"] is None or one["disease"] == "flu"),
        ("sex = 'F' AND (age = 20 OR age IS NULL)", lambda one: one["sex"] == "F" and one["age"] in (20, None)),
    ],
)  # fmt: skip
def test_the_truth_is_what_counting_people_one_by_one_gives(
    people: list[dict[str, Any]], table: gh.Microdata, release: gh.Release, where: str, holds: Any
) -> None:
    sql = f"SELECT disease, COUNT(*), SUM(age), AVG(age) WHERE {where} GROUP BY disease"
    answer = gh.query(release, sql, model="uniform")

    for (key,), found in zip(answer.keys, true_answer(table, answer.question, answer.keys), strict=True):
        own = [one["age"] for one in people if holds(one) and one["disease"] == key]
        known = [age for age in own if age is not None]
        assert found == (len(own), sum(known), sum(known) / len(known) if known else None)


def test_everybody_is_counted_where_nothing_is_asked(table: gh.Microdata, release: gh.Release) -> None:
    answer = gh.query(release, "SELECT COUNT(*)", model="uniform")

    assert true_answer(table, answer.question, answer.keys) == [(120,)]


def test_a_table_is_told_from_another_by_what_an_audit_keeps(table: gh.Microdata, tmp_path: Path) -> None:
    gh.publish(table, principle=gh.LDiversity(2), out=tmp_path / "out")

    assert is_newest(tmp_path / "out" / "audit", table) is True
    other = gh.read({"age": [1, 2] * 60, "sex": ["F", "M"] * 60, "disease": ["a", "b"] * 60}, quasi=["age", "sex"],
                    sensitive="disease")  # fmt: skip
    assert is_newest(tmp_path / "out" / "audit", other) is False
    assert is_newest(tmp_path / "nowhere", table) is None
