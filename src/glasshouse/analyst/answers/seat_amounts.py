# SPDX-License-Identifier: Apache-2.0
"""Amounts of seats: what a person of a seat adds to some totals, by what its cells say of quasi-identifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.release.contents import Seats
    from glasshouse.supports.evidence import Evidence, Weight
    from glasshouse.supports.value_sets import ValueSet

    Term = Mapping[str, ValueSet]
    Powers = tuple[NDArray[np.float64], ...]
    Mixed = tuple[NDArray[np.float64], NDArray[np.float64]]

__all__ = ["counted_once", "mixed_amounts", "powers_of"]

_HIDDEN: Final = 3  # the place of the variance of a weight's hidden part beside its share, mean and mean square


def powers_of(
    evidence: Evidence, seats: Seats, name: str, values: ValueSet, weight: Weight | None, *, summed: bool
) -> Powers:
    """How likely a column of every seat is in a set; and if it is added up, its mean and mean square there.

    Of the weight there is a fourth, the variance of its hidden part.
    """
    share = evidence.shares(seats, name, values)
    if weight is not None and name == weight.name:
        return share, *evidence.moments(seats, name, values), evidence.spreads(seats, weight, values)
    return (share, *evidence.moments(seats, name, values)) if summed else (share,)


def mixed_amounts(
    powers: Mapping[str, Powers], columns: Sequence[str | None], weight: str | None, n_seats: int, *, hidden: bool
) -> Mixed:
    """Mean amounts of a seat's people by total, and of the products of two of them.

    A total adds up one column, or counts (None). Where there is a weight, amounts are times the weight; with ``hidden``
    they are times the variance of its hidden part, once.
    """

    def mixed(*names: str | None) -> NDArray[np.float64]:
        found = np.ones(n_seats)
        for name, own in powers.items():
            power = names.count(name) if name != weight else _HIDDEN if hidden else len(names)
            found = found * own[power]
        return found

    first = np.stack([mixed(name) for name in columns])
    return first, np.stack([np.stack([mixed(one, other) for other in columns]) for one in columns])


def counted_once(terms: Sequence[Term], divided: Collection[str], amounts: Callable[[Term], Mixed]) -> list[Mixed]:
    """The ``amounts`` of every term, where people who may be of several terms are counted for the first of them.

    Of ``divided`` columns it is not known which values exist. Each of two sets may be all of a cell, even if they have
    no value in common. So terms that differ in these columns alone count together no more than what they share.
    """
    found = []
    left: dict[frozenset[tuple[str, ValueSet]], Mixed] = {}
    for term in terms:
        mean, product = amounts(term)
        shared = {name: values for name, values in term.items() if name not in divided}
        if len(shared) < len(term):
            key = frozenset(shared.items())
            rest = left[key] if key in left else amounts(shared)
            mean, product = np.minimum(mean, rest[0]), np.minimum(product, rest[1])
            left[key] = rest[0] - mean, rest[1] - product
        found.append((mean, product))
    return found
