# SPDX-License-Identifier: Apache-2.0
"""The command-line door. Heavy imports stay inside the commands, so that ``glasshouse --help`` is instant."""

from __future__ import annotations

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
    except BrokenPipeError:
        _leave_nothing_unwritten()
        sys.exit(UNREAD)
    except MemoryError:
        _fail("there is not enough memory to begin")
    except ImportError as error:  # a library that is damaged, or for which there is no room
        _fail(f"a part of Glasshouse cannot be loaded: {error}")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the work is over, or undone: the exit code says which


def _leave_nothing_unwritten() -> None:
    """Let what is still to be written go nowhere, so that Python does not complain of it at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            os.dup2(nowhere, stream.fileno())


def _fail(message: str) -> None:
    """Say what is wrong where nothing can be relied on, and leave."""
    if sys.stderr is not None:
        print(f"error: {message!a}"[:500], file=sys.stderr)
    sys.exit(FAILED)
