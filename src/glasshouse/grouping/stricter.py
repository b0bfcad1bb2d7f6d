# SPDX-License-Identifier: Apache-2.0
"""Running a method at a larger l than was asked for, so that what its theorem allows stays within what was asked."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import count
from math import ceil
from typing import Any

from glasshouse.principles.requirement import Requirement

__all__ = ["at_ell", "times_e"]


def at_ell(requirement: Requirement, ell: int) -> Requirement:
    """Give the same requirement with another l; for one principle that has an l, of one column.

    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles import LDiversity
    >>> at_ell(Requirement.of(LDiversity(ell=2), examples.transparent_t1()), 3).parts[0].principle
    LDiversity(ell=3)
    """
    (part,) = requirement.parts
    principle: Any = replace(part.principle, ell=ell)  # type: ignore[call-arg]
    domain = None if part.column is None else part.column.domain
    return Requirement((replace(part, principle=principle, bound=principle.bind(part.whole, domain)),))


def times_e(ell: int) -> int:
    """Return the least integer that is at least e times ``ell``, exactly.

    >>> [times_e(ell) for ell in (2, 3, 4, 8)]
    [6, 9, 11, 22]
    """
    low, term = Fraction(0), Fraction(1)
    for k in count(1):  # e = 1 + 1 + 1/2! + 1/3! + ...; from 1/k! on, all terms together are below 2/k!
        low += term
        term /= k
        if ceil(low * ell) == ceil((low + 2 * term) * ell):
            return ceil(low * ell)
    raise AssertionError("e is irrational")
