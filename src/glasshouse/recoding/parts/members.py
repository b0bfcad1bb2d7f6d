# SPDX-License-Identifier: Apache-2.0
"""Pieces: some people with their groups, and the points that kinds of people have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.errors import ParameterError
from glasshouse.microdata.domains import Column
from glasshouse.microdata.groups import Groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.microdata.kinds import Kinds
    from glasshouse.randomness import Numbering

__all__ = ["Piece", "Points"]


@dataclass(frozen=True, eq=False)
class Piece:
    """Some groups with everybody in them. Everybody in a piece is published, and a group lies in one piece.

    Parameters
    ----------
    kinds
        The kind of each person: its place in `Kinds`, ascending.
    labels
        The group of each person, from 0 inside of the piece.
    n_groups
        How many groups the piece has; none is empty.
    numbers
        The number of each group among those of all pieces, drawn at random, from 0; None before they are drawn.
    """

    kinds: NDArray[np.int32]
    labels: NDArray[np.int32]
    n_groups: int
    numbers: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.kinds)

    def numbered(self, first: int, numbering: Numbering) -> Piece:
        """The piece with group numbers that follow those of ``first`` groups in earlier pieces.

        >>> from glasshouse.randomness import Source
        >>> piece = Piece(np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32), 2)
        >>> piece.numbered(3, Source.seeded(1).numbering(5)).numbers.tolist()
        [3, 1]
        """
        return replace(self, numbers=numbering.of(np.arange(first, first + self.n_groups)))

    @property
    def groups(self) -> Groups:
        """The groups, as a partition of the piece's people."""
        return Groups(self.labels, self.n_groups)

    def column(self, of_kinds: Column) -> Column:
        """The values of the piece's people in a column of `Kinds`."""
        return Column(of_kinds.domain, of_kinds.codes[self.kinds])

    def number_words(self) -> NDArray[np.uint64]:
        """The number of each group as a word."""
        assert self.numbers is not None, "groups are numbered before rows are made"
        return self.numbers.astype(np.uint64)


@dataclass(frozen=True, eq=False)
class Points:
    """Kinds of people with equal quasi-identifiers, as points.

    Points are numbered in the order of all their codes, as kinds are.
    """

    of_kind: NDArray[np.int32]
    first: NDArray[np.int64]  # the first kind of each point
    counts: NDArray[np.int64]  # people of each point

    @classmethod
    def of(cls, kinds: Kinds) -> Points:
        """Find the points of kinds, each of which has at least one person.

        >>> from glasshouse.microdata import examples
        >>> from glasshouse.microdata.kinds import kinds_of
        >>> Points.of(kinds_of(examples.angel_table1())[0]).counts.tolist()
        [1, 1, 1, 1, 1, 1, 1, 1]
        """
        if (kinds.counts < 1).any():
            raise ParameterError(
                "Points.of", "kinds", "combinations of values that at least one person has", "one that nobody has"
            )
        is_first = np.zeros(len(kinds), bool)
        is_first[:1] = True
        for column in kinds.table.quasi:
            is_first[1:] |= column.codes[1:] != column.codes[:-1]
        first = np.flatnonzero(is_first)
        counts = np.add.reduceat(kinds.counts, first) if len(first) else np.zeros(0, np.int64)
        return cls((np.cumsum(is_first, dtype=np.int32) - np.int32(1)), first, counts)

    def __len__(self) -> int:
        return len(self.first)

    def column(self, of_kinds: Column) -> Column:
        """A quasi-identifier with one code for each point."""
        return Column(of_kinds.domain, of_kinds.codes[self.first])
