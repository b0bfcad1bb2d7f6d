"""Reading cells back as an analyst would, from their text alone: does a cell cover a value?

The grammar is that of `glasshouse.cells`; this reader is written from its description.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

OR_MISSING = " or missing"


def split(text: str) -> list[str]:
    """Cut at the commas that are not in quotes."""
    parts, quoted, start = [], False, 0
    for i, mark in enumerate(text):
        quoted ^= mark == '"'
        if mark == "," and not quoted:
            parts.append(text[start:i])
            start = i + 2
    return [*parts, text[start:]]


def unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def reader(example: Any) -> Callable[[str], Any]:
    """How to read a value of the same type as this one."""
    if isinstance(example, bool):
        return {"true": True, "false": False}.__getitem__
    for kind in (dt.datetime, dt.date, dt.time):
        if isinstance(example, kind):
            return kind.fromisoformat
    return unquoted if isinstance(example, str) else type(example)


def covers(cell: str, value: Any, example: Any, order: Sequence[Any] | None = None, tree: Any = None) -> bool:
    """Whether a cell says that the value may be this one.

    Parameters
    ----------
    example
        A known value of the column, which tells its type.
    order
        The declared order of a category.
    tree
        By label, the values below it.
    """
    if cell == "missing":
        return value is None
    if cell.endswith(OR_MISSING):
        return value is None or covers(cell.removesuffix(OR_MISSING), value, example, order, tree)
    if value is None:
        return False
    if tree is not None and cell in tree:
        return str(value) in tree[cell]
    read = reader(example)
    if cell.startswith("["):
        low, high = map(read, split(cell[1:-1]))
        if order is not None:
            return order.index(low) <= order.index(value) <= order.index(high)
        return bool(low <= value <= high)
    if cell.startswith("{"):
        return value in [read(text) for text in split(cell[1:-1])]
    return bool(value == read(cell))


def labels(tree: Any) -> dict[str, set[str]]:
    """By label of an inner node, the leaves below it."""
    found: dict[str, set[str]] = {}

    def below(part: Any) -> set[str]:
        if isinstance(part, dict):
            for label, children in part.items():
                found[label] = below(children)
            return set().union(*(found[label] for label in part))
        if isinstance(part, list):
            return set().union(*(below(child) for child in part))
        return {part}

    below(tree)
    return found
