# SPDX-License-Identifier: Apache-2.0
"""Singling out, linkability and inference, slowly: every predicate and every pair of records, by the texts of cells.

A box is a tuple of cells, as they are published: ``[21, 60]``, ``{F, M}``, or one value. A person is a tuple of values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

__all__ = ["Box", "covers", "ends", "guesses", "isolated", "links", "predicates"]

Box = tuple[str, ...]
Predicate = tuple[Box, dict[int, Any]]  # a box, and a value for some of its attributes


def covers(cell: str, value: Any) -> bool:
    """Whether a value may stand behind a cell."""
    if cell.startswith("["):
        low, high = cell[1:-1].split(", ")
        return int(low) <= value <= int(high)
    return str(value) in cell[1:-1].split(", ") if cell.startswith("{") else str(value) == cell


def ends(cell: str) -> list[str]:
    """The two ends of an interval, the values of a set; nothing of a single value."""
    return cell[1:-1].split(", ") if cell[0] in "[{" else []


def predicates(boxes: Sequence[Box], together: int) -> list[Predicate]:
    """Every way to choose a box, so many of its attributes, and an end of each."""
    found = []
    for box in sorted(set(boxes)):
        for chosen in combinations(range(len(box)), together):
            for values in product(*(ends(box[d]) for d in chosen)):
                found.append((box, dict(zip(chosen, values, strict=True))))
    return found


def isolated(tried: Sequence[Predicate], people: Sequence[tuple[Any, ...]]) -> int:
    """How many predicates fit exactly one person."""
    n = 0
    for box, values in tried:
        fitting = [
            person
            for person in people
            if _in(box, person) and all(str(person[d]) == value for d, value in values.items())
        ]
        n += len(fitting) == 1
    return n


def guesses(rows: Sequence[tuple[Box, Any]], people: Sequence[tuple[Any, ...]], truth: Sequence[Any]) -> Fraction:
    """The expected number of people whose value is guessed; rows are boxes with a sensitive value."""
    overall = Counter(value for _, value in rows)
    right = Fraction(0)
    for person, own in zip(people, truth, strict=True):
        score: dict[Any, Fraction] = {}
        for box, value in rows:
            if _in(box, person):
                rivals = sum(_in(box, other) for other in people)
                score[value] = score.get(value, Fraction(0)) + Fraction(1, rivals)
        likely: dict[Any, Any] = score or dict(overall)
        best = [value for value, weight in likely.items() if weight == max(likely.values())]
        right += Fraction(own in best, len(best))
    return right


def links(
    boxes: Sequence[Box], people: Sequence[tuple[Any, ...]], first: Sequence[int], second: Sequence[int]
) -> Fraction:
    """The expected number of people whose record on a second list is found; one box for every published row."""
    right = Fraction(0)
    for me, person in enumerate(people):
        score = [Fraction(0)] * len(people)
        for box in boxes:
            if _in(box, person, first):
                fitting = [j for j, other in enumerate(people) if _in(box, other, second)]
                for j in fitting:
                    score[j] += Fraction(1, len(fitting))
        best = [j for j, weight in enumerate(score) if weight == max(score)]
        right += Fraction(me in best, len(best))
    return right


def _in(box: Box, person: tuple[Any, ...], attributes: Sequence[int] | None = None) -> bool:
    chosen = range(len(box)) if attributes is None else attributes
    return all(covers(box[d], person[d]) for d in chosen)
