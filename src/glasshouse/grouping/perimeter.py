# SPDX-License-Identifier: Apache-2.0
"""The perimeter of a group (TRANSPARENT Eq. 4), in whole numbers.

::

    h_p(G) = |G| * sum over attributes i of (range of i in G) / R_i,      R_i the range of i in the whole table

Multiplied by L, the least common multiple of the ranges R_i, it is a whole number: every code gets a *place*, its
position times L / R_i, and ``L * h_p(G)`` is the size of G times the sum of the differences of its extreme places. Ties
between cuts are then decided exactly. An attribute with one value adds 0.

Attributes may have *weights*: how much each of them counts, by what questions are expected. An interval that a question
asks for parts a group on an attribute the likelier, the more often questions ask about the attribute and the wider the
group is there: a sum of widths, each times how often its attribute is asked about, counts the groups that an expected
question parts. Weights are public: they must not be chosen by a look at sensitive values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.errors import ParameterError, SchemaError
from glasshouse.principles.parameters import Exact, fraction, plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from glasshouse.microdata import Domain, Microdata

    Weights: TypeAlias = Mapping[str, Exact] | Iterable[tuple[str, Exact]] | str

__all__ = ["Places", "exact_positions", "multipliers", "read_weights", "weigh", "weighted_places"]

_SAFE = 2**62  # sums and products below it fit into 64 bits, with room for one addition
_FINEST = 10**6  # digits enough for how often something is asked; and places stay short
_ALLOWED = "names with numbers from 0 on that are not all 0, such as {'age': 3, 'sex': 1} or 'age:3,sex:1'"


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
    ranks = list(range(len(domain.values)))
    numbers: list[Any] = ranks
    if domain.kind in ("integer", "float"):
        numbers = domain.values.to_pylist()
    elif domain.kind in ("date", "timestamp"):
        numbers = domain.ticks.tolist()
    if any(a >= b for a, b in pairwise(numbers)):
        numbers = ranks
    places = [Fraction(number if isinstance(number, int) else repr(number)) for number in numbers]
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


def read_weights(owner: str, given: Weights) -> tuple[tuple[str, int | str], ...]:
    """Check weights, given as a mapping, as pairs or as text: pairs of a name and an exact number, by name.

    >>> read_weights("Mirror", {"sex": 0.5, "age": 3}), read_weights("Mirror", "age:3, sex:1/2")
    ((('age', 3), ('sex', '0.5')), (('age', 3), ('sex', '0.5')))
    """
    if isinstance(given, str):
        texts = (text.rpartition(":") for text in given.split(",") if text.strip())
        pairs: list[object] = [(name.strip(), number.strip()) for name, _, number in texts]
    elif isinstance(given, Mapping):
        pairs = list(given.items())
    elif isinstance(given, Iterable):
        pairs = list(given)
    else:
        raise ParameterError(owner, "weights", _ALLOWED, given)
    found: dict[str, Fraction] = {}
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ParameterError(owner, "weights", _ALLOWED, given)
        name, number = pair
        if not isinstance(name, str) or not name or name in found:
            raise ParameterError(owner, "weights", _ALLOWED, given)
        found[name] = fraction(owner, "weights", number, least=0)
        if max(found[name].numerator, found[name].denominator) > _FINEST:
            raise ParameterError(owner, "weights", "numbers with at most six digits", given)
    if found and not any(found.values()):
        raise ParameterError(owner, "weights", _ALLOWED, given)
    return tuple((name, plain(found[name])) for name in sorted(found))


def multipliers(weights: Weights, names: Sequence[str]) -> list[int]:
    """The weights of these attributes as whole numbers without a common divisor; all 1 if there are no weights.

    >>> multipliers((("age", "0.5"), ("sex", "0.75")), ["age", "zipcode", "sex"])
    [2, 0, 3]
    """
    given = {name: Fraction(number) for name, number in read_weights("weights", weights)}
    if not given:
        return [1] * len(names)
    for name in given:
        if name not in names:
            raise SchemaError.unknown(name, names, role="weights")
    shares = [given.get(name, Fraction(0)) for name in names]
    unit = lcm(*(share.denominator for share in shares))
    whole = [int(share * unit) for share in shares]
    return [number // gcd(*whole) for number in whole]


def weigh(places: Places, by: Sequence[int], table: Microdata) -> Places:
    """Stretch the places of every attribute by its multiplier, in Python's integers where 64 bits are too few."""
    if all(number == 1 for number in by):
        return places
    longest = max(int(codes.max(initial=0)) for codes in places.tables) * max(by)
    fits = table.n_tuples * len(by) * longest < _SAFE
    kind = np.int64 if fits else object
    return Places(
        tuple(
            np.array([int(place) * number for place in codes], dtype=kind)
            for codes, number in zip(places.tables, by, strict=True)
        ),
        fits,
    )
