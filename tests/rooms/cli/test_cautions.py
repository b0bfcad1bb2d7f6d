# SPDX-License-Identifier: Apache-2.0
"""Cautions on the command line and in a policy: shown by inspect, in the way of publish, answered by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.rooms.cli.world import run

ROLES = "--quasi age,zip --sensitive disease --ell 2 --no-report"
SECRET = "0777777"


@pytest.fixture
def swallowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of which two stray marks make one value of four records, and whose flu is spelled in two ways."""
    rows = [[str(20 + i % 9), f"0{i}", ["flu", "Flu", "gout", "ulcer"][i % 4]] for i in range(40)]
    rows[10][2], rows[13][2] = '"gout', '"gout'
    rows[11][1] = SECRET
    (tmp_path / "t.csv").write_text("\n".join(",".join(row) for row in [["age", "zip", "disease"], *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_publish_refuses_until_each_is_answered_and_then_says_so(swallowed: Path, engine: str) -> None:
    line = f"publish t.csv {ROLES} --engine {engine} --out out"
    told = run(line, code=2).output
    assert told.count("\n") == 1
    assert "line 12" in told
    assert "--accept joined-records,line-breaks,look-alikes" in told
    assert SECRET not in told
    assert not (swallowed / "out").exists()
    run(f"{line} --accept joined-records,line-breaks", code=2)
    told = run(f"{line} --accept joined-records,line-breaks:disease --normalise disease").output
    assert "note: accepted (joined-records)" in told
    report = json.loads((swallowed / "out" / "audit" / "report.json").read_text())
    assert [caution["name"] for caution in report["accepted"]] == ["joined-records", "line-breaks"]


def test_a_policy_answers_with_the_same_words(swallowed: Path) -> None:
    policy = (
        '[source]\nfile = "t.csv"\n{accept}\n[roles]\nquasi = ["age", "zip"]\nsensitive = "disease"\n'
        '[columns.disease]\nnormalise = true\n[principle]\nell = 2\n[release]\nout = "out"\n'
    )
    (swallowed / "policy.toml").write_text(policy.format(accept=""))
    assert "joined-records" in run("publish policy.toml", code=2).output
    (swallowed / "policy.toml").write_text(policy.format(accept='accept = ["joined-records", "line-breaks"]'))
    run("publish policy.toml")
    report = json.loads((swallowed / "out" / "audit" / "report.json").read_text())
    assert [caution["name"] for caution in report["accepted"]] == ["joined-records", "line-breaks"]
    assert "Accepted (line-breaks)" in (swallowed / "out" / "audit" / "report.html").read_text()


def test_inspect_shows_them_and_init_writes_them_down_without_values(swallowed: Path) -> None:
    told = run("inspect t.csv --sensitive disease").output
    assert "Cautions" in told
    assert "'Flu' (9), 'flu' (9)" in told
    assert SECRET not in told
    found = json.loads(run("inspect t.csv --sensitive disease --json").output)["cautions"]
    assert [caution["name"] for caution in found] == ["joined-records", "line-breaks", "look-alikes"]
    written = run("init t.csv --sensitive disease --out -").output
    assert "# accept = " in written
    assert "flu" not in written.lower()


def test_what_another_tool_published_is_not_taken_for_diverse_in_silence(swallowed: Path) -> None:
    (swallowed / "other.csv").write_text("zip,disease\n" + "1*,flu\n1*,Flu\n2*,gout\n2*,gout \n")
    told = run("verify other.csv --quasi zip --sensitive disease --ell 2").output
    assert "4 values that differ from another value only in details" in told


def test_inspect_says_which_cautions_stop_publishing_as_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{20 + i % 9},{'xyzw'[i % 4]},'{i},000.50'".replace("'", '"') for i in range(1, 81)]
    (tmp_path / "t.csv").write_text("\n".join(["age,job,salary", *lines]) + "\n")
    told = run("inspect t.csv").output
    assert "Cautions about columns that are not published so (each counts only if you give its column a role)" in told
    assert "nothing is published until" not in told
    assert "\nYou can publish the table with these roles like this:" in told
    (command,) = [line.strip() for line in told.splitlines() if line.startswith("    glasshouse publish")]
    run(f"{command} --no-report")
    told = run("inspect t.csv --sensitive salary").output
    assert "Cautions (nothing is published until each is corrected or accepted)" in told
