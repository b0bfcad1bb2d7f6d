# SPDX-License-Identifier: Apache-2.0
"""Coder: converts a table that is read in batches to codes, once the values of its columns are known.

It reads as often as it is asked to, and notices if the table is another than it was at the first reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import SchemaError
from glasshouse.microdata.intake import Arrival, Intake
from glasshouse.microdata.reading.delimited import ROWS_LOOKED_AT
from glasshouse.microdata.reading.normal_form import contiguous
from glasshouse.microdata.reading.normal_form import normalise as normal_form
from glasshouse.microdata.spelling import holds_texts
from glasshouse.streaming.register import Register, is_registrable
from glasshouse.streaming.vocabulary import UNKNOWN, Vocabulary
from glasshouse.streaming.witnesses import Witnesses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.cautions import Written
    from glasshouse.microdata.domains import Column
    from glasshouse.microdata.intake import Options
    from glasshouse.microdata.roles import Roles
    from glasshouse.streaming.batches import Stream

    Progress = Callable[[str, int, int], None]

__all__ = ["Coder"]

_GAP = -2  # what a missing value is coded as in a row that is dropped
_MOST_ROWS = 1 << 20  # of a batch


class _MustBeListed(Exception):
    """The type of the identifiers is only known after all of them were read, so they must be listed."""


def value_type(kind: pa.DataType) -> pa.DataType:
    """The type of values, in a dictionary or not."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


class Coder:
    """A stream whose batches become codes, once the different values of its columns are known."""

    def __init__(self, stream: Stream, roles: Roles, options: Options, weights: str | None, tell: Progress) -> None:
        self.stream, self.roles, self.n_rows = stream, roles, 0
        self._weights, self._tell = weights, tell
        self._stamp = stream.stamp()
        self._drops = False
        self._identifiers: pa.Array | None = None  # by their places in the vocabulary, if they are listed
        # identifiers are listed like other values if they are normalised, or if their type asks for it
        self._listed = roles.published
        self._kind, self._kept = None, False  # of identifiers that are not listed
        if roles.identifier is not None:
            self._kind = stream.fixed_type(roles.identifier)
            unfit = self._kind is not None and not is_registrable(value_type(self._kind))
            if unfit or roles.identifier in options.normalise:
                self._listed, self._kind = roles.columns, None
        while True:
            self._vocabularies = {name: Vocabulary(name) for name in self._listed}
            try:
                self._starts, self._written, self._about_quotes = self._look_through()
                break
            except UnicodeError:
                self.stream = self.stream.in_another_encoding()
            except _MustBeListed:
                self._listed = roles.columns

    # ------------------------------------------------------------------------------------------ the first reading

    def _look_through(self) -> tuple[dict[str, list[pa.Array]], Written, tuple[str, ...]]:
        """Learn the different values of every column; gives the first rows, how records are written, and notices."""
        stream, quotes = self.stream, self.stream.quotes()
        starts: dict[str, list[pa.Array]] = {name: [] for name in self.roles.columns}
        unlisted = self._unlisted if self._kind is None else None
        witnesses = None if unlisted is None else Witnesses(stream, unlisted)
        n_read = self.n_rows = 0
        for batch in stream.batches([*self._vocabularies, *([unlisted] if unlisted else []), *self._weighed], quotes):
            stands_for = self._taken(batch)
            for name, values in batch.items():
                if n_read < ROWS_LOOKED_AT:
                    starts[name].append(values.slice(0, ROWS_LOOKED_AT - n_read))
                if name in self._vocabularies:
                    self._vocabularies[name].see(values, stands_for)
                elif witnesses is not None:
                    witnesses.see(values)
            n_batch = len(batch[self.roles.quasi[0]])
            n_read += n_batch
            self.n_rows += n_batch if stands_for is None else int(stands_for.sum())
            self._tell("reading", n_read, stream.n_rows or 0)
        self._check_stamp()
        written, about_quotes = stream.written(quotes)
        self._has_empty_rows = quotes is not None and quotes.n_empty > 0
        if not n_read:
            raise stream.no_rows()
        if witnesses is not None:
            settled = witnesses.settled()
            if settled is None:
                raise _MustBeListed
            self._kind, self._kept = settled
        for vocabulary in self._vocabularies.values():
            vocabulary.settle()
        self._n_read = n_read
        return starts, written, about_quotes

    @property
    def _weighed(self) -> list[str]:
        return [] if self._weights is None else [self._weights]

    @property
    def _unlisted(self) -> str | None:
        """The identifier, if it has no vocabulary."""
        return self.roles.identifier if self.roles.identifier not in self._vocabularies else None

    def _taken(self, batch: dict[str, pa.Array]) -> NDArray[np.int64] | None:
        """The weights of a batch, removed from it; rows with weight zero are refused."""
        if self._weights is None:
            return None
        values = batch.pop(self._weights)
        if not pa.types.is_integer(values.type) or values.null_count:
            raise SchemaError(
                f"the weights {self._weights!r} must be whole numbers without missing values: each says how many "
                "people its row stands for"
            )
        stands_for: NDArray[np.int64] = values.to_numpy(zero_copy_only=False).astype(np.int64)
        if len(stands_for) and int(stands_for.min()) < 1:
            raise SchemaError(
                f"the weights {self._weights!r} must be 1 or more: each says how many people its row stands for"
            )
        return stands_for

    def intake(self, options: Options) -> Intake:
        """The different values in their normal form, with their counts as weights."""
        raw, weights, orders, texts, kept = {}, {}, {}, {}, []
        for name in sorted(self.roles.columns, key=self.stream.names.index):
            if name == self._unlisted:
                kept += [name] * self._kept
                if self._starts[name] and holds_texts(self._kind):
                    texts[name] = pa.chunked_array(self._starts[name])
                continue
            vocabulary = self._vocabularies[name]
            values, is_kept = self.stream.typed(name, vocabulary.values)
            if is_kept:
                kept.append(name)
            if holds_texts(values.type):
                texts[name] = pa.chunked_array(self._starts[name])
            gaps = [pa.nulls(1, values.type)] if vocabulary.n_missing else []
            entries = pa.concat_arrays([values, *gaps])
            normal, _, _ = normal_form(pa.table({name: entries}), narrow=True)
            raw[name] = contiguous(normal.column(0))
            weights[name] = np.append(vocabulary.counts, [vocabulary.n_missing] if gaps else []).astype(np.int64)
            if vocabulary.order is not None:
                orders[name] = vocabulary.order
        arrival = Arrival(
            kind=self.stream.kind,
            columns=self.stream.columns,
            notices=(*self.stream.assumed(pa.table(texts), kept), *self._about_quotes),
            written=self._written,
            orders=orders,
        )
        self._starts = {}
        self._places = {name: np.arange(len(values)) for name, values in raw.items()}
        return Intake(arrival, self.roles, options, raw, weights)

    # ---------------------------------------------------------------------------------------------- later readings

    def drop(self, intake: Intake) -> None:
        """Read the file again to count the values of the rows without gaps."""
        self._drops = True
        counts = {}
        for name, values in intake.raw.items():
            codes = np.arange(len(values), dtype=np.int32)
            if name in self.roles.published:
                codes[np.asarray(values.is_null())] = _GAP
            self._assign(name, codes)
            counts[name] = np.zeros(len(values), np.int64)
        names = list(intake.raw)
        n_gone = dict.fromkeys(names, 0)
        for batch, stands_for in self._again("dropping", names):
            codes_of = {name: self._vocabularies[name].codes(batch[name]) for name in names}
            complete = self._complete([codes_of[name] for name in self.roles.published])
            for name, codes in codes_of.items():
                some = codes if complete is None else codes[complete]
                rows = stands_for if complete is None or stands_for is None else stands_for[complete]
                if len(some) and int(some.min()) < 0:
                    raise self.stream.changed()
                gone = codes == _GAP
                n_gone[name] += int(gone.sum() if stands_for is None else stands_for[gone].sum())
                counts[name] += np.bincount(some, rows, minlength=len(counts[name])).astype(np.int64)
        for name, before in intake.weights.items():
            gaps = np.asarray(intake.raw[name].is_null()) & (name in self.roles.published)
            if n_gone[name] != int(before[gaps].sum()) or (counts[name] > before).any():
                raise self.stream.changed()
        intake.keep(counts)
        self._places = {name: np.flatnonzero(rows) for name, rows in counts.items()}

    def assign(self, intake: Intake, columns: Sequence[Column]) -> None:
        """Decide on the code of every value."""
        for column in columns:
            name = column.name
            vocabulary = self._vocabularies[name]
            codes = np.full(
                len(vocabulary.values) + (vocabulary.n_missing > 0), _GAP if self._drops else UNKNOWN, np.int32
            )
            codes[self._places[name]] = column.codes
            self._assign(name, codes)
        person = self.roles.identifier
        if person is not None and person in self._vocabularies:
            self._identifiers = intake.raw[person]
            codes = np.full(len(self._vocabularies[person].values), UNKNOWN, np.int32)
            codes[self._places[person]] = np.arange(len(self._identifiers), dtype=np.int32)
            self._assign(person, codes)

    def _assign(self, name: str, codes: NDArray[np.int32]) -> None:
        """Assign codes to values; the last code is that of missing values, if there are any."""
        vocabulary = self._vocabularies[name]
        n_values = len(vocabulary.values)
        vocabulary.assign(codes[:n_values], missing=int(codes[n_values]) if len(codes) > n_values else UNKNOWN)

    def batches(
        self, *, with_identifier: bool = False
    ) -> Iterator[tuple[list[NDArray[np.int32]], NDArray[np.int64] | None, pa.Array | None]]:
        """Read again: the codes of all published columns, the number of people per row, and identifiers."""
        for batch, stands_for in self._again(
            "counting", self.roles.columns if with_identifier else self.roles.published
        ):
            codes = [self._vocabularies[name].codes(batch[name]) for name in self.roles.published]
            complete = self._complete(codes) if self._drops else None
            if complete is not None:
                codes = [own[complete] for own in codes]
                stands_for = None if stands_for is None else stands_for[complete]
            if any(len(own) and int(own.min()) < 0 for own in codes):
                raise self.stream.changed()
            identifiers = None
            if with_identifier and self.roles.identifier is not None:
                given = batch[self.roles.identifier]
                identifiers = self._named(given if complete is None else given.filter(pa.array(complete)))
            yield codes, stands_for, identifiers

    def _named(self, values: pa.Array) -> pa.Array:
        """Identifiers in the form of `read`."""
        name = self.roles.identifier
        assert name is not None
        if self._identifiers is not None:
            places = self._vocabularies[name].codes(values)
            if len(places) and int(places.min()) < 0:
                raise self.stream.changed()
            return self._identifiers.take(pa.array(places))
        kind = self._kind
        if pa.types.is_null(values.type) or kind is None:
            return values
        if holds_texts(values.type) and pa.types.is_integer(value_type(kind)):
            values = pc.ascii_trim_whitespace(values)
        try:
            return values.cast(pa.string() if holds_texts(kind) else value_type(kind))
        except pa.ArrowInvalid:
            raise self.stream.changed() from None

    def register(self, intake: Intake) -> Register | None:
        """The identifiers of all rows that are not dropped, to be checked, where they are not listed."""
        name = self._unlisted
        if name is None:
            return None

        def identifiers() -> Iterator[pa.Array]:
            left = intake.n_rows
            for batch, _ in self._again("identifiers", [*(self.roles.published if self._drops else ()), name]):
                values = batch[name]
                if self._drops:
                    codes = [self._vocabularies[other].codes(batch[other]) for other in self.roles.published]
                    complete = self._complete(codes)
                    values = values if complete is None else values.filter(pa.array(complete))
                left -= len(values)
                if left < 0:
                    break
                is_coded = pa.types.is_dictionary(values.type) and holds_texts(values.type)
                yield values if is_coded else self._named(values)
            if left:
                raise self.stream.changed()

        return Register(name, identifiers, intake.n_rows)

    @staticmethod
    def _complete(codes: Sequence[NDArray[np.int32]]) -> NDArray[np.bool_] | None:
        """Which rows have no gap; None if all are so."""
        whole = None
        for own in codes:
            gaps = own == _GAP
            if gaps.any():
                whole = ~gaps if whole is None else whole & ~gaps
        return whole

    def _again(
        self, phase: str, columns: Sequence[str]
    ) -> Iterator[tuple[dict[str, pa.Array], NDArray[np.int64] | None]]:
        """Read all batches again; `SourceError` if the file was changed in the meantime."""
        self._check_stamp()
        widest = max(len(vocabulary.values) for vocabulary in self._vocabularies.values())
        n_read = 0
        try:
            quotes = self.stream.quotes() if self._has_empty_rows else None
            for batch in self.stream.batches([*columns, *self._weighed], quotes, n_rows=min(widest, _MOST_ROWS)):
                stands_for = self._taken(batch)
                n_read += len(batch[columns[0]])
                yield batch, stands_for
                self._tell(phase, n_read, self._n_read)
        except UnicodeError:
            raise self.stream.changed() from None
        self._check_stamp()
        if n_read != self._n_read:
            raise self.stream.changed()

    def _check_stamp(self) -> None:
        if self.stream.stamp() != self._stamp:
            raise self.stream.changed()
