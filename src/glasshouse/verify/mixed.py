# SPDX-License-Identifier: Apache-2.0
"""Columns that mix types, as tools leave them that suppress in place: ``[34, "*", 41]``.

Arrow has no such columns. Here each different value becomes a text of its own: the number 1 and the text ``1`` stay two
values, for counting them as one would make groups larger than they are.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

__all__ = ["untangled"]


def untangled(source: Any, column: str) -> Any | None:
    """Copy a frame (pandas, or a mapping of lists) with one column as text; None if that column mixes nothing."""
    if isinstance(source, Mapping):
        values = source.get(column)
    elif type(source).__module__.partition(".")[0] == "pandas" and list(source.columns).count(column) == 1:
        values = source[column]
    else:
        return None
    keys = None if values is None else [_key(value) for value in values]
    if keys is None or len({key[0] for key in keys if key is not None}) < 2:
        return None
    labels = _labels({key: None for key in keys if key is not None})
    texts = [None if key is None else labels[key] for key in keys]
    return {**source, column: texts} if isinstance(source, Mapping) else source.assign(**{column: texts})


def _key(value: Any) -> tuple[str, Any] | None:
    """Tell values apart by what they are: numbers are equal across their types, texts are never numbers."""
    try:
        if value is None or value != value:
            return None
    except TypeError:  # pandas.NA, which is neither equal nor different
        return None
    if isinstance(value, numbers.Number) and type(value).__name__ not in ("bool", "bool_"):
        return "number", value
    try:
        hash(value)
    except TypeError:
        return type(value).__name__, repr(value)
    return type(value).__name__, value


def _labels(keys: dict[tuple[str, Any], None]) -> dict[tuple[str, Any], str]:
    """Give every value a text that no other has; a text keeps its own."""
    labels = {key: key[1] for key in keys if key[0] == "str"}
    taken = set(labels.values())
    for key in keys:
        if key in labels:
            continue
        label = str(key[1])
        while label in taken:
            label = f"{label} ({key[0]})"
        labels[key] = label
        taken.add(label)
    return labels
