# SPDX-License-Identifier: Apache-2.0
"""Combinations: blocks of two and three attributes, beginning with the most informative attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.population.features import Attribute
    from glasshouse.population.regression import Regression

__all__ = ["with_combinations"]

_RIDGES: Final = (0.1, 5.0)  # of a first look at single attributes
_WORK: Final = 12_000_000  # points x values x blocks
_LEAST: Final = 6  # blocks of several attributes


def with_combinations(
    regression: Regression,
    sample: Regression,
    attributes: Sequence[Attribute],
    people: NDArray[np.float64],
    order: int,
) -> Regression:
    """Add blocks of up to ``order`` attributes, as many as time allows.

    What attributes tell by themselves is seen by a fit to ``sample``, the same model of some groups. ``people`` is how
    many people are at every point.
    """
    features = regression.features
    weights = sample.fit(np.array([_RIDGES[block.order] for block in features.blocks]), tolerance=2.0)
    told = np.asarray(features.transposed @ people) * (weights**2 @ np.exp(regression.base))
    strengths = np.zeros(len(attributes))
    for block, start in zip(features.blocks, features.starts, strict=False):
        for i in block.attributes:
            strengths[i] += float(told[start : start + block.n_levels].sum())
    most = _WORK // (sample.features.codes.shape[1] * len(regression.base)) - len(features.blocks)
    combined = features.combined(attributes, people, strengths, order=order, most=max(most, _LEAST))
    return replace(regression, features=combined)
