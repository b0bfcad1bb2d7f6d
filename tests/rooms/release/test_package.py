"""The folder of a release: a data package that the standard's own validator accepts, with a README that works."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import duckdb
import frictionless
import pytest
from click.testing import CliRunner

import glasshouse as gh
from tests.rooms.release.kinds import ALL, COLUMNS, DISEASES, of_kind, plain, table, write

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


FENCED = re.compile(r"^(`{3,})(\w+)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)


def without_code(text: str) -> str:
    return FENCED.sub("", text)


def manifest_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", ALL)
def test_the_validator_of_the_standard_accepts_every_kind_of_release(kind: str, format: str, tmp_path: Path) -> None:
    folder = write(kind, tmp_path, format)

    report = frictionless.validate(str(folder / "datapackage.json"))

    assert report.flatten(["type", "fieldName", "note"]) == []
    assert report.valid
    assert report.stats["tasks"] == len(gh.load(folder).tables)


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_the_validator_reads_the_tables_and_would_notice_another_type(format: str, tmp_path: Path) -> None:
    folder = write("anatomy", tmp_path, format)
    manifest = manifest_of(folder)
    fields = manifest["resources"][0]["schema"]["fields"]
    next(field for field in fields if field["name"] == "city")["type"] = "integer"
    (folder / "datapackage.json").write_text(json.dumps(manifest))

    assert not frictionless.validate(str(folder / "datapackage.json")).valid


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", ALL)
def test_every_kind_of_release_comes_back_as_it_was(kind: str, format: str, tmp_path: Path) -> None:
    folder = write(kind, tmp_path, format)
    back = gh.load(folder)

    if kind != "disk":
        made = of_kind(kind)
        assert plain(made.tables) == plain(back.tables)
        assert (made.recipe, made.guarantee, made.columns) == (back.recipe, back.guarantee, back.columns)
        assert (made.n_tuples, made.n_dropped) == (back.n_tuples, back.n_dropped)
    assert max(t.num_rows for t in back.tables.values()) <= back.n_tuples


def test_the_manifest_is_of_version_two_and_lists_every_file_with_its_size_and_sum(tmp_path: Path) -> None:
    folder = write("angel", tmp_path, "parquet")
    manifest = manifest_of(folder)

    listed = {file["path"]: (file["bytes"], file["hash"]) for file in manifest["glasshouse"]["files"]}
    found = {
        path.name: (path.stat().st_size, f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}")
        for path in folder.iterdir()
        if path.name != "datapackage.json"
    }
    assert found == listed
    assert manifest["$schema"] == "https://datapackage.org/profiles/2.0/datapackage.json"
    assert {resource["hash"] for resource in manifest["resources"]} < {digest for _, digest in listed.values()}
    assert manifest["glasshouse"]["format_version"] == 3
    assert manifest["glasshouse"].keys() >= {"recipe", "guarantee", "columns", "software"}
    assert manifest["glasshouse"]["guarantee"]["adversary"] == "algorithm-aware"


def test_a_column_of_few_values_lists_them_and_one_of_many_does_not(tmp_path: Path) -> None:
    people = {
        "code": [f"c{i:03}" for i in range(200)],
        "sex": ["F" if i % 2 else "M" for i in range(200)],
        "grade": [["low", "middle", "high"][i % 3] for i in range(200)],
    }
    order = {"grade": ["low", "middle", "high", "highest"]}
    release = gh.publish(
        gh.read(people, quasi=["code", "sex"], sensitive="grade", ordered=order),
        principle=gh.LDiversity(ell=2),
        recoding=gh.Anatomy(),
    )
    release.save(tmp_path / "release")
    fields = {
        field["name"]: field
        for resource in manifest_of(tmp_path / "release")["resources"]
        for field in resource["schema"]["fields"]
    }

    assert fields["sex"]["categories"] == ["F", "M"]
    assert fields["grade"]["categories"] == ["low", "middle", "high"]  # in their order, and none that nobody has
    assert fields["grade"]["categoriesOrdered"] is True
    assert "categories" not in fields["code"]
    assert fields["sex"]["constraints"] == {"required": True}
    assert fields["Count"]["constraints"] == {"required": True, "minimum": 1}


def test_cells_tell_their_shape_and_the_unit_of_their_ends(tmp_path: Path) -> None:
    folder = write("boxes", tmp_path, "csv")
    fields = {field["name"]: field for field in manifest_of(folder)["resources"][0]["schema"]["fields"]}

    assert fields["joined"]["glasshouse"]["interval"] == {"ends": "date", "unit": "day", "both_ends_included": True}
    assert fields["age"]["glasshouse"]["interval"]["unit"] == "1"
    assert "interval" not in fields["city"]["glasshouse"]
    assert "both ends included" in fields["age"]["description"]


def test_a_missing_value_is_no_category_and_allows_gaps(tmp_path: Path) -> None:
    folder = write("boxes", tmp_path, "csv")
    disease = next(f for f in manifest_of(folder)["resources"][0]["schema"]["fields"] if f["name"] == "disease")

    assert set(disease["categories"]) == {value for value in DISEASES if value is not None}
    assert "constraints" not in disease


@pytest.mark.parametrize(
    ("licence", "listed"),
    [
        ("CC-BY-4.0", {"name": "CC-BY-4.0"}),
        ("https://example.org/terms", {"path": "https://example.org/terms"}),
    ],
)
def test_title_and_licence_go_out_and_come_back(licence: str, listed: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    gh.publish(table(), out=out, principle=gh.LDiversity(ell=2), title="Patients of a year", licence=licence)
    manifest = manifest_of(out / "release")
    loaded = gh.load(out / "release")

    assert (manifest["title"], manifest["licenses"]) == ("Patients of a year", [listed])
    assert (loaded.title, loaded.licence) == ("Patients of a year", licence)
    assert "# Patients of a year\n" in (out / "release" / "README.md").read_text()
    loaded.save(tmp_path / "copy", licence="")
    assert "licenses" not in manifest_of(tmp_path / "copy")
    assert gh.load(tmp_path / "copy").title == "Patients of a year"


def test_a_licence_that_a_package_cannot_name_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(gh.ParameterError, match="an identifier such as"):
        of_kind("boxes").save(tmp_path / "release", licence="for friends only")
    assert [] == list(tmp_path.iterdir())


# ------------------------------------------------------------------------------------------------------ the README


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", ALL)
def test_every_example_of_the_readme_runs(
    kind: str, format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from glasshouse.cli.commands import glasshouse

    folder = write(kind, tmp_path, format)
    monkeypatch.chdir(folder)
    blocks = dict(BLOCK.findall((folder / "README.md").read_text(encoding="utf-8")))
    release = gh.load(folder)

    assert list(blocks) == ["sh", "sql", "python"]
    people = duckdb.sql(blocks["sql"]).fetchall()
    assert pytest.approx(release.n_tuples) == sum(row[-1] for row in people)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(blocks["python"], "README.md", "exec"), {})
    assert printed.getvalue()
    # a taxonomy is no part of a release: the analyst must bring it along
    if kind != "taxonomies":
        result = CliRunner().invoke(glasshouse, shlex.split(blocks["sh"])[1:])
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("kind", ALL)
def test_the_readme_tells_columns_promise_and_limits(kind: str, tmp_path: Path) -> None:
    folder = write(kind, tmp_path, "csv")
    release = gh.load(folder)
    text = (folder / "README.md").read_text(encoding="utf-8")
    words = " ".join(re.sub(r"\\(?=[^\w\s])", "", text).split())  # without what keeps words from being markup

    def told(text: str) -> bool:
        return " ".join(text.split()) in words

    assert told(release.guarantee.promise[1:])
    assert told(release.guarantee.adversary_knows)
    assert all(told(text[1:]) for text in (*release.guarantee.assumptions, *release.guarantee.limits))
    for name, published in release.tables.items():
        assert told(f"### `{name}.csv`")
        assert all(told(f"| `{column}` |") for column in published.column_names)


def test_the_readme_says_that_a_seeded_release_is_for_tests(tmp_path: Path) -> None:
    release = gh.publish(table(), principle=gh.LDiversity(ell=2), source=gh.Source.seeded(1))
    release.save(tmp_path / "release", allow_seed=True)

    assert "made with a fixed seed" in (tmp_path / "release" / "README.md").read_text()


def test_names_with_odd_characters_do_not_break_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = 'x|"y" ```\n# z'
    columns = {odd: COLUMNS["age"], "it's": COLUMNS["disease"]}
    people = gh.read(columns, quasi=[odd], sensitive="it's", missing="category", accept=["missing-words"])
    gh.publish(people, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy()).save(tmp_path / "release")
    text = (tmp_path / "release" / "README.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path / "release")

    assert [text[: text.index("\n")]] == [line for line in without_code(text).splitlines() if line.startswith("# ")]
    (code,) = (code for _, language, code in FENCED.findall(text) if language == "python")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "README.md", "exec"), {})
