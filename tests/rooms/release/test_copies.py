# SPDX-License-Identifier: Apache-2.0
"""A release goes to Excel and Stata as a copy, which holds the same values and is checked with it."""

from __future__ import annotations

import datetime as dt
import sys
import zipfile
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.errors import RepublicationWarning
from glasshouse.release.copies.stata_file import stata_names, write_stata
from glasshouse.release.copies.workbook import read_workbook, write_workbook
from glasshouse.release.package.flat import write_flat


def table() -> pa.Table:
    return pa.table(
        {
            "age": [20, 21, 22, 23, 24, 25] * 2,
            "capital-gain": [1.5, 2.25, 0.1, 4.0, 5.5, 6.0] * 2,
            "born": [dt.date(1990, 1, 1 + i) for i in range(6)] * 2,
            "x": ["=1+1", "flu", "007"] * 4,
        }
    )


def publish(out: Path, format: str, **more: object) -> gh.Release:
    made = gh.read(table(), quasi=["age", "capital-gain", "born"], sensitive="x")
    return gh.publish(made, principle="2-diversity", recoding="anatomy", out=out, format=format, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("format", ["xlsx", "stata"])
def test_a_copy_comes_back_and_is_verified(tmp_path: Path, format: str) -> None:
    release = publish(tmp_path / "out", format)
    assert (tmp_path / "out" / "release" / "datapackage.json").is_file()
    found = gh.verify(tmp_path / "out")
    assert found.holds
    assert any(f"{format} has the same rows and values as the release" in note for note in found.counting)
    if format == "xlsx":
        book = openpyxl.load_workbook(tmp_path / "out" / "xlsx" / "tables.xlsx")
        assert set(book.sheetnames) == set(release.tables)
        for name, own in release.tables.items():
            rows = list(book[name].iter_rows(values_only=True))
            assert list(rows[0]) == own.column_names
            assert len(rows) - 1 == own.num_rows
    else:
        for name, own in release.tables.items():
            columns, meta = pyreadstat.read_dta(str(tmp_path / "out" / "stata" / f"{name}.dta"), output_format="dict")
            assert list(columns) == stata_names(own.column_names)
            assert len(next(iter(columns.values()))) == own.num_rows
            labelled = dict(zip(columns, meta.column_labels, strict=True))
            assert all(labelled[stata] == plain for stata, plain in zip(columns, own.column_names, strict=True))


@pytest.mark.parametrize("format", ["xlsx", "stata"])
def test_no_name_and_no_time_is_in_a_copy(tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, "somebodyspecial")
    plain = pa.table({"a": [1, 2], "b": ["x", None]})
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (write_workbook if format == "xlsx" else write_stata)(tmp_path / name, {"data": plain})
    files = [next((tmp_path / name).iterdir()).read_bytes() for name in ("one", "two")]
    assert files[0] == files[1]
    assert str(dt.datetime.now(dt.UTC).year).encode() not in files[0]
    if format == "xlsx":
        with zipfile.ZipFile(tmp_path / "one" / "tables.xlsx") as archive:
            assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
            core = archive.read("docProps/core.xml") + archive.read("docProps/app.xml")
        for word in (b"creator", b"created", b"modified", b"openpyxl", b"somebodyspecial"):
            assert word not in core


def test_texts_of_a_workbook_are_never_formulas(tmp_path: Path) -> None:
    cells = ["=1+1", "+1", "-x", "@a", "#N/A", " padded ", "1"]
    write_workbook(tmp_path, {"data": pa.table({"=x": cells})})
    book = openpyxl.load_workbook(tmp_path / "tables.xlsx")
    found = [cell for (cell,) in book["data"].iter_rows()]
    assert [cell.value for cell in found] == ["=x", *cells]
    assert {cell.data_type for cell in found} == {"s"} or all(cell.data_type != "f" for cell in found)
    assert read_workbook(tmp_path, {"data": ["=x"]})["data"]["=x"] == cells


def test_what_a_format_cannot_hold_is_refused_with_words(tmp_path: Path) -> None:
    with pytest.raises(gh.OutputError, match="1,048,575 rows"):
        write_workbook(tmp_path, {"data": pa.table({"a": pa.nulls(1_048_576, pa.int8())})})
    with pytest.raises(gh.OutputError, match="control character"):
        write_workbook(tmp_path, {"data": pa.table({"a": ["\x01"]})})
    with pytest.raises(gh.OutputError, match="32,767 characters"):
        write_workbook(tmp_path, {"data": pa.table({"a": ["x" * 40_000]})})
    with pytest.raises(gh.OutputError, match="would become the same name in Stata"):
        write_stata(tmp_path, {"data": pa.table({"a b": [1], "a-b": [2]})})
    with pytest.raises(gh.OutputError, match="no column of truth values"):
        write_stata(tmp_path, {"data": pa.table({"a": [True]})})
    release = gh.publish(gh.synthetic.hospital(30, seed=1), principle="2-diversity")
    release.save(tmp_path / "release")
    with pytest.raises(gh.ParameterError, match="'xlsx' or 'stata'"):
        release.copy_to(tmp_path / "copy", release=tmp_path / "release", format="ods")
    precise = pa.table({"q": [1 << 60, (1 << 60) + 1] * 3, "x": ["a", "b"] * 3})
    made = gh.read(precise, quasi=["q"], sensitive="x")
    with pytest.raises(gh.OutputError, match="has another value in the copy"):
        gh.publish(made, principle="2-diversity", recoding="anatomy", out=tmp_path / "precise", format="stata")
    assert (tmp_path / "precise" / "release").is_dir()
    assert not (tmp_path / "precise" / "stata").exists()


# --- what cannot be copied is found before anything is written -----------------------------------------------------


def villages(n: int = 1_200) -> pa.Table:
    """People in villages with long names: the set of all of them is longer than a cell of a workbook."""
    towns = [f"a-village-with-a-long-name, number {i:04}" for i in range(n)]
    return pa.table({"town": towns, "x": ["flu", "gout", "ulcer", "mumps"] * (n // 4)})


def in_large_groups(**more: object) -> object:
    made = gh.read(villages(), quasi=["town"], sensitive="x")
    return gh.publish(made, principle="1200-anonymity", recoding="boxes", **more)  # type: ignore[arg-type]


def test_a_cell_that_a_workbook_cannot_hold_is_found_before_anything_is_written(tmp_path: Path) -> None:
    from glasshouse.streaming.publish import publish_file

    out = tmp_path / "out"
    words = r"a cell of a workbook holds 32,767 characters, and column 'town' of the table 'data' has a longer text: "
    with pytest.raises(gh.OutputError, match=words + "choose format='csv' or format='parquet'. Nothing was written"):
        in_large_groups(out=out, format="xlsx")
    assert not out.exists()
    pq.write_table(villages(), tmp_path / "p.parquet")
    roles = {"quasi": ["town"], "sensitive": "x"}
    for engine in ("memory", "disk"):
        with pytest.raises(gh.OutputError, match=f"{words}.* Nothing was written"):
            publish_file(
                out,
                tmp_path / "p.parquet",
                principle="1200-anonymity",
                recoding="boxes",
                format="xlsx",
                engine=engine,
                **roles,  # type: ignore[arg-type]
            )
        assert not out.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["p.parquet"]


def test_a_workbook_is_published_in_the_format_that_the_error_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_workbook(tmp_path, {"people": villages()}, file="people.xlsx")
    words = ["publish", "people.xlsx", "--quasi", "town", "--sensitive", "x", "--k", "1200", "--recoding", "boxes"]
    words += ["--no-report", "--out", "out"]
    refused = CliRunner().invoke(glasshouse, words)
    assert refused.exit_code == 2
    assert "choose --format csv or --format parquet. Nothing was written" in " ".join(refused.stderr.split())
    assert not Path("out").exists()
    assert CliRunner().invoke(glasshouse, [*words, "--format", "csv"]).exit_code == 0
    assert CliRunner().invoke(glasshouse, ["verify", "out"]).exit_code == 0


def test_characters_are_counted_as_excel_counts_them(tmp_path: Path) -> None:
    write_workbook(tmp_path, {"data": pa.table({"a": ["x" * 32_767, "\N{GRINNING FACE}" * 16_383]})})
    with pytest.raises(gh.OutputError, match="32,767 characters"):
        write_workbook(tmp_path, {"data": pa.table({"a": ["\N{GRINNING FACE}" * 16_384]})})


@pytest.mark.parametrize(("format", "library"), [("xlsx", "openpyxl"), ("stata", "pyreadstat")])
def test_a_library_that_is_missing_is_named_before_anything_is_written(
    tmp_path: Path, format: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(gh.MissingExtra, match="formats"):
        publish(tmp_path / "out", format)
    assert not (tmp_path / "out").exists()


def test_a_copy_that_fails_later_leaves_a_whole_release_and_says_how_to_have_it_as_csv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    Path("temporary").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(openpyxl.Workbook, "save", broken)
        patch.setattr("tempfile.tempdir", "temporary")
        with pytest.raises(gh.OutputError) as refused:
            publish(Path("out"), "xlsx")
    (note,) = refused.value.__notes__
    assert note == (
        "the release in out/release is complete, and only the copy of it in out/xlsx is missing: do not publish the "
        "table again. To have the release as CSV files, run this in Python: "
        "gh.load('out/release').save('csv', format='csv')"
    )
    assert sorted(path.name for path in Path("out").iterdir()) == ["audit", "release"]
    assert not list(Path("temporary").iterdir())
    assert gh.verify("out").holds
    exec(note.rpartition(": ")[2], {"gh": gh})
    assert gh.verify("csv").holds
    assert gh.load("csv").recipe == gh.load("out/release").recipe


def test_tables_are_not_added_to_a_release_whose_copy_could_not_hold_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from glasshouse.journeys.marginals import publish_marginals

    out = tmp_path / "out"
    made = gh.read(table(), quasi=["age", "capital-gain", "born"], sensitive="x")
    gh.publish(made, principle="2-diversity", recoding="angel", out=out, format="xlsx")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    monkeypatch.setattr("glasshouse.release.copies.workbook._MOST_TEXT", 3)
    with pytest.raises(gh.OutputError, match=r"holds 3 characters.*: delete .*xlsx.* Nothing was written"):
        publish_marginals(out, made, marginals=[["age", "x"]])
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_a_changed_copy_is_noticed_and_an_old_one_is_not_left(tmp_path: Path) -> None:
    out = tmp_path / "out"
    publish(out, "xlsx")
    with pytest.raises(gh.OutputError, match="is a copy of the old release"):
        publish(out, "parquet", force=True)
    with pytest.warns(RepublicationWarning):
        publish(out, "xlsx", force=True)
    book = openpyxl.load_workbook(out / "xlsx" / "tables.xlsx")
    book[book.sheetnames[0]]["A2"] = 99
    book.save(out / "xlsx" / "tables.xlsx")
    with pytest.raises(gh.SourceError, match=r"tables\.xlsx was changed since Glasshouse wrote it"):
        gh.verify(out)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("format", ["xlsx", "stata"])
def test_a_folder_that_is_no_copy_is_refused_before_anything_is_written(
    tmp_path: Path, format: str, force: bool
) -> None:
    out = tmp_path / "out"
    (out / format).mkdir(parents=True)
    (out / format / "notes.txt").write_text("mine")
    with pytest.raises(gh.OutputError, match=format):
        publish(out, format, force=force)
    assert [path.name for path in out.rglob("*")] == [format, "notes.txt"]
    assert (out / format / "notes.txt").read_text() == "mine"


def test_the_command_writes_copies_from_memory_and_from_disk(tmp_path: Path) -> None:
    import pyarrow.csv as pa_csv

    pa_csv.write_csv(gh.synthetic.hospital_table(40, seed=1), tmp_path / "p.csv")
    for engine in ("memory", "disk"):
        out = tmp_path / engine
        words = ["publish", str(tmp_path / "p.csv"), "--quasi", "age,sex", "--sensitive", "disease", "--ell", "2"]
        words += ["--format", "xlsx", "--no-report", "--engine", engine, "--out", str(out)]
        made = CliRunner().invoke(glasshouse, words)
        assert made.exit_code == 0, made.output
        assert (out / "xlsx" / "tables.xlsx").is_file()
        assert CliRunner().invoke(glasshouse, ["verify", str(out)]).exit_code == 0


def test_flat_tables_and_the_archive_beside_a_release_are_checked(tmp_path: Path) -> None:
    out = tmp_path / "out"
    release = publish(out, "csv", zip=True)
    tables = [gh.sample(release)]
    write_flat(out / "flat", tables, release=out / "release", n_tuples=release.n_tuples)
    said = "\n".join(gh.verify(out).counting)
    assert f"the files in {out / 'flat'} have the checksums that its contents.json lists" in said
    assert "they were drawn from this release" in said
    assert f"{out / 'release.zip'} has the same release" in said

    table = (out / "flat" / "table.csv").read_bytes()
    (out / "flat" / "table.csv").write_bytes(table + b"\n")
    with pytest.raises(gh.SourceError, match=r"flat was changed .*\(table.csv was changed since"):
        gh.verify(out)
    (out / "flat" / "table.csv").write_bytes(table)
    archive = (out / "release.zip").read_bytes()
    (out / "release.zip").write_bytes(archive[:900])
    with pytest.raises(gh.SourceError, match=r"release.zip was changed .*cut short"):
        gh.verify(out)
    publish(tmp_path / "other", "csv", zip=True, title="another")
    (out / "release.zip").write_bytes((tmp_path / "other" / "release.zip").read_bytes())
    with pytest.raises(gh.SourceError, match=r"release.zip has another release than"):
        gh.verify(out)
    (out / "release.zip").write_bytes(archive)
    (out / "flat" / "contents.json").unlink()
    assert f"not checked: {out / 'flat'}, which has no contents.json that lists its files" in gh.verify(out).counting
