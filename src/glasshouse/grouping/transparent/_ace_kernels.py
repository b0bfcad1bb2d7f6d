# SPDX-License-Identifier: Apache-2.0
"""Slice (TRANSPARENT Figure 8): bare loops over packed tuples, called through `ace_segments`.

How tuples and boxes are packed, and what the arrays are that say so: see `glasshouse.kernels._packed_kernels`. A bucket
is stored column after column, each column (tuples of one sensitive value) in tie order. Tuples are moved as buckets are
divided, so that in the end the tuples of a group lie together.
"""

import cython

if cython.compiled:
    from cython.cimports.glasshouse.kernels._packed_kernels import join, width
else:
    from glasshouse.kernels._packed_kernels import join, width


@cython.final
@cython.cclass
class Slicing:
    """What one thread slices buckets with; the buckets are everybody's.

    Bucket ``b`` begins at ``starts[b]``: ``widths[b]`` columns of ``lengths[b]`` tuples. A column whose codes spread
    over at most ``dense`` times its length is ordered by counting; others by insertion up to ``short`` tuples, and by
    merging beyond. Columns of two tuples are parted by a shortcut if there are at most ``pairs`` (64 or less) of them.
    ``spare_words`` and ``spare`` have room for the largest bucket and one more tuple, ``ranks`` for twice as many,
    ``reach`` and ``keys`` for twice the longest column, ``counts`` for every code four times. ``boxes`` are those of
    the buckets on the ``stack``, of both parts of a division, a running one, and a number per attribute.
    """

    words: cython.ulonglong[::1]
    placed: cython.int[::1]
    starts: cython.longlong[::1]
    lengths: cython.int[::1]
    widths: cython.int[::1]
    word: cython.longlong[::1]
    shift: cython.longlong[::1]
    top: cython.longlong[::1]
    slot: cython.longlong[::1]
    bits: cython.ulonglong[::1]
    guards: cython.ulonglong[::1]
    places: cython.longlong[::1]
    spare_words: cython.ulonglong[::1]
    spare: cython.int[::1]
    ranks: cython.int[::1]
    reach: cython.ulonglong[::1]
    tail_widths: cython.longlong[::1]
    keys: cython.longlong[::1]
    counts: cython.int[::1]
    stack: cython.longlong[::1]
    boxes: cython.ulonglong[::1]
    halves: cython.bint
    dense: cython.longlong
    short: cython.longlong
    pairs: cython.longlong
    d: cython.Py_ssize_t
    best_cost: cython.longlong
    best_size: cython.Py_ssize_t  # tuples of every column in the first part; 0 where nothing was found yet

    def __init__(self, *state):
        (
            self.words, self.placed, self.starts, self.lengths, self.widths, self.word, self.shift, self.top, self.slot,
            self.bits, self.guards, self.places, self.spare_words, self.spare, self.ranks, self.reach,
            self.tail_widths, self.keys, self.counts, self.stack, self.boxes, self.halves, self.dense, self.short,
            self.pairs,
        ) = state  # fmt: skip
        self.d = len(self.word) - 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def width(self, a: cython.Py_ssize_t) -> cython.longlong:
        """The sum of the widths of box ``a``."""
        return width(self.boxes, a, self.d, self.word, self.shift, self.top, self.slot, self.places)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def high(self, a: cython.Py_ssize_t, dim: cython.Py_ssize_t) -> cython.longlong:
        """The largest code of box ``a`` on an attribute."""
        return (self.boxes[a + self.word[dim]] >> self.shift[dim]) & self.top[dim]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def low(self, a: cython.Py_ssize_t, dim: cython.Py_ssize_t) -> cython.longlong:
        """The smallest code of box ``a`` on an attribute."""
        return self.top[dim] - ((self.boxes[a + self.word[dim]] >> (self.shift[dim] + 32)) & self.top[dim])


def slice_buckets(slicing: Slicing, begin: cython.longlong, end: cython.longlong) -> None:
    """Divide buckets ``begin .. end - 1`` until every column has one tuple (Figure 8); groups then lie together.

    The division of a bucket is the least (perimeter, attribute, size of the first part); with ``halves`` it is the
    middle, always on the first attribute.
    """
    with cython.nogil:
        if slicing.bits.shape[0] == 1:  # the same as below, for a compiler that then knows it
            _slice(slicing, begin, end, 1)
        else:
            _slice(slicing, begin, end, slicing.bits.shape[0])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _slice(slicing: Slicing, begin: cython.longlong, end: cython.longlong, n_words: cython.Py_ssize_t) -> cython.void:
    half: cython.Py_ssize_t = slicing.ranks.shape[0] // 2
    found: cython.Py_ssize_t = slicing.boxes.shape[0] - 3 * n_words - slicing.d  # the boxes of both parts
    x: cython.Py_ssize_t
    s: cython.Py_ssize_t
    m: cython.Py_ssize_t
    r: cython.Py_ssize_t
    depth: cython.Py_ssize_t
    using: cython.Py_ssize_t  # which half of `ranks` the attribute at hand writes to; the other holds the best one's
    second: cython.bint
    for b in range(begin, end):
        x = slicing.widths[b]
        if slicing.lengths[b] == 1:
            continue
        for k in range(n_words):
            slicing.boxes[k] = 0
        for t in range(slicing.starts[b], slicing.starts[b] + x * slicing.lengths[b]):
            for k in range(n_words):
                slicing.boxes[k] = join(
                    slicing.boxes[k], slicing.words[t * n_words + k], slicing.guards[k], slicing.bits[k]
                )
        slicing.stack[0] = slicing.starts[b]
        slicing.stack[1] = slicing.lengths[b]
        depth = 1
        while depth > 0:
            depth -= 1
            s = slicing.stack[2 * depth]
            m = slicing.stack[2 * depth + 1]
            at = depth * n_words
            if slicing.halves or slicing.width(at) == 0:
                _by_rank(slicing, s, m, x, slicing.low(at, 0), slicing.high(at, 0), n_words)
                continue
            if m == 2 and x <= slicing.pairs:
                _part_pairs(slicing, s, x, n_words)
                continue
            constant = False
            slicing.best_size = 0
            using = 0
            for dim in range(slicing.d):
                low = slicing.low(at, dim)
                high = slicing.high(at, dim)
                if low == high:
                    # All such attributes have the same divisions, in tie order: the first one's come first.
                    if constant:
                        continue
                    constant = True
                _reach_ranks(slicing, s, m, x, dim, low, high, using, n_words)
                if _find_division(slicing, m, n_words, found):
                    using = half - using
            r = slicing.best_size
            _move(
                slicing.words, slicing.placed, slicing.spare_words, slicing.spare, slicing.ranks, half - using, s,
                x * m, r, n_words,
            )  # fmt: skip
            # The longer part waits below the shorter one, so that few wait at any time. One tuple a column is a group.
            for t in range(2):
                second = (t == 0) == (2 * r <= m)
                to = m - r if second else r
                if to > 1:
                    slicing.stack[2 * depth] = s + x * r if second else s
                    slicing.stack[2 * depth + 1] = to
                    for k in range(n_words):
                        slicing.boxes[depth * n_words + k] = slicing.boxes[found + (n_words if second else 0) + k]
                    depth += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _by_rank(
    slicing: Slicing,
    s: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    x: cython.Py_ssize_t,
    low: cython.longlong,
    high: cython.longlong,
    n_words: cython.Py_ssize_t,
) -> cython.void:
    """Divide a bucket all of whose divisions are on the first attribute: groups are the ranks in its order."""
    for c in range(x):
        _rank(
            slicing.words, s + c * m, m, slicing.word[0], slicing.shift[0], slicing.top[0], n_words, low, high,
            slicing.dense, slicing.short, slicing.counts, slicing.keys, slicing.ranks, 0,
        )  # fmt: skip
        for t in range(m):
            slicing.spare[slicing.ranks[t] * x + c] = slicing.placed[s + c * m + t]
    for t in range(m * x):
        slicing.placed[s + t] = slicing.spare[t]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _reach_ranks(
    slicing: Slicing,
    s: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    x: cython.Py_ssize_t,
    dim: cython.Py_ssize_t,
    low: cython.longlong,
    high: cython.longlong,
    using: cython.Py_ssize_t,
    n_words: cython.Py_ssize_t,
) -> cython.void:
    """The ranks of all tuples, and in ``reach`` the box of the tuples at each rank, over all columns."""
    fours: cython.Py_ssize_t = 0
    for t in range(m * n_words):
        slicing.reach[t] = 0
    if low < high and high - low < slicing.dense * m:
        while fours + 4 <= x:
            _rank_four(
                slicing.words, s + fours * m, m, slicing.word[dim], slicing.shift[dim], slicing.top[dim], slicing.bits,
                slicing.guards, n_words, low, high, slicing.counts, slicing.ranks, using + fours * m, slicing.reach,
            )  # fmt: skip
            fours += 4
    for c in range(fours, x):
        _rank(
            slicing.words, s + c * m, m, slicing.word[dim], slicing.shift[dim], slicing.top[dim], n_words, low, high,
            slicing.dense, slicing.short, slicing.counts, slicing.keys, slicing.ranks, using + c * m,
        )  # fmt: skip
        _join_ranks(
            slicing.words, (s + c * m) * n_words, slicing.ranks, using + c * m, m, slicing.bits, slicing.guards,
            n_words, slicing.reach,
        )  # fmt: skip


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _join_ranks(
    words: cython.ulonglong[::1],
    a: cython.Py_ssize_t,
    ranks: cython.int[::1],
    b: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    bits: cython.ulonglong[::1],
    guards: cython.ulonglong[::1],
    n_words: cython.Py_ssize_t,
    reach: cython.ulonglong[::1],
) -> cython.void:
    """Join each tuple of a column to the box of its rank."""
    for t in range(m):
        to = ranks[b + t] * n_words
        for k in range(n_words):
            reach[to + k] = join(reach[to + k], words[a + t * n_words + k], guards[k], bits[k])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _find_division(
    slicing: Slicing, m: cython.Py_ssize_t, n_words: cython.Py_ssize_t, found: cython.Py_ssize_t
) -> cython.bint:
    """Keep the cheapest division by rank if it is cheaper than the best so far; whether it is.

    The first part takes r tuples of every column; how many columns there are is left out of all costs.
    """
    tail: cython.Py_ssize_t = slicing.reach.shape[0] // 2  # where the boxes of what follows a rank begin in `reach`
    running: cython.Py_ssize_t = found + 2 * n_words
    width_: cython.longlong = 0
    joined: cython.ulonglong
    changed: cython.bint
    better: cython.bint = False
    # The boxes of all ranks from r on, and their widths.
    for t in range(m - 1, 0, -1):
        changed = t == m - 1
        for k in range(n_words):
            joined = slicing.reach[t * n_words + k]
            if t < m - 1:
                joined = join(slicing.reach[tail + (t + 1) * n_words + k], joined, slicing.guards[k], slicing.bits[k])
                changed = changed or joined != slicing.reach[tail + (t + 1) * n_words + k]
            slicing.reach[tail + t * n_words + k] = joined
        if changed:
            width_ = width(
                slicing.reach, tail + t * n_words, slicing.d, slicing.word, slicing.shift, slicing.top, slicing.slot,
                slicing.places,
            )  # fmt: skip
        slicing.tail_widths[t] = width_
    for k in range(n_words):
        slicing.boxes[running + k] = 0
    for r in range(1, m):
        changed = r == 1
        for k in range(n_words):
            joined = join(
                slicing.boxes[running + k], slicing.reach[(r - 1) * n_words + k], slicing.guards[k], slicing.bits[k]
            )
            changed = changed or joined != slicing.boxes[running + k]
            slicing.boxes[running + k] = joined
        if changed:
            width_ = slicing.width(running)
        cost = r * width_ + (m - r) * slicing.tail_widths[r]
        if slicing.best_size == 0 or cost < slicing.best_cost:
            better = True
            slicing.best_cost = cost
            slicing.best_size = r
            for k in range(n_words):
                slicing.boxes[found + k] = slicing.boxes[running + k]
                slicing.boxes[found + n_words + k] = slicing.reach[tail + r * n_words + k]
    return better


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _move(
    words: cython.ulonglong[::1],
    placed: cython.int[::1],
    spare_words: cython.ulonglong[::1],
    spare: cython.int[::1],
    ranks: cython.int[::1],
    using: cython.Py_ssize_t,
    s: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    r: cython.Py_ssize_t,
    n_words: cython.Py_ssize_t,
) -> cython.void:
    """Move the tuples of ranks below ``r`` to the front in place, and the others through the spare room."""
    left: cython.Py_ssize_t = s
    right: cython.Py_ssize_t = 0
    first: cython.Py_ssize_t
    for t in range(n):
        # Both are written and one is kept: no processor could guess which, and `left` never runs ahead.
        row = placed[s + t]
        placed[left] = row
        spare[right] = row
        for k in range(n_words):
            word = words[(s + t) * n_words + k]
            words[left * n_words + k] = word
            spare_words[right * n_words + k] = word
        first = ranks[using + t] < r
        left += first
        right += 1 - first
    for t in range(right):
        placed[left + t] = spare[t]
    for t in range(right * n_words):
        words[left * n_words + t] = spare_words[t]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _part_pairs(
    slicing: Slicing, s: cython.Py_ssize_t, x: cython.Py_ssize_t, n_words: cython.Py_ssize_t
) -> cython.void:
    """Divide a bucket of two tuples a column, at most 64 columns, into its two groups.

    A division is a pattern, a bit per column: whether the second tuple comes first. A pattern and its opposite have the
    same parts and cost, so each is looked at once, on the first attribute that gives it.
    """
    c: cython.Py_ssize_t
    k: cython.Py_ssize_t
    n_seen: cython.Py_ssize_t = 0
    seen: cython.Py_ssize_t = slicing.boxes.shape[0] - slicing.d
    found: cython.Py_ssize_t = seen - 3 * n_words
    first: cython.Py_ssize_t
    mask: cython.longlong
    shift: cython.longlong
    one: cython.ulonglong = 1
    zero: cython.ulonglong = 0
    full: cython.ulonglong = (one << (x - 1)) - 1 + (one << (x - 1))
    turned: cython.ulonglong
    pattern: cython.ulonglong
    best_pattern: cython.ulonglong = 0
    u: cython.ulonglong
    v: cython.ulonglong
    a: cython.ulonglong
    b: cython.ulonglong
    best: cython.longlong = 0
    for dim in range(slicing.d):
        first = s * n_words + slicing.word[dim]
        shift = slicing.shift[dim]
        mask = slicing.top[dim]
        pattern = 0
        for c in range(x):
            turned = ((slicing.words[first + n_words] >> shift) & mask) < ((slicing.words[first] >> shift) & mask)
            pattern |= turned << c
            first += 2 * n_words
        if pattern & 1:
            pattern = full ^ pattern
        k = 0
        while k < n_seen and slicing.boxes[seen + k] != pattern:
            k += 1
        if k < n_seen:
            continue
        slicing.boxes[seen + n_seen] = pattern
        n_seen += 1
        for k in range(n_words):
            a = 0
            b = 0
            first = s * n_words + k
            for c in range(x):
                u = slicing.words[first]
                v = slicing.words[first + n_words]
                turned = (u ^ v) & (zero - ((pattern >> c) & one))
                a = join(a, u ^ turned, slicing.guards[k], slicing.bits[k])
                b = join(b, v ^ turned, slicing.guards[k], slicing.bits[k])
                first += 2 * n_words
            slicing.boxes[found + k] = a
            slicing.boxes[found + n_words + k] = b
        cost = slicing.width(found) + slicing.width(found + n_words)
        if n_seen == 1 or cost < best:
            best = cost
            best_pattern = pattern
    for c in range(x):
        k = (best_pattern >> c) & 1
        slicing.spare[c] = slicing.placed[s + 2 * c + k]
        slicing.spare[x + c] = slicing.placed[s + 2 * c + 1 - k]
    for c in range(2 * x):
        slicing.placed[s + c] = slicing.spare[c]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _rank_four(
    words: cython.ulonglong[::1],
    start: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    word: cython.Py_ssize_t,
    shift: cython.longlong,
    mask: cython.ulonglong,
    bits: cython.ulonglong[::1],
    guards: cython.ulonglong[::1],
    n_words: cython.Py_ssize_t,
    low: cython.longlong,
    high: cython.longlong,
    counts: cython.int[::1],
    ranks: cython.int[::1],
    to: cython.Py_ssize_t,
    reach: cython.ulonglong[::1],
) -> cython.void:
    """Rank four columns by counting, and join each tuple to the box of its rank.

    Four at a time, for a count can be raised again only after it was written: four of them wait together.
    """
    c: cython.Py_ssize_t
    at: cython.Py_ssize_t
    before_0: cython.int = 0
    before_1: cython.int = 0
    before_2: cython.int = 0
    before_3: cython.int = 0
    code: cython.longlong
    word += start * n_words
    for t in range(4 * (high - low + 1)):
        counts[t] = 0
    for t in range(m):
        for c in range(4):
            code = (words[word + (c * m + t) * n_words] >> shift) & mask
            counts[4 * (code - low) + c] += 1
    for t in range(high - low + 1):
        count = counts[4 * t]
        counts[4 * t] = before_0
        before_0 = before_0 + count
        count = counts[4 * t + 1]
        counts[4 * t + 1] = before_1
        before_1 = before_1 + count
        count = counts[4 * t + 2]
        counts[4 * t + 2] = before_2
        before_2 = before_2 + count
        count = counts[4 * t + 3]
        counts[4 * t + 3] = before_3
        before_3 = before_3 + count
    for t in range(m):
        for c in range(4):
            code = (words[word + (c * m + t) * n_words] >> shift) & mask
            at = 4 * (code - low) + c
            rank = counts[at]
            counts[at] = rank + 1
            ranks[to + c * m + t] = rank
            at = (start + c * m + t) * n_words
            rank = rank * n_words
            for k in range(n_words):
                reach[rank + k] = join(reach[rank + k], words[at + k], guards[k], bits[k])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _rank(
    words: cython.ulonglong[::1],
    start: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    word: cython.Py_ssize_t,
    shift: cython.longlong,
    mask: cython.ulonglong,
    n_words: cython.Py_ssize_t,
    low: cython.longlong,
    high: cython.longlong,
    dense: cython.longlong,
    short: cython.longlong,
    counts: cython.int[::1],
    keys: cython.longlong[::1],
    ranks: cython.int[::1],
    to: cython.Py_ssize_t,
) -> cython.void:
    """The rank of each of a column's ``m`` tuples by code, then tie order, into ``ranks[to:]``."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t = 0
    length: cython.Py_ssize_t
    before: cython.int
    code: cython.longlong
    key: cython.longlong
    last: cython.longlong = 0xFFFFFFFF
    word += start * n_words
    if low == high:
        for t in range(m):
            ranks[to + t] = t
        return
    if high - low == 1:
        # Two codes: the tuples with the lower one come first. Nothing but the number of higher ones is remembered.
        i = m
        for t in range(m):
            code = (words[word + t * n_words] >> shift) & mask
            i -= code - low
        for t in range(m):
            code = ((words[word + t * n_words] >> shift) & mask) - low
            ranks[to + t] = i if code else t - j
            i += code
            j += code
        return
    if high - low < dense * m:
        for t in range(high - low + 1):
            counts[t] = 0
        for t in range(m):
            code = (words[word + t * n_words] >> shift) & mask
            counts[code - low] += 1
        before = 0
        for t in range(high - low + 1):
            count = counts[t]
            counts[t] = before
            before = before + count
        for t in range(m):
            code = (words[word + t * n_words] >> shift) & mask
            ranks[to + t] = counts[code - low]
            counts[code - low] += 1
        return
    if m <= short:
        for t in range(m):
            code = (words[word + t * n_words] >> shift) & mask
            key = (code << 32) | t
            i = t
            while i > 0 and keys[i - 1] > key:
                keys[i] = keys[i - 1]
                i -= 1
            keys[i] = key
        for t in range(m):
            ranks[to + (keys[t] & last)] = t
        return
    for t in range(m):
        code = (words[word + t * n_words] >> shift) & mask
        keys[t] = (code << 32) | t
    length = 1
    source = 0
    target = m
    while length < m:
        a = 0
        while a < m:
            middle = a + length if a + length < m else m
            stop = middle + length if middle + length < m else m
            i = a
            j = middle
            for t in range(a, stop):
                if j == stop or (i < middle and keys[source + i] < keys[source + j]):
                    keys[target + t] = keys[source + i]
                    i += 1
                else:
                    keys[target + t] = keys[source + j]
                    j += 1
            a = stop
        length = 2 * length
        source = m - source
        target = m - target
    for t in range(m):
        ranks[to + (keys[source + t] & last)] = t


def label(
    placed: cython.int[::1],
    lengths: cython.int[::1],
    widths: cython.int[::1],
    labels: cython.int[::1],
) -> None:
    """Number the groups of all buckets, and label their tuples: bucket ``b`` has ``lengths[b]`` groups."""
    k: cython.Py_ssize_t
    at: cython.Py_ssize_t = 0
    number: cython.Py_ssize_t = 0
    n: cython.Py_ssize_t = lengths.shape[0]
    with cython.nogil:
        for b in range(n):
            for g in range(number, number + lengths[b]):
                for k in range(widths[b]):
                    labels[placed[at + k]] = g
                at += widths[b]
            number += lengths[b]
