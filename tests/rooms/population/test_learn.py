# SPDX-License-Identifier: Apache-2.0
"""What is learned from whole releases: when, how well, and that it is the same every time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from tests.rooms.population.known import QUASI, VALUES, people, released

pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")

BY_VALUE = "SELECT ill, COUNT(*) GROUP BY ill"


def counts(answer: Any, i: int = 0) -> dict[Any, Any]:
    return {key[-1]: row[i] for key, row in zip(answer.keys, answer.estimates, strict=True)}


@pytest.mark.parametrize("seed", range(6))
def test_from_a_shuffled_column_nothing_is_learned(seed: int) -> None:
    columns = people(2000, seed=seed)
    columns["ill"] = np.random.default_rng(seed).permutation(columns["ill"])
    population = gh.learn(released(columns))
    assert population.model == "uniform"
    assert population.fitted.z < 2
    assert not population.fitted.weights.any()
    chances = population.chances()
    assert np.abs(chances - chances[0]).max() < 1e-12


def test_a_strong_dependence_is_learned() -> None:
    columns = people(2000, strength=1.5)
    population = gh.learn(released(columns))
    assert population.model == "learned"
    assert population.fitted.z > 4
    # The most likely value of a person is right far more often than the most frequent value.
    place = {name: np.array(population.points.values[i], object) for i, name in enumerate(population.points.names)}
    codes = population.points.codes
    at = {key: i for i, key in enumerate(zip(*(place[q][codes[i]] for i, q in enumerate(place)), strict=True))}
    best = np.array(population.values)[population.chances().argmax(axis=1)]
    own = np.array([at[key] for key in zip(*(columns[q].tolist() for q in QUASI), strict=True)])
    right = float((best[own] == columns["ill"]).mean())
    frequent = max(Counter(columns["ill"].tolist()).values()) / 2000
    assert right > frequent + 0.15


def test_two_loads_of_a_release_give_the_same_answers(tmp_path: Path) -> None:
    released(people(2000, strength=1.5)).save(tmp_path / "release", allow_seed=True)
    sql = "SELECT ill, COUNT(*), AVG(age) WHERE sex = 'F' AND age < 40 GROUP BY ill"
    one, other = (gh.query(gh.load(tmp_path / "release"), sql) for _ in range(2))
    assert one.model == "learned"
    assert one.to_dict() == other.to_dict()


KINDS: dict[str, tuple[Any, Any]] = {
    "anatomy": (gh.Anatomy(), gh.Anatomize()),
    "permutation": (gh.Permutation(), gh.Mirror()),
    "angel": (gh.Angel(k=3), gh.Mirror()),
    "boxes": (gh.Boxes(), gh.Mirror()),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_published_is_answered_without_error(kind: str) -> None:
    columns = people(3000, strength=1.5)
    release = released(columns, *KINDS[kind])
    found = counts(gh.query(release, BY_VALUE))
    truth = Counter(columns["ill"].tolist())
    for value in VALUES.tolist():
        assert found[value].value == truth[value]
        assert found[value].error == 0
        assert (found[value].low, found[value].high) == (truth[value], truth[value])
    assert gh.query(release, "SELECT COUNT(*)").value == pytest.approx(3000, abs=1e-6)
    assert gh.learn(release).model == "learned"


def truth_of(columns: dict[str, Any], inside: Any) -> Counter[str]:
    return Counter(columns["ill"][inside].tolist())


def total_error(release: gh.Release, columns: dict[str, Any], model: str) -> float:
    """The sum of errors of the counts by sex, and by region."""
    error = 0.0
    for column in ("sex", "region"):
        answer = gh.query(release, f"SELECT {column}, ill, COUNT(*) GROUP BY {column}, ill", model=model)
        truth = Counter(zip(columns[column].tolist(), columns["ill"].tolist(), strict=True))
        found = {key: row[0].value for key, row in zip(answer.keys, answer.estimates, strict=True)}
        error += sum(abs(truth[key] - found.get(key, 0.0)) for key in set(truth) | set(found))
    return error


@pytest.mark.parametrize(("kind", "most"), [("anatomy", 0.2), ("permutation", 0.2), ("angel", 0.2), ("boxes", 1.0)])
def test_learned_answers_are_nearer_the_truth(kind: str, most: float) -> None:
    columns = people(4000, strength=1.5)
    release = released(columns, *KINDS[kind])
    assert total_error(release, columns, "learned") < most * total_error(release, columns, "uniform")


def test_they_are_nearer_the_truth_of_a_synthetic_hospital() -> None:
    table = gh.synthetic.hospital_table(6000, seed=2)
    microdata = gh.synthetic.hospital(6000, seed=2)
    release = gh.publish(
        microdata,
        principle=gh.LDiversity(ell=3),
        method=gh.Anatomize(),
        recoding=gh.Anatomy(),
        source=gh.Source.seeded(1),
    )
    truth = Counter(zip(table["sex"].to_pylist(), table["disease"].to_pylist(), strict=True))
    errors = {}
    for model in ("learned", "uniform"):
        answer = gh.query(release, "SELECT sex, disease, COUNT(*) GROUP BY sex, disease", model=model)
        found = {key: row[0].value for key, row in zip(answer.keys, answer.estimates, strict=True)}
        errors[model] = sum(abs(truth[key] - found.get(key, 0.0)) for key in set(truth) | set(found))
    assert errors["learned"] < 0.6 * errors["uniform"]


def questions(n: int, seed: int) -> list[tuple[str, tuple[int, int], str, list[str], list[str]]]:
    """Random ones: a range of ages, a sex, some regions, some values; as SQL and as what it asks for."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(n):
        low = int(rng.integers(20, 50))
        high, sex = int(rng.integers(low + 8, 60)) if low < 50 else 59, str(rng.choice(["F", "M"]))
        regions = rng.choice(list("ABCDEF"), int(rng.integers(2, 6)), replace=False).tolist()
        values = rng.choice(VALUES, int(rng.integers(1, 4)), replace=False).tolist()
        sql = (
            f"SELECT COUNT(*) WHERE age BETWEEN {low} AND {high} AND sex = '{sex}' AND region IN ("
            f"{', '.join(map(repr, regions))}) AND ill IN ({', '.join(map(repr, values))})"
        )
        found.append((sql, (low, high), sex, regions, values))
    return found


def test_intervals_cover_what_they_should() -> None:
    covered = []
    for seed in (1, 2, 3):
        columns = people(4000, seed=seed)
        release = released(columns)
        assert gh.learn(release).model == "learned"
        for sql, (low, high), sex, regions, values in questions(100, seed):
            inside = (columns["age"] >= low) & (columns["age"] <= high) & (columns["sex"] == sex)
            inside &= np.isin(columns["region"], regions) & np.isin(columns["ill"], values)
            start, end = gh.query(release, sql).interval
            covered.append(start <= inside.sum() <= end)
    assert 0.9 <= np.mean(covered) <= 0.99


def test_a_question_that_the_release_answers_exactly_needs_no_model() -> None:
    columns = people(2000, strength=1.5)
    answer = gh.query(released(columns), "SELECT sex, COUNT(*) WHERE age < 30 GROUP BY sex")
    truth = Counter(columns["sex"][columns["age"] < 30].tolist())
    assert {key: found.value for key, found in counts(answer).items()} == truth
    assert all(found.error == 0 for found in counts(answer).values())


def test_a_second_sensitive_column_has_a_model_of_its_own() -> None:
    columns = people(4000, strength=1.5)
    job = (np.searchsorted(list("ABCDEF"), columns["region"]) + np.random.default_rng(3).integers(0, 3, 4000)) % 6
    columns["job"] = np.array([f"j{i}" for i in range(6)])[job]
    release = released(columns, gh.Anatomy(), gh.Snug(), sensitive=["ill", "job"])
    one, two = gh.learn(release, "ill"), gh.learn(release, "job")
    assert (one.column, two.column) == ("ill", "job")
    assert set(two.values) == set(columns["job"].tolist())
    assert gh.learn(release) is one
    assert gh.learn(release, "job") is two
    with pytest.raises(gh.InputError, match="'age' is not a sensitive column"):
        gh.learn(release, "age")
    found = counts(gh.query(release, "SELECT job, COUNT(*) GROUP BY job"))
    truth = Counter(columns["job"].tolist())
    assert {value: own.value for value, own in found.items()} == pytest.approx(truth)


@pytest.mark.parametrize("kind", ["anatomy", "angel", "boxes"])
def test_missing_values_are_values(kind: str) -> None:
    columns, rng = people(3000, strength=1.5), np.random.default_rng(4)
    gaps = {
        name: [
            None if gap and name != "sex" else value
            for gap, value in zip(rng.random(3000) < 0.1, own.tolist(), strict=True)
        ]
        for name, own in columns.items()
    }
    release = released(gaps, *KINDS[kind], missing="category")
    population = gh.learn(release)
    assert None in population.values
    assert population.points.values[0][-1] is None
    found = counts(gh.query(release, BY_VALUE))
    truth = Counter(gaps["ill"])
    assert {value: round(own.value, 5) for value, own in found.items()} == pytest.approx(truth)
    if kind == "boxes":
        return
    asked = counts(gh.query(release, "SELECT ill, COUNT(*) WHERE sex = 'F' GROUP BY ill"))
    of_women = Counter(value for value, sex in zip(gaps["ill"], gaps["sex"], strict=True) if sex == "F")
    assert asked[None].value == pytest.approx(of_women[None], abs=60)


def test_a_release_without_a_sensitive_column_teaches_about_cells() -> None:
    columns = {name: own for name, own in people(2000).items() if name != "ill"}
    release = released(columns, gh.Boxes(), gh.Snug(), sensitive=[])
    population = gh.learn(release)
    assert population.model == "cells"
    assert "''" not in repr(population)
    answer = gh.query(release, "SELECT COUNT(*) WHERE age BETWEEN 30 AND 34 AND sex = 'F'")
    truth = int(((columns["age"] >= 30) & (columns["age"] <= 34) & (columns["sex"] == "F")).sum())
    assert answer.model == "cells"
    assert answer.value == pytest.approx(truth, abs=25)


def test_a_perturbed_sample_teaches_too() -> None:
    columns = people(6000, strength=2)
    table = gh.read(columns, quasi=list(QUASI), sensitive="ill")
    release = gh.publish(
        table,
        principle=gh.RhoBreach(k=2, rho1="0.2", rho2="0.9"),
        recoding=gh.Perturbed(domain=tuple(VALUES.tolist())),
        source=gh.Source.seeded(1),
    )
    population = gh.learn(release)
    assert population.model == "learned"
    assert population.values == tuple(VALUES.tolist())
    # Everybody is expected somewhere, with some value: in the mean and in every draw.
    assert population.expected().amount.sum() == pytest.approx(6000)
    assert all(len(drawn.point) == 6000 for drawn in population.draws())
    found = counts(gh.query(release, "SELECT ill, COUNT(*) WHERE sex = 'F' GROUP BY ill"))
    truth = truth_of(columns, columns["sex"] == "F")
    inside = [own.low <= truth[value] <= own.high for value, own in found.items()]
    assert sum(inside) >= len(VALUES) - 1


TREE = {"all": {"north": ["A", "B", "C"], "south": ["D", "E", "F"]}}


def test_nodes_of_a_taxonomy_are_learned_from_where_it_is_known() -> None:
    columns = people(4000, strength=1.5)
    tree = gh.Taxonomy.from_nested(TREE)
    release = released(columns, gh.Taxonomies(), gh.Mirror(), taxonomies={"region": tree})
    with pytest.raises(gh.InputError, match="taxonomy"):
        gh.learn(release)
    population = gh.learn(release, taxonomies={"region": tree})
    assert set(population.points.values[2]) == set("ABCDEF")
    other = gh.Taxonomy.from_nested({"all": {"north": ["A", "B", "C", "G"], "south": ["D", "E", "F"]}})
    assert set(gh.learn(release, taxonomies={"region": other}).points.values[2]) == set("ABCDEFG")


def test_another_tools_table_teaches_where_its_cells_can_be_read() -> None:
    columns = people(3000, strength=1.5)
    decade = columns["age"] // 10 * 10
    theirs = {
        "age": [f"[{low}, {low + 10})" for low in decade.tolist()],
        "sex": columns["sex"],
        "region": ["{A, B}" if region in "AB" else region for region in columns["region"].tolist()],
        "ill": columns["ill"],
    }
    release = gh.foreign_release(theirs, quasi=list(QUASI), sensitive="ill")
    population = gh.learn(release)
    assert population.model == "learned"
    assert set(population.points.values[2]) == set("ABCDEF")
    found = counts(gh.query(release, "SELECT ill, COUNT(*) WHERE age < 40 AND sex = 'F' GROUP BY ill"))
    truth = truth_of(columns, (columns["age"] < 40) & (columns["sex"] == "F"))
    assert all(own.value == pytest.approx(truth[value], abs=1e-6) for value, own in found.items())
    unreadable = gh.foreign_release({**theirs, "sex": ["*"] * 3000}, quasi=list(QUASI), sensitive="ill")
    with pytest.raises(gh.InputError, match="'sex' has cells that are open at one end"):
        gh.learn(unreadable)
    assert gh.query(unreadable, "SELECT COUNT(*) WHERE age < 40").model == "uniform"


def test_of_few_people_nothing_is_learned() -> None:
    release = released(people(150))
    with pytest.raises(gh.NotSupported, match="the release has fewer than 200 people"):
        gh.learn(release)
    assert gh.query(release, "SELECT COUNT(*) WHERE sex = 'F' AND ill = 'v5'").model == "uniform"


def test_tables_that_do_not_fit_together_are_refused() -> None:
    release = gh.publish(gh.synthetic.hospital(900, seed=1), principle=gh.LDiversity(ell=3), recoding=gh.Anatomy())
    broken = replace(release, tables={**release.tables, "qit": release.tables["qit"].slice(1)})
    with pytest.raises(gh.InputError, match="contradict each other"):
        gh.learn(broken)
