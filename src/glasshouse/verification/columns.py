# SPDX-License-Identifier: Apache-2.0
"""Columns as integers, by equality of values: any Arrow type, any encoding; and how given values are found in them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import DomainError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy

__all__ = [
    "Coded",
    "ancestors_by_height",
    "ascending",
    "declared_order",
    "designated_codes",
    "encode",
    "has_order",
    "plain_values",
    "suppressed_codes",
    "untangled",
]

_MOST_VALUES = 10  # values that a message lists


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as integers: code ``i`` stands for ``values[i]``, the code past the last for a missing value."""

    name: str
    codes: NDArray[np.int32]  # one per record
    values: pa.Array  # distinct, no nulls; some may not occur

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Whether each record's value is missing."""
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
    chunks = [plain_values(chunk) for chunk in column.chunks]
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


def plain_values(chunk: pa.Array) -> pa.Array:
    """Remove encodings that only concern storage; make missing and zero unique."""
    if isinstance(chunk, pa.ExtensionArray):
        return plain_values(chunk.storage)
    if pa.types.is_run_end_encoded(chunk.type):
        return plain_values(pc.run_end_decode(chunk))
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
    """Use numbers as their own codes if every one from the smallest to the largest occurs, as for groups."""
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


# --- finding values ---------------------------------------------------------------------------------------------------


def suppressed_codes(column: Coded, suppressed: Sequence[Any]) -> NDArray[np.int64]:
    """The codes of suppression marks; a mark that the column's type cannot represent does not occur."""
    codes = set()
    for mark in suppressed:
        try:
            scalar = pa.scalar(mark).cast(column.values.type)
            codes.add(pc.index(column.values, scalar).as_py() if scalar.is_valid else -1)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            continue
    return np.array(sorted(codes - {-1}), np.int64)


def designated_codes(column: Coded, wanted: Sequence[Any]) -> NDArray[np.int64]:
    """The codes of designated values, None for missing; refused if the column does not have a value."""
    if isinstance(wanted, str) or not list(wanted):
        raise ParameterError("verify", "designated", f"a list of values of {column.name!r}", wanted)
    code_of = {_text(value): code for code, value in enumerate(column.values.to_pylist())}
    lacking = [value for value in wanted if value is not None and _text(value) not in code_of]
    if lacking:
        one = "this designated value (check its spelling, or leave it out)"
        several = "these designated values (check their spelling, or leave them out)"
        _refuse(column, f"column {column.name!r} does not contain {one if len(lacking) == 1 else several}:", lacking)
    return np.array([len(column.values) if value is None else code_of[_text(value)] for value in wanted], np.int64)


def has_order(kind: pa.DataType) -> bool:
    """Whether values of this type are amounts or times, which have a natural order."""
    if pa.types.is_dictionary(kind):
        return has_order(kind.value_type)
    if pa.types.is_run_end_encoded(kind):
        return has_order(kind.value_type)
    amount = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(amount or pa.types.is_temporal(kind))


def declared_order(column: Coded, order: Sequence[Any], hidden: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put the codes in a declared order, which may list values that do not occur, but must list all that do."""
    texts = [_text(value) for value in order]
    place = {text: i for i, text in enumerate(texts)}
    if len(place) < len(texts):
        twice = sorted({text for text in texts if texts.count(text) > 1})
        _refuse(column, f"the order declared for {column.name!r} must name every value once, and it repeats", twice)
    values = column.values.to_pylist()
    occurring = np.setdiff1d(np.unique(column.codes), [*hidden, len(values)])
    missed = [values[code] for code in occurring.tolist() if _text(values[code]) not in place]
    if missed:
        _refuse(column, f"the order declared for {column.name!r} must name every value, and it leaves out", missed)
    last = len(texts)  # for entries of a dictionary that no row has
    return np.argsort([place.get(_text(value), last) for value in values], kind="stable")


def ancestors_by_height(
    column: Coded, given: Taxonomy | str | Path, hidden: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """For each height below the root, find every code's highest ancestor up to there.

    Codes without a place in the tree (suppressed, missing) are their own ancestors: only at the root they meet others.
    """
    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy

    tree = Taxonomy.of(given)
    n_codes = len(column.values) + 1
    codes = np.setdiff1d(np.unique(column.codes), [*hidden, n_codes - 1])
    if not len(codes):
        return [np.arange(n_codes)]
    bound = tree.bind(column.name, column.values.take(pa.array(codes)))
    node = np.empty(len(codes), np.int64)
    node[bound.order] = bound.leaves
    levels = []
    for height in range(int(bound.height(bound.root))):
        while (climbs := bound.height(bound.parents[node]) <= height).any():
            node = np.where(climbs, bound.parents[node], node)
        ancestors = len(bound.parents) + np.arange(n_codes)
        ancestors[codes] = node
        levels.append(ancestors)
    return levels


def _text(value: Any) -> str:
    """Give the text by which a value is looked up: dates in ISO form, true and false in lower case."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def _refuse(column: Coded, what: str, values: Sequence[Any]) -> None:
    shown = ", ".join(repr(_text(value)) for value in values[:_MOST_VALUES])
    more = f" and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
    raise DomainError(f"{what} {shown}{more}", column=column.name, values=values)


# --- columns that mix types -------------------------------------------------------------------------------------------


def untangled(source: Any, column: str) -> Any | None:
    """Copy a frame (pandas, or a mapping of lists) with one column as text; None if that column mixes nothing.

    Tools that suppress in place leave columns such as ``[34, "*", 41]``, which Arrow does not have. Each different
    value becomes a text of its own: the number 1 and the text ``1`` stay two values, for counting them as one would
    make groups larger than they are.
    """
    if isinstance(source, Mapping):
        values = source.get(column)
    elif type(source).__module__.partition(".")[0] == "pandas" and list(source.columns).count(column) == 1:
        values = source[column]
    else:
        return None
    keys = None if values is None else [_key(value) for value in values]
    if keys is None or len({key[0] for key in keys if key is not None}) < 2:
        return None
    labels = _labels({key: None for key in keys if key is not None})
    texts = [None if key is None else labels[key] for key in keys]
    return {**source, column: texts} if isinstance(source, Mapping) else source.assign(**{column: texts})


def _key(value: Any) -> tuple[str, Any] | None:
    """A key that distinguishes values: numbers are equal across their types, texts are never numbers."""
    try:
        if value is None or value != value:
            return None
    except TypeError:  # pandas.NA, which is neither equal nor different
        return None
    if isinstance(value, numbers.Number) and type(value).__name__ not in ("bool", "bool_"):
        return "number", value
    try:
        hash(value)
    except TypeError:
        return type(value).__name__, repr(value)
    return type(value).__name__, value


def _labels(keys: dict[tuple[str, Any], None]) -> dict[tuple[str, Any], str]:
    """Give every value a text that no other has; a text keeps its own."""
    labels = {key: key[1] for key in keys if key[0] == "str"}
    taken = set(labels.values())
    for key in keys:
        if key in labels:
            continue
        label = str(key[1])
        while label in taken:
            label = f"{label} ({key[0]})"
        labels[key] = label
        taken.add(label)
    return labels
