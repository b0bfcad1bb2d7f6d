# SPDX-License-Identifier: Apache-2.0
"""Earth mover's distance from a group's sensitive values to the whole table's, decided in integers.

Li, Li, Venkatasubramanian, "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", ICDE 2007, Section 4, has three
ground distances between values, and all three are lengths of ways in a tree:

* *equal*: 1 between any two values. A star; from each value to its middle it is 1/2.
* *ordered*: ``|i - j| / (m - 1)`` for the i-th and j-th of m values. A line.
* *hierarchical*: height of the lowest common ancestor over height of the taxonomy. The taxonomy itself, where the step
  from a node up to its parent is half the difference of their heights long.

In a tree, all the earth that is in excess on one side of a step must cross that step, and nothing else need: the
distance is the sum over the steps of ``length * |P - Q|``, with P and Q the shares of group and whole on the same side.
Times ``scale * group size * whole size`` this is an integer, the *work*. For a taxonomy this is the paper's recursion,
``sum of height * min(pos_extra, neg_extra)`` over inner nodes, with each node's ``extra`` counted at its own step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.errors import InputError
from glasshouse.kernels import compiled, interpreted
from glasshouse.plural import counted
from glasshouse.principles.parameters import LARGEST, at_most

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.taxonomy.bound_taxonomy import BoundTaxonomy

__all__ = ["EarthMover"]

_KERNELS = "glasshouse.principles._kernels"


@dataclass(frozen=True, slots=True, eq=False)
class EarthMover:
    """A ground distance, bound to the distribution of the whole table.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from glasshouse.microdata.counts import Counts
    >>> mover = EarthMover.on_line(Counts.from_histograms([[1] * 9]))
    >>> group = Counts.from_histograms([[1, 1, 1, 0, 0, 0, 0, 0, 0]])
    >>> mover.within(group, Fraction("0.375")).tolist(), mover.within(group, Fraction("0.374")).tolist()
    ([True], [False])
    """

    kernel: str
    arrays: tuple[NDArray[Any], ...]  # what the kernel knows of the tree and of the whole table
    n_values: int
    scale: int
    whole: int  # tuples in the whole table

    @classmethod
    def on_star(cls, whole: Counts) -> EarthMover:
        """Every two values are at distance 1."""
        m = whole.n_values
        return cls._on_tree(whole, np.full(m + 1, m), np.ones(m + 1, np.int64), height=1)

    @classmethod
    def on_line(cls, whole: Counts) -> EarthMover:
        """The distance of codes on a line, scaled so that it is 1 from the first to the last."""
        m = whole.n_values
        cumulated = np.cumsum(whole.dense[0])
        large = m * int(whole.sizes[0]) > LARGEST  # then no group is judged in 64 bits
        sums = np.append(0, np.cumsum(cumulated.astype(object) if large else cumulated))
        return cls("line_work", (cumulated, sums), m, max(m - 1, 1), int(whole.sizes[0]))

    @classmethod
    def on_taxonomy(cls, whole: Counts, taxonomy: BoundTaxonomy) -> EarthMover:
        """The height of the lowest common ancestor of two values; a missing value is at distance 1 from all."""
        m, n_leaves = whole.n_values, len(taxonomy.leaves)
        heights = taxonomy.heights.astype(np.int64)
        height = max(int(heights[0]), 1)
        # values first, then inner nodes, then a root of our own, as high as the taxonomy's, that holds missing too
        inner = np.setdiff1d(np.arange(len(taxonomy)), taxonomy.leaves)
        root = m + len(inner)
        place = np.empty(len(taxonomy), np.int64)
        place[taxonomy.leaves] = np.arange(n_leaves)
        place[inner] = np.arange(m, root)
        parents = np.full(root + 1, root)
        lengths = np.full(root + 1, height)
        above = np.maximum(taxonomy.parents, 0)
        parents[place] = np.where(taxonomy.parents < 0, root, place[above])
        lengths[place] = np.where(taxonomy.parents < 0, height, heights[above]) - heights
        return cls._on_tree(whole, parents, lengths, height=height)

    @classmethod
    def _on_tree(
        cls, whole: Counts, parents: NDArray[np.int64], lengths: NDArray[np.int64], *, height: int
    ) -> EarthMover:
        root = len(parents) - 1
        masses = np.zeros(root + 1, np.int64)
        node = np.arange(whole.n_values)
        climbing = np.ones(len(node), np.bool_)
        while climbing.any():
            np.add.at(masses, node[climbing], whole.dense[0][climbing])
            climbing = climbing & (node != root)
            node = parents[node]
        arrays = (parents.astype(np.int32), lengths.astype(np.int64), masses)
        return cls("tree_work", arrays, whole.n_values, 2 * height, int(whole.sizes[0]))

    def within(self, counts: Counts, t: Fraction) -> NDArray[np.bool_]:
        """Whether each group is at distance t or less, exactly; false for an empty group."""
        if counts.n_values != self.n_values:
            raise InputError(
                f"the groups have {counted(counts.n_values, 'different value')}, but the table has "
                f"{self.n_values:,}: use "
                "groups of the same table"
            )
        per_tuple = self.scale * self.whole  # work is at most this, times the group's size
        fits = counts.sizes <= LARGEST // max(per_tuple + self.whole, 1)  # and so is every number on the way to it
        rows = np.flatnonzero(fits & (counts.sizes > 0))
        within = np.zeros(len(counts), np.bool_)
        within[rows] = at_most(self._work(counts, rows), t.denominator, counts.sizes[rows], t.numerator * per_tuple)
        for row in np.flatnonzero(~fits).tolist():
            most = int(counts.sizes[row]) * per_tuple
            within[row] = self._large_work(counts, row) * t.denominator <= most * t.numerator
        return within & (counts.sizes > 0)

    def _work(self, counts: Counts, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        work = np.empty(len(rows), np.int64)
        if not len(rows):
            return work
        scratch = np.zeros(len(self.arrays[0]), np.int64)
        getattr(compiled(_KERNELS), self.kernel)(rows, *counts.histogram, scratch, *self.arrays, work)
        return work

    def _large_work(self, counts: Counts, row: int) -> int:
        """Compute the work of one group in integers of any length: the same kernel, interpreted, on lists."""
        offsets, values, entries = counts.histogram
        group = slice(int(offsets[row]), int(offsets[row + 1]))
        listed = [values[group].tolist(), entries[group].tolist()]
        work = [0]
        kernel = getattr(_interpreted(), self.kernel)
        kernel([0], [0, len(listed[0])], *listed, [0] * len(self.arrays[0]), *(a.tolist() for a in self.arrays), work)
        return work[0]


@cache
def _interpreted() -> Any:
    return interpreted(_KERNELS)
