# SPDX-License-Identifier: Apache-2.0
"""The engine on Spark: pieces of a table are divided, and rows sorted and written, on many machines.

What is decided, by whom and with which random choices does not depend on the engine: pieces are made in the driver,
random choices belong to pieces, and rows to parts by their content. So the files are, byte for byte, those that one
process writes. Spark's part is to run tasks again that were lost, and to bring rows to where they belong. It is asked
for nothing else: rows are sorted, and files written, by our own code, for an optimizer may drop a sort.

Only the DataFrame interface is used (`range`, `mapInArrow`, `repartitionById`, `toArrow`), as a remote session (Spark
Connect) has it; no such session was tried. Driver and workers share one folder, by the same path.
"""

from __future__ import annotations

import pickle
import re
import shutil
import threading
import warnings
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

import pyarrow as pa
from pyarrow import ipc

from glasshouse.errors import GlasshouseError, InputError, NotSupported, OutputError
from glasshouse.release.package.parts import PublishedPart
from glasshouse.spark.seal import Seal
from glasshouse.spark.settings import check_version, require_spark, warn_of_plain
from glasshouse.spark.worker import (
    FILES,
    MARK,
    ROWS,
    SUMMARIES,
    Assembly,
    Chore,
    Dispatch,
    Division,
    Errand,
    Reading,
    Reunion,
    versions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType

    from pyspark.sql import DataFrame, SparkSession

    from glasshouse.randomness import Source
    from glasshouse.spark.worker import Finish, People, Reunite, Rows, Summary, Work
    from glasshouse.streaming.port import Parts

    Progress = Callable[[str, int, int], None]

__all__ = ["Engine", "SparkFailed"]

_AGAIN = "Nothing was published: publish again. If it happens again, report it, with this message"
_LARGEST_TASK = 1 << 19  # bytes: Spark writes what is larger than 1 MiB to a file, with the keys in it
_TOLD = tuple(field.name for field in fields(PublishedPart))
_LOOK = 0.25  # seconds between two looks at how far the work is


class SparkFailed(GlasshouseError):
    """Spark gave up: a task failed as often as Spark lets it. The message names no value of the data."""


class Engine:
    """Divides pieces and writes parts on Spark; use it in a ``with`` statement, for it keeps files while it works.

    Parameters
    ----------
    session
        A session of Spark 4.2 or later, whose workers have the same version of Glasshouse.
    folder
        A folder that driver and workers see by the same path. A new folder inside it holds what is sealed, and the
        parts until they are taken; it vanishes at the end.
    source
        Of random choices. Its key goes to the tasks, and `HandedOver` says how.
    progress
        Is called, from a thread of its own, with what is being done, how much of it is done, and of how much.
    warn
        Whether to warn of what Spark does not encrypt; not where that was said before.
    """

    def __init__(
        self,
        session: SparkSession,
        folder: str | Path,
        *,
        source: Source,
        progress: Progress | None = None,
        warn: bool = True,
    ) -> None:
        require_spark()
        check_version(session)
        if warn:
            warn_of_plain(session)
        self._session = session
        self._key = source.handed_over()
        self._seal = Seal.new()
        self._folder = Path(folder).resolve() / f".glasshouse-spark-{uuid4().hex}"
        self._tell = progress or (lambda _phase, _done, _total: None)
        self._n_pieces = 0
        self._n_steps = 0

    @property
    def at_once(self) -> bool:
        """One job writes all tables."""
        return True

    @property
    def shares_memory(self) -> bool:
        """Tasks run in processes of their own."""
        return False

    def __enter__(self) -> Self:
        try:
            self._folder.mkdir(mode=0o700)
            for kind in ("piece", "result", "part"):
                (self._folder / kind).mkdir(mode=0o700)
        except OSError as error:
            raise OutputError(f"cannot write {self._folder.parent}: {error.strerror}", path=self._folder) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def map_pieces(self, pieces: Iterable[Any], work: Work, summary: Summary, *, ballast: Any = None) -> list[Any]:
        """Let ``work`` run on every piece, keep its results for `shuffle`, and give a summary of each.

        Parameters
        ----------
        pieces
            Anything that can be pickled, numbered from 0 in the order in which they come.
        work
            Is called in a task with a piece, the ballast and the source. It must be a function of these alone: a task
            may run twice. Choices for a piece come from ``source.child(...)``, labelled by the piece.
        summary
            Is called in the task with the piece, the result and the ballast; what it gives is small, and goes to the
            driver.
        ballast
            What all pieces need, such as domains; it lies sealed in the shared folder, and not in the function.
        """
        self._n_pieces = 0
        for piece in pieces:
            self._seal.write(piece, self._folder / "piece" / f"piece-{self._n_pieces:05}")
            self._n_pieces += 1
        if not self._n_pieces:
            return []
        task = Division(errand=self._errand(ballast), work=work, summary=summary)
        return self._summaries("divide", "result", self._n_pieces, task, "summary")

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Let ``work`` run on every item, each in its own task, and return the results, which should be small."""
        return self._summaries("count", "item", len(items), Chore(errand=self._errand(items), work=work), "item")

    def _summaries(self, phase: str, kind: str, n: int, task: Division | Chore, label: str) -> list[Any]:
        """Run a task for each of some numbers, and return their summaries."""
        frame = _mapped(self._session.range(0, n, 1, n), task, SUMMARIES)
        told = sorted(self._run(phase, kind, n, frame), key=lambda row: int(row["piece"]))
        if [row["piece"] for row in told] != list(range(n)):
            raise SparkFailed(f"Spark did not run every task exactly once. {_AGAIN}")
        return [pickle.loads(self._seal.opened(row["summary"], f"{label} {row['piece']}")) for row in told]

    def shuffle(
        self, rows: Rows, tables: Sequence[Parts], finish: Finish, *, ballast: Any = None
    ) -> list[list[PublishedPart]]:
        """Make rows of all pieces, bring those of a part together, and write a file for each part.

        Parameters
        ----------
        rows
            Is called in a task with a piece, its result, the ballast and the source. It gives, for one table after
            another, the number of the table, the part of each row, and the rows: words of 64 bits.
        tables
            The tables that are written. Every part gets a file, also one without rows.
        finish
            Is called in a task with the number of the table, the part, all of its rows in no particular order, the
            ballast and the source. It sorts them, and gives the part as an Arrow table, which is written at once.
        ballast
            What all pieces and parts need, such as where the groups of each piece are numbered from.

        Returns
        -------
        list of list of PublishedPart
            For every table its parts, which lie in the engine's own folder until they are moved (`move`).
        """
        tables = tuple(tables)
        errand = self._errand(ballast)
        sent = self._per_piece(Dispatch(errand=errand, rows=rows, tables=tables), ROWS)
        files = iter(self._assembled("write", sent, Assembly(errand=errand, finish=finish, tables=tables)))
        return [[next(files) for _ in range(table.n_parts)] for table in tables]

    def reunite(
        self, frame: DataFrame, people: People, rows: Rows, table: Parts, finish: Reunite, *, ballast: Any = None
    ) -> list[PublishedPart]:
        """Bring people of a frame together with the rows of pieces, part by part, and keep each part sealed (`opened`).

        Parameters
        ----------
        frame
            People, in any order and any partitions.
        people
            Is called in a task with a batch of the frame, the ballast and the source; gives parts, and what goes there.
        rows, ballast
            As in `shuffle`, of one table.
        table
            The table that is written.
        finish
            Is called in a task with the part, the rows of all pieces, what came from the frame, and the ballast.
        """
        errand = self._errand(ballast)
        sent = self._per_piece(Dispatch(errand=errand, rows=rows, tables=(table,)), ROWS)
        sent = sent.unionAll(_mapped(frame, Reading(errand=errand, people=people), ROWS))
        return self._assembled("reunite", sent, Reunion(errand=errand, finish=finish, tables=(table,)))

    def _assembled(self, phase: str, sent: DataFrame, task: Assembly) -> list[PublishedPart]:
        """Bring rows to their parts, and have these written."""
        n_places = sum(table.n_parts for table in task.tables)
        frame = _mapped(sent.repartitionById(n_places, "place"), task, FILES)
        written = sorted(self._run(phase, "part", n_places, frame), key=lambda row: int(row["place"]))
        if [row["place"] for row in written] != list(range(n_places)):
            raise SparkFailed(f"Spark did not write every file exactly once. {_AGAIN}")
        return [PublishedPart(**{name: row[name] for name in _TOLD}) for row in written]

    def opened(self, parts: Sequence[PublishedPart]) -> Iterator[pa.Table]:
        """The decrypted parts of the result of `reunite`, one after another; each is deleted after it was read."""
        for part in parts:
            file = self._folder / "part" / part.path
            content = self._seal.opened(file.read_bytes(), part.path)
            file.unlink()
            yield ipc.open_stream(pa.py_buffer(content)).read_all()

    def move(self, folder: Path, files: Mapping[str, Sequence[PublishedPart]]) -> None:
        """Bring parts that were written into a folder of the driver, on the same disk."""
        for part in (part for parts in files.values() for part in parts):
            (folder / part.path).parent.mkdir(exist_ok=True)
            (self._folder / "part" / part.path).rename(folder / part.path)

    def _errand(self, ballast: Any) -> Errand:
        self._n_steps += 1
        name = f"ballast-{self._folder.name[-8:]}-{self._n_steps}"
        self._seal.write(ballast, self._folder / name)
        return Errand(
            folder=str(self._folder),
            seal=self._seal,
            key=self._key,
            ballast=name,
            versions=versions(),
            n_pieces=self._n_pieces,
        )

    def _per_piece(self, task: Dispatch, schema: str) -> DataFrame:
        """A task for each piece, which gets the piece's number."""
        return _mapped(self._session.range(0, self._n_pieces, 1, self._n_pieces), task, schema)

    def _run(self, phase: str, kind: str, total: int, frame: DataFrame) -> list[dict[str, Any]]:
        """Run a job; if it is stopped, so are its tasks."""
        tag = f"glasshouse-{uuid4().hex}"
        self._session.addTag(tag)
        try:
            with self._watched(phase, kind, total):
                table: pa.Table = frame.toArrow()
        except BaseException as error:
            self._session.interruptTag(tag)
            if _is_stop(error):
                raise KeyboardInterrupt from None
            known = _translated(error, self._folder)
            if known is None:
                raise
            raise known from None
        finally:
            self._session.removeTag(tag)
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows

    def _n_files(self, kind: str) -> int:
        return sum(1 for file in (self._folder / kind).rglob("[!.]*") if file.is_file())

    @contextmanager
    def _watched(self, phase: str, kind: str, total: int) -> Iterator[None]:
        """Report from time to time how many files of a kind exist, which shows how much of the work is done."""
        over = threading.Event()
        earlier = self._n_files(kind)
        failed: list[BaseException] = []

        def watch() -> None:
            before = 0
            while not over.wait(_LOOK):
                done = self._n_files(kind) - earlier
                if done != before:
                    before = done
                    try:
                        self._tell(phase, done, total)
                    except BaseException as error:
                        failed.append(error)
                        return

        self._tell(phase, 0, total)
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()
        if failed:
            raise failed[0]
        self._tell(phase, total, total)


def _mapped(frame: DataFrame, task: Callable[[Iterator[Any]], Iterator[Any]], schema: str) -> DataFrame:
    """The frame whose batches go through ``task``, which has the keys in it and must therefore be small."""
    from pyspark import cloudpickle

    size = len(cloudpickle.dumps(task))  # type: ignore[no-untyped-call]
    if size > _LARGEST_TASK:
        raise NotSupported(
            f"a function of {size:,} bytes is too large for a task: Spark would write it to a file, together with "
            "secret keys",
            instead="give large data to the argument 'ballast', not inside the function",
        )

    def glasshouse(batches: Iterator[Any]) -> Iterator[Any]:  # the name that Spark's pages show
        return task(batches)

    with warnings.catch_warnings():  # no pandas frame is made here, whatever its version
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        return frame.mapInArrow(glasshouse, schema)


def _is_stop(error: BaseException | None) -> bool:
    """Whether somebody stopped the work, which Spark's own exception hides."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _translated(error: BaseException, folder: Path) -> GlasshouseError | None:
    """The original exception, if one of Spark came from a task; None if it is clear enough by itself."""
    if not isinstance(error, Exception):
        return None
    text = str(error)
    told = re.search(rf"{MARK}: ([^\n]*)", text)
    if told is None:
        if re.search(r"No module named '?glasshouse", text):
            return InputError(
                "Glasshouse is not installed in the Python of Spark's workers: install the same version there, or set "
                "spark.pyspark.python to an interpreter that has it"
            )
        return None
    what = told.group(1)
    if what == "folder":
        return OutputError(
            f"a worker of Spark cannot see {folder.parent}: choose a folder that the driver and the workers share "
            "under the same path, and that the workers may write to",
            path=folder.parent,
        )
    if what.startswith("versions"):
        return NotSupported(
            f"the workers of Spark have other versions than the driver ({what.removeprefix('versions; ')})",
            instead="install the same versions on all machines",
        )
    return SparkFailed(f"Spark stopped ({what}). {_AGAIN}")
