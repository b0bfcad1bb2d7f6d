# SPDX-License-Identifier: Apache-2.0
"""Answers to many counting questions in one pass over the seats of a release: bare loops for `workload_answers`.

Questions are answered in blocks, side by side in the innermost loops: a seat is looked at once for all of them, and the
processor works on several at a time. How much of a cell each question of a block covers stands in a row of ``shares``,
that of cell c of the d-th attribute of the block in row ``starts[d] + c``. The last two rows belong to no cell: one is
full of ones, the other is for partial products. A question that does not constrain an attribute has ones there, so
that what is found for it does not depend on the others in its block.
"""

import cython


@cython.final
@cython.cclass
class Grouped:
    """Seats and values of groups: seats of group g, of ``counts`` tuples, lie between ``borders``.

    Group g has ``numbers[i]`` values ``codes[i]`` between ``offsets``.
    """

    counts: cython.int[::1]
    borders: cython.longlong[::1]
    offsets: cython.longlong[::1]
    codes: cython.int[::1]
    numbers: cython.int[::1]

    def __init__(self, *state):
        self.counts, self.borders, self.offsets, self.codes, self.numbers = state


def expected_counts(
    grouped: Grouped,
    cells: cython.int[:, ::1],
    starts: cython.longlong[::1],
    shares: cython.double[:, ::1],
    wanted: cython.int[:, ::1],
    inside: cython.double[::1],
    spread: cython.double[::1],
    matching: cython.int[::1],
    means: cython.double[::1],
    variances: cython.double[::1],
) -> None:
    """Add up mean and variance of every question of a block.

    ``cells[d]`` is the cell of every seat; ``wanted[code]`` is -1 for the questions that want a value, and 0. The next
    three arrays are scratch: of a group the expected tuples that each question covers, their variance, and how many
    values it wants.
    """
    counts = grouped.counts
    borders = grouped.borders
    offsets = grouped.offsets
    codes = grouped.codes
    numbers = grouped.numbers
    width: cython.Py_ssize_t = shares.shape[1]
    ones: cython.Py_ssize_t = shares.shape[0] - 2
    product: cython.Py_ssize_t = shares.shape[0] - 1
    n_used: cython.Py_ssize_t = starts.shape[0]
    n: cython.double
    hits: cython.double
    with cython.nogil:
        for g in range(borders.shape[0] - 1):
            for q in range(width):
                inside[q] = 0.0
                spread[q] = 0.0
            for i in range(borders[g], borders[g + 1]):
                a = starts[0] + cells[0, i] if n_used > 0 else ones
                b = starts[1] + cells[1, i] if n_used > 1 else ones
                c = starts[2] + cells[2, i] if n_used > 2 else ones
                for d in range(3, n_used):
                    for q in range(width):
                        shares[product, q] = shares[a, q] * shares[b, q]
                    a = product
                    b = c
                    c = starts[d] + cells[d, i]
                n = counts[i]
                for q in range(width):
                    p = shares[a, q] * shares[b, q] * shares[c, q]
                    inside[q] = inside[q] + n * p
                    spread[q] = spread[q] + n * p * (1.0 - p)
            for q in range(width):
                matching[q] = 0
            size = 0.0
            for i in range(offsets[g], offsets[g + 1]):
                number = numbers[i]
                c = codes[i]
                size = size + number
                for q in range(width):
                    matching[q] = matching[q] + (number & wanted[c, q])
            if size > 0.0:
                squared = 1.0 / (size * size)
                pairs = squared / (size - 1.0) if size > 1.0 else 0.0
                for q in range(width):
                    hits = matching[q]
                    means[q] = means[q] + inside[q] * hits / size
                    variances[q] = variances[q] + (
                        spread[q] * hits * hits * squared
                        + (size * inside[q] - inside[q] * inside[q] - spread[q]) * hits * (size - hits) * pairs
                    )


def shown_counts(
    cells: cython.int[:, ::1],
    sizes: cython.int[::1],
    starts: cython.longlong[::1],
    shares: cython.double[:, ::1],
    shown: cython.int[::1],
    wanted: cython.double[:, ::1],
    kept: cython.double[::1],
    inside: cython.double[::1],
    squares: cython.double[::1],
    weighted: cython.double[::1],
) -> None:
    """Add up what a perturbed sample shows, for every question of a block.

    Seat i shows the value ``shown[i]`` for ``sizes[i]`` tuples. With p the part of it that a question covers: the sums
    of size * p over seats with a value that it wants (``wanted`` is 1) and over all, of size * p^2, and of
    size^2 * p^2.
    """
    width: cython.Py_ssize_t = shares.shape[1]
    ones: cython.Py_ssize_t = shares.shape[0] - 2
    product: cython.Py_ssize_t = shares.shape[0] - 1
    n_used: cython.Py_ssize_t = starts.shape[0]
    value: cython.Py_ssize_t
    n: cython.double
    with cython.nogil:
        for i in range(sizes.shape[0]):
            a = starts[0] + cells[0, i] if n_used > 0 else ones
            b = starts[1] + cells[1, i] if n_used > 1 else ones
            c = starts[2] + cells[2, i] if n_used > 2 else ones
            for d in range(3, n_used):
                for q in range(width):
                    shares[product, q] = shares[a, q] * shares[b, q]
                a = product
                b = c
                c = starts[d] + cells[d, i]
            n = sizes[i]
            value = shown[i]
            for q in range(width):
                p = shares[a, q] * shares[b, q] * shares[c, q]
                part = n * p
                kept[q] = kept[q] + part * wanted[value, q]
                inside[q] = inside[q] + part
                squares[q] = squares[q] + part * p
                weighted[q] = weighted[q] + part * part


def exact_counts(
    cells: cython.int[:, ::1],
    starts: cython.longlong[::1],
    members: cython.int[:, ::1],
    found: cython.longlong[::1],
) -> None:
    """How many tuples each question of a block covers, where values are known: ``members`` as ``shares``, 0 or 1."""
    width: cython.Py_ssize_t = members.shape[1]
    ones: cython.Py_ssize_t = members.shape[0] - 2
    product: cython.Py_ssize_t = members.shape[0] - 1
    n_used: cython.Py_ssize_t = starts.shape[0]
    with cython.nogil:
        for i in range(cells.shape[1]):
            a = starts[0] + cells[0, i] if n_used > 0 else ones
            b = starts[1] + cells[1, i] if n_used > 1 else ones
            c = starts[2] + cells[2, i] if n_used > 2 else ones
            for d in range(3, n_used):
                for q in range(width):
                    members[product, q] = members[a, q] & members[b, q]
                a = product
                b = c
                c = starts[d] + cells[d, i]
            for q in range(width):
                found[q] = found[q] + (members[a, q] & members[b, q] & members[c, q])
