# SPDX-License-Identifier: Apache-2.0
"""All of several principles at once, for the same sensitive column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from glasshouse.catalog import principle_from_data
from glasshouse.errors import InputError, ParameterError
from glasshouse.principles.principle import Bound, Caps, Principle, Terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Domain

__all__ = ["AllOf"]

_MOST = 100  # each is judged and counted by itself


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, init=False)
class AllOf(Principle):
    """Several principles that must all hold; monotone, because each of them is.

    Parameters
    ----------
    several, principles
        At least one, one after the other or as a tuple.

    Examples
    --------
    >>> from glasshouse.microdata.counts import Counts
    >>> from glasshouse.principles.k_anonymity import KAnonymity
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> both = AllOf(KAnonymity(4), LDiversity(2))
    >>> both.holds(Counts.from_histograms([[2, 2], [3, 1], [1, 1]])).tolist()
    [True, False, False]
    >>> both
    AllOf(principles=(KAnonymity(k=4), LDiversity(ell=2)))
    """

    name: ClassVar[str] = "all-of"
    in_words: ClassVar[str] = "Several guarantees are given at the same time."
    left_open: ClassVar[str] = "Nothing is guaranteed beyond what these guarantees say."
    principles: tuple[Principle, ...]

    def __init__(self, *several: Principle, principles: Iterable[Principle] = ()) -> None:
        listed = tuple(principles) if hasattr(principles, "__iter__") else (principles,)
        given = (*several, *listed)
        if not given or not all(isinstance(principle, Principle) for principle in given):
            raise ParameterError("AllOf", "principles", "a tuple of at least one principle", given)
        if len(given) > _MOST:
            raise ParameterError("AllOf", "principles", f"a tuple of at most {_MOST} principles", given)
        object.__setattr__(self, "principles", given)

    @property
    def needs_sensitive(self) -> bool:
        """Whether one of the principles needs sensitive values."""
        return any(principle.needs_sensitive for principle in self.principles)

    def singles(self) -> tuple[Principle, ...]:
        """All the principles, including those inside combinations among them."""
        return tuple(one for principle in self.principles for one in principle.singles())

    @property
    def terms(self) -> Terms:
        """The terms of the combination, for other modules."""
        return Terms(
            anonymity=max(one.terms.anonymity for one in self.principles),
            smallest_group=max(one.terms.smallest_group for one in self.principles),
            capped=_all(one.terms.caps for one in self.principles),
        )

    @property
    def title(self) -> str:
        """The titles of the principles, with their numbers."""
        return " and ".join(principle.title for principle in self.principles)

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds."""
        return "; ".join(principle.describe(column) for principle in self.principles)

    def for_person(self, value: str, attacker: str) -> str:
        """Say what each of them means for a person."""
        first, *others = self.principles
        told = [first.for_person(value, attacker), *(one.for_person(value, "the same attacker") for one in others)]
        return " ".join(told)

    def spelled_as(self, domain: Domain) -> Self:
        """Each of them in the column's spelling."""
        return type(self)(principles=tuple(principle.spelled_as(domain) for principle in self.principles))

    def bind(self, whole: Counts, domain: Domain | None = None) -> Bound:
        """Bind each principle."""
        return _BoundAll(tuple(principle.bind(whole, domain) for principle in self.principles))

    def concerned(self, n_values: int, domain: Domain | None = None) -> NDArray[np.bool_]:
        """Mark the values that concern one of the principles on sensitive values."""
        looking = [p.concerned(n_values, domain) for p in self.principles if p.needs_sensitive]
        return reduce(np.logical_or, looking, np.zeros(n_values, np.bool_))

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group by all principles."""
        return _BoundAll(self.principles).holds(counts)

    @property
    def size_suffices(self) -> bool:
        """Whether each of them can say which size suffices."""
        return all(principle.size_suffices for principle in self.principles)

    def enough(self, whole: Counts, domain: Domain | None = None) -> int:
        """The number of records from which on every part of a table satisfies all principles."""
        return max(principle.enough(whole, domain) for principle in self.principles)

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """The strictest version of each principle that the whole table satisfies."""
        nearest = [principle.feasible(whole, domain) for principle in self.principles]
        return type(self)(principles=tuple(p for p in nearest if p)) if all(nearest) else None

    def check_eligible(self, whole: Counts, *, column: str | None = None, domain: Domain | None = None) -> None:
        """Raise `Infeasible` for the first principle that the table does not satisfy."""
        for principle in self.principles:
            principle.check_eligible(whole, column=column, domain=domain)

    def to_data(self) -> dict[str, Any]:
        """Give the principles as plain data, for JSON."""
        return {"name": self.name, "principles": [principle.to_data() for principle in self.principles]}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Make the principles from what `to_data` gave."""
        listed = data.get("principles")
        if data.keys() - {"name"} != {"principles"} or not isinstance(listed, list):
            raise InputError(f"{cls.name} takes a list of principles: it cannot be made from {dict(data)}")
        return cls(principles=tuple(principle_from_data(one) for one in listed))


@dataclass(frozen=True, slots=True, eq=False)
class _BoundAll:
    """Several bound principles that must all hold."""

    principles: tuple[Bound, ...]

    @property
    def monotone(self) -> bool:
        """Whether each principle is monotone."""
        return all(principle.monotone for principle in self.principles)

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group by all principles."""
        return reduce(np.logical_and, (principle.holds(counts) for principle in self.principles))


def _all(each: Iterable[tuple[Caps, ...] | None]) -> tuple[Caps, ...] | None:
    """The caps of all principles, if each can be expressed by caps."""
    found = list(each)
    return None if None in found else tuple(cap for caps in found for cap in caps or ())
