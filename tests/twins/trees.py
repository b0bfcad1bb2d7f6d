# SPDX-License-Identifier: Apache-2.0
"""Trees from perturbed samples, slowly: exact fractions, and cells as sets of values that can be listed.

A row is its cells (a set of values for every attribute), the class that it shows, what it weighs, and what one tuple
weighs. A box is a set of values for every attribute. Lines have whole numbers for values; categories have texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import log, prod

__all__ = ["Grown", "How", "Row", "grow", "inverted", "likeliest", "parts", "sets_of"]

Values = frozenset[int] | frozenset[str]
Box = tuple[Values, ...]


@dataclass(frozen=True)
class Row:
    cells: Box
    shown: int
    weight: Fraction
    each: Fraction


@dataclass(frozen=True)
class How:
    """Retention, shares of the classes in the domain, least information of a leaf.

    ``beyond_chance(statistic, freedoms, tests)`` says whether a cut may be considered, where ``tests`` is by how much
    the level is divided.
    """

    p: Fraction
    shares: tuple[Fraction, ...]
    least: Fraction = Fraction(1)
    beyond_chance: Callable[[Fraction, int, int], bool] = lambda statistic, freedoms, tests: True


@dataclass(frozen=True)
class Grown:
    """A node: what it shows, how many equally heavy tuples it is worth, its distribution; cut into two or not."""

    shown: tuple[Fraction, ...]
    n: Fraction
    distribution: tuple[Fraction, ...]
    axis: int | None = None
    gain: Fraction | None = None
    statistic: Fraction | None = None
    left: Grown | None = None
    right: Grown | None = None


def inverted(shown: Sequence[Fraction], p: Fraction, shares: Sequence[Fraction]) -> tuple[Fraction, ...]:
    weight = sum(shown, Fraction(0))
    return tuple((o - (1 - p) * s * weight) / p for o, s in zip(shown, shares, strict=True))


def likeliest(shown: Sequence[Fraction], p: Fraction, shares: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Every set of classes that may be absent; of the distributions that come out, the likeliest."""
    classes = range(len(shown))
    best, most = None, -float("inf")
    for size in range(len(shown)):
        for absent in combinations(classes, size):
            free = [c for c in classes if c not in absent]
            of_free = sum(shown[c] for c in free)
            if not of_free:
                continue
            rest = 1 - sum((1 - p) * shares[c] for c in absent)
            q = [(1 - p) * shares[c] if c in absent else shown[c] / of_free * rest for c in classes]
            t = tuple((q[c] - (1 - p) * shares[c]) / p for c in classes)
            if min(t) < 0 or any(o and not x for o, x in zip(shown, q, strict=True)):
                continue
            likelihood = sum(float(o) * log(float(x)) for o, x in zip(shown, q, strict=True) if o)
            if likelihood > most + 1e-12:
                best, most = t, likelihood
    assert best is not None
    return best


def parts(rows: Sequence[Row], box: Box) -> list[tuple[Row, Fraction]]:
    """The rows that may be in a box, each with the share of it that is."""
    found = []
    for row in rows:
        share = prod(
            (Fraction(len(cell & side), len(cell)) for cell, side in zip(row.cells, box, strict=True)),  # type: ignore[operator]
            start=Fraction(1),
        )
        if share:
            found.append((row, share))
    return found


def counted(rows: Sequence[Row], box: Box, n_classes: int) -> tuple[tuple[Fraction, ...], Fraction]:
    """What a box shows of every class, and W^2 / V; 0 for an empty box."""
    shown, spread = [Fraction(0)] * n_classes, Fraction(0)
    for row, share in parts(rows, box):
        shown[row.shown] += row.weight * share
        spread += row.weight * share * row.each
    return tuple(shown), sum(shown) ** 2 / spread if spread else Fraction(0)


def gini(distribution: Sequence[Fraction]) -> Fraction:
    return 1 - sum(t * t for t in distribution)


def sets_of(rows: Sequence[Row], box: Box, axis: int, n_classes: int) -> Iterator[tuple[Values, int, int]]:
    """The left sides that are tried, with the freedoms of their test and what the level is divided by.

    On a line, all values up to where a cell begins or ends in the box. Of categories, the beginnings of the orders by
    what share of a category shows a class.
    """
    d = len(box)
    present = frozenset().union(*(row.cells[axis] & box[axis] for row, _ in parts(rows, box)))  # type: ignore[operator]
    if all(isinstance(value, int) for value in present):
        ends: set[int] = set()
        for row, _ in parts(rows, box):
            cell = row.cells[axis] & box[axis]  # type: ignore[operator]
            ends |= {min(cell) - 1, max(cell)}
        lefts = []
        for end in sorted(ends):
            left = frozenset(value for value in present if value <= end)
            if left and left != present and left not in lefts:
                lefts.append(left)
        yield from ((left, n_classes - 1, d * len(lefts)) for left in lefts)
        return
    shares = {}
    for value in sorted(present):
        shown, _ = counted(rows, (*box[:axis], frozenset([value]), *box[axis + 1 :]), n_classes)
        shares[value] = [o / sum(shown) for o in shown]
    for c in range(1 if n_classes == 2 else n_classes):
        order = sorted(sorted(present), key=lambda value: -shares[value][c])
        for size in range(1, len(order)):
            yield frozenset(order[:size]), (len(order) - 1) * (n_classes - 1), d


def judged(rows: Sequence[Row], box: Box, axis: int, left: Values, how: How) -> tuple[Fraction, Fraction] | None:
    """Gain by Gini and statistic of a cut; None if a side knows too little."""
    m = len(how.shares)
    whole, _ = counted(rows, box, m)
    sides = []
    for side in (box[axis] & left, box[axis] - left):  # type: ignore[operator]
        shown, n = counted(rows, (*box[:axis], side, *box[axis + 1 :]), m)
        if not n or how.p**2 * n < how.least:
            return None
        sides.append((shown, n))
    total = sum(whole)
    mixed = sum(sum(shown) * gini(likeliest(shown, how.p, how.shares)) for shown, _ in sides) / total
    gain = gini(likeliest(whole, how.p, how.shares)) - mixed
    spread = sum(1 / n for _, n in sides)
    (one, _), (other, _) = sides
    statistic = sum(
        ((one[c] / sum(one) - other[c] / sum(other)) ** 2 / (whole[c] / total) for c in range(m) if whole[c]),
        Fraction(0),
    )
    return gain, statistic / spread


def grow(rows: Sequence[Row], box: Box, how: How) -> Grown:
    """The whole tree: the cut with the largest gain, of the first attribute and the first set that reach it."""
    m = len(how.shares)
    shown, n = counted(rows, box, m)
    distribution = likeliest(shown, how.p, how.shares)
    best: tuple[Fraction, Fraction, int, Values] | None = None
    if max(distribution) < 1:
        for axis in range(len(box)):
            for left, freedoms, tests in sets_of(rows, box, axis, m):
                found = judged(rows, box, axis, left, how)
                if found is None or found[0] < 0 or not how.beyond_chance(found[1], freedoms, tests):
                    continue
                if best is None or found[0] > best[0]:
                    best = (*found, axis, left)
    if best is None:
        return Grown(shown, n, distribution)
    gain, statistic, axis, left = best
    below = [
        grow(rows, (*box[:axis], side, *box[axis + 1 :]), how)
        for side in (box[axis] & left, box[axis] - left)  # type: ignore[operator]
    ]
    return Grown(shown, n, distribution, axis, gain, statistic, *below)
