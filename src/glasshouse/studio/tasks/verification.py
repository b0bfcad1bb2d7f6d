# SPDX-License-Identifier: Apache-2.0
"""A verification: a release is checked against its guarantee, or any tool's table is counted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.studio.tasks.equivalents import verify_equivalents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.studio.job import Tell
    from glasshouse.verification import Verification

__all__ = ["columns", "folder", "table"]

_MOST_SHOWN = 8  # recursive (c, ell) pairs


def folder(*, tell: Tell, path: str) -> dict[str, Any]:
    """Check the release in a folder against its guarantee."""
    tell.progress("counting again", 0, 0)
    from glasshouse.journeys.verify import release_in, verify_folder

    found, promised, _ = verify_folder(release_in(Path(path)))
    return {**_told(found), "guarantee": promised.to_data(), "same": verify_equivalents(path)}


def columns(*, tell: Tell, path: str) -> dict[str, Any]:
    """The columns of a table that any tool made, with their possible roles."""
    tell.progress("looking at the columns", 0, 0)
    from glasshouse.microdata.inspection.inspection import inspect

    found = inspect(path)
    suggested = found.suggested
    return {
        "n_tuples": found.n_tuples,
        "columns": [
            {
                "name": column.name,
                "kind": column.kind,
                "distinct": column.distinct,
                "quasi": column.name in suggested["quasi"],
                "sensitive": column.name == suggested["sensitive"],
            }
            for column in found.columns
        ],
    }


def table(*, tell: Tell, path: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Count what a table achieves, and whether it satisfies the requirements."""
    tell.progress("counting", 0, 0)
    from glasshouse.journeys.verify import verify

    return {**_told(verify(path, **asked)), "guarantee": None, "same": verify_equivalents(path, asked)}


def _told(found: Verification) -> dict[str, Any]:
    """What was counted, as plain data, with the words of the command."""
    told = found.to_dict()
    for column in told["sensitive"].values():
        shown = [one for one in column["recursive"] if one["ell"] > 1]
        column["recursive"], column["n_more"] = shown[:_MOST_SHOWN], max(0, len(shown) - _MOST_SHOWN)
        column["closeness"] = {name: one for name, one in (column["t"] or {}).items() if isinstance(one, dict)}
    for entry, check in zip(told["checks"], found.checks, strict=True):
        entry["asked"] = check.words
    groups = {
        "smallest": str(found.smallest),
        "checks": [[str(group) for group in check.worst] for check in found.checks],
        "columns": {
            name: {
                "ell": str(own.frequency.group),
                "distinct_ell": str(own.distinct.group),
                "entropy_ell": None if own.entropy is None else str(own.entropy.group),
                "designated_ell": None if own.designated is None else str(own.designated.group),
                "recursive": [str(c.group) for ell, c in own.recursive.items() if ell > 1][:_MOST_SHOWN],
                "t": {name: str(t.group) for name, t in own.closeness.items()},
            }
            for name, own in found.columns.items()
        },
    }
    return {**told, "groups_in_words": groups, "text": str(found)}
