# SPDX-License-Identifier: Apache-2.0
"""Flat tables as files: a folder of tables that were drawn from a release, which says that rows are no facts.

The folder lies outside the release, whose manifest declares what was published and nothing else. Like every folder of
Glasshouse it appears whole, has a list of its files, and is replaced only if all of it is as it was written. The list
names the checksum of the manifest of the release from which the tables were drawn.
"""

from __future__ import annotations

import shlex
import textwrap
from typing import TYPE_CHECKING, Final

import pyarrow.parquet as pq

from glasshouse.errors import OutputError
from glasshouse.release.copies.workbook import write_workbook
from glasshouse.release.package.container.container import manifest_sum
from glasshouse.release.package.folders import new_folder
from glasshouse.release.package.listing import write_contents
from glasshouse.release.package.parts import write_table
from glasshouse.release.package.readme import FLAT_USE, code, flat_rows
from glasshouse.release.package.tables import missing_marks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from glasshouse.release.release import Recipe

__all__ = ["FLAT", "flat_note", "flat_words", "no_flat_note", "refuse_inside", "rows_told", "write_flat"]

FLAT: Final = "flat"
"""The folder of a flat table beside ``release`` and ``audit``."""

_README: Final = "README.md"
_BY_CHANCE = "by chance a row can have the same values as a real person"
_ROWS = {
    "none": f"the values of each row were drawn at random, and {_BY_CHANCE}",
    "some": f"some rows have the quasi-identifiers of a real person. All other values were drawn at random, and "
    f"{_BY_CHANCE}",
    "all": f"each row has the quasi-identifiers of a real person. All other values were drawn at random, and "
    f"{_BY_CHANCE}",
}
_DRAWN = {
    "learned": (
        "Every table has each person of the release once. A model of the population was learned from the release. "
        "From it two things were drawn at random, for each table separately: which person of a group has which of its "
        "values, and the exact values within coarse cells."
    ),
    "cells": (
        "Every table has each person of the release once. The release does not show how the sensitive value depends "
        "on the other columns, so it was drawn at random which person of a group has which of its values; every way "
        "to assign them is equally probable. The exact values within coarse cells were drawn from the distribution of "
        "the column in the whole release."
    ),
    "uniform": (
        "The rows were drawn one by one: first a row of the release, then a value for each of its cells, then a "
        "sensitive value of its group. At each step every choice was equally probable."
    ),
}
_SOME = (
    "The number of rows differs from the number of people in the release. First, tables with every person of the "
    "release were drawn as described here, and then the rows were drawn from these tables."
)


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
        The folder or zip archive of the release that they were drawn from, and how many people it has.
    format
        ``csv``, ``parquet`` or ``xlsx``, a workbook.
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
            elif format == "xlsx":
                write_workbook(new, {name: table}, file=f"{name}.xlsx")
            else:
                own = missing_marks(table)
                marks |= own
                write_table(table, new / f"{name}.csv", "csv", own)
        (new / _README).write_text(_readme(tables, n_tuples, marks), encoding="utf-8")
        write_contents(new, release=manifest_sum(release))
    return [f"{name}.{format}" for name in names]


def flat_note(out: Path, n_tables: int, recipe: Recipe) -> str:
    """A note for users who publish for a spreadsheet and did not ask for a flat table."""
    command = shlex.join(["glasshouse", "sample", str(out / "release"), "--out", str(out / FLAT)])
    return (
        f"The release has {n_tables:,} tables, which belong together. For a spreadsheet, draw one flat table from "
        f"them: {command} (or publish with --flat). In it, {flat_rows(recipe)}"
    )


def no_flat_note(out: Path, why: str, attributes: Sequence[str] = ()) -> str:
    """A note if no flat table was made when publishing for a spreadsheet; with columns that can be drawn.

    >>> from pathlib import Path
    >>> print(no_flat_note(Path("out"), "it takes long"))
    no flat table for a spreadsheet was drawn, because it takes long. To draw one, run: glasshouse sample out/release \
--out out/flat
    """
    named = ["--attributes", ",".join(attributes)] if attributes else []
    command = shlex.join(["glasshouse", "sample", str(out / "release"), *named, "--out", str(out / FLAT)])
    return f"no flat table for a spreadsheet was drawn, because {why}. To draw one, run: {command}"


def flat_words(file: str, table: pa.Table) -> str:
    """What a flat table is, its uses, and its limits: three sentences."""
    return (
        f"{file} is one table for a spreadsheet, drawn at random from the release: it has as many rows as people were "
        f"published; {rows_told(table)}. {FLAT_USE.replace('`', '')}"
    )


def rows_told(table: pa.Table) -> str:
    """What the rows of a drawn table have to do with real people."""
    return _ROWS[table.schema.metadata[b"glasshouse.exact"].decode()]


def refuse_inside(folder: Path, release: Path) -> None:
    """Refuse to write flat tables into a release: its manifest declares all that is there."""
    if folder.resolve().is_relative_to(release.resolve()):
        raise OutputError(
            f"{folder} is inside the release, which must contain nothing but the published files: choose a folder "
            "outside it",
            path=folder,
        )


def _readme(tables: Sequence[pa.Table], n_tuples: int, marks: dict[str, str]) -> str:
    """A description of the tables, in Markdown."""
    told = {key.decode(): value.decode() for key, value in (tables[0].schema.metadata or {}).items()}
    model = told["glasshouse.model"]
    some = model != "uniform" and tables[0].num_rows != n_tuples
    parts = [
        "# Flat tables" if len(tables) > 1 else "# A flat table",
        _people_in_rows(told["glasshouse.exact"]),
        (
            "Nothing but the release was read, so these tables say nothing about a person that the release does not "
            "say. Its README says what is guaranteed for the people in it."
        ),
        _DRAWN[model] + (f" {_SOME}" if some else ""),
        FLAT_USE,
        (
            f"There are {len(tables):,} tables. Compute your estimate, and its standard error, from each of them. The "
            "mean of these estimates is your result. For its variance, add two numbers: the mean of the squared "
            f"standard errors, and the variance of the {len(tables):,} estimates multiplied by "
            f"(1 + 1/{len(tables)}). The square root of the sum is the standard error of your result."
        )
        if len(tables) > 1
        else (
            "One table does not show how uncertain an estimate is. `glasshouse sample RELEASE --tables 5` draws "
            "several tables: the spread of their estimates shows what the release leaves open."
        ),
        *([told["glasshouse.notes"]] if told.get("glasshouse.notes") else []),
        *(f"In the column {code(name)} a missing value is written as {code(mark)}." for name, mark in marks.items()),
    ]
    return "\n\n".join(textwrap.fill(part, 110) for part in parts) + "\n"


def _people_in_rows(exact: str) -> str:
    """What the rows have to do with real people; ``exact`` says how many have the cells of a person as they are."""
    drawn = "The values of each row were drawn at random from what the release says."
    if exact != "none":
        drawn = (
            f"The quasi-identifiers of {'each row' if exact == 'all' else 'some rows'} are those of a real person, "
            "because the release publishes them exactly. All other values were drawn at random from what the release "
            "says."
        )
    chance = {
        "none": "a row can have the quasi-identifiers of a real person, or all values of a real person",
        "some": "another row can have them too, and any row can have all values of a real person",
        "all": "a row can have all values of a real person",
    }[exact]
    return (
        f"**Do not read a row as a fact about a person.** {drawn} By chance {chance}, but nothing shows which rows "
        "these are. If a row looks like somebody you know, its values need not be those of that person."
    )
