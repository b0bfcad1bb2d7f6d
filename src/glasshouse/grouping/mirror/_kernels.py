# SPDX-License-Identifier: Apache-2.0
"""Mirror: bare loops over packed tuples, called through `glasshouse.grouping.mirror.mirror` and its refinement.

How tuples and boxes are packed, and what the arrays are that say so: see `glasshouse.kernels._packed_kernels`.
"""

import cython

if cython.compiled:
    from cython.cimports.glasshouse.kernels._packed_kernels import extend, join, largest_count, part, width
    from cython.cimports.glasshouse.kernels._sorting_kernels import sort_codes
else:
    from glasshouse.kernels._packed_kernels import extend, join, largest_count, part, width
    from glasshouse.kernels._sorting_kernels import sort_codes


@cython.final
@cython.cclass
class Halving:
    """What one thread halves nodes with; the tuples are everybody's.

    ``spare`` is as long as ``rows``, ``close`` half as long as a small node. ``dims`` are the attributes that may be
    halved, in the order that breaks ties. ``tally`` is zeros, a place per slot; ``histogram`` is zeros, a place per
    sensitive value; ``codes`` has room for twice the longest node that is sorted.

    A face of a node is halved along the i-th of ``dims`` before code ``middle[i]``, but for the first ``ties[i]`` of
    the tuples with this very code; ``below[i]`` is the last code that is wholly left (or the same code, if none is).
    ``boxes`` holds, for the i-th of ``dims``, the boxes of both halves and of what they cannot exceed; last, that of
    the face. The slack is ``over / under``.
    """

    rows: cython.ulonglong[::1]
    spare: cython.ulonglong[::1]
    close: cython.ulonglong[::1]
    word: cython.longlong[::1]
    shift: cython.longlong[::1]
    top: cython.longlong[::1]
    slot: cython.longlong[::1]
    bits: cython.ulonglong[::1]
    guards: cython.ulonglong[::1]
    places: cython.longlong[::1]
    dims: cython.longlong[::1]
    tally: cython.longlong[::1]
    histogram: cython.longlong[::1]
    codes: cython.int[::1]
    boxes: cython.ulonglong[::1]
    middle: cython.longlong[::1]
    ties: cython.longlong[::1]
    below: cython.longlong[::1]
    ell: cython.longlong
    k: cython.longlong
    over: cython.longlong
    under: cython.longlong
    n_values: cython.Py_ssize_t
    dense: cython.longlong
    strip: cython.longlong
    small: cython.longlong
    words: cython.Py_ssize_t
    face: cython.Py_ssize_t  # where the box of a face lies

    def __init__(self, *state):
        (
            self.rows, self.spare, self.close, self.word, self.shift, self.top, self.slot, self.bits, self.guards,
            self.places, self.dims, self.tally, self.histogram, self.codes, self.boxes, self.middle, self.ties,
            self.below, self.ell, self.k, self.over, self.under, self.n_values, self.dense, self.strip, self.small,
        ) = state  # fmt: skip
        self.words = len(self.bits)
        self.face = 4 * len(self.dims) * self.words

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def halve(self, start: cython.longlong, stop: cython.longlong, faces: cython.longlong) -> cython.void:
        """Put the left halves of all faces of a node before the right ones: of all halvings the one candidate.

        It has the least sum of widths, then the first attribute. All faces are halved along the same attribute, each in
        its own middle, and their left halves together are one half.
        """
        n: cython.Py_ssize_t = self.dims.shape[0]
        d: cython.Py_ssize_t = self.word.shape[0] - 1
        size: cython.longlong = (stop - start) // faces
        best: cython.Py_ssize_t = 0
        least: cython.longlong = 0
        for f in range(faces):
            enclose(
                self.rows, start + f * size, start + (f + 1) * size, self.words, self.bits, self.guards, self.boxes,
                self.face,
            )  # fmt: skip
            for t in range(n):
                self.find_median(start + f * size, start + (f + 1) * size, t)
            if n > 1:
                self.bound_halves(f == 0)
                for t in range(n):
                    self.enclose_halves(start + f * size, start + (f + 1) * size, t)
        if n > 1:
            for t in range(n):
                a = 4 * t * self.words
                cost = width(self.boxes, a, d, self.word, self.shift, self.top, self.slot, self.places)
                a += self.words
                cost += width(self.boxes, a, d, self.word, self.shift, self.top, self.slot, self.places)
                if t == 0 or cost < least:
                    least = cost
                    best = t
        if stop - start <= self.small:
            self.split(start, stop, faces, best, self.close, 0)
        else:
            self.split(start, stop, faces, best, self.spare, start * (self.words + 1))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_median(self, start: cython.longlong, stop: cython.longlong, t: cython.Py_ssize_t) -> cython.void:
        """Where the t-th attribute halves a face: its codes are counted if they are dense, and else sorted."""
        stride: cython.Py_ssize_t = self.words + 1
        half: cython.longlong = (stop - start) // 2
        j: cython.Py_ssize_t = self.dims[t]
        word: cython.Py_ssize_t = self.word[j]
        shift: cython.ulonglong = self.shift[j]
        top: cython.ulonglong = self.top[j]
        at: cython.Py_ssize_t = self.slot[j]
        high: cython.longlong = (self.boxes[self.face + word] >> shift) & top
        low: cython.longlong = self.top[j] - ((self.boxes[self.face + word] >> (shift + 32)) & top)
        x: cython.longlong = low
        last: cython.longlong = low
        before: cython.longlong = 0
        if high == low:
            self.middle[t] = low
            self.ties[t] = half
            self.below[t] = low
        elif high - low <= self.dense * (stop - start):
            count_codes(self.rows, start, stop, stride, word, shift, top, self.tally, at)
            while before + self.tally[at + x] <= half:
                if self.tally[at + x] > 0:
                    last = x
                before += self.tally[at + x]
                x += 1
            self.middle[t] = x
            self.ties[t] = half - before
            self.below[t] = last if before > 0 else x
            for x in range(at + low, at + high + 1):
                self.tally[x] = 0
        else:
            for i in range(stop - start):
                self.codes[i] = (self.rows[(start + i) * stride + word] >> shift) & top
            sort_codes(self.codes, stop - start, high)
            x = self.codes[half]
            i = half
            while i > 0 and self.codes[i - 1] == x:
                i -= 1
            self.middle[t] = x
            self.ties[t] = half - i
            self.below[t] = self.codes[i - 1] if i > 0 else x

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bound_halves(self, anew: cython.bint) -> cython.void:
        """What the box of a half of a face cannot exceed: the face's, and on the attribute the codes of that half.

        The boxes of the halves are emptied if they are begun ``anew``.
        """
        words: cython.Py_ssize_t = self.words
        shift: cython.ulonglong
        top: cython.ulonglong
        x: cython.ulonglong
        for t in range(self.dims.shape[0]):
            j = self.dims[t]
            shift = self.shift[j]
            top = self.top[j]
            a = 4 * t * words
            for q in range(words):
                if anew:
                    self.boxes[a + q] = 0
                    self.boxes[a + words + q] = 0
                self.boxes[a + 2 * words + q] = self.boxes[self.face + q]
                self.boxes[a + 3 * words + q] = self.boxes[self.face + q]
            a += 2 * words + self.word[j]
            x = self.middle[t] if self.ties[t] > 0 else self.below[t]
            self.boxes[a] = (self.boxes[a] & ~(top << shift)) | (x << shift)
            a += words
            x = self.top[j] - self.middle[t]
            self.boxes[a] = (self.boxes[a] & ~(top << (shift + 32))) | (x << (shift + 32))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def enclose_halves(self, start: cython.longlong, stop: cython.longlong, t: cython.Py_ssize_t) -> cython.void:
        """The boxes of both halves for one attribute, strip by strip of tuples until they cannot grow any more."""
        j: cython.Py_ssize_t = self.dims[t]
        a: cython.Py_ssize_t = 4 * t * self.words
        ties: cython.longlong = self.ties[t]
        full: cython.bint = False
        while start < stop and not full:
            last = start + self.strip if start + self.strip < stop else stop
            ties = enclose_sides(
                self.rows, start, last, self.words, self.word[j], self.shift[j], self.top[j], self.middle[t], ties,
                self.bits, self.guards, self.boxes, a,
            )  # fmt: skip
            full = True
            for q in range(2 * self.words):
                if self.boxes[a + q] != self.boxes[a + 2 * self.words + q]:
                    full = False
            start = last

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def split(
        self,
        start: cython.longlong,
        stop: cython.longlong,
        faces: cython.longlong,
        t: cython.Py_ssize_t,
        spare: cython.ulonglong[::1],
        at: cython.Py_ssize_t,
    ) -> cython.void:
        """Move the left halves of all faces to the front, keeping orders; the right ones pass through ``spare``."""
        stride: cython.Py_ssize_t = self.words + 1
        j: cython.Py_ssize_t = self.dims[t]
        word: cython.Py_ssize_t = self.word[j]
        shift: cython.ulonglong = self.shift[j]
        top: cython.ulonglong = self.top[j]
        size: cython.longlong = (stop - start) // faces
        a: cython.Py_ssize_t = start * stride
        b: cython.Py_ssize_t = at
        for f in range(faces):
            first = start + f * size
            if faces > 1:  # the median at hand is that of the last face
                low = top
                high = 0
                for i in range(first, first + size):
                    x = (self.rows[i * stride + word] >> shift) & top
                    low = x if x < low else low
                    high = x if x > high else high
                self.boxes[self.face + word] = (high << shift) | ((top - low) << (shift + 32))
                self.find_median(first, first + size, t)
            b = part(
                self.rows, first, first + size, stride, word, shift, top, self.middle[t], self.ties[t], a, spare, b
            )
            a += size // 2 * stride
        for i in range(b - at):
            self.rows[a + i] = spare[at + i]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def enclose(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    words: cython.Py_ssize_t,
    bits: cython.ulonglong[::1],
    guards: cython.ulonglong[::1],
    boxes: cython.ulonglong[::1],
    at: cython.Py_ssize_t,
) -> cython.void:
    """The box of some tuples."""
    for q in range(words):
        box = 0
        for i in range(start, stop):
            row = rows[i * (words + 1) + q]
            if ((box | guards[q]) - row) & guards[q] != guards[q]:
                box = join(box, row, guards[q], bits[q])
        boxes[at + q] = box


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def count_codes(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    stride: cython.Py_ssize_t,
    word: cython.Py_ssize_t,
    shift: cython.ulonglong,
    top: cython.ulonglong,
    tally: cython.longlong[::1],
    at: cython.Py_ssize_t,
) -> cython.void:
    """Count the codes of one attribute."""
    for i in range(start, stop):
        tally[at + ((rows[i * stride + word] >> shift) & top)] += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def enclose_sides(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    words: cython.Py_ssize_t,
    word: cython.Py_ssize_t,
    shift: cython.ulonglong,
    top: cython.ulonglong,
    middle: cython.longlong,
    ties: cython.longlong,
    bits: cython.ulonglong[::1],
    guards: cython.ulonglong[::1],
    boxes: cython.ulonglong[::1],
    a: cython.Py_ssize_t,
) -> cython.longlong:
    """Extend the boxes of both sides by some tuples; return how many ties are left."""
    x: cython.longlong
    b: cython.Py_ssize_t
    guard: cython.ulonglong = guards[0]
    if words == 1:
        for i in range(start, stop):
            row = rows[2 * i]
            x = (row >> shift) & top
            b = a + 1 - ((x < middle) | ((x == middle) & (ties > 0)))  # no branch: it could not be foretold
            ties -= x == middle
            if ((boxes[b] | guard) - row) & guard != guard:
                boxes[b] = join(boxes[b], row, guard, bits[0])
        return ties
    for i in range(start, stop):
        x = (rows[i * (words + 1) + word] >> shift) & top
        b = a if (x < middle) | ((x == middle) & (ties > 0)) else a + words
        ties -= x == middle
        extend(boxes, b, rows, i * (words + 1), words, bits, guards)
    return ties


def divide_nodes(
    halving: Halving,
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    stack: cython.longlong[:, ::1],
    leaves: cython.longlong[:, ::1],
    parts: cython.longlong[:, ::1],
) -> tuple[int, int]:
    """Halve every node under frequency l-diversity; nodes of at most ``small`` tuples until only leaves are left.

    A node is tested if it has more than k tuples and slack: no value's count times l times slack is above its size.
    ``leaves`` (start, stop, whether tested) and ``parts`` (start, stop) receive what becomes of the nodes, a row for
    each; return how many of each. ``parts`` may be halved further. The left half of a leaf that was tested lies before
    its right one. On the ``stack`` lie nodes (start, stop, count of the most frequent value).
    """
    ell: cython.longlong = halving.ell
    stride: cython.Py_ssize_t = halving.words + 1
    n_leaves: cython.longlong = 0
    n_parts: cython.longlong = 0
    depth: cython.Py_ssize_t
    tested: cython.bint
    with cython.nogil:
        for g in range(starts.shape[0]):
            most = largest_count(halving.rows, starts[g], stops[g], stride, halving.n_values, halving.histogram)
            push(stack, 0, starts[g], stops[g], most)
            depth = 1
            while depth > 0:
                depth -= 1
                start = stack[depth, 0]
                stop = stack[depth, 1]
                most = stack[depth, 2]
                half = (stop - start) // 2
                tested = stop - start > halving.k and most * ell * halving.over <= (stop - start) * halving.under
                if tested:
                    halving.halve(start, stop, 1)
                    left = largest_count(halving.rows, start, start + half, stride, halving.n_values, halving.histogram)
                    right = largest_count(halving.rows, start + half, stop, stride, halving.n_values, halving.histogram)
                    if left * ell <= half and right * ell <= half:
                        if half > halving.small:
                            parts[n_parts, 0] = start
                            parts[n_parts, 1] = start + half
                            parts[n_parts + 1, 0] = start + half
                            parts[n_parts + 1, 1] = stop
                            n_parts += 2
                        else:
                            push(stack, depth, start, start + half, left)
                            push(stack, depth + 1, start + half, stop, right)
                            depth += 2
                        continue
                push(leaves, n_leaves, start, stop, tested)
                n_leaves += 1
    return n_leaves, n_parts


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def push(
    nodes: cython.longlong[:, ::1],
    at: cython.Py_ssize_t,
    start: cython.longlong,
    stop: cython.longlong,
    what: cython.longlong,
) -> cython.void:
    """Write down a node."""
    nodes[at, 0] = start
    nodes[at, 1] = stop
    nodes[at, 2] = what


def halve_nodes(
    halving: Halving, starts: cython.longlong[::1], stops: cython.longlong[::1], faces: cython.longlong[::1]
) -> None:
    """Put the left halves of all faces of every node before the right halves, whatever becomes of them.

    The faces of a node are runs of equally many tuples, one after another; so are their halves afterwards.
    """
    with cython.nogil:
        for g in range(starts.shape[0]):
            halving.halve(starts[g], stops[g], faces[g])


def sensitive_codes(
    rows: cython.ulonglong[::1],
    stride: cython.longlong,
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    codes: cython.int[::1],
    numbers: cython.int[::1],
) -> None:
    """The sensitive codes and the row numbers of the tuples of some nodes, node after node."""
    used: cython.Py_ssize_t = 0
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
