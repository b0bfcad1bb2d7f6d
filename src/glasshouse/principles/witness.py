# SPDX-License-Identifier: Apache-2.0
"""The value that puts a principle out of reach, named so that a person can act on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.errors import Infeasible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Domain
    from glasshouse.principles.principle import Principle

__all__ = ["Witness", "most_frequent", "of_column"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Witness:
    """A value of the sensitive column, and how many of the table's tuples have it."""

    value: Any
    shown: str
    count: int
    of: int
    column: str | None

    def __str__(self) -> str:
        return f"{self.shown} has {self.count:,} of {self.of:,} tuples{of_column(self.column)}"

    def infeasible(self, principle: Principle, *, allowed: int, remedy: str, largest: object) -> Infeasible:
        """Make the error that says that this value is too frequent, and what would work."""
        limit = f"at most {allowed:,} {'is' if allowed == 1 else 'are'} allowed"
        return Infeasible(
            f"{principle.title} is out of reach: {self}, {limit}; {remedy}",
            principle=principle,
            column=self.column,
            value=self.value,
            count=self.count,
            of=self.of,
            largest=largest,
        )


def most_frequent(
    whole: Counts, column: str | None, domain: Domain | None, *, among: Sequence[int] | None = None
) -> Witness:
    """Find the most frequent value of the table, or of those with the codes ``among``; the first of several."""
    counts = whole.dense[0]
    code = int(np.argmax(counts)) if among is None else max(among, key=lambda code: (int(counts[code]), -code))
    if domain is None:
        value, shown = code, f"the value with code {code}"
    else:
        value = domain.decode(np.array([code], np.int32))[0].as_py()
        shown = "the missing value" if value is None else repr(value)
    return Witness(value=value, shown=shown, count=int(counts[code]), of=int(whole.sizes[0]), column=column)


def of_column(column: str | None) -> str:
    """Name the column, if it has a name, as the end of a phrase."""
    return "" if column is None else f" of column {column!r}"
