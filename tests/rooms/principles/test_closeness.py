"""The earth mover's distance: the numbers of Li et al., compiled and interpreted kernels, what cannot be bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as p
from glasshouse import kernels
from glasshouse.errors import DomainError, InputError
from glasshouse.microdata import Domain, Taxonomy
from glasshouse.principles import earth_mover as earth_movers
from glasshouse.principles.earth_mover import EarthMover
from tests.rooms.principles.cases import KINDS, counts_of, domain_of, filled, slow, small, trees
from tests.tiers import examples
from tests.twins import principles as naive

DISEASES = {
    "any": {
        "respiratory": {
            "infection": ["flu", "pneumonia", "bronchitis"],
            "vascular lung": ["pulmonary edema", "pulmonary embolism"],
        },
        "digestive": {
            "stomach": ["gastric ulcer", "stomach cancer"],
            "colon": ["colitis", "colon cancer"],
        },
    }
}


@pytest.mark.parametrize(
    ("salaries", "distance"),
    [([3, 4, 5], Fraction(3, 8)), ([6, 8, 11], Fraction(1, 6))],  # printed as 0.375 and 0.167
)
def test_the_salaries_of_li_et_al_come_out_as_printed(salaries, distance):
    group = counts_of([[int(salary in salaries) for salary in range(3, 12)]])
    whole, domain = counts_of([[1] * 9]), domain_of(9, ordered=True)

    assert p.TCloseness(t=distance, distance="ordered").bind(whole, domain).holds(group)[0]
    assert not p.TCloseness(t=distance - Fraction(1, 10**9), distance="ordered").bind(whole, domain).holds(group)[0]


@pytest.mark.parametrize(
    ("other", "distance"),
    [("bronchitis", Fraction(1, 3)), ("pulmonary embolism", Fraction(2, 3)), ("stomach cancer", Fraction(1))],
)
def test_the_diseases_of_li_et_al_are_as_far_apart_as_printed(other, distance):
    names = [name for part in DISEASES["any"].values() for leaves in part.values() for name in leaves]
    domain = Domain(
        name="disease",
        kind="category",
        values=pa.array(names),
        ordered=False,
        taxonomy=Taxonomy.from_nested(DISEASES).bind("disease", pa.array(names)),
    )
    # a table that is all flu but for one record in four, and a group that is all of the other disease
    whole = counts_of([[{"flu": 3, other: 1}.get(name, 0) for name in names]])
    group = counts_of([[int(name == other) for name in names]])
    t = distance * Fraction(3, 4)

    assert p.TCloseness(t=t, distance="hierarchical").bind(whole, domain).holds(group)[0]
    assert not p.TCloseness(t=t - Fraction(1, 10**9), distance="hierarchical").bind(whole, domain).holds(group)[0]


@given(st.data())
@slow(max_examples=examples(60))
def test_a_distance_is_exactly_the_cheapest_transport(data):
    m = data.draw(st.integers(2, 6))
    tree = data.draw(trees(m))
    group, whole = (data.draw(filled(m)) for _ in range(2))
    taxonomy = domain_of(m, tree=tree).taxonomy
    movers = {
        naive.equal_distance: EarthMover.on_star(counts_of([whole])),
        naive.ordered_distance(m): EarthMover.on_line(counts_of([whole])),
        naive.hierarchical_distance(tree): EarthMover.on_taxonomy(counts_of([whole]), taxonomy),
    }
    for ground, mover in movers.items():
        work = int(mover._work(counts_of([group]), np.array([0]))[0])
        assert Fraction(work, mover.scale * sum(group) * sum(whole)) == naive.earth_movers_distance(
            group, whole, ground
        )


@given(st.data())
@slow(max_examples=examples(60))
def test_kernels_agree_compiled_interpreted_and_on_lists(data):
    m = data.draw(st.integers(1, 6))
    histograms = data.draw(st.lists(small(m), min_size=1, max_size=5))
    counts, whole = counts_of(histograms), counts_of([data.draw(small(m))])
    rows = np.array(data.draw(st.lists(st.integers(0, len(histograms) - 1))), np.int64)
    taxonomy = domain_of(m, tree=data.draw(trees(m))).taxonomy
    interpreted = kernels.interpreted(earth_movers._KERNELS)
    for mover in EarthMover.on_star(whole), EarthMover.on_line(whole), EarthMover.on_taxonomy(whole, taxonomy):
        work, scratch = np.empty(len(rows), np.int64), np.zeros(len(mover.arrays[0]), np.int64)
        getattr(interpreted, mover.kernel)(rows, *counts.histogram, scratch, *mover.arrays, work)
        assert not scratch.any()
        assert mover._work(counts, rows).tolist() == work.tolist() == [mover._large_work(counts, row) for row in rows]


def test_work_that_does_not_fit_64_bits_is_done_in_longer_integers():
    whole = counts_of([[2**60, 2**60, 2**60]])
    groups = counts_of([[2**60, 2**60, 2**60], [2**60 + 1, 2**60, 2**60], [1, 1, 1], [3, 2, 1]])

    for distance in ("equal", "ordered"):
        bound = p.TCloseness(t=0, distance=distance).bind(whole, domain_of(3, ordered=True))
        assert bound.holds(groups).tolist() == [True, False, True, False]


def test_one_value_is_at_no_distance_from_itself():
    for distance, domain in (
        ("equal", None),
        ("ordered", domain_of(1, ordered=True)),
        ("hierarchical", domain_of(1, tree=[0])),
    ):
        bound = p.TCloseness(t=0, distance=distance).bind(counts_of([[7]]), domain)
        assert bound.holds(counts_of([[2], [0]])).tolist() == [True, False]


def test_a_missing_value_is_at_distance_one_from_all_others_in_a_taxonomy():
    domain = domain_of(3, tree=[[0, 1]], missing=True)
    whole, group = counts_of([[1, 0, 1]]), counts_of([[1, 0, 0]])

    assert p.TCloseness(t="1/2", distance="hierarchical").bind(whole, domain).holds(group)[0]
    assert not p.TCloseness(t="0.499", distance="hierarchical").bind(whole, domain).holds(group)[0]


@pytest.mark.parametrize(
    ("distance", "domain", "error", "message"),
    [
        ("ordered", None, InputError, "needs the domain of the sensitive column"),
        ("hierarchical", None, InputError, "needs the domain of the sensitive column"),
        ("ordered", domain_of(2), DomainError, "column 'disease' has no order"),
        ("ordered", domain_of(2, ordered=True, missing=True), DomainError, "missing values, which have no place"),
        ("hierarchical", domain_of(2, ordered=True), DomainError, "column 'disease' has no taxonomy"),
    ],
)
def test_a_distance_that_means_nothing_for_the_column_is_refused(distance, domain, error, message):
    with pytest.raises(error, match=message):
        p.TCloseness(t=0.1, distance=distance).bind(counts_of([[1, 1]]), domain)


def test_groups_of_another_column_are_refused():
    bound = p.TCloseness(t=0.1).bind(counts_of([[1, 1]]))
    with pytest.raises(InputError, match="the groups have 3 different values, but the table has 2"):
        bound.holds(counts_of([[1, 1, 1]]))


def test_every_distance_has_a_case():
    assert {kind for kind in KINDS if kind.startswith("t-")} == {
        f"t-closeness, {d}" for d in ("equal", "ordered", "hierarchical")
    }
