# SPDX-License-Identifier: Apache-2.0
"""Editions by force: a table that is published again and again, run on every world and every coin toss.

A *history* is what becomes public over the years, as a function of everybody's values and of coin tosses: a tuple with
an entry for each year. `editions` is the rule of Theorem E1: each year those who came are divided alone. The other
histories break one of its conditions each, as the traps of the documentation do (docs/editions.md).

A world gives everybody a value. A prior has a weight for each person and value, people independent: the chance of a
world is the product of its weights. What is published of a group is who is in it, and the multiset of its values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from math import prod
from typing import Any

from tests.twins import by_force, enumerating

__all__ = [
    "History",
    "Prior",
    "after_changes",
    "anew",
    "beliefs",
    "editions",
    "of_one_year",
    "peeking",
    "trimmed_come_back",
    "waiting",
    "without_leavers",
    "worst",
]

World = tuple[int, ...]
Prior = Sequence[Sequence[int]]  # by person and value
History = Callable[[World, Any], Hashable]
Beliefs = dict[tuple[int, int], Fraction]
Years = Sequence[Sequence[int]]  # for every year the people who came in it
Published = frozenset[tuple[frozenset[int], World]]


def beliefs(history: History, prior: Prior) -> dict[Hashable, Beliefs]:
    """For everything that can become public, what is believed of everybody then."""
    joint: dict[Hashable, dict[World, Fraction]] = {}
    able = [[value for value, weight in enumerate(weights) if weight] for weights in prior]
    for world in product(*able):
        chance = prod((Fraction(prior[person][value]) for person, value in enumerate(world)), start=Fraction(1))
        for share, public in enumerating.enumerate_runs(partial(history, world)):
            seen = joint.setdefault(public, {})
            seen[world] = seen.get(world, Fraction(0)) + chance * share
    return {public: _after(seen) for public, seen in joint.items()}


def _after(seen: dict[World, Fraction]) -> Beliefs:
    total, found = sum(seen.values()), {}
    for world, weight in seen.items():
        for event in enumerate(world):
            found[event] = found.get(event, Fraction(0)) + weight / total
    return found


def worst(history: History, prior: Prior, *, people: Collection[int] | None = None) -> Fraction:
    """The largest belief about any of some people, whatever becomes public; all people if none are named."""
    return max(
        belief
        for found in beliefs(history, prior).values()
        for (person, _), belief in found.items()
        if people is None or person in people
    )


def _published(method: by_force.Method, codes: by_force.Codes, people: Sequence[int], world: World, draws: Any) -> Any:
    """The groups of some people, divided as a table of their own; None if they cannot be."""
    own = [codes[person] for person in people]
    groups = [frozenset(people[i] for i in group) for group in method(own, [world[p] for p in people], draws)]
    return frozenset((group, _multiset(group, world)) for group in groups) or None


def _multiset(group: Iterable[int], world: World) -> World:
    return tuple(sorted(world[person] for person in group))


# --- histories -------------------------------------------------------------------------------------------------------


def editions(method: by_force.Method, codes: by_force.Codes, years: Years) -> History:
    """Theorem E1: each year those who came are divided alone; if they cannot be, they stay out for good."""
    return lambda world, draws: tuple(_published(method, codes, came, world, draws) for came in years)


def of_one_year(method: by_force.Method, codes: by_force.Codes, came: Sequence[int]) -> History:
    """The edition of one year, as if there were no other."""
    return lambda world, draws: _published(method, codes, came, world, draws)


def anew(method: by_force.Method, codes: by_force.Codes, years: Years) -> History:
    """A fault: everybody who is there is divided anew every year."""

    def run(world: World, draws: Any) -> Hashable:
        there: list[int] = []
        found = []
        for came in years:
            there += came
            found.append(_published(method, codes, list(there), world, draws))
        return tuple(found)

    return run


def waiting(method: by_force.Method, codes: by_force.Codes, years: Years) -> History:
    """A fault: people who cannot be published wait for those who come later."""

    def run(world: World, draws: Any) -> Hashable:
        left: list[int] = []
        found = []
        for came in years:
            left += came
            found.append(_published(method, codes, list(left), world, draws))
            left = left if found[-1] is None else []
        return tuple(found)

    return run


def peeking(method: by_force.Method, codes: by_force.Codes, years: Years) -> History:
    """A fault: in which order people are divided depends on a value of the first year."""

    def run(world: World, draws: Any) -> Hashable:
        found = [_published(method, codes, years[0], world, draws)]
        for came in years[1:]:
            order = list(came) if world[years[0][0]] else list(reversed(came))
            groups = method([codes[p] for p in order], [world[p] for p in order], _First(draws))
            members = [frozenset(order[i] for i in group) for group in groups]
            found.append(frozenset((group, _multiset(group, world)) for group in members) or None)
        return tuple(found)

    return run


class _First:
    """Draws of which each is the first that there is, so that the order of people decides."""

    def __init__(self, draws: Any) -> None:
        self._draws = draws

    def below(self, n: int) -> int:
        return 0


def trimmed_come_back(method: by_force.Method, codes: by_force.Codes, years: Years, ell: int) -> History:
    """A fault: people who were trimmed, so that the others could be published, are candidates again next year."""

    def run(world: World, draws: Any) -> Hashable:
        back: list[int] = []
        found = []
        for came in years:
            people, back = _trimmed([*back, *came], world, ell, draws)
            found.append(_published(method, codes, people, world, draws))
        return tuple(found)

    return run


def _trimmed(people: list[int], world: World, ell: int, draws: Any) -> tuple[list[int], list[int]]:
    """Take people with the most frequent value away, one at random after the other, until the others can be divided."""
    kept, away = list(people), []
    while kept:
        value, count = max(Counter(world[p] for p in kept).items(), key=lambda item: (item[1], -item[0]))
        if count * ell <= len(kept):
            break
        able = [person for person in kept if world[person] == value]
        away.append(able[draws.below(len(able))])
        kept.remove(away[-1])
    return kept, away


def without_leavers(
    method: by_force.Method, codes: by_force.Codes, came: Sequence[int], left: Sequence[int]
) -> History:
    """A fault: the values of people who left are taken out of the counts of their groups."""

    def run(world: World, draws: Any) -> Hashable:
        first = _published(method, codes, came, world, draws)
        if first is None:
            return None
        later = frozenset((group - set(left), _multiset(group - set(left), world)) for group, _ in first)
        return first, later

    return run


# --- changed values --------------------------------------------------------------------------------------------------


def after_changes(
    groups: Sequence[tuple[Sequence[str], Sequence[str]]], changed: Collection[str]
) -> dict[Any, Fraction]:
    """What is believed if the groups of two releases are published, and some people changed their value in between.

    A group has people and values. A person who is in two groups has a value in each; they differ if the person changed,
    and are equal if not. Beliefs are by the number of the group, the person and the value.
    """
    total, found = 0, Counter[Any]()
    for worlds in product(*(_seatings(people, values) for people, values in groups)):
        values: dict[str, list[str]] = {}
        for world in worlds:
            for person, value in world.items():
                values.setdefault(person, []).append(value)
        twice = {person: own for person, own in values.items() if len(own) == 2}
        if all((own[0] != own[1]) == (person in changed) for person, own in twice.items()):
            total += 1
            found.update((i, person, value) for i, world in enumerate(worlds) for person, value in world.items())
    return {event: Fraction(count, total) for event, count in found.items()}


def _seatings(people: Sequence[str], values: Sequence[str]) -> Iterator[dict[str, str]]:
    for order in sorted(set(permutations(values))):
        yield dict(zip(people, order, strict=True))
