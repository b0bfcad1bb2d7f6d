# SPDX-License-Identifier: Apache-2.0
"""Moving tuples to their groups and sorting inside every group: bare loops, called through `grouped`."""

import cython


def gather(
    labels: cython.int[::1],
    keys: cython.longlong[::1],
    next_place: cython.longlong[::1],
    by_group: cython.longlong[::1],
) -> None:
    """Copy each published tuple's key to its group; ``next_place`` starts as every group's first place."""
    n: cython.Py_ssize_t = labels.shape[0]
    i: cython.Py_ssize_t
    g: cython.int
    with cython.nogil:
        for i in range(n):
            g = labels[i]
            if g >= 0:
                by_group[next_place[g]] = keys[i]
                next_place[g] += 1


def sort_small_runs(keys: cython.longlong[::1], offsets: cython.longlong[::1], most: cython.longlong) -> None:
    """Sort every run of at most ``most`` keys, by insertion."""
    n_runs: cython.Py_ssize_t = offsets.shape[0] - 1
    r: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    x: cython.longlong
    with cython.nogil:
        for r in range(n_runs):
            if offsets[r + 1] - offsets[r] > most:
                continue
            for i in range(offsets[r] + 1, offsets[r + 1]):
                x = keys[i]
                j = i
                while j > offsets[r] and keys[j - 1] > x:
                    keys[j] = keys[j - 1]
                    j -= 1
                keys[j] = x
