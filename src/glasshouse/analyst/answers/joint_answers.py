# SPDX-License-Identifier: Apache-2.0
"""Joint answers: questions about two sensitive columns that a release publishes apart.

A group shows how often each value of either column occurs in it, and not how the two go together. The estimate takes
them as independent: in a group of n people, any of whom may have any value, the two columns are dealt to the members
by two shuffles that do not know of each other. Say a term of the question holds of a person of seat i with the mean
amount ``mu_i`` (mean square ``s_i``), of ``a`` values of the first column and ``b`` of the second. With M, S and D the
sums of mu, s and mu^2 over the group, its total has

    mean      M a b / n^2
    variance  S a b / n^2  +  (M^2 - D) a (a - 1) b (b - 1) / (n (n - 1))^2  -  mean^2

and likewise for products of different terms and totals. What is learned of the two columns refines the mean: at every
point of quasi-identifiers the expected shares of both are multiplied.

If the columns depend on each other, as a drug does on a disease, this is wrong, and nothing in the release tells. So
the interval is not that of independence. In a group the number of people for whom both conditions hold lies between
``max(0, a + b - n)`` and ``min(a, b)`` (Frechet's bounds), whatever the dependence. The interval of a count or a sum
reaches from the 95 % interval of the one end to that of the other, with so many values dealt to the members.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import scipy.sparse as sp

from glasshouse.analyst.answers.estimates import Estimate, Totals, ratio
from glasshouse.analyst.answers.population_answers import LearnedTotals, learned_population
from glasshouse.analyst.answers.seat_amounts import counted_once, mixed_amounts, powers_of
from glasshouse.analyst.answers.survey_weight import Deviations, Weighting
from glasshouse.analyst.questions.question import disjoint_terms
from glasshouse.errors import NotSupported
from glasshouse.supports.evidence import seats_of
from glasshouse.supports.value_sets import ValueSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.questions.question import Measure, Question
    from glasshouse.release.contents import Published, Seats
    from glasshouse.supports.evidence import Evidence, Weight

__all__ = ["JointTotals", "joint_estimates"]

_WIDTH: Final = 1.959963984540054  # of a 95 % interval, in standard errors
_APART: Final = (
    "{0!r} and {1!r} are published separately, so the release does not show how often their values occur "
    "together. The estimate assumes that they are independent given the quasi-identifiers and the group; the "
    "interval of a count or a sum allows for every possible dependence between them. If you need more, ask the "
    "publisher for a release that publishes both columns together"
)
_AVERAGE: Final = "the interval of an average assumes that the two columns are independent"


def joint_estimates(
    evidence: Evidence, question: Question, model: str, weight: Weight | None
) -> tuple[tuple[Estimate, ...], tuple[str, ...], str]:
    """Answer a question about two sensitive columns: estimates, what to know of them, and the model."""
    joint = JointTotals.of(evidence, question, weight)
    found, used, notes = joint.learned(model)
    estimates = tuple(joint.estimate(measure, found) for measure in question.measures)
    said = [_APART.format(*(side.column for side in joint.sides))]
    said += [_AVERAGE] if any(measure.kind == "avg" for measure in question.measures) else []
    said += [] if joint.weighting is None else [joint.weighting.note]
    return estimates, (*notes, *said), used


@dataclass(frozen=True, eq=False)
class _Side:
    """One of the two columns: its histograms, by group, and the seats of the table that answers."""

    column: str
    values: tuple[Any, ...]
    published: Published
    seats: Seats

    @classmethod
    def of(cls, evidence: Evidence, column: str, quasi: Sequence[str]) -> _Side:
        published, seats = seats_of(evidence, [*quasi, column])
        return cls(column, evidence.domain_of(published), published, seats)

    @cached_property
    def counts(self) -> sp.csr_matrix:
        """How often each value occurs in each group."""
        shape = self.published.n_groups, len(self.values)
        entries = self.published.counts.astype(np.float64), self.published.codes, self.published.offsets
        return sp.csr_matrix(entries, shape=shape)

    def wanted(self, term: dict[str, ValueSet]) -> NDArray[np.float64]:
        """1 for each value that satisfies a term, otherwise 0."""
        own = term.get(self.column, ValueSet.everything())
        return np.array([value in own for value in self.values], np.float64)


@dataclass(frozen=True, eq=False)
class JointTotals:
    """Totals over the people who satisfy conditions on two sensitive columns."""

    evidence: Evidence
    sides: tuple[_Side, ...]
    terms: list[dict[str, ValueSet]]
    columns: list[str | None]
    weight: Weight | None

    @classmethod
    def of(cls, evidence: Evidence, question: Question, weight: Weight | None) -> JointTotals:
        """Read a question; three columns are refused, sums of sensitive values, and columns of different groups."""
        terms = disjoint_terms(question.where, last=evidence.divided)
        measured = [measure.column for measure in question.measures if measure.column is not None]
        attributes = list(dict.fromkeys([*(name for term in terms for name in term), *measured]))
        columns = evidence.all_sensitive_of(attributes)
        if len(columns) > 2:
            together = ", ".join(map(repr, columns))
            raise NotSupported(
                f"a question about {together} together is not supported", instead="ask about at most two of them"
            )
        if evidence.all_sensitive_of(measured):
            raise NotSupported(
                "a sum or an average of a sensitive column is not supported in a question about two sensitive columns",
                instead="ask for COUNT(*)",
            )
        quasi = [name for name in attributes if name not in columns]
        quasi += [] if weight is None or weight.name in quasi else [weight.name]
        one, other = (_Side.of(evidence, column, quasi) for column in columns)
        kinds = one.published.kind, other.published.kind
        if "sample" in kinds or not np.array_equal(one.seats.group, other.seats.group):
            raise NotSupported(
                "a question about two sensitive columns is not supported if they are not published in the same groups",
                instead="ask about one of them",
            )
        return cls(evidence, (one, other), terms, list(dict.fromkeys([None, *measured])), weight)

    @property
    def seats(self) -> Seats:
        """The table of seats that is used."""
        return self.sides[0].seats

    @cached_property
    def weighting(self) -> Weighting | None:
        """The survey weight, where people count by it."""
        return None if self.weight is None else Weighting.of(self.evidence, self.seats, self.weight)

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """How many people each group has."""
        return np.maximum(self.sides[0].published.sizes, 1).astype(np.float64)

    def _amounts(self, *, hidden: bool) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """The mean amounts by seat for every term, and those of products of two amounts."""
        name = None if self.weight is None else self.weight.name

        def of_term(term: Mapping[str, ValueSet]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            used = [own for own in self.seats.quasi if own in {*term, *self.columns, name}]
            powers = {
                own: powers_of(
                    self.evidence,
                    self.seats,
                    own,
                    term.get(own, ValueSet.everything()),
                    self.weight,
                    summed=own in self.columns,
                )
                for own in used
            }
            return mixed_amounts(powers, self.columns, name, len(self.seats), hidden=hidden)

        return counted_once(self.terms, self.evidence.divided, of_term)

    @cached_property
    def _shown(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        return self._amounts(hidden=False)

    def _by_group(self, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        group, n_groups = self.seats.group, len(self.sizes)
        return np.bincount(group, weights=amounts * self.seats.count, minlength=n_groups).astype(np.float64)

    @cached_property
    def _held(self) -> list[list[NDArray[np.float64]]]:
        """For either column and every term, the number of values of each group that satisfy it."""
        return [[np.asarray(side.counts @ side.wanted(term)) for term in self.terms] for side in self.sides]

    def _held_by_both(self, s: int, t: int, u: int) -> NDArray[np.float64]:
        """How many values of each group both of two terms hold for."""
        side = self.sides[s]
        return np.asarray(side.counts @ (side.wanted(self.terms[t]) * side.wanted(self.terms[u])))

    def independent(self) -> Totals:
        """Means and covariances of totals if the two columns are dealt apart."""
        n, n_totals, terms = self.sizes, len(self.columns), range(len(self.terms))
        pairs = (n * np.maximum(n - 1, 1)) ** 2
        held = [self._held[0][t] * self._held[1][t] / n**2 for t in terms]
        sums = [[self._by_group(self._shown[t][0][x]) for t in terms] for x in range(n_totals)]
        means = [sum((sums[x][t] * held[t] for t in terms), np.zeros(len(n))) for x in range(n_totals)]
        covariances = np.zeros((n_totals, n_totals))
        for x in range(n_totals):
            for y in range(n_totals):
                found = -means[x] * means[y]
                for t in terms:
                    found = found + self._by_group(self._shown[t][1][x, y]) * held[t]
                    for u in terms:
                        both = np.ones(len(n))
                        for s in (0, 1):
                            both = both * (self._held[s][t] * self._held[s][u] - self._held_by_both(s, t, u))
                        apart = self._by_group(self._shown[t][0][x] * self._shown[u][0][y])
                        found = found + both / pairs * (sums[x][t] * sums[y][u] - apart)
                covariances[x, y] = float(found.sum())
        return self._weighted(Totals(np.array([own.sum() for own in means]), covariances), held)

    def _weighted(self, found: Totals, held: Sequence[NDArray[np.float64]]) -> Totals:
        """Add the variance of the hidden part of weights; ``held``: how likely each term holds for a member."""
        if self.weighting is None:
            return found
        once, twice = np.zeros((len(self.columns), 1)), np.zeros((len(self.columns), len(self.columns), 1))
        for (first, second), share in zip(self._amounts(hidden=True), held, strict=True):
            for x in range(len(self.columns)):
                once[x] += float(self._by_group(first[x]) @ share)
                for y in range(len(self.columns)):
                    twice[x, y] += float(self._by_group(second[x, y]) @ share)
        return self.weighting.added(found, Deviations(once, twice), apart=False)

    @cached_property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The smallest and largest value that every total can have under any dependence of the two columns."""
        n = self.sizes
        ends = []
        for sign in (-1.0, 1.0):
            mean, variance = np.zeros(len(self.columns)), np.zeros(len(self.columns))
            held = []
            for t in range(len(self.terms)):
                a, b = self._held[0][t], self._held[1][t]
                least, most = np.maximum(0.0, a + b - n), np.minimum(a, b)
                for x in range(len(self.columns)):
                    total = self._by_group(self._shown[t][0][x])
                    both = np.where((sign > 0) == (total >= 0), most, least)
                    one = total * both / n
                    mean[x] += float(one.sum())
                    apart = total**2 - self._by_group(self._shown[t][0][x] ** 2)
                    spread = self._by_group(self._shown[t][1][x, x]) * both / n - one**2
                    spread += both * (both - 1) / (n * np.maximum(n - 1, 1)) * apart
                    variance[x] += float(spread.sum())
                held.append((most if sign > 0 else least) / n)
            added = self._weighted(Totals(mean, np.diag(variance)), held)
            ends.append(mean + sign * _WIDTH * np.sqrt(np.maximum(np.diag(added.covariances), 0.0)))
        return ends[0], ends[1]

    def learned(self, model: str) -> tuple[Totals, str, tuple[str, ...]]:
        """The totals by what the release teaches about either column, the name of the model, and notes."""
        papers = self.independent()
        taught = [
            learned_population(self.evidence, side.published, side.seats, [side.column], model) for side in self.sides
        ]
        notes = tuple(dict.fromkeys(note for own in taught for note in own.notes))
        one, other = (None if own.why_not else own.population for own in taught)
        if one is None or other is None or not np.array_equal(one.points.codes, other.points.codes):
            return papers, "uniform", notes
        both = LearnedTotals(one), LearnedTotals(other)
        means = np.zeros(len(self.columns))
        people = (np.asarray(both[0].expected.sum(axis=1)) + np.asarray(both[1].expected.sum(axis=1))).reshape(-1) / 2
        by_weight = both[0].amounts(None if self.weight is None else self.weight.name)
        for term in self.terms:
            own = [
                np.asarray(totals.expected @ side.wanted(term)) for totals, side in zip(both, self.sides, strict=True)
            ]
            expected = own[0] * own[1] / np.maximum(people, 1e-300) * both[0].inside(term)
            means += np.array([float((both[0].amounts(column) * by_weight) @ expected) for column in self.columns])
        move = (means - papers.means) * max(one.doubt.move, other.doubt.move)
        noise = max(one.doubt.noise, other.doubt.noise) ** 2
        return Totals(means, papers.covariances * noise + np.outer(move, move)), one.model, notes

    def estimate(self, measure: Measure, found: Totals) -> Estimate:
        """The estimate of one measure: with the interval for every dependence of the columns, except for an average."""
        place = self.columns.index(measure.column)
        if measure.kind == "avg":
            return Estimate.normal(*ratio(found, place, 0))
        alone = Estimate.normal(found.means[place], found.covariances[place, place])
        low, high = min(alone.low, self.bounds[0][place]), max(alone.high, self.bounds[1][place])
        low = max(0.0, low) if measure.kind == "count" else low
        error = max(high - alone.value, alone.value - low) / _WIDTH
        return Estimate(alone.value, float(error), float(low), float(high))
