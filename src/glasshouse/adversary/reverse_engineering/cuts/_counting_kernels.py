# SPDX-License-Identifier: Apache-2.0
"""Counting ways to deal values out to cells: bare loops over packed states, called through `cut_worlds`.

A state says how many people of each cell still have no value. It is packed into one word: a field for every cell, with
a guard bit above it that is always set. Dealing out one value subtracts as many people from the fields; a field that
had too few takes its guard bit away. States of a layer (after so many values) lie one after another in a pool, and are
found again through a table of hashes.
"""

import cython

if cython.compiled:
    from cython.cimports.glasshouse.kernels._random_kernels import below
else:
    from glasshouse.kernels._random_kernels import below


@cython.final
@cython.cclass
class Layers:
    """Values that are dealt out one after another, and the states in which they leave the cells.

    Value ``k`` is of type ``steps[k]``, and is dealt out as one of ``dealt[first[t]:first[t + 1]]``, each with its
    weight. The first state is ``keys[0]``; ``ways`` lead to every state, and so many ``onwards`` from it. ``layers[k]``
    is where the states after ``k`` values begin. ``table`` has a power of two of entries, all -1 before and after,
    twice as many as there are keys.
    """

    guards: cython.ulonglong
    steps: cython.int[::1]
    first: cython.longlong[::1]
    dealt: cython.ulonglong[::1]
    weights: cython.double[::1]
    table: cython.int[::1]
    keys: cython.ulonglong[::1]
    ways: cython.double[::1]
    onwards: cython.double[::1]
    layers: cython.longlong[::1]

    def __init__(self, *state):
        (
            self.guards, self.steps, self.first, self.dealt, self.weights, self.table, self.keys, self.ways,
            self.onwards, self.layers,
        ) = state  # fmt: skip


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find(
    key: cython.ulonglong,
    keys: cython.ulonglong[::1],
    table: cython.int[::1],
) -> cython.Py_ssize_t:
    """Find a key's place in the table of hashes, or the free one where it belongs."""
    mask: cython.ulonglong = table.shape[0] - 1
    place: cython.ulonglong = (key & 0x7FFFFFFF) * 1103515245 + (key >> 31) * 30011
    place = (place ^ (place >> 21)) & mask
    while table[place] >= 0 and keys[table[place]] != key:
        place = (place + 1) & mask
    return place


def forwards(given: Layers, most: cython.longlong) -> cython.longlong:
    """Deal values out one after another; returns how many moves that took, or -1 if they or the states are too many."""
    guards: cython.ulonglong = given.guards
    steps = given.steps
    first = given.first
    dealt = given.dealt
    weights = given.weights
    table = given.table
    keys = given.keys
    ways = given.ways
    layers = given.layers
    room: cython.Py_ssize_t = keys.shape[0]
    used: cython.Py_ssize_t = 1
    moves: cython.longlong = 0
    too_many: cython.bint = False
    layers[0] = 0
    layers[1] = 1
    ways[0] = 1.0
    with cython.nogil:
        for k in range(steps.shape[0]):
            for s in range(layers[k], layers[k + 1]):
                moves += first[steps[k] + 1] - first[steps[k]]
                if moves > most:
                    too_many = True
                    break
                for p in range(first[steps[k]], first[steps[k] + 1]):
                    after = keys[s] - dealt[p]
                    if after & guards != guards:
                        continue
                    h = find(after, keys, table)
                    if table[h] < 0:
                        if used == room:
                            too_many = True
                            break
                        table[h] = used
                        keys[used] = after
                        ways[used] = 0.0
                        used += 1
                    ways[table[h]] += ways[s] * weights[p]
                if too_many:
                    break
            layers[k + 2] = used
            for h in range(table.shape[0]):
                table[h] = -1
            if too_many:
                break
    return -1 if too_many else moves


def backwards(given: Layers, flow: cython.double[::1]) -> None:
    """From the weights of the last states (``onwards``) those of all; ``flow[p]``: of all ways that deal a value so.

    Values of one type are alike, so the flow is that of the first of them.
    """
    guards: cython.ulonglong = given.guards
    steps = given.steps
    first = given.first
    dealt = given.dealt
    table = given.table
    keys = given.keys
    onwards = given.onwards
    layers = given.layers
    n: cython.Py_ssize_t = steps.shape[0]
    size: cython.Py_ssize_t = table.shape[0]
    k: cython.Py_ssize_t
    is_first: cython.bint
    with cython.nogil:
        for k in range(n - 1, -1, -1):
            for h in range(size):
                table[h] = -1
            for s in range(layers[k + 1], layers[k + 2]):
                table[find(keys[s], keys, table)] = s
            is_first = k == 0 or steps[k - 1] != steps[k]
            for s in range(layers[k], layers[k + 1]):
                total = 0.0
                for p in range(first[steps[k]], first[steps[k] + 1]):
                    after = keys[s] - dealt[p]
                    if after & guards != guards:
                        continue
                    there = given.weights[p] * onwards[table[find(after, keys, table)]]
                    total += there
                    if is_first:
                        flow[p] += given.ways[s] * there
                onwards[s] = total
        for h in range(size):
            table[h] = -1


@cython.final
@cython.cclass
class Worlds:
    """Worlds that are drawn, and what is added up over those in which every cut fails.

    Group ``g`` has people at ``cells[groups[g]:groups[g + 1]]``, given by their cells, and deals out
    ``values[dealt[g]:dealt[g + 1]]`` to some of them. Value ``v`` is of type ``types[v]`` and may have ``room[v, p]``
    tuples in part ``p``; cell ``c`` lies in part ``parts[c, j]`` of cut ``j``, or -1. ``sums`` and ``squares`` are over
    the possible worlds: of how many tuples of a type, and in the last row of all types, a cell has. ``counts``,
    ``failed`` and ``here`` are scratch: by value and part, by cut, by type and cell.
    """

    cells: cython.int[::1]
    groups: cython.longlong[::1]
    values: cython.int[::1]
    dealt: cython.longlong[::1]
    types: cython.int[::1]
    parts: cython.int[:, ::1]
    room: cython.int[:, ::1]
    counts: cython.int[:, ::1]
    failed: cython.uchar[::1]
    here: cython.int[:, ::1]
    sums: cython.double[:, ::1]
    squares: cython.double[:, ::1]

    def __init__(self, *state):
        (
            self.cells, self.groups, self.values, self.dealt, self.types, self.parts, self.room, self.counts,
            self.failed, self.here, self.sums, self.squares,
        ) = state  # fmt: skip


def draw(
    worlds: Worlds,
    state: cython.ulonglong[::1],
    wanted: cython.longlong,
    most: cython.longlong,
    tally: cython.longlong[::1],
) -> None:
    """Draw worlds until ``wanted`` of them let every cut fail, or ``most`` were drawn; ``tally``: both numbers."""
    cells = worlds.cells
    groups = worlds.groups
    values = worlds.values
    dealt = worlds.dealt
    parts = worlds.parts
    room = worlds.room
    counts = worlds.counts
    failed = worlds.failed
    here = worlds.here
    n_groups: cython.Py_ssize_t = groups.shape[0] - 1
    n_cuts: cython.Py_ssize_t = parts.shape[1]
    n_types: cython.Py_ssize_t = here.shape[0] - 1
    n_failed: cython.Py_ssize_t
    with cython.nogil:
        while tally[0] < wanted and tally[1] < most:
            tally[1] += 1
            for j in range(n_cuts):
                failed[j] = 0
            n_failed = 0
            for g in range(n_groups):
                for i in range(dealt[g], dealt[g + 1]):
                    k = groups[g] + i - dealt[g]
                    j = k + below(state, groups[g + 1] - k)
                    c = cells[j]
                    cells[j] = cells[k]
                    cells[k] = c
                    v = values[i]
                    for j in range(n_cuts):
                        p = parts[c, j]
                        if p >= 0:
                            counts[v, p] += 1
                            if counts[v, p] > room[v, p] and failed[j] == 0:
                                failed[j] = 1
                                n_failed += 1
            if n_failed == n_cuts:
                tally[0] += 1
                for g in range(n_groups):
                    for i in range(dealt[g], dealt[g + 1]):
                        c = cells[groups[g] + i - dealt[g]]
                        here[worlds.types[values[i]], c] += 1
                        here[n_types, c] += 1
                for t in range(n_types + 1):
                    for i in range(here.shape[1]):
                        worlds.sums[t, i] += here[t, i]
                        worlds.squares[t, i] += here[t, i] * here[t, i]
                        here[t, i] = 0
            for g in range(n_groups):  # only what was counted is cleared
                for i in range(dealt[g], dealt[g + 1]):
                    c = cells[groups[g] + i - dealt[g]]
                    for j in range(n_cuts):
                        if parts[c, j] >= 0:
                            counts[values[i], parts[c, j]] = 0
