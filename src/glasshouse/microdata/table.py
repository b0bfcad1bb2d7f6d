# SPDX-License-Identifier: Apache-2.0
"""Microdata: a table about people, with roles, coded to integers; and `read`, which makes one.

A role is explicit. The *identifier* names the person and is never published; *quasi-identifiers* are what an adversary
may know about everyone; *sensitive* columns are what must not be learned about a person. A column with no role is not
published: beside the others it would be one more quasi-identifier, unprotected.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import DomainError, InputError, ParameterError, SchemaError
from glasshouse.microdata.cautions import Findings, accepted_names, refuse_unanswered
from glasshouse.microdata.domains import Column, code, kind_of, text_of
from glasshouse.microdata.sources import is_unicode, open_source
from glasshouse.microdata.spelling import declared_spellings, holds_texts, respelled, without_look_alikes
from glasshouse.microdata.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.cautions import Caution

__all__ = ["Microdata", "read"]

Missing = Literal["error", "category", "drop"]
T = TypeVar("T")


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
    quasi_names, sensitive_names = names_given("quasi", quasi), names_given("sensitive", sensitive)
    if identifier is not None:
        (identifier,) = names_given("identifier", [identifier])
    check_roles(quasi_names, sensitive_names, identifier)
    if missing not in ("error", "category", "drop"):
        raise ParameterError("read", "missing", "'error', 'category' or 'drop'", missing)
    categorical, normalise = names_given("categorical", categorical), names_given("normalise", normalise)
    ordered, taxonomies, bins = (
        by_column("ordered", ordered),
        by_column("taxonomies", taxonomies),
        by_column("bins", bins),
    )
    bottom, top = by_column("bottom", bottom), by_column("top", top)

    roles = [*quasi_names, *sensitive_names, *([identifier] if identifier is not None else [])]
    text: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    opened = open_source(source, columns=roles, narrow=True, table=table, query=query, **text)
    there = set(opened.columns)
    for name, role in named_roles(quasi_names, sensitive_names, identifier):
        if name not in there:
            raise SchemaError.unknown(name, opened.columns, role=role)
    published = [*quasi_names, *sensitive_names]
    for option, named, allowed in (
        ("ordered", ordered, published),
        ("taxonomies", taxonomies, published),
        ("bins", bins, published),
        ("categorical", categorical, published),
        ("normalise", normalise, roles),
        ("bottom", bottom, quasi_names),
        ("top", top, quasi_names),
    ):
        known = set(allowed)
        for name in named:
            if name not in known:
                raise SchemaError.unknown(name, allowed, role=option)
            if option == "taxonomies" and name in ordered:
                raise SchemaError(f"column {name!r} has an order and a taxonomy, which has one: give one", column=name)
    accepted = accepted_names(accept, opened.columns)

    notices = list(opened.notices)
    with_role = set(roles)
    left_out = [name for name in opened.columns if name not in with_role]
    if left_out:
        notices.append(f"columns with no role are not published: {', '.join(left_out)}")
    if identifier is None:
        notices.append("no identifier was named: the guarantee is per row, and holds per person if nobody has two rows")
        if opened.kind == "postgres":
            notices.append("the rows of a database have no order: to add marginals later, name an identifier")

    raw = {name: _plain(opened.table.column(name)) for name in roles}
    orders = {**opened.orders, **{name: declared_order(name, order) for name, order in ordered.items()}}
    trees = {name: _taxonomy("taxonomies", name, given) for name, given in taxonomies.items()}
    binning = {name: _taxonomy("bins", name, given) for name, given in bins.items()}
    for name in raw.keys() & {*binning, identifier}:
        raw[name] = _written_out(raw[name])
    findings = Findings(opened.written)
    for name in normalise:
        if not holds_texts(raw[name].type):
            continue
        if name not in ordered and name in orders:
            orders[name] = without_look_alikes(orders[name])
        tree = binning.get(name) or trees.get(name)
        listed = orders.get(name, ()) if tree is None else tree.leaves
        findings.look_for_breaks(name, _written_out(raw[name].unique()))
        raw[name], n_replaced = respelled(raw[name], declared_spellings(map(str, listed), name=name))
        if n_replaced:
            notices.append(f"spellings of {name} that were replaced by another of the same value: {n_replaced:,}")
    for name in {*binning, *bottom, *top}:
        raw[name] = raw[name].cast(pa.int64()) if pa.types.is_integer(raw[name].type) else raw[name]
    for name, limit in bottom.items():
        raw[name] = clipped(raw[name], name, limit, pc.max_element_wise)
        notices.append(f"{name} is bottom-coded: the smallest value stands for itself and everything below")
    for name, limit in top.items():
        raw[name] = clipped(raw[name], name, limit, pc.min_element_wise)
        notices.append(f"{name} is top-coded: the largest value stands for itself and everything above")
    raw, dropped = _apply_missing_rule(raw, quasi_names + sensitive_names, missing)
    if dropped:
        notices.append(f"rows dropped because a value was missing: {dropped:,}")
    for name, builder in binning.items():
        raw[name], orders[name] = builder.bin(raw[name], name=name)

    as_names, as_one = set(categorical), set(normalise)

    limits = {"bottom": bottom, "top": top}

    def coded(name: str) -> Column:
        values = raw[name].cast(pa.string()) if name in as_names and name not in sensitive_names else raw[name]
        column = code(
            values,
            name=name,
            order=orders.get(name),
            taxonomy=trees.get(name),
            missing=values.null_count > 0,
            declared=name in ordered and name not in binning,
            normalised=name in as_one,
        )
        if name in binning or column.domain.kind in ("category", "boolean"):
            return column
        ends = {side: _limit(values, given[name]) for side, given in limits.items() if name in given}
        return Column(replace(column.domain, **ends), column.codes)

    for name in quasi_names:
        _refuse_infinite(raw[name], name)
    for name in sensitive_names:
        refuse_amounts(raw[name], name, categorical)
    if identifier is not None:
        _check_identifier(raw[identifier], identifier)
    quasi_columns, sensitive_columns = tuple(map(coded, quasi_names)), tuple(map(coded, sensitive_names))
    for column in quasi_columns:
        findings.look(column.name, "quasi", column.domain.values, _rows(column))
    for column in sensitive_columns:
        findings.look(column.name, "sensitive", column.domain.values, _rows(column), gaps=column.domain.missing)
    if identifier is not None:
        findings.look(identifier, "identifier", raw[identifier], np.ones(len(raw[identifier]), np.int64))
    for name in left_out:
        findings.pass_over(name)
    return Microdata(
        quasi=quasi_columns,
        sensitive=sensitive_columns,
        identifier=raw[identifier] if identifier is not None else None,
        n_tuples=len(raw[quasi_names[0]]),
        notices=(*notices, *findings.told(accepted)),
        source_kind=opened.kind,
        cautions=tuple(findings.cautions),
        accepted=accepted,
    )


def names_given(option: str, given: Any) -> list[str]:
    """The names of columns that an option got: one, several or none; `SchemaError` if something else was given."""
    if given is None or isinstance(given, str):
        return [] if given is None else [given]
    names = list(given) if hasattr(given, "__iter__") else [given]
    for name in names:
        if not isinstance(name, str):
            raise SchemaError(
                f"{option}: a column is named by a text, not by a {type(name).__name__}. (Columns of a frame whose "
                "names are numbers are read under the texts of these: '0', '1')"
            )
        if not is_unicode(name):
            raise SchemaError(f"{option}: the name {name!a} is not Unicode text")
    return names


def by_column(option: str, given: Any) -> Mapping[str, Any]:
    """What an option says column by column; `SchemaError` if it is not such a mapping."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SchemaError(
            f"{option} is given by column, as in {option}={{'age': ...}}, not as a {type(given).__name__}"
        )
    return dict(zip(names_given(option, list(given)), given.values(), strict=True))


def declared_order(column: str, order: Any) -> list[Any]:
    """The values of a declared order as a list; `ParameterError` if it is none."""
    if isinstance(order, str | bytes) or not hasattr(order, "__iter__"):
        raise ParameterError("read", f"ordered[{column!r}]", "a list of values, lowest first", type(order).__name__)
    return list(order)


def _rows(column: Column) -> NDArray[np.int64]:
    """How many rows have each value of the column."""
    n_values = len(column.domain.values)
    return np.bincount(column.codes, minlength=n_values)[:n_values]


def named_roles(quasi: list[str], sensitive: list[str], identifier: str | None) -> list[tuple[str, str]]:
    named = [(name, "a quasi-identifier") for name in quasi] + [(name, "sensitive") for name in sensitive]
    return named + ([(identifier, "the identifier")] if identifier is not None else [])


def check_roles(quasi: list[str], sensitive: list[str], identifier: str | None) -> None:
    """One role per column, and at least one quasi-identifier."""
    if not quasi:
        raise SchemaError("name at least one quasi-identifier: what may an adversary know about everyone?")
    taken: dict[str, str] = {}
    for name, role in named_roles(quasi, sensitive, identifier):
        if name in taken:
            twice = f"{role} twice" if taken[name] == role else f"{taken[name]} and {role}"
            raise SchemaError(f"column {name!r} is named as {twice}: give it one role", column=name)
        taken[name] = role


def _plain(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


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


def _apply_missing_rule(
    raw: dict[str, pa.Array], names: list[str], missing: Missing
) -> tuple[dict[str, pa.Array], int]:
    """The one rule for missing values; returns the columns and how many rows were dropped."""
    gaps = {name: raw[name].null_count for name in names if raw[name].null_count}
    n = len(raw[names[0]])
    for name, count in gaps.items():
        if count == n:
            raise DomainError(f"column {name!r} has no value at all: leave it out", column=name)
    if gaps and missing == "error":
        listed = ", ".join(f"{name} ({count:,} of {n:,})" for name, count in gaps.items())
        raise DomainError(
            f"missing values in {listed}: use missing='category' to make missing a value of its own, or missing='drop' "
            "to drop these rows",
            column=next(iter(gaps)),
        )
    if not gaps or missing == "category":
        return raw, 0
    complete = np.ones(n, bool)
    for name in gaps:
        complete &= np.asarray(raw[name].is_valid())
    if not complete.any():
        raise DomainError("every row has a missing value: nothing is left after missing='drop'")
    keep = pa.array(complete)
    return {name: values.filter(keep) for name, values in raw.items()}, int(n - complete.sum())


def _refuse_infinite(values: pa.Array, name: str) -> None:
    if pa.types.is_floating(values.type):
        count = pc.sum(pc.is_inf(values)).as_py() or 0
        if count:
            raise DomainError(
                f"column {name!r} has {count:,} infinite values: give them a bottom or top code or drop them",
                column=name,
            )


def refuse_amounts(values: pa.Array, name: str, categorical: Sequence[str]) -> None:
    kind = kind_of(values.type, name)
    if kind in ("category", "boolean") or name in categorical:
        return
    raise DomainError(
        f"the sensitive column {name!r} holds amounts ({kind}): distinct amounts satisfy l-diversity and protect "
        f"nothing. Bin it (bins={{{name!r}: gh.Taxonomy.intervals(...)}}), or list it in categorical= if its numbers "
        "are names",
        column=name,
    )


def _check_identifier(values: pa.Array, name: str) -> None:
    if values.null_count:
        raise DomainError(f"the identifier {name!r} is missing in {values.null_count:,} rows", column=name)
    duplicates = len(values) - pc.count_distinct(values).as_py()
    if duplicates:
        raise InputError(
            f"rows whose identifier {name!r} was there before: {duplicates:,}. The guarantee needs one row per person. "
            "Aggregate to one row each, or leave identifier out to promise per row"
        )
