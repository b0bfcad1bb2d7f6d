# SPDX-License-Identifier: Apache-2.0
"""delta-growth: no belief grows by more than so much (CORRUPTION Definition 3 and Theorem 3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from glasshouse.principles.beliefs.background_sensitive import BackgroundSensitive, group_size
from glasshouse.principles.beliefs.retention import prevents_growth
from glasshouse.principles.parameters import fraction, plain
from glasshouse.principles.principle import Terms

if TYPE_CHECKING:
    from glasshouse.principles.parameters import Exact

__all__ = ["DeltaGrowth"]


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, init=False)
class DeltaGrowth(BackgroundSensitive):
    """No belief about a person's sensitive value grows by more than ``delta`` through the release.

    Parameters
    ----------
    delta
        An exact number above 0 and below 1; left out, to be told what a retention achieves.
    lambda_
        The most that she believes of any single value beforehand: an exact number above 0, at most 1 (whatever).
    k
        Smallest size of a group, an integer, at least 1.
    s
        In place of ``k``: the largest share of tuples to be published; k is then 1/s, rounded up.

    Guarantee
    ---------
    Holds for a perturbed sample against whoever knows the sensitive values of any number of other people, about any
    property of a person's sensitive value. Given for a sensitive domain that is declared, groups made from
    quasi-identifiers alone, and people whose values are independent in her mind.

    Examples
    --------
    CORRUPTION Table III, p = 0.3 and k = 6 on fifty incomes; and the most that may be retained for 0.2-growth:

    >>> float(DeltaGrowth(lambda_=0.1, k=6).achieved(0.3, 50))
    0.2369
    >>> float(DeltaGrowth(delta=0.2, lambda_=0.1, k=6).largest_retention(50))
    0.2553
    """

    name: ClassVar[str] = "delta-growth"
    theorem: ClassVar[str] = "CORRUPTION Theorem 3"

    delta: Fraction | None = None
    lambda_: Fraction = Fraction(1)
    k: int

    def __init__(
        self, *, delta: Exact | None = None, lambda_: Exact = 1, k: int | None = None, s: Exact | None = None
    ) -> None:
        owner = "DeltaGrowth"
        most = None if delta is None else fraction(owner, "delta", delta, above=0, below=1)
        object.__setattr__(self, "delta", most)
        object.__setattr__(self, "lambda_", fraction(owner, "lambda_", lambda_, above=0, most=1))
        object.__setattr__(self, "k", group_size(owner, k, s))

    @property
    def bound(self) -> Fraction | None:
        """``delta``."""
        return self.delta

    @property
    def floor(self) -> Fraction:
        """0."""
        return Fraction(0)

    def bounded(self, bound: Fraction) -> Self:
        """The same promise with this ``delta``."""
        return replace(self, delta=bound)

    @property
    def terms(self) -> Terms:
        """What others need to know of it."""
        return Terms(asked={})

    @property
    def title(self) -> str:
        """The promise with its number."""
        return f"{'any' if self.delta is None else plain(self.delta)}-growth guarantee"

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds, upwards and downwards: what falls is a belief in the contrary that grows.

        >>> print(DeltaGrowth(delta=0.24, k=6).describe("income"))
        whatever is believed of a person's income grows by at most 0.24 through the release, and falls by at most \
0.24, whatever she believes of single values
        """
        value = column or "sensitive value"
        if self.delta is None:
            return f"how much a belief about a person's {value} may grow"
        most = plain(self.delta)
        return (
            f"whatever is believed of a person's {value} grows by at most {most} through the release, and falls by at "
            f"most {most}, {self._within()}"
        )

    def prevents(self, p: Fraction, n_values: int, bound: Fraction) -> bool:
        """Whether retention ``p`` on a domain of ``n_values`` lets no belief grow by more than ``bound``."""
        return prevents_growth(p, n_values, lambda_=self.lambda_, k=self.k, delta=bound)
