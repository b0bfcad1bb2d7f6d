# SPDX-License-Identifier: Apache-2.0
"""The log of the work while it runs: which step, how many rows, how long. It never has a value of the data.

Records go to the logger ``glasshouse`` of the standard library. A record at level INFO ends a step, one at level DEBUG
begins it; both have the attribute ``step``, and as many of ``rows``, ``groups``, ``columns``, ``tables``, ``people``,
``bytes`` and ``seconds`` as are known. Everything but the name of the step, which stands in our code, is a number, and
a step that fails tells the class of the exception and not its message: so no value can get in, whatever is published.
"""

from __future__ import annotations

import contextlib
import logging
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["COUNTED", "LOGGER", "step"]

LOGGER = logging.getLogger("glasshouse")
LOGGER.addHandler(logging.NullHandler())  # nobody listens unless somebody asks
COUNTED = ("rows", "groups", "columns", "tables", "people", "bytes")


@contextlib.contextmanager
def step(name: str, **counts: int) -> Iterator[Callable[..., None]]:
    """Log that a step begins and, when it ends, how long it took; yields a function that adds counts to the record.

    Parameters
    ----------
    name
        A word of our own, such as ``divide``; never anything that was read.
    counts
        What is known before the step, by the names in `COUNTED`.

    Examples
    --------
    >>> with step("divide", rows=8) as note:
    ...     note(groups=4)
    """
    known: dict[str, int] = {}

    def note(**more: int) -> None:
        for count, number in more.items():
            if count not in COUNTED:
                raise TypeError(f"a log knows {', '.join(COUNTED)}, not {count}")
            known[count] = int(number)

    note(**counts)
    LOGGER.debug("%s", name, extra={"step": name, **known})
    started = time.perf_counter()
    try:
        yield note
    except BaseException as error:
        extra = {"step": name, **known, "seconds": time.perf_counter() - started, "error": type(error).__name__}
        LOGGER.info("%s failed", name, extra=extra)
        raise
    LOGGER.info("%s", name, extra={"step": name, **known, "seconds": time.perf_counter() - started})
