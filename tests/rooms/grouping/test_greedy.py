# SPDX-License-Identifier: Apache-2.0
"""GG and RGG against their slow twins, and what they give away."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.grouping.along_order import greedy
from glasshouse.grouping.along_order.greedy import Greedy, RandomisedGreedy
from glasshouse.grouping.along_order.orderings import arranged
from glasshouse.grouping.method import times_e
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.doors import divided, forced, people, rows_of, run_interpreted
from tests.rooms.grouping.schedules import check_threads_and_rows
from tests.tables import Plain, plain_tables
from tests.tiers import examples
from tests.twins import by_force, enumerating, principles
from tests.twins import greedy as naive

LASTS = ["merge", "drop"]
ORDERINGS = ["lexicographic", "hilbert"]


def twin(table: gh.Microdata, size: int, holds: Any, ordering: str, last: str, seed: int) -> Any:
    order = arranged(table, ordering, (), gh.Source.seeded(seed), Memory()).tolist()
    return naive.gg(rows_of(table), size, holds, order, last)


def found(method: Any, principle: Any, table: gh.Microdata, seed: int) -> Any:
    try:
        return divided(method, principle, table, gh.Source.seeded(seed))
    except gh.Infeasible:
        return set()


@pytest.mark.parametrize("ordering", ORDERINGS)
@settings(max_examples=examples(400), deadline=None)
@given(
    plain=plain_tables(most=30, missing=True),
    ell=st.integers(2, 5),
    seed=st.integers(0, 3),
    last=st.sampled_from(LASTS),
)
def test_groups_under_l_diversity_are_those_of_the_slow_twin(
    ordering: str, plain: Plain, ell: int, seed: int, last: str
) -> None:
    table = plain.microdata(missing="category")
    expected = twin(table, ell, naive.frequency_diverse(ell), ordering, last, seed)
    method = Greedy(ordering=ordering, last=last)
    found_groups = found(method, gh.LDiversity(ell=ell), table, seed)

    if found_groups or last == "merge":  # a table that is not eligible is refused, also where groups could be dropped
        assert expected == found_groups


@settings(max_examples=examples(400), deadline=None)
@given(data=st.data(), ell=st.integers(2, 4), last=st.sampled_from(LASTS))
def test_groups_under_designated_diversity_are_those_of_the_slow_twin(data: st.DataObject, ell: int, last: str) -> None:
    sensitive = data.draw(st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=1, max_size=30).filter(lambda s: 1 in s))
    table = people([(i,) for i in range(len(sensitive))], sensitive)
    designated = ["s00001", "s00002"] if 2 in sensitive else ["s00001"]

    def holds(codes: Sequence[int]) -> bool:
        return bool(codes) and all(list(codes).count(code) * ell <= len(codes) for code in (1, 2))

    rows = [((i,), value) for i, value in enumerate(sensitive)]
    principle = gh.DesignatedLDiversity(ell=ell, values=tuple(designated))
    found_groups = found(Greedy(last=last), principle, table, 0)

    if found_groups or last == "merge":
        assert naive.gg(rows, ell, holds, leftover=last) == found_groups


@pytest.mark.parametrize("leap", [False, True])
@pytest.mark.parametrize("largest", [0, 2**62])
@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@settings(max_examples=examples(60), deadline=None)
@given(
    sensitive=st.lists(st.integers(0, 4), min_size=1, max_size=14),
    t=st.sampled_from(["0", "0.05", "1/7", "0.25", "1/3", "0.4", "0.6", "0.9"]),
    last=st.sampled_from(LASTS),
)
def test_groups_under_t_closeness_are_those_of_the_slow_twin(
    distance: str, largest: int, leap: bool, sensitive: list[int], t: str, last: str
) -> None:
    """With and without leaps, in 64 bits and in integers of any length."""
    values = sorted(set(sensitive))
    rows = [((i,), values.index(value)) for i, value in enumerate(sensitive)]
    names = [f"s{value}" for value in values]
    # in the taxonomy the first two values lie under one node, and every other one alone under its own
    nested = {"any": {"near": names[:2], **{f"over {name}": [name] for name in names[2:]}}}

    def apart(a: int, b: int) -> Fraction:
        return Fraction(0) if a == b else Fraction(1, 2) if {a, b} == {0, 1} else Fraction(1)

    grounds: dict[str, Any] = {
        "equal": lambda seen: principles.equal_distance,
        "ordered": lambda seen: principles.ordered_distance(len(seen)),
        "hierarchical": lambda seen: lambda a, b: apart(seen[a], seen[b]),
    }
    options: dict[str, Any] = {
        "equal": {},
        "ordered": {"ordered": {"s": names}},
        "hierarchical": {"taxonomies": {"s": gh.Taxonomy.from_nested(nested)}},
    }[distance]
    ids = list(range(len(sensitive)))
    columns = {"id": ids, "q": ids, "s": [f"s{value}" for value in sensitive]}
    table = gh.read(columns, identifier="id", quasi=["q"], sensitive="s", **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(greedy, "LEAP", leap)
        patch.setattr(greedy, "LARGEST_WORK", largest)

        assert naive.gg_close(rows, Fraction(t), last, grounds[distance]) == found(
            Greedy(last=last),
            gh.TCloseness(t=t, distance=distance),
            table,
            0,  # type: ignore[arg-type]
        )


@pytest.mark.parametrize("distance", ["equal", "ordered"])
@settings(max_examples=examples(200), deadline=None)
@given(
    runs=st.lists(
        st.tuples(st.sampled_from([0, 0, 0, 1, 2]), st.sampled_from([1, 2, 3, 30, 90])), min_size=2, max_size=12
    ),
    t=st.sampled_from(["0", "0.01", "0.05", "0.1"]),
    last=st.sampled_from(LASTS),
)
def test_leaps_end_before_any_group_can_be_close(distance: str, runs: list[tuple[int, int]], t: str, last: str) -> None:
    """Long runs of the frequent value, which a few of the rare ones make up for: there the leaps are tight."""
    sensitive = [value for value, length in runs for _ in range(length)]
    names = ["a", "b", "c"]
    columns = {"id": list(range(len(sensitive))), "q": list(range(len(sensitive))), "s": [names[v] for v in sensitive]}
    present = [name for value, name in enumerate(names) if value in sensitive]
    table = gh.read(columns, identifier="id", quasi=["q"], sensitive="s", ordered={"s": present})
    principle = gh.TCloseness(t=t, distance=distance)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(greedy, "LEAP", False)
        expected = found(Greedy(last=last), principle, table, 0)

    assert expected == found(Greedy(last=last), principle, table, 0)


def test_a_leap_ends_exactly_where_a_group_becomes_close() -> None:
    """Nine in ten have the frequent value. After 30 of them, two of the others are needed and enough."""
    sensitive = [0] * 30 + [1] * 2 + ([0] * 9 + [1]) * 28 + [0] * 6 + [1] * 2
    table = people([(i,) for i in range(len(sensitive))], sensitive)

    assert frozenset(range(32)) in found(Greedy(), gh.TCloseness(t="0.05"), table, 0)


@pytest.mark.parametrize("p", ["0", "1/2", "0.2", "2/3"])
@pytest.mark.parametrize("last", LASTS)
@pytest.mark.parametrize(
    ("sensitive", "ell"),
    [
        ([0, 1, 0, 1, 0, 1], 2),
        ([0, 0, 1, 1, 2, 2, 0], 2),
        ([2, 2, 1, 1, 0, 0, 3, 3], 2),
        ([0, 1, 2, 0, 0, 1, 3, 2, 3], 3),
    ],
)
def test_randomised_groups_are_as_likely_as_for_the_slow_twin(
    sensitive: list[int], ell: int, last: str, p: str
) -> None:
    rows = [((i,), value) for i, value in enumerate(sensitive)]
    table = people([(i,) for i in range(len(sensitive))], sensitive)
    method = RandomisedGreedy(p=p, last=last)
    expected = enumerating.distribution(
        lambda draws: frozenset(naive.rgg(rows, ell, naive.frequency_diverse(ell), Fraction(p), draws, leftover=last))
    )

    assert expected == enumerating.distribution(
        lambda draws: frozenset(divided(method, gh.LDiversity(ell=ell), table, draws))
    )


def test_randomised_groups_under_t_closeness_are_as_likely_as_for_the_slow_twin() -> None:
    sensitive, p = [0, 1, 1, 0, 0, 1], Fraction(1, 3)
    rows = [((i,), value) for i, value in enumerate(sensitive)]
    table = people([(i,) for i in range(6)], sensitive)
    holds = naive.close(sensitive, Fraction(1, 5))
    expected = enumerating.distribution(lambda draws: frozenset(naive.rgg(rows, 1, holds, p, draws)))

    assert expected == enumerating.distribution(
        lambda draws: frozenset(divided(RandomisedGreedy(p="1/3"), gh.TCloseness(t="1/5"), table, draws))
    )


@settings(max_examples=examples(100), deadline=None)
@given(plain=plain_tables(most=30), seed=st.integers(0, 3), last=st.sampled_from(LASTS))
def test_with_p_0_the_groups_are_those_of_greedy(plain: Plain, seed: int, last: str) -> None:
    table = plain.microdata()

    assert found(Greedy(last=last), gh.LDiversity(ell=2), table, seed) == found(
        RandomisedGreedy(p=0, last=last), gh.LDiversity(ell=2), table, seed
    )


@settings(max_examples=examples(60), deadline=None)
@given(plain=plain_tables(most=30), principle=st.sampled_from([gh.LDiversity(ell=2), gh.TCloseness(t=0.3)]))
def test_interpreted_kernels_give_the_same_groups(plain: Plain, principle: Any) -> None:
    table = plain.microdata()
    method = RandomisedGreedy(p="0.3", ordering="hilbert")
    expected = found(method, principle, table, 1)
    with run_interpreted(
        "glasshouse.grouping.along_order.greedy",
        "glasshouse.grouping.along_order.orderings",
        "glasshouse.engines.sorting",
    ):
        assert expected == found(method, principle, table, 1)


@pytest.mark.parametrize(
    "method",
    [
        Greedy(),
        Greedy(ordering="hilbert", priority=("zipcode",), last="drop"),
        RandomisedGreedy(p="1/2"),
        RandomisedGreedy(p="0.3", ordering="hilbert", last="drop"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("principle", [gh.LDiversity(ell=3), gh.TCloseness(t=0.5)], ids=repr)
def test_a_seeded_run_depends_neither_on_threads_nor_on_the_order_of_rows(method: Any, principle: Any) -> None:
    check_threads_and_rows(method, principle)


def test_dropped_tuples_are_counted_and_in_no_group() -> None:
    table = people([(i,) for i in range(7)], [0, 1, 0, 1, 2, 2, 2])
    groups = Greedy(last="drop").divide(table, Requirement.of(gh.LDiversity(ell=2), table))

    assert [0, 0, 1, 1, -1, -1, -1] == groups.labels.tolist()
    assert (groups.n_groups, groups.n_dropped) == (2, 3)


def test_a_designated_value_that_nobody_has_puts_no_bound_on_l() -> None:
    table = people([(0,), (1,), (2,), (3,)], [0, 0, 0, 1]).take(np.array([0, 1, 2]))
    principle = gh.DesignatedLDiversity(ell=2**31 - 1, values=("s00001",))

    assert divided(Greedy(), principle, table, gh.Source.seeded(0)) == {frozenset({0, 1, 2})}


def test_ceil_of_e_times_l_is_exact() -> None:
    assert [times_e(ell) for ell in range(1, 12)] == [3, 6, 9, 11, 14, 17, 20, 22, 25, 28, 30]
    # the convergents of e come closest to integers: 49171/18089 is above e, 25946/9545 below
    assert times_e(18089) == 49171
    assert times_e(9545) == 25947
    assert times_e(10**30) == 2718281828459045235360287471353


def test_safe_groups_are_those_of_the_larger_l() -> None:
    table = gh.synthetic.hospital(n=500, seed=3)
    ours = divided(Greedy(safe=True), gh.LDiversity(ell=2), table, gh.Source.seeded(1))

    assert ours == divided(Greedy(), gh.LDiversity(ell=6), table, gh.Source.seeded(1))
    assert ours != divided(Greedy(), gh.LDiversity(ell=2), table, gh.Source.seeded(1))


def test_safe_needs_a_table_that_is_eligible_at_the_larger_l() -> None:
    table = people([(i,) for i in range(8)], [0, 0, 1, 1, 2, 2, 3, 3])
    with pytest.raises(gh.Infeasible, match="6-diversity"):
        Greedy(safe=True).divide(table, Requirement.of(gh.LDiversity(ell=2), table))
    with pytest.raises(gh.NotSupported, match="has no l"):
        Greedy(safe=True).divide(table, Requirement.of(gh.TCloseness(t=0.5), table))


# What an adversary who knows it believes


def binary(ell: int) -> Any:
    return lambda: gh.DesignatedLDiversity(ell=ell, values=("s00001",))


def on_a_line(values: Sequence[int], ell: int) -> by_force.Case:
    n = len(values)
    return by_force.Case(tuple((i,) for i in range(n)), (tuple(range(n)),), tuple(values), ell)


@pytest.mark.parametrize(
    ("ell", "m", "expected"),
    [(2, 2, Fraction(1)), (3, 2, Fraction(2, 3)), (3, 3, Fraction(7, 10)), (4, 3, Fraction(15, 28))],
)
def test_the_belief_in_a_greedy_group_is_the_closed_form_of_theorem_6(ell: int, m: int, expected: Fraction) -> None:
    values = [0] * (m * ell - m) + [1] * m
    method = forced(Greedy(last="drop"), binary(ell))
    case = on_a_line(values, ell)
    evidence = by_force.evidence_of(method, case.codes, by_force.worlds_of(case))
    together = frozenset({(frozenset(range(m * ell)), tuple(sorted(values)))})
    beliefs = by_force.beliefs_after(evidence.releases[together])

    assert expected == max(belief for (_, value), belief in beliefs.items() if value == 1)


def test_greedy_gives_people_away_under_l_diversity_and_under_t_closeness() -> None:
    worst = by_force.worst_belief(forced(Greedy(), lambda: gh.LDiversity(ell=2)), on_a_line([0, 0, 1, 1, 2, 3], 2))
    closeness = by_force.worst_belief(
        forced(Greedy(last="drop"), lambda: gh.TCloseness(t="1/4")), on_a_line([0, 0, 1], 2)
    )

    assert worst.belief == 1
    assert closeness.belief == 1


@pytest.mark.parametrize(("safe", "n"), [(False, 3), (True, 7)])
def test_a_person_left_over_alone_is_merged_only_with_the_designated_value(safe: bool, n: int) -> None:
    values = [0] * (n - 1) + [1]
    case = on_a_line(values, 2)
    releases = by_force.evidence_of(forced(Greedy(safe=safe), binary(2)), case.codes, by_force.worlds_of(case)).releases

    assert by_force.beliefs_after(releases[frozenset({(frozenset(range(n)), tuple(values))})])[n - 1, 1] == 1


def test_the_safe_variant_keeps_beliefs_in_the_designated_value_below_one_in_l() -> None:
    """At l = 2 it runs at 6: up to three positives among eighteen people."""
    for values in ([0] * 10 + [1] * 2, [0] * 11 + [1] * 2, [0] * 15 + [1] * 3):
        method = forced(Greedy(last="drop", safe=True), binary(2))
        case = on_a_line(values, 2)
        evidence = by_force.evidence_of(method, case.codes, by_force.worlds_of(case))
        beliefs = [
            belief
            for release, weights in evidence.releases.items()
            for (person, value), belief in by_force.beliefs_after(weights).items()
            if value == 1 and any(person in group for group, _ in release)
        ]
        assert max(beliefs) < Fraction(1, 2)
        assert max(beliefs) > Fraction(1, 6)


# What it says of itself


def test_only_the_variant_of_theorem_6_claims_to_withstand_an_attacker_who_knows_it() -> None:
    table = gh.examples.minimality_figure6a()
    one = Requirement.of(gh.DesignatedLDiversity(ell=2, values=("Positive",)), table)
    both = Requirement.of(gh.DesignatedLDiversity(ell=2, values=("Positive", "Negative")), table)
    frequency = Requirement.of(gh.LDiversity(ell=2), table)

    def against(method: Any, requirement: Requirement) -> str:
        return str(method.claim(requirement).adversary.value)

    assert against(Greedy(safe=True, last="drop"), one) == "algorithm-aware"
    assert "e/6" in Greedy(safe=True, last="drop").claim(one).theorem
    for method, requirement in [
        (Greedy(last="drop"), one),
        (Greedy(safe=True), one),
        (Greedy(safe=True, last="drop"), both),
        (Greedy(safe=True, last="drop"), frequency),
        (RandomisedGreedy(p="0.65", last="drop"), one),
    ]:
        assert against(method, requirement) == "linking"
        assert any("e/" in limit for limit in method.claim(requirement).limits)
    assert any("left out" in limit for limit in Greedy(last="drop").claim(one).limits)
    assert not any("left out" in limit for limit in Greedy().claim(one).limits)
    close = Requirement.of(gh.TCloseness(t=0.2), table)
    assert against(Greedy(), close) == against(RandomisedGreedy(p=0), close) == "linking"
    with pytest.raises(gh.NotSupported):
        Greedy(safe=True).claim(close)


def test_principles_it_cannot_grow_under_are_refused() -> None:
    table = gh.examples.transparent_t1()
    for method in (Greedy(), RandomisedGreedy(p=0)):
        with pytest.raises(gh.NotSupported, match="l-diversity, designated l-diversity or t-closeness of one column"):
            method.divide(table, Requirement.of(gh.KAnonymity(k=2), table))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Greedy(last="keep"), "last must be 'merge' or 'drop'"),
        (lambda: Greedy(safe=1), "safe must be True or False"),  # type: ignore[arg-type]
        (lambda: Greedy(ordering="peano"), "ordering must be"),
        (lambda: RandomisedGreedy(p=1), "p must be a number >= 0 and below 1"),
        (lambda: RandomisedGreedy(p="often"), "p must be a number"),
        (lambda: RandomisedGreedy(p=0, last="keep"), "RandomisedGreedy: last must be"),
    ],
)
def test_parameters_out_of_range_are_refused(make: Any, message: str) -> None:
    with pytest.raises(gh.ParameterError, match=message):
        make()


def test_p_is_held_as_the_number_that_was_written() -> None:
    assert RandomisedGreedy(p=0.1).p == "0.1"
    assert repr(RandomisedGreedy(p="1/3", last="drop")).startswith("RandomisedGreedy(p='1/3', ordering=")
    assert RandomisedGreedy(p=RandomisedGreedy(p=0.1).p) == RandomisedGreedy(p="1/10")
