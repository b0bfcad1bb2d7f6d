# SPDX-License-Identifier: Apache-2.0
"""Mirror: bare loops over packed tuples, called through `glasshouse.grouping.mirror` and its refinement.

A tuple is ``words`` 64-bit words of fields, and one more word: its sensitive code (upper half) and its row number. An
attribute's code ``x`` is a field in the lower half of its word; ``top - x``, its complement, lies 32 bits higher; the
highest bit of every field is 0. The fieldwise maximum of some tuples is their *box*: largest codes below, complements
of the smallest above. With ``guard`` the highest bits of all fields of a word, ``((a | guard) - b) & guard`` keeps the
guards of those fields in which ``a`` is at least ``b``.

Tables that the functions on nodes share:

* ``layout``, a column per attribute: its word, the shift of its field, ``top``, and the *slot* of its code 0; in one
  more column the number of all slots: a slot is a place for a code of an attribute;
* ``fields``, a column per word: the bits of its fields, and its guards;
* ``limits``: l, words, attributes, sensitive values, k, the thresholds dense, strip, small, then the slack as two
  numbers, over and under the line;
* ``places``: per slot, the place of its code (`weighted_places`);
* ``dims``: the attributes that may be halved, in the order that breaks ties;
* ``tally``: zeros, a place per slot: how many tuples of the node have the code;
* ``median``: for the i-th of ``dims``, the code in the middle, how many tuples with it go left, and whether the node
  has one code only; then the choice: which of ``dims``;
* ``boxes``: for the i-th of ``dims`` the boxes of both halves and of what they cannot exceed; last, that of the node.
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
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    fields: cython.ulonglong[:, ::1],
    places: cython.longlong[::1],
    dims: cython.longlong[::1],
    tally: cython.longlong[::1],
    codes: cython.int[::1],
    median: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
    histogram: cython.longlong[::1],
    stack: cython.longlong[:, ::1],
    leaves: cython.longlong[:, ::1],
    parts: cython.longlong[:, ::1],
    made: cython.longlong[::1],
) -> None:
    """Halve every node under frequency l-diversity; nodes of at most ``small`` tuples until only leaves are left.

    A node is tested if it has more than k tuples and slack: no value's count times l times slack is above its size.
    ``leaves`` (starts, stops, whether tested) and ``parts`` (starts, stops) receive what becomes of the nodes, ``made``
    how many of each; ``parts`` may be halved further. The left half of a leaf that was tested lies before its right
    one. ``spare`` is as long as ``rows``, ``close`` half as long as a small node.
    """
    ell: cython.longlong = limits[0]
    k: cython.longlong = limits[4]
    small: cython.longlong = limits[7]
    words: cython.Py_ssize_t = limits[1]
    g: cython.Py_ssize_t
    depth: cython.Py_ssize_t
    start: cython.longlong
    stop: cython.longlong
    half: cython.longlong
    most: cython.longlong
    left: cython.longlong
    right: cython.longlong
    tested: cython.bint
    with cython.nogil:
        made[0] = 0
        made[1] = 0
        for g in range(starts.shape[0]):
            stack[0, 0] = starts[g]
            stack[1, 0] = stops[g]
            stack[2, 0] = largest(rows, starts[g], stops[g], limits, histogram)
            depth = 1
            while depth > 0:
                depth -= 1
                start = stack[0, depth]
                stop = stack[1, depth]
                most = stack[2, depth]
                half = (stop - start) // 2
                tested = stop - start > k and most * ell * limits[8] <= (stop - start) * limits[9]
                if tested:
                    choose(rows, start, stop, 1, limits, layout, fields, places, dims, tally, codes, median, boxes)
                    if stop - start <= small:
                        split(rows, start, stop, 1, limits, layout, dims, tally, codes, median, boxes, close, 0)
                    else:
                        split(
                            rows, start, stop, 1, limits, layout, dims, tally, codes, median, boxes,
                            spare, start * (words + 1),
                        )  # fmt: skip
                    left = largest(rows, start, start + half, limits, histogram)
                    right = largest(rows, start + half, stop, limits, histogram)
                    if left * ell <= half and right * ell <= half:
                        if half > small:
                            parts[0, made[1]] = start
                            parts[1, made[1]] = start + half
                            parts[0, made[1] + 1] = start + half
                            parts[1, made[1] + 1] = stop
                            made[1] += 2
                        else:
                            stack[0, depth] = start
                            stack[1, depth] = start + half
                            stack[2, depth] = left
                            stack[0, depth + 1] = start + half
                            stack[1, depth + 1] = stop
                            stack[2, depth + 1] = right
                            depth += 2
                        continue
                leaves[0, made[0]] = start
                leaves[1, made[0]] = stop
                leaves[2, made[0]] = tested
                made[0] += 1


def halve_nodes(
    rows: cython.ulonglong[::1],
    spare: cython.ulonglong[::1],
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    faces: cython.longlong[::1],
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    fields: cython.ulonglong[:, ::1],
    places: cython.longlong[::1],
    dims: cython.longlong[::1],
    tally: cython.longlong[::1],
    codes: cython.int[::1],
    median: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
) -> None:
    """Put the left halves of all faces of every node before the right halves, whatever becomes of them.

    The faces of a node are runs of equally many tuples, one after another; so are their halves afterwards.
    """
    words: cython.Py_ssize_t = limits[1]
    g: cython.Py_ssize_t
    with cython.nogil:
        for g in range(starts.shape[0]):
            choose(
                rows, starts[g], stops[g], faces[g], limits, layout, fields, places, dims, tally, codes, median, boxes
            )
            split(
                rows, starts[g], stops[g], faces[g], limits, layout, dims, tally, codes, median, boxes,
                spare, starts[g] * (words + 1),
            )  # fmt: skip


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def largest(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    limits: cython.longlong[::1],
    histogram: cython.longlong[::1],
) -> cython.longlong:
    """How many tuples have the most frequent value; ``histogram`` is zeros before and after."""
    stride: cython.Py_ssize_t = limits[1] + 1
    i: cython.Py_ssize_t
    x: cython.Py_ssize_t
    most: cython.longlong = 0
    for i in range(start, stop):
        histogram[rows[i * stride + stride - 1] >> 32] += 1
    if limits[3] <= stop - start:
        for x in range(limits[3]):
            most = histogram[x] if histogram[x] > most else most
            histogram[x] = 0
    else:
        for i in range(start, stop):
            x = rows[i * stride + stride - 1] >> 32
            most = histogram[x] if histogram[x] > most else most
            histogram[x] = 0
    return most


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def choose(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    faces: cython.longlong,
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    fields: cython.ulonglong[:, ::1],
    places: cython.longlong[::1],
    dims: cython.longlong[::1],
    tally: cython.longlong[::1],
    codes: cython.int[::1],
    median: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
) -> cython.void:
    """The one candidate of a node: of all halvings that with the least sum of widths, then the first attribute.

    All faces are halved along the same attribute, each in its own middle, and their left halves together are one half.
    """
    words: cython.Py_ssize_t = limits[1]
    n: cython.Py_ssize_t = dims.shape[0]
    d: cython.Py_ssize_t = limits[2]
    frame: cython.Py_ssize_t = 4 * n * words
    size: cython.longlong = (stop - start) // faces
    f: cython.Py_ssize_t
    t: cython.Py_ssize_t
    best: cython.Py_ssize_t = 0
    cost: cython.longlong
    least: cython.longlong = 0
    for f in range(faces):
        enclose(rows, start + f * size, start + (f + 1) * size, words, fields, boxes, frame)
        find_medians(
            rows, start + f * size, start + (f + 1) * size, 0, n, limits, layout, dims, tally, codes, median, boxes,
            frame,
        )  # fmt: skip
        if n > 1:
            bound_halves(limits, layout, dims, median, boxes, frame, f == 0)
            enclose_halves(rows, start + f * size, start + (f + 1) * size, limits, layout, fields, dims, median, boxes)
    if n > 1:
        for t in range(n):
            cost = width(boxes, 4 * t * words, d, layout, places)
            cost += width(boxes, (4 * t + 1) * words, d, layout, places)
            if t == 0 or cost < least:
                least = cost
                best = t
    median[0, n] = best


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def enclose(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    words: cython.Py_ssize_t,
    fields: cython.ulonglong[:, ::1],
    boxes: cython.ulonglong[::1],
    frame: cython.Py_ssize_t,
) -> cython.void:
    """The box of a node."""
    i: cython.Py_ssize_t
    q: cython.Py_ssize_t
    one: cython.ulonglong = 1
    guard: cython.ulonglong
    bits: cython.ulonglong
    kept: cython.ulonglong
    mask: cython.ulonglong
    box: cython.ulonglong
    row: cython.ulonglong
    for q in range(words):
        guard = fields[1, q]
        bits = fields[0, q]
        box = 0
        for i in range(start, stop):
            row = rows[i * (words + 1) + q]
            kept = ((box | guard) - row) & guard
            if kept != guard:
                mask = (kept >> (bits - 1)) * ((one << bits) - 1)
                box = (box & mask) | (row & ~mask)
        boxes[frame + q] = box


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_medians(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    first: cython.Py_ssize_t,
    last_dim: cython.Py_ssize_t,
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    dims: cython.longlong[::1],
    tally: cython.longlong[::1],
    codes: cython.int[::1],
    median: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
    frame: cython.Py_ssize_t,
) -> cython.void:
    """Where the attributes ``first .. last_dim - 1`` of the list halve a face: codes are counted where they are dense.

    Others are sorted. The face's box is the last of ``boxes``.

    ``median``: the first code that is not wholly left, how many tuples with it are left, and the last code that is
    wholly left (or the same code, if none is).
    """
    stride: cython.Py_ssize_t = limits[1] + 1
    m: cython.Py_ssize_t = stop - start
    half: cython.longlong = m // 2
    before: cython.longlong
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    word: cython.Py_ssize_t
    at: cython.Py_ssize_t
    shift: cython.ulonglong
    top: cython.ulonglong
    low: cython.longlong
    high: cython.longlong
    x: cython.longlong
    last: cython.longlong
    for t in range(first, last_dim):
        j = dims[t]
        word = layout[0, j]
        shift = layout[1, j]
        top = layout[2, j]
        at = layout[3, j]
        high = (boxes[frame + word] >> shift) & top
        low = layout[2, j] - ((boxes[frame + word] >> (shift + 32)) & top)
        if high == low:
            median[0, t] = low
            median[1, t] = half
            median[2, t] = low
        elif high - low <= limits[5] * m:
            for i in range(start, stop):
                tally[at + ((rows[i * stride + word] >> shift) & top)] += 1
            before = 0
            x = low
            last = low
            while before + tally[at + x] <= half:
                if tally[at + x] > 0:
                    last = x
                before += tally[at + x]
                x += 1
            median[0, t] = x
            median[1, t] = half - before
            median[2, t] = last if before > 0 else x
            for x in range(at + low, at + high + 1):
                tally[x] = 0
        else:
            for i in range(m):
                codes[i] = (rows[(start + i) * stride + word] >> shift) & top
            sort_codes(codes, m, high)
            x = codes[half]
            i = half
            while i > 0 and codes[i - 1] == x:
                i -= 1
            median[0, t] = x
            median[1, t] = half - i
            median[2, t] = codes[i - 1] if i > 0 else x


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def bound_halves(
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    dims: cython.longlong[::1],
    median: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
    frame: cython.Py_ssize_t,
    anew: cython.bint,
) -> cython.void:
    """What the box of a half of a face cannot exceed: the face's, and on the attribute itself the codes of that half.

    The boxes of the halves are emptied if they are begun ``anew``.
    """
    words: cython.Py_ssize_t = limits[1]
    t: cython.Py_ssize_t
    q: cython.Py_ssize_t
    j: cython.Py_ssize_t
    a: cython.Py_ssize_t
    shift: cython.ulonglong
    top: cython.ulonglong
    x: cython.ulonglong
    for t in range(dims.shape[0]):
        j = dims[t]
        shift = layout[1, j]
        top = layout[2, j]
        a = 4 * t * words
        for q in range(words):
            if anew:
                boxes[a + q] = 0
                boxes[a + words + q] = 0
            boxes[a + 2 * words + q] = boxes[frame + q]
            boxes[a + 3 * words + q] = boxes[frame + q]
        q = layout[0, j]
        x = median[0, t] if median[1, t] > 0 else median[2, t]
        boxes[a + 2 * words + q] = (boxes[a + 2 * words + q] & ~(top << shift)) | (x << shift)
        x = layout[2, j] - median[0, t]
        boxes[a + 3 * words + q] = (boxes[a + 3 * words + q] & ~(top << (shift + 32))) | (x << (shift + 32))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def enclose_halves(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    fields: cython.ulonglong[:, ::1],
    dims: cython.longlong[::1],
    median: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
) -> cython.void:
    """The boxes of both halves for every attribute, strip by strip of tuples until they cannot grow any more."""
    words: cython.Py_ssize_t = limits[1]
    stride: cython.Py_ssize_t = words + 1
    strip: cython.longlong = limits[6]
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    q: cython.Py_ssize_t
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    side: cython.Py_ssize_t
    word: cython.Py_ssize_t
    shift: cython.ulonglong
    top: cython.ulonglong
    x: cython.longlong
    middle: cython.longlong
    ties: cython.longlong
    first: cython.longlong
    last: cython.longlong
    one: cython.ulonglong = 1
    guard: cython.ulonglong
    bits: cython.ulonglong
    kept: cython.ulonglong
    mask: cython.ulonglong
    row: cython.ulonglong
    full: cython.bint
    for t in range(dims.shape[0]):
        word = layout[0, dims[t]]
        shift = layout[1, dims[t]]
        top = layout[2, dims[t]]
        middle = median[0, t]
        ties = median[1, t]
        a = 4 * t * words
        first = start
        full = False
        while first < stop and not full:
            last = first + strip if first + strip < stop else stop
            if words == 1:
                guard = fields[1, 0]
                bits = fields[0, 0]
                for i in range(first, last):
                    row = rows[2 * i]
                    x = (row >> shift) & top
                    b = a + 1 - ((x < middle) | ((x == middle) & (ties > 0)))  # no branch: nobody could foretell it
                    ties -= x == middle
                    kept = ((boxes[b] | guard) - row) & guard
                    if kept != guard:
                        mask = (kept >> (bits - 1)) * ((one << bits) - 1)
                        boxes[b] = (boxes[b] & mask) | (row & ~mask)
            else:
                for i in range(first, last):
                    x = (rows[i * stride + word] >> shift) & top
                    side = 0 if (x < middle) | ((x == middle) & (ties > 0)) else 1
                    ties -= x == middle
                    b = a + side * words
                    for q in range(words):
                        guard = fields[1, q]
                        bits = fields[0, q]
                        row = rows[i * stride + q]
                        kept = ((boxes[b + q] | guard) - row) & guard
                        if kept != guard:
                            mask = (kept >> (bits - 1)) * ((one << bits) - 1)
                            boxes[b + q] = (boxes[b + q] & mask) | (row & ~mask)
            full = True
            for q in range(2 * words):
                if boxes[a + q] != boxes[a + 2 * words + q]:
                    full = False
            first = last


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
    """The sum of a box's widths."""
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
@cython.nogil
@cython.exceptval(check=False)
def split(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    faces: cython.longlong,
    limits: cython.longlong[::1],
    layout: cython.longlong[:, ::1],
    dims: cython.longlong[::1],
    tally: cython.longlong[::1],
    codes: cython.int[::1],
    median: cython.longlong[:, ::1],
    boxes: cython.ulonglong[::1],
    spare: cython.ulonglong[::1],
    at: cython.Py_ssize_t,
) -> cython.void:
    """Move the left halves of all faces to the front, keeping orders; the right ones pass through ``spare``."""
    stride: cython.Py_ssize_t = limits[1] + 1
    n: cython.Py_ssize_t = dims.shape[0]
    best: cython.Py_ssize_t = median[0, n]
    word: cython.Py_ssize_t = layout[0, dims[best]]
    shift: cython.ulonglong = layout[1, dims[best]]
    top: cython.ulonglong = layout[2, dims[best]]
    size: cython.longlong = (stop - start) // faces
    frame: cython.Py_ssize_t = 4 * n * limits[1]
    middle: cython.longlong
    ties: cython.longlong
    a: cython.Py_ssize_t = start * stride
    b: cython.Py_ssize_t = at
    f: cython.Py_ssize_t
    i: cython.Py_ssize_t
    q: cython.Py_ssize_t
    side: cython.Py_ssize_t
    low: cython.ulonglong
    high: cython.ulonglong
    x: cython.longlong
    y: cython.ulonglong
    row: cython.ulonglong
    for f in range(faces):
        if faces > 1:  # the median at hand is that of the last face
            low = top
            high = 0
            for i in range(start + f * size, start + (f + 1) * size):
                y = (rows[i * stride + word] >> shift) & top
                low = y if y < low else low
                high = y if y > high else high
            boxes[frame + word] = (high << shift) | ((top - low) << (shift + 32))
            find_medians(
                rows, start + f * size, start + (f + 1) * size, best, best + 1, limits, layout, dims, tally, codes,
                median, boxes, frame,
            )  # fmt: skip
        middle = median[0, best]
        ties = median[1, best]
        if stride == 2:
            for i in range(start + f * size, start + (f + 1) * size):
                row = rows[2 * i]
                y = rows[2 * i + 1]
                x = (row >> shift) & top
                side = (x < middle) | ((x == middle) & (ties > 0))
                ties -= x == middle
                rows[a] = row  # safe: not behind i
                rows[a + 1] = y
                spare[b] = row
                spare[b + 1] = y
                a += 2 * side
                b += 2 - 2 * side
        else:
            for i in range(start + f * size, start + (f + 1) * size):
                x = (rows[i * stride + word] >> shift) & top
                side = (x < middle) | ((x == middle) & (ties > 0))
                ties -= x == middle
                for q in range(stride):
                    y = rows[i * stride + q]
                    rows[a + q] = y
                    spare[b + q] = y
                a += stride * side
                b += stride * (1 - side)
    for i in range(b - at):
        rows[a + i] = spare[at + i]


def sensitive_codes(
    rows: cython.ulonglong[::1],
    stride: cython.longlong,
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    codes: cython.int[::1],
    numbers: cython.int[::1],
) -> None:
    """The sensitive codes and the row numbers of the tuples of some nodes, node after node."""
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    used: cython.Py_ssize_t = 0
    word: cython.ulonglong
    half: cython.ulonglong = 0xFFFFFFFF
    with cython.nogil:
        for g in range(starts.shape[0]):
            for i in range(starts[g], stops[g]):
                word = rows[(i + 1) * stride - 1]
                codes[used] = word >> 32
                numbers[used] = word & half
                used += 1


def take_tuples(
    rows: cython.ulonglong[::1],
    stride: cython.longlong,
    places: cython.int[::1],
    taken: cython.ulonglong[::1],
    numbers: cython.int[::1],
) -> None:
    """Copy the tuples that lie at these places, numbered anew from 0; ``numbers`` gets their row numbers."""
    i: cython.Py_ssize_t
    q: cython.Py_ssize_t
    at: cython.Py_ssize_t
    word: cython.ulonglong
    number: cython.ulonglong
    half: cython.ulonglong = 0xFFFFFFFF
    with cython.nogil:
        for i in range(places.shape[0]):
            at = places[i] * stride
            for q in range(stride - 1):
                taken[i * stride + q] = rows[at + q]
            word = rows[at + stride - 1]
            number = i
            taken[(i + 1) * stride - 1] = (word & ~half) | number
            numbers[i] = word & half


def part_order(
    order: cython.int[::1], chosen: cython.uchar[::1], rest: cython.int[::1], remainder: cython.int[::1]
) -> None:
    """Part an order in two, keeping it inside both; ``chosen`` marks places in it."""
    i: cython.Py_ssize_t
    a: cython.Py_ssize_t = 0
    b: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(order.shape[0]):
            if chosen[i]:
                remainder[b] = order[i]
                b += 1
            else:
                rest[a] = order[i]
                a += 1


# --- balanced groups -------------------------------------------------------------------------------------------------


def plan_groups(
    first: cython.longlong[::1],
    values: cython.int[::1],
    sizes: cython.longlong[::1],
    starts: cython.longlong[::1],
    coins: cython.longlong[::1],
    ell: cython.longlong,
    alike: cython.bint,
    of_value: cython.longlong[:, ::1],
    runs: cython.longlong[:, ::1],
    chosen: cython.longlong[::1],
    columns: cython.longlong[::1],
    lengths: cython.int[::1],
    slots: cython.int[::1],
) -> cython.longlong:
    """Plan balanced groups, several of a kind at once: return how many kinds there are, of all leaves together.

    Segment ``2 * e`` is the left half of leaf ``e`` and segment ``2 * e + 1`` the right one. The tuples of a segment
    with one value are a class: segment ``s`` has the classes ``first[s] .. first[s + 1] - 1``, each with its value, its
    size and its first slot. A coin of 1 lets the left half of a leaf play the first part.

    A kind is one bucket of ``lengths`` groups, which take the same values from the same halves: a column for each tuple
    of a group, and in every slot of a class the number of a column. Column ``c`` begins at place ``columns[c]``; as
    many columns as a group has tuples belong to each bucket. If groups need not be ``alike``, every bucket is a group.

    Parameters
    ----------
    of_value
        Zeros, a column per value: what is left in the first part, in the second, and in both; the next slot of either;
        how often the group takes it; the values before and after it in the list.
    runs
        Of -1, a column per count up to the largest: the first and the last value of that count in the list.
    chosen
        A place per tuple of a group: the values that it takes.
    """
    size: cython.longlong = ell if ell % 2 == 0 else 2 * ell
    most: cython.longlong = size // ell
    half: cython.longlong = size // 2
    n_columns: cython.int = 0
    n_kinds: cython.longlong = 0
    place: cython.longlong = 0
    e: cython.Py_ssize_t
    i: cython.Py_ssize_t
    p: cython.Py_ssize_t
    v: cython.longlong
    top: cython.longlong
    part: cython.Py_ssize_t
    n_chosen: cython.Py_ssize_t
    m: cython.longlong
    c: cython.longlong
    alpha: cython.longlong
    times: cython.longlong
    total: cython.longlong
    only_first: cython.longlong
    only_second: cython.longlong
    a: cython.longlong
    b: cython.longlong
    with cython.nogil:
        for e in range(coins.shape[0]):
            m = collect_leaf(e, coins[e], first, values, sizes, starts, of_value) // size
            top = list_values(e, first, values, of_value, runs)
            while m > 0:
                n_chosen = 0
                total = 0
                only_first = 0  # tuples that only the first part can give
                only_second = 0
                v = top
                while v >= 0 and of_value[2, v] > most * (m - 1):  # what later groups could not take
                    times = of_value[2, v] - most * (m - 1)
                    of_value[5, v] = times
                    chosen[n_chosen] = v
                    n_chosen += 1
                    total += times
                    only_first += times - of_value[1, v] if times > of_value[1, v] else 0
                    only_second += times - of_value[0, v] if times > of_value[0, v] else 0
                    v = of_value[7, v]
                for times in range(1, most + 1):
                    v = top
                    while v >= 0 and total < size:
                        c = of_value[5, v]
                        if c < times and c < of_value[2, v]:
                            a = only_first + (1 if c >= of_value[1, v] else 0)
                            b = only_second + (1 if c >= of_value[0, v] else 0)
                            if a <= half and b <= half:
                                only_first = a
                                only_second = b
                                if c == 0:
                                    chosen[n_chosen] = v
                                    n_chosen += 1
                                of_value[5, v] = c + 1
                                total += 1
                        v = of_value[7, v]
                # So many groups of this kind leave counts that the others can take.
                alpha = m if alike else 1
                v = top
                while v >= 0 and alpha > 1:
                    c = most - of_value[5, v]
                    if c > 0 and c * alpha > most * m - of_value[2, v]:
                        alpha = (most * m - of_value[2, v]) // c
                    v = of_value[7, v]
                c = only_first
                for p in range(n_chosen):
                    v = chosen[p]
                    times = of_value[5, v]
                    a = first_part(times, of_value[0, v], of_value[1, v], half - c)
                    c += a - (times - of_value[1, v] if times > of_value[1, v] else 0)
                    if a > 0 and a * alpha > of_value[0, v]:
                        alpha = of_value[0, v] // a
                    if times > a and (times - a) * alpha > of_value[1, v]:
                        alpha = of_value[1, v] // (times - a)
                for p in range(n_chosen):
                    v = chosen[p]
                    times = of_value[5, v]
                    a = first_part(times, of_value[0, v], of_value[1, v], half - only_first)
                    only_first += a - (times - of_value[1, v] if times > of_value[1, v] else 0)
                    of_value[0, v] -= a * alpha
                    of_value[1, v] -= (times - a) * alpha
                    for c in range(times):
                        part = 3 if c < a else 4
                        for i in range(of_value[part, v], of_value[part, v] + alpha):
                            slots[i] = n_columns
                        of_value[part, v] += alpha
                        columns[n_columns] = place
                        n_columns += 1
                        place += alpha
                    of_value[5, v] = times * alpha
                for p in range(n_chosen):
                    while of_value[5, chosen[p]] > 0:
                        top = take_one(top, chosen[p], of_value, runs)
                lengths[n_kinds] = alpha
                n_kinds += 1
                m -= alpha
    return n_kinds


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def first_part(
    times: cython.longlong, first: cython.longlong, second: cython.longlong, room: cython.longlong
) -> cython.longlong:
    """How many of ``times`` tuples the first part gives: what the second has not, and of the rest what has room."""
    a: cython.longlong = times - second if times > second else 0
    b: cython.longlong = times - first if times > first else 0
    free: cython.longlong = times - a - b
    return a + (free if free < room else room)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def collect_leaf(
    e: cython.Py_ssize_t,
    coin: cython.longlong,
    first: cython.longlong[::1],
    values: cython.int[::1],
    sizes: cython.longlong[::1],
    starts: cython.longlong[::1],
    of_value: cython.longlong[:, ::1],
) -> cython.longlong:
    """Write down the histograms of both parts of a leaf; return how many tuples it has."""
    part: cython.Py_ssize_t
    s: cython.Py_ssize_t
    b: cython.Py_ssize_t
    v: cython.Py_ssize_t
    total: cython.longlong = 0
    for part in range(2):
        s = 2 * e + (part if coin == 1 else 1 - part)
        for b in range(first[s], first[s + 1]):
            v = values[b]
            of_value[part, v] = sizes[b]
            of_value[2, v] += sizes[b]
            of_value[3 + part, v] = starts[b]
            total += sizes[b]
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def list_values(
    e: cython.Py_ssize_t,
    first: cython.longlong[::1],
    values: cython.int[::1],
    of_value: cython.longlong[:, ::1],
    runs: cython.longlong[:, ::1],
) -> cython.longlong:
    """Link the values of a leaf, by count (the largest first), then by code; return the first."""
    a: cython.Py_ssize_t = first[2 * e]
    b: cython.Py_ssize_t = first[2 * e + 1]
    middle: cython.Py_ssize_t = b
    stop: cython.Py_ssize_t = first[2 * e + 2]
    v: cython.longlong
    c: cython.longlong
    largest: cython.longlong = 0
    top: cython.longlong = -1
    last: cython.longlong = -1
    while a < middle or b < stop:  # both halves' values ascend
        if b >= stop or (a < middle and values[a] <= values[b]):
            v = values[a]
            b += b < stop and values[b] == v
            a += 1
        else:
            v = values[b]
            b += 1
        c = of_value[2, v]
        largest = c if c > largest else largest
        if runs[0, c] < 0:
            runs[0, c] = v
        else:
            of_value[7, runs[1, c]] = v
            of_value[6, v] = runs[1, c]
        runs[1, c] = v
    for c in range(largest, 0, -1):
        if runs[0, c] >= 0:
            of_value[6, runs[0, c]] = last
            if last < 0:
                top = runs[0, c]
            else:
                of_value[7, last] = runs[0, c]
            last = runs[1, c]
    of_value[7, last] = -1
    return top


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def take_one(
    top: cython.longlong, v: cython.longlong, of_value: cython.longlong[:, ::1], runs: cython.longlong[:, ::1]
) -> cython.longlong:
    """Count one tuple less of a value, which moves in the list, or leaves it; return the first of the list."""
    c: cython.longlong = of_value[2, v]
    before: cython.longlong = of_value[6, v]
    after: cython.longlong = of_value[7, v]
    if before >= 0:
        of_value[7, before] = after
    else:
        top = after
    if after >= 0:
        of_value[6, after] = before
    if runs[0, c] == v and runs[1, c] == v:
        runs[0, c] = -1
        runs[1, c] = -1
    elif runs[0, c] == v:
        runs[0, c] = after
    elif runs[1, c] == v:
        runs[1, c] = before
    of_value[2, v] = c - 1
    of_value[5, v] -= 1
    if c == 1:
        return top
    if runs[0, c - 1] < 0:  # behind what has more
        before = runs[1, c] if runs[1, c] >= 0 else before
        runs[0, c - 1] = v
        runs[1, c - 1] = v
    elif v < runs[0, c - 1]:
        before = of_value[6, runs[0, c - 1]]
        runs[0, c - 1] = v
    else:
        before = runs[1, c - 1]
        while before > v:
            before = of_value[6, before]
        if before == runs[1, c - 1]:
            runs[1, c - 1] = v
    if before >= 0:
        after = of_value[7, before]
        of_value[7, before] = v
    else:
        after = top
        top = v
    of_value[6, v] = before
    of_value[7, v] = after
    if after >= 0:
        of_value[6, after] = v
    return top
