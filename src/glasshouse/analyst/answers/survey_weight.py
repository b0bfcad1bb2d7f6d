# SPDX-License-Identifier: Apache-2.0
"""Weighting: answers for the population that the people of a survey stand for.

A person counts as many times as the survey weight says: a count is the sum of the weights of those who are counted, a
sum that of weight times amount, an average their quotient. Published are class means. Say a person of class c has the
weight ``m_c + e``. The deviation ``e`` is hidden, its variance ``s_c^2`` is what the release tells, and all deviations
add up to 0. What people add by their class means is a total as any other, with its means and variances.
What the deviations add has the mean 0. If they did not depend on what is asked for, their covariance in two totals
would be

    Q_xy - T_x T_y / R      with  Q_xy = sum of s^2 x y,  T_x = sum of s^2 x,  R = sum of s^2 over everybody

where x and y are what a person adds to the totals without a weight. It is 0 for a count of everybody. But weights
follow from strata, and people who answer to the same condition are alike in what their weights differ by. As among
people who are drawn in clusters, the covariance is therefore multiplied by ``1 + rho m`` for a question that counts m
people (Kish's design effect). `ALIKE` is rho. It was chosen on two tables, one with weights of its own, and judged on
others (docs/benchmarks.md).

What an interval does not cover is the survey's own sampling error, of which the release knows nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from glasshouse.errors import InputError, NotSupported
from glasshouse.plural import counted
from glasshouse.release.layout import BOXES
from glasshouse.supports.value_sets import ValueSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.analyst.answers.estimates import Amounts, Dealt, Totals
    from glasshouse.analyst.questions.question import Question
    from glasshouse.release.contents import Seats
    from glasshouse.supports.evidence import Evidence, Weight

__all__ = ["ALIKE", "Deviations", "Weighting", "chosen_weight", "deviations_of_groups"]

ALIKE: Final = 0.01
"""The assumed correlation of the hidden parts of the weights of two people who meet the same condition."""
_ROUNDING: Final = 1e-9
_IN_BOXES: Final = (
    ". In this release a row may show a range of several classes instead of the weight, so weighted answers are "
    "rough, also for everybody, and their intervals are often too narrow"
)


class Deviations(NamedTuple):
    """Sums over people of s^2 times what they add: ``T`` (totals x values) and ``Q`` (totals x totals x values)."""

    once: NDArray[np.float64]
    twice: NDArray[np.float64]


def chosen_weight(evidence: Evidence, question: Question, *, weighted: bool | None) -> Weight | None:
    """The weight by which a question is answered; None if it counts records. By default it is weighted if it can be."""
    weight = evidence.weight
    if weighted and weight is None:
        raise InputError("this release has no survey weight, so an answer cannot be weighted: leave out weighted=True")
    if weight is None or weighted is False:
        return None
    if any(measure.column == weight.name for measure in question.measures):
        raise NotSupported(
            f"a weighted sum or average of the survey weight {weight.name!r} itself is not supported",
            instead=f"use COUNT(*), which is the sum of the weights, or ask with weighted=False for {weight.name!r}",
        )
    return weight


@dataclass(frozen=True, eq=False)
class Weighting:
    """The weight of a release, over the seats of one of its tables."""

    weight: Weight
    everybody: float  # ``R``
    n_people: int
    effective: float  # Kish's effective sample size
    in_boxes: bool  # whether boxes put together people of several classes

    @classmethod
    def of(cls, evidence: Evidence, seats: Seats, weight: Weight) -> Weighting:
        """Add up the weights of everybody."""
        every = ValueSet.everything()
        mean, square = evidence.moments(seats, weight.name, every)
        spread = evidence.spreads(seats, weight, every)
        total, everybody = float(mean @ seats.count), float(spread @ seats.count)
        squares = float(square @ seats.count) + everybody
        effective = total * total / squares if squares else 0.0
        in_boxes = evidence.release.layout is BOXES and bool((square - mean**2 > _ROUNDING * square).any())
        return cls(weight, everybody, int(seats.count.sum()), effective, in_boxes)

    @property
    def note(self) -> str:
        """The note that a reader of the answer needs."""
        return (
            f"weighted by {self.weight.name}: the intervals include the uncertainty that the release adds, also about "
            "the exact weights within a class, but not the sampling error of the survey. By Kish's formula, "
            f"{counted(self.n_people, 'person')} with these weights {'gives' if self.n_people == 1 else 'give'} as "
            f"much information as {counted(round(self.effective), 'person')} with equal weights"
            f"{_IN_BOXES if self.in_boxes else ''}"
        )

    def added(self, found: Totals, own: Deviations, *, apart: bool) -> Totals:
        """The totals with the covariances of deviations."""
        once, twice = own if apart else Deviations(own.once.sum(axis=1), own.twice.sum(axis=2))
        if not self.everybody:
            return found
        inside = twice - np.einsum("x...,y...->xy...", once, once) / self.everybody
        counted = once[0] * self.n_people / self.everybody
        return type(found)(found.means, found.covariances + inside * (1 + ALIKE * counted))


def deviations_of_groups(
    group: NDArray[np.int64],
    count: NDArray[np.int64],
    sizes: NDArray[np.int64],
    entries: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    dealt: Dealt,
    amounts: Amounts,
) -> Deviations:
    """Add up s^2 times amounts over all groups, where every value of a group is as likely for any of its members.

    The arguments are those of `glasshouse.analyst.answers.estimates.totals_apart`, with amounts times s^2.
    """
    n_totals, n_values = dealt.weights.shape
    inside = dealt.class_of[entries[1]] >= 0
    of, code, held = (part[inside] for part in entries)
    share = held / np.maximum(sizes, 1)[of]
    kind = dealt.class_of[code]

    def by_value(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.stack([np.bincount(group, weights=one * count, minlength=len(sizes)) for one in values])
        return np.bincount(code, weights=found[kind, of] * share * weights, minlength=n_values).astype(np.float64)

    once, twice = np.zeros((n_totals, n_values)), np.zeros((n_totals, n_totals, n_values))
    if not dealt.n_classes:
        return Deviations(once, twice)
    for x in range(n_totals):
        once[x] = by_value(amounts.mean[x], dealt.weights[x, code])
        for y in range(n_totals):
            twice[x, y] = by_value(amounts.product[x, y], dealt.weights[x, code] * dealt.weights[y, code])
    return Deviations(once, twice)
