# SPDX-License-Identifier: Apache-2.0
"""Weight classes: survey weights, published as a few class means.

The weight of a person says for how many people of the population the person answers. It is public knowledge about the
person, and exact weights single people out as a name does. So a weight is replaced on the way in by the mean weight of
a class of people: quantile classes of many people each, or the classes that a data steward gives as bins. Class means
keep weighted totals right: over everybody they differ from the exact ones by the rounding of the means alone.

What is told of the classes is their means, the round numbers that divide them, and how far weights lie from the mean
of their class. All of it is a function of weights, which an attacker is taken to know as every quasi-identifier.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import fsum, sqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from glasshouse.errors import DomainError
from glasshouse.microdata.domains import kind_of, text_of
from glasshouse.plural import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy

__all__ = ["FEWEST_PEOPLE", "MOST_CLASSES", "WeightClasses", "classed_weights"]

MOST_CLASSES: Final = 8
"""Quantile classes at most."""
FEWEST_PEOPLE: Final = 50
"""People of a quantile class at least."""
_DIGITS: Final = 6  # of a mean
_DIGITS_OF_CUT: Final = 2
_MOST_DIGITS: Final = 17  # which every number needs at most


@dataclass(frozen=True, slots=True)
class WeightClasses:
    """Classes of weights, lowest first.

    >>> classes = WeightClasses.of(np.array([1.0, 1.2, 7.0]), np.array([60, 60, 90]))
    >>> classes.means, classes.cuts, classes.deviations
    ((1.0, 1.2, 7.0), (1.1, 7.0), (0.0, 0.0, 0.0))
    >>> classes.classed(np.array([0.3, 1.4, 900.0])).tolist()
    [1.0, 1.2, 7.0]
    """

    means: tuple[float, ...]  # the mean weight of each class, rounded
    cuts: tuple[float, ...]  # the round numbers with which the second class and each further one begins
    deviations: tuple[float, ...]  # the standard deviation of weights from the mean of their class, rounded up

    @classmethod
    def of(
        cls, weights: NDArray[np.float64], people: NDArray[np.int64], labels: NDArray[np.int64] | None = None
    ) -> WeightClasses:
        """Make classes of different weights, ascending; the number of people with each weight is given.

        ``labels`` are the numbers of classes, ascending too; quantile classes are made without.
        """
        labels = _quantiles(weights, people) if labels is None else labels
        first = np.flatnonzero(np.diff(labels, prepend=labels[0] - 1)).tolist()
        cuts = tuple(_round_between(float(weights[at - 1]), float(weights[at])) for at in first[1:])
        means, deviations = [], []
        ends = [*first[1:], len(weights)]
        for at, (start, stop) in enumerate(zip(first, ends, strict=True)):
            own, count = weights[start:stop].tolist(), people[start:stop].tolist()
            low, high = cuts[at - 1] if at else 0.0, cuts[at] if at < len(cuts) else float("inf")
            mean = _rounded_within(fsum(w * n for w, n in zip(own, count, strict=True)) / sum(count), low, high)
            squares = fsum((w - mean) ** 2 * n for w, n in zip(own, count, strict=True))
            means.append(mean)
            deviations.append(_rounded_up(sqrt(squares / sum(count))))
        return cls(tuple(means), cuts, tuple(deviations))

    def classed(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of the class of each weight; a mean is unchanged."""
        return np.asarray(self.means)[np.searchsorted(self.cuts, weights, side="right")]

    def to_data(self) -> dict[str, list[str]]:
        """The published description of the classes, numbers as texts."""
        return {
            "means": list(map(text_of, self.means)),
            "cuts": list(map(text_of, self.cuts)),
            "deviations": list(map(text_of, self.deviations)),
        }

    @classmethod
    def from_data(cls, data: Any) -> WeightClasses:
        """Read the published description of classes, which must have been checked."""
        means, cuts, deviations = (tuple(map(float, data[name])) for name in ("means", "cuts", "deviations"))
        return cls(means, cuts, deviations)


def classed_weights(
    values: pa.Array,
    name: str,
    people: NDArray[np.int64] | None,
    bins: Taxonomy | None,
) -> tuple[pa.Array, WeightClasses]:
    """Replace the weights of a column by class means; `DomainError` if some of them are no weights.

    ``people`` says how many people each value stands for, one unless given; ``bins`` are classes that a steward gives.
    """
    if kind_of(values.type, name) not in ("integer", "float"):
        raise DomainError(f"the weight {name!r} has no numbers: a weight must be a positive number", column=name)
    if values.null_count:
        raise DomainError(
            f"the weight {name!r} is missing in {counted(values.null_count, 'row')}, which cannot be counted without "
            "it: drop such rows (missing='drop'), or give them a weight",
            column=name,
        )
    weights = np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    wrong = int((~(np.isfinite(weights) & (weights > 0))).sum())
    if wrong:
        raise DomainError(
            f"the weight {name!r} has {counted(wrong, 'value that is', 'values that are')} infinite or not positive: a "
            "weight must be a positive number. Remove records with the weight 0",
            column=name,
        )
    different, first, place = np.unique(weights, return_index=True, return_inverse=True)
    counts = np.bincount(place.reshape(-1), people, minlength=len(different)).astype(np.int64)
    labels = None
    if bins is not None:
        texts, order = bins.bin(values.take(pa.array(first)), name=name, weights=counts)
        number = {text: at for at, text in enumerate(order)}
        labels = np.array([number[text] for text in texts.to_pylist()], np.int64)
        if (np.diff(labels) < 0).any():
            raise DomainError(
                f"the bins of the weight {name!r} are not ranges of numbers: give ranges, such as intervals:10",
                column=name,
            )
    classes = WeightClasses.of(different, counts, labels)
    return pa.array(classes.classed(different)[place.reshape(-1)]), classes


def _quantiles(weights: NDArray[np.float64], people: NDArray[np.int64]) -> NDArray[np.int64]:
    """Divide different weights into classes of about equally many people, with round numbers as borders.

    No class has few people, unless there are few in all.
    """
    before, n_people = np.cumsum(people) - people, int(people.sum())
    n_classes = max(1, min(MOST_CLASSES, n_people // FEWEST_PEOPLE))
    ranks = [-(-n_people * at // n_classes) for at in range(1, n_classes)]
    quantiles = weights[np.searchsorted(before, ranks, side="right") - 1].tolist()
    cuts = sorted({float(f"{quantile:.{_DIGITS_OF_CUT}g}") for quantile in quantiles})
    wanted = np.searchsorted(cuts, weights, side="right").tolist()
    labels, here, own = [], 0, 0
    for at, count in enumerate(people.tolist()):
        if at and wanted[at] != wanted[at - 1] and own >= FEWEST_PEOPLE:
            here, own = here + 1, 0
        labels.append(here)
        own += count
    found = np.array(labels, np.int64)
    return np.minimum(found, max(here - 1, 0)) if own < FEWEST_PEOPLE else found


def _round_between(low: float, high: float) -> float:
    """The number with the fewest digits that is above ``low`` and not above ``high``."""
    above, up_to = Decimal(low), Decimal(high)
    exponent = up_to.adjusted()
    while (found := up_to.scaleb(-exponent).to_integral_value("ROUND_FLOOR").scaleb(exponent)) <= above:
        exponent -= 1
    # the float beside the decimal may be ``low`` itself, where two weights differ in their last bits
    return float(found) if low < float(found) <= high else high


def _rounded_within(mean: float, low: float, high: float) -> float:
    """The mean with few digits, and with as many more as it takes to lie in its class."""
    for digits in range(_DIGITS, _MOST_DIGITS):
        if low <= (found := float(f"{mean:.{digits}g}")) < high:
            return found
    return mean


def _rounded_up(deviation: float) -> float:
    """The number rounded up to two digits."""
    if deviation == 0:
        return 0.0
    exact = Decimal(deviation)
    return float(exact.scaleb(1 - exact.adjusted()).to_integral_value("ROUND_CEILING").scaleb(exact.adjusted() - 1))
