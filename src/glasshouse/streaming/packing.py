# SPDX-License-Identifier: Apache-2.0
"""Packing: the values of a tuple's columns in few bits, so that packed tuples sort as their values do.

A number is its distance from the smallest, a text its place among the texts of its column, a float its bits, turned so
that they ascend. Where values may be missing a bit says so; a missing value comes last, as in every domain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.domains import Domain

__all__ = ["Field", "Packing", "as_integers"]

_SIGN = np.uint64(1 << 63)
_WORD = 64
_WIDEST_TABLE = 1 << 16  # integers of such a range are looked up in a table


@dataclass(frozen=True, eq=False, kw_only=True)
class Field:
    """One column: how its values become numbers from 0 on that ascend with them, and back."""

    # name, kind and Arrow type. Its values are listed for texts, and wherever ``listed``; else it has none
    domain: Domain
    listed: bool  # whether a value's number is its place among the domain's values
    low: int = 0  # to high: otherwise the range of numbers (dates and times as their integers); floats have none
    high: int = 0
    spellings: Mapping[str, str] | None = None  # of listed texts: which value of the domain another text stands for

    @property
    def name(self) -> str:
        """The column's name."""
        return self.domain.name

    @cached_property
    def bits(self) -> int:
        """Bits of a value that is there."""
        if self.listed:
            return max(1, (len(self.domain.values) - 1).bit_length())
        return _WORD if self._is_float else max(1, (self.high - self.low).bit_length())

    @property
    def widths(self) -> list[int]:
        """Bits of each part: whether the value is missing, where it may be, and the value."""
        return [1, self.bits] if self.domain.missing else [self.bits]

    @property
    def _is_float(self) -> bool:
        return bool(pa.types.is_floating(self.domain.values.type))

    @cached_property
    def _places(self) -> dict[Any, int]:
        places = {value: place for place, value in enumerate(self.domain.values.to_pylist())}
        return {**places, **{text: places[kept] for text, kept in (self.spellings or {}).items()}}

    @cached_property
    def _table(self) -> tuple[int, NDArray[np.int32]] | None:
        """Places of integers by their distance from the smallest, -1 for those that are none."""
        values = self.domain.values
        if not pa.types.is_integer(values.type) or not len(values):
            return None
        numbers = values.to_numpy()
        low, high = int(numbers.min()), int(numbers.max())
        if high - low >= _WIDEST_TABLE:
            return None
        table = np.full(high - low + 1, -1, np.int32)
        table[numbers - low] = np.arange(len(numbers), dtype=np.int32)
        return low, table

    def places(self, values: pa.Array) -> NDArray[np.int32]:
        """The code of each value of a listed column; one more than the last for a missing value."""
        past = len(self.domain.values)
        if self._table is not None and not values.null_count:
            low, table = self._table
            numbers = as_integers(values).to_numpy()
            _check_range(self.name, numbers, low, low + len(table) - 1)
            codes: NDArray[np.int32] = table[numbers.astype(np.int64) - low]
            if codes.size and codes.min() < 0:
                raise _unforeseen(self.name)
            return codes
        encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        here = encoded.dictionary.to_pylist()
        ranks = np.array([past if value is None else self._places.get(value, -1) for value in here] or [past], np.int32)
        gaps = encoded.is_null() if encoded.null_count else None
        indices = encoded.indices.fill_null(0) if encoded.indices.null_count else encoded.indices
        codes = ranks[indices.to_numpy(zero_copy_only=False)]
        if gaps is not None:
            if not self.domain.missing:
                raise _unforeseen(self.name)
            codes[np.asarray(gaps)] = past
        if codes.size and codes.min() < 0:
            raise _unforeseen(self.name)
        return codes

    def parts(self, values: pa.Array, kind: np.dtype[Any]) -> list[NDArray[Any]]:
        """The parts of every value, as unsigned integers of a type that holds them."""
        if self.listed:
            codes = self.places(values)
            if not self.domain.missing:
                return [codes.astype(kind)]
            gone = codes == len(self.domain.values)
            return [gone.astype(kind), np.where(gone, 0, codes).astype(kind)]
        if not values.null_count:
            numbers = self._numbers(values, kind)
            return [np.zeros(len(numbers), kind), numbers] if self.domain.missing else [numbers]
        if not self.domain.missing:
            raise _unforeseen(self.name)
        gone = np.asarray(values.is_null())
        numbers = np.zeros(len(values), kind)
        numbers[~gone] = self._numbers(values.drop_null(), kind)
        return [gone.astype(kind), numbers]

    def _numbers(self, values: pa.Array, kind: np.dtype[Any]) -> NDArray[Any]:
        if self._is_float:
            bits = np.asarray(values.to_numpy(zero_copy_only=False)).view(np.uint64)
            return np.where(bits & _SIGN, ~bits, bits | _SIGN)
        numbers: NDArray[Any] = as_integers(values).to_numpy()
        _check_range(self.name, numbers, self.low, self.high)
        shifted = numbers.astype(kind)
        shifted -= kind.type(self.low % (1 << 8 * kind.itemsize))
        return shifted

    def values(self, parts: Sequence[NDArray[np.uint64]]) -> pa.Array:
        """The values, from their parts: texts without gaps as a dictionary, anything else with its own type."""
        gone = parts[0].astype(bool) if self.domain.missing else None
        numbers = parts[-1]
        kind = self.domain.values.type
        if self.listed:
            places = pa.array(numbers.astype(np.int32), mask=gone)
            if pa.types.is_string(kind) and not self.domain.missing:
                return pa.DictionaryArray.from_arrays(places, self.domain.values)
            return self.domain.values.take(places)
        if self._is_float:
            bits = np.where(numbers & _SIGN, numbers ^ _SIGN, ~numbers)
            return pa.array(bits.view(np.float64), mask=gone)
        plain = (numbers + np.uint64(self.low % (1 << _WORD))).view(np.int64)
        if pa.types.is_boolean(kind):
            return pa.array(plain.astype(bool), mask=gone)
        if pa.types.is_integer(kind):
            return pa.array(plain, mask=gone)
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        return pa.array(plain.astype(width.to_pandas_dtype()), width, mask=gone).view(kind)


@dataclass(frozen=True, eq=False)
class Packing:
    """Columns packed into one unsigned number, or into words of 64 bits where they need more; the first sorts first."""

    fields: tuple[Field, ...]

    @property
    def _n_bits(self) -> int:
        return sum(width for field in self.fields for width in field.widths)

    @cached_property
    def _layout(self) -> list[list[tuple[int, int, int]]]:
        """Word, shift and width of the parts of each field, filled from the first word's highest bits down."""
        total = min(self._n_bits, _WORD)  # of a word
        layout: list[list[tuple[int, int, int]]] = []
        word, used = 0, 0
        for field in self.fields:
            layout.append([])
            for width in field.widths:
                if used + width > total:
                    word, used = word + 1, 0
                used += width
                layout[-1].append((word, total - used, width))
        return layout

    @property
    def n_words(self) -> int:
        """Words of a packed tuple."""
        return self._layout[-1][-1][0] + 1

    @cached_property
    def key(self) -> tuple[np.dtype[Any], int]:
        """Type and number of words of a packed tuple."""
        if self.n_words > 1:
            return np.dtype(np.uint64), self.n_words
        kinds = (np.uint8, np.uint16, np.uint32, np.uint64)
        return np.dtype(next(kind for kind in kinds if self._n_bits <= 8 * np.dtype(kind).itemsize)), 1

    def pack(self, columns: Sequence[pa.Array]) -> NDArray[np.unsignedinteger[Any]]:
        """Pack tuples; `SourceError` at a value that was not there when the file was looked through."""
        kind, n_words = self.key
        keys = np.zeros((len(columns[0]), n_words), kind)
        for field, layout, column in zip(self.fields, self._layout, columns, strict=True):
            for (word, shift, _), part in zip(layout, field.parts(column, kind), strict=True):
                keys[:, word] |= part << kind.type(shift) if shift else part
        return keys if n_words > 1 else keys[:, 0]

    def unpack(self, keys: NDArray[np.uint64]) -> dict[str, pa.Array]:
        """The columns of packed tuples (tuples x words)."""
        shown: dict[str, pa.Array] = {}
        for field, layout in zip(self.fields, self._layout, strict=True):
            parts = []
            for word, shift, width in layout:
                part = keys[:, word] >> np.uint64(shift) if shift else keys[:, word]
                parts.append(part & np.uint64((1 << width) - 1) if width < _WORD else part)
            shown[field.name] = field.values(parts)
        return shown


def as_integers(values: pa.Array) -> pa.Array:
    """Numbers, dates, times and truth values as integers."""
    kind = values.type
    if pa.types.is_boolean(kind):
        return values.cast(pa.uint8())
    return values if pa.types.is_integer(kind) else values.view(pa.int32() if kind.bit_width == 32 else pa.int64())


def _check_range(name: str, numbers: NDArray[Any], low: int, high: int) -> None:
    if numbers.size and (int(numbers.min()) < low or int(numbers.max()) > high):
        raise _unforeseen(name)


def _unforeseen(name: str) -> SourceError:
    return SourceError(
        f"column {name!r} holds values that were not there when the file was looked through, or that its statistics "
        "deny: publish it when nobody writes to it, or write it again"
    )
