# SPDX-License-Identifier: Apache-2.0
"""The base of all grouping methods, claims that several of them share, and checks of unsuitable requirements."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import count
from math import ceil
from typing import TYPE_CHECKING, ClassVar, Literal

from glasshouse.engines import Memory
from glasshouse.errors import NotSupported, ParameterError
from glasshouse.grouping.independence import belief_bound, left_open
from glasshouse.grouping.top.piece import bound_to, whole_piece
from glasshouse.principles.principle import Adversary, Claim, Principle, Requirement
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.grouping.independence import Independent
    from glasshouse.grouping.top.piece import Piece
    from glasshouse.microdata import Column, Groups, Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.parameters import Exact

__all__ = [
    "LeavesOut",
    "Method",
    "at_ell",
    "check_monotone",
    "check_priority",
    "chosen_blindly",
    "frequency_ell",
    "least_size",
    "linking_claim",
    "quasi_claim",
    "times_e",
]

LeavesOut = Literal["nobody", "by lot", "by values"]

_SIZE = 8  # of a group, where nothing says which


class Method:
    """Divides a table into groups that satisfy a requirement; it does not depend on what is published.

    Methods are frozen dataclasses. Each has a name, by which recipes call it, and says what it looks at
    (``quasi-identifiers``, ``sensitive values``, ``both`` or ``neither``) and whether it makes random choices.
    """

    __slots__ = ()

    name: ClassVar[str]
    in_words: ClassVar[str]  # what it does, told in a report to somebody who has read none of the papers
    looks_at: ClassVar[str] = "both"
    randomised: ClassVar[bool] = False
    by_multisets: ClassVar[bool] = False
    """Whether groups are a function of quasi-identifiers and of the multisets of their values, and of nothing else."""
    judges_only: ClassVar[bool] = False
    """Whether it looks at sensitive values through the requirement alone, so that these may be sets."""

    @classmethod
    def usual(cls) -> tuple[Method, ...]:
        """The method with the parameters in use, for a comparison of methods."""
        return (cls(),)

    @property
    def leaves_out(self) -> LeavesOut:
        """Whom it may leave out of all groups: nobody, people chosen by lot, or people because of their values."""
        return "nobody"

    def n_by_lot(self, requirement: Requirement, enough: int, n: int) -> int:
        """How many of n people are left out by lot before the others are divided.

        Parameters
        ----------
        requirement
            What every group must satisfy.
        enough
            The number of people from which on every part of the table satisfies it: see `Requirement.enough`.
        n
            People in the table.
        """
        return 0

    def jointly(self, requirement: Requirement) -> bool:
        """Whether the probability of a partition depends on each sensitive column separately (Theorem J1)."""
        return False

    @property
    def by_counts(self) -> bool:
        """Whether a table larger than memory can be divided: its top as counts of kinds, and then piece by piece."""
        return False

    @property
    def disjoint(self) -> bool:
        """Whether the boxes of its groups have no point in common, under k-anonymity."""
        return False

    def independent(self, requirement: Requirement) -> Independent:
        """Over which sets of people the possible tables are a product, all arrangements of a set equally likely.

        Where the sets are groups, every way to deal a group's values to its members is as likely as these values are
        for these members: an attacker who knows a little learns little more from all other groups together, and a model
        of the population can be fitted to the groups exactly.
        """
        return "groups" if self.by_multisets or not requirement.columns else "none"

    def largest_share(self, requirement: Requirement) -> Fraction | None:
        """The largest share of a value in one of the sets of `independent`; None if nothing bounds it below 1."""
        return self._share_at(requirement.frequency_ell, requirement)

    def _share_at(self, ell: int | None, requirement: Requirement) -> Fraction | None:
        """The largest share of a value in one of the sets of `independent`, where groups are l-diverse for this l."""
        times = {"groups": 1, "half-groups": 2}.get(self.independent(requirement))
        return Fraction(times, ell) if ell is not None and times is not None and times < ell else None

    def believed_at_most(self, requirement: Requirement, odds: Exact) -> Fraction | None:
        """The highest probability for an attacker who knows the algorithm and a little about people; None for no bound.

        Parameters
        ----------
        requirement
            What every group satisfies.
        odds
            How much the attacker knows: by how much the chances of any two people for any two values may differ, as
            `belief_bound` has it. At 1 all people are alike to the attacker, and what `claim` says may be less.

        Examples
        --------
        >>> from glasshouse.grouping.mirror.mirror import Mirror
        >>> from glasshouse.principles.l_diversity import LDiversity
        >>> asked = Requirement.in_words(LDiversity(ell=4), ["disease"])
        >>> Mirror(inner="anatomize", slack=2).believed_at_most(asked, "3/2")
        Fraction(1, 3)
        >>> Mirror(inner="anatomize").believed_at_most(asked, "3/2")
        Fraction(3, 5)
        """
        share = self.largest_share(requirement)
        return None if share is None else belief_bound(share, odds)

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups guarantee, against which attacker, and why."""
        raise NotImplementedError

    def claimed(self, requirement: Requirement) -> Claim:
        """The guarantee of `claim`, with what remains of it if the attacker knows a little about people."""
        self._refuse_sets(requirement)
        claim = self.claim(requirement)
        if claim.adversary is not Adversary.ALGORITHM_AWARE or not requirement.columns:
            return claim
        left = left_open(self.independent(requirement), self.largest_share(requirement))
        return replace(claim, limits=(*claim.limits, left))

    def divide(
        self,
        table: Microdata,
        requirement: Requirement,
        *,
        source: Source | None = None,
        engine: Memory | None = None,
    ) -> Groups:
        """Divide a table into groups that satisfy a requirement.

        Parameters
        ----------
        table
            The microdata.
        requirement
            What every group must satisfy.
        source
            Of random choices, also of those that break ties where no identifier does; by default the operating system's
            secure source.
        engine
            Says how many threads there may be; it changes nothing but the time.
        """
        self._refuse_sets(requirement)
        return self._divide(table, requirement, source or Source.secure(), engine or Memory())

    def _refuse_sets(self, requirement: Requirement) -> None:
        if requirement.sets and not self.judges_only:
            raise NotSupported(
                f"the method {self.name!r} does not support a column whose values are sets",
                instead="use the method 'mirror', the default, or 'mondrian'",
            )

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        raise NotImplementedError

    def pieces(self, kinds: Kinds, requirement: Requirement, source: Source, most: int) -> list[Piece]:
        """Divide kinds of people, as counts, into pieces of at most ``most`` people, to be finished one by one.

        A method that cannot do that has one piece: everybody.
        """
        return [whole_piece(kinds)]

    def finish(self, kinds: Kinds, piece: Piece, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide the people of a piece, in the order of the piece."""
        people = piece.people(kinds)
        return self.divide(people, bound_to(requirement, people), source=source, engine=engine)


def linking_claim(*limits: str) -> Claim:
    """What holds of any groups that satisfy the principle, against an attacker who does not know the algorithm."""
    return Claim(
        adversary=Adversary.LINKING,
        theorem=(
            "every published group satisfies the principle, and anybody can check this by counting in the published "
            "tables"
        ),
        limits=limits,
    )


def quasi_claim(assumptions: tuple[str, ...] = ()) -> Claim:
    """What holds under k-anonymity alone: groups are then made without a look at sensitive values."""
    return Claim(
        adversary=Adversary.ALGORITHM_AWARE,
        theorem=(
            "groups are made from quasi-identifiers alone, so an attacker who knows the algorithm and everybody's "
            "quasi-identifiers can find out who is in which group, even where cells overlap, but learns about "
            "sensitive values only what that group shows"
        ),
        limits=("k-anonymity does not protect sensitive values: all people of a group may have the same one",),
        assumptions=assumptions,
    )


def chosen_blindly(method: Method, *names: str) -> tuple[str, ...]:
    """The assumption of a guarantee about parameters that prefer some quasi-identifiers, if such are given.

    >>> from glasshouse.grouping.mirror.mirror import Mirror
    >>> chosen_blindly(Mirror(priority=("age",)), "priority", "weights")
    ("the parameter 'priority' was chosen without using the sensitive values of this table",)
    """
    return tuple(
        f"the parameter {name!r} was chosen without using the sensitive values of this table"
        for name in names
        if getattr(method, name)
    )


def check_priority(owner: str, priority: Sequence[str]) -> tuple[str, ...]:
    """Check the names of preferred quasi-identifiers, which may be given as one text."""
    names = tuple(name.strip() for name in priority.split(",")) if isinstance(priority, str) else tuple(priority)
    if len(set(names)) < len(names) or not all(isinstance(name, str) and name for name in names):
        raise ParameterError(owner, "priority", "names of different quasi-identifiers", priority)
    return names


def frequency_ell(requirement: Requirement, owner: str) -> tuple[int, Column]:
    """The one l and the one sensitive column of frequency l-diversity; `NotSupported` for anything else."""
    ell = requirement.frequency_ell
    if ell is not None:
        return ell, requirement.columns[0]
    raise NotSupported(
        f"{owner} supports only l-diversity of one sensitive column",
        instead="ask for l-diversity alone, or use the method 'mondrian'",
    )


def least_size(requirement: Requirement) -> int:
    """The least size of a group, as far as the principles name it: their k or l; 8 if they name none."""
    return requirement.smallest_group or _SIZE


def check_monotone(requirement: Requirement, owner: str) -> None:
    """Refuse a requirement under which the union of two safe groups may not be safe."""
    if not requirement.monotone:
        raise NotSupported(
            (
                f"{owner} does not support {requirement.describe()}, which may be broken when two groups that "
                "satisfy it are joined (it is not monotone)"
            ),
            instead="choose a principle under which two safe groups together are safe, such as l-diversity",
        )


# ------------------------------------------------- running at a larger l, so that what a theorem allows stays within l


def at_ell(requirement: Requirement, ell: int) -> Requirement:
    """Give the same requirement with another l; for one principle that has an l, of one column.

    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> at_ell(Requirement.of(LDiversity(ell=2), examples.transparent_t1()), 3).parts[0].principle
    LDiversity(ell=3)
    """
    (part,) = requirement.parts
    principle: Principle = replace(part.principle, ell=ell)  # type: ignore[call-arg]
    return Requirement((replace(part, principle=principle, bound=principle.bind(part.whole, part.domain)),))


def times_e(ell: int) -> int:
    """Return the least integer that is at least e times ``ell``, exactly.

    >>> [times_e(ell) for ell in (2, 3, 4, 8)]
    [6, 9, 11, 22]
    """
    low, term = Fraction(0), Fraction(1)
    for k in count(1):  # e = 1 + 1 + 1/2! + 1/3! + ...; from 1/k! on, all terms together are below 2/k!
        low += term
        term /= k
        if ceil(low * ell) == ceil((low + 2 * term) * ell):
            return ceil(low * ell)
    raise AssertionError("e is irrational")
