# SPDX-License-Identifier: Apache-2.0
"""Snug: cut the table in two again and again, each time where the parts are expected to have the smallest boxes.

A method of this project, and a descendant of Mondrian. Mondrian halves at the median, so that groups have between k and
2 k - 1 people, one and a half times k on average. Snug may also cut where no room for a group is lost, and most groups
have k; and it cuts along the attribute that leaves the least, not along the widest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from glasshouse.engines import Cuts, Memory, Nodes, Points, is_crowded
from glasshouse.engines.sorting import joined, label_along, runs
from glasshouse.grouping.cuts.mondrian import both_hold, claim_of_cuts
from glasshouse.grouping.method import Method, check_monotone, least_size
from glasshouse.grouping.perimeter import weighted_places
from glasshouse.grouping.top.piece import bound_to, pieces_of_groups
from glasshouse.kernels import compiled, interpreted
from glasshouse.microdata.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.grouping.top.piece import Piece
    from glasshouse.microdata import Column, Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.principle import Claim, Requirement
    from glasshouse.randomness import Source

__all__ = ["Borders", "Snug", "SnugPoints", "prospects"]

KERNELS = "glasshouse.grouping.cuts._snug_kernels"

# The points of a node are counted code by code if these spread over at most so many times their number, else sorted.
DENSE = 2
_SAFE = 2**62  # sums of widths and of costs below it fit into 64 bits
_FINE = 1024  # costs are counted in this fraction of a width


@dataclass(frozen=True, kw_only=True, slots=True)
class Snug(Method):
    """Divide top-down: of two cuts on every attribute make the cheapest that leaves both parts safe.

    People who are equal in all quasi-identifiers stay together. With k the least size that the principle names (its k
    or l; 8 if it names none), a node of n records is put in order of an attribute's values, and where these are equal
    in order of all quasi-identifiers, one after another. Two cuts are tried:

    * between two values, as strict `Mondrian` does, where it divides most evenly;
    * between any two people who are not equal, so that no group is lost: with l and r records in the parts, k or more,
      ``l // k + r // k == n // k``. Again where it divides most evenly.

    A part of m records has room for ``g = max(m // k, 1)`` groups of ``m / g`` records on average. It costs the sum of
    its widths, each as a share of the attribute's range in the table, times the geometric mean of m and m / g: between
    what it costs as it is, and what its people would cost in groups as wide as it. Cuts are tried in order of the cost
    of both parts; the first that leaves both safe is made, and a node with no such cut is a group. Ties go to the first
    attribute in order of ``quasi=``, then to the cut between values, then to the smaller left part.

    Guarantee
    ---------
    Every group satisfies the principle, so a *linking* attacker, who knows the quasi-identifiers, learns no more than
    the principle allows. Under k-anonymity alone no cut depends on a sensitive value: an *algorithm-aware* attacker
    finds out, where boxes overlap, who is in which group, and the probabilities are then the shares of that group, as
    k-anonymity allows. Under any other principle nothing is guaranteed against such an attacker, as for `Mondrian`: a
    cut that was not made shows that a part would have broken the principle.

    Cost
    ----
    O(n d) time to find those who are equal; with p different combinations of values O(p d^2 log p), a few passes a
    level. Ten million records with 150,000 combinations take a fifth of the time of sorting ten million numbers; a
    million that are all different take fourteen times as long as sorting a million, twice as long as `Mondrian`.
    Memory: 4 (d + 5) bytes a combination. No choice is random: rows in any order give the same groups.

    Examples
    --------
    Mondrian halves these six people and stops; they have room for three groups of two:

    >>> import glasshouse as gh
    >>> from glasshouse.principles.principle import Requirement
    >>> table = gh.read({"age": [20, 21, 30, 31, 40, 41]}, quasi=["age"])
    >>> requirement = Requirement.of(gh.KAnonymity(k=2), table)
    >>> gh.Mondrian().divide(table, requirement).sizes.tolist(), Snug().divide(table, requirement).sizes.tolist()
    ([3, 3], [2, 2, 2])
    """

    name: ClassVar[str] = "snug"
    in_words: ClassVar[str] = (
        "The table is cut in two where both parts are expected to have the smallest ranges of quasi-identifiers, and "
        "each part again, as long as both are safe. People with equal quasi-identifiers stay together."
    )

    @property
    def by_counts(self) -> bool:
        """The top is divided as counts."""
        return True

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups guarantee, against which attacker, and why."""
        return claim_of_cuts("Snug", requirement)

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide ``table`` into groups that satisfy ``requirement``; ``source`` is not used."""
        crowded = is_crowded(table, engine.crowd)
        points = SnugPoints(table, requirement.columns, None if crowded else sorted_points(table, engine))
        return self._cut(points, requirement, engine)

    def pieces(self, kinds: Kinds, requirement: Requirement, source: Source, most: int) -> list[Piece]:
        """Make the cuts on counts; they never divide a point, so nothing is left to do for pieces."""
        own = bound_to(requirement, kinds.table)
        found = self._cut(SnugPoints(kinds.table, own.columns, kinds.points(), kinds.counts), own, Memory())
        return pieces_of_groups(kinds, found.labels, found.n_groups, most)

    def _cut(self, points: SnugPoints, requirement: Requirement, engine: Memory) -> Groups:
        """Cut points as long as there is a border with two safe parts."""
        check_monotone(requirement, "Snug")
        unit = least_size(requirement)
        least = requirement.smallest_group or 1  # smaller parts are not safe, and need not be looked at

        def step(nodes: Nodes) -> tuple[Nodes, Nodes]:
            """Cut every node once: return the parts of those that could be cut, and the others, which are groups."""
            borders = points.borders(nodes, unit, least)
            order = borders.cheapest_first
            whole = np.arange(len(nodes))
            leaves, parts = [], []
            for attempt in range(order.shape[1]):
                exists = borders.exists[whole, order[whole, attempt]]
                leaves.append(whole[~exists])  # nor is there another
                whole = whole[exists]
                tried = nodes[whole]
                cuts = points.cut(tried, borders, whole, order[whole, attempt])
                # Under k-anonymity all borders leave two parts that are large enough.
                safe = both_hold(points, tried, cuts, requirement) if requirement.columns else cuts.possible
                if safe.any():
                    parts.append(points.split(tried[safe], cuts[safe]))
                whole = whole[~safe]
                if not len(whole):
                    break
            return Nodes.join(parts), nodes[np.concatenate([*leaves, whole])]

        return points.groups(engine.visit(points.whole(), step))


# ------------------------------------- points, which lie in the order of all their codes, inside both parts of cuts too


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
        """The borders of every node by cost, then by attribute, then by kind; borders that do not exist come last."""
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
    tuples, counts
        As in `Points`.
    """

    def __init__(
        self,
        table: Microdata,
        sensitive: Sequence[Column],
        tuples: Groups | None = None,
        counts: NDArray[np.int64] | None = None,
    ) -> None:
        super().__init__(table, sensitive, tuples, counts)
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
        n_tuples = table.n_tuples if counts is None else int(counts.sum())
        self._cost: type = np.int64 if widest * _FINE * (n_tuples + 1) < _SAFE else object
        # Widths that do not fit into 64 bits are Python's integers: the same loops, interpreted.
        self._finding = compiled(KERNELS) if self._fits else interpreted(KERNELS)
        flat = np.concatenate(places.tables)
        self._places: Any = flat.astype(np.int64) if self._fits else flat.tolist()

    def borders(self, nodes: Nodes, unit: int, least: int) -> Borders:
        """Find the borders of every node: with room for groups of ``unit`` records, at least ``least`` in any part."""
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

    A part of m records has room for ``m // unit`` groups (and is one in any case), of ``m / (m // unit)`` records on
    average. In units of 1/1024.

    >>> prospects(np.array([10, 19, 20, 1000]), 10).tolist()
    [10240, 19456, 14481, 102400]
    """
    groups = np.maximum(sizes // unit, 1)
    found: NDArray[np.int64] = np.floor(_FINE * np.sqrt(sizes * sizes / groups)).astype(np.int64)
    return found


def sorted_points(table: Microdata, engine: Memory) -> Groups:
    """The point of every record, numbered in the order of all codes, one attribute after another."""
    order, offsets = runs(joined([column.codes for column in table.quasi], engine), None, engine)
    return Groups(label_along(order, offsets, engine), len(offsets) - 1)
