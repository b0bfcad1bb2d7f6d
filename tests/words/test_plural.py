# SPDX-License-Identifier: Apache-2.0
"""After one comes the singular: in what the commands print, in the report, in the README of a release."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from glasshouse.cli.commands import glasshouse
from glasshouse.plural import counted

WRONG = re.compile(
    r"(?<![\d,.=/-])\b1 (?:more |other |different )?"
    r"(records|groups|people|rows|values|columns|tables|ways|questions|cells|persons|codes|labels|editions|files)\b"
)
ROLES = ["--quasi", "age", "--sensitive", "ill"]


@pytest.mark.parametrize(
    ("n", "noun", "told"),
    [(0, "record", "0 records"), (1, "record", "1 record"), (2, "person", "2 people"), (1_000, "row", "1,000 rows")],
)
def test_a_noun_follows_its_number(n: int, noun: str, told: str) -> None:
    assert counted(n, noun) == told


def test_the_pattern_finds_what_is_wrong() -> None:
    assert WRONG.search("there are 1 records")
    assert WRONG.search("for 1 other people, 1 more columns")
    for right in ("1 record", "21 records", "1,001 records", "0.1 records", "1 of 3 records", "1/1 records"):
        assert not WRONG.search(right)


def test_tables_of_one_are_told_in_the_singular(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text("age,ill\n30,flu\n")
    Path("two.csv").write_text("who,age,ill\na,30,flu\nb,30,gout\nc,31,\n")
    Path("same.csv").write_text("age\n30\n30\n")
    Path("foreign.csv").write_text("age,ill\n[30\u2013,flu\n*,flu\n")
    Path("people.csv").write_text("who,age\na,30\nz,99\n")

    def run(*words: str) -> str:
        made = CliRunner().invoke(glasshouse, list(words))
        assert made.exit_code in (0, 1, 2), made.output
        return made.output

    told = {
        "inspect": run("inspect", "one.csv"),
        "init": run("init", "one.csv", "--out", "-"),
        "verify": run("verify", "one.csv", *ROLES, "--k", "2", "--ell", "2"),
        "suppressed": run("verify", "foreign.csv", *ROLES, "--missing", "drop"),
        "publish": run("publish", "same.csv", "--quasi", "age", "--k", "2", "--out", "p1"),
        "dropped": run("publish", "two.csv", *ROLES, "--missing", "drop", "--ell", "2", "--out", "p2"),
        "show": run("show", "p1/release", "--rows", "1", "--why"),
        "verify release": run("verify", "p1/release"),
        "attack": run("attack", "p2/release", "--external", "people.csv", "--identifier", "who"),
        "attack a file": run("attack", "foreign.csv", *ROLES, "--external", "people.csv", "--identifier", "who"),
        "query": run("query", "p2/release", "SELECT COUNT(*) WHERE age = 30"),
        "sample": run("sample", "p2/release", "--rows", "1", "--out", "drawn"),
        "taxonomy": run("taxonomy", "one.csv", "age=prefix:1"),
        "README": Path("p1/release/README.md").read_text(),
        "README of two": Path("p2/release/README.md").read_text(),
        "report": re.sub("<[^>]*>", " ", next(Path("p1/audit").glob("*.html")).read_text()),
    }
    assert "1 record" in told["verify"]
    assert "1 row, 2 columns" in told["inspect"]
    assert "1 person fits no published record" in told["attack"]
    wrong = {name: found[0] for name, text in told.items() if (found := WRONG.search(text))}
    assert not wrong
