"""Databases for tests, each fresh; nothing of the environment's own settings for PostgreSQL is used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.doors.postgres.database import Database
from tests.doors.postgres.server import Server

_SWEEP = r"""DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\_%' AND nspname <> 'information_schema' LOOP
        EXECUTE format('DROP SCHEMA %I CASCADE', name);
    END LOOP;
    CREATE SCHEMA public;
    GRANT USAGE ON SCHEMA public TO PUBLIC;
END $$"""


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "no password file"))


@pytest.fixture
def make_database(postgres: Server) -> Iterator[Callable[..., Database]]:
    """A function that makes an empty database."""
    made: list[str] = []
    whole = Database(postgres, "postgres")

    def make(encoding: str = "UTF8") -> Database:
        name = f"t{uuid4().hex}"
        whole.run(f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0")
        made.append(name)
        return Database(postgres, name)

    yield make
    for name in made:
        whole.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def _one(postgres: Server) -> Database:
    name = f"t{uuid4().hex}"
    Database(postgres, "postgres").run(f"CREATE DATABASE {name} TEMPLATE template0")
    return Database(postgres, name)


@pytest.fixture
def database(_one: Database) -> Iterator[Database]:
    """An empty database; one for all tests, swept after each, for making one takes long."""
    yield _one
    _one.run(_SWEEP)
