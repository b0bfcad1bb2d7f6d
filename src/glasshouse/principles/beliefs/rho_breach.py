# SPDX-License-Identifier: Apache-2.0
"""rho1-to-rho2: whoever believed little beforehand believes no more than so much afterwards.

CORRUPTION Definition 2 and Theorem 2, after Evfimievski, Gehrke, Srikant, "Limiting privacy breaches in privacy
preserving data mining", PODS 2003.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from glasshouse.errors import ParameterError
from glasshouse.principles.beliefs.background_sensitive import BackgroundSensitive, group_size
from glasshouse.principles.beliefs.retention import prevents_breach
from glasshouse.principles.parameters import fraction, plain
from glasshouse.principles.principle import Terms

if TYPE_CHECKING:
    from glasshouse.principles.parameters import Exact

__all__ = ["RhoBreach"]


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, init=False)
class RhoBreach(BackgroundSensitive):
    """Nothing believed with at most ``rho1`` beforehand is believed with more than ``rho2`` after the release.

    Parameters
    ----------
    rho1
        An exact number above 0 and below 1.
    rho2
        An exact number above ``rho1`` and below 1; left out, to be told what a retention achieves.
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
    CORRUPTION Table III, p = 0.3 and k = 6 on fifty incomes; and the most that may be retained for 0.2-to-0.5:

    >>> str(RhoBreach(rho1=0.2, lambda_=0.1, k=6).achieved(0.3, 50))
    '563/1250'
    >>> float(RhoBreach(rho1=0.2, rho2=0.5, lambda_=0.1, s="1/6").largest_retention(50))
    0.3684
    """

    name: ClassVar[str] = "rho-breach"
    theorem: ClassVar[str] = "CORRUPTION Theorem 2"

    rho1: Fraction
    rho2: Fraction | None = None
    lambda_: Fraction = Fraction(1)
    k: int

    def __init__(
        self,
        *,
        rho1: Exact,
        rho2: Exact | None = None,
        lambda_: Exact = 1,
        k: int | None = None,
        s: Exact | None = None,
    ) -> None:
        owner = "RhoBreach"
        low = fraction(owner, "rho1", rho1, above=0, below=1)
        high = None if rho2 is None else fraction(owner, "rho2", rho2, above=0, below=1)
        if high is not None and high <= low:
            raise ParameterError(owner, "rho2", f"above rho1, which is {plain(low)}", rho2)
        object.__setattr__(self, "rho1", low)
        object.__setattr__(self, "rho2", high)
        object.__setattr__(self, "lambda_", fraction(owner, "lambda_", lambda_, above=0, most=1))
        object.__setattr__(self, "k", group_size(owner, k, s))

    @property
    def bound(self) -> Fraction | None:
        """``rho2``."""
        return self.rho2

    @property
    def floor(self) -> Fraction:
        """``rho1``."""
        return self.rho1

    def bounded(self, bound: Fraction) -> Self:
        """The same promise with this ``rho2``."""
        return replace(self, rho2=bound)

    @property
    def terms(self) -> Terms:
        """What others need to know of it."""
        return Terms(asked={"rho1": self.rho1})

    @property
    def title(self) -> str:
        """The promise with its numbers."""
        return f"{plain(self.rho1)}-to-{'any' if self.rho2 is None else plain(self.rho2)} guarantee"

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds, upwards and downwards (CORRUPTION footnote 1).

        >>> print(RhoBreach(rho1=0.2, rho2=0.45, lambda_=0.1, k=6).describe("income"))
        whatever is believed of a person's income with at most 0.2 beforehand is believed with at most 0.45 after the \
release, and whatever is believed with at least 0.8 is still believed with at least 0.55, if she holds no single value \
likelier than 0.1
        """
        value = column or "sensitive value"
        if self.rho2 is None:
            return f"what may become of a belief of at most {plain(self.rho1)} about a person's {value}"
        return (
            f"whatever is believed of a person's {value} with at most {plain(self.rho1)} beforehand is believed with "
            f"at most {plain(self.rho2)} after the release, and whatever is believed with at least "
            f"{plain(1 - self.rho1)} is still believed with at least {plain(1 - self.rho2)}, {self._within()}"
        )

    def prevents(self, p: Fraction, n_values: int, bound: Fraction) -> bool:
        """Whether retention ``p`` on a domain of ``n_values`` lets no belief of ``rho1`` exceed ``bound``."""
        return prevents_breach(p, n_values, lambda_=self.lambda_, k=self.k, rho1=self.rho1, rho2=bound)

    def outside(self) -> tuple[str, ...]:
        """Beliefs above rho1 may grow to anything, and so may their contraries fall."""
        return (
            f"a limit to how far what is believed beforehand with more than {plain(self.rho1)} may grow, or with less "
            f"than {plain(1 - self.rho1)} may fall",
        )
