# SPDX-License-Identifier: Apache-2.0
"""Fitting: who may sit on which seats of a release, and what she knows of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.knowledge import ABSENT
from glasshouse.adversary.matching import match
from glasshouse.errors import InputError
from glasshouse.microdata.domains import text_of
from glasshouse.microdata.groups import alike

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.adversary.matching import Matches
    from glasshouse.published import Published, Seats
    from glasshouse.release import Release

__all__ = ["DROPPED", "GONE", "UNKNOWN", "Fitting", "contradiction", "key_of"]

UNKNOWN, GONE, DROPPED = -1, -2, -3
"""What is known of a person, where it is not a published value: nothing, not in the table, in the table but dropped."""


@dataclass(frozen=True, eq=False)
class Fitting:
    """One table of seats, and what she knows of the people who fit them.

    Attributes
    ----------
    kind, n_alike
        For every person the number of their kind, people with equal quasi-identifiers; how many each kind has.
    known
        For every person the code of the value that she knows, `UNKNOWN`, `GONE` or `DROPPED`.
    notes
        What was assumed.
    """

    release: Release
    knowledge: Knowledge
    published: Published
    seats: Seats
    matches: Matches
    kind: NDArray[np.int64]
    n_alike: NDArray[np.int64]
    known: NDArray[np.int64]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, release: Release, knowledge: Knowledge, published: Published, seats: Seats) -> Fitting:
        """Match everybody on her list."""
        people = knowledge.external
        kinds = alike([people.column(name) for name in release.recipe.quasi])
        examples = np.empty(kinds.n_groups, np.int64)
        examples[kinds.labels[::-1]] = np.arange(people.n_tuples)[::-1]
        matches = match(people, examples, seats)
        kind = kinds.labels.astype(np.int64)
        known, notes = _known(release, knowledge, published, np.diff(matches.offsets)[kind] > 0)
        if len(published.seats) > 1:
            notes.append(f"each of {len(published.seats)} generalized tables by itself; the most telling is shown")
        return cls(release, knowledge, published, seats, matches, kind, kinds.sizes, known, tuple(notes))

    # --- who fits where ---------------------------------------------------------------------------------------------

    @cached_property
    def of_match(self) -> NDArray[np.int64]:
        """The kind of people of every match."""
        return np.repeat(np.arange(len(self.n_alike)), np.diff(self.matches.offsets))

    @cached_property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every kind of people once with each place that they fit."""
        place = self.seats.place[self.matches.seats]
        first = np.unique(self.of_match * (len(self.seats) + 1) + place, return_index=True)[1]
        return self.of_match[first], place[first]

    @cached_property
    def overlap(self) -> bool:
        """Whether somebody fits two places."""
        return len(self.pairs[0]) > len(np.unique(self.pairs[0]))

    @cached_property
    def unknown(self) -> NDArray[np.int64]:
        """People of whom she knows nothing, of each kind."""
        return np.bincount(self.kind[self.known == UNKNOWN], minlength=len(self.n_alike)).astype(np.int64)

    @cached_property
    def of_value(self) -> dict[tuple[int, int], int]:
        """How many corrupted people in the table there are, by kind and value."""
        inside = self.known >= 0
        return dict(Counter(zip(self.kind[inside].tolist(), self.known[inside].tolist(), strict=True)))

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """Group and value of every entry of the histograms, as one ascending number."""
        group = np.repeat(np.arange(self.published.n_groups), np.diff(self.published.offsets))
        return group * len(self.published.values) + self.published.codes

    def entry(self, group: int, code: int) -> int:
        """The place of a value in the histogram of a group, -1 if the group lacks it."""
        key = group * len(self.published.values) + code
        at = int(np.searchsorted(self.keys, key))
        return at if at < len(self.keys) and self.keys[at] == key else -1

    @cached_property
    def _by_group(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = np.argsort(self.seats.group, kind="stable")
        return order, np.searchsorted(self.seats.group[order], np.arange(self.published.n_groups + 1))

    def seats_in(self, group: int) -> NDArray[np.int64]:
        """The seats of a group, ascending."""
        order, starts = self._by_group
        return order[starts[group] : starts[group + 1]]

    def seats_of(self, kind: int) -> list[int]:
        """The seats that cover a kind of people."""
        return list(map(int, self.matches.seats[self.matches.offsets[kind] : self.matches.offsets[kind + 1]]))

    def options(self, kind: int, code: int) -> list[tuple[int, int]]:
        """Where somebody of a kind who has a value may be: seats, with the entries of the value in their groups."""
        found = ((seat, self.entry(int(self.seats.group[seat]), code)) for seat in self.seats_of(kind))
        return [(seat, entry) for seat, entry in found if entry >= 0]

    @cached_property
    def inside(self) -> NDArray[np.int64]:
        """Corrupted people in the table, of each kind."""
        return np.bincount(self.kind[self.known >= 0], minlength=len(self.n_alike)).astype(np.int64)

    def corrupted(self) -> list[tuple[int, int, int]]:
        """Kind, value and number of the corrupted people who are in the table."""
        return [(kind, code, n) for (kind, code), n in self.of_value.items()]


def _known(
    release: Release, knowledge: Knowledge, published: Published, fits: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], list[str]]:
    """What she knows of every person."""
    place = {key_of(value): i for i, value in enumerate(published.values)}
    known = np.full(knowledge.external.n_tuples, UNKNOWN, np.int64)
    unpublished = 0
    for row, value in zip(knowledge.corrupted_rows().tolist(), knowledge.corrupted.values(), strict=True):
        if value is ABSENT:
            known[row] = GONE
        elif fits[row] and key_of(value) in place:
            known[row] = place[key_of(value)]
        elif release.n_dropped:
            known[row] = DROPPED
            unpublished += 1
        else:
            raise contradiction()
    if release.n_dropped and (known >= 0).any():
        said = f"; {unpublished:,} of them fit nothing" if unpublished else ""
        return known, [f"tuples were dropped: corrupted people who fit are taken to be published{said}"]
    return known, []


def key_of(value: Any) -> str:
    """The text by which values are compared; a missing one has its own."""
    return "\0" if value is None else text_of(value)


def contradiction() -> InputError:
    """What she knows cannot be."""
    return InputError(
        "what she knows of corrupted people does not agree with the release: no group that they fit has room for their "
        "values; use ABSENT for people who are not in the table"
    )
