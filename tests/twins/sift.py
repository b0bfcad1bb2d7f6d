# SPDX-License-Identifier: Apache-2.0
"""Sift, slowly: a method of this project, as the documentation defines it (docs/methods/sift.md).

Nodes are halved as Mirror's twin halves them, and leaves are dealt as the twin of Anatomize deals varied groups. K is
found by trying all numbers.

Each random choice can be replaced, and the certificate can be turned into a test, so that tests can show what a
shortcut costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tests.twins.anatomize import Line, shuffled, varied
from tests.twins.mirror import Mirror
from tests.twins.mondrian import Partition, Place, Row
from tests.twins.transparent import Draws, chosen, diverse

__all__ = ["Decision", "Sift", "decide"]

Take = Callable[[list[int], int, Draws], list[int]]  # takes so many of these rows


@dataclass(frozen=True)
class Decision:
    """For a node that is halved, the K of step 3 (0 in step 2), and how many of each value are set aside."""

    k: int
    aside: Counter[int]


def decide(counts: Counter[int], ell: int) -> Decision | None:
    """Steps 1 to 3, for a node with so many people of each value; None for a leaf."""
    h, n = +counts, counts.total()
    if n < 2 * ell or len(h) < 2 * ell:
        return None
    if max(h.values()) <= n // 2 // ell:
        return Decision(0, Counter())
    possible = [k for k in range(1, n + 1) if _is_possible(h, ell, k)]
    if not possible:
        return None
    k = max(possible)
    m = n // ell - 2 * k
    above = {value: max(0, h[value] - k) for value in h}
    room = {value: min(h[value], m) - above[value] for value in h}
    needed, total = n - 2 * ell * k - sum(above.values()), sum(room.values())
    aside: Counter[int] = Counter()
    for value in sorted(h):
        before = sum(room[other] for other in h if other < value)
        more = needed * (before + room[value]) // total - needed * before // total if needed else 0
        aside[value] = above[value] + more
    return Decision(k, +aside)


def _is_possible(h: Counter[int], ell: int, k: int) -> bool:
    """The three conditions of step 3."""
    n = h.total()
    m = n // ell - 2 * k
    return (
        k <= n // ell - max(h.values())
        and sum(min(times, k) for times in h.values()) >= 2 * ell * k
        and sum(min(times, m) for times in h.values()) >= n - 2 * ell * k
    )


@dataclass(frozen=True, kw_only=True)
class Sift:
    """The method for one table: `groups` makes all random choices by the draws that it is given.

    Parameters
    ----------
    rows, positions
        The whole table, and per dimension and code the place on the axis.
    ell
        The l of l-diversity.
    dims
        The dimensions in the order in which they break ties, if not all in their own; others are never halved.
    weights
        How much the width of each dimension counts, if not all alike.
    tests
        Whether a node is halved if its own halves are safe, and is a leaf if not (a fault).
    take
        Who of those with a value is set aside.
    line
        In which order the people of a leaf who have the same value get the places of their value.
    """

    rows: Sequence[Row]
    positions: Sequence[Sequence[Place]]
    ell: int
    dims: Sequence[int] | None = None
    weights: Sequence[Fraction] | None = None
    tests: bool = False
    take: Take = chosen
    line: Line = shuffled

    def groups(self, draws: Draws) -> Partition:
        """All groups; none where the table is not l-diverse."""
        everybody = list(range(len(self.rows)))
        if not diverse(self.rows, everybody, self.ell):
            return set()
        order = sorted(everybody, key=lambda i: (self.rows[i][0], i))
        numbered = replace(self, rows=[self.rows[i] for i in order])
        return {frozenset(order[i] for i in group) for group in numbered._node(everybody, draws)}

    def _node(self, node: list[int], draws: Draws) -> Partition:
        if self.tests:
            halves = self.halves(node) if len(node) >= 2 * self.ell else ()
            if not halves or not all(diverse(self.rows, half, self.ell) for half in halves):
                return self._leaf(node, draws)
            return self._node(halves[0], draws) | self._node(halves[1], draws)
        decision = decide(Counter(self.rows[i][1] for i in node), self.ell)
        if decision is None:
            return self._leaf(node, draws)
        aside: list[int] = []
        for value in sorted(decision.aside):
            aside += self.take([i for i in node if self.rows[i][1] == value], decision.aside[value], draws)
        left, right = self.halves([i for i in node if i not in aside])
        found = self._leaf(aside, draws) if aside else set()
        return found | self._node(left, draws) | self._node(right, draws)

    def halves(self, node: list[int]) -> tuple[list[int], list[int]]:
        """Step 4: as Mirror halves a node with one face."""
        halving = Mirror(
            rows=self.rows, positions=self.positions, holds=bool, floor=1, dims=self.dims, weights=self.weights
        )
        first, second = halving.halvings([node])[0]
        return first[0], second[0]

    def _leaf(self, leaf: list[int], draws: Draws) -> Partition:
        return varied(self.rows, self.ell, draws, within=leaf, line=self.line)
