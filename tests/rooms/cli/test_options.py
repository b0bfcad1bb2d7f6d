# SPDX-License-Identifier: Apache-2.0
"""One language for all commands: the same words mean the same, in the same order, and every command prints JSON."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import click
import pytest

from glasshouse.cli.commands import glasshouse
from tests.rooms.cli.world import QUICK, ROLES, run

COMMANDS = sorted(glasshouse.commands)

# Where a word means another thing, because the command asks instead of demanding, or writes something else.
OTHERWISE = {
    "--sensitive": {"inspect", "init"},
    "--decimal": {"inspect", "init", "verify"},
    "--k": {"verify"},
    "--ell": {"verify"},
    "--t": {"verify"},
    "--distinct-ell": {"verify"},
    "--entropy-ell": {"verify"},
    "--recursive": {"verify"},
    "--alpha": {"verify"},
    "--distance": {"verify"},
    "--method": {"attack"},
    "--with": {"attack"},
    "--marginal": set(),
    "--out": {"init", "attack", "compare", "demo", "learn", "marginals", "query", "reproduce", "sample", "taxonomy"},
    "--format": {"query", "sample"},
    "--seed": {"attack", "sample"},
    "--rows": {"attack", "demo", "reproduce", "sample"},
}


def options_of(command: str) -> list[click.Option]:
    return [parameter for parameter in glasshouse.commands[command].params if isinstance(parameter, click.Option)]


def test_the_commands_are_all_there() -> None:
    expected = ["attack", "completion", "demo", "init", "inspect", "learn", "marginals", "publish", "query", "show"]

    assert set(expected) <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_ends_with_the_same_options_for_printing(command: str) -> None:
    assert [option.opts[0] for option in options_of(command)][-3:] == ["--json", "--verbose", "--log-json"]


@pytest.mark.parametrize(("one", "other"), list(combinations(COMMANDS, 2)))
def test_shared_options_come_in_the_same_order(one: str, other: str) -> None:
    first, second = ([option.opts[0] for option in options_of(command)] for command in (one, other))

    assert [name for name in first if name in second] == [name for name in second if name in first]


@pytest.mark.parametrize(("one", "other"), list(combinations(COMMANDS, 2)))
def test_shared_options_have_the_same_words(one: str, other: str) -> None:
    first, second = ({option.opts[0]: option for option in options_of(command)} for command in (one, other))
    for name in first.keys() & second.keys():
        if {one, other} & OTHERWISE.get(name, set()):
            continue
        assert (first[name].help, first[name].metavar) == (second[name].help, second[name].metavar), name
        assert first[name].multiple == second[name].multiple


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_help_and_every_command_one_line(command: str) -> None:
    assert [option.opts for option in options_of(command) if not option.help] == []
    assert glasshouse.commands[command].short_help


def test_every_command_prints_one_document_of_json(world: Path) -> None:
    lines = {
        "inspect": "inspect patients.csv",
        "init": "init patients.csv",
        "taxonomy": "taxonomy patients.csv age=intervals:10",
        "publish": f"publish patients.csv {ROLES} --ell 3 --out out {QUICK}",
        "marginals": f"marginals patients.csv {ROLES} --marginal age,disease --out out {QUICK}",
        "verify": f"verify any_tool_output.csv {ROLES} --ell 3",
        "attack": "attack out/release --external voters.csv --identifier name",
        "compare": f"compare patients.csv {ROLES} --ell 3 --methods mirror,separate --processes 0",
        "learn": "learn out/release",
        "query": "query out/release 'SELECT COUNT(*) WHERE age > 30'",
        "sample": "sample out/release --tables 2 --out flat",
        "show": "show out/release",
        "sign": "sign out/release --new-key steward.pem --signer Office",
        "studio": "studio patients.csv --no-browser",
        "demo": "demo --rows 500",
        "reproduce": "reproduce angel --rows 2000 --questions 20",
        "completion": "completion bash",
    }
    assert set(lines) == set(COMMANDS)
    for line in lines.values():
        printed = run(f"{line} --json").stdout
        assert isinstance(json.loads(printed), dict), line


def test_the_summary_of_publishing_has_time_and_memory(world: Path) -> None:
    found = json.loads(run(f"publish patients.csv {ROLES} --ell 3 --out out {QUICK} --json").stdout)
    plain = run(f"publish patients.csv {ROLES} --ell 3 --out plain {QUICK}").stdout

    assert 0 < found["seconds"] < 300
    assert found["peak_memory"] > 1 << 20
    assert " MiB at most)" in " ".join(plain.split())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("verify patients.csv --quasi age --k 3 --k 5", "--k is given twice"),
        ("verify patients.csv --quasi age --sensitive disease --t 0.2 --t 0.9", "--t is given twice"),
        ("publish patients.csv --quasi age --sensitive disease --ell 2 --out a --out b", "--out is given twice"),
        ("verify patients.csv --quasi age --sensitive disease --ell disease=3,sex=2", "repeat the option"),
    ],
)
def test_an_option_of_which_only_the_last_would_count_is_refused(world: Path, line: str, words: str) -> None:
    assert words in " ".join(run(line, code=2).stderr.split())


def test_names_may_be_given_in_several_options(world: Path) -> None:
    together = run("verify patients.csv --quasi age,sex --sensitive disease --k 2", code=1)

    assert (
        run("verify patients.csv --quasi age --quasi sex --sensitive disease --k 2", code=1).stdout == together.stdout
    )


def test_a_sheet_and_a_decimal_sign_are_given_to_verify_and_attack(world: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for name in ("people", "notes"):
        sheet = book.create_sheet(name)
        for row in [("age", "disease"), (20, "flu"), (20, "gout"), (30, "flu"), (30, "gout")]:
            sheet.append(row)
    del book["Sheet"]
    book.save(world / "two.xlsx")
    assert "--table" in run("verify two.xlsx --quasi age --sensitive disease", code=2).stderr
    run("verify two.xlsx --table people --quasi age --sensitive disease --k 2 --ell 2")
    run("publish two.xlsx --table people --quasi age --sensitive disease --ell 2 --out sheets --no-report")
    run("attack sheets/release --external two.xlsx --table notes --fail-above 1/2")
    (world / "comma.csv").write_text("age;size\n20;1,5\n20;2,5\n30;1,5\n30;2,5\n")
    found = run("verify comma.csv --quasi age --sensitive size --decimal , --t 0 --distance ordered --json")
    assert json.loads(found.stdout)["holds"]


@pytest.mark.parametrize("how", ["", "--engine disk", "--recoding boxes --method mirror"])
def test_publish_says_that_everybody_is_in_one_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{20 + i % 60},{'mf'[i % 2]},d{i * 7 % 4},c{i // 3 % 4}" for i in range(402)]
    Path("t.csv").write_text("\n".join(["age,sex,disease,pay", *lines]) + "\n")
    line = f"publish t.csv --quasi age,sex --no-report --no-flat --force --out out {how}"
    assert "people are one group" not in run(f"{line} --sensitive disease --ell 2").output
    told = run(f"{line} --sensitive disease,pay --ell 2 --suppress 0.1").output
    assert "people are one group" not in told
    few = "\n".join(["age,sex,disease,pay", *(f"{20 + i % 60},m,d{i % 3},c{i % 3}" for i in range(303))])
    Path("t.csv").write_text(few + "\n")
    told = run(f"{line} --sensitive disease,pay --ell 3").output
    assert "all 303 people are one group" in " ".join(told.split())
    assert "such as a smaller l, or publish without" in " ".join(told.split())
    if "mirror" not in how:
        rare = "\n".join(["age,sex,disease,pay", *(f"{20 + i % 60},m,{'d' if i else 'rare'},c" for i in range(303))])
        Path("t.csv").write_text(rare + "\n")
        told = " ".join(run(f"{line} --sensitive disease --t 0").output.split())
        assert "ask for less, such as a larger t" in told
        assert "smaller l" not in told
