# SPDX-License-Identifier: Apache-2.0
"""Passes over labelled tuples, and over the tuples of boxes: bare loops, called through `generalized`."""

import cython


def label_ranges(
    labels: cython.int[::1],
    codes: cython.int[::1],
    past: cython.int,
    ends: cython.int[:, ::1],
    missing: cython.uchar[::1],
) -> None:
    """Smallest and largest code below ``past`` of every label, and whether ``past`` itself (missing) occurs."""
    n: cython.Py_ssize_t = labels.shape[0]
    m: cython.Py_ssize_t = ends.shape[0]
    i: cython.Py_ssize_t
    g: cython.int
    x: cython.int
    with cython.nogil:
        for i in range(m):
            ends[i, 0] = past
            ends[i, 1] = -1
        for i in range(n):
            g = labels[i]
            if g < 0:
                continue
            x = codes[i]
            if x == past:
                missing[g] = 1
                continue
            if x < ends[g, 0]:
                ends[g, 0] = x
            if x > ends[g, 1]:
                ends[g, 1] = x


def sort_runs(
    codes: cython.int[::1],
    offsets: cython.longlong[::1],
    short: cython.Py_ssize_t,
    sparse: cython.longlong,
    scratch: cython.longlong[::1],
) -> None:
    """Sort every run of codes, in place: by insertion up to ``short`` codes, else by counting.

    Runs in which there are more than ``sparse`` possible codes for every one are left as they are. ``scratch`` is
    zeros, a place per code, and stays zeros.
    """
    n_codes: cython.longlong = scratch.shape[0]
    m: cython.Py_ssize_t = offsets.shape[0] - 1
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    low: cython.int
    high: cython.int
    x: cython.int
    with cython.nogil:
        for g in range(m):
            if offsets[g + 1] - offsets[g] <= short:
                for i in range(offsets[g] + 1, offsets[g + 1]):
                    x = codes[i]
                    j = i
                    while j > offsets[g] and codes[j - 1] > x:
                        codes[j] = codes[j - 1]
                        j -= 1
                    codes[j] = x
                continue
            if (offsets[g + 1] - offsets[g]) * sparse < n_codes:
                continue
            low = codes[offsets[g]]
            high = low
            for i in range(offsets[g], offsets[g + 1]):
                x = codes[i]
                low = x if x < low else low
                high = x if x > high else high
                scratch[x] += 1
            i = offsets[g]
            for x in range(low, high + 1):
                while scratch[x] > 0:
                    codes[i] = x
                    i += 1
                    scratch[x] -= 1


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
