# SPDX-License-Identifier: Apache-2.0
"""Every command's help has examples, and every example runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse.cli.commands import glasshouse
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
        line = example.partition(" > ")[0]
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
