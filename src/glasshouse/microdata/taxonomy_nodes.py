# SPDX-License-Identifier: Apache-2.0
"""Trees as arrays of parents, numbered level by level.

The root is 0 and its parent -1; then come its children from left to right, then theirs, and so on. So parents ascend,
siblings lie side by side, every level is a slice, and whole levels are computed at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["depths", "first_leaves", "level_order", "levels", "renumbered", "upward"]


def level_order(parents: NDArray[np.int64], keys: NDArray[Any]) -> NDArray[np.int64]:
    """List the nodes of a tree with any numbering level by level, siblings by their keys.

    >>> level_order(np.array([1, -1, 1, 2]), np.array([9, 0, 3, 0])).tolist()
    [1, 2, 0, 3]
    """
    by_parent = np.lexsort((keys, parents))
    n_children = np.bincount(parents + 1, minlength=len(parents) + 1)[1:]
    starts = 1 + np.cumsum(n_children) - n_children  # after the root, which has the smallest parent of all
    level = by_parent[:1]
    found = [level]
    while (total := int(n_children[level].sum())) > 0:
        sizes = n_children[level]
        level = by_parent[np.repeat(starts[level] - (np.cumsum(sizes) - sizes), sizes) + np.arange(total)]
        found.append(level)
    return np.concatenate(found)


def renumbered(parents: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Write the parents of ``order``'s nodes with their places in ``order`` as numbers.

    >>> renumbered(np.array([1, -1, 1, 2]), np.array([1, 2, 0, 3])).tolist()
    [-1, 0, 0, 1]
    """
    place = np.full(len(parents) + 1, -1, np.int64)
    place[order] = np.arange(len(order))
    return place[parents[order]]


def levels(parents: NDArray[np.int64]) -> list[slice]:
    """Cut the nodes into levels, the root's first.

    >>> levels(np.array([-1, 0, 0, 1]))
    [slice(0, 1, None), slice(1, 3, None), slice(3, 4, None)]
    """
    found = [slice(0, 1)]
    while (end := int(np.searchsorted(parents, found[-1].stop))) > found[-1].stop:
        found.append(slice(found[-1].stop, end))
    return found


def depths(parents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the steps from the root to each node."""
    return np.repeat(np.arange(len(levels(parents))), [level.stop - level.start for level in levels(parents)])


def upward(parents: NDArray[np.int64], values: NDArray[Any], fold: np.ufunc, step: int = 0) -> NDArray[Any]:
    """Fold each node's value with those of its children, from the deepest level up, adding ``step`` a level.

    >>> upward(np.array([-1, 0, 0, 1]), np.array([0, 0, 1, 1]), np.add).tolist()
    [2, 1, 1, 1]
    """
    folded = np.array(values)
    for level in reversed(levels(parents)[1:]):
        fold.at(folded, parents[level], folded[level] + step)
    return folded


def first_leaves(parents: NDArray[np.int64], n_leaves: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the first leaf below each node, of leaves numbered from left to right; a node has ``n_leaves`` of them.

    >>> first_leaves(np.array([-1, 0, 0, 1]), np.array([2, 1, 1, 1])).tolist()
    [0, 0, 1, 0]
    """
    first = np.zeros(len(parents), np.int64)
    for level in levels(parents)[1:]:
        above = parents[level]
        before = np.cumsum(n_leaves[level]) - n_leaves[level]
        first[level] = first[above] + before - before[np.searchsorted(above, above)]
    return first
