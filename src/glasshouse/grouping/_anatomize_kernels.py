# SPDX-License-Identifier: Apache-2.0
"""Anatomize: bare loops, called through `anatomize_segments`.

A segment is a run of consecutive tuples that is divided by itself; its tuples with one sensitive value are a bucket.
Buckets are numbered segment after segment, in the order of values. Each tuple of a bucket will stand in one *slot* of
the bucket, and a slot holds the number of a group: which slots there are is a function of the buckets' sizes alone, and
which tuple gets which slot is random.
"""

import cython


def deal(
    first: cython.longlong[::1],
    sizes: cython.longlong[::1],
    starts: cython.longlong[::1],
    ell: cython.longlong,
    order: cython.int[::1],
    left: cython.longlong[::1],
    fill: cython.longlong[::1],
    current: cython.int[::1],
    taken: cython.int[::1],
    above: cython.int[::1],
    of_size: cython.longlong[::1],
    slots: cython.int[::1],
    residues: cython.longlong[::1],
    bases: cython.longlong[::1],
    choices: cython.longlong[::1],
    totals: cython.longlong[::1],
) -> None:
    """Form groups: fill the slots, and list the residues.

    The l largest buckets are found without a search. ``level`` is the size of the smallest that is taken. Buckets above
    it (fewer than l) are all taken; the others come from ``current``, the buckets of that very size in the order of
    values. What is taken from there waits in ``taken`` until the level sinks by one and both lists, with the buckets
    that were smaller all along, are one again. Both lists are consumed in order, so a step costs O(l) and a level O(1)
    per bucket that it concerns.

    Parameters
    ----------
    first
        Segment ``g`` has the buckets ``first[g] .. first[g + 1] - 1``.
    sizes, starts
        Tuples of each bucket, and its first slot.
    ell
        Tuples of a group.
    order, left, fill, current, taken
        Scratch, a place per bucket of the largest segment.
    above
        Scratch, one place more than that.
    of_size
        Scratch of zeros, a place per size from 0 to the largest of a bucket, and one more; stays zeros.
    slots
        Gets the group of each slot; a residue's slot, the last of its bucket, is left as it is.
    residues, bases, choices
        Get, for each residue, its bucket, the first group of its segment, and how many groups of it lack the value.
    totals
        Gets how many groups and how many residues there are.
    """
    n_segments: cython.Py_ssize_t = first.shape[0] - 1
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    a: cython.Py_ssize_t
    w: cython.Py_ssize_t
    q: cython.Py_ssize_t
    head: cython.Py_ssize_t
    tail: cython.Py_ssize_t
    n_taken: cython.Py_ssize_t
    n_above: cython.Py_ssize_t
    kept: cython.Py_ssize_t
    want: cython.Py_ssize_t
    x: cython.int
    m: cython.longlong
    top: cython.longlong
    level: cython.longlong
    place: cython.longlong
    count: cython.longlong
    rounds: cython.longlong
    base: cython.longlong
    label: cython.longlong = 0
    found: cython.longlong = 0
    with cython.nogil:
        for g in range(n_segments):
            a = first[g]
            w = first[g + 1] - a
            if w == 0:
                continue
            base = label
            m = 0
            top = 0
            for i in range(w):
                left[i] = sizes[a + i]
                fill[i] = starts[a + i]
                m += left[i]
                top = left[i] if left[i] > top else top
            if top * ell > m:  # not eligible: it stays whole
                for place in range(starts[a], starts[a] + m):
                    slots[place] = label
                label += 1
                continue

            # buckets from the largest to the smallest, equal ones in the order of values
            for i in range(w):
                of_size[left[i]] += 1
            place = 0
            for i in range(top, 0, -1):
                count = of_size[i]
                of_size[i] = place
                place += count
            for i in range(w):
                order[of_size[left[i]]] = i
                of_size[left[i]] += 1
            for i in range(1, top + 1):
                of_size[i] = 0

            level = left[order[ell - 1]]
            q = 0
            n_above = 0
            while left[order[q]] > level:
                above[n_above] = order[q]
                n_above += 1
                q += 1
            head = 0
            tail = 0
            while q < w and left[order[q]] == level:
                current[tail] = order[q]
                tail += 1
                q += 1
            n_taken = 0
            rounds = m // ell
            for label in range(base, base + rounds):
                while tail - head < ell - n_above:  # too few of this size: all of them, and some of the next size
                    for i in range(head, tail):
                        above[n_above] = current[i]
                        n_above += 1
                    level -= 1
                    head = 0
                    tail = 0
                    i = 0
                    while True:  # merge by value: those that sank to this size, and those that had it all along
                        if i < n_taken and (q == w or left[order[q]] != level or taken[i] < order[q]):
                            current[tail] = taken[i]
                            i += 1
                        elif q < w and left[order[q]] == level:
                            current[tail] = order[q]
                            q += 1
                        else:
                            break
                        tail += 1
                    n_taken = 0
                want = ell - n_above
                for i in range(head, head + want):
                    x = current[i]
                    slots[fill[x]] = label
                    fill[x] += 1
                    left[x] -= 1
                    j = n_taken
                    while j > 0 and taken[j - 1] > x:
                        taken[j] = taken[j - 1]
                        j -= 1
                    taken[j] = x
                    n_taken += 1
                head += want
                kept = 0
                for i in range(n_above):
                    x = above[i]
                    slots[fill[x]] = label
                    fill[x] += 1
                    left[x] -= 1
                    if left[x] > level:
                        above[kept] = x
                        kept += 1
                    else:
                        j = tail
                        while j > head and current[j - 1] > x:
                            current[j] = current[j - 1]
                            j -= 1
                        current[j] = x
                        tail += 1
                n_above = kept
            label = base + rounds

            for i in range(w):
                if left[i] > 0:  # one tuple (ANATOMY Property 1)
                    residues[found] = a + i
                    bases[found] = base
                    choices[found] = rounds - (sizes[a + i] - 1)
                    found += 1
        totals[0] = label
        totals[1] = found


def settle(
    residues: cython.longlong[::1],
    bases: cython.longlong[::1],
    draws: cython.longlong[::1],
    sizes: cython.longlong[::1],
    starts: cython.longlong[::1],
    slots: cython.int[::1],
) -> None:
    """Give each residue the group that comes at place ``draw`` among those of its segment that lack its value.

    Those that have it are the other slots of its bucket, still in ascending order.
    """
    n: cython.Py_ssize_t = residues.shape[0]
    i: cython.Py_ssize_t
    k: cython.longlong
    last: cython.longlong
    group: cython.longlong
    with cython.nogil:
        for i in range(n):
            group = bases[i] + draws[i]
            last = starts[residues[i]] + sizes[residues[i]] - 1
            for k in range(starts[residues[i]], last):
                if slots[k] > group:
                    break
                group += 1
            slots[last] = group


def hand_out(
    codes: cython.int[::1],
    offsets: cython.longlong[::1],
    first: cython.longlong[::1],
    values: cython.int[::1],
    starts: cython.longlong[::1],
    places: cython.longlong[::1],
    slots: cython.int[::1],
    labels: cython.int[::1],
) -> None:
    """Let the tuples of every bucket take its slots one after another; ``places`` is scratch, one per value."""
    n_segments: cython.Py_ssize_t = first.shape[0] - 1
    g: cython.Py_ssize_t
    b: cython.Py_ssize_t
    i: cython.Py_ssize_t
    c: cython.int
    with cython.nogil:
        for g in range(n_segments):
            for b in range(first[g], first[g + 1]):
                places[values[b]] = starts[b]
            for i in range(offsets[g], offsets[g + 1]):
                c = codes[i]
                labels[i] = slots[places[c]]
                places[c] += 1
