# SPDX-License-Identifier: Apache-2.0
"""Microdata: a table about people, with roles, coded to integers; and `read`, which makes one.

A role is explicit; `glasshouse.microdata.roles` says what each means. A column with no role is not published: beside
the others it would be one more quasi-identifier, unprotected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import DomainError, InputError, ParameterError, SchemaError
from glasshouse.microdata.cautions import Findings, accepted_names, refuse_unanswered
from glasshouse.microdata.domains import Column, code, kind_of, text_of
from glasshouse.microdata.reading.normal_form import contiguous
from glasshouse.microdata.reading.sources import open_source
from glasshouse.microdata.roles import (
    NOTHING_LEFT,
    Roles,
    by_column,
    dropped_notice,
    names_given,
    refuse_amounts,
    refuse_gaps,
    refuse_infinite,
    respelled_notice,
)
from glasshouse.microdata.spelling import declared_spellings, holds_texts, respelled, without_look_alikes
from glasshouse.microdata.taxonomy.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.cautions import Caution
    from glasshouse.microdata.reading.sources import Source
    from glasshouse.microdata.roles import Missing

__all__ = ["Microdata", "read"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Microdata:
    """A table about people: one tuple per person, columns coded to integers, roles fixed. Never changed once made.

    Make one with `read`. The order of ``quasi`` is the order of dimensions in tie-breaks; the order of columns in the
    file means nothing. It is not published as long as one of its ``cautions`` is not ``accepted``.
    """

    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    identifier: pa.Array | None
    n_tuples: int
    notices: tuple[str, ...] = ()
    source_kind: str = "arrow"
    cautions: tuple[Caution, ...] = ()
    accepted: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.n_tuples

    def __repr__(self) -> str:
        quasi = ", ".join(f"{c.name} ({len(c.domain.values):,})" for c in self.quasi)
        sensitive = ", ".join(f"{c.name} ({len(c.domain.values):,})" for c in self.sensitive) or "none"
        return f"Microdata({self.n_tuples:,} tuples; quasi-identifiers {quasi}; sensitive {sensitive})"

    def column(self, name: str) -> Column:
        """Find a quasi-identifier or sensitive column by name."""
        for column in (*self.quasi, *self.sensitive):
            if column.name == name:
                return column
        raise SchemaError.unknown(name, [c.name for c in (*self.quasi, *self.sensitive)], role="a column of the table")

    def refuse_unanswered(self) -> None:
        """Raise `CautionError` if something was found in the table that was neither mended nor accepted."""
        if self.cautions:
            refuse_unanswered(self.cautions, self.accepted)

    def spelled_by(self, declared: Sequence[Any]) -> Microdata:
        """The same table, its normalised sensitive columns spelled as their values are declared.

        A declared domain must be published as it was declared: in another spelling it would tell which values occur.
        """
        if not any(column.domain.normalised for column in self.sensitive):
            return self
        texts = [text_of(value) for value in declared if value is not None]

        def spelled(column: Column) -> Column:
            by_key = declared_spellings(texts, name=column.name) if column.domain.normalised else {}
            return Column(column.domain.spelled_by(by_key), column.codes)

        return replace(self, sensitive=tuple(map(spelled, self.sensitive)))

    def take(self, rows: NDArray[Any]) -> Microdata:
        """Keep some tuples; domains stay as they are.

        >>> from glasshouse.microdata import examples
        >>> examples.transparent_t1().take(np.array([0, 2])).n_tuples
        2
        """
        return replace(
            self,
            quasi=tuple(Column(c.domain, c.codes[rows]) for c in self.quasi),
            sensitive=tuple(Column(c.domain, c.codes[rows]) for c in self.sensitive),
            identifier=None if self.identifier is None else self.identifier.take(pa.array(rows)),
            n_tuples=len(rows),
        )


def read(
    source: Any,
    *,
    quasi: Sequence[str],
    sensitive: str | Sequence[str] | None = None,
    identifier: str | None = None,
    missing: Missing = "error",
    ordered: Mapping[str, Sequence[Any]] | None = None,
    taxonomies: Mapping[str, Taxonomy | str | Path] | None = None,
    bins: Mapping[str, Taxonomy | str | Path] | None = None,
    categorical: Sequence[str] = (),
    normalise: Sequence[str] = (),
    bottom: Mapping[str, Any] | None = None,
    top: Mapping[str, Any] | None = None,
    accept: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    table: str | None = None,
    query: str | None = None,
) -> Microdata:
    """Read a table about people and fix the roles of its columns.

    Parameters
    ----------
    source
        A path (CSV, also gzip or zstd; Parquet; Arrow IPC), the address of a database (``postgresql://...``, with
        ``table`` or ``query``), or a frame (pandas, polars, pyarrow, a DuckDB relation, anything with the Arrow
        PyCapsule interface).
    quasi
        Quasi-identifiers, in the order in which ties between them are broken.
    sensitive
        Sensitive column or columns. Numbers must be binned (`bins`) or declared `categorical`: distinct salaries
        satisfy l-diversity and protect nothing.
    identifier
        Column that names the person. Duplicates are refused: every theorem assumes one row per person.
    missing
        ``error`` (the default) counts missing values per column and refuses; ``category`` makes missing a value of its
        own; ``drop`` drops the rows and reports how many.
    ordered
        Declared orders of categories: ``{"grade": ["low", "middle", "high"]}``.
    taxonomies
        Generalization hierarchies by column: a `Taxonomy` or a file.
    bins
        Taxonomies whose first level replaces the values of a column on the way in.
    categorical
        Numeric columns that are names, not amounts (a zip code, an occupation code).
    normalise
        Columns whose look-alike texts become one value: ``flu``, ``FLU`` and ``flu`` with a blank after it. Accents,
        invisible characters, blanks, dashes and case are treated as `glasshouse.microdata.spelling` says; the declared
        spelling is kept, else the most frequent. Numbers have one spelling, and stay as they are.
    bottom, top
        Bottom and top codes of quasi-identifiers: smaller (larger) values are replaced by the limit.
    accept
        Cautions that were looked into and are right as they are, by name: ``line-breaks``, or ``line-breaks:address``
        for one column alone. A table with other cautions is read, and not published.
    delimiter, encoding, decimal
        Of a CSV file, where the detection should not decide.
    table, query
        Of a database: the table to read, as ``people`` or ``clinic.people``, or a statement that gives one.

    Examples
    --------
    >>> read({"age": [30, 40], "disease": ["flu", "ulcer"]}, quasi=["age"], sensitive="disease")
    Microdata(2 tuples; quasi-identifiers age (2); sensitive disease (2))
    """
    roles = Roles.of(quasi, sensitive, identifier)
    if missing not in ("error", "category", "drop"):
        raise ParameterError("read", "missing", "'error', 'category' or 'drop'", missing)
    options = _Options(
        categorical=names_given("categorical", categorical),
        normalise=names_given("normalise", normalise),
        ordered=by_column("ordered", ordered),
        taxonomies=by_column("taxonomies", taxonomies),
        bins=by_column("bins", bins),
        bottom=by_column("bottom", bottom),
        top=by_column("top", top),
    )
    text: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    opened = open_source(source, columns=roles.columns, narrow=True, table=table, query=query, **text)
    roles.check(opened.columns)
    options.check(roles)
    accepted = accepted_names(accept, opened.columns)
    incoming = _Incoming(opened, roles, options)
    incoming.respell()
    incoming.clip()
    incoming.drop(missing)
    incoming.bin()
    return incoming.coded(accepted)


@dataclass(frozen=True, kw_only=True)
class _Options:
    """What `read` was told of single columns."""

    categorical: list[str]
    normalise: list[str]
    ordered: dict[str, list[Any]]
    taxonomies: dict[str, Any]
    bins: dict[str, Any]
    bottom: dict[str, Any]
    top: dict[str, Any]

    def check(self, roles: Roles) -> None:
        """Refuse columns that have not the role for an option, and two orders of one column."""
        for option in ("ordered", "taxonomies", "bins", "categorical"):
            roles.check_option(option, getattr(self, option))
        for name in self.taxonomies:
            if name in self.ordered:
                raise SchemaError(f"column {name!r} has an order and a taxonomy, which has one: give one", column=name)
        roles.check_option("normalise", self.normalise, roles.columns)
        roles.check_option("bottom", self.bottom, roles.quasi)
        roles.check_option("top", self.top, roles.quasi)


class _Incoming:
    """A table on its way in: its columns with a role, as they came, until they are coded."""

    def __init__(self, opened: Source, roles: Roles, options: _Options) -> None:
        self.opened, self.roles, self.options = opened, roles, options
        self.raw = {name: contiguous(opened.table.column(name)) for name in roles.columns}
        self.orders = {**opened.orders, **options.ordered}
        self.trees = {name: _taxonomy("taxonomies", name, given) for name, given in options.taxonomies.items()}
        self.binning = {name: _taxonomy("bins", name, given) for name, given in options.bins.items()}
        for name in self.raw.keys() & {*self.binning, roles.identifier}:
            self.raw[name] = _written_out(self.raw[name])
        self.findings = Findings(opened.written)
        self.notices = [*opened.notices, *roles.notices(opened.columns)]
        if roles.identifier is None and opened.kind == "postgres":
            self.notices.append("the rows of a database have no order: to add marginals later, name an identifier")

    def respell(self) -> None:
        """Give look-alikes one spelling, where that is asked for; line breaks are looked for before."""
        for name in self.options.normalise:
            values = self.raw[name]
            if not holds_texts(values.type):
                continue
            if name not in self.options.ordered and name in self.orders:
                self.orders[name] = without_look_alikes(self.orders[name])
            tree = self.binning.get(name) or self.trees.get(name)
            listed = self.orders.get(name, ()) if tree is None else tree.leaves
            self.findings.look_for_breaks(name, _written_out(values.unique()))
            self.raw[name], n_replaced = respelled(values, declared_spellings(map(str, listed), name=name))
            if n_replaced:
                self.notices.append(respelled_notice(name, n_replaced))

    def clip(self) -> None:
        """Replace what lies beyond bottom and top codes by these."""
        bottom, top = self.options.bottom, self.options.top
        for name in {*self.binning, *bottom, *top}:
            if pa.types.is_integer(self.raw[name].type):
                self.raw[name] = self.raw[name].cast(pa.int64())
        for name, limit in bottom.items():
            self.raw[name] = clipped(self.raw[name], name, limit, pc.max_element_wise)
            self.notices.append(f"{name} is bottom-coded: the smallest value stands for itself and everything below")
        for name, limit in top.items():
            self.raw[name] = clipped(self.raw[name], name, limit, pc.min_element_wise)
            self.notices.append(f"{name} is top-coded: the largest value stands for itself and everything above")

    def drop(self, missing: Missing) -> None:
        """Apply the one rule for missing values."""
        gaps = {name: self.raw[name].null_count for name in self.roles.published if self.raw[name].null_count}
        n_rows = len(self.raw[self.roles.quasi[0]])
        refuse_gaps(gaps, n_rows, missing)
        if not gaps or missing == "category":
            return
        complete = np.logical_and.reduce([np.asarray(self.raw[name].is_valid()) for name in gaps])
        if not complete.any():
            raise DomainError(NOTHING_LEFT)
        self.raw = {name: values.filter(pa.array(complete)) for name, values in self.raw.items()}
        self.notices.append(dropped_notice(n_rows - int(complete.sum())))

    def bin(self) -> None:
        """Replace values by the first level of the taxonomies that bin them."""
        for name, builder in self.binning.items():
            self.raw[name], self.orders[name] = builder.bin(self.raw[name], name=name)

    def coded(self, accepted: tuple[str, ...]) -> Microdata:
        """Code the columns, and look at their values."""
        roles, identifier = self.roles, self.roles.identifier
        for name in roles.quasi:
            values = self.raw[name]
            refuse_infinite(name, pa.types.is_floating(values.type) and (pc.sum(pc.is_inf(values)).as_py() or 0))
        for name in roles.sensitive:
            refuse_amounts(self.raw[name].type, name, self.options.categorical)
        if identifier is not None:
            _check_identifier(self.raw[identifier], identifier)
        quasi, sensitive = tuple(map(self._column, roles.quasi)), tuple(map(self._column, roles.sensitive))
        for column in quasi:
            self.findings.look(column.name, "quasi", column.domain.values, column.rows)
        for column in sensitive:
            domain = column.domain
            self.findings.look(column.name, "sensitive", domain.values, column.rows, gaps=domain.missing)
        if identifier is not None:
            ones = np.ones(len(self.raw[identifier]), np.int64)
            self.findings.look(identifier, "identifier", self.raw[identifier], ones)
        for name in roles.without(self.opened.columns):
            self.findings.pass_over(name)
        return Microdata(
            quasi=quasi,
            sensitive=sensitive,
            identifier=None if identifier is None else self.raw[identifier],
            n_tuples=len(self.raw[roles.quasi[0]]),
            notices=(*self.notices, *self.findings.told(accepted)),
            source_kind=self.opened.kind,
            cautions=tuple(self.findings.cautions),
            accepted=accepted,
        )

    def _column(self, name: str) -> Column:
        options, values = self.options, self.raw[name]
        if name in options.categorical and name not in self.roles.sensitive:
            values = values.cast(pa.string())
        column = code(
            values,
            name=name,
            order=self.orders.get(name),
            taxonomy=self.trees.get(name),
            missing=values.null_count > 0,
            declared=name in options.ordered and name not in self.binning,
            normalised=name in options.normalise,
        )
        if name in self.binning or column.domain.kind in ("category", "boolean"):
            return column
        limits = {"bottom": options.bottom, "top": options.top}
        ends = {side: _limit(values, given[name]) for side, given in limits.items() if name in given}
        return Column(replace(column.domain, **ends), column.codes)


def _written_out(values: pa.Array) -> pa.Array:
    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values


def _taxonomy(option: str, column: str, given: Any) -> Taxonomy:
    if isinstance(given, str | Path):
        return Taxonomy.from_file(given)
    if not isinstance(given, Taxonomy):
        raise ParameterError("read", f"{option}[{column!r}]", "a Taxonomy or the path of one", type(given).__name__)
    return given


def _limit(values: pa.Array, limit: Any) -> Any:
    """A top or bottom code as a value of its column; None if it is none, for nothing lies beyond it."""
    value = pa.scalar(limit).cast(values.type).as_py()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def clipped(values: pa.Array, name: str, limit: Any, keep: Any) -> pa.Array:
    """Replace values beyond a limit by the limit, which may be given as its text."""
    if kind_of(values.type, name) in ("category", "boolean"):
        raise DomainError(f"column {name!r} is not numeric: it cannot be top- or bottom-coded", column=name)
    try:
        bound = pa.scalar(limit).cast(values.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise DomainError(f"the limit for column {name!r} is not of its type, {values.type}", column=name) from None
    return pc.if_else(values.is_null(), values, keep(values, bound))


def _check_identifier(values: pa.Array, name: str) -> None:
    if values.null_count:
        raise DomainError(f"the identifier {name!r} is missing in {values.null_count:,} rows", column=name)
    duplicates = len(values) - pc.count_distinct(values).as_py()
    if duplicates:
        raise InputError(
            f"rows whose identifier {name!r} was there before: {duplicates:,}. The guarantee needs one row per person. "
            "Aggregate to one row each, or leave identifier out to promise per row"
        )
