"""Passwords come from the environment or from files, and are never seen again: in errors, logs, objects or files."""

from __future__ import annotations

import io
import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
from tests.doors.postgres.database import Database
from tests.doors.postgres.server import OWNER, PASSWORD

ROLES: dict[str, Any] = {"quasi": ["age", "sex", "zipcode"], "sensitive": "disease"}


def by_environment(database: Database, _: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    return database.loopback


def by_password_file(database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    file = folder / "pgpass"
    file.write_text(f"127.0.0.1:*:*:{OWNER}:{PASSWORD}\n", encoding="utf-8")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    return database.loopback


def by_service(database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    lines = ["[clinic]", "host=127.0.0.1", f"port={database.server.port}", f"user={OWNER}", f"password={PASSWORD}"]
    (folder / "services").write_text("\n".join([*lines, f"dbname={database.name}", ""]), encoding="utf-8")
    monkeypatch.setenv("PGSERVICEFILE", str(folder / "services"))
    return "postgresql://?service=clinic"


def by_named_service(database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    by_service(database, folder, monkeypatch)
    monkeypatch.setenv("PGSERVICE", "clinic")
    return "postgresql://"


WAYS = [by_environment, by_password_file, by_service, by_named_service]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_password_opens_the_door_and_is_nowhere_afterwards(
    way: Callable[..., str],
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    database.load("people", gh.synthetic.hospital_table(n=300, seed=1))
    address = way(database, secrets, monkeypatch)
    logged = io.StringIO()
    handler = logging.StreamHandler(logged)
    logging.getLogger().addHandler(handler)
    monkeypatch.setattr(logging.getLogger(), "level", logging.DEBUG)
    try:
        table = gh.read(address, table="people", **ROLES)
        release = gh.publish(table, out=tmp_path / "out", principle=gh.LDiversity(ell=3))
        gh.to_postgres(release, address)
    finally:
        logging.getLogger().removeHandler(handler)
    printed = capfd.readouterr()
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    ((manifest,),) = database.run("SELECT manifest::text FROM released.glasshouse_release")
    objects = f"{table!r} {release!r} {table.notices} {vars(release)}"

    assert len(files) >= 4
    for secret in (PASSWORD, "127.0.0.1", OWNER, database.name, str(database.server.port)):
        assert not [path for path in files if secret.encode() in path.read_bytes()], "in the published folder"
        assert secret not in manifest
        assert secret not in objects
    assert PASSWORD not in printed.out + printed.err + logged.getvalue()


def test_a_wrong_password_is_not_shown(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "CANARY-wrong")
    for attempt in (
        lambda: gh.read(database.loopback, table="people", **ROLES),
        lambda: gh.to_postgres(
            gh.publish(gh.synthetic.hospital(n=99, seed=1), principle=gh.KAnonymity(k=3)), database.loopback
        ),
    ):
        with pytest.raises(gh.InputError, match="does not accept this user or password") as caught:
            attempt()
        assert "CANARY" not in f"{caught.value}{vars(caught.value)}{''.join(traceback.format_exception(caught.value))}"


def test_a_missing_password_is_told_with_where_to_put_it(database: Database) -> None:
    with pytest.raises(gh.SourceError, match="PGPASSWORD, or use a password file"):
        gh.read(database.loopback, table="people", **ROLES)


def test_an_unknown_user_is_refused(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "CANARY-wrong")
    with pytest.raises(gh.SourceError, match="does not accept this user or password"):
        gh.read(database.server.loopback(database.name, user="mallory"), table="people", **ROLES)
    socket = database.address.replace(f"//{OWNER}@", "//mallory@")
    with pytest.raises(gh.SourceError, match="does not know this user"):
        gh.read(socket, table="people", **ROLES)
