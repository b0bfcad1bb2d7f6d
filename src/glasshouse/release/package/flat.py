# SPDX-License-Identifier: Apache-2.0
"""Flat tables as files: a folder of tables that were drawn from a release, which says that no row is a person.

The folder lies outside the release, whose manifest declares what was published and nothing else. Like every folder of
Glasshouse it appears whole, has a list of its files, and is replaced only if all of it is as it was written. The list
names the checksum of the manifest of the release from which the tables were drawn.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

import pyarrow.parquet as pq

from glasshouse.errors import OutputError
from glasshouse.release.package.folders import new_folder
from glasshouse.release.package.listing import write_contents
from glasshouse.release.package.manifest import MANIFEST
from glasshouse.release.package.parts import write_table
from glasshouse.release.package.readme import code
from glasshouse.release.package.tables import missing_marks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

__all__ = ["FLAT", "refuse_inside", "write_flat"]

FLAT: Final = "flat"
"""The folder of a flat table beside ``release`` and ``audit``."""

_README: Final = "README.md"
_DRAWN = {
    "learned": (
        "Every table has everybody of the release, once. Who of a group has which of its values, and where in a "
        "cell somebody is, was drawn at random, in each table anew, by a model of the population that was learned "
        "from the release."
    ),
    "cells": (
        "Every table has everybody of the release, once. The release does not teach how the sensitive value depends "
        "on the other columns: who of a group has which of its values was drawn at random, each way as likely as any "
        "other. Where in a cell somebody is was drawn by the distribution of the column in the whole release."
    ),
    "uniform": (
        "Rows were drawn one by one: a row of the release, a value of each of its cells, and a sensitive value of its "
        "group, each as likely as any other."
    ),
}
_SOME = "It has fewer or more rows than people were published: they were drawn from such tables."


def write_flat(
    folder: Path, tables: Sequence[pa.Table], *, release: Path, n_tuples: int, format: str = "csv", force: bool = False
) -> list[str]:
    """Write tables that `glasshouse.analyst.answers.sample` drew into a new folder; give the names of the files.

    Parameters
    ----------
    folder
        Where; by ``force`` in place of what was written there before. It must lie outside the release.
    tables
        What was drawn; the schemas say by which model.
    release, n_tuples
        The folder of the release that they were drawn from, and how many people it has.
    format
        ``csv`` or ``parquet``.
    force
        Whether to replace an earlier folder of flat tables.
    """
    refuse_inside(folder, release)
    names = ["table"] if len(tables) == 1 else [f"table-{i + 1:0{len(str(len(tables)))}}" for i in range(len(tables))]
    with new_folder(folder, force=force) as new:
        marks: dict[str, str] = {}
        for name, table in zip(names, tables, strict=True):
            if format == "parquet":
                pq.write_table(table, new / f"{name}.parquet")
            else:
                own = missing_marks(table)
                marks |= own
                write_table(table, new / f"{name}.csv", "csv", own)
        (new / _README).write_text(_readme(tables, n_tuples, marks), encoding="utf-8")
        write_contents(new, release=release / MANIFEST)
    return [f"{name}.{format}" for name in names]


def refuse_inside(folder: Path, release: Path) -> None:
    """Refuse to write flat tables into a release: its manifest declares all that is there."""
    if folder.resolve().is_relative_to(release.resolve()):
        raise OutputError(
            f"{folder} lies in the release, whose manifest declares what was published: choose another folder",
            path=folder,
        )


def _readme(tables: Sequence[pa.Table], n_tuples: int, marks: dict[str, str]) -> str:
    """What the tables are, in Markdown."""
    told = {key.decode(): value.decode() for key, value in (tables[0].schema.metadata or {}).items()}
    model = told["glasshouse.model"]
    some = model != "uniform" and tables[0].num_rows != n_tuples
    parts = [
        "# Flat tables" if len(tables) > 1 else "# A flat table",
        "**No row is a person.** The rows were drawn from a release, which says what is promised to the people in it. "
        "Nothing else was read: they tell nothing about a person that the release does not tell.",
        _DRAWN[model] + (f" {_SOME}" if some else ""),
        "A row that looks like somebody whom you know is not that person: its value was drawn.",
        f"There are {len(tables):,} tables. Make an estimate from each. Their mean is the estimate, and its variance "
        "is the mean of their own variances plus (1 + 1 / number of tables) times the variance between them."
        if len(tables) > 1
        else "One table does not show how uncertain an estimate is. `glasshouse sample RELEASE --tables 5` draws "
        "several, whose estimates differ by what the release leaves open.",
        *([told["glasshouse.notes"]] if told.get("glasshouse.notes") else []),
        *(f"In the column {code(name)} a missing value is written as {code(mark)}." for name, mark in marks.items()),
    ]
    return "\n\n".join(textwrap.fill(part, 110) for part in parts) + "\n"
