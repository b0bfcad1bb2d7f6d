# SPDX-License-Identifier: Apache-2.0
"""Packed tuples and their boxes: bare loops, called by the kernels of Tailor, Ace and Mirror.

A tuple is ``words`` 64-bit words of fields, and one more word: its sensitive code (upper half) and its row number. An
attribute's code ``x`` is a field in the lower half of its word; ``top - x``, its complement, lies 32 bits higher; the
highest bit of every field is 0. The fieldwise maximum of some tuples is their *box*: largest codes below, complements
of the smallest above. The box of no tuple is all zeros. With ``guard`` the highest bits of all fields of a word,
``((a | guard) - b) & guard`` keeps the guards of those fields in which ``a`` is at least ``b``.

Where the fields lie, an entry per attribute: ``word``, ``shift`` and ``top``, and ``slot``, where its code 0 has its
place among the codes of all attributes; the last entry of ``slot`` is the number of all codes. An entry per word:
``bits``, how wide its fields are, and ``guards``. ``places`` has an entry per slot: the place of its code.
"""

import cython

if not cython.compiled:  # compiled, these are inlined: their bodies stand in the .pxd

    def join(a, b, guards, bits):
        """The fieldwise maximum: a guard survives the subtraction where a >= b, and is spread over its field."""
        kept = ((a | guards) - b) & guards
        return b ^ ((a ^ b) & (kept - (kept >> (bits - 1))))

    def contains(boxes, a, others, b, words, guards):
        """Whether a box contains another box or tuple."""
        return all(((boxes[a + q] | guards[q]) - others[b + q]) & guards[q] == guards[q] for q in range(words))

    def extend(boxes, a, others, b, words, bits, guards):
        """Extend a box by another box or tuple."""
        for q in range(words):
            boxes[a + q] = join(boxes[a + q], others[b + q], guards[q], bits[q])

    def width(boxes, a, d, word, shift, top, slot, places):
        """The sum of a box's widths; not for the box of no tuple."""
        total = 0
        for j in range(d):
            box = boxes[a + word[j]] >> shift[j]
            high, low = box & top[j], top[j] - ((box >> 32) & top[j])
            total += places[slot[j] + high] - places[slot[j] + low]
        return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def largest_count(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    stride: cython.Py_ssize_t,
    n_values: cython.Py_ssize_t,
    histogram: cython.longlong[::1],
) -> cython.longlong:
    """How many tuples of a node have its most frequent sensitive value; ``histogram`` is zeros before and after."""
    x: cython.Py_ssize_t
    most: cython.longlong = 0
    if n_values <= stop - start:
        for i in range(start, stop):
            histogram[rows[i * stride + stride - 1] >> 32] += 1
        for x in range(n_values):
            most = histogram[x] if histogram[x] > most else most
            histogram[x] = 0
        return most
    for i in range(start, stop):
        x = rows[i * stride + stride - 1] >> 32
        histogram[x] += 1
        most = histogram[x] if histogram[x] > most else most
    for i in range(start, stop):
        histogram[rows[i * stride + stride - 1] >> 32] = 0
    return most


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def part(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    stride: cython.Py_ssize_t,
    word: cython.Py_ssize_t,
    shift: cython.longlong,
    top: cython.ulonglong,
    code: cython.ulonglong,
    ties: cython.longlong,
    a: cython.Py_ssize_t,
    spare: cython.ulonglong[::1],
    b: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Move tuples with a smaller code, and the first ``ties`` of those with this code, to ``rows[a]``; the others wait.

    They go to ``spare[b]``; return where they end. Both are written and one is kept: no processor could guess which.
    """
    x: cython.ulonglong
    y: cython.ulonglong
    side: cython.Py_ssize_t
    if stride == 2:  # the same as below, without an inner loop
        for i in range(start, stop):
            row = rows[2 * i]
            y = rows[2 * i + 1]
            x = (row >> shift) & top
            side = (x < code) | ((x == code) & (ties > 0))
            ties -= x == code
            rows[a] = row  # safe: not behind i
            rows[a + 1] = y
            spare[b] = row
            spare[b + 1] = y
            a += 2 * side
            b += 2 - 2 * side
        return b
    for i in range(start, stop):
        x = (rows[i * stride + word] >> shift) & top
        side = (x < code) | ((x == code) & (ties > 0))
        ties -= x == code
        for q in range(stride):
            y = rows[i * stride + q]
            rows[a + q] = y
            spare[b + q] = y
        a += stride * side
        b += stride * (1 - side)
    return b


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def part_from_behind(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    stride: cython.Py_ssize_t,
    word: cython.Py_ssize_t,
    shift: cython.longlong,
    top: cython.ulonglong,
    code: cython.ulonglong,
    ties: cython.longlong,
    spare: cython.ulonglong[::1],
    b: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """As `part`, from the last tuple to the first: larger codes, and the last ``ties`` with this code, stay."""
    x: cython.ulonglong
    side: cython.Py_ssize_t
    a: cython.Py_ssize_t = (stop - 1) * stride
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
        return b
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
    return b


def pack_code(
    codes: cython.int[::1],
    rows: cython.ulonglong[::1],
    stride: cython.longlong,
    word: cython.longlong,
    shift: cython.longlong,
    top: cython.longlong,
) -> None:
    """Put an attribute's codes and their complements into their fields, which are zeros."""
    x: cython.ulonglong
    y: cython.ulonglong
    with cython.nogil:
        for i in range(codes.shape[0]):
            x = codes[i]
            y = top - codes[i]
            rows[i * stride + word] |= (x << shift) | (y << (shift + 32))


def pack_sensitive(codes: cython.int[::1], rows: cython.ulonglong[::1], stride: cython.longlong) -> None:
    """Set the last word of every tuple: its sensitive code, and its row number."""
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
    half: cython.ulonglong = 0xFFFFFFFF
    with cython.nogil:
        for i in range(placed.shape[0]):
            placed[i] = rows[(i + 1) * stride - 1] & half


def label_runs(
    rows: cython.ulonglong[::1], stride: cython.longlong, offsets: cython.longlong[::1], labels: cython.int[::1]
) -> None:
    """Label the rows of every run of packed tuples with the run's number."""
    half: cython.ulonglong = 0xFFFFFFFF
    with cython.nogil:
        for g in range(offsets.shape[0] - 1):
            for i in range(offsets[g], offsets[g + 1]):
                labels[rows[(i + 1) * stride - 1] & half] = g
