# SPDX-License-Identifier: Apache-2.0
"""k-anonymity: safety in numbers.

Cormode, Li, Li, Srivastava, "Minimizing Minimality and Maximizing Utility", VLDB 2010 (MINIMALITY), Section 2.2: each
group has at least k members. It looks at no sensitive value, and protects none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from glasshouse.errors import Infeasible
from glasshouse.principles.parameters import integer
from glasshouse.principles.principle import Caps, Principle, Terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Domain

__all__ = ["KAnonymity"]


@dataclass(frozen=True, slots=True, repr=False)
class KAnonymity(Principle):
    """Every group has at least ``k`` tuples.

    Parameters
    ----------
    k
        An integer, at least 2.

    Examples
    --------
    >>> from glasshouse.microdata.counts import Counts
    >>> KAnonymity(k=2).holds(Counts.of([[0, 0], [1]], n_values=2)).tolist()
    [True, False]
    """

    name: ClassVar[str] = "k-anonymity"
    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", integer("KAnonymity", "k", self.k, least=2))

    @property
    def needs_sensitive(self) -> bool:
        """It looks at sizes alone."""
        return False

    @property
    def terms(self) -> Terms:
        """What others need to know of it."""
        return Terms(asked={"k": self.k}, anonymity=self.k, smallest_group=self.k, capped=(Caps(least=self.k),))

    @property
    def title(self) -> str:
        """The principle with its number."""
        return f"{self.k}-anonymity"

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds.

        >>> KAnonymity(k=5).describe()
        'every group has at least 5 tuples'
        """
        return f"every group has at least {self.k:,} tuples"

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group by its size."""
        return counts.sizes >= self.k

    @staticmethod
    def largest_feasible(whole: Counts) -> int:
        """Find the largest k that the whole table obeys: its number of tuples."""
        return int(whole.sizes[0])

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """Give the strictest k-anonymity that the whole table obeys."""
        n = self.largest_feasible(whole)
        return type(self)(k=n) if n >= 2 else None

    def _infeasible(self, whole: Counts, column: str | None, domain: Domain | None) -> Infeasible:
        n = self.largest_feasible(whole)
        remedy = f"the largest feasible k is {n:,}" if n >= 2 else "no k is feasible"
        message = f"{self.title} is out of reach: the table has {n:,} tuple{'s' * (n > 1)}; {remedy}"
        return Infeasible(message, principle=self, count=n, of=n, largest=n if n >= 2 else None)
