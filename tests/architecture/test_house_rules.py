"""Rules of the house that no other tool checks."""

from __future__ import annotations

import ast
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import PurePath

import pytest

import glasshouse
from glasshouse import catalog
from tests.architecture.house import PLAIN, SOURCES, compare, place, tree_of
from tests.architecture.public_names import STUB, stub
from tests.conftest import ROOT

HEAVY = [
    "pyarrow",
    "pandas",
    "polars",
    "duckdb",
    "click",
    "rich",
    "cryptography",
    "cython",
    "jinja2",
    "yaml",
    "pyspark",
]


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


def test_no_file_has_the_name_of_a_public_function() -> None:
    top = {path.stem for path in (ROOT / "src" / "glasshouse").iterdir()}
    hidden = [name for name in glasshouse.__all__ if name in top and inspect.isfunction(getattr(glasshouse, name))]

    compare("importing the file would hide the function", hidden)


def test_every_file_has_its_licence_line_and_says_what_it_is() -> None:
    licence = "# SPDX-License-Identifier: Apache-2.0\n"

    compare("no licence", [place(path) for path in SOURCES if not path.read_text(encoding="utf-8").startswith(licence)])
    compare("no docstring", [place(path) for path in SOURCES if not ast.get_docstring(tree_of(path))])


def test_every_file_lists_what_it_offers() -> None:
    empty, private = [], []
    for path in PLAIN:
        body = tree_of(path).body
        lists = [
            node.value for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        ]
        exported = {e.value for value in lists for e in ast.walk(value) if isinstance(e, ast.Constant)}
        defined = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        if (
            path.name not in ("__init__.py", "__main__.py")
            and not exported
            and not any(isinstance(value, ast.Call) for value in lists)
        ):
            empty.append(place(path))
        private += [f"{place(path)}::{name}" for name in exported & defined if str(name).startswith("_")]

    compare("no __all__", empty)
    compare("offers what is private", private)


def test_documented_parameters_exist() -> None:
    missing = []
    for path in PLAIN:
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.FunctionDef) or node.args.kwarg is not None:
                continue
            arguments = node.args
            known = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
            documented = documented_parameters(ast.get_docstring(node) or "")
            missing += [f"{place(path)}::{node.name}: {name}" for name in documented if name not in known]

    compare("documents a parameter that is not there", missing)


def documented_parameters(docstring: str) -> list[str]:
    match = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", docstring, re.DOTALL | re.MULTILINE)
    if match is None:
        return []
    heads = [line for line in match.group(1).splitlines() if line and not line.startswith(" ")]
    return [name.strip() for head in heads for name in head.split(",")]


def test_methods_and_recodings_state_their_guarantee_and_show_an_example() -> None:
    things = [*catalog.METHODS.values(), *catalog.RECODINGS.values()]
    sections = ("Guarantee\n---------", "Examples\n--------")

    missing = [
        (thing.__name__, section) for thing in things for section in sections if section not in inspect.getdoc(thing)
    ]
    compare("has no section", [f"{name}: {section.split()[0]}" for name, section in missing])


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here, which lists the files of the project")
def test_the_project_names_no_machine() -> None:
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split("\0")
    pattern = re.compile("/(?:" + "|".join(["wor" + "k", "roo" + "t", "home/[a-z]+"]) + ")/")
    paths = [ROOT / name for name in files if name and PurePath(name).suffix in {".py", ".md", ".toml", ".yml", ""}]
    read = {path: path.read_text(encoding="utf-8", errors="replace") for path in paths if path.is_file()}

    compare("names a machine", [str(path.relative_to(ROOT)) for path, text in read.items() if pattern.search(text)])


def test_a_rule_tells_all_that_breaks_it() -> None:
    compare("too long", [])
    with pytest.raises(AssertionError, match=r"too long: a\ntoo long: b"):
        compare("too long", ["b", "a"])
