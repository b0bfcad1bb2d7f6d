# SPDX-License-Identifier: Apache-2.0
"""Do boxes overlap? They are cut apart, again and again, where a cut goes through none of them."""

import cython


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
    place per code and one more, and zeros again afterwards); others are sorted in ``sorted_low`` and ``sorted_high``.
    ``stack`` has room for 128 numbers: the larger part waits, so that parts waiting at least double in size.
    """
    d: cython.Py_ssize_t = low.shape[1]
    a: cython.longlong
    b: cython.longlong
    m: cython.longlong
    i: cython.longlong
    j: cython.longlong
    c: cython.longlong
    t: cython.Py_ssize_t
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
                        sort_codes(sorted_low, m)
                        sort_codes(sorted_high, m)
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sort_codes(codes: cython.int[::1], n: cython.longlong) -> cython.void:
    """Sort the first ``n`` codes, in place: a heap, for n log n at worst and no more room."""
    start: cython.longlong = n // 2
    end: cython.longlong = n
    root: cython.longlong
    child: cython.longlong
    x: cython.int
    while end > 1:
        if start > 0:
            start -= 1
        else:
            end -= 1
            x = codes[end]
            codes[end] = codes[0]
            codes[0] = x
        root = start
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and codes[child] < codes[child + 1]:
                child += 1
            if codes[root] >= codes[child]:
                break
            x = codes[root]
            codes[root] = codes[child]
            codes[child] = x
            root = child
