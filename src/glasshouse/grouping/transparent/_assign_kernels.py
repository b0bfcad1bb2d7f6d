# SPDX-License-Identifier: Apache-2.0
"""Assign (TRANSPARENT Figure 6): bare loops over packed tuples, called through `ace_segments`."""

import cython


@cython.final
@cython.cclass
class Segments:
    """Some segments, and how the tuples of each class (segment, value) are dealt to the columns of buckets.

    Class ``k`` is ``handed[runs[k] : runs[k + 1]]``: for each of its tuples the number of a column of a bucket; its
    value is ``values[k]``, and the classes of segment ``s`` begin at ``classes[s]``. Column ``c`` begins at place
    ``columns[c]``. ``fill`` has a place per sensitive code.
    """

    tuples: cython.ulonglong[::1]
    offsets: cython.longlong[::1]
    handed: cython.int[::1]
    runs: cython.longlong[::1]
    values: cython.int[::1]
    classes: cython.longlong[::1]
    columns: cython.longlong[::1]
    fill: cython.longlong[::1]
    stride: cython.Py_ssize_t

    def __init__(self, *state):
        (
            self.tuples, self.offsets, self.handed, self.runs, self.values, self.classes, self.columns, self.fill,
            self.stride,
        ) = state  # fmt: skip


def plan(
    segments: Segments,
    ell: cython.longlong,
    counts: cython.longlong[::1],
    keys: cython.longlong[::1],
    starts: cython.longlong[::1],
    lengths: cython.int[::1],
    widths: cython.int[::1],
) -> tuple[int, int]:
    """Decide the buckets of every segment (Figure 6), and how many tuples of each class (segment, value) each one gets.

    Class ``k`` is ``handed[runs[k] : runs[k + 1]]``: for each of its tuples the number of a column of a bucket; its
    value is ``values[k]``, and the classes of segment ``s`` begin at ``classes[s]``. Column ``c`` begins at place
    ``columns[c]``; bucket ``b`` at ``starts[b]``: ``widths[b]`` columns (beta) of ``lengths[b]`` tuples (alpha).
    Return the number of classes and of buckets, or minus one each if a segment is not l-eligible. ``counts`` is zeros
    before and after, a place per sensitive code; ``keys`` has room for two numbers per sensitive code.

    Alpha in closed form. With S tuples left and counts n_1 >= n_2 >= ..., Figure 6 asks for the largest alpha >= 1 with
    (1) alpha <= n_beta, (2) l (n_1 - alpha) <= S - alpha beta, (3) l n_(beta+1) <= S - alpha beta. What is left is
    always l-eligible, l n_1 <= S, for (2) and (3) bound the largest count that remains. (3) says
    alpha <= (S - l n_(beta+1)) / beta, and (2) follows from (1):

    * for beta = l it is eligibility itself;
    * beta = l has no alpha only if l n_(l+1) > S - l. With S = q l + r, r < l, the first T > l counts are then all q,
      and T q <= S gives (T - l) q <= r. For l < beta < T, (3) asks alpha beta <= r < beta: there is none. For beta = T,
      alpha <= q gives alpha (T - l) <= r = S - l n_1, which is (2); and alpha = 1 obeys (3), for
      l n_(T+1) <= l q - l = S - r - l <= S - T. So the search ends there at the latest.
    """
    n_segments: cython.Py_ssize_t = segments.offsets.shape[0] - 1
    v: cython.Py_ssize_t
    gap: cython.Py_ssize_t
    m: cython.Py_ssize_t
    kept: cython.Py_ssize_t
    n_classes: cython.Py_ssize_t = 0
    n_columns: cython.Py_ssize_t = 0
    n_buckets: cython.Py_ssize_t = 0
    at: cython.longlong = 0
    place: cython.longlong = 0
    room: cython.Py_ssize_t = counts.shape[0]
    low: cython.longlong = 0xFFFFFFFF
    with cython.nogil:
        for s in range(n_segments):
            left = segments.offsets[s + 1] - segments.offsets[s]
            top = left
            m = 0
            for p in range(segments.offsets[s], segments.offsets[s + 1]):
                v = segments.tuples[(p + 1) * segments.stride - 1] >> 32
                if counts[v] == 0:
                    keys[m] = v
                    m += 1
                counts[v] += 1
            # The most frequent value first; equally frequent ones in the order of their codes (shell sort).
            for i in range(m):
                keys[i] = ((top - counts[keys[i]]) << 32) | keys[i]
            gap = 1
            while gap < m:
                gap = 3 * gap + 1
            while gap > 1:
                gap = gap // 3
                for i in range(gap, m):
                    key = keys[i]
                    j = i
                    while j >= gap and keys[j - gap] > key:
                        keys[j] = keys[j - gap]
                        j -= gap
                    keys[j] = key
            segments.classes[s] = n_classes
            for i in range(m):
                v = keys[i] & low
                keys[i] = v
                segments.values[n_classes] = v
                segments.runs[n_classes] = at
                segments.fill[v] = at
                at += counts[v]
                n_classes += 1
            # keys[first : m] are the values that are left, v_1 first; counts are the n_i.
            first = 0
            while left > 0:
                beta = ell - 1
                alpha = 0
                while alpha < 1 and first + beta < m:
                    beta += 1
                    after = counts[keys[first + beta]] if first + beta < m else 0
                    alpha = counts[keys[first + beta - 1]]
                    bound = (left - ell * after) // beta
                    alpha = bound if bound < alpha else alpha
                if alpha < 1:
                    break
                starts[n_buckets] = place
                lengths[n_buckets] = alpha
                widths[n_buckets] = beta
                n_buckets += 1
                kept = 0
                for i in range(beta):
                    v = keys[first + i]
                    for j in range(segments.fill[v], segments.fill[v] + alpha):
                        segments.handed[j] = n_columns
                    segments.fill[v] += alpha
                    segments.columns[n_columns] = place
                    n_columns += 1
                    place += alpha
                    counts[v] -= alpha
                    if counts[v] > 0:
                        keys[room + kept] = v
                        kept += 1
                left -= alpha * beta
                # Both the values of the bucket and the others are still in order: merge the former into the latter.
                first = first + beta - kept
                to = first
                j = first + kept
                i = 0
                while i < kept:
                    v = keys[room + i]
                    if j < m and (counts[keys[j]] > counts[v] or (counts[keys[j]] == counts[v] and keys[j] < v)):
                        keys[to] = keys[j]
                        j += 1
                    else:
                        keys[to] = v
                        i += 1
                    to += 1
            if left > 0:
                for i in range(first, m):
                    counts[keys[i]] = 0
                n_classes = -1
                n_buckets = -1
                break
        if n_classes >= 0:
            segments.classes[n_segments] = n_classes
            segments.runs[n_classes] = at
    return n_classes, n_buckets


def distribute(segments: Segments, words: cython.ulonglong[::1], placed: cython.int[::1]) -> None:
    """Hand the tuples to their columns, in tie order, each class by its own list; fields and row numbers come apart.

    ``columns`` is where each column begins, and afterwards where it ends.
    """
    n_words: cython.Py_ssize_t = segments.stride - 1
    half: cython.ulonglong = 0xFFFFFFFF
    v: cython.Py_ssize_t
    with cython.nogil:
        for s in range(segments.offsets.shape[0] - 1):
            for k in range(segments.classes[s], segments.classes[s + 1]):
                segments.fill[segments.values[k]] = segments.runs[k]
            for p in range(segments.offsets[s], segments.offsets[s + 1]):
                last = segments.tuples[p * segments.stride + n_words]
                v = last >> 32
                k = segments.handed[segments.fill[v]]
                segments.fill[v] += 1
                to = segments.columns[k]
                segments.columns[k] = to + 1
                placed[to] = last & half
                for k in range(n_words):
                    words[to * n_words + k] = segments.tuples[p * segments.stride + k]
