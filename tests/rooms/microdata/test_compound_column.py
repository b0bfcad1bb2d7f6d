# SPDX-License-Identifier: Apache-2.0
"""Compound columns: values that are read again whatever they hold, and releases that are asked about either part."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.cells.compound import Part, compound_text, part_values
from glasshouse.cells.values import NotAValue
from tests.tiers import tables

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@given(
    _TEXTS | st.none(),
    st.integers(-(2**63), 2**63 - 1) | st.none(),
    st.booleans() | st.none(),
    st.dates() | st.none(),
)
def test_every_list_of_values_is_read_again(
    text: str | None, number: int | None, truth: bool | None, day: dt.date | None
) -> None:
    parts = [Part("a", "category"), Part("b", "integer"), Part("c", "boolean"), Part("d", "date")]
    values = (text, number, truth, day)
    assert part_values(compound_text(values), parts) == values


@given(st.lists(_TEXTS | st.none(), min_size=2, max_size=2), st.lists(_TEXTS | st.none(), min_size=2, max_size=2))
def test_no_two_lists_have_the_same_text(one: list[str | None], other: list[str | None]) -> None:
    assert (compound_text(one) == compound_text(other)) == (one == other)


@pytest.mark.parametrize("text", ["", "flu", '["a"]', '["a", ["b"]]', "[" * 100_000, '{"a": 1}', '["a", "b", "c"]'])
def test_other_texts_are_no_lists(text: str) -> None:
    with pytest.raises(NotAValue):
        part_values(text, [Part("a", "category"), Part("b", "category")])


def _data(seed: int, n: int) -> dict[str, list[object]]:
    random = np.random.default_rng(seed)
    ill = [["flu", 'a", "b', None, "x\ny", "gout, or\tnot"][i] for i in random.integers(0, 5, n)]
    return {
        "age": random.integers(20, 60, n).tolist(),
        "ill": ill,
        "code": [[1, 22, None, -3][i] for i in random.integers(0, 4, n)],
        "pay": [["low", "high", "mid"][i] for i in random.integers(0, 3, n)],
    }


def _read(data: dict[str, list[object]]) -> gh.Microdata:
    return gh.read(
        pa.table(data),
        quasi=["age"],
        sensitive=["ill", "code", "pay"],
        together=[("ill", "code")],
        categorical=["code"],
        missing="category",
        accept=["line-breaks", "look-alikes", "missing-words"],
    )


@pytest.mark.parametrize("seed", range(tables(40)))
def test_a_saved_release_is_asked_about_either_part_and_both(seed: int, tmp_path: Path) -> None:
    data = _data(seed, 120)
    table = _read(data)
    assert [column.name for column in table.sensitive] == ["ill+code", "pay"]
    release = gh.publish(table, principle="2-diversity", recoding=gh.Anatomy(), source=gh.Source.seeded(seed))
    release.save(tmp_path / "release", format=("csv", "parquet")[seed % 2], allow_seed=True)
    loaded = gh.load(tmp_path / "release")
    for name in ("ill", "code"):  # over everybody, counts of a part are exact
        found = gh.query(loaded, f"SELECT {name}, COUNT(*) GROUP BY {name}", model="uniform")
        counts = {key: estimate.value for (key,), (estimate,) in zip(found.keys, found.estimates, strict=True)}
        assert counts == Counter(data[name])
    both = gh.query(loaded, "SELECT ill, code, COUNT(*) GROUP BY ill, code", model="uniform")
    counted = {key: estimate.value for key, (estimate,) in zip(both.keys, both.estimates, strict=True)}
    assert counted == Counter(zip(data["ill"], data["code"], strict=True))
    pair = gh.query(loaded, "SELECT COUNT(*), SUM(code), AVG(code) WHERE ill = 'flu' AND code > 0", model="uniform")
    wanted = [c for i, c in zip(data["ill"], data["code"], strict=True) if i == "flu" and isinstance(c, int) and c > 0]
    count, total, average = pair.estimates[0]
    assert (count.value, total.value) == (len(wanted), pytest.approx(sum(wanted)))
    assert average.value == pytest.approx(sum(wanted) / len(wanted))
    with pytest.raises(gh.errors.DomainError, match="flu"):
        gh.query(loaded, "SELECT COUNT(*) WHERE ill = 'fluu'")


def test_what_is_promised_of_a_pair_is_not_promised_of_a_part() -> None:
    data = {"age": [1, 1, 2, 2], "ill": ["flu", "flu", "gout", "gout"], "drug": ["a", "b", "a", "b"]}
    table = gh.read(data, quasi=["age"], sensitive=["ill", "drug"], together=[("ill", "drug")])
    worst = []
    for seed in range(20):
        release = gh.publish(table, principle="2-diversity", recoding=gh.Anatomy(), source=gh.Source.seeded(seed))
        knowledge = gh.Knowledge(external=table)
        pair = gh.attack(release, gh.Linking(), knowledge=knowledge)
        assert pair.worst().belief <= 0.5
        part = gh.attack(release, gh.Linking(column="ill"), knowledge=knowledge)
        assert part.column == "ill"
        assert part.limit is None
        for person in range(4):
            own = pair.of(person)
            parts = [Part("ill", "category"), Part("drug", "category")]
            summed: Counter[object] = Counter()
            for value, belief in own.items():
                summed[part_values(value, parts)[0]] += Fraction(belief).limit_denominator(100)  # type: ignore[assignment]
            assert part.of(person) == {value: float(belief) for value, belief in summed.items()}
        worst.append(part.worst().belief)
    assert max(worst) == 1.0  # all of a group share the disease, with different drugs
    assert any("ill and drug are published and protected as a combination" in text for text in release.guarantee.limits)


def test_a_part_is_promised_if_it_is_given_a_second_time() -> None:
    random = np.random.default_rng(4)
    ill = np.array(list("abcdef"))[random.integers(0, 6, 300)]
    data = {"age": random.integers(20, 60, 300), "ill": ill, "drug": ill, "alone": ill}
    data["drug"] = np.where(random.random(300) < 0.5, np.char.add("for ", ill), "other")
    table = gh.read(pa.table(data), quasi=["age"], sensitive=["ill", "drug", "alone"], together=[("ill", "drug")])
    release = gh.publish(table, principle="3-diversity", recoding=gh.Anatomy(), source=gh.Source.seeded(1))
    part = gh.attack(release, gh.Linking(column="ill"), knowledge=gh.Knowledge(external=table))
    assert part.worst().belief <= 1 / 3 + 1e-12


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"together": [("ill",)]}, "is only one column"),
        ({"together": [("ill", "age")]}, "together"),
        ({"together": [("ill", "drug"), ("drug", "pay")]}, "named twice"),
        ({"together": [("ill", "drug")], "ordered": {"ill": ["a", "b"]}}, "no order"),
    ],
)
def test_columns_that_cannot_be_one_are_refused(options: dict[str, object], words: str) -> None:
    data = {"age": [1, 2], "ill": ["a", "b"], "drug": ["a", "b"], "pay": ["a", "b"]}
    with pytest.raises(gh.errors.SchemaError, match=words):
        gh.read(data, quasi=["age"], sensitive=["ill", "drug", "pay"], **options)  # type: ignore[arg-type]


def test_a_name_that_is_taken_is_refused() -> None:
    data = {"age": [1, 2], "ill": ["a", "b"], "drug": ["a", "b"], "ill+drug": ["a", "b"]}
    with pytest.raises(gh.errors.SchemaError, match="rename"):
        gh.read(data, quasi=["age"], sensitive=["ill", "drug"], together=[("ill", "drug")])
