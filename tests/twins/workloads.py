# SPDX-License-Identifier: Apache-2.0
"""Workloads, slowly: counts by a plain loop, and estimates with their errors by looking at every pair of tuples.

A question is, for some attributes, the values that it asks for. A tuple of a release is, for every attribute, the
values that its cell stands for, all equally likely and independent of those of other tuples; the sensitive values of a
group are dealt to its tuples without replacement. Everything is an exact fraction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

__all__ = ["chance", "count", "in_groups", "in_sample", "share_of_values"]

Asked = Mapping[str, Sequence[Any]]
Cells = Mapping[str, Sequence[Any]]


def count(people: Sequence[Mapping[str, Any]], asked: Asked) -> int:
    """How many people have the values that are asked for."""
    return sum(all(person[name] in values for name, values in asked.items()) for person in people)


def chance(cells: Cells, asked: Asked) -> Fraction:
    """How likely a tuple satisfies the question, as far as its quasi-identifiers go."""
    found = Fraction(1)
    for name, values in asked.items():
        if name in cells:
            found *= Fraction(sum(value in values for value in cells[name]), len(cells[name]))
    return found


def in_groups(groups: Sequence[tuple[Sequence[Cells], Sequence[Any]]], asked: Asked, sensitive: str) -> Any:
    """Mean and variance of a count, from the tuples and the sensitive values of every group."""
    mean = variance = Fraction(0)
    for tuples, values in groups:
        n = len(values)
        chances = [chance(cells, asked) for cells in tuples]
        matches = [sensitive not in asked or value in asked[sensitive] for value in values]
        own = sum(chances, Fraction(0)) * sum(matches) / n
        square = Fraction(0)  # of the number of tuples that match: over all pairs, a tuple with itself among them
        for i, j in product(range(n), repeat=2):
            if i == j:
                square += chances[i] * Fraction(sum(matches), n)
            else:
                both = sum(matches[k] and matches[m] for k in range(n) for m in range(n) if k != m)
                square += chances[i] * chances[j] * Fraction(both, n * (n - 1))
        mean += own
        variance += square - own**2
    return mean, variance


def in_sample(
    rows: Sequence[tuple[Cells, Any, int]],
    asked: Asked,
    sensitive: str,
    domain: Sequence[Any],
    p: Fraction,
    true: Mapping[Any, Fraction],
) -> Any:
    """Estimate of a count and its variance, from cells, perturbed values and the sizes of groups.

    The error of a group: its members have independent values, distributed as ``true``, and places in the box. Of one of
    them a perturbed value is shown. Every case of that member is tried; the others are alike and not shown.
    """
    m = len(domain)
    wanted = [sensitive not in asked or value in asked[sensitive] for value in domain]
    share = Fraction(sum(wanted), m)

    def inverted(y: int) -> Fraction:
        return share if p == 0 else (wanted[y] - (1 - p) * share) / p

    mean = variance = Fraction(0)
    for cells, shown, size in rows:
        s = chance(cells, asked)
        mean += size * s * inverted(domain.index(shown))
        first = second = Fraction(0)  # of what is estimated less what the shown member adds to the truth
        for x, y, inside in product(range(m), range(m), (0, 1)):
            weight = true[domain[x]] * (p * (x == y) + (1 - p) / m) * (s if inside else 1 - s)
            off = size * s * inverted(y) - wanted[x] * inside
            first += weight * off
            second += weight * off**2
        hit = s * sum((true[v] for v, w in zip(domain, wanted, strict=True) if w), Fraction(0))
        variance += second - first**2 + (size - 1) * hit * (1 - hit)
    return mean, variance


def share_of_values(rows: Sequence[tuple[Any, int]], domain: Sequence[Any], p: Fraction) -> dict[Any, Fraction]:
    """The distribution of true values behind a sample's: inverted, what is below 0 left out, and scaled."""
    total, m = sum(size for _, size in rows), len(domain)
    if p == 0:
        return dict.fromkeys(domain, Fraction(1, m))
    seen = {v: Fraction(sum(size for shown, size in rows if shown == v), total) for v in domain}
    found = {v: max(Fraction(0), (seen[v] - (1 - p) / m) / p) for v in domain}
    whole = sum(found.values(), Fraction(0))
    return {v: found[v] / whole for v in domain}
