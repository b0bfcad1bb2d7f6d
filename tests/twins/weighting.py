# SPDX-License-Identifier: Apache-2.0
"""Weighted and joint totals by force: every deal of a group's sensitive values, in fractions.

People are dictionaries of quasi-identifiers. A group is its people and, by column, the values that occur in it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from typing import Any

Person = dict[str, Any]
Group = tuple[list[Person], dict[str, list[Any]]]


def groups_of(tables: dict[str, list[Person]], quasi: list[str], sensitive: list[str]) -> list[Group]:
    """The groups of a release that publishes quasi-identifiers exactly and a table of counts for each column."""
    people = next(rows for rows in tables.values() if "Count" not in rows[0])
    found = []
    for number in sorted({row["Group-ID"] for row in people}):
        own = [{name: row[name] for name in quasi} for row in people if row["Group-ID"] == number]
        values = {}
        for column in sensitive:
            rows = next(rows for rows in tables.values() if "Count" in rows[0] and column in rows[0])
            values[column] = [row[column] for row in rows if row["Group-ID"] == number for _ in range(row["Count"])]
        found.append((own, values))
    return found


def deals_of(group: Group) -> list[list[Person]]:
    """Every way to deal the values of all columns to the people, each column by a shuffle of its own."""
    people, values = group
    orders = [list(permutations(own)) for own in values.values()]
    return [
        [
            {**person, **dict(zip(values, own, strict=True))}
            for person, own in zip(people, zip(*deal, strict=True), strict=True)
        ]
        for deal in product(*orders)
    ]


def totals(groups: list[Group], amounts: list[Callable[[Person], Any]]) -> tuple[list[Any], list[list[Any]]]:
    """Means of the totals of some amounts over everybody, and their covariances; groups are dealt independently."""
    means = [Fraction(0) for _ in amounts]
    covariances = [[Fraction(0) for _ in amounts] for _ in amounts]
    for group in groups:
        deals = deals_of(group)
        found = [[sum((Fraction(amount(own)) for own in deal), Fraction(0)) for amount in amounts] for deal in deals]
        mean = [sum(column, Fraction(0)) / len(deals) for column in zip(*found, strict=True)]
        for x in range(len(amounts)):
            means[x] += mean[x]
            for y in range(len(amounts)):
                both = sum((row[x] * row[y] for row in found), Fraction(0)) / len(deals)
                covariances[x][y] += both - mean[x] * mean[y]
    return means, covariances


def hidden(
    groups: list[Group], amounts: list[Callable[[Person], Any]], square: Callable[[Person], Fraction]
) -> list[list[Any]]:
    """The covariances that hidden parts of weights add, if each person's has the variance ``square``.

    They are ``(Q - T T / R) (1 + m / 100)``, where m is how many people the first amount counts, each by the ratio of
    the person's variance to the mean one.
    """

    def expected(amount: Callable[[Person], Any]) -> Any:
        return totals(groups, [lambda own: square(own) * Fraction(amount(own))])[0][0]

    everybody = expected(lambda _: 1)
    if not everybody:
        return [[Fraction(0) for _ in amounts] for _ in amounts]
    once = [expected(amount) for amount in amounts]
    alike = 1 + once[0] * sum(len(people) for people, _ in groups) / everybody / 100
    found = []
    for x, one in enumerate(amounts):
        twice = [expected(lambda own, a=one, b=other: Fraction(a(own)) * Fraction(b(own))) for other in amounts]
        found.append([(both - once[x] * once[y] / everybody) * alike for y, both in enumerate(twice)])
    return found


def joint_ends(group: Group, wanted: Callable[[Person], bool]) -> tuple[int, int]:
    """The fewest and the most people of a group of whom a condition holds, over all deals of all columns."""
    found = [sum(map(wanted, deal)) for deal in deals_of(group)]
    return min(found), max(found)
