# SPDX-License-Identifier: Apache-2.0
"""Texts about people who were left out of a release.

The guarantee does not apply to those who were left out because of their values. It applies to those who were left out
at random, so that the rest can be divided evenly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from glasshouse import catalog
from glasshouse.errors import GlasshouseError
from glasshouse.plural import counted

if TYPE_CHECKING:
    from glasshouse.release import Recipe

__all__ = ["NOBODY", "LeftOut"]


class _Published(Protocol):
    """The interface to a release, or to a table that was published in batches, with its numbers of people."""

    @property
    def recipe(self) -> Recipe: ...
    @property
    def n_tuples(self) -> int: ...
    @property
    def n_dropped(self) -> int: ...
    @property
    def n_suppressed(self) -> int: ...


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """How many people were left out because of their values or at random, and how many are in the release.

    >>> some = LeftOut(n=3, n_published=20)
    >>> some.for_others("Nobody's disease can be inferred.")
    "For the 20 people in the release, but not for the 3 people who were left out: nobody's disease can be inferred."
    >>> print(some.in_words("disease"))
    The 3 people who were left out are not protected: only people with the most frequent values of disease were left \
out, so an attacker who knows that somebody was left out may know the disease of that person.
    >>> LeftOut(n_at_random=64, n_published=7936).at_random_in_words
    '64 of 8,000 people were left out at random, so that the rest can be divided evenly.'
    """

    n: int = 0  # because of their values
    n_at_random: int = 0
    n_published: int = 0
    too_frequent: bool = True  # all of them had a value that was too frequent; else the method could not place them

    @classmethod
    def of(cls, made: _Published) -> LeftOut:
        """Count these people, as the release states it; rows left out because of a missing value do not count."""
        try:
            how = catalog.method_of(made.recipe).leaves_out
        except (GlasshouseError, AttributeError, KeyError, TypeError, ValueError):  # another tool, or another version
            how = "by values" if made.n_dropped > made.n_suppressed else "nobody"
        n_dropped = made.n_dropped - getattr(made, "n_incomplete", 0)
        n = n_dropped if how == "by values" else made.n_suppressed
        whole = all(edition.n_tuples for edition in getattr(made, "editions", ()))  # else all of one were left out
        return cls(
            n=n,
            n_at_random=n_dropped - n if how == "by lot" and whole else 0,
            n_published=made.n_tuples,
            too_frequent=n == made.n_suppressed,
        )

    @property
    def at_random_in_words(self) -> str:
        """How many people were left out at random, if there are any."""
        n, of = self.n_at_random, self.n_at_random + self.n_published
        were = "was" if n == 1 else "were"
        whom = f"{n:,} of {counted(of, 'person')} {were}"
        return f"{whom} left out at random, so that the rest can be divided evenly." if n else ""

    def for_others(self, text: str) -> str:
        """A text about everybody, which says that it holds for the people in the release, if some were left out."""
        if not self.n or not text:
            return text
        others = f"the {self.n:,} people who were left out" if self.n > 1 else "the person who was left out"
        published = counted(self.n_published, "person")
        return f"For the {published} in the release, but not for {others}: {text[:1].lower()}{text[1:]}"

    def in_words(self, value: str) -> str:
        """What an attacker may know about them, if there are any; ``value`` names the sensitive columns."""
        if not self.n:
            return ""
        who = f"The {self.n:,} people who were left out are" if self.n > 1 else "The person who was left out is"
        why = (
            f"only people with the most frequent values of {value} were left out"
            if self.too_frequent
            else f"who was left out depended on {value}"
        )
        return (
            f"{who} not protected: {why}, so an attacker who knows that somebody was left out may know the {value} of "
            "that person."
        )


NOBODY = LeftOut()
"""Of a release that leaves nobody out because of a value."""
