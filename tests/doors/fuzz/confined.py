"""Confinement: a process of its own carries the cases in, with little memory, and is watched from outside.

What ends the process, what takes too long and what takes too much memory is found like any other surprise.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import resource
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType

__all__ = ["Confined", "Finding", "findings"]

MOST_ADDRESSES = 6 << 30
"""Bytes of address space that the process may have: a bomb ends there and harms nobody."""

MOST_GROWTH = 400 << 20
"""Bytes of memory that one case may add to the most that was needed before; inputs are at most a mebibyte."""

MOST_SECONDS = 8.0
"""Processor time that one case may take."""

PATIENCE = 90.0
"""Seconds on the clock after which a case hangs; the machine may be busy."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A case that was neither taken nor refused, by its number, and what happened."""

    door: str
    number: int
    what: str
    trace: str = ""

    @property
    def place(self) -> str:
        """What happened and where, to tell findings apart."""
        lines = [line.strip() for line in self.trace.splitlines() if line.strip().startswith("File ")]
        ours = [line for line in lines if "glasshouse" in line and "tests/doors/fuzz" not in line]
        return f"{self.door}: {self.what[:90]} {(ours or lines or [''])[-1]}"


@dataclass(frozen=True)
class _Outcome:
    taken: bool
    what: str
    trace: str


class Confined:
    """A process that carries cases in, one after the other; a new one where the old one died."""

    def __init__(self) -> None:
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None
        self.n_taken = self.n_refused = 0

    def __enter__(self) -> Confined:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def carry(self, door: str, number: int) -> Finding | None:
        """Carry one case in; a finding if it was neither taken nor refused."""
        pipe = self._begin()
        try:
            pipe.send((door, number))
            if not pipe.poll(PATIENCE):
                self._end()
                return Finding(door=door, number=number, what=f"it hangs: {PATIENCE:.0f} seconds and no answer")
            outcome: _Outcome = pipe.recv()
        except (EOFError, OSError):
            assert self._process is not None
            self._process.join(5)
            code = self._process.exitcode
            self._end()
            return Finding(door=door, number=number, what=f"the process ended with {code}")
        self.n_taken += outcome.taken and not outcome.what
        self.n_refused += not outcome.taken and not outcome.what
        return Finding(door=door, number=number, what=outcome.what, trace=outcome.trace) if outcome.what else None

    def _begin(self) -> Connection:
        if self._pipe is None:
            context = multiprocessing.get_context("spawn")  # Arrow has threads, which a fork would not have
            os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # its own one reserves gigabytes that it never uses
            self._pipe, other = context.Pipe()
            self._process = context.Process(target=_serve, args=(other,), daemon=True)
            self._process.start()
            other.close()
        return self._pipe

    def _end(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._pipe = self._process = None


def _serve(pipe: Connection) -> None:
    """Carry in whatever number comes through the pipe."""
    from tests.doors.fuzz.doors import DOORS, TRAPS, enter

    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _be_quiet()
    with tempfile.TemporaryDirectory(prefix="glasshouse-fuzz-") as folder, contextlib.suppress(EOFError):
        while True:
            door, number = pipe.recv()
            case = {**DOORS, **TRAPS}[door].make(random.Random(f"{door} {number}"))
            memory, start = _peak(), time.process_time()
            taken, what, trace = False, "", ""
            try:
                taken = enter(door, case, Path(folder, "case"))
            except BaseException as error:  # a finding, whatever it is
                what = f"{type(error).__name__}: {error}"[:500]
                trace = "".join(traceback.format_exception(error, limit=-12))
            spent, grown = time.process_time() - start, _peak() - memory
            if not what and spent > MOST_SECONDS:
                what = f"slow: {spent:.1f} seconds"
            if not what and grown > MOST_GROWTH:
                what = f"large: {grown >> 20} MiB more"
            pipe.send(_Outcome(taken, what, trace))


def _be_quiet() -> None:
    """Libraries that end a process write about it first."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)


def _peak() -> int:
    """The most memory that this process had; what `getrusage` tells begins with the peak of the process's parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text(encoding="ascii").split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def findings(numbers: Iterable[tuple[str, int]], confined: Confined) -> Iterator[Finding]:
    """Everything that surprises among these doors and numbers."""
    for door, number in numbers:
        found = confined.carry(door, number)
        if found is not None:
            yield found
