# SPDX-License-Identifier: Apache-2.0
"""Regulators: the three risks that they ask about, singling out, linkability and inference (WP216), as rates.

Each rate stands beside that of a naive guess. Rates of people who are not in the release need a control table, which a
report does not have: `glasshouse attack --control` measures them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse.adversary.knowledge import Knowledge
from glasshouse.adversary.risks.inference import Inference
from glasshouse.adversary.risks.linkability import Linkability
from glasshouse.adversary.risks.singling_out import SinglingOut
from glasshouse.errors import GlasshouseError
from glasshouse.journeys.attack import attack
from glasshouse.pages.report.beliefs import not_attacked

if TYPE_CHECKING:
    from collections.abc import Callable

    from glasshouse.microdata import Microdata
    from glasshouse.pages.report.effort import Budget, Effort, Sizes
    from glasshouse.randomness import Source
    from glasshouse.release import Release

__all__ = ["risks_of"]


def risks_of(
    release: Release,
    table: Microdata,
    effort: Effort,
    budget: Budget,
    sizes: Sizes,
    source: Source | None,
    tell: Callable[[], None],
) -> list[dict[str, Any]]:
    """Measure the three risks on the people of the table; for each that is not measured, give the reason."""
    column = release.recipe.sensitive[0] if release.recipe.sensitive else None
    found = []
    for chosen in (SinglingOut(source=source), Linkability(source=source), Inference(column=column)):
        entry: dict[str, Any] = {"risk": chosen.name, "question": chosen.question, "column": None, "ran": True}
        entry |= {"why_not": None, "bounded": False}
        if chosen.needs_values:
            entry["column"] = column
        refused = not_attacked(release, table, column, effort, budget, sizes.risk)
        if chosen.needs_values and column is None:
            found.append({**entry, "ran": False, "why_not": "there is no sensitive column"})
        elif refused:
            found.append({**entry, "ran": False, "why_not": refused, "bounded": True})
        else:
            try:
                measured = attack(release, chosen, knowledge=Knowledge(external=table))
                found.append({**entry, "measured": measured.to_dict()})
            except GlasshouseError as error:
                found.append({**entry, "ran": False, "why_not": str(error)})
    tell()
    return found
