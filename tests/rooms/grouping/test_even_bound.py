# SPDX-License-Identifier: Apache-2.0
"""MINIMALITY Theorem 5 made exact: after even splits no belief is above 2 in 2l - 1, counted over all multisets.

With one cut a node a group that was not cut is told by its halves alone: worlds are counted, not listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

import pytest

import glasshouse as gh
from glasshouse.grouping.cuts.even_split import EvenSplit
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.test_even_split import multisets
from tests.tiers import tables


def bound_of(ell: int, extra: int) -> Fraction:
    """What the method says of itself."""
    claim = EvenSplit(extra=extra).claim(Requirement.of(gh.LDiversity(ell=ell), gh.examples.transparent_t1()))
    (found,) = re.findall(r"(?:may reach|at most) (\d+/\d+)", claim.limits[0] if extra == 0 else claim.theorem)
    return Fraction(found)


def obeying(counts: Sequence[int], size: int, most: int, most_beside: int) -> int:
    """Ways to choose ``size`` of the tuples, with no value too often among them nor among the others."""
    ways = [1] + [0] * size
    for count in counts:
        more = [0] * (size + 1)
        for here in range(max(0, count - most_beside), min(count, most, size) + 1):
            for there in range(size + 1 - here):
                more[there + here] += ways[there] * comb(count, here)
        ways = more
    return ways[size]


def beliefs(counts: Sequence[int], ell: int) -> Iterator[tuple[Fraction, Fraction]]:
    """The belief in every value of a person in the smaller half, and in the larger, of a group left whole."""
    n = sum(counts)
    small, large = n // 2, n - n // 2
    failing = comb(n, small) - obeying(counts, small, small // ell, large // ell)
    if not failing:
        return
    for i, count in enumerate(counts):
        if count in counts[:i]:
            continue
        others = [*counts[:i], *counts[i + 1 :]]
        inside = 0
        for here in range(max(0, count - large), min(count, small) + 1):
            ways = comb(n - count, small - here)
            if here <= small // ell and count - here <= large // ell:
                ways -= obeying(others, small - here, small // ell, large // ell)
            inside += here * comb(count, here) * ways
        yield Fraction(inside, failing * small), Fraction(count * failing - inside, failing * large)


def frequencies(n: int, ell: int) -> list[list[int]]:
    return [[values.count(v) for v in range(max(values) + 1)] for values in multisets(n, ell)]


@pytest.mark.parametrize("ell", [2, 3, 4, 5])
def test_the_worst_belief_is_the_one_that_is_stated_and_4l_less_1_people_reach_it(ell: int) -> None:
    worst = {}
    for n in range(2 * ell, 4 * ell + tables(4)):
        found = [pair for counts in frequencies(n, ell) for pair in beliefs(counts, ell)]
        worst[n] = max((max(pair) for pair in found), default=Fraction(0))
        if n % 2 == 0:
            assert worst[n] <= Fraction(1, ell)  # equal halves tell nothing
        assert all(larger <= Fraction(1, ell) for _, larger in found)

    assert max(worst.values()) == worst[4 * ell - 1] == bound_of(ell, 0) == Fraction(2, 2 * ell - 1)
    assert next(n for n, belief in worst.items() if belief > Fraction(1, ell)) == 4 * ell - 1


@pytest.mark.parametrize("ell", [2, 3, 4])
def test_what_is_stated_for_splits_at_l_plus_one_is_the_same_bound_and_below_one_in_l(ell: int) -> None:
    n = 4 * (ell + 1) - 1
    worst = max(max(pair) for counts in frequencies(n, ell + 1) for pair in beliefs(counts, ell + 1))

    assert worst == bound_of(ell, 1) < Fraction(1, ell)


@pytest.mark.parametrize("counts", [[2, 1, 1, 1, 1, 1], [3, 2, 1, 1], [2, 2, 1, 1], [3, 3, 1]])
def test_worlds_that_are_counted_are_those_that_are_listed(counts: list[int]) -> None:
    values = [value for value, count in enumerate(counts) for _ in range(count)]
    n, half = len(values), len(values) // 2
    failing = []
    for chosen in combinations(range(n), half):
        inside, outside = ([values[i] for i in range(n) if (i in chosen) == side] for side in (True, False))
        if any(max(part.count(v) for v in part) * 2 > len(part) for part in (inside, outside)):
            failing.append(inside)
    of_value = {
        count: Fraction(sum(part.count(counts.index(count)) for part in failing), len(failing) * half)
        for count in dict.fromkeys(counts)
    }

    assert [smaller for smaller, _ in beliefs(counts, 2)] == [*of_value.values()]


def test_every_step_of_the_proof_holds_as_it_is_written() -> None:
    """In `glasshouse.grouping.cuts.even_split`: 1, and 4, over the worlds in which one half has a value too often."""
    tried = 0
    for ell in range(2, 6):
        for s in range(ell + 1, 9 * ell):
            b = s // ell
            for m in range(b + 1, (2 * s - 1) // ell + 1):
                if m == 2 * b + 1 and (s - 1) // ell == b:
                    continue  # the cut fails in every world
                js = range(b + 1, m + 1)
                smaller = [comb(s - 1, j) * comb(s, m - j) for j in js]
                larger = [comb(s, j) * comb(s - 1, m - j) for j in js]
                assert all(x <= y for x, y in zip(smaller, larger, strict=True))
                total = sum(smaller) + sum(larger)
                mean = Fraction(sum(j * y + (m - j) * x for j, x, y in zip(js, smaller, larger, strict=True)), total)
                weights = [comb(s, j) * comb(s, m - j) for j in js]
                squares = Fraction(sum((2 * j - m) ** 2 * w for j, w in zip(js, weights, strict=True)), sum(weights))
                e = 2 * b + 2 - m
                assert mean == Fraction(m, 2) + squares / (2 * (2 * s - m))
                most = Fraction(m * (2 * s - m) + (e - 1) * (b + 1) * (2 * s - m + e), 2 * s - 1)
                assert squares <= most
                assert Fraction(m, 2) + most / (2 * (2 * s - m)) <= Fraction(2 * s, 2 * ell - 1)
                tried += 1
    assert tried > 400
