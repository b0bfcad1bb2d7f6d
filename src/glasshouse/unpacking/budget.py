# SPDX-License-Identifier: Apache-2.0
"""Unpacking: how large a table may become while it is read from a file.

A file of some kilobytes can stand for more than any machine holds: text packed with gzip or zstd, a long text in a
dictionary that every row points at, a run of a billion equal values. A table may become a hundred times as large as
its file, and half a gigabyte in any case; what becomes larger is refused before it does. Frames, which are in memory
already, are not measured.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Room", "is_text", "most_unpacked", "watched", "written_out"]

_TIMES = 100
_LEAST = 1 << 29
_VALUE = 8  # bytes of a number


def most_unpacked(n_bytes: int) -> int:
    """The allowed size after decompression: a hundred times the compressed size, and at least half a gigabyte.

    >>> most_unpacked(1_000), most_unpacked(10_000_000)
    (536870912, 1000000000)
    """
    return max(_TIMES * n_bytes, _LEAST)


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """How many bytes the table in a file may take."""

    path: Path
    most: int

    @classmethod
    def of(cls, path: Path) -> Room:
        """The limit for this file: a hundred times its size, and at least half a gigabyte."""
        return cls(path=path, most=most_unpacked(path.stat().st_size))

    def check(self, n_bytes: int) -> None:
        """Refuse a larger size."""
        if n_bytes > self.most:
            raise SourceError(
                f"{self.path} would take more than {self.most:,} bytes when unpacked, which is far more than its "
                "size, so it was not read. If you trust it, unpack it yourself, or read it with another tool and "
                "give Glasshouse the data frame",
                source=self.path,
            )

    def check_table(self, table: pa.Table) -> None:
        """Refuse a table that is too large once no value stands for several rows."""
        self.check(table.num_rows * max(table.num_columns, 1) * _VALUE)
        self.check(sum(written_out(column) for column in table.columns))

    def bounded(self, stream: pa.NativeFile) -> pa.NativeFile:
        """The same bytes; reading more of them than the limit is refused."""
        n_bytes = 0

        def count(piece: bytes) -> None:
            nonlocal n_bytes
            n_bytes += len(piece)
            self.check(n_bytes)

        return watched(stream, count)


def watched(stream: pa.NativeFile, see: Callable[[bytes], None]) -> pa.NativeFile:
    """The same stream; the bytes read from it are also passed to an observer."""
    return pa.PythonFile(_Watched(stream, see), mode="r")


class _Watched(io.RawIOBase):
    def __init__(self, stream: pa.NativeFile, see: Callable[[bytes], None]) -> None:
        self._stream = stream
        self._see = see

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece = bytes(self._stream.read(size if size >= 0 else None))
        self._see(piece)
        return piece

    def close(self) -> None:
        self._stream.close()
        super().close()


def written_out(column: pa.ChunkedArray) -> int:
    """The bytes of a column in which no value stands for several rows.

    >>> codes = pa.array([0, 0, 0, 1], pa.int8())
    >>> written_out(pa.chunked_array([pa.DictionaryArray.from_arrays(codes, ["long", "s"])]))
    45
    """
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return written_out(pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type))
    if not (pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind) or pa.types.is_string_view(kind)):
        return int(column.get_total_buffer_size())
    return sum(int(_lengths(chunk).sum()) for chunk in column.chunks)


def _lengths(values: pa.Array) -> NDArray[np.int64]:
    """The bytes of each value; for run-end encoding, of all rows of a run."""
    kind = values.type
    if isinstance(kind, pa.BaseExtensionType):
        return _lengths(values.storage)
    if pa.types.is_dictionary(kind):
        lengths = np.append(_lengths(values.dictionary), _VALUE)
        return np.asarray(lengths[np.asarray(values.indices.fill_null(len(lengths) - 1)).astype(np.int64)])
    if pa.types.is_run_end_encoded(kind):
        ends = np.minimum(np.asarray(values.run_ends).astype(np.int64), len(values) + values.offset)
        return np.asarray(np.diff(ends, prepend=0).clip(min=0) * _lengths(values.values))
    if pa.types.is_string_view(kind):  # a view is four numbers, of which the first is the length
        stop = values.offset + len(values)  # the buffer may be longer, and end within a number
        views = np.frombuffer(memoryview(values.buffers()[1] or b"")[: 16 * stop], np.int32).reshape(-1, 4)
        lengths = views[values.offset :, 0].astype(np.int64).clip(min=0)
        return np.where(values.is_null(), 0, lengths) + _VALUE  # a missing value may have any view
    if is_text(kind):
        return np.asarray(pc.binary_length(values).fill_null(0)).astype(np.int64) + _VALUE
    return np.full(len(values), _VALUE, np.int64)


def is_text(kind: pa.DataType) -> bool:
    """Whether values of this type are texts, one after the other."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
