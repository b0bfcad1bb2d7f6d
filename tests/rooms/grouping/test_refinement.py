# SPDX-License-Identifier: Apache-2.0
"""Refinement inside the groups of a coarse method, and everybody in one group."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.grouping.along_order.greedy import Greedy, RandomisedGreedy
from glasshouse.grouping.along_order.symmetric import Symmetric
from glasshouse.grouping.anatomize.anatomize import Anatomize
from glasshouse.grouping.cuts.even_split import EvenSplit
from glasshouse.grouping.refinement import Refined
from glasshouse.grouping.separate import Separate
from glasshouse.grouping.transparent.tailor import Tailor
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.doors import LastChoice, divided, forced, people
from tests.rooms.grouping.schedules import check_threads_and_rows, in_pieces
from tests.tables import Plain, partition, plain_tables
from tests.tiers import tables
from tests.twins import by_force, enumerating, refinement, transparent
from tests.twins import greedy as naive

PAIRS = gh.LDiversity(ell=2)


def on_a_line(values: Sequence[int], ell: int) -> by_force.Case:
    n = len(values)
    return by_force.Case(tuple((i,) for i in range(n)), (tuple(range(n)),), tuple(values), ell)


def line(sensitive: Sequence[int]) -> list[Any]:
    return [((i,), value) for i, value in enumerate(sensitive)]


@pytest.mark.parametrize("sensitive", [[0, 0, 1, 1, 2, 2], [0, 1, 2, 0, 1, 2, 3], [0, 0, 1, 2, 3, 3]])
@pytest.mark.parametrize("inner", ["anatomize", "ace"])
def test_inside_symmetric_every_partition_is_as_likely_as_for_the_slow_twin(sensitive: list[int], inner: str) -> None:
    rows = line(sensitive)
    coarse = naive.sg(rows, naive.frequency_diverse(2))
    positions = [range(len(rows))]

    def twin(draws: Any) -> Any:
        if inner == "ace":
            return frozenset(refinement.with_ace(rows, positions, coarse, 2, draws))
        return frozenset(refinement.with_anatomize(rows, coarse, 2, draws))

    table = people([(i,) for i in range(len(rows))], sensitive)
    method = Refined(coarse=Symmetric(extra=0), inner=inner)

    assert enumerating.distribution(twin) == enumerating.distribution(
        lambda draws: frozenset(divided(method, PAIRS, table, draws))
    )


@pytest.mark.parametrize("inner", ["anatomize", "ace"])
@pytest.mark.parametrize(
    "coarse",
    [
        Symmetric(extra=0),
        EvenSplit(extra=0),
        Greedy(last="drop"),
        RandomisedGreedy(p="0.3", ordering="hilbert"),
        gh.Mondrian(),
        Tailor(),
        Separate(),
    ],
    ids=lambda method: method.name,
)
@settings(max_examples=15, deadline=None)
@given(plain=plain_tables(most=40), seed=st.integers(0, 3))
def test_fine_groups_lie_inside_coarse_ones_and_are_diverse(coarse: Any, inner: str, plain: Plain, seed: int) -> None:
    table = plain.microdata()
    requirement = Requirement.of(PAIRS, table)
    try:
        outer = coarse.divide(table, requirement, source=gh.Source.seeded(seed))
        requirement.check_eligible()
    except gh.Infeasible:
        return
    fine = Refined(coarse=coarse, inner=inner).divide(table, requirement, source=gh.Source.seeded(seed))

    assert all(any(group <= whole for whole in partition(outer)) for group in partition(fine))
    assert (fine.labels < 0).tolist() == (outer.labels < 0).tolist()
    assert (fine.counts(table.sensitive[0]).largest * 2 <= fine.sizes).all()
    if inner == "anatomize":
        assert fine.n_groups == int((outer.sizes // 2).sum())


@pytest.mark.parametrize("inner", ["anatomize", "ace"])
@pytest.mark.parametrize(
    "coarse",
    [RandomisedGreedy(p="0.5"), Greedy(last="drop"), Symmetric(), EvenSplit(), Tailor(), Separate()],
    ids=lambda method: method.name,
)
def test_a_seeded_run_depends_neither_on_threads_nor_on_the_order_of_rows(coarse: Any, inner: str) -> None:
    check_threads_and_rows(Refined(coarse=coarse, inner=inner), gh.LDiversity(ell=3))


@pytest.mark.parametrize("tuples", [1, 3, 100])
def test_pieces_of_any_size_leave_every_partition_as_likely(tuples: int) -> None:
    sensitive = [0, 1, 0, 1, 2, 2, 0, 1]
    rows = line(sensitive)
    coarse = naive.sg(rows, naive.frequency_diverse(2))
    table = people([(i,) for i in range(len(rows))], sensitive)
    method = Refined(coarse=Symmetric(extra=0))
    assert len(coarse) > 1
    with in_pieces(tuples, backwards=True):  # one piece at a time: outcomes are tried in turn
        found = enumerating.distribution(lambda draws: frozenset(divided(method, PAIRS, table, draws)))

    assert enumerating.distribution(lambda draws: frozenset(refinement.with_anatomize(rows, coarse, 2, draws))) == found


def test_refinements_of_refinements_each_have_choices_of_their_own() -> None:
    asked = []

    class Asked(LastChoice):
        def child(self, *labels: Any) -> Any:
            asked.append(labels)
            return self

    table = people([(i,) for i in range(6)], [0, 0, 1, 1, 2, 2])
    divided(Refined(coarse=Refined(coarse=Refined(coarse=Separate()))), PAIRS, table, Asked())
    inside = [labels for labels in asked if labels[0] == "inside coarse groups"]

    assert len(set(inside)) == len(inside) == 3


def test_inside_one_group_it_is_the_inner_method_by_itself() -> None:
    sensitive = [0, 0, 1, 1, 2]
    table = people([(i,) for i in range(5)], sensitive)

    assert enumerating.distribution(
        lambda draws: frozenset(divided(Refined(coarse=Separate()), PAIRS, table, draws))
    ) == enumerating.distribution(lambda draws: frozenset(divided(Anatomize(), PAIRS, table, draws)))


# What an adversary who knows it believes


def test_six_people_inside_symmetric_groups_give_one_away() -> None:
    """Values a a b b c c stay together; published as {0, 2}: ab, {1, 4}: ac, {3, 5}: bc, person 1 has a for certain."""
    method = forced(Refined(coarse=Symmetric(extra=0)), lambda: PAIRS)
    case = on_a_line((0, 0, 1, 1, 2, 2), 2)
    evidence = by_force.evidence_of(method, case.codes, by_force.worlds_of(case))
    release = frozenset({(frozenset({0, 2}), (0, 1)), (frozenset({1, 4}), (0, 2)), (frozenset({3, 5}), (1, 2))})

    assert by_force.beliefs_after(evidence.releases[release])[1, 0] == 1


@pytest.mark.parametrize(
    ("coarse", "inner"),
    [(Greedy(), "anatomize"), (EvenSplit(extra=0), "anatomize"), (gh.Mondrian(), "ace"), (Symmetric(extra=0), "ace")],
    ids=repr,
)
def test_inside_other_methods_somebody_is_believed_above_one_in_l(coarse: Any, inner: str) -> None:
    method = forced(Refined(coarse=coarse, inner=inner), lambda: PAIRS)

    assert by_force.worst_belief(method, on_a_line((0, 0, 1, 1, 2, 2), 2)).belief > Fraction(1, 2)


@pytest.mark.parametrize("inner", ["anatomize", "ace"])
def test_inside_tailor_nobody_is(inner: str) -> None:
    tally = by_force.Tally(f"{inner} inside Tailor")
    for case in by_force.random_cases(8, tables(30), people=(5, 6), ells=(2,), n_values=(4, 5), max_worlds=200):
        method = forced(Refined(coarse=Tailor(), inner=inner), lambda: PAIRS, case.positions)
        tally.add(case, by_force.worst_belief(method, case))
    by_force.say(tally)

    assert tally.n_above == 0
    assert tally.n_divided > 0


def test_the_slow_twins_agree_that_anatomize_inside_tailor_is_safe() -> None:
    def method(codes: by_force.Codes, sensitive: Sequence[int], draws: Any) -> Any:
        rows = by_force.rows_of(codes, sensitive)
        positions = [range(10)] * len(codes[0])
        return refinement.with_anatomize(rows, transparent.tailor(rows, positions, 2), 2, draws)

    for case in by_force.random_cases(2, tables(80), people=(5, 6), ells=(2,), n_values=(4, 5), max_worlds=200):
        assert by_force.worst_belief(method, case).belief <= Fraction(1, 2)


@pytest.mark.parametrize("values", [(0, 0, 1, 1), (0, 0, 1, 2, 2)])
def test_with_everybody_in_one_group_the_belief_is_the_share_in_the_table(values: tuple[int, ...]) -> None:
    finding = by_force.worst_belief(forced(Separate(), lambda: PAIRS), on_a_line(values, 2))

    assert finding.belief == Fraction(2, len(values))


# What they say of themselves


def test_only_inside_tailor_and_one_group_it_claims_to_withstand_an_attacker_who_knows_it() -> None:
    requirement = Requirement.of(PAIRS, gh.examples.transparent_t1())

    def against(coarse: Any, inner: str) -> str:
        return str(Refined(coarse=coarse, inner=inner).claim(requirement).adversary.value)

    for inner in ("anatomize", "ace"):
        assert against(Tailor(), inner) == against(Separate(), inner) == "algorithm-aware"
        for coarse in (Symmetric(), EvenSplit(), Greedy(safe=True), RandomisedGreedy(p=0), gh.Mondrian()):
            assert against(coarse, inner) == "linking"
    assert "left out" in Refined(coarse=Greedy(last="drop")).claim(requirement).limits[-1]


def test_one_group_claims_what_the_whole_table_satisfies_and_refuses_the_rest() -> None:
    table = people([(0,), (1,), (2,)], [0, 0, 1])

    assert Separate().claim(Requirement.of(gh.TCloseness(t=0), table)).adversary.value == "algorithm-aware"
    assert any("k-anonymity" in one for one in Separate().claim(Requirement.of(gh.KAnonymity(k=2), table)).limits)
    assert Separate().divide(table, Requirement.of(gh.TCloseness(t=0), table)).sizes.tolist() == [3]
    with pytest.raises(gh.Infeasible):
        Separate().divide(table, Requirement.of(PAIRS, table))


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(gh.ParameterError, match="coarse must be a grouping method"):
        Refined(coarse=5)  # type: ignore[arg-type]
    with pytest.raises(gh.ParameterError, match="inner must be 'anatomize' or 'ace'"):
        Refined(coarse=Separate(), inner="mondrian")
    table = gh.examples.transparent_t1()
    with pytest.raises(gh.NotSupported, match="Refined supports only"):
        Refined(coarse=Separate()).divide(table, Requirement.of(gh.KAnonymity(k=2), table))


@pytest.mark.parametrize("inner", ["anatomize", "ace"])
def test_an_ineligible_table_is_refused_before_anything_is_divided(inner: str) -> None:
    table = gh.read({"age": [1, 2, 3], "disease": ["flu", "flu", "ulcer"]}, quasi=["age"], sensitive="disease")
    method = gh.Refined(coarse=gh.Mondrian(), inner=inner)

    with pytest.raises(gh.Infeasible, match="'flu' has 2 of 3"):
        method.divide(table, Requirement.of(gh.LDiversity(ell=2), table))
