# SPDX-License-Identifier: Apache-2.0
"""Sets as sensitive values, by force: every world and every coin toss of tiny tables of people with several rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.grouping.mirror import halves as halving
from tests.rooms.grouping.doors import ALONE, divided
from tests.rooms.grouping.mirror_search import twin
from tests.twins import by_force, greedy
from tests.twins.member_sets import Sets, member_beliefs, member_shares, members_within

__all__ = ["SetCase", "Tally", "product", "set_cases", "slow", "try_sets", "whole_sets"]


@dataclass(frozen=True)
class SetCase:
    """A list of people, and the multiset of sets that they have: codes of these sets."""

    case: by_force.Case
    sets: Sets


def set_cases(seed: int, n: int, **given: Any) -> Iterator[SetCase]:
    """Random tables of people who have one to three of a few values."""
    for number, case in enumerate(by_force.random_cases(seed, n, **given)):
        random = Random(f"{seed}/sets/{number}")
        n_values = random.choice((3, 4, 5))
        every = [frozenset(v for v in range(n_values) if code >> v & 1) for code in range(1, 1 << n_values)]
        small = [one for one in every if len(one) <= 3]
        yield SetCase(case, random.sample(small, max(case.values) + 1))


@dataclass
class Tally:
    """What was found."""

    name: str
    n_cases: int = 0
    n_worlds: int = 0
    n_runs: int = 0
    n_divided: int = 0
    n_releases: int = 0
    n_unequal: int = 0  # releases after which some belief in a value is not the share of people who have it
    n_above: int = 0  # releases after which some value is believed above 1/l

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.n_cases} tables, {self.n_worlds} worlds, {self.n_runs} runs ({self.n_divided} "
            f"divided), {self.n_releases} releases; {self.n_unequal} with a belief in a value that is not the share of "
            f"those who have it, {self.n_above} with one above 1/l"
        )


Make = Callable[[SetCase], by_force.Method]


def try_sets(name: str, make: Make, cases: Iterable[SetCase], *, until_above: bool = False) -> Tally:
    """Compare what is believed of everybody's having a value, after every release, with what the groups show."""
    found = Tally(name)
    for one in cases:
        evidence = by_force.evidence_of(make(one), one.case.codes, by_force.worlds_of(one.case))
        found.n_cases += 1
        found.n_worlds += evidence.n_worlds
        found.n_runs += evidence.n_runs
        found.n_divided += evidence.n_divided
        for release, weights in evidence.releases.items():
            shares = {
                (person, value): share
                for group, codes in release
                for value, share in member_shares([one.sets[code] for code in codes]).items()
                for person in group
            }
            believed = member_beliefs(by_force.beliefs_after(weights), one.sets)
            found.n_releases += 1
            found.n_unequal += believed != shares
            found.n_above += any(belief * one.case.ell > 1 for belief in believed.values())
        if until_above and found.n_above:
            break
    by_force.say(found)
    return found


def slow(one: SetCase, **options: Any) -> by_force.Method:
    """The twin of Mirror, where what is asked is asked of single values."""
    holds = members_within(Fraction(1, one.case.ell), one.sets)
    return twin(one.case, ell=None, holds=lambda _: holds, **options)


def whole_sets(one: SetCase, **options: Any) -> by_force.Method:
    """The same with a fault: two sets that are not the same count as different, whatever they share."""
    return twin(one.case, ell=None, holds=lambda _: greedy.frequency_diverse(one.case.ell), **options)


def product(one: SetCase, principle: Any = None, **options: Any) -> by_force.Method:
    """Mirror of the product, on a table with a row for every value that a person has, and for some of them two."""
    method = gh.Mirror(**{"floor": 1, **options})
    principle = principle or gh.LDiversity(ell=one.case.ell)

    @cache
    def read(codes: Any, sensitive: tuple[int, ...]) -> gh.Microdata:
        rows: list[tuple[Any, ...]] = []
        for person, (place, code) in enumerate(zip(codes, sensitive, strict=True)):
            at = [one.case.positions[dim][c] for dim, c in enumerate(place)]
            rows += [(person, *at, f"s{value}") for value in sorted(one.sets[code], reverse=person % 2 == 0)]
            rows += rows[-1:] * (person % 3 == 0)  # the same row once more, which changes nothing
        names = ["id", *(f"q{dim}" for dim in range(len(codes[0]))), "s"]
        table = {name: [row[i] for row in rows] for i, name in enumerate(names)}
        return gh.read(table, identifier="id", repeated="together", quasi=names[1:-1], sensitive="s")

    def run(codes: by_force.Codes, sensitive: Sequence[int], draws: Any) -> by_force.Groups:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(halving, "ATTEMPTS", 1)
            try:
                return divided(method, principle, read(tuple(codes), tuple(sensitive)), draws, ALONE)
            except gh.Infeasible:
                return set()

    return run
