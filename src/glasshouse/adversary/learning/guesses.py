# SPDX-License-Identifier: Apache-2.0
"""Guesses: how probabilities for people compare with the true values of these people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

__all__ = ["Guesses", "Judged", "judged"]

_EQUAL: Final = 1e-9  # probabilities that differ by less, relative to the largest, are equal
_BINS: Final = 10


class Judged(NamedTuple):
    """People with a probability above a limit: their share, how often it is right, and the mean probability."""

    limit: str
    share: float
    right: float
    believed: float


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """Probabilities for people, compared with their true values.

    Attributes
    ----------
    people
        How many people they are about.
    in_truth
        The mean probability of the value that a person has.
    error
        The standard error of that mean, people being taken for independent.
    right
        How often the most probable value is the true one. Of several equally probable values one is guessed at
        random, and the expected number is counted.
    believed
        The mean of the largest probabilities.
    above
        Of how many people the largest probability is above some limits, how often it is right then, and its mean.
    calibration
        The mean over people of the difference between probability and frequency: people are put into ten bins by the
        largest probability for them, and in each bin the mean probability is compared with how often it is right.
    """

    people: int
    in_truth: float
    error: float
    right: float
    believed: float
    above: tuple[Judged, ...]
    calibration: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "people": self.people,
            "in_truth": self.in_truth,
            "error": self.error,
            "right": self.right,
            "believed": self.believed,
            "above": [own._asdict() for own in self.above],
            "calibration": self.calibration,
        }


def judged(
    beliefs: NDArray[np.float64],
    kind: NDArray[np.int64],
    truth: NDArray[np.int64],
    limits: Sequence[Fraction | float],
    weights: NDArray[np.float64] | None = None,
) -> Guesses:
    """Compare probabilities (kinds x values) for people of these kinds with their true values.

    A value that is no column has the probability 0. People may count with ``weights``.

    Examples
    --------
    >>> found = judged(np.array([[0.75, 0.25]]), np.array([0, 0, 0, 0]), np.array([0, 0, 0, 1]), [0.5])
    >>> found.in_truth, found.right, found.above, found.calibration
    (0.625, 0.75, (Judged(limit='0.5', share=1.0, right=0.75, believed=0.75),), 0.0)
    """
    largest = beliefs.max(axis=1, initial=0.0)
    best = (beliefs >= largest[:, np.newaxis] * (1 - _EQUAL)) & (largest > 0)[:, np.newaxis]
    ties = np.maximum(best.sum(axis=1), 1)
    known = truth < beliefs.shape[1]
    code = np.where(known, truth, 0)
    weight = np.ones(len(kind)) if weights is None else weights
    n = max(float(weight.sum()), 1e-300)
    top = largest[kind]
    right = np.where(known & best[kind, code], 1 / ties[kind], 0.0)
    in_truth = np.where(known, beliefs[kind, code], 0.0)
    mean = float(weight @ in_truth) / n
    above = []
    for limit in limits:
        who = weight * (top > float(limit) * (1 + _EQUAL))
        share = float(who.sum())
        means = (float(who @ right) / share, float(who @ top) / share) if share else (0.0, 0.0)
        above.append(Judged(str(limit), share / n, *means))
    place = np.minimum((top * _BINS).astype(np.int64), _BINS - 1)
    gap = np.bincount(place, weights=weight * (top - right), minlength=_BINS)
    return Guesses(
        people=round(n),
        in_truth=mean,
        error=float(np.sqrt(weight @ (in_truth - mean) ** 2)) / n,
        right=float(weight @ right) / n,
        believed=float(weight @ top) / n,
        above=tuple(above),
        calibration=float(np.abs(gap).sum()) / n,
    )
