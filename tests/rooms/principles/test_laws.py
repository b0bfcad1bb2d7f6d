"""Laws of every principle: the union of safe groups is safe, stricter implies laxer, bound and unbound agree."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as p
from glasshouse import kernels
from glasshouse.errors import NotSupported
from tests.rooms.principles.cases import KINDS, counts_of, domain_of, large, slow, small
from tests.tiers import examples


def add(*histograms):
    return [sum(column) for column in zip(*histograms, strict=True)]


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
@slow(max_examples=examples(60))
def test_the_union_of_two_groups_that_obey_obeys(kind, data):
    m = data.draw(st.integers(2, 5))
    case = data.draw(KINDS[kind](m))
    histograms = data.draw(st.lists(st.one_of(small(m), large(m)), min_size=2, max_size=8))
    bound = case.principle.bind(counts_of([add(*histograms)]), case.domain)
    assert bound.monotone
    assert case.principle.monotone
    safe = [h for h, holds in zip(histograms, bound.holds(counts_of(histograms)), strict=True) if holds]
    unions = [add(one, other) for one, other in product(safe, safe)]

    assert not unions or bound.holds(counts_of(unions)).all()


def test_the_union_of_two_groups_that_obey_obeys_for_all_pairs_of_small_groups():
    groups = [list(h) for h in product(range(5), repeat=3) if any(h)]
    whole = counts_of([[2, 3, 5]])
    for principle in (
        p.KAnonymity(k=3),
        p.LDiversity(ell=2),
        p.DistinctLDiversity(ell=2),
        p.EntropyLDiversity(ell=2),
        p.EntropyLDiversity(ell="2.5"),
        p.RecursiveLDiversity(c=1, ell=2),
        p.RecursiveLDiversity(c="3/2", ell=3),
        p.AlphaKAnonymity(alpha="0.6", k=2),
        p.TCloseness(t="0.3"),
        p.TCloseness(t="0.2", distance="ordered"),
        p.TCloseness(t="0.2", distance="hierarchical"),
        p.DesignatedLDiversity(ell=3, values=("v0", "v2")),
        p.AllOf(principles=(p.KAnonymity(k=4), p.TCloseness(t="0.4"), p.LDiversity(ell=2))),
    ):
        bound = principle.bind(whole, domain_of(3, tree=[0, [1, 2]], ordered=True))
        safe = [h for h, holds in zip(groups, bound.holds(counts_of(groups)), strict=True) if holds]
        assert 0 < len(safe) < len(groups)
        assert bound.holds(counts_of([add(one, other) for one, other in product(safe, safe)])).all()


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
@slow(max_examples=examples(60))
def test_a_group_that_obeys_the_stricter_principle_obeys_the_laxer_one(kind, data):
    m = data.draw(st.integers(1, 5))
    case = data.draw(KINDS[kind](m))
    histograms = data.draw(st.lists(st.one_of(small(m), large(m)), min_size=1, max_size=8))
    whole = counts_of([add(*histograms)])

    stricter = case.stricter.bind(whole, case.domain).holds(counts_of(histograms))
    laxer = case.principle.bind(whole, case.domain).holds(counts_of(histograms))

    assert (~stricter | laxer).all()


@given(st.integers(1, 5).flatmap(lambda m: st.lists(st.one_of(small(m), large(m)), min_size=1, max_size=6)))
def test_alpha_one_half_and_two_diversity_are_the_same(histograms):
    counts = counts_of(histograms)

    assert p.AlphaKAnonymity(alpha=0.5, k=1).holds(counts).tolist() == p.LDiversity(ell=2).holds(counts).tolist()


@given(st.integers(1, 5).flatmap(small), st.integers(2, 4))
def test_frequency_diversity_implies_entropy_and_distinct_diversity(histogram, ell):
    counts = counts_of([histogram])
    if p.LDiversity(ell=ell).holds(counts)[0]:
        assert p.EntropyLDiversity(ell=ell).holds(counts)[0]
        assert p.DistinctLDiversity(ell=ell).holds(counts)[0]


@pytest.mark.parametrize("principle", [p.TCloseness(t=0.1), p.DesignatedLDiversity(ell=2, values=("flu",))])
def test_a_principle_that_needs_the_table_judges_nothing_before_it_is_bound(principle):
    with pytest.raises(NotSupported, match=r"call bind\(counts, domain\) of the principle first"):
        principle.holds(counts_of([[1, 1]]))


def test_the_fast_principles_read_sizes_and_largest_counts_alone():
    class Bare:
        sizes = counts_of([[2, 2], [3, 1]]).sizes
        largest = counts_of([[2, 2], [3, 1]]).largest

    assert p.LDiversity(ell=2).holds(Bare()).tolist() == [True, False]
    assert p.KAnonymity(k=4).holds(Bare()).tolist() == [True, True]


@given(st.lists(small(6), min_size=1, max_size=6), st.integers(1, 7))
def test_the_kernel_of_ranks_agrees_compiled_and_interpreted(histograms, ranks):
    offsets, _, entries = counts_of(histograms).histogram
    expected = [sum(sorted(h, reverse=True)[ranks:]) for h in histograms]
    for module in kernels.compiled, kernels.interpreted:
        rest = np.empty(len(histograms), np.int64)
        kernel = module("glasshouse.principles._kernels").without_most_frequent
        kernel(offsets, entries, np.empty(ranks, np.int64), rest)
        assert rest.tolist() == expected
