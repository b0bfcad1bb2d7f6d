"""Anatomy: ANATOMY's tables and theorems on what is published, and the rules for two sides that are published apart."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.principles.principle import Requirement
from glasshouse.recoding import anatomy as module
from glasshouse.recoding.anatomy import Side
from tests.tables import Plain, plain_tables
from tests.tiers import examples
from tests.twins import anatomy as naive

HALVES = gh.Groups(np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32), 2)


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


def qit_of(tables: Any) -> naive.Qit:
    """A published QIT, as the twin has it."""
    return [(row[:-1], row[-1]) for row in rows(tables["qit"])]


def st_of(tables: Any) -> naive.St:
    return [(number, value, count) for number, value, count in rows(tables["st"])]


# The paper's tables


def test_tables_3a_and_3b_come_out_as_printed() -> None:
    tables = gh.Anatomy().recode(gh.examples.anatomy_table1(), HALVES)

    assert ["qit", "st"] == list(tables)
    for published, printed in (
        (tables["qit"], gh.examples.anatomy_table3a().drop_columns(["row #"])),
        (tables["st"], gh.examples.anatomy_table3b()),
    ):
        assert printed.column_names == published.column_names
        assert rows(printed) == rows(published)


def test_table_4_is_the_natural_join_of_the_published_tables() -> None:
    tables = gh.Anatomy().recode(gh.examples.anatomy_table1(), HALVES)

    records = naive.natural_join(qit_of(tables), st_of(tables))
    joined = [(*cells, number, value, count) for cells, number, value, count in records]

    assert rows(gh.examples.anatomy_table4()) == [row for row in joined if row[3] == 1]
    assert Counter(row[3] for row in joined) == {1: 8, 2: 12}


def test_query_a_is_answered_exactly() -> None:
    tables = gh.Anatomy().recode(gh.examples.anatomy_table1(), HALVES)
    qit = [((age, zipcode), number) for (age, _, zipcode), number in qit_of(tables)]

    assert naive.query_anatomized(qit, st_of(tables), [(0, 30), (10001, 20000)], "pneumonia") == 1


# Its theorems, on what is published


def tuples_of(plain: Plain) -> list[naive.Tuple]:
    return list(zip(zip(*plain.quasi.values(), strict=True), plain.sensitive, strict=True))


def published(plain: Plain, ell: int, seed: int, method: Any) -> Any:
    source = gh.Source.seeded(seed)
    table = plain.microdata()
    return gh.publish(table, principle=gh.LDiversity(ell=ell), method=method, recoding=gh.Anatomy(), source=source)


def diverse(plain: Plain, ell: int) -> bool:
    return max(Counter(plain.sensitive).values()) * ell <= len(plain.sensitive)


@settings(max_examples=examples(120), deadline=None)
@given(
    plain=plain_tables(most=14, least=4),
    ell=st.integers(2, 3),
    seed=st.integers(0, 3),
    method=st.sampled_from([gh.Anatomize(), gh.Hybrid(), gh.Mondrian()]),
)
def test_no_tuple_and_no_person_is_inferred_with_more_than_one_in_l(
    plain: Plain, ell: int, seed: int, method: Any
) -> None:
    """Corollary 1 and Theorem 1."""
    if not diverse(plain, ell):
        return
    tables = published(plain, ell, seed, method).tables
    qit, counted = qit_of(tables), st_of(tables)

    for row in range(len(qit)):
        assert max(naive.tuple_distribution(qit, counted, row).values()) <= Fraction(1, ell)
    for cells, value in tuples_of(plain):
        assert naive.individual_breach(qit, counted, cells, value) <= Fraction(1, ell)
        assert max(naive.individual_distribution(qit, counted, cells).values()) <= Fraction(1, ell)


@pytest.mark.parametrize(("n", "ell"), [(12, 2), (12, 3), (12, 4), (13, 2), (13, 3), (14, 3), (14, 4), (15, 4), (3, 3)])
def test_the_reconstruction_error_is_that_of_theorem_4(n: int, ell: int) -> None:
    """With n divisible by l, when it is the least there is (Theorem 2), and not."""
    values = [f"s{i % (ell + 1)}" for i in range(n)]
    plain = Plain({"age": [20 + i for i in range(n)], "ward": [f"w{i % 3}" for i in range(n)]}, values)
    for seed in range(4):
        tables = published(plain, ell, seed, gh.Anatomize()).tables
        qit, counted = qit_of(tables), st_of(tables)

        found = Fraction(0)
        for t in tuples_of(plain):  # ages are different: every tuple has a row of its own
            (row,) = [row for row, (cells, _) in enumerate(qit) if cells == t[0]]
            found += naive.error(naive.anatomized_pdf(qit, counted, row), naive.actual_pdf(t))

        assert found == naive.theorem_4(n, ell)
        assert (found == naive.least_error(n, ell)) == (n % ell == 0)


# Any groups


@st.composite
def divided(draw: st.DrawFn) -> tuple[Plain, list[int]]:
    plain = draw(plain_tables())
    raw = draw(st.lists(st.integers(-1, 3), min_size=len(plain.sensitive), max_size=len(plain.sensitive)))
    dense = {label: i for i, label in enumerate(sorted(set(raw) - {-1}))}
    return plain, [dense.get(label, -1) for label in raw]


@settings(max_examples=examples(300), deadline=None)
@given(case=divided())
def test_qit_and_st_are_those_of_the_slow_twin_row_by_row(case: tuple[Plain, list[int]]) -> None:
    plain, labels = case
    n_groups = max(labels, default=-1) + 1
    groups = [[i for i, label in enumerate(labels) if label == g] for g in range(n_groups)]

    tables = gh.Anatomy().recode(plain.microdata(), gh.Groups(np.array(labels, np.int32), n_groups))

    assert naive.qit(tuples_of(plain), groups) == qit_of(tables)
    assert naive.st(tuples_of(plain), groups) == st_of(tables)


@pytest.mark.parametrize("n_wide", [2, 5], ids=["packed", "too wide"])
def test_groups_of_any_size_and_codes_of_any_width_are_sorted_alike(
    n_wide: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long groups, and tuples of more codes than a key of 64 bits can hold."""
    n = 600
    quasi = {f"tied {i}": [(j * j) % (5 + i) for j in range(n)] for i in (0, 1)}  # later columns decide
    quasi |= {f"wide {i}": [(7919 * j + 31 * i) % (70_000 + i) for j in range(n)] for i in range(n_wide)}
    plain = Plain({**quasi, "last": list(range(n, 0, -1))}, [f"s{j % 7}" for j in range(n)])
    labels = [0] * 400 + [1] * 49 + [2] * 48 + [3] * 3 + [4] * 100
    groups = [[i for i, label in enumerate(labels) if label == g] for g in range(5)]
    table, divided = plain.microdata(), gh.Groups(np.array(labels, np.int32), 5)
    assert (sum((column.domain.size - 1).bit_length() for column in table.quasi) > 63) == (n_wide == 5)

    expected = naive.qit(tuples_of(plain), groups)

    assert expected == qit_of(gh.Anatomy().recode(table, divided))
    for options in ({"small": n}, {"bits": 0, "small": n}, {"bits": 0, "small": 0}):
        monkeypatch.setattr(module, "Side", lambda columns, groups, o=options: Side(columns, groups, **o))
        assert expected == qit_of(gh.Anatomy().recode(table, divided))


def test_quasi_identifiers_keep_their_types_and_only_values_that_occur_are_in_dictionaries() -> None:
    columns = {
        "age": [30, 31, 32],
        "height": [1.5, 1.75, 1.5],
        "city": ["Ulm", "Bonn", "gone"],
        "s": ["a", "b", "gone"],
    }
    table = gh.read(columns, quasi=["age", "height", "city"], sensitive="s")
    tables = gh.Anatomy().recode(table, gh.Groups(np.array([0, 0, -1], np.int32), 1))

    assert [(30, 1.5, "Ulm", 1), (31, 1.75, "Bonn", 1)] == rows(tables["qit"])
    assert pa.types.is_integer(tables["qit"].schema.field("age").type)
    assert pa.types.is_floating(tables["qit"].schema.field("height").type)
    for name, column in (("qit", "city"), ("st", "s")):
        assert "gone" not in tables[name][column].chunk(0).dictionary.to_pylist()


def test_several_sensitive_columns_have_a_table_each_and_what_is_promised_of_them_together_is_said() -> None:
    columns = {"age": [1, 2, 3, 4], "a": list("xyxy"), "b": list("uvvu"), "c": list("pqqp")}
    table = gh.read(columns, quasi=["age"], sensitive=["a", "b", "c"])
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy())

    assert ["qit", "st_1", "st_2", "st_3"] == list(release.tables)
    assert [["Group-ID", name, "Count"] for name in "abc"] == [
        release.tables[f"st_{i}"].column_names for i in (1, 2, 3)
    ]
    assert "even by an attacker who also knows everybody's other sensitive columns" in release.guarantee.promise
    assert not any("reveal together" in limit for limit in release.guarantee.limits)
    method = gh.Mirror(leave_out=None)
    apart = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), method=method)
    assert "also knows" not in apart.guarantee.promise
    assert any("reveal together" in limit for limit in apart.guarantee.limits)


# What it does not do


def test_a_table_without_a_sensitive_column_is_refused_with_what_would_work() -> None:
    table = gh.read({"age": [1, 2]}, quasi=["age"])

    with pytest.raises(gh.NotSupported, match="use the recoding 'boxes'"):
        gh.publish(table, principle=gh.KAnonymity(k=2), recoding=gh.Anatomy())


@pytest.mark.parametrize(
    "principle",
    [
        gh.KAnonymity(k=2),
        gh.AlphaKAnonymity(alpha="0.5", k=2),
        gh.AllOf(principles=(gh.LDiversity(ell=2), gh.AllOf(principles=(gh.KAnonymity(k=2),)))),
        {"a": gh.LDiversity(ell=2), "b": gh.AlphaKAnonymity(alpha="0.5", k=2)},
    ],
    ids=repr,
)
@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Permutation()], ids=repr)
def test_k_anonymity_is_refused_wherever_it_is_asked_for(recoding: Any, principle: Any) -> None:
    sensitive = ["a", "b"] if isinstance(principle, dict) else "a"
    table = gh.read({"age": [1, 2], "a": ["x", "y"], "b": ["u", "v"]}, quasi=["age"], sensitive=sensitive)

    with pytest.raises(
        gh.NotSupported, match=r"k-anonymity cannot be guaranteed with .*, which publishes exact quasi-identifiers"
    ):
        recoding.check(table, Requirement.of(principle, table))


def test_the_release_says_that_presence_is_not_hidden_and_why_the_rest_holds() -> None:
    for recoding in (gh.Anatomy(), gh.Permutation()):
        release = gh.publish(gh.examples.anatomy_table1(), principle=gh.LDiversity(ell=2), recoding=recoding)

        assert any("anybody can see who is in the table" in limit for limit in release.guarantee.limits)
        assert release.guarantee.adversary == "algorithm-aware"  # by Hybrid: anatomy takes nothing away
        assert ("ANATOMY Theorem 1" if recoding.name == "anatomy" else "MINIMALITY 2.1") in release.guarantee.theorem
