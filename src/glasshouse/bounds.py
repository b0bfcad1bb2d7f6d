# SPDX-License-Identifier: Apache-2.0
"""Bounds: how long a number, how deep a nesting and how long a list may be, checked before anything is computed.

Numbers and lists reach Glasshouse from recipes in packages, from policies, from the command line and from programs. A
short text such as ``1e-99999999`` stands for a number whose digits would fill the memory. So numbers
are read, and plain data are checked, by the functions of this file everywhere.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

__all__ = ["MOST_DIGITS", "MOST_ITEMS", "MOST_LEVELS", "MOST_WHOLE", "OutOfBounds", "exact", "is_bounded", "whole"]

MOST_DIGITS: Final = 100
"""Digits of the numerator, and of the denominator, of an exact number."""

MOST_WHOLE: Final = 2**31 - 1
"The largest parameter that counts people, values or rounds: rows are numbered in 32 bits."

MOST_LEVELS: Final = 20
"""How deep plain data may be nested."""

MOST_ITEMS: Final = 100_000
"""How many entries plain data may have, in all its lists and objects together."""

_LARGEST = 10**MOST_DIGITS
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE](?P<exponent>[-+]?[0-9]+)|/0*[1-9][0-9]*)?")
_MOST_CHARACTERS = 4 * MOST_DIGITS
_MOST_EXPONENT = 4  # characters: enough for every exponent that a float has


class OutOfBounds(ValueError):
    """The error for a number with more digits than anything is computed with."""


def exact(value: object) -> Fraction:
    """Read a number exactly; a float means the number that it prints.

    Raises `TypeError` or `ValueError` for what is no finite number, and `OutOfBounds` for too many digits.

    >>> exact(0.2), exact("1/3"), exact(" 1e-3 ")
    (Fraction(1, 5), Fraction(1, 3), Fraction(1, 1000))
    >>> exact("1e-99999999")
    Traceback (most recent call last):
    glasshouse.bounds.OutOfBounds: a number of more than 100 digits
    """
    if isinstance(value, bool):
        raise TypeError("true and false are not numbers")
    if isinstance(value, float | Decimal):
        value = repr(float(value)) if isinstance(value, float) else str(value)
    if isinstance(value, str):
        text = value.strip()
        found = _NUMBER.fullmatch(text)
        if found is None:
            raise ValueError("not a number")
        if len(text) > _MOST_CHARACTERS or len(found["exponent"] or "") > _MOST_EXPONENT:
            raise OutOfBounds(f"a number of more than {MOST_DIGITS} digits")
        number = Fraction(text)
    else:
        number = value if isinstance(value, Fraction) else Fraction(operator.index(value))  # type: ignore[arg-type]
    if max(abs(number.numerator), number.denominator) > _LARGEST:
        raise OutOfBounds(f"a number of more than {MOST_DIGITS} digits")
    return number


def whole(value: object) -> int:
    """Read a whole number; ``True`` and texts are not whole numbers.

    Raises `TypeError` for what is no whole number, and `OutOfBounds` for one beyond `MOST_WHOLE`.

    >>> whole(5)
    5
    """
    if isinstance(value, bool):
        raise TypeError("true and false are not numbers")
    number = operator.index(value)  # type: ignore[arg-type]
    if abs(number) > MOST_WHOLE:
        raise OutOfBounds(f"a whole number above {MOST_WHOLE} or below -{MOST_WHOLE}")
    return number


def is_bounded(data: Any, *, finite: bool = True) -> bool:
    """Whether plain data are shallow, have few enough entries, and hold no number with too many digits.

    Nor do they hold numbers that are not finite, unless ``finite`` is false.

    >>> is_bounded({"name": "refined", "coarse": {"name": "mirror"}}), is_bounded([[[[]]]] * 200_000), is_bounded(1e999)
    (True, False, False)
    """
    waiting, n_items = [(data, 0)], 0
    while waiting:
        value, depth = waiting.pop()
        if finite and isinstance(value, float) and not math.isfinite(value):
            return False
        if isinstance(value, int) and abs(value) > _LARGEST:
            return False
        inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
        n_items += len(inner)
        if depth > MOST_LEVELS or n_items > MOST_ITEMS:
            return False
        waiting += [(item, depth + 1) for item in inner]
    return True
