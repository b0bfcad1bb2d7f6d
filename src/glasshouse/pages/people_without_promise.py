# SPDX-License-Identifier: Apache-2.0
"""Texts about people who were left out of a release.

The guarantee does not apply to those who were left out because of their values. About everybody else it is against an
attacker who knows that the person is in the release. It applies to those who were left out at random, so that the rest
can be divided evenly.
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
    "For people who are known to be among the 20 in the release, and not among the 3 who were left out: nobody's \
disease can be inferred."
    >>> print(some.in_words("disease"))
    The 3 people who were left out are not protected: only people with the most frequent values of disease were left \
out, so an attacker who knows that somebody was left out may know the disease of that person. An attacker who does not \
know whether somebody was left out can be more certain about the disease of this person than is guaranteed, also if \
the person is in the release.
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
        # of an edition that could not be published all were left out, because of their values
        n_closed = sum(edition.n_dropped for edition in getattr(made, "editions", ()) if edition.is_closed)
        n = n_dropped if how == "by values" else made.n_suppressed + n_closed
        return cls(
            n=n,
            n_at_random=n_dropped - n if how == "by lot" else 0,
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
        """A text about everybody, which says for whom it holds, if some were left out: who is known to be published."""
        if not self.n or not text:
            return text
        others = f"among the {self.n:,} who were left out" if self.n > 1 else "the person who was left out"
        known = f"known to be among the {self.n_published:,} in the release, and not {others}"
        return f"For people who are {known}: {text[:1].lower()}{text[1:]}"

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
            "that person. An attacker who does not know whether somebody was left out can be more certain about the "
            f"{value} of this person than is guaranteed, also if the person is in the release."
        )


NOBODY = LeftOut()
"""Of a release that leaves nobody out because of a value."""
