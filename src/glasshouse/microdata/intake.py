# SPDX-License-Identifier: Apache-2.0
"""Intake: the processing of the columns of every incoming table, between its source and its codes.

Look-alikes get one spelling, limits are kept, missing values are refused, dropped or made a value, amounts are binned,
and values are coded and looked at. Each of these asks a column for its different values and how many rows have each.
So a column comes as all of its rows (`glasshouse.read`), or as different values with their weights (a file that is
counted in batches), and fares alike. Only rows with a missing value are dropped across columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import DomainError, InputError, ParameterError, SchemaError
from glasshouse.microdata.cautions import Findings
from glasshouse.microdata.compound_column import check_together, joined_columns
from glasshouse.microdata.domains import Column, code, kind_of
from glasshouse.microdata.repeats import drawn_rows, sampled_notice
from glasshouse.microdata.roles import (
    COMPLETE,
    NOTHING_LEFT,
    Incomplete,
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
from glasshouse.microdata.weight_classes import classed_weights
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.cautions import Caution, Written
    from glasshouse.microdata.reading import sources
    from glasshouse.microdata.roles import Missing, Repeated, Roles
    from glasshouse.microdata.weight_classes import WeightClasses
    from glasshouse.randomness import Source

__all__ = ["Arrival", "Identifiers", "Intake", "Options", "clipped"]

_MOST = 2**63  # integers are smaller


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of `read` for single columns, for missing values, and for people with several rows."""

    missing: Missing
    repeated: Repeated
    categorical: list[str]
    normalise: list[str]
    ordered: dict[str, list[Any]]
    taxonomies: dict[str, Any]
    bins: dict[str, Any]
    bottom: dict[str, Any]
    top: dict[str, Any]
    together: list[list[str]] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        *,
        missing: Missing,
        categorical: Any,
        normalise: Any,
        repeated: Repeated = "error",
        together: Any = (),
        **by_name: Any,
    ) -> Options:
        """Check the options; those by name are given column by column."""
        if missing not in ("error", "category", "drop"):
            raise ParameterError("read", "missing", "'error', 'category' or 'drop'", missing)
        return cls(
            missing=missing,
            repeated=repeated,
            categorical=names_given("categorical", categorical),
            normalise=names_given("normalise", normalise),
            together=[names_given("together", names) for names in together or ()],
            **{option: by_column(option, given) for option, given in by_name.items()},
        )

    def check(self, roles: Roles, columns: Sequence[str]) -> None:
        """Refuse options for columns without the necessary role, and two orders of one column."""
        roles.check_repeated(self.repeated)
        if self.repeated == "together" and self.together:
            raise SchemaError(
                "together= and repeated='together' cannot be combined, because a value would then be a set of pairs: "
                "draw one row of each person (repeated='sample'), or leave together= out"
            )
        check_together(self.together, roles, columns)
        for name in (name for names in self.together for name in names):
            if name in self.ordered or name in self.taxonomies:
                raise SchemaError(
                    f"column {name!r} is published as one column with others, which can have no order and no "
                    "taxonomy: leave them out, or use bins= instead",
                    column=name,
                )
        for option in ("ordered", "taxonomies", "bins", "categorical"):
            roles.check_option(option, getattr(self, option), columns)
        for name in self.taxonomies:
            if name in self.ordered:
                raise SchemaError(
                    (
                        f"column {name!r} has both an order and a taxonomy, which already gives the values an order: "
                        "give only one of them"
                    ),
                    column=name,
                )
        for option in ("ordered", "taxonomies", "categorical", "normalise", "bottom", "top"):
            if roles.weight in getattr(self, option):
                raise SchemaError(
                    f"column {roles.weight!r} is the survey weight and cannot have {option}=. bins= says into which "
                    "classes it is put",
                    column=roles.weight,
                )
        roles.check_option("normalise", self.normalise, columns, roles.columns)
        roles.check_option("bottom", self.bottom, columns, roles.quasi)
        roles.check_option("top", self.top, columns, roles.quasi)


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """What is known about the source of a table besides its values."""

    kind: str  # what kind of source it was
    columns: tuple[str, ...]  # all columns of the source, in their order
    notices: tuple[str, ...]  # what was assumed
    written: Written  # how the source writes records
    orders: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # of ordered categories, lowest first

    @classmethod
    def of(cls, source: sources.Source) -> Arrival:
        """Describe a table that was read as a whole."""
        return cls(
            kind=source.kind,
            columns=source.columns,
            notices=source.notices,
            written=source.written,
            orders=source.orders,
        )


class Identifiers:
    """The identifiers of a table, all of them at hand."""

    def __init__(self, name: str, values: pa.Array, weights: NDArray[np.int64] | None = None) -> None:
        self.name, self.values, self.weights = name, values, weights

    def check(self, *, repeated: bool = False) -> None:
        """Refuse identifiers that are missing, or, unless they may be ``repeated``, that two rows have."""
        gone, n_rows = self.values.null_count, len(self.values)
        if self.weights is not None:
            gone, n_rows = int(self.weights[np.asarray(self.values.is_null())].sum()), int(self.weights.sum())
        n_different = 0 if gone else n_rows if repeated else pc.count_distinct(self.values).as_py()
        refuse_identifiers(self.name, n_missing=gone, n_repeated=n_rows - n_different)

    def look(self, findings: Findings) -> None:
        """Check the identifiers for look-alikes and line breaks."""
        values = self.values.unique()
        findings.look(self.name, "identifier", values, np.ones(len(values), np.int64))


class Intake:
    """The columns with a role while they are processed, before they are coded.

    Parameters
    ----------
    arrival, roles, options
        What is known of the table, and what was said of it.
    raw
        The columns in their normal form.
    weights
        How many rows each value of a column stands for; without, a value is a row.
    """

    def __init__(
        self,
        arrival: Arrival,
        roles: Roles,
        options: Options,
        raw: dict[str, pa.Array],
        weights: Mapping[str, NDArray[np.int64]] | None = None,
    ) -> None:
        self.arrival, self.roles, self.options = arrival, roles, options
        self.raw = raw
        self.weights = dict(weights or {})
        self.orders = {**arrival.orders, **options.ordered}
        self.trees = {name: _taxonomy("taxonomies", name, given) for name, given in options.taxonomies.items()}
        self.binning = {name: _taxonomy("bins", name, given) for name, given in options.bins.items()}
        for name in self.raw.keys() & {*self.binning, roles.identifier}:
            self.raw[name] = _written_out(self.raw[name])
        self.classes: dict[str, WeightClasses] = {}
        self.incomplete = COMPLETE
        self.ranges: set[str] = set()  # columns of numbers or dates that were put into ranges
        self.findings = Findings(arrival.written)
        kinds = {name: _written_out(self.raw[name][:0]).type for name in roles.published}
        self.findings.look_at_names(arrival.columns, kinds, self._counts)
        self.notices = [*arrival.notices, *roles.notices(arrival.columns)]
        if roles.identifier is None and arrival.kind == "postgres":
            self.notices.append(
                "the rows of a database have no order: name an identifier if you want to add marginals later"
            )

    @property
    def n_rows(self) -> int:
        """The number of rows of the table, without those dropped."""
        return self._total(self.roles.quasi[0], None)

    def _total(self, name: str, which: pa.Array | None) -> int:
        """How many rows the values of a column, or some of them, stand for."""
        weights = self.weights.get(name)
        if weights is None:
            return len(self.raw[name]) if which is None else int(pc.sum(which).as_py() or 0)
        return int((weights if which is None else weights[np.asarray(which.fill_null(False))]).sum())

    def _counts(self, name: str) -> tuple[pa.Array, NDArray[np.int64]]:
        """The different values of a column that are not missing, and how many rows have each."""
        values, rows = _written_out(self.raw[name]), self.weights.get(name)
        if rows is None:
            found = pc.value_counts(self.raw[name])
            values, rows = _written_out(found.field("values")), np.asarray(found.field("counts"))
        there = np.asarray(values.is_valid())
        return values.filter(pa.array(there)), rows[there]

    def respell(self) -> None:
        """Give look-alikes one spelling, where that is asked for; line breaks are looked for before."""
        for name in self.options.normalise:
            if name not in self.raw or not holds_texts(self.raw[name].type):
                continue
            values = self.raw[name]
            if name not in self.options.ordered and name in self.orders:
                self.orders[name] = without_look_alikes(self.orders[name])
            tree = self.binning.get(name) or self.trees.get(name)
            listed = self.orders.get(name, ()) if tree is None else tree.leaves
            self.findings.look_for_breaks(name, _written_out(values.unique()))
            declared = declared_spellings(map(str, listed), name=name)
            self.raw[name], n_replaced = respelled(values, declared, self.weights.get(name))
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
            self._refuse_crossed(name)
            self.notices.append(f"{name} is bottom-coded: its smallest value means this value or less")
        for name, limit in top.items():
            self.raw[name] = clipped(self.raw[name], name, limit, pc.min_element_wise)
            self.notices.append(f"{name} is top-coded: its largest value means this value or more")

    def _refuse_crossed(self, name: str) -> None:
        """Refuse a bottom code that leaves nothing below the top code, so that everybody would get one value."""
        kind, given = self.raw[name].type, (self.options.bottom[name], self.options.top.get(name))
        bottom, top = (None if limit is None else _bound(name, limit, kind) for limit in given)
        if top is not None and pc.greater_equal(bottom, top).as_py():
            raise InputError(
                f"bottom= of column {name!r} ({given[0]}) must be less than its top= ({given[1]}): values below the "
                "first become the first, and values above the second become the second, so that everybody would get "
                "the same value"
            )

    @property
    def n_empty(self) -> int:
        """How many rows have a value in no published column, where all rows are at hand."""
        gaps = [self.raw[name] for name in self.roles.published]
        if not all(values.null_count for values in gaps):
            return 0
        return int(np.logical_and.reduce([np.asarray(values.is_null()) for values in gaps]).sum())

    def tell_empty(self, n_rows: int) -> None:
        """Say how many rows have a value in no published column, though they count as people."""
        if n_rows:
            one, many = "row has no value in any published column", "rows have no value in any published column"
            told = counted(n_rows, f"{one}, and counts as a person", f"{many}, and each counts as a person")
            self.notices.append(f"{told}: remove those rows that stand for nobody")

    def must_drop(self) -> bool:
        """Apply the one rule for missing values as far as columns go: whether rows with gaps are to be dropped."""
        some = [name for name in self.roles.published if self.raw[name].null_count]
        gaps = {name: self._total(name, self.raw[name].is_null()) for name in some}
        refuse_gaps(gaps, self.n_rows, self.options.missing)
        return bool(gaps) and self.options.missing == "drop"

    def drop(self) -> None:
        """Apply the one rule for missing values to rows."""
        if not self.must_drop():
            return
        gaps = [name for name in self.roles.published if self.raw[name].null_count]
        complete = np.logical_and.reduce([np.asarray(self.raw[name].is_valid()) for name in gaps])
        self._dropped(len(complete) - int(complete.sum()))
        self.raw = {name: values.filter(pa.array(complete)) for name, values in self.raw.items()}

    def keep(self, weights: Mapping[str, NDArray[np.int64]]) -> None:
        """Continue with new weights, which rows without gaps give; values that no row has any more are removed."""
        before = self.n_rows
        self._dropped(before - int(weights[self.roles.quasi[0]].sum()))
        for name, rows in weights.items():
            self.raw[name] = self.raw[name].filter(pa.array(rows > 0))
            self.weights[name] = rows[rows > 0]

    def _dropped(self, n_dropped: int) -> None:
        if n_dropped == self.n_rows:
            raise DomainError(NOTHING_LEFT)
        self.incomplete = Incomplete(n_dropped, self.n_rows)
        self.notices.append(dropped_notice(n_dropped))

    def sample(self, source: Source) -> None:
        """Go on with one row of each person, where that is asked for."""
        name = self.roles.identifier
        if self.options.repeated != "sample" or name is None:
            return
        Identifiers(name, self.raw[name]).check(repeated=True)
        rows = drawn_rows(self.raw, name, source)
        self.notices.append(sampled_notice(len(rows), self.n_rows - len(rows), source))
        self.raw = {column: values.take(pa.array(rows)) for column, values in self.raw.items()}

    def bin(self) -> None:
        """Replace values by the first level of the taxonomies that bin them."""
        for name, builder in self.binning.items():
            if name != self.roles.weight:
                weights = self.weights.get(name)
                if kind_of(self.raw[name].type, name) not in ("category", "boolean"):
                    self.ranges.add(name)
                self.raw[name], self.orders[name] = builder.bin(self.raw[name], name=name, weights=weights)
        if self.roles.weight is not None:
            self._class_weights(self.roles.weight)

    def _class_weights(self, name: str) -> None:
        """Replace survey weights by the means of their classes."""
        builder = self.binning.get(name)
        self.raw[name], classes = classed_weights(self.raw[name], name, self.weights.get(name), builder)
        self.classes[name] = classes
        n_classes = len(classes.means)
        self.notices.append(
            f"{name} is the survey weight: weights are put into {counted(n_classes, 'class')}, and the mean of a "
            "class is published"
        )

    def coded(self, identifiers: Any = None) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
        """Code the quasi-identifiers and the sensitive columns, and look at their values.

        ``identifiers`` are `Identifiers`, or what has their two methods, where they are not among the columns.
        """
        roles, name = self.roles, self.roles.identifier
        for quasi in roles.quasi:
            values = self.raw[quasi]
            refuse_infinite(quasi, pa.types.is_floating(values.type) and self._total(quasi, pc.is_inf(values)))
        for sensitive in roles.sensitive:
            refuse_amounts(self.raw[sensitive].type, sensitive, self.options.categorical)
        if name is not None and name in self.raw:
            own = identifiers = Identifiers(name, self.raw[name], self.weights.get(name))
            own.check(repeated=self.options.repeated == "together")
        elif identifiers is not None:
            identifiers.check()
        columns = tuple(map(self._column, roles.quasi)), tuple(map(self._column, roles.sensitive))
        for role, some in zip(("quasi", "sensitive"), columns, strict=True):
            for column in some:
                domain, rows = column.domain, column.rows_of(self.weights.get(column.name))
                self.findings.look(column.name, role, domain.values, rows, gaps=domain.missing)  # type: ignore[arg-type]
        if identifiers is not None:
            identifiers.look(self.findings)
        for other in roles.without(self.arrival.columns):
            self.findings.pass_over(other)
        return columns[0], joined_columns(columns[1], self.options.together)

    def told(self, accepted: Sequence[str]) -> tuple[str, ...]:
        """Sentences on what was assumed and found."""
        return (*self.notices, *self.findings.told(accepted))

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """The cautions: findings that must be resolved."""
        return tuple(self.findings.cautions)

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
            weights=self.weights.get(name),
        )
        if name == self.roles.weight:
            return Column(replace(column.domain, weight=self.classes[name]), column.codes)
        if name in self.ranges:
            return Column(replace(column.domain, ranges=True), column.codes)
        if name in self.binning or column.domain.kind in ("category", "boolean"):
            return column
        limits = {"bottom": options.bottom, "top": options.top}
        ends = {side: _limit(values, given[name]) for side, given in limits.items() if name in given}
        return Column(replace(column.domain, **ends), column.codes)


def refuse_identifiers(name: str, *, n_missing: int, n_repeated: int) -> None:
    """Refuse identifiers that are missing in so many rows, or were there before in so many."""
    if n_missing:
        raise DomainError(
            f"the identifier {name!r} is missing in {counted(n_missing, 'row')}: fill it in, or remove such rows",
            column=name,
        )
    if n_repeated:
        raise InputError(
            f"{counted(n_repeated, 'row has', 'rows have')} an identifier {name!r} that an earlier row has. "
            "The guarantee needs one "
            "record for each person: use repeated='together' to make one record of all rows of a person, or "
            "repeated='sample' to draw one of them at random. Without an identifier, the guarantee is given for "
            "each row only"
        )


def _written_out(values: pa.Array) -> pa.Array:
    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values


def _taxonomy(option: str, column: str, given: Any) -> Taxonomy:
    if not isinstance(given, Taxonomy | str | Path):
        raise ParameterError(
            "read", f"{option}[{column!r}]", "a Taxonomy, its name or the path of one", type(given).__name__
        )
    return Taxonomy.of(given)


def _limit(values: pa.Array, limit: Any) -> Any:
    """A top or bottom code as a value of its column; None if it is not one, because no value can lie beyond it."""
    value = pa.scalar(limit).cast(values.type).as_py()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def clipped(values: pa.Array, name: str, limit: Any, keep: Any) -> pa.Array:
    """Replace values beyond a limit by the limit, which may be given as its text."""
    if kind_of(values.type, name) in ("category", "boolean"):
        raise DomainError(
            f"column {name!r} has no numbers or dates: it cannot have a smallest or largest value, so leave bottom= "
            "and top= out",
            column=name,
        )
    return pc.if_else(values.is_null(), values, keep(values, _bound(name, limit, values.type)))


def _bound(name: str, limit: Any, kind: pa.DataType) -> pa.Scalar:
    if isinstance(limit, int | float) and not pa.types.is_floating(kind) and abs(limit) >= _MOST:
        raise _beyond(name, limit)
    try:
        return pa.scalar(limit).cast(kind)
    except OverflowError:
        raise _beyond(name, limit) from None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise DomainError(f"the limit for column {name!r} is not of its type, {kind}", column=name) from None


def _beyond(name: str, limit: Any) -> DomainError:
    words = "too large" if limit > 0 else "too small"
    return DomainError(f"the limit for column {name!r} is {words}: give one that lies among the values", column=name)
