# SPDX-License-Identifier: Apache-2.0
"""Watch: reports the work of a publication to the studio, step by step, in words for a steward."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from glasshouse.log import LOGGER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from glasshouse.studio.job import Tell

__all__ = ["StudioWatch"]

_WORDS = {
    "read": "reading the table",
    "reading": "reading the table",
    "count": "counting people who are alike",
    "counting": "counting people who are alike",
    "divide": "putting people into groups",
    "dividing": "putting people into groups",
    "recode": "making the published tables",
    "recheck": "checking the guarantee from the published tables alone",
    "write": "writing the files",
    "writing": "writing the files",
    "audit": "writing the audit, which must not be published",
    "report": "making the report",
    "reporting": "making the report",
    "draw": "drawing the flat table",
    "learning": "drawing the flat table",
    "send": "sending the tables to the database",
}


class StudioWatch:
    """Reports to the studio what is being done; stores the remarks."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self.remarks: list[tuple[str, str]] = []

    @contextlib.contextmanager
    def bar(self, unit: str) -> Iterator[Callable[[str, int, int], None]]:
        """Report progress."""
        yield lambda what, done, total: self._tell.progress(_WORDS.get(what, what), done, total)

    @contextlib.contextmanager
    def steps(self) -> Iterator[None]:
        """Report the running step."""
        before, handler = LOGGER.level, _Steps(self._tell)
        LOGGER.addHandler(handler)
        LOGGER.setLevel(logging.DEBUG)
        try:
            yield
        finally:
            LOGGER.removeHandler(handler)
            LOGGER.setLevel(before)

    def remark(self, kind: str, words: str) -> None:
        """Keep a note or a warning."""
        self.remarks.append((kind, words))


class _Steps(logging.Handler):
    """Tells every step that begins; a record has the names of steps and numbers, and nothing else."""

    def __init__(self, tell: Tell) -> None:
        super().__init__(logging.DEBUG)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        name = getattr(record, "step", None)
        if record.levelno == logging.DEBUG and isinstance(name, str):
            self._tell.progress(_WORDS.get(name, name), 0, 0)
