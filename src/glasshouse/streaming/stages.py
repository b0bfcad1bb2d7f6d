# SPDX-License-Identifier: Apache-2.0
"""The stages of a release in parts: pieces are divided, tables are settled, parts are written.

These are the stages of every engine. What a method and a recoding do in each is theirs; here is what a task calls, with
everything that it needs as ballast: nothing in this file decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.engines import Memory
from glasshouse.grouping.top.division import finished
from glasshouse.randomness import Source
from glasshouse.recoding.parts.members import Piece
from glasshouse.streaming.parcel import Dividing, Parcel, without_kinds
from glasshouse.streaming.port import Parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.grouping.top.piece import Piece as Undivided
    from glasshouse.journeys.plan import Plan
    from glasshouse.recoding.parts.table_in_parts import SettledTable, Summary, TableInParts
    from glasshouse.release.package.parts import PublishedPart
    from glasshouse.streaming.port import Engine

__all__ = ["Divided", "WrittenTables", "write_tables"]


@dataclass(frozen=True, kw_only=True)
class WrittenTables:
    """The files of every table, and how many groups and people there are in them."""

    files: dict[str, list[PublishedPart]]
    first: NDArray[np.int64]  # how many groups the pieces before each piece have
    n_groups: int
    n_people: int
    left_out: NDArray[np.int32]  # kinds of which nobody is published
    empty: dict[str, pa.Table]  # every table without its rows


@dataclass(frozen=True, eq=False)
class Divided:
    """The result for a piece: the group of each person, by ascending kinds; also the kinds, if somebody was left out.

    Groups are kept in the narrowest type that holds them.
    """

    labels: NDArray[np.integer[Any]]
    n_groups: int
    kinds: NDArray[np.int32] | None = None

    def of(self, piece: Undivided) -> Piece:
        """The kind and group of everybody."""
        kinds = self.kinds
        if kinds is None:
            kinds = np.repeat(piece.kinds, piece.counts)
            if len(piece.sections) > 2:
                kinds = np.sort(kinds)
        return Piece(kinds, self.labels.astype(np.int32), self.n_groups)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Settled:
    """The data that all pieces and parts need once the number of groups is known."""

    tables: tuple[SettledTable, ...]
    first: NDArray[np.int64]  # how many groups the pieces before each have
    n_groups: int


@dataclass(frozen=True, eq=False, kw_only=True)
class _Told:
    """The summary of a piece: groups and people, a summary for each table, and how many of which kinds are left out."""

    n_groups: int
    n_people: int
    of_tables: list[Summary]
    left_out: tuple[NDArray[np.int32], NDArray[np.int64]] | None


def write_tables(
    engine: Engine, pieces: list[Undivided], plan: Plan, tables: Sequence[TableInParts], format: str = "parquet"
) -> WrittenTables:
    """Divide pieces and write all parts of all tables; the list of pieces is empty afterwards."""
    tables = tuple(tables)
    dividing = Dividing(method=plan.method, requirement=plan.requirement, kinds=plan.kinds, tables=tables)
    ballast = dividing if engine.shares_memory else dividing.without_kinds()
    told = engine.map_pieces(_parcels(engine, pieces, dividing), _divide, _summary, ballast=ballast)
    first = np.cumsum([0, *(one.n_groups for one in told)])
    n_groups = int(first[-1])
    settled = tuple(table.settle(n_groups, [one.of_tables[i] for one in told]) for i, table in enumerate(tables))
    parts = [Parts(name=table.name, n_parts=table.n_parts, n_words=table.n_words, format=format) for table in settled]
    left_out = _left_out(plan.kinds.counts, told)
    n_people = sum(one.n_people for one in told)
    del told, dividing
    known = _Settled(
        tables=settled if engine.shares_memory else without_kinds(settled, tables), first=first[:-1], n_groups=n_groups
    )
    if engine.at_once:
        files = engine.shuffle(_rows, parts, _finish, ballast=known)
    else:
        files = [
            engine.shuffle(_rows, [own], _finish, ballast=replace(known, tables=(table,)))[0]
            for own, table in zip(parts, settled, strict=True)
        ]
    return WrittenTables(
        files={table.name: own for table, own in zip(parts, files, strict=True)},
        first=first[:-1],
        n_groups=n_groups,
        n_people=n_people,
        left_out=left_out,
        empty={table.name: _empty(table) for table in settled},
    )


def _parcels(engine: Engine, pieces: list[Undivided], dividing: Dividing) -> Iterator[Parcel]:
    """All pieces, removed from their list one by one: together they may need more memory than all kinds."""
    pieces.reverse()
    for number in range(len(pieces)):
        piece = pieces.pop()
        yield Parcel(number=number, piece=piece) if engine.shares_memory else Parcel.packed(number, piece, dividing)


def _empty(table: SettledTable) -> pa.Table:
    """The table without its rows, of which nothing is random."""
    return table.table(0, np.empty((0, table.n_words), np.uint64), Source.seeded(0))


def _left_out(counts: NDArray[np.int64], told: Sequence[_Told]) -> NDArray[np.int32]:
    """The kinds that are in pieces, but of which nobody is published."""
    known = [one.left_out for one in told if one.left_out is not None]
    if not known:
        return np.empty(0, np.int32)
    kinds, many = (np.concatenate(some) for some in zip(*known, strict=True))
    left_out = np.bincount(kinds, many, minlength=len(counts)).astype(np.int64)
    return np.flatnonzero((left_out > 0) & (left_out == counts)).astype(np.int32)


def _divide(parcel: Parcel, dividing: Dividing, source: Source) -> Divided:
    """Everybody's group in a piece, kinds ascending; people without a group are left out."""
    piece = parcel.piece
    kinds = parcel.kinds(dividing.kinds)
    groups = finished(dividing.method, kinds, piece, dividing.requirement, source, Memory(threads=1))
    if len(piece.sections) == 2 and not groups.n_dropped:
        return Divided(_narrow(groups.labels, groups.n_groups), groups.n_groups)
    own, labels = piece.by_kind(groups)
    there = labels >= 0
    narrow = _narrow(labels[there], groups.n_groups)
    return Divided(narrow, groups.n_groups) if there.all() else Divided(narrow, groups.n_groups, own[there])


def _narrow(labels: NDArray[np.int32], n_groups: int) -> NDArray[np.integer[Any]]:
    return labels.astype(np.min_scalar_type(n_groups))


def _summary(parcel: Parcel, divided: Divided, dividing: Dividing) -> _Told:
    own = divided.of(parcel.piece)
    left_out = None
    if divided.kinds is not None:
        kinds, counts = parcel.piece.kinds, parcel.piece.counts
        gone = np.bincount(kinds, counts).astype(np.int64)
        gone -= np.bincount(divided.kinds, minlength=len(gone))
        some = np.flatnonzero(gone).astype(np.int32)
        left_out = parcel.everywhere(some), gone[some]
    return _Told(
        n_groups=divided.n_groups,
        n_people=len(divided.labels),
        of_tables=[table.summary(own) for table in parcel.tables(dividing.tables)],
        left_out=left_out,
    )


def _rows(
    parcel: Parcel, divided: Divided, settled: _Settled, source: Source
) -> Iterator[tuple[int, NDArray[Any], NDArray[np.uint64]]]:
    piece = numbered_piece(parcel, divided, int(settled.first[parcel.number]), settled.n_groups, source)
    for place, table in enumerate(parcel.tables(settled.tables)):
        yield place, *table.rows(piece)


def numbered_piece(parcel: Parcel, divided: Divided, first: int, n_groups: int, source: Source) -> Piece:
    """The kind and group of everybody in a piece, with the published group numbers."""
    numbering = source.child("group numbers").numbering(n_groups)
    return divided.of(parcel.piece).numbered(first, numbering)


def _finish(table: int, part: int, words: NDArray[np.uint64], settled: _Settled, source: Source) -> pa.Table:
    return settled.tables[table].table(part, words, source.child("recoding"))
