# SPDX-License-Identifier: Apache-2.0
"""Worlds: every table that an attacker must hold possible before looking at how the release was made.

TRANSPARENT Definition 4: any choice of the people on the list, each with any sensitive value. How many are in the
table, and how often each value occurs, can be read off most releases; worlds that disagree would be ruled out anyway,
so they are not listed.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import comb, factorial, inf, prod
from operator import gt
from typing import Any

from glasshouse import bounds
from glasshouse.errors import InputError, NotSupported
from glasshouse.plural import counted

__all__ = ["World", "Worlds", "exact_weight"]

_MOST_PEOPLE = 500  # who are gone through one by one
_MOST_STEPS = 500_000  # of a count: values tried for people; each takes a microsecond or two, and 300 bytes
_MANY_VALUES = 64  # so many values, looked through at each step, take about as long as the step itself

_Wanted = tuple[int, ...]  # how many must still get each value


@dataclass(frozen=True, slots=True)
class World:
    """One possible table: the rows (of the list of people) that are in it, and the value of each."""

    present: tuple[int, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Worlds:
    """The worlds that what is published leaves possible, counted before they are listed.

    Parameters
    ----------
    n_people
        How many people are on the list; they are the rows from 0.
    values
        The sensitive values that somebody may have. A mapping says how many have each: the published counts. Where
        more people are in the table than these (some were dropped, or values were changed), the others may have any of
        the values. Without counts everybody may.
    n
        How many people are in the table: a number, or several that are possible. By default as many as there are
        counts, or everybody if there are none.
    corrupted
        Rows whose value is known.
    absent
        Rows that are known not to be in the table.
    may
        The values that a row may have if it is in the table, where something rules others out: those of the groups
        that cover the person. A row that is not listed may have any. Worlds that are ruled out so cannot have given the
        release anyway: fewer to try.

    Examples
    --------
    >>> worlds = Worlds(n_people=3, values={"flu": 1, "ulcer": 1})
    >>> worlds.count
    6
    >>> [world.values for world in worlds if world.present == (0, 2)]
    [('flu', 'ulcer'), ('ulcer', 'flu')]
    >>> Worlds(n_people=3, values={"flu": 1, "ulcer": 1}, corrupted={0: "flu"}, absent=[1]).count
    1
    >>> Worlds(n_people=3, values=["flu", "ulcer"], n=range(4)).count  # 3 ** 3: any of these, or not in the table
    27
    >>> [world.values for world in Worlds(n_people=2, values={"flu": 1, "ulcer": 1}, may={1: ["flu"]})]
    [('ulcer', 'flu')]
    """

    n_people: int
    values: Mapping[Any, int] | Iterable[Hashable]
    n: int | Iterable[int] | None = None
    corrupted: Mapping[int, Any] | None = None
    absent: Collection[int] = ()
    may: Mapping[int, Collection[Any]] | None = None
    _ways: dict[tuple[int, int, _Wanted], int] = field(default_factory=dict, init=False, repr=False)
    _steps: list[int] = field(default_factory=lambda: [0], init=False, repr=False)

    def __post_init__(self) -> None:
        for name, row in [*(("corrupted", row) for row in self.known), *(("absent", row) for row in self.absent)]:
            if not 0 <= row < self.n_people:
                raise InputError(
                    f"{name} names row {row}, but the list has {counted(self.n_people, 'person')}, numbered from 0"
                )
        if both := sorted(set(self.known) & set(self.absent)):
            raise InputError(
                f"row {both[0]} has a value (corrupted=), which says that the person is in the table, and is also "
                "listed as absent: give only one of the two"
            )
        for size in self.sizes:
            if not sum(self.least.values()) <= size <= self.n_people:
                raise InputError(
                    f"the table cannot have {counted(size, 'person')}: "
                    f"{counted(sum(self.least.values()), 'value is', 'values are')} published, and "
                    f"{counted(self.n_people, 'person is', 'people are')} given"
                )

    @property
    def known(self) -> Mapping[int, Any]:
        """The rows whose value is known, with the value."""
        return self.corrupted or {}

    @cached_property
    def least(self) -> dict[Any, int]:
        """The least number of people who have each value."""
        if isinstance(self.values, Mapping):
            return {value: int(count) for value, count in self.values.items()}
        return dict.fromkeys(self.values, 0)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many people may be in the table."""
        if self.n is None:
            return (sum(self.least.values()) or self.n_people,)
        return (self.n,) if isinstance(self.n, int) else tuple(dict.fromkeys(self.n))

    @cached_property
    def count(self) -> int:
        """How many worlds there are, without listing them."""
        wanted = tuple(self.least.values())
        if self._is_plain:
            orders = factorial(sum(wanted)) // prod(map(factorial, wanted))
            return comb(self.n_people, sum(wanted)) * orders
        return self._counted(inf)

    def check(self, limit: int) -> None:
        """Refuse more worlds than ``limit``; counting stops there."""
        found = self.count if self._is_plain else self._counted(limit + 1)
        if found > limit:
            told = (
                f"{found:,} possible tables, and only {limit:,}"
                if self._is_plain
                else (f"more possible tables than the {limit:,} that")
            )
            raise NotSupported(
                f"the exact probabilities cannot be computed: there are {told} are allowed",
                instead="attack a table of fewer people, raise the limit (most_worlds=, in Python), or estimate by "
                "sampling (how='sampled', --how sampled)",
            )

    @property
    def _is_plain(self) -> bool:
        """Whether no value is ruled out for anybody, so that a formula gives the number of worlds."""
        return not (self.known or self.absent or self.may) and self.sizes == (sum(self.least.values()),)

    def _counted(self, enough: float) -> int:
        """How many worlds there are; where these are enough, at least so many."""
        if self.n_people > _MOST_PEOPLE:
            raise NotSupported(
                f"the exact probabilities cannot be computed for {self.n_people:,} people: {_MOST_PEOPLE:,} "
                "are allowed",
                instead="attack a table of fewer people, or estimate by sampling (how='sampled', --how sampled)",
            )
        found = 0
        for size in self.sizes:
            found += self._count(0, size, tuple(self.least.values()), enough - found)
            if found >= enough:
                break
        return found

    def __iter__(self) -> Iterator[World]:
        """List the worlds, without dead ends."""
        wanted = tuple(self.least.values())
        for size in self.sizes:
            for chosen in self._list(0, size, wanted):
                yield World(tuple(row for row, _ in chosen), tuple(value for _, value in chosen))

    def _count(self, row: int, seats: int, wanted: _Wanted, enough: float = inf) -> int:
        """In how many ways this row and those after it can take so many seats, with values wanted among them.

        It ends as soon as it has found ``enough``: only what is below that is exact, and remembered.
        """
        if not sum(wanted) <= seats <= self.n_people - row:
            return 0
        if row == self.n_people:
            return 1
        state = (row, seats, wanted)
        if (found := self._ways.get(state)) is not None:
            return found
        if any(map(gt, wanted, self._able[row])):  # too few are left who may have some value
            return 0
        self._steps[0] += (1 + len(self.choices[row])) * (1 + len(wanted) // _MANY_VALUES)
        if self._steps[0] > _MOST_STEPS:
            raise NotSupported(
                "the exact probabilities cannot be computed: there are more possible tables than can be "
                f"counted in {_MOST_STEPS:,} steps",
                instead="attack a table of fewer people, or estimate by sampling (how='sampled', --how sampled)",
            )
        found = 0 if row in self.known else self._count(row + 1, seats, wanted, enough)
        able = self._able[row]  # what is scarcest is given first: that seldom leads nowhere
        for i in sorted((i for i, _ in self.choices[row]), key=lambda i: able[i] - wanted[i]):
            if found >= enough:
                return found
            found += self._count(row + 1, seats - 1, _without(wanted, i), enough - found)
        if found < enough:
            self._ways[state] = found
        return found

    def _list(self, row: int, seats: int, wanted: _Wanted) -> Iterator[tuple[tuple[int, Any], ...]]:
        if not self._count(row, seats, wanted):
            return
        if row == self.n_people:
            yield ()
            return
        for i, value in self.choices[row]:
            for others in self._list(row + 1, seats - 1, _without(wanted, i)):
                yield ((row, value), *others)
        if row not in self.known:
            yield from self._list(row + 1, seats, wanted)

    @cached_property
    def choices(self) -> list[list[tuple[int, Any]]]:
        """The values that every row may have, by index and value."""
        places = list(enumerate(self.least))
        found = []
        for row in range(self.n_people):
            allowed = [] if row in self.absent else (self.may or {}).get(row)
            mine = [(i, value) for i, value in places if allowed is None or value in allowed]
            found.append([(i, value) for i, value in mine if row not in self.known or value == self.known[row]])
        return found

    @cached_property
    def _able(self) -> list[_Wanted]:
        """For every row, how many people from it on may have each value."""
        found = [(0,) * len(self.least)]
        for mine in reversed(self.choices):
            places = {i for i, _ in mine}
            found.append(tuple(n + (i in places) for i, n in enumerate(found[-1])))
        return found[::-1]


def _without(wanted: _Wanted, i: int) -> _Wanted:
    """The values still wanted after a person got value ``i``."""
    return (*wanted[:i], max(0, wanted[i] - 1), *wanted[i + 1 :])


def exact_weight(weight: Any) -> Fraction:
    """Read a weight of a prior; a float means its shortest decimal text.

    >>> exact_weight(0.1)
    Fraction(1, 10)
    """
    try:
        exact = bounds.exact(weight)
    except (TypeError, ValueError):
        exact = Fraction(-1)
    if exact < 0:
        raise InputError("the weights of a prior must be numbers of at least 0")
    return exact
