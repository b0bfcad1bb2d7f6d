# SPDX-License-Identifier: Apache-2.0
"""Deperturbing: what a perturbed sample says of the sensitive values at a place, as a distribution.

A shown value y is the true one with probability p, and one of the m values of the domain at random otherwise. Inverting
the shares of the shown values gives true shares without bias (CORRUPTION II-C), and with few tuples also negative ones,
which are cut off. At a place with few tuples little is left then, so what is believed there before looking at its
tuples is mixed from inverting the place alone and inverting the whole sample, with the weights n and 1/p^2: inverting
makes the variance of a tuple as large as that of 1/p^2. Then Bayes' rule gives every shown value its true ones:

    before(x)  =  (n * own(x) + whole(x) / p^2) / (n + 1/p^2)
    after(x)   =  sum over shown y of  share(y) * before(x) * P(y | x) / sum over x' of before(x') * P(y | x')

where n is the number of tuples shown, or fewer if they stand for different numbers of people (Kish's effective size).
With many tuples this is the inversion; with one it is what the whole sample says of a value that was shown so.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse import bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.release import Release

__all__ = ["deperturbed"]

_ENTRIES = 1 << 20


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
    """Give how many tuples of every place are expected to have each value, and what must be said of it.

    Parameters
    ----------
    release
        A perturbed sample, whose recipe has the retention p.
    shown, count, place
        For every shown tuple the code of its value, how many tuples it stands for, and its place.
    shape
        How many places and how many values there are.
    exact
        Whether to reckon with fractions.
    at_once
        How many places and values are held at once.

    Returns
    -------
    entries, notes
        Place, code and amount of everything that is not 0, by place; and sentences.
    """
    retention = bounds.exact(release.recipe.recoding["p"])
    p: Any = retention if exact else float(retention)
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
    """Tuples with each value at some places, from how many show each value there."""
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
    notes = [f"reconstructed from {n_shown:,} perturbed tuples, of which each kept its value with probability {p:g}"]
    if p == 0:
        notes.append("with a retention of 0 a sample says nothing of sensitive values: all are taken as equally likely")
    if cut > 0:
        notes.append(f"inverting the perturbation gave a negative mass of {cut:.3g}, which was cut off")
    if release.recipe.recoding.get("domain") is None:
        notes.append("the sensitive domain was not declared: it is taken to be the values that were published")
    return tuple(notes)
