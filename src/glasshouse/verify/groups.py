# SPDX-License-Identifier: Apache-2.0
"""Groups of rows that are equal in all quasi-identifiers, and the histogram of a sensitive column in each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.verify.columns import Coded

__all__ = ["Division", "Histograms", "divide", "histograms"]

_FITS = 1 << 62  # keys stay below this, or are numbered anew


@dataclass(frozen=True, eq=False)
class Division:
    """Which group each tuple is in: rows with equal codes in all columns."""

    columns: tuple[Coded, ...]
    labels: NDArray[np.int64]  # one per tuple
    sizes: NDArray[np.int64]  # one per group
    example: NDArray[np.int64]  # one per group: a row that is in it

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.sizes)


def divide(columns: Sequence[Coded]) -> Division:
    """Group the rows: equal neighbours are found as runs and only runs are sorted, so a sorted table costs one pass."""
    n = len(columns[0].codes)
    starts_run = np.ones(n, bool)
    starts_run[1:] = False
    for column in columns:
        starts_run[1:] |= column.codes[1:] != column.codes[:-1]
    starts = np.flatnonzero(starts_run)

    keys, n_keys = np.zeros(len(starts), np.int64), 1
    for column in columns:
        radix = len(column.values) + 1
        if n_keys * radix >= _FITS:
            keys, _ = _dense(keys, n_keys)
            n_keys = int(keys.max()) + 1
        keys, n_keys = keys * radix + column.codes[starts], n_keys * radix
    group_of_run, first_run = _dense(keys, n_keys)

    labels = np.repeat(group_of_run, np.diff(np.append(starts, n)))
    return Division(tuple(columns), labels, np.bincount(labels), starts[first_run])


@dataclass(frozen=True, eq=False)
class Histograms:
    """How often each sensitive value occurs in each group; entries ascend by group, then by code."""

    sizes: NDArray[np.int64]  # one per group
    offsets: NDArray[np.int64]  # group g has entries offsets[g] .. offsets[g + 1]
    groups: NDArray[np.int64]  # one per entry
    values: NDArray[np.int64]  # one per entry
    counts: NDArray[np.int64]  # one per entry, positive
    totals: NDArray[np.int64]  # one per code: in the whole table

    @property
    def n(self) -> int:
        """Tuples in the table."""
        return int(self.totals.sum())

    @property
    def distinct(self) -> NDArray[np.int64]:
        """Different values in each group."""
        return np.diff(self.offsets)

    @cached_property
    def descending(self) -> NDArray[np.int64]:
        """Counts, group after group, the largest of each group first."""
        top = int(self.counts.max())
        keys = self.groups * (top + 1) + (top - self.counts)
        keys.sort(kind="stable")
        return top - (keys - self.groups * (top + 1))

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
    n_codes = len(column.values) + 1
    pairs = division.labels * n_codes + column.codes
    n_pairs = division.n_groups * n_codes
    if n_pairs <= 4 * len(pairs) + 1024:
        table = np.bincount(pairs, minlength=n_pairs)
        pairs = np.flatnonzero(table)
        counts = table[pairs]
    else:
        pairs.sort(kind="stable")  # linear where rows lie group by group and value by value, fast where nearly so
        starts = np.flatnonzero(np.append(True, pairs[1:] != pairs[:-1]))
        counts = np.diff(np.append(starts, len(pairs)))
        pairs = pairs[starts]
    groups, values = np.divmod(pairs, n_codes)
    offsets = np.append(0, np.cumsum(np.bincount(groups, minlength=division.n_groups)))
    totals = np.bincount(column.codes, minlength=n_codes)
    return Histograms(division.sizes, offsets, groups, values, counts, totals)


def _dense(keys: NDArray[np.int64], n_keys: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give each key a number from 0 on, in the order of the keys; and each number a place where its key occurs."""
    if n_keys > 4 * len(keys) + 1024:
        _, places, numbers = np.unique(keys, return_index=True, return_inverse=True)
        return numbers.astype(np.int64, copy=False), places
    place = np.full(n_keys, -1, np.int64)
    place[keys] = np.arange(len(keys))
    occurs = place >= 0
    return (np.cumsum(occurs) - 1)[keys], place[occurs]
