# SPDX-License-Identifier: Apache-2.0
"""The guarantee of a release, as plain data for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from glasshouse.release import Recipe, Release
    from glasshouse.streaming.journey import PublishedFile

__all__ = ["promise_of"]


def promise_of(made: Release | PublishedFile) -> dict[str, Any]:
    """The guarantee, in plain words where there are some, who is not protected, and how the release was made."""
    from glasshouse.pages.people_without_promise import LeftOut
    from glasshouse.pages.protection import listed
    from glasshouse.pages.report.words import ADVERSARIES, in_words

    recipe, guarantee, left_out = made.recipe, made.guarantee, LeftOut.of(made)
    return {
        "guarantee": guarantee.to_data(),
        "plain": [left_out.for_others(text) for text in _plainly(recipe)],
        "left_out": left_out.in_words(listed(recipe.sensitive, "or")),
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
        yield f"Everybody looks the same as at least {counted(anonymity - 1, 'other person', 'other people')}."
