# SPDX-License-Identifier: Apache-2.0
"""Words: how a release was made, told to readers who have not read the papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse import catalog
from glasshouse.errors import GlasshouseError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.release import Recipe

__all__ = ["ADVERSARIES", "HOW", "WHO", "in_words"]

ADVERSARIES = {
    "linking": "This attacker has the release, knows everybody's quasi-identifiers, and looks people up.",
    "algorithm-aware": "This attacker also knows the algorithm, and works out which tables could have given this "
    "release.",
    "corrupting": (
        "This attacker also knows the sensitive value of one other person: the person whose value helps most."
    ),
}

WHO = {
    "linking": "an attacker who links people to the release",
    "algorithm-aware": "an attacker who also knows the algorithm",
    "corrupting": "an attacker who also knows one other person's value",
}

HOW = {
    "exact": "exact",
    "mixture": "approximate, because cells overlap",
    "bound": "an upper bound: no probability is higher",
    "sampled": "estimated by sampling, with the error that is given",
    "credibility": "credibility",
}


def in_words(recipe: Recipe) -> dict[str, str]:
    """Say what a recipe's principle, method and recoding do, in plain words."""
    return {
        "principle": _principle(recipe),
        "method": _declared(catalog.METHODS, recipe.method) + _given(recipe.method),
        "recoding": _declared(catalog.RECODINGS, recipe.recoding) + _given(recipe.recoding),
    }


def _principle(recipe: Recipe) -> str:
    """The sentence of the principle about itself, for every column to which it applies."""
    try:
        asked = catalog.principle_of(recipe)
        if isinstance(asked, dict):
            said = [principle.describe(column) for column, principle in asked.items()]
        else:
            columns = recipe.sensitive if asked.needs_sensitive else (None,)
            said = [asked.describe(column) for column in columns]
    except (GlasshouseError, AttributeError, TypeError):  # a release of another tool names what we do not know
        return str(recipe.principle.get("name", ""))
    text = "; ".join(said)
    return text[:1].upper() + text[1:] + "."


def _declared(classes: Mapping[str, Any], made: Mapping[str, Any]) -> str:
    """The description of a method or recoding; nothing if another tool names one that is not known here."""
    name = str(made.get("name"))
    return str(classes[name].in_words) if name in classes else ""


def _given(made: Mapping[str, Any]) -> str:
    """Parameters as text; lists are given by their length only: a declared domain is shown elsewhere."""
    given = {name: value for name, value in made.items() if name != "name" and value not in (None, (), [], "")}
    if not given:
        return ""
    texts = [f"{name} = {_text(value)}" for name, value in given.items()]
    return f" ({', '.join(texts)})"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("name", value))
    return f"{len(value):,} listed" if isinstance(value, list | tuple) else str(value)
