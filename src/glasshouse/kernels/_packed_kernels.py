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
