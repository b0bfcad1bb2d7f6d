# SPDX-License-Identifier: Apache-2.0
"""Effort: how much work a report may be. What is left out for it is said in the report."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from glasshouse.errors import ParameterError

__all__ = ["FLOOR", "REPORTS", "Effort"]

REPORTS = ("brief", "full", "none")
"""How much is told of a release: what about as much CPU time as publishing buys, everything, or nothing."""
FLOOR = 0.5
"""CPU seconds that a brief report may take at least."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Effort:
    """How much is done for a report.

    Parameters
    ----------
    most_rows
        Tables with more tuples are measured by what is cheap alone: linking, few questions, and the theorem in place of
        reverse engineering.
    most_linked
        Tables with more tuples are not linked: what the groups show bounds what is believed.
    questions, few_questions
        How many questions of each workload are asked, and of a large table.
    most_fits
        How many pairs of a person (people who are alike count once) and a place in the release that fits them an attack
        may go through: so many, or twice as many as there are rows. Boxes that overlap, and large buckets, can have
        very many.
    seconds
        How long reverse engineering may take.
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
        """The effort that is called so: ``brief`` or ``full``.

        Parameters
        ----------
        report
            ``brief`` takes at most as much CPU time as publishing took, and at least half a second. ``full`` takes as
            long as it takes.
        publishing
            CPU seconds that publishing took.

        Examples
        --------
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
