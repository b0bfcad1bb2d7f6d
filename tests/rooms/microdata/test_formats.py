"""Files of other programs come in as the same table, whatever they are packed in."""

from __future__ import annotations

import gzip
import io
import sqlite3
import sys
import zipfile
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyarrow import csv, feather, orc

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.microdata.reading.sources import open_source

PEOPLE: dict[str, list[Any]] = {
    "age": [30, 41, 41, 56],
    "zip": ["01234", "01235", "20000", "20001"],
    "sex": ["f", "m", "f", None],
    "seen": [date(2024, 1, 2), date(2023, 5, 6), date(2023, 5, 6), date(1999, 12, 31)],
    "income": [1.5, 2.25, None, 4.0],
    "disease": ["flu", "gout", "flu", "ulcer"],
}


def stata(path: Path) -> None:
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame({**PEOPLE, "sex": [1.0, 2.0, 1.0, None]})
    pyreadstat.write_dta(frame, str(path), variable_value_labels={"sex": {1: "f", 2: "m"}})


def spss(path: Path) -> None:
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame({**PEOPLE, "sex": [1.0, 2.0, 1.0, 9.0]})
    labels = {"sex": {1: "f", 2: "m", 9: "not asked"}}
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels, missing_ranges={"sex": [9]})


def sas(path: Path) -> None:
    import pandas as pd
    import pyreadstat

    pyreadstat.write_xport(pd.DataFrame(PEOPLE), str(path), table_name="people")


def portable(path: Path) -> None:
    """A portable file, whose names are in capitals. The library writes it without labels: they are put in here."""
    import pandas as pd
    import pyreadstat

    pyreadstat.write_por(pd.DataFrame({**PEOPLE, "sex": [1.0, 2.0, 1.0, 9.0]}), str(path))
    content = path.read_bytes().replace(b"\r\n", b"").rstrip(b"Z") + b"Z"
    sex, first_row = b"70/3/SEX5/8/2/5/8/2/", b"F10/"
    assert content.count(sex) == content.count(first_row) == 1
    content = content.replace(sex, sex + b"89/")  # a 9 is missing
    content = content.replace(first_row, b"D1/3/SEX3/1/1/f2/1/m9/9/not asked" + first_row)
    content += b"Z" * (-len(content) % 80)
    path.write_bytes(b"".join(content[i : i + 80] + b"\r\n" for i in range(0, len(content), 80)))


def workbook(path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append([*PEOPLE])
    for row in zip(*PEOPLE.values(), strict=True):
        sheet.append(row)
    book.save(path)


def sqlite(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE people ({', '.join(PEOPLE)})")
    rows = [tuple(str(v) if isinstance(v, date) else v for v in row) for row in zip(*PEOPLE.values(), strict=True)]
    connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(PEOPLE))})", rows)
    connection.commit()
    connection.close()


def duckdb(path: Path) -> None:
    import duckdb as library

    with library.connect(str(path)) as connection:
        table = pa.table(PEOPLE)
        connection.register("given", table)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")


WRITERS = {
    "people.parquet": lambda path: pq.write_table(pa.table(PEOPLE), path),
    "people.feather": lambda path: feather.write_feather(pa.table(PEOPLE), str(path)),
    "people.orc": lambda path: orc.write_table(pa.table(PEOPLE), str(path)),
    "people.csv": lambda path: csv.write_csv(pa.table(PEOPLE), path),
    "people.dta": stata,
    "people.sav": spss,
    "people.xpt": sas,
    "people.xlsx": workbook,
    "people.db": sqlite,
    "people.duckdb": duckdb,
}


def content(path: Any, **options: Any) -> dict[str, list[Any]]:
    """The table by rows, dates as texts where a database keeps them so."""
    found = open_source(path, **options).table.to_pydict()
    return {name: [str(v) if isinstance(v, date) else v for v in values] for name, values in found.items()}


EXPECTED = {name: [str(v) if isinstance(v, date) else v for v in values] for name, values in PEOPLE.items()}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("packing", ["plain", "gz", "zip"])
def test_every_format_gives_the_same_table(tmp_path: Path, name: str, packing: str) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    if packing == "gz":
        path = tmp_path / f"{name}.gz"
        path.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    if packing == "zip":
        path = tmp_path / "people.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(tmp_path / name, name)
            archive.writestr("__MACOSX/._people", b"beside")
    assert content(path) == EXPECTED


@pytest.mark.parametrize("name", ["people.csv", "people.parquet", "people.sav"])
def test_standard_input_is_a_file_too(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    WRITERS[name](tmp_path / name)

    class Piped:
        buffer = io.BytesIO((tmp_path / name).read_bytes())

        @staticmethod
        def isatty() -> bool:
            return False

    monkeypatch.setattr(sys, "stdin", Piped())
    assert content("-") == EXPECTED


def test_nothing_from_a_terminal_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(gh.SourceError, match="nothing comes from standard input"):
        open_source("-")


def test_the_command_reads_standard_input(tmp_path: Path) -> None:
    given = "age,disease\n" + "".join(f"{20 + i % 7},{'abcd'[i % 4]}\n" for i in range(40))
    asked = ["publish", "-", "--quasi", "age", "--sensitive", "disease", "--ell", "2", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(glasshouse, [*asked, "--report", "none"], input=given)
    assert result.exit_code == 0, result.output
    assert gh.load(tmp_path / "out" / "release").n_tuples == 40


def test_only_what_is_asked_for_is_read(tmp_path: Path) -> None:
    for name, write in WRITERS.items():
        write(tmp_path / name)
        opened = open_source(tmp_path / name, columns=["zip"])
        assert opened.table.column_names == ["zip"], name
        assert opened.columns == tuple(PEOPLE), name


def capitals(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name.upper(): values for name, values in table.items()}


def test_a_portable_file_of_spss_is_read_with_its_labels(tmp_path: Path) -> None:
    path = tmp_path / "people.por"
    portable(path)
    assert content(path) == capitals(EXPECTED)
    opened = open_source(path, columns=["ZIP"])
    assert opened.table.to_pydict() == {"ZIP": PEOPLE["zip"]}
    assert opened.columns == tuple(capitals(PEOPLE))
    (tmp_path / "people.por.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert content(tmp_path / "people.por.gz") == capitals(EXPECTED)
    with zipfile.ZipFile(tmp_path / "people.zip", "w") as archive:
        archive.write(path, "people.por")
    assert content(tmp_path / "people.zip") == capitals(EXPECTED)


def test_a_portable_file_is_told_by_its_header_however_its_lines_end(tmp_path: Path) -> None:
    portable(tmp_path / "people.por")
    lines = (tmp_path / "people.por").read_bytes().splitlines()
    for name, end in (("unix", b"\n"), ("old", b"\r"), ("none", b"")):
        (tmp_path / name).write_bytes(end.join(lines))
        assert content(tmp_path / name) == capitals(EXPECTED), name
    (tmp_path / "trimmed").write_bytes(b"\n".join(line.rstrip(b" ") for line in lines))  # as some editors save it
    assert content(tmp_path / "trimmed") == capitals(EXPECTED)


def test_a_damaged_portable_file_is_refused_by_its_name(tmp_path: Path) -> None:
    portable(tmp_path / "people.por")
    whole = (tmp_path / "people.por").read_bytes()
    for length in (490, len(whole) * 2 // 3, len(whole) - 100):
        (tmp_path / "half.por").write_bytes(whole[:length])
        with pytest.raises(gh.SourceError, match=r"half\.por cannot be read: this SPSS portable file is damaged"):
            open_source(tmp_path / "half.por")


@pytest.mark.parametrize("format", ["dta", "sav", "por", "xport"])
def test_whole_numbers_stay_whole_where_some_are_missing(tmp_path: Path, format: str) -> None:
    import pandas as pd
    import pyreadstat

    path = tmp_path / "ages"
    getattr(pyreadstat, f"write_{format}")(pd.DataFrame({"AGE": [30.0, None, 56.0], "KG": [70.5, None, 80]}), str(path))
    table = open_source(path).table
    assert table.to_pydict() == {"AGE": [30, None, 56], "KG": [70.5, None, 80.0]}
    assert table.schema.types == [pa.int64(), pa.float64()]


def test_labels_that_not_all_values_have_are_not_used_and_it_is_said(tmp_path: Path) -> None:
    import pandas as pd
    import pyreadstat

    path = tmp_path / "ages.sav"
    pyreadstat.write_sav(
        pd.DataFrame({"age": [20.0, 30.0, 98.0]}), str(path), variable_value_labels={"age": {98: "refused"}}
    )
    opened = open_source(path)
    assert opened.table.to_pydict() == {"age": [20, 30, 98]}
    assert any("2 of its values have no label" in notice for notice in opened.notices)


def test_sheets_and_tables_are_named(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "first"
    book.active.append(["age"])
    book.active.append([1])
    second = book.create_sheet("second")
    second.append(["age", None])
    second.append([2, None])
    second.append([None, None])
    book.save(tmp_path / "two.xlsx")
    with pytest.raises(gh.InputError, match="2 sheets, first, second: name one"):
        open_source(tmp_path / "two.xlsx")
    assert content(tmp_path / "two.xlsx", table="second") == {"age": [2]}
    with pytest.raises(gh.InputError, match="no sheet 'third': it has first, second"):
        open_source(tmp_path / "two.xlsx", table="third")
    sqlite(tmp_path / "people.db")
    assert content(tmp_path / "people.db", query="SELECT age FROM people WHERE age > 50") == {"age": [56]}
    with pytest.raises(gh.InputError, match="no table 'persons'"):
        open_source(tmp_path / "people.db", table="persons")
    with pytest.raises(gh.SourceError, match="the query failed"):
        open_source(tmp_path / "people.db", query="DELETE FROM people")
    assert len(content(tmp_path / "people.db")["age"]) == 4
    csv.write_csv(pa.table(PEOPLE), tmp_path / "people.csv")
    with pytest.raises(gh.InputError, match="table is only for a database or a workbook"):
        open_source(tmp_path / "people.csv", table="people")


@pytest.mark.parametrize("chosen", [{}, {"query": "SELECT born, seen, told, some, word FROM people"}])
def test_declared_dates_and_times_of_sqlite_are_read_as_such_where_all_texts_are(
    tmp_path: Path, chosen: dict[str, str]
) -> None:
    with closing(sqlite3.connect(tmp_path / "people.db")) as connection:
        connection.execute("CREATE TABLE people (born DATE, seen datetime(0), told TIMESTAMP, some DATE, word TEXT)")
        rows = [
            ("2020-01-05", "2020-01-05 10:30:00", "2020-01-05T10:30:00+02:00", "2020-01-05", "2020-01-05"),
            (None, "2020-01-06 11:00:00", "2020-01-06T10:30:00+02:00", "spring 2020", "2020-01-06"),
        ]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
        connection.commit()

    found = open_source(tmp_path / "people.db", **chosen).table
    assert found["born"].to_pylist() == [date(2020, 1, 5), None]
    kinds = [pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.string(), pa.string()]
    assert found.schema.types == kinds
    assert found["some"].to_pylist() == ["2020-01-05", "spring 2020"]


def test_errors_of_a_spreadsheet_are_missing_and_said(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["age", "sex"])
    book.active.append([30, "#N/A"])
    book.active.append([31, "f"])
    book.save(tmp_path / "errors.xlsx")
    opened = open_source(tmp_path / "errors.xlsx")
    assert opened.table.to_pydict() == {"age": [30, 31], "sex": [None, "f"]}
    assert opened.notices == ("cells that show an error of the spreadsheet, which count as missing: 1",)


def sheet_of(path: Path, *rows: list[Any]) -> Path:
    import openpyxl

    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_a_column_of_a_sheet_with_values_and_no_name_is_refused(tmp_path: Path) -> None:
    path = sheet_of(tmp_path / "a.xlsx", ["age", "sex", None], [30, "f", None], [31, "m", "seen twice"])
    with pytest.raises(gh.SchemaError, match=r"row 3 of .*a.xlsx has a value in column C, .*: give the column a name"):
        open_source(path)
    assert content(sheet_of(tmp_path / "b.xlsx", ["age", None], [30, ""])) == {"age": [30]}


@pytest.mark.parametrize("title", ["Staff, 31 December", None])
def test_a_title_above_the_names_of_a_sheet_is_told(tmp_path: Path, title: str | None) -> None:
    path = sheet_of(tmp_path / "a.xlsx", [title], [None], ["age", "sex"], [30, "f"])
    with pytest.raises(gh.SchemaError, match=r"row 3 .*column [AB], .*: delete the rows above the names"):
        open_source(path)


def test_an_empty_sheet_has_no_columns(tmp_path: Path) -> None:
    with pytest.raises(gh.SchemaError, match="has no columns"):
        open_source(sheet_of(tmp_path / "a.xlsx", [None], [None]))


def test_the_first_row_of_a_sheet_with_another_type_is_named(tmp_path: Path) -> None:
    path = sheet_of(tmp_path / "a.xlsx", ["age", "sex"], [30, "f"], [None, "m"], [31.5, "f"], ["Total", "f"])
    with pytest.raises(gh.DomainError, match=r"row 5 of .*a.xlsx has a text, .* is a number\. If this row has totals"):
        open_source(path)
    assert content(path, columns=["sex"]) == {"sex": ["f", "m", "f", "f"]}


def test_rows_of_a_sheet_that_are_empty_in_every_column_are_nobody(tmp_path: Path) -> None:
    path = sheet_of(tmp_path / "a.xlsx", ["age", "sex"], [30, "f"], [None, None], ["", ""], [None, "m"], ["", None])
    opened = open_source(path)
    assert opened.table.to_pydict() == {"age": [30, None], "sex": ["f", "m"]}
    assert opened.notices == ("2 rows of a.xlsx are empty in every column and are left out",)


def test_merged_cells_of_a_sheet_are_told_from_empty_ones(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in [["age", "ward", "note"], [30, "A"], [31, None], [32, "B"], [33, None, "x"], [None, None, "Seen"]]:
        book.active.append(row)
    for cells in ("B2:B3", "B4:B5"):
        book.active.merge_cells(cells)
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(gh.DomainError, match=r"has merged cells \(B2:B3, B4:B5\), .*: unmerge them"):
        open_source(tmp_path / "a.xlsx")
    assert content(tmp_path / "a.xlsx", columns=["age"]) == {"age": [30, 31, 32, 33, None]}


def test_formulas_that_no_program_has_computed_are_told_from_empty_cells(tmp_path: Path) -> None:
    path = sheet_of(tmp_path / "a.xlsx", ["age", "sex"], [30, "f"], ["=A2+1", "m"])
    with pytest.raises(gh.DomainError, match=r"'age' of .* has formulas without results, first in A3: open the workb"):
        open_source(path)
    assert content(path, columns=["sex"]) == {"sex": ["f", "m"]}


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "people.csv"])
def test_damaged_files_are_refused_by_their_name(tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(gh.SourceError, match=name.replace(".", r"\.")):
        open_source(tmp_path / name)


def test_archives_with_several_files_and_bombs_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", "age\n1\n")
        archive.writestr("b.csv", "age\n1\n")
    with pytest.raises(gh.SourceError, match="with 2 files"):
        open_source(tmp_path / "two.zip")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"age\n" + b"1\n" * (300 << 20))
    with pytest.raises(gh.SourceError, match="when unpacked"):
        open_source(tmp_path / "bomb.zip")
    with zipfile.ZipFile(tmp_path / "damaged.zip", "w") as archive:
        archive.writestr("a.parquet", b"PAR1 and nothing else")
    with pytest.raises(gh.SourceError, match=r"damaged\.zip \(a\.parquet\) cannot be read"):
        open_source(tmp_path / "damaged.zip")


def test_nothing_of_a_packed_file_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import tempfile

    path = tmp_path / "people.zip"
    spss(tmp_path / "people.sav")
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(tmp_path / "people.sav", "people.sav")
    assert content(path) == EXPECTED
    monkeypatch.delattr(os, "memfd_create", raising=False)  # as on other systems
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert content(path) == EXPECTED
    assert not list(folder.iterdir())


@pytest.mark.parametrize("name", ["people.jsonl", "people.csv"])
def test_a_file_in_an_archive_is_a_table_only_if_its_name_says_so(tmp_path: Path, name: str) -> None:
    path = tmp_path / "people.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, "age,ill\n30,flu\n31,gout\n")
    if name.endswith(".csv"):
        assert gh.read(path, quasi=["age"], sensitive="ill").n_tuples == 2
        return
    with pytest.raises(gh.SourceError, match=r"people.zip \(people.jsonl\) is JSON"):
        gh.read(path, quasi=["age"], sensitive="ill")


def test_labels_of_columns_say_what_a_column_means_whose_name_does_not(tmp_path: Path) -> None:
    import pandas as pd
    import pyreadstat

    n = 60
    given = {
        "v1": ("Respondent", [100.0 + i for i in range(n)]),
        "v2": ("Gewichtungsfaktor", [0.5 + i / 60 for i in range(n)]),
        "v3": ("HIV diagnosis", [float(i % 3) for i in range(n)]),
        "v4": ("Do you have the address of a doctor?", [float(i % 2) for i in range(n)]),
        "age": ("Diagnosis", [20.0 + i % 9 for i in range(n)]),
    }
    frame = pd.DataFrame({name: values for name, (_, values) in given.items()})
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"), column_labels=[label for label, _ in given.values()])
    report = gh.inspect(tmp_path / "a.sav")

    roles = {column.name: column.role for column in report.columns}
    assert roles == {"v1": "identifier", "v2": "leave out", "v3": "sensitive", "v4": "quasi", "age": "quasi"}
    assert any("v2 may be a survey weight" in notice for notice in report.notices)


@pytest.mark.parametrize(
    ("name", "low", "is_weight"), [("Gewicht", 0.5, True), ("Gewicht", 40.0, False), ("Körpergewicht", 0.5, False)]
)
def test_a_german_weight_is_of_a_survey_where_its_mean_is_about_one(name: str, low: float, is_weight: bool) -> None:
    report = gh.inspect({name: [low + i / 60 for i in range(60)], "age": [*range(20, 50)] * 2})
    assert any("survey weight" in notice for notice in report.notices) is is_weight
