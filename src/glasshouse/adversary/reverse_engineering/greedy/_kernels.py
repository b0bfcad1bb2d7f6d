# SPDX-License-Identifier: Apache-2.0
"""Arrangements of a group's values, counted prefix by prefix: bare loops, called through `prefixes` and `sequences`.

A *state* says how many tuples of each value a prefix holds, as far as it matters. Drawing another tuple of such a value
moves to a state with a larger number: state ``s`` has the moves ``first[s] .. first[s + 1] - 1``, each to its
``target``, with its ``weight``: how many tuples can be drawn so. All other values are one lump; ``drawn[s]`` is the
number of tuples that state ``s`` holds beside it. Every sum is of numbers that are positive.
"""

import cython


@cython.final
@cython.cclass
class Moves:
    """States and their moves, as said above; ``owner`` is the class from which a move draws its tuple."""

    drawn: cython.int[::1]
    first: cython.longlong[::1]
    target: cython.int[::1]
    weight: cython.double[::1]
    owner: cython.int[::1]

    def __init__(self, *state):
        self.drawn, self.first, self.target, self.weight, self.owner = state


def draw_forward(
    chances: cython.double[::1],
    moves: Moves,
    lump: cython.longlong,
    n: cython.longlong,
    start: cython.longlong,
    stop: cython.longlong,
) -> None:
    """Take the tuples ``start .. stop - 1`` of ``n``: from the chances of the states before to those after."""
    drawn = moves.drawn
    first = moves.first
    target = moves.target
    weight = moves.weight
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
    moves: Moves,
    lump: cython.longlong,
    n: cython.longlong,
    start: cython.longlong,
    stop: cython.longlong,
) -> None:
    """Take the same tuples back: from the hopes of the states after (what may still go well) to those before."""
    drawn = moves.drawn
    first = moves.first
    target = moves.target
    weight = moves.weight
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
    moves: Moves,
    lump: cython.longlong,
    at: cython.longlong,
    shares: cython.double[::1],
) -> None:
    """Add up from which class (``owner`` of the move) the tuple after ``at`` others comes; the lump is the last."""
    last: cython.Py_ssize_t = shares.shape[0] - 1
    for s in range(chances.shape[0]):
        if chances[s] > 0:
            left = lump - (at - moves.drawn[s])
            if left > 0:
                shares[last] += chances[s] * left * hopes[s]
            for i in range(moves.first[s], moves.first[s + 1]):
                shares[moves.owner[i]] += chances[s] * moves.weight[i] * hopes[moves.target[i]]


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


@cython.final
@cython.cclass
class Runs:
    """What is known of the runs of an order.

    Run ``r`` lies between ``starts[r]`` and ``starts[r + 1]`` and is the published group ``group[r]``, whose histogram
    is at ``offsets``. Where ``table[r]`` is not negative, ``found`` has there the beliefs of every bucket of ``size``
    tuples, a row of ``width[r]`` for each, or with ``by_slot`` the expected counts of every slot; entry ``i`` of the
    histogram has its number in ``column[i]``. ``doubt`` is laid out like ``found``. A slot is what a kind has in one
    bucket.
    """

    size: cython.longlong
    starts: cython.longlong[::1]
    group: cython.int[::1]
    offsets: cython.longlong[::1]
    codes: cython.int[::1]
    counts: cython.longlong[::1]
    table: cython.longlong[::1]
    width: cython.longlong[::1]
    by_slot: cython.uchar[::1]
    column: cython.int[::1]
    found: cython.double[::1]
    doubt: cython.double[::1]

    def __init__(self, *state):
        (
            self.size, self.starts, self.group, self.offsets, self.codes, self.counts, self.table, self.width,
            self.by_slot, self.column, self.found, self.doubt,
        ) = state  # fmt: skip


def believe(
    runs: Runs,
    fresh: cython.uchar[::1],
    people: cython.longlong[::1],
    sums: cython.double[:, ::1],
    seen: cython.int[::1],
    kind_offsets: cython.longlong[::1],
    kind_codes: cython.int[::1],
    beliefs: cython.double[:, ::1],
) -> cython.longlong:
    """Add up beliefs (and their errors) by kind along the order, and return how many entries that makes.

    They are only counted where ``kind_codes`` has no room for any. A kind begins where ``fresh`` marks it and has
    ``people[k]`` people. ``sums`` has the belief and the doubt of every value that was ``seen``; the first is -1 for
    every value, before and after.
    """
    n: cython.longlong = fresh.shape[0]
    n_seen: cython.Py_ssize_t = 0
    n_found: cython.longlong = 0
    kind: cython.Py_ssize_t = -1
    g: cython.Py_ssize_t
    slot: cython.longlong
    fill: cython.bint = kind_codes.shape[0] > 0
    starts = runs.starts
    table = runs.table
    for r in range(runs.group.shape[0]):
        g = runs.group[r]
        at = starts[r]
        slot = 0
        while at < starts[r + 1]:
            if fresh[at]:
                kind += 1
            # a slot ends with its bucket or kind; where all tuples of the run are believed alike, only with its kind
            edge = starts[r + 1]
            row = 0
            if table[r] >= 0:
                row = (at - starts[r]) // runs.size
                if starts[r] + (row + 1) * runs.size < edge:
                    edge = starts[r] + (row + 1) * runs.size
                if runs.by_slot[r]:
                    row = slot
            stop = at + 1
            while stop < edge and not fresh[stop]:
                stop += 1
            slot += 1
            length = stop - at
            for i in range(runs.offsets[g], runs.offsets[g + 1]):
                code = runs.codes[i]
                if sums[0, code] < 0:
                    sums[0, code] = 0.0
                    sums[1, code] = 0.0
                    seen[n_seen] = code
                    n_seen += 1
                if table[r] < 0:
                    sums[0, code] += length * runs.counts[i] / (starts[r + 1] - starts[r])
                else:
                    if runs.by_slot[r]:
                        length = 1.0
                    entry = table[r] + row * runs.width[r] + runs.column[i]
                    sums[0, code] += length * runs.found[entry]
                    sums[1, code] += length * runs.doubt[entry]
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
                    if sums[0, code] > 0 and people[kind] > 0:
                        if fill:
                            kind_codes[n_found] = code
                            beliefs[0, n_found] = sums[0, code] / people[kind]
                            beliefs[1, n_found] = sums[1, code] / people[kind]
                        n_found += 1
                    sums[0, code] = -1.0
                n_seen = 0
    return n_found
