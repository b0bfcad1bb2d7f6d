# SPDX-License-Identifier: Apache-2.0
"""Compound values: the values of several columns written as one text, from which each of them is read again.

The text is a list in JSON, such as ``["flu", "aspirin"]``: whatever the values hold, quotes, commas or line breaks
among it, no two lists have the same text. A missing value is ``null``, numbers and truth values stand as they are,
anything else as its text.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from glasshouse.cells.values import NotAValue, text_of, value_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Part", "compound_text", "part_values"]


class Part(NamedTuple):
    """One of the columns of a compound one: its name, and the kind of its values."""

    name: str
    kind: str


def compound_text(values: Sequence[Any]) -> str:
    """Write the values of one person as one text.

    >>> compound_text(["flu", None, 3]), compound_text(['a", "b', True])
    ('["flu", null, 3]', '["a\\\\", \\\\"b", true]')
    """
    plain = [value if value is None or isinstance(value, str | bool | int) else text_of(value) for value in values]
    return json.dumps(plain, ensure_ascii=False)


def part_values(text: str, parts: Sequence[Part]) -> tuple[Any, ...]:
    """Read the values that `compound_text` wrote; `NotAValue` if the text is not such a list.

    >>> part_values('["flu", null, 3]', [Part("ill", "category"), Part("drug", "category"), Part("code", "integer")])
    ('flu', None, 3)
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or len(found) != len(parts) or any(isinstance(own, list | dict) for own in found):
        raise NotAValue("it is not a list with one value for each part")
    return tuple(
        None if own is None else value_of(own if isinstance(own, str) else text_of(own), part.kind)
        for own, part in zip(found, parts, strict=True)
    )
