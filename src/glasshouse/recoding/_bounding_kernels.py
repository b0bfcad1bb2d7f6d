# SPDX-License-Identifier: Apache-2.0
"""Which codes the tuples of a label have: a bare loop, called through `bounding`."""

import cython


def label_masks(
    labels: cython.int[::1],
    codes: cython.int[::1],
    first: cython.int,
    masks: cython.longlong[::1],
) -> None:
    """Mark in ``masks[g]`` which codes from ``first`` to ``first + 62`` occur under label ``g``, a bit for each."""
    n: cython.Py_ssize_t = labels.shape[0]
    i: cython.Py_ssize_t
    x: cython.int
    one: cython.longlong = 1
    with cython.nogil:
        for i in range(n):
            x = codes[i] - first
            if labels[i] >= 0 and 0 <= x < 63:
                masks[labels[i]] |= one << x
