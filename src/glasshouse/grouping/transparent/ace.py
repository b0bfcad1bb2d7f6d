# SPDX-License-Identifier: Apache-2.0
"""Ace: deal the sensitive values out into buckets at random, then slice every bucket by quasi-identifiers.

Xiao, Tao, Koudas, "Transparent anonymization", ACM TODS 35(2), 2010, section 3.2. The buckets are chosen without a look
at any quasi-identifier, and sliced without a look at which sensitive value a column has; so the two parts may be read
by an adversary who knows them both.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from glasshouse.engines import Nodes
from glasshouse.grouping.method import frequency_ell
from glasshouse.grouping.perimeter import Places, weighted_places
from glasshouse.grouping.top.nodes import Bag
from glasshouse.grouping.top.piece import bound_to
from glasshouse.grouping.transparent.ace_counts import ace_pieces
from glasshouse.grouping.transparent.node_counts import offsets_of
from glasshouse.grouping.transparent.packed_rows import PackedRows, packed_rows
from glasshouse.grouping.transparent.penalties import (
    Custom,
    Discernibility,
    Judge,
    Penalty,
    Perimeter,
    Transparent,
    judged,
)
from glasshouse.grouping.transparent.tie_order import ties_in_order
from glasshouse.kernels import compiled, interpreted
from glasshouse.microdata.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.grouping.independence import Independent
    from glasshouse.grouping.top.piece import Piece
    from glasshouse.microdata import Column, Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Draws, Source

    _Shapes = tuple[NDArray[np.int32], NDArray[np.int32]]  # of some buckets: lengths and widths

__all__ = ["Ace", "Buckets", "Thresholds", "ace_segments", "finished_buckets", "sliced_buckets", "sliced_segments"]

KERNELS = "glasshouse.grouping.transparent._ace_kernels"
ASSIGNING = "glasshouse.grouping.transparent._assign_kernels"

# Segments are worked on in pieces of about this many tuples, each with random choices of its own.
PIECE = 1 << 18
_STACK = 80  # the longer part of a division waits, so columns of 2^31 tuples need 32 places


@dataclass(frozen=True, kw_only=True, slots=True)
class Ace(Transparent):
    """Deal records into buckets (Assign, Fig. 6), then divide every bucket canonically into single groups (Slice).

    Assign takes the beta most frequent sensitive values that are left, and alpha random records of each: a *bucket*, of
    beta >= l columns of alpha records. Slice takes from every column the same number of records from the top, in the
    order of one attribute: the division with the least (penalty, attribute, size of the first part), Definitions 11
    and 12, until every column has one record. Each group so has beta different sensitive values, and each of them once.

    Parameters
    ----------
    penalty
        What a part of a division costs: ``"perimeter"`` (Eq. 4); ``"discernibility"``, under which every division is
        made in the middle of the first attribute's order: groups are the ranks in it; or a custom function; for its
        requirements see `glasshouse.grouping.transparent.penalties.Custom`.

    Guarantee
    ---------
    Transparent l-diversity (TRANSPARENT Theorem 2 with Lemmas 5 and 6): even an attacker who knows everyone's
    quasi-identifiers, this algorithm and l, and assumes that all tables are equally likely, gives no sensitive value of
    anybody a probability above 1/l. Nothing is guaranteed against an attacker who knows the random choices, or other
    people's sensitive values.

    Cost
    ----
    Assign is linear. Slice is O(n d^2 log n) where divisions are balanced, and O(n^2) in the worst case: ten million
    records with four attributes take about three times as long as sorting ten million numbers. Records are held packed,
    and once more as columns: 60 bytes a record for up to four attributes of up to 128 values, of one piece at a time.
    Buckets of more people are sliced as counts, in O(c d^2 log c) for each with c kinds of people; with a custom
    function everybody is one piece. Where perimeters do not fit into 64 bits, a record takes a tenth of a millisecond.
    A custom function is tried on every division, O(d a n) for each level of buckets with columns of a records: a
    thousand records with two attributes and twenty sensitive values take a tenth of a second, two thousand twice to
    four times as long.

    References
    ----------
    TRANSPARENT 3.2, Figures 5, 6 and 8. After ``beta = beta + 1`` Figure 6 goes on with the choice of alpha; printed,
    it would begin anew with beta = l and not end. Equally frequent sensitive values come in the order of their codes.

    Examples
    --------
    Example 6: the groups of Table X. Cate and Don may change places, and nothing else is left to chance.

    >>> import glasshouse as gh
    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.transparent_t5()
    >>> groups = Ace().divide(table, Requirement.of(LDiversity(ell=2), table), source=gh.Source.seeded(1))
    >>> names = table.identifier.to_pylist()
    >>> sorted([names[i] for i in range(8) if groups.labels[i] == g] for g in range(groups.n_groups))
    [['Ann', 'Bob'], ['Cate', 'Hera'], ['Don', 'Fred'], ['Ed', 'Gill']]
    """

    name: ClassVar[str] = "ace"
    in_words: ClassVar[str] = (
        "People are put at random into buckets, in which each of several sensitive values occurs equally often. Each "
        "bucket is then divided along the quasi-identifiers until every group has exactly one person with each of "
        "these values."
    )
    randomised: ClassVar[bool] = True
    theorem: ClassVar[str] = (
        "TRANSPARENT Theorem 2: if two people in a group had each other's values, the method would have been equally "
        "likely to form the published groups (Lemmas 5 and 6), so the groups do not show which of them has which value"
    )

    def independent(self, requirement: Requirement) -> Independent:
        """Slices tie the values of all groups of a bucket to each other."""
        return "buckets"

    def _divided(
        self,
        table: Microdata,
        ell: int,
        column: Column,
        source: Source,
        engine: Memory,
        sections: NDArray[np.int32] | None = None,
    ) -> Groups:
        """Divide ``table``, or each of its sections, by random choices of ``source``."""
        places = weighted_places(table)
        rows = packed_rows(table, column, ties_in_order(table, source, engine, sections))
        offsets = np.array([0, table.n_tuples]) if sections is None else offsets_of(sections)
        penalty = judged(self.penalty, table, "Ace")
        return ace_segments(rows, offsets, places, ell, source, engine, penalty=penalty)

    def _pieces(self, kinds: Kinds, ell: int, column: Column, source: Source, most: int) -> list[Piece]:
        """Deal kinds into buckets, as counts, and slice these until they are small."""
        everybody = Bag(np.arange(len(kinds), dtype=np.int32), kinds.counts)
        halves = isinstance(self.penalty, Discernibility)
        return ace_pieces(kinds, everybody, column.codes, ell, source, ("ace",), most, halves=halves)

    def finish(self, kinds: Kinds, piece: Piece, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide the people of a piece, or slice its buckets."""
        if piece.task[0] == "slice":
            return finished_buckets(kinds, piece, requirement, source, engine, self.penalty)
        return Transparent.finish(self, kinds, piece, requirement, source, engine)


def ace_segments(
    rows: PackedRows,
    offsets: NDArray[np.int64],
    places: Places,
    ell: int,
    source: Draws,
    engine: Memory,
    *,
    penalty: Penalty | Judge | None = None,
    thresholds: Thresholds | None = None,
) -> Groups:
    """Run Ace on every segment, the records from ``offsets[s]`` to ``offsets[s + 1]``, as if it were a table by itself.

    All records of a table come packed, segment after segment, each in tie order, and every segment is l-eligible. The
    places are those of the whole table: perimeters are relative to it also inside segments. Each piece of work, which
    segments alone decide, draws from a child of ``source``. The penalty is as `judged` prepares it for the table of
    ``rows``, None for the perimeter; a judge's function is called by the calling thread alone. No choice of
    ``thresholds`` changes a group.
    """
    run = _Run(rows, places, ell, penalty or Perimeter(), thresholds or Thresholds())
    return run.groups(offsets, source, engine.threads or os.cpu_count() or 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Buckets:
    """A plan: the buckets, and the number of records of each class (segment, value) in every column of them.

    Attributes
    ----------
    segments
        Where each segment of the records begins; one more entry than there are segments.
    classes, values
        Segment s has the classes ``classes[s] .. classes[s + 1] - 1``, each of one value.
    runs, handed
        Class c is ``handed[runs[c] : runs[c + 1]]``: for each of its records the number of a column.
    columns
        The place at which each column begins.
    lengths, widths
        Of every bucket, the records of a column, and the columns.
    """

    segments: NDArray[np.int64]
    classes: NDArray[np.int64]
    values: NDArray[np.int32]
    runs: NDArray[np.int64]
    handed: NDArray[np.int32]
    columns: NDArray[np.int64]
    lengths: NDArray[np.int32]
    widths: NDArray[np.int32]


def sliced_segments(
    rows: PackedRows,
    offsets: NDArray[np.int64],
    places: Places,
    plan: Callable[[NDArray[np.int32], NDArray[np.int64], Draws], Buckets],
    source: Draws,
    engine: Memory,
    *,
    thresholds: Thresholds | None = None,
) -> Groups:
    """Divide every segment into the buckets of a ``plan`` of its sensitive codes, and slice them as Ace does.

    ``plan`` is called with the codes of some segments, where each of them begins, and random choices. The records of a
    class are dealt to its columns uniformly at random.
    """
    run = _Planned(rows, places, 1, Perimeter(), thresholds or Thresholds())
    run.plan = plan
    return run.groups(offsets, source, engine.threads or os.cpu_count() or 1)


def sliced_buckets(
    rows: PackedRows,
    lengths: Sequence[int],
    widths: Sequence[int],
    places: Places,
    source: Draws,
    engine: Memory,
    *,
    penalty: Penalty | None = None,
) -> Groups:
    """Slice buckets whose records lie packed bucket after bucket, column after column, in tie order inside of each.

    Bucket b has ``widths[b]`` columns of ``lengths[b]`` records. Nothing is drawn from ``source``.
    """
    run = _Laid(rows, places, 1, penalty or Perimeter(), Thresholds())
    run.lengths, run.widths = np.array(lengths, np.int32), np.array(widths, np.int32)
    run.offsets = np.concatenate([[0], np.cumsum(run.lengths.astype(np.int64) * run.widths)])
    return run.groups(run.offsets, source, engine.threads or os.cpu_count() or 1)


def finished_buckets(
    kinds: Kinds, piece: Piece, requirement: Requirement, source: Source, engine: Memory, penalty: Penalty
) -> Groups:
    """Slice the buckets of a piece, whose sections are their columns.

    People lie in tie order already: kinds ascend in a column, and it does not matter who of a kind comes first.
    """
    people = piece.people(kinds)
    _, column = frequency_ell(bound_to(requirement, people), "Ace")
    rows = packed_rows(people, column, np.arange(people.n_tuples, dtype=np.int32))
    _, lengths, widths = piece.task
    return sliced_buckets(rows, lengths, widths, weighted_places(people), source, engine, penalty=penalty)


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Sizes at which the procedure changes; no choice changes a group.

    Attributes
    ----------
    dense
        A column whose codes spread over at most this many times its length is ordered by counting them.
    short
        Other columns are ordered by insertion up to this length, and by merging beyond.
    pairs
        Buckets of at most so many columns (64 or less) of two records are divided by a shortcut.
    batch
        Buckets of so many records together are one thread's work.
    """

    dense: int = 8
    short: int = 20
    pairs: int = 64
    batch: int = 1 << 17


class _Run:
    """One call of `ace_segments`."""

    def __init__(
        self, rows: PackedRows, places: Places, ell: int, penalty: Penalty | Judge, thresholds: Thresholds
    ) -> None:
        assert not isinstance(penalty, Custom), "a function needs a judge"
        self.tuples = rows.tuples
        self.n_tuples = rows.n_tuples
        self.n_values = rows.n_values
        self.n_words = rows.n_words
        self.spans = rows.fields
        self.largest = max(rows.sizes)
        self.layout = rows.layout
        self.ell = ell
        self.halves = isinstance(penalty, Discernibility)
        self.judge = penalty if isinstance(penalty, Judge) else None
        self.thresholds = thresholds
        self.fits = places.fits
        self.kernels = compiled(KERNELS)
        self.assigning = compiled(ASSIGNING)
        # Perimeters that do not fit into 64 bits are Python's integers: the same loops, interpreted.
        self.slicing = self.kernels if places.fits else interpreted(KERNELS)
        joined = np.concatenate(places.tables)
        self.places: Any = joined.astype(np.int64, copy=False) if places.fits else joined.tolist()
        self.placed = np.empty(self.n_tuples, np.int32)  # row numbers, group after group
        self.rooms: list[_Room] = []

    def groups(self, offsets: NDArray[np.int64], source: Draws, threads: int) -> Groups:
        """Assign and slice all segments."""
        pieces = Nodes(offsets[:-1], offsets[1:]).pieces(PIECE)
        borders = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])])

        def piece(share: Callable[..., Iterable[None]], number: int, a: int, b: int) -> _Shapes:
            return self._piece(offsets[a : b + 1], source.child("ace", number), share)

        ends = [(number, a, b) for number, (a, b) in enumerate(pairwise(borders.tolist()))]
        if threads == 1 or self.judge is not None:  # whether a given function bears several threads is unknown
            buckets = [piece(map, *end) for end in ends]
        else:
            with ThreadPoolExecutor(threads) as pool:
                if len(ends) < threads:  # few and large: their buckets are shared out
                    buckets = [piece(pool.map, *end) for end in ends]
                else:
                    buckets = list(pool.map(lambda end: piece(map, *end), ends))
        lengths, widths = (np.concatenate([pair[i] for pair in buckets]) for i in (0, 1))
        labels = np.empty(self.n_tuples, np.int32)
        self.kernels.label(self.placed, lengths, widths, labels)
        return Groups(labels, int(lengths.sum()))

    def _piece(self, offsets: NDArray[np.int64], source: Draws, share: Callable[..., Iterable[None]]) -> _Shapes:
        """Assign and slice some segments; return the lengths and the widths of their buckets."""
        room = self._room()
        start, stop = int(offsets[0]), int(offsets[-1])
        placed = self.placed[start:stop]
        words, starts, lengths, widths = self._assign(offsets, source, room, placed)
        works = lengths.astype(np.int64) * widths
        batches = Nodes(starts, starts + works).pieces(self.thresholds.batch)
        borders = np.cumsum([0, *(len(batch) for batch in batches)]).tolist()
        list(share(lambda ends: self._slice(words, placed, starts, lengths, widths, *ends), pairwise(borders)))
        self.rooms.append(room)
        return lengths, widths

    def _assign(
        self, offsets: NDArray[np.int64], source: Draws, room: _Room, placed: NDArray[np.int32]
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Deal the records of some segments into buckets: their words, and each bucket's start, length and width."""
        n = len(placed)
        counts, fill = room.zeros("counts", self.n_values), room.take("fill", self.n_values, np.int64)
        keys = room.take("keys", 2 * self.n_values, np.int64)
        handed, values = room.take("handed", n, np.int32), room.take("values", n, np.int32)
        runs, classes = room.take("runs", n + 1, np.int64), room.take("classes", len(offsets), np.int64)
        columns = room.take("columns", n, np.int64)
        n_buckets = n // self.ell
        starts, lengths, widths = np.empty(n_buckets, np.int64), *np.empty((2, n_buckets), np.int32)
        stride = self.n_words + 1
        segments = self.assigning.Segments(self.tuples, offsets, handed, runs, values, classes, columns, fill, stride)
        n_classes, n_buckets = self.assigning.plan(segments, self.ell, counts, keys, starts, lengths, widths)
        assert n_classes >= 0, "a segment is not l-eligible"
        source.shuffle_runs(handed, runs[: n_classes + 1])
        words = room.take("words", n * self.n_words, np.uint64)
        self.assigning.distribute(segments, words, placed)
        return words, starts[:n_buckets].copy(), lengths[:n_buckets].copy(), widths[:n_buckets].copy()

    def _slice(
        self,
        words: NDArray[np.uint64],
        placed: NDArray[np.int32],
        starts: NDArray[np.int64],
        lengths: NDArray[np.int32],
        widths: NDArray[np.int32],
        begin: int,
        end: int,
    ) -> None:
        """Divide buckets ``begin .. end - 1`` into groups."""
        if self.judge is not None:
            for b in range(begin, end):
                bucket = placed[starts[b] : starts[b] + int(lengths[b]) * int(widths[b])]
                bucket[:] = _sliced(self.judge, bucket.reshape(widths[b], lengths[b]))
            return
        room = self._room()
        longest = int(lengths[begin:end].max())
        most = int((lengths[begin:end].astype(np.int64) * widths[begin:end]).max())
        limits = self.thresholds
        slicing = self.slicing.Slicing(
            words,
            placed,
            starts,
            lengths,
            widths,
            *self.layout,
            *self.spans,
            self.places,
            room.take("spare words", (most + 1) * self.n_words, np.uint64),
            room.take("spare", most + 1, np.int32),
            room.take("ranks", 2 * most, np.int32),
            room.take("reach", 2 * longest * self.n_words, np.uint64),
            room.take("tail widths", longest, np.int64) if self.fits else [0] * longest,
            room.take("sorting", 2 * longest, np.int64),
            room.take("tally", 4 * self.largest, np.int32),
            room.take("stack", 2 * _STACK, np.int64),
            room.take("boxes", (_STACK + 3) * self.n_words + self.layout.shape[1] - 1, np.uint64),
            self.halves,
            limits.dense,
            limits.short,
            limits.pairs,
        )
        self.slicing.slice_buckets(slicing, begin, end)
        self.rooms.append(room)

    def _room(self) -> _Room:
        try:
            return self.rooms.pop()
        except IndexError:
            return _Room()


class _Planned(_Run):
    """One call of `sliced_segments`."""

    plan: Callable[[NDArray[np.int32], NDArray[np.int64], Draws], Buckets]

    def _assign(
        self, offsets: NDArray[np.int64], source: Draws, room: _Room, placed: NDArray[np.int32]
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Deal the records of some segments into the buckets of the plan."""
        stride = self.n_words + 1
        last = self.tuples[offsets[0] * stride : offsets[-1] * stride].reshape(-1, stride)[:, -1]
        made = self.plan((last >> np.uint64(32)).astype(np.int32), offsets - offsets[0], source)
        source.shuffle_runs(made.handed, made.runs)
        words = room.take("words", len(placed) * self.n_words, np.uint64)
        segments = self.assigning.Segments(
            self.tuples, made.segments + offsets[0], made.handed, made.runs, made.values, made.classes, made.columns,
            room.take("fill", self.n_values, np.int64), stride,
        )  # fmt: skip
        self.assigning.distribute(segments, words, placed)
        works = made.lengths.astype(np.int64) * made.widths
        return words, np.cumsum(works) - works, made.lengths, made.widths


class _Laid(_Run):
    """One call of `sliced_buckets`."""

    lengths: NDArray[np.int32]
    widths: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def _assign(
        self, offsets: NDArray[np.int64], source: Draws, room: _Room, placed: NDArray[np.int32]
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Return the columns as they are: the records already lie in them."""
        stride = self.n_words + 1
        laid = self.tuples[offsets[0] * stride : offsets[-1] * stride].reshape(-1, stride)
        words = room.take("words", len(placed) * self.n_words, np.uint64)
        words.reshape(-1, self.n_words)[:] = laid[:, :-1]
        placed[:] = laid[:, -1] & np.uint64(0xFFFFFFFF)
        first = int(np.searchsorted(self.offsets, offsets[0]))
        own = slice(first, first + len(offsets) - 1)
        return words, offsets[:-1] - offsets[0], self.lengths[own], self.widths[own]


class _Room:
    """The working memory of one thread, kept from one piece of work to the next because allocation is slow."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def take(self, name: str, size: int, dtype: type) -> NDArray[Any]:
        """Return an array of ``size`` items with arbitrary content."""
        array = self._arrays.get(name)
        if array is None or len(array) < size:
            array = self._arrays[name] = np.empty(size, dtype)
        return array[:size]

    def zeros(self, name: str, size: int) -> NDArray[np.int64]:
        """Return an array of zeros, which its user must set to zeros again."""
        if name not in self._arrays:
            self._arrays[name] = np.zeros(size, np.int64)
        return self._arrays[name]


def _sliced(judge: Judge, bucket: NDArray[np.int32]) -> NDArray[np.int32]:
    """Figure 8 for one bucket (columns x records, in tie order), under a custom penalty: group after group."""
    waiting, groups = [bucket], []
    while waiting:
        columns = waiting.pop()
        if columns.shape[1] == 1:
            groups.append(columns[:, 0])
            continue
        dim, size = judge.cheapest(columns, 1)
        by_value = judge.ascending(columns, dim)
        for part in (by_value[:, size:], by_value[:, :size]):
            waiting.append(np.take_along_axis(columns, np.sort(part, axis=1), axis=1))
    return np.concatenate(groups)
