# SPDX-License-Identifier: Apache-2.0
"""Several sensitive columns in the rows of one table: conditions over them are evaluated row by row."""

from __future__ import annotations

import re
from collections import defaultdict
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import glasshouse as gh
from glasshouse.release.layout import LAYOUTS
from tests.tiers import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TREE = {"any": {"low": ["20", "21", "22"], "high": ["23", "24", "25", "26"]}}
BELOW = {"any": range(20, 27), "low": range(20, 23), "high": range(23, 27)}


def _release(seed: int, recoding: str = "boxes", n: int = 24) -> gh.Release:
    random = Random(seed)
    rows = {
        "age": [random.randint(20, 26) for _ in range(n)],
        "disease": [random.choice(["flu", "gout", "ulcer"]) for _ in range(n)],
        "allergy": [random.choice(["none", "latex", "nuts"]) for _ in range(n)],
        "cost": [random.choice([1, 2, 5]) for _ in range(n)],
    }
    sensitive = ["disease", "allergy", "cost"]
    how = gh.Boxes()
    taxonomies = {}
    if recoding == "taxonomies":
        rows["age"] = list(map(str, rows["age"]))
        how, taxonomies = gh.Taxonomies(), {"age": gh.Taxonomy.from_nested(TREE)}
    table = gh.read(rows, quasi=["age"], sensitive=sensitive, taxonomies=taxonomies, categorical=["cost"])
    return gh.publish(
        table, principle=gh.KAnonymity(k=3), method=gh.Mondrian(), recoding=how, source=gh.Source.seeded(1)
    )


def _rows(release: gh.Release) -> Iterator[tuple[list[int], dict[str, Any]]]:
    """Every published row: the ages that its cell stands for, and its sensitive values."""
    for row in release.data.to_pylist():
        cell = str(row["age"])
        ends = [int(number) for number in re.findall(r"\d+", cell)]
        yield list(BELOW[cell] if cell in BELOW else range(ends[0], ends[-1] + 1)), row


def _counted(
    release: gh.Release, holds: Callable[[int, dict[str, Any]], bool], amount: Callable[[int, dict[str, Any]], int]
) -> tuple[list[Fraction], list[list[Fraction]]]:
    """Means and covariances of the count and of the sum, row by row: each age of a cell is as likely as another."""
    means, covariances = [Fraction(0)] * 2, [[Fraction(0)] * 2 for _ in range(2)]
    for ages, row in _rows(release):
        own = [(1, amount(age, row)) if holds(age, row) else (0, 0) for age in ages]
        first = [Fraction(sum(one[x] for one in own), len(ages)) for x in range(2)]
        for x in range(2):
            means[x] += first[x]
            for y in range(2):
                both = Fraction(sum(one[x] * one[y] for one in own), len(ages))
                covariances[x][y] += both - first[x] * first[y]
    return means, covariances


QUESTIONS: list[tuple[str, Callable[[int, dict[str, Any]], bool]]] = [
    ("disease = 'gout' AND allergy = 'latex'", lambda _, row: row["disease"] == "gout" and row["allergy"] == "latex"),
    (
        "disease = 'gout' AND allergy <> 'latex' AND age < 24",
        lambda age, row: row["disease"] == "gout" and row["allergy"] != "latex" and age < 24,
    ),
    (
        "disease = 'flu' AND age >= 22 OR allergy = 'nuts' AND age < 24 OR disease = 'ulcer' AND allergy = 'none'",
        lambda age, row: (
            (row["disease"] == "flu" and age >= 22)
            or (row["allergy"] == "nuts" and age < 24)
            or (row["disease"] == "ulcer" and row["allergy"] == "none")
        ),
    ),
]


@pytest.mark.parametrize("seed", range(tables(20)))
@pytest.mark.parametrize("summed", ["age", "cost"])
def test_counts_sums_and_averages_are_those_of_the_rows(seed: int, summed: str) -> None:
    release = _release(seed)
    for where, holds in QUESTIONS:
        means, covariances = _counted(release, holds, lambda age, row: age if summed == "age" else row["cost"])
        sql = f"SELECT COUNT(*), SUM({summed}), AVG({summed}) WHERE {where}"
        answer = gh.query(release, sql, model="uniform")
        count, total, average = answer.estimates[0]
        assert [count.value, total.value] == pytest.approx([float(mean) for mean in means])
        errors = [float(covariances[x][x]) ** 0.5 for x in range(2)]
        assert [count.error, total.error] == pytest.approx(errors, abs=1e-6)
        assert not any("separate" in note for note in answer.notes)
        if means[0]:
            value = means[1] / means[0]
            spread = covariances[1][1] - 2 * value * covariances[0][1] + value**2 * covariances[0][0]
            assert average.value == pytest.approx(float(value))
            assert average.error == pytest.approx(float(spread / means[0] ** 2) ** 0.5, abs=1e-6)


@pytest.mark.parametrize("seed", range(tables(10)))
def test_cells_of_taxonomies_are_counted_alike(seed: int) -> None:
    release = _release(seed, "taxonomies")
    means, covariances = _counted(
        release, lambda age, row: row["disease"] == "flu" and row["allergy"] == "none" and age in (20, 24), lambda *_: 0
    )
    found = gh.query(
        release,
        "SELECT COUNT(*) WHERE disease = 'flu' AND allergy = 'none' AND age IN ('20', '24')",
        model="uniform",
        taxonomies={"age": gh.Taxonomy.from_nested(TREE)},
    ).only
    assert found.value == pytest.approx(float(means[0]))
    assert found.error == pytest.approx(float(covariances[0][0]) ** 0.5, abs=1e-6)


@pytest.mark.parametrize("by", [("disease", "allergy"), ("allergy", "disease"), ("allergy",), ("allergy", "age")])
@pytest.mark.parametrize("seed", range(tables(5)))
def test_rows_of_an_answer_are_those_of_the_release(seed: int, by: tuple[str, ...]) -> None:
    release = _release(seed)
    expected: dict[tuple[Any, ...], Fraction] = defaultdict(Fraction)
    for ages, row in _rows(release):
        if row["cost"] < 5 and (row["disease"] != "ulcer" or row["allergy"] == "none"):
            for age in ages:
                expected[tuple({**row, "age": age}[name] for name in by)] += Fraction(1, len(ages))
    names = ", ".join(by)
    where = "cost < 5 AND (disease <> 'ulcer' OR allergy = 'none')"
    answer = gh.query(release, f"SELECT {names}, COUNT(*) WHERE {where} GROUP BY {names}", model="uniform")
    found = {key: row[0].value for key, row in zip(answer.keys, answer.estimates, strict=True)}
    assert found == pytest.approx({key: float(value) for key, value in expected.items()})
    assert list(answer.keys) == sorted(answer.keys)
    if "age" not in by:
        assert all(row[0].error == 0 for row in answer.estimates)


@pytest.mark.parametrize("model", ["learned", "uniform"])
def test_sampled_rows_have_combinations_that_were_published(model: str) -> None:
    for release in (_release(1), _release(2, n=900)):
        names = ["disease", "allergy", "cost"]
        shown = [tuple(row[name] for name in names) for row in release.data.to_pylist()]
        drawn = gh.sample(release, source=gh.Source.seeded(1), model=model)
        assert drawn.column_names == ["age", *names]
        assert {tuple(row[name] for name in names) for row in drawn.to_pylist()} <= set(shown)
        if drawn.schema.metadata[b"glasshouse.model"] != b"uniform":  # everybody, with the values that were published
            assert sorted(tuple(row[name] for name in names) for row in drawn.to_pylist()) == sorted(shown)
        some = gh.sample(release, model=model, attributes=["allergy", "age", "disease"])
        assert some.column_names == ["allergy", "age", "disease"]


def test_the_learned_model_knows_combinations_and_says_where_there_are_too_many() -> None:
    release = _release(2, n=900)
    shown = sum(row["disease"] == "gout" and row["allergy"] == "nuts" for row in release.data.to_pylist())
    answer = gh.query(release, "SELECT COUNT(*) WHERE disease = 'gout' AND allergy = 'nuts'")
    assert (answer.value, answer.error) == (shown, 0)
    table = gh.read(
        {"age": [20 + i % 7 for i in range(400)], "a": [f"a{i % 20}" for i in range(400)],
         "b": [f"b{i // 20}" for i in range(400)]}, quasi=["age"], sensitive=["a", "b"],
    )  # fmt: skip
    many = gh.publish(table, principle=gh.KAnonymity(k=20), method=gh.Mondrian(), recoding=gh.Boxes())
    answer = gh.query(many, "SELECT COUNT(*) WHERE a = 'a1' AND b <> 'b2' AND age < 22")
    assert answer.model == "uniform"
    if answer.error:
        assert any("the columns 'a' and 'b' have 400 different combinations of values" in n for n in answer.notes)


def test_people_count_by_their_weights() -> None:
    random = Random(3)
    rows: dict[str, Any] = {"age": [random.randint(20, 26) for _ in range(900)]}
    rows["w"] = [random.choice([1.0, 2.0, 5.0]) for _ in range(900)]
    rows |= {name: [random.choice("xyz") for _ in range(900)] for name in ("a", "b")}
    table = gh.read(rows, quasi=["age"], sensitive=["a", "b"], weight="w")
    release = gh.publish(table, principle=gh.KAnonymity(k=2), method=gh.Mondrian(), recoding=gh.Boxes())
    told = zip(rows["w"], rows["a"], rows["b"], rows["age"], strict=True)
    expected = sum(w for w, a, b, age in told if (a == "x" or b == "z") and age < 24)
    assert gh.query(release, "SELECT COUNT(*) WHERE (a = 'x' OR b = 'z') AND age < 24").value == pytest.approx(expected)


def test_layouts_declare_whether_columns_are_side_by_side() -> None:
    assert {name for name, layout in LAYOUTS.items() if layout.side_by_side} == {"boxes", "taxonomies", "foreign"}
