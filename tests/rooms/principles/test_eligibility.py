"""Infeasible tables are refused with a true witness and what would work; feasible ones never are."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as p
from glasshouse.errors import DomainError, Infeasible, InputError
from glasshouse.principles.principle import SAME
from tests.rooms.principles.cases import KINDS, counts_of, domain_of, filled, large, slow, small
from tests.tiers import examples


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
@slow(max_examples=examples(60))
def test_a_table_is_refused_exactly_where_it_does_not_obey(kind, data):
    m = data.draw(st.integers(1, 5))
    case = data.draw(KINDS[kind](m))
    histogram = data.draw(st.one_of(small(m), large(m)) if kind != "entropy-l-diversity" else small(m))
    whole, domain = counts_of([histogram]), case.domain or domain_of(m)
    obeys = case.twin(histogram, histogram) if any(histogram) else False

    assert case.principle.eligible(whole, domain) == obeys
    if obeys:
        case.principle.check_eligible(whole, column="disease", domain=domain)
        return
    with pytest.raises(Infeasible, match="is not possible") as raised:
        case.principle.check_eligible(whole, column="disease", domain=domain)

    error = raised.value
    broken = error.principle
    assert not broken.eligible(whole, domain)
    assert error.of == sum(histogram)
    if error.value is not None:  # the witness is a most frequent value, of those that count
        code = domain.code_of(error.value)
        assert error.count == histogram[code]
        assert repr(error.value) in str(error)
        if broken.name != "designated-l-diversity":
            assert error.count == max(histogram)


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
@slow(max_examples=examples(60))
def test_what_is_said_to_be_feasible_is_and_nothing_stricter_is(kind, data):
    m = data.draw(st.integers(1, 5))
    case = data.draw(KINDS[kind](m))
    histogram = data.draw(filled(m))
    whole, domain = counts_of([histogram]), case.domain or domain_of(m)
    nearest = case.principle.feasible(whole, domain)

    if nearest is None:
        assert not case.principle.eligible(whole, domain)
        return
    assert nearest.eligible(whole, domain)
    if nearest == case.principle:
        return
    if isinstance(nearest, p.KAnonymity):
        stricter = replace(nearest, k=nearest.k + 1)
    elif isinstance(nearest, p.RecursiveLDiversity):
        stricter = replace(nearest, c=nearest.c * Fraction(999_999, 10**6))
    elif isinstance(nearest, p.AlphaKAnonymity):
        stricter = replace(nearest, alpha=nearest.alpha * Fraction(999_999, 10**6))
    elif isinstance(nearest, p.EntropyLDiversity):
        stricter = replace(nearest, ell=nearest.ell + Fraction(1, 100))
    elif isinstance(nearest, p.TCloseness):
        assert nearest.t == 0
        return
    elif isinstance(nearest, p.AllOf):
        return
    else:
        stricter = replace(nearest, ell=nearest.ell + 1)
    assert not stricter.eligible(whole, domain)


DISEASES = domain_of(3)


@pytest.mark.parametrize(
    ("principle", "histogram", "message"),
    [
        (
            p.LDiversity(ell=8),
            [130, 390, 380],
            "8-diversity is not possible for this table: 'v1' has 390 of 900 records of column 'disease', at most 112 "
            "are allowed; the largest l that is possible is 2",
        ),
        (
            p.LDiversity(ell=8),
            [1000, 390, 380],
            "8-diversity is not possible for this table: 'v0' has 1,000 of 1,770 records of column 'disease', at most "
            "221 are allowed; l-diversity is not possible with any l for this column: ask for another guarantee, such "
            "as t-closeness, or protect only the rarer values (designated l-diversity)",
        ),
        (
            p.LDiversity(ell=3),
            [2, 2, 1],
            "3-diversity is not possible for this table: 'v0' has 2 of 5 records of column 'disease', at most 1 is "
            "allowed; the largest l that is possible is 2",
        ),
        (
            p.KAnonymity(k=9),
            [1, 1, 1],
            "9-anonymity is not possible for this table: it has 3 records; the largest k that is possible is 3",
        ),
        (
            p.KAnonymity(k=9),
            [1, 0, 0],
            "9-anonymity is not possible for this table: it has 1 record; k-anonymity needs at least 2 records",
        ),
        (
            p.DistinctLDiversity(ell=4),
            [5, 1, 1],
            "distinct 4-diversity is not possible for this table: there are 3 different values of column 'disease'; "
            "the largest l that is possible is 3",
        ),
        (
            p.DistinctLDiversity(ell=4),
            [5, 0, 0],
            "distinct 4-diversity is not possible for this table: there is 1 different value of column 'disease'; "
            f"{SAME}",
        ),
        (
            p.EntropyLDiversity(ell=3),
            [2, 1, 1],
            "entropy 3-diversity is not possible for this table: disease is as uncertain as 2.82 equally frequent "
            "values ('v0' has 2 of 4 records of column 'disease'); the largest l that is possible is 2.82",
        ),
        (
            p.EntropyLDiversity(ell=3),
            [0, 2, 0],
            "entropy 3-diversity is not possible for this table: disease is as uncertain as 1 equally frequent values "
            f"('v1' has 2 of 2 records of column 'disease'); {SAME}",
        ),
        (
            p.RecursiveLDiversity(c=2, ell=3),
            [9, 4, 3],
            "recursive (2, 3)-diversity is not possible for this table: 'v0' has 9 of 16 records of column 'disease', "
            "at most 6 are allowed; the smallest c that is possible with l = 3 is 3",
        ),
        (
            p.RecursiveLDiversity(c=2, ell=3),
            [9, 4, 0],
            "recursive (2, 3)-diversity is not possible for this table: there are only 2 different values of column "
            "'disease', but at least 3 are needed; with this l, no c is possible: ask for an l of at most 2",
        ),
        (
            p.RecursiveLDiversity(c=2, ell=2),
            [9, 0, 0],
            "recursive (2, 2)-diversity is not possible for this table: there is only 1 different value of column "
            f"'disease', but at least 2 are needed; {SAME}",
        ),
        (
            p.AlphaKAnonymity(alpha=0.3, k=2),
            [5, 3, 2],
            "(0.3, 2)-anonymity is not possible for this table: 'v0' has 5 of 10 records of column 'disease', at most "
            "3 are allowed; the smallest alpha that is possible is 0.5",
        ),
        (
            p.AlphaKAnonymity(alpha=0.3, k=2),
            [5, 0, 0],
            "(0.3, 2)-anonymity is not possible for this table: 'v0' has 5 of 5 records of column 'disease', at most 1 "
            f"is allowed; {SAME}",
        ),
        (
            p.AlphaKAnonymity(alpha=0.3, k=7),
            [5, 0, 0],
            "(0.3, 7)-anonymity is not possible for this table: it has 5 records; the largest k that is possible is 5",
        ),
        (
            p.DesignatedLDiversity(ell=4, values=("v1", "v2")),
            [90, 30, 20],
            None,
        ),
        (
            p.DesignatedLDiversity(ell=6, values=("v1", "v2")),
            [90, 30, 20],
            "designated 6-diversity is not possible for this table: 'v1' has 30 of 140 records of column 'disease', at "
            "most 23 are allowed; the largest l that is possible is 4",
        ),
        (
            p.AllOf(principles=(p.KAnonymity(k=3), p.LDiversity(ell=3))),
            [3, 2, 1],
            "3-diversity is not possible for this table: 'v0' has 3 of 6 records of column 'disease', at most 2 are "
            "allowed; the largest l that is possible is 2",
        ),
        (p.TCloseness(t=0), [3, 2, 1], None),
        (p.TCloseness(t=0), [0, 0, 0], "0-closeness is not possible for this table: it has no records"),
        (p.LDiversity(ell=2), [0, 0, 0], "2-diversity is not possible for this table: it has no records"),
    ],
)
def test_the_message_tells_what_is_too_frequent_and_what_would_work(principle, histogram, message):
    whole = counts_of([histogram])
    if message is None:
        principle.check_eligible(whole, column="disease", domain=DISEASES)
        return
    with pytest.raises(Infeasible) as raised:
        principle.check_eligible(whole, column="disease", domain=DISEASES)

    assert str(raised.value) == message


def test_the_witness_is_in_the_attributes():
    principle = p.LDiversity(ell=8)
    with pytest.raises(Infeasible) as raised:
        principle.check_eligible(counts_of([[1, 4, 4]]), column="disease", domain=DISEASES)

    error = raised.value
    assert (error.principle, error.column, error.value, error.count, error.of, error.largest) == (
        principle, "disease", "v1", 4, 9, 2,
    )  # fmt: skip


def test_a_too_frequent_missing_value_is_named_and_a_value_without_a_domain_by_its_code():
    with pytest.raises(Infeasible, match="the missing value has 5 of 6 records"):
        p.LDiversity(ell=2).check_eligible(counts_of([[1, 5]]), domain=domain_of(2, missing=True))
    with pytest.raises(Infeasible, match=r"the value with code 1 has 5 of 6 records, at most"):
        p.LDiversity(ell=2).check_eligible(counts_of([[1, 5]]))


def test_the_largest_feasible_numbers_are_given_without_a_principle():
    whole = counts_of([[130, 400, 370, 0]])

    assert p.LDiversity.largest_feasible(whole) == 2
    assert p.KAnonymity.largest_feasible(whole) == 900
    assert p.DistinctLDiversity.largest_feasible(whole) == 3
    assert p.EntropyLDiversity.largest_feasible(whole) == Fraction("2.73")


def test_designated_values_are_looked_up_in_the_column():
    whole = counts_of([[1, 2, 3]])
    with pytest.raises(DomainError, match="designated values 'x', 'y' do not occur in column 'disease'") as raised:
        p.DesignatedLDiversity(ell=2, values=("v1", "x", "y")).bind(whole, DISEASES)
    assert raised.value.values == ("x", "y")
    with pytest.raises(DomainError, match="designated value None does not occur"):
        p.DesignatedLDiversity(ell=2, values=(None,)).bind(whole, DISEASES)
    with pytest.raises(InputError, match="needs the domain"):
        p.DesignatedLDiversity(ell=2, values=("v1",)).bind(whole)


def test_a_missing_value_can_be_designated():
    bound = p.DesignatedLDiversity(ell=2, values=(None,)).bind(counts_of([[1, 1]]), domain_of(2, missing=True))

    assert bound.holds(counts_of([[9, 1], [1, 2]])).tolist() == [True, False]


def test_a_designated_value_that_nobody_has_leaves_any_ell_feasible():
    principle = p.DesignatedLDiversity(ell=7, values=("v2",))

    assert principle.feasible(counts_of([[1, 1, 0]]), DISEASES) == principle
