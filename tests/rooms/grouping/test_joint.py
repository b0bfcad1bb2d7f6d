# SPDX-License-Identifier: Apache-2.0
"""Theorem J1: an attacker who knows other sensitive columns, or how they go together, believes the published share."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from random import Random
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.grouping.mirror import halves as halving
from glasshouse.grouping.mirror.halves import shape_of
from glasshouse.microdata.counts import Counts
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.joint_search import SEVEN, Table, product, random_tables, try_known_columns, twin
from tests.tiers import tables
from tests.twins import joint

PEOPLE = (4, 5, 6, 6, 7, 8)


def test_who_knows_all_other_columns_believes_the_published_share() -> None:
    found = try_known_columns("twin", twin, random_tables(1, tables(2_000), people=PEOPLE))

    assert found.n_off == 0
    assert found.n_divided > 20, "a method that never divides proves nothing"


@pytest.mark.parametrize("leave_out", ["0", "1/5"])
def test_so_does_an_attacker_of_the_product(leave_out: str) -> None:
    some = random_tables(2, tables(200), people=PEOPLE, max_worlds=100)

    found = try_known_columns(f"Mirror, {leave_out}", lambda table: product(table, leave_out=leave_out), some)

    assert found.n_off == 0
    assert found.n_divided > 0


@pytest.mark.parametrize("leave_out", ["0", "1/4"])
def test_the_product_is_as_likely_to_make_each_division_as_its_twin(leave_out: str) -> None:
    n_random = 0
    far = Table(tuple((x,) for x in range(7)), (tuple(range(7)), tuple(range(7))), (2, 2))  # a remainder of three
    for table in chain([far], random_tables(3, tables(250), people=PEOPLE)):
        expected = twin(table, leave_out=Fraction(leave_out))(table.columns)
        assert product(table, leave_out=leave_out)(table.columns) == expected
        n_random += len(expected) > 1
    assert n_random


def test_a_remainder_that_is_drawn_again_tells_how_columns_go_together() -> None:
    # seven people, of whom the first column is known: 915/1666 is more than the half that was promised
    release = {frozenset({0, 2, 4}): (0, 1, 2), frozenset({1, 5}): (0, 2), frozenset({3, 6}): (1, 2)}
    fitting = [
        (columns, weight)
        for columns, weight in joint.refilled(SEVEN.columns, 1)
        if all(tuple(sorted(columns[1][i] for i in who)) == held for who, held in release.items())
    ]
    for chances in (twin(SEVEN, redrawn=True), _of_today(SEVEN)):
        found = joint.believed(fitting, chances, 1)
        (beliefs,) = [
            own for shown, own in found.items() if {frozenset(who): held[1] for who, held in shown} == release
        ]
        assert beliefs[3, 1] == Fraction(915, 1666)
    assert try_known_columns("seven people", twin, iter([SEVEN])).n_off == 0


def _of_today(table: Table) -> joint.Chances:
    """The product's rule for one column, under several: its remainders are drawn until they obey."""
    once = product(table, leave_out=None)

    def until_it_obeys(columns: joint.Columns) -> Any:
        with (
            pytest.MonkeyPatch.context() as patch
        ):  # a second draw is like the first: only those that obey are looked at
            patch.setattr(halving, "ATTEMPTS", 1)
            found = {division: p for division, p in once(columns).items() if len(division) > 1}
        total = sum(found.values())
        return {division: p / total for division, p in found.items()}

    return until_it_obeys


@pytest.mark.parametrize("fault", ["redrawn", "column_of_half"])
def test_what_breaks_the_theorem_is_found(fault: str) -> None:
    some = chain([SEVEN], random_tables(4, 100, people=(5, 6, 7, 8)))

    assert try_known_columns(fault, lambda table: twin(table, **{fault: True}), some, until_off=True).n_off


def test_columns_side_by_side_in_a_row_are_found_out() -> None:
    some = random_tables(4, 100, people=(5, 6, 7, 8))

    assert try_known_columns("rows", twin, some, until_off=True, side_by_side=True).n_off


def test_a_remainder_of_fewer_than_enough_people_may_break_the_principle() -> None:
    def broken(small: int) -> bool:
        return any(
            not joint.obeys([vectors[i] for i in group], table.ells)
            for table in chain([SEVEN], random_tables(5, 30, people=(6, 7)))
            for vectors in [list(zip(*table.columns, strict=True))]
            for division in twin(table, small=small)(table.columns)
            for group in division
        )

    assert not broken(0)
    assert broken(3)


def _weight(vector: tuple[int, ...]) -> Fraction:
    """Columns that go together: equal values are five times as likely as others."""
    return Fraction(5 if len(set(vector)) == 1 else 1)


def test_who_knows_how_columns_go_together_and_nobodys_values_believes_the_published_share() -> None:
    n_beliefs = n_other = 0
    for table in random_tables(6, tables(60), people=(4, 5, 6), n_columns=(2,), max_worlds=20):
        worlds = [
            ((first[0], second[0]), Fraction(1))
            for (first, _) in joint.refilled(table.columns[:1], 0)
            for (second, _) in joint.refilled(table.columns[1:], 0)
        ]
        weighed = [(columns, _of_world(columns)) for columns, _ in worlds]
        for target in (0, 1):
            found = joint.believed(weighed, twin(table), target)
            n, off = joint.off(found, target, {})
            n_beliefs += n
            assert off == 0
        # with both, the pair in the person's own group tells more
        known = [(columns, _of_world(columns)) for columns, _ in joint.refilled(table.columns, 1)]
        n_other += joint.off(joint.believed(known, twin(table), 1), 1, {})[1]
    assert n_beliefs
    assert n_other, "an attacker who knows both must be told apart, or nothing was looked at"


def _of_world(columns: joint.Columns) -> Fraction:
    weight = Fraction(1)
    for vector in zip(*columns, strict=True):
        weight *= _weight(vector)
    return weight


def test_people_left_out_by_lot_change_nothing_for_others_and_have_any_value_unless_it_was_close() -> None:
    # five people, one of whom is left out; an attacker knows the first column of all and fills the second in any way
    close = Table(tuple((x,) for x in range(5)), ((0, 0, 1, 1, 2), (0, 0, 1, 1, 2)), (2, 2))
    far = Table(tuple((x,) for x in range(5)), ((0, 1, 2, 3, 0), (0, 1, 2, 3, 0)), (2, 2))
    for table, is_far in ((close, False), (far, True)):
        values = sorted(set(table.columns[1]))
        worlds = joint.every_filling(table.columns, lambda _: Fraction(1), 1)
        eligible = (world for world in worlds if joint.obeys(list(zip(*world[0], strict=True)), table.ells))
        found = joint.believed(eligible, twin(table, leave_out=Fraction(1, 5)), 1)
        with_lots = {release: own for release, own in found.items() if sum(len(who) for who, _ in release) == 4}
        assert with_lots
        left_out_off = 0
        for release, own in with_lots.items():
            shown = {person for who, _ in release for person in who}
            held = {person: values_of[1] for who, values_of in release for person in who}
            assert all(
                belief == Fraction(held[person].count(value), len(held[person]))
                for (person, value), belief in own.items()
                if person in shown
            )
            varied = len({value for who, values_of in release for value in values_of[1]}) == 4
            if varied or not is_far:
                left_out_off += sum(
                    belief != Fraction(1, len(values)) for (person, _), belief in own.items() if person not in shown
                )
        assert (left_out_off == 0) == is_far


# --- sizes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "principle",
    [
        gh.LDiversity(2),
        gh.LDiversity(3),
        gh.DistinctLDiversity(3),
        gh.AlphaKAnonymity(alpha="0.4", k=3),
        gh.DesignatedLDiversity(ell=3, values=("v0",)),
        gh.AllOf(gh.KAnonymity(4), gh.DistinctLDiversity(2)),
    ],
    ids=str,
)
def test_every_part_of_the_size_that_is_said_to_suffice_obeys_and_not_of_one_less(principle: Any) -> None:
    random, n_tight = Random(7), 0
    for _ in range(40):
        values = ["v0", *(f"v{random.randrange(4)}" for _ in range(random.randrange(4, 9)))]
        table = gh.read({"q": list(range(len(values))), "s": values}, quasi=["q"], sensitive="s")
        requirement = Requirement.of(principle, table)
        enough = requirement.enough([part.whole for part in requirement.parts])

        def all_obey(size: int, table: Any = table, requirement: Any = requirement) -> bool:
            codes = table.sensitive[0].codes.tolist()
            parts = [[codes[i] for i in part] for part in combinations(range(table.n_tuples), size)]
            return bool(requirement.holds([Counts.of(parts, n_values=table.sensitive[0].domain.size)]).all())

        if enough <= table.n_tuples:
            assert all(all_obey(size) for size in range(enough, table.n_tuples + 1))
            n_tight += enough > 1 and not all_obey(enough - 1)
    assert n_tight


def test_principles_that_cannot_say_it_keep_the_promise_of_each_column() -> None:
    for principle in (gh.TCloseness(t="0.3"), gh.EntropyLDiversity(ell=2), gh.RecursiveLDiversity(c=2, ell=2)):
        requirement = Requirement.in_words({"a": principle, "b": gh.LDiversity(2)}, ["a", "b"])
        assert not gh.Mirror().jointly(requirement)
        assert not gh.Mirror().claim(requirement).jointly
    assert gh.Mirror().jointly(Requirement.in_words(gh.LDiversity(2), ["a", "b"]))
    assert not gh.Mirror(leave_out=None).jointly(Requirement.in_words(gh.LDiversity(2), ["a", "b"]))
    assert not gh.Mirror().jointly(Requirement.in_words(gh.LDiversity(2), ["a"]))


def test_a_shape_leaves_nobody_over_at_most_so_many_or_enough() -> None:
    for n in range(20, 400, 7):
        for floor, least, most in ((2, n // 3, n // 50), (3, 2 * n // 3, n // 20), (4, n, 3)):
            h, k = shape_of(n, floor, 1, least, most)
            over = n - (k << h)
            assert k >= min(floor, n)
            assert over == 0 or ((over <= most or over >= least) and n - over >= least)
