# SPDX-License-Identifier: Apache-2.0
"""How experiments measure: releases made alike, errors of their answers in percent, and seconds of the processor."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.analyst.answers.workload_answers import answer, count, independent
from glasshouse.analyst.usefulness.reconstruction_error import terms_of
from glasshouse.engines import Memory
from glasshouse.errors import DisclosureWarning, Infeasible, NotSupported
from glasshouse.journeys.evaluate import relative_errors
from glasshouse.journeys.publish import publish
from glasshouse.principles.principle import Requirement
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from glasshouse.analyst.usefulness.workloads import Workload
    from glasshouse.grouping.method import Method
    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Principle
    from glasshouse.recoding.recoding import Recoding
    from glasshouse.release import Release

__all__ = ["NO_LINK", "SEED", "Asked", "published", "seconds", "seconds_to_generalize", "terms"]

SEED = 1
NO_LINK = "independence"


def published(table: Microdata, principle: Principle, method: Method, recoding: Recoding) -> Release | None:
    """A release with a fixed seed; None if the table does not allow the principle."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisclosureWarning)  # that some methods can be attacked is what papers are about
        try:
            return publish(table, principle=principle, method=method, recoding=recoding, source=Source.seeded(SEED))
        except (Infeasible, NotSupported):
            return None


class Asked:
    """A workload with its true answers, which are counted once for all releases.

    Errors are compared with a count of at least ``delta``, a share of the table; where it is 0, questions that cover
    nobody are left out.
    """

    def __init__(self, table: Microdata, workload: Workload, delta: float = 0.0) -> None:
        self.table, self.workload, self._delta = table, workload, delta
        self._true = count(table, workload)

    def error(self, release: Release | None) -> float | None:
        """Mean relative error of a release's answers, in percent."""
        if release is None:
            return None
        return self._mean(answer(release, self.workload, model="uniform", **terms(self.table)).values)

    def errors(self, releases: Mapping[str, Release | None], no_link: str = NO_LINK) -> dict[str, float | None]:
        """The errors of several releases, and of two tables without a link."""
        return {name: self.error(release) for name, release in releases.items()} | {no_link: self.no_link()}

    def no_link(self) -> float:
        """The same of two tables without a link: exact quasi-identifiers, and the sensitive column by itself."""
        return self._mean(independent(self.table, self.workload))

    def _mean(self, values: Any) -> float:
        errors = relative_errors(values, self._true, self.table.n_tuples, self._delta)
        return float(100 * np.mean(errors)) if len(errors) else 0.0


def terms(table: Microdata) -> dict[str, Any]:
    """What everybody knows of the cells of a release of this table."""
    known = terms_of(table)
    return {"taxonomies": known.taxonomies, "ordered": known.ordered}


def seconds(work: Callable[[], Any]) -> float:
    """The CPU seconds of some work, on all its threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def seconds_to_generalize(table: Microdata, principle: Principle, method: Method, recoding: Recoding) -> float | None:
    """Seconds to divide a table on one thread and to write its groups; None where the principle cannot be had."""
    requirement = Requirement.of(principle, table)
    try:
        requirement.check_eligible()
    except Infeasible:
        return None

    def work() -> None:
        groups = method.divide(table, requirement, source=Source.seeded(SEED), engine=Memory(threads=1))
        recoding.recode(table, groups)

    return seconds(work)
