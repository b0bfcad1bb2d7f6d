"""How large a folder, a file and a function may be.

Each list names what is larger today. It only shrinks: what has become small enough must be taken off, and nothing is
put on it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from tests.architecture.house import PLAIN, SOURCES, compare, place, tree_of

FILES_IN_FOLDER, LINES_OF_FILE, LINES_OF_BODY, COMPLEXITY = 18, 700, 80, 25

FULL_FOLDERS = [".", "adversary", "analyst", "cli", "grouping", "microdata", "principles", "recoding", "release"]
LONG_FILES = [
    "adversary/reverse_engineering/worlds/walk.py",
    "adversary/reverse_engineering/cuts/decisions.py",
    "adversary/reverse_engineering/greedy/prefixes.py",
    "adversary/reverse_engineering/greedy/sequences.py",
]
LONG_FUNCTIONS = [
    "adversary/reverse_engineering/cuts/cut_failures.py::_count",
    "microdata/table.py::read",
    "publish_file.py::publish_file",
]
COMPLEX_FUNCTIONS = [
    "adversary/reverse_engineering/cuts/cut_worlds.py::count",
    "adversary/reverse_engineering/cuts/cut_failures.py::_count",
    "adversary/reverse_engineering/greedy/runs.py::by_search",
    "adversary/reverse_engineering/greedy/sequences.py::_weigh",
    "analyst/grouping_columns.py::of",
    "microdata/table.py::read",
    "release/package/manifest.py::_table",
]

FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
BRANCH = ast.If | ast.IfExp | ast.For | ast.While | ast.ExceptHandler | ast.match_case | ast.Assert


def body_of(function: FUNCTION) -> list[ast.stmt]:
    """What a function does: its statements without its docstring."""
    return function.body[1:] if ast.get_docstring(function) is not None else function.body


def complexity(function: FUNCTION) -> int:
    """Cyclomatic complexity: one, and one for each branch, loop, case, handler, and further side of ``and`` and ``or``.

    What is defined inside counts too.

    >>> complexity(ast.parse("def f(x): return [y for y in x if y] if x and x[0] else x").body[0])
    5
    """
    found = 1
    for node in ast.walk(function):
        if isinstance(node, BRANCH):
            found += 1
        elif isinstance(node, ast.BoolOp):
            found += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            found += 1 + len(node.ifs)
    return found


def lines(function: FUNCTION) -> int:
    """The lines of a body, from its first statement to its last."""
    body = body_of(function)
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0  # type: ignore[operator]


def functions() -> Iterator[tuple[str, FUNCTION]]:
    """Every function outside kernels, with the name it has here."""
    for path in PLAIN:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, FUNCTION):
                yield f"{place(path)}::{node.name}", node


def test_no_folder_is_too_full_to_be_overlooked() -> None:
    full = Counter(place(path.parent) for path in SOURCES)

    found = [folder for folder, n in full.items() if n > FILES_IN_FOLDER]
    compare(f"more than {FILES_IN_FOLDER} files in a folder", found, FULL_FOLDERS)


def test_no_file_is_too_long_to_be_read() -> None:
    found = [place(path) for path in PLAIN if len(path.read_text(encoding="utf-8").splitlines()) > LINES_OF_FILE]
    compare(f"more than {LINES_OF_FILE} lines in a file", found, LONG_FILES)


def test_no_function_is_too_long_to_be_seen_at_once() -> None:
    found = [name for name, function in functions() if lines(function) > LINES_OF_BODY]
    compare(f"more than {LINES_OF_BODY} lines in a function", found, LONG_FUNCTIONS)


def test_no_function_has_too_many_ways_through() -> None:
    found = [name for name, function in functions() if complexity(function) > COMPLEXITY]
    compare(f"complexity above {COMPLEXITY}", found, COMPLEX_FUNCTIONS)
