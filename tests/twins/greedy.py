# SPDX-License-Identifier: Apache-2.0
"""Grouping along an order, slowly: MINIMALITY's GG (Figure 2), RGG (4.3), SG (Figure 7) and even splits (3.2).

A principle is a predicate on the sensitive codes of a group; t-closeness is bound to its table first. What the paper
leaves open is fixed here:

* GG takes buckets of ``size`` rows: l under the kinds of l-diversity, and one row under t-closeness, for which there is
  no l. If rows are left over, the last bucket is shorter; it is a bucket like any other.
* Only the last group can be incomplete. ``merge`` joins it to its predecessor, again and again until the principle
  holds (at worst the whole table is one group); ``drop`` is the paper's choice, which leaves it out.
* RGG tosses its coin, true with probability p, only where a complete group could still take a bucket.
* SG puts the larger half left, as Figure 7 does. Even splits of Mondrian put the smaller half left.
* Even splits: one candidate per node, the dimension that is widest as a share of the whole table's width, of equally
  wide ones the first that has several values in the node, and no second try. Equal rows are split too, in tie order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

from tests.twins import principles
from tests.twins.mondrian import Holds, Partition, Place, Row
from tests.twins.transparent import Draws

__all__ = [
    "binary_diverse",
    "close",
    "even_split",
    "frequency_diverse",
    "gg",
    "hilbert",
    "hilbert_index",
    "lexicographic",
    "rgg",
    "sg",
]

# --- principles ------------------------------------------------------------------------------------------------------


def frequency_diverse(ell: int) -> Holds:
    """Frequency l-diversity."""
    return lambda codes: bool(principles.l_diversity(list(Counter(codes).values()), ell))


def binary_diverse(ell: int, positive: int = 1) -> Holds:
    """Binary l-diversity: at most a 1/l fraction of positives, nothing asked of the others."""
    return lambda codes: len(codes) > 0 and codes.count(positive) * ell <= len(codes)


def close(
    table: Sequence[int], t: Fraction, distance: Callable[[int, int], Fraction] = principles.equal_distance
) -> Holds:
    """t-closeness to the distribution of the sensitive codes of the whole table."""
    values = range(max(table) + 1)
    whole = [list(table).count(value) for value in values]
    return lambda codes: bool(principles.t_closeness([codes.count(value) for value in values], whole, t, distance))


# --- orders ----------------------------------------------------------------------------------------------------------


def lexicographic(rows: Sequence[Row], priority: Sequence[int] | None = None) -> list[int]:
    """Row numbers by the first dimension of the priority, then the second, and so on; ties by row number."""
    dims = range(len(rows[0][0])) if priority is None else priority
    return sorted(range(len(rows)), key=lambda i: ([rows[i][0][dim] for dim in dims], i))


def hilbert(rows: Sequence[Row]) -> list[int]:
    """Row numbers along the Hilbert curve through the grid of codes; ties by row number."""
    bits = max(max(codes) for codes, _ in rows).bit_length()
    return sorted(range(len(rows)), key=lambda i: (hilbert_index(rows[i][0], bits), i))


def hilbert_index(cell: Sequence[int], bits: int) -> int:
    """The place of a cell of the grid of ``2**bits`` cells a side (Skilling: Programming the Hilbert curve, 2004).

    From the coarsest bit to the finest, the part of the cube that holds the cell is turned so that the rest of the way
    through it starts at the origin; what is left is a Gray code, whose bits are read across dimensions.
    """
    x = list(cell)
    n = len(x)
    for level in range(bits - 1, 0, -1):
        below = 2**level - 1
        for dim in range(n):
            if x[dim] & 2**level:
                x[0] ^= below  # reflect
            else:
                different = (x[0] ^ x[dim]) & below  # exchange two axes
                x[0] ^= different
                x[dim] ^= different
    for dim in range(1, n):
        x[dim] ^= x[dim - 1]
    turned = 0
    for level in range(bits - 1, 0, -1):
        if x[n - 1] & 2**level:
            turned ^= 2**level - 1
    index = 0
    for level in range(bits - 1, -1, -1):
        for dim in range(n):
            index = 2 * index + ((x[dim] ^ turned) >> level & 1)
    return index


# --- methods ---------------------------------------------------------------------------------------------------------


def gg(
    rows: Sequence[Row], size: int, holds: Holds, order: Sequence[int] | None = None, leftover: str = "merge"
) -> Partition:
    """Greedy Grouping.

    Parameters
    ----------
    rows
        The table.
    size
        The number of rows of a bucket.
    holds
        The principle.
    order
        Row numbers in the order of the grouping; None for the rows as they are listed.
    leftover
        What happens to an incomplete last group: ``merge`` or ``drop``.
    """
    return _grow(rows, size, holds, order, leftover, once_more=lambda: False)


def gg_close(
    rows: Sequence[Row],
    t: Fraction,
    leftover: str,
    distance: Callable[[Sequence[int]], Callable[[int, int], Fraction]],
) -> Partition:
    """Greedy Grouping under t-closeness to what is published: without the rows that are dropped, until none is.

    ``distance`` is told which values occur, for the ordered one depends on how many there are.
    """
    kept = list(range(len(rows)))
    while True:
        seen = sorted({rows[i][1] for i in kept})
        left = [(rows[i][0], seen.index(rows[i][1])) for i in kept]
        holds = close([value for _, value in left], t, distance(seen))
        groups = gg(left, 1, holds, leftover=leftover)
        published = sorted(i for group in groups for i in group)
        if len(published) in (0, len(kept)):
            return {frozenset(kept[i] for i in group) for group in groups}
        kept = [kept[i] for i in published]


def rgg(
    rows: Sequence[Row],
    size: int,
    holds: Holds,
    p: Fraction,
    draws: Draws,
    order: Sequence[int] | None = None,
    leftover: str = "merge",
) -> Partition:
    """Randomized Greedy Grouping: a complete group takes one more bucket with probability p, again and again."""
    return _grow(rows, size, holds, order, leftover, once_more=lambda: draws.below(p.denominator) < p.numerator)


def _grow(
    rows: Sequence[Row],
    size: int,
    holds: Holds,
    order: Sequence[int] | None,
    leftover: str,
    once_more: Callable[[], bool],
) -> Partition:
    def complete(group: list[int]) -> bool:
        return holds([rows[i][1] for i in group])

    everybody = list(range(len(rows)) if order is None else order)
    queue = [everybody[start : start + size] for start in range(0, len(everybody), size)]
    groups: list[list[int]] = []
    while queue:
        group = queue.pop(0)
        while queue and (not complete(group) or once_more()):
            group = group + queue.pop(0)
        groups.append(group)

    if groups and not complete(groups[-1]):
        if leftover == "drop":
            groups.pop()
        else:
            while len(groups) > 1 and not complete(groups[-1]):
                last = groups.pop()
                groups[-1] = groups[-1] + last
            if not complete(groups[0]):
                return set()
    return {frozenset(group) for group in groups}


def sg(rows: Sequence[Row], holds: Holds, order: Sequence[int] | None = None) -> Partition:
    """Symmetric Grouping: halve along the order while both halves satisfy the principle."""

    def halves(group: list[int]) -> Partition:
        middle = (len(group) + 1) // 2  # t_l .. t_floor((l + r) / 2)
        left, right = group[:middle], group[middle:]
        if holds([rows[i][1] for i in left]) and holds([rows[i][1] for i in right]):
            return halves(left) | halves(right)
        return {frozenset(group)}

    everybody = list(range(len(rows)) if order is None else order)
    return halves(everybody) if holds([rows[i][1] for i in everybody]) else set()


def even_split(rows: Sequence[Row], positions: Sequence[Sequence[Place]], holds: Holds) -> Partition:
    """Mondrian by halves of equal size (or one more on the right), with one candidate split per node."""
    everybody = list(range(len(rows)))

    def width(node: list[int], dim: int) -> Place:
        places = [positions[dim][rows[i][0][dim]] for i in node]
        return max(places) - min(places)

    def share(node: list[int], dim: int) -> Fraction:
        whole = width(everybody, dim)
        return Fraction(width(node, dim)) / whole if whole > 0 else Fraction(0)

    def leaves(node: list[int]) -> Partition:
        def preference(dim: int) -> tuple[Fraction, bool, int]:
            one_value = len({rows[i][0][dim] for i in node}) == 1
            return (-share(node, dim), one_value, dim)

        best = min(range(len(positions)), key=preference)
        ordered = sorted(node, key=lambda i: (rows[i][0][best], i))
        left, right = ordered[: len(node) // 2], ordered[len(node) // 2 :]
        if holds([rows[i][1] for i in left]) and holds([rows[i][1] for i in right]):
            return leaves(left) | leaves(right)
        return {frozenset(node)}

    return leaves(everybody) if holds([rows[i][1] for i in everybody]) else set()
