# SPDX-License-Identifier: Apache-2.0
"""Sample probabilities: those for people after a perturbed sample, if the chances of their values are known.

CORRUPTION Equations 9 to 19 as `glasshouse.adversary.perturbed_sample` has them, with P(v | q) of the model as the
prior of every person. Nobody is corrupted. A person fits one published record at most. It is the person's own with the
probability h, and then Bayes's rule with the known channel says how likely each value is; otherwise the prior does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshouse.adversary.knowledge import key_of
from glasshouse.adversary.learning.group_beliefs import LearnedBeliefs
from glasshouse.adversary.perturbed_sample import PerturbedSample
from glasshouse.adversary.posterior import Beliefs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.adversary.task import Task
    from glasshouse.population.population import Population
    from glasshouse.release.contents import Seats

__all__ = ["sample_beliefs"]


def sample_beliefs(
    task: Task, seats: Seats, population: Population, chances: NDArray[np.float64], half: NDArray[np.bool_]
) -> LearnedBeliefs:
    """Compute probabilities from the model and the published record; parameters as for `group_beliefs`."""
    sample, kinds = PerturbedSample.of(task), task.kinds
    place = {key_of(value): i for i, value in enumerate(population.values)}
    shown = np.array([place[key_of(value)] for value in sample.values], np.int64)[sample.observed]
    n_kinds, n_values = chances.shape
    p = float(sample.p)
    u = (1 - p) / n_values
    number = sample.crucial[kinds.examples]
    fits = np.flatnonzero(number >= 0)
    tuples, prior = number[fits], chances[fits]
    own = p * prior[np.arange(len(fits)), shown[tuples]] + u  # Eq. 15
    n_tuples = len(sample.size)
    candidates = np.bincount(tuples, weights=kinds.n_alike[fits], minlength=n_tuples)[tuples]
    together = np.bincount(tuples, weights=kinds.n_alike[fits] * own, minlength=n_tuples)[tuples]
    size = sample.size[tuples]
    seated = np.minimum(size, candidates)
    at_places = population.regression.chances(population.fitted.weights)[population.points.place_of_seat]
    unseen = (size - seated) * (p * at_places[tuples, shown[tuples]] + u)
    g = np.divide(seated - 1, candidates - 1, out=np.zeros(len(fits)), where=candidates > 1)  # Eq. 13
    if_present = own + g * (together - own) + unseen  # Eq. 17
    beforehand = seated / candidates
    presence = np.zeros(n_kinds)
    presence[fits] = np.minimum(1.0, beforehand * if_present / (beforehand * together + unseen))
    h = (own / if_present)[:, np.newaxis]
    at_shown = np.arange(n_values) == shown[tuples][:, np.newaxis]
    updated = prior * np.where(at_shown, p + u, u) / own[:, np.newaxis]
    beliefs = (h * updated + (1 - h) * prior) * presence[fits][:, np.newaxis]  # Eq. 9 and 12
    lengths = np.zeros(n_kinds, np.int64)
    lengths[fits] = n_values
    found = Beliefs(
        np.append(0, np.cumsum(lengths)),
        np.tile(np.arange(n_values, dtype=np.int32), len(fits)),
        beliefs.reshape(-1),
    )
    in_half = (beliefs * half[seats.group[tuples]][:, np.newaxis]).reshape(-1)
    return LearnedBeliefs(found, presence, in_half, sample.notes)
