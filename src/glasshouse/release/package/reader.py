# SPDX-License-Identifier: Apache-2.0
"""Reader: converts a published file to a table, whole or in batches, if its content is as described.

Before anything is unpacked, it is found out how much room it will take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from glasshouse.errors import SourceError
from glasshouse.plural import counted
from glasshouse.release.layout import COUNTS, NUMBERS
from glasshouse.release.package.container.container import MANIFEST
from glasshouse.release.package.tables import field_type, guarded_name, is_text, unguarded, unguarded_name
from glasshouse.unpacking import Refused, measure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from glasshouse.release.package.manifest import Manifest, PackagedFile, PackagedTable

__all__ = ["batches_in", "joined", "table_in"]


class TooLarge(Refused):
    """The table takes too much memory, and the message says what to do."""


_CELL: Final = 16  # bytes that reading takes for a cell besides its text
_BATCH: Final = 1 << 17


def table_in(content: bytes, file: PackagedFile, table: PackagedTable, manifest: Manifest, most_bytes: int) -> pa.Table:
    """Read a file of a table, whole."""
    try:
        read = _read_parquet if table.format == "parquet" else _read_csv
        found = read(content, table, manifest, most_bytes)
        _check_fields(found.schema, file, table)
    except SourceError:
        raise
    except Refused as reason:
        raise SourceError(f"{file.name} is refused: {reason}", advised=isinstance(reason, TooLarge)) from None
    except (pa.ArrowException, OSError, ValueError, KeyError, NotImplementedError):
        raise SourceError(f"{file.name} is not a table that can be read") from None
    _check_rows(found.num_rows, file, manifest)
    _check_calendar(found, file)
    return found


def joined(parts: list[pa.Table], table: PackagedTable) -> pa.Table:
    """Concatenate the parts of a table; those of Parquet must have identical types.

    The list of parts is emptied: columns are put together one by one, and given up in the parts.
    """
    if len(parts) == 1:
        return parts[0]
    # a CSV file tells no types: a part may have nothing but missing values, or full seconds alone
    promote = "none" if table.format == "parquet" else "permissive"
    columns: dict[str, pa.ChunkedArray] = {}
    try:
        names = parts[0].column_names
        if any(part.column_names != names for part in parts):
            raise pa.ArrowInvalid("other columns")
        for name in names:
            whole = pa.concat_tables([part.select([name]) for part in parts], promote_options=promote)
            columns[name] = whole.unify_dictionaries().column(0)
            parts[:] = [part.drop_columns([name]) for part in parts]
    except pa.ArrowException:
        raise SourceError(f"the parts of the table {table.name!r} have columns of different types") from None
    parts.clear()
    return pa.table(columns)


def batches_in(
    content: bytes,
    file: PackagedFile,
    table: PackagedTable,
    manifest: Manifest,
    most_bytes: int,
    columns: Sequence[str] | None = None,
    size: int = _BATCH,
) -> Iterator[pa.Table]:
    """Read a file of a table batch by batch: room is needed for its bytes and for one batch.

    Texts of Parquet come as dictionaries, and points in time of CSV as texts, which every part writes alike.
    """
    n_rows = 0
    try:
        read = _parquet_batches if table.format == "parquet" else _csv_batches
        for batch in read(content, file, table, manifest, most_bytes, columns, size):
            _check_calendar(batch, file)
            n_rows += batch.num_rows
            yield batch
    except SourceError:
        raise
    except Refused as reason:
        raise SourceError(f"{file.name} is refused: {reason}", advised=isinstance(reason, TooLarge)) from None
    except (pa.ArrowException, OSError, ValueError, KeyError, NotImplementedError):
        raise SourceError(f"{file.name} is not a table that can be read") from None
    _check_rows(n_rows, file, manifest)


def _check_rows(n_rows: int, file: PackagedFile, manifest: Manifest) -> None:
    if n_rows > manifest.n_tuples:
        raise SourceError(f"{file.name} has more rows than the release has records")
    if file.rows is not None and n_rows != file.rows:
        raise SourceError(f"{file.name} has {counted(n_rows, 'row')}, and {MANIFEST} says {file.rows:,}")


def _check_fields(schema: pa.Schema, file: PackagedFile, table: PackagedTable) -> None:
    # a column without any value has no type in a CSV file
    kinds = [(field.name, field_type(field.type) or table.fields.get(field.name)) for field in schema]
    if kinds != list(table.fields.items()):
        raise SourceError(f"{file.name} does not have the columns that {MANIFEST} describes")


def _check_calendar(found: pa.Table, file: PackagedFile) -> None:
    for name in found.column_names:
        if not _is_on_calendar(found[name]):
            raise SourceError(f"{file.name} has dates or times in {name!r} that do not exist")


def _is_on_calendar(column: pa.ChunkedArray) -> bool:
    """Whether the ends of a column of dates or times are valid dates, which is needed to show any of them."""
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


# --------------------------------------------------------------------------------------------------------- Parquet


def _read_parquet(content: bytes, table: PackagedTable, manifest: Manifest, most_bytes: int) -> pa.Table:
    unpacked = measure(content, most_rows=manifest.n_tuples, most_bytes=most_bytes)
    _check_room(unpacked.n_bytes + unpacked.n_rows * unpacked.n_columns * _CELL, most_bytes)
    schema = _schema(content)
    # texts are read as numbers into a dictionary: a long one that is repeated a million times takes no room at first
    texts = _texts(schema)
    found = pq.read_table(pa.BufferReader(content), read_dictionary=texts).replace_schema_metadata(None)
    found.validate(full=True)  # that texts are UTF-8, and that numbers of dictionary entries are of some
    for name in texts:
        _check_room(_length(found[name]), most_bytes)
        place = found.column_names.index(name)
        found = found.set_column(place, name, found[name].cast(schema.field(name).type))
    return found


def _parquet_batches(
    content: bytes,
    file: PackagedFile,
    table: PackagedTable,
    manifest: Manifest,
    most_bytes: int,
    columns: Sequence[str] | None,
    size: int,
) -> Iterator[pa.Table]:
    measure(content, most_rows=manifest.n_tuples, most_bytes=most_bytes)
    schema = _schema(content)
    _check_fields(schema, file, table)
    names = schema.names if columns is None else list(columns)
    with pq.ParquetFile(pa.BufferReader(content), read_dictionary=_texts(schema)) as opened:
        for batch in opened.iter_batches(batch_size=size, columns=names, use_threads=False):
            batch.validate(full=True)
            yield pa.Table.from_batches([batch]).replace_schema_metadata(None).select(names)


def _schema(content: bytes) -> pa.Schema:
    schema = pq.read_schema(pa.BufferReader(content))
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if field_type(kind) is None or isinstance(kind, pa.BaseExtensionType):
            raise Refused("it has a column of a type that Glasshouse does not write")
    return schema


def _texts(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if is_text(field.type) and not pa.types.is_dictionary(field.type)]


def _check_room(n_bytes: int, most_bytes: int) -> None:
    if n_bytes > most_bytes:
        raise TooLarge(
            f"it takes more than {counted(most_bytes, 'byte')} of memory: if you trust it, load it in Python with a "
            "larger limit, gh.load(..., most_bytes=...)"
        )


def _length(column: pa.ChunkedArray) -> int:
    """The size of all texts of a dictionary column in bytes."""
    total = 0
    for chunk in column.chunks:
        lengths = np.append(np.asarray(pc.binary_length(chunk.dictionary)).astype(np.int64), 0)
        counts = np.bincount(np.asarray(chunk.indices.fill_null(len(lengths) - 1)), minlength=len(lengths))
        total += int((lengths * counts).sum())
    return total


# ------------------------------------------------------------------------------------------------------------- CSV


def _read_csv(content: bytes, table: PackagedTable, manifest: Manifest, most_bytes: int) -> pa.Table:
    _check_csv_room(content, table, most_bytes)
    kinds = {"string": pa.string(), "time": pa.time64("us"), "number": pa.float64()}  # the reader would guess otherwise
    found = pa_csv.read_csv(pa.BufferReader(content), **_csv_options(table, kinds))
    return _unguarded(found, table.marks) if table.guarded else found


def _csv_batches(
    content: bytes,
    file: PackagedFile,
    table: PackagedTable,
    manifest: Manifest,
    most_bytes: int,
    columns: Sequence[str] | None,
    size: int,
) -> Iterator[pa.Table]:
    kinds = {
        "string": pa.string(),
        "time": pa.time64("us"),
        "number": pa.float64(),
        "integer": pa.int64(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        "datetime": pa.string(),
    }
    _check_csv_room(content, table, most_bytes)
    with pa_csv.open_csv(pa.BufferReader(content), **_csv_options(table, kinds)) as reader:
        names = [unguarded_name(name) if table.guarded else name for name in reader.schema.names]
        if names != list(table.fields):
            raise SourceError(f"{file.name} does not have the columns that {MANIFEST} describes")
        for batch in reader:
            found = pa.Table.from_batches([batch])
            found = _unguarded(found, table.marks) if table.guarded else found
            found = found if columns is None else found.select(list(columns))
            for start in range(0, found.num_rows, size):
                yield found.slice(start, size)


def _check_csv_room(content: bytes, table: PackagedTable, most_bytes: int) -> None:
    n_rows = content.count(b"\n")  # or fewer, where texts have lines
    _check_room(2 * len(content) + n_rows * len(table.fields) * _CELL, most_bytes)


def _csv_options(table: PackagedTable, kinds: Mapping[str, pa.DataType]) -> dict[str, Any]:
    added = {name: pa.int64() for name in (*NUMBERS, *COUNTS) if table.fields.get(name) == "integer"}
    types = {name: kinds[kind] for name, kind in table.fields.items() if kind in kinds} | added
    if table.guarded:
        types = {guarded_name(name): kind for name, kind in types.items()}
    convert = pa_csv.ConvertOptions(
        column_types=types,
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        **({"null_values": [""]} if table.guarded else {}),
    )
    return {"parse_options": pa_csv.ParseOptions(newlines_in_values=True), "convert_options": convert}


def _unguarded(found: pa.Table, marks: Mapping[str, str]) -> pa.Table:
    """A CSV table with the protection against spreadsheet formulas removed."""
    columns = []
    for name, column in zip(map(unguarded_name, found.column_names), found.columns, strict=True):
        if name in marks:
            column = pc.if_else(pc.equal(column, marks[name]), None, column)
        columns.append(unguarded(column) if is_text(column.type) else column)
    return pa.table(columns, names=[unguarded_name(name) for name in found.column_names])
