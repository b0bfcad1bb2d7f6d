# SPDX-License-Identifier: Apache-2.0
"""What a release promises, as plain data for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from glasshouse.release import Guarantee, Recipe

__all__ = ["promise_of"]


def promise_of(recipe: Recipe, guarantee: Guarantee) -> dict[str, Any]:
    """The guarantee, in plain words where there are some, and how the release was made."""
    from glasshouse.pages.report.words import ADVERSARIES, in_words

    return {
        "guarantee": guarantee.to_data(),
        "plain": list(_plainly(recipe)),
        "adversary": ADVERSARIES.get(guarantee.adversary, ""),
        "words": in_words(recipe),
        "quasi": list(recipe.quasi),
        "sensitive": list(recipe.sensitive),
    }


def _plainly(recipe: Recipe) -> Iterator[str]:
    """What it means for a person, where that follows from the numbers of the principle alone."""
    from glasshouse import catalog

    asked = catalog.principle_of(recipe)
    by_column = asked if isinstance(asked, dict) else dict.fromkeys(recipe.sensitive or ("",), asked)
    anonymity = 0
    for column, principle in by_column.items():
        for one in principle.singles():
            anonymity = max(anonymity, one.terms.anonymity)
            if one.terms.one_in and not one.terms.named:
                yield f"Nobody's {column} can be inferred with a probability above 1 in {one.terms.one_in}."
    if anonymity > 1:
        yield f"Everybody looks like at least {anonymity - 1:,} other people."
