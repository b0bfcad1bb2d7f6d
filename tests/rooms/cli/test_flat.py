# SPDX-License-Identifier: Apache-2.0
"""Flat tables from the command line: what `sample` and `publish --flat` write, replace, refuse and say."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from tests.rooms.cli.world import QUICK, ROLES, make_world, run

PUBLISH = f"publish patients.csv {ROLES} --ell 3 {QUICK}"


@pytest.fixture
def out(world: Path) -> Path:
    make_world(world, n=2_000)  # so many that every release of them teaches something
    run(f"{PUBLISH} --out out")
    return world / "out"


def test_tables_are_written_with_a_readme_and_what_was_written_is_said(out: Path, world: Path) -> None:
    said = run("sample out/release --tables 3 --out flat").stdout
    assert "3 tables of 2,000 rows, drawn by the model 'learned': table-1.csv, table-2.csv, table-3.csv" in said
    assert "No row describes a real person" in said
    written = {path.name for path in (world / "flat").iterdir()}
    assert written == {"table-1.csv", "table-2.csv", "table-3.csv", "README.md", "contents.json"}
    truth = Counter(pa_csv.read_csv(world / "patients.csv")["disease"].to_pylist())
    for number in (1, 2, 3):
        table = pa_csv.read_csv(world / "flat" / f"table-{number}.csv")
        assert (table.num_rows, table.column_names) == (2_000, ["age", "sex", "zipcode", "disease"])
        assert truth == Counter(table["disease"].to_pylist())
    readme = " ".join((world / "flat" / "README.md").read_text().split())
    assert "**No row is a real person.**" in readme
    assert "There are 3 tables." in readme


def test_parquet_says_in_its_schema_that_no_row_is_a_person(out: Path, world: Path) -> None:
    told = json.loads(run("sample out/release --rows 20 --format parquet --out few --seed 1 --json").stdout)
    assert told["files"] == ["table.parquet"]
    assert (told["rows"], told["model"], told["columns"]) == (20, "learned", ["age", "sex", "zipcode", "disease"])
    schema = pq.read_schema(world / "few" / "table.parquet")
    assert schema.metadata[b"glasshouse.sample"] == b"drawn from a release: no row describes a real person"
    expected = gh.sample(gh.load(out / "release"), 20, gh.Source.seeded(1))
    assert expected.equals(pq.read_table(world / "few" / "table.parquet"))


def test_nothing_is_replaced_without_force_and_nothing_that_was_changed_ever(out: Path, world: Path) -> None:
    run("sample out/release --out flat --seed 1")
    before = (world / "flat" / "table.csv").read_bytes()
    assert "exists already" in run("sample out/release --out flat", code=2).stderr
    assert (world / "flat" / "table.csv").read_bytes() == before
    run("sample out/release --out flat --force --seed 2")
    assert (world / "flat" / "table.csv").read_bytes() != before
    (world / "flat" / "notes.txt").write_text("mine")
    assert "notes.txt was not written by Glasshouse" in run("sample out/release --out flat --force", code=2).stderr
    assert (world / "flat" / "notes.txt").read_text() == "mine"


def test_a_release_gets_no_file_that_its_manifest_does_not_declare(out: Path) -> None:
    before = sorted(path.name for path in (out / "release").iterdir())
    assert "is inside the release" in run("sample out/release --out out/release/flat", code=2).stderr
    assert before == sorted(path.name for path in (out / "release").iterdir())


def test_a_release_without_its_audit_gives_the_same_tables(out: Path, world: Path) -> None:
    run("sample out/release --out one --seed 4")
    shutil.copytree(out / "release", world / "elsewhere")
    shutil.rmtree(out)
    (world / "patients.csv").unlink()
    run("sample elsewhere --out other --seed 4")
    assert (world / "one" / "table.csv").read_bytes() == (world / "other" / "table.csv").read_bytes()


def test_publish_puts_a_flat_table_beside_the_release(world: Path) -> None:
    said = run(f"{PUBLISH} --out out --flat").stdout
    assert "its rows were drawn at random and do not describe real people" in " ".join(said.split())
    assert sorted(path.name for path in (world / "out").iterdir()) == ["audit", "flat", "release"]
    assert pa_csv.read_csv(world / "out" / "flat" / "table.csv").num_rows == 300
    run("verify out/release")
    told = json.loads(run(f"{PUBLISH} --out out --flat --force --json").stdout)
    assert told["flat"] == "out/flat"


def test_a_policy_asks_for_a_flat_table_as_the_option_does(world: Path) -> None:
    said = '[source]\nfile = "patients.csv"\n[roles]\nquasi = ["age", "sex", "zipcode"]\nsensitive = "disease"\n'
    said += '[principle]\nell = 3\n[release]\nout = "out"\nreport = "none"\n'
    (world / "policy.toml").write_text(f"{said}flat = true\n")
    told = json.loads(run("publish policy.toml --json").stdout)
    assert told["flat"].endswith("out/flat")
    assert pa_csv.read_csv(world / "out" / "flat" / "table.csv").num_rows == 300
    (world / "policy.toml").write_text(f"{said}flat = false\n")
    assert "flat" not in json.loads(run("publish policy.toml --out other --json").stdout)
    assert not (world / "other" / "flat").exists()
    assert "flat" in json.loads(run("publish policy.toml --out third --flat --json").stdout)
    (world / "policy.toml").write_text(f'{said}flat = "yes"\n')
    assert "flat must be true or false" in run("publish policy.toml", code=2).stderr


def test_no_flat_table_of_an_earlier_release_stays_beside_a_new_one(world: Path) -> None:
    run(f"{PUBLISH} --out out --flat")
    before = (world / "out" / "release" / "datapackage.json").read_bytes()
    assert "give --flat to draw a new one" in run(f"{PUBLISH} --out out --force", code=2).stderr
    assert (world / "out" / "release" / "datapackage.json").read_bytes() == before
    said = run(f"marginals patients.csv {ROLES} --marginal age,disease --out out {QUICK}")
    assert "was drawn before these tables were added" in said.stderr


def test_a_folder_that_is_somebody_elses_stops_publishing_before_the_work(world: Path) -> None:
    (world / "out" / "flat").mkdir(parents=True)
    (world / "out" / "flat" / "notes.txt").write_text("mine")
    assert "exists already" in run(f"{PUBLISH} --out out --flat", code=2).stderr
    assert not (world / "out" / "release").exists()
    disk = f"publish patients.csv {ROLES} --ell 3 --out disk --engine disk --flat"
    assert "leave --flat out" in run(disk, code=2).stderr


def test_of_several_sensitive_columns_one_is_named_or_a_note_says_that_none_is_there(world: Path) -> None:
    table = pa_csv.read_csv(world / "patients.csv")
    rows = gh.read({"age": table["age"], "s": [*"abc"] * 100, "t": [*"uvwx"] * 75}, quasi=["age"], sensitive=["s", "t"])
    gh.publish(rows, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Boxes(), out=world / "two")
    said = run("sample two/release --out none")
    assert "note: the sample contains none of the sensitive columns s, t" in said.stderr
    assert pa_csv.read_csv(world / "none" / "table.csv").column_names == ["age"]
    assert "the sample contains none of the sensitive columns s, t" in " ".join(
        (world / "none" / "README.md").read_text().split()
    )
    said = run("sample two/release --out one --attributes age,t")
    assert "note:" not in said.stderr
    assert pa_csv.read_csv(world / "one" / "table.csv").column_names == ["age", "t"]
