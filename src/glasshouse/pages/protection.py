# SPDX-License-Identifier: Apache-2.0
"""Protection: what a release protects and what it does not, in a few sentences with the names of its columns.

The guarantee says the same exactly, with its theorem, its assumptions and all its limits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshouse import catalog
from glasshouse.errors import GlasshouseError
from glasshouse.pages.people_without_promise import NOBODY
from glasshouse.plural import counted
from glasshouse.principles.principle import Adversary
from glasshouse.recoding.columns import RANGE
from glasshouse.recoding.recoding import JOINTLY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.pages.people_without_promise import LeftOut
    from glasshouse.principles.principle import Principle
    from glasshouse.release import Guarantee, PublishedColumn, Recipe

__all__ = ["attacker", "listed", "not_protected", "protected"]

_MOST_NAMES = 5
_NO_COLUMN = "sensitive value"


def protected(recipe: Recipe, guarantee: Guarantee, left_out: LeftOut = NOBODY) -> str:
    """Say what is protected, and of how many people, for a reader who has read none of the papers.

    >>> import glasshouse as gh
    >>> release = gh.publish(gh.examples.transparent_t1(), principle=gh.LDiversity(ell=2))
    >>> print(protected(release.recipe, release.guarantee))
    Nobody's Disease can be inferred with more than 50 % confidence (1 in 2), even by an attacker who knows how the \
table was made and everybody's Age and Zipcode.
    """
    return left_out.for_others(_protected(recipe, guarantee))


def _protected(recipe: Recipe, guarantee: Guarantee) -> str:
    try:
        principle, level = catalog.principle_of(recipe), Adversary(guarantee.adversary)
    except (GlasshouseError, AttributeError, KeyError, TypeError, ValueError):  # another tool, or another version
        return _sentence(guarantee.promise)
    asked = principle if isinstance(principle, dict) else dict.fromkeys(recipe.sensitive or ("",), principle)
    columns: dict[Principle, list[str]] = {}
    for column, one in asked.items():
        if one.bounds_beliefs and (getattr(one, "bound", None) is None or level is not Adversary.CORRUPTING):
            return _sentence(guarantee.promise)  # which tells the bound that was achieved, or that there is none
        columns.setdefault(one, []).append(column)
    return " ".join(
        one.for_person(listed(names, "or"), attacker(level, recipe.quasi, listed(names)))
        for one, names in columns.items()
    )


def not_protected(
    recipe: Recipe, guarantee: Guarantee, left_out: LeftOut = NOBODY, columns: Sequence[PublishedColumn] = ()
) -> str:
    """Say who is not protected, and what an attacker may learn who knows more than the guarantee allows for.

    The published ``columns`` say which sensitive values are ranges.

    >>> import glasshouse as gh
    >>> release = gh.publish(gh.examples.transparent_t1(), principle=gh.LDiversity(ell=2))
    >>> print(not_protected(release.recipe, release.guarantee))
    An attacker who knows more, such as some people's Disease or how Disease depends on Age and Zipcode, may infer more.
    """
    value = listed(recipe.sensitive) if recipe.sensitive else ""
    if guarantee.adversary == Adversary.LINKING.value:
        first = "An attacker who knows how the table was made may infer more."
    elif guarantee.adversary == Adversary.ALGORITHM_AWARE.value and value:
        verb = "depends" if len(recipe.sensitive) == 1 else "depend"
        known = f"some people's {value} or how {value} {verb} on {listed(recipe.quasi)}"
        first = f"An attacker who knows more, such as {known}, may infer more."
    else:
        first = _sentence(guarantee.limits[0]) if guarantee.limits else ""
    apart = len(recipe.sensitive) > 1 and JOINTLY not in guarantee.promise
    together = f"What {value} reveal together is not limited." if apart else ""
    nothing = left_out.in_words(listed(recipe.sensitive, "or") if recipe.sensitive else _NO_COLUMN)
    return " ".join(filter(None, [nothing, first, together, _about_ranges(columns)]))


def _about_ranges(columns: Sequence[PublishedColumn]) -> str:
    """Say what is not limited where sensitive values are ranges."""
    names = [column.name for column in columns if column.role == "sensitive" and column.meaning.startswith(RANGE)]
    if not names:
        return ""
    return (
        f"The values of {listed(names)} are ranges, and each counts as a value of its own: an attacker may learn a "
        "wider range that contains several of them."
    )


def attacker(level: Adversary, quasi: Sequence[str], value: str) -> str:
    """An attacker in words, as a part of a sentence.

    >>> attacker(Adversary.LINKING, ["age", "sex"], "disease")
    "an attacker who knows everybody's age and sex, but not how the table was made"
    """
    known = f"everybody's {listed(quasi)}"
    if level is Adversary.LINKING:
        return f"an attacker who knows {known}, but not how the table was made"
    if level is Adversary.ALGORITHM_AWARE:
        return f"an attacker who knows how the table was made and {known}"
    return f"an attacker who knows how the table was made, {known}, and the {value} of all other people"


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names as part of a sentence, limited in number.

    >>> listed(["age"]), listed(["age", "sex", "zip code"]), listed(list("abcdefg"), "or")
    ('age', 'age, sex and zip code', 'a, b, c, d or 3 other columns')
    """
    if len(names) > _MOST_NAMES:
        names = [*names[: _MOST_NAMES - 1], counted(len(names) - _MOST_NAMES + 1, "other column")]
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
