# SPDX-License-Identifier: Apache-2.0
"""Notation: amounts and dates that are texts, because they are not written as a file of data writes them.

An amount such as ``1.234,50`` or ``$2,446`` and a date such as ``31.12.1980`` are read as texts, and nobody can say for
certain what ``1,234`` or ``01/02/1980`` means. So nothing is converted here: such columns are only recognised. A
column is one of amounts or dates if at least nine in ten of its different values are, words for a missing value aside.

Not taken for amounts are plain numbers, which may be codes (``250.83``), numbers with leading zeros, and three or more
full groups of three digits (``612 345 678``), which may be telephone numbers or lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.microdata.spelling import MISSING_WORDS, holds_texts, key

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["HOW_AMOUNTS_ARE_WRITTEN", "HOW_DATES_ARE_WRITTEN", "count_amounts", "count_dates"]

HOW_AMOUNTS_ARE_WRITTEN = "write plain numbers, as in 1234.50"
"""What to do about amounts that are read as texts."""

HOW_DATES_ARE_WRITTEN = (
    "write each date as in 1980-12-31 (in a text file), or convert the column to a date type (in any other source)"
)
"""What to do about dates that are read as texts."""

_SHARE = 0.9  # of the different values are written so
_SEVERAL = 5  # different values, from which on a column is suspected

# A blank of any width, an apostrophe of any kind, and a minus sign of any kind.
_BLANK = r"(?:[\x20\x09\x{a0}\x{2007}\x{2009}\x{202f}])"
_APOSTROPHE = r"['\x{2019}\x{b4}`]"
_MINUS = r"[\-\x{2013}\x{2212}]"

_SIGN = rf"(?:[+]|{_MINUS})?{_BLANK}?"
_CODES = (
    "EUR|USD|GBP|CHF|JPY|CNY|RMB|SEK|NOK|DKK|ISK|PLN|CZK|HUF|RON|BGN|RSD|UAH|RUB|TRY|ILS|AED|SAR|INR|PKR|IDR|THB|PHP|"
    "SGD|HKD|TWD|KRW|VND|AUD|NZD|CAD|MXN|BRL|ARS|CLP|COP|ZAR|NGN|KES|EGP|MAD|euros?|dollars?"
)
_BEFORE = rf"(?:[A-Z]{{0,3}}\p{{Sc}}|(?i:{_CODES})|(?i:kr|rs|fr|sfr)(?:[.]|{_BLANK}))"
_AFTER = rf"(?:\p{{Sc}}|%|\x{{2030}}|(?i:{_CODES}|kr[.]?|s?fr[.])|z\x{{142}}|K\x{{10d}}|Ft|lei)"
_GROUPED = "|".join(
    (
        r"[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}(?:[.][0-9]*)?",
        r"[1-9][0-9]{0,2}(?:[.][0-9]{3})+,[0-9]*",
        r"[1-9][0-9]{0,2}(?:[.][0-9]{3}){2,}",
        rf"[1-9][0-9]{{0,2}}(?:{_APOSTROPHE}[0-9]{{3}})+(?:[.,][0-9]*)?",
        rf"[1-9][0-9]{{0,2}}(?:{_BLANK}[0-9]{{3}})+(?:[.,][0-9]*)?",
    )
)
_PLAIN = r"(?:0|[1-9][0-9]*)(?:[.][0-9]+)?|[.][0-9]+"
_COMMA = r"(?:0|[1-9][0-9]*)?,[0-9]+"
_NO_CENTS = rf"(?:[.,]{_MINUS}{{1,2}})"  # 1200,- and 1200.--
_ANY = rf"(?:{_GROUPED}|{_COMMA}|{_PLAIN})"


def _whole(pattern: str) -> str:
    return rf"^{_BLANK}*(?:{pattern}){_BLANK}*$"


_NUMBERS = _whole(rf"{_SIGN}(?:{_PLAIN})")
_AMOUNTS = _whole(
    "|".join(
        (
            rf"{_SIGN}(?:{_GROUPED}|{_COMMA}){_MINUS}?",
            rf"{_SIGN}{_ANY}{_NO_CENTS}",
            rf"{_SIGN}{_BEFORE}{_BLANK}*{_SIGN}{_ANY}(?:{_NO_CENTS}|{_BLANK}?[kKmM])?",
            rf"{_SIGN}{_ANY}{_NO_CENTS}?{_BLANK}*{_AFTER}",
            rf"[(](?:{_BEFORE}{_BLANK}*)?{_ANY}[)]",  # negative in bookkeeping
        )
    )
)
_FULL_GROUPS = _whole(rf"[0-9]{{3}}(?:(?:[.,]|{_BLANK})[0-9]{{3}}){{2,}}")

_DAY, _MONTH = "(?:0?[1-9]|[12][0-9]|3[01])", "(?:0?[1-9]|1[0-2])"
_TWO_DAY, _TWO_MONTH = "(?:0[1-9]|[12][0-9]|3[01])", "(?:0[1-9]|1[0-2])"
_YEAR = "(?:1[5-9]|20|21)[0-9]{2}"
_NAME = r"\p{L}{3,10}[.]?"
_TIME = (
    rf"(?:(?:{_BLANK}+|,{_BLANK}*|T)[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]+)?)?"
    rf"(?:{_BLANK}?(?i:[ap][.]?m[.]?|Z|Uhr|UTC|[+\-][0-9]{{2}}:?[0-9]{{2}}))?)?"
)
_DATES = _whole(
    "(?:"
    + "|".join(
        (
            *(rf"{_DAY}{s}{_BLANK}?{_MONTH}{s}{_BLANK}?{_YEAR}" for s in ("[.]", "/", "-")),
            *(rf"{_MONTH}{s}{_DAY}{s}{_YEAR}" for s in ("[.]", "/", "-")),
            *(rf"{_YEAR}{s}{_MONTH}{s}{_DAY}" for s in ("[.]", "/", "-")),
            *(rf"{_TWO_DAY}{s}{_TWO_MONTH}{s}[0-9]{{2}}" for s in ("[.]", "/", "-")),
            rf"{_MONTH}/{_DAY}/[0-9]{{2}}|{_DAY}/{_MONTH}/[0-9]{{2}}",
            rf"{_DAY}[.]?(?:{_BLANK}|-)?{_BLANK}?{_NAME}(?:{_BLANK}|-){_YEAR}",
            rf"{_NAME}{_BLANK}{_DAY}(?:st|nd|rd|th)?,?{_BLANK}{_YEAR}",
        )
    )
    + ")"
    + _TIME
)


def count_amounts(values: pa.Array) -> int:
    """How many of the different values are written amounts, if nearly all of them are; otherwise 0.

    Plain numbers may stand among them, for small amounts need no separator.

    >>> count_amounts(pa.array(["$2,446", "$80", "$95.20", "$1,200", "$7,700", "n/a"]))
    5
    >>> count_amounts(pa.array(["E11.9", "I10", "250.83", "10-20", "01234", "612 345 678"]))
    0
    """
    if not _may_be(values):
        return 0
    amounts = _match(values, _AMOUNTS) & ~_match(values, _FULL_GROUPS)
    return int(amounts.sum()) if _nearly_all(values, amounts, amounts | _match(values, _NUMBERS)) else 0


def count_dates(values: pa.Array) -> int:
    """How many of the different values are written dates, if nearly all of them are; otherwise 0.

    >>> count_dates(pa.array(["31.12.1980", "1.2.1981", "03.04.1975 12:30", "5.5.1955", "6.6.1966", "unknown"]))
    5
    >>> count_dates(pa.array(["1.2.10", "1.2.11", "2.0.1", "1.10.0", "3.1.4", "3.1.5"]))
    0
    """
    if not _may_be(values):
        return 0
    dates = _match(values, _DATES)
    return int(dates.sum()) if _nearly_all(values, dates, dates) else 0


def _may_be(values: pa.Array) -> bool:
    return len(values) >= _SEVERAL and holds_texts(values.type)


def _match(values: pa.Array, pattern: str) -> NDArray[np.bool_]:
    return np.asarray(pc.match_substring_regex(values, pattern))


def _nearly_all(values: pa.Array, found: NDArray[np.bool_], fitting: NDArray[np.bool_]) -> bool:
    """Whether several values were found, and nearly all fit, words for a missing value aside."""
    n_others = len(values) - int(fitting.sum())
    if int(found.sum()) < _SEVERAL:
        return False
    if n_others > len(values) - _SHARE * len(values):
        short = pa.array(~fitting & np.asarray(pc.less_equal(pc.utf8_length(values), 40)))
        n_others -= sum(key(text) in MISSING_WORDS for text in values.filter(short).to_pylist())
    return int(fitting.sum()) >= _SHARE * (int(fitting.sum()) + n_others)
