# SPDX-License-Identifier: Apache-2.0
"""Messages of Arrow IPC: the size of their buffers after decompression, determined without decompressing them.

Every packed buffer begins with its true length, in eight bytes; where the buffers lie is told in the message before
them, in the encoding of FlatBuffers, of which as much is read here as that needs. What is damaged raises `ValueError`
or counts for nothing: the library that reads the table then meets it again.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from pyarrow import ipc

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

__all__ = ["messages", "unpacked_bytes"]

_DICTIONARY, _RECORDS = 2, 3  # kinds of messages
_HEADER_KIND, _HEADER = 1, 2  # fields of a message
_BUFFERS, _PACKING = 2, 3  # fields of a record batch
_DATA = 1  # field of a dictionary batch: its record batch
_BUFFER = 16  # bytes that tell where a buffer lies: place and length
_MARK = b"ARROW1"
_BLOCKS = (2, 3)  # fields of a file's end: where dictionaries and record batches are
_BLOCK = 24  # bytes that tell where a message lies: place, length of its head, length of its body


def unpacked_bytes(message: ipc.Message) -> int:
    """Bytes of all buffers of a message once unpacked; 0 if nothing in it is packed."""
    table = _Table.root(memoryview(message.metadata))
    kind = table.number(_HEADER_KIND, "B")
    batch = table.inner(_HEADER)
    if kind not in (_DICTIONARY, _RECORDS) or batch is None:
        return 0
    batch = batch.inner(_DATA) if kind == _DICTIONARY else batch
    if batch is None or batch.inner(_PACKING) is None or message.body is None:
        return 0
    return sum(_lengths(memoryview(message.body), batch))


def _lengths(body: memoryview, batch: _Table) -> Iterator[int]:
    for start, length in batch.structs(_BUFFERS, _BUFFER):
        if length >= 8 and 0 <= start <= len(body) - 8:
            (unpacked,) = struct.unpack_from("<q", body, start)
            yield length if unpacked < 0 else unpacked  # -1: not packed after all


class _Table:
    """A FlatBuffers table: fields by their numbers, each at a position that its index gives."""

    def __init__(self, content: memoryview, place: int) -> None:
        self._content = content
        self._place = place
        self._index = place - self._at("i", place)

    @classmethod
    def root(cls, content: memoryview) -> _Table:
        """The table in a buffer."""
        found = cls.__new__(cls)
        found._content = content
        return cls(content, found._at("I", 0))

    def number(self, field: int, kind: str) -> int:
        """A number; 0 if the field is missing."""
        place = self._field(field)
        return self._at(kind, place) if place else 0

    def inner(self, field: int) -> _Table | None:
        """A nested table."""
        place = self._field(field)
        return _Table(self._content, place + self._at("I", place)) if place else None

    def structs(self, field: int, size: int) -> Iterator[tuple[int, int]]:
        """The first two numbers of each entry of a list."""
        place = self._field(field)
        if not place:
            return
        start = place + self._at("I", place)
        for i in range(min(self._at("I", start), len(self._content) // size)):
            at = start + 4 + i * size
            yield self._at("q", at), self._at("q", at + 8)

    def _field(self, field: int) -> int:
        entry = 4 + 2 * field
        if entry + 2 > self._at("H", self._index):
            return 0
        offset = self._at("H", self._index + entry)
        return self._place + offset if offset else 0

    def _at(self, kind: str, place: int) -> int:
        if not 0 <= place <= len(self._content) - struct.calcsize("<" + kind):
            raise ValueError("a message that points beyond its end")
        return int(struct.unpack_from("<" + kind, self._content, place)[0])


def messages(file: pa.NativeFile) -> Iterator[ipc.Message]:
    """The messages of an Arrow file, at the positions that its footer gives; of a stream, one after the other."""
    if bytes(file.read(len(_MARK))) == _MARK:
        for place in _places(file):
            file.seek(place)
            yield ipc.read_message(file)
        return
    file.seek(0)
    reader = ipc.MessageReader.open_stream(file)
    while True:
        try:
            yield reader.read_next_message()
        except (StopIteration, EOFError):
            return


def _places(file: pa.NativeFile) -> list[int]:
    end = file.size() - len(_MARK) - 4
    file.seek(max(end, 0))
    (length,) = struct.unpack("<i", bytes(file.read(4)))
    if not 0 < length <= end - len(_MARK):
        raise ValueError("the Arrow file is incomplete: its end is missing")
    file.seek(end - length)
    footer = _Table.root(memoryview(file.read(length)))
    places = [block[0] for field in _BLOCKS for block in footer.structs(field, _BLOCK)]
    if not all(0 <= place < end for place in places):
        raise ValueError("a part of the Arrow file lies beyond its end")
    return places
