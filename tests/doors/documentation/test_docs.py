"""Every example of the documentation is run, and prints what the page says; every link leads somewhere.

A page is one session: its blocks run in order, in a folder of their own that holds a ``patients.csv``. A plain block
right after a ``python``, ``sh`` or ``bash`` block is what that block prints; ``...`` stands for anything. Of ``sh``
blocks the lines that call ``glasshouse`` are run in this process; a comment such as ``# exits with 1`` tells the exit
code where it is not 0. Blocks of ``bash`` are run by a real shell, with ``glasshouse`` on its path, and those of
``make`` by a real ``make``. Blocks of ``toml`` and ``yaml`` are read as what the page says that they are; one that
begins with ``# policy.toml`` is written to a file of that name. What is not run is in ``NOT_RUN``, with the reason.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
import yaml
from click.testing import CliRunner

import glasshouse as gh
from glasshouse import catalog
from glasshouse.catalog import METHODS
from glasshouse.cli.commands import glasshouse
from glasshouse.policy import keys
from tests.conftest import ROOT
from tests.doors.postgres.database import Database
from tests.doors.postgres.server import OWNER, Server

PAGES = sorted((ROOT / "docs").rglob("*.md"))
LINKED = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
NOT_RUN = {  # the first line of a block, and why it cannot be run
    "under a principle": "a drawing: it is that of the package's docstring",
    "src/glasshouse/": "the tree: it is compared with the folders that there are",
    "cli": "the layers: they are compared with those that are enforced",
    "if cython.compiled:": "for Cython: a test sees that kernels have these lines",
    "glasshouse inspect FILE          what a table contains: types, risks, likely roles": "compared with the commands",
    "KAnonymity(k=)                    n >= k": "formulas, which tests/twins has as programs",
    "equal           1 between any two values": "formulas, which tests/twins has as programs",
    "23    2024-05-01    flu       one value": "a legend of cells",
    "k                   smallest n": "formulas, which tests/twins has as programs",
    "prosecutor      with probability 1 / f: the attacker knows that the person is in the table": "formulas",
    "python benchmarks/mirror.py": "it takes half an hour, and other people's tables",
    "made = gh.spark.publish(": "it needs a cluster: tests/doors/spark starts one",
    "glasshouse publish people/ --quasi age,sex,zipcode --sensitive disease --ell 5 --engine spark \\": "the same",
    "pip install 'glasshouse[studio]'": "it stays until it is stopped: tests/doors/studio starts it",
    "glasshouse studio out/release": "the same",
    "0 3 1 * *  cd /srv/clinic && glasshouse publish policy.toml --after last --out new --json > new.json": (
        "a line for cron: a test sees that its command can be read"
    ),
    "E[1 / F] = p * integral from 0 to 1 of  u^(f-1) / (p + (1-p) * u)  du": "a formula",
}
RUN = ("python", "sh", "bash", "make", "toml", "yaml")
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))
TOO_LONG = "glasshouse reproduce "  # with everybody it takes an hour, and other people's tables: its words are checked
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
REFERENCE = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)
HOMES = re.compile(r"^\| `([\w.]+)` \| (.+) \|$", re.MULTILINE)


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
    return [page for page in LINKED if any(block.language in languages for block in blocks_of(page))]


def name_of(page: Path) -> str:
    """The path of a page, for names of tests."""
    return page.relative_to(ROOT).with_suffix("").as_posix().removeprefix("docs/")


def run_python(block: Block, page: Path, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    code = "\n" * (block.line - 1) + block.text  # a trace then shows the line of the page
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(page), "exec", dont_inherit=True), names)
    return printed.getvalue()


def run_commands(block: Block) -> str:
    printed = ""
    for line in block.text.splitlines():
        command = re.sub(r"^make demo\b", "glasshouse demo --out demo", line)  # what the Makefile does
        if not command.startswith("glasshouse "):
            continue  # `make` and `pip` are checked below, and not run
        words = shlex.split(command, comments=True)[1:]
        words, into = (words[:-2], words[-1]) if words[-2:-1] == [">"] else (words, None)
        result = CliRunner().invoke(glasshouse, words)
        wanted = re.search(r"# exits with (\d+)", line)
        assert result.exit_code == (int(wanted[1]) if wanted else 0), f"{line}\n{result.output}"
        if into is not None:
            Path(into).expanduser().write_text(result.output, encoding="utf-8")
        elif not line.startswith("make "):
            printed += result.output
    return printed


def run_shell(block: Block) -> str:
    """Run a block by bash, or by make, which must succeed; ``glasshouse`` is this Python's."""
    tools = Path("tools-of-the-page")
    if not tools.exists():
        tools.mkdir()
        (tools / "glasshouse").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m glasshouse "$@"\n')
        (tools / "glasshouse").chmod(0o755)
    command = ["bash", "-c", block.text]
    if block.language == "make":
        Path("Makefile").write_text(block.text, encoding="utf-8")
        command = ["make", "--silent"]
    path = {"PATH": f"{tools.resolve()}:{os.environ['PATH']}", "PYTHONPATH": f"{ROOT / 'src'}"}
    made = subprocess.run(command, env=os.environ | path, capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"line {block.line}: {made.stdout}{made.stderr}"
    return made.stdout if block.language == "bash" else ""


def read_data(block: Block) -> None:
    """Read a block of TOML or YAML as what the page says that it is: a policy, or a taxonomy."""
    named = re.match(r"# ([\w-]+\.(?:toml|yaml))\n", block.text)
    file = Path(named[1] if named else f"block.{block.language}")
    file.write_text(block.text, encoding="utf-8")
    if block.language == "toml":
        policy = gh.load_policy(file)
        gh.publish(policy.read(), **policy.publish_arguments() | {"out": f"by-{file.stem}"})
    else:
        assert "influenza" in repr(gh.Taxonomy.from_file(file))


def stripped(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def is_as_shown(expected: str, printed: str) -> bool:
    """Whether something printed what a page shows, where ``...`` stands for anything."""
    return doctest.OutputChecker().check_output(stripped(expected), stripped(printed), doctest.ELLIPSIS)


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


def tables_of(page: Path, folder: Path) -> None:
    """Write the tables that pages work with: small, and about people who do not exist."""
    pa_csv.write_csv(gh.synthetic.hospital_table(n=900, seed=1), folder / "patients.csv")
    if page in HOW_TO:
        everybody = gh.synthetic.hospital_table(n=1_200, seed=1)
        pa_csv.write_csv(everybody.slice(0, 900), folder / "2026.csv")
        pa_csv.write_csv(everybody.slice(100), folder / "2027.csv")
        drugs = pa.array([["A", "B", "C", "D"][i % 4] for i in range(400)])
        staff = everybody.slice(0, 400).select(["age", "sex", "disease"]).append_column("drug", drugs)
        pa_csv.write_csv(staff, folder / "staff.csv")


@pytest.mark.parametrize("page", pages_with(*RUN), ids=name_of)
def test_every_example_runs_and_prints_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if any("postgresql://" in block.text for block in blocks_of(page) if block.language in ("python", "sh")):
        request.getfixturevalue("clinic")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("HOME", str(tmp_path))
    if any(block.language == "make" for block in blocks_of(page)) and shutil.which("make") is None:
        pytest.skip("make is not here")
    tables_of(page, tmp_path)
    names: dict[str, Any] = {"__name__": page.stem}
    for block in blocks_of(page):
        if block.language in ("toml", "yaml"):
            read_data(block)
        if block.language not in ("python", "sh", "bash", "make"):
            continue
        if block.language == "python":
            printed = stripped(run_python(block, page, names))
        else:
            printed = stripped(run_commands(block) if block.language == "sh" else run_shell(block))
        if block.expected is not None:
            if not is_as_shown(block.expected, printed):
                assert stripped(block.expected) == printed, f"{page.name}, line {block.line}"
        elif block.language == "python":
            assert printed == "", f"{page.name}, line {block.line} prints what the page does not show"


def test_there_are_examples_to_run() -> None:
    blocks = [block for page in PAGES for block in blocks_of(page)]

    assert sum(block.language == "python" and block.expected is not None for block in blocks) >= 80
    assert sum("glasshouse " in block.text for block in blocks if block.language == "sh") >= 15


def test_what_is_not_run_is_of_a_kind_that_cannot_be() -> None:
    met = set()
    for page in LINKED:
        blocks = blocks_of(page)
        shown = [before.language in ("python", "sh", "bash") and before.expected is not None for before in blocks]
        for block, is_output in zip(blocks, [False, *shown], strict=False):
            first = block.text.splitlines()[0].strip()
            if block.language in RUN or (not block.language and is_output):
                continue
            assert block.language in ("", "text"), f"{page.name}, line {block.line}: {block.language} is not run"
            if first.startswith(TOO_LONG):
                glasshouse.commands["reproduce"].make_context("reproduce", shlex.split(first)[2:])
                continue
            assert first in NOT_RUN, f"{page.name}, line {block.line} is not run"
            met.add(first)

    assert set(NOT_RUN) == met


def test_no_block_hides_from_the_tests() -> None:
    for page in LINKED:
        content = page.read_text(encoding="utf-8")
        assert content.count("```") == 2 * len(blocks_of(page)), f"{page.name} has a block that is not at the margin"
        assert "~~~" not in content, page.name


def test_commands_that_are_not_run_are_those_of_make_and_pip() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in LINKED:
        for block in filter(lambda block: block.language == "sh", blocks_of(page)):
            for line in filter(None, block.text.splitlines()):
                words = shlex.split(line, comments=True)
                if words[:2] == ["pip", "install"]:
                    wanted = re.fullmatch(r"\.(?:\[([\w,]+)\])?", words[2])
                    assert wanted is not None, line
                    assert set((wanted[1] or "").split(",")) - {""} <= extras.keys(), line
                elif words[0] == "make":
                    assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), line
                else:
                    assert words[0] == "glasshouse", f"{page.name}: {line}"


def test_every_how_to_has_commands_that_are_run() -> None:
    """Each guide works as it stands: it has commands or a program, and none that only looks like one."""
    assert len(HOW_TO) >= 10
    for page in HOW_TO:
        blocks = blocks_of(page)
        assert any(block.language in ("python", "sh", "bash") and "glasshouse" in block.text for block in blocks), page
        for block in blocks:
            first = block.text.splitlines()[0]
            shown = block.language not in RUN and first.strip().startswith("glasshouse ")
            assert not shown, f"{page.name}, line {block.line} is a command that is not run"


def test_the_line_for_cron_is_a_command_that_can_be_read() -> None:
    (line,) = [first for first in NOT_RUN if first.startswith("0 3 1 * *")]
    words = shlex.split(line.partition("&& glasshouse publish ")[2].partition(" > ")[0])

    glasshouse.commands["publish"].make_context("publish", [str(ROOT / "pyproject.toml"), *words[1:]])


def test_the_drawing_of_the_rooms_is_that_of_the_package() -> None:
    drawn = [
        line.strip().split("  ")[0]
        for line in (gh.__doc__ or "").splitlines()
        if re.search(r"-->|under a|^ +\|$", line)
    ]
    block = next(block for block in blocks_of(ROOT / "CONTRIBUTING.md") if "--->" in block.text)

    assert drawn == [line.strip().split("  ")[0] for line in block.text.splitlines()]


def test_the_page_of_commands_lists_them_all() -> None:
    listed = next(block for block in blocks_of(ROOT / "docs" / "commands.md") if block.language == "text")

    assert sorted(glasshouse.commands) == sorted(line.split()[1] for line in listed.text.splitlines())


@pytest.mark.parametrize("page", LINKED, ids=name_of)
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


def test_the_reference_tells_where_names_are_that_the_package_has_not() -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    intro = page[: page.index("\n## ")]
    elsewhere = {name for name in REFERENCE.findall(page) if name.rpartition(".")[2] not in gh.__all__}
    elsewhere = {name for name in elsewhere if not name.startswith(("glasshouse.spark.", "glasshouse.synthetic."))}

    assert elsewhere == {
        f"{home}.{name}" for home, names in HOMES.findall(intro) for name in re.findall(r"`(\w+)`", names)
    }


def test_the_reference_has_every_public_name_and_nothing_that_is_not_there() -> None:
    documented = REFERENCE.findall((ROOT / "docs" / "reference.md").read_text(encoding="utf-8"))
    for name in documented:
        resolve(name)
    modules = {"examples", "spark", "synthetic"}

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


@pytest.mark.parametrize(
    ("name", "catalogued"),
    [("principles", catalog.PRINCIPLES), ("methods", catalog.METHODS), ("recodings", catalog.RECODINGS)],
)
def test_everything_in_the_catalogue_is_on_the_page_of_its_room(name: str, catalogued: dict[str, type]) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")

    assert [] == [thing.__name__ for thing in catalogued.values() if f"{thing.__name__}(" not in page]


def test_every_key_of_a_policy_is_on_its_page() -> None:
    page = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `\[([\w.]+)\]` \| (.+) \|$", page, re.MULTILINE))
    rows["columns"] = rows.pop("columns.NAME")

    assert keys.TABLES.keys() == rows.keys()
    for table, known in {**keys.TABLES, "columns": keys.COLUMN}.items():
        assert [] == [key for key in known if f"`{key}`" not in rows[table]], table


def test_every_step_of_a_log_is_on_the_page_of_commands() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    told = re.search(r"^\| `step` \| (.+) \|$", page, re.MULTILINE)
    made = {
        name
        for path in (ROOT / "src" / "glasshouse").rglob("*.py")
        for name in re.findall(r"\bstep\(\s*\"(\w+)\"", path.read_text(encoding="utf-8"))
    }

    assert told is not None
    assert made == set(re.findall(r"`(\w+)`", told[1]))


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

    for page in (ROOT / "CONTRIBUTING.md", ROOT / "docs" / "contributing" / "rooms.md"):
        assert "\n".join(layers) + "\n" in [block.text for block in blocks_of(page)], page.name


def test_contributors_are_told_every_folder_of_the_tree() -> None:
    """Every folder of the package and of its rooms, but for those that lie deeper; and every file beside them."""
    house = ROOT / "src" / "glasshouse"
    (tree,) = [block.text for block in blocks_of(ROOT / "CONTRIBUTING.md") if block.text.startswith("src/glasshouse/")]
    rooms, inside = set(), set()
    for line in tree.splitlines()[1:]:
        room, _, deeper = line.partition(" | ")
        if room.split()[0].endswith("/"):
            rooms.add(room.split()[0].rstrip("/"))
            inside |= {f"{room.split()[0]}{name.rstrip('/')}" for name in deeper.split()}

    assert rooms == {path.parent.name for path in house.glob("*/__init__.py")}
    assert inside == {path.parent.relative_to(house).as_posix() for path in house.glob("*/*/__init__.py")} | {
        "pages/templates"
    }
    assert set(re.findall(r"\w+\.py", tree)) == {path.name for path in house.glob("*.py")} - {
        "__init__.py",
        "__main__.py",
    }


def test_contributors_are_told_how_kernels_share_code() -> None:
    (shown,) = [block.text for block in blocks_of(ROOT / "CONTRIBUTING.md") if block.text.startswith("if cython")]
    lines = shown.splitlines()
    kernels = [path.read_text(encoding="utf-8") for path in (ROOT / "src" / "glasshouse").rglob("_*kernels.py")]

    assert any(all(f"{line}\n" in kernel for line in lines) for kernel in kernels)


def test_contributors_are_told_files_that_there_are() -> None:
    """Of paths between backquotes, those of the exercise alone are not there."""
    made_up = {"grouping/strips.py", "recoding/agreement.py", "adversary/shares.py"}
    pages = (ROOT / "CONTRIBUTING.md", ROOT / "docs" / "contributing" / "adding.md")
    named = re.findall(r"`([\w/]+/(?:\w+\.\w+)?)`", "".join(map(prose_of, pages)))
    homes = (ROOT, ROOT / "src" / "glasshouse", ROOT / "tests" / "rooms", ROOT / "tests" / "doors")

    assert made_up <= set(named)
    assert [] == [path for path in named if path not in made_up and not any((home / path).exists() for home in homes)]
