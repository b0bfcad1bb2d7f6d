# SPDX-License-Identifier: Apache-2.0
"""Adversaries: against whom a promise is made; and the claim that a method makes for its groups."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["NOT_AGAINST", "Adversary", "Claim"]


class Adversary(Enum):
    """What she holds. Each one knows everything that the one before her knows."""

    LINKING = "linking"
    ALGORITHM_AWARE = "algorithm-aware"
    CORRUPTING = "corrupting"

    @property
    def knows(self) -> str:
        """What she knows and believes beforehand, in one sentence."""
        return _KNOWS[self]


_KNOWS = {
    Adversary.LINKING: "whoever knows the release and everyone's quasi-identifiers",
    Adversary.ALGORITHM_AWARE: (
        "whoever knows the release, everyone's quasi-identifiers, the algorithm and its parameters, holds every table "
        "equally likely beforehand, and knows nobody's sensitive value"
    ),
    Adversary.CORRUPTING: (
        "whoever knows the release, everyone's quasi-identifiers, the algorithm and its parameters, and the sensitive "
        "values of any number of other people"
    ),
}


NOT_AGAINST = (
    "anything against an attacker who knows some people's sensitive values",
    "anything against an attacker who has reason to hold some tables likelier than others",
)
"""What the theorems on algorithm-aware adversaries leave open; every claim against such an adversary states it."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a method claims for groups under a requirement: against whom, why, and what it does not claim.

    The promise is the requirement's own, unless the claim has another; assumptions are what must be true for it. A
    claim against an algorithm-aware adversary has the limits of all such claims, `NOT_AGAINST`, before its own.
    """

    adversary: Adversary
    theorem: str
    limits: tuple[str, ...] = ()
    promise: str = ""
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.adversary is Adversary.ALGORITHM_AWARE:
            own = tuple(limit for limit in self.limits if limit not in NOT_AGAINST)
            object.__setattr__(self, "limits", (*NOT_AGAINST, *own))
