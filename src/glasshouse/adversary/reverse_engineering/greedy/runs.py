# SPDX-License-Identifier: Apache-2.0
"""Runs: where the groups of a release lie along an order that the attacker knows.

Methods that group along an order of the quasi-identifiers publish groups that are runs of it. The list of people is
sorted in the same way; then each published group, by its cells and its size, has one place. Groups that lie inside one
cell (people with equal quasi-identifiers) may stand there in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.cell_codes import codes_of_cells
from glasshouse.adversary.matching import match
from glasshouse.engines import Memory
from glasshouse.errors import InputError, NotSupported, SchemaError
from glasshouse.grouping.along_order.orderings import hilbert, lexicographic
from glasshouse.microdata.groups import tie_order
from glasshouse.plural import counted
from glasshouse.randomness import Source
from glasshouse.release.layout import TAXONOMIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from glasshouse.adversary.task import Task
    from glasshouse.grouping.along_order.greedy import Greedy, RandomisedGreedy
    from glasshouse.microdata import Column
    from glasshouse.release.contents import Seats

    Integers = NDArray[np.int64]

__all__ = ["Layout", "lay_out"]

_MOST_TRIED = 10  # places of a group that are tried, for each group there is


@dataclass(frozen=True, eq=False)
class Layout:
    """Published groups along the order."""

    order: NDArray[np.int32]  # people (row numbers) along the order
    fresh: NDArray[np.uint8]  # whether quasi-identifiers differ from those of the person before
    # starts, group: run ``r`` lies between ``starts[r]`` and ``starts[r + 1]`` and is the published group
    # ``group[r]``. People after the last run are not published.
    starts: Integers
    group: NDArray[np.int32]
    inside: NDArray[np.bool_]  # whether all people of a run have equal quasi-identifiers
    hidden: bool  # whether neighbouring groups with equal cells are published as one, so that a run may be several
    columns: tuple[Column, ...]  # the quasi-identifiers, by priority
    taxonomies: bool  # whether cells are nodes of taxonomies

    def allowed(self, run: int, size: int) -> NDArray[np.bool_]:
        """Whether what lies between two borders of a run's buckets has the cells of the whole run."""
        start, stop = int(self.starts[run]), int(self.starts[run + 1])
        borders = [*range(start, stop, size), stop]
        found = np.zeros((len(borders), len(borders)), bool)
        whole = self._box(start, stop)
        for j, high in enumerate(borders):
            for i, low in enumerate(borders[:j]):
                found[i, j] = self._box(low, high) == whole
        return found

    def may_be_several(self, run: int, size: int) -> bool:
        """Whether a run that is not inside a cell can be cut in two that have its cells."""
        start, stop = int(self.starts[run]), int(self.starts[run + 1])
        whole = self._box(start, stop)
        return any(self._box(start, at) == whole == self._box(at, stop) for at in range(start + size, stop, size))

    def _box(self, start: int, stop: int) -> tuple[tuple[int, int], ...]:
        return _cells(self.columns, self.order[start:stop], taxonomies=self.taxonomies)


def lay_out(task: Task, method: Greedy | RandomisedGreedy, size: int) -> Layout:
    """Find the run of every published group, for buckets of ``size`` people; identifiers, if any, break ties."""
    people, published, taxonomies = task.people, task.contents, task.recoding.layout is TAXONOMIES
    seats = next((seats for seats in published.seats if len(seats.quasi) == len(people.quasi)), None)
    if seats is None:
        raise NotSupported(
            "the order of the people in the groups cannot be reconstructed, because no published table has "
            "all quasi-identifiers",
            instead="use linking",
        )
    names = [column.name for column in people.quasi]
    for name in method.priority:
        if name not in names:
            raise SchemaError.unknown(name, names, role="priority")
    columns = tuple(people.column(name) for name in dict.fromkeys((*method.priority, *names)))
    codes = [_occurring(column) for column in columns]
    engine = Memory()
    ties = None if people.identifier is None else tie_order(people, Source.seeded(0))
    order = (hilbert if method.ordering == "hilbert" else lexicographic)(codes, ties, engine)
    fresh = np.zeros(len(order), np.uint8)
    fresh[:1] = 1
    for column in columns:
        along = column.codes[order]
        fresh[1:] |= along[1:] != along[:-1]
    if len(order) < published.sizes.sum():
        raise InputError(
            f"the release has {counted(int(published.sizes.sum()), 'record')}, and the external table has only "
            f"{counted(len(order), 'person')}: give everybody who is in the published table"
        )
    finder = _Finder(task, columns, order, fresh, seats, size)
    if published.kind != "boxes":
        group = finder.by_cells() if finder.shows_values else finder.by_search(together=True)
    else:
        sorts = method.ordering == "lexicographic" and not taxonomies
        group = finder.by_boxes() if sorts else finder.by_search(together=False)
    starts = np.concatenate([[0], np.cumsum(published.sizes[group])])
    whole_cells = np.concatenate([[0], np.cumsum(fresh)])
    inside = whole_cells[starts[1:]] - whole_cells[np.minimum(starts[:-1] + 1, len(fresh))] == 0
    if published.kind != "boxes" and people.identifier is not None:
        cells = whole_cells[starts[:-1] + 1][inside]
        if len(np.unique(cells)) < len(cells):
            raise NotSupported(
                "it cannot be reconstructed who is in which group: in several groups all people have the same "
                "quasi-identifiers, and identifiers decided their order",
                instead="use linking",
            )
    return Layout(order, fresh, starts, group, inside, published.kind == "boxes", columns, taxonomies)


def _occurring(column: Column) -> NDArray[np.int32]:
    """Codes as they are where only these people are read: of values that occur."""
    if column.domain.tree is not None:
        return column.codes
    occurs = np.bincount(column.codes, minlength=column.domain.size) > 0
    return column.codes if occurs.all() else (np.cumsum(occurs) - 1).astype(np.int32)[column.codes]


def _cells(columns: tuple[Column, ...], rows: NDArray[np.int32], *, taxonomies: bool) -> tuple[tuple[int, int], ...]:
    """The codes that the cells of a box around some people cover: the least and the largest."""
    ends = [(int(codes.min()), int(codes.max())) for codes in (column.codes[rows] for column in columns)]
    if not taxonomies:
        return tuple(ends)
    return tuple(_node(column, *pair) for column, pair in zip(columns, ends, strict=True))


class _Finder:
    """Looks for the places of the groups along the order."""

    def __init__(
        self,
        task: Task,
        columns: tuple[Column, ...],
        order: NDArray[np.int32],
        fresh: NDArray[np.uint8],
        seats: Seats,
        size: int,
    ) -> None:
        self.people, self.published, self.taxonomies = task.people, task.contents, task.recoding.layout is TAXONOMIES
        self.columns, self.order, self.fresh, self.seats, self.size = columns, order, fresh, seats, size
        place = {name: i for i, name in enumerate(seats.quasi)}
        self.ends, self.shown = [], []  # by attribute: the least and largest code of every text, and each seat's text
        for column in columns:
            covered = codes_of_cells(column.domain, seats, column.name)
            pairs = [(found[0], found[-1]) if len(found) else (-1, -1) for found in covered]
            self.ends.append(np.array(pairs, np.int32).reshape(-1, 2))
            self.shown.append(seats.of_seat[place[column.name]])

    def _sides(self, side: int) -> Iterator[NDArray[np.int32]]:
        """The smallest (0) or largest (1) code of every seat, for each attribute."""
        for ends, shown in zip(self.ends, self.shown, strict=True):
            yield ends[:, side][shown]

    @property
    def shows_values(self) -> bool:
        """Whether every cell is one value."""
        return all(np.array_equal(ends[:, 0], ends[:, 1]) for ends in self.ends)

    # exact quasi-identifiers

    def by_cells(self) -> NDArray[np.int32]:
        """Sort groups by the first and last cell that they have; only those inside one cell can be alike."""
        first = np.flatnonzero(self.fresh)
        sizes = [column.domain.size for column in self.columns]
        own = [column.codes[self.order[first]] for column in self.columns]
        rank = _numbered(own, self._sides(0), len(self.seats), sizes)
        if rank is None:
            raise _others()
        n_groups = self.published.n_groups
        by_group = np.lexsort((rank, self.seats.group))
        edges = np.searchsorted(self.seats.group[by_group], np.arange(n_groups + 1))
        ranked = rank[by_group]
        group = self._sorted([ranked[edges[:-1]], ranked[edges[1:] - 1]])
        # every group must have as many records in every cell as its run
        starts = np.concatenate([[0], np.cumsum(self.published.sizes[group])])
        marks = self.fresh[: starts[-1]].astype(bool)
        marks[starts[:-1]] = True
        slots = np.flatnonzero(marks)
        cells = np.cumsum(self.fresh)[slots] - 1
        run = np.searchsorted(starts, slots, side="right") - 1
        lengths = np.diff(np.append(slots, starts[-1]))
        again = np.lexsort((cells, group[run]))
        same = (
            len(slots) == len(by_group)
            and np.array_equal(group[run][again], self.seats.group[by_group])
            and np.array_equal(cells[again], ranked)
            and np.array_equal(lengths[again], self.seats.count[by_group])
        )
        if not same:
            raise _others()
        return group

    # boxes

    def by_boxes(self) -> NDArray[np.int32]:
        """Sort groups by their boxes.

        Along a lexicographic order a box's first and last value on the first attribute never fall; two boxes in which
        they are the same lie in one value of it, and the second attribute decides, and so on.
        """
        of_group = np.empty(self.published.n_groups, np.int64)
        of_group[self.seats.group] = np.arange(len(self.seats))
        ends = [side[of_group] for pair in zip(self._sides(0), self._sides(1), strict=True) for side in pair]
        group = self._sorted(ends)
        starts = np.concatenate([[0], np.cumsum(self.published.sizes[group])])
        for column, low, high in zip(self.columns, ends[::2], ends[1::2], strict=True):
            codes = column.codes[self.order[: starts[-1]]]
            least, most = np.minimum.reduceat(codes, starts[:-1]), np.maximum.reduceat(codes, starts[:-1])
            if not (np.array_equal(least, low[group]) and np.array_equal(most, high[group])):
                raise _others()
        return group

    def _sorted(self, keys: list[Any]) -> NDArray[np.int32]:
        """Sort groups; of those that are alike, one with a shorter bucket is the last."""
        keys = [*keys, self.published.sizes % self.size != 0]
        return np.lexsort(keys[::-1]).astype(np.int32)

    # anything

    def by_search(self, *, together: bool) -> NDArray[np.int32]:
        """Find the order by search with backtracking; `NotSupported` if there are several ways."""
        first = np.flatnonzero(self.fresh)
        cell = np.cumsum(self.fresh) - 1
        sizes, seats = self.published.sizes, self.seats
        matches = match(self.people, self.order[first].astype(np.int64), seats)
        fits = [
            np.unique(seats.group[matches.seats[matches.offsets[i] : matches.offsets[i + 1]]]).tolist()
            for i in range(len(first))
        ]
        places = None
        if together:
            of_cell = [
                np.unique(seats.place[matches.seats[matches.offsets[i] : matches.offsets[i + 1]]])
                for i in range(len(first))
            ]
            if any(len(found) != 1 for found in of_cell):
                raise NotSupported(
                    "the groups cannot be reconstructed, because some people fit several cells", instead="use linking"
                )
            places = np.array([found[0] for found in of_cell])[cell]
        contents = self._contents()

        def candidates(at: int, used: set[int]) -> list[int]:
            found: dict[Any, int] = {}
            for group in fits[cell[at]]:
                stop = at + int(sizes[group])
                if group in used or stop > len(cell):
                    continue
                shown = self._looks(at, stop, places)
                if shown == contents[group]:
                    found.setdefault(shown, group)  # which of several that look alike is decided below
            return list(found.values())

        answer = self._only_way(candidates, len(cell))
        self._check_alike(answer, contents, cell)
        return np.array(answer, np.int32)

    def _only_way(self, candidates: Callable[[int, set[int]], list[int]], n_people: int) -> list[int]:
        """The groups in the one order in which each can follow on the one before."""
        sizes = self.published.sizes
        n_groups = self.published.n_groups
        path: list[int] = []
        used: set[int] = set()
        ends = [0]
        waiting = [candidates(0, used)]
        answer: list[int] | None = None
        tried = 0
        while waiting:
            if len(path) == n_groups and answer is not None:
                raise _several()
            if len(path) == n_groups:
                answer = list(path)
            if not waiting[-1]:
                waiting.pop()
                ends.pop()
                if path:
                    used.discard(path.pop())
                continue
            group = waiting[-1].pop()
            tried += 1
            if tried > _MOST_TRIED * n_groups + 1000:
                raise NotSupported(
                    "the groups cannot be reconstructed: there are too many possibilities to try", instead="use linking"
                )
            path.append(group)
            used.add(group)
            ends.append(ends[-1] + int(sizes[group]))
            waiting.append([] if len(path) == n_groups else candidates(ends[-1], used) if ends[-1] < n_people else [])
        if answer is None:
            raise _others()
        return answer

    def _check_alike(self, answer: list[int], contents: list[Any], cell: NDArray[Any]) -> None:
        """Refuse where groups that look alike can change places, unless all of them lie in one cell."""
        at = 0
        cells_of: dict[Any, list[tuple[int, int]]] = {}
        for group in answer:
            stop = at + int(self.published.sizes[group])
            cells_of.setdefault(contents[group], []).append((int(cell[at]), int(cell[stop - 1])))
            at = stop
        for spans in cells_of.values():
            if len(spans) > 1 and len({end for span in spans for end in span}) > 1:
                raise _several()

    def _contents(self) -> list[Any]:
        """What every group shows, to be compared with `_looks`."""
        seats = self.seats
        found: list[list[tuple[int, int]]] = [[] for _ in range(self.published.n_groups)]
        whole = self.published.kind == "boxes"
        sides = list(zip(self._sides(0), self._sides(1), strict=True))
        for seat, group in enumerate(seats.group.tolist()):
            if whole:
                found[group] = [(int(a[seat]), int(b[seat])) for a, b in sides]
            else:
                found[group].append((int(seats.place[seat]), int(seats.count[seat])))
        return [tuple(shown) if whole else tuple(sorted(shown)) for shown in found]

    def _looks(self, start: int, stop: int, places: Integers | None) -> Any:
        if places is not None:
            found, counts = np.unique(places[start:stop], return_counts=True)
            return tuple(zip(found.tolist(), counts.tolist(), strict=True))
        return _cells(self.columns, self.order[start:stop], taxonomies=self.taxonomies)


def _node(column: Column, low: int, high: int) -> tuple[int, int]:
    """The codes of the lowest node of a taxonomy over two codes."""
    tree = column.domain.taxonomy
    if tree is None:
        return low, high
    over = [(int(a), int(b)) for a, b in tree.ranges.tolist() if a <= low and high <= b]
    return min(over, key=lambda pair: pair[1] - pair[0])


def _numbered(
    cells: list[NDArray[np.int32]], seats: Iterator[NDArray[np.int32]], n_seats: int, factors: list[int]
) -> Integers | None:
    """The number of each seat's cell; None where a seat shows a value that nobody has."""
    n_cells = len(cells[0])
    own, shown = np.zeros(n_cells, np.int64), np.zeros(n_seats, np.int64)
    largest = 1
    for mine, theirs, factor in zip(cells, seats, factors, strict=True):
        if (theirs < 0).any():
            return None
        if largest * factor >= 2**62:  # number what there is, and go on with that
            distinct, numbers = np.unique(np.concatenate([own, shown]), return_inverse=True)
            own, shown, largest = numbers[:n_cells], numbers[n_cells:], len(distinct)
        own *= factor
        own += mine
        shown *= factor
        shown += theirs
        largest *= factor
    order = None if np.all(own[1:] > own[:-1]) else np.argsort(own)
    ordered = own if order is None else own[order]
    place = np.minimum(np.searchsorted(ordered, shown), n_cells - 1)
    if not np.array_equal(ordered[place], shown):
        return None
    return place if order is None else order[place]


def _others() -> InputError:
    return InputError(
        "the method would not form the published groups from these people: check that the people, the principle, "
        "the method and its parameters are those of the release"
    )


def _several() -> NotSupported:
    return NotSupported(
        "the groups cannot be reconstructed, because there is more than one possibility", instead="use linking"
    )
