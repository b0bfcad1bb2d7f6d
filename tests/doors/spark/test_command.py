"""The command line on Spark: the bytes of the engine in memory, a report, and words for what Spark does not do."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import glasshouse as gh
from glasshouse.cli.commands import glasshouse

ASKED = ["--quasi", "age,sex,zipcode", "--sensitive", "disease", "--ell", "3"]


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    table = gh.synthetic.hospital(n=600, seed=1)
    columns = {c.name: c.domain.decode(c.codes) for c in (*table.quasi, *table.sensitive)}
    path = tmp_path / "patients.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(glasshouse, ["publish", *map(str, arguments)])


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_a_file_is_published_on_spark(patients: Path, tmp_path: Path) -> None:
    done = run(patients, *ASKED, "--engine", "spark", "--master", "local[2]", "--out", tmp_path / "out", "--json")

    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["n_tuples"] == 600
    assert told["guarantee"]["adversary"] == "algorithm-aware"
    assert gh.verify(tmp_path / "out" / "release").holds
    assert "batches" in (tmp_path / "out" / "audit" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--engine", "spark", "--format", "csv"], "writes Parquet"),
        (["--engine", "spark", "--flat"], "leave --flat out"),
        (["--engine", "spark", "--threads", "2"], "--threads has no effect with --engine spark"),
        (["--engine", "spark", "--decimal", ","], "--decimal has no meaning"),
        (["--master", "local[2]"], "can only be given with --engine spark"),
    ],
)
def test_what_spark_does_not_do_is_refused_before_it_starts(
    patients: Path, tmp_path: Path, options: list[str], words: str
) -> None:
    done = run(patients, *ASKED, *options, "--out", tmp_path / "out")

    assert done.exit_code != 0
    assert words in done.output.replace("\n", " ")


def test_only_parquet_is_read(tmp_path: Path) -> None:
    from glasshouse.cli import spark

    (tmp_path / "people.csv").write_text("age,disease\n1,flu\n", encoding="utf-8")
    with pytest.raises(gh.SourceError, match=r"people\.csv is not one"):
        spark._frame(None, str(tmp_path / "people.csv"))  # type: ignore[arg-type]
    with pytest.raises(gh.SourceError, match="there is no file"):
        spark._frame(None, str(tmp_path / "nothing"))  # type: ignore[arg-type]
