# SPDX-License-Identifier: Apache-2.0
"""Tally: groups of rows that stand together, counted batch by batch.

A group ends where the next one begins, in the same batch or in a later one, in the same file or in the next. Of a group
that goes on no more is kept than how often each value occurred in it so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.errors import GuaranteeBroken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Counted", "Entries", "Tally"]


@dataclass(frozen=True, eq=False)
class Entries:
    """How often values occur in groups; entries ascend by group."""

    groups: NDArray[np.int64]  # one per entry: the place of the group
    codes: NDArray[np.int64]  # the value
    counts: NDArray[np.int64]  # how often the group has it


@dataclass(frozen=True, eq=False)
class Counted:
    """Some complete groups, in order."""

    keys: tuple[NDArray[np.int64], ...]  # for each column in which the rows of a group agree, the group's code
    sizes: NDArray[np.int64]
    tops: tuple[NDArray[np.int64], ...]  # for each sensitive column, how often the most frequent value occurs
    distinct: tuple[NDArray[np.int64], ...]  # and how many different values there are
    entries: tuple[Entries, ...] = ()  # and how often each of them occurs, if that is kept


class Tally:
    """Counts groups of rows that are read in batches.

    Parameters
    ----------
    n_values
        How many sensitive columns are counted.
    weighted
        Whether a row stands for several records of the same value; then no group may list a value twice.
    keep
        Whether `Counted.entries` are given.

    Examples
    --------
    >>> tally = Tally(1)
    >>> ill = np.array([1, 2, 2]), 3
    >>> found = tally.see(np.array([True, False, True]), [np.array([1, 1, 2])], [ill])
    >>> found.sizes.tolist(), found.tops[0].tolist()
    ([2], [1])
    >>> tally.finish().sizes.tolist()
    [1]
    """

    def __init__(self, n_values: int, *, weighted: bool = False, keep: bool = False) -> None:
        self._n_values = n_values
        self._weighted = weighted
        self._keep = keep
        self._keys: list[int] = []
        self._size = 0
        self._counts: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []

    def see(
        self,
        begins: NDArray[np.bool_],
        keys: Sequence[NDArray[np.int64]],
        values: Sequence[tuple[NDArray[np.int64], int]],
        weights: NDArray[np.int64] | None = None,
    ) -> Counted:
        """Process the next rows, and return the groups completed by them.

        ``begins`` tells which rows begin a group, ``keys`` are columns in which the rows of a group agree, ``values``
        sensitive columns as codes, each with one more than its largest code.
        """
        starts = np.flatnonzero(begins)
        ends = np.append(starts, len(begins))
        if weights is None:
            sizes, head = np.diff(ends), int(ends[0])
        else:
            totals = np.concatenate([[0], np.cumsum(weights)])
            sizes, head = np.diff(totals[ends]), int(totals[ends[0]])
        runs = np.cumsum(begins, dtype=np.int64)
        entries = [self._entries(runs, codes, n_codes, weights) for codes, n_codes in values]
        self._size += head
        self._counts = [self._joined(i, run, code, count) for i, (run, code, count) in enumerate(entries)]
        if not len(starts):
            return self._nothing(len(keys))
        closed = self._closed() if self._keys else self._nothing(len(keys))
        whole = self._whole(len(starts) - 1, sizes[:-1], [key[starts[:-1]] for key in keys], entries)
        self._keys = [int(key[starts[-1]]) for key in keys]
        self._size = int(sizes[-1])
        self._counts = [_of_run(entry, len(starts)) for entry in entries]
        return _together(closed, whole)

    def finish(self) -> Counted:
        """The last group, which is complete now."""
        return self._closed() if self._keys else self._nothing(0)

    @property
    def open_group(self) -> tuple[int, list[tuple[NDArray[np.int64], NDArray[np.int64]]]]:
        """The size of the unfinished group, and for each sensitive column its values and their counts."""
        return self._size, self._counts

    def _entries(
        self, runs: NDArray[np.int64], codes: NDArray[np.int64], n_codes: int, weights: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Runs, values and how often the value occurs in the run, ascending."""
        pairs = runs * np.int64(n_codes) + codes
        if not (pairs[1:] >= pairs[:-1]).all():
            order = np.argsort(pairs, kind="stable")
            pairs, runs, codes = pairs[order], runs[order], codes[order]
            weights = None if weights is None else weights[order]
        firsts = np.concatenate([[0], np.flatnonzero(pairs[1:] != pairs[:-1]) + 1]).astype(np.int64)
        if self._weighted and len(firsts) < len(pairs):
            raise GuaranteeBroken("a published group lists a sensitive value twice")
        counts = np.diff(np.append(firsts, len(pairs))) if weights is None else np.add.reduceat(weights, firsts)
        return runs[firsts], codes[firsts], counts

    def _joined(
        self, i: int, run: NDArray[np.int64], code: NDArray[np.int64], count: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The counts of values in the unfinished group, with its rows in this batch added."""
        codes, counts = _of_run((run, code, count), 0)
        if not self._counts:
            return codes, counts
        before, so_far = self._counts[i]
        if not len(codes):
            return before, so_far
        both, places = np.unique(np.concatenate([before, codes]), return_inverse=True)
        if self._weighted and len(both) < len(before) + len(codes):
            raise GuaranteeBroken("a published group lists a sensitive value twice")
        total = np.bincount(places.reshape(-1), np.concatenate([so_far, counts]))  # exact below 2^53
        return both, total.astype(np.int64)

    def _closed(self) -> Counted:
        return Counted(
            keys=tuple(np.array([key], np.int64) for key in self._keys),
            sizes=np.array([self._size], np.int64),
            tops=tuple(np.array([counts.max()], np.int64) for _, counts in self._counts),
            distinct=tuple(np.array([len(counts)], np.int64) for _, counts in self._counts),
            entries=tuple(Entries(np.zeros(len(codes), np.int64), codes, counts) for codes, counts in self._counts)
            if self._keep
            else (),
        )

    def _whole(
        self,
        n_runs: int,
        sizes: NDArray[np.int64],
        keys: list[NDArray[np.int64]],
        entries: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]],
    ) -> Counted:
        """The groups that begin and end in this batch: the runs 1 to ``n_runs``."""
        tops, distinct, kept = [], [], []
        for run, code, count in entries:
            borders = np.searchsorted(run, np.arange(1, n_runs + 2))
            within = slice(borders[0], borders[-1])
            inside = count[within]
            tops.append(np.maximum.reduceat(inside, borders[:-1] - borders[0]) if n_runs else inside[:0])
            distinct.append(np.diff(borders))
            if self._keep:
                kept.append(Entries(run[within] - 1, code[within], inside))
        return Counted(tuple(keys), sizes, tuple(tops), tuple(distinct), tuple(kept))

    def _nothing(self, n_keys: int) -> Counted:
        nothing = np.empty(0, np.int64)
        none = (nothing,) * self._n_values
        kept = (Entries(nothing, nothing, nothing),) * (self._n_values if self._keep else 0)
        return Counted((nothing,) * n_keys, nothing, none, none, kept)


def _of_run(
    entries: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], run: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    runs, codes, counts = entries
    start, end = np.searchsorted(runs, [run, run + 1])
    return codes[start:end], counts[start:end]


def _together(one: Counted, other: Counted) -> Counted:
    def joined(
        some: tuple[NDArray[np.int64], ...], more: tuple[NDArray[np.int64], ...]
    ) -> tuple[NDArray[np.int64], ...]:
        return tuple(np.concatenate(pair) for pair in zip(some, more, strict=True))

    return Counted(
        joined(one.keys, other.keys),
        np.concatenate([one.sizes, other.sizes]),
        joined(one.tops, other.tops),
        joined(one.distinct, other.distinct),
        tuple(
            Entries(
                np.concatenate([some.groups, more.groups + len(one.sizes)]),
                np.concatenate([some.codes, more.codes]),
                np.concatenate([some.counts, more.counts]),
            )
            for some, more in zip(one.entries, other.entries, strict=True)
        ),
    )
