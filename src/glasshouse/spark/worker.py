# SPDX-License-Identifier: Apache-2.0
"""A worker: what a task of Spark does, in the process that Spark starts for it on one of the machines.

A task of the first kind (`Division`) opens a piece, has it divided, and keeps the result, sealed. One of the second
(`Dispatch`) makes rows of a piece and its result, and sends each to its part of a table. One of the third (`Assembly`)
has all rows of one part: it has them sorted and made into a table, and writes its file. All that a task is told is an
`Errand`: a few names, functions and keys. Everything large lies sealed in the shared folder.

What goes wrong in a task is written into Spark's logs and onto its pages. So a task tells which piece or part it was
and where in the code, and never the message of the exception, which may name a value.
"""

from __future__ import annotations

import pickle
import sys
import traceback
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from glasshouse.plural import counted
from glasshouse.release.package.parts import PublishedPart, write_part
from glasshouse.spark.seal import put
from glasshouse.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from glasshouse.randomness import HandedOver, Source
    from glasshouse.spark.seal import Seal
    from glasshouse.streaming.port import Parts

    Summary = Callable[[Any, Any, Any], Any]
    Work = Callable[[Any, Any, Source], Any]
    Rows = Callable[[Any, Any, Any, Source], Iterable[tuple[int, NDArray[Any], NDArray[np.uint64]]]]
    People = Callable[[pa.RecordBatch, Any, Source], Iterable[tuple[int, bytes]]]
    Reunite = Callable[[int, NDArray[np.uint64], Sequence[memoryview], Any], pa.Table]
    Finish = Callable[[int, int, NDArray[np.uint64], Any, Source], pa.Table]

__all__ = ["Assembly", "Chore", "Dispatch", "Division", "Errand", "Reading", "Reunion", "TaskFailed", "versions"]

ROWS = "place int, piece int, chunk int, of int, rows binary"
SUMMARIES = "piece int, summary binary"
FILES = "place int, path string, rows bigint, bytes bigint, hash string"
LOOSE = -1  # the piece of rows that come from a frame
MARK = "glasshouse task"  # a message with it is one of ours
_CHUNK = 1 << 20  # bytes of rows that travel as one

_ballast: dict[str, Any] = {}  # what was opened last in this process, by its file


@dataclass(frozen=True, kw_only=True)
class Errand:
    """The common description for all tasks of one step: it is sent with their function, so it is small."""

    folder: str
    seal: Seal
    key: HandedOver
    ballast: str
    versions: tuple[str, ...]
    n_pieces: int

    def check(self) -> None:
        """Refuse to work in a place that would write other bytes, or that does not see the shared folder."""
        found = versions()
        if found != self.versions:
            raise TaskFailed(f"versions; the driver has {self.versions}, a worker has {found}")
        if not Path(self.folder).is_dir():
            raise TaskFailed("folder")

    def file(self, kind: str, number: int) -> Path:
        """The path of a piece, a result or a part."""
        return Path(self.folder, kind, f"{kind}-{number:05}")

    def common(self) -> Any:
        """The shared data of all tasks of the step, opened once in each process."""
        file = Path(self.folder, self.ballast)
        if self.ballast not in _ballast:
            _ballast.clear()
            _ballast[self.ballast] = self.seal.read(file)
        return _ballast[self.ballast]


class TaskFailed(Exception):
    """A task failed; the message contains no value, because Spark shows it."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{MARK}: {what}")


def versions() -> tuple[str, ...]:
    """The software versions on which the bytes of a file depend."""
    return f"glasshouse {VERSION}", f"pyarrow {pa.__version__}", f"numpy {np.__version__}", sys.byteorder


@contextmanager
def _told(what: str, number: int) -> Iterator[None]:
    """Replace an exception by one that gives its class and where in the code it was raised."""
    try:
        yield
    except TaskFailed:
        raise
    except BaseException as error:
        if isinstance(error, GeneratorExit | KeyboardInterrupt | SystemExit):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}, line {last.lineno}"
        raise TaskFailed(f"{what} {number} failed with {type(error).__name__} in {place}") from None


@dataclass(frozen=True, kw_only=True)
class Division:
    """Divide each piece, keep the result, and tell its summary."""

    errand: Errand
    work: Work
    summary: Summary

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Process the pieces with these numbers."""
        for number in _numbers(batches):
            with _told("piece", number):
                self.errand.check()
                piece = self.errand.seal.read(self.errand.file("piece", number))
                result = self.work(piece, self.errand.common(), self.errand.key.source())
                self.errand.seal.write(result, self.errand.file("result", number))
                told = pickle.dumps(self.summary(piece, result, self.errand.common()), protocol=5)
                summary = self.errand.seal.closed(told, f"summary {number}")
            yield _told_by(number, summary)


@dataclass(frozen=True, kw_only=True)
class Chore:
    """Process each of some items, which are in the shared data, and return the results."""

    errand: Errand
    work: Callable[[Any], Any]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Process the items with these numbers."""
        for number in _numbers(batches):
            with _told("item", number):
                self.errand.check()
                told = pickle.dumps(self.work(self.errand.common()[number]), protocol=5)
                summary = self.errand.seal.closed(told, f"item {number}")
            yield _told_by(number, summary)


@dataclass(frozen=True, kw_only=True)
class Dispatch:
    """Make the rows of each piece, and send them to their parts.

    Every piece sends every part at least one chunk, be it empty, and says of how many: so a part knows whether all
    that belongs to it has arrived.
    """

    errand: Errand
    rows: Rows
    tables: tuple[Parts, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Process the pieces with these numbers."""
        for number in _numbers(batches):
            with _told("piece", number):
                self.errand.check()
                piece = self.errand.seal.read(self.errand.file("piece", number))
                result = self.errand.seal.read(self.errand.file("result", number))
                made = self.rows(piece, result, self.errand.common(), self.errand.key.source())
                places = self._places(made)
            first = 0
            for table, parts in zip(self.tables, places, strict=True):
                for part, words in enumerate(parts):
                    yield self._chunks(first + part, number, words)
                first += table.n_parts

    def _places(self, made: Iterable[tuple[int, NDArray[Any], NDArray[np.uint64]]]) -> list[list[NDArray[np.uint64]]]:
        """The rows of every part of every table."""
        found: list[list[list[NDArray[np.uint64]]]] = [[[] for _ in range(t.n_parts)] for t in self.tables]
        for table, parts, words in made:
            known = self.tables[table]
            if words.shape != (len(parts), known.n_words) or words.dtype != np.uint64:
                raise TaskFailed(
                    f"there are rows of the shape {words.shape}, where "
                    f"{counted(known.n_words, 'column was', 'columns were')} expected"
                )
            if len(parts) and not 0 <= int(parts.min()) <= int(parts.max()) < known.n_parts:
                raise TaskFailed(
                    "a row has the number of a part that does not exist: the table has "
                    f"{counted(known.n_parts, 'part')}"
                )
            order = np.argsort(parts, kind="stable")
            ends = np.cumsum(np.bincount(parts, minlength=known.n_parts))
            for part, some in enumerate(np.split(words[order], ends[:-1])):
                found[table][part].append(some)
        return [
            [np.concatenate([np.empty((0, table.n_words), np.uint64), *some]) for some in parts]
            for table, parts in zip(self.tables, found, strict=True)
        ]

    def _chunks(self, place: int, piece: int, words: NDArray[np.uint64]) -> pa.RecordBatch:
        content = np.ascontiguousarray(words).tobytes()
        n = max(1, -(-len(content) // _CHUNK))
        chunks = [
            self.errand.seal.closed(content[i * _CHUNK : (i + 1) * _CHUNK], _label(place, piece, i, n))
            for i in range(n)
        ]
        numbers = [np.full(n, place), np.full(n, piece), np.arange(n), np.full(n, n)]
        return pa.RecordBatch.from_arrays(
            [*(pa.array(one, pa.int32()) for one in numbers), pa.array(chunks, pa.binary())],
            ["place", "piece", "chunk", "of", "rows"],
        )


@dataclass(frozen=True, kw_only=True)
class Assembly:
    """Have the rows of a part sorted and made into a table, and write it to its file with nothing in between."""

    errand: Errand
    finish: Finish
    tables: tuple[Parts, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run on all rows of some parts."""
        arrived: dict[int, dict[tuple[int, int], tuple[int, bytes]]] = {}
        loose: dict[int, list[memoryview]] = {}
        for batch in batches:
            for place, piece, chunk, of, rows in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if piece == LOOSE:
                    loose.setdefault(place, []).append(self.errand.seal.opened(rows, _label(place, LOOSE, 0, 0)))
                    continue
                here = arrived.setdefault(place, {})
                if (piece, chunk) in here:
                    raise TaskFailed(f"part {place} got rows of a piece twice")
                here[piece, chunk] = of, rows
        for place in sorted(arrived):
            with _told("part", place):
                self.errand.check()
                written = self._write(place, arrived.pop(place), loose.pop(place, []))
            yield pa.RecordBatch.from_pylist([written], _schema_of_files())

    def _write(
        self, place: int, chunks: dict[tuple[int, int], tuple[int, bytes]], loose: list[memoryview]
    ) -> dict[str, Any]:
        number, part = _table_of(place, self.tables)
        contents = []
        for piece in range(self.errand.n_pieces):
            of = chunks[piece, 0][0] if (piece, 0) in chunks else 1
            for chunk in range(of):
                if (piece, chunk) not in chunks:
                    raise TaskFailed(f"part {place} did not get all rows of piece {piece}")
                sealed = chunks.pop((piece, chunk))[1]
                contents.append(self.errand.seal.opened(sealed, _label(place, piece, chunk, of)))
        if chunks:
            raise TaskFailed(f"part {place} got rows of a piece that does not exist")
        words = np.frombuffer(b"".join(contents), np.uint64).reshape(-1, self.tables[number].n_words)
        del contents
        table = self._table(number, part, words, loose)
        del words, loose
        return {"place": place, **asdict(self._put(self.tables[number], part, table))}

    def _put(self, known: Parts, part: int, table: pa.Table) -> PublishedPart:
        return write_part(Path(self.errand.folder, "part"), known.name, part, known.n_parts, table, known.format)

    def _table(self, number: int, part: int, words: NDArray[np.uint64], loose: list[memoryview]) -> pa.Table:
        if loose:
            raise TaskFailed(f"part {part} got rows that belong to no piece")
        return self.finish(number, part, words, self.errand.common(), self.errand.key.source())


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Read people from a frame, and send them to their places; the division into batches does not matter."""

    errand: Errand
    people: People

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run on some rows of the frame."""
        for batch in batches:
            if not batch.num_rows:
                continue
            with _told("a batch of", batch.num_rows):
                self.errand.check()
                for place, content in self.people(batch, self.errand.common(), self.errand.key.source()):
                    sealed = self.errand.seal.closed(content, _label(place, LOOSE, 0, 0))
                    numbers = [pa.array([number], pa.int32()) for number in (place, LOOSE, 0, 0)]
                    names = ["place", "piece", "chunk", "of", "rows"]
                    yield pa.RecordBatch.from_arrays([*numbers, pa.array([sealed], pa.binary())], names)


@dataclass(frozen=True, kw_only=True)
class Reunion(Assembly):
    """Join people with the data of pieces about their kinds, and store that encrypted: it is not published."""

    finish: Reunite  # type: ignore[assignment]

    def _put(self, known: Parts, part: int, table: pa.Table) -> PublishedPart:
        sink = pa.BufferOutputStream()
        with ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        name = f"{known.name}-{part:05}"
        content = self.errand.seal.closed(sink.getvalue().to_pybytes(), name)
        put(Path(self.errand.folder, "part", name), content)
        return PublishedPart(path=name, rows=table.num_rows, bytes=len(content), hash="")

    def _table(self, number: int, part: int, words: NDArray[np.uint64], loose: list[memoryview]) -> pa.Table:
        return self.finish(part, words, loose, self.errand.common())


def _told_by(number: int, summary: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array([number], pa.int32()), pa.array([summary], pa.binary())], ["piece", "summary"]
    )


def _numbers(batches: Iterable[pa.RecordBatch]) -> Iterator[int]:
    return chain.from_iterable(batch.column(0).to_pylist() for batch in batches)


def _label(place: int, piece: int, chunk: int, of: int) -> str:
    return f"rows {place} {piece} {chunk} {of}"


def _table_of(place: int, tables: tuple[Parts, ...]) -> tuple[int, int]:
    """The table that a place belongs to, and the part of it."""
    for number, table in enumerate(tables):
        if place < table.n_parts:
            return number, place
        place -= table.n_parts
    raise TaskFailed("a part of no table")


def _schema_of_files() -> pa.Schema:
    kinds = {"path": pa.string(), "rows": pa.int64(), "bytes": pa.int64(), "hash": pa.string()}
    return pa.schema([("place", pa.int32()), *kinds.items()])
