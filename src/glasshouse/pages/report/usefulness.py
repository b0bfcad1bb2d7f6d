# SPDX-License-Identifier: Apache-2.0
"""Usefulness: how well questions are answered from the release, compared with the truth and with no link at all.

The questions are those of the papers, TRANSPARENT's and ANATOMY's, drawn with a fixed seed. "No link" is what two
tables would say that have nothing in common: exact quasi-identifiers, and the sensitive column by itself. A release
that answers no better tells nothing of how the two go together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.analyst.answers.distribution import kl_divergence, reconstructed
from glasshouse.analyst.answers.workload_answers import answer, count, independent
from glasshouse.analyst.usefulness.losses import losses
from glasshouse.analyst.usefulness.reconstruction_error import terms_of
from glasshouse.analyst.usefulness.workloads import Workload
from glasshouse.errors import GlasshouseError
from glasshouse.journeys.evaluate import DELTA, relative_errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.microdata import Microdata
    from glasshouse.pages.report.effort import Budget, Effort, Sizes
    from glasshouse.release import Release

__all__ = ["PERCENTILES", "divergence_of", "losses_of", "utility_of"]

PERCENTILES = tuple(np.linspace(0, 100, 41).tolist())
"""The percentiles of errors that are kept."""
_ENOUGH = 20  # intervals are held to their promise for counts of at least so many


def utility_of(
    release: Release, table: Microdata, effort: Effort, budget: Budget, sizes: Sizes, tell: Callable[[], None]
) -> tuple[list[dict[str, Any]], str]:
    """Ask both workloads about every sensitive column, as many questions as the budget has room for; or say why not."""
    if not release.recipe.sensitive:
        return [], (
            "the questions are about how a sensitive column depends on other columns, and there is no sensitive column"
        )
    most = effort.questions if table.n_tuples <= effort.most_rows else effort.few_questions
    found: list[dict[str, Any]] = []
    for column in release.recipe.sensitive:
        n = budget.questions(sizes.first_question, sizes.each_question, most)
        if not n:
            return found, budget.refusal(sizes.first_question + 20 * sizes.each_question)
        both = [draw(table, n=n, sensitive=column) for draw in (Workload.transparent, Workload.anatomy)]
        try:
            found += _answered(release, table, both)
        except GlasshouseError as error:
            return found, str(error)
        tell()
    return found, ""


def _answered(release: Release, table: Microdata, workloads: list[Workload]) -> list[dict[str, Any]]:
    """Answer several workloads over one schema together: a release is read once."""
    first = workloads[0]
    joined = replace(
        first, wanted=tuple(np.concatenate(parts) for parts in zip(*(w.wanted for w in workloads), strict=True))
    )
    terms = terms_of(table)
    answers = answer(release, joined, taxonomies=terms.taxonomies, ordered=terms.ordered)
    true, alone = count(table, joined), independent(table, joined)
    covered = answers.covers(true)
    found, start = [], 0
    for workload in workloads:
        own = slice(start, start + len(workload))
        start += len(workload)
        enough = true[own] >= _ENOUGH
        found.append(
            {
                "workload": workload.name,
                "column": workload.sensitive,
                "questions": len(workload),
                "release": _errors(answers.values[own], true[own], table.n_tuples),
                "no_link": _errors(alone[own], true[own], table.n_tuples),
                "coverage": float(covered[own][enough].mean()) if enough.any() else None,
                "enough": int(enough.sum()),
            }
        )
    return found


def _errors(estimates: NDArray[np.float64], true: NDArray[np.int64], n_tuples: int) -> dict[str, Any]:
    """Relative errors: mean, median, and their percentiles."""
    errors = relative_errors(estimates, true, n_tuples, DELTA)
    return {
        "mean": float(np.mean(errors)),
        "median": float(np.median(errors)),
        "ninetieth": float(np.percentile(errors, 90)),
        "largest": float(np.max(errors)),
        "percentiles": np.percentile(errors, PERCENTILES).tolist(),
    }


def divergence_of(release: Release, table: Microdata) -> float | None:
    """The KL divergence from the true distribution to the one estimated from the release, in nats, where defined."""
    if not release.recipe.sensitive:
        return None
    try:
        return float(kl_divergence(table, reconstructed(release, **terms_of(table).to_dict())))
    except GlasshouseError:
        return None


def losses_of(release: Release, table: Microdata) -> tuple[dict[str, Any] | None, str]:
    """The information loss of the release's own tables; or the reason why it is not known."""
    terms = terms_of(table)
    try:
        return losses(release, _widest(release), taxonomies=terms.taxonomies, ordered=terms.ordered).to_dict(), ""
    except GlasshouseError as error:
        return None, str(error)


def _widest(release: Release) -> list[str]:
    """The quasi-identifiers of the table with the most of them, which `losses` would find by reading them all."""
    quasi = release.recipe.quasi
    if release.layout.whole:
        return list(quasi)
    linked = [table.column_names for table in release.tables.values() if release.layout.number in table.column_names]
    return max(([name for name in quasi if name in names] for names in linked), key=len)
