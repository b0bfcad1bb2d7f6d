# SPDX-License-Identifier: Apache-2.0
"""Earth mover's distances between each group's distribution and the whole table's, in whole numbers.

N. Li, T. Li, S. Venkatasubramanian, "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", ICDE 2007, for the three
ground distances. Each function gives an integer per group and a scale: over ``size * n * scale`` it is the distance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.verification.groups import Histograms, starts_of_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["equal_excess", "hierarchical_excess", "ordered_excess"]

_FITS = 1 << 62  # sums that may reach this are made of Python's integers


def equal_excess(seen: Histograms) -> tuple[NDArray[Any], int]:
    """Equal distance: half the sum of ``|p - q|``, which is the sum of what p has more; scale 1."""
    excess = seen.counts * seen.n
    excess -= seen.totals[seen.values] * seen.sizes_by_entry
    return np.add.reduceat(np.maximum(excess, 0, out=excess), seen.offsets[:-1]), 1


def hierarchical_excess(seen: Histograms, levels: Sequence[NDArray[np.int64]]) -> tuple[NDArray[Any], int]:
    """Hierarchical distance, of a tree of height ``len(levels)``; ``levels[h]`` is each code's ancestor at height h.

    The distance of two values is the height of their lowest common ancestor over the tree's height, so it is the
    average, over the heights below the root, of the equal distance between ancestors; and so is the earth mover's.
    """
    total = np.zeros(len(seen.sizes), np.int64)
    for ancestors in levels:
        bits = int(ancestors.max()).bit_length()
        keys = (seen.groups.astype(np.int64) << bits) | ancestors[seen.values]
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = starts_of_runs(keys)
        counts = np.add.reduceat(seen.counts[order], starts)
        totals = np.zeros(1 << bits, np.int64)
        np.add.at(totals, ancestors, seen.totals)
        total += equal_excess(Histograms.of_pairs(seen.sizes, keys[starts], bits, counts, totals))[0]
    return total, max(len(levels), 1)


def ordered_excess(seen: Histograms) -> tuple[NDArray[Any], int]:
    """Ordered distance, codes in order: the sum over ranks of ``|P - Q|``, P and Q cumulated; scale ranks - 1.

    Between two values of a group P stands still and Q climbs, so the sum over those ranks is two arithmetic pieces,
    before and after Q passes P: nothing is ever spread over groups x values.
    """
    occurring = np.flatnonzero(seen.totals)
    ranks = np.searchsorted(occurring, seen.values)
    n_ranks = len(occurring)
    q = np.cumsum(seen.totals[occurring])
    q_sums = np.append(0, np.cumsum(q))

    # One piece before each group's first value, where P is 0, and one from each value up to the next.
    cumulated = np.cumsum(seen.counts)
    p = cumulated - np.repeat((cumulated - seen.counts)[seen.offsets[:-1]], seen.distinct)
    ends = np.append(ranks[1:], n_ranks)
    ends[seen.offsets[1:] - 1] = n_ranks
    total = _pieces(
        np.zeros_like(seen.sizes), seen.sizes, np.zeros_like(seen.sizes), ranks[seen.offsets[:-1]], q, q_sums
    )
    body = _pieces(p, seen.sizes_by_entry, ranks, ends, q, q_sums)
    return total + np.add.reduceat(body, seen.offsets[:-1]), max(n_ranks - 1, 1)


def _pieces(
    p: NDArray[np.int64],
    size: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    q: NDArray[np.int64],
    q_sums: NDArray[np.int64],
) -> NDArray[Any]:
    """Sum over ``start <= j < end`` of ``|p * n - size * q[j]|``, in Python's integers where 64 bits may not do."""
    n = int(q[-1])
    wide = size >= _FITS // (n * len(q))
    if wide.any() and not wide.all():
        sums = np.empty(len(size), object)
        for part in (wide, ~wide):
            sums[part] = _pieces(p[part], size[part], start[part], end[part], q, q_sums)
        return sums
    turn = np.clip(np.searchsorted(q, p * n // size, side="right"), start, end)  # from here on q is larger
    if wide.any():
        p, size, q_sums = p.astype(object), size.astype(object), q_sums.astype(object)
    smaller = p * n * (turn - start) - size * (q_sums[turn] - q_sums[start])
    larger = size * (q_sums[end] - q_sums[turn]) - p * n * (end - turn)
    return np.asarray(smaller + larger)
