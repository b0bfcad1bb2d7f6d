# SPDX-License-Identifier: Apache-2.0
"""Groups: a partition of a table's tuples, as a label per tuple."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.kernels import compiled
from glasshouse.microdata.counts import Counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.microdata.domains import Column

__all__ = ["Groups"]


@dataclass(frozen=True, eq=False)
class Groups:
    """A label for every tuple: ``0 .. n_groups - 1``, or -1 for a tuple that is not published.

    Labels say which tuples are together and nothing else: they are never published as they are.

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
        """Tuples in each group."""
        return np.bincount(self.labels[self.labels >= 0] if self.n_dropped else self.labels, minlength=self.n_groups)

    @cached_property
    def n_dropped(self) -> int:
        """Tuples that are not published."""
        return int(np.count_nonzero(self.labels < 0))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each group starts in `order`; one more entry than there are groups."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def order(self) -> NDArray[np.int32]:
        """Tuples (row numbers), group after group."""
        order = np.empty(int(self.offsets[-1]), np.int32)
        kernels = compiled("glasshouse.microdata._counting_kernels")
        kernels.group_order(self.labels, self.offsets[:-1].copy(), order)
        return order

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
        return Counts(column.codes[self.order], self.offsets, column.domain.size)
