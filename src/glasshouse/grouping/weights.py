# SPDX-License-Identifier: Apache-2.0
"""Weights of quasi-identifiers: how much each of them counts in a perimeter, by what questions are expected.

An interval that a question asks for parts a group on an attribute the likelier, the more often questions ask about the
attribute and the wider the group is there: a sum of widths, each times how often its attribute is asked about, counts
the groups that an expected question parts. Weights are public: they must not be chosen by a look at sensitive values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.errors import ParameterError, SchemaError
from glasshouse.grouping.perimeter import Places
from glasshouse.principles.parameters import Exact, fraction, plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from glasshouse.microdata import Microdata

    Weights: TypeAlias = Mapping[str, Exact] | Iterable[tuple[str, Exact]] | str

__all__ = ["multipliers", "read_weights", "weigh"]

_SAFE = 2**62  # sums and products below it fit into 64 bits
_FINEST = 10**6  # digits enough for how often something is asked; and places stay short
_ALLOWED = "names with numbers from 0 on that are not all 0, such as {'age': 3, 'sex': 1} or 'age:3,sex:1'"


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
