"""Rules of the house that no other tool checks."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import glasshouse
from glasshouse import catalog
from tests.architecture.public_names import STUB, stub
from tests.conftest import ROOT

SOURCES = sorted((ROOT / "src" / "glasshouse").rglob("*.py"))
PLAIN = [path for path in SOURCES if not path.name.endswith("kernels.py")]
HEAVY = ["pyarrow", "pandas", "polars", "duckdb", "click", "rich", "cryptography", "cython", "jinja2", "yaml"]


def modules_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after running ``code``."""
    script = f"{code}\nimport sys; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = modules_after("import glasshouse")

    assert not loaded & {*HEAVY, "numpy"}


def test_help_loads_no_data_library() -> None:
    loaded = modules_after(
        "import sys; sys.argv = ['glasshouse', '--help']\n"
        "from glasshouse.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
    )

    assert not loaded & {*HEAVY, "numpy"} - {"click"}


def test_every_public_name_is_listed_sorted_and_there() -> None:
    assert sorted(glasshouse.__all__) == glasshouse.__all__
    for name in glasshouse.__all__:
        assert getattr(glasshouse, name) is not None


def test_type_checkers_see_every_public_name() -> None:
    assert stub() == STUB.read_text(encoding="utf-8"), "write it again: make fix"


@pytest.mark.parametrize("name", ["publish", "verify"])
def test_importing_a_file_does_not_hide_the_function_of_its_name(name: str) -> None:
    importlib.import_module(f"glasshouse.{name}")

    assert inspect.isfunction(getattr(glasshouse, name))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_every_file_has_its_licence_line_and_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n")
    assert ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_dunder_all_is_complete(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path.name == "__main__.py":
        return
    lists = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    exported = {e.value for value in lists for e in ast.walk(value) if isinstance(e, ast.Constant)}
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}

    assert exported or any(isinstance(value, ast.Call) for value in lists), "every file lists what it offers"
    assert {name for name in exported & defined if name.startswith("_")} == set()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_no_file_is_a_catch_all_by_name(path: Path) -> None:
    assert path.stem not in {"utils", "core", "common", "helpers", "misc", "base", "manager", "handler"}


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_documented_parameters_exist(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.FunctionDef) or node.args.kwarg is not None:
            continue
        arguments = node.args
        known = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        for name in documented_parameters(ast.get_docstring(node) or ""):
            assert name in known, f"{path.name}: {node.name} documents {name!r}"


def documented_parameters(docstring: str) -> list[str]:
    match = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", docstring, re.DOTALL | re.MULTILINE)
    if match is None:
        return []
    heads = [line for line in match.group(1).splitlines() if line and not line.startswith(" ")]
    return [name.strip() for head in heads for name in head.split(",")]


@pytest.mark.parametrize("thing", [*catalog.METHODS.values(), *catalog.RECODINGS.values()], ids=lambda t: t.__name__)
def test_methods_and_recodings_state_their_guarantee_and_show_an_example(thing: type) -> None:
    docstring = inspect.getdoc(thing) or ""

    assert "Guarantee\n---------" in docstring
    assert "Examples\n--------" in docstring


def test_the_project_names_no_machine() -> None:
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split("\0")
    pattern = re.compile("/(?:" + "|".join(["wor" + "k", "roo" + "t", "home/[a-z]+"]) + ")/")
    for name in filter(None, files):
        path = ROOT / name
        if path.is_file() and path.suffix in {".py", ".md", ".toml", ".yml", ""}:
            assert not pattern.search(path.read_text(encoding="utf-8", errors="replace")), name
