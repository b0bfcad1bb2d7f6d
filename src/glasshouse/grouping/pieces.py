# SPDX-License-Identifier: Apache-2.0
"""Work in pieces, done by as many threads as the engine has.

Pieces are cut by the data alone, and random choices belong to a piece, never to a thread. So the number of threads, and
which of them comes first, decide nothing but the time.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.randomness import Draws

    Result = TypeVar("Result")

__all__ = ["pieces_of_runs", "share", "shuffle_runs", "stretches"]

# A piece has about this many tuples: few enough for many threads to have their share of a large table, and enough that
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

    Run ``r`` holds the tuples from ``offsets[r]`` to ``offsets[r + 1]``. A run is never cut, however long it is.

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
    """The order in which pieces are begun; any would do."""
    return iter(range(n))
