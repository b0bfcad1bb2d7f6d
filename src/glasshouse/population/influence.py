# SPDX-License-Identifier: Apache-2.0
"""Influence: how much each quasi-identifier says about the sensitive column, according to the learned model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from glasshouse.population.population import Population

__all__ = ["Influence", "influences_of"]


@dataclass(frozen=True)
class Influence:
    """How much one quasi-identifier says about the sensitive column.

    Attributes
    ----------
    name
        The quasi-identifier.
    factor
        By how much it raises or lowers the chance of a value, for a typical person and value; 1 if it tells nothing.
        What it tells together with others is counted for each of them.
    determined
        How many weights of the model that look at it are determined by the release, and not by the ridge that holds
        them back.
    """

    name: str
    factor: float
    determined: float


def influences_of(population: Population) -> tuple[Influence, ...]:
    """The influence of every quasi-identifier, the largest first."""
    regression, fitted = population.regression, population.fitted
    people = np.bincount(population.expected().point, population.expected().amount, population.points.n_points)
    people, base = people / people.sum(), np.exp(regression.base)
    found = []
    for i, name in enumerate(population.points.names):
        own = np.array([i in block.attributes for block in regression.features.blocks], bool)
        weights = np.where(own[regression.block_of_level][:, np.newaxis], fitted.weights, 0.0)
        added = np.asarray(regression.features.matrix @ weights)  # to the logarithms of chances
        added -= people @ added
        added -= (added @ base)[:, np.newaxis]  # the same for all values moves no chance
        factor = float(np.exp(np.sqrt(people @ (added**2 @ base))))
        found.append(Influence(name, factor, float(np.maximum(population.determined, 0.0)[own].sum())))
    return tuple(sorted(found, key=lambda influence: -influence.factor))
