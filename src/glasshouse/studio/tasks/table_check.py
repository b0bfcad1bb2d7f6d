# SPDX-License-Identifier: Apache-2.0
"""A check of the decisions: the table is read with its roles, as for publishing, and unique people are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.microdata.cautions import Caution
    from glasshouse.microdata.inspection.uniqueness import Uniqueness
    from glasshouse.studio.job import Tell

__all__ = ["check"]

MOST_TRIED = 12  # quasi-identifiers among which pairs and triples are tried


def check(*, tell: Tell, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Read the table with its roles; roles that do not fit are refused here, with a message."""
    tell.progress("Reading the table with these roles", 0, 2)
    import glasshouse as gh
    from glasshouse.microdata.inspection.uniqueness import best_pairs_and_triples, most_distinguishing, uniqueness
    from glasshouse.policy.choices import read_arguments

    table = gh.read(choices["file"], **read_arguments({**choices, "accept": None}))
    tell.progress("Counting people with a unique combination of values", 1, 2)
    pairs, triples = best_pairs_and_triples(most_distinguishing(table.quasi, most=MOST_TRIED))
    singles = sorted(map(uniqueness, ([column] for column in table.quasi)), key=lambda found: -found.unique)
    return {
        "n_tuples": table.n_tuples,
        "together": _found(uniqueness(table.quasi)),
        "combinations": [_found(found) for found in (*singles[:1], *pairs[:2], *triples[:2])],
        "cautions": [_caution(caution) for caution in table.cautions],
        "notices": list(table.notices),
    }


def _found(found: Uniqueness) -> dict[str, Any]:
    return {"columns": list(found.columns), "unique": found.unique, "share": found.share}


def _caution(caution: Caution) -> dict[str, Any]:
    examples = [line[:400] for line in caution.shown[:5]]
    return {
        "name": caution.name,
        "column": caution.column,
        "sentence": caution.sentence,
        "mend": caution.mend,
        "examples": examples,
    }
