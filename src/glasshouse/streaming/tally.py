# SPDX-License-Identifier: Apache-2.0
"""Tally: the number of people with each combination of codes, counted while the codes are read in batches.

The codes of a person are packed into a number, or into several words of 64 bits where one does not hold them, so that
packed codes sort as the codes do. Numbers are gathered until they are half as many as there are combinations, two
million at least, then sorted and added to these. So memory grows with the combinations, and not with the people.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Words = list[NDArray[Any]]  # one array for each word of the packed codes

__all__ = ["Tally"]

_WORD = 64
_LEAST_GATHERED = 1 << 21
_LISTED = 1 << 24  # of so many keys that there could be, each has a place in a table


class Tally:
    """Counts combinations of codes, of which the column ``i`` has those below ``sizes[i]``.

    >>> tally = Tally([3, 2])
    >>> tally.add([np.array([2, 0, 2]), np.array([1, 0, 1])])
    >>> tally.finish()
    >>> [codes.tolist() for codes in tally.codes()], tally.counts.tolist()
    ([[0, 2], [0, 1]], [1, 2])
    >>> tally.places([np.array([2, 1]), np.array([1, 1])]).tolist()
    [1, -1]
    """

    def __init__(self, sizes: Sequence[int], *, weighted: bool = False, gathered: int = _LEAST_GATHERED) -> None:
        self._sizes = list(sizes)
        self._widths = [max(size - 1, 0).bit_length() for size in sizes]
        self._layout: list[tuple[int, int]] = []  # word and shift of each column
        used = [0]
        for width in self._widths:
            if used[-1] + width > _WORD:
                used.append(0)
            used[-1] += width
            self._layout.append((len(used) - 1, used[-1]))
        self._layout = [(word, used[word] - end) for word, end in self._layout]
        small = len(used) == 1 and used[0] <= _WORD // 2
        self._kind = np.dtype(np.uint32 if small else np.uint64)
        self._words: Words = [np.empty(0, self._kind) for _ in used]
        self.counts: NDArray[np.int64] = np.empty(0, np.int64)
        """How many people have each combination, in the order of all codes."""
        self._weighted = weighted
        self._least = gathered
        self._gathered: list[tuple[Words, NDArray[np.int64] | None]] = []
        self._n_gathered = 0

    def add(self, codes: Sequence[NDArray[Any]], weights: NDArray[np.int64] | None = None) -> None:
        """Count some people, with a weight for each if the tally is weighted."""
        self._gathered.append((self._packed(codes), weights))
        self._n_gathered += len(codes[0])
        if self._n_gathered >= max(self._least, len(self.counts) // 2):
            self.finish()

    def finish(self) -> None:
        """Sort the collected keys into the combinations."""
        if not self._n_gathered:
            return
        words = [np.concatenate([some[word] for some, _ in self._gathered]) for word in range(len(self._words))]
        weights = None
        if self._weighted:
            weights = np.concatenate([some for _, some in self._gathered if some is not None])
        self._gathered.clear()
        self._n_gathered = 0
        words, counts = _counted(words, weights)
        if not len(self.counts):
            self._words, self.counts = words, counts
        elif len(words) == 1:
            self._insert(words[0], counts)
        else:
            both = [np.concatenate(pair) for pair in zip(self._words, words, strict=True)]
            self._words, self.counts = _counted(both, np.concatenate([self.counts, counts]))

    def _insert(self, keys: NDArray[Any], counts: NDArray[np.int64]) -> None:
        (own,) = self._words
        places = np.searchsorted(own, keys)
        known = own[np.minimum(places, len(own) - 1)] == keys
        self.counts[places[known]] += counts[known]
        new = ~known
        self._words = [np.insert(own, places[new], keys[new])]
        self.counts = np.insert(self.counts, places[new], counts[new])

    def codes(self) -> list[NDArray[np.int32]]:
        """The codes of each combination, column by column."""
        found = []
        for (word, shift), width in zip(self._layout, self._widths, strict=True):
            # a column of one code may have nothing above it to be shifted away
            part = self._words[word] >> self._kind.type(shift) if width else np.zeros_like(self._words[word])
            found.append((part & self._kind.type((1 << width) - 1)).astype(np.int32))
        return found

    def places(self, codes: Sequence[NDArray[Any]]) -> NDArray[np.int32]:
        """The index of each person's combination; -1 if it was never counted."""
        if not len(self.counts):
            return np.full(len(codes[0]), -1, np.int32)
        if self._listed is not None:
            return self._listed[self._ranks(codes)]
        keys = self._packed(codes)
        places = self._bisected(keys) if len(keys) > 1 else _sorted_search(self._words[0], keys[0])
        places = np.minimum(places, len(self.counts) - 1)
        known = np.logical_and.reduce([own[places] == key for own, key in zip(self._words, keys, strict=True)])
        return np.where(known, places, -1).astype(np.int32)

    @cached_property
    def _listed(self) -> NDArray[np.int32] | None:
        """The index of every possible key, -1 for those that do not occur; None if there are too many."""
        if math.prod(self._sizes) > _LISTED:
            return None
        listed = np.full(math.prod(self._sizes), -1, np.int32)
        listed[self._ranks(self.codes())] = np.arange(len(self.counts), dtype=np.int32)
        return listed

    def _ranks(self, codes: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """The rank of each combination among all possible ones."""
        ranks = np.zeros(len(codes[0]), np.int64)
        for size, own in zip(self._sizes, codes, strict=True):
            ranks *= size
            ranks += own
        return ranks

    def _bisected(self, keys: Words) -> NDArray[np.int64]:
        """The first combination that is at least as large as each key, for keys of several words."""
        low = np.zeros(len(keys[0]), np.int64)
        high = np.full(len(keys[0]), len(self.counts), np.int64)
        for _ in range(len(self.counts).bit_length()):
            middle = np.minimum((low + high) // 2, len(self.counts) - 1)
            below = np.zeros(len(middle), bool)
            for own, key in zip(reversed(self._words), reversed(keys), strict=True):
                here = own[middle]
                below = (here < key) | ((here == key) & below)
            below &= low < high
            low = np.where(below, middle + 1, low)
            high = np.where(below | (low >= high), high, middle)
        return low

    def _packed(self, codes: Sequence[NDArray[Any]]) -> Words:
        words: Words = [np.zeros(len(codes[0]), self._kind) for _ in self._words]
        for (word, shift), width, own in zip(self._layout, self._widths, codes, strict=True):
            if width:
                part = own.astype(self._kind)
                part <<= self._kind.type(shift)
                words[word] |= part
        return words


def _sorted_search(own: NDArray[Any], keys: NDArray[Any]) -> NDArray[np.int64]:
    """The positions of keys, searched in ascending order, so that successive positions are close."""
    order = np.argsort(keys)
    places = np.empty(len(keys), np.int64)
    places[order] = np.searchsorted(own, keys[order])
    return places


def _counted(words: Words, weights: NDArray[np.int64] | None) -> tuple[Words, NDArray[np.int64]]:
    """The different combinations, ascending, and the number of people with each."""
    if len(words) == 1 and weights is None:
        (keys,) = words
        keys.sort()
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        return [keys[first]], np.diff(first, append=len(keys))
    order = np.lexsort(words[::-1]) if len(words) > 1 else np.argsort(words[0], kind="stable")
    words = [word[order] for word in words]
    changes = np.logical_or.reduce([word[1:] != word[:-1] for word in words])
    first = np.flatnonzero(np.concatenate([[True], changes]))
    counts = np.diff(first, append=len(order)) if weights is None else np.add.reduceat(weights[order], first)
    return [word[first] for word in words], counts.astype(np.int64)
