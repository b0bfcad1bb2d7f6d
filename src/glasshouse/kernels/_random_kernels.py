# SPDX-License-Identifier: Apache-2.0
"""Turning a stream of uniform 32-bit words into unbiased draws: bare loops, called through `Source`.

``progress`` holds two places: the next unused word, and the next item to draw. A kernel goes on until its items or the
words run out, and leaves both places where it stopped; the caller adds words and calls again. A word that is rejected
is thrown away and its item drawn anew, so nothing but ``progress`` is remembered between calls, and where the words are
cut into buffers cannot be seen in the results.
"""

import cython

Integer = cython.fused_type(cython.int, cython.longlong)


def fill(
    words: cython.uint[::1],
    progress: cython.longlong[::1],
    bounds: cython.longlong[::1],
    values: cython.longlong[::1],
) -> None:
    """Set ``values[i]`` uniformly in ``0 .. bounds[i] - 1``; a single bound serves all items."""
    n: cython.Py_ssize_t = values.shape[0]
    n_words: cython.Py_ssize_t = words.shape[0]
    step: cython.Py_ssize_t = 0 if bounds.shape[0] == 1 else 1
    at: cython.Py_ssize_t = progress[0]
    i: cython.Py_ssize_t = progress[1]
    top: cython.ulonglong = 0xFFFFFFFF
    bound: cython.ulonglong
    with cython.nogil:
        while i < n and at < n_words:
            bound = bounds[i * step]
            if bound <= top:
                # value = floor(word * bound / 2^32), rejecting the 2^32 mod bound words with the lowest remainders:
                # every value then keeps exactly floor(2^32 / bound) words. The remainder is computed only if in doubt.
                word = words[at]
                at += 1
                word = word * bound
                low = word & top
                if low < bound and low < (top - bound + 1) % bound:
                    continue
                values[i] = word >> 32
            else:
                # Two words, low half first, cut to the bits of bound - 1; rejected from bound on (less than half).
                if at + 2 > n_words:
                    break
                word = words[at + 1]
                word = (word << 32) | words[at]
                at += 2
                low = bound - 1
                low |= low >> 1
                low |= low >> 2
                low |= low >> 4
                low |= low >> 8
                low |= low >> 16
                low |= low >> 32
                word &= low
                if word >= bound:
                    continue
                values[i] = word
            i += 1
    progress[0] = at
    progress[1] = i


def shuffle(
    words: cython.uint[::1],
    progress: cython.longlong[::1],
    values: Integer[::1],
) -> None:
    """Fisher-Yates: for i = n-1 down to 1 swap places i and below(i + 1); item number t stands for i = n-1-t."""
    last: cython.Py_ssize_t = values.shape[0] - 1
    n_words: cython.Py_ssize_t = words.shape[0]
    at: cython.Py_ssize_t = progress[0]
    i: cython.Py_ssize_t = last - progress[1]
    j: cython.Py_ssize_t
    top: cython.ulonglong = 0xFFFFFFFF
    bound: cython.ulonglong
    word: cython.ulonglong
    kept: Integer
    with cython.nogil:
        while i > 0 and at < n_words:
            bound = i + 1
            word = words[at]
            at += 1
            word = word * bound
            low = word & top
            if low < bound and low < (top - bound + 1) % bound:
                continue
            j = word >> 32
            kept = values[i]
            values[i] = values[j]
            values[j] = kept
            i -= 1
    progress[0] = at
    progress[1] = last - i


def shuffle_runs(
    words: cython.uint[::1],
    progress: cython.longlong[::1],
    values: Integer[::1],
    offsets: cython.longlong[::1],
) -> None:
    """Shuffle ``values[offsets[r] : offsets[r + 1]]`` for every run r; an item is a place, the last of a run first.

    The first place of a run is an item that draws nothing: nothing is left to exchange it with.
    """
    n: cython.Py_ssize_t = values.shape[0]
    n_words: cython.Py_ssize_t = words.shape[0]
    at: cython.Py_ssize_t = progress[0]
    item: cython.Py_ssize_t = progress[1]
    run: cython.Py_ssize_t = 0
    beyond: cython.Py_ssize_t = offsets.shape[0] - 1
    j: cython.Py_ssize_t
    top: cython.ulonglong = 0xFFFFFFFF
    bound: cython.ulonglong
    word: cython.ulonglong
    kept: Integer
    with cython.nogil:
        while run + 1 < beyond:  # the run in which the last call stopped: the last one that starts at or before item
            j = (run + beyond) // 2
            if offsets[j] <= item:
                run = j
            else:
                beyond = j
        while item < n:
            while offsets[run + 1] <= item:
                run += 1
            start = offsets[run]
            i = offsets[run + 1] - 1 - item  # the place within its run, from the last one down
            while i > 0 and at < n_words:
                bound = i + 1
                word = words[at]
                at += 1
                word = word * bound
                low = word & top
                if low < bound and low < (top - bound + 1) % bound:
                    continue
                j = word >> 32
                kept = values[start + i]
                values[start + i] = values[start + j]
                values[start + j] = kept
                i -= 1
            if i > 0:
                item = offsets[run + 1] - 1 - i
                break
            item = offsets[run + 1]
    progress[0] = at
    progress[1] = item


def mark_subset(
    draws: cython.longlong[::1],
    first: cython.longlong,
    marks: cython.uchar[::1],
) -> None:
    """Floyd's subset: mark each of ``draws``, or ``first + t`` in place of ``draws[t]`` if that is marked already.

    A mark is a bit: that of ``x`` is bit ``x % 8`` of ``marks[x // 8]``.
    """
    one: cython.uchar = 1
    with cython.nogil:
        for t in range(draws.shape[0]):
            place = draws[t]
            if (marks[place >> 3] >> (place & 7)) & 1:
                place = first + t
            marks[place >> 3] |= one << (place & 7)


if not cython.compiled:  # compiled, it is inlined: its body stands in the .pxd

    def below(state, bound):
        """A uniform number below ``bound``, which is below 2^32, by multiplication with rejection.

        ``state[0]`` is the generator: xorshift64* (Vigna, ACM TOMS 42(4), 2016, doi:10.1145/2845077), of whose words
        the upper 32 bits are used. It is for estimates: nothing that protects anybody may be drawn from it.
        """
        x, top, mask = state[0], 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
        while True:
            x ^= x >> 12
            x ^= (x << 25) & mask
            x ^= x >> 27
            word = ((x * 0x2545F4914F6CDD1D & mask) >> 32) * bound
            if word & top >= bound or word & top >= (top - bound + 1) % bound:
                state[0] = x
                return word >> 32
