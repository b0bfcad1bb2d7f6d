# SPDX-License-Identifier: Apache-2.0
"""Need: how much memory it takes to publish a file in memory, estimated before the file is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from glasshouse.database import is_address
from glasshouse.errors import GlasshouseError
from glasshouse.microdata.reading import sources
from glasshouse.unpacking.headroom import memory_left

if TYPE_CHECKING:
    import os
    from collections.abc import Collection

__all__ = ["VALUE", "Need", "need_of"]

VALUE = 64
"Bytes that one value of a column with a role takes, from reading to the recheck, if all people are different."

_PACKED = 10  # times as large is a text that was compressed
_NUMBER = 8  # bytes of a value in an Arrow file, about


@dataclass(frozen=True, kw_only=True)
class Need:
    """An estimate: the bytes needed to publish the file in memory, and the bytes available (None: unknown)."""

    n_bytes: int
    left: int | None

    @property
    def fits(self) -> bool:
        """Whether there is enough memory."""
        return self.left is None or self.n_bytes <= self.left

    def __str__(self) -> str:
        there = "" if self.left is None else f", and {_in_words(self.left)} are free"
        return f"about {_in_words(self.n_bytes)} of memory{there}"


def need_of(file: str | os.PathLike[str], columns: Collection[str]) -> Need | None:
    """How much memory it takes to publish a file in memory; None of a database, and of what cannot be opened.

    Parameters
    ----------
    file
        Parquet, whose footer tells how many rows it has; Arrow, or CSV, of which the size of the file tells it.
    columns
        The columns that have a role.
    """
    path = Path(file)
    if is_address(file) or not path.is_file():
        return None
    try:
        head, compression = sources.beginning(path)
        size = path.stat().st_size
        if not compression and head.startswith(b"PAR1"):
            n_rows, n_bytes = _parquet(path, columns)
        elif compression or not head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
            n_bytes = size * (_PACKED if compression else 1)
            n_rows = n_bytes * (head.count(b"\n") or 1) // len(head)
        else:
            n_rows, n_bytes = size // (_NUMBER * max(len(columns), 1)), size
    except (GlasshouseError, OSError):
        return None  # reading it will say why
    return Need(n_bytes=n_rows * len(columns) * VALUE + n_bytes, left=memory_left())


def _parquet(path: Path, columns: Collection[str]) -> tuple[int, int]:
    """Rows, and bytes of the pages of these columns."""
    with sources.readable(path, "Parquet file"), pq.ParquetFile(path) as file:
        told = file.metadata
        places = [place for place in range(told.num_columns) if told.schema.column(place).path in columns]
        groups = [told.row_group(number) for number in range(told.num_row_groups)]
        return told.num_rows, sum(max(g.column(place).total_uncompressed_size, 0) for g in groups for place in places)


def _in_words(n_bytes: int) -> str:
    return f"{n_bytes / (1 << 30):,.1f} GiB" if n_bytes >= 1 << 30 else f"{n_bytes / (1 << 20):,.0f} MiB"
