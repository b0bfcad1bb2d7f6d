# SPDX-License-Identifier: Apache-2.0
"""A number of its own for each sensitive column: by options, by a policy, and by both."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.catalog import principle_of
from glasshouse.policy.choices import principle, publish_arguments
from glasshouse.policy.command_line import command_line
from glasshouse.policy.option_text import chosen
from glasshouse.policy.policy_text import policy_text
from glasshouse.policy.python_call import python_call
from tests.rooms.advice.columns import offered, released
from tests.rooms.cli.world import run

pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")

ROLES_TOLD = "--quasi age,sex --sensitive disease,drug,smoker --order smoker=never,often"
LINE = f"publish people.csv {ROLES_TOLD} --no-report --out out"
ROLES = {"quasi": ["age", "sex"], "sensitive": ["disease", "drug", "smoker"], "file": "people.csv", "out": "out"}
EACH = {"disease": gh.LDiversity(3), "drug": gh.LDiversity(2), "smoker": gh.TCloseness("0.1", distance="ordered")}
POLICY = """
[source]
file = "people.csv"
[roles]
quasi = ["age", "sex"]
sensitive = ["disease", "drug", "smoker"]
[columns.smoker]
order = ["never", "often"]
[principle]
ell = {disease = 3, drug = 2}
t = {smoker = 0.1}
distance = {smoker = "ordered"}
[release]
out = "out"
report = "none"
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    draw = random.Random(3)
    rows = [
        f"{draw.randint(20, 60)},{draw.choice('FM')},{draw.choice(['asthma', 'flu', 'gout', 'ulcer'])},"
        f"{draw.choices('XYZ', [4, 4, 2])[0]},{draw.choices(['never', 'often'], [8, 2])[0]}"
        for _ in range(200)
    ]
    Path("people.csv").write_text("\n".join(["age,sex,disease,drug,smoker", *rows]) + "\n")


def asked_of_release() -> Any:
    return principle_of(gh.load("out/release").recipe)


def test_each_column_has_its_own_number_on_the_command_line() -> None:
    run(f"{LINE} --ell disease=3 --ell drug=2 --t smoker=0.1 --distance smoker=ordered")

    assert asked_of_release() == EACH
    assert run("verify out").exit_code == 0


def test_a_policy_says_the_same_and_an_option_overrides_the_column_that_it_names() -> None:
    Path("policy.toml").write_text(POLICY)
    run("publish policy.toml")
    assert asked_of_release() == EACH

    run("publish policy.toml --ell disease=2 --force")
    assert asked_of_release() == {**EACH, "disease": gh.LDiversity(2)}

    run("publish policy.toml --t 0.15 --force")  # without a column: beside l-diversity, of every column
    assert asked_of_release()["drug"] == gh.AllOf(gh.LDiversity(2), gh.TCloseness("0.15"))


def test_a_number_for_all_columns_goes_with_one_for_each() -> None:
    told = {"sensitive": "disease,drug", "k": "4", "distinct_ell": ("2",), "entropy_ell": ("disease=2", "drug=1.5")}

    assert principle(chosen(told)) == {
        "disease": gh.AllOf(gh.KAnonymity(4), gh.DistinctLDiversity(2), gh.EntropyLDiversity(2)),
        "drug": gh.AllOf(gh.KAnonymity(4), gh.DistinctLDiversity(2), gh.EntropyLDiversity("1.5")),
    }
    assert principle(chosen({"sensitive": "disease", "recursive": ("disease=2,3",)})) == gh.RecursiveLDiversity(2, 3)


def test_an_option_without_a_column_is_given_once() -> None:
    with pytest.raises(gh.InputError, match="given twice"):
        chosen({"sensitive": "disease", "ell": ("3", "4")})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--ell disease=3", "nothing is guaranteed for the sensitive column 'drug'"),
        ("--k 5 --ell disease=3", "nothing is guaranteed for the sensitive column 'drug'"),
        ("--ell disease=3 --distance drug=ordered", "nothing is guaranteed for the sensitive column 'drug'"),
        ("--ell 2 --distance ordered", "--distance can only be given with --t"),
        ("--ell 2 --t drug=0.2 --distance disease=ordered", "--distance can only be given with --t"),
        ("--ell 2 --ell disease=3", "--ell: disease=3 is for one column, and 2 does not say for which: write COLUMN=2"),
        ("--ell disease=3 --ell disease=4", "--ell names a column twice"),
        ("--ell disease=", "--ell takes COLUMN=VALUE"),
        ("--ell ilness=3 --ell drug=2", "'ilness' is not a sensitive column"),
        ("--t diseas=0.1 --ell 2", "'diseas' is not a sensitive column: did you mean 'disease'?"),
        ("--t 0.1 --distance disease=near", "'near' is not one of 'equal', 'ordered', 'hierarchical'"),
        ("--ell disease=x --ell drug=2 --ell smoker=2", "--ell must be a whole number, not x"),
    ],
)
def test_what_is_left_open_or_wrong_is_said(options: str, words: str) -> None:
    result = run(f"{LINE} {options}", code=2)

    assert words in " ".join(result.stderr.split())
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('ell = {disease = "x"}', "ell must be a whole number for each sensitive column"),
        ("ell = {}", "ell must be a whole number for each sensitive column"),
        ("ell = [3]", "ell must be a whole number, or one for each sensitive column"),
        ("k = {disease = 3}", "k must be a whole number"),
        ("ell = {disease = 3, drugs = 2}", "'drugs' is not a sensitive column: did you mean 'drug'?"),
    ],
)
def test_a_policy_points_at_the_line_of_what_is_wrong(written: str, words: str) -> None:
    Path("policy.toml").write_text(POLICY.replace("ell = {disease = 3, drug = 2}", written))
    error = " ".join(run("publish policy.toml", code=2).stderr.split())

    assert words in error
    assert "policy.toml, line 10" in error


def test_choices_are_written_as_a_command_as_a_policy_and_as_a_program(tmp_path: Path) -> None:
    choices = {**ROLES, "ell": {"disease": "3", "drug": 2}, "t": {"smoker": "0.1"}, "distance": {"smoker": "ordered"}}
    made = command_line(choices)

    assert made.reason is None
    assert "--ell disease=3 --ell drug=2 --t smoker=0.1 --distance smoker=ordered" in str(made)
    assert publish_arguments(choices)["principle"] == EACH
    (tmp_path / "policy.toml").write_text(policy_text(choices))
    assert gh.load_policy(tmp_path / "policy.toml").publish_arguments()["principle"] == EACH
    for name, one in EACH.items():
        assert f"{name!r}: gh.{one!r}".replace("'", '"') in python_call(choices).replace("'", '"')


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("--ell disease=3 --ell drug=2", 0),
        ("--ell disease=3 --ell drug=3", 1),
        ("--distinct-ell 3 --entropy-ell drug=2.5", 0),
        ("--distinct-ell drug=4", 1),
        ("--recursive drug=2,2 --recursive disease=1,2", 0),
        ("--recursive drug=1/2,2", 1),
        ("--alpha 0.6 --k 20", 0),
        ("--alpha 0.3", 1),
        ("--t 0.2 --distance drug=ordered --order drug=X,Y,Z", 0),
        ("--t drug=0", 1),
    ],
)
def test_a_table_of_any_tool_is_verified_column_by_column(options: str, code: int) -> None:
    run(f"verify people.csv --quasi sex --sensitive disease,drug {options}", code=code)


def test_a_column_whose_name_begins_with_a_blank_is_given_in_double_quotes() -> None:
    made = command_line({**ROLES, "sensitive": ["disease", " drug"], "ell": {"disease": 3, " drug": 2}})

    assert made.reason is None
    assert {'disease," drug"', '" drug"=2'} <= {*made.arguments}


def test_what_each_column_allows_is_offered() -> None:
    refused = run(f"{LINE.replace(',smoker', '').replace('--order smoker=never,often', '')} --ell 5", code=2)

    (command,) = [one for one in offered(refused) if "--ell disease=3 --ell drug=2" in one]
    for release in released(command):
        assert principle_of(release.recipe) == {"disease": gh.LDiversity(3), "drug": gh.LDiversity(2)}


def test_where_one_column_cannot_be_diverse_the_others_still_are() -> None:
    refused = run(f"{LINE} --ell 2", code=2)

    (command,) = [one for one in offered(refused) if "--t smoker=" in one]
    assert "--ell disease=2 --ell drug=2" in command
    for release in released(command):
        found = principle_of(release.recipe)
        assert isinstance(found, dict)
        assert found["drug"] == gh.LDiversity(2)
