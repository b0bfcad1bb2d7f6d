# SPDX-License-Identifier: Apache-2.0
"""Processes: ways are tried side by side, in a bounded number of them, each of which may die without harm.

Processes are started anew, not forked: a library with threads must not be forked, and `multiprocessing` would run the
caller's script once more in each. A process reads pickles, the setting and then a method with a recoding each, and
writes lines of JSON: for each way what is known before each attack, and the row. Both are pipes to the process that
started it; no table touches a disk.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.analyst.usefulness.workloads import Workload
from glasshouse.comparing.comparison import Row, label_of
from glasshouse.comparing.scoring import ANSWERED, ATTACKED, Setting, given_up, score
from glasshouse.errors import InputError, ParameterError
from glasshouse.grouping.mirror.mirror import Mirror
from glasshouse.microdata import examples
from glasshouse.pages.report.effort import Effort
from glasshouse.principles.l_diversity import LDiversity
from glasshouse.recoding.angel import Angel
from glasshouse.recoding.generalization import Boxes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["n_processes", "run", "work"]

_MOST = 8  # more processes would each need a copy of the table
_GRACE = 10.0  # seconds that an attack gets to notice that its time is over
_ROOT = Path(__file__).resolve().parents[2]


def n_processes(asked: int | None, n_ways: int) -> int:
    """How many processes to use: as many as asked for, by default one for each core; 0 is this process."""
    if asked is not None and (isinstance(asked, bool) or not isinstance(asked, int) or asked < 0):
        raise ParameterError("compare", "processes", "a whole number of at least 0", asked)
    return min(min(os.cpu_count() or 1, _MOST) if asked is None else asked, n_ways)


def run(
    setting: Setting, ways: Sequence[tuple[Any, Any]], processes: int, *, grace: float = _GRACE
) -> Iterator[tuple[int, Row, bool]]:
    """Try ways; yield the number and the row of each as it is finished, and whether the row is to be kept."""
    if processes == 0 or not sys.executable:
        for number, (method, recoding) in enumerate(ways):
            yield number, score(setting, method, recoding), True
        return
    try:
        told = pickle.dumps(replace(setting, threads=max(1, (os.cpu_count() or 1) // processes)))
        asked = [pickle.dumps(way) for way in ways]
    except (pickle.PicklingError, AttributeError, TypeError):
        raise InputError(
            "a method or recoding of this comparison cannot be sent to another process: use processes=0"
        ) from None
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(ways)):
        waiting.put(number)
    done: queue.SimpleQueue[tuple[int, Row, bool] | None] = queue.SimpleQueue()
    workers = [_Worker(told, setting.effort.seconds, grace) for _ in range(processes)]

    def work(worker: _Worker) -> None:
        with contextlib.suppress(queue.Empty):
            while not worker.ended:
                number = waiting.get_nowait()
                method, recoding = ways[number]
                empty = Row(method=label_of(method), recoding=label_of(recoding))
                done.put((number, *worker.tried(asked[number], empty)))
        done.put(None)

    threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in workers]
    try:
        for thread in threads:
            thread.start()
        finished = 0
        while finished < len(threads):
            found = done.get()
            if found is None:
                finished += 1
            else:
                yield found
    finally:  # also if the caller takes no more rows, or was interrupted
        for worker in workers:
            worker.end()
        for thread in threads:
            thread.join()


class _Worker:
    """A worker process, which is replaced by another one if it dies."""

    def __init__(self, told: bytes, seconds: float, grace: float) -> None:
        self._told, self._seconds, self._grace = told, seconds, grace
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self.ended = False

    def tried(self, asked: bytes, row: Row) -> tuple[Row, bool]:
        """The row of a way, and whether it is one to keep: not if the process died, which may have many causes."""
        process = self._started()
        if process is None:
            return replace(row, failed="interrupted"), False
        part: tuple[str, Row] | None = None
        too_late = threading.Event()

        def late() -> None:
            too_late.set()
            process.kill()

        try:
            assert process.stdin is not None
            process.stdin.write(asked)
            process.stdin.flush()
            kind, row = _next(process, row)
            while kind in (ANSWERED, ATTACKED):
                part = (kind, row)
                timer = threading.Timer(self._seconds + self._grace, late)
                timer.start()
                try:
                    kind, row = _next(process, row)
                finally:
                    timer.cancel()
        except (OSError, EOFError, ValueError):
            self._process = None
            code = _ended(process)
            if part is not None and too_late.is_set():
                return given_up(*part, self._seconds), True
            return replace(row if part is None else part[1], failed=f"its process ended unexpectedly{_by(code)}"), False
        return row, True

    def _started(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self.ended or self._process is not None:
                return None if self.ended else self._process
            paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from {__name__} import work; work()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # a trace could show values
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )
        process = self._process
        assert process.stdin is not None
        with contextlib.suppress(OSError):  # it died at once: asking will tell
            process.stdin.write(self._told)
        return process

    def end(self) -> None:
        """Kill the process."""
        with self._lock:
            self.ended = True
            process = self._process
        if process is not None:
            _ended(process)


def _ended(process: subprocess.Popen[bytes]) -> int:
    """End a process that may have ended already; give its exit code."""
    process.kill()
    code = process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):  # what was not read is of no use to anybody
                stream.close()
    return code


def _next(process: subprocess.Popen[bytes], row: Row) -> tuple[str, Row]:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    ((kind, data),) = json.loads(line).items()
    return kind, Row.from_dict(data)


def _by(code: int) -> str:
    if code >= 0:
        return f" with exit code {code}"
    name = signal.Signals(-code).name
    return f" ({name})" + (": perhaps there is not enough memory" if name == "SIGKILL" else "")


# --- in the process that was started ----------------------------------------------------------------------------------


def work() -> None:
    """Try ways until no more are sent."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)  # whatever a library prints is no row

        def send(kind: str, row: Row) -> None:
            out.write(json.dumps({kind: row.to_dict()}) + "\n")
            out.flush()

        _warm_up()
        setting = pickle.load(sys.stdin.buffer)
        while True:
            try:
                method, recoding = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            send("row", score(setting, method, recoding, send))


def _warm_up() -> None:
    """Publish a few records, so that no row's time includes the loading of code that is used for the first time."""
    table = examples.transparent_t1()
    setting = Setting(
        tables=(table,),
        principle=LDiversity(ell=2),
        workload=Workload.transparent(table, n=1),
        seed=0,
        effort=Effort(most_worlds=1, most_runs=1),
        threads=1,
        learner=False,
    )
    for recoding in (Boxes(), Angel()):
        score(setting, Mirror(), recoding)
