# SPDX-License-Identifier: Apache-2.0
"""Databases that are read through SQLAlchemy: rows come in batches, and nothing is ever written.

Whatever a driver says of a failure may quote the address or a value; so only the kind of the failure is told.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from glasshouse.database.sqlalchemy_address import checked_url
from glasshouse.errors import DomainError, GlasshouseError, InputError, MissingExtra, SourceError
from glasshouse.microdata.reading.normal_form import column_of_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["SqlSelection", "read_sqlalchemy"]

_BATCH = 10_000  # rows that come at once
_PACKAGES = {"MySQLdb": "mysqlclient", "psycopg2": "psycopg2-binary"}  # drivers that are called otherwise on PyPI


class SqlSelection:
    """What is read: a table or a query of a database; its name in messages contains no secret."""

    def __init__(self, address: str, selected: Mapping[str, str | None]) -> None:
        self.url = checked_url(address)
        self.table, self.query = selected.get("table"), selected.get("query")
        if (self.table is None) == (self.query is None):
            raise InputError("for a database, name one table (table=) or give one query (query=)")

    def __str__(self) -> str:
        what = "the query" if self.table is None else f"the table {self.table}"
        return f"{what} of {self.url.set(password=None, query={}).render_as_string()}"


def read_sqlalchemy(
    selection: SqlSelection, choose: Callable[[Sequence[str]], list[str]], *, batch: int = _BATCH
) -> tuple[pa.Table, tuple[str, ...]]:
    """Read the chosen columns, ``batch`` rows at a time."""
    with _connected(selection) as connection:
        statement = _statement(selection, connection)
        result = connection.execution_options(stream_results=True, max_row_buffer=batch).execute(statement)
        if not result.returns_rows:
            raise SourceError("the query gives no table: it must be a SELECT")
        names = list(result.keys())
        chosen = choose(names)
        places = [names.index(name) for name in chosen]
        pieces: list[pa.Table] = []
        for rows in result.partitions(batch):
            columns = {name: [row[at] for row in rows] for name, at in zip(chosen, places, strict=True)}
            pieces.append(pa.table({name: column_of_values(values, name) for name, values in columns.items()}))
    if not pieces:
        raise SourceError(f"{selection} has no rows")
    try:
        return pa.concat_tables(pieces, promote_options="permissive"), ()
    except pa.ArrowException:
        mixed = next(name for name in chosen if len({piece.schema.field(name).type for piece in pieces}) > 1)
        raise DomainError(f"column {mixed!r} mixes types: cast it in the query", column=mixed) from None


@contextmanager
def _connected(selection: SqlSelection) -> Iterator[Any]:
    """A connection whose transaction is always rolled back at the end."""
    import sqlalchemy
    from sqlalchemy.pool import NullPool

    url = selection.url
    try:
        options: dict[str, Any] = {"poolclass": NullPool}
        if url.get_backend_name() == "sqlite":
            engine = sqlalchemy.create_engine("sqlite://", creator=_sqlite(url), **options)
        else:
            engine = sqlalchemy.create_engine(url, **options)
        with engine.connect() as connection:
            try:
                yield connection
            finally:
                connection.rollback()
    except (GlasshouseError, MemoryError):
        raise
    except ImportError as error:
        module = str(error.name).partition(".")[0]
        package = "" if module == "sqlalchemy" else _PACKAGES.get(module, module)
        raise MissingExtra(f"the driver {module!r} of this database", extra="sqlalchemy", package=package) from None
    except Exception as error:
        raise SourceError(
            f"{selection} cannot be read ({type(error).__name__}): check the address, the password and the query with "
            "the database's own tool"
        ) from None


def _sqlite(url: Any) -> Callable[[], Any]:
    """Open an SQLite file read-only; a missing file is not created."""
    import sqlite3

    if not url.database or not Path(url.database).is_file():
        raise SourceError(f"there is no file {url.database or ''!r} of SQLite", source=url.database)
    return lambda: sqlite3.connect(f"{Path(url.database).absolute().as_uri()}?mode=ro", uri=True)


def _statement(selection: SqlSelection, connection: Any) -> Any:
    import sqlalchemy

    if selection.query is not None:
        return sqlalchemy.text(selection.query.rstrip().rstrip(";").replace(":", r"\:"))
    schema, _, name = str(selection.table).rpartition(".")
    known = sqlalchemy.inspect(connection)
    tables = [*known.get_table_names(schema=schema or None), *known.get_view_names(schema=schema or None)]
    if name not in tables:
        raise SourceError(f"there is no table {selection.table} in the database: it has {', '.join(tables[:20])}")
    quoted = connection.dialect.identifier_preparer
    return sqlalchemy.text(
        f"SELECT * FROM {quoted.quote(schema) + '.' if schema else ''}{quoted.quote(name)}".replace(":", r"\:")
    )
