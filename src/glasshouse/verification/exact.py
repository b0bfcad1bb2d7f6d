# SPDX-License-Identifier: Apache-2.0
"""Comparisons without rounding: floating point only selects the groups that must be compared exactly."""

from __future__ import annotations

import decimal
import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.verification.groups import Histograms

__all__ = ["below_entropy", "entropies", "exceeds", "largest", "smallest_entropy"]

_CLOSE = 1e-12  # relative; far above what two roundings to double precision can do to a quotient
_CLOSE_ENTROPY = 1e-7  # absolute; far above the rounding of a sum of a billion logarithms
_DIGITS = 60
_MILLION = 1_000_000
_FITS = 1 << 62
_SMALL = 1 << 31  # the product of two smaller numbers fits into 64 bits
_EQUAL = decimal.Decimal(10) ** (20 - _DIGITS)  # numbers of that many digits that differ by less may be equal


def largest(numerators: NDArray[Any], denominators: NDArray[Any]) -> tuple[Fraction, NDArray[np.int64]]:
    """Find the largest of some fractions, exactly, and where it is attained."""
    quotients = _quotients(numerators, denominators)
    near = np.flatnonzero(quotients >= quotients.max() * (1 - _CLOSE))
    above, below = _multipliable(numerators[near], denominators[near])
    best = 0
    while (lead := above * below[best] - above[best] * below).max() > 0:  # every step leads to a larger fraction
        best = int(lead.argmax())
    return Fraction(int(above[best]), int(below[best])), near[lead == 0]


def exceeds(numerators: NDArray[Any], denominators: NDArray[Any], limit: Fraction) -> NDArray[np.bool_]:
    """Whether each fraction is larger than ``limit``, exactly."""
    quotients = _quotients(numerators, denominators)
    bound = float(limit)
    answer = quotients > bound
    near = np.flatnonzero(np.abs(quotients - bound) <= _CLOSE * bound)
    above, below = _multipliable(numerators[near], denominators[near], limit.denominator, limit.numerator)
    answer[near] = above * limit.denominator > limit.numerator * below
    return np.asarray(answer)


def smallest_entropy(seen: Histograms) -> tuple[int, NDArray[np.int64]]:
    """Find ``exp`` of the smallest entropy in millionths, rounded down, and the groups that attain it."""
    alone = np.flatnonzero(seen.distinct == 1)
    if len(alone):
        return _MILLION, alone
    approximate = entropies(seen)
    near = np.flatnonzero(approximate <= approximate.min() + _CLOSE_ENTROPY)
    kinds, kind_of = _kinds(seen, near)
    exact = [_diversity(counts) for counts in kinds]
    with decimal.localcontext(prec=_DIGITS):
        bound = min(exact) * (1 + _EQUAL)
    millionths = int(bound * _MILLION) + 1
    least = [value <= bound for value in exact]
    while any(_below(counts, Fraction(millionths, _MILLION)) for counts in itertools.compress(kinds, least)):
        millionths -= 1
    return millionths, near[np.array(least)[kind_of]]


def below_entropy(seen: Histograms, ell: Fraction) -> NDArray[np.bool_]:
    """Whether each group's entropy is below ``log(ell)``, exactly."""
    approximate = entropies(seen)
    bound = math.log(ell)
    answer = approximate < bound
    near = np.flatnonzero(np.abs(approximate - bound) <= _CLOSE_ENTROPY)
    kinds, kind_of = _kinds(seen, near)
    answer[near] = np.array([_below(counts, ell) for counts in kinds], bool)[kind_of]
    return np.asarray(answer)


def entropies(seen: Histograms) -> NDArray[np.float64]:
    """The entropy of each group in floating point, for selecting and naming groups only."""
    sums = np.add.reduceat(seen.counts * np.log(seen.counts), seen.offsets[:-1])
    return np.asarray(np.log(seen.sizes) - sums / seen.sizes)


def _kinds(seen: Histograms, groups: NDArray[np.int64]) -> tuple[list[bytes], NDArray[np.int64]]:
    """Give the different histograms of some groups, as the bytes of 64-bit counts, and which one each group has."""
    starts, ends = seen.offsets[groups], seen.offsets[groups + 1]
    top, distinct = seen.descending[starts], ends - starts
    level = top * distinct == seen.sizes[groups]  # often nearly all: every value as often as the others
    kind_of = np.empty(len(groups), np.int64)
    numbers, kind_of[level] = np.unique(top[level] * _SMALL + distinct[level], return_inverse=True)
    kinds = {np.full(key % _SMALL, key // _SMALL, np.int64).tobytes(): i for i, key in enumerate(numbers.tolist())}
    bounds = zip(starts[~level].tolist(), ends[~level].tolist(), strict=True)
    others = (seen.descending[start:end].tobytes() for start, end in bounds)
    kind_of[~level] = [kinds.setdefault(counts, len(kinds)) for counts in others]
    return list(kinds), kind_of


def _powers(key: bytes) -> dict[int, int]:
    """Give the records of a group by how often their value occurs: the powers in ``prod(c^c)``, all values together."""
    numbers, times = np.unique(np.frombuffer(key, np.int64), return_counts=True)
    return {count: count * n_values for count, n_values in zip(numbers.tolist(), times.tolist(), strict=True)}


def _entropy(powers: dict[int, int]) -> decimal.Decimal:
    """Compute the entropy of a group, ``log(n) - sum(c log(c)) / n``, in the digits of the context."""
    n = sum(powers.values())
    weighted = sum((power * decimal.Decimal(count).ln() for count, power in powers.items()), decimal.Decimal(0))
    return decimal.Decimal(n).ln() - weighted / n


def _diversity(key: bytes) -> decimal.Decimal:
    """Compute ``exp`` of the entropy of a group to `_DIGITS` digits or a few less."""
    with decimal.localcontext(prec=_DIGITS):
        return _entropy(_powers(key)).exp()


def _below(key: bytes, ell: Fraction) -> bool:
    """Whether ``exp`` of a group's entropy is below ``ell``: by logarithms, or by whole powers if those are equal."""
    powers = _powers(key)
    with decimal.localcontext(prec=_DIGITS):
        bound = decimal.Decimal(ell.numerator).ln() - decimal.Decimal(ell.denominator).ln()
        gap = _entropy(powers) - bound
        if abs(gap) > _EQUAL:
            return bool(gap < 0)
    # n^n < ell^n * prod(c^c), after the largest root that leaves all powers whole
    n = sum(powers.values())
    root = math.gcd(n, *powers.values())
    product = math.prod(count ** (power // root) for count, power in powers.items())
    return bool((n * ell.denominator) ** (n // root) < ell.numerator ** (n // root) * product)


def _multipliable(
    numerators: NDArray[Any], denominators: NDArray[Any], *factors: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Convert to a type in which products do not overflow: Python's integers if 64 bits may not suffice."""
    most = [int(part.max(initial=0)) for part in (numerators, denominators)]
    if max(*most, *factors) < _SMALL or (not factors and most[0] * most[1] < _FITS):
        return numerators, denominators
    return numerators.astype(object), denominators.astype(object)


def _quotients(numerators: NDArray[Any], denominators: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(numerators / denominators, np.float64)
