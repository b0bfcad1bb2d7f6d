# SPDX-License-Identifier: Apache-2.0
"""BoundTaxonomy: a taxonomy cut down to the values of one column, ready for questions about ranges of codes.

Nodes are numbered level by level from the root, 0, so of a leaf's ancestors the higher one has the smaller number.
The lowest common ancestor of the leaves ``low .. high`` is then the smallest of the ancestors that neighbours in that
range share, and a table of minima gives it in constant time (Bender, Farach-Colton, "The LCA Problem Revisited", LATIN
2000).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["BoundTaxonomy", "depths", "first_leaves", "level_order", "levels", "renumbered", "upward"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BoundTaxonomy:
    """A tree over the values of one column; made by `Taxonomy.bind`, which see.

    Only nodes with a value below them are here: what else the taxonomy declares shows in `height` and `n_leaves` alone.
    Leaf codes are ``0 .. n - 1`` in leaf order; nodes have numbers of their own.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    >>> diseases = Taxonomy.from_nested({"any": {"lungs": ["flu", "asthma"], "stomach": ["ulcer", "gastritis"]}})
    >>> bound = diseases.bind("disease", pa.array(["asthma", "flu", "gastritis"]))
    >>> bound.order.tolist(), bound.labels
    ([1, 0, 2], ('any', 'lungs', 'stomach', 'flu', 'asthma', 'gastritis'))
    >>> [bound.labels[node] for node in bound.lca([0, 0, 2], [1, 2, 2])]
    ['lungs', 'any', 'gastritis']
    >>> bound.separation.tolist(), bound.ranges[:3].tolist()
    ([1, 0], [[0, 2], [0, 1], [2, 2]])
    """

    order: NDArray[np.int64]  # the bound values in leaf order: leaf code ``i`` stands for ``values[order[i]]``
    labels: tuple[str, ...]  # what each node is published as; no two nodes have the same
    parents: NDArray[np.int32]  # the parent of each node; -1 for the root
    depth: NDArray[np.int32]  # steps from the root to each node
    ranges: NDArray[np.int32]  # first and last leaf code below each node: nodes x 2
    leaves: NDArray[np.int32]  # the node of each leaf code
    heights: NDArray[np.int32] = field(repr=False)
    leaf_counts: NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(
        cls,
        *,
        labels: Sequence[str],
        parents: NDArray[np.int64],
        heights: NDArray[np.int64],
        leaf_counts: NDArray[np.int64],
        values: NDArray[np.int64],
    ) -> BoundTaxonomy:
        """Make it from nodes in level order; ``values`` has the place of each leaf's value, and -1 at inner nodes."""
        is_leaf = values >= 0
        n_bound = upward(parents, is_leaf.astype(np.int64), np.add)
        first = first_leaves(parents, n_bound)
        leaves = np.flatnonzero(is_leaf)[np.argsort(first[is_leaf])]
        return cls(
            order=_still(values[leaves], np.int64),
            labels=tuple(labels),
            parents=_still(parents, np.int32),
            depth=_still(depths(parents), np.int32),
            ranges=_still(np.stack([first, first + n_bound - 1], axis=1), np.int32),
            leaves=_still(leaves, np.int32),
            heights=_still(heights, np.int32),
            leaf_counts=_still(leaf_counts, np.int64),
        )

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        leaves = f"{len(self.leaves):,} of {counted(self.n_leaves(0), 'leaf')}"
        return f"<BoundTaxonomy with {leaves}, {counted(len(self), 'node')}, root {self.labels[0]!r}>"

    @property
    def root(self) -> int:
        """The number of the root."""
        return 0

    @cached_property
    def separation(self) -> NDArray[np.int32]:
        """Depth of the lowest common ancestor of leaves ``i`` and ``i + 1``; one entry less than there are leaves.

        The smallest entry of ``separation[low:high]`` is the depth of the ancestor that ``low .. high`` share.
        """
        return _still(self.depth[self._joints], np.int32)

    def lca(self, low: ArrayLike, high: ArrayLike) -> NDArray[np.int32]:
        """Find the lowest node above both leaves (and so above all between), for many pairs of leaf codes at once.

        Constant time a pair, after one pass of n log n over the leaves.
        """
        one, other = np.asarray(low, np.int64), np.asarray(high, np.int64)
        low, high = np.minimum(one, other), np.maximum(one, other)
        n = len(self.leaves)
        if low.size and (low.min() < 0 or high.max() >= n):
            raise IndexError(f"leaf codes must be in 0 .. {n - 1}")
        width = self._log2[high - low]
        table = self._minima
        nodes = np.minimum(table[width, low], table[width, high - (1 << width)])
        return np.where(low == high, self.leaves[low], nodes)

    def height(self, nodes: Any) -> Any:
        """Longest way down from a node (or from each of many) to a leaf of the whole taxonomy; a leaf has 0.

        Moving weight between two leaves costs ``height(lca) / height(root)`` in the hierarchical distance of Li, Li,
        Venkatasubramanian, "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", ICDE 2007. The taxonomy's own
        height counts, not that of the values at hand: how far two diseases lie apart does not depend on who is ill.
        """
        return self.heights[nodes]

    def n_leaves(self, nodes: Any) -> Any:
        """The number of leaves below a node (or each of many) in the whole taxonomy, also those not in the column."""
        return self.leaf_counts[nodes]

    @cached_property
    def _joints(self) -> NDArray[np.int32]:
        """The lowest common ancestor of leaves ``i`` and ``i + 1``."""
        child = np.arange(1, len(self))
        parent = self.parents[1:]
        first = self.ranges[:, 0]
        # of the nodes whose leaves begin at i + 1 exactly one has a parent that begins earlier: that parent
        opens = child[first[child] > first[parent]]
        joints = np.empty(max(len(self.leaves) - 1, 0), np.int32)
        joints[first[opens] - 1] = self.parents[opens]
        return joints

    @cached_property
    def _minima(self) -> NDArray[np.int32]:
        """Row ``k`` holds the smallest of ``joints[i : i + 2**k]`` at place ``i``."""
        n = len(self.leaves)
        table = np.zeros((max(n - 1, 1).bit_length(), n), np.int32)
        table[0, : n - 1] = self._joints
        for k in range(1, len(table)):
            half = 1 << (k - 1)
            filled = n - 2 * half
            np.minimum(table[k - 1, :filled], table[k - 1, half : half + filled], out=table[k, :filled])
        return table

    @cached_property
    def _log2(self) -> NDArray[np.int64]:
        """Whole binary logarithm of each possible distance between two codes; 0 for distance 0."""
        n = len(self.leaves)
        return np.repeat(np.arange(n.bit_length()), [2 if k == 0 else 1 << k for k in range(n.bit_length())])[:n]


def _still(values: ArrayLike, dtype: type) -> NDArray[Any]:
    """Copy to a read-only array."""
    array: NDArray[Any] = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


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
    """The parents of ``order``'s nodes, given by their indices in ``order``.

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
