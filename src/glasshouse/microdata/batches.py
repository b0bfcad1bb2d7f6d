# SPDX-License-Identifier: Apache-2.0
"""A file that is read in batches, from front to back, as often as one likes; for tables larger than memory.

Parquet and delimited text, told apart by their first bytes as in `glasshouse.microdata.sources`. Batches of Parquet
hold what the file holds. Those of delimited text hold texts: what is a number is known when all of it has been seen.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv

from glasshouse.database import is_address
from glasshouse.errors import NotSupported, SourceError
from glasshouse.microdata import delimited, sources
from glasshouse.microdata.delimited import NULL_SPELLINGS, Delimited
from glasshouse.microdata.dialects import detect_delimiter, marked_encoding

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from glasshouse.microdata.quotes import Quotes

__all__ = ["DelimitedStream", "ParquetStream", "Stream", "open_stream"]

_BATCH = 1 << 17  # rows of Parquet: the columns of a batch stay in the processor's cache
_BUFFER = 1 << 20
_BLOCK = 1 << 22  # bytes of text


class Stream(Protocol):
    """A table in a file, read in batches."""

    names: tuple[str, ...]
    n_rows: int | None
    notices: tuple[str, ...]

    def types(self) -> dict[str, pa.DataType]:
        """The type of every column; of text, what its beginning looks like."""
        ...

    def batches(self, columns: Sequence[str]) -> Iterator[dict[str, pa.Array]]:
        """Read the columns from front to back."""
        ...


@dataclass(frozen=True, kw_only=True)
class ParquetStream:
    """A Parquet file. Of a row group only the pages at hand are in memory."""

    path: Path
    names: tuple[str, ...]
    n_rows: int | None
    notices: tuple[str, ...] = ()

    def types(self) -> dict[str, pa.DataType]:
        """The type of every column."""
        with sources.readable(self.path, "Parquet file"), pq.ParquetFile(self.path) as file:
            return {field.name: field.type for field in file.schema_arrow}

    def batches(self, columns: Sequence[str]) -> Iterator[dict[str, pa.Array]]:
        """Read the columns from front to back; texts come as the dictionaries in which the file holds them."""
        types = self.types()
        texts = [name for name in columns if pa.types.is_string(types[name]) or pa.types.is_large_string(types[name])]
        with (
            sources.readable(self.path, "Parquet file"),
            pq.ParquetFile(self.path, read_dictionary=texts, buffer_size=_BUFFER, pre_buffer=False) as file,
        ):
            for batch in file.iter_batches(batch_size=_BATCH, columns=list(columns)):
                yield {name: batch.column(name) for name in columns}

    def summaries(self, columns: Collection[str]) -> dict[str, tuple[int, int, int]]:
        """Smallest and largest value of integer columns and how many are missing, of those that the file tells."""
        with sources.readable(self.path, "Parquet file"), pq.ParquetFile(self.path) as file:
            integers = {field.name for field in file.schema_arrow if pa.types.is_integer(field.type)}
            places = {c.path: i for i, c in enumerate(file.schema) if c.path in integers}
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            told = {name: _summary(groups, places[name]) for name in columns if name in places}
        return {name: summary for name, summary in told.items() if summary is not None}


def _summary(groups: Sequence[pq.RowGroupMetaData], place: int) -> tuple[int, int, int] | None:
    low, high, missing = [], [], 0
    for group in groups:
        told = group.column(place).statistics
        if told is None or not told.has_null_count:
            return None
        missing += told.null_count
        if told.null_count == group.num_rows:
            continue
        if not told.has_min_max:
            return None
        low.append(int(told.min))
        high.append(int(told.max))
    return (min(low), max(high), missing) if low and max(high) < 1 << 63 else None


@dataclass(frozen=True, kw_only=True)
class DelimitedStream:
    """A delimited text file; a batch holds texts, null where a value is missing."""

    file: Delimited
    looks: pa.Schema
    names: tuple[str, ...]
    notices: tuple[str, ...]
    declared: bool
    n_rows: int | None = None

    def types(self) -> dict[str, pa.DataType]:
        """What the beginning of every column looks like."""
        return {field.name: field.type for field in self.looks}

    def batches(self, columns: Sequence[str], quotes: Quotes | None = None) -> Iterator[dict[str, pa.Array]]:
        """Read the columns from front to back; `UnicodeError` where letters are written otherwise than thought.

        ``quotes`` gets to see the bytes as they are read.
        """
        options = self.file.options(columns=columns, as_text=columns)
        options["read_options"].block_size = _BLOCK
        with delimited.translated_errors(self.file):
            reader = arrow_csv.open_csv(self.file.open(quotes), **options)
        while True:
            try:
                with delimited.translated_errors(self.file):
                    batch = reader.read_next_batch()
            except StopIteration:
                return
            if any(pa.types.is_binary(kind) for kind in batch.schema.types):
                raise UnicodeError
            yield {name: batch.column(name) for name in columns}

    def in_another_encoding(self) -> DelimitedStream:
        """The same file, in the encoding that its bytes seem to have; for when they are not what was thought."""
        if self.declared or self.file.encoding != "utf-8":
            raise delimited.undecodable(self.file, declared=self.declared)
        file = replace(self.file, encoding=delimited.encoding_of(self.file))
        return replace(self, file=file, notices=(*self.notices, _taken_for(file)))


def open_stream(
    source: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
) -> ParquetStream | DelimitedStream:
    """Open a Parquet or delimited file; nothing but its beginning (of Parquet, its end) is read.

    Parameters
    ----------
    source
        A path.
    delimiter, encoding, decimal
        Of delimited text; the first two are detected unless given.
    """
    if is_address(source):
        raise NotSupported(
            "reading a database in batches, twice over",
            instead="read it into memory, or write the table to a CSV or Parquet file first",
        )
    path = sources.existing_file(source)
    with sources.readable(path, "file"):
        head = sources.first_bytes(path, None)
    if not head:
        raise SourceError(f"{path} is empty", source=path)
    compression = next((name for magic, name in sources._COMPRESSIONS.items() if head.startswith(magic)), None)
    if compression:
        with sources.readable(path, f"{compression} file"):
            head = sources.first_bytes(path, compression)
    elif head.startswith(b"PAR1"):
        with sources.readable(path, "Parquet file"), pq.ParquetFile(path) as file:
            names, n_rows = file.schema_arrow.names, file.metadata.num_rows
        sources.check_column_names(names, str(path))
        if not n_rows:
            raise SourceError(f"{path} has no rows", source=path)
        return ParquetStream(path=path, names=tuple(names), n_rows=n_rows)
    elif head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        raise NotSupported(f"reading {path} in batches, an Arrow file", instead="write it as Parquet")
    sources.refuse_foreign(path, head, delimiter=delimiter, encoding=encoding)
    delimited.check_options(delimiter, encoding, decimal, NULL_SPELLINGS)
    return _open_delimited(path, head, compression, delimiter, encoding, decimal)


def _open_delimited(
    path: Path, head: bytes, compression: str | None, delimiter: str | None, encoding: str | None, decimal: str
) -> DelimitedStream:
    marked = marked_encoding(head)
    file = Delimited(
        path=path,
        compression=compression,
        delimiter=delimiter,
        encoding=codecs.lookup(encoding or marked or "utf-8").name,
        decimal=decimal,
        null_values=tuple(NULL_SPELLINGS),
        quoted=True,  # to know better would take a pass of its own
    )
    notices = []
    try:
        start = delimited.first_text(head, file.encoding)
    except UnicodeError:
        if encoding or marked:
            raise delimited.undecodable(file, declared=encoding is not None) from None
        file = replace(file, encoding=delimited.encoding_of(file))
        start = delimited.first_text(head, file.encoding)
        notices.append(_taken_for(file))
    if not start.strip():
        raise SourceError(f"{path} is empty", source=path)
    detected = delimiter or detect_delimiter(start)
    if not delimiter:
        notices += delimited.delimiter_notices(file, detected)
    file = replace(file, delimiter=detected)
    looks = delimited.infer_columns(file, start)
    sources.check_column_names(looks.names, str(path))
    return DelimitedStream(
        file=file, looks=looks, names=tuple(looks.names), notices=tuple(notices), declared=bool(encoding or marked)
    )


def _taken_for(file: Delimited) -> str:
    return f"{file.path.name} is not UTF-8 and is taken for {file.encoding}: if letters look wrong, pass encoding="
