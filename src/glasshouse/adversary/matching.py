# SPDX-License-Identifier: Apache-2.0
"""Matching: which people may sit on which seats of a release.

People with equal quasi-identifiers are alike and are matched once. Points (people) and boxes (seats) are cut apart
together, on one attribute after another, until few are left to compare: near the number of answers for boxes that are
disjoint, and for those that overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from glasshouse.adversary.cell_codes import codes_of_cells
from glasshouse.errors import SchemaError
from glasshouse.microdata.groups import alike

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata import Column, Microdata
    from glasshouse.release.contents import Seats

__all__ = ["Kinds", "Matches", "match", "seats_in_words"]

_PAIRS = 1 << 16  # so many pairs of a point and a box are compared at once
_DENSE = 1 << 25  # so many pairs of a cell and a value may be held in a table


class Kinds(NamedTuple):
    """People grouped by equal values: the kind of every person, one person of every kind, and the sizes of kinds."""

    of_person: NDArray[np.int64]
    examples: NDArray[np.int64]
    n_alike: NDArray[np.int64]

    @classmethod
    def of(cls, people: Microdata, names: Iterable[str]) -> Kinds:
        """Put people with equal values of these attributes together."""
        groups = alike([people.column(name) for name in names])
        examples = np.empty(groups.n_groups, np.int64)
        examples[groups.labels[::-1]] = np.arange(people.n_tuples)[::-1]
        return cls(groups.labels.astype(np.int64), examples, groups.sizes)

    @property
    def n_kinds(self) -> int:
        """How many kinds there are."""
        return len(self.examples)


@dataclass(frozen=True, eq=False)
class Matches:
    """For every kind of person the seats that cover them: ``seats[offsets[i]:offsets[i + 1]]``, ascending."""

    offsets: NDArray[np.int64]
    seats: NDArray[np.int32]

    @property
    def of_match(self) -> NDArray[np.int64]:
        """The kind of person of every match."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @property
    def unmatched(self) -> NDArray[np.int64]:
        """The kinds of people whom no seat covers."""
        return np.flatnonzero(np.diff(self.offsets) == 0)


def match(people: Microdata, kinds: NDArray[np.int64], seats: Seats, *, pairs: int = _PAIRS) -> Matches:
    """Find the seats of every kind of people on a list: ``kinds`` has one row number for each.

    So many ``pairs`` are compared at once; tests force small ones.
    """
    known = [column.name for column in people.quasi]
    for name in seats.quasi:
        if name not in known:
            raise SchemaError.unknown(name, known, role="a quasi-identifier of the release")
    columns = [people.column(name) for name in seats.quasi]
    axes = [_Axis(column, seats) for column in columns]
    points = np.stack([column.codes[kinds] for column in columns], axis=1)
    found = list(_together(points, axes, np.arange(len(kinds)), np.arange(len(seats)), pairs))
    who = np.concatenate([np.empty(0, np.int64), *(pair[0] for pair in found)])
    where = np.concatenate([np.empty(0, np.int64), *(pair[1] for pair in found)])
    order = np.lexsort((where, who))
    offsets = np.searchsorted(who[order], np.arange(len(kinds) + 1))
    return Matches(offsets.astype(np.int64), where[order].astype(np.int32))


def seats_in_words(seats: Seats, seat: int) -> str:
    """What a seat shows, attribute by attribute."""
    shown = zip(seats.quasi, seats.cells, seats.of_seat, strict=True)
    return ", ".join(f"{name} {texts[codes[seat]]}" for name, texts, codes in shown)


class _Axis:
    """One attribute: the codes that every cell covers, and the smallest and largest of them."""

    def __init__(self, column: Column, seats: Seats) -> None:
        covered = codes_of_cells(column.domain, seats, column.name)
        self.shown = shown = seats.of_seat[seats.quasi.index(column.name)]
        empty = np.iinfo(np.int32)
        self.low = np.array([codes[0] if len(codes) else empty.max for codes in covered], np.int32)[shown]
        self.high = np.array([codes[-1] if len(codes) else empty.min for codes in covered], np.int32)[shown]
        solid = all(len(codes) == 0 or codes[-1] - codes[0] + 1 == len(codes) for codes in covered)
        self.table = None
        if not solid and len(covered) * column.domain.size <= _DENSE:
            self.table = np.zeros((len(covered), column.domain.size), bool)
            for i, codes in enumerate(covered):
                self.table[i, slice(codes.start, codes.stop) if isinstance(codes, range) else codes] = True
        self.sparse = None if solid or self.table is not None else [set(map(int, codes)) for codes in covered]

    def covers(self, seats: NDArray[np.int64], codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether each of the seats covers each of the codes (seats x codes)."""
        if self.table is not None:
            return self.table[self.shown[seats][:, np.newaxis], codes[np.newaxis, :]]
        inside = (self.low[seats][:, np.newaxis] <= codes) & (codes <= self.high[seats][:, np.newaxis])
        if self.sparse is not None:
            for i, j in zip(*np.nonzero(inside), strict=True):
                inside[i, j] = int(codes[j]) in self.sparse[self.shown[seats[i]]]
        return np.asarray(inside)


def _together(
    points: NDArray[np.int32], axes: Sequence[_Axis], who: NDArray[np.int64], where: NDArray[np.int64], pairs: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs of a point and a seat that covers it, among these points and seats."""
    stack = [(who, where)]
    while stack:
        some, seats = stack.pop()
        if not len(some) or not len(seats):
            continue
        spans = points[some].max(axis=0) - points[some].min(axis=0)
        if len(some) * len(seats) <= pairs or not spans.any():
            yield from _compared(points, axes, some, seats, pairs)
            continue
        axis = int(np.argmax([_gain(points[some, d], axes[d], seats) if spans[d] else -1.0 for d in range(len(axes))]))
        codes = points[some, axis]
        middle = int(np.partition(codes, len(codes) // 2)[len(codes) // 2])
        middle -= middle == codes.max()  # both sides keep a point
        left = codes <= middle
        stack.append((some[left], seats[axes[axis].low[seats] <= middle]))
        stack.append((some[~left], seats[axes[axis].high[seats] > middle]))


def _gain(codes: NDArray[np.int32], axis: _Axis, seats: NDArray[np.int64]) -> float:
    """The share of seats that lie on one side of the middle only."""
    middle = np.partition(codes, len(codes) // 2)[len(codes) // 2]
    middle -= middle == codes.max()
    return float(np.mean((axis.high[seats] <= middle) | (axis.low[seats] > middle)))


def _compared(
    points: NDArray[np.int32], axes: Sequence[_Axis], some: NDArray[np.int64], seats: NDArray[np.int64], pairs: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Compare every point with every seat."""
    step = max(1, pairs // len(some))
    for start in range(0, len(seats), step):
        part = seats[start : start + step]
        inside = np.ones((len(part), len(some)), bool)
        for d, axis in enumerate(axes):
            inside &= axis.covers(part, points[some, d])
        i, j = np.nonzero(inside)
        yield some[j], part[i]
