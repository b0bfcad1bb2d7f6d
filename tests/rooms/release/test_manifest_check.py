"""Everything that a manifest says of a table is checked: what is not so is refused, wherever it stands."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.release.package.stream import open_release

Entry = dict[str, Any]
JOBS = ["nurse", "clerk", "cook", "smith", "guard", "tutor"]
PEOPLE = {
    "name": [f"p{i}" for i in range(60)],
    "age": [20 + i * 7 % 40 for i in range(60)],
    "educ": [["low", "mid", "high"][i % 3] for i in range(60)],
    "job": [JOBS[i % 6] for i in range(60)],
}


@pytest.fixture(scope="module")
def made() -> gh.Release:
    table = gh.read(PEOPLE, identifier="name", quasi=["age", "educ"], sensitive="job")
    return gh.publish(table, principle=gh.LDiversity(ell=3), recoding=gh.Anatomy())


def table_of(manifest: Entry, name: str) -> Entry:
    return next(entry for entry in manifest["resources"] if entry["name"] == name)


def job(manifest: Entry) -> Entry:
    return next(field for field in table_of(manifest, "st")["schema"]["fields"] if field["name"] == "job")


LIES: dict[str, Callable[[Entry], Any]] = {
    "description": lambda m: job(m).update(description="random noise: no fact about anybody"),
    "a category more": lambda m: job(m)["categories"].append("zoologist"),
    "a category less": lambda m: job(m)["categories"].remove("cook"),
    "categories reversed": lambda m: job(m)["categories"].reverse(),
    "no categories": lambda m: job(m).pop("categories"),
    "categories of anything": lambda m: job(m).update(categories=[{}, 7, ["nurse"]]),
    "ordered": lambda m: job(m).update(categoriesOrdered=True),
    "some missing": lambda m: job(m).pop("constraints"),
    "role": lambda m: job(m)["glasshouse"].update(role="added"),
    "kind": lambda m: job(m)["glasshouse"].update(kind="integer"),
    "interval": lambda m: job(m)["glasshouse"].update(interval={"ends": "integer"}),
    "no role": lambda m: job(m).update(glasshouse=[]),
    "a key of a column": lambda m: job(m).update(example="nurse"),
    "missing values of a table": lambda m: table_of(m, "st")["schema"].update(missingValues=["", "nurse"]),
    "missing values of a column": lambda m: job(m).update(missingValues=["nurse"]),
    "true for 1": lambda m: table_of(m, "st")["schema"]["fields"][0]["constraints"].update(minimum=True),
    "a key of a table": lambda m: table_of(m, "st").update(description="made up"),
    "a key of glasshouse": lambda m: m["glasshouse"].update(note="approved by the authority"),
    "contributors": lambda m: m.update(contributors=[{"title": "The authority", "role": "author"}]),
    "homepage": lambda m: m.update(homepage="https://example.org"),
    "licence": lambda m: m.update(licenses=[{"name": "CC0-1.0", "title": "anything goes"}]),
    "name": lambda m: m.update(name="something-else"),
}
OTHERS_TOO = (
    "a category less", "role", "kind", "no role", "missing values of a table", "missing values of a column",
)  # fmt: skip
"""What is refused of any version's manifest."""


def lied(folder: Path, to: Path, lie: Callable[[Entry], Any]) -> Path:
    shutil.copytree(folder, to)
    manifest = json.loads((to / "datapackage.json").read_text("utf-8"))
    lie(manifest)
    (to / "datapackage.json").write_text(json.dumps(manifest), "utf-8")
    return to


@pytest.mark.parametrize("form", ["csv", "parquet", "parts"])
@pytest.mark.parametrize("lie", LIES)
def test_what_is_not_so_is_refused(lie: str, form: str, made: gh.Release, tmp_path: Path) -> None:
    release = replace(made, borders={"st": [7, 20]}) if form == "parts" else made
    release.save(tmp_path / "true", format="parquet" if form == "parquet" else "csv", licence="CC-BY-4.0")
    assert gh.verify(tmp_path / "true").holds

    folder = lied(tmp_path / "true", tmp_path / "false", LIES[lie])
    for check in (gh.load, gh.verify):
        with pytest.raises(gh.SourceError, match=r"does not match|does not have exactly|another word|cannot be read"):
            check(folder)


@pytest.mark.parametrize("form", ["csv", "parquet", "parts"])
@pytest.mark.parametrize("lie", LIES)
def test_of_another_version_facts_are_checked_and_words_are_not(
    lie: str, form: str, made: gh.Release, tmp_path: Path
) -> None:
    release = replace(made, borders={"st": [7, 20]}) if form == "parts" else made
    release.save(tmp_path / "true", format="parquet" if form == "parquet" else "csv")

    def both(manifest: Entry) -> None:
        manifest["glasshouse"]["software"] = "glasshouse 0.3.9"
        LIES[lie](manifest)

    folder = lied(tmp_path / "true", tmp_path / "false", both)
    if lie in OTHERS_TOO:
        with pytest.raises(gh.SourceError):
            gh.verify(folder)
    elif lie not in ("licence", "categories of anything"):
        assert gh.verify(folder).holds


def test_a_word_for_missing_values_that_no_column_needs_is_refused(tmp_path: Path) -> None:
    """In a file with missing and with empty texts the word is none of its texts, and stands for the missing ones."""
    ill = ["flu", "", None, "gout", "ulcer", "cold"] * 10
    table = gh.read(
        {"age": list(range(60)), "ill": ill}, quasi=["age"], sensitive="ill", missing="category",
        accept=["missing-words"],
    )  # fmt: skip
    gh.publish(table, principle=gh.LDiversity(ell=3), recoding=gh.Anatomy()).save(tmp_path / "true", format="csv")
    assert gh.verify(tmp_path / "true").holds

    def flu(manifest: Entry) -> None:
        field = next(f for f in table_of(manifest, "st")["schema"]["fields"] if f["name"] == "ill")
        assert field["missingValues"] == ["NA"]
        field["missingValues"] = ["flu"]

    with pytest.raises(gh.SourceError):
        gh.load(lied(tmp_path / "true", tmp_path / "false", flu))


def test_a_stream_that_reads_no_cell_checks_what_needs_none(made: gh.Release, tmp_path: Path) -> None:
    made.save(tmp_path / "true")
    for lie, refused in {"description": True, "contributors": True, "ordered": True, "a category more": False}.items():
        with open_release(lied(tmp_path / "true", tmp_path / lie, LIES[lie])) as opened:
            if refused:
                with pytest.raises(gh.SourceError, match="does not"):
                    opened.described()
            else:
                opened.described()
                with pytest.raises(gh.SourceError, match="the column 'job' of the table 'st'"):
                    opened.check_cells()


def test_names_and_texts_that_spreadsheets_would_run_are_compared_as_they_stand_in_the_file(tmp_path: Path) -> None:
    people = {"=age": list(range(60)), "ill": ["=1+1", "'=2", "-5", "@x", "plain", ""] * 10}
    table = gh.read(people, quasi=["=age"], sensitive="ill", missing="category", accept=["missing-words"])
    for format in ("csv", "parquet"):
        release = gh.publish(table, principle=gh.LDiversity(ell=3))
        release.save(tmp_path / format, format=format)
        assert gh.verify(tmp_path / format).holds
