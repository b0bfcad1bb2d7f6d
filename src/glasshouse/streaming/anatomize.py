# SPDX-License-Identifier: Apache-2.0
"""Anatomize a stream of tuples that does not fit in memory: linear I/O, and groups as uniformly random as in memory.

Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006 (ANATOMY), Theorem 3: which groups there are
is a function of the sizes of the buckets (the tuples of each sensitive value) alone, so the groups are planned first.

1. *Plan.* Groups of values are dealt as in Figure 3. Each goes to a uniformly random partition on disk; putting every
   partition into uniformly random order then makes a uniformly random order of all groups (Rao 1961, Sandelius 1962),
   and the number of a group is its place in it. A residue draws one of the groups that lack its value.
2. *Spill.* A tuple goes to the partition of a uniformly random one of the places that groups still want of its value,
   which is drawn without putting it back. Inside a partition the tuples of a value are shuffled and take its places one
   after another: together a uniformly random matching of tuples and places, whatever order the tuples came in.
3. *Emit.* Partition by partition, the groups come out in the order of their numbers.

All partitions want exactly what they get, so one at a time is in memory, and nothing that was read is held back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.errors import SourceError
from glasshouse.kernels import compiled
from glasshouse.streaming.spill import Layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from glasshouse.randomness import Draws
    from glasshouse.streaming.spill import Disk, Spill

__all__ = ["Piece", "Tuples", "anatomize_stream"]

_SMALL = 48  # runs that are sorted by insertion
_DEALT = 1 << 19  # codes of groups that are dealt at once


@dataclass(frozen=True, eq=False, slots=True)
class Tuples:
    """Some tuples on their way in.

    Parameters
    ----------
    codes
        Their sensitive values, as codes that keep the order of values.
    keys
        Their quasi-identifiers, packed: unsigned numbers, or a row of 64-bit words, that sort as the tuples do.
    rows
        Who they are; None where nobody will ask.
    """

    codes: NDArray[np.int32]
    keys: NDArray[np.unsignedinteger[Any]]
    rows: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Piece:
    """Some groups on their way out, in the order of their numbers.

    Parameters
    ----------
    first
        Number of the first group.
    offsets
        Group ``first + i`` has the tuples ``offsets[i] .. offsets[i + 1] - 1``.
    keys
        Quasi-identifiers, sorted inside every group: tuples x words.
    values
        Sensitive values, ascending inside every group; all values of a group are different.
    rows
        Who the tuples are, in the order of ``keys``; None if the stream did not say.
    """

    first: int
    offsets: NDArray[np.int64]
    keys: NDArray[np.uint64]
    values: NDArray[np.int32]
    rows: NDArray[np.int64] | None


def anatomize_stream(
    sizes: NDArray[np.int64],
    ell: int,
    tuples: Callable[[], Iterable[Tuples]],
    source: Draws,
    disk: Disk,
    *,
    key: tuple[np.dtype[Any], int] = (np.dtype(np.uint64), 1),
    with_rows: bool = False,
    small: int = _SMALL,
) -> Iterator[Piece]:
    """Divide a stream of tuples into groups of ``ell`` different sensitive values or more.

    Parameters
    ----------
    sizes
        Tuples of each sensitive value, in the order of values; the stream must be l-diverse as a whole.
    ell
        Different values in each group.
    tuples
        Opens the stream; it is read once, from front to back.
    source
        Of random choices: a partition of each group as it is dealt, a place for each residue, a partition of each tuple
        as it comes, and for each partition a shuffle of its groups and one of the tuples of each value.
    disk
        Memory and place for what is spilled.
    key
        Type and number of words of a key.
    with_rows
        Whether the stream says who the tuples are.
    small
        Longest run that is sorted by insertion.

    Yields
    ------
    Piece
        Groups numbered from 1.

    Notes
    -----
    Memory is that of a block or of a partition, and two numbers for each value and partition. A seeded source gives the
    same groups for the same stream; another order of the same tuples gives other groups, equally likely.
    """
    n_tuples, n_values = int(sizes.sum()), len(sizes)
    code = _narrowest(n_values)
    row = [(np.dtype(np.uint32 if n_tuples < 1 << 32 else np.uint64), 1)] if with_rows else []
    layout = Layout((key, (code, 1), *row))
    n_partitions = disk.partitions_for(n_tuples, layout.item_bytes + 24, n_values)
    with disk.spill(Layout.of((code, ell)), n_partitions) as groups, disk.spill(layout, n_partitions) as spilled:
        plan = _Plan(sizes, ell, source, groups, n_partitions, small)
        _spill(tuples(), sizes, plan.tree, source, spilled, n_partitions)
        first = 1
        for p in range(n_partitions):
            piece = _emit(p, first, plan, spilled, source, small)
            if piece is not None:
                yield piece
                first += len(piece.offsets) - 1


class _Plan:
    """Which values each group has, group by group in partitions, and what every partition wants of each value."""

    def __init__(
        self, sizes: NDArray[np.int64], ell: int, source: Draws, groups: Spill, n_partitions: int, small: int
    ) -> None:
        self._kernels = compiled("glasshouse.streaming._kernels")
        self._ell = ell
        self._groups = groups
        self.n_values = len(sizes)
        wants = np.zeros((len(sizes), 2, n_partitions), np.int64)  # the leaves are the second half
        self._deal(sizes, source, wants, small)
        self.extras = self._settle(sizes, source, wants[:, 1, :])
        self.tree = _summed(wants.reshape(len(sizes), 2 * n_partitions)).reshape(-1)

    def _deal(self, sizes: NDArray[np.int64], source: Draws, wants: NDArray[np.int64], small: int) -> None:
        """Figure 3, Lines 3 to 8: deal groups, and let each lie in a random partition."""
        n_values, ell, n_partitions = len(sizes), self._ell, wants.shape[2]
        left = sizes.astype(np.int64)
        order = np.argsort(-left, kind="stable").astype(np.int32)
        n_groups = int(left.sum()) // ell
        dealing = compiled("glasshouse.kernels._dealing_kernels")
        scratch = np.empty((3, n_values + 1), np.int32)
        dealer = dealing.Dealer(order, left, *scratch, ell)
        dealing.begin(dealer, n_values)
        step = max(1, _DEALT // ell)
        for start in range(0, n_groups, step):
            some = np.empty(min(step, n_groups - start) * ell, np.int32)
            dealing.deal(dealer, small, some)
            if ell > small:
                some = np.sort(some.reshape(-1, ell), axis=1).reshape(-1)
            parts = source.belows(n_partitions, len(some) // ell)
            self._kernels.want(some, ell, parts, n_partitions, wants.reshape(-1))
            self._groups.append(parts, [some.reshape(-1, ell) if ell > 1 else some])
        self._groups.finish()

    def _settle(
        self, sizes: NDArray[np.int64], source: Draws, wants: NDArray[np.int64]
    ) -> dict[int, list[tuple[int, int]]]:
        """Lines 9 to 12: for each residue draw one of the groups that lack its value, by partition and place there."""
        n_groups = np.array([self._groups.count(p) for p in range(wants.shape[1])], np.int64)
        extras: dict[int, list[tuple[int, int]]] = {}
        for value in np.flatnonzero(sizes - wants.sum(axis=1)).tolist():  # one tuple each (Property 1)
            lacking = n_groups - wants[value]
            ends = np.cumsum(lacking)
            draw = source.below(int(ends[-1]))
            p = int(np.searchsorted(ends, draw, side="right"))
            extras.setdefault(p, []).append((value, draw - int(ends[p] - lacking[p])))
            wants[value, p] += 1
        return extras

    def groups(self, partition: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The values of the groups in a partition, ascending in each, and where each group starts."""
        (found,) = self._groups.read(partition)
        dealt = found.reshape(-1, self._ell).astype(np.int32)
        sizes = np.full(len(dealt), self._ell, np.int64)
        places: list[int] = []
        values: list[int] = []
        for value, skip in sorted(self.extras.get(partition, [])):
            group = int(np.flatnonzero(~(dealt == value).any(axis=1))[skip])
            places.append(group * self._ell + int(np.searchsorted(dealt[group], value)))
            values.append(value)
            sizes[group] += 1
        flat = np.insert(dealt.reshape(-1), places, values) if places else dealt.reshape(-1)
        return np.ascontiguousarray(flat), np.concatenate([[0], np.cumsum(sizes)])


def _summed(wants: NDArray[np.int64]) -> NDArray[np.int64]:
    """Fill the inner nodes of the trees, from the leaves up."""
    width = wants.shape[1] // 2
    while width > 1:
        wants[:, width // 2 : width] = wants[:, width : 2 * width : 2] + wants[:, width + 1 : 2 * width : 2]
        width //= 2
    return wants


def _spill(
    stream: Iterable[Tuples],
    sizes: NDArray[np.int64],
    tree: NDArray[np.int64],
    source: Draws,
    spilled: Spill,
    n_partitions: int,
) -> None:
    """Send every tuple to a partition that still wants its value."""
    kernels = compiled("glasshouse.streaming._kernels")
    left = sizes.astype(np.int64)
    for some in stream:
        bounds = np.empty(len(some.codes), np.int64)
        if kernels.bounds(some.codes, left, bounds) >= 0:
            raise _changed()
        parts = np.zeros(len(bounds), np.int64)
        if n_partitions > 1:
            kernels.send(some.codes, source.belows(bounds), n_partitions, tree, parts)
        spilled.append(parts, [some.keys, some.codes, *([] if some.rows is None else [some.rows])])
    if left.any():
        raise _changed()
    spilled.finish()


def _changed() -> SourceError:
    return SourceError("the file changed while it was read: publish it when nobody writes to it")


def _emit(p: int, first: int, plan: _Plan, spilled: Spill, source: Draws, small: int) -> Piece | None:
    """Put the groups of a partition in random order, and let them take random tuples of their values."""
    kernels = compiled("glasshouse.streaming._kernels")
    buckets, offsets = plan.groups(p)
    n_groups, n_tuples = len(offsets) - 1, len(buckets)
    if not n_groups:
        return None
    keys, codes, *rows = spilled.read(p)
    codes = codes.astype(np.int32, copy=False)
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=plan.n_values))]).astype(np.int64)
    queue = np.empty(n_tuples, np.int32)
    kernels.line_up(codes, starts[:-1].copy(), queue)
    source.shuffle_runs(queue, starts)

    order = source.permutation(n_groups).astype(np.int32, copy=False)
    members, values = np.empty(n_tuples, np.int32), np.empty(n_tuples, np.int32)
    ends = np.zeros(n_groups + 1, np.int64)
    kernels.match(buckets, offsets, order, starts[:-1].copy(), queue, members, values, ends[1:])

    taken = keys[members].astype(np.uint64, copy=False).reshape(n_tuples, -1)
    who = rows[0][members].astype(np.int64) if rows else np.empty(0, np.int64)
    _sort_groups(taken, who, ends, small)
    return Piece(first, ends, taken, values, who if rows else None)


def _sort_groups(keys: NDArray[np.uint64], rows: NDArray[np.int64], offsets: NDArray[np.int64], small: int) -> None:
    """Sort the tuples of every group by their quasi-identifiers; rows go along."""
    kernels = compiled("glasshouse.streaming._kernels")
    kernels.sort_runs(keys.reshape(-1), rows, keys.shape[1], offsets, small)
    for g in np.flatnonzero(np.diff(offsets) > small).tolist():
        run = slice(int(offsets[g]), int(offsets[g + 1]))
        order = np.lexsort(keys[run].T[::-1])
        keys[run] = keys[run][order]
        if len(rows):
            rows[run] = rows[run][order]


def _narrowest(n_values: int) -> np.dtype[Any]:
    """The narrowest type that holds every code."""
    return np.dtype(np.uint8 if n_values <= 1 << 8 else np.uint16 if n_values <= 1 << 16 else np.int32)
