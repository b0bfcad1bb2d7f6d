# SPDX-License-Identifier: Apache-2.0
"""Keys of cells: what a group shows of an attribute, as something that sorts as cells do and can be put together.

Groups of different pieces have the same cell if they have the same key. Texts are written once, for all keys.

A range of codes, or a node, is a whole number. A set of codes is a text of digits, one for each code: 1 if it is in the
set, 2 if it is not but a later one is, and 0 after the last. Sets sort as the lists of their codes do, and so do these
texts: where two sets first differ, that with the code comes before one that goes on, and after one that has ended. Of
attributes with very many categories a set is the list of its codes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.recoding.generalization import group_ranges, group_sets, interval_texts, node_texts, set_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata import Column, Domain, Groups

    Keys = Any  # ascending and all different: an array of whole numbers or of bytes, or a list of sets

__all__ = ["cell_keys", "joined_keys", "key_texts", "ranks_among"]

_MARKED = 2048  # attributes of more categories have sets as lists of codes
_SHORT = 8  # bytes of a text that is sorted as one number
_DIGITS = 1 << 24  # that are written at once


def cell_keys(column: Column, groups: Groups, *, nodes: bool) -> tuple[Keys, NDArray[np.int32]]:
    """The different keys of the groups' cells, and which of them each group has.

    ``nodes`` says whether cells are nodes of the attribute's taxonomy, where it has one.
    """
    domain = column.domain
    if not _has_nodes(domain, nodes=nodes) and not domain.ordered:
        return group_sets(column, groups) if domain.size > _MARKED else _set_keys(column, groups)
    ranges = group_ranges(column, groups)
    size = domain.size + 1
    keys = ((ranges.low * size + ranges.high + 1) << 1) | ranges.missing
    if not _has_nodes(domain, nodes=nodes):
        return keys, ranges.of_group
    assert domain.taxonomy is not None
    known = ranges.low <= ranges.high
    node = np.full(len(known), -1, np.int64)
    node[known] = domain.taxonomy.lca(ranges.low[known], ranges.high[known])
    leaf = np.where(ranges.low == ranges.high, ranges.low, -1)
    distinct, of_range = np.unique((((node + 1) * size + leaf + 1) << 1) | ranges.missing, return_inverse=True)
    return distinct, of_range.astype(np.int32)[ranges.of_group]


def _set_keys(column: Column, groups: Groups) -> tuple[Keys, NDArray[np.int32]]:
    """The sets of codes of groups, none of them empty, as texts of two bits a digit."""
    offsets, codes, _ = groups.counts(column).histogram
    width = -(-column.domain.size // 4)
    width = _SHORT if width <= _SHORT else width
    texts = np.empty((groups.n_groups, width), np.uint8)
    step = max(1, _DIGITS // (4 * width))
    for start in range(0, groups.n_groups, step):
        own = offsets[start : start + step + 1]
        last = codes[own[1:] - 1]
        digits = 2 * (np.arange(4 * width) < last[:, np.newaxis]).astype(np.uint8)
        digits[np.repeat(np.arange(len(last)), np.diff(own)), codes[own[0] : own[-1]]] = 1
        by_four = digits.reshape(len(last), width, 4)
        texts[start : start + step] = by_four[:, :, 0] << 6 | by_four[:, :, 1] << 4 | by_four[:, :, 2] << 2
        texts[start : start + step] |= by_four[:, :, 3]
    keys = texts.view(">u8").astype(np.uint64) if width == _SHORT else texts.view(f"S{width}")
    distinct, of_group = np.unique(keys.reshape(-1), return_inverse=True)
    return distinct, of_group.astype(np.int32)


def _sets_of(keys: Keys, size: int) -> list[tuple[int, ...]]:
    """The codes of sets that are texts."""
    texts = keys.astype(">u8") if keys.dtype.kind == "u" else keys
    packed = np.frombuffer(texts.tobytes(), np.uint8).reshape(len(keys), -1)
    digits = np.stack([packed >> 6, packed >> 4 & 3, packed >> 2 & 3, packed & 3], axis=2).reshape(len(keys), -1)
    rows, codes = np.nonzero(digits[:, :size] == 1)
    borders = np.searchsorted(rows, np.arange(len(keys) + 1)).tolist()
    listed = codes.tolist()
    return [tuple(listed[a:b]) for a, b in pairwise(borders)]


def joined_keys(several: Sequence[Keys]) -> Keys:
    """All keys that occur in some of several lists.

    >>> joined_keys([np.array([1, 5]), np.array([3, 5])]).tolist(), joined_keys([[(0,), (2, 3)], [(0, 9)]])
    ([1, 3, 5], [(0,), (0, 9), (2, 3)])
    """
    if any(isinstance(keys, list) for keys in several):
        return sorted(set().union(*several))
    return np.unique(np.concatenate(several)) if several else np.zeros(0, np.int64)


def ranks_among(keys: Keys, every: Keys) -> NDArray[np.int64]:
    """The places of some keys in a list of all.

    >>> ranks_among(np.array([1, 5]), np.array([1, 3, 5])).tolist(), ranks_among([(0, 9)], [(0,), (0, 9)]).tolist()
    ([0, 2], [1])
    """
    if isinstance(every, list):
        place = {key: i for i, key in enumerate(every)}
        return np.array([place[key] for key in keys], np.int64)
    return np.searchsorted(every, np.asarray(keys))


def key_texts(column: Column, keys: Keys, *, nodes: bool) -> list[str]:
    """The cells as they are published."""
    domain = column.domain
    if isinstance(keys, list):
        return set_texts(column, keys)
    if keys.dtype.kind in "uS":
        return set_texts(column, _sets_of(keys, domain.size))
    size = domain.size + 1
    ends, missing = keys >> 1, keys & 1
    first, second = ends // size, ends % size - 1
    if _has_nodes(domain, nodes=nodes):
        return node_texts(domain, first - 1, second, missing)
    return interval_texts(domain, first, second, missing)


def _has_nodes(domain: Domain, *, nodes: bool) -> bool:
    return nodes and domain.taxonomy is not None
