# SPDX-License-Identifier: Apache-2.0
"""Exit codes: 0 is done, 1 is done and the answer is no, 2 is wrong input."""

from __future__ import annotations

import errno
import importlib
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.release.package.listing import stranger_in
from glasshouse.release.package.pair import check_pair
from tests.rooms.cli.world import QUICK, ROLES, run

WRONG = {
    "inspect": ["inspect missing.csv", "inspect patients.csv --sensitive diseaze"],
    "init": ["init missing.csv", "init patients.csv --out diseases.txt", "init patients.csv --out no/such/place.toml"],
    "taxonomy": [
        "taxonomy missing.csv age=intervals:10",
        "taxonomy patients.csv agge=intervals:10",
        "taxonomy patients.csv age=intervals:0",
        "taxonomy patients.csv age=intervals:10 --separator tab",
        "taxonomy patients.csv age=intervals:10 --out diseases.txt",
        "taxonomy patients.csv age=intervals:10 --out no/such/place.csv",
        "taxonomy patients.csv",
    ],
    "publish": [
        "publish missing.csv --quasi age --k 2 --out o",
        "publish patients.csv --quasi agge --k 2 --out o",
        "publish patients.csv --quasi age --out o",
        "publish patients.csv --quasi age --k 2",
        "publish patients.csv --k 2 --out o",
        f"publish patients.csv {ROLES} --ell 100 --out o",
        "publish patients.csv --quasi age --k 2 --out o --method best",
    ],
    "marginals": [
        f"marginals patients.csv {ROLES} --marginal age,disease --out nothing",
        f"marginals patients.csv {ROLES} --out out",
        f"marginals patients.csv --marginal age,disease --out out {QUICK}",
    ],
    "verify": [
        "verify missing.csv --quasi age",
        "verify patients.csv",
        "verify out/audit",
        "verify out/release --k 2",
        "verify out/release --quasi age",
    ],
    "attack": [
        "attack out/release",
        "attack out/release --external missing.csv",
        "attack out/release --external voters.csv --fail-above lots",
    ],
    "learn": ["learn nothing", "learn out/release --column age", "learn out/release --out out/release/x.json"],
    "query": ["query nothing 'SELECT COUNT(*)'", "query out/release 'DELETE FROM t'", "query out/release"],
    "sample": [
        "sample nothing --out flat",
        "sample out/release",
        "sample out/release --out flat --tables 0",
        "sample out/release --out flat --attributes age,shoes",
        "sample out/release --out out/release/flat",
        "sample out/release --out out",
    ],
    "sign": [
        "sign",
        "sign out/release",
        "sign out/release --key missing.pem --signer Office",
        "sign out/audit --new-key a/b/c.pem --signer Office",
    ],
    "show": ["show nothing", "show patients.csv", "show out/release --rows -1"],
    "compare": [
        "compare missing.csv --quasi age --sensitive disease --ell 2",
        f"compare patients.csv {ROLES}",
        f"compare patients.csv {ROLES} --ell 2 --methods best",
    ],
    "reproduce": ["reproduce", "reproduce gospel", "reproduce angel --rows 0", "reproduce angel --data missing.csv"],
    "studio": ["studio missing.csv", "studio .", "studio --host 0.0.0.0", "studio --port 99999"],
    "demo": ["demo --rows few", "demo --rows 10 --out patients.csv"],
    "completion": ["completion tcsh", "completion"],
}


@pytest.fixture
def published(world: Path) -> Path:
    run(f"publish patients.csv {ROLES} --ell 3 --out out {QUICK}")
    return world


def test_there_is_a_case_for_every_command() -> None:
    assert set(WRONG) == set(glasshouse.commands)


@pytest.mark.parametrize("command", sorted(WRONG))
def test_wrong_input_ends_with_2_a_reason_and_nothing_on_stdout(command: str, published: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in published.rglob("*")}
    for line in WRONG[command]:
        result = run(line, code=2)
        assert result.stdout == "", line
        assert "rror: " in result.stderr, line
        assert "Traceback" not in result.output
    after = {path: path.stat().st_mtime_ns for path in published.rglob("*")}

    assert before == after


def test_a_release_that_keeps_its_promise_ends_with_0_and_one_that_does_not_with_1(published: Path) -> None:
    found = json.loads(run("verify out/release --json").stdout)
    assert found["holds"] is True

    description = published / "out" / "release" / "datapackage.json"
    content = json.loads(description.read_text())
    ours = content.get("glasshouse") or next(v for v in content.values() if isinstance(v, dict) and "recipe" in v)
    ours["recipe"]["principle"]["ell"] = 9
    ours["software"] = "glasshouse 0.0.1"  # whose words are not compared
    description.write_text(json.dumps(content))

    assert json.loads(run("verify out/release --json", code=1).stdout)["holds"] is False
    assert run("verify out/release", code=1).stdout


def test_a_table_that_does_not_do_what_is_asked_ends_with_1(world: Path) -> None:
    run(f"verify patients.csv {ROLES}")
    run(f"verify patients.csv {ROLES} --k 2", code=1)
    run(f"verify any_tool_output.csv {ROLES} --k 300 --ell 3")
    run(f"verify any_tool_output.csv {ROLES} --ell 100", code=1)


def test_an_attack_above_the_limit_ends_with_1(published: Path) -> None:
    run("attack out/release --external voters.csv --identifier name --fail-above 1/3")
    run("attack out/release --external voters.csv --identifier name --fail-above 1/30", code=1)
    run("attack out/release --external voters.csv --identifier name --fail-above 1/30 --json", code=1)


def test_a_guarantee_that_the_second_count_finds_broken_ends_with_1_and_nothing_is_written(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise gh.GuaranteeBroken("the published tables do not satisfy ell = 3")

    monkeypatch.setattr(importlib.import_module("glasshouse.journeys.publish"), "recheck", broken)
    result = run(f"publish patients.csv {ROLES} --ell 3 --out out", code=1)

    assert "bug" in result.stderr
    assert not (world / "out").exists()


def test_a_report_that_fails_leaves_the_release_and_says_so(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise gh.NotSupported("this", instead="use that")

    monkeypatch.setattr("glasshouse.pages.report.make_report", refused)
    result = run(f"publish patients.csv {ROLES} --ell 3 --out out")

    assert "the release is written without a report: this; use that" in result.stderr
    assert gh.load(world / "out" / "release").n_tuples == 300


@pytest.mark.parametrize("step", range(6))
def test_a_disk_that_is_full_while_the_report_is_written_leaves_a_whole_pair_or_nothing(
    step: int, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of the report are refused one after the other; what comes later has room again."""
    flush, steps = os.fsync, iter(range(1000))

    def full(descriptor: int) -> None:
        if next(steps) == step:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush(descriptor)

    monkeypatch.setattr("glasshouse.release.package.listing.os.fsync", full)
    result = CliRunner().invoke(glasshouse, f"publish patients.csv {ROLES} --ell 3 --out out".split())

    left = {path.name for path in world.iterdir() if path.name.startswith(".")}
    assert left == set()
    if result.exit_code == 0:
        assert gh.load(world / "out" / "release").n_tuples == 300
        assert "No space left" in result.stderr
        check_pair(world / "out")
        assert stranger_in(world / "out" / "audit") is None
    else:
        assert result.exit_code == 2
        assert "No space left on device; nothing was written" in result.stderr
        assert not (world / "out").exists()


def test_verifying_what_is_not_there_says_so_and_does_not_ask_for_columns(tmp_path: Path) -> None:
    result = CliRunner().invoke(glasshouse, ["verify", str(tmp_path / "out" / "release")])

    assert result.exit_code == 2
    assert "does not exist" in result.stderr
    assert "--quasi" not in result.stderr
