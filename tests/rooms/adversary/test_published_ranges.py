# SPDX-License-Identifier: Apache-2.0
"""Quasi-identifiers that are published in ranges: an attacker who knows a number or a day knows its range."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest

import glasshouse as gh

N = 240


def people() -> dict[str, list[Any]]:
    random = np.random.default_rng(7)
    return {
        "name": [f"p{i}" for i in range(N)],
        "age": random.integers(20, 80, N).tolist(),
        "seen": [dt.date(2024, 1, 1) + dt.timedelta(days=int(day)) for day in random.integers(0, 365, N)],
        "ill": random.choice(["flu", "cold", "ulcer", "asthma"], N).tolist(),
    }


def read(columns: dict[str, list[Any]], **bins: str) -> gh.Microdata:
    rules = {name: gh.Taxonomy.of(rule) for name, rule in bins.items()}
    return gh.read(columns, identifier="name", quasi=["age", "seen"], sensitive="ill", bins=rules)


@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Angel(k=3), gh.Boxes()], ids=lambda recoding: recoding.name)
@pytest.mark.parametrize("attack", [gh.Linking(), gh.ReverseEngineering()], ids=lambda attack: attack.name)
def test_exact_values_are_put_into_the_published_ranges(recoding: Any, attack: Any) -> None:
    columns, bins = people(), {"age": "intervals:10", "seen": "dates:month"}
    table = read(columns, **bins)
    release = gh.publish(table, principle=gh.LDiversity(ell=3), method=gh.Mirror(), recoding=recoding)
    for some in (range(N), range(0, N, 7)):
        own = {name: [values[i] for i in some] for name, values in columns.items()}
        if attack.name.startswith("reverse") and len(some) < N:
            continue
        exact = gh.attack(release, attack, knowledge=gh.Knowledge(external=read(own)))
        binned = gh.attack(release, attack, knowledge=gh.Knowledge(external=read(own, **bins)))
        assert [exact.of(name) for name in own["name"]] == [binned.of(name) for name in own["name"]]
        assert all(exact.of(name) for name in own["name"]), "everybody is found"


def test_who_is_in_no_published_range_is_not_in_the_table() -> None:
    columns = people()
    release = gh.publish(read(columns, age="intervals:10"), principle=gh.LDiversity(ell=3), recoding=gh.Boxes())
    strangers = {"name": ["a", "b"], "age": [19, 130], "seen": [dt.date(2024, 5, 1)] * 2, "ill": ["flu"] * 2}
    together = {name: [*columns[name], *own] for name, own in strangers.items()}
    found = gh.attack(release, knowledge=gh.Knowledge(external=read(together)))

    assert found.of("a") == found.of("b") == {}
    assert found.of("p0")
