# SPDX-License-Identifier: Apache-2.0
"""Facts: the content of a report as plain data, which ``report.json`` contains and from which the page is made.

docs/report.md tells what each key means. Keys are added, and never change their meaning without `LAYOUT` growing.
"""

from __future__ import annotations

import datetime
import hashlib
import platform
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import NotSupported, SourceError
from glasshouse.journeys.plan import unused_taxonomies
from glasshouse.journeys.recheck import verify_release
from glasshouse.microdata.cautions import accepted_cautions
from glasshouse.pages.report.advice import cautions_in
from glasshouse.pages.report.beliefs import beliefs_of, but_for_dropped
from glasshouse.pages.report.effort import FLOOR, Budget, Sizes
from glasshouse.pages.report.learner import learners_of
from glasshouse.pages.report.regulators import risks_of
from glasshouse.pages.report.usefulness import divergence_of, losses_of, utility_of
from glasshouse.pages.report.words import WHO, in_words
from glasshouse.plural import counted
from glasshouse.release.layout import layout_of
from glasshouse.release.package.signature import signature_in
from glasshouse.release.package.stream import open_release
from glasshouse.verification import verify_table
from glasshouse.verification.stream_count import count_stream
from glasshouse.verification.verification import risk_of, rounded_up
from glasshouse.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from glasshouse.microdata import Column, Microdata
    from glasshouse.microdata.domains import Domain
    from glasshouse.pages.report.effort import Effort
    from glasshouse.randomness import Source
    from glasshouse.release import Guarantee, Recipe, Release
    from glasshouse.release.release import PublishedColumn
    from glasshouse.streaming.publish import PublishedFile
    from glasshouse.verification import Risk, Verification

__all__ = ["LAYOUT", "facts_of", "facts_of_file", "files_in", "signature_facts"]

LAYOUT = 1
"""The layout of the data: what reads it can tell whether it knows it."""
_FIFTH = Fraction(1, 5)  # somebody found with a larger probability is at risk


def facts_of(
    release: Release,
    table: Microdata,
    achieved: Verification | None,
    effort: Effort,
    source: Source | None,
    progress: Callable[[str, int, int], None] | None,
) -> dict[str, Any]:
    """Collect the facts of a report on a release of a table."""
    if release.editions:
        raise NotSupported(
            "a report on several editions cannot be made with a table of only some of their people",
            instead="report on one edition, gh.edition_of(release, LABEL), with the table of the people who were "
            "added in it",
        )
    table = table.spelled_by(release.recipe.recoding.get("domain") or ())
    budget = Budget(effort.cpu)
    done, total = count(1), 5 + 5 * len(release.recipe.sensitive)

    def tell() -> None:
        if progress is not None:
            progress("reporting", next(done), total)

    facts = _frame(release.recipe, release.guarantee, release.columns, release.n_tuples, release.n_dropped)
    facts["notices"] = [*table.notices, *unused_taxonomies(table, release.recipe)]
    facts["accepted"] = accepted_cautions(table.cautions, table.accepted)
    counted = _verification(release, achieved)
    facts["achieved"] = counted.to_dict()
    facts["kept"] = counted.holds is not False
    facts["broken"] = "; ".join(check.what for check in counted.checks if not check.holds) or None
    tell()
    facts["published"]["tables"] = [
        _table(name, shown.num_rows, shown.column_names, release.recipe) for name, shown in release.tables.items()
    ]
    facts["findable"] = _findable(release)
    facts["mapping"] = _mapping(release, table)
    tell()
    sizes = Sizes.of(table, facts["mapping"])
    facts["beliefs"] = beliefs_of(release, table, effort, budget, sizes, source, tell)
    _bound_by_groups(facts)
    facts["no_losses"] = budget.refusal(sizes.losses)
    if not facts["no_losses"]:
        facts["losses"], facts["no_losses"] = losses_of(release, table)
    tell()
    facts["utility"], facts["no_utility"] = utility_of(release, table, effort, budget, sizes, tell)
    facts["risks"] = risks_of(release, table, effort, budget, sizes, source, tell)
    facts["learner"] = learners_of(release, table, effort, budget, sizes, tell)
    facts["bounded"] = _bounded(facts, table, effort)
    if not facts["bounded"] and effort.divergence:
        facts["kl"] = divergence_of(release, table)
    tell()
    facts["cautions"] = cautions_in(facts)
    return facts


def _bound_by_groups(facts: dict[str, Any]) -> None:
    """Where linking was too much work: a probability is a mean of shares in groups, so the largest share bounds it.

    ANATOMY 3.2, ANGEL Theorem 1. Of a perturbed sample that is not so.
    """
    sensitive = facts["achieved"].get("sensitive", {})
    for found in facts["beliefs"]:
        if found["adversary"] == "linking" and found["bounded"] and found["column"] in sensitive:
            found["bound"] = sensitive[found["column"]]["alpha"]["exact"]
            found["because"] = (
                "the attacker's probability is an average of the shares of the value in several groups, so it cannot "
                "be above the largest of these shares"
            )
            found["because"] += but_for_dropped(facts["published"]["dropped"])


def facts_of_file(made: PublishedFile, achieved: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the facts of a report on a table published in batches, without those that need the whole table.

    What is counted is counted from the published files, which are read one batch after the other.
    """
    facts = _frame(made.recipe, made.guarantee, made.columns, made.n_tuples, made.n_dropped - made.n_incomplete)
    facts["notices"] = list(made.notices)
    facts["accepted"] = accepted_cautions(made.cautions, made.accepted)
    facts["achieved"] = dict(achieved)
    facts["kept"] = True  # counted again before the folders appeared
    facts["published"]["tables"] = [
        _table(name, made.n_rows[name], names, made.recipe) for name, names in made.headers.items()
    ]
    facts["findable"] = _findable_in_files(made)
    why = "the table was published in batches, and was never in memory as a whole"
    facts["no_utility"] = facts["no_losses"] = why
    facts["bounded"] = list(_left_out(facts, why))
    facts["cautions"] = cautions_in(facts)
    return facts


def _left_out(facts: Mapping[str, Any], why: str) -> Iterator[str]:
    """Sentences on what a report on files leaves out."""
    yield f"No attack was tried and no questions were asked: {why}."
    if facts["recipe"]["sensitive"] and not facts["achieved"].get("sensitive"):
        yield ("For the sensitive columns, only the principles that were asked for were checked.")
    exact = [shown["name"] for shown in facts["published"]["tables"] if shown["exact"]]
    if exact:
        tables = f"{'table' if len(exact) == 1 else 'tables'} {', '.join(exact)}"
        yield f"It was not counted how many people have the same exact quasi-identifiers in the published {tables}."
    yield "What happened to the values of each column is not listed."
    yield "The report has all of this if the table is published in memory (--engine memory), where it fits."


def _findable_in_files(made: PublishedFile) -> list[dict[str, Any]]:
    """Like `_findable`, from the files; not counted for exact tables, whose rows do not stand cell by cell."""
    layout, found = layout_of(made.recipe), []
    for name, names in made.headers.items():
        own = [column for column in made.recipe.quasi if column in names]
        if not own or layout.exact:
            continue
        with open_release(made.folder) as opened:
            if layout.size is not None:
                batches = [np.asarray(batch[layout.size]) for batch in opened.batches(name, [layout.size])]
                sizes = np.concatenate(batches).astype(np.int64)
                found.append(_found(name, own, len(sizes), int(sizes.min()), risk_of(sizes, _FIFTH, None)))
            else:
                counted = count_stream(
                    opened.batches, {name: own}, quasi=own, sensitive=(), asked=lambda _: ()
                ).verification
                found.append(_of_cells(name, own, counted))
        found[-1]["exact"] = False
    return found


def _table(name: str, n_rows: int, names: Sequence[str], recipe: Recipe) -> dict[str, Any]:
    """A published table: its rows and columns, and whether it shows quasi-identifiers as they are."""
    exact = layout_of(recipe).exact and not set(names).isdisjoint(recipe.quasi)
    return {"name": name, "rows": n_rows, "columns": list(names), "exact": exact}


def _frame(
    recipe: Recipe, guarantee: Guarantee, columns: tuple[PublishedColumn, ...], n_tuples: int, n_dropped: int
) -> dict[str, Any]:
    """The facts that are known of any release, with empty places for the others."""
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
        "learner": [],
        "risks": [],
        "utility": [],
        "no_utility": None,
        "kl": None,
        "losses": None,
        "no_losses": None,
        "mapping": [],
        "bounded": [],
        "cautions": [],
        "software": _software(),
        "files": [],
        "signature": None,
    }


def _bounded(facts: Mapping[str, Any], table: Microdata, effort: Effort) -> list[str]:
    """Say what was not done, or not fully, to keep the effort within bounds, and how to get it."""
    said = []
    if table.n_tuples > effort.most_rows:
        said.append(
            f"The table has more than {counted(effort.most_rows, 'row')}: "
            f"{counted(effort.few_questions, 'question was', 'questions were')} asked "
            f"of each kind instead of {effort.questions:,}, and it was not calculated how far the distribution in the "
            "release is from that in your table (the Kullback-Leibler divergence)."
        )
    for found in facts["beliefs"]:
        if found["bounded"]:
            who = WHO[found["adversary"]]
            said.append(f"The attack on {found['column']} by {who} was not run: {found['why_not']}.")
    unmeasured = [found for found in facts["risks"] if found["bounded"]]
    if unmeasured:
        names = ", ".join(found["risk"] for found in unmeasured)
        said.append(f"These risks were not measured ({names}): {unmeasured[0]['why_not']}.")
    for found in facts["learner"]:
        if found["bounded"]:
            said.append(f"The cost of being in the table was not measured for {found['column']}: {found['why_not']}.")
    if effort.cpu is None:
        return said
    if facts["losses"] is None and facts["no_losses"]:
        said.append(f"The loss of information was not measured: {facts['no_losses']}.")
    asked = min((found["questions"] for found in facts["utility"]), default=0)
    if facts["no_utility"] and facts["published"]["columns"] and facts["recipe"]["sensitive"]:
        said.append(f"No questions were asked: {facts['no_utility']}.")
    elif facts["utility"] and asked < effort.questions:
        said.append(
            f"Errors of answers are estimated from {counted(asked, 'question')} of each kind, instead of "
            f"{effort.questions:,}."
        )
    if not effort.divergence and facts["recipe"]["sensitive"]:
        said.append(
            "It was not calculated how far the distribution in the release is from that in your table (the "
            "Kullback-Leibler divergence)."
        )
    if said:
        said.append(
            f"A brief report is allowed as much CPU time as publishing took, or {FLOOR:g} seconds if that is "
            f"longer: here {effort.cpu:.2g} seconds. For a full report publish with --report full, or call "
            "gh.make_report(release, table, report='full')."
        )
    return said


# --- what the published tables achieve, counted by the second implementation from these tables alone ------------------


def _verification(release: Release, achieved: Verification | None) -> Verification:
    """Count everything that the groups achieve, and whether the promise is kept; unless that was counted already."""
    return achieved if achieved is not None and achieved.columns and achieved.checks else verify_release(release)


def _findable(release: Release) -> list[dict[str, Any]]:
    """How many people share the cells of each table with quasi-identifiers, that is, how easily a person is found."""
    found = []
    for name, table in release.tables.items():
        own = [column for column in release.recipe.quasi if column in table.column_names]
        if not own:
            continue
        if release.layout.size is not None:
            sizes = np.asarray(table[release.layout.size]).astype(np.int64)
            found.append(_found(name, own, len(sizes), int(sizes.min()), risk_of(sizes, _FIFTH, None)))
        else:
            counted = verify_table(table, quasi=own, brief=True, risk_threshold=_FIFTH)
            found.append(_of_cells(name, own, counted))
        found[-1]["exact"] = release.layout.exact
    return found


def _of_cells(table: str, quasi: list[str], counted: Verification) -> dict[str, Any]:
    assert counted.risk is not None, "of rows with equal cells"
    return _found(table, quasi, counted.n_groups, counted.smallest.size, counted.risk)


def _found(table: str, quasi: list[str], n_groups: int, k: int, risk: Risk) -> dict[str, Any]:
    return {
        "table": table,
        "quasi": quasi,
        "groups": n_groups,
        "k": k,
        "highest": rounded_up(risk.prosecutor_highest),
        "average": rounded_up(risk.prosecutor_average),
        "threshold": float(risk.threshold),
        "at_risk": rounded_up(risk.at_risk),
    }


# --- what happened to the values of each column on their way into the release -----------------------------------------


def _mapping(release: Release, table: Microdata) -> list[dict[str, Any]]:
    """For every column: the number of input values, their order, how they were grouped, the number of output cells.

    Values themselves are not among it: one of them may be a single person's.
    """
    meanings = {column.name: column.meaning for column in release.columns}
    roles = [(column, "quasi-identifier") for column in table.quasi] + [(c, "sensitive") for c in table.sensitive]
    return [_mapped(release, column, role, meanings.get(column.name, "")) for column, role in roles]


def _mapped(release: Release, column: Column, role: str, meaning: str) -> dict[str, Any]:
    domain = column.domain
    shown = [t[column.name] for t in release.tables.values() if column.name in t.column_names]
    return {
        "column": column.name,
        "role": role,
        "kind": domain.kind,
        "values": len(domain.values),
        "missing": int((column.codes == domain.missing_code).sum()) if domain.missing else 0,
        "order": _order(domain),
        "taxonomy": None if domain.taxonomy is None else {"levels": int(domain.taxonomy.depth.max(initial=0))},
        "cells": max((_n_different(cells) for cells in shown), default=0),
        "meaning": meaning,
    }


def _order(domain: Domain) -> str:
    if domain.taxonomy is not None:
        return "of its taxonomy"
    if not domain.ordered:
        return "none"
    return "declared" if domain.kind in ("category", "boolean") else "of its values"


def _n_different(cells: pa.ChunkedArray) -> int:
    if pa.types.is_dictionary(cells.type):
        cells = pa.chunked_array([chunk.indices for chunk in cells.unify_dictionaries().chunks])
    return int(pc.count_distinct(cells, mode="all").as_py())


# --- what lies in a release folder, and what made it ------------------------------------------------------------------


def files_in(folder: Path) -> list[dict[str, Any]]:
    """Every file of a release folder: name, bytes, SHA-256."""
    found: list[dict[str, Any]] = []
    if not any(folder.iterdir()):  # which tells of a folder that is not there; looking inside of folders does not
        return found
    for path in sorted(folder.rglob("*")):  # a large table is a folder of files
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            found.append({"name": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size, "sha256": digest})
    return found


def signature_facts(folder: Path) -> dict[str, Any] | None:
    """Who signed the release in a folder, when, with which key, and any fault of the signature; None if unsigned."""
    try:
        signature = signature_in(folder)
    except SourceError as error:
        return {"signer": None, "date": None, "key": None, "fault": str(error)}
    if signature is None:
        return None
    told = {"signer": signature.signer, "date": signature.date, "key": signature.key}
    return {**told, "fault": signature.fault(folder)}


def _software() -> dict[str, str]:
    """The versions that made release and report."""
    return {
        "glasshouse": VERSION,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
    }
