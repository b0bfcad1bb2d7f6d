# SPDX-License-Identifier: Apache-2.0
"""Divisions: a method's groups of all people, made piece by piece from how many there are of each kind.

A division is a function of these numbers and of the secret key. Pieces can be finished in any order and anywhere: their
random choices are named for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.engines.sorting import share
from glasshouse.grouping.top.piece import PIECE, Piece
from glasshouse.microdata.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.grouping.method import Method
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Source

__all__ = ["Division", "divide_kinds", "finished"]


@dataclass(frozen=True, eq=False)
class Division:
    """The group of every person, kind after kind, people of a kind in no order that means anything; -1 for none."""

    groups: NDArray[np.int32]
    n_groups: int
    pieces: Sequence[Piece] = ()
    places: Sequence[NDArray[np.int64]] = ()  # where the people of each kind of each piece come
    first: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))  # groups before each piece

    def of_rows(self, rows_by_kind: NDArray[np.int32]) -> Groups:
        """The same groups as a partition of a table: its rows come kind after kind."""
        labels = np.empty(len(self.groups), np.int32)
        labels[rows_by_kind] = self.groups
        return Groups(labels, self.n_groups)

    def of_piece(self, number: int) -> Groups:
        """The groups of a piece's people, in the order of the piece, numbered from 0."""
        own = self.groups[_spread(self.places[number], self.pieces[number].counts)]
        before, after = self.first[number : number + 2].tolist()
        return Groups(np.where(own < 0, own, own - np.int32(before)), after - before)


def divide_kinds(
    method: Method,
    kinds: Kinds,
    requirement: Requirement,
    source: Source,
    engine: Memory,
    *,
    most: int = PIECE,
) -> Division:
    """Divide people by a method: the top as counts, then all pieces, on the engine's threads.

    Parameters
    ----------
    method, kinds, requirement
        How people are divided, how many there are of each kind, and what every group must satisfy.
    source
        Of random choices.
    engine
        Says how many threads there may be; it changes nothing but the time.
    most
        How many people a piece has at most, where the method can divide more of them as counts.
    """
    pieces = method.pieces(kinds, requirement, source, most)
    places = _places(kinds, pieces)
    groups = np.empty(kinds.n_people, np.int32)
    inner = engine if len(pieces) == 1 else type(engine)(threads=1)  # inside one of many pieces nothing is shared

    def work(number: int) -> int:
        found = finished(method, kinds, pieces[number], requirement, source, inner)
        groups[_spread(places[number], pieces[number].counts)] = found.labels
        return found.n_groups

    bases = np.cumsum([0, *share(work, [(number,) for number in range(len(pieces))], engine)])

    def renumber(number: int) -> None:
        if bases[number]:
            where = _spread(places[number], pieces[number].counts)
            own = groups[where]
            groups[where] = np.where(own < 0, own, own + np.int32(bases[number]))

    share(renumber, [(number,) for number in range(len(pieces))], engine)
    return Division(groups, int(bases[-1]), pieces, places, bases)


def finished(
    method: Method, kinds: Kinds, piece: Piece, requirement: Requirement, source: Source, engine: Memory
) -> Groups:
    """The groups of a piece's people, in the order of the piece, numbered from 0."""
    if piece.groups is not None:
        return Groups(np.repeat(piece.groups, piece.counts), int(piece.groups.max(initial=-1)) + 1)
    own = source.child(*piece.labels) if piece.labels else source
    return method.finish(kinds, piece, requirement, own, engine)


def _places(kinds: Kinds, pieces: Sequence[Piece]) -> list[NDArray[np.int64]]:
    """Where the people of each kind of each piece come, kind after kind: those of earlier pieces first."""
    at = np.cumsum(kinds.counts) - kinds.counts
    places = []
    for piece in pieces:
        own = np.empty(len(piece.kinds), np.int64)
        for a, b in zip(piece.sections[:-1], piece.sections[1:], strict=True):
            own[a:b] = at[piece.kinds[a:b]]
            at[piece.kinds[a:b]] += piece.counts[a:b]
        places.append(own)
    return places


def _spread(first: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places from ``first`` on, so many for each."""
    found: NDArray[np.int64] = np.repeat(first - (np.cumsum(counts) - counts), counts)
    found += np.arange(len(found))
    return found
