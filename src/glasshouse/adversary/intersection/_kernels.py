# SPDX-License-Identifier: Apache-2.0
"""Exchanges of options among a few people at a time: a bare loop, called through `exchanges`."""

import cython


@cython.final
@cython.cclass
class Options:
    """Who may take what, and who takes it now.

    Person ``i`` is of a ``kind``, which has the options ``option_offsets[kind] .. option_offsets[kind + 1] - 1``;
    option ``o`` takes ``takes[take_offsets[o] : take_offsets[o + 1]]``, and ``chosen[i]`` is the person's own. ``pool``
    has a place for everything that can be taken, zero before and after.
    """

    kind: cython.int[::1]
    option_offsets: cython.int[::1]
    take_offsets: cython.int[::1]
    takes: cython.int[::1]
    chosen: cython.int[::1]
    pool: cython.int[::1]

    def __init__(self, *state):
        self.kind, self.option_offsets, self.take_offsets, self.takes, self.chosen, self.pool = state


def exchange(
    options: Options,
    members: cython.int[::1],
    picks: cython.longlong[::1],
    at: cython.int[::1],
    who: cython.int[::1],
    most_nodes: cython.int,
) -> cython.longlong:
    """Let each of ``len(picks)`` blocks of people share out anew what they take: uniformly among all ways to do so.

    Block ``r`` has the people ``members[r * size : (r + 1) * size]`` (-1 for none); ``size`` is the length of ``who``.
    All ways in which they can take together exactly what they take now are counted, and the one that ``picks[r]``
    (below 2 ** 62) says is taken. A block is left as it is where the pick would not be uniform, or where more than
    ``most_nodes`` steps are needed: both are the same for every way. ``at`` and ``who`` are scratch space, the first
    with a place more. Returns how many people now take another option.
    """
    kind = options.kind
    option_offsets = options.option_offsets
    take_offsets = options.take_offsets
    takes = options.takes
    chosen = options.chosen
    pool = options.pool
    size: cython.Py_ssize_t = who.shape[0]
    j: cython.Py_ssize_t
    b: cython.int
    level: cython.int
    phase: cython.int
    o: cython.int
    fits: cython.int
    nodes: cython.int
    units: cython.longlong
    ways: cython.longlong
    changed: cython.longlong = 0
    one: cython.longlong = 1
    top: cython.longlong = one << 62
    with cython.nogil:
        for r in range(picks.shape[0]):
            b = 0
            units = 0
            for i in range(r * size, (r + 1) * size):
                if members[i] >= 0:
                    who[b] = members[i]
                    b += 1
                    o = chosen[members[i]]
                    for j in range(take_offsets[o], take_offsets[o + 1]):
                        pool[takes[j]] += 1
                        units += 1
            wanted = -1
            for phase in range(2):
                level = 0
                ways = 0
                nodes = 0
                at[0] = option_offsets[kind[who[0]]]
                while level >= 0:
                    if level == b:
                        if units == 0:
                            if ways == wanted:
                                break
                            ways += 1
                        o = -1
                    else:
                        nodes += 1
                        if nodes > most_nodes:
                            break
                        o = at[level]
                        stop = option_offsets[kind[who[level]] + 1]
                        while o < stop:
                            fits = 1
                            for j in range(take_offsets[o], take_offsets[o + 1]):
                                if pool[takes[j]] == 0:
                                    fits = 0
                                    break
                            if fits:
                                break
                            o += 1
                        if o == stop:
                            o = -1
                    if o >= 0:  # take it, and go on to the next person
                        at[level] = o
                        for j in range(take_offsets[o], take_offsets[o + 1]):
                            pool[takes[j]] -= 1
                            units -= 1
                        level += 1
                        if level < b:
                            at[level] = option_offsets[kind[who[level]]]
                    else:  # back to the person before, who takes the next
                        level -= 1
                        if level >= 0:
                            o = at[level]
                            for j in range(take_offsets[o], take_offsets[o + 1]):
                                pool[takes[j]] += 1
                                units += 1
                            at[level] = o + 1
                if nodes > most_nodes or ways < 2:
                    if phase == 0:
                        break
                if phase == 0:
                    if picks[r] >= top // ways * ways:
                        break
                    wanted = picks[r] % ways
                else:
                    for i in range(b):
                        if chosen[who[i]] != at[i]:
                            changed += 1
            # whatever was reached, nothing stays in the pool
            for i in range(b):
                o = chosen[who[i]]
                for j in range(take_offsets[o], take_offsets[o + 1]):
                    pool[takes[j]] = 0
                if wanted >= 0:
                    chosen[who[i]] = at[i]
    return changed
