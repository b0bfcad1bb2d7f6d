# SPDX-License-Identifier: Apache-2.0
"""Achieving: what the published tables achieve, counted by the second implementation from these tables alone."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.recheck import verify_release
from glasshouse.verify import verify_table
from glasshouse.verify.risk import risk_of
from glasshouse.verify.verification import rounded_up

if TYPE_CHECKING:
    from glasshouse.release import Release
    from glasshouse.verify import Risk, Verification

__all__ = ["findable", "verification"]

_FIFTH = Fraction(1, 5)  # somebody found with a larger probability is at risk
_SIZE = "G"  # the column with the sizes of groups of which one tuple is published
_EXACT = ("anatomy", "permutation")


def verification(release: Release, achieved: Verification | None) -> Verification:
    """Count everything that the groups achieve, and whether the promise is kept; unless that was counted already."""
    return achieved if achieved is not None and achieved.columns and achieved.checks else verify_release(release)


def findable(release: Release) -> list[dict[str, Any]]:
    """How many people share the cells of each table with quasi-identifiers: how easily somebody is found there."""
    found = []
    for name, table in release.tables.items():
        own = [column for column in release.recipe.quasi if column in table.column_names]
        if not own:
            continue
        if _is_sample(release):
            sizes = np.asarray(table[_SIZE]).astype(np.int64)
            found.append(_findable(name, own, len(sizes), int(sizes.min()), risk_of(sizes, _FIFTH, None)))
        else:
            counted = verify_table(table, quasi=own, brief=True, risk_threshold=_FIFTH)
            found.append(_findable(name, own, counted.n_groups, counted.k, counted.risk))
        found[-1]["exact"] = release.recipe.recoding.get("name") in _EXACT
    return found


def _findable(table: str, quasi: list[str], n_groups: int, k: int, risk: Risk) -> dict[str, Any]:
    return {
        "table": table,
        "quasi": quasi,
        "groups": n_groups,
        "k": k,
        "highest": rounded_up(risk.prosecutor_highest),
        "average": rounded_up(risk.prosecutor_average),
        "threshold": float(risk.threshold),
        "at_risk": rounded_up(risk.at_risk),
    }


def _is_sample(release: Release) -> bool:
    return release.recipe.recoding.get("name") == "perturbed"
