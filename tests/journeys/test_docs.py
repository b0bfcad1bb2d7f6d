"""Every example of the documentation is run, and prints what the page says; every link leads somewhere.

A page is one session: its blocks run in order, in a folder of their own that holds a ``patients.csv``. A plain block
right after a ``python`` or ``sh`` block is what that block prints; ``...`` stands for anything. Of ``sh`` blocks the
lines that call ``glasshouse`` are run; a comment such as ``# exits with 1`` tells the exit code where it is not 0.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pyarrow.csv as pa_csv
import pytest
import yaml
from click.testing import CliRunner

import glasshouse as gh
from glasshouse import catalog
from glasshouse.cli.commands import METHODS, glasshouse
from tests.conftest import ROOT
from tests.postgres.database import Database
from tests.postgres.server import OWNER, Server

PAGES = sorted((ROOT / "docs").rglob("*.md"))
LINKED = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
REFERENCE = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """An example: its language, where it begins, what it says, and what it prints, if the page tells."""

    language: str
    line: int
    text: str
    expected: str | None


def blocks_of(page: Path) -> list[Block]:
    content = page.read_text(encoding="utf-8")
    found = list(FENCE.finditer(content))
    blocks = []
    for i, match in enumerate(found):
        after = found[i + 1] if i + 1 < len(found) else None
        if after is not None and (after[1] or content[match.end() : after.start()].strip()):
            after = None
        line = content.count("\n", 0, match.start(2)) + 1
        blocks.append(Block(match[1], line, match[2], None if after is None else after[2]))
    return blocks


def prose_of(page: Path) -> str:
    """The page without its blocks of code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def pages_with(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks_of(page))]


def run_python(block: Block, page: Path, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    code = "\n" * (block.line - 1) + block.text  # a trace then shows the line of the page
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(page), "exec"), names)
    return printed.getvalue()


def run_commands(block: Block) -> str:
    printed = ""
    for line in filter(lambda line: line.startswith("glasshouse "), block.text.splitlines()):
        result = CliRunner().invoke(glasshouse, shlex.split(line, comments=True)[1:])
        wanted = re.search(r"# exits with (\d+)", line)
        assert result.exit_code == (int(wanted[1]) if wanted else 0), f"{line}\n{result.output}"
        printed += result.output
    return printed


def stripped(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


@pytest.fixture
def clinic(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The database ``clinic`` on the server of the environment, with the same patients in a table."""
    for name, value in {"PGHOST": str(postgres.folder), "PGPORT": str(postgres.port), "PGUSER": OWNER}.items():
        monkeypatch.setenv(name, value)
    whole = Database(postgres, "postgres")
    whole.run("CREATE DATABASE clinic")
    Database(postgres, "clinic").load("patients", gh.synthetic.hospital_table(n=900, seed=1))
    yield
    whole.run("DROP DATABASE clinic WITH (FORCE)")


@pytest.mark.parametrize("page", pages_with("python", "sh"), ids=lambda page: page.stem)
def test_every_example_runs_and_prints_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if any("postgresql://" in block.text for block in blocks_of(page) if block.language in ("python", "sh")):
        request.getfixturevalue("clinic")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    pa_csv.write_csv(gh.synthetic.hospital_table(n=900, seed=1), tmp_path / "patients.csv")
    names: dict[str, Any] = {"__name__": page.stem}
    for block in blocks_of(page):
        if block.language not in ("python", "sh"):
            continue
        printed = stripped(run_python(block, page, names) if block.language == "python" else run_commands(block))
        if block.expected is not None:
            expected = stripped(block.expected)
            if not doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS):
                assert expected == printed, f"{page.name}, line {block.line}"
        elif block.language == "python":
            assert printed == "", f"{page.name}, line {block.line} prints what the page does not show"


def test_there_are_examples_to_run() -> None:
    blocks = [block for page in PAGES for block in blocks_of(page)]

    assert sum(block.language == "python" and block.expected is not None for block in blocks) >= 30
    assert sum("glasshouse " in block.text for block in blocks if block.language == "sh") >= 4


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.stem)
def test_links_lead_to_pages_and_headings_that_exist(page: Path) -> None:
    for link in LINK.findall(prose_of(page)):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_file(), f"{page.name} links to {link}"
        assert not anchor or anchor in anchors_of(target), f"{page.name} links to {link}"


def anchors_of(page: Path) -> set[str]:
    """The anchors that headings get, in the rendered pages and on code forges alike."""
    plain = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in HEADING.findall(prose_of(page)))
    return {re.sub(r"\s+", "-", heading) for heading in plain}


def test_the_navigation_lists_every_page_once() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))

    assert sorted(listed_in(config["nav"])) == sorted(str(page.relative_to(ROOT / "docs")) for page in PAGES)


def listed_in(section: list[dict[str, Any]]) -> list[str]:
    """The pages of a section of the navigation, and of the sections in it."""
    entries = [entry for titled in section for entry in titled.values()]
    return [page for entry in entries for page in ([entry] if isinstance(entry, str) else listed_in(entry))]


def test_the_reference_has_every_public_name_and_nothing_that_is_not_there() -> None:
    documented = REFERENCE.findall((ROOT / "docs" / "reference.md").read_text(encoding="utf-8"))
    for name in documented:
        resolve(name)
    modules = {"examples", "synthetic"}

    assert len(set(documented)) == len(documented)
    assert set(gh.__all__) - modules <= {name.rpartition(".")[2] for name in documented}


def resolve(name: str) -> object:
    """Find what a dotted name means, a module or something in one."""
    home, _, last = name.rpartition(".")
    try:
        return getattr(importlib.import_module(home), last)
    except ImportError:
        return getattr(resolve(home), last)


@pytest.mark.parametrize("command", sorted(glasshouse.commands))
def test_every_option_of_the_command_line_is_explained(command: str) -> None:
    prose = "".join(prose_of(page) for page in PAGES)
    options = [
        name
        for parameter in glasshouse.commands[command].params
        if isinstance(parameter, click.Option)
        for name in parameter.opts
    ]

    assert [] == [name for name in options if f"`{name}" not in prose]


def test_everything_in_the_catalogue_is_on_the_page_about_publishing() -> None:
    page = (ROOT / "docs" / "publishing.md").read_text(encoding="utf-8")
    catalogued = [*catalog.PRINCIPLES.values(), *catalog.METHODS.values(), *catalog.RECODINGS.values()]

    assert [] == [thing.__name__ for thing in catalogued if f"{thing.__name__}(" not in page]


def test_the_page_about_methods_tells_of_each_one_and_whether_it_is_random() -> None:
    page = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`(\w+)`\]\(#\w+\) \| [^|]+ \| (yes|no) \|", page, re.MULTILINE)

    assert sorted(rows) == sorted((m.__name__, "yes" if m.randomised else "no") for m in catalog.METHODS.values())
    assert {m.__name__ for m in catalog.METHODS.values()} <= set(HEADING.findall(page))
    assert [] == [name for name in METHODS if f"`{name}`" not in page]


def test_make_targets_that_the_documentation_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in LINKED:
        for target in re.findall(r"`make ([a-z]+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name} names make {target}"


def test_contributors_are_told_the_layers_that_are_enforced() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]

    assert "\n".join(layers) + "\n" in [block.text for block in blocks_of(ROOT / "CONTRIBUTING.md")]
