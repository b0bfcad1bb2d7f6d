# SPDX-License-Identifier: Apache-2.0
"""Items on their way to pages: bare loops, called through `glasshouse.streaming.spill`."""

import cython

Unsigned = cython.fused_type(cython.uchar, cython.ushort, cython.uint, cython.ulonglong)


def places(
    parts: cython.longlong[::1],
    page: cython.longlong,
    filled: cython.longlong[::1],
    out: cython.longlong[::1],
) -> cython.longlong:
    """Give each item the next place of its partition's page; stop when a page is full. How many items got a place."""
    n: cython.Py_ssize_t = parts.shape[0]
    i: cython.Py_ssize_t = 0
    with cython.nogil:
        while i < n:
            p = parts[i]
            out[i] = p * page + filled[p]
            filled[p] += 1
            i += 1
            if filled[p] == page:
                break
    return i


def scatter(
    items: Unsigned[::1],
    width: cython.longlong,
    places: cython.longlong[::1],
    pages: Unsigned[::1],
) -> None:
    """Put each item, ``width`` numbers, in its place."""
    n: cython.Py_ssize_t = places.shape[0]
    with cython.nogil:
        if width == 1:
            for i in range(n):
                pages[places[i]] = items[i]
        else:
            for i in range(n):
                for w in range(width):
                    pages[places[i] * width + w] = items[i * width + w]


def take_turns(kinds: cython.int[::1], at: cython.longlong[::1], places: cython.longlong[::1]) -> None:
    """Give everybody the next place of their kind: ``at`` has the next one of each, and is moved on."""
    with cython.nogil:
        for i in range(kinds.shape[0]):
            places[i] = at[kinds[i]]
            at[kinds[i]] += 1
