# SPDX-License-Identifier: Apache-2.0
"""A release in a PostgreSQL database: a schema with its tables, what they mean, and what is promised.

Everything is written in one transaction: all of it is there, or none. Tables and columns carry their meaning as
comments. The table ``glasshouse_release`` has one row, with recipe, guarantee and columns as JSON.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from glasshouse.database import Address, connected, is_address, literal, quoted
from glasshouse.database.connection import refused, run
from glasshouse.errors import InputError, OutputError, ParameterError
from glasshouse.release.package.description import told_of
from glasshouse.release.package.manifest import SOFTWARE
from glasshouse.release.package.write import refuse_seed
from glasshouse.release.release import given_release
from glasshouse.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from glasshouse.release.release import Release

__all__ = ["check_target", "to_postgres"]

ABOUT = "glasshouse_release"
_SIGN = "Published by Glasshouse"  # how the comment of every table of ours begins
_BATCH = 1 << 18  # rows that are written at once
_PATIENCE = "SET LOCAL lock_timeout = '30s'"  # somebody reads the release that is to be replaced
_TABLES = "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1"


def to_postgres(
    release: Release, address: str, *, schema: str = "released", if_exists: str = "error", allow_seed: bool = False
) -> None:
    """Write a release into a schema of a PostgreSQL database; if that fails, nothing is written.

    Rows go in as they are published. Nobody but the owner may read the tables until rights are granted.

    Parameters
    ----------
    release
        What was published, from `publish` or `load`.
    address
        ``postgresql://user@host:port/database``; the password comes from the environment, a password file or a service
        file.
    schema
        The schema that gets the tables; it is made if there is none.
    if_exists
        What to do if a table is there already: ``error``, or ``replace`` an earlier release. Tables that Glasshouse did
        not write are never replaced.
    allow_seed
        Write a release whose random choices came from a fixed seed: for tests and experiments, marked as such.

    Raises
    ------
    OutputError
        The place is taken, or cannot be written; nothing was.
    """
    release = given_release(release)
    refuse_seed(seeded=release.recipe.seeded, allowed=allow_seed)
    target = _target(address, if_exists)
    if ABOUT in release.packaged:
        raise OutputError(
            f"a published table is named {ABOUT}, which is the name of the table that describes the release: rename it"
        )
    names = [*release.packaged, ABOUT]
    with _writing(target, schema, read_only=False) as connection:
        run(connection, _PATIENCE)
        _make_room(connection, schema, names, if_exists)
        if schema not in _schemas(connection):
            run(connection, f"CREATE SCHEMA {quoted(schema)}")
        for name, table in release.packaged.items():
            _write(connection, schema, name, table, release)
        _write_about(connection, schema, release)
        connection.commit()


def check_target(address: str, *, schema: str = "released", if_exists: str = "error") -> None:
    """Refuse a place that cannot be written or is occupied, in advance."""
    with _writing(_target(address, if_exists), schema) as connection:
        if schema in _schemas(connection):
            ((may,),) = run(connection, "SELECT has_schema_privilege($1::text, 'CREATE')", (schema,))
        else:
            ((may,),) = run(connection, "SELECT has_database_privilege(current_database(), 'CREATE')")
        if not may:
            raise OutputError(
                f"this user is not allowed to create a table in the schema {schema}: ask its owner for the right CREATE"
            )
        if _there(connection, schema, [ABOUT]) and if_exists == "error":
            raise _taken(schema, ABOUT)


@contextmanager
def _writing(target: Address, schema: str, *, read_only: bool = True) -> Iterator[Any]:
    with (
        connected(target, refusal=OutputError, read_only=read_only) as connection,
        refused(f"the release cannot be written to the schema {schema}", OutputError),
    ):
        yield connection


def _target(address: str, if_exists: str) -> Address:
    if if_exists not in ("error", "replace"):
        raise ParameterError("to_postgres", "if_exists", "'error' or 'replace'", if_exists)
    if not is_address(address):
        raise InputError("the database must be given by its address, postgresql://user@host:port/database")
    target = Address.of(address)
    if target.table or target.query:
        raise InputError(
            "the address of the database to write to must not name a table or a query: a release is written into a "
            "schema"
        )
    return target


# ---------------------------------------------------------------------------------------------- what is there already


def _schemas(connection: Any) -> set[str]:
    return {name for (name,) in run(connection, "SELECT nspname::text FROM pg_namespace")}


def _there(connection: Any, schema: str, names: list[str]) -> list[str]:
    there = {name for (name,) in run(connection, _TABLES, (schema,))}
    return [name for name in names if name in there]


def _make_room(connection: Any, schema: str, names: list[str], if_exists: str) -> None:
    """Drop the existing release, if it may be replaced; refuse other tables with one of our names."""
    there = _there(connection, schema, names)
    if there and if_exists == "error":
        raise _taken(schema, there[0])
    before = _before(connection, schema) if ABOUT in there else []
    foreign = [name for name in there if name not in before]
    if foreign:
        raise OutputError(
            f"{schema}.{foreign[0]} was not written by Glasshouse, so it is not replaced: choose another schema"
        )
    for name in before:
        run(connection, f"DROP TABLE {quoted(schema, name)}")  # refused by the server where a view depends on it


def _before(connection: Any, schema: str) -> list[str]:
    """The tables of the existing release: those that its description lists and that carry our mark."""
    signed = run(
        connection,
        f"{_TABLES} AND c.relkind = 'r' AND starts_with(obj_description(c.oid, 'pg_class'), $2)",
        (schema, _SIGN),
    )
    ours = {name for (name,) in signed}
    if ABOUT not in ours:
        return []
    listed = run(connection, f"SELECT jsonb_array_elements_text(manifest -> 'tables') FROM {quoted(schema, ABOUT)}")
    return [name for name in dict.fromkeys([*(name for (name,) in listed), ABOUT]) if name in ours]


def _taken(schema: str, name: str) -> OutputError:
    return OutputError(
        f"{schema}.{name} exists already: choose another schema, or replace the release in it (if_exists='replace', "
        "--force)"
    )


# -------------------------------------------------------------------------------------------------------------- writing


def _write(connection: Any, schema: str, name: str, table: pa.Table, release: Release) -> None:
    stored = {field.name: _stored(field.type) for field in table.schema}
    columns = ", ".join(f"{quoted(column)} {named}" for column, (_, named) in stored.items())
    run(connection, f"CREATE TABLE {quoted(schema, name)} ({columns})")
    with connection.cursor() as cursor:
        for batch in _batches(table, pa.schema([(column, kind) for column, (kind, _) in stored.items()])):
            cursor.adbc_ingest(name, batch, mode="append", db_schema_name=schema)
    promise = release.guarantee.promise
    told = f"{_SIGN} {VERSION}: {promise}. The whole guarantee and the recipe are in {ABOUT}."
    _comment(connection, f"TABLE {quoted(schema, name)}", told)
    meanings = {column.name: f"{column.role}, {column.kind}: {column.meaning}" for column in release.columns}
    for column in stored:
        if column in meanings:
            _comment(connection, f"COLUMN {quoted(schema, name, column)}", meanings[column])


def _write_about(connection: Any, schema: str, release: Release) -> None:
    manifest = {"software": SOFTWARE, "tables": list(release.packaged), **told_of(release)}
    about = quoted(schema, ABOUT)
    run(connection, f"CREATE TABLE {about} (manifest jsonb NOT NULL)")
    run(connection, f"INSERT INTO {about} VALUES ($1::text::jsonb)", (json.dumps(manifest),))
    _comment(
        connection,
        f"TABLE {about}",
        f"{_SIGN} {VERSION}: how the tables of this schema were made, and what is guaranteed",
    )


def _comment(connection: Any, on: str, text: str) -> None:
    run(connection, f"COMMENT ON {on} IS {literal(text)}")


def _batches(table: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The published rows, in batches of plain types."""
    for batch in table.to_batches(max_chunksize=_BATCH):
        try:
            columns = [column.cast(kind) for column, kind in zip(batch.columns, schema.types, strict=True)]
        except pa.ArrowInvalid:
            raise OutputError(
                "a column has times that are finer than a microsecond, which PostgreSQL cannot store: round them first"
            ) from None
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _stored(kind: pa.DataType) -> tuple[pa.DataType, str]:
    """The Arrow type for a PostgreSQL column, and the name of that column type."""
    types = pa.types
    if types.is_dictionary(kind):
        return _stored(kind.value_type)
    if types.is_integer(kind):
        bits = kind.bit_width + types.is_unsigned_integer(kind)
        if bits > 32:
            return pa.int64(), "bigint"
        return (pa.int16(), "smallint") if bits <= 16 else (pa.int32(), "integer")
    if types.is_floating(kind):
        return pa.float64(), "double precision"
    if types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz), "timestamp" if kind.tz is None else "timestamptz"
    if types.is_time(kind):
        return pa.time64("us"), "time"
    if types.is_boolean(kind):
        return kind, "boolean"
    return (kind, "date") if types.is_date(kind) else (pa.string(), "text")
