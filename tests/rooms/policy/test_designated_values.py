# SPDX-License-Identifier: Apache-2.0
"""Designated values of several sensitive columns: by options, by a policy, and by both; each column has its own."""

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

LINE = "publish people.csv --quasi age,sex --sensitive disease,drug --out out --no-report"
BOTH = {
    "disease": gh.DesignatedLDiversity(ell=4, values=("HIV", "hepatitis")),
    "drug": gh.DesignatedLDiversity(ell=4, values=("X",)),
}
POLICY = """
[source]
file = "people.csv"
[roles]
quasi = ["age", "sex"]
sensitive = ["disease", "drug"]
[principle]
ell = 4
designated = {disease = ["HIV", "hepatitis"], drug = ["X"]}
[release]
out = "out"
report = "none"
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    draw = random.Random(2)
    rows = [
        f"{draw.randint(20, 60)},{draw.choice('FM')},"
        f"{draw.choices(['none', 'HIV', 'hepatitis', 'flu'], [6, 1, 1, 2])[0]},{draw.choices('XYZ', [1, 8, 1])[0]}"
        for _ in range(200)
    ]
    Path("people.csv").write_text("\n".join(["age,sex,disease,drug", *rows]) + "\n")


def asked_of_release() -> Any:
    return principle_of(gh.load("out/release").recipe)


def test_each_column_has_its_own_values_on_the_command_line() -> None:
    run(f"{LINE} --ell 4 --designated disease=HIV,hepatitis --designated drug=X")

    assert asked_of_release() == BOTH
    assert run("verify out").exit_code == 0


def test_a_column_that_is_not_named_is_protected_as_a_whole() -> None:
    told = {"sensitive": "disease,drug", "ell": "4", "designated": ("drug=X",)}

    assert principle(chosen(told)) == {"disease": gh.LDiversity(ell=4), "drug": BOTH["drug"]}


def test_other_promises_are_for_every_column() -> None:
    told = {"sensitive": "disease,drug", "ell": "4", "k": "6", "designated": ("drug=X", "drug=Z")}

    assert principle(chosen(told)) == {
        "disease": gh.AllOf(gh.KAnonymity(6), gh.LDiversity(ell=4)),
        "drug": gh.AllOf(gh.KAnonymity(6), gh.DesignatedLDiversity(ell=4, values=("X", "Z"))),
    }
    run(f"{LINE} --ell 2 --k 6 --designated disease=HIV --designated drug=X,Z")
    assert run("verify out").exit_code == 0


@pytest.mark.parametrize(
    ("sensitive", "designated", "values"),
    [
        ("drug", ("X,Z",), ("X", "Z")),
        ("drug", ("X", "Z"), ("X", "Z")),
        ("drug", ("drug=X,Z",), ("X", "Z")),
        ("drug", ("a=b", "c"), ("a=b", "c")),  # a value with an equals sign, where there is no doubt
        ("drug", ("drug=a=b",), ("a=b",)),
        ("disease,drug", ("X",), ("X",)),
    ],
)
def test_values_without_a_column_are_those_of_every_column(
    sensitive: str, designated: tuple[str, ...], values: tuple[str, ...]
) -> None:
    found = principle(chosen({"sensitive": sensitive, "ell": "3", "designated": designated}))

    assert found == gh.DesignatedLDiversity(ell=3, values=values)


@pytest.mark.parametrize(
    ("designated", "words"),
    [
        (
            "--designated diseas=HIV",
            "--designated: 'diseas' is not a sensitive column: did you mean 'disease'?",
        ),
        (
            "--designated age=30",
            "--designated: 'age' is not a sensitive column: the sensitive columns are 'disease', 'drug'",
        ),
        (
            "--designated HIV --designated drug=X",
            "--designated: drug=X names a column and HIV does not, so that it is not clear whose value it is: write "
            "COLUMN=VALUES each time, such as disease=HIV",
        ),
        ("--designated disease=", "--designated takes COLUMN=VALUES, got 'disease='"),
        ("--designated =HIV", "--designated takes COLUMN=VALUES, got '=HIV'"),
    ],
)
def test_a_column_that_is_unknown_or_left_open_is_said(designated: str, words: str) -> None:
    refused = run(f"{LINE} --ell 4 {designated}", code=2)

    assert words in " ".join(refused.stderr.split())
    assert not Path("out").exists()


def test_a_value_that_only_one_column_has_leads_to_the_name_of_the_column() -> None:
    refused = run(f"{LINE} --ell 4 --designated HIV", code=2)

    told = " ".join(refused.stderr.split())
    assert "designated value 'HIV' does not occur in column 'drug'" in told
    assert "name the column of each value, such as --designated disease=HIV" in told
    run(f"{LINE} --ell 2 --designated disease=HIV --designated drug=X")


def test_designated_values_need_an_ell() -> None:
    for others in ("--t 0.2", "--k 3", "--k 6 --rho1 0.2 --rho2 0.5"):
        refused = run(f"{LINE} {others} --designated drug=X", code=2)
        assert "--designated can only be given with --ell" in " ".join(refused.stderr.split())


# --- policies ---------------------------------------------------------------------------------------------------------


def test_a_policy_says_the_same() -> None:
    Path("policy.toml").write_text(POLICY)

    assert gh.load_policy("policy.toml").publish_arguments()["principle"] == BOTH
    run("publish policy.toml")
    assert asked_of_release() == BOTH
    section = POLICY.replace("designated = {", "[principle.designated]\n").replace('"], drug', '"]\ndrug')
    Path("section.toml").write_text(section.replace('["X"]}', '["X"]'))
    assert gh.load_policy("section.toml").choices == gh.load_policy("policy.toml").choices


def test_an_option_overrides_the_column_that_it_names() -> None:
    Path("policy.toml").write_text(POLICY)
    run("publish policy.toml --designated drug=Z")
    assert asked_of_release() == {**BOTH, "drug": gh.DesignatedLDiversity(ell=4, values=("Z",))}

    Path("policy.toml").write_text(POLICY.replace('{disease = ["HIV", "hepatitis"], drug = ["X"]}', '["flu"]'))
    run("publish policy.toml --designated disease=HIV,hepatitis --designated drug=X --force")
    assert asked_of_release() == BOTH


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('{diseas = ["HIV"]}', "'diseas' is not a sensitive column: did you mean 'disease'?"),
        ('{disease = "HIV"}', "designated must be a list of values for each sensitive column"),
        ("{disease = []}", "designated must be a list of values for each sensitive column"),
        ("{}", "designated must be a list of values for each sensitive column"),
    ],
)
def test_a_policy_points_at_the_line_of_what_is_wrong(written: str, words: str) -> None:
    text = POLICY.replace('{disease = ["HIV", "hepatitis"], drug = ["X"]}', written)
    Path("policy.toml").write_text(text)
    with pytest.raises(gh.PolicyError) as refused:
        gh.load_policy("policy.toml")

    assert words in str(refused.value)
    assert refused.value.line == text.splitlines().index(f"designated = {written}") + 1


def test_a_policy_may_leave_the_sensitive_columns_to_the_command() -> None:
    Path("policy.toml").write_text(POLICY.replace('sensitive = ["disease", "drug"]\n', ""))

    run("publish policy.toml --sensitive disease,drug")
    assert asked_of_release() == BOTH


# --- the same as a command, a policy and a program --------------------------------------------------------------------


def test_choices_are_written_as_a_command_as_a_policy_and_as_a_program() -> None:
    choices = {
        "file": "people.csv",
        "quasi": ["age", "sex"],
        "sensitive": ["disease", "drug"],
        "ell": 4,
        "designated": {"disease": ["HIV", "hepatitis"], "drug": ["X"]},
        "out": "out",
    }
    made = command_line(choices)

    assert "--ell 4 --designated disease=HIV,hepatitis --designated drug=X" in str(made)
    assert policy_text(choices).count('designated = {disease = ["HIV", "hepatitis"], drug = ["X"]}') == 1
    assert "gh.DesignatedLDiversity(ell=4" in python_call(choices)
    assert publish_arguments(choices)["principle"] == BOTH
    quoted = command_line({**choices, "designated": {"disease": ["HIV, acute"]}})
    assert """--designated 'disease="HIV, acute"'""" in str(quoted)
    one = command_line({**choices, "sensitive": ["disease"], "designated": ["a=b"]})
    assert "--designated a=b" in str(one)
    two = command_line({**choices, "designated": ["a=b"]})
    assert "--designated" in str(two.reason)  # it would be a column


# --- advice -----------------------------------------------------------------------------------------------------------


def test_two_yes_and_no_columns_are_offered_their_rarer_values() -> None:
    draw = random.Random(4)
    rows = [
        f"{draw.randint(20, 60)},{draw.choice('FM')},"
        f"{draw.choices(['no', 'yes'], [9, 1])[0]},{draw.choices(['never', 'some', 'much'], [16, 1, 1])[0]}"
        for _ in range(200)
    ]
    Path("habits.csv").write_text("\n".join(["age,sex,smokes,drinks", *rows]) + "\n")
    refused = run("publish habits.csv --quasi age,sex --sensitive smokes,drinks --ell 3 --out out", code=2)

    (command,) = [one for one in offered(refused) if "--designated" in one]
    assert "--designated smokes=yes --designated drinks=" in command
    told = " ".join(refused.stderr.split())
    assert "Nobody's smokes can be inferred to be 'yes' with more than 20 % confidence" in told
    assert "Nothing is guaranteed about 'no' of smokes" in told
    for release in released(command):
        found = principle_of(release.recipe)
        assert isinstance(found, dict)
        assert {name: set(one.values) for name, one in found.items()} == {"smokes": {"yes"}, "drinks": {"some", "much"}}


def test_beside_a_diverse_column_only_the_other_is_offered_its_rarer_values() -> None:
    draw = random.Random(4)
    rows = [
        f"{draw.randint(20, 60)},{draw.choice('FM')},{draw.choice('abcdefgh')},{draw.choices(['no', 'yes'], [9, 1])[0]}"
        for _ in range(200)
    ]
    Path("habits.csv").write_text("\n".join(["age,sex,ill,smokes", *rows]) + "\n")
    refused = run("publish habits.csv --quasi age,sex --sensitive ill,smokes --ell 3 --out out", code=2)

    (command,) = [one for one in offered(refused) if "--designated" in one]
    assert "--designated smokes=yes" in command
    for release in released(command):
        assert principle_of(release.recipe) == {
            "ill": gh.LDiversity(ell=5),
            "smokes": gh.DesignatedLDiversity(ell=5, values=("yes",)),
        }
