# SPDX-License-Identifier: Apache-2.0
"""What a column is about, by its name and by its values, and what must be decided by somebody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from tests.rooms.cli.world import run


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("diabetes", "health"),
        ("depressed", "health"),
        ("general_health", "health"),
        ("hba1c", "test result"),
        ("HbA1c", "test result"),
        ("cholesterol", "test result"),
        ("TotChol", "test result"),
        ("Blutdruck", "test result"),
        ("tension arterielle", "test result"),
        ("SexualOrientation", "sexual life"),
        ("SexNumPartnLife", "sexual life"),
        ("same_sex", "sexual life"),
        ("Konfession", "belief"),
        ("partido político", "belief"),
        ("voted", "belief"),
        ("Vorstrafen", "offence"),
        ("arrested", "offence"),
        ("condamnations", "offence"),
        ("condena", "offence"),
        ("Schulden", "money"),
        ("revenu annuel", "money"),
        ("deuda", "money"),
        ("household debt", ""),  # of the household, which others may know
        ("sex", ""),
        ("Geschlecht", ""),
        ("sector", ""),
        ("colour", ""),
    ],
)
def test_names_tell_the_topic_in_four_languages(name: str, topic: str) -> None:
    column = gh.inspect({name: ["a", "b", "c", "d"] * 5}).columns[0]

    assert (column.role == "sensitive") == bool(topic), column.reason
    assert column.reason.startswith(topic)


@pytest.mark.parametrize(
    ("values", "topic"),
    [
        (["E11.9", "I10", "J45.0", "F32.1", "C50.9", "M54.5"], "health (its values look like ICD-10 codes)"),
        (["A10BA02", "C09AA05", "N02BE01", "R03AC02", "J01CA04"], "health (its values look like ATC codes of drugs)"),
        (["positive", "negative", "inconclusive"], "test result"),
        (["Positiv", "Negativ"], "test result"),
        (["Catholic", "Muslim", "none", "Hindu"], "belief (its values name religions)"),
        (["asthma", "diabetes", "cancer", "none"], "health (its values name diseases"),
        (["A1", "A2", "B1", "B2", "C1"], ""),
        (["red", "green", "blue"], ""),
    ],
)
def test_values_tell_the_topic_where_the_name_does_not(values: list[str], topic: str) -> None:
    column = gh.inspect({"main": values * 8}).columns[0]

    assert (column.role == "sensitive") == bool(topic), column.reason
    assert column.reason.startswith(topic)


def test_what_nothing_tells_must_be_decided_and_is_said_so() -> None:
    table = {"age": [1, 2, 3, 4] * 5, "x7": ["a", "b", "b", "c"] * 5, "race": ["p", "q", "p", "q"] * 5}
    report = gh.inspect(table)

    assert [column.name for column in report.undecided] == ["x7", "race"]
    assert "decide: x7: neither its name nor its values show what it is" in " ".join(str(report).split())
    assert "decide: race: others may know it" in " ".join(str(report).split())
    decided = gh.inspect(table, roles={"x7": "sensitive", "race": "quasi"})
    assert not decided.undecided
    assert decided.suggested["sensitive"] == "x7"
    assert decided.column("x7").reason == "decided by you"


@pytest.mark.parametrize("roles", [{"shoes": "quasi"}, {"age": "secret"}])
def test_a_role_that_cannot_be_is_refused(roles: Any) -> None:
    with pytest.raises(gh.InputError):
        gh.inspect({"age": [1, 2, 3]}, roles=roles)


def test_a_terminal_is_asked_and_a_pipe_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{20 + i % 30},{'FM'[i % 2]},{'abc'[i % 3]}\n" for i in range(60))
    Path("p.csv").write_text("age,sex,x7\n" + rows)
    assert "decide: x7" in run("inspect p.csv").stdout

    monkeypatch.setattr("glasshouse.cli.inspect.at_terminal", lambda: True)
    answered = CliRunner().invoke(glasshouse, ["inspect", "p.csv"], input="s\n")
    assert answered.exit_code == 0
    assert "decide:" not in answered.stdout
    assert "--sensitive x7" in answered.stdout
    left_open = CliRunner().invoke(glasshouse, ["inspect", "p.csv"], input="\n")
    assert "decide: x7" in left_open.stdout


def test_a_weight_of_bodies_is_no_survey_weight() -> None:
    columns = {
        "weight_kg": [70.5, 81.0, 64.2, 90.1],
        "wgt": [1.5, 2.5, 1.25, 3.0],
        "ill": ["flu", "gout", "flu", "flu"],
    }
    notices = [notice for notice in gh.inspect(columns).notices if "survey weight" in notice]
    assert [notice.split()[0] for notice in notices] == ["wgt"]
