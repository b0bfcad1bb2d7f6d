# SPDX-License-Identifier: Apache-2.0
"""Tailor, Ace and Hybrid, slowly: TRANSPARENT Section 3, Definitions 9 to 12 and Figures 3, 5, 6, 8 and 10.

A row's number is the rank of its identifier, so ties between equal values are broken by row number. Where a table is
not l-eligible the figures return the empty set, and so do these functions. What the paper leaves open is fixed here:

* Figure 6 goes back to the choice of alpha after ``beta = beta + 1`` (going back to ``beta = l`` would never end), and
  the frequency after the last one is 0;
* the total order of sensitive values is the order of their codes;
* the perimeter is relative to the ranges of the whole table, also inside the groups that Hybrid hands to Ace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Protocol

from tests.twins.mondrian import Partition, Place, Row

__all__ = [
    "Bucket",
    "Draws",
    "Penalty",
    "ace",
    "assign",
    "canonical_cut",
    "canonical_division",
    "chosen",
    "diverse",
    "hybrid",
    "perimeter",
    "sliced",
    "tailor",
    "top_of_tailor",
]

Penalty = Callable[[list[Row]], Fraction]
Group = list[int]  # row numbers
Bucket = dict[int, list[int]]  # a column of row numbers per sensitive value, all of one length


class Draws(Protocol):
    """All that is asked of a source of randomness."""

    def below(self, n: int, /) -> int: ...


def perimeter(rows: Sequence[Row], positions: Sequence[Sequence[Place]]) -> Penalty:
    """Equation 4: the size of a group, times the sum of its widths as shares of the whole table's widths."""

    def width(some: Sequence[Row], dim: int) -> Place:
        places = [positions[dim][codes[dim]] for codes, _ in some]
        return max(places) - min(places) if places else 0

    whole = [width(rows, dim) for dim in range(len(positions))]

    def penalty(group: list[Row]) -> Fraction:
        total = Fraction(0)
        for dim in range(len(positions)):
            if whole[dim] > 0:  # an attribute with one value adds nothing
                total += Fraction(width(group, dim)) / whole[dim]
        return len(group) * total

    return penalty


def tailor(
    rows: Sequence[Row], positions: Sequence[Sequence[Place]], ell: int, penalty: Penalty | None = None
) -> Partition:
    """Figure 3: while a group is 2l-diverse, replace it by its canonical l-cut."""
    penalty = penalty or perimeter(rows, positions)
    everybody = list(range(len(rows)))
    if not diverse(rows, everybody, ell):
        return set()
    partition = [everybody]
    while True:
        group = next((group for group in partition if diverse(rows, group, 2 * ell)), None)
        if group is None:
            return {frozenset(group) for group in partition}
        partition.remove(group)
        partition.extend(canonical_cut(rows, group, ell, penalty))


def top_of_tailor(
    rows: Sequence[Row], positions: Sequence[Sequence[Place]], ell: int, most: int
) -> list[tuple[Group, bool]]:
    """Figure 3 for groups of more than ``most`` rows: what is left, from left to right, and whether it is final."""
    penalty = perimeter(rows, positions)

    def parts(group: Group) -> list[tuple[Group, bool]]:
        if len(group) <= most:
            return [(group, False)]
        if not diverse(rows, group, 2 * ell):
            return [(group, True)]
        left, right = canonical_cut(rows, group, ell, penalty)
        return [*parts(left), *parts(right)]

    return parts(list(range(len(rows))))


def canonical_cut(rows: Sequence[Row], group: Group, ell: int, penalty: Penalty) -> tuple[Group, Group]:
    """Definitions 9 and 10: of all l-cuts the cheapest, then the first dimension, then the smaller left part."""
    most = max(Counter(rows[i][1] for i in group).values())
    cuts = []
    for dim in range(len(rows[0][0])):
        ordered = sorted(group, key=lambda i: (rows[i][0][dim], i))
        for size in range(ell * most, len(group) - ell * most + 1):
            left, right = ordered[:size], ordered[size:]
            cost = penalty([rows[i] for i in left]) + penalty([rows[i] for i in right])
            cuts.append(((cost, dim, size), left, right))
    _, left, right = min(cuts, key=lambda cut: cut[0])
    return left, right


def ace(
    rows: Sequence[Row],
    positions: Sequence[Sequence[Place]],
    ell: int,
    draws: Draws,
    penalty: Penalty | None = None,
    within: Sequence[int] | None = None,
) -> Partition:
    """Figure 5: Assign, then Slice.

    Parameters
    ----------
    rows, positions
        The whole table.
    ell
        The l of l-diversity.
    draws
        Where the random choices come from.
    penalty
        Judges divisions; None for the perimeter.
    within
        The rows to divide; None for all.
    """
    penalty = penalty or perimeter(rows, positions)
    group = list(range(len(rows))) if within is None else sorted(within)
    if not diverse(rows, group, ell):
        return set()
    partition = set()
    for bucket in assign(rows, ell, draws, group):
        partition |= sliced(rows, bucket, penalty)
    return partition


def assign(rows: Sequence[Row], ell: int, draws: Draws, within: Sequence[int] | None = None) -> list[Bucket]:
    """Figure 6: buckets in the order in which they are made; ``within`` as for `ace`."""
    left: dict[int, list[int]] = {}  # S_t: the rows that are left, by sensitive value
    for i in range(len(rows)) if within is None else within:
        left.setdefault(rows[i][1], []).append(i)
    buckets: list[Bucket] = []
    while any(left.values()):
        values = sorted(left, key=lambda value: (-len(left[value]), value))  # v_1, v_2, ...
        alpha, beta = _column_length_and_number([len(left[value]) for value in values], ell)
        bucket = {}
        for value in values[:beta]:
            bucket[value] = chosen(left[value], alpha, draws)
            left[value] = [i for i in left[value] if i not in bucket[value]]
        buckets.append(bucket)
    return buckets


def _column_length_and_number(frequencies: list[int], ell: int) -> tuple[int, int]:
    """Lines 7 to 9 of Figure 6, by trying: the smallest beta that has an alpha, and the largest alpha it has."""
    n = [*frequencies, 0]
    for beta in range(ell, len(frequencies) + 1):
        for alpha in range(n[beta - 1], 0, -1):
            allowed = Fraction(sum(frequencies) - alpha * beta, ell)
            if n[0] - alpha <= allowed and n[beta] <= allowed:
                return alpha, beta
    raise AssertionError(f"no bucket for frequencies {frequencies} at l = {ell}")


def sliced(rows: Sequence[Row], bucket: Bucket, penalty: Penalty) -> Partition:
    """Figure 8, for one bucket: canonical divisions until every column has one tuple."""
    if min(len(column) for column in bucket.values()) < 2:
        return {frozenset(i for column in bucket.values() for i in column)}
    first, second = canonical_division(rows, bucket, penalty)
    return sliced(rows, first, penalty) | sliced(rows, second, penalty)


def canonical_division(rows: Sequence[Row], bucket: Bucket, penalty: Penalty) -> tuple[Bucket, Bucket]:
    """Definitions 11 and 12: of all divisions the cheapest, then the first dimension, then the smaller first part."""
    divisions = []
    length = len(next(iter(bucket.values())))
    for dim in range(len(rows[0][0])):
        ordered = {value: sorted(column, key=lambda i: (rows[i][0][dim], i)) for value, column in bucket.items()}
        for size in range(1, length):
            first = {value: column[:size] for value, column in ordered.items()}
            second = {value: column[size:] for value, column in ordered.items()}
            cost = sum(
                (penalty([rows[i] for column in part.values() for i in column]) for part in (first, second)),
                Fraction(0),
            )
            divisions.append(((cost, dim, size), first, second))
    _, first, second = min(divisions, key=lambda division: division[0])
    return first, second


def hybrid(
    rows: Sequence[Row],
    positions: Sequence[Sequence[Place]],
    ell: int,
    draws: Draws,
    penalty: Penalty | None = None,
) -> Partition:
    """Figure 10: Tailor, then Ace inside every group of Tailor."""
    penalty = penalty or perimeter(rows, positions)
    partition = set()
    for group in sorted(tailor(rows, positions, ell, penalty), key=min):
        partition |= ace(rows, positions, ell, draws, penalty, within=sorted(group))
    return partition


def diverse(rows: Sequence[Row], group: Sequence[int], ell: int) -> bool:
    """Definition 2: at most ``|G| / l`` tuples have the same sensitive value; an empty group has no diversity."""
    return len(group) > 0 and max(Counter(rows[i][1] for i in group).values()) * ell <= len(group)


def chosen(items: Sequence[int], k: int, draws: Draws) -> list[int]:
    """A uniformly random subset of ``k``."""
    subsets = list(combinations(items, k))
    return list(subsets[draws.below(len(subsets))])
