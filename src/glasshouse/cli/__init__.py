# SPDX-License-Identifier: Apache-2.0
"""The command line. Heavy imports stay inside the commands, so that ``glasshouse --help`` is instant.

`commands` lists the commands; each has a file of its name. `options` holds what several of them take, `exits` turns
every error into a line and an exit code, `printing` is the only place that prints.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

__all__ = ["FAILED", "INTERRUPTED", "UNREAD", "main"]

FAILED = 3  # of the machine or of the program
INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended
UNREAD = 141  # what shells expect of a program whose output nobody reads any more


def main() -> None:
    """Run the ``glasshouse`` command."""
    try:
        from glasshouse.cli.commands import glasshouse

        glasshouse(prog_name="glasshouse")
    except KeyboardInterrupt:  # before a command began; afterwards it says what became of the work
        sys.exit(INTERRUPTED)
    except MemoryError:
        _fail("there is not enough memory to start: close other programs")
    except ImportError as error:  # a library that is damaged, or for which there is no room
        _fail(f"a part of Glasshouse cannot be loaded: {error}. Install Glasshouse again")
    finally:
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # the work is over, or undone: the exit code says which
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_IGN)
        _drop_unwritten()


def _drop_unwritten() -> None:
    """Drop what a stream cannot write: Python would try again when it ends, and leave with a code of its own."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _fail(message: str) -> None:
    """Print an error without relying on anything that may be broken, and exit."""
    if sys.stderr is not None:
        sys.stderr.write(f"error: {message.encode('ascii', 'backslashreplace').decode()[:500]}\n")
    sys.exit(FAILED)
