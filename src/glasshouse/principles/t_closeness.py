# SPDX-License-Identifier: Apache-2.0
"""t-closeness: the sensitive values of each group are distributed almost as in the whole table.

Li, Li, Venkatasubramanian, "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", ICDE 2007: the earth mover's
distance between the two distributions is at most t.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal, Self, get_args

from glasshouse.errors import DomainError, Infeasible, InputError, NotSupported, ParameterError
from glasshouse.principles.earth_mover import EarthMover
from glasshouse.principles.parameters import fraction, in_percent, plain
from glasshouse.principles.principle import Bound, Principle, Terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Domain
    from glasshouse.principles.parameters import Exact

__all__ = ["Close", "TCloseness"]

Distance = Literal["equal", "ordered", "hierarchical"]


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, init=False)
class TCloseness(Principle):
    """In every group, sensitive values are within ``t`` of their distribution in the whole table.

    Parameters
    ----------
    t
        An exact number, at least 0 and below 1.
    distance
        Between two values: ``equal`` (the default) is 1 for any two; ``ordered`` is their difference in rank, for
        numbers, dates and declared orders; ``hierarchical`` is the height of their lowest common ancestor in the
        column's taxonomy. Each is scaled to at most 1.

    Examples
    --------
    >>> from glasshouse.microdata.counts import Counts
    >>> groups = Counts.from_histograms([[1, 1, 1], [2, 1, 0]])
    >>> TCloseness(t=0.2).bind(groups.total()).holds(groups).tolist()
    [True, True]
    >>> TCloseness(t=0.1).bind(groups.total()).holds(groups).tolist()
    [False, False]
    """

    name: ClassVar[str] = "t-closeness"
    titled: ClassVar[str] = "{t}-closeness"
    in_words: ClassVar[str] = (
        "In every group, sensitive values have almost the same distribution as in the whole table. So an attacker who "
        "finds a person's group learns little more than what the whole table says about everybody."
    )
    left_open: ClassVar[str] = (
        "It does not hide what is true of most people: if nine of ten people have a value, an attacker can still guess "
        "it for any person."
    )
    t: Fraction
    distance: Distance = "equal"

    def __init__(self, t: Exact, *, distance: Distance = "equal") -> None:
        object.__setattr__(self, "t", fraction("TCloseness", "t", t, least=0, below=1))
        if distance not in get_args(Distance):
            raise ParameterError("TCloseness", "distance", "'equal', 'ordered' or 'hierarchical'", distance)
        object.__setattr__(self, "distance", distance)

    @property
    def terms(self) -> Terms:
        """The terms of the principle, for other modules."""
        return Terms(asked={"t": self.t, "distance": self.distance}, closeness=self.t, distance=self.distance)

    def joined(self, other: Principle) -> Principle | None:
        """With the smaller t, where the distance is the same."""
        if not isinstance(other, TCloseness) or other.distance != self.distance:
            return None
        return replace(self, t=min(self.t, other.t))

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds.

        >>> TCloseness(t=0.2).describe("disease")
        "in every group, the distribution of disease differs from that in the whole table by at most 0.2 (measured by \
the earth mover's distance, variant equal)"
        """
        return (
            f"in every group, the distribution of {column or 'the sensitive value'} differs from that in the whole "
            f"table by at most {plain(self.t)} (measured by the earth mover's distance, variant {self.distance})"
        )

    def for_person(self, value: str, attacker: str) -> str:
        """Say what it means for a person.

        >>> TCloseness(t=0.2).for_person("disease", "an attacker")
        "In anybody's group, the values of disease that are more frequent than in the whole table have together a \
share that is larger by at most 20 percentage points. So an attacker learns little more about a person than what the \
whole table says."
        >>> TCloseness(t=0).for_person("disease", "an attacker")
        "In anybody's group, each value of disease has the same share as in the whole table. So an attacker learns no \
more about a person than what the whole table says."
        """
        if not self.t:
            return (
                f"In anybody's group, each value of {value} has the same share as in the whole table. So {attacker} "
                "learns no more about a person than what the whole table says."
            )
        points = in_percent(self.t).removesuffix(" %")
        close = (
            f"In anybody's group, the values of {value} that are more frequent than in the whole table have together a "
            f"share that is larger by at most {points} percentage point{'s' * (points != '1')}"
            if self.distance == "equal"
            else f"The distribution of {value} in anybody's group is at most {plain(self.t)} away from that in the "
            "whole table, on a scale from 0 (the same) to 1 (as different as possible); differences between similar "
            "values count less than differences between distant values"
        )
        return f"{close}. So {attacker} learns little more about a person than what the whole table says."

    def bind(self, whole: Counts, domain: Domain | None = None) -> Bound:
        """Bind to the whole table's distribution and, where the distance needs one, to an order or taxonomy."""
        if self.distance == "equal":
            return Close(self.t, EarthMover.on_star(whole))
        if domain is None:
            raise InputError(f"{self.title} with distance={self.distance!r} needs the domain of the sensitive column")
        if self.distance == "ordered":
            _check_order(domain)
            return Close(self.t, EarthMover.on_line(whole))
        if domain.taxonomy is None:
            raise DomainError(
                f"column {domain.name!r} has no taxonomy, so distance='hierarchical' means nothing: declare one "
                f"(taxonomies={{{domain.name!r}: ...}}) or use distance='equal'",
                column=domain.name,
            )
        return Close(self.t, EarthMover.on_taxonomy(whole, domain.taxonomy))

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Refuse: t-closeness can only be judged with the whole table, so it must be bound first."""
        raise NotSupported(
            f"{self.title} cannot judge groups before it knows the table",
            instead="call bind(counts, domain) of the principle first, and use what it returns",
        )

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """The smallest t that the whole table satisfies, which is 0: its distance from itself."""
        return replace(self, t=Fraction(0)) if whole.sizes[0] else None

    def _infeasible(self, whole: Counts, column: str | None, domain: Domain | None) -> Infeasible:
        raise AssertionError("a table is at distance 0 from itself")


@dataclass(frozen=True, slots=True, eq=False)
class Close:
    """t-closeness to one table."""

    t: Fraction
    mover: EarthMover
    monotone: ClassVar[bool] = True

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group, exactly."""
        return self.mover.within(counts, self.t)


def _check_order(domain: Domain) -> None:
    if not domain.ordered:
        raise DomainError(
            f"column {domain.name!r} has no order, so distance='ordered' means nothing: declare one "
            f"(ordered={{{domain.name!r}: [...]}}) or use distance='equal'",
            column=domain.name,
        )
    if domain.missing:
        raise DomainError(
            f"column {domain.name!r} has missing values, which have no place in its order: leave out the rows with "
            "a missing value (missing='drop'), or use distance='equal'",
            column=domain.name,
        )
