# SPDX-License-Identifier: Apache-2.0
"""Mondrian: halve the table again and again, at the median of its widest attribute, while both parts stay safe.

LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006; as read by Cormode et al. in
MINIMALITY 2.3. Departures: a strict cut is made at the border between two values that divides most evenly (LeFevre's
median value may leave one side empty where another border would not); the same cut loop serves any monotone principle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from glasshouse.engines import Cuts, Memory, Nodes, Points, Rows, is_crowded
from glasshouse.errors import ParameterError
from glasshouse.grouping.method import Method, check_monotone, linking_claim, quasi_claim
from glasshouse.grouping.perimeter import Places, weighted_places
from glasshouse.grouping.top.piece import bound_to, pieces_of_groups, whole_piece
from glasshouse.microdata.groups import tie_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.grouping.top.piece import Piece
    from glasshouse.microdata import Groups, Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.principle import Claim, Requirement
    from glasshouse.randomness import Source

__all__ = ["Mondrian", "both_hold", "claim_of_cuts", "widest_first"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mondrian(Method):
    """Divide top-down: try the attributes from the widest to the narrowest, and make the first median cut that is safe.

    A node tries its attributes in order of normalised width (its range over the table's range; ties by the order of
    ``quasi=``). The first cut of which both parts satisfy the principle is made; a node with no such cut is a group.

    Parameters
    ----------
    partitioning
        ``strict``: records with equal values stay together; a cut lies between two values (on an attribute with a
        taxonomy, between two children of the lowest common ancestor of the node's values).
        ``relaxed``: records on the median go to either side, in tie order, so that the parts' sizes differ by at most
        1.

    Guarantee
    ---------
    Every group satisfies the principle, so a *linking* attacker, who knows the quasi-identifiers, learns no more than
    the principle allows. Against an attacker who also knows this algorithm nothing is guaranteed if the principle looks
    at sensitive values: a cut that was not made shows that a part would have broken the principle (MINIMALITY 2.4, Fig.
    6(b)). Under k-anonymity alone no cut depends on a sensitive value, so that knowing the algorithm does not help the
    attacker.

    Cost
    ----
    O(n d log n) time: about log2(n / group size) levels, each a few passes over the columns; 4 (d + 3) bytes per
    record. Strict cuts of a table with many records for every combination of values work on the combinations: O(n d)
    time.

    Examples
    --------
    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.transparent_t1()
    >>> groups = Mondrian().divide(table, Requirement.of(LDiversity(ell=2), table))
    >>> sorted(groups.sizes.tolist())
    [2, 2, 4]
    """

    name: ClassVar[str] = "mondrian"
    in_words: ClassVar[str] = (
        "The table is cut in two at the median of the quasi-identifier with the widest range, or of the next widest "
        "if that is not allowed, and each part again, as long as both parts satisfy the principle."
    )
    judges_only: ClassVar[bool] = True

    partitioning: str = "strict"

    def __post_init__(self) -> None:
        if self.partitioning not in ("strict", "relaxed"):
            raise ParameterError("Mondrian", "partitioning", "'strict' or 'relaxed'", self.partitioning)

    @classmethod
    def usual(cls) -> tuple[Mondrian, ...]:
        """Both partitionings, strict and relaxed, which are both in use."""
        return cls(), cls(partitioning="relaxed")

    @property
    def by_counts(self) -> bool:
        """Strict cuts are made on counts of points; relaxed cuts need everybody in memory."""
        return self.partitioning == "strict"

    @property
    def disjoint(self) -> bool:
        """Strict cuts lie between two values."""
        return self.partitioning == "strict"

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups guarantee, against which attacker, and why."""
        return claim_of_cuts("Mondrian", requirement)

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide ``table`` into groups that satisfy ``requirement``; ``source`` breaks the ties of relaxed cuts."""
        return self._cut(self._rows(table, requirement, source, engine), table, requirement, engine)

    def pieces(self, kinds: Kinds, requirement: Requirement, source: Source, most: int) -> list[Piece]:
        """Make the strict cuts on counts; they never divide a point, so nothing is left to do for pieces."""
        if self.partitioning != "strict":
            return [whole_piece(kinds)]
        found = self.cut_kinds(kinds, requirement)
        return pieces_of_groups(kinds, found.labels, found.n_groups, most)

    def cut_kinds(self, kinds: Kinds, requirement: Requirement) -> Groups:
        """The group of every kind, by strict cuts, which never part people with equal quasi-identifiers."""
        own = bound_to(requirement, kinds.table)
        points = Points(kinds.table, own.columns, kinds.points(), kinds.counts)
        return self._cut(points, kinds.table, own, Memory())

    def _cut(self, rows: Rows, table: Microdata, requirement: Requirement, engine: Memory) -> Groups:
        """Cut records or points as long as both parts of a cut are safe."""
        check_monotone(requirement, "Mondrian")
        places = weighted_places(table)

        def step(nodes: Nodes) -> tuple[Nodes, Nodes]:
            """Cut every node once: return the parts of those that could be cut, and the others, which are groups."""
            low, high = rows.extents(nodes)
            by_width = widest_first(low, high, places)
            whole = np.arange(len(nodes))
            parts = []
            for attempt in range(len(rows.domains)):
                dims = by_width[whole, attempt]
                tried = whole[high[whole, dims] > low[whole, dims]]
                cuts = self._cuts(rows, nodes[tried], by_width[tried, attempt])
                safe = both_hold(rows, nodes[tried], cuts, requirement)
                if safe.any():
                    parts.append(rows.split(nodes[tried[safe]], cuts[safe]))
                whole = np.setdiff1d(whole, tried[safe], assume_unique=True)
            return Nodes.join(parts), nodes[whole]

        return rows.groups(engine.visit(rows.whole(), step))

    def _rows(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Rows:
        if self.partitioning == "strict":  # equal values stay together: the groups are a function of values alone
            crowded = is_crowded(table, engine.crowd)
            return Points(table, requirement.columns) if crowded else Rows(table, requirement.columns, None)
        return Rows(table, requirement.columns, tie_order(table, source))

    def _cuts(self, rows: Rows, nodes: Nodes, dims: NDArray[np.intp]) -> Cuts:
        return rows.median_cuts(nodes, dims) if self.partitioning == "strict" else rows.half_cuts(nodes, dims)


def claim_of_cuts(method: str, requirement: Requirement) -> Claim:
    """What a method promises that makes the first cut of several that leaves both parts safe."""
    if not requirement.columns:
        return quasi_claim()
    return linking_claim(
        f"an attacker who knows that {method} was used can learn more: where a group was not cut further, a part "
        "would have broken the principle (minimality attack)"
    )


def widest_first(low: NDArray[np.int32], high: NDArray[np.int32], places: Places) -> NDArray[np.intp]:
    """Attributes of every node from the widest to the narrowest; those with a single code last (nodes x attributes).

    All attributes span the same length in places, so shares of the whole table's width compare as whole numbers.
    """
    widths = np.stack([table[high[:, dim]] - table[low[:, dim]] for dim, table in enumerate(places.tables)], axis=1)
    widths[high == low] = -1
    order: NDArray[np.intp] = np.argsort(-widths, axis=1, kind="stable")
    return order


def both_hold(rows: Rows, nodes: Nodes, cuts: Cuts, requirement: Requirement) -> NDArray[np.bool_]:
    """Which cuts exist and leave both parts safe."""
    safe = cuts.possible.copy()
    if safe.any():
        holds: NDArray[Any] = requirement.holds(rows.count(nodes[safe], cuts[safe]))
        safe[safe] = holds[0::2] & holds[1::2]
    return safe
