# SPDX-License-Identifier: Apache-2.0
"""ORDER BY, LIMIT, LIKE, CASE, HAVING, MEDIAN and quantiles: exact where a release is, and covered where it is not."""

from __future__ import annotations

import math
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.analyst.answers.estimates import Estimate
from glasshouse.analyst.questions.question import And, Like, Question
from glasshouse.analyst.statistics.quantile import Counts
from glasshouse.journeys.truth import true_answer

QUASI = ["age", "sex", "place"]


def people(n: int = 400, seed: int = 1) -> pa.Table:
    random = np.random.default_rng(seed)
    age = random.integers(18, 90, n)
    ill = np.where(random.random(n) < 0.5, age // 18, random.integers(0, 6, n))
    return pa.table(
        {
            "age": age,
            "sex": np.array(["F", "M"])[random.integers(0, 2, n)],
            "place": np.array(["Northam", "Norwich", "South_end", "West%", "Eastham"])[random.integers(0, 5, n)],
            "illness": np.array(["flu", "asthma", "angina", "gout", "ulcer", "cold"])[ill],
        }
    )


@pytest.fixture(scope="module")
def exact() -> tuple[gh.Release, pa.Table]:
    """A release of quasi-identifiers alone, whose cells are single values: every group is of people who are alike."""
    table = people()
    some = pa.concat_tables([table.select(QUASI)] * 2)
    release = gh.publish(gh.read(some, quasi=QUASI), principle="2-anonymity", method="snug", recoding="boxes")
    return release, some


EXACT = [
    "SELECT sex, COUNT(*) AS n GROUP BY sex ORDER BY n DESC",
    "SELECT place, COUNT(*) GROUP BY place ORDER BY COUNT(*), place LIMIT 3",
    "SELECT place, COUNT(*) GROUP BY place ORDER BY place DESC LIMIT 2 OFFSET 1",
    "SELECT place, sex, COUNT(*) GROUP BY place, sex ORDER BY 2, 1 DESC",
    "SELECT place, AVG(age) AS mean GROUP BY place HAVING COUNT(*) > 150 ORDER BY mean",
    "SELECT place, COUNT(*) GROUP BY place HAVING NOT COUNT(*) BETWEEN 150 AND 170 OR AVG(age) > 54 ORDER BY 1",
    "SELECT place, COUNT(*) AS n GROUP BY place HAVING 160 <= n ORDER BY n",
    "SELECT COUNT(*) WHERE place LIKE 'Nor%'",
    "SELECT COUNT(*) WHERE place LIKE '%ham'",
    "SELECT COUNT(*) WHERE place NOT LIKE '_o%'",
    "SELECT COUNT(*) WHERE place ILIKE 'NORTH__'",
    "SELECT COUNT(*) WHERE place LIKE 'South!_%' ESCAPE '!' OR place LIKE 'West!%' ESCAPE '!'",
    "SELECT COUNT(*) WHERE NOT (place LIKE 'Nor%' OR sex = 'F')",
    "SELECT CASE WHEN age < 30 THEN 'young' WHEN age < 60 THEN 'middle' ELSE 'old' END AS band, COUNT(*), AVG(age) "
    "GROUP BY band ORDER BY band",
    "SELECT sex, CASE WHEN age < 50 THEN 1 ELSE 0 END AS young, COUNT(*) GROUP BY sex, young ORDER BY young, sex",
    "SELECT CASE place WHEN 'Norwich' THEN 'N' WHEN 'Northam' THEN 'N' END AS north, COUNT(*) "
    "GROUP BY north ORDER BY north NULLS FIRST",
    "SELECT SUM(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) AS women, COUNT(*) FILTER (WHERE age > 70) AS old",
    "SELECT place, AVG(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) AS share GROUP BY place ORDER BY share DESC",
    "SELECT SUM(CASE WHEN sex = 'F' THEN age ELSE 0 END) AS s, AVG(CASE WHEN sex = 'F' THEN age END) AS a",
    "SELECT COUNT(CASE WHEN sex = 'M' THEN 1 END) AS men WHERE age < 40",
    "SELECT MEDIAN(age)",
    "SELECT sex, MEDIAN(age), COUNT(*) GROUP BY sex ORDER BY sex",
    "SELECT QUANTILE_CONT(age, 0.37) AS a, QUANTILE_DISC(age, 0.37) AS b, QUANTILE(age, 0.9) AS c WHERE sex = 'F'",
    "SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age) AS q, QUANTILE_DISC(age, 0) AS least, "
    "QUANTILE_DISC(age, 1) AS most WHERE place = 'Norwich' AND age <> 44",
    "SELECT place, MEDIAN(age) AS m GROUP BY place HAVING MEDIAN(age) > 50 ORDER BY m DESC, place LIMIT 4",
    "SELECT MEDIAN(age) FILTER (WHERE sex = 'M') AS m",
]


@pytest.mark.parametrize("sql", EXACT)
def test_a_release_that_hides_nothing_answers_as_a_database_does(exact: tuple[gh.Release, pa.Table], sql: str) -> None:
    release, table = exact
    answer = gh.query(release, sql)
    head, _, tail = sql.partition(" WHERE ") if " WHERE " in sql and "FILTER (WHERE" not in sql else (sql, "", "")
    cut = head.find(" GROUP BY")
    selected, rest = (head, "") if cut < 0 else (head[:cut], head[cut:])
    with duckdb.connect() as database:
        database.register("release", table)
        expected = database.execute(f"{selected} FROM release {'WHERE ' + tail if tail else ''} {rest}").fetchall()
    found = [
        (*key, *(estimate.value for estimate in row)) for key, row in zip(answer.keys, answer.estimates, strict=True)
    ]
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other)
    assert all(estimate.error == 0 for row in answer.estimates for estimate in row)
    assert answer.notes == ()


# --- where the release leaves something open --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hidden() -> tuple[gh.Release, gh.Microdata]:
    table = gh.read(people(3000, seed=3), quasi=QUASI, sensitive="illness")
    return gh.publish(table, principle="3-diversity"), table


@pytest.mark.parametrize("model", ["learned", "uniform"])
def test_intervals_of_quantiles_and_shares_cover_what_is_true(
    hidden: tuple[gh.Release, gh.Microdata], model: str
) -> None:
    """About 95 % of them by what is learned; the papers' estimator knows nothing of how illness depends on age."""
    release, table = hidden
    asked = [
        f"SELECT illness, MEDIAN(age), QUANTILE_CONT(age, 0.9) AS high, "
        f"AVG(CASE WHEN age > 60 THEN 1 ELSE 0 END) AS share WHERE sex = '{sex}' GROUP BY illness"
        for sex in ("F", "M")
    ]
    inside, widths = [], []
    for sql in asked:
        answer = gh.query(release, sql, model=model)
        for row, truth in zip(answer.estimates, true_answer(table, answer.question, answer.keys), strict=True):
            for estimate, true in zip(row, truth, strict=True):
                assert true is not None
                inside.append(estimate.low - 1e-9 <= true <= estimate.high + 1e-9)
                widths.append(estimate.high - estimate.low)
    assert len(inside) == 36
    assert sum(inside) >= (33 if model == "learned" else 12)
    assert min(widths) > 0


def test_having_and_order_say_that_they_go_by_estimates(hidden: tuple[gh.Release, gh.Microdata]) -> None:
    release, _ = hidden
    sql = "SELECT place, COUNT(*) AS n WHERE illness = 'flu' AND sex = 'F' GROUP BY place"
    plain = gh.query(release, sql)
    middle = sorted(estimate.value for (estimate,) in plain.estimates)[2]
    kept = gh.query(release, f"{sql} HAVING n >= {middle} ORDER BY n DESC")
    assert len(kept.keys) == 3
    values = [row[0].value for row in kept.estimates]
    assert values == sorted(values, reverse=True)
    assert any("HAVING keeps rows by their estimates. For" in note for note in kept.notes)
    assert any("rows are ordered by their estimates" in note for note in kept.notes)
    assert "HAVING" not in " ".join(gh.query(release, f"{sql} HAVING n >= 0.5").notes)
    hidden_measure = gh.query(release, f"{sql} HAVING AVG(age) > 0 ORDER BY AVG(age)")
    assert hidden_measure.to_table().column_names == ["place", "n", "n error", "n low", "n high"]


def test_a_measured_column_in_intervals_has_a_median_within_its_range() -> None:
    random = np.random.default_rng(5)
    table = pa.table(
        {"weight": random.normal(70, 12, 500).round(3), "sex": np.array(["F", "M"])[random.integers(0, 2, 500)]}
    )
    release = gh.publish(gh.read(table, quasi=["weight", "sex"]), principle="10-anonymity", recoding="boxes")
    found = gh.query(release, "SELECT MEDIAN(weight)", model="uniform").only
    assert found.low <= float(np.median(table["weight"])) <= found.high
    assert abs(found.value - float(np.median(table["weight"]))) < 3


def test_nobody_has_no_median(exact: tuple[gh.Release, pa.Table]) -> None:
    release, _ = exact
    found = gh.query(release, "SELECT MEDIAN(age), COUNT(*) AS n WHERE age > 200")
    assert math.isnan(found.estimates[0][0].value)
    assert found.estimates[0][1].value == 0


def test_a_pattern_that_nothing_fits_is_said_and_one_that_cannot_be_told_is_refused(
    exact: tuple[gh.Release, pa.Table],
) -> None:
    release, _ = exact
    found = gh.query(release, "SELECT COUNT(*) WHERE place LIKE 'Z%'")
    assert found.value == 0
    assert found.notes == ("no published cell of 'place' fits 'Z%': nobody is counted for it",)
    table = pa.table({"code": [f"A{chr(65 + i // 10)}{chr(65 + i % 10)}" for i in range(60)], "x": ["a", "b"] * 30})
    read = gh.read(table, quasi=["code"], sensitive="x", taxonomies={"code": gh.Taxonomy.prefix(length=3)})
    told = gh.publish(read, principle="10-anonymity", recoding="taxonomies")
    with pytest.raises(gh.InputError, match="LIKE cannot be answered for column 'code'"):
        gh.query(told, "SELECT COUNT(*) WHERE code LIKE 'AA%'")


def test_too_many_medians_are_refused(hidden: tuple[gh.Release, gh.Microdata]) -> None:
    with pytest.raises(gh.InputError, match=r"a quantile for each of .* rows takes too long"):
        gh.query(hidden[0], "SELECT age, place, MEDIAN(age) WHERE illness = 'flu' GROUP BY age, place", model="uniform")


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("", "", True),
        ("%", "", True),
        ("_", "", False),
        ("a%b%c", "a--b--b-c", True),
        ("a%b%c", "a--b--b-", False),
        ("%%a", "a", True),
        ("a_c", "abc", True),
        ("a_c", "abbc", False),
        ("%" + "a%" * 400, "a" * 399 + "b", False),  # and quickly
    ],
)
def test_patterns(pattern: str, text: str, fits: Any) -> None:
    assert Like("x", pattern).fits(text) is fits


def _uneven(seed: int) -> Counts:
    """Counts of few people, with errors that do not grow evenly from value to value."""
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 60))
    means = random.exponential(random.choice([0.05, 0.3, 3.0]), n) * random.integers(0, 2, n)
    variances = random.exponential(means.sum() / 2 + 0.01, (2, n))

    def ask(question: Question) -> Any:
        values = question.where.parts[1].values  # type: ignore[union-attr]
        if not isinstance(values, tuple):  # everybody
            return SimpleNamespace(only=Estimate.normal(means.sum(), means.sum(), least=0))
        side, at = values
        own = means[at + 1 :] if side else means[: at + 1]
        return SimpleNamespace(only=Estimate.normal(own.sum(), variances[side, at], least=0))

    return Counts("x", range(n), And(()), ask, lambda at: (0, at), lambda at: (1, at))  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("seed", range(100))
def test_the_interval_of_a_larger_share_never_begins_or_ends_below_that_of_a_smaller_one(seed: int) -> None:
    for between in (False, True):
        found = [_uneven(seed).quantile(share, between=between) for share in np.linspace(0.02, 0.98, 25).tolist()]
        for one, other in pairwise(found):
            if not math.isnan(one.value):
                assert one.value <= other.value
                assert one.low <= other.low
                assert one.high <= other.high
