"""The files of the house, and how a rule names what breaks it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tests.conftest import ROOT

HOUSE = ROOT / "src" / "glasshouse"
SOURCES = sorted(HOUSE.rglob("*.py"))


def is_kernel(path: Path) -> bool:
    """Compiled code: typed for Cython, and long because it calls little."""
    return path.name.startswith("_") and path.name.endswith("kernels.py")


PLAIN = [path for path in SOURCES if not is_kernel(path)]


def place(path: Path) -> str:
    """A file as the rules name it: its path below ``src/glasshouse``."""
    return path.relative_to(HOUSE).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def compare(rule: str, found: Iterable[str]) -> None:
    """All that breaks a rule is told at once."""
    message = [f"{rule}: {each}" for each in sorted(set(found))]
    assert not message, "\n" + "\n".join(message)
