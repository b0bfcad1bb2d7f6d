# SPDX-License-Identifier: Apache-2.0
"""Survey: what a file larger than memory holds, found by reading it once: types, ranges, texts, sensitive counts.

Kept in memory are the different texts of each column and the counts of sensitive values; of numbers, their range alone,
which a Parquet file mostly tells by itself. The rules are those of `read`: the same types, the same order of values,
the same refusals. With it the file can be read a second time as a stream of packed tuples.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import DomainError, SourceError
from glasshouse.microdata.cautions import Findings, accepted_names
from glasshouse.microdata.domains import Domain, code, kind_of
from glasshouse.microdata.reading import delimited
from glasshouse.microdata.reading.normal_form import contiguous
from glasshouse.microdata.reading.normal_form import normalise as normal_form
from glasshouse.microdata.roles import (
    NOTHING_LEFT,
    Missing,
    Roles,
    by_column,
    dropped_notice,
    names_given,
    refuse_amounts,
    refuse_gaps,
    refuse_infinite,
    respelled_notice,
)
from glasshouse.microdata.spelling import cleaned, declared_spellings, holds_texts, spellings, without_look_alikes
from glasshouse.streaming.packing import Field, Packing, as_integers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.cautions import Caution
    from glasshouse.microdata.reading.quotes import Quotes
    from glasshouse.streaming.batches import Stream

__all__ = ["Survey", "survey"]

_MOST_EXACT_INTEGER = 2**53
# What a column of text may turn out to be instead, from what its beginning looks like.
_ALL = (pa.int64(), pa.float64(), pa.bool_(), pa.date32(), pa.timestamp("us"), pa.string())
_FALLBACKS: dict[str, tuple[pa.DataType, ...]] = {
    "int64": (pa.int64(), pa.float64(), pa.string()),
    "double": (pa.float64(), pa.string()),
    "date32[day]": (pa.date32(), pa.timestamp("us"), pa.string()),
    "null": _ALL,
    "string": (pa.string(),),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Survey:
    """A file that was looked through."""

    packing: Packing  # the quasi-identifiers: how tuples are packed and unpacked
    sensitive: Field  # the sensitive column; its values are listed in their order
    counts: NDArray[np.int64]  # tuples of each sensitive value, missing last if it is a value of its own
    n_rows: int  # of the file
    n_dropped: int  # because a value is missing
    notices: tuple[str, ...]  # what was assumed, in sentences
    cautions: tuple[Caution, ...]  # what must be answered before the file is published
    accepted: tuple[str, ...]  # the names of cautions that were
    _stream: Stream = field(repr=False)
    _columns: dict[str, _Column] = field(repr=False)
    _drop: bool = False

    def tuples(self) -> Iterator[tuple[NDArray[np.int32], NDArray[Any], NDArray[np.int64]]]:
        """Read the file again, batch by batch: sensitive codes, packed quasi-identifiers, and row numbers.

        Rows that are dropped are not counted, as `read` does not count them.
        """
        names = [quasi.name for quasi in self.packing.fields]
        at = 0
        try:
            for batch in _normal_batches(self._stream, self._columns, [*names, self.sensitive.name]):
                if self._drop and (complete := _complete(batch)) is not None:
                    batch = {name: column.filter(pa.array(complete)) for name, column in batch.items()}
                n_rows = len(batch[self.sensitive.name])
                rows = np.arange(at, at + n_rows)
                at += n_rows
                keys = self.packing.pack([batch[name] for name in names])
                yield self.sensitive.places(batch[self.sensitive.name]), keys, rows
        except (_Otherwise, UnicodeError):
            raise SourceError("the file changed while it was read: publish it when nobody writes to it") from None


def survey(
    stream: Stream,
    *,
    quasi: Sequence[str],
    sensitive: str,
    missing: Missing = "error",
    ordered: Mapping[str, Sequence[Any]] | None = None,
    categorical: Sequence[str] = (),
    normalise: Sequence[str] = (),
    accept: Sequence[str] = (),
    progress: Callable[[int], None] = lambda _: None,
) -> Survey:
    """Look through a file; roles and options are those of `read`, and ``progress`` is told how many rows were seen."""
    roles = Roles.of(quasi, [sensitive])
    ordered = by_column("ordered", ordered)
    roles.check(stream.names)
    categorical, normalise = names_given("categorical", categorical), names_given("normalise", normalise)
    accepted = accepted_names(accept, stream.names)
    for option, named in (("ordered", ordered), ("categorical", categorical), ("normalise", normalise)):
        roles.check_option(option, named)
    types, is_typed = stream.types(), stream.decimal is None
    columns = {
        name: _Column(
            name=name,
            candidates=(None,) if is_typed else _FALLBACKS.get(str(types[name]), (types[name], pa.string())),
            decimal=stream.decimal,
            as_text=name in categorical and name != sensitive,
            listed=name == sensitive or name in categorical or name in ordered,
            normalised=name in normalise,
        )
        for name in roles.columns
    }
    while True:
        try:
            return _look_through(stream, columns, roles, missing, ordered, categorical, accepted, progress)
        except _Otherwise as found:
            columns[found.column].settle(found.kind)
        except UnicodeError:
            stream = stream.in_another_encoding()
        for column in columns.values():
            column.forget()


class _Otherwise(Exception):
    """A column is not of the type that it was taken for: look through the file again."""

    def __init__(self, column: str, kind: pa.DataType) -> None:
        self.column = column
        self.kind = kind


@dataclass(kw_only=True)
class _Column:
    """What is known of a column so far."""

    name: str
    candidates: tuple[pa.DataType | None, ...]
    decimal: str | None
    as_text: bool
    listed: bool
    normalised: bool
    order: tuple[Any, ...] | None = None  # of an ordered category, by the file's own account
    kind: pa.DataType | None = None
    kept: bool = False  # as text, though it looks like numbers
    gaps: int = 0
    infinite: int = 0
    low: int | None = None
    high: int | None = None
    counts: dict[Any, int] = field(default_factory=dict)
    n_replaced: int = 0  # spellings

    @property
    def settled_kind(self) -> pa.DataType:
        """The type of a column of which some value was seen."""
        assert self.kind is not None
        return self.kind

    def forget(self) -> None:
        """Begin anew; the type that was settled stays."""
        self.gaps, self.infinite, self.low, self.high, self.counts, self.order = 0, 0, None, None, {}, None
        if self.decimal is not None:
            self.kind = None

    def settle(self, kind: pa.DataType) -> None:
        """Take the column for another type from now on: of text, one that comes later among the candidates."""
        if self.decimal is None:
            self.kind = kind
        else:
            self.candidates = self.candidates[self.candidates.index(kind) :]

    # ------------------------------------------------------------------------------------------- one form for all

    def normal(self, values: pa.Array) -> pa.Array:
        """A batch in the column's normal form; `_Otherwise` where it is of another type."""
        plain = self._from_text(values) if self.decimal is not None else self._from_parquet(values)
        if self.as_text and not holds_texts(plain.type):
            plain = plain.cast(pa.string())
        if self.normalised and holds_texts(plain.type):
            plain = _without_blank(plain)
        return plain

    def _from_parquet(self, values: pa.Array) -> pa.Array:
        kind = values.type
        if pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type):
            if kind.ordered and self.order != ():
                here = tuple(values.dictionary.to_pylist())
                longer, shorter = sorted([here, self.order or ()], key=len, reverse=True)
                self.order = longer if longer[: len(shorter)] == shorter else ()  # anything else is no single order
            return values
        if pa.types.is_integer(kind) and kind != pa.uint64():
            return values
        (plain,) = normal_form(pa.table({self.name: values}))[0].columns
        plain = contiguous(plain)
        if pa.types.is_null(plain.type):
            return plain if self.kind is None else pa.nulls(len(plain), self.kind)
        if self.kind is None:
            self.kind = plain.type
        if plain.type != self.kind:
            wider = plain.type if pa.types.is_date(self.kind) or str(plain.type).startswith("timestamp[ns") else None
            if wider is not None:
                raise _Otherwise(self.name, wider)
            plain = plain.cast(self.kind)
        return plain

    def _from_text(self, texts: pa.Array) -> pa.Array:
        wanted = self.candidates[0]
        if wanted == pa.string():
            return texts
        if pa.types.is_integer(wanted) or pa.types.is_floating(wanted):
            return self._numbers(texts, wanted)
        try:
            return _widest(_clock(texts) if pa.types.is_time(wanted) else texts.cast(wanted))
        except pa.ArrowInvalid:
            raise _Otherwise(self.name, self.candidates[1]) from None

    def _numbers(self, texts: pa.Array, wanted: pa.DataType) -> pa.Array:
        assert self.decimal is not None
        numbers, kept = delimited.numbers_of(pa.chunked_array([texts]), wanted, self.decimal)
        plain = contiguous(numbers)
        if holds_texts(plain.type):
            self.kept = self.kept or kept
            others = [] if kept else [c for c in self.candidates if c not in (pa.int64(), pa.float64())]
            raise _Otherwise(self.name, others[0] if others else pa.string())
        if pa.types.is_integer(wanted) and pa.types.is_floating(plain.type):
            raise _Otherwise(self.name, pa.float64())
        if pa.types.is_floating(wanted) and pa.types.is_integer(plain.type):
            bounds = pc.min_max(plain).as_py()
            if max(-(bounds["min"] or 0), bounds["max"] or 0) > _MOST_EXACT_INTEGER:
                self.kept = True
                raise _Otherwise(self.name, pa.string())
            plain = plain.cast(pa.float64())
        if pa.types.is_floating(plain.type):
            plain = pc.add(plain, 0.0)  # -0.0 + 0.0 is 0.0
        return plain

    # -------------------------------------------------------------------------------------------------- counting

    def see(self, values: pa.Array) -> None:
        """Take a batch into account."""
        if pa.types.is_null(values.type) or values.null_count == len(values):
            return
        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        if self.kind is None:
            self.kind = pa.int64() if pa.types.is_integer(kind) else kind
        if self.listed or holds_texts(kind):
            there = values.drop_null() if values.null_count else values
            for pair in pc.value_counts(there).to_pylist():
                self.counts[pair["values"]] = self.counts.get(pair["values"], 0) + pair["counts"]
        elif pa.types.is_floating(kind):
            self.infinite += int(pc.sum(pc.is_inf(values)).as_py() or 0)
        else:
            span = pc.min_max(as_integers(values)).as_py()
            self.low = span["min"] if self.low is None else min(self.low, span["min"])
            self.high = span["max"] if self.high is None else max(self.high, span["max"])

    def _merge(self, order: Sequence[Any] | None) -> dict[str, str]:
        """Count look-alikes as one value, where that is asked for; gives what each text was replaced by."""
        if not (self.normalised and holds_texts(self.settled_kind)):
            return {}
        if self.order:
            self.order = tuple(without_look_alikes(self.order))
        declared = declared_spellings(map(str, order or self.order or ()), name=self.name)
        # texts of which nothing is left are missing, and were never counted
        replaced = {text: kept for text, kept in spellings(self.counts, declared).items() if kept is not None}
        merged: dict[Any, int] = {}
        for text, count in self.counts.items():
            kept = replaced.get(text, text)
            merged[kept] = merged.get(kept, 0) + count
        self.counts, self.n_replaced = merged, len(replaced)
        return replaced

    def field(self, order: Sequence[Any] | None, *, has_gaps: bool) -> Field:
        """The column as it will be packed."""
        kind = self.settled_kind
        if self.listed or holds_texts(kind):
            replaced = self._merge(order)
            order = order or self.order or None
            values = pa.array(list(self.counts), kind)
            domain = code(values, name=self.name, order=order, missing=has_gaps, normalised=self.normalised).domain
            return Field(domain=domain, listed=True, spellings=replaced)
        named = kind_of(kind, self.name)
        plain = pa.float64() if named == "float" else pa.int64() if named == "integer" else kind
        domain = Domain(
            name=self.name, kind=named, values=pa.array([], plain), ordered=named != "boolean", missing=has_gaps
        )
        return Field(domain=domain, listed=False, low=self.low or 0, high=self.high or 0)


def _look_through(
    stream: Stream,
    columns: dict[str, _Column],
    roles: Roles,
    missing: Missing,
    ordered: Mapping[str, Sequence[Any]],
    categorical: Sequence[str],
    accepted: tuple[str, ...],
    progress: Callable[[int], None],
) -> Survey:
    names = _unknown(stream, columns, missing)
    quotes = stream.quotes()
    n_rows = n_dropped = 0
    for batch in _normal_batches(stream, columns, names, quotes):
        n_batch = len(next(iter(batch.values())))
        n_rows += n_batch
        for name, values in batch.items():
            columns[name].gaps += values.null_count
        if missing == "drop" and (complete := _complete(batch)) is not None:
            batch = {name: values.filter(pa.array(complete)) for name, values in batch.items()}
            n_dropped += n_batch - int(complete.sum())
        for name, values in batch.items():
            columns[name].see(values)
        progress(n_rows)
    written, about_quotes = stream.written(quotes)
    if not n_rows:
        raise stream.no_rows()
    _check(columns, n_rows, n_dropped, missing)
    (sensitive,) = roles.sensitive
    refuse_amounts(columns[sensitive].settled_kind, sensitive, categorical)
    findings = Findings(written)
    fields: dict[str, Field] = {}
    for name, column in columns.items():
        if column.normalised and holds_texts(column.settled_kind):
            findings.look_for_breaks(name, pa.array(list(column.counts), column.kind))
        fields[name] = column.field(ordered.get(name), has_gaps=missing == "category" and column.gaps > 0)
    for name, column in columns.items():
        domain = fields[name].domain
        rows = np.array([column.counts.get(value, 0) for value in domain.values.to_pylist()], np.int64)
        findings.look(name, "sensitive" if name == sensitive else "quasi", domain.values, rows, gaps=domain.missing)
    for name in roles.without(stream.names):
        findings.pass_over(name)
    found, column = fields[sensitive], columns[sensitive]
    counts = [column.gaps if value is None else column.counts[value] for value in found.domain.listed()]
    return Survey(
        packing=Packing(tuple(fields[name] for name in roles.quasi)),
        sensitive=found,
        counts=np.array(counts, np.int64),
        n_rows=n_rows,
        n_dropped=n_dropped,
        notices=(*_notices(stream, columns, roles, n_dropped), *about_quotes, *findings.told(accepted)),
        cautions=tuple(findings.cautions),
        accepted=accepted,
        _stream=stream,
        _columns=columns,
        _drop=n_dropped > 0,
    )


def _unknown(stream: Stream, columns: dict[str, _Column], missing: Missing) -> list[str]:
    """The columns that must be read to be known; of the others the file tells enough."""
    unknown = []
    summaries = stream.summaries([name for name, column in columns.items() if not column.listed])
    for name, column in columns.items():
        told = summaries.get(name)
        if told is None or (missing == "drop" and told[2]):
            unknown.append(name)
        if told is not None:
            column.kind = pa.int64()
            column.low, column.high = told[0], told[1]
            column.gaps = 0 if name in unknown else told[2]
    return unknown


def _normal_batches(
    stream: Stream, columns: Mapping[str, _Column], names: Sequence[str], quotes: Quotes | None = None
) -> Iterator[dict[str, pa.Array]]:
    for batch in stream.batches(names, quotes):
        yield {name: columns[name].normal(values) for name, values in batch.items()}


def _complete(batch: Mapping[str, pa.Array]) -> NDArray[np.bool_] | None:
    """Which rows have all values; None if all have."""
    complete = None
    for values in batch.values():
        if values.null_count:
            there = np.asarray(values.is_valid())
            complete = there if complete is None else complete & there
    return complete


def _check(columns: Mapping[str, _Column], n_rows: int, n_dropped: int, missing: Missing) -> None:
    """The rules of `read` for missing and infinite values."""
    refuse_gaps({name: column.gaps for name, column in columns.items() if column.gaps}, n_rows, missing)
    if n_dropped == n_rows:
        raise DomainError(NOTHING_LEFT)
    for name, column in columns.items():
        refuse_infinite(name, column.infinite)


def _notices(stream: Stream, columns: Mapping[str, _Column], roles: Roles, n_dropped: int) -> Iterator[str]:
    yield from stream.notices
    kept = [name for name, column in columns.items() if column.kept]
    if kept:
        yield delimited.kept_notice(kept)
    yield from roles.notices(stream.names)
    for name, column in columns.items():
        if column.n_replaced:
            yield respelled_notice(name, column.n_replaced)
    if n_dropped:
        yield dropped_notice(n_dropped)


def _without_blank(texts: pa.Array) -> pa.Array:
    """The same texts, where those of which nothing is left are missing."""
    encoded = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
    blank = np.array([text is not None and not cleaned(text) for text in encoded.dictionary.to_pylist()], bool)
    if not blank.any():
        return texts
    gone = pa.array(blank).take(encoded.indices).fill_null(False)
    return pc.if_else(gone, None, encoded.cast(encoded.type.value_type))


def _clock(texts: pa.Array) -> pa.Array:
    """Times of day, which Arrow takes from texts only with a date."""
    return pc.binary_join_element_wise("1970-01-01", texts, " ").cast(pa.timestamp("s")).cast(pa.time64("us"))


def _widest(values: pa.Array) -> pa.Array:
    """Times in microseconds, as in the normal form."""
    if pa.types.is_time(values.type):
        return values.cast(pa.time64("us"))
    if pa.types.is_timestamp(values.type) and values.type.unit != "ns":
        return values.cast(pa.timestamp("us", values.type.tz))
    return values
