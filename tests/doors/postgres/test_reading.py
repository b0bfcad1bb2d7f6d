"""Reading from PostgreSQL: types stay, one snapshot that can only read, and refusals that show no value."""

from __future__ import annotations

import datetime as dt
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.microdata.reading.postgres import Selection, read_postgres
from glasshouse.microdata.reading.sources import Source, open_source
from tests.doors.postgres.database import Database
from tests.doors.postgres.server import Server

CANARY = "CANARY77"
PEOPLE = pa.table(
    {
        "age": pa.array([30, 31, 32, 33, 34, 35], pa.int32()),
        "joined": pa.array([1, 2, 3, 4, 5, 6], pa.date32()),
        "sex": ["F", "M", "F", "M", "F", "M"],
        "disease": ["flu", "ulcer", "flu", "ulcer", "asthma", "asthma"],
        "name": ["Ann", "Bob", "Cat", "Dan", "Eve", "Fay"],
    }
)
ROLES: dict[str, Any] = {"quasi": ["age", "joined", "sex"], "sensitive": "disease"}


def selected(postgres: Server, query: str, **options: Any) -> Source:
    return open_source(postgres.address(), query=query, **options)


def refusal(address: str, **selection: str) -> str:
    with pytest.raises(gh.InputError) as caught:
        open_source(address, **selection)
    return str(caught.value)


@pytest.fixture(scope="module")
def types(postgres: Server) -> Iterator[Server]:
    """Types that a query can name."""
    whole = Database(postgres, "postgres")
    whole.run(
        "CREATE TYPE pain AS ENUM ('none', 'mild', 'severe')", "CREATE DOMAIN adult AS integer CHECK (VALUE > 17)"
    )
    yield postgres
    whole.run("DROP TYPE pain", "DROP DOMAIN adult")


# ------------------------------------------------------------------------------------------------------------- the same


@pytest.mark.parametrize("recoding", [gh.Angel(), gh.Boxes(), gh.Anatomy(), gh.Permutation()], ids=lambda r: r.name)
def test_what_is_published_does_not_depend_on_whether_it_came_from_a_database(
    recoding: object, database: Database
) -> None:
    database.load("people", PEOPLE)

    def published(**source: Any) -> list[dict[str, list[Any]]]:
        table = gh.read(**source, **ROLES)
        release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=recoding, source=gh.Source.seeded(5))
        return [table.to_pydict() for table in release.tables.values()]

    here = published(source=PEOPLE)
    assert here == published(source=database.address, table="people")
    assert here == published(source=database.address, query="SELECT * FROM people ORDER BY age DESC")
    assert here == published(source=f"{database.address}&table=public.people")


def test_columns_without_a_role_are_told_and_not_asked_for(database: Database) -> None:
    database.load("people", PEOPLE)
    database.run("CREATE ROLE analyst", "GRANT SELECT (age, joined, sex, disease) ON people TO analyst")
    try:
        address = f"{database.address}&options=-c%20role%3Danalyst"
        table = gh.read(address, table="people", **ROLES)
    finally:
        database.run("DROP OWNED BY analyst", "DROP ROLE analyst")

    assert "columns with no role are not published: name" in table.notices
    assert any("rows of a database have no order" in notice for notice in table.notices)


def test_inspect_looks_at_a_table_of_a_database(database: Database) -> None:
    database.load("people", PEOPLE)

    assert str(gh.inspect(database.address, table="people")) == str(gh.inspect(PEOPLE))


def test_other_doors_take_the_table_from_the_address(database: Database) -> None:
    database.load("people", PEOPLE)

    assert gh.verify(f"{database.address}&table=people", quasi=["sex"], sensitive="disease").k == 3


# ---------------------------------------------------------------------------------------------------------------- types


@pytest.mark.parametrize(
    ("expression", "kind", "value"),
    [
        ("7::smallint", pa.int64(), 7),
        ("70000::integer", pa.int64(), 70000),
        ("9223372036854775807::bigint", pa.int64(), 2**63 - 1),
        ("18::adult", pa.int64(), 18),
        ("7::numeric(12, 0)", pa.int64(), 7),
        ("12.50::numeric(10, 2)", pa.float64(), 12.5),
        ("123456789012345.25::numeric", pa.float64(), 123456789012345.25),
        ("0.00000000000000000001::numeric", pa.float64(), 1e-20),
        ("1.5::real", pa.float64(), 1.5),
        ("2.5::double precision", pa.float64(), 2.5),
        ("true", pa.bool_(), True),
        ("'Zoë'::text", pa.string(), "Zoë"),
        ("'ab'::varchar(5)", pa.string(), "ab"),
        ("'ab'::char(5)", pa.string(), "ab"),
        ("'mild'::pain", pa.string(), "mild"),
        ("'3f333df6-90a4-4fda-8dd3-9485d27cee36'::uuid", pa.string(), "3f333df6-90a4-4fda-8dd3-9485d27cee36"),
        ("DATE '2024-02-29'", pa.date32(), dt.date(2024, 2, 29)),
        ("DATE '0001-01-01'", pa.date32(), dt.date(1, 1, 1)),
        ("DATE '9999-12-31'", pa.date32(), dt.date(9999, 12, 31)),
        ("TIME '23:59:59.5'", pa.time64("us"), dt.time(23, 59, 59, 500000)),
        ("TIMESTAMP '2024-02-29 13:14:15.161718'", pa.timestamp("us"), dt.datetime(2024, 2, 29, 13, 14, 15, 161718)),
        (
            "TIMESTAMPTZ '2024-02-29 13:14:15+02'",
            pa.timestamp("us", "UTC"),
            dt.datetime(2024, 2, 29, 11, 14, 15, tzinfo=dt.UTC),
        ),
    ],
)
def test_types_stay(expression: str, kind: pa.DataType, value: object, types: Server) -> None:
    opened = selected(types, f"SELECT {expression} AS x UNION ALL SELECT NULL")

    assert opened.table.schema.field("x").type == kind
    assert sorted(opened.table["x"].to_pylist(), key=lambda v: v is None) == [value, None]


def test_a_column_of_nulls_has_no_type(postgres: Server) -> None:
    assert selected(postgres, "SELECT NULL::numeric AS x, NULL::text AS y").table.schema.types == [pa.null()] * 2


def test_decimals_become_integers_only_if_none_has_a_fraction(postgres: Server) -> None:
    values = "SELECT x FROM (VALUES (1::numeric), (2.5), ('NaN'), (1.0)) AS v (x)"

    assert selected(postgres, values).table["x"].to_pylist() == [1.0, 2.5, None, 1.0]


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("'0.1234567890123456789'::numeric", "more digits than a floating-point number"),
        ("'12345678901234567890123'::numeric", "integers beyond 64 bits"),
        ("DATE 'infinity'", "infinite times"),
        ("DATE '0044-03-15 BC'", "outside the years 1 to 9999"),
        ("TIMESTAMP '-infinity'", "infinite times"),
        ("TIMESTAMPTZ '20000-01-01'", "outside the years 1 to 9999"),
        ("TIME '24:00'", "past 24:00"),
    ],
)
def test_values_that_no_plain_type_holds_are_refused(expression: str, why: str, postgres: Server) -> None:
    assert why in refusal(postgres.address(), query=f"SELECT {expression} AS x")


@pytest.mark.parametrize(
    "expression",
    [
        "'1 day'::interval",
        "ARRAY[1]",
        "'10.0.0.1'::inet",
        "'1.50'::money",
        "1::oid",
        "'\\x01'::bytea",
        "'[1,2)'::int4range",
    ],
)
def test_types_without_a_plain_one_are_refused_with_a_cast_that_works(expression: str, postgres: Server) -> None:
    said = refusal(postgres.address(), query=f"SELECT {expression} AS x")
    assert 'cast it in a query, as in "x"::' in said

    cast = said.rpartition("as in ")[2]
    assert selected(postgres, f"SELECT {cast} FROM (SELECT {expression} AS x) AS t").table.num_rows == 1


def test_an_unsupported_column_does_no_harm_unless_it_is_asked_for(database: Database) -> None:
    database.load("people", PEOPLE)
    database.run("ALTER TABLE people ADD stay interval")

    assert gh.read(database.address, table="people", **ROLES).n_tuples == 6


def test_an_enumeration_keeps_its_order_and_shows_no_label_that_nobody_has(types: Server) -> None:
    query = "SELECT x::pain, 1 AS y FROM unnest(ARRAY['severe', 'none', NULL, 'severe']) AS x"
    table = gh.read(types.address(), query=query, quasi=["x", "y"], missing="category")
    domain = table.column("x").domain

    assert domain.ordered
    assert domain.values.to_pylist() == ["none", "severe"]
    assert table.column("x").codes.tolist() == [1, 0, 2, 1]


def test_two_enumerations_of_one_name_and_other_labels_give_no_order(database: Database) -> None:
    database.run("CREATE TYPE pain AS ENUM ('none', 'mild')", "CREATE SCHEMA other")
    database.run("CREATE TYPE other.pain AS ENUM ('mild', 'none')")
    opened = open_source(database.address, query="SELECT 'none'::pain AS x")

    assert not opened.orders
    assert any("the database has several enumerations pain" in notice for notice in opened.notices)


def test_other_encodings_of_the_server_are_converted(make_database: Callable[..., Database]) -> None:
    database = make_database("LATIN1")

    assert open_source(database.address, query="SELECT chr(235) AS x").table["x"].to_pylist() == ["ë"]


def test_bytes_that_are_no_text_are_refused(make_database: Callable[..., Database]) -> None:
    database = make_database("SQL_ASCII")

    assert "not UTF-8" in refusal(database.address, query="SELECT E'\\xeb' AS x")


# ------------------------------------------------------------------------------------------------------------- batches

MANY = """SELECT g % 7 AS few, g * 100000 AS wide, 'value ' || g % 5 AS repeated, 'value ' || g AS different,
                 (g % 3) / 4.0 AS exact, NULLIF(g % 2, 0) AS gaps FROM generate_series(1, 3000) AS g"""


@pytest.mark.parametrize("batch", [1, 1 << 12, 1 << 24])
def test_a_column_does_not_depend_on_the_batches_it_came_in(batch: int, postgres: Server) -> None:
    table, _ = read_postgres(Selection(postgres.address(), query=MANY), list, batch=batch)
    rows = [
        {
            "few": g % 7,
            "wide": g * 100000,
            "repeated": f"value {g % 5}",
            "different": f"value {g}",
            "exact": (g % 3) / 4,
            "gaps": g % 2 or None,
        }
        for g in range(1, 3001)
    ]

    assert table.to_pylist() == rows
    assert table.schema.field("few").type == table.schema.field("gaps").type == pa.int8()
    assert table.schema.field("different").type == pa.string()
    if batch > 1:  # whether texts repeat is seen in the first batch, and one row cannot tell
        assert pa.types.is_dictionary(table.schema.field("repeated").type)
        assert len(table["repeated"].combine_chunks().dictionary) == 5


def test_texts_are_coded_without_being_written_out(postgres: Server) -> None:
    opened = selected(postgres, MANY, narrow=True)

    assert pa.types.is_dictionary(opened.table.schema.field("repeated").type)
    coded = gh.read(postgres.address(), query=MANY, quasi=["repeated", "few"], identifier="different")
    assert coded.column("repeated").domain.values.to_pylist() == [f"value {i}" for i in range(5)]
    assert coded.column("repeated").codes[:6].tolist() == [1, 2, 3, 4, 0, 1]


@pytest.mark.parametrize("batch", [1, 1 << 24])
def test_dropped_rows_leave_no_value_behind(batch: int, postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glasshouse.microdata.reading.postgres._BATCH", batch)
    query = f"SELECT * FROM (VALUES ('{CANARY}', NULL), ('a', 1), ('a', 2), ('b', 1), ('b', 2), (NULL, 1)) AS v (x, y)"
    table = gh.read(postgres.address(), query=query, quasi=["x", "y"], missing="drop")

    assert table.column("x").domain.values.to_pylist() == ["a", "b"]
    assert table.column("x").codes.tolist() == [0, 0, 1, 1]


# ----------------------------------------------------------------------------------------------------------- read only


def test_reading_is_one_snapshot_in_which_nothing_can_be_written(postgres: Server) -> None:
    settings = "current_setting('transaction_isolation') AS a, current_setting('transaction_read_only') AS b"

    assert selected(postgres, f"SELECT {settings}").table.to_pylist() == [{"a": "repeatable read", "b": "on"}]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO people SELECT * FROM people RETURNING age",
        "WITH gone AS (DELETE FROM people RETURNING age) SELECT * FROM gone",
        "SELECT emptied() AS x",
        "SELECT set_config('transaction_read_only', 'off', false) AS x",
        "DELETE FROM people",
        "DROP TABLE people",
        "COMMIT",
        "SELECT 1 AS x; DROP TABLE people",
        "SELECT 1) TO STDOUT; DROP TABLE people; --",
    ],
)
def test_a_query_cannot_write(statement: str, database: Database) -> None:
    database.load("people", PEOPLE)
    database.run("CREATE FUNCTION emptied() RETURNS int LANGUAGE sql AS 'DELETE FROM people; SELECT 1'")
    refusal(database.address, query=statement)

    assert database.run("SELECT count(*) FROM people") == [(6,)]


@pytest.mark.parametrize("end", ["", ";", " ;\n", " -- the end", "\n/* the end */"])
def test_a_query_may_end_as_one_writes_it(end: str, postgres: Server) -> None:
    assert selected(postgres, f"SELECT 1 AS x{end}").table.to_pylist() == [{"x": 1}]


@pytest.mark.parametrize("name", ['odd "name"', "Drop", "x; DROP TABLE people; --", "a.b", "SELECT"])
def test_names_are_quoted_whatever_they_are(name: str, database: Database) -> None:
    database.load("people", PEOPLE)
    database.load(name, PEOPLE.rename_columns(["age", 'a"b', "sex", "disease", "name"]))
    written = '"' + name.replace('"', '""') + '"'
    table = gh.read(database.address, table=written, quasi=["age", 'a"b', "sex"], sensitive="disease")

    assert table.n_tuples == 6
    assert database.run("SELECT count(*) FROM people") == [(6,)]


def test_a_table_is_found_in_the_schema_that_is_named(database: Database) -> None:
    database.run("CREATE SCHEMA clinic", "CREATE TABLE clinic.people AS SELECT 1 AS age, 2 AS sex")

    assert gh.read(database.address, table="clinic.people", quasi=["age", "sex"]).n_tuples == 1
    assert refusal(database.address, table="people").endswith("did you mean clinic.people?")


def test_views_are_tables_too(database: Database) -> None:
    database.run("CREATE VIEW people AS SELECT 1 AS age")

    assert open_source(database.address, table="people").table.num_rows == 1


def test_rows_that_the_server_hides_are_told(database: Database) -> None:
    database.load("people", PEOPLE)
    database.run("ALTER TABLE people ENABLE ROW LEVEL SECURITY", "ALTER TABLE people FORCE ROW LEVEL SECURITY")
    database.run("CREATE ROLE analyst", "GRANT SELECT ON people TO analyst")
    database.run("CREATE POLICY young ON people USING (age < 33)")
    try:
        table = gh.read(f"{database.address}&options=-c%20role%3Danalyst", table="people", **ROLES)
    finally:
        database.run("DROP OWNED BY analyst", "DROP ROLE analyst")

    assert table.n_tuples == 3
    assert any("row security is on" in notice for notice in table.notices)


# ------------------------------------------------------------------------------------------------------------- refusals


def test_a_wrong_name_is_told_with_the_nearest(database: Database) -> None:
    database.load("Patients", PEOPLE)

    assert refusal(database.address, table="patient").endswith("did you mean public.Patients?")
    assert refusal(database.address, table="zzz").endswith("check its name, and its schema (as in clinic.people)")
    with pytest.raises(gh.SchemaError, match="did you mean 'age'"):
        gh.read(database.address, table="Patients", quasi=["aeg"])
    assert 'column "aeg" does not exist' in refusal(database.address, query='SELECT aeg FROM "Patients"')


def test_what_is_empty_is_told(database: Database) -> None:
    database.run("CREATE TABLE people (age int)", "CREATE TABLE nothing ()")

    assert refusal(database.address, table="people") == "the table people has no rows"
    assert refusal(database.address, query="SELECT 1 AS x WHERE false") == "the query has no rows"
    assert "give a SELECT statement" in refusal(database.address, table="nothing")
    assert "2 columns named 'x'" in refusal(database.address, query="SELECT 1 AS x, 2 AS x")


def test_a_missing_right_is_told(database: Database) -> None:
    database.load("people", PEOPLE)
    database.run("CREATE ROLE nobody_much")
    try:
        said = refusal(f"{database.address}&options=-c%20role%3Dnobody_much", table="people")
    finally:
        database.run("DROP ROLE nobody_much")

    assert (
        "this user is not allowed to do that: ask the owner of the table for the right (GRANT) (SQLSTATE 42501)" in said
    )


def test_a_server_that_is_not_there_is_told(postgres: Server) -> None:
    assert "the PostgreSQL server at 127.0.0.1:1 does not answer" in refusal("postgresql://127.0.0.1:1/x", table="t")
    assert "no socket in that folder" in refusal("postgresql:///x?host=/nowhere", table="t")
    assert "cannot be found" in refusal("postgresql://nowhere.invalid/x", table="t")
    assert "no such database" in refusal(postgres.address("nowhere"), table="t")
    assert "no such service" in refusal("postgresql://?service=nowhere", table="t")
    assert "an option in the address" in refusal(postgres.address(sslmode=CANARY), table="t")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT x::int AS x FROM people",
        "SELECT 1 / (length(x) - 8) AS x FROM people",
        "SELECT CASE WHEN g = 300000 THEN x::int ELSE g END AS x FROM people, generate_series(1, 300000) AS g",
        "SELECT told(x) AS x FROM people",
    ],
    ids=["prepared", "at the first row", "on the way", "by a function"],
)
def test_no_value_of_the_table_is_in_a_refusal(query: str, database: Database) -> None:
    told = "CREATE FUNCTION told(x text) RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'got %', x; END$$"
    database.run(f"CREATE TABLE people AS SELECT '{CANARY}'::text AS x", told)
    with pytest.raises(gh.SourceError) as caught:
        open_source(database.address, query=query)

    trace = "".join(traceback.format_exception(caught.value))
    assert CANARY not in f"{caught.value}{vars(caught.value)}{trace}"


def test_a_database_cannot_be_published_in_batches(postgres: Server, tmp_path: object) -> None:
    from glasshouse.streaming.publish import publish_file

    with pytest.raises(gh.NotSupported, match="read it into memory"):
        publish_file(str(tmp_path), postgres.address(), quasi=["age"], sensitive="sex", principle=gh.LDiversity(ell=2))


def test_without_the_driver_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "adbc_driver_postgresql", None)
    with pytest.raises(gh.MissingExtra, match=r"glasshouse\[postgres\]"):
        open_source("postgresql:///clinic", table="people")


def test_values_of_a_database_that_hold_records_or_only_look_different_stop_publishing(database: Database) -> None:
    disease = ["flu", "FLU", "flu", "ulcer", "asthma", "a,b,c\nd,e,f"]
    database.load("people", pa.table({"age": PEOPLE["age"], "sex": PEOPLE["sex"], "disease": disease}))
    roles: dict[str, Any] = {"table": "people", "quasi": ["age", "sex"], "sensitive": "disease"}
    table = gh.read(database.address, **roles)
    assert [caution.name for caution in table.cautions] == ["line-breaks", "look-alikes"]
    with pytest.raises(gh.CautionError):
        gh.publish(table, principle=gh.LDiversity(ell=2))
    merged = gh.read(database.address, **roles, normalise=["disease"], accept=["line-breaks"])
    assert "FLU" not in merged.column("disease").domain.values.to_pylist()
    gh.publish(merged, principle=gh.LDiversity(ell=2))
