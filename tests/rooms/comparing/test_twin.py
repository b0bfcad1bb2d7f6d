# SPDX-License-Identifier: Apache-2.0
"""The twin: the same people, as many of each value, and nothing of who has which."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.comparing import twin_of
from glasshouse.microdata.domains import Column


def with_values(table: gh.Microdata, codes: np.ndarray) -> gh.Microdata:
    return replace(table, sensitive=(Column(table.sensitive[0].domain, codes),))


def information(table: gh.Microdata, name: str) -> float:
    """How much a quasi-identifier says about the sensitive value, in nats."""
    one, other = table.column(name), table.sensitive[0]
    joint = np.zeros((one.domain.size, other.domain.size))
    np.add.at(joint, (one.codes, other.codes), 1 / table.n_tuples)
    apart = np.outer(joint.sum(1), joint.sum(0))
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / apart[some])).sum())


@pytest.fixture(scope="module")
def table() -> gh.Microdata:
    return gh.synthetic.census(3000, seed=1)


def test_a_twin_has_the_same_quasi_identifiers_and_as_many_of_each_sensitive_value(table: gh.Microdata) -> None:
    twin = twin_of(table, gh.Source.seeded(1))

    assert twin.quasi is table.quasi
    assert twin.identifier is table.identifier
    for own, other in zip(twin.sensitive, table.sensitive, strict=True):
        size = other.domain.size
        assert np.array_equal(np.bincount(own.codes, minlength=size), np.bincount(other.codes, minlength=size))


def test_a_twin_does_not_depend_on_who_has_which_value(table: gh.Microdata) -> None:
    codes = table.sensitive[0].codes
    dealt_otherwise = with_values(table, codes[gh.Source.seeded(3).permutation(len(codes))])
    one, other = (twin_of(which, gh.Source.seeded(1)) for which in (table, dealt_otherwise))

    assert np.array_equal(one.sensitive[0].codes, other.sensitive[0].codes)


@pytest.mark.parametrize("named", [False, True])
def test_a_twin_does_not_depend_on_the_order_of_the_rows(named: bool) -> None:
    columns = gh.synthetic.hospital_table(400, seed=1)
    orders = (np.arange(400), np.random.default_rng(1).permutation(400))
    given = {"quasi": ["age", "sex"], "sensitive": "disease", "identifier": "patient" if named else None}
    tables = [gh.read(columns.take(rows), **given) for rows in orders]
    pairs = []
    for table in tables:
        twin = twin_of(table, gh.Source.seeded(1))
        names = twin.identifier.to_pylist() if named else [""] * 400
        codes = [column.codes.tolist() for column in (*twin.quasi, *twin.sensitive)]
        pairs.append(sorted(zip(names, *codes, strict=True)))

    assert pairs[0] == pairs[1]


def test_the_values_of_a_twin_go_together_with_every_quasi_identifier_and_shuffled_ones_do_not() -> None:
    table = gh.synthetic.census(20_000, seed=1)
    twin, shuffled = (twin_of(table, gh.Source.seeded(1), strength=strength) for strength in (1.5, 0.0))
    for column in table.quasi:
        assert information(twin, column.name) > 1.5 * information(shuffled, column.name)


def test_another_seed_gives_another_twin(table: gh.Microdata) -> None:
    one, other = (twin_of(table, gh.Source.seeded(seed)).sensitive[0].codes for seed in (1, 2))

    assert (one != other).mean() > 0.5


def test_several_sensitive_columns_and_missing_values_each_keep_their_counts() -> None:
    data = {"age": [30, 31, 32, 33] * 5, "a": ["x", "y", None, "x"] * 5, "b": ["p", "q", "p", None] * 5}
    table = gh.read(data, quasi=["age"], sensitive=["a", "b"], missing="category")
    twin = twin_of(table, gh.Source.seeded(1))
    for own, other in zip(twin.sensitive, table.sensitive, strict=True):
        assert sorted(own.codes) == sorted(other.codes)
        assert not np.array_equal(own.codes, other.codes)


def test_no_column_of_a_twin_depends_on_who_has_which_value_in_any_column() -> None:
    table = gh.synthetic.census(400, seed=1)
    several = replace(table, quasi=table.quasi[:2], sensitive=(*table.sensitive, *table.quasi[2:4]))
    shuffles = [gh.Source.seeded(seed).permutation(400) for seed in range(len(several.sensitive))]
    dealt = [Column(c.domain, c.codes[order]) for c, order in zip(several.sensitive, shuffles, strict=True)]
    one, other = (twin_of(which, gh.Source.seeded(1)) for which in (several, replace(several, sensitive=tuple(dealt))))

    assert len(one.sensitive) >= 3
    for mine, theirs, true in zip(one.sensitive, other.sensitive, several.sensitive, strict=True):
        assert np.array_equal(mine.codes, theirs.codes)
        assert not np.array_equal(mine.codes, true.codes)
