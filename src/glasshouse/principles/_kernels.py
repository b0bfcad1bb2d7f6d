# SPDX-License-Identifier: Apache-2.0
"""Sums over the values of every group: bare loops, called through `EarthMover` and `RecursiveLDiversity`.

The work of moving earth is in integers: a group's count times the whole table's size, against the whole table's count
times the group's size. Run interpreted on lists, the same loops work in integers of any length.
"""

import cython


def tree_work(
    rows: cython.longlong[::1],
    offsets: cython.longlong[::1],
    values: cython.int[::1],
    counts: cython.longlong[::1],
    scratch: cython.longlong[::1],
    parents: cython.int[::1],
    lengths: cython.longlong[::1],
    masses: cython.longlong[::1],
    work: cython.longlong[::1],
) -> None:
    """Sum over the nodes of a tree of ``length * |mass in group * whole size - mass in whole * group size|``.

    Node ``i`` is value ``i`` for every value; the last node is the root. ``scratch`` is zeros, a place per node, and
    stays zeros.
    """
    n: cython.Py_ssize_t = len(rows)
    root: cython.Py_ssize_t = len(parents) - 1
    whole: cython.longlong = masses[root]
    untouched: cython.longlong = 0  # the sum, by size of group, if the group had nothing anywhere
    with cython.nogil:
        for node in range(root):
            untouched += lengths[node] * masses[node]
        for r in range(n):
            size = 0
            for i in range(offsets[rows[r]], offsets[rows[r] + 1]):
                size += counts[i]
                node = values[i]
                while node != root:
                    scratch[node] += counts[i]
                    node = parents[node]
            total = untouched * size
            for i in range(offsets[rows[r]], offsets[rows[r] + 1]):
                node = values[i]
                while node != root and scratch[node] > 0:  # a node already cleared has cleared ancestors
                    gap = scratch[node] * whole - masses[node] * size
                    if gap < 0:
                        gap = -gap
                    total += lengths[node] * (gap - masses[node] * size)
                    scratch[node] = 0
                    node = parents[node]
            work[r] = total


def line_work(
    rows: cython.longlong[::1],
    offsets: cython.longlong[::1],
    values: cython.int[::1],
    counts: cython.longlong[::1],
    scratch: cython.longlong[::1],
    cumulated: cython.longlong[::1],
    sums: cython.longlong[::1],
    work: cython.longlong[::1],
) -> None:
    """Sum over the values of ``|cumulated in group * whole size - cumulated in whole * group size|``.

    ``sums[i]`` is the sum of ``cumulated[0 .. i - 1]``. From one value of a group to its next nothing is added in the
    group, while the whole climbs: the differences of all values between are two sums, before and after the whole passes
    the group. ``scratch`` is not used.
    """
    n: cython.Py_ssize_t = len(rows)
    m: cython.Py_ssize_t = len(cumulated)
    whole: cython.longlong = cumulated[m - 1]
    with cython.nogil:
        for r in range(n):
            size = 0
            for i in range(offsets[rows[r]], offsets[rows[r] + 1]):
                size += counts[i]
            below = 0
            total = 0
            first = 0
            for i in range(offsets[rows[r]], offsets[rows[r] + 1] + 1):
                past = values[i] if i < offsets[rows[r] + 1] else m
                turn = first  # from here on the whole is ahead of the group
                high = past
                while turn < high:
                    middle = (turn + high) // 2
                    if cumulated[middle] * size > below * whole:
                        high = middle
                    else:
                        turn = middle + 1
                total += below * whole * (turn - first) - size * (sums[turn] - sums[first])
                total += size * (sums[past] - sums[turn]) - below * whole * (past - turn)
                first = past
                below += counts[i] if i < offsets[rows[r] + 1] else 0
            work[r] = total


def without_most_frequent(
    offsets: cython.longlong[::1],
    counts: cython.longlong[::1],
    top: cython.longlong[::1],
    rest: cython.longlong[::1],
) -> None:
    """For each group the sum of its counts but the largest, as many as ``top`` has places (at least one)."""
    n: cython.Py_ssize_t = len(rest)
    last: cython.Py_ssize_t = len(top) - 1
    with cython.nogil:
        for g in range(n):
            total = 0
            for j in range(last + 1):
                top[j] = 0
            for i in range(offsets[g], offsets[g + 1]):
                total += counts[i]
                if counts[i] > top[last]:  # the largest so far stay in descending order
                    j = last
                    while j > 0 and top[j - 1] < counts[i]:
                        top[j] = top[j - 1]
                        j -= 1
                    top[j] = counts[i]
            for j in range(last + 1):
                total -= top[j]
            rest[g] = total
