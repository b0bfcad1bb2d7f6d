# SPDX-License-Identifier: Apache-2.0
"""Snug: bare loops over points, called through `glasshouse.grouping.cuts.snug`.

A point stands for all tuples that are equal in every quasi-identifier; its weight is their number. A node is a run of
points in the order of all their codes, one attribute after another. So a stable sort of a node by one attribute puts
points with equal codes in the order of the others.
"""

import cython


def find_borders(
    codes: cython.int[:, ::1],
    weights: cython.int[::1],
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    ancestors: cython.int[::1],
    layout: cython.longlong[:, ::1],
    limits: cython.longlong[::1],
    places: cython.longlong[::1],
    tally: cython.int[::1],
    order: cython.int[::1],
    box: cython.int[:, ::1],
    borders: cython.longlong[:, :, ::1],
    widths: cython.longlong[::1],
) -> None:
    """Find the two borders of every node on every attribute.

    The first lies between two values (with a taxonomy, between children of the lowest common ancestor of the node's
    values), the second between two points, and leaves room for as many groups of ``unit`` tuples as the node has; each
    where it divides the tuples most evenly, then where fewer of them are left. Both parts have ``least`` tuples. The
    second is left out where it is the first.

    Parameters
    ----------
    ancestors
        Of every attribute that has a taxonomy, depth by depth, the number of the ancestor of each of its codes.
    layout
        A column per attribute: how many codes it has, where its places begin, where its ancestors begin, their levels.
    limits
        ``unit``, ``least``, and ``dense``: the codes of a node are counted in ``tally`` if they spread over at most
        this many times its points; otherwise they are sorted.
    places
        The place of each code of all attributes, one after another.
    tally
        Zeros, and zeros again afterwards: a place for each code of the attribute that has most, and one more.
    order, box
        Room for twice the points of the longest node, and for the smallest and the largest code of every attribute.
    borders
        Receives per border (two for each attribute) and node: the code of the point after it, how many points with that
        code are before it, and the tuples on its left and on its right; 0 where there is no border.
    widths
        Receives per border the sum of the widths of the left part, node after node, then that of the right part.
    """
    m: cython.Py_ssize_t = starts.shape[0]
    d: cython.Py_ssize_t = codes.shape[0]
    unit: cython.longlong = limits[0]
    least: cython.longlong = limits[1]
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t
    e: cython.Py_ssize_t
    dim: cython.Py_ssize_t
    q: cython.Py_ssize_t
    t: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    depth: cython.Py_ssize_t  # where the ancestors of the first level begin at which the node's codes have several
    low: cython.int
    high: cython.int
    x: cython.int
    last: cython.int
    total: cython.longlong
    before: cython.longlong
    gap: cython.longlong
    spare: cython.longlong
    tree: cython.bint
    least_gap: cython.longlong[2] = [0, 0]
    left: cython.longlong[2] = [0, 0]
    at: cython.Py_ssize_t[2] = [0, 0]  # how many points are before each border
    mark: cython.Py_ssize_t[4] = [0, 0, 0, 0]  # between which the three stretches lie that both borders make
    lows: cython.int[3] = [0, 0, 0]
    highs: cython.int[3] = [0, 0, 0]
    with cython.nogil:
        for g in range(m):
            for e in range(2 * d):
                for i in range(4):
                    borders[e, i, g] = 0
                widths[2 * e * m + g] = 0
                widths[(2 * e + 1) * m + g] = 0
            n = stops[g] - starts[g]
            total = 0
            for i in range(starts[g], stops[g]):
                total += weights[i]
            if n == 1 or total < 2 * least:
                continue
            spare = total % unit
            for dim in range(d):
                low = codes[dim, starts[g]]
                high = low
                for i in range(starts[g], stops[g]):
                    x = codes[dim, i]
                    low = x if x < low else low
                    high = x if x > high else high
                box[0, dim] = low
                box[1, dim] = high
            for dim in range(d):
                low = box[0, dim]
                high = box[1, dim]
                if low == high:
                    continue
                sort_points(codes, dim, starts[g], stops[g], low, high, limits[2], tally, order)
                depth = layout[2, dim]
                stop = depth + layout[3, dim] * layout[0, dim]
                while depth < stop and ancestors[depth + low] == ancestors[depth + high]:
                    depth += layout[0, dim]
                tree = depth < stop
                least_gap[0] = total + 1
                least_gap[1] = total + 1
                at[0] = 0
                at[1] = 0
                before = 0
                last = low
                for i in range(1, n):
                    before += weights[order[i - 1]]
                    if before > total - least:  # and so for all that follow
                        break
                    x = codes[dim, order[i]]
                    gap = 2 * before - total if 2 * before > total else total - 2 * before
                    if before >= least:
                        if gap < least_gap[0] and x != last and (
                            not tree or ancestors[depth + x] != ancestors[depth + last]
                        ):  # fmt: skip
                            least_gap[0] = gap
                            left[0] = before
                            at[0] = i
                        if gap < least_gap[1] and before >= unit and total - before >= unit and before % unit <= spare:
                            least_gap[1] = gap
                            left[1] = before
                            at[1] = i
                    last = x
                if at[0] == at[1]:
                    at[1] = 0
                for e in range(2):
                    if at[e] > 0:
                        x = codes[dim, order[at[e]]]
                        i = at[e]
                        while i > 0 and codes[dim, order[i - 1]] == x:
                            i -= 1
                        borders[2 * dim + e, 0, g] = x
                        borders[2 * dim + e, 1, g] = at[e] - i
                        borders[2 * dim + e, 2, g] = left[e]
                        borders[2 * dim + e, 3, g] = total - left[e]
                if at[0] == 0 and at[1] == 0:
                    continue
                mark[1] = at[0] if at[0] < at[1] else at[1]
                mark[2] = at[0] if at[0] > at[1] else at[1]
                mark[3] = n
                for q in range(d):
                    for t in range(3):
                        low = 0x7FFFFFFF
                        high = -1
                        i = mark[t]
                        stop = mark[t + 1]
                        if q == dim:
                            if i < stop:
                                low = codes[q, order[i]]
                                high = codes[q, order[stop - 1]]
                        else:
                            while i < stop:
                                x = codes[q, order[i]]
                                low = x if x < low else low
                                high = x if x > high else high
                                i += 1
                                if i & 7 == 0 and low == box[0, q] and high == box[1, q]:  # it cannot grow any more
                                    break
                        lows[t] = low
                        highs[t] = high
                    for e in range(2):
                        if at[e] > 0:
                            # The left part has the first stretch, and the second if that ends where the part does.
                            t = 1 if at[e] == mark[2] else 0
                            low = lows[0] if t == 0 or lows[0] < lows[1] else lows[1]
                            high = highs[0] if t == 0 or highs[0] > highs[1] else highs[1]
                            i = layout[1, q]
                            widths[2 * (2 * dim + e) * m + g] += places[i + high] - places[i + low]
                            low = lows[2] if t == 1 or lows[2] < lows[1] else lows[1]
                            high = highs[2] if t == 1 or highs[2] > highs[1] else highs[1]
                            widths[(2 * (2 * dim + e) + 1) * m + g] += places[i + high] - places[i + low]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sort_points(
    codes: cython.int[:, ::1],
    dim: cython.longlong,
    start: cython.longlong,
    stop: cython.longlong,
    low: cython.int,
    high: cython.int,
    dense: cython.longlong,
    tally: cython.int[::1],
    order: cython.int[::1],
) -> cython.void:
    """Put the points of a node in order of one attribute, those with equal codes as they lie."""
    n: cython.Py_ssize_t = stop - start
    p: cython.int
    y: cython.int
    if high - low <= dense * n:
        for i in range(start, stop):
            tally[codes[dim, i] + 1] += 1
        for i in range(low, high):
            tally[i + 1] += tally[i]
        for i in range(start, stop):
            x = codes[dim, i]
            order[tally[x]] = i
            tally[x] += 1
        for i in range(low, high + 2):
            tally[i] = 0
        return
    if n <= 48:
        for i in range(n):
            p = start + i
            x = codes[dim, p]
            j = i
            while j > 0 and codes[dim, order[j - 1]] > x:
                order[j] = order[j - 1]
                j -= 1
            order[j] = p
        return
    source: cython.Py_ssize_t = 0
    target: cython.Py_ssize_t = n
    shift: cython.int = 0
    places: cython.longlong[257] = [0] * 257
    for i in range(n):
        order[i] = start + i
    while ((high - low) >> shift) > 0:
        for y in range(257):
            places[y] = 0
        for i in range(n):
            places[(((codes[dim, order[source + i]] - low) >> shift) & 255) + 1] += 1
        for y in range(256):
            places[y + 1] += places[y]
        for i in range(n):
            p = order[source + i]
            y = ((codes[dim, p] - low) >> shift) & 255
            order[target + places[y]] = p
            places[y] += 1
        source, target = target, source
        shift += 8
    if source > 0:
        for i in range(n):
            order[i] = order[source + i]
