# SPDX-License-Identifier: Apache-2.0
"""Whereabouts: the group of every person, for the audit, found on the cluster.

A release knows how many people of each kind are in which group, and any of them may be: nothing that is published tells
them apart. The audit must decide, for later tables over the same groups. So the people of a kind are put in the order
of a keyed hash of their identifiers, which goes with nothing else that may be known about them, and take the groups of
their kind one after another. Identifiers go from the frame, sealed, to the tasks that make parts of the audit; these
lie sealed in the shared folder until the driver joins them.
"""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc

from glasshouse.errors import SourceError
from glasshouse.microdata.reading.normal_form import normalise
from glasshouse.release.package.parts import TableWriter
from glasshouse.streaming.port import Parts
from glasshouse.streaming.stages import numbered_piece

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from glasshouse.journeys.plan import Plan
    from glasshouse.randomness import Source
    from glasshouse.spark.engine import Engine
    from glasshouse.streaming.parcel import Parcel
    from glasshouse.streaming.stages import Divided, WrittenTables

__all__ = ["KindFinder", "write_whereabouts"]

_NAME = "partition"


@dataclass(frozen=True, eq=False)
class KindFinder:
    """Finds the kinds of people by their values in the columns of a frame.

    Parameters
    ----------
    values
        The different values of each column, a missing one among them if there is one.
    steps
        For each column but the first: which numbers are made of that of the columns before and its own, ascending.
    kinds
        The kind of each combination, in the order of the last numbers.

    Examples
    --------
    >>> rows = [pa.array([7, 7, None]), pa.array(["a", "b", "a"])]
    >>> finder = KindFinder.of(rows, np.array([5, 6, 7], np.int32))
    >>> finder.kinds_of([pa.array([None, 7]), pa.array(["a", "b"])]).tolist()
    [7, 6]
    """

    values: tuple[pa.Array, ...]
    steps: tuple[NDArray[np.int64], ...]
    kinds: NDArray[np.int32]

    @classmethod
    def of(cls, rows: Sequence[pa.Array], kinds: NDArray[np.int32]) -> KindFinder:
        """A finder that knows the kind of each of some rows, which are all different."""
        values = tuple(_plain(column).unique() for column in rows)
        number = np.zeros(len(kinds), np.int64)
        steps = []
        for known, column in zip(values, rows, strict=True):
            distinct, number = np.unique(number * len(known) + _places(known, column), return_inverse=True)
            steps.append(distinct)
        of_number = np.empty(len(kinds), np.int32)
        of_number[number] = kinds
        return cls(values, tuple(steps), of_number)

    def kinds_of(self, columns: Sequence[pa.Array]) -> NDArray[np.int32]:
        """The kinds of people with these values; `SourceError` if there was nobody with such values before."""
        number = np.zeros(len(columns[0]), np.int64)
        for known, distinct, column in zip(self.values, self.steps, columns, strict=True):
            places = _places(known, column)
            wanted = number * len(known) + places
            number = np.minimum(np.searchsorted(distinct, wanted), len(distinct) - 1)
            if len(wanted) and (places.min() < 0 or (distinct[number] != wanted).any()):
                raise SourceError(
                    "the rows of the frame have changed since they were counted, so nothing was published: do not "
                    "change it, and publish again"
                )
        return self.kinds[number]


def _plain(column: pa.Array) -> pa.Array:
    """The same values, with equal ones unified: 0.0 and -0.0, and all values that are not numbers."""
    if not pa.types.is_floating(column.type):
        return column
    wide = pc.add(column, pa.scalar(0, column.type))
    return pc.if_else(pc.is_nan(wide), pa.scalar(float("nan"), column.type), wide)


def _places(known: pa.Array, column: pa.Array) -> NDArray[np.int64]:
    found = pc.index_in(_plain(column), value_set=known, skip_nulls=False).fill_null(-1)
    return np.asarray(found).astype(np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Ballast:
    """The shared data of all tasks: how kinds are found, their counts, and where kinds and groups begin."""

    finder: KindFinder
    counts: NDArray[np.int64]
    borders: NDArray[np.int64]  # the first kind of each place but the first
    first: NDArray[np.int64]
    n_groups: int
    whole: NDArray[np.int32]  # which kind of the table each kind is that somebody of was kept


def write_whereabouts(
    engine: Engine,
    people: DataFrame,
    file: Path,
    *,
    finder: KindFinder,
    plan: Plan,
    counts: NDArray[np.int64],
    written: WrittenTables,
    part_rows: int,
) -> None:
    """Write the group of everybody, by identifier, into a file of the audit.

    Parameters
    ----------
    engine
        The engine that divided the pieces, and keeps their groups.
    people
        A frame with the identifier first, and then the columns that the finder knows.
    file
        The file.
    finder, counts
        How the kind of a person is found, and how many people there are of each kind.
    plan, written
        What was decided, and what was published.
    part_rows
        About how many people a task puts in their order.
    """
    ends = np.cumsum(counts)
    place = (ends - counts) // part_rows
    borders = np.flatnonzero(np.diff(place)) + 1
    ballast = _Ballast(
        finder=finder,
        counts=counts,
        borders=borders,
        first=written.first,
        n_groups=written.n_groups,
        whole=np.flatnonzero(plan.kept).astype(np.int32),
    )
    table = Parts(name=_NAME, n_parts=len(borders) + 1, n_words=2)
    parts = engine.reunite(people, _people, _rows, table, _finish, ballast=ballast)
    with ExitStack() as stack:
        writer: TableWriter | None = None
        for part in engine.opened(parts):
            if writer is None:
                opened = TableWriter(file, part.schema.remove_metadata(), "parquet", {}, numbers=("group",))
                writer = stack.enter_context(opened)
            writer.write(part)


def _people(batch: pa.RecordBatch, ballast: _Ballast, source: Source) -> Iterator[tuple[int, bytes]]:
    """Send everybody to the place of the own kind, with a keyed hash of the identifier."""
    kinds = ballast.finder.kinds_of(batch.columns[1:])
    places = np.searchsorted(ballast.borders, kinds, side="right")
    (identifiers,) = normalise(pa.table({"identifier": batch.column(0)}))[0].columns
    identifiers = identifiers.combine_chunks()
    key = np.asarray(source.child("who is who").belows(256, 32), np.uint8).tobytes()
    texts = (repr(value).encode() for value in identifiers.to_pylist())
    hashes = b"".join(hashlib.blake2b(text, key=key, digest_size=16).digest() for text in texts)
    words = np.frombuffer(hashes, np.uint64).reshape(-1, 2)
    everybody = pa.table({"kind": kinds, "high": words[:, 0], "low": words[:, 1], "identifier": identifiers})
    for place in np.unique(places).tolist():
        sink = pa.BufferOutputStream()
        some = everybody.take(pa.array(np.flatnonzero(places == place)))
        with ipc.new_stream(sink, some.schema) as stream:
            stream.write_table(some)
        yield place, sink.getvalue().to_pybytes()


def _rows(
    parcel: Parcel, divided: Divided, ballast: _Ballast, source: Source
) -> Iterator[tuple[int, NDArray[Any], NDArray[np.uint64]]]:
    """The kind and the group of everybody in a piece."""
    piece = numbered_piece(parcel, divided, int(ballast.first[parcel.number]), ballast.n_groups, source)
    kinds = ballast.whole[parcel.everywhere(piece.kinds)]
    places = np.searchsorted(ballast.borders, kinds, side="right")
    words = np.stack([kinds.astype(np.uint64), piece.number_words()[piece.labels]], axis=1)
    yield 0, places, words


def _finish(part: int, words: NDArray[np.uint64], loose: Sequence[memoryview], ballast: _Ballast) -> pa.Table:
    """Let the people of each kind take its groups, in the order of their hashes; some may have none."""
    people = pa.concat_tables([ipc.open_stream(pa.py_buffer(content)).read_all() for content in loose])
    kinds, high, low = (people[name].to_numpy() for name in ("kind", "high", "low"))
    order = np.lexsort((low, high, kinds))
    own = kinds[order]
    kind, start, many = np.unique(own, return_index=True, return_counts=True)
    first, last = (int(ballast.borders[i]) if 0 <= i < len(ballast.borders) else None for i in (part - 1, part))
    if not np.array_equal(kind, np.arange(len(ballast.counts))[first:last]) or (many != ballast.counts[kind]).any():
        raise SourceError(
            "the rows of the frame have changed since they were counted, so nothing was published: do not change it, "
            "and publish again"
        )
    groups = words[np.lexsort((words[:, 1], words[:, 0]))]
    wanted = np.searchsorted(groups[:, 0], kind.astype(np.uint64), side="left")
    there = np.searchsorted(groups[:, 0], kind.astype(np.uint64), side="right") - wanted
    place = np.arange(len(own)) - np.repeat(start, many)
    has_one = place < np.repeat(there, many)
    numbers = np.zeros(len(own), np.int64)
    numbers[has_one] = groups[:, 1].astype(np.int64)[(np.repeat(wanted, many) + place)[has_one]] + 1
    group = pa.array(numbers, mask=~has_one)
    if ballast.n_groups < 2**31:
        group = group.cast(pa.int32())
    found = pa.table({"identifier": people["identifier"].take(pa.array(order)), "group": group})
    return found.take(pa.array(np.lexsort((low[order], high[order]))))  # not kind after kind
