# SPDX-License-Identifier: Apache-2.0
"""Numbers with a decimal comma: inspected as numbers, offered so, and never published as texts without a word."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.microdata.reading.sources import open_source


def written(path: Path, values: list[str], *, others: str = "1,5") -> Path:
    rows = [f"{20 + i % 9};{value};{others}" for i, value in enumerate(values)]
    path.write_text("\n".join(["age;pulse;grip", *rows, ""]))
    return path


PULSES = [f"{60 + i % 40},{i % 10}" for i in range(120)]


def test_inspect_reads_them_as_numbers_and_its_command_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "t.csv", [*PULSES, "72"])
    report = gh.inspect("t.csv", sensitive="pulse")
    assert report.decimal == ","
    assert report.column("pulse").is_amount
    assert report.to_dict()["decimal"] == ","
    shown = CliRunner().invoke(glasshouse, ["inspect", "t.csv", "--sensitive", "pulse"]).stdout
    (command,) = (line for line in shown.splitlines() if line.startswith("    glasshouse publish"))
    assert "--decimal ," in command
    assert "--bin pulse=" in command
    made = CliRunner().invoke(glasshouse, shlex.split(command)[1:])
    assert made.exit_code == 0, made.output
    policy = CliRunner().invoke(glasshouse, ["init", "t.csv", "--out", "-"]).stdout
    assert 'decimal = ","' in policy


@pytest.mark.parametrize(
    ("values", "others"),
    [
        (["1,234", "5,678"] * 9, "7"),  # may be thousands
        (["72,5", "80,5"] * 9, "1.5"),  # another column has a point
        (["1,2,3", "4,5"] * 9, "7"),  # lists
        (["12", "13"] * 9, "7"),
    ],
)
def test_where_a_comma_may_mean_something_else_it_is_not_taken_for_a_decimal_sign(
    tmp_path: Path, values: list[str], others: str
) -> None:
    assert gh.inspect(written(tmp_path / "t.csv", values, others=others)).decimal == "."


def test_what_is_given_is_not_looked_for(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", PULSES)
    assert gh.inspect(path, decimal=".").column("pulse").kind == "category"
    assert CliRunner().invoke(glasshouse, ["inspect", str(path), "--decimal", ","]).exit_code == 0
    standard = CliRunner().invoke(glasshouse, ["inspect", "-", "--sensitive", "pulse"], input=path.read_text())
    assert "use --decimal ," in standard.stdout
    assert "decimal-commas" in standard.stdout


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_as_texts_they_are_not_published_unless_accepted(tmp_path: Path, engine: str) -> None:
    path = written(tmp_path / "t.csv", PULSES)
    words = ["publish", str(path), "--quasi", "age", "--sensitive", "pulse", "--ell", "3", "--engine", engine]
    words += ["--no-report", "--no-flat", "--out", str(tmp_path / "out")]
    refused = CliRunner().invoke(glasshouse, words)
    assert refused.exit_code == 2
    assert "--accept decimal-commas" in refused.stderr
    offered = [line for line in refused.stderr.splitlines() if line.startswith("    glasshouse publish")]
    assert offered
    assert all("--decimal ," in line for line in offered)
    made = CliRunner().invoke(glasshouse, shlex.split(offered[0])[1:])
    assert made.exit_code == 0, made.output
    accepted = [*words[:-1], str(tmp_path / "texts"), "--accept", "decimal-commas"]
    assert CliRunner().invoke(glasshouse, accepted).exit_code == 0


def test_a_column_with_whole_numbers_among_them_is_suspected_too(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", ["72", "80,5"] * 5, others="7")
    (told,) = (notice for notice in open_source(path).notices if "decimal comma" in notice)
    assert "read as text: pulse." in told
