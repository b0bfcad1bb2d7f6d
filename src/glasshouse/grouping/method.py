# SPDX-License-Identifier: Apache-2.0
"""What every grouping method is, and how one says that a requirement is not for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

from glasshouse.errors import NotSupported
from glasshouse.principles.l_diversity import LDiversity

if TYPE_CHECKING:
    from glasshouse.engines import Memory
    from glasshouse.microdata import Column, Groups, Microdata
    from glasshouse.principles.adversaries import Claim
    from glasshouse.principles.requirement import Requirement
    from glasshouse.randomness import Source

__all__ = ["K_ANONYMITY_ALONE", "QUASI_ALONE", "Method", "chosen_blindly", "frequency_ell", "is_frequency_diversity"]

QUASI_ALONE = (
    "groups are made from quasi-identifiers alone: an attacker who knows the algorithm and everybody's "
    "quasi-identifiers can find out who is in which group, also where cells overlap, and of sensitive values only what "
    "that group shows"
)
"""Why groups that are made without a look at sensitive values hold against an attacker who knows how."""

K_ANONYMITY_ALONE = "k-anonymity protects no sensitive value: a group may share one"
"""What is not promised where no principle looks at sensitive values."""


class Method(Protocol):
    """Divides a table into groups that satisfy a requirement; knows nothing of what is published."""

    name: ClassVar[str]
    looks_at: ClassVar[str]
    randomised: ClassVar[bool]

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups promise: against whom, and why."""
        ...

    def divide(
        self,
        table: Microdata,
        requirement: Requirement,
        *,
        source: Source | None = None,
        engine: Memory | None = None,
    ) -> Groups:
        """Divide ``table`` into groups that satisfy ``requirement``."""
        ...


def chosen_blindly(method: Method, *names: str) -> tuple[str, ...]:
    """What a claim assumes of parameters that prefer some quasi-identifiers to others, where they are given.

    >>> from glasshouse.grouping.mirror import Mirror
    >>> chosen_blindly(Mirror(priority=("age",)), "priority", "weights")
    ("the parameter 'priority' was chosen without a look at the sensitive values of this table",)
    """
    return tuple(
        f"the parameter {name!r} was chosen without a look at the sensitive values of this table"
        for name in names
        if getattr(method, name)
    )


def is_frequency_diversity(requirement: Requirement) -> bool:
    """Whether it asks for frequency l-diversity of one sensitive column, and nothing else."""
    return len(requirement.parts) == 1 and isinstance(requirement.parts[0].principle, LDiversity)


def frequency_ell(requirement: Requirement, owner: str) -> tuple[int, Column]:
    """The one l and the one sensitive column of frequency l-diversity; `NotSupported` for anything else."""
    if len(requirement.parts) == 1:
        (part,) = requirement.parts
        if isinstance(part.principle, LDiversity) and part.column is not None:
            return part.principle.ell, part.column
    raise NotSupported(
        f"{owner} under a requirement other than l-diversity of one sensitive column",
        instead="ask for l-diversity alone, or use the method 'mondrian'",
    )
