"""The hint adversary by force: every way to give the values of all groups out, with exact fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, permutations, product

__all__ = ["beliefs_by_force", "deals_by_force"]

Weights = Sequence[Sequence[Sequence[Fraction]]]  # groups x people x values
Answer = list[list[list[Fraction]]]


def beliefs_by_force(places: Sequence[Sequence[int]], weights: Weights) -> Answer:
    """What is believed if groups are the ranks of columns, one for each value, along one attribute.

    ``places`` has the place of everybody on the attribute, group by group. Every way to give out values is tried, and
    kept if the columns, sorted, have the groups for their ranks, in some order of the groups.
    """
    sums = sorted(range(len(places)), key=lambda group: sum(places[group]))

    def possible(way: Sequence[Sequence[int]]) -> bool:
        """Whether every column ascends from group to group; ``way`` has the person with each value."""
        return all(
            places[a][way[a][value]] <= places[b][way[b][value]]
            for a, b in pairwise(sums)
            for value in range(len(way[a]))
        )

    return _shares(places, weights, possible)


def deals_by_force(places: Sequence[Sequence[int]], weights: Weights) -> Answer:
    """What is believed if all ways to give out values are possible."""
    return _shares(places, weights, lambda way: True)


def _shares(places: Sequence[Sequence[int]], weights: Weights, possible: object) -> Answer:
    found = [[[Fraction(0) for _ in own] for _ in own] for own in places]
    total = Fraction(0)
    for way in product(*(list(permutations(range(len(own)))) for own in places)):
        if not possible(way):  # type: ignore[operator]
            continue
        weight = Fraction(1)
        for group, own in enumerate(way):
            for value, person in enumerate(own):
                weight *= weights[group][person][value]
        total += weight
        for group, own in enumerate(way):
            for value, person in enumerate(own):
                found[group][person][value] += weight
    return [[[share / total for share in person] for person in group] for group in found]
