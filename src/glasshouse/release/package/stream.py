# SPDX-License-Identifier: Apache-2.0
"""Stream: an opened release, whose tables are read file by file and batch by batch, in the order of their rows.

Of a release that is larger than memory no more is held than one of its files, packed as it is, and one batch of rows.
The manifest, the list of files and the words for people are checked when it is opened, and each file is held to its
size, its sum, its columns and its rows when it is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from glasshouse.errors import SourceError
from glasshouse.plural import counted
from glasshouse.release.layout import COUNTS, LEFT, NUMBERS, layout_of
from glasshouse.release.package.container.container import opened, refused
from glasshouse.release.package.container.plain_file import MOST_MANIFEST
from glasshouse.release.package.manifest import MANIFEST, README, SIGNATURE, parse_manifest
from glasshouse.release.package.manifest_check import cells_shown, check_entries
from glasshouse.release.package.reader import batches_in, joined, table_in
from glasshouse.release.package.readme import description, readme
from glasshouse.release.release import Release
from glasshouse.unpacking.headroom import refuse_without_room
from glasshouse.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from glasshouse.release.package.container.container import Container
    from glasshouse.release.package.description import Shown
    from glasshouse.release.package.manifest import Manifest, PackagedFile, PackagedTable

__all__ = ["MOST_BYTES", "ReleaseStream", "open_release"]

MOST_BYTES: Final = 4 << 30
"Memory that the tables of a release may take, unless the caller of `load` allows more; in a stream, each file."

_INSTEAD: Final = "check it with `glasshouse verify`, which reads one file at a time"
_TYPES: Final = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "time": pa.time64("us"),
}


@contextlib.contextmanager
def open_release(path: str | Path, *, most_bytes: int = MOST_BYTES) -> Iterator[ReleaseStream]:
    """Open the folder or the zip archive of a release to read its tables as streams; see `ReleaseStream`.

    Parameters
    ----------
    path
        The folder or the archive.
    most_bytes
        Memory that one of its files may take, packed and unpacked; more is refused before it is read.
    """
    folder = Path(path)
    try:
        with opened(folder) as container:
            yield ReleaseStream(container, most_bytes)
    except SourceError as error:
        if str(error).startswith(str(folder)):
            raise
        raise refused(str(folder), folder, error) from None


class ReleaseStream:
    """An opened release: its manifest, its words, and its tables batch by batch.

    Parameters
    ----------
    container
        The opened folder or archive, which the caller closes.
    most_bytes
        Memory that may be used; see `open_release` and `glasshouse.load`.
    """

    def __init__(self, container: Container, most_bytes: int) -> None:
        self._container = container
        self._most_bytes = most_bytes
        self.manifest = self._read_manifest()
        self._tables = {table.name: table for table in self.manifest.tables}
        self._check_listing()

    def described(self) -> Release:
        """The release without its rows: its descriptions, and tables with columns only."""
        tables = {
            table.name: pa.schema([(name, _TYPES[kind]) for name, kind in table.fields.items()]).empty_table()
            for table in self.manifest.tables
        }
        left = self.left_of(tables)
        layout_of(self.manifest.recipe).check(tables, self.manifest.recipe)
        return self.release_of(tables, left)

    def with_people(self, release: Release) -> Release:
        """A described release of several editions with the rows of its people, and of those who left."""
        if not release.editions:
            return release
        people = {release.layout.people: pa.concat_tables(self.batches(release.layout.people))}
        left = None if release.left is None else pa.concat_tables(self.batches(LEFT))
        return replace(release, tables={**release.tables, **people}, left=left)

    def left_of(self, tables: dict[str, pa.Table]) -> pa.Table | None:
        """Take the table of people who left from the tables of a release of several editions; None if nobody did."""
        return tables.pop(LEFT, None) if self.manifest.editions else None

    def release_of(
        self,
        tables: Mapping[str, pa.Table],
        left: pa.Table | None = None,
        shown: Mapping[str, Mapping[str, Shown]] | None = None,
    ) -> Release:
        """The release with these tables, after a check that its words for people are those for machines.

        ``shown`` is what the text columns of each table show, where it is known: the manifest must say the same.
        """
        manifest = self.manifest
        release = Release(
            tables=tables,
            columns=manifest.columns,
            recipe=manifest.recipe,
            guarantee=manifest.guarantee,
            n_tuples=manifest.n_tuples,
            n_dropped=manifest.n_dropped,
            n_suppressed=manifest.n_suppressed,
            identified=manifest.identified,
            editions=manifest.editions,
            left=left,
            title=manifest.title,
            licence=manifest.licence,
            borders={table.name: self._borders(table) for table in manifest.tables if len(table.files) > 1},
            other_writer="" if manifest.is_ours else f"format {manifest.version}, {manifest.software}",
        )
        told = next((self._content(file, MOST_MANIFEST) for file in manifest.files if file.name == README), b"")
        if manifest.is_ours:
            self._check_words(release, told)
        check_entries(manifest, release, shown)
        return release

    def check_cells(self) -> None:
        """Check that the manifest says of the cells of texts what they show; every file with texts is read."""
        shown = {table.name: cells_shown(table, partial(self.batches, table.name)) for table in self.manifest.tables}
        check_entries(self.manifest, self.described(), shown)

    def _borders(self, table: PackagedTable) -> list[int]:
        """The rows at which the second and each further file of a table begin."""
        rows = [file.rows or 0 for file in self.manifest.files_of(table)]
        return list(itertools.accumulate(rows[:-1]))

    def batches(self, name: str, columns: Sequence[str] | None = None, only: str | None = None) -> Iterator[pa.Table]:
        """The rows of a table in order, in batches; optionally only some columns, or one file."""
        table = self._tables[name]
        schema = None
        for file in (one for one in self.manifest.files_of(table) if only in (None, one.name)):
            content = self._content(file, self._most_bytes)
            for batch in batches_in(content, file, table, self.manifest, self._most_bytes, columns):
                schema = schema or batch.schema
                if batch.schema != schema:
                    raise SourceError(f"the parts of the table {name!r} have columns of different types")
                yield batch

    def whole_tables(self) -> dict[str, pa.Table]:
        """All tables as a whole; together they may take the allowed memory."""
        self._refuse_too_large()
        left = self._most_bytes
        found: dict[str, pa.Table] = {}
        for table in self.manifest.tables:
            parts = []
            for file in self.manifest.files_of(table):
                parts.append(table_in(self._content(file, left), file, table, self.manifest, left))
                left -= parts[-1].nbytes
            found[table.name] = joined(parts, table)
        return found

    def _refuse_too_large(self) -> None:
        """Refuse tables in parts that do not fit into memory, by the manifest, before they are read."""
        rows = columns = need = 0
        for table in (table for table in self.manifest.tables if len(table.files) > 1):
            own = sum(file.rows or 0 for file in self.manifest.files_of(table))
            small = [name for name, kind in table.fields.items() if kind == "string" or name in (*NUMBERS, *COUNTS)]
            need += own * (4 * len(small) + 8 * (len(table.fields) - len(small)))
            rows, columns = max(rows, own), columns + len(table.fields)
        if need > self._most_bytes:
            raise SourceError(
                f"its tables, of up to {counted(rows, 'row')}, take about {need:,} bytes of memory, more than the "
                f"{self._most_bytes:,} that may be used: {_INSTEAD}, or, if you trust it, load it in Python with "
                f"gh.load(..., most_bytes={2 * need})",
                advised=True,
            )
        refuse_without_room(
            need * 3 // 2, f"loading {counted(rows, 'row')} of {counted(columns, 'column')}", instead=_INSTEAD
        )

    # ---------------------------------------------------------------------------------------------------- its files

    def _read_manifest(self) -> Manifest:
        try:
            content = self._container.read(MANIFEST, MOST_MANIFEST)
        except FileNotFoundError:
            raise SourceError(f"it is not a release: there is no {MANIFEST}", advised=True) from None
        return parse_manifest(content)

    def _check_listing(self) -> None:
        """The folder holds what the manifest lists, and nothing beside it; so too the folder of a table."""
        parted = [table for table in self.manifest.tables if len(table.files) > 1]
        inner = {path for table in parted for path in table.files}
        beside = {file.name for file in self.manifest.files} - inner
        _compare({MANIFEST, *beside, *(table.name for table in parted)}, self._container.names())
        for table in parted:
            self._check_parts(table)

    def _check_parts(self, table: PackagedTable) -> None:
        try:
            found = {f"{table.name}/{name}" for name in self._container.names(table.name)}
        except FileNotFoundError:
            raise SourceError(f"{table.name} is missing") from None
        _compare(set(table.files), found)
        rows = sum(file.rows or 0 for file in self.manifest.files_of(table))
        if rows > self.manifest.n_tuples:
            raise SourceError(f"the parts of the table {table.name!r} have more rows than the release has records")

    def _content(self, file: PackagedFile, most: int) -> bytes:
        """A file, whole, as it was published."""
        if file.size > most:
            raise SourceError(
                f"{file.name} has {counted(file.size, 'byte')}, more than may be read: if you trust it, load it in "
                f"Python with a larger limit, such as gh.load(..., most_bytes={4 * file.size})",
                source=file.name,
                advised=True,
            )
        try:
            content = self._container.read(file.name, file.size)
        except FileNotFoundError:
            raise SourceError(f"{file.name} is missing", source=file.name) from None
        if len(content) != file.size:
            raise SourceError(
                f"{file.name} is not the file that was published (it is shorter: it was cut short, or changed)",
                source=file.name,
            )
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise SourceError(
                f"{file.name} is not the file that was published (its checksum differs)", source=file.name
            )
        return content

    def _check_words(self, release: Release, told: bytes) -> None:
        """Check that the texts for people are those that this version would write for the data for machines."""
        if self.manifest.description != description(release):
            raise SourceError(
                f"{MANIFEST} has a description that does not match its guarantee: it was changed, and the release is "
                "not read"
            )
        tables = self.manifest.tables
        format = tables[0].format
        missing = {table.name: table.missing for table in tables} if format == "csv" else {}
        parts = {table.name: len(table.files) for table in tables}
        if told != readme(release, format, VERSION, missing, parts).encode():
            raise SourceError(
                f"{README} does not match {MANIFEST}: one of them was changed, and the release is not read"
            )


def _compare(listed: set[str], found: set[str]) -> None:
    """Refuse other files than those that are listed; a signature comes later, and is checked where it is asked for."""
    found = found - {SIGNATURE}
    if found - listed:
        names = ", ".join(map(repr, sorted(found - listed)[:3]))
        raise SourceError(
            f"it has {counted(len(found - listed), 'file that was', 'files that were')} not published with it, such as "
            f"{names}, so it is not read: move them elsewhere",
            advised=True,
        )
    if listed - found:
        raise SourceError(f"these files are missing: {', '.join(sorted(listed - found))}")
