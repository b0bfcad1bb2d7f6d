# SPDX-License-Identifier: Apache-2.0
"""Connections: one transaction each, and every failure in our own words.

The words of libpq and of the server are not passed on as they are: they may show a piece of an address, of a statement
or of a row. What is passed on is the server's one-line message where it speaks of names and syntax alone (SQLSTATE
class 42), and else what the SQLSTATE means.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from glasshouse.errors import GlasshouseError, MissingExtra, OutputError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from glasshouse.database.address import Address

    Refusal = type[SourceError] | type[OutputError]

__all__ = ["connected", "refused", "run"]

READ_ONLY = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"

# What libpq and the server say when no connection comes about, in the order in which it is looked for.
_NO_CONNECTION = (
    (
        "no password supplied",
        "asks for a password: set PGPASSWORD, or use a password file (~/.pgpass) or a service file",
    ),
    ("authentication failed", "does not accept this user or password: check PGUSER, PGPASSWORD, ~/.pgpass"),
    (
        "pg_hba.conf",
        "does not allow this user to connect from this machine: ask its administrator to change pg_hba.conf",
    ),
    ('role "', "does not know this user: check the address, or PGUSER"),
    ('database "', "has no such database, or does not allow this user to use it: check the address, or PGDATABASE"),
    ("permission denied for database", "does not allow this user to use the database: ask its administrator"),
    ("could not translate host name", "cannot be found: check the name of the host"),
    ("timeout expired", "did not answer in time: check host and port, or raise connect_timeout"),
    ("Connection refused", "does not answer: check host and port, and that the server is running"),
    (
        "No such file or directory",
        "does not answer: there is no socket in that folder. Check host and port, and that the server is running",
    ),
    ("definition of service", "is not defined: there is no such service in the service file (PGSERVICEFILE)"),
    ("SSL", "and this machine cannot agree on encryption: check sslmode and the certificates"),
    ("too many", "has too many connections: try again later"),
    ("the database system is", "is starting or stopping: try again later"),
    ("invalid", "cannot be reached: an option in the address, the environment or the service file is not valid"),
)

# What an SQLSTATE, or its first two letters, means for the user.
_MEANINGS = {
    "25006": "only reading is allowed here, and the statement would write: use a SELECT statement",
    "25001": "only reading is allowed here, and the statement would change the transaction: use a SELECT statement",
    "42501": "this user is not allowed to do that: ask the owner of the table for the right (GRANT)",
    "55P03": "a table is locked by another user: try again later",
    "57014": "the server stopped the statement (a time limit, or an administrator): read fewer rows, or ask the "
    "administrator for a higher statement_timeout",
    "22": "a value does not fit the operation, such as a text that is not a number or a division by zero: "
    "correct the query or the value",
    "08": "the connection broke: try again",
    "53": "the server ran out of memory, disk or connections: try again later, or ask the administrator",
    "57": "the server was shut down, or an administrator ended the connection: try again later",
    "40": "the server rolled the transaction back because of another one: try again",
}
_STATE = re.compile(r"SQLSTATE: (\w{5})")
_PRIMARY = re.compile(r"ERROR:\s+(.+)")


@contextmanager
def connected(address: Address, *, refusal: Refusal = SourceError, read_only: bool = True) -> Iterator[Any]:
    """Open a connection with a transaction: for reading, of one snapshot. It is rolled back unless committed.

    Failures are told by a ``refusal``. With ``read_only`` the transaction sees the database as it was at its first
    statement.
    """
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise MissingExtra("PostgreSQL", extra="postgres") from None
    try:
        connection = dbapi.connect(address.uri)
    except dbapi.Error as error:
        raise refusal(f"{address} {_why_not(str(error))}") from None
    with connection, refused(f"{address} failed", refusal):
        if read_only:
            run(connection, READ_ONLY)
        yield connection


def run(connection: Any, statement: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Run one statement of our own, with values for ``$1`` and so on; give its rows, if it has any."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return list(cursor.fetchall()) if cursor.description else []


@contextmanager
def refused(what: str, refusal: Refusal = SourceError) -> Iterator[None]:
    """Say in our words that a statement failed, and why."""
    from adbc_driver_postgresql.dbapi import Error
    from pyarrow import ArrowException

    try:
        yield
    except GlasshouseError:
        raise
    except (Error, ArrowException, OSError) as error:
        raise refusal(f"{what}: {_why(error)}") from None


def state_of(error: BaseException) -> str:
    """The SQLSTATE of a failure; empty if there is none."""
    found = _STATE.search(str(error))
    return getattr(error, "sqlstate", None) or (found[1] if found else "")


def _why_not(said: str) -> str:
    known = (words for sign, words in _NO_CONNECTION if sign in said)
    return next(known, "refused the connection: check host, port, database, user and password")


def _why(error: BaseException) -> str:
    state = state_of(error)
    meaning = _MEANINGS.get(state) or _MEANINGS.get(state[:2])
    if meaning is not None:
        return f"{meaning} (SQLSTATE {state})"
    said = _PRIMARY.search(str(error))
    if state.startswith("42") and said:
        return f"{said[1].strip()} (SQLSTATE {state})"
    if "invalid byte sequence" in str(error):
        return "a text is not UTF-8 (a database with the encoding SQL_ASCII allows this): convert it in the query"
    if state:
        return f"the server refused it (SQLSTATE {state}): run the statement by itself to see why"
    return (
        "the server stopped before the end (a value that does not fit, a time limit, a broken connection): run the "
        "statement by itself to see why"
    )
