# SPDX-License-Identifier: Apache-2.0
"""An answer says by which model it was made, and why, where that is not the model that was asked for."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import glasshouse as gh
from glasshouse.analyst.answers.estimates import Estimate
from glasshouse.analyst.answers.population_answers import EVEN
from tests.rooms.cli.world import run
from tests.rooms.population.known import QUASI, people, released

FEW = "answered by the uniform model: the release has fewer than 200 people"
NOTHING = (
    "answered by the uniform model: "
    "the model learned from the release does not predict groups that were set aside for testing clearly better than "
    "overall frequencies do"
)
FEW_TELL = (
    "the intervals may be too narrow, because a value is assumed to be as probable for one member of a group as for "
    "any other member"
)
UNCLEAR = (
    "the estimates assume that a value is as probable for one member of a group as for any other member, because the "
    "release does not clearly show otherwise; the intervals allow for what it leaves open"
)
WOMEN = "SELECT COUNT(*) WHERE sex = 'F' AND ill = 'v1'"
TREE = {"all": {"north": ["A", "B", "C"], "south": ["D", "E", "F"]}}


def shuffled() -> gh.Release:
    columns = people(2_000)
    columns["ill"] = np.random.default_rng(5).permutation(columns["ill"])
    return released(columns)


def untold() -> gh.Release:
    tree = gh.Taxonomy.from_nested(TREE)
    return released(people(2_000), gh.Taxonomies(), gh.Mirror(), taxonomies={"region": tree})


def test_of_few_people_nothing_is_learned_and_the_answer_says_so() -> None:
    found = gh.query(released(people(150)), WOMEN)
    assert (found.model, found.notes) == ("uniform", (FEW, FEW_TELL))
    assert f"note: {FEW}" in str(found)
    assert FEW in repr(found)
    assert FEW in found._repr_html_()
    assert found.to_dict()["notes"] == [FEW, FEW_TELL]


@pytest.mark.parametrize(
    ("n", "n_values", "why"),
    [
        (1_200, 600, "and fewer than 5 people on average have the same one"),
        (40_000, 1_000, "which are too many to learn from in reasonable time"),
    ],
)
def test_of_a_column_with_too_many_values_nothing_is_learned(n: int, n_values: int, why: str) -> None:
    columns = people(n)
    columns["ill"] = np.array([f"text {i % n_values}" for i in range(n)])
    begun = time.process_time()
    found = gh.query(released(columns), "SELECT COUNT(*) WHERE sex = 'F' AND ill = 'text 1'")

    told = f"answered by the uniform model: the column 'ill' has {n_values:,} different values, {why}"
    assert found.notes == (told, FEW_TELL)
    assert time.process_time() - begun < 30  # learning would take minutes


def test_a_release_that_teaches_nothing_is_answered_by_the_uniform_model_with_a_note() -> None:
    found = gh.query(shuffled(), WOMEN)
    assert (found.model, found.notes) == ("uniform", (NOTHING, UNCLEAR))
    assert f"note: {NOTHING}" in str(found)


def test_cells_that_cannot_be_read_are_the_reason_that_is_given() -> None:
    found = gh.query(untold(), WOMEN)
    assert found.model == "uniform"
    assert found.notes[1:] == (FEW_TELL, EVEN)
    assert found.notes[0].startswith("answered by the uniform model: ")
    assert "'region'" in found.notes[0]
    assert "taxonomy" in found.notes[0]


def test_many_groups_carry_the_note_once() -> None:
    found = gh.query(released(people(150)), "SELECT ill, COUNT(*) WHERE sex = 'F' GROUP BY ill")
    assert len(found.keys) > 1
    assert str(found).count(FEW) == 1


@pytest.mark.parametrize("sql", ["SELECT COUNT(*) WHERE sex = 'F'", "SELECT COUNT(*) WHERE ill = 'v1'"])
def test_what_is_certain_by_any_model_needs_no_note(sql: str) -> None:
    found = gh.query(released(people(150)), sql)
    assert (found.error, found.notes) == (0.0, ())


def test_no_reason_is_given_to_those_who_asked_for_the_uniform_model() -> None:
    for release in (released(people(150)), shuffled(), untold()):
        assert gh.query(release, WOMEN, model="uniform").notes == ()


def test_a_learned_answer_does_not_say_that_it_is_uniform() -> None:
    found = gh.query(released(people(3_000, strength=1.5)), WOMEN)
    assert found.model == "learned"
    assert not any("uniform" in note for note in found.notes)


def test_workloads_evaluations_and_flat_tables_say_it_too() -> None:
    columns = people(150)
    release, table = released(columns), gh.read(columns, quasi=list(QUASI), sensitive="ill")
    workload = gh.Workload.anatomy(table, qd=2, n=20)
    assert gh.answer(release, workload).notes == (FEW, FEW_TELL)
    assert gh.answer(release, workload, model="uniform").notes == ()
    scores = gh.evaluate(release, table, workload=workload)
    assert f"note: {FEW}" in str(scores)
    assert scores.to_dict()["notes"] == [FEW, FEW_TELL]
    told = gh.sample(release).schema.metadata[b"glasshouse.notes"].decode()
    assert told == "the flat table was drawn by the uniform model: the release has fewer than 200 people"


def test_the_command_line_prints_it(tmp_path: Path) -> None:
    released(people(150)).save(tmp_path / "release", allow_seed=True)
    shown = run(f'query {tmp_path / "release"} "{WOMEN}"')
    assert f"note: {FEW}" in shown.stdout


def perturbed() -> tuple[pa.Table, gh.Release]:
    patients = gh.synthetic.hospital_table(n=3_000, seed=2)
    table = gh.read(patients, identifier="patient", quasi=["age", "sex"], sensitive="disease")
    release = gh.publish(
        table,
        principle=gh.DeltaGrowth(k=6, lambda_="0.1"),
        recoding=gh.Perturbed(p="0.3", domain=sorted(set(patients["disease"].to_pylist()))),
        source=gh.Source.seeded(2),
    )
    return patients, release


def test_a_perturbed_sample_is_answered_by_the_estimator_that_corrects_for_the_perturbation() -> None:
    patients, release = perturbed()
    true = Counter(patients["disease"].to_pylist())
    found = gh.query(release, "SELECT disease, COUNT(*) GROUP BY disease")

    assert found.model == "uniform"
    assert any("partly random" in note for note in found.notes)
    rows = found.to_arrow().to_pylist()
    covered = [row["count low"] <= true[row["disease"]] <= row["count high"] for row in rows]
    assert sum(covered) >= len(true) - 2  # the learned model's intervals covered 6 of 14


def test_quasi_identifiers_of_a_perturbed_sample_are_counted_by_what_its_cells_show() -> None:
    patients, release = perturbed()
    covered = []
    for end in range(25, 85, 5):
        for sex in ("F", "M"):
            found = gh.query(release, f"SELECT COUNT(*) WHERE age < {end} AND sex = '{sex}'")
            assert found.model != "uniform"
            true = pc.sum(pc.and_(pc.less(patients["age"], end), pc.equal(patients["sex"], sex))).as_py()
            covered.append(found.interval[0] <= true <= found.interval[1])
            assert all("wide cells" in note for note in found.notes)
    assert sum(covered) >= 0.9 * len(covered)


def test_what_is_impossible_in_a_perturbed_sample_is_said_to_be_noise() -> None:
    _, release = perturbed()
    found = gh.query(release, "SELECT disease, COUNT(*), AVG(age) WHERE age < 40 GROUP BY disease")
    assert any("count below 0" in note and "noise of the perturbation" in note for note in found.notes)
    assert EVEN in found.notes
    alone = gh.query(release, "SELECT disease, COUNT(*) GROUP BY disease")
    assert EVEN not in alone.notes  # no cell is divided


def test_the_interval_of_a_number_beyond_what_is_possible_is_not_upside_down() -> None:
    assert (Estimate.normal(-50.0, 100.0, least=0.0).low, Estimate.normal(-50.0, 100.0, least=0.0).high) == (0.0, 0.0)
    assert Estimate.normal(50.0, 1.0, most=10.0).low == 10.0


def test_answers_from_boxes_say_for_which_questions_intervals_are_too_narrow() -> None:
    found = gh.query(released(people(2_000), gh.Boxes(), gh.Mondrian()), "SELECT COUNT(*) WHERE age < 33")
    assert any("often too narrow where a condition or an average" in note for note in found.notes)
    assert "model: learned" in str(found) or "distributed as the cells of the release show" in str(found)


def test_the_words_of_the_model_cells_do_not_say_that_cells_are_even() -> None:
    found = gh.query(perturbed()[1], "SELECT COUNT(*) WHERE age < 33")
    assert found.model == "cells"
    assert "quasi-identifiers to be distributed as the cells of the release show" in str(found)
    assert "evenly within each cell" not in str(found)
