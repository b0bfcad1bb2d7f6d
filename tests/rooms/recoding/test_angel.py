"""ANGEL: the paper's tables through the product, what it becomes at its limits, and any set of marginals.

The paper prints ``*`` where a box has every value of an attribute, and zip codes as 10k: `meaning` reads both. The
numbers of its batches come out as printed, for here they are not drawn anew.
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse import catalog
from glasshouse.principles.principle import Requirement
from tests.tables import Plain, plain_tables
from tests.tiers import examples
from tests.twins import angel as naive
from tests.twins import principles
from tests.twins.mondrian import strict

ALAN, BOB, CARRIE, DAISY, EDDY, FRANK, GLORIA, HELENA = range(8)
BATCHES = [[ALAN, CARRIE], [BOB, DAISY], [EDDY, GLORIA], [FRANK, HELENA]]
BUCKETS = [[ALAN, BOB], [CARRIE, DAISY], [EDDY, FRANK], [GLORIA, HELENA]]
HALVES = [[ALAN, BOB, CARRIE, DAISY], [EDDY, FRANK, GLORIA, HELENA]]


def groups(members: list[list[int]]) -> gh.Groups:
    labels = np.full(sum(map(len, members)), -1, np.int32)
    for label, group in enumerate(members):
        labels[group] = label
    return gh.Groups(labels, len(members))


def members(divided: gh.Groups) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(divided.labels == g).tolist()) for g in range(divided.n_groups)}


def rows(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*(map(meaning, table[name].to_pylist()) for name in table.column_names), strict=True))


def meaning(cell: Any) -> Any:
    """A cell without what is a matter of writing."""
    if not isinstance(cell, str):
        return str(cell)
    return "{F,M}" if cell == "*" else re.sub(r"000\b", "k", cell.replace(", ", ","))


# The paper's tables


def test_tables_3a_and_3b_come_out_as_printed() -> None:
    tables = gh.Angel(k=2).recode(gh.examples.angel_table1(), groups(BATCHES), buckets=[groups(BUCKETS)])

    assert {"bt": ["Batch-ID", "Disease", "Count"], "gt": ["Age", "Sex", "Batch-ID"]} == {
        name: table.column_names for name, table in tables.items()
    }
    assert rows(gh.examples.angel_table3a()) == rows(tables["bt"])
    assert rows(gh.examples.angel_table3b()) == rows(tables["gt"])


def test_the_buckets_of_table_5b_are_found_from_the_quasi_identifiers_alone() -> None:
    table = gh.examples.angel_table1()

    (buckets,) = gh.Angel(k=2).buckets(table, gh.Mondrian().divide)

    assert {frozenset(bucket) for bucket in BUCKETS} == members(buckets)
    tables = gh.Angel(k=2).recode(
        table, groups(BATCHES), source=gh.Source.seeded(0).child("recoding"), divide=gh.Mondrian().divide
    )
    assert rows(gh.examples.angel_table3b()) == rows(tables["gt"])


def test_with_buckets_equal_to_batches_it_says_what_simple_generalization_says() -> None:
    """Section 3.4: Tables 4a and 4b, and Table 1b."""
    table = gh.examples.angel_table1()
    tables = gh.Angel(k=4).recode(table, groups(HALVES), buckets=[groups(HALVES)])
    boxes = gh.Boxes().recode(table, groups(HALVES))["data"]

    assert rows(gh.examples.angel_table4a()) == rows(tables["bt"])
    assert rows(gh.examples.angel_table4b()) == rows(tables["gt"])
    assert rows(gh.examples.angel_table1b()) == rows(boxes)
    assert synthesized(tables) == {
        (row["Age"], row["Sex"]): {"pneumonia": Fraction(1, 2), "bronchitis": Fraction(1, 2)}
        for row in boxes.to_pylist()
    }


def test_with_k_1_it_says_what_anatomy_says() -> None:
    """Section 3.5: Tables 6a and 6b; cells are texts, and the number is called otherwise."""
    table = gh.examples.angel_table1()
    tables = gh.Angel(k=1).recode(
        table, groups(HALVES), source=gh.Source.seeded(0).child("recoding"), divide=gh.Mondrian().divide
    )

    assert rows(gh.examples.angel_table6a()) == rows(tables["gt"])
    assert rows(gh.examples.angel_table6b()) == rows(tables["bt"])
    anatomy = gh.Anatomy().recode(table, groups(HALVES))
    assert rows(anatomy["qit"]) == rows(tables["gt"])
    assert rows(anatomy["st"]) == rows(tables["bt"])


def test_two_marginals_share_one_batch_table_as_in_tables_7a_to_7c() -> None:
    """Batches and buckets are the paper's: `Mondrian` halves the six people and stops."""
    batches = [[ALAN, BOB], [CARRIE, DAISY], [EDDY, FRANK]]
    by_zipcode = [[ALAN, CARRIE], [BOB, DAISY], [EDDY, FRANK]]
    angel = gh.Angel(k=2, marginals=(("Age", "Sex", "Zipcode", "Disease"), ("Zipcode", "Disease")))
    table = gh.examples.angel_table2()

    tables = angel.recode(table, groups(batches), buckets=[groups(batches), groups(by_zipcode)])

    assert ["bt", "gt", "gt_2"] == list(tables)
    for name, printed in zip(tables, ("angel_table7a", "angel_table7b", "angel_table7c"), strict=True):
        assert rows(getattr(gh.examples, printed)()) == rows(tables[name])


# Equation 2


def synthesized(tables: Any, gt: str = "gt") -> dict[tuple[Any, ...], dict[Any, Fraction]]:
    """The distribution of every bucket, from the published tables alone."""
    bt = [tuple(row.values()) for row in tables["bt"].to_pylist()]
    sizes: Counter[int] = Counter()
    for number, _, count in bt:
        sizes[number] += count
    found: dict[tuple[Any, ...], dict[Any, Fraction]] = {}
    cells = [tuple(row.values()) for row in tables[gt].to_pylist()]
    for bucket in {row[:-1] for row in cells}:
        ids = [row[-1] for row in cells if row[:-1] == bucket]
        mixed: dict[Any, Fraction] = {}
        for i in ids:
            for number, value, count in bt:
                if number == i:
                    mixed[value] = mixed.get(value, Fraction(0)) + Fraction(count, sizes[i] * len(ids))
        found[bucket] = mixed
    return found


def test_example_2_alan_has_either_disease_with_one_half() -> None:
    tables = gh.Angel(k=2).recode(gh.examples.angel_table1(), groups(BATCHES), buckets=[groups(BUCKETS)])

    assert synthesized(tables)["[21, 23]", "M"] == {"pneumonia": Fraction(1, 2), "bronchitis": Fraction(1, 2)}


@settings(max_examples=examples(160), deadline=None)
@given(
    plain=plain_tables(most=16, least=4),
    ell=st.integers(2, 3),
    k=st.integers(1, 4),
    seed=st.integers(0, 3),
    method=st.sampled_from([gh.Hybrid(), gh.Mondrian(), gh.Anatomize()]),
)
def test_batches_and_every_synthesized_bucket_are_diverse_and_every_bucket_has_k(
    plain: Plain, ell: int, k: int, seed: int, method: Any
) -> None:
    if max(Counter(plain.sensitive).values()) * ell > len(plain.sensitive):
        return
    names = tuple(plain.quasi)
    angel = gh.Angel(k=k, marginals=tuple(dict.fromkeys([(*names, "sensitive"), (names[-1], "sensitive")])))
    release = gh.publish(
        plain.microdata(),
        principle=gh.LDiversity(ell=ell),
        method=method,
        recoding=angel,
        source=gh.Source.seeded(seed),
    )

    counts: dict[int, list[int]] = {}
    for row in release.tables["bt"].to_pylist():
        counts.setdefault(row["Batch-ID"], []).append(row["Count"])
    assert all(principles.l_diversity(histogram, ell) for histogram in counts.values())
    for name, gt in release.tables.items():
        if name != "bt":
            assert max(max(dist.values()) for dist in synthesized(release.tables, name).values()) <= Fraction(1, ell)
            shown = Counter(tuple(row[q] for q in names if q in row) for row in gt.to_pylist())
            assert min(shown.values()) >= k


# Buckets


@settings(max_examples=examples(200), deadline=None)
@given(plain=plain_tables(least=4), data=st.data(), k=st.integers(1, 4))
def test_tables_are_those_of_the_slow_twin_with_the_buckets_of_slow_mondrian(
    plain: Plain, data: st.DataObject, k: int
) -> None:
    n, names = len(plain.sensitive), list(plain.quasi)
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    numbers = {label: number for number, label in enumerate(sorted(set(labels)), 1)}
    batches = [[row for row in range(n) if labels[row] == label] for label in numbers]
    chosen = sorted(data.draw(st.sets(st.sampled_from(range(len(names))), min_size=1)))
    angel = gh.Angel(k=k, marginals=((*(names[i] for i in chosen), "sensitive"), tuple(names[i] for i in chosen)))

    tables = angel.recode(
        plain.microdata(), groups(batches), source=gh.Source.seeded(0).child("recoding"), divide=gh.Mondrian().divide
    )

    orders = [sorted(set(plain.quasi[name])) for name in names]
    codes = [
        tuple(order.index(value) for order, value in zip(orders, row, strict=True))
        for row in zip(*plain.quasi.values(), strict=True)
    ]
    places = [
        [Fraction(str(v)) if not isinstance(v, str) else Fraction(i) for i, v in enumerate(orders[a])] for a in chosen
    ]
    projected = [(tuple(row[a] for a in chosen), 0) for row in codes]
    buckets = [sorted(bucket) for bucket in strict(projected, places, lambda group: len(group) >= k)]
    tuples = list(zip(codes, plain.sensitive, strict=True))
    assert naive.batch_table(tuples, batches) == [tuple(row.values()) for row in tables["bt"].to_pylist()]
    expected = Counter(
        (*(_cell([plain.quasi[names[a]][t] for t in bucket]) for a in chosen), numbers[labels[row]])
        for bucket in buckets
        for row in bucket
    )
    assert expected == Counter(tuple(row.values()) for row in tables["gt"].to_pylist())
    without = Counter(row[:-1] for row in expected.elements())
    assert without == Counter(tuple(row.values()) for row in tables["gt_2"].to_pylist())


def _cell(values: list[Any]) -> str:
    distinct = sorted(set(values))
    if len(distinct) == 1:
        return str(distinct[0])
    if isinstance(distinct[0], str):
        return "{" + ", ".join(distinct) + "}"
    return f"[{distinct[0]}, {distinct[-1]}]"


@settings(max_examples=examples(120), deadline=None)
@given(plain=plain_tables(least=4), data=st.data())
def test_no_sensitive_value_and_no_batch_moves_a_bucket(plain: Plain, data: st.DataObject) -> None:
    n = len(plain.sensitive)
    other = Plain(plain.quasi, data.draw(st.lists(st.sampled_from("xyz"), min_size=n, max_size=n)))
    angel = gh.Angel(k=2, marginals=((*plain.quasi, "sensitive"), ("q0",)))
    batches = [data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)) for _ in range(2)]

    def cells(table: Plain, labels: list[int]) -> Any:
        tables = angel.recode(
            table.microdata(),
            gh.Groups(np.array(labels, np.int32), 2),
            source=gh.Source.seeded(0).child("recoding"),
            divide=gh.Mondrian().divide,
        )
        return tables["gt"].drop_columns(["Batch-ID"]).to_pylist(), tables["gt_2"].to_pylist()

    assert cells(plain, batches[0]) == cells(other, batches[1])


def test_too_few_people_for_a_bucket_are_refused_with_the_largest_k() -> None:
    table = gh.examples.angel_table1()

    with pytest.raises(gh.Infeasible, match="the largest k that is possible is 8"):
        gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Angel(k=9))


# Marginals


def patients() -> gh.Microdata:
    return gh.synthetic.hospital(120, seed=1)


def test_any_set_of_marginals_is_published_over_one_batch_table() -> None:
    lists = [["disease", "age"], ["zipcode", "sex"], ["sex"], ["zipcode", "disease", "age", "sex"]]
    table = patients()
    release = gh.publish(table, principle=gh.LDiversity(ell=3), recoding=gh.Angel(marginals=lists))

    assert ["bt", "gt", "gt_2", "gt_3", "gt_4"] == list(release.tables)
    quasi = [column.name for column in table.quasi]
    assert [["age", "Batch-ID"], [q for q in quasi if q in ("sex", "zipcode")], ["sex"]] == [
        release.tables[name].column_names for name in ("gt", "gt_2", "gt_3")
    ]
    assert [*(q for q in quasi if q in lists[3]), "Batch-ID"] == release.tables["gt_4"].column_names
    assert all(gt.num_rows == table.n_tuples for name, gt in release.tables.items() if name != "bt")
    assert any(
        "each generalized table by itself, but not several together" in limit for limit in release.guarantee.limits
    )


def test_a_marginal_without_the_sensitive_attribute_shows_no_batch_and_k_people_in_every_cell() -> None:
    release = gh.publish(patients(), principle=gh.LDiversity(ell=3), recoding=gh.Angel(k=5, marginals=[["age", "sex"]]))

    assert ["age", "sex"] == sorted(release.tables["gt"].column_names)
    assert gh.verify(release.tables["gt"], quasi=["age", "sex"]).k >= 5


def test_of_several_sensitive_columns_each_has_a_batch_table() -> None:
    columns = {"age": [1, 2, 3, 4], "sex": list("FMFM"), "a": list("xyxy"), "b": list("uvvu")}
    table = gh.read(columns, quasi=["age", "sex"], sensitive=["a", "b"])
    angel = gh.Angel(k=2, marginals=[["age", "b"], ["sex"]])

    tables = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=angel).tables

    assert {
        "bt_1": ["Batch-ID", "a", "Count"],
        "bt_2": ["Batch-ID", "b", "Count"],
        "gt": ["age", "Batch-ID"],
        "gt_2": ["sex"],
    } == {name: data.column_names for name, data in tables.items()}


@pytest.mark.parametrize(
    ("marginals", "error", "says"),
    [
        ([["age", "diseas"]], gh.SchemaError, "did you mean 'disease'"),
        ([["disease"]], gh.SchemaError, "no more than the batch table"),
        ([["age"], []], gh.ParameterError, "none empty"),
        ([["age", "age"]], gh.ParameterError, "different attributes"),
        ([["age", "sex"], ["sex", "age"]], gh.ParameterError, "different lists"),
        (["age"], gh.ParameterError, "a list of lists"),
        ("age", gh.ParameterError, "a list of lists"),
    ],
)
def test_marginals_that_make_no_sense_are_refused(marginals: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        gh.publish(patients(), principle=gh.LDiversity(ell=3), recoding=gh.Angel(marginals=marginals))


# Parameters


@pytest.mark.parametrize(
    ("principle", "k"),
    [
        (gh.LDiversity(ell=3), 3),
        (gh.KAnonymity(k=4), 4),
        (gh.AlphaKAnonymity(alpha="0.5", k=3), 3),
        (gh.AllOf(principles=(gh.KAnonymity(k=4), gh.TCloseness(t="0.5"))), 4),
    ],
    ids=repr,
)
def test_k_is_taken_from_the_principle_and_written_down(principle: Any, k: int) -> None:
    release = gh.publish(patients(), principle=principle, recoding=gh.Angel())

    assert release.recipe.recoding["k"] == k
    assert catalog.recoding_of(release.recipe) == gh.Angel(k=k)
    assert f"only by k-anonymity with k = {k}" in release.guarantee.limits[-1]


def test_a_principle_without_l_and_k_needs_a_k() -> None:
    with pytest.raises(gh.ParameterError, match="k must be a whole number, because the principle has no l or k"):
        gh.publish(patients(), principle=gh.TCloseness(t="0.5"), recoding=gh.Angel())

    assert gh.publish(patients(), principle=gh.TCloseness(t="0.5"), recoding=gh.Angel(k=3)).tables["gt"].num_rows == 120


@pytest.mark.parametrize("k", [0, -1, 2.0, "2", True])
def test_a_k_that_is_no_number_of_people_is_refused(k: Any) -> None:
    with pytest.raises(gh.ParameterError, match="k must be an integer >= 1"):
        gh.Angel(k=k)


def test_cells_that_nobody_knows_are_refused() -> None:
    with pytest.raises(gh.ParameterError, match="'boxes' or 'taxonomies'"):
        gh.Angel(k=2, cells="circles")


def test_smaller_buckets_than_the_k_that_is_promised_are_refused() -> None:
    table = patients()
    with pytest.raises(gh.NotSupported, match="give the recoding 'angel' a k of at least 5"):
        gh.Angel(k=4).check(table, Requirement.of(gh.KAnonymity(k=5), table))


def test_a_principle_that_is_not_monotonic_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = patients()
    monkeypatch.setattr(Requirement, "monotone", property(lambda self: False))

    with pytest.raises(gh.NotSupported, match="not monotonic"):
        gh.Angel(k=4).check(table, Requirement.of(gh.LDiversity(ell=2), table))


def test_the_default_for_l_diversity_of_one_column_is_angel_over_sift_and_says_so() -> None:
    release = gh.publish(patients(), principle=gh.LDiversity(ell=3))

    assert ("sift", {"name": "angel", "k": 3, "marginals": [], "cells": "boxes"}) == (
        release.recipe.method["name"],
        release.recipe.recoding,
    )
    assert release.guarantee.adversary == "algorithm-aware"
    assert "ANGEL Theorem 1" in release.guarantee.theorem


def test_with_k_1_nothing_hides_who_is_there_and_the_release_says_so() -> None:
    release = gh.publish(patients(), principle=gh.LDiversity(ell=3), recoding=gh.Angel(k=1))

    assert any("anybody can see who is in the table" in limit for limit in release.guarantee.limits)


def test_cells_may_be_labels_of_taxonomies() -> None:
    tree = gh.Taxonomy.from_nested({"any": {"north": ["Oslo", "Oulu"], "south": ["Rome", "Faro"]}})
    columns = {"city": ["Oslo", "Oulu", "Rome", "Faro"], "s": ["a", "b", "b", "a"]}
    table = gh.read(columns, quasi=["city"], sensitive="s", taxonomies={"city": tree})

    tables = gh.Angel(k=2, cells="taxonomies").recode(
        table, groups([[0, 2], [1, 3]]), source=gh.Source.seeded(0).child("recoding"), divide=gh.Mondrian().divide
    )

    assert [{"city": "north", "Batch-ID": 1}, {"city": "north", "Batch-ID": 2}] == tables["gt"].slice(0, 2).to_pylist()
    assert Counter(tables["gt"]["city"].to_pylist()) == {"north": 2, "south": 2}
