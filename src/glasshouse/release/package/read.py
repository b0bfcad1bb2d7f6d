# SPDX-License-Identifier: Apache-2.0
"""Read: a release comes back from its folder after everything about it was checked; a hostile one is refused.

First the manifest, then the list of files, then sizes and sums, then how much room the tables will take, and only then
the tables. Nothing in a package is executed, no path leaves the folder, and what is read is bounded.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from glasshouse.errors import SourceError
from glasshouse.release.layout import COUNTS, NUMBERS, layout_of
from glasshouse.release.package.folders import tidy
from glasshouse.release.package.manifest import MANIFEST, MOST_MANIFEST, README, parse_manifest, read_bounded
from glasshouse.release.package.pair import RELEASE, mend, warn_if_apart
from glasshouse.release.package.readme import description, readme
from glasshouse.release.package.tables import field_type, guarded_name, is_text, unguarded, unguarded_name
from glasshouse.release.release import Release
from glasshouse.unpacking import Refused, measure
from glasshouse.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.release.package.manifest import Manifest, PackagedFile, PackagedTable

__all__ = ["MOST_BYTES", "load"]

MOST_BYTES: Final = 4 << 30
"""Memory that the tables of a release may take, unless the caller of `load` allows more."""

_CELL = 16  # bytes that reading takes for a cell besides its text
_TRIES = 5


def load(path: str | Path, *, most_bytes: int = MOST_BYTES) -> Release:
    """Read a release back from its folder, after checking the sums of its files.

    Releases of every format that was ever written are read. One that was tampered with, cut short or added to is
    refused, and so is what Glasshouse did not write. `glasshouse.load` checks the recipe too, and explains the bound.
    """
    folder = Path(path)
    _mend(folder)
    for _ in range(_TRIES):
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except (OSError, ValueError):
            raise SourceError(
                f"{folder} holds no release: it is not a folder that can be read", source=folder
            ) from None
        try:
            return _load(descriptor, most_bytes)
        except SourceError as error:
            if _is_still_there(folder, descriptor):
                raise SourceError(f"{folder}: {error}", source=folder) from None
        finally:
            os.close(descriptor)
        # somebody replaced the release while it was read: read the new one
    raise SourceError(f"{folder} changes all the time: it was not read", source=folder)


def _mend(folder: Path) -> None:
    """Finish what a killed run began, so that a release and the audit beside it belong together."""
    with contextlib.suppress(OSError, RuntimeError, ValueError):  # what cannot be read is told below
        real = folder.resolve()
        if real.name == RELEASE:
            mend(real.parent)
            warn_if_apart(real.parent)
        tidy(real, remove=False)


def _is_still_there(folder: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(folder.stat(), os.fstat(descriptor))
    except OSError:
        return True


def _load(folder: int, most_bytes: int) -> Release:
    manifest = _manifest(folder)
    _check_listing(folder, manifest)
    left, told = most_bytes, b""
    tables: dict[str, pa.Table] = {}
    by_name = {table.file: table for table in manifest.tables}
    for file in manifest.files:
        if file.name in by_name:
            tables[by_name[file.name].name] = _table(_content(folder, file, left), by_name[file.name], manifest, left)
            left -= tables[by_name[file.name].name].nbytes
        else:
            told = _content(folder, file, MOST_MANIFEST)
    tables = {table.name: tables[table.name] for table in manifest.tables}
    _check_numbers(tables, manifest)
    layout_of(manifest.recipe).check(tables, manifest.recipe)
    release = Release(
        tables=tables,
        columns=manifest.columns,
        recipe=manifest.recipe,
        guarantee=manifest.guarantee,
        n_tuples=manifest.n_tuples,
        n_dropped=manifest.n_dropped,
        n_suppressed=manifest.n_suppressed,
        identified=manifest.identified,
        title=manifest.title,
        licence=manifest.licence,
        other_writer="" if manifest.is_ours else f"format {manifest.version}, {manifest.software}",
    )
    if manifest.is_ours:
        _check_words(release, manifest, told)
    return release


def _check_words(release: Release, manifest: Manifest, told: bytes) -> None:
    """What is told for people reads as this version would write it of what is told for machines."""
    if manifest.description != description(release):
        raise SourceError(f"{MANIFEST} has a description that is not the one of its guarantee: refused")
    format = manifest.tables[0].format
    missing = {table.name: table.missing for table in manifest.tables} if format == "csv" else {}
    if told != readme(release, format, VERSION, missing).encode():
        raise SourceError(f"{README} does not say what {MANIFEST} says: refused")


# ------------------------------------------------------------------------------------------------------- the files


def _manifest(folder: int) -> Manifest:
    try:
        content = read_bounded(MANIFEST, folder, MOST_MANIFEST)
    except FileNotFoundError:
        raise SourceError(f"it holds no release, for there is no {MANIFEST}") from None
    return parse_manifest(content)


def _check_listing(folder: int, manifest: Manifest) -> None:
    """The folder holds what the manifest lists, and nothing beside it."""
    try:
        found = set(os.listdir(folder))
    except OSError:
        raise SourceError("the folder cannot be read") from None
    listed = {MANIFEST, *(file.name for file in manifest.files)}
    if found - listed:
        names = ", ".join(map(repr, sorted(found - listed)[:3]))
        raise SourceError(
            f"it holds {len(found - listed):,} files that were not published with it, as {names}: refused"
        )
    if listed - found:
        raise SourceError(f"{', '.join(sorted(listed - found))} cannot be read: it is not there")


def _content(folder: int, file: PackagedFile, most: int) -> bytes:
    """A file, whole, as it was published."""
    if file.size > most:
        raise SourceError(f"{file.name} has {file.size:,} bytes, more than may be read: pass most_bytes if it is yours")
    try:
        content = read_bounded(file.name, folder, file.size)
    except FileNotFoundError:
        raise SourceError(f"{file.name} cannot be read: it is not there") from None
    if len(content) != file.size:
        raise SourceError(f"{file.name} is not the file that was published (it was cut short)")
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise SourceError(f"{file.name} is not the file that was published (its checksum differs)")
    return content


# ------------------------------------------------------------------------------------------------------ the tables


def _table(content: bytes, table: PackagedTable, manifest: Manifest, most_bytes: int) -> pa.Table:
    try:
        read = _read_parquet if table.format == "parquet" else _read_csv
        found = read(content, table, manifest, most_bytes)
        kinds = [(field.name, field_type(field.type)) for field in found.schema]
    except Refused as reason:
        raise SourceError(f"{table.file} is refused: {reason}") from None
    except (pa.ArrowException, OSError, ValueError, KeyError, NotImplementedError):
        raise SourceError(f"{table.file} is not a table that can be read") from None
    if found.num_rows > manifest.n_tuples:
        raise SourceError(f"{table.file} has more rows than there are tuples")
    # a column without any value has no type in a CSV file
    if [(name, kind or table.fields.get(name)) for name, kind in kinds] != list(table.fields.items()):
        raise SourceError(f"{table.file} does not have the columns that the manifest describes")
    for name in found.column_names:
        if not _is_on_calendar(found[name]):
            raise SourceError(f"{table.file} has dates or times in {name!r} that no calendar or clock has")
    return found


def _is_on_calendar(column: pa.ChunkedArray) -> bool:
    """Whether the ends of a column of dates or times can be told as such; to show any of them relies on it."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_temporal(kind) and len(column) > column.null_count):
        return True
    plain = column.cast(kind) if pa.types.is_dictionary(column.type) else column
    numbers = pa.int32() if kind.bit_width == 32 else pa.int64()
    ends = pc.min_max(pa.chunked_array([chunk.view(numbers) for chunk in plain.chunks], numbers)).as_py()
    try:
        pa.array(list(ends.values()), numbers).view(kind).to_pylist()
    except (pa.ArrowException, OverflowError, ValueError, LookupError, OSError):  # or in a zone that nobody knows
        return False
    return True


def _read_parquet(content: bytes, table: PackagedTable, manifest: Manifest, most_bytes: int) -> pa.Table:
    unpacked = measure(content, most_rows=manifest.n_tuples, most_bytes=most_bytes)
    _check_room(unpacked.n_bytes + unpacked.n_rows * unpacked.n_columns * _CELL, most_bytes)
    schema = pq.read_schema(pa.BufferReader(content))
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if field_type(kind) is None or isinstance(kind, pa.BaseExtensionType):
            raise Refused("it has a column of a type that Glasshouse does not write")
    # texts are read as numbers into a dictionary: a long one that is repeated a million times takes no room at first
    texts = [field.name for field in schema if is_text(field.type) and not pa.types.is_dictionary(field.type)]
    found = pq.read_table(pa.BufferReader(content), read_dictionary=texts).replace_schema_metadata(None)
    found.validate(full=True)  # that texts are UTF-8, and that numbers of dictionary entries are of some
    for name in texts:
        _check_room(_length(found[name]), most_bytes)
        place = found.column_names.index(name)
        found = found.set_column(place, name, found[name].cast(schema.field(name).type))
    return found


def _check_room(n_bytes: int, most_bytes: int) -> None:
    if n_bytes > most_bytes:
        raise Refused(f"it takes more than {most_bytes:,} bytes of memory: pass most_bytes if it is yours")


def _length(column: pa.ChunkedArray) -> int:
    """Bytes of all texts of a dictionary column."""
    total = 0
    for chunk in column.chunks:
        lengths = np.append(np.asarray(pc.binary_length(chunk.dictionary)).astype(np.int64), 0)
        counts = np.bincount(np.asarray(chunk.indices.fill_null(len(lengths) - 1)), minlength=len(lengths))
        total += int((lengths * counts).sum())
    return total


def _read_csv(content: bytes, table: PackagedTable, manifest: Manifest, most_bytes: int) -> pa.Table:
    n_rows = content.count(b"\n")  # or fewer, where texts have lines
    _check_room(2 * len(content) + n_rows * len(table.fields) * _CELL, most_bytes)
    kinds = {"string": pa.string(), "time": pa.time64("us"), "number": pa.float64()}  # the reader would guess otherwise
    added = {name: pa.int64() for name in (*NUMBERS, *COUNTS) if table.fields.get(name) == "integer"}
    types = {name: kinds[kind] for name, kind in table.fields.items() if kind in kinds} | added
    if table.guarded:
        types = {guarded_name(name): kind for name, kind in types.items()}
    options = pa_csv.ConvertOptions(
        column_types=types,
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        **({"null_values": [""]} if table.guarded else {}),
    )
    found = pa_csv.read_csv(
        pa.BufferReader(content),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True),
        convert_options=options,
    )
    return _unguarded(found, table.marks) if table.guarded else found


def _unguarded(found: pa.Table, marks: Mapping[str, str]) -> pa.Table:
    """A table of CSV as it was before it was guarded."""
    columns = []
    for name, column in zip(map(unguarded_name, found.column_names), found.columns, strict=True):
        if name in marks:
            column = pc.if_else(pc.equal(column, marks[name]), None, column)
        columns.append(unguarded(column) if is_text(column.type) else column)
    return pa.table(columns, names=[unguarded_name(name) for name in found.column_names])


def _check_numbers(tables: Mapping[str, pa.Table], manifest: Manifest) -> None:
    """Groups are numbered within their table, tuples are counted, and both come to as many as the manifest says.

    To count makes room for as many groups as the largest number says; so much must be true beforehand.
    """
    own = (*manifest.recipe.quasi, *manifest.recipe.sensitive)
    totals = [table.num_rows for table in tables.values()]
    for name, table in tables.items():
        for column in (column for column in table.column_names if column not in own):
            values = table[column]
            if not pa.types.is_integer(values.type) or values.null_count or not len(values):
                raise SourceError(f"the table {name!r} has something else than whole numbers in {column!r}")
            least, most = (int(end) for end in pc.min_max(values).as_py().values())
            if least < 1:
                raise SourceError(f"the table {name!r} has numbers below 1 in {column!r}")
            if column in NUMBERS and most > table.num_rows:
                raise SourceError(f"the table {name!r} numbers more groups than it has rows")
            if column in COUNTS:
                if most > manifest.n_tuples or pc.sum(values).as_py() != manifest.n_tuples:
                    raise SourceError(f"the tuples that the table {name!r} counts are not as many as were published")
                totals.append(manifest.n_tuples)
    if max(totals, default=0) != manifest.n_tuples:
        raise SourceError("its tables do not have as many tuples as the manifest says")
