"""Products are compared exactly whatever their size; reductions mind empty groups."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.principles.parameters import LARGEST, at_most, per_group

near = st.one_of(
    st.integers(0, 9), st.sampled_from([2**31, 2**32, 2**62, LARGEST]).flatmap(lambda n: st.integers(n - 2, n))
)
factors = st.one_of(st.integers(0, 9), near, st.integers(2**63, 2**70))


@given(st.lists(st.tuples(near, near), max_size=6), factors, factors)
def test_products_are_compared_as_pythons_integers_are(pairs, one, other):
    left, right = (np.array([pair[i] for pair in pairs], np.int64) for i in (0, 1))

    assert at_most(left, one, right, other).tolist() == [a * one <= b * other for a, b in pairs]


def test_equal_products_beyond_64_bits_are_at_most_each_other():
    numbers = np.array([2**62, 3, LARGEST])

    assert at_most(numbers, 10**9, numbers, 10**9).tolist() == [True, True, True]
    assert at_most(numbers, 2**80, numbers, 2**80).tolist() == [True, True, True]
    assert at_most(numbers, 10**9 + 1, numbers, 10**9).tolist() == [False, False, False]


@given(st.lists(st.lists(st.integers(1, 9), max_size=3), max_size=6))
def test_a_group_without_entries_reduces_to_zero(groups):
    entries = np.array([n for group in groups for n in group], np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64)

    assert per_group(np.add, entries, offsets).tolist() == [sum(group) for group in groups]
    assert per_group(np.maximum, entries, offsets).tolist() == [max(group, default=0) for group in groups]
