# SPDX-License-Identifier: Apache-2.0
"""A first policy made from an ARX project: its roles, and its hierarchies as taxonomies in separate files."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from glasshouse.policy.policy_text import bare, quoted
from glasshouse.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from glasshouse.microdata.reading.arx_hierarchy import ArxHierarchy
    from glasshouse.microdata.reading.arx_project import ArxProject

__all__ = ["policy_from_arx", "taxonomy_files"]

_LONGEST = 60  # characters of a column's name in the name of a file


def taxonomy_files(project: ArxProject, folder: str) -> dict[str, str]:
    """The path of a file for every hierarchy that is a taxonomy, by the name of its column; no two paths are alike."""
    files: dict[str, str] = {}
    for hierarchy in project.hierarchies:
        if hierarchy.taxonomy is not None:
            stem = re.sub(r"[^A-Za-z0-9_-]+", "-", hierarchy.column)[:_LONGEST].strip("-") or "column"
            names = (f"{folder}/{stem}{'' if number == 1 else f'-{number}'}.csv" for number in count(1))
            taken = {file.lower() for file in files.values()}
            files[hierarchy.column] = next(name for name in names if name.lower() not in taken)
    return files


def policy_from_arx(project: ArxProject, files: Mapping[str, str], *, out: str = "out") -> str:
    """Write a commented policy, in TOML, with the roles that a project of ARX declares; it names no table.

    ``files`` are those of the taxonomies, by column. A hierarchy that has none is a comment.
    """
    return "\n".join(_lines(project, files, out)) + "\n"


def _lines(project: ArxProject, files: Mapping[str, str], out: str) -> Iterator[str]:
    yield "# Roles as a project of ARX declares them: decide on each of them."
    yield from ("", "[source]", '# file = "table.csv"        # the table of the project, relative to this policy')
    yield 'missing = "error"            # or "category", "drop"'
    yield from ("", "[roles]")
    if project.identifying:
        yield f"identifier = {quoted(project.identifying[0])}".ljust(28) + " # names the person; never published"
    yield f"quasi = {_listed(project.quasi)}"
    if project.sensitive:
        one = len(project.sensitive) == 1
        yield f"sensitive = {quoted(project.sensitive[0]) if one else _listed(project.sensitive)}"
    else:
        yield '# sensitive = "..."         # the column whose values are protected'
    for name in (*project.identifying[1:], *project.insensitive):
        yield f"# not published: {visible(name)}"
    for hierarchy in project.hierarchies:
        yield from _taxonomy(hierarchy, files.get(hierarchy.column))
    yield from ("", "[principle]")
    for criterion in project.criteria:
        yield f"# ARX was asked for: {visible(criterion)}"
    yield "ell = 3" if project.sensitive else "k = 5"
    if any(name in files for name in project.quasi):
        yield from ("", "[recoding]", 'name = "taxonomies"          # publish labels of the hierarchies, as ARX does')
    yield from ("", "[release]", f"out = {quoted(out)}", 'format = "parquet"           # or "csv"')


def _taxonomy(hierarchy: ArxHierarchy, file: str | None) -> Iterator[str]:
    yield ""
    if file is not None:
        yield from (f"[columns.{bare(hierarchy.column)}]", f"taxonomy = {quoted(file)}")
        yield from (f"# {note}" for note in hierarchy.notes)
    elif hierarchy.taxonomy is None:
        yield f"# The hierarchy of {visible(hierarchy.column)} is not used: {'; '.join(hierarchy.notes)}."
    else:
        yield (
            f"# The hierarchy of {visible(hierarchy.column)} is not written here: give --out FILE, and it is saved "
            "beside the policy."
        )


def _listed(names: Sequence[str]) -> str:
    return f"[{', '.join(quoted(name) for name in names)}]"
