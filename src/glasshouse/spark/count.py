# SPDX-License-Identifier: Apache-2.0
"""Count: a DataFrame becomes kinds of people, by one ``groupBy`` over the columns that have a role.

Columns are taken by their place and not by their name: Spark takes a point in a name for a field of a record, and does
not tell capital letters from small ones. Texts are compared byte by byte, whatever collation a column has, for of texts
that a collation takes for equal Spark would keep any one.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.errors import DomainError, InputError, NotSupported, SourceError
from glasshouse.log import step
from glasshouse.microdata.kinds import Kinds
from glasshouse.microdata.reading.normal_form import refuse_nested
from glasshouse.microdata.reading.sources import check_column_names
from glasshouse.microdata.roles import Roles
from glasshouse.plural import counted
from glasshouse.spark.settings import check_version, require_spark, warn_of_plain
from glasshouse.spark.whereabouts import KindFinder
from glasshouse.streaming.count import count_batches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from glasshouse.streaming.count import Counted

__all__ = ["CountedPeople", "count", "count_people"]

_WHAT = "the Spark frame"
_FLOATS = ("float", "double")
_BATCH = 1 << 20


def count(
    frame: DataFrame,
    *,
    quasi: Sequence[str],
    sensitive: str | Sequence[str] | None = None,
    identifier: str | None = None,
    weight: str | None = None,
    **options: Any,
) -> Counted:
    """How many people of each kind a DataFrame has.

    Parameters
    ----------
    frame
        A frame of Spark 4.2 or later. It is run once, and once more if an identifier is named.
    quasi, sensitive, identifier, weight
        As in `read`. That an identifier occurs once is checked on the cluster; it does not leave it.
    options
        All others of `read`, except those of files and databases.

    Returns
    -------
    Counted
        The kinds, which are what a release depends on, apart from the secret key. Points in time have no zone of their
        own in Spark: they are taken as those of the zone UTC.
    """
    return count_people(frame, Roles.of(quasi, sensitive, identifier, weight), options).counted


@dataclass(frozen=True, eq=False, kw_only=True)
class CountedPeople:
    """What was counted, with the different rows of the frame, and the frame itself, its columns by their places.

    Parameters
    ----------
    counted
        The kinds of people.
    rows
        The different rows, in the columns that are published.
    people
        The frame, with the identifier first, if one is named, and then the columns that are published.
    """

    counted: Counted
    rows: pa.Table
    people: DataFrame

    def finder(self) -> KindFinder:
        """What finds the kind of a person of the frame."""
        kinds = np.concatenate([kinds for kinds, _, _ in self.counted.people()])
        if len(kinds) < self.rows.num_rows:
            raise NotSupported(
                "an audit that says who is in which group cannot be made while rows with missing values are dropped",
                instead="drop these rows from the frame first (DataFrame.dropna), or pass partition=False",
            )
        return KindFinder.of([column.combine_chunks() for column in self.rows.columns], kinds)


def count_people(frame: DataFrame, roles: Roles, options: Mapping[str, Any]) -> CountedPeople:
    """Count kinds, and keep what is needed to find the kind of a person again."""
    check_version(frame.sparkSession)
    warn_of_plain(frame.sparkSession)
    identifier = roles.identifier
    with step("count") as note:
        rows, weights, people = counted_rows(frame, roles)
        counted = count_batches(
            partial(_batches, rows),
            columns=[name for name in frame.columns if name != identifier],
            weights=weights,
            what=_WHAT,
            source_kind="spark",
            quasi=[name for name in roles.quasi if name != roles.weight],
            sensitive=list(roles.sensitive),
            weight=roles.weight,
            **options,
        )
        note(rows=counted.n_rows)
    if identifier is not None:
        table = counted.kinds.table
        told = tuple(text for text in table.notices if text not in set(replace(roles, identifier=None).notices(())))
        counted = replace(counted, kinds=Kinds(replace(table, notices=told), counted.kinds.counts))
    return CountedPeople(counted=counted, rows=rows.drop_columns([weights]), people=people)


def _batches(rows: pa.Table) -> Iterator[dict[str, pa.Array]]:
    for batch in rows.to_batches(max_chunksize=_BATCH):
        yield dict(zip(rows.column_names, batch.columns, strict=True))


def _arrow(frame: DataFrame) -> pa.Table:
    """Collect a frame as Arrow; texts are checked, because Spark accepts any bytes as text."""
    table = frame.toArrow()
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            try:
                table.column(place).validate(full=True)
            except pa.ArrowInvalid:
                raise DomainError(f"{_WHAT} has texts that are not valid Unicode: correct them") from None
    return table


def counted_rows(frame: DataFrame, roles: Roles) -> tuple[pa.Table, str, DataFrame]:
    """The different rows of the published columns, the name of the column with their counts, and all people."""
    functions = require_spark().functions
    names = list(frame.columns)
    check_column_names(names, _WHAT)
    roles.check(names)
    places = frame.toDF(*(f"c{place}" for place in range(len(names))))
    columns = {name: _binary(places, names.index(name)) for name in roles.columns}
    _check_types(places.select(*columns.values()), roles)
    if roles.identifier is not None:
        _check_identifier(places, columns[roles.identifier], roles.identifier)
    keys = [columns[name].alias(f"k{place}") for place, name in enumerate(roles.published)]
    counted = _arrow(places.groupBy(*keys).agg(functions.count(functions.lit(1)).alias("n")))
    if not counted.num_rows:
        raise SourceError(f"{_WHAT} has no rows", source=frame)
    weights = next(name for name in map("n{}".format, itertools.count()) if name not in names)
    first = [] if roles.identifier is None else [columns[roles.identifier].alias("i")]
    return counted.rename_columns([*roles.published, weights]), weights, places.select(*first, *keys)


def _binary(frame: DataFrame, place: int) -> Column:
    """A column by its place, its texts compared byte by byte."""
    spark = require_spark()
    kind = frame.schema.fields[place].dataType
    column: Column = spark.functions.col(f"c{place}")
    plain = getattr(kind, "collation", "UTF8_BINARY") == "UTF8_BINARY"
    return column if plain else spark.functions.collate(column, "UTF8_BINARY")


def _check_types(frame: DataFrame, roles: Roles) -> None:
    """Refuse columns of unsupported types before anything runs, with the messages of `read`."""
    for name, field in zip(roles.columns, frame.schema.fields, strict=True):
        try:
            (known,) = frame.select(field.name).limit(0).toArrow().schema
        except TypeError:
            raise DomainError(
                f"column {name!r} has the type {field.dataType.simpleString()}: convert it to text, numbers or dates",
                column=name,
            ) from None
        refuse_nested(pa.schema([(name, known.type)]), [name])


def _check_identifier(frame: DataFrame, column: Column, name: str) -> None:
    """The rule of `read`: an identifier has no gap, and occurs once."""
    functions = require_spark().functions
    (kind,) = frame.select(column).schema.fields
    known = functions.when(~functions.isnan(column), column) if kind.dataType.typeName() in _FLOATS else column
    told = _arrow(
        frame.agg(
            functions.count(functions.lit(1)).alias("rows"),
            functions.count(known).alias("there"),
            functions.count_distinct(known).alias("different"),
        )
    ).to_pylist()[0]
    if told["there"] < told["rows"]:
        raise DomainError(
            f"the identifier {name!r} is missing in {counted(told['rows'] - told['there'], 'row')}: fill it in, or "
            "remove such rows",
            column=name,
        )
    if told["different"] < told["rows"]:
        raise InputError(
            f"{counted(told['rows'] - told['different'], 'row has', 'rows have')} the same value in the identifier "
            f"column {name!r} as another row. The guarantee needs one row for each person: combine the rows of each "
            "person into one. If you leave the identifier out instead, each row is protected as if it were a "
            "person, and a person with several rows is protected less"
        )
