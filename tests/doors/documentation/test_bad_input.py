"""Bad input: each case says what to do, exits with 2 from the command line, and writes nothing."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse

GOOD = "id,age,sex,disease\n1,30,F,flu\n2,31,M,ulcer\n3,32,F,flu\n4,33,M,ulcer\n5,34,F,asthma\n6,35,M,asthma\n"
ROLES = ["--quasi", "age,sex", "--sensitive", "disease"]


@dataclass(frozen=True)
class Case:
    """A file, the options, and what the message must say."""

    says: list[str]
    file: str | bytes = GOOD
    options: list[str] = field(default_factory=lambda: [*ROLES, "--ell", "2"])


CASES = {
    "missing column": Case(["no column 'agge'", "did you mean 'age'"], options=["--quasi", "agge", "--k", "2"]),
    "no quasi-identifier": Case(["at least one quasi-identifier"], options=["--quasi", ",", "--k", "2"]),
    "sensitive also quasi": Case(
        ["'age'", "one role"], options=["--quasi", "age,sex", "--sensitive", "age", "--ell", "2"]
    ),
    "empty file": Case(["empty"], file=""),
    "header only": Case(["no rows"], file="age,sex,disease\n"),
    "ragged": Case(["line 3"], file="age,sex,disease\n30,F,flu\n31,M\n"),
    "wrong encoding": Case(
        ["encoding"],
        file=GOOD.replace("asthma", "grippé").encode("latin-1"),
        options=[*ROLES, "--ell", "2", "--encoding", "utf-8"],
    ),
    "NaN in a quasi-identifier": Case(["age (1 of 6)", "--missing"], file=GOOD.replace("31", "NaN")),
    "infinite quasi-identifier": Case(["'age'", "1 infinite"], file=GOOD.replace("31", "inf")),
    "all-missing column": Case(["'sex'", "has no values"], file=GOOD.replace(",F,", ",,").replace(",M,", ",,")),
    "duplicate column names": Case(["2 columns named 'age'", "rename"], file=GOOD.replace("id,age", "age,age")),
    "duplicate identifiers": Case(
        ["'id'", "1 row has an identifier", "one record for each person", "--repeated together"],
        file=GOOD.replace("\n2,", "\n1,"),
        options=[*ROLES, "--ell", "2", "--identifier", "id"],
    ),
    "ell below 2": Case(["--ell must be a whole number of at least 2, not 1"], options=[*ROLES, "--ell", "1"]),
    "ell not an integer": Case(["--ell must be a whole number, not 2.5"], options=[*ROLES, "--ell", "2.5"]),
    "ell above the feasible maximum": Case(
        ["4-diversity is not possible for this table", "2 of 6", "largest l that is possible is 3"],
        options=[*ROLES, "--ell", "4"],
    ),
    "k above n": Case(["7-anonymity", "6"], options=["--quasi", "age", "--k", "7"]),
    "taxonomy that does not cover": Case(
        ["'sex'", "'M'"], options=[*ROLES, "--ell", "2", "--taxonomy", "sex={folder}/tree.csv"]
    ),
    "no principle": Case(["say what to guarantee"], options=ROLES),
    "a number as sensitive value": Case(
        ["'age'", "Put them into ranges", "categorical"], options=["--quasi", "sex", "--sensitive", "age", "--ell", "2"]
    ),
    "a principle on sensitive values without one": Case(
        ["name a sensitive column"], options=["--quasi", "age,sex", "--ell", "2"]
    ),
    "a share above 1": Case(["--suppress must be a share", "not 2"], options=[*ROLES, "--ell", "2", "--suppress", "2"]),
    "an unknown builder": Case(
        ["intervals:WIDTH, quantiles:N"], options=[*ROLES, "--ell", "2", "--bin", "age=halves:2"]
    ),
    "an option without a value": Case(["COLUMN=VALUE"], options=[*ROLES, "--ell", "2", "--top", "age"]),
}


def everything_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_refused_with_what_to_do_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    source = tmp_path / "table.csv"
    source.write_bytes(case.file if isinstance(case.file, bytes) else case.file.encode())
    (tmp_path / "tree.csv").write_text("F;*\n")
    before = everything_in(tmp_path)
    options = [option.format(folder=tmp_path) for option in case.options]
    result = CliRunner().invoke(glasshouse, ["publish", str(source), *options, "--out", str(tmp_path / "out")])

    assert result.exit_code == 2, result.output
    assert sum(line.startswith("error: ") for line in result.stderr.splitlines()) == 1
    for words in case.says:
        assert words in result.stderr
    assert "Traceback" not in result.output
    assert before == everything_in(tmp_path)


def test_a_good_file_passes_so_the_refusals_mean_something(tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_text(GOOD)
    result = CliRunner().invoke(
        glasshouse, ["publish", str(source), *ROLES, "--ell", "2", "--out", str(tmp_path / "out")]
    )

    assert result.exit_code == 0, result.output
    assert {"release", "audit", "flat"} == {path.name for path in (tmp_path / "out").iterdir()}


def test_a_file_that_is_not_there_gets_a_near_name(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text(GOOD)
    result = CliRunner().invoke(
        glasshouse, ["publish", str(tmp_path / "patient.csv"), *ROLES, "--ell", "2", "--out", str(tmp_path / "out")]
    )

    assert result.exit_code == 2
    assert "patients.csv" in result.stderr


@pytest.mark.parametrize("taken", ["release", "audit"])
def test_an_existing_folder_is_refused_without_force_and_replaced_with_it(taken: str, tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_text(GOOD)
    command = ["publish", str(source), *ROLES, "--ell", "2", "--out", str(tmp_path / "out")]
    runner = CliRunner()
    assert runner.invoke(glasshouse, command).exit_code == 0
    other = "audit" if taken == "release" else "release"
    for path in (tmp_path / "out" / other).iterdir():
        path.unlink()
    (tmp_path / "out" / other).rmdir()

    refused = runner.invoke(glasshouse, command)
    assert (refused.exit_code, "exists already" in refused.stderr) == (2, True)
    assert sorted([taken, "flat"]) == sorted(path.name for path in (tmp_path / "out").iterdir())
    assert runner.invoke(glasshouse, [*command, "--force"]).exit_code == 0


def test_a_foreign_folder_is_never_replaced(tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_text(GOOD)
    precious = tmp_path / "out" / "release" / "thesis.txt"
    precious.parent.mkdir(parents=True)
    precious.write_text("years of work")
    command = ["publish", str(source), *ROLES, "--ell", "2", "--out", str(tmp_path / "out"), "--force"]
    result = CliRunner().invoke(glasshouse, command)

    assert (result.exit_code, "not replaced" in result.stderr) == (2, True)
    assert precious.read_text() == "years of work"


def test_an_unwritable_folder_is_an_error_and_not_a_trace(tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_text(GOOD)
    blocked = tmp_path / "file"
    blocked.write_text("a file, where a folder is wanted")
    result = CliRunner().invoke(
        glasshouse, ["publish", str(source), *ROLES, "--ell", "2", "--out", str(blocked / "out")]
    )

    assert result.exit_code == 2
    assert "cannot write" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="file size limits are POSIX")
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    """A limit on file sizes stands in for a full disk: writes fail in the middle of a file."""
    source = tmp_path / "table.parquet"
    n = 50_000
    table = pa.table({"q": list(range(n)), "s": [f"value {i % 97} {'x' * 50}" for i in range(n)]})
    pq.write_table(table, source)
    before = everything_in(tmp_path)
    program = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "from glasshouse.cli import main; main()"
    )
    arguments = [
        "publish",
        str(source),
        "--quasi",
        "q",
        "--sensitive",
        "s",
        "--ell",
        "20",
        "--out",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, timeout=120
    )

    assert done.returncode == 2, done.stderr
    assert "cannot write" in done.stderr
    assert "nothing was written" in done.stderr
    assert before == everything_in(tmp_path)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 4096


def test_a_release_made_with_a_seed_is_not_saved_by_accident(tmp_path: Path) -> None:
    table = gh.examples.transparent_t1()
    release = gh.publish(table, principle=gh.LDiversity(ell=2), source=gh.Source.seeded(1))

    with pytest.raises(gh.OutputError, match="fixed seed"):
        release.save(tmp_path / "release")
    release.save(tmp_path / "release", allow_seed=True)
    assert gh.load(tmp_path / "release").recipe.seeded
