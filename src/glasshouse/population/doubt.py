# SPDX-License-Identifier: Apache-2.0
"""Doubt: how much wider than its draws an answer's interval must be, for what the model may get wrong.

Draws know how uncertain the model is about itself. They do not know that people differ in ways that no feature sees,
that the attributes of a cell go together, or that the publisher's method looked at who has which value. Some methods do
not, and the likelihood is then exact; for the others, groups that were made together err together
(`Method.exchangeable`).

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
    note: str = ""  # what a reader of answers is told


_BY_METHOD: Final = {
    "always": Doubt(1.15, 0.05),
    "unless a test failed": Doubt(1.5, 0.35, "intervals are rough: the method of this release tests its groups"),
    "never": Doubt(3.0, 0.6, "intervals are very rough: the method of this release ties its groups to each other"),
}
_BOXES: Final = Doubt(3.0, 0.6, "intervals are very rough: where in its cells a person is can only be guessed")


def doubt_of(release: Release) -> Doubt:
    """The doubt that a release deserves, by its recoding and its method."""
    if release.layout.kind == "boxes":
        return _BOXES
    return _BY_METHOD[catalog.method_of(release.recipe).exchangeable if release.recipe.method else "never"]
