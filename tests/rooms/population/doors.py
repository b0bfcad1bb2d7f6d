# SPDX-License-Identifier: Apache-2.0
"""Small groups with known chances, as the package and as the slow twin take them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from glasshouse.population.deals import Deals
from tests.twins.population import Chances


@dataclass(frozen=True)
class Tiny:
    """Some groups: for each the places of its people and its values; and the chances at places, as whole parts."""

    groups: list[tuple[list[int], list[int]]]
    parts: NDArray[np.int64]  # places x values

    @classmethod
    def random(cls, seed: int, *, n_groups: int, most: int, n_values: int = 4, n_places: int = 5) -> Tiny:
        """Groups of 1 to ``most`` people; equal people and equal values are frequent."""
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, most + 1, n_groups).tolist()
        groups = [(rng.integers(0, n_places, n).tolist(), rng.integers(0, n_values, n).tolist()) for n in sizes]
        return cls(groups, rng.integers(1, 30, (n_places, n_values)))

    @property
    def chances(self) -> NDArray[np.float64]:
        return self.parts / self.parts.sum(axis=1, keepdims=True)

    def fractions(self, place: int) -> Chances:
        whole = int(self.parts[place].sum())
        return {str(v): Fraction(part, whole) for v, part in enumerate(self.parts[place].tolist())}

    @property
    def deals(self) -> Deals:
        group, place, people = [], [], []
        offsets, codes, counts = [0], [], []
        for g, (places, values) in enumerate(self.groups):
            for p, n in sorted(Counter(places).items()):
                group.append(g)
                place.append(p)
                people.append(n)
            for v, n in sorted(Counter(values).items()):
                codes.append(v)
                counts.append(n)
            offsets.append(len(codes))
        order = np.argsort(place, kind="stable")  # the groups' seats come mixed; `Deals.of` sorts them
        seats = [np.array(column)[order] for column in (group, place, people)]
        return Deals.of(seats[0], seats[1], seats[2], (np.array(offsets), np.array(codes), np.array(counts)))
