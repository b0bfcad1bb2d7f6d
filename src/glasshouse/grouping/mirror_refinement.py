# SPDX-License-Identifier: Apache-2.0
"""Balanced groups: how Mirror divides a leaf whose halving failed, so that nobody can tell which half was to blame.

A group takes as many tuples from one half as from the other, and no value more often than l-diversity allows. Which
values it takes from which half is a function of the two histograms alone, a fair coin says which half plays the first
part, and who of those with a value in a half goes where is uniformly random. The three together keep the guarantee
(Theorem M2 in the documentation); each of them alone does not.

There are two ways to go on. Groups are planned one by one, and tuples dealt to them: values then come in many different
combinations, which tells most where quasi-identifiers are published exactly. Or as many groups as possible are planned
alike, tuples dealt to the *columns* of such a bucket (all with one value, all from one half), and the bucket sliced by
quasi-identifiers as Ace slices its own: groups then lie close together, which is what boxes need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.engines import Memory
from glasshouse.grouping.ace import Buckets, sliced_segments
from glasshouse.grouping.pieces import pieces_of_runs, share, shuffle_runs
from glasshouse.kernels import compiled
from glasshouse.microdata.counts import Counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.grouping.packed import PackedRows
    from glasshouse.grouping.perimeter import Places
    from glasshouse.microdata.groups import Groups
    from glasshouse.randomness import Draws

__all__ = ["balanced_segments", "balanced_slices", "group_size"]


def group_size(ell: int) -> int:
    """Tuples of a balanced group: l of them, or 2 l where l is odd, so that either half gives half of them.

    >>> group_size(4), group_size(3)
    (4, 6)
    """
    return ell if ell % 2 == 0 else 2 * ell


def balanced_segments(
    sensitive: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_values: int,
    ell: int,
    source: Draws,
    engine: Memory | None = None,
) -> NDArray[np.int32]:
    """Divide every leaf of a list into balanced groups.

    Groups of a leaf are planned one after another; let m of them be left. A group takes a value at most once (twice if
    l is odd): first every value as often as m - 1 groups could not take it; then values in the order of a list, once
    each (then, if l is odd, once more), as long as half of the group can still come from either half. What can come
    from either half comes from the first one, as the coin says, until that has given its share. The list has the values
    by how many tuples are left of them, the largest number first, then by code: as `Anatomize` takes them.

    Parameters
    ----------
    sensitive
        The sensitive codes of all tuples, leaf after leaf, in each the left half before the right one.
    offsets
        Leaf ``e`` holds ``sensitive[offsets[e]:offsets[e + 1]]``: a multiple of `group_size`, l-diverse.
    n_values
        Size of the sensitive domain.
    ell
        The l of l-diversity.
    source
        Of random choices: a child for each piece of work, which leaves alone decide.
    engine
        Says how many threads there may be; it changes nothing but the time.

    Returns
    -------
    NDArray
        A group for each tuple; groups are numbered from 0, leaf after leaf.

    Examples
    --------
    >>> from glasshouse.randomness import Source
    >>> codes, offsets = np.array([0, 0, 1, 1, 1, 2, 2, 3], np.int32), np.array([0, 4, 8])
    >>> balanced_segments(codes, offsets, 4, 2, Source.seeded(1)).tolist()
    [1, 0, 0, 1, 2, 3, 2, 3]
    """
    engine = engine or Memory()
    labels = np.empty(len(sensitive), np.int32)
    pieces = [(number, *piece) for number, piece in enumerate(pieces_of_runs(offsets))] if len(sensitive) else []
    inner = engine if len(pieces) == 1 else Memory(threads=1)  # inside one of many pieces there is nothing to share

    def balance(number: int, first: int, last: int) -> None:
        mine = slice(offsets[first], offsets[last])
        within = offsets[first : last + 1] - offsets[first]
        choices = source.child("balanced", number)
        _balance(sensitive[mine], within, n_values, ell, choices, inner, labels[mine])
        labels[mine] += np.int32(offsets[first] // group_size(ell))  # all groups are of one size

    share(balance, pieces, engine)
    return labels


def balanced_slices(
    rows: PackedRows,
    offsets: NDArray[np.int64],
    places: Places,
    ell: int,
    source: Draws,
    engine: Memory,
) -> Groups:
    """Divide every leaf of a list into balanced groups whose quasi-identifiers are close.

    Groups are planned as in `balanced_segments`, but each plan is used for as many groups as leave counts that the
    others can take. Those groups are a bucket, with a column for each of their tuples; tuples are dealt to columns, and
    the bucket is divided by quasi-identifiers alone, with no regard to what its columns hold (TRANSPARENT Figure 8).

    Parameters
    ----------
    rows
        All tuples, packed, leaf after leaf, in each the left half before the right one.
    offsets
        Where each leaf begins; one more entry than there are leaves.
    places
        The places of codes.
    ell, source, engine
        As in `balanced_segments`.
    """
    size = group_size(ell)

    def plan(codes: NDArray[np.int32], within: NDArray[np.int64], draws: Draws) -> Buckets:
        halves, first, values, starts, slots, columns, lengths = _planned(
            codes, within, rows.n_values, ell, draws, alike=True
        )
        return Buckets(
            segments=halves,
            classes=first,
            values=values,
            runs=starts,
            handed=slots,
            columns=columns,
            lengths=lengths,
            widths=np.full(len(lengths), size, np.int32),
        )

    return sliced_segments(rows, offsets, places, plan, source, engine)


def _balance(
    codes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_values: int,
    ell: int,
    source: Draws,
    engine: Memory,
    labels: NDArray[np.int32],
) -> None:
    """Divide the leaves of one piece: fill ``labels``, from 0."""
    halves, first, values, starts, slots, *_ = _planned(codes, offsets, n_values, ell, source, alike=False)
    slots //= np.int32(group_size(ell))  # every bucket is one group
    shuffle_runs(slots, starts, source, engine)
    handing = compiled("glasshouse.grouping._anatomize_kernels")
    handing.hand_out(codes, halves, first, values, starts, np.zeros(n_values, np.int64), slots, labels)


def _planned(
    codes: NDArray[np.int32], offsets: NDArray[np.int64], n_values: int, ell: int, source: Draws, *, alike: bool
) -> tuple[Any, ...]:
    """Toss the coins and plan: halves, classes (first, values, starts), a column for each slot, and the buckets."""
    middles = (offsets[:-1] + offsets[1:]) // 2
    halves = np.append(np.stack([offsets[:-1], middles], axis=1).ravel(), offsets[-1])
    first, values, sizes = Counts(codes, halves, n_values).histogram
    starts = np.concatenate([[0], np.cumsum(sizes)])
    slots, columns = np.empty(len(codes), np.int32), np.empty(len(codes), np.int64)
    lengths = np.empty(len(codes) // group_size(ell), np.int32)
    coins = source.belows(2, len(middles))
    kernels = compiled("glasshouse.grouping._balanced_kernels")
    of_value = np.zeros((8, n_values), np.int64)
    of_count = np.full((2, 2 * int(sizes.max(initial=0)) + 1), -1, np.int64)
    leaves = kernels.Leaves(first, values, sizes, starts, *of_value, *of_count)
    chosen = np.empty(group_size(ell), np.int64)
    n_kinds = kernels.plan_groups(leaves, coins, ell, alike, chosen, columns, lengths, slots)
    return halves, first, values, starts, slots, columns, lengths[:n_kinds]
