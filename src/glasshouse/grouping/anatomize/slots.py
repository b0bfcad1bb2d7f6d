# SPDX-License-Identifier: Apache-2.0
"""Slots: places in planned groups, each for a record with a given value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshouse.engines.sorting import shuffle_runs
from glasshouse.kernels import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.randomness import Draws

__all__ = ["hand_out"]


def hand_out(
    codes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    buckets: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    n_values: int,
    slots: NDArray[np.int32],
    source: Draws,
    engine: Memory,
    labels: NDArray[np.int32],
) -> None:
    """Assign every record to a slot of its bucket, uniformly at random; a slot holds the number of a group.

    ``buckets`` are, for every segment, its first bucket; for every bucket, its value and its first slot.
    """
    first, values, starts = buckets
    shuffle_runs(slots, starts, source, engine)
    compiled("glasshouse.grouping.anatomize._kernels").hand_out(
        codes, offsets, first, values, starts, np.zeros(n_values, np.int64), slots, labels
    )
