# SPDX-License-Identifier: Apache-2.0
"""Sorting codes: bare loops, called by the kernels of several rooms."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sort_codes(codes: cython.int[::1], n: cython.Py_ssize_t, high: cython.longlong) -> cython.void:
    """Sort the first ``n`` codes, none above ``high``: by insertion if they are few, else digit by digit.

    There is room for ``2 * n`` codes.
    """
    x: cython.int
    if n <= 48:
        for i in range(1, n):
            x = codes[i]
            j = i
            while j > 0 and codes[j - 1] > x:
                codes[j] = codes[j - 1]
                j -= 1
            codes[j] = x
        return
    source: cython.Py_ssize_t = 0
    target: cython.Py_ssize_t = n
    shift: cython.int = 0
    digit: cython.int
    places: cython.longlong[257] = [0] * 257
    while (high >> shift) > 0:
        for digit in range(257):
            places[digit] = 0
        for i in range(n):
            places[((codes[source + i] >> shift) & 255) + 1] += 1
        for digit in range(256):
            places[digit + 1] += places[digit]
        for i in range(n):
            x = codes[source + i]
            digit = (x >> shift) & 255
            codes[target + places[digit]] = x
            places[digit] += 1
        source, target = target, source
        shift += 8
    if source > 0:
        for i in range(n):
            codes[i] = codes[source + i]
