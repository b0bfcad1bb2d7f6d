# SPDX-License-Identifier: Apache-2.0
"""The learning adversary by force: every way to deal the values of a group, weighted by the chances of all its people.

Slow and plain; for groups of a few people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import permutations
from math import prod

Chances = Mapping[Hashable, float]

__all__ = ["believed", "dealt"]


def dealt(people: Sequence[Chances], values: Sequence[Hashable], who: int) -> dict[Hashable, float]:
    """By the value of one person, the summed weights of all ways to deal a group's values to its people."""
    found: dict[Hashable, float] = defaultdict(float)
    for deal in permutations(values):
        found[deal[who]] += prod(chances[value] for chances, value in zip(people, deal, strict=True))
    return found


def believed(
    own: Chances, seats: Sequence[tuple[float, Sequence[Chances], Sequence[Hashable], int]]
) -> tuple[dict[Hashable, float], float]:
    """What is believed of a person with these chances, and how likely the person is in the table.

    A seat is how likely the person sits there by the cells alone, the chances of all people of its group by their
    cells alone, the values of the group, and which of its people the person would be.
    """
    joint: dict[Hashable, float] = defaultdict(float)
    for weight, people, values, who in seats:
        as_anybody = sum(dealt(people, values, who).values())
        known = [own if i == who else chances for i, chances in enumerate(people)]
        for value, ways in dealt(known, values, who).items():
            joint[value] += weight * ways / as_anybody
    absent = 1 - sum(weight for weight, *_ in seats)
    total = sum(joint.values()) + absent
    return {value: weight / total for value, weight in joint.items()}, 1 - absent / total
