# SPDX-License-Identifier: Apache-2.0
"""Uniqueness: how many rows are alone with their values in some columns, and in which columns the most are.

Everything is counted on all rows, never on a sample: a row that is unique in a sample need not be unique in the table.
Missing is a value of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nsmallest
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.domains import Column

__all__ = ["Uniqueness", "best_pairs_and_triples", "most_distinguishing", "n_unique", "percent", "share", "uniqueness"]

BEST = 3  # pairs and triples that are reported
KEY_LIMIT = 1 << 62  # combinations of values are numbered below this, so that a key never overflows


@dataclass(frozen=True, kw_only=True, slots=True)
class Uniqueness:
    """How many rows are unique by some columns.

    >>> print(Uniqueness(columns=("age", "sex", "zipcode"), unique=870, n_tuples=1000))
    87 % of rows are unique by age, sex, zipcode
    """

    columns: tuple[str, ...]
    unique: int
    n_tuples: int

    @property
    def share(self) -> float:
        """Share of rows that are unique."""
        return share(self.unique, self.n_tuples)

    def __str__(self) -> str:
        return f"{percent(self.share)} of rows are unique by {', '.join(self.columns)}"


def uniqueness(columns: Sequence[Column]) -> Uniqueness:
    """Count the rows that are unique in all these columns together; there must be one at least."""
    names = tuple(column.name for column in columns)
    return Uniqueness(columns=names, unique=n_unique(_cell_sizes(columns)), n_tuples=len(columns[0].codes))


def most_distinguishing(columns: Sequence[Column], *, most: int) -> list[Column]:
    """Keep the columns in which two random rows differ most often, at most so many, in the order given."""

    def agreements(column: Column) -> tuple[int, str]:
        counts = np.bincount(column.codes)
        return int(counts @ counts), column.name

    kept = {column.name for column in nsmallest(most, columns, key=agreements)}
    return [column for column in columns if column.name in kept]


def best_pairs_and_triples(columns: Sequence[Column]) -> tuple[tuple[Uniqueness, ...], tuple[Uniqueness, ...]]:
    """Find the pairs and the triples that single out the most rows, best first, ties in the order given.

    Every pair is counted. A triple is not, where its pairs show that it cannot be among the best: once a cell of ``m``
    rows is split by a column of ``c`` values, at most ``m`` of them are unique, and if ``m > c`` at most ``c - 1``.
    """
    sizes = {pair: _cell_sizes([columns[i] for i in pair]) for pair in combinations(range(len(columns)), 2)}
    pairs = nsmallest(BEST, (_Counted(-n_unique(cells), pair) for pair, cells in sizes.items()))
    histograms = {pair: _histogram(cells) for pair, cells in sizes.items()}

    def bound(triple: tuple[int, ...]) -> int:
        """Bound the unique rows of a triple by each pair in it and the values of the third column."""
        splits = ((histograms[_without(triple, i)], columns[i].domain.size) for i in triple)
        return min(int(np.where(size <= c, size, c - 1) @ n_cells) for (size, n_cells), c in splits)

    triples: list[_Counted] = []
    for hoped in sorted(_Counted(-bound(triple), triple) for triple in combinations(range(len(columns)), 3)):
        if len(triples) == BEST and hoped > triples[-1]:
            break  # neither this triple nor any after it can displace one that is kept
        found = _Counted(-n_unique(_cell_sizes([columns[i] for i in hoped.indices])), hoped.indices)
        triples = nsmallest(BEST, [*triples, found])
    return tuple(found.named(columns) for found in pairs), tuple(found.named(columns) for found in triples)


class _Counted(NamedTuple):
    """Some columns and their unique rows, negated so that the best come first when sorted."""

    minus_unique: int
    indices: tuple[int, ...]

    def named(self, columns: Sequence[Column]) -> Uniqueness:
        names = tuple(columns[i].name for i in self.indices)
        return Uniqueness(columns=names, unique=-self.minus_unique, n_tuples=len(columns[0].codes))


def _without(triple: tuple[int, ...], index: int) -> tuple[int, int]:
    first, second = (i for i in triple if i != index)
    return first, second


def _cell_sizes(columns: Sequence[Column]) -> NDArray[np.int64]:
    """Rows of each combination of values; combinations that do not occur may be there as zeros."""
    keys = columns[0].codes.astype(np.int64)
    n_keys = columns[0].domain.size
    for column in columns[1:]:
        if n_keys * column.domain.size > KEY_LIMIT:
            seen, keys = np.unique(keys, return_inverse=True)
            n_keys = len(seen)
        keys = keys * column.domain.size + column.codes
        n_keys *= column.domain.size
    if n_keys <= max(len(keys), 1 << 16):  # a table of counts that is not much larger than the rows
        return np.bincount(keys)
    ordered = np.sort(keys.astype(np.uint32) if n_keys <= 1 << 32 else keys)
    starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return np.diff(starts, prepend=0, append=len(ordered))


def _histogram(cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different sizes of cells, and the number of cells of each size."""
    counts = np.bincount(cells)
    sizes = np.flatnonzero(counts)
    return sizes, counts[sizes]


def n_unique(cells: NDArray[np.int64]) -> int:
    """Rows that are alone in their cell."""
    return int(np.count_nonzero(cells == 1))


def share(part: int, whole: int) -> float:
    """A part of a whole as a share; 0 if the whole is 0."""
    return part / whole if whole else 0.0


def percent(share: float) -> str:
    """Print a share in percent, as 0 or 100 only if it is.

    >>> percent(0.873), percent(0.9996), percent(0.0123), percent(1e-6), percent(1.0)
    ('87 %', '>99.9 %', '1.2 %', '<0.1 %', '100 %')
    """
    number = 100 * share
    if 0 < number < 0.1:
        return "<0.1 %"
    if 99.9 < number < 100:
        return ">99.9 %"
    return f"{number:.1f} %" if 0 < number < 9.95 or 99 < number < 100 else f"{number:.0f} %"
