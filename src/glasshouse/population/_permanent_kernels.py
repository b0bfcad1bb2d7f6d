# SPDX-License-Identifier: Apache-2.0
"""How a group's values may be dealt to its people: bare loops for `deals`.

A group has *slots*, its different values with how often each occurs, and *seats*, its different people with how many
of each there are. Person i takes a free slot with a weight that depends on both; the weight of a deal is the product,
and the sum over all deals is the permanent of the weights. People take slots in turn, so that the number of slots of
every kind that are taken is all that matters of what came before: a *state*. Groups whose slots occur equally often
have the same states, and eight of them are gone through side by side, which the processor does at once.

``steps`` lists the ways from state to state: the state before, the state after, and the row of the weight, which is
``person * slots + slot``. Every state comes before those that follow from it.
"""

import cython

if cython.compiled:
    from cython.cimports.libc.math import log
else:
    from math import log


@cython.final
@cython.cclass
class Deck:
    """Groups: seats of group g are at ``places`` and have ``people``; its slots are the values ``codes``.

    ``first[g]`` is its first seat, ``slot[g]`` its first slot and ``entry[g]`` its first entry: an entry is a seat and
    a slot, seat by seat.
    """

    places: cython.int[::1]
    people: cython.int[::1]
    codes: cython.int[::1]
    counts: cython.int[::1]
    first: cython.longlong[::1]
    slot: cython.longlong[::1]
    entry: cython.longlong[::1]

    def __init__(self, *state):
        self.places, self.people, self.codes, self.counts, self.first, self.slot, self.entry = state


@cython.cfunc
@cython.nogil
def _load(
    deck: Deck,
    g: cython.longlong,
    chances: cython.double[:, ::1],
    weights: cython.double[:, ::1],
    lane: cython.Py_ssize_t,
) -> cython.double:
    """Write the weights of a group's people into a lane, each person's largest as 1; give the logarithm left out."""
    n_slots: cython.Py_ssize_t = deck.slot[g + 1] - deck.slot[g]
    row: cython.Py_ssize_t = 0
    left: cython.double = 0.0
    for seat in range(deck.first[g], deck.first[g + 1]):
        place: cython.Py_ssize_t = deck.places[seat]
        top: cython.double = 1e-300
        for k in range(n_slots):
            top = max(top, chances[place, deck.codes[deck.slot[g] + k]])
        for _ in range(deck.people[seat]):
            for k in range(n_slots):
                weights[row, lane] = max(chances[place, deck.codes[deck.slot[g] + k]] / top, 1e-15)
                row += 1
            left += log(top)
    return left


def expected_deals(
    deck: Deck,
    groups: cython.longlong[:, ::1],
    steps: cython.int[:, ::1],
    chances: cython.double[:, ::1],
    weights: cython.double[:, ::1],
    before: cython.double[:, ::1],
    after: cython.double[:, ::1],
    expected: cython.double[::1],
    logs: cython.double[::1],
) -> None:
    """Of groups with the same states, eight in a row: how many people of a seat are expected to have each value.

    ``logs`` gets the logarithm of the sum over deals. The next three arrays are scratch.
    """
    n_steps: cython.Py_ssize_t = steps.shape[0]
    n_states: cython.Py_ssize_t = before.shape[0]
    n_rows: cython.Py_ssize_t = weights.shape[0]
    total: cython.double
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    t: cython.Py_ssize_t
    u: cython.Py_ssize_t
    row: cython.Py_ssize_t
    at: cython.Py_ssize_t
    g: cython.Py_ssize_t
    n_slots: cython.Py_ssize_t
    part: cython.double
    with cython.nogil:
        for batch in range(groups.shape[0]):
            for lane in range(8):
                logs[groups[batch, lane]] = _load(deck, groups[batch, lane], chances, weights, lane)
            for state in range(n_states):
                for lane in range(8):
                    before[state, lane] = 0.0
                    after[state, lane] = 0.0
            for lane in range(8):
                before[0, lane] = 1.0
                after[n_states - 1, lane] = 1.0
            for t in range(n_steps):
                a = steps[t, 0]
                b = steps[t, 1]
                row = steps[t, 2]
                for lane in range(8):
                    before[b, lane] += before[a, lane] * weights[row, lane]
            # The second half of the rows is for sums: how likely each person takes each slot.
            for row in range(n_rows // 2, n_rows):
                for lane in range(8):
                    weights[row, lane] = 0.0
            for u in range(n_steps):
                t = n_steps - 1 - u
                a = steps[t, 0]
                b = steps[t, 1]
                row = steps[t, 2]
                for lane in range(8):
                    part = weights[row, lane] * after[b, lane]
                    after[a, lane] += part
                    weights[n_rows // 2 + row, lane] += before[a, lane] * part
            for lane in range(8):
                g = groups[batch, lane]
                if lane > 0 and groups[batch, lane - 1] == g:
                    break  # a row that is not full repeats its last group
                total = before[n_states - 1, lane]
                logs[g] += log(total)
                n_slots = deck.slot[g + 1] - deck.slot[g]
                row = n_rows // 2
                at = deck.entry[g]
                for seat in range(deck.first[g], deck.first[g + 1]):
                    for k in range(n_slots):
                        expected[at + k] = 0.0
                    for _ in range(deck.people[seat]):
                        for k in range(n_slots):
                            expected[at + k] += weights[row, lane] / total
                            row += 1
                    at += n_slots


def draw_deals(
    deck: Deck,
    groups: cython.longlong[:, ::1],
    steps: cython.int[:, ::1],
    next_state: cython.int[:, ::1],
    chances: cython.double[:, ::1],
    weights: cython.double[:, ::1],
    after: cython.double[:, ::1],
    person: cython.longlong[::1],
    random: cython.double[::1],
    drawn: cython.int[::1],
) -> None:
    """Draw a deal for each of these groups: the value of every person, of whom ``person[g]`` is a group's first.

    ``random`` has a number between 0 and 1 for every person; ``next_state[state, slot]`` is -1 where no slot is free.
    """
    n_steps: cython.Py_ssize_t = steps.shape[0]
    n_states: cython.Py_ssize_t = after.shape[0]
    left: cython.double
    chosen: cython.Py_ssize_t
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    t: cython.Py_ssize_t
    u: cython.Py_ssize_t
    row: cython.Py_ssize_t
    at: cython.Py_ssize_t
    g: cython.Py_ssize_t
    n_slots: cython.Py_ssize_t
    part: cython.double
    with cython.nogil:
        for batch in range(groups.shape[0]):
            for lane in range(8):
                _load(deck, groups[batch, lane], chances, weights, lane)
            for state in range(n_states):
                for lane in range(8):
                    after[state, lane] = 0.0
            for lane in range(8):
                after[n_states - 1, lane] = 1.0
            for u in range(n_steps):
                t = n_steps - 1 - u
                a = steps[t, 0]
                b = steps[t, 1]
                row = steps[t, 2]
                for lane in range(8):
                    after[a, lane] += weights[row, lane] * after[b, lane]
            for lane in range(8):
                g = groups[batch, lane]
                n_slots = deck.slot[g + 1] - deck.slot[g]
                at = 0
                row = 0
                for i in range(person[g], person[g + 1]):
                    left = random[i] * after[at, lane]
                    chosen = -1
                    for k in range(n_slots):
                        b = next_state[at, k]
                        if b >= 0:
                            part = weights[row + k, lane] * after[b, lane]
                            if part > 0.0 and (left >= 0.0 or chosen < 0):
                                chosen = k
                            left -= part
                    drawn[i] = deck.codes[deck.slot[g] + chosen]
                    at = next_state[at, chosen]
                    row += n_slots


def balance(
    deck: Deck,
    groups: cython.longlong[::1],
    chances: cython.double[:, ::1],
    scale: cython.double[::1],
    totals: cython.double[::1],
    expected: cython.double[::1],
    logs: cython.double[::1],
    rounds: cython.Py_ssize_t,
) -> None:
    """Of groups with too many states: scale the slots until every value is expected as often as it occurs (Sinkhorn).

    ``logs`` gets the logarithm of the capacity, whose derivative the expected numbers are.
    """
    g: cython.Py_ssize_t
    at: cython.Py_ssize_t
    n_slots: cython.Py_ssize_t
    value: cython.double
    own: cython.double
    worst: cython.double
    wanted: cython.double
    with cython.nogil:
        for i in range(groups.shape[0]):
            g = groups[i]
            n_slots = deck.slot[g + 1] - deck.slot[g]
            for k in range(n_slots):
                scale[k] = 1.0
            for _ in range(rounds):
                for k in range(n_slots):
                    totals[k] = 0.0
                value = 0.0
                at = deck.entry[g]
                for seat in range(deck.first[g], deck.first[g + 1]):
                    own = 1e-300
                    for k in range(n_slots):
                        expected[at + k] = scale[k] * max(
                            chances[deck.places[seat], deck.codes[deck.slot[g] + k]], 1e-15
                        )
                        own += expected[at + k]
                    value += deck.people[seat] * log(own)
                    for k in range(n_slots):
                        expected[at + k] *= deck.people[seat] / own
                        totals[k] += expected[at + k]
                    at += n_slots
                worst = 0.0
                for k in range(n_slots):
                    wanted = deck.counts[deck.slot[g] + k]
                    value -= wanted * log(scale[k])
                    worst = max(worst, abs(totals[k] / wanted - 1.0))
                logs[g] = value
                if worst < 1e-9:
                    break
                for k in range(n_slots):
                    scale[k] *= deck.counts[deck.slot[g] + k] / totals[k]


def exchange(
    deck: Deck,
    groups: cython.longlong[::1],
    chances: cython.double[:, ::1],
    person: cython.longlong[::1],
    place_of: cython.int[::1],
    random: cython.double[::1],
    drawn: cython.int[::1],
    rounds: cython.Py_ssize_t,
) -> None:
    """Draw deals of groups with too many states: two people exchange their values, again and again.

    ``drawn`` holds a deal to begin with. ``random`` has three numbers between 0 and 1 for each exchange: ``rounds``
    for every person of these groups.
    """
    at: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    n: cython.Py_ssize_t
    one: cython.Py_ssize_t
    other: cython.Py_ssize_t
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    now: cython.double
    then: cython.double
    with cython.nogil:
        for i in range(groups.shape[0]):
            start = person[groups[i]]
            n = person[groups[i] + 1] - start
            for _ in range(n * rounds):
                one = start + cython.cast(cython.longlong, random[at] * n)
                other = start + cython.cast(cython.longlong, random[at + 1] * n)
                a = drawn[one]
                b = drawn[other]
                if a != b:
                    now = chances[place_of[one], a] * chances[place_of[other], b]
                    then = chances[place_of[one], b] * chances[place_of[other], a]
                    if random[at + 2] * now <= then:
                        drawn[one] = b
                        drawn[other] = a
                at += 3
