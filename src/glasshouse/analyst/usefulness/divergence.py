# SPDX-License-Identifier: Apache-2.0
"""Divergence: the distance between a reconstructed distribution and the microdata (ANGEL Section 6).

    KL(D || D*)  =  sum of  D(Q, x) * ln(D(Q, x) / D*(Q, x))  over the points that some record is at

in nats; D is the share of records at the point. The other direction has no finite value, for D* is positive where no
record is. Where a record is at a point at which D* is 0, the divergence is infinite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, inf, log
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.analyst.answers.covering import AT_ONCE, Points, same_values, sums_over_covering
from glasshouse.errors import InputError
from glasshouse.microdata.domains import text_of
from glasshouse.plural import counted
from glasshouse.supports.axes import position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.answers.distribution import Distribution
    from glasshouse.microdata import Microdata

__all__ = ["kl_divergence"]

_EXACT = 2_000


def kl_divergence(
    truth: Microdata | Mapping[tuple[Any, ...], int],
    distribution: Distribution,
    *,
    exact_up_to: int = _EXACT,
    at_once: int = AT_ONCE,
) -> float:
    """KL-divergence of the microdata from a reconstructed distribution, in nats; infinite if it excludes a record.

    Parameters
    ----------
    truth
        The microdata; or how many records are at each point, a point having a value for every attribute of the
        distribution, None where it is missing.
    distribution
        From `reconstructed`.
    exact_up_to
        For so many different points, probabilities are the fractions of an exact distribution, and only logarithms are
        rounded; more of them are gone through together, in floating-point numbers.
    at_once
        How many steps down the tree are held at once.

    Examples
    --------
    >>> import glasshouse as gh
    >>> from glasshouse.analyst.answers.distribution import reconstructed
    >>> table = gh.examples.anatomy_table1()
    >>> release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), method=gh.Anatomize())
    >>> round(kl_divergence(table, reconstructed(release)) / log(2), 9)    # one bit: every value is one of two
    1.0
    """
    points = _Counted.of(truth, distribution)
    if not len(points.counts):
        raise InputError(
            "the true table has no records, so the distribution cannot be compared with it: give the table that was "
            "published"
        )
    exactly = distribution.is_exact and len(points.counts) <= exact_up_to
    found = _exactly(points, distribution) if exactly else _added_up(points, distribution, at_once)
    if not all(found):
        return inf
    n = int(points.counts.sum())
    return fsum(count / n * _log(count, n, share) for count, share in zip(points.counts.tolist(), found, strict=True))


@dataclass(frozen=True, eq=False)
class _Counted:
    """The different points of the microdata, with a value for every attribute, and how many records are at each."""

    points: Points
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, truth: Microdata | Mapping[tuple[Any, ...], int], distribution: Distribution) -> _Counted:
        names = distribution.attributes
        if isinstance(truth, Mapping):
            points, times = _listed([point for point, count in truth.items() if count], distribution), truth.values()
            counts = np.array([count for count in times if count], np.int64)
        else:
            columns = [truth.column(name) for name in names]
            values = [column.domain.listed() for column in columns]
            points = Points(values, [column.codes.astype(np.int64) for column in columns])
            counts = np.ones(truth.n_tuples, np.int64)
        different, number = points.distinct()
        return cls(different, np.bincount(number, weights=counts, minlength=len(different)).astype(np.int64))


def _listed(rows: Sequence[tuple[Any, ...]], distribution: Distribution) -> Points:
    names = distribution.attributes
    if any(len(point) != len(names) for point in rows):
        raise InputError(f"a point must have {counted(len(names), 'value')}: {', '.join(names)}")
    kinds = {axis.name: axis.kind for axis in distribution.axes}
    values = [_in_order({point[i] for point in rows}, kinds.get(name)) for i, name in enumerate(names)]
    places = [{value: i for i, value in enumerate(own)} for own in values]
    return Points(values, [np.array([places[i][point[i]] for point in rows], np.int64) for i in range(len(names))])


def _in_order(values: set[Any], kind: str | None) -> list[Any]:
    known = [value for value in values if value is not None]
    on_a_line = kind in ("integer", "float", "date", "timestamp") and not any(isinstance(v, str) for v in known)
    known.sort(key=(lambda value: position(value, str(kind))) if on_a_line else text_of)
    return [*known, *([None] if len(known) < len(values) else [])]


def _exactly(counted: _Counted, distribution: Distribution) -> list[Any]:
    """D* at every point, one at a time."""
    values, codes = counted.points.values, [own.tolist() for own in counted.points.codes]
    return [
        distribution.probability(*(own[code] for own, code in zip(values, point, strict=True)))
        for point in zip(*codes, strict=True)
    ]


def _added_up(counted: _Counted, distribution: Distribution, at_once: int) -> list[float]:
    """D* at every point, all together."""
    names, weights = distribution.attributes, distribution.weights
    columns = [names.index(axis.name) for axis in distribution.axes]
    amounts, volumes = (numbers.astype(np.float64) for numbers in (weights.amounts, distribution.volumes))
    amount = amounts / volumes[weights.places] / distribution.n_tuples
    label = None
    if distribution.sensitive is not None:
        columns.append(names.index(distribution.sensitive))
        label = same_values(distribution.values, counted.points.values[columns[-1]])[weights.codes]
    points = Points([counted.points.values[c] for c in columns], [counted.points.codes[c] for c in columns])
    found = sums_over_covering(
        points, distribution.axes, distribution.of_place, weights.places, amount, label=label, at_once=at_once
    )
    return [float(share) for share in found]


def _log(count: int, n: int, share: Any) -> float:
    """Logarithm of the microdata's share over the reconstructed one."""
    if not isinstance(share, Fraction):
        return log(count / n / share)
    ratio = Fraction(count, n) / share
    return log(ratio.numerator) - log(ratio.denominator)
