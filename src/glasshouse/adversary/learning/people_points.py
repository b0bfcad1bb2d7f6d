# SPDX-License-Identifier: Apache-2.0
"""People's points: the model of a population, applied to people whose quasi-identifiers are known exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from glasshouse.errors import InputError
from glasshouse.population.features import Features
from glasshouse.population.regression import Regression
from glasshouse.supports.proportions import Places
from glasshouse.supports.supports import number_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.microdata import Column, Microdata
    from glasshouse.population.population import Population

__all__ = ["regression_of"]

_LINE: Final = ("integer", "float", "date", "timestamp")


def regression_of(population: Population, people: Microdata, rows: NDArray[np.int64]) -> Regression:
    """The same model with these rows of a list as its points, in their order.

    A number or a date that the release does not show counts as the nearest one that it shows. Any other value that it
    does not show has no weights of its own.
    """
    points, own = population.points, population.regression
    codes = [
        _codes(people.column(name), values)[people.column(name).codes[rows]]
        for name, values in zip(points.names, points.values, strict=True)
    ]
    return Regression(Features(own.features.blocks, np.stack(codes).astype(np.int32)), None, own.base, own.seen)


def _codes(column: Column, values: tuple[Any, ...]) -> NDArray[np.int64]:
    """The position of every value of a column among the values of the model; -1 if it is not among them."""
    kind = column.domain.kind
    places = Places(values, kind)
    numbers, numbered = _on_line(values, kind) if kind in _LINE else (np.empty(0), np.empty(0, np.int64))
    found = []
    for value in column.domain.listed():
        place = places.of(value)
        if place is None and value is not None and len(numbers):
            place = _nearest(float(number_of(value, kind)), numbers, numbered)
        found.append(-1 if place is None else place)
    return np.array([*found, -1], np.int64)


def _on_line(values: tuple[Any, ...], kind: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Where the values lie on their line, ascending, and the place of each; nothing if they are on none."""
    try:
        numbers = [(float(number_of(value, kind)), place) for place, value in enumerate(values) if value is not None]
    except (InputError, TypeError, ValueError):  # texts, in place of numbers
        return np.empty(0), np.empty(0, np.int64)
    numbers.sort()
    return np.array([number for number, _ in numbers]), np.array([place for _, place in numbers], np.int64)


def _nearest(number: float, numbers: NDArray[np.float64], numbered: NDArray[np.int64]) -> int:
    after = int(np.searchsorted(numbers, number))
    near = [i for i in (after - 1, after) if 0 <= i < len(numbers)]
    return int(numbered[min(near, key=lambda i: abs(numbers[i] - number))])
