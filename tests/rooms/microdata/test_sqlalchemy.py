# SPDX-License-Identifier: Apache-2.0
"""Databases through SQLAlchemy: rows in batches with their types, nothing written, no secret anywhere."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.microdata.reading.sources import open_source
from glasshouse.microdata.reading.sqlalchemy_source import SqlSelection, read_sqlalchemy

pytest.importorskip("sqlalchemy")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.db"
    with sqlite3.connect(path) as connection:
        connection.execute('CREATE TABLE people (age INTEGER, "zip:code" TEXT, height REAL, disease TEXT)')
        rows = [
            (20 + i % 40, f"{i % 7:05d}", None if i < 15 else i / 4, ("flu", "gout", "ulcer")[i % 3]) for i in range(90)
        ]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    connection.close()
    return path


def test_a_table_is_read_in_batches_with_its_types(database: Path) -> None:
    selection = SqlSelection(f"sqlite:///{database}", {"table": "people"})
    table, _ = read_sqlalchemy(selection, list, batch=10)  # the first batch of heights has nothing but gaps
    assert table.num_rows == 90
    assert pa.types.is_integer(table["age"].type)
    assert pa.types.is_floating(table["height"].type)
    assert table["zip:code"].to_pylist()[1] == "00001"
    assert table["height"].null_count == 15
    whole, _ = read_sqlalchemy(selection, list)
    assert whole.to_pylist() == table.to_pylist()


def test_a_query_is_read_and_published(database: Path) -> None:
    address = f"sqlite+pysqlite:///{database}"
    query = "SELECT age, \"zip:code\" AS zip, disease FROM people WHERE disease <> 'a:b';"
    table = gh.read(address, query=query, quasi=["age", "zip"], sensitive="disease")
    assert table.n_tuples == 90
    assert gh.verify(gh.publish(table, principle="2-diversity")).holds


def test_the_command_reads_it_and_the_release_does_not_name_it(database: Path, tmp_path: Path) -> None:
    words = ["publish", f"sqlite:///{database}", "--table", "people", "--quasi", "age", "--sensitive", "disease"]
    made = CliRunner().invoke(glasshouse, [*words, "--ell", "2", "--no-report", "--out", str(tmp_path / "out")])
    assert made.exit_code == 0, made.output
    for file in (tmp_path / "out").rglob("*"):
        if file.is_file():
            assert b"clinic.db" not in file.read_bytes()


@pytest.mark.parametrize(
    "address",
    [
        "mysql+pymysql://eve:hunter2@host/clinic",
        "mssql+pyodbc://eve@host/clinic?password=hunter2",
        "mssql+pyodbc:///?odbc_connect=Driver%3Dx%3BPWD%3Dhunter2",
    ],
)
def test_an_address_with_a_password_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(gh.InputError) as refused:
        open_source(address, columns=None, table="people")
    assert "hunter2" not in str(refused.value)
    assert "GLASSHOUSE_DATABASE_PASSWORD" in str(refused.value)


def test_the_password_of_the_environment_is_used_and_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSHOUSE_DATABASE_PASSWORD", "hunter2")
    selection = SqlSelection("mysql+pymysql://eve@host/clinic", {"table": "people"})
    assert selection.url.password == "hunter2"
    assert "hunter2" not in str(selection)
    with pytest.raises((gh.SourceError, gh.MissingExtra)) as refused:
        read_sqlalchemy(selection, list)
    assert "hunter2" not in str(refused.value)


def test_nothing_is_written_and_what_is_not_there_is_not_made(database: Path, tmp_path: Path) -> None:
    before = database.read_bytes()
    for query in ("DELETE FROM people", "INSERT INTO people (age) VALUES (1)", "SELECT nothing FROM nowhere"):
        with pytest.raises(gh.SourceError):
            read_sqlalchemy(SqlSelection(f"sqlite:///{database}", {"query": query}), list)
    assert database.read_bytes() == before
    with pytest.raises(gh.SourceError, match="there is no file"):
        read_sqlalchemy(SqlSelection(f"sqlite:///{tmp_path}/none.db", {"table": "t"}), list)
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(gh.SourceError, match="there is no table persons in the database: it has people"):
        read_sqlalchemy(SqlSelection(f"sqlite:///{database}", {"table": "persons"}), list)
    with pytest.raises(gh.InputError, match="name one table"):
        SqlSelection(f"sqlite:///{database}", {})


def test_a_driver_that_is_missing_is_named_as_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for driver, module, package in (("pymysql", "pymysql", "pymysql"), ("mysqldb", "MySQLdb", "mysqlclient")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(gh.MissingExtra, match=f"the driver '{module}' of this database .*: pip install {package}$"):
            open_source(f"mysql+{driver}://u@127.0.0.1:1/x", table="a")
