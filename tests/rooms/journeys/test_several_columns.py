# SPDX-License-Identifier: Apache-2.0
"""Tables with several sensitive columns, from file to guarantee: defaults, promises, people left out, every engine."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.journeys.load import promised_by_recipe
from glasshouse.recoding.recoding import JOINTLY
from glasshouse.release.contents import Published
from glasshouse.streaming.publish import publish_file
from tests.laws.test_engines import files_of, of_size

ASKED = {"disease": gh.LDiversity(3), "drug": gh.LDiversity(2)}


def rows(n: int = 301, seed: int = 1) -> dict[str, list[Any]]:
    rng = Random(seed)
    return {
        "age": [rng.randrange(18, 90) for _ in range(n)],
        "sex": [rng.choice("MF") for _ in range(n)],
        "disease": [f"d{rng.randrange(8)}" for _ in range(n)],
        "drug": [f"x{rng.randrange(3)}" for _ in range(n)],
    }


def table(n: int = 301, seed: int = 1) -> gh.Microdata:
    return gh.read(rows(n, seed), quasi=["age", "sex"], sensitive=["disease", "drug"])


def test_the_default_protects_columns_jointly_each_in_a_table_of_its_own() -> None:
    release = gh.publish(table(), principle=ASKED)

    assert sorted(release.tables) == ["bt_1", "bt_2", "gt"]
    assert release.recipe.recoding["name"] == "angel"
    assert release.recipe.recoding["k"] == 3  # the largest l
    assert release.guarantee.promise.endswith(JOINTLY)
    assert "Theorem J1" in release.guarantee.theorem
    assert any("how the columns depend on each other" in limit for limit in release.guarantee.limits)
    assert any("left out, chosen at random" in limit for limit in release.guarantee.limits)
    assert promised_by_recipe(release) == release.guarantee


@pytest.mark.parametrize("recoding", ["boxes", "angel"])
def test_what_is_not_joint_says_so(recoding: str) -> None:
    principle = ASKED if recoding == "boxes" else gh.EntropyLDiversity(2)
    release = gh.publish(table(), principle=principle, recoding=gh.Angel(k=2) if recoding == "angel" else gh.Boxes())

    assert JOINTLY not in release.guarantee.promise
    assert any("reveal together" in limit for limit in release.guarantee.limits)
    assert release.n_dropped == 0


def test_people_left_out_are_dropped_and_not_suppressed_and_at_most_the_declared_share() -> None:
    seen = set()
    for n in (301, 350, 499, 1_001):
        for share, least in (("0", 0), ("0.01", 0), ("0.05", 0)):
            release = gh.publish(table(n), principle=ASKED, method=gh.Mirror(leave_out=share))
            assert release.n_suppressed == 0
            assert least <= release.n_dropped <= float(share) * n
            assert release.n_tuples + release.n_dropped == n
            seen.add(release.n_dropped > 0)
    assert seen == {True, False}


def test_every_engine_leaves_out_the_same_people(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    pa_csv.write_csv(pa.table(rows(499)), file)
    options: dict[str, Any] = {"principle": ASKED, "allow_seed": True, "format": "csv"}
    with of_size(40, 64):
        read = gh.read(file, quasi=["age", "sex"], sensitive=["disease", "drug"])
        gh.publish(read, source=gh.Source.seeded(5), out=tmp_path / "memory", **options)
        for engine in ("memory", "disk"):
            publish_file(
                tmp_path / f"file-{engine}",
                file,
                quasi=["age", "sex"],
                sensitive=["disease", "drug"],
                source=gh.Source.seeded(5),
                engine=engine,
                part_rows=40,
                piece=64,
                **options,
            )
    expected = files_of(tmp_path / "memory" / "release")
    for engine in ("memory", "disk"):
        assert files_of(tmp_path / f"file-{engine}" / "release") == expected
    assert gh.load(tmp_path / "memory" / "release").n_dropped > 0


def test_nothing_tells_a_value_that_only_people_left_out_have(tmp_path: Path) -> None:
    n_hidden = 0
    for seed in range(12):
        people = rows(499)
        people["disease"] = [f"only {i}" if i < 60 else d for i, d in enumerate(people["disease"])]
        own = gh.read(people, quasi=["age", "sex"], sensitive=["disease", "drug"])
        out = tmp_path / str(seed)
        release = gh.publish(
            own,
            principle={"disease": gh.LDiversity(3), "drug": gh.LDiversity(2)},
            method=gh.Mirror(leave_out="0.05"),
            source=gh.Source.seeded(seed),
            allow_seed=True,
            out=out,
            format="csv",
        )
        shown = set(Published.of(release, "disease").values)
        hidden = [value for value in set(people["disease"]) if value not in shown]
        n_hidden += len(hidden)
        for content in files_of(out / "release").values():
            assert not any(value.encode() + b"\n" in content or value.encode() + b"," in content for value in hidden)
    assert n_hidden


def test_people_left_out_have_any_value_as_likely_as_before() -> None:
    own = table(499)
    release = gh.publish(own, principle=ASKED, recoding="anatomy", source=gh.Source.seeded(3))
    assert release.n_dropped
    found = gh.attack(release, gh.Linking(column="disease"), knowledge=gh.Knowledge(external=own))
    gone = found.worst()
    assert any("left out at random" in note for note in found.notes)
    assert gone.belief < 1  # and not a bound of 1, as for people whom a method drops for their values
    tight = {**rows(499), "drug": ["x0" if i % 2 else f"x{1 + i % 3}" for i in range(499)]}
    close = gh.read(tight, quasi=["age", "sex"], sensitive=["disease", "drug"])
    told = gh.publish(close, principle=ASKED, recoding="anatomy", source=gh.Source.seeded(3))
    if told.n_dropped:  # a table so close to its limit that it decided how many were left out
        bounded = gh.attack(told, gh.Linking(column="drug"), knowledge=gh.Knowledge(external=close))
        assert bounded.how == "bound"


def test_the_command_line_takes_the_columns_that_an_attacker_knows(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    pa_csv.write_csv(pa.table(rows(64)), file)
    gh.publish(table(64), principle=ASKED, recoding="anatomy", out=tmp_path / "out")
    given = ["attack", str(tmp_path / "out" / "release"), "--external", str(file), "--column", "disease"]
    found = CliRunner().invoke(glasshouse, [*given, "--attack", "reverse-engineering", "--columns", "drug"])
    assert found.exit_code == 0, found.output
    assert "Theorem J1" in found.output
    refused = CliRunner().invoke(glasshouse, [*given, "--columns", "disease"])
    assert refused.exit_code != 0
    assert "not one of the other sensitive columns" in refused.output
