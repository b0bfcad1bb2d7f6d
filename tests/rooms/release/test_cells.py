# SPDX-License-Identifier: Apache-2.0
"""Texts of other people in what is written: no spreadsheet runs them, no page is led by them, and none is lost."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import duckdb
import frictionless
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.microdata.cautions import CAUTIONS
from glasshouse.release.package.readme import code, prose
from glasshouse.release.package.tables import guarded, guarded_name, unguarded, unguarded_name
from glasshouse.streaming.publish import publish_file

RUN = "=+-@\t\r\n"
FORMULAS = [
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-1+1",
    "@SUM(1)",
    "\tx",
    "\rx",
    "'=1",
    "''=1",
    " =1",
    "\uff1d1",
    "-",
    "-5",
    "'-5",
]
TEXTS = ["", "NA", "null", "NaN", "N/A", "'tis", "flu", None, "<script>alert(1)</script>", "[x](https://example.org)"]
VALUES: list[Any] = [*FORMULAS, *TEXTS, "a|b", '"', "a,b", "#N/A", "1e5"]
NAME = '=cmd|"x" <img src=x onerror=alert(1)> [y](https://example.org/z) `z`'
AGE = "@age"


def people(values: list[Any] = VALUES) -> dict[str, list[Any]]:
    return {
        AGE: [i % 7 - 5 for i in range(len(values))],
        "+city": [values[(i * 5) % len(values)] for i in range(len(values))],
        NAME: values,
    }


def read(source: Any = None) -> gh.Microdata:
    return gh.read(source or people(), quasi=[AGE, "+city"], sensitive=NAME, missing="category", accept=CAUTIONS)


def release() -> gh.Release:
    return gh.publish(read(), principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), method=gh.Anatomize())


def plain(tables: dict[str, pa.Table]) -> dict[str, dict[str, list[Any]]]:
    return {name: {c: table[c].to_pylist() for c in table.column_names} for name, table in tables.items()}


# ------------------------------------------------------------------------------------------------------ round trips


@given(st.text(alphabet=st.sampled_from([*RUN, "'", " ", "5", ".", "x", "=", "\uff0d", "é"]), max_size=6))
def test_a_guarded_text_comes_back_and_is_never_run(text: str) -> None:
    there = guarded(pa.chunked_array([[text]])).to_pylist()[0]

    assert unguarded(pa.chunked_array([[there]])).to_pylist() == [text]
    assert guarded_name(text) == there
    assert unguarded_name(there) == text
    number = re.fullmatch(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", there)
    assert number or there.lstrip(" ")[:1] not in [*RUN, "\uff0d"]


@given(st.text(max_size=4))
def test_what_a_file_has_for_a_text_is_had_by_no_other_text(text: str) -> None:
    assert unguarded_name(guarded_name(text)) == text


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_every_text_and_name_and_gap_comes_back_as_it_was(format: str, tmp_path: Path) -> None:
    made = release()
    made.save(tmp_path / "release", format=format)
    back = gh.load(tmp_path / "release")

    assert plain(dict(made.tables)) == plain(dict(back.tables))
    assert (made.recipe, made.columns) == (back.recipe, back.columns)
    assert gh.verify(tmp_path / "release").holds
    back.save(tmp_path / "again", format=format)
    assert (tmp_path / "again" / f"st.{format}").read_bytes() == (tmp_path / "release" / f"st.{format}").read_bytes()


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_so_does_what_the_engine_on_disk_writes(format: str, tmp_path: Path) -> None:
    pq.write_table(pa.table(people()), tmp_path / "people.parquet")
    publish_file(
        tmp_path / "out", tmp_path / "people.parquet", quasi=[AGE, "+city"], sensitive=NAME, format=format,
        principle=gh.LDiversity(ell=2), missing="category", accept=CAUTIONS, method="anatomize", recoding="anatomy",
    )  # fmt: skip
    back = gh.load(tmp_path / "out" / "release")

    assert sorted(map(repr, back.tables["st"][NAME].to_pylist())) == sorted(map(repr, VALUES))
    assert sorted(map(repr, back.tables["qit"]["+city"].to_pylist())) == sorted(map(repr, VALUES))
    assert frictionless.validate(str(tmp_path / "out" / "release" / "datapackage.json")).valid


def test_a_group_may_have_an_empty_text_and_a_missing_value_on_disk_too(tmp_path: Path) -> None:
    """Once these two were one in the recount of CSV files."""
    table = pa.table({"age": list(range(40)), "ill": ["", None] * 20})
    pq.write_table(table, tmp_path / "people.parquet")
    options: dict[str, Any] = {"principle": gh.LDiversity(ell=2), "missing": "category", "format": "csv"}
    roles: dict[str, Any] = {"quasi": ["age"], "sensitive": "ill", "accept": "missing-words"}
    publish_file(tmp_path / "out", tmp_path / "people.parquet", **roles, **options, recoding="anatomy")

    assert gh.load(tmp_path / "out" / "release").tables["st"]["ill"].to_pylist().count(None) == 20


# ------------------------------------------------------------------------------------------------------ spreadsheets


def cells_of(file: Path) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(file.read_bytes().decode(), newline="")) for cell in row]


def runs(cell: str) -> bool:
    number = re.fullmatch(r"[+-]?\d+(\.\d*)?", cell)
    return cell.lstrip(" ")[:1] in [*RUN, "\uff1d"] and cell != "" and not number


def test_no_cell_of_any_file_of_csv_is_a_formula(tmp_path: Path) -> None:
    gh.publish(read(), out=tmp_path / "out", principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), format="csv")
    table = pa.table({**people(), "=name": [f"=HYPERLINK({i})" for i in range(len(VALUES))]})
    pa_csv.write_csv(table.select(["=name", AGE, "+city"]), tmp_path / "known.csv")
    line = ["attack", str(tmp_path / "out" / "release"), "--external", str(tmp_path / "known.csv")]
    told = CliRunner().invoke(glasshouse, [*line, "--identifier", "=name", "--save", "--out", str(tmp_path / "b.csv")])
    assert told.exit_code == 0, told.output

    files = [tmp_path / "b.csv", *(tmp_path / "out").rglob("*.csv")]
    assert len(files) == 4
    for file in files:
        assert [cell for cell in cells_of(file) if runs(cell)] == []
    numbers = pa_csv.read_csv(tmp_path / "out" / "release" / "qit.csv")["'@age"]
    assert numbers.type == pa.int64()
    assert min(numbers.to_pylist()) == -5  # a number stays one


def test_no_cell_of_a_comparison_is_a_formula() -> None:
    table = gh.read({"age": list(range(40)), "=ill": ["=a", "b"] * 20}, quasi=["age"], sensitive="=ill")
    found = gh.compare(
        table, principle=gh.LDiversity(ell=2), methods=["hybrid"], recodings=["anatomy"], runs=1, processes=0
    )
    cells = [cell for row in csv.reader(io.StringIO(found.to_csv())) for cell in row]
    assert [cell for cell in cells if runs(cell)] == []


# ---------------------------------------------------------------------------------------------------- other readers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cells") / "release"
    release().save(place, format="csv")
    return place


def truth(column: str) -> list[Any]:
    """What a reader gets who is right: texts as the file has them, and None for what is missing."""
    table = release().tables["st" if column == NAME else "qit"]
    return [None if v is None else guarded_name(v) for v in sorted(table[column].to_pylist(), key=repr)]


def in_order(values: list[Any]) -> list[Any]:
    return sorted((None if v is None or v != v else unguarded_name(v) for v in values), key=repr)


def shown(values: list[Any]) -> list[Any]:
    return sorted((None if v is None else unguarded_name(v) for v in values), key=repr)


def test_frictionless_is_right_by_the_manifest(folder: Path) -> None:
    assert frictionless.validate(str(folder / "datapackage.json")).valid
    package = frictionless.Package(str(folder / "datapackage.json"))
    for name, column in (("st", NAME), ("qit", "+city")):
        rows = package.get_resource(name).read_rows()
        assert in_order([row[guarded_name(column)] for row in rows]) == shown(truth(column))


def test_pandas_is_right_with_the_options_that_the_readme_shows(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    calls = re.findall(r"pd\.read_csv\('(\w+)\.csv', (.*)\)\n", text)
    assert len(calls) == 2
    for name, options in calls:
        column = NAME if name == "st" else "+city"
        found = eval(f"pd.read_csv({str(folder / name)!r} + '.csv', {options})", {"pd": pd})
        assert in_order(list(found[guarded_name(column)])) == shown(truth(column))
    wrong = pd.read_csv(folder / "st.csv")
    assert wrong[guarded_name(NAME)].isna().sum() > 1  # as the README says of other options


def test_duckdb_is_right_with_the_options_that_the_readme_shows(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "read_csv('FILE', nullstr='', allow_quoted_nulls=false)" in text
    mark = json.loads((folder / "datapackage.json").read_text())["resources"][1]["schema"]["fields"][1]["missingValues"]
    assert mark == ["(missing)"]  # NA is a text here
    assert "'(missing)')" in text
    name = guarded_name(NAME).replace('"', '""')
    reader = f"read_csv('{folder / 'st.csv'}', nullstr='', allow_quoted_nulls=false)"
    found = duckdb.sql(f"SELECT NULLIF(\"{name}\", '(missing)') FROM {reader}").fetchall()
    assert in_order([value for (value,) in found]) == shown(truth(NAME))


def test_polars_is_right_as_the_readme_says(folder: Path) -> None:
    found = pl.read_csv(folder / "st.csv").to_series(1).to_list()
    assert in_order([None if value == "(missing)" else value for value in found]) == shown(truth(NAME))


def test_parquet_needs_no_option(tmp_path: Path) -> None:
    release().save(tmp_path / "release")
    file = tmp_path / "release" / "st.parquet"
    expected = sorted(map(repr, release().tables["st"][NAME].to_pylist()))
    for values in (
        pl.read_parquet(file)[NAME].to_list(),
        [row[1] for row in duckdb.sql(f"FROM '{file}'").fetchall()],
        [None if v is None or v != v else v for v in pd.read_parquet(file)[NAME].astype(object)],
    ):
        assert sorted(map(repr, values)) == expected


def test_a_column_without_empty_texts_has_empty_cells_for_what_is_missing(tmp_path: Path) -> None:
    table = gh.read({"age": [1, 2, 3, 4], "ill": ["a", None, "NA", None]}, quasi=["age"], sensitive="ill",
                    missing="category", accept="missing-words")  # fmt: skip
    gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy()).save(tmp_path / "release", format="csv")
    (field,) = (
        field
        for resource in json.loads((tmp_path / "release" / "datapackage.json").read_text())["resources"]
        for field in resource["schema"]["fields"]
        if field["name"] == "ill"
    )
    assert "missingValues" not in field
    assert '"NA"' in (tmp_path / "release" / "st.csv").read_text()
    assert gh.load(tmp_path / "release").tables["st"]["ill"].null_count >= 1


@pytest.mark.parametrize(
    "change",
    [
        {"missingValues": ["a", "b"]},
        {"missingValues": [""]},
        {"missingValues": "NA"},
        {"missingValues": [None]},
    ],
)
def test_a_manifest_with_other_words_for_missing_values_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    release().save(tmp_path / "release", format="csv")
    file = tmp_path / "release" / "datapackage.json"
    manifest = json.loads(file.read_text())
    manifest["resources"][1]["schema"]["fields"][1] |= change
    file.write_text(json.dumps(manifest))
    with pytest.raises(gh.SourceError):
        gh.load(tmp_path / "release")


def test_a_manifest_with_another_dialect_is_refused(tmp_path: Path) -> None:
    release().save(tmp_path / "release", format="csv")
    file = tmp_path / "release" / "datapackage.json"
    manifest = json.loads(file.read_text())
    manifest["resources"][0]["dialect"]["delimiter"] = ";"
    file.write_text(json.dumps(manifest))
    with pytest.raises(gh.SourceError, match="was not written by Glasshouse"):
        gh.load(tmp_path / "release")


# -------------------------------------------------------------------------------------------------------------- pages


MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


class Elements(html.parser.HTMLParser):
    """The elements and addresses of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.places: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.places |= {str(value) for name, value in attrs if name in ("href", "src")}


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_a_readme_leads_nowhere_and_holds_no_markup_of_others(format: str, tmp_path: Path) -> None:
    made = release()
    title = "<img src=x> [click](https://example.org/t) www.example.org # | `"
    made.save(tmp_path / "release", format=format, title=title, licence="https://example.org/licence")
    text = (tmp_path / "release" / "README.md").read_text(encoding="utf-8")
    page = MARKDOWN.render(text)
    found = Elements(page)

    assert found.tags.isdisjoint({"img", "script", "b", "iframe"})
    assert re.findall(r'href="([^"]*)"', page) == ["https://example.org/licence"]
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)|<https.*?>", "", text.replace("\\`", ""), flags=re.DOTALL)
    assert not re.search(r"https?://|www\.", outside)  # which some make a link of by themselves
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert {len(re.split(r"(?<!\\)\|", row)) for row in rows} == {6}  # four cells a row, whatever is in them


@pytest.mark.parametrize(
    "text", ["<b>x</b>", "[a](https://example.org)", "![a](x)", "a\nb", "*a* _b_ `c`", "&lt;", "\u202ex"]
)
def test_prose_and_code_are_shown_as_they_are(text: str) -> None:
    for written in (prose(text), code(text)):
        page = MARKDOWN.render(written)
        assert Elements(page).tags <= {"p", "code"}
        assert "\n" not in written
        assert "\u202e" not in written


def test_reports_comparisons_and_plots_hold_no_markup_of_others(tmp_path: Path) -> None:
    table = read()
    made = release()
    gh.make_report(made, table).write(tmp_path, release=tmp_path)
    page = Elements((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert page.tags.isdisjoint({"img", "script", "iframe"})
    assert all(place.startswith("#") for place in page.places)
    assert not {name for name in page.attributes if name.startswith("on")}

    found = gh.compare(
        table, principle=gh.LDiversity(ell=2), methods=["hybrid"], recodings=["anatomy"], runs=1, processes=0
    )
    page = Elements(found.to_html())
    assert page.tags.isdisjoint({"img", "script", "iframe"})
    assert all(place.startswith("#") for place in page.places)
    beliefs = gh.attack(made, gh.Linking(), knowledge=gh.Knowledge(external=table))
    for svg in (found.to_svg(), beliefs.plot()):
        assert {element.tag.split("}")[-1] for element in ET.fromstring(svg).iter()}.isdisjoint(
            {"script", "image", "a"}
        )
