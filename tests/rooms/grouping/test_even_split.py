# SPDX-License-Identifier: Apache-2.0
"""Even splits and Symmetric Grouping against their slow twins, and against an attacker who knows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import Memory, memory, sorting
from glasshouse.grouping.along_order.orderings import arranged
from glasshouse.grouping.along_order.symmetric import Symmetric
from glasshouse.grouping.cuts.even_split import EvenSplit
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.doors import back, divided, forced, in_tie_order, people, rows_of, run_interpreted
from tests.rooms.grouping.schedules import check_threads_and_rows
from tests.tables import Plain, partition, plain_tables
from tests.tiers import examples, tables
from tests.twins import by_force
from tests.twins import greedy as naive

ORDERINGS = ["lexicographic", "hilbert"]


def found(method: Any, principle: Any, table: gh.Microdata, seed: int = 0) -> Any:
    try:
        return divided(method, principle, table, gh.Source.seeded(seed))
    except gh.Infeasible:
        return set()


def even_twin(table: gh.Microdata, holds: Any, seed: int) -> Any:
    rows, order = in_tie_order(table, seed)
    positions = [[Fraction(p) for p in column.domain.positions.tolist()] for column in table.quasi]
    return back(naive.even_split(rows, positions, holds), order)


@settings(max_examples=examples(600), deadline=None)
@given(
    plain=plain_tables(most=40, missing=True), ell=st.integers(2, 4), extra=st.integers(0, 2), seed=st.integers(0, 5)
)
def test_even_splits_are_those_of_the_slow_twin(plain: Plain, ell: int, extra: int, seed: int) -> None:
    table = plain.microdata(missing="category")

    assert even_twin(table, naive.frequency_diverse(ell + extra), seed) == found(
        EvenSplit(extra=extra), gh.LDiversity(ell=ell), table, seed
    )


@pytest.mark.parametrize("extra", [0, 1])
@settings(max_examples=examples(60), deadline=None)
@given(plain=plain_tables(most=40), k=st.integers(2, 5))
def test_extra_means_nothing_to_other_principles(extra: int, plain: Plain, k: int) -> None:
    table = plain.microdata()

    assert even_twin(table, lambda codes: len(codes) >= k, 0) == found(
        EvenSplit(extra=extra), gh.KAnonymity(k=k), table
    )
    assert found(Symmetric(extra=extra), gh.KAnonymity(k=k), table) == found(
        Symmetric(extra=0), gh.KAnonymity(k=k), table
    )


@pytest.mark.parametrize("ordering", ORDERINGS)
@settings(max_examples=examples(400), deadline=None)
@given(
    plain=plain_tables(most=40, missing=True), ell=st.integers(2, 4), extra=st.integers(0, 1), seed=st.integers(0, 5)
)
def test_symmetric_groups_are_those_of_the_slow_twin(
    ordering: str, plain: Plain, ell: int, extra: int, seed: int
) -> None:
    table = plain.microdata(missing="category")
    order = arranged(table, ordering, (), gh.Source.seeded(seed), Memory()).tolist()
    expected = naive.sg(rows_of(table), naive.frequency_diverse(ell + extra), order)

    assert expected == found(Symmetric(extra=extra, ordering=ordering), gh.LDiversity(ell=ell), table, seed)


@settings(max_examples=examples(60), deadline=None)
@given(sensitive=st.lists(st.integers(0, 3), min_size=1, max_size=14), t=st.sampled_from(["0", "1/5", "0.4", "0.7"]))
def test_symmetric_groups_under_t_closeness_are_those_of_the_slow_twin(sensitive: list[int], t: str) -> None:
    table = people([(i,) for i in range(len(sensitive))], sensitive)
    rows = [((i,), value) for i, value in enumerate(sensitive)]

    assert naive.sg(rows, naive.close(sensitive, Fraction(t))) == found(Symmetric(), gh.TCloseness(t=t), table)


def test_two_sensitive_columns_must_both_obey() -> None:
    table = gh.read(
        {"id": range(4), "q": range(4), "a": ["x", "y", "x", "y"], "b": ["u", "u", "v", "v"]},
        identifier="id",
        quasi=["q"],
        sensitive=["a", "b"],
    )
    whole = {frozenset(range(4))}

    assert whole == found(EvenSplit(), gh.LDiversity(ell=2), table) == found(Symmetric(), gh.LDiversity(ell=2), table)


def test_symmetric_groups_follow_the_priority() -> None:
    table = gh.read(
        {"id": range(4), "a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "s": ["x", "x", "y", "y"]},
        identifier="id",
        quasi=["a", "b"],
        sensitive="s",
    )

    assert found(Symmetric(extra=0, priority=("b",)), gh.LDiversity(ell=2), table) == {frozenset(range(4))}
    assert found(Symmetric(extra=0), gh.LDiversity(ell=2), table) == {frozenset({0, 2}), frozenset({1, 3})}


@pytest.mark.parametrize(
    "method", [EvenSplit(), Symmetric(), Symmetric(extra=0, ordering="hilbert", priority=("zipcode",))], ids=repr
)
@pytest.mark.parametrize("principle", [gh.LDiversity(ell=3), gh.KAnonymity(k=4), gh.TCloseness(t=0.5)], ids=repr)
def test_a_seeded_run_depends_neither_on_threads_nor_on_the_order_of_rows(method: Any, principle: Any) -> None:
    check_threads_and_rows(method, principle)


@pytest.mark.parametrize("method", [EvenSplit(), Symmetric()], ids=repr)
def test_the_size_of_pieces_changes_nothing(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a node is visited is no choice; ties, whose choices belong to pieces, are broken by identifier here."""
    n = 3_000
    columns = gh.synthetic.hospital(n=n, seed=5)
    said = {c.name: c.domain.decode(c.codes) for c in (*columns.quasi, *columns.sensitive)}
    table = gh.read(
        {"id": range(n), **{k: v.to_pylist() for k, v in said.items()}},
        identifier="id",
        quasi=[c.name for c in columns.quasi],
        sensitive=columns.sensitive[0].name,
    )
    requirement = Requirement.of(gh.LDiversity(ell=3), table)

    def run(threads: int) -> Any:
        return partition(method.divide(table, requirement, engine=Memory(threads=threads)))

    expected = run(1)
    monkeypatch.setattr(memory, "PIECE", 100)
    monkeypatch.setattr(sorting, "PIECE", 77)

    assert expected == run(1) == run(4)


@settings(max_examples=40, deadline=None)
@given(plain=plain_tables(most=30))
def test_interpreted_kernels_give_the_same_groups(plain: Plain) -> None:
    table = plain.microdata()
    expected = [found(method, gh.LDiversity(ell=2), table) for method in (EvenSplit(), Symmetric(ordering="hilbert"))]
    with run_interpreted(
        "glasshouse.engines.memory", "glasshouse.grouping.along_order.orderings", "glasshouse.engines.sorting"
    ):
        assert expected == [
            found(method, gh.LDiversity(ell=2), table) for method in (EvenSplit(), Symmetric(ordering="hilbert"))
        ]


# What an adversary who knows it believes


def on_a_line(values: Sequence[int], ell: int) -> by_force.Case:
    n = len(values)
    return by_force.Case(tuple((i,) for i in range(n)), (tuple(range(n)),), tuple(values), ell)


def multisets(n: int, ell: int) -> Iterator[tuple[int, ...]]:
    """Every l-eligible multiset of n values, up to their names."""

    def counts(left: int, most: int) -> Iterator[tuple[int, ...]]:
        if left == 0:
            yield ()
        for first in range(min(left, most), 0, -1):
            for rest in counts(left - first, first):
                yield (first, *rest)

    for frequencies in counts(n, n // ell):
        yield tuple(value for value, count in enumerate(frequencies) for _ in range(count))


@pytest.mark.parametrize("method", [EvenSplit(extra=0), Symmetric(extra=0)], ids=repr)
def test_seven_people_reach_two_thirds_where_splits_are_run_at_l_itself(method: Any) -> None:
    """The bound of Theorem 5's proof: a child of three allows 4 / (3 * 2).

    Two people share a value, the other five have one each: by symmetry one order of these stands for all.
    """
    worlds = []
    for pair in combinations(range(7), 2):
        others = iter(range(1, 6))
        worlds.append({person: 0 if person in pair else next(others) for person in range(7)})
    door = forced(method, lambda: gh.LDiversity(ell=2))
    releases = by_force.evidence_of(door, [(i,) for i in range(7)], worlds).releases
    whole = frozenset({(frozenset(range(7)), (0, 0, 1, 2, 3, 4, 5))})
    beliefs = by_force.beliefs_after(releases[whole])

    assert max(belief for (_, value), belief in beliefs.items() if value == 0) == Fraction(2, 3)


@pytest.mark.parametrize("method", [EvenSplit(), Symmetric()], ids=repr)
def test_at_l_plus_one_nobody_is_believed_above_one_in_l(method: Any) -> None:
    tally = by_force.Tally(repr(method))
    cases = [on_a_line(values, 2) for values in islice(multisets(6, 3), tables(80, 2))]
    eligible = by_force.random_cases(3, tables(20), people=(6, 7), ells=(3,), n_values=(5, 6), max_worlds=300)
    for case in (*cases, *(replace(case, ell=2) for case in eligible)):
        door = forced(method, lambda: gh.LDiversity(ell=2), case.positions)
        tally.add(case, by_force.worst_belief(door, case))
    by_force.say(tally)

    assert tally.n_above == 0
    assert tally.n_divided > 0


def test_under_binary_diversity_three_people_are_given_away() -> None:
    """Theorem 5 is about frequency l-diversity: here a lone person without the value obeys."""
    method = forced(EvenSplit(), lambda: gh.DesignatedLDiversity(ell=2, values=("s00001",)))

    assert by_force.worst_belief(method, on_a_line((0, 0, 1), 2)).belief == 1


# What it says of itself


@pytest.mark.parametrize("kind", [EvenSplit, Symmetric])
def test_the_claim_follows_the_principle_and_extra(kind: Any) -> None:
    table = gh.examples.transparent_t1()

    def claim(principle: Any, **options: Any) -> Any:
        return kind(**options).claim(Requirement.of(principle, table))

    value = table.sensitive[0].domain.values[0].as_py()
    assert claim(gh.LDiversity(ell=8)).adversary.value == "algorithm-aware"
    assert "at most 2/17, which is below 1/8" in claim(gh.LDiversity(ell=8)).theorem
    assert claim(gh.LDiversity(ell=8), extra=0).adversary.value == "linking"
    assert "may reach 2/15 instead of 1/8" in claim(gh.LDiversity(ell=8), extra=0).limits[0]
    assert claim(gh.DesignatedLDiversity(ell=2, values=(value,))).adversary.value == "linking"
    assert claim(gh.TCloseness(t=0.2)).adversary.value == "linking"
    assert claim(gh.KAnonymity(k=2)).adversary.value == "algorithm-aware"


@pytest.mark.parametrize("kind", [EvenSplit, Symmetric])
def test_what_cannot_be_is_refused(kind: Any) -> None:
    with pytest.raises(gh.ParameterError, match="extra must be an integer >= 0"):
        kind(extra=-1)
    table = people([(i,) for i in range(4)], [0, 0, 1, 1])
    with pytest.raises(gh.Infeasible, match="3-diversity"):
        kind().divide(table, Requirement.of(gh.LDiversity(ell=2), table))


def test_bounds_at_l_plus_extra_stay_below_one_in_l() -> None:
    for ell in range(2, 200):
        for extra in (1, 2, 3):
            assert Fraction(2, 2 * (ell + extra) - 1) < Fraction(1, ell)


def test_wide_domains_are_halved_exactly() -> None:
    rng = np.random.default_rng(4)
    n = 400
    columns = {"a": rng.integers(0, 1 << 40, n), "b": rng.integers(0, 3, n), "s": [str(i % 7) for i in range(n)]}
    table = gh.read(columns, quasi=["a", "b"], sensitive="s")

    assert even_twin(table, naive.frequency_diverse(3), 2) == found(EvenSplit(), gh.LDiversity(ell=2), table, 2)
