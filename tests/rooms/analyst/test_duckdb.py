# SPDX-License-Identifier: Apache-2.0
"""A release in DuckDB: plain SQL over its tables gives the counts that `query` gives."""

from __future__ import annotations

import builtins
import datetime as dt
from random import Random
from typing import Any

import duckdb
import numpy as np
import pytest

import glasshouse as gh
from glasshouse.analyst.answers.duckdb_views import to_duckdb
from tests.rooms.analyst.plain_releases import KINDS, released
from tests.rooms.analyst.test_answering import complete_release, known, random_questions

EXACT = ("anatomy", "permutation")


def asked_of(connection: Any, sql: str) -> Any:
    (row,) = connection.execute(sql).fetchall()
    return row[0] or 0.0


def literal(value: Any) -> str:
    return str(value).upper() if isinstance(value, bool) else repr(value)


def one_of(column: str, values: list[Any]) -> str:
    some = [literal(value) for value in values if value is not None]
    tests = ([f"{column} IN ({', '.join(some)})"] if some else []) + ([f"{column} IS NULL"] if None in values else [])
    return "(" + " OR ".join(tests or ["FALSE"]) + ")"


def in_plain_sql(kind: str, seats: str, condition: dict[str, list[Any]]) -> str:
    """The estimate as the documentation says: tuples, times the part of their cells, times the share of values."""
    joins, tests, factors = [], [], ['"Tuples"', '"Share"']
    for name, values in condition.items():
        if name == "ill":
            tests.append(one_of("ill", values))
        elif kind in EXACT:
            tests.append(one_of(f"s.{name}", values))
        else:
            covered = one_of('"Value"', values)
            own = f'SELECT "Cell", sum("Share") AS part FROM "cells of {name}" WHERE {covered} GROUP BY 1'
            joins.append(f'JOIN ({own}) AS of_{name} ON of_{name}."Cell" = s.{name}')
            factors.append(f"of_{name}.part")
    where = f"WHERE {' AND '.join(tests)}" if tests else ""
    return (
        f'SELECT sum({" * ".join(factors)}) FROM {seats} AS s JOIN groups USING ("Group-ID") {" ".join(joins)} {where}'
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_counts_in_plain_sql_are_those_of_query(kind: str, seed: int) -> None:
    random = Random(2000 + seed)
    made = complete_release(random, kind)
    connection = to_duckdb(made.release, **known(made))
    workload = random_questions(made.table, random, 10)
    for question in range(len(workload)):
        condition = workload.condition(question)
        if (kind == "angel" and "ill" not in condition) or not all(condition.values()):
            continue  # tables without batches have no groups
        seats = "seats"
        if kind == "angel":
            able = [t for n, t in tables_of_angel(made).items() if set(condition) - {"ill"} <= set(n)]
            seats = f'"seats of {able[0]}"' if len(tables_of_angel(made)) > 1 else "seats"
        found = asked_of(connection, in_plain_sql(kind, seats, condition))
        expected = gh.query(made.release, workload.sql(question), **known(made)).only.value
        assert found == pytest.approx(expected, abs=1e-9)


def tables_of_angel(made: Any) -> dict[tuple[str, ...], str]:
    """The batched tables, those with the fewest attributes first."""
    found = {}
    for name, table in made.release.tables.items():
        quasi = tuple(q for q in made.quasi if q in table.column_names)
        if quasi and "Batch-ID" in table.column_names:
            found[quasi] = name
    return dict(sorted(found.items(), key=lambda item: len(item[0])))


def test_anatomy_and_angel_answer_the_papers_questions_in_plain_sql() -> None:
    patients = gh.examples.anatomy_table1()
    anatomy = gh.publish(patients, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Anatomy())
    sql = """SELECT sum("Tuples" * "Share") FROM seats JOIN groups USING ("Group-ID")
             WHERE Age <= 30 AND Zipcode BETWEEN 10001 AND 20000 AND Disease = 'pneumonia'"""
    asked = "SELECT COUNT(*) WHERE Age <= 30 AND Zipcode BETWEEN 10001 AND 20000 AND Disease = 'pneumonia'"
    assert asked_of(to_duckdb(anatomy), sql) == pytest.approx(float(gh.query(anatomy, asked)))

    # the published tables alone say the same
    plain = """SELECT sum(a * b / n) FROM
                 (SELECT "Group-ID", count(*) AS a FROM qit
                  WHERE Age <= 30 AND Zipcode BETWEEN 10001 AND 20000 GROUP BY 1)
                 JOIN (SELECT "Group-ID", sum("Count") FILTER (Disease = 'pneumonia') AS b, sum("Count") AS n
                       FROM st GROUP BY 1) USING ("Group-ID")"""
    assert asked_of(to_duckdb(anatomy), plain) == pytest.approx(float(gh.query(anatomy, asked)))

    angel = gh.publish(patients, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Angel(k=2))
    sql = """SELECT sum("Tuples" * "Share" * covered("Age low", "Age high", 0, 30)
                        * covered("Zipcode low", "Zipcode high", 10001, 20000))
             FROM seats JOIN groups USING ("Group-ID") WHERE Disease = 'pneumonia'"""
    assert asked_of(to_duckdb(angel), sql) == pytest.approx(float(gh.query(angel, asked)))


def test_ends_of_intervals_have_the_type_of_the_column_and_parts_are_counted_or_measured() -> None:
    people = gh.read(
        {
            "weight": [0.5, 1.5, 2.0, 4.0],
            "day": [dt.date(2024, 2, 26 + i) for i in range(4)],
            "at": [dt.datetime(2024, 1, 1, hour) for hour in range(4)],
            "s": [*"abab"],
        },
        quasi=["weight", "day", "at"],
        sensitive="s",
    )
    release = gh.publish(people, principle=gh.KAnonymity(k=4), method=gh.Mondrian(), recoding=gh.Boxes())
    connection = to_duckdb(release)
    ends = 'SELECT "weight low", "weight high", "day low", "day high", "at low", "at high" FROM seats'
    assert connection.execute(ends).fetchall() == [
        (0.5, 4.0, dt.date(2024, 2, 26), dt.date(2024, 2, 29), dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 3))
    ]
    one, other = (f"epoch(TIMESTAMP '{text}')" for text in ("2024-01-01 01:00", "2025-01-01 00:00"))
    for part, condition in {
        'measured("weight low", "weight high", 0.75, 2.5)': "weight BETWEEN 0.75 AND 2.5",
        'measured("weight low", "weight high", 5, 9)': "weight BETWEEN 5 AND 9",
        "covered(\"day low\", \"day high\", DATE '2024-02-01', DATE '2024-02-28')": "day <= '2024-02-28'",
        f'measured(epoch("at low"), epoch("at high"), {one}, {other})': "at >= '2024-01-01 01:00:00'",
    }.items():
        sql = f'SELECT sum("Tuples" * "Share" * {part}) FROM seats JOIN groups USING ("Group-ID") WHERE s = \'a\''
        expected = float(gh.query(release, f"SELECT COUNT(*) WHERE {condition} AND s = 'a'"))
        assert asked_of(connection, sql) == pytest.approx(expected)


LEARNED: dict[str, Any] = {
    "anatomy": gh.Anatomy(),
    "permutation": gh.Permutation(),
    "angel": gh.Angel(),
    "boxes": gh.Boxes(),
}


def names_in(connection: Any) -> set[str]:
    return {name for (name,) in connection.execute("SHOW TABLES").fetchall()}


@pytest.mark.parametrize("recoding", LEARNED)
def test_what_a_release_teaches_answers_in_plain_sql_as_query_does(recoding: str) -> None:
    release = gh.publish(
        gh.synthetic.hospital(2_000, seed=1),
        principle=gh.LDiversity(ell=3),
        method=gh.Anatomize() if recoding != "boxes" else None,
        recoding=LEARNED[recoding],
        source=gh.Source.seeded(1),
    )
    connection = to_duckdb(release)
    for condition in (
        "age < 40 AND disease = 'asthma'",
        "sex = 'F' AND disease IN ('asthma', 'migraine')",
        "sex = 'M'",
    ):
        answer = gh.query(release, f"SELECT COUNT(*), SUM(age) WHERE {condition}")
        sums = f'SELECT sum("People"), sum("People" * age) FROM expected WHERE {condition}'
        (found,) = connection.execute(sums).fetchall()
        # where no sensitive value is asked for, cells are read without one, and a little differently
        assert found == pytest.approx([estimate.value for estimate in answer.estimates[0]], rel=1e-3)
    assert asked_of(connection, 'SELECT sum("People") FROM expected') == pytest.approx(2_000)
    assert names_in(connection) - names_in(to_duckdb(release, model="uniform")) == {"expected"}


def test_every_sensitive_column_and_every_marginal_has_a_table_of_what_it_teaches() -> None:
    hospital = gh.synthetic.hospital_table(2_000, seed=1)
    marginals = [["age", "sex", "zipcode", "disease"], ["age", "disease"]]
    angel = gh.publish(
        gh.read(hospital, quasi=["age", "sex", "zipcode"], sensitive="disease", identifier="patient"),
        principle=gh.LDiversity(ell=3),
        recoding=gh.Angel(k=3, marginals=marginals),
        source=gh.Source.seeded(1),
    )
    taught = sorted(name for name in names_in(to_duckdb(angel)) if name.startswith("expected"))
    assert [name.startswith("expected of gt") for name in taught] == [True, True]
    asked = "age < 40 AND disease = 'asthma'"
    narrow = next(n for n in taught if "sex" not in to_duckdb(angel).table(f'"{n}"').columns)
    found = asked_of(to_duckdb(angel), f'SELECT sum("People") FROM "{narrow}" WHERE {asked}')
    assert found == pytest.approx(float(gh.query(angel, f"SELECT COUNT(*) WHERE {asked}")))

    with pytest.raises(gh.ParameterError, match="to_duckdb"):
        to_duckdb(angel, model="guessed")


def test_published_tables_are_there_as_they_are_and_several_sensitive_columns_have_groups_each() -> None:
    people = gh.read({"a": [1, 2, 3, 4], "s": [*"xyxy"], "t": [*"uvuv"]}, quasi=["a"], sensitive=["s", "t"])
    release = gh.publish(people, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Boxes())
    connection = to_duckdb(release, schema="of 2024")
    names = {name for (name,) in connection.execute("SELECT table_name FROM information_schema.tables").fetchall()}
    assert names == {"data", "seats", "groups of s", "groups of t", "cells of a"}
    rows = connection.execute('SELECT * FROM "of 2024".data').fetchall()
    assert sorted(rows) == sorted(tuple(row.values()) for row in release.data.to_pylist())
    joined = '"of 2024".seats JOIN "of 2024"."groups of t" USING ("Group-ID")'
    found = asked_of(connection, f"""SELECT sum("Tuples" * "Share") FROM {joined} WHERE t = 'u'""")
    assert found == pytest.approx(float(gh.query(release, "SELECT COUNT(*) WHERE t = 'u'")))


def test_nothing_of_a_given_connection_is_overwritten() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE Data AS SELECT 1 AS one").fetchall()
    release = gh.publish(gh.examples.transparent_t1(), principle=gh.LDiversity(ell=2), recoding=gh.Boxes())
    with pytest.raises(gh.InputError, match="another schema"):
        to_duckdb(release, connection)
    connection.execute('CREATE SCHEMA other; CREATE TABLE other."Cells of Age" AS SELECT 1 AS one').fetchall()
    with pytest.raises(gh.InputError, match="'cells of Age': give another schema"):
        to_duckdb(release, connection, schema="other")
    assert to_duckdb(release, connection, schema="release") is connection
    assert connection.execute("SELECT * FROM main.data").fetchall() == [(1,)]
    assert connection.execute("SELECT count(*) FROM release.data").fetchall() == [(release.n_tuples,)]


def test_a_sample_says_nothing_of_values_that_were_all_replaced() -> None:
    people = gh.read({"a": [1, 1, 2, 2], "s": [*"xyxy"]}, quasi=["a"], sensitive="s")
    recoding = gh.Perturbed(p=0, domain=[*"xy"])
    groups = gh.Groups(np.array([0, 0, 1, 1], np.int32), 2)
    release = released(people, recoding, recoding.recode(people, groups, source=gh.Source.seeded(1)))
    with pytest.raises(gh.NotSupported, match="all replaced"):
        to_duckdb(release)


def test_without_duckdb_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    release = gh.publish(gh.examples.transparent_t1(), principle=gh.LDiversity(ell=2), recoding=gh.Boxes())
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "duckdb":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(gh.MissingExtra, match="frames"):
        to_duckdb(release)
