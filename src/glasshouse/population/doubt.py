# SPDX-License-Identifier: Apache-2.0
"""Doubt: how much wider than its draws an answer's interval must be, for what the model may get wrong.

Draws know how uncertain the model is about itself: not that people differ in ways that no feature sees, that a cell's
attributes go together, or that the publisher's method was not as blind to the values inside a group as the likelihood
takes it to be. The last holds of some methods exactly (they declare it, `Method.exchangeable`); for the others groups
that were made together err together.

There are two numbers: what the standard deviation of the draws is multiplied by, and how large a part of the way from
the papers' estimate to the learned one is added to it. They were chosen on Adult and the census, and judged on other
tables: docs/analysing.md has both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from glasshouse import catalog

if TYPE_CHECKING:
    from glasshouse.release import Release

__all__ = ["Doubt", "doubt_of"]


@dataclass(frozen=True)
class Doubt:
    """How far to trust a learned answer."""

    noise: float  # what the standard deviation over draws is multiplied by
    move: float  # the part of the way from the papers' estimate that is added


_NOISE: Final = 1.15
_EXACT, _COUPLED, _CELLS = 0.05, 0.2, 0.35


def doubt_of(release: Release) -> Doubt:
    """The doubt that a release deserves, by its recoding and its method."""
    if release.layout.kind == "boxes":
        return Doubt(_NOISE, _CELLS)
    exact = bool(release.recipe.method) and catalog.method_of(release.recipe).exchangeable
    return Doubt(_NOISE, _EXACT if exact else _COUPLED)
