# SPDX-License-Identifier: Apache-2.0
"""Sift beside its slow twin: plans, chances, every step on larger tables; what it claims and refuses; broken variants.

Theorem S1 itself is tried by `test_robust_transparency.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from random import Random
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.engines import Nodes
from glasshouse.grouping.anatomize.anatomize import anatomize_segments
from glasshouse.grouping.sift import sift as module
from glasshouse.kernels import compiled, interpreted
from glasshouse.policy import choices
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping import sift_search
from tests.rooms.grouping.against_twins import Script
from tests.rooms.grouping.doors import ALONE, divided, forced, people, run_interpreted
from tests.rooms.grouping.schedules import check_threads_and_rows
from tests.rooms.grouping.sift_search import FAULTS, in_a_row
from tests.tables import partition
from tests.tiers import tables
from tests.twins import by_force, enumerating, robust
from tests.twins import sift as naive
from tests.twins.anatomize import varied

KERNELS = "glasshouse.grouping.sift._kernels"


def chances(run: by_force.Method, case: by_force.Case, *, limit: int = 100_000) -> dict[Any, Fraction]:
    """How likely each partition is, over all random choices."""
    return enumerating.distribution(
        lambda draws: frozenset(frozenset(group) for group in run(case.codes, list(case.values), draws)), limit=limit
    )


# --- chances ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "ell"),
    [
        ((0, 1, 2, 3), 2),  # halved at once
        ((0, 0, 1, 1), 2),  # a leaf
        ((0, 0, 1, 1, 2), 2),
        ((0, 1, 2, 3, 4), 2),  # halves of two and three
        ((0, 0, 1, 1, 2, 3), 2),  # two are set aside, what is above K
        ((0, 0, 1, 2, 3, 4), 2),  # two are set aside, one of them for the room that there is
        ((0, 0, 1, 1, 2, 3, 4), 2),
        ((0, 0, 0, 1, 2, 3, 4), 2),
        ((0, 0, 0, 0, 1, 1, 1, 1), 2),  # two blocks
        ((0, 0, 0, 1, 1, 2, 2, 3), 2),
        ((0, 0, 1, 1, 2, 2, 3, 3), 2),  # halved at once, and then by what the halves have
        ((0, 0, 0, 1, 1, 2, 2, 3, 4), 2),
        ((0, 1, 2, 3, 4, 5), 3),
        ((0, 1, 2, 3, 4, 5, 6), 3),
        ((0, 0, 0, 1, 1, 1, 2, 2, 2), 3),
        ((0, 0, 1, 1, 2, 3, 4, 5, 6), 3),  # three are set aside
    ],
)
def test_every_partition_of_people_in_a_row_has_the_chance_that_it_has_for_the_twin(
    values: tuple[int, ...], ell: int
) -> None:
    mixed = Random(str(values)).sample(values, len(values))
    case = in_a_row(mixed, ell)

    found = chances(sift_search.product(case), case)

    assert found == chances(sift_search.twin(case), case)
    assert sum(found.values()) == 1


def test_so_has_every_partition_of_random_tables() -> None:
    n_tables = n_outcomes = n_aside = 0
    shape: dict[str, Any] = {"people": range(4, 10), "ells": (2, 2, 3), "n_values": (3, 5, 7, 9), "max_worlds": 10**9}
    for case in by_force.random_cases(41, tables(600), **shape):
        mixed = tuple(Random(str(case)).sample(case.values, len(case.values)))
        case = by_force.Case(case.codes, case.positions, mixed, case.ell)
        try:
            expected = chances(sift_search.twin(case), case, limit=400)
            found = chances(sift_search.product(case), case, limit=400)
        except enumerating.TooManyRuns:
            continue
        assert expected == found, case
        n_tables += 1
        n_outcomes += len(expected)
        decision = naive.decide(Counter(case.values), case.ell)
        n_aside += decision is not None and decision.k > 0
    by_force.say(f"{n_tables} tables, {n_outcomes} outcomes; of {n_aside} tables people are set aside")

    assert n_tables > tables(200)
    assert n_outcomes > n_tables
    assert n_aside > 0


@pytest.mark.parametrize("method", [gh.Sift(), gh.Anatomize(varied=True)], ids=repr)
@pytest.mark.parametrize("values", [(0, 1, 2, 3), (0, 0, 1, 1, 2), (0, 0, 1, 1, 2, 2), (0, 0, 1, 1, 2, 3)])
def test_the_first_order_of_values_of_one_block_decides_nothing(method: Any, values: tuple[int, ...]) -> None:
    if method.name == "anatomize" and len(set(values)) > 3:
        return  # half a million runs
    case = in_a_row(values)
    every = forced(method, lambda: gh.LDiversity(ell=2), case.positions)

    assert chances(every, case) == chances(sift_search.product(case, method), case)


@pytest.mark.parametrize("ell", [2, 3, 5])
def test_the_varied_groups_of_larger_tables_are_those_of_the_twin(ell: int) -> None:
    n_blocks = 0
    for number, histogram in enumerate(histograms_of_nodes(Random(ell + 90), ell, tables(60))):
        values = Random(number).sample([*histogram.elements()], histogram.total())
        script = Script(f"{ell}/{number}")
        expected = varied([((i,), value) for i, value in enumerate(values)], ell, script)
        codes, whole = np.array(values, np.int32), np.array([0, len(values)])
        labels = anatomize_segments(codes, whole, max(values) + 1, ell, script, ALONE, varied=True)  # type: ignore[arg-type]
        assert expected == partition(gh.Groups(labels, int(labels.max()) + 1))
        n_blocks = max(n_blocks, len(values) // ell // len(histogram))
    assert n_blocks > 2


# --- plans -----------------------------------------------------------------------------------------------------------


def planned(kernels: Any, histograms: Sequence[Counter[int]], ell: int) -> list[tuple[int, Counter[int]]]:
    """For each node, how many people are halved, and how many of each value are set aside: one call of the kernel."""
    first = np.cumsum([0, *map(len, histograms)], dtype=np.int64)
    sizes = np.array([h[value] for h in histograms for value in sorted(h)], np.int64)
    aside, rest = np.full(len(sizes), -1, np.int64), np.full(len(histograms), -1, np.int64)
    kernels(KERNELS).plan_nodes(first, sizes, ell, aside, rest)
    return [
        (n, +Counter(dict(zip(sorted(h), aside[start:stop].tolist(), strict=True))))
        for h, n, (start, stop) in zip(histograms, rest.tolist(), pairwise(first.tolist()), strict=True)
    ]


def decided(histogram: Counter[int], ell: int) -> tuple[int, Counter[int]]:
    """The same, by the twin."""
    decision = naive.decide(histogram, ell)
    if decision is None:
        return 0, Counter()
    return 2 * ell * decision.k or histogram.total(), decision.aside


def histograms_of_nodes(random: Random, ell: int, n: int) -> Iterator[Counter[int]]:
    """Nodes of up to 400 people that are l-diverse, from few values to many, at the very limit and far from it."""
    while n:
        n_values = random.choice((ell, 2 * ell, 2 * ell + 1, 3 * ell, 20))
        most = random.choice((1, 2, 3, 8, 30))
        sizes = [random.randint(1, most) for _ in range(n_values)]
        if random.random() < 0.6:  # one value or two are as frequent as they may be, or a little less
            others = sum(sizes[1:])
            sizes[0] = max(1, others // (ell - 1) - random.choice((0, 0, 0, 1, 2, 5)))
        if max(sizes) * ell <= sum(sizes) <= 400:
            random.shuffle(sizes)
            yield Counter({3 * value + 1: size for value, size in enumerate(sizes)})
            n -= 1


@pytest.mark.parametrize("kernels", [compiled, interpreted])
@pytest.mark.parametrize("ell", [2, 3, 4, 7])
def test_the_plan_of_every_node_is_that_of_the_twin(kernels: Any, ell: int) -> None:
    histograms = [*histograms_of_nodes(Random(ell), ell, tables(3_000 if kernels is compiled else 500))]

    expected = [decided(h, ell) for h in histograms]

    assert planned(kernels, histograms, ell) == expected
    kinds = Counter("aside" if aside else "halved" if rest else "leaf" for rest, aside in expected)
    assert min(kinds[kind] for kind in ("aside", "halved", "leaf")) > 0


def test_what_is_planned_is_as_the_proof_needs_it() -> None:
    for ell in (2, 3, 5):
        for h in histograms_of_nodes(Random(ell + 50), ell, tables(1_000)):
            decision = naive.decide(h, ell)
            if decision is not None and decision.k:
                rest, aside = h - decision.aside, decision.aside
                assert rest + aside == h
                assert rest.total() == 2 * ell * decision.k
                assert max(rest.values()) <= decision.k
                assert max(aside.values()) * ell <= aside.total()


@pytest.mark.parametrize(("ell", "most"), [(2, 11), (3, 12)])
def test_nobody_more_is_set_aside_than_must_be(ell: int, most: int) -> None:
    """By exhaustion: all histograms of so many people, and all ways to set people aside."""
    n_aside = n_leaves = 0
    for n in range(ell, most + 1):
        for sizes in partitions(n, n // ell):
            histogram = Counter(dict(enumerate(sizes)))
            decision = naive.decide(histogram, ell)
            k = 0 if decision is None else decision.k or n
            n_aside += 0 < k < n
            n_leaves += k == 0
            for aside in product(*(range(size + 1) for size in sizes)):
                left, rest = sum(aside), [size - gone for size, gone in zip(sizes, aside, strict=True)]
                more, over = divmod(n - left, 2 * ell)
                if left and not over and more > k:
                    assert max(rest) > more or max(aside) * ell > left, (sizes, aside)
    assert n_aside > 5
    assert n_leaves > 5


@pytest.mark.parametrize(("ell", "most"), [(2, 16), (3, 18)])
def test_the_last_condition_follows_from_the_others(ell: int, most: int) -> None:
    """Where nodes are not halved at once, the largest K by the first two conditions meets all three."""
    for n in range(2 * ell, most + 1):
        for sizes in partitions(n, n // ell):
            if max(sizes) > n // 2 // ell:
                first_two = [
                    k for k in range(1, n // ell - max(sizes) + 1) if sum(min(size, k) for size in sizes) >= 2 * ell * k
                ]
                decision = naive.decide(Counter(dict(enumerate(sizes))), ell)
                assert max(first_two, default=0) == (0 if decision is None else decision.k), sizes


def partitions(n: int, most: int) -> Iterator[tuple[int, ...]]:
    """All ways to write n as a sum of numbers up to ``most``, the largest first."""
    if n == 0:
        yield ()
    for part in range(min(n, most), 0, -1):
        yield from ((part, *others) for others in partitions(n - part, part))


# --- every step ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ell", [2, 3, 5])
def test_every_step_on_a_larger_table_is_one_of_the_twin(ell: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes are written down as the product divides them, with what becomes of each, and the twin is asked the same."""
    steps: list[tuple[list[int], list[frozenset[int]]]] = []
    inner = module._sifted

    def members(rows: Any, nodes: Nodes) -> list[list[int]]:
        _, numbers, offsets = rows.take(nodes)
        return [numbers[start:stop].tolist() for start, stop in pairwise(offsets.tolist())]

    def watched(rows: Any, nodes: Nodes, *rest: Any) -> tuple[Nodes, Nodes]:
        before = members(rows, nodes)
        halves, leaves = inner(rows, nodes, *rest)
        parts = [frozenset(part) for found in (halves, leaves) for part in members(rows, found)]
        steps.extend((node, [part for part in parts if part <= set(node)]) for node in before)
        return halves, leaves

    monkeypatch.setattr(module, "_sifted", watched)
    random = Random(ell)
    n, n_values = 400, random.choice((5 * ell, 40))
    codes = [(random.randrange(9), random.randrange(60), random.randrange(2), 7) for _ in range(n)]
    values = [min(random.randrange(n_values), random.randrange(n_values)) for _ in range(n)]
    table = people(codes, values)
    divided(gh.Sift(weights={"q0": 2, "q1": 1}), gh.LDiversity(ell=ell), table, gh.Source.seeded(ell), ALONE)

    slow = naive.Sift(
        rows=[(tuple(int(c.codes[i]) for c in table.quasi), values[i]) for i in range(n)],
        positions=[c.domain.values.to_pylist() for c in table.quasi],
        ell=ell,
        weights=[Fraction(2), Fraction(1), Fraction(0), Fraction(0)],
    )
    order = sorted(range(n), key=lambda i: (slow.rows[i][0], i))
    numbered = replace(slow, rows=[slow.rows[i] for i in order])
    place = {row: number for number, row in enumerate(order)}
    n_aside = 0
    for node, parts in steps:
        decision = naive.decide(Counter(values[i] for i in node), ell)
        if decision is None:
            assert parts == [frozenset(node)]
            continue
        aside = [part for part in parts if part not in parts[:2]]
        assert [Counter(values[i] for i in part) for part in aside] == ([decision.aside] if decision.k else [])
        rest = sorted(place[i] for i in node if not any(i in part for part in aside))
        assert parts[:2] == [frozenset(order[i] for i in half) for half in numbered.halves(rest)]
        n_aside += len(aside)
    assert n_aside > 0
    assert len(steps) > 20


# --- groups ----------------------------------------------------------------------------------------------------------


def check_groups(values: Sequence[int], groups: Any, ell: int) -> None:
    assert sorted(i for group in groups for i in group) == list(range(len(values)))
    for group in groups:
        assert len(group) == len({values[i] for i in group}) >= ell


@pytest.mark.parametrize("method", [gh.Sift(), gh.Anatomize(varied=True)], ids=repr)
def test_every_group_has_different_values_and_at_least_l_people(method: Any) -> None:
    random = Random(42)
    for number in range(tables(400)):
        ell = random.choice((2, 3, 4, 6))
        (histogram,) = histograms_of_nodes(random, ell, 1)
        values = random.sample([*histogram.elements()], histogram.total())
        codes = [(random.randrange(7), random.randrange(100)) for _ in values]
        groups = divided(method, gh.LDiversity(ell=ell), people(codes, values), gh.Source.seeded(number), ALONE)
        check_groups(values, groups, ell)


@pytest.mark.parametrize("method", [gh.Sift(), gh.Anatomize(varied=True)], ids=repr)
@pytest.mark.parametrize(
    ("values", "ell", "sizes"),
    [
        ([0] * 50 + [1] * 50, 2, {2}),
        ([0] * 50 + [1] * 30 + [2] * 20, 2, {2}),
        ([0] * 33 + [1] * 33 + [2] * 33, 3, {3}),
        ([0] * 33 + [*range(1, 68)], 3, {3, 4}),
        ([*range(100)], 100, {100}),
        ([*range(7)], 7, {7}),
        ([0, 1], 2, {2}),
        ([0, 1, 2], 2, {3}),
    ],
)
def test_tables_at_the_very_limit_are_divided(method: Any, values: list[int], ell: int, sizes: set[int]) -> None:
    mixed = Random(ell).sample(values, len(values))
    groups = divided(
        method, gh.LDiversity(ell=ell), people([(i,) for i in range(len(mixed))], mixed), gh.Source.seeded(1)
    )

    check_groups(mixed, groups, ell)
    assert {len(group) for group in groups} == sizes


def test_where_everybody_has_a_value_of_their_own_neighbours_are_together() -> None:
    table = people([(i,) for i in range(64)], [(5 * i) % 64 for i in range(64)])
    groups = divided(gh.Sift(), gh.LDiversity(ell=2), table, gh.Source.seeded(1))

    assert {max(group) - min(group) for group in groups} == {1}


def test_where_all_quasi_identifiers_are_equal_the_tie_order_decides() -> None:
    table = people([(7, 3)] * 64, [(5 * i) % 64 for i in range(64)])
    groups = divided(gh.Sift(), gh.LDiversity(ell=2), table, gh.Source.seeded(1))

    assert {max(group) - min(group) for group in groups} == {1}


# --- priority, weights, seeds ----------------------------------------------------------------------------------------


def spans(method: Any, dim: int) -> list[int]:
    codes = [(i, (5 * i) % 64) for i in range(64)]
    table = people(codes, [(3 * i) % 64 for i in range(64)])
    groups = divided(method, gh.LDiversity(ell=4), table, gh.Source.seeded(1))
    return [max(codes[i][dim] for i in group) - min(codes[i][dim] for i in group) for group in groups]


@pytest.mark.parametrize("method", [gh.Sift(priority=("q1",)), gh.Sift(weights={"q1": 2})], ids=repr)
def test_only_what_is_listed_or_has_weight_is_halved(method: Any) -> None:
    assert spans(method, 1) == [3] * 16
    assert max(spans(gh.Sift(), 1)) > 3


def test_weights_can_be_given_on_the_command_line_and_in_policies() -> None:
    for given in ("age:3,sex:0.5", [["age", 3], ["sex", "0.5"]]):
        assert choices.method({"method": "sift", "parameters": {"weights": given}}) == gh.Sift(
            weights={"age": 3, "sex": "1/2"}
        )


def test_equal_weights_change_nothing() -> None:
    table = gh.synthetic.census(2_000, seed=3)
    requirement = Requirement.of(gh.LDiversity(ell=3), table)
    found = [
        gh.Sift(weights=weights).divide(table, requirement, source=gh.Source.seeded(1)).labels
        for weights in ({}, {column.name: "2/3" for column in table.quasi})
    ]
    assert np.array_equal(*found)


@pytest.mark.parametrize("method", [gh.Sift(), gh.Anatomize(varied=True)], ids=repr)
def test_a_seeded_run_depends_neither_on_threads_nor_on_the_order_of_rows(method: Any) -> None:
    check_threads_and_rows(method, gh.LDiversity(ell=3))


def test_another_seed_gives_other_groups() -> None:
    table = gh.synthetic.census(500, seed=1)
    requirement = Requirement.of(gh.LDiversity(ell=3), table)
    first, again, other = (
        gh.Sift().divide(table, requirement, source=gh.Source.seeded(seed)).labels for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("method", [gh.Sift(), gh.Anatomize(varied=True)], ids=repr)
def test_interpreted_kernels_give_the_same_groups(method: Any) -> None:
    table = gh.synthetic.census(300, seed=4)
    for ell in (2, 3, 6):
        requirement = Requirement.of(gh.LDiversity(ell=ell), table)
        expected = method.divide(table, requirement, source=gh.Source.seeded(5))
        with run_interpreted(
            "glasshouse.grouping.sift.sift",
            "glasshouse.grouping.mirror.halves",
            "glasshouse.grouping.anatomize.anatomize",
        ):
            found = method.divide(table, requirement, source=gh.Source.seeded(5))
        assert np.array_equal(expected.labels, found.labels)


# --- claims and refusals ---------------------------------------------------------------------------------------------


def test_the_claim_names_the_theorem_and_what_must_be_public() -> None:
    table = gh.synthetic.hospital(200, seed=1)
    asked = Requirement.of(gh.LDiversity(ell=2), table)
    plain, chosen = gh.Sift().claim(asked), gh.Sift(priority=("age",), weights={"age": 1}).claim(asked)

    assert {claim.adversary.value for claim in (plain, chosen)} == {"algorithm-aware"}
    assert "Theorem S1" in plain.theorem == chosen.theorem
    for word in ("priority", "weights"):
        assert not any(word in text for text in plain.assumptions)
        assert any(word in text for text in chosen.assumptions)


@pytest.mark.parametrize(
    "principle",
    [
        gh.KAnonymity(k=2),
        gh.DistinctLDiversity(ell=2),
        gh.EntropyLDiversity(ell=2),
        gh.TCloseness(t="1/2"),
        gh.AllOf(principles=(gh.KAnonymity(k=2), gh.LDiversity(ell=2))),
    ],
    ids=lambda principle: principle.name,
)
def test_other_principles_are_refused(principle: Any) -> None:
    table = gh.synthetic.hospital(50, seed=1)
    with pytest.raises(gh.NotSupported, match="Sift supports only l-diversity"):
        gh.Sift().divide(table, Requirement.of(principle, table))
    with pytest.raises(gh.NotSupported, match="Sift supports only l-diversity"):
        gh.Sift().claim(Requirement.of(principle, table))


def test_a_table_that_is_not_diverse_enough_is_refused() -> None:
    table = people([(0,), (1,), (2,), (3,)], [0, 0, 0, 1])
    with pytest.raises(gh.Infeasible, match="3 of 4"):
        gh.Sift().divide(table, Requirement.of(gh.LDiversity(ell=2), table))
    with pytest.raises(gh.Infeasible):
        gh.Sift().divide(table, Requirement.of(gh.LDiversity(ell=2**31 - 1), table))


def test_a_priority_and_weights_must_name_quasi_identifiers() -> None:
    table = gh.synthetic.hospital(50, seed=1)
    requirement = Requirement.of(gh.LDiversity(ell=2), table)
    with pytest.raises(gh.SchemaError, match="weight"):
        gh.Sift(priority=("weight",)).divide(table, requirement)
    with pytest.raises(gh.SchemaError, match="height"):
        gh.Sift(weights={"height": 1}).divide(table, requirement)


@pytest.mark.parametrize(
    "wrong",
    [
        {"priority": "age,age"},
        {"priority": ("age", "age")},
        {"weights": {"age": -1}},
        {"weights": {"age": 0}},
        {"weights": 3},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: Any) -> None:
    with pytest.raises(gh.ParameterError, match="Sift"):
        gh.Sift(**wrong)


# --- what each part is for -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAULTS)
def test_broken_variants_are_found_out(name: str) -> None:
    fault, case = FAULTS[name]

    assert examined(case) == (Fraction(1, 2), 0)
    belief, n_tied = examined(case, **fault)
    assert belief == 1
    assert n_tied > 0


@pytest.mark.parametrize(
    ("name", "values"),
    [("a node is halved if its own halves are safe", (0, 0, 1, 2)), ("leaves dealt by nearness", (0, 0, 1, 1))],
)
def test_of_four_people_worlds_are_no_product_while_nothing_is_believed_above_one_in_two(
    name: str, values: tuple[int, ...]
) -> None:
    fault, _ = FAULTS[name]

    assert examined(in_a_row(values)) == (Fraction(1, 2), 0)
    belief, n_tied = examined(in_a_row(values), **fault)
    assert belief == Fraction(1, 2)
    assert n_tied > 0


def test_an_attribute_that_is_chosen_by_a_look_at_values_is_found_out() -> None:
    # four people in a square are halved along the attribute that parts the people with the values 0 and 1
    square = by_force.Case(((0, 0), (0, 1), (1, 0), (1, 1)), ((0, 1), (0, 1)), (0, 1, 2, 3), 2)
    along = [sift_search.twin(square, dims=[dim]) for dim in (0, 1)]

    def looking(codes: by_force.Codes, sensitive: Sequence[int], draws: Any) -> by_force.Groups:
        first, second = (codes[list(sensitive).index(value)] for value in (0, 1))
        return along[first[0] == second[0]](codes, sensitive, draws)

    for sound in along:
        assert judged(sound, square) == (Fraction(1, 2), 0)
    assert judged(looking, square)[1] > 0


def examined(case: by_force.Case, **fault: Any) -> tuple[Fraction, int]:
    """What `judged` says of the slow twin."""
    return judged(sift_search.twin(case, **fault), case)


def judged(method: by_force.Method, case: by_force.Case) -> tuple[Fraction, int]:
    """By all worlds of a table: the highest belief, and after how many releases worlds are no product over groups."""
    n, uniform = len(case.values), [[1] * (max(case.values) + 1)] * len(case.values)
    evidence = robust.evidence_of(robust.told_by_groups(method), case)
    classes = [found for told in evidence.releases.values() for found in told.items()]
    beliefs = [max(robust.beliefs(weights.items(), uniform, range(n)).values()) for _, weights in classes]
    return max(beliefs), sum(not robust.is_product(told, weights) for told, weights in classes)
