# SPDX-License-Identifier: Apache-2.0
"""Probabilities of single values where cells contain sets: the sum over all sets that contain the value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.adversary.posterior import Beliefs
from glasshouse.microdata.set_members import members_of_texts

if TYPE_CHECKING:
    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.task import Task

__all__ = ["in_members"]

_ADDED = (
    "a cell contains a set of values: the probability that a person has a value is the sum of the probabilities "
    "of the sets that contain it"
)


def in_members(found: Posterior, task: Task) -> Posterior:
    """The probabilities of single values that follow from probabilities of sets.

    Where probabilities are bounds, their sum is one; and if everybody is published, no probability is above the largest
    share of people with the value in any group.
    """
    members = members_of_texts(task.contents.column, found.values)
    sets = Beliefs(found.offsets, found.codes, found.beliefs)
    entry, codes = members.values_of(found.codes)
    n_kinds, n_values = len(found.presence), members.domain.size
    who = sets.owner[entry]
    added = Beliefs.joined(who, codes, found.beliefs[entry], n_kinds=n_kinds, n_values=n_values)
    errors = None
    if found.errors is not None:
        errors = Beliefs.joined(who, codes, found.errors[entry], n_kinds=n_kinds, n_values=n_values).beliefs
    most = np.ones(n_values)
    if found.how == "bound" and not task.release.n_dropped:
        most = _largest_shares(task)
    return replace(
        found,
        values=tuple(members.domain.listed()),
        offsets=added.offsets,
        codes=added.codes,
        beliefs=np.minimum(added.beliefs, most[added.codes]),
        errors=errors,
        because=lambda kind, code: _because(found, members.having(code), kind),
        notes=(*found.notes, _ADDED),
        once_known=None if found.once_known is None else in_members(found.once_known, task),
    )


def _largest_shares(task: Task) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """For every single value the largest share of people who have it in a group."""
    contents = task.contents
    members = members_of_texts(contents.column, contents.values)
    group = np.repeat(np.arange(contents.n_groups), np.diff(contents.offsets))
    entry, codes = members.values_of(contents.codes)
    found = Beliefs.joined(
        group[entry],
        codes,
        contents.counts[entry] / contents.sizes[group[entry]],
        n_kinds=contents.n_groups,
        n_values=members.domain.size,
    )
    largest = np.zeros(members.domain.size)
    np.maximum.at(largest, found.codes, found.beliefs)
    return largest


def _because(found: Posterior, having: np.ndarray[tuple[int], np.dtype[np.bool_]], kind: int) -> str:
    """Explains the probability of a value for a kind of people, by the sets that have it."""
    own = slice(int(found.offsets[kind]), int(found.offsets[kind + 1]))
    sets = [code for code in found.codes[own].tolist() if having[code]]
    likeliest = max(sets, key=lambda code: float(found.beliefs[own][found.codes[own] == code].sum()))
    several = (
        f"the sum of the probabilities of {len(sets):,} sets that contain it; for the most probable set, "
        if len(sets) > 1
        else ""
    )
    return f"{several}{found.values[likeliest]}: {found.reason(kind, likeliest)}"
