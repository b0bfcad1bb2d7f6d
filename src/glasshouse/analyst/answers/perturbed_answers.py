# SPDX-License-Identifier: Apache-2.0
"""Answers from a perturbed sample, in which every group shows one record with a perturbed value.

A shown value y is the true one, x, with probability p, and one of the m values of the domain at random otherwise. For
any amount h(x) with the mean M over the domain, the number ``M + (h(y) - M) / p`` has the mean h(x) (CORRUPTION II-C):
so each shown record, taken for all G records of its group, gives an estimate without bias.

Its error, for a group: the estimate is ``G`` times that number for one random member, the truth the sum over all
members. With values drawn independently from the whole table's distribution (itself estimated by inversion),

    variance  =  G^2 Var_y[inverted h]  +  G Var[amount]  -  2 G Var_x[h(x)]

the last term because the shown member is one of those that are summed up. Groups are independent. For a count, with s
the part of the group's box that the question covers, d the share of the domain and f that of all records that it wants,
h is s or 0, and

    variance  =  G^2 s^2 (g u^2 + (1 - g) w^2 - f^2)  +  G (s f - s^2 f^2)  -  2 G s^2 f (1 - f)

with ``u = d + (1 - d) / p`` and ``w = d - d / p``, the inverted amounts of a wanted value and of another, and
``g = p f + (1 - p) d`` the probability that a wanted value is shown.

*As a distribution.* Inverting the shares of the shown values gives true shares without bias, and with few records also
negative ones, which are cut off. At a place with few records little is left then, so what is expected there before
looking at its records is mixed from inverting the place alone and inverting the whole sample, with the weights n and
1/p^2: inverting makes the variance of a record as large as that of 1/p^2. Then Bayes' rule gives every shown value its
true ones:

    before(x)  =  (n * own(x) + whole(x) / p^2) / (n + 1/p^2)
    after(x)   =  sum over shown y of  share(y) * before(x) * P(y | x) / sum over x' of before(x') * P(y | x')

where n is the number of records shown, or fewer if they stand for different numbers of people (Kish's effective size).
With many records this is the inversion; with one it is what the whole sample says of a value that was shown so.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse import bounds
from glasshouse.analyst.answers.estimates import Summed, Totals
from glasshouse.errors import NotSupported
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.answers.estimates import Amounts, Dealt
    from glasshouse.release import Release
    from glasshouse.release.contents import Published, Seats

__all__ = ["Perturbation", "deperturbed", "retention"]

_ENTRIES = 1 << 20  # places and values that are held at once


def retention(release: Release) -> float:
    """The probability p that a value was kept."""
    return float(bounds.exact(release.recipe.recoding["p"]))


@dataclass(frozen=True, eq=False)
class Perturbation:
    """What a perturbed sample shows, and the parameters of the perturbation."""

    p: float  # the retention
    # the place in the sensitive domain of the value that every seat shows, and how many records the seat stands for
    shown: NDArray[np.int64]
    count: NDArray[np.int64]
    true: NDArray[np.float64]  # the distribution of true values, estimated

    @classmethod
    def of(cls, release: Release, published: Published, seats: Seats, values: Sequence[Any]) -> Perturbation:
        """Read a release, whose sensitive domain is ``values``."""
        p = retention(release)
        place = {value: i for i, value in enumerate(values)}
        codes = np.array([place[value] for value in published.values], np.int64)
        shown = codes[published.codes[seats.group]]
        seen = np.bincount(shown, weights=seats.count, minlength=len(values))
        return cls(p, shown, seats.count, _inverted(seen[np.newaxis], p)[0][0])

    def check(self, wanted: NDArray[np.bool_]) -> None:
        """Refuse to count values (questions x values) about which the shown values say nothing."""
        if self.p == 0 and (wanted.any(axis=-1) & ~wanted.all(axis=-1)).any():
            raise NotSupported(
                "a question about sensitive values has no answer, because all of them were replaced (a retention of 0)",
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

    def totals(self, dealt: Dealt, amounts: Amounts, some: NDArray[np.int64]) -> Totals:
        """Totals and their covariances, as `glasshouse.analyst.answers.estimates.totals` gives them; of ``some`` seats.

        What is inverted is ``w A``: the weight of a value times what a record of its class adds. Its mean over the
        domain, ``H``, its inverse for a shown value, ``c H + w A / p`` with ``c = 1 - 1/p``, and all sums over values
        need only the sums of weights in every class.
        """
        weighed = bool((dealt.weights != dealt.weights[:, :1]).any())  # a sum over the column treats every value apart
        self.check(
            np.eye(len(self.true), dtype=bool)[:1]
            if weighed
            else np.stack([dealt.class_of == a for a in np.unique(dealt.class_of)])
        )
        p, m = self.p or 1.0, len(self.true)
        c = 1 - 1 / p
        mean, product = amounts.mean, amounts.product
        weight, showing = self.count[some].astype(np.float64), self.shown[some]
        everywhere = np.zeros(m, np.int64), np.arange(m, dtype=np.int32)

        def summed(share: NDArray[np.float64]) -> Summed:
            """Sums of the weights of every class, each value counted with its share."""
            one = dealt.summed(*everywhere, share, 1)  # type: ignore[arg-type]
            return Summed(one.once[:, :, 0], one.twice[:, :, :, 0])

        domain, true = summed(np.full(m, 1 / m)), summed(self.true)
        seen = summed(p * self.true + (1 - p) / m)
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

    def totals_apart(self, dealt: Dealt, amounts: Amounts, some: NDArray[np.int64]) -> Totals:
        """Compute the totals for each sensitive value separately.

        With one value asked for, every sum over the seats is one of four, whatever the value: those of ``G A``,
        ``G A A``, ``G^2 A A`` and ``G`` times the mean product; beside them what the seats that show the value add.
        """
        if len(self.true) > 1:
            self.check(np.eye(len(self.true), dtype=bool)[:1])
        n_totals, n_values = dealt.weights.shape
        means, covariances = np.zeros((n_totals, n_values)), np.zeros((n_totals, n_totals, n_values))
        p, d, f = self.p or 1.0, 1 / n_values, self.true
        g = p * f + (1 - p) * d
        noise = g * (d + (1 - d) / p) ** 2 + (1 - g) * (d - d / p) ** 2 - f**2
        weight, shown = self.count[some].astype(np.float64), self.shown[some]
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


def deperturbed(
    release: Release,
    shown: NDArray[np.int64],
    count: NDArray[np.int64],
    place: NDArray[np.int64],
    shape: tuple[int, int],
    *,
    exact: bool,
    at_once: int = _ENTRIES,
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]], tuple[str, ...]]:
    """The expected number of records with each value at every place, and notes on it.

    For every shown record the code of its value, how many records it stands for, and its place are given; ``shape`` is
    how many places and how many values there are. The result is place, code and amount of everything that is not 0, by
    place, in fractions if ``exact``; and sentences.
    """
    kept = bounds.exact(release.recipe.recoding["p"])
    p: Any = kept if exact else float(kept)
    n_places, n_values = shape
    totals = np.bincount(shown, weights=count, minlength=n_values).astype(np.int64)
    whole, cut = _inverted(_numbers(totals[np.newaxis], exact=exact), p)
    order = np.argsort(place, kind="stable")
    shown, count, place = shown[order], count[order], place[order]
    found = []
    step = max(1, at_once // n_values)
    for first in range(0, n_places, step):
        last = min(first + step, n_places)
        some = slice(*np.searchsorted(place, [first, last]))
        seen = np.zeros((last - first, n_values), np.int64)
        squares = np.zeros(last - first, np.int64)
        np.add.at(seen, (place[some] - first, shown[some]), count[some])
        np.add.at(squares, place[some] - first, count[some] ** 2)
        amounts = _after(_numbers(seen, exact=exact), _numbers(squares[:, np.newaxis], exact=exact), whole, p)
        at, code = np.nonzero(amounts)
        found.append((at + first, code, amounts[at, code]))
    places, codes, amounts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return (places, codes, amounts), _notes(release, float(p), float(cut[0, 0]), len(shown))


def _after(seen: NDArray[Any], squares: NDArray[Any], whole: NDArray[Any], p: Any) -> NDArray[Any]:
    """The number of records with each value at some places, estimated from the shown values there."""
    size = seen.sum(axis=1)[:, np.newaxis]
    effective = size**2 / squares
    own, _ = _inverted(seen, p)
    trust = effective * p**2 / (effective * p**2 + 1)
    before = trust * own + (1 - trust) * whole
    by_chance = (1 - p) / seen.shape[1]
    likelihood = p * before + by_chance  # of every value to be shown at the place
    evidence = np.where(seen == 0, 0, seen / size / np.where(likelihood == 0, 1, likelihood))
    after = before * (p * evidence + by_chance * evidence.sum(axis=1)[:, np.newaxis])
    return np.asarray(after * size)


def _inverted(seen: NDArray[Any], p: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Shares of the true values in every row, and how much was negative and cut off."""
    m = seen.shape[1]
    if p == 0:
        even = seen * 0 + (Fraction(1, m) if seen.dtype == object else 1 / m)
        return even, seen[:, :1] * 0
    raw = (seen / seen.sum(axis=1)[:, np.newaxis] - (1 - p) / m) / p
    kept = np.maximum(raw, 0)
    total = kept.sum(axis=1)[:, np.newaxis]
    return kept / total, total - raw.sum(axis=1)[:, np.newaxis]


def _numbers(counts: NDArray[np.int64], *, exact: bool) -> NDArray[Any]:
    if not exact:
        return counts.astype(np.float64)
    return np.array([Fraction(count) for count in counts.reshape(-1).tolist()], object).reshape(counts.shape)


def _notes(release: Release, p: float, cut: float, n_shown: int) -> tuple[str, ...]:
    shown = counted(n_shown, "perturbed record, which", "perturbed records, each of which")
    notes = [f"reconstructed from {shown} kept its value with probability {p:g}"]
    if p == 0:
        notes.append(
            "with a retention of 0 the sample contains no information about sensitive values: all values are "
            "assumed to be equally probable"
        )
    if cut > 0:
        notes.append(
            f"the estimated frequencies of some values were negative, by {cut:.3g} in total, and were set to 0"
        )
    if release.recipe.recoding.get("domain") is None:
        notes.append(
            "the domain of the sensitive column was not declared: it is assumed to consist of the published values"
        )
    return tuple(notes)
