# SPDX-License-Identifier: Apache-2.0
"""The memory engine: a table laid out in columns, whose records are moved physically as nodes are split.

A method decides; the engine counts, splits and visits. Nodes are runs of consecutive records and never overlap, so
pieces of the work are independent: any number of threads, in any order, gives the same result.

`Points` are records that are equal in every quasi-identifier, laid out as one item each. A strict cut never parts such
records, so it is found and made on points, each with the number and the sensitive histograms of its records. A table of
millions about a few hundred thousand kinds of people is divided at the cost of these; the records themselves are read
three times.
"""

from __future__ import annotations

import itertools
import math
import os
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.kernels import compiled
from glasshouse.microdata.counts import Counts
from glasshouse.microdata.domains import Column
from glasshouse.microdata.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.table import Microdata

__all__ = ["Cuts", "Memory", "Nodes", "Points", "Rows", "is_crowded"]

# A visit goes level by level over pieces of about this many records: they stay in the processor's cache from one level
# to the next, and are enough work for the vectorised decisions between two kernels.
PIECE = 1 << 18
# A node's codes are counted in a table if they spread over at most this many times its size, and sorted otherwise.
DENSE = 16


@dataclass(frozen=True, eq=False)
class Nodes:
    """Runs of consecutive records: ``starts[i] <= place < stops[i]``."""

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, which: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Nodes:
        return Nodes(self.starts[which], self.stops[which])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Records in each node."""
        return self.stops - self.starts

    @staticmethod
    def join(parts: Sequence[Nodes]) -> Nodes:
        """Concatenate several lists of nodes."""
        empty = np.empty(0, np.int64)
        return Nodes(
            np.concatenate([empty, *(p.starts for p in parts)]), np.concatenate([empty, *(p.stops for p in parts)])
        )

    def pieces(self, tuples: int) -> list[Nodes]:
        """Cut the list into runs of about so many records each."""
        number = np.cumsum(self.sizes) // max(tuples, 1)
        borders = np.flatnonzero(np.diff(number, prepend=-1, append=-1))
        return [self[slice(a, b)] for a, b in itertools.pairwise(borders)]


@dataclass(frozen=True, eq=False)
class Cuts:
    """One cut per node, on attribute ``dims[i]``: ``left[i]`` records go left. Where it is 0, no cut is possible.

    Which records those are is marked in the rows until the same nodes are cut again.
    """

    dims: NDArray[np.intp]
    left: NDArray[np.int64]

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Where a cut is possible: both parts have records."""
        return self.left > 0

    def __getitem__(self, which: NDArray[np.intp] | NDArray[np.bool_]) -> Cuts:
        return Cuts(self.dims[which], self.left[which])


class Rows:
    """The records of a table, copied and laid out for dividing, with the sensitive columns to count.

    ``order`` has the records in tie order; None where the method's result does not depend on ties.
    """

    def __init__(self, table: Microdata, sensitive: Sequence[Column], order: NDArray[np.int32] | None) -> None:
        def laid_out(codes: NDArray[np.int32]) -> NDArray[np.int32]:
            return codes.copy() if order is None else codes[order]

        self._kernels = compiled("glasshouse.engines._kernels")
        self.n_tuples = table.n_tuples
        self.domains = [column.domain for column in table.quasi]
        self.codes = [laid_out(column.codes) for column in table.quasi]
        self.sensitive = [laid_out(column.codes) for column in sensitive]
        self.n_values = [column.domain.size for column in sensitive]
        self.index = np.arange(self.n_tuples, dtype=np.int32) if order is None else order.astype(np.int32)
        self._moved = [*self.codes, *self.sensitive, self.index]
        self._ancestors = [_ancestors(domain.separations) for domain in self.domains]
        self._is_left = np.empty(self.n_tuples, np.uint8)

    def whole(self) -> Nodes:
        """All records as one node."""
        return Nodes(np.array([0]), np.array([self.n_tuples]))

    def extents(self, nodes: Nodes) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Smallest and largest code of every node on every attribute (nodes x attributes)."""
        shape = (len(self.codes), len(nodes))
        low, high = np.empty(shape, np.int32), np.empty(shape, np.int32)
        for dim, column in enumerate(self.codes):
            self._kernels.extents(column, nodes.starts, nodes.stops, low[dim], high[dim])
        return low.T, high.T

    def median_cuts(self, nodes: Nodes, dims: NDArray[np.intp]) -> Cuts:
        """Strict cuts: at the border between two values that divides the node most evenly."""
        return self._cuts(nodes, dims, self._median_cuts)

    def half_cuts(self, nodes: Nodes, dims: NDArray[np.intp]) -> Cuts:
        """Relaxed cuts: the first half of the records, in order of value, then tie order."""
        return self._cuts(nodes, dims, self._half_cuts)

    def count(self, nodes: Nodes, cuts: Cuts) -> list[Counts]:
        """Count both parts of every cut, per sensitive column: groups ``2 * i`` (left) and ``2 * i + 1`` (right)."""
        borders = np.stack([cuts.left, nodes.sizes - cuts.left], axis=1).ravel()
        offsets = np.concatenate([[0], np.cumsum(borders)])
        counts = []
        for codes, n_values in zip(self.sensitive, self.n_values, strict=True):
            sides = np.empty(int(offsets[-1]), np.int32)
            self._kernels.gather_sides(codes, nodes.starts, nodes.stops, cuts.left, self._is_left, sides)
            counts.append(Counts(sides, offsets, n_values))
        return counts or [Counts(np.zeros(int(offsets[-1]), np.int32), offsets, 1)]

    def split(self, nodes: Nodes, cuts: Cuts) -> Nodes:
        """Make the cuts; the parts come back as nodes, left and right in turn."""
        spare = np.empty(int(nodes.sizes.max(initial=0)), np.int32)
        for column in self._moved:
            self._kernels.split_column(column, nodes.starts, nodes.stops, self._is_left, spare)
        middle = nodes.starts + cuts.left
        return Nodes(np.stack([nodes.starts, middle], axis=1).ravel(), np.stack([middle, nodes.stops], axis=1).ravel())

    def groups(self, leaves: Nodes) -> Groups:
        """Turn leaves that cover all records into groups of the table as it was read."""
        order = np.argsort(leaves.starts)
        labels = np.full(self.n_tuples, -1, np.int32)
        self._kernels.label_runs(self.index, leaves.starts[order], leaves.stops[order], labels)
        return Groups(labels, len(leaves))

    def _cuts(self, nodes: Nodes, dims: NDArray[np.intp], find: Callable[..., None]) -> Cuts:
        """Find the cut of every node on its attribute, mark the records that it sends left, and count them."""
        left = np.zeros(len(nodes), np.int64)
        for dim in np.unique(dims).tolist():
            which = np.flatnonzero(dims == dim)
            part = nodes[which]
            value, ties = np.empty(len(part), np.int32), np.zeros(len(part), np.int64)
            found = np.empty(len(part), np.int64)
            find(dim, part, value, ties)
            self._kernels.mark_sides(self.codes[dim], part.starts, part.stops, value, ties, self._is_left, found)
            left[which] = found
        return Cuts(dims, left)

    def _median_cuts(self, dim: int, nodes: Nodes, value: NDArray[np.int32], ties: NDArray[np.int64]) -> None:
        ancestors, scratch = self._ancestors[dim], self._scratch(dim, nodes)
        self._kernels.median_cuts(self.codes[dim], nodes.starts, nodes.stops, ancestors, DENSE, *scratch, value)

    def _half_cuts(self, dim: int, nodes: Nodes, value: NDArray[np.int32], ties: NDArray[np.int64]) -> None:
        scratch = self._scratch(dim, nodes)
        self._kernels.half_cuts(self.codes[dim], nodes.starts, nodes.stops, DENSE, *scratch, value, ties)

    def _scratch(self, dim: int, nodes: Nodes) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        longest = int(nodes.sizes.max(initial=0))
        return np.zeros(self.domains[dim].size, np.int64), np.empty(2 * longest, np.int32)


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Runs the work in this process, by default on all cores.

    Parameters
    ----------
    threads
        How many threads there may be; 0 for as many as there are cores.
    crowd
        Strict cuts work on points (see `Points`) if there are at least so many records for each that there could be.
    """

    threads: int = 0
    crowd: int = 8

    def visit(self, roots: Nodes, step: Callable[[Nodes], tuple[Nodes, Nodes]]) -> Nodes:
        """Apply ``step`` (nodes -> children, leaves) level by level until there are only leaves, and return them."""
        leaves: list[Nodes] = []
        threads = self.threads or os.cpu_count() or 1

        def descend(nodes: Nodes) -> list[Nodes]:
            while len(nodes):
                nodes, done = step(nodes)
                leaves.append(done)
                if len(nodes) > 1 and nodes.sizes.sum() > PIECE:
                    return nodes.pieces(PIECE)
            return []

        if threads == 1:
            stack = [roots]
            while stack:
                stack += descend(stack.pop())
            return Nodes.join(leaves)
        with ThreadPoolExecutor(threads) as pool:
            running: set[Future[list[Nodes]]] = {pool.submit(descend, roots)}
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    running |= {pool.submit(descend, piece) for piece in future.result()}
        return Nodes.join(leaves)


def _ancestors(separations: NDArray[np.int32]) -> NDArray[np.int32]:
    """Number the ancestors of every code at each depth below the root: a row per depth, none without a taxonomy."""
    deepest = int(separations.max(initial=0))
    levels = range(1, deepest + 2) if deepest else range(0)
    rows = [np.concatenate([[0], np.cumsum(separations < depth)]) for depth in levels]
    return np.array(rows, np.int32).reshape(len(rows), len(separations) + 1)


def is_crowded(table: Microdata, tuples: int) -> bool:
    """Whether there are at least so many records for every point that there could be."""
    return math.prod(column.domain.size for column in table.quasi) * tuples <= table.n_tuples


class Points(Rows):
    """The points of a table, laid out for strict cuts; nodes are runs of points.

    ``tuples`` is the point of every record, numbered in the order of all codes, one attribute after another. Without it
    points are found by counting all that there could be, which must fit into 31 bits. Each record of the table stands
    for as many as ``counts`` says, one unless given.
    """

    def __init__(
        self,
        table: Microdata,
        sensitive: Sequence[Column],
        tuples: Groups | None = None,
        counts: NDArray[np.int64] | None = None,
    ) -> None:
        self._tuples = _counted(table) if tuples is None else tuples
        self._counts = counts
        self._dense = 0 if tuples is None else DENSE
        self._used = np.flatnonzero(self._tuples.sizes)
        example = np.empty(self._tuples.n_groups, np.int32)  # of every point: one of its records
        example[self._tuples.labels] = np.arange(table.n_tuples, dtype=np.int32)
        points = tuple(Column(column.domain, column.codes[example[self._used]]) for column in table.quasi)
        super().__init__(replace(table, quasi=points, identifier=None, n_tuples=len(self._used)), (), None)
        weights = self._tuples.sizes if counts is None else np.bincount(self._tuples.labels, weights=counts)
        self._weights = weights[self._used].astype(np.int32)
        self._moved.append(self._weights)
        self._histograms = [(*self._histogram(column), column.domain.size) for column in sensitive]
        if not sensitive:  # as if there were one, with one value
            one = np.zeros(len(self._used), np.int32)
            self._histograms = [(np.arange(len(self._used) + 1), one, self._weights.copy(), 1)]

    def count(self, nodes: Nodes, cuts: Cuts) -> list[Counts]:
        """Count both parts of every cut, per sensitive column: groups ``2 * i`` (left) and ``2 * i + 1`` (right)."""
        counts = []
        for first, values, weights, n_values in self._histograms:
            sides, weighing = np.empty((2, len(values)), np.int32)
            offsets = np.zeros(2 * len(nodes) + 1, np.int64)
            self._kernels.gather_histograms(
                self.index, nodes.starts, nodes.stops, self._is_left, first, values, weights, sides, weighing, offsets
            )
            counts.append(Counts(sides[: offsets[-1]], offsets, n_values, weighing[: offsets[-1]]))
        return counts

    def groups(self, leaves: Nodes) -> Groups:
        """Turn leaves that cover all points into groups of the table as it was read."""
        of_point = super().groups(leaves)
        of_key = np.full(self._tuples.n_groups, -1, np.int32)
        of_key[self._used] = of_point.labels
        return self._tuples.relabelled(of_key, of_point.n_groups)

    def _histogram(self, column: Column) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """For each point where its sensitive values begin, the values, and the number of records with each."""
        found = self._tuples.counts(column)
        if self._counts is not None:
            weights = self._counts[self._tuples.order].astype(np.int32)
            found = Counts(column.codes[self._tuples.order], self._tuples.offsets, column.domain.size, weights)
        offsets, values, counts = found.histogram
        return np.append(offsets[self._used], offsets[-1]), values, counts.astype(np.int32)

    def _median_cuts(self, dim: int, nodes: Nodes, value: NDArray[np.int32], ties: NDArray[np.int64]) -> None:
        ancestors, scratch = self._ancestors[dim], self._scratch(dim, nodes)
        # Nodes are disjoint boxes, so their widths together are at most the points that there could be: where these are
        # few, codes are always counted, never sorted.
        dense = self._dense or self.domains[dim].size
        self._kernels.median_cuts(
            self.codes[dim], nodes.starts, nodes.stops, ancestors, dense, *scratch, value, self._weights
        )


def _counted(table: Microdata) -> Groups:
    """The point of every record among all that there could be, in the order of their codes."""
    kernels = compiled("glasshouse.engines._kernels")
    keys = np.zeros(table.n_tuples, np.int32)
    for column in table.quasi:
        kernels.append_code(keys, column.codes, column.domain.size)
    return Groups(keys, math.prod(column.domain.size for column in table.quasi))
