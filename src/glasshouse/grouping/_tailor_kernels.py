# SPDX-License-Identifier: Apache-2.0
"""Canonical l-cuts (TRANSPARENT Definitions 9 and 10): bare loops over packed tuples, called through `PackedRows`.

A tuple is ``words`` 64-bit words of fields, and one more word: its sensitive code (upper half) and its row number. An
attribute's code ``x`` is a field in the lower half of its word; ``top - x``, its complement, lies 32 bits higher; the
highest bit of every field is 0. The fieldwise maximum of some tuples is their *box*: largest codes below, complements
of the smallest above. The box of no tuple is all zeros. With ``guard`` the highest bits of all fields of a word,
``((a | guard) - b) & guard`` keeps the guards of those fields in which ``a`` is at least ``b``.

Tables that all functions share:

* ``layout``, a column per attribute: its word, the shift of its field, ``top``, and the *slot* of its code 0; in one
  more column the number of all slots, N: a slot is a place for a code of an attribute;
* ``fields``, a column per word: the bits of its fields, and its guards;
* ``limits``: l, words, attributes, sensitive values, and the `Thresholds`: dense, crowd, far, near, small;
* ``places``: per slot, the place of its code (`weighted_places`);
* ``numbers`` (rows of N): size of the block of equal codes; then, for the t-th code that occurs in the node: its slot,
  tuples before its block, width of what lies before it, width of what lies from it on; then a few numbers: codes that
  occur per attribute, and the odometer of cells: smallest code, largest code, stride, current code;
* ``boxes``: N boxes of blocks, N of what lies before the t-th block, N of what lies from it on, then a few single ones;
* ``best``: cost, attribute, k, slot of the t-th code, ties: the best cut so far.

Sizes and boxes of blocks, histograms and counts of cells are zeros before and after every node.
"""

import cython

if cython.compiled:
    from cython.cimports.glasshouse.kernels._sorting_kernels import sort_codes
else:
    from glasshouse.kernels._sorting_kernels import sort_codes


def divide_nodes(
    rows: cython.ulonglong[::1],
    spare: cython.ulonglong[::1],
    close: cython.ulonglong[::1],
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    frames: cython.ulonglong[::1],
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    fields: cython.ulonglong[:, ::1],
    places: cython.longlong[::1],
    histogram: cython.longlong[::1],
    tally: cython.longlong[::1],
    cells: cython.int[::1],
    codes: cython.int[::1],
    numbers: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
    changes: cython.longlong[:, ::1],
    best: cython.longlong[::1],
    stack: cython.longlong[:, ::1],
    waiting: cython.ulonglong[::1],
    leaves: cython.longlong[:, ::1],
    parts: cython.longlong[:, ::1],
    part_frames: cython.ulonglong[::1],
    made: cython.longlong[::1],
) -> None:
    """Make the canonical l-cut of every node; nodes of at most ``small`` tuples are divided until only leaves are left.

    A node's frame is any box that contains it. ``leaves`` and ``parts`` (starts, stops) receive what becomes of the
    nodes, ``made`` how many of each; ``parts`` may be cut further. ``spare`` is as long as ``rows``, ``close`` half as
    long as a small node, ``stack`` and ``waiting`` hold a few dozen nodes and their frames.
    """
    words: cython.Py_ssize_t = limits[1]
    d: cython.Py_ssize_t = limits[2]
    small: cython.longlong = limits[8]
    single: cython.Py_ssize_t = 3 * layout[3, d] * words  # where the single boxes begin
    g: cython.Py_ssize_t
    q: cython.Py_ssize_t
    j: cython.Py_ssize_t
    depth: cython.Py_ssize_t
    side: cython.Py_ssize_t
    start: cython.longlong
    stop: cython.longlong
    middle: cython.longlong
    m: cython.longlong
    least: cython.longlong
    with cython.nogil:
        made[0] = 0
        made[1] = 0
        for g in range(starts.shape[0]):
            stack[0, 0] = starts[g]
            stack[1, 0] = stops[g]
            for q in range(words):
                waiting[q] = frames[g * words + q]
            depth = 1
            while depth > 0:
                depth -= 1
                start = stack[0, depth]
                stop = stack[1, depth]
                m = stop - start
                least = m
                if m >= 2 * limits[0]:
                    least = limits[0] * largest_count(rows, start, stop, limits, histogram)
                if m < 2 * least:
                    leaves[0, made[0]] = start
                    leaves[1, made[0]] = stop
                    made[0] += 1
                    continue
                for q in range(words):
                    boxes[single + q] = waiting[depth * words + q]
                collect_blocks(rows, start, stop, limits, layout, fields, cells, codes, numbers, boxes)
                sweep_blocks(0, m, least, limits, layout, fields, places, numbers, boxes, best)
                if width(boxes, single + words, d, layout, places) == 0:
                    if numbers[5, 0] == 1:  # all cuts cost nothing: tie order decides, again and again
                        peel(
                            rows,
                            start,
                            stop,
                            limits,
                            histogram,
                            tally,
                            boxes,
                            single + words,
                            leaves,
                            parts,
                            part_frames,
                            made,
                        )
                        forget_blocks(limits, layout, numbers, boxes)
                        continue
                    first_cut(least, layout, numbers, best)
                else:
                    best[0] = -1
                    try_borders(0, m, least, layout, numbers, best)
                    for j in range(1, d):
                        sweep_blocks(j, m, least, limits, layout, fields, places, numbers, boxes, best)
                        try_borders(j, m, least, layout, numbers, best)
                    for j in range(d):
                        if numbers[5, j] > 1 or is_first_single(j, numbers):
                            try_insides(
                                rows,
                                start,
                                stop,
                                least,
                                j,
                                limits,
                                layout,
                                fields,
                                places,
                                numbers,
                                boxes,
                                changes,
                                best,
                            )
                middle = start + best[2]
                frame_sides(limits, layout, fields, numbers, boxes, best)
                if m <= small:
                    split(rows, start, stop, limits, layout, numbers, best, close, 0)
                else:
                    split(rows, start, stop, limits, layout, numbers, best, spare, start * (words + 1))
                forget_blocks(limits, layout, numbers, boxes)
                for j in range(2):  # the larger part waits: so the stack stays low
                    side = j if middle - start > stop - middle else 1 - j
                    least = middle - start if side == 0 else stop - middle
                    if least > small:
                        parts[0, made[1]] = start if side == 0 else middle
                        parts[1, made[1]] = middle if side == 0 else stop
                        for q in range(words):
                            part_frames[made[1] * words + q] = boxes[single + (2 + side) * words + q]
                        made[1] += 1
                    else:
                        stack[0, depth] = start if side == 0 else middle
                        stack[1, depth] = middle if side == 0 else stop
                        for q in range(words):
                            waiting[depth * words + q] = boxes[single + (2 + side) * words + q]
                        depth += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def largest_count(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    limits: cython.longlong[::1],
    histogram: cython.longlong[::1],
) -> cython.longlong:
    """How many tuples of a node have its most frequent sensitive value."""
    stride: cython.Py_ssize_t = limits[1] + 1
    i: cython.Py_ssize_t
    x: cython.Py_ssize_t
    largest: cython.longlong = 0
    if limits[3] <= stop - start:
        for i in range(start, stop):
            histogram[rows[i * stride + stride - 1] >> 32] += 1
        for x in range(limits[3]):
            largest = histogram[x] if histogram[x] > largest else largest
            histogram[x] = 0
        return largest
    for i in range(start, stop):
        x = rows[i * stride + stride - 1] >> 32
        histogram[x] += 1
        largest = histogram[x] if histogram[x] > largest else largest
    for i in range(start, stop):
        histogram[rows[i * stride + stride - 1] >> 32] = 0
    return largest


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def extend(
    boxes: cython.ulonglong[::1],
    a: cython.Py_ssize_t,
    others: cython.ulonglong[::1],
    b: cython.Py_ssize_t,
    words: cython.Py_ssize_t,
    fields: cython.ulonglong[:, ::1],
) -> cython.void:
    """Extend a box by another box or tuple."""
    q: cython.Py_ssize_t
    one: cython.ulonglong = 1
    guard: cython.ulonglong
    kept: cython.ulonglong
    mask: cython.ulonglong
    for q in range(words):
        guard = fields[1, q]
        kept = ((boxes[a + q] | guard) - others[b + q]) & guard
        if kept != guard:
            mask = (kept >> (fields[0, q] - 1)) * ((one << fields[0, q]) - 1)
            boxes[a + q] = (boxes[a + q] & mask) | (others[b + q] & ~mask)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def width(
    boxes: cython.ulonglong[::1],
    a: cython.Py_ssize_t,
    d: cython.Py_ssize_t,
    layout: cython.longlong[:, ::1],
    places: cython.longlong[::1],
) -> cython.longlong:
    """The sum of a box's widths; not for the box of no tuple."""
    j: cython.Py_ssize_t
    high: cython.Py_ssize_t
    low: cython.Py_ssize_t
    box: cython.ulonglong
    total: cython.longlong = 0
    for j in range(d):
        box = boxes[a + layout[0, j]] >> layout[1, j]
        high = box & layout[2, j]
        low = layout[2, j] - ((box >> 32) & layout[2, j])
        total += places[layout[3, j] + high] - places[layout[3, j] + low]
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add_to_blocks(
    rows: cython.ulonglong[::1],
    a: cython.Py_ssize_t,
    count: cython.longlong,
    words: cython.Py_ssize_t,
    d: cython.Py_ssize_t,
    layout: cython.longlong[:, ::1],
    fields: cython.ulonglong[:, ::1],
    numbers: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
) -> cython.void:
    """Count ``count`` equal tuples in the block of each of their codes."""
    j: cython.Py_ssize_t
    at: cython.Py_ssize_t
    for j in range(d):
        at = layout[3, j] + ((rows[a + layout[0, j]] >> layout[1, j]) & layout[2, j])
        numbers[0, at] += count
        extend(boxes, at * words, rows, a, words, fields)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def collect_blocks(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    fields: cython.ulonglong[:, ::1],
    cells: cython.int[::1],
    codes: cython.int[::1],
    numbers: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
) -> cython.void:
    """One pass over a node: size and box of the block of every code of every attribute; then list the codes that occur.

    Where the frame has few cells for the node's size, the pass counts cells, and the cells are added to the blocks.
    """
    words: cython.Py_ssize_t = limits[1]
    d: cython.Py_ssize_t = limits[2]
    m: cython.longlong = stop - start
    frame: cython.Py_ssize_t = 3 * layout[3, d] * words
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    n: cython.Py_ssize_t
    low: cython.longlong
    high: cython.longlong
    x: cython.longlong
    box: cython.ulonglong
    volume: cython.longlong = 1
    for j in range(d):
        box = boxes[frame + layout[0, j]] >> layout[1, j]
        high = box & layout[2, j]
        low = layout[2, j] - ((box >> 32) & layout[2, j])
        numbers[6, j] = low
        numbers[7, j] = high
        numbers[8, j] = volume
        if volume > 0:
            volume *= high - low + 1
            if volume > cells.shape[0] or volume * limits[5] > m:
                volume = 0
    if volume > 0:
        count_cells(rows, start, stop, volume, limits, layout, fields, cells, numbers, boxes)
    else:
        for i in range(start, stop):
            add_to_blocks(rows, i * (words + 1), 1, words, d, layout, fields, numbers, boxes)
    for j in range(d):
        n = layout[3, j]
        if numbers[7, j] - numbers[6, j] <= limits[4] * m:
            for x in range(layout[3, j] + numbers[6, j], layout[3, j] + numbers[7, j] + 1):
                if numbers[0, x] > 0:
                    numbers[1, n] = x
                    n += 1
        else:
            for i in range(m):
                codes[i] = (rows[(start + i) * (words + 1) + layout[0, j]] >> layout[1, j]) & layout[2, j]
            sort_codes(codes, m, numbers[7, j])
            for i in range(m):
                if i == 0 or codes[i] != codes[i - 1]:
                    numbers[1, n] = layout[3, j] + codes[i]
                    n += 1
        numbers[5, j] = n - layout[3, j]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def count_cells(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    volume: cython.longlong,
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    fields: cython.ulonglong[:, ::1],
    cells: cython.int[::1],
    numbers: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
) -> cython.void:
    """Count the tuples of every cell of the frame, and add the cells to the blocks; ``numbers[6:9]`` is set."""
    words: cython.Py_ssize_t = limits[1]
    d: cython.Py_ssize_t = limits[2]
    cell: cython.Py_ssize_t = 3 * layout[3, d] * words + 4 * words
    one: cython.ulonglong = 1
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    q: cython.Py_ssize_t
    at: cython.Py_ssize_t
    offset: cython.longlong = 0
    spread: cython.ulonglong
    row: cython.ulonglong
    x: cython.ulonglong
    y: cython.ulonglong
    total: cython.longlong
    first: cython.longlong
    last: cython.longlong = 0
    length: cython.Py_ssize_t = numbers[7, 0] - numbers[6, 0] + 1
    low: cython.Py_ssize_t = layout[3, 0] + numbers[6, 0]
    word: cython.Py_ssize_t = cell + layout[0, 0]
    shift: cython.longlong = layout[1, 0]
    for j in range(d):
        offset += numbers[6, j] * numbers[8, j]
    if words == 1 and d <= 4:  # the same as below, without an inner loop
        top: cython.ulonglong = layout[2, 0]
        shift_1: cython.longlong = layout[1, 1] if d > 1 else 0
        shift_2: cython.longlong = layout[1, 2] if d > 2 else 0
        shift_3: cython.longlong = layout[1, 3] if d > 3 else 0
        stride_1: cython.longlong = numbers[8, 1] if d > 1 else 0
        stride_2: cython.longlong = numbers[8, 2] if d > 2 else 0
        stride_3: cython.longlong = numbers[8, 3] if d > 3 else 0
        for i in range(start, stop):
            row = rows[2 * i]
            at = (
                (row & top)
                + ((row >> shift_1) & top) * stride_1
                + ((row >> shift_2) & top) * stride_2
                + ((row >> shift_3) & top) * stride_3
                - offset
            )
            cells[at] += 1
    else:
        for i in range(start, stop):
            at = -offset
            for j in range(d):
                at += ((rows[i * (words + 1) + layout[0, j]] >> layout[1, j]) & layout[2, j]) * numbers[8, j]
            cells[at] += 1
    for q in range(words):
        boxes[cell + q] = 0
    for j in range(d):  # the first cell: all codes smallest
        spread = numbers[6, j]
        boxes[cell + layout[0, j]] |= spread << layout[1, j]
        spread = layout[2, j] - numbers[6, j]
        boxes[cell + layout[0, j]] |= spread << (layout[1, j] + 32)
        numbers[9, j] = numbers[6, j]
    at = 0
    while at < volume:  # line after line: cells that differ in the first code
        total = 0
        first = -1
        for i in range(at, at + length):
            if cells[i] > 0:
                total += cells[i]
                last = i - at
                if first < 0:
                    first = last
        if total > 0:
            for i in range(first, last + 1):
                if cells[at + i] > 0:
                    x = i
                    boxes[word] = boxes[word] + (x << shift) - (x << (shift + 32))
                    numbers[0, low + i] += cells[at + i]
                    extend(boxes, (low + i) * words, boxes, cell, words, fields)
                    boxes[word] = boxes[word] + (x << (shift + 32)) - (x << shift)
                    cells[at + i] = 0
            x = last  # the box of the line: the largest first code, and the complement of the smallest
            y = first
            boxes[word] = boxes[word] + (x << shift) - (y << (shift + 32))
            for j in range(1, d):
                q = layout[3, j] + numbers[9, j]
                numbers[0, q] += total
                extend(boxes, q * words, boxes, cell, words, fields)
            boxes[word] = boxes[word] + (y << (shift + 32)) - (x << shift)
        j = 1
        while j < d and numbers[9, j] == numbers[7, j]:
            spread = numbers[7, j] - numbers[6, j]
            q = cell + layout[0, j]
            boxes[q] = boxes[q] + (spread << (layout[1, j] + 32)) - (spread << layout[1, j])
            numbers[9, j] = numbers[6, j]
            j += 1
        if j < d:
            q = cell + layout[0, j]
            boxes[q] = boxes[q] + (one << layout[1, j]) - (one << (layout[1, j] + 32))
            numbers[9, j] += 1
        at += length


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sweep_blocks(
    j: cython.Py_ssize_t,
    m: cython.longlong,
    least: cython.longlong,
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    fields: cython.ulonglong[:, ::1],
    places: cython.longlong[::1],
    numbers: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
    best: cython.longlong[::1],
) -> cython.void:
    """What lies before and from each block of an attribute on: tuples, boxes, and widths where a cut may need them.

    The box of the whole node is left in the second single box.
    """
    words: cython.Py_ssize_t = limits[1]
    d: cython.Py_ssize_t = limits[2]
    slots: cython.Py_ssize_t = layout[3, d]
    first: cython.Py_ssize_t = layout[3, j]
    last: cython.Py_ssize_t = first + numbers[5, j] - 1
    node: cython.Py_ssize_t = (3 * slots + 1) * words
    t: cython.Py_ssize_t
    q: cython.Py_ssize_t
    total: cython.longlong = 0
    for q in range(words):
        boxes[node + q] = 0
    for t in range(first, last + 1):
        numbers[2, t] = total
        for q in range(words):
            boxes[(slots + t) * words + q] = boxes[node + q]
        if t > first and total <= m - least and total + numbers[0, numbers[1, t]] >= least:
            numbers[3, t] = width(boxes, node, d, layout, places)
        total += numbers[0, numbers[1, t]]
        extend(boxes, node, boxes, numbers[1, t] * words, words, fields)
    for q in range(words):
        boxes[node + q] = 0
    for t in range(last, first - 1, -1):
        extend(boxes, node, boxes, numbers[1, t] * words, words, fields)
        for q in range(words):
            boxes[(2 * slots + t) * words + q] = boxes[node + q]
        if t > first and numbers[2, t] >= least and numbers[2, t - 1] <= m - least:
            numbers[4, t] = width(boxes, node, d, layout, places)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def try_borders(
    j: cython.Py_ssize_t,
    m: cython.longlong,
    least: cython.longlong,
    layout: cython.longlong[:, ::1],
    numbers: cython.longlong[:, ::1],
    best: cython.longlong[::1],
) -> cython.void:
    """Cuts between two blocks of an attribute."""
    t: cython.Py_ssize_t
    k: cython.longlong
    cost: cython.longlong
    for t in range(layout[3, j] + 1, layout[3, j] + numbers[5, j]):
        k = numbers[2, t]
        if least <= k and k <= m - least:
            cost = k * numbers[3, t] + (m - k) * numbers[4, t]
            if best[0] < 0 or cost < best[0]:
                best[0] = cost
                best[1] = j
                best[2] = k
                best[3] = t
                best[4] = 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_better(
    cost: cython.longlong, j: cython.Py_ssize_t, k: cython.longlong, best: cython.longlong[::1]
) -> cython.bint:
    """Whether (cost, attribute, k) comes before the best cut so far."""
    if best[0] < 0 or cost != best[0]:
        return best[0] < 0 or cost < best[0]
    return j < best[1] or (j == best[1] and k < best[2])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_first_single(j: cython.Py_ssize_t, numbers: cython.longlong[:, ::1]) -> cython.bint:
    """Whether an attribute is the first with a single code: all such attributes have the same cuts, and it wins."""
    i: cython.Py_ssize_t
    for i in range(j):
        if numbers[5, i] == 1:
            return False
    return True


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def lower_end(
    before: cython.longlong, after: cython.longlong, m: cython.longlong, lo: cython.longlong, hi: cython.longlong
) -> cython.longlong:
    """The smaller cost of the cuts ``lo`` and ``hi`` if the widths of both sides were ``before`` and ``after``."""
    a: cython.longlong = lo * before + (m - lo) * after
    b: cython.longlong = hi * before + (m - hi) * after
    return a if a <= b else b


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def try_insides(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    least: cython.longlong,
    j: cython.Py_ssize_t,
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    fields: cython.ulonglong[:, ::1],
    places: cython.longlong[::1],
    numbers: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
    changes: cython.longlong[:, ::1],
    best: cython.longlong[::1],
) -> cython.void:
    """Cuts inside the blocks of an attribute, from ``lo`` to ``hi`` tuples on the left.

    The width before such a cut never falls as it moves right, and the width after it never grows. The width before
    lies between that of the earlier blocks with this block's code, and that of the earlier blocks with this block.
    While both widths stay the same the cost is linear in k, so the cheaper end bounds it. Where that does not decide,
    a few tuples from both ends of the block, which lie on their side in all of these cuts, improve the bound; where
    that does not decide, the block is read.
    """
    words: cython.Py_ssize_t = limits[1]
    d: cython.Py_ssize_t = limits[2]
    slots: cython.Py_ssize_t = layout[3, d]
    first: cython.Py_ssize_t = layout[3, j]
    last: cython.Py_ssize_t = first + numbers[5, j] - 1
    left: cython.Py_ssize_t = (3 * slots + 2) * words
    right: cython.Py_ssize_t = left + words
    m: cython.longlong = stop - start
    t: cython.Py_ssize_t
    at: cython.Py_ssize_t
    lo: cython.longlong
    hi: cython.longlong
    begin: cython.longlong
    end: cython.longlong
    before: cython.longlong
    after: cython.longlong
    full_before: cython.longlong
    full_after: cython.longlong
    bound: cython.longlong
    for t in range(first, last + 1):
        at = numbers[1, t]
        begin = numbers[2, t]
        end = begin + numbers[0, at]
        lo = begin + 1 if begin + 1 > least else least
        hi = end - 1 if end - 1 < m - least else m - least
        if lo > hi:
            continue
        before = 0
        after = 0
        if t > first:
            before = numbers[3, t] + places[at] - places[numbers[1, t - 1]]
        if t < last:
            after = numbers[4, t + 1] + places[numbers[1, t + 1]] - places[at]
        if not is_better(lower_end(before, after, m, lo, hi), j, lo, best):
            continue
        copy_sides(t, t < last, words, slots, boxes, left, right)
        extend(boxes, left, boxes, at * words, words, fields)
        extend(boxes, right, boxes, at * words, words, fields)
        full_before = width(boxes, left, d, layout, places)
        full_after = width(boxes, right, d, layout, places)
        if (before < full_before or after < full_after) and m > limits[6]:
            copy_sides(t, t < last, words, slots, boxes, left, right)
            extend_by_ends(rows, start, stop, j, at, lo - begin, end - hi, limits, layout, fields, boxes, left, right)
            before = width(boxes, left, d, layout, places)
            after = width(boxes, right, d, layout, places)
            if not is_better(lower_end(before, after, m, lo, hi), j, lo, best):
                continue
        if before == full_before and after == full_after:  # the cost is linear in k
            bound = lower_end(before, after, m, lo, hi)
            if bound < lo * before + (m - lo) * after:
                lo = hi
            if is_better(bound, j, lo, best):
                best[0] = bound
                best[1] = j
                best[2] = lo
                best[3] = t
                best[4] = lo - begin
            continue
        copy_sides(t, t < last, words, slots, boxes, left, right)
        read_block(
            rows, start, stop, j, t, lo, hi, limits, layout, fields, places, numbers, boxes, left, right, changes, best
        )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def copy_sides(
    t: cython.Py_ssize_t,
    has_later: cython.bint,
    words: cython.Py_ssize_t,
    slots: cython.Py_ssize_t,
    boxes: cython.ulonglong[::1],
    left: cython.Py_ssize_t,
    right: cython.Py_ssize_t,
) -> cython.void:
    """Set ``left`` and ``right`` to the boxes of the blocks before and after the t-th."""
    q: cython.Py_ssize_t
    for q in range(words):
        boxes[left + q] = boxes[(slots + t) * words + q]
        boxes[right + q] = 0
        if has_later:
            boxes[right + q] = boxes[(2 * slots + t + 1) * words + q]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def extend_by_ends(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    j: cython.Py_ssize_t,
    at: cython.Py_ssize_t,
    heads: cython.longlong,
    tails: cython.longlong,
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    fields: cython.ulonglong[:, ::1],
    boxes: cython.ulonglong[::1],
    left: cython.Py_ssize_t,
    right: cython.Py_ssize_t,
) -> cython.void:
    """Extend ``left`` by a block's first ``heads`` tuples and ``right`` by its last ``tails``, or ``near`` if fewer."""
    words: cython.Py_ssize_t = limits[1]
    code: cython.ulonglong = at - layout[3, j]
    top: cython.ulonglong = layout[2, j]
    i: cython.Py_ssize_t = start
    if heads > limits[7]:
        heads = limits[7]
    if tails > limits[7]:
        tails = limits[7]
    while heads > 0:
        if ((rows[i * (words + 1) + layout[0, j]] >> layout[1, j]) & top) == code:
            extend(boxes, left, rows, i * (words + 1), words, fields)
            heads -= 1
        i += 1
    i = stop - 1
    while tails > 0:
        if ((rows[i * (words + 1) + layout[0, j]] >> layout[1, j]) & top) == code:
            extend(boxes, right, rows, i * (words + 1), words, fields)
            tails -= 1
        i -= 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def read_block(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    j: cython.Py_ssize_t,
    t: cython.Py_ssize_t,
    lo: cython.longlong,
    hi: cython.longlong,
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    fields: cython.ulonglong[:, ::1],
    places: cython.longlong[::1],
    numbers: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
    left: cython.Py_ssize_t,
    right: cython.Py_ssize_t,
    changes: cython.longlong[:, ::1],
    best: cython.longlong[::1],
) -> cython.void:
    """Try every cut inside a block; ``left`` and ``right`` are the boxes of the other blocks.

    From the back: after how many of the block's tuples does the width of the rest change (it does so at most once a
    code)? From the front: the cost of each cut.
    """
    words: cython.Py_ssize_t = limits[1]
    d: cython.Py_ssize_t = limits[2]
    m: cython.longlong = stop - start
    code: cython.ulonglong = numbers[1, t] - layout[3, j]
    top: cython.ulonglong = layout[2, j]
    begin: cython.longlong = numbers[2, t]
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = 0
    k: cython.longlong = begin + numbers[0, numbers[1, t]]
    before: cython.longlong
    after: cython.longlong
    cost: cython.longlong
    for i in range(stop - 1, start - 1, -1):
        if ((rows[i * (words + 1) + layout[0, j]] >> layout[1, j]) & top) == code:
            k -= 1
            if k < lo:
                break
            if n == 0 or not contains(boxes, right, rows, i * (words + 1), words, fields):
                extend(boxes, right, rows, i * (words + 1), words, fields)
                changes[0, n] = k
                changes[1, n] = width(boxes, right, d, layout, places)
                n += 1
    k = begin
    before = -1
    for i in range(start, stop):
        if ((rows[i * (words + 1) + layout[0, j]] >> layout[1, j]) & top) == code:
            k += 1
            if k > hi:
                break
            if before < 0 or not contains(boxes, left, rows, i * (words + 1), words, fields):
                extend(boxes, left, rows, i * (words + 1), words, fields)
                before = width(boxes, left, d, layout, places)
            if k < lo:
                continue
            while changes[0, n - 1] < k:
                n -= 1
            after = changes[1, n - 1]
            cost = k * before + (m - k) * after
            if is_better(cost, j, k, best):
                best[0] = cost
                best[1] = j
                best[2] = k
                best[3] = t
                best[4] = k - begin


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def contains(
    boxes: cython.ulonglong[::1],
    a: cython.Py_ssize_t,
    others: cython.ulonglong[::1],
    b: cython.Py_ssize_t,
    words: cython.Py_ssize_t,
    fields: cython.ulonglong[:, ::1],
) -> cython.bint:
    """Whether a box contains another box or tuple."""
    q: cython.Py_ssize_t
    for q in range(words):
        if (((boxes[a + q] | fields[1, q]) - others[b + q]) & fields[1, q]) != fields[1, q]:
            return False
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def first_cut(
    least: cython.longlong,
    layout: cython.longlong[:, ::1],
    numbers: cython.longlong[:, ::1],
    best: cython.longlong[::1],
) -> cython.void:
    """The cut with the smallest left part on the first attribute: the canonical one where all cuts cost the same."""
    t: cython.Py_ssize_t = layout[3, 0]
    while numbers[2, t] + numbers[0, numbers[1, t]] <= least:
        t += 1
    best[1] = 0
    best[2] = least
    best[3] = t
    best[4] = least - numbers[2, t]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def peel(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    limits: cython.longlong[::1],
    histogram: cython.longlong[::1],
    tally: cython.longlong[::1],
    boxes: cython.ulonglong[::1],
    frame: cython.Py_ssize_t,
    leaves: cython.longlong[:, ::1],
    parts: cython.longlong[:, ::1],
    part_frames: cython.ulonglong[::1],
    made: cython.longlong[::1],
) -> cython.void:
    """Divide a node whose cuts take the first tuples in tie order, as long as the rest is 2l-diverse; linear time.

    ``tally[x]`` is how many sensitive values have ``x`` tuples left; a second histogram is that of the part taken off.
    """
    words: cython.Py_ssize_t = limits[1]
    stride: cython.Py_ssize_t = words + 1
    ell: cython.longlong = limits[0]
    own: cython.Py_ssize_t = limits[3]
    i: cython.Py_ssize_t
    q: cython.Py_ssize_t
    x: cython.Py_ssize_t
    largest: cython.longlong = 0
    most: cython.longlong
    middle: cython.longlong
    for i in range(start, stop):
        x = rows[i * stride + words] >> 32
        if histogram[x] > 0:
            tally[histogram[x]] -= 1
        histogram[x] += 1
        tally[histogram[x]] += 1
        largest = histogram[x] if histogram[x] > largest else largest
    while start < stop:
        middle = stop
        if stop - start >= 2 * ell * largest:
            middle = start + ell * largest
        most = 0
        for i in range(start, middle):
            x = rows[i * stride + words] >> 32
            tally[histogram[x]] -= 1
            histogram[x] -= 1
            if histogram[x] > 0:
                tally[histogram[x]] += 1
            histogram[own + x] += 1
            most = histogram[own + x] if histogram[own + x] > most else most
        for i in range(start, middle):
            histogram[own + (rows[i * stride + words] >> 32)] = 0
        while largest > 0 and tally[largest] == 0:
            largest -= 1
        if middle - start < 2 * ell * most:
            leaves[0, made[0]] = start
            leaves[1, made[0]] = middle
            made[0] += 1
        else:
            parts[0, made[1]] = start
            parts[1, made[1]] = middle
            for q in range(words):
                part_frames[made[1] * words + q] = boxes[frame + q]
            made[1] += 1
        start = middle


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def frame_sides(
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    fields: cython.ulonglong[:, ::1],
    numbers: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
    best: cython.longlong[::1],
) -> cython.void:
    """Boxes that contain both sides of the best cut."""
    words: cython.Py_ssize_t = limits[1]
    slots: cython.Py_ssize_t = layout[3, limits[2]]
    left: cython.Py_ssize_t = (3 * slots + 2) * words
    q: cython.Py_ssize_t
    for q in range(words):
        boxes[left + q] = boxes[(slots + best[3]) * words + q]
        boxes[left + words + q] = boxes[(2 * slots + best[3]) * words + q]
    if best[4] > 0:
        extend(boxes, left, boxes, numbers[1, best[3]] * words, words, fields)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def split(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    numbers: cython.longlong[:, ::1],
    best: cython.longlong[::1],
    spare: cython.ulonglong[::1],
    at: cython.Py_ssize_t,
) -> cython.void:
    """Move the tuples of the left part to the front, keeping the order inside both parts.

    The smaller part goes through ``spare``, from place ``at`` on; the larger one closes up in place.
    """
    words: cython.Py_ssize_t = limits[1]
    stride: cython.Py_ssize_t = words + 1
    word: cython.Py_ssize_t = layout[0, best[1]]
    shift: cython.longlong = layout[1, best[1]]
    top: cython.ulonglong = layout[2, best[1]]
    code: cython.ulonglong = numbers[1, best[3]] - layout[3, best[1]]
    ties: cython.longlong = best[4]  # tuples with this very code that still go to the side that is met first
    k: cython.longlong = best[2]
    i: cython.Py_ssize_t
    q: cython.Py_ssize_t
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    x: cython.ulonglong
    y: cython.ulonglong
    row: cython.ulonglong
    side: cython.Py_ssize_t
    if stop - start - k <= k:
        a = start * stride
        b = at
        if stride == 2:  # the same as below, without an inner loop
            for i in range(start, stop):
                row = rows[2 * i]
                y = rows[2 * i + 1]
                x = (row >> shift) & top
                side = (x < code) | ((x == code) & (ties > 0))
                ties -= x == code
                rows[a] = row
                rows[a + 1] = y
                spare[b] = row
                spare[b + 1] = y
                a += 2 * side
                b += 2 - 2 * side
        else:
            for i in range(start, stop):
                x = (rows[i * stride + word] >> shift) & top
                side = (x < code) | ((x == code) & (ties > 0))
                ties -= x == code
                for q in range(stride):
                    y = rows[i * stride + q]
                    rows[a + q] = y  # safe: not behind i
                    spare[b + q] = y
                a += stride * side
                b += stride * (1 - side)
        for i in range(b - at):
            rows[a + i] = spare[at + i]
    else:
        ties = numbers[0, numbers[1, best[3]]] - ties
        a = (stop - 1) * stride
        b = at
        if stride == 2:
            for i in range(stop - 1, start - 1, -1):
                row = rows[2 * i]
                y = rows[2 * i + 1]
                x = (row >> shift) & top
                side = (x > code) | ((x == code) & (ties > 0))
                ties -= x == code
                rows[a] = row
                rows[a + 1] = y
                spare[b] = row
                spare[b + 1] = y
                a -= 2 * side
                b += 2 - 2 * side
        else:
            for i in range(stop - 1, start - 1, -1):
                x = (rows[i * stride + word] >> shift) & top
                side = (x > code) | ((x == code) & (ties > 0))
                ties -= x == code
                for q in range(stride):
                    y = rows[i * stride + q]
                    rows[a + q] = y
                    spare[b + q] = y
                a -= stride * side
                b += stride * (1 - side)
        for i in range(k):  # they lie in spare from the last to the first
            b -= stride
            for q in range(stride):
                rows[(start + i) * stride + q] = spare[b + q]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def forget_blocks(
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    numbers: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
) -> cython.void:
    """Set sizes and boxes of a node's blocks to zeros again."""
    words: cython.Py_ssize_t = limits[1]
    j: cython.Py_ssize_t
    t: cython.Py_ssize_t
    q: cython.Py_ssize_t
    for j in range(limits[2]):
        for t in range(layout[3, j], layout[3, j] + numbers[5, j]):
            numbers[0, numbers[1, t]] = 0
            for q in range(words):
                boxes[numbers[1, t] * words + q] = 0


def pack_code(
    codes: cython.int[::1],
    rows: cython.ulonglong[::1],
    stride: cython.longlong,
    word: cython.longlong,
    shift: cython.longlong,
    top: cython.longlong,
) -> None:
    """Put an attribute's codes and their complements into their fields, which are zeros."""
    i: cython.Py_ssize_t
    x: cython.ulonglong
    y: cython.ulonglong
    with cython.nogil:
        for i in range(codes.shape[0]):
            x = codes[i]
            y = top - codes[i]
            rows[i * stride + word] |= (x << shift) | (y << (shift + 32))


def pack_sensitive(codes: cython.int[::1], rows: cython.ulonglong[::1], stride: cython.longlong) -> None:
    """Set the last word of every tuple: its sensitive code, and its row number."""
    i: cython.Py_ssize_t
    x: cython.ulonglong
    y: cython.ulonglong
    with cython.nogil:
        for i in range(codes.shape[0]):
            x = codes[i]
            y = i
            rows[(i + 1) * stride - 1] = (x << 32) | y


def gather_rows(
    rows: cython.ulonglong[::1],
    order: cython.int[::1],
    stride: cython.longlong,
    ordered: cython.ulonglong[::1],
) -> None:
    """Copy packed tuples in a given order."""
    i: cython.Py_ssize_t
    q: cython.Py_ssize_t
    a: cython.Py_ssize_t
    with cython.nogil:
        if stride == 2:
            for i in range(order.shape[0]):
                a = 2 * order[i]
                ordered[2 * i] = rows[a]
                ordered[2 * i + 1] = rows[a + 1]
        else:
            for i in range(order.shape[0]):
                a = order[i] * stride
                for q in range(stride):
                    ordered[i * stride + q] = rows[a + q]


def row_numbers(rows: cython.ulonglong[::1], stride: cython.longlong, placed: cython.int[::1]) -> None:
    """The row numbers of packed tuples."""
    i: cython.Py_ssize_t
    half: cython.ulonglong = 0xFFFFFFFF
    with cython.nogil:
        for i in range(placed.shape[0]):
            placed[i] = rows[(i + 1) * stride - 1] & half


def label_runs(
    rows: cython.ulonglong[::1], stride: cython.longlong, offsets: cython.longlong[::1], labels: cython.int[::1]
) -> None:
    """Label the rows of every run of packed tuples with the run's number."""
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    half: cython.ulonglong = 0xFFFFFFFF
    with cython.nogil:
        for g in range(offsets.shape[0] - 1):
            for i in range(offsets[g], offsets[g + 1]):
                labels[rows[(i + 1) * stride - 1] & half] = g
