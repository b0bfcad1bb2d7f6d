# SPDX-License-Identifier: Apache-2.0
"""Hierarchies in an ARX project file: each becomes a taxonomy, or the reason is given why it does not.

The file of a column's hierarchy is named in the project's definition. Its fields are divided as the project says, and
it has no header. ARX makes a hierarchy without levels for a quasi-identifier that has none, and it allows rows that end
in different labels: ``*`` is put above these.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from glasshouse.errors import DomainError, SourceError
from glasshouse.microdata.taxonomy.hierarchy_file import hierarchy_rows, text_delimiter
from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
from glasshouse.microdata.taxonomy.tree import ANY, Tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.unpacking.zip_members import ZipMembers

__all__ = ["ArxHierarchy", "read_arx_hierarchy"]

_MOST = 64 << 20  # bytes of a hierarchy
_MOST_FIELDS = 100  # of a row: the deepest tree that a release tells
_FEW = 2
_ALL = "All"  # what ARX writes for a limit that is not set


@dataclass(frozen=True, kw_only=True)
class ArxHierarchy:
    """A hierarchy of a project: the taxonomy that it is, or None, and notes that hold no value of the table."""

    column: str
    taxonomy: Taxonomy | None
    notes: tuple[str, ...] = ()


def read_arx_hierarchy(
    members: ZipMembers, declared: Mapping[str, str], folder: str, separator: str | None
) -> ArxHierarchy:
    """Read the hierarchy of a column, which the definition in ``folder`` declares; `SourceError` if it is hostile."""
    column, name = declared["name"], f"{folder}{declared['ref']}"
    if name not in members.names():
        return _unused(
            column, "the project names a file for it, and does not have that file: save the project again in ARX"
        )
    content = members.read(name, _MOST)
    try:
        text = content.decode("utf-8-sig")
        _check_width(text, name, separator)
        rows = hierarchy_rows(text, text_delimiter(text, name) if separator is None else separator)
        return _of_rows(column, rows, declared)
    except UnicodeDecodeError:
        return _unused(column, "it is not text in UTF-8: export it from ARX in UTF-8")
    except csv.Error:
        return _unused(column, "it is not a CSV file: save the project again in ARX")
    except DomainError:
        why = "its rows make no tree, because a value comes twice or a label has two labels above it: correct it in ARX"
        return _unused(column, why)


def _of_rows(column: str, rows: list[list[str]], declared: Mapping[str, str]) -> ArxHierarchy:
    if not rows or max(map(len, rows)) < _FEW:
        return _unused(column, "it has no level above the values")
    notes = []
    if len({row[-1] for row in rows}) > 1:
        rows = [[*row, ANY] for row in rows]
        notes.append(f"its rows ended in different labels, so {ANY} was put above them")
    least, most = declared.get("min", _ALL), declared.get("max", _ALL)
    if (least, most) != (_ALL, _ALL):
        notes.append(f"ARX was allowed to use its levels from {_level(least)} to {_level(most)}; here all may be used")
    return ArxHierarchy(column=column, taxonomy=Taxonomy(Tree.from_rows(rows)), notes=tuple(notes))


def _level(text: str) -> str:
    """A limit in ARX's notation: a number, or the word for none."""
    return text if text == _ALL or (text.isdecimal() and len(text) < _FEW + 1) else "?"


def _unused(column: str, why: str) -> ArxHierarchy:
    return ArxHierarchy(column=column, taxonomy=None, notes=(why,))


def _check_width(text: str, name: str, separator: str | None) -> None:
    """Refuse rows of very many fields, before they are divided into them."""
    for sign in (";", ",", "\t") if separator is None else (separator,):
        if any(line.count(sign) >= _MOST_FIELDS for line in text.splitlines()):
            raise SourceError(
                f"{name} has a row with more than {_MOST_FIELDS} fields, so it is not a hierarchy: correct it in ARX"
            )
