# SPDX-License-Identifier: Apache-2.0
"""Which columns of a table fit into a terminal, and how wide they may be; what does not fit is named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ColumnFit", "fit_columns"]

_WIDEST = (32, 24, 18, 14, 10)  # the most characters of a cell, tried one after the other
_FRAME = 3  # blanks around a cell, and what separates it from the next


@dataclass(frozen=True, slots=True)
class ColumnFit:
    """The columns that are shown, how wide a cell may be, and the columns that are not shown."""

    shown: tuple[str, ...]
    widest: int
    hidden: tuple[str, ...]

    def __str__(self) -> str:
        """A sentence on the columns that are not shown; empty if all are shown."""
        if not self.hidden:
            return ""
        n = len(self.hidden)
        return f"{n:,} more column{'s' * (n > 1)}: {', '.join(self.hidden)}"


def fit_columns(names: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> ColumnFit:
    """Choose the columns to show in so many characters: all of them if they can be narrow enough, else the first ones.

    >>> fit_columns(["age", "sex"], [["30", "F"]], 80).hidden
    ()
    >>> print(fit_columns([f"a rather long name {i}" for i in range(5)], [], 40))
    2 more columns: a rather long name 3, a rather long name 4
    """
    wanted = [
        max([len(name), *(len(row[i]) for row in rows)]) for i, name in enumerate(names)
    ]  # fmt: skip
    for widest in _WIDEST:
        if sum(min(one, widest) + _FRAME for one in wanted) <= width:
            return ColumnFit(tuple(names), widest, ())
    taken, shown = 0, 0
    for one in wanted:
        taken += min(one, _WIDEST[-1]) + _FRAME
        if shown and taken > width:
            break
        shown += 1
    return ColumnFit(tuple(names[:shown]), _WIDEST[-1], tuple(names[shown:]))
