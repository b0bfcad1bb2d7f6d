# SPDX-License-Identifier: Apache-2.0
"""Anatomize, slowly: Lines 1 to 12 of ANATOMY Figure 3, which look at sensitive values alone; and the varied dealing.

Three choices of the figure are "arbitrary" or open. By default

* the tuple taken from a bucket is a uniformly random one;
* of equally large buckets the one whose value comes first in the order of values is taken first;
* a residue tuple goes to a uniformly random group among those that lack its value; residues go in the order of values.

`varied` is the dealing of this project that the documentation of Sift defines (docs/methods/sift.md, step 5): people
are laid out value by value and dealt in turn.

Each random choice can be replaced, so that tests can show what a shortcut costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from tests.twins.mondrian import Partition, Row
from tests.twins.transparent import Draws, diverse

__all__ = ["anatomize", "places", "shuffled", "varied"]

Item = TypeVar("Item")
Pick = Callable[[list[int], Draws], int]  # takes one of these rows
Rank = Callable[[int], int]  # which of equally large buckets comes first, by value
Settle = Callable[[int, list[list[int]], Draws], list[int]]  # finds one of these groups for a residue row
Place = tuple[int, int]  # a value, and the group that gets it
Line = Callable[[list[int], Draws], list[int]]  # in which order the rows of one value take the places of the value


def shuffled(items: Iterable[Item], draws: Draws) -> list[Item]:
    """A uniformly random order: place after place, one of the items that are left."""
    left, order = list(items), []
    while left:
        order.append(left.pop(draws.below(len(left))))
    return order


def _laid_out(items: Iterable[Item], draws: Draws) -> list[Item]:
    """A uniformly random order: item after item, at one of the places that are left."""
    listed = list(items)
    left, order = list(range(len(listed))), list(listed)
    for item in listed:
        order[left.pop(draws.below(len(left)))] = item
    return order


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


def varied(
    rows: Sequence[Row],
    ell: int,
    draws: Draws,
    within: Sequence[int] | None = None,
    *,
    line: Line = shuffled,
) -> Partition:
    """Deal the rows ``within`` (None for all) in turn; the empty set where they are not l-eligible."""
    everybody = list(range(len(rows))) if within is None else sorted(within)
    if not diverse(rows, everybody, ell):
        return set()
    people: dict[int, list[int]] = {}
    for i in everybody:
        people.setdefault(rows[i][1], []).append(i)
    counts = Counter({value: len(some) for value, some in people.items()})
    waiting = {value: line(people[value], draws) for value in sorted(people)}
    groups: dict[int, list[int]] = {}
    for value, group in places(counts, ell, draws):
        groups.setdefault(group, []).append(waiting[value].pop(0))
    return {frozenset(group) for group in groups.values()}


def places(counts: Counter[int], ell: int, draws: Draws) -> list[Place]:
    """Which group gets which value, as the cards are dealt: drawn from the counts alone."""
    n_groups = counts.total() // ell
    n_blocks = max(1, n_groups // max(2, len(counts)))
    first = _dealt(counts, range(n_groups), draws)
    if n_blocks == 1:
        return first
    found: list[Place] = []
    for block in range(n_blocks):
        members = range(block, n_groups, n_blocks)
        kept = Counter(dict.fromkeys(counts, 0))  # a value that the block does not have is laid out no times
        kept.update(value for value, group in first if group in members)
        found += _dealt(kept, members, draws)
    return found


def _dealt(counts: Counter[int], groups: Sequence[int], draws: Draws) -> list[Place]:
    """Lay values out in a random order, as often as each is there, and deal them to these groups in turn."""
    cards = [value for value in _laid_out(sorted(counts), draws) for _ in range(counts[value])]
    return [(value, groups[turn % len(groups)]) for turn, value in enumerate(cards)]
