# SPDX-License-Identifier: Apache-2.0
"""Databases in one file: SQLite and DuckDB, opened for reading only."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from glasshouse.errors import GlasshouseError, InputError, MissingExtra, SourceError
from glasshouse.microdata.reading.normal_form import column_of_values
from glasshouse.microdata.reading.packed_file import NAMELESS
from glasshouse.sql_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

__all__ = ["database_format", "read_database_file"]

_TITLES = {"sqlite": "SQLite database", "duckdb": "DuckDB database"}
_OF_TIME = re.compile(r"(DATE|DATETIME|TIMESTAMP)\b", re.IGNORECASE)
_TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY 1",
    "duckdb": "SELECT table_name FROM information_schema.tables ORDER BY 1",
}


def database_format(head: bytes) -> str | None:
    """The database system of a file, recognised by its first bytes.

    >>> database_format(b"SQLite format 3" + bytes(1)), database_format(bytes(8) + b"DUCK"), database_format(b"age,sex")
    ('sqlite', 'duckdb', None)
    """
    if head.startswith(b"SQLite format 3\0"):
        return "sqlite"
    return "duckdb" if head[8:12] == b"DUCK" else None


def read_database_file(
    path: Path, kind: str, selected: Mapping[str, str | None], choose: Callable[[Sequence[str]], list[str]]
) -> tuple[pa.Table, tuple[str, ...]]:
    """Read the chosen columns of a table, or of the result of a query."""
    try:
        with closing(_opened(path, kind)) as connection:
            return _read(path, kind, connection, selected, choose), ()
    except (GlasshouseError, MemoryError):
        raise
    except Exception as error:
        raise SourceError(
            f"{path} cannot be read as a {_TITLES[kind]}, or the query failed ({type(error).__name__}): run the query "
            "in another program to see why",
            source=path,
        ) from None


def _opened(path: Path, kind: str) -> Any:
    if kind == "sqlite":
        if path.is_relative_to(NAMELESS):  # SQLite opens files by their names alone
            connection = sqlite3.connect(":memory:")
            connection.deserialize(path.read_bytes())
            return connection
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("reading a DuckDB database", extra="frames") from None
    return duckdb.connect(str(path), read_only=True)


def _read(
    path: Path, kind: str, connection: Any, selected: Mapping[str, str | None], choose: Callable[..., list[str]]
) -> pa.Table:
    statement = _statement(path, kind, connection, selected)
    if kind == "duckdb":
        relation = connection.sql(statement)
        chosen = choose(list(relation.columns))
        picked = ", ".join(map(quoted_name, chosen))
        return relation.project(picked).to_arrow_table() if chosen else pa.table({})
    cursor = connection.execute(statement)
    names = [entry[0] for entry in cursor.description]
    chosen = choose(names)
    places = [names.index(name) for name in chosen]
    rows = cursor.fetchall()
    columns = {name: column_of_values([row[i] for row in rows], name) for name, i in zip(chosen, places, strict=True)}
    types = _declared_types(connection, statement)
    dated = {name for name, i in zip(chosen, places, strict=True) if _OF_TIME.match(types[i] if types else "")}
    return pa.table({name: _times_in(column) if name in dated else column for name, column in columns.items()})


def _declared_types(connection: sqlite3.Connection, statement: str) -> list[str]:
    """The types with which the columns of a result were declared; SQLite itself knows no dates, and keeps texts."""
    try:
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"CREATE TEMP VIEW shown AS {statement}")
        return [kind or "" for _, _, kind, *_ in connection.execute("PRAGMA table_info(shown)")]
    except sqlite3.Error:
        return []


def _times_in(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Texts as dates or times, if all of them are."""
    if not pa.types.is_string(column.type):
        return column
    for kind in (pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")):
        with suppress(pa.ArrowInvalid):
            return column.cast(kind)
    return column


def _statement(path: Path, kind: str, connection: Any, selected: Mapping[str, str | None]) -> str:
    """The SQL statement for the rows: of a query, of the named table, or of the only table."""
    table, query = selected.get("table"), selected.get("query")
    if table is not None and query is not None:
        raise InputError("give either the name of a table (table=) or a query (query=), not both")
    if query is not None:
        return query
    names = [row[0] for row in connection.execute(_TABLES[kind]).fetchall()]
    if table is None and len(names) != 1:
        raise InputError(f"{path} has {len(names):,} tables, {', '.join(names[:20])}: name one with table=")
    if table is not None and table not in names:
        raise InputError(f"{path} has no table {table!r}: it has {', '.join(names[:20])}")
    return f"SELECT * FROM {quoted_name(names[0] if table is None else table)}"
