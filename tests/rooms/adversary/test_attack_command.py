# SPDX-License-Identifier: Apache-2.0
"""The command `attack`: every way to attack, what it writes and where, exit codes, tables of other tools."""

from __future__ import annotations

import json
import stat
import xml.etree.ElementTree as ElementTree
from functools import partial
from importlib import import_module
from pathlib import Path

import pyarrow.csv as pa_csv
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.cli.progress import Foretelling

attack_command = import_module("glasshouse.cli.attack")  # the package has the function by this name
PUBLISH = "--identifier patient --quasi age,sex,zipcode --sensitive disease"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of patients, published twice."""
    path = tmp_path_factory.mktemp("attacked")
    pa_csv.write_csv(gh.synthetic.hospital_table(n=200, seed=1), path / "patients.csv")
    for out, more in (("one", "--method greedy --recoding boxes"), ("two", "--method anatomize --recoding anatomy")):
        run(path, f"publish patients.csv {PUBLISH} --ell 3 {more} --out {out}")
    return path


def run(path: Path, line: str, *, code: int = 0) -> str:
    arguments = [
        str(path / word) if (path / word).exists() or word in ("one", "two") else word for word in line.split()
    ]
    result = CliRunner().invoke(glasshouse, arguments)
    assert result.exit_code == code, result.output
    return result.output


EXTERNAL = "--external patients.csv --identifier patient"


@pytest.mark.parametrize("attack", ["linking", "reverse-engineering", "minimality", "corruption", "intersection"])
def test_every_attack_is_at_hand(folder: Path, attack: str) -> None:
    more = {"corruption": "--most-corrupted 1", "intersection": "--other two/release"}.get(attack, "")
    found = json.loads(run(folder, f"attack one/release {EXTERNAL} --attack {attack} {more} --json"))

    assert found["people"] == 200
    assert found["limit"] == "1/3"
    assert sum(found["distribution"]) == pytest.approx(1)


def test_results_go_into_the_audit_folder_and_nobody_else_can_read_them(folder: Path) -> None:
    before = {path.name for path in (folder / "one" / "release").iterdir()}
    shown = run(folder, f"attack one/release {EXTERNAL} --attack reverse-engineering --save")
    written = [folder / "one" / "audit" / f"attack-reverse-engineering.{kind}" for kind in ("csv", "json", "svg")]

    assert [stat.S_IMODE(path.stat().st_mode) for path in written] == [0o600] * 3
    assert {path.name for path in (folder / "one" / "release").iterdir()} == before
    assert pa_csv.read_csv(written[0]).num_rows == 200
    assert json.loads(written[1].read_text())["how"] == "exact"
    assert ElementTree.parse(written[2]).getroot().tag.endswith("svg")
    names = pa_csv.read_csv(written[0])["person"].to_pylist()
    assert not any(name in written[i].read_text() for name in names for i in (1, 2))
    assert "the group would have ended there" in shown


def test_a_place_inside_the_release_is_refused(folder: Path) -> None:
    assert "must not be published" in run(
        folder, f"attack one/release {EXTERNAL} --out {folder}/one/release/b.csv", code=2
    )


def test_the_exit_code_tells_whether_a_limit_was_exceeded(folder: Path) -> None:
    run(folder, f"attack one/release {EXTERNAL} --fail-above 1/3")
    run(folder, f"attack one/release {EXTERNAL} --attack reverse-engineering --fail-above 1/3", code=1)
    for limit in ("lots", "33", "2", "-1", "33%"):
        told = " ".join(run(folder, f"attack one/release {EXTERNAL} --fail-above={limit}", code=2).split())
        assert f"--fail-above takes a probability from 0 to 1, such as 1/5 or 0.2, got '{limit}'" in told


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("attack one/release", "of 200, the probability of a value is above 1/30, and the largest is"),
        ("attack two/release", "for 200 people of 200, the probability of a value is above 1/30"),
        ("attack one/release --attack reverse-engineering", "of 200, the probability of a value is above 1/30"),
        (
            "attack two/release --attack corruption --most-corrupted 1",
            "For 28 other people, only an upper bound is known",
        ),
        ("attack one/release --attack inference", "the share of correct guesses is"),
    ],
)
def test_why_the_exit_code_is_1_is_always_said(folder: Path, line: str, words: str) -> None:
    told = " ".join(run(folder, f"{line} {EXTERNAL} --fail-above 1/30", code=1).split())

    assert words in told
    assert "so the exit code is 1 (--fail-above)" in told


def test_of_a_release_that_protects_some_values_only_these_are_compared(folder: Path) -> None:
    lines = [f"p{i},{20 + i // 4},{'yes' if i % 8 == 0 else 'no'}" for i in range(160)]
    (folder / "smokers.csv").write_text("\n".join(["name,age,smokes", *lines]) + "\n")
    roles = "--identifier name --quasi age --sensitive smokes --ell 5 --designated yes --no-report"
    run(folder, f"publish smokers.csv {roles} --recoding boxes --out {folder}/some")
    people = "--external smokers.csv --identifier name"

    told = " ".join(run(folder, f"attack {folder}/some/release {people} --fail-above 1/5").split())
    assert "probabilities for the protected values of smokes, 160 people" in told
    assert "above 1/5 0.00% of people" in told
    assert "Those of the other values are not compared with a limit: the largest is" in told
    told = " ".join(run(folder, f"attack {folder}/some/release {people} --fail-above 1/30", code=1).split())
    assert "the probability of a protected value is above 1/30, and the largest is" in told


def test_what_the_attacker_found_out_is_read_from_a_file(folder: Path) -> None:
    patients = pa_csv.read_csv(folder / "patients.csv").select(["patient", "disease"]).slice(0, 3)
    pa_csv.write_csv(patients, folder / "known.csv")
    told = run(folder, f"attack one/release {EXTERNAL} --attack corruption --corrupted known.csv")
    assert "corruption" in told

    (folder / "wrong.csv").write_text("patient,disease\nnobody,flu\n")
    assert "nobody" in run(folder, f"attack one/release {EXTERNAL} --attack corruption --corrupted wrong.csv", code=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--most-corrupted 2", "can only be given with --attack corruption"),
        ("--other two/release", "can only be given with --attack intersection"),
        ("--how exact", "can only be given with --attack reverse-engineering"),
        ("--most-runs 5", "can only be given with --attack reverse-engineering"),
        ("--most-runs 0", "--most-runs"),
        ("--ell 3", "is only for a table of another tool"),
    ],
)
def test_options_of_other_attacks_are_refused(folder: Path, options: str, message: str) -> None:
    assert message in run(folder, f"attack one/release {EXTERNAL} {options}", code=2)


def test_a_table_of_another_tool_is_attacked(folder: Path) -> None:
    (folder / "theirs.csv").write_text("x,y,s\n" + "\n".join(f"1-5,1-5,{value}" for value in "bcaad") + "\n")
    people = "\n".join(f"{i},{i},{6 - i}" for i in range(1, 6))
    (folder / "people.csv").write_text(f"name,x,y\n{people}\n")
    line = "attack theirs.csv --quasi x,y --sensitive s --external people.csv --identifier name"

    assert "0.4000" in run(folder, line)
    assert "0.4000" in run(folder, f"{line} --ell 2")
    stated = f"{line} --ell 2 --method mondrian-strict --attack reverse-engineering"
    assert "reverse engineering" in run(folder, stated)
    assert "needs the method" in run(folder, f"{line} --ell 2 --attack reverse-engineering", code=2)
    assert "--quasi and --sensitive" in run(folder, "attack theirs.csv --external people.csv", code=2)


def test_an_attack_that_samples_says_soon_how_long_it_may_take(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(folder, f"publish patients.csv {PUBLISH} --ell 3 --method mondrian --recoding boxes --out {folder / 'cut'}")
    sampled = f"attack cut/release {EXTERNAL} --attack reverse-engineering --how sampled --seed 1"
    monkeypatch.setattr(attack_command, "_LONG", 0.0)
    monkeypatch.setattr(attack_command, "Foretelling", partial(Foretelling, after=0.0))
    told = " ".join(run(folder, f"{sampled} --most-runs 40", code=2).split())
    assert told.count("this attack may take up to about") == 1
    assert "fewer runs with --most-runs" in told
    assert "allow more runs (--most-runs)" in told
    assert "this attack may take" not in run(folder, f"attack one/release {EXTERNAL} --attack reverse-engineering")


def test_a_table_with_decimal_commas_and_ranges_is_read_as_the_published_one_was(folder: Path) -> None:
    rows = [f"{i};{60 + i % 40},{i % 10};{20 + i % 50};{1000 + 37 * i},5" for i in range(300)]
    (folder / "pay.csv").write_text("\n".join(["name;weight;age;salary", *rows, ""]))
    made = "--quasi weight,age --sensitive salary --bin salary=intervals:2000 --ell 3 --decimal , --recoding boxes"
    run(folder, f"publish pay.csv --identifier name {made} --out {folder / 'pay'}")
    people = "--external pay.csv --identifier name"
    forgotten = run(folder, f"attack pay/release {people}", code=2)
    assert "column 'weight' has numbers in the release" in forgotten
    assert "read the external table with --decimal ," in forgotten
    assert "--order" not in forgotten

    guesses = f"attack pay/release {people} --decimal , --attack inference"
    assert "with --bin salary=intervals:WIDTH" in run(folder, guesses, code=2)
    assert "how often does an attacker" in run(folder, f"{guesses} --bin salary=intervals:2000")


def test_values_with_decimal_commas_are_said_to_need_the_decimal_sign(folder: Path) -> None:
    rows = [f"{20 + i % 50};{1000 + 37 * i},5" for i in range(300)]
    (folder / "wage.csv").write_text("\n".join(["age;salary", *rows, ""]))
    made = "--quasi age --sensitive salary --bin salary=intervals:2000 --ell 3 --decimal ,"
    run(folder, f"publish wage.csv {made} --out {folder / 'wage'}")
    told = run(folder, "attack wage/release --external wage.csv --attack inference", code=2)
    assert "read the table with --decimal , (its numbers seem to have a decimal comma), and with the same --bin" in told
