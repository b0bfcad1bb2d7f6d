# SPDX-License-Identifier: Apache-2.0
"""Designated l-diversity: only certain values are sensitive, and only these must obey the 1/l fraction.

MINIMALITY 2.2, where the case of one designated value (positive, against negative) is called binary l-diversity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from glasshouse.errors import DomainError, Infeasible, InputError, NotSupported, ParameterError
from glasshouse.principles.parameters import at_most, integer, per_group
from glasshouse.principles.principle import Bound, Principle, Terms
from glasshouse.principles.witness import most_frequent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Domain

__all__ = ["DesignatedLDiversity"]


@dataclass(frozen=True, slots=True, repr=False)
class DesignatedLDiversity(Principle):
    """In every group, none of the designated values has more than one tuple in ``ell``.

    Parameters
    ----------
    ell
        An integer, at least 2.
    values
        The designated values of the sensitive column, at least one; ``None`` stands for missing.

    Guarantee
    ---------
    Whoever knows a person's group and nothing else believes no designated value of that person above ``1 / ell``. All
    other values may be certain.
    """

    name: ClassVar[str] = "designated-l-diversity"
    ell: int
    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "ell", integer("DesignatedLDiversity", "ell", self.ell, least=2))
        if not isinstance(self.values, tuple | list) or not self.values:
            raise ParameterError("DesignatedLDiversity", "values", "a tuple of sensitive values", self.values)
        object.__setattr__(self, "values", tuple(_plain(value) for value in self.values))

    def naming(self, values: tuple[Any, ...]) -> Self:
        """The same for other designated values."""
        return replace(self, values=values)

    @property
    def terms(self) -> Terms:
        """What others need to know of it."""
        return Terms(
            asked={"designated_ell": self.ell, "designated": self.values},
            one_in=self.ell,
            named=self.values,
        )

    @property
    def title(self) -> str:
        """The principle with its number."""
        return f"designated {self.ell}-diversity"

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds.

        >>> DesignatedLDiversity(ell=4, values=("HIV", "cancer")).describe("disease")
        "in every group, at most one tuple in 4 has disease 'HIV', and as few have 'cancer'"
        """
        first, *others = ("missing" if value is None else repr(value) for value in self.values)
        one = f"in every group, at most one tuple in {self.ell:,} has {column or 'the sensitive value'} {first}"
        return one + "".join(f", and as few have {other}" for other in others)

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
        raise NotSupported(f"{self.title} cannot judge groups yet", instead="bind it to the table first")

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """Give the strictest ell for the same values that the whole table obeys; where none occurs, any ell will do."""
        worst = most_frequent(whole, None, domain, among=self._codes(domain))
        if worst.count == 0:
            return self
        ell = worst.of // worst.count
        return replace(self, ell=ell) if ell >= 2 else None

    def _infeasible(self, whole: Counts, column: str | None, domain: Domain | None) -> Infeasible:
        witness = most_frequent(whole, column, domain, among=self._codes(domain))
        nearest = self.feasible(whole, domain)
        remedy = f"the largest feasible ell is {nearest.ell:,}" if nearest else "no ell is feasible"
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
            raise DomainError(
                f"designated value{'s' * (len(unknown) > 1)} {listed} not found in column {domain.name!r}",
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
