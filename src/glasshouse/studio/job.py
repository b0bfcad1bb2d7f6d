# SPDX-License-Identifier: Apache-2.0
"""A job: long work in a process of its own, which reports its progress, and can be stopped at once.

The process is a new one and leads a group, so that everything it starts ends with it. It gets one pickle on
its standard input, and writes pickles: how far it is, parts of what it found, and at the end what came of it. When its
standard input closes, because the studio is gone, it ends itself and its group. Nothing that it prints is shown or
kept, for a trace could show values.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from glasshouse.errors import DisclosureWarning, GlasshouseError, notes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Job", "Tell"]

_AGAIN = "try again, and if it ends again, report it"
_TASKS = "glasshouse.studio.tasks"
_ROOT = Path(__file__).resolve().parents[2]


class Tell(Protocol):
    """The functions by which a task reports what it does."""

    def progress(self, what: str, done: int, total: int) -> None:
        """What is being done, how much of it is done, and of how much; a total of 0 is not known."""

    def part(self, found: Any) -> None:
        """Report a partial result that is worth showing."""


class Job:
    """Work that runs, or has ended.

    Parameters
    ----------
    task
        The function, as ``module.function`` inside of ``glasshouse.studio.tasks``. It is called with ``tell`` and
        ``given`` as keywords.
    given
        What it needs, which can be pickled.
    about
        What the result depends on. A page that shows it compares this with what is chosen now.
    after
        Is called with the job when its process is gone, for any reason, before anybody who waits for it goes on.
    """

    def __init__(
        self,
        task: str,
        given: Mapping[str, Any],
        *,
        about: Any = None,
        after: Callable[[Job], None] | None = None,
    ) -> None:
        self.about = about
        self._after = after
        self.state = "running"  # or done, failed, cancelled
        self.what, self.n_done, self.total = "starting", 0, 0
        self.parts: list[Any] = []
        self.result: Any = None
        self.message = ""  # of a failure
        self.error: GlasshouseError | None = None  # ours, if it is one
        self.warnings: list[str] = []
        self.version = 0
        self.started = time.monotonic()
        self.seconds = 0.0
        self._seen = time.monotonic()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import work; work()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,
        )
        threading.Thread(target=self._follow, args=(pickle.dumps((task, dict(given))),), daemon=True).start()

    @property
    def runs(self) -> bool:
        """Whether it is still running."""
        return self.state == "running"

    def attend(self) -> None:
        """Record that somebody is watching it."""
        self._seen = time.monotonic()

    @property
    def unattended(self) -> float:
        """The seconds since somebody last watched it."""
        return time.monotonic() - self._seen

    def cancel(self) -> None:
        """End it at once, with everything that it started."""
        with self._lock:
            if self.state != "running":
                return
            self._end("cancelled")
        self._kill()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it has ended; whether it has."""
        return self._ended.wait(seconds)

    def to_dict(self) -> dict[str, Any]:
        """Its progress, as plain data."""
        return {
            "state": self.state,
            "what": self.what,
            "done": self.n_done,
            "total": self.total,
            "parts": len(self.parts),
            "message": self.message,
        }

    # --- in the studio ------------------------------------------------------------------------------------------------

    def _follow(self, asked: bytes) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(asked)
            self._process.stdin.flush()  # and it stays open: that it closes is the sign to end
            while self._heard(*pickle.load(self._process.stdout)):
                pass
        except (OSError, EOFError, pickle.UnpicklingError, ValueError):
            pass
        self._kill()
        code = self._process.wait()
        with self._lock:
            if self.state == "running":
                more = ", perhaps because it needs more memory than this machine has" if code == -signal.SIGKILL else ""
                self.message = f"the process that did this work ended unexpectedly{more}: {_AGAIN}"
                self._end("failed")
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError, ValueError):
                stream.close()
        try:
            if self._after is not None:
                self._after(self)
        finally:
            self._ended.set()

    def _heard(self, kind: str, content: Any) -> bool:
        """Take note of a message; whether more will come."""
        with self._lock:
            if self.state != "running":
                return False
            self.version += 1
            if kind == "progress":
                self.what, self.n_done, self.total = content
            elif kind == "part":
                self.parts.append(content)
            elif kind == "warning":
                self.warnings.append(content)
            elif kind == "done":
                self.result = content
                self._end("done")
            else:
                self.error, self.message = content
                self._end("failed")
        return self.runs

    def _end(self, state: str) -> None:
        self.state = state
        self.version += 1
        self.seconds = time.monotonic() - self.started

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


# --- in the process that was started ----------------------------------------------------------------------------------


class _Teller:
    """Sends messages to the studio; progress at most as often as a person can follow."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)  # what a library prints is not a message
        self._lock = threading.Lock()
        self._last = 0.0

    def send(self, kind: str, content: Any) -> None:
        message = pickle.dumps((kind, content))
        with self._lock:
            self._out.write(message)
            self._out.flush()

    def progress(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done >= total or now - self._last >= 0.05:
            self._last = now
            self.send("progress", (what, int(done), int(total)))

    def part(self, found: Any) -> None:
        self.send("part", found)


def work() -> None:
    """Do one piece of work for the studio."""
    from glasshouse.database import masked

    tell = _Teller()
    task, given = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_studio, daemon=True).start()
    module, _, function = task.rpartition(".")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DisclosureWarning)
        try:
            result = getattr(importlib.import_module(f"{_TASKS}.{module}"), function)(tell=tell, **given)
            kind, content = "done", result
        except GlasshouseError as error:
            kind, content = "failed", (_sendable(error), _told(error))
        except MemoryError:
            kind, content = (
                "failed",
                (None, "there is not enough memory for this: use a smaller table, or a machine with more memory"),
            )
        except Exception as error:
            kind, content = "failed", (None, f"an error in Glasshouse ({type(error).__name__}); please report it")
    for warning in caught:
        if issubclass(warning.category, DisclosureWarning):
            tell.send("warning", masked(str(warning.message)))
    tell.send(kind, content)


def _told(error: GlasshouseError) -> str:
    """The message of an error, with a note on what was written before it, and without passwords."""
    from glasshouse.database import masked

    return masked("; ".join([str(error), *notes_of(error)]))


def _sendable(error: GlasshouseError) -> GlasshouseError | None:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return None
    return error


def _end_with_studio() -> None:
    """Wait until the studio closes the pipe, then stop everything."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdin.buffer.read(1)
    os.killpg(0, signal.SIGKILL)
