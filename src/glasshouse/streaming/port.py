# SPDX-License-Identifier: Apache-2.0
"""The interface of engines: what publishing requires of memory, disk and Spark alike.

Counting comes before it, and is the source's own affair. Then an engine runs a function on every piece and keeps what
comes of it, and brings rows of words to the parts of tables, which it writes. It decides nothing: pieces, parts and
random choices are the same on every engine, and so are the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.randomness import Source
    from glasshouse.release.package.parts import PublishedPart

    Work = Callable[[Any, Any, Source], Any]
    Summarise = Callable[[Any, Any, Any], Any]
    Rows = Callable[[Any, Any, Any, Source], Iterable[tuple[int, NDArray[Any], NDArray[np.uint64]]]]
    Finish = Callable[[int, int, NDArray[np.uint64], Any, Source], pa.Table]

__all__ = ["Engine", "Parts"]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """One table of the release: the number of its files, the number of 64-bit words in a row, and how it is written."""

    name: str
    n_parts: int
    n_words: int
    format: str = "parquet"


class Engine(Protocol):
    """An engine, which divides pieces and writes parts."""

    @property
    def at_once(self) -> bool:
        """Whether all tables are best written by one `shuffle`; else there is one for each table."""

    @property
    def shares_memory(self) -> bool:
        """Whether pieces are divided in the process that made them; if not, they include the data about their kinds."""

    def map_pieces(self, pieces: Iterable[Any], work: Work, summary: Summarise, *, ballast: Any = None) -> list[Any]:
        """Let ``work`` run on every piece, keep its results for `shuffle`, and give a summary of each, in their order.

        ``work`` is called with a piece, the ballast and the source, ``summary`` with the piece, the result and the
        ballast. They are functions of these alone, for they may run twice, and anywhere.
        """

    def shuffle(
        self, rows: Rows, tables: Sequence[Parts], finish: Finish, *, ballast: Any = None
    ) -> list[list[PublishedPart]]:
        """Make rows of all pieces, bring those of a part together, and write a file for each part.

        ``rows`` is called with a piece, its result, the ballast and the source. It gives, for one table after another,
        the number of the table, the part of each row, and rows of words. ``finish`` is called with the number of the
        table, the part, all of its rows in no particular order, the ballast and the source; it sorts them, and gives
        the part as an Arrow table, which is written at once.
        """

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Let ``work`` run on every item, and return the results."""

    def move(self, folder: Path, files: Mapping[str, Sequence[PublishedPart]]) -> None:
        """Move finished parts into the folder of the release; pieces are not used after that."""
