# SPDX-License-Identifier: Apache-2.0
"""Rows of words: whole numbers packed into unsigned 64-bit words, so that words sort as the numbers do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.engines import Memory
from glasshouse.engines.sorting import sort_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["WordFields", "bits_of", "sort_rows", "split_rows"]

_WORD = 64
_AT_ONCE = 1 << 15  # rows
_FEW = 1 << 12  # so few rows are sorted by comparison, more digit by digit
_ENGINE = Memory(threads=1)  # parts are shared out over threads, not their rows


def bits_of(n: int) -> int:
    """How many bits the numbers below ``n`` need.

    >>> [bits_of(n) for n in (0, 1, 2, 256, 257)]
    [0, 0, 1, 8, 9]
    """
    return max(n - 1, 0).bit_length()


@dataclass(frozen=True)
class WordFields:
    """Which bits of a row's words hold which number: the first number in the highest bits of the first word.

    A number lies in one word. Where the bits of a word do not suffice for the next number it begins another one.

    Parameters
    ----------
    bits
        How many bits each number has, in the order in which rows are sorted; 64 at most.

    Examples
    --------
    >>> fields = WordFields((3, 2))
    >>> words = fields.packed([np.array([5, 1]), np.array([0, 3])])
    >>> words.tolist(), fields.numbers(words, 1).tolist(), WordFields((40, 30)).n_words
    ([[20], [7]], [0, 3], 2)
    """

    bits: tuple[int, ...]

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """The word of each number, and its shift inside the word."""
        words: list[list[int]] = [[]]
        for width in self.bits:
            if sum(words[-1]) + width > _WORD:
                words.append([])
            words[-1].append(width)
        return tuple(
            (number, sum(widths[i + 1 :])) for number, widths in enumerate(words) for i, _ in enumerate(widths)
        )

    @property
    def n_words(self) -> int:
        """The number of words in a row."""
        return self.places[-1][0] + 1 if self.places else 1

    def packed(self, columns: Sequence[NDArray[np.integer]]) -> NDArray[np.uint64]:
        """Pack numbers into rows of words; each column has one number for every row."""
        words = np.zeros((len(columns[0]), self.n_words), np.uint64)
        for numbers, (word, shift) in zip(columns, self.places, strict=True):
            words[:, word] |= numbers.astype(np.uint64) << np.uint64(shift)
        return words

    def numbers(
        self, words: NDArray[np.uint64], field: int, kind: type[np.int32] | type[np.int64] = np.int64, *, plus: int = 0
    ) -> NDArray[Any]:
        """The numbers in a field of some rows, plus ``plus``, as integers of a given type."""
        word, shift = self.places[field]
        mask = np.uint64((1 << self.bits[field]) - 1)
        found = np.empty(len(words), kind)
        for start in range(0, len(words), _AT_ONCE):  # what is computed on the way stays small
            some = words[start : start + _AT_ONCE, word] >> np.uint64(shift)
            some &= mask
            some += np.uint64(plus)
            found[start : start + _AT_ONCE] = some
        return found


def sort_rows(words: NDArray[np.uint64], fields: WordFields, n_fields: int | None = None) -> NDArray[np.uint64]:
    """Rows in the order of their words, as a copy.

    ``n_fields`` says by how many of the first fields no two rows are alike, so that no others need be compared.

    >>> sort_rows(np.array([[2, 1], [1, 9], [2, 0]], np.uint64), WordFields((40, 40))).tolist()
    [[1, 9], [2, 0], [2, 1]]
    """
    if words.shape[1] == 1 and len(words) < _FEW:
        return np.sort(words, axis=0)
    if words.shape[1] == 1:
        low = sum(fields.bits[n_fields:]) if n_fields is not None else 0
        return sort_words(words.reshape(-1), low, sum(fields.bits), _ENGINE).reshape(-1, 1)
    order = np.argsort(words[:, 0])
    first = words[:, 0][order]
    is_tied = np.zeros(len(first), bool)
    is_tied[1:] = first[1:] == first[:-1]
    run = np.cumsum(~is_tied)
    is_tied[:-1] |= is_tied[1:]
    tied = np.flatnonzero(is_tied)
    if len(tied):  # only rows whose first words are equal are compared by the others
        rows = order[tied]
        others = [words[rows, word] for word in range(words.shape[1] - 1, 0, -1)]
        order[tied] = rows[np.lexsort([*others, run[tied]])]
    return words[order]


def split_rows(parts: NDArray[np.int32], words: NDArray[np.uint64], n_parts: int) -> list[NDArray[np.uint64]]:
    """The rows of each part.

    >>> [rows.tolist() for rows in split_rows(np.array([1, 0, 1], np.int32), np.array([[7], [8], [9]], np.uint64), 2)]
    [[[8]], [[7], [9]]]
    """
    if n_parts == 1:
        return [words]
    small = parts.astype(np.min_scalar_type(n_parts), copy=False)  # of 16 bits, numbers are sorted by radix
    order = np.argsort(small, kind="stable")
    borders = np.cumsum(np.bincount(parts, minlength=n_parts))[:-1]
    return np.split(words[order], borders)
