# SPDX-License-Identifier: Apache-2.0
"""Counts: per group, its size and the histogram of its sensitive values; all that a principle may see.

A principle never sees rows. Sizes and histograms are enough for every principle here, they merge by addition, and so
the same principle runs wherever the counting was done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from glasshouse.kernels import compiled
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.set_members import Members

__all__ = ["Counts"]

Value = TypeVar("Value")


class _kept(Generic[Value]):  # noqa: N801
    """A property that is computed once: `functools.cached_property` without its lock, under which threads would wait.

    (It has one before Python 3.12.) Two threads that ask the same counts at once both compute, and get the same.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, counts: None, owner: type) -> _kept[Value]: ...

    @overload
    def __get__(self, counts: Counts, owner: type) -> Value: ...

    def __get__(self, counts: Counts | None, owner: type) -> Value | _kept[Value]:
        if counts is None:
            return self
        value = vars(counts)[self.name] = self.compute(counts)
        return value


class Counts:
    """Sizes and sensitive histograms of some groups, in integers.

    Parameters
    ----------
    codes
        The sensitive codes of all records, group after group.
    offsets
        Group ``g`` holds ``codes[offsets[g]:offsets[g + 1]]``; one more entry than there are groups.
    n_values
        Size of the sensitive domain: codes are ``0 .. n_values - 1``.
    weights
        How many records each code stands for; one unless given.
    sizes
        Records in each group, where a record has several codes; as many as there are codes unless given.

    Examples
    --------
    >>> counts = Counts.of([[0, 0, 1], [1, 2]], n_values=3)
    >>> counts.sizes.tolist(), counts.largest.tolist(), counts.distinct.tolist()
    ([3, 2], [2, 1], [2, 2])
    >>> counts.dense.tolist()
    [[2, 1, 0], [0, 1, 1]]
    >>> counts.total().dense.tolist()
    [[2, 2, 1]]
    """

    def __init__(
        self,
        codes: NDArray[np.int32],
        offsets: NDArray[np.int64],
        n_values: int,
        weights: NDArray[np.int32] | None = None,
        sizes: NDArray[np.int64] | None = None,
    ) -> None:
        self._codes = np.ascontiguousarray(codes, dtype=np.int32)
        self._sizes = sizes
        self._weights = weights
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        self.n_values = int(n_values)

    @classmethod
    def of(cls, groups: Iterable[Sequence[int]], *, n_values: int) -> Counts:
        """Count groups that are given as lists of sensitive codes."""
        arrays = [np.asarray(group, dtype=np.int32) for group in groups]
        offsets = np.cumsum([0, *map(len, arrays)])
        return cls(np.concatenate([*arrays, np.empty(0, np.int32)]), offsets, n_values)

    @classmethod
    def from_histograms(cls, histograms: Sequence[Sequence[int]] | NDArray[np.int64]) -> Counts:
        """Make counts from histograms, one row per group.

        >>> Counts.from_histograms([[2, 0, 1]]).sizes.tolist()
        [3]
        """
        table = np.asarray(histograms, dtype=np.int64)
        codes = np.tile(np.arange(table.shape[1], dtype=np.int32), table.shape[0])
        offsets = np.concatenate([[0], np.cumsum(table.sum(axis=1))])
        return cls(np.repeat(codes, table.ravel()), offsets, table.shape[1])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        size = f"{counted(len(self), 'group')} of {counted(int(self.sizes.sum()), 'tuple')}"
        return f"Counts({size}, {counted(self.n_values, 'value')})"

    @_kept
    def sizes(self) -> NDArray[np.int64]:
        """Records in each group."""
        if self._sizes is not None:
            return self._sizes
        if self._weights is None:
            return np.diff(self.offsets)
        sizes = np.empty(len(self), np.int64)
        _kernels().group_weights(self._weights, self.offsets, sizes)
        return sizes

    @_kept
    def largest(self) -> NDArray[np.int64]:
        """The number of records with the most frequent value, for each group."""
        largest = np.empty(len(self), np.int64)
        scratch = np.zeros(self.n_values, np.int64)
        _kernels().largest_counts(self._codes, self.offsets, scratch, largest, self._weights)
        return largest

    @_kept
    def distinct(self) -> NDArray[np.int64]:
        """Different values in each group."""
        return np.diff(self.histogram[0])

    @_kept
    def histogram(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """Sparse histograms ``(offsets, values, counts)``.

        Group ``g`` has ``counts[i]`` records of ``values[i]`` for ``offsets[g] <= i < offsets[g + 1]``; values ascend
        within a group, counts are positive.
        """
        offsets = np.empty(len(self) + 1, np.int64)
        values = np.empty(len(self._codes), np.int32)
        counts = np.empty(len(self._codes), np.int64)
        scratch = np.zeros(self.n_values, np.int64)
        used = _kernels().histograms(self._codes, self.offsets, scratch, offsets, values, counts, self._weights)
        return offsets, values[:used], counts[:used]  # memory that was never written to was never taken

    @_kept
    def dense(self) -> NDArray[np.int64]:
        """Histograms as one row a group. Groups x values numbers: for few groups only; see `chunks`."""
        dense = np.zeros((len(self), self.n_values), np.int64)
        offsets, values, counts = self.histogram
        dense[np.repeat(np.arange(len(self)), np.diff(offsets)), values] = counts
        return dense

    def chunks(self, cells: int = 4_000_000) -> list[Counts]:
        """Cut into runs of groups whose `dense` form holds at most ``cells`` numbers (or one group)."""
        step = max(1, cells // max(1, self.n_values))
        return [
            Counts(
                self._codes,
                self.offsets[start : start + step + 1],
                self.n_values,
                self._weights,
                None if self._sizes is None else self._sizes[start : start + step],
            )
            for start in range(0, len(self), step)
        ]

    def total(self) -> Counts:
        """Count all groups as one."""
        sizes = None if self._sizes is None else self._sizes.sum(keepdims=True)
        return Counts(self._codes, self.offsets[[0, -1]], self.n_values, self._weights, sizes)

    def of_members(self, members: Members) -> Counts:
        """Count single values, where codes are those of sets: a record counts once under every value of its set.

        The sizes of groups stay as they are.
        """
        first, last = self.offsets[[0, -1]]
        owner, values = members.values_of(self._codes[first:last])
        offsets = np.searchsorted(owner, self.offsets - first)
        weights = None if self._weights is None else self._weights[first:last][owner]
        return Counts(values, offsets, members.domain.size, weights, self.sizes)


def _kernels() -> Any:
    return compiled("glasshouse.microdata._counting_kernels")
