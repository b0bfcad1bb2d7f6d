# SPDX-License-Identifier: Apache-2.0
"""Scoring: one way to publish is tried, queried, and attacked, with knowledge of the algorithm and by learning."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

import pyarrow as pa

from glasshouse.adversary.knowledge import Knowledge
from glasshouse.adversary.learning.definetti import DeFinetti
from glasshouse.adversary.reverse_engineering.reverse_engineering import ReverseEngineering
from glasshouse.adversary.task import promised_limit
from glasshouse.comparing.comparison import Row, label_of
from glasshouse.errors import DisclosureWarning, GlasshouseError
from glasshouse.journeys.attack import attack
from glasshouse.journeys.evaluate import evaluate
from glasshouse.journeys.publish import publish
from glasshouse.pages.report.beliefs import estimated_fits
from glasshouse.pages.report.effort import OutOfTime, deadline
from glasshouse.plural import counted
from glasshouse.principles.principle import Requirement
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from glasshouse.adversary.posterior import Posterior
    from glasshouse.analyst.usefulness.workloads import Workload
    from glasshouse.grouping.method import Method
    from glasshouse.microdata import Microdata
    from glasshouse.pages.report import Effort
    from glasshouse.principles.principle import Principle
    from glasshouse.recoding.recoding import Recoding
    from glasshouse.release import Release

__all__ = ["ANSWERED", "ATTACKED", "PeakMemory", "Setting", "given_up", "score"]

ANSWERED, ATTACKED = "answered", "attacked"
"""What was done with a way that is not yet finished."""

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_FORGET_PEAK = "5"


@dataclass(frozen=True, kw_only=True, eq=False)
class Setting:
    """What all rows of a comparison have in common; utility is a mean over the tables, the first one is attacked."""

    tables: tuple[Microdata, ...]
    principle: Principle | Mapping[str, Principle]
    workload: Workload
    seed: int
    effort: Effort
    threads: int = 0
    model: str = "uniform"  # what answers questions
    learner: bool = True  # whether an attacker who learns is measured, too


def score(setting: Setting, method: Method, recoding: Recoding, tell: Callable[[str, Row], None] | None = None) -> Row:
    """Score a way. Its release is discarded: it is made with a fixed seed, for measuring only.

    ``tell`` is called with the row as far as it is known, before an attack that knows the algorithm (`ANSWERED`) and
    before one that learns (`ATTACKED`).
    """
    tell = tell or (lambda _, __: None)
    row = Row(method=label_of(method), recoding=label_of(recoding), ties_groups=_ties_groups(setting, method))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisclosureWarning)  # that is the point of comparing
            first, runs = None, []
            for run in range(len(setting.tables)):
                release, found = _published(setting, run, method, recoding, row)
                first = release if first is None else first
                runs.append(_answered(setting, run, release, found))
        assert first is not None
        limit = _limit(first)
        row = replace(_mean(runs), limit=None if limit is None else str(limit))
        tell(ANSWERED, row)
        row = _attacked(setting, first, row)
        if setting.learner:
            tell(ATTACKED, row)
            row = _learned(setting, first, row)
        return row
    except GlasshouseError as error:
        return replace(row, failed=str(error))
    except MemoryError:
        return replace(row, failed="there is not enough memory for it")


def _ties_groups(setting: Setting, method: Method) -> bool:
    columns = setting.tables[0].sensitive
    names, sets = [c.name for c in columns], [c.name for c in columns if c.domain.members is not None]
    return method.independent(Requirement.in_words(setting.principle, names, sets)) == "buckets"


def _published(setting: Setting, run: int, method: Method, recoding: Recoding, row: Row) -> tuple[Release, Row]:
    # the same choices for every recoding, so that recodings of the same groups are compared
    source = Source.seeded(setting.seed).child("compare", row.method, run)
    peak, started = PeakMemory(), time.perf_counter()
    release = publish(
        setting.tables[run],
        principle=setting.principle,
        method=method,
        recoding=recoding,
        source=source,
        threads=setting.threads,
    )
    seconds, guarantee, recipe = time.perf_counter() - started, release.guarantee, release.recipe
    return release, replace(
        row,
        recipe={"method": dict(recipe.method), "recoding": dict(recipe.recoding)},
        promise=guarantee.promise,
        adversary=guarantee.adversary,
        theorem=guarantee.theorem,
        shows_presence=recipe.is_exact,
        seconds=seconds,
        memory=peak.grown(),
    )


def _answered(setting: Setting, run: int, release: Release, row: Row) -> Row:
    try:
        found = evaluate(
            release, setting.tables[run], workload=setting.workload, threads=setting.threads, model=setting.model
        )
    except GlasshouseError as error:
        return replace(row, told=f"questions were not answered: {error}")
    return replace(
        row,
        error=found.error,
        baseline=found.baseline,
        coverage=None if found.coverage != found.coverage else found.coverage,  # nan: no count was large enough
        kl=found.kl,
        average_size=float(found.losses.average_size),
        ncp=float(found.losses.ncp),
    )


def _mean(runs: list[Row]) -> Row:
    """One row for several runs: averages, the peak memory, and the uncertainty of the mean error."""
    figures: dict[str, float | None] = {}
    for name in ("error", "baseline", "coverage", "kl", "average_size", "ncp", "seconds"):
        known = [value for value in (getattr(run, name) for run in runs) if value is not None]
        figures[name] = fmean(known) if len(known) == len(runs) else None
    errors = [run.error for run in runs if run.error is not None]
    spread = stdev(errors) / len(errors) ** 0.5 if len(errors) > 1 else None
    grown = [run.memory for run in runs if run.memory is not None]
    memory, each = max(grown, default=None), tuple(errors) if len(errors) == len(runs) else ()
    return replace(runs[0], **figures, errors=each, spread=spread, memory=memory)  # type: ignore[arg-type]


# --- the probabilities of an attacker who knows the algorithm ---------------------------------------------------------


def _attacked(setting: Setting, release: Release, row: Row) -> Row:
    """The largest probability: by an attack if there is time for it, else by the theorem, if there is one."""
    why = _too_much(setting, release)
    if why:
        return _by_theorem(row, why)
    chosen = ReverseEngineering(
        most_worlds=setting.effort.most_worlds,
        most_runs=setting.effort.most_runs,
        source=Source.seeded(setting.seed).child("attack"),
        progress=deadline(setting.effort.seconds),
    )
    try:
        return _believed(row, attack(release, chosen, knowledge=Knowledge(external=setting.tables[0])))
    except OutOfTime:
        return _by_theorem(row, _late(setting.effort.seconds))
    except GlasshouseError as error:
        return _by_theorem(row, str(error))


def given_up(done: str, row: Row, seconds: float) -> Row:
    """The row of an attack that was stopped from outside because it took too long, with what was done before."""
    return _by_theorem(row, _late(seconds)) if done == ANSWERED else _not_learned(row, _late(seconds))


def _late(seconds: float) -> str:
    return f"the attack takes longer than {seconds:g} second{'' if seconds == 1 else 's'}"


def _too_much(setting: Setting, release: Release) -> str:
    """The reason why an attack would be too much work; None if it would not."""
    if len(release.recipe.sensitive) != 1:
        return "the attack is only possible with one sensitive column"
    table, effort = setting.tables[0], setting.effort
    n = table.n_tuples
    if n > effort.most_rows:
        return f"the table has more than {counted(effort.most_rows, 'row')}"
    if estimated_fits(release, table, release.recipe.sensitive[0]) > max(effort.most_fits, 2 * n):
        return "people fit so many records of the release that the attack would take too long"
    return ""


def _limit(release: Release) -> Fraction | None:
    """The largest probability that is promised for any sensitive column, if one is promised for each."""
    limits = [promised_limit(release, column) for column in release.recipe.sensitive]
    known = [limit for limit in limits if limit is not None]
    return max(known) if known and len(known) == len(limits) else None


def _by_theorem(row: Row, why: str) -> Row:
    if row.limit is None or row.adversary == "linking":
        return replace(row, how="not known", told=_and(row.told, why))
    return replace(row, belief=float(Fraction(row.limit)), how="bound", above=0.0, told=_and(row.told, why))


def _believed(row: Row, posterior: Posterior) -> Row:
    found = posterior.to_dict()
    if posterior.n_unknown and not (posterior.limit is not None and posterior.exceeds()):
        return _by_theorem(row, _and(*posterior.notes))  # the largest of the others is not the largest
    return replace(
        row,
        belief=found["largest"],
        how=found["how"],
        belief_error=found["error"],
        above=found.get("share_above"),
        told=_and(row.told, *posterior.notes),
    )


def _and(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


# --- what an attacker who learns from the release gains ---------------------------------------------------------------


def _learned(setting: Setting, release: Release, row: Row) -> Row:
    """What being in the table costs: how much more often the first guess is right than about people outside."""
    why = _too_much(setting, release)
    if why:
        return _not_learned(row, why)
    chosen = DeFinetti(progress=deadline(setting.effort.seconds))
    try:
        found = attack(release, chosen, knowledge=Knowledge(external=setting.tables[0]))
    except OutOfTime:
        return _not_learned(row, _late(setting.effort.seconds))
    except GlasshouseError as error:
        return _not_learned(row, str(error))
    if found.cost is None:
        return _not_learned(row, found.learning)
    return replace(row, cost=found.cost.more_right, cost_error=found.cost.more_right_error)


def _not_learned(row: Row, why: str) -> Row:
    return replace(row, told=_and(row.told, f"what an attacker gains by learning a model was not measured: {why}"))


# --- memory -----------------------------------------------------------------------------------------------------------


class PeakMemory:
    """How much more memory the process has taken since this was made, by the system's count; None without /proc.

    Other threads' memory counts too.
    """

    def __init__(self) -> None:
        pa.default_memory_pool().release_unused()
        try:
            _RESET.write_text(_FORGET_PEAK)
            self._before = _kilobytes("VmRSS")
        except OSError:
            self._before = None

    def grown(self) -> int | None:
        """The growth of peak memory, in bytes."""
        after = None if self._before is None else _kilobytes("VmHWM")
        return None if after is None or self._before is None else max(0, after - self._before) << 10


def _kilobytes(name: str) -> int | None:
    for line in _STATUS.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return None
