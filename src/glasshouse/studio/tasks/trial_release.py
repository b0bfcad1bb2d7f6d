# SPDX-License-Identifier: Apache-2.0
"""The trial release of the studio: made for inspection, person by person, and then discarded."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.errors import NotSupported, RepublicationWarning
from glasshouse.log import step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from glasshouse.journeys.trial import Trial
    from glasshouse.microdata import Microdata
    from glasshouse.studio.job import Tell

__all__ = ["draw"]

_MOST_PEOPLE = 400
_MOST_CELLS = 20_000
_LONGEST = 300  # characters of a cell that are shown


def draw(*, tell: Tell, choices: Mapping[str, Any], seed: int | None, audits: Sequence[str]) -> dict[str, Any]:
    """Make a trial release; returns its guarantee, its tables, and what is published about some people.

    Parameters
    ----------
    tell
        Who is told how far it is.
    choices
        What was decided.
    seed
        For tests alone.
    audits
        Audits of earlier releases, to see whether this table is among them.
    """
    from glasshouse.journeys.trial import draw_trial
    from glasshouse.microdata import read
    from glasshouse.policy.choices import publish_arguments, read_arguments
    from glasshouse.randomness import Source
    from glasshouse.studio.tasks.watch import StudioWatch

    watch = StudioWatch(tell)
    asked, reading = publish_arguments(choices), read_arguments(choices)  # before a large file is read
    for name in ("format", "title", "licence", "zip"):
        del asked[name]
    _refuse_too_large(choices)
    with watch.steps():
        with step("read"):
            table = read(choices["file"], **reading)
        source = None if seed is None else Source.seeded(seed).child("trial")
        trial = draw_trial(table, **asked, source=source)
    tell.progress("finding people in the published tables", 0, 0)
    return {**_facts(trial), "people": _people(trial), "again": _again(table, audits)}


def _refuse_too_large(choices: Mapping[str, Any]) -> None:
    from glasshouse.database import is_address
    from glasshouse.streaming.need import need_of

    if choices.get("table") or choices.get("query") or is_address(choices["file"]):
        return
    roles = {*choices["quasi"], *choices.get("sensitive", ()), *filter(None, [choices.get("identifier")])}
    need = need_of(choices["file"], roles)
    if need is not None and not need.fits:
        raise NotSupported(
            f"a trial of this table would take {need}", instead="publish it: it is then read from disk, part by part"
        )


def _facts(trial: Trial) -> dict[str, Any]:
    """The guarantee, the number of people in it, and the tables."""
    import numpy as np

    from glasshouse.journeys.plan import unused_taxonomies
    from glasshouse.release.layout import layout_of
    from glasshouse.studio.tasks.promise import promise_of

    release, sizes = trial.release, trial.groups.sizes
    return {
        **promise_of(release),
        "meaning": layout_of(release.recipe).meaning,
        "exact": release.recipe.is_exact,
        "linked": layout_of(release.recipe).counted is not None,
        "notices": [*trial.table.notices, *unused_taxonomies(trial.table, release.recipe)],
        "n_people": trial.table.n_tuples,
        "n_published": release.n_tuples,
        "n_dropped": release.n_dropped,
        "n_suppressed": release.n_suppressed,
        "groups": {
            "number": len(sizes),
            "least": int(sizes.min(initial=trial.table.n_tuples)),
            "middle": int(np.median(sizes)) if len(sizes) else 0,
            "most": int(sizes.max(initial=0)),
        },
        "tables": [
            {"name": name, "rows": shown.num_rows, "columns": list(shown.column_names)}
            for name, shown in release.tables.items()
        ],
    }


def _people(trial: Trial) -> dict[str, Any]:
    """Some people, evenly spread over the table: their values, and what each table publishes about them."""
    table = trial.table
    columns = [column.name for column in (*table.quasi, *table.sensitive)]
    most = max(1, min(_MOST_PEOPLE, table.n_tuples, _MOST_CELLS // (3 * len(columns))))
    chosen = [i * table.n_tuples // most for i in range(most)]
    quasi = {column.name for column in table.quasi}
    seen = sorted(trial.seen(chosen), key=lambda shown: quasi.isdisjoint(shown.columns))  # tables of people first
    who = [str(table.identifier[i].as_py()) if table.identifier is not None else f"row {i + 1:,}" for i in chosen]
    return {
        "columns": columns,
        "who": [_short(text) for text in who],
        "before": [tuple(map(_short, row)) for row in trial.before(chosen)],
        "tables": [
            {
                "name": shown.name,
                "columns": list(shown.columns),
                "rows": [
                    None if row is None else [(_short(cell.text), cell.kind) for cell in row] for row in shown.rows
                ],
            }
            for shown in seen
        ],
    }


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _again(table: Microdata, audits: Sequence[str]) -> list[str]:
    """The folders from which this table was published before."""
    from glasshouse.journeys.republication import traces_of

    found = []
    for audit in audits:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RepublicationWarning)
            traces_of(Path(audit), table)
        if any(issubclass(warning.category, RepublicationWarning) for warning in caught):
            found.append(str(Path(audit).parent))
    return found
