# SPDX-License-Identifier: Apache-2.0
"""Sift: bare loops, called through `glasshouse.grouping.sift.sift`.

The tuples of a node with one sensitive value are a bucket. Node ``g`` has the buckets ``first[g] .. first[g + 1] - 1``,
in the order of values, with ``sizes`` tuples each.
"""

import cython


def plan_nodes(
    first: cython.longlong[::1],
    sizes: cython.longlong[::1],
    ell: cython.longlong,
    aside: cython.longlong[::1],
    rest: cython.longlong[::1],
) -> None:
    """Decide from histograms alone what becomes of every node.

    ``rest`` gets how many tuples of a node are halved, 0 if the node is a leaf; ``aside`` how many tuples of each
    bucket are set aside before.
    """
    n: cython.longlong
    most: cython.longlong
    kept: cython.longlong
    with cython.nogil:
        for g in range(first.shape[0] - 1):
            a = first[g]
            b = first[g + 1]
            n = 0
            most = 0
            for i in range(a, b):
                aside[i] = 0
                n += sizes[i]
                most = sizes[i] if sizes[i] > most else most
            rest[g] = 0
            if n < 2 * ell or b - a < 2 * ell:
                continue
            if most <= n // 2 // ell:  # every half of the node is diverse
                rest[g] = n
                continue
            kept = largest_share(sizes, a, b, n, most, ell)
            if kept > 0:
                rest[g] = 2 * ell * kept
                set_aside(sizes, a, b, kept, n // ell - 2 * kept, n - 2 * ell * kept, aside)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def capped(
    sizes: cython.longlong[::1], a: cython.longlong, b: cython.longlong, most: cython.longlong
) -> cython.longlong:
    """How many tuples some buckets have if none gives more than ``most``."""
    total: cython.longlong = 0
    for i in range(a, b):
        total += sizes[i] if sizes[i] < most else most
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def largest_share(
    sizes: cython.longlong[::1],
    a: cython.longlong,
    b: cython.longlong,
    n: cython.longlong,
    most: cython.longlong,
    ell: cython.longlong,
) -> cython.longlong:
    """The largest count K of a value with which 2 l K tuples can be halved and the others are l-diverse; 0 if none.

    Those who are halved have no value more than K times, which needs ``capped(K) >= 2 l K``: true up to some K. The
    others may have a value n // l - 2 K times, which must be at least what the most frequent value has beyond K; that
    there are enough of them follows (docs/methods/sift.md).
    """
    low: cython.longlong = 0
    high: cython.longlong = n // (2 * ell)
    middle: cython.longlong
    if n // ell - most < high:
        high = n // ell - most
    while low < high:
        middle = (low + high + 1) // 2
        if capped(sizes, a, b, middle) >= 2 * ell * middle:
            low = middle
        else:
            high = middle - 1
    return low


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def set_aside(
    sizes: cython.longlong[::1],
    a: cython.longlong,
    b: cython.longlong,
    kept: cython.longlong,
    most: cython.longlong,
    total: cython.longlong,
    aside: cython.longlong[::1],
) -> cython.void:
    """Say how many of each bucket are set aside, ``total`` in all: what is above ``kept``, and some of the others.

    No bucket gives more than ``most``; what room that leaves is used in proportion, rounded along the buckets.
    """
    need: cython.longlong = total
    room: cython.longlong = 0
    before: cython.longlong = 0
    given: cython.longlong = 0
    for i in range(a, b):
        aside[i] = sizes[i] - kept if sizes[i] > kept else 0
        need -= aside[i]
        room += (sizes[i] if sizes[i] < most else most) - aside[i]
    for i in range(a, b):
        before += (sizes[i] if sizes[i] < most else most) - aside[i]
        share = share_of(before, need, room)
        aside[i] += share - given
        given = share


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def share_of(part: cython.longlong, need: cython.longlong, room: cython.longlong) -> cython.longlong:
    """Part times need over room, rounded down; each is below 2^31, so that the product fits."""
    return part * need // room if room > 0 else 0


def floyd_bounds(sizes: cython.longlong[::1], aside: cython.longlong[::1], bounds: cython.longlong[::1]) -> None:
    """What the draws of `mark` must be below, bucket after bucket."""
    used: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(sizes.shape[0]):
            for j in range(sizes[i] - aside[i], sizes[i]):
                bounds[used] = j + 1
                used += 1


def mark(
    sizes: cython.longlong[::1],
    starts: cython.longlong[::1],
    aside: cython.longlong[::1],
    draws: cython.longlong[::1],
    marks: cython.uchar[::1],
) -> None:
    """Mark ``aside`` places of every bucket, a uniformly random subset (Floyd's way, one draw for each).

    Bucket ``i`` has its places from ``starts[i]`` on; ``marks`` is zeros.
    """
    used: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(sizes.shape[0]):
            for j in range(sizes[i] - aside[i], sizes[i]):
                at = starts[i] + draws[used]
                marks[at if marks[at] == 0 else starts[i] + j] = 1
                used += 1


def part_nodes(
    rows: cython.ulonglong[::1],
    spare: cython.ulonglong[::1],
    stride: cython.longlong,
    node_starts: cython.longlong[::1],
    node_stops: cython.longlong[::1],
    first: cython.longlong[::1],
    values: cython.int[::1],
    starts: cython.longlong[::1],
    rest: cython.longlong[::1],
    places: cython.longlong[::1],
    marks: cython.uchar[::1],
) -> None:
    """Move the tuples that are set aside behind those that are halved, in every node; orders are kept.

    The t-th tuple of a bucket is set aside if the t-th of its places is marked. ``places`` is scratch, one per value;
    ``spare`` is as long as ``rows``.
    """
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    with cython.nogil:
        for g in range(node_starts.shape[0]):
            if rest[g] == 0 or rest[g] == node_stops[g] - node_starts[g]:
                continue
            for i in range(first[g], first[g + 1]):
                places[values[i]] = starts[i]
            a = node_starts[g] * stride
            b = a
            for i in range(node_starts[g], node_stops[g]):
                v = rows[(i + 1) * stride - 1] >> 32
                if marks[places[v]]:
                    for q in range(stride):
                        spare[b + q] = rows[i * stride + q]
                    b += stride
                else:
                    for q in range(stride):
                        rows[a + q] = rows[i * stride + q]
                    a += stride
                places[v] += 1
            for i in range(b - node_starts[g] * stride):
                rows[a + i] = spare[node_starts[g] * stride + i]
