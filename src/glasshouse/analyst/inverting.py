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
from glasshouse.analyst.estimates import Summed, Totals
from glasshouse.errors import NotSupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.estimates import Amounts, Dealt
    from glasshouse.published import Published, Seats
    from glasshouse.release import Release

__all__ = ["Perturbation", "inverted_apart", "inverted_totals", "retention", "whole_distribution"]


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
    dealt: Dealt,
    amounts: Amounts,
    some: NDArray[np.int64],
) -> Totals:
    """Estimate totals and their covariances; ``dealt`` and ``amounts`` as for `glasshouse.analyst.estimates.totals`.

    Amounts are those of ``some`` of the seats; the others add nothing.

    What is inverted is ``w A``: the weight of a value times what a tuple of its class adds. Its mean over the domain,
    ``H``, its inverse for a shown value, ``c H + w A / p`` with ``c = 1 - 1/p``, and all sums over values need only the
    sums of weights in every class.
    """
    found = Perturbation.of(release, published, seats, values)
    weighed = bool((dealt.weights != dealt.weights[:, :1]).any())  # a sum over the column treats every value apart
    found.check(
        np.eye(len(values), dtype=bool)[:1]
        if weighed
        else np.stack([dealt.class_of == a for a in np.unique(dealt.class_of)])
    )
    p, m = found.p or 1.0, len(values)
    c = 1 - 1 / p
    mean, product = amounts.mean, amounts.product
    weight, showing = seats.count[some].astype(np.float64), found.shown[some]
    everywhere = np.zeros(m, np.int64), np.arange(m, dtype=np.int32)

    def summed(share: NDArray[np.float64]) -> Summed:
        """Sums of the weights of every class, each value counted with its share."""
        one = dealt.summed(*everywhere, share, 1)  # type: ignore[arg-type]
        return Summed(one.once[:, :, 0], one.twice[:, :, :, 0])

    domain, true = summed(np.full(m, 1 / m)), summed(found.true)
    seen = summed(p * found.true + (1 - p) / m)
    over = np.einsum("xa,xai->xi", domain.once, mean)
    own = np.where(dealt.class_of >= 0, dealt.weights, 0.0)[:, showing]
    own = own * mean[:, dealt.class_of[showing], np.arange(len(some))] if dealt.n_classes else own
    means = ((c * over + own / p) * weight).sum(axis=1)

    expected = np.einsum("xa,xai->xi", true.once, mean)
    both = expected[:, np.newaxis] * expected
    shown = np.einsum("xa,xai->xi", seen.once, mean)
    mixed = over[:, np.newaxis] * shown
    noise = c * c * over[:, np.newaxis] * over + c / p * (mixed + mixed.transpose(1, 0, 2))
    noise = noise + np.einsum("xya,xai,yai->xyi", seen.twice, mean, mean) / p**2 - both
    inside = np.einsum("xya,xyai->xyi", true.twice, product) - both
    between = np.einsum("xya,xai,yai->xyi", true.twice, mean, mean) - both
    covariances = (noise * weight**2 + inside * weight - 2 * between * weight).sum(axis=2)
    return Totals(means, covariances)


def inverted_apart(
    release: Release,
    published: Published,
    seats: Seats,
    values: Sequence[Any],
    dealt: Dealt,
    amounts: Amounts,
    some: NDArray[np.int64],
) -> Totals:
    """Do the same for each sensitive value apart.

    With one value asked for, every sum over the seats is one of four, whatever the value: those of ``G A``, ``G A A``,
    ``G^2 A A`` and ``G`` times the mean product; beside them what the seats that show the value add.
    """
    found = Perturbation.of(release, published, seats, values)
    if len(values) > 1:
        found.check(np.eye(len(values), dtype=bool)[:1])
    n_totals, n_values = dealt.weights.shape
    means, covariances = np.zeros((n_totals, n_values)), np.zeros((n_totals, n_totals, n_values))
    p, d, f = found.p or 1.0, 1 / n_values, found.true
    g = p * f + (1 - p) * d
    noise = g * (d + (1 - d) / p) ** 2 + (1 - g) * (d - d / p) ** 2 - f**2
    weight, shown = seats.count[some].astype(np.float64), found.shown[some]
    for a in range(dealt.n_classes):
        inside, mean = dealt.class_of == a, amounts.mean[:, a]
        for x in range(n_totals):
            kept = np.bincount(shown, weights=weight * mean[x], minlength=n_values)
            total = (d - d / p) * float((weight * mean[x]).sum()) + kept / p
            means[x, inside] = (dealt.weights[x] * total)[inside]
            for y in range(n_totals):
                once, twice = (float((w * mean[x] * mean[y]).sum()) for w in (weight, weight**2))
                alone = float((weight * amounts.product[x, y, a]).sum())
                spread = noise * twice + f * alone - f**2 * once - 2 * (f - f**2) * once
                covariances[x, y, inside] = (dealt.weights[x] * dealt.weights[y] * spread)[inside]
    return Totals(means, covariances)
