# SPDX-License-Identifier: Apache-2.0
"""Anatomize, slowly: Lines 1 to 12 of ANATOMY Figure 3, which look at sensitive values alone.

Three choices of the figure are "arbitrary" or open. By default

* the tuple taken from a bucket is a uniformly random one;
* of equally large buckets the one whose value comes first in the order of values is taken first;
* a residue tuple goes to a uniformly random group among those that lack its value; residues go in the order of values.

Each can be replaced, so that tests can show what a shortcut costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.twins.mondrian import Partition, Row
from tests.twins.transparent import Draws, diverse

__all__ = ["anatomize"]

Pick = Callable[[list[int], Draws], int]  # takes one of these rows
Rank = Callable[[int], int]  # which of equally large buckets comes first, by value
Settle = Callable[[int, list[list[int]], Draws], list[int]]  # finds one of these groups for a residue row


def _random_row(rows: list[int], draws: Draws) -> int:
    return rows[draws.below(len(rows))]


def _random_group(_: int, groups: list[list[int]], draws: Draws) -> list[int]:
    return groups[draws.below(len(groups))]


def anatomize(
    rows: Sequence[Row],
    ell: int,
    draws: Draws,
    within: Sequence[int] | None = None,
    *,
    pick: Pick = _random_row,
    rank: Rank = lambda value: value,
    settle: Settle = _random_group,
) -> Partition:
    """Divide the rows ``within`` (None for all); the empty set where they are not l-eligible."""
    everybody = list(range(len(rows))) if within is None else sorted(within)
    if not diverse(rows, everybody, ell):
        return set()
    buckets: dict[int, list[int]] = {}
    for i in everybody:
        buckets.setdefault(rows[i][1], []).append(i)

    groups: list[list[int]] = []
    while len([value for value in buckets if buckets[value]]) >= ell:
        largest = sorted(buckets, key=lambda value: (-len(buckets[value]), rank(value)))[:ell]
        groups.append([])
        for value in largest:
            row = pick(buckets[value], draws)
            buckets[value].remove(row)
            groups[-1].append(row)

    for value in sorted(buckets):
        if buckets[value]:
            (residue,) = buckets[value]  # Property 1: a bucket that is not empty has one tuple
            lacking = [group for group in groups if value not in {rows[i][1] for i in group}]
            settle(residue, lacking, draws).append(residue)
    return {frozenset(group) for group in groups}
