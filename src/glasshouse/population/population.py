# SPDX-License-Identifier: Apache-2.0
"""Population: what a release teaches of how sensitive values depend on quasi-identifiers.

It is a model of chances, and two things that follow from it and the release together: how many people at every point
are expected to have each value, and *draws*, complete tables that agree with everything that was published and with
what was learned. The spread of an answer over the draws is its uncertainty.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.errors import NotSupported
from glasshouse.population.influence import influences_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.population.doubt import Doubt
    from glasshouse.population.fit import Fitted
    from glasshouse.population.influence import Influence
    from glasshouse.population.observations import Observations
    from glasshouse.population.points import Points
    from glasshouse.population.population_classifier import PopulationClassifier
    from glasshouse.population.regression import Regression
    from glasshouse.release import Release

    ClassOf = Mapping[Any, Any] | Callable[[Any], Any]

__all__ = ["Drawn", "Expected", "Population"]


@dataclass(frozen=True, eq=False)
class Expected:
    """The expected numbers of people at some points with some values; no pair occurs twice."""

    point: NDArray[np.int64]
    code: NDArray[np.int64]
    amount: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Drawn:
    """A complete table: the point and the value of every person."""

    point: NDArray[np.int32]
    code: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Population:
    """The result of `learn` for a release.

    Attributes
    ----------
    column
        The sensitive column.
    values
        Its values.
    points
        The combinations of quasi-identifiers that people may have.
    fitted
        The weights of the model, and how well it fits groups that were held out.
    """

    column: str
    values: tuple[Any, ...]
    points: Points
    regression: Regression
    fitted: Fitted
    seen: Observations
    deviations: NDArray[np.float64]  # of what weights may be, by their posterior distribution, from those of `fitted`
    doubt: Doubt
    fitted_to: Regression  # the groups that the weights were fitted to: all, or some of very many
    determined: NDArray[np.float64]  # how many weights of each block the release determines, and not the ridge
    release: str  # a digest of what was published
    _drawn: list[Drawn] = field(default_factory=list, init=False)
    _expected: list[Expected] = field(default_factory=list, init=False)

    @property
    def model(self) -> str:
        """``learned``, or what is left if the release does not teach enough to do better than base rates.

        That is ``uniform``; or ``cells`` where cells are published, for what they tell of quasi-identifiers is used.
        """
        if self.fitted.is_used:
            return "learned"
        return "uniform" if self.points.mixture is None else "cells"

    @property
    def is_unclear(self) -> bool:
        """Whether there are sensitive values, and the release does not show clearly how they depend on other columns.

        Then the weights are 0, and their deviations are about the weights that fit best.
        """
        return bool(self.column) and not self.fitted.is_used

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the model for readers of answers."""
        return (self.doubt.note,) if self.doubt.note else ()

    def __repr__(self) -> str:
        by = ", ".join(self.points.names)
        if not self.column:
            return f"Population({by}; {self.model})"
        gain = (
            f"it predicts groups that were set aside for testing {self.fitted.standard_errors} than the overall "
            "frequencies do"
        )
        return f"Population({self.column!r} by {by}; {self.model}, {gain})"

    @classmethod
    def load(
        cls,
        path: str | Path,
        release: Release,
        *,
        taxonomies: Mapping[str, Taxonomy] | None = None,
        ordered: Mapping[str, Sequence[Any]] | None = None,
    ) -> Population:
        """Read what was learned from this release before; `SourceError` if it was another one, or is damaged.

        Questions to this release object are then answered by it. ``taxonomies`` and ``ordered`` are those that were
        given when it was learned.
        """
        from glasshouse.population.learn import restored

        return restored(path, release, taxonomies=taxonomies, ordered=ordered)

    def save(self, path: str | Path) -> None:
        """Write what was learned to a file, as plain JSON; an existing file is replaced."""
        from glasshouse.population.population_file import PopulationFile

        PopulationFile.of(self, path).write()

    def influences(self) -> tuple[Influence, ...]:
        """How much each quasi-identifier says about the sensitive column, the most informative first."""
        return influences_of(self)

    def chances(self) -> NDArray[np.float64]:
        """The chance of every value at every point (points x values)."""
        return self.regression.at_points(self.fitted.weights)

    def expected(self) -> Expected:
        """The expected number of people at every point with each value."""
        if not self._expected:
            at_points = self.chances()
            place, code, amount = self.seen.expected(self.regression.mixed(at_points))
            self._expected.append(self._at_points(at_points, place, code, amount))
        return self._expected[0]

    def _at_points(
        self,
        at_points: NDArray[np.float64],
        place: NDArray[np.int32],
        code: NDArray[np.int32],
        amount: NDArray[np.float64],
    ) -> Expected:
        """Divide the people of places among their points, and sum."""
        n_values = len(self.values)
        key, number = np.unique(place.astype(np.int64) * n_values + code, return_inverse=True)
        amount = np.bincount(number.reshape(-1), weights=amount).astype(np.float64)
        place_of, code_of = np.divmod(key, n_values)
        if self.points.mixture is None:
            return Expected(place_of, code_of, amount)
        of, point, weight = self._shares(at_points, place_of, code_of)
        key, number = np.unique(point * n_values + code_of[of], return_inverse=True)
        total = np.bincount(number.reshape(-1), weights=weight * amount[of]).astype(np.float64)
        return Expected(key // n_values, key % n_values, total)

    def classifier(self, class_of: ClassOf | None = None) -> PopulationClassifier:
        """An estimator of scikit-learn that predicts the sensitive value, or its class, from quasi-identifiers.

        Parameters
        ----------
        class_of
            The class of a sensitive value: a mapping or a function. Left out, every value is a class of its own.
        """
        from glasshouse.population.population_classifier import PopulationClassifier

        if not self.points.names or self.column == "":
            raise NotSupported(
                "a classifier needs a sensitive column to predict, and this release has none",
                instead="learn from a release with a sensitive column",
            )
        return PopulationClassifier.of(self, class_of)

    def _shares(
        self, at_points: NDArray[np.float64], place: NDArray[np.int64], code: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Where in its cells a person is whose place and value are known: for some pairs of both, points with shares.

        The shares of a pair's points add up to 1; the number of the pair is given with each of them.
        """
        mixture = self.points.mixture
        assert mixture is not None
        width = np.diff(mixture.indptr)[place].astype(np.int64)
        entry = np.repeat(mixture.indptr[place] - (np.cumsum(width) - width), width) + np.arange(int(width.sum()))
        of = np.repeat(np.arange(len(place)), width)
        point = mixture.indices[entry].astype(np.int64)
        weight = mixture.data[entry] * np.maximum(at_points[point, code[of]], 1e-300)
        return of, point, weight / np.bincount(of, weights=weight, minlength=len(place))[of]

    def draws(self) -> list[Drawn]:
        """Complete tables, each by weights of its own from the posterior distribution; always the same ones."""
        if not self._drawn:
            self._drawn.extend(self._draw(np.random.Generator(np.random.PCG64(7))))
        return self._drawn

    def more_deviations(self, n: int, random: np.random.Generator) -> NDArray[np.float64]:
        """Further deviations of the weights from their posterior distribution (draws x levels x values)."""
        if not self.fitted.is_used:
            return np.zeros((n, *self.regression.shape))
        return self.fitted_to.draws(self.fitted.weights, self.fitted.ridges, n, random).deviations

    def _draw(self, random: np.random.Generator) -> Iterator[Drawn]:
        for deviation in self.deviations:
            yield self.drawn(random, self.fitted.weights + deviation)

    def drawn(self, random: np.random.Generator, weights: NDArray[np.float64]) -> Drawn:
        """One complete table from given weights."""
        at_points = self.regression.at_points(weights)
        place, code = self.seen.draw(self.regression.mixed(at_points), random)
        if self.points.mixture is None:
            return Drawn(place.astype(np.int32), code)
        n_values = len(self.values)
        key, number = np.unique(place.astype(np.int64) * n_values + code, return_inverse=True)
        # what is measured on the release need not be multiplied by the doubt, as all other noise is
        tilted = at_points * self.points.tilted(random, 1 / self.doubt.noise)[:, np.newaxis]
        of, point, share = self._shares(tilted, key // n_values, key % n_values)
        # One line for all pairs of a place and a value: each is as long as its shares add up to.
        ends = np.cumsum(share)
        first = np.searchsorted(of, np.arange(len(key) + 1))
        marks = np.append(0.0, ends)[first]
        number = number.reshape(-1)
        wanted = marks[number] + random.random(len(number)) * np.diff(marks)[number]
        chosen = np.clip(np.searchsorted(ends, wanted), first[number], first[number + 1] - 1)
        return Drawn(point[chosen].astype(np.int32), code)
