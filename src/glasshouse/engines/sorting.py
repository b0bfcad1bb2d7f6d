# SPDX-License-Identifier: Apache-2.0
"""Passes over records in pieces: sharing work among threads, shuffling runs, sorting by integers, applying an order.

Pieces are cut by the data alone and done by as many threads as the engine has, and random choices belong to a piece,
never to a thread. So the number of threads, and which of them comes first, decide nothing but the time.

Columns are joined into keys of up to 32 bits, and records sorted by one key after another, digit by digit, from the
least significant on. Every sort is stable, so there is one result, however the work is cut and shared.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from glasshouse.kernels import compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.randomness import Draws

    Result = TypeVar("Result")
    Keys = list[tuple[NDArray[np.uint32], int]]  # the most significant first, each with the bits that it has

__all__ = [
    "Keys",
    "along",
    "joined",
    "label_along",
    "pieces_of_runs",
    "runs",
    "share",
    "shuffle_runs",
    "sort_words",
    "sorted_by",
    "spread",
    "stretches",
    "together",
]

KERNELS = "glasshouse.grouping.along_order._kernels"

# The most bits that columns have together in one key.
KEY = 32
# Bits of a digit: more of them, and the places to which a pass writes would no longer stay in the processor's cache.
DIGIT = 11
# A word holds a key above the number of its record, which has so many bits.
_NUMBER = 32
# A piece has about this many records: few enough for many threads to have their share of a large table, and enough that
# they seldom wait for each other between two pieces. Seeded choices belong to pieces: another size makes other choices.
PIECE = 1 << 19


def stretches(n: int) -> list[tuple[int, int]]:
    """Cut ``0 .. n - 1`` into pieces; each is given by its start and its stop.

    >>> stretches(PIECE + 5) == [(0, PIECE), (PIECE, PIECE + 5)], stretches(0)
    (True, [])
    """
    return [(start, min(start + PIECE, n)) for start in range(0, n, PIECE)]


def pieces_of_runs(offsets: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut a list of runs into pieces; each is given by its first run and the one after its last.

    Run ``r`` holds the records from ``offsets[r]`` to ``offsets[r + 1]``. A run is never cut, however long it is.

    >>> pieces_of_runs(np.array([0, 3, 2 * PIECE, 2 * PIECE + 1]))
    [(0, 2), (2, 3)]
    """
    wanted = np.arange(offsets[0], offsets[-1], PIECE)
    borders = np.unique(np.append(np.searchsorted(offsets, wanted), len(offsets) - 1)).tolist()
    return list(pairwise([0, *borders[1:]]))


def share(work: Callable[..., Result], pieces: Sequence[tuple[Any, ...]], engine: Memory) -> list[Result]:
    """Do ``work`` on every piece, on the engine's threads; the results come in the order of the pieces.

    >>> from glasshouse.engines import Memory
    >>> share(lambda start, stop: stop - start, [(0, 3), (3, 5)], Memory(threads=2))
    [3, 2]
    """
    threads = min(len(pieces), engine.threads or os.cpu_count() or 1)
    if threads <= 1:
        return [work(*piece) for piece in pieces]
    results: dict[int, Result] = {}
    waiting, turn = _turns(len(pieces)), Lock()

    def take_turns() -> None:  # cheaper than to hand out the pieces one by one
        while True:
            with turn:
                number = next(waiting, None)
            if number is None:
                return
            results[number] = work(*pieces[number])

    with ThreadPoolExecutor(threads - 1) as pool:  # and this thread
        others = [pool.submit(take_turns) for _ in range(threads - 1)]
        take_turns()
        for other in others:
            other.result()
    return [results[number] for number in range(len(pieces))]


def shuffle_runs(array: NDArray[np.int32], offsets: NDArray[np.int64], source: Draws, engine: Memory) -> None:
    """Put every ``array[offsets[r] : offsets[r + 1]]`` in uniformly random order by itself, in place.

    Each piece draws from a child of ``source`` that belongs to its number.
    """

    def shuffle(number: int, first: int, last: int) -> None:
        mine = offsets[first : last + 1]
        source.child("piece", number).shuffle_runs(array[mine[0] : mine[-1]], mine - mine[0])

    share(shuffle, [(number, *piece) for number, piece in enumerate(pieces_of_runs(offsets))], engine)


def _turns(n: int) -> Iterator[int]:
    """The order in which pieces are begun; the result does not depend on it."""
    return iter(range(n))


def joined(columns: Sequence[NDArray[np.int32]], engine: Memory) -> Keys:
    """Pack columns into keys that sort in the same order: as many columns into a key as fit."""
    grouped: list[list[tuple[NDArray[np.int32], int]]] = []
    size = 1
    for codes in columns:
        factor = int(codes.max(initial=0)) + 1
        size *= factor
        if not grouped or size > 1 << KEY:
            grouped.append([])
            size = factor
        grouped[-1].append((np.ascontiguousarray(codes, np.int32), factor))
    return [(_join(parts, engine), (prod(factor for _, factor in parts) - 1).bit_length()) for parts in grouped]


def sorted_by(
    keys: Keys, ties: NDArray[np.int32] | None, engine: Memory
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Sort records stably by their keys; also where the most significant key differs from the one before."""
    order = np.empty(0, np.int32) if ties is None else ties
    for key, bits in reversed(keys):
        order, fresh = _sorted_by_one(key, bits, order, engine)
    return order, fresh


def sort_words(words: NDArray[np.uint64], low: int, high: int, engine: Memory) -> NDArray[np.uint64]:
    """Sort words by their bits from ``low`` to ``high``, as a copy; those above are zeros, those below do not count.

    >>> from glasshouse.engines import Memory
    >>> sort_words(np.array([9, 4, 5, 1], np.uint64), 1, 4, Memory()).tolist()
    [1, 4, 5, 9]
    """
    kernels = compiled(KERNELS)
    packed, spare = words.copy(), np.empty_like(words)
    for shift, width in _digits(high - low):
        _sort_by_digit(kernels, packed, spare, low + shift, width, engine)
        packed, spare = spare, packed
    return packed


def runs(keys: Keys, ties: NDArray[np.int32] | None, engine: Memory) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Sort records by their keys; also where each run of records with equal keys starts, and the number of records."""
    order, fresh = sorted_by(keys, ties, engine)
    kernels, pieces = compiled(KERNELS), stretches(len(order))

    def starts(start: int, stop: int) -> NDArray[np.int64]:
        for key, _ in keys[1:]:
            kernels.mark_fresh(key, order, start, stop, fresh)
        return np.flatnonzero(fresh[start:stop]) + start

    return order, np.concatenate([*share(starts, pieces, engine), [len(order)]])


def together(
    labels: NDArray[np.int32], ties: NDArray[np.int32] | None, engine: Memory
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the records group after group, and where each group starts; records in no group (-1) are left out.

    Inside a group records are in tie order. There is one more offset than there are groups that have records.

    >>> from glasshouse.engines import Memory
    >>> together(np.array([1, 0, -1, 1], np.int32), None, Memory())
    (array([1, 0, 3], dtype=int32), array([0, 1, 3]))
    """
    order, offsets = runs(joined([labels + np.int32(1)], engine), ties, engine)
    n_dropped = int(np.count_nonzero(labels < 0))
    return (order[n_dropped:], offsets[1:] - n_dropped) if n_dropped else (order, offsets)


def along(
    codes: NDArray[np.int32], order: NDArray[np.int32], engine: Memory, *, found: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """Copy a column in the given order, into ``found`` if that is given.

    >>> from glasshouse.engines import Memory
    >>> along(np.array([5, 6, 7], np.int32), np.array([2, 0, 1], np.int32), Memory())
    array([7, 5, 6], dtype=int32)
    """
    kernels = compiled(KERNELS)
    found = np.empty(len(order), np.int32) if found is None else found
    codes = np.ascontiguousarray(codes, np.int32)
    share(lambda start, stop: kernels.gather(codes, order, start, stop, found), stretches(len(order)), engine)
    return found


def spread(values: NDArray[np.int32], order: NDArray[np.int32], n: int, engine: Memory) -> NDArray[np.int32]:
    """Assign values to the records of an order, and -1 to all other of ``n`` records.

    >>> from glasshouse.engines import Memory
    >>> spread(np.array([7, 5], np.int32), np.array([2, 0], np.int32), 4, Memory())
    array([ 5, -1,  7, -1], dtype=int32)
    """
    kernels = compiled(KERNELS)
    found = np.empty(n, np.int32) if len(order) == n else np.full(n, -1, np.int32)
    share(lambda start, stop: kernels.scatter(values, order, start, stop, found), stretches(len(order)), engine)
    return found


def label_along(
    order: NDArray[np.int32], offsets: NDArray[np.int64], engine: Memory, *, n_published: int | None = None
) -> NDArray[np.int32]:
    """Label the records of an order by runs: run ``g`` lies between ``offsets[g]`` and ``offsets[g + 1]``.

    Records of the runs from ``n_published`` on are labelled -1.

    >>> from glasshouse.engines import Memory
    >>> label_along(np.array([2, 0, 1], np.int32), np.array([0, 1, 3]), Memory())
    array([1, 1, 0], dtype=int32)
    """
    kernels, labels = compiled(KERNELS), np.empty(len(order), np.int32)
    last = len(offsets) - 1 if n_published is None else n_published
    share(lambda a, b: kernels.label_runs(order, offsets, a, b, last, labels), pieces_of_runs(offsets), engine)
    return labels


def _join(parts: list[tuple[NDArray[np.int32], int]], engine: Memory) -> NDArray[np.uint32]:
    if len(parts) == 1:
        return parts[0][0].view(np.uint32)
    kernels, keys = compiled(KERNELS), np.zeros(len(parts[0][0]), np.uint32)

    def join(start: int, stop: int) -> None:
        for codes, factor in parts:
            kernels.join_codes(codes, start, stop, factor, keys)

    share(join, stretches(len(keys)), engine)
    return keys


def _sorted_by_one(
    key: NDArray[np.uint32], bits: int, order: NDArray[np.int32], engine: Memory
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Sort ``order`` (if empty, that of the numbers) stably by one key; also where the key differs from the one before.

    Key and number of a record travel in one word: a record is looked up once for each key, and not for each digit.
    """
    kernels, pieces = compiled(KERNELS), stretches(len(key))
    packed, spare = np.empty((2, len(key)), np.uint64)
    share(lambda start, stop: kernels.load_keys(key, order, start, stop, packed), pieces, engine)
    for shift, width in _digits(bits):
        _sort_by_digit(kernels, packed, spare, _NUMBER + shift, width, engine)
        packed, spare = spare, packed
    placed, fresh = np.empty(len(key), np.int32), np.empty(len(key), np.uint8)
    share(lambda start, stop: kernels.unload_keys(packed, start, stop, placed, fresh), pieces, engine)
    return placed, fresh


def _digits(bits: int) -> list[tuple[int, int]]:
    """Divide ``bits`` bits into digits of almost equal width, lowest first: the start and width of each."""
    n_digits = -(-bits // DIGIT)
    borders = [bits * i // n_digits for i in range(n_digits + 1)] if bits else [0]
    return [(low, high - low) for low, high in pairwise(borders)]


def _sort_by_digit(
    kernels: Any, packed: NDArray[np.uint64], target: NDArray[np.uint64], shift: int, width: int, engine: Memory
) -> None:
    """Move words to ``target``, sorted stably by one digit: each piece knows where its words of each digit go."""
    pieces = stretches(len(packed))
    counts = np.zeros((len(pieces), 1 << width), np.int64)
    numbered = [(number, *piece) for number, piece in enumerate(pieces)]
    mask = (1 << width) - 1
    share(lambda i, a, b: kernels.count_digits(packed, a, b, shift, mask, counts[i]), numbered, engine)
    by_digit = counts.T.ravel()  # the pieces' counts of the first digit, then of the second, ...
    places = (np.cumsum(by_digit) - by_digit).reshape(-1, len(pieces)).T.copy()
    share(lambda i, a, b: kernels.place_digits(packed, a, b, shift, mask, places[i], target), numbered, engine)
