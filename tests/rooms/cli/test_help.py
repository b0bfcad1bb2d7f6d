# SPDX-License-Identifier: Apache-2.0
"""Every command's help has examples, and every example runs."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import click
import pytest

import glasshouse as gh
from glasshouse.adversary.hint.hint import Hint
from glasshouse.catalog import METHODS, RECODINGS
from glasshouse.cli.commands import glasshouse
from glasshouse.papers import anatomy, angel, minimality, transparent
from glasshouse.streaming.publish import _MEMORY
from tests.rooms.cli.world import ROLES, run


def examples_of(command: str) -> list[str]:
    """The command lines below "Examples:", continued lines joined."""
    text = glasshouse.commands[command].help or ""
    lines = text.partition("Examples:\n")[2].replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip().startswith("glasshouse ")]


@pytest.mark.parametrize("command", sorted(glasshouse.commands))
def test_every_example_of_a_command_runs(command: str, world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = examples_of(command)
    assert len(examples) >= 2
    assert any(f"glasshouse {command}" in example for example in examples)

    if command in ("verify", "attack", "learn", "query", "sample", "show", "sign", "marginals", "studio"):
        edition = "--identifier patient --edition 2026" if command == "query" else ""
        run(f"publish patients.csv {ROLES} --ell 3 --out out --no-report {edition}")
    if command == "verify":
        run("sign out --new-key steward.pem --signer Office")
    if command in ("publish", "marginals"):
        (world / "policy.toml").write_text(POLICY.format(out="out" if command == "marginals" else "by-policy"))
    monkeypatch.setenv("HOME", str(world))
    for example in examples:
        line = example.partition(" > ")[0].replace("--rows 3000", "")
        more = {
            "publish": " --no-report",
            "marginals": " --no-report",
            "demo": " --rows 400",
            "compare": " --methods mirror,separate --runs 1",
        }.get(line.split()[1], "")
        run(f"{line}{more}")


POLICY = """\
[source]
file = "patients.csv"
[roles]
quasi = ["age", "sex", "zipcode"]
sensitive = "disease"
[principle]
ell = 3
[release]
out = "{out}"
"""


def test_help_is_shown_for_every_command_and_names_its_options() -> None:
    for name, command in glasshouse.commands.items():
        shown = run(f"{name} --help").stdout
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert parameter.opts[0] in shown


# --- the defaults that it names --------------------------------------------------------------------------------------

ONE, TWO = ["--quasi", "age,zipcode", "--sensitive", "disease"], ["--quasi", "age", "--sensitive", "zipcode,disease"]
PERTURBED = "--k 6 --domain @diseases.txt"


@pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")
@pytest.mark.parametrize(
    ("roles", "asked", "method", "recoding"),
    [
        (ONE, "--ell 3", "sift", "angel"),
        (ONE, "--ell 2 --recoding boxes", "sift", "boxes"),
        (ONE, "--ell 3 --recoding boxes", "mirror", "boxes"),
        (ONE, "--ell 3 --recoding taxonomies --taxonomy zipcode=prefix:5", "mirror", "taxonomies"),
        (ONE, "--ell 3 --recoding anatomy", "sift", "anatomy"),
        (ONE, "--ell 3 --recoding permutation", "sift", "permutation"),
        (ONE, "--k 3", "snug", "boxes"),
        (ONE, "--t 1/2", "mirror", "boxes"),
        (ONE, "--distinct-ell 3", "mirror", "boxes"),
        (ONE, "--ell 3 --designated influenza", "mirror", "boxes"),
        (TWO, "--ell 2", "mirror", "angel"),
        (ONE, f"--rho1 0.2 --rho2 0.5 --lambda 0.1 {PERTURBED}", "mondrian", "perturbed"),
        (ONE, f"--delta 0.3 --lambda 0.1 {PERTURBED}", "mondrian", "perturbed"),
    ],
)
def test_the_help_names_the_method_and_the_recoding_that_are_used_by_default(
    roles: list[str], asked: str, method: str, recoding: str, world: Path
) -> None:
    assert helps("publish")["--method"].endswith(
        "by default sift for l-diversity of one sensitive column, or mirror if --recoding is boxes or taxonomies and l "
        "is 3 or more; snug if only k-anonymity is asked for; mondrian for perturbed; and mirror otherwise."
    )
    assert helps("publish")["--recoding"].endswith(
        "by default angel for l-diversity (--ell) without --designated, perturbed for --rho1 and --delta, otherwise "
        "boxes."
    )
    run(f"publish patients.csv {' '.join(roles)} {asked} --out out --no-report")
    recipe = gh.load("out/release").recipe
    assert (recipe.method["name"], recipe.recoding["name"]) == (method, recoding)


def helps(command: str) -> dict[str, str]:
    return {
        name: option.help or ""
        for option in glasshouse.commands[command].params
        if isinstance(option, click.Option)
        for name in option.opts
    }


def test_the_help_names_the_other_defaults_as_they_are() -> None:
    attacks = helps("attack")
    assert gh.ReverseEngineering().most_runs == 1_000_000
    assert "The default is a million, or 50,000 for hint" in attacks["--most-runs"]
    hint = {field.name: field.default for field in fields(Hint)}
    assert hint["most_runs"] == 50_000
    assert f"the default, {hint['strength']}," in attacks["--strength"]
    assert f"The default is {_MEMORY >> 20} MiB" in helps("publish")["--memory"]
    for paper in (anatomy, angel, minimality, transparent):
        assert f"by default {paper.QUESTIONS}" in helps("reproduce")["--questions"]


def test_every_help_that_names_a_default_by_a_number_or_a_name_is_checked_above_or_in_other_tests() -> None:
    named = "|".join([r"[0-9]", *(rf"\b{name}\b" for name in [*METHODS, *RECODINGS])])
    found = {
        f"{command} {name}"
        for command in glasshouse.commands
        for name, text in helps(command).items()
        if "default" in text.lower() and re.search(named, text)
    }
    above = {"attack --most-runs", "attack --strength", "publish --method", "publish --recoding", "publish --memory"}
    elsewhere = {"reproduce --questions", "publish --edition"}  # editions: tests/rooms/journeys
    assert found == {*above, *elsewhere, "publish --retention"}  # which names its recoding
