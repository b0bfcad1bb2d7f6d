# SPDX-License-Identifier: Apache-2.0
"""Guarantee: what a release promises, in words and numbers, against which adversary, by which theorem."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from glasshouse.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ONE_ROW_PER_PERSON", "Guarantee"]

ONE_ROW_PER_PERSON: Final = "one row per person"
"""What is assumed where the publisher named no identifier; ties between tuples were then broken by a secret order."""


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What is promised. Nothing beyond its theorem is claimed.

    Parameters
    ----------
    promise
        What holds, in one sentence with its numbers.
    adversary
        ``linking``, ``algorithm-aware`` or ``corrupting``.
    adversary_knows
        What that adversary holds and believes beforehand, in one sentence.
    theorem
        Why it holds.
    assumptions
        What must be true for it.
    limits
        What is not promised.
    """

    promise: str
    adversary: str
    adversary_knows: str
    theorem: str
    assumptions: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [
            ("Promised", self.promise),
            ("Against", f"{self.adversary}: {self.adversary_knows}"),
            ("Because", self.theorem),
            *(("Provided", text) for text in self.assumptions),
            *(("Not promised", text) for text in self.limits),
        ]
        width = max(len(head) for head, _ in lines) + 2
        return "\n".join(
            textwrap.fill(visible(text), 112, initial_indent=head.ljust(width), subsequent_indent=" " * width)
            for head, text in lines
        )

    @property
    def ties_are_secret(self) -> bool:
        """Whether ties were broken by a secret order, and not by identifiers that others may know."""
        return ONE_ROW_PER_PERSON in self.assumptions

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {**asdict(self), "assumptions": list(self.assumptions), "limits": list(self.limits)}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Guarantee:
        """Make a guarantee from plain data."""
        return cls(**{**data, "assumptions": tuple(data["assumptions"]), "limits": tuple(data["limits"])})
