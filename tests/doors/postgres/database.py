"""A database of a test: statements run on it as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from adbc_driver_postgresql import dbapi

from tests.doors.postgres.server import Server


@dataclass(frozen=True)
class Database:
    """A database on the server of the test run."""

    server: Server
    name: str

    @property
    def address(self) -> str:
        """Through the socket, without a password."""
        return self.server.address(self.name)

    @property
    def loopback(self) -> str:
        """Over the network, with a password."""
        return self.server.loopback(self.name)

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements; give the rows of the last."""
        rows: list[tuple[Any, ...]] = []
        with dbapi.connect(self.address, autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
                rows = list(cursor.fetchall()) if cursor.description else []
        return rows

    def load(self, name: str, table: pa.Table) -> None:
        """Put a table in."""
        with dbapi.connect(self.address) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="create")
            connection.commit()

    def tables(self, schema: str) -> dict[str, int]:
        """The tables of a schema, and how many rows they have."""
        found = self.run(f"SELECT table_name::text FROM information_schema.tables WHERE table_schema = '{schema}'")
        return {name: self.run(f'SELECT count(*) FROM "{schema}"."{name}"')[0][0] for (name,) in found}
