# SPDX-License-Identifier: Apache-2.0
"""Grouping along an order: bare loops, called through `greedy`, `orderings` and `sorting`.

Growing works on sensitive codes in the order of the grouping, cut into buckets of ``size`` tuples, the last of which
may be shorter. ``coins[j]`` tells whether a complete group that ends with bucket j goes on; no coins, and none does.
``ends`` gets the place where each group ends, and ``status[0]`` whether the last one is complete; the number of groups
is returned. With ``merge`` an incomplete last group joins its predecessor, again and again until it is complete.
"""

import cython


def grow_diverse(
    codes: cython.int[::1],
    counted: cython.uchar[::1],
    ell: cython.longlong,
    size: cython.longlong,
    coins: cython.uchar[::1],
    merge: cython.longlong,
    counts: cython.longlong[::1],
    ends: cython.longlong[::1],
    status: cython.longlong[::1],
) -> cython.longlong:
    """A group is complete if no counted value has more than one tuple in ``ell``; ``counts`` is zeros, one a value."""
    n: cython.longlong = codes.shape[0]
    random: cython.longlong = coins.shape[0]
    at: cython.longlong = 0
    start: cython.longlong = 0
    top: cython.longlong = 0
    n_groups: cython.longlong = 0
    complete: cython.longlong = 1
    with cython.nogil:
        while at < n:
            start = at
            top = 0
            while True:
                stop = at + size if n - at > size else n
                for i in range(at, stop):
                    counts[codes[i]] += counted[codes[i]]
                    if counts[codes[i]] > top:
                        top = counts[codes[i]]
                at = stop
                complete = top * ell <= at - start
                if at == n or (complete and not (random and coins[at // size - 1])):
                    break
            ends[n_groups] = at
            n_groups += 1
            if complete or not merge:
                for i in range(start, at):
                    counts[codes[i]] = 0
        while merge and not complete and n_groups > 1:
            n_groups -= 1
            stop = start
            start = ends[n_groups - 2] if n_groups > 1 else 0
            for i in range(start, stop):
                counts[codes[i]] += counted[codes[i]]
                if counts[codes[i]] > top:
                    top = counts[codes[i]]
            ends[n_groups - 1] = n
            complete = top * ell <= n - start
    status[0] = complete
    return n_groups


def grow_close(
    codes: cython.int[::1],
    parents: cython.int[::1],
    lengths: cython.longlong[::1],
    masses: cython.longlong[::1],
    most: cython.longlong,
    numerator: cython.longlong,
    denominator: cython.longlong,
    leap: cython.longlong,
    coins: cython.uchar[::1],
    merge: cython.longlong,
    found: cython.longlong[::1],
    ends: cython.longlong[::1],
    status: cython.longlong[::1],
) -> cython.longlong:
    """A group is complete if moving it to the whole table's distribution is work enough for t = numerator/denominator.

    Buckets are single tuples. The tree is that of `EarthMover`; with no ``parents`` it is a line, whose ``masses`` are
    cumulated. ``most`` is the work of one tuple moved by distance 1. A tuple more or less changes a group's work by at
    most that, so a group whose work is too large by some amount needs at least so many more tuples: with ``leap`` they
    are taken before it is judged again. ``found`` is zeros, a place per node.
    """
    n: cython.longlong = len(codes)
    random: cython.longlong = len(coins)
    n_nodes: cython.longlong = len(masses)
    line: cython.longlong = len(parents) == 0
    root: cython.longlong = n_nodes - 1
    whole: cython.longlong = masses[root]
    step: cython.longlong = most * (numerator + denominator)  # how much nearer one tuple can bring a group
    at: cython.longlong = 0
    start: cython.longlong = 0
    excess: cython.longlong = 0
    n_groups: cython.longlong = 0
    growing: cython.longlong = 0
    merging: cython.longlong = 0
    with cython.nogil:
        while at < n or merging:
            if merging:  # take in the group before
                n_groups -= 1
                stop = start
                start = ends[n_groups - 1] if n_groups > 0 else 0
                i = start
            else:
                if not growing:
                    start = at
                    for node in range(n_nodes):
                        found[node] = 0
                stop = at + 1
                if growing and leap and excess > step:
                    stop = at + (excess + step - 1) // step
                    stop = n if stop > n else stop
                i = at
                at = stop
            while i < stop:
                node = codes[i]
                if line:
                    found[node] += 1
                else:
                    while node != root:
                        found[node] += 1
                        node = parents[node]
                i += 1
            size = at - start
            excess = 0
            below = 0
            for node in range(n_nodes if line else root):
                if line:
                    below += found[node]
                    gap = below * whole - masses[node] * size
                else:
                    gap = found[node] * whole - masses[node] * size
                if gap < 0:
                    gap = -gap
                excess += gap if line else gap * lengths[node]
            excess = excess * denominator - most * size * numerator
            if merging:
                merging = 1 if excess > 0 and n_groups > 0 else 0
                if not merging:
                    ends[n_groups] = n
                    n_groups += 1
                continue
            growing = 1
            if at == n or (excess <= 0 and not (random and coins[at - 1])):
                ends[n_groups] = at
                n_groups += 1
                growing = 0
                if at == n and merge and excess > 0 and n_groups > 1:
                    merging = 1
                    n_groups -= 1
    status[0] = 1 if excess <= 0 else 0
    return n_groups


def join_codes(
    codes: cython.int[::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    factor: cython.ulonglong,
    keys: cython.uint[::1],
) -> None:
    """Append a column to the keys of the tuples ``start .. stop - 1``: its codes are below ``factor``."""
    with cython.nogil:
        for i in range(start, stop):
            keys[i] = keys[i] * factor + codes[i]


def load_keys(
    keys: cython.uint[::1],
    order: cython.int[::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    packed: cython.ulonglong[::1],
) -> None:
    """Put key and number of each tuple into one word, in the given order; an empty order is that of the numbers."""
    given: cython.Py_ssize_t = order.shape[0]
    row: cython.ulonglong
    key: cython.ulonglong
    with cython.nogil:
        for i in range(start, stop):
            row = order[i] if given else i
            key = keys[row]
            packed[i] = (key << 32) | row


def count_digits(
    packed: cython.ulonglong[::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    shift: cython.longlong,
    mask: cython.longlong,
    counts: cython.longlong[::1],
) -> None:
    """Count the digits of some words; ``counts`` is zeros, one a digit."""
    digit: cython.Py_ssize_t
    with cython.nogil:
        for i in range(start, stop):
            digit = (packed[i] >> shift) & mask
            counts[digit] += 1


def place_digits(
    packed: cython.ulonglong[::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    shift: cython.longlong,
    mask: cython.longlong,
    places: cython.longlong[::1],
    target: cython.ulonglong[::1],
) -> None:
    """Move some words to the places of their digits, one after another; ``places``: where the first of each goes."""
    digit: cython.Py_ssize_t
    with cython.nogil:
        for i in range(start, stop):
            digit = (packed[i] >> shift) & mask
            target[places[digit]] = packed[i]
            places[digit] += 1


def unload_keys(
    packed: cython.ulonglong[::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    order: cython.int[::1],
    fresh: cython.uchar[::1],
) -> None:
    """Take the numbers of tuples out of their words; ``fresh``: whether a key differs from the one before."""
    low: cython.ulonglong = 0xFFFFFFFF
    with cython.nogil:
        for i in range(start, stop):
            order[i] = packed[i] & low
            fresh[i] = i == 0 or packed[i] >> 32 != packed[i - 1] >> 32


def mark_fresh(
    keys: cython.uint[::1],
    order: cython.int[::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    fresh: cython.uchar[::1],
) -> None:
    """Mark also where these keys differ from the ones before."""
    with cython.nogil:
        for i in range(start if start > 0 else 1, stop):
            if keys[order[i]] != keys[order[i - 1]]:
                fresh[i] = 1


def gather(
    codes: cython.int[::1],
    order: cython.int[::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    found: cython.int[::1],
) -> None:
    """Copy the codes of some tuples of an order."""
    with cython.nogil:
        for i in range(start, stop):
            found[i] = codes[order[i]]


def scatter(
    values: cython.int[::1],
    order: cython.int[::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    target: cython.int[::1],
) -> None:
    """Give some tuples of an order their values."""
    with cython.nogil:
        for i in range(start, stop):
            target[order[i]] = values[i]


def label_runs(
    order: cython.int[::1],
    offsets: cython.longlong[::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    n_published: cython.longlong,
    labels: cython.int[::1],
) -> None:
    """Label the tuples of the runs ``first .. last - 1`` of an order with their run's number, or -1 if too large."""
    label: cython.int
    with cython.nogil:
        for run in range(first, last):
            label = run if run < n_published else -1
            for i in range(offsets[run], offsets[run + 1]):
                labels[order[i]] = label


def hilbert_keys(
    cells: cython.int[:, ::1],
    start: cython.Py_ssize_t,
    bits: cython.longlong,
    width: cython.longlong,
    x: cython.longlong[::1],
    keys: cython.uint[:, ::1],
) -> None:
    """Write the places of cells on the Hilbert curve through a grid of ``2**bits`` cells a side.

    Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707, 2004: from the coarsest bit to the
    finest, the part of the cube that holds the cell is turned so that the way through it starts at the origin; what is
    left is a Gray code. A place is written in keys of ``width`` bits, the first of which may have fewer; those of the
    first cell stand at ``start``.
    """
    d: cython.Py_ssize_t = cells.shape[0]
    digit: cython.Py_ssize_t
    key: cython.ulonglong
    with cython.nogil:
        for row in range(cells.shape[1]):
            for dim in range(d):
                x[dim] = cells[dim, row]
            for level in range(bits - 1, 0, -1):
                below = (1 << level) - 1
                for dim in range(d):
                    # where the bit is set reflect the first axis, else exchange it with this one: without a branch
                    reflected = -((x[dim] >> level) & 1)
                    exchanged = (x[0] ^ x[dim]) & below & ~reflected
                    x[0] ^= exchanged | (below & reflected)
                    x[dim] ^= exchanged
            for dim in range(1, d):
                x[dim] ^= x[dim - 1]
            turned = 0
            for level in range(bits - 1, 0, -1):
                turned ^= ((1 << level) - 1) & -((x[d - 1] >> level) & 1)
            digit = 0
            key = 0
            missing = (d * bits - 1) % width + 1  # bits of this key that are still to come
            for level in range(bits - 1, -1, -1):
                for dim in range(d):
                    key = 2 * key + (((x[dim] ^ turned) >> level) & 1)
                    missing -= 1
                    if missing == 0:
                        keys[digit, start + row] = key
                        digit += 1
                        key = 0
                        missing = width
