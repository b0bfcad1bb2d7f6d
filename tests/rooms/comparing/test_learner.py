# SPDX-License-Identifier: Apache-2.0
"""What an attacker gains who learns from a release stands in a comparison, in all of its forms."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.pages.report import Effort

ELL = gh.LDiversity(ell=3)
GIVEN: dict[str, Any] = {"principle": ELL, "runs": 1, "processes": 0, "recodings": ["anatomy", "boxes"]}


@pytest.fixture(scope="module")
def table() -> gh.Microdata:
    return gh.synthetic.hospital(1_000, seed=1)


@pytest.fixture(scope="module")
def found(table: gh.Microdata) -> gh.Comparison:
    return gh.compare(table, methods=["mirror", "anatomize", "separate"], **GIVEN)


def test_the_cost_is_what_the_learning_attack_finds_on_the_same_release(table: gh.Microdata) -> None:
    compared = gh.compare(table, methods=["anatomize"], use_truth=True, **{**GIVEN, "recodings": ["anatomy"]})
    source = gh.Source.seeded(0).child("compare", "anatomize", 0)
    release = gh.publish(table, principle=ELL, method=gh.Anatomize(), recoding=gh.Anatomy(), source=source)
    cost = gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=table)).cost

    assert cost is not None
    (row,) = compared.rows
    assert row.cost == pytest.approx(cost.in_table.right - cost.outsider.right)
    assert row.cost > 0.1
    assert 0 < row.cost_error < 0.1


def test_ways_that_hide_more_cost_less(found: gh.Comparison) -> None:
    by_way = {row.way: row.cost for row in found.rows}
    assert by_way["anatomize as anatomy"] > by_way["mirror as anatomy"] > by_way["separate as boxes"]
    assert abs(by_way["separate as boxes"]) < 0.05


def test_text_table_csv_json_and_page_carry_it(found: gh.Comparison) -> None:
    lines = list(csv.DictReader(io.StringIO(found.to_csv())))
    rows = found.to_dict()["rows"]
    for row, line, data in zip(found.rows, lines, rows, strict=True):
        assert float(line["cost"]) == row.cost == data["cost"]
        assert float(line["cost_error"]) == row.cost_error == data["cost_error"]
        assert f'<td class="number">{row.cost:,.3f}</td>' in found.to_html()
        assert f" {row.cost:.3f} " in str(found)
    assert found.to_table()["cost"].to_pylist() == [row.cost for row in found.rows]
    assert ">cost</th>" in found.to_html()
    assert found.recommended is not None
    assert "an attacker who learns a model from the release guesses right" in found.reason


def test_it_can_be_left_out_and_is_given_up_when_time_is_over(table: gh.Microdata) -> None:
    one = {**GIVEN, "recodings": ["anatomy"]}
    (without,) = gh.compare(table, methods=["mirror"], learner=False, **one).rows
    assert (without.cost, "learner" in without.told) == (None, False)
    (late,) = gh.compare(table, methods=["mirror"], effort=Effort(seconds=0.0), **one).rows
    assert late.cost is None
    assert (
        "what an attacker gains by learning a model was not measured: the attack takes longer than 0 seconds"
        in late.told
    )
    (large,) = gh.compare(table, methods=["mirror"], effort=Effort(most_rows=999), **one).rows
    assert "what an attacker gains by learning a model was not measured: the table has more than 999 rows" in large.told


def test_of_too_few_people_there_is_no_cost_and_the_row_says_why() -> None:
    few = gh.synthetic.hospital(150, seed=1)
    (row,) = gh.compare(few, methods=["mirror"], **{**GIVEN, "recodings": ["anatomy"]}).rows
    assert row.cost is None
    assert "the release has fewer than 200 people" in row.told


def test_questions_are_answered_by_the_model_that_is_asked_for(table: gh.Microdata) -> None:
    one = {**GIVEN, "recodings": ["anatomy"], "learner": False}
    uniform, learned = (gh.compare(table, methods=["anatomize"], model=own, **one) for own in ("uniform", "learned"))
    assert learned.rows[0].error < 0.8 * uniform.rows[0].error
    assert (uniform.model, learned.to_dict()["model"]) == ("uniform", "learned")
    with pytest.raises(gh.ParameterError, match="'learned' or 'uniform'"):
        gh.compare(table, methods=["mirror"], model="guessed", **one)
