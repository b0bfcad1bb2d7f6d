# SPDX-License-Identifier: Apache-2.0
"""A survey's way through the doors: library, command line, policy, disk; attacks, damaged manifests, other readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.analyst.answers.workload_answers import answer
from glasshouse.cells.compound import Part
from glasshouse.cli.commands import glasshouse
from glasshouse.release.package.column_entry import Malformed, compound_parts, weight_classes
from glasshouse.streaming.publish import publish_file

ROLES: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "weight": "w"}


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    people, random = gh.synthetic.hospital(1_000, seed=2), np.random.default_rng(2)
    data = {column.name: column.domain.decode(column.codes) for column in (*people.quasi, *people.sensitive)}
    data["w"] = np.round(random.lognormal(3, 0.6, 1_000), 2)
    data["drug"] = random.choice(["aspirin", "statin", "insulin"], 1_000)
    pq.write_table(pa.table(data), tmp_path / "survey.parquet")
    return tmp_path / "survey.parquet"


def run(*words: str) -> Any:
    done = CliRunner().invoke(glasshouse, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def test_disk_and_memory_publish_the_same_bytes(survey: Path, tmp_path: Path) -> None:
    gh.publish(
        gh.read(survey, **ROLES),
        principle="3-diversity",
        source=gh.Source.seeded(4),
        out=tmp_path / "memory",
        allow_seed=True,
    )
    for engine in ("memory", "disk"):
        publish_file(
            tmp_path / f"file {engine}",
            survey,
            principle="3-diversity",
            source=gh.Source.seeded(4),
            allow_seed=True,
            engine=engine,
            partition=False,
            **ROLES,
        )
    for file in (tmp_path / "memory" / "release").iterdir():
        for engine in ("memory", "disk"):
            assert file.read_bytes() == (tmp_path / f"file {engine}" / "release" / file.name).read_bytes(), file.name


def test_the_command_line_weighs_and_a_policy_says_the_same(survey: Path, tmp_path: Path) -> None:
    truth = float(np.asarray(pq.read_table(survey)["w"]).sum())
    out = tmp_path / "out"
    roles = ["--quasi", "age,sex", "--sensitive", "disease,drug", "--weight", "w", "--together", "disease,drug"]
    run("publish", str(survey), *roles, "--ell", "3", "--recoding", "anatomy", "--report", "none", "--out", str(out))
    asked = ["query", str(out / "release"), "SELECT COUNT(*)", "--model", "uniform", "--json"]
    weighted, plain = json.loads(run(*asked).output), json.loads(run(*asked, "--unweighted").output)
    assert weighted["weighted_by"] == "w"
    assert weighted["rows"][0]["count"] == pytest.approx(truth, rel=1e-5)
    assert (plain["weighted_by"], plain["rows"][0]["count"]) == (None, 1_000)

    policy = tmp_path / "policy.toml"
    policy.write_text(
        f"""\
        [source]
        file = {json.dumps(str(survey))}
        [roles]
        quasi = ["age", "sex"]
        sensitive = ["disease", "drug"]
        weight = "w"
        together = [["disease", "drug"]]
        [principle]
        ell = 3
        [recoding]
        name = "anatomy"
        [release]
        out = "again"
        report = "none"
        """
    )
    run("publish", str(policy))
    one, other = gh.load(out / "release"), gh.load(tmp_path / "again" / "release")
    assert one.columns == other.columns
    assert one.weight is not None
    assert one.guarantee == other.guarantee
    gh.verify(one)


def test_an_attacker_who_knows_exact_weights_is_as_sure_as_one_who_knows_the_classes(survey: Path) -> None:
    table = gh.read(survey, **ROLES)
    release = gh.publish(table, principle="3-diversity", recoding=gh.Anatomy(), source=gh.Source.seeded(5))
    exact = gh.read(survey, quasi=["age", "sex", "w"])
    without = gh.read(survey, quasi=["age", "sex", "w"], bins={"w": "intervals:1000"})
    beliefs = [gh.attack(release, knowledge=gh.Knowledge(external=own)) for own in (table, exact)]
    for own in beliefs:
        assert own.presence.min() == 1.0
        assert own.worst().belief <= 1 / 3 + 1e-12
    assert np.array_equal(beliefs[0].largest[beliefs[0].kind], beliefs[1].largest[beliefs[1].kind])
    others = gh.read(pq.read_table(survey).slice(0, 500), **ROLES)
    with pytest.raises(gh.errors.InputError, match="with its exact weights"):
        gh.attack(release, knowledge=gh.Knowledge(external=others))
    with pytest.raises(gh.errors.InputError, match="not a column of numbers"):
        gh.attack(release, knowledge=gh.Knowledge(external=without))


def test_readers_that_count_records_say_so(survey: Path) -> None:
    table = gh.read(survey, **ROLES)
    release = gh.publish(table, principle="3-diversity", recoding=gh.Anatomy(), source=gh.Source.seeded(6))
    asked = gh.Workload.anatomy(table, qd=1, n=5)
    assert any("not weighted by w" in note for note in answer(release, asked, model="uniform").notes)
    assert any("not weighted by w" in note for note in gh.evaluate(release, table, workload=asked).notes)
    drawn = gh.sample(release, source=gh.Source.seeded(1))
    assert "w is the survey weight" in drawn.schema.metadata[b"glasshouse.notes"].decode()
    total = float(np.asarray(drawn["w"]).sum())
    assert total == pytest.approx(float(np.asarray(pq.read_table(survey)["w"]).sum()), rel=1e-5)
    ((people, weighed),) = (
        gh.to_duckdb(release).execute('SELECT sum("People"), sum("People" * w) FROM expected').fetchall()
    )
    assert (people, weighed) == pytest.approx((1_000, total))


def test_boxes_and_angel_are_weighted_near_the_truth(survey: Path) -> None:
    table = gh.read(survey, **ROLES)
    data = pq.read_table(survey)
    weights, old = np.asarray(data["w"]), np.asarray(data["age"]) >= 40
    for recoding in (gh.Boxes(), gh.Angel(k=3), gh.Permutation()):
        release = gh.publish(table, principle="3-diversity", recoding=recoding, source=gh.Source.seeded(7))
        for model in ("learned", "uniform"):
            found = gh.query(release, "SELECT COUNT(*) WHERE age >= 40", model=model)
            assert found.value == pytest.approx(float(weights[old].sum()), rel=0.15)


@pytest.mark.parametrize(
    "told",
    [
        None,
        {"means": ["1"], "cuts": []},
        {"means": [], "cuts": [], "deviations": []},
        {"means": [1.0], "cuts": [], "deviations": ["0"]},
        {"means": ["nan"], "cuts": [], "deviations": ["0"]},
        {"means": ["0"], "cuts": [], "deviations": ["0"]},
        {"means": ["2", "1"], "cuts": ["1.5"], "deviations": ["0", "0"]},
        {"means": ["1", "3"], "cuts": ["4"], "deviations": ["0", "0"]},
        {"means": ["1", "3"], "cuts": ["1"], "deviations": ["0", "0"]},
        {"means": ["1", "3"], "cuts": ["2"], "deviations": ["0"]},
        {"means": ["1"], "cuts": [], "deviations": ["-1"]},
        {"means": ["1e999"], "cuts": [], "deviations": ["0"]},
    ],
)
def test_damaged_classes_are_refused(told: Any) -> None:
    with pytest.raises(Malformed):
        weight_classes(told)


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        [{"name": "a", "kind": "category"}],
        [{"name": "a", "kind": "category"}, {"name": "a", "kind": "category"}],
        [{"name": "a", "kind": "category"}, {"name": "b", "kind": "secret"}],
        [{"name": "a", "kind": "category"}, {"name": 3, "kind": "category"}],
        [{"name": "a", "kind": "category"}, {"name": "b"}],
        [{"name": "a", "kind": ["category"]}, {"name": "b", "kind": "category"}],
    ],
)
def test_damaged_parts_are_refused(told: Any) -> None:
    with pytest.raises(Malformed):
        compound_parts(told, ("category",))


def test_sound_entries_are_read() -> None:
    parts = [{"name": "a", "kind": "category"}, {"name": "b", "kind": "integer"}]
    assert compound_parts(parts, ("category", "integer")) == (Part("a", "category"), Part("b", "integer"))
    assert weight_classes({"means": ["1", "2"], "cuts": ["2"], "deviations": ["0", "0.5"]})["means"] == ("1", "2")
