# SPDX-License-Identifier: Apache-2.0
"""Contents: what a release says, read from its tables as an attacker or an analyst reads them.

Every kind of release says the same two things: how sensitive values are distributed over groups, and which people may
be in which group. The first is a histogram for every group. The second is a list of *seats*: a seat is what stands in
place of a record's quasi-identifiers, with the group it belongs to and how many records have it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.cells import MISSING, SUPPRESSED, quoted, settled, text_of
from glasshouse.cells.ranges import ranges_in
from glasshouse.errors import InputError, NotSupported
from glasshouse.release.layout import COUNT, FOREIGN, LEFT, PART_ROWS
from glasshouse.unpacking.headroom import refuse_without_room

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.release import Release
    from glasshouse.release.layout import Layout

__all__ = ["Contents", "Published", "Seats", "left_by"]

_READ = 100  # bytes that reading takes for a person, and then an answer to a question
_FITS = 1 << 62  # keys stay below this, or are numbered anew


@dataclass(frozen=True, eq=False)
class Seats:
    """The published quasi-identifiers: different combinations of cells with the group to which they belong."""

    quasi: tuple[str, ...]  # the attributes, in order
    cells: tuple[tuple[str, ...], ...]  # for each attribute the different texts of its cells
    of_seat: tuple[NDArray[np.int32], ...]  # for each attribute which of these texts every seat shows
    # group, count: the group (or batch) of every seat, and how many records sit there
    group: NDArray[np.int32]
    count: NDArray[np.int64]
    foreign: bool = False  # whether another tool wrote the cells

    def __len__(self) -> int:
        return len(self.group)

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """The place of every seat: seats with the same cells share a place; a person fits all of them or none."""
        return _numbered(self.of_seat)[0]

    def places_of(self, texts: Sequence[Sequence[str]], codes: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """At which place some rows are, by the texts of their cells, attribute by attribute; -1 if nobody shows them.

        ``texts`` are the different cells of each attribute, and ``codes`` tell which of them every row shows.
        """
        found = []
        for cells, words, own in zip(self.cells, texts, codes, strict=True):
            index = {cell: i for i, cell in enumerate(cells)}
            found.append(np.array([index.get(word, -1) for word in words], np.int32)[own])
        known = np.all([own >= 0 for own in found], axis=0)
        both = tuple(np.concatenate([seat, np.maximum(own, 0)]) for seat, own in zip(self.of_seat, found, strict=True))
        number, n_numbers = _numbered(both)
        place = np.full(n_numbers, -1, np.int64)
        place[number[: len(self)]] = self.place
        return np.where(known, place[number[len(self) :]], -1)


@dataclass(frozen=True, eq=False)
class Contents:
    """What a release says of one sensitive column, or of several whose values are side by side in its rows.

    Several columns are treated as one: its values are the combinations that some row has, as tuples.
    """

    layout: Layout  # how its tables are written
    column: str  # the sensitive column; of several, all their names
    values: tuple[Any, ...]  # its published values
    seats: tuple[Seats, ...]  # one table of seats, or one for each marginal
    # offsets, codes, counts: group ``g`` has ``counts[i]`` records with ``values[codes[i]]`` for ``offsets[g] <= i <
    # offsets[g + 1]``
    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    # of several columns, by name: the values of each in their order, and which of them every combination has
    several: Mapping[str, tuple[tuple[Any, ...], NDArray[np.int64]]] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns; none if the release has none."""
        return tuple(self.several) or ((self.column,) if self.column else ())

    @property
    def kind(self) -> str:
        """The form of its tables: ``boxes``, ``anatomy``, ``permutation``, ``angel`` or ``sample``."""
        return self.layout.kind

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.offsets) - 1

    @property
    def widest(self) -> Seats:
        """The table of seats with the most attributes."""
        self.refuse_untied()
        return max(self.seats, key=lambda seats: len(seats.quasi))

    def refuse_untied(self) -> None:
        """Refuse a release with several marginals none of which ties people to values."""
        if not self.seats:
            raise NotSupported(
                f"no table of the release links quasi-identifiers to {self.column}",
                instead="the release shows how often each value occurs, but not which people have it, so nobody can "
                "be attacked, and a question can only be about quasi-identifiers",
            )

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Records in each group."""
        return np.add.reduceat(np.append(self.counts, 0), self.offsets[:-1]) if self.n_groups else np.empty(0, np.int64)

    @classmethod
    def of(cls, release: Release, column: str | None = None) -> Contents:
        """Read a release; with several sensitive columns, name the one that is attacked."""
        sensitive = release.recipe.sensitive
        if not sensitive:
            raise NotSupported(
                "a release without a sensitive column cannot be attacked",
                instead="publish a table with a sensitive column first: without one there is no value that an "
                "attacker could learn",
            )
        if column is None and len(sensitive) > 1:
            raise InputError(
                f"the release has several sensitive columns ({', '.join(sensitive)}): name the one that you mean "
                "(column=)"
            )
        column = sensitive[0] if column is None else column
        if column not in sensitive:
            known = f"{'one of ' * (len(sensitive) > 1)}{', '.join(sensitive)}"
            raise InputError(f"{column!r} is not a sensitive column of the release: name {known}")
        _refuse_too_large(release)
        if release.layout.size is not None:
            return cls._sample(release, column)
        return cls._together(release, column) if release.layout.counted is None else cls._apart(release, column)

    @classmethod
    def of_several(cls, release: Release, columns: Sequence[str]) -> Contents:
        """Read several sensitive columns together, where every row has the values of one person side by side."""
        assert release.layout.side_by_side
        _refuse_too_large(release)
        return cls._together(release, *columns)

    @classmethod
    def without_values(cls, release: Release) -> Contents:
        """Read the quasi-identifiers of a release without a sensitive column: every record has one unnamed value."""
        _refuse_too_large(release)
        (table,) = release.tables.values()
        cells, of_row = _coded(table, release.recipe.quasi, release)
        seats = _seats(release.recipe.quasi, cells, of_row, None, foreign=release.layout is FOREIGN)
        offsets = np.arange(len(seats.count) + 1)
        return cls(release.layout, "", (None,), (seats,), offsets, np.zeros(len(seats.count), np.int32), seats.count)

    @classmethod
    def _together(cls, release: Release, *columns: str) -> Contents:
        """One table with quasi-identifiers and sensitive values."""
        (table,) = release.tables.values()
        quasi = release.recipe.quasi
        cells, of_row = _coded(table, quasi, release)
        layout, n_groups = release.layout, None
        group: NDArray[np.int32] | NDArray[np.int64]
        if layout.number is None:
            group, n_groups = _numbered(of_row)
        else:
            group = _groups(table, layout.number)
        several: dict[str, tuple[tuple[Any, ...], NDArray[np.int64]]] = {}
        if len(columns) == 1:
            values, code = _values(table[columns[0]])
        else:
            values, code, several = _combined({name: _values(table[name]) for name in columns})
        offsets, codes, counts = _histogram(group, code, len(values), n_groups)
        seats = _seats(quasi, cells, of_row, group, foreign=layout is FOREIGN)
        return cls(layout, ", ".join(columns), values, (seats,), offsets, codes, counts, several)

    @classmethod
    def _apart(cls, release: Release, column: str) -> Contents:
        """Read sensitive values that are counted by group in a separate table."""
        own = next(t for t in release.tables.values() if column in t.column_names and COUNT in t.column_names)
        number = str(release.layout.number)
        values, code = _values(own[column])
        weights = np.asarray(own[COUNT]).astype(np.int64)
        offsets, codes, counts = _histogram(_groups(own, number), code, len(values), None, weights)
        found = []
        for table in release.tables.values():
            quasi = tuple(name for name in release.recipe.quasi if name in table.column_names)
            if quasi and number in table.column_names:
                cells, of_row = _coded(table, quasi, release)
                found.append(_seats(quasi, cells, of_row, _groups(table, number)))
        return cls(release.layout, column, values, tuple(found), offsets, codes, counts)

    @classmethod
    def _sample(cls, release: Release, column: str) -> Contents:
        """One perturbed record of every group; the histogram is that of the sample."""
        table = release.data
        quasi = release.recipe.quasi
        cells, of_row = _coded(table, quasi, release)
        values, code = _values(table[column])
        group = np.arange(table.num_rows, dtype=np.int64)
        offsets, codes, counts = _histogram(group, code, len(values), table.num_rows)
        sizes = np.asarray(table[release.layout.size]).astype(np.int64)
        seats = Seats(quasi, cells, of_row, group.astype(np.int32), sizes)
        return cls(release.layout, column, values, (seats,), offsets, codes, counts)


Published = Contents


def left_by(release: Release, seats: Seats, labels: Sequence[int | str]) -> NDArray[np.int64]:
    """How many people of each seat's place are known to have left in one of some editions."""
    gone = np.zeros(int(seats.place.max(initial=-1)) + 1, np.int64)
    if release.left is not None:
        when = release.left[LEFT].to_pylist()
        table = release.left.filter(pa.array([label in labels for label in when]))
        cells, of_row = _coded(table, seats.quasi, release)
        place = seats.places_of(cells, of_row)
        gone += np.bincount(place[place >= 0], minlength=len(gone))
    return gone[seats.place]


def _refuse_too_large(release: Release) -> None:
    """Refuse to read a large release if there is not enough memory."""
    if release.n_tuples > PART_ROWS:
        doing = f"reading a release of {release.n_tuples:,} people, in addition to loading it,"
        refuse_without_room(release.n_tuples * _READ, doing, instead="use a machine with more memory")


def _groups(table: pa.Table, number: str) -> NDArray[np.int32]:
    """The group of every row, counted from 0."""
    groups = np.empty(table.num_rows, np.int32)
    start = 0
    for chunk in table[number].chunks:
        np.subtract(np.asarray(chunk), 1, out=groups[start : start + len(chunk)], casting="unsafe")
        start += len(chunk)
    return groups


def _coded(
    table: pa.Table, names: tuple[str, ...], release: Release
) -> tuple[tuple[tuple[str, ...], ...], tuple[NDArray[np.int32], ...]]:
    """The different texts of every attribute's cells, and which each row shows.

    Where the values themselves are published, those that look like cells are put in quotes. Where another tool left a
    cell empty, it suppressed the value.
    """
    write = quoted if release.layout.exact else text_of
    empty = SUPPRESSED if release.layout is FOREIGN else MISSING
    texts, codes = [], []
    for name in names:
        column = table[name].combine_chunks()
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        words = [write(value) for value in encoded.dictionary.to_pylist()]
        indices = encoded.indices
        if encoded.null_count:
            words += [] if empty in words else [empty]
            indices = indices.fill_null(words.index(empty))
        texts.append(tuple(words))
        codes.append(np.asarray(indices).astype(np.int32, copy=False))
    return tuple(texts), tuple(codes)


def _values(column: pa.ChunkedArray) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
    """The different sensitive values in their order, and the place of each row's."""
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    encoded = plain.dictionary_encode().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # of no rows
        encoded = encoded.chunk(0) if encoded.num_chunks else pa.array([], plain.type).dictionary_encode()
    values = [settled(value) for value in encoded.dictionary.to_pylist()]
    places = [one.place for one in ranges_in(values) if one is not None] or [()] * len(values)
    order = sorted(range(len(values)), key=lambda i: (str(type(values[i])), places[i], values[i]))
    rank = np.empty(len(values) + 1, np.int32)
    rank[order] = np.arange(len(values), dtype=np.int32)
    rank[-1] = len(values)
    indices = np.asarray(encoded.indices.fill_null(len(values)) if encoded.null_count else encoded.indices)
    return (*(values[i] for i in order), *([None] if encoded.null_count else [])), rank[indices]


def _combined(
    columns: Mapping[str, tuple[tuple[Any, ...], NDArray[np.int32]]],
) -> tuple[tuple[Any, ...], NDArray[np.int32], dict[str, tuple[tuple[Any, ...], NDArray[np.int64]]]]:
    """The different combinations of values in their order, the place of each row's, and what each is made of."""
    number, n_combinations = _numbered(tuple(code for _, code in columns.values()))
    row = np.zeros(n_combinations, np.int64)
    row[number] = np.arange(len(number))
    several = {name: (values, code[row].astype(np.int64)) for name, (values, code) in columns.items()}
    found = zip(*([values[i] for i in codes.tolist()] for values, codes in several.values()), strict=True)
    return tuple(found), number.astype(np.int32), several


def _numbered(columns: tuple[NDArray[np.int32], ...]) -> tuple[NDArray[np.int64], int]:
    """Number the different combinations of cells, in their order: rows that show the same are a group.

    Neighbours that are equal are found first, and only one of each run is sorted: published rows lie group by group.
    """
    runs, key = _runs(columns)
    distinct, number = np.unique(key, return_inverse=True)
    lengths = np.diff(runs, append=len(columns[0]))
    return np.repeat(number.reshape(-1).astype(np.int64), lengths), len(distinct)


def _runs(columns: tuple[NDArray[np.int32], ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where runs of equal rows begin, and a number for each, ascending in the order of its cells."""
    n = len(columns[0])
    new = np.zeros(n, bool)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    runs = np.flatnonzero(new)
    key, n_keys = np.zeros(len(runs), np.int64), 1
    for column in columns:
        radix = int(column.max(initial=0)) + 1
        if n_keys * radix >= _FITS:
            distinct, key = np.unique(key, return_inverse=True)
            key, n_keys = key.reshape(-1), len(distinct)
        key *= radix
        key += column[runs]
        n_keys *= radix
    return runs, key


def _histogram(
    group: NDArray[np.int32] | NDArray[np.int64],
    code: NDArray[np.int32],
    n_values: int,
    n_groups: int | None,
    weights: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Sparse histograms of the groups."""
    n_groups = int(group.max(initial=-1)) + 1 if n_groups is None else n_groups
    keys = np.multiply(group, n_values, dtype=np.int64)
    keys += code
    if (keys[1:] > keys[:-1]).all():  # as values are counted that are published apart: group after group, each once
        counts = np.ones(len(keys), np.int64) if weights is None else weights
    else:
        keys, place = np.unique(keys, return_inverse=True)
        counts = np.bincount(place.reshape(-1), weights=weights, minlength=len(keys)).astype(np.int64)
    offsets = np.searchsorted(keys, np.arange(n_groups + 1) * n_values)
    keys %= n_values
    return offsets.astype(np.int64), keys.astype(np.int32), counts


def _seats(
    quasi: tuple[str, ...],
    cells: tuple[tuple[str, ...], ...],
    of_row: tuple[NDArray[np.int32], ...],
    group: NDArray[np.int32] | NDArray[np.int64] | None,
    *,
    foreign: bool = False,
) -> Seats:
    """Put rows with the same cells and the same group onto one seat; without groups, every seat is one."""
    runs, key = _runs(of_row if group is None else (*of_row, group.astype(np.int32, copy=False)))
    counts = np.diff(runs, append=len(of_row[0]))
    if not (key[1:] > key[:-1]).all():  # a seat is all runs of the same cells, in the order of cells
        order = np.argsort(key, kind="stable")
        key = key[order]
        starts = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
        del key
        counts, runs = np.add.reduceat(counts[order], starts), runs[order[starts]]
    own = np.arange(len(runs), dtype=np.int32) if group is None else group[runs].astype(np.int32)
    return Seats(quasi, cells, tuple(codes[runs] for codes in of_row), own, counts, foreign)
