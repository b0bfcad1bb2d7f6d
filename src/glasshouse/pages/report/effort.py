# SPDX-License-Identifier: Apache-2.0
"""Effort: how much work a report may be, the CPU time that is left for it, and about what each part would cost.

What is left out for it is said in the report. What a part would cost is foretold from the sizes of the table and of the
release, never by trying: the same table with the same budget gets the same parts, unless the machine is much slower
than foretold and the budget runs out.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from glasshouse.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from glasshouse.microdata import Microdata

__all__ = ["FLOOR", "REPORTS", "Budget", "Effort", "OutOfTime", "Sizes", "deadline"]

REPORTS = ("brief", "full", "none")
"""How much is told of a release: what about as much CPU time as publishing buys, everything, or nothing."""
FLOOR = 0.5
"""CPU seconds that a brief report may take at least."""
_ROUND = (1_000, 500, 200, 100, 50, 20)  # so many questions of each workload are asked, or none
_CAREFUL = 1.5  # machines differ: a part is begun if so many times what it should take is left


@dataclass(frozen=True, kw_only=True, slots=True)
class Effort:
    """How much is done for a report.

    Parameters
    ----------
    most_rows
        Tables with more records are measured only by what is cheap: linking, few questions, and the theorem in place of
        reverse engineering.
    most_linked
        Tables with more records are not linked: the shares in groups bound the probabilities.
    questions, few_questions
        How many questions of each workload are asked, and of a large table.
    most_fits
        How many pairs of a person (people who are alike count once) and a place in the release that fits them an attack
        may go through: so many, or twice as many as there are rows. Boxes that overlap, and large buckets, can have
        very many.
    seconds
        How long reverse engineering may take, and learning.
    most_tried
        Of more people not every world is tried where the method has a theorem: counting the worlds alone can take long.
    most_worlds, most_runs
        As for `ReverseEngineering`, on tables so small that every world is tried.
    most_states
        As for `Linking`, where cells overlap.
    cpu
        CPU seconds that the whole report may take; None for as many as it takes. Parts are done one after the other,
        risk before usefulness, and one that would take more than is left is left out, or done with fewer questions.
    divergence
        Whether the divergence from the true distribution is computed: nobody can foretell how long that takes.
    """

    most_rows: int = 200_000
    most_linked: int = 1_000_000
    questions: int = 1_000
    few_questions: int = 100
    most_fits: int = 3_000_000
    seconds: float = 20.0
    most_tried: int = 16
    most_worlds: int = 1_000
    most_runs: int = 2_000
    most_states: int = 1_000_000
    cpu: float | None = None
    divergence: bool = True

    @classmethod
    def named(cls, report: str, publishing: float = 0.0) -> Effort:
        """The effort with this name: ``brief`` or ``full``.

        A brief report takes at most as much CPU time as publishing took, and at least half a second; a full one as long
        as it takes.

        >>> Effort.named("brief", publishing=3.0).cpu, Effort.named("brief").cpu, Effort.named("full").cpu
        (3.0, 0.5, None)
        """
        if report == "full":
            return cls(most_rows=sys.maxsize, most_linked=sys.maxsize, most_fits=30_000_000, seconds=600.0)
        if report == "brief":
            return cls(
                most_rows=sys.maxsize,
                most_linked=sys.maxsize,
                most_states=30_000,
                cpu=max(FLOOR, publishing),
                divergence=False,
            )
        raise ParameterError("make_report", "report", "'brief' or 'full'", report)


class Budget:
    """CPU seconds of this process that a report may take, counted from when this is made.

    With None there are as many as it takes.

    >>> Budget(None).allows(1e9), Budget(0.5).allows(1e9), Budget(0.5).allows(1e-3)
    (True, False, True)
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._started = time.process_time()

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return inf if self.seconds is None else self.seconds - (time.process_time() - self._started)

    def allows(self, cost: float) -> bool:
        """Whether this many seconds are available."""
        return cost * _CAREFUL <= self.left

    def refusal(self, cost: float) -> str:
        """The reason why a part is left out; None if it fits."""
        if self.allows(cost):
            return ""
        most, left = f"{cost * _CAREFUL:.2g}", f"{max(self.left, 0):.2g}"
        seconds = "CPU second" if most == "1" else "CPU seconds"
        return (
            f"it can take up to {most} {seconds}, and only {left} {'is' if left == '1' else 'are'} left for this report"
        )

    def questions(self, first: float, each: float, most: int) -> int:
        """How many questions can be asked, a round number; the first costs as much as reading the release."""
        if self.seconds is None:
            return most
        return next((n for n in _ROUND if n <= most and self.allows(first + n * each)), 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """The numbers on which the cost of a part depends.

    The seconds were measured on the tables of ``benchmarks/growth.py``, one thread, and rounded up.
    """

    rows: int  # records of the table
    cells: int  # different cells of the quasi-identifiers, as they are published
    values: int  # different values of the quasi-identifiers in the table

    @classmethod
    def of(cls, table: Microdata, mapping: Iterable[Mapping[str, Any]]) -> Sizes:
        """Derive the sizes from the descriptions of the columns."""
        quasi = [column for column in mapping if column["role"] == "quasi-identifier"]
        return cls(
            rows=table.n_tuples,
            cells=sum(column["cells"] for column in quasi),
            values=sum(column["values"] for column in quasi),
        )

    def linking(self, n_fits: int) -> float:
        """The cost of looking up everybody, given the number of places that people fit."""
        return 0.02 + 8e-6 * self.cells + 2e-6 * self.values + 3e-6 * self.rows + 1e-6 * n_fits

    def learning(self, n_fits: int) -> float:
        """Learning from the release, and judging the probabilities that follow for everybody."""
        return 0.1 + 250e-6 * self.rows + 3 * self.linking(n_fits)

    def risk(self, n_fits: int) -> float:
        """Counting how often one of the attacks that regulators ask about succeeds."""
        return 0.02 + 1.5 * self.linking(n_fits)

    @property
    def losses(self) -> float:
        """Measuring the widths of cells."""
        return 0.01 + 15e-6 * self.cells + 0.06e-6 * self.rows

    @property
    def first_question(self) -> float:
        """Reading the release and the values of the table for questions."""
        return 0.02 + 10e-6 * self.cells + 14e-6 * self.values + 0.2e-6 * self.rows

    @property
    def each_question(self) -> float:
        """One more question of each workload."""
        return 1e-4 + 25e-9 * self.cells + 60e-9 * self.values + 5e-9 * self.rows


class OutOfTime(Exception):
    """The error for an attack that takes longer than allowed."""


def deadline(seconds: float, budget: Budget | None = None) -> Callable[[float], None]:
    """A progress callback for an attack, which raises `OutOfTime` when time or budget are used up."""
    end = time.monotonic() + seconds

    def watch(_share: float) -> None:
        if time.monotonic() > end or (budget is not None and budget.left <= 0):
            raise OutOfTime

    return watch
