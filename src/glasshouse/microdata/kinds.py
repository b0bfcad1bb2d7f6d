# SPDX-License-Identifier: Apache-2.0
"""Kinds: the number of people of each kind; apart from the secret key, a release depends on nothing else.

People with equal quasi-identifiers and equal sensitive values are of one kind. Nothing that is published can tell them
apart, so a table is divided as kinds: not as rows, whose order, files and machines would only have to be forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.microdata.domains import Column
from glasshouse.microdata.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.table import Microdata

__all__ = ["Kinds", "kinds_of"]

_WORD = 63  # bits of a key that packs several columns


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kinds of people in a table, in the order of all their codes: quasi-identifiers first, then sensitive values.

    Parameters
    ----------
    table
        One record for each kind.
    counts
        How many people are of each kind.

    Examples
    --------
    >>> from glasshouse.microdata import examples
    >>> kinds, of_row = kinds_of(examples.transparent_t1())
    >>> len(kinds), kinds.n_people, of_row.tolist()
    (8, 8, [0, 1, 3, 2, 4, 7, 6, 5])
    """

    table: Microdata
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def n_people(self) -> int:
        """People of all kinds."""
        return int(self.counts.sum())

    def some(self, which: NDArray[np.int32], counts: NDArray[np.int64]) -> Kinds:
        """Some of the kinds, with these numbers of people."""
        return Kinds(self.table.take(which), counts)

    def points(self) -> Groups:
        """The kinds that are equal in all quasi-identifiers, as groups in the order of these."""
        codes = np.stack([column.codes for column in self.table.quasi])
        fresh = np.ones(len(self), bool)
        fresh[1:] = (codes[:, 1:] != codes[:, :-1]).any(axis=0)
        return Groups((np.cumsum(fresh) - 1).astype(np.int32), int(fresh.sum()))

    def there(self, counts: NDArray[np.int64]) -> Kinds:
        """The given numbers of people of each kind, without the kinds that have none."""
        which = np.flatnonzero(counts).astype(np.int32)
        return (
            self if len(which) == len(self) and np.array_equal(counts, self.counts) else self.some(which, counts[which])
        )

    def rows_kept(self, counts: NDArray[np.int64], rows: NDArray[np.int32]) -> NDArray[np.int32]:
        """The first so many rows of each kind; ``rows`` come kind after kind."""
        within = np.arange(len(rows)) - np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        return rows[within < np.repeat(counts, self.counts)]

    def people(self) -> Microdata:
        """A record for each person, kind after kind."""
        return self.table.take(np.repeat(np.arange(len(self), dtype=np.int32), self.counts))


def kinds_of(table: Microdata, weights: NDArray[np.int64] | None = None) -> tuple[Kinds, NDArray[np.int32]]:
    """The kinds of people in a table, and which of them everybody is; a record may stand for several people."""
    columns = (*table.quasi, *table.sensitive)
    distinct, number, counts = distinct_rows(columns)
    if weights is not None:
        counts = np.bincount(number, weights, minlength=len(counts)).astype(np.int64)
    codes = tuple(Column(column.domain, own) for column, own in zip(columns, distinct, strict=True))
    n_quasi = len(table.quasi)
    kinds = replace(table, quasi=codes[:n_quasi], sensitive=codes[n_quasi:], identifier=None, n_tuples=len(counts))
    return Kinds(kinds, counts), number


def distinct_rows(
    columns: Sequence[Column],
) -> tuple[list[NDArray[np.int32]], NDArray[np.int32], NDArray[np.int64]]:
    """The different combinations of codes, ascending; which of them each record has; and how many records have each."""
    n = len(columns[0].codes)
    number, n_distinct = np.zeros(n, np.int64), 1
    parts: list[list[Column]] = [[]]
    bits = 0
    for column in columns:
        width = max(column.domain.size - 1, 0).bit_length()
        if bits + width > _WORD - 32 and parts[-1]:  # a number of combinations takes up to 31 bits
            parts.append([])
            bits = 0
        parts[-1].append(column)
        bits += width
    for some in parts:
        keys = number
        for column in some:
            keys = keys * column.domain.size + column.codes
        distinct, number = np.unique(keys, return_inverse=True)
        number = number.reshape(-1)
        n_distinct = len(distinct)
    example = np.empty(n_distinct, np.int64)
    example[number] = np.arange(n)
    counts = np.bincount(number, minlength=n_distinct)
    return [column.codes[example] for column in columns], number.astype(np.int32), counts.astype(np.int64)
