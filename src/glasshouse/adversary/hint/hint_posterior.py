# SPDX-License-Identifier: Apache-2.0
"""HintPosterior: the probabilities of an attacker who knows a little, for every person, and how often that is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from glasshouse.adversary.posterior import Posterior
from glasshouse.visible import in_lines

if TYPE_CHECKING:
    from glasshouse.adversary.hint.hint_cost import HintCost

__all__ = ["HintPosterior"]


@dataclass(frozen=True, kw_only=True, eq=False)
class HintPosterior(Posterior):
    """Probabilities by a release and a hint, beside those by the hint alone.

    Attributes
    ----------
    how
        ``exact``; ``by bucket``, if the evidence of all groups of a bucket was added up; ``by group``, from each group
        by itself, where what other groups say of it is left out; with ``, mixture`` where who is in which group is not
        known of everybody.
    hint
        What the attacker knew before seeing the release, in a sentence.
    cost
        How often guesses are right, with the release and without it, counted with the true values; None if the external
        table does not contain them.
    """

    hint: str
    cost: HintCost | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the summary that is printed, without names."""
        cost = None if self.cost is None else self.cost.to_dict()
        return {**super().to_dict(), "hint": self.hint, "cost_of_presence": cost}

    def __str__(self) -> str:
        told = (
            [
                "  How often the guesses are right can only be counted with the true values: give the "
                "published table, with its sensitive column, as the external table."
            ]
            if self.cost is None
            else self.cost.lines()
        )
        return "\n".join([super().__str__(), in_lines([f"  {self.hint}", *told])])
