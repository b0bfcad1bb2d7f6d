# SPDX-License-Identifier: Apache-2.0
"""Stages: private folders in which something is prepared before it is moved into place, and remains of killed runs.

A stage lies beside the place, or inside it where nothing can be written beside it. Its owner alone can enter it. A run
holds a lock on its stage, and a lock does not outlive its process: so a stage that nobody holds was left by a run that
was killed. Short work that must not be cut in two is done `uninterrupted`: Ctrl-C waits, and so does a termination that
is heeded in Python.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import stat
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["STOPS", "Stage", "alone_in", "flush", "left_behind", "uninterrupted"]

_PARTIAL = ".partial"


class Stage:
    """A folder that only its owner can enter, protected by a lock against cleanup."""

    def __init__(self, place: Path, *, inside: bool = False) -> None:
        while True:
            parent = place if inside else place.parent
            self.folder = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=_PARTIAL, dir=parent))
            self._lock: int | None = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            locked = _locked(self._lock, wait=False)
            with contextlib.suppress(FileNotFoundError):
                if locked is not False and self.folder.lstat().st_ino == os.fstat(self._lock).st_ino:
                    return
            os.close(self._lock)  # somebody tidied up between the two steps above: once more

    def discard(self) -> None:
        """Remove it with all its content."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def left_behind(place: Path) -> Iterator[Path]:
    """The stages of a place left by killed runs, locked while they are examined; those of other users are not."""
    pattern = re.compile(rf"\.{re.escape(place.name)}\.[a-z0-9_]{{8}}{re.escape(_PARTIAL)}")
    for parent in (place.parent, place):
        try:
            left = sorted(path for path in parent.iterdir() if pattern.fullmatch(path.name))
        except OSError:
            continue
        for path in left:
            with contextlib.suppress(OSError):
                found = path.lstat()
                if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                    continue
                descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    if _locked(descriptor, wait=False) is True:  # else its process lives
                        yield path
                finally:
                    os.close(descriptor)


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Let one process at a time change what stands in a folder, where the file system knows locks."""
    while True:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _locked(descriptor, wait=True)
            try:
                same = os.path.samestat(folder.stat(), os.fstat(descriptor))
            except FileNotFoundError:
                same = False
            if same:
                yield
                return
        finally:
            os.close(descriptor)
        # another run put another folder there while we waited: once more


def flush(path: Path) -> None:
    """Bring a file, or the names in a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _locked(descriptor: int, *, wait: bool) -> bool | None:
    """Lock a folder: whether that was possible; None where the file system knows no locks."""
    import fcntl  # here, for not every system has it

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


STOPS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What asks a process to stop, and lets it clean up."""


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay a stop signal until the work inside is done.

    Only the main thread is interrupted, and only a handler of Python's can be put off.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {int(stop): handler for stop in STOPS if callable(handler := signal.getsignal(stop))}
    came: list[tuple[int, Any]] = []
    waiting = True

    def later(number: int, frame: Any) -> None:
        if waiting:
            came.append((number, frame))
        else:  # this handler could not be taken away again, for another stop came just then
            handlers[number](number, frame)

    try:
        for stop in handlers:
            signal.signal(stop, later)
        yield
    finally:
        waiting = False
        for stop, handler in handlers.items():
            signal.signal(stop, handler)
        if came:
            number, frame = came[0]
            handlers[number](number, frame)
