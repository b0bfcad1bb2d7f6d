# SPDX-License-Identifier: Apache-2.0
"""Points for Snug: on every attribute of a node two borders to cut at, and what both parts of each would cost.

Tuples that are equal in every quasi-identifier are one point. Points lie in the order of all their codes, and cuts keep
that order inside both parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.engines import Cuts, Points, is_crowded
from glasshouse.grouping.perimeter import weighted_places
from glasshouse.grouping.sorting import joined, label_along, runs
from glasshouse.kernels import compiled, interpreted
from glasshouse.microdata.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.engines import Memory, Nodes
    from glasshouse.microdata import Column, Microdata

__all__ = ["Borders", "SnugPoints", "prospects"]

KERNELS = "glasshouse.grouping._snug_kernels"

# The points of a node are counted code by code if these spread over at most so many times their number, else sorted.
DENSE = 2
_SAFE = 2**62  # sums of widths and of costs below it fit into 64 bits
_FINE = 1024  # costs are counted in this fraction of a width


@dataclass(frozen=True, eq=False)
class Borders:
    """The borders of some nodes, two for each attribute (nodes x borders): between two values, and between two points.

    Attributes
    ----------
    value, ties
        The code after the border, and how many of the node's points with that code are before it.
    exists
        Whether there is one.
    costs
        What both parts would cost.
    """

    value: NDArray[np.int64]
    ties: NDArray[np.int64]
    exists: NDArray[np.bool_]
    costs: NDArray[Any]

    @property
    def cheapest_first(self) -> NDArray[np.intp]:
        """The borders of every node in order of cost, then of attribute, then of kind; last those that are none."""
        costs = np.where(self.exists, self.costs, int(self.costs.max(initial=0)) + 1)
        order: NDArray[np.intp] = np.argsort(costs, axis=1, kind="stable")
        return order


class SnugPoints(Points):
    """The points of a table, laid out for Snug's cuts.

    Parameters
    ----------
    table
        The microdata; it is copied, never changed.
    sensitive
        The sensitive columns to count.
    engine
        On whose threads points are sorted, where they are not counted.
    """

    def __init__(self, table: Microdata, sensitive: Sequence[Column], engine: Memory) -> None:
        crowded = is_crowded(table, engine.crowd)
        super().__init__(table, sensitive, None if crowded else sorted_points(table, engine))
        self._matrix = np.stack(self.codes)
        self.codes = list(self._matrix)
        self._moved[: len(self.codes)] = self.codes
        places = weighted_places(table)
        levels = [len(rows) for rows in self._ancestors]
        sizes = [domain.size for domain in self.domains]
        first = np.cumsum([[0, *sizes[:-1]], [0, *(n * m for n, m in zip(levels, sizes, strict=True))][:-1]], axis=1)
        self._layout = np.array([sizes, *first, levels], np.int64)
        self._ancestry = np.concatenate([rows.ravel() for rows in self._ancestors])
        widest = 2 * len(places.tables) * max(int(column[-1]) for column in places.tables)
        self._fits = widest < _SAFE
        self._cost: type = np.int64 if widest * _FINE * (table.n_tuples + 1) < _SAFE else object
        # Widths that do not fit into 64 bits are Python's integers: the same loops, interpreted.
        self._finding = compiled(KERNELS) if self._fits else interpreted(KERNELS)
        flat = np.concatenate(places.tables)
        self._places: Any = flat.astype(np.int64) if self._fits else flat.tolist()

    def borders(self, nodes: Nodes, unit: int, least: int) -> Borders:
        """Find the borders of every node: with room for groups of ``unit`` tuples, and ``least`` tuples in any part."""
        d, m = len(self.codes), len(nodes)
        found = np.empty((2 * d, 4, m), np.int64)
        widths: Any = np.empty(4 * d * m, np.int64) if self._fits else [0] * (4 * d * m)
        self._finding.find_borders(
            self._matrix,
            self._weights,
            nodes.starts,
            nodes.stops,
            self._ancestry,
            self._layout,
            np.array([unit, least, DENSE]),
            self._places,
            np.zeros(int(self._layout[0].max()) + 1, np.int32),
            np.empty(2 * int(nodes.sizes.max(initial=0)), np.int32),
            np.empty((2, d), np.int32),
            found,
            widths,
        )
        value, ties, left, right = found.transpose(1, 2, 0)
        wide: NDArray[Any] = np.asarray(widths, self._cost).reshape(2 * d, 2, m).transpose(1, 2, 0)
        costs = wide[0] * prospects(left, unit) + wide[1] * prospects(right, unit)
        return Borders(value, ties, left > 0, costs)

    def cut(self, nodes: Nodes, borders: Borders, which: NDArray[np.intp], chosen: NDArray[np.intp]) -> Cuts:
        """Mark the points that borders leave on their left: for each node, ``which`` it is, and the border chosen."""
        value, ties = borders.value[which, chosen].astype(np.int32), borders.ties[which, chosen]
        dims, left = chosen // 2, np.empty(len(nodes), np.int64)
        for dim in np.unique(dims).tolist():
            mine = np.flatnonzero(dims == dim)
            part, found = nodes[mine], np.empty(len(mine), np.int64)
            self._kernels.mark_sides(
                self.codes[dim], part.starts, part.stops, value[mine], ties[mine], self._is_left, found
            )
            left[mine] = found
        return Cuts(dims, left)


def prospects(sizes: NDArray[np.int64], unit: int) -> NDArray[np.int64]:
    """What a part costs for each unit of its width: the geometric mean of its size and of the size of its groups to be.

    A part of m tuples has room for ``m // unit`` groups (and is one in any case), of ``m / (m // unit)`` tuples on
    average. In units of 1/1024.

    >>> prospects(np.array([10, 19, 20, 1000]), 10).tolist()
    [10240, 19456, 14481, 102400]
    """
    groups = np.maximum(sizes // unit, 1)
    found: NDArray[np.int64] = np.floor(_FINE * np.sqrt(sizes * sizes / groups)).astype(np.int64)
    return found


def sorted_points(table: Microdata, engine: Memory) -> Groups:
    """The point of every tuple, numbered in the order of all codes, one attribute after another."""
    order, offsets = runs(joined([column.codes for column in table.quasi], engine), None, engine)
    return Groups(label_along(order, offsets, engine), len(offsets) - 1)
