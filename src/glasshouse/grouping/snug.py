# SPDX-License-Identifier: Apache-2.0
"""Snug: cut the table in two again and again, each time where the parts promise the smallest boxes.

A method of this project, and a descendant of Mondrian. Mondrian halves at the median, so that groups have between k and
2 k - 1 people, one and a half times k on average. Snug may also cut where no room for a group is lost, and most groups
have k; and it cuts along the attribute that leaves the least, not along the widest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse.engines import Nodes
from glasshouse.grouping.method import Method, check_monotone, least_size
from glasshouse.grouping.mondrian import both_hold, claim_of_cuts
from glasshouse.grouping.snug_points import SnugPoints

if TYPE_CHECKING:
    from glasshouse.engines import Memory
    from glasshouse.microdata import Groups, Microdata
    from glasshouse.principles.adversaries import Claim
    from glasshouse.principles.requirement import Requirement
    from glasshouse.randomness import Source

__all__ = ["Snug"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Snug(Method):
    """Divide top-down: of two cuts on every attribute make the cheapest that leaves both parts safe.

    People who are equal in all quasi-identifiers stay together. With k the least size that the principle names (its k
    or l; 8 if it names none), a node of n tuples is put in order of an attribute's values, and where these are equal in
    order of all quasi-identifiers, one after another. Two cuts are tried:

    * between two values, as strict `Mondrian` does, where it divides most evenly;
    * between any two people who are not equal, so that no group is lost: with l and r tuples in the parts, k or more,
      ``l // k + r // k == n // k``. Again where it divides most evenly.

    A part of m tuples has room for ``g = max(m // k, 1)`` groups of ``m / g`` tuples on average. It costs the sum of
    its widths, each as a share of the attribute's range in the table, times the geometric mean of m and m / g: between
    what it costs as it is, and what its people would cost in groups as wide as it. Cuts are tried in order of the cost
    of both parts; the first that leaves both safe is made, and a node with no such cut is a group. Ties go to the first
    attribute in order of ``quasi=``, then to the cut between values, then to the smaller left part.

    Guarantee
    ---------
    Every group satisfies the principle, so a *linking* adversary, who knows the quasi-identifiers, learns what the
    principle allows. Under k-anonymity alone no cut depends on a sensitive value: an *algorithm-aware* one, where boxes
    overlap, finds out who is in which group, and then believes the shares of that group, as k-anonymity lets her. Under
    any other principle it promises nothing against her, as `Mondrian` does not: a cut that was not made tells her that
    a part would have broken the principle.

    Cost
    ----
    O(n d) time to find those who are equal; with p different combinations of values O(p d^2 log p), a few passes a
    level. Ten million tuples with 150,000 combinations take a fifth of the time of sorting ten million numbers; a
    million that are all different take fourteen times as long as sorting a million, twice as long as `Mondrian`.
    Memory: 4 (d + 5) bytes a combination. No choice is random: rows in any order give the same groups.

    Examples
    --------
    Mondrian halves these six people and stops; they have room for three groups of two:

    >>> import glasshouse as gh
    >>> table = gh.read({"age": [20, 21, 30, 31, 40, 41]}, quasi=["age"])
    >>> requirement = gh.principles.Requirement.of(gh.KAnonymity(k=2), table)
    >>> gh.Mondrian().divide(table, requirement).sizes.tolist(), Snug().divide(table, requirement).sizes.tolist()
    ([3, 3], [2, 2, 2])
    """

    name: ClassVar[str] = "snug"

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups promise: against whom, and why."""
        return claim_of_cuts("Snug", requirement)

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide ``table`` into groups that satisfy ``requirement``; nothing is drawn from ``source``."""
        check_monotone(requirement, "Snug")
        points = SnugPoints(table, requirement.columns, engine)
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
