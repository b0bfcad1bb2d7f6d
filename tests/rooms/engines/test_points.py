"""Points: strict cuts on kinds of tuples are the cuts on the tuples themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import Memory, Points, is_crowded
from glasshouse.kernels import interpreted
from glasshouse.microdata.counts import Counts
from glasshouse.principles.principle import Requirement
from tests.tables import Plain, plain_tables
from tests.tiers import examples

NEVER, ALWAYS = 10**9, 0

PRINCIPLES = [gh.KAnonymity(k=2), gh.LDiversity(ell=2), gh.DistinctLDiversity(ell=2), gh.TCloseness(t="0.4")]


@pytest.mark.parametrize("principle", PRINCIPLES, ids=lambda principle: principle.name)
@settings(max_examples=examples(100), deadline=None)
@given(plain=plain_tables(missing=True))
def test_strict_groups_do_not_depend_on_the_layout(principle: gh.Principle, plain: Plain) -> None:
    table = plain.microdata(missing="category")
    requirement = Requirement.of(principle, table)
    on_points, on_tuples = (
        gh.Mondrian().divide(table, requirement, engine=Memory(crowd=crowd)) for crowd in (ALWAYS, NEVER)
    )
    assert on_points.n_groups == on_tuples.n_groups
    assert on_points.labels.tolist() == on_tuples.labels.tolist()


def test_a_taxonomy_and_several_sensitive_columns_give_the_same_groups_on_points() -> None:
    draws = np.random.default_rng(3).integers(0, [6, 5, 3, 4], (400, 4)).T
    letters = np.array(list("abcdef"))[draws[0]].tolist()
    tree = gh.Taxonomy.from_nested({"all": {"first": ["a", "b", "c"], "second": ["d", "e"], "third": ["f"]}})
    table = gh.read(
        {"letter": letters, "age": draws[1], "illness": draws[2], "party": draws[3]},
        quasi=["letter", "age"],
        sensitive=["illness", "party"],
        categorical=["illness", "party"],
        taxonomies={"letter": tree},
    )
    requirement = Requirement.of({"illness": gh.LDiversity(ell=2), "party": gh.LDiversity(ell=3)}, table)
    found = [gh.Mondrian().divide(table, requirement, engine=Memory(crowd=crowd)) for crowd in (ALWAYS, NEVER)]
    assert found[0].n_groups > 4
    assert found[0].labels.tolist() == found[1].labels.tolist()


def test_a_table_is_crowded_from_so_many_tuples_for_every_possible_point() -> None:
    table = gh.read({"a": [1, 2, 1, 2, 1, 2], "b": [1, 1, 1, 2, 2, 2], "c": list("xyzxyz")}, quasi=["a", "b"])
    assert is_crowded(table, 1)
    assert not is_crowded(table, 2)
    assert Points(table, ()).whole().sizes.tolist() == [4]


@settings(max_examples=examples(100), deadline=None)
@given(
    groups=st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), max_size=6), min_size=1, max_size=4),
    interpret=st.booleans(),
)
def test_a_weight_stands_for_so_many_tuples(groups: list[list[tuple[int, int]]], interpret: bool) -> None:
    pairs = [pair for group in groups for pair in group]
    codes = np.array([code for code, _ in pairs], np.int32)
    weights = np.array([weight for _, weight in pairs], np.int32)
    offsets = np.cumsum([0, *map(len, groups)])
    with pytest.MonkeyPatch.context() as patch:
        if interpret:
            patch.setattr("glasshouse.microdata.counts.compiled", interpreted)
        weighted = Counts(codes, offsets, 4, weights)
        repeated = Counts.of([[c for c, w in group for _ in range(w)] for group in groups], n_values=4)
        assert weighted.sizes.tolist() == repeated.sizes.tolist()
        assert weighted.largest.tolist() == repeated.largest.tolist()
        assert weighted.dense.tolist() == repeated.dense.tolist()
        assert weighted.total().dense.tolist() == repeated.total().dense.tolist()
        assert [c.dense.tolist() for c in weighted.chunks(4)] == [c.dense.tolist() for c in repeated.chunks(4)]
