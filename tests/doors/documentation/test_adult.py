# SPDX-License-Identifier: Apache-2.0
"""The tour's figures of women in Craft-repair are those that the Adult table gives, where it is at hand."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from tests.conftest import ROOT

ROW = re.compile(r"^\| (.+?) \| ([\d,]+)(?: ± (\d+))? \|$", re.MULTILINE)
SQL = "SELECT COUNT(*) WHERE sex = 'Female' AND occupation = 'Craft-repair'"


def test_the_tour_tells_what_the_default_release_of_adult_teaches(shared_data: Path) -> None:
    path = shared_data / "adult.parquet"
    if not path.exists():
        pytest.skip("the Adult table (../shared/data/adult.parquet) is not here")
    page = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8").partition("women in Craft-repair |")[2]
    rows = [(int(value.replace(",", "")), half and int(half)) for _, value, half in ROW.findall(page)[:3]]
    (truth, _), learned, uniform = rows

    quasi = ["age", "workclass", "education", "marital-status", "race", "sex"]
    people = pq.read_table(path, columns=[*quasi, "occupation"]).drop_null()
    table = gh.read(people, quasi=quasi, sensitive="occupation")
    both = zip(people["sex"].to_pylist(), people["occupation"].to_pylist(), strict=True)
    assert truth == sum(pair == ("Female", "Craft-repair") for pair in both)

    release = gh.publish(table, principle=gh.LDiversity(ell=4), source=gh.Source.seeded(1))
    for told, model in ((learned, "learned"), (uniform, "uniform")):
        found = gh.query(release, SQL, model=model)
        assert found.model == model
        assert found.value == pytest.approx(told[0], abs=2)
        assert found.interval[1] - found.value == pytest.approx(told[1], rel=0.05)
    assert abs(learned[0] - truth) < abs(uniform[0] - truth) / 10
