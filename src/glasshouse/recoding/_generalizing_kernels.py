# SPDX-License-Identifier: Apache-2.0
"""Passes over labelled tuples, in the order in which they were read: bare loops, called through `generalized`."""

import cython


def label_ranges(
    labels: cython.int[::1],
    codes: cython.int[::1],
    past: cython.int,
    low: cython.int[::1],
    high: cython.int[::1],
    missing: cython.uchar[::1],
) -> None:
    """Smallest and largest code below ``past`` of every label, and whether ``past`` itself (missing) occurs."""
    n: cython.Py_ssize_t = labels.shape[0]
    m: cython.Py_ssize_t = low.shape[0]
    i: cython.Py_ssize_t
    g: cython.int
    x: cython.int
    with cython.nogil:
        for i in range(m):
            low[i] = past
            high[i] = -1
        for i in range(n):
            g = labels[i]
            if g < 0:
                continue
            x = codes[i]
            if x == past:
                missing[g] = 1
                continue
            if x < low[g]:
                low[g] = x
            if x > high[g]:
                high[g] = x


def gather_by_box(
    labels: cython.int[::1],
    box_of_group: cython.int[::1],
    codes: cython.int[::1],
    next_place: cython.longlong[::1],
    by_box: cython.int[::1],
) -> None:
    """Copy each published tuple's code to its box; ``next_place`` starts as every box's first place."""
    n: cython.Py_ssize_t = labels.shape[0]
    i: cython.Py_ssize_t
    b: cython.int
    with cython.nogil:
        for i in range(n):
            if labels[i] >= 0:
                b = box_of_group[labels[i]]
                by_box[next_place[b]] = codes[i]
                next_place[b] += 1
