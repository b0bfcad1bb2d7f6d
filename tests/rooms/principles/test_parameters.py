"""Principles are values: checked when made, exact, printed as the code that makes them, plain data and back."""

from __future__ import annotations

import json
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as p
from glasshouse import catalog
from glasshouse.errors import InputError, ParameterError
from glasshouse.principles.parameters import plain
from tests.rooms.principles.cases import KINDS, slow

SOME = [
    p.KAnonymity(k=5),
    p.LDiversity(ell=8),
    p.DistinctLDiversity(ell=3),
    p.EntropyLDiversity(ell=4),
    p.EntropyLDiversity(ell="2.5"),
    p.RecursiveLDiversity(c="1/3", ell=3),
    p.DesignatedLDiversity(ell=4, values=("HIV", 7, True)),
    p.AlphaKAnonymity(alpha=0.3, k=5),
    p.TCloseness(t=0.2),
    p.TCloseness(t=0, distance="ordered"),
    p.AllOf(principles=(p.KAnonymity(k=5), p.TCloseness(t="1/7", distance="hierarchical"))),
]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: p.LDiversity(ell=1), "LDiversity: ell must be an integer >= 2, got 1"),
        (lambda: p.LDiversity(ell=True), "LDiversity: ell must be an integer >= 2, got True"),
        (lambda: p.LDiversity(ell=2.0), "LDiversity: ell must be an integer >= 2, got 2.0"),
        (lambda: p.LDiversity(ell="8"), "LDiversity: ell must be an integer >= 2, got '8'"),
        (lambda: p.KAnonymity(k=1), "KAnonymity: k must be an integer >= 2, got 1"),
        (lambda: p.DistinctLDiversity(ell=0), "DistinctLDiversity: ell must be an integer >= 2, got 0"),
        (lambda: p.EntropyLDiversity(ell=1), "EntropyLDiversity: ell must be a number above 1, got 1"),
        (lambda: p.EntropyLDiversity(ell=float("inf")), "EntropyLDiversity: ell must be a number above 1, got inf"),
        (lambda: p.RecursiveLDiversity(c=0, ell=2), "RecursiveLDiversity: c must be a number above 0, got 0"),
        (lambda: p.RecursiveLDiversity(c=1, ell=1), "RecursiveLDiversity: ell must be an integer >= 2, got 1"),
        (lambda: p.RecursiveLDiversity(c=True, ell=2), "RecursiveLDiversity: c must be a number above 0, got True"),
        (lambda: p.RecursiveLDiversity(c="1/0", ell=2), "RecursiveLDiversity: c must be a number above 0, got '1/0'"),
        (lambda: p.AlphaKAnonymity(alpha=1, k=2), "AlphaKAnonymity: alpha must be a number above 0 and below 1, got 1"),
        (
            lambda: p.AlphaKAnonymity(alpha="a", k=2),
            "AlphaKAnonymity: alpha must be a number above 0 and below 1, got 'a'",
        ),
        (lambda: p.AlphaKAnonymity(alpha=0.5, k=0), "AlphaKAnonymity: k must be an integer >= 1, got 0"),
        (lambda: p.AlphaKAnonymity(alpha=0.5, k=True), "AlphaKAnonymity: k must be an integer >= 1, got True"),
        (lambda: p.TCloseness(t=-0.1), "TCloseness: t must be a number >= 0 and below 1, got -0.1"),
        (lambda: p.TCloseness(t=1), "TCloseness: t must be a number >= 0 and below 1, got 1"),
        (lambda: p.TCloseness(t=float("nan")), "TCloseness: t must be a number >= 0 and below 1, got nan"),
        (lambda: p.TCloseness(t=None), "TCloseness: t must be a number >= 0 and below 1, got None"),
        (
            lambda: p.TCloseness(t=0.1, distance="euclid"),
            "TCloseness: distance must be 'equal', 'ordered' or 'hierarchical', got 'euclid'",
        ),
        (
            lambda: p.DesignatedLDiversity(ell=2, values="HIV"),
            "DesignatedLDiversity: values must be a tuple of sensitive values, got 'HIV'",
        ),
        (
            lambda: p.DesignatedLDiversity(ell=2, values=()),
            "DesignatedLDiversity: values must be a tuple of sensitive values, got ()",
        ),
        (lambda: p.AllOf(principles=()), "AllOf: principles must be a tuple of at least one principle, got ()"),
        (
            lambda: p.AllOf(principles=(p.KAnonymity,)),
            "AllOf: principles must be a tuple of at least one principle, got (<class "
            "'glasshouse.principles.k_anonymity.KAnonymity'>,)",
        ),
    ],
)
def test_a_wrong_parameter_is_refused_with_what_was_allowed(make, message):
    with pytest.raises(ParameterError) as raised:
        make()

    assert str(raised.value) == message


@pytest.mark.parametrize("given", [0.2, "0.2", "1/5", Decimal("0.2"), Fraction(1, 5), np.float64(0.2)])
def test_a_number_is_held_exactly_as_it_is_written(given):
    assert p.TCloseness(t=given).t == Fraction(1, 5)


def test_a_whole_number_may_come_from_numpy():
    assert p.LDiversity(ell=np.int64(3)) == p.LDiversity(ell=3)
    assert type(p.LDiversity(ell=np.int64(3)).ell) is int
    assert p.RecursiveLDiversity(c=np.int32(2), ell=3).c == 2


@pytest.mark.parametrize("principle", SOME, ids=repr)
def test_a_principle_prints_as_the_code_that_makes_it(principle):
    assert eval(repr(principle), vars(p)) == principle


def test_printed_numbers_read_well():
    assert repr(p.TCloseness(t=0.2)) == "TCloseness(t='0.2', distance='equal')"
    assert repr(p.RecursiveLDiversity(c=3, ell=4)) == "RecursiveLDiversity(c=3, ell=4)"
    assert repr(p.AlphaKAnonymity(alpha="1/3", k=2)) == "AlphaKAnonymity(alpha='1/3', k=2)"


@pytest.mark.parametrize("principle", SOME, ids=repr)
def test_a_principle_survives_json_and_pickle(principle):
    data = json.loads(json.dumps(principle.to_data()))

    assert data == principle.to_data()
    assert data["name"] == principle.name
    assert catalog.principle_from_data(data) == principle
    assert type(principle).from_data(data) == principle
    assert pickle.loads(pickle.dumps(principle)) == principle
    assert hash(catalog.principle_from_data(data)) == hash(principle)


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
@slow(max_examples=20)
def test_any_principle_survives_its_plain_data_and_its_text(kind, data):
    principle = data.draw(KINDS[kind](3)).principle

    assert catalog.principle_from_data(principle.to_data()) == principle
    assert eval(repr(principle), vars(p)) == principle


@given(st.fractions(min_value=0))
def test_a_plain_number_reads_back_exactly(number):
    assert Fraction(plain(number)) == number


def test_a_designated_date_is_held_as_its_text():
    assert p.DesignatedLDiversity(ell=2, values=[date(2020, 1, 2)]).values == ("2020-01-02",)


@pytest.mark.parametrize("principle", SOME, ids=repr)
def test_a_principle_never_changes(principle):
    for field in fields(principle):
        with pytest.raises(FrozenInstanceError):
            setattr(principle, field.name, 3)
    assert not hasattr(principle, "__dict__")


def test_replacing_a_parameter_checks_it_again():
    assert replace(p.TCloseness(t=0.2), t="1/3") == p.TCloseness(t=Fraction(1, 3))
    with pytest.raises(ParameterError):
        replace(p.TCloseness(t=0.2), t=2)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"name": "l-diversty", "ell": 8}, "there is no principle 'l-diversty': did you mean 'l-diversity'?"),
        ({"ell": 8}, "there is no principle None: there are k-anonymity"),
        ({"name": "l-diversity"}, "l-diversity takes ell: it cannot be made from {'name': 'l-diversity'}"),
        ({"name": "l-diversity", "ell": 2, "k": 3}, "l-diversity takes ell: it cannot be made from"),
        ({"name": "all-of", "principles": 3}, "all-of takes a list of principles: it cannot be made from"),
        ({"name": "recursive-l-diversity", "c": 3}, "recursive-l-diversity takes c and ell"),
    ],
)
def test_wrong_plain_data_is_refused(data, message):
    with pytest.raises(InputError) as raised:
        catalog.principle_from_data(data)

    assert str(raised.value).startswith(message)


def test_the_name_in_plain_data_must_be_the_principles_own():
    with pytest.raises(InputError, match="k-anonymity takes k"):
        p.KAnonymity.from_data({"name": "l-diversity", "k": 2})


def test_distance_may_be_left_out_of_plain_data():
    assert catalog.principle_from_data({"name": "t-closeness", "t": "0.2"}) == p.TCloseness(t=0.2)


@pytest.mark.parametrize("principle", SOME, ids=repr)
def test_a_description_is_one_sentence_that_names_the_column_if_it_speaks_of_it(principle):
    named, unnamed = principle.describe("disease"), principle.describe()

    assert ("disease" in named) == principle.needs_sensitive
    assert "disease" not in unnamed
    assert "  " not in named
    assert not named.endswith(".")


def test_only_k_anonymity_needs_no_sensitive_column():
    assert [principle.name for principle in SOME if not principle.needs_sensitive] == ["k-anonymity"]
    assert not p.AllOf(principles=(p.KAnonymity(k=2),)).needs_sensitive


def test_every_kind_is_listed_by_its_name():
    assert list(catalog.PRINCIPLES) == [
        "k-anonymity",
        "l-diversity",
        "distinct-l-diversity",
        "entropy-l-diversity",
        "recursive-l-diversity",
        "designated-l-diversity",
        "alpha-k-anonymity",
        "t-closeness",
        "all-of",
    ]
