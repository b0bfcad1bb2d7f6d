# SPDX-License-Identifier: Apache-2.0
"""Mondrian, slowly: the recursion of LeFevre, DeWitt and Ramakrishnan (ICDE 2006) with every choice spelled out.

MINIMALITY 2.3 describes the method: start with the whole table as one group, cut a group at the median of a
dimension, stop where no cut leaves two groups that both satisfy the principle. Strict cuts fall between two values,
relaxed ones may fall between tuples with the same value. What the papers leave open is fixed here:

* dimensions are tried from the widest to the narrowest, as a share of the whole table's width; equal ones in order;
* of several equally even strict cuts, the one with the smaller left part is taken;
* a cut is refused if either side breaks the principle; then the next dimension is tried, and after the last the
  group stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

__all__ = ["Partition", "Row", "relaxed", "strict"]

Row = tuple[tuple[int, ...], int]  # a code per dimension, and the sensitive code
Partition = set[frozenset[int]]  # groups of row numbers
Place = int | Fraction
Node = list[int]  # row numbers
Holds = Callable[[list[int]], bool]  # judges the sensitive codes of a group


def strict(
    rows: Sequence[Row],
    positions: Sequence[Sequence[Place]],
    holds: Holds,
    separations: Sequence[Sequence[int] | None] | None = None,
) -> Partition:
    """Divide a table by cuts between values.

    Parameters
    ----------
    rows
        The tuples. A missing value is the last code of its dimension.
    positions
        ``positions[dim][code]`` is the exact place of a code on its axis; a missing value has the largest value's.
    holds
        The principle.
    separations
        For a dimension with a taxonomy, ``separations[dim][code]`` is the depth of the lowest common ancestor of the
        leaves ``code`` and ``code + 1``; one entry fewer than codes. None for a dimension without.
    """

    def cut(node: Node, dim: int) -> tuple[Node, Node]:
        tree = separations[dim] if separations is not None else None
        cuts = []
        for low, high in _boundaries([rows[i][0][dim] for i in node], tree):
            left = [i for i in node if rows[i][0][dim] <= low]
            right = [i for i in node if rows[i][0][dim] >= high]
            cuts.append((left, right))
        return min(cuts, key=lambda parts: (abs(len(parts[0]) - len(parts[1])), len(parts[0])))

    return _divide(rows, positions, holds, cut)


def relaxed(rows: Sequence[Row], positions: Sequence[Sequence[Place]], holds: Holds, ties: Sequence[int]) -> Partition:
    """Divide a table by cuts that leave halves, whatever the values.

    ``ties[row]`` is the rank of a row among rows with the same value; the other parameters are those of `strict`.
    """

    def cut(node: Node, dim: int) -> tuple[Node, Node]:
        ordered = sorted(node, key=lambda i: (rows[i][0][dim], ties[i]))
        half = len(node) // 2
        return ordered[:half], ordered[half:]

    return _divide(rows, positions, holds, cut)


def _divide(
    rows: Sequence[Row],
    positions: Sequence[Sequence[Place]],
    holds: Holds,
    cut: Callable[[Node, int], tuple[Node, Node]],
) -> Partition:
    """Cut the whole table, then every part, until no cut is accepted."""
    n_dimensions = len(positions)

    def width(node: Node, dim: int) -> Place:
        places = [positions[dim][rows[i][0][dim]] for i in node]
        return max(places) - min(places)

    def share(node: Node, dim: int) -> Fraction:
        whole = width(list(range(len(rows))), dim)
        return Fraction(width(node, dim)) / whole if whole > 0 else Fraction(0)

    def leaves(node: Node) -> Partition:
        several = [dim for dim in range(n_dimensions) if len({rows[i][0][dim] for i in node}) > 1]
        for dim in sorted(several, key=lambda dim: (-share(node, dim), dim)):
            left, right = cut(node, dim)
            if holds([rows[i][1] for i in left]) and holds([rows[i][1] for i in right]):
                return leaves(left) | leaves(right)
        return {frozenset(node)}

    return leaves(list(range(len(rows)))) if rows else set()


def _boundaries(codes: list[int], tree: Sequence[int] | None) -> list[tuple[int, int]]:
    """Pairs of neighbouring codes of a node between which a cut may fall."""
    present = sorted(set(codes))
    pairs = list(pairwise(present))
    if tree is None:
        return pairs
    # The shallowest separation is the depth of the lowest common ancestor of all the node's leaves; a cut there
    # falls between two of its children.
    depth = min(tree[present[0] : present[-1]])
    return [(low, high) for low, high in pairs if depth in tree[low:high]]
