# SPDX-License-Identifier: Apache-2.0
"""Suppression and what it tells, slowly: every way to drop, every table, exact fractions.

Values that are too frequent for frequency l-diversity are trimmed to one cap, the largest that leaves a table which
obeys; who goes is a uniform choice among the people with the value.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import Any

from tests.twins.attack import Beliefs, World, posterior

__all__ = ["believed_of_dropped", "kept_worlds", "largest_cap", "one_group"]


def largest_cap(counts: dict[Any, int], ell: int) -> int:
    """By trying every cap, from the largest; 0 if none is of use."""
    for cap in range(max(counts.values()), 0, -1):
        trimmed = [min(n, cap) for n in counts.values()]
        if max(trimmed) * ell <= sum(trimmed):
            return cap
    return 0


def kept_worlds(world: World, ell: int) -> list[tuple[Fraction, World]]:
    """Every way to drop people from a table, with its probability; nothing if no cap is of use."""
    counts = Counter(world.values())
    cap = largest_cap(counts, ell)
    if not cap:
        return []
    of_value = {value: sorted(who for who, own in world.items() if own == value) for value in counts}
    choices = [list(combinations(who, min(len(who), cap))) for who in of_value.values()]
    ways = list(product(*choices))
    return [(Fraction(1, len(ways)), {who: world[who] for group in way for who in group}) for way in ways]


def believed_of_dropped(
    quasi: dict[Any, Any],
    values: list[Any],
    n_dropped: int,
    release: Any,
    ell: int,
    prior: dict[Any, Fraction] | None = None,
) -> Beliefs:
    """Beliefs after a release of what is left as one group: exact quasi-identifiers, and the values counted.

    Parameters
    ----------
    quasi
        Everybody on the list, with their quasi-identifiers.
    values
        The values that anybody may have.
    n_dropped
        How many were dropped, which the release says.
    release
        As `one_group` gives it.
    ell
        The l of frequency l-diversity.
    prior
        How probable each value was before the release, for everybody; all equally, by default.
    """

    def algorithm(world: World) -> list[tuple[Fraction, Any]]:
        before = prod((prior[value] for value in world.values()), start=Fraction(1)) if prior else Fraction(1)
        return [(share * before, one_group(left, quasi)) for share, left in kept_worlds(world, ell)]

    return posterior(release, algorithm, list(quasi), values, n=len(release[0]) + n_dropped)


def one_group(world: World, quasi: dict[Any, Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What is published of a table that is one group."""
    return tuple(sorted(quasi[who] for who in world)), tuple(sorted(world.values()))
