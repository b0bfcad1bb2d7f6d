# SPDX-License-Identifier: Apache-2.0
"""Evaluate: the only place where the true table and the release are compared. The results are confidential.

Choosing a method, a parameter or a retry by these scores makes the choice depend on the sensitive values, and a choice
can be seen: it is itself a leak. Compare methods on other data, or on a table with a shuffled sensitive column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.analyst.answers.distribution import kl_divergence, reconstructed
from glasshouse.analyst.answers.workload_answers import answer, count, independent
from glasshouse.analyst.usefulness.losses import losses
from glasshouse.analyst.usefulness.reconstruction_error import terms_of
from glasshouse.analyst.usefulness.workloads import Workload
from glasshouse.errors import NotSupported, ParameterError
from glasshouse.plural import counted
from glasshouse.references import explained
from glasshouse.release.release import given_release
from glasshouse.visible import in_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.analyst.usefulness.losses import Losses
    from glasshouse.microdata import Microdata
    from glasshouse.release import Release

__all__ = ["Evaluation", "evaluate", "relative_errors"]

DELTA = 0.005
"A relative error divides by the true count, or by this share of the table if that is larger (TRANSPARENT 4.1)."
_ENOUGH = 20  # intervals are held to their promise for counts of at least so many


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """How useful a release is, measured against the microdata.

    Attributes
    ----------
    workload
        The questions that were asked.
    error
        Mean relative error of the answers.
    baseline
        The same for plain independence: exact quasi-identifiers and sensitive values without a link.
    coverage
        The share of true counts of at least 20 that the 95 % intervals have in them.
    kl
        KL divergence from the true distribution to the reconstructed one, in nats; None where it is not defined.
    losses
        What the release's own tables tell.
    model
        Which model gave the answers: ``learned``, ``cells`` or ``uniform``.
    notes
        What to know of the model, such as why it is not the one that was asked for.
    """

    workload: str
    n_questions: int
    error: float
    baseline: float
    coverage: float
    kl: float | None
    losses: Losses
    model: str = "uniform"
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "workload": self.workload,
            "questions": self.n_questions,
            "error": self.error,
            "baseline": self.baseline,
            "coverage": self.coverage,
            "kl": self.kl,
            "losses": self.losses.to_dict(),
            "model": self.model,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        size = float(self.losses.average_size)
        lines = [
            f"{counted(self.n_questions, 'question')} ({self.workload}), compared with the true table: keep "
            "these figures "
            "confidential",
            f"  mean relative error    {self.error:.4f}   (quasi-identifiers and sensitive values as two tables "
            f"without a link: {self.baseline:.4f})",
            f"  answered by            the {self.model} model",
            f"  95 % intervals cover   {self.coverage:.1%} of counts of at least {_ENOUGH}",
            f"  KL divergence          {'not defined' if self.kl is None else f'{self.kl:.4f} nats'}",
            f"  average group          {size:,.1f} records, average width of a cell (NCP) {float(self.losses.ncp):.4f}",
        ]
        notes = (*self.notes, *explained(self.workload))
        return in_lines([*lines, *(f"  note: {note}" for note in notes)])


def evaluate(
    release: Release,
    truth: Microdata,
    *,
    workload: Workload | None = None,
    delta: float = DELTA,
    threads: int = 0,
    model: str = "learned",
) -> Evaluation:
    """Score a release against the microdata: errors of answers, coverage of error bars, divergence, losses.

    Parameters
    ----------
    release
        What was published.
    truth
        The table that it was made of.
    workload
        Questions to ask; by default a thousand of TRANSPARENT 4.1 with as many attributes as there are, up to five.
    delta
        Smallest count that an error is compared with, as a share of the table.
    threads
        How many threads to use; all cores by default.
    model
        What answers: ``learned`` or ``uniform``, as for `query`.

    Examples
    --------
    >>> import glasshouse as gh
    >>> table = gh.synthetic.hospital(1000, seed=1)
    >>> release = gh.publish(table, principle=gh.LDiversity(ell=4), recoding=gh.Anatomy(), source=gh.Source.seeded(1))
    >>> scores = gh.evaluate(release, table)
    >>> scores.n_questions, scores.error < 1, scores.losses.average_size >= 4
    (1000, True, True)
    """
    release = given_release(release)
    if not 0 <= delta <= 1:
        raise ParameterError("evaluate", "delta", "a share of at least 0 and at most 1", delta)
    asked = workload or Workload.transparent(truth, qd=min(5, len(truth.quasi) + 1))
    terms = terms_of(truth)
    known: dict[str, Any] = {"taxonomies": terms.taxonomies, "ordered": terms.ordered}
    found = answer(release, asked, threads=threads, model=model, **known)
    true = count(truth, asked, threads=threads)
    enough = true >= _ENOUGH
    try:
        kl: float | None = float(kl_divergence(truth, reconstructed(release, **terms.to_dict())))
    except NotSupported:
        kl = None
    return Evaluation(
        workload=asked.name,
        n_questions=len(asked),
        error=float(np.mean(relative_errors(found.values, true, truth.n_tuples, delta))),
        baseline=float(np.mean(relative_errors(independent(truth, asked), true, truth.n_tuples, delta))),
        coverage=float(found.covers(true)[enough].mean()) if enough.any() else float("nan"),
        kl=kl,
        losses=losses(release, **known),
        model=found.model,
        notes=found.notes,
    )


def relative_errors(
    estimates: NDArray[np.float64], true: NDArray[np.int64], n_tuples: int, delta: float = DELTA
) -> NDArray[np.float64]:
    """``|estimate - truth| / max(truth, delta * n)``; questions whose divisor is 0 are left out."""
    divisor = np.maximum(true, delta * n_tuples)
    kept = divisor > 0
    errors: NDArray[np.float64] = np.abs(estimates - true)[kept] / divisor[kept]
    return errors
