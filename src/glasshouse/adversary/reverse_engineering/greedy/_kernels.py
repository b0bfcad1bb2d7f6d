# SPDX-License-Identifier: Apache-2.0
"""Arrangements of a group's values, counted prefix by prefix: bare loops, called through `prefixes` and `sequences`.

A *state* says how many tuples of each value a prefix holds, as far as it matters. Drawing another tuple of such a value
moves to a state with a larger number: state ``s`` has the moves ``first[s] .. first[s + 1] - 1``, each to its
``target``, with its ``weight``: how many tuples can be drawn so. All other values are one lump; ``drawn[s]`` is the
number of tuples that state ``s`` holds beside it. Every sum is of numbers that are positive.
"""

import cython


def draw_forward(
    chances: cython.double[::1],
    drawn: cython.int[::1],
    lump: cython.longlong,
    n: cython.longlong,
    start: cython.longlong,
    stop: cython.longlong,
    first: cython.longlong[::1],
    target: cython.int[::1],
    weight: cython.double[::1],
) -> None:
    """Take the tuples ``start .. stop - 1`` of ``n``: from the chances of the states before to those after."""
    n_states: cython.Py_ssize_t = chances.shape[0]
    for at in range(start, stop):
        for s in range(n_states - 1, -1, -1):  # larger states have already given away what they had
            if chances[s] > 0:
                share = chances[s] / (n - at)
                left = lump - (at - drawn[s])
                chances[s] = share * left if left > 0 else 0.0
                for i in range(first[s], first[s + 1]):
                    chances[target[i]] += share * weight[i]


def draw_backward(
    hopes: cython.double[::1],
    drawn: cython.int[::1],
    lump: cython.longlong,
    n: cython.longlong,
    start: cython.longlong,
    stop: cython.longlong,
    first: cython.longlong[::1],
    target: cython.int[::1],
    weight: cython.double[::1],
) -> None:
    """Take the same tuples back: from the hopes of the states after (what may still go well) to those before."""
    for at in range(stop - 1, start - 1, -1):
        for s in range(hopes.shape[0]):  # larger states still have the hopes from after
            left = lump - (at - drawn[s])
            hope = 0.0
            if drawn[s] <= at and left >= 0:
                hope = hopes[s] * left
                for i in range(first[s], first[s + 1]):
                    hope += weight[i] * hopes[target[i]]
            hopes[s] = hope / (n - at)


def next_tuple(
    chances: cython.double[::1],
    hopes: cython.double[::1],
    drawn: cython.int[::1],
    lump: cython.longlong,
    at: cython.longlong,
    first: cython.longlong[::1],
    target: cython.int[::1],
    weight: cython.double[::1],
    owner: cython.int[::1],
    shares: cython.double[::1],
) -> None:
    """Add up from which class (``owner`` of the move) the tuple after ``at`` others comes; the lump is the last."""
    last: cython.Py_ssize_t = shares.shape[0] - 1
    for s in range(chances.shape[0]):
        if chances[s] > 0:
            left = lump - (at - drawn[s])
            if left > 0:
                shares[last] += chances[s] * left * hopes[s]
            for i in range(first[s], first[s + 1]):
                shares[owner[i]] += chances[s] * weight[i] * hopes[target[i]]


def take_tuples(
    left: cython.int[:, ::1],
    picks: cython.longlong[:, ::1],
    got: cython.int[:, ::1],
) -> None:
    """Draw tuples without putting them back: ``picks[r, i]`` is below what trial ``r`` has left after ``i`` draws."""
    value: cython.Py_ssize_t
    pick: cython.longlong
    for r in range(picks.shape[0]):
        for i in range(picks.shape[1]):
            pick = picks[r, i]
            value = 0
            while pick >= left[r, value]:
                pick -= left[r, value]
                value += 1
            left[r, value] -= 1
            got[r, value] += 1


def believe(
    starts: cython.longlong[::1],
    group: cython.int[::1],
    size: cython.longlong,
    offsets: cython.longlong[::1],
    codes: cython.int[::1],
    counts: cython.longlong[::1],
    table: cython.longlong[::1],
    width: cython.longlong[::1],
    by_slot: cython.uchar[::1],
    column: cython.int[::1],
    found: cython.double[::1],
    doubt: cython.double[::1],
    fresh: cython.uchar[::1],
    people: cython.longlong[::1],
    fill: cython.longlong,
    totals: cython.double[::1],
    doubts: cython.double[::1],
    seen: cython.int[::1],
    kind_offsets: cython.longlong[::1],
    kind_codes: cython.int[::1],
    beliefs: cython.double[::1],
    errors: cython.double[::1],
) -> cython.longlong:
    """Add up beliefs by kind along the order; without ``fill`` the entries are only counted.

    Run ``r`` lies between ``starts[r]`` and ``starts[r + 1]`` and is the published group ``group[r]``, whose histogram
    is at ``offsets``. Where ``table[r]`` is not negative, ``found`` has there the beliefs of every bucket, a row of
    ``width[r]`` for each, or with ``by_slot`` the expected counts of every slot; entry ``i`` of the histogram has its
    number in ``column[i]``. ``doubt`` is laid out like ``found``. A slot is what a kind, marked by ``fresh`` where it
    begins, has in one bucket. ``people[k]``: how many a kind has. ``totals`` is -1 for every value, before and after.
    """
    n: cython.longlong = fresh.shape[0]
    n_seen: cython.Py_ssize_t = 0
    n_found: cython.longlong = 0
    kind: cython.Py_ssize_t = -1
    g: cython.Py_ssize_t
    slot: cython.longlong
    for r in range(group.shape[0]):
        g = group[r]
        at = starts[r]
        slot = 0
        while at < starts[r + 1]:
            if fresh[at]:
                kind += 1
            # a slot ends with its bucket or kind; where all tuples of the run are believed alike, only with its kind
            edge = starts[r + 1]
            row = 0
            if table[r] >= 0:
                row = (at - starts[r]) // size
                if starts[r] + (row + 1) * size < edge:
                    edge = starts[r] + (row + 1) * size
                if by_slot[r]:
                    row = slot
            stop = at + 1
            while stop < edge and not fresh[stop]:
                stop += 1
            slot += 1
            length = stop - at
            for i in range(offsets[g], offsets[g + 1]):
                code = codes[i]
                if totals[code] < 0:
                    totals[code] = 0.0
                    doubts[code] = 0.0
                    seen[n_seen] = code
                    n_seen += 1
                if table[r] < 0:
                    totals[code] += length * counts[i] / (starts[r + 1] - starts[r])
                else:
                    if by_slot[r]:
                        length = 1.0
                    totals[code] += length * found[table[r] + row * width[r] + column[i]]
                    doubts[code] += length * doubt[table[r] + row * width[r] + column[i]]
            at = stop
            if at == n or fresh[at]:  # hand out this kind, codes ascending
                if fill:
                    for i in range(1, n_seen):
                        code = seen[i]
                        j = i - 1
                        while j >= 0 and seen[j] > code:
                            seen[j + 1] = seen[j]
                            j -= 1
                        seen[j + 1] = code
                    kind_offsets[kind] = n_found
                for i in range(n_seen):
                    code = seen[i]
                    if totals[code] > 0 and people[kind] > 0:
                        if fill:
                            kind_codes[n_found] = code
                            beliefs[n_found] = totals[code] / people[kind]
                            errors[n_found] = doubts[code] / people[kind]
                        n_found += 1
                    totals[code] = -1.0
                n_seen = 0
    return n_found
