# SPDX-License-Identifier: Apache-2.0
"""Learned answers: totals by what the release teaches of the population.

The mean of a total is the expected number of people at every point with every value, times what such a person adds. Its
variance has two parts. One is the variance of the same total over complete tables that are drawn from the posterior
distribution of the model: it holds who of a group has which value, where in its cells a person is, and how well the
weights of the model are known. The other is for what the model itself may get wrong: it is a fixed part of the way from
the papers' estimate, which learns nothing, to this one (`glasshouse.population.doubt`).

If the release does not show clearly that values depend on quasi-identifiers, the mean is as if they did not. The draws
are those of the model all the same, and the variance is about the mean: it also holds how far the two are apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import scipy.sparse as sp

from glasshouse.analyst.answers.estimates import Totals
from glasshouse.analyst.answers.survey_weight import Deviations
from glasshouse.cells import key_of
from glasshouse.errors import InputError, ParameterError
from glasshouse.population.learn import learned_from, too_little

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.answers.estimates import Dealt
    from glasshouse.population.population import Population
    from glasshouse.release.contents import Published, Seats
    from glasshouse.supports.evidence import Evidence, Weight
    from glasshouse.supports.value_sets import ValueSet

    Terms = Sequence[tuple[NDArray[np.bool_], NDArray[np.bool_]]]

__all__ = ["EVEN", "MODELS", "LearnedTotals", "Taught", "learned_population", "learned_totals"]

MODELS: Final = ("learned", "uniform")
"""The models that can answer: the model learned from a release, or the estimator of the papers."""
EVEN: Final = (
    "the intervals are often too narrow where a condition or an average distinguishes values within wide cells, "
    "because people are assumed to be spread evenly within each cell: where you can, ask for ranges that contain whole "
    "published cells"
)
"""The note on answers of the papers' estimator from cells that are not exact."""
_ROUNDING: Final = 1e-7
_UNRELATED: Final = (
    "the intervals may be too narrow, because a value is assumed to be as probable for one member of a group as for "
    "any other member"
)
_RANDOM: Final = (
    "the values of a perturbed sample are partly random, and in tests the intervals of a model learned from such "
    "values were too narrow"
)
_NOISE: Final = (
    "a number that is impossible, such as a count below 0 or an average outside the values that the condition allows, "
    "is noise of the perturbation: the sample shows too few records to answer the question. Ask about more "
    "people, for example with a wider condition"
)
_UNCLEAR: Final = (
    "the estimates assume that a value is as probable for one member of a group as for any other member, because the "
    "release does not clearly show otherwise; the intervals allow for what it leaves open"
)
_NO_BETTER: Final = (
    "the model learned from the release does not predict groups that were set aside for testing clearly better than "
    "overall frequencies do"
)


class Taught(NamedTuple):
    """What a release teaches; or nothing, and why the papers' model serves although it was not asked for.

    Both if the population has the papers' estimates, and intervals that are wider because of what may be otherwise.
    """

    population: Population | None
    why_not: str = ""
    doubts: tuple[str, ...] = ()  # what is uncertain about the estimates or the intervals

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for readers of answers: on the model that is used, or why it is not the one that was asked for."""
        why = (f"answered by the uniform model: {self.why_not}",) if self.why_not else ()
        own = () if self.population is None or self.why_not else self.population.notes
        return (*why, *own, *self.doubts) if why or self.population is not None else ()


def learned_totals(
    evidence: Evidence, published: Published, seats: Seats, attributes: Sequence[str], model: str
) -> tuple[LearnedTotals | None, tuple[str, ...]]:
    """What a release teaches about some attributes, for a question, and notes on it.

    None where the papers' estimator answers the question.
    """
    taught = learned_population(evidence, published, seats, attributes, model)
    return None if taught.population is None else LearnedTotals(taught.population), taught.notes


def learned_population(
    evidence: Evidence,
    published: Published,
    seats: Seats,
    attributes: Sequence[str],
    model: str,
    report: Callable[[float], None] = lambda _: None,
    *,
    owner: str = "query",
) -> Taught:
    """What a release teaches of some attributes; nothing where the papers' model serves.

    It does if it is asked for, and if the attributes are quasi-identifiers that are published exactly. It also does for
    the values of a perturbed sample, if the release has too few people or too many values, or teaches too little, and
    if its cells do not say which values they stand for; then it is said why.
    """
    if model not in MODELS:
        raise ParameterError(owner, "model", " or ".join(map(repr, MODELS)), model)
    if model == "uniform" or (evidence.is_exact and not set(published.columns) & set(attributes)):
        return Taught(None)
    dealt = not set(published.columns).isdisjoint(attributes)
    even = () if evidence.is_exact or set(attributes) <= set(published.columns) else (EVEN,)
    if dealt and evidence.release.layout.size is not None:
        return Taught(None, _RANDOM, (_NOISE, *even))
    unrelated = (_UNRELATED,) if dealt else ()
    try:
        population = learned_from(evidence, published, seats, report)
    except InputError as error:
        return Taught(None, str(error), (*unrelated, *even))
    if population is None:
        return Taught(None, too_little(published, seats), (*unrelated, *even))
    unclear = (_UNCLEAR,) if dealt and population.is_unclear else ()
    return Taught(population, _NO_BETTER if population.model == "uniform" else "", unclear)


@dataclass(frozen=True, eq=False)
class LearnedTotals:
    """Totals computed from a learned population."""

    population: Population

    @cached_property
    def expected(self) -> sp.csr_matrix:
        """The expected number of people: points x values."""
        found = self.population.expected()
        shape = self.population.points.n_points, len(self.population.values)
        return sp.csr_matrix((found.amount, (found.point, found.code)), shape=shape)

    @cached_property
    def drawn(self) -> sp.csr_matrix:
        """How many people there are in every draw: points x (draws and values)."""
        draws, n_values = self.population.draws(), len(self.population.values)
        rows = np.concatenate([own.point for own in draws])
        columns = np.concatenate([own.code + i * n_values for i, own in enumerate(draws)])
        shape = self.population.points.n_points, len(draws) * n_values
        return sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)

    def inside(self, term: Mapping[str, ValueSet]) -> NDArray[np.bool_]:
        """Which points satisfy a term's tests of quasi-identifiers."""
        found = np.ones(self.population.points.n_points, bool)
        for name, values in term.items():
            if name in self.population.points.names:
                own, codes = self._attribute(name)
                found &= np.array([value in values for value in own], bool)[codes]
        return found

    def where(self, values: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Which points have these values."""
        found = np.ones(self.population.points.n_points, bool)
        for name, value in values.items():
            if name in self.population.points.names:
                code = self._codes[name].get(None if value is None else key_of(value), -1)
                found &= self._attribute(name)[1] == code
        return found

    @cached_property
    def _codes(self) -> dict[str, dict[str | None, int]]:
        """The code of every value of every attribute."""
        points = self.population.points
        return {
            name: {None if value is None else key_of(value): code for code, value in enumerate(own)}
            for name, own in zip(points.names, points.values, strict=True)
        }

    def _attribute(self, name: str) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
        place = self.population.points.names.index(name)
        return self.population.points.values[place], self.population.points.codes[place]

    def amounts(self, column: str | None) -> NDArray[np.float64]:
        """What a person at each point adds to the sum of a quasi-identifier; 1 for anything else."""
        if column is None or column not in self.population.points.names:
            return np.ones(self.population.points.n_points)
        values, codes = self._attribute(column)
        return np.array([0.0 if value is None else float(value) for value in values])[codes]

    def totals(
        self,
        terms: Terms,
        dealt: Dealt,
        columns: Sequence[str | None],
        weight: str | None = None,
        present: NDArray[np.float64] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each total and value the mean, and what each draw has (totals x draws x values).

        A term is the points inside, and the classes of sensitive values for which it holds. Where a survey weight is
        named, people count by it. ``present`` is the share of the people of each point that counts, if not all do.
        """
        by_weight = self.amounts(weight)
        n_values, n_draws = len(self.population.values), len(self.population.draws())
        means, drawn = np.zeros((len(columns), n_values)), np.zeros((len(columns), n_draws, n_values))
        for inside, holds in terms:
            taken = np.flatnonzero(inside)
            wanted = np.append(holds, False)[dealt.class_of]
            if not len(taken) or not wanted.any():
                continue
            expected, draws = self.expected[taken], self.drawn[taken]
            for x, column in enumerate(columns):
                weights = np.where(wanted, dealt.weights[x], 0.0)
                amount = (self.amounts(column) * by_weight)[taken] * (1.0 if present is None else present[taken])
                means[x] += np.asarray(amount @ expected).reshape(-1) * weights
                drawn[x] += np.asarray(amount @ draws).reshape(n_draws, n_values) * weights
        return means, drawn

    def deviations(self, terms: Terms, dealt: Dealt, columns: Sequence[str | None], weight: Weight) -> Deviations:
        """Add up what people add to totals, times the variance of the hidden part of their weights."""
        n_totals, n_values = dealt.weights.shape
        found = Deviations(np.zeros((n_totals, n_values)), np.zeros((n_totals, n_totals, n_values)))
        means, codes = self._attribute(weight.name)
        spread = np.array([weight.deviations.get(float(mean), 0.0) ** 2 for mean in means])[codes]
        amounts = [self.amounts(column) for column in columns]
        for inside, holds in terms:
            taken = np.flatnonzero(inside)
            wanted = np.append(holds, False)[dealt.class_of]
            expected = self.expected[taken]
            for x in range(n_totals):
                own = np.where(wanted, dealt.weights[x], 0.0)
                once = (amounts[x] * spread)[taken]
                found.once[x] += np.asarray(once @ expected).reshape(-1) * own
                for y in range(n_totals):
                    twice = np.asarray((once * amounts[y][taken]) @ expected).reshape(-1)
                    found.twice[x, y] += twice * own * dealt.weights[y]
        return found

    def together(self, means: NDArray[np.float64], drawn: NDArray[np.float64], papers: Totals) -> Totals:
        """Totals over all values; those of the papers' estimator where ``papers`` says so."""
        return self._totals(means.sum(axis=1), drawn.sum(axis=2), papers)

    def apart(self, means: NDArray[np.float64], drawn: NDArray[np.float64], papers: Totals) -> Totals:
        """Totals of every value apart."""
        found = [
            self._totals(means[:, v], drawn[:, :, v], Totals(papers.means[:, v], papers.covariances[:, :, v]))
            for v in range(means.shape[1])
        ]
        return Totals(
            np.stack([own.means for own in found], axis=1), np.stack([own.covariances for own in found], axis=2)
        )

    def _totals(self, means: NDArray[np.float64], drawn: NDArray[np.float64], papers: Totals) -> Totals:
        doubt = self.population.doubt
        spread = drawn - drawn.mean(axis=1, keepdims=True)
        # What every draw says is what was published: it is so, and what is left of a difference is rounding.
        certain = (drawn == drawn[:, :1]).all(axis=1) & np.isclose(means, drawn[:, 0], rtol=_ROUNDING, atol=_ROUNDING)
        means = np.where(certain, drawn[:, 0], means)
        covariances = spread @ spread.T / (drawn.shape[1] - 1) * doubt.noise**2
        move = (means - papers.means) * doubt.move
        move[np.abs(move) <= _ROUNDING * np.maximum(np.abs(means), 1.0)] = 0.0
        shift = drawn.mean(axis=1) - means if self.population.is_unclear else np.zeros_like(means)
        covariances += np.outer(shift, shift)
        covariances[certain] = covariances[:, certain] = 0.0
        return Totals(means, covariances + np.outer(move, move))
