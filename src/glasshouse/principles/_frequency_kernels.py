# SPDX-License-Identifier: Apache-2.0
"""Frequencies of values within groups, by rank: bare loops, called through `RecursiveLDiversity`."""

import cython


def without_most_frequent(
    offsets: cython.longlong[::1],
    counts: cython.longlong[::1],
    top: cython.longlong[::1],
    rest: cython.longlong[::1],
) -> None:
    """For each group the sum of its counts but the largest, as many as ``top`` has places (at least one)."""
    n: cython.Py_ssize_t = len(rest)
    last: cython.Py_ssize_t = len(top) - 1
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    total: cython.longlong
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
