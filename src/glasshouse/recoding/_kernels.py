# SPDX-License-Identifier: Apache-2.0
"""Passes over the tuples of groups and boxes: bare loops, called through the modules of this room."""

import cython

if cython.compiled:
    from cython.cimports.glasshouse.kernels._sorting_kernels import sort_codes
else:
    from glasshouse.kernels._sorting_kernels import sort_codes

Code = cython.fused_type(cython.int, cython.longlong)


def label_ranges(
    labels: cython.int[::1],
    codes: cython.int[::1],
    past: cython.int,
    ends: cython.int[:, ::1],
    missing: cython.uchar[::1],
) -> None:
    """Smallest and largest code below ``past`` of every label, and whether ``past`` itself (missing) occurs."""
    with cython.nogil:
        for i in range(ends.shape[0]):
            ends[i, 0] = past
            ends[i, 1] = -1
        for i in range(labels.shape[0]):
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
    low: cython.int
    high: cython.int
    x: cython.int
    with cython.nogil:
        for g in range(offsets.shape[0] - 1):
            if offsets[g + 1] - offsets[g] <= short:
                insert(codes, offsets[g], offsets[g + 1])
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
    with cython.nogil:
        for i in range(labels.shape[0]):
            if labels[i] >= 0:
                b = box_of_group[labels[i]]
                by_box[next_place[b]] = codes[i]
                next_place[b] += 1


def gather(
    labels: cython.int[::1],
    keys: cython.longlong[::1],
    next_place: cython.longlong[::1],
    by_group: cython.longlong[::1],
) -> None:
    """Copy each published tuple's key to its group; ``next_place`` starts as every group's first place."""
    with cython.nogil:
        for i in range(labels.shape[0]):
            g = labels[i]
            if g >= 0:
                by_group[next_place[g]] = keys[i]
                next_place[g] += 1


def sort_small_runs(keys: cython.longlong[::1], offsets: cython.longlong[::1], most: cython.longlong) -> None:
    """Sort every run of at most ``most`` keys, by insertion."""
    with cython.nogil:
        for r in range(offsets.shape[0] - 1):
            if offsets[r + 1] - offsets[r] <= most:
                insert(keys, offsets[r], offsets[r + 1])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def insert(codes: Code[::1], start: cython.longlong, stop: cython.longlong) -> cython.void:
    """Sort ``codes[start:stop]`` by insertion."""
    x: Code
    for i in range(start + 1, stop):
        x = codes[i]
        j = i
        while j > start and codes[j - 1] > x:
            codes[j] = codes[j - 1]
            j -= 1
        codes[j] = x


def label_masks(
    labels: cython.int[::1],
    codes: cython.int[::1],
    first: cython.int,
    masks: cython.longlong[::1],
) -> None:
    """Mark in ``masks[g]`` which codes from ``first`` to ``first + 62`` occur under label ``g``, a bit for each."""
    one: cython.longlong = 1
    with cython.nogil:
        for i in range(labels.shape[0]):
            x = codes[i] - first
            if labels[i] >= 0 and 0 <= x < 63:
                masks[labels[i]] |= one << x


def pick_smallest(
    codes: cython.int[::1],
    offsets: cython.longlong[::1],
    places: cython.longlong[::1],
    picked: cython.int[::1],
) -> None:
    """Find, in every run ``codes[offsets[g] : offsets[g + 1]]``, the code at place ``places[g]`` of its sorted order.

    Runs come out in another order. Hoare's selection: codes before the place that is sought are never larger.
    """
    with cython.nogil:
        for g in range(places.shape[0]):
            low = offsets[g]
            high = offsets[g + 1] - 1
            k = low + places[g]
            while low < high:
                x = codes[low + (high - low) // 2]
                i = low
                j = high
                while i <= j:
                    while codes[i] < x:
                        i += 1
                    while x < codes[j]:
                        j -= 1
                    if i <= j:
                        y = codes[i]
                        codes[i] = codes[j]
                        codes[j] = y
                        i += 1
                        j -= 1
                # codes up to j are at most x, codes from i on at least x, and any between them are x
                if j < k:
                    low = i
                if k < i:
                    high = j
            picked[g] = codes[k]


def find_overlap(
    low: cython.int[:, ::1],
    high: cython.int[:, ::1],
    order: cython.int[::1],
    stack: cython.longlong[::1],
    starts: cython.longlong[::1],
    ends: cython.longlong[::1],
    sorted_low: cython.int[::1],
    sorted_high: cython.int[::1],
    few: cython.longlong,
    limit: cython.longlong,
    dense: cython.longlong,
    found: cython.int[::1],
) -> cython.int:
    """Find two boxes that share a point: 0 if there are none, 1 with their numbers in ``found``, 2 if it cannot tell.

    Box ``b`` holds the codes ``low[b, i] .. high[b, i]`` on attribute ``i``. ``order`` starts as all boxes. At most
    ``few`` boxes, and up to ``limit`` that no cut divides, are compared in pairs; it cannot tell of more than that.
    Codes that spread over at most ``dense`` times the number of boxes are counted in ``starts`` and ``ends`` (zeros, a
    place per code and one more, and zeros again afterwards); others are sorted in ``sorted_low`` and ``sorted_high``,
    each with room for twice as many as there are boxes.
    ``stack`` has room for 128 numbers: the larger part waits, so that parts waiting at least double in size.
    """
    d: cython.Py_ssize_t = low.shape[1]
    a: cython.longlong
    m: cython.longlong
    i: cython.longlong
    c: cython.longlong
    dim: cython.Py_ssize_t
    turn: cython.Py_ssize_t = 0
    top: cython.Py_ssize_t = 0
    least: cython.int
    most: cython.int
    x: cython.int
    y: cython.int
    cut: cython.int
    cut_dim: cython.Py_ssize_t
    before: cython.longlong
    past: cython.longlong
    gap: cython.longlong
    best: cython.longlong
    status: cython.int = 0
    with cython.nogil:
        stack[0] = 0
        stack[1] = order.shape[0]
        top = 1 if order.shape[0] > 1 else 0
        while top > 0 and status == 0:
            top -= 1
            a = stack[2 * top]
            b = stack[2 * top + 1]
            m = b - a
            # the most even cut, on the first attribute that has a fair one: at most three quarters on one side
            best = m
            cut = 0
            cut_dim = 0
            if m > few:
                for t in range(d):
                    dim = (turn + t) % d
                    least = low[order[a], dim]
                    most = high[order[a], dim]
                    for i in range(a, b):
                        x = low[order[i], dim]
                        y = high[order[i], dim]
                        least = x if x < least else least
                        most = y if y > most else most
                    if least == most:
                        continue
                    if most - least <= dense * m:
                        for i in range(a, b):
                            starts[low[order[i], dim]] += 1
                            ends[high[order[i], dim]] += 1
                        before = 0  # boxes that start below c, and boxes that end below c
                        past = 0
                        for c in range(least, most + 1):
                            if before == past and 0 < before < m:
                                gap = 2 * before - m if 2 * before > m else m - 2 * before
                                if gap < best:
                                    best = gap
                                    cut = c
                                    cut_dim = dim
                            before += starts[c]
                            past += ends[c]
                            starts[c] = 0
                            ends[c] = 0
                    else:
                        for i in range(m):
                            sorted_low[i] = low[order[a + i], dim]
                            sorted_high[i] = high[order[a + i], dim]
                        sort_codes(sorted_low, m, most)
                        sort_codes(sorted_high, m, most)
                        for i in range(1, m):
                            if sorted_high[i - 1] < sorted_low[i]:
                                gap = 2 * i - m if 2 * i > m else m - 2 * i
                                if gap < best:
                                    best = gap
                                    cut = sorted_low[i]
                                    cut_dim = dim
                    if 2 * best <= m:
                        break
            if best == m:
                # no cut goes through none of them
                if m > few and m > limit:
                    status = 2
                    break
                for i in range(a, b):
                    for j in range(i + 1, b):
                        t = 0
                        while t < d and low[order[i], t] <= high[order[j], t] and low[order[j], t] <= high[order[i], t]:
                            t += 1
                        if t == d:
                            found[0] = order[i]
                            found[1] = order[j]
                            status = 1
                            break
                    if status == 1:
                        break
                continue
            turn = cut_dim + 1
            i = a
            j = b - 1
            while i <= j:
                if high[order[i], cut_dim] < cut:
                    i += 1
                else:
                    x = order[i]
                    order[i] = order[j]
                    order[j] = x
                    j -= 1
            if i - a > b - i:
                stack[2 * top] = a
                stack[2 * top + 1] = i
                a = i
            else:
                stack[2 * top] = i
                stack[2 * top + 1] = b
                b = i
            top += 1
            stack[2 * top] = a
            stack[2 * top + 1] = b
            top += 1
    return status
