# SPDX-License-Identifier: Apache-2.0
"""A table that is read in batches, from front to back, as often as one likes; for tables larger than memory.

Files are told apart by their first bytes as in `glasshouse.microdata.reading.sources`. Batches of Parquet and Arrow
files hold what the file holds. Those of delimited text hold texts: what is a number is known when all of it has been
seen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv
from pyarrow import ipc

from glasshouse.database import is_address
from glasshouse.errors import NotSupported, SchemaError, SourceError
from glasshouse.microdata.cautions import Written
from glasshouse.microdata.reading import delimited, sources
from glasshouse.microdata.reading.delimited import Delimited
from glasshouse.microdata.reading.normal_form import contiguous, refuse_nested
from glasshouse.unpacking import growth_of
from glasshouse.unpacking.arrow_ipc import messages, unpacked_bytes
from glasshouse.unpacking.budget import Room, is_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from glasshouse.microdata.reading.quotes import Quotes
    from glasshouse.unpacking.parquet import Growth

__all__ = ["GivenStream", "Stream", "open_stream"]

_BATCH = 1 << 17  # rows of Parquet: the columns of a batch stay in the processor's cache
_BUFFER = 1 << 20
_BLOCK = 1 << 22  # bytes of text
_MOST_ROWS = 1 << 20  # of a batch
_ROW = 64  # bytes of text that a row may have, about


@dataclass(frozen=True, kw_only=True)
class Stream(ABC):
    """A table that is read in batches."""

    names: tuple[str, ...]
    n_rows: int | None = None
    notices: tuple[str, ...] = ()
    kind: str = "file"  # how it was given

    @abstractmethod
    def batches(
        self, columns: Sequence[str], quotes: Quotes | None = None, *, n_rows: int = 0
    ) -> Iterator[dict[str, pa.Array]]:
        """Read the columns from front to back; ``quotes`` scans text as it is read, and leaves empty records out.

        A batch has as many rows as serves reading well, or ``n_rows`` if that is more and the file can be so read.
        """

    @abstractmethod
    def no_rows(self) -> SourceError:
        """The message for a table without rows."""

    @abstractmethod
    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that cannot be read, as far as that is known without reading the table."""

    @abstractmethod
    def changed(self) -> SourceError:
        """The message for a table that has changed when it is read again."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that have a name."""
        return tuple(filter(str.strip, self.names))

    def stamp(self) -> object:
        """A value that changes if somebody writes to the table."""
        return None

    def types(self) -> dict[str, pa.DataType]:
        """The type of every column; for text files the one suggested by the first rows."""
        raise NotImplementedError

    def summaries(self, columns: Collection[str]) -> dict[str, tuple[int, int, int]]:
        """Smallest, largest and number of missing values of integer columns, where the file gives them."""
        del columns
        return {}

    @property
    def decimal(self) -> str | None:
        """The decimal point of a text file; None for a file with types."""
        return None

    def fixed_type(self, name: str) -> pa.DataType | None:
        """The type of a column, if that is known without reading it."""
        del name
        return None

    def typed(self, name: str, values: pa.Array) -> tuple[pa.Array, bool]:
        """The different values of a column with their type, and whether texts stay that though they look like numbers.

        Values are known by all of them together: a single text among numbers makes a column of texts.
        """
        del name
        return values, False

    def assumed(self, starts: pa.Table, kept: Sequence[str]) -> tuple[str, ...]:
        """Sentences on what was assumed about columns; ``starts`` has the first rows of text columns."""
        del starts, kept
        return self.notices

    def quotes(self) -> Quotes | None:
        """A watcher for the quotation marks of the file, if it can have some."""
        return None

    def written(self, quotes: Quotes | None) -> tuple[Written, tuple[str, ...]]:
        """How the file writes records, after all of it was read, and notices; an unclosed quotation mark is refused."""
        del quotes
        return Written(n_columns=len(self.names), delimiters=tuple(delimited.DELIMITERS)), ()

    def in_another_encoding(self) -> Stream:
        """The same file with the encoding that its bytes seem to have; used if the first assumption was wrong."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class FileStream(Stream):
    """A table in a file."""

    path: Path

    def no_rows(self) -> SourceError:
        """The message for a file without rows."""
        return SourceError(f"{self.path} has no rows", source=self.path)

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns of lists and records."""
        types = self.types()
        refuse_nested(pa.schema([(name, types[name]) for name in columns]), columns)

    def changed(self) -> SourceError:
        """The message for a file that has changed when it is read again."""
        return SourceError(
            f"{self.path} changed while it was read: publish it when no program writes to it", source=self.path
        )

    def fixed_type(self, name: str) -> pa.DataType | None:
        """The type of a column, if the file tells it."""
        return self.types()[name] if self.decimal is None else None

    def stamp(self) -> object:
        """The file's identity, size, and time of its last change; None if it is gone."""
        try:
            told = self.path.stat()
        except OSError:
            return None
        return told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns


@dataclass(frozen=True, kw_only=True)
class ParquetStream(FileStream):
    """A Parquet file. Of a row group only the pages at hand are in memory."""

    def types(self) -> dict[str, pa.DataType]:
        """The type of every column."""
        with sources.readable(self.path, "Parquet file"), pq.ParquetFile(self.path) as file:
            return {field.name: field.type for field in sources.legible(file.schema_arrow)}

    def batches(
        self, columns: Sequence[str], quotes: Quotes | None = None, *, n_rows: int = 0
    ) -> Iterator[dict[str, pa.Array]]:
        """Read the columns from front to back; texts come as the dictionaries in which the file holds them."""
        del quotes
        types, growth = self.types(), self._growth(columns)
        texts = [name for name in columns if is_text(types[name]) and name in growth.simple]
        most = Room.of(self.path).most // (8 * growth.longest) if growth.longest else _MOST_ROWS
        with (
            sources.readable(self.path, "Parquet file"),
            pq.ParquetFile(self.path, read_dictionary=texts, buffer_size=_BUFFER, pre_buffer=False) as file,
        ):
            for batch in file.iter_batches(batch_size=max(min(max(_BATCH, n_rows), most), 1), columns=list(columns)):
                batch.validate(full=True)  # that texts are UTF-8, and that dictionaries have all that rows point at
                yield {name: batch.column(name) for name in columns}

    def _growth(self, columns: Sequence[str]) -> Growth:
        """The size of the columns after decompression; refused if it is far larger than the file."""
        with sources.readable(self.path, "Parquet file"):
            growth = growth_of(self.path, columns)
        Room.of(self.path).check(growth.n_bytes)
        return growth

    def summaries(self, columns: Collection[str]) -> dict[str, tuple[int, int, int]]:
        """Smallest, largest and number of missing values of integer columns, where the file gives them."""
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
class ArrowStream(FileStream):
    """An Arrow IPC file, or a stream of that format in a file; batches are as its writer made them."""

    reader: Callable[..., Any]

    def types(self) -> dict[str, pa.DataType]:
        """The type of every column."""
        with _readable(self.path), pa.OSFile(str(self.path)) as file, self.reader(file) as opened:
            return {field.name: field.type for field in sources.legible(opened.schema)}

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns of lists and records, and a file that becomes far larger when it is unpacked."""
        super().check(columns)
        with _readable(self.path), pa.OSFile(str(self.path)) as file:
            Room.of(self.path).check(sum(map(unpacked_bytes, messages(file))))

    def batches(
        self, columns: Sequence[str], quotes: Quotes | None = None, *, n_rows: int = 0
    ) -> Iterator[dict[str, pa.Array]]:
        """Read the columns from front to back."""
        del quotes, n_rows
        options = ipc.IpcReadOptions(included_fields=sorted(self.names.index(name) for name in columns))
        with (
            _readable(self.path),
            pa.OSFile(str(self.path)) as file,
            self.reader(file, options=options) as opened,
        ):
            found = (
                opened if self.reader is ipc.open_stream else map(opened.get_batch, range(opened.num_record_batches))
            )
            for batch in found:
                batch.validate(full=True)  # Arrow trusts what the file says, and would read beyond its end
                yield {name: batch.column(name) for name in columns}


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Say in our words that an Arrow file cannot be read: a damaged one may ask for any amount of memory."""
    try:
        with sources.readable(path, "Arrow file"):
            yield
    except MemoryError:
        raise SourceError(
            f"{path} has a batch that does not fit into the memory of this machine: write it in smaller batches",
            source=path,
        ) from None


@dataclass(frozen=True, kw_only=True)
class DelimitedStream(FileStream):
    """A delimited text file; a batch holds texts, null where a value is missing."""

    file: Delimited
    looks: pa.Schema
    guessed: bool = False  # whether the encoding was

    def types(self) -> dict[str, pa.DataType]:
        """The types that the first rows of the columns suggest."""
        return {field.name: field.type for field in self.looks}

    def batches(
        self, columns: Sequence[str], quotes: Quotes | None = None, *, n_rows: int = 0
    ) -> Iterator[dict[str, pa.Array]]:
        """Read the columns from front to back; `UnicodeError` if the encoding is not the assumed one."""
        options = self.file.options(columns=columns, as_text=columns, scanned=quotes is not None)
        options["read_options"].block_size = max(_BLOCK, _ROW * n_rows)
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

    def typed(self, name: str, values: pa.Array) -> tuple[pa.Array, bool]:
        """The values as numbers, dates, or whatever type all of these texts have."""
        return delimited.typed(self.file, self.looks.field(name).type, values)

    def assumed(self, starts: pa.Table, kept: Sequence[str]) -> tuple[str, ...]:
        """What was assumed of columns, in sentences."""
        # those that looked like numbers from the beginning are named first
        named = sorted(kept, key=lambda name: not delimited.is_number(self.looks.field(name).type))
        return (*self.notices, *delimited.column_notices(self.file, self.names, starts, named))

    def quotes(self) -> Quotes:
        """A watcher for the quotation marks of the file."""
        return self.file.quotes(len(self.names))

    def written(self, quotes: Quotes | None) -> tuple[Written, tuple[str, ...]]:
        """How the file writes records; refuses a quotation mark that is never closed."""
        assert quotes is not None
        breaks = delimited.checked_breaks(self.file, quotes, self.names)
        written = Written(n_columns=len(self.names), delimiters=(self.file.delimiter or ",",), breaks=breaks)
        notices = [*delimited.quotes_notices(self.file, quotes)]
        return written, (*notices, delimited.taken_for(self.file)) if self.guessed else tuple(notices)

    def no_rows(self) -> SourceError:
        """What to say of a file without rows."""
        return delimited.no_rows(self.file)

    def in_another_encoding(self) -> DelimitedStream:
        """The same file, in the encoding that its bytes seem to have."""
        return replace(self, file=self.file.in_another_encoding(), guessed=True)


@dataclass(frozen=True, kw_only=True)
class GivenStream(Stream):
    """Batches that the caller reads, and can open again."""

    open: Callable[[], Iterable[Mapping[str, pa.Array]]]
    what: str  # how to call them

    def batches(
        self, columns: Sequence[str], quotes: Quotes | None = None, *, n_rows: int = 0
    ) -> Iterator[dict[str, pa.Array]]:
        """Open them, and take the columns."""
        del quotes, n_rows
        for batch in self.open():
            missed = next((name for name in columns if name not in batch), None)
            if missed is not None:
                raise SchemaError(f"a batch of {self.what} has no column {missed!r}", column=missed)
            yield {name: _array(batch[name]) for name in columns}

    def no_rows(self) -> SourceError:
        """The message for batches without rows."""
        return SourceError(f"{self.what} has no rows")

    def check(self, columns: Sequence[str]) -> None:
        """Do nothing: nothing is known of the batches before they are read."""

    def changed(self) -> SourceError:
        """The message for batches that have changed when they are opened again."""
        return SourceError(f"{self.what} changed between two readings: keep it unchanged until it is published")


def _array(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    return contiguous(values) if isinstance(values, pa.ChunkedArray) else values


def open_stream(
    source: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
) -> Stream:
    """Open a file as `open_source` does; only its beginning (of Parquet, its end) is read."""
    if is_address(source):
        raise NotSupported(
            "a database cannot be read twice in batches",
            instead="read it into memory, or write the table to a CSV or Parquet file first",
        )
    path = sources.existing_file(source)
    head, compression = sources.beginning(path)
    if not compression and head.startswith(b"PAR1"):
        with sources.readable(path, "Parquet file"), pq.ParquetFile(path) as parquet:
            names, n_rows = sources.legible(parquet.schema_arrow).names, parquet.metadata.num_rows
        told = sources.check_column_names(names, str(path))
        stream = ParquetStream(path=path, names=tuple(names), n_rows=n_rows, notices=told)
        if not n_rows:
            raise stream.no_rows()
        return stream
    if not compression and head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        reader = ipc.open_file if head.startswith(b"ARROW1") else ipc.open_stream
        with _readable(path), pa.OSFile(str(path)) as arrow, reader(arrow) as opened:
            names = sources.legible(opened.schema).names
        told = sources.check_column_names(names, str(path))
        return ArrowStream(path=path, names=tuple(names), reader=reader, notices=told)
    sources.refuse_foreign(path, head, delimiter=delimiter, encoding=encoding)
    # whether there are quotation marks would take a pass of its own to know
    file = Delimited.of(path, head, compression, delimiter=delimiter, encoding=encoding, decimal=decimal, quoted=True)
    guessed = False
    try:
        file, looks, notices = delimited.looked_at(file, head)
    except UnicodeError:
        file, guessed = file.in_another_encoding(), True
        file, looks, notices = delimited.looked_at(file, head)
    notices = [*sources.check_column_names(looks.names, str(path)), *notices]
    return DelimitedStream(
        path=path, file=file, looks=looks, names=tuple(looks.names), notices=tuple(notices), guessed=guessed
    )
