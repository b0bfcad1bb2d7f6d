# SPDX-License-Identifier: Apache-2.0
"""The disk engine: a table larger than memory passes through one nameless file, a partition at a time.

What is spilled is microdata. The file has no name from the moment it exists (or loses it at once, where the system
knows no other way), and only its owner could have opened it: when the process ends, however it ends, the file is gone.
Pages of some hundred kilobytes are written one after another; what is kept in memory is a page for each partition on
the way out, and one partition on the way in.
"""

from __future__ import annotations

import errno
import os
import pickle
import tempfile
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from glasshouse.errors import ParameterError
from glasshouse.kernels import compiled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import DTypeLike, NDArray

__all__ = ["Disk", "Layout", "PickledItems", "Spill"]

_MEBIBYTE = 1 << 20
_SMALLEST = 64 * _MEBIBYTE
_PAGES_SHARE = 8
_CUT_SHORT = (
    "a temporary file was cut short, perhaps because the disk is full: free some space, or choose another disk for "
    "temporary files with --spill FOLDER (spill=), and publish again"
)
_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(frozen=True, kw_only=True, slots=True)
class Disk:
    """The memory that the work may take, and the folder for temporary files.

    Parameters
    ----------
    folder
        Where the nameless files live; a folder on a disk, with room for about the size of the table.
    memory
        Bytes for buffers, at least 64 MiB: what libraries, and dictionaries of texts, take comes on top.
    page
        Items of a page, where a test wants to choose it.
    """

    folder: Path
    memory: int = 256 * _MEBIBYTE
    page: int | None = None

    def __post_init__(self) -> None:
        if self.memory < _SMALLEST:
            raise ParameterError("Disk", "memory", f"at least {_SMALLEST} bytes", self.memory)
        if self.page is not None and self.page < 1:
            raise ParameterError("Disk", "page", "at least 1", self.page)

    def spill(self, layout: Layout, n_partitions: int) -> Spill:
        """Open a nameless file for items of this layout."""
        page = self.page or max(1, self.memory // _PAGES_SHARE // layout.item_bytes // n_partitions)
        return Spill(self.folder, layout, n_partitions, page)


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of an item: for each column its type, and the number of values of it per item."""

    columns: tuple[tuple[np.dtype[Any], int], ...]

    @classmethod
    def of(cls, *columns: tuple[DTypeLike, int]) -> Self:
        """Define the columns by name."""
        return cls(tuple((np.dtype(kind), width) for kind, width in columns))

    @property
    def item_bytes(self) -> int:
        """The size of an item in bytes."""
        return sum(kind.itemsize * width for kind, width in self.columns)

    def empty(self, n_items: int) -> list[NDArray[Any]]:
        """Empty arrays for a number of items, one for each column."""
        return [np.empty((n_items, width) if width > 1 else n_items, kind) for kind, width in self.columns]


class Spill:
    """Items in partitions ``0 .. n_partitions - 1``, in an unnamed temporary file.

    Each partition has a page in memory for so many items, which is written to the end of the file when it is full. A
    partition is read back page after page, in the order in which its items came.

    >>> from pathlib import Path
    >>> with Spill(Path(tempfile.gettempdir()), Layout.of((np.int64, 1)), 2, page=2) as spill:
    ...     spill.append(np.array([1, 0, 1, 1]), [np.array([7, 8, 9, 10])])
    ...     [spill.read(p)[0].tolist() for p in range(2)]
    [[8], [7, 9, 10]]
    """

    def __init__(self, folder: Path, layout: Layout, n_partitions: int, page: int) -> None:
        self._kernels = compiled("glasshouse.streaming._kernels")
        self._layout = layout
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - closed by `close`
        self._page = page
        self._pages = layout.empty(n_partitions * page)
        self._filled = np.zeros(n_partitions, np.int64)
        self._written = 0
        self._chains: list[list[tuple[int, int]]] = [[] for _ in range(n_partitions)]  # place in the file, items

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, which deletes it."""
        self._file.close()
        self._pages, self._chains = [], []

    def append(self, parts: NDArray[np.int64], columns: Sequence[NDArray[Any]]) -> None:
        """Add items, each to its partition."""
        given = [
            (np.ascontiguousarray(column, kind).reshape(-1).view(_UNSIGNED[kind.itemsize]), width)
            for column, (kind, width) in zip(columns, self._layout.columns, strict=True)
        ]
        pages = [column.reshape(-1).view(_UNSIGNED[column.itemsize]) for column in self._pages]
        places = np.empty(len(parts), np.int64)
        done = 0
        while done < len(parts):
            n_items = self._kernels.places(parts[done:], self._page, self._filled, places[done:])
            for (items, width), page in zip(given, pages, strict=True):
                some = items[done * width : (done + n_items) * width]
                self._kernels.scatter(some, width, places[done : done + n_items], page)
            done += n_items
            last = int(parts[done - 1])
            if self._filled[last] == self._page:
                self._flush(last)

    def finish(self) -> None:
        """Write what is left; the memory of the pages is given back, and nothing can be added."""
        for partition in range(len(self._filled)):
            self._flush(partition)
        self._pages = []

    def count(self, partition: int) -> int:
        """How many items a partition has."""
        return sum(n_items for _, n_items in self._chains[partition]) + int(self._filled[partition])

    def read(self, partition: int) -> list[NDArray[Any]]:
        """All items of a partition, an array for each column."""
        self._flush(partition)
        found = self._layout.empty(self.count(partition))
        at = 0
        for place, n_items in self._chains[partition]:
            page = memoryview(read_fully(self._file.fileno(), n_items * self._layout.item_bytes, place))
            offset = 0
            for column, (kind, width) in zip(found, self._layout.columns, strict=True):
                flat = np.frombuffer(page, kind, n_items * width, offset)
                column[at : at + n_items] = flat.reshape(n_items, width) if width > 1 else flat
                offset += flat.nbytes
            at += n_items
        return found

    def _flush(self, partition: int) -> None:
        """Write the page of a partition, column after column."""
        n_items = int(self._filled[partition])
        if not n_items:
            return
        first = partition * self._page
        content = b"".join(column[first : first + n_items].tobytes() for column in self._pages)
        self._chains[partition].append((self._written, n_items))
        self._written += len(content)
        self._filled[partition] = 0
        left = memoryview(content)
        while left:
            left = left[self._file.write(left) :]


class PickledItems:
    """Objects of any type by number, in an unnamed temporary file; several threads may add some.

    >>> from pathlib import Path
    >>> items = PickledItems(Path(tempfile.gettempdir()))
    >>> items[3] = "kept"
    >>> items[3], items.close()
    ('kept', None)
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - closed by `close`
        self._lock = threading.Lock()
        self._end = 0
        self._places: dict[int, tuple[int, int]] = {}

    def __setitem__(self, number: int, thing: Any) -> None:
        content = pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)
        with self._lock:
            place, self._end = self._end, self._end + len(content)
            self._places[number] = place, len(content)
        left = memoryview(content)
        while left:
            done = os.pwrite(self._file.fileno(), left, place)
            left, place = left[done:], place + done

    def __getitem__(self, number: int) -> Any:
        place, n_bytes = self._places[number]
        return pickle.loads(read_fully(self._file.fileno(), n_bytes, place))

    def pop(self, number: int) -> Any:
        """The object with a number, which can be read only once."""
        return self[number]

    def close(self) -> None:
        """Close the file, which deletes it."""
        self._file.close()
        self._places = {}


def read_fully(file: int, n_bytes: int, place: int) -> bytes:
    """Read exactly so many bytes of a file, even if the system returns fewer at a time."""
    pieces = []
    while n_bytes:
        piece = os.pread(file, n_bytes, place)
        if not piece:
            raise OSError(errno.EIO, _CUT_SHORT)
        pieces.append(piece)
        place, n_bytes = place + len(piece), n_bytes - len(piece)
    return b"".join(pieces)
