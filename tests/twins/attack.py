# SPDX-License-Identifier: Apache-2.0
"""The attacker who knows the algorithm, slowly: TRANSPARENT Proposition 1 by going through every world.

The attacker has the release, the algorithm and a list of people with their quasi-identifiers. Before the release every
world is equally likely. The belief that person o has value v is

    (sum over the worlds where o has v of Pr{algorithm(world) = release}) / (the same sum over all worlds).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

__all__ = ["Beliefs", "World", "posterior", "posteriors", "worlds"]

World = dict[Hashable, Any]  # the sensitive value of every person who is in the table
Beliefs = dict[tuple[Hashable, Any], Fraction]
Algorithm = Callable[[World], Any]  # a hashable release, or a list of (probability, release)


def posterior(
    release: Hashable,
    algorithm: Algorithm,
    people: Sequence[Hashable],
    values: Sequence[Any],
    n: int | Iterable[int] | None = None,
) -> Beliefs:
    """The belief in every value of every person, after one release.

    Parameters
    ----------
    release
        What was published.
    algorithm
        Turns a world into its release (any hashable), or into a list of (probability, release) if it is randomised.
    people
        Everybody on the attacker's list.
    values
        The sensitive values that a person may have.
    n
        How many of these people are in the table: None for all, a number, or several numbers that are possible
        (``range(len(people) + 1)`` is TRANSPARENT Definition 4: any subset).
    """
    return posteriors(algorithm, people, values, n)[release]


def posteriors(
    algorithm: Algorithm, people: Sequence[Hashable], values: Sequence[Any], n: int | Iterable[int] | None = None
) -> dict[Any, Beliefs]:
    """The beliefs after each release that some world can give."""
    likelihood: dict[Any, Fraction] = {}  # of the release, summed over all worlds
    joint: dict[Any, Beliefs] = {}  # the same, over the worlds where a person has a value
    for world in worlds(people, values, n):
        for probability, release in _outcomes(algorithm(world)):
            if probability == 0:
                continue
            if release not in joint:
                likelihood[release] = Fraction(0)
                joint[release] = {(person, value): Fraction(0) for person in people for value in values}
            likelihood[release] += probability
            for person, value in world.items():
                joint[release][person, value] += probability
    return {
        release: {event: weight / likelihood[release] for event, weight in weights.items()}
        for release, weights in joint.items()
    }


def worlds(people: Sequence[Hashable], values: Sequence[Any], n: int | Iterable[int] | None = None) -> Iterator[World]:
    """Every choice of people for the table, with every assignment of values to them."""
    sizes = [len(people)] if n is None else [n] if isinstance(n, int) else n
    for size in sizes:
        for present in combinations(people, size):
            for assignment in product(values, repeat=size):
                yield dict(zip(present, assignment, strict=True))


def _outcomes(answer: Any) -> list[tuple[Fraction, Any]]:
    """A randomised algorithm answers with a list, which no release can be: lists are not hashable."""
    return answer if isinstance(answer, list) else [(Fraction(1), answer)]
