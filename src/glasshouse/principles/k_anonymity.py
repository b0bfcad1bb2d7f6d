# SPDX-License-Identifier: Apache-2.0
"""k-anonymity: safety in numbers; and (alpha, k)-anonymity, where no sensitive value exceeds a share of alpha either.

Cormode, Li, Li, Srivastava, "Minimizing Minimality and Maximizing Utility", VLDB 2010 (MINIMALITY), Section 2.2: each
group has at least k members. It looks at no sensitive value, and protects none. Wong, Li, Fu, Wang, "(alpha,
k)-anonymity", KDD 2006, as MINIMALITY 2.2 has it: for every sensitive value. With ``alpha = 1 / l`` the second half is
l-diversity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from glasshouse.errors import Infeasible
from glasshouse.principles.parameters import at_most, fraction, in_percent, integer, plain
from glasshouse.principles.principle import SAME, Caps, Principle, Terms, most_frequent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Domain
    from glasshouse.principles.parameters import Exact

__all__ = ["AlphaKAnonymity", "KAnonymity"]


@dataclass(frozen=True, slots=True, repr=False)
class KAnonymity(Principle):
    """Every group has at least ``k`` records.

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
    titled: ClassVar[str] = "{k}-anonymity"
    in_words: ClassVar[str] = "Everybody has the same published quasi-identifiers as several other people."
    left_open: ClassVar[str] = (
        "It does not protect sensitive values: if all people of a group have the same value, the value of each of them "
        "is known."
    )
    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", integer("KAnonymity", "k", self.k, least=2))

    @property
    def needs_sensitive(self) -> bool:
        """False: the principle uses group sizes only."""
        return False

    @property
    def terms(self) -> Terms:
        """The terms of the principle, for other modules."""
        return Terms(asked={"k": self.k}, anonymity=self.k, smallest_group=self.k, capped=(Caps(least=self.k),))

    def joined(self, other: Principle) -> Principle | None:
        """With the larger k; also with (alpha, k)-anonymity, which stays that.

        >>> KAnonymity(k=5).joined(AlphaKAnonymity(alpha="0.5", k=3))
        AlphaKAnonymity(alpha='0.5', k=5)
        """
        if isinstance(other, AlphaKAnonymity):
            return other.joined(self)
        return replace(self, k=max(self.k, other.k)) if isinstance(other, KAnonymity) else None

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds.

        >>> KAnonymity(k=5).describe()
        'every group has at least 5 records'
        """
        return f"every group has at least {self.k:,} records"

    def for_person(self, value: str, attacker: str) -> str:
        """Say what it means for a person; ``value`` is empty where no sensitive values are published.

        >>> KAnonymity(k=5).for_person("disease", "an attacker who knows everybody's age")
        "Everybody looks the same as at least 4 other people, also to an attacker who knows everybody's age. But \
this does not protect anybody's disease."
        """
        others = f"{self.k - 1:,} other people" if self.k > 2 else "one other person"
        alike = f"Everybody looks the same as at least {others}, also to {attacker}."
        return f"{alike} But this does not protect anybody's {value}." if value else alike

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group by its size."""
        return counts.sizes >= self.k

    @staticmethod
    def largest_feasible(whole: Counts) -> int:
        """The largest k that the whole table satisfies: its number of records."""
        return int(whole.sizes[0])

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """The strictest k-anonymity that the whole table satisfies."""
        n = self.largest_feasible(whole)
        return type(self)(k=n) if n >= 2 else None

    def _infeasible(self, whole: Counts, column: str | None, domain: Domain | None) -> Infeasible:
        n = self.largest_feasible(whole)
        remedy = f"the largest k that is possible is {n:,}" if n >= 2 else "k-anonymity needs at least 2 records"
        message = f"{self.title} is not possible for this table: it has {n:,} record{'s' * (n != 1)}"
        return Infeasible(message, remedy=remedy, principle=self, count=n, of=n, largest=n if n >= 2 else None)


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, init=False)
class AlphaKAnonymity(Principle):
    """Every group has at least ``k`` records, and no sensitive value more than a share ``alpha`` of them.

    Parameters
    ----------
    alpha
        An exact number above 0 and below 1.
    k
        An integer, at least 1.

    Guarantee
    ---------
    An attacker who knows a person's group and nothing else gives no sensitive value of that person a probability above
    ``alpha``.

    Examples
    --------
    >>> from glasshouse.microdata.counts import Counts
    >>> AlphaKAnonymity(alpha=0.6, k=5).holds(Counts.from_histograms([[3, 2], [4, 1], [1, 1]])).tolist()
    [True, False, False]
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    titled: ClassVar[str] = "({alpha}, {k})-anonymity"
    in_words: ClassVar[str] = (
        "Everybody looks the same as several other people, of whom at most a given share has the same sensitive value."
    )
    left_open: ClassVar[str] = (
        "A share near 1 protects little: if most people in a group have a value, an attacker can guess that each of "
        "them has it."
    )
    alpha: Fraction
    k: int

    def __init__(self, alpha: Exact, k: int) -> None:
        object.__setattr__(self, "alpha", fraction("AlphaKAnonymity", "alpha", alpha, above=0, below=1))
        object.__setattr__(self, "k", integer("AlphaKAnonymity", "k", k, least=1))

    @property
    def terms(self) -> Terms:
        """The terms of the principle, for other modules."""
        return Terms(
            asked={"k": self.k, "alpha": self.alpha},
            anonymity=self.k,
            smallest_group=self.k,
            capped=(Caps(least=self.k, share=self.alpha),),
        )

    def joined(self, other: Principle) -> Principle | None:
        """With the larger k, and the smaller alpha."""
        if isinstance(other, KAnonymity):
            return replace(self, k=max(self.k, other.k))
        if isinstance(other, AlphaKAnonymity):
            return replace(self, alpha=min(self.alpha, other.alpha), k=max(self.k, other.k))
        return None

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds.

        >>> AlphaKAnonymity(alpha="0.3", k=5).describe("disease")
        'every group has at least 5 records, and at most a share of 0.3 of them has the same value of disease'
        """
        records = f"{self.k:,} record{'s' * (self.k > 1)}"
        value = f"value of {column}" if column else "sensitive value"
        share = f"at most a share of {plain(self.alpha)} of them has the same {value}"
        return f"every group has at least {records}, and {share}"

    def for_person(self, value: str, attacker: str) -> str:
        """Say what it means for a person.

        >>> AlphaKAnonymity(alpha="0.3", k=2).for_person("disease", "an attacker")
        "Nobody's disease can be inferred with more than 30 % confidence, even by an attacker. Groups have at least 2 \
people."
        """
        people = f"{self.k:,} people" if self.k > 1 else "one person"
        return (
            f"Nobody's {value} can be inferred with more than {in_percent(self.alpha)} confidence, even by {attacker}. "
            f"Groups have at least {people}."
        )

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group: ``size >= k`` and ``largest <= alpha * size``, in integers."""
        modest = at_most(counts.largest, self.alpha.denominator, counts.sizes, self.alpha.numerator)
        return modest & (counts.sizes >= self.k)

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """The smallest alpha that the whole table satisfies, with the same k or, if that is too large, all records."""
        n, largest = int(whole.sizes[0]), int(whole.largest[0])
        return replace(self, alpha=Fraction(largest, n), k=min(self.k, n)) if largest < n else None

    def _infeasible(self, whole: Counts, column: str | None, domain: Domain | None) -> Infeasible:
        n, largest = int(whole.sizes[0]), int(whole.largest[0])
        if n < self.k:
            message = f"{self.title} is not possible for this table: it has {n:,} record{'s' * (n != 1)}"
            remedy = f"the largest k that is possible is {n:,}"
            return Infeasible(message, remedy=remedy, principle=self, count=n, of=n, largest=n)
        smallest = Fraction(largest, n) if largest < n else None
        remedy = f"the smallest alpha that is possible is {plain(smallest)}" if smallest else SAME
        witness = most_frequent(whole, column, domain)
        return witness.infeasible(self, allowed=int(self.alpha * n), remedy=remedy, largest=smallest)
