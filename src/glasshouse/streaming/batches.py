# SPDX-License-Identifier: Apache-2.0
"""A file that is read in batches, from front to back, as often as one likes; for tables larger than memory.

Parquet and delimited text, told apart by their first bytes as in `glasshouse.microdata.reading.sources`. Batches of
Parquet hold what the file holds. Those of delimited text hold texts: what is a number is known when all of it has been
seen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv

from glasshouse.database import is_address
from glasshouse.errors import NotSupported, SourceError
from glasshouse.microdata.cautions import Written
from glasshouse.microdata.reading import delimited, sources
from glasshouse.microdata.reading.delimited import Delimited
from glasshouse.unpacking.budget import is_text

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from glasshouse.microdata.reading.quotes import Quotes

__all__ = ["Stream", "open_stream"]

_BATCH = 1 << 17  # rows of Parquet: the columns of a batch stay in the processor's cache
_BUFFER = 1 << 20
_BLOCK = 1 << 22  # bytes of text


@dataclass(frozen=True, kw_only=True)
class Stream(ABC):
    """A table in a file, read in batches."""

    path: Path
    names: tuple[str, ...]
    n_rows: int | None = None
    notices: tuple[str, ...] = ()

    @abstractmethod
    def types(self) -> dict[str, pa.DataType]:
        """The type of every column; of text, what its beginning looks like."""

    @abstractmethod
    def batches(self, columns: Sequence[str], quotes: Quotes | None = None) -> Iterator[dict[str, pa.Array]]:
        """Read the columns from front to back; ``quotes`` gets to see the bytes of text as they are read."""

    def summaries(self, columns: Collection[str]) -> dict[str, tuple[int, int, int]]:
        """Smallest and largest value of integer columns and how many are missing, of those that the file tells."""
        del columns
        return {}

    @property
    def decimal(self) -> str | None:
        """The decimal point of a file of texts; None of a file that knows its types."""
        return None

    def quotes(self) -> Quotes | None:
        """A watcher for the quotation marks of the file, if it can have some."""
        return None

    def written(self, quotes: Quotes | None) -> tuple[Written, tuple[str, ...]]:
        """How the file writes records, once all of it went by, and notices; a mark that is never closed is refused."""
        del quotes
        return Written(n_columns=len(self.names), delimiters=tuple(delimited.DELIMITERS)), ()

    def no_rows(self) -> SourceError:
        """What to say of a file without rows."""
        return SourceError(f"{self.path} has no rows", source=self.path)

    def in_another_encoding(self) -> Stream:
        """The same file, in the encoding that its bytes seem to have; for when they are not what was thought."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class ParquetStream(Stream):
    """A Parquet file. Of a row group only the pages at hand are in memory."""

    def types(self) -> dict[str, pa.DataType]:
        """The type of every column."""
        with sources.readable(self.path, "Parquet file"), pq.ParquetFile(self.path) as file:
            return {field.name: field.type for field in file.schema_arrow}

    def batches(self, columns: Sequence[str], quotes: Quotes | None = None) -> Iterator[dict[str, pa.Array]]:
        """Read the columns from front to back; texts come as the dictionaries in which the file holds them."""
        del quotes
        types = self.types()
        texts = [name for name in columns if is_text(types[name])]
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
class DelimitedStream(Stream):
    """A delimited text file; a batch holds texts, null where a value is missing."""

    file: Delimited
    looks: pa.Schema

    def types(self) -> dict[str, pa.DataType]:
        """What the beginning of every column looks like."""
        return {field.name: field.type for field in self.looks}

    def batches(self, columns: Sequence[str], quotes: Quotes | None = None) -> Iterator[dict[str, pa.Array]]:
        """Read the columns from front to back; `UnicodeError` where letters are written otherwise than thought."""
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

    @property
    def decimal(self) -> str:
        """The decimal point."""
        return self.file.decimal

    def quotes(self) -> Quotes:
        """A watcher for the quotation marks of the file."""
        return self.file.quotes(len(self.names))

    def written(self, quotes: Quotes | None) -> tuple[Written, tuple[str, ...]]:
        """How the file writes records; refuses a quotation mark that is never closed."""
        assert quotes is not None
        breaks = delimited.checked_breaks(self.file, quotes, self.names)
        written = Written(n_columns=len(self.names), delimiters=(self.file.delimiter or ",",), breaks=breaks)
        return written, tuple(delimited.quotes_notices(self.file, quotes))

    def no_rows(self) -> SourceError:
        """What to say of a file without rows."""
        return delimited.no_rows(self.file)

    def in_another_encoding(self) -> DelimitedStream:
        """The same file, in the encoding that its bytes seem to have."""
        file = self.file.in_another_encoding()
        return replace(self, file=file, notices=(*self.notices, delimited.taken_for(file)))


def open_stream(
    source: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
) -> Stream:
    """Open a Parquet or delimited file, as `open_source` does; only its beginning (of Parquet, its end) is read."""
    if is_address(source):
        raise NotSupported(
            "reading a database in batches, twice over",
            instead="read it into memory, or write the table to a CSV or Parquet file first",
        )
    path = sources.existing_file(source)
    head, compression = sources.beginning(path)
    if not compression and head.startswith(b"PAR1"):
        with sources.readable(path, "Parquet file"), pq.ParquetFile(path) as parquet:
            names, n_rows = parquet.schema_arrow.names, parquet.metadata.num_rows
        sources.check_column_names(names, str(path))
        stream = ParquetStream(path=path, names=tuple(names), n_rows=n_rows)
        if not n_rows:
            raise stream.no_rows()
        return stream
    if not compression and head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        raise NotSupported(f"reading {path} in batches, an Arrow file", instead="write it as Parquet")
    sources.refuse_foreign(path, head, delimiter=delimiter, encoding=encoding)
    # whether there are quotation marks would take a pass of its own to know
    file = Delimited.of(path, head, compression, delimiter=delimiter, encoding=encoding, decimal=decimal, quoted=True)
    assumed = []
    try:
        file, looks, notices = delimited.looked_at(file, head)
    except UnicodeError:
        file = file.in_another_encoding()
        assumed.append(delimited.taken_for(file))
        file, looks, notices = delimited.looked_at(file, head)
    sources.check_column_names(looks.names, str(path))
    return DelimitedStream(path=path, file=file, looks=looks, names=tuple(looks.names), notices=(*assumed, *notices))
