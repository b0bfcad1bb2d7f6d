# SPDX-License-Identifier: Apache-2.0
"""Groups of rows that are equal in all quasi-identifiers, and the histogram of a sensitive column in each.

Which group stands for the worst, and which are named as failing, is the same whatever the order of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.verification.verification import Check, WorstGroup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.verification.columns import Coded

__all__ = ["Division", "Histograms", "check", "divide", "first_by_cells", "histograms", "starts_of_runs", "worst_of"]

_MOST_WORST = 5  # groups that a check names
_FITS = 1 << 62  # keys stay below this, or are numbered again


@dataclass(frozen=True, eq=False)
class Division:
    """Which group each record is in: rows with equal codes in all columns."""

    columns: tuple[Coded, ...]
    labels: NDArray[np.int64]  # one per record
    sizes: NDArray[np.int64]  # one per group
    example: NDArray[np.int64]  # one per group: a row that is in it

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.sizes)


def divide(columns: Sequence[Coded]) -> Division:
    """Group the rows: equal neighbours are found as runs and only runs are sorted, so a sorted table costs one pass."""
    n = len(columns[0].codes)
    differs = np.zeros(n, bool)
    differs[0] = True
    for column in columns:
        differs[1:] |= column.codes[1:] != column.codes[:-1]
    starts = np.flatnonzero(differs)

    keys, n_keys = np.zeros(len(starts), np.int64), 1
    for column in columns:
        radix = len(column.values) + 1
        if n_keys * radix >= _FITS:
            keys, _ = _dense(keys, n_keys)
            n_keys = int(keys.max()) + 1
        keys, n_keys = keys * radix + column.codes[starts], n_keys * radix
    group_of_run, first_run = _dense(keys, n_keys)

    lengths = np.diff(starts, append=n)
    sizes = np.bincount(group_of_run, weights=lengths).astype(np.int64)  # exact: doubles hold integers up to 2^53
    return Division(tuple(columns), np.repeat(group_of_run, lengths), sizes, starts[first_run])


@dataclass(frozen=True, eq=False)
class Histograms:
    """How often each sensitive value occurs in each group; entries ascend by group, then by code."""

    sizes: NDArray[np.int64]  # one per group
    offsets: NDArray[np.int64]  # group g has entries offsets[g] .. offsets[g + 1]
    groups: NDArray[np.int32]  # one per entry
    values: NDArray[np.int32]  # one per entry
    counts: NDArray[np.int64]  # one per entry, positive
    totals: NDArray[np.int64]  # one per code: in the whole table

    @classmethod
    def of_pairs(
        cls,
        sizes: NDArray[np.int64],
        pairs: NDArray[np.int64],
        bits: int,
        counts: NDArray[np.int64],
        totals: NDArray[np.int64],
    ) -> Histograms:
        """Make histograms from ascending pairs ``group << bits | code`` and their counts; every group has a pair."""
        groups = (pairs >> bits).astype(np.int32)
        values = (pairs & ((1 << bits) - 1)).astype(np.int32)
        return cls(sizes, np.append(starts_of_runs(groups), len(groups)), groups, values, counts, totals)

    @cached_property
    def sizes_by_entry(self) -> NDArray[np.int64]:
        """The size of each entry's group."""
        return np.repeat(self.sizes, self.distinct)

    @cached_property
    def n(self) -> int:
        """Records in the table."""
        return int(self.totals.sum())

    @cached_property
    def distinct(self) -> NDArray[np.int64]:
        """Different values in each group."""
        return np.diff(self.offsets)

    @cached_property
    def descending(self) -> NDArray[np.int64]:
        """Counts, group after group, the largest of each group first."""
        top = int(self.counts.max())
        bits = top.bit_length()
        keys = self.groups.astype(np.int64) << bits
        keys |= top - self.counts
        keys.sort(kind="stable")
        keys &= (1 << bits) - 1
        return np.asarray(top - keys)

    def tails(self, ell: int) -> NDArray[np.int64]:
        """``n_ell + ... + n_m`` of every group, its counts in descending order; 0 where it has fewer values."""
        cut = np.minimum(self.offsets[:-1] + (ell - 1), self.offsets[1:])
        return np.asarray(self._sums[self.offsets[1:]] - self._sums[cut])

    @cached_property
    def _sums(self) -> NDArray[np.int64]:
        """Sums of all descending counts before each."""
        return np.append(0, np.cumsum(self.descending))


def histograms(division: Division, column: Coded) -> Histograms:
    """Count a sensitive column in every group."""
    bits = len(column.values).bit_length()
    pairs = division.labels << bits
    pairs |= column.codes
    n_pairs = division.n_groups << bits
    if n_pairs <= 4 * len(pairs) + 1024:
        table = np.bincount(pairs, minlength=n_pairs)
        pairs = np.flatnonzero(table)
        counts = table[pairs]
    else:
        pairs.sort(kind="stable")  # linear where rows lie group by group and value by value, fast where nearly so
        starts = starts_of_runs(pairs)
        counts = np.diff(starts, append=len(pairs))
        pairs = pairs[starts]
    totals = np.bincount(column.codes, minlength=len(column.values) + 1)
    return Histograms.of_pairs(division.sizes, pairs, bits, counts, totals)


def starts_of_runs(keys: NDArray[Any]) -> NDArray[np.int64]:
    """Find where equal neighbours begin."""
    starts = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=starts[1:])
    return np.flatnonzero(starts)


def _dense(keys: NDArray[np.int64], n_keys: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the keys from 0 in ascending order; also returns an example row for each number."""
    if n_keys > 4 * len(keys) + 1024:
        _, places, numbers = np.unique(keys, return_index=True, return_inverse=True)
        return numbers.astype(np.int64, copy=False), places
    place = np.full(n_keys, -1, np.int64)
    place[keys] = np.arange(len(keys))
    occurs = place >= 0
    return (np.cumsum(occurs) - 1)[keys], place[occurs]


# --- naming groups ----------------------------------------------------------------------------------------------------


def first_by_cells(division: Division, groups: NDArray[np.int64]) -> int:
    """Find the one of some groups whose cells come first, column by column; missing comes last."""
    for column in division.columns:
        if len(groups) == 1:
            break
        ranks = column.ranks[column.codes[division.example[groups]]]
        groups = groups[ranks == ranks.min()]
    return int(groups[0])


def worst_of(division: Division, groups: NDArray[np.int64]) -> WorstGroup:
    """The first of some equally bad groups, and the number of others."""
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
