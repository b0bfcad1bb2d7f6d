# SPDX-License-Identifier: Apache-2.0
"""Linkability: two records of a person, with different columns, are put together through a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from glasshouse.adversary.matching import Kinds, match
from glasshouse.adversary.posterior import entries_of
from glasshouse.adversary.risks.predicates import places_of, projected
from glasshouse.adversary.risks.risk import Rate
from glasshouse.adversary.risks.risk_attack import RiskAttack
from glasshouse.errors import InputError, NotSupported, SchemaError
from glasshouse.principles.parameters import integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.adversary.risks.risk_attack import Scene
    from glasshouse.microdata import Microdata
    from glasshouse.randomness import Draws, Source
    from glasshouse.release.contents import Seats

__all__ = ["Linkability"]

_EQUAL = 1e-9  # scores that differ by less, relative to the largest, are equal


@dataclass(frozen=True, kw_only=True, slots=True)
class Linkability(RiskAttack):
    """Count how often the record of a person on one list is found on another, which has other columns.

    Parameters
    ----------
    first, second
        The quasi-identifiers on each of the two lists; together, at most once each. By default the first half of those
        of the release, and the rest.
    trials
        How many people are looked for; drawn at random, if there are more.
    control
        People who are not in the release, read as the table was. Their two lists are put together in the same way.
    source
        Where random choices come from; the operating system's secure source by default.

    Notes
    -----
    ``Knowledge(external=)`` is the table that was published: this is a measurement by the publisher. Both lists contain
    everybody, and no column is on both lists. A person's record on the first list fits some published rows. Each of
    these is divided equally among the records of the second list that fit it, and the record with the largest share is
    the guess. Of several that are equal one is taken at random, and the expected number of successes is counted. Where
    nothing fits, any record may be the one.

    *Naive guess*: any record of the second list.

    Examples
    --------
    >>> import glasshouse as gh
    >>> rows = {"age": [21, 23, 60, 64], "zip": [1, 2, 8, 9], "ill": ["a", "b", "a", "b"]}
    >>> table = gh.read(rows, quasi=["age", "zip"], sensitive="ill")
    >>> release = gh.publish(table, principle=gh.KAnonymity(k=2))
    >>> found = gh.attack(release, gh.Linkability(), knowledge=gh.Knowledge(external=table))
    >>> found.success, found.baseline
    (Rate(successes=2.0, trials=4, is_known=False), Rate(successes=1.0, trials=4, is_known=True))
    """

    name: ClassVar[str] = "linkability"
    question: ClassVar[str] = (
        "how often does an attacker with two lists of different columns find out which two records belong to the "
        "same person?"
    )

    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    trials: int = 10_000
    control: Microdata | None = None
    source: Source | None = None

    def __post_init__(self) -> None:
        integer("Linkability", "trials", self.trials, least=1)
        for name in ("first", "second"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        both = (*self.first, *self.second)
        if bool(self.first) != bool(self.second):
            raise InputError("Linkability: name the columns of both lists, with first and second, or leave out both")
        if len(set(both)) < len(both):
            twice = next(name for name in both if both.count(name) > 1)
            raise InputError(
                f"Linkability: column {twice!r} is named twice: a column may be on only one of the two lists"
            )

    def success(self, scene: Scene, people: Microdata, draws: Draws) -> Rate:
        """Count the people whose records are found on the second list."""
        first, second, seats = self._columns(scene)
        n_people = people.n_tuples
        places = places_of(projected(seats, (*first, *second)))
        targets = np.arange(n_people) if n_people <= self.trials else np.sort(draws.choose(n_people, self.trials))
        known = _Fits.of(people, projected(places, first))
        sought = _Fits.of(people, projected(places, second)).inverted(len(places))
        n_fitting = np.zeros(len(places))
        np.add.at(n_fitting, sought.place_of_entry, sought.kinds.n_alike[sought.entries])
        share = places.count / np.maximum(n_fitting, 1)
        right = 0.0
        for kind in np.unique(known.kinds.of_person[targets]).tolist():
            whose = targets[known.kinds.of_person[targets] == kind]
            at = known.entries[known.offsets[kind] : known.offsets[kind + 1]]
            of_place, entry = entries_of(sought.offsets, at)
            score = np.bincount(sought.entries[entry], weights=share[at[of_place]], minlength=sought.kinds.n_kinds)
            best = score >= score.max() * (1 - _EQUAL)  # where nothing fits, all records are equal
            hits = np.count_nonzero(best[sought.kinds.of_person[whose]])
            right += hits / int(sought.kinds.n_alike[best].sum())
        return Rate(float(right), len(targets))

    def baseline(self, scene: Scene, people: Microdata, draws: Draws) -> Rate:
        """The rate of a random record of the second list."""
        n = min(people.n_tuples, self.trials)
        return Rate(n / people.n_tuples, n, is_known=True)

    def notes(self, scene: Scene) -> list[str]:
        """Say which columns are on which list."""
        first, second, _ = self._columns(scene)
        return [f"one list has {', '.join(first)}; the other has {', '.join(second)}"]

    def _columns(self, scene: Scene) -> tuple[tuple[str, ...], tuple[str, ...], Seats]:
        """The columns of both lists, and a table of the release that has all of them."""
        largest = scene.contents.widest
        first, second = self.first, self.second
        if not first:
            middle = (len(largest.quasi) + 1) // 2
            first, second = largest.quasi[:middle], largest.quasi[middle:]
        if not second:
            raise NotSupported(
                "linkability needs two quasi-identifiers or more, one for each list, and the release has only one",
                instead="use singling-out or inference",
            )
        known = scene.release.recipe.quasi
        for name in (*first, *second):
            if name not in known:
                raise SchemaError.unknown(name, known, role="a quasi-identifier of the release")
        for seats in scene.contents.seats:
            if {*first, *second} <= set(seats.quasi):
                return first, second, seats
        raise NotSupported(
            f"the release has no table that contains both {', '.join(first)} and {', '.join(second)}",
            instead="name columns that are published in the same table (first=, second=; --first, --second)",
        )


class _Fits(NamedTuple):
    """Kinds of people and places that fit each other: the places of every kind, or, inverted, the kinds of places."""

    kinds: Kinds
    offsets: NDArray[np.int64]
    entries: NDArray[np.int64]

    @classmethod
    def of(cls, people: Microdata, places: Seats) -> _Fits:
        kinds = Kinds.of(people, places.quasi)
        matches = match(people, kinds.examples, places)
        return cls(kinds, matches.offsets, matches.seats.astype(np.int64))

    def inverted(self, n_places: int) -> _Fits:
        kind = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        order = np.argsort(self.entries, kind="stable")
        offsets = np.searchsorted(self.entries[order], np.arange(n_places + 1))
        return _Fits(self.kinds, offsets.astype(np.int64), kind[order])

    @property
    def place_of_entry(self) -> NDArray[np.int64]:
        """The place of every entry, if the fits are inverted."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
