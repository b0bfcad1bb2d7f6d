# SPDX-License-Identifier: Apache-2.0
"""Doubt: how much wider than its draws an answer's interval must be, for what the model may get wrong.

Draws know how uncertain the model is about itself. They do not know that people differ in ways that no feature sees,
that the attributes of a cell go together, or that the publisher's method looked at who has which value. Some methods do
not, and the likelihood is then exact; for the others, groups that were made together err together
(`Method.independent`).

There are two numbers: what the standard deviation of the draws is multiplied by, and how large a part of the way from
the papers' estimate to the learned one is added to it. They were chosen on Adult and the census, and judged on other
tables: docs/analysing.md has both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from glasshouse import catalog
from glasshouse.principles.principle import Requirement

if TYPE_CHECKING:
    from glasshouse.grouping.independence import Independent
    from glasshouse.release import Release

__all__ = ["Doubt", "doubt_of", "requirement_of"]


@dataclass(frozen=True)
class Doubt:
    """How far a learned answer can be trusted."""

    noise: float  # what the standard deviation over draws is multiplied by
    move: float  # the part of the way from the papers' estimate that is added
    note: str = ""  # what a reader of answers is told


_EXACT: Final = Doubt(1.15, 0.05)
_TESTED: Final = Doubt(
    1.5,
    0.35,
    "the intervals are only approximate, because the method of this release uses sensitive values when it forms groups",
)
_TIED: Final = Doubt(
    3.0, 0.6, "the intervals are very rough, because the method of this release makes groups depend on each other"
)
_BY_SETS: Final[dict[Independent, Doubt]] = {
    "groups": _EXACT,
    "half-groups": _TESTED,
    "faces": _TESTED,
    "none": _TESTED,
    "buckets": _TIED,
}
_BOXES: Final = Doubt(
    3.0,
    0.6,
    "the intervals are very rough, and often too narrow where a condition or an average distinguishes values within "
    "wide cells that many people share, because the exact quasi-identifiers of a person within a published cell can "
    "only be guessed: where you can, ask for ranges that contain whole published cells",
)


def doubt_of(release: Release) -> Doubt:
    """The doubt that a release deserves, by its recoding and its method."""
    if release.layout.kind == "boxes" or release.layout.size is not None:  # a perturbed sample has boxes of groups too
        return _BOXES
    recipe = release.recipe
    if not recipe.method:
        return _TIED
    return _BY_SETS[catalog.method_of(recipe).independent(requirement_of(release))]


def requirement_of(release: Release) -> Requirement:
    """What every group of a release satisfies, by its recipe."""
    recipe = release.recipe
    return Requirement.in_words(catalog.principle_of(recipe), recipe.sensitive, release.sets)
