# SPDX-License-Identifier: Apache-2.0
"""Counting sensitive codes in consecutive groups: bare loops, called through `Counts` and `Groups`.

With ``weights`` a code stands for so many tuples, without for one.
"""

import cython


def largest_counts(
    codes: cython.int[::1],
    offsets: cython.longlong[::1],
    scratch: cython.longlong[::1],
    largest: cython.longlong[::1],
    weights: cython.int[::1] = None,
) -> None:
    """For each group the count of its most frequent code; ``scratch`` is zeros, a place per code, and stays zeros."""
    n: cython.Py_ssize_t = largest.shape[0]
    weighted: cython.bint = weights is not None
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    top: cython.longlong
    with cython.nogil:
        for g in range(n):
            top = 0
            for i in range(offsets[g], offsets[g + 1]):
                scratch[codes[i]] += weights[i] if weighted else 1
                if scratch[codes[i]] > top:
                    top = scratch[codes[i]]
            for i in range(offsets[g], offsets[g + 1]):
                scratch[codes[i]] = 0
            largest[g] = top


def histograms(
    codes: cython.int[::1],
    offsets: cython.longlong[::1],
    scratch: cython.longlong[::1],
    starts: cython.longlong[::1],
    values: cython.int[::1],
    counts: cython.longlong[::1],
    weights: cython.int[::1] = None,
) -> cython.longlong:
    """Sparse histograms: fills ``starts``, ``values`` and ``counts`` and returns how many entries were used."""
    n: cython.Py_ssize_t = offsets.shape[0] - 1
    weighted: cython.bint = weights is not None
    w: cython.Py_ssize_t = scratch.shape[0]
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    used: cython.longlong = 0
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    c: cython.Py_ssize_t
    with cython.nogil:
        starts[0] = 0
        for g in range(n):
            low = w
            high = -1
            for i in range(offsets[g], offsets[g + 1]):
                c = codes[i]
                scratch[c] += weights[i] if weighted else 1
                if c < low:
                    low = c
                if c > high:
                    high = c
            for c in range(low, high + 1):
                if scratch[c] > 0:
                    values[used] = c
                    counts[used] = scratch[c]
                    scratch[c] = 0
                    used += 1
            starts[g + 1] = used
    return used


def group_weights(
    weights: cython.int[::1],
    offsets: cython.longlong[::1],
    sizes: cython.longlong[::1],
) -> None:
    """Add up the weights of every group."""
    n: cython.Py_ssize_t = sizes.shape[0]
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    total: cython.longlong
    with cython.nogil:
        for g in range(n):
            total = 0
            for i in range(offsets[g], offsets[g + 1]):
                total += weights[i]
            sizes[g] = total


def label_sizes(
    labels: cython.int[::1],
    sizes: cython.longlong[::1],
) -> None:
    """Add up how many tuples have each label; -1 is left out."""
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = labels.shape[0]
    with cython.nogil:
        for i in range(n):
            if labels[i] >= 0:
                sizes[labels[i]] += 1


def relabel(
    labels: cython.int[::1],
    numbers: cython.int[::1],
    relabelled: cython.int[::1],
) -> None:
    """Give every label its new number; -1 stays -1."""
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = labels.shape[0]
    with cython.nogil:
        for i in range(n):
            relabelled[i] = numbers[labels[i]] if labels[i] >= 0 else -1


def gather_codes(
    labels: cython.int[::1],
    codes: cython.int[::1],
    next_place: cython.longlong[::1],
    gathered: cython.int[::1],
) -> None:
    """Copy every tuple's code to its group; ``next_place`` starts as each group's first place; -1 is left out."""
    i: cython.Py_ssize_t
    g: cython.int
    n: cython.Py_ssize_t = labels.shape[0]
    with cython.nogil:
        for i in range(n):
            g = labels[i]
            if g >= 0:
                gathered[next_place[g]] = codes[i]
                next_place[g] += 1


def group_order(
    labels: cython.int[::1],
    next_place: cython.longlong[::1],
    order: cython.int[::1],
) -> None:
    """Stable counting sort of tuples by label; ``next_place`` starts as each group's first place; -1 is left out."""
    i: cython.Py_ssize_t
    g: cython.int
    n: cython.Py_ssize_t = labels.shape[0]
    with cython.nogil:
        for i in range(n):
            g = labels[i]
            if g >= 0:
                order[next_place[g]] = i
                next_place[g] += 1
