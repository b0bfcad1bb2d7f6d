# SPDX-License-Identifier: Apache-2.0
"""Estimates: the expected value and the error of a count, a sum or a mean over hidden records.

One model serves every kind of release but perturbed samples. In a group of n records, record i lies in its cell
wherever it may, independently of the others; the group's n sensitive values are dealt to its records in random order. A
question gives a record with a value of class a (values that the question treats alike, ``B_a`` of them in the group) a
random amount with mean ``mu_ia`` and mean square ``s_ia``; for a count both are the probability that the record
satisfies the rest of the question. With ``M_a = sum_i mu_ia``, ``S_a = sum_i s_ia`` and ``D_ab = sum_i mu_ia mu_ib``
the group's total has

    mean      E = sum_a B_a M_a / n
    variance  sum_a B_a S_a / n  +  sum_ab B_a (B_b - [a = b]) (M_a M_b - D_ab) / (n (n - 1))  -  E^2

for the values of two records are of classes a and b with probability ``B_a (B_b - [a = b]) / (n (n - 1))``. Groups are
independent: means and variances add up. Where quasi-identifiers are exact (anatomy, permutation) a count is
hypergeometric, and where all records of a group share a box it is binomial: both are special cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Amounts", "Dealt", "Estimate", "Summed", "Totals", "ratio", "totals", "totals_apart"]

_WIDTH = 1.959963984540054  # of a 95 % interval, in standard errors
_ROUNDING = 1e-9  # what adding many floats loses of a number


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its error bar.

    Attributes
    ----------
    value
        What is expected.
    error
        Its standard error, under the model of the release.
    low, high
        A 95 % interval; what is impossible is cut off.

    All of them are NaN for a number that is undefined, such as the average of nobody.
    """

    value: float
    error: float
    low: float
    high: float

    @classmethod
    def normal(cls, value: float, variance: float, *, least: float = -np.inf, most: float = np.inf) -> Estimate:
        """Make an estimate from value and variance of a normal distribution, truncated to possible values.

        If the value is undefined, such as the average of nobody, so are its error and its interval.
        """
        if isnan(value):
            return cls(value, value, value, value)
        error = float(np.sqrt(max(variance, 0.0)))
        error = 0.0 if error <= _ROUNDING * abs(value) else error
        low, high = (min(most, max(least, value + sign * _WIDTH * error)) for sign in (-1, 1))
        return cls(float(value), error, float(low), float(high))

    @property
    def is_bound(self) -> bool:
        """Whether nothing is known but that the number is at most, or at least, one end of the interval."""
        return isnan(self.value) and (isfinite(self.low) or isfinite(self.high))

    def __str__(self) -> str:
        if isnan(self.value):
            most = f"at most {_digits(self.high, 4)}" if isfinite(self.high) else "no value"
            return f"at least {_digits(self.low, 4)}" if isfinite(self.low) else most
        return f"{_digits(self.value, 4)} ± {_digits(_WIDTH * self.error, 2)}"


def _digits(number: float, n: int) -> str:
    """A number with some digits that count, or with all that it has before the point if these are more.

    >>> _digits(25_923.4, 4), _digits(129.4, 2), _digits(17.694, 4), _digits(0.01234, 2), _digits(0, 2)
    ('25,923', '129', '17.69', '0.012', '0')
    """
    return f"{number:,.0f}" if 10 ** (n - 1) <= abs(number) < 1e15 else f"{number:,.{n}g}"


@dataclass(frozen=True, slots=True)
class Totals:
    """Means and covariances of some totals (totals x totals)."""

    means: NDArray[np.float64]
    covariances: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Dealt:
    """How a question treats the sensitive values: as some *classes*, and with a weight of each value for each total.

    Values are of one class if the same terms of the question cover them. A value's weight is 1 in a count and in a sum
    over another column, and the value itself in a sum over the sensitive column: so a sum over many different amounts
    needs no more classes than a count.
    """

    class_of: NDArray[np.int64]  # the class of each value; -1 for those that no term covers
    n_classes: int  # how many classes there are
    weights: NDArray[np.float64]  # ``w``, totals x values

    def summed(self, group: NDArray[np.int64], code: NDArray[np.int32], count: NDArray[np.int64], n: int) -> Summed:
        """Sum weights in every group; entries of histograms give how many records of it have each value."""
        inside = self.class_of[code] >= 0
        group, code, count = group[inside], code[inside], count[inside]
        key = group * self.n_classes + self.class_of[code]

        def add(weight: NDArray[np.float64]) -> NDArray[np.float64]:
            found = np.bincount(key, weights=weight * count, minlength=n * self.n_classes)
            return found.reshape(n, self.n_classes).T.astype(np.float64)

        own = self.weights[:, code]
        return Summed(
            np.stack([add(one) for one in own]),
            np.stack([np.stack([add(one * other) for other in own]) for one in own]),
        )


@dataclass(frozen=True, eq=False)
class Summed:
    """Sums over the values of every group: of weights (totals x classes x groups), and of products of two of them."""

    once: NDArray[np.float64]
    twice: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Amounts:
    """What a record of each seat adds to the totals, for each class of values and before its weight."""

    mean: NDArray[np.float64]  # ``mu``: the mean amount, by total, class and seat
    # the mean product of the amounts of two totals for one record: totals x totals x classes x seats
    product: NDArray[np.float64]


def totals(
    group: NDArray[np.int64], count: NDArray[np.int64], sizes: NDArray[np.int64], summed: Summed, amounts: Amounts
) -> Totals:
    """Sum means and covariances of totals over all groups; every seat has a group and a number of records."""
    n_totals, n_classes, _ = amounts.mean.shape
    n_groups = len(sizes)

    def by_group(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(group, weights=values * count, minlength=n_groups).astype(np.float64)

    size = np.maximum(sizes, 1).astype(np.float64)
    pairs = size * np.maximum(size - 1, 1)
    sums = [[by_group(amounts.mean[x, a]) for a in range(n_classes)] for x in range(n_totals)]  # M
    means = np.zeros((n_totals, n_groups))  # E, by group
    for x in range(n_totals):
        for a in range(n_classes):
            means[x] += summed.once[x, a] * sums[x][a] / size
    covariances = np.zeros((n_totals, n_totals))
    for x in range(n_totals):
        for y in range(x, n_totals):
            found = -means[x] * means[y]
            for a in range(n_classes):
                found += summed.twice[x, y, a] * by_group(amounts.product[x, y, a]) / size
                for b in range(n_classes):
                    both = summed.once[x, a] * summed.once[y, b] - (summed.twice[x, y, a] if a == b else 0.0)
                    if both.any():
                        apart = sums[x][a] * sums[y][b] - by_group(amounts.mean[x, a] * amounts.mean[y, b])
                        found += both / pairs * apart
            covariances[x, y] = covariances[y, x] = float(found.sum())
    return Totals(means.sum(axis=1), covariances)


def totals_apart(
    group: NDArray[np.int64],
    count: NDArray[np.int64],
    sizes: NDArray[np.int64],
    entries: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    dealt: Dealt,
    amounts: Amounts,
) -> Totals:
    """Compute the totals for each sensitive value: means (totals x values), covariances (totals x totals x values).

    A value is a class of its own then. All values are done in one pass over the entries of the histograms, which are
    given as group, value and count: the work is that of the groups that have a value, not of all groups.
    """
    n_totals, n_groups = len(amounts.mean), len(sizes)
    inside = dealt.class_of[entries[1]] >= 0
    of, code, held = (part[inside] for part in entries)
    n_values, kind = dealt.weights.shape[1], dealt.class_of[code]

    def by_group(values: NDArray[np.float64]) -> NDArray[np.float64]:
        """For every entry the sum over the seats of its group of what its class adds."""
        found = np.stack([np.bincount(group, weights=one * count, minlength=n_groups) for one in values])
        return np.asarray(found[kind, of], np.float64)

    def by_value(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(code, weights=values, minlength=n_values).astype(np.float64)

    means, covariances = np.zeros((n_totals, n_values)), np.zeros((n_totals, n_totals, n_values))
    if not dealt.n_classes:
        return Totals(means, covariances)
    size = np.maximum(sizes, 1).astype(np.float64)[of]
    pairs = size * np.maximum(size - 1, 1)
    sums = [by_group(amounts.mean[x]) for x in range(n_totals)]
    expected = [dealt.weights[x, code] * held * sums[x] / size for x in range(n_totals)]
    for x in range(n_totals):
        means[x] = by_value(expected[x])
        for y in range(x, n_totals):
            own = dealt.weights[x, code] * dealt.weights[y, code] * held
            found = own * by_group(amounts.product[x, y]) / size - expected[x] * expected[y]
            found += own * (held - 1) / pairs * (sums[x] * sums[y] - by_group(amounts.mean[x] * amounts.mean[y]))
            covariances[x, y] = covariances[y, x] = by_value(found)
    return Totals(means, covariances)


def ratio(found: Totals, above: int, below: int) -> tuple[float, float]:
    """A quotient of two totals and its variance, to first order; not a number if there is nothing to divide by."""
    divisor = found.means[below]
    if divisor <= 0:
        return float("nan"), float("nan")
    value = found.means[above] / divisor
    spread = (
        found.covariances[above, above]
        - 2 * value * found.covariances[above, below]
        + value**2 * found.covariances[below, below]
    )
    return float(value), float(max(spread, 0.0) / divisor**2)
