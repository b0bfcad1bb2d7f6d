"""The papers' own groups."""

from __future__ import annotations

import glasshouse as p
from glasshouse.microdata import Counts
from tests.rooms.principles.cases import counts_of


def test_the_group_of_corruption_figure_1_is_one_half_three_diverse_and_no_more():
    group = counts_of([[3, 2, 2, 2, 1, 1]])

    assert p.RecursiveLDiversity(c="1/2", ell=3).holds(group)[0]
    assert not p.RecursiveLDiversity(c="0.499999", ell=3).holds(group)[0]
    assert not p.RecursiveLDiversity(c="1/2", ell=4).holds(group)[0]


def test_both_groups_of_anatomy_table_1_are_two_diverse_and_no_more():
    # dyspepsia, pneumonia, flu, gastritis, bronchitis
    groups = Counts.of([[1, 0, 0, 1], [2, 3, 2, 4]], n_values=5)

    assert p.LDiversity(ell=2).holds(groups).all()
    assert not p.LDiversity(ell=3).holds(groups).any()


def test_the_groups_of_angel_table_1b_are_zero_close():
    groups = Counts.of([[0, 0, 1, 1], [1, 0, 0, 1]], n_values=2)

    assert p.TCloseness(t=0).bind(groups.total()).holds(groups).all()


def test_binary_diversity_lets_negative_values_be_certain():
    from tests.rooms.principles.cases import domain_of

    bound = p.DesignatedLDiversity(ell=3, values=("v1",)).bind(counts_of([[6, 3]]), domain_of(2))

    assert bound.holds(counts_of([[5, 0], [2, 1], [3, 2]])).tolist() == [True, True, False]
