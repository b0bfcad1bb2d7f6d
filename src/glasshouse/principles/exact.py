# SPDX-License-Identifier: Apache-2.0
"""Deciding in integers, for many groups at once: products that never overflow, reductions that mind empty groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LARGEST", "at_most", "per_group"]

LARGEST = 2**63 - 1
"""The largest number that an array of integers holds."""


def at_most(
    left: NDArray[np.int64], left_factor: int, right: NDArray[np.int64], right_factor: int
) -> NDArray[np.bool_]:
    """Compare ``left * left_factor <= right * right_factor`` group by group, exactly; nothing may be negative.

    Groups whose products might not fit 64 bits are compared in Python's integers.

    >>> at_most(np.array([1, 2**62]), 3, np.array([3, 2**62]), 2).tolist()
    [True, False]
    """
    holds = np.zeros(len(left), np.bool_)
    fits = holds.copy()
    if max(left_factor, right_factor) <= LARGEST:
        fits = (left <= LARGEST // max(left_factor, 1)) & (right <= LARGEST // max(right_factor, 1))
        if fits.all():
            return np.asarray(left * left_factor <= right * right_factor)
        holds[fits] = left[fits] * left_factor <= right[fits] * right_factor
    large = np.flatnonzero(~fits)
    pairs = zip(left[large].tolist(), right[large].tolist(), strict=True)
    holds[large] = [a * left_factor <= b * right_factor for a, b in pairs]
    return holds


def per_group(reduction: np.ufunc, entries: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[Any]:
    """Reduce the entries of each group to one number; an empty group gets 0.

    >>> per_group(np.add, np.array([1, 2, 4]), np.array([0, 2, 2, 3])).tolist()
    [3, 0, 4]
    """
    reduced = np.zeros(len(offsets) - 1, entries.dtype)
    filled = np.diff(offsets) > 0
    if filled.any():
        # an empty group starts where the next one does: without it the remaining starts bound the right entries
        reduced[filled] = reduction.reduceat(entries, offsets[:-1][filled])
    return reduced
