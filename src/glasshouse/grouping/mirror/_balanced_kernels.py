# SPDX-License-Identifier: Apache-2.0
"""Planning balanced groups of Mirror's leaves: bare loops, called through `glasshouse.grouping.mirror.mirror`."""

import cython


@cython.final
@cython.cclass
class Leaves:
    """The classes of all leaves, and what is known of the values of the leaf at hand.

    Segment ``2 * e`` is the left half of leaf ``e`` and segment ``2 * e + 1`` the right one. The tuples of a segment
    with one value are a class: segment ``s`` has the classes ``first[s] .. first[s + 1] - 1``, each with its value, its
    size and its first slot.

    An entry per value, zeros at first: what is left in the first part, in the second, and in both; the next slot of
    either; how often the group takes it; the values before and after it in the list. An entry per count up to the
    largest, -1 at first: the first and the last value of that count in the list, whose first value is ``top``.
    """

    first: cython.longlong[::1]
    values: cython.int[::1]
    sizes: cython.longlong[::1]
    starts: cython.longlong[::1]
    in_first: cython.longlong[::1]
    in_second: cython.longlong[::1]
    left: cython.longlong[::1]
    slot_of_first: cython.longlong[::1]
    slot_of_second: cython.longlong[::1]
    times: cython.longlong[::1]
    before: cython.longlong[::1]
    after: cython.longlong[::1]
    first_with: cython.longlong[::1]
    last_with: cython.longlong[::1]
    top: cython.longlong

    def __init__(self, *arrays):
        (
            self.first, self.values, self.sizes, self.starts, self.in_first, self.in_second, self.left,
            self.slot_of_first, self.slot_of_second, self.times, self.before, self.after, self.first_with,
            self.last_with,
        ) = arrays  # fmt: skip

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def collect(self, e: cython.Py_ssize_t, coin: cython.longlong) -> cython.longlong:
        """Write down the histograms of both parts of a leaf; return how many tuples it has."""
        total: cython.longlong = 0
        s: cython.Py_ssize_t = 2 * e + (0 if coin == 1 else 1)
        for b in range(self.first[s], self.first[s + 1]):
            v = self.values[b]
            self.in_first[v] = self.sizes[b]
            self.slot_of_first[v] = self.starts[b]
            self.left[v] += self.sizes[b]
            total += self.sizes[b]
        s = 4 * e + 1 - s
        for b in range(self.first[s], self.first[s + 1]):
            v = self.values[b]
            self.in_second[v] = self.sizes[b]
            self.slot_of_second[v] = self.starts[b]
            self.left[v] += self.sizes[b]
            total += self.sizes[b]
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def list_values(self, e: cython.Py_ssize_t) -> cython.void:
        """Link the values of a leaf, by count (the largest first), then by code."""
        a: cython.Py_ssize_t = self.first[2 * e]
        b: cython.Py_ssize_t = self.first[2 * e + 1]
        middle: cython.Py_ssize_t = b
        stop: cython.Py_ssize_t = self.first[2 * e + 2]
        largest: cython.longlong = 0
        last: cython.longlong = -1
        v: cython.longlong
        self.top = -1
        while a < middle or b < stop:  # both halves' values ascend
            if b >= stop or (a < middle and self.values[a] <= self.values[b]):
                v = self.values[a]
                b += b < stop and self.values[b] == v
                a += 1
            else:
                v = self.values[b]
                b += 1
            c = self.left[v]
            largest = c if c > largest else largest
            if self.first_with[c] < 0:
                self.first_with[c] = v
            else:
                self.after[self.last_with[c]] = v
                self.before[v] = self.last_with[c]
            self.last_with[c] = v
        for c in range(largest, 0, -1):
            if self.first_with[c] >= 0:
                self.before[self.first_with[c]] = last
                if last < 0:
                    self.top = self.first_with[c]
                else:
                    self.after[last] = self.first_with[c]
                last = self.last_with[c]
        self.after[last] = -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def take_one(self, v: cython.longlong) -> cython.void:
        """Count one tuple less of a value, which moves in the list, or leaves it."""
        c: cython.longlong = self.left[v]
        before: cython.longlong = self.before[v]
        after: cython.longlong = self.after[v]
        if before >= 0:
            self.after[before] = after
        else:
            self.top = after
        if after >= 0:
            self.before[after] = before
        if self.first_with[c] == v and self.last_with[c] == v:
            self.first_with[c] = -1
            self.last_with[c] = -1
        elif self.first_with[c] == v:
            self.first_with[c] = after
        elif self.last_with[c] == v:
            self.last_with[c] = before
        self.left[v] = c - 1
        self.times[v] -= 1
        if c == 1:
            return
        if self.first_with[c - 1] < 0:  # behind what has more
            before = self.last_with[c] if self.last_with[c] >= 0 else before
            self.first_with[c - 1] = v
            self.last_with[c - 1] = v
        elif v < self.first_with[c - 1]:
            before = self.before[self.first_with[c - 1]]
            self.first_with[c - 1] = v
        else:
            before = self.last_with[c - 1]
            while before > v:
                before = self.before[before]
            if before == self.last_with[c - 1]:
                self.last_with[c - 1] = v
        if before >= 0:
            after = self.after[before]
            self.after[before] = v
        else:
            after = self.top
            self.top = v
        self.before[v] = before
        self.after[v] = after
        if after >= 0:
            self.before[after] = v

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fill(
        self, v: cython.longlong, a: cython.longlong, alpha: cython.longlong, column: cython.int, slots: cython.int[::1]
    ) -> cython.void:
        """Give ``alpha`` slots of a value to each of its columns: ``a`` of them are of the first part."""
        for c in range(self.times[v]):
            if c < a:
                at = self.slot_of_first[v]
                self.slot_of_first[v] += alpha
            else:
                at = self.slot_of_second[v]
                self.slot_of_second[v] += alpha
            for i in range(at, at + alpha):
                slots[i] = column + c


def plan_groups(
    leaves: Leaves,
    coins: cython.longlong[::1],
    ell: cython.longlong,
    alike: cython.bint,
    chosen: cython.longlong[::1],
    columns: cython.longlong[::1],
    lengths: cython.int[::1],
    slots: cython.int[::1],
) -> cython.longlong:
    """Plan balanced groups, several of a kind at once: return how many kinds there are, of all leaves together.

    A kind is one bucket of ``lengths`` groups, which take the same values from the same halves: a column for each tuple
    of a group, and in every slot of a class the number of a column. Column ``c`` begins at place ``columns[c]``; as
    many columns as a group has tuples belong to each bucket. If groups need not be ``alike``, every bucket is a group.
    A coin of 1 lets the left half of a leaf play the first part. ``chosen`` has a place per tuple of a group: the
    values that it takes.
    """
    size: cython.longlong = ell if ell % 2 == 0 else 2 * ell
    most: cython.longlong = size // ell
    half: cython.longlong = size // 2
    n_columns: cython.int = 0
    n_kinds: cython.longlong = 0
    place: cython.longlong = 0
    n_chosen: cython.Py_ssize_t
    with cython.nogil:
        for e in range(coins.shape[0]):
            m = leaves.collect(e, coins[e]) // size
            leaves.list_values(e)
            while m > 0:
                n_chosen = 0
                total = 0
                only_first = 0  # tuples that only the first part can give
                only_second = 0
                v = leaves.top
                while v >= 0 and leaves.left[v] > most * (m - 1):  # what later groups could not take
                    times = leaves.left[v] - most * (m - 1)
                    leaves.times[v] = times
                    chosen[n_chosen] = v
                    n_chosen += 1
                    total += times
                    only_first += beyond(times, leaves.in_second[v])
                    only_second += beyond(times, leaves.in_first[v])
                    v = leaves.after[v]
                for times in range(1, most + 1):
                    v = leaves.top
                    while v >= 0 and total < size:
                        c = leaves.times[v]
                        if c < times and c < leaves.left[v]:
                            a = only_first + (1 if c >= leaves.in_second[v] else 0)
                            b = only_second + (1 if c >= leaves.in_first[v] else 0)
                            if a <= half and b <= half:
                                only_first = a
                                only_second = b
                                if c == 0:
                                    chosen[n_chosen] = v
                                    n_chosen += 1
                                leaves.times[v] = c + 1
                                total += 1
                        v = leaves.after[v]
                # So many groups of this kind leave counts that the others can take.
                alpha = m if alike else 1
                v = leaves.top
                while v >= 0 and alpha > 1:
                    c = most - leaves.times[v]
                    if c > 0 and c * alpha > most * m - leaves.left[v]:
                        alpha = (most * m - leaves.left[v]) // c
                    v = leaves.after[v]
                c = only_first
                for p in range(n_chosen):
                    v = chosen[p]
                    times = leaves.times[v]
                    a = first_part(times, leaves.in_first[v], leaves.in_second[v], half - c)
                    c += a - beyond(times, leaves.in_second[v])
                    if a > 0 and a * alpha > leaves.in_first[v]:
                        alpha = leaves.in_first[v] // a
                    if times > a and (times - a) * alpha > leaves.in_second[v]:
                        alpha = leaves.in_second[v] // (times - a)
                for p in range(n_chosen):
                    v = chosen[p]
                    times = leaves.times[v]
                    a = first_part(times, leaves.in_first[v], leaves.in_second[v], half - only_first)
                    only_first += a - beyond(times, leaves.in_second[v])
                    leaves.in_first[v] -= a * alpha
                    leaves.in_second[v] -= (times - a) * alpha
                    leaves.fill(v, a, alpha, n_columns, slots)
                    for _ in range(times):
                        columns[n_columns] = place
                        n_columns += 1
                        place += alpha
                    leaves.times[v] = times * alpha
                for p in range(n_chosen):
                    while leaves.times[chosen[p]] > 0:
                        leaves.take_one(chosen[p])
                lengths[n_kinds] = alpha
                n_kinds += 1
                m -= alpha
    return n_kinds


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def beyond(times: cython.longlong, held: cython.longlong) -> cython.longlong:
    """How many of ``times`` tuples a part does not hold."""
    return times - held if times > held else 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def first_part(
    times: cython.longlong, first: cython.longlong, second: cython.longlong, room: cython.longlong
) -> cython.longlong:
    """How many of ``times`` tuples the first part gives: what the second has not, and of the rest what has room."""
    a: cython.longlong = beyond(times, second)
    free: cython.longlong = times - a - beyond(times, first)
    return a + (free if free < room else room)
