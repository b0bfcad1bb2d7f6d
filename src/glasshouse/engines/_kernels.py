# SPDX-License-Identifier: Apache-2.0
"""Dividing tables: bare loops over columns of codes, called through `Rows`.

A node is a run of consecutive tuples. A cut of a node on one attribute is ``(value, ties)``: the left part holds the
tuples with a smaller code, and the first ``ties`` tuples with that very code. Tuples stay in tie order inside every
node, so "the first" needs no sort and no comparison.
"""

import cython

if cython.compiled:
    from cython.cimports.glasshouse.kernels._sorting_kernels import sort_codes
else:
    from glasshouse.kernels._sorting_kernels import sort_codes


def extents(
    column: cython.int[::1],
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    low: cython.int[::1],
    high: cython.int[::1],
) -> None:
    """Smallest and largest code of every node."""
    with cython.nogil:
        for g in range(starts.shape[0]):
            a = column[starts[g]]
            b = a
            for i in range(starts[g], stops[g]):
                x = column[i]
                a = x if x < a else a
                b = x if x > b else b
            low[g] = a
            high[g] = b


def median_cuts(
    column: cython.int[::1],
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    ancestors: cython.int[:, ::1],
    dense: cython.longlong,
    counts: cython.longlong[::1],
    buffer: cython.int[::1],
    value: cython.int[::1],
    weights: cython.int[::1] = None,
) -> None:
    """Strict cuts: the border between two values that divides a node most evenly, the smaller left part on a tie.

    With a taxonomy (``ancestors``: a row per depth, a place per code) only borders between different children of the
    node's lowest common ancestor count. ``value`` is the smallest code of the right part, 0 where there is no border.
    Codes are counted in ``counts`` (zeros, a place per code, and zeros again afterwards), with their weights if there
    are ``weights``. Those that spread over more than ``dense`` times the node's size are sorted in ``buffer``, which
    has room for twice the longest node.
    """
    weighted: cython.bint = weights is not None
    levels: cython.Py_ssize_t = ancestors.shape[0]
    depth: cython.Py_ssize_t
    low: cython.int
    high: cython.int
    last: cython.int
    x: cython.int
    weight: cython.longlong
    with cython.nogil:
        for g in range(starts.shape[0]):
            n = stops[g] - starts[g]
            low = column[starts[g]]
            high = low
            for i in range(starts[g], stops[g]):
                x = column[i]
                low = x if x < low else low
                high = x if x > high else high
            depth = 0  # the first level at which the node's codes have different ancestors
            while depth < levels and ancestors[depth, low] == ancestors[depth, high]:
                depth += 1
            value[g] = 0
            weight = 0
            for i in range(starts[g], stops[g]):
                counts[column[i]] += weights[i] if weighted else 1
                weight += weights[i] if weighted else 1
            best = weight + 1
            if high - low <= dense * n:
                before = counts[low]
                counts[low] = 0
                last = low
                for x in range(low + 1, high + 1):
                    if counts[x] == 0:
                        continue
                    if depth == levels or ancestors[depth, x] != ancestors[depth, last]:
                        gap = 2 * before - weight if 2 * before > weight else weight - 2 * before
                        if gap < best:
                            best = gap
                            value[g] = x
                    last = x
                    before += counts[x]
                    counts[x] = 0
            else:
                for i in range(n):
                    buffer[i] = column[starts[g] + i]
                sort_codes(buffer, n, high)
                before = 0
                for i in range(1, n):
                    x = buffer[i]
                    last = buffer[i - 1]
                    if x == last:
                        continue
                    before += counts[last]
                    if depth == levels or ancestors[depth, x] != ancestors[depth, last]:
                        gap = 2 * before - weight if 2 * before > weight else weight - 2 * before
                        if gap < best:
                            best = gap
                            value[g] = x
                for i in range(n):
                    counts[buffer[i]] = 0


def half_cuts(
    column: cython.int[::1],
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    dense: cython.longlong,
    counts: cython.longlong[::1],
    buffer: cython.int[::1],
    value: cython.int[::1],
    ties: cython.longlong[::1],
) -> None:
    """Relaxed cuts: the first half of a node's tuples in (value, tie order); the smaller half is left."""
    low: cython.int
    high: cython.int
    x: cython.int
    with cython.nogil:
        for g in range(starts.shape[0]):
            n = stops[g] - starts[g]
            half = n // 2
            low = column[starts[g]]
            high = low
            for i in range(starts[g], stops[g]):
                x = column[i]
                low = x if x < low else low
                high = x if x > high else high
            if high - low <= dense * n:
                for i in range(starts[g], stops[g]):
                    counts[column[i]] += 1
                before = 0
                x = low
                while before + counts[x] <= half:
                    before += counts[x]
                    x += 1
                value[g] = x
                ties[g] = half - before
                for i in range(starts[g], stops[g]):
                    counts[column[i]] = 0
            else:
                for i in range(n):
                    buffer[i] = column[starts[g] + i]
                sort_codes(buffer, n, high)
                value[g] = buffer[half]
                i = half
                while i > 0 and buffer[i - 1] == value[g]:
                    i -= 1
                ties[g] = half - i


def mark_sides(
    column: cython.int[::1],
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    value: cython.int[::1],
    ties: cython.longlong[::1],
    is_left: cython.uchar[::1],
    left: cython.longlong[::1],
) -> None:
    """Mark the tuples that each cut sends left, and count them."""
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    v: cython.int
    total: cython.longlong
    remaining: cython.longlong
    side: cython.uchar
    with cython.nogil:
        for g in range(starts.shape[0]):
            v = value[g]
            total = 0
            if ties[g] == 0:
                for i in range(starts[g], stops[g]):
                    side = column[i] < v
                    is_left[i] = side
                    total += side
            else:
                remaining = ties[g]
                for i in range(starts[g], stops[g]):
                    side = (column[i] < v) | ((column[i] == v) & (remaining > 0))
                    remaining -= side & (column[i] == v)
                    is_left[i] = side
                    total += side
            left[g] = total


def gather_sides(
    column: cython.int[::1],
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    left: cython.longlong[::1],
    is_left: cython.uchar[::1],
    sides: cython.int[::1],
) -> None:
    """Copy a column node after node, the left part of each before its right part; the column stays as it is."""
    base: cython.Py_ssize_t = 0
    side: cython.Py_ssize_t
    with cython.nogil:
        for g in range(starts.shape[0]):
            a = base
            b = base + left[g]
            for i in range(starts[g], stops[g]):
                side = is_left[i]
                place = b + (a - b) * side  # a if left else b, without a branch to mispredict
                sides[place] = column[i]
                a += side
                b += 1 - side
            base += stops[g] - starts[g]


def append_code(
    keys: cython.int[::1],
    codes: cython.int[::1],
    size: cython.int,
) -> None:
    """Make each tuple's code the last digit of its key."""
    with cython.nogil:
        for i in range(keys.shape[0]):
            keys[i] = keys[i] * size + codes[i]


def gather_histograms(
    index: cython.int[::1],
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    is_left: cython.uchar[::1],
    first: cython.longlong[::1],
    values: cython.int[::1],
    counts: cython.int[::1],
    side_values: cython.int[::1],
    side_counts: cython.int[::1],
    offsets: cython.longlong[::1],
) -> None:
    """Copy the histograms of points, those left of each cut before those right of it; ``offsets``: where each ends.

    Point ``p`` has ``counts[e]`` tuples of ``values[e]`` for ``first[p] <= e < first[p + 1]``.
    """
    right: cython.Py_ssize_t
    used: cython.Py_ssize_t = 0
    with cython.nogil:
        for g in range(starts.shape[0]):
            for right in range(2):
                for i in range(starts[g], stops[g]):
                    if is_left[i] != right:
                        for e in range(first[index[i]], first[index[i] + 1]):
                            side_values[used] = values[e]
                            side_counts[used] = counts[e]
                            used += 1
                offsets[2 * g + right + 1] = used


def split_column(
    column: cython.int[::1],
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    is_left: cython.uchar[::1],
    spare: cython.int[::1],
) -> None:
    """Move each node's left tuples to its front, keeping the order inside both parts; ``spare``: the longest node."""
    b: cython.Py_ssize_t
    side: cython.Py_ssize_t
    with cython.nogil:
        for g in range(starts.shape[0]):
            a = starts[g]
            b = 0
            for i in range(starts[g], stops[g]):
                x = column[i]
                side = is_left[i]
                column[a] = x  # safe: a <= i
                spare[b] = x
                a += side
                b += 1 - side
            for i in range(b):
                column[a + i] = spare[i]


def label_runs(
    index: cython.int[::1],
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    labels: cython.int[::1],
) -> None:
    """Label the tuples of every leaf with the leaf's number."""
    with cython.nogil:
        for g in range(starts.shape[0]):
            for i in range(starts[g], stops[g]):
                labels[index[i]] = g
