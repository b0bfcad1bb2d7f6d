# SPDX-License-Identifier: Apache-2.0
"""Quotation marks of a delimited text: where one is never closed, and which quoted values hold line breaks.

A quotation mark opens a value only at the beginning of a field, and within the value a doubled one stands for one; so
Arrow reads, and so this file counts. It watches the bytes on their way to Arrow, a piece at a time and whatever column
they belong to. A mark that somebody forgot to close swallows the records up to the next mark: the value that comes of
it has so many line breaks, and exactly so many delimiters as that many records have.

A line of nothing but delimiters, as spreadsheet programs write for an empty row, is nobody's record. Outside of quoted
values such lines are counted, and reach Arrow as blank ones, which it skips.

Pieces in which every mark opens or closes a value on one line, as nearly all do, are told by arrays; only the others
are gone through value by value.
"""

from __future__ import annotations

import codecs
import io
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Breaks", "Quotes", "count_breaks", "is_joined"]

_MARK, _LF, _CR = b'"\n\r'
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_REST_OF_VALUE = re.compile(rb'[^"]*+(?:""[^"]*+)*+("?)')


@dataclass(kw_only=True, slots=True)
class Breaks:
    """The line breaks in the quoted values of one column."""

    count: int = 0  # values that hold a line break
    first_line: int = 0  # of the file, in which the first of them begins
    joined: int = 0  # those among them that look like several records of the file
    first_joined: int = 0  # the line of the first


def count_breaks(text: str) -> int:
    r"""How many line breaks a text holds; a carriage return and a line feed together are one.

    >>> count_breaks("a\r\nb\nc")
    2
    """
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def is_joined(breaks: int, delimiters: int, n_columns: int) -> bool:
    """Whether a value with so many line breaks and delimiters looks like several records run together.

    A quotation mark that opens a value and is closed by one in the same column of a later record swallows, for every
    line break, as many delimiters as a record has.
    """
    return n_columns > 1 and 0 < breaks and delimiters == breaks * (n_columns - 1)


class Quotes:
    r"""Scans a delimited text with a known number of columns while it is read.

    >>> quotes = Quotes(delimiter=",", n_columns=2, encoding="utf-8")
    >>> quotes.feed(b'age,disease\n,\n30,"flu\n31,ulcer\n') + quotes.finish()
    b'age,disease\n\n30,"flu\n31,ulcer\n'
    >>> quotes.open_line, quotes.n_empty
    (3, 1)
    """

    def __init__(self, *, delimiter: str, n_columns: int, encoding: str) -> None:
        self.open_line: int | None = None
        """The line in which a value begins that the end of the file ends; None if there is none."""
        self.breaks: dict[int, Breaks] = {}
        """By column, from 0: what its quoted values hold, if one holds a line break. The header counts too."""
        self.n_astray = 0
        """Quoted values that go on after the mark that closes them."""
        self.first_astray = 0
        """The line of the first of them."""
        self.n_empty = 0
        """Records that are empty in every column."""
        self._delimiter = delimiter.encode()
        self._n_columns = n_columns
        self._decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)()
        self._empty = _empty_line(self._delimiter, n_columns)
        self._nearly_empty = re.compile(b"[" + re.escape(self._delimiter) + b'"]+\r?')
        self._beginnings = [end + sign for end in (b"\n", b"\r") for sign in (self._delimiter, b'""')]
        self._at_header, self._ended = True, False
        self._opening = re.compile(b"(?<=[\r\n" + re.escape(self._delimiter) + b'])"')
        self._held = b""  # not looked at yet
        self._before = b"\n"  # the byte before it
        self._begun = False
        self._line = 1  # in which it begins
        self._column = 0  # in which it begins
        self._inside = False  # a quoted value, which has had:
        self._inside_line = 0
        self._inside_breaks = 0
        self._inside_delimiters = 0

    def watching(self, stream: pa.NativeFile) -> pa.NativeFile:
        """The text of the stream in UTF-8, with blank lines for empty records; what is read from it is scanned."""
        return pa.PythonFile(_Scanned(stream, self), mode="r")

    def feed(self, piece: bytes) -> bytes:
        """Look at the next bytes of the file; gives those that are done with, in UTF-8 and with blank lines.

        `UnicodeError` if they are not of the encoding.
        """
        if self._decoder is not None:
            piece = self._decoder.decode(piece).encode()
        self._held += piece
        if not self._begun:
            if len(self._held) < len(_BYTE_ORDER_MARK):
                return b""
            self._begun = True
            self._held = self._held.removeprefix(_BYTE_ORDER_MARK)
        # whole lines, if there are any: elsewhere what follows a mark or a carriage return must be known
        end = self._held.rfind(b"\n") + 1 or self._held.rfind(b"\r", 0, -1) + 1
        if not end and self._may_be_empty():
            return b""
        return self._look(end or len(self._held.rstrip(b'"\r')))

    def finish(self) -> bytes:
        """Mark the end of the file; gives its last bytes."""
        if self._decoder is not None:
            self._held += self._decoder.decode(b"", final=True).encode()
        if not self._begun:
            self._held = self._held.removeprefix(_BYTE_ORDER_MARK)
        self._ended = True
        last = self._look(len(self._held))
        self.open_line = self._inside_line if self._inside else None
        return last

    def _may_be_empty(self) -> bool:
        """Whether what is held may become an empty record, of which the end is not known yet."""
        begins = self._before in (b"\n", b"\r") and not self._inside and len(self._held) <= 3 * self._n_columns
        return begins and self._nearly_empty.fullmatch(self._held) is not None

    def _look(self, end: int) -> bytes:
        if not end:
            return b""
        data = self._before + self._held[:end]
        self._held = self._held[end:]
        self._before = data[-1:]
        values: list[tuple[int, int]] = []
        if self._inside or not self._is_plain(np.frombuffer(data, np.uint8)):
            values = self._go_through(data)
        else:
            self._column = self._column_after(data, 1, len(data), self._column)
        self._line += _n_breaks(data, 1, len(data))
        blanked = self._blanked(data, values)
        self._at_header = False
        return blanked[1:]

    def _blanked(self, data: bytes, values: list[tuple[int, int]]) -> bytes:
        """The same lines, blank where a record is empty; ``values`` are the places of those with line breaks."""
        if not any(beginning in data for beginning in self._beginnings):
            return data
        begins = [value[0] for value in values]

        def blank(line: re.Match[bytes]) -> bytes:
            before = bisect_right(begins, line.start()) - 1
            is_within = before >= 0 and line.start() < values[before][1]
            goes_on = line.end() == len(data) and not self._ended
            if is_within or goes_on or (self._at_header and not line.start()):
                return line[0]
            self.n_empty += 1
            return line[0][:1]

        return self._empty.sub(blank, data)

    def _is_plain(self, data: NDArray[np.uint8]) -> bool:
        """Whether marks open and close values in turn, at the borders of fields, and no value holds a line break."""
        marks = np.flatnonzero(data[1:] == _MARK) + 1
        if not len(marks):
            return True
        if len(marks) % 2 or data[-1] not in (_LF, _CR):
            return False
        opening, closing = marks[::2], marks[1::2]
        opens = self._is_border(data[opening - 1])
        closes = self._is_border(data[closing + 1])
        doubled = closing[:-1] + 1 == opening[1:]  # a mark within a value: the value seems to close, and to open again
        opens[1:] |= doubled
        closes[:-1] |= doubled
        if not (opens.all() and closes.all()):
            return False
        ends = np.flatnonzero((data == _LF) | (data == _CR))
        return not (np.searchsorted(marks, ends) % 2).any()

    def _is_border(self, data: NDArray[np.uint8]) -> NDArray[np.bool_]:
        border: NDArray[np.bool_] = (data == self._delimiter[0]) | (data == _LF) | (data == _CR)
        return border

    def _go_through(self, data: bytes) -> list[tuple[int, int]]:
        """Find every quoted value, of which the first may have begun before; gives the places of those with breaks."""
        at, counted, line = 1, 1, self._line
        values: list[tuple[int, int]] = []
        while True:
            if not self._inside:
                opening = self._opening.search(data, at)
                begins = len(data) if opening is None else opening.start()
                self._column = self._column_after(data, at, begins, self._column)
                if opening is None:
                    return values
                at = begins + 1
                line += _n_breaks(data, counted, at)
                counted = at
                self._inside, self._inside_line = True, line
                self._inside_breaks = self._inside_delimiters = 0
            found = _REST_OF_VALUE.match(data, at)
            assert found is not None, "the pattern takes anything"
            begins, at = at, found.end()
            self._inside_breaks += _n_breaks(data, begins, at)
            self._inside_delimiters += data.count(self._delimiter, begins, at)
            if self._inside_breaks:
                values.append((begins - 1, at))
            if not found[1]:
                return values
            self._inside = False
            if self._inside_breaks:
                self._note()
            if at < len(data) and data[at : at + 1] not in (self._delimiter, b"\r", b"\n"):
                self.n_astray += 1
                self.first_astray = self.first_astray or self._inside_line

    def _note(self) -> None:
        breaks = self.breaks.setdefault(self._column, Breaks())
        breaks.count += 1
        breaks.first_line = breaks.first_line or self._inside_line
        if is_joined(self._inside_breaks, self._inside_delimiters, self._n_columns):
            breaks.joined += 1
            breaks.first_joined = breaks.first_joined or self._inside_line

    def _column_after(self, data: bytes, start: int, end: int, column: int) -> int:
        """The column at which bytes end that lie outside of quoted values."""
        begins = max(data.rfind(b"\n", start, end), data.rfind(b"\r", start, end)) + 1
        if begins:
            return data.count(self._delimiter, begins, end)
        return column + data.count(self._delimiter, start, end)


class _Scanned(io.RawIOBase):
    """A stream as a scanner of its quotation marks gives it out."""

    def __init__(self, stream: pa.NativeFile, quotes: Quotes) -> None:
        self._stream, self._quotes = stream, quotes
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self._ended and (size < 0 or len(self._ready) < size):  # Arrow takes less for the end
            piece = bytes(self._stream.read(size if size >= 0 else None))
            self._ended = not piece
            self._ready += self._quotes.feed(piece) if piece else self._quotes.finish()
        size = len(self._ready) if size < 0 else size
        given, self._ready = self._ready[:size], self._ready[size:]
        return given

    def close(self) -> None:
        self._stream.close()
        super().close()


def _empty_line(delimiter: bytes, n_columns: int) -> re.Pattern[bytes]:
    """A record without any value, and the line end before it: fields between quotation marks may be empty too."""
    others = b'(?:%b(?:"")?){%d}' % (re.escape(delimiter), n_columns - 1)
    return re.compile(b"[\r\n]" + (b'(?:"")?' + others if n_columns > 1 else b'""') + b"(?=[\r\n]|\\Z)")


def _n_breaks(data: bytes, start: int, end: int) -> int:
    n_breaks = data.count(b"\n", start, end)
    if data.find(b"\r", start, end) >= 0:
        n_breaks += data.count(b"\r", start, end) - data.count(b"\r\n", start, end)
    return n_breaks
