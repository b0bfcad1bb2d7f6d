# SPDX-License-Identifier: Apache-2.0
"""How a command ends: exit codes, our exceptions and warnings as one line each, logs for those who asked for them.

0: done. 1: done, and the answer is no: a guarantee is not kept, or an attack is above the limit. 2: what was given is
wrong. 3: the machine or Glasshouse failed: no memory left, a disk that is full, a fault in the program. 130, 143, 129:
stopped, by Ctrl-C, by a termination, by a lost terminal. 141: the program that read the output has stopped reading.
Nothing half done stays behind, and the message says what was written before, if anything was.
"""

from __future__ import annotations

import contextlib
import functools
import shlex
import signal
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import click

from glasshouse.cli import FAILED
from glasshouse.cli.logs import logs
from glasshouse.cli.printing import leave_unread, remark, say
from glasshouse.database import masked
from glasshouse.errors import (
    DisclosureWarning,
    GlasshouseError,
    GuaranteeBroken,
    InterpretedKernelsWarning,
    ParameterError,
    having_written,
    notes_of,
    saying,
)
from glasshouse.log import step
from glasshouse.policy.option_range import in_range
from glasshouse.policy.option_text import with_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType

__all__ = ["GIVEN", "NOT_MET", "WRONG", "Stopped", "fail", "having_written", "in_options", "plainly", "saying"]

GIVEN = "glasshouse.given"  # where click keeps the words of the command line
NOT_MET = 1
WRONG = 2
_TAKE_OUTPUT = ("verify", "sign")  # commands that look for the release in the folder that it was published into
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
                fail(_told(error), then=error.next_steps or _corrected(keywords))
            except Exception as error:
                _fail_unexpectedly(error, told=verbose)
            finally:
                for warning in caught:
                    remark("warning", masked(in_options(str(warning.message))), "yellow")
        if code:
            sys.exit(code)

    return run


def _told(error: BaseException, otherwise: str = "") -> str:
    """The message of an exception, with its note on what was written before."""
    notes = "; ".join(notes_of(error)) or otherwise
    command = click.get_current_context(silent=True)
    ranged = in_range(error, _offered(command.command)) if command and isinstance(error, ParameterError) else None
    told = in_options(str(error)) if ranged is None else ranged
    return f"{told}; {notes}" if notes else told


def in_options(message: str, command: click.Command | None = None) -> str:
    """A message of the library with the options of a command, by default of the one that runs."""
    context = click.get_current_context(silent=True)
    command = command or (context.command if context else None)
    return with_options(message, {} if command is None else _offered(command))


def _offered(command: click.Command) -> dict[str, list[str] | None]:
    """The options of a command, with the words that each takes."""
    return {name: _words_of(one) for one in command.params for name in _names_of(one)}


def _names_of(parameter: click.Parameter) -> list[str]:
    return [*parameter.opts, *parameter.secondary_opts] if isinstance(parameter, click.Option) else []


def _words_of(parameter: click.Parameter) -> list[str] | None:
    return list(parameter.type.choices) if isinstance(parameter.type, click.Choice) else None


def _corrected(keywords: dict[str, Any]) -> tuple[str, ...]:
    """If no release is at the given path: what is there, and the corrected command."""
    from pathlib import Path

    from glasshouse.release.astray import astray

    given = keywords.get("release", keywords.get("path"))
    context = click.get_current_context(silent=True)
    as_table = context is not None and context.command.name == "verify" and keywords.get("quasi")
    if given is None or context is None or "://" in str(given) or (as_table and Path(given).is_file()):
        return ()
    found = astray(Path(given))
    if found is None or (context.command.name in _TAKE_OUTPUT and found.meant == (Path(given, "release"),)):
        return ()
    words = context.meta.get(GIVEN, [])
    there = next((i for i, word in enumerate(words) if i and Path(word) == Path(given)), None)
    commands: list[str] = []
    if there is None:
        return (found.words, *(f"    {meant}" for meant in found.meant))
    for meant in found.meant:
        commands.append(f"    {shlex.join(['glasshouse', *words[:there], str(meant), *words[there + 1 :]])}")
    return (found.words, *commands)


def fail(message: str, code: int = WRONG, *, then: Iterable[str] = ()) -> NoReturn:
    """Print what is wrong, then on lines of their own what to do; and exit."""
    told = masked(message)
    remark("error", told if len(told) <= _MOST_TOLD else f"{told[:_MOST_TOLD]}... ({len(told):,} characters)", "red")
    for line in then:
        say(masked(line), err=True)
    sys.exit(code)


def _fail_unexpectedly(error: Exception, *, told: bool) -> NoReturn:
    """Say in one line what went wrong that is nobody's mistake at the command line, and leave.

    Where it happened is told with --verbose.
    """
    if isinstance(error, BrokenPipeError):
        leave_unread()
    if isinstance(error, UnicodeError):
        fail("the name of a file, or a text, is not Unicode: rename the file or folder, or name another one")
    if told:
        import traceback

        say(*masked("".join(traceback.format_exception(error))).splitlines(), err=True)
    if isinstance(error, MemoryError):
        fail(
            "there is not enough memory for this: close other programs, or use a smaller table or a larger machine",
            FAILED,
        )
    if isinstance(error, ImportError):  # a library that is damaged, or for which there is no room
        *_, reason = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no reason was given"]
        fail(
            (
                f"a library cannot be loaded, perhaps because memory ran out: {reason}. Close other programs and try "
                "again"
            ),
            FAILED,
        )
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename is not None else ""
        written = "".join(f"; {note}" for note in notes_of(error))
        fail(f"{error.strerror or 'the operating system refused'}{where}{written}", FAILED)
    fail(
        f"Glasshouse has a fault ({type(error).__name__}): please report it, with the output of the same command with "
        "--verbose",
        FAILED,
    )


# --- being stopped ----------------------------------------------------------------------------------------------------


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
    """Treat a stop signal as a stop, even if a library that was running turned it into another exception.

    A half imported module, for example, does that. A signal that is ignored, as under ``nohup``, stays ignored.
    """
    from glasshouse.release.package.stage import STOPS  # here, for help must be instant

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
