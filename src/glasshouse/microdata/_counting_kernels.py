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
    weighted: cython.bint = weights is not None
    with cython.nogil:
        for g in range(largest.shape[0]):
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
    """Sparse histograms: fills ``starts``, ``values`` and ``counts`` and returns how many entries were used.

    Values ascend within a group. The work is that of the group's own tuples: where its codes lie close together they
    are read off in order, and where they are few among many, those that occur are listed and sorted.
    """
    weighted: cython.bint = weights is not None
    w: cython.Py_ssize_t = scratch.shape[0]
    used: cython.longlong = 0
    with cython.nogil:
        starts[0] = 0
        for g in range(offsets.shape[0] - 1):
            low = w
            high = -1
            for i in range(offsets[g], offsets[g + 1]):
                c = codes[i]
                scratch[c] += weights[i] if weighted else 1
                if c < low:
                    low = c
                if c > high:
                    high = c
            if high - low <= 8 * (offsets[g + 1] - offsets[g]):
                for c in range(low, high + 1):
                    if scratch[c] > 0:
                        values[used] = c
                        counts[used] = scratch[c]
                        scratch[c] = 0
                        used += 1
            else:
                begin = used
                for i in range(offsets[g], offsets[g + 1]):
                    c = codes[i]
                    if scratch[c] > 0:
                        values[used] = c
                        counts[used] = scratch[c]
                        scratch[c] = 0
                        used += 1
                sort_entries(values, counts, begin, used)
            starts[g + 1] = used
    return used


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sort_entries(
    values: cython.int[::1], counts: cython.longlong[::1], begin: cython.longlong, stop: cython.longlong
) -> cython.void:
    """Sort the entries ``begin .. stop - 1`` by value, each with its count: by insertion if few, else with a heap."""
    n: cython.longlong = stop - begin
    start: cython.longlong = n // 2
    end: cython.longlong = n
    if n <= 32:
        for i in range(begin + 1, stop):
            x = values[i]
            y = counts[i]
            root = i
            while root > begin and values[root - 1] > x:
                values[root] = values[root - 1]
                counts[root] = counts[root - 1]
                root -= 1
            values[root] = x
            counts[root] = y
        return
    while end > 1:
        if start > 0:
            start -= 1
        else:
            end -= 1
            exchange(values, counts, begin + end, begin)
        root = start
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and values[begin + child] < values[begin + child + 1]:
                child += 1
            if values[begin + root] >= values[begin + child]:
                break
            exchange(values, counts, begin + root, begin + child)
            root = child


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def exchange(
    values: cython.int[::1], counts: cython.longlong[::1], i: cython.longlong, j: cython.longlong
) -> cython.void:
    """Exchange two entries."""
    x: cython.int = values[i]
    y: cython.longlong = counts[i]
    values[i] = values[j]
    counts[i] = counts[j]
    values[j] = x
    counts[j] = y


def group_weights(
    weights: cython.int[::1],
    offsets: cython.longlong[::1],
    sizes: cython.longlong[::1],
) -> None:
    """Add up the weights of every group."""
    total: cython.longlong
    with cython.nogil:
        for g in range(sizes.shape[0]):
            total = 0
            for i in range(offsets[g], offsets[g + 1]):
                total += weights[i]
            sizes[g] = total


def label_sizes(
    labels: cython.int[::1],
    sizes: cython.longlong[::1],
) -> None:
    """Add up how many tuples have each label; -1 is left out."""
    with cython.nogil:
        for i in range(labels.shape[0]):
            if labels[i] >= 0:
                sizes[labels[i]] += 1


def relabel(
    labels: cython.int[::1],
    numbers: cython.int[::1],
    relabelled: cython.int[::1],
) -> None:
    """Give every label its new number; -1 stays -1."""
    with cython.nogil:
        for i in range(labels.shape[0]):
            relabelled[i] = numbers[labels[i]] if labels[i] >= 0 else -1


def gather_codes(
    labels: cython.int[::1],
    codes: cython.int[::1],
    next_place: cython.longlong[::1],
    gathered: cython.int[::1],
) -> None:
    """Copy every tuple's code to its group; ``next_place`` starts as each group's first place; -1 is left out."""
    with cython.nogil:
        for i in range(labels.shape[0]):
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
    with cython.nogil:
        for i in range(labels.shape[0]):
            g = labels[i]
            if g >= 0:
                order[next_place[g]] = i
                next_place[g] += 1
