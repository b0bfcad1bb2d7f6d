# SPDX-License-Identifier: Apache-2.0
"""Thrift's compact protocol, as far as the footer and the page headers of a Parquet file need it.

Read here because what a library makes of a damaged footer may be worse than an error. A struct becomes a dict from
field numbers to values; whatever is damaged, ends too early or is nested too deeply raises `Damaged`.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["Damaged", "read_struct"]

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_DEEPEST: Final = 8


class Damaged(Exception):
    """These bytes are no struct."""


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
