# SPDX-License-Identifier: Apache-2.0
"""Order: whether the rows of a published table ascend by what they show, found out in one pass over its batches.

A table whose rows stand in another order may tell what none of its cells does: of rows in the order of sensitive values
everybody's value can be read, and all counts are as promised. So rows must ascend, column after column.

Numbers and dates have their own order. Texts, and columns whose order was declared, have one that the tables do not
tell: there must then be *some* order of a column's values by which all rows ascend. Which value follows which, wherever
all columns before are equal, is kept; if one can go round in a ring, there is none. Exact texts without a declared
order ascend as texts do: of very many of them nothing is kept once that has held for long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.verification.columns import plain_values
from glasshouse.verification.groups import starts_of_runs

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from numpy.typing import NDArray

__all__ = ["CodedColumn", "JoinedOrder", "RowOrder", "broken_order"]

_MISSING: Final = np.iinfo(np.int64).max  # comes last
_BITS: Final = 32  # of a code of a value that has no order of its own
_FEW: Final = 1 << 9
_MANY: Final = 1 << 22  # pairs of texts that are kept before they must ascend as texts
_AT_ONCE: Final = 1 << 18  # rows of a table in memory, so that what is made of them takes little


class CodedColumn:
    """A column as whole numbers over all batches: equal where its values are, and ascending if it has its own order.

    Parameters
    ----------
    name
        What it is called.
    natural
        Whether its values are exact and have the order that they always have: none was declared.
    known
        Values that have the first codes, from 1.

    Examples
    --------
    >>> column = CodedColumn("city", natural=True)
    >>> [column.codes(pa.chunked_array([part])).tolist() for part in (["Rome", "Oslo"], ["Oslo", None, "Faro"])]
    [[1, 2], [2, 0, 3]]
    """

    def __init__(self, name: str, *, natural: bool, known: pa.Array | None = None) -> None:
        self.name = name
        self.natural = self.ascends = natural
        self._known: pa.Array | None = known
        self._ranked: tuple[pa.Array, NDArray[np.int64]] | None = None  # the last dictionary, which is often the next

    @property
    def n_codes(self) -> int:
        """One more than the largest code of a value that has no order of its own."""
        return 1 if self._known is None else len(self._known) + 1

    @property
    def entered(self) -> pa.Array | None:
        """The values that have codes from 1 on, if values have no order of their own."""
        return self._known

    def codes(self, column: pa.ChunkedArray) -> NDArray[np.int64]:
        """The numbers of a batch."""
        if self.ascends and self._known is None and (numbers := _numbers(column)) is not None:
            return numbers
        self.ascends = False
        return self.entries(column)

    def entries(self, column: pa.ChunkedArray) -> NDArray[np.int64]:
        """The numbers of values in order of first occurrence, from 1; 0 for a missing value."""
        found = [self._entries(chunk) for chunk in column.chunks]
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def _entries(self, values: pa.Array) -> NDArray[np.int64]:
        encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        if self._ranked is None or not self._ranked[0].equals(encoded.dictionary):
            self._ranked = encoded.dictionary, self._ranks(plain_values(encoded.dictionary))
        entries, rank = self._ranked
        indices = encoded.indices.fill_null(len(entries)) if encoded.indices.null_count else encoded.indices
        return np.asarray(rank[np.asarray(indices)])

    def _ranks(self, entries: pa.Array) -> NDArray[np.int64]:
        """The numbers of the values of a dictionary, and after them that of a missing value."""
        if self._known is None:
            first = entries.dictionary_encode()
            self._known, places = first.dictionary, first.indices
        else:
            places = pc.index_in(entries, value_set=self._known)
            if places.null_count:
                new = entries.filter(places.is_null()).drop_null().unique()
                self._known = pa.concat_arrays([self._known, new])
                places = pc.index_in(entries, value_set=self._known)
        return np.append(np.asarray(places.fill_null(-1)).astype(np.int64) + 1, 0)

    @property
    def values(self) -> pa.Array:
        """The values seen so far, in the order of their codes; the first has code 1."""
        return pa.array([], pa.string()) if self._known is None else self._known

    def ascend(self, before: NDArray[np.int64], after: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which pairs of codes, for values without a natural order, ascend by their values; missing last."""
        assert self._known is not None
        if not len(self._known):
            return np.zeros(len(before), bool)
        one, two = (self._known.take(pa.array(np.maximum(codes - 1, 0))) for codes in (before, after))
        return np.where((before == 0) | (after == 0), after == 0, np.asarray(pc.less(one, two)))

    def value(self, code: int) -> Any:
        """The value of a code, for a message."""
        if self._known is not None:
            return self._known[code - 1].as_py() if code else None
        return None if code == _MISSING else code

    def shown(self, code: int) -> str:
        """The value of a code, in words."""
        value = self.value(code)
        return "a missing value" if value is None else repr(value)


def _numbers(column: pa.ChunkedArray) -> NDArray[np.int64] | None:
    """Values with a natural order as numbers in that order; None if they have none."""
    kind = column.type
    if pa.types.is_floating(kind):
        bits = (np.asarray(column.fill_null(0)).astype(np.float64) + 0.0).view(np.int64)  # -0.0 is 0.0
        numbers = bits ^ ((bits >> 63) & np.int64(_MISSING))
    elif pa.types.is_boolean(kind) or (pa.types.is_integer(kind) and kind != pa.uint64()):
        whole = column.cast(pa.int64())
        numbers = np.asarray(whole.fill_null(0) if whole.null_count else whole)
    elif pa.types.is_temporal(kind):
        plain = pa.int32() if kind.bit_width == 32 else pa.int64()
        whole = pa.chunked_array([chunk.view(plain) for chunk in column.chunks], plain)
        numbers = np.asarray(whole.cast(pa.int64()).fill_null(0))
    else:
        return None
    return np.where(np.asarray(column.is_null()), _MISSING, numbers) if column.null_count else numbers


class RowOrder:
    """Checks the order of rows that are read in batches, by some columns, the most significant first.

    Parameters
    ----------
    columns
        By what rows ascend.
    n_group
        How many of them, from the first, are equal within a group.
    many
        How many pairs of texts are kept before they must ascend as texts.
    """

    def __init__(self, columns: Sequence[CodedColumn], n_group: int, *, many: int = _MANY) -> None:
        self._columns = columns
        self._n_group = n_group
        self._last: list[int] | None = None
        self._pairs = [_Pairs(column, many) for column in columns]
        self._n_rows = 0
        self._broken: str | None = None

    def see(self, codes: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
        """Take the next rows, and tell which of them begin a new group."""
        n_rows = len(codes[0])
        decided = np.zeros(n_rows, bool)
        begins = decided
        for i, (column, own) in enumerate(zip(self._columns, codes, strict=True)):
            before = np.empty_like(own)
            before[1:] = own[:-1]
            before[0] = own[0] if self._last is None else self._last[i]
            differs = own != before
            self._compare(i, column, before, own, differs & ~decided)
            decided = decided | differs
            if i + 1 == self._n_group:
                begins = decided
        if self._last is None:
            begins = begins.copy()
            begins[0] = True
        self._last = [int(own[-1]) for own in codes]
        self._n_rows += n_rows
        return begins

    def _compare(
        self,
        i: int,
        column: CodedColumn,
        before: NDArray[np.int64],
        own: NDArray[np.int64],
        decides: NDArray[np.bool_],
    ) -> None:
        """Check the rows that differ from the previous one first in this column."""
        if column.ascends:
            falls = decides & (own < before)
            if self._broken is None and falls.any():
                row = self._n_rows + int(np.argmax(falls)) + 1
                self._broken = f"row {row:,} should come before the row above it, in the order of {column.name}"
            return
        self._pairs[i].see(_different(before[decides], own[decides], column.n_codes))
        if self._broken is None:
            self._broken = self._pairs[i].broken

    def broken(self) -> str | None:
        """What is not in order, after the last row; None if all rows ascend."""
        if self._broken is not None:
            return self._broken
        return next((ring for pairs in self._pairs if (ring := pairs.ring()) is not None), None)

    def following(self) -> list[tuple[pa.Array, pa.Array] | None]:
        """For each column without an order of its own which value follows which; None where all ascend as texts."""
        return [
            None if column.ascends else own.values() for column, own in zip(self._columns, self._pairs, strict=True)
        ]


def broken_order(table: pa.Table, columns: Sequence[str], natural: Container[str]) -> str | None:
    """What is not in order in a table in memory, by some columns; ``natural`` has those with their own order.

    >>> broken_order(pa.table({"age": [30, 40, 20]}), ["age"], {"age"})
    'row 3 should come before the row above it, in the order of age'
    """
    coded = [CodedColumn(name, natural=name in natural) for name in columns]
    order = RowOrder(coded, len(coded))
    for start in range(0, table.num_rows, _AT_ONCE):
        batch = table.slice(start, _AT_ONCE)
        order.see([column.codes(batch[column.name]) for column in coded])
    return order.broken()


class JoinedOrder:
    """The order of rows over several runs, from the results for each run: see `RowOrder.following`.

    Parameters
    ----------
    columns
        By what rows ascend, with which of them have the order that they always have.
    """

    def __init__(self, columns: Sequence[CodedColumn]) -> None:
        self._columns = columns
        self._pairs = [_Pairs(column, _MANY) for column in columns]
        self._types: list[pa.DataType | None] = [None] * len(columns)
        self._last: Sequence[Any] | None = None
        self._holds = True

    def see(
        self, first: Sequence[Any], last: Sequence[Any], following: Sequence[tuple[pa.Array, pa.Array] | None]
    ) -> None:
        """Take a run whose own rows ascend: its first and its last row, and which value follows which inside."""
        self._types = [
            known if told is None else told[0].type for known, told in zip(self._types, following, strict=True)
        ]
        if self._last is not None:
            self._compare(self._last, first)
        self._last = last
        for pairs, told in zip(self._pairs, following, strict=True):
            if told is not None and len(told[0]):
                pairs.see_values(*told)

    def _compare(self, before: Sequence[Any], after: Sequence[Any]) -> None:
        """Hold the first row of a run to the last one of the run before."""
        i = next((i for i, both in enumerate(zip(before, after, strict=True)) if both[0] != both[1]), None)
        if i is None:
            return
        one, two = before[i], after[i]
        if self._columns[i].natural:
            self._holds = self._holds and (two is None or (one is not None and bool(one < two)))
        else:
            self._pairs[i].see_values(pa.array([one], self._types[i]), pa.array([two], self._types[i]))

    def finish(self) -> bool:
        """Whether all rows ascend."""
        return self._holds and all(pairs.ring() is None for pairs in self._pairs)


class _Pairs:
    """Which value of a column follows which, for values without a natural order."""

    def __init__(self, column: CodedColumn, many: int) -> None:
        self._column = column
        self._many = many
        self._known: NDArray[np.int64] = np.empty(0, np.int64)
        self._new: list[NDArray[np.int64]] = []
        self._n_new = 0
        self._as_texts = column.natural  # whether all pairs so far ascend as texts do
        self._must_ascend = False
        self.broken: str | None = None

    def see(self, pairs: NDArray[np.int64]) -> None:
        """Process ascending pairs; known ones cost nothing more."""
        places = np.searchsorted(self._known, pairs)
        inside = places < len(self._known)
        is_new = np.ones(len(pairs), bool)
        is_new[inside] = self._known[places[inside]] != pairs[inside]
        new = pairs[is_new]
        if not len(new):
            return
        falls = np.flatnonzero(~self._column.ascend(*_parted(new))) if self._as_texts else new[:0]
        if self._must_ascend:
            if len(falls) and self.broken is None:
                one, two = (self._column.shown(int(code[falls[0]])) for code in _parted(new))
                self.broken = f"{one} comes before {two} in {self._column.name}"
            return
        self._as_texts = self._as_texts and not len(falls)
        self._new.append(new)
        self._n_new += len(new)
        if self._n_new > max(len(self._known), 1 << 16):  # seldom, for it sorts all of them
            self._join()

    def _join(self) -> None:
        self._known = _distinct(np.concatenate([self._known, *self._new]))
        self._new, self._n_new = [], 0
        if self._as_texts and len(self._known) > self._many:
            self._known, self._must_ascend = self._known[:0], True

    def values(self) -> tuple[pa.Array, pa.Array] | None:
        """The pairs, as values; None where all of them ascend as texts do."""
        self._join()
        if self._as_texts:
            return None
        texts = pa.nulls(0) if self._column.entered is None else self._column.entered
        one, two = (pa.array(np.maximum(codes - 1, 0), mask=codes == 0) for codes in _parted(self._known))
        return texts.take(one), texts.take(two)

    def see_values(self, before: pa.Array, after: pa.Array) -> None:
        """Take pairs of values."""
        one, two = (self._column.entries(pa.chunked_array([some])) for some in (before, after))
        self.see(_different(one, two, self._column.n_codes))

    def ring(self) -> str | None:
        """A value that comes both before and after another one, in words; None if there is none."""
        self._join()
        code = _in_a_ring(*_parted(self._known), self._column.n_codes)
        if code is None:
            return None
        return (
            f"no order of the values of {self._column.name} fits all rows: {self._column.shown(code)} would have to "
            "come both before and after the same other value"
        )


def _different(before: NDArray[np.int64], after: NDArray[np.int64], n_codes: int) -> NDArray[np.int64]:
    """The different pairs, ascending."""
    if n_codes > _FEW:
        return _distinct((before << _BITS) | after)
    occurs = np.zeros(n_codes * n_codes, bool)  # for few codes a place for each pair costs less than sorting
    occurs[before * n_codes + after] = True
    found = np.flatnonzero(occurs)
    return (found // n_codes << _BITS) | found % n_codes


def _distinct(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different ones, ascending: sorting them costs less than a table of them, as NumPy makes it."""
    pairs = np.sort(pairs)
    return pairs[starts_of_runs(pairs)]


def _parted(pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return pairs >> _BITS, pairs & ((1 << _BITS) - 1)


def _in_a_ring(before: NDArray[np.int64], after: NDArray[np.int64], n_codes: int) -> int | None:
    """A code on a cycle of the relation "is followed by"; None if there is no cycle.

    >>> _in_a_ring(np.array([0, 1]), np.array([1, 2]), 3), _in_a_ring(np.array([0, 1]), np.array([1, 0]), 3)
    (None, 0)
    """
    one, two = (np.where(codes == 0, n_codes, codes) for codes in (before, after))
    if (one < two).all():  # as in tables of which a dictionary has the order of the cells
        return None
    waiting = np.bincount(after, minlength=n_codes).tolist()  # how many come before each
    starts = np.searchsorted(before, np.arange(n_codes + 1)).tolist()  # pairs ascend
    following = after.tolist()
    free = [code for code in range(n_codes) if not waiting[code]]
    while free:
        code = free.pop()
        for other in following[starts[code] : starts[code + 1]]:
            waiting[other] -= 1
            if not waiting[other]:
                free.append(other)
    stuck = np.flatnonzero(np.array(waiting))
    if not len(stuck):
        return None
    # what only comes behind a ring is stuck as well: go back until something comes again
    inside = set(stuck.tolist())
    comes_before = {b: a for a, b in zip(before.tolist(), following, strict=True) if a in inside and b in inside}
    code, seen = int(stuck[0]), set()
    while code not in seen:
        seen.add(code)
        code = comes_before[code]
    return code
