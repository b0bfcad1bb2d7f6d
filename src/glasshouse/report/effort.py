# SPDX-License-Identifier: Apache-2.0
"""Effort: how much work a report may be. What is left out for it is said in the report."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Effort"]


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
