# SPDX-License-Identifier: Apache-2.0
"""Promises about beliefs: what whoever believed something beforehand may believe after the release (CORRUPTION II-B).

They stand beside the principles that judge groups: no count of sensitive values tells whether they hold. They hold for
a table that was perturbed, grouped by quasi-identifiers alone and sampled, and they fix how much of it is retained.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, ClassVar, NoReturn, Self

from glasshouse.bounds import MOST_WHOLE
from glasshouse.errors import InputError, NotSupported, ParameterError
from glasshouse.principles.k_anonymity import KAnonymity
from glasshouse.principles.parameters import fraction, integer, plain
from glasshouse.principles.principle import Principle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Domain
    from glasshouse.principles.parameters import Exact
    from glasshouse.principles.principle import Bound

__all__ = ["RESOLUTION", "BackgroundSensitive", "group_size"]

RESOLUTION = 10_000
"""Retentions are found, and bounds are stated, in steps of one in so many."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class BackgroundSensitive(Principle):
    """What a belief may become, for whoever may have corrupted everybody else.

    Subclasses name the belief and its bound; the bound may be left open, to be told what a retention achieves.
    """

    bounds_beliefs: ClassVar[bool] = True
    theorem: ClassVar[str]
    """Where it is proved."""

    if TYPE_CHECKING:  # every subclass has these two, behind fields of its own
        lambda_: Fraction
        k: int

    @property
    def bound(self) -> Fraction | None:
        """What is asked for, or None to be told what a retention achieves."""
        raise NotImplementedError

    @property
    def floor(self) -> Fraction:
        """What every bound is above."""
        raise NotImplementedError

    def bounded(self, bound: Fraction) -> Self:
        """The same promise with this bound."""
        raise NotImplementedError

    def prevents(self, p: Fraction, n_values: int, bound: Fraction) -> bool:
        """Whether retention ``p`` on a domain of ``n_values`` keeps beliefs within ``bound``, by the theorem."""
        raise NotImplementedError

    def outside(self) -> tuple[str, ...]:
        """Which beliefs are not bounded, sentences for the guarantee."""
        return ()

    def largest_retention(self, n_values: int) -> Fraction:
        """Find the largest retention that keeps the promise, in steps of one in `RESOLUTION`, rounded down.

        The search asks the theorem itself, exactly; the answer is a retention of which the theorem said yes.
        ``n_values`` is the size of the declared sensitive domain.
        """
        if self.bound is None:
            raise InputError(f"{self.title} asks for no bound: give one, or a retention to be told what it achieves")
        bound, n_values = self.bound, self._checked(n_values)
        steps = range(RESOLUTION + 1)
        refused = bisect_left(steps, True, key=lambda i: not self.prevents(Fraction(i, RESOLUTION), n_values, bound))
        return Fraction(refused - 1, RESOLUTION)  # retention 0 changes no belief, so the first refused one is not it

    def achieved(self, p: Exact, n_values: int) -> Fraction:
        """Find the smallest bound that retention ``p`` keeps, in steps of one in `RESOLUTION`, rounded up.

        1 means that nothing is promised. A bound is above `floor`, also where nothing is retained. ``n_values`` is the
        size of the declared sensitive domain.
        """
        retention, n_values = fraction(type(self).__name__, "p", p, least=0, most=1), self._checked(n_values)
        steps = range(int(self.floor * RESOLUTION) + 1, RESOLUTION)
        kept = bisect_left(steps, True, key=lambda i: self.prevents(retention, n_values, Fraction(i, RESOLUTION)))
        return Fraction(steps.start + kept, RESOLUTION)

    def achieving(self, p: Exact, n_values: int) -> Self | None:
        """The promise that retention ``p`` keeps; None where it promises nothing."""
        found = self.achieved(p, n_values)
        return self.bounded(found) if found < 1 else None

    def grouping(self) -> KAnonymity:
        """What Phase 2 must obey: groups of k, by quasi-identifiers alone. For k = 1, pairs, which promise more."""
        return KAnonymity(k=max(self.k, 2))

    def bind(self, whole: Counts, domain: Domain | None = None) -> Bound:
        """Refuse: this is no property of groups, so groups that pass some test would promise nothing."""
        self._refuse()

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Refuse, as `bind` does."""
        self._refuse()

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """Refuse, as `bind` does."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise NotSupported(
            f"{self.title} as a property of groups",
            instead="it holds for perturbed samples: publish with the recoding 'perturbed'",
        )

    def _checked(self, n_values: int) -> int:
        """Check that some belief is as even as lambda says: over n values, one has at least 1/n."""
        owner = type(self).__name__
        n_values = integer(owner, "n_values", n_values, least=1)
        if self.lambda_ * n_values < 1:
            allowed = f"at least 1/{n_values}, for some value of {n_values} is that likely in any belief"
            raise ParameterError(owner, "lambda_", allowed, plain(self.lambda_))
        return n_values

    def _within(self) -> str:
        """Whose beliefs are meant, in words."""
        if self.lambda_ == 1:
            return "whatever she believes of single values"
        return f"if she holds no single value likelier than {plain(self.lambda_)}"


def group_size(owner: str, k: object, s: object) -> int:
    """Read k, or the cardinality s, the largest share of tuples to be published: k is then 1/s, rounded up.

    >>> group_size("RhoBreach", None, "0.3"), group_size("RhoBreach", 6, None)
    (4, 6)
    """
    if s is None:
        return integer(owner, "k", k, least=1)
    if k is not None:
        raise ParameterError(owner, "s", "left out where k is given", s)
    number = fraction(owner, "s", s, above=0, most=1)
    if number * MOST_WHOLE < 1:
        raise ParameterError(owner, "s", f"large enough for groups of 1/s to have at most {MOST_WHOLE:,} tuples", s)
    return ceil(1 / number)
