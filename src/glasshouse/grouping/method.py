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

__all__ = ["Method", "frequency_ell", "is_frequency_diversity"]


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
