# SPDX-License-Identifier: Apache-2.0
"""Slices: evidence about the values of one group that comes from the other groups of its bucket.

Ace deals people into the columns of a bucket, one for each sensitive value, and slices it by quasi-identifiers: the
first people of every column, in the order of one attribute, are parted from the others, until every part is a group
with one person of each column (TRANSPARENT Figure 8). So if a part was cut off along an attribute, then *the person
with value v in a group before the cut is not behind the person with v in a group after it*, for every v. Where the
people of two groups overlap in the attribute this ties their values to each other: if the second of the first group
lies behind the first of the second one, the two groups have their values in the same order. In a bucket of a thousand
groups that overlap like this there are l! ways to give values to everybody, and not (l!)^1000: the permutations of the
columns.

An attacker sees the groups, and neither the columns nor the cuts. Cuts are looked for as Slice makes them. By the rule
above every order statistic of a group before a cut is at most that of a group after it, and so is the sum; so along
each attribute the groups before a cut come first in the order of their sums, and of the cuts that keep the rule the one
with the least perimeter is taken. Every cut ties one group before it to one after it: those next to it in the order of
sums. All ties of a bucket together are a tree, over which the weights of all ways to give out values add up exactly.

*With one attribute* this is exact: groups are the ranks of their columns, and keep the rule if neighbours do. *With
several* it is an approximation: a cut may be found that Slice did not make, only one of the ties of each cut is used,
and so is nothing of why other cuts were not made.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["MOST_COLUMNS", "Tie", "bucket_beliefs", "ties_of"]

MOST_COLUMNS: Final = 6
"""Buckets with more columns than this have too many permutations to try."""


class Tie(NamedTuple):
    """Two groups of a bucket on either side of a cut along an attribute."""

    before: int
    after: int
    dim: int


def ties_of(codes: Integers, places: Sequence[Floats]) -> list[Tie]:
    """Look for the cuts that made groups of a bucket; for each of them a tie between two groups.

    Parameters
    ----------
    codes
        Groups x people x attributes: the codes of everybody's quasi-identifiers.
    places
        For each attribute where its codes lie, as perimeters measure them: the whole table is 1 wide.

    Examples
    --------
    >>> codes = np.array([[[0], [2]], [[1], [3]], [[4], [5]]])
    >>> ties_of(codes, [np.arange(6) / 5])
    [Tie(before=0, after=1, dim=0), Tie(before=1, after=2, dim=0)]
    """
    n_dims = codes.shape[2]
    ordered = np.sort(codes, axis=1)
    at = np.stack([places[dim][codes[:, :, dim]] for dim in range(n_dims)], axis=2)
    lows, highs, sums = at.min(axis=1), at.max(axis=1), codes.sum(axis=1)
    found = []
    waiting = [np.arange(len(codes))]
    while waiting:
        groups = waiting.pop()
        if len(groups) < 2:
            continue
        best: tuple[float, int, int, Integers] | None = None
        for dim in range(n_dims):
            along = groups[np.argsort(sums[groups, dim], kind="stable")]
            own = ordered[along, :, dim]
            before = np.maximum.accumulate(own)[:-1]
            after = np.minimum.accumulate(own[::-1])[::-1][1:]
            allowed = np.flatnonzero((before <= after).all(axis=1))
            if not len(allowed):
                continue
            cost = _costs(lows[along], highs[along])[allowed]
            least = int(np.argmin(cost))
            if best is None or cost[least] < best[0]:
                best = float(cost[least]), dim, int(allowed[least]) + 1, along
        if best is None:  # groups of several buckets, which no cut parts
            continue
        _, dim, size, along = best
        found.append(Tie(int(along[size - 1]), int(along[size]), dim))
        waiting += [along[:size], along[size:]]
    return sorted(found)


def _costs(lows: Floats, highs: Floats) -> Floats:
    """The perimeter of both parts, for every way to cut groups in this order."""
    sizes = np.arange(1, len(lows))
    before = (np.maximum.accumulate(highs) - np.minimum.accumulate(lows)).sum(axis=1)[:-1]
    after = (np.maximum.accumulate(highs[::-1]) - np.minimum.accumulate(lows[::-1])).sum(axis=1)[::-1][1:]
    return np.asarray(sizes * before + (len(lows) - sizes) * after, np.float64)


def bucket_beliefs(codes: Integers, chances: Floats, ties: Sequence[Tie]) -> Floats:
    """The probability of each value (groups x people x values), over all assignments of values that keep all ties.

    ``chances`` are those of everybody, and of each of the bucket's values, before the release, in the same shape. A way
    weighs the product of all of them.

    Examples
    --------
    Either the second of both groups has the second value, or the first of both.

    >>> codes = np.array([[[0], [2]], [[1], [3]]])
    >>> chances = np.array([[[0.6, 0.4], [0.5, 0.5]], [[0.6, 0.4], [0.5, 0.5]]])
    >>> bucket_beliefs(codes, chances, [Tie(0, 1, 0)])[:, 0].round(4).tolist()  # 9 to 4
    [[0.6923, 0.3077], [0.6923, 0.3077]]
    """
    n, width = len(codes), codes.shape[1]
    orders = _orders(width)
    logs = np.log(np.maximum(chances, 1e-300))
    own = np.zeros((n, len(orders)))  # of every group and way: the person with each value
    for value in range(width):
        own += logs[:, orders[:, value], value]
    near: list[list[tuple[int, Tie]]] = [[] for _ in range(n)]
    for tie in ties:
        near[tie.before].append((tie.after, tie))
        near[tie.after].append((tie.before, tie))
    order, parents = _from_roots(near)
    up = np.zeros((n, len(orders)))
    total = own.copy()
    for group in reversed(order):
        if group in parents:
            tie = parents[group]
            up[group] = _message(codes, tie, group, total[group])
            total[_other(tie, group)] += up[group]
    for group in order:
        if group in parents:
            tie = parents[group]
            parent = _other(tie, group)
            total[group] += _message(codes, tie, parent, total[parent] - up[group])
    weights = np.exp(total - total.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    beliefs = np.zeros((n, width, width))
    for value in range(width):
        for person in range(width):
            beliefs[:, person, value] = weights[:, orders[:, value] == person].sum(axis=1)
    return beliefs


def _other(tie: Tie, group: int) -> int:
    return tie.after if group == tie.before else tie.before


def _from_roots(near: list[list[tuple[int, Tie]]]) -> tuple[list[int], dict[int, Tie]]:
    """All groups, each after the one that it is tied to on the way to its root; and that tie."""
    seen = np.zeros(len(near), bool)
    order: list[int] = []
    parents: dict[int, Tie] = {}
    for root in range(len(near)):
        if seen[root]:
            continue
        seen[root] = True
        waiting = [root]
        while waiting:
            group = waiting.pop()
            order.append(group)
            for other, tie in near[group]:
                if not seen[other]:
                    seen[other] = True
                    parents[other] = tie
                    waiting.append(other)
    return order, parents


def _message(codes: Integers, tie: Tie, sender: int, logs: Floats) -> Floats:
    """The message that a group sends across a tie, from the weights of its assignments, as logarithms."""
    before, after = codes[tie.before, :, tie.dim], codes[tie.after, :, tie.dim]
    by_before, by_after = np.argsort(before, kind="stable"), np.argsort(after, kind="stable")
    least = tuple(np.searchsorted(after[by_after], before[by_before], side="left").tolist())
    allowed = _allowed(least)  # ways of the one before x ways of the one after, both by ranks
    to_before, to_after = _by_ranks(tuple(by_before.tolist())), _by_ranks(tuple(by_after.tolist()))
    if sender != tie.before:
        allowed, to_before, to_after = allowed.T, to_after, to_before
    sent = np.empty(len(logs))
    sent[to_before] = logs
    weighed = np.where(allowed, sent[:, np.newaxis], -np.inf)
    highest = weighed.max(axis=0)
    received = highest + np.log(np.exp(weighed - highest).sum(axis=0))
    return np.asarray((received - received.max())[to_after], np.float64)


@cache
def _orders(width: int) -> Integers:
    """All ways to give values to the people of a group: the person with each value."""
    return np.array(list(permutations(range(width))), np.int64)


@cache
def _allowed(least: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which pairs of ways keep a tie: the person at each rank before has at least ``least`` people below afterwards."""
    ranks = _orders(len(least))
    return np.asarray((ranks[np.newaxis] >= np.array(least)[ranks][:, np.newaxis]).all(axis=2))


@cache
def _by_ranks(people: tuple[int, ...]) -> Integers:
    """The number of every assignment if people, sorted here, are named by their ranks."""
    orders, width = _orders(len(people)), len(people)
    ranks = np.empty(width, np.int64)
    ranks[list(people)] = np.arange(width)
    radix = width ** np.arange(width)
    number = np.empty(width**width, np.int64)
    number[orders @ radix] = np.arange(len(orders))
    return np.asarray(number[ranks[orders] @ radix])
