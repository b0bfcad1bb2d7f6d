# SPDX-License-Identifier: Apache-2.0
"""Distinct l-diversity: at least l different sensitive values in each group.

Tao, Xiao, Li, Zhang, "On Anti-Corruption Privacy Preserving Publication", ICDE 2008 (CORRUPTION), Section III.A: the
simplest version of l-diversity. A group with one frequent value and l - 1 rare ones obeys it and protects little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from glasshouse.errors import Infeasible
from glasshouse.principles.parameters import integer
from glasshouse.principles.principle import Principle, Terms
from glasshouse.principles.witness import of_column

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Domain

__all__ = ["DistinctLDiversity"]


@dataclass(frozen=True, slots=True, repr=False)
class DistinctLDiversity(Principle):
    """In every group, at least ``ell`` different sensitive values occur.

    Parameters
    ----------
    ell
        An integer, at least 2.

    Examples
    --------
    >>> from glasshouse.microdata.counts import Counts
    >>> DistinctLDiversity(ell=2).holds(Counts.of([[0, 0, 0, 1], [2, 2]], n_values=3)).tolist()
    [True, False]
    """

    name: ClassVar[str] = "distinct-l-diversity"
    ell: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "ell", integer("DistinctLDiversity", "ell", self.ell, least=2))

    @property
    def terms(self) -> Terms:
        """What others need to know of it."""
        return Terms(asked={"distinct_ell": self.ell}, smallest_group=self.ell)

    @property
    def title(self) -> str:
        """The principle with its number."""
        return f"distinct {self.ell}-diversity"

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds.

        >>> DistinctLDiversity(ell=3).describe("disease")
        'in every group, at least 3 different values of disease occur'
        """
        values = f"values of {column}" if column else "sensitive values"
        return f"in every group, at least {self.ell:,} different {values} occur"

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group by its number of different values."""
        return counts.distinct >= self.ell

    @staticmethod
    def largest_feasible(whole: Counts) -> int:
        """Find the largest ell that the whole table obeys: its number of different values."""
        return int(whole.distinct[0])

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """Give the strictest distinct l-diversity that the whole table obeys."""
        ell = self.largest_feasible(whole)
        return type(self)(ell=ell) if ell >= 2 else None

    def _infeasible(self, whole: Counts, column: str | None, domain: Domain | None) -> Infeasible:
        ell = self.largest_feasible(whole)
        remedy = f"the largest feasible ell is {ell:,}" if ell >= 2 else "no ell is feasible"
        there = f"there {'are' if ell > 1 else 'is'} {ell:,} different value{'s' * (ell > 1)}{of_column(column)}"
        message = f"{self.title} is out of reach: {there}; {remedy}"
        return Infeasible(
            message, principle=self, column=column, count=ell, of=int(whole.sizes[0]), largest=ell if ell >= 2 else None
        )
