# SPDX-License-Identifier: Apache-2.0
"""Points: tuples that are equal in every quasi-identifier, laid out as one item each.

A strict cut never parts such tuples, so it is found and made on points, each with the number and the sensitive
histograms of its tuples. A table of millions about a few hundred thousand kinds of people is divided at the cost of
these; the tuples themselves are read three times.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.engines.memory import Cuts, Nodes, Rows
from glasshouse.kernels import compiled
from glasshouse.microdata.counts import Counts
from glasshouse.microdata.domains import Column
from glasshouse.microdata.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.table import Microdata

__all__ = ["Points"]


class Points(Rows):
    """The points of a table, laid out for strict cuts; nodes are runs of points.

    ``tuples`` is the point of every tuple, numbered in the order of all codes, one attribute after another. Without it
    points are found by counting all that there could be, which must fit into 31 bits.
    """

    def __init__(self, table: Microdata, sensitive: Sequence[Column], tuples: Groups | None = None) -> None:
        self._tuples = _counted(table) if tuples is None else tuples
        self._used = np.flatnonzero(self._tuples.sizes)
        example = np.empty(self._tuples.n_groups, np.int32)  # of every point: one of its tuples
        example[self._tuples.labels] = np.arange(table.n_tuples, dtype=np.int32)
        points = tuple(Column(column.domain, column.codes[example[self._used]]) for column in table.quasi)
        super().__init__(replace(table, quasi=points, identifier=None, n_tuples=len(self._used)), (), None)
        self._weights = self._tuples.sizes[self._used].astype(np.int32)
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
        """Where each point's sensitive values begin, the values, and how many tuples have each."""
        offsets, values, counts = self._tuples.counts(column).histogram
        return np.append(offsets[self._used], offsets[-1]), values, counts.astype(np.int32)

    def _median_cuts(self, dim: int, nodes: Nodes, value: NDArray[np.int32], ties: NDArray[np.int64]) -> None:
        ancestors, scratch = self._ancestors[dim], self._scratch(dim, nodes)
        # Nodes are disjoint boxes, so their widths together are at most the points that there could be: codes are
        # always counted, never sorted.
        widest = self.domains[dim].size
        self._kernels.median_cuts(
            self.codes[dim], nodes.starts, nodes.stops, ancestors, widest, *scratch, value, self._weights
        )


def _counted(table: Microdata) -> Groups:
    """The point of every tuple among all that there could be, in the order of their codes."""
    kernels = compiled("glasshouse.engines._kernels")
    keys = np.zeros(table.n_tuples, np.int32)
    for column in table.quasi:
        kernels.append_code(keys, column.codes, column.domain.size)
    return Groups(keys, math.prod(column.domain.size for column in table.quasi))
