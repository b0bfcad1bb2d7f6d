# SPDX-License-Identifier: Apache-2.0
"""Halving: packed tuples divided by Mirror's rule, one candidate a node, into halves of equal size.

The candidate is found by quasi-identifiers alone. The halves are moved apart before they are tested: so a leaf whose
test failed lies with its left half before its right half.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.engines import Nodes
from glasshouse.grouping.method import is_frequency_diversity
from glasshouse.kernels import compiled, interpreted
from glasshouse.microdata.counts import Counts
from glasshouse.principles.l_diversity import LDiversity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.grouping.packed import PackedRows
    from glasshouse.grouping.perimeter import Places
    from glasshouse.principles.requirement import Requirement

__all__ = ["HalvedRows", "Thresholds"]

KERNELS = "glasshouse.grouping._mirror_kernels"

_STACK = 80  # of two halves one waits, so a table of 2^31 tuples needs 32 places
_SAFE = 2**62  # sums of widths below it fit into 64 bits


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Where the work changes its way; no choice changes a half.

    Attributes
    ----------
    dense
        The codes of a node are counted if they spread over at most this many times its size, and else sorted.
    strip
        After so many tuples, the boxes of halves are looked at: whether they can grow any more.
    small
        Nodes of at most so many tuples are divided to the end at once, while they are in the processor's cache.
    """

    dense: int = 2
    strip: int = 8
    small: int = 1 << 14


class HalvedRows:
    """The tuples of a table, packed, and their division.

    Parameters
    ----------
    packed
        The tuples, in tie order inside every block; they are moved.
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
        self._pool: list[_Scratch] = []
        joined = np.concatenate(places.tables)
        fits = 2 * len(places.tables) * int(joined.max(initial=0)) < _SAFE
        self._moving = compiled(KERNELS)
        # Widths that do not fit into 64 bits are Python's integers: the same loops, interpreted.
        self._halving = self._moving if fits else interpreted(KERNELS)
        self._places: Any = joined.astype(np.int64) if fits else joined.tolist()

    def divide(self, start: int, k: int, n: int, requirement: Requirement, engine: Memory) -> Nodes:
        """Halve the ``n`` tuples from ``start`` on, and return the leaves; those of k tuples were not tested."""
        root = Nodes(np.array([start]), np.array([start + n]))
        principle = requirement.parts[0].principle
        if is_frequency_diversity(requirement) and isinstance(principle, LDiversity):
            return engine.visit(root, partial(self._divided, min(principle.ell, n + 1), k))
        return engine.visit(root, partial(self._halved, requirement, k))

    def take(self, nodes: Nodes) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """The sensitive codes and the row numbers of some nodes, node after node, and where each node begins."""
        offsets = np.concatenate([[0], np.cumsum(nodes.sizes)])
        codes, numbers = np.empty((2, int(offsets[-1])), np.int32)
        self._moving.sensitive_codes(self.packed.tuples, self._stride, nodes.starts, nodes.stops, codes, numbers)
        return codes, numbers, offsets

    def taken(self, nodes: Nodes) -> tuple[PackedRows, NDArray[np.int32], NDArray[np.int64]]:
        """Some nodes as packed rows of their own, numbered anew; their row numbers, and where each node begins.

        They lie in memory that halving uses too.
        """
        offsets = np.concatenate([[0], np.cumsum(nodes.sizes)])
        part, numbers = copy(self.packed), np.empty(int(offsets[-1]), np.int32)
        part.tuples, part.n_tuples = self._spare[: len(numbers) * self._stride], len(numbers)
        self._moving.take_nodes(self.packed.tuples, self._stride, nodes.starts, nodes.stops, part.tuples, numbers)
        return part, numbers, offsets

    def _divided(self, ell: int, k: int, nodes: Nodes) -> tuple[Nodes, Nodes]:
        """Halve nodes under frequency l-diversity, small ones to the end: what may be halved further, and leaves."""
        scratch = self._scratch(ell, k)
        n_parts = 2 * len(nodes)
        leaves = np.empty((2, int(nodes.sizes.sum()) // k + 1), np.int64)
        parts, made = np.empty((2, n_parts), np.int64), np.zeros(2, np.int64)
        self._halving.divide_nodes(
            self.packed.tuples,
            self._spare,
            scratch.close,
            nodes.starts,
            nodes.stops,
            *self._shared(scratch),
            scratch.histogram,
            scratch.stack,
            leaves,
            parts,
            made,
        )
        self._pool.append(scratch)
        done, left = made.tolist()
        return Nodes(*parts[:, :left].copy()), Nodes(*leaves[:, :done].copy())

    def _halved(self, requirement: Requirement, k: int, nodes: Nodes) -> tuple[Nodes, Nodes]:
        """Halve nodes once under any requirement: the halves of those that could be halved, and leaves."""
        untested, nodes = nodes[nodes.sizes <= k], nodes[nodes.sizes > k]
        if not len(nodes):
            return nodes, untested
        scratch = self._scratch(1, k)
        self._halving.halve_nodes(self.packed.tuples, self._spare, nodes.starts, nodes.stops, *self._shared(scratch))
        self._pool.append(scratch)
        middles = (nodes.starts + nodes.stops) // 2
        holds = requirement.holds(self._counts(nodes, requirement))
        both = holds[0::2] & holds[1::2]
        starts = np.stack([nodes.starts, middles], axis=1)[both].ravel()
        stops = np.stack([middles, nodes.stops], axis=1)[both].ravel()
        return Nodes(starts, stops), Nodes.join([untested, nodes[~both]])

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

    def _shared(self, scratch: _Scratch) -> tuple[Any, ...]:
        """What kernels need to choose a candidate."""
        return (
            scratch.limits,
            self.packed.layout,
            self.packed.fields,
            self._places,
            self._dims,
            scratch.tally,
            scratch.codes,
            scratch.median,
            scratch.boxes,
        )

    def _scratch(self, ell: int, k: int) -> _Scratch:
        try:
            scratch = self._pool.pop()
        except IndexError:
            scratch = _Scratch(self.packed, len(self._dims), self._thresholds)
        scratch.limits[[0, 4]] = ell, k
        return scratch


class _Scratch:
    """What one thread works with; zeros where the kernel expects zeros."""

    def __init__(self, rows: PackedRows, n_dims: int, t: Thresholds) -> None:
        words, n = rows.n_words, rows.n_tuples
        sorted_at_most = min(n, max(rows.sizes) // t.dense + 1) if t.dense else n
        self.limits = np.array([1, words, len(rows.sizes), rows.n_values, 1, t.dense, t.strip, t.small], np.int64)
        self.close = np.empty((t.small // 2 + 2) * (words + 1), np.uint64)
        self.tally = np.zeros(sum(rows.sizes), np.int64)
        self.codes = np.empty(2 * sorted_at_most, np.int32)
        self.median = np.zeros((3, n_dims + 1), np.int64)
        self.boxes = np.zeros((4 * n_dims + 1) * words, np.uint64)
        self.histogram = np.zeros(rows.n_values, np.int64)
        self.stack = np.empty((2, _STACK), np.int64)
