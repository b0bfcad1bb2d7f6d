# SPDX-License-Identifier: Apache-2.0
"""Questions in SQL: estimates and their errors are those of trying every place and every order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.analyst.answers.estimates import Estimate
from tests.twins import estimates as naive

RECODINGS = {"boxes": gh.Boxes(), "anatomy": gh.Anatomy(), "angel": gh.Angel(k=2)}
CONDITIONS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "age < 23": lambda o: o["age"] < 23,
    "s = 'a'": lambda o: o["s"] == "a",
    "age BETWEEN 21 AND 23 AND s = 'b'": lambda o: 21 <= o["age"] <= 23 and o["s"] == "b",
    "(age <> 22 OR sex = 'F') AND s IN ('a', 'c')": lambda o: (o["age"] != 22 or o["sex"] == "F") and o["s"] in "ac",
    "sex = 'F' OR s = 'a'": lambda o: o["sex"] == "F" or o["s"] == "a",
    "NOT (age > 22 AND s <> 'c') OR (sex = 'M' AND s = 'b')": lambda o: (
        not (o["age"] > 22 and o["s"] != "c") or (o["sex"] == "M" and o["s"] == "b")
    ),
    "age >= 20": lambda o: True,
}


def released(kind: str, seed: int) -> gh.Release:
    draw = Random(seed)
    n = draw.randrange(4, 8)
    sensitive = ["abc"[i % 3] for i in range(n)]
    draw.shuffle(sensitive)
    columns = {"age": [draw.randrange(20, 26) for _ in range(n)], "sex": [draw.choice("FM") for _ in range(n)]}
    table = gh.read({**columns, "s": sensitive}, quasi=["age", "sex"], sensitive="s")
    source = gh.Source.seeded(seed)
    return gh.publish(
        table, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=RECODINGS[kind], source=source
    )


def by_force(release: gh.Release, kind: str, amount: Callable[[dict[str, Any]], Any]) -> tuple[Any, Any]:
    tables = {name: table.to_pylist() for name, table in release.tables.items()}
    groups = naive.groups_of(kind, tables, ["age", "sex"], "s")
    return naive.count(groups, ["age", "sex"], "s", amount)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", RECODINGS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_count_and_its_error_are_those_of_every_place_and_order(condition: str, kind: str, seed: int) -> None:
    release = released(kind, seed)
    found = gh.query(release, f"SELECT COUNT(*) WHERE {condition}").only

    mean, variance = by_force(release, kind, CONDITIONS[condition])
    assert found.value == pytest.approx(float(mean))
    assert found.error**2 == pytest.approx(float(variance), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", RECODINGS)
def test_a_sum_and_its_error_are_those_of_every_place_and_order(kind: str, seed: int) -> None:
    release = released(kind, seed)
    for condition, holds in CONDITIONS.items():
        found = gh.query(release, f"SELECT SUM(age) WHERE {condition}").only
        mean, variance = by_force(release, kind, lambda o, holds=holds: o["age"] * holds(o))  # type: ignore[misc]

        assert found.value == pytest.approx(float(mean))
        assert found.error**2 == pytest.approx(float(variance), abs=1e-6)


def test_a_mean_is_the_sum_over_the_count_and_a_grouping_gives_every_combination() -> None:
    release = released("anatomy", 3)
    whole = gh.query(release, "SELECT COUNT(*), SUM(age), AVG(age) WHERE s <> 'a'").estimates[0]
    assert whole[2].value == pytest.approx(whole[1].value / whole[0].value)

    answer = gh.query(release, "SELECT sex, s, COUNT(*) AS people GROUP BY sex, s")
    table = answer.to_table()
    assert table.column_names == ["sex", "s", "people", "people error", "people low", "people high"]
    assert sum(table["people"].to_pylist()) == pytest.approx(release.n_tuples)
    for sex, s, people in zip(*(table[name].to_pylist() for name in ("sex", "s", "people")), strict=True):
        alone = gh.query(release, f"SELECT COUNT(*) WHERE sex = '{sex}' AND s = '{s}'")
        assert people == pytest.approx(float(alone))


def test_quasi_identifiers_that_are_published_exactly_leave_no_doubt() -> None:
    found = gh.query(released("anatomy", 1), "SELECT COUNT(*) WHERE age < 23").only
    assert (found.error, found.value, found.low) == (0, round(found.value), found.high)


def test_query_a_of_anatomy_is_a_tenth_on_the_printed_boxes_and_one_on_anatomy() -> None:
    boxes = {"Age": ["[21, 60]"] * 4 + ["[61, 70]"] * 4, "Sex": ["M"] * 4 + ["F"] * 4}
    zips = {"Zipcode": ["[10001, 60000]"] * 8}
    diseases = gh.examples.anatomy_table1().column("Disease")
    values = diseases.domain.decode(diseases.codes).to_pylist()
    printed = gh.foreign_release(
        {**boxes, **zips, "Disease": values}, quasi=["Age", "Sex", "Zipcode"], sensitive="Disease"
    )
    sql = "SELECT COUNT(*) WHERE Disease = 'pneumonia' AND Age <= 30 AND Zipcode BETWEEN 10001 AND 20000"
    assert float(gh.query(printed, sql)) == pytest.approx(0.1)

    table = gh.examples.anatomy_table1()
    made = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy())
    groups = gh.Groups(np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32), 2)
    found = gh.query(replace(made, tables=gh.Anatomy().recode(table, groups)), sql).only
    assert found.value == pytest.approx(1)
    assert found.error**2 == pytest.approx(1 / 3)  # two of four tuples, two of four values: hypergeometric


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT COUNT(*) WHERE agee < 3", "age"),
        ("SELECT SUM(sex)", "contains texts"),
        ("SELECT COUNT(*) WHERE age = 'x'", "age"),
        ("DELETE FROM release", "SELECT"),
    ],
)
def test_what_cannot_be_asked_is_said(sql: str, message: str) -> None:
    with pytest.raises(gh.GlasshouseError, match=message):
        gh.query(released("boxes", 0), sql)


# --- GROUP BY is a question for every row -----------------------------------------------------------------------------

GROUPED_BY = {
    "boxes": {"recoding": gh.Boxes()},
    "anatomy": {"recoding": gh.Anatomy()},
    "permutation": {"recoding": gh.Permutation()},
    "angel": {},
    "perturbed": {"principle": gh.RhoBreach(rho1="0.2", rho2="0.6", lambda_="0.3", k=3)},
}


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
@pytest.mark.parametrize("kind", GROUPED_BY)
@pytest.mark.parametrize("where", ["", "age < 40 OR pay > 300"])
def test_every_row_of_a_grouped_answer_is_what_the_question_about_it_alone_gets(kind: str, where: str) -> None:
    draws = np.random.default_rng(5)
    table = {
        "age": draws.integers(20, 60, 150).tolist(),
        "city": [[None, "Oslo", "Rome", "Bern"][i] for i in draws.integers(0, 4, 150)],
        "pay": (100 * draws.integers(1, 7, 150)).tolist(),
    }
    people = gh.read(table, quasi=["age", "city"], sensitive="pay", categorical=["pay"], missing="category")
    choices = {"principle": gh.LDiversity(ell=3), "source": gh.Source.seeded(1), **GROUPED_BY[kind]}
    release = gh.publish(people, **choices)
    condition = f" WHERE {where}" if where else ""
    answer = gh.query(release, f"SELECT pay, city, COUNT(*), SUM(pay), AVG(age){condition} GROUP BY pay, city")

    assert len(answer.keys) > 12
    for (pay, city), row in zip(answer.keys, answer.estimates, strict=True):
        own = f"pay = {pay} AND " + ("city IS NULL" if city is None else f"city = '{city}'")
        own += f" AND ({where})" if where else ""
        (alone,) = gh.query(release, f"SELECT COUNT(*), SUM(pay), AVG(age) WHERE {own}").estimates
        for found, expected in zip(row, alone, strict=True):
            assert [found.value, found.error] == pytest.approx(
                [expected.value, expected.error], rel=1e-6, abs=1e-5, nan_ok=True
            )


def test_of_very_many_rows_those_that_nobody_is_likely_to_be_in_are_not_printed() -> None:
    rows = {"zip": [2138, 2139, 10001, 10002] * 60, "sex": [*"FMMF"] * 60, "ill": [*"abc"] * 80}
    table = gh.read(rows, quasi=["zip", "sex"], sensitive="ill")
    release = gh.publish(
        table, principle=gh.KAnonymity(k=130), method=gh.Mondrian(), recoding=gh.Boxes(), source=gh.Source.seeded(1)
    )
    answer = gh.query(release, "SELECT zip, COUNT(*) GROUP BY zip", model="uniform")
    assert len(answer.keys) == len(answer.to_table()) > 1_000
    few = replace(answer, estimates=tuple((Estimate(0.0, 0.1, 0.0, 0.2),) for _ in answer.keys))
    several = replace(few, estimates=((Estimate(7.0, 1.0, 5.0, 9.0),), *few.estimates[1:]))
    lines = str(several).splitlines()
    assert lines[1].split()[1] == "7"
    assert len(lines) < 6
    assert f"{len(several.keys) - 1:,} rows of {len(several.keys):,} are not shown" in " ".join(lines)
    assert len(several.to_csv().splitlines()) == len(several.keys) + 1
    short = replace(few, keys=few.keys[:900], estimates=few.estimates[:900])
    assert len(str(short).splitlines()) >= 901
