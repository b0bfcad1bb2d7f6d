# SPDX-License-Identifier: Apache-2.0
"""Words: how a release was made, told to somebody who has read none of the papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse import catalog
from glasshouse.errors import GlasshouseError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.release import Recipe

__all__ = ["ADVERSARIES", "HOW", "METHODS", "RECODINGS", "WHO", "in_words"]

METHODS = {
    "hybrid": "The table is cut into regions by a rule that looks at how often values occur in a region, and not at "
    "who has which. Inside each region people are then dealt at random into small groups, each with one person of each "
    "of several sensitive values.",
    "tailor": "The table is cut in two, and each part again, by a rule that looks at how often sensitive values occur "
    "in a part, and not at who has which.",
    "ace": "People are dealt at random into buckets with equally many of each of several sensitive values; each bucket "
    "is then sliced along the attributes until a group has one person of each of these values.",
    "anatomize": "Groups take one person at random of each of the sensitive values that are most frequent among those "
    "who are left. Quasi-identifiers are not looked at.",
    "mirror": "The table is halved exactly, and each half again, as long as both halves are safe. Where they are not, "
    "groups take as many people from either half, so that the failure does not tell which half was to blame.",
    "even-split": "The table is halved at the median of its widest attribute, and each half again, as long as both "
    "halves are safe.",
    "symmetric": "People are sorted once; the row is halved, and each half again, as long as both halves are safe.",
    "separate": "Everybody is in one group.",
    "mondrian": "The table is cut at the median of its widest attribute, or of the next one, and each part again, as "
    "long as both parts are safe.",
    "snug": "The table is cut in two where both parts promise the smallest boxes, and each part again, as long as both "
    "are safe. People with equal quasi-identifiers stay together.",
    "greedy": "People are sorted and taken in that order; a group is closed as soon as it is safe.",
    "randomised-greedy": "People are sorted and taken in that order; a group is closed when it is safe, or by chance "
    "later.",
    "refined": "The table is divided by one method, and each of its groups once more by another.",
    "opt-gen": "Of all safe divisions into boxes that do not overlap, the one with the smallest groups is taken.",
}

RECODINGS = {
    "boxes": "Everybody's quasi-identifiers are replaced by the range, or the set, of their group's values. Sensitive "
    "values stand in the same rows.",
    "taxonomies": "Everybody's quasi-identifiers are replaced by the node of a taxonomy that covers their group. "
    "Sensitive values stand in the same rows.",
    "anatomy": "Everybody's exact quasi-identifiers are published with the number of their group. How often each "
    "sensitive value occurs in a group stands in a table of its own.",
    "permutation": "Everybody's exact quasi-identifiers are published; sensitive values stand in the same rows, put "
    "into a random order inside each group.",
    "angel": "Quasi-identifiers are replaced by the range, or the set, of the values of a bucket of similar people. "
    "How often each sensitive value occurs stands in a table of its own, by batch; the number of the batch links "
    "the two.",
    "perturbed": "Of each group one person, chosen at random, is published: the group's ranges, its size, and the "
    "sensitive value, which is kept by chance or replaced by a random one.",
}

ADVERSARIES = {
    "linking": "She holds the release and everybody's quasi-identifiers, and looks people up.",
    "algorithm-aware": "She also knows how the release was made, and asks which tables would have given it.",
    "corrupting": "She has also found out the sensitive value of one other person, whoever helps her most.",
}

WHO = {
    "linking": "whoever links people to the release",
    "algorithm-aware": "whoever also knows how it was made",
    "corrupting": "whoever has found out one other person's value",
}

HOW = {
    "exact": "exact",
    "mixture": "approximate, as cells overlap",
    "bound": "a bound: no belief is larger",
    "sampled": "sampled, with an error",
    "credibility": "credibility",
}


def in_words(recipe: Recipe) -> dict[str, str]:
    """Say what a recipe's principle, method and recoding do, in plain words."""
    return {
        "principle": _principle(recipe),
        "method": METHODS.get(str(recipe.method.get("name")), "") + _given(recipe.method),
        "recoding": RECODINGS.get(str(recipe.recoding.get("name")), "") + _given(recipe.recoding),
    }


def _principle(recipe: Recipe) -> str:
    """The sentence that the principle has for itself, for every column that it is asked of."""
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


def _given(made: Mapping[str, Any]) -> str:
    """Parameters, those that are lists only by their length: a declared domain has its own place."""
    given = {name: value for name, value in made.items() if name != "name" and value not in (None, (), [], "")}
    if not given:
        return ""
    texts = [f"{name} = {_text(value)}" for name, value in given.items()]
    return f" ({', '.join(texts)})"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("name", value))
    return f"{len(value):,} listed" if isinstance(value, list | tuple) else str(value)
