# SPDX-License-Identifier: Apache-2.0
"""Query: a question in SQL about the population, answered from a release, with error bars."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.analyst.answers.answer_rows import Answer
from glasshouse.analyst.answers.estimates import Amounts, Dealt, Estimate, Summed, Totals, ratio, totals, totals_apart
from glasshouse.analyst.answers.joint_answers import joint_estimates
from glasshouse.analyst.answers.perturbed_answers import Perturbation
from glasshouse.analyst.answers.population_answers import EVEN, LearnedTotals, learned_totals
from glasshouse.analyst.answers.possible_counts import check_sums, possible_counts
from glasshouse.analyst.answers.presence import Presence
from glasshouse.analyst.answers.seat_amounts import counted_once, mixed_amounts, powers_of
from glasshouse.analyst.answers.separation import separation_notes
from glasshouse.analyst.answers.survey_weight import Deviations, Weighting, chosen_weight, deviations_of_groups
from glasshouse.analyst.questions.asked_values import compared_order, sets_note, settled
from glasshouse.analyst.questions.part_conditions import without_parts
from glasshouse.analyst.questions.question import And, Question, Test, disjoint_terms
from glasshouse.analyst.questions.sql import question_of
from glasshouse.analyst.statistics.composite import composite_answer
from glasshouse.errors import InputError, NotSupported
from glasshouse.plural import counted
from glasshouse.release.edition import are_numbers, place_in
from glasshouse.release.layout import EDITION
from glasshouse.supports.evidence import Evidence, seats_of
from glasshouse.supports.proportions import GroupingColumn
from glasshouse.supports.value_sets import ValueSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.questions.question import Measure
    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.release import Release
    from glasshouse.release.contents import Published, Seats
    from glasshouse.release.edition import Edition
    from glasshouse.supports.evidence import Weight

__all__ = ["Answer", "query"]

_MOST_ROWS = 10_000
_ROUNDING = 1e-12  # variances that are smaller beside the square of what they are about are none
_AS_OF = (
    "this counts the people who had been added by edition {} and had not left by then, with the values that were "
    "published for them. Among people with the same published cells, the release does not show who left, so each of "
    "them counts as a fraction: the share that stayed"
)
_COARSE = (
    "the answer assumes that people are spread evenly within each cell (the uniform model), because the cells are "
    "coarse and the release shows only how many people of each cell left"
)


def query(
    release: Release,
    sql: str,
    *,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    ordered: Mapping[str, Sequence[Any]] | None = None,
    model: str = "learned",
    as_of: int | str | None = None,
    weighted: bool | None = None,
) -> Answer:
    """Ask a release a question, and get an estimate with an error bar.

    Parameters
    ----------
    release
        What was published, from `publish` or `load`.
    sql
        ``SELECT COUNT(*) [, SUM(x), AVG(x), MEDIAN(x)] [, columns] WHERE ... [GROUP BY columns]`` over the release's
        columns; CASE, LIKE, HAVING, ORDER BY and LIMIT too.
    taxonomies, ordered
        The taxonomies whose nodes are published, and the order of categories published as intervals, by column; where
        the release carries them they need not be given.
    model
        ``learned``: by what the release teaches of the population (`glasshouse.learn`); this takes some seconds for a
        large release, once. ``uniform``: the papers' estimator, for which every value of a group is as likely for any
        of its members, and every value of a cell for any of its people.
    as_of
        Of a release with editions: the edition that is asked about. Counted are people who had come by then and had not
        left by then; by default everybody who was ever published. Values are those of the edition in which a person
        came. The question can say it too: ``FROM release FOR VERSION AS OF 2027``.
    weighted
        Whether people count by their survey weights. By default they do where the release has weights, and the answer
        says so; False counts records.

    Returns
    -------
    Answer
        Estimates with standard errors and 95 % intervals, derived in `glasshouse.analyst.answers.population_answers`
        and `glasshouse.analyst.answers.estimates`; the model that gave them, and notes on what to know of them.

    Raises
    ------
    DomainError
        If a text is asked for that the column cannot have, by what the release shows of it.
    InputError
        If a question needs a taxonomy or an order that neither the release carries nor you give.

    Examples
    --------
    ANATOMY 1.2, query A: how many pneumonia patients are at most 30 and live in zip codes 10001 to 20000? One does.

    >>> import glasshouse as gh
    >>> patients = gh.examples.anatomy_table1()
    >>> release = gh.publish(patients, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Anatomy())
    >>> sql = "SELECT COUNT(*) WHERE Disease = 'pneumonia' AND Age <= 30 AND Zipcode BETWEEN 10001 AND 20000"
    >>> answer = query(release, sql)
    >>> print(answer.only)
    1 ± 0
    >>> answer.value, answer.error, answer.interval
    (1.0, 0.0, (1.0, 1.0))
    """
    evidence = Evidence(release=release, taxonomies=taxonomies or {}, ordered=ordered or {})
    asked = question_of(
        sql, evidence.asked_kinds, evidence.clock, evidence.labelled_ranges, partial(compared_order, evidence)
    )
    question, notes = settled(evidence, asked)
    labels: tuple[int | str, ...] = ()
    if as_of is not None and question.as_of is not None and str(as_of) != str(question.as_of):
        raise InputError(
            f"the question asks for edition {question.as_of!r} and as_of for {as_of!r}: give only one of them"
        )
    as_of = question.as_of if as_of is None else as_of
    if as_of is not None:
        editions = release.editions[: place_in(release.editions, as_of) + 1]
        labels = tuple(edition.label if are_numbers(release.editions) else str(edition.label) for edition in editions)
        question = replace(question, where=And((question.where, Test(EDITION, ValueSet.of(labels)))))
        notes = (*notes, _AS_OF.format(editions[-1].label), *_left_out(editions))
    else:
        notes = (*notes, *_left_out([release]))
    check_sums(evidence, question)

    def ask(own: Evidence, one: Question, by: str) -> Answer:
        return answer_question(own, one, by, labels, weighted=weighted)

    answer = composite_answer(evidence, question, lambda one: possible_counts(evidence, one, model, ask))
    return replace(answer, notes=tuple(dict.fromkeys((*notes, *answer.notes))))


def _left_out(published: Sequence[Release | Edition]) -> Iterator[str]:
    """A note on how many people were left out, if some were, and on what that does to the answers."""
    n, n_suppressed, n_published = (
        sum(getattr(one, name) for one in published) for name in ("n_dropped", "n_suppressed", "n_tuples")
    )
    if n:
        too_frequent = (
            f". {counted(n_suppressed, 'of them was', 'of them were')} left out because the sensitive value is too "
            "frequent, so this value is more frequent in the table than the answers say"
        )
        yield (
            f"the answers are about the {counted(n_published, 'published record')}; "
            f"{counted(n, 'more record was', 'more records were')} left out"
            f"{too_frequent if n_suppressed else ''}"
        )


def answer_question(
    evidence: Evidence,
    question: Question,
    model: str = "learned",
    gone_by: tuple[int | str, ...] = (),
    *,
    weighted: bool | None = None,
) -> Answer:
    """Answer one question, or one for every combination of the grouping columns.

    Who left in one of the editions ``gone_by`` is not counted. An average is one of those who have a value, as in SQL:
    people who miss it are left out of what is divided by.
    """
    sets = next((name for name in question.group_by if name in evidence.release.sets), None)
    if sets is not None:
        return _by_members(evidence, question, sets, model, gone_by, weighted=weighted)
    how = _How(model, chosen_weight(evidence, question, weighted=weighted), gone_by)
    answer = _answer(evidence, question, how)
    averaged = {measure.column for measure in question.measures if measure.kind == "avg"}
    for column in sorted(name for name in averaged if name is not None and _has_gaps(evidence, name)):
        there = And((question.where, Test(column, ~ValueSet.of([None]))))
        own = _answer(evidence, replace(question, where=there), how)
        of_key = dict(zip(own.keys, own.estimates, strict=True))
        nobody = (Estimate.normal(float("nan"), float("nan")),) * len(question.measures)
        estimates = tuple(
            tuple(
                of_key.get(key, nobody)[i] if measure.kind == "avg" and measure.column == column else estimate
                for i, (measure, estimate) in enumerate(zip(question.measures, row, strict=True))
            )
            for key, row in zip(answer.keys, answer.estimates, strict=True)
        )
        answer = replace(answer, estimates=estimates, notes=tuple(dict.fromkeys((*answer.notes, *own.notes))))
    return answer


def _by_members(
    evidence: Evidence,
    question: Question,
    column: str,
    model: str,
    gone_by: tuple[int | str, ...],
    *,
    weighted: bool | None,
) -> Answer:
    """Answer apart for every single value of a column of sets: a person is counted under each that the person has."""
    members, at = evidence.members(column), question.group_by.index(column)
    assert members is not None
    texts = evidence.published(column).values
    group_by, headings = ((*own[:at], *own[at + 1 :]) for own in (question.group_by, question.headings))
    found: dict[tuple[Any, ...], tuple[Estimate, ...]] = {}
    for code, value in enumerate(members.domain.listed()):
        having = ValueSet.of([text for text, has in zip(texts, members.having(code), strict=True) if has])
        where = And((question.where, Test(column, having)))
        asked = replace(question, where=where, group_by=group_by, headings=headings)
        answer = answer_question(evidence, asked, model, gone_by, weighted=weighted)
        for key, row in zip(answer.keys, answer.estimates, strict=True):
            if any(estimate.value or estimate.error for estimate in row):
                found[(*key[:at], value, *key[at:])] = row
    order = sorted(found, key=lambda key: [(value is None, value) for value in key])
    return Answer(
        question=question,
        keys=tuple(order),
        estimates=tuple(found[key] for key in order),
        notes=tuple(dict.fromkeys((sets_note(column), *answer.notes))),
        model=answer.model,
        weight=answer.weight,
    )


def _has_gaps(evidence: Evidence, column: str) -> bool:
    """Whether some person may have no value in a column, by what is published."""
    if evidence.home_of(column) in evidence.release.recipe.sensitive:
        return None in evidence.sensitive_values(column)
    _, seats = seats_of(evidence, [column])
    return bool(evidence.shares(seats, column, ValueSet.of([None])).any())


@dataclass(frozen=True)
class _How:
    """How a question is answered: by which model, by which survey weight, and without those who left by when."""

    model: str
    weight: Weight | None
    gone_by: tuple[int | str, ...] = ()

    def __post_init__(self) -> None:
        if self.gone_by and self.weight is not None:
            raise NotSupported(
                "a weighted question for one edition (AS OF) is not supported",
                instead="count records (weighted=False, --unweighted), or ask about editions (WHERE edition = ...)",
            )


def _answer(evidence: Evidence, question: Question, how: _How) -> Answer:
    one_by_one = _asked_apart(evidence, question)
    if one_by_one is not None:
        return _by_value(evidence, question, how, *one_by_one)
    question = replace(question, where=without_parts(evidence, question.where))
    if _is_joint(evidence, question):
        if how.gone_by:
            raise NotSupported(
                "a question about two sensitive columns for one edition (AS OF) is not supported",
                instead="ask about one of the columns, or leave out the edition",
            )
        estimates, notes, used = joint_estimates(evidence, question, how.model, how.weight)
        by = None if how.weight is None else how.weight.name
        return Answer(question=question, keys=((),), estimates=(estimates,), notes=notes, model=used, weight=by)
    asked = _Asked.of(evidence, question, how)
    if not question.group_by:
        return asked.answer(((),), (asked.estimates(asked.together()),))
    sensitive = asked.published.columns
    columns = {name: asked.grouping_column(name) for name in question.group_by if name not in sensitive}
    domains = {
        name: columns[name].values if name in columns else asked.of_column(name)[0] for name in question.group_by
    }
    n_rows = prod(len(values) for values in domains.values())
    if n_rows > _MOST_ROWS:
        raise InputError(
            f"GROUP BY would give {n_rows:,} rows, and {_MOST_ROWS:,} are allowed: group by fewer columns, or "
            "restrict the question with WHERE"
        )
    found: dict[tuple[int, ...], tuple[Estimate, ...]] = {}
    for places, fixed in _combinations(asked, columns):
        for of_values, own in asked.by_value([name for name in domains if name not in columns], fixed):
            if own.means.any() or own.covariances.any():  # else nobody can have this combination
                where = {**places, **of_values}
                found[tuple(where[name] for name in domains)] = asked.estimates(own)
    order = sorted(found)
    keys = tuple(tuple(values[at] for values, at in zip(domains.values(), key, strict=True)) for key in order)
    return asked.answer(keys, tuple(found[key] for key in order))


def _is_joint(evidence: Evidence, question: Question) -> bool:
    """Whether a question is about several sensitive columns that are published apart."""
    if len(evidence.release.recipe.sensitive) < 2 or evidence.release.layout.side_by_side:
        return False
    terms = disjoint_terms(without_parts(evidence, question.where))
    return len(evidence.all_sensitive_of(_attributes(question, terms))) > 1


def _asked_apart(evidence: Evidence, question: Question) -> tuple[str, tuple[Any, ...]] | None:
    """A grouping column whose values are asked for one by one: a part, or any column of a joint question."""
    joint = _is_joint(evidence, question)
    name = next((name for name in question.group_by if joint or name in evidence.parts), None)
    if name is None:
        return None
    if evidence.home_of(name) in evidence.release.recipe.sensitive:
        return name, tuple(dict.fromkeys(evidence.sensitive_values(name)))
    _, seats = seats_of(evidence, [name])
    supports = evidence.supports(seats, name)
    return name, tuple(GroupingColumn.of(name, evidence.kinds[name], supports, _MOST_ROWS).values)


def _by_value(evidence: Evidence, question: Question, how: _How, name: str, values: tuple[Any, ...]) -> Answer:
    """Answer a question for every value of one grouping column, and put the answers together."""
    at = question.group_by.index(name)
    rest = [
        (own, head) for i, (own, head) in enumerate(zip(question.group_by, question.headings, strict=True)) if i != at
    ]
    group_by, headings = tuple(own for own, _ in rest), tuple(head for _, head in rest)
    rows: dict[tuple[Any, ...], tuple[Estimate, ...]] = {}
    notes: dict[str, None] = {}
    used = "uniform"
    for value in values:
        where = And((question.where, Test(name, ValueSet.of([value]))))
        found = _answer(evidence, replace(question, where=where, group_by=group_by, headings=headings), how)
        for key, row in zip(found.keys, found.estimates, strict=True):
            if any(estimate.value > 0 or estimate.error > 0 for estimate in row):
                rows[(*key[:at], value, *key[at:])] = row
        if len(rows) > _MOST_ROWS:
            raise InputError(
                f"GROUP BY would give more than {_MOST_ROWS:,} rows: group by fewer columns, or restrict the "
                "question with WHERE"
            )
        notes.update(dict.fromkeys(found.notes))
        used = found.model if found.model != "uniform" else used
    places = [{own: place for place, own in enumerate(dict.fromkeys(key[i] for key in rows))} for i in range(at)]
    keys = sorted(rows, key=lambda key: [place[own] for place, own in zip(places, key, strict=False)])
    estimates = tuple(rows[key] for key in keys)
    by = None if how.weight is None else how.weight.name
    return Answer(question=question, keys=tuple(keys), estimates=estimates, notes=tuple(notes), model=used, weight=by)


def _attributes(question: Question, terms: Sequence[Mapping[str, ValueSet]]) -> list[str]:
    """All columns that a question touches."""
    named = [name for term in terms for name in term]
    named += [measure.column for measure in question.measures if measure.column is not None]
    return list(dict.fromkeys([*named, *question.group_by]))


@dataclass(frozen=True, eq=False)
class _Fixed:
    """One combination of values of the grouping columns that are quasi-identifiers."""

    values: Mapping[str, Any]  # of every such column
    seats: NDArray[np.int64]  # the seats that can hold the combination
    # for every such column how likely a record of each of these seats has the value
    shares: Mapping[str, NDArray[np.float64]]


def _combinations(
    asked: _Asked, columns: Mapping[str, GroupingColumn]
) -> Iterator[tuple[dict[str, int], _Fixed | None]]:
    """All combinations that some seat can have; without such columns a single combination, which fixes nothing."""
    if not columns:
        yield {}, None
        return
    start = _Fixed({}, np.arange(len(asked.seats)), {})

    def narrow(fixed: _Fixed, places: dict[str, int], names: list[str]) -> Iterator[tuple[dict[str, int], _Fixed]]:
        if not names:
            yield places, fixed
            return
        name, rest = names[0], names[1:]
        column, cells = columns[name], asked.seats.of_seat[asked.seats.quasi.index(name)][fixed.seats]
        for place, value in enumerate(column.values):
            share = column.proportions.shares(place)[cells]
            kept = np.flatnonzero(share)
            if len(kept):
                shares = {other: own[kept] for other, own in fixed.shares.items()} | {name: share[kept]}
                some = _Fixed({**fixed.values, name: value}, fixed.seats[kept], shares)
                yield from narrow(some, {**places, name: place}, rest)

    yield from narrow(start, {}, list(columns))


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question, the table that answers it, and how it treats the sensitive values: worked out once for all rows."""

    evidence: Evidence
    question: Question
    published: Published
    seats: Seats
    values: tuple[Any, ...]  # the sensitive values that it may be about
    terms: list[dict[str, ValueSet]]  # the conjunctions that its condition divides into
    columns: list[str | None]  # what is counted (None, always the first) or added up
    dealt: Dealt  # how the sensitive values are treated
    of_class: NDArray[np.bool_]  # which terms hold for each class of them
    learned: LearnedTotals | None = None  # what the release teaches, where that is used
    notes: tuple[str, ...] = ()  # what must be said of the model
    weighting: Weighting | None = None  # the survey weight, where people count by it
    presence: Presence | None = None  # who had not left, where that is asked and somebody had

    @classmethod
    def of(cls, evidence: Evidence, question: Question, how: _How) -> _Asked:
        weight, model, gone_by = how.weight, how.model, how.gone_by
        terms = disjoint_terms(question.where, last=evidence.divided)
        attributes = list(dict.fromkeys(map(evidence.home_of, _attributes(question, terms))))
        weights_too = list(dict.fromkeys([*attributes, *([] if weight is None else [weight.name])]))
        published, seats = seats_of(evidence, weights_too)
        weighting = None if weight is None else Weighting.of(evidence, seats, weight)
        values = evidence.domain_of(published)
        columns = list(dict.fromkeys([None, *(measure.column for measure in question.measures)]))
        weights = np.ones((len(columns), len(values)))
        for row, name in zip(weights, columns, strict=True):
            if name is not None and evidence.home_of(name) in published.columns:
                own = np.array([0.0 if value is None else float(value) for value in evidence.sensitive_values(name)])
                row[:] = own[_of_column(published, values, evidence.home_of(name))[1]]
        treated = _treated(published, values, terms)
        covered = treated.any(axis=1)
        of_class, number = np.unique(treated[covered], axis=0, return_inverse=True)
        class_of = np.full(len(values), -1, np.int64)
        class_of[covered] = number.reshape(-1)
        dealt = Dealt(class_of, len(of_class), weights)
        presence = Presence.of(evidence.release, seats, gone_by) if gone_by else None
        coarse = presence is not None and not evidence.is_exact
        learned, notes = learned_totals(evidence, published, seats, weights_too, "uniform" if coarse else model)
        if coarse and model == "learned":
            notes = (*notes, _COARSE, EVEN)
        if learned is not None and learned.population.fitted.is_used:
            apart = set(published.columns) <= set(question.group_by)
            notes += separation_notes(learned.population.seen, learned.population.values, dealt, every_value=apart)
        told = (learned, notes, weighting, presence)
        return cls(evidence, question, published, seats, values, terms, columns, dealt, of_class, *told)

    @property
    def model(self) -> str:
        """The name of the model that answers."""
        return "uniform" if self.learned is None else self.learned.population.model

    def answer(self, keys: tuple[tuple[Any, ...], ...], estimates: tuple[tuple[Estimate, ...], ...]) -> Answer:
        """The answer with notes on the model; answers that are certain under any model need none."""
        uncertain = any(estimate.error > 0 for row in estimates for estimate in row)
        notes = self.notes if uncertain else ()
        answer = Answer(question=self.question, keys=keys, estimates=estimates, model=self.model, notes=notes)
        if self.weighting is None:
            return answer
        return replace(answer, notes=(*notes, self.weighting.note), weight=self.weighting.weight.name)

    def grouping_column(self, name: str) -> GroupingColumn:
        """The values that a grouping column may have, by what is published."""
        return GroupingColumn.of(name, self.evidence.kinds[name], self.evidence.supports(self.seats, name), _MOST_ROWS)

    def of_column(self, name: str) -> tuple[tuple[Any, ...], NDArray[np.int64]]:
        """The values of a sensitive column, and which of them it has in each of the values (or combinations) here."""
        return _of_column(self.published, self.values, name)

    def by_value(self, names: Sequence[str], fixed: _Fixed | None) -> Iterator[tuple[dict[str, int], Totals]]:
        """The totals for the values of some sensitive columns: which value of each, and the totals of those people."""
        if not names:
            yield {}, self.together(fixed)
            return
        codes = np.stack([self.of_column(name)[1] for name in names], axis=1)
        if len(names) == len(self.published.columns):  # every combination by itself
            apart = self.apart(fixed)
            for place, key in enumerate(codes.tolist()):
                own = Totals(apart.means[:, place], apart.covariances[:, :, place])
                yield dict(zip(names, key, strict=True)), own
            return
        keys, number = np.unique(codes, axis=0, return_inverse=True)
        for place, key in enumerate(keys.tolist()):
            own = self._of_values(number.reshape(-1) == place).together(fixed)
            yield dict(zip(names, key, strict=True)), own

    def together(self, fixed: _Fixed | None = None) -> Totals:
        """The totals over all sensitive values."""
        papers = self._together(fixed)
        found = papers if self.learned is None else self.learned.together(*self._by_learning(fixed), papers)
        if self.presence is not None:
            return self._with_leavers(found, fixed)
        return found if self.weighting is None else self.weighting.added(found, self._deviations(fixed), apart=False)

    def apart(self, fixed: _Fixed | None) -> Totals:
        """The totals for every sensitive value by itself."""
        if self.presence is not None:
            each = [self._of_values(only).together(fixed) for only in np.eye(len(self.values), dtype=bool)]
            means = np.stack([one.means for one in each], axis=-1)
            return Totals(means, np.stack([one.covariances for one in each], axis=-1))
        papers = self._apart(fixed)
        found = papers if self.learned is None else self.learned.apart(*self._by_learning(fixed), papers)
        return found if self.weighting is None else self.weighting.added(found, self._deviations(fixed), apart=True)

    def _of_values(self, wanted: NDArray[np.bool_]) -> _Asked:
        """The same question about some of the sensitive values alone."""
        only = np.where(wanted, self.dealt.class_of, -1)
        return replace(self, dealt=replace(self.dealt, class_of=only))

    def _with_leavers(self, found: Totals, fixed: _Fixed | None) -> Totals:
        """Totals of the people who stayed, with the uncertainty about who they are."""
        assert self.presence is not None
        whole = replace(self, presence=None)._amounts(fixed)
        group, sizes, summed = self._dealt_groups(fixed)
        spread = self.presence.spread(self._some(fixed), group, sizes, summed, whole)
        covariances = found.covariances + spread
        certain = np.abs(covariances) <= _ROUNDING * np.maximum(np.abs(np.outer(found.means, found.means)), 1.0)
        return Totals(found.means, np.where(certain, 0.0, covariances))

    def _by_learning(self, fixed: _Fixed | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        assert self.learned is not None
        weight = None if self.weighting is None else self.weighting.weight.name
        present = None if self.presence is None else self.presence.of_points(self.learned.population.points)
        return self.learned.totals(self._learned_terms(fixed), self.dealt, self.columns, weight, present)

    def _learned_terms(self, fixed: _Fixed | None) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """For every term the points that satisfy it, and the classes of sensitive values for which it holds."""
        assert self.learned is not None
        here = self.learned.where({} if fixed is None else fixed.values)
        return [(self._inside[t] & here, self.of_class[:, t]) for t in range(len(self.terms))]

    def _deviations(self, fixed: _Fixed | None) -> Deviations:
        """The variance from the hidden part of weights; none for a perturbed sample, where it is small."""
        assert self.weighting is not None
        n_totals, n_values = self.dealt.weights.shape
        if self.learned is not None:
            return self.learned.deviations(self._learned_terms(fixed), self.dealt, self.columns, self.weighting.weight)
        if self.published.kind == "sample":
            return Deviations(np.zeros((n_totals, n_values)), np.zeros((n_totals, n_totals, n_values)))
        group, sizes, touched = self._groups(fixed)
        entries = self._entries if touched is None else _entries_of(self.published, touched)
        amounts = self._amounts(fixed, hidden=True)
        return deviations_of_groups(group, self.seats.count[self._some(fixed)], sizes, entries, self.dealt, amounts)

    @cached_property
    def _inside(self) -> list[NDArray[np.bool_]]:
        """For every term the points that satisfy it."""
        assert self.learned is not None
        return [self.learned.inside(term) for term in self.terms]

    def _together(self, fixed: _Fixed | None = None) -> Totals:
        """The totals by the papers' estimator."""
        amounts, some = self._amounts(fixed), self._some(fixed)
        if self.published.kind == "sample":
            return self._perturbation.totals(self.dealt, amounts, some)
        group, sizes, summed = self._dealt_groups(fixed)
        return totals(group, self.seats.count[some], sizes, summed, amounts)

    def _dealt_groups(self, fixed: _Fixed | None) -> tuple[NDArray[np.int64], NDArray[np.int64], Summed]:
        """The group of every seat, the sizes of groups, and what their values weigh."""
        group, sizes, touched = self._groups(fixed)
        summed = self._summed
        if touched is not None:
            summed = Summed(summed.once[:, :, touched], summed.twice[:, :, :, touched])
        return group, sizes, summed

    def _apart(self, fixed: _Fixed | None) -> Totals:
        """The totals of every value by the papers' estimator."""
        amounts, some = self._amounts(fixed), self._some(fixed)
        if self.published.kind == "sample":
            return self._perturbation.totals_apart(self.dealt, amounts, some)
        group, sizes, touched = self._groups(fixed)
        entries = self._entries if touched is None else _entries_of(self.published, touched)
        return totals_apart(group, self.seats.count[some], sizes, entries, self.dealt, amounts)

    def estimates(self, found: Totals) -> tuple[Estimate, ...]:
        """One estimate for every measure."""
        return tuple(self._estimate(measure, found) for measure in self.question.measures)

    def _estimate(self, measure: Measure, found: Totals) -> Estimate:
        place = self.columns.index(measure.column)
        if measure.kind == "avg":
            return Estimate.normal(*ratio(found, place, 0))
        counted = measure.kind == "count" and self.published.kind != "sample" and self.weighting is None
        most = float(self.evidence.release.n_tuples) if counted else np.inf
        least = 0.0 if measure.kind == "count" else -np.inf
        return Estimate.normal(found.means[place], found.covariances[place, place], least=least, most=most)

    # --- groups and seats ---------------------------------------------------------------------------------------------

    @cached_property
    def _perturbation(self) -> Perturbation:
        return Perturbation.of(self.evidence.release, self.published, self.seats, self.values)

    @cached_property
    def _entries(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        published = self.published
        group = np.repeat(np.arange(published.n_groups), np.diff(published.offsets))
        return group, published.codes, published.counts

    @cached_property
    def _summed(self) -> Summed:
        return self.dealt.summed(*self._entries, self.published.n_groups)

    def _some(self, fixed: _Fixed | None) -> NDArray[np.int64]:
        return np.arange(len(self.seats)) if fixed is None else fixed.seats

    def _groups(self, fixed: _Fixed | None) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None]:
        """The group of every seat and the sizes of groups; of some seats, only the groups that they are in."""
        if fixed is None:
            return self.seats.group.astype(np.int64), self.published.sizes, None
        touched, group = np.unique(self.seats.group[fixed.seats], return_inverse=True)
        return group.reshape(-1), self.published.sizes[touched], touched.astype(np.int64)

    # --- amounts ------------------------------------------------------------------------------------------------------

    def _amounts(self, fixed: _Fixed | None, *, hidden: bool = False) -> Amounts:
        """What the seats add: for every class of sensitive values, the terms that hold for it.

        Weights are in it. With ``hidden`` the variance of their hidden part is, once, in the place of weights.
        """
        n_seats, n_totals = len(self.seats) if fixed is None else len(fixed.seats), len(self.columns)
        mean = np.zeros((n_totals, self.dealt.n_classes, n_seats))
        product = np.zeros((n_totals, n_totals, self.dealt.n_classes, n_seats))
        given = {} if fixed is None else fixed.values
        here = [
            t
            for t, term in enumerate(self.terms)
            if all(value in term[name] for name, value in given.items() if name in term)
        ]
        of_terms = counted_once(
            [self.terms[t] for t in here], self.evidence.divided, partial(self._of_term, fixed=fixed, hidden=hidden)
        )
        for t, (first, second) in zip(here, of_terms, strict=True):
            for a in np.flatnonzero(self.of_class[:, t]).tolist():
                mean[:, a] += first
                product[:, :, a] += second
        if self.presence is not None:
            share = self.presence.share[self._some(fixed)]
            mean, product = mean * share, product * share * share
        return Amounts(mean, product)

    def _of_term(
        self, term: Mapping[str, ValueSet], *, fixed: _Fixed | None, hidden: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean amounts of one term, and of their products, by seat."""
        own = {} if fixed is None else fixed.shares
        weight = None if self.weighting is None else self.weighting.weight.name
        quasi = [name for name in self.seats.quasi if name in {*term, *self.columns, *own, weight}]
        n_seats = len(self.seats) if fixed is None else len(fixed.seats)
        powers = {name: self._powers(term, name, fixed) for name in quasi}
        return mixed_amounts(powers, self.columns, weight, n_seats, hidden=hidden)

    def _powers(self, term: Mapping[str, ValueSet], name: str, fixed: _Fixed | None) -> tuple[NDArray[np.float64], ...]:
        """The result of `powers_of` for a column, restricted to where the term holds."""
        weight = None if self.weighting is None else self.weighting.weight
        is_weight = weight is not None and name == weight.name
        if fixed is not None and name in fixed.shares:
            share, value = fixed.shares[name], fixed.values[name]
            number = float(value) if value is not None and (name in self.columns or is_weight) else 0.0
            hidden = weight.deviations.get(number, 0.0) if weight is not None and is_weight else 0.0
            return share, share * number, share * number * number, share * hidden**2
        values = term.get(name, ValueSet.everything())
        if (name, values) not in self._known:
            summed = name in self.columns
            self._known[name, values] = powers_of(self.evidence, self.seats, name, values, weight, summed=summed)
        known = self._known[name, values]
        return known if fixed is None else tuple(power[fixed.seats] for power in known)

    @cached_property
    def _known(self) -> dict[tuple[str, ValueSet], tuple[NDArray[np.float64], ...]]:
        return {}


def _of_column(published: Published, values: tuple[Any, ...], name: str) -> tuple[tuple[Any, ...], NDArray[np.int64]]:
    """The values of one of the sensitive columns, and which of them each of the values (or combinations) has."""
    return published.several[name] if published.several else (values, np.arange(len(values)))


def _treated(
    published: Published, values: tuple[Any, ...], terms: Sequence[Mapping[str, ValueSet]]
) -> NDArray[np.bool_]:
    """Which terms hold for each of the sensitive values (values x terms)."""
    found = np.ones((len(values), len(terms)), bool)
    for name in published.columns:
        own, codes = _of_column(published, values, name)
        for t, term in enumerate(terms):
            if name in term:
                found[:, t] &= np.array([value in term[name] for value in own], bool)[codes]
    return found


def _entries_of(
    published: Published, groups: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """The entries of the histograms of some groups, with these groups numbered from 0."""
    starts = published.offsets[groups]
    lengths = published.offsets[groups + 1] - starts
    before = np.cumsum(lengths) - lengths
    at = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
    return np.repeat(np.arange(len(groups)), lengths), published.codes[at], published.counts[at]
