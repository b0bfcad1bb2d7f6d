# SPDX-License-Identifier: Apache-2.0
"""Mirror by force: every world and every coin toss of tiny tables, for the small tier and for ``make prove``.

Where leaves are groups, Theorem M1 says more than a bound: a belief *is* the published share. Refined leaves are
bounded by 1/l (Theorem M2); those of odd l need twelve people, so for them the worlds are those with the published
groups, each with the exact chance that it has to give these (`tests.twins.mirror.chance`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.grouping.mirror import halves as halving
from glasshouse.grouping.mirror.mirror import balanced_segments
from glasshouse.principles.principle import Principle
from tests.rooms.grouping.doors import ALONE, divided, forced
from tests.twins import by_force, greedy, mirror, principles

__all__ = [
    "COLUMNS",
    "CROSSED",
    "FAULTS",
    "PRINCIPLES",
    "ROW",
    "EvenlyMany",
    "Leaf",
    "Shares",
    "failed_leaves",
    "product",
    "try_failed_leaves",
    "try_shares",
    "twin",
    "two_columns",
]


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class EvenlyMany(Principle):
    """A rule that no principle of the catalogue resembles: an even number of different values. It is not monotone."""

    name = "evenly-many"
    monotone = False

    @property
    def title(self) -> str:
        return "an even number of values"

    def describe(self, column: str | None = None) -> str:
        return f"every group has an even number of values of {column}"

    def holds(self, counts: Any) -> Any:
        return (counts.distinct % 2 == 0) & (counts.sizes > 0)

    def _infeasible(self, whole: Any, column: Any, domain: Any) -> gh.Infeasible:
        return gh.Infeasible(f"{self.title} is out of reach", principle=self, count=1, of=1)


# six people in a row, and eight of whom the second attribute falls as the first rises
ROW = by_force.Case(tuple((i,) for i in range(6)), (tuple(range(6)),), (0, 0, 1, 1, 2, 2), 2)
CROSSED = by_force.Case(
    tuple((i, (3 * i) % 8) for i in range(8)), (tuple(range(8)), tuple(range(8))), (0, 0, 0, 1, 1, 2, 2, 3), 2
)

Holds = Callable[[list[int]], bool]


def _by_histogram(judge: Callable[..., bool], *parameters: Any) -> Callable[[Sequence[int]], Holds]:
    return lambda table: lambda codes: bool(judge(list(Counter(codes).values()), *parameters))


# by name: the principle, and for the sensitive codes of a table the predicate on those of a group
PRINCIPLES: dict[str, tuple[Principle, Callable[[Sequence[int]], Holds]]] = {
    "l-diversity": (gh.LDiversity(ell=2), lambda table: greedy.frequency_diverse(2)),
    "t-closeness": (gh.TCloseness(t="1/3"), lambda table: greedy.close(table, Fraction(1, 3))),
    "entropy": (gh.EntropyLDiversity(ell=2), _by_histogram(principles.entropy_l_diversity, 2)),
    "recursive": (
        gh.RecursiveLDiversity(c="3/2", ell=2),
        _by_histogram(principles.recursive_l_diversity, Fraction(3, 2), 2),
    ),
    "distinct": (gh.DistinctLDiversity(ell=2), _by_histogram(principles.distinct_l_diversity, 2)),
    "designated": (
        gh.DesignatedLDiversity(ell=2, values=("s00000",)),
        lambda table: greedy.binary_diverse(2, positive=0),
    ),
    "both": (
        gh.AllOf(principles=(gh.KAnonymity(k=2), gh.DistinctLDiversity(ell=2))),
        lambda table: lambda codes: len(codes) >= 2 and len(set(codes)) >= 2,
    ),
    "not monotone": (EvenlyMany(), lambda table: lambda codes: len(codes) > 0 and len(set(codes)) % 2 == 0),
}


# two sensitive columns: a code stands for a vector of their values, and a world gives vectors to people
VECTORS = ((0, 0), (0, 1), (1, 2), (2, 0))


def _each_column(*judges: Callable[[Sequence[int]], Holds]) -> Callable[[Sequence[int]], Holds]:
    """The predicate on the vectors of a group that asks one of each column."""

    def on_table(table: Sequence[int]) -> Holds:
        own = [judge([VECTORS[code][c] for code in table]) for c, judge in enumerate(judges)]
        return lambda codes: all(holds([VECTORS[code][c] for code in codes]) for c, holds in enumerate(own))

    return on_table


# by name: what is asked of each column, and for the vectors of a table the predicate on those of a group
COLUMNS: dict[str, tuple[dict[str, Principle], Callable[[Sequence[int]], Holds]]] = {
    "l-diversity of two columns": (
        {"s": gh.LDiversity(ell=2), "r": gh.LDiversity(ell=2)},
        _each_column(PRINCIPLES["l-diversity"][1], PRINCIPLES["l-diversity"][1]),
    ),
    "distinct values of one column, t-closeness of the other": (
        {"s": gh.DistinctLDiversity(ell=2), "r": gh.TCloseness(t="1/3")},
        _each_column(PRINCIPLES["distinct"][1], PRINCIPLES["t-closeness"][1]),
    ),
    "a rule that is not monotone beside entropy": (
        {"s": EvenlyMany(), "r": gh.EntropyLDiversity(ell=2)},
        _each_column(PRINCIPLES["not monotone"][1], PRINCIPLES["entropy"][1]),
    ),
}


def _first(rows: list[int], times: int, draws: Any) -> list[int]:
    return list(rows[:times])


# what must be found out: twins that break one of the conditions
FAULTS: dict[str, dict[str, Any]] = {
    "halves that differ by one": {"even": False, "ell": None},
    "a second dimension after a failure": {"retries": True, "ell": None},
    "groups that are not balanced": {"balance": False, "inner": "anatomize"},
    "dealing by row order": {"deal": _first},
    "slack that is judged of a half": {"by_half": True, "slack": Fraction(4, 3), "inner": "anatomize"},
}


def twin(case: by_force.Case, **given: Any) -> by_force.Method:
    """The slow twin on the people of a case; l-diversity, refined, unless something else is given."""
    holds = given.pop("holds", None) or (lambda table: greedy.frequency_diverse(case.ell))
    options: dict[str, Any] = {"floor": 1, "ell": case.ell, **given}

    def run(codes: by_force.Codes, sensitive: Sequence[int], draws: Any) -> by_force.Groups:
        rows = by_force.rows_of(codes, sensitive)
        return mirror.Mirror(rows=rows, positions=case.positions, holds=holds(sensitive), **options).groups(draws)

    return run


def product(case: by_force.Case, principle: Principle | None = None, **options: Any) -> by_force.Method:
    """The product on the people of a case; it draws each remainder once only, so that all draws can be tried.

    Nodes are tested whatever their slack, unless it is given: so few people leave little.
    """
    method = gh.Mirror(**{"slack": 1, "start": 1, **options})
    run = forced(method, lambda: principle or gh.LDiversity(ell=case.ell), case.positions)

    def once(codes: by_force.Codes, sensitive: Sequence[int], draws: Any) -> by_force.Groups:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(halving, "ATTEMPTS", 1)
            return run(codes, sensitive, draws)

    return once


def two_columns(
    case: by_force.Case, principles: dict[str, Principle], method: Any = None, **options: Any
) -> by_force.Method:
    """A method of the product, Mirror by default, on people with a vector of two sensitive values each."""
    method = method or gh.Mirror(**{"slack": 1, "start": 1, **options})

    @cache
    def read(codes: Any, sensitive: tuple[int, ...]) -> gh.Microdata:
        dims = range(len(codes[0]))
        quasi = {f"q{dim}": [case.positions[dim][row[dim]] for row in codes] for dim in dims}
        columns = {name: [f"{name}{VECTORS[code][c]}" for code in sensitive] for c, name in enumerate(principles)}
        table = {"id": list(range(len(codes))), **quasi, **columns}
        return gh.read(table, identifier="id", quasi=list(quasi), sensitive=list(principles))

    def run(codes: by_force.Codes, sensitive: Sequence[int], draws: Any) -> by_force.Groups:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(halving, "ATTEMPTS", 1)
            try:
                return divided(method, principles, read(tuple(codes), tuple(sensitive)), draws, ALONE)
            except gh.Infeasible:
                return set()

    return run


# --- leaves as groups: beliefs are shares ----------------------------------------------------------------------------


@dataclass
class Shares:
    """What was found where leaves are groups."""

    name: str
    n_cases: int = 0
    n_worlds: int = 0
    n_runs: int = 0
    n_divided: int = 0
    n_releases: int = 0
    n_unequal: int = 0  # releases after which some belief is not the published share

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.n_cases} tables, {self.n_worlds} worlds, {self.n_runs} runs "
            f"({self.n_divided} divided), {self.n_releases} releases; {self.n_unequal} with a belief that is not the "
            "published share"
        )


def try_shares(
    name: str,
    make: Callable[[by_force.Case], by_force.Method],
    cases: Iterable[by_force.Case],
    *,
    until_unequal: bool = False,
) -> Shares:
    """Compare every belief after every release with the share of the value in the person's group."""
    found = Shares(name)
    for case in cases:
        evidence = by_force.evidence_of(make(case), case.codes, by_force.worlds_of(case))
        found.n_cases += 1
        found.n_worlds += evidence.n_worlds
        found.n_runs += evidence.n_runs
        found.n_divided += evidence.n_divided
        for release, weights in evidence.releases.items():
            shares = {
                (person, value): Fraction(values.count(value), len(values))
                for group, values in release
                for person in group
                for value in values
            }
            found.n_releases += 1
            found.n_unequal += by_force.beliefs_after(weights) != shares
        if until_unequal and found.n_unequal:
            break
    by_force.say(found)
    return found


# --- failed leaves of any size ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Leaf:
    """A leaf whose halving failed: the first half of the people are one half, the others the other."""

    values: list[int]
    ell: int

    @property
    def halves(self) -> tuple[range, range]:
        n = len(self.values)
        return range(n // 2), range(n // 2, n)

    def refined(self, source: Any) -> Any:
        """The groups of the product."""
        codes, whole = np.array(self.values, np.int32), np.array([0, len(self.values)])
        labels = balanced_segments(codes, whole, max(self.values) + 1, self.ell, source).tolist()
        return {frozenset(i for i, label in enumerate(labels) if label == group) for group in set(labels)}

    def worst(self, groups: Any, *, fair: bool = True) -> Fraction:
        """The highest belief after these groups, as a multiple of 1/l."""
        holds = greedy.frequency_diverse(self.ell)
        beliefs = mirror.beliefs_after_failure(self.values, self.halves, groups, self.ell, holds, fair=fair)
        return max(beliefs.values()) * self.ell


def failed_leaves(seed: int, n_leaves: int, shapes: Sequence[tuple[int, int]]) -> Iterable[Leaf]:
    """Random leaves that are l-diverse while a half is not: l, and how many groups there are, from ``shapes``."""
    random = Random(seed)
    while n_leaves:
        ell, n_groups = random.choice(shapes)
        n_values = random.choice((ell, ell + 1, ell + 2, 2 * ell))
        values = [random.randrange(n_values) for _ in range(n_groups * mirror.group_size(ell))]
        leaf, holds = Leaf(values, ell), greedy.frequency_diverse(ell)
        if holds(values) and not all(holds([values[i] for i in half]) for half in leaf.halves):
            n_leaves -= 1
            yield leaf


def try_failed_leaves(name: str, leaves: Iterable[Leaf], source: Any, *, fair: bool = True) -> Fraction:
    """The highest belief after failed leaves, as a multiple of 1/l; the release is one that the product gives."""
    worst, n_leaves = Fraction(0), 0
    for number, leaf in enumerate(leaves):
        worst = max(worst, leaf.worst(leaf.refined(source.child(number)), fair=fair))
        n_leaves += 1
    by_force.say(f"{name}: {n_leaves} failed leaves, worst belief {worst} of 1/l")
    return worst
