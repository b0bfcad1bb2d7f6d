# SPDX-License-Identifier: Apache-2.0
"""`learn` says in sentences what a release teaches, and keeps it; `query --keep` takes what was kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.population import learn as learning
from glasshouse.visible import is_shown
from tests.rooms.cli.world import run
from tests.rooms.population.known import people, released

SQL = "SELECT ill, COUNT(*) WHERE sex = 'F' GROUP BY ill"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learning")
    released(people(1500, strength=1.5)).save(folder / "strong", allow_seed=True)
    released(people(1500, strength=0.0)).save(folder / "none", allow_seed=True)
    released(people(1500, strength=0.0), gh.Boxes(), gh.Mirror()).save(folder / "boxes", allow_seed=True)
    released(people(90)).save(folder / "few", allow_seed=True)
    columns = {name: own for name, own in people(300).items() if name != "ill"}
    released(columns, gh.Boxes(), gh.Snug(), sensitive=[]).save(folder / "alone", allow_seed=True)
    return folder


@pytest.fixture(autouse=True)
def here(place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("strong", "none", "boxes", "few", "alone"):
        (tmp_path / name).symlink_to(place / name)


def told(line: str) -> str:
    return " ".join(run(line).stdout.split())


def test_it_says_what_was_learned() -> None:
    said = told("learn strong")
    assert "What the release says about ill by age, sex, region:" in said
    assert "A model was learned, and is used." in said
    assert "standard errors; at least 2 are required." in said
    assert all(f"{name} changes the probability of a value by a factor of" in said for name in ("age", "sex", "region"))


def test_it_says_that_nothing_was_learned() -> None:
    said = told("learn none")
    assert " is used. A model was fitted" in said
    assert "ill does not depend on age, sex, region within a group." in said
    assert "published cells" not in said
    assert "Only the distribution of people inside the published cells was learned" in told("learn boxes")
    assert "The release has no sensitive column." in told("learn alone")


def test_json_has_the_numbers() -> None:
    found = json.loads(run("learn strong --json").stdout)
    assert found["model"] == "learned"
    assert found["z"] > 2
    assert {own["name"] for own in found["influences"]} == {"age", "sex", "region"}
    factors = [own["factor"] for own in found["influences"]]
    assert factors == sorted(factors, reverse=True)
    assert json.loads(run("learn alone --json").stdout)["column"] is None


def test_what_is_kept_is_not_learned_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = run(f'query strong "{SQL}"').stdout
    assert "The model is in ill.json" in told("learn strong --out ill.json")
    assert run(f'query strong "{SQL}" --keep again.json').stdout == fresh
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "ill.json").read_bytes()

    def refuse(*_: Any) -> Any:
        raise AssertionError("something was learned")

    monkeypatch.setattr(learning, "fitted", refuse)
    assert run(f'query strong "{SQL}" --keep ill.json').stdout == fresh


def test_a_kept_file_is_not_replaced_unless_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "ill.json").write_text("mine")
    assert "exists already" in run("learn strong --out ill.json", code=2).stderr
    assert (tmp_path / "ill.json").read_text() == "mine"
    run("learn strong --out ill.json --force")
    assert "learned from another release" in run(f'query none "{SQL}" --keep ill.json', code=2).stderr
    (tmp_path / "ill.json").write_text("mine")
    assert "is damaged" in run(f'query strong "{SQL}" --keep ill.json', code=2).stderr
    assert (tmp_path / "ill.json").read_text() == "mine"


def test_nothing_is_written_into_a_release(place: Path) -> None:
    before = sorted((place / "strong").iterdir())
    for line in ("learn strong --out strong/ill.json", f'query strong "{SQL}" --keep strong/ill.json'):
        assert "lies in the release folder" in run(line, code=2).stderr
    assert sorted((place / "strong").iterdir()) == before


def test_where_nothing_can_be_learned_the_answer_comes_and_a_note_says_so(tmp_path: Path) -> None:
    assert "the release has fewer than 200 people" in run("learn few", code=2).stderr
    result = run(f'query few "{SQL}" --keep few.json')
    assert "no model was written to few.json: " in result.stderr
    assert "count" in result.stdout
    assert not (tmp_path / "few.json").exists()


def test_the_column_that_was_asked_about_is_kept(tmp_path: Path) -> None:
    columns = people(600)
    columns["job"] = columns["ill"][::-1]
    released(columns, gh.Anatomy(), gh.Snug(), sensitive=["ill", "job"]).save(tmp_path / "two", allow_seed=True)
    run("query two \"SELECT COUNT(*) WHERE job = 'v5' AND age < 40\" --keep job.json")
    assert json.loads((tmp_path / "job.json").read_text())["column"] == "job"
    assert "says about job by" in told("learn two --column job")
    assert "'age' is not a sensitive column" in run("learn two --column age", code=2).stderr


def test_names_are_shown_and_obeyed_by_nothing(tmp_path: Path) -> None:
    evil = "sex\x1b[31m\nerror: forged\u202e"
    columns = people(600, strength=1.5)
    table = pa.table({evil: columns["sex"], "age": columns["age"], f"{evil}!": columns["ill"]})
    read = gh.read(table, quasi=[evil, "age"], sensitive=f"{evil}!", accept=["line-breaks"])
    release = gh.publish(read, principle=gh.LDiversity(ell=3), recoding=gh.Anatomy(), source=gh.Source.seeded(1))
    release.save(tmp_path / "evil", allow_seed=True)
    for line in ("learn evil", "learn evil --json"):
        printed = run(line).stdout
        assert all(is_shown(one) or one == "\n" for one in printed)
        assert not any(own.strip().startswith("error:") for own in printed.splitlines())


def test_progress_is_reported(place: Path) -> None:
    parts: list[float] = []
    gh.learn(gh.load(place / "strong"), report=parts.append)
    assert parts == sorted(parts)
    assert len(parts) >= 4
    assert parts[-1] == 1.0
