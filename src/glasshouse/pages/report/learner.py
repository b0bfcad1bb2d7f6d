# SPDX-License-Identifier: Apache-2.0
"""Learner: what an attacker gains who learns from the release how sensitive values depend on quasi-identifiers.

What is believed of people in the table stands beside what the same model believes of people on whose groups it was not
fitted: the difference is what being in the table costs. Counts and shares of people only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse.adversary.knowledge import Knowledge
from glasshouse.adversary.learning.definetti import DeFinetti
from glasshouse.errors import GlasshouseError
from glasshouse.journeys.attack import attack
from glasshouse.pages.report.beliefs import not_attacked
from glasshouse.pages.report.effort import OutOfTime, deadline

if TYPE_CHECKING:
    from collections.abc import Callable

    from glasshouse.microdata import Microdata
    from glasshouse.pages.report.effort import Budget, Effort, Sizes
    from glasshouse.release import Release

__all__ = ["learners_of"]


def learners_of(
    release: Release, table: Microdata, effort: Effort, budget: Budget, sizes: Sizes, tell: Callable[[], None]
) -> list[dict[str, Any]]:
    """Learn about every sensitive column, and judge guesses by the true values; or say why that was not done."""
    found = []
    for column in release.recipe.sensitive:
        refused = not_attacked(release, table, column, effort, budget, sizes.learning)
        entry = {"column": column, "ran": not refused, "why_not": refused or None, "bounded": bool(refused)}
        found.append(entry if refused else {**entry, **_learned(release, table, column, effort, budget)})
        tell()
    return found


def _learned(release: Release, table: Microdata, column: str, effort: Effort, budget: Budget) -> dict[str, Any]:
    chosen = DeFinetti(column=column, most_states=effort.most_states, progress=deadline(effort.seconds, budget))
    try:
        found = attack(release, chosen, knowledge=Knowledge(external=table))
    except OutOfTime:
        return {"ran": False, "why_not": "it takes longer than is allowed for a report", "bounded": True}
    except GlasshouseError as error:
        return {"ran": False, "why_not": str(error)}
    if found.cost is None:
        return {"ran": False, "why_not": found.learning.removesuffix(".")}
    return {
        "model": found.model,
        "learning": found.learning,
        "sentence": found.cost.sentence(),
        "cost": found.cost.to_dict(),
        "notes": list(found.notes),
    }
