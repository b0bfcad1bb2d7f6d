# SPDX-License-Identifier: Apache-2.0
"""The catalogue: name <-> class for every principle, method and recoding.

The command line, the manifest and the tests all use it: a recipe's plain data becomes objects here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from inspect import signature
from typing import TYPE_CHECKING, Any

from glasshouse import grouping, principles, recoding
from glasshouse.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.principles import Principle
    from glasshouse.release import Recipe

__all__ = [
    "METHODS",
    "PRINCIPLES",
    "RECODINGS",
    "TARGETS",
    "from_data",
    "method_of",
    "principle_of",
    "principle_to_data",
    "recoding_of",
    "to_data",
]

PRINCIPLES = principles.PRINCIPLES
TARGETS = principles.TARGETS
BY_COLUMN = "by-column"
METHODS: dict[str, type[Any]] = {
    cls.name: cls
    for cls in (
        grouping.Mondrian,
        grouping.Snug,
        grouping.Tailor,
        grouping.Ace,
        grouping.Hybrid,
        grouping.Anatomize,
        grouping.Mirror,
        grouping.EvenSplit,
        grouping.Greedy,
        grouping.RandomisedGreedy,
        grouping.Symmetric,
        grouping.Separate,
        grouping.Refined,
        grouping.OptGen,
    )
}
RECODINGS: dict[str, type[Any]] = {
    cls.name: cls
    for cls in (
        recoding.Boxes,
        recoding.Taxonomies,
        recoding.Anatomy,
        recoding.Permutation,
        recoding.Angel,
        recoding.Perturbed,
    )
}


def to_data(thing: Any) -> dict[str, Any]:
    """Describe a method or recoding as plain data: its name and its parameters.

    >>> from glasshouse.grouping import Mondrian
    >>> to_data(Mondrian())
    {'name': 'mondrian', 'partitioning': 'strict'}
    """
    if hasattr(thing, "to_data"):
        return dict(thing.to_data())
    return {"name": thing.name, **{f.name: _plain(getattr(thing, f.name)) for f in fields(thing)}}


def _plain(value: Any) -> Any:
    if hasattr(value, "divide"):
        return to_data(value)  # a method inside another
    if isinstance(value, str):
        return str(value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def from_data(classes: Mapping[str, type[Any]], data: Mapping[str, Any]) -> Any:
    """Make an object from plain data.

    >>> from_data(METHODS, {"name": "mondrian", "partitioning": "relaxed"})
    Mondrian(partitioning='relaxed')
    """
    name = str(data.get("name"))
    if name not in classes:
        near = get_close_matches(name, classes, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(classes))}"
        raise InputError(f"there is no {name!r}: {hint}")
    cls = classes[name]
    if hasattr(cls, "from_data"):
        return cls.from_data(data)
    given = {key: _revived(value) for key, value in data.items() if key != "name"}
    unknown = sorted(set(given) - set(signature(cls).parameters))
    if unknown:
        raise InputError(f"{name!r} has no parameter {unknown[0]!r}: it has {', '.join(signature(cls).parameters)}")
    return cls(**given)


def _revived(value: Any) -> Any:
    if isinstance(value, Mapping):  # a method inside another, or numbers by attribute
        return from_data(METHODS, value) if isinstance(value.get("name"), str) else dict(value)
    return tuple(_revived(item) for item in value) if isinstance(value, list) else value


def principle_of(recipe: Recipe) -> Any:
    """Return the principle of a recipe, or one per sensitive column."""
    if recipe.principle.get("name") == BY_COLUMN:
        return {column: from_data(PRINCIPLES, data) for column, data in recipe.principle["columns"].items()}
    return from_data({**PRINCIPLES, **TARGETS}, recipe.principle)


def principle_to_data(principle: Principle | Mapping[str, Principle], columns: Sequence[str]) -> dict[str, Any]:
    """Describe a principle, or one per sensitive column in the order of these, as plain data."""
    if isinstance(principle, Mapping):
        return {"name": BY_COLUMN, "columns": {column: principle[column].to_data() for column in columns}}
    return principle.to_data()


def method_of(recipe: Recipe) -> Any:
    """Return the grouping method of a recipe."""
    return from_data(METHODS, recipe.method)


def recoding_of(recipe: Recipe) -> Any:
    """Return the recoding of a recipe."""
    return from_data(RECODINGS, recipe.recoding)
