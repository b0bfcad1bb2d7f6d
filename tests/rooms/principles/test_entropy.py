"""Entropy l-diversity is decided exactly: nothing below the border is let through, nothing on it is refused."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as p
from glasshouse.principles import entropy_l_diversity
from glasshouse.principles.entropy_l_diversity import powers_at_least_one
from tests.rooms.principles.cases import counts_of, slow
from tests.twins import principles as naive


@pytest.mark.parametrize("ell", [2, 3, 5, 6, 7, 10, 30, 49, 100])
@pytest.mark.parametrize("each", [1, 3, 7, 10**6 + 3, 10**12])
def test_exactly_ell_equally_frequent_values_obey_and_one_tuple_more_does_not(ell, each):
    equal, uneven = [each] * ell, [each + 1] + [each] * (ell - 1)

    assert p.EntropyLDiversity(ell=ell).holds(counts_of([equal, uneven])).tolist() == [True, False]


@pytest.mark.parametrize("each", [1, 7, 10**6 + 3])
def test_equally_frequent_values_obey_no_ell_that_is_above_their_number_by_less_than_rounding_shows(each):
    hair = Fraction(1, 10**20)
    for distinct in range(2, 80):
        group = counts_of([[each] * distinct])
        assert not p.EntropyLDiversity(ell=distinct + hair).holds(group)[0]
        assert p.EntropyLDiversity(ell=distinct - hair).holds(group)[0]


@pytest.mark.parametrize("times", [1, 3, 10**8])
def test_uneven_groups_exactly_at_the_border_obey(times):
    # half of the group at 1/2, half of it in eighths: 1/2 log 2 + 1/2 log 8 = log 4; and 1/2 log 2 + 1/2 log 18 = log 6
    for border, ell in ([4, 1, 1, 1, 1], 4), ([9] + [1] * 9, 6):
        group = [n * times for n in border]
        assert p.EntropyLDiversity(ell=ell).holds(counts_of([group]))[0]
        assert not p.EntropyLDiversity(ell=ell + Fraction(1, 10**9)).holds(counts_of([group]))[0]
        assert not p.EntropyLDiversity(ell=ell).holds(counts_of([[group[0] + 1, *group[1:]]]))[0]


def test_a_group_a_hair_off_the_border_is_told_from_one_on_it():
    # (2m, m, m) has the entropy of 2 * sqrt(2) equal values: the fractions below lie on either side of it, ever closer
    group = counts_of([[2 * 10**9, 10**9, 10**9]])
    low, high = Fraction(2), Fraction(3)
    for _ in range(200):
        middle = (low + high) / 2
        obeys = middle**2 <= 8
        assert p.EntropyLDiversity(ell=middle).holds(group)[0] == obeys
        low, high = (middle, high) if obeys else (low, middle)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=7), st.integers(0, 3))
@slow()
def test_the_exact_decision_alone_agrees_with_the_definition(histogram, index):
    ell = [Fraction(2), Fraction(3), Fraction(5, 2), Fraction(4)][index]

    assert entropy_l_diversity._obeys(tuple(histogram), ell) == naive.entropy_l_diversity(histogram, ell)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=60), st.fractions(min_value="1.001", max_value=50))
@slow()
def test_the_bound_on_the_rounding_of_logarithms_covers_it(histogram, ell):
    counts = counts_of([histogram])
    surplus, doubt = entropy_l_diversity._surplus(
        counts.histogram[2], counts.histogram[0], counts.sizes, counts.distinct, ell
    )
    n = sum(histogram)
    powers = [(n, n), (ell.denominator, n), (ell.numerator, -n), *((m, -m) for m in histogram)]

    with localcontext(prec=60):
        exact = sum(exponent * Decimal(base).ln() for base, exponent in powers)
        error = abs(exact - Decimal(float(surplus[0])))

    assert error <= doubt[0] / 2


@given(st.dictionaries(st.integers(1, 30), st.integers(-12, 12), max_size=6))
@slow()
def test_a_product_of_powers_is_compared_with_one_exactly(powers):
    assert powers_at_least_one(powers) == (prod(Fraction(base) ** exponent for base, exponent in powers.items()) >= 1)


@given(st.lists(st.integers(2, 10**6), min_size=1, max_size=4), st.integers(1, 10**9))
def test_powers_that_cancel_make_one_however_large(bases, exponent):
    powers = Counter({prod(bases): exponent})
    for base in bases:
        powers[base] -= exponent

    assert powers_at_least_one(powers)
    powers[10**9 + 7] -= 1
    assert not powers_at_least_one(powers)
