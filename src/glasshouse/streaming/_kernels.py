# SPDX-License-Identifier: Apache-2.0
"""Anatomizing a stream of tuples: bare loops, called through `glasshouse.streaming.anatomize`.

A *bucket* is the tuples of one sensitive value. Which groups there are is a function of the buckets' sizes alone: the
plan. Groups of the plan lie in partitions, and a tree over the partitions says, for every bucket, how many of its
tuples each partition still wants: node 1 is the root, node ``k`` has the children ``2 * k`` and ``2 * k + 1``, and the
leaf of partition ``p`` is ``n_partitions + p`` (a power of two).
"""

import cython

Unsigned = cython.fused_type(cython.uchar, cython.ushort, cython.uint, cython.ulonglong)


def want(
    groups: cython.int[::1],
    ell: cython.longlong,
    parts: cython.longlong[::1],
    n_partitions: cython.longlong,
    tree: cython.longlong[::1],
) -> None:
    """Count at the leaves of ``tree`` what groups that lie in partitions ``parts`` want of every bucket."""
    x: cython.longlong
    with cython.nogil:
        for g in range(parts.shape[0]):
            for i in range(g * ell, (g + 1) * ell):
                x = groups[i]
                tree[(2 * x + 1) * n_partitions + parts[g]] += 1


def bounds(
    codes: cython.int[::1],
    left: cython.longlong[::1],
    out: cython.longlong[::1],
) -> cython.longlong:
    """How many tuples each tuple's bucket still has, counting that tuple; the first place that has none, or -1."""
    lacking: cython.Py_ssize_t = -1
    with cython.nogil:
        for i in range(codes.shape[0]):
            x = codes[i]
            if left[x] <= 0:
                lacking = i
                break
            out[i] = left[x]
            left[x] -= 1
    return lacking


def send(
    codes: cython.int[::1],
    draws: cython.longlong[::1],
    n_partitions: cython.longlong,
    tree: cython.longlong[::1],
    parts: cython.longlong[::1],
) -> None:
    """Send each tuple to the partition of the ``draw``-th place that is still wanted of its bucket."""
    i: cython.Py_ssize_t
    node: cython.longlong
    base: cython.longlong
    draw: cython.longlong
    wanted: cython.longlong
    right: cython.longlong
    x: cython.longlong
    with cython.nogil:
        for i in range(codes.shape[0]):
            x = codes[i]
            base = 2 * x * n_partitions
            draw = draws[i]
            node = 1
            tree[base + node] -= 1
            while (
                node < n_partitions
            ):  # a step to the right is added, for a branch would be guessed wrong half the time
                wanted = tree[base + 2 * node]
                right = draw >= wanted
                draw -= right * wanted
                node = 2 * node + right
                tree[base + node] -= 1
            parts[i] = node - n_partitions


def places(
    parts: cython.longlong[::1],
    page: cython.longlong,
    filled: cython.longlong[::1],
    out: cython.longlong[::1],
) -> cython.longlong:
    """Give each item the next place of its partition's page; stop when a page is full. How many items got a place."""
    n: cython.Py_ssize_t = parts.shape[0]
    i: cython.Py_ssize_t = 0
    with cython.nogil:
        while i < n:
            p = parts[i]
            out[i] = p * page + filled[p]
            filled[p] += 1
            i += 1
            if filled[p] == page:
                break
    return i


def scatter(
    items: Unsigned[::1],
    width: cython.longlong,
    places: cython.longlong[::1],
    pages: Unsigned[::1],
) -> None:
    """Put each item, ``width`` numbers, in its place."""
    n: cython.Py_ssize_t = places.shape[0]
    with cython.nogil:
        if width == 1:
            for i in range(n):
                pages[places[i]] = items[i]
        else:
            for i in range(n):
                for w in range(width):
                    pages[places[i] * width + w] = items[i * width + w]


def line_up(
    codes: cython.int[::1],
    places: cython.longlong[::1],
    queue: cython.int[::1],
) -> None:
    """List tuples by bucket; ``places`` holds the first place of each bucket, and is moved on."""
    with cython.nogil:
        for i in range(codes.shape[0]):
            x = codes[i]
            queue[places[x]] = i
            places[x] += 1


def match(
    buckets: cython.int[::1],
    offsets: cython.longlong[::1],
    order: cython.int[::1],
    places: cython.longlong[::1],
    queue: cython.int[::1],
    members: cython.int[::1],
    values: cython.int[::1],
    ends: cython.longlong[::1],
) -> None:
    """Let groups, one after another in their ``order``, take the next tuple of each of their buckets.

    Parameters
    ----------
    buckets, offsets
        Group ``g`` wants ``buckets[offsets[g] : offsets[g + 1]]``.
    order
        The groups in the order of their numbers.
    places, queue
        The next tuple of bucket ``x`` is ``queue[places[x]]``.
    members, values
        Get the tuples and the buckets, group after group.
    ends
        Gets where each group ends.
    """
    at: cython.Py_ssize_t = 0
    with cython.nogil:
        for g in range(order.shape[0]):
            for i in range(offsets[order[g]], offsets[order[g] + 1]):
                x = buckets[i]
                values[at] = x
                members[at] = queue[places[x]]
                places[x] += 1
                at += 1
            ends[g] = at


def sort_runs(
    keys: cython.ulonglong[::1],
    rows: cython.longlong[::1],
    width: cython.longlong,
    offsets: cython.longlong[::1],
    small: cython.longlong,
) -> None:
    """Sort every run of at most ``small`` tuples by key, the first of its ``width`` words first; rows go along.

    ``rows`` may be empty: nobody then asks who is who.
    """
    with_rows: cython.bint = rows.shape[0] > 0
    with cython.nogil:
        for r in range(offsets.shape[0] - 1):
            if offsets[r + 1] - offsets[r] > small:
                continue
            for i in range(offsets[r] + 1, offsets[r + 1]):
                j = i
                if width == 1:
                    key = keys[i]
                    if key >= keys[i - 1]:
                        continue
                    row = rows[i] if with_rows else 0
                    while j > offsets[r] and keys[j - 1] > key:
                        keys[j] = keys[j - 1]
                        if with_rows:
                            rows[j] = rows[j - 1]
                        j -= 1
                    keys[j] = key
                    if with_rows:
                        rows[j] = row
                    continue
                while j > offsets[r]:  # wider keys change places with their neighbours
                    w = 0
                    while w < width - 1 and keys[j * width + w] == keys[(j - 1) * width + w]:
                        w += 1
                    if keys[j * width + w] >= keys[(j - 1) * width + w]:
                        break
                    for w in range(width):
                        key = keys[j * width + w]
                        keys[j * width + w] = keys[(j - 1) * width + w]
                        keys[(j - 1) * width + w] = key
                    if with_rows:
                        row = rows[j]
                        rows[j] = rows[j - 1]
                        rows[j - 1] = row
                    j -= 1
