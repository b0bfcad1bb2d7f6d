# SPDX-License-Identifier: Apache-2.0
"""One form for every incoming table, so that later steps do not depend on its source.

A normalised column is one contiguous array of one of eight types: ``int64``, ``float64``, ``bool``, ``string``,
``date32``, ``timestamp`` and ``time64`` in microseconds (nanoseconds where they are needed; time zones stay), and
``null`` for a column without a single value. (``large_string`` stands in for ``string`` above two gigabytes.)
NaN is null, and negative zero is zero. No value changes: what these types cannot hold is refused.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "column_of_values",
    "contiguous",
    "flat_array",
    "identity",
    "in_parallel",
    "normal_list",
    "normalise",
    "refuse_nested",
]

_MOST_STRING_BYTES = 2**31 - 1  # what the 32-bit offsets of `string` can address
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # of the years 1 to 9999, counted from 1970
_A_DAY = {"us": 86_400 * 10**6, "ns": 86_400 * 10**9}
_MOST_EXACT_INTEGER = 2**53  # beyond it a double no longer holds every integer


def normalise(
    table: pa.Table, *, whole_floats: bool = False, narrow: bool = False, coded: bool = False
) -> tuple[pa.Table, dict[str, tuple[Any, ...]], tuple[str, ...]]:
    """Bring every column to its normal form; also the declared orders of ordered categories, and what was assumed.

    Floats with gaps that are all whole are integers if ``whole_floats``, where gaps turn integers into floats. Integers
    stay as narrow as they came if ``narrow``, and texts in their dictionaries, which must hold each text once, if
    ``coded``: for a caller who codes them at once. A column with nested values, or with values that no plain type can
    hold, is a `DomainError`.

    >>> table, orders, notices = normalise(pa.table({"age": pa.array([30, 7], pa.uint8()), "x": [None, float("nan")]}))
    >>> table.schema.types
    [DataType(int64), DataType(null)]
    """

    def normal(name: str) -> pa.Array:
        column = table.column(name)
        small = narrow and pa.types.is_integer(column.type) and column.type != pa.uint64()
        small = small or (coded and pa.types.is_dictionary(column.type))
        return contiguous(column) if small and column.null_count < len(column) else _normal(column, name)

    names = table.column_names
    columns = dict(zip(names, in_parallel(normal, names), strict=True))
    orders = {name: order for name in names if (order := _order(table.column(name), name)) is not None}
    notices = []
    if whole_floats:
        plain = [name for name in names if pa.types.is_floating(table.schema.field(name).type)]
        whole = {name: numbers for name in plain if (numbers := _whole(columns[name])) is not None}
        columns |= whole
        if whole:
            notices.append(
                "whole numbers with missing values were stored as decimals and are read as whole numbers: "
                f"{', '.join(whole)}"
            )
    return pa.table(columns), orders, tuple(notices)


def in_parallel(work: Callable[[str], Any], names: Iterable[str]) -> list[Any]:
    """Do the work for all columns in parallel; Arrow computes outside of Python's interpreter lock."""
    with ThreadPoolExecutor(max_workers=pa.cpu_count()) as pool:
        return list(pool.map(work, names))


def _normal(column: pa.ChunkedArray, name: str) -> pa.Array:
    try:
        flat = _flat(column, name)
        plain = flat if flat.null_count == len(flat) else _plain(flat, name)
        return pa.nulls(len(plain)) if plain.null_count == len(plain) else contiguous(plain)
    except pa.ArrowInvalid:  # its text would show a value
        raise DomainError(
            f"column {name!r} has values that are too large for the type {column.type}: give it as text, or in a "
            "smaller range",
            column=name,
        ) from None


def _flat(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Undo dictionary and run-end encoding, views and extension types; refuse nesting."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        # values become flat before they are looked up: Arrow cannot take from views
        return _chunked([flat_array(c.dictionary, name).take(c.indices) for c in column.chunks])
    if pa.types.is_run_end_encoded(kind):
        return _chunked([_without_runs(c, name) for c in column.chunks])
    if isinstance(kind, pa.BaseExtensionType):
        return _without_extension(column, name)
    _refuse_nested(kind, name)
    if pa.types.is_binary_view(kind):  # neither can Arrow take bytes from views, and bytes are refused in any case
        raise _unknown_type(kind, name)
    if pa.types.is_string_view(kind):
        size = pa.large_string() if _bytes_of_views(column) > _MOST_STRING_BYTES else pa.string()
        return pa.chunked_array([_empty_where_missing(c) for c in column.chunks], kind).cast(size)
    return column


def _bytes_of_views(texts: pa.ChunkedArray) -> int:
    """The size of texts in bytes; if an earlier Arrow cannot count a part of them, the size of the whole."""
    try:
        return int(texts.nbytes)
    except pa.ArrowTypeError:
        return int(texts.get_total_buffer_size())


def _empty_where_missing(texts: pa.Array) -> pa.Array:
    """The same texts, with empty views where a value is missing: Arrow follows these views, but validates none."""
    if not texts.null_count:
        return texts
    valid, views, *elsewhere = texts.buffers()
    stop = texts.offset + len(texts)
    mended = np.frombuffer(memoryview(views)[: 16 * stop], np.uint8).reshape(stop, 16).copy()
    mended[texts.offset :][texts.is_null().to_numpy(zero_copy_only=False)] = 0
    buffers = [valid, pa.py_buffer(mended), *elsewhere]
    try:
        return pa.Array.from_buffers(texts.type, len(texts), buffers, texts.null_count, texts.offset)
    except ValueError:  # an earlier Arrow takes no views from buffers: one text after the other, which is slow
        return pa.array(texts.to_pylist(), texts.type)


def refuse_nested(schema: pa.Schema, names: Iterable[str]) -> None:
    """Refuse columns of lists and records before they are read."""
    for name in names:
        _refuse_nested(schema.field(name).type, name)


def _refuse_nested(kind: pa.DataType, name: str) -> None:
    if pa.types.is_nested(kind) and not pa.types.is_run_end_encoded(kind):
        raise DomainError(
            f"column {name!r} has lists or records ({kind}): unpack it into columns of plain values", column=name
        )


def flat_array(values: pa.Array, name: str) -> pa.Array:
    """One array without dictionary, run ends, views and extension types; nesting is refused."""
    return _flat(pa.chunked_array([values]), name).combine_chunks()


def _chunked(chunks: list[pa.Array]) -> pa.ChunkedArray:
    return pa.chunked_array(chunks, None if chunks else pa.null())


def _without_runs(values: pa.RunEndEncodedArray, name: str) -> pa.Array:
    flat = pa.RunEndEncodedArray.from_arrays(values.run_ends, flat_array(values.values, name))
    return pc.run_end_decode(flat.slice(values.offset, len(values)))


def _without_extension(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    kind = column.type
    extension = getattr(kind, "extension_name", str(kind))
    if extension == "arrow.uuid":
        texts = [None if value is None else str(value) for value in column.to_pylist()]
        return pa.chunked_array([texts], pa.string())
    if extension == "arrow.json":
        return _flat(pa.chunked_array([c.storage for c in column.chunks], kind.storage_type), name)
    raise DomainError(
        f"column {name!r} has the special type {extension}: give it as text, numbers or dates", column=name
    )


def _plain(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Widen to the one type of its kind, exactly; `pa.ArrowInvalid` where values do not fit."""
    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return column
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        fits = pc.sum(pc.binary_length(column)).as_py() <= _MOST_STRING_BYTES
        return column.cast(pa.string() if fits else pa.large_string())
    if pa.types.is_unsigned_integer(kind) and kind.bit_width == 64:
        return _signed(column, name)
    if pa.types.is_integer(kind):
        return column.cast(pa.int64())
    if pa.types.is_floating(kind):
        return _float(column)
    if pa.types.is_decimal(kind):
        return _from_decimal(column, name)
    if pa.types.is_date(kind):
        return _in_calendar(_first_exact(column, pa.date32(), pa.timestamp("us")), name)
    if pa.types.is_timestamp(kind):
        exact = _first_exact(column, pa.timestamp("us", kind.tz), kind if kind.unit == "ns" else None)
        return _in_calendar(exact, name)
    if pa.types.is_time(kind):
        return _in_day(_first_exact(column, pa.time64("us"), kind if kind.unit == "ns" else None), name)
    if pa.types.is_duration(kind) or pa.types.is_interval(kind):
        raise DomainError(f"column {name!r} has durations: give it as a number of days or seconds", column=name)
    raise _unknown_type(kind, name)


def _unknown_type(kind: pa.DataType, name: str) -> DomainError:
    return DomainError(f"column {name!r} has type {kind}: give it as text, numbers or dates", column=name)


def _signed(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        raise DomainError(
            f"column {name!r} has unsigned integers above 9223372036854775807 (2^63 - 1): give it as text", column=name
        ) from None


def _float(column: pa.ChunkedArray) -> pa.ChunkedArray:
    wide = pc.add(column.cast(pa.float64()), 0.0)  # -0.0 + 0.0 is 0.0: equal numbers must be one value
    nan = pc.is_nan(wide)
    return pc.if_else(nan, None, wide) if pc.any(nan).as_py() else wide


def _from_decimal(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Decimals without a fraction are integers; others are floats, if the float tells every digit."""
    if column.type.scale <= 0:
        return column.cast(pa.int64())
    wide = column.cast(pa.float64())
    if column.type.precision > 15:
        try:
            exact = pc.all(pc.equal(wide.cast(column.type), column)).as_py()
        except pa.ArrowInvalid:
            exact = False
        if not exact:
            raise DomainError(
                f"column {name!r} has decimals with more digits than a floating-point number can have: round it, or "
                "give it as text",
                column=name,
            )
    return wide


def _first_exact(column: pa.ChunkedArray, wanted: pa.DataType, otherwise: pa.DataType | None) -> pa.ChunkedArray:
    """Cast to the wanted type, or to the other where that would lose something."""
    try:
        return column.cast(wanted)
    except pa.ArrowInvalid:
        if otherwise is None:
            raise
        return column.cast(otherwise)


def _in_calendar(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Refuse dates outside the years 1 to 9999, and unknown time zones; with a zone, a day's margin is kept."""
    zone = column.type.tz if pa.types.is_timestamp(column.type) else None
    if zone is not None:
        try:
            pa.scalar(0, column.type).as_py()
        except (pa.ArrowException, ValueError, LookupError, OSError):
            raise DomainError(
                f"column {name!r} has times in an unknown time zone: give it as text", column=name
            ) from None
    a_day = 1 if pa.types.is_date(column.type) else _A_DAY[column.type.unit]
    whole = column.cast(pa.int32()) if pa.types.is_date32(column.type) else column.cast(pa.int64())
    ends = pc.min_max(whole).as_py()  # not by years, which Arrow counts in sixteen bits
    kept = 0 if zone is None else 1
    if ends["min"] // a_day < _FIRST_DAY + kept or ends["max"] // a_day > _LAST_DAY - kept:
        raise DomainError(
            f"column {name!r} has dates outside the years 1 to 9999: correct them, or give the column as text",
            column=name,
        )
    return column


def _in_day(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    bounds = pc.min_max(column.cast(pa.int64())).as_py()
    if bounds["min"] < 0 or bounds["max"] >= _A_DAY[column.type.unit]:
        raise DomainError(f"column {name!r} has times of day outside 0 to 24 hours: correct them", column=name)
    return column


def contiguous(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _whole(values: pa.Array) -> pa.Array | None:
    """The same numbers as integers, if they are all whole and some are missing."""
    if not pa.types.is_floating(values.type) or not values.null_count:
        return None
    try:
        numbers = values.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    bounds = pc.min_max(numbers).as_py()
    return numbers if max(-bounds["min"], bounds["max"]) <= _MOST_EXACT_INTEGER else None


def _order(column: pa.ChunkedArray, name: str) -> tuple[Any, ...] | None:
    """Find the declared order of an ordered category (pandas categorical, polars Enum), unused values included."""
    if not pa.types.is_dictionary(column.type) or not column.type.ordered or not column.num_chunks:
        return None
    different = {identity(c.dictionary): c.dictionary for c in column.chunks}  # mostly one, that all chunks share
    orders = [normal_list(one, name) for one in different.values()]
    longest = max(orders, key=len)
    # batches may each bring the categories seen so far; anything else is no single order
    agreed = all(order == longest[: len(order)] for order in orders)
    return tuple(longest) if agreed else None


def normal_list(values: pa.Array, name: str) -> list[Any]:
    """Values in their normal form as a list, without gaps."""
    listed: list[Any] = _normal(pa.chunked_array([values]), name).drop_null().to_pylist()
    return listed


def identity(values: pa.Array) -> tuple[object, ...]:
    """Where an array lies in memory: equal for two references to the same array."""
    return values.offset, len(values), *(None if buffer is None else buffer.address for buffer in values.buffers())


def column_of_values(values: Any, name: str) -> pa.Array | pa.ChunkedArray:
    """One column of Python or pandas values as Arrow."""
    try:
        return pa.array(values, from_pandas=True)
    except UnicodeEncodeError:
        raise DomainError(
            f"column {name!r} has texts that are not Unicode (half of a surrogate pair): decode them with the right "
            "encoding, or with errors='replace'",
            column=name,
        ) from None
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # their texts would show a value
        if any(isinstance(value, UUID) for value in values):  # an earlier Arrow does not know them
            return column_of_values([str(value) if isinstance(value, UUID) else value for value in values], name)
        raise DomainError(
            f"column {name!r} has values of several types, or of a type that Arrow does not know: make it all text, "
            "all numbers or all dates",
            column=name,
        ) from None
