# SPDX-License-Identifier: Apache-2.0
"""The command `compare`: one answer, in every form; a policy as it is; nothing that would be published."""

from __future__ import annotations

import json
from pathlib import Path

from tests.rooms.cli.world import ROLES, run

SMALL = "--methods mirror,separate --recodings boxes,anatomy --processes 0"


def test_text_json_and_files_recommend_the_same(world: Path) -> None:
    shown = run(f"compare patients.csv {ROLES} --ell 3 {SMALL} --out inside").stdout
    told = json.loads(run(f"compare patients.csv {ROLES} --ell 3 {SMALL} --json").stdout)

    assert f"* Recommended: {told['reason']}" in shown
    assert told["way"] == "mirror as boxes"
    assert "Measured on copies of the table" in shown
    assert [line[2:8] for line in shown.splitlines() if line.startswith("* ")] == ["mirror", "Recomm"]
    written = {path.name for path in (world / "inside").iterdir()}
    files = {"comparison.html", "comparison.csv", "comparison.json", "frontier.svg", "rows.jsonl"}
    assert written == {*files, "contents.json"}
    assert json.loads((world / "inside/comparison.json").read_text())["reason"] == told["reason"]


def test_the_truth_is_used_only_when_asked_for_and_then_with_a_warning(world: Path) -> None:
    told = json.loads(run(f"compare patients.csv {ROLES} --ell 3 {SMALL} --use-truth --json").stdout)

    assert told["used_truth"]
    assert "depends on them" in told["caution"]


def test_presence_that_is_public_lets_exact_values_be_recommended(world: Path) -> None:
    told = json.loads(run(f"compare patients.csv {ROLES} --ell 3 {SMALL} --presence public --json").stdout)

    assert told["way"] == "mirror as anatomy"


def test_a_policy_is_compared_as_it_is(world: Path) -> None:
    (world / "policy.toml").write_text(
        '[source]\nfile = "patients.csv"\n[roles]\nquasi = ["age", "sex", "zipcode"]\nsensitive = "disease"\n'
        "[principle]\nell = 3\n"
    )
    told = json.loads(run(f"compare policy.toml {SMALL} --json").stdout)
    refused = run(f"compare policy.toml {SMALL} --ell 4", code=2)

    assert "in more than 1 of 3 records" in told["principle"]
    assert "--ell cannot be given with a policy" in refused.stderr


def test_what_cannot_be_compared_is_told_in_a_line(world: Path) -> None:
    assert "--quasi" in run("compare patients.csv --ell 3", code=2).stderr
    assert "did you mean 'mirror'" in run(f"compare patients.csv {ROLES} --ell 3 --methods miror", code=2).stderr
    run(f"compare patients.csv {ROLES} --ell 3 --methods opt-gen --recodings boxes --processes 0", code=1)


def test_the_learner_is_measured_unless_it_is_left_out(world: Path) -> None:
    some = "--methods mirror --recodings anatomy --processes 0 --runs 1"
    told = json.loads(run(f"compare patients.csv {ROLES} --ell 3 {some} --json").stdout)
    without = json.loads(run(f"compare patients.csv {ROLES} --ell 3 {some} --no-learner --model learned --json").stdout)
    shown = run(f"compare patients.csv {ROLES} --ell 3 {some}").stdout

    assert 0 < told["rows"][0]["cost"] < 1
    assert without["rows"][0]["cost"] is None
    assert (told["model"], without["model"]) == ("uniform", "learned")
    assert " cost " in shown
    assert f" {told['rows'][0]['cost']:.3f} " in shown


def test_how_long_the_attacks_may_take_is_said_before_them(world: Path) -> None:
    some = f"compare patients.csv {ROLES} --ell 3 --methods mirror --recodings anatomy,boxes --processes 0 --runs 1"
    long = " ".join(run(f"{some} --seconds 200").stderr.split())
    assert "2 ways to publish will be tried, 1 at a time, and each of two attacks on a way may take 200 seconds" in long
    assert "at most about 13 minutes" in long
    assert "--no-learner" in long
    alone = run(f"{some} --seconds 200 --no-learner").stderr
    assert "an attack on a way" in alone
    assert "at most about 7 minutes" in alone
    assert "--no-learner" not in alone
    assert "will be tried" not in run(f"{some} --seconds 5").stderr
