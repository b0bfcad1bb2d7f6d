# SPDX-License-Identifier: Apache-2.0
"""Groups: a partition of a table's records, as a label for each; and the order that breaks ties between equal records.

TRANSPARENT breaks ties by identifier, which must say nothing about the sensitive value. With a declared identifier that
is its order. Without one it is a secret uniform random order, drawn for the run; never a row's position in the file,
nor any sort that saw a sensitive value: the theorems hold for every order fixed independently of those values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from glasshouse.kernels import compiled
from glasshouse.microdata.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.domains import Column
    from glasshouse.microdata.table import Microdata
    from glasshouse.randomness import Source

__all__ = ["Groups", "alike", "canonical_order", "secret_order", "tie_order"]


@dataclass(frozen=True, eq=False)
class Groups:
    """A label for every record: ``0 .. n_groups - 1``, or -1 for a record that is not published.

    Labels say which records are together and nothing else. A method numbers groups as it likes, so labels are never
    published as they come: `renumbered` first.

    >>> groups = Groups(np.array([1, 0, 1, -1], np.int32), 2)
    >>> groups.sizes.tolist(), groups.n_dropped
    ([1, 2], 1)
    >>> groups.order.tolist(), groups.offsets.tolist()
    ([1, 0, 2], [0, 1, 3])
    """

    labels: NDArray[np.int32]
    n_groups: int

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Records in each group."""
        sizes = np.zeros(self.n_groups, np.int64)
        _kernels().label_sizes(self.labels, sizes)
        return sizes

    @property
    def n_dropped(self) -> int:
        """Records that are not published."""
        return len(self.labels) - int(self.offsets[-1])

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each group starts in `order`; one more entry than there are groups."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def order(self) -> NDArray[np.int32]:
        """Records (row numbers), group after group."""
        order = np.empty(int(self.offsets[-1]), np.int32)
        _kernels().group_order(self.labels, self.offsets[:-1].copy(), order)
        return order

    def renumbered(self, source: Source) -> Groups:
        """Give the groups fresh numbers, uniformly at random: nothing of how or where they were made shows in them.

        >>> from glasshouse.randomness import Source
        >>> groups = Groups(np.array([0, 0, 1, -1], np.int32), 2).renumbered(Source.seeded(1))
        >>> groups.labels[0] == groups.labels[1] != groups.labels[2], groups.labels[3]
        (np.True_, np.int32(-1))
        """
        numbers = source.numbering(self.n_groups).of(np.arange(self.n_groups))
        return self.relabelled(numbers.astype(np.int32), self.n_groups)

    def relabelled(self, numbers: NDArray[np.int32], n_groups: int) -> Groups:
        """Give group ``g`` the number ``numbers[g]``; groups with one number become one.

        >>> Groups(np.array([0, 1, 2, -1], np.int32), 3).relabelled(np.array([1, 0, 1], np.int32), 2).labels.tolist()
        [1, 0, 1, -1]
        """
        labels = np.empty_like(self.labels)
        _kernels().relabel(self.labels, numbers, labels)
        return Groups(labels, n_groups)

    def spread(self, rows: NDArray[Any], n_tuples: int) -> Groups:
        """Give the same groups as a partition of a larger table, of which only ``rows`` are published.

        >>> Groups(np.array([0, 0], np.int32), 1).spread(np.array([0, 2]), 3).labels.tolist()
        [0, -1, 0]
        """
        labels = np.full(n_tuples, -1, np.int32)
        labels[rows] = self.labels
        return Groups(labels, self.n_groups)

    def counts(self, column: Column) -> Counts:
        """Count a column's codes in every group."""
        gathered = np.empty(int(self.offsets[-1]), np.int32)
        _kernels().gather_codes(self.labels, column.codes, self.offsets[:-1].copy(), gathered)
        return Counts(gathered, self.offsets, column.domain.size)


def _kernels() -> Any:
    return compiled("glasshouse.microdata._counting_kernels")


def alike(columns: Sequence[Column]) -> Groups:
    """Put records with equal values in all columns into a group.

    >>> import pyarrow as pa
    >>> from glasshouse.microdata.domains import code
    >>> alike([code(pa.array([30, 31, 30]), name="age"), code(pa.array(["F", "F", "F"]), name="sex")]).labels.tolist()
    [0, 1, 0]
    """
    labels = np.zeros(len(columns[0].codes), np.int64)
    n_labels = 1
    for column in columns:
        # labels and codes are below 2^31 each; numbered again, they still are
        distinct, found = np.unique(labels * column.domain.size + column.codes, return_inverse=True)
        labels, n_labels = found.reshape(-1).astype(np.int64), len(distinct)
    return Groups(labels.astype(np.int32), n_labels)


def tie_order(table: Microdata, source: Source) -> NDArray[np.int32]:
    """Return the records (row numbers) in the order that breaks ties: by identifier, or else a secret one."""
    if table.identifier is not None:
        return np.asarray(pc.array_sort_indices(table.identifier)).astype(np.int32)
    return secret_order(table, source)


def secret_order(table: Microdata, source: Source) -> NDArray[np.int32]:
    """Return the records (row numbers) in a uniformly random order.

    A seeded source must give the same release for every order of the input's rows: the shuffle is then drawn over a
    canonical order, in which only records that are equal in every column may change places.
    """
    shuffled = source.permutation(table.n_tuples)
    return canonical_order(table)[shuffled] if source.is_seeded else shuffled.astype(np.int32)


def canonical_order(table: Microdata) -> NDArray[np.int32]:
    """Sort records by all their codes, then by identifier. For seeded runs only; no method ever sees the position."""
    keys = [column.codes for column in (*table.quasi, *table.sensitive)]
    if table.identifier is not None:
        keys.append(np.argsort(pc.array_sort_indices(table.identifier)).astype(np.int32))
    return np.lexsort(keys[::-1]).astype(np.int32)
