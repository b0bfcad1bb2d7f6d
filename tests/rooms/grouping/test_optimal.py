"""Opt-Gen against its slow twin, and what it gives away."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.grouping import opt_gen as optimal
from glasshouse.grouping.opt_gen import OptGen
from glasshouse.principles.principle import Requirement
from glasshouse.recoding.generalization import Boxes
from tests.tables import partition
from tests.tiers import examples
from tests.twins import optimal as naive

Rows = Sequence[tuple[tuple[int, ...], int]]


def microdata(rows: Rows) -> gh.Microdata:
    codes, sensitive = zip(*rows, strict=True)
    quasi = {f"q{dim}": list(values) for dim, values in enumerate(zip(*codes, strict=True))}
    columns = {**quasi, "s": [f"v{value}" for value in sensitive]}
    return gh.read(columns, quasi=list(quasi), sensitive="s")


def divide(table: gh.Microdata, ell: int, **options: Any) -> set[frozenset[int]]:
    return partition(OptGen().divide(table, Requirement.of(gh.LDiversity(ell=ell), table), **options))


def cost(groups: set[frozenset[int]]) -> int:
    return sum(len(group) ** 2 for group in groups)


@st.composite
def tables(draw: st.DrawFn, *, most_points: int = 6) -> tuple[Rows, int]:
    """Tuples in order of their quasi-identifiers, as the twin's ties are broken by; l-diverse as a whole."""
    dims = draw(st.integers(1, 4))
    widest = draw(st.sampled_from([1, 2, 3, 6]))
    point = st.tuples(*[st.integers(0, widest)] * dims)
    points = draw(st.lists(point, min_size=1, max_size=most_points, unique=True))
    ell = draw(st.integers(2, 4))
    people = draw(st.lists(st.sampled_from(points), max_size=4)) + points
    values = draw(st.lists(st.integers(0, ell + draw(st.integers(0, 2))), min_size=len(people), max_size=len(people)))
    rows = sorted(zip(people, values, strict=True))
    assume(max(values.count(value) for value in values) * ell <= len(values))
    return rows, ell


@settings(max_examples=examples(600))
@given(case=tables())
def test_groups_are_those_of_the_slow_twin(case: tuple[Rows, int]) -> None:
    rows, ell = case

    assert naive.opt_gen(rows, ell) == divide(microdata(rows), ell)


def test_groups_are_those_of_the_slow_twin_on_random_tables() -> None:
    """Many of them have several optima, of which the first must be taken."""
    rng = random.Random(11)
    tied = 0
    for _ in range(400):
        dims, n_points, ell = rng.randint(1, 4), rng.randint(3, 6), rng.choice([2, 2, 3])
        points = [tuple(rng.randint(0, 5) for _ in range(dims)) for _ in range(n_points)]
        values = rng.choice([ell, ell + 3, 20])
        rows = sorted((point, rng.randint(0, values)) for point in points for _ in range(rng.choice([1, 1, 1, 2])))
        best = naive.optima(rows, ell)
        if best:
            tied += len(best) > 1
            assert best[0] == divide(microdata(rows), ell)
    assert tied >= 60


def test_a_covering_that_is_found_late_and_costs_more_is_not_taken() -> None:
    """Bounds let the search come to a worse covering after the best one."""
    people = {(1, 6): [1, 1, 1, 4], (2, 0): [1, 2, 2], (2, 6): [0, 1, 3], (5, 3): [1, 2, 2], (5, 5): [0, 3, 3]}
    rows = [(point, value) for point, values in {**people, (6, 0): [0, 1]}.items() for value in values]

    assert naive.opt_gen(rows, 2) == divide(microdata(rows), 2)


# The optimum by brute force, of another build than the twin: all disjoint boxes, box by box


def least_cost(rows: Rows, ell: int) -> int:
    """The least cost of a partition into safe boxes that do not overlap; boxes are pairs of corners."""
    dims = range(len(rows[0][0]))

    def safe(group: Sequence[int]) -> bool:
        values = [rows[i][1] for i in group]
        return max(values.count(value) for value in values) * ell <= len(values)

    def overlap(one: Sequence[int], other: Sequence[int]) -> bool:
        def ends(group: Sequence[int], dim: int) -> tuple[int, int]:
            places = [rows[i][0][dim] for i in group]
            return min(places), max(places)

        return all(ends(one, d)[0] <= ends(other, d)[1] and ends(other, d)[0] <= ends(one, d)[1] for d in dims)

    @cache
    def boxes() -> list[tuple[int, ...]]:
        spans: set[tuple[tuple[int, int], ...]] = {()}
        for dim in dims:
            places = sorted({codes[dim] for codes, _ in rows})
            spans = {(*span, (a, b)) for span in spans for a in places for b in places if a <= b}
        inside = {
            tuple(i for i, (codes, _) in enumerate(rows) if all(a <= codes[d] <= b for d, (a, b) in enumerate(span)))
            for span in spans
        }
        return [group for group in inside if group and safe(group)]

    def coverings(left: frozenset[int], chosen: list[tuple[int, ...]]) -> Iterator[int]:
        if not left:
            yield sum(len(group) ** 2 for group in chosen)
            return
        for box in boxes():
            if box[0] == min(left) and not any(overlap(box, other) for other in chosen):
                yield from coverings(left - set(box), [*chosen, box])

    return min(coverings(frozenset(range(len(rows))), []))


@settings(max_examples=examples(100))
@given(case=tables(most_points=8))
def test_no_partition_into_boxes_is_cheaper(case: tuple[Rows, int]) -> None:
    rows, ell = case
    assume(len(rows[0][0]) < 4)

    assert least_cost(rows, ell) == cost(divide(microdata(rows), ell))


# What cuts cannot reach, and what boxes may not do


def test_the_arms_of_a_pinwheel_which_no_cut_separates_are_found() -> None:
    arms = [((0, 0), (0, 2)), ((0, 3), (2, 3)), ((3, 1), (3, 3)), ((1, 0), (3, 0))]
    rows = sorted((end, value) for value, arm in enumerate(arms) for end, value in zip(arm, (value, 4), strict=True))
    expected = {frozenset(i for i, (end, _) in enumerate(rows) if end in arm) for arm in arms}

    assert expected == naive.opt_gen(rows, 2)
    assert expected == divide(microdata(rows), 2)


def test_boxes_that_cross_without_a_common_tuple_are_not_allowed() -> None:
    upright, level = [(1, 0), (1, 2)], [(0, 1), (2, 1)]
    rows = sorted([(upright[0], 0), (upright[1], 1), (level[0], 0), (level[1], 0), (level[1], 1), (level[1], 1)])
    crossing = {frozenset(i for i, (codes, _) in enumerate(rows) if codes in arm) for arm in (upright, level)}

    assert crossing in naive.optima(rows, 2, overlapping=True)
    assert divide(microdata(rows), 2) == naive.opt_gen(rows, 2) == {frozenset(range(6))}


# The paper


def test_t1_becomes_table_iii() -> None:
    table = gh.examples.transparent_t1()
    groups = OptGen().divide(table, Requirement.of(gh.LDiversity(ell=2), table))
    published = Boxes().recode(table, groups)["data"].to_pylist()

    assert {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5, 6, 7})} == partition(groups)
    assert [(row["Age"], row["Zipcode"]) for row in published] == [
        *[("[21, 27]", "[10000, 18000]")] * 2,
        *[("32", "35000")] * 2,
        *[("[54, 60]", "[60000, 63000]")] * 4,
    ]


def test_ed_has_gastritis_in_every_world_that_gives_table_iii_as_in_example_2() -> None:
    """The boxes say who is where (and that Bruce is not there), so values change places inside their group only."""
    people = gh.examples.transparent_t1()
    ages, zips, diseases = (
        column.domain.decode(column.codes).to_pylist() for column in (*people.quasi, *people.sensitive)
    )
    table_iii = divide(people, 2)
    worlds = {
        (*first, *second, *third)
        for first in permutations(diseases[:2])
        for second in permutations(diseases[2:4])
        for third in permutations(diseases[4:])
    }
    agreeing = []
    for world in sorted(worlds):
        columns = {"Age": ages, "Zipcode": zips, "Disease": list(world)}
        if divide(gh.read(columns, quasi=["Age", "Zipcode"], sensitive="Disease"), 2) == table_iii:
            agreeing.append(world)

    assert len(worlds) == 96  # Example 3: credibility counts them all, and finds 1/4
    assert Fraction(sum(world[4] == "gastritis" for world in worlds), len(worlds)) == Fraction(1, 4)
    assert agreeing
    assert {"gastritis"} == {world[4] for world in agreeing}


def test_it_claims_nothing_against_who_knows_it_and_says_why() -> None:
    table = gh.examples.transparent_t1()
    claim = OptGen().claim(Requirement.of(gh.LDiversity(ell=2), table))

    assert claim.adversary.value == "linking"
    assert "reverse engineering attack" in claim.limits[0]
    assert "Example 2 of TRANSPARENT" in claim.limits[0]
    assert (OptGen.name, OptGen.looks_at, OptGen.randomised) == ("opt-gen", "both", False)


# Laws


@settings(max_examples=examples(100))
@given(case=tables(most_points=9), data=st.data())
def test_neither_row_order_nor_threads_nor_seeds_nor_names_of_values_matter(
    case: tuple[Rows, int], data: st.DataObject
) -> None:
    rows, ell = case
    order = data.draw(st.permutations(range(len(rows))))
    names = data.draw(st.permutations(range(8)))
    shuffled = [(rows[i][0], names[rows[i][1]]) for i in order]
    options = {"source": gh.Source.seeded(3), "engine": Memory(threads=4)}
    found = {frozenset(order[i] for i in group) for group in divide(microdata(shuffled), ell, **options)}

    assert divide(microdata(rows), ell) == found


@settings(max_examples=examples(100))
@given(case=tables(most_points=9))
def test_every_group_is_diverse_and_keeps_equal_tuples_together(case: tuple[Rows, int]) -> None:
    rows, ell = case
    groups = divide(microdata(rows), ell)

    assert sorted(i for group in groups for i in group) == list(range(len(rows)))
    for group in groups:
        values = [rows[i][1] for i in group]
        assert max(values.count(value) for value in values) * ell <= len(values)
        assert all((rows[i][0] == rows[j][0]) <= (j in group) for i in group for j in range(len(rows)))


@settings(max_examples=examples(100))
@given(case=tables(most_points=8))
def test_bounds_save_time_and_change_nothing(case: tuple[Rows, int]) -> None:
    """Without the bounds on boxes and on coverings all are tried, up to any cost."""
    rows, ell = case
    table = microdata(rows)
    expected = divide(table, ell)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimal.Points, "_cost_with", lambda *_: 0)
        patch.setattr(
            optimal.Cover, "_fewest", lambda self, available, uncovered, _: lowest(self, available, uncovered)
        )

        assert expected == divide(table, ell)


def lowest(cover: Any, available: int, uncovered: int) -> int:
    """All candidates of the lowest point."""
    return int(available & cover.holding[next(optimal.members(uncovered))])


def test_even_sizes_have_the_least_squares() -> None:
    for total in range(1, 12):
        for parts in range(1, total + 1):
            cheapest = min(sum(size**2 for size in sizes) for sizes in compositions(total, parts))
            assert cheapest == optimal.even_squares(total, parts)


def compositions(total: int, parts: int) -> Iterator[list[int]]:
    if parts == 1:
        yield [total]
        return
    for first in range(1, total - parts + 2):
        yield from ([first, *rest] for rest in compositions(total - first, parts - 1))


# Size


def wide(n_points: int, dims: int, seed: int = 0, each: int = 1) -> gh.Microdata:
    rng = np.random.default_rng(seed)
    codes = np.repeat(rng.permuted(np.tile(np.arange(n_points), (dims, 1)), axis=1), each, axis=1)
    columns = {f"q{dim}": axis for dim, axis in enumerate(codes)}
    return gh.read({**columns, "s": [f"v{i % 7}" for i in range(n_points * each)]}, quasi=list(columns), sensitive="s")


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_a_table_of_the_largest_size_is_divided(dims: int) -> None:
    table = wide(OptGen.MOST_POINTS, dims)
    groups = OptGen().divide(table, Requirement.of(gh.LDiversity(ell=2), table))

    assert (groups.counts(table.sensitive[0]).largest * 2 <= groups.sizes).all()
    assert groups.n_groups > 1


def test_many_tuples_on_few_points_are_no_matter() -> None:
    table = wide(6, 2, each=20_000)

    assert [20_000] * 6 == sorted(len(group) for group in divide(table, 6))


@pytest.mark.parametrize("dims", [1, 5])
def test_a_larger_table_is_refused_with_what_to_use_instead(dims: int) -> None:
    table = wide(OptGen.MOST_POINTS + 1, dims)

    with pytest.raises(gh.NotSupported, match=f"more than {OptGen.MOST_POINTS} different combinations") as refusal:
        divide(table, 2)
    assert "'mirror'" in refusal.value.instead


def test_combinations_are_counted_and_not_the_values_of_an_attribute() -> None:
    codes = [(i, j) for i in range(5) for j in range(5)]
    table = microdata([(point, i % 3) for i, point in enumerate(codes)])

    with pytest.raises(gh.NotSupported, match="different combinations"):
        divide(table, 2)


def test_other_requirements_are_refused() -> None:
    table = gh.examples.transparent_t1()

    with pytest.raises(gh.NotSupported, match="Opt-Gen supports only l-diversity"):
        OptGen().divide(table, Requirement.of(gh.KAnonymity(k=2), table))


def test_a_table_without_any_diverse_partition_is_infeasible() -> None:
    table = microdata([((0,), 0), ((1,), 0), ((2,), 1)])

    with pytest.raises(gh.Infeasible):
        divide(table, 2)
