"""Snug against its slow twin, and what it promises."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import Memory, memory
from glasshouse.grouping.cuts import snug
from glasshouse.kernels import interpreted
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.test_mondrian import diverse, positions_of, rows_of
from tests.tables import Plain, partition, plain_tables
from tests.tiers import examples
from tests.twins import snug as naive


def twin(table: gh.Microdata, principle: Any) -> set[frozenset[int]]:
    separations = [column.domain.separations.tolist() for column in table.quasi]
    size = principle.k if isinstance(principle, gh.KAnonymity) else principle.ell
    holds = (lambda codes: len(codes) >= size) if isinstance(principle, gh.KAnonymity) else diverse(size)
    return naive.snug(rows_of(table), positions_of(table), holds, size, separations)


def divide(table: gh.Microdata, principle: Any, **engine: Any) -> set[frozenset[int]]:
    return partition(gh.Snug().divide(table, Requirement.of(principle, table), engine=Memory(**engine)))


principles = st.one_of(
    st.integers(2, 7).map(lambda k: gh.KAnonymity(k=k)), st.integers(2, 4).map(lambda ell: gh.LDiversity(ell=ell))
)


@settings(max_examples=examples(300), deadline=None)
@given(plain=plain_tables(missing=True), principle=principles, crowd=st.sampled_from([0, 8, 1 << 40]))
def test_groups_are_those_of_the_slow_twin(plain: Plain, principle: Any, crowd: int) -> None:
    table = plain.microdata(missing="category")

    assert twin(table, principle) == divide(table, principle, crowd=crowd)


@pytest.mark.parametrize("dense", [0, 1 << 30])
@settings(max_examples=examples(100), deadline=None)
@given(plain=plain_tables(most=150, least=40), principle=principles)
def test_sorting_and_counting_a_node_give_the_same_cuts(dense: int, plain: Plain, principle: Any) -> None:
    table = plain.microdata()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snug, "DENSE", dense)

        assert twin(table, principle) == divide(table, principle)


@pytest.mark.parametrize("dense", [0, snug.DENSE])
def test_a_long_node_whose_codes_spread_far_is_sorted_digit_by_digit(
    dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    columns = {"x": rng.permutation(70_000)[:400], "y": rng.integers(0, 300, 400), "s": ["a"] * 400}
    table = gh.read(columns, quasi=["x", "y"], sensitive="s")
    monkeypatch.setattr(snug, "DENSE", dense)

    assert twin(table, gh.KAnonymity(k=5)) == divide(table, gh.KAnonymity(k=5))


@settings(max_examples=examples(100), deadline=None)
@given(data=st.data(), principle=principles)
def test_cuts_between_values_follow_the_taxonomy(data: st.DataObject, principle: Any) -> None:
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

    assert twin(table, principle) == divide(table, principle)


@pytest.mark.parametrize("principle", [gh.KAnonymity(k=5), gh.LDiversity(ell=3)], ids=repr)
def test_threads_and_pieces_change_nothing(principle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = gh.synthetic.hospital(n=3_000, seed=5)
    expected = divide(table, principle, threads=1)
    monkeypatch.setattr(memory, "PIECE", 100)

    assert expected == divide(table, principle, threads=1)
    assert expected == divide(table, principle, threads=4)


@settings(max_examples=examples(60), deadline=None)
@given(plain=plain_tables(missing=True), principle=principles)
def test_interpreted_kernels_give_the_same_groups(plain: Plain, principle: Any) -> None:
    table = plain.microdata(missing="category")
    expected = divide(table, principle)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("grouping.cuts.snug", "engines.memory", "microdata.counts"):
            patch.setattr(f"glasshouse.{module}.compiled", interpreted)

        assert expected == divide(table, principle, threads=1)


@pytest.mark.parametrize("k", [3, 10])
def test_costs_are_compared_exactly_where_widths_or_costs_are_beyond_64_bits(k: int) -> None:
    rng = np.random.default_rng(k)
    small = rng.integers(0, 50, (3, 200))
    for scale in (1, 10**9 + 7, 10**15 + 37):  # widths and costs fit; costs do not; neither does
        spread = {f"q{j}": (column * (scale + j)).tolist() for j, column in enumerate(small)}
        table = gh.read({**spread, "s": ["a"] * 200}, quasi=list(spread), sensitive="s")

        assert naive.snug(rows_of(table), _exact_positions(table), lambda codes: len(codes) >= k, k) == divide(
            table, gh.KAnonymity(k=k)
        )


def _exact_positions(table: gh.Microdata) -> list[list[int]]:
    return [column.domain.values.to_pylist() for column in table.quasi]


def test_what_a_part_promises_to_cost_is_rounded_down_exactly() -> None:
    sizes = np.arange(1, 3_000)
    for unit in (1, 2, 3, 10, 37):
        assert snug.prospects(sizes, unit).tolist() == [naive.prospect(size, unit) for size in sizes.tolist()]
    for size in (10**6 + 1, 10**7 + 19, 90_000_000):
        assert snug.prospects(np.array([size]), 10).tolist() == [naive.prospect(size, 10)]


def test_people_who_are_equal_stay_together_and_the_order_of_rows_is_nothing() -> None:
    table = gh.synthetic.hospital(n=2_000, seed=2)
    shuffled = np.random.default_rng(1).permutation(2_000)
    groups = divide(table, gh.KAnonymity(k=4))
    again = divide(table.take(shuffled), gh.KAnonymity(k=4))
    of_person = {person: group for group in groups for person in group}
    kinds: dict[tuple[int, ...], set[frozenset[int]]] = {}
    for person, (codes, _) in enumerate(rows_of(table)):
        kinds.setdefault(codes, set()).add(of_person[person])

    assert {frozenset(shuffled[i] for i in group) for group in again} == groups
    assert all(len(found) == 1 for found in kinds.values())
    assert len(kinds) < 2_000


def test_where_nobody_is_equal_nearly_all_groups_have_k_people() -> None:
    rng = np.random.default_rng(0)
    table = gh.read({"x": rng.permutation(5_000), "y": rng.permutation(5_000)}, quasi=["x", "y"])
    sizes = gh.Snug().divide(table, Requirement.of(gh.KAnonymity(k=10), table)).sizes

    assert sizes.min() >= 10
    assert np.mean(sizes == 10) > 0.9


@pytest.mark.parametrize("n", [1_000, 20_000])
@pytest.mark.parametrize("principle", [gh.KAnonymity(k=10), gh.DistinctLDiversity(ell=5)], ids=repr)
def test_its_boxes_are_smaller_than_those_of_mondrian(principle: Any, n: int) -> None:
    table = gh.synthetic.census(n, seed=1)

    def ncp(method: Any) -> float:
        groups = method.divide(table, Requirement.of(principle, table))
        release = gh.Boxes().recode(table, groups)["data"]
        published = gh.foreign_release(
            release.to_pandas().astype(str), quasi=[c.name for c in table.quasi], sensitive="occupation"
        )
        return float(gh.losses(published).ncp)

    assert ncp(gh.Snug()) < 0.96 * ncp(gh.Mondrian())


def test_under_k_anonymity_every_world_has_the_same_groups() -> None:
    """So knowing the algorithm rules out no world: there are 90 here."""
    places = {"x": [1, 1, 2, 3, 5, 8], "y": [3, 1, 4, 1, 5, 9]}
    worlds = sorted(set(itertools.permutations("aabbcc")))
    tables = [gh.read({**places, "s": list(world)}, quasi=["x", "y"], sensitive="s") for world in worlds]
    found = {frozenset(divide(table, gh.KAnonymity(k=2))) for table in tables}

    assert len(worlds) == 90
    assert len(found) == 1
    assert len(next(iter(found))) == 3


def test_k_anonymity_claims_more_than_a_principle_on_sensitive_values() -> None:
    table = gh.examples.transparent_t1()
    by_size = gh.Snug().claim(Requirement.of(gh.KAnonymity(k=2), table))
    by_value = gh.Snug().claim(Requirement.of(gh.LDiversity(ell=2), table))

    assert (by_size.adversary.value, by_value.adversary.value) == ("algorithm-aware", "linking")
    assert "where a group was not cut further" in by_value.limits[0]


def test_an_attacker_who_knows_it_can_be_certain_under_a_principle_on_sensitive_values() -> None:
    """Why it claims no more: with five people on a line, a cut that was not made gives one away."""
    people = {"x": [1, 2, 3, 4, 5], "y": [5, 4, 3, 2, 1]}
    table = gh.read({**people, "s": list("bcaad")}, quasi=["x", "y"], sensitive="s")
    with pytest.warns(gh.DisclosureWarning, match="'snug'"):
        release = gh.publish(table, principle=gh.LDiversity(ell=2), method=gh.Snug(), recoding=gh.Boxes())
    knowledge = gh.Knowledge(external=gh.read(people, quasi=["x", "y"]))
    found = gh.attack(release, gh.ReverseEngineering(), knowledge=knowledge)

    assert found.worst().belief > 0.5


def test_a_principle_that_is_not_monotone_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = gh.examples.transparent_t1()
    monkeypatch.setattr(Requirement, "monotone", property(lambda self: False))

    with pytest.raises(gh.NotSupported, match=r"Snug does not support .* not monotone"):
        gh.Snug().divide(table, Requirement.of(gh.KAnonymity(k=2), table))
