# SPDX-License-Identifier: Apache-2.0
"""How a command ends: exit codes, our exceptions and warnings as one line each, logs for whoever asked for them.

0: done. 1: done, and the answer is no: a guarantee does not hold, an attack is above the limit. 2: what was given is
wrong, and nothing was written. 3: the machine or Glasshouse failed: no memory left, a disk that is full, a fault in the
program. 130: interrupted, and nothing was written. 141: whoever read the output has stopped reading.
"""

from __future__ import annotations

import contextlib
import functools
import signal
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

from glasshouse.cli import FAILED, INTERRUPTED
from glasshouse.cli.border import leave_unread, remark, say
from glasshouse.cli.logs import logs
from glasshouse.database import masked
from glasshouse.errors import DisclosureWarning, GlasshouseError, GuaranteeBroken, InterpretedKernelsWarning
from glasshouse.log import step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

__all__ = ["NOT_MET", "WRONG", "fail", "plainly"]

NOT_MET = 1
WRONG = 2
_MOST_TOLD = 4_000  # characters of a message, which may quote what was given


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
                with _heeding_interrupts(), logs(verbose=verbose, log_json=log_json), step(command.__name__):
                    code = command(*arguments, **keywords) or 0
            except KeyboardInterrupt:
                fail("interrupted; nothing unfinished stays behind", INTERRUPTED)
            except GuaranteeBroken as error:
                fail(str(error), NOT_MET)
            except GlasshouseError as error:
                fail(str(error))
            except Exception as error:
                _fail_unexpectedly(error, told=verbose)
            finally:
                for warning in caught:
                    remark("warning", masked(str(warning.message)), "yellow")
        if code:
            sys.exit(code)

    return run


@contextlib.contextmanager
def _heeding_interrupts() -> Iterator[None]:
    """Let an interrupt be one, whatever a library that it came upon made of it.

    A half imported module, say, ends in another exception, of which nobody should read.
    """
    came = False

    def heed(signum: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        signal.default_int_handler(signum, frame)

    in_charge = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, heed) if in_charge else None
    try:
        yield
    except Exception:
        if came:
            raise KeyboardInterrupt from None
        raise
    finally:
        if in_charge:
            signal.signal(signal.SIGINT, before)


def fail(message: str, code: int = WRONG) -> NoReturn:
    """Say what is wrong, and leave."""
    told = masked(message)
    remark("error", told if len(told) <= _MOST_TOLD else f"{told[:_MOST_TOLD]}... ({len(told):,} characters)", "red")
    sys.exit(code)


def _fail_unexpectedly(error: Exception, *, told: bool) -> NoReturn:
    """Say in one line what went wrong that is nobody's mistake at the command line, and leave.

    Where it happened is told to whoever asked to be told of each step.
    """
    if isinstance(error, BrokenPipeError):
        leave_unread()
    if isinstance(error, UnicodeError):
        fail("a name or a text that is not Unicode: rename the file or the folder, or name another one")
    if told:
        import traceback

        say(*masked("".join(traceback.format_exception(error))).splitlines(), err=True)
    if isinstance(error, MemoryError):
        fail("there is not enough memory for this", FAILED)
    if isinstance(error, ImportError):  # a library that is damaged, or for which there is no room
        *_, reason = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no reason was given"]
        fail(f"a library cannot be loaded, which may be for want of memory: {reason}", FAILED)
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename is not None else ""
        fail(f"{error.strerror or 'the operating system refused'}{where}", FAILED)
    fail(
        f"a fault in Glasshouse ({type(error).__name__}), please report it; with --verbose it is told where it is",
        FAILED,
    )
