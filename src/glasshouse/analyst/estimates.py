# SPDX-License-Identifier: Apache-2.0
"""Estimates: what a count, a sum or a mean over hidden tuples is expected to be, and how far off it may be.

One model serves every kind of release but perturbed samples. In a group of n tuples, tuple i lies in its cell wherever
it may, independently of the others; the group's n sensitive values are dealt to its tuples in random order. A question
gives a tuple with a value of class a (values that the question treats alike, ``B_a`` of them in the group) a random
amount with mean ``mu_ia`` and mean square ``s_ia``; for a count both are the probability that the tuple satisfies the
rest of the question. With ``M_a = sum_i mu_ia``, ``S_a = sum_i s_ia`` and ``D_ab = sum_i mu_ia mu_ib`` the group's
total has

    mean      E = sum_a B_a M_a / n
    variance  sum_a B_a S_a / n  +  sum_ab B_a (B_b - [a = b]) (M_a M_b - D_ab) / (n (n - 1))  -  E^2

for the values of two tuples are of classes a and b with probability ``B_a (B_b - [a = b]) / (n (n - 1))``. Groups are
independent: means and variances add up. Where quasi-identifiers are exact (anatomy, permutation) a count is
hypergeometric, and where all tuples of a group share a box it is binomial: both are special cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Estimate", "Totals", "ratio", "totals"]

_WIDTH = 1.959963984540054  # of a 95 % interval, in standard errors


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
    """

    value: float
    error: float
    low: float
    high: float

    @classmethod
    def normal(cls, value: float, variance: float, *, least: float = -np.inf, most: float = np.inf) -> Estimate:
        """Take value and variance as those of a normal distribution, cut off at what is possible."""
        error = float(np.sqrt(max(variance, 0.0)))
        return cls(
            float(value), error, float(max(least, value - _WIDTH * error)), float(min(most, value + _WIDTH * error))
        )

    def __str__(self) -> str:
        return f"{self.value:,.4g} ± {_WIDTH * self.error:,.2g}"


@dataclass(frozen=True, slots=True)
class Totals:
    """Means of some totals, and their covariances (totals x totals)."""

    means: NDArray[np.float64]
    covariances: NDArray[np.float64]


def totals(
    group: NDArray[np.int32],
    count: NDArray[np.int64],
    sizes: NDArray[np.int64],
    classes: NDArray[np.float64],
    amounts: NDArray[np.float64],
    products: NDArray[np.float64],
) -> Totals:
    """Add up means and covariances of totals over all groups.

    Parameters
    ----------
    group, count
        For every seat its group, and how many tuples have it.
    sizes
        Tuples in every group.
    classes
        ``B``: how many values of each class each group has (groups x classes).
    amounts
        ``mu``: mean amount of a tuple, by total, class and seat (totals x classes x seats).
    products
        Mean product of the amounts of two totals for one tuple (totals x totals x classes x seats).
    """
    n_totals, n_classes, _ = amounts.shape
    n_groups = len(sizes)
    if not n_classes:  # no value that is asked for is published
        return Totals(np.zeros(n_totals), np.zeros((n_totals, n_totals)))

    def by_group(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(group, weights=values * count, minlength=n_groups).astype(np.float64)

    size = np.maximum(sizes, 1).astype(np.float64)
    pairs = size * np.maximum(size - 1, 1)
    sums = np.stack([[by_group(amounts[x, a]) for a in range(n_classes)] for x in range(n_totals)])  # M
    means = np.einsum("ga,xag->xg", classes, sums) / size  # E, by group
    covariances = np.zeros((n_totals, n_totals))
    for x in range(n_totals):
        for y in range(x, n_totals):
            found = -means[x] * means[y]
            for a in range(n_classes):
                found += classes[:, a] * by_group(products[x, y, a]) / size
                for b in range(n_classes):
                    both = classes[:, a] * (classes[:, b] - (a == b)) / pairs
                    if both.any():
                        found += both * (sums[x, a] * sums[y, b] - by_group(amounts[x, a] * amounts[y, b]))
            covariances[x, y] = covariances[y, x] = float(found.sum())
    return Totals(means.sum(axis=1), covariances)


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
