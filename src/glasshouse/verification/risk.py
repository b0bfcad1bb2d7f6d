# SPDX-License-Identifier: Apache-2.0
"""Re-identification risk from the sizes of groups."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.verification.request import whole
from glasshouse.verification.verification import line, rounded_up

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Risk", "risk_of"]

_SHORT_SERIES = 30  # group sizes from which the series for the journalist's risk converges quickly


@dataclass(frozen=True, kw_only=True, slots=True)
class Risk:
    """Re-identification risk from group sizes alone.

    A record in a group of size ``f`` is found with probability ``1 / f`` by a *prosecutor*, who knows that her target
    is in the table; highest and average are over records, and the average is groups / tuples. ``at_risk`` is the share
    of records above the threshold. A *marketer* who matches everybody at random inside the groups gets that same
    average right (Dankar, El Emam, "A Method for Evaluating Marketer Re-identification Risk", PAIS 2010).

    A *journalist* knows only that her target is in the population. Of a group with ``f`` tuples in the table the
    population holds F people, and she is right with probability 1 / F. F is not known: with the sampling fraction
    p = tuples / population, F - f is taken as negative binomial, which gives ``E[1/F] = p * integral from 0 to 1 of
    u^(f-1) / (p + (1-p) u) du`` (Benedetti, Franconi, "Statistical and technological solutions for controlled data
    dissemination", 1998; the individual risk of mu-Argus and sdcMicro). It assumes that everybody is equally likely to
    be in the table. Its average over records is the marketer's risk against a list of the whole population.
    """

    prosecutor_highest: Fraction
    prosecutor_average: Fraction
    threshold: Fraction
    at_risk: Fraction
    population: int | None = None
    journalist_highest: float | None = None
    journalist_average: float | None = None

    @property
    def marketer(self) -> Fraction:
        """Share of records that a match at random within the groups is expected to get right."""
        return self.prosecutor_average

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data; shares are rounded up."""
        journalist = {
            "population": self.population,
            "highest": self.journalist_highest,
            "average": self.journalist_average,
            "model": "expected 1 / people of the group in the population, negative binomial (Benedetti, Franconi 1998)",
        }
        return {
            "prosecutor": {
                "highest": rounded_up(self.prosecutor_highest),
                "average": rounded_up(self.prosecutor_average),
            },
            "marketer": rounded_up(self.marketer),
            "threshold": float(self.threshold),
            "at_risk": rounded_up(self.at_risk),
            "journalist": journalist if self.population is not None else None,
        }

    def _lines(self) -> list[str]:
        lines = [
            "",
            "re-identification risk from group sizes",
            line("  prosecutor, highest", f"{rounded_up(self.prosecutor_highest):.6f}", "1 / smallest group"),
            line("  prosecutor, average", f"{rounded_up(self.prosecutor_average):.6f}", "groups / tuples"),
            line(
                "  records at risk",
                f"{rounded_up(self.at_risk):.6f}",
                f"share with a risk above {float(self.threshold):g}",
            ),
            line("  marketer", f"{rounded_up(self.marketer):.6f}", "share right when everybody is matched at random"),
        ]
        if self.population is not None:
            model = f"expected 1 / people in the population of {self.population:,}, negative binomial"
            lines += [
                line("  journalist, highest", f"{self.journalist_highest:.6f}", model),
                line(
                    "  journalist, average", f"{self.journalist_average:.6f}", "also a marketer's with that population"
                ),
            ]
        return lines


def risk_of(sizes: NDArray[np.int64], threshold: Fraction, population: int | None) -> Risk:
    """Compute the risks from the sizes of all groups."""
    n = int(sizes.sum())
    at_risk = int(sizes[sizes < math.ceil(1 / threshold)].sum()) if threshold > 0 else n  # 1 / size > threshold
    risk = Risk(
        prosecutor_highest=Fraction(1, int(sizes.min())),
        prosecutor_average=Fraction(len(sizes), n),
        threshold=threshold,
        at_risk=Fraction(at_risk, n),
    )
    if population is None:
        return risk
    population = whole("population", population, least=n)
    each, how_many = np.unique(sizes, return_counts=True)
    expected = _expected_reciprocals(each, n / population)
    average = (expected * each * how_many).sum() / n
    # to what floating point is good for, then up
    highest, average = (Fraction(str(round(float(share), 12))) for share in (expected[0], average))
    return replace(
        risk,
        population=population,
        journalist_highest=rounded_up(highest),
        journalist_average=rounded_up(average),
    )


def _expected_reciprocals(sizes: NDArray[np.int64], p: float) -> NDArray[np.float64]:
    """Compute ``E[1/F]`` of `Risk`: ``p * I(f)``, where I(f) is the integral of ``u^(f-1) / (p + (1-p) u)``."""
    q = 1.0 - p
    # 1 / (1 - q (1-u)) as a geometric series gives the sum over i of q^i (f-1)! i! / (f+i)!
    term = 1.0 / sizes
    integral = term.copy()
    for i in range(200):
        term = term * q * (i + 1) / (sizes + i + 1)
        integral += term
    if q > 0.5:  # the series is slow for small groups of a small sample; I(f+1) = (1/f - p I(f)) / q is stable as p < q
        value = -math.log(p) / q
        for size in range(1, _SHORT_SERIES):
            integral[sizes == size] = value
            value = (1 / size - p * value) / q
    return np.asarray(p * integral)
