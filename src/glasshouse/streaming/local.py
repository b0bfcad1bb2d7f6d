# SPDX-License-Identifier: Apache-2.0
"""The engines of one machine: memory, which holds everything, and disk, which holds one piece and one part at a time.

Both run pieces on threads of this process. What the disk engine keeps between two stages is microdata: it lies in
nameless files (`glasshouse.streaming.spill`), which are gone when the process ends, however it ends.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.engines import Memory
from glasshouse.engines.sorting import share
from glasshouse.recoding.parts.word_fields import split_rows
from glasshouse.release.package.parts import write_part
from glasshouse.streaming.spill import Layout, PickledItems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from glasshouse.randomness import Source
    from glasshouse.release.package.parts import PublishedPart
    from glasshouse.streaming.port import Finish, Parts, Rows, Summarise, Work
    from glasshouse.streaming.spill import Disk

    Progress = Callable[[str, int, int], None]

__all__ = ["Local"]

_AT_ONCE = 8  # parts with rows of one word that the memory engine holds at once: some hundred million bytes


class Local:
    """Divides pieces and writes parts in this process.

    Parameters
    ----------
    folder
        Where parts are written: the folder of the release.
    source
        Of random choices.
    disk
        How much memory there is, and where what does not fit is spilled; None to hold everything in memory.
    threads
        How many threads to use; all cores by default.
    marks
        What CSV files have for missing texts, by table and column.
    progress
        Is called with what is being done, how much of it is done, and of how much.
    """

    at_once = False
    shares_memory = True

    def __init__(
        self,
        folder: Path,
        *,
        source: Source,
        disk: Disk | None = None,
        threads: int = 0,
        marks: Mapping[str, Mapping[str, str]] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._folder = folder
        self._source = source
        self.disk = disk
        self._threads = Memory(threads=threads)
        self._marks = marks or {}
        self._tell = progress or (lambda _phase, _done, _total: None)
        self._pieces: list[Any] = []
        self._results: Any = None

    def __enter__(self) -> Local:
        return self

    def __exit__(self, *_: object) -> None:
        self._forget()

    def _forget(self) -> None:
        if self.disk is not None and self._results is not None:
            self._results.close()
        self._results, self._pieces = None, []

    def map_pieces(self, pieces: Iterable[Any], work: Work, summary: Summarise, *, ballast: Any = None) -> list[Any]:
        """Let ``work`` run on every piece, keep its results for `shuffle`, and give a summary of each."""
        self._pieces = list(pieces)
        self._results = {} if self.disk is None else PickledItems(self.disk.folder)
        tell = self._counter("divide", len(self._pieces))

        def run(number: int) -> Any:
            piece = self._pieces[number]
            found = work(piece, ballast, self._source)
            self._results[number] = found
            tell()
            return summary(piece, found, ballast)

        return share(run, [(number,) for number in range(len(self._pieces))], self._threads)

    def last_results(self) -> Iterable[tuple[Any, Any]]:
        """Every piece with its result, which is then forgotten."""
        for number, piece in enumerate(self._pieces):
            yield piece, self._results.pop(number)

    def shuffle(
        self, rows: Rows, tables: Sequence[Parts], finish: Finish, *, ballast: Any = None
    ) -> list[list[PublishedPart]]:
        """Make rows of all pieces, bring those of a part together, and write a file for each part."""
        return [self._written(place, table, rows, finish, ballast) for place, table in enumerate(tables)]

    def _written(self, place: int, table: Parts, rows: Rows, finish: Finish, ballast: Any) -> list[PublishedPart]:
        """Write a table, as many of its parts at a time as there is memory for."""
        step = table.n_parts if self.disk is not None else max(1, _AT_ONCE // table.n_words)
        written: list[PublishedPart] = []
        for first in range(0, table.n_parts, step):
            last = min(first + step, table.n_parts)
            with self._shelf(table, first, last) as shelf:
                self._send(place, rows, ballast, shelf)
                tell = self._counter(f"write {table.name}", table.n_parts, first)
                for part in range(first, last):  # one at a time in memory
                    made = finish(place, part, shelf.take(part), ballast, self._source)
                    marks = self._marks.get(table.name)
                    written.append(write_part(self._folder, table.name, part, table.n_parts, made, table.format, marks))
                    tell()
        return written

    def _send(self, place: int, rows: Rows, ballast: Any, shelf: _Shelf | _Spilled) -> None:
        """Bring the rows of all pieces to their parts."""
        tell = self._counter("shuffle", len(self._pieces))

        def send(number: int) -> None:
            for table, part, words in rows(self._pieces[number], self._results[number], ballast, self._source):
                if table == place:
                    shelf.add(number, part, words)
            tell()

        share(send, [(number,) for number in range(len(self._pieces))], self._threads)
        shelf.close_for_adding()

    def move(self, folder: Path, files: Mapping[str, Sequence[PublishedPart]]) -> None:
        """Do nothing but discard the pieces: parts were written at their final place."""
        self._forget()

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Let ``work`` run on every item."""
        return share(work, [(item,) for item in items], self._threads)

    def _shelf(self, table: Parts, first: int, last: int) -> _Shelf | _Spilled:
        return _Shelf(table, first, last) if self.disk is None else _Spilled(table, self.disk)

    def _counter(self, phase: str, total: int, done: int = 0) -> Callable[[], None]:
        """A function that reports, at each call, that one more item is done."""
        lock = threading.Lock()
        self._tell(phase, done, total)

        def tell() -> None:
            nonlocal done
            with lock:
                done += 1
                self._tell(phase, done, total)

        return tell


class _Shelf:
    """The rows of some parts of a table, from ``first`` to ``last``, in memory."""

    def __init__(self, table: Parts, first: int, last: int) -> None:
        self._table = table
        self._first = first
        self._parts: list[dict[int, NDArray[np.uint64]]] = [{} for _ in range(first, last)]

    def __enter__(self) -> _Shelf:
        return self

    def __exit__(self, *_: object) -> None:
        self._parts = []

    def add(self, number: int, part: NDArray[np.int32], words: NDArray[np.uint64]) -> None:
        """Add those rows of a piece that belong here."""
        if len(self._parts) < self._table.n_parts:
            own = (part >= self._first) & (part < self._first + len(self._parts))
            part, words = part[own] - np.int32(self._first), words[own]
        for shelf, some in zip(self._parts, split_rows(part, words, len(self._parts)), strict=True):
            shelf[number] = some

    def close_for_adding(self) -> None:
        """Declare that all rows were added."""

    def take(self, part: int) -> NDArray[np.uint64]:
        """The rows of a part, which are forgotten here."""
        own, self._parts[part - self._first] = self._parts[part - self._first], {}
        return np.concatenate([*own.values(), np.empty((0, self._table.n_words), np.uint64)])


class _Spilled:
    """The rows of a table, part by part, in a nameless file."""

    def __init__(self, table: Parts, disk: Disk) -> None:
        self._lock = threading.Lock()
        self._n_words = table.n_words
        self._spill = disk.spill(Layout.of((np.uint64, table.n_words)), table.n_parts)

    def __enter__(self) -> _Spilled:
        return self

    def __exit__(self, *_: object) -> None:
        self._spill.close()

    def add(self, number: int, part: NDArray[np.int32], words: NDArray[np.uint64]) -> None:
        """Add the rows of a piece."""
        with self._lock:
            self._spill.append(part.astype(np.int64), [words])

    def close_for_adding(self) -> None:
        """Declare that all rows were added; the memory for pages is released."""
        self._spill.finish()

    def take(self, part: int) -> NDArray[np.uint64]:
        """The rows of a part."""
        (words,) = self._spill.read(part)
        return words.reshape(-1, self._n_words)
