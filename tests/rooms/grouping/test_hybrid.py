# SPDX-License-Identifier: Apache-2.0
"""Hybrid is Tailor and then Ace inside every group, with exactly the chances of the paper's figure."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.grouping.perimeter import exact_positions, weighted_places
from glasshouse.grouping.transparent import ace
from glasshouse.grouping.transparent.hybrid import Hybrid
from glasshouse.kernels import interpreted
from glasshouse.principles.principle import Requirement
from glasshouse.randomness import Source
from tests.tables import Plain, partition, plain_tables
from tests.tiers import examples
from tests.twins import enumerating
from tests.twins import transparent as naive

# Many random tables are not l-eligible, and thrown away.
RARE = settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


def identified(quasi: dict[str, list[Any]], sensitive: list[Any], **options: Any) -> gh.Microdata:
    """A table whose tie order is its row order, as the twin has it."""
    columns = {"id": list(range(len(sensitive))), **quasi, "sensitive": sensitive}
    return gh.read(columns, identifier="id", quasi=list(quasi), sensitive="sensitive", **options)


def rows_of(table: gh.Microdata) -> list[tuple[tuple[int, ...], int]]:
    codes = [column.codes.tolist() for column in table.quasi]
    return list(zip(zip(*codes, strict=True), table.sensitive[0].codes.tolist(), strict=True))


def positions_of(table: gh.Microdata) -> list[list[Fraction]]:
    return [exact_positions(column.domain) for column in table.quasi]


# Penalties of one's own, as the twin has them: of rows, which are codes and a sensitive value that none looks at.
def squares(group: list[Any]) -> Fraction:
    columns = zip(*(codes for codes, _ in group), strict=True)
    return Fraction(len(group) * sum((max(column) - min(column)) ** 2 for column in columns), 3)


def steps(group: list[Any]) -> Fraction:
    return Fraction(len(group) // 3)  # many cuts cost the same


def penalty_of(table: gh.Microdata, penalty: str) -> naive.Penalty:
    if penalty == "perimeter":
        return naive.perimeter(rows_of(table), positions_of(table))
    return {"discernibility": lambda group: Fraction(len(group) ** 2), "squares": squares, "steps": steps}[penalty]


def given_as(table: gh.Microdata, penalty: str) -> Any:
    """The penalty as a user gives it: by its name, or as a function of values."""
    return penalty if penalty in ("perimeter", "discernibility") else own(table, penalty)


def own(table: gh.Microdata, penalty: str) -> Any:
    judge = penalty_of(table, penalty)
    codes = [
        {value: code for code, value in enumerate(domain.decode(np.arange(domain.size, dtype=np.int32)).to_pylist())}
        for domain in (column.domain for column in table.quasi)
    ]

    def function(people: list[tuple[Any, ...]]) -> Fraction:
        return judge([(tuple(c[v] for c, v in zip(codes, person, strict=True)), -1) for person in people])

    return function


def divide(table: gh.Microdata, ell: int, source: Any = None, *, threads: int = 1, **method: Any) -> Any:
    requirement = Requirement.of(gh.LDiversity(ell=ell), table)
    engine = Memory(threads=threads)
    return partition(Hybrid(**method).divide(table, requirement, source=source or Source.seeded(0), engine=engine))


PENALTIES = ["perimeter", "discernibility", "squares", "steps"]


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize(
    ("sensitive", "ell", "quasi"),
    [
        ("abcdabcd", 2, {"x": [1, 2, 3, 4, 5, 6, 7, 8]}),
        ("aabbccdd", 2, {"x": [1, 8, 1, 8, 2, 9, 2, 9], "y": [5, 5, 5, 5, 5, 5, 5, 5]}),
        ("abcabcab", 2, {"x": [0, 0, 0, 0, 100_000, 1, 1, 1], "y": [3, 1, 4, 1, 5, 9, 2, 6]}),
        ("abcdefab", 2, {"x": [1, 1, 2, 2, 1, 1, 2, 2], "y": [1.5, 0.5, 1.5, 0.5, 1.5, 0.5, 1.5, 0.5]}),
        ("abcdefabc", 3, {"x": [4, 4, 4, 1, 1, 1, 9, 9, 9]}),
    ],
)
def test_every_outcome_has_the_chance_that_it_has_in_the_slow_twin(
    penalty: str, sensitive: str, ell: int, quasi: dict[str, list[Any]]
) -> None:
    table = identified(quasi, list(sensitive))
    rows, positions, judge = rows_of(table), positions_of(table), penalty_of(table, penalty)
    mine = given_as(table, penalty)

    expected = enumerating.distribution(lambda draws: frozenset(naive.hybrid(rows, positions, ell, draws, judge)))

    assert expected == enumerating.distribution(lambda draws: frozenset(divide(table, ell, draws, penalty=mine)))


@pytest.mark.parametrize("penalty", PENALTIES)
@settings(RARE, max_examples=examples(100))
@given(plain=plain_tables(most=9, least=4, missing=True))
def test_outcomes_of_any_small_table_have_the_twins_chances(penalty: str, plain: Plain) -> None:
    assume(max(Counter(plain.sensitive).values()) <= min(3, len(plain.sensitive) // 2))
    table = identified(plain.quasi, plain.sensitive, missing="category")
    rows, positions, judge = rows_of(table), positions_of(table), penalty_of(table, penalty)
    mine = given_as(table, penalty)

    expected = enumerating.distribution(lambda draws: frozenset(naive.hybrid(rows, positions, 2, draws, judge)))

    assert expected == enumerating.distribution(lambda draws: frozenset(divide(table, 2, draws, penalty=mine)))


@settings(RARE, max_examples=examples(60))
@given(plain=plain_tables(most=30, missing=True), ell=st.integers(2, 3), seed=st.integers(0, 3))
def test_a_function_that_says_what_a_known_penalty_says_gives_its_groups(plain: Plain, ell: int, seed: int) -> None:
    table = identified(plain.quasi, plain.sensitive, missing="category")
    assume(naive.diverse(rows_of(table), range(table.n_tuples), ell))

    for name in ("perimeter", "discernibility"):
        groups = divide(table, ell, Source.seeded(seed), penalty=own(table, name), threads=2)
        assert groups == divide(table, ell, Source.seeded(seed), penalty=name)


def refined(table: gh.Microdata, ell: int, penalty: str) -> None:
    """Every group lies inside one of the twin's Tailor, has every value once, and the buckets' numbers are right."""
    rows, positions, judge = rows_of(table), positions_of(table), penalty_of(table, penalty)
    leaves = naive.tailor(rows, positions, ell, judge)
    groups = divide(table, ell, penalty=given_as(table, penalty))

    assert frozenset().union(*groups) == frozenset(range(table.n_tuples))
    assert sum(len(group) for group in groups) == table.n_tuples
    for leaf in leaves:
        inside = [group for group in groups if group <= leaf]
        assert frozenset().union(*inside) == leaf
        signatures = Counter(tuple(sorted(rows[i][1] for i in group)) for group in inside)
        buckets = naive.assign(rows, ell, Firsts(), sorted(leaf))
        expected: Counter[tuple[int, ...]] = Counter()
        for bucket in buckets:
            expected[tuple(sorted(bucket))] += len(next(iter(bucket.values())))
        assert expected == signatures


class Firsts:
    def below(self, n: int, /) -> int:
        return 0


@pytest.fixture(autouse=True)
def _first_tuples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the numbers of tuples matter, the twin need not list all subsets."""
    chosen = naive.chosen
    monkeypatch.setattr(
        naive, "chosen", lambda items, k, draws: items[:k] if isinstance(draws, Firsts) else chosen(items, k, draws)
    )


@pytest.mark.parametrize("penalty", PENALTIES)
@settings(RARE, max_examples=examples(100))
@given(plain=plain_tables(most=40, missing=True), ell=st.integers(2, 4))
def test_groups_refine_those_of_tailor_as_assign_says(penalty: str, plain: Plain, ell: int) -> None:
    table = identified(plain.quasi, plain.sensitive, missing="category")
    assume(naive.diverse(rows_of(table), range(table.n_tuples), ell))

    refined(table, ell, penalty)


def test_perimeters_beyond_64_bits_are_exact() -> None:
    random = Random(1)
    primes = [2**40 - 87, 2**41 - 21, 2**39 - 7]
    for _ in range(10):
        n = random.randint(8, 30)
        quasi = {f"q{j}": [0, p, *(random.randint(0, p) for _ in range(n - 2))] for j, p in enumerate(primes)}
        table = identified(quasi, [f"{i % 5}" for i in range(n)])
        assert not weighted_places(table).fits

        refined(table, 2, "perimeter")


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    table = gh.synthetic.census(6_000, seed=2)
    monkeypatch.setattr(ace, "PIECE", 500)

    assert divide(table, 4) == divide(table, 4, threads=4)


def test_rows_may_come_in_any_order() -> None:
    random = Random(7)
    n = 300
    columns = {
        "id": list(range(n)),
        "x": [random.randint(0, 9) for _ in range(n)],
        "y": [random.randint(0, 9000) for _ in range(n)],
        "s": [random.choice("abcdefg") for _ in range(n)],
    }
    order = random.sample(range(n), n)
    for identifier in ("id", None):
        quasi = ["x", "y"] if identifier else ["x", "y", "id"]  # without an identifier, no two rows are alike
        roles = {"identifier": identifier, "quasi": quasi, "sensitive": "s"}
        table = gh.read(columns, **roles)
        moved = gh.read({name: [values[i] for i in order] for name, values in columns.items()}, **roles)

        assert divide(table, 2) == {frozenset(order[i] for i in group) for group in divide(moved, 2)}


@settings(RARE, max_examples=40)
@given(plain=plain_tables(most=40, missing=True), ell=st.integers(2, 3))
def test_interpreted_kernels_give_the_same_groups(plain: Plain, ell: int) -> None:
    table = identified(plain.quasi, plain.sensitive, missing="category")
    assume(naive.diverse(rows_of(table), range(table.n_tuples), ell))
    expected = divide(table, ell)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ace, "compiled", interpreted)
        patch.setattr("glasshouse.grouping.transparent.packed_rows.compiled", interpreted)

        assert expected == divide(table, ell)


def test_hybrid_splits_the_group_that_tailor_leaves_in_example_4() -> None:
    table = gh.examples.transparent_t5()
    ann, bob, cate, don, ed, fred, gill, hera = range(8)
    fixed = {frozenset({ed, fred}), frozenset({gill, hera})}

    outcomes = enumerating.distribution(lambda draws: frozenset(divide(table, 2, draws)))

    rows, positions = rows_of(table), positions_of(table)
    assert outcomes == enumerating.distribution(lambda draws: frozenset(naive.hybrid(rows, positions, 2, draws)))
    assert all(fixed <= outcome for outcome in outcomes)
    assert {frozenset({*fixed, frozenset({ann, cate}), frozenset({bob, don})}) in outcomes} == {True}


def test_a_table_of_many_leaves_is_l_diverse_in_every_group() -> None:
    table = gh.synthetic.census(50_000, seed=4)
    requirement = Requirement.of(gh.LDiversity(ell=8), table)

    groups = Hybrid().divide(table, requirement, source=Source.seeded(1))

    assert requirement.holds([groups.counts(table.sensitive[0])]).all()
    assert (groups.counts(table.sensitive[0]).largest == 1).all()
    assert np.array_equal(np.sort(groups.order), np.arange(50_000))


def test_what_hybrid_cannot_do_is_refused() -> None:
    table = gh.examples.transparent_t5()

    with pytest.raises(gh.NotSupported, match="Hybrid supports only l-diversity"):
        Hybrid().divide(table, Requirement.of(gh.KAnonymity(k=2), table))
    with pytest.raises(gh.Infeasible):
        Hybrid().divide(table, Requirement.of(gh.LDiversity(ell=5), table))


def test_hybrid_claims_to_hold_against_who_knows_it() -> None:
    table = gh.examples.transparent_t5()

    claim = Hybrid().claim(Requirement.of(gh.LDiversity(ell=2), table))

    assert claim.adversary.value == "algorithm-aware"
    assert "Theorem 3" in claim.theorem
