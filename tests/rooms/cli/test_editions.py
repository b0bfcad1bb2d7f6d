# SPDX-License-Identifier: Apache-2.0
"""Editions from the command line and by a policy: the same as in the library, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import glasshouse as gh
from tests.rooms.cli.world import QUICK, ROLES, run

FIRST = f"publish patients.csv --identifier patient {ROLES} --ell 3 --edition 2026 --out first"
NEXT = f"publish 2027.csv --identifier patient {ROLES} --after first --edition 2027 --out second"

POLICY = """\
[source]
file = "2027.csv"
[roles]
identifier = "patient"
quasi = ["age", "sex", "zipcode"]
sensitive = "disease"
[release]
after = "first"
edition = 2027
at_least = 10
out = "second"
report = "none"
"""


def test_editions_are_published_shown_verified_and_asked(world: Path) -> None:
    run(FIRST)
    told = run(NEXT)
    assert "editions: 2026 (300 people), 2027 (150 people)" in told.stdout
    assert "30 people who were published before are not in this table: they are listed as having left" in told.stderr
    assert (world / "second" / "audit" / "report.html").is_file()
    report = json.loads((world / "second" / "audit" / "report.json").read_text(encoding="utf-8"))
    assert "this is about edition 2027 alone" in report["notices"][0]
    assert report["published"]["tuples"] == 150
    assert "editions: 2026 (300 people), 2027 (150 people)" in run("verify second").stdout
    shown = json.loads(run("show second/release --json").stdout)
    assert [edition["label"] for edition in shown["editions"]] == [2026, 2027]
    count = "query second/release 'SELECT COUNT(*)' --json --as-of"
    rows = [json.loads(run(f"{count} {year}").stdout)["rows"][0]["count"] for year in (2026, 2027)]
    assert rows == [300, 420]
    assert "no edition '2030'" in run(f"{count} 2030", code=2).stderr
    told = " ".join(run("attack second/release --external 2027.csv --identifier patient", code=2).stderr.split())
    assert "editions (2026, 2027): add a column 'edition' to the external table" in told
    people = gh.read("2027.csv", identifier="patient", quasi=["age", "sex", "zipcode"])
    with pytest.raises(gh.SchemaError, match="add a column 'edition' to the external table"):
        gh.attack(gh.load("second/release"), knowledge=gh.Knowledge(external=people))


def test_a_policy_makes_the_same_edition(world: Path) -> None:
    run(f"{FIRST} {QUICK}")
    (world / "policy.toml").write_text(POLICY, encoding="utf-8")
    run("publish policy.toml")
    release = gh.load(world / "second" / "release")
    assert [(edition.label, edition.n_tuples) for edition in release.editions] == [(2026, 300), (2027, 150)]


def test_other_engines_refuse_editions_by_name(world: Path) -> None:
    run(f"{FIRST} {QUICK}")
    for engine in ("disk", "spark"):
        assert f"--engine {engine} cannot publish editions" in run(f"{NEXT} --engine {engine}", code=2).stderr
    assert not (world / "second").exists()
