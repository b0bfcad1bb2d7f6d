# SPDX-License-Identifier: Apache-2.0
"""Tables and queries of a PostgreSQL server, read in batches, in one transaction that can only read.

What is kept of a batch is small: integers as narrow as their values allow, texts as places in a dictionary, and only
the columns that were asked for. Types stay: numbers without a scale are integers, enumerations keep their order, times
with a zone are in UTC. What no plain type can hold is refused with what to write in a query instead.
"""

from __future__ import annotations

from decimal import Decimal
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.database import Address, connected, quoted, split_name
from glasshouse.database.connection import refused, run
from glasshouse.errors import DomainError, InputError, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Selection", "read_postgres"]

_TABLES = "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
_READABLE = "c.relkind IN ('r', 'p', 'v', 'm', 'f')"
_FOREIGN_SCHEMAS = "n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'"
_LABELS = (
    "SELECT t.oid::bigint, e.enumlabel::text FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid WHERE t.typname = $1 "
    "ORDER BY t.oid, e.enumsortorder"
)
_INTEGERS = {"int2", "int4", "int8"}  # an oid or an amount of money comes as an integer too, and is none
_TEXTS = {"text", "varchar", "bpchar", "name", "char", "citext", "unknown"}
_CASTS = {"money": "numeric", "oid": "bigint"}
_DIGITS = 15  # a float tells every decimal with so many
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # the years 1 to 9999
_DAY = 86_400_000_000  # microseconds
_BATCH = 1 << 24  # bytes that come at once
_BATCH_OPTION = "adbc.postgresql.batch_size_hint_bytes"


class Selection:
    """What is to be read: a table by its name, or the result of a query; the address may itself name one of them."""

    def __init__(self, address: str, *, table: str | None = None, query: str | None = None) -> None:
        self.address = Address.of(address)
        asked = {"table": [table, self.address.table], "query": [query, self.address.query]}
        given = [(what, text) for what, texts in asked.items() for text in texts if text is not None]
        if len(given) != 1:
            raise InputError("a database has many tables: give the name of one (table=) or a query (query=)")
        ((self.what, self.text),) = given
        if not self.text.strip():
            raise InputError(f"the {self.what} is empty")

    def __str__(self) -> str:
        return f"the table {self.text}" if self.what == "table" else "the query"


def read_postgres(
    selection: Selection, choose: Callable[[Sequence[str]], list[str]], *, batch: int = _BATCH
) -> tuple[pa.Table, tuple[str, ...]]:
    """Read the chosen columns; integers in narrow types, texts as dictionaries, enumerations as ordered dictionaries.

    ``choose`` is told the names of all columns, and tells which to read; about ``batch`` bytes come at once. What was
    assumed is told beside the table. A type or a value that no plain type holds is a `DomainError`.
    """
    with connected(selection.address) as connection, refused(f"{selection} cannot be read"):
        if selection.what == "query":
            statement, notices = selection.text.rstrip().rstrip(";") + "\n", []  # a comment at its end ends here
            schema, chosen = _schema(connection, statement, choose)
        else:
            names = _found(connection, selection.text)
            schema, chosen = _schema(connection, f"SELECT * FROM {quoted(*names)}", choose)
            # a SELECT of no column is a statement too, but no table
            listed = ", ".join(quoted(name) for name in chosen) or "NULL"
            statement, notices = f"SELECT {listed} FROM {quoted(*names)}", _hidden_rows(connection, names)
        if not chosen:
            return pa.table({}), ()
        columns = [_gatherer(connection, schema.field(name), notices) for name in chosen]
        with connection.cursor(adbc_stmt_kwargs={_BATCH_OPTION: str(batch)}) as cursor:
            cursor.execute(statement)
            with cursor.fetch_record_batch() as reader:
                for rows in reader:
                    for column in columns:
                        column.add(rows.column(column.name))
    return pa.table({column.name: column.whole() for column in columns}), tuple(notices)


def _schema(connection: Any, statement: str, choose: Callable[[Sequence[str]], list[str]]) -> tuple[pa.Schema, Any]:
    """The columns of the statement's result, without running it, and which of them are wanted."""
    with connection.cursor() as cursor:
        schema = cursor.adbc_execute_schema(statement)
    if not schema.names:
        raise SourceError(
            "the query returns no rows and columns: give a SELECT statement"
        )  # a COMMIT, for example, is never run
    return schema, choose(schema.names)


def _found(connection: Any, text: str) -> tuple[str, str]:
    """Find a table or view by its name, in the schemas of the search path unless one is named."""
    names = split_name(text)
    visible, named = "c.relname = $1 AND pg_table_is_visible(c.oid)", "n.nspname = $1 AND c.relname = $2"
    found = run(connection, f"{_TABLES} WHERE {_READABLE} AND {visible if len(names) == 1 else named}", names)
    if found:
        return found[0][0], found[0][1]
    known = [tuple(row) for row in run(connection, f"{_TABLES} WHERE {_READABLE} AND {_FOREIGN_SCHEMAS}")]
    raise SourceError(f"there is no table {text} in the database{_near(names[-1], known)}")


def _near(name: str, known: list[tuple[str, ...]]) -> str:
    """Suggest a similar name."""
    by_name = {table.lower(): f"{schema}.{table}" for schema, table in known}
    near = get_close_matches(name.lower(), by_name, n=1, cutoff=0.6)
    return f": did you mean {by_name[near[0]]}?" if near else ": check its name, and its schema (as in clinic.people)"


def _hidden_rows(connection: Any, names: tuple[str, str]) -> list[str]:
    ((hidden,),) = run(connection, "SELECT row_security_active($1::text::regclass)", (quoted(*names),))
    return (
        ["row security is on, so this user may see only a part of the table: ask the administrator of the database"]
        if hidden
        else []
    )


# --------------------------------------------------------------------------------------------------------- columns


def _gatherer(connection: Any, field: pa.Field, notices: list[str]) -> _Plain:
    """The collector for a column of this type; `DomainError` if the type is not supported."""
    kind = field.type
    named = (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
    if pa.types.is_integer(kind) and named in _INTEGERS:
        return _Integers(field.name)
    if pa.types.is_string(kind):
        if named not in _TEXTS and (labels := _labels(connection, named, field.name, notices)):
            return _Enumerated(field.name, labels)
        return _Texts(field.name, trimmed=named == "bpchar")
    if named == "numeric":
        return _Numeric(field.name)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return _Times(field.name)
    plain = pa.types.is_boolean(kind) or pa.types.is_floating(kind) or named in ("uuid", "json", "jsonb")
    if plain:
        return _Plain(field.name)
    raise DomainError(
        f"column {field.name!r} has the type {named or kind}, which is neither text nor number nor date: cast it in a "
        f"query, as in {quoted(field.name)}::{_CASTS.get(named, 'text')}",
        column=field.name,
    )


def _labels(connection: Any, named: str, column: str, notices: list[str]) -> list[str]:
    """The labels of an enumeration in their order; none if no enumeration has this name, or several that differ."""
    by_type: dict[int, list[str]] = {}
    for number, label in run(connection, _LABELS, (named,)):
        by_type.setdefault(number, []).append(label)
    orders = list(by_type.values())
    if any(order != orders[0] for order in orders):
        notices.append(
            f"the database has several enumerations {named} with different values, so the order of column {column} is "
            "unknown: give it (ordered=)"
        )
        return []
    return orders[0] if orders else []


class _Plain:
    """Collects a column: batches are added, and stored as compactly as possible."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._kept: list[pa.Array] = []

    def add(self, values: pa.Array) -> None:
        """Keep what is needed of a batch."""
        self._kept.append(values)

    def whole(self) -> pa.Array:
        """The whole column, as one array with one dictionary; the stored batches are released."""
        kept, self._kept = self._kept, []
        if len(kept) == 1:
            return kept[0]
        return pa.chunked_array(kept).combine_chunks() if kept else pa.nulls(0)

    def refuse(self, why: str) -> DomainError:
        """The error that names this column."""
        return DomainError(f"column {self.name!r} {why}", column=self.name)


class _Integers(_Plain):
    """Collects integers, in the narrowest type that fits the values of all batches."""

    _WIDTHS = (pa.int8(), pa.int16(), pa.int32(), pa.int64())

    def add(self, values: pa.Array) -> None:
        span = pc.min_max(values).as_py()
        low, high = span["min"] or 0, span["max"] or 0
        fits = (kind for kind in self._WIDTHS if -(1 << kind.bit_width - 1) <= low <= high < 1 << kind.bit_width - 1)
        super().add(values.cast(next(fits)))

    def whole(self) -> pa.Array:
        widest = max((part.type for part in self._kept), key=lambda kind: kind.bit_width, default=pa.int64())
        self._kept = [part.cast(widest) for part in self._kept]
        return super().whole()


class _Texts(_Plain):
    """Texts: each once in a dictionary, unless nearly all of them are different."""

    def __init__(self, name: str, *, trimmed: bool = False) -> None:
        super().__init__(name)
        self._trimmed = trimmed  # the blanks at the end of a CHAR(n) mean nothing
        self._repeat: bool | None = None

    def add(self, values: pa.Array) -> None:
        texts = pc.ascii_rtrim(values, " ") if self._trimmed else values
        if self._repeat is not False:
            encoded = texts.dictionary_encode()
            self._repeat = bool(self._repeat) or 2 * len(encoded.dictionary) <= len(texts)
        super().add(encoded if self._repeat else texts)


class _Numeric(_Texts):
    """Exact decimals, which come as texts: integers if none has a fraction, else floats that tell every digit."""

    def add(self, values: pa.Array) -> None:
        super().add(values.storage if isinstance(values, pa.ExtensionArray) else values)

    def whole(self) -> pa.Array:
        texts = super().whole()
        if not pa.types.is_dictionary(texts.type):
            return self._numbers(texts)
        return self._numbers(texts.dictionary).take(texts.indices)

    def _numbers(self, texts: pa.Array) -> pa.Array:
        there = pc.if_else(pc.equal(texts, "nan"), None, texts)
        if not pc.any(pc.match_substring_regex(there, "[.f]")).as_py():  # a point, or the f of inf
            try:
                return there.cast(pa.int64())
            except pa.ArrowInvalid:
                raise self.refuse("has integers beyond 64 bits: cast it to text in a query") from None
        numbers = there.cast(pa.float64())
        many = pc.greater(pc.utf8_length(there), _DIGITS)
        for text, number in zip(there.filter(many).to_pylist(), numbers.filter(many).to_pylist(), strict=True):
            if text is not None and Decimal(text) != Decimal(repr(number)):
                raise self.refuse(
                    "has decimals with more digits than a floating-point number can have: round it, or cast it to text"
                )
        return numbers


class _Enumerated(_Plain):
    """An enumeration: an ordered category, by its labels."""

    def __init__(self, name: str, labels: list[str]) -> None:
        super().__init__(name)
        self._labels = pa.array(labels, pa.string())

    def add(self, values: pa.Array) -> None:
        places = pc.index_in(values, value_set=self._labels)
        if places.null_count != values.null_count:
            raise self.refuse("has labels that its type did not have when reading began: read it again")
        super().add(pa.DictionaryArray.from_arrays(places, self._labels, ordered=True))


class _Times(_Plain):
    """Dates, times and timestamps of the years 1 to 9999; infinite ones would come as some day or other."""

    def add(self, values: pa.Array) -> None:
        kind = values.type
        low, high = (0, 1) if pa.types.is_time(kind) else (_FIRST_DAY, _LAST_DAY + 1)
        number, unit = (pa.int32(), 1) if pa.types.is_date(kind) else (pa.int64(), _DAY)
        span = pc.min_max(values.view(number)).as_py()
        if span["min"] is not None and not low * unit <= span["min"] <= span["max"] < high * unit:
            raise self.refuse(
                "has infinite times, or times outside the years 1 to 9999 or past 24:00: replace them in a query"
            )
        super().add(values)
