# SPDX-License-Identifier: Apache-2.0
"""Pages of a Parquet file that any tool may have written: how large the columns become that somebody wants to read.

A reader makes room for a page by what the page says of itself, whatever the footer says. So the headers of all pages of
these columns are read, and nothing is unpacked. Unlike in a release, every way of packing is let through.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from glasshouse.packed.compact_thrift import Damaged, read_struct
from glasshouse.packed.parquet_pages import Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

__all__ = ["Growth", "growth_of"]

_MOST_FOOTER = 64 << 20
_PADDING = 100  # bytes by which an old writer counted columns short
_ROW_GROUPS, _COLUMNS = 4, 1
_OTHER_FILE, _ABOUT = 1, 3
_PATH, _N_VALUES, _PACKED, _DATA, _DICTIONARY = 3, 5, 7, 9, 11
_KIND, _UNPACKED, _SIZE = 1, 2, 3
_DICTIONARY_PAGE = 2
_DETAILS = {0: (5, 1, 2), 3: (8, 1, 4)}  # pages of data: header, number of values, encoding
_SIMPLE = {0, 2, 8}  # encodings in which a text stands as it is, or as its number in a dictionary
_SHARED_PREFIXES = 7  # an encoding in which a text repeats the beginning of the one before


@dataclass(frozen=True, kw_only=True)
class Growth:
    """What the pages say.

    Attributes
    ----------
    n_bytes
        Bytes of all pages.
    simple
        Columns whose texts can be read as numbers into a dictionary.
    longest
        Of the others, how long a text may be that stands in less room than it takes: no longer than its page.
    """

    n_bytes: int
    simple: frozenset[str]
    longest: int


def growth_of(path: Path, columns: Collection[str]) -> Growth:
    """Read the page headers of some columns; `Refused` where they are damaged."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        try:
            return _growth(content, {name.encode() for name in columns})
        except (Damaged, KeyError, TypeError, IndexError, AttributeError):
            raise Refused("its pages are damaged") from None


def _growth(content: Any, columns: Collection[bytes]) -> Growth:
    end = len(content) - 8
    length = int.from_bytes(content[end : end + 4], "little")
    if not 0 < length <= min(_MOST_FOOTER, end - 4):
        raise Damaged
    footer, _ = read_struct(content, end - length, end)
    n_bytes = longest = 0
    complex_: set[bytes] = set()
    for group in footer.get(_ROW_GROUPS, []):
        for chunk in group[_COLUMNS]:
            about = chunk[_ABOUT]
            if about[_PATH][0] not in columns:
                continue
            if _OTHER_FILE in chunk:
                raise Refused("its columns lie in another file")
            found = _Column(content, end - length, about)
            n_bytes += found.n_bytes
            if not found.encodings <= _SIMPLE:
                complex_.add(about[_PATH][0])
                longest = max(longest, found.longest)
    simple = frozenset(name.decode() for name in set(columns) - complex_)
    return Growth(n_bytes=n_bytes, simple=simple, longest=longest)


class _Column:
    """One column of one row group: pages are read until it has all of its values."""

    def __init__(self, content: Any, end: int, about: Mapping[int, Any]) -> None:
        self.n_bytes = self.longest = 0
        self.encodings: set[int] = set()
        start = about[_DATA]
        if 0 < about.get(_DICTIONARY, 0) < start:
            start = about[_DICTIONARY]
        stop = min(start + about[_PACKED] + _PADDING, end)
        n_values = 0
        while n_values < about[_N_VALUES] and 4 <= start < stop:
            page, start = read_struct(content, start, stop)
            if page[_UNPACKED] < 0 or page[_SIZE] < 0:
                raise Damaged
            self.n_bytes += page[_UNPACKED]
            start += page[_SIZE]
            n_values += self._add(page)

    def _add(self, page: Mapping[int, Any]) -> int:
        """Take note of a page; how many values it has."""
        if page[_KIND] == _DICTIONARY_PAGE:
            self.longest = max(self.longest, page[_UNPACKED])
        if page[_KIND] not in _DETAILS:
            return 0
        where, values, encoding = _DETAILS[page[_KIND]]
        self.encodings.add(page[where][encoding])
        if page[where][encoding] == _SHARED_PREFIXES:
            self.longest = max(self.longest, page[_UNPACKED])
        if page[where][values] < 0:
            raise Damaged
        return int(page[where][values])
