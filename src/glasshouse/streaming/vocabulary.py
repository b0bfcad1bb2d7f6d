# SPDX-License-Identifier: Apache-2.0
"""Vocabulary: the different values of a column that goes by in batches, and how many rows have each.

Rows are many, values are few. What a value is coded as is decided once, for the vocabulary; after that a batch is coded
by looking its values up. Numbers, dates and times are kept as integers of their own width, in a table if their range is
short and sorted otherwise; everything else as Arrow holds it, each value once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import DomainError, SchemaError
from glasshouse.microdata.reading.normal_form import flat_array, identity, normal_list
from glasshouse.plural import counted
from glasshouse.unpacking.budget import is_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Weights = NDArray[np.int64] | None

__all__ = ["UNKNOWN", "Vocabulary"]

UNKNOWN = -1
"The code of a value that has not occurred before."

_MOST_VALUES = 1 << 25
_SHORT_RANGE = 1 << 22  # integers that span at most this many are counted in a table
_LEAST_PENDING = 1 << 18  # values that are gathered at least before they are sorted into the others


class Vocabulary:
    """The different values of one column.

    >>> vocabulary = Vocabulary("age")
    >>> for batch in ([30, 7], [7, None, 30, 7]):
    ...     vocabulary.see(pa.array(batch))
    >>> vocabulary.settle()
    >>> vocabulary.values.to_pylist(), vocabulary.counts.tolist(), vocabulary.n_missing
    ([7, 30], [3, 2], 1)
    >>> vocabulary.assign(np.array([1, 0], np.int32), missing=2)
    >>> vocabulary.codes(pa.array([30, None, 7, 8])).tolist()
    [0, 2, 1, -1]
    """

    def __init__(self, name: str, *, most: int = _MOST_VALUES) -> None:
        self.name = name
        self.n_missing = 0
        self._most = most
        self._kept: _Numbers | _Values | None = None
        self._order: list[Any] | None = None
        self._is_ordered = True

    def see(self, values: pa.Array, weights: Weights = None) -> None:
        """Take a batch into account, in which each value stands for so many rows; for one unless given."""
        kept = self._home(values)
        if kept is None:
            self.n_missing += len(values) if weights is None else int(weights.sum())
            return
        if pa.types.is_dictionary(values.type) and values.type.ordered:
            self._see_order(values)
        self.n_missing += kept.see(values, weights)
        if kept.size > self._most:
            raise DomainError(
                (
                    f"column {self.name!r} has more than {counted(self._most, 'different value')}, which is more than "
                    "can be counted: round the values in the file, so that fewer of them differ"
                ),
                column=self.name,
            )

    def _home(self, values: pa.Array) -> _Numbers | _Values | None:
        """The store for values of this type; None if there is none, because all are missing."""
        if pa.types.is_null(values.type):
            return None
        own = _Numbers if _is_number(values.type) else _Values
        if self._kept is None:
            self._kept = own(self.name, values.type)
        if not isinstance(self._kept, own) or not self._kept.takes(values.type):
            raise SchemaError(
                f"column {self.name!r} has different types in different batches: give it one type", column=self.name
            )
        return self._kept

    def _see_order(self, values: pa.DictionaryArray) -> None:
        """Batches may each bring the categories seen so far; anything else is no single order."""
        if not self._is_ordered or (isinstance(self._kept, _Values) and self._kept.is_current(values.dictionary)):
            return
        here = normal_list(values.dictionary, self.name)
        longer, shorter = sorted([here, self._order or []], key=len, reverse=True)
        self._is_ordered = longer[: len(shorter)] == shorter
        self._order = longer if self._is_ordered else None

    @property
    def order(self) -> tuple[Any, ...] | None:
        """The values of an ordered category, lowest first, also those that no row has."""
        return None if self._order is None else tuple(self._order)

    def settle(self) -> None:
        """Finish after all batches: sort pending values into the others."""
        if self._kept is not None:
            self._kept.merge()

    @property
    def values(self) -> pa.Array:
        """The different values, none missing."""
        return pa.nulls(0) if self._kept is None else self._kept.values

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows have each value."""
        return np.empty(0, np.int64) if self._kept is None else self._kept.counts

    def assign(self, codes: NDArray[np.int32], *, missing: int = UNKNOWN) -> None:
        """Assign a code to each value, and to missing values."""
        self._missing = missing
        if self._kept is not None:
            self._kept.assign(np.asarray(codes, np.int32), missing)

    def codes(self, values: pa.Array) -> NDArray[np.int32]:
        """The codes of a batch; `UNKNOWN` for a value that was not there."""
        kept = self._home(values)
        if kept is None:
            return np.full(len(values), self._missing, np.int32)
        return kept.codes(values)


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or (pa.types.is_temporal(kind) and kind.bit_width <= 64)
    )


class _Numbers:
    """Values of a fixed width, as signed integers of that width: floats as their bits."""

    def __init__(self, name: str, kind: pa.DataType) -> None:
        del name
        self.kind = kind
        self._plain = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[kind.bit_width]
        self._low = 0
        self._table: NDArray[np.int64] | None = np.zeros(0, np.int64)  # counts of a short range that begins at low
        self._sorted = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)
        self._pending: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._n_pending = 0

    def takes(self, kind: pa.DataType) -> bool:
        """Whether this class stores values of this type."""
        return bool(kind == self.kind)

    @property
    def size(self) -> int:
        return 0 if self._table is not None else len(self._sorted)

    def see(self, values: pa.Array, weights: Weights) -> int:
        """Count the values; returns the number of rows without a value."""
        n_missing: int = values.null_count
        if n_missing:
            there = np.asarray(values.is_valid())
            if weights is not None:
                n_missing = int(weights[~there].sum())
                weights = weights[there]
            values = values.drop_null()
        numbers = values.view(self._plain).to_numpy(zero_copy_only=False)
        if not len(numbers):
            return n_missing
        if self._table is not None and self._fits(int(numbers.min()), int(numbers.max())):
            places = np.subtract(numbers, self._low, dtype=np.int64)
            found = np.bincount(places, weights, minlength=len(self._table))
            self._table += found if weights is None else found.astype(np.int64)
            return n_missing
        found, counts = _counted(numbers.astype(np.int64), weights)
        self._pending.append((found, counts))
        self._n_pending += len(found)
        if self._n_pending > max(len(self._sorted), _LEAST_PENDING):
            self.merge()
        return n_missing

    def _fits(self, low: int, high: int) -> bool:
        """Extend the table for a range of values; if the range is too wide, the table is given up."""
        assert self._table is not None
        first, last = self._low, self._low + len(self._table) - 1
        if len(self._table) and first <= low and high <= last:
            return True
        if len(self._table):
            low, high = min(low, first), max(high, last)
        if high - low < _SHORT_RANGE:
            wider = np.zeros(high - low + 1, np.int64)
            wider[first - low : first - low + len(self._table)] = self._table
            self._low, self._table = low, wider
            return True
        self._from_table()
        return False

    def _from_table(self) -> None:
        assert self._table is not None
        there = np.flatnonzero(self._table)
        self._sorted, self._counts, self._table = there + self._low, self._table[there], None

    def merge(self) -> None:
        if self._pending:
            values, counts = zip((self._sorted, self._counts), *self._pending, strict=True)
            self._pending.clear()
            self._n_pending = 0
            self._sorted, self._counts = _counted(np.concatenate(values), np.concatenate(counts))

    @property
    def values(self) -> pa.Array:
        numbers = self._sorted if self._table is None else np.flatnonzero(self._table) + self._low
        return pa.array(numbers.astype(self._plain.to_pandas_dtype())).view(self.kind)

    @property
    def counts(self) -> NDArray[np.int64]:
        return self._counts if self._table is None else self._table[self._table > 0]

    def assign(self, codes: NDArray[np.int32], missing: int) -> None:
        self._codes, self._missing = codes, missing
        if self._table is not None:
            self._codes = np.full(len(self._table), UNKNOWN, np.int32)
            self._codes[self._table > 0] = codes

    def codes(self, values: pa.Array) -> NDArray[np.int32]:
        gone = np.asarray(values.is_null()) if values.null_count else None
        plain = values.view(self._plain)
        numbers = (plain if gone is None else plain.fill_null(self._some)).to_numpy(zero_copy_only=False)
        codes = self._looked_up(numbers)
        if gone is not None:
            codes[gone] = self._missing
        return codes

    @property
    def _some(self) -> int:
        return self._low if self._table is not None or not len(self._sorted) else int(self._sorted[0])

    def _looked_up(self, numbers: NDArray[Any]) -> NDArray[np.int32]:
        if not len(self._codes):
            return np.full(len(numbers), UNKNOWN, np.int32)
        if self._table is None:
            places = np.minimum(np.searchsorted(self._sorted, numbers), len(self._sorted) - 1)
            return np.where(self._sorted[places] == numbers, self._codes[places], np.int32(UNKNOWN))
        last = self._low + len(self._table) - 1
        if not len(numbers) or (numbers.min() >= self._low and numbers.max() <= last):
            found: NDArray[np.int32] = self._codes[np.subtract(numbers, self._low, dtype=np.int64)]
            return found
        inside = (numbers >= self._low) & (numbers <= last)
        codes = np.full(len(numbers), UNKNOWN, np.int32)
        codes[inside] = self._codes[np.subtract(numbers[inside], self._low, dtype=np.int64)]
        return codes


class _Values:
    """Values of any other type, which mostly are texts."""

    def __init__(self, name: str, kind: pa.DataType) -> None:
        del kind
        self._name = name
        self.values: pa.Array = pa.nulls(0)
        self.counts: NDArray[np.int64] = np.empty(0, np.int64)
        self._pending: list[tuple[pa.Array, NDArray[np.int64]]] = []
        self._n_pending = 0
        # the dictionary of the batches at hand, which mostly is that of a whole row group
        self._current: pa.Array | None = None
        self._entries: pa.Array | None = None
        self._current_counts = np.empty(0, np.int64)
        self._current_codes: NDArray[np.int32] | None = None

    def takes(self, kind: pa.DataType) -> bool:
        """True: this class stores values of any type."""
        del kind
        return True

    @property
    def size(self) -> int:
        return len(self.values)

    def is_current(self, dictionary: pa.Array) -> bool:
        """Whether this is the dictionary of the batch before."""
        return self._current is not None and identity(self._current) == identity(dictionary)

    def _encoded(self, values: pa.Array) -> pa.DictionaryArray:
        """Places in a dictionary, which becomes the current one, if it is not."""
        if not pa.types.is_dictionary(values.type):
            values = flat_array(values, self._name).dictionary_encode()
        if not self.is_current(values.dictionary):
            self._flush()
            self._current = values.dictionary
            entries = flat_array(values.dictionary, self._name)
            self._entries = entries.cast(pa.large_string()) if is_text(entries.type) else entries
            self._current_counts = np.zeros(len(entries), np.int64)
            self._current_codes = None
        return values

    def see(self, values: pa.Array, weights: Weights) -> int:
        """Count the values; returns the number of rows without a value."""
        encoded = self._encoded(values)
        indices = encoded.indices
        n_missing: int = indices.null_count
        if n_missing:
            there = np.asarray(indices.is_valid())
            if weights is not None:
                n_missing = int(weights[~there].sum())
                weights = weights[there]
            indices = indices.drop_null()
        places = indices.to_numpy(zero_copy_only=False)
        found = np.bincount(places, weights, minlength=len(self._current_counts)).astype(np.int64)
        assert self._entries is not None
        if self._entries.null_count:  # a dictionary may hold a missing value
            gone = np.asarray(self._entries.is_null())
            n_missing += int(found[gone].sum())
            found[gone] = 0
        self._current_counts += found
        return n_missing

    def _flush(self) -> None:
        """Add the counts of the current dictionary to the other pending ones."""
        used = self._current_counts > 0
        if self._entries is None or not used.any():
            return
        some = self._entries.filter(pa.array(used))
        self._pending.append((some, self._current_counts[used]))
        self._current_counts = np.zeros_like(self._current_counts)
        self._n_pending += len(some)
        if self._n_pending > max(len(self.values), _LEAST_PENDING):
            self.merge()

    def merge(self) -> None:
        self._flush()
        if not self._pending:
            return
        if len(self.values):
            self._pending.append((self.values, self.counts))
        values, counts = zip(*self._pending, strict=True)
        if len({one.type for one in values}) > 1:
            raise SchemaError(
                f"column {self._name!r} has different types in different batches: give it one type", column=self._name
            )
        self._pending.clear()
        self._n_pending = 0
        encoded = pa.concat_arrays(values).dictionary_encode()
        self.values = encoded.dictionary
        self.counts = np.bincount(encoded.indices.to_numpy(), np.concatenate(counts)).astype(np.int64)

    def assign(self, codes: NDArray[np.int32], missing: int) -> None:
        self._codes = np.append(codes, np.int32(UNKNOWN))
        self._missing = missing
        self._current_codes = None

    def codes(self, values: pa.Array) -> NDArray[np.int32]:
        encoded = self._encoded(values)
        if self._current_codes is None:
            self._current_codes = self._codes_of_entries()
        indices = encoded.indices
        if not len(self._current_codes):
            return np.full(len(indices), self._missing, np.int32)
        gone = np.asarray(indices.is_null()) if indices.null_count else None
        places = (indices if gone is None else indices.fill_null(0)).to_numpy(zero_copy_only=False)
        codes: NDArray[np.int32] = self._current_codes[places]
        if gone is not None:
            codes[gone] = self._missing
        return codes

    def _codes_of_entries(self) -> NDArray[np.int32]:
        entries = self._entries
        assert entries is not None
        if not len(self.values):
            return np.where(np.asarray(entries.is_null()), np.int32(self._missing), np.int32(UNKNOWN))
        places = pc.index_in(entries, value_set=self.values).fill_null(len(self.values)).to_numpy()
        codes: NDArray[np.int32] = self._codes[places]
        if entries.null_count:
            codes[np.asarray(entries.is_null())] = self._missing
        return codes


def _counted(values: NDArray[np.int64], weights: Weights) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different numbers, ascending, and how many rows have each."""
    if weights is None:
        found, counts = np.unique(values, return_counts=True)
        return found, counts.astype(np.int64, copy=False)
    found, place = np.unique(values, return_inverse=True)
    return found, np.bincount(place.reshape(-1), weights, minlength=len(found)).astype(np.int64)
