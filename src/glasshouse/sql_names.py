# SPDX-License-Identifier: Apache-2.0
"""Names in SQL: how the name of a column, a table or a schema is written in a statement or a question."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["quoted_name", "sql_name"]

_RESERVED: Final = re.compile(
    "all|alter|and|any|as|between|case|count|create|cross|cube|current_(?:catalog|date|time|timestamp|user)|distinct|"
    "drop|else|except|false|fetch|for|from|glob|grant|having|if|ilike|in|inner|insert|intersect|into|join|lateral|like|"
    "limit|localtime|localtimestamp|lock|map|not|notnull|null|offset|on|only|or|out|outer|partitioned_by|positional|"
    "qualify|regexp|returning|revoke|rlike|rollback|rollup|select|session_user|summarize|tablesample|then|true|uncache|"
    "union|using|when|where|window|with|xor",
    re.IGNORECASE,
)
"""Words that are not read as the name of a column in every place of a question."""


def quoted_name(name: str) -> str:
    """A name in double quotes, so that it cannot be anything but a name.

    >>> quoted_name('odd "name"')
    '"odd ""name""\"'
    """
    return '"' + name.replace('"', '""') + '"'


def sql_name(name: str) -> str:
    """A name for a person to copy: in double quotes unless it is a plain word.

    >>> sql_name("age"), sql_name("hours-per-week"), sql_name("from")
    ('age', '"hours-per-week"', '"from"')
    """
    plain = name.isascii() and name.isidentifier() and not _RESERVED.fullmatch(name)
    return name if plain else quoted_name(name)
