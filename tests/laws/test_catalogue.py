"""Everything in the catalogue is tried here, and can be written down and made again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pytest

import glasshouse as gh
from glasshouse import catalog
from tests.laws.people import PLACES, People
from tests.laws.samples import EVERY_RECODING, METHOD_VARIANTS, METHODS, PRINCIPLES, RECODINGS, TARGETS

TRIED: dict[str, tuple[Mapping[str, type[Any]], list[Any]]] = {
    "principles": (catalog.PRINCIPLES, [sample.principle for sample in PRINCIPLES]),
    "methods": (catalog.METHODS, METHOD_VARIANTS),
    "recodings": (catalog.RECODINGS, [sample.recoding for sample in EVERY_RECODING]),
    "targets": (catalog.TARGETS, TARGETS),
}
EVERYTHING = [thing for _, things in TRIED.values() for thing in things]


@pytest.mark.parametrize("room", TRIED)
def test_everything_in_the_catalogue_has_samples_here(room: str) -> None:
    classes, samples = TRIED[room]

    assert set(classes.values()) == {type(sample) for sample in samples}
    assert {cls.name: cls for cls in classes.values()} == classes


@pytest.mark.parametrize("room", TRIED)
def test_every_parameter_is_tried_with_two_values_or_more(room: str) -> None:
    classes, samples = TRIED[room]
    tried = {
        (cls, field.name): {repr(getattr(sample, field.name)) for sample in samples if type(sample) is cls}
        for cls in classes.values()
        for field in fields(cls)
    }

    assert [] == [f"{cls.__name__}.{name}" for (cls, name), values in tried.items() if len(values) < 2]


def test_all_catalogued_classes_are_public_names() -> None:
    assert [] == [type(thing).__name__ for thing in EVERYTHING if getattr(gh, type(thing).__name__) is not type(thing)]


@pytest.mark.parametrize("thing", EVERYTHING, ids=repr)
def test_what_an_object_prints_makes_it_again(thing: Any) -> None:
    names = {name: getattr(gh, name) for name in gh.__all__}

    assert thing == eval(repr(thing), {"__builtins__": {}}, names)


@pytest.mark.parametrize(
    ("room", "thing"), [(room, thing) for room, (_, things) in TRIED.items() for thing in things], ids=repr
)
def test_an_object_survives_json(room: str, thing: Any) -> None:
    data = thing.to_data() if hasattr(thing, "to_data") else catalog.to_data(thing)

    assert thing == catalog.from_data(TRIED[room][0], json.loads(json.dumps(data)))


@pytest.mark.parametrize("thing", EVERYTHING, ids=repr)
def test_an_object_cannot_be_changed(thing: Any) -> None:
    name = next((field.name for field in fields(thing)), "anything")

    with pytest.raises((AttributeError, TypeError)):
        setattr(thing, name, 3)


@pytest.mark.parametrize("recoding", EVERY_RECODING, ids=repr)
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_recipe_survives_json_and_becomes_the_same_objects(method: Any, recoding: Any) -> None:
    for sample in PRINCIPLES:
        recipe = gh.Recipe(
            principle=sample.principle.to_data(),
            method=catalog.to_data(method),
            recoding=catalog.to_data(recoding.recoding),
            quasi=("age", "zip"),
            sensitive=("disease",),
            suppress="1/20",
            seeded=True,
        )

        again = gh.Recipe.from_data(json.loads(json.dumps(recipe.to_data())))

        assert recipe == again
        assert sample.principle == catalog.principle_of(again)
        assert method == catalog.method_of(again)
        assert recoding.recoding == catalog.recoding_of(again)


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_the_recipe_of_a_release_makes_its_recoding_again(recoding: Any) -> None:
    table = People(
        columns={"place": ["Lund", "Oulu"] * 2, "age": [1, 2, 3, 4], "sensitive": list("abba")},
        quasi=("place", "age"),
        trees={"place": PLACES},
    )
    release = gh.publish(table.read(), principle=gh.LDiversity(ell=2), recoding=recoding.on(table))

    again = gh.Recipe.from_data(json.loads(json.dumps(release.recipe.to_data())))

    assert recoding.on(table) == catalog.recoding_of(again)
    assert release.recipe == again


@pytest.mark.parametrize(
    "column",
    [
        "disease",
        "name",
        "principles",
    ],
)
def test_principles_by_column_survive_json_whatever_the_column_is_called(column: str) -> None:
    principles = {column: gh.LDiversity(ell=2), "other": gh.TCloseness(t="1/3")}
    table = gh.read(
        {"age": [1, 2], column: ["a", "b"], "other": ["x", "y"]}, quasi=["age"], sensitive=[column, "other"]
    )
    recipe = gh.publish(table, principle=principles).recipe

    again = gh.Recipe.from_data(json.loads(json.dumps(recipe.to_data())))

    assert principles == catalog.principle_of(again)


@pytest.mark.parametrize("principle", [*TRIED["principles"][1], *TARGETS], ids=repr)
def test_a_principle_says_in_plain_words_what_it_means_for_a_person(principle: gh.Principle) -> None:
    said = principle.for_person("disease", "an attacker who knows everybody's age")

    assert said.endswith(".")
    assert "disease" in said
    assert "attacker" in said
    for words in (principle.in_words, principle.left_open):
        assert words[0].isupper()
        assert words.endswith(".")
