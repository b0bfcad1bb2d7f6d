"""Writing a release to PostgreSQL: all of it or nothing, with what it means, and never over what others wrote."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.microdata.reading.normal_form import normalise
from glasshouse.microdata.reading.sources import open_source
from glasshouse.release import postgres_schema as writing
from glasshouse.release.postgres_schema import check_target
from tests.doors.postgres.database import Database

RECODINGS = [gh.Angel(marginals=(("age", "disease"), ("zipcode", "sex"))), gh.Boxes(), gh.Anatomy(), gh.Permutation()]


def made(recoding: object = None, **options: Any) -> gh.Release:
    return gh.publish(
        gh.synthetic.hospital(n=300, seed=1), principle=gh.LDiversity(ell=3), recoding=recoding, **options
    )


def odd(**tables: pa.Table) -> gh.Release:
    return replace(made(gh.Boxes()), tables=tables)


@pytest.mark.parametrize("recoding", RECODINGS, ids=lambda recoding: recoding.name)
def test_tables_and_the_order_of_their_rows_are_those_that_are_published(recoding: object, database: Database) -> None:
    release = made(recoding)
    gh.to_postgres(release, database.address)

    assert set(database.tables("released")) == {*release.tables, "glasshouse_release"}
    for name, table in release.tables.items():
        back = open_source(database.address, query=f'SELECT * FROM released."{name}" ORDER BY ctid').table
        assert back.equals(normalise(table)[0])


def test_every_type_of_a_published_column_stays(database: Database) -> None:
    table = pa.table(
        {
            "small": pa.array([1, None], pa.int8()),
            "whole": pa.array([2**62, None], pa.int64()),
            "unsigned": pa.array([2**32 - 1, 0], pa.uint32()),
            "number": [0.1, None],
            "truth": [True, None],
            "day": [dt.date(2024, 2, 29), None],
            "moment": [dt.datetime(2024, 2, 29, 1, 2, 3, 4), None],
            "zoned": pa.array([dt.datetime(2024, 2, 29), None], pa.timestamp("ms", "UTC")),
            "clock": [dt.time(1, 2, 3), None],
            'odd "name", {}': ['it\'s \\ "x"\n', None],
            "coded": pa.array(["a", None]).dictionary_encode(),
            "long": pa.array(["a", None], pa.large_string()),
            "nothing": pa.nulls(2),
        }
    )
    gh.to_postgres(odd(t=table), database.address, schema='odd "schema"')
    back = open_source(database.address, query='SELECT * FROM "odd ""schema""".t').table

    assert back.to_pylist() == table.to_pylist()
    types = "SELECT data_type::text FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position"
    assert [name for (name,) in database.run(types)] == [
        "smallint",
        "bigint",
        "bigint",
        "double precision",
        "boolean",
        "date",
        "timestamp without time zone",
        "timestamp with time zone",
        "time without time zone",
        "text",
        "text",
        "text",
        "text",
    ]


def test_tables_and_columns_say_what_they_mean(database: Database) -> None:
    release = made(gh.Anatomy())
    gh.to_postgres(release, database.address)
    comments = "SELECT col_description('released.qit'::regclass, attnum), attname::text FROM pg_attribute"
    told = {name: text for text, name in database.run(f"{comments} WHERE attrelid = 'released.qit'::regclass")}
    ((about,),) = database.run("SELECT obj_description('released.qit'::regclass, 'pg_class')")

    assert all(told[column.name].endswith(column.meaning) for column in release.columns if column.name in told)
    assert told["age"].startswith("quasi-identifier, integer: ")
    assert about.startswith("Published by Glasshouse")
    assert release.guarantee.promise in about


def test_recipe_and_guarantee_stand_beside_the_tables(database: Database) -> None:
    import json

    release = made()
    gh.to_postgres(release, database.address)
    ((text,),) = database.run("SELECT manifest::text FROM released.glasshouse_release")
    manifest = json.loads(text)

    assert gh.Recipe.from_data(manifest["recipe"]) == gh.Recipe.from_data(
        json.loads(json.dumps(release.recipe.to_data()))
    )
    assert gh.Guarantee.from_data(manifest["guarantee"]) == release.guarantee
    assert (manifest["tables"], manifest["n_tuples"], manifest["n_dropped"]) == (list(release.tables), 300, 0)


# ------------------------------------------------------------------------------------------------------- all or nothing


def test_a_failure_at_the_last_table_leaves_nothing(database: Database) -> None:
    fine = pa.table({"a": ["x"] * 100_000})
    broken = pa.table({"a": ["x", "no text in PostgreSQL: \0 CANARY77"]})
    with pytest.raises(gh.OutputError, match="cannot be written") as caught:
        gh.to_postgres(odd(first=fine, second=broken), database.address)

    assert "CANARY77" not in str(caught.value)
    assert database.run("SELECT count(*) FROM pg_namespace WHERE nspname = 'released'") == [(0,)]


def test_a_failure_while_replacing_leaves_the_old_release(database: Database) -> None:
    gh.to_postgres(made(gh.Boxes()), database.address)
    before = database.tables("released")
    broken = pa.table({"a": ["\0"]})
    with pytest.raises(gh.OutputError):
        gh.to_postgres(odd(data=broken), database.address, if_exists="replace")

    assert database.tables("released") == before


def test_a_connection_that_breaks_before_the_end_leaves_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = writing._write_about

    def broken(*arguments: Any) -> None:
        whole(*arguments)
        database.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'")

    monkeypatch.setattr(writing, "_write_about", broken)
    with pytest.raises(gh.OutputError):
        gh.to_postgres(made(), database.address)

    assert database.tables("released") == {}


def test_times_finer_than_the_server_keeps_are_refused(database: Database) -> None:
    fine = pa.table({"t": pa.array([1], pa.timestamp("ns"))})
    with pytest.raises(gh.OutputError, match="finer than a microsecond"):
        gh.to_postgres(odd(t=fine), database.address)

    assert database.tables("released") == {}


# ------------------------------------------------------------------------------------------------ what is there already


def test_a_release_is_replaced_only_if_that_is_asked_for(database: Database) -> None:
    gh.to_postgres(made(gh.Anatomy()), database.address)
    with pytest.raises(gh.OutputError, match="exists already"):
        gh.to_postgres(made(gh.Anatomy()), database.address)
    with pytest.raises(gh.OutputError, match="exists already"):
        check_target(database.address)
    database.run("CREATE TABLE released.notes (x int)")
    check_target(database.address, if_exists="replace")
    gh.to_postgres(made(gh.Permutation()), database.address, if_exists="replace")

    assert set(database.tables("released")) == {*made(gh.Permutation()).tables, "glasshouse_release", "notes"}


@pytest.mark.parametrize("theirs", ["qit", "glasshouse_release"])
def test_what_others_wrote_is_never_replaced(theirs: str, database: Database) -> None:
    database.run("CREATE SCHEMA released", f"CREATE TABLE released.{theirs} AS SELECT 7 AS x")
    with pytest.raises(gh.OutputError, match="was not written by Glasshouse"):
        gh.to_postgres(made(gh.Anatomy()), database.address, if_exists="replace")

    assert database.tables("released") == {theirs: 1}


def test_a_table_that_the_description_only_claims_is_not_dropped(database: Database) -> None:
    gh.to_postgres(made(gh.Anatomy()), database.address)
    claimed = """jsonb_set(manifest, '{tables}', '["qit", "st", "payroll"]')"""
    database.run(
        "CREATE TABLE released.payroll AS SELECT 7 AS x",
        f"UPDATE released.glasshouse_release SET manifest = {claimed}",
    )
    gh.to_postgres(made(gh.Anatomy()), database.address, if_exists="replace")

    assert database.tables("released")["payroll"] == 1


def test_a_view_on_the_old_release_keeps_it(database: Database) -> None:
    gh.to_postgres(made(gh.Anatomy()), database.address)
    database.run("CREATE VIEW ages AS SELECT age FROM released.qit")
    with pytest.raises(gh.OutputError, match="cannot be written"):
        gh.to_postgres(made(gh.Anatomy()), database.address, if_exists="replace")

    assert database.run("SELECT count(*) FROM ages") == [(300,)]


def test_a_release_by_a_fixed_seed_is_refused_and_marked(database: Database) -> None:
    seeded = made(source=gh.Source.seeded(1))
    with pytest.raises(gh.OutputError, match="fixed seed"):
        gh.to_postgres(seeded, database.address)
    gh.to_postgres(seeded, database.address, allow_seed=True)

    assert database.run("SELECT manifest -> 'recipe' ->> 'seeded' FROM released.glasshouse_release") == [("true",)]


def test_a_user_who_may_not_write_is_told_before_and_while(database: Database) -> None:
    database.run("CREATE ROLE guest", "CREATE SCHEMA released")
    address = f"{database.address}&options=-c%20role%3Dguest"
    try:
        for schema in ("released", "elsewhere"):
            with pytest.raises(gh.OutputError, match="not allowed to create a table in the schema"):
                check_target(address, schema=schema)
            with pytest.raises(gh.OutputError, match="ask the owner of the table for the right"):
                gh.to_postgres(made(), address, schema=schema)
    finally:
        database.run("DROP ROLE guest")


def test_wrong_targets_are_refused(database: Database) -> None:
    release = made()
    with pytest.raises(gh.InputError, match="if_exists must be 'error' or 'replace'"):
        gh.to_postgres(release, database.address, if_exists="append")
    with pytest.raises(gh.InputError, match="given by its address"):
        gh.to_postgres(release, "released.db")
    with pytest.raises(gh.InputError, match="must not name a table or a query"):
        gh.to_postgres(release, f"{database.address}&table=people")
    with pytest.raises(gh.InputError, match="longer than the 63 bytes"):
        gh.to_postgres(release, database.address, schema="x" * 64)
    with pytest.raises(gh.OutputError, match="does not answer"):
        gh.to_postgres(release, "postgresql://127.0.0.1:1/x")
    with pytest.raises(gh.OutputError, match="named glasshouse_release"):
        gh.to_postgres(odd(glasshouse_release=pa.table({"a": [1]})), database.address)

    assert database.tables("released") == {}
