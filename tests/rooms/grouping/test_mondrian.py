"""Mondrian against its slow twin, and what it promises."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import Memory, memory
from glasshouse.kernels import interpreted
from glasshouse.microdata.groups import tie_order
from glasshouse.principles.principle import Requirement
from tests.tables import Plain, partition, plain_tables
from tests.tiers import examples
from tests.twins import mondrian as naive

PARTITIONINGS = ["strict", "relaxed"]


def diverse(ell: int) -> Any:
    """Frequency l-diversity, as the twin takes it."""
    return lambda codes: bool(codes) and max(codes.count(c) for c in set(codes)) * ell <= len(codes)


def rows_of(table: gh.Microdata) -> list[tuple[tuple[int, ...], int]]:
    codes = [column.codes.tolist() for column in table.quasi]
    return list(zip(zip(*codes, strict=True), table.sensitive[0].codes.tolist(), strict=True))


def positions_of(table: gh.Microdata) -> list[list[Fraction]]:
    return [[Fraction(p) for p in column.domain.positions.tolist()] for column in table.quasi]


def twin(table: gh.Microdata, partitioning: str, ell: int, seed: int) -> set[frozenset[int]]:
    if partitioning == "strict":
        separations = [column.domain.separations.tolist() for column in table.quasi]
        return naive.strict(rows_of(table), positions_of(table), diverse(ell), separations)
    order = tie_order(table, gh.Source.seeded(seed)).tolist()
    ranks = [0] * len(order)
    for rank, row in enumerate(order):
        ranks[row] = rank
    return naive.relaxed(rows_of(table), positions_of(table), diverse(ell), ranks)


def divide(table: gh.Microdata, partitioning: str, ell: int, seed: int = 0, **engine: Any) -> set[frozenset[int]]:
    requirement = Requirement.of(gh.LDiversity(ell=ell), table)
    method = gh.Mondrian(partitioning=partitioning)
    return partition(method.divide(table, requirement, source=gh.Source.seeded(seed), engine=Memory(**engine)))


@pytest.mark.parametrize("partitioning", PARTITIONINGS)
@settings(max_examples=examples(300), deadline=None)
@given(plain=plain_tables(missing=True), ell=st.integers(2, 4), seed=st.integers(0, 5))
def test_groups_are_those_of_the_slow_twin(partitioning: str, plain: Plain, ell: int, seed: int) -> None:
    table = plain.microdata(missing="category")

    assert twin(table, partitioning, ell, seed) == divide(table, partitioning, ell, seed)


@pytest.mark.parametrize("dense", [0, 1 << 40])
@pytest.mark.parametrize("partitioning", PARTITIONINGS)
@settings(max_examples=examples(150), deadline=None)
@given(plain=plain_tables(most=150, least=40), ell=st.integers(2, 3))
def test_sorting_and_counting_a_node_give_the_same_cuts(partitioning: str, dense: int, plain: Plain, ell: int) -> None:
    table = plain.microdata()
    before = memory.DENSE
    memory.DENSE = dense
    try:
        groups = divide(table, partitioning, ell)
    finally:
        memory.DENSE = before

    assert twin(table, partitioning, ell, 0) == groups


@pytest.mark.parametrize("dense", [0, memory.DENSE])
@settings(max_examples=examples(100), deadline=None)
@given(data=st.data(), ell=st.integers(2, 3))
def test_strict_cuts_follow_the_taxonomy(dense: int, data: st.DataObject, ell: int) -> None:
    leaves = [f"{a}{b}{c}" for a in "xyz" for b in "12" for c in "pqr"]
    tree = {"any": {a: {a + b: [f"{a}{b}{c}" for c in "pqr"] for b in "12"} for a in "xyz"}}
    n = data.draw(st.integers(1, 30))
    columns = {
        "place": data.draw(st.lists(st.sampled_from(leaves), min_size=n, max_size=n)),
        "age": data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)),
        "sensitive": data.draw(st.lists(st.sampled_from("abcd"), min_size=n, max_size=n)),
    }
    taxonomies = {"place": gh.Taxonomy.from_nested(tree)}
    table = gh.read(columns, quasi=["place", "age"], sensitive="sensitive", taxonomies=taxonomies)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "DENSE", dense)

        assert twin(table, "strict", ell, 0) == divide(table, "strict", ell)


@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_threads_and_pieces_change_nothing(partitioning: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = gh.synthetic.hospital(n=3_000, seed=5)
    expected = divide(table, partitioning, 3, threads=1)
    monkeypatch.setattr(memory, "PIECE", 100)

    assert expected == divide(table, partitioning, 3, threads=1)
    assert expected == divide(table, partitioning, 3, threads=4)


@pytest.mark.parametrize("partitioning", PARTITIONINGS)
@settings(max_examples=examples(60), deadline=None)
@given(plain=plain_tables(missing=True), ell=st.integers(2, 3))
def test_interpreted_kernels_give_the_same_groups(partitioning: str, plain: Plain, ell: int) -> None:
    table = plain.microdata(missing="category")
    expected = divide(table, partitioning, ell)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "compiled", interpreted)
        patch.setattr("glasshouse.microdata.counts.compiled", interpreted)

        assert expected == divide(table, partitioning, ell, threads=1)


def test_relaxed_halves_differ_by_at_most_one_tuple() -> None:
    table = gh.read({"age": [1] * 7, "zip": list(range(7))}, quasi=["age", "zip"])
    groups = gh.Mondrian(partitioning="relaxed").divide(table, Requirement.of(gh.KAnonymity(k=3), table))

    assert sorted(groups.sizes.tolist()) == [3, 4]


def test_a_partitioning_it_does_not_know_is_refused() -> None:
    with pytest.raises(gh.ParameterError, match="partitioning must be 'strict' or 'relaxed', got 'lax'"):
        gh.Mondrian(partitioning="lax")


def test_k_anonymity_claims_more_than_a_principle_on_sensitive_values() -> None:
    table = gh.examples.transparent_t1()
    by_size = gh.Mondrian().claim(Requirement.of(gh.KAnonymity(k=2), table))
    by_value = gh.Mondrian().claim(Requirement.of(gh.LDiversity(ell=2), table))

    assert (by_size.adversary.value, by_value.adversary.value) == ("algorithm-aware", "linking")


def test_shares_of_a_width_are_exact() -> None:
    """The people not at 0.0 span a third of both attributes, and the first one decides."""
    table = gh.read({"a": [0.2, 0.0, 0.3, 0.2, 0.3, 0.0], "b": [2, 3, 2, 1, 1, 4]}, quasi=["a", "b"])
    groups = gh.Mondrian().divide(table, Requirement.of(gh.KAnonymity(k=2), table))

    assert partition(groups) == {frozenset({0, 3}), frozenset({1, 5}), frozenset({2, 4})}


@pytest.mark.parametrize("n", [49, 130, 700])
def test_nodes_too_large_for_insertion_are_sorted_by_all_digits_of_their_codes(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "DENSE", 0)
    random = np.random.default_rng(n)
    table = gh.read(
        {"a": random.permutation(n) * 1_001, "b": random.integers(0, n, n), "s": [str(i % 5) for i in range(n)]},
        quasi=["a", "b"],
        sensitive="s",
    )
    for partitioning in PARTITIONINGS:
        assert twin(table, partitioning, 2, 0) == divide(table, partitioning, 2)


@pytest.mark.parametrize("partitioning", PARTITIONINGS)
@pytest.mark.parametrize("dense", [0, memory.DENSE])
def test_wide_domains_are_cut_exactly(partitioning: str, dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes beyond two bytes, and nodes whose codes lie far apart."""
    monkeypatch.setattr(memory, "DENSE", dense)
    n, wide = 1_000, np.random.default_rng(3)
    table = gh.read(
        {"a": wide.integers(0, 1 << 40, n), "b": wide.integers(0, 1 << 40, n), "s": [str(i % 5) for i in range(n)]},
        quasi=["a", "b"],
        sensitive="s",
    )

    assert twin(table, partitioning, 3, 0) == divide(table, partitioning, 3)


def test_more_than_two_to_the_sixteen_values_work() -> None:
    n = 70_000
    table = gh.read({"wide": np.arange(n) * 7, "s": [str(i % 4) for i in range(n)]}, quasi=["wide"], sensitive="s")
    groups = gh.Mondrian().divide(table, Requirement.of(gh.LDiversity(ell=2), table))

    assert table.quasi[0].domain.size == n
    assert (groups.counts(table.sensitive[0]).largest * 2 <= groups.sizes).all()
    assert groups.sizes.max() < 16
