# SPDX-License-Identifier: Apache-2.0
"""The perimeter of a group (TRANSPARENT Eq. 4), in whole numbers.

::

    h_p(G) = |G| * sum over attributes i of (range of i in G) / R_i,      R_i the range of i in the whole table

Multiplied by L, the least common multiple of the ranges R_i, it is a whole number: every code gets a *place*, its
position times L / R_i, and ``L * h_p(G)`` is the size of G times the sum of the differences of its extreme places. Ties
between cuts are then decided exactly. An attribute with one value adds 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.microdata import Domain, Microdata

__all__ = ["Places", "exact_positions", "weighted_places"]

_SAFE = 2**62  # sums and products below it fit into 64 bits, with room for one addition


@dataclass(frozen=True, eq=False)
class Places:
    """A place for every code of every attribute; all attributes span the same length, or 0.

    Attributes
    ----------
    tables
        Per attribute, the place of each code: 64-bit integers where all perimeters fit into them, else Python integers.
    fits
        Whether they do.
    """

    tables: tuple[NDArray[Any], ...]
    fits: bool


def weighted_places(table: Microdata) -> Places:
    """Give every code its place.

    >>> import glasshouse as gh
    >>> table = gh.read({"age": [20, 30, 60], "sex": ["F", "M", "F"]}, quasi=["age", "sex"])
    >>> [places.tolist() for places in weighted_places(table).tables]
    [[0, 1, 4], [0, 4]]
    """
    steps = [_whole_steps(exact_positions(column.domain)) for column in table.quasi]
    ranges = [max(places, default=0) for places in steps]
    length = lcm(*(r for r in ranges if r > 0))
    fits = table.n_tuples * len(steps) * length < _SAFE
    kind = np.int64 if fits else object
    weighted = (
        np.array([place * (length // r) if r else 0 for place in places], dtype=kind)
        for places, r in zip(steps, ranges, strict=True)
    )
    return Places(tuple(weighted), fits)


def exact_positions(domain: Domain) -> list[Fraction]:
    """Where each code lies on its attribute's axis, exactly, ascending; a float means the decimal that it prints.

    Categories, and numbers whose declared order is not their own, lie at their ranks; missing lies with the largest.
    """
    values = domain.values.to_pylist()
    if domain.kind in ("integer", "float"):
        places = [Fraction(repr(value)) for value in values]
    elif domain.kind in ("date", "timestamp"):
        places = [Fraction(int(tick)) for tick in domain.ticks]
    else:
        places = [Fraction(rank) for rank in range(len(values))]
    if any(a >= b for a, b in pairwise(places)):
        places = [Fraction(rank) for rank in range(len(values))]
    return places + places[-1:] if domain.missing else places


def _whole_steps(places: list[Fraction]) -> list[int]:
    """The same places counted from the first, in the largest unit that makes them whole.

    Times that are kept in microseconds and told in seconds are counted in seconds: in a smaller unit than need be the
    places of several attributes together soon do not fit into 64 bits.
    """
    unit = lcm(*(place.denominator for place in places))
    whole = [place.numerator * (unit // place.denominator) for place in places]
    common = gcd(*(place - whole[0] for place in whole)) or 1
    return [(place - whole[0]) // common for place in whole]
