"""The command line with a database at either end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from tests.doors.postgres.database import Database
from tests.doors.postgres.server import PASSWORD

CANARY = "CANARY77"
ROLES = ["--quasi", "age,sex,zipcode", "--sensitive", "disease", "--ell", "3"]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(glasshouse, [str(argument) for argument in arguments])


@pytest.fixture
def clinic(database: Database) -> Database:
    database.load("patients", gh.synthetic.hospital_table(n=300, seed=1))
    return database


def test_inspect_shows_a_table_and_a_query(clinic: Database) -> None:
    whole = run("inspect", clinic.address, "--table", "patients", "--json")
    some = run("inspect", clinic.address, "--query", "SELECT age, disease FROM patients", "--json")

    assert whole.exit_code == some.exit_code == 0
    assert json.loads(whole.stdout)["n_tuples"] == 300
    assert [column["name"] for column in json.loads(some.stdout)["columns"]] == ["age", "disease"]


def test_publish_goes_from_a_database_to_folders_and_a_database(clinic: Database, tmp_path: Path) -> None:
    out = tmp_path / "out"
    target = ["--to", clinic.address, "--schema", "open data"]
    command = ["publish", clinic.address, "--table", "patients", *ROLES, "--out", out, "--no-report", *target]
    done = run(*command)
    release = gh.load(out / "release")

    assert done.exit_code == 0, done.output
    assert set(clinic.tables("open data")) == {*release.tables, "glasshouse_release"}
    assert all(clinic.tables("open data")[name] == table.num_rows for name, table in release.tables.items())
    assert "exists already" in run(*command).stderr
    assert run(*command, "--force").exit_code == 0


def test_a_target_that_cannot_be_written_is_told_before_the_work(clinic: Database, tmp_path: Path) -> None:
    gh.to_postgres(gh.publish(gh.synthetic.hospital(n=99, seed=1), principle=gh.KAnonymity(k=3)), clinic.address)
    arguments = ["publish", clinic.address, "--table", "patients", *ROLES, "--out", tmp_path / "out"]
    taken = run(*arguments, "--to", clinic.address)
    nowhere = run(*arguments, "--to", "postgresql://127.0.0.1:1/x")

    assert taken.exit_code == nowhere.exit_code == 2
    assert "glasshouse_release exists already" in taken.stderr
    assert "does not answer" in nowhere.stderr
    assert not (tmp_path / "out").exists()


def test_the_disk_engine_takes_no_database(clinic: Database, tmp_path: Path) -> None:
    more = ["--engine", "disk", "--out", tmp_path / "out"]
    done = run("publish", clinic.address, "--table", "patients", *ROLES, *more)

    assert done.exit_code == 2
    assert "database" in done.stderr


def test_verify_counts_a_table_of_a_database(clinic: Database) -> None:
    done = run("verify", f"{clinic.address}&table=patients", "--quasi", "sex", "--json")

    assert done.exit_code == 0, done.output
    here = gh.verify(gh.synthetic.hospital_table(n=300, seed=1), quasi=["sex"])
    assert json.loads(done.stdout)["k"] == here.to_dict()["k"]


@pytest.mark.parametrize("command", ["show", "query", "attack"])
def test_a_password_is_not_shown_where_no_database_belongs(command: str, tmp_path: Path) -> None:
    more = {"query": ["SELECT count(*) FROM release"], "attack": ["--external", "people.csv"]}
    done = run(command, f"postgresql://eve:{CANARY}@host/clinic", *more.get(command, []))

    assert done.exit_code == 2
    assert CANARY not in done.output + done.stderr


@pytest.mark.parametrize("command", ["inspect", "publish", "verify", "init"])
def test_a_password_in_an_address_is_refused_and_never_shown(command: str, clinic: Database, tmp_path: Path) -> None:
    address = clinic.loopback.replace("@", f":{CANARY}@") + "?table=patients"
    more = {"publish": [*ROLES, "--out", tmp_path / "out"], "verify": ["--quasi", "age"], "init": ["--out", "-"]}
    done = run(command, address, *more.get(command, []))

    assert done.exit_code == 2
    assert "PGPASSWORD" in done.stderr
    assert CANARY not in done.output + done.stderr


def test_the_whole_command_shows_and_keeps_no_password(clinic: Database, tmp_path: Path) -> None:
    """As a process of its own, with everything that it says and leaves."""
    log = tmp_path / "log.json"
    more = ["--out", str(tmp_path / "out"), "--verbose", "--log-json", str(log), "--to", clinic.loopback]
    done = subprocess.run(
        [sys.executable, "-m", "glasshouse", "publish", clinic.loopback, "--table", "patients", *ROLES, *more],
        env={**os.environ, "PGPASSWORD": PASSWORD},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    names = [PASSWORD, "127.0.0.1", clinic.name]

    assert len(files) >= 5
    assert PASSWORD not in done.stdout + done.stderr
    assert not [(path.name, name) for path in files for name in names if name.encode() in path.read_bytes()]
    ((manifest,),) = clinic.run("SELECT manifest::text FROM released.glasshouse_release")
    assert not [name for name in names if name in manifest]
