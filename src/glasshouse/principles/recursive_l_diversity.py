# SPDX-License-Identifier: Apache-2.0
"""Recursive (c, l)-diversity: the most frequent value stays modest even after l - 2 others have been ruled out.

CORRUPTION Inequality 1: with l' >= l different values of frequencies n_1 >= n_2 >= ... >= n_l' in a group,
``n_1 <= c * (n_l + ... + n_l')``; a group with fewer than l values does not obey.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from glasshouse.errors import Infeasible
from glasshouse.kernels import compiled
from glasshouse.principles.parameters import at_most, fraction, integer, plain
from glasshouse.principles.principle import Principle, Terms
from glasshouse.principles.witness import most_frequent, of_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Domain
    from glasshouse.principles.parameters import Exact

__all__ = ["RecursiveLDiversity"]


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, init=False)
class RecursiveLDiversity(Principle):
    """In every group, the most frequent value has at most ``c`` times the tuples of the ``ell``-th and all rarer ones.

    Parameters
    ----------
    c
        An exact number above 0.
    ell
        An integer, at least 2.

    Guarantee
    ---------
    Whoever knows a person's group and can rule out at most ``ell - 2`` values believes no value of that person above
    ``c / (c + 1)`` (CORRUPTION Inequality 3).

    Examples
    --------
    The group of CORRUPTION Figure 1: 3 <= 1/2 * (2 + 2 + 1 + 1).

    >>> from glasshouse.microdata.counts import Counts
    >>> RecursiveLDiversity(c="1/2", ell=3).holds(Counts.from_histograms([[3, 2, 2, 2, 1, 1]])).tolist()
    [True]
    """

    name: ClassVar[str] = "recursive-l-diversity"
    c: Fraction
    ell: int

    def __init__(self, c: Exact, ell: int) -> None:
        object.__setattr__(self, "c", fraction("RecursiveLDiversity", "c", c, above=0))
        object.__setattr__(self, "ell", integer("RecursiveLDiversity", "ell", ell, least=2))

    @property
    def terms(self) -> Terms:
        """What others need to know of it."""
        return Terms(asked={"recursive": (self.c, self.ell)}, smallest_group=self.ell)

    @property
    def title(self) -> str:
        """The principle with its numbers."""
        return f"recursive ({plain(self.c)}, {self.ell})-diversity"

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds.

        >>> RecursiveLDiversity(c=3, ell=3).describe("disease")
        'in every group, the most frequent disease has at most 3 times as many tuples as all but the 2 most frequent'
        """
        value = column or "sensitive value"
        frequent = f"the {self.ell - 1:,} most frequent" if self.ell > 2 else "the most frequent"
        most = f"at most {plain(self.c)} times as many tuples as all but {frequent}"
        return f"in every group, the most frequent {value} has {most}"

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group by Inequality 1, in integers."""
        modest = at_most(counts.largest, self.c.denominator, self._rarer(counts), self.c.numerator)
        return modest & (counts.distinct >= self.ell)

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """Give the smallest c, for the same ell, that the whole table obeys."""
        rarer = int(self._rarer(whole)[0])
        return replace(self, c=Fraction(int(whole.largest[0]), rarer)) if rarer else None

    def _rarer(self, counts: Counts) -> NDArray[np.int64]:
        """Tuples of the ell-th most frequent value and of all rarer ones, in each group."""
        offsets, _, entries = counts.histogram
        ranks = min(self.ell - 1, max(int(counts.distinct.max(initial=0)), 1))
        rarer = np.empty(len(counts), np.int64)
        kernels = compiled("glasshouse.principles._kernels")
        kernels.without_most_frequent(offsets, entries, np.empty(ranks, np.int64), rarer)
        return rarer

    def _infeasible(self, whole: Counts, column: str | None, domain: Domain | None) -> Infeasible:
        nearest = self.feasible(whole)
        if nearest is None:
            distinct = int(whole.distinct[0])
            there = f"there {'are' if distinct > 1 else 'is'} only {distinct:,} different value{'s' * (distinct > 1)}"
            return Infeasible(
                f"{self.title} is out of reach: {there}{of_column(column)}, at least {self.ell:,} are needed; "
                f"no c is feasible with this ell",
                principle=self,
                column=column,
                count=distinct,
                of=int(whole.sizes[0]),
            )
        allowed = int(self.c * int(self._rarer(whole)[0]))
        remedy = f"the smallest feasible c with ell = {self.ell:,} is {plain(nearest.c)}"
        return most_frequent(whole, column, domain).infeasible(self, allowed=allowed, remedy=remedy, largest=nearest.c)
