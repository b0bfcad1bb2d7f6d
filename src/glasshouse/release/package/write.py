# SPDX-License-Identifier: Apache-2.0
"""Write: a release becomes a folder with its tables, a ``datapackage.json`` and a ``README.md``.

The folder is a Frictionless Data Package. It appears whole or not at all, and holds published content only: no index,
no source path, no time stamp, no user name, no unused dictionary entry. The audit, which must stay inside, never shares
a folder with it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from glasshouse.errors import OutputError, ParameterError
from glasshouse.release.package.container.zip_archive import new_archive
from glasshouse.release.package.description import check_licence, write_manifest
from glasshouse.release.package.folders import new_folder
from glasshouse.release.package.listing import private_file, write_contents
from glasshouse.release.package.manifest import FORMATS
from glasshouse.release.package.parts import write_parts, write_table
from glasshouse.release.package.tables import missing_marks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from glasshouse.release.release import Release

__all__ = ["check_savable", "refuse_seed", "save", "titled", "write_audit", "write_release"]


def save(
    release: Release,
    path: str | Path,
    *,
    format: str = "parquet",
    force: bool = False,
    allow_seed: bool = False,
    title: str | None = None,
    licence: str | None = None,
    zip: bool | None = None,
) -> None:
    """Write a release to the folder ``path``: the same files as `publish` writes with ``out``, large tables in parts.

    Or, with ``zip``, as one zip archive.

    Parameters
    ----------
    format
        ``parquet`` or ``csv``.
    force
        Replace an existing release; any other existing folder is refused.
    allow_seed
        Write a release whose random choices came from a fixed seed: for tests and experiments, marked as such.
    title
        What the release is called.
    licence
        Under which terms it may be used: an identifier such as ``CC-BY-4.0``, or an address.
    zip
        Whether ``path`` is the file of a zip archive that holds all of it; by default if its name ends in ``.zip``.
    """
    release = titled(release, title, licence)
    check_savable(release, format, allow_seed=allow_seed)
    new = new_archive if zip or (zip is None and str(path).endswith(".zip")) else new_folder
    with new(path, force=force) as folder:
        write_release(release, folder, format)


def titled(release: Release, title: str | None, licence: str | None) -> Release:
    """The release with another title or licence, where one is given."""
    return replace(
        release,
        title=release.title if title is None else title,
        licence=check_licence(release.licence if licence is None else licence),
    )


def check_savable(release: Release, format: str, *, allow_seed: bool) -> None:
    """Refuse an unknown format, and a fixed seed unless it is allowed."""
    if format not in FORMATS:
        raise ParameterError("save", "format", "'parquet' or 'csv'", format)
    refuse_seed(seeded=release.recipe.seeded, allowed=allow_seed)


def refuse_seed(*, seeded: bool, allowed: bool) -> None:
    """Refuse to let a release out whose random choices came from a fixed seed, unless that is allowed."""
    if seeded and not allowed:
        raise OutputError(
            "this release was made with a fixed seed, so anyone can repeat its random choices: publish again without "
            "a seed, or pass allow_seed=True if the release is only for a test"
        )


def write_release(
    release: Release, folder: Path, format: str, borders: Mapping[str, Sequence[int]] | None = None
) -> None:
    """Fill a new folder with the tables of a release and their description.

    A table is written as the files that `Release.borders` tells, or ``borders`` in their place.
    """
    borders = release.borders if borders is None else borders
    marks = {name: missing_marks(table) for name, table in release.packaged.items()} if format == "csv" else {}
    parts = {
        name: write_parts(folder, name, table, format, marks.get(name), borders.get(name, ()))
        for name, table in release.packaged.items()
    }
    write_manifest(release, folder, format, marks, parts)


def write_audit(folder: Path, report: Mapping[str, Any], partition: pa.Table | None = None) -> None:
    """Fill an audit folder: the report on a release, and its partition, which later recodings of the table reuse."""
    text = json.dumps(report, indent=2, ensure_ascii=False)
    private_file(folder / "report.json").write_text(text + "\n", encoding="utf-8")
    if partition is not None:
        write_table(partition, private_file(folder / "partition.parquet"), "parquet", numbers=("row", "group"))
    write_contents(folder)
