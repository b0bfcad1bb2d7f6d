# SPDX-License-Identifier: Apache-2.0
"""Assign and Slice (TRANSPARENT Figures 6 and 8): bare loops over packed tuples, called through `ace_segments`.

A tuple is ``n_words`` words of fields and a last one, its sensitive code and row number (`PackedRows` makes them). Code
``x`` of attribute ``j`` lies in field ``j``, its complement ``top - x`` in field ``d + j``; the highest bit of every
field, its guard, is 0. The fieldwise maximum of some tuples is their bounding box: largest codes in the first ``d``
fields, smallest ones, complemented, in the others. The box of no tuple is all zeros.

``fields`` has a column per field: its word, its shift, its mask, and where its weights begin. ``weights`` holds the
place of every code, and for complemented codes the place with a minus: summed over all fields of a box they are its
width. ``spans`` has a column per word: the bits of its fields, and their guards.

A bucket is stored column after column, each column (tuples of one sensitive value) in tie order. Tuples are moved as
buckets are divided, so that in the end the tuples of a group lie together.
"""

import cython


def plan(
    tuples: cython.ulonglong[::1],
    n_words: cython.longlong,
    offsets: cython.longlong[::1],
    ell: cython.longlong,
    counts: cython.longlong[::1],
    fill: cython.longlong[::1],
    keys: cython.longlong[::1],
    handed: cython.int[::1],
    runs: cython.longlong[::1],
    values: cython.int[::1],
    classes: cython.longlong[::1],
    columns: cython.longlong[::1],
    starts: cython.longlong[::1],
    lengths: cython.int[::1],
    widths: cython.int[::1],
    used: cython.longlong[::1],
) -> None:
    """Decide the buckets of every segment (Figure 6), and how many tuples of each class (segment, value) each one gets.

    Class ``k`` is ``handed[runs[k] : runs[k + 1]]``: for each of its tuples the number of a column of a bucket; its
    value is ``values[k]``, and the classes of segment ``s`` begin at ``classes[s]``. Column ``c`` begins at place
    ``columns[c]``; bucket ``b`` at ``starts[b]``: ``widths[b]`` columns (beta) of ``lengths[b]`` tuples (alpha).
    ``used`` becomes the number of classes, columns and buckets, or minus one each if a segment is not l-eligible.
    ``counts`` and ``fill`` have a place per sensitive code, the former zeros before and after.

    Alpha in closed form. With S tuples left and counts n_1 >= n_2 >= ..., Figure 6 asks for the largest alpha >= 1 with
    (1) alpha <= n_beta, (2) l (n_1 - alpha) <= S - alpha beta, (3) l n_(beta+1) <= S - alpha beta. What is left is
    always l-eligible, l n_1 <= S, for (2) and (3) bound the largest count that remains. (3) says
    alpha <= (S - l n_(beta+1)) / beta, and (2) follows from (1):

    * for beta = l it is eligibility itself;
    * beta = l has no alpha only if l n_(l+1) > S - l. With S = q l + r, r < l, the first T > l counts are then all q,
      and T q <= S gives (T - l) q <= r. For l < beta < T, (3) asks alpha beta <= r < beta: there is none. For beta = T,
      alpha <= q gives alpha (T - l) <= r = S - l n_1, which is (2); and alpha = 1 obeys (3), for
      l n_(T+1) <= l q - l = S - r - l <= S - T. So the search ends there at the latest.
    """
    n_segments: cython.Py_ssize_t = offsets.shape[0] - 1
    s: cython.Py_ssize_t
    p: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    v: cython.Py_ssize_t
    gap: cython.Py_ssize_t
    m: cython.Py_ssize_t
    first: cython.Py_ssize_t
    kept: cython.Py_ssize_t
    to: cython.Py_ssize_t
    n_classes: cython.Py_ssize_t = 0
    n_columns: cython.Py_ssize_t = 0
    n_buckets: cython.Py_ssize_t = 0
    at: cython.longlong = 0
    place: cython.longlong = 0
    left: cython.longlong
    top: cython.longlong
    key: cython.longlong
    alpha: cython.longlong
    beta: cython.longlong
    after: cython.longlong
    bound: cython.longlong
    room: cython.Py_ssize_t = counts.shape[0]
    low: cython.longlong = 0xFFFFFFFF
    with cython.nogil:
        for s in range(n_segments):
            left = offsets[s + 1] - offsets[s]
            top = left
            m = 0
            for p in range(offsets[s], offsets[s + 1]):
                v = tuples[p * (n_words + 1) + n_words] >> 32
                if counts[v] == 0:
                    keys[m] = v
                    m += 1
                counts[v] += 1
            # The most frequent value first; equally frequent ones in the order of their codes (shell sort).
            for i in range(m):
                keys[i] = ((top - counts[keys[i]]) << 32) | keys[i]
            gap = 1
            while gap < m:
                gap = 3 * gap + 1
            while gap > 1:
                gap = gap // 3
                for i in range(gap, m):
                    key = keys[i]
                    j = i
                    while j >= gap and keys[j - gap] > key:
                        keys[j] = keys[j - gap]
                        j -= gap
                    keys[j] = key
            classes[s] = n_classes
            for i in range(m):
                v = keys[i] & low
                keys[i] = v
                values[n_classes] = v
                runs[n_classes] = at
                fill[v] = at
                at += counts[v]
                n_classes += 1
            # keys[first : m] are the values that are left, v_1 first; counts are the n_i.
            first = 0
            while left > 0:
                beta = ell - 1
                alpha = 0
                while alpha < 1 and first + beta < m:
                    beta += 1
                    after = counts[keys[first + beta]] if first + beta < m else 0
                    alpha = counts[keys[first + beta - 1]]
                    bound = (left - ell * after) // beta
                    alpha = bound if bound < alpha else alpha
                if alpha < 1:
                    break
                starts[n_buckets] = place
                lengths[n_buckets] = alpha
                widths[n_buckets] = beta
                n_buckets += 1
                kept = 0
                for i in range(beta):
                    v = keys[first + i]
                    for j in range(fill[v], fill[v] + alpha):
                        handed[j] = n_columns
                    fill[v] += alpha
                    columns[n_columns] = place
                    n_columns += 1
                    place += alpha
                    counts[v] -= alpha
                    if counts[v] > 0:
                        keys[room + kept] = v
                        kept += 1
                left -= alpha * beta
                # Both the values of the bucket and the others are still in order: merge the former into the latter.
                first = first + beta - kept
                to = first
                j = first + kept
                i = 0
                while i < kept:
                    v = keys[room + i]
                    if j < m and (counts[keys[j]] > counts[v] or (counts[keys[j]] == counts[v] and keys[j] < v)):
                        keys[to] = keys[j]
                        j += 1
                    else:
                        keys[to] = v
                        i += 1
                    to += 1
            if left > 0:
                for i in range(first, m):
                    counts[keys[i]] = 0
                n_classes = -1
                n_columns = -1
                n_buckets = -1
                break
        used[0] = n_classes
        used[1] = n_columns
        used[2] = n_buckets
        if n_classes >= 0:
            classes[n_segments] = n_classes
            runs[n_classes] = at


def distribute(
    tuples: cython.ulonglong[::1],
    n_words: cython.longlong,
    offsets: cython.longlong[::1],
    handed: cython.int[::1],
    runs: cython.longlong[::1],
    values: cython.int[::1],
    classes: cython.longlong[::1],
    columns: cython.longlong[::1],
    fill: cython.longlong[::1],
    words: cython.ulonglong[::1],
    placed: cython.int[::1],
) -> None:
    """Hand the tuples to their columns, in tie order, each class by its own list; fields and row numbers come apart.

    ``columns`` is where each column begins, and afterwards where it ends; ``fill`` has a place per sensitive code.
    """
    n_segments: cython.Py_ssize_t = offsets.shape[0] - 1
    stride: cython.Py_ssize_t = n_words + 1
    s: cython.Py_ssize_t
    p: cython.Py_ssize_t
    k: cython.Py_ssize_t
    to: cython.Py_ssize_t
    v: cython.Py_ssize_t
    last: cython.ulonglong
    half: cython.ulonglong = 0xFFFFFFFF
    with cython.nogil:
        for s in range(n_segments):
            for k in range(classes[s], classes[s + 1]):
                fill[values[k]] = runs[k]
            for p in range(offsets[s], offsets[s + 1]):
                last = tuples[p * stride + n_words]
                v = last >> 32
                k = handed[fill[v]]
                fill[v] += 1
                to = columns[k]
                columns[k] = to + 1
                placed[to] = last & half
                for k in range(n_words):
                    words[to * n_words + k] = tuples[p * stride + k]


def slice_buckets(
    words: cython.ulonglong[::1],
    placed: cython.int[::1],
    starts: cython.longlong[::1],
    lengths: cython.int[::1],
    widths: cython.int[::1],
    begin: cython.longlong,
    end: cython.longlong,
    fields: cython.longlong[:, ::1],
    spans: cython.ulonglong[:, ::1],
    weights: cython.longlong[::1],
    n_words: cython.longlong,
    halves: cython.bint,
    dense: cython.longlong,
    short: cython.longlong,
    pairs: cython.longlong,
    spare_words: cython.ulonglong[::1],
    spare: cython.int[::1],
    ranks: cython.int[::1],
    reach: cython.ulonglong[::1],
    tail_widths: cython.longlong[::1],
    keys: cython.longlong[::1],
    counts: cython.int[::1],
    stack: cython.longlong[::1],
    boxes: cython.ulonglong[::1],
) -> None:
    """Divide buckets ``begin .. end - 1`` until every column has one tuple (Figure 8); groups then lie together.

    The division of a bucket is the least (perimeter, attribute, size of the first part); with ``halves`` it is the
    middle, always on the first attribute. A column whose codes spread
    over at most ``dense`` times its length is ordered by counting; others by insertion up to ``short`` tuples, and by
    merging beyond. Columns of two tuples are parted by a shortcut if there are at most ``pairs`` (64 or less) of them.
    ``spare_words`` and ``spare`` have room for the largest bucket and one more tuple, ``ranks`` for twice as many,
    ``reach`` and ``keys`` for twice the longest column, ``counts`` for every code four times.
    """
    with cython.nogil:
        if n_words == 1:
            _slice(
                words, placed, starts, lengths, widths, begin, end, fields, spans, weights, 1, halves, dense,
                short, pairs, spare_words, spare, ranks, reach, tail_widths, keys, counts, stack, boxes,
            )  # fmt: skip
        else:
            _slice(
                words, placed, starts, lengths, widths, begin, end, fields, spans, weights, n_words, halves, dense,
                short, pairs, spare_words, spare, ranks, reach, tail_widths, keys, counts, stack, boxes,
            )  # fmt: skip


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _slice(
    words: cython.ulonglong[::1],
    placed: cython.int[::1],
    starts: cython.longlong[::1],
    lengths: cython.int[::1],
    widths: cython.int[::1],
    begin: cython.longlong,
    end: cython.longlong,
    fields: cython.longlong[:, ::1],
    spans: cython.ulonglong[:, ::1],
    weights: cython.longlong[::1],
    n_words: cython.Py_ssize_t,
    halves: cython.bint,
    dense: cython.longlong,
    short: cython.longlong,
    pairs: cython.longlong,
    spare_words: cython.ulonglong[::1],
    spare: cython.int[::1],
    ranks: cython.int[::1],
    reach: cython.ulonglong[::1],
    tail_widths: cython.longlong[::1],
    keys: cython.longlong[::1],
    counts: cython.int[::1],
    stack: cython.longlong[::1],
    boxes: cython.ulonglong[::1],
) -> cython.void:
    d: cython.Py_ssize_t = fields.shape[1] // 2
    half: cython.Py_ssize_t = ranks.shape[0] // 2
    tail: cython.Py_ssize_t = reach.shape[0] // 2  # where the boxes of what follows a rank begin in `reach`
    found: cython.Py_ssize_t = boxes.shape[0] - 3 * n_words - d  # the boxes of both parts, and a running one
    b: cython.Py_ssize_t
    k: cython.Py_ssize_t
    c: cython.Py_ssize_t
    fours: cython.Py_ssize_t
    t: cython.Py_ssize_t
    r: cython.Py_ssize_t
    s: cython.Py_ssize_t
    m: cython.Py_ssize_t
    x: cython.Py_ssize_t
    at: cython.Py_ssize_t
    to: cython.Py_ssize_t
    left: cython.Py_ssize_t
    right: cython.Py_ssize_t
    dim: cython.Py_ssize_t
    best_dim: cython.Py_ssize_t
    best_size: cython.Py_ssize_t
    depth: cython.Py_ssize_t
    using: cython.Py_ssize_t  # which half of `ranks` the attribute at hand writes to; the other holds the best one's
    second: cython.bint
    swap: cython.Py_ssize_t
    row: cython.int
    low: cython.longlong
    high: cython.longlong
    constant: cython.bint
    changed: cython.bint
    width: cython.longlong
    cost: cython.longlong
    best: cython.longlong
    joined: cython.ulonglong
    for b in range(begin, end):
        x = widths[b]
        if lengths[b] == 1:
            continue
        for k in range(n_words):
            boxes[k] = 0
        for t in range(starts[b], starts[b] + x * lengths[b]):
            for k in range(n_words):
                boxes[k] = _join(boxes[k], words[t * n_words + k], spans[1, k], spans[0, k])
        stack[0] = starts[b]
        stack[1] = lengths[b]
        depth = 1
        while depth > 0:
            depth -= 1
            s = stack[2 * depth]
            m = stack[2 * depth + 1]
            at = depth * n_words
            if halves or _width(boxes, at, fields, weights, d) == 0:
                # All divisions, here and further down, are on the first attribute: groups are the ranks in its order.
                low = fields[2, 0] - _field(boxes, at, fields, d)
                high = _field(boxes, at, fields, 0)
                for c in range(x):
                    _rank(words, s + c * m, m, fields, 0, n_words, low, high, dense, short, counts, keys, ranks, 0)
                    for t in range(m):
                        spare[ranks[t] * x + c] = placed[s + c * m + t]
                for t in range(m * x):
                    placed[s + t] = spare[t]
                continue
            if m == 2 and x <= pairs:
                _part_pairs(words, placed, s, x, fields, spans, weights, n_words, d, boxes, found, spare)
                continue
            constant = False
            best_dim = -1
            best_size = 0
            best = 0
            using = 0
            for dim in range(d):
                low = fields[2, dim] - _field(boxes, at, fields, d + dim)
                high = _field(boxes, at, fields, dim)
                if low == high:
                    # All such attributes have the same divisions, in tie order: the first one's come first.
                    if constant:
                        continue
                    constant = True
                # The box of the tuples at each rank, over all columns.
                for t in range(m * n_words):
                    reach[t] = 0
                fours = 0
                if low < high and high - low < dense * m:
                    while fours + 4 <= x:
                        _rank_four(
                            words, s + fours * m, m, fields, dim, spans, n_words, low, high, counts, ranks,
                            using + fours * m, reach,
                        )  # fmt: skip
                        fours += 4
                for c in range(fours, x):
                    left = s + c * m
                    right = using + c * m
                    _rank(words, left, m, fields, dim, n_words, low, high, dense, short, counts, keys, ranks, right)
                    for t in range(m):
                        to = ranks[right + t] * n_words
                        for k in range(n_words):
                            reach[to + k] = _join(
                                reach[to + k], words[(left + t) * n_words + k], spans[1, k], spans[0, k]
                            )
                # The boxes of all ranks from r on, and their widths.
                width = 0
                for t in range(m - 1, 0, -1):
                    changed = t == m - 1
                    for k in range(n_words):
                        joined = reach[t * n_words + k]
                        if t < m - 1:
                            joined = _join(reach[tail + (t + 1) * n_words + k], joined, spans[1, k], spans[0, k])
                            changed = changed or joined != reach[tail + (t + 1) * n_words + k]
                        reach[tail + t * n_words + k] = joined
                    if changed:
                        width = _width(reach, tail + t * n_words, fields, weights, d)
                    tail_widths[t] = width
                # The first part takes r tuples of every column; the factor x is left out of both costs.
                for k in range(n_words):
                    boxes[found + 2 * n_words + k] = 0
                for r in range(1, m):
                    changed = r == 1
                    for k in range(n_words):
                        joined = _join(
                            boxes[found + 2 * n_words + k], reach[(r - 1) * n_words + k], spans[1, k], spans[0, k]
                        )
                        changed = changed or joined != boxes[found + 2 * n_words + k]
                        boxes[found + 2 * n_words + k] = joined
                    if changed:
                        width = _width(boxes, found + 2 * n_words, fields, weights, d)
                    cost = r * width + (m - r) * tail_widths[r]
                    if best_dim < 0 or cost < best:
                        best = cost
                        best_dim = dim
                        best_size = r
                        for k in range(n_words):
                            boxes[found + k] = boxes[found + 2 * n_words + k]
                            boxes[found + n_words + k] = reach[tail + r * n_words + k]
                if best_dim == dim:
                    using = half - using
            # Move: the first part in place, the second one through the spare room.
            using = half - using
            r = best_size
            left = s
            right = 0
            for t in range(x * m):
                # Both are written and one is kept: no processor could guess which, and `left` never runs ahead.
                to = s + t
                row = placed[to]
                placed[left] = row
                spare[right] = row
                for k in range(n_words):
                    joined = words[to * n_words + k]
                    words[left * n_words + k] = joined
                    spare_words[right * n_words + k] = joined
                swap = ranks[using + t] < r
                left += swap
                right += 1 - swap
            for t in range(right):
                placed[left + t] = spare[t]
            for t in range(right * n_words):
                words[left * n_words + t] = spare_words[t]
            # The longer part waits below the shorter one, so that few wait at any time. One tuple a column is a group.
            for t in range(2):
                second = (t == 0) == (2 * r <= m)
                to = m - r if second else r
                if to > 1:
                    stack[2 * depth] = s + x * r if second else s
                    stack[2 * depth + 1] = to
                    for k in range(n_words):
                        boxes[depth * n_words + k] = boxes[found + n_words + k] if second else boxes[found + k]
                    depth += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _part_pairs(
    words: cython.ulonglong[::1],
    placed: cython.int[::1],
    s: cython.Py_ssize_t,
    x: cython.Py_ssize_t,
    fields: cython.longlong[:, ::1],
    spans: cython.ulonglong[:, ::1],
    weights: cython.longlong[::1],
    n_words: cython.Py_ssize_t,
    d: cython.Py_ssize_t,
    boxes: cython.ulonglong[::1],
    found: cython.Py_ssize_t,
    spare: cython.int[::1],
) -> cython.void:
    """Divide a bucket of two tuples a column, at most 64 columns, into its two groups.

    A division is a pattern, a bit per column: whether the second tuple comes first. A pattern and its opposite have the
    same parts and cost, so each is looked at once, on the first attribute that gives it.
    """
    dim: cython.Py_ssize_t
    c: cython.Py_ssize_t
    k: cython.Py_ssize_t
    n_seen: cython.Py_ssize_t = 0
    seen: cython.Py_ssize_t = boxes.shape[0] - d
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
    cost: cython.longlong
    best: cython.longlong = 0
    for dim in range(d):
        first = s * n_words + fields[0, dim]
        shift = fields[1, dim]
        mask = fields[2, dim]
        pattern = 0
        for c in range(x):
            turned = ((words[first + n_words] >> shift) & mask) < ((words[first] >> shift) & mask)
            pattern |= turned << c
            first += 2 * n_words
        if pattern & 1:
            pattern = full ^ pattern
        k = 0
        while k < n_seen and boxes[seen + k] != pattern:
            k += 1
        if k < n_seen:
            continue
        boxes[seen + n_seen] = pattern
        n_seen += 1
        for k in range(n_words):
            a = 0
            b = 0
            first = s * n_words + k
            for c in range(x):
                u = words[first]
                v = words[first + n_words]
                turned = (u ^ v) & (zero - ((pattern >> c) & one))
                a = _join(a, u ^ turned, spans[1, k], spans[0, k])
                b = _join(b, v ^ turned, spans[1, k], spans[0, k])
                first += 2 * n_words
            boxes[found + k] = a
            boxes[found + n_words + k] = b
        cost = _width(boxes, found, fields, weights, d) + _width(boxes, found + n_words, fields, weights, d)
        if n_seen == 1 or cost < best:
            best = cost
            best_pattern = pattern
    for c in range(x):
        k = (best_pattern >> c) & 1
        spare[c] = placed[s + 2 * c + k]
        spare[x + c] = placed[s + 2 * c + 1 - k]
    for c in range(2 * x):
        placed[s + c] = spare[c]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _join(
    a: cython.ulonglong, b: cython.ulonglong, guards: cython.ulonglong, bits: cython.ulonglong
) -> cython.ulonglong:
    """The fieldwise maximum: a guard survives the subtraction where a >= b, and is spread over its field."""
    kept: cython.ulonglong = ((a | guards) - b) & guards
    kept = kept - (kept >> (bits - 1))
    return b ^ ((a ^ b) & kept)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _field(
    boxes: cython.ulonglong[::1],
    at: cython.Py_ssize_t,
    fields: cython.longlong[:, ::1],
    field: cython.Py_ssize_t,
) -> cython.longlong:
    return (boxes[at + fields[0, field]] >> fields[1, field]) & fields[2, field]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _width(
    boxes: cython.ulonglong[::1],
    at: cython.Py_ssize_t,
    fields: cython.longlong[:, ::1],
    weights: cython.longlong[::1],
    d: cython.Py_ssize_t,
) -> cython.longlong:
    """The sum of a box's widths, each in places."""
    total: cython.longlong = 0
    field: cython.Py_ssize_t
    for field in range(2 * d):
        total = total + weights[fields[3, field] + _field(boxes, at, fields, field)]
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _rank_four(
    words: cython.ulonglong[::1],
    start: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    fields: cython.longlong[:, ::1],
    dim: cython.Py_ssize_t,
    spans: cython.ulonglong[:, ::1],
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
    t: cython.Py_ssize_t
    c: cython.Py_ssize_t
    k: cython.Py_ssize_t
    at: cython.Py_ssize_t
    rank: cython.Py_ssize_t
    count: cython.int
    before_0: cython.int = 0
    before_1: cython.int = 0
    before_2: cython.int = 0
    before_3: cython.int = 0
    code: cython.longlong
    mask: cython.ulonglong = fields[2, dim]
    shift: cython.longlong = fields[1, dim]
    word: cython.Py_ssize_t = start * n_words + fields[0, dim]
    bits: cython.ulonglong = spans[0, 0]
    guards: cython.ulonglong = spans[1, 0]
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
            if n_words == 1:
                reach[rank] = _join(reach[rank], words[at], guards, bits)
            else:
                for k in range(n_words):
                    reach[rank + k] = _join(reach[rank + k], words[at + k], spans[1, k], spans[0, k])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _rank(
    words: cython.ulonglong[::1],
    start: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    fields: cython.longlong[:, ::1],
    dim: cython.Py_ssize_t,
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
    """The rank of each of a column's ``m`` tuples by code of ``dim``, then tie order, into ``ranks[to:]``."""
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t = 0
    a: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    middle: cython.Py_ssize_t
    length: cython.Py_ssize_t
    source: cython.Py_ssize_t
    target: cython.Py_ssize_t
    before: cython.int
    count: cython.int
    code: cython.longlong
    key: cython.longlong
    mask: cython.ulonglong = fields[2, dim]
    last: cython.longlong = 0xFFFFFFFF
    shift: cython.longlong = fields[1, dim]
    word: cython.Py_ssize_t = start * n_words + fields[0, dim]
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
    b: cython.Py_ssize_t
    g: cython.Py_ssize_t
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
