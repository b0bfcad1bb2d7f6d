# SPDX-License-Identifier: Apache-2.0
"""Facts: everything a report says, as plain data; this is what ``report.json`` holds, and what the page is made of.

docs/report.md tells what each key means. Keys are added, and never change their meaning without `LAYOUT` growing.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from glasshouse.microdata.cautions import accepted_cautions
from glasshouse.report.achieving import findable, verification
from glasshouse.report.believing import beliefs_of, but_for_dropped
from glasshouse.report.budget import Budget, Sizes
from glasshouse.report.cautions import cautions_in
from glasshouse.report.effort import FLOOR
from glasshouse.report.files import software
from glasshouse.report.usefulness import divergence_of, losses_of, utility_of
from glasshouse.report.values import mapping_of
from glasshouse.report.words import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from glasshouse.microdata import Microdata
    from glasshouse.publish_file import PublishedFile
    from glasshouse.randomness import Source
    from glasshouse.release import Guarantee, Recipe, Release
    from glasshouse.release.release import PublishedColumn
    from glasshouse.report.effort import Effort
    from glasshouse.verify import Check, Verification

__all__ = ["LAYOUT", "facts_of", "facts_of_file"]

LAYOUT = 1
"""The layout of the data: what reads it can tell whether it knows it."""


def facts_of(
    release: Release,
    table: Microdata,
    achieved: Verification | None,
    effort: Effort,
    source: Source | None,
    progress: Callable[[str, int, int], None] | None,
) -> dict[str, Any]:
    """Gather what a report says of a release of a table."""
    table = table.spelled_by(release.recipe.recoding.get("domain") or ())
    budget = Budget(effort.cpu)
    tell = _Steps(4 + 4 * len(release.recipe.sensitive), progress)
    facts = _frame(release.recipe, release.guarantee, release.columns, release.n_tuples, release.n_dropped)
    facts["notices"] = list(table.notices)
    facts["accepted"] = accepted_cautions(table.cautions, table.accepted)
    counted = verification(release, achieved)
    facts["achieved"] = counted.to_dict()
    facts["kept"] = counted.holds is not False
    facts["broken"] = "; ".join(_asked(check) for check in counted.checks if not check.holds) or None
    tell()
    facts["published"]["tables"] = [
        {"name": name, "rows": shown.num_rows, "columns": shown.column_names} for name, shown in release.tables.items()
    ]
    facts["findable"] = findable(release)
    facts["mapping"] = mapping_of(release, table)
    tell()
    sizes = Sizes.of(table, facts["mapping"])
    facts["beliefs"] = beliefs_of(release, table, effort, budget, sizes, source, tell)
    _bound_by_groups(facts)
    facts["no_losses"] = budget.refusal(sizes.losses)
    if not facts["no_losses"]:
        facts["losses"], facts["no_losses"] = losses_of(release, table)
    tell()
    facts["utility"], facts["no_utility"] = utility_of(release, table, effort, budget, sizes, tell)
    facts["bounded"] = _bounded(facts, table, effort)
    if not facts["bounded"] and effort.divergence:
        facts["kl"] = divergence_of(release, table)
    tell()
    facts["cautions"] = cautions_in(facts)
    return facts


def _asked(check: Check) -> str:
    return check.asked if check.column is None else f"{check.asked} for {check.column}"


class _Steps:
    """Counts the steps that are done, and tells of them."""

    def __init__(self, total: int, progress: Callable[[str, int, int], None] | None) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress("reporting", self._done, self._total)


def _bound_by_groups(facts: dict[str, Any]) -> None:
    """Where linking was too much work: a belief is a mixture of groups' distributions, so the largest share bounds it.

    ANATOMY 3.2, ANGEL Theorem 1. Of a perturbed sample that is not so.
    """
    sensitive = facts["achieved"].get("sensitive", {})
    for found in facts["beliefs"]:
        if found["adversary"] == "linking" and found["bounded"] and found["column"] in sensitive:
            found["bound"] = sensitive[found["column"]]["alpha"]["exact"]
            found["because"] = "what she believes is a mixture of what the groups show, and no group shows more"
            found["because"] += but_for_dropped(facts["published"]["dropped"])


def facts_of_file(made: PublishedFile, achieved: Mapping[str, Any]) -> dict[str, Any]:
    """Gather what a report says of a file that was published in batches: nothing that needs the table in memory."""
    facts = _frame(made.recipe, made.guarantee, made.columns, made.n_tuples, 0)
    facts["notices"] = list(made.notices)
    facts["accepted"] = accepted_cautions(made.cautions, made.accepted)
    facts["achieved"] = dict(achieved)
    facts["kept"] = True  # counted again before the folders appeared
    why = "the file was published in batches, and was never in memory as a whole"
    facts["no_utility"] = facts["no_losses"] = why
    facts["bounded"] = [f"Nothing was attacked and no questions were asked: {why}."]
    facts["cautions"] = cautions_in(facts)
    return facts


def _frame(
    recipe: Recipe, guarantee: Guarantee, columns: tuple[PublishedColumn, ...], n_tuples: int, n_dropped: int
) -> dict[str, Any]:
    """What is known of any release, and empty places for the rest."""
    return {
        "layout": LAYOUT,
        "made": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "notices": [],
        "accepted": [],
        "achieved": {},
        "recipe": recipe.to_data(),
        "words": in_words(recipe),
        "guarantee": guarantee.to_data(),
        "kept": None,
        "broken": None,
        "published": {
            "tuples": n_tuples,
            "dropped": n_dropped,
            "tables": [],
            "columns": [dict(vars(column)) for column in columns],
        },
        "findable": [],
        "beliefs": [],
        "utility": [],
        "no_utility": None,
        "kl": None,
        "losses": None,
        "no_losses": None,
        "mapping": [],
        "bounded": [],
        "cautions": [],
        "software": software(),
        "files": [],
    }


def _bounded(facts: Mapping[str, Any], table: Microdata, effort: Effort) -> list[str]:
    """Say what was not done, or not fully, to keep the effort within bounds, and how to get it."""
    said = []
    if table.n_tuples > effort.most_rows:
        said.append(
            f"The table has more than {effort.most_rows:,} rows: {effort.few_questions:,} questions of each workload "
            f"were asked in place of {effort.questions:,}, and the divergence was not computed."
        )
    for found in facts["beliefs"]:
        if found["bounded"]:
            said.append(f"The {found['adversary']} adversary was not run on {found['column']}: {found['why_not']}.")
    if effort.cpu is None:
        return said
    if facts["losses"] is None and facts["no_losses"]:
        said.append(f"What is lost was not measured: {facts['no_losses']}.")
    asked = min((found["questions"] for found in facts["utility"]), default=0)
    if facts["no_utility"] and facts["published"]["columns"] and facts["recipe"]["sensitive"]:
        said.append(f"No questions were asked: {facts['no_utility']}.")
    elif facts["utility"] and asked < effort.questions:
        said.append(
            f"Errors of answers are estimated from {asked:,} questions of each workload, in place of "
            f"{effort.questions:,}."
        )
    if not effort.divergence and facts["recipe"]["sensitive"]:
        said.append("The divergence from the true distribution was not computed.")
    if said:
        said.append(
            f"A brief report takes at most as much CPU time as publishing took, and at least {FLOOR:g} seconds: here "
            f"{effort.cpu:.2g}. For all of it publish with --report full, or call gh.make_report(release, table, "
            "report='full')."
        )
    return said
