# SPDX-License-Identifier: Apache-2.0
"""Logs tell steps, counts and seconds, and never a value of the data; neither does the JSON of most commands."""

from __future__ import annotations

import json
import logging
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.cli.logs import logs
from glasshouse.log import LOGGER, step
from tests.rooms.cli.world import ROLES, run

NAMES = ["patient", "age", "sex", "zipcode", "admitted", "disease"]


def canary(name: str) -> str:
    return f"CANARY-{name}-7719"


def with_canaries(world: Path) -> None:
    """Put a value that is nowhere else into every column of the input; a number where there must be one."""
    text = pa_csv.ConvertOptions(column_types=dict.fromkeys(NAMES, pa.string()))
    table = pa_csv.read_csv(world / "patients.csv", convert_options=text)
    columns = {name: table[name].to_pylist() for name in NAMES}
    for name in NAMES:
        columns[name][7] = "771977" if name == "age" else canary(name)
    pa_csv.write_csv(pa.table(columns), world / "patients.csv")
    chosen = ["patient", "age", "sex", "zipcode"]
    voters = pa.table({"name" if name == "patient" else name: columns[name] for name in chosen})
    pa_csv.write_csv(voters, world / "voters.csv")
    pa_csv.write_csv(pa.table({name: columns[name] for name in NAMES[1:]}), world / "any_tool_output.csv")


def leaks(text: str) -> list[str]:
    return [name for name in NAMES if canary(name) in text] + ["age"] * ("771977" in text)


LINES = {
    "inspect": "inspect patients.csv",
    "init": "init patients.csv",
    "taxonomy": "taxonomy patients.csv disease=prefix:100",
    "publish": f"publish patients.csv --identifier patient {ROLES} --ell 3 --out out",
    "marginals": f"marginals patients.csv --identifier patient {ROLES} --marginal age,disease --out out",
    "verify": f"verify any_tool_output.csv {ROLES} --ell 2",
    "attack": "attack out/release --external voters.csv --identifier name --attack reverse-engineering",
    "learn": "learn out/release",
    "query": "query out/release 'SELECT disease, COUNT(*) GROUP BY disease'",
    "sample": "sample out/release --tables 2 --out flat",
    "show": "show out/release",
    "sign": "sign out/release --new-key steward.pem --signer Office",
    "compare": f"compare patients.csv {ROLES} --ell 3 --methods mirror --recodings boxes",
    "reproduce": "reproduce angel --rows 300 --questions 5",
    "studio": "studio patients.csv --no-browser",
    "demo": "demo --rows 400",
    "completion": "completion bash",
}
# What is documented to print values: inspect and taxonomy those of the table, verify the cells of the smallest groups
# of a table that is given, query those that are published.
TELLING = {"inspect", "taxonomy", "verify", "query"}


def test_no_value_of_the_input_gets_into_a_log_nor_into_json_that_does_not_promise_it(world: Path) -> None:
    with_canaries(world)
    assert set(LINES) == set(glasshouse.commands)
    for command, line in LINES.items():
        code = 1 if command == "verify" else 0
        result = run(f"{line} --verbose --log-json {command}.log --json", code=code)
        log = (world / f"{command}.log").read_text()
        assert leaks(log) == [], command
        assert leaks(result.stderr) == [], command
        if command not in TELLING:
            assert leaks(result.stdout) == [], command
        steps = [json.loads(record) for record in log.splitlines()]
        assert steps[-1]["step"] == command
        for record in steps:
            assert record.keys() <= {
                "time", "level", "step", "rows", "groups", "columns", "tables", "people", "bytes", "seconds", "error"
            }  # fmt: skip
            assert datetime.fromisoformat(record["time"]).tzinfo is not None
            numbers = {key: value for key, value in record.items() if key not in ("time", "level", "step", "error")}
            assert all(isinstance(value, int | float) for value in numbers.values())
    assert leaks(run("inspect patients.csv --json").stdout)  # so the search finds what is there


def test_errors_that_name_a_value_leave_only_their_class_in_the_log(world: Path) -> None:
    names = ["a"] * 5 + ["CANARY"] * 20
    pa_csv.write_csv(pa.table({"age": list(range(25)), "disease": names}), world / "t.csv")
    told = run("publish t.csv --quasi age --sensitive disease --ell 4 --out o --verbose --log-json l.log", code=2)
    log = (world / "l.log").read_text()

    steps, error, _ = told.stderr.partition("error: ")
    assert error
    assert "CANARY" in told.stderr  # the one value on which the user must act
    assert "CANARY" not in steps
    assert "CANARY" not in log
    assert [json.loads(line)["error"] for line in log.splitlines() if "error" in json.loads(line)] == ["Infeasible"] * 2


def test_the_journey_tells_its_steps_in_their_order_with_their_counts(world: Path) -> None:
    run(f"publish patients.csv {ROLES} --ell 3 --out out --no-flat --report brief --log-json steps.log")
    run(f"publish patients.csv {ROLES} --ell 3 --out disk --engine disk --log-json disk.log")
    steps, disk = (
        [json.loads(line) for line in (world / name).read_text().splitlines()] for name in ("steps.log", "disk.log")
    )
    by_name = {record["step"]: record for record in steps}

    assert [r["step"] for r in steps] == [
        "read",
        "count",
        "eligible",
        "divide",
        "recode",
        "recheck",
        "write",
        "report",
        "publish",
    ]
    assert [r["step"] for r in disk] == ["count", "eligible", "divide", "audit", "recheck", "report", "publish"]
    assert by_name["divide"]["rows"] == 300
    assert by_name["divide"]["groups"] == gh.load("out/release").tables["bt"]["Batch-ID"].to_pylist()[-1]
    assert by_name["write"]["bytes"] == sum(file.stat().st_size for file in Path("out/release").iterdir())
    assert by_name["publish"]["seconds"] >= by_name["divide"]["seconds"] > 0


def test_a_log_grows_and_a_dash_is_the_error_stream(world: Path) -> None:
    for _ in range(2):
        run("inspect patients.csv --log-json log.txt")
    assert len((world / "log.txt").read_text().splitlines()) == 6
    result = run("inspect patients.csv --json --log-json -")
    assert [json.loads(line)["step"] for line in result.stderr.splitlines()] == ["inspect", "eligible", "inspect"]
    assert json.loads(result.stdout)["n_tuples"] == 300


def test_a_log_that_cannot_be_written_ends_the_command_before_it_begins(world: Path) -> None:
    told = run(f"publish patients.csv {ROLES} --ell 3 --out out --log-json no/such/folder/log", code=2).stderr

    assert "no/such/folder/log cannot be written" in told
    assert not (world / "out").exists()


def test_without_being_asked_nothing_is_told(world: Path) -> None:
    assert run("inspect patients.csv --json").stderr == ""


def test_libraries_hear_the_same_through_the_logging_module(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = gh.synthetic.hospital(100, seed=1)
    with caplog.at_level(logging.INFO, logger="glasshouse"):
        gh.publish(table, out=tmp_path / "out", principle=gh.LDiversity(ell=3))
    steps = [record.step for record in caplog.records if hasattr(record, "step")]

    assert steps == ["count", "eligible", "divide", "recode", "recheck", "write"]


def test_a_step_takes_numbers_under_known_names_and_nothing_else() -> None:
    with pytest.raises(TypeError, match="disease"), step("divide", disease=3):
        pass
    with pytest.raises(ValueError, match="flu"), step("divide", rows="flu"):  # type: ignore[arg-type]
        pass


def test_records_of_others_are_not_shown_and_listeners_leave(tmp_path: Path) -> None:
    before = (list(LOGGER.handlers), LOGGER.level)
    with logs(log_json=str(tmp_path / "log")):
        LOGGER.warning("CANARY")
        logging.getLogger("glasshouse.somewhere").warning("CANARY")
        with step("divide", rows=1):
            pass

    assert [json.loads(line)["step"] for line in (tmp_path / "log").read_text().splitlines()] == ["divide"]
    assert (list(LOGGER.handlers), LOGGER.level) == before
