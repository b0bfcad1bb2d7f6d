# SPDX-License-Identifier: Apache-2.0
"""What a greedy group gives away, slowly: every arrangement of its values is grouped again, as MINIMALITY prints it.

MINIMALITY 5.1: "Reject those assignments on which the algorithm would not produce the published grouping." A group is
formed by itself (4.2), so the people of one group are a table: GG or RGG (`tests.twins.greedy`) is run on it for every
arrangement of its values, and every coin. An arrangement weighs the probability that all of them become one group. For
a group that others follow, an incomplete rest is dropped, and then it is not one group; for the last group of a table
whose rest is merged, it is merged here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from tests.twins import enumerating
from tests.twins.greedy import gg, rgg
from tests.twins.mondrian import Holds, Row

__all__ = ["arrangements", "group_beliefs", "weight_of"]

Arrangement = tuple[int, ...]


def arrangements(values: Sequence[int]) -> Iterator[Arrangement]:
    """Every different order of a multiset."""
    if not values:
        yield ()
    for first in sorted(set(values)):
        rest = list(values)
        rest.remove(first)
        for others in arrangements(rest):
            yield (first, *others)


def weight_of(arrangement: Arrangement, size: int, holds: Holds, p: Fraction, leftover: str) -> Fraction:
    """The probability that people with these values, in this order, become one group."""
    rows: list[Row] = [((i,), value) for i, value in enumerate(arrangement)]
    everybody = {frozenset(range(len(rows)))}
    if p == 0:
        return Fraction(gg(rows, size, holds, leftover=leftover) == everybody)
    found = enumerating.distribution(
        lambda draws: rgg(rows, size, holds, p, draws, leftover=leftover) == everybody,
    )
    return found.get(True, Fraction(0))


def group_beliefs(
    values: Sequence[int],
    size: int,
    holds: Holds,
    p: Fraction = Fraction(0),
    *,
    leftover: str = "drop",
    known: Mapping[int, int] | None = None,
    weight: Callable[[Arrangement], Fraction] | None = None,
) -> list[dict[int, Fraction]]:
    """The belief in every value, for each place of the group in the order.

    Parameters
    ----------
    values
        The published values of the group.
    size, holds, p
        Rows of a bucket, the principle, and RGG's probability (0 for GG).
    leftover
        ``merge`` for the last group where incomplete rests are merged.
    known
        The values of places that the attacker has found out.
    weight
        Weighs arrangements in another way.
    """
    weigh = weight or (lambda a: weight_of(a, size, holds, p, leftover))
    total = Fraction(0)
    joint: list[dict[int, Fraction]] = [{} for _ in values]
    for arrangement in arrangements(values):
        if any(arrangement[place] != value for place, value in (known or {}).items()):
            continue
        share = weigh(arrangement)
        if share:
            total += share
            for place, value in enumerate(arrangement):
                joint[place][value] = joint[place].get(value, Fraction(0)) + share
    assert total, "no arrangement makes this group"
    return [{value: share / total for value, share in beliefs.items()} for beliefs in joint]
