# SPDX-License-Identifier: Apache-2.0
"""Mirror beside its slow twin: shapes, remainders, leaves, plans, chances; and what it claims and refuses."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from math import comb
from random import Random
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.grouping.method import least_size
from glasshouse.grouping.mirror import halves as halving
from glasshouse.grouping.mirror import mirror as module
from glasshouse.grouping.mirror.halves import shape_of
from glasshouse.grouping.mirror.mirror import Mirror, balanced_segments, balanced_slices
from glasshouse.grouping.perimeter import multipliers, weigh, weighted_places
from glasshouse.grouping.transparent.packed_rows import packed_rows
from glasshouse.kernels import compiled, interpreted
from glasshouse.microdata import Counts
from glasshouse.policy import choices
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.against_twins import Case, Script
from tests.rooms.grouping.doors import back, divided, run_interpreted
from tests.rooms.grouping.mirror_search import EvenlyMany, failed_leaves
from tests.tables import partition
from tests.tiers import tables
from tests.twins import enumerating, greedy
from tests.twins import mirror as naive
from tests.twins.mondrian import Partition

KERNELS = "glasshouse.grouping.mirror._balanced_kernels"
NEVER = 1 << 40
WAYS = [
    halving.Thresholds(),
    halving.Thresholds(dense=0),
    halving.Thresholds(dense=NEVER, strip=1),
    halving.Thresholds(small=0, strip=2),
    halving.Thresholds(dense=1, small=4, strip=NEVER),
]


class Choosing(Script):
    """The same random choices for both sides, subsets too."""

    def choose(self, n: int, k: int) -> Any:
        place, chosen = self.below(comb(n, k)), []  # of all subsets, sorted, the one at this place
        for i in range(n):
            with_i = comb(n - i - 1, k - len(chosen) - 1) if len(chosen) < k else 0
            if place < with_i:
                chosen.append(i)
            else:
                place -= with_i
        return np.array(chosen, np.int64)


def divide(method: Mirror, principle: Any, table: gh.Microdata, source: Any) -> Partition:
    try:
        return divided(method, principle, table, source)
    except gh.Infeasible:
        return set()


def cases(seed: int, numbers: range, most: int) -> Iterator[tuple[Case, Random]]:
    for number in numbers:
        case = Case.draw(seed, number)
        if len(case.rows) <= most:
            yield case, Random(f"{seed}/{number}")


def judged(case: Case, random: Random) -> tuple[Any, naive.Holds]:
    """A principle, as the product and as the twin take it."""
    kind = random.choice(("frequency", "frequency", "distinct", "size", "close", "odd"))
    if kind == "distinct":
        return gh.DistinctLDiversity(ell=case.ell), lambda codes: len(set(codes)) >= case.ell
    if kind == "size":
        return gh.KAnonymity(k=case.ell), lambda codes: len(codes) >= case.ell
    if kind == "close" and len(case.rows) <= 12 and max(case.sensitive) < 12:  # the twin is slow
        t = random.choice(("1/9", "0.3", "1/2"))
        return gh.TCloseness(t=t), greedy.close(case.sensitive, naive.Fraction(t))
    if kind == "odd":
        return EvenlyMany(), lambda codes: len(codes) > 0 and len(set(codes)) % 2 == 0
    return gh.LDiversity(ell=case.ell), greedy.frequency_diverse(case.ell)


def weighed(case: Case, random: Random) -> tuple[dict[str, Any], list[Fraction] | None]:
    """Weights of some attributes, as the product and as the twin take them; often none."""
    d = len(case.positions)
    weights = [Fraction(random.choice(("0", "1", "1", "2", "1/3", "2.5", "1000"))) for _ in range(d)]
    if random.random() < 0.5 or not any(weights):
        return {}, None
    named = [dim for dim in range(d) if weights[dim] or random.random() < 0.5]  # who is not named has weight 0
    return {"weights": {case.table.quasi[dim].name: weights[dim] for dim in named}}, weights


# --- beside the twin -------------------------------------------------------------------------------------------------


def test_leaves_are_those_of_the_twin_however_they_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halving, "ATTEMPTS", 3)
    n_divided = 0
    for case, random in cases(31, range(250), 24):
        principle, holds = judged(case, random)
        floor, mirrors = random.choice((1, 2, 3, 5)), random.choice((1, 2, 3, 4))
        dims = random.sample(range(len(case.positions)), random.randint(1, len(case.positions)))
        priority = tuple(case.table.quasi[dim].name for dim in dims) if random.random() < 0.4 else ()
        script = Choosing(case.name)
        given, weights = weighed(case, random)
        slow = naive.Mirror(
            rows=case.rows,
            positions=case.positions,
            holds=holds,
            floor=floor,
            mirrors=mirrors,
            attempts=3,
            dims=dims if priority else None,
            weights=weights,
        )
        expected = back(slow.groups(script), case.order)
        n_divided += len(expected) > 1
        for ways in WAYS:
            monkeypatch.setattr(module, "HalvedRows", partial(halving.HalvedRows, thresholds=ways))
            method = Mirror(floor=floor, inner="none", mirrors=mirrors, priority=priority, **given)
            assert expected == divide(method, principle, case.table, script), (case, principle, ways)
    assert n_divided > 50


def test_every_partition_has_the_chance_that_it_has_for_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    n_tables = n_outcomes = 0
    for case, random in cases(32, range(tables(1_000)), 8):
        inner, floor, attempts = random.choice(("ace", "anatomize")), random.choice((1, 2, 3)), random.choice((1, 2))
        slack, start = (Fraction(random.choice(("1", "1", "1.2", "1.5", "2"))) for _ in range(2))
        given, weights = weighed(case, random)
        monkeypatch.setattr(halving, "ATTEMPTS", attempts)
        slow = naive.Mirror(
            rows=case.rows,
            positions=case.positions,
            holds=greedy.frequency_diverse(case.ell),
            floor=floor,
            ell=case.ell,
            inner=inner,
            slack=slack,
            start=start,
            attempts=attempts,
            weights=weights,
        )
        method = Mirror(floor=floor, inner=inner, slack=slack, start=start, **given)
        run = partial(divide, method, gh.LDiversity(ell=case.ell), case.table)
        try:
            expected = enumerating.distribution(
                lambda d, s=slow, c=case: frozenset(back(s.groups(d), c.order)), limit=150
            )
            found = enumerating.distribution(lambda d, run=run: frozenset(run(d)), limit=150)
        except enumerating.TooManyRuns:
            continue
        assert expected == found, case
        n_tables += 1
        n_outcomes += len(expected)
    assert n_tables > tables(200)
    assert n_outcomes > n_tables


def test_shapes_are_those_of_the_twin() -> None:
    for n, floor, step, least in itertools.product(range(1, 90), (1, 2, 5, 8), (1, 2, 3, 4), (1, 4, 9)):
        floor = max(floor, step)
        assert naive.shape_of(n, floor, step, least) == shape_of(n, floor, step, least)


def test_a_remainder_that_did_not_work_is_followed_by_one_of_at_least_twice_the_size() -> None:
    tried: list[int] = []

    class Refusing:
        size, most_frequent = 997, 1

        def parted(self, n: int, source: Any) -> None:
            tried.append(n)

    k, _, remainder = halving._drawn(Refusing(), 3, 1, gh.Source.seeded(1))  # type: ignore[arg-type]
    sizes = list(dict.fromkeys(tried))

    assert remainder is None
    assert k == 997
    assert len(tried) == halving.ATTEMPTS * len(sizes)
    assert len(sizes) > 1
    assert all(later >= 2 * earlier for earlier, later in itertools.pairwise(sizes))


@pytest.mark.parametrize("n", [999_999, 10_000_000, 2**31 - 1])
def test_large_tables_leave_few_tuples_over(n: int) -> None:
    for floor, step in ((8, 4), (6, 3), (2, 1), (1, 1), (100, 50)):
        h, k = shape_of(n, floor, step, floor)
        assert k % step == 0
        assert floor <= k <= 3 * floor
        assert 0 <= n - (k << h) < n / 2


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("kernels", [compiled, interpreted])
def test_plans_are_those_of_the_twin_and_use_every_tuple(kernels: Any, alike: bool) -> None:
    random, n_several = Random(33), 0
    shapes = [(2, 4), (2, 9), (3, 2), (3, 5), (4, 3), (5, 2), (6, 3), (8, 5)]
    for leaf in failed_leaves(33, 150 if kernels is compiled else 30, shapes):
        coin, n, size = random.randrange(2), len(leaf.values), naive.group_size(leaf.ell)
        halves = [Counter(leaf.values[i] for i in half) for half in leaf.halves]
        expected = naive.plan(*(halves if coin else halves[::-1]), leaf.ell, alike=alike)
        assert naive.is_plan(expected, *(halves if coin else halves[::-1]), leaf.ell)
        n_several += max(alpha for alpha, _ in expected) > 1

        first, values, sizes = Counts(np.array(leaf.values, np.int32), np.array([0, n // 2, n]), 20).histogram
        starts, slots = np.concatenate([[0], np.cumsum(sizes)]), np.empty(n, np.int32)
        of_value, runs = np.zeros((8, 20), np.int64), np.full((2, n + 1), -1, np.int64)
        columns, lengths = np.empty(n, np.int64), np.empty(n // size, np.int32)
        module = kernels(KERNELS)
        n_kinds = module.plan_groups(
            module.Leaves(first, values, sizes, starts, *of_value, *runs), np.array([coin]), leaf.ell, alike,
            np.empty(size, np.int64), columns, lengths, slots,
        )  # fmt: skip
        taken: list[tuple[Counter[int], Counter[int]]] = [(Counter(), Counter()) for _ in range(n_kinds)]
        for segment in range(2):
            for bucket in range(first[segment], first[segment + 1]):
                for column in slots[starts[bucket] : starts[bucket + 1]].tolist():
                    taken[column // size][segment if coin else 1 - segment][int(values[bucket])] += 1
        assert len(expected) == n_kinds
        assert [alpha for alpha, _ in expected] == lengths[:n_kinds].tolist()
        for (alpha, parts), found in zip(expected, taken, strict=True):
            assert all(
                Counter({value: alpha * times for value, times in part.items()}) == other
                for part, other in zip(parts, found, strict=True)
            )
        places = np.repeat(lengths[:n_kinds], size)
        assert columns[: n_kinds * size].tolist() == (np.cumsum(places) - places).tolist()
        assert (of_value[[0, 1, 2, 5]] == 0).all()
    assert (n_several > 0) == alike


# --- refinement ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ell", [2, 3, 4, 5, 8])
def test_every_group_of_a_failed_leaf_takes_half_of_its_tuples_from_either_half(ell: int) -> None:
    leaves = [leaf.values for leaf in failed_leaves(34, 30, [(ell, 2), (ell, 3), (ell, 7)])]
    offsets = np.cumsum([0, *map(len, leaves)])
    labels = balanced_segments(
        np.array([value for leaf in leaves for value in leaf], np.int32), offsets, 16, ell, gh.Source.seeded(1)
    )

    assert sorted(set(labels.tolist())) == list(range(len(labels) // naive.group_size(ell)))
    for values, start, stop in zip(leaves, offsets, offsets[1:], strict=False):
        left, right = np.split(labels[start:stop], 2)
        assert Counter(left.tolist()) == Counter(right.tolist())
        assert set(Counter(left.tolist()).values()) == {naive.group_size(ell) // 2}
        counts = Counter(zip(labels[start:stop].tolist(), values, strict=True))
        assert max(counts.values()) * ell <= naive.group_size(ell)


def test_refined_groups_have_l_tuples_where_l_is_even_and_divides_the_table() -> None:
    table = gh.synthetic.census(4_096, seed=1)
    for ell in (2, 4, 8):
        method = Mirror(slack=1, start=1)
        groups = method.divide(table, Requirement.of(gh.LDiversity(ell=ell), table), source=gh.Source.seeded(1))
        assert set(groups.sizes.tolist()) == {ell}


@pytest.mark.parametrize("ell", [2, 3, 4, 7])
def test_slices_of_failed_leaves_are_balanced_too_and_their_groups_lie_closer(ell: int) -> None:
    size, random = naive.group_size(ell), Random(36)
    values = [f"s{i % (3 * ell)}" for i in range(60 * size)]
    random.shuffle(values)
    table = gh.read({"x": [random.randrange(90) for _ in values], "s": values}, quasi=["x"], sensitive="s")
    places, n = weighted_places(table), len(values)
    widths = []
    for sliced in (True, False):
        rows = packed_rows(table, table.sensitive[0], np.arange(n, dtype=np.int32))
        offsets = np.array([0, 20 * size, n])
        if sliced:
            labels = balanced_slices(rows, offsets, places, ell, gh.Source.seeded(1), Memory()).labels
        else:
            codes = table.sensitive[0].codes
            labels = balanced_segments(codes, offsets, rows.n_values, ell, gh.Source.seeded(1))
        for start, stop in itertools.pairwise(offsets.tolist()):
            left, right = np.split(labels[start:stop], 2)
            assert set(Counter(left.tolist()).values()) == set(Counter(right.tolist()).values()) == {size // 2}
        counts = Counter(zip(labels.tolist(), values, strict=True))
        assert max(counts.values()) * ell <= size
        by_group = [table.quasi[0].codes[labels == group] for group in range(labels.max() + 1)]
        widths.append(sum(int(codes.max() - codes.min()) for codes in by_group))
    assert widths[0] < 0.95 * widths[1]


def test_the_number_of_threads_decides_nothing() -> None:
    table = gh.synthetic.census(30_000, seed=2)
    for principle, inner in (
        (gh.LDiversity(ell=4), "ace"),
        (gh.LDiversity(ell=7), "anatomize"),
        (gh.TCloseness(t="0.3"), "ace"),
    ):
        requirement = Requirement.of(principle, table)
        found = [
            Mirror(inner=inner, slack=1, start=1).divide(
                table, requirement, source=gh.Source.seeded(3), engine=Memory(threads=threads)
            )
            for threads in (1, 2, 5)
        ]
        assert all(np.array_equal(found[0].labels, other.labels) for other in found[1:])


def test_interpreted_kernels_give_the_same_groups() -> None:
    table = gh.synthetic.census(300, seed=4)
    for principle in (gh.LDiversity(ell=3), gh.DistinctLDiversity(ell=4)):
        requirement = Requirement.of(principle, table)
        for inner in ("ace", "anatomize"):
            method = Mirror(inner=inner, slack=1, start=1)
            expected = method.divide(table, requirement, source=gh.Source.seeded(5))
            with run_interpreted("glasshouse.grouping.mirror.halves", "glasshouse.grouping.mirror.mirror"):
                found = method.divide(table, requirement, source=gh.Source.seeded(5))
            assert np.array_equal(expected.labels, found.labels)


# --- any principle ---------------------------------------------------------------------------------------------------


def test_several_sensitive_columns_are_each_protected() -> None:
    random = Random(35)
    columns = {
        "age": [random.randrange(90) for _ in range(500)],
        "disease": [random.choice("abcdef") for _ in range(500)],
        "job": [random.choice("uvwxyz") for _ in range(500)],
    }
    table = gh.read(columns, quasi=["age"], sensitive=["disease", "job"])
    requirement = Requirement.of({"disease": gh.LDiversity(ell=3), "job": gh.EntropyLDiversity(ell=2)}, table)
    groups = Mirror().divide(table, requirement, source=gh.Source.seeded(1))

    assert groups.n_groups > 5
    assert requirement.holds([groups.counts(column) for column in requirement.columns]).all()


def test_without_a_sensitive_column_groups_have_k_tuples() -> None:
    table = gh.read({"age": range(1000), "size": [i % 7 for i in range(1000)]}, quasi=["age", "size"])
    groups = Mirror().divide(table, Requirement.of(gh.KAnonymity(k=5), table))

    assert groups.sizes.min() >= 5
    assert groups.n_groups > 100


def test_the_least_node_is_what_the_principles_name() -> None:
    table = gh.synthetic.hospital(200, seed=1)
    named = {
        gh.LDiversity(ell=3): 3,
        gh.EntropyLDiversity(ell="5/2"): 3,
        gh.AllOf(principles=(gh.KAnonymity(k=6), gh.LDiversity(ell=2))): 6,
        gh.TCloseness(t="0.2"): 8,
    }
    for principle, size in named.items():
        assert least_size(Requirement.of(principle, table)) == size


def test_a_remainder_that_cannot_obey_is_drawn_larger_and_at_last_not_at_all() -> None:
    # ten of a hundred tuples or fewer are never within 0 of the table, nor are ninety
    values = ["a", "b"] * 50
    table = gh.read({"x": range(100), "s": values}, identifier=None, quasi=["x"], sensitive="s")
    groups = Mirror(floor=8).divide(table, Requirement.of(gh.TCloseness(t=0), table), source=gh.Source.seeded(1))
    assert Requirement.of(gh.TCloseness(t=0), table).holds([groups.counts(table.sensitive[0])]).all()

    odd = gh.read({"x": range(7), "s": list("aaabbcc")}, quasi=["x"], sensitive="s")
    assert Mirror(floor=1, inner="none").divide(odd, Requirement.of(gh.TCloseness(t=0), odd)).n_groups == 1


# --- claims and refusals ---------------------------------------------------------------------------------------------


def test_the_claim_names_the_theorem_and_its_limits() -> None:
    table = gh.synthetic.hospital(200, seed=1)
    refined = Mirror().claim(Requirement.of(gh.LDiversity(ell=2), table))
    leaves = Mirror().claim(Requirement.of(gh.TCloseness(t="0.2"), table))
    plain = Mirror(inner="none").claim(Requirement.of(gh.LDiversity(ell=2), table))
    sizes = Mirror().claim(Requirement.of(gh.KAnonymity(k=2), table))
    chosen = Mirror(priority=("age",)).claim(Requirement.of(gh.LDiversity(ell=2), table))
    weighted = Mirror(weights={"age": 1}).claim(Requirement.of(gh.TCloseness(t="0.2"), table))

    assert {claim.adversary.value for claim in (refined, leaves, plain, sizes, chosen)} == {"algorithm-aware"}
    assert "Theorem M2" in refined.theorem
    assert "Theorem M1" in leaves.theorem == plain.theorem
    assert "exactly the published shares" in leaves.theorem
    assert any("sensitive values of any number" in limit or "knows some people" in limit for limit in leaves.limits)
    assert not any("priority" in text for text in refined.assumptions)
    assert any("priority" in text for text in chosen.assumptions)
    assert not any("weights" in text for text in chosen.assumptions)
    assert any("weights" in text for text in weighted.assumptions)
    assert "does not protect sensitive values" in sizes.limits[-1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"floor": 0},
        {"floor": "many"},
        {"inner": "hybrid"},
        {"priority": "age,age"},
        {"priority": ("age", "age")},
        {"slack": "0.9"},
        {"slack": "1.0000001"},
        {"start": "wide"},
        {"mirrors": 0},
        {"weights": {"age": -1}},
        {"weights": {"age": 0, "sex": 0}},
        {"weights": {"age": "often"}},
        {"weights": {"age": True}},
        {"weights": {"age": "1/1000001"}},
        {"weights": {"": 1}},
        {"weights": {7: 1}},
        {"weights": [("age", 1), ("age", 2)]},
        {"weights": ["age"]},
        {"weights": "age"},
        {"weights": 3},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: Any) -> None:
    with pytest.raises(gh.ParameterError, match="Mirror"):
        Mirror(**wrong)


def test_what_is_not_diverse_enough_is_not_halved_and_nobody_is_left_over() -> None:
    # nine of forty-two have one value: diverse enough for l = 4, for 1.1 l, and not for 1.2 l
    values = ["a"] * 9 + [f"s{i % 11}" for i in range(33)]
    table = gh.read({"id": range(42), "x": range(42), "s": values}, identifier="id", quasi=["x"], sensitive="s")
    requirement = Requirement.of(gh.LDiversity(ell=4), table)
    drawn: list[int] = []

    class Watching(Choosing):
        def choose(self, n: int, k: int) -> Any:
            drawn.append(k)
            return super().choose(n, k)

    Mirror(slack=1, start="1.2").divide(table, requirement, source=Watching("a"))  # type: ignore[arg-type]
    assert drawn == []
    Mirror(slack=1, start="1.1").divide(table, requirement, source=Watching("a"))  # type: ignore[arg-type]
    assert drawn != []


def test_a_further_mirror_finds_the_attribute_that_can_be_halved() -> None:
    # x tells the value, y does not: x is halved first, in vain
    table = gh.read(
        {"x": [100 * (i % 2) + i % 7 for i in range(256)], "y": [i // 2 for i in range(256)],
         "s": ["ab"[i % 2] for i in range(256)]},
        identifier=None, quasi=["x", "y"], sensitive="s",
    )  # fmt: skip
    requirement = Requirement.of(gh.TCloseness(t="0.1"), table)
    assert Mirror(mirrors=1).divide(table, requirement).n_groups == 1
    assert Mirror(mirrors=2).divide(table, requirement).n_groups == 32


def test_a_priority_must_name_quasi_identifiers() -> None:
    table = gh.synthetic.hospital(50, seed=1)
    with pytest.raises(gh.SchemaError, match="weight"):
        Mirror(priority=("weight",)).divide(table, Requirement.of(gh.KAnonymity(k=2), table))


def test_only_listed_attributes_are_halved() -> None:
    table = gh.read({"x": range(64), "y": [(5 * i) % 64 for i in range(64)]}, identifier=None, quasi=["x", "y"])
    groups = Mirror(priority=("y",), floor=4).divide(table, Requirement.of(gh.KAnonymity(k=4), table))
    spans = [max(y) - min(y) for y in ([table.quasi[1].codes[i] for i in group] for group in partition(groups))]

    assert spans == [3] * 16


# --- weights ---------------------------------------------------------------------------------------------------------


def test_weights_are_read_as_a_mapping_as_pairs_or_as_text() -> None:
    expected = (("age", 3), ("sex", "0.5"))
    for given in ({"sex": 0.5, "age": 3}, [["age", 3], ("sex", "1/2")], "sex:0.5, age:3", expected):
        assert Mirror(weights=given).weights == expected  # type: ignore[arg-type]
    assert Mirror(weights={}).weights == Mirror(weights="").weights == ()


def test_weights_can_be_given_on_the_command_line_and_in_policies() -> None:
    for given in ("age:3,sex:0.5", [["age", 3], ["sex", "0.5"]]):
        assert choices.method({"method": "mirror", "parameters": {"weights": given}}) == Mirror(
            weights={"age": 3, "sex": "1/2"}
        )


def test_weights_look_at_no_sensitive_value() -> None:
    # nothing that is published can fail here, so that groups show all candidates
    quasi = {"x": range(64), "y": [(37 * i) % 64 for i in range(64)]}
    found = []
    for values in (["a", "b"] * 32, ["a"] * 60 + ["b"] * 4):
        table = gh.read({**quasi, "id": range(64), "s": values}, identifier="id", quasi=["x", "y"], sensitive="s")
        method = Mirror(floor=4, weights={"x": 1, "y": "3/2"})
        found.append(divided(method, gh.TCloseness(t="0.999"), table, gh.Source.seeded(1)))
    assert found[0] == found[1]
    assert len(found[0]) == 16


@pytest.mark.parametrize("inner", ["ace", "anatomize", "none"])
def test_equal_weights_change_nothing(inner: str) -> None:
    table = gh.synthetic.census(3_000, seed=3)
    requirement = Requirement.of(gh.LDiversity(ell=3), table)
    found = [
        Mirror(inner=inner, weights=weights).divide(table, requirement, source=gh.Source.seeded(1)).labels
        for weights in ({}, {column.name: "2/3" for column in table.quasi})
    ]
    assert np.array_equal(*found)


def test_weights_beyond_64_bits_are_exact_too() -> None:
    # places are as long as the ranges' least common multiple; that fits, and times the weights it does not
    ranges, random = (101, 103, 107, 109, 113, 127), Random(37)
    columns = {f"q{r}": [0, r, *(random.randrange(r) for _ in range(38))] for r in ranges}
    columns |= {"id": list(range(40)), "s": list("abcde") * 8}
    table = gh.read(columns, identifier="id", quasi=[f"q{r}" for r in ranges], sensitive="s")
    weights = {f"q{r}": Fraction(999_983 - i, 999_979) for i, r in enumerate(ranges)}
    by = multipliers(weights, [column.name for column in table.quasi])
    assert weighted_places(table).fits
    assert not weigh(weighted_places(table), by, table).fits
    slow = naive.Mirror(
        rows=[(tuple(int(c.codes[i]) for c in table.quasi), int(table.sensitive[0].codes[i])) for i in range(40)],
        positions=[[int(value) for value in column.domain.values.to_pylist()] for column in table.quasi],
        holds=greedy.frequency_diverse(2),
        floor=5,
        weights=list(weights.values()),
    )
    expected = slow.groups(Choosing("none left over"))
    found = divide(Mirror(floor=5, inner="none", weights=weights), gh.LDiversity(ell=2), table, Choosing("the same"))
    assert len(expected) > 4
    assert expected == found


def test_weights_of_other_attributes_than_the_tables_are_refused() -> None:
    table = gh.synthetic.hospital(50, seed=1)
    with pytest.raises(gh.SchemaError, match="height"):
        Mirror(weights={"height": 1}).divide(table, Requirement.of(gh.KAnonymity(k=2), table))


def test_only_what_has_weight_is_halved_while_it_can_be() -> None:
    table = gh.read({"x": range(64), "y": [(5 * i) % 64 for i in range(64)]}, identifier=None, quasi=["x", "y"])
    groups = Mirror(weights={"y": 2}, floor=4).divide(table, Requirement.of(gh.KAnonymity(k=4), table))
    spans = [max(y) - min(y) for y in ([table.quasi[1].codes[i] for i in group] for group in partition(groups))]

    assert spans == [3] * 16
