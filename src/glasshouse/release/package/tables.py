# SPDX-License-Identifier: Apache-2.0
"""Tables: published tables as files, of published content only.

No metadata, no statistics, no index, no dictionary entry that no row shows; alike byte for byte if the tables are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from glasshouse.release.package.csv_cells import guarded_name, plain_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["batches_of", "csv_of", "field_type", "write_table"]

_MANY = 1 << 16
_BATCH = 1 << 17


def write_table(table: pa.Table, path: Path, format: str, marks: Mapping[str, str] | None = None) -> None:
    """Write a table as ``parquet`` or ``csv``, without any metadata; ``marks`` are what CSV has for missing texts."""
    plain = table.replace_schema_metadata(None)
    if format == "parquet":
        numbers = [name for name in plain.column_names if _is_number_of_many(plain[name])]
        pq.write_table(
            plain,
            path,
            compression="zstd",
            write_statistics=False,
            use_dictionary=[name for name in plain.column_names if name not in numbers],
            column_encoding=dict.fromkeys(numbers, "DELTA_BINARY_PACKED") or None,
        )
    else:
        pa_csv.write_csv(plain_table(plain, marks or {}), path)


def csv_of(table: pa.Table) -> bytes:
    """A table as the bytes of a CSV file; a missing value is an empty cell."""
    sink = pa.BufferOutputStream()
    pa_csv.write_csv(plain_table(table.replace_schema_metadata(None), {}), sink)
    return bytes(sink.getvalue())


def _is_number_of_many(column: pa.ChunkedArray) -> bool:
    """Whether integers spread so widely, as the numbers of groups do, that a dictionary of them would not pay."""
    if not pa.types.is_integer(column.type):
        return False
    ends = pc.min_max(column).as_py()
    return ends["max"] is not None and ends["max"] - ends["min"] >= _MANY


def batches_of(path: Path, format: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read text columns of a table that was just written, in pieces; cells of CSV as they stand in the file."""
    if format == "parquet":
        with pq.ParquetFile(path, read_dictionary=list(columns)) as file:
            for batch in file.iter_batches(batch_size=_BATCH, columns=list(columns), use_threads=False):
                yield pa.Table.from_batches([batch])
        return
    names = [guarded_name(name) for name in columns]
    convert = pa_csv.ConvertOptions(
        include_columns=names,
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    options = {"parse_options": pa_csv.ParseOptions(newlines_in_values=True), "convert_options": convert}
    with pa_csv.open_csv(path, **options) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch]).rename_columns(list(columns))


def field_type(kind: pa.DataType) -> str | None:
    """Name the type of a published column in the words of a data package; None if nothing of it is ever published.

    >>> field_type(pa.dictionary(pa.int32(), pa.string())), field_type(pa.list_(pa.string())), field_type(pa.int8())
    ('string', None, 'integer')
    """
    types = pa.types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    for name, belongs in (
        ("boolean", types.is_boolean(kind)),
        ("integer", types.is_integer(kind)),
        ("number", types.is_floating(kind) or types.is_decimal(kind)),
        ("date", types.is_date(kind)),
        ("datetime", types.is_timestamp(kind)),
        ("time", types.is_time(kind)),
        ("string", types.is_string(kind) or types.is_large_string(kind)),
    ):
        if belongs:
            return name
    return None
