# SPDX-License-Identifier: Apache-2.0
"""Naming groups: which group stands for the worst, and which fail; the same whatever the order of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshouse.verify.verification import Check, WorstGroup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.verify.groups import Division

__all__ = ["check", "first_by_cells", "worst_of"]

_MOST_WORST = 5


def first_by_cells(division: Division, groups: NDArray[np.int64]) -> int:
    """Find the one of some groups whose cells come first, column by column; missing comes last."""
    for column in division.columns:
        if len(groups) == 1:
            break
        ranks = column.ranks[column.codes[division.example[groups]]]
        groups = groups[ranks == ranks.min()]
    return int(groups[0])


def worst_of(division: Division, groups: NDArray[np.int64]) -> WorstGroup:
    """Name the first of some equally bad groups, and say how many others there are."""
    group = first_by_cells(division, groups)
    row = int(division.example[group])
    return WorstGroup(
        cells={column.name: column.value(int(column.codes[row])) for column in division.columns},
        size=int(division.sizes[group]),
        n_others=len(groups) - 1,
    )


def check(
    division: Division, asked: str, column: str | None, failing: NDArray[np.bool_], badness: NDArray[np.float64]
) -> Check:
    """Count the groups that fail and name the worst of them; ``badness`` only decides which are named."""
    groups = np.flatnonzero(failing)
    left = groups
    worst: list[WorstGroup] = []
    while len(left) and len(worst) < _MOST_WORST:
        group = first_by_cells(division, left[badness[left] == badness[left].max()])
        worst.append(worst_of(division, np.array([group])))
        left = left[left != group]
    n_tuples = int(division.sizes[groups].sum())
    return Check(asked=asked, column=column, n_failing=len(groups), n_tuples=n_tuples, worst=tuple(worst))
