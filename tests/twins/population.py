# SPDX-License-Identifier: Apache-2.0
"""What a group of published values says about its members, slowly: every deal of the values is written down.

A *deal* gives every person of a group one of its published values. People are independent, and the chances of each are
known, so a deal has the product of the chances of what it gives, and what is published, the values without their order,
has the sum over all different deals. Everything else here is Bayes' rule, in exact fractions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import TypeVar

__all__ = [
    "Chances",
    "chances_in_cell",
    "chances_shown",
    "deals",
    "distribution",
    "marginals",
    "point_given_value",
    "probability",
    "reestimated",
    "shares_in_cell",
    "truth_given_shown",
]

Value = str
Chances = Mapping[Value, Fraction]  # of one person, or of everybody at one point
Deal = tuple[Value, ...]  # the value of every person
Name = TypeVar("Name")


def deals(values: Sequence[Value]) -> Iterator[Deal]:
    """Every way to give these values to as many people; two equal values are not told apart."""
    yield from sorted(set(permutations(values)))


def _product(people: Sequence[Chances], deal: Deal) -> Fraction:
    product = Fraction(1)
    for chances, value in zip(people, deal, strict=True):
        product *= chances.get(value, Fraction(0))
    return product


def probability(people: Sequence[Chances], values: Sequence[Value]) -> Fraction:
    """The probability that these people have these values, in some order."""
    return sum((_product(people, deal) for deal in deals(values)), Fraction(0))


def distribution(people: Sequence[Chances], values: Sequence[Value]) -> dict[Deal, Fraction]:
    """The probability of every deal when the values are known and their order is not."""
    whole = probability(people, values)
    return {deal: _product(people, deal) / whole for deal in deals(values)}


def marginals(people: Sequence[Chances], values: Sequence[Value]) -> list[dict[Value, Fraction]]:
    """For every person, the probability of each published value."""
    found: list[dict[Value, Fraction]] = [{value: Fraction(0) for value in sorted(set(values))} for _ in people]
    for deal, chance in distribution(people, values).items():
        for person, value in zip(found, deal, strict=True):
            person[value] += chance
    return found


def chances_in_cell(shares: Mapping[Name, Fraction], at: Mapping[Name, Chances]) -> dict[Value, Fraction]:
    """P(value | cell), for a person who is at one of several points with known shares."""
    values = sorted({value for point in shares for value in at[point]})
    return {
        value: sum((shares[point] * at[point].get(value, Fraction(0)) for point in shares), Fraction(0))
        for value in values
    }


def point_given_value(
    shares: Mapping[Name, Fraction], at: Mapping[Name, Chances], value: Value
) -> dict[Name, Fraction]:
    """P(point | cell, value): where in its cell a person is whose value is known."""
    joint = {point: shares[point] * at[point].get(value, Fraction(0)) for point in shares}
    whole = sum(joint.values(), Fraction(0))
    return {point: weight / whole for point, weight in joint.items()}


def chances_shown(chances: Chances, kept: Fraction, values: Sequence[Value]) -> dict[Value, Fraction]:
    """P(shown value): the true one with probability ``kept``, otherwise any of all values at random."""
    return {
        shown: sum(
            (
                chances.get(true, Fraction(0)) * (kept * (true == shown) + (1 - kept) * Fraction(1, len(values)))
                for true in values
            ),
            Fraction(0),
        )
        for shown in values
    }


def truth_given_shown(chances: Chances, shown: Value, kept: Fraction, values: Sequence[Value]) -> dict[Value, Fraction]:
    """P(true value | shown value) in a sample whose values were perturbed."""
    joint = {
        true: chances.get(true, Fraction(0)) * (kept * (true == shown) + (1 - kept) * Fraction(1, len(values)))
        for true in values
    }
    whole = sum(joint.values(), Fraction(0))
    return {true: weight / whole for true, weight in joint.items()}


def shares_in_cell(
    people: int, inside: Sequence[Name], attained: Sequence[Name], marginal: Mapping[Name, Fraction]
) -> dict[Name, Fraction]:
    """Shares of the values of one attribute among the people of a cell.

    Parameters
    ----------
    people
        How many people the cell has.
    inside
        The values that the cell covers.
    attained
        Values that somebody in the cell is known to have: the ends of an interval, every value of a list, nothing for
        a label of a taxonomy. There are at most as many as people.
    marginal
        Shares of the values among everybody. The people who are not needed for the attained values follow it, within
        the cell.
    """
    assert len(set(attained)) <= people
    covered = sum((marginal[value] for value in inside), Fraction(0))
    others = people - len(set(attained))
    return {value: (Fraction(int(value in attained)) + others * marginal[value] / covered) / people for value in inside}


def reestimated(
    cells: Sequence[tuple[int, Sequence[Name], Sequence[Name]]], marginal: Mapping[Name, Fraction]
) -> dict[Name, Fraction]:
    """One step of Turnbull's re-estimation: the shares of everybody, as the cells have them under ``marginal``.

    A cell is its number of people, the values inside it, and the values that somebody in it is known to have.
    """
    counts = dict.fromkeys(marginal, Fraction(0))
    for people, inside, attained in cells:
        for value, share in shares_in_cell(people, inside, attained, marginal).items():
            counts[value] += people * share
    everybody = sum(people for people, _, _ in cells)
    return {value: count / everybody for value, count in counts.items()}
