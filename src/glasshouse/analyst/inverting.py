# SPDX-License-Identifier: Apache-2.0
"""Inverting: counts and sums from a perturbed sample, where every group shows one tuple with a perturbed value.

A shown value y is the true one, x, with probability p, and one of the m values of the domain at random otherwise. For
any amount h(x) with the mean M over the domain, the number ``M + (h(y) - M) / p`` has the mean h(x) (CORRUPTION II-C):
so each shown tuple, taken for all G tuples of its group, gives an estimate without bias.

Its error, for a group: the estimate is ``G`` times that number for one random member, the truth the sum over all
members. With values drawn independently from the whole table's distribution (itself estimated by inversion),

    variance  =  G^2 Var_y[inverted h]  +  G Var[amount]  -  2 G Var_x[h(x)]

the last term because the shown member is one of those that are summed up. Groups are independent. For a count, with s
the part of the group's box that the question covers, d the share of the domain and f that of all tuples that it wants,
h is s or 0, and

    variance  =  G^2 s^2 (g u^2 + (1 - g) w^2 - f^2)  +  G (s f - s^2 f^2)  -  2 G s^2 f (1 - f)

with ``u = d + (1 - d) / p`` and ``w = d - d / p``, the inverted amounts of a wanted value and of another, and
``g = p f + (1 - p) d`` the probability that a wanted value is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse import bounds
from glasshouse.analyst.estimates import Totals
from glasshouse.errors import NotSupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.published import Published, Seats
    from glasshouse.release import Release

__all__ = ["Perturbation", "inverted_totals", "retention", "whole_distribution"]


def retention(release: Release) -> float:
    """The probability p that a value was kept."""
    return float(bounds.exact(release.recipe.recoding["p"]))


def whole_distribution(shown: NDArray[np.int64], count: NDArray[np.int64], p: float, m: int) -> NDArray[np.float64]:
    """The distribution of the true values, by inversion; what comes out below 0 is cut off, and the rest scaled."""
    seen = np.bincount(shown, weights=count, minlength=m) / count.sum()
    found = np.maximum((seen - (1 - p) / m) / p, 0.0) if p else np.full(m, 1 / m)
    return np.asarray(found / found.sum()) if found.sum() else np.full(m, 1 / m)


@dataclass(frozen=True, eq=False)
class Perturbation:
    """What a perturbed sample shows, and how it was perturbed.

    Attributes
    ----------
    p
        The retention.
    shown
        The place in the sensitive domain of the value that every seat shows.
    true
        The distribution of true values, estimated.
    """

    p: float
    shown: NDArray[np.int64]
    true: NDArray[np.float64]

    @classmethod
    def of(cls, release: Release, published: Published, seats: Seats, values: Sequence[Any]) -> Perturbation:
        """Read a release, whose sensitive domain is ``values``."""
        p = retention(release)
        place = {value: i for i, value in enumerate(values)}
        codes = np.array([place[value] for value in published.values], np.int64)
        shown = codes[published.codes[seats.group]]
        return cls(p, shown, whole_distribution(shown, seats.count, p, len(values)))

    def check(self, wanted: NDArray[np.bool_]) -> None:
        """Refuse to count some values (questions x values) where what is shown says nothing of the true ones."""
        if self.p == 0 and (wanted.any(axis=-1) & ~wanted.all(axis=-1)).any():
            raise NotSupported(
                "a question about sensitive values that were all replaced (a retention of 0)",
                instead="ask about quasi-identifiers alone",
            )

    def counts(
        self,
        wanted: NDArray[np.bool_],
        kept: NDArray[np.float64],
        inside: NDArray[np.float64],
        squares: NDArray[np.float64],
        weighted: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Means and variances of counts, from the sums of G s (over wanted values, over all), G s^2 and G^2 s^2."""
        p, d = self.p or 1.0, wanted.mean(axis=1)
        f = wanted @ self.true
        g = p * f + (1 - p) * d
        means = d * inside + (kept - d * inside) / p
        noise = g * (d + (1 - d) / p) ** 2 + (1 - g) * (d - d / p) ** 2 - f**2
        return means, weighted * noise + inside * f - squares * f**2 - 2 * squares * f * (1 - f)


def inverted_totals(
    release: Release,
    published: Published,
    seats: Seats,
    values: Sequence[Any],
    class_of: NDArray[np.int64],
    amounts: NDArray[np.float64],
    products: NDArray[np.float64],
) -> Totals:
    """Estimate totals and their covariances; arguments as for `glasshouse.analyst.estimates.totals`.

    ``class_of`` is the class of each of the sensitive ``values``, -1 for those that the question leaves out.
    """
    found = Perturbation.of(release, published, seats, values)
    found.check(np.stack([class_of == a for a in np.unique(class_of)]))
    p, m = found.p or 1.0, len(values)
    n_totals, n_classes, n_seats = amounts.shape
    weight = seats.count.astype(np.float64)
    # values that the question leaves out are a class of their own, with the amount 0
    classes = np.where(class_of < 0, n_classes, class_of)
    amounts = np.concatenate([amounts, np.zeros((n_totals, 1, n_seats))], axis=1)
    products = np.concatenate([products, np.zeros((n_totals, n_totals, 1, n_seats))], axis=2)
    in_domain = np.bincount(classes, minlength=n_classes + 1) / m
    true = np.bincount(classes, weights=found.true, minlength=n_classes + 1)
    seen = p * true + (1 - p) * in_domain

    over_domain = np.einsum("a,xai->xi", in_domain, amounts)[:, np.newaxis]
    inverted = over_domain + (amounts - over_domain) / p
    of_shown = inverted[:, classes[found.shown], np.arange(n_seats)]
    means = (of_shown * weight).sum(axis=1)

    expected = np.einsum("a,xai->xi", true, amounts)
    noise = np.einsum("a,xai,yai->xyi", seen, inverted, inverted) - expected[:, np.newaxis] * expected
    inside = np.einsum("a,xyai->xyi", true, products) - expected[:, np.newaxis] * expected
    between = np.einsum("a,xai,yai->xyi", true, amounts, amounts) - expected[:, np.newaxis] * expected
    covariances = (noise * weight**2 + inside * weight - 2 * between * weight).sum(axis=2)
    return Totals(means, covariances)
