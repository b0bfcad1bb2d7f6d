# SPDX-License-Identifier: Apache-2.0
"""Tables whose sensitive values are drawn from a known model, and releases of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import glasshouse as gh

QUASI = ("age", "sex", "region")
REGIONS = np.array(["A", "B", "C", "D", "E", "F"])
VALUES = np.array([f"v{i}" for i in range(8)])


def people(n: int, *, seed: int = 1, strength: float = 1.0) -> dict[str, Any]:
    """People whose value depends on decade of age, sex and region by a softmax; 0 is no dependence."""
    rng, weights = np.random.default_rng(seed), np.random.default_rng(99)
    age, sex, region = rng.integers(20, 60, n), rng.integers(0, 2, n), rng.integers(0, 6, n)
    effects = [weights.normal(0, strength, (levels, len(VALUES))) for levels in (4, 2, 6)]
    chances = np.exp(effects[0][(age - 20) // 10] + effects[1][sex] + effects[2][region])
    sums = np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1)
    drawn = np.minimum((sums < rng.random((n, 1))).sum(axis=1), len(VALUES) - 1)
    return {"age": age, "sex": np.array(["F", "M"])[sex], "region": REGIONS[region], "ill": VALUES[drawn]}


def released(columns: dict[str, Any], recoding: Any = None, method: Any = None, **options: Any) -> gh.Release:
    """Published by Anatomize as anatomy, if nothing else is asked for."""
    given = {"quasi": list(QUASI), "sensitive": "ill", **options}
    table = gh.read(columns, **given)
    return gh.publish(
        table,
        principle=gh.LDiversity(ell=3) if table.sensitive else gh.KAnonymity(k=3),
        method=method or gh.Anatomize(),
        recoding=recoding or gh.Anatomy(),
        source=gh.Source.seeded(1),
    )
