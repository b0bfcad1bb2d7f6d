# SPDX-License-Identifier: Apache-2.0
"""Logs on the command line: a line a step on the error stream, or an object of JSON a step in a file.

Only records of `glasshouse.log` are shown, which hold names of steps and numbers: no value, no path, no message.
"""

from __future__ import annotations

import contextlib
import json
import logging
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any

from glasshouse.cli.printing import say
from glasshouse.errors import OutputError
from glasshouse.log import COUNTED, LOGGER

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["listening", "logs"]


@contextlib.contextmanager
def logs(*, verbose: bool = False, log_json: str | None = None) -> Iterator[None]:
    """Print the internal steps of the work.

    With ``verbose`` a line for each step goes to the error stream; ``log_json`` names a file to which an object for
    each step is added, or is ``-`` for the error stream.
    """
    with contextlib.ExitStack() as stack:
        if verbose:
            stack.enter_context(listening(_Lines()))
        if log_json is not None:
            stack.enter_context(listening(_Objects(_opened(log_json, stack))))
        yield


@contextlib.contextmanager
def listening(handler: logging.Handler, level: int = logging.INFO) -> Iterator[None]:
    """Attach a handler to the steps while the work runs."""
    before = LOGGER.level
    handler.setLevel(level)
    handler.addFilter(lambda record: record.name == LOGGER.name and hasattr(record, "step"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(min(level, before or logging.CRITICAL))
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(before)


def _opened(name: str, stack: contextlib.ExitStack) -> IO[str] | None:
    if name == "-":
        return None
    try:
        file = open(name, "a", encoding="utf-8")  # noqa: PTH123, SIM115
    except (OSError, ValueError):
        raise OutputError(f"--log-json: the file {name} cannot be written: check the path", path=name) from None
    stack.callback(_close, file)
    return file


def _close(file: IO[str]) -> None:
    """Close a file of which every line was written already, or was refused."""
    with contextlib.suppress(OSError):
        file.close()


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    known = {name: getattr(record, name) for name in (*COUNTED, "seconds", "error") if hasattr(record, name)}
    return {"step": record.step, **known}  # type: ignore[attr-defined]


class _Lines(logging.Handler):
    """A line for each step."""

    def emit(self, record: logging.LogRecord) -> None:
        fields = _fields(record)
        counts = "".join(f"  {fields[name]:,} {name}" for name in COUNTED if name in fields)
        failed = f"  ended by {fields['error']}" if "error" in fields else ""
        say(f"{fields['step']:<9} {fields['seconds']:8.2f} s{counts}{failed}", err=True)


class _Objects(logging.Handler):
    """An object for each step, in the order in which the steps end."""

    def __init__(self, file: IO[str] | None) -> None:
        super().__init__()
        self._file = file

    def emit(self, record: logging.LogRecord) -> None:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = _fields(record)
        fields["seconds"] = round(fields["seconds"], 6)
        line = json.dumps({"time": time, "level": record.levelname, **fields})
        if self._file is None:
            say(line, err=True)
        else:
            try:
                self._file.write(line + "\n")
                self._file.flush()  # so that it can be read while the work goes on
            except OSError as error:
                raise OSError(error.errno, error.strerror, f"the log {self._file.name}") from None
