# SPDX-License-Identifier: Apache-2.0
"""Parcels: pieces of people in the form in which an engine gets them, with data about their kinds.

Where pieces are divided in the memory of the driver, all kinds are at hand, and a parcel is a piece and its number. To
another machine it takes along what is known of its own kinds, and there nothing is known of any others: what a worker
holds depends on the size of a piece, and not on how many kinds there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.grouping.top.piece import bound_to
from glasshouse.microdata.domains import Column
from glasshouse.microdata.kinds import Kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.grouping.method import Method
    from glasshouse.grouping.top.piece import Piece
    from glasshouse.principles.principle import Requirement
    from glasshouse.recoding.parts.table_in_parts import TableInParts

    Narrow = NDArray[np.integer[Any]]

__all__ = ["Dividing", "Parcel", "without_kinds"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Dividing:
    """What all pieces need to be divided.

    Parameters
    ----------
    method, requirement
        How people are divided, and what every group must satisfy.
    kinds
        The kinds of everybody; without any where parcels have their own.
    tables
        What is published.
    """

    method: Method
    requirement: Requirement
    kinds: Kinds
    tables: tuple[TableInParts, ...]

    def without_kinds(self) -> Dividing:
        """The same without data about single kinds."""
        nothing = np.empty(0, np.int32)
        kinds = self.kinds.some(nothing, np.empty(0, np.int64))
        return replace(
            self,
            kinds=kinds,
            requirement=bound_to(self.requirement, kinds.table),
            tables=without_kinds(self.tables, self.tables),
        )


def without_kinds(tables: Sequence[Any], drafts: Sequence[TableInParts]) -> tuple[Any, ...]:
    """Tables without data about kinds, drafts or settled ones: to make rows they are given a parcel's data."""
    nothing = np.empty(0, np.int32)
    return tuple(table.for_kinds((nothing,) * len(draft.of_kinds)) for table, draft in zip(tables, drafts, strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class Parcel:
    """A piece, its number among all pieces, and what is known of its kinds, if that is not at hand.

    Parameters
    ----------
    number
        The piece's place among all pieces.
    piece
        The piece. Where the parcel has kinds of its own, the piece's kinds are places among these.
    which
        The kinds, ascending, by their places among those of everybody; None where these are at hand.
    codes
        A code of each kind for each column, in as few bytes as it takes.
    of_tables
        For each table what it must know of each kind.
    """

    number: int
    piece: Piece
    which: NDArray[np.int32] | None = None
    codes: tuple[Narrow, ...] = ()
    of_tables: tuple[tuple[Narrow, ...], ...] = ()

    @classmethod
    def packed(cls, number: int, piece: Piece, dividing: Dividing) -> Parcel:
        """A parcel that includes the data about the piece's kinds."""
        which, places = piece.kinds, np.arange(len(piece.kinds), dtype=np.int32)
        if len(piece.sections) > 2:  # in which a kind may be more than once
            which, found = np.unique(piece.kinds, return_inverse=True)
            places = found.reshape(-1).astype(np.int32)
        taken: dict[int, Narrow] = {}  # what several tables know is taken along once

        def own(known: NDArray[np.int32]) -> Narrow:
            if id(known) not in taken:
                some = known[which]
                taken[id(known)] = some.astype(np.min_scalar_type(int(some.max(initial=0))))
            return taken[id(known)]

        table = dividing.kinds.table
        return cls(
            number=number,
            piece=replace(piece, kinds=places),
            which=which,
            codes=tuple(own(column.codes) for column in (*table.quasi, *table.sensitive)),
            of_tables=tuple(tuple(map(own, known.of_kinds)) for known in dividing.tables),
        )

    def kinds(self, everybody: Kinds) -> Kinds:
        """The kinds to which the indices in the piece refer."""
        if self.which is None:
            return everybody
        table = everybody.table
        columns = [
            Column(column.domain, codes.astype(np.int32))
            for column, codes in zip((*table.quasi, *table.sensitive), self.codes, strict=True)
        ]
        n_quasi, n_kinds = len(table.quasi), len(self.which)
        own = replace(
            table, quasi=tuple(columns[:n_quasi]), sensitive=tuple(columns[n_quasi:]), identifier=None, n_tuples=n_kinds
        )
        counts = np.bincount(self.piece.kinds, self.piece.counts, minlength=n_kinds).astype(np.int64)
        return Kinds(own, counts)

    def tables(self, tables: Sequence[Any]) -> Sequence[Any]:
        """Tables, drafts or settled ones, that know the kinds of the piece."""
        if self.which is None:
            return tables
        return [
            table.for_kinds(tuple(known.astype(np.int32) for known in own))
            for table, own in zip(tables, self.of_tables, strict=True)
        ]

    def everywhere(self, kinds: NDArray[np.int32]) -> NDArray[np.int32]:
        """The kinds of the piece, as indices into the kinds of everybody."""
        return kinds if self.which is None else self.which[kinds]
