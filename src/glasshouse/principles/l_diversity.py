# SPDX-License-Identifier: Apache-2.0
"""l-diversity by frequency: what the word means throughout this package.

Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006 (ANATOMY), Definition 2: in each group, at
most a 1/l fraction of the tuples has the most frequent sensitive value. MINIMALITY 2.2 calls it simple l-diversity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from glasshouse.principles.parameters import at_most, integer
from glasshouse.principles.principle import Principle, Terms
from glasshouse.principles.witness import most_frequent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from glasshouse.errors import Infeasible
    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Domain

__all__ = ["LDiversity"]


@dataclass(frozen=True, slots=True, repr=False)
class LDiversity(Principle):
    """In every group, no sensitive value has more than one tuple in ``ell``.

    Parameters
    ----------
    ell
        An integer, at least 2.

    Guarantee
    ---------
    Whoever knows a person's group and nothing else believes no sensitive value of that person above ``1 / ell``.

    Examples
    --------
    >>> from glasshouse.microdata.counts import Counts
    >>> LDiversity(ell=2).holds(Counts.of([[0, 0, 1, 2], [0, 0, 1]], n_values=3)).tolist()
    [True, False]
    """

    name: ClassVar[str] = "l-diversity"
    ell: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "ell", integer("LDiversity", "ell", self.ell, least=2))

    @property
    def terms(self) -> Terms:
        """What others need to know of it."""
        return Terms(asked={"ell": self.ell}, smallest_group=self.ell, one_in=self.ell)

    @property
    def title(self) -> str:
        """The principle with its number."""
        return f"{self.ell}-diversity"

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds.

        >>> LDiversity(ell=8).describe("disease")
        'in every group, at most one tuple in 8 has the same disease'
        """
        return f"in every group, at most one tuple in {self.ell:,} has the same {column or 'sensitive value'}"

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group: ``largest * ell <= size``."""
        # only sizes and largest are read: they are cheap to count, the histogram is not
        return at_most(counts.largest, self.ell, counts.sizes, 1) & (counts.sizes > 0)

    @staticmethod
    def largest_feasible(whole: Counts) -> int:
        """Find the largest ell that the whole table obeys; 1 is the least, and protects nothing.

        >>> from glasshouse.microdata.counts import Counts
        >>> LDiversity.largest_feasible(Counts.of([[0, 0, 0, 1, 1, 2, 3]], n_values=4))
        2
        """
        return int(whole.sizes[0] // max(whole.largest[0], 1))

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """Give the strictest l-diversity that the whole table obeys."""
        ell = self.largest_feasible(whole)
        return type(self)(ell=ell) if ell >= 2 else None

    def _infeasible(self, whole: Counts, column: str | None, domain: Domain | None) -> Infeasible:
        witness = most_frequent(whole, column, domain)
        nearest = self.feasible(whole)
        remedy = f"the largest feasible ell is {nearest.ell:,}" if nearest else "no ell is feasible"
        return witness.infeasible(self, allowed=witness.of // self.ell, remedy=remedy, largest=nearest and nearest.ell)
