# SPDX-License-Identifier: Apache-2.0
"""Walking over the worlds in which every cut fails: bare loops, called through `cut_walk`.

People stand in places, those of a group together, and within it those of a cell: who is on the same side of every cut.
``held[p]`` says which entry of ``value_of`` the one at place p has; each group has entries of its own. A key is twice a
cut's number, plus 1 for its right part; ``keys`` lists those of every cell, ascending. A slot is a cut with a value
that may break the principle there: ``counts`` and ``caps`` have two entries a slot, left and right;
``violators[c]`` is the number of entries of cut c whose count is above its cap. A cut has failed if there are any.

The random numbers are those of `below`. Nobody's privacy depends on them: they pick the worlds by which a belief is
estimated.
"""

import cython

if cython.compiled:
    from cython.cimports.glasshouse.kernels._random_kernels import below
else:
    from glasshouse.kernels._random_kernels import below


@cython.final
@cython.cclass
class World:
    """Who holds what, and how far every cut is from failing; its groups, cells, cuts and slots never change."""

    group_of: cython.int[::1]
    places: cython.longlong[::1]
    cell_of: cython.int[::1]
    value_of: cython.int[::1]
    cell_offsets: cython.longlong[::1]
    keys: cython.int[::1]
    slot_offsets: cython.longlong[::1]
    slot_values: cython.int[::1]
    caps: cython.int[::1]
    cut_offsets: cython.longlong[::1]
    cut_places: cython.int[::1]
    held: cython.int[::1]
    counts: cython.int[::1]
    violators: cython.int[::1]
    state: cython.ulonglong[::1]

    def __init__(self, *arrays):
        (
            self.group_of, self.places, self.cell_of, self.value_of, self.cell_offsets, self.keys, self.slot_offsets,
            self.slot_values, self.caps, self.cut_offsets, self.cut_places, self.held, self.counts, self.violators,
            self.state,
        ) = arrays  # fmt: skip

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def slot(self, cut: cython.longlong, value: cython.int) -> cython.longlong:
        """The slot of a value in a cut, or -1 if the value cannot break the principle there."""
        low: cython.longlong = self.slot_offsets[cut]
        high: cython.longlong = self.slot_offsets[cut + 1]
        while low < high:
            middle = (low + high) >> 1
            if self.slot_values[middle] < value:
                low = middle + 1
            else:
                high = middle
        if low < self.slot_offsets[cut + 1] and self.slot_values[low] == value:
            return low
        return -1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def exchange(self, key: cython.longlong, leaving: cython.int, coming: cython.int) -> cython.void:
        """On one side of one cut, somebody's value is replaced by another."""
        cut: cython.longlong = key >> 1
        side: cython.longlong = key & 1
        at = self.slot(cut, leaving)
        if at >= 0:
            at = 2 * at + side
            if self.counts[at] == self.caps[at] + 1:
                self.violators[cut] -= 1
            self.counts[at] -= 1
        at = self.slot(cut, coming)
        if at >= 0:
            at = 2 * at + side
            if self.counts[at] == self.caps[at]:
                self.violators[cut] += 1
            self.counts[at] += 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def swap(self, a: cython.longlong, b: cython.longlong) -> cython.void:
        """Two places exchange their values."""
        i: cython.longlong = self.cell_offsets[self.cell_of[a]]
        j: cython.longlong = self.cell_offsets[self.cell_of[b]]
        beyond_i: cython.longlong = self.cell_offsets[self.cell_of[a] + 1]
        beyond_j: cython.longlong = self.cell_offsets[self.cell_of[b] + 1]
        x: cython.int = self.value_of[self.held[a]]
        y: cython.int = self.value_of[self.held[b]]
        kept: cython.int = self.held[a]
        self.held[a] = self.held[b]
        self.held[b] = kept
        while i < beyond_i or j < beyond_j:
            if j == beyond_j or (i < beyond_i and self.keys[i] < self.keys[j]):
                self.exchange(self.keys[i], x, y)
                i += 1
            elif i == beyond_i or self.keys[j] < self.keys[i]:
                self.exchange(self.keys[j], y, x)
                j += 1
            else:  # both on the same side
                i += 1
                j += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def all_fail(self, cell: cython.longlong) -> cython.longlong:
        """Whether every cut that a cell is in fails."""
        for i in range(self.cell_offsets[cell], self.cell_offsets[cell + 1]):
            if self.violators[self.keys[i] >> 1] == 0:
                return 0
        return 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def change(self, key: cython.longlong, leaving: cython.int, coming: cython.int) -> cython.longlong:
        """How many more violators `exchange` would leave in the cut."""
        more: cython.longlong = 0
        at = self.slot(key >> 1, leaving)
        if at >= 0 and self.counts[2 * at + (key & 1)] == self.caps[2 * at + (key & 1)] + 1:
            more -= 1
        at = self.slot(key >> 1, coming)
        if at >= 0 and self.counts[2 * at + (key & 1)] == self.caps[2 * at + (key & 1)]:
            more += 1
        return more

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def may_swap(self, a: cython.longlong, b: cython.longlong) -> cython.longlong:
        """Whether every cut would still fail if two places exchanged their values."""
        i: cython.longlong = self.cell_offsets[self.cell_of[a]]
        j: cython.longlong = self.cell_offsets[self.cell_of[b]]
        beyond_i: cython.longlong = self.cell_offsets[self.cell_of[a] + 1]
        beyond_j: cython.longlong = self.cell_offsets[self.cell_of[b] + 1]
        x: cython.int = self.value_of[self.held[a]]
        y: cython.int = self.value_of[self.held[b]]
        key: cython.longlong
        last: cython.longlong = -1
        left: cython.longlong = 1
        # Keys come ascending, so both sides of a cut come one after the other: it is judged when the next one comes.
        while i < beyond_i or j < beyond_j:
            if i < beyond_i and j < beyond_j and self.keys[i] == self.keys[j]:  # both on the same side
                i += 1
                j += 1
                continue
            key = self.keys[i] if j == beyond_j or (i < beyond_i and self.keys[i] < self.keys[j]) else self.keys[j]
            if key >> 1 != last:
                if left == 0:
                    return 0
                last = key >> 1
                left = self.violators[last]
            if i < beyond_i and self.keys[i] == key:
                i += 1
                left += self.change(key, x, y)
            else:
                j += 1
                left += self.change(key, y, x)
        return left != 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has(self, cell: cython.longlong, key: cython.longlong) -> cython.longlong:
        """Whether a cell is on that side of that cut."""
        for i in range(self.cell_offsets[cell], self.cell_offsets[cell + 1]):
            if self.keys[i] == key:
                return 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def lack(self, cell: cython.longlong) -> cython.longlong:
        """How many tuples more the cuts of a cell need, each for the value that is nearest to making it fail."""
        cut: cython.longlong
        least: cython.longlong
        total: cython.longlong = 0
        for i in range(self.cell_offsets[cell], self.cell_offsets[cell + 1]):
            cut = self.keys[i] >> 1
            if self.violators[cut] == 0:
                least = 0x7FFFFFFF
                for at in range(2 * self.slot_offsets[cut], 2 * self.slot_offsets[cut + 1]):
                    if self.caps[at] + 1 - self.counts[at] < least:
                        least = self.caps[at] + 1 - self.counts[at]
                total += least
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def list_again(
        self, cell: cython.longlong, n_whole: cython.longlong, whole: cython.int[::1], where: cython.int[::1]
    ) -> cython.longlong:
        """Put the cuts of a cell on the list of those that do not fail, or take them off; return its length."""
        cut: cython.longlong
        for i in range(self.cell_offsets[cell], self.cell_offsets[cell + 1]):
            cut = self.keys[i] >> 1
            if self.violators[cut] == 0 and where[cut] < 0:
                where[cut] = n_whole
                whole[n_whole] = cut
                n_whole += 1
            elif self.violators[cut] > 0 and where[cut] >= 0:
                n_whole -= 1
                whole[where[cut]] = whole[n_whole]
                where[whole[n_whole]] = where[cut]
                where[cut] = -1
        return n_whole


def count(world: World) -> None:
    """Add everybody to ``counts``, and set ``violators``."""
    n: cython.longlong = world.held.shape[0]
    with cython.nogil:
        for p in range(n):
            for i in range(world.cell_offsets[world.cell_of[p]], world.cell_offsets[world.cell_of[p] + 1]):
                at = world.slot(world.keys[i] >> 1, world.value_of[world.held[p]])
                if at >= 0:
                    world.counts[2 * at + (world.keys[i] & 1)] += 1
        for p in range(world.violators.shape[0]):
            world.violators[p] = 0
            for i in range(2 * world.slot_offsets[p], 2 * world.slot_offsets[p + 1]):
                if world.counts[i] > world.caps[i]:
                    world.violators[p] += 1


def walk(
    world: World,
    firsts: cython.longlong[::1],
    many: cython.longlong,
    few: cython.longlong,
    n_moves: cython.longlong,
    pairs: cython.longlong[::1],
    tally: cython.longlong[::1],
) -> None:
    """Make so many moves; ``tally`` counts those that could change something, those made, and those made of one pair.

    A move exchanges the values of two places of a group. ``many`` times in 256 several exchanges are made at once
    (``pairs`` has room for them): in ``few`` of these of any pairs near one cut, in the others of somebody who has some
    value with somebody of the group who has not, near one cut or in one group, so that a value can change sides as a
    whole. Which cuts, groups and values are drawn does not depend on the world; how many in a group have a value does
    not change; and a row of exchanges is as likely as its reverse: so a move is as likely as the one that undoes it. It
    is not made if a cut would then no longer fail. ``firsts`` says where the entries of each group begin. In single
    exchanges two places of one cell are left alone: nobody looks at what they exchange.
    """
    n: cython.longlong = world.held.shape[0]
    n_cuts: cython.longlong = world.violators.shape[0]
    i: cython.longlong
    a: cython.longlong
    b: cython.longlong
    g: cython.longlong
    size: cython.longlong
    have: cython.longlong
    value: cython.int
    done: cython.longlong
    well: cython.longlong
    with cython.nogil:
        for _ in range(n_moves):
            kind = below(world.state, 256)
            if kind >= many:
                a = below(world.state, n)
                g = world.group_of[a]
                b = world.places[g] + below(world.state, world.places[g + 1] - world.places[g])
                if world.held[a] == world.held[b] or world.cell_of[a] == world.cell_of[b]:
                    continue
                tally[0] += 1
                if world.may_swap(a, b):
                    tally[1] += 1
                    tally[2] += 1
                    world.swap(a, b)
                continue
            k = 2 + below(world.state, 3)
            done = 0
            value = -1
            cut = below(world.state, n_cuts)
            if kind >= few:
                if kind & 1:
                    value = world.slot_values[
                        world.slot_offsets[cut]
                        + below(world.state, world.slot_offsets[cut + 1] - world.slot_offsets[cut])
                    ]
                else:
                    cut = -1
                    g = world.group_of[below(world.state, n)]
                    value = world.value_of[firsts[g] + below(world.state, firsts[g + 1] - firsts[g])]
            for _i in range(k):
                if cut >= 0:
                    a = world.cut_places[
                        world.cut_offsets[cut] + below(world.state, world.cut_offsets[cut + 1] - world.cut_offsets[cut])
                    ]
                    g = world.group_of[a]
                size = world.places[g + 1] - world.places[g]
                if value < 0:
                    b = world.places[g] + below(world.state, size)
                else:
                    have = 0
                    for i in range(world.places[g], world.places[g + 1]):
                        have += world.value_of[world.held[i]] == value
                    if have == 0 or have == size:
                        continue
                    a = below(world.state, have)
                    b = below(world.state, size - have)
                    for i in range(world.places[g], world.places[g + 1]):  # count down to the drawn ones
                        if world.value_of[world.held[i]] == value:
                            a -= 1
                            if a == -1:
                                have = i
                        else:
                            b -= 1
                            if b == -1:
                                size = i
                    a = have
                    b = size
                if world.held[a] == world.held[b] or (value < 0 and world.cell_of[a] == world.cell_of[b]):
                    continue
                pairs[2 * done] = a
                pairs[2 * done + 1] = b
                done += 1
                world.swap(a, b)
            if done == 0:
                continue
            tally[0] += 1
            well = 1
            for i in range(2 * done):
                if not world.all_fail(world.cell_of[pairs[i]]):
                    well = 0
                    break
            if well:
                tally[1] += 1
                continue
            for i in range(done - 1, -1, -1):
                world.swap(pairs[2 * i], pairs[2 * i + 1])


def record(
    world: World,
    cell_places: cython.longlong[::1],
    shifts: cython.longlong[::1],
    pair_offsets: cython.longlong[::1],
    most: cython.longlong,
    shares: cython.double[::1],
    sums: cython.double[::1],
    squares: cython.double[::1],
) -> None:
    """Add to ``sums``, and squared to ``squares``, how likely each cell's people have each value after one more move.

    The move: the person exchanges values with one of the group, drawn uniformly, if every cut then still fails. It
    leaves the distribution of worlds as it is, so its expectation may be averaged instead of its outcome
    (Rao-Blackwell), over all partners, or over ``most`` random ones where there are more. Entry e of a cell's group
    counts at ``e + shifts[cell]``.
    """
    n_cells: cython.longlong = shifts.shape[0]
    g: cython.longlong
    entry: cython.longlong
    with cython.nogil:
        for cell in range(n_cells):
            for i in range(pair_offsets[cell], pair_offsets[cell + 1]):
                shares[i] = 0
            begin = cell_places[cell]
            g = world.group_of[begin]
            size = world.places[g + 1] - world.places[g]
            n_partners = size if size <= most else most
            for p in range(begin, cell_places[cell + 1]):
                for i in range(n_partners):
                    b = world.places[g] + (i if size <= most else below(world.state, size))
                    entry = world.held[b]
                    if entry != world.held[p] and world.cell_of[b] != cell and not world.may_swap(p, b):
                        entry = world.held[p]
                    shares[entry + shifts[cell]] += 1
            for i in range(pair_offsets[cell], pair_offsets[cell + 1]):
                share = shares[i] / (n_partners * (cell_places[cell + 1] - begin))
                sums[i] += share
                squares[i] += share * share


# --- a first world ---------------------------------------------------------------------------------------------------


def repair(
    world: World,
    never: cython.longlong,
    noise: cython.longlong,
    n_tries: cython.longlong,
    n_steps: cython.longlong,
    whole: cython.int[::1],
    where: cython.int[::1],
) -> cython.longlong:
    """Exchange values within groups until every cut fails, or ``n_steps`` are over; return how many do not fail.

    A step takes a cut that does not fail, and of its values and sides the one that lacks least (``noise`` times in 256
    any that can), and moves one more tuple with that value to that side: by the first of ``n_tries`` exchanges that
    leaves all cuts no further from failing, or, ``noise`` times in 256, by the last one tried. A cap of ``never``
    cannot be exceeded.
    """
    n_whole: cython.longlong = 0
    a: cython.longlong
    b: cython.longlong
    g: cython.longlong
    ties: cython.longlong
    key: cython.longlong
    inside: cython.longlong
    value: cython.int
    fits: cython.bint
    for cut in range(world.violators.shape[0]):
        where[cut] = -1
        if world.violators[cut] == 0:
            where[cut] = n_whole
            whole[n_whole] = cut
            n_whole += 1
    with cython.nogil:
        for _ in range(n_steps):
            if n_whole == 0:
                break
            cut = whole[below(world.state, n_whole)]
            least = never
            target = -1
            ties = 0
            if below(world.state, 256) < noise:
                for at in range(2 * world.slot_offsets[cut], 2 * world.slot_offsets[cut + 1]):
                    if world.caps[at] < never:
                        ties += 1
                        if below(world.state, ties) == 0:
                            target = at
            else:
                for at in range(2 * world.slot_offsets[cut], 2 * world.slot_offsets[cut + 1]):
                    if world.caps[at] < never and world.caps[at] - world.counts[at] <= least:
                        ties = ties + 1 if world.caps[at] - world.counts[at] == least else 1
                        least = world.caps[at] - world.counts[at]
                        if below(world.state, ties) == 0:
                            target = at
            key = 2 * cut + (target & 1)
            value = world.slot_values[target >> 1]
            for t in range(n_tries):
                a = world.cut_places[
                    world.cut_offsets[cut] + below(world.state, world.cut_offsets[cut + 1] - world.cut_offsets[cut])
                ]
                inside = world.has(world.cell_of[a], key)
                if inside == (world.value_of[world.held[a]] == value):
                    continue  # is where it should be, or does not have the value
                g = world.group_of[a]
                size = world.places[g + 1] - world.places[g]
                start = below(world.state, size)
                found = -1
                for i in range(size):
                    b = world.places[g] + (start + i) % size
                    fits = (world.value_of[world.held[b]] == value) == inside
                    if fits and world.has(world.cell_of[b], key) != inside:
                        found = b
                        break
                if found < 0:
                    continue
                before = world.lack(world.cell_of[a])
                before += world.lack(world.cell_of[found])
                world.swap(a, found)
                before -= world.lack(world.cell_of[a])
                before -= world.lack(world.cell_of[found])
                if before >= 0 or (t == n_tries - 1 and below(world.state, 256) < noise):
                    n_whole = world.list_again(world.cell_of[a], n_whole, whole, where)
                    n_whole = world.list_again(world.cell_of[found], n_whole, whole, where)
                    break
                world.swap(a, found)
    return n_whole
