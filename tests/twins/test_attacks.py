# SPDX-License-Identifier: Apache-2.0
"""Which methods fall to the adversary who knows the algorithm, and which do not: by force, and in the papers' words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from tests.twins import attack, by_force, enumerating, mondrian, refinement
from tests.twins.anatomize import anatomize
from tests.twins.greedy import even_split, frequency_diverse, gg, lexicographic, rgg, sg
from tests.twins.mondrian import Partition, Row
from tests.twins.optimal import (
    discernibility,
    global_recodings,
    is_minimal,
    mask,
    opt_gen,
    optima,
    vul_gen,
)
from tests.twins.transparent import ace, hybrid, tailor

HALF = Fraction(1, 2)

Twin = Callable[[list[Row], by_force.Case, Any], Partition]

TRANSPARENT: dict[str, Twin] = {
    "Tailor": lambda rows, case, _: tailor(rows, case.positions, case.ell),
    "Ace": lambda rows, case, draws: ace(rows, case.positions, case.ell, draws),
    "Hybrid": lambda rows, case, draws: hybrid(rows, case.positions, case.ell, draws),
    "Anatomize": lambda rows, case, draws: anatomize(rows, case.ell, draws),
    "even splits at l + 1": lambda rows, case, _: even_split(rows, case.positions, frequency_diverse(case.ell + 1)),
}

VULNERABLE: dict[str, Twin] = {
    "strict Mondrian": lambda rows, case, _: mondrian.strict(rows, case.positions, frequency_diverse(case.ell)),
    "GG": lambda rows, case, _: gg(rows, case.ell, frequency_diverse(case.ell), lexicographic(rows)),
    "RGG": lambda rows, case, draws: rgg(
        rows, case.ell, frequency_diverse(case.ell), Fraction(1, 3), draws, lexicographic(rows)
    ),
    "Opt-Gen": lambda rows, case, _: opt_gen(rows, case.ell),
    "SG(Ana)": lambda rows, case, draws: refinement.with_anatomize(
        rows, sg(rows, frequency_diverse(case.ell), lexicographic(rows)), case.ell, draws
    ),
    "SG(Ace)": lambda rows, case, draws: refinement.with_ace(
        rows, case.positions, sg(rows, frequency_diverse(case.ell), lexicographic(rows)), case.ell, draws
    ),
    "even(Ana)": lambda rows, case, draws: refinement.with_anatomize(
        rows, even_split(rows, case.positions, frequency_diverse(case.ell)), case.ell, draws
    ),
}


def tally(
    name: str,
    twin: Twin,
    cases: Iterable[by_force.Case],
    recode: by_force.Recode = by_force.by_person,
    *,
    until_above: bool = False,
) -> by_force.Tally:
    def make(case: by_force.Case) -> by_force.Method:
        return lambda codes, sensitive, draws: twin(by_force.rows_of(codes, sensitive), case, draws)

    return by_force.try_cases(name, make, cases, recode, until_above=until_above)


# Many different values, so that Tailor has something to cut: at l = 2 it needs four different values.
MANY_VALUES: dict[str, Any] = {"n_values": (2, 3, 30), "ells": (2, 2, 3), "max_worlds": 800}


@pytest.mark.parametrize("name", TRANSPARENT)
def test_transparent_methods_keep_every_belief_at_one_over_l(name: str) -> None:
    counts = tally(name, TRANSPARENT[name], by_force.random_cases(11, 35, people=(4, 5, 6, 7), **MANY_VALUES))

    assert counts.times_promised <= 1
    assert counts.n_divided > 100


@pytest.mark.parametrize("name", ["Tailor", "Hybrid"])
def test_a_table_with_repeated_values_that_tailor_cuts_keeps_to_it(name: str) -> None:
    # Four values twice: 4-diverse, so that c = 2, and in the halves it differs from world to world.
    codes = ((0, 3), (0, 1), (1, 1), (2, 2), (2, 0), (3, 0), (3, 2), (3, 3))
    case = by_force.Case(codes, ((0, 1, 2, 7), (0, 1, 3, 4)), (0, 0, 1, 1, 2, 2, 3, 3), 2)
    counts = tally(name, TRANSPARENT[name], [case])

    assert counts.times_promised <= 1
    assert counts.n_divided == counts.n_runs


@pytest.mark.parametrize("recode", [by_force.by_boxes, by_force.by_values])
@pytest.mark.parametrize("name", ["Tailor", "Ace", "Hybrid", "Anatomize"])
def test_people_outside_the_table_change_nothing_about_that(name: str, recode: by_force.Recode) -> None:
    cases = by_force.random_cases(12, 20, people=(4, 5), extra=(1, 2), **MANY_VALUES)
    counts = tally(name, TRANSPARENT[name], cases, recode)

    assert counts.times_promised <= 1
    assert counts.n_divided > 100


def test_nor_for_even_splits_at_l_plus_one() -> None:
    # Six people with six values are divided at l = 3.
    codes = ((0, 1), (1, 0), (1, 1), (2, 0), (2, 3), (3, 2), (3, 3))
    case = by_force.Case(codes, ((0, 1, 2, 5), (0, 1, 2, 3)), tuple(range(6)), 2)
    counts = tally("even splits at l + 1", TRANSPARENT["even splits at l + 1"], [case], by_force.by_boxes)

    assert counts.times_promised < 1
    assert counts.n_divided > 100


@pytest.mark.parametrize("name", VULNERABLE)
def test_vulnerable_methods_are_found_to_be_so(name: str) -> None:
    cases = by_force.random_cases(13, 40, people=(4, 5, 6), ells=(2,), n_values=(3, 4, 5), max_worlds=400)
    counts = tally(name, VULNERABLE[name], cases)

    assert counts.times_promised > 1
    assert counts.n_above >= 3


@pytest.mark.parametrize("name", ["strict Mondrian", "GG", "Opt-Gen"])
def test_vulnerable_methods_fall_also_where_boxes_are_published_and_people_may_be_absent(name: str) -> None:
    cases = by_force.random_cases(14, 100, people=(4, 5, 6), extra=(1,), ells=(2,), n_values=(3, 4), max_worlds=1300)

    assert tally(name, VULNERABLE[name], cases, by_force.by_boxes, until_above=True).times_promised > 1


def test_refining_tailor_by_ace_is_hybrid_and_by_anatomize_it_is_safe_too() -> None:
    def by_ace(rows: list[Row], case: by_force.Case, draws: Any) -> Partition:
        coarse = tailor(rows, case.positions, case.ell)
        return refinement.with_ace(rows, case.positions, coarse, case.ell, draws)

    def by_anatomize(rows: list[Row], case: by_force.Case, draws: Any) -> Partition:
        return refinement.with_anatomize(rows, tailor(rows, case.positions, case.ell), case.ell, draws)

    def chances(twin: Twin, case: by_force.Case) -> dict[Any, Fraction]:
        rows = by_force.rows_of(case.codes, case.values)
        return enumerating.distribution(lambda draws: frozenset(twin(rows, case, draws)))

    cases = list(by_force.random_cases(15, 20, **MANY_VALUES))

    assert all(chances(by_ace, case) == chances(TRANSPARENT["Hybrid"], case) for case in cases)
    assert tally("Tailor(Ana)", by_anatomize, cases).times_promised <= 1


def full(n_cases: int = 1000) -> None:
    """Thousands of tables: ``python -m tests.twins.test_attacks``."""
    size: dict[str, Any] = {**MANY_VALUES, "max_worlds": 2600}
    for name, twin in TRANSPARENT.items():
        counts = tally(name, twin, by_force.random_cases(21, n_cases, people=(4, 5, 6, 7, 8), **size))
        assert counts.times_promised <= 1
        for recode in (by_force.by_boxes, by_force.by_values):
            cases = by_force.random_cases(22, n_cases // 5, people=(4, 5, 6), extra=(1, 2), **size)
            assert tally(name, twin, cases, recode).times_promised <= 1
    for name, twin in VULNERABLE.items():
        assert tally(name, twin, by_force.random_cases(23, n_cases // 5, **size)).times_promised > 1


# The harness itself


def test_worlds_of_one_multiset_give_the_beliefs_of_all_worlds() -> None:
    # TRANSPARENT Definition 4 in full, any subset of five people and any of three values: 4**5 worlds.
    codes = ((0,), (1,), (1,), (2,), (3,))
    positions = ((0, 1, 2, 3),)

    def method(present: by_force.Codes, sensitive: Sequence[int], _: Any) -> Partition:
        holds = frequency_diverse(2)
        rows = by_force.rows_of(present, sensitive)
        return mondrian.strict(rows, positions, holds) if sensitive and holds(list(sensitive)) else set()

    def algorithm(world: attack.World) -> Any:
        people: list[Any] = list(world)
        partition = method([codes[i] for i in people], list(world.values()), None)
        members = [frozenset(people[i] for i in group) for group in partition]
        return by_force.by_boxes(codes, list(world.values()), people, members) if members else None

    everything = attack.posteriors(algorithm, range(5), range(3), range(6))
    compared = 0
    for values in [(0, 0, 1, 1), (0, 1, 2, 2), (0, 0, 1, 2, 2), (0, 1), (0, 1, 2)]:
        case = by_force.Case(codes, positions, values, 2)
        evidence = by_force.evidence_of(method, codes, by_force.worlds_of(case), by_force.by_boxes)
        for release, weights in evidence.releases.items():
            found = by_force.beliefs_after(weights)
            compared += 1
            assert {event: belief for event, belief in everything[release].items() if belief} == found
    assert compared > 20


def test_every_distinct_arrangement_is_a_world_once() -> None:
    case = by_force.Case(((0,),) * 5, ((0,),), (0, 0, 1, 2), 2)
    worlds = [tuple(sorted(world.items())) for world in by_force.worlds_of(case)]

    assert len(worlds) == len(set(worlds)) == 5 * 12


def test_a_method_that_publishes_nothing_is_not_judged() -> None:
    case = by_force.Case(((0,), (1,)), ((0, 1),), (0, 1), 2)
    finding = by_force.worst_belief(lambda codes, sensitive, draws: [], case)

    assert (finding.belief, finding.evidence.n_worlds, finding.evidence.releases) == (0, 2, {})


def test_every_recoding_hides_who_has_what_and_the_coarser_ones_who_is_who() -> None:
    codes = [(0, 5), (0, 5), (1, 6), (2, 6)]
    parts = [frozenset({0, 2}), frozenset({1, 3})]
    people = [0, 1, 2, 3]

    for recode in (by_force.by_person, by_force.by_values, by_force.by_boxes):
        assert recode(codes, [0, 1, 2, 3], people, parts) == recode(codes, [2, 3, 0, 1], people, parts)
    other = [frozenset({1, 2}), frozenset({0, 3})]
    for recode in (by_force.by_values, by_force.by_boxes):
        assert recode(codes, [0, 1, 2, 3], people, parts) == recode(codes, [1, 0, 2, 3], people, other)
    assert by_force.by_boxes(codes, [0, 1, 2, 3], people, parts)[0] == (((0, 1), (5, 6)), 0)


# Slip 8 of the papers: refinement inside groups that came from looking at sensitive values


def test_anatomizing_a_group_of_symmetric_grouping_gives_person_1_away() -> None:
    # Six people in order, a a b b c c: SG at l = 2 keeps them together, because a half holds a value twice.
    def method(codes: by_force.Codes, sensitive: Sequence[int], draws: Any) -> Partition:
        rows = by_force.rows_of(codes, sensitive)
        return refinement.with_anatomize(rows, sg(rows, frequency_diverse(2)), 2, draws)

    a, b, c = range(3)
    case = by_force.Case(tuple((i,) for i in range(6)), (tuple(range(6)),), (a, a, b, b, c, c), 2)
    release = frozenset({(frozenset({0, 2}), (a, b)), (frozenset({1, 4}), (a, c)), (frozenset({3, 5}), (b, c))})

    evidence = by_force.evidence_of(method, case.codes, by_force.worlds_of(case))
    found = by_force.beliefs_after(evidence.releases[release])

    assert found[1, a] == found[4, c] == 1


# TRANSPARENT Examples 1 to 3: Ann, Bob, Bruce, Cate, Don, Ed, Fred, Gill, Hera

AGES = [21, 27, 29, 32, 54, 60]
NAMES = ["Ann", "Bob", "Bruce", "Cate", "Don", "Ed", "Fred", "Gill", "Hera"]
VOTERS = ((0, 0), (1, 1), (2, 2), (3, 3), (3, 3), (4, 4), (5, 5), (5, 5), (5, 5))  # codes of age and zipcode
BRONCHITIS, DIABETES, DYSPEPSIA, FLU, GASTRITIS = range(5)
BRUCE, ED = NAMES.index("Bruce"), NAMES.index("Ed")
IN_T1 = [i for i in range(9) if i != BRUCE]
T1 = [DYSPEPSIA, FLU, GASTRITIS, BRONCHITIS, GASTRITIS, FLU, DYSPEPSIA, DIABETES]
TABLE_III: Partition = {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5, 6, 7})}
TABLE_V: Partition = {frozenset({0, 1}), frozenset({2, 3, 4, 5, 6, 7})}
CASE = by_force.Case(VOTERS, (tuple(range(6)),) * 2, tuple(sorted(T1)), 2)


def t1_rows() -> list[Row]:
    return by_force.rows_of([VOTERS[i] for i in IN_T1], T1)


def as_published(partition: Partition) -> Any:
    return by_force.by_boxes(VOTERS, T1, IN_T1, [frozenset(IN_T1[i] for i in group) for group in partition])


def test_opt_gen_turns_t1_into_table_iii_and_nothing_else_is_as_good() -> None:
    assert [TABLE_III] == optima(t1_rows(), 2)
    assert TABLE_III == opt_gen(t1_rows(), 2)
    assert discernibility(TABLE_III) == 24


def test_if_boxes_may_overlap_opt_gen_does_better_than_table_iii() -> None:
    # The paper's words, identical tuples in one group, would allow this; its Example 2 does not.
    ann_cate_don: Partition = {frozenset({0, 2, 3}), frozenset({1, 4}), frozenset({5, 6, 7})}
    best = optima(t1_rows(), 2, overlapping=True)

    assert ann_cate_don in best
    assert {discernibility(partition) for partition in best} == {22}


@pytest.fixture(scope="module")
def opt_gen_evidence() -> by_force.Evidence:
    """Opt-Gen on every world of the nine voters with the values of T1."""
    return by_force.evidence_of(
        lambda codes, sensitive, _: opt_gen(by_force.rows_of(codes, sensitive), 2),
        VOTERS,
        by_force.worlds_of(CASE),
        by_force.by_boxes,
    )


def test_ed_has_gastritis_for_certain_as_in_example_2(opt_gen_evidence: by_force.Evidence) -> None:
    weights = opt_gen_evidence.releases[as_published(TABLE_III)]
    found = by_force.beliefs_after(weights)
    by_force.say(f"Opt-Gen, Example 2: {opt_gen_evidence.n_worlds} worlds, {len(weights)} give Table III")

    assert found[ED, GASTRITIS] == 1
    assert all(BRUCE not in world for world, _ in weights)


def test_the_credibility_of_ed_is_one_quarter_as_in_example_3() -> None:
    # Proposition 2: the worlds of which Table III is a minimal 2-diverse generalization. Its boxes tell who is where.
    table_iii = as_published(TABLE_III)
    consistent = minimal = 0
    ed = Counter[int]()
    for people in combinations(range(9), 8):
        present = [VOTERS[i] for i in people]
        partitions = [p for p in global_recodings(tuple(present)) if sorted(map(len, p)) == [2, 2, 4]]
        for values in by_force.arrangements(CASE.values):
            for partition in partitions:
                members = [frozenset(people[i] for i in group) for group in partition]
                if by_force.by_boxes(VOTERS, values, list(people), members) == table_iii:
                    consistent += 1
                    if is_minimal(by_force.rows_of(present, values), partition, 2):
                        minimal += 1
                        ed[values[people.index(ED)]] += 1

    assert consistent == minimal == 96
    assert {GASTRITIS: 24, FLU: 24, DYSPEPSIA: 24, DIABETES: 24} == ed


def test_a_generalization_that_can_be_divided_is_not_minimal() -> None:
    assert is_minimal(t1_rows(), TABLE_III, 2)
    assert not is_minimal(t1_rows(), TABLE_V, 2)  # Cate and Don could be a group of their own
    assert not is_minimal(t1_rows(), {frozenset({0}), frozenset(range(1, 8))}, 2)  # not 2-diverse


def test_a_minimal_generalization_need_not_be_optimal() -> None:
    # Threes cannot be split into pairs, though pairs are possible.
    rows: list[Row] = [((i,), i) for i in range(6)]
    threes: Partition = {frozenset({0, 1, 2}), frozenset({3, 4, 5})}

    assert is_minimal(rows, threes, 2)
    assert {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5})} == opt_gen(rows, 2)


def test_vul_gen_gives_everybody_away_as_in_example_1() -> None:
    special = t1_rows()

    def method(codes: by_force.Codes, sensitive: Sequence[int], _: Any) -> Partition:
        return vul_gen(by_force.rows_of(codes, sensitive), special, TABLE_V, 2)

    without_bruce = by_force.Case(tuple(VOTERS[i] for i in IN_T1), CASE.positions, CASE.values, 2)
    evidence = by_force.evidence_of(method, without_bruce.codes, by_force.worlds_of(without_bruce))
    (release,) = [release for release in evidence.releases if len(release) == 2]
    found = by_force.beliefs_after(evidence.releases[release])

    assert [found[person, value] for person, value in enumerate(T1)] == [1] * 8
    assert not is_minimal(special, TABLE_V, 2)


# Mask, in the electronic appendix: Ann, Bob | Cate, Don | Ed, Fred, Gill

SEVEN: Partition = {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5, 6})}
T10 = (((0, 1), (0, 1)), ((2, 3), (0, 1)), ((4, 5, 6), (1, 1, 1)))  # dyspepsia 0, flu 1


def masked(world: attack.World) -> list[tuple[Fraction, Any]]:
    sensitive = list(world.values())

    def run(draws: Any) -> Any:
        values = mask(sensitive, SEVEN, 2, [0], draws)
        if values is None:
            return None
        return tuple(
            (tuple(sorted(group)), tuple(sorted(values[i] for i in group))) for group in sorted(SEVEN, key=min)
        )

    return enumerating.enumerate_runs(run)


def test_mask_edits_the_group_with_too_many_and_leaves_the_others() -> None:
    t9 = [0, 0, 0, 1, 1, 1, 1]
    found = {values: probability for probability, values in masked(dict(enumerate(t9)))}

    assert {T10: HALF, (((0, 1), (1, 1)), *T10[1:]): HALF} == found


def test_mask_lets_the_adversary_believe_7_12_of_ann_by_proposition_1_and_5_8_by_counting() -> None:
    found = attack.posterior(T10, masked, range(7), [0, 1])
    possible = [world for world in attack.worlds(range(7), [0, 1]) if T10 in [release for _, release in masked(world)]]

    assert found[0, 0] == Fraction(7, 12)
    assert len(possible) == 8
    assert len([world for world in possible if world[0] == 0]) == 5


def test_mask_publishes_nothing_if_no_group_can_be_a_donor_and_rounds_a_donor_of_another_size() -> None:
    first = lambda n: 0  # noqa: E731
    draws = type("First", (), {"below": staticmethod(first)})()

    assert mask([0, 0, 0, 0], {frozenset({0, 1}), frozenset({2, 3})}, 2, [0], draws) is None
    # Two tuples like 0 1 1: one of each. Three tuples like 1 2: the equal remainders go to the first value.
    assert mask([0, 0, 0, 1, 1], {frozenset({0, 1}), frozenset({2, 3, 4})}, 2, [0], draws) == [0, 1, 0, 1, 1]
    assert mask([0, 0, 0, 1, 2], {frozenset({0, 1, 2}), frozenset({3, 4})}, 2, [0], draws) == [1, 1, 2, 1, 2]


if __name__ == "__main__":
    full()
