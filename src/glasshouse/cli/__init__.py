# SPDX-License-Identifier: Apache-2.0
"""The command-line door. Heavy imports stay inside the commands, so that ``glasshouse --help`` is instant."""

from __future__ import annotations

import signal
import sys

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended


def main() -> None:
    """Run the ``glasshouse`` command."""
    try:
        from glasshouse.cli.commands import glasshouse

        glasshouse(prog_name="glasshouse")
    except KeyboardInterrupt:  # before a command began; afterwards it says what became of the work
        sys.exit(INTERRUPTED)
    finally:
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # the work is over, or undone: the exit code says which
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_IGN)
