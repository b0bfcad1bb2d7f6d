# SPDX-License-Identifier: Apache-2.0
"""Picking one tuple of every group: a bare loop, called through `perturbed`."""

import cython


def pick_smallest(
    codes: cython.int[::1],
    offsets: cython.longlong[::1],
    places: cython.longlong[::1],
    picked: cython.int[::1],
) -> None:
    """Find, in every run ``codes[offsets[g] : offsets[g + 1]]``, the code at place ``places[g]`` of its sorted order.

    Runs come out in another order. Hoare's selection: codes before the place that is sought are never larger.
    """
    m: cython.Py_ssize_t = places.shape[0]
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    k: cython.Py_ssize_t
    x: cython.int
    y: cython.int
    with cython.nogil:
        for g in range(m):
            low = offsets[g]
            high = offsets[g + 1] - 1
            k = low + places[g]
            while low < high:
                x = codes[low + (high - low) // 2]
                i = low
                j = high
                while i <= j:
                    while codes[i] < x:
                        i += 1
                    while x < codes[j]:
                        j -= 1
                    if i <= j:
                        y = codes[i]
                        codes[i] = codes[j]
                        codes[j] = y
                        i += 1
                        j -= 1
                # codes up to j are at most x, codes from i on at least x, and any between them are x
                if j < k:
                    low = i
                if k < i:
                    high = j
            picked[g] = codes[k]
