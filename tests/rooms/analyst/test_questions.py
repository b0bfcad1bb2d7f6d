"""Questions: any condition falls apart into conjunctions of which a tuple satisfies exactly one, or none."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.analyst.questions.question import (
    EVERYBODY,
    And,
    Condition,
    Measure,
    Not,
    Or,
    Question,
    Test,
    disjoint_terms,
)
from glasshouse.errors import InputError, ParameterError
from glasshouse.supports.value_sets import ValueSet
from tests.tiers import examples

DOMAINS: dict[str, list[Any]] = {"a": [None, 1, 2, 3, 4], "b": ["x", "y", None], "c": [0.5, 1.5, 2.5], "d": [0, 1]}
PEOPLE = [dict(zip(DOMAINS, values, strict=True)) for values in product(*DOMAINS.values())]

sets = {
    "a": st.one_of(
        st.lists(st.sampled_from(DOMAINS["a"]), max_size=4).map(lambda v: ValueSet.of(v, whole=True)),
        st.tuples(st.integers(1, 4), st.integers(1, 4)).map(lambda e: ValueSet.between(*e, whole=True)),
    ),
    "b": st.lists(st.sampled_from(DOMAINS["b"]), max_size=2).map(ValueSet.of),
    "c": st.sampled_from([1.0, 2.0]).flatmap(lambda e: st.sampled_from([ValueSet.above(e), ValueSet.below(e)])),
    "d": st.sampled_from([ValueSet.of([0]), ValueSet.of([1]), ~ValueSet.of([1])]),
}
tests = st.sampled_from(list(sets)).flatmap(lambda column: sets[column].map(lambda values: Test(column, values)))
conditions: st.SearchStrategy[Condition] = st.recursive(
    tests,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda parts: And(tuple(parts))),
        st.lists(inner, max_size=4).map(lambda parts: Or(tuple(parts))),
        inner.map(Not),
    ),
    max_leaves=12,
)


def holds(condition: Condition, person: dict[str, Any]) -> bool:
    if isinstance(condition, Test):
        return person[condition.column] in condition.values
    if isinstance(condition, Not):
        return not holds(condition.part, person)
    found = [holds(part, person) for part in condition.parts]
    return all(found) if isinstance(condition, And) else any(found)


def satisfied(terms: list[dict[str, ValueSet]], person: dict[str, Any]) -> int:
    return sum(all(person[column] in values for column, values in term.items()) for term in terms)


@settings(max_examples=examples(300))
@given(conditions)
def test_people_who_satisfy_the_condition_satisfy_exactly_one_term(condition: Condition) -> None:
    terms = disjoint_terms(condition)

    assert [int(holds(condition, person)) for person in PEOPLE] == [satisfied(terms, person) for person in PEOPLE]
    for term in terms:
        assert not any(values.is_empty or values.is_everything for values in term.values())


@settings(max_examples=examples(200))
@given(conditions, conditions)
def test_no_two_terms_hold_of_anybody_whatever_the_domain(one: Condition, two: Condition) -> None:
    terms = disjoint_terms(Or((one, two)))

    for i, term in enumerate(terms):
        for other in terms[:i]:
            shared = set(term) & set(other)
            assert any((term[column] & other[column]).is_empty for column in shared)


A, B, C, D = (Test(name, ValueSet.of([1])) for name in "abcd")


@pytest.mark.parametrize(
    ("condition", "n_terms"),
    [
        (EVERYBODY, 1),
        (Or(()), 0),
        (A, 1),
        (Not(A), 1),
        (And((A, B, C, D)), 1),
        (Not(Or((A, B, C))), 1),
        (Or((A, B)), 2),
        (Or((And((A, B)), C)), 2),
        (Or((And((A, B)), And((A, C)))), 2),
        (Or((And((A, B)), And((Not(A), B)))), 1),
        (Or(tuple(Test("a", ValueSet.of([i])) for i in range(50))), 1),
        (Or(tuple(And((Test("a", ValueSet.of([i])), B)) for i in range(50))), 1),
        (Or(tuple(And((Test("a", ValueSet.of([i])), Test("b", ValueSet.of([i])))) for i in range(50))), 50),
        (And((A, Not(A))), 0),
        (Or((A, Not(A))), 1),
        (And((Or((A, B)), Or((Not(A), B)))), 1),
        (Or((And((Or((Not(B), C)), Not(C))), And((B, D, A)))), 2),  # three, two of which differ in c alone
        (Or((Not(D), A, And((B, D)), Not(C), Not(B))), 1),  # everybody, which shows only at the end
    ],
)
def test_common_conditions_stay_few_terms(condition: Condition, n_terms: int) -> None:
    assert n_terms == len(disjoint_terms(condition))


@settings(max_examples=examples(300))
@given(conditions, st.sampled_from(["a", "ab", "bcd"]))
def test_terms_differ_in_other_columns_than_the_last_or_agree_in_all_of_them(condition: Condition, last: str) -> None:
    terms = disjoint_terms(condition, last=frozenset(last))

    assert [int(holds(condition, person)) for person in PEOPLE] == [satisfied(terms, person) for person in PEOPLE]
    others = [{column: values for column, values in term.items() if column not in last} for term in terms]
    for i, one in enumerate(others):
        for other in others[i + 1 :]:
            assert one == other or all(satisfied([one, other], person) < 2 for person in PEOPLE)


def test_everybody_is_one_term_without_tests_and_nobody_is_no_term() -> None:
    assert disjoint_terms(EVERYBODY) == [{}]
    assert disjoint_terms(Or((A, Not(A)))) == [{}]
    assert disjoint_terms(Not(EVERYBODY)) == []


def test_not_takes_whom_its_part_does_not_take_missing_values_too() -> None:
    (term,) = disjoint_terms(Not(A))

    assert None in term["a"]
    assert 1 not in term["a"]


def test_a_condition_with_too_many_cases_is_refused() -> None:
    pairs = [Or((Test(f"a{i}", A.values), Test(f"b{i}", A.values))) for i in range(20)]

    assert len(disjoint_terms(And(tuple(pairs[:5])))) == 32
    with pytest.raises(InputError, match="more than 4,096 separate cases"):
        disjoint_terms(And(tuple(pairs)))
    with pytest.raises(InputError, match="more than 31 separate cases"):
        disjoint_terms(And(tuple(pairs[:5])), most=31)
    assert len(disjoint_terms(And(tuple(pairs[:5])), most=32)) == 32
    with pytest.raises(InputError, match="too long to divide"):
        disjoint_terms(And(tuple(pairs[:5])), work=50)


def test_many_columns_need_no_deep_stack() -> None:
    assert len(disjoint_terms(Or(tuple(Test(f"a{i}", A.values) for i in range(800))))) == 800
    assert len(disjoint_terms(And(tuple(Test(f"a{i}", A.values) for i in range(3000))))) == 1


def test_endless_nesting_is_refused_and_some_is_not() -> None:
    def nested(levels: int) -> Condition:
        found: Condition = A
        for _ in range(levels // 2):
            found = Not(And((found, B)))
        return found

    doubled: Condition = A
    for _ in range(60):
        doubled = And((doubled, doubled))

    assert disjoint_terms(nested(98))
    with pytest.raises(InputError, match="nested more than 100 levels"):
        disjoint_terms(nested(120))
    with pytest.raises(InputError, match="too large"):
        disjoint_terms(doubled)


def test_a_measure_has_a_column_exactly_if_it_adds_up() -> None:
    assert Measure("sum", "age", "s").column == "age"
    with pytest.raises(ParameterError, match="column"):
        Measure("count", "age", "n")
    with pytest.raises(ParameterError, match="column"):
        Measure("avg", None, "n")
    with pytest.raises(ParameterError, match="kind"):
        Measure("max", "age", "n")  # type: ignore[arg-type]


def test_grouping_columns_keep_their_names_unless_told() -> None:
    count = (Measure("count", None, "count"),)

    assert Question(count, EVERYBODY, ("a", "b")).headings == ("a", "b")
    assert Question(count, group_by=("a",), headings=("x",)).headings == ("x",)
    with pytest.raises(ParameterError, match="headings"):
        Question(count, group_by=("a",), headings=("x", "y"))
