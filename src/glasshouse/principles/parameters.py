# SPDX-License-Identifier: Apache-2.0
"""Parameters of principles: checked when a principle is made, and held exactly.

A share such as ``alpha`` or ``t`` decides whether a group is safe, so it is a fraction, never a float. A float that is
given means the number that it prints: ``0.2`` is one fifth, not its nearest binary neighbour.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from glasshouse import bounds
from glasshouse.errors import ParameterError

__all__ = ["Exact", "fraction", "integer", "plain"]

Exact: TypeAlias = int | float | str | Decimal | Fraction
"""What may be given where an exact number is wanted."""


def integer(owner: str, name: str, value: object, *, least: int) -> int:
    """Check a whole number; ``True`` is none.

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
) -> Fraction:
    """Read a number exactly and check its range.

    >>> fraction("TCloseness", "t", 0.2, least=0), fraction("TCloseness", "t", "1/3", least=0)
    (Fraction(1, 5), Fraction(1, 3))
    """
    ends = [("above", above), (">=", least), ("below", below)]
    allowed = "a number " + " and ".join(f"{word} {bound}" for word, bound in ends if bound is not None)
    try:
        number = bounds.exact(value)
    except bounds.OutOfBounds:
        raise ParameterError(owner, name, f"{allowed}, of at most {bounds.MOST_DIGITS} digits", value) from None
    except (TypeError, ValueError):
        raise ParameterError(owner, name, allowed, value) from None
    too_small = (above is not None and number <= above) or (least is not None and number < least)
    if too_small or (below is not None and number >= below):
        raise ParameterError(owner, name, allowed, value)
    return number


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
