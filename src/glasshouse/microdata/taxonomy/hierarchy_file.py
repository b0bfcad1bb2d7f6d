# SPDX-License-Identifier: Apache-2.0
"""Hierarchy files in ARX's form: a row for each value, the value first, then coarser labels, the root last.

ARX writes semicolons and no header; other tools write commas, tabs or names of levels. Which it is, is found out by
what a hierarchy must have: as many fields in every row, and one root. What fits in two ways is refused.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Literal

from glasshouse.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DELIMITERS", "hierarchy_rows", "hierarchy_text", "text_delimiter", "without_header"]

DELIMITERS = {";": "a semicolon", ",": "a comma", "\t": "a tab"}
_BRACKETS = "[]{}()"
_FEW = 2


def hierarchy_rows(text: str, delimiter: str) -> list[list[str]]:
    """The rows of a hierarchy file."""
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]


def text_delimiter(text: str, name: str) -> str:
    """The delimiter of a hierarchy file; a semicolon if no delimiter gives a hierarchy, so that the error can say why.

    >>> text_delimiter("flu,lungs,*\\nulcer,stomach,*\\n", "t.csv")
    ','
    """
    fitting = [delimiter for delimiter in DELIMITERS if _is_quoted(text, delimiter)] or [
        delimiter for delimiter in DELIMITERS if _fits(text, delimiter)
    ]
    if len(fitting) > 1:
        listed = " or ".join(DELIMITERS[delimiter] for delimiter in fitting)
        raise DomainError(
            f"the fields of {name} may be separated by {listed}: say which one separates them, with "
            "Taxonomy.from_csv(path, delimiter=...), or put quotation marks around labels that contain one of them"
        )
    return fitting[0] if fitting else ";"


def _fits(text: str, delimiter: str) -> bool:
    """Whether all rows have equally many fields, no half brackets, and (except perhaps the first) the same root."""
    try:
        rows = hierarchy_rows(text, delimiter)
    except csv.Error:
        return False
    if not rows or len({len(row) for row in rows}) > 1 or len(rows[0]) < _FEW:
        return False
    if any(sum(field.count(sign) for sign in _BRACKETS) % 2 for row in rows for field in row):
        return False  # an interval such as [20, 40[ is cut in two
    return len({row[-1] for row in rows}) == 1 or (len(rows) > _FEW and len({row[-1] for row in rows[1:]}) == 1)


def without_header(rows: list[list[str]], *, header: bool | None) -> list[list[str]]:
    """The rows of values, without a header: by what is said, or by its last field, where two rows or more follow."""
    if header is not None:
        return rows[1:] if header else rows
    roots = {row[-1] for row in rows[1:]}
    if len(rows) <= _FEW or len(roots) != 1 or rows[0][-1] in roots:
        return rows
    return rows[1:]


def hierarchy_text(labels: Sequence[str], parents: Sequence[int], leaves: Sequence[int], delimiter: str) -> str:
    """The text of a hierarchy file; a short way to the root repeats its first label, which is read as one node.

    Quotation marks stand where they are needed. If the text would be read otherwise without more of them, for example
    as one with another delimiter, they stand around every field.
    """
    ways = []
    for leaf in leaves:
        way, node = [], leaf
        while node >= 0:
            way.append(labels[node])
            node = parents[node]
        ways.append(way)
    longest = max(map(len, ways))
    rows = [[way[0]] * (longest - len(way)) + way for way in ways]
    text = _written(rows, delimiter, csv.QUOTE_MINIMAL)
    return text if _is_read_as(text, rows, delimiter) else _written(rows, delimiter, csv.QUOTE_ALL)


def _written(rows: list[list[str]], delimiter: str, quoting: Literal[0, 1]) -> str:
    sink = io.StringIO(newline="")
    csv.writer(sink, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(rows)
    return sink.getvalue()


def _is_quoted(text: str, delimiter: str) -> bool:
    """Whether every field is in quotation marks by this delimiter, so that no other delimiter is possible."""
    if not text.startswith('"'):
        return False
    try:
        rows = hierarchy_rows(text, delimiter)
    except csv.Error:
        return False
    return len(rows[0]) >= _FEW and _written(rows, delimiter, csv.QUOTE_ALL) == text


def _is_read_as(text: str, rows: list[list[str]], delimiter: str) -> bool:
    """Whether a text is read as these rows when the delimiter is detected."""
    if text.startswith("\ufeff") or hierarchy_rows(text, delimiter) != rows:
        return False
    try:
        return text_delimiter(text, "") == delimiter
    except DomainError:
        return False
