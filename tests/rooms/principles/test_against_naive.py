"""Every principle decides as its slow twin does, on small groups and on huge ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.microdata import Counts
from tests.rooms.principles.cases import KINDS, counts_of, large, slow, small
from tests.tiers import examples


@given(st.integers(1, 5).flatmap(lambda m: st.lists(small(m), min_size=1, max_size=4)))
def test_counts_made_from_histograms_are_those_made_from_tuples(histograms):
    quick, listed = counts_of(histograms), Counts.from_histograms(histograms)

    assert quick.sizes.tolist() == listed.sizes.tolist()
    assert quick.largest.tolist() == listed.largest.tolist()
    assert quick.distinct.tolist() == listed.distinct.tolist()
    assert [part.tolist() for part in quick.histogram] == [part.tolist() for part in listed.histogram]


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
@slow(max_examples=examples(60))
def test_a_principle_holds_where_its_definition_holds(kind, data):
    m = data.draw(st.integers(1, 5))
    case = data.draw(KINDS[kind](m))
    histograms = data.draw(st.lists(small(m), min_size=1, max_size=4))
    whole = [sum(column) for column in zip(*histograms, strict=True)]
    expected = [case.twin(h, whole) for h in histograms]

    holds = case.principle.bind(counts_of([whole]), case.domain).holds(counts_of(histograms))

    assert holds.dtype == np.bool_
    assert holds.tolist() == expected


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "entropy-l-diversity"])
@given(st.data())
@slow(max_examples=50)
def test_a_principle_holds_where_its_definition_holds_however_large_the_counts(kind, data):
    m = data.draw(st.integers(1, 4))
    case = data.draw(KINDS[kind](m))
    histograms = data.draw(st.lists(large(m), min_size=1, max_size=3))
    whole = [sum(column) for column in zip(*histograms, strict=True)]
    expected = [case.twin(h, whole) for h in histograms]

    holds = case.principle.bind(counts_of([whole]), case.domain).holds(counts_of(histograms))

    assert holds.tolist() == expected


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("k-anonymity", "alpha-k-anonymity")])
@given(st.data())
@slow(max_examples=50)
def test_a_principle_of_shares_decides_alike_when_all_counts_are_multiplied(kind, data):
    m = data.draw(st.integers(1, 5))
    case = data.draw(KINDS[kind](m))
    histograms = data.draw(st.lists(small(m), min_size=1, max_size=4))
    times = data.draw(st.sampled_from([1, 2, 30, 10**7 + 19, 10**9]))
    whole = counts_of([[sum(column) for column in zip(*histograms, strict=True)]])
    scaled = counts_of([[n * times for n in h] for h in histograms])
    bound = case.principle.bind(whole, case.domain)

    assert bound.holds(scaled).tolist() == bound.holds(counts_of(histograms)).tolist()


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
@slow(max_examples=20)
def test_a_group_is_judged_by_itself(kind, data):
    m = data.draw(st.integers(1, 5))
    case = data.draw(KINDS[kind](m))
    histograms = data.draw(st.lists(small(m), min_size=1, max_size=6))
    whole = counts_of([[sum(column) for column in zip(*histograms, strict=True)]])
    bound = case.principle.bind(whole, case.domain)

    together = bound.holds(counts_of(histograms)).tolist()

    assert together == [bound.holds(counts_of([h]))[0] for h in histograms]


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
@slow(max_examples=20)
def test_no_groups_give_no_answers_and_a_group_without_tuples_obeys_nothing(kind, data):
    m = data.draw(st.integers(1, 5))
    case = data.draw(KINDS[kind](m))
    whole = data.draw(small(m))
    bound = case.principle.bind(counts_of([whole]), case.domain)

    assert bound.holds(Counts.of([], n_values=m)).tolist() == []
    assert bound.holds(Counts.of([[], []], n_values=m)).tolist() == [False, False]
