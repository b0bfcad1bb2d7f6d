# SPDX-License-Identifier: Apache-2.0
"""Microdata: a table about people, with roles, coded to integers; and `read`, which makes one.

A role is explicit; `glasshouse.microdata.roles` says what each means. A column with no role is not published: beside
the others it would be one more quasi-identifier, unprotected.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from glasshouse.errors import ParameterError, SchemaError
from glasshouse.microdata.cautions import accepted_names, refuse_unanswered
from glasshouse.microdata.domains import Column, text_of
from glasshouse.microdata.intake import Arrival, Intake, Options
from glasshouse.microdata.reading.normal_form import contiguous
from glasshouse.microdata.reading.sources import open_source
from glasshouse.microdata.repeats import people_of
from glasshouse.microdata.roles import COMPLETE, Roles
from glasshouse.microdata.spelling import declared_spellings
from glasshouse.plural import counted
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from glasshouse.microdata.cautions import Caution
    from glasshouse.microdata.roles import Incomplete, Missing, Repeated
    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy

__all__ = ["Microdata", "read"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Microdata:
    """A table about people: one record per person, columns coded to integers, roles fixed. Never changed once made.

    Make one with `read`. The order of ``quasi`` is the order of dimensions in tie-breaks; the order of columns in the
    file means nothing. It is not published as long as one of its ``cautions`` is not ``accepted``. ``incomplete``
    counts the rows of the source that a missing value left out.
    """

    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    identifier: pa.Array | None
    n_tuples: int
    notices: tuple[str, ...] = ()
    source_kind: str = "arrow"
    cautions: tuple[Caution, ...] = ()
    accepted: tuple[str, ...] = ()
    incomplete: Incomplete = COMPLETE

    def __len__(self) -> int:
        return self.n_tuples

    def __repr__(self) -> str:
        quasi = ", ".join(f"{c.name} ({len(c.domain.values):,})" for c in self.quasi)
        sensitive = ", ".join(f"{c.name} ({len(c.domain.values):,})" for c in self.sensitive) or "none"
        return f"Microdata({counted(self.n_tuples, 'record')}; quasi-identifiers {quasi}; sensitive {sensitive})"

    def column(self, name: str) -> Column:
        """Find a quasi-identifier or sensitive column by name."""
        for column in (*self.quasi, *self.sensitive):
            if column.name == name:
                return column
        raise SchemaError.unknown(name, [c.name for c in (*self.quasi, *self.sensitive)], role="a column of the table")

    @property
    def weight(self) -> str | None:
        """The quasi-identifier that is a survey weight, if there is one."""
        return next((column.name for column in self.quasi if column.domain.weight is not None), None)

    def refuse_unanswered(self) -> None:
        """Raise `CautionError` if something was found in the table that was neither mended nor accepted."""
        if self.cautions:
            refuse_unanswered(self.cautions, self.accepted)

    def spelled_by(self, declared: Sequence[Any]) -> Microdata:
        """The same table, with its normalised sensitive columns in the spelling of their declared values.

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
        """Keep some records; domains are unchanged.

        >>> import numpy as np
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
    repeated: Repeated = "error",
    weight: str | None = None,
    together: Sequence[Sequence[str]] = (),
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
    random: Source | None = None,
) -> Microdata:
    """Read a table about people and fix the roles of its columns.

    Parameters
    ----------
    source
        A path (CSV, Parquet, Arrow IPC, ORC, a workbook of Excel, a file of Stata, SPSS or SAS, a database of SQLite
        or DuckDB; also packed with gzip, zstd or zip), ``"-"`` for standard input, the address of a database
        (``postgresql://...``, with ``table`` or ``query``), or a frame (pandas, polars, pyarrow, a DuckDB relation,
        anything with the Arrow PyCapsule interface).
    quasi
        Quasi-identifiers, in the order in which ties between them are broken.
    sensitive
        Sensitive column or columns. Numbers must be binned (`bins`) or declared `categorical`: distinct salaries
        satisfy l-diversity and protect nothing.
    identifier
        Column that names the person: every theorem assumes one record per person.
    repeated
        What is done where people have several rows. ``error`` (the default) counts these rows and refuses; ``sample``
        draws one row of each person, uniformly at random, and says how many are left out; ``together`` makes one record
        of all rows of a person, whose sensitive value is the set of the values in these rows. Quasi-identifiers must
        then be the same in all rows of a person.
    weight
        Column of survey weights, positive numbers. It becomes the last quasi-identifier: everybody's weight is replaced
        by the mean of a class of people, and questions to a release are weighted by it.
    together
        Sensitive columns that are published as one, as ``[("disease", "drug")]``: a value of the column
        ``disease+drug`` is a pair, and what is promised is promised of pairs.
    missing
        ``error`` (the default) counts missing values per column and refuses; ``category`` makes missing a value of its
        own; ``drop`` drops the rows and reports how many.
    ordered
        Declared orders of categories: ``{"grade": ["low", "middle", "high"]}``.
    taxonomies
        Generalization hierarchies by column: a `Taxonomy`; a file (CSV, JSON, YAML), by its path; or the text
        ``intervals:WIDTH``, ``quantiles:N``, ``prefix:LENGTH`` or ``dates:LEVELS``. A text that ends in ``.csv``,
        ``.json``, ``.yaml`` or ``.yml`` is always a path.
    bins
        Taxonomies, given in the same ways, whose first level replaces the values of a column on the way in.
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
        How a CSV file is written, if this should not be detected.
    table, query
        Of a database: the table to read, as ``people`` or ``clinic.people``, or a statement that gives one. Of a
        workbook, ``table`` is the sheet.
    random
        With ``repeated="sample"``, where rows are drawn from: the operating system's secure source unless a test gives
        a seeded one.

    Examples
    --------
    >>> read({"age": [30, 40], "disease": ["flu", "ulcer"]}, quasi=["age"], sensitive="disease")
    Microdata(2 records; quasi-identifiers age (2); sensitive disease (2))
    >>> stays = {"patient": [1, 1, 2], "age": [30, 30, 40], "disease": ["flu", "gout", "flu"]}
    >>> people = read(stays, identifier="patient", repeated="together", quasi=["age"], sensitive="disease")
    >>> people.sensitive[0].domain.values.to_pylist()
    ['["flu"]', '["flu", "gout"]']
    """
    roles = Roles.of(quasi, sensitive, identifier, weight)
    if random is not None and not isinstance(random, Source):
        raise ParameterError("read", "random", "a Source", random)
    options = Options.of(
        missing=missing,
        repeated=repeated,
        together=together,
        categorical=categorical,
        normalise=normalise,
        ordered=ordered,
        taxonomies=taxonomies,
        bins=bins,
        bottom=bottom,
        top=top,
    )
    text: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    opened = open_source(source, columns=roles.columns, narrow=True, table=table, query=query, **text)
    roles.check(opened.columns)
    options.check(roles, opened.columns)
    accepted = accepted_names(accept, opened.columns)
    raw = {name: contiguous(opened.table.column(name)) for name in roles.columns}
    intake = Intake(Arrival.of(opened), roles, options, raw)
    intake.respell()
    intake.clip()
    intake.drop()
    intake.sample(random or Source.secure())
    intake.bin()
    intake.tell_empty(intake.n_empty)
    quasi_columns, sensitive_columns = intake.coded()
    rows = Microdata(
        quasi=quasi_columns,
        sensitive=sensitive_columns,
        identifier=None if identifier is None else intake.raw[identifier],
        n_tuples=intake.n_rows,
        notices=intake.told(accepted),
        source_kind=opened.kind,
        cautions=intake.cautions,
        accepted=accepted,
        incomplete=intake.incomplete,
    )
    return people_of(rows) if repeated == "together" else rows
