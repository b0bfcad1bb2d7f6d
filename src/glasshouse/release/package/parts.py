# SPDX-License-Identifier: Apache-2.0
"""Parts: a published table as one file or as several; the same rows always give the same bytes.

A table of at most 2^21 rows is one file, ``gt.parquet``. A larger one is a folder of parts, ``gt/part-00000.parquet``
and so on, which are read one after the other. Where a part ends is decided by what is published, and is told by the
caller.

A file is a function of its rows. In how many pieces an Arrow table came, with which dictionaries and with which spare
entries in them, does not show: row groups have 2^20 rows, and the dictionary of a column has the values of its row
group, each once, in ascending order. There are no metadata and no statistics.
"""

from __future__ import annotations

import itertools
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from glasshouse.errors import OutputError
from glasshouse.plural import counted
from glasshouse.release.layout import NUMBERS
from glasshouse.release.package.listing import checksum
from glasshouse.release.package.tables import plain_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = [
    "MOST_PARTS",
    "ROW_GROUP",
    "PublishedPart",
    "TableWriter",
    "part_paths",
    "remove_unfinished",
    "write_part",
    "write_parts",
    "write_table",
]

ROW_GROUP: Final = 1 << 20
"""Rows of a row group of a Parquet file."""

MOST_PARTS: Final = 1 << 15
"The most files that a release can have: as many as a manifest can list."

_UNFINISHED: Final = ".unfinished-"


@dataclass(frozen=True, kw_only=True)
class PublishedPart:
    """A file that was written: its path inside the release, its rows, its size, and its SHA-256."""

    path: str
    rows: int
    bytes: int
    hash: str


def part_paths(table: str, n_parts: int, format: str) -> list[str]:
    """The paths of a table's files inside the release.

    >>> part_paths("gt", 1, "parquet"), part_paths("gt", 2, "csv")
    (['gt.parquet'], ['gt/part-00000.csv', 'gt/part-00001.csv'])
    """
    if n_parts == 1:
        return [f"{table}.{format}"]
    return [f"{table}/part-{i:05}.{format}" for i in range(n_parts)]


def write_part(
    folder: Path,
    table_name: str,
    part_number: int,
    n_parts: int,
    table: pa.Table,
    format: str,
    marks: Mapping[str, str] | None = None,
) -> PublishedPart:
    """Write one part of a published table into the folder of a release.

    The file gets its name when it is complete: a task that was killed, or that runs twice, never leaves half of one.

    Parameters
    ----------
    folder
        The folder of the release that is being written.
    table_name, part_number, n_parts
        Which part it is, counted from 0, and of how many. A single part lies beside the manifest.
    table
        Its rows, in their order; the types of columns must be the same in all parts.
    format
        ``parquet`` or ``csv``; every part of CSV begins with the names of the columns.
    marks
        What a CSV file has for missing texts, by column; the same for all parts.
    """
    if not 0 <= part_number < n_parts <= MOST_PARTS:
        raise OutputError(
            f"a table cannot have {counted(n_parts, 'part')} (this is part {part_number:,}): at most {MOST_PARTS:,} "
            "are possible"
        )
    if n_parts > 1 and not table.num_rows:
        raise OutputError(f"part {part_number:,} of the table {table_name!r} has no rows: leave it out")
    path = folder / part_paths(table_name, n_parts, format)[part_number]
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_name(f"{_UNFINISHED}{secrets.token_hex(8)}")
    try:
        write_table(table, unfinished, format, marks)
        size, digest = unfinished.stat().st_size, checksum(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return PublishedPart(path=path.relative_to(folder).as_posix(), rows=table.num_rows, bytes=size, hash=digest)


def write_parts(
    folder: Path,
    table_name: str,
    table: pa.Table,
    format: str,
    marks: Mapping[str, str] | None = None,
    borders: Sequence[int] = (),
) -> list[PublishedPart]:
    """Write a whole table, cut before each of the rows that ``borders`` names, in ascending order."""
    ends = [0, *borders, table.num_rows]
    if len(ends) > 2 and not all(start < end for start, end in itertools.pairwise(ends)):
        raise OutputError(
            f"the parts of the table {table_name!r} are not in ascending order within its "
            f"{counted(table.num_rows, 'row')}"
        )
    return [
        write_part(folder, table_name, i, len(ends) - 1, table.slice(start, end - start), format, marks)
        for i, (start, end) in enumerate(itertools.pairwise(ends))
    ]


def remove_unfinished(folder: Path) -> None:
    """Remove the remains of killed writers of parts."""
    for left in (*folder.glob(f"{_UNFINISHED}*"), *folder.glob(f"*/{_UNFINISHED}*")):
        left.unlink()


def write_table(
    table: pa.Table,
    path: Path,
    format: str,
    marks: Mapping[str, str] | None = None,
    *,
    numbers: Sequence[str] = NUMBERS,
) -> None:
    """Write a table as one file; see `TableWriter`."""
    with TableWriter(path, table.schema, format, marks or {}, numbers=numbers) as writer:
        writer.write(table)


class TableWriter:
    """Writes a table to disk piece by piece; the file does not depend on where pieces end.

    Parameters
    ----------
    path
        The file; what is there is replaced.
    schema
        Columns and types. Metadata are not written.
    format
        ``parquet`` or ``csv``.
    marks
        What a CSV file has for missing texts, by column.
    row_group
        Rows of a row group of Parquet.
    numbers
        Columns that number groups: ascending numbers take next to nothing as differences, and would fill a dictionary
        in vain.
    """

    def __init__(
        self,
        path: Path,
        schema: pa.Schema,
        format: str,
        marks: Mapping[str, str],
        *,
        row_group: int = ROW_GROUP,
        numbers: Sequence[str] = NUMBERS,
    ) -> None:
        self._row_group = row_group
        self._pieces: list[pa.Table] = []
        self._n_rows = 0
        self._is_csv = format == "csv"
        self._marks = marks
        self._writer: Any
        if self._is_csv:
            self._writer = pa_csv.CSVWriter(path, plain_table(schema.empty_table(), {}).schema)
            return
        self._schema = pa.schema([pa.field(field.name, _plain_type(field.type)) for field in schema])
        numbered = [field.name for field in schema if field.name in numbers and pa.types.is_integer(field.type)]
        self._writer = pq.ParquetWriter(
            path,
            self._schema,
            compression="zstd",
            write_statistics=False,
            use_dictionary=[name for name in schema.names if name not in numbered],
            column_encoding=dict.fromkeys(numbered, "DELTA_BINARY_PACKED") or None,
        )

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None and self._n_rows:
                self._flush(self._n_rows)
        finally:
            self._writer.close()

    def write(self, piece: pa.Table) -> None:
        """Add rows."""
        self._pieces.append(piece.replace_schema_metadata(None))
        self._n_rows += piece.num_rows
        while self._n_rows >= self._row_group:
            self._flush(self._row_group)

    def _flush(self, n_rows: int) -> None:
        table = pa.concat_tables(self._pieces)
        rows = table.slice(0, n_rows)
        if self._is_csv:
            self._writer.write_table(plain_table(rows, self._marks))
        else:
            columns = [_canonical(column) for column in rows.columns]
            self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema), n_rows)
        self._pieces = [table.slice(n_rows)]
        self._n_rows -= n_rows


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return pa.dictionary(pa.int32(), kind.value_type) if pa.types.is_dictionary(kind) else kind


def _canonical(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """The same values in one piece; of a dictionary those entries that occur, once, in ascending order.

    >>> spare = pa.DictionaryArray.from_arrays(pa.array([2, 1, 2]), ["x", "b", "a"])
    >>> _canonical(pa.chunked_array([spare])).dictionary.to_pylist()
    ['a', 'b']
    """
    if not pa.types.is_dictionary(column.type):
        return column.combine_chunks()
    distinct = pa.chunked_array([chunk.dictionary for chunk in column.chunks]).unique().drop_null()
    found = []
    for chunk in column.chunks:  # an entry may occur twice, or stand for a missing value
        places = np.append(np.asarray(pc.index_in(chunk.dictionary, value_set=distinct).fill_null(-1)), -1)
        found.append(places[np.asarray(chunk.indices.fill_null(-1))])
    codes = np.concatenate(found)
    occurs = np.zeros(len(distinct) + 1, bool)
    occurs[codes] = True  # that of a missing value is the last place
    present = np.flatnonzero(occurs[:-1])
    entries = distinct.take(pa.array(present))
    if not pc.all(pc.less(entries[:-1], entries[1:])).as_py():
        order = pc.sort_indices(entries)
        present, entries = present[np.asarray(order)], entries.take(order)
    rank = np.full(len(distinct) + 1, -1, np.int32)
    rank[present] = np.arange(len(present), dtype=np.int32)
    shown = rank[codes]
    indices = pa.array(shown, mask=shown < 0) if occurs[-1] else pa.array(shown)
    return pa.DictionaryArray.from_arrays(indices, entries)
