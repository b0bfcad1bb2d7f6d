# SPDX-License-Identifier: Apache-2.0
"""Clocks: what a time in a question means for a column whose published times have offsets, or have none."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from glasshouse.errors import DomainError

__all__ = ["Clock"]


@dataclass(frozen=True, slots=True)
class Clock:
    """By which clock the times of a column are shown.

    A time without an offset is what the column's clock shows. Where the column's times have different offsets, as they
    do when clocks are set back in autumn, such a time may be two moments: the question must say which.

    >>> utc = Clock("seen", frozenset({dt.timedelta(0)}))
    >>> utc.moment(dt.datetime(2024, 5, 1)).isoformat()
    '2024-05-01T00:00:00+00:00'
    """

    column: str
    offsets: frozenset[dt.timedelta | None]  # the offsets of its times; None for times without one

    def moment(self, time: dt.datetime) -> dt.datetime:
        """A time of a question as the column's times are; refused where that cannot be said."""
        shown = self.offsets - {None}
        if time.tzinfo is not None and not shown:
            raise self._refused(
                time, "shows times without an offset: write the time as its clock shows it, without one"
            )
        if time.tzinfo is not None or not shown:
            return time
        if len(shown) > 1:
            raise self._refused(
                time,
                f"shows times with {len(shown)} different offsets: write one, as in "
                "TIMESTAMP '2024-10-27 02:30:00+02:00'",
            )
        (offset,) = shown
        return time.replace(tzinfo=dt.timezone(offset or dt.timedelta(0)))

    def _refused(self, time: dt.datetime, why: str) -> DomainError:
        return DomainError(f"column {self.column!r} {why}", column=self.column, values=[time])
