# SPDX-License-Identifier: Apache-2.0
"""TRANSPARENT's specimens, slowly: Opt-Gen (Figure 2), Vul-Gen (Figure 1), Mask (electronic appendix), credibility.

What the paper leaves open is fixed here:

* Global recoding is defined by "tuples with identical QI values go to the same group". Taken alone this is too weak for
  Example 2: {Ann, Cate, Don}, {Bob, Ed}, {Fred, Gill, Hera} is 2-diverse and cheaper (22) than Table III (24). A
  recoding of the *domain* gives a point one box only, so boxes must not overlap; with this the example is right.
  ``overlapping=True`` is the weak reading.
* Of several optimal partitions the first is taken, as sorted lists of sorted row numbers. The paper names no rule.
* Mask takes its k-anonymous partition as given. A group gets as many tuples of each value as the donor's distribution
  says; where that is no whole number, the largest remainders are rounded up, equal ones in the order of values. If no
  group can be a donor, nothing is published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations

from tests.twins.mondrian import Partition, Row
from tests.twins.transparent import Draws, diverse

__all__ = ["discernibility", "global_recodings", "is_minimal", "mask", "opt_gen", "optima", "vul_gen"]

Codes = tuple[tuple[int, ...], ...]


def opt_gen(rows: Sequence[Row], ell: int, *, overlapping: bool = False) -> Partition:
    """The l-diverse global recoding of least discernibility; the empty set if there is none."""
    best = optima(rows, ell, overlapping=overlapping)
    return best[0] if best else set()


def optima(rows: Sequence[Row], ell: int, *, overlapping: bool = False) -> list[Partition]:
    """All l-diverse global recodings of least discernibility, in order."""
    found: list[Partition] = []
    for partition in global_recodings(tuple(codes for codes, _ in rows), overlapping=overlapping):
        if found and discernibility(partition) > discernibility(found[0]):
            break
        if all(diverse(rows, sorted(group), ell) for group in partition):
            found.append(partition)
    return found


def discernibility(partition: Partition) -> int:
    """The sum of squared group sizes."""
    return sum(len(group) ** 2 for group in partition)


@cache
def global_recodings(table: Codes, *, overlapping: bool = False) -> list[Partition]:
    """All partitions of a table with these quasi-identifiers, cheapest first, equally cheap ones in order."""
    if not table:
        return []
    points = sorted(set(table))
    members = {point: [i for i, codes in enumerate(table) if codes == point] for point in points}
    partitions = [
        {frozenset(i for point in block for i in members[point]) for block in blocks}
        for blocks in _set_partitions(points)
        if overlapping or not _overlap(blocks)
    ]
    return sorted(partitions, key=lambda partition: (discernibility(partition), sorted(map(sorted, partition))))


def _set_partitions(points: Sequence[tuple[int, ...]]) -> Iterator[list[list[tuple[int, ...]]]]:
    """Every way to put points into blocks."""
    if not points:
        yield []
        return
    first, rest = points[0], points[1:]
    for blocks in _set_partitions(rest):
        yield [[first], *blocks]
        for k, block in enumerate(blocks):
            yield [*blocks[:k], [first, *block], *blocks[k + 1 :]]


def _overlap(blocks: Sequence[Sequence[tuple[int, ...]]]) -> bool:
    """Whether two of the boxes share a place."""

    def apart(one: Sequence[tuple[int, ...]], other: Sequence[tuple[int, ...]]) -> bool:
        return any(
            max(point[dim] for point in one) < min(point[dim] for point in other)
            or max(point[dim] for point in other) < min(point[dim] for point in one)
            for dim in range(len(one[0]))
        )

    return any(not apart(one, other) for one, other in combinations(blocks, 2))


def is_minimal(rows: Sequence[Row], partition: Partition, ell: int, *, overlapping: bool = False) -> bool:
    """Definition 7: the partition is l-diverse, and no child of it is an l-diverse global recoding."""
    allowed = global_recodings(tuple(codes for codes, _ in rows), overlapping=overlapping)
    if partition not in allowed or not all(diverse(rows, sorted(group), ell) for group in partition):
        return False
    for child in allowed:
        is_child = len(child) == len(partition) + 1 and len(partition - child) == 1  # Definition 6
        if is_child and all(diverse(rows, sorted(group), ell) for group in child):
            return False
    return True


def vul_gen(rows: Sequence[Row], special: Sequence[Row], generalization: Partition, ell: int) -> Partition:
    """This generalization for the special table, and one group for any other that is l-diverse."""
    if list(rows) == list(special):
        return generalization
    everybody = frozenset(range(len(rows)))
    return {everybody} if diverse(rows, sorted(everybody), ell) else set()


def mask(
    sensitive: Sequence[int], partition: Partition, ell: int, designated: Sequence[int], draws: Draws
) -> list[int] | None:
    """The sensitive values that Mask publishes, row by row (which row of a group has which is of no account)."""
    groups = [sorted(group) for group in sorted(partition, key=min)]
    broken: list[list[int]] = []  # P_1
    donors: list[list[int]] = []  # P_2
    for group in groups:
        counts = Counter(sensitive[i] for i in group)
        too_many = any(counts[value] > Fraction(len(group), ell) for value in designated)
        (broken if too_many else donors).append(group)
    if not donors:
        return None
    published = list(sensitive)
    for group in broken:
        donor = donors[draws.below(len(donors))]
        values = _scaled([sensitive[i] for i in donor], len(group))
        for i, value in zip(group, values, strict=True):
            published[i] = value
    return published


def _scaled(values: Sequence[int], size: int) -> list[int]:
    """This many values, distributed like the given ones."""
    wanted = {value: Fraction(values.count(value) * size, len(values)) for value in sorted(set(values))}
    counts = {value: int(share) for value, share in wanted.items()}
    by_remainder = sorted(wanted, key=lambda value: (counts[value] - wanted[value], value))
    for value in by_remainder[: size - sum(counts.values())]:
        counts[value] += 1
    return [value for value in counts for _ in range(counts[value])]
