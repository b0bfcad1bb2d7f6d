# SPDX-License-Identifier: Apache-2.0
"""The classifier of a population: scikit-learn's own checks, chances that are the model's, and values never seen."""

from __future__ import annotations

import datetime as dt
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import estimator_checks_generator

import glasshouse as gh
from glasshouse.population.population_classifier import PopulationClassifier
from glasshouse.population.scales import Scale, distinct
from tests.conftest import ROOT

ADULT = ROOT.parent / "shared" / "data" / "adult.parquet"
CHECKS = list(estimator_checks_generator(PopulationClassifier(), legacy=True))
CHECKS += list(estimator_checks_generator(PopulationClassifier(categorical_features=[0]), legacy=True))


@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=lambda it: getattr(getattr(it, "func", it), "__name__", "")
)
def test_every_check_of_scikit_learn_for_estimators_passes(estimator: Any, check: Any) -> None:
    """None is expected to fail; one needs an array library that is not here, and skips itself."""
    check(estimator)


def people(n: int = 4_000, seed: int = 1) -> pa.Table:
    random = np.random.default_rng(seed)
    age, town = random.integers(20, 80, n), random.choice(["north", "south"], n)
    born = [dt.date(2024, 1, 1) - dt.timedelta(days=int(365 * a)) for a in age]
    high = (age - 50) / 10 + 2 * (town == "north") > 1
    code = np.where(random.random(n) < 0.8, high * 3, (1 - high) * 3) + random.integers(0, 3, n)
    ill = [f"value {c}" for c in code]
    return pa.table({"age": age, "town": town, "born": born, "ill": ill})


def released(recoding: Any = None, seed: int = 1) -> gh.Release:
    table = gh.read(people(seed=seed), quasi=["age", "town", "born"], sensitive="ill")
    return gh.publish(
        table,
        principle=gh.LDiversity(ell=3),
        method=gh.Anatomize(),
        recoding=recoding or gh.Anatomy(),
        source=gh.Source.seeded(1),
    )


def test_chances_at_the_points_of_the_release_are_those_of_the_population() -> None:
    population = gh.learn(released())
    likely = population.classifier()
    points = population.points
    rows = {
        name: pa.array([values[c] for c in codes])
        for name, values, codes in zip(points.names, points.values, points.codes, strict=True)
    }
    assert likely.predict_proba(rows) == pytest.approx(population.chances())
    assert likely.classes_.tolist() == list(population.values)
    assert (likely.predict(rows) == np.array(population.values)[population.chances().argmax(axis=1)]).all()
    assert list(likely.feature_names_in_) == ["age", "town", "born"]


@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Angel()], ids=["anatomy", "angel"])
def test_people_who_are_not_in_the_release_are_guessed_nearly_as_well_as_by_the_truth(recoding: Any) -> None:
    likely = gh.learn(released(recoding)).classifier(class_of=lambda value: value in ("value 0", "value 1", "value 2"))
    own, others = people(seed=1), people(seed=2)
    classes = np.array([value in ("value 0", "value 1", "value 2") for value in others["ill"].to_pylist()])
    truth = np.array([value in ("value 0", "value 1", "value 2") for value in own["ill"].to_pylist()])
    by_truth = PopulationClassifier().fit(own.drop(["ill"]), truth).score(others.drop(["ill"]), classes)
    assert by_truth > 0.75
    assert likely.score(others.drop(["ill"]), classes) > by_truth - 0.05


def test_frames_of_every_kind_and_plain_rows_are_read_alike_in_any_order_of_columns() -> None:
    likely = gh.learn(released()).classifier()
    some = people(seed=3).slice(0, 50).drop(["ill"])
    expected = likely.predict_proba(some)
    frames = [some.to_pandas(), pl.from_arrow(some), some.select(["born", "age", "town"]), some.to_pydict()]
    for frame in [*frames, [list(row.values()) for row in some.to_pylist()]]:
        assert likely.predict_proba(frame) == pytest.approx(expected)
    with pytest.raises(gh.SchemaError, match="town"):
        likely.predict(some.drop(["town"]))
    with pytest.raises(gh.InputError, match="3 columns"):
        likely.predict([[1, 2]])


def test_unseen_numbers_are_the_nearest_known_and_unseen_categories_say_nothing() -> None:
    likely = gh.learn(released()).classifier()
    born = [dt.date(1900, 1, 1)]
    young, old = ({"age": [age], "town": ["north"], "born": born} for age in (20, 79))
    for near, far in ((young, -7), (young, 3), (old, 80), (old, 1e9)):
        assert likely.predict_proba({**near, "age": [far]}) == pytest.approx(likely.predict_proba(near))
    nowhere, nothing = (likely.predict_proba({**young, "town": pa.array([t], pa.string())}) for t in ("west", None))
    assert nowhere == pytest.approx(nothing)
    assert not np.allclose(nowhere, likely.predict_proba(young), atol=1e-3)
    with pytest.raises(gh.InputError, match="'age' contains numbers"):
        likely.predict({**young, "age": ["old"]})


def test_places_are_the_nearest_by_an_obvious_search() -> None:
    random = np.random.default_rng(5)
    known = sorted(random.choice(200, 20, replace=False).tolist())
    wanted = random.uniform(-50, 250, 300)
    found = Scale.of("x", known, ordered=True).places(wanted)
    for value, place in zip(wanted, found, strict=True):
        assert abs(known[place] - value) == min(abs(other - value) for other in known)


def test_missing_values_of_every_library_are_missing() -> None:
    for column in (
        [1.0, None],
        np.array([1.0, np.nan]),
        np.array([1.0, None, pd.NaT, pd.NA], object),
        pa.array([1.0, None]),
        pa.chunked_array([["1.0", None]]).dictionary_encode(),
    ):
        values, number = distinct(column)
        assert [values[i] is None for i in number] == [False] + [True] * (len(number) - 1)


def test_classes_are_the_analysts_own_and_missing_values_need_one() -> None:
    population = gh.learn(released())
    halves = population.classifier({f"value {i}": "low" if i < 3 else "high" for i in range(6)})
    row = {"age": [30], "town": ["north"], "born": [dt.date(1994, 1, 8)]}
    assert halves.classes_.tolist() == ["high", "low"]
    assert halves.predict_proba(row)[0, 1] == pytest.approx(population.classifier().predict_proba(row)[0, :3].sum())
    with pytest.raises(gh.InputError, match="a class for 5 of the 6"):
        population.classifier({"value 0": "low"})
    table = people().set_column(3, "ill", pa.array([None if i % 5 == 0 else f"v{i % 5}" for i in range(4_000)]))
    missing = gh.read(table, quasi=["age", "town", "born"], sensitive="ill", missing="category")
    release = gh.publish(missing, principle=gh.LDiversity(ell=3), recoding=gh.Anatomy(), source=gh.Source.seeded(1))
    with pytest.raises(gh.InputError, match="class_of"):
        gh.learn(release).classifier()
    assert gh.learn(release).classifier(lambda value: value is None).classes_.tolist() == [False, True]


def test_a_classifier_is_small_and_can_be_kept_cloned_and_cross_validated() -> None:
    likely = gh.learn(released()).classifier()
    some = people(seed=3).slice(0, 20).drop(["ill"])
    again = pickle.loads(pickle.dumps(likely))
    assert again.predict_proba(some) == pytest.approx(likely.predict_proba(some))
    assert likely._features.codes.shape[1] == 0  # nobody's quasi-identifiers are in it
    assert clone(likely).get_params() == {"categorical_features": None}
    labelled = people(400).to_pandas()
    found = cross_val_score(PopulationClassifier(), labelled[["age", "town"]], labelled["ill"].isin(["value 0"]), cv=3)
    assert found.mean() > 0.7


def test_without_a_sensitive_column_there_is_nothing_to_classify() -> None:
    table = gh.read(people().drop(["ill"]), quasi=["age", "town", "born"])
    release = gh.publish(table, principle=gh.KAnonymity(k=5), source=gh.Source.seeded(1))
    with pytest.raises(gh.NotSupported, match="sensitive column"):
        gh.learn(release).classifier()


@pytest.mark.skipif(not ADULT.exists(), reason="Adult is not beside the repository")
def test_on_adult_a_release_teaches_nearly_as_much_as_the_truth() -> None:
    quasi = ["age", "education", "sex"]
    rows = pq.read_table(ADULT).select([*quasi, "occupation"]).drop_null()
    taken, others = rows.slice(0, 12_000), rows.slice(12_000, 8_000)
    table = gh.read(taken, quasi=quasi, sensitive="occupation")
    release = gh.publish(table, principle=gh.LDiversity(ell=4), source=gh.Source.seeded(1))
    truth = np.array(others["occupation"].to_pylist())
    by_release = gh.learn(release).classifier().score(others.select(quasi), truth)
    by_truth = PopulationClassifier().fit(taken.select(quasi), taken["occupation"]).score(others.select(quasi), truth)
    base = max(np.unique(truth, return_counts=True)[1]) / len(truth)
    assert by_truth > 2 * base
    assert by_release > base + 0.85 * (by_truth - base)
