"""What must hold of a table with several sensitive columns, or none."""

from __future__ import annotations

import numpy as np
import pytest

import glasshouse as p
from glasshouse.errors import DomainError, Infeasible, InputError, SchemaError
from glasshouse.microdata import Counts, Groups, read
from glasshouse.principles.principle import Requirement

ROWS = {
    "age": [20, 30, 40, 50, 60, 70],
    "disease": ["flu", "flu", "ulcer", "ulcer", "HIV", "flu"],
    "job": ["clerk", "cook", "clerk", "cook", "clerk", "cook"],
}


def table(*sensitive):
    return read(ROWS, quasi=["age"], sensitive=list(sensitive))


def counts(requirement, labels):
    groups = Groups(np.array(labels, np.int32), max(labels) + 1)
    return [groups.counts(column) for column in requirement.columns]


def test_one_principle_applies_to_every_sensitive_column():
    requirement = Requirement.of(p.LDiversity(ell=2), table("disease", "job"))

    assert [column.name for column in requirement.columns] == ["disease", "job"]
    assert requirement.holds(counts(requirement, [0, 0, 0, 0, 1, 1])).tolist() == [True, True]
    assert requirement.holds(counts(requirement, [0, 0, 1, 1, 2, 2])).tolist() == [False, False, True]
    assert requirement.holds(counts(requirement, [0, 1, 0, 1, 1, 1])).tolist() == [False, False]
    assert requirement.monotone


def test_each_column_may_have_a_principle_of_its_own_in_the_columns_order():
    principles = {"job": p.DistinctLDiversity(ell=2), "disease": p.LDiversity(ell=2)}
    requirement = Requirement.of(principles, table("disease", "job"))

    assert [(part.column.name, part.principle) for part in requirement.parts] == [
        ("disease", p.LDiversity(ell=2)),
        ("job", p.DistinctLDiversity(ell=2)),
    ]
    assert requirement.describe() == (
        "in every group, no value of disease occurs in more than 1 of 2 records; "
        "in every group, at least 2 different values of job occur"
    )


def test_k_anonymity_needs_no_sensitive_column_and_counts_none():
    for sensitive in ([], ["disease"]):
        requirement = Requirement.of(p.KAnonymity(k=2), table(*sensitive))

        assert requirement.columns == ()
        assert requirement.holds([Counts.of([[0, 0], [0]], n_values=1)]).tolist() == [True, False]
        assert requirement.describe() == "every group has at least 2 records"
        requirement.check_eligible()


def test_principles_are_bound_to_the_table():
    requirement = Requirement.of(
        p.AllOf(principles=(p.TCloseness(t="0.2"), p.DesignatedLDiversity(ell=2, values=("HIV",)))), table("disease")
    )

    assert requirement.holds(counts(requirement, [0, 1, 0, 1, 0, 1])).tolist() == [True, True]
    assert requirement.holds(counts(requirement, [0, 0, 1, 1, 1, 0])).tolist() == [False, False]


def test_a_table_that_does_not_obey_is_refused_with_the_column():
    requirement = Requirement.of({"disease": p.LDiversity(ell=3), "job": p.LDiversity(ell=2)}, table("disease", "job"))

    column, bound = requirement.first_ineligible()
    assert column.name == "disease"
    assert not bound.holds(requirement.parts[0].whole)[0]
    with pytest.raises(Infeasible, match="'flu' has 3 of 6 records of column 'disease', at most 2 are allowed"):
        requirement.check_eligible()


def test_a_table_that_obeys_has_no_ineligible_column():
    assert Requirement.of(p.LDiversity(ell=2), table("disease", "job")).first_ineligible() is None


def test_too_few_tuples_for_k_are_refused():
    with pytest.raises(Infeasible, match="it has 6 records; the largest k that is possible is 6"):
        Requirement.of(p.KAnonymity(k=7), table()).check_eligible()


def test_a_principle_about_sensitive_values_needs_a_sensitive_column():
    with pytest.raises(InputError, match="2-diversity protects sensitive values: name a sensitive column"):
        Requirement.of(p.LDiversity(ell=2), table())
    with pytest.raises(InputError, match="the table has no sensitive column"):
        Requirement.of({"disease": p.LDiversity(ell=2)}, table())


def test_an_unknown_column_is_named_with_its_likely_meaning():
    with pytest.raises(SchemaError, match="did you mean 'disease'"):
        Requirement.of({"diseese": p.LDiversity(ell=2)}, table("disease"))


def test_a_sensitive_column_without_a_principle_is_refused():
    with pytest.raises(SchemaError, match="'job' has no principle and would not be protected"):
        Requirement.of({"disease": p.LDiversity(ell=2)}, table("disease", "job"))


@pytest.mark.parametrize("wrong", [8, "l-diversity", p.LDiversity, {"disease": 8}])
def test_what_is_no_principle_is_refused(wrong):
    with pytest.raises(InputError, match="a principle is needed"):
        Requirement.of(wrong, table("disease"))


def test_a_designated_value_that_the_column_lacks_is_refused_on_the_way_in():
    with pytest.raises(DomainError, match="'plague' does not occur in column 'disease'"):
        Requirement.of(p.DesignatedLDiversity(ell=2, values=("plague",)), table("disease"))


def test_counts_must_come_for_every_column():
    requirement = Requirement.of(p.LDiversity(ell=2), table("disease", "job"))
    with pytest.raises(ValueError, match="zip"):
        requirement.holds(counts(requirement, [0] * 6)[:1])
