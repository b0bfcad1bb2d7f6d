# SPDX-License-Identifier: Apache-2.0
"""LearnedPosterior: the probabilities of an attacker who learns, and what being in the table costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from glasshouse.adversary.posterior import Posterior
from glasshouse.visible import in_lines

if TYPE_CHECKING:
    from glasshouse.adversary.learning.cost import Cost

__all__ = ["LearnedPosterior"]


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedPosterior(Posterior):
    """Probabilities by what a release teaches of the population, beside those of people who are not in the table.

    Attributes
    ----------
    model
        ``learned``; or ``none``, if the release does not teach enough, and probabilities are those of linking.
    learning
        What was learned, in a sentence.
    cost
        What being in the table costs, measured with the true values; None if the external table does not contain them,
        or if there are too few people to learn from.
    """

    model: str
    learning: str
    cost: Cost | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the summary that is printed, without names."""
        return {
            **super().to_dict(),
            "model": self.model,
            "learning": self.learning,
            "cost_of_presence": None if self.cost is None else self.cost.to_dict(),
        }

    def __str__(self) -> str:
        told = [] if self.cost is None else self.cost.lines()
        if self.cost is None and self.model == "learned":
            told = [
                "  The cost of being in the table can only be measured with the true values: give the published "
                "table, with its sensitive column, as the external table."
            ]
        return "\n".join([super().__str__(), in_lines([f"  {self.learning}", *told])])
