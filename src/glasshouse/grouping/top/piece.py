# SPDX-License-Identifier: Apache-2.0
"""Pieces: some people of some kinds, who are divided among themselves, on any machine at any time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.microdata.domains import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.microdata import Microdata
    from glasshouse.microdata.groups import Groups
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.principle import Requirement

__all__ = ["PIECE", "Piece", "bound_to", "pieces_of_groups", "whole_piece"]

PIECE = 1 << 19
"""How many people a piece has at most, where the method can divide a larger one as counts.

Random choices belong to pieces: another size makes other choices.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class Piece:
    """Some people, who are divided among themselves.

    Parameters
    ----------
    labels
        By which the stream of its random choices is named; empty for the whole table.
    kinds, counts
        How many people of which kinds; the kinds ascend inside of every section.
    sections
        Where each section begins, and where the last one ends. A method that cut a node in equal parts which must be
        told apart lays one after another; there is one section otherwise.
    task
        What is left to do, in the method's own words: plain data.
    groups
        Where nothing is left to do: the group of each kind, numbered from 0 in the piece.
    """

    labels: tuple[str | int, ...]
    kinds: NDArray[np.int32]
    counts: NDArray[np.int64]
    sections: tuple[int, ...]
    task: tuple[Any, ...] = ("divide",)
    groups: NDArray[np.int32] | None = None

    @property
    def n_people(self) -> int:
        """People of the piece."""
        return int(self.counts.sum())

    def people(self, kinds: Kinds) -> Microdata:
        """A record for each person, kind after kind in each section."""
        return kinds.table.take(np.repeat(self.kinds, self.counts))

    def section_of_people(self) -> NDArray[np.int32]:
        """The section of each person."""
        ends = np.cumsum(self.counts)[np.array(self.sections[1:]) - 1]
        return np.repeat(np.arange(len(ends), dtype=np.int32), np.diff(ends, prepend=0))

    def by_kind(self, groups: Groups) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The kind and the group of each person, kinds ascending, people of a kind by group."""
        kinds = np.repeat(self.kinds, self.counts)
        order = np.lexsort((groups.labels, kinds))
        return kinds[order], groups.labels[order]


def whole_piece(kinds: Kinds) -> Piece:
    """All people as one piece."""
    every = np.arange(len(kinds), dtype=np.int32)
    return Piece(labels=(), kinds=every, counts=kinds.counts, sections=(0, len(every)))


def pieces_of_groups(kinds: Kinds, labels: NDArray[np.int32], n_groups: int, most: int) -> list[Piece]:
    """Pieces of whole groups, where the group of every kind is known: about ``most`` people each."""
    sizes = np.bincount(labels, weights=kinds.counts, minlength=n_groups).astype(np.int64)
    piece_of_group = (np.cumsum(sizes) - sizes) // most
    of_kind = piece_of_group[labels]
    order = np.argsort(of_kind, kind="stable").astype(np.int32)  # kinds ascend inside of every piece
    borders = np.flatnonzero(np.diff(of_kind[order], prepend=-1, append=-1))
    pieces = []
    for a, b in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        own = order[a:b]
        first = int(np.searchsorted(piece_of_group, piece_of_group[labels[own[0]]]))
        pieces.append(
            Piece(
                labels=("groups", a),
                kinds=own,
                counts=kinds.counts[own],
                sections=(0, b - a),
                task=("groups",),
                groups=labels[own] - np.int32(first),
            )
        )
    return pieces


def bound_to(requirement: Requirement, people: Microdata) -> Requirement:
    """The same requirement, of the whole table, for groups of some of its people."""
    by_name = {column.name: column for column in people.sensitive}
    parts = tuple(
        part
        if part.column is None
        else replace(part, column=Column(part.column.domain, by_name[part.column.name].codes))
        for part in requirement.parts
    )
    return replace(requirement, parts=parts)
