# SPDX-License-Identifier: Apache-2.0
"""Columns as integers, by equality of values: any Arrow type, any encoding."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Coded", "ascending", "encode"]


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as integers: code ``i`` stands for ``values[i]``, the code past the last for a missing value."""

    name: str
    codes: NDArray[np.int32]  # one per tuple
    values: pa.Array  # distinct, no nulls; some may not occur

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Whether each tuple's value is missing."""
        return np.asarray(self.codes == len(self.values))

    def reordered(self, order: NDArray[np.int64]) -> Coded:
        """Renumber so that the value with code ``order[i]`` gets code ``i``."""
        ranks = np.empty(len(order) + 1, np.int32)
        ranks[order] = np.arange(len(order))
        ranks[-1] = len(order)
        return replace(self, codes=ranks[self.codes], values=self.values.take(pa.array(order)))

    @cached_property
    def ranks(self) -> NDArray[np.int32]:
        """The place of each code's value in the natural order; missing comes last."""
        ranks = np.empty(len(self.values) + 1, np.int32)
        ranks[ascending(self.values)] = np.arange(len(self.values))
        ranks[-1] = len(self.values)
        return ranks

    def value(self, code: int) -> Any:
        """Give the value of a code as Python has it; None if missing."""
        return None if code == len(self.values) else self.values[code].as_py()


def encode(name: str, column: pa.ChunkedArray) -> Coded:
    """Code a column of any type by equality of values: NaN is missing, -0.0 is 0.0, dictionaries need not be unique."""
    chunks = [_plain(chunk) for chunk in column.chunks]
    if not chunks:
        return Coded(name, np.empty(0, np.int32), pa.array([], column.type))
    if not pa.types.is_dictionary(chunks[0].type):
        return Coded(name, *_factorise(pa.chunked_array(chunks)))
    # The dictionaries of all chunks, one after another, are a small column of their own: code that, then look up.
    dictionary = encode(name, pa.chunked_array([chunk.dictionary for chunk in chunks]))
    n_values = len(dictionary.values)
    codes = []
    start = 0
    for chunk in chunks:
        lookup = dictionary.codes[start : start + len(chunk.dictionary)]
        start += len(chunk.dictionary)
        if (lookup == np.arange(len(lookup))).all():
            codes.append(_integers(chunk.indices, n_values))
        else:
            codes.append(np.append(lookup, np.int32(n_values))[_integers(chunk.indices, len(lookup))])
    return Coded(name, np.concatenate(codes) if len(codes) > 1 else codes[0], dictionary.values)


def ascending(values: pa.Array) -> NDArray[np.int64]:
    """Find the places of distinct values in their natural order; by their text where the type has none."""
    try:
        return np.asarray(pc.array_sort_indices(values)).astype(np.int64)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return np.array(sorted(range(len(values)), key=lambda i: str(values[i].as_py())), np.int64)


def _plain(chunk: pa.Array) -> pa.Array:
    """Undo what only says how values are stored; make missing and zero unique."""
    if isinstance(chunk, pa.ExtensionArray):
        return _plain(chunk.storage)
    if pa.types.is_run_end_encoded(chunk.type):
        return _plain(pc.run_end_decode(chunk))
    if pa.types.is_string_view(chunk.type):
        return chunk.cast(pa.large_string())
    if pa.types.is_binary_view(chunk.type):
        return chunk.cast(pa.large_binary())
    if pa.types.is_floating(chunk.type):
        if pa.types.is_float16(chunk.type):
            chunk = chunk.cast(pa.float32())
        number = pc.add(chunk, pa.scalar(0, chunk.type))  # -0.0 becomes 0.0
        return pc.if_else(pc.is_nan(number), pa.scalar(None, chunk.type), number)
    return chunk


def _factorise(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], pa.Array]:
    """Give a code per row and the distinct values; null has the code past the last."""
    if pa.types.is_null(column.type):
        return np.zeros(len(column), np.int32), pa.array([], column.type)
    if pa.types.is_integer(column.type) and column.null_count == 0 and len(column):
        found = _consecutive(column)
        if found is not None:
            return found
    try:
        encoded = column.dictionary_encode().combine_chunks()
    except pa.ArrowNotImplementedError:  # lists and structs
        rows: dict[Any, int] = {}
        firsts: list[int] = []
        codes = np.empty(len(column), np.int32)
        for i, value in enumerate(column.to_pylist()):
            frozen = _frozen(value)
            if frozen is not None and frozen not in rows:
                rows[frozen] = len(firsts)
                firsts.append(i)
            codes[i] = -1 if frozen is None else rows[frozen]
        codes[codes < 0] = len(firsts)
        return codes, column.take(pa.array(firsts, pa.int64())).combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # several chunks stay so only where there are none
        encoded = encoded.chunk(0) if encoded.num_chunks else pa.array([], column.type).dictionary_encode()
    return _integers(encoded.indices, len(encoded.dictionary)), encoded.dictionary


def _consecutive(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], pa.Array] | None:
    """Numbers of which every one from the smallest to the largest occurs, as those of groups, are their own codes."""
    ends = pc.min_max(column).as_py()
    span = ends["max"] - ends["min"] + 1
    if span > len(column):
        return None
    codes = np.subtract(column.to_numpy(), ends["min"], dtype=np.int64).astype(np.int32)
    if not np.all(np.bincount(codes, minlength=span)):
        return None
    values = pa.array(np.arange(span) + ends["min"]).cast(column.type)
    return codes, values


def _frozen(value: Any) -> Any:
    """Make a hashable stand-in for a list or a struct, equal where the values are."""
    if isinstance(value, dict):
        return tuple((key, _frozen(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return None if isinstance(value, float) and math.isnan(value) else value


def _integers(indices: pa.Array, null: int) -> NDArray[np.int32]:
    wide = indices.cast(pa.int32())
    return np.asarray((wide.fill_null(null) if wide.null_count else wide).to_numpy(zero_copy_only=False))
