# SPDX-License-Identifier: Apache-2.0
"""Flat tables from the command line: what `sample` and `publish --flat` write, replace, refuse and say."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.pages.report import publication
from tests.rooms.cli.world import QUICK, ROLES, make_world, run

PUBLISH = f"publish patients.csv {ROLES} --ell 3 {QUICK}"
QUASI = ["age", "sex", "zipcode"]
SENTENCES = (
    "out/flat/table.csv is one table for a spreadsheet, drawn at random from the release: it has as many rows as "
    "people were published; the values of each row were drawn at random, and by chance a row can have the same values "
    "as a real person. It is good for charts, pivot tables and models, which look at many rows together. It must not "
    "be used to count people in small cells or to look for a person: use glasshouse query, which gives counts with "
    "intervals."
)


@pytest.fixture
def out(world: Path) -> Path:
    make_world(world, n=2_000)  # so many that every release of them teaches something
    run(f"{PUBLISH} --out out --no-flat")
    return world / "out"


def test_tables_are_written_with_a_readme_and_what_was_written_is_said(out: Path, world: Path) -> None:
    said = run("sample out/release --tables 3 --out flat").stdout
    assert "3 tables of 2,000 rows, drawn by the model 'learned': table-1.csv, table-2.csv, table-3.csv" in said
    assert (
        "Some rows have the quasi-identifiers of a real person. All other values were drawn at random, and by" in said
    )
    written = {path.name for path in (world / "flat").iterdir()}
    assert written == {"table-1.csv", "table-2.csv", "table-3.csv", "README.md", "contents.json"}
    truth = Counter(pa_csv.read_csv(world / "patients.csv")["disease"].to_pylist())
    for number in (1, 2, 3):
        table = pa_csv.read_csv(world / "flat" / f"table-{number}.csv")
        assert (table.num_rows, table.column_names) == (2_000, ["age", "sex", "zipcode", "disease"])
        assert truth == Counter(table["disease"].to_pylist())
    readme = " ".join((world / "flat" / "README.md").read_text().split())
    assert "**Do not read a row as a fact about a person.** The quasi-identifiers of some rows are those of a" in readme
    assert "There are 3 tables." in readme
    assert "the variance of the 3 estimates multiplied by (1 + 1/3)" in readme


def test_parquet_says_in_its_schema_what_its_rows_are(out: Path, world: Path) -> None:
    told = json.loads(run("sample out/release --rows 20 --format parquet --out few --seed 1 --json").stdout)
    assert told["files"] == ["table.parquet"]
    assert (told["rows"], told["model"], told["columns"]) == (20, "learned", ["age", "sex", "zipcode", "disease"])
    schema = pq.read_schema(world / "few" / "table.parquet")
    assert schema.metadata[b"glasshouse.sample"].startswith(b"drawn from a release: some rows have the quasi-id")
    assert schema.metadata[b"glasshouse.exact"] == b"some"
    expected = gh.sample(gh.load(out / "release"), 20, gh.Source.seeded(1))
    assert expected.equals(pq.read_table(world / "few" / "table.parquet"))


@pytest.mark.parametrize(
    ("recoding", "exact"),
    [("boxes", "none"), ("angel", "none"), ("angel --k 1", "all"), ("anatomy", "all"), ("permutation", "all")],
)
def test_no_row_is_called_nobody_if_it_has_the_exact_quasi_identifiers_of_a_person(
    recoding: str, exact: str, world: Path
) -> None:
    said = " ".join(run(f"{PUBLISH} --recoding {recoding} --out out --flat").stdout.split())
    told = " ".join(Path("out/release/README.md").read_text().split())
    flat = " ".join(Path("out/flat/README.md").read_text().split())
    people = {
        tuple(row) for row in zip(*pa_csv.read_csv("patients.csv").select(QUASI).to_pydict().values(), strict=True)
    }
    drawn = {
        tuple(row)
        for row in zip(*pa_csv.read_csv("out/flat/table.csv").select(QUASI).to_pydict().values(), strict=True)
    }
    assert (drawn <= people) == (exact == "all")
    assert ("values of each row were drawn at random" in flat) == (exact == "none")
    assert ("the values of each row were drawn at random" in said) == (exact == "none")
    for words in (said, told, flat):
        assert "o row is a real person" not in words  # it may have all values of one
    assert ("By chance a row can have the quasi-identifiers of a real person" in flat) == (exact == "none")
    assert "row can have all values of a real person" in flat or "or all values of a real person" in flat
    assert ("quasi-identifiers of each row are those of a real person" in flat) == (exact == "all")
    if "flat table" in told:
        assert ("and by chance elsewhere" in told) == (exact == "none")
    note = " ".join(run(f"{PUBLISH} --recoding {recoding} --out disk --format csv --engine disk").stderr.split())
    if "For a spreadsheet" in note:
        assert ("and by chance elsewhere" in note) == (exact == "none")


def test_a_row_is_not_called_nobody_if_everybody_in_its_group_is_alike(world: Path) -> None:
    rows = gh.read({"sex": [*"FM"] * 30, "ill": [*"abc"] * 20}, quasi=["sex"], sensitive="ill")
    exact = gh.sample(gh.publish(rows, principle=gh.LDiversity(ell=3), method=gh.Mondrian(), recoding=gh.Boxes()))
    assert exact.schema.metadata[b"glasshouse.exact"] == b"all"
    assert gh.sample(gh.publish(rows, principle=gh.KAnonymity(k=31))).schema.metadata[b"glasshouse.exact"] == b"none"


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
    assert SENTENCES in " ".join(said.split())
    assert sorted(path.name for path in (world / "out").iterdir()) == ["audit", "flat", "release"]
    assert pa_csv.read_csv(world / "out" / "flat" / "table.csv").num_rows == 300
    run("verify out/release")
    told = json.loads(run(f"{PUBLISH} --out out --flat --force --json").stdout)
    assert told["flat"] == "out/flat"


# --- what is done where nobody chose ----------------------------------------------------------------------------------


def written(folder: Path) -> set[str]:
    """The files of a publication, without those that must stay inside."""
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name for name in files if not name.startswith("audit/")}


BESIDE = {"flat/README.md", "flat/contents.json"}
RELEASE = {"release/README.md", "release/datapackage.json"}
CSV = RELEASE | {"release/gt.csv", "release/bt.csv"}
PARQUET = RELEASE | {"release/gt.parquet", "release/bt.parquet"}
WORKBOOK = PARQUET | {"xlsx/README.md", "xlsx/contents.json", "xlsx/tables.xlsx"}
FORMS = {
    "patients.csv": (CSV | BESIDE | {"flat/table.csv"}, "Its tables are CSV files, like patients.csv"),
    "patients.tsv.gz": (CSV | BESIDE | {"flat/table.csv"}, "Its tables are CSV files, like patients.tsv.gz"),
    "patients.xlsx": (
        WORKBOOK | BESIDE | {"flat/table.xlsx"},
        "out/xlsx/tables.xlsx has its tables in a workbook, like patients.xlsx",
    ),
    "patients.parquet": (PARQUET, "Its tables are Parquet files"),
    "patients.csv --no-flat": (CSV, "Its tables are CSV files"),
    "patients.csv --format parquet": (PARQUET, ""),
    "patients.csv --format parquet --flat": (PARQUET | BESIDE | {"flat/table.csv"}, ""),
    "patients.csv --format xlsx": (WORKBOOK | BESIDE | {"flat/table.xlsx"}, ""),
    "patients.xlsx --format csv": (CSV | BESIDE | {"flat/table.csv"}, ""),
    "patients.parquet --format csv": (CSV, ""),
    "patients.csv --recoding boxes": (RELEASE | {"release/data.csv"}, "Its tables are CSV files"),
    "patients.csv --engine disk": (CSV, "Its tables are CSV files"),
}


@pytest.mark.parametrize("asked", FORMS)
def test_tables_are_written_as_the_file_is_and_a_spreadsheets_file_gets_a_flat_table(asked: str, world: Path) -> None:
    table = pa_csv.read_csv("patients.csv", convert_options=pa_csv.ConvertOptions(column_types={"zipcode": "string"}))
    pq.write_table(table, "patients.parquet")
    Path("patients.tsv.gz").write_bytes(gzip.compress(Path("patients.csv").read_bytes().replace(b",", b"\t")))
    book = openpyxl.Workbook()
    for row in [table.column_names, *(list(row.values()) for row in table.to_pylist())]:
        book["Sheet"].append(row)
    book.save("patients.xlsx")
    file, _, more = asked.partition(" ")
    files, words = FORMS[asked]
    said = run(f"publish {file} {ROLES} --ell 3 {QUICK} --out out {more}")
    shown = " ".join(said.stdout.split())

    assert written(Path("out")) == files
    assert words in shown
    assert ("Its tables are" in shown or "has its tables in a workbook" in shown) == bool(words)
    assert ("must not be used to count people in small cells" in shown) == bool(files & BESIDE)
    assert run("verify out").exit_code == 0
    if "flat/table.xlsx" in files:
        rows = [*openpyxl.load_workbook("out/flat/table.xlsx").active.iter_rows(values_only=True)]
        assert (rows[0], len(rows)) == (("age", "sex", "zipcode", "disease"), 301)
        assert {row[2] for row in rows[1:]} <= set(table["zipcode"].to_pylist())  # texts, with their leading zeros


def test_no_flat_table_is_drawn_by_default_of_more_rows_than_take_little_time(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publication, "MOST_FLAT", 299)
    said = run(f"{PUBLISH} --out out")
    assert said.stderr.count("no flat table") == 1
    assert (
        "note: no flat table for a spreadsheet was drawn, because 300 people were published, and for more than 299 it "
        "takes long. To draw one, run: glasshouse sample out/release --out out/flat" in said.stderr
    )
    assert not (world / "out" / "flat").exists()
    run(f"{PUBLISH} --out asked --flat")
    assert (world / "asked" / "flat" / "table.csv").is_file()


def test_by_default_a_flat_table_that_cannot_be_drawn_or_placed_stops_nothing(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pa_csv.read_csv(world / "patients.csv").append_column("plan", pa.array([*"abcde"] * 60))
    pa_csv.write_csv(table, world / "two.csv")
    said = run(f"publish two.csv --quasi age,sex --sensitive disease,plan --ell 2 --out two {QUICK}").stderr
    assert "because it can have only one of the sensitive columns disease, plan. To draw one, run:" in said
    command = said.partition("To draw one, run: ")[2].splitlines()[0]
    assert command == "glasshouse sample two/release --attributes age,sex,disease --out two/flat"
    run(command)
    assert pa_csv.read_csv("two/flat/table.csv").column_names == ["age", "sex", "disease"]

    (world / "mine" / "flat").mkdir(parents=True)
    assert "because mine/flat exists already (move it elsewhere first)" in run(f"{PUBLISH} --out mine").stderr
    assert [*(world / "mine" / "flat").iterdir()] == []

    def refuse(*_given: object, **_more: object) -> None:
        raise gh.NotSupported("drawing this", instead="something else")

    monkeypatch.setattr(publication, "draw", refuse)
    assert "no flat table for a spreadsheet was drawn, because drawing this" in run(f"{PUBLISH} --out out").stderr
    assert written(world / "out") == CSV
    assert "drawing this" in run(f"{PUBLISH} --out other --flat", code=2).stderr


def test_the_readme_says_what_a_flat_table_is_whether_or_not_one_was_drawn(world: Path) -> None:
    for number, more in enumerate(["", "--no-flat"]):
        run(f"{PUBLISH} --out out{number} {more}")
        readme = " ".join(Path(f"out{number}/release/README.md").read_text().split())
        assert "A *flat table* is one table for a spreadsheet, drawn at random from the tables of this folder" in readme
        assert "It is good for charts, pivot tables and models" in readme
        assert "It must not be used to count people in small cells or to look for a person" in readme
    flat = " ".join(Path("out0/flat/README.md").read_text().split())
    assert "It must not be used to count people in small cells" in flat


def test_a_policy_asks_for_a_flat_table_as_the_option_does(world: Path) -> None:
    said = '[source]\nfile = "patients.csv"\n[roles]\nquasi = ["age", "sex", "zipcode"]\nsensitive = "disease"\n'
    said += '[principle]\nell = 3\n[release]\nout = "out"\nreport = "none"\n'
    (world / "policy.toml").write_text(said)
    assert json.loads(run("publish policy.toml --out by-default --json").stdout)["flat"].endswith("by-default/flat")
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
    refused = {
        "--format parquet": "give --flat to draw a new one, or remove it",
        "--no-flat": "leave --no-flat out to draw a new one, or remove it",
        "--engine disk": "remove it first",
    }
    for more, words in refused.items():
        assert words in run(f"{PUBLISH} --out out --force {more}", code=2).stderr
    assert (world / "out" / "release" / "datapackage.json").read_bytes() == before
    flat = (world / "out" / "flat" / "table.csv").read_bytes()
    run(f"{PUBLISH} --recoding boxes --out out --force")  # one table: and yet the flat one is drawn anew
    assert (world / "out" / "flat" / "table.csv").read_bytes() != flat
    assert "no-flat" not in run(f"{PUBLISH} --out out --force").stderr
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
    gh.publish(rows, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Boxes(), out=world / "both")
    run("sample both/release --out both-drawn")  # side by side in every row
    assert pa_csv.read_csv(world / "both-drawn" / "table.csv").column_names == ["age", "s", "t"]
    gh.publish(rows, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Anatomy(), out=world / "two")
    said = run("sample two/release --out none")
    assert "note: the sample contains none of the sensitive columns s, t" in said.stderr
    assert pa_csv.read_csv(world / "none" / "table.csv").column_names == ["age"]
    assert "the sample contains none of the sensitive columns s, t" in " ".join(
        (world / "none" / "README.md").read_text().split()
    )
    said = run("sample both/release --out one --attributes age,t")
    assert "note:" not in said.stderr
    assert pa_csv.read_csv(world / "one" / "table.csv").column_names == ["age", "t"]
