# SPDX-License-Identifier: Apache-2.0
"""Fit: how strongly each block of features is held back, and whether there is anything to learn at all.

*Ridges.* Every block has one, and it is learned from the release (MacKay 1992): start with strong ones, fit, draw a few
deviations from the posterior distribution, and set each ridge to the number of weights that the release determines over
their squares. A block that tells nothing keeps its ridge. All this is done with four fifths of the groups; then all
ridges are multiplied by the factor that fits the other fifth best.

*The switch.* The model is used only if it makes the held-out groups more likely than the base rates do, by two standard
errors. Else what the release teaches is not enough, and estimates stay as if nothing had been learned. The ridges are
then those before the last factor, for what matters is how far values may depend on the features all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.population.regression import Regression

__all__ = ["Fitted", "fitted"]

_ROUNDS: Final = 4
_DRAWS: Final = 2  # in each round
_FIRST: Final = (0.1, 5.0, 100.0, 100.0)  # ridges to begin with, by how many attributes a block combines
_LEAST, _MOST = 0.05, 1e5
_CHANGE: Final = 4.0  # of a ridge in one round
_FACTORS: Final = (2.0, 4.0)
_HELD_OUT: Final = 5  # every so many groups one is held out
_ENOUGH: Final = 2.0  # standard errors
_ROUGHLY, _CLOSELY = 0.5, 0.1  # units of log-likelihood that a fit may leave


@dataclass(frozen=True, eq=False)
class Fitted:
    """The weights of a model, and how much better than base rates it fits groups that were held out."""

    weights: NDArray[np.float64]
    ridges: NDArray[np.float64]
    gain: float  # in log-likelihood for every group held out
    z: float  # the gain in standard errors

    @property
    def is_used(self) -> bool:
        """Whether the release teaches enough for the model to be used."""
        return self.z >= _ENOUGH

    @property
    def standard_errors(self) -> str:
        """How much better or worse than base rates the model fits groups that were held out, in words."""
        return f"{abs(self.z):.1f} standard errors {'better' if self.z >= 0 else 'worse'}"


def fitted(
    regression: Regression, random: np.random.Generator, report: Callable[[float], None] = lambda _: None
) -> Fitted:
    """Learn ridges and weights; ``report`` is called with the share of the work that is done, from 0 to 1."""
    n_groups = regression.seen.n_groups
    order = random.permutation(n_groups)
    held, rest = np.sort(order[: n_groups // _HELD_OUT]), np.sort(order[n_groups // _HELD_OUT :])
    ridges = np.array([_FIRST[block.order] for block in regression.features.blocks])
    if len(held) < 2:
        return Fitted(np.zeros(regression.shape), ridges, 0.0, 0.0)
    train, test = regression.some(rest), regression.some(held)
    weights = np.zeros(train.shape)
    for number in range(_ROUNDS):
        weights = train.fit(ridges, weights, tolerance=_ROUGHLY)
        ridges = _next_ridges(train, weights, ridges, random)
        report((number + 1) / (_ROUNDS + 3))
    tried, weights, gains = _factor(train, test, ridges, weights)
    report((_ROUNDS + 1) / (_ROUNDS + 3))
    error = float(gains.std(ddof=1)) / len(gains) ** 0.5
    found = Fitted(weights, tried, float(gains.mean()), float(gains.mean()) / error if error > 0 else 0.0)
    if not found.is_used:
        return Fitted(np.zeros(regression.shape), ridges, found.gain, found.z)
    final = regression.fit(tried, weights, tolerance=_CLOSELY)
    report(1.0)
    return Fitted(final, tried, found.gain, found.z)


def _next_ridges(
    train: Regression, weights: NDArray[np.float64], ridges: NDArray[np.float64], random: np.random.Generator
) -> NDArray[np.float64]:
    draws = train.draws(weights, ridges, _DRAWS, random, accuracy=0.1)
    squares = np.bincount(train.block_of_level, weights=(weights**2).sum(axis=1), minlength=len(ridges))
    told = np.maximum(draws.determined, 1.0)
    wanted = np.where(draws.determined < 1.0, ridges, told / np.maximum(squares, 1e-12))
    return np.asarray(np.clip(np.clip(wanted, ridges / _CHANGE, ridges * _CHANGE), _LEAST, _MOST), np.float64)


def _factor(
    train: Regression, test: Regression, ridges: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The ridges times the factor that fits the held-out groups best; the weights, and the gains by group."""
    nothing = test.score(np.zeros(test.shape))
    best = (ridges, weights, test.score(weights) - nothing)
    for factor in _FACTORS:
        weights = train.fit(ridges * factor, weights, tolerance=_ROUGHLY)
        gains = test.score(weights) - nothing
        if gains.sum() < best[2].sum():
            break
        best = (ridges * factor, weights, gains)
    return best
