# SPDX-License-Identifier: Apache-2.0
"""The recommendation on tables that experts know is Mirror, with a recoding that does not show who is in the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.pages.report import Effort

GIVEN: dict[str, Any] = {
    "methods": ["sift", "mirror", "hybrid", "anatomize", gh.Mondrian()],
    "recodings": ["boxes", "angel"],
    "effort": Effort(most_rows=0),  # the theorems' bounds: attacks are tested elsewhere
    "processes": 0,
}


def sample(table: gh.Microdata, n: int) -> gh.Microdata:
    return table.take(np.sort(gh.Source.seeded(1).choose(table.n_tuples, n)))


def adult(folder: Path) -> gh.Microdata:
    quasi = ["age", "workclass", "education", "marital-status", "race", "sex"]
    path = folder / "adult.parquet"
    if not path.exists():
        pytest.skip("the Adult table (../shared/data/adult.parquet) is not here")
    return gh.read(pq.read_table(path, columns=[*quasi, "occupation"]).drop_null(), quasi=quasi, sensitive="occupation")


def census(folder: Path) -> gh.Microdata:
    quasi = ["age", "sex", "education", "country_of_birth_self"]
    path = folder / "census_income_kdd.parquet"
    if not path.exists():
        pytest.skip("Census-Income (../shared/data/census_income_kdd.parquet) is not here")
    table = pq.read_table(path, columns=[*quasi, "detailed_occupation_recode"])
    table = table.filter(pc.greater(table["detailed_occupation_recode"], 0))
    columns = {name: table[name] for name in quasi}
    columns["occupation"] = pc.cast(table["detailed_occupation_recode"], pa.string())
    return gh.read(pa.table(columns), quasi=quasi, sensitive="occupation", missing="category")


def check(table: gh.Microdata, ell: int) -> None:
    workload = gh.Workload.transparent(table, n=200)
    found = gh.compare(table, principle=gh.LDiversity(ell=ell), workload=workload, **GIVEN)
    best = found.recommended

    assert best is not None
    assert best.method in ("sift", "mirror")
    assert best.recoding in ("angel", "boxes")
    for said in (
        f"{best.method} as",
        "protects against an attacker who knows the algorithm",
        "does not show who is in the table",
        "error",
    ):
        assert said in found.reason
    assert best.error < best.baseline
    assert "does not protect" in " ".join(found.notes)  # what a method without a theorem would give


@pytest.mark.parametrize("ell", [2, 3, 4])
def test_on_the_synthetic_census_a_default_method_is_recommended_and_the_sentence_says_why(ell: int) -> None:
    check(gh.synthetic.census(6000, seed=1), ell)


@pytest.mark.parametrize("ell", [2, 3, 4])
def test_on_adult_a_default_method_is_recommended_and_the_sentence_says_why(ell: int, shared_data: Path) -> None:
    check(sample(adult(shared_data), 4000), ell)


@pytest.mark.parametrize("ell", [3])
def test_on_the_real_census_a_default_method_is_recommended(ell: int, shared_data: Path) -> None:
    check(sample(census(shared_data), 4000), ell)


def test_twin_and_truth_agree_on_the_synthetic_census() -> None:
    table = gh.synthetic.census(4000, seed=2)
    given = {**GIVEN, "principle": gh.LDiversity(ell=4), "workload": gh.Workload.transparent(table, n=200)}
    twin, truth = (gh.compare(table, use_truth=use, **given) for use in (False, True))

    assert twin.recommended.way == truth.recommended.way
