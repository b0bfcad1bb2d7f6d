# SPDX-License-Identifier: Apache-2.0
"""Who is where, for the audit: the group of every row of a file, or of everybody with an identifier.

A release knows how many people of each kind are in which group; any of them may be, for nothing that is published tells
them apart. The audit must decide, for later tables over the same groups. So the groups of each kind are put in a secret
random order, and the people of the kind take them one after another, as the file is read again.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.kernels import compiled
from glasshouse.release.package.listing import private_file
from glasshouse.release.package.parts import TableWriter
from glasshouse.streaming.spill import Layout
from glasshouse.streaming.stages import numbered_piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from glasshouse.journeys.plan import Plan
    from glasshouse.randomness import Source
    from glasshouse.streaming.count import Counted
    from glasshouse.streaming.local import Local
    from glasshouse.streaming.spill import Disk, Spill
    from glasshouse.streaming.stages import WrittenTables

__all__ = ["write_whereabouts"]

_AT_ONCE = 1 << 20  # people of whom the disk engine finds the groups at once


def write_whereabouts(
    file: Path, counted: Counted, engine: Local, plan: Plan, written: WrittenTables, source: Source
) -> None:
    """Write the published number of everybody's group; people who are not published have none.

    In memory it takes four bytes for every person; on disk numbers and rows meet in nameless files, some millions at a
    time.
    """
    whole = np.flatnonzero(plan.kept).astype(np.int32)  # the plan has no kinds of which nobody was kept

    def numbers() -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
        """For every piece, the kind and the published group number of everybody."""
        for parcel, divided in engine.last_results():
            piece = numbered_piece(parcel, divided, int(written.first[parcel.number]), written.n_groups, source)
            assert piece.numbers is not None
            yield whole[piece.kinds], piece.numbers[piece.labels] + 1

    kind = np.dtype(np.int32 if written.n_groups < 2**31 else np.int64)
    found = _in_memory if engine.disk is None else partial(_on_disk, disk=engine.disk)
    _write(file, found(counted, numbers(), kind, source.child("who is who")), kind)


def _write(
    file: Path, people: Iterable[tuple[NDArray[Any], pa.Array | None, NDArray[Any]]], kind: np.dtype[Any]
) -> None:
    """Write rows or identifiers with the numbers of groups, 0 for none."""
    with ExitStack() as stack:
        writer: TableWriter | None = None
        for rows, identifiers, found in people:
            named = {"row": pa.array(rows)} if identifiers is None else {"identifier": identifiers}
            table = pa.table({**named, "group": pa.array(found, pa.from_numpy_dtype(kind), mask=found == 0)})
            if writer is None:
                opened = TableWriter(private_file(file), table.schema, "parquet", {}, numbers=("row", "group"))
                writer = stack.enter_context(opened)
            writer.write(table)


class _Turns:
    """The groups of some kinds in a secret random order, which people of each kind take one after another."""

    def __init__(self, counts: NDArray[np.int64], kind: np.dtype[Any]) -> None:
        self._kernels = compiled("glasshouse.streaming._kernels")
        self._starts = np.cumsum(counts) - counts
        self._groups: NDArray[Any] = np.zeros(int(counts.sum()), kind)  # 0 for those who are in none
        self._at = self._starts.copy()

    def add(self, kinds: NDArray[np.int32], numbers: NDArray[Any]) -> None:
        """Add the groups of some people."""
        self._groups[self._places(kinds)] = numbers

    def shuffle(self, source: Source) -> None:
        """Put the groups of each kind into random order; all of them are there."""
        source.shuffle_runs(self._groups, np.append(self._starts, len(self._groups)))
        self._at = self._starts

    def take(self, kinds: NDArray[np.int32]) -> NDArray[Any]:
        """Take the next groups for some people."""
        return self._groups[self._places(kinds)]

    def _places(self, kinds: NDArray[np.int32]) -> NDArray[np.int64]:
        places = np.empty(len(kinds), np.int64)
        self._kernels.take_turns(kinds, self._at, places)
        return places


def _in_memory(
    counted: Counted,
    numbers: Iterable[tuple[NDArray[np.int32], NDArray[np.int64]]],
    kind: np.dtype[Any],
    source: Source,
) -> Iterator[tuple[NDArray[Any], pa.Array | None, NDArray[Any]]]:
    """Everybody's group, of all kinds at once."""
    turns = _Turns(counted.kinds.counts, kind)
    for kinds, own in numbers:
        turns.add(kinds, own)
    turns.shuffle(source)
    for kinds, rows, identifiers in counted.people():
        yield rows, identifiers, turns.take(kinds)


def _on_disk(
    counted: Counted,
    numbers: Iterable[tuple[NDArray[np.int32], NDArray[np.int64]]],
    kind: np.dtype[Any],
    source: Source,
    *,
    disk: Disk,
    at_once: int = _AT_ONCE,
) -> Iterator[tuple[NDArray[Any], pa.Array | None, NDArray[Any]]]:
    """The same with some kinds at a time in memory, and then some rows."""
    counts = counted.kinds.counts
    place = (np.cumsum(counts) - counts) // at_once  # of every kind
    n_places, n_rows = int(place[-1]) + 1, int(counts.sum())
    row = np.uint32 if n_rows < 2**32 else np.uint64
    with disk.spill(Layout.of((row, 1), (kind, 1)), -(-n_rows // at_once)) as answers:
        with (
            disk.spill(Layout.of((np.int32, 1), (kind, 1)), n_places) as held,
            disk.spill(Layout.of((np.int32, 1), (row, 1)), n_places) as asked,
        ):
            for kinds, own in numbers:
                held.append(place[kinds], [kinds, own])
            for kinds, rows, _ in counted.people():
                asked.append(place[kinds], [kinds, rows])
            held.finish()
            asked.finish()
            borders = np.searchsorted(place, np.arange(n_places + 1))
            for p in range(n_places):
                first = np.int32(borders[p])
                turns = _Turns(counts[borders[p] : borders[p + 1]], kind)
                kinds, own = held.read(p)
                turns.add(kinds - first, own)
                turns.shuffle(source.child("kinds", p))
                kinds, rows = asked.read(p)
                answers.append(rows.astype(np.int64) // at_once, [rows, turns.take(kinds - first)])
        answers.finish()
        if not counted.identified:
            yield from ((rows, None, found) for rows, found in _in_order(answers, at_once, n_rows))
            return
        waiting = _in_order(answers, at_once, n_rows)
        left = np.empty(0, kind)
        for _, rows, identifiers in counted.people():
            while len(left) < len(rows):
                left = np.concatenate([left, next(waiting)[1]])
            yield rows, identifiers, left[: len(rows)]
            left = left[len(rows) :]


def _in_order(answers: Spill, at_once: int, n_rows: int) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    """Rows and the groups of people, in the order of rows."""
    for p, first in enumerate(range(0, n_rows, at_once)):
        rows, found = answers.read(p)
        groups = np.empty_like(found)
        groups[rows.astype(np.int64) - first] = found
        yield np.arange(first, first + len(groups)), groups
