# SPDX-License-Identifier: Apache-2.0
"""Exact numbers: the parameters of principles, and decisions about many groups at once, in integers.

A share such as ``alpha`` or ``t`` decides whether a group is safe, so it is a fraction, never a float. A float that is
given means the number that it prints: ``0.2`` is one fifth, not its nearest binary neighbour. Products never overflow,
and reductions mind empty groups.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from glasshouse import bounds
from glasshouse.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LARGEST", "Exact", "at_most", "exact_share", "fraction", "in_percent", "integer", "per_group", "plain"]

Exact: TypeAlias = int | float | str | Decimal | Fraction
"""What may be given where an exact number is wanted."""

LARGEST = 2**63 - 1
"""The largest number that an array of integers holds."""


def integer(owner: str, name: str, value: object, *, least: int) -> int:
    """Check a whole number; ``True`` is not accepted.

    >>> integer("LDiversity", "ell", 1, least=2)
    Traceback (most recent call last):
    glasshouse.errors.ParameterError: LDiversity: ell must be an integer >= 2, got 1
    """
    allowed = f"an integer >= {least}"
    try:
        number = bounds.whole(value)
    except TypeError:
        raise ParameterError(owner, name, allowed, value) from None
    except bounds.OutOfBounds:
        raise ParameterError(owner, name, f"{allowed} and at most {bounds.MOST_WHOLE:,}", value) from None
    if number < least:
        raise ParameterError(owner, name, allowed, value)
    return number


def fraction(
    owner: str,
    name: str,
    value: object,
    *,
    above: int | None = None,
    least: int | None = None,
    below: int | None = None,
    most: int | None = None,
) -> Fraction:
    """Read a number exactly and check its range.

    >>> fraction("TCloseness", "t", 0.2, least=0), fraction("TCloseness", "t", "1/3", least=0)
    (Fraction(1, 5), Fraction(1, 3))
    """
    ends = [("above", above), (">=", least), ("below", below)]
    allowed = "a number " + " and ".join(f"{word} {bound}" for word, bound in ends if bound is not None)
    if most is not None:
        allowed = f"{allowed} and at most {most}" if least is None else f"a number from {least} to {most}"
    try:
        number = bounds.exact(value)
    except bounds.OutOfBounds:
        raise ParameterError(owner, name, f"{allowed}, of at most {bounds.MOST_DIGITS} digits", value) from None
    except (TypeError, ValueError):
        raise ParameterError(owner, name, allowed, value) from None
    too_small = (above is not None and number <= above) or (least is not None and number < least)
    too_large = (below is not None and number >= below) or (most is not None and number > most)
    if too_small or too_large:
        raise ParameterError(owner, name, allowed, value)
    return number


def exact_share(share: Any) -> Fraction:
    """Read the share of records that may be dropped; a float means its shortest decimal text.

    >>> exact_share(0.1)
    Fraction(1, 10)
    """
    try:
        exact = bounds.exact(share)
    except (TypeError, ValueError):
        exact = Fraction(-1)
    if not 0 <= exact < 1:
        raise ParameterError("publish", "suppress", "a share of at least 0 and less than 1", share)
    return exact


def plain(number: Fraction) -> int | str:
    """Give a non-negative fraction as an integer or as the shortest exact text, for JSON, messages and `repr`.

    >>> plain(Fraction(3)), plain(Fraction(1, 8)), plain(Fraction(1, 3))
    (3, '0.125', '1/3')
    """
    if number.denominator == 1:
        return number.numerator
    for places in range(1, 19):
        if 10**places % number.denominator == 0:
            digits = str(number.numerator * (10**places // number.denominator)).rjust(places + 1, "0")
            return f"{digits[:-places]}.{digits[-places:]}"
    return str(number)


def in_percent(share: Fraction) -> str:
    """Write a share in percent, for people.

    >>> in_percent(Fraction(1, 5)), in_percent(Fraction(1, 3)), in_percent(Fraction(1, 2000))
    ('20 %', '33.3 %', '0.05 %')
    """
    return f"{float(share) * 100:.3g} %"


def at_most(
    left: NDArray[np.int64], left_factor: int, right: NDArray[np.int64], right_factor: int
) -> NDArray[np.bool_]:
    """Compare ``left * left_factor <= right * right_factor`` group by group, exactly; nothing may be negative.

    Groups whose products might not fit 64 bits are compared in Python's integers.

    >>> at_most(np.array([1, 2**62]), 3, np.array([3, 2**62]), 2).tolist()
    [True, False]
    """
    holds = np.zeros(len(left), np.bool_)
    fits = holds.copy()
    if max(left_factor, right_factor) <= LARGEST:
        fits = (left <= LARGEST // max(left_factor, 1)) & (right <= LARGEST // max(right_factor, 1))
        if fits.all():
            return np.asarray(left * left_factor <= right * right_factor)
        holds[fits] = left[fits] * left_factor <= right[fits] * right_factor
    large = np.flatnonzero(~fits)
    pairs = zip(left[large].tolist(), right[large].tolist(), strict=True)
    holds[large] = [a * left_factor <= b * right_factor for a, b in pairs]
    return holds


def per_group(reduction: np.ufunc, entries: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[Any]:
    """Reduce the entries of each group to one number; an empty group gets 0.

    >>> per_group(np.add, np.array([1, 2, 4]), np.array([0, 2, 2, 3])).tolist()
    [3, 0, 4]
    """
    reduced = np.zeros(len(offsets) - 1, entries.dtype)
    filled = np.diff(offsets) > 0
    if filled.any():
        # an empty group starts where the next one does: without it the remaining starts bound the right entries
        reduced[filled] = reduction.reduceat(entries, offsets[:-1][filled])
    return reduced
