# SPDX-License-Identifier: Apache-2.0
"""Attackers who know other sensitive columns, or how columns go together, beside the slow twin over all worlds."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.adversary.reverse_engineering.strategies import believed
from glasshouse.adversary.reverse_engineering.worlds.every_world import EveryWorld
from glasshouse.adversary.task import Task
from glasshouse.journeys.attack import algorithm_of
from tests.rooms.grouping.joint_search import Table, random_tables, read, twin
from tests.tiers import tables
from tests.twins import joint

TOGETHER = 5  # equal numbers are so many times as likely as others


def weight(vector: tuple[int, ...]) -> Fraction:
    return Fraction(TOGETHER if vector[0] == vector[1] else 1)


def pairs(table: Table) -> dict[tuple[str, str], int]:
    return {
        (f"v{a}", f"v{b}"): int(weight((a, b))) for a in set(table.columns[0]) for b in set(table.columns[1])
    }  # value of s0, of s1


def published(table: Table, recoding: Any = None, **options: Any) -> gh.Release:
    return gh.publish(
        read(table),
        principle={f"s{c}": gh.LDiversity(ell=ell) for c, ell in enumerate(table.ells)},
        method=gh.Mirror(**options),
        recoding=recoding or gh.Anatomy(),
        source=gh.Source.seeded(len(table.codes)),
    )


def division_of(release: gh.Release, table: Table) -> joint.Division:
    """Who is together, by the exact quasi-identifiers of a release."""
    groups: dict[int, set[int]] = {}
    for row in release.tables["qit"].to_pylist():
        number = row.pop("Group-ID")
        groups.setdefault(number, set()).add(table.codes.index(tuple(row.values())))
    return frozenset(map(frozenset, groups.values()))


def some_tables(seed: int, n: int) -> list[Table]:
    found = random_tables(seed, n, people=(4, 5, 6, 7), n_columns=(2,), max_worlds=90)
    return [Table(one.codes, one.columns, one.ells) for one in found]


def by_force(table: Table, release: gh.Release, knows: str) -> dict[tuple[int, int], Fraction]:
    """What is believed of the first column by every world, for the division that was published."""
    division = division_of(release, table)
    worlds = (
        [
            ((first[0], second[0]), Fraction(1))
            for first, _ in joint.refilled(table.columns[:1], 0)
            for second, _ in joint.refilled(table.columns[1:], 0)
        ]
        if knows == "joint"
        else list(joint.refilled(table.columns, 0))
    )
    if knows != "columns":
        worlds = [(columns, joint.prod(weight(v) for v in zip(*columns, strict=True))) for columns, _ in worlds]
    found = joint.believed(worlds, twin(table), 0)
    wanted = joint.published(division, table.columns)
    return found[wanted]


def knowledge(table: Table, knows: str) -> gh.Knowledge:
    given: dict[str, Any] = {}
    if knows in ("columns", "both"):
        given["columns"] = ("s1",)
    if knows in ("joint", "both"):
        given["joint"] = {"s1": pairs(table)}
    return gh.Knowledge(external=read(table), **given)


@pytest.mark.parametrize("knows", ["columns", "joint", "both"])
def test_every_world_gives_what_the_twin_believes(knows: str) -> None:
    n_more = 0
    for table in some_tables(31, tables(60 if knows != "joint" else 30)):
        if knows == "joint" and len(table.codes) > 5:
            continue
        release = published(table)
        attack = gh.ReverseEngineering(column="s0")
        task = Task.of(attack, release, knowledge(table, knows), algorithm_of(release.recipe))
        found = believed([EveryWorld()], task)
        for (person, value), belief in by_force(table, release, knows).items():
            assert found.of(person).get(f"v{value}", 0.0) == pytest.approx(float(belief), abs=1e-12)
            n_more += belief > Fraction(1, table.ells[0])
    assert (n_more > 0) == (knows == "both")


@pytest.mark.parametrize("knows", ["columns", "joint"])
def test_the_theorem_gives_the_published_shares(knows: str) -> None:
    for table in some_tables(32, 6):
        release = published(table)
        found = gh.attack(release, gh.ReverseEngineering(column="s0"), knowledge=knowledge(table, knows))
        plain = gh.attack(release, gh.Linking(column="s0"), knowledge=knowledge(table, knows))
        assert found.how == "exact"
        for person in range(len(table.codes)):
            assert found.of(person) == pytest.approx(plain.of(person))


def test_who_knows_both_reckons_inside_the_own_group_by_linking() -> None:
    n_told = 0
    for table in some_tables(33, 10):
        release = published(table)
        found = gh.attack(release, gh.Linking(column="s0"), knowledge=knowledge(table, "both"))
        assert found.how == "exact"
        for group in division_of(release, table):
            members = sorted(group)
            values = tuple(table.columns[0][i] for i in members)
            others = tuple(table.columns[1][i] for i in members)
            tally: dict[tuple[int, int], Fraction] = {}
            total = Fraction(0)
            for columns, _ in joint.refilled((values, others), 0):
                chance = joint.prod(weight(v) for v in zip(*columns, strict=True))
                total += chance
                for i, value in zip(members, columns[0], strict=True):
                    tally[i, value] = tally.get((i, value), Fraction(0)) + chance
            for (person, value), chance in tally.items():
                assert found.of(person)[f"v{value}"] == pytest.approx(float(chance / total))
                n_told += chance / total != Fraction(values.count(value), len(values))
    assert n_told


def test_rows_with_columns_side_by_side_are_refused_and_so_are_other_attacks() -> None:
    table = some_tables(34, 1)[0]
    boxes = published(table, gh.Boxes(), leave_out=None)
    with pytest.raises(gh.NotSupported, match="each row already shows all sensitive columns"):
        gh.attack(boxes, gh.Linking(column="s0"), knowledge=knowledge(table, "columns"))
    with pytest.raises(gh.NotSupported, match="other sensitive columns"):
        gh.attack(published(table), gh.Corruption(column="s0"), knowledge=knowledge(table, "columns"))
    for columns in (("s0",), ("s9",)):
        with pytest.raises(gh.InputError, match="not one of the other sensitive columns"):
            gh.attack(
                published(table),
                gh.Linking(column="s0"),
                knowledge=gh.Knowledge(external=read(table), columns=columns),
            )


def test_a_release_without_the_joint_promise_is_not_attacked_by_its_theorem() -> None:
    rng = Random(35)
    n = 200
    people: dict[str, Any] = {
        "q": list(range(n)),
        **{s: [f"v{rng.randrange(6)}" for _ in range(n)] for s in ("a", "b")},
    }
    table = gh.read(people, quasi=["q"], sensitive=["a", "b"])
    known = gh.Knowledge(external=table, columns=("b",))
    release = gh.publish(table, principle="2-diversity", method=gh.Mirror(leave_out=None), recoding="anatomy")
    with pytest.raises(gh.NotSupported, match="does not protect its sensitive columns jointly"):
        gh.attack(release, gh.ReverseEngineering(column="a"), knowledge=known)
    safe = gh.publish(table, principle="2-diversity", recoding="anatomy")
    assert gh.attack(safe, gh.ReverseEngineering(column="a"), knowledge=known).worst().belief <= 0.5
