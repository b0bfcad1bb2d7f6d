# SPDX-License-Identifier: Apache-2.0
"""Observations: the sensitive values that a release shows, and their likelihood given everybody's chances.

There are two kinds. A release with groups shows each group's values and not who has which (`Grouped`). A perturbed
sample shows one value for each group, which may have been replaced (`Shown`). The model needs the same of both: the
logarithm of the probability of what is shown, and its derivative by the chances. The derivative is not 0 only at some
*entries*, pairs of a place and a value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.population.deals import Deals

__all__ = ["Grouped", "Observations", "Shown"]

_LEAST = 1e-30  # what single precision can still invert


class Observations(Protocol):
    """The sensitive values that are shown, by group."""

    @property
    def n_groups(self) -> int:
        """How many groups there are."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each group's entries begin."""

    @property
    def place_of_entry(self) -> NDArray[np.int32]:
        """The place of every entry."""

    @property
    def code_of_entry(self) -> NDArray[np.int32]:
        """The value of every entry."""

    @property
    def group_of_entry(self) -> NDArray[np.int64]:
        """The group of every entry."""

    def people_at(self, n_places: int) -> NDArray[np.float64]:
        """How many people are observed at every place."""

    def some(self, groups: NDArray[np.int64]) -> Observations:
        """The observations of some groups only."""

    def renumbered(self, number: NDArray[np.int32]) -> Observations:
        """The same groups, with a new number for every place."""

    def slopes(self, chances: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The derivative of the log-likelihood at every entry, and the log-likelihood of every group."""

    def expected(
        self, chances: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """The expected number of people of a place with a value: places, values and numbers."""

    def draw(
        self, chances: NDArray[np.float64], random: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Everybody's place, in a fixed order, and a random value for everybody."""


@dataclass(frozen=True, eq=False)
class Grouped:
    """Groups whose values are published: any of the ways to deal them may be the true one."""

    deals: Deals

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return self.deals.n_groups

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each group's entries begin."""
        return self.deals.entries[:-1]

    @property
    def place_of_entry(self) -> NDArray[np.int32]:
        """The place of every entry."""
        return self.deals.place_of_entry

    @property
    def code_of_entry(self) -> NDArray[np.int32]:
        """The value of every entry."""
        return self.deals.code_of_entry

    @property
    def group_of_entry(self) -> NDArray[np.int64]:
        """The group of every entry."""
        return self.deals.group_of_entry

    def people_at(self, n_places: int) -> NDArray[np.float64]:
        """How many people are at every place."""
        return np.bincount(self.deals.place, weights=self.deals.people, minlength=n_places).astype(np.float64)

    def some(self, groups: NDArray[np.int64]) -> Grouped:
        """The observations of some groups only."""
        return Grouped(self.deals.some(groups))

    def renumbered(self, number: NDArray[np.int32]) -> Grouped:
        """The same groups, with a new number for every place."""
        return Grouped(replace(self.deals, place=number[self.deals.place]))

    def slopes(self, chances: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Expected numbers over chances; and the logarithms of permanents."""
        expected, logs = self.deals.expected(chances)
        return expected / np.maximum(chances[self.place_of_entry, self.code_of_entry], _LEAST), logs

    def expected(
        self, chances: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """The expected number of people at every entry."""
        return self.place_of_entry, self.code_of_entry, self.deals.expected(chances)[0]

    def draw(
        self, chances: NDArray[np.float64], random: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Deal the values of every group."""
        return self.deals.place_of_person, self.deals.draw(chances, random)


@dataclass(frozen=True, eq=False)
class Shown:
    """A perturbed sample: a group shows one person's value, which is the true one with the probability ``kept``.

    Otherwise the value shown is any of the domain at random. The others of the group follow the model.
    """

    place: NDArray[np.int32]  # of every group
    code: NDArray[np.int32]  # the value that it shows
    size: NDArray[np.int64]  # its people
    kept: float

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.place)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Every group has one entry."""
        return np.arange(self.n_groups)

    @property
    def place_of_entry(self) -> NDArray[np.int32]:
        """The place of every group."""
        return self.place

    @property
    def code_of_entry(self) -> NDArray[np.int32]:
        """The value that every group shows."""
        return self.code

    @cached_property
    def group_of_entry(self) -> NDArray[np.int64]:
        """The groups in their order."""
        return np.arange(self.n_groups)

    def people_at(self, n_places: int) -> NDArray[np.float64]:
        """The effective number of people at every place: so many unperturbed values would tell as much."""
        return (np.bincount(self.place, minlength=n_places) * self.kept**2).astype(np.float64)

    def some(self, groups: NDArray[np.int64]) -> Shown:
        """The observations of some groups only."""
        return Shown(self.place[groups], self.code[groups], self.size[groups], self.kept)

    def renumbered(self, number: NDArray[np.int32]) -> Shown:
        """The same groups, with a new number for every place."""
        return replace(self, place=number[self.place])

    def slopes(self, chances: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The chance of the shown value: ``kept`` times the true one's, and the same for all from the rest."""
        shown = self.kept * chances[self.place, self.code] + (1 - self.kept) / chances.shape[1]
        return self.kept / shown, np.log(np.maximum(shown, _LEAST))

    def expected(
        self, chances: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """The expected numbers: by Bayes's rule for the person whose value is shown, by the model for the others."""
        n_places, n_values = chances.shape
        amounts = np.zeros((n_places, n_values))
        others = np.bincount(self.place, weights=self.size - 1, minlength=n_places)
        blind = np.bincount(self.place, weights=1 / self._seen(chances), minlength=n_places)
        amounts += chances * (others + (1 - self.kept) / n_values * blind)[:, np.newaxis]
        own = self.kept * chances[self.place, self.code] / self._seen(chances)
        np.add.at(amounts, (self.place, self.code), own)
        place, code = np.nonzero(amounts)
        return place.astype(np.int32), code.astype(np.int32), amounts[place, code]

    def draw(
        self, chances: NDArray[np.float64], random: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Draw whether the shown value is true, and everybody else's by the model."""
        place = np.repeat(self.place, self.size)
        sums = np.cumsum(chances, axis=1)
        numbers = random.random(len(place)) * sums[place, -1]
        drawn = np.zeros(len(place), np.int32)
        for first in range(0, len(place), 1 << 16):
            some = slice(first, first + (1 << 16))
            drawn[some] = (sums[place[some]] < numbers[some, np.newaxis]).sum(axis=1)
        true = random.random(self.n_groups) < self.kept * chances[self.place, self.code] / self._seen(chances)
        first_of_group = np.cumsum(self.size) - self.size
        drawn[first_of_group[true]] = self.code[true]
        return place, np.minimum(drawn, chances.shape[1] - 1)

    def _seen(self, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        seen = self.kept * chances[self.place, self.code] + (1 - self.kept) / chances.shape[1]
        return np.asarray(np.maximum(seen, _LEAST), np.float64)
