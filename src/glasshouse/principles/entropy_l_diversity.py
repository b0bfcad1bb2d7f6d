# SPDX-License-Identifier: Apache-2.0
"""Entropy l-diversity: the sensitive values of each group are as uncertain as l equally frequent ones.

Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, "l-Diversity: Privacy Beyond k-Anonymity", TKDD 2007: the entropy
``-sum p log p`` of the values' shares in a group is at least ``log l``. In counts, free of logarithms:
``prod (N / n_i) ** n_i >= l ** N``.

The decision is exact. Logarithms in floating point decide where they leave no doubt; a group closer to the border than
their error is decided by `powers_at_least_one`, which never rounds an answer. So a group of exactly ``l`` equally
frequent values obeys, as does (4, 1, 1, 1, 1) for l = 4, and nothing below the border is ever let through.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, floor, gcd, log
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from glasshouse.errors import Infeasible
from glasshouse.principles.parameters import at_most, fraction, per_group, plain
from glasshouse.principles.principle import SAME, Principle, Terms, most_frequent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Domain
    from glasshouse.principles.parameters import Exact

__all__ = ["EntropyLDiversity"]


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, init=False)
class EntropyLDiversity(Principle):
    """In every group, the entropy of the sensitive values is at least ``log(ell)``.

    Parameters
    ----------
    ell
        An exact number above 1; it need not be whole.

    Examples
    --------
    >>> from glasshouse.microdata.counts import Counts
    >>> groups = Counts.from_histograms([[7, 7, 7, 0, 0], [8, 7, 7, 0, 0], [4, 1, 1, 1, 1]])
    >>> EntropyLDiversity(ell=3).holds(groups).tolist(), EntropyLDiversity(ell=4).holds(groups).tolist()
    ([True, False, True], [False, False, True])
    """

    name: ClassVar[str] = "entropy-l-diversity"
    titled: ClassVar[str] = "entropy {ell}-diversity"
    in_words: ClassVar[str] = (
        "On average, an attacker is at least as uncertain about a person's sensitive value as if l values were "
        "equally frequent (by entropy)."
    )
    left_open: ClassVar[str] = "One value may still be likelier than 1 in l, if the others are many and rare."
    ell: Fraction

    def __init__(self, ell: Exact) -> None:
        object.__setattr__(self, "ell", fraction("EntropyLDiversity", "ell", ell, above=1))

    @property
    def terms(self) -> Terms:
        """The terms of the principle, for other modules."""
        return Terms(asked={"entropy_ell": self.ell}, smallest_group=ceil(self.ell))

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds.

        >>> EntropyLDiversity(ell=4).describe("disease")
        'in every group, disease is at least as uncertain, by entropy, as 4 equally frequent values'
        """
        uncertain = f"at least as uncertain, by entropy, as {plain(self.ell)} equally frequent values"
        return f"in every group, {column or 'the sensitive value'} is {uncertain}"

    def for_person(self, value: str, attacker: str) -> str:
        """Say what it means for a person.

        >>> EntropyLDiversity(ell=4).for_person("disease", "an attacker")
        "On average, an attacker is at least as uncertain about anybody's disease as if 4 values were equally \
frequent. One value may still be likelier than the others."
        """
        return (
            f"On average, {attacker} is at least as uncertain about anybody's {value} as if {plain(self.ell)} values "
            "were equally frequent. One value may still be likelier than the others."
        )

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group, exactly."""
        ell = self.ell
        offsets, _, entries = counts.histogram
        sizes, distinct = counts.sizes, counts.distinct
        largest = per_group(np.maximum, entries, offsets)
        surplus, doubt = _surplus(entries, offsets, sizes, distinct, ell)
        holds = surplus > 0  # wherever this is in doubt it is decided again below
        # equal frequencies are what is most often at the border; their entropy is log(distinct); no tuples, no values
        uniform = largest == sizes // np.maximum(distinct, 1)  # no rounding: the largest is no less than the mean
        holds[uniform] = at_most(np.full(uniform.sum(), 1), ell.numerator, distinct[uniform], ell.denominator)
        for group in np.flatnonzero((np.abs(surplus) <= doubt) & ~uniform).tolist():
            holds[group] = _obeys(tuple(sorted(entries[offsets[group] : offsets[group + 1]].tolist())), ell)
        return holds

    @staticmethod
    def largest_feasible(whole: Counts) -> Fraction:
        """The largest ell that the whole table satisfies, to two decimal places, rounded down.

        >>> from glasshouse.microdata.counts import Counts
        >>> float(EntropyLDiversity.largest_feasible(Counts.from_histograms([[2, 1, 1]])))
        2.82
        """
        n = int(whole.sizes[0])
        entries = tuple(sorted(whole.histogram[2].tolist()))
        entropy = sum(m * log(n / m) for m in entries) / max(n, 1)
        hundredths = floor(100 * exp(entropy)) + 1  # one too many, or right: the exact decision steps down
        while hundredths > 100 and not _obeys(entries, Fraction(hundredths, 100)):
            hundredths -= 1
        return Fraction(hundredths, 100)

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """The strictest entropy l-diversity that the whole table satisfies, to two decimal places."""
        ell = self.largest_feasible(whole)
        return type(self)(ell=ell) if ell > 1 else None

    def _infeasible(self, whole: Counts, column: str | None, domain: Domain | None) -> Infeasible:
        nearest = self.feasible(whole)
        worst = most_frequent(whole, column, domain)
        equal = plain(self.largest_feasible(whole))
        uncertain = f"{column or 'the sensitive value'} is as uncertain as {equal} equally frequent values"
        remedy = f"the largest l that is possible is {equal}" if nearest else SAME
        return Infeasible(
            f"{self.title} is not possible for this table: {uncertain} ({worst})",
            remedy=remedy,
            principle=self,
            column=column,
            value=worst.value,
            count=worst.count,
            of=worst.of,
            largest=nearest and nearest.ell,
        )


def _surplus(
    entries: NDArray[np.int64],
    offsets: NDArray[np.int64],
    sizes: NDArray[np.int64],
    distinct: NDArray[np.int64],
    ell: Fraction,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The amount by which ``sum n_i log(N / n_i)`` exceeds ``N log ell`` in each group, and a bound on its error.

    With u the unit roundoff: ``N / n_i`` comes with at most 3u of relative error (two conversions, one division), which
    its logarithm turns into as much absolute error and adds 8u of its own (four units in the last place); the product
    adds 2u, the sum of m terms (m - 1)u, all relative to terms that add up to at most ``N log m``. ``N log ell`` has an
    error of at most 20u relative to ``N (log a + log b)`` for ell = a / b. The bound here is twice that and more.
    """
    ratios = np.repeat(sizes, np.diff(offsets)) / entries
    total = per_group(np.add, entries * np.log(ratios), offsets)
    height = log(ell.numerator) + log(ell.denominator)
    surplus = total - sizes * (log(ell.numerator) - log(ell.denominator))
    scale = (distinct + 32) * (1 + np.log(np.maximum(distinct, 1)) + height)
    return surplus, np.finfo(np.float64).eps * 2 * sizes * scale


@lru_cache(maxsize=4096)
def _obeys(entries: tuple[int, ...], ell: Fraction) -> bool:
    """Decide one group exactly: ``N ** N * b ** N >= a ** N * prod n_i ** n_i`` for ell = a / b."""
    n = sum(entries)
    powers: Counter[int] = Counter({n: n})
    powers[ell.denominator] += n
    powers[ell.numerator] -= n
    for entry, times in Counter(entries).items():
        powers[entry] -= entry * times
    return powers_at_least_one(powers)


def powers_at_least_one(powers: Mapping[int, int]) -> bool:
    """Whether the product of ``base ** exponent`` is at least 1, exactly, without computing it.

    >>> powers_at_least_one({6: 1, 2: -1, 3: -1}), powers_at_least_one({2: 10**9, 3: -630929754})
    (True, False)
    """
    digits = 40
    while True:
        context = Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)
        total, size = Decimal(0), Decimal(0)
        for base, exponent in powers.items():
            term = context.multiply(Decimal(exponent), context.ln(Decimal(base)))
            total, size = context.add(total, term), context.add(size, abs(term))
        # each of at most 4 operations per base errs by one unit in the last place of something no larger than size
        if abs(total) > size.scaleb(2 - digits, context) * 4 * (len(powers) + 1):
            return total > 0
        if digits == 40 and not _coprime(powers):
            return True  # the product is 1; otherwise its logarithm is not 0, and enough digits show its sign
        digits *= 2


def _coprime(powers: Mapping[int, int]) -> dict[int, int]:
    """Rewrite a product of powers with coprime bases and nonzero exponents; empty if it is 1.

    No number is factorised: where two bases share g, ``a ** e * b ** f = (a/g) ** e * (b/g) ** f * g ** (e + f)``.
    """
    coprime: dict[int, int] = {}
    pending = list(powers.items())
    while pending:
        base, exponent = pending.pop()
        if base == 1 or exponent == 0:
            continue
        for other in coprime:
            shared = gcd(base, other)
            if shared > 1:
                kept = coprime.pop(other)
                pending += [(base // shared, exponent), (other // shared, kept), (shared, exponent + kept)]
                break
        else:
            coprime[base] = exponent
    return coprime
