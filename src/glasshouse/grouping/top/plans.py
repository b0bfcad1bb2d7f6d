# SPDX-License-Identifier: Apache-2.0
"""Plans of groups for more people than a piece has: groups follow from a histogram, and each piece makes some of them.

`Anatomize` looks at sensitive values alone. What values its groups have is a function of how many people have each
value (ANATOMY Figure 3) and, if groups are varied, of an order of values that is drawn. So the groups are planned as
counts, a piece is told which of them are its own, and people with each value are sent to pieces uniformly at random, as
many as its groups want.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.grouping.anatomize.slots import hand_out
from glasshouse.grouping.top.piece import Piece
from glasshouse.kernels import compiled
from glasshouse.microdata.groups import Groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.grouping.top.nodes import Bag
    from glasshouse.randomness import Draws

__all__ = ["deal_piece", "dealt_pieces"]


def dealt_pieces(
    bag: Bag,
    values: NDArray[np.int32],
    ell: int,
    source: Draws,
    labels: tuple[str | int, ...],
    most: int,
    *,
    varied: bool,
) -> list[Piece]:
    """Cut the deal of a bag into pieces of about ``most`` people; ``values`` is the value of every kind in it.

    The bag must be l-diverse.
    """
    own = source.child(*labels)
    sizes = np.bincount(values, weights=bag.counts).astype(np.int64)
    wanted, tasks = (_varied if varied else _dealt)(sizes, ell, own, most)
    bags = _shared_out(bag, values, wanted, own)
    return [
        Piece(labels=(*labels, "part", p), kinds=b.kinds, counts=b.counts, sections=(0, len(b.kinds)), task=task)
        for p, (b, task) in enumerate(zip(bags, tasks, strict=True))
    ]


def deal_piece(codes: NDArray[np.int32], n_values: int, task: tuple[Any, ...], source: Draws, engine: Memory) -> Groups:
    """Make the groups of one piece of a deal; ``codes`` are the values of its people."""
    slots_of: Any = {"varied": _varied_slots, "dealt": _dealt_slots}[task[0]]
    held, slots, n_groups = slots_of(*task[1:], source)
    order = np.argsort(held, kind="stable")
    held, slots = held[order], slots[order]
    starts = np.append(np.flatnonzero(np.diff(held, prepend=-1)), len(held))
    values = held[starts[:-1]].astype(np.int32)
    groups = np.empty(len(codes), np.int32)
    buckets = (np.array([0, len(values)]), values, starts)
    hand_out(codes, np.array([0, len(codes)]), buckets, n_values, slots.astype(np.int32), source, engine, groups)
    return Groups(groups, n_groups)


def _shared_out(
    bag: Bag, values: NDArray[np.int32], wanted: NDArray[np.int64], source: Draws, first: int = 0
) -> list[Bag]:
    """Send people to pieces uniformly at random, ``wanted[p, v]`` with each value v: half of the pieces at a time."""
    n = len(wanted)
    if n == 1:
        return [bag]
    draws = source.child("pieces", first, first + n)
    taken = wanted[: n // 2].sum(axis=0)
    left, right = bag.drawn_by_value(values, taken, draws)
    return [
        *_shared_out(left, values[np.searchsorted(bag.kinds, left.kinds)], wanted[: n // 2], source, first),
        *_shared_out(right, values[np.searchsorted(bag.kinds, right.kinds)], wanted[n // 2 :], source, first + n // 2),
    ]


# -------------------------------------------------------------------------------- groups with varied sets of values


def _varied(
    sizes: NDArray[np.int64], ell: int, source: Draws, most: int
) -> tuple[NDArray[np.int64], list[tuple[Any, ...]]]:
    """Blocks of groups, as `Anatomize` deals them in turn: the number of each value for every piece, and its task."""
    values = np.flatnonzero(sizes)
    n, n_groups = int(sizes.sum()), int(sizes.sum()) // ell
    n_blocks = max(n_groups // max(len(values), 2), 1)
    order = np.arange(len(values), dtype=np.int32)
    source.child("orders of values").shuffle(order)
    values = values[order]
    ends = np.cumsum(sizes[values])
    step = max(1, most * n_blocks // n)
    layout = (values.tolist(), (ends - sizes[values]).tolist(), sizes[values].tolist())
    wanted, tasks = [], []
    for first in range(0, n_blocks, step):
        task = ("varied", n_groups, n_blocks, first, min(first + step, n_blocks), *layout)
        want = np.zeros(len(sizes), np.int64)
        want[values] = _cells(*task[1:5], *map(np.array, layout[1:])).sum(axis=0)
        wanted.append(want)
        tasks.append(task)
    return np.stack(wanted), tasks


def _cells(
    n_groups: int, n_blocks: int, first: int, last: int, starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The number of each value in the blocks from ``first`` to ``last`` (blocks x values).

    People are laid out value after value and dealt to all groups in turn; of these, every ``n_blocks``-th belongs to
    the same block.
    """
    blocks = np.arange(first, last)[:, np.newaxis]

    def below(place: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many groups before this one belong to each block."""
        found: NDArray[np.int64] = np.maximum((place - blocks + n_blocks - 1) // n_blocks, 0)
        return found

    begin = starts % n_groups
    end = begin + sizes
    whole = below(np.full(len(sizes), n_groups))
    found: NDArray[np.int64] = np.where(
        end <= n_groups, below(end) - below(begin), whole - below(begin) + below(end - n_groups)
    )
    return found


def _varied_slots(
    n_groups: int,
    n_blocks: int,
    first: int,
    last: int,
    values: list[int],
    starts: list[int],
    sizes: list[int],
    source: Draws,
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Deal the people of every block to its groups in turn, values in an order of its own: a value and a group each."""
    cells = _cells(n_groups, n_blocks, first, last, np.array(starts), np.array(sizes))
    many, width = cells.shape
    orders = np.tile(np.arange(width, dtype=np.int32), many)
    source.child("orders of values").shuffle_runs(orders, np.arange(0, many * width + 1, width))
    inside = (n_groups - np.arange(first, last) + n_blocks - 1) // n_blocks
    laid = cells[np.repeat(np.arange(many), width), orders]
    held = np.repeat(np.array(values)[orders], laid)
    people = cells.sum(axis=1)
    block = np.repeat(np.arange(many), people)
    place = np.arange(len(held)) - (np.cumsum(people) - people)[block]
    return held, (np.cumsum(inside) - inside)[block] + place % inside[block], int(inside.sum())


# ------------------------------------------------------------------------------------- groups by ANATOMY Figure 3


def _dealt(
    sizes: NDArray[np.int64], ell: int, source: Draws, most: int
) -> tuple[NDArray[np.int64], list[tuple[Any, ...]]]:
    """Runs of groups in the order in which they are dealt: what every piece wants of each value, and its task."""
    left = sizes.copy()
    n_groups, step = int(sizes.sum()) // ell, max(1, most // ell)
    wanted, states = [], []
    for first in range(0, n_groups, step):
        many = min(step, n_groups - first)
        before = left.copy()
        left = _after(left, ell, many)
        wanted.append(before - left)
        states.append((before, many))
    want = np.stack(wanted)
    extras: list[list[tuple[int, int]]] = [[] for _ in states]
    of_piece = np.array([many for _, many in states])
    lacking = of_piece[:, np.newaxis] - want
    for value in np.flatnonzero(left).tolist():  # residues, one tuple each: a uniformly random group that lacks it
        ends = np.cumsum(lacking[:, value])
        draw = source.child("residue", value).below(int(ends[-1]))
        piece = int(np.searchsorted(ends, draw, side="right"))
        extras[piece].append((value, draw - int(ends[piece] - lacking[piece, value])))
        want[piece, value] += 1
    return want, [
        ("dealt", ell, many, np.flatnonzero(before).tolist(), before[before > 0].tolist(), mine)
        for (before, many), mine in zip(states, extras, strict=True)
    ]


def _after(left: NDArray[np.int64], ell: int, n_groups: int) -> NDArray[np.int64]:
    """The number of records of each value that are left after so many groups."""
    values = np.flatnonzero(left)
    dealt = _groups(left[values], ell, n_groups)
    after = left.copy()
    after[values] -= np.bincount(dealt, minlength=len(values))
    return after


def _groups(left: NDArray[np.int64], ell: int, n_groups: int) -> NDArray[np.int32]:
    """The values of so many groups, group after group, dealt from so many records of each."""
    dealing = compiled("glasshouse.kernels._dealing_kernels")
    order = np.argsort(-left, kind="stable").astype(np.int32)
    scratch = np.empty((3, len(left) + 1), np.int32)
    dealer = dealing.Dealer(order, left.copy(), *scratch, ell)
    dealing.begin(dealer, len(left))
    groups = np.empty(n_groups * ell, np.int32)
    dealing.deal(dealer, 0, groups)
    return groups


def _dealt_slots(
    ell: int, n_groups: int, values: list[int], left: list[int], extras: list[tuple[int, int]], _source: Draws
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """The groups of a run, and who joins them: a value and a group for each person."""
    held = np.array(values)[_groups(np.array(left), ell, n_groups)]
    slots = np.repeat(np.arange(n_groups), ell)
    for value, skip in extras:
        lacks = np.ones(n_groups, bool)
        lacks[slots[: n_groups * ell][held[: n_groups * ell] == value]] = False
        held, slots = np.append(held, value), np.append(slots, np.flatnonzero(lacks)[skip])
    return held, slots, n_groups
