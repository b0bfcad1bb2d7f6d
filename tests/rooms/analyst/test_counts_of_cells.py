# SPDX-License-Identifier: Apache-2.0
"""Counts of quasi-identifiers in cells cover the truth, also where quasi-identifiers are independent of each other.

The tables are made up: the truth is known, and their values are independent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import glasshouse as gh


def made_up(seed: int, n: int = 3_000, *, skew: float) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    towns = np.arange(1, 13) ** -skew
    return {
        "town": [f"t{i:02d}" for i in rng.choice(12, n, p=towns / towns.sum())],
        "sex": rng.choice(["f", "m"], n).tolist(),
        "age": rng.integers(18, 68, n).tolist(),
        "ill": rng.choice(list("abcdefghij"), n).tolist(),
    }


def missed(people: dict[str, Any], principle: gh.Principle) -> tuple[int, float, float]:
    """How many intervals of towns miss the truth, and the mean errors of the learned model and the papers' one."""
    table = gh.read(people, quasi=["town", "sex", "age"], sensitive="ill")
    release = gh.publish(table, principle=principle, source=gh.Source.seeded(1))
    errors = []
    outside = 0
    for model in ("learned", "uniform"):
        rows = gh.query(release, "SELECT town, COUNT(*) GROUP BY town", model=model).to_pandas()
        truth = np.array([people["town"].count(town) for town in rows["town"]])
        errors.append(float(np.abs(rows["count"] - truth).mean()))
        if model == "learned":
            outside = int(((rows["count low"] > truth + 1e-6) | (rows["count high"] < truth - 1e-6)).sum())
    return outside, *errors


@pytest.mark.parametrize(
    ("principle", "skew", "most"),
    [
        (gh.LDiversity(ell=5), 0.0, 1),
        (gh.LDiversity(ell=5), 1.0, 2),
        (gh.TCloseness(t="0.1"), 0.0, 3),
        (gh.KAnonymity(k=10), 1.0, 1),
    ],
)
def test_counts_of_independent_quasi_identifiers_are_covered(principle: Any, skew: float, most: int) -> None:
    found = [missed(made_up(seed, skew=skew), principle) for seed in (1, 2)]
    assert sum(outside for outside, _, _ in found) <= most


def test_groups_that_were_not_made_for_sensitive_values_are_not_taken_to_be_mixed() -> None:
    """People of a k-anonymous group are neighbours: a rare value is not more frequent in a group than others are."""
    people = {**made_up(3, skew=1.2), **{f"{name} of work": made_up(4, skew=1.2)[name] for name in ("town", "age")}}
    release = gh.publish(gh.read(people, quasi=[n for n in people if n != "ill"]), principle=gh.KAnonymity(k=10))
    errors = {}
    for model in ("learned", "uniform"):
        rows = gh.query(release, "SELECT town, COUNT(*) GROUP BY town", model=model).to_pandas()
        truth = np.array([people["town"].count(town) for town in rows["town"]])
        errors[model] = float(np.abs(rows["count"] - truth).mean())
    assert errors["learned"] < errors["uniform"] / 2
