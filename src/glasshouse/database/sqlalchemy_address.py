# SPDX-License-Identifier: Apache-2.0
"""Addresses of databases that are reached through SQLAlchemy: ``dialect+driver://user@host:port/database``.

As for PostgreSQL, an address with a password is refused, for it would stand in histories, lists of processes and logs.
The password comes from the environment, ``GLASSHOUSE_DATABASE_PASSWORD``.
"""

from __future__ import annotations

import os
import re
from typing import Any

from glasshouse.errors import InputError, MissingExtra

__all__ = ["PASSWORD", "checked_url", "is_sqlalchemy_address"]

PASSWORD = "GLASSHOUSE_DATABASE_PASSWORD"
_DIALECTS = ("sqlite", "mysql", "mariadb", "mssql", "oracle")
_ADDRESS = re.compile(r"(?P<dialect>[a-z][a-z0-9]*)(?P<driver>\+[a-z0-9_]+)?://", re.ASCII)
_SECRET = re.compile(r"pass|pwd|secret|token|key|credential", re.IGNORECASE)


def is_sqlalchemy_address(source: Any) -> bool:
    """Whether this is the address of a database that SQLAlchemy reads.

    >>> is_sqlalchemy_address("mysql+pymysql://localhost/clinic"), is_sqlalchemy_address("sqlite:///clinic.db")
    (True, True)
    >>> is_sqlalchemy_address("postgresql://localhost/clinic"), is_sqlalchemy_address("clinic.db")
    (False, False)
    """
    found = _ADDRESS.match(source) if isinstance(source, str) else None
    return found is not None and (found["driver"] is not None or found["dialect"] in _DIALECTS)


def checked_url(address: str) -> Any:
    """The address as an SQLAlchemy URL, with the password from the environment; refused if it contains a secret."""
    try:
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError:
        raise MissingExtra("reading through SQLAlchemy", extra="sqlalchemy") from None
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise InputError(
            "the address of the database cannot be understood. It is not shown, because it may contain a password. "
            "Write it as dialect+driver://user@host:port/database"
        ) from None
    if url.password is not None or any(_SECRET.search(name) for name in url.query):
        raise InputError(
            "the address of the database has a password in it, which would appear in histories and logs: leave it "
            f"out, and set the environment variable {PASSWORD}"
        )
    if any(_SECRET.search(str(value)) and "=" in str(value) for value in url.query.values()):
        raise InputError(f"the address of the database has a secret in a parameter: leave it out, and set {PASSWORD}")
    secret = os.environ.get(PASSWORD)
    return url if secret is None or url.get_backend_name() == "sqlite" else url.set(password=secret)
