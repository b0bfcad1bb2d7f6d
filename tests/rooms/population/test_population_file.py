# SPDX-License-Identifier: Apache-2.0
"""What was learned, kept in a file: the same answers, and nothing is taken that is damaged or of another release."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.population import learn as learning
from glasshouse.population.population_file import PopulationFile, _checksum, digest_of
from tests.rooms.population.known import people, released

SQL = "SELECT ill, COUNT(*), AVG(age) WHERE sex = 'F' GROUP BY ill"


@pytest.fixture(scope="module")
def release() -> gh.Release:
    return released(people(1500, strength=1.5), gh.Angel(k=4), gh.Mirror())


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "_kept", type(learning._kept)())


@pytest.fixture
def no_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("something was learned")

    monkeypatch.setattr(learning, "fitted", refuse)


def test_a_kept_model_gives_the_same_answers(
    release: gh.Release,
    tmp_path: Path,
    forgotten: None,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    fresh, answer = gh.learn(release, keep=tmp_path / "ill.json"), gh.query(release, SQL)
    assert answer.model == "learned"

    monkeypatch.setattr(learning, "_kept", type(learning._kept)())
    request.getfixturevalue("no_learning")
    again = gh.learn(release, keep=tmp_path / "ill.json")
    assert again is not fresh
    assert again.fitted.weights.tolist() == fresh.fitted.weights.tolist()
    assert again.deviations.tolist() == fresh.deviations.tolist()
    assert gh.query(release, SQL).to_dict() == answer.to_dict()
    assert again.influences() == fresh.influences()
    assert repr(again) == repr(fresh)


def test_a_kept_model_of_nothing_is_nothing(tmp_path: Path, forgotten: None) -> None:
    columns = people(800)
    columns["ill"] = np.random.default_rng(1).permutation(columns["ill"])
    release = released(columns)
    gh.learn(release).save(tmp_path / "ill.json")
    assert json.loads((tmp_path / "ill.json").read_text())["weights"] == []
    again = gh.Population.load(tmp_path / "ill.json", release)
    assert again.model == "uniform"
    assert not again.fitted.weights.any()


def test_a_release_is_the_same_however_it_is_stored(tmp_path: Path, forgotten: None) -> None:
    release = released(people(600, strength=1.5))
    for format in ("parquet", "csv"):
        release.save(tmp_path / format, format=format, allow_seed=True)
        assert digest_of(gh.load(tmp_path / format)) == digest_of(release)
    gh.learn(release, keep=tmp_path / "ill.json")
    gh.Population.load(tmp_path / "ill.json", gh.load(tmp_path / "csv"))


def test_nothing_is_learned_beside_what_is_kept(release: gh.Release, tmp_path: Path) -> None:
    """`learn` looks nowhere by itself, and writes nowhere."""
    before = sorted(tmp_path.iterdir())
    gh.learn(release)
    assert sorted(tmp_path.iterdir()) == before


def test_another_release_is_refused(release: gh.Release, tmp_path: Path) -> None:
    gh.learn(release, keep=tmp_path / "ill.json")
    content = (tmp_path / "ill.json").read_bytes()
    columns = people(1500, strength=1.5)
    columns["age"][0] += 1
    other = released(columns, gh.Angel(k=4), gh.Mirror())
    assert digest_of(other) != digest_of(release)
    with pytest.raises(gh.SourceError, match="learned from another release"):
        gh.learn(other, keep=tmp_path / "ill.json")
    assert (tmp_path / "ill.json").read_bytes() == content


def test_another_column_is_refused(tmp_path: Path) -> None:
    columns = people(600)
    columns["job"] = columns["ill"][::-1]
    release = released(columns, gh.Anatomy(), gh.Snug(), sensitive=["ill", "job"])
    gh.learn(release, "job", keep=tmp_path / "job.json")
    assert gh.learn(release, keep=tmp_path / "job.json").column == "job"
    with pytest.raises(gh.InputError, match="about 'job', and not about 'ill'"):
        gh.learn(release, "ill", keep=tmp_path / "job.json")


def test_other_taxonomies_are_refused(tmp_path: Path) -> None:
    tree = gh.Taxonomy.from_nested({"all": {"north": ["A", "B", "C"], "south": ["D", "E", "F"]}})
    wider = gh.Taxonomy.from_nested({"all": {"north": ["A", "B", "C", "G"], "south": ["D", "E", "F"]}})
    release = released(people(600), gh.Taxonomies(), gh.Mirror(), taxonomies={"region": tree})
    gh.learn(release, taxonomies={"region": tree}, keep=tmp_path / "ill.json")
    gh.learn(release, taxonomies={"region": tree}, keep=tmp_path / "ill.json")
    with pytest.raises(gh.SourceError, match="learned with other taxonomies"):
        gh.learn(release, taxonomies={"region": wider}, keep=tmp_path / "ill.json")


def changed(path: Path, change: Any) -> None:
    """Change what a file says, and give it a right checksum."""
    data = json.loads(path.read_text())
    data.pop("checksum")
    change(data)
    path.write_text(json.dumps({**data, "checksum": _checksum(data)}))


CHANGES: dict[str, tuple[Any, str]] = {
    "a later format": (lambda data: data.update(format_version=2), "has the format 2"),
    "no format": (lambda data: data.pop("format"), "is not a file with what was learned"),
    "an odd format": (lambda data: data.update(format_version="1"), "of an unknown kind"),
    "no weights": (lambda data: data.pop("weights"), "entry 'weights' is missing"),
    "text": (lambda data: data["weights"][0].__setitem__(0, "a"), "something other than numbers"),
    "a huge weight": (lambda data: data["weights"][0].__setitem__(0, 1e300), "too large for a model"),
    "a row less": (lambda data: data["weights"].pop(), "as many rows and columns"),
    "a ragged row": (lambda data: data["weights"][0].pop(), "something other than numbers"),
    "a ridge of 0": (
        lambda data: data["ridges"].__setitem__(0, 0),
        "a ridge, which is a parameter of the model, is not above 0",
    ),
    "no z": (lambda data: data.update(z=None), "entry 'z' is missing"),
    "z too low": (lambda data: data.update(z=1.0), "says that nothing was learned"),
    "another model": (lambda data: data.update(model="uniform"), "does not agree with its numbers"),
    "another value": (lambda data: data["values"].__setitem__(0, "x"), "other taxonomies or orders, or by another"),
    "another block": (lambda data: data["blocks"].reverse(), "other taxonomies or orders, or by another"),
    "another attribute": (lambda data: data["attributes"].pop(), "no table of the release"),
    "no attribute": (lambda data: data.update(attributes=[1]), "an attribute without a name"),
    "another column": (lambda data: data.update(column="age"), "'age' is not a sensitive column"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_does_not_fit_is_refused(name: str, release: gh.Release, tmp_path: Path) -> None:
    change, words = CHANGES[name]
    gh.learn(release).save(tmp_path / "ill.json")
    changed(tmp_path / "ill.json", change)
    with pytest.raises(gh.InputError, match=words):
        gh.Population.load(tmp_path / "ill.json", release)


def test_damaged_files_are_refused(release: gh.Release, tmp_path: Path) -> None:
    path = tmp_path / "ill.json"
    gh.learn(release).save(path)
    whole = path.read_bytes()
    PopulationFile.read(path)
    digit = whole.index(b'"weights"') + 14
    digit += next(i for i, byte in enumerate(whole[digit:]) if chr(byte) in "12345678")
    for damaged in (
        b"",
        whole[: len(whole) // 2],
        b"[" * 100_000,
        whole.replace(b'"z"', b'"z": 3, "z"', 1),
        whole[:digit] + b"9" + whole[digit + 1 :],
        b"\xff" + whole,
        b"3",
    ):
        path.write_bytes(damaged)
        with pytest.raises(gh.SourceError, match=r"is damaged|is not a file with what was learned"):
            gh.Population.load(path, release)
    with pytest.raises(gh.SourceError, match="cannot read"):
        gh.Population.load(tmp_path / "none.json", release)
    with pytest.raises(gh.SourceError, match="cannot read"):
        gh.learn(release, keep=tmp_path)


def test_what_is_no_plain_file_is_refused_at_once(release: gh.Release, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    for name in ("pipe", "endless", "."):
        with pytest.raises(gh.SourceError, match="it is a folder or a device, not a file"):
            gh.Population.load(tmp_path / name, release)
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(gh.SourceError, match="too large"):
        gh.Population.load(tmp_path / "huge", release)


def test_lists_without_an_end_under_a_right_checksum_are_refused(release: gh.Release, tmp_path: Path) -> None:
    for depth in (100, 900, 100_000):
        content = f'{{"format": "glasshouse population", "format_version": 1, "z": {"[" * depth}{"]" * depth}}}'
        (tmp_path / "deep.json").write_text(content)
        with pytest.raises(gh.SourceError, match="is damaged"):
            gh.Population.load(tmp_path / "deep.json", release)


def test_a_place_that_cannot_be_written_is_refused(release: gh.Release, tmp_path: Path) -> None:
    with pytest.raises(gh.OutputError):
        gh.learn(release, keep=tmp_path / "nowhere" / "ill.json")


def test_what_tells_most_comes_first() -> None:
    columns = people(3000, strength=0.0)
    rng = np.random.default_rng(2)
    by_sex = np.where(columns["sex"] == "F", rng.integers(0, 5, 3000), rng.integers(3, 8, 3000))
    columns["ill"] = np.array([f"v{i}" for i in range(8)])[by_sex]
    first, *others = gh.learn(released(columns)).influences()
    assert first.name == "sex"
    assert first.factor > 2
    assert first.determined > 3
    assert all(1 <= other.factor < 1.3 for other in others)
