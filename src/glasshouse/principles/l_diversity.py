# SPDX-License-Identifier: Apache-2.0
"""l-diversity in four versions: by frequency, which is what the word means throughout this package, and three others.

*By frequency*: Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006 (ANATOMY), Definition 2: in
each group, at most a 1/l fraction of the records has the most frequent sensitive value. MINIMALITY 2.2 calls it simple
l-diversity.

*Distinct*: Tao, Xiao, Li, Zhang, "On Anti-Corruption Privacy Preserving Publication", ICDE 2008 (CORRUPTION), Section
III.A: at least l different sensitive values in each group. A group with one frequent value and l - 1 rare ones obeys it
and protects little.

*Recursive*: CORRUPTION Inequality 1: with l' >= l different values of frequencies n_1 >= n_2 >= ... >= n_l' in a group,
``n_1 <= c * (n_l + ... + n_l')``; a group with fewer than l values does not obey. The most frequent value stays modest
even after l - 2 others have been ruled out.

*Designated*: only certain values are sensitive, and only these must obey the 1/l fraction. MINIMALITY 2.2, where the
case of one designated value (positive, against negative) is called binary l-diversity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from glasshouse.errors import DomainError, Infeasible, InputError, NotSupported, ParameterError
from glasshouse.kernels import compiled
from glasshouse.plural import counted, ordinal
from glasshouse.principles.parameters import at_most, fraction, in_percent, integer, per_group, plain
from glasshouse.principles.principle import SAME, Bound, Principle, Terms, most_frequent, of_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Domain
    from glasshouse.principles.parameters import Exact

__all__ = ["DesignatedLDiversity", "DistinctLDiversity", "LDiversity", "RecursiveLDiversity"]

_FEW = 3  # values that a sentence names


@dataclass(frozen=True, slots=True, repr=False)
class LDiversity(Principle):
    """In every group, each sensitive value has at most a share of 1/``ell`` of the records.

    Parameters
    ----------
    ell
        An integer, at least 2.

    Guarantee
    ---------
    An attacker who knows a person's group and nothing else gives no sensitive value of that person a probability above
    ``1 / ell``.

    Examples
    --------
    >>> from glasshouse.microdata.counts import Counts
    >>> LDiversity(ell=2).holds(Counts.of([[0, 0, 1, 2], [0, 0, 1]], n_values=3)).tolist()
    [True, False]
    """

    name: ClassVar[str] = "l-diversity"
    titled: ClassVar[str] = "{ell}-diversity"
    in_words: ClassVar[str] = "Nobody's sensitive value can be inferred with a probability above 1 in l."
    left_open: ClassVar[str] = (
        "It is not possible where one value is very frequent: l can be at most the number of people divided by the "
        "number of people with the most frequent value."
    )
    ell: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "ell", integer("LDiversity", "ell", self.ell, least=2))

    @property
    def terms(self) -> Terms:
        """The terms of the principle, for other modules."""
        return Terms(asked={"ell": self.ell}, smallest_group=self.ell, one_in=self.ell)

    def joined(self, other: Principle) -> Principle | None:
        """With the larger l."""
        return replace(self, ell=max(self.ell, other.ell)) if isinstance(other, LDiversity) else None

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds.

        >>> LDiversity(ell=8).describe("disease")
        'in every group, no value of disease occurs in more than 1 of 8 records'
        """
        value = f"value of {column}" if column else "sensitive value"
        return f"in every group, no {value} occurs in more than 1 of {self.ell:,} records"

    def for_person(self, value: str, attacker: str) -> str:
        """Say what it means for a person.

        >>> LDiversity(ell=5).for_person("disease", "an attacker who knows everybody's age")
        "Nobody's disease can be inferred with more than 20 % confidence (1 in 5), even by an attacker who knows \
everybody's age."
        """
        share = f"{in_percent(Fraction(1, self.ell))} confidence (1 in {self.ell:,})"
        return f"Nobody's {value} can be inferred with more than {share}, even by {attacker}."

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group: ``largest * ell <= size``."""
        # only sizes and largest are read: they are cheap to count, the histogram is not
        return at_most(counts.largest, self.ell, counts.sizes, 1) & (counts.sizes > 0)

    @staticmethod
    def largest_feasible(whole: Counts) -> int:
        """The largest ell that the whole table satisfies; 1 is the least, and protects nothing.

        >>> from glasshouse.microdata.counts import Counts
        >>> LDiversity.largest_feasible(Counts.of([[0, 0, 0, 1, 1, 2, 3]], n_values=4))
        2
        """
        return int(whole.sizes[0] // max(whole.largest[0], 1))

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """The strictest l-diversity that the whole table satisfies."""
        ell = self.largest_feasible(whole)
        return type(self)(ell=ell) if ell >= 2 else None

    def _infeasible(self, whole: Counts, column: str | None, domain: Domain | None) -> Infeasible:
        witness = most_frequent(whole, column, domain)
        nearest = self.feasible(whole)
        remedy = (
            f"the largest l that is possible is {nearest.ell:,}"
            if nearest
            else "l-diversity is not possible with any l for this column: ask for another guarantee, such as "
            "t-closeness, or protect only the rarer values (designated l-diversity)"
        )
        return witness.infeasible(self, allowed=witness.of // self.ell, remedy=remedy, largest=nearest and nearest.ell)


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
    titled: ClassVar[str] = "distinct {ell}-diversity"
    in_words: ClassVar[str] = "For everybody at least l different sensitive values remain possible."
    left_open: ClassVar[str] = (
        "One of these values may be far likelier than the others, so that a guess is nearly always right."
    )
    ell: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "ell", integer("DistinctLDiversity", "ell", self.ell, least=2))

    @property
    def terms(self) -> Terms:
        """The terms of the principle, for other modules."""
        return Terms(asked={"distinct_ell": self.ell}, smallest_group=self.ell)

    @property
    def size_suffices(self) -> bool:
        """True: a group with more records than any l - 1 values together has a further value."""
        return True

    def enough(self, whole: Counts, domain: Domain | None = None) -> int:
        """The number of records from which on every part of a table is safe: one more than the l - 1 largest counts.

        >>> from glasshouse.microdata.counts import Counts
        >>> DistinctLDiversity(ell=3).enough(Counts.from_histograms([[5, 4, 3]]))
        10
        """
        return 1 + int(np.sort(whole.dense[0])[::-1][: self.ell - 1].sum())

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds.

        >>> DistinctLDiversity(ell=3).describe("disease")
        'in every group, at least 3 different values of disease occur'
        """
        values = f"values of {column}" if column else "sensitive values"
        return f"in every group, at least {self.ell:,} different {values} occur"

    def for_person(self, value: str, attacker: str) -> str:
        """Say what it means for a person.

        >>> DistinctLDiversity(ell=3).for_person("disease", "an attacker")
        "Everybody's group shows at least 3 different values of disease, also to an attacker. One of them may be far \
likelier than the others."
        """
        return (
            f"Everybody's group shows at least {self.ell:,} different values of {value}, also to {attacker}. "
            "One of them may be far likelier than the others."
        )

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group by its number of different values."""
        return counts.distinct >= self.ell

    @staticmethod
    def largest_feasible(whole: Counts) -> int:
        """The largest ell that the whole table satisfies: its number of different values."""
        return int(whole.distinct[0])

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """The strictest distinct l-diversity that the whole table satisfies."""
        ell = self.largest_feasible(whole)
        return type(self)(ell=ell) if ell >= 2 else None

    def _infeasible(self, whole: Counts, column: str | None, domain: Domain | None) -> Infeasible:
        ell = self.largest_feasible(whole)
        remedy = f"the largest l that is possible is {ell:,}" if ell >= 2 else SAME
        there = f"there {'are' if ell > 1 else 'is'} {ell:,} different value{'s' * (ell > 1)}{of_column(column)}"
        return Infeasible(
            f"{self.title} is not possible for this table: {there}",
            remedy=remedy,
            principle=self,
            column=column,
            count=ell,
            of=int(whole.sizes[0]),
            largest=ell if ell >= 2 else None,
        )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, init=False)
class RecursiveLDiversity(Principle):
    """In every group, the most frequent value has at most ``c`` times the records of the ``ell``-th and all rarer ones.

    Parameters
    ----------
    c
        An exact number above 0.
    ell
        An integer, at least 2.

    Guarantee
    ---------
    An attacker who knows a person's group and can rule out at most ``ell - 2`` values gives no value a probability
    above ``c / (c + 1)`` (CORRUPTION Inequality 3).

    Examples
    --------
    The group of CORRUPTION Figure 1: 3 <= 1/2 * (2 + 2 + 1 + 1).

    >>> from glasshouse.microdata.counts import Counts
    >>> RecursiveLDiversity(c="1/2", ell=3).holds(Counts.from_histograms([[3, 2, 2, 2, 1, 1]])).tolist()
    [True]
    """

    name: ClassVar[str] = "recursive-l-diversity"
    titled: ClassVar[str] = "recursive ({c}, {ell})-diversity"
    in_words: ClassVar[str] = (
        "In every group, the most frequent sensitive value occurs at most c times as often as the rarer ones "
        "together (from the l-th most frequent on). So values stay uncertain even for an attacker who can rule some "
        "of them out."
    )
    left_open: ClassVar[str] = (
        "The largest probability is c / (c + 1), which is near 1 for a large c. Nothing is guaranteed against an "
        "attacker who can rule out more than l - 2 values."
    )
    c: Fraction
    ell: int

    def __init__(self, c: Exact, ell: int) -> None:
        object.__setattr__(self, "c", fraction("RecursiveLDiversity", "c", c, above=0))
        object.__setattr__(self, "ell", integer("RecursiveLDiversity", "ell", ell, least=2))

    @property
    def terms(self) -> Terms:
        """The terms of the principle, for other modules."""
        return Terms(asked={"recursive": (self.c, self.ell)}, smallest_group=self.ell)

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds.

        >>> RecursiveLDiversity(c=3, ell=3).describe("disease")
        'in every group, the most frequent value of disease has at most 3 times as many records as the 3rd most \
frequent one and all rarer ones together'
        """
        value = f"value of {column}" if column else "sensitive value"
        times = "" if self.c == 1 else f"{plain(self.c)} times "
        most = f"at most {times}as many records as the {ordinal(self.ell)} most frequent one"
        return f"in every group, the most frequent {value} has {most} and all rarer ones together"

    def for_person(self, value: str, attacker: str) -> str:
        """Say what it means for a person.

        >>> RecursiveLDiversity(c=1, ell=4).for_person("disease", "an attacker")
        "Nobody's disease can be inferred with more than 50 % confidence, even by an attacker, and even if this \
attacker can rule out 2 values."
        """
        out = counted(self.ell - 2, "value")
        also = f", and even if this attacker can rule out {out}" if self.ell > 2 else ""
        most = in_percent(self.c / (self.c + 1))
        return f"Nobody's {value} can be inferred with more than {most} confidence, even by {attacker}{also}."

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group by Inequality 1, in integers."""
        modest = at_most(counts.largest, self.c.denominator, self._rarer(counts), self.c.numerator)
        return modest & (counts.distinct >= self.ell)

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """The smallest c, for the same ell, that the whole table satisfies."""
        rarer = int(self._rarer(whole)[0])
        return replace(self, c=Fraction(int(whole.largest[0]), rarer)) if rarer else None

    def _rarer(self, counts: Counts) -> NDArray[np.int64]:
        """Records of the ell-th most frequent value and of all rarer ones, in each group."""
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
            smaller = f"with this l, no c is possible: ask for an l of at most {distinct:,}"
            return Infeasible(
                (
                    f"{self.title} is not possible for this table: {there}{of_column(column)}, but at least "
                    f"{self.ell:,} are needed"
                ),
                remedy=smaller if distinct > 1 else SAME,
                principle=self,
                column=column,
                count=distinct,
                of=int(whole.sizes[0]),
            )
        allowed = int(self.c * int(self._rarer(whole)[0]))
        remedy = f"the smallest c that is possible with l = {self.ell:,} is {plain(nearest.c)}"
        return most_frequent(whole, column, domain).infeasible(self, allowed=allowed, remedy=remedy, largest=nearest.c)


@dataclass(frozen=True, slots=True, repr=False)
class DesignatedLDiversity(Principle):
    """In every group, each designated value has at most a share of 1/``ell`` of the records.

    Parameters
    ----------
    ell
        An integer, at least 2.
    values
        The designated values of the sensitive column, at least one; ``None`` stands for missing.

    Guarantee
    ---------
    An attacker who knows a person's group alone gives no designated value a probability above ``1 / ell``. All
    other values may be certain.
    """

    name: ClassVar[str] = "designated-l-diversity"
    titled: ClassVar[str] = "designated {ell}-diversity"
    in_words: ClassVar[str] = (
        "None of the values that you name can be inferred for anybody with a probability above 1 in l."
    )
    left_open: ClassVar[str] = (
        "Other values are not protected and may become certain: name every value that would harm a person. Harmless "
        "values need not be named."
    )
    ell: int
    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "ell", integer("DesignatedLDiversity", "ell", self.ell, least=2))
        if not isinstance(self.values, tuple | list) or not self.values:
            raise ParameterError("DesignatedLDiversity", "values", "a tuple of sensitive values", self.values)
        object.__setattr__(self, "values", tuple(_plain(value) for value in self.values))

    def joined(self, other: Principle) -> Principle | None:
        """With the larger l, for the values of both."""
        if not isinstance(other, DesignatedLDiversity):
            return None
        values = tuple(dict.fromkeys((*self.values, *other.values)))
        return replace(self, ell=max(self.ell, other.ell), values=values)

    def naming(self, values: tuple[Any, ...]) -> Self:
        """The same for other designated values."""
        return replace(self, values=values)

    @property
    def terms(self) -> Terms:
        """The terms of the principle, for other modules."""
        return Terms(
            asked={"designated_ell": self.ell, "designated": self.values},
            one_in=self.ell,
            named=self.values,
        )

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds.

        >>> DesignatedLDiversity(ell=4, values=("HIV", "cancer")).describe("disease")
        "in every group, at most 1 of 4 records has disease 'HIV', and at most 1 of 4 has 'cancer'"
        """
        first, *others = ("missing" if value is None else repr(value) for value in self.values)
        one = f"in every group, at most 1 of {self.ell:,} records has {column or 'the sensitive value'} {first}"
        return one + "".join(f", and at most 1 of {self.ell:,} has {other}" for other in others)

    def for_person(self, value: str, attacker: str) -> str:
        """Say what it means for a person.

        >>> DesignatedLDiversity(ell=4, values=("HIV", "cancer")).for_person("disease", "an attacker")
        "Nobody's disease can be inferred to be 'HIV' or 'cancer' with more than 25 % confidence (1 in 4) for each of \
them, even by an attacker. Other values are not protected and may become certain."
        """
        listed = ["missing" if value is None else repr(value) for value in self.values[:_FEW]]
        if len(self.values) > _FEW:
            listed.append(f"one of {counted(len(self.values) - _FEW, 'more value')}")
        one = " or ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)
        each = " for each of them" if len(self.values) > 1 else ""
        share = f"{in_percent(Fraction(1, self.ell))} confidence (1 in {self.ell:,})"
        return (
            f"Nobody's {value} can be inferred to be {one} with more than {share}{each}, even by {attacker}. "
            "Other values are not protected and may become certain."
        )

    def spelled_as(self, domain: Domain) -> Self:
        """The same values in the spelling of a column whose look-alikes are one value; those named twice, once."""
        spelled = tuple(dict.fromkeys(map(domain.spelled, self.values)))
        return self if spelled == self.values else replace(self, values=spelled)

    def bind(self, whole: Counts, domain: Domain | None = None) -> Bound:
        """Find the codes of the designated values; `DomainError` where the column has no such value."""
        return _BoundDesignated(self.ell, self.concerned(whole.n_values, domain))

    def concerned(self, n_values: int, domain: Domain | None = None) -> NDArray[np.bool_]:
        """Mark the designated values alone."""
        designated = np.zeros(n_values, np.bool_)
        designated[self._codes(domain)] = True
        return designated

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Refuse: without the column's domain the designated values have no codes."""
        raise NotSupported(
            f"{self.title} cannot judge groups before it knows the table",
            instead="call bind(counts, domain) of the principle first, and use what it returns",
        )

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """The strictest ell for the same values that the whole table satisfies; if none of them occurs, any ell."""
        worst = most_frequent(whole, None, domain, among=self._codes(domain))
        if worst.count == 0:
            return self
        ell = worst.of // worst.count
        return replace(self, ell=ell) if ell >= 2 else None

    def _infeasible(self, whole: Counts, column: str | None, domain: Domain | None) -> Infeasible:
        witness = most_frequent(whole, column, domain, among=self._codes(domain))
        nearest = self.feasible(whole, domain)
        remedy = (
            f"the largest l that is possible is {nearest.ell:,}"
            if nearest
            else "designated l-diversity is not possible with any l for these values: name only rarer values, or ask "
            "for another guarantee, such as t-closeness"
        )
        return witness.infeasible(self, allowed=witness.of // self.ell, remedy=remedy, largest=nearest and nearest.ell)

    def _codes(self, domain: Domain | None) -> list[int]:
        if domain is None:
            raise InputError(f"{self.title} needs the domain of the sensitive column, to find its values there")
        codes, unknown = [], []
        for value in self.values:
            try:
                codes.append(domain.missing_code if value is None and domain.missing else domain.code_of(value))
            except DomainError:
                unknown.append(value)
        if unknown:
            listed = ", ".join(map(repr, unknown))
            one = len(unknown) == 1
            words = (
                f"the designated value {listed} does not occur"
                if one
                else f"the designated values {listed} do not occur"
            )
            them = "it" if one else "them"
            raise DomainError(
                f"{words} in column {domain.name!r}: check the spelling, or leave {them} out",
                column=domain.name,
                values=unknown,
            )
        return codes


def _plain(value: Any) -> Any:
    """A value as plain data, for recipes: a NumPy number as Python's, a date as the text by which a domain knows it."""
    value = value.item() if isinstance(value, np.generic) else value
    return value.isoformat() if hasattr(value, "isoformat") else value


@dataclass(frozen=True, slots=True, eq=False)
class _BoundDesignated:
    """Designated l-diversity over one column's codes."""

    ell: int
    designated: NDArray[np.bool_]  # one per code
    monotone: ClassVar[bool] = True

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group: ``count * ell <= size`` for its most frequent designated value."""
        offsets, values, entries = counts.histogram
        largest = per_group(np.maximum, np.where(self.designated[values], entries, 0), offsets)
        return at_most(largest, self.ell, counts.sizes, 1) & (counts.sizes > 0)
