# SPDX-License-Identifier: Apache-2.0
"""Short work that a stop must not cut in two: Ctrl-C waits, and so does a termination that is heeded in Python."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["STOPS", "uninterrupted"]

STOPS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What asks a process to stop, and lets it clean up."""


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a stop wait until what is inside is done.

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
