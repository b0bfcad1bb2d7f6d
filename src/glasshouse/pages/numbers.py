# SPDX-License-Identifier: Apache-2.0
"""Numbers: how they are written for readers, in the same way on every page."""

from __future__ import annotations

__all__ = ["number", "percent"]


def number(value: float | None) -> str:
    """Write a number readably: with three significant digits, and all digits before the point.

    >>> number(0.02346), number(7.0), number(12_345.6), number(None)
    ('0.0235', '7', '12,346', '-')
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def percent(share: float | None) -> str:
    """Write a share in percent, with one more digit if it is small.

    >>> percent(0.0123), percent(0.123), percent(None)
    ('1.23%', '12.3%', 'not defined')
    """
    if share is None:
        return "not defined"
    return f"{share:.2%}" if share < 0.1 else f"{share:.1%}"
