# SPDX-License-Identifier: Apache-2.0
"""Reconstruction: how classes are distributed among records whose sensitive values were perturbed.

A sensitive value is retained with probability p, and else is one of the domain's values at random (CORRUPTION IV, P2).
Let a class have the share s of the domain's values, and let ``O`` of a total weight ``W`` of records *show* the class.
Then ``E[O] = p T + (1 - p) s W``, where T is the weight of the records whose *true* value is in the class, and

    T  is estimated without bias by  (O - (1 - p) s W) / p.                                                 (inverting)

The estimates add up to W, and grouping values into classes before or after makes no difference. They have p times the
sharpness of plain counts: a share in n records has the standard error ``sqrt(q (1 - q) / n) / p``, where q is the share
that shows the class. So n records say about as much as ``p^2 n`` unperturbed ones: their *information*.

Being sharp in the mean, they can be negative in the case. The most likely distribution cannot: among all t with
``t >= 0`` and sum 1 it maximises ``sum O log(p t + (1 - p) s)``. Write ``q = p t + a`` and ``a = (1 - p) s``; the
conditions of Kuhn and Tucker give ``q = max(a, O / lambda)``. Hence: classes that come out negative get 0, the others
share what is left in proportion to what they *show*, and so on until none is negative. This ends after at most as many
rounds as there are classes, with the exact maximum. Where nothing is negative this is inverting; with p = 1, counting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["entropy", "gini", "inverted", "likeliest"]


def inverted(shown: NDArray[np.float64], p: float, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Estimate true class weights without bias; some may be negative.

    ``shown`` are weights of the records that show each class, classes in the last axis; the retention p is above 0;
    ``shares`` tells which share of the sensitive domain each class has.

    >>> inverted(np.array([40.0, 60.0]), 0.5, np.array([0.5, 0.5])).tolist()
    [30.0, 70.0]
    """
    weight = shown.sum(axis=-1, keepdims=True)
    return np.asarray((shown - (1 - p) * shares * weight) / p)


def likeliest(shown: NDArray[np.float64], p: float, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The most likely distribution of the true classes; arguments as for `inverted`, weights not all 0.

    >>> thirds = np.full(3, 1 / 3)
    >>> likeliest(np.array([40.0, 40.0, 20.0]), 0.5, thirds).round(3).tolist()
    [0.467, 0.467, 0.067]
    >>> likeliest(np.array([60.0, 35.0, 5.0]), 0.5, thirds).round(3).tolist()
    [0.719, 0.281, 0.0]
    """
    least = (1 - p) * shares
    if p == 1:
        return np.asarray(shown / shown.sum(axis=-1, keepdims=True))
    absent = np.zeros(shown.shape, bool)
    for _ in range(shown.shape[-1]):
        left = 1 - np.where(absent, least, 0.0).sum(axis=-1, keepdims=True)
        weight = np.where(absent, 0.0, shown).sum(axis=-1, keepdims=True)
        q = np.where(absent, least, shown * (left / weight))
        more = absent | (q < least)
        if (more == absent).all():
            break
        absent = more
    found = np.where(absent, 0.0, q - least)
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def entropy(distribution: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entropy in bits, over the last axis.

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    logs = np.log2(distribution, out=np.zeros_like(distribution), where=distribution > 0)
    return np.asarray(0.0 - (distribution * logs).sum(axis=-1))


def gini(distribution: NDArray[np.float64]) -> NDArray[np.float64]:
    """The Gini impurity over the last axis: the probability that two draws differ.

    >>> gini(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [0.5, 0.0]
    """
    return np.asarray(1.0 - (distribution**2).sum(axis=-1))
