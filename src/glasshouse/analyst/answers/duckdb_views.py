# SPDX-License-Identifier: Apache-2.0
"""DuckDB views: a release opened in DuckDB, laid out so that its counts can be estimated in plain SQL.

Beside the published tables, as they are, stands what the release teaches (`glasshouse.population`):

``expected``
    One row for every combination of single values that people may have: the quasi-identifiers, the sensitive column,
    and ``People``, how many are expected to have it. A count is the sum of ``People`` over the rows that satisfy a
    condition, and is what `glasshouse.analyst.answers.query` answers. One count differs a little, with ANGEL: without a
    condition on the sensitive column, `query` counts in the generalized table alone. For the same reason the rows of a
    ``GROUP BY`` over the sensitive column do not add up exactly to the count with the same condition. With several
    sensitive columns: ``expected of <column>``; with several generalized tables of ANGEL ``expected of <table>``, with
    both ``expected of <column> by <table>``. Where the release does not teach how the sensitive value depends on other
    columns, every value of a group is as likely for everybody in it. There is none with ``model="uniform"``, where
    people are too few (under 200), and where cells do not say which values they stand for. Records are counted: where a
    release has a survey weight, say ``w``, the weighted count is the sum of ``People * w``.

Then the tables of the papers' model (`glasshouse.analyst.answers.estimates`):

``seats``
    One row for every different combination of quasi-identifiers in a group: the attributes as published, ``Group-ID``,
    and ``Tuples``, how many records have it. Where cells are intervals of numbers, dates or times, ``<attribute> low``
    and ``<attribute> high`` are their ends, both inside. ANGEL with several generalized tables has ``seats of <table>``
    for each.
``groups``
    One row for every sensitive value of every group: ``Group-ID``, the value, ``Count``, the group's ``Size``, and
    ``Share``, the probability that a record of the group has it. With several sensitive columns: ``groups of
    <column>``. Of a perturbed sample there is a row for every value of the domain, and ``Share`` is the inverted one:
    it is right on average, and may be below 0.
``cells of <attribute>``
    Where cells stand for several values that can be listed: ``Cell``, ``Value``, and ``Share``, how likely a record
    with the cell has the value. There is none where cells are nodes of a taxonomy that neither the release nor you
    tell.

Two macros say which part of an interval lies between two ends: ``covered(low, high, first, last)`` counts whole numbers
and days, ``measured(low, high, first, last)`` measures other numbers (times as ``epoch(...)``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.analyst.answers.perturbed_answers import retention
from glasshouse.analyst.answers.population_answers import MODELS
from glasshouse.errors import InputError, MissingExtra, NotSupported, ParameterError
from glasshouse.population.learn import learned_from
from glasshouse.release.layout import ANGEL, BATCH, COUNT, GROUP
from glasshouse.sql_names import quoted_name
from glasshouse.supports.evidence import Evidence
from glasshouse.supports.supports import Endless, Listed, OrMissing, Span, value_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.population.population import Population
    from glasshouse.release import Release
    from glasshouse.release.contents import Published, Seats
    from glasshouse.supports.supports import Support

__all__ = ["to_duckdb"]

_MOST_VALUES = 2_000_000  # of all cells of an attribute: with more, only their ends are given
_PASSING = "glasshouse passing"
_MACROS = {
    "covered(low, high, first, last)": "greatest(0, least(high, last) - greatest(low, first) + 1) / (high - low + 1)",
    "measured(low, high, first, last)": (
        "CASE WHEN low = high THEN CAST(low BETWEEN first AND last AS DOUBLE) "
        "ELSE greatest(0.0, least(high, last) - greatest(low, first)) / (high - low) END"
    ),
}


def to_duckdb(
    release: Release,
    connection: Any = None,
    *,
    schema: str = "main",
    model: str = "learned",
    taxonomies: Mapping[str, Taxonomy] | None = None,
    ordered: Mapping[str, Sequence[Any]] | None = None,
) -> Any:
    """Open a release in DuckDB, with tables from which counts can be estimated in plain SQL.

    Parameters
    ----------
    release
        What was published, from `publish` or `load`.
    connection
        Where to open it; by default a new database in memory.
    schema
        The schema that the tables go to; it is made if there is none.
    model
        ``learned`` for the table of what the release teaches beside those of the papers' model; ``uniform`` for the
        latter alone, which takes no time to learn.
    taxonomies, ordered
        As for `query`: what cells refer to.

    Returns
    -------
    duckdb.DuckDBPyConnection
        The connection. The tables are described in `glasshouse.analyst.answers.duckdb_views`.

    Examples
    --------
    ANATOMY 1.2, query A, in plain SQL:

    >>> import glasshouse as gh
    >>> patients = gh.examples.anatomy_table1()
    >>> release = gh.publish(patients, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Anatomy())
    >>> sql = '''SELECT sum("Tuples" * "Share") FROM seats JOIN groups USING ("Group-ID")
    ...          WHERE Age <= 30 AND Zipcode BETWEEN 10001 AND 20000 AND Disease = 'pneumonia' '''
    >>> to_duckdb(release).execute(sql).fetchall()
    [(1.0,)]

    The same by what a release teaches, where people are enough to learn from:

    >>> release = gh.publish(gh.synthetic.hospital(2_000, seed=1), principle=gh.LDiversity(ell=3))
    >>> sql = '''SELECT sum("People") FROM expected WHERE age < 40 AND disease = 'asthma' '''
    >>> ((count,),) = to_duckdb(release).execute(sql).fetchall()
    >>> abs(count - float(gh.query(release, "SELECT COUNT(*) WHERE age < 40 AND disease = 'asthma'"))) < 1e-6
    True
    """
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("opening a release in DuckDB", extra="frames") from None
    evidence = Evidence(release=release, taxonomies=taxonomies or {}, ordered=ordered or {})
    tables = {**release.packaged, **_tables(evidence), **_expected_tables(evidence, model)}
    connection = duckdb.connect() if connection is None else connection
    into = quoted_name(schema)
    _run(connection, f"CREATE SCHEMA IF NOT EXISTS {into}")
    literal = "'" + schema.replace("'", "''") + "'"
    taken = _run(connection, f"SELECT lower(table_name) FROM information_schema.tables WHERE table_schema = {literal}")
    for name in tables:
        if (name.lower(),) in taken:
            raise InputError(f"schema {schema!r} of the connection already has a table {name!r}: give another schema")
    for name, table in tables.items():
        try:
            connection.register(_PASSING, table)
            _run(connection, f"CREATE TABLE {into}.{quoted_name(name)} AS SELECT * FROM {quoted_name(_PASSING)}")
        except duckdb.Error as error:
            raise InputError(f"DuckDB refuses the table {name!r}: {str(error).splitlines()[0]}") from None
        finally:
            connection.unregister(_PASSING)
    for signature, formula in _MACROS.items():
        _run(connection, f"CREATE OR REPLACE MACRO {into}.{signature} AS {formula}")
    return connection


def _run(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
    return rows


def _tables(evidence: Evidence) -> dict[str, pa.Table]:
    """The tables of the model, by name."""
    sensitive = evidence.release.recipe.sensitive
    found: dict[str, pa.Table] = {}
    first = evidence.published(None)
    names = _names_of_seats(evidence.release, first)
    listed: dict[str, dict[tuple[str, Any], float]] = {}
    for seats, name in zip(first.seats, names, strict=True):
        found["seats" if len(names) == 1 else f"seats of {name}"] = _seats(evidence, first, seats)
        for attribute in seats.quasi:
            if not evidence.is_exact:
                listed.setdefault(attribute, {}).update(_listed(evidence, seats, attribute))
    for column in sensitive:
        found["groups" if len(sensitive) == 1 else f"groups of {column}"] = _groups(
            evidence, evidence.published(column)
        )
    for attribute, rows in listed.items():
        if rows:
            cells, values = zip(*rows, strict=True)
            columns = {"Cell": pa.array(cells), "Value": pa.array(values), "Share": pa.array(rows.values())}
            found[f"cells of {attribute}"] = pa.table(columns)
    return found


def _expected_tables(evidence: Evidence, model: str) -> dict[str, pa.Table]:
    """What the release teaches, by name: for every sensitive column and every table of seats."""
    if model not in MODELS:
        raise ParameterError("to_duckdb", "model", " or ".join(map(repr, MODELS)), model)
    if model == "uniform":
        return {}
    sensitive = evidence.release.recipe.sensitive
    found: dict[str, pa.Table] = {}
    for column in sensitive or (None,):
        published = evidence.published(column)
        names = _names_of_seats(evidence.release, published)
        for seats, name in zip(published.seats, names, strict=True):
            population = _population(evidence, published, seats)
            if population is None:
                continue
            parts = [str(column)] if len(sensitive) > 1 else []
            parts += [name] if len(names) > 1 else []
            found[" of ".join(["expected", " by ".join(parts)]) if parts else "expected"] = _expected(population)
    return found


def _population(evidence: Evidence, published: Published, seats: Seats) -> Population | None:
    try:
        return learned_from(evidence, published, seats)
    except InputError:  # cells that do not say which values they stand for
        return None


def _expected(population: Population) -> pa.Table:
    points, expected = population.points, population.expected()
    columns = {
        name: pa.array(values).take(pa.array(codes[expected.point]))
        for name, values, codes in zip(points.names, points.values, points.codes, strict=True)
    }
    if population.column:
        columns[population.column] = pa.array(population.values).take(pa.array(expected.code))
    return pa.table({**columns, "People": pa.array(expected.amount)})


def _names_of_seats(release: Release, published: Published) -> list[str]:
    """The published tables that the tables of seats come from, in their order."""
    number = BATCH if published.layout is ANGEL else None
    return [
        name
        for name, table in release.tables.items()
        if any(q in table.column_names for q in release.recipe.quasi)
        and (number is None or number in table.column_names)
    ]


def _seats(evidence: Evidence, published: Published, seats: Seats) -> pa.Table:
    columns: dict[str, Any] = {}
    for attribute, texts, of_seat in zip(seats.quasi, seats.cells, seats.of_seat, strict=True):
        supports = evidence.supports(seats, attribute)
        shown = [_only(support) for support in supports] if evidence.is_exact else list(texts)
        columns[attribute] = pa.array(shown).take(pa.array(of_seat))
        ends = None if evidence.is_exact else _ends(supports)
        if ends is not None:
            columns[f"{attribute} low"] = pa.array([low for low, _ in ends]).take(pa.array(of_seat))
            columns[f"{attribute} high"] = pa.array([high for _, high in ends]).take(pa.array(of_seat))
    columns[GROUP] = pa.array(seats.group.astype(np.int64) + 1)
    columns["Tuples"] = pa.array(seats.count)
    return pa.table(columns)


def _groups(evidence: Evidence, published: Published) -> pa.Table:
    """The probability of each sensitive value for a record of each group."""
    sizes = published.sizes
    if published.kind != "sample":
        group = np.repeat(np.arange(published.n_groups), np.diff(published.offsets))
        values, codes, count = published.values, published.codes, published.counts
        share = count / sizes[group]
    else:
        values = evidence.domain_of(published)
        p, m = retention(evidence.release), len(values)
        if p == 0:
            raise NotSupported(
                "a sample whose sensitive values were all replaced (a retention of 0) cannot be opened in DuckDB",
                instead="its sensitive values contain no information; ask about quasi-identifiers with query",
            )
        place = {value: i for i, value in enumerate(values)}
        shown = np.array([place[value] for value in published.values], np.int64)[published.codes]
        group = np.repeat(np.arange(published.n_groups), m)
        codes = np.tile(np.arange(m), published.n_groups)
        count = (codes == shown[group]).astype(np.int64)
        share = 1 / m + (count - 1 / m) / p
    return pa.table(
        {
            GROUP: pa.array(group.astype(np.int64) + 1),
            published.column: pa.array(values).take(pa.array(codes)),
            COUNT: pa.array(count),
            "Size": pa.array(sizes[group]),
            "Share": pa.array(share),
        }
    )


def _only(support: Support) -> Any:
    """The value of a cell that stands for one."""
    values = support.listed()
    assert values is not None
    return values[0]


def _ends(supports: Sequence[Support]) -> list[tuple[Any, Any]] | None:
    """The ends of cells that are intervals of a line; nothing where some are not. A missing value has none."""
    found: list[tuple[Any, Any]] = []
    for support in supports:
        inner = support.support if isinstance(support, OrMissing) else support
        if isinstance(inner, Span):
            low, high = (value_at(end, inner.kind, zoned=inner.zoned) for end in (inner.low, inner.high))
            found.append((low, high))
        elif isinstance(inner, Endless):
            found.append((inner.low, inner.high))
        elif inner == Listed((None,)):
            found.append((None, None))
        else:
            return None
    return found if any(low is not None for low, _ in found) else None


def _listed(evidence: Evidence, seats: Seats, attribute: str) -> dict[tuple[str, Any], float]:
    """The probability of each value for a record with each cell; nothing if there are too many values to list."""
    if attribute in evidence.declared.nodes:  # nobody told what they cover
        return {}
    texts = seats.cells[seats.quasi.index(attribute)]
    listed = [support.listed() for support in evidence.supports(seats, attribute)]
    lengths = [_MOST_VALUES + 1 if values is None else len(values) for values in listed]
    if sum(lengths) > _MOST_VALUES:
        return {}
    return {
        (text, value): 1 / len(values)
        for text, values in zip(texts, listed, strict=True)
        if values is not None
        for value in values
    }
