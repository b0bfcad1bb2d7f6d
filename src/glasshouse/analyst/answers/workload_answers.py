# SPDX-License-Identifier: Apache-2.0
"""Answers to a whole workload, in one compiled pass over a release, or over the truth."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.analyst.answers.perturbed_answers import Perturbation
from glasshouse.analyst.answers.population_answers import learned_totals
from glasshouse.analyst.questions.asked_values import check_domain
from glasshouse.errors import InputError, ParameterError, SchemaError
from glasshouse.kernels import compiled
from glasshouse.supports.evidence import Evidence, seats_of
from glasshouse.supports.proportions import Places, Proportions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.answers.population_answers import LearnedTotals
    from glasshouse.analyst.usefulness.workloads import Workload
    from glasshouse.microdata import Microdata
    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.release import Release
    from glasshouse.release.contents import Published, Seats

__all__ = ["Answers", "answer", "count", "independent"]

_WIDTH = 1.959963984540054  # of a 95 % interval, in standard errors
_BLOCK = 64  # questions that the kernels answer side by side
_KERNELS = "glasshouse.analyst.answers._kernels"


@dataclass(frozen=True, eq=False)
class Answers:
    """An estimate with its standard error for every question of a workload."""

    values: NDArray[np.float64]
    errors: NDArray[np.float64]
    model: str = "uniform"
    """Which model gave them: ``learned``, ``cells`` or ``uniform``."""
    notes: tuple[str, ...] = ()
    """Notes on the model."""

    def __len__(self) -> int:
        return len(self.values)

    def covers(self, truth: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each 95 % interval has the true count in it."""
        rounding = 1e-9 * np.maximum(truth, 1)
        return np.asarray(np.abs(self.values - truth) <= _WIDTH * self.errors + rounding)


def answer(
    release: Release,
    workload: Workload,
    *,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    ordered: Mapping[str, Sequence[Any]] | None = None,
    threads: int = 0,
    model: str = "learned",
) -> Answers:
    """Answer all questions of a workload from a release.

    People are counted once each, also where the release has a survey weight, and a note says so.

    The papers' estimator is that of `glasshouse.analyst.answers.estimates`. For it a cell stands for the values of the
    workload's domain in it, each as likely as any other: where an integer attribute lacks some values, or a float
    attribute has few, this knows more than `query`, which takes every number in an interval as possible.

    Parameters
    ----------
    release
        What was published.
    workload
        The questions.
    taxonomies, ordered
        As for `query`.
    threads
        How many threads to use; all cores by default. The answers do not depend on it.
    model
        ``learned``, by what the release teaches of the population, or ``uniform``, the papers' estimator; as for
        `query`.

    Examples
    --------
    >>> import glasshouse as gh
    >>> table = gh.synthetic.hospital(500, seed=1)
    >>> release = gh.publish(table, principle=gh.LDiversity(ell=3), recoding=gh.Anatomy(), source=gh.Source.seeded(1))
    >>> workload = gh.Workload.anatomy(table, qd=2, n=100)
    >>> found = gh.answer(release, workload)
    >>> bool(np.mean(found.covers(count(table, workload))) > 0.5)
    True
    """
    evidence = Evidence(release=release, taxonomies=taxonomies or {}, ordered=ordered or {})
    for name in workload.domains:
        if name not in evidence.kinds:
            raise SchemaError.unknown(name, tuple(evidence.kinds), role="a column of the release")
    for name, domain in workload.domains.items():
        check_domain(evidence, name, domain)
    values, errors = np.zeros(len(workload)), np.zeros(len(workload))
    used, notes = "uniform", dict[str, None]()
    if evidence.weight is not None:
        notes[
            f"these are counts of records: the questions of a workload are not weighted by {evidence.weight.name}"
        ] = None
    for published, seats, questions in _by_table(evidence, workload):
        work = _from_sample if published.kind == "sample" else _from_groups
        asked = workload.take(questions)
        found = work(evidence, published, seats, asked, threads)
        names = [name for name, wanted in zip(asked.domains, asked.wanted, strict=True) if not wanted.all()]
        learned, said = learned_totals(evidence, published, seats, names, model)
        notes.update(dict.fromkeys(said))
        if learned is not None:
            found = _learned(evidence, published, asked, learned, found)
            used = learned.population.model
        values[questions], errors[questions] = found
    return Answers(values, errors, used, tuple(notes))


def count(table: Microdata, workload: Workload, *, threads: int = 0) -> NDArray[np.int64]:
    """The true count of every question of a workload."""
    columns = [table.column(name) for name in workload.domains]
    codes = np.stack([column.codes for column in columns], dtype=np.int32)
    kernel = compiled(_KERNELS).exact_counts
    found = np.zeros(len(workload), np.int64)
    places = [
        _places(domain, column.domain.listed())
        for domain, column in zip(workload.domains.values(), columns, strict=True)
    ]

    def work(questions: NDArray[np.int64]) -> None:
        used = _constrained(workload, questions)
        rows = [workload.wanted[d][questions][:, places[d]].T for d in used]
        starts, members = _stacked(rows, len(questions), np.int32)
        counts = np.zeros(len(questions), np.int64)
        kernel(np.ascontiguousarray(codes[used]), starts, members, counts)
        found[questions] = counts

    _in_blocks(work, workload, threads)
    return found


def independent(table: Microdata, workload: Workload) -> NDArray[np.float64]:
    """Answers from two tables without a link: exact quasi-identifiers, and how often each sensitive value occurs.

    MINIMALITY 5.3's baseline, Base: what can be had without learning anything about how the two go together.
    """
    everything = tuple(np.ones_like(wanted) for wanted in workload.wanted)
    quasi = type(workload)(domains=workload.domains, wanted=(*workload.wanted[:-1], everything[-1]), name="")
    alone = type(workload)(domains=workload.domains, wanted=(*everything[:-1], workload.wanted[-1]), name="")
    return count(table, quasi) * (count(table, alone) / max(1, table.n_tuples))


# --- which table answers ----------------------------------------------------------------------------------------------


def _by_table(evidence: Evidence, workload: Workload) -> Iterator[tuple[Published, Seats, NDArray[np.int64]]]:
    """The table that answers each question: the one that `query` would ask."""
    names = list(workload.domains)
    constrained = np.stack([~wanted.all(axis=1) for wanted in workload.wanted], axis=1)
    patterns, of_question = np.unique(constrained, axis=0, return_inverse=True)
    found: dict[tuple[str, ...], tuple[Published, Seats, list[int]]] = {}
    for number, pattern in enumerate(patterns):
        asked = [name for name, is_asked in zip(names, pattern, strict=True) if is_asked]
        published, seats = seats_of(evidence, asked)
        same = found.setdefault((published.column, *seats.quasi), (published, seats, []))
        same[2].extend(np.flatnonzero(of_question.reshape(-1) == number).tolist())
    for published, seats, questions in found.values():
        yield published, seats, np.array(sorted(questions))


# --- releases ---------------------------------------------------------------------------------------------------------


class _Table:
    """A table of seats in the form that the kernels take."""

    def __init__(self, evidence: Evidence, seats: Seats, workload: Workload, order: NDArray[np.int64]) -> None:
        self._workload = workload
        self.asked = [place for place, name in enumerate(workload.domains) if name in seats.quasi]
        names = list(workload.domains)
        self.cells = {d: seats.of_seat[seats.quasi.index(names[d])][order].astype(np.int32) for d in self.asked}
        self._proportions = {
            d: Proportions.of(
                evidence.supports(seats, names[d]), Places(workload.domains[names[d]], evidence.kinds[names[d]])
            )
            for d in self.asked
            if not workload.wanted[d].all()
        }

    def block(self, questions: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]:
        """The cells of the attributes that some of the questions constrain, and the part of each that they cover."""
        used = [d for d in _constrained(self._workload, questions) if d in self._proportions]
        rows = [self._proportions[d].covered(self._workload.wanted[d][questions]) for d in used]
        n_seats = len(next(iter(self.cells.values()))) if self.cells else 0
        cells = np.stack([self.cells[d] for d in used]) if used else np.empty((0, n_seats), np.int32)
        return (cells, *_stacked(rows, len(questions), np.float64))


def _from_groups(
    evidence: Evidence, published: Published, seats: Seats, workload: Workload, threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Estimates and standard errors from groups with the histograms of their values."""
    by_group = np.argsort(seats.group, kind="stable")
    table = _Table(evidence, seats, workload, by_group)
    borders = np.searchsorted(seats.group[by_group], np.arange(published.n_groups + 1)).astype(np.int64)
    counts, numbers = seats.count[by_group].astype(np.int32), published.counts.astype(np.int32)
    wanted = _wanted(evidence, published, workload)
    kernels = compiled(_KERNELS)
    grouped = kernels.Grouped(counts, borders, published.offsets, published.codes, numbers)
    means, variances = np.zeros(len(workload)), np.zeros(len(workload))

    def work(questions: NDArray[np.int64]) -> None:
        cells, starts, shares = table.block(questions)
        masks = np.ascontiguousarray(-wanted[questions].T.astype(np.int32))
        inside, spread, *found = np.zeros((4, len(questions)))
        matching = np.zeros(len(questions), np.int32)
        kernels.expected_counts(grouped, cells, starts, shares, masks, inside, spread, matching, *found)
        means[questions], variances[questions] = found

    _in_blocks(work, workload, threads)
    return means, np.sqrt(np.maximum(variances, 0.0))


def _from_sample(
    evidence: Evidence, published: Published, seats: Seats, workload: Workload, threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Estimates and standard errors from a perturbed sample."""
    table = _Table(evidence, seats, workload, np.arange(len(seats)))
    values = evidence.domain_of(published)
    perturbation = Perturbation.of(evidence.release, published, seats, values)
    wanted = _wanted(evidence, published, workload)
    perturbation.check(wanted)
    shown, sizes = perturbation.shown.astype(np.int32), seats.count.astype(np.int32)
    kernel = compiled(_KERNELS).shown_counts
    means, variances = np.zeros(len(workload)), np.zeros(len(workload))

    def work(questions: NDArray[np.int64]) -> None:
        cells, starts, shares = table.block(questions)
        rows = np.ascontiguousarray(wanted[questions].T.astype(np.float64))
        sums = np.zeros((4, len(questions)))
        kernel(cells, sizes, starts, shares, shown, rows, *sums)
        means[questions], variances[questions] = perturbation.counts(wanted[questions], *sums)

    _in_blocks(work, workload, threads)
    return means, np.sqrt(np.maximum(variances, 0.0))


def _learned(
    evidence: Evidence,
    published: Published,
    workload: Workload,
    learned: LearnedTotals,
    papers: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Estimates and standard errors by what the release teaches, beside those of the papers' estimator."""
    points, n_draws = learned.population.points, len(learned.population.draws())
    wanted = _wanted(evidence, published, workload).astype(np.float64)
    names = list(workload.domains)
    taken = [d for d in _constrained(workload, np.arange(len(workload))) if names[d] in points.names]
    where = {}
    for d in taken:
        place = points.names.index(names[d])
        known = Places(workload.domains[names[d]], evidence.kinds[names[d]])
        found = [known.of(value) for value in points.values[place]]
        where[d] = np.array([-1 if at is None else at for at in found], np.int64)[points.codes[place]]
    means, variances, shifts = (np.zeros(len(workload)) for _ in range(3))
    for first in range(0, len(workload), _BLOCK):
        some = slice(first, first + _BLOCK)
        inside = np.ones((len(wanted[some]), points.n_points))
        for d in taken:  # a value that the domain lacks comes last: who asks for all asks for it too
            asked = workload.wanted[d][some]
            own = np.append(asked, np.all(asked, axis=1, keepdims=True), axis=1)
            inside *= own[:, where[d]]
        means[some] = ((learned.expected.T @ inside.T).T * wanted[some]).sum(axis=1).round(9)  # no rounding errors
        drawn = (learned.drawn.T @ inside.T).T.reshape(-1, n_draws, wanted.shape[1])
        totals = np.einsum("qdv,qv->qd", drawn, wanted[some])
        variances[some] = totals.var(axis=1, ddof=1)
        shifts[some] = totals.mean(axis=1) - means[some]
    doubt = learned.population.doubt
    spread = doubt.noise**2 * variances + (doubt.move * (means - papers[0])) ** 2
    if learned.population.is_unclear:
        spread += shifts**2
    return means, np.sqrt(spread)


def _wanted(evidence: Evidence, published: Published, workload: Workload) -> NDArray[np.bool_]:
    """Which sensitive values each question wants (questions x values of the release)."""
    values = evidence.domain_of(published)
    if published.column != workload.sensitive:  # a table that says nothing of them answers who does not ask
        return np.ones((len(workload), len(values)), bool)
    asked = workload.wanted[-1]
    if published.kind != "sample":
        return asked[:, _places(workload.domains[workload.sensitive], values)]
    # a value that was declared, and that no record has, can be shown; only who asks for all asks for it
    found = np.repeat(np.all(asked, axis=1, keepdims=True), len(values), axis=1)
    places = Places(workload.domains[workload.sensitive], "category")
    for i, value in enumerate(values):
        place = places.of(value)
        if place is not None:
            found[:, i] = asked[:, place]
    return found


# --- blocks of questions ----------------------------------------------------------------------------------------------


def _places(domain: Sequence[Any], values: Sequence[Any]) -> NDArray[np.int64]:
    """Where each value stands in the workload's domain."""
    if len(domain) == len(values) and all(a == b and type(a) is type(b) for a, b in zip(domain, values, strict=True)):
        return np.arange(len(values))  # a workload that was drawn for this table: nothing need be looked up
    places = Places(domain, "category")
    found = [places.of(value) for value in values]
    if None in found:
        raise InputError(
            f"the value {values[found.index(None)]!r} is not in the workload's domain: check that the "
            "workload was made for this table"
        )
    return np.array(found, np.int64)


def _constrained(workload: Workload, questions: NDArray[np.int64]) -> list[int]:
    """The attributes that some of the questions constrain."""
    return [d for d, wanted in enumerate(workload.wanted) if not wanted[questions].all()]


def _stacked(rows: list[NDArray[Any]], width: int, kind: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Rows of all attributes below each other, one of ones and one for products; and where each attribute starts."""
    starts = np.cumsum([0, *(len(some) for some in rows)]).astype(np.int64)
    found = np.ones((int(starts[-1]) + 2, width), kind)
    for start, some in zip(starts[:-1], rows, strict=True):
        found[start : start + len(some)] = some
    return starts[:-1], found


def _in_blocks(work: Callable[[NDArray[np.int64]], None], workload: Workload, threads: int) -> None:
    """Do the questions in blocks, on several threads; those that constrain the same attributes stay together."""
    if threads < 0:
        raise ParameterError("answer", "threads", "a whole number of at least 0", threads)
    constrained = np.stack([~wanted.all(axis=1) for wanted in workload.wanted])
    order = np.lexsort(constrained)
    blocks = [order[start : start + _BLOCK] for start in range(0, len(order), _BLOCK)]
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        list(pool.map(work, blocks))
