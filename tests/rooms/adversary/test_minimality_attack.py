# SPDX-License-Identifier: Apache-2.0
"""Credibility: TRANSPARENT's examples, and every belief against a count of all possible microdata instances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.adversary.knowledge import ABSENT
from glasshouse.adversary.minimality import Minimality
from tests.tiers import tables
from tests.twins import corruption as naive
from tests.twins import optimal
from tests.twins.mondrian import Row

PAIRS = gh.LDiversity(ell=2)


def voters() -> gh.Microdata:
    return gh.read(gh.examples.voters_e1(), identifier="Name", quasi=["Age", "Zipcode"])


def in_groups(table: gh.Microdata, labels: list[int], recoding: Any = None, **changes: Any) -> gh.Release:
    recoding = recoding or gh.Boxes()
    made = gh.publish(
        table,
        principle=changes.pop("principle", PAIRS),
        method=gh.OptGen(),
        recoding=recoding,
        source=gh.Source.seeded(1),
    )
    groups = gh.Groups(np.array(labels, np.int32), max(labels) + 1)
    return replace(made, tables=recoding.recode(table, groups), **changes)


# --- TRANSPARENT ------------------------------------------------------------------------------------------------------


def test_example_3_the_credibility_of_ed_is_one_quarter_where_opt_gen_tells_all() -> None:
    release = gh.publish(gh.examples.transparent_t1(), principle=PAIRS, method=gh.OptGen(), recoding=gh.Boxes())
    found = gh.attack(release, Minimality(), knowledge=gh.Knowledge(external=voters()))

    assert found.of("Ed") == dict.fromkeys(["gastritis", "flu", "dyspepsia", "diabetes"], 1 / 4)
    assert found.how == "credibility"
    assert found.notes[-1] == "the release is minimal for 96 of the tables that fit it"
    assert (found.present("Bruce"), found.of("Bruce")) == (0, {})
    assert found.share_above() == 0

    # Example 2: all that the attacker does not know of Opt-Gen is worth 3/4
    corrupted = {"Ann": "dyspepsia", "Fred": "flu", "Hera": "diabetes"}
    told = gh.attack(release, gh.ReverseEngineering(), knowledge=gh.Knowledge(external=voters(), corrupted=corrupted))
    assert told.of("Ed") == {"gastritis": 1.0}


def test_the_minimality_attack_on_table_v_finds_cate_and_don() -> None:
    release = in_groups(gh.examples.transparent_t3(), [0, 0, 1, 1, 1, 1, 1, 1])
    found = gh.attack(release, Minimality(), knowledge=gh.Knowledge(external=voters()))

    assert found.of("Cate") == found.of("Don") == {"gastritis": 1.0}
    assert found.of("Ed") == dict.fromkeys(["bronchitis", "diabetes", "dyspepsia", "flu"], 1 / 4)
    assert found.of("Ann") == {"dyspepsia": 0.5, "flu": 0.5}
    assert [belief.person for belief in found.above()] == ["Cate", "Don"]
    assert found.because is not None
    assert found.because(int(found.kind[3]), 0) == (
        "the group with the cells Age [32, 60], Zipcode [35000, 63000] was not divided between Age 32 and 54, because "
        "one of the two parts would have violated the principle"
    )
    # linking alone gives gastritis to each of six with 1/3
    assert gh.attack(release, knowledge=gh.Knowledge(external=voters())).of("Cate")["gastritis"] == pytest.approx(1 / 3)


def test_example_1_table_v_is_not_minimal_for_t1_and_nothing_says_so() -> None:
    """Vul-Gen gives everybody away, and an attacker who takes it to be minimal is led astray."""
    t1 = gh.examples.transparent_t1()
    release = in_groups(t1, [0, 0, 1, 1, 1, 1, 1, 1])
    found = gh.attack(release, Minimality(), knowledge=gh.Knowledge(external=t1))

    assert found.of("Cate") == {"gastritis": 1.0}
    assert found.of("Don") == {"gastritis": 1.0}, "but Don has bronchitis"


def test_under_local_recoding_minimality_tells_nothing() -> None:
    release = in_groups(gh.examples.transparent_t3(), [0, 0, 1, 1, 1, 1, 1, 1])
    knowledge = gh.Knowledge(external=voters())
    found, linked = (
        gh.attack(release, Minimality(scheme="local"), knowledge=knowledge),
        gh.attack(release, knowledge=knowledge),
    )

    assert found.of("Cate") == pytest.approx(linked.of("Cate"))
    assert any("reveals nothing beyond the values of each group" in note for note in found.notes)

    # Ace, Table X: boxes overlap, so local is what it must be
    t5 = gh.examples.transparent_t5()
    table_x = in_groups(t5, [0, 0, 3, 2, 1, 2, 1, 3])
    assert gh.attack(table_x, Minimality(), knowledge=gh.Knowledge(external=t5)).how == "credibility"
    with pytest.raises(gh.NotSupported, match="fit two groups"):
        gh.attack(table_x, Minimality(scheme="global"), knowledge=gh.Knowledge(external=t5))


# --- all possible microdata instances ---------------------------------------------------------------------------------


def recoded(rows: list[Row], partition: Any) -> Hashable:
    """Boxes with their values, as they are published."""
    found = Counter[Any]()
    for group in partition:
        points = [rows[i][0] for i in group]
        box = tuple((min(axis), max(axis)) for axis in zip(*points, strict=True))
        found.update((box, rows[i][1]) for i in group)
    return tuple(sorted(found.items()))


def everything(rows: list[Row], _: list[int]) -> Iterator[tuple[Hashable, bool]]:
    for partition in optimal.global_recodings(tuple(codes for codes, _ in rows)):
        yield recoded(rows, partition), optimal.is_minimal(rows, partition, 2)


def cases(seeds: range) -> Iterator[tuple[Random, list[tuple[int, ...]], list[int], list[int], Any]]:
    """People, the values of the first of them, who are in the table, a minimal partition of these."""
    for seed in seeds:
        draw = Random(seed)
        dims = draw.choice([1, 2])
        n = draw.choice([4, 5, 6])
        people = [tuple(draw.randrange(4) for _ in range(dims)) for _ in range(n)]
        values = [draw.randrange(3) for _ in range(n)]
        rows: list[Row] = list(zip(people, values, strict=True))
        minimal = [p for p in optimal.global_recodings(tuple(people)) if optimal.is_minimal(rows, p, 2)]
        if minimal:
            partition = draw.choice(minimal)
            people = people + [
                tuple(draw.randrange(4) for _ in range(dims)) for _ in range(draw.choice([0, 1]) if n < 6 else 0)
            ]
            labels = [next(g for g, group in enumerate(sorted(map(sorted, partition))) if i in group) for i in range(n)]
            yield draw, people, values, labels, partition


@pytest.mark.parametrize("part", range(8))
def test_credibilities_are_those_of_all_possible_microdata_instances(part: int) -> None:
    compared = informed = 0
    for draw, people, values, labels, partition in cases(range(60 * part, 60 * part + tables(300, 30))):
        n = len(values)
        columns = {f"q{d}": [codes[d] for codes in people] for d in range(len(people[0]))}
        table = gh.read(
            {name: own[:n] for name, own in columns.items()} | {"s": list(map(str, values))},
            quasi=list(columns),
            sensitive="s",
        )
        release = in_groups(table, labels)
        external = gh.read(columns, quasi=list(columns))
        rows: list[Row] = list(zip(people, values, strict=False))
        slow = naive.credibilities(people, recoded(rows, partition), values, everything)
        knowledge = gh.Knowledge(external=external)
        found = Minimality().attack(release, knowledge)
        for row in range(len(people)):
            assert found.of(row) == pytest.approx({str(value): float(b) for value, b in slow[row].items()})
            assert found.present(row) == pytest.approx(float(sum(slow[row].values())))
            compared += 1
        linked = gh.attack(release, knowledge=knowledge)
        informed += any(found.of(row) != pytest.approx(linked.of(row)) for row in range(len(people)))

        # what the attacker knows of somebody leaves the worlds that agree
        someone = draw.randrange(len(people))
        value: Any = values[someone] if someone < n else ABSENT
        known = Minimality().attack(
            release, gh.Knowledge(external=external, corrupted={someone: value if value is ABSENT else str(value)})
        )

        def agreeing(rows: list[Row], present: list[int], someone: int = someone, value: Any = value) -> Iterator[Any]:
            has = dict(zip(present, [own for _, own in rows], strict=True)).get(someone, ABSENT)
            return everything(rows, present) if has == value else iter(())

        slow = naive.credibilities(people, recoded(rows, partition), values, agreeing)
        for row in range(len(people)):
            if row != someone:
                assert known.of(row) == pytest.approx({str(v): float(b) for v, b in slow[row].items()})
    assert compared > tables(300)
    assert informed > tables(15)


def test_anatomized_groups_are_attacked_by_their_cuts() -> None:
    """Three people in a row, a a b: had the last two been split off, neither part would have been diverse."""
    people = {"q": [1, 2, 3, 4]}
    table = gh.read({**people, "s": list("aabb")}, quasi=["q"], sensitive="s")
    release = in_groups(table, [0, 0, 0, 0], gh.Anatomy())
    found = Minimality().attack(release, gh.Knowledge(external=gh.read(people, quasi=["q"])))

    # {1, 2} | {3, 4} would have been 2-diverse unless both have the same: 1 and 2 agree, and 3 and 4
    assert found.of(0) == {"a": 0.5, "b": 0.5}
    known = gh.Knowledge(external=gh.read(people, quasi=["q"]), corrupted={0: "a"})
    assert Minimality().attack(release, known).of(1) == {"a": 1.0}
    assert Minimality().attack(release, known).of(2) == {"b": 1.0}


def test_any_principle_that_judges_groups_can_have_been_minimal() -> None:
    people = {"q": [1, 2, 3, 4]}
    table = gh.read({**people, "s": list("abab")}, quasi=["q"], sensitive="s")
    external = gh.Knowledge(external=gh.read(people, quasi=["q"]))
    release = in_groups(table, [0, 0, 0, 0])
    for principle, limit in (
        (gh.DistinctLDiversity(ell=2), 1),
        (gh.EntropyLDiversity(ell=2), 1),
        (gh.TCloseness(t="1/5"), 1),
        (gh.KAnonymity(k=3), 0.5),
    ):
        recipe = replace(release.recipe, principle=principle.to_data())
        found = Minimality().attack(replace(release, recipe=recipe), replace(external, corrupted={0: "a"}))
        assert found.of(1).get("a", 0) == pytest.approx(limit if limit == 1 else 1 / 3)


def test_what_is_too_large_or_cannot_be_is_refused() -> None:
    table = gh.examples.transparent_t3()
    release = in_groups(table, [0, 0, 1, 1, 1, 1, 1, 1])
    with pytest.raises(gh.NotSupported, match="more than 10 possible assignments"):
        Minimality(most_worlds=10).attack(release, gh.Knowledge(external=table))
    with pytest.raises(gh.NotSupported, match="everybody who may be in the table"):
        Minimality().attack(release, gh.Knowledge(external=table.take(np.arange(7))))
    with pytest.raises(gh.NotSupported, match="a prior for single people"):
        Minimality().attack(release, gh.Knowledge(external=table, prior={"Ann": {"flu": 1}}))
    with pytest.raises(gh.ParameterError, match="scheme"):
        Minimality(scheme="universal")  # type: ignore[arg-type]
    for corrupted in ({"Ann": "gastritis"}, {"Ann": "mumps"}, {"Cate": "flu"}):
        with pytest.raises(gh.InputError, match=r"contradicts the release|no table of these people could have led to"):
            Minimality().attack(release, gh.Knowledge(external=table, corrupted=corrupted))
    with pytest.raises(gh.InputError, match="fits no group"):
        Minimality().attack(release, gh.Knowledge(external=voters(), corrupted={"Bruce": "flu"}))
    strict = replace(release, recipe=replace(release.recipe, principle=gh.LDiversity(ell=4).to_data()))
    with pytest.raises(gh.InputError, match="does not satisfy the principle"):
        Minimality().attack(strict, gh.Knowledge(external=table))
    # two pairs with different values, however they lie: one cut always works
    pairs = gh.read({"q": [1, 2, 3, 4], "s": list("abcd")}, quasi=["q"], sensitive="s")
    with pytest.raises(gh.InputError, match="the method does not divide groups so far"):
        Minimality().attack(in_groups(pairs, [0, 0, 0, 0]), gh.Knowledge(external=pairs))
    angel = gh.publish(table, principle=PAIRS, recoding=gh.Angel(), source=gh.Source.seeded(1))
    with pytest.raises(gh.NotSupported, match="recoding angel"):
        Minimality().attack(angel, gh.Knowledge(external=table))


def test_a_prior_for_everybody_changes_nothing_and_other_methods_are_named() -> None:
    table = gh.examples.transparent_t3()
    release = in_groups(table, [0, 0, 1, 1, 1, 1, 1, 1])
    release = replace(release, recipe=replace(release.recipe, method={"name": "mondrian", "partitioning": "strict"}))
    found = Minimality().attack(release, gh.Knowledge(external=table, prior={"flu": 5, "gastritis": Fraction(1, 9)}))

    assert found.of("Cate") == {"gastritis": 1.0}
    assert any("changes nothing" in note for note in found.notes)
    assert any("it is not known that mondrian makes minimal releases" in note for note in found.notes)
