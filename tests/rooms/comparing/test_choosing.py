# SPDX-License-Identifier: Apache-2.0
"""What is asked of a comparison reaches the recommendation, and what happens to a way stands in its row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.comparing import processes, scoring
from glasshouse.comparing.cache import key_of
from glasshouse.comparing.comparison import Row
from glasshouse.comparing.scoring import Setting, score
from glasshouse.microdata.domains import Column
from glasshouse.pages.report import Effort

ELL = gh.LDiversity(ell=3)
QUICK: dict[str, Any] = {"principle": ELL, "processes": 0, "runs": 1, "effort": Effort(seconds=0.2)}


@pytest.fixture(scope="module")
def table() -> gh.Microdata:
    return gh.synthetic.hospital(200, seed=1)


def test_whether_presence_is_a_secret_decides_what_a_comparison_recommends(
    table: gh.Microdata, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = {"anatomy": 0.01, "boxes": 0.05}

    def scored(_setting: Setting, method: Any, recoding: Any) -> Row:
        exact = recoding.name == "anatomy"
        known: dict[str, Any] = {"adversary": "algorithm-aware", "shows_presence": exact}
        return Row(method=method.name, recoding=recoding.name, error=errors[recoding.name], **known)

    monkeypatch.setattr(processes, "score", scored)
    given = {**QUICK, "methods": ["mirror"], "recodings": ["anatomy", "boxes"]}
    usual, secret, public = (
        gh.compare(table, **given, **asked) for asked in ({}, {"presence": "secret"}, {"presence": "public"})
    )

    assert [found.recommended.recoding for found in (usual, secret, public)] == ["boxes", "boxes", "anatomy"]


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (gh.NotSupported("this", instead="take that"), "take that"),
        (gh.Infeasible("no group can be safe"), "no group can be safe"),
        (MemoryError(), "not enough memory"),
    ],
    ids=["not supported", "infeasible", "memory"],
)
@pytest.mark.parametrize("stage", ["publish", "attack"])
def test_whatever_stops_a_way_is_said_in_its_row_and_the_others_go_on(
    stage: str, error: Exception, says: str, table: gh.Microdata, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = getattr(scoring, stage)

    def failing(*given: Any, **named: Any) -> Any:
        method = named["method"].name if stage == "publish" else given[0].recipe.method["name"]
        if method == "separate":
            raise error
        return usual(*given, **named)

    monkeypatch.setattr(scoring, stage, failing)
    found = gh.compare(table, methods=["separate", "mirror"], recodings=["boxes"], **QUICK)
    rows = {row.method: row for row in found.rows}

    assert set(rows) == {"separate", "mirror"}
    assert not rows["mirror"].failed
    assert says in rows["separate"].failed + rows["separate"].told
    assert bool(rows["separate"].failed) == (stage == "publish" or isinstance(error, MemoryError))
    assert found.recommended is not None
    assert found.recommended.method == ("mirror" if rows["separate"].failed else found.recommended.method)


def changed(column: Column) -> Column:
    """One person has the value of another."""
    codes = column.codes.copy()
    where = int(np.flatnonzero(codes != codes[0])[0])
    codes[0] = codes[where]
    return Column(column.domain, codes)


def renamed(column: Column) -> Column:
    """The same codes stand for other values."""
    values = column.domain.values.to_pylist()
    other = [value + 1 if isinstance(value, int) else f"other {value}" for value in values]
    return Column(replace(column.domain, values=pa.array(other, column.domain.values.type)), column.codes)


def test_the_same_codes_with_another_meaning_are_another_table(table: gh.Microdata) -> None:
    age, *others = table.quasi
    (disease,) = table.sensitive
    tables = [
        table,
        replace(table, quasi=(renamed(age), *others)),
        replace(table, sensitive=(renamed(disease),)),
        replace(table, quasi=(Column(replace(age.domain, name="years"), age.codes), *others)),
        replace(table, sensitive=(Column(replace(disease.domain, ordered=True), disease.codes),)),
    ]
    workload = gh.Workload.transparent(table, n=10)
    settings = [
        Setting(tables=(which,), principle=ELL, workload=workload, seed=0, effort=Effort(seconds=1)) for which in tables
    ]
    keys = {key_of(setting, gh.Separate(), gh.Boxes()) for setting in settings}

    assert len(keys) == len(tables)


def test_rows_that_were_kept_are_not_used_for_a_table_that_changed_in_any_way(
    table: gh.Microdata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def counted(setting: Setting, method: Any, recoding: Any) -> Row:
        tried.append(method.name)
        return score(setting, method, recoding)

    monkeypatch.setattr(processes, "score", counted)
    workload = gh.Workload.transparent(table, n=10)
    age, *others = table.quasi
    assert table.identifier is not None
    tables = {
        "as it was": table,
        "a quasi-identifier": replace(table, quasi=(changed(age), *others)),
        "a sensitive value": replace(table, sensitive=tuple(map(changed, table.sensitive))),
        "who is who": replace(table, identifier=table.identifier.take(np.arange(199, -1, -1))),
        "without names": replace(table, identifier=None),
    }
    given: dict[str, Any] = {"methods": ["separate"], "recodings": ["boxes"], "resume": tmp_path / "kept", **QUICK}
    for which in tables.values():
        gh.compare(which, workload=workload, use_truth=True, **given)
    assert len(tried) == len(tables)
    gh.compare(table, workload=workload, use_truth=True, **given)
    assert len(tried) == len(tables)
