# SPDX-License-Identifier: Apache-2.0
"""The base of tables in parts: first summaries, then rows of words for each part, then the parts themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.randomness import Draws
    from glasshouse.recoding.parts.members import Piece

    OfKinds = tuple[NDArray[np.int32], ...]
    Rows = tuple[NDArray[np.int32], NDArray[np.uint64]]

__all__ = [
    "OfKinds",
    "Rows",
    "SettledTable",
    "Summary",
    "TableInParts",
    "first_numbers",
    "number_type",
    "part_of_numbers",
    "parts_for",
]


@dataclass(frozen=True, eq=False)
class Summary:
    """What a table must know of a piece before parts are decided.

    Parameters
    ----------
    n_rows
        How many rows the piece gives.
    cells
        For each quasi-identifier the different cells of the piece's groups, ascending, where they are published.
    sample
        Some rows at regular distances in their order: for each its cells, by their places in ``cells``, and the number
        of its sensitive values. The first row of all comes first.
    boxes
        The smallest codes of every group, and then the largest, where boxes must not overlap (groups x 2 attributes).
    """

    n_rows: int
    cells: tuple[Any, ...] = ()
    sample: NDArray[np.int64] | None = None
    boxes: NDArray[np.int32] | None = None


class SettledTable(Protocol):
    """A published table whose division into parts is decided."""

    @property
    def name(self) -> str:
        """The table's name in the release."""

    @property
    def n_words(self) -> int:
        """The number of words in a row."""

    @property
    def n_parts(self) -> int:
        """How many parts there are; laid end to end they are the whole table."""

    def for_kinds(self, known: OfKinds) -> Self:
        """The same table for other kinds, of which this is known; see `TableInParts.of_kinds`."""

    def rows(self, piece: Piece) -> Rows:
        """What a piece gives: the part of each row, and rows of words (rows x words), in no particular order."""

    def table(self, part: int, words: NDArray[np.uint64], source: Draws) -> pa.Table:
        """Make a part from all its rows, in any order; every part has the same schema, and a part may have no rows.

        Random choices come from ``source.child("part", part)``, where ``source`` is that of the whole recoding.
        """


class TableInParts(Protocol):
    """A published table before the number of groups is known."""

    @property
    def name(self) -> str:
        """The table's name in the release."""

    @property
    def of_kinds(self) -> OfKinds:
        """All that the table must know of each kind, as numbers: arrays with an entry for each."""

    def for_kinds(self, known: OfKinds) -> Self:
        """The same table for other kinds, of which this is known: some of all kinds, or none at all.

        So a piece can carry what is known of its own kinds, and the table need not know of all of them.
        """

    def summary(self, piece: Piece) -> Summary:
        """What must be known of a piece; its groups need no numbers yet."""

    def settle(self, n_groups: int, summaries: Iterable[Summary]) -> SettledTable:
        """Decide the parts, from the number of all groups and the summaries of all pieces, in any order."""


def parts_for(n_rows: int, part_rows: int, most: int) -> int:
    """How many parts a table of so many rows has: one if it has at most ``part_rows``, and never more than ``most``.

    >>> parts_for(50, 50, 9), parts_for(51, 50, 9), parts_for(1000, 50, 9), parts_for(0, 50, 0)
    (1, 2, 9, 1)
    """
    return max(1, min(-(-n_rows // part_rows), most))


def part_of_numbers(numbers: NDArray[np.int64], n_groups: int, n_parts: int) -> NDArray[np.int32]:
    """The part of each group, by its number from 0: a part has consecutive groups, as many as the others or one more.

    >>> part_of_numbers(np.arange(5), 5, 2).tolist()
    [0, 0, 0, 1, 1]
    """
    return (numbers * n_parts // max(n_groups, 1)).astype(np.int32)


def first_numbers(n_groups: int, n_parts: int) -> list[int]:
    """The first group of each part, and one more entry: the number of groups; see `part_of_numbers`.

    >>> first_numbers(5, 2)
    [0, 3, 5]
    """
    return [-(-part * n_groups // n_parts) for part in range(n_parts + 1)]


def number_type(largest: int) -> type[np.int32] | type[np.int64]:
    """The type in which numbers up to ``largest`` are published.

    >>> number_type(2**31 - 1), number_type(2**31)
    (<class 'numpy.int32'>, <class 'numpy.int64'>)
    """
    return np.int32 if largest < 2**31 else np.int64
