# SPDX-License-Identifier: Apache-2.0
"""Pages: the size of a Parquet file after decompression, determined without decompressing anything.

The footer of a Parquet file says how large its columns are; a hostile one lies. What counts is what every page says of
itself, for a reader makes room for a page by its own header. So all headers are read and nothing else: no page is
unpacked before all are known to be small enough. The footer is read here too, before any library sees it.

`measure` is for the tables of a release. It lets through only what Glasshouse itself writes: flat columns, packed with
zstd or not at all, in encodings whose values take no more room than their pages, their dictionaries and a number for
each row; no encryption, no indexes, no statistics of values, no other files. `growth_of` is for a file that any tool
may have written, and lets every way of packing through.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path


__all__ = ["Damaged", "Growth", "Refused", "Unpacked", "growth_of", "measure", "read_struct"]

# --- Thrift's compact protocol, as far as the footer and the page headers need it -------------------------------------
#
# Read here because what a library makes of a damaged footer may be worse than an error. A struct becomes a dict from
# field numbers to values; whatever is damaged, ends too early or is nested too deeply raises `Damaged`.

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_DEEPEST: Final = 8


class Damaged(Exception):
    """These bytes are not a valid struct."""


def read_struct(content: bytes, start: int, stop: int) -> tuple[dict[int, Any], int]:
    """Read a struct that begins at ``start`` and ends before ``stop``; also where it ends.

    >>> read_struct(bytes([0x15, 0x06, 0x18, 2]) + b"ab" + bytes([0x00]), 0, 7)
    ({1: 3, 2: b'ab'}, 7)
    """
    reader = _Reader(content, start, stop)
    return reader.struct(0), reader.at


class _Reader:
    def __init__(self, content: bytes, start: int, stop: int) -> None:
        self._content = content
        self._stop = stop
        self.at = start

    def struct(self, depth: int) -> dict[int, Any]:
        """Read fields until the struct ends."""
        if depth > _DEEPEST:
            raise Damaged
        fields: dict[int, Any] = {}
        number = 0
        while head := self._take(1)[0]:
            number = number + (head >> 4) if head >> 4 else self._signed()
            if number in fields:
                raise Damaged
            fields[number] = self._value(head & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        match kind:
            case 1 | 2:  # a field's kind is its value
                return kind == _TRUE
            case 3:
                return self._take(1)[0]
            case 4 | 5 | 6:
                return self._signed()
            case 7:
                return self._take(8)
            case 8:
                return self._take(self._unsigned())
            case 9 | 10:
                return self._list(depth + 1)
            case 12:
                return self.struct(depth + 1)
        raise Damaged  # maps are in no Parquet file

    def _list(self, depth: int) -> list[Any]:
        head = self._take(1)[0]
        size, kind = head >> 4, head & 15
        size = self._unsigned() if size == 15 else size
        if depth > _DEEPEST or size > self._stop - self.at:  # every element takes a byte
            raise Damaged
        if kind in (_TRUE, _FALSE):
            return [byte == _TRUE for byte in self._take(size)]
        return [self._value(kind, depth) for _ in range(size)]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._take(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise Damaged

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def _take(self, n: int) -> bytes:
        start, self.at = self.at, self.at + n
        if self.at > self._stop:
            raise Damaged
        return self._content[start : self.at]


_MAGIC: Final = b"PAR1"
_MOST_FOOTER: Final = 2 << 20  # of a table of a release
_MOST_FOREIGN_FOOTER: Final = 64 << 20
_PADDING: Final = 100  # bytes by which an old writer counted columns short

# Numbers of fields, as parquet.thrift gives them: those that are read, and those that may be there.
_FILE = {"schema": 2, "n_rows": 3, "groups": 4}
_ELEMENT = {"kind": 1, "name": 4}
_GROUP = {"columns": 1, "n_rows": 3}
_CHUNK = {"other file": 1, "about": 3}
_ABOUT = {"kind": 1, "path": 3, "codec": 4, "n_values": 5, "packed": 7, "data": 9, "dictionary": 11}
_PAGE = {"kind": 1, "unpacked": 2, "packed": 3}
_ALLOWED = {
    "file": {1, 2, 3, 4, 5, 6, 7},
    "element": {1, 2, 3, 4, 5, 6, 7, 8, 10},
    "group": {1, 2, 3, 5, 6, 7},
    "chunk": {2, 3},
    "about": {1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 16},
}
_REPEATED: Final = 2
_KINDS: Final = range(8)  # of values
_UNPACKED, _ZSTD = 0, 6  # ways of packing
_PLAIN, _PLAIN_DICTIONARY, _RLE, _DELTA, _RLE_DICTIONARY = 0, 2, 3, 5, 8
_SHARED_PREFIXES = 7  # an encoding in which a text repeats the beginning of the one before
_SIMPLE = {_PLAIN, _PLAIN_DICTIONARY, _RLE_DICTIONARY}  # a text stands as it is, or as its number in a dictionary
_ENCODINGS = {_PLAIN, _PLAIN_DICTIONARY, _RLE, _DELTA, _RLE_DICTIONARY}
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3  # kinds of pages
_DETAILS = {_DATA: (5, 1, 2), _DICTIONARY: (7, 1, 2), _DATA_V2: (8, 1, 4)}  # fields: header, number of values, encoding


class Refused(Exception):
    """Why the file is not read, in words."""


@dataclass(frozen=True, kw_only=True)
class Unpacked:
    """The result of reading the file: rows, columns, and bytes of all pages."""

    n_rows: int
    n_columns: int
    n_bytes: int


def measure(content: bytes, *, most_rows: int, most_bytes: int) -> Unpacked:
    """Measure a whole file; `Refused` if it is too large, or has features that Glasshouse never writes."""
    footer, end = _footer(content)
    kinds = _kinds(_many(footer, _FILE["schema"]))
    n_rows = _whole(footer, _FILE["n_rows"])
    if n_rows > most_rows:
        raise Refused(f"it has {counted(n_rows, 'row')}, but the release has {counted(most_rows, 'record')}")
    n_bytes = seen = 0
    for group in _many(footer, _FILE["groups"]):
        _known(group, "group")
        chunks, rows = _many(group, _GROUP["columns"]), _whole(group, _GROUP["n_rows"])
        if len(chunks) != len(kinds):
            _unfit()
        for chunk, kind in zip(chunks, kinds, strict=True):
            n_bytes += _column(content, end, _about(chunk, kind), rows, most_bytes - n_bytes)
        seen += rows
    if seen != n_rows:
        _unfit()
    return Unpacked(n_rows=n_rows, n_columns=len(kinds), n_bytes=n_bytes)


def _footer(content: bytes) -> tuple[Mapping[int, Any], int]:
    """The footer, and where it begins."""
    if len(content) < 12 or content[:4] != _MAGIC or content[-4:] != _MAGIC:
        raise Refused("it is not a Parquet file")
    length = int.from_bytes(content[-8:-4], "little")
    if length > min(_MOST_FOOTER, len(content) - 12):
        raise Refused("its footer is too large")
    start, stop = len(content) - 8 - length, len(content) - 8
    try:
        footer, end = read_struct(content, start, stop)
    except Damaged:
        raise Refused("its footer is damaged") from None
    if end != stop:
        raise Refused("its footer is damaged")
    _known(footer, "file")
    return footer, start


def _kinds(schema: list[Any]) -> list[int]:
    """The kinds of values of all columns, none of which is nested."""
    for element in schema:
        _known(element, "element")
    root, *columns = schema or [{}]
    if root.get(5) != len(columns) or not columns:
        raise Refused("it has columns inside columns")
    for column in columns:
        if 5 in column or column.get(3) == _REPEATED:
            raise Refused("it has columns inside columns")
        if _whole(column, _ELEMENT["kind"]) not in _KINDS or not isinstance(column.get(_ELEMENT["name"]), bytes):
            _unfit()
    return [column[_ELEMENT["kind"]] for column in columns]


def _about(chunk: Mapping[int, Any], kind: int) -> Mapping[int, Any]:
    """What is said of one column of one row group."""
    _known(chunk, "chunk")
    about = chunk.get(_CHUNK["about"])
    _known(about, "about")
    assert isinstance(about, dict)
    if about.get(_ABOUT["kind"]) != kind:
        _unfit()
    if _whole(about, _ABOUT["codec"]) not in (_UNPACKED, _ZSTD):
        raise Refused("it is compressed in a way that Glasshouse does not use")
    return about


def _column(content: bytes, end: int, about: Mapping[int, Any], n_rows: int, most_bytes: int) -> int:
    """Go through the pages of one column of one row group: how many bytes they take after decompression."""
    start = _whole(about, _ABOUT["data"])
    if about.get(_ABOUT["dictionary"]):
        start = min(start, _whole(about, _ABOUT["dictionary"]))
    stop = start + _whole(about, _ABOUT["packed"])
    if not 4 <= start <= stop <= end or _whole(about, _ABOUT["n_values"]) != n_rows:
        _unfit()
    n_bytes = n_values = 0
    while start < stop:
        page, start = _page(content, start, stop)
        n_bytes += page.n_bytes
        n_values += 0 if page.is_dictionary else page.n_values
        if n_bytes > most_bytes:
            raise Refused(f"it takes more than {most_bytes:,} bytes when unpacked")
        if n_values > n_rows or (page.is_dictionary and page.n_values > page.n_bytes):
            raise Refused("a page has more values than rows")
        start += page.packed
    if start != stop or n_values != n_rows:
        raise Refused("its pages do not add up to its rows")
    return n_bytes


@dataclass(frozen=True)
class _Page:
    is_dictionary: bool
    n_values: int
    n_bytes: int
    packed: int


def _page(content: bytes, start: int, stop: int) -> tuple[_Page, int]:
    """Read one page header, and give the place behind it."""
    try:
        fields, start = read_struct(content, start, stop)
    except Damaged:
        raise Refused("a page header is damaged") from None
    kind, n_bytes, packed = (_whole(fields, number) for number in _PAGE.values())
    if kind not in _DETAILS:
        raise Refused("it has a page of an unknown kind")
    where, values, encoding = _DETAILS[kind]
    details = fields.get(where)
    if not isinstance(details, dict):
        raise Refused("a page header is damaged")
    if _whole(details, encoding) not in _ENCODINGS:
        raise Refused("it is written in an encoding that Glasshouse does not use")
    return _Page(kind == _DICTIONARY, _whole(details, values), n_bytes, packed), start


def _whole(fields: Mapping[int, Any], number: int) -> int:
    value = fields.get(number)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        _unfit()
    return value


def _many(fields: Mapping[int, Any], number: int) -> list[Any]:
    value = fields.get(number)
    if not isinstance(value, list):
        _unfit()
    return value


def _known(fields: Any, what: str) -> None:
    if not isinstance(fields, dict):
        _unfit()
    if not fields.keys() <= _ALLOWED[what]:
        raise Refused("its footer was not written by Glasshouse")


def _unfit() -> NoReturn:
    raise Refused("its parts do not fit together")


# ------------------------------------------------------------------------------------------ files of any tool


@dataclass(frozen=True, kw_only=True)
class Growth:
    """What the page headers say."""

    n_bytes: int  # bytes of all pages
    simple: frozenset[str]  # columns whose texts can be read as numbers into a dictionary
    # of the others, how long a text may be that stands in less room than it takes: no longer than its page
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
    if not 0 < length <= min(_MOST_FOREIGN_FOOTER, end - 4):
        raise Damaged
    footer, _ = read_struct(content, end - length, end)
    n_bytes = longest = 0
    complex_: set[bytes] = set()
    for group in footer.get(_FILE["groups"], []):
        for chunk in group[_GROUP["columns"]]:
            about = chunk[_CHUNK["about"]]
            if about[_ABOUT["path"]][0] not in columns:
                continue
            if _CHUNK["other file"] in chunk:
                raise Refused("its columns lie in another file")
            found = _Column(content, end - length, about)
            n_bytes += found.n_bytes
            if not found.encodings <= _SIMPLE:
                complex_.add(about[_ABOUT["path"]][0])
                longest = max(longest, found.longest)
    simple = frozenset(name.decode() for name in set(columns) - complex_)
    return Growth(n_bytes=n_bytes, simple=simple, longest=longest)


class _Column:
    """One column of one row group: pages are read until it has all of its values."""

    def __init__(self, content: Any, end: int, about: Mapping[int, Any]) -> None:
        self.n_bytes = self.longest = 0
        self.encodings: set[int] = set()
        start = about[_ABOUT["data"]]
        if 0 < about.get(_ABOUT["dictionary"], 0) < start:
            start = about[_ABOUT["dictionary"]]
        stop = min(start + about[_ABOUT["packed"]] + _PADDING, end)
        n_values = 0
        while n_values < about[_ABOUT["n_values"]] and 4 <= start < stop:
            page, start = read_struct(content, start, stop)
            if page[_PAGE["unpacked"]] < 0 or page[_PAGE["packed"]] < 0:
                raise Damaged
            self.n_bytes += page[_PAGE["unpacked"]]
            start += page[_PAGE["packed"]]
            n_values += self._add(page)

    def _add(self, page: Mapping[int, Any]) -> int:
        """Count a page; returns the number of its values."""
        kind = page[_PAGE["kind"]]
        if kind == _DICTIONARY:
            self.longest = max(self.longest, page[_PAGE["unpacked"]])
        if kind not in (_DATA, _DATA_V2):
            return 0
        where, values, encoding = _DETAILS[kind]
        self.encodings.add(page[where][encoding])
        if page[where][encoding] == _SHARED_PREFIXES:
            self.longest = max(self.longest, page[_PAGE["unpacked"]])
        if page[where][values] < 0:
            raise Damaged
        return int(page[where][values])
