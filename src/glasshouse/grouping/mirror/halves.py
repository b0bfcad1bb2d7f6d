# SPDX-License-Identifier: Apache-2.0
"""Halving: a table parted into blocks that can be halved again and again, and their records divided by Mirror's rule.

A block has ``2^h k`` records. What is left over, a uniformly random subset, is a table of its own, and is parted in the
same way. A draw counts only if the subset and the rest both obey the principle, and is repeated otherwise: how likely
that is depends on the histogram of the whole table alone, so that it tells nothing about anybody. For several sensitive
columns at once that would not be so, for it depends on how the columns go together: there the first draw counts, and
parts are so large that any people in them obey (`blocks_by_size`).

Packed records are halved one candidate at a time, into halves of equal size.

The candidate is found by quasi-identifiers alone. The halves are moved apart before they are tested: so a leaf whose
test failed lies with its left half before its right half. A node that may fail again has *faces*, the halves that its
failed tests made, equally large; all of them are halved at once, so that either half has half of every face.
"""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from glasshouse.engines import Nodes
from glasshouse.engines.sorting import joined, sorted_by
from glasshouse.errors import SchemaError
from glasshouse.kernels import compiled, interpreted
from glasshouse.microdata.counts import Counts
from glasshouse.microdata.groups import tie_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.grouping.perimeter import Places
    from glasshouse.grouping.transparent.packed_rows import PackedRows
    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Draws, Source

__all__ = [
    "Block",
    "HalvedRows",
    "Parted",
    "PartedRows",
    "Thresholds",
    "alike_together",
    "blocks_by_size",
    "blocks_of",
    "dims_of",
    "parted_in_blocks",
    "shape_of",
]

KERNELS = "glasshouse.grouping.mirror._kernels"

# How often a remainder is drawn before a larger one is tried.
ATTEMPTS = 100

# In nodes of fewer tuples the order in which they lie makes no difference worth a shuffle.
LARGE = 64

_STACK = 80  # of two halves one waits, so a table of 2^31 tuples needs 32 places
_SAFE = 2**62  # sums of widths below it fit into 64 bits


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Sizes at which the procedure changes; no choice changes a half.

    Attributes
    ----------
    dense
        The codes of a node are counted if they spread over at most this many times its size, and else sorted.
    strip
        After so many records, the boxes of halves are looked at: whether they can grow any more.
    small
        Nodes of at most so many records are divided to the end at once, while they are in the processor's cache.
    """

    dense: int = 2
    strip: int = 8
    small: int = 1 << 14


@dataclass(frozen=True, eq=False)
class _Faced(Nodes):
    """Nodes that consist of the same number of equally large faces each."""

    faces: NDArray[np.int64]

    def __getitem__(self, which: NDArray[np.intp] | NDArray[np.bool_] | slice) -> _Faced:
        return _Faced(self.starts[which], self.stops[which], self.faces[which])


def dims_of(priority: Sequence[str], table: Microdata) -> list[int]:
    """The numbers of the attributes that may be halved: the preferred ones, or all."""
    names = [column.name for column in table.quasi]
    for name in priority:
        if name not in names:
            raise SchemaError.unknown(name, names, role="priority")
    return [names.index(name) for name in priority or names]


def alike_together(
    table: Microdata, source: Source, engine: Memory, sections: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """The records sorted by all quasi-identifiers, one after another; those equal in all of them in tie order.

    A value in the middle is shared by both halves: sorted like this, its records go left and right by their other
    values, and few who are alike are parted. Where there are ``sections``, one comes after another.
    """
    columns = [*([] if sections is None else [sections]), *(column.codes for column in table.quasi)]
    order, _ = sorted_by(joined(columns, engine), tie_order(table, source), engine)
    return order


class HalvedRows:
    """The records of a table, packed, and their division.

    Parameters
    ----------
    packed
        The records, in tie order inside every block; they are moved.
    places
        Where the codes lie.
    dims
        The attributes that may be halved, in the order that breaks ties.
    thresholds
        Where the work changes its way.
    """

    def __init__(
        self, packed: PackedRows, places: Places, dims: Sequence[int], thresholds: Thresholds | None = None
    ) -> None:
        self.packed = packed
        self._thresholds = thresholds or Thresholds()
        self._dims = np.array(dims, np.int64)
        self._stride = packed.n_words + 1
        self._spare = packed._spare  # what packing needed is free again
        self._pool: list[tuple[NDArray[Any], ...]] = []
        whole = np.concatenate(places.tables)
        fits = 2 * len(places.tables) * int(whole.max(initial=0)) < _SAFE
        self._moving = compiled(KERNELS)
        # Widths that do not fit into 64 bits are Python's integers: the same loops, interpreted.
        self._halving = self._moving if fits else interpreted(KERNELS)
        self._places: Any = whole.astype(np.int64) if fits else whole.tolist()

    def leaves(self, start: int, block: Block, requirement: Requirement, mirrors: int, engine: Memory) -> Nodes:
        """Halve the block that begins at ``start`` under any requirement; a node is a leaf if ``mirrors`` tests fail.

        Nodes of k records are leaves untested, and so are those with faces that cannot be halved evenly.
        """
        step = partial(self._halved, requirement, block.k, mirrors)
        stop = start + len(block.order)
        return engine.visit(_Faced(np.array([start]), np.array([stop]), np.array([block.faces])), step)

    def tested(self, start: int, k: int, n: int, ell: int, slack: Fraction, engine: Memory) -> tuple[Nodes, Nodes]:
        """Halve the ``n`` records from ``start`` on under frequency l-diversity: untested leaves, and failed ones.

        Nodes of k records, and those without slack, which are not diverse enough for slack times l, are not tested.
        """
        failed: list[Nodes] = []
        step = partial(self._divided, ell, k, slack, failed)
        untested = engine.visit(Nodes(np.array([start]), np.array([start + n])), step)
        return untested, Nodes.join(failed)

    def halve(self, nodes: Nodes) -> None:
        """Put the left half of every node before its right one, for any outcome of the tests."""
        with self._at_work(1, 1, Fraction(1)) as halving:
            self._halving.halve_nodes(halving, nodes.starts, nodes.stops, np.ones(len(nodes), np.int64))

    def part(self, kernel: Callable[..., None], nodes: Nodes, *what: NDArray[Any]) -> None:
        """Let a kernel move records inside of nodes."""
        places = np.empty(self.packed.n_values, np.int64)
        kernel(self.packed.tuples, self._spare, self._stride, nodes.starts, nodes.stops, *what[:-1], places, what[-1])

    def take(self, nodes: Nodes) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """The sensitive codes and the row numbers of some nodes, node after node, and where each node begins."""
        offsets = np.concatenate([[0], np.cumsum(nodes.sizes)])
        codes, numbers = np.empty((2, int(offsets[-1])), np.int32)
        self._moving.sensitive_codes(self.packed.tuples, self._stride, nodes.starts, nodes.stops, codes, numbers)
        return codes, numbers, offsets

    def taken(self, nodes: Nodes, source: Draws) -> tuple[PackedRows, NDArray[np.int32], NDArray[np.int64]]:
        """Some nodes as packed rows of their own, numbered anew; their row numbers, and where each node begins.

        Small nodes come first. Large ones have their records in a random order: sorted by quasi-identifiers, those of
        one column of a bucket would lie side by side, and Ace would pair them by that order rather than by what they
        have in common. They lie in memory that halving uses too.
        """
        large = nodes.sizes >= LARGE
        nodes = Nodes.join([nodes[~large], nodes[large]])
        offsets = np.concatenate([[0], np.cumsum(nodes.sizes)])
        places = np.arange(offsets[-1], dtype=np.int32) + np.repeat(
            (nodes.starts - offsets[:-1]).astype(np.int32), nodes.sizes
        )
        at = offsets[len(nodes) - int(large.sum()) :]
        source.shuffle_runs(places[at[0] :], at - at[0])
        part, numbers = copy(self.packed), np.empty(len(places), np.int32)
        part.tuples, part.n_tuples = self._spare[: len(numbers) * self._stride], len(numbers)
        self._moving.take_tuples(self.packed.tuples, self._stride, places, part.tuples, numbers)
        return part, numbers, offsets

    def _divided(self, ell: int, k: int, slack: Fraction, failed: list[Nodes], nodes: Nodes) -> tuple[Nodes, Nodes]:
        """Halve nodes under frequency l-diversity, small ones completely: the nodes to halve further, and leaves."""
        leaves = np.empty((int(nodes.sizes.sum()) // k + 1, 3), np.int64)
        parts = np.empty((2 * len(nodes), 2), np.int64)
        with self._at_work(ell, k, slack) as halving:
            stack = np.empty((_STACK, 3), np.int64)
            done, left = self._halving.divide_nodes(halving, nodes.starts, nodes.stops, stack, leaves, parts)
        starts, stops, tested = leaves[:done].T
        failed.append(Nodes(starts[tested == 1], stops[tested == 1]))
        return Nodes(*parts[:left].T.copy()), Nodes(starts[tested == 0], stops[tested == 0])

    def _halved(self, requirement: Requirement, k: int, mirrors: int, nodes: Nodes) -> tuple[Nodes, Nodes]:
        """Halve nodes once under any requirement: returns the nodes to halve further, and leaves."""
        assert isinstance(nodes, _Faced)
        halvable = (nodes.sizes > k) & (nodes.sizes // nodes.faces % 2 == 0)
        untested, nodes = nodes[~halvable], nodes[halvable]
        if not len(nodes):
            return nodes, untested
        with self._at_work(1, k, Fraction(1)) as halving:
            self._halving.halve_nodes(halving, nodes.starts, nodes.stops, nodes.faces)
        middles = (nodes.starts + nodes.stops) // 2
        holds = requirement.holds(self._counts(nodes, requirement))
        both = holds[0::2] & holds[1::2]
        again = ~both & (2 * nodes.faces < 1 << min(mirrors, 40))
        return _Faced(
            np.concatenate([nodes.starts[both], middles[both], nodes.starts[again]]),
            np.concatenate([middles[both], nodes.stops[both], nodes.stops[again]]),
            np.concatenate([nodes.faces[both], nodes.faces[both], 2 * nodes.faces[again]]),
        ), Nodes.join([untested, nodes[~both & ~again]])

    def _counts(self, nodes: Nodes, requirement: Requirement) -> list[Counts]:
        """Count both halves of every node, per sensitive column."""
        codes, numbers, offsets = self.take(nodes)
        borders = np.append(np.stack([offsets[:-1], (offsets[:-1] + offsets[1:]) // 2], axis=1).ravel(), offsets[-1])
        if not requirement.columns:
            return [Counts(np.zeros_like(codes), borders, 1)]
        first, *others = requirement.columns  # the first is packed
        return [
            Counts(codes, borders, first.domain.size),
            *(Counts(column.codes[numbers], borders, column.domain.size) for column in others),
        ]

    @contextmanager
    def _at_work(self, ell: int, k: int, slack: Fraction) -> Iterator[Any]:
        """What the kernels halve nodes with, on memory that no other thread uses meanwhile."""
        packed, t = self.packed, self._thresholds
        try:
            scratch = self._pool.pop()
        except IndexError:
            scratch = _scratch(packed, len(self._dims), t)
        yield self._halving.Halving(
            packed.tuples, self._spare, scratch[0], *packed.layout, *packed.fields, self._places, self._dims,
            *scratch[1:], ell, k, slack.numerator, slack.denominator, packed.n_values, t.dense, t.strip, t.small,
        )  # fmt: skip
        self._pool.append(scratch)


def _scratch(rows: PackedRows, n_dims: int, t: Thresholds) -> tuple[NDArray[Any], ...]:
    """The working memory of one thread, with zeros where the kernel expects zeros."""
    words, n = rows.n_words, rows.n_tuples
    sorted_at_most = min(n, max(rows.sizes) // t.dense + 1) if t.dense else n
    return (
        np.empty((t.small // 2 + 2) * (words + 1), np.uint64),  # close
        np.zeros(sum(rows.sizes), np.int64),  # tally
        np.zeros(rows.n_values, np.int64),  # histogram
        np.empty(2 * sorted_at_most, np.int32),  # codes
        np.zeros((4 * n_dims + 1) * words, np.uint64),  # boxes
        *np.zeros((3, n_dims), np.int64),  # middle, ties, below
    )


# ---------------------------------------------------------------------------------------------------- remainders


@dataclass(frozen=True, eq=False)
class Block:
    """Records (row numbers) in tie order, ``2^h`` times ``k`` of them; nodes of k records are not halved.

    It may have faces already, equally large runs of records.
    """

    order: NDArray[np.int32]
    k: int
    faces: int = 1


def shape_of(n: int, floor: int, step: int, least: int, most: int = 0) -> tuple[int, int]:
    """Choose (h, k) for n records: ``2^h k`` of them are halved, and r are left over.

    Of all multiples k of ``step`` from ``floor`` to n / 2 that leave nothing over, at least ``least`` records or at
    most ``most``, and at least ``least`` to be halved, the one with the smallest ``k (n + 4 r)``, of several the
    smallest: larger nodes and more records left over are both worse. If there is none, the table is a single node: h =
    0, k = n.

    >>> shape_of(100, 8, 2, 8), shape_of(96, 8, 2, 8), shape_of(100, 8, 2, 9), shape_of(15, 8, 2, 8)
    ((3, 10), (3, 12), (3, 10), (0, 15))
    >>> shape_of(1001, 8, 1, 600), shape_of(1001, 8, 1, 600, most=10)
    ((0, 1001), (5, 31))
    """
    low = -(-floor // step) * step
    while 2 * low <= n:
        high = min(3 * low, n // 2)  # r is below n / 2, so that no k beyond can be better than one at the lower end
        k = np.arange(low, high + 1, step, dtype=np.int64)
        h = np.frexp((n // k).astype(np.float64))[1].astype(np.int64) - 1
        over = n - (k << h)
        allowed = np.flatnonzero((over == 0) | (((over >= least) | (over <= most)) & (n - over >= least)))
        if len(allowed) and allowed[0] == 0:
            best = allowed[np.argmin(k[allowed] * (n + 4 * over[allowed]))]
            return int(h[best]), int(k[best])
        low = int(k[allowed[0]]) if len(allowed) else (high // step + 1) * step
    return 0, n


def blocks_of(
    order: NDArray[np.int32],
    requirement: Requirement,
    floor: int,
    step: int,
    source: Draws,
    worth: Callable[[int, int], bool] | None = None,
) -> list[Block]:
    """Divide a table into blocks.

    The table's records come in tie order, and satisfy the requirement, as every block must. Remainders of fewer than
    ``floor`` records are not even tried, and a block's k is a multiple of ``step``, unless the block is a single node.
    ``worth`` tells whether a table of so many records, of which so many have the most frequent value, would be halved
    at all; if it would not, it is one block, and nobody is left over.
    """
    parted = parted_in_blocks(PartedRows(order, requirement), floor, step, source, worth)
    return [Block(table.order, k) for table, k in parted]


def parted_in_blocks(
    table: Parted,
    floor: int,
    step: int,
    source: Draws,
    worth: Callable[[int, int], bool] | None = None,
) -> list[tuple[Any, int]]:
    """The blocks of `blocks_of`, each with its k; the table may be given as records or as counts."""
    blocks: list[tuple[Any, int]] = []
    while True:
        if worth is not None and not worth(table.size, table.most_frequent):
            return [*blocks, (table, table.size)]
        k, rest, remainder = _drawn(table, floor, step, source.child("remainder", len(blocks)))
        if remainder is None:
            return [*blocks, (table, k)]
        blocks.append((rest, k))
        table = remainder


def blocks_by_size(table: Parted, floor: int, source: Draws) -> list[tuple[Any, int]]:
    """Divide a table into blocks by sizes alone: nobody is left over unless all parts of both sizes are safe.

    A remainder is drawn once and not tested: it and the rest have at least as many records as suffice, for any people
    in them, in all sensitive columns. So every remainder is as likely as every other, whatever the columns hold
    together.
    """
    blocks: list[tuple[Any, int]] = []
    while True:
        h, k = shape_of(table.size, floor, 1, max(floor, table.enough))
        over = table.size - (k << h)
        if over == 0:
            return [*blocks, (table, k)]
        rest, table = table.drawn(over, source.child("remainder", len(blocks)))
        blocks.append((rest, k))


def _drawn(table: Parted, floor: int, step: int, source: Draws) -> tuple[int, Any, Parted | None]:
    """A shape that works: k, the records that are halved, and the remainder; None if nothing is left over."""
    n, least = table.size, floor
    while True:
        h, k = shape_of(n, floor, step, least)
        over = n - (k << h)
        if over == 0:
            return k, table, None
        for _ in range(ATTEMPTS):
            found = table.parted(over, source)
            if found is not None:
                return k, *found
        least = 2 * over  # a larger sample is more like the table


class Parted(Protocol):
    """A table, or a part of one, that can be parted at random."""

    @property
    def size(self) -> int:
        """The number of records."""

    @property
    def most_frequent(self) -> int:
        """The number of records with the most frequent value of the first sensitive column."""

    @property
    def enough(self) -> int:
        """The number of records from which on every part of it is safe."""

    def drawn(self, n: int, source: Draws) -> tuple[Any, Any]:
        """Draw n records: returns all others, and those drawn."""

    def parted(self, n: int, source: Draws) -> tuple[Any, Any] | None:
        """Draw n records: returns all others, and those drawn; None if one of the two parts breaks the requirement."""


class PartedRows:
    """A table's rows with their histograms, to judge a part of it and the rest by counting the part alone."""

    def __init__(self, order: NDArray[np.int32], requirement: Requirement) -> None:
        self.order = order
        self._requirement = requirement
        self._columns = [(column.codes, column.domain.size) for column in requirement.columns]
        self._whole = self._count(order)

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self.order)

    @property
    def most_frequent(self) -> int:
        """The number of records with the most frequent value of the first sensitive column."""
        return int(self._whole[0].max())

    @property
    def enough(self) -> int:
        """The number of records from which on every part of it is safe."""
        return self._requirement.enough([_groups_of(whole) for whole in self._whole])

    def drawn(self, n: int, source: Draws) -> tuple[PartedRows, PartedRows]:
        """Draw n records: returns all others, and those drawn."""
        return self._without(source.choose(len(self.order), n))

    def parted(self, n: int, source: Draws) -> tuple[PartedRows, PartedRows] | None:
        """Draw n records: returns all others, and those drawn; None if one of the two parts breaks the requirement."""
        chosen = source.choose(len(self.order), n)
        part = self._count(self.order[chosen])
        counts = [_groups_of(mine, whole - mine) for mine, whole in zip(part, self._whole, strict=True)]
        return self._without(chosen) if self._requirement.holds(counts).all() else None

    def _without(self, chosen: NDArray[np.int64]) -> tuple[PartedRows, PartedRows]:
        marks = np.zeros(len(self.order), np.uint8)
        marks[chosen] = 1
        rest, remainder = np.empty(len(self.order) - len(chosen), np.int32), np.empty(len(chosen), np.int32)
        compiled(KERNELS).part_order(self.order, marks, rest, remainder)
        return PartedRows(rest, self._requirement), PartedRows(remainder, self._requirement)

    def _count(self, rows: NDArray[np.int32]) -> list[NDArray[np.int64]]:
        if not self._columns:
            return [np.array([len(rows)])]
        return [np.bincount(codes[rows], minlength=size) for codes, size in self._columns]


def _groups_of(*histograms: NDArray[np.int64]) -> Counts:
    values = [np.flatnonzero(histogram).astype(np.int32) for histogram in histograms]
    weights = np.concatenate([histogram[own] for histogram, own in zip(histograms, values, strict=True)])
    return Counts(
        np.concatenate(values), np.cumsum([0, *map(len, values)]), len(histograms[0]), weights.astype(np.int32)
    )
