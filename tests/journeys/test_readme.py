"""Every block of the README is run, and prints what the README says."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from glasshouse.cli.commands import glasshouse
from tests.conftest import ROOT

BLOCK = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    return BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))


def outputs_of(language: str) -> list[tuple[str, str]]:
    """Blocks of a language, each with the plain block that follows it."""
    found = blocks()
    return [(code, found[i + 1][1]) for i, (kind, code) in enumerate(found) if kind == language and not found[i + 1][0]]


@pytest.mark.parametrize(("code", "expected"), outputs_of("python"))
def test_python_blocks_print_what_the_readme_says(code: str, expected: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})

    assert expected == printed.getvalue()


@pytest.mark.parametrize(("line", "expected"), [pair for pair in outputs_of("sh") if pair[0].startswith("glasshouse ")])
def test_command_lines_print_what_the_readme_says(
    line: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    assert runner.invoke(glasshouse, ["demo", "--out", "demo"]).exit_code == 0
    result = runner.invoke(glasshouse, shlex.split(line)[1:])

    assert result.exit_code == 0
    assert doctest.OutputChecker().check_output(expected, result.output, doctest.ELLIPSIS), result.output


def test_there_is_something_to_run() -> None:
    kinds = [kind for kind, _ in blocks()]

    assert len(outputs_of("python")) >= 1
    assert kinds.count("sh") >= 2


def test_make_targets_that_the_readme_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z]+)", readme, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_links_of_the_readme_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text(encoding="utf-8")):
        assert (ROOT / link).exists(), link
