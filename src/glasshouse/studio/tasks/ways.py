# SPDX-License-Identifier: Apache-2.0
"""Comparison of ways to publish a table: each result is sent as soon as it is finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Principle
    from glasshouse.studio.job import Tell

__all__ = ["compare", "small_twin"]

_SLACK = "0.1"  # of a sample may be left out, whose shares of values are not exactly those of the table


def compare(
    *,
    tell: Tell,
    choices: Mapping[str, Any],
    methods: Sequence[str] | None,
    recodings: Sequence[str] | None,
    presence: str,
    most_rows: int,
    runs: int,
    seconds: float,
    learner: bool,
) -> dict[str, Any]:
    """Compare ways on twins of the table, which have made-up sensitive values; of a large table, on a sample of one.

    Parts are rows, as `Row.to_dict` gives them; the result is what `Comparison.shown` gives, and ``n_tried``, the
    number of people on which ways were tried.
    """
    import glasshouse as gh
    from glasshouse.pages.report import Effort
    from glasshouse.policy.choices import principle, read_arguments

    asked = principle(choices)
    tell.progress("reading the table", 0, 0)
    table = gh.read(choices["file"], **read_arguments(choices))
    table.refuse_unanswered()
    tell.progress("making up sensitive values", 0, 0)
    tried = small_twin(table, asked, choices.get("suppress", 0), most_rows)
    found = gh.compare(
        tried,
        principle=asked,
        methods=methods,
        recodings=recodings,
        presence=presence,
        runs=runs,
        effort=Effort(seconds=seconds),
        learner=learner,
        progress=tell.progress,
        finished=lambda row: tell.part(row.to_dict()),
    )
    return {**found.shown(), "n_tried": tried.n_tuples}


def small_twin(
    table: Microdata, principle: Principle | Mapping[str, Principle], suppress: Any, most_rows: int
) -> Microdata:
    """The table, if ways can be tried on it; otherwise a twin of it that is smaller, or without those left out.

    Who is in a sample, and who is left out, must not depend on true sensitive values: a choice by the result would tell
    of them. So values are made up first, and people are drawn and left out by these.
    """
    import numpy as np

    from glasshouse.comparing.twin import twin_of
    from glasshouse.grouping.suppression import keep_eligible
    from glasshouse.microdata.kinds import kinds_of
    from glasshouse.principles.parameters import exact_share, plain
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Source

    source = Source.seeded(0)
    is_large = table.n_tuples > most_rows
    if not is_large and Requirement.in_groups(principle, table).first_ineligible() is None:
        return table
    twin = twin_of(table, source.child("small twin"))
    if is_large:
        order = np.lexsort([column.codes for column in (*twin.quasi, *twin.sensitive)])
        drawn = source.child("sample").permutation(table.n_tuples)[:most_rows]
        twin = twin.take(np.sort(order[drawn]))
    kinds, of_row = kinds_of(twin)
    share = max(exact_share(suppress), exact_share(_SLACK) if is_large else exact_share(0))
    kept = keep_eligible(kinds, principle, str(plain(share)), source.child("left out"))
    rows = np.argsort(of_row, kind="stable").astype(np.int32)
    return twin.take(np.sort(kinds.rows_kept(kept, rows)))
