# SPDX-License-Identifier: Apache-2.0
"""Symmetric Grouping: halve the table along an order, again and again, while both halves are safe.

MINIMALITY 3.2, Appendix C.3 and Figure 7 (SG): the even-split counterpart of Greedy Grouping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse.engines import Memory, Nodes
from glasshouse.engines.sorting import along, label_along
from glasshouse.grouping.along_order.orderings import arranged, check_ordering
from glasshouse.grouping.cuts.even_split import Halving, claim_of_even_splits
from glasshouse.grouping.method import chosen_blindly
from glasshouse.microdata.counts import Counts
from glasshouse.microdata.groups import Groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Claim, Requirement
    from glasshouse.randomness import Source

__all__ = ["Symmetric"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Symmetric(Halving):
    """Sort records along an order and halve them; a half is halved again while both its halves satisfy the principle.

    MINIMALITY Figure 7. Of an odd number of records the left half gets one more.

    Parameters
    ----------
    extra
        Under frequency l-diversity of one column, groups satisfy (l + extra)-diversity. It is not used under other
        principles.
    ordering
        ``lexicographic`` or ``hilbert``: the order in which similar records are neighbours.
    priority
        Names of quasi-identifiers, the most important first; the others follow in the table's order.

    Guarantee
    ---------
    As `EvenSplit`: under frequency l-diversity with ``extra`` at least 1, an *algorithm-aware* attacker gives no
    sensitive value of anybody a probability above 1/l (MINIMALITY Theorem 5); otherwise the principle holds against a
    *linking* attacker.

    Cost
    ----
    O(n d) for the order and O(n log n) for the halves, which are independent of each other; both use all threads.

    Examples
    --------
    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.transparent_t1()
    >>> groups = Symmetric(extra=0).divide(table, Requirement.of(LDiversity(ell=2), table))
    >>> sorted(groups.sizes.tolist())
    [2, 2, 2, 2]
    """

    name: ClassVar[str] = "symmetric"
    in_words: ClassVar[str] = (
        "People are sorted once. The sorted list is halved, and each half again, as long as both halves satisfy the "
        "principle."
    )

    ordering: str = "lexicographic"
    priority: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        Halving.__post_init__(self)
        object.__setattr__(self, "priority", check_ordering("Symmetric", self.ordering, self.priority))

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups guarantee, against which attacker, and why."""
        return claim_of_even_splits(requirement, self.extra, chosen_blindly(self, "priority"))

    def _halved(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide ``table`` along the order; ties of the order are broken by ``source``."""
        order = arranged(table, self.ordering, self.priority, source, engine)
        columns = [(along(c.codes, order, engine), c.domain.size) for c in requirement.columns]
        offsets = _borders(columns or [(np.zeros(len(order), np.int32), 1)], requirement, engine)
        return Groups(label_along(order, offsets, engine), len(offsets) - 1)


def _borders(
    columns: list[tuple[NDArray[np.int32], int]], requirement: Requirement, engine: Memory
) -> NDArray[np.int64]:
    """The borders of the groups along the order, from the first to the last."""

    def step(nodes: Nodes) -> tuple[Nodes, Nodes]:
        """Halve every node of which both halves are safe; the others are groups. Nodes come from left to right."""
        middles = nodes.starts + (nodes.sizes + 1) // 2
        # the halves of all nodes, and what lies between nodes; nothing is empty
        ends = np.stack([nodes.starts, middles, nodes.stops], axis=1).ravel()
        fresh = np.diff(ends, prepend=-1) > 0
        number = np.cumsum(fresh) - 1  # of what begins there
        holds = requirement.holds([Counts(codes, ends[fresh], n_values) for codes, n_values in columns])
        left, right = holds[number[0::3]], holds[np.minimum(number[1::3], len(holds) - 1)]
        cut = left & right & (middles < nodes.stops)
        starts, stops = nodes.starts[cut], nodes.stops[cut]
        halves = (starts, middles[cut]), (middles[cut], stops)
        return Nodes(*(np.stack(ends, axis=1).ravel() for ends in halves)), nodes[~cut]

    n = len(columns[0][0])
    leaves = engine.visit(Nodes(np.array([0]), np.array([n])), step)
    return np.append(np.sort(leaves.starts), n)
