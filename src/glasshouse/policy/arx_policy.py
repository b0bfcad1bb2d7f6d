# SPDX-License-Identifier: Apache-2.0
"""A first policy, written from a project of ARX: the roles as the project declares them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshouse.policy.policy_text import bare, quoted
from glasshouse.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from glasshouse.microdata.reading.arx_project import ArxProject

__all__ = ["policy_from_arx"]


def policy_from_arx(project: ArxProject, *, out: str = "out") -> str:
    """Write a commented policy, in TOML, with the roles that a project of ARX declares; it names no table."""
    return "\n".join(_lines(project, out)) + "\n"


def _lines(project: ArxProject, out: str) -> Iterator[str]:
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
    for name in project.hierarchies:
        yield from ("", f"# [columns.{visible(bare(name))}]")
        yield f"# taxonomy = {visible(quoted(f'{name}.csv'))}    # the hierarchy, exported from ARX"
    yield from ("", "[principle]")
    for criterion in project.criteria:
        yield f"# ARX was asked for: {visible(criterion)}"
    yield "ell = 3" if project.sensitive else "k = 5"
    yield from ("", "[release]", f"out = {quoted(out)}", 'format = "parquet"           # or "csv"')


def _listed(names: Sequence[str]) -> str:
    return f"[{', '.join(quoted(name) for name in names)}]"
