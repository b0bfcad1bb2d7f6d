"""How benchmarks measure: CPU seconds of the best of a few runs, and the peak memory of a process of its own."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import shutil
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from glasshouse.errors import DisclosureWarning

_GIVEN = os.environ.get("GLASSHOUSE_BENCH_ROWS", "600000,10000000")
ROWS = [int(text) for text in _GIVEN.split(",")]


def cpu(work: Callable[[], Any], runs: int = 3) -> float:
    """CPU seconds of all threads, the least of a few runs: other jobs on the machine disturb it least."""
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def argsort(n: int, runs: int = 3) -> float:
    """The yardstick: one stable argsort of uniform random 64-bit integers."""
    numbers = np.random.default_rng(0).integers(0, 2**62, n)
    return cpu(lambda: np.argsort(numbers, kind="stable"), runs)


def apart(work: Callable[..., Any], *arguments: Any) -> dict[str, float]:
    """Run in a process of its own; CPU seconds of the work (or of what it put under `counted`), and the peak memory.

    The memory (GB) is that of the whole process.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(sender, work, arguments))
    process.start()
    result = json.loads(receiver.recv())
    process.join()
    return result


@contextmanager
def counted() -> Iterator[None]:
    """Count CPU seconds, and those of the clock, only in here."""
    start, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    yield
    end, clock = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter() - began
    _seconds.update(user=end.ru_utime - start.ru_utime, system=end.ru_stime - start.ru_stime, clock=clock)


_seconds: dict[str, float] = {}


def _report(sender: Any, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    with counted():
        work(*arguments)
        inner = dict(_seconds)
    seconds = inner or _seconds
    sender.send(json.dumps({**seconds, "cpu": seconds["user"] + seconds["system"], "gigabytes": _peak()}))


def _peak() -> float:
    """Peak memory of this process; `getrusage` would count what its parent had when it started it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1e6


def row(what: str, *cells: str) -> None:
    """Print one line of a table."""
    print(f"{what:<42}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


def prepared(work: Callable[..., None], few: str, many: str, target: str, *rest: Any) -> None:
    """Run the work on a few rows, then, measured, on many."""
    warnings.simplefilter("ignore", DisclosureWarning)
    work(few, f"{target} of few", *rest)
    with counted():
        work(many, target, *rest)


def best(folder: Path, runs: int, work: Callable[..., None], few: str, many: str, *rest: Any) -> dict[str, float]:
    """Measure the work in fresh processes, and take the run with the least CPU time."""
    found = []
    for _ in range(runs):
        found.append(apart(prepared, work, few, many, str(folder / "out"), *rest))
        for made in folder.glob("out*"):
            shutil.rmtree(made) if made.is_dir() else made.unlink()
    return min(found, key=lambda run: run["cpu"])
