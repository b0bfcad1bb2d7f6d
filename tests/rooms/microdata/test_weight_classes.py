# SPDX-License-Identifier: Apache-2.0
"""Survey weights on the way in: classes of many people, means that keep totals right, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.microdata.weight_classes import FEWEST_PEOPLE, MOST_CLASSES, WeightClasses
from glasshouse.streaming.count import count_file
from tests.tiers import tables


def _read(weights: Any, **more: Any) -> gh.Microdata:
    n = len(weights)
    data = pa.table({"age": np.arange(n) % 50, "w": weights, "ill": np.array(["a", "b", "c"])[np.arange(n) % 3]})
    return gh.read(data, quasi=["age"], sensitive="ill", weight="w", **more)


@pytest.mark.parametrize("seed", range(tables(300)))
def test_classes_have_many_people_and_keep_totals(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 1_500))
    weights = [
        lambda: np.round(random.lognormal(3, 0.8, n), int(random.integers(0, 5))) + 0.5,
        lambda: random.choice([1.0, 1.0, 2.5, 40.0], n),
        lambda: random.random(n) * 1e-6 + 1e-9,
        lambda: random.integers(1, 1_000_000, n),
    ][seed % 4]()
    column = _read(weights).column("w")
    classes = column.domain.weight
    assert classes is not None
    published = np.asarray(column.domain.decode(column.codes))
    sizes = np.unique(published, return_counts=True)[1]
    assert len(sizes) == len(classes.means) <= MOST_CLASSES
    assert len(sizes) == 1 or sizes.min() >= FEWEST_PEOPLE
    assert float(published.sum()) == pytest.approx(float(np.sum(weights)), rel=5e-6)
    assert np.array_equal(classes.classed(published), published)  # a class mean lies in its own class
    for mean, deviation in zip(classes.means, classes.deviations, strict=True):
        own = [Fraction(float(w)) for w in np.asarray(weights, float)[published == mean]]
        exact = sum(((w - Fraction(mean)) ** 2 for w in own), Fraction(0)) / len(own)
        assert exact <= Fraction(deviation) ** 2 * (1 + Fraction(1, 10**12))
        assert Fraction(deviation) ** 2 <= exact * Fraction(122, 100)  # two digits, rounded up


def test_quantile_classes_are_cut_at_round_numbers() -> None:
    weights = np.random.default_rng(1).lognormal(3, 0.8, 4_000)
    classes = _read(weights).column("w").domain.weight
    assert classes is not None
    assert len(classes.means) == MOST_CLASSES
    assert all(len(f"{cut:g}".replace(".", "").strip("0")) <= 2 for cut in classes.cuts)


def test_a_variant_without_a_least_number_of_people_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glasshouse.microdata.weight_classes.FEWEST_PEOPLE", 2)
    column = _read(np.arange(1.0, 31.0)).column("w")
    assert np.bincount(column.codes).min() < FEWEST_PEOPLE
    assert len(np.unique(column.codes)) > 1


def test_weights_neither_depend_on_the_order_of_rows_nor_on_their_number_type() -> None:
    weights = np.random.default_rng(2).integers(1, 500, 700)
    shuffled = np.random.default_rng(3).permutation(weights)
    one, other = _read(weights).column("w").domain.weight, _read(shuffled.astype(float)).column("w").domain.weight
    assert one == other
    assert one is not None
    assert WeightClasses.from_data(one.to_data()) == one


def test_a_steward_gives_other_classes() -> None:
    table = _read([1.0, 2.0, 11.0, 14.0, 25.0], bins={"w": "intervals:10"})
    classes = table.column("w").domain.weight
    assert classes is not None
    assert classes.means == (1.5, 12.5, 25.0)
    assert classes.cuts == (10.0, 20.0)
    assert table.weight == "w"
    assert [column.name for column in table.quasi] == ["age", "w"]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, 0.0, 2.0], "not positive"),
        ([1.0, -3.0, 2.0], "not positive"),
        ([1.0, float("inf"), 2.0], "infinite or not positive"),
        (["1", "x", "2"], "no numbers"),
    ],
)
def test_what_is_no_weight_is_refused(weights: Any, words: str) -> None:
    with pytest.raises(gh.errors.DomainError, match=words):
        _read(weights)


def test_missing_weights_are_dropped_or_refused() -> None:
    weights = pa.array([1.0, None, 2.0])
    with pytest.raises(gh.errors.DomainError, match="missing values in w"):
        _read(weights)
    with pytest.raises(gh.errors.DomainError, match="missing='drop'"):
        _read(weights, missing="category")
    assert _read(weights, missing="drop").n_tuples == 2


def test_inspection_names_what_may_be_a_weight() -> None:
    report = gh.inspect({"age": [1, 2, 3], "design_wgt": [1.5, 2.5, 9.0], "ill": ["a", "b", "a"]})
    assert any("design_wgt may be a survey weight" in notice for notice in report.notices)
    assert not any("age may be" in notice for notice in report.notices)


def test_a_weight_has_one_role_and_no_other_option() -> None:
    with pytest.raises(gh.errors.SchemaError, match="a quasi-identifier and the weight"):
        gh.read({"w": [1.0]}, quasi=["w"], weight="w")
    for option in ({"top": {"w": 3}}, {"taxonomies": {"w": "intervals:2"}}, {"categorical": ["w"]}):
        with pytest.raises(gh.errors.SchemaError, match="is the survey weight"):
            _read([1.0, 2.0, 3.0], **option)


def test_a_file_that_is_counted_in_batches_gives_the_same_classes(tmp_path: Path) -> None:
    weights = np.round(np.random.default_rng(5).lognormal(2, 0.5, 900), 2)
    table = _read(weights)
    data = {"age": np.arange(900) % 50, "w": weights, "ill": np.array(["a", "b", "c"])[np.arange(900) % 3]}
    pq.write_table(pa.table(data), tmp_path / "people.parquet")
    counted = count_file(tmp_path / "people.parquet", quasi=["age"], sensitive="ill", weight="w")
    assert counted.kinds.table.column("w").domain.weight == table.column("w").domain.weight
    with pytest.raises(gh.errors.NotSupported, match="join the columns into one"):
        count_file(
            tmp_path / "people.parquet",
            quasi=["age"],
            sensitive=["ill", "w"],
            categorical=["w"],
            together=[("ill", "w")],
        )
