"""What methods, recodings and principles are is declared by them, and the published format is spelled in one file."""

from __future__ import annotations

import ast
import sys
import threading
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import glasshouse as gh
from glasshouse import catalog
from glasshouse.release import layout
from tests.architecture.house import tree_of
from tests.conftest import ROOT

PACKAGE = ROOT / "src" / "glasshouse"
FOLDERS = {
    "grouping": {cls.__name__ for cls in catalog.METHODS.values()},
    "recoding": {cls.__name__ for cls in catalog.RECODINGS.values()},
    "principles": {cls.__name__ for cls in (*catalog.PRINCIPLES.values(), *catalog.TARGETS.values())}
    | {"BackgroundSensitive"},
}
MOST_FILES = 42
"""Files whose code the default publish runs; the aim is 35."""

TABLES = {"qit", "st", "gt", "bt"}
SPELLED = {layout.GROUP, layout.BATCH, layout.COUNT, layout.SIZE} | TABLES
SECOND_SPELLING = ("release/layout.py", "verification/stream_count.py", "verification/verify_table.py")
OTHER_MEANINGS = ("analyst/questions/select_item.py", "analyst/questions/sql.py", "pages/numbers.py", "papers/angel.py")
"""Files in which the same letters are a comparison of SQL, the end of 1st, or a marginal of ANGEL Table 9."""


def sources(*but: str) -> list[Path]:
    """The files of the package, but for these folders and files."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return [path for path in paths if not {path.relative_to(PACKAGE).parts[0], inside(path)} & set(but)]


def inside(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@cache
def classes_tested(tree: ast.AST) -> set[str]:
    """The names of classes that code asks something to be an instance of."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            named = ast.walk(node.args[1])
        elif isinstance(node, ast.MatchClass):
            named = ast.walk(node.cls)
        else:
            continue
        found |= {part.id if isinstance(part, ast.Name) else part.attr for part in named if is_name(part)}
    return found


def is_name(node: Any) -> bool:
    return isinstance(node, ast.Name | ast.Attribute)


@pytest.mark.parametrize("folder", FOLDERS)
def test_nobody_outside_its_folder_asks_for_a_class_of_the_catalogue(folder: str) -> None:
    for path in sources(folder):
        asked = classes_tested(tree_of(path)) & FOLDERS[folder]
        assert asked == set(), f"{inside(path)}: let the classes declare what is asked of {', '.join(asked)}"


def test_a_test_for_a_class_is_seen() -> None:
    code = "isinstance(a, Mirror | p.AllOf)\nmatch b:\n    case gh.Boxes():\n        pass\n"

    assert classes_tested(ast.parse(code)) >= {"Mirror", "AllOf", "Boxes"}


def test_the_published_format_is_spelled_in_one_file() -> None:
    for path in sources(*SECOND_SPELLING, *OTHER_MEANINGS):
        spelled = {
            node.value for node in ast.walk(tree_of(path)) if isinstance(node, ast.Constant) and node.value in SPELLED
        }
        assert spelled == set(), f"{inside(path)} spells {', '.join(spelled)}: take the name from release/layout.py"


def test_every_recoding_declares_a_layout_and_every_method_its_usual_parameters() -> None:
    for name, recoding in catalog.RECODINGS.items():
        assert layout.LAYOUTS[name] is recoding.layout
        assert recoding.name == name
    for method in catalog.METHODS.values():
        assert all(type(usual) is method for usual in method.usual())


def test_the_default_publish_runs_code_of_few_files() -> None:
    table, principle = gh.synthetic.hospital(200, seed=1), gh.LDiversity(ell=3)
    gh.publish(table, principle=principle)  # so that everything is loaded
    run: set[str] = set()

    def look(frame: FrameType, _event: str, _arg: object) -> None:
        run.add(frame.f_code.co_filename)

    before = sys.getprofile()
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        gh.publish(table, principle=principle)
    finally:
        sys.setprofile(before)
        threading.setprofile(None)  # type: ignore[arg-type]
    package = Path(gh.__file__).parent  # where it is installed, which need not be among the sources
    files = sorted(str(Path(name).relative_to(package)) for name in run if name.startswith(f"{package}/"))

    assert len(files) > 10
    assert len(files) <= MOST_FILES, files
