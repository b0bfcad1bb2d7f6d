# SPDX-License-Identifier: Apache-2.0
"""Numbers that JSON cannot write: a report says them in a word, and stays data that anything can read."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.pages.report import Effort
from glasshouse.pages.report.report import Report

QUICK = Effort(questions=20, few_questions=10, seconds=5)


def strictly(text: str) -> Any:
    """Read JSON as everybody else does, who knows neither NaN nor Infinity."""

    def refuse(token: str) -> None:
        pytest.fail(f"{token} is not JSON")

    return json.loads(text, parse_constant=refuse)


def about_somebody_else() -> Report:
    """A report whose table has a person whom the release says nothing of: the divergence from it is infinite."""
    ages, ills = [*range(20, 50)], ["flu", "gout", "mumps"] * 10
    published = gh.read({"age": ages, "ill": ills}, quasi=["age"], sensitive="ill")
    table = gh.read({"age": [*ages, 90], "ill": [*ills, "flu"]}, quasi=["age"], sensitive="ill")
    release = gh.publish(
        published, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Boxes(), source=gh.Source.seeded(1)
    )
    return gh.make_report(release, table, effort=QUICK)


def test_an_infinite_divergence_is_called_infinite_in_valid_json(tmp_path: Path) -> None:
    report = about_somebody_else()
    report.write(tmp_path)
    read = strictly((tmp_path / "report.json").read_text(encoding="utf-8"))

    assert report.to_dict()["kl"] == math.inf
    assert read["kl"] == "infinite"
    assert {key: value for key, value in report.to_dict().items() if key != "kl"} == {
        key: value for key, value in read.items() if key != "kl"
    }


def test_wherever_it_stands_an_infinite_number_is_a_word_and_all_else_is_as_it_was(tmp_path: Path) -> None:
    report = about_somebody_else()
    odd = {
        "deep": [{"list": [math.inf, 1.5, (-math.inf, 0)]}],
        "kept": [True, None, 0, 2**70, 1e300, "inf", "NaN"],
    }
    Report({**report.facts, "odd": odd}).write(tmp_path)
    read = strictly((tmp_path / "report.json").read_text(encoding="utf-8"))

    assert read["odd"]["deep"] == [{"list": ["infinite", 1.5, ["infinite", 0]]}]
    assert read["odd"]["kept"] == odd["kept"]


def test_a_finite_divergence_stays_a_number(tmp_path: Path) -> None:
    table = gh.synthetic.hospital(100, seed=1)
    release = gh.publish(table, principle=gh.LDiversity(ell=2), source=gh.Source.seeded(1))
    gh.make_report(release, table, effort=QUICK).write(tmp_path)
    read = strictly((tmp_path / "report.json").read_text(encoding="utf-8"))

    assert isinstance(read["kl"], float)
    assert read["kl"] >= 0
