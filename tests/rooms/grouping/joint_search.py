# SPDX-License-Identifier: Apache-2.0
"""Theorem J1 by force: every world and every coin of tiny tables with several sensitive columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

import glasshouse as gh
from glasshouse.grouping.suppression import keep_by_lot
from glasshouse.microdata.kinds import kinds_of
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.doors import ALONE
from tests.tables import partition
from tests.twins import by_force, enumerating, joint

__all__ = ["SEVEN", "Found", "Table", "product", "random_tables", "read", "try_known_columns", "twin"]


@dataclass(frozen=True)
class Table:
    """People, none of whom are alike, with several sensitive columns."""

    codes: tuple[tuple[int, ...], ...]
    columns: joint.Columns
    ells: tuple[int, ...]

    @property
    def positions(self) -> list[range]:
        return [range(len(self.codes))] * len(self.codes[0])


# the counterexample: seven people along a line, of whom the first column is known
SEVEN = Table(tuple((x,) for x in (0, 1, 3, 5, 4, 2, 6)), ((0, 1, 1, 1, 2, 2, 3), (0, 0, 1, 1, 2, 2, 2)), (2, 2))


def random_tables(
    seed: int, n_tables: int, *, people: Sequence[int], n_columns: Sequence[int] = (2, 2, 3), max_worlds: int = 200
) -> Iterator[Table]:
    """Random tables that obey as a whole, with few enough ways to fill every column."""
    random = Random(seed)
    while n_tables:
        n, width = random.choice(people), random.choice(n_columns)
        ells = tuple(random.choice((2, 2, 2, 3)) for _ in range(width))
        columns = tuple(tuple(random.randrange(ell + random.randrange(3)) for _ in range(n)) for ell in ells)
        codes = tuple(zip(*(random.sample(range(n), n) for _ in range(random.choice((1, 2)))), strict=True))
        few = all(len(list(joint.refilled((column,), 0))) <= max_worlds for column in columns)
        if few and joint.obeys(list(zip(*columns, strict=True)), ells):
            n_tables -= 1
            yield Table(codes, columns, ells)


def twin(table: Table, **given: Any) -> joint.Chances:
    """How likely the slow twin makes each division."""
    options: dict[str, Any] = {"floor": max(table.ells), "ells": table.ells, "mirrors": 3, **given}
    return joint.chances_of(table.codes, table.positions, **options)


def read(table: Table) -> gh.Microdata:
    """The table as microdata."""
    quasi = {f"q{dim}": [code[dim] for code in table.codes] for dim in range(len(table.codes[0]))}
    sensitive = {f"s{c}": [f"v{value}" for value in column] for c, column in enumerate(table.columns)}
    names = {"id": list(range(len(table.codes)))}
    return gh.read({**names, **quasi, **sensitive}, identifier="id", quasi=list(quasi), sensitive=list(sensitive))


def product(table: Table, **options: Any) -> joint.Chances:
    """How likely the product makes each division: it leaves people out by lot, and divides the others."""
    method = gh.Mirror(**options)
    principles = {f"s{c}": gh.LDiversity(ell=ell) for c, ell in enumerate(table.ells)}
    known: dict[joint.Columns, Mapping[joint.Division, Fraction]] = {}
    true = read(table)

    def filled(columns: joint.Columns) -> gh.Microdata:
        codes = [
            np.array([sorted(set(own)).index(v) for v in new], np.int32)
            for own, new in zip(table.columns, columns, strict=True)
        ]
        sensitive = tuple(replace(old, codes=new) for old, new in zip(true.sensitive, codes, strict=True))
        return replace(true, sensitive=sensitive)

    def chances(columns: joint.Columns) -> Mapping[joint.Division, Fraction]:
        if columns not in known:
            whole = filled(columns)
            requirement = Requirement.of(principles, whole)
            if requirement.first_ineligible() is not None:
                known[columns] = {}
                return {}
            kinds, of_row = kinds_of(whole)
            by_kind = np.argsort(of_row, kind="stable").astype(np.int32)

            def divided(draws: Any) -> joint.Division:
                rows = np.sort(kinds.rows_kept(keep_by_lot(kinds, method, requirement, draws), by_kind))
                left = whole.take(rows)
                groups = method.divide(left, Requirement.of(principles, left), source=draws, engine=ALONE)
                return frozenset(frozenset(int(rows[i]) for i in group) for group in partition(groups))

            known[columns] = enumerating.distribution(divided)
        return known[columns]

    return chances


@dataclass
class Found:
    """What was found of an attacker who knows all other columns."""

    name: str
    n_tables: int = 0
    n_beliefs: int = 0
    n_off: int = 0  # releases after which some belief is not the published share
    n_divided: int = 0  # releases with several groups

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.n_tables} tables, {self.n_beliefs} beliefs of attackers who know all other columns "
            f"({self.n_divided} releases of several groups); {self.n_off} with one that is not the published share"
        )


def try_known_columns(
    name: str,
    make: Callable[[Table], joint.Chances],
    some: Iterator[Table],
    *,
    until_off: bool = False,
    side_by_side: bool = False,
) -> Found:
    """Compare every belief in every column with the share of the person's group."""
    found = Found(name)
    for table in some:
        chances = make(table)
        found.n_tables += 1
        for target in range(len(table.columns)):
            beliefs = joint.believed(joint.refilled(table.columns, target), chances, target, side_by_side=side_by_side)
            shares = {
                tuple(release): {
                    (person, value): Fraction(values.count(value), len(values))
                    for people, shown in release
                    for values in [[row[target] for row in shown[0]] if side_by_side else shown[target]]
                    for person in people
                    for value in values
                }
                for release in beliefs
            }
            for release, own in beliefs.items():
                shown = {person for people, _ in release for person in people}  # others were left out
                told = {event: belief for event, belief in own.items() if event[0] in shown}
                found.n_divided += len(release) > 1
                found.n_beliefs += len(told)
                found.n_off += told != shares[release]
        if until_off and found.n_off:
            break
    by_force.say(found)
    return found
