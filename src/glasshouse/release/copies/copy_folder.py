# SPDX-License-Identifier: Apache-2.0
"""The folder of a copy: written beside a release, compared with it value by value, replaced only if it is ours."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

from glasshouse.errors import OutputError, ParameterError, SourceError, saying
from glasshouse.plural import counted
from glasshouse.release.copies.stata_file import check_stata, read_stata, write_stata
from glasshouse.release.copies.workbook import check_workbook, read_workbook, write_workbook
from glasshouse.release.package.container.container import manifest_sum
from glasshouse.release.package.container.zip_archive import ARCHIVE
from glasshouse.release.package.flat import FLAT
from glasshouse.release.package.folders import new_folder, refuse_existing
from glasshouse.release.package.listing import release_named_by, stranger_in, write_contents

if TYPE_CHECKING:
    from pathlib import Path

    from glasshouse.release.release import Release

__all__ = [
    "COPIES",
    "check_copiable",
    "check_copies",
    "check_copy_place",
    "checked_beside",
    "compared_copies",
    "copies_in",
    "package_format",
    "write_copy",
]

COPIES: Final = ("xlsx", "stata")
_CHECKS: Final = {"xlsx": check_workbook, "stata": check_stata}
_WRITERS: Final = {"xlsx": write_workbook, "stata": write_stata}
_READERS: Final = {"xlsx": read_workbook, "stata": read_stata}
_README: Final = """# A copy of a release

These files have the tables of a release, with the same rows and values, for programs that do not read Parquet or CSV.
The release itself says what the tables mean, what is guaranteed and how to check it. `glasshouse verify` of the folder
that contains the release and this copy checks both.
"""


def package_format(format: str) -> tuple[str, str | None]:
    """The format of the release itself, and that of the copy beside it if one is asked for.

    >>> package_format("csv"), package_format("xlsx")
    (('csv', None), ('parquet', 'xlsx'))
    """
    return ("parquet", format) if format in COPIES else (format, None)


def check_copy_place(out: Path, wanted: str | None, *, force: bool) -> None:
    """Look before the work whether a copy can be written; refuse to leave one of an earlier release."""
    if wanted is not None:
        _CHECKS[wanted]()
    for name in COPIES:
        place = out / name
        if name == wanted:
            refuse_existing(place, force=force)
        elif force and release_named_by(place) is not None:
            raise OutputError(
                f"{place} is a copy of the old release, which is about to be replaced: publish with format={name!r} "
                "to write a new copy, or delete it",
                path=place,
            )


def check_copiable(release: Release, format: str, *, instead: str = "choose format='csv' or format='parquet'") -> None:
    """Check in advance whether a copy can hold the tables of a release; otherwise suggest an alternative.

    What only shows when a copy is written and read again, such as a number with too many digits, is not found here.
    """
    try:
        _CHECKS[format](release.packaged)
    except OutputError as error:
        raise OutputError(f"{error}: {instead}. Nothing was written") from None


def copies_in(out: Path) -> list[str]:
    """The formats of the copies in a folder that has a release."""
    return [name for name in COPIES if release_named_by(out / name) is not None]


def write_copy(release: Release, manifest: Path, place: Path, format: str, *, force: bool = False) -> None:
    """Write the tables of a release into a new folder, and read them again to see that nothing was lost.

    Parameters
    ----------
    release
        What was published.
    manifest
        The folder or zip archive of the release, which the copy names by the checksum of its manifest.
    place
        The folder of the copy.
    format
        ``xlsx`` or ``stata``.
    force
        Replace an earlier copy.
    """
    if format not in COPIES:
        raise ParameterError("write_copy", "format", "'xlsx' or 'stata'", format)
    with saying(_complete(manifest, place)), new_folder(place, force=force) as new:
        _WRITERS[format](new, release.packaged)
        difference = _difference(release, new, format)
        if difference is not None:
            raise OutputError(f"{difference}: the format {format!r} cannot store it", path=place)
        (new / "README.md").write_text(_README, encoding="utf-8")
        write_contents(new, release=manifest_sum(manifest))


def _complete(manifest: Path, place: Path) -> str:
    """A note if a copy cannot be written: that the release itself is there, and how to get the copy otherwise."""
    return (
        f"the release in {manifest} is complete, and only the copy of it in {place} is missing: do not publish the "
        "table again. To have the release as CSV files, run this in Python: "
        f"gh.load({str(manifest)!r}).save('csv', format='csv')"
    )


def check_copies(release: Release, out: Path) -> None:
    """Rewrite copies beside a release that are out of date because tables were added to it."""
    for name in copies_in(out):
        write_copy(release, out / "release", out / name, name, force=True)


def compared_copies(release: Release, out: Path) -> list[str]:
    """Compare the copies in a folder with the release there: returns sentences, or raises `SourceError`."""
    said = []
    for name in COPIES:
        place = out / name
        named = release_named_by(place)
        if named is None:
            continue
        again = f"publish again with --format {name}, or delete the copy"
        if named != manifest_sum(out / "release"):
            told = f"{place} is a copy of another release than {out / 'release'}: {again}"
            raise SourceError(told, source=place)
        _refuse_changed(place, again)
        difference = _difference(release, place, name)
        if difference is not None:
            raise SourceError(f"{place} does not hold what the release holds ({difference}): {again}", source=place)
        said.append(f"the copy in {place} has the same rows and values as the release")
    return said


def checked_beside(out: Path) -> list[str]:
    """Check flat tables and the archive beside the release in a folder, by the checksums of their files.

    Returns sentences, also on folders without a list of their files, which cannot be checked; or raises `SourceError`.
    """
    said = []
    release, flat, archive = manifest_sum(out / "release"), out / FLAT, out / ARCHIVE
    drawn_from = release_named_by(flat)
    if drawn_from is not None:
        _refuse_changed(flat, "draw it again with glasshouse sample, or delete it")
        whence = "this release" if drawn_from == release else "another release, or from this one before a change"
        said.append(
            f"the files in {flat} have the checksums that its contents.json lists. It says that they were drawn from "
            f"{whence}"
        )
    if archive.is_file():
        again = "publish again with --zip, or delete it"
        _refuse_changed(archive, again)
        if manifest_sum(archive) != release:
            raise SourceError(f"{archive} has another release than {out / 'release'}: {again}", source=archive)
        said.append(f"{archive} has the same release")
    unlisted = [out / name for name in (*COPIES, FLAT) if (out / name).is_dir() and not release_named_by(out / name)]
    said += [f"not checked: {place}, which has no contents.json that lists its files" for place in unlisted]
    return said


def _refuse_changed(place: Path, instead: str) -> None:
    stranger = stranger_in(place)
    if stranger is not None:
        told = f"{place} was changed after Glasshouse wrote it ({stranger}): {instead}"
        raise SourceError(told, source=place)


def _difference(release: Release, folder: Path, format: str) -> str | None:
    """Where a copy and the release differ, in words; None if they do not."""
    tables = release.packaged
    found = _READERS[format](folder, {name: table.column_names for name, table in tables.items()})
    for name, table in tables.items():
        for column in table.column_names:
            expected, own = table[column].to_pylist(), found[name][column]
            if len(expected) != len(own):
                return f"the table {name!r} has {counted(len(expected), 'row')}, and the copy has {len(own):,}"
            gap = "" if None in expected and "" not in expected else None
            for row, (one, other) in enumerate(zip(expected, own, strict=True), start=1):
                if not _is_same(one, gap if other is None and gap is None else other, gap):
                    return f"row {row:,} of column {column!r} in the table {name!r} has another value in the copy"
    return None


def _is_same(value: Any, read: Any, gap: str | None) -> bool:
    if value is None:
        return read is None or (gap is not None and read == gap)
    if isinstance(value, bool) or isinstance(read, bool):
        return value is read
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime) and isinstance(read, dt.datetime):
        return read == dt.datetime.combine(value, dt.time())
    return (type(value) is type(read) and value == read) or (
        isinstance(value, int | float) and isinstance(read, int | float) and value == read
    )
