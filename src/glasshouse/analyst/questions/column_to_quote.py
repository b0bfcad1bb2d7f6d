# SPDX-License-Identifier: Apache-2.0
"""The column of a refused question whose name is also a word of SQL, such as *Alter* or *end*, and lacks its quotes.

It is found by trying: names are put in double quotes, one place or several at once, until the question can be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse.errors import InputError
from glasshouse.sql_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["column_to_quote"]

_MOST_CHARACTERS = 10_000  # of a question that is tried again
_MOST_TRIES = 50
_NO_WORDS = {"IDENTIFIER", "NUMBER", "STRING", "VAR"}  # the parser's names of tokens that are no words of SQL


def column_to_quote(
    sql: Any, columns: Mapping[str, str], parse: Callable[[str], Any], read: Callable[[Any], Any]
) -> str | None:
    """The column that must be quoted so that a refused question is read; None if that does not help.

    It also helps if the question then has another fault, where before its syntax was wrong.
    """
    if not isinstance(sql, str) or len(sql) > _MOST_CHARACTERS:
        return None
    tokens = _tokens(sql)
    names: dict[str, str] = {}
    for name in (*columns, *(token.text for token in tokens if token.text in columns)):  # the exact spelling wins
        names[name.casefold()] = name
    named = [t for t in tokens if t.text.casefold() in names and t.token_type.name not in _NO_WORDS]
    had_syntax = _parsed(sql, parse) is not None
    for _, some in zip(range(_MOST_TRIES), _choices(named), strict=False):
        text = sql
        for token in reversed(some):
            text = f"{text[: token.start]}{quoted_name(names[token.text.casefold()])}{text[token.end + 1 :]}"
        tree = _parsed(text, parse)
        if tree is not None and (not had_syntax or _is_read(tree, read)):
            return names[some[0].text.casefold()]
    return None


def _tokens(sql: str) -> list[Any]:
    from sqlglot import Dialect
    from sqlglot.errors import SqlglotError

    try:
        return list(Dialect.get_or_raise("duckdb").tokenize(sql))
    except SqlglotError:
        return []


def _choices(named: Sequence[Any]) -> Iterator[list[Any]]:
    """What to quote: one place, all places of a word, all places, all places but one, which is part of the question."""
    yield from ([token] for token in named)
    words = dict.fromkeys(token.text.casefold() for token in named)
    alike = [[token for token in named if token.text.casefold() == word] for word in words]
    yield from (some for some in (*alike, list(named)) if len(some) > 1)
    yield from ([token for token in some if token is not other] for some in alike for other in some if len(some) > 2)


def _parsed(text: str, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(text)
    except InputError:
        return None


def _is_read(tree: Any, read: Callable[[Any], Any]) -> bool:
    try:
        read(tree)
    except InputError:
        return False
    return True
