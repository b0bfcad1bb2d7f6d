# SPDX-License-Identifier: Apache-2.0
"""Do the groups' boxes overlap? Where everybody must fall into one group at most, they may not (CORRUPTION, G3).

Asked of the boxes themselves, whatever method made them. Boxes of a method that cuts come apart by cuts, so they are
cut apart again: O(n d log n) time for the even cuts of Mondrian. Boxes that no cut divides are compared in pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshouse.errors import NotSupported
from glasshouse.kernels import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["find_overlap", "refuse_overlap"]

_FEW = 8  # so many boxes are compared in pairs at once
_LIMIT = 1024  # so many that no cut divides are still compared in pairs
_DENSE = 4  # codes that spread over at most so many times the number of boxes are counted, others sorted


def find_overlap(
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    *,
    few: int = _FEW,
    limit: int = _LIMIT,
    dense: int = _DENSE,
) -> tuple[int, int] | bool:
    """Find two boxes that share a point: their numbers; False if there are none, True if that cannot be told.

    Parameters
    ----------
    low, high
        Smallest and largest code of every box on every attribute (boxes x attributes).
    few, limit, dense
        Sizes at which the work is done in another way: the answer is the same, but for True beyond ``limit``.

    Examples
    --------
    >>> low = np.array([[0, 0], [2, 0], [1, 3]], np.int32)
    >>> find_overlap(low, np.array([[1, 4], [3, 2], [3, 4]], np.int32))
    (0, 2)
    >>> find_overlap(low, np.array([[1, 2], [3, 2], [3, 4]], np.int32))
    False
    """
    n, largest = len(low), int(high.max(initial=0))
    found = np.empty(2, np.int32)
    status = compiled("glasshouse.recoding._kernels").find_overlap(
        np.ascontiguousarray(low),
        np.ascontiguousarray(high),
        np.arange(n, dtype=np.int32),
        np.zeros(128, np.int64),
        *np.zeros((2, largest + 1), np.int64),
        *np.empty((2, 2 * n), np.int32),
        few,
        limit,
        dense,
        found,
    )
    return (int(found.min()), int(found.max())) if status == 1 else status == 2


def refuse_overlap(low: NDArray[np.int32], high: NDArray[np.int32], owner: str) -> None:
    """Raise `NotSupported` unless no two boxes share a point."""
    overlap = find_overlap(low, high)
    if overlap is not False:
        may = "may overlap" if overlap is True else "overlap"
        raise NotSupported(
            f"{owner} of groups whose boxes {may}, so that a person may fall into two of them",
            instead="divide by quasi-identifiers alone with strict cuts: the method 'mondrian' under k-anonymity",
        )
