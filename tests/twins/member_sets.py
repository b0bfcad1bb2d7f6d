# SPDX-License-Identifier: Apache-2.0
"""Sets as sensitive values, slowly: what is asked of single values, what is believed of them, and who is dropped.

A world gives every person a set of values; a code stands for a set, and ``sets[code]`` has its members. That a person
has a value is believed with the sum of the beliefs in all sets that have it. People who are known to share a value are
the other half: an attacker who knows that, and nothing else, keeps the worlds in which they do.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product

__all__ = ["excess", "joined", "member_beliefs", "member_shares", "members_within", "shared_value", "sharing_by_force"]

Sets = Sequence[frozenset[int]]


def joined(rows: Iterable[tuple[Hashable, Hashable]]) -> dict[Hashable, frozenset[Hashable]]:
    """For everybody the set of the values in their rows, each of which is a person and a value."""
    found: dict[Hashable, frozenset[Hashable]] = {}
    for person, value in rows:
        found[person] = found.get(person, frozenset()) | {value}
    return found


def member_shares(group: Sequence[frozenset[int]]) -> dict[int, Fraction]:
    """For every value the share of the people in a group who have it."""
    values = {value for own in group for value in own}
    return {value: Fraction(sum(value in own for own in group), len(group)) for value in values}


def members_within(share: Fraction, sets: Sets, among: Iterable[int] | None = None) -> Callable[[Sequence[int]], bool]:
    """Whether in a group of these codes at most such a share of people has any one value, or any one of ``among``."""

    def holds(codes: Sequence[int]) -> bool:
        shares = member_shares([sets[code] for code in codes])
        asked = shares if among is None else among
        return len(codes) > 0 and all(shares.get(value, Fraction(0)) <= share for value in asked)

    return holds


def member_beliefs(
    beliefs: Mapping[tuple[Hashable, int], Fraction], sets: Sets
) -> dict[tuple[Hashable, int], Fraction]:
    """What is believed of everybody's having a value, from what is believed of sets."""
    found: dict[tuple[Hashable, int], Fraction] = {}
    for (person, code), belief in beliefs.items():
        for value in sets[code]:
            found[person, value] = found.get((person, value), Fraction(0)) + belief
    return found


def excess(people: Sequence[frozenset[int]], share: Fraction) -> tuple[int, int]:
    """How many must go of those with the value that is most above its share, and that value; the first of several."""
    worst = (0, -1)
    for value in sorted({value for own in people for value in own}):
        have = sum(value in own for own in people)
        gone = next(n for n in range(have + 1) if have - n <= share * (len(people) - n))
        worst = max(worst, (gone, -value - 1))
    return worst[0], -worst[1] - 1


# --- people who are known to share a value ----------------------------------------------------------------------------


def shared_value(groups: Sequence[Sequence[int]]) -> dict[int, Fraction]:
    """What is believed of the value that one person of each of these groups has, if it is known that all have the same.

    It is proportional to the product of the value's shares in the groups.
    """
    weight = {}
    for value in set.intersection(*map(set, groups)):
        weight[value] = Fraction(1)
        for group in groups:
            weight[value] *= Fraction(list(group).count(value), len(group))
    return {value: own / sum(weight.values()) for value, own in weight.items()}


def sharing_by_force(groups: Sequence[Sequence[int]]) -> dict[int, Fraction]:
    """The same from all worlds: every way to deal its values to the people of each group."""
    counted: dict[int, int] = {}
    for world in _worlds(groups):
        first, *others = [own[0] for own in world]  # the related people are the first of their groups
        if all(value == first for value in others):
            counted[first] = counted.get(first, 0) + 1
    return {value: Fraction(n, sum(counted.values())) for value, n in counted.items()}


def _worlds(groups: Sequence[Sequence[int]]) -> Iterator[tuple[tuple[int, ...], ...]]:
    yield from product(*(permutations(group) for group in groups))
