# SPDX-License-Identifier: Apache-2.0
"""An answer goes to CSV, JSON and Arrow, and comes back as it was."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.release.package.tables import unguarded, unguarded_name

CASE = "SELECT CASE WHEN age < 3 THEN '=1+1' WHEN age < 5 THEN '-a' ELSE 'plain' END AS \"@band\", COUNT(*) AS n, "


@pytest.fixture(scope="module")
def release() -> gh.Release:
    table = pa.table({"age": [1, 2, 3, 4, 5, 6] * 4, "x": ["a", "b", "c"] * 8})
    return gh.publish(gh.read(table, quasi=["age"], sensitive="x"), principle="2-diversity", recoding="anatomy")


SQL = CASE + "AVG(age) AS mean WHERE x = 'a' GROUP BY \"@band\" ORDER BY mean"


def test_csv_comes_back_and_runs_no_formula(release: gh.Release, tmp_path: Path) -> None:
    answer = gh.query(release, SQL)
    answer.save(tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text()
    assert text == answer.to_csv()
    assert text.startswith('"\'@band"')
    assert '"\'=1+1"' in text
    assert '"\'-a"' in text
    read = pa_csv.read_csv(tmp_path / "a.csv")
    columns = [unguarded(own) if pa.types.is_string(own.type) else own for own in read.columns]
    back = pa.table(columns, names=[unguarded_name(name) for name in read.column_names])
    expected = answer.to_table()
    assert back.column_names == expected.column_names
    for name in back.column_names:
        assert back[name].to_pylist() == pytest.approx(expected[name].to_pylist()) or (
            back[name].to_pylist() == expected[name].to_pylist()
        )


def test_json_and_arrow_come_back_with_model_and_notes(release: gh.Release, tmp_path: Path) -> None:
    answer = gh.query(release, SQL)
    answer.save(tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == answer.to_dict()
    answer.save(tmp_path / "a.arrow")
    with pa.ipc.open_file(tmp_path / "a.arrow") as file:
        back = file.read_all()
    assert back.equals(answer.to_table())
    told = back.schema.metadata
    assert told[b"glasshouse.model"].decode() == answer.model
    assert told[b"glasshouse.notes"].decode().splitlines() == list(answer.notes)


def test_what_is_not_a_number_is_null(release: gh.Release) -> None:
    answer = gh.query(release, "SELECT AVG(age) WHERE age > 50")
    assert json.loads(answer.to_json())["rows"][0]["avg(age)"] is None


def test_missing_keys_and_empty_texts_differ(release: gh.Release) -> None:
    answer = gh.query(release, "SELECT CASE WHEN age < 3 THEN '' WHEN age < 5 THEN 'a' END AS b, COUNT(*) GROUP BY b")
    assert '"NA"' in answer.to_csv()


def test_files_are_not_replaced_unless_asked(release: gh.Release, tmp_path: Path) -> None:
    answer = gh.query(release, "SELECT COUNT(*)")
    answer.save(tmp_path / "a", format="csv")
    with pytest.raises(gh.OutputError, match="exists already"):
        answer.save(tmp_path / "a", format="csv")
    answer.save(tmp_path / "a", format="csv", force=True)
    with pytest.raises(gh.ParameterError, match="'csv', 'json', 'arrow' or 'text'"):
        answer.save(tmp_path / "a.xml")


def test_the_command_writes_and_prints_each_format(release: gh.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "r")

    def run(*words: str, code: int = 0) -> str:
        made = CliRunner().invoke(glasshouse, ["query", str(tmp_path / "r"), SQL, *words])
        assert made.exit_code == code, made.output
        return made.stdout if code == 0 else made.output

    answer = gh.query(release, SQL)
    assert run("--format", "csv") == answer.to_csv()
    assert run("--format", "json") == answer.to_json()
    assert run() == f"{answer}\n"
    for form in ("text", "csv", "json", "arrow"):
        run("--out", str(tmp_path / f"b.{form}"))
        answer.save(tmp_path / f"c.{form}")
        assert (tmp_path / f"b.{form}").read_bytes() == (tmp_path / f"c.{form}").read_bytes()
    assert "name the file with --out FILE" in run("--format", "arrow", code=2)
    assert "exists already" in run("--out", str(tmp_path / "b.csv"), code=2)
    run("--out", str(tmp_path / "b.csv"), "--force")
    run("--out", str(tmp_path / "b.txt"), "--format", "text")
    assert (tmp_path / "b.txt").read_text() == run()
    (tmp_path / "b.txt").unlink()
    assert "does not say the format of the file" in run("--out", str(tmp_path / "b.txt"), code=2)
    assert "lies in the release folder" in run("--out", str(tmp_path / "r" / "b.csv"), code=2)


def test_an_undefined_number_is_missing_in_every_format(release: gh.Release) -> None:
    answer = gh.query(release, "SELECT COUNT(*) AS n, AVG(age) AS mean, MEDIAN(age) AS middle WHERE age > 200")
    names = [f"{name}{part}" for name in ("mean", "middle") for part in ("", " error", " low", " high")]

    assert all(math.isnan(end) for estimate in answer.estimates[0][1:] for end in (estimate.low, estimate.high))
    assert answer.to_csv().splitlines()[1] == "0,0,0,0,,,,,,,,"
    assert all(answer.to_table()[name].to_pylist() == [None] for name in names)
    assert all(answer.to_table()[name].type == pa.float64() for name in names)
    assert all(answer.to_dict()["rows"][0][name] is None for name in names)
    assert answer.to_pandas()[names].isna().all(axis=None)
    assert "no value" in str(answer)
