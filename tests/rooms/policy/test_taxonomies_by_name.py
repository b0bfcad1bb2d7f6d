# SPDX-License-Identifier: Apache-2.0
"""Taxonomies that need no file: the same words for options, policies and the library; what is not used is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import glasshouse as gh
from glasshouse.journeys.plan import unused_taxonomies
from glasshouse.policy.choices import read_arguments
from tests.rooms.cli.world import QUICK, ROLES, make_world, run

ZIP = "--taxonomy zipcode=prefix:5"
NO_NODES = "zipcode: the taxonomy is not used, because the recoding"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_world(tmp_path, n=120)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("prefix:5", gh.Taxonomy.prefix(length=5)),
        ("intervals:10", gh.Taxonomy.intervals(width=10)),
        ("intervals:0.5", gh.Taxonomy.intervals(width=0.5)),
        ("quantiles:4", gh.Taxonomy.quantiles(n=4)),
        ("dates:month", gh.Taxonomy.dates(levels=["month"])),
        ("dates:month, year", gh.Taxonomy.dates(levels=["month", "year"])),
        ("dates", gh.Taxonomy.dates()),
    ],
)
def test_a_rule_is_the_same_for_both_options_and_for_the_library(text: str, made: gh.Taxonomy) -> None:
    reading = read_arguments({"quasi": ["a"], "taxonomy": {"a": text}, "bins": {"a": text}})

    assert gh.Taxonomy.of(text) == reading["taxonomies"]["a"] == reading["bins"]["a"] == made


@pytest.mark.parametrize("option", ["--taxonomy", "--bin"])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("prefix:x", "write prefix:LENGTH, got 'prefix:x'"),
        ("prefix", "write prefix:LENGTH, got 'prefix'"),
        ("prefix:0", "length must be an integer >= 1, got 0"),
        ("intervals:nan", "width must be a number above 0"),
        ("dates:week", "levels must be some of"),
        ("intervals:" + "9" * 5000, "a taxonomy by name is one of intervals:WIDTH"),
        ("halves:2", "or is one of intervals:WIDTH, quantiles:N, prefix:LENGTH, dates:LEVELS, got 'halves:2'"),
        ("tree.txt", "ends in .csv, .json, .yaml, .yml, or is one of intervals:WIDTH"),
    ],
)
def test_what_is_no_taxonomy_is_refused_with_the_option_that_it_stands_in(option: str, text: str, says: str) -> None:
    named = {"--taxonomy": "taxonomy", "--bin": "bins"}[option]
    with pytest.raises(gh.InputError) as caught:
        read_arguments({"quasi": ["a"], named: {"a": text}})

    assert str(caught.value).startswith(f"{option}: ")
    assert says in str(caught.value)
    assert len(str(caught.value)) < 600


def test_values_are_binned_by_a_file_too(world: Path) -> None:
    (world / "sexes.csv").write_text("F;person;*\nM;person;*\n")
    run(f"publish patients.csv --quasi sex,age --bin sex=sexes.csv --k 5 --out out {QUICK}")

    assert set(gh.load("out/release").data["sex"].to_pylist()) == {"person"}


@pytest.mark.parametrize("engine", ["--no-report", "--report brief", "--engine disk --no-report"])
def test_a_taxonomy_that_does_not_show_is_said_to_the_person_and_in_the_audit(engine: str, world: Path) -> None:
    told = run(f"publish patients.csv {ROLES} {ZIP} --ell 3 --out out {engine}")
    audit = json.loads((world / "out" / "audit" / "report.json").read_text(encoding="utf-8"))

    assert NO_NODES in told.output.replace("\n", " ")
    assert [NO_NODES in notice for notice in audit["notices"]].count(True) == 1


@pytest.mark.parametrize("recoding", ["--recoding taxonomies", "--recoding angel --recoding-with cells=taxonomies"])
def test_a_taxonomy_that_shows_is_not_spoken_of(recoding: str, world: Path) -> None:
    told = run(f"publish patients.csv {ROLES} {ZIP} --ell 3 --out out {QUICK} {recoding}")

    assert "node" not in told.stderr
    assert any("*" in cell for cell in [*gh.load("out/release").tables.values()][-1]["zipcode"].to_pylist())


def test_a_distance_along_a_taxonomy_is_a_use_of_it() -> None:
    people = {"age": [*range(12)], "ill": ["flu", "gout", "ulcer"] * 4}
    tree = gh.Taxonomy.from_nested({"any": {"a": ["flu", "gout"], "b": ["ulcer"]}})
    table = gh.read(people, quasi=["age"], sensitive="ill", taxonomies={"ill": tree})

    def told(distance: str) -> tuple[str, ...]:
        both = gh.AllOf(principles=(gh.KAnonymity(k=3), gh.TCloseness(t=0.5, distance=distance)))  # type: ignore[arg-type]
        return unused_taxonomies(table, gh.publish(table, principle=both).recipe)

    assert told("hierarchical") == ()
    assert "the taxonomy is not used" in told("equal")[0]


def test_what_was_published_is_verified_along_a_taxonomy_by_name(world: Path) -> None:
    told = run("verify any_tool_output.csv --quasi age,sex --sensitive disease --t 0.5 --taxonomy disease=prefix:30")

    assert "hierarchical" in told.output
