"""The same table in other clothes: what may change about an input without changing what it says.

Each disguise takes a table and gives a source for `read` that holds the same people with the same values.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from hypothesis import strategies as st
from pyarrow import ipc

from tests.laws.people import People


def rows_permuted(table: People, draw: Any) -> Any:
    return table.permuted(draw(st.permutations(range(table.n)))).arrow()


def columns_reordered(table: People, draw: Any) -> Any:
    return table.arrow().select(draw(st.permutations(list(table.columns))))


def columns_added(table: People, draw: Any) -> Any:
    """Columns without a role are nobody's business."""
    extra = pa.array(draw(st.lists(st.integers(0, 9), min_size=table.n, max_size=table.n)))
    return table.arrow().add_column(draw(st.integers(0, len(table.columns))), "extra", extra)


def in_chunks(table: People, draw: Any) -> Any:
    """In batches of any size, empty ones too."""
    whole = table.arrow()
    borders = sorted(draw(st.lists(st.integers(0, table.n), max_size=4)))
    pieces = [whole.slice(a, b - a) for a, b in zip([0, *borders], [*borders, table.n], strict=True)]
    return pa.concat_tables(pieces)


def as_slice(table: People, draw: Any) -> Any:
    """A window into a longer table: what lies outside is not there."""
    whole = table.arrow()
    return pa.concat_tables([whole, whole, whole]).combine_chunks().slice(table.n, table.n)


def other_types(table: People, draw: Any) -> Any:
    """Every column in a type of its own that holds the same values in the same order."""
    whole = table.arrow()
    return pa.table({name: draw(st.sampled_from(alike(whole[name].combine_chunks()))) for name in whole.column_names})


def alike(values: pa.Array) -> list[pa.Array | pa.ChunkedArray]:
    """The same values in every type that says the same."""
    kind = values.type
    if pa.types.is_string(kind):
        texts = [pa.string(), pa.large_string(), pa.string_view()]
        return [values, *(values.cast(text) for text in texts), *(_dictionary(values, text) for text in texts[:2])]
    if pa.types.is_int64(kind):
        narrow = [pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint32(), pa.uint64(), pa.decimal128(19, 0)]
        return [values, *(cast for small in narrow if (cast := _exact(values, small)) is not None)]
    if pa.types.is_float64(kind):
        narrow = [pa.float32(), pa.decimal128(12, 3)]
        casts = [cast for small in narrow if (cast := _exact(values, small)) is not None]
        return [values, *casts, values.fill_null(float("nan"))]
    if pa.types.is_date32(kind):
        return [values, values.cast(pa.date64())]
    if pa.types.is_timestamp(kind):
        return [values, *(values.cast(pa.timestamp(unit)) for unit in ("s", "ms", "ns"))]
    return [values, pc.run_end_encode(values)] if not values.null_count else [values]


def _exact(values: pa.Array, kind: pa.DataType) -> pa.Array | None:
    try:
        cast = values.cast(kind)
        return cast if cast.cast(values.type).equals(values) else None
    except pa.ArrowInvalid:
        return None


def _dictionary(values: pa.Array, text: pa.DataType) -> pa.Array:
    """With a dictionary in a foreign order that holds values which nobody has."""
    known = ["zzz unused", *sorted(set(values.drop_null().to_pylist()), reverse=True), "aaa unused"]
    indices = [None if value is None else known.index(value) for value in values.to_pylist()]
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int16()), pa.array(known, text))


def pandas_index(table: People, draw: Any) -> Any:
    """A pandas frame with any index: shuffled, repeated, named, of several levels."""
    frame = table.arrow().to_pandas()
    kind = draw(st.sampled_from(["shuffled", "repeated", "text", "levels"]))
    if kind == "shuffled":
        frame.index = pd.Index(draw(st.permutations(range(table.n))))
    elif kind == "repeated":
        frame.index = pd.Index([7] * table.n, name="index")
    elif kind == "text":
        frame.index = pd.Index([f"row {i}" for i in range(table.n)], name="q0")
    else:
        frame.index = pd.MultiIndex.from_tuples([(i % 2, i) for i in range(table.n)], names=["a", "b"])
    return frame


def pandas_types(table: People, draw: Any) -> Any:
    """A pandas frame with columns of objects, of nullable types or as categories with unused ones."""
    frame = table.arrow().to_pandas()
    for name, values in table.columns.items():
        present = sorted({value for value in values if value is not None}, reverse=True)
        kinds = ["as it is", "object", "nullable"]
        if isinstance(present[0], str):
            kinds.append("category")
        kind = draw(st.sampled_from(kinds))
        if kind == "object":
            frame[name] = pd.Series(values, dtype=object)
        elif kind == "nullable":
            frame[name] = frame[name].convert_dtypes()
        elif kind == "category":
            frame[name] = pd.Categorical(values, categories=["zzz unused", *present, "aaa unused"])
    return frame


def as_polars(table: People, draw: Any) -> Any:
    frame = pl.from_arrow(table.arrow())
    assert isinstance(frame, pl.DataFrame)
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    chosen = [name for name in texts if draw(st.booleans())]
    frame = frame.with_columns(pl.col(name).cast(pl.Categorical) for name in chosen)
    return frame.lazy() if draw(st.booleans()) else frame


def with_orders(table: People, draw: Any) -> Any:
    """A frame that brings the declared orders itself: nothing else declares them."""
    if draw(st.booleans()):
        frame = table.arrow().to_pandas()
        for name, order in table.orders.items():
            frame[name] = pd.Categorical(frame[name], categories=list(order), ordered=True)
        return frame
    known = pl.from_arrow(table.arrow())
    assert isinstance(known, pl.DataFrame)
    return known.with_columns(pl.col(name).cast(pl.Enum(list(order))) for name, order in table.orders.items())


def as_duckdb(table: People, draw: Any) -> Any:
    return duckdb.from_arrow(table.arrow())


def as_batches(table: People, draw: Any) -> Any:
    """Anything with the Arrow PyCapsule interface."""
    return table.arrow().to_reader(max_chunksize=draw(st.integers(1, 5)))


DISGUISES: dict[str, Callable[[People, Any], Any]] = {
    disguise.__name__: disguise
    for disguise in (
        rows_permuted,
        columns_reordered,
        columns_added,
        in_chunks,
        as_slice,
        other_types,
        pandas_index,
        pandas_types,
        as_polars,
        as_duckdb,
        as_batches,
    )
}

# --- files -----------------------------------------------------------------------------------------------------------


@contextmanager
def as_file(table: pa.Table, suffix: str) -> Iterator[Path]:
    """The table as a file of some format."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"people{suffix}"
        _write(table, path, suffix)
        yield path


def _write(table: pa.Table, path: Path, suffix: str) -> None:
    if suffix.startswith(".parquet"):
        pq.write_table(table, path, row_group_size=7)
    elif suffix == ".arrow":
        with pa.OSFile(str(path), "wb") as file, ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=5)
    else:
        text = io.BytesIO()
        delimiter = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".txt": ";"}[suffix]
        pa_csv.write_csv(table, text, pa_csv.WriteOptions(delimiter=delimiter))
        with pa.output_stream(str(path), compression="gzip" if suffix.endswith(".gz") else None) as file:
            file.write(text.getvalue())


SUFFIXES = [".csv", ".csv.gz", ".tsv", ".txt", ".parquet", ".arrow"]
