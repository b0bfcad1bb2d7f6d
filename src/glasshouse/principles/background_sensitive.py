# SPDX-License-Identifier: Apache-2.0
"""Guarantees about probabilities: how much a release may change an attacker's earlier probabilities for a person.

Tao, Xiao, Li, Zhang, "On Anti-Corruption Privacy Preserving Publication", ICDE 2008 (CORRUPTION), II-B. rho1-to-rho2
(Definition 2 and Theorem 2) comes from Evfimievski, Gehrke, Srikant, "Limiting privacy breaches in privacy preserving
data mining", PODS 2003; delta-growth (Definition 3 and Theorem 3) bounds how much any belief grows.

They stand beside the principles that judge groups: no count of sensitive values tells whether they hold. They hold for
a table that was perturbed, grouped by quasi-identifiers alone and sampled, and they fix how much of it is retained.

How much a perturbed sample tells an attacker who has corrupted people is CORRUPTION Section VI, in exact fractions. A
sensitive value is retained with probability p and otherwise replaced by a uniform draw from the sensitive domain U^s,
so a value comes out as any one other value with probability ``u = (1 - p) / |U^s|``. One record is published from each
group of k or more. Every statement is decided in integers: Theorem 3 has a square root, which is compared by squaring.
All bounds grow with p: with it grow h_top, ``1 + p / u`` and F, for h_top depends on p through ``p / u`` and F through
``u / p``. So the retentions that prevent a breach are those up to some largest one.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, ClassVar, NoReturn, Self

from glasshouse.bounds import MOST_WHOLE
from glasshouse.errors import InputError, NotSupported, ParameterError
from glasshouse.plural import counted
from glasshouse.principles.k_anonymity import KAnonymity
from glasshouse.principles.parameters import fraction, in_percent, integer, plain
from glasshouse.principles.principle import Principle, Terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Domain
    from glasshouse.principles.parameters import Exact
    from glasshouse.principles.principle import Bound

__all__ = [
    "RESOLUTION",
    "BackgroundSensitive",
    "DeltaGrowth",
    "RhoBreach",
    "group_size",
    "growth_if_owned",
    "h_top",
    "prevents_breach",
    "prevents_growth",
    "transition",
]

RESOLUTION = 10_000
"""Retentions are found, and bounds are stated, in steps of one in so many."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class BackgroundSensitive(Principle):
    """A bound on the change of a probability, for an attacker who may know everybody else's value.

    Subclasses define the bound; it may be left open, to find out what a retention achieves.
    """

    bounds_beliefs: ClassVar[bool] = True
    theorem: ClassVar[str]
    """Where it is proved."""

    if TYPE_CHECKING:  # every subclass has these two, behind fields of its own
        lambda_: Fraction
        k: int

    @property
    def bound(self) -> Fraction | None:
        """The bound that is asked for; None to compute what a retention achieves."""
        raise NotImplementedError

    @property
    def floor(self) -> Fraction:
        """The number that every bound must exceed."""
        raise NotImplementedError

    def bounded(self, bound: Fraction) -> Self:
        """The same promise with this bound."""
        raise NotImplementedError

    def prevents(self, p: Fraction, n_values: int, bound: Fraction) -> bool:
        """Whether retention ``p`` on a domain of ``n_values`` keeps probabilities within ``bound``, by the theorem."""
        raise NotImplementedError

    def outside(self) -> tuple[str, ...]:
        """Sentences for the guarantee on probabilities that are not bounded."""
        return ()

    def largest_retention(self, n_values: int) -> Fraction:
        """Find the largest retention that keeps the promise, in steps of one in `RESOLUTION`, rounded down.

        The search asks the theorem itself, exactly; the answer is a retention of which the theorem said yes.
        ``n_values`` is the size of the declared sensitive domain.
        """
        if self.bound is None:
            raise InputError(
                "no bound is stated (rho2= or delta=): give one, or give a retention (then the bound that it achieves "
                "is reported)"
            )
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
        """The guarantee that retention ``p`` keeps; None if there is none."""
        found = self.achieved(p, n_values)
        return self.bounded(found) if found < 1 else None

    def grouping(self) -> KAnonymity:
        """The requirement for Phase 2: groups of k, by quasi-identifiers alone. For k = 1, pairs, which give more."""
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
            f"{self.title} cannot be guaranteed with a recoding that publishes groups",
            instead="publish with the recoding 'perturbed', for which this guarantee holds",
        )

    def _checked(self, n_values: int) -> int:
        """Check that some distribution is as even as lambda requires: of n values, one has at least probability 1/n."""
        owner = type(self).__name__
        n_values = integer(owner, "n_values", n_values, least=1)
        if self.lambda_ * n_values < 1:
            often = f"one of {counted(n_values, 'value')} always has at least that probability"
            allowed = f"at least 1/{n_values}, because {often}"
            raise ParameterError(owner, "lambda_", allowed, plain(self.lambda_))
        return n_values

    def _within(self) -> str:
        """The attackers to whom the bound applies, in words."""
        if self.lambda_ == 1:
            return "for an attacker with any assumptions about single values"
        return f"for an attacker who gave no single value a probability above {plain(self.lambda_)} before the release"


def group_size(owner: str, k: object, s: object) -> int:
    """Read k, or s, the largest share of records to be published: k is then 1/s, rounded up.

    >>> group_size("RhoBreach", None, "0.3"), group_size("RhoBreach", 6, None)
    (4, 6)
    """
    if s is None:
        return integer(owner, "k", k, least=1)
    if k is not None:
        raise ParameterError(owner, "s", "left out where k is given", s)
    number = fraction(owner, "s", s, above=0, most=1)
    if number * MOST_WHOLE < 1:
        raise ParameterError(owner, "s", f"so large that 1/s, the size of a group, is at most {MOST_WHOLE:,}", s)
    return ceil(1 / number)


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, init=False)
class RhoBreach(BackgroundSensitive):
    """A statement with probability at most ``rho1`` before the release has probability at most ``rho2`` after it.

    Parameters
    ----------
    rho1
        An exact number above 0 and below 1.
    rho2
        An exact number above ``rho1`` and below 1; leave it out to find out what a retention achieves.
    lambda_
        The largest probability that the attacker gives any single value before the release: an exact number above 0, at
        most 1 (no assumption).
    k
        Smallest size of a group, an integer, at least 1.
    s
        In place of ``k``: the largest share of records to be published; k is then 1/s, rounded up.

    Guarantee
    ---------
    Holds for a perturbed sample against an attacker who knows the sensitive values of any number of other people, about
    any property of a person's sensitive value. Given for a sensitive domain that is declared, groups made from
    quasi-identifiers alone, and people whose values are independent for the attacker.

    Examples
    --------
    CORRUPTION Table III, p = 0.3 and k = 6 on fifty incomes; and the most that may be retained for 0.2-to-0.5:

    >>> str(RhoBreach(rho1=0.2, lambda_=0.1, k=6).achieved(0.3, 50))
    '563/1250'
    >>> float(RhoBreach(rho1=0.2, rho2=0.5, lambda_=0.1, s="1/6").largest_retention(50))
    0.3684
    """

    name: ClassVar[str] = "rho-breach"
    titled: ClassVar[str] = "{rho1}-to-{rho2} guarantee"
    theorem: ClassVar[str] = "CORRUPTION Theorem 2"
    in_words: ClassVar[str] = (
        "If a statement about a person was improbable for an attacker before the release, the release does not make "
        "it probable, even if the attacker knows the sensitive values of all other people."
    )
    left_open: ClassVar[str] = (
        "The release is a noisy sample: it has one person of each group, and some sensitive values are replaced at "
        "random. Nothing is guaranteed for statements that already had a probability above rho1 before the release."
    )

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
        """The bound, ``rho2``."""
        return self.rho2

    @property
    def floor(self) -> Fraction:
        """The number that the bound must exceed, ``rho1``."""
        return self.rho1

    def bounded(self, bound: Fraction) -> Self:
        """The same promise with this ``rho2``."""
        return replace(self, rho2=bound)

    @property
    def terms(self) -> Terms:
        """The terms of the principle, for other modules."""
        return Terms(asked={"rho1": self.rho1})

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds, upwards and downwards (CORRUPTION footnote 1).

        >>> print(RhoBreach(rho1=0.2, rho2=0.45, lambda_=0.1, k=6).describe("income"))
        any statement about a person's income that had a probability of at most 0.2 before the release has at most \
0.45 after it, and one that had at least 0.8 still has at least 0.55, for an attacker who gave no single value a \
probability above 0.1 before the release
        """
        value = column or "sensitive value"
        if self.rho2 is None:
            return (
                f"the largest probability that a statement about a person's {value} has after the release, if its "
                f"probability before the release was at most {plain(self.rho1)}"
            )
        return (
            f"any statement about a person's {value} that had a probability of at most {plain(self.rho1)} before the "
            f"release has at most {plain(self.rho2)} after it, and one that had at least {plain(1 - self.rho1)} still "
            f"has at least {plain(1 - self.rho2)}, {self._within()}"
        )

    def for_person(self, value: str, attacker: str) -> str:
        """Say what it means for a person.

        >>> RhoBreach(rho1=0.2, rho2=0.45, k=6).for_person("income", "an attacker")
        "A statement about anybody's income that had a probability of at most 20 % before the release has at most 45 % \
after it, even for an attacker."
        """
        after = "a bound that follows from the retention" if self.rho2 is None else f"at most {in_percent(self.rho2)}"
        before = (
            f"A statement about anybody's {value} that had a probability of at most {in_percent(self.rho1)} before the "
            "release"
        )
        return f"{before} has {after} after it, even for {attacker}."

    def prevents(self, p: Fraction, n_values: int, bound: Fraction) -> bool:
        """Whether retention ``p`` on a domain of ``n_values`` lets no probability of ``rho1`` exceed ``bound``."""
        return prevents_breach(p, n_values, lambda_=self.lambda_, k=self.k, rho1=self.rho1, rho2=bound)

    def outside(self) -> tuple[str, ...]:
        """Probabilities above rho1 may grow to anything, and those of their negations may fall to anything."""
        return (
            (
                f"a probability that was above {plain(self.rho1)} before the release may grow to anything, and one "
                f"that was below {plain(1 - self.rho1)} may fall to anything"
            ),
        )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, init=False)
class DeltaGrowth(BackgroundSensitive):
    """No probability of a statement about a person's sensitive value grows by more than ``delta`` through the release.

    Parameters
    ----------
    delta
        An exact number above 0 and below 1; leave it out to find out what a retention achieves.
    lambda_, k, s
        As for `RhoBreach`.

    Guarantee
    ---------
    As for `RhoBreach`: against the same attacker, for the same samples.

    Examples
    --------
    CORRUPTION Table III, p = 0.3 and k = 6 on fifty incomes; and the most that may be retained for 0.2-growth:

    >>> float(DeltaGrowth(lambda_=0.1, k=6).achieved(0.3, 50))
    0.2369
    >>> float(DeltaGrowth(delta=0.2, lambda_=0.1, k=6).largest_retention(50))
    0.2553
    """

    name: ClassVar[str] = "delta-growth"
    titled: ClassVar[str] = "{delta}-growth guarantee"
    theorem: ClassVar[str] = "CORRUPTION Theorem 3"
    in_words: ClassVar[str] = (
        "No probability that an attacker gives to a person's sensitive values grows by more than a given amount "
        "through the release, also if the attacker knows the sensitive values of all other people."
    )
    left_open: ClassVar[str] = (
        "The release is a noisy sample: it has one person of each group, and some sensitive values are replaced at "
        "random."
    )

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
        """The bound, ``delta``."""
        return self.delta

    @property
    def floor(self) -> Fraction:
        """The number that the bound must exceed, 0."""
        return Fraction(0)

    def bounded(self, bound: Fraction) -> Self:
        """The same promise with this ``delta``."""
        return replace(self, delta=bound)

    @property
    def terms(self) -> Terms:
        """The terms of the principle, for other modules."""
        return Terms(asked={})

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds, upwards and downwards: if a probability falls, that of the negation grows.

        >>> print(DeltaGrowth(delta=0.24, k=6).describe("income"))
        the release changes the probability of any statement about a person's income by at most 0.24, up or down, for \
an attacker with any assumptions about single values
        """
        value = column or "sensitive value"
        if self.delta is None:
            return f"the largest change of the probability of a statement about a person's {value}"
        most = plain(self.delta)
        return (
            f"the release changes the probability of any statement about a person's {value} by at most {most}, up or "
            f"down, {self._within()}"
        )

    def for_person(self, value: str, attacker: str) -> str:
        """Say what it means for a person.

        >>> DeltaGrowth(delta=0.24, k=6).for_person("income", "an attacker")
        "No probability about anybody's income grows by more than 24 percentage points through the release, even for \
an attacker."
        """
        most = "a bound that follows from the retention" if self.delta is None else _points(self.delta)
        grows = f"No probability about anybody's {value} grows by more than {most} through the release"
        return f"{grows}, even for {attacker}."

    def prevents(self, p: Fraction, n_values: int, bound: Fraction) -> bool:
        """Whether retention ``p`` on a domain of ``n_values`` lets no probability grow by more than ``bound``."""
        return prevents_growth(p, n_values, lambda_=self.lambda_, k=self.k, delta=bound)


def _points(share: Fraction) -> str:
    points = in_percent(share).removesuffix(" %")
    return f"{points} percentage {'point' if points == '1' else 'points'}"


def transition(p: Fraction, n_values: int, *, same: bool) -> Fraction:
    """Probability that a value comes out as itself, or as one given other value (Eq. 11).

    >>> str(transition(Fraction(1, 4), 3, same=True)), str(transition(Fraction(1, 4), 3, same=False))
    ('1/2', '1/4')
    """
    return (1 - p) / n_values + (p if same else 0)


def h_top(p: Fraction, n_values: int, *, lambda_: Fraction, k: int) -> Fraction:
    """The highest probability that the published record of a person's group is that person's (Eq. 20).

    >>> str(h_top(Fraction(3, 10), 50, lambda_=Fraction(1, 10), k=2))
    '22/29'
    """
    u = transition(p, n_values, same=False)
    return (p * lambda_ + u) / (p * lambda_ + k * u)


def prevents_breach(p: Fraction, n_values: int, *, lambda_: Fraction, k: int, rho1: Fraction, rho2: Fraction) -> bool:
    """Whether no probability of at most ``rho1`` can become one above ``rho2`` (Theorem 2).

    >>> table_three = dict(lambda_=Fraction("0.1"), k=6, rho1=Fraction("0.2"))
    >>> [prevents_breach(Fraction("0.3"), 50, rho2=Fraction(r), **table_three) for r in ("0.4503", "0.4504")]
    [False, True]
    """
    u = transition(p, n_values, same=False)
    h = h_top(p, n_values, lambda_=lambda_, k=k)
    inner = (rho2 - rho1 * (1 - h)) / h
    # Inequality 23 without its quotients, for u may be 0; it asks nothing where inner >= 1, and then this is true
    return inner * (1 - rho1) * u >= rho1 * (1 - inner) * (u + p)


def growth_if_owned(w: Fraction, p: Fraction, n_values: int) -> Fraction:
    """How much a probability ``w`` of the published value grows if the record is that person's: F(w) of Theorem 3.

    >>> str(growth_if_owned(Fraction(1, 10), Fraction(3, 10), 50))
    '27/44'
    """
    u = transition(p, n_values, same=False)
    return p * w * (1 - w) / (p * w + u)


def prevents_growth(p: Fraction, n_values: int, *, lambda_: Fraction, k: int, delta: Fraction) -> bool:
    """Whether no probability can grow by more than ``delta`` (Theorem 3).

    With ``s = sqrt(u^2 + p u)``, F is largest at ``w_m = (s - u) / p``, and there it is ``(p + 2 u - 2 s) / p``.

    >>> [prevents_growth(Fraction("0.3"), 50, lambda_=Fraction("0.1"), k=6, delta=Fraction(9, 38) - e) for e in (0, 1)]
    [True, False]
    """
    u = transition(p, n_values, same=False)
    h = h_top(p, n_values, lambda_=lambda_, k=k)
    squared = u * u + p * u
    if (p * lambda_ + u) ** 2 <= squared:  # lambda <= w_m: F grows up to lambda
        return delta >= h * growth_if_owned(lambda_, p, n_values)
    # delta >= h F(w_m) says 2 h s >= h (p + 2 u) - delta p
    short = h * (p + 2 * u) - delta * p
    return short <= 0 or 4 * h * h * squared >= short * short
