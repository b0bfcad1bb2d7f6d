# SPDX-License-Identifier: Apache-2.0
"""Snug, slowly: the definition in its docstring, over lists of people.

A node is cut in two again and again. On every attribute there are two cuts: between two values, where it divides the
people most evenly; and between two people who are not equal, most evenly among the cuts that leave room for as many
groups of ``unit`` people as the node has. Cuts are tried from the cheapest on, and the first is made whose parts are
both safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from tests.twins.mondrian import Holds, Node, Partition, Place, Row

__all__ = ["prospect", "snug"]

Cut = tuple[Node, Node]


def snug(
    rows: Sequence[Row],
    positions: Sequence[Sequence[Place]],
    holds: Holds,
    unit: int,
    separations: Sequence[Sequence[int]] | None = None,
) -> Partition:
    """Divide a table; the parameters are those of `tests.twins.mondrian.strict`, and the size that groups aim at."""
    dims = range(len(positions))
    people = list(range(len(rows)))

    def width(node: Node, dim: int) -> Fraction:
        places = [positions[dim][rows[i][0][dim]] for i in node]
        return Fraction(max(places)) - Fraction(min(places))

    whole = [width(people, dim) for dim in dims]

    def cost(node: Node) -> Fraction:
        shares = [width(node, dim) / whole[dim] for dim in dims if whole[dim]]
        return sum(shares, Fraction(0)) * prospect(len(node), unit)

    def cuts(node: Node, dim: int) -> list[Cut]:
        """The cuts of a node on one attribute: between values, then between people."""
        ordered = sorted(node, key=lambda i: (rows[i][0][dim], rows[i][0]))
        values = [rows[i][0][dim] for i in ordered]
        tree = separations[dim] if separations is not None else None
        between_values, between_people = [], []
        for i in range(1, len(ordered)):
            left, right = ordered[:i], ordered[i:]
            if values[i - 1] != values[i] and _apart(values, i, tree):
                between_values.append((left, right))
            is_whole = len(left) // unit + len(right) // unit == len(node) // unit
            if rows[left[-1]][0] != rows[right[0]][0] and is_whole and min(len(left), len(right)) >= unit:
                between_people.append((left, right))
        found = [between_values, between_people] if len(set(values)) > 1 else []
        return [min(kind, key=lambda cut: (abs(len(cut[0]) - len(cut[1])), len(cut[0]))) for kind in found if kind]

    def leaves(node: Node) -> Partition:
        tried = [cut for dim in dims for cut in cuts(node, dim)]
        for left, right in sorted(tried, key=lambda cut: cost(cut[0]) + cost(cut[1])):  # stable: ties as they came
            if holds([rows[i][1] for i in left]) and holds([rows[i][1] for i in right]):
                return leaves(left) | leaves(right)
        return {frozenset(node)}

    return leaves(people) if rows else set()


def prospect(size: int, unit: int) -> int:
    """The geometric mean of a part's size and of the average size of as many groups as it has room for, in 1/1024."""
    return isqrt(1024 * 1024 * size * size // max(size // unit, 1))


def _apart(values: Sequence[int], i: int, tree: Sequence[int] | None) -> bool:
    """Whether a border lies between two children of the lowest common ancestor of all values."""
    if not tree:
        return True
    shallowest = min(tree[values[0] : values[-1]])
    return shallowest in tree[values[i - 1] : values[i]]
