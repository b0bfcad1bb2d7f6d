# SPDX-License-Identifier: Apache-2.0
"""Estimates by force: every place of every tuple in its cell, every order of a group's sensitive values."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from typing import Any

Person = dict[str, Any]


def possible(cell: Any) -> list[Any]:
    """The values that a cell stands for: ``[21, 23]`` of whole numbers, ``{a, b}``, or the value itself."""
    if not isinstance(cell, str):
        return [cell]
    ends = re.fullmatch(r"\[(-?\d+), (-?\d+)\]", cell)
    if ends:
        return list(range(int(ends[1]), int(ends[2]) + 1))
    if cell.startswith("{"):
        return cell[1:-1].split(", ")
    return [int(cell)] if re.fullmatch(r"-?\d+", cell) else [cell]


def groups_of(kind: str, tables: dict[str, list[Person]], quasi: list[str], sensitive: str) -> list[Any]:
    """Every group: for each tuple its cells; and the sensitive values, in no order."""
    if kind == "boxes":
        by_box: dict[tuple[Any, ...], list[Any]] = {}
        for row in tables["data"]:
            by_box.setdefault(tuple(row[name] for name in quasi), []).append(row[sensitive])
        return [([box] * len(values), values) for box, values in by_box.items()]
    number = "Group-ID" if kind == "anatomy" else "Batch-ID"
    apart = next(t for t in tables.values() if "Count" in t[0])
    rows = next(t for t in tables.values() if t is not apart)
    found = []
    for group in sorted({row[number] for row in rows}):
        cells = [tuple(row[name] for name in quasi) for row in rows if row[number] == group]
        values = [row[sensitive] for row in apart if row[number] == group for _ in range(row["Count"])]
        found.append((cells, values))
    return found


def count(groups: list[Any], quasi: list[str], sensitive: str, amount: Callable[[Person], Any]) -> tuple[Any, Any]:
    """Mean and variance of the total amount over all people, exact."""
    mean = variance = Fraction(0)
    for cells, values in groups:
        places = [list(product(*(possible(cell) for cell in row))) for row in cells]
        totals: list[Fraction] = []
        for order in permutations(values):
            # people lie in their cells independently of each other: moments of a sum, given the order
            first = second = Fraction(0)
            for where, value in zip(places, order, strict=True):
                amounts = [
                    Fraction(amount({**dict(zip(quasi, place, strict=True)), sensitive: value})) for place in where
                ]
                own = sum(amounts, Fraction(0)) / len(amounts)
                first += own
                second += sum((a * a for a in amounts), Fraction(0)) / len(amounts) - own * own
            totals.append(first)
            totals.append(second)
        means, spreads = totals[0::2], totals[1::2]
        middle = sum(means, Fraction(0)) / len(means)
        mean += middle
        variance += sum(((m - middle) ** 2 for m in means), Fraction(0)) / len(means)
        variance += sum(spreads, Fraction(0)) / len(spreads)
    return mean, variance
