"""Permutation: the two sides of a group, each in an order of its own, drawn at random (MINIMALITY 2.1)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.recoding.anatomy import Side
from tests.tables import Plain, plain_tables
from tests.tiers import examples
from tests.twins import enumerating

AGES, ILLS = [30, 41, 52], ["flu", "gout", "ulcer"]
ONE_GROUP = gh.Groups(np.zeros(3, np.int32), 1)
Order = tuple[tuple[int, str], ...]


def three(order: Any = (0, 1, 2)) -> gh.Microdata:
    columns = {"age": [AGES[i] for i in order], "ill": [ILLS[i] for i in order]}
    return gh.read(columns, quasi=["age"], sensitive="ill")


def shown(table: gh.Microdata, source: Any) -> Order:
    data = gh.Permutation().recode(table, ONE_GROUP, source=source)["data"]
    return tuple(zip(data["age"].to_pylist(), data["ill"].to_pylist(), strict=True))


EVERY = [tuple(zip(a, b, strict=True)) for a, b in product(permutations(AGES), permutations(ILLS))]


def unevenness(seen: Counter[Order]) -> Fraction:
    """Chi-square against all 36 pairs of orders equally often."""
    each = Fraction(seen.total(), len(EVERY))
    return sum(((seen[order] - each) ** 2 / each for order in EVERY), Fraction(0))


THIRTY_FIVE_DEGREES = 86  # evenly drawn orders exceed it once in a hundred thousand


def seen_over_seeds() -> Counter[Order]:
    table = three()
    return Counter(shown(table, gh.Source.seeded(seed)) for seed in range(1080))


def test_every_pair_of_orders_is_exactly_equally_likely() -> None:
    assert enumerating.distribution(lambda draws: shown(three(), draws)) == dict.fromkeys(EVERY, Fraction(1, 36))


def test_over_many_seeds_every_pair_of_orders_is_about_equally_frequent() -> None:
    assert unevenness(seen_over_seeds()) < THIRTY_FIVE_DEGREES


@pytest.mark.parametrize("sorted_side", ["both", "people", "values"])
def test_a_side_that_is_left_sorted_would_be_noticed(sorted_side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Side.shuffle

    def lazy(side: Side, streams: Any) -> None:
        whose = "people" if "age" in side.published() else "values"
        if sorted_side not in ("both", whose):
            real(side, streams)

    monkeypatch.setattr(Side, "shuffle", lazy)

    assert unevenness(seen_over_seeds()) > 10 * THIRTY_FIVE_DEGREES


def test_two_sides_shuffled_by_the_same_draws_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Side.shuffle

    def repeated(side: Side, streams: Any) -> None:
        real(side, [(draws.child("again"), start, stop) for draws, start, stop in streams])

    monkeypatch.setattr(Side, "shuffle", repeated)

    assert unevenness(seen_over_seeds()) > 10 * THIRTY_FIVE_DEGREES


def test_every_group_has_an_order_of_its_own() -> None:
    table = gh.read({"age": [1, 2, 3, 4], "ill": list("abcd")}, quasi=["age"], sensitive="ill")
    groups = gh.Groups(np.array([0, 0, 1, 1], np.int32), 2)

    def orders(draws: Any) -> Any:
        data = gh.Permutation().recode(table, groups, source=draws)["data"]
        assert data["Group-ID"].to_pylist() == [1, 1, 2, 2]
        return tuple(data["age"].to_pylist()), tuple(data["ill"].to_pylist())

    found = enumerating.distribution(orders)

    assert set(found.values()) == {Fraction(1, 16)}
    assert len(found) == 16


def test_of_several_sensitive_columns_each_is_permuted_by_itself() -> None:
    table = gh.read({"age": [1, 2], "a": ["x", "y"], "b": ["u", "v"]}, quasi=["age"], sensitive=["a", "b"])

    def orders(draws: Any) -> Any:
        data = gh.Permutation().recode(table, gh.Groups(np.zeros(2, np.int32), 1), source=draws)["data"]
        assert data.column_names == ["age", "Group-ID", "a", "b"]
        return tuple(tuple(data[name].to_pylist()) for name in ("age", "a", "b"))

    found = enumerating.distribution(orders)

    assert set(found.values()) == {Fraction(1, 8)}
    assert len(found) == 8


def test_with_the_same_seed_the_order_of_the_input_changes_nothing() -> None:
    for seed in range(20):
        assert 1 == len({shown(three(order), gh.Source.seeded(seed)) for order in permutations(range(3))})


def test_with_the_same_seed_who_has_which_value_changes_nothing() -> None:
    for seed in range(20):
        tables = [
            gh.read({"age": AGES, "ill": list(values)}, quasi=["age"], sensitive="ill") for values in permutations(ILLS)
        ]
        assert 1 == len({shown(table, gh.Source.seeded(seed)) for table in tables})


def test_without_a_source_the_order_is_drawn_from_the_secure_one() -> None:
    table = gh.read({"age": list(range(12)), "ill": list("abcdefghijkl")}, quasi=["age"], sensitive="ill")
    groups = gh.Groups(np.zeros(12, np.int32), 1)

    found = {tuple(gh.Permutation().recode(table, groups)["data"]["age"].to_pylist()) for _ in range(3)}

    assert len(found) == 3  # the same order twice: once in 10^8


@settings(max_examples=examples(160), deadline=None)
@given(plain=plain_tables(), data=st.data(), seed=st.integers(0, 3))
def test_it_says_what_anatomy_says(plain: Plain, data: st.DataObject, seed: int) -> None:
    n = len(plain.sensitive)
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    groups = gh.Groups(np.array(labels, np.int32), 3)
    table = plain.microdata()

    rows = gh.Permutation().recode(table, groups, source=gh.Source.seeded(seed))["data"].to_pylist()
    tables = gh.Anatomy().recode(table, groups)

    people = Counter((*(row[name] for name in plain.quasi), row["Group-ID"]) for row in rows)
    counts = Counter((row["Group-ID"], row["sensitive"]) for row in rows)
    assert people == Counter(tuple(row.values()) for row in tables["qit"].to_pylist())
    assert counts == {(row["Group-ID"], row["sensitive"]): row["Count"] for row in tables["st"].to_pylist()}
