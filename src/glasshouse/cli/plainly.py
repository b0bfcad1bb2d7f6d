# SPDX-License-Identifier: Apache-2.0
"""How a command ends: exit codes, our exceptions and warnings as one line each, logs for whoever asked for them.

0: done. 1: done, and the answer is no: a guarantee does not hold, an attack is above the limit. 2: what was given is
wrong. 130, 143, 129: stopped, by Ctrl-C, by a termination, by a lost terminal. Nothing half done stays behind, and the
message says what was written before, if anything was.
"""

from __future__ import annotations

import functools
import signal
import sys
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import click

from glasshouse.cli.logs import logs
from glasshouse.cli.stopping import Stopped, heeding_stops
from glasshouse.database import masked
from glasshouse.errors import DisclosureWarning, GlasshouseError, GuaranteeBroken, InterpretedKernelsWarning
from glasshouse.log import step

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NOT_MET", "WRONG", "fail", "plainly"]

NOT_MET = 1
WRONG = 2


def plainly(command: Callable[..., int | None]) -> Callable[..., None]:
    """Run a command with its logs; show exceptions and warnings as one line each; leave with the right exit code.

    What the command returns is its exit code; None is 0.
    """

    @functools.wraps(command)
    def run(*arguments: Any, verbose: bool, log_json: str | None, **keywords: Any) -> None:
        with warnings.catch_warnings(record=True) as caught:
            for category in (DisclosureWarning, InterpretedKernelsWarning):
                warnings.simplefilter("always", category)
            try:
                with heeding_stops(), logs(verbose=verbose, log_json=log_json), step(command.__name__):
                    code = command(*arguments, **keywords) or 0
            except KeyboardInterrupt as stop:
                came = stop if isinstance(stop, Stopped) else Stopped(signal.SIGINT)
                for note in getattr(stop, "__notes__", []) if came is not stop else []:
                    came.add_note(note)
                fail(_told(came, "nothing was written"), came.code)
            except GuaranteeBroken as error:
                fail(_told(error), NOT_MET)
            except GlasshouseError as error:
                fail(_told(error))
            finally:
                for warning in caught:
                    click.secho(f"warning: {warning.message}", fg="yellow", err=True)
        if code:
            sys.exit(code)

    return run


def _told(error: BaseException, otherwise: str = "") -> str:
    """What an exception says, with what it says was written."""
    notes = "; ".join(getattr(error, "__notes__", [])) or otherwise
    return f"{error}; {notes}" if notes else str(error)


def fail(message: str, code: int = WRONG) -> NoReturn:
    """Say what is wrong, and leave."""
    click.secho(f"error: {masked(message)}", fg="red", err=True)
    sys.exit(code)
