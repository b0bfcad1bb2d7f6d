# SPDX-License-Identifier: Apache-2.0
"""Presence: of people who are published with the same cells, the share that had not left by an edition.

Who left is told on the side of the people only: so many of those who show these cells. Which of them, and with which
values, is not told, and leaving does not depend on values. So of the n people of a place, of whom a share w stayed,
each counts with w. With ``T`` what all of them add to a total, and ``S`` the sum of the squares of what each adds, the
total of those who stayed has the mean ``w T``, and besides the variance of that

    w (1 - w) n / (n - 1)  (S - T^2 / n)

at most, for it is not known who stayed: n w people are drawn without replacement. Where all of a place count alike, as
when people are counted by what is published of them, nothing is uncertain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.cells import quoted
from glasshouse.release.contents import left_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.analyst.answers.estimates import Amounts, Summed
    from glasshouse.population.points import Points
    from glasshouse.release import Release
    from glasshouse.release.contents import Seats

__all__ = ["Presence"]


@dataclass(frozen=True, eq=False)
class Presence:
    """The share of the people of every seat who had not left."""

    seats: Seats
    share: NDArray[np.float64]  # of every seat: that of its place

    @classmethod
    def of(cls, release: Release, seats: Seats, labels: tuple[int | str, ...]) -> Presence | None:
        """The shares of people still there after some editions, which are given by label; None if nobody left."""
        gone = left_by(release, seats, labels)
        return cls(seats, 1.0 - gone / _people(seats)) if gone.any() else None

    def of_points(self, points: Points) -> NDArray[np.float64]:
        """The shares of points, where quasi-identifiers are published exactly."""
        order = [points.names.index(name) for name in self.seats.quasi]
        texts = [[quoted(value) for value in points.values[i]] for i in order]
        place = self.seats.places_of(texts, [points.codes[i] for i in order])
        by_place = np.ones(int(self.seats.place.max()) + 2)  # the last is for places that nobody is at
        by_place[self.seats.place] = self.share
        return by_place[place]

    def spread(
        self,
        some: NDArray[np.int64],
        group: NDArray[np.int64],
        sizes: NDArray[np.int64],
        summed: Summed,
        whole: Amounts,
    ) -> NDArray[np.float64]:
        """How uncertain totals are because it is not known who stayed (totals x totals).

        Of ``some`` seats, their groups with their sizes, and ``whole``, what people add if everybody stayed.
        """
        size = np.maximum(sizes, 1).astype(np.float64)[group]
        count = self.seats.count[some].astype(np.float64)
        once, twice = summed.once[:, :, group], summed.twice[:, :, :, group]
        each = (once * whole.mean).sum(axis=1) / size * count  # totals x seats
        squares = (twice * whole.product).sum(axis=2) / size * count
        places, number = np.unique(self.seats.place[some], return_inverse=True)
        number = number.reshape(-1)
        share, n = np.ones(len(places)), np.ones(len(places))
        share[number], n[number] = self.share[some], _people(self.seats)[some]

        def by_place(values: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.bincount(number, weights=values, minlength=len(places)).astype(np.float64)

        totals = np.stack([by_place(own) for own in each])
        weight = share * (1.0 - share) * n / np.maximum(n - 1.0, 1.0)
        return np.array(
            [
                [
                    float((weight * (by_place(squares[x, y]) - totals[x] * totals[y] / n)).sum())
                    for y in range(len(totals))
                ]
                for x in range(len(totals))
            ]
        )


def _people(seats: Seats) -> NDArray[np.int64]:
    """How many people are at the place of every seat."""
    return np.bincount(seats.place, weights=seats.count).astype(np.int64)[seats.place]
