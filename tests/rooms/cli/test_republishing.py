# SPDX-License-Identifier: Apache-2.0
"""Publishing twice: a fresh partition of a table that was published from a folder warns, and says what to do."""

from __future__ import annotations

import json
import stat
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import glasshouse as gh
from glasshouse.journeys.marginals import publish_marginals
from tests.rooms.cli.world import QUICK, ROLES, run

QUASI = ["age", "sex", "zipcode"]


def patients(n: int = 300, seed: int = 1, **roles: Any) -> gh.Microdata:
    return as_read(gh.synthetic.hospital_table(n=n, seed=seed), **roles)


def as_read(table: pa.Table, **roles: Any) -> gh.Microdata:
    return gh.read(table, **{"quasi": QUASI, "sensitive": "disease", **roles})


def publish(out: Path, table: gh.Microdata) -> None:
    gh.publish(table, out=out, principle=gh.LDiversity(ell=3), force=True)


def is_warned(out: Path, table: gh.Microdata) -> bool:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        publish(out, table)
    found = [str(warning.message) for warning in caught if issubclass(warning.category, gh.DisclosureWarning)]
    assert all("marginals" in text and "before" in text for text in found)
    return bool(found)


def test_the_first_time_nobody_is_warned(tmp_path: Path) -> None:
    assert not is_warned(tmp_path, patients())


def test_the_same_table_warns_in_whatever_order_and_with_whatever_columns(tmp_path: Path) -> None:
    raw = gh.synthetic.hospital_table(n=300, seed=1)
    backwards = raw.take(pa.array(range(299, -1, -1)))
    publish(tmp_path, as_read(raw))

    assert is_warned(tmp_path, as_read(raw))
    assert is_warned(tmp_path, as_read(backwards))
    assert is_warned(tmp_path, as_read(raw, quasi=["zipcode", "age"]))
    assert is_warned(tmp_path, as_read(raw, top={"age": 60}))
    assert is_warned(tmp_path, as_read(raw, quasi=["age"], ordered={"age": sorted(set(raw["age"].to_pylist()))[::-1]}))
    assert is_warned(tmp_path, as_read(raw, identifier="patient"))


def test_another_table_does_not_warn_but_the_first_is_remembered(tmp_path: Path) -> None:
    publish(tmp_path, patients(seed=1))

    assert not is_warned(tmp_path, patients(seed=2))
    assert not is_warned(tmp_path, patients(n=299, seed=3))
    assert is_warned(tmp_path, patients(seed=1))


def test_people_who_come_again_among_others_are_counted_by_their_identifiers(tmp_path: Path) -> None:
    raw = gh.synthetic.hospital_table(n=300, seed=1)
    publish(tmp_path, as_read(raw.slice(0, 200), identifier="patient"))

    with pytest.warns(gh.DisclosureWarning, match="50 people of this table were published"):
        publish(tmp_path, as_read(raw.slice(150), identifier="patient"))


def test_the_command_line_says_so_in_a_line_and_goes_on(world: Path) -> None:
    line = f"publish patients.csv {ROLES} --ell 3 --out out --force {QUICK}"
    assert "before" not in run(line).stderr
    again = run(line)

    assert "warning: this table was published from this folder before" in again.stderr
    assert "glasshouse marginals" in again.stderr


def test_a_file_larger_than_memory_warns_too(world: Path) -> None:
    line = f"publish patients.csv {ROLES} --ell 3 --engine disk --out out --force"
    assert "before" not in run(line).stderr
    assert "published from this folder before" in run(line).stderr
    in_memory = line.replace("--engine disk", QUICK)
    assert "published from this folder before" in run(in_memory).stderr


def test_marginals_do_not_warn_and_keep_the_trace(tmp_path: Path) -> None:
    publish(tmp_path, patients())
    publish_marginals(tmp_path, patients(), marginals=[["age", "disease"]])

    assert is_warned(tmp_path, patients())


def test_the_trace_is_private_keyed_and_holds_no_value(tmp_path: Path) -> None:
    raw = gh.synthetic.hospital_table(n=300, seed=1)
    texts = []
    for out in (tmp_path / "one", tmp_path / "two"):
        publish(out, as_read(raw, identifier="patient"))
        file = out / "audit" / "published.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        texts.append(file.read_text())
    one, two = map(json.loads, texts)

    assert len(bytes.fromhex(one["key"])) == 32
    assert one["key"] != two["key"]
    assert not set(one["tables"][0]["columns"].values()) & set(two["tables"][0]["columns"].values())
    values = {str(v) for name in ("patient", "disease") for v in raw[name].to_pylist()}
    assert not any(value in texts[0] for value in values)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"key": "xyz", "tables": []}', '{"key": "00", "tables": [3]}'])
def test_a_trace_that_was_damaged_is_refused_and_not_silently_forgotten(content: str, tmp_path: Path) -> None:
    publish(tmp_path, patients())
    (tmp_path / "audit" / "published.json").write_text(content)

    with pytest.raises(gh.OutputError, match=r"published\.json was changed since Glasshouse wrote it"):
        publish(tmp_path, patients())


def test_columns_of_every_kind_leave_the_same_trace_from_any_file(tmp_path: Path) -> None:
    table = pa.table(
        {
            "born": pa.array([1, 2, 3, 4, 5, 6], pa.int32()).cast(pa.date32()),
            "height": [1.5, 1.6, 1.7, 1.8, 1.9, 2.0],
            "smokes": [True, False, True, False, True, False],
            "children": pa.array([0, 1, 2, 3, 4, 5], pa.int8()),
            "disease": ["flu", "gout", "flu", "gout", "flu", "gout"],
        }
    )
    pa_csv.write_csv(table, tmp_path / "table.csv")
    for name in ("born", "height", "smokes", "children"):
        gh.publish(gh.read(table, quasi=[name]), out=tmp_path / name, principle=gh.KAnonymity(k=2))
        again = gh.read(tmp_path / "table.csv", quasi=[name])
        with pytest.warns(gh.DisclosureWarning, match="this table was published"):
            gh.publish(again, out=tmp_path / name, principle=gh.KAnonymity(k=2), force=True)
