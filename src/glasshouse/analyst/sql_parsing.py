# SPDX-License-Identifier: Apache-2.0
"""Parsing SQL: from a text to the parser's tree of one SELECT, or to an error that a person understands.

sqlglot is imported when the first question is read, and not before. Its tree is handled by the keys of its nodes
(``and``, ``between``, ...), which are the names of its classes in lower case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CLAUSES", "CONDITION", "QUESTION", "bare", "flattened", "name_of", "parsed", "shown", "unsupported"]

_MOST_CHARACTERS = 200_000
_MOST_NESTED = 24  # the parser takes some 25 Python frames for each level, of the thousand that there are

QUESTION = (
    "a question is SELECT COUNT(*), SUM(column), AVG(column) or columns, with FROM release, WHERE and GROUP BY if "
    "wanted"
)
CONDITION = (
    "a condition compares a column with values, by =, <>, <, <=, >, >=, BETWEEN, IN or IS NULL, with AND, OR, NOT and "
    "parentheses"
)

# Parts of a statement and of a condition that are not supported, by the parser's names, in the words of SQL.
CLAUSES = {
    "cluster": "CLUSTER BY",
    "connect": "CONNECT BY",
    "db": "the name of a database",
    "distribute": "DISTRIBUTE BY",
    "joins": "a JOIN, or a second table,",
    "laterals": "LATERAL",
    "locks": "FOR UPDATE",
    "match": "MATCH_RECOGNIZE",
    "order": "ORDER BY",
    "pivots": "PIVOT",
    "sort": "SORT BY",
    "windows": "WINDOW",
}
_CONSTRUCTS = {
    **dict.fromkeys(("add", "sub", "mul", "div", "intdiv", "mod", "neg", "dpipe", "pow"), "arithmetic"),
    **dict.fromkeys(("bitwiseand", "bitwiseor", "bitwisexor", "bitwisenot"), "arithmetic on bits"),
    **dict.fromkeys(("select", "subquery", "exists", "union", "intersect", "except"), "a subquery"),
    **dict.fromkeys(("like", "ilike", "similarto", "glob", "regexplike", "regexpilike", "escape"), "LIKE"),
    **dict.fromkeys(("eq", "neq", "lt", "lte", "gt", "gte", "between", "in", "is"), "a comparison of a comparison"),
    **dict.fromkeys(("and", "or", "not"), "a comparison of a condition"),
    **dict.fromkeys(("nullsafeeq", "nullsafeneq"), "IS DISTINCT FROM"),
    **dict.fromkeys(("placeholder", "parameter"), "a parameter"),
    **dict.fromkeys(("tuple", "array", "struct", "bracket"), "a list of columns or values outside IN"),
    **dict.fromkeys(("case", "if"), "CASE"),
    **dict.fromkeys(("cast", "trycast"), "CAST"),
    **dict.fromkeys(("any", "all"), "ANY or ALL"),
    "window": "OVER",
    "star": "*",
    "dot": "a dot in a name",
}


def parsed(sql: str) -> Any:
    """The parser's tree of the one SELECT in a text."""
    try:
        from sqlglot import Dialect
        from sqlglot.errors import SqlglotError
    except ImportError:
        raise MissingExtra("a question in SQL", extra="sql") from None
    if len(sql) > _MOST_CHARACTERS:
        raise InputError(f"the question has {len(sql):,} characters, where {_MOST_CHARACTERS:,} are allowed")
    dialect = Dialect.get_or_raise("duckdb")
    try:
        tokens = dialect.tokenize(sql)
    except SqlglotError:
        raise InputError("the question cannot be read: a quotation mark is opened and never closed") from None
    _check_tokens(tokens)
    try:
        trees = [tree for tree in dialect.parser().parse(tokens, sql) if tree is not None and tree.key != "semicolon"]
    except SqlglotError as error:
        raise InputError(_where_it_fails(error)) from None
    except Exception:  # whatever else a parser stumbles over in an arbitrary text
        raise InputError(f"the question cannot be read: {QUESTION}") from None
    if trees[0].key != "select":
        raise unsupported(trees[0].key.upper(), QUESTION)
    return trees[0]


def _check_tokens(tokens: Sequence[Any]) -> None:
    """One statement that begins with SELECT, whose brackets match and are not too deep for the parser."""
    kinds = [token.token_type.name for token in tokens]
    while kinds and kinds[-1] == "SEMICOLON":
        kinds.pop()
    if not kinds:
        raise InputError(f"the question is empty: {QUESTION}")
    if kinds[0] == "WITH":
        raise unsupported("WITH", QUESTION)
    if kinds[0] != "SELECT":
        raise InputError(f"the question begins with {shown(tokens[0].text)}: {QUESTION}")
    if "SEMICOLON" in kinds:
        raise unsupported("a second statement", QUESTION)
    depths, nested = [0], 0
    for token, kind in zip(tokens, kinds, strict=False):
        nested = nested + 1 if kind == "NOT" else 0 if kind != "L_PAREN" else nested
        if kind == "L_PAREN":
            depths.append(depths[-1] + nested + 1)
            nested = 0
        elif kind == "R_PAREN" and len(depths) == 1:
            raise InputError(f"the question closes a parenthesis that it never opened, {_place(token)}")
        elif kind == "R_PAREN":
            depths.pop()
        if depths[-1] + nested > _MOST_NESTED:
            raise InputError(f"the question is nested more than {_MOST_NESTED} levels deep, {_place(token)}")
    if len(depths) > 1:
        raise InputError("the question opens a parenthesis that it never closes")


def _place(token: Any) -> str:
    return f"at line {token.line}, column {token.col - len(token.text) + 1}"


def _where_it_fails(error: Any) -> str:
    """A syntax error: where, without the parser's own words."""
    details = getattr(error, "errors", None) or [{}]
    word, line, end = (details[0].get(key) for key in ("highlight", "line", "col"))
    if not word or line is None or end is None:
        return f"the question cannot be read: {QUESTION}"
    place = f"line {line}, column {max(end - len(word) + 1, 1)}"
    return f"the question cannot be read at {shown(word)} ({place}): {QUESTION}"


def shown(text: str, most: int = 40) -> str:
    """A text in quotes, cut off where it is long."""
    return repr(text if len(text) <= most else text[:most] + "...")


def unsupported(construct: str, supported: str) -> InputError:
    """What to raise for a construct that is not supported, with what is."""
    return InputError(f"{construct} is not supported: {supported}")


def name_of(node: Any) -> str:
    """A construct in the words of SQL."""
    if node.key in _CONSTRUCTS:
        return _CONSTRUCTS[node.key]
    if node.key == "anonymous":
        return f"the function {node.name.upper()}"
    return f"the function {node.sql_name()}" if hasattr(node, "sql_name") else str(node.key).upper()


def bare(node: Any) -> Any:
    """A node without the parentheses around it."""
    while node.key == "paren":
        node = node.this
    return node


def flattened(node: Any) -> list[Any]:
    """The parts of a chain of ANDs, or of ORs, in order; a chain of thousands is a tree as deep."""
    parts, left = [], [node]
    while left:
        part = left.pop()
        if bare(part).key == node.key:
            part = bare(part)
            left += [part.expression, part.this]
        else:
            parts.append(part)
    return parts
