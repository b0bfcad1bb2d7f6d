# SPDX-License-Identifier: Apache-2.0
"""A report tells what an attacker gains who learns, and the three risks that regulators name, or why it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from markupsafe import escape

import glasshouse as gh
from glasshouse.pages.report import Effort, report_on_file
from glasshouse.pages.report.effort import Sizes
from glasshouse.streaming.publish import publish_file

PATIENTS = gh.synthetic.hospital(600, seed=1)
HEADING = "The cost of being in the table</h2>"


def report(
    table: gh.Microdata = PATIENTS, recoding: Any = None, *, effort: Effort | None = None, **choices: Any
) -> gh.Report:
    given = {"principle": gh.LDiversity(ell=3), "recoding": recoding or gh.Anatomy(), **choices}
    release = gh.publish(table, source=gh.Source.seeded(1), **given)
    return gh.make_report(release, table, effort=effort or Effort(questions=20, most_worlds=1, most_runs=1, seconds=60))


@pytest.fixture(scope="module")
def anatomy() -> gh.Report:
    return report(method=gh.Anatomize())


def test_the_section_has_the_figures_of_the_learning_attack(anatomy: gh.Report) -> None:
    release = gh.publish(
        PATIENTS,
        principle=gh.LDiversity(ell=3),
        method=gh.Anatomize(),
        recoding=gh.Anatomy(),
        source=gh.Source.seeded(1),
    )
    cost = gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=PATIENTS)).cost
    assert cost is not None
    (found,) = anatomy.to_dict()["learner"]
    assert (found["ran"], found["column"], found["model"]) == (True, "disease", "learned")
    assert found["cost"] == cost.to_dict()
    page = anatomy.to_html()
    assert HEADING in page
    assert cost.sentence() in page
    for words in (
        "people in the table",
        "people outside the table, with the best possible model",
        "guessing by the overall shares",
        "people in the table, by linking only",
    ):
        assert f">{words}</th>" in page or f">{words}</td>" in page
    assert f"{cost.outsider.in_truth:.4f}" in page


def test_a_learner_who_gains_much_is_a_caution(anatomy: gh.Report) -> None:
    said = [
        caution for caution in anatomy.to_dict()["cautions"] if "learns a model from the release" in caution["text"]
    ]
    assert [caution["level"] for caution in said] == ["attention"]
    mild = report(method=gh.Separate(), recoding=gh.Boxes()).to_dict()
    assert mild["learner"][0]["ran"]
    assert not any("learns a model" in caution["text"] for caution in mild["cautions"])


def test_the_three_risks_stand_in_data_and_page(anatomy: gh.Report) -> None:
    risks = anatomy.to_dict()["risks"]
    assert [found["risk"] for found in risks] == ["singling out", "linkability", "inference"]
    assert [found["column"] for found in risks] == [None, None, "disease"]
    page = anatomy.to_html()
    for found in risks:
        assert found["ran"]
        success, baseline = found["measured"]["success"], found["measured"]["baseline"]
        assert 0 <= success["low"] <= success["rate"] <= success["high"] <= 1
        assert baseline["trials"] > 0
        assert str(escape(found["question"])) in page
    assert "The risks that regulators name</h2>" in page
    json.dumps(anatomy.to_dict())


def test_without_time_both_are_left_out_and_the_report_says_so() -> None:
    made = report(effort=Effort(cpu=0.0, divergence=False))
    facts = made.to_dict()
    assert [found["ran"] for found in (*facts["learner"], *facts["risks"])] == [False] * 4
    said = " ".join(facts["bounded"])
    assert "The cost of being in the table was not measured for disease: it can take" in said
    assert "These risks were not measured (singling out, linkability, inference): it can take" in said
    page = made.to_html()
    assert HEADING in page
    assert page.count("Not measured: it can take") >= 1
    assert "Inference was not measured: it can take" in page


def test_attacks_that_take_too_long_are_ended_and_the_report_says_so() -> None:
    (found,) = report(effort=Effort(questions=20, most_worlds=1, most_runs=1, seconds=0)).to_dict()["learner"]
    assert (found["ran"], found["bounded"]) == (False, True)
    assert found["why_not"] == "it takes longer than is allowed for a report"


def test_of_few_people_nothing_is_learned_and_the_page_says_why() -> None:
    made = report(gh.synthetic.hospital(100, seed=1))
    (found,) = made.to_dict()["learner"]
    assert (found["ran"], found["bounded"]) == (False, False)
    assert "the release has fewer than 200 people" in made.to_html()
    assert "to learn from.." not in made.to_html()


def test_without_a_sensitive_column_people_are_singled_out_and_no_value_is_inferred() -> None:
    table = gh.read({"age": [20, 21, 40, 41] * 10}, quasi=["age"])
    release = gh.publish(table, principle=gh.KAnonymity(k=2))
    made = gh.make_report(release, table)
    facts = made.to_dict()
    assert facts["learner"] == []
    assert [found["ran"] for found in facts["risks"]][2] is False
    assert facts["risks"][2]["why_not"] == "there is no sensitive column"
    assert "There is no sensitive column, so there is no sensitive value to learn." in made.to_html()


def test_every_sensitive_column_is_learned_of() -> None:
    table = gh.synthetic.hospital_table(400, seed=2)
    twice = table.append_column("again", table["disease"])
    read = gh.read(twice, quasi=["age", "sex"], sensitive=["disease", "again"])
    principle = {"disease": gh.LDiversity(ell=2), "again": gh.LDiversity(ell=2)}
    made = report(read, gh.Boxes(), principle=principle, method=gh.Mondrian())
    assert [found["column"] for found in made.to_dict()["learner"]] == ["disease", "again"]
    assert all(found["ran"] for found in made.to_dict()["learner"])
    made.to_html()


def test_what_learning_takes_grows_with_the_table() -> None:
    small, large = (Sizes(rows=rows, cells=100, values=100) for rows in (1_000, 100_000))
    assert small.learning(1_000) < 1 < 10 < large.learning(100_000)
    assert small.risk(1_000) < small.learning(1_000)


def test_a_file_that_was_never_in_memory_has_neither(tmp_path: Path) -> None:
    pq.write_table(gh.synthetic.hospital_table(600, seed=1), tmp_path / "in.parquet")
    made = publish_file(
        tmp_path / "out",
        tmp_path / "in.parquet",
        quasi=["age", "sex"],
        sensitive="disease",
        principle=gh.LDiversity(ell=3),
    )
    told = report_on_file(made)
    assert told.to_dict()["learner"] == told.to_dict()["risks"] == []
    assert "No attack was tried" in told.to_html()
