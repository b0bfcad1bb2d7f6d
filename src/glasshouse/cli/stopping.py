# SPDX-License-Identifier: Apache-2.0
"""Stopping: Ctrl-C, a termination (SIGTERM) and a lost terminal (SIGHUP) end a command in order.

Each becomes an exception, so that whatever is half done is undone on the way out; the message says what was written
before it came.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["Stopped", "having_written", "heeding_stops", "saying"]


class Stopped(KeyboardInterrupt):
    """The process was asked to stop, by this signal.

    >>> Stopped(signal.SIGTERM).code, str(Stopped(signal.SIGINT))
    (143, 'interrupted')
    """

    def __init__(self, number: int) -> None:
        told = "interrupted" if number == signal.SIGINT else f"stopped by {signal.Signals(number).name}"
        super().__init__(told)
        self.number = number
        self.code = 128 + number  # what shells expect of a program that a signal ended


@contextlib.contextmanager
def heeding_stops() -> Iterator[None]:
    """Let a stop be one, whatever a library that it came upon made of it.

    A half imported module, say, ends in another exception, of which nobody should read. A signal that is ignored, as
    under ``nohup``, stays so.
    """
    from glasshouse.release.stage import STOPS  # here, for help must be instant

    came: Stopped | None = None

    def heed(number: int, _frame: FrameType | None) -> None:
        nonlocal came
        came = Stopped(number)
        raise came

    before = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for stop in STOPS:
                if signal.getsignal(stop) in (signal.SIG_DFL, signal.default_int_handler):
                    before[stop] = signal.signal(stop, heed)
        yield
    except Exception as error:
        if came is None:
            raise
        for note in getattr(error, "__notes__", []):
            came.add_note(note)
        raise came from None
    finally:
        for stop, handler in before.items():
            signal.signal(stop, handler)


@contextlib.contextmanager
def saying(note: str) -> Iterator[None]:
    """Let whatever ends the work inside say this too."""
    try:
        yield
    except BaseException as error:
        error.add_note(note)
        raise


def having_written(what: object) -> contextlib.AbstractContextManager[None]:
    """Let whatever ends the rest of a command say that this much was written."""
    return saying(f"{what} was written before that, whole")
