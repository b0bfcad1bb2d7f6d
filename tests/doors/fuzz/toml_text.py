# SPDX-License-Identifier: Apache-2.0
"""Plain data as TOML, with tables inside lines: for tests that damage or make up policies."""

from __future__ import annotations

import json
import math
from datetime import date
from typing import Any

__all__ = ["toml_of"]


def toml_of(data: dict[str, Any]) -> str:
    """The text of a document; what TOML does not have, such as nothing at all, is written as a text.

    >>> toml_of({"roles": {"quasi": ["age", "sex"]}, "run": {"threads": 2}})
    '"roles" = {"quasi" = ["age", "sex"]}\\n"run" = {"threads" = 2}\\n'
    """
    return "".join(f"{_text(str(key))} = {_value(value)}\n" for key, value in data.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(str(key))} = {_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return "nan" if math.isnan(value) else repr(value)
    if isinstance(value, int):
        return str(value)
    return value.isoformat() if isinstance(value, date) else _text(str(value))


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
