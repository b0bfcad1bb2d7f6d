# SPDX-License-Identifier: Apache-2.0
"""A progress bar for work that takes minutes, and time and memory of a command for its summary."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from typing import TYPE_CHECKING

from glasshouse.cli.exits import in_options
from glasshouse.cli.printing import remark
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress

__all__ = ["Foretelling", "Measured", "Terminal", "duration", "progress_bar", "progress_of_steps"]


@contextlib.contextmanager
def progress_bar(*, shown: bool | None = None, unit: str = "rows") -> Iterator[Callable[[str, int, int], None]]:
    """Show progress on the error stream; yields the function that reports it (what, rows done, of how many).

    By default it is shown if somebody is watching; ``unit`` is what is counted.
    """
    if not (_is_watched() if shown is None else shown):
        yield lambda _phase, _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, force_terminal=True if shown else None)
    speed = TextColumn("{task.fields[speed]}", justify="right")
    columns = (TextColumn("{task.description:<10}"), BarColumn(), TextColumn("{task.fields[rows]}"), speed)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        phases: list[str] = []

        def tell(what: str, done: int, total: int) -> None:
            if what not in phases[-1:]:  # a bar of its own for each phase, for each has its own speed
                for task in progress.task_ids:
                    progress.remove_task(task)
                progress.add_task(what, total=total or None, rows="", speed="")
                phases.append(what)
            known = progress.tasks[-1].speed
            progress.update(
                progress.task_ids[-1],
                completed=done,
                rows=f"{done:,} of {total:,} {unit}" if total else f"{done:,} {unit}",
                speed=f"{known:,.0f} {unit}/s" if known else "",
            )

        yield tell


@contextlib.contextmanager
def progress_of_steps(*, shown: bool | None = None) -> Iterator[None]:
    """Show on the error stream which step is running and for how long, if a person is watching."""
    if not (_is_watched() if shown is None else shown):
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from glasshouse.cli.logs import listening

    console = Console(stderr=True, force_terminal=True if shown else None)
    columns = (TextColumn("{task.description:<10}"), BarColumn(), TextColumn("{task.fields[rows]}"))
    progress = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
    with progress, listening(_Steps(progress), logging.DEBUG):
        yield


class Terminal:
    """Watches the work for the person at the terminal: bars and remarks on the error stream."""

    def bar(self, unit: str) -> contextlib.AbstractContextManager[Callable[[str, int, int], None]]:
        """A progress bar."""
        return progress_bar(unit=unit)

    def steps(self) -> contextlib.AbstractContextManager[None]:
        """A bar for the steps of the work."""
        return progress_of_steps()

    def remark(self, kind: str, words: str) -> None:
        """A note, or a warning in yellow."""
        remark(kind, in_options(words), "yellow" if kind == "warning" else None)


def duration(seconds: float) -> str:
    """About how long something takes, in words.

    >>> duration(50), duration(100), duration(640), duration(9_000), duration(400_000)
    ('about 50 seconds', 'about 2 minutes', 'about 11 minutes', 'about 2.5 hours', 'about 5 days')
    """
    for unit, length in (("day", 86_400.0), ("hour", 3_600.0), ("minute", 60.0), ("second", 1.0)):
        if seconds >= 1.5 * length or unit == "second":
            break
    number = seconds / length
    text = f"{number:.1f}".removesuffix(".0") if unit == "hour" and number < 10 else f"{number:,.0f}"
    return f"about {text} {unit}{'' if text == '1' else 's'}"


class Foretelling:
    """A progress callback that, after some seconds, calls ``tell`` once with how long the work may take at most.

    The work must go on at the same speed until its share is 1, or end before that.
    """

    def __init__(self, progress: Callable[[float], None], tell: Callable[[float], None], *, after: float = 3.0) -> None:
        self._progress, self._tell, self._after = progress, tell, after
        self._started = time.monotonic()
        self._told = False

    def __call__(self, share: float) -> None:
        """Take note of the share of the work that is done."""
        gone = time.monotonic() - self._started
        if not self._told and share > 0 and gone >= self._after:
            self._told = True
            self._tell(gone / share)
        self._progress(share)


def _is_watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


class _Steps(logging.Handler):
    """A bar for the running step; inner steps are shown while they last."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress = progress

    def emit(self, record: logging.LogRecord) -> None:
        for task in self._progress.task_ids:
            self._progress.remove_task(task)
        if record.levelno == logging.DEBUG:
            rows = counted(record.rows, "row") if hasattr(record, "rows") else ""
            self._progress.add_task(record.step, total=None, rows=rows)  # type: ignore[attr-defined]


class Measured:
    """A clock that runs from its creation, and the peak memory of the process."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._worked = time.process_time()

    @property
    def seconds(self) -> float:
        """The seconds since it was made."""
        return time.perf_counter() - self._started

    @property
    def cpu(self) -> float:
        """CPU seconds of all threads, since it was made."""
        return time.process_time() - self._worked

    @property
    def peak_memory(self) -> int | None:
        """In bytes; None where the system does not tell."""
        try:
            import resource
        except ImportError:
            return None
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most << 10

    def to_dict(self) -> dict[str, float | int | None]:
        """Time and memory as plain data."""
        return {"seconds": round(self.seconds, 3), "peak_memory": self.peak_memory}

    def __str__(self) -> str:
        peak = self.peak_memory
        return f"{self.seconds:.1f} s" + ("" if peak is None else f", {peak / (1 << 20):,.0f} MiB at most")
