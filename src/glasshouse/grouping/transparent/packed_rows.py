# SPDX-License-Identifier: Apache-2.0
"""Packed rows: the records of a table as a few 64-bit words each, arranged for canonical l-cuts.

A record's codes, and their complements, are fields of its words, so that the bounding box of some records is a
fieldwise maximum: a handful of instructions for four attributes at once. Domains of up to 128 values take fields of 8
bits, up to 32,768 values 16 bits, larger ones 32 bits; a word holds 4, 2 or 1 attributes. A last word holds the
sensitive code and the row number. Records are moved physically as nodes are cut, and stay in tie order inside every
node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.engines import Nodes
from glasshouse.grouping.perimeter import Places
from glasshouse.kernels import compiled
from glasshouse.microdata.groups import Groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.microdata import Column, Microdata

__all__ = ["PackedRows", "Thresholds", "packed_rows"]

_CELLS = 1 << 18  # counts of so many cells stay in the processor's cache
_STACK = 80  # the larger part of a cut waits, so a table of 2^31 tuples needs 32 places


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Sizes at which the search for cuts changes; no choice changes a cut.

    Attributes
    ----------
    dense
        The codes that occur in a node are listed by looking at all codes in its frame if these are at most this many
        times its records, else by sorting.
    crowd
        A node is counted cell by cell if its frame has at most one cell for so many records.
    far, near
        In nodes of more than ``far`` records, up to ``near`` records from each end of a block bound the cuts inside it.
    small
        Nodes of at most so many records are divided to the end at once, while they are in the processor's cache.
    """

    dense: int = 4
    crowd: int = 2
    far: int = 96
    near: int = 48
    small: int = 1 << 14


@dataclass(frozen=True, eq=False)
class _Framed(Nodes):
    """Nodes, each with a box that contains its records (nodes x words)."""

    frames: NDArray[np.uint64]

    def __getitem__(self, which: NDArray[np.intp] | NDArray[np.bool_] | slice) -> _Framed:
        return _Framed(self.starts[which], self.stops[which], self.frames[which])


class PackedRows:
    """The records of a table, packed, and their division by canonical l-cuts (TRANSPARENT Definition 10, Figure 3).

    Parameters
    ----------
    table
        The microdata; it is copied, never changed.
    column
        The sensitive column.
    order
        Records (row numbers) in tie order.
    places
        Where the codes lie; all perimeters must fit into 64 bits.
    thresholds
        Where the search changes its way.

    Attributes
    ----------
    tuples
        The packed records in the order in which they now lie: ``n_words`` words of fields each, and a last one, the
        sensitive code above the row number.
    n_tuples, n_words, n_values
        How many records there are, words of fields in each, and sensitive codes.
    sizes
        Per attribute, how many codes it has.
    layout
        Per attribute, where its field lies: the word, the shift, the largest number below the guard; and how many codes
        the attributes before it have together.
    fields
        Per word, the bits of its fields, and their guards.
    """

    def __init__(
        self,
        table: Microdata,
        column: Column,
        order: NDArray[np.int32],
        places: Places,
        thresholds: Thresholds | None = None,
    ) -> None:
        assert places.fits
        self._kernels = compiled("glasshouse.kernels._packed_kernels")
        self._thresholds = thresholds or Thresholds()
        self.sizes = [attribute.domain.size for attribute in table.quasi]
        self.n_values = column.domain.size
        self.n_tuples = table.n_tuples
        self._places = np.concatenate(places.tables).astype(np.int64, copy=False)
        self.layout, self.fields = _layout(self.sizes)
        self.n_words = self.fields.shape[1]
        self._stride = self.n_words + 1
        self._pool: list[tuple[NDArray[Any], ...]] = []

        packed = np.zeros(self.n_tuples * self._stride, np.uint64)
        for j, attribute in enumerate(table.quasi):
            word, shift, top = self.layout[:3, j].tolist()
            self._kernels.pack_code(attribute.codes, packed, self._stride, word, shift, top)
        self._kernels.pack_sensitive(column.codes, packed, self._stride)
        self._spare = packed
        self.tuples = np.empty_like(packed)
        self._kernels.gather_rows(packed, order, self._stride, self.tuples)

    def divide(self, ell: int, engine: Memory, nodes: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Cut every node that is 2l-diverse; return where the leaves start, ascending, and the number of records.

        There is one node at first, or there are those that begin at ``nodes``, whose last entry is where they end.
        """

        def step(nodes: Nodes) -> tuple[Nodes, Nodes]:
            assert isinstance(nodes, _Framed)
            try:
                scratch = self._pool.pop()
            except IndexError:
                scratch = _scratch(self)
            try:
                return self._cut(nodes, ell, scratch)
            finally:
                self._pool.append(scratch)

        leaves = engine.visit(self._begun(np.array([0, self.n_tuples]) if nodes is None else nodes), step)
        return np.append(np.sort(leaves.starts), self.n_tuples)

    def placed(self) -> NDArray[np.int32]:
        """Row numbers in the order in which the records now lie."""
        placed = np.empty(self.n_tuples, np.int32)
        self._kernels.row_numbers(self.tuples, self._stride, placed)
        return placed

    def groups(self, offsets: NDArray[np.int64]) -> Groups:
        """Turn leaves into groups of the table as it was read."""
        labels = np.empty(self.n_tuples, np.int32)
        self._kernels.label_runs(self.tuples, self._stride, offsets, labels)
        return Groups(labels, len(offsets) - 1)

    def _begun(self, offsets: NDArray[np.int64]) -> _Framed:
        frame = np.zeros((1, self.n_words), np.uint64)
        for j, size in enumerate(self.sizes):
            word, shift, top = self.layout[:3, j].tolist()
            frame[0, word] |= np.uint64(((size - 1) << shift) | (top << (shift + 32)))
        return _Framed(offsets[:-1], offsets[1:], np.repeat(frame, len(offsets) - 1, axis=0))

    def _cut(self, nodes: _Framed, ell: int, scratch: tuple[NDArray[Any], ...]) -> tuple[Nodes, Nodes]:
        t = self._thresholds
        room = int(nodes.sizes.sum()) // ell + 2 * len(nodes) + 2
        leaves, parts = np.empty((room, 2), np.int64), np.empty((room, 2), np.int64)
        frames = np.empty(room * self.n_words, np.uint64)
        kernels = compiled("glasshouse.grouping.transparent._tailor_kernels")
        cutting = kernels.Cutting(
            self.tuples, self._spare, scratch[0], *self.layout, *self.fields, self._places, *scratch[1:], leaves, parts,
            frames, ell, self.n_values, t.dense, t.crowd, t.far, t.near, t.small,
        )  # fmt: skip
        done, left = kernels.divide_nodes(
            cutting,
            nodes.starts,
            nodes.stops,
            np.ascontiguousarray(nodes.frames).ravel(),
            np.empty((_STACK, 2), np.int64),
            np.empty(_STACK * self.n_words, np.uint64),
        )
        starts, stops = parts[:left].T.copy()
        inner = _Framed(starts, stops, frames[: left * self.n_words].reshape(left, self.n_words).copy())
        return inner, Nodes(*leaves[:done].T.copy())


def packed_rows(table: Microdata, column: Column, order: NDArray[np.int32]) -> PackedRows:
    """Pack the records of a table in a given order; the positions of codes are not needed, and are 0."""
    tables = tuple(np.zeros(attribute.domain.size, np.int64) for attribute in table.quasi)
    return PackedRows(table, column, order, Places(tables, fits=True))


def _scratch(rows: PackedRows) -> tuple[NDArray[Any], ...]:
    """The working memory of one thread, with zeros where the kernel expects zeros."""
    t, words, n = rows._thresholds, rows.n_words, rows.n_tuples
    slots, widest = sum(rows.sizes), max(rows.sizes)
    sorted_at_most = min(n, widest // t.dense + 1) if t.dense else n
    return (
        np.empty((t.small // 2 + 2) * (words + 1), np.uint64),  # close
        np.zeros(2 * rows.n_values, np.int64),  # histogram
        np.zeros(n + 2, np.int64),  # tally
        np.zeros(_CELLS, np.int32),  # cells
        np.empty(2 * sorted_at_most, np.int32),  # codes
        *np.zeros((10, slots), np.int64),  # sizes, present, before, two widths, n_codes, and the odometer
        np.zeros((3 * slots + 5) * words, np.uint64),  # boxes
        *np.empty((2, 2 * slots + 2), np.int64),  # change_at, change_width
    )


def _layout(sizes: list[int]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Assign a bit field to every attribute: attributes of one width share words, in their own order."""
    layout = np.zeros((4, len(sizes) + 1), np.int64)
    layout[3, 1:] = np.cumsum(sizes)
    widths = [_bits(size) for size in sizes]
    words: list[int] = []  # the bits of the fields of each word
    for bits in (8, 16, 32):
        for number, j in enumerate(j for j, width in enumerate(widths) if width == bits):
            field = number % (32 // bits)
            if field == 0:
                words.append(bits)
            layout[:3, j] = len(words) - 1, field * bits, (1 << (bits - 1)) - 1
    guards = [sum(1 << at for at in range(bits - 1, 64, bits)) for bits in words]
    return layout, np.array([words, guards], np.uint64)


def _bits(size: int) -> int:
    """The width of a field that holds so many codes below its guard bit."""
    return 8 if size <= 1 << 7 else 16 if size <= 1 << 15 else 32
