# SPDX-License-Identifier: Apache-2.0
"""Predicates: descriptions of people that are read off the cells of a release, and how many people they fit.

The box of a group is the smallest around its people, so somebody is at each end of an interval, somebody has each
listed value of a set, and a node of a taxonomy has people below at least two of its children. Who says "in this box,
and at this end of it" describes few people, and often one. Cohen, "Attacks on Deidentification's Defenses", USENIX
Security 2022, builds downcoding and singling out on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from glasshouse.adversary.cell_codes import CellReader, codes_of_cells
from glasshouse.adversary.matching import Kinds, match
from glasshouse.adversary.risks.risk import Rate
from glasshouse.cells import Interval, Missing, Node, OrMissing, Set, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.cells import Cell
    from glasshouse.microdata import Column, Microdata
    from glasshouse.microdata.taxonomy.taxonomy import BoundTaxonomy
    from glasshouse.randomness import Draws
    from glasshouse.release.contents import Seats

__all__ = ["Predicates", "ends_of", "places_of", "projected"]

_FITS = 1 << 62  # keys stay below this, or are numbered again


def projected(seats: Seats, names: Sequence[str]) -> Seats:
    """The same seats with some of their attributes alone."""
    chosen = [seats.quasi.index(name) for name in names]
    return replace(
        seats,
        quasi=tuple(names),
        cells=tuple(seats.cells[d] for d in chosen),
        of_seat=tuple(seats.of_seat[d] for d in chosen),
    )


def places_of(seats: Seats) -> Seats:
    """One seat for all seats that show the same cells, in any group."""
    place = seats.place
    n_places = int(place.max(initial=-1)) + 1
    first = np.empty(n_places, np.int64)
    first[place[::-1]] = np.arange(len(seats))[::-1]
    return replace(
        seats,
        of_seat=tuple(codes[first] for codes in seats.of_seat),
        group=np.arange(n_places, dtype=np.int32),
        count=np.bincount(place, weights=seats.count, minlength=n_places).astype(np.int64),
    )


def ends_of(cell: Cell, children: Mapping[str, Sequence[str]]) -> tuple[Cell, ...]:
    """The properties that a person in a cell can have besides being in it: none if the cell is one value.

    >>> ends_of(Interval(21, 60), {}), ends_of(Value(21), {})
    ((Value(value=21), Value(value=60)), ())
    >>> ends_of(OrMissing(Value(21)), {})
    (Value(value=21), Missing())
    >>> ends_of(Node("south"), {"south": ["Rome", "Faro"]})
    (Node(label='Rome'), Node(label='Faro'))
    """
    match cell:
        case OrMissing(inner):
            return (*(ends_of(inner, children) or ((inner,) if isinstance(inner, Value | Node) else ())), Missing())
        case Interval(low, high, closed_low, closed_high):
            closed = ((low, closed_low), (high, closed_high))
            return tuple(Value(end) for end, is_in in closed if is_in and end is not None)
        case Set(values):
            return tuple(Value(value) for value in values)
        case Node(label):
            below = children.get(label, ())
            while len(below) == 1:  # a node with one child is the same as that child
                below = children.get(below[0], ())
            return tuple(Node(child) for child in below)
    return ()


@dataclass(frozen=True, eq=False)
class Predicates:
    """All descriptions "in this box, and at these ends of it" that a table of seats offers.

    A description takes one end of each of so many attributes ``together``. With 0 it is the box alone, which is for
    releases whose cells are the quasi-identifiers themselves.
    """

    places: Seats  # different combinations of cells
    ends: tuple[tuple[tuple[Cell, ...], ...], ...]  # for each attribute the ends of each of its different cells
    together: int

    @classmethod
    def of(cls, seats: Seats, people: Microdata, together: int) -> Predicates:
        """Read the predicates from the cells, using the values, orders and taxonomies of a table."""
        places = places_of(seats)
        ends = []
        for d, name in enumerate(places.quasi):
            column = people.column(name)
            codes_of_cells(column.domain, places, name)  # a cell that cannot be read is refused
            reader = CellReader(column.domain, foreign=places.foreign)
            children = _children(column)
            ends.append(tuple(_different(ends_of(reader.read(text), children)) for text in places.cells[d]))
        return cls(places, tuple(ends), together)

    def shuffled(self, draws: Draws) -> Predicates:
        """The same number of boxes, with each attribute's cells shuffled at random among them."""
        shown = tuple(codes[draws.permutation(len(self.places))] for codes in self.places.of_seat)
        return replace(self, places=replace(self.places, of_seat=shown))

    @property
    def n_predicates(self) -> int:
        """How many there are."""
        of_attribute = [self._n_ends(d) for d in range(len(self.places.quasi))]
        largest = max((int(counts.max(initial=0)) for counts in of_attribute), default=0)
        kind = np.int64 if max(largest, 1) ** self.together * len(self.places) < _FITS else object
        total = 0
        for chosen in combinations(of_attribute, self.together):
            at_place = np.ones(len(self.places), kind)
            for counts in chosen:
                at_place = at_place * counts
            total += int(at_place.sum())
        return total

    def isolating(self, people: Microdata) -> Rate:
        """How many of them fit exactly one of these people."""
        found = _Found.of(self, people)
        isolating = sum(
            found.isolated([(found.ends[d], self._n_ends(d)) for d in chosen])
            for chosen in combinations(range(len(self.places.quasi)), self.together)
        )
        return Rate(isolating, self.n_predicates)

    def _n_ends(self, d: int) -> NDArray[np.int64]:
        """The number of ends of an attribute's cell, at every place."""
        return np.array([len(ends) for ends in self.ends[d]], np.int64)[self.places.of_seat[d]]

    def end_at(self, d: int, column: Column, cells: NDArray[np.int32], codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Which end of a cell each of these values is, of one attribute; -1 where it is none."""
        reader = CellReader(column.domain, foreign=self.places.foreign)
        known = _labels(column)
        keys, numbers = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for cell, ends in enumerate(self.ends[d]):
            for number, end in enumerate(ends):
                if isinstance(end, Node) and end.label not in known:
                    continue  # nobody in this table is below that node
                at = np.asarray(reader.codes_of(end), np.int64)
                keys.append(cell * np.int64(column.domain.size) + at)
                numbers.append(np.full(len(at), number, np.int64))
        all_keys, all_numbers = np.concatenate(keys), np.concatenate(numbers)
        order = np.argsort(all_keys, kind="stable")
        all_keys, all_numbers = all_keys[order], all_numbers[order]
        wanted = cells.astype(np.int64) * column.domain.size + codes
        if not len(all_keys):
            return np.full(len(wanted), -1, np.int64)
        place = np.minimum(np.searchsorted(all_keys, wanted), len(all_keys) - 1)
        return np.where(all_keys[place] == wanted, all_numbers[place], -1)


class _Found(NamedTuple):
    """Kinds of people in boxes: the box of each match, the number of people, and their end of each cell."""

    place: NDArray[np.int64]
    n_people: NDArray[np.int64]
    ends: list[NDArray[np.int64]]

    @classmethod
    def of(cls, predicates: Predicates, people: Microdata) -> _Found:
        places = predicates.places
        kinds = Kinds.of(people, places.quasi)
        matches = match(people, kinds.examples, places)
        kind, place = matches.of_match, matches.seats.astype(np.int64)
        ends = []
        for d, name in enumerate(places.quasi):
            column = people.column(name)
            codes = column.codes[kinds.examples[kind]]
            ends.append(predicates.end_at(d, column, places.of_seat[d][place], codes))
        return cls(place, kinds.n_alike[kind], ends)

    def isolated(self, chosen: Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> int:
        """How many descriptions by ends of these attributes fit exactly one person; for each: ends, and how many."""
        at_ends = np.ones(len(self.place), bool)
        key, n_keys = self.place, int(self.place.max(initial=0)) + 1
        for ends, n_ends in chosen:
            at_ends &= ends >= 0
            radix = int(n_ends.max(initial=0)) + 1
            if n_keys * radix >= _FITS:
                distinct, number = np.unique(key, return_inverse=True)
                key, n_keys = number.reshape(-1), len(distinct)
            key, n_keys = key * radix + np.maximum(ends, 0), n_keys * radix
        _, number = np.unique(key[at_ends], return_inverse=True)
        fitting = np.bincount(number.reshape(-1), weights=self.n_people[at_ends])
        return int(np.count_nonzero(fitting == 1))


def _different(ends: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """The ends of a cell, each once; a cell of a single value has none."""
    found = tuple(dict.fromkeys(ends))
    return found if len(found) > 1 or len(ends) <= 1 else ()


def _labels(column: Column) -> frozenset[str]:
    tree = column.domain.taxonomy
    return frozenset() if tree is None else frozenset(tree.labels)


def _children(column: Column) -> dict[str, list[str]]:
    """The labels below each node, by the node's label; for the whole taxonomy, if it is listed value by value."""
    tree, domain = column.domain.taxonomy, column.domain
    if tree is None:
        return {}
    if domain.tree is not None and domain.tree.is_listed:
        tree = domain.tree.bind(domain.name, pa.array(domain.tree.leaves))
    return _by_parent(tree)


def _by_parent(tree: BoundTaxonomy) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node, parent in enumerate(tree.parents.tolist()):
        if parent >= 0:
            found.setdefault(tree.labels[parent], []).append(tree.labels[node])
    return found
