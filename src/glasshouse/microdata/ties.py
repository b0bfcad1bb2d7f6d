# SPDX-License-Identifier: Apache-2.0
"""The order that breaks ties between tuples with equal values.

TRANSPARENT breaks ties by identifier, which must say nothing about the sensitive value. With a declared identifier that
is its order. Without one it is a secret uniform random order, drawn for the run; never a row's position in the file,
nor any sort that saw a sensitive value: the theorems hold for every order fixed independently of those values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.microdata.table import Microdata
    from glasshouse.randomness import Source

__all__ = ["canonical_order", "secret_order", "tie_order"]


def tie_order(table: Microdata, source: Source) -> NDArray[np.int32]:
    """Return the tuples (row numbers) in the order that breaks ties: by identifier, or else a secret one."""
    if table.identifier is not None:
        return np.asarray(pc.array_sort_indices(table.identifier)).astype(np.int32)
    return secret_order(table, source)


def secret_order(table: Microdata, source: Source) -> NDArray[np.int32]:
    """Return the tuples (row numbers) in a uniformly random order.

    A seeded source must give the same release for every order of the input's rows: the shuffle is then drawn over a
    canonical order, in which only tuples that are equal in every column may change places.
    """
    shuffled = source.permutation(table.n_tuples)
    return canonical_order(table)[shuffled] if source.is_seeded else shuffled.astype(np.int32)


def canonical_order(table: Microdata) -> NDArray[np.int32]:
    """Sort tuples by all their codes, then by identifier. For seeded runs only; no method ever sees such a position."""
    keys = [column.codes for column in (*table.quasi, *table.sensitive)]
    if table.identifier is not None:
        keys.append(np.argsort(pc.array_sort_indices(table.identifier)).astype(np.int32))
    return np.lexsort(keys[::-1]).astype(np.int32)
