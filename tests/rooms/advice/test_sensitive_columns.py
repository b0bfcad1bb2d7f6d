# SPDX-License-Identifier: Apache-2.0
"""Every kind of sensitive column ends, by the command line, in a release or in commands that end in one."""

from __future__ import annotations

import random
import shlex
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

import glasshouse as gh
from glasshouse.catalog import principle_of
from glasshouse.policy.choices import principle
from glasshouse.policy.option_text import chosen
from tests.rooms.advice.columns import KINDS, QUASI, offered, released, write_table
from tests.rooms.cli.world import run

FILE = "'my people.csv'"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")


def asked_by(command: str) -> gh.Principle | dict[str, gh.Principle]:
    """The principle that the options of a command ask for, or one for each column."""
    words = shlex.split(command)
    given = {
        word[2:].replace("-", "_").replace("lambda", "lambda_"): value
        for word, value in pairwise(words)
        if word.startswith("--")
    }
    given["designated"] = tuple(value for word, value in pairwise(words) if word == "--designated")
    names = ("sensitive", "k", "ell", "designated", "alpha", "t", "rho1", "rho2", "lambda_", "recoding")
    return principle(chosen({name: given[name] for name in names if name in given}))


def check_all(commands: list[str]) -> None:
    """Every command publishes, and the release promises what the command asks for."""
    for command in commands:
        for release in released(command):
            assert str(asked_by(command)) == str(principle_of(release.recipe)), command
            assert release.guarantee.promise, command


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_publish_ends_in_a_release_or_in_commands_that_end_in_one(kind: str, tmp_path: Path) -> None:
    sensitive = write_table(tmp_path, kind)
    line = f"publish {FILE} {QUASI} --sensitive {sensitive} --ell 3 --out out --no-report"

    if kind == "many values":
        assert run(line).exit_code == 0
        return
    refused = run(line, code=2)
    commands = offered(refused)
    assert commands, refused.output
    assert refused.stderr.rstrip().endswith("glasshouse publish --help")
    several = len(commands) > 1
    assert ("Choose by what would harm a person" in refused.stderr) == several
    check_all(commands)


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_inspect_offers_commands_that_publish(kind: str, tmp_path: Path) -> None:
    sensitive = write_table(tmp_path, kind)
    shown = run(f"inspect {FILE} --sensitive {sensitive.split(',')[-1]}")

    commands = offered(shown)
    assert commands, shown.output
    assert not any("--format" in command or "--flat" in command for command in commands)  # the defaults do it
    check_all(commands[:2])  # the others are those of `publish`


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_first_policy_never_fails(kind: str, tmp_path: Path) -> None:
    sensitive = write_table(tmp_path, kind)
    run(f"init {FILE} --sensitive {sensitive.split(',')[-1]}")

    run("publish policy.toml --no-report")
    assert run("verify out").exit_code == 0
    text = Path("policy.toml").read_text()
    said = " ".join(text.replace("\n#", " ").split())
    assert ("so l-diversity is not possible" in said) == ("\nt = " in text)
    assert 'format = "csv"' in text
    n_tables = len([*Path("out/release").glob("*.csv")])
    assert Path("out/flat/table.csv").is_file() == (n_tables > 1)


def test_the_offer_for_yes_and_no_names_promise_and_cost_as_counted(tmp_path: Path) -> None:
    write_table(tmp_path, "yes and no")
    values = [line.rsplit(",", 1)[1] for line in (tmp_path / "my people.csv").read_text().splitlines()[1:]]
    n_yes, n_no = values.count("yes"), values.count("no")
    told = " ".join(run(f"publish {FILE} {QUASI} --sensitive smoker --ell 2 --out out", code=2).stderr.split())

    assert "Nobody's smoker can be inferred to be 'yes' with more than 20 % confidence (1 in 5)" in told
    assert f"Nothing is guaranteed about 'no', which {n_no} of {n_no + n_yes} records have" in told
    assert f"{n_no - n_yes} of {n_no + n_yes} records" in told  # to leave as many of either
    assert "--ell 5 --designated yes" in told
    assert "--rho1 0.2 --rho2 0.5 --domain no,yes" in told


def test_what_stands_in_the_way_of_a_command_is_repeated_in_it(tmp_path: Path) -> None:
    write_table(tmp_path, "yes and no")
    line = f"publish {FILE} {QUASI} --sensitive smoker --out out --no-report --format csv --title 'A title'"
    run(f"{line} --t 0.2")
    refused = run(f"{line} --ell 2 --method mondrian --force", code=2)

    for command in offered(refused):
        assert "'my people.csv'" in command
        assert "--format csv" in command
        assert "--title 'A title'" in command
        assert command.endswith(" --force")
        assert "--method" not in command  # the method was chosen for another promise
    run(offered(refused)[0])


def test_a_policy_that_fails_offers_commands_too(tmp_path: Path) -> None:
    write_table(tmp_path, "yes and no")
    text = '[source]\nfile = "my people.csv"\n[roles]\nquasi = ["age", "sex", "zip"]\nsensitive = "smoker"\n'
    (tmp_path / "policy.toml").write_text(text + '[principle]\nell = 2\n[release]\nout = "out"\nreport = "none"\n')

    run(offered(run("publish policy.toml", code=2))[0])
    assert run("verify out").exit_code == 0


@pytest.mark.parametrize("verb", ["publish", "inspect"])
def test_many_codes_are_offered_as_names_with_what_that_promises(verb: str, tmp_path: Path) -> None:
    sensitive = write_table(tmp_path, "many codes")
    lines = (tmp_path / "my people.csv").read_text().splitlines()[1:]
    codes = {line.rsplit(",", 1)[1] for line in lines}
    assert 20 < len(codes) <= 30
    asked = f"{FILE} --sensitive {sensitive}" + f" {QUASI} --ell 4 --out out" * (verb == "publish")
    answer = run(f"{verb} {asked}", code=2 if verb == "publish" else 0)

    told = " ".join(answer.output.split())
    assert f"Its {len(codes)} different numbers are treated as codes, not as amounts. Choose this only if" in told
    commands = offered(answer)
    assert "--bin" in commands[0]  # for it is right of codes and of amounts
    (command,) = [one for one in commands if "--categorical diagnosis" in one]
    assert "--bin" not in command
    promised = told[: told.index(command)]
    assert "can be inferred with more than" in promised[promised.rindex("treated as codes") :]
    assert "Cost: No record has to be left out" in promised[promised.rindex("treated as codes") :]
    for release in released(command):
        shown = [table["diagnosis"] for table in release.packaged.values() if "diagnosis" in table.column_names]
        assert shown
        assert {str(value) for column in shown for value in column.to_pylist()} == codes


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("income", [1_000 * (i % 40) for i in range(400)]),  # money is an amount
        ("systolic", [90 + i % 60 for i in range(400)]),  # and so is what was measured
        ("cigarettes per day", [i % 40 for i in range(400)]),
        ("diagnosis", [(i * i) % 100_003 for i in range(150)]),  # hardly any value repeats
        ("diagnosis", [0] * 300 + [17 * i for i in range(1, 101)]),
        ("diagnosis", [i % 1_200 for i in range(4_000)]),  # more than a list of codes usually has
        ("diagnosis", [i % 30 + 0.5 for i in range(400)]),
    ],
)
def test_amounts_are_not_offered_as_codes(name: str, values: list[float], tmp_path: Path) -> None:
    rows = [f"{20 + i % 50},{'FM'[i % 2]},{value}" for i, value in enumerate(values)]
    (tmp_path / "p.csv").write_text("\n".join([f"age,sex,{name}", *rows]) + "\n")
    refused = run(f"publish p.csv --quasi age,sex --sensitive '{name}' --ell 2 --out out --no-report", code=2)

    for answer in (refused, run(f"inspect p.csv --sensitive '{name}'")):
        assert offered(answer)
        assert not any("--categorical" in command for command in offered(answer))


def test_codes_are_not_offered_where_they_would_be_refused(tmp_path: Path) -> None:
    rows = [f"{20 + i % 50},{'FM'[i % 2]},{100 + i // 3 % 30 if i % 3 == 0 else 999}" for i in range(600)]
    (tmp_path / "p.csv").write_text("\n".join(["age,sex,diagnosis", *rows]) + "\n")
    refused = run("publish p.csv --quasi age,sex --sensitive diagnosis --ell 2 --out out --no-report", code=2)

    commands = [command for command in offered(refused) if "--categorical diagnosis" in command]
    assert commands
    assert not any("--ell 2" in command for command in commands)  # two thirds have one code
    check_all(commands)


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
@pytest.mark.parametrize("missing", ["category", "drop"])
def test_codes_that_gaps_made_decimals_are_offered_as_names(missing: str, tmp_path: Path) -> None:
    write_table(tmp_path, "codes with gaps")
    assert {"0.0", "1.0", ""} == {line.rsplit(",", 1)[1] for line in Path("my people.csv").read_text().split()[2:]}
    line = f"publish {FILE} {QUASI} --sensitive hiv --ell 3 --missing {missing} --out out --no-report"
    commands = offered(run(line, code=2))

    assert commands == [one.replace(" --engine disk", "") for one in offered(run(f"{line} --engine disk", code=2))]
    assert all("--categorical hiv" in command and "--bin" not in command for command in commands)
    assert any("--designated 1.0" in command for command in commands) == (missing == "drop")  # a gap has no name
    check_all(commands)
    shown = offered(run(f"inspect {FILE} --sensitive hiv"))
    assert all("--categorical hiv" in command and "--bin" not in command for command in shown)
    check_all(shown)
    run(f"init {FILE} --sensitive hiv")
    assert "\ncategorical = true" in Path("policy.toml").read_text()


@pytest.mark.parametrize("form", ["{}", "{}.0"])
@pytest.mark.parametrize("step", [1, 100])
def test_ranges_that_hold_one_whole_number_each_are_not_offered(form: str, step: int, tmp_path: Path) -> None:
    values = [step * (i % 7 if i % 20 else i // 20) for i in range(280)]
    rows = [f"{20 + i % 50},{'FM'[i % 2]},{form.format(value)}" for i, value in enumerate(values)]
    (tmp_path / "p.csv").write_text("\n".join(["age,sex,priors", *rows]) + "\n")

    for answer in (
        run("publish p.csv --quasi age,sex --sensitive priors --ell 3 --out out --no-report", code=2),
        run("inspect p.csv --sensitive priors"),
    ):
        commands = offered(answer)
        assert f"--bin priors=intervals:{2 * step} " in commands[0]
        assert not any(f"intervals:{step} " in command for command in commands)
        check_all(commands)


@pytest.mark.parametrize("kind", ["amounts", "codes"])
def test_the_refusal_of_numbers_names_no_width_of_its_own(kind: str, tmp_path: Path) -> None:
    sensitive = write_table(tmp_path, kind)
    refused = run(f"publish {FILE} {QUASI} --sensitive {sensitive} --ell 3 --out out", code=2).stderr.splitlines()

    assert f"--bin {sensitive}=intervals:WIDTH, or list the column in --categorical" in refused[0]
    assert "intervals:10" not in refused[0]
    assert any("    glasshouse publish" in line for line in refused)
    with pytest.raises(gh.DomainError, match=rf"bins={{'{sensitive}': 'intervals:WIDTH'}}"):
        gh.read("my people.csv", quasi=["age"], sensitive=sensitive)


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
@pytest.mark.parametrize("repeated", ["together", "sample"])
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_people_with_several_rows_have_commands_that_publish(repeated: str, share: float, tmp_path: Path) -> None:
    draw = random.Random(5)
    rows = [
        f"{i % 200},{20 + i % 40},{'FM'[i % 2]},{draw.choices(['positive', 'negative', 'void'], [1, 9, 1])[0]},"
        f"{round(15 + 30 * draw.random(), 1) if draw.random() < share else 45.0}"
        for i in range(300)
    ]
    (tmp_path / "p.csv").write_text("\n".join(["who,age,sex,result,ct", *rows]) + "\n")
    line = f"--identifier who --repeated {repeated} --quasi age,sex --sensitive result,ct --ell 3 --out out --no-report"
    refused = run(f"publish p.csv {line}", code=2)

    commands = offered(refused)
    assert commands
    assert all(f"--repeated {repeated}" in command and "--bin ct=" in command for command in commands)
    told = " ".join(refused.stderr.split())
    assert told.count("this was tried with other draws") == len(commands) * (repeated == "sample")
    check_all(commands * 3 if repeated == "sample" else commands)


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
def test_single_values_of_people_with_several_rows_are_protected_by_name(tmp_path: Path) -> None:
    rows = [f"{i % 200},{20 + i % 40},{'yes' if i % 11 == 0 else 'no'}" for i in range(300)]
    (tmp_path / "p.csv").write_text("\n".join(["who,age,smokes", *rows]) + "\n")
    line = "publish p.csv --identifier who --repeated together --quasi age --sensitive smokes --ell 2 --out out"
    refused = run(f"{line} --no-report", code=2)

    assert "--designated yes" in offered(refused)[0]
    n_no = len({row.split(",")[0] for row in rows if row.endswith(",no")})
    assert f"Nothing is guaranteed about 'no', which {n_no} of 200 records have" in " ".join(refused.stderr.split())
    check_all(offered(refused))


def test_a_value_with_a_comma_is_offered_in_quotes(tmp_path: Path) -> None:
    often = '"yes, often"'
    rows = "".join(f"{20 + i},{'F' if i % 2 else 'M'},{'no' if i % 8 else often}\n" for i in range(80))
    (tmp_path / "p.csv").write_text("age,sex,smokes\n" + rows)
    refused = run("publish p.csv --quasi age,sex --sensitive smokes --ell 2 --out out --no-report", code=2)

    commands = offered(refused)
    assert any("""--designated '"yes, often"'""" in command for command in commands)
    check_all(commands)


def test_the_engine_on_disk_offers_the_same(tmp_path: Path) -> None:
    write_table(tmp_path, "yes and no")
    line = f"publish {FILE} {QUASI} --sensitive smoker --ell 2 --out out --no-report"

    disk = offered(run(f"{line} --engine disk", code=2))
    assert [command.replace(" --engine disk", "") for command in disk] == offered(run(line, code=2))


def test_real_stops_have_ways_out(tmp_path: Path, shared_data: Path) -> None:
    import pyarrow.parquet as pq

    table = pq.read_table(shared_data / "stops.parquet", columns=["age", "race", "sex", "arrested"])
    pq.write_table(table.slice(0, 3_000), tmp_path / "stops.parquet")
    line = "publish stops.parquet --quasi age,race,sex --sensitive arrested --missing category --ell 2 --out out"
    refused = run(f"{line} --no-report", code=2)

    assert offered(refused)
    check_all(offered(refused))


def test_a_sensitive_date_is_advised_months() -> None:
    days = [date(2020, 1 + i % 12, 1 + i % 28) for i in range(40)]
    with pytest.raises(gh.DomainError, match=r"bins=\{'day': 'dates:month'\}"):
        gh.read({"age": list(range(40)), "day": days}, quasi=["age"], sensitive="day")


def test_the_cost_of_dropping_missing_values_is_told() -> None:
    lines = [f"{i},{['flu', 'gout', 'ulcer', ''][i % 4]}" for i in range(40)]
    Path("gaps.csv").write_text("age,disease\n" + "\n".join(lines) + "\n")
    line = "publish gaps.csv --quasi age --sensitive disease --ell 2 --out out --no-report"
    told = " ".join(run(line, code=2).stderr.split())
    category, drop = told.split("Or: ")
    assert "Cost: No record has to be left out for this." in category
    assert "Cost: 10 of 40 records, those with a missing value, are left out." in drop
    assert "No record" not in drop
    (published,) = released(next(command for command in offered(run(line, code=2)) if "--missing drop" in command))
    assert published.n_tuples == 30


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_the_cost_of_missing_values_that_were_dropped_before_a_refusal_is_told(engine: str) -> None:
    lines = [f"{i or ''},{'yes' if i % 5 == 1 else 'no'}" for i in range(41)]
    Path("gaps.csv").write_text("age,ill\n" + "\n".join(lines) + "\n")
    line = f"publish gaps.csv --quasi age --sensitive ill --ell 3 --missing drop --out out --engine {engine}"
    told = " ".join(run(line, code=2).stderr.split())
    assert "No record" not in told
    assert told.count("1 of 41 records, that with a missing value, is left out.") == told.count("Cost: ") >= 2
    assert "is left out. Of the others, 24 of 40 records (60 %) are left out." in told


def test_where_people_have_several_rows_the_rows_with_a_missing_value_are_told() -> None:
    lines = [f"{i // 2},{'' if i == 7 else 20 + i // 2},{'abcdef'[i % 6]}" for i in range(60)]
    Path("gaps.csv").write_text("id,age,ill\n" + "\n".join(lines) + "\n")
    line = "publish gaps.csv --identifier id --repeated sample --quasi age --sensitive ill --ell 2 --out out"
    told = " ".join(run(line, code=2).stderr.split())
    assert "Cost: 1 of 60 rows, that with a missing value, is left out." in told


def test_dates_are_read_as_coarsely_as_what_was_asked_for_allows() -> None:
    days = [f"{year}-{month:02}-15" for year, n in ((2020, 3), (2022, 5), (2023, 8)) for month in range(1, 13)
            for _ in range(n)]  # fmt: skip
    Path("t.csv").write_text("age,seen\n" + "".join(f"{20 + i % 60},{day}\n" for i, day in enumerate(days)))
    result = run("publish t.csv --quasi age --sensitive seen --ell 4 --out out", code=2)
    first, second, *_ = offered(result)
    assert "--bin seen=dates:quarter --ell 4" in first
    assert "--bin seen=dates:year --ell 2" in second
    assert "less than you asked for: 4-diversity is not possible here" in " ".join(result.output.split())
    check_all([first, second])
    assert (
        "--bin seen=dates:year --ell 2"
        in offered(run("publish t.csv --quasi age --sensitive seen --ell 2 --out out", code=2))[0]
    )
