# SPDX-License-Identifier: Apache-2.0
"""Walking over the worlds in which every cut fails: bare loops, called through `cut_chain`.

People stand in places, those of a group together, and within it those of a cell: who is on the same side of every cut.
``held[p]`` says which entry of ``value_of`` the one at place p has; each group has entries of its own. A key is twice a
cut's number, plus 1 for its right part; ``keys`` lists those of every cell, ascending. A slot is a cut with a value
that may break the principle there: ``counts`` and ``caps`` have two entries a slot, left and right;
``violators[c]`` is the number of entries of cut c whose count is above its cap. A cut has failed if there are any.

``state[0]`` is the generator: xorshift64* (Vigna, ACM TOMS 42(4), 2016, doi:10.1145/2845077), of whose words the upper
32 bits are used. Nobody's privacy hangs on it: it picks the worlds by which a belief is estimated.
"""

import cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _below(state: cython.ulonglong[::1], bound: cython.ulonglong) -> cython.longlong:
    """A uniform number below ``bound``, which is below 2^32, by multiplication with rejection."""
    x: cython.ulonglong = state[0]
    word: cython.ulonglong
    low: cython.ulonglong
    top: cython.ulonglong = 0xFFFFFFFF
    mask: cython.ulonglong = (top << 32) | top  # what C's own width does, for whoever runs this interpreted
    factor: cython.ulonglong = 0x2545F491
    factor = (factor << 32) | 0x4F6CDD1D
    while True:
        x = x ^ (x >> 12)
        x = x ^ ((x << 25) & mask)
        x = x ^ (x >> 27)
        word = ((x * factor) & mask) >> 32
        word = word * bound
        low = word & top
        if low >= bound or low >= (top - bound + 1) % bound:
            break
    state[0] = x
    return word >> 32


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _slot(
    cut: cython.longlong, value: cython.int, slot_offsets: cython.longlong[::1], slot_values: cython.int[::1]
) -> cython.longlong:
    """The slot of a value in a cut, or -1 if the value cannot break the principle there."""
    low: cython.longlong = slot_offsets[cut]
    high: cython.longlong = slot_offsets[cut + 1]
    middle: cython.longlong
    while low < high:
        middle = (low + high) >> 1
        if slot_values[middle] < value:
            low = middle + 1
        else:
            high = middle
    if low < slot_offsets[cut + 1] and slot_values[low] == value:
        return low
    return -1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _exchange(
    key: cython.longlong,
    leaving: cython.int,
    coming: cython.int,
    slot_offsets: cython.longlong[::1],
    slot_values: cython.int[::1],
    caps: cython.int[::1],
    counts: cython.int[::1],
    violators: cython.int[::1],
) -> cython.void:
    """On one side of one cut, somebody's value is replaced by another."""
    cut: cython.longlong = key >> 1
    side: cython.longlong = key & 1
    at: cython.longlong
    at = _slot(cut, leaving, slot_offsets, slot_values)
    if at >= 0:
        at = 2 * at + side
        if counts[at] == caps[at] + 1:
            violators[cut] -= 1
        counts[at] -= 1
    at = _slot(cut, coming, slot_offsets, slot_values)
    if at >= 0:
        at = 2 * at + side
        if counts[at] == caps[at]:
            violators[cut] += 1
        counts[at] += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _swap(
    a: cython.longlong,
    b: cython.longlong,
    cell_of: cython.int[::1],
    value_of: cython.int[::1],
    cell_offsets: cython.longlong[::1],
    keys: cython.int[::1],
    slot_offsets: cython.longlong[::1],
    slot_values: cython.int[::1],
    caps: cython.int[::1],
    held: cython.int[::1],
    counts: cython.int[::1],
    violators: cython.int[::1],
) -> cython.void:
    """Two places exchange their values."""
    i: cython.longlong = cell_offsets[cell_of[a]]
    j: cython.longlong = cell_offsets[cell_of[b]]
    beyond_i: cython.longlong = cell_offsets[cell_of[a] + 1]
    beyond_j: cython.longlong = cell_offsets[cell_of[b] + 1]
    x: cython.int = value_of[held[a]]
    y: cython.int = value_of[held[b]]
    kept: cython.int = held[a]
    held[a] = held[b]
    held[b] = kept
    while i < beyond_i or j < beyond_j:
        if j == beyond_j or (i < beyond_i and keys[i] < keys[j]):
            _exchange(keys[i], x, y, slot_offsets, slot_values, caps, counts, violators)
            i += 1
        elif i == beyond_i or keys[j] < keys[i]:
            _exchange(keys[j], y, x, slot_offsets, slot_values, caps, counts, violators)
            j += 1
        else:  # both on the same side
            i += 1
            j += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _all_fail(
    cell: cython.longlong,
    cell_offsets: cython.longlong[::1],
    keys: cython.int[::1],
    violators: cython.int[::1],
) -> cython.longlong:
    """Whether every cut that a cell is in fails."""
    i: cython.longlong
    for i in range(cell_offsets[cell], cell_offsets[cell + 1]):
        if violators[keys[i] >> 1] == 0:
            return 0
    return 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _change(
    key: cython.longlong,
    leaving: cython.int,
    coming: cython.int,
    slot_offsets: cython.longlong[::1],
    slot_values: cython.int[::1],
    caps: cython.int[::1],
    counts: cython.int[::1],
) -> cython.longlong:
    """How many more violators `_exchange` would leave in the cut."""
    at: cython.longlong
    more: cython.longlong = 0
    at = _slot(key >> 1, leaving, slot_offsets, slot_values)
    if at >= 0 and counts[2 * at + (key & 1)] == caps[2 * at + (key & 1)] + 1:
        more -= 1
    at = _slot(key >> 1, coming, slot_offsets, slot_values)
    if at >= 0 and counts[2 * at + (key & 1)] == caps[2 * at + (key & 1)]:
        more += 1
    return more


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _may_swap(
    a: cython.longlong,
    b: cython.longlong,
    cell_of: cython.int[::1],
    value_of: cython.int[::1],
    cell_offsets: cython.longlong[::1],
    keys: cython.int[::1],
    slot_offsets: cython.longlong[::1],
    slot_values: cython.int[::1],
    caps: cython.int[::1],
    held: cython.int[::1],
    counts: cython.int[::1],
    violators: cython.int[::1],
) -> cython.longlong:
    """Whether every cut would still fail if two places exchanged their values."""
    i: cython.longlong = cell_offsets[cell_of[a]]
    j: cython.longlong = cell_offsets[cell_of[b]]
    beyond_i: cython.longlong = cell_offsets[cell_of[a] + 1]
    beyond_j: cython.longlong = cell_offsets[cell_of[b] + 1]
    x: cython.int = value_of[held[a]]
    y: cython.int = value_of[held[b]]
    key: cython.longlong
    last: cython.longlong = -1
    left: cython.longlong = 1
    # Keys come ascending, so both sides of a cut come one after the other, and a cut is judged when the next one comes.
    while i < beyond_i or j < beyond_j:
        if i < beyond_i and j < beyond_j and keys[i] == keys[j]:  # both on the same side
            i += 1
            j += 1
            continue
        key = keys[i] if j == beyond_j or (i < beyond_i and keys[i] < keys[j]) else keys[j]
        if key >> 1 != last:
            if left == 0:
                return 0
            last = key >> 1
            left = violators[last]
        if i < beyond_i and keys[i] == key:
            i += 1
            left += _change(key, x, y, slot_offsets, slot_values, caps, counts)
        else:
            j += 1
            left += _change(key, y, x, slot_offsets, slot_values, caps, counts)
    return left != 0


def count(
    cell_of: cython.int[::1],
    value_of: cython.int[::1],
    cell_offsets: cython.longlong[::1],
    keys: cython.int[::1],
    slot_offsets: cython.longlong[::1],
    slot_values: cython.int[::1],
    caps: cython.int[::1],
    held: cython.int[::1],
    counts: cython.int[::1],
    violators: cython.int[::1],
) -> None:
    """Add everybody to ``counts``, and set ``violators``."""
    n: cython.longlong = held.shape[0]
    p: cython.longlong
    i: cython.longlong
    at: cython.longlong
    with cython.nogil:
        for p in range(n):
            for i in range(cell_offsets[cell_of[p]], cell_offsets[cell_of[p] + 1]):
                at = _slot(keys[i] >> 1, value_of[held[p]], slot_offsets, slot_values)
                if at >= 0:
                    counts[2 * at + (keys[i] & 1)] += 1
        for p in range(violators.shape[0]):
            violators[p] = 0
            for i in range(2 * slot_offsets[p], 2 * slot_offsets[p + 1]):
                if counts[i] > caps[i]:
                    violators[p] += 1


def walk(
    group_of: cython.int[::1],
    places: cython.longlong[::1],
    cell_of: cython.int[::1],
    value_of: cython.int[::1],
    cell_offsets: cython.longlong[::1],
    keys: cython.int[::1],
    slot_offsets: cython.longlong[::1],
    slot_values: cython.int[::1],
    caps: cython.int[::1],
    cut_offsets: cython.longlong[::1],
    cut_places: cython.int[::1],
    firsts: cython.longlong[::1],
    many: cython.longlong,
    few: cython.longlong,
    held: cython.int[::1],
    counts: cython.int[::1],
    violators: cython.int[::1],
    state: cython.ulonglong[::1],
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
    n: cython.longlong = held.shape[0]
    n_cuts: cython.longlong = violators.shape[0]
    k: cython.longlong
    i: cython.longlong
    a: cython.longlong
    b: cython.longlong
    g: cython.longlong
    cut: cython.longlong
    kind: cython.longlong
    size: cython.longlong
    have: cython.longlong
    value: cython.int
    done: cython.longlong
    well: cython.longlong
    with cython.nogil:
        for _ in range(n_moves):
            kind = _below(state, 256)
            if kind >= many:
                a = _below(state, n)
                g = group_of[a]
                b = places[g] + _below(state, places[g + 1] - places[g])
                if held[a] == held[b] or cell_of[a] == cell_of[b]:
                    continue
                tally[0] += 1
                if _may_swap(
                    a, b, cell_of, value_of, cell_offsets, keys, slot_offsets, slot_values, caps, held, counts,
                    violators,
                ):  # fmt: skip
                    tally[1] += 1
                    tally[2] += 1
                    _swap(
                        a, b, cell_of, value_of, cell_offsets, keys, slot_offsets, slot_values, caps, held, counts,
                        violators,
                    )  # fmt: skip
                continue
            k = 2 + _below(state, 3)
            done = 0
            value = -1
            cut = _below(state, n_cuts)
            if kind >= few:
                if kind & 1:
                    value = slot_values[slot_offsets[cut] + _below(state, slot_offsets[cut + 1] - slot_offsets[cut])]
                else:
                    cut = -1
                    g = group_of[_below(state, n)]
                    value = value_of[firsts[g] + _below(state, firsts[g + 1] - firsts[g])]
            for _i in range(k):
                if cut >= 0:
                    a = cut_places[cut_offsets[cut] + _below(state, cut_offsets[cut + 1] - cut_offsets[cut])]
                    g = group_of[a]
                size = places[g + 1] - places[g]
                if value < 0:
                    b = places[g] + _below(state, size)
                else:
                    have = 0
                    for i in range(places[g], places[g + 1]):
                        have += value_of[held[i]] == value
                    if have == 0 or have == size:
                        continue
                    a = _below(state, have)
                    b = _below(state, size - have)
                    for i in range(places[g], places[g + 1]):  # count down to the drawn ones
                        if value_of[held[i]] == value:
                            a -= 1
                            if a == -1:
                                have = i
                        else:
                            b -= 1
                            if b == -1:
                                size = i
                    a = have
                    b = size
                if held[a] == held[b] or (value < 0 and cell_of[a] == cell_of[b]):
                    continue
                pairs[2 * done] = a
                pairs[2 * done + 1] = b
                done += 1
                _swap(
                    a, b, cell_of, value_of, cell_offsets, keys, slot_offsets, slot_values, caps, held, counts,
                    violators,
                )  # fmt: skip
            if done == 0:
                continue
            tally[0] += 1
            well = 1
            for i in range(2 * done):
                if not _all_fail(cell_of[pairs[i]], cell_offsets, keys, violators):
                    well = 0
                    break
            if well:
                tally[1] += 1
                continue
            for i in range(done - 1, -1, -1):
                _swap(
                    pairs[2 * i], pairs[2 * i + 1], cell_of, value_of, cell_offsets, keys, slot_offsets, slot_values,
                    caps, held, counts, violators,
                )  # fmt: skip


def record(
    group_of: cython.int[::1],
    places: cython.longlong[::1],
    cell_of: cython.int[::1],
    value_of: cython.int[::1],
    cell_offsets: cython.longlong[::1],
    keys: cython.int[::1],
    slot_offsets: cython.longlong[::1],
    slot_values: cython.int[::1],
    caps: cython.int[::1],
    cell_places: cython.longlong[::1],
    shifts: cython.longlong[::1],
    pair_offsets: cython.longlong[::1],
    most: cython.longlong,
    held: cython.int[::1],
    counts: cython.int[::1],
    violators: cython.int[::1],
    state: cython.ulonglong[::1],
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
    cell: cython.longlong
    p: cython.longlong
    b: cython.longlong
    g: cython.longlong
    i: cython.longlong
    n_partners: cython.longlong
    begin: cython.longlong
    size: cython.longlong
    entry: cython.longlong
    share: cython.double
    with cython.nogil:
        for cell in range(n_cells):
            for i in range(pair_offsets[cell], pair_offsets[cell + 1]):
                shares[i] = 0
            begin = cell_places[cell]
            g = group_of[begin]
            size = places[g + 1] - places[g]
            n_partners = size if size <= most else most
            for p in range(begin, cell_places[cell + 1]):
                for i in range(n_partners):
                    b = places[g] + (i if size <= most else _below(state, size))
                    entry = held[b]
                    if (
                        entry != held[p]
                        and cell_of[b] != cell
                        and not _may_swap(
                            p, b, cell_of, value_of, cell_offsets, keys, slot_offsets, slot_values, caps, held, counts,
                            violators,
                        )
                    ):  # fmt: skip
                        entry = held[p]
                    shares[entry + shifts[cell]] += 1
            for i in range(pair_offsets[cell], pair_offsets[cell + 1]):
                share = shares[i] / (n_partners * (cell_places[cell + 1] - begin))
                sums[i] += share
                squares[i] += share * share


# --- a first world ---------------------------------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _has(
    cell: cython.longlong, key: cython.longlong, cell_offsets: cython.longlong[::1], keys: cython.int[::1]
) -> cython.longlong:
    """Whether a cell is on that side of that cut."""
    i: cython.longlong
    for i in range(cell_offsets[cell], cell_offsets[cell + 1]):
        if keys[i] == key:
            return 1
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _lack(
    cell: cython.longlong,
    cell_offsets: cython.longlong[::1],
    keys: cython.int[::1],
    slot_offsets: cython.longlong[::1],
    caps: cython.int[::1],
    counts: cython.int[::1],
    violators: cython.int[::1],
) -> cython.longlong:
    """How many tuples more the cuts of a cell need, each for the value that is nearest to making it fail."""
    i: cython.longlong
    at: cython.longlong
    cut: cython.longlong
    least: cython.longlong
    total: cython.longlong = 0
    for i in range(cell_offsets[cell], cell_offsets[cell + 1]):
        cut = keys[i] >> 1
        if violators[cut] == 0:
            least = 0x7FFFFFFF
            for at in range(2 * slot_offsets[cut], 2 * slot_offsets[cut + 1]):
                if caps[at] + 1 - counts[at] < least:
                    least = caps[at] + 1 - counts[at]
            total += least
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _list_again(
    cell: cython.longlong,
    n_whole: cython.longlong,
    cell_offsets: cython.longlong[::1],
    keys: cython.int[::1],
    violators: cython.int[::1],
    whole: cython.int[::1],
    where: cython.int[::1],
) -> cython.longlong:
    """Put the cuts of a cell on the list of those that do not fail, or take them off; return its length."""
    i: cython.longlong
    cut: cython.longlong
    for i in range(cell_offsets[cell], cell_offsets[cell + 1]):
        cut = keys[i] >> 1
        if violators[cut] == 0 and where[cut] < 0:
            where[cut] = n_whole
            whole[n_whole] = cut
            n_whole += 1
        elif violators[cut] > 0 and where[cut] >= 0:
            n_whole -= 1
            whole[where[cut]] = whole[n_whole]
            where[whole[n_whole]] = where[cut]
            where[cut] = -1
    return n_whole


def repair(
    group_of: cython.int[::1],
    places: cython.longlong[::1],
    cell_of: cython.int[::1],
    value_of: cython.int[::1],
    cell_offsets: cython.longlong[::1],
    keys: cython.int[::1],
    slot_offsets: cython.longlong[::1],
    slot_values: cython.int[::1],
    caps: cython.int[::1],
    cut_offsets: cython.longlong[::1],
    cut_places: cython.int[::1],
    never: cython.longlong,
    noise: cython.longlong,
    n_tries: cython.longlong,
    n_steps: cython.longlong,
    held: cython.int[::1],
    counts: cython.int[::1],
    violators: cython.int[::1],
    state: cython.ulonglong[::1],
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
    t: cython.longlong
    i: cython.longlong
    a: cython.longlong
    b: cython.longlong
    g: cython.longlong
    cut: cython.longlong
    at: cython.longlong
    target: cython.longlong
    least: cython.longlong
    ties: cython.longlong
    key: cython.longlong
    size: cython.longlong
    start: cython.longlong
    inside: cython.longlong
    found: cython.longlong
    before: cython.longlong
    value: cython.int
    for cut in range(violators.shape[0]):
        where[cut] = -1
        if violators[cut] == 0:
            where[cut] = n_whole
            whole[n_whole] = cut
            n_whole += 1
    with cython.nogil:
        for _ in range(n_steps):
            if n_whole == 0:
                break
            cut = whole[_below(state, n_whole)]
            least = never
            target = -1
            ties = 0
            if _below(state, 256) < noise:
                for at in range(2 * slot_offsets[cut], 2 * slot_offsets[cut + 1]):
                    if caps[at] < never:
                        ties += 1
                        if _below(state, ties) == 0:
                            target = at
            else:
                for at in range(2 * slot_offsets[cut], 2 * slot_offsets[cut + 1]):
                    if caps[at] < never and caps[at] - counts[at] <= least:
                        ties = ties + 1 if caps[at] - counts[at] == least else 1
                        least = caps[at] - counts[at]
                        if _below(state, ties) == 0:
                            target = at
            key = 2 * cut + (target & 1)
            value = slot_values[target >> 1]
            for t in range(n_tries):
                a = cut_places[cut_offsets[cut] + _below(state, cut_offsets[cut + 1] - cut_offsets[cut])]
                inside = _has(cell_of[a], key, cell_offsets, keys)
                if inside == (value_of[held[a]] == value):
                    continue  # is where it should be, or does not have the value
                g = group_of[a]
                size = places[g + 1] - places[g]
                start = _below(state, size)
                found = -1
                for i in range(size):
                    b = places[g] + (start + i) % size
                    if (value_of[held[b]] == value) == inside and _has(cell_of[b], key, cell_offsets, keys) != inside:
                        found = b
                        break
                if found < 0:
                    continue
                before = _lack(cell_of[a], cell_offsets, keys, slot_offsets, caps, counts, violators)
                before += _lack(cell_of[found], cell_offsets, keys, slot_offsets, caps, counts, violators)
                _swap(
                    a, found, cell_of, value_of, cell_offsets, keys, slot_offsets, slot_values, caps, held, counts,
                    violators,
                )  # fmt: skip
                before -= _lack(cell_of[a], cell_offsets, keys, slot_offsets, caps, counts, violators)
                before -= _lack(cell_of[found], cell_offsets, keys, slot_offsets, caps, counts, violators)
                if before >= 0 or (t == n_tries - 1 and _below(state, 256) < noise):
                    n_whole = _list_again(cell_of[a], n_whole, cell_offsets, keys, violators, whole, where)
                    n_whole = _list_again(cell_of[found], n_whole, cell_offsets, keys, violators, whole, where)
                    break
                _swap(
                    a, found, cell_of, value_of, cell_offsets, keys, slot_offsets, slot_values, caps, held, counts,
                    violators,
                )  # fmt: skip
    return n_whole
