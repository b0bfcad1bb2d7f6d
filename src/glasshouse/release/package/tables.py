# SPDX-License-Identifier: Apache-2.0
"""Tables: the cells of published tables in the form of files, and the names of their columns.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line break for a formula, and runs it
on the machine of its reader. So in a CSV file an apostrophe stands before such a text, also before the name of a
column. A text that is nothing but a number is harmless and stays as it is. To take the apostrophe away again gives the
text exactly: it is added also where a text begins with apostrophes and goes on in such a way.

A CSV file has no other word for a missing value than an empty cell, which most readers do not tell from an empty text.
A column that has both gets a word for its missing values which is none of its texts; the manifest names it.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = [
    "GUARD",
    "batches_of",
    "csv_of",
    "field_type",
    "guarded",
    "guarded_name",
    "is_text",
    "missing_mark",
    "missing_marks",
    "plain_table",
    "unguarded",
    "unguarded_name",
]

_BATCH = 1 << 17


def csv_of(table: pa.Table, marks: Mapping[str, str] | None = None) -> bytes:
    """A table as the bytes of a CSV file; a missing value is an empty cell, or the mark of its column."""
    sink = pa.BufferOutputStream()
    pa_csv.write_csv(plain_table(table.replace_schema_metadata(None), marks or {}), sink)
    return bytes(sink.getvalue())


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


GUARD: Final = "'"
_RUNS: Final = "^'*[ \u00a0]*[=+\\-@\t\r\n\u2212\uff1d\uff0b\uff0d\uff20]"
_NUMBER: Final = r"^[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$"


def guarded_name(name: str) -> str:
    """The name of a column as a CSV file has it.

    >>> [guarded_name(name) for name in ("age", "=1+1", "'=1+1", "-5", "@home")]
    ['age', "'=1+1", "''=1+1", '-5', "'@home"]
    """
    return GUARD + name if _runs(name) else name


def unguarded_name(name: str) -> str:
    """The original name of a column of a CSV file.

    >>> [unguarded_name(guarded_name(name)) for name in ("age", "=1+1", "'=1+1", "-5", "'-5", "'tis")]
    ['age', '=1+1', "'=1+1", '-5', "'-5", "'tis"]
    """
    return name[1:] if name.startswith(GUARD) and _runs(name[1:]) else name


def _runs(text: str) -> bool:
    return bool(re.match(_RUNS, text)) and not re.fullmatch(_NUMBER[1:-1], text, re.ASCII)


def guarded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of texts as a CSV file has it.

    >>> guarded(pa.chunked_array([["flu", "=1+1", "-5", None, "-5-5"]])).to_pylist()
    ['flu', "'=1+1", '-5', None, "'-5-5"]
    """
    if not pc.any(pc.match_substring_regex(column, _RUNS)).as_py():
        return column
    return pc.if_else(_run(column), pc.binary_join_element_wise(GUARD, column, ""), column)


def unguarded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The original texts of a column of a CSV file."""
    began = pc.starts_with(column, GUARD)
    if not pc.any(began).as_py():
        return column
    rest = pc.utf8_slice_codeunits(column, 1)
    return pc.if_else(pc.and_(began, _run(rest)), rest, column)


def _run(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.and_(pc.match_substring_regex(column, _RUNS), pc.invert(pc.match_substring_regex(column, _NUMBER)))


# ----------------------------------------------------------------------------------------------------- missing values


def missing_mark(values: Iterable[str | None]) -> str | None:
    """A word for the missing values of a column that has empty texts as well; None where an empty cell says it.

    >>> missing_mark(["flu", None]), missing_mark(["", "flu"]), missing_mark(["", None]), missing_mark(["", None, "NA"])
    (None, None, 'NA', '(missing)')
    """
    texts = set(values)
    if not texts >= {"", None}:
        return None
    words = itertools.chain(("NA", "(missing)"), (f"(missing {i})" for i in itertools.count(2)))
    return next(word for word in words if word not in texts)


def missing_marks(table: pa.Table) -> dict[str, str]:
    """The words for missing values, by column, where a word is needed."""
    marks: dict[str, str] = {}
    for name in table.column_names:
        if is_text(table[name].type) and table[name].null_count:
            values = pc.unique(table[name].cast(pa.string()))
            mark = missing_mark(values.to_pylist()) if pc.index(values, "").as_py() >= 0 else None
            marks |= {} if mark is None else {name: mark}
    return marks


def plain_table(table: pa.Table, marks: Mapping[str, str]) -> pa.Table:
    """A table in CSV form: no dictionaries, protected against spreadsheet formulas, with words for missing values."""
    columns = {}
    for name in table.column_names:
        column = table[name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if is_text(column.type):
            column = guarded(column)
        columns[guarded_name(name)] = column.fill_null(marks[name]) if name in marks else column
    made = pa.table(columns)
    # pyarrow before version 24 writes the rows before an empty batch a second time
    return pa.Table.from_batches([batch for batch in made.to_batches() if batch.num_rows], made.schema)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column holds texts, perhaps in a dictionary."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
